"""Arrows and axes among the cans: of the angles, of their rates, of frames, of the direction lost at gimbal lock."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polhode.show.cans.chain import Lost
from polhode.show.cans.frames import AXIS, DrawnFrame
from polhode.show.cans.layout import CAN, GAP, INNER, LONGEST, WHEEL, Assembly, Pair, PlacedTip
from polhode.show.cans.names import angle_name, degrees, plain_runs, rate_name
from polhode.show.cans.theme import tone_of, turn_tone
from polhode.show.vector.canvas import TextRun
from polhode.show.vector.drawing import Layer, Note, Stroke
from polhode.show.vector.geometry import Array, Cylinder, SpaceCurve, View, across, arc, hidden, line, visible_pieces

RING = 1.36
"""Radius of the angles' arrows."""
SWEEP, ROUND = (-1.85, 1.3), (-2.6, 2.6)
"""From where to where an angle's arrow runs, rad from the side that faces the viewer; where it is seen end on."""
SHIFTS = (0.0, -0.3, 0.3, -0.7, -1.1, 0.7, 1.6, 2.2, 3.14)
"""By how much it may be moved along so that its head is seen, rad."""
END_ON = 0.93
"""Cosine between the axis and the way to the viewer, beyond which a can is seen end on."""
RATE, LOST = 1.35, 2.6
"""Length of the longest rate's arrow; half that of the lost direction."""


@dataclass(frozen=True)
class Look:
    """What is shown beside the cans."""

    frames: str = "all"
    """all, ends, base or none"""
    rates: Array | None = None
    total: bool = False
    """Whether the sum of the rates is drawn at the body."""
    values: bool = False
    lost: bool = True
    stage: int | None = None
    """Show the arrow and the frame of this motion only, counted from 1; 0: no frame but that of space."""


@dataclass(frozen=True)
class Seen:
    """Tells what of a curve can be seen."""

    view: View
    solids: tuple[Cylinder, ...]

    def __call__(self, curve: SpaceCurve, own: int | None = None) -> list[SpaceCurve]:
        """The visible pieces; the solid whose own line it is does not hide it."""
        return visible_pieces(curve, self.view, self.solids, () if own is None else (own,))

    def rest(self, curve: SpaceCurve) -> list[SpaceCurve]:
        """The hidden pieces."""
        seen = [t for piece in self(curve) for t in (piece.t0, piece.t1)]
        ends = [curve.t0, *seen, curve.t1]
        return [curve.piece(a, b) for a, b in zip(ends[::2], ends[1::2], strict=True) if b - a > 1e-6]

    def arrow(self, curve: SpaceCurve, style: str, both: bool = False) -> Stroke:
        """A line with a head at its end, or at both, where those can be seen."""
        pieces = self(curve)
        ends = [(both and piece.t0 == curve.t0, piece.t1 == curve.t1) for piece in pieces]
        kinds = {(False, False): 0, (False, True): 1, (True, False): -1, (True, True): 2}
        return Stroke(style, tuple(pieces), tuple(kinds[end] for end in ends))

    def way(self, x: Array) -> Array:
        """A direction of space on the page."""
        flat = self.view.page(x)
        size = float(np.linalg.norm(flat))
        return flat / size if size > 1e-9 else np.array([0.0, 1.0])


def arrow_curve(pair: Pair, view: View, shift: float = 0.0) -> SpaceCurve:
    """The arrow of a coordinate: right-handed about the axis, along it for a telescope, a helix for a screw."""
    a, turn = pair.turn.axis, pair.turn
    facing = across(a, view.toward)
    if turn.symbol == "prismatic":
        up = view.page(np.cross(a, facing)) @ np.array([0.3, 1.0])
        side = arc(np.zeros(3), a, facing, 0.0, 0.0).at((np.pi / 2 if up >= 0 else -np.pi / 2) + shift)
        start = pair.first.end + (INNER + 0.5) * side + 0.1 * a
        return line(start, start + (np.linalg.norm(pair.end - pair.first.end) + 0.25) * a)
    span = ROUND if abs(a @ view.toward) > END_ON else SWEEP
    rise = 0.14 * float(np.sign(turn.pitch)) if turn.symbol == "screw" else 0.0
    return arc(pair.first.end + (GAP + 0.17 * CAN) * pair.way, a, RING * facing, span[0] + shift, span[1] + shift, rise)


def _shown(pair: Pair, seen: Seen) -> SpaceCurve:
    """The arrow where its head and most of it can be seen."""

    def fault(shift: float) -> float:
        curve = arrow_curve(pair, seen.view, shift)
        t = np.linspace(curve.t0, curve.t1, 41)
        covered = hidden(curve.at(t), seen.view, seen.solids)
        return float(covered.mean() + 1.5 * covered[-9:].mean() + 0.08 * abs(shift))

    return arrow_curve(pair, seen.view, min(SHIFTS, key=fault))


def arrow(k: int, pair: Pair, seen: Seen, look: Look) -> Layer:
    """The arrow of a coordinate in its positive sense, and its name."""
    turn, curve, tone = pair.turn, _shown(pair, seen), turn_tone(k)
    runs = angle_name(pair.turn.name)
    if look.values:
        runs += plain_runs(f" = {turn.value:.3g} m" if turn.symbol == "prismatic" else f" = {degrees(turn.value)}")
    spots = curve.at(np.linspace(curve.t1, curve.t0, 9))
    spots = spots[~hidden(spots, seen.view, seen.solids)] if not hidden(spots, seen.view, seen.solids).all() else spots
    middle = pair.second.middle if turn.symbol == "prismatic" else pair.second.start
    note = Note(runs, f"arrow-text-{tone}", tuple(spots), tuple(seen.way(x - middle) for x in spots))
    stroke = seen.arrow(curve, f"arrow-{tone}")
    return Layer(f"arrow-{k + 1}", (stroke,), f"{turn.symbol} {pair.turn.name}", (note,))


