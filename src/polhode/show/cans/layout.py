"""Where the cans stand: each pair at its true attitude, moved apart along the links so that all can be seen.

All lengths are in radii of a can. A rod leads from the second can of a pair to the first can of each pair that it
carries: along the true link, stretched or shown; where a link has no length, along the next axis.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polhode.show.cans.chain import ChainMotion, MotionChain, Tip
from polhode.show.vector.geometry import Array, Cylinder, Trimmed, across, unit

CAN, GAP = 1.55, 0.2
"""Length of a can; gap between the two of a pair."""
ROD, PIN, INNER = 0.15, 0.34, 0.66
"""Radii of a rod, of the pin in the gap, of the inner can of a telescope."""
HUB = 0.52
"""Where on the second can rods begin, as a part of its length; the angle's arrow stands before it."""
FREE, LINK, LONGEST, WHEEL = 2.2, 5.2, 12.0, 2.7
"""The shortest visible rod; the length drawn for the median link; the longest; the smallest wheel."""
PLATE, PLATE_HEIGHT = 1.55, 0.2
"""Radius and height of the plate under the first can."""
PULLED, SHORTEST_PULL, LONGEST_PULL = 1.45, 0.75, 3.0
"""How far the inner can of a telescope stands out at zero, least and most."""
CLEAR = 0.35
"""Least distance between things that are not joined."""


@dataclass(frozen=True)
class CanPart:
    """A solid of the picture. Parts of one piece move as one; piece 0 is the ground, piece k + 1 is moved by turn k."""

    id: str
    role: str
    """can, inner, pin, rod or plate"""
    piece: int
    shape: Trimmed


@dataclass(frozen=True)
class Pair:
    """The two cans of a motion; the second stands beyond the first, along the axis or against it."""

    turn: ChainMotion
    first: Cylinder
    second: Cylinder

    @property
    def way(self) -> Array:
        """From the first can to the second: the axis of the motion, or its opposite."""
        return self.first.axis

    @property
    def hub(self) -> Array:
        """Where its rods begin, inside the second can."""
        inner = self.turn.symbol == "prismatic"
        return self.second.end - 0.45 * self.way if inner else self.second.start + HUB * CAN * self.way

    @property
    def end(self) -> Array:
        """The middle of its free end, where the frame that it carries is drawn."""
        return self.second.end


@dataclass(frozen=True)
class PlacedTip:
    """A body at the end of a branch, and the rod to it if its mass centre is off the joint."""

    tip: Tip
    place: Array
    rod: bool


@dataclass(frozen=True)
class Assembly:
    """The picture in space."""

    chain: MotionChain
    pairs: tuple[Pair, ...]
    parts: tuple[CanPart, ...]
    tips: tuple[PlacedTip, ...]
    scale: float
    """Drawn radii per metre of a link."""

    @property
    def solids(self) -> list[Cylinder]:
        """The cylinder of every part."""
        return [part.shape.body for part in self.parts]


def assemble(chain: MotionChain) -> Assembly:
    """Place every pair, plate and rod of a chain."""
    lengths = [
        np.linalg.norm(x) for x in (*(t.offset for t in chain.turns if t.parent >= 0), *(t.reach for t in chain.tips))
    ]
    lengths = [x for x in lengths if x > 1e-9]
    wheels = [tip.wheel for tip in chain.tips if tip.wheel]
    scale = float(LINK / np.median(lengths)) if lengths else 0.0
    work = _Work(chain, max(scale, WHEEL / min(wheels)) if wheels else scale)
    for turn in chain.turns:
        work.add(turn)
    tips = tuple(work.tip(tip) for tip in chain.tips)
    return Assembly(chain, tuple(work.pairs), tuple(work.parts), tips, work.scale)


def pair_at(turn: ChainMotion, middle: Array, way: Array, scale: float) -> Pair:
    """The pair whose first can has its centre here, the second one beyond it."""
    first = Cylinder(middle - CAN / 2 * way, way, CAN, 1.0)
    if turn.symbol == "prismatic":
        out = float(np.clip(PULLED + scale * turn.value, SHORTEST_PULL, LONGEST_PULL))
        return Pair(turn, first, Cylinder(first.end - 0.4 * way, way, out + 0.4, INNER))
    return Pair(turn, first, Cylinder(first.end + GAP * way, way, CAN, 1.0))


