"""An assembly of cans as a viewer sees it: its solids from back to front, then lines, arrows and frames."""

from collections.abc import Iterator

import numpy as np

from polhode.show.cans.arrows import Look, Seen, arrow, frame_layer, lost_layer, rate_layers, wheel, wheel_rim
from polhode.show.cans.chain import ChainMotion
from polhode.show.cans.frames import base_origin, frames_of
from polhode.show.cans.layout import Assembly, CanPart, Pair
from polhode.show.cans.names import plain_runs
from polhode.show.cans.theme import tone_of, turn_tone
from polhode.show.vector.drawing import Area, Drawing, Layer, Note, Stroke
from polhode.show.vector.geometry import (
    Array,
    SpaceCurve,
    Trimmed,
    View,
    across,
    arc,
    back_to_front,
    hidden,
    line,
    near_on_page,
    unit,
    visible,
)

MARK = 0.32
"""Length of the marks on the cans."""
LID = 0.84
"""Radius of the line on a lid."""
SHADES = (("shade", 0.5), ("deep", 1.02))
"""Where a can's shades begin, rad from the side that faces the viewer."""
LIGHT = np.array([-0.8, 0.6])
"""The light comes from the upper left of the page."""
HALF = np.pi / 2

TITLES = {"can": "can", "inner": "inner can", "pin": "pin", "rod": "rod", "plate": "base plate"}


def draw_scene(assembly: Assembly, view: View, look: Look) -> Drawing:
    """The whole picture from one side."""
    seen = Seen(view, tuple(assembly.solids))
    shapes = [part.shape for part in assembly.parts]
    layers = [_part(assembly.parts[i], i, seen) for i in back_to_front(shapes, view)]
    layers += [_mark(k, pair, seen) for k, pair in enumerate(assembly.pairs)]
    layers += [wheel(j, placed, assembly, seen) for j, placed in enumerate(assembly.tips) if placed.tip.wheel]
    layers += [frame_layer(frame, seen) for frame in frames_of(assembly, view, look.frames, look.stage)]
    layers += [arrow(k, pair, seen, look) for k, pair in enumerate(assembly.pairs) if look.stage in (None, 0, k + 1)]
    layers += rate_layers(assembly, seen, look)
    layers += _guides(assembly, seen)
    layers += _loops(assembly, seen)
    layers += [lost_layer(k, lost, assembly, seen) for k, lost in enumerate(assembly.chain.lost if look.lost else ())]
    layers += _bodies(assembly, seen)
    return Drawing(view, tuple(layer for layer in layers if layer.items or layer.notes), tuple(assembly.solids))


def _part(part: CanPart, i: int, seen: Seen) -> Layer:
    tone = f"piece-{tone_of(part.piece)}"
    items: list[Area | Stroke] = [Area(f"{tone}-{kind}", edges) for kind, edges in fills(part.shape, seen.view)]
    for curve in part.shape.body.outline(seen.view):
        if curve.straight or not (part.shape.first and part.shape.second):
            items.append(Stroke("edge", tuple(seen(curve, i))))
    items += [Stroke("fine", tuple(seen(curve, i))) for curve in _lid(part, seen.view)]
    ends = [second for second, other in ((False, part.shape.first), (True, part.shape.second)) if other]
    items += [Stroke("edge", tuple(_seam(part.shape, second, seen))) for second in ends]
    return Layer(part.id, tuple(item for item in items if isinstance(item, Area) or item.pieces), TITLES[part.role])


def _lid(part: CanPart, view: View) -> Iterator[SpaceCurve]:
    """The line on a can's lid."""
    body, slope = part.shape.body, float(part.shape.body.axis @ view.toward)
    if part.role in ("can", "inner") and abs(slope) > 0.05:
        end = body.end if slope > 0 else body.start
        yield arc(end, body.axis, LID * body.radius * body.facing(view), -np.pi, np.pi)


def _seam(shape: Trimmed, second: bool, seen: Seen) -> Iterator[Array]:
    """The visible pieces of the curve in which two solids meet, as rows of points."""

    def at(t: Array) -> Array:
        return shape.seam(np.atleast_1d(t), seen.view, second)

    near = near_on_page(at(np.linspace(-np.pi, np.pi, 9)), seen.view, seen.solids)
    others = [solid for solid, ok in zip(seen.solids, near, strict=True) if ok]
    for t0, t1 in visible(at, (-np.pi, np.pi), 2.0, seen.view, others):
        yield at(np.linspace(t0, t1, max(4, int((t1 - t0) / 0.25))))