def frame_layer(frame: DrawnFrame, seen: Seen) -> Layer:
    """The axes of a frame and their names."""
    tone = tone_of(frame.piece)
    curves = [line(frame.origin, frame.origin + AXIS * axis) for axis in frame.axes.T]
    strokes = [Stroke(f"behind-{tone}", tuple(seen.rest(curve))) for curve in curves]
    strokes += [seen.arrow(curve, f"axis-{tone}") for curve in curves]
    notes = []
    for curve, runs in zip(curves, frame.names, strict=True):
        notes.append(Note(runs, f"axis-text-{tone}", (curve.at(1.0),), (seen.way(curve.w),)))
    return Layer(frame.id, tuple(stroke for stroke in strokes if stroke.pieces), "frame", tuple(notes))


def rate_layers(assembly: Assembly, seen: Seen, look: Look) -> Iterator[Layer]:
    """The rates as vectors along the axes, and at the body of a sequence their sum."""
    if look.rates is None:
        return
    scale = RATE / max(float(abs(look.rates).max()), 1e-12)
    total = np.zeros(3)
    for k, (pair, rate) in enumerate(zip(assembly.pairs, look.rates, strict=True)):
        vector = scale * rate * pair.turn.axis
        total = total + vector
        if rate:
            start = _clear_end(pair, assembly, seen.view)
            start = start if vector @ pair.way > 0 else start - vector
            runs = rate_name(pair.turn.name, pair.turn.symbol)
            yield _vector(f"rate-{k + 1}", start, vector, runs, f"rate-{turn_tone(k)}", seen)
    if look.total and assembly.chain.sequence and np.linalg.norm(total) > 1e-9:
        runs = (TextRun("ω", italic=True, bold=True),)
        yield _vector("omega", assembly.pairs[-1].end, total, runs, "omega", seen)


def _clear_end(pair: Pair, assembly: Assembly, view: View) -> Array:
    """The middle of a pair's free end; beside the can if a rod comes out there."""
    rods = [part.shape.body for part in assembly.parts if part.role == "rod" and part.shape.first is pair.second]
    if all(rod.axis @ pair.way < 0.8 for rod in rods):
        return pair.end
    return pair.hub + 1.75 * across(pair.way, view.axes[0])


def _vector(name: str, start: Array, vector: Array, runs: tuple[TextRun, ...], style: str, seen: Seen) -> Layer:
    curve, way = line(start, start + vector), seen.way(vector)
    side = np.array([way[1], -way[0]])
    side = side if side[0] >= 0 else -side
    spots, ways = curve.at(np.array([0.7, 0.5, 1.0, 0.7, 0.5])), (side, side, way, -side, -side)
    base, _, tone = style.partition("-")
    note = Note(runs, f"{base}-text-{tone}" if tone else f"{base}-text", tuple(spots), ways)
    return Layer(name, (seen.arrow(curve, style),), "angular velocity", (note,))


def lost_layer(k: int, lost: Lost, assembly: Assembly, seen: Seen) -> Layer:
    """At gimbal lock: the direction about which no rate turns the body, across the axis of the middle pair."""
    first, middle = assembly.pairs[lost.turn - 2], assembly.pairs[lost.turn - 1]
    joint = middle.first.middle - first.hub
    places = [first.hub + s * joint for s in (0.5, 0.45, 0.55)] + [middle.first.middle]
    curves = [line(x - LOST * lost.direction, x + LOST * lost.direction) for x in places]
    curve = max(curves, key=lambda one: sum(abs(piece.t1 - piece.t0) for piece in seen(one)))
    way = seen.way(lost.direction)
    note = Note(plain_runs("lost direction"), "lost-text", tuple(curve.at(np.array([1.0, 0.0]))), (way, -way), True)
    return Layer(f"lost-{k + 1}", (seen.arrow(curve, "lost", both=True),), "lost direction", (note,))


def wheel(j: int, placed: PlacedTip, assembly: Assembly, seen: Seen) -> Layer:
    """A body that spins like a wheel, as a circle of its radius of gyration."""
    rim = _rim(placed, assembly, seen.view)
    inner = SpaceCurve(rim.c, 0.93 * rim.e1, 0.93 * rim.e2, rim.w, rim.t0, rim.t1)
    pieces = tuple(piece for circle in (rim, inner) for piece in seen(circle))
    return Layer(f"wheel-{j + 1}", (Stroke(f"wheel-{turn_tone(placed.tip.turn)}", pieces),), "wheel")


def _rim(placed: PlacedTip, assembly: Assembly, view: View) -> SpaceCurve:
    pair = assembly.pairs[placed.tip.turn]
    radius = float(np.clip(assembly.scale * placed.tip.wheel, WHEEL, LONGEST / 2))
    return arc(pair.hub, pair.way, radius * across(pair.way, view.toward), -np.pi, np.pi)


def wheel_rim(placed: PlacedTip, assembly: Assembly, view: View) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Points of a wheel's rim and the ways outwards, for its name."""
    rim = _rim(placed, assembly, view)
    points = rim.at(np.linspace(-np.pi, np.pi, 12, endpoint=False))
    flat = view.page(points - rim.c)
    order = np.argsort(flat[:, 1])  # below the wheel there is most room
    ways = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    return tuple(points[order]), tuple(ways[order])
