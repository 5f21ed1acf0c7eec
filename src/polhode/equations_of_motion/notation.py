"""The first section of a page: the machine, its coordinates, its letters."""

from collections.abc import Sequence
from itertools import zip_longest

from polhode.equations_of_motion.blocks import Block, Given, Math, Words, say, table, title, words
from polhode.equations_of_motion.coordinates import Coordinate
from polhode.equations_of_motion.record import DerivedEquations
from polhode.model import WORLD, Joint, plain

FRAMES = """The frame of a joint is fixed in the body it comes from; the frame of the body it carries coincides with it
at zero. A positive angle turns the carried body right-handedly about the axis, a positive travel moves it along."""

QUATERNION = r"""The quaternion $p = (e_0, e_1, e_2, e_3)$ turns components in the carried body's axes into those of the
joint frame (Hamilton, scalar first, $p\cdot p = 1$); $\omega$ is the angular velocity in the carried body's axes, and
$\dot p = \tfrac12\, p \circ (0, \omega)$."""

INERTIA = """Moments of inertia are about the mass centre, in body axes. All other numbers stand in the formulas as they
are."""


def notation(eq: DerivedEquations) -> list[Block]:
    """What the symbols are."""
    model = eq.model
    joints = [
        (words(Given(j.name)), words(j.type), words(Given(f"{_from(j)} → {j.child}")), words(_axes(j)))
        for j in model.joints
    ]
    found: list[Block] = [
        title(2, "Notation"),
        table(("joint", "type", "from → to", "axis (joint frame)"), joints),
        say(FRAMES),
        table(("coordinate", "meaning", "velocity", "force"), _coordinates(eq)),
    ]
    if any(joint.kind.has_quaternion for joint in model.joints):
        found.append(say(QUATERNION))
    used = [letter for letter in eq.words.letters if letter.symbol in eq.used_letters]
    idle = [letter.meaning for letter in eq.words.letters if letter.symbol not in eq.used_letters]
    if used:
        rows = [
            ((Math(x.latex),), words(Given(x.meaning)), words(Given(f"{x.value:.9g} {x.unit}".strip()))) for x in used
        ]
        found.append(table(("letter", "meaning", "value in the model"), rows))
    if idle:
        found.append(say("Without influence on the motion: ", Given("; ".join(idle)), "."))
    return [*found, say(INERTIA)]


def _from(joint: Joint) -> str:
    return "the world" if joint.parent == WORLD else joint.parent


def _axes(joint: Joint) -> str:
    if not joint.kind.uses_axis:
        return "–"
    second = f", then {_direction(plain(joint.axis2))}" if joint.axis2 is not None else ""
    return _direction(plain(joint.axis)) + second


def _direction(axis: Sequence[float]) -> str:
    return "(" + ", ".join(f"{x:g}" for x in axis) + ")"


def _coordinates(eq: DerivedEquations) -> list[tuple[Words, ...]]:
    """A row for each coordinate, with its velocity and force; the scalar part of a quaternion has none."""
    rows: list[tuple[Words, ...]] = []
    at_q = at_v = 0
    for joint in eq.model.joints:
        q = list(eq.words.q[at_q : at_q + joint.nq])
        pairs: list = list(zip(eq.words.v[at_v : at_v + joint.nv], eq.words.tau[at_v : at_v + joint.nv], strict=True))
        if joint.nq > joint.nv:
            pairs.insert(joint.nq - 4, (None, None))
        for coordinate, (velocity, force) in zip_longest(q, pairs):
            unit = f", {coordinate.unit}" if coordinate.unit != "1" else ""
            meaning = words(Given(coordinate.meaning), unit)
            rows.append(((Math(coordinate.latex),), meaning, _with_unit(velocity), _with_unit(force)))
        at_q, at_v = at_q + joint.nq, at_v + joint.nv
    return rows


def _with_unit(c: Coordinate | None) -> Words:
    return words(Math(c.latex), f", {c.unit}") if c else words("")
