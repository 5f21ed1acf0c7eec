"""The frames beside the cans: that of space at the base, one at the end of each pair, that of the body."""

from dataclasses import dataclass

import numpy as np

from polhode.show.cans.layout import Assembly, Pair
from polhode.show.cans.names import axis_names
from polhode.show.vector.canvas import TextRun
from polhode.show.vector.geometry import Array, Cylinder, View, across, arc

AXIS = 2.0
"""Length of a frame's axes."""
AIR = 0.2
"""Least distance of an axis that points back to a can from that can."""


@dataclass(frozen=True)
class DrawnFrame:
    """Three axes."""

    id: str
    piece: int
    origin: Array
    axes: Array
    """Its unit vectors, as columns."""
    names: tuple[tuple[TextRun, ...], ...]


def frames_of(assembly: Assembly, view: View, which: str, stage: int | None = None) -> list[DrawnFrame]:
    """The frames that are drawn, from space to body: "all", "ends" (space and bodies), "base" or "none".

    stage  only that of space and the one that this motion carries, counted from 1
    """
    if which == "none":
        return []
    chain, pairs = assembly.chain, assembly.pairs
    found = [DrawnFrame("frame-0", 0, base_origin(assembly, view), np.eye(3), axis_names(chain, 0))]
    ends = {placed.tip.turn for placed in assembly.tips}
    for k, pair in enumerate(pairs):
        if which == "all" and k not in ends:
            R = pair.turn.after
            found.append(DrawnFrame(f"frame-{k + 1}", k + 1, end_origin(pair, R), R, axis_names(chain, k + 1)))
    for j, placed in enumerate(assembly.tips if which != "base" else ()):
        pair, tip = pairs[placed.tip.turn], placed.tip
        origin = placed.place if placed.rod else end_origin(pair, tip.frame)
        names = axis_names(chain, len(pairs), j)
        found.append(DrawnFrame(f"frame-{tip.turn + 1}-body-{j + 1}", tip.turn + 1, origin, tip.frame, names))
    return found if stage is None else [frame for frame in found if frame.piece in (0, stage)]


def end_origin(pair: Pair, R: Array) -> Array:
    """The middle of a pair's free end, or off it by as much as an axis points back into the can."""
    back = float(max(-(R.T @ pair.way)))
    return pair.end + (AXIS * back + AIR if back > 0.05 else 0.0) * pair.way


def base_origin(assembly: Assembly, view: View) -> Array:
    """Where the frame of space stands: level with the first can's foot, beside it, with room."""
    root = assembly.pairs[0]
    foot, a = root.first.start, root.way
    left = across(a, -view.axes[0])
    ends = [
        placed.place + s * AXIS * e for placed in assembly.tips for e in placed.tip.frame.T for s in (0.0, 0.5, 1.0)
    ]
    taken = view.page(np.concatenate([*(ring_points(solid) for solid in assembly.solids), np.array(ends)]))
    best, most = foot, -np.inf
    for t in np.linspace(-np.pi, np.pi, 25):
        for far in (2.6, 3.2, 4.0, 5.5, 7.0):
            origin = arc(foot, a, far * left, 0.0, 0.0).at(t)
            marks = view.page(np.array([origin, *(origin + s * AXIS * e for s in (0.5, 1.15) for e in np.eye(3))]))
            room = min(np.linalg.norm(marks[:, None] - taken[None], axis=2).min(), 0.7)
            aside = max(marks[0, 0] - taken[:, 0].min(), 0.0) + max(marks[0, 1] - view.page(foot)[1], 0.0)
            score = 4.0 * room - 0.2 * far - 0.1 * abs(t) - 0.16 * aside
            if score > most:
                best, most = origin, score
    return best


def ring_points(solid: Cylinder) -> Array:
    """Points round a cylinder, from end to end."""
    e = across(solid.axis, np.array([0.3, 0.5, 0.8]))
    circle = arc(np.zeros(3), solid.axis, solid.radius * e, 0, 1).at(np.linspace(0, 2 * np.pi, 8, endpoint=False))
    along = np.linspace(0, solid.length, max(3, int(solid.length / 0.6)))
    return np.concatenate([circle + solid.start + s * solid.axis for s in along])