def _mark(k: int, pair: Pair, seen: Seen) -> Layer:
    """A line on each can: one line at zero, apart by the angle."""
    turn = pair.turn
    if turn.symbol == "prismatic":
        return Layer(f"mark-{k + 1}", ())
    e = mark_direction(turn, seen.view)
    turned = turn.after @ turn.before.T @ e
    lines = [line(pair.first.end + e - MARK * pair.way, pair.first.end + e)]
    lines.append(line(pair.second.start + turned, pair.second.start + turned + MARK * pair.way))
    pieces = tuple(piece for curve in lines for piece in seen(curve))
    return Layer(f"mark-{k + 1}", (Stroke("mark", pieces),) if pieces else (), "marks: one line at zero")


def mark_direction(turn: ChainMotion, view: View) -> Array:
    """Where the mark on the first can is: a coordinate direction of its frame across the axis, facing the viewer."""
    facing, a = across(turn.axis, view.toward), turn.axis
    sides = [unit(s - (s @ a) * a) for s in (*turn.before.T, *-turn.before.T) if abs(s @ a) < 0.9]
    return max(sides, key=lambda side: float(side @ facing))


def _guides(assembly: Assembly, seen: Seen) -> Iterator[Layer]:
    """From the frame of space to the first can of a body that nothing holds."""
    for k, pair in enumerate(assembly.pairs):
        if pair.turn.floating:
            pieces = seen(line(base_origin(assembly, seen.view), pair.first.start))
            yield Layer(f"guide-{k + 1}", (Stroke("guide", tuple(pieces)),), "free to move")


def loop_ends(assembly: Assembly, k: int) -> tuple[Array, Array]:
    """Where the line of a loop begins and ends: at a mass centre at the end of a branch, else at a can."""
    tips = {placed.tip.turn: placed.place for placed in assembly.tips}
    first, second = (tips.get(turn, assembly.pairs[turn].end) for turn in assembly.chain.loops[k].turns)
    return first, second


def _loops(assembly: Assembly, seen: Seen) -> Iterator[Layer]:
    """A dashed line between the two parts that a constraint joins, and its name."""
    for k, loop in enumerate(assembly.chain.loops):
        a, b = loop_ends(assembly, k)
        pieces = tuple(seen(line(a, b)))
        way = seen.view.page(b - a)
        side = np.array([-way[1], way[0]]) / max(float(np.linalg.norm(way)), 1e-9)
        at = tuple(a + s * (b - a) for s in (0.5, 0.5, 0.35, 0.65))
        note = Note(plain_runs(loop.name), "caption", at, (side, -side, side, side), True)
        yield Layer(f"loop-{k + 1}", (Stroke("guide", pieces),) if pieces else (), f"constraint {loop.name}", (note,))


def _bodies(assembly: Assembly, seen: Seen) -> Iterator[Layer]:
    """The names of a machine's bodies at the ends of its branches, and their mass centres."""
    for j, placed in enumerate(() if assembly.chain.sequence else assembly.tips):
        pair, tone = assembly.pairs[placed.tip.turn], turn_tone(placed.tip.turn)
        way = seen.way(placed.place - pair.hub)
        at, ways = ((placed.place,), (way,)) if not placed.tip.wheel else wheel_rim(placed, assembly, seen.view)
        note = Note(plain_runs(placed.tip.name), f"body-text-{tone}", at, ways, True)
        others = [solid for solid in seen.solids if np.linalg.norm(solid.end - placed.place) > 1e-9]
        covered = bool(hidden(placed.place[None], seen.view, others)[0])
        centre = placed.place if placed.rod and not covered else None
        yield Layer(f"body-{j + 1}", (), "body " + placed.tip.name, (note,), centre)


def fills(shape: Trimmed, view: View) -> Iterator[tuple[str, tuple[SpaceCurve | Array, ...]]]:
    """The areas of a solid: side, its shaded parts, its near end."""
    body, slope = shape.body, float(shape.body.axis @ view.toward)
    if 1 - abs(slope) > 1e-9:
        yield "side", _side(shape, view, -HALF, HALF)
        away = view.page(np.cross(body.axis, body.facing(view))) @ LIGHT
        for kind, begin in SHADES:
            yield kind, _side(shape, view, *((begin, HALF) if away < 0 else (-HALF, -begin)))
    free = shape.second is None if slope > 0 else shape.first is None
    if abs(slope) > 1e-9 and free:
        yield "lid", (body.ring(body.length if slope > 0 else 0.0, view, -np.pi, np.pi),)


def _side(shape: Trimmed, view: View, t0: float, t1: float) -> tuple[SpaceCurve | Array, ...]:
    """The part of a side between two angles: along one end and back along the other."""
    t = np.linspace(t0, t1, 9)
    ends: list[SpaceCurve | Array] = []
    for second, other in ((False, shape.first), (True, shape.second)):
        if other:
            ends.append(shape.seam(t, view, second))
        else:
            ends.append(shape.body.ring(shape.body.length if second else 0.0, view, t0, t1))
    back = ends[1]
    return ends[0], back[::-1] if isinstance(back, np.ndarray) else back.piece(back.t1, back.t0)
