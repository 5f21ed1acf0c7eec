"""The bundled models: files beside this module, and chains of any length."""

import math
import re
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path

from polhode.errors import InputError, UnknownNameError, message
from polhode.model import WORLD, Body, Joint, Model, Start

CHAIN = "chain"
LINKS = 10
"""Links of a chain whose name does not say."""
MOST_LINKS = 100_000

LENGTH, RADIUS, MASS = 0.1, 0.005, 0.05
"""Of a link of the chain: m, m, kg."""


def names() -> tuple[str, ...]:
    """The names that `load` knows; "chain" stands for "chain-7" and any other length too."""
    return tuple(sorted([*_files(), CHAIN]))


def is_bundled(name: str) -> bool:
    """Whether there is such a model."""
    return name in _files() or bool(re.fullmatch(rf"{CHAIN}(-[0-9]+)?", name))


def bundled(name: str) -> Model:
    """The bundled model of this name."""
    if name in _files():
        from polhode.formats.yaml import model_from_yaml

        return model_from_yaml(_files()[name], f"{name}.yaml")
    if is_bundled(name):
        return chain(int(name.partition("-")[2][:9] or LINKS))
    known = [*names(), f"{CHAIN}-7", f"{CHAIN}-50"]
    near = get_close_matches(name.lower().replace("_", "-").replace(" ", "-"), known, 3, 0.5)
    fix = f"Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise UnknownNameError(message("load", "no bundled model of this name", repr(name), ", ".join(names()), fix))


def text_of(source: str | Path) -> str:
    """The text of a bundled model, or of a model file; "" where there is none."""
    if str(source) in _files():
        return _files()[str(source)]
    path = Path(source)
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


@cache
def _files() -> dict[str, str]:
    """The texts of the model files by name."""
    folder = files("polhode.formats") / "models"
    found = [file for file in folder.iterdir() if file.name.endswith(".yaml")]
    return {file.name.removesuffix(".yaml"): file.read_text(encoding="utf-8") for file in found}


def chain(links: int) -> Model:
    """A hanging chain of round rods.

    Like the links of a real one, each hinge is turned by a right angle against the one before: about y, x, y, …
    It starts stretched out to the side, with every second hinge slightly bent, and falls.
    """
    if not 1 <= links <= MOST_LINKS:
        raise InputError(message("load, chain", "no such length", f"{links} links", f"1 to {MOST_LINKS}"))
    across = MASS * (3 * RADIUS**2 + LENGTH**2) / 12
    inertia = (across, across, MASS * RADIUS**2 / 2)
    bodies, joints = [], []
    for i in range(1, links + 1):
        bodies.append(Body(f"link{i}", MASS, inertia, center=(0.0, 0.0, -LENGTH / 2)))
        parent, position = (f"link{i - 1}", (0.0, 0.0, -LENGTH)) if i > 1 else (WORLD, (0.0, 0.0, 0.0))
        axis = (0.0, 1.0, 0.0) if i % 2 else (1.0, 0.0, 0.0)
        joints.append(Joint(f"hinge{i}", "revolute", parent, f"link{i}", axis=axis, position=position))
    q = tuple(math.pi / 2 if i == 0 else 0.05 * (i % 2) for i in range(links))
    start = Start(q=q, v=(0.0,) * links, duration=2.0)
    return Model(f"{CHAIN}-{links}", bodies=tuple(bodies), joints=tuple(joints), start=start)
