"""Names on a page, placed so that no two touch, as near to what they name and as clear of lines as there is room."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polhode.show.vector.canvas import TextRun, text_heights, text_width

Array = np.ndarray

TURNS = np.radians([0, 22, -22, 45, -45, 70, -70, 100, -100, 135, -135, 180])
"""Angles from the best direction that are tried."""
FAR = (1.6, 3.0, 5.0, 8.0, 12.0, 17.0)
"""Distances that are tried, points."""
LEADER = 9.0
"""Distance beyond which a thin line leads to a name, points."""
AIR = 0.9
"""Least distance between two names is twice this, points."""
ALONG = 12
"""Points at which a line to a name is looked at."""
SWEEPS = 4
"""How often every name is looked at again."""
FORBIDDEN = 1e4
"""Cost of touching another name."""
CROSSED = 25.0
"""Cost of a line that leads across a name: less than that of names on what is drawn."""


@dataclass(frozen=True)
class Label:
    """A name, its size, and the spots (x, y) it may stand at, each with the way it would best go from there."""

    runs: tuple[TextRun, ...]
    size: float
    style: str
    spots: Array
    ways: Array

    @cached_property
    def half(self) -> Array:
        """Half its width and half its height."""
        return np.array([text_width(self.runs, self.size), sum(text_heights(self.runs)) * self.size]) / 2


@dataclass(frozen=True)
class PlacedLabel:
    """Where a name stands."""

    label: Label
    middle: Array
    spot: Array

    @property
    def box(self) -> Array:
        """left, top, right, bottom"""
        return np.concatenate([self.middle - self.label.half, self.middle + self.label.half])

    @property
    def leader(self) -> tuple[Array, Array] | None:
        """The line from the spot to the name, where that is far."""
        inner = np.clip(self.spot, self.box[:2], self.box[2:])
        way = inner - self.spot
        far = float(np.linalg.norm(way))
        return (self.spot + 1.2 * way / far, inner - 0.8 * way / far) if far > LEADER else None


def overlap(a: Array, b: Array) -> Array:
    """By how much boxes (..., 4) reach into each other; 0 where they do not touch."""
    width = np.minimum(a[..., 2], b[..., 2]) - np.maximum(a[..., 0], b[..., 0])
    height = np.minimum(a[..., 3], b[..., 3]) - np.maximum(a[..., 1], b[..., 1])
    return np.where((width > 0) & (height > 0), np.minimum(width, height), 0.0)


def place(labels: Sequence[Label], points: Array, weights: Array) -> list[PlacedLabel]:
    """Places for all names.

    points   (n, 2) of what is drawn, which a name should not cover
    weights  (n,) how bad it is to cover each
    """
    tried = [_candidates(label) for label in labels]
    costs = [own + _covered(boxes, points, weights) for boxes, own, _ in tried]
    chosen = [int(np.argmin(cost)) for cost in costs]
    for _ in range(SWEEPS):
        before = list(chosen)
        for i in range(len(labels)):
            chosen[i] = int(np.argmin(costs[i] + _touched(tried, chosen, i)))
        if chosen == before:
            break
    found = []
    for (boxes, _, spots), label, k in zip(tried, labels, chosen, strict=True):
        found.append(PlacedLabel(label, (boxes[k, :2] + boxes[k, 2:]) / 2, spots[k]))
    return _parted(found, points, weights)


def _candidates(label: Label) -> tuple[Array, Array, Array]:
    """Boxes (n, 4), what each costs by itself, and its spot."""
    c, s, (x, y) = np.cos(TURNS), np.sin(TURNS), label.ways.T[..., None]
    d = np.stack([c * x - s * y, s * x + c * y], -1)[:, :, None]  # spots, turns, 1, 2
    far = np.array(FAR)
    middles = label.spots[:, None, None] + d * (far + _support(label.half, d))[..., None]
    costs = (0.55 * far + 4.0 * (far > LEADER)) + (2.2 * abs(TURNS) ** 1.5)[:, None]
    costs = costs + 0.8 * np.arange(len(label.spots))[:, None, None]
    boxes = np.concatenate([middles - label.half, middles + label.half], -1).reshape(-1, 4)
    return boxes, costs.ravel(), np.repeat(label.spots, costs[0].size, axis=0)


def _support(half: Array, d: Array) -> Array:
    """From the middle of a box to its edge along each d."""
    with np.errstate(divide="ignore"):
        return np.where(abs(d) > 1e-9, half / abs(d), np.inf).min(-1)


def _covered(boxes: Array, points: Array, weights: Array) -> Array:
    """The weight of all points that each box covers."""
    low, high = boxes[:, :2].min(0) - AIR, boxes[:, 2:].max(0) + AIR
    near = ((points > low) & (points < high)).all(1)
    (x, y), weights = points[near].T, weights[near]
    left, top, right, bottom = (boxes + np.array([-AIR, -AIR, AIR, AIR])).T[..., None]
    return np.where((x > left) & (x < right) & (y > top) & (y < bottom), weights, 0.0).sum(1)


def _touched(tried: Sequence[tuple[Array, Array, Array]], chosen: Sequence[int], i: int) -> Array:
    """What it costs each candidate of label i that it touches other names, or its line or theirs crosses a name."""
    others = [(tried[j][0][k], tried[j][2][k]) for j, k in enumerate(chosen) if j != i]
    if not others:
        return np.zeros(len(tried[i][0]))
    theirs, spots = (np.array(x) for x in zip(*others, strict=True))
    grown = theirs + AIR * np.array([-1, -1, 1, 1])
    boxes = tried[i][0] + AIR * np.array([-1, -1, 1, 1])
    touched = np.count_nonzero(overlap(boxes[:, None], grown[None]) > 0, axis=1)
    own = _leaders(tried[i][0], tried[i][2])
    crossed = np.count_nonzero(_within(own[:, :, None], grown).any(axis=1), axis=1)
    crossing = np.count_nonzero(_within(_leaders(theirs, spots)[None], boxes[:, None, None]).any(axis=2), axis=1)
    return FORBIDDEN * touched + CROSSED * (crossed + crossing)


def _leaders(boxes: Array, spots: Array) -> Array:
    """Points of the lines from spots (n, 2) to boxes (n, 4): (n, ALONG, 2); NaN where there is no line."""
    inner = np.clip(spots, boxes[:, :2], boxes[:, 2:])
    far = np.linalg.norm(inner - spots, axis=1)
    points = spots[:, None] + np.linspace(0.0, 1.0, ALONG)[:, None] * (inner - spots)[:, None]
    return np.where((far > LEADER)[:, None, None], points, np.nan)


def _within(points: Array, boxes: Array) -> Array:
    """Whether points (..., 2) are in boxes (..., 4)."""
    return np.asarray(((points > boxes[..., :2]) & (points < boxes[..., 2:])).all(axis=-1))


def _parted(placed: list[PlacedLabel], points: Array, weights: Array) -> list[PlacedLabel]:
    """Names that still touch another are moved outwards until they do not."""
    air = AIR * np.array([-1, -1, 1, 1])
    for i, name in enumerate(placed):
        others = np.array([other.box + air for j, other in enumerate(placed) if j != i])
        if not len(others) or not overlap(name.box + air, others).any():
            continue
        around = np.arange(0, 2 * np.pi, np.pi / 18)
        for far in np.arange(2.0, 400.0, 3.0):
            middles = name.spot + (far + name.label.half.max()) * np.column_stack([np.cos(around), np.sin(around)])
            boxes = np.column_stack([middles - name.label.half, middles + name.label.half])
            free = ~(overlap((boxes + air)[:, None], others[None]) > 0).any(1)
            if free.any():
                costs = np.where(free, _covered(boxes, points, weights), np.inf)
                placed[i] = PlacedLabel(name.label, middles[int(np.argmin(costs))], name.spot)
                break
    return placed
