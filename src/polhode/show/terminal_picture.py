"""A machine in characters: a small picture for terminals with colours, two pixels in each cell."""

from typing import NamedTuple

import numpy as np

from polhode import quaternion
from polhode.model import Model
from polhode.show.scene.beams import axis, swept
from polhode.show.scene.film import HUB, SERIES, rgb
from polhode.show.scene.raster import Camera, Canvas, Painted
from polhode.show.scene.scene import still_machine
from polhode.show.scene.solids import given, mesh

FINER = 6
"""Pixels painted for each pixel of the picture and direction."""
COVERED = 0.22
"""Part of a pixel that must be covered for it to be shown."""
UPPER, LOWER = "▀", "▄"


class CharacterCell(NamedTuple):
    """A character, its colour and that behind it: (red, green, blue) in 0 … 255, or None."""

    text: str
    front: tuple[int, ...] | None = None
    back: tuple[int, ...] | None = None


def terminal_picture(model: Model, r: np.ndarray, p: np.ndarray, columns: int, rows: int) -> list[list[CharacterCell]]:
    """The cells of a picture, row by row.

    r, p  (bodies, 3 and 4)  where the bodies are
    """
    machine = still_machine(model, r, p)
    size = (columns * FINER, 2 * rows * FINER)
    solids, cloud = [], []
    for b, body in enumerate(machine["bodies"]):
        R = np.asarray(quaternion.rotation_matrix(p[b] / np.linalg.norm(p[b])))
        for part in body["parts"]:
            tone = rgb(HUB) if part.get("tone") == "hub" else 0.88 * rgb(SERIES[body["colour"]]) + 0.12
            made = given(part["faces"]).moved(np.eye(3), np.array(part["at"])) if "faces" in part else mesh(part)
            solids.append(Painted(made.moved(R, r[b]), tone, 0.84 if part["kind"] == "box" else 0.62))
            cloud.append([*(r[b] + R @ np.array(part["at"])), part["reach"]])
    for part in machine["stands"]:
        solids.append(Painted(mesh(part), rgb(HUB)))
        cloud.append([*part["at"], part["reach"]])
    for beam in machine["beams"]:
        made = swept(beam, r, p, machine["steps"]).mesh
        solids.append(Painted(made, 0.88 * rgb(SERIES[beam["colour"]]) + 0.12))
        cloud += [[*point, beam["reach"]] for point in axis(beam, r, p, np.array([0.0, 0.5, 1.0])).points]
    up = np.array(machine["up"])
    camera = Camera.seeing(np.array(machine["look"]), up, np.array(cloud), size)
    canvas = Canvas(camera, np.zeros((size[1], size[0], 4), np.uint8))
    right, _, back = camera.axes
    key = up - 0.45 * right + 0.55 * back
    canvas.solids(solids, key / np.linalg.norm(key), up)
    return _cells(canvas.pixels, columns, rows)


def _cells(pixels: np.ndarray, columns: int, rows: int) -> list[list[CharacterCell]]:
    """Cells of two pixels each, of pixels whose last byte is 255 where they are painted."""
    blocks = pixels.reshape(2 * rows, FINER, columns, FINER, 4).astype(float)
    painted = blocks[..., 3:] / 255
    share = painted.sum(axis=(1, 3))
    colours = (blocks[..., :3] * painted).sum(axis=(1, 3)) / np.maximum(share, 1.0)
    there = share[..., 0] > COVERED * FINER**2
    found = []
    for row in range(rows):
        cells = []
        for column in range(columns):
            above, below = (
                tuple(int(x) for x in colours[k, column]) if there[k, column] else None for k in (2 * row, 2 * row + 1)
            )
            front, text = (above, UPPER) if above else (below, LOWER) if below else (None, " ")
            cells.append(CharacterCell(text, front, below if above else None))
        found.append(cells)
    return found