def second_side(chain: MotionChain, k: int) -> Array:
    """The direction from the first can of a motion to the second: against the axis if what it carries lies there."""
    turn = chain.turns[k]
    carried = [t.offset for t in chain.turns if t.parent == k] + [t.reach for t in chain.tips if t.turn == k]
    along = sum(float(x @ turn.axis) for x in carried)
    against = along < -0.25 * sum(float(np.linalg.norm(x)) for x in carried) - 1e-12
    return -turn.axis if against and turn.symbol != "prismatic" and not chain.sequence else turn.axis


def gap_between(p: Array, q: Array, r: Array, s: Array) -> float:
    """The distance between two straight lines p–q and r–s."""
    u, v, w = q - p, s - r, p - r
    a, b, c, d, e = u @ u, u @ v, v @ v, u @ w, v @ w
    D = a * c - b * b
    x = np.clip((b * e - c * d) / D, 0, 1) if D > 1e-12 else 0.0
    y = np.clip((b * x + e) / c, 0, 1) if c > 1e-12 else 0.0
    x = np.clip((b * y - d) / a, 0, 1) if a > 1e-12 else 0.0
    return float(np.linalg.norm(w + x * u - y * v))


class _Work:
    """Pairs placed so far."""

    def __init__(self, chain: MotionChain, scale: float) -> None:
        self.chain, self.scale = chain, scale
        self.pairs: list[Pair] = []
        self.parts: list[CanPart] = []
        self.taken: list[tuple[int, Array, Array, float]] = []
        """Pair, two ends and radius of what stands somewhere."""

    def add(self, turn: ChainMotion) -> None:
        """Place the next motion."""
        k, own, inner = len(self.pairs), turn.parent + 1, turn.symbol == "prismatic"
        way = second_side(self.chain, k)
        pair = self._on_ground(turn, way) if turn.parent < 0 else self._on(self.pairs[turn.parent], turn, way)
        self.pairs.append(pair)
        self._part(f"can-{k + 1}-a", "can", own, Trimmed(pair.first))
        second = Trimmed(pair.second, pair.first if inner else None)
        self._part(f"can-{k + 1}-b", "inner" if inner else "can", k + 1, second)
        if not inner:
            self._part(f"pin-{k + 1}", "pin", k + 1, Trimmed(Cylinder(pair.first.end, way, GAP, PIN)))
        if turn.parent < 0 and not turn.floating:
            foot = Cylinder(pair.first.start - PLATE_HEIGHT * way, way, PLATE_HEIGHT, PLATE)
            self._part(f"plate-{k + 1}", "plate", 0, Trimmed(foot))
        elif turn.parent >= 0:
            self._rod(f"rod-{k + 1}", own, self.pairs[turn.parent], pair.first.middle, pair.first)
        self.taken.append((k, pair.first.start, pair.second.end, 1.0))

    def _part(self, name: str, role: str, piece: int, shape: Trimmed) -> None:
        self.parts.append(CanPart(name, role, piece, shape))

    def _rod(self, name: str, piece: int, holder: Pair, end: Array, into: Cylinder | None) -> None:
        way = end - holder.hub
        body = Cylinder(holder.hub, unit(way), float(np.linalg.norm(way)), ROD)
        self._part(name, "rod", piece, Trimmed(body, holder.second, into))
        k = next(i for i, pair in enumerate(self.pairs) if pair is holder)
        self.taken.append((k, holder.hub, end, ROD))

    def _on_ground(self, turn: ChainMotion, way: Array) -> Pair:
        roots = [pair for pair in self.pairs if pair.turn.parent < 0]
        if not roots:
            return pair_at(turn, np.zeros(3), way, self.scale)
        away = self.scale * (turn.offset - roots[0].turn.offset)
        sides = [away, *(s * x * np.eye(3)[i] for s in (5.0, 8.0) for i in (1, 0) for x in (1, -1))]
        return self._first_free([pair_at(turn, side, way, self.scale) for side in sides], None)

    def _on(self, holder: Pair, turn: ChainMotion, way: Array) -> Pair:
        made = [pair_at(turn, middle, way, self.scale) for middle in self._middles(holder, turn, way)]
        return made[0] if self.chain.sequence else self._first_free(made, holder)

    def _middles(self, holder: Pair, turn: ChainMotion, way: Array) -> Iterator[Array]:
        """Places for the first can of a carried pair, the best first."""
        far = self.scale * float(np.linalg.norm(turn.offset))
        ways = list(_ways(holder.way, way) if far < 0.05 else _near(holder.way, turn.offset))
        for stretch in (1.0, 1.5, 2.2):
            for d in ways:
                yield holder.hub + d * max(self._least(holder, way, d) * stretch, min(far, LONGEST))

    @staticmethod
    def _least(holder: Pair, way: Array, d: Array) -> float:
        """How far the centre of the first can must be from the hub to leave a rod to see."""
        out = holder.second.within(holder.hub[None], d)[1][0]
        can = Cylinder(-CAN / 2 * way, way, CAN, 1.0)
        return float(out + FREE + can.within(np.zeros((1, 3)), -d)[1][0])

    def _first_free(self, made: list[Pair], holder: Pair | None) -> Pair:
        best, room = made[0], -np.inf
        for pair in made:
            found = self._room(pair, holder)
            if found >= CLEAR:
                return pair
            if found > room + 0.05:
                best, room = pair, found
        return best

    def _room(self, pair: Pair, holder: Pair | None) -> float:
        """The least distance of a pair and its rod from all that stands already."""
        found = [np.inf]
        for k, p, q, radius in self.taken:
            found.append(gap_between(pair.first.start, pair.second.end, p, q) - 1.0 - radius)
            if holder is not None and self.pairs[k] is not holder:
                found.append(gap_between(holder.hub, pair.first.middle, p, q) - ROD - radius)
        if holder is not None and self._runs_back(holder, pair.first.middle):
            found.append(-1.0)
        return min(found)

    @staticmethod
    def _runs_back(holder: Pair, end: Array) -> bool:
        """Whether a rod from a pair's hub would run through its own first can."""
        way = np.linspace(0.0, 1.0, 60)[:, None] * (end - holder.hub) + holder.hub
        return bool(holder.first.holds(way, -ROD).any())

    def tip(self, tip: Tip) -> PlacedTip:
        """The rod to a body's mass centre, if that is off the joint."""
        holder = self.pairs[tip.turn]
        far = float(np.linalg.norm(tip.reach))
        if self.chain.sequence or far < 1e-6 or tip.wheel:
            return PlacedTip(tip, holder.end, False)
        d = tip.reach / far
        if d @ holder.way < -0.6:
            return PlacedTip(tip, holder.end, False)
        out = float(holder.second.within(holder.hub[None], d)[1][0])
        end = holder.hub + d * (out + float(np.clip(self.scale * far - out, 2.0, LONGEST)))
        self._rod(f"rod-{tip.turn + 1}-tip-{len(self.parts)}", tip.turn + 1, holder, end, None)
        return PlacedTip(tip, end, True)


def _near(a: Array, offset: Array) -> Iterator[Array]:
    """The direction of a link, then others tilted towards the axis a or aside from it, the nearest first."""
    d = unit(offset)
    yield d
    side = across(d, np.cross(a, d))
    up = np.cross(side, d)
    for angle in (0.35, 0.7, 1.1):
        for way in (up if up @ a >= 0 else -up, side, -side):
            yield np.cos(angle) * d + np.sin(angle) * way


def _ways(a: Array, b: Array) -> Iterator[Array]:
    """Directions from the second can on an axis a to the next pair, on an axis b; the best first."""
    c = float(a @ b)
    side = b - c * a
    if c > -1e-6:
        yield b
    elif np.linalg.norm(side) > 0.2:
        yield unit(side)
    yield a
    third = across(a, np.cross(a, b))
    yield from (third, -third, unit(third + a), unit(a - third))
    other = np.cross(a, third)
    yield from (other, -other)
