"""Lines between bodies that force elements ask for: springs as coils, cables as lines."""

import math
from typing import Any

import numpy as np

from polhode.model import WORLD, DrawnLine, Model, plain
from polhode.quaternion import rotate
from polhode.show.scene.overlay import from_z

TURNS, AROUND, STRAIGHT = 7, 12, 0.12
"""Turns of a coil, points of each, and the part of its length that is straight at each end."""


def unit_path(look: str, radius: float) -> list[list[float]]:
    """The path of a line along z from 0 to 1; coils are drawn with a radius, m."""
    if look != "coil":
        return [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    found = [[0.0, 0.0, 0.0], [0.0, 0.0, STRAIGHT]]
    for k in range(TURNS * AROUND + 1):
        angle, part = 2 * math.pi * k / AROUND, k / (TURNS * AROUND)
        grown = radius * min(1.0, 4 * part, 4 * (1 - part))
        along = STRAIGHT + (1 - 2 * STRAIGHT) * part
        found.append([grown * math.cos(angle), grown * math.sin(angle), along])
    return [[float(f"{x:.6g}") for x in p] for p in [*found, [0.0, 0.0, 1 - STRAIGHT], [0.0, 0.0, 1.0]]]


def ties(model: Model, radius: float) -> list[dict[str, Any]]:
    """The lines of a model's force elements, as plain data: body (−1 for the world) and point of each end, the path."""
    place = {WORLD: -1, **{body.name: b for b, body in enumerate(model.bodies)}}
    return [
        {
            "bodies": [place[line.body_a], place[line.body_b]],
            "points": [[float(x) for x in plain(point)] for point in (line.point_a, line.point_b)],
            "path": unit_path(line.look, radius),
        }
        for line in _lines(model)
    ]


def _lines(model: Model) -> list[DrawnLine]:
    return [line for force in model.forces for line in force.drawing() if isinstance(line, DrawnLine)]


def fixed_ends(model: Model) -> list[tuple[float, ...]]:
    """The ends of such lines that stand on the world."""
    lines = [line for force in model.forces for line in force.drawing()]  # beams among them
    ends = [(line.body_a, line.point_a) for line in lines] + [(line.body_b, line.point_b) for line in lines]
    return [tuple(plain(point)) for body, point in ends if body == WORLD]


def path_between(path: list[list[float]], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A path of `unit_path` between two points, (n, 3)."""
    along, way = np.array(path), b - a
    length = float(np.linalg.norm(way))
    across = rotate(from_z(way), along * [1.0, 1.0, 0.0]) if length > 0 else 0.0 * along
    return a + along[:, 2:] * way + np.asarray(across)
