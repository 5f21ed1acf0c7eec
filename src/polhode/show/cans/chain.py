"""What there is to draw: a sequence of angles, or a model, as motions about and along axes, one hung on another."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from polhode import euler
from polhode.dynamics.kinematics import frames, own_coordinates
from polhode.errors import InputError, ModelError, message
from polhode.formats.load import load
from polhode.model import Element, Model, Tree, make_tree, plain
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.tree import GROUND
from polhode.scalar import Vec
from polhode.show.vector.geometry import Array
from polhode.spatial import WORLD_FRAME, Frame

ANGLES = ("φ", "θ", "ψ")
"""The first, second and third angle of a sequence."""
SHOWN_LOCK = 1e-3
"""How near gimbal lock, in radians, a picture shows no difference from it."""
MOST = 40
"""Motions that one picture can still show."""


@dataclass(frozen=True)
class ChainMotion:
    """One motion: a pair of cans that turn about an axis, or slide along it. Vectors are in world axes."""

    name: str
    symbol: str
    """How it is drawn: "revolute", "prismatic" or "screw"."""
    parent: int
    """The motion that carries this one; −1 is the ground."""
    axis: Array
    before: Array
    """The frame it starts from, as columns."""
    after: Array
    """The frame that it carries, as columns."""
    value: float
    offset: Array
    """From the joint that carries this one (or the world's origin) to this joint, m."""
    pitch: float = 0.0
    floating: bool = False
    """Whether nothing holds it: a free body in space."""


@dataclass(frozen=True)
class Tip:
    """A body at the end of a branch."""

    name: str
    turn: int
    frame: Array
    reach: Array
    """From its joint to its mass centre, m."""
    wheel: float = 0.0
    """Radius of gyration of a body that spins like a wheel about its joint's axis, else 0."""


@dataclass(frozen=True)
class Lost:
    """A direction about which three angles cannot turn a body."""

    turn: int
    """The last of the three motions."""
    direction: Array


@dataclass(frozen=True)
class LoopClosure:
    """A constraint between two parts of a machine: the last motions that carry them."""

    name: str
    turns: tuple[int, int]


@dataclass(frozen=True)
class MotionChain:
    """All motions, parents first, and what they carry."""

    title: str
    turns: tuple[ChainMotion, ...]
    tips: tuple[Tip, ...]
    lost: tuple[Lost, ...] = ()
    sequence: bool = False
    """Whether it is three angles of one body rather than a machine."""
    order: tuple[int, ...] = ()
    """For each motion of a sequence, which of the three angles it is."""
    loops: tuple[LoopClosure, ...] = ()

    def named(self, names: Mapping[str, str]) -> "MotionChain":
        """The same with other names of its motions."""
        turns = tuple(replace(turn, name=names.get(turn.name, turn.name)) for turn in self.turns)
        return replace(self, turns=turns)


def means_sequence(what: Any) -> bool:
    """Whether something names a sequence of angles, right or wrong, rather than a model."""
    text = isinstance(what, str) and re.fullmatch(r"(extrinsic-.*)|[0-9]+|[xyzXYZ]{3}", what)
    return bool(text) or (isinstance(what, int) and not isinstance(what, bool))


def chain_of(what: Any, at: Sequence[float] | None = None, sequence: str | None = None) -> MotionChain:
    """A sequence ("313"), a model, its file or its bundled name, at angles or coordinates (None: where it starts).

    sequence  how balls and free bodies of a model are drawn; None: 321 where a body is on a free joint, 313 else
    """
    if means_sequence(what):
        if sequence is not None:
            fix = "It says how the balls of a model are drawn."
            raise InputError(message("draw_cans, argument sequence", "is for models", repr(sequence), "none", fix))
        return sequence_chain(what, at)
    if isinstance(what, (str, Path)):
        what = load(what)
    if not isinstance(what, Model):
        expected = "a sequence such as '313', a Model, a model file or the name of a bundled model"
        raise InputError(message("draw_cans, argument what", "nothing to draw", repr(what)[:60], expected))
    return model_chain(what, at, sequence)


def checked(name: str, value: Any, size: int, default: Sequence[float]) -> Array:
    """So many finite numbers, or the default."""
    try:
        found = np.array(default if value is None else value, dtype=float)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.shape != (size,) or not np.isfinite(found).all():
        expected = f"{size} finite number{'s' if size != 1 else ''}"
        raise InputError(message(f"draw_cans, argument {name}", "wrong values", repr(value)[:80], expected))
    return found


def sequence_chain(sequence: str, at: Sequence[float] | None = None) -> MotionChain:
    """Three pairs of cans from space to body; of an extrinsic sequence the last angle is nearest to space."""
    euler.matrix(sequence, (0.0, 0.0, 0.0))  # an unknown one is an error here
    angles = checked("at", at, 3, (0.0, 0.0, 0.0))
    turns = _three_turns(sequence, angles, np.eye(3), -1, ANGLES)
    lost = _lost(sequence, angles, np.eye(3), 2)
    return MotionChain(sequence, turns, (Tip("body", 2, turns[-1].after, np.zeros(3)),), lost, True, _order(sequence))


def _order(sequence: str) -> tuple[int, ...]:
    """The angles from space to body."""
    return (2, 1, 0) if sequence.startswith("extrinsic") else (0, 1, 2)


def _three_turns(
    sequence: str, angles: Array, R: Array, parent: int, names: Sequence[str], offset: Array | None = None
) -> tuple[ChainMotion, ...]:
    digits = [int(digit) for digit in sequence[-3:]]
    found: list[ChainMotion] = []
    for k, i in enumerate(_order(sequence)):
        after = R @ euler.elementary_matrix(digits[i], angles[i])
        at = np.zeros(3) if k or offset is None else offset
        axis = R[:, digits[i] - 1]
        found.append(
            ChainMotion(names[i], "revolute", parent + k if k else parent, axis, R, after, float(angles[i]), at)
        )
        R = after
    return tuple(found)


def _lost(sequence: str, angles: Array, R: Array, turn: int) -> tuple[Lost, ...]:
    if euler.lock_distance(sequence, angles) > SHOWN_LOCK:
        return ()
    return (Lost(turn, R @ np.asarray(euler.lost_direction(sequence, angles))),)


def model_chain(model: Model, at: Sequence[float] | None = None, sequence: str | None = None) -> MotionChain:
    """The motions of a model's joints; a ball is drawn as the three angles of `sequence`, or of the usual one."""
    tree = make_tree(model)
    sequence = usual_sequence(model) if sequence is None else sequence
    euler.matrix(sequence, (0.0, 0.0, 0.0))
    _check_count(model, tree)
    start = model.start.q if model.start and model.start.q is not None else None
    q = checked("at", at, tree.nq, plain(start) if start is not None else model.zero)
    _check_balls(tree, q)
    return _ChainReader(model, tree, q, sequence).chain()


def usual_sequence(model: Model) -> str:
    """The default angles by which a model's balls are drawn: 321 where a body is on a free joint, 313 else."""
    return "321" if any(joint.kind.floats for joint in model.joints) else "313"


def _check_count(model: Model, tree: Tree) -> None:
    count = sum(len(e.v) for e in tree.elements)
    if not count:
        where = f"draw_cans, model '{model.name}'"
        raise ModelError(message(where, "nothing turns or slides", "fixed joints only", "a joint that moves"))
    if count > MOST:
        where, fix = f"draw_cans, model '{model.name}'", "Draw a part of the machine, as a model of its own."
        raise ModelError(message(where, "too many motions for one picture", str(count), f"at most {MOST}", fix))


def _check_balls(tree: Tree, q: Array) -> None:
    for e in tree.elements:
        if e.kind.quaternion and abs(np.linalg.norm(q[list(e.q)]) - 1) > 1e-6:
            found = f"norm {np.linalg.norm(q[list(e.q)]):.9g}"
            raise InputError(message(f"draw_cans, joint '{e.joint}'", "not a unit quaternion", found, "norm 1"))


class _ChainReader:
    """Goes through a tree, parents first, and notes its motions."""

    def __init__(self, model: Model, tree: Tree, q: Array, sequence: str) -> None:
        self.model, self.tree, self.q, self.sequence = model, tree, q, sequence
        self.frames = frames(tree, Vec([float(x) for x in q]))
        self.turns: list[ChainMotion] = []
        self.carried: list[tuple[int, Array]] = []
        """For each element the last motion at or before it, and its joint's place."""
        self.floats: set[int] = set()
        self.lost: list[Lost] = []

    def chain(self) -> MotionChain:
        """The whole of it."""
        for i, e in enumerate(self.tree.elements):
            self._read(i, e)
        inner = {e.parent for e in self.tree.elements}
        ends = [i for i, e in enumerate(self.tree.elements) if i not in inner and self.carried[i][0] >= 0]
        tips = tuple(self._tip(i) for i in ends)
        return MotionChain(self.model.name, tuple(self.turns), tips, tuple(self.lost), loops=tuple(self._loops()))

    def _loops(self) -> Iterator[LoopClosure]:
        """The constraints that join two parts of the machine; those that hold a part to the ground are not drawn."""
        of_body = {e.body: turn for e, (turn, _) in zip(self.tree.elements, self.carried, strict=True) if e.body}
        of_joint = {e.joint: turn for e, (turn, _) in zip(self.tree.elements, self.carried, strict=True)}
        for constraint in self.model.constraints:
            data = constraint.data
            ends = [of_body.get(data.get(f"body_{side}", ""), -1) for side in "ab"]
            kind = CONSTRAINTS.get(constraint.type)
            if kind and len(joints := kind.joints(data)) == 2:
                ends = [of_joint.get(joint, -1) for joint in joints]
            if min(ends) >= 0 and ends[0] != ends[1]:
                yield LoopClosure(constraint.name, (ends[0], ends[1]))

    def _read(self, i: int, e: Element) -> None:
        parent: Frame = self.frames[e.parent] if e.parent != GROUND else WORLD_FRAME
        turn, place = self.carried[e.parent] if e.parent != GROUND else (-1, np.zeros(3))
        C0, C1, _ = e.turning
        before = np.array(parent.R @ (C0 + C1), dtype=float)
        here = np.array(parent.o + parent.R @ e.position, dtype=float)
        after, o = (np.array(x, dtype=float) for x in self.frames[i])
        free = self.model.joint(e.joint).kind.floats
        if not e.v or (free and not e.kind.turns):
            self.carried.append((turn, place))
            return
        if e.kind.quaternion:
            self._ball(e, turn, before, (o if free else here) - place, free)
        else:
            axis, value = before @ self._direction(e), float(self.q[e.q[0]])
            slide = self._slide(i, e, axis, turn)
            here, o = here + slide, o + slide
            pitch, symbol = float(e.numbers.get("pitch", 0.0)), e.kind.symbol
            self.turns.append(ChainMotion(self._name(e), symbol, turn, axis, before, after, value, here - place, pitch))
        self.carried.append((len(self.turns) - 1, o))

    def _direction(self, e: Element) -> Array:
        """The axis of a motion in its frame at zero; where it has none, the direction of its first velocity."""
        if any(e.axis):
            return np.array(e.axis, dtype=float)
        q = own_coordinates(e, Vec([float(x) for x in self.q]))
        ways = [np.array(x, dtype=float) for x in e.kind.motions(e, q)[0]]
        way = max(ways, key=np.linalg.norm)
        return np.array(e.kind.moved(e, q).R, dtype=float) @ way / np.linalg.norm(way)

    def _slide(self, i: int, e: Element, axis: Array, turn: int) -> Array:
        """A hinge between two bodies may stand anywhere on its axis: here, abreast of the mass centre it carries."""
        between = turn >= 0 and any(other.parent == i for other in self.tree.elements)
        if e.kind.symbol != "revolute" or not between or e.body is None or not plain(self.model.body(e.body).mass) > 0:
            return np.zeros(3)
        R, _ = self.frames[i]
        return axis * float(axis @ np.array(R, dtype=float) @ np.array(plain(self.model.body(e.body).center)))

    def _name(self, e: Element) -> str:
        shared = [other for other in self.tree.elements if other.joint == e.joint]
        return e.joint if len(shared) == 1 else f"{e.joint} {shared.index(e) + 1}"

    def _ball(self, e: Element, turn: int, before: Array, offset: Array, free: bool) -> None:
        angles, _ = euler.from_quaternion(self.sequence, self.q[list(e.q)], at_lock="flag")
        first = len(self.turns)
        many = sum(other.kind.quaternion for other in self.tree.elements) > 1
        names = [f"{e.joint} {angle}" if many else angle for angle in ANGLES]
        three = list(_three_turns(self.sequence, angles, before, turn, names, offset))
        three[0] = replace(three[0], floating=free)
        three[1:] = [replace(three[k], parent=first + k - 1) for k in (1, 2)]
        self.turns += three
        self.lost += _lost(self.sequence, angles, before, first + 2)

    def _tip(self, i: int) -> Tip:
        e, (turn, place) = self.tree.elements[i], self.carried[i]
        R, o = (np.array(x, dtype=float) for x in self.frames[i])
        body = self.model.body(e.body or "")
        reach = o + R @ np.array(plain(body.center), dtype=float) - place
        return Tip(body.name, turn, R, reach, self._wheel(turn, R, reach, body))

    def _wheel(self, turn: int, R: Array, reach: Array, body: Any) -> float:
        """The radius of gyration of a body whose mass centre is on its joint's axis and that is flat across it."""
        axis = self.turns[turn].axis
        J = R @ body.inertia_matrix() @ R.T
        own, others = float(axis @ J @ axis), (np.trace(J) - float(axis @ J @ axis)) / 2
        turning = np.linalg.norm(J @ axis - own * axis) < 1e-6 * np.trace(J)
        on_axis = np.linalg.norm(np.cross(reach, axis)) < 1e-9
        flat = self.turns[turn].symbol == "revolute" and turning and on_axis and own > 1.5 * others
        return float(np.sqrt(own / plain(body.mass))) if flat and plain(body.mass) > 0 else 0.0
