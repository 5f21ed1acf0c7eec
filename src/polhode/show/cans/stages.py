"""The classical picture of three angles: in each stage the frame before a turn and the frame after it, from one origin.

Schwab-Meijaard, Fig. 1.
"""

from collections.abc import Sequence

import numpy as np

from polhode.show.cans.arrows import Seen
from polhode.show.cans.chain import ChainMotion, MotionChain
from polhode.show.cans.names import angle_name, axis_names, plain_runs
from polhode.show.cans.theme import tone_of
from polhode.show.vector.canvas import TextRun
from polhode.show.vector.drawing import Area, Drawing, Layer, Note, Stroke
from polhode.show.vector.geometry import Array, View, arc, line, unit

AXIS, DISC = 2.4, 1.6
"""Length of the axes; radius of the disc in which the others turn."""
ILLUSTRATIVE = tuple(np.radians([28.0, 40.0, 35.0]))
"""Angles of a picture for which none are given: such that every frame can be told from the one before."""


def stage_drawing(chain: MotionChain, k: int, view: View) -> Drawing:
    """The stage of turn k: the old axes thin, the new ones in their colour, arcs from old to new."""
    turn, seen = chain.turns[k], Seen(view, ())
    layers = [_disc(turn, k), *_old(chain, k, seen), *_new(chain, k, seen), *_arcs(turn, k, seen)]
    return Drawing(view, tuple(layers))


def _disc(turn: ChainMotion, k: int) -> Layer:
    e = turn.before[:, _across(turn)[0]]
    circle = arc(np.zeros(3), turn.axis, DISC * e, 0.0, 2 * np.pi)
    return Layer(
        f"disc-{k + 1}", (Area(f"disc-{tone_of(k + 1)}", (circle,)), Stroke("fine", (circle,))), "plane of the turn"
    )


def _along(turn: ChainMotion) -> int:
    """Which axis of the frame the turn is about."""
    return int(np.argmax(abs(turn.before.T @ turn.axis)))


def _across(turn: ChainMotion) -> list[int]:
    return [i for i in range(3) if i != _along(turn)]


def _axis(x: Array, runs: Sequence[TextRun], tone: int, seen: Seen) -> tuple[Stroke, Note]:
    curve = line(np.zeros(3), AXIS * x)
    note = Note(tuple(runs), f"axis-text-{tone}", (curve.at(1.0),), (seen.way(x),))
    return seen.arrow(curve, f"axis-{tone}"), note


def _old(chain: MotionChain, k: int, seen: Seen) -> list[Layer]:
    turn, names = chain.turns[k], axis_names(chain, k)
    found = [_axis(turn.before[:, i], names[i], tone_of(k), seen) for i in _across(turn)]
    return [Layer(f"before-{k + 1}", tuple(s for s, _ in found), "frame before", tuple(n for _, n in found))]


def _new(chain: MotionChain, k: int, seen: Seen) -> list[Layer]:
    """The new axes; the axis of the turn belongs to both frames and has both names."""
    turn, old, new = chain.turns[k], axis_names(chain, k), axis_names(chain, k + 1)
    i = _along(turn)
    found = [_axis(turn.after[:, j], new[j], tone_of(k + 1), seen) for j in _across(turn)]
    found.append(_axis(turn.after[:, i], (*old[i], *plain_runs(" = "), *new[i]), tone_of(k + 1), seen))
    return [Layer(f"after-{k + 1}", tuple(s for s, _ in found), "frame after", tuple(n for _, n in found))]


def _arcs(turn: ChainMotion, k: int, seen: Seen) -> list[Layer]:
    """From each old axis to the new one, by the angle; the name stands at either."""
    if abs(turn.value) < 1e-3:
        return []
    curves = [arc(np.zeros(3), turn.axis, DISC * turn.before[:, i], 0.0, turn.value) for i in _across(turn)]
    strokes = tuple(Stroke(f"arrow-{tone_of(k + 1)}", (curve,), (1,)) for curve in curves)
    spots = tuple(curve.at(s * turn.value) for s in (0.5, 0.35, 0.65) for curve in curves)
    ways = tuple(seen.way(unit(spot)) for spot in spots)
    note = Note(angle_name(turn.name), f"arrow-text-{tone_of(k + 1)}", spots, ways)
    return [Layer(f"angle-{k + 1}", strokes, f"angle {turn.name}", (note,))]
