"""The contact sheet: every kind of picture is on it, and none of its cells is empty."""

import importlib.util
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from polhode.show.plots.kinds import KINDS

DOCS = Path(__file__).resolve().parents[2] / "docs"


@cache
def gallery():
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn(image):
    """The part of an image that differs from its corner."""
    pixels = np.asarray(image.convert("RGB")).astype(int)
    return float(np.mean(np.any(abs(pixels - pixels[3, 3]) > 24, axis=-1)))


def test_every_kind_of_picture_is_in_the_gallery():
    captions = set(gallery().PICTURES)
    assert set(KINDS) | {"compare", "eigenvalues", "polhode compare"} <= captions
    assert sum(caption.startswith("cans: ") for caption in captions) >= 9
    assert sum(caption.startswith("animation: ") for caption in captions) >= 4


def test_the_sheet_that_is_kept_has_them_all():
    made, (wide, high) = gallery(), gallery().CELL
    with Image.open(DOCS / "gallery.png") as page:
        rows = -(-len(made.PICTURES) // made.COLUMNS)
        size = (made.COLUMNS * (wide + made.GAP) + made.GAP, rows * (high + made.CAPTION + made.GAP) + made.GAP)
        assert page.size == size
        for k, caption in enumerate(made.PICTURES):
            x = made.GAP + (k % made.COLUMNS) * (wide + made.GAP)
            y = made.GAP + (k // made.COLUMNS) * (high + made.CAPTION + made.GAP)
            assert drawn(page.crop((x, y, x + wide, y + high))) > 0.015, caption


def test_pictures_are_put_into_cells_with_their_captions():
    made = gallery()
    page = made.sheet(
        {"wide": Image.new("RGB", (800, 100), "#d55e00"), "tall": Image.new("RGB", (100, 800), "#0072b2")}
    )
    wide, high = made.CELL
    assert page.getpixel((made.GAP + wide // 2, made.GAP + high // 2)) == (0xD5, 0x5E, 0x00)
    assert page.getpixel((2 * made.GAP + wide + wide // 2, made.GAP + high // 2)) == (0x00, 0x72, 0xB2)
    below = page.crop((made.GAP, made.GAP + high + 2, made.GAP + wide, made.GAP + high + made.CAPTION))
    assert drawn(below) > 0.003


@pytest.mark.long
@pytest.mark.parametrize("caption", list(gallery().PICTURES))
def test_every_picture_is_drawn(caption):
    image = gallery().picture(gallery().PICTURES[caption]())
    assert min(image.size) >= 300
    flat = Image.new("RGBA", image.size, "white")
    flat.alpha_composite(image.convert("RGBA"))
    assert drawn(flat) > 0.004
