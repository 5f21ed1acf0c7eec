"""How a beam lies without loads: axes of its nodes, and axes, lengths and strains of its elements there."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import ModelError, message
from polhode.model.beams.element_law import ElementNumbers
from polhode.model.beams.plane import BeamPlane
from polhode.model.beams.strains import chord
from polhode.scalar import Vec

SIDEWAYS = 1e-6
"""The sine of the angle between a beam and its `up` below which `up` tells nothing."""

ROUNDING = 4e-15
"""Strains of a beam at rest below this part of the length are 0."""


class ElementLayout(NamedTuple):
    """An element at rest: the axes of the sections at its ends, columns, the way between them and its length, m."""

    start: np.ndarray
    end: np.ndarray
    way: np.ndarray
    length: float

    def strains(self, law: ElementNumbers, sine: bool, raw: bool) -> list[float]:
        """Those of its shape at rest (6,), m.  raw: without terms of higher order"""
        R_p, R_q = (Vec([Vec(row) for row in axes.tolist()]) for axes in (self.start, self.end))
        line = chord(R_p, R_q, Vec(self.way.tolist()), self.length, sine)
        found = line.strains if raw else law.strains(line)
        return [float(x) if abs(x) > ROUNDING * self.length else 0.0 for x in found]


class BeamLayout(NamedTuple):
    """A beam at rest: the axes of its nodes, columns, and its elements."""

    frames: list[np.ndarray]
    elements: list[ElementLayout]


def straight_elements(where: str, points: np.ndarray, up: np.ndarray, plane: BeamPlane | None) -> BeamLayout:
    """Straight elements between nodes (n + 1, 3), whose axes are half way between those of their elements."""
    ways, lengths, along = _ways(points)
    axes = [_axes(where, x, up) for x in along]
    seen = [plane.node_axes(x) for x in along] if plane else axes
    between = plane.between if plane else _between
    frames = [seen[0], *(between(a, b) for a, b in pairwise(seen)), seen[-1]]
    return BeamLayout(frames, [ElementLayout(a, a, *pair) for a, *pair in zip(axes, ways, lengths, strict=True)])


def curved_elements(where: str, points: np.ndarray, up: np.ndarray, plane: BeamPlane | None) -> BeamLayout:
    """Elements along a smooth curve through nodes (n + 1, 3), whose axes are tangent to it.

    The length of an element is that of the arc between its ends: the way, times β/sin β, β between way and tangent.
    """
    ways, lengths, along = _ways(points)
    x = _tangents(lengths, along)
    axes = [_axes(where, direction, up) for direction in x]
    ratios = np.array([[_arc_ratio(x[k], t), _arc_ratio(x[k + 1], t)] for k, t in enumerate(along)]).mean(axis=1)
    frames = [plane.node_axes(direction) for direction in x] if plane else axes
    sizes = (lengths * ratios).tolist()
    return BeamLayout(frames, [ElementLayout(*each) for each in zip(axes[:-1], axes[1:], ways, sizes, strict=True)])


def _ways(points: np.ndarray) -> tuple[np.ndarray, list[float], np.ndarray]:
    """From each node to the next: ways (n, 3), m, their lengths and directions."""
    ways = np.diff(points, axis=0)
    lengths = np.sqrt(np.sum(ways**2, axis=1))
    return ways, lengths.tolist(), ways / lengths[:, None]


def _tangents(lengths: Any, along: np.ndarray) -> np.ndarray:
    """Directions (n + 1, 3) of a curve at its nodes: that of the circle through a node and its two neighbours, which
    is l₂ t₁ + l₁ t₂ of the ways there; at its ends that of an arc, with the same angle to the way at both of its ends.
    """
    size = np.array(lengths)[:, None]
    inner = size[1:] * along[:-1] + size[:-1] * along[1:]
    inner = inner / np.linalg.norm(inner, axis=1)[:, None]
    ends = [2 * (t @ x) * t - x for t, x in ((along[0], inner[0]), (along[-1], inner[-1]))]
    return np.vstack([ends[0], inner, ends[1]])


def _arc_ratio(x: np.ndarray, t: np.ndarray) -> float:
    """β/sin β of the angle between two directions."""
    sine = float(np.linalg.norm(np.cross(x, t)))
    return float(np.arctan2(sine, x @ t)) / sine if sine > SIDEWAYS else 1.0 + sine * sine / 6


def _axes(where: str, x: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Axes of a section, columns: x along the beam, z towards `up`."""
    y = np.cross(up, x)
    size = np.linalg.norm(y)
    if not size > SIDEWAYS * np.linalg.norm(up):
        fix = f"Write up=({', '.join('1' if i == int(np.argmin(abs(x))) else '0' for i in range(3))})."
        raise ModelError(message(f"{where}, up", "along the beam", f"{up.tolist()}", "a direction across it", fix))
    y = y / size
    return np.column_stack([x, y, np.cross(x, y)])


def _between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The axes half way from one to another."""
    U, _, Vt = np.linalg.svd(a + b)
    return U @ Vt
