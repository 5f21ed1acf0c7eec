"""Conditions on the motion of a tree: closed loops, rods, gears, rolling wheels, prescribed motions, functions.

A condition is a residual on generic scalars: φ(t, q) of positions, or r(t, q, v) of velocities, linear in v.
What follows from it — rates, Jacobians, second-order terms — is derived, never written.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from polhode.dynamics.kinematics import frames, rate, velocities
from polhode.errors import CompileError, PolhodeError, message, told
from polhode.model import Constraint, Tree
from polhode.model.joints.base import UPRIGHT
from polhode.model.tree import GROUND
from polhode.quaternion import rotation_matrix_homogeneous
from polhode.scalar import (
    Scalar,
    Vec,
    atan2,
    cos,
    cross,
    dot,
    jacobian,
    length,
    maximum,
    minimum,
    sin,
    sqrt,
    square,
    trace,
    vec,
    where,
)
from polhode.spatial import AT_REST, ORIGIN, WORLD_FRAME, Frame, Twist

DOWN = -0.9
"""The z of a unit vector below which the shortest turn to it is ill-defined."""


class Scene(NamedTuple):
    """Where everything is at an instant, and how it moves."""

    tree: Tree
    t: Scalar
    q: Vec
    v: Vec
    at: list[Frame]
    moving: list[Twist]


class Condition(NamedTuple):
    """One constraint: names of its rows and its residual, of positions (`holonomic`) or of velocities."""

    name: str
    rows: tuple[str, ...]
    holonomic: bool
    residual: Callable[[Scene], Vec]
    scales: tuple[str, ...]
    """For each row "length" or "turn": what its residual is measured in."""


class End(NamedTuple):
    """A frame fixed to a body: its axes (columns of R) and its origin in the world, with their velocities."""

    R: Vec
    o: Vec
    velocity: Vec
    omega: Vec

    def axis(self, k: int) -> Vec:
        """One of its axes in the world."""
        return Vec([row[k] for row in self.R])

    def carries(self, point: Vec) -> Vec:
        """The velocity of the point of its body that is there."""
        return self.velocity + cross(self.omega, point - self.o)


def end(data: Mapping[str, Any], side: str, scene: Scene) -> End:
    """The frame that a constraint names on one of its two bodies."""
    i = scene.tree.of_body[data.get(f"body_{side}", "world")]
    frame, moving = (scene.at[i], scene.moving[i]) if i != GROUND else (WORLD_FRAME, AT_REST)
    arm = frame.R @ Vec(data.get(f"position_{side}", ORIGIN))
    R = frame.R @ _attitude(data, side)
    return End(R, frame.o + arm, moving.linear + cross(moving.angular, arm), moving.angular)


def _attitude(data: Mapping[str, Any], side: str) -> Vec:
    """The axes of the frame on a body (columns): by a quaternion, or the shortest turn that takes z to an axis."""
    if f"axis_{side}" not in data:
        return _exact(rotation_matrix_homogeneous(Vec(data.get(f"orientation_{side}", UPRIGHT))))
    axis = Vec(data[f"axis_{side}"])
    x, y, z = axis / length(axis)
    if isinstance(z, float):
        return _exact(_mirrored(x, y, z) if z < DOWN else _shortest(x, y, z))
    down, up = _mirrored(x, y, minimum(z, DOWN)), _shortest(x, y, maximum(z, DOWN))
    return Vec([where(z < DOWN, a, b) for a, b in zip(down, up, strict=True)])


def _shortest(x: Scalar, y: Scalar, z: Scalar) -> Vec:
    """The shortest turn that takes (0, 0, 1) to a unit vector."""
    p = Vec((1 + z, -y, x, 0.0))
    return rotation_matrix_homogeneous(p / length(p))


def _mirrored(x: Scalar, y: Scalar, z: Scalar) -> Vec:
    """The same near (0, 0, −1): the turn to its mirror image, then half a turn about x."""
    R = _shortest(x, -y, -z)
    return Vec([R[0], -R[1], -R[2]])


def _exact(R: Vec) -> Vec:
    """Direction cosines that are 0, 1 or −1 but for rounding, made so, so that what vanishes folds away."""
    return Vec([Vec([float(round(x)) if _is_whole(x) else x for x in row]) for row in R])


def _is_whole(x: Scalar) -> bool:
    return isinstance(x, float) and abs(x - round(x)) < 1e-15


# loop joints: the z axis of the frame on a is the joint's axis


def _apart(a: End, b: End) -> Vec:
    return a.R.T @ (b.o - a.o)


def _turned(a: End, b: End) -> Vec:
    """The turn of b against a, as a vector: 2 tan(θ/2) along its axis, 0 only where the frames agree."""
    C = a.R.T @ b.R
    axial = vec(C[2][1] - C[1][2], C[0][2] - C[2][0], C[1][0] - C[0][1])
    return 2 * axial / (1 + trace(C))


def _tilted(a: End, b: End) -> Vec:
    """How far the axis of b leans from that of a, towards x and y; an axis has no direction."""
    return vec(dot(a.axis(0), b.axis(2)), dot(a.axis(1), b.axis(2)))


def _weld(a: End, b: End, data: Mapping[str, Any]) -> Vec:
    return Vec((*_apart(a, b), *_turned(a, b)))


def _revolute(a: End, b: End, data: Mapping[str, Any]) -> Vec:
    return Vec((*_apart(a, b), *_tilted(a, b)))


def _prismatic(a: End, b: End, data: Mapping[str, Any]) -> Vec:
    return Vec((*_apart(a, b)[:2], *_turned(a, b)))


def _cylindrical(a: End, b: End, data: Mapping[str, Any]) -> Vec:
    return Vec((*_apart(a, b)[:2], *_tilted(a, b)))


def _universal(a: End, b: End, data: Mapping[str, Any]) -> Vec:
    """The axis z of a stays across the axis x of b."""
    return Vec((*_apart(a, b), dot(a.axis(2), b.axis(0))))


def _spherical(a: End, b: End, data: Mapping[str, Any]) -> Vec:
    return _apart(a, b)


def _planar(a: End, b: End, data: Mapping[str, Any]) -> Vec:
    return Vec((_apart(a, b)[2], *_tilted(a, b)))


def _screw(a: End, b: End, data: Mapping[str, Any]) -> Vec:
    """The travel z follows the angle α, through any number of turns: η (z/η − α mod 2π) = 0."""
    x, y, z = _apart(a, b)
    pitch = data["pitch"]
    if isinstance(pitch, float) and pitch == 0:
        return Vec((x, y, z, *_tilted(a, b)))
    s, c = sin(z / pitch), cos(z / pitch)
    sin_a, cos_a = dot(a.axis(1), b.axis(0)), dot(a.axis(0), b.axis(0))
    return Vec((x, y, pitch * atan2(s * cos_a - c * sin_a, c * cos_a + s * sin_a), *_tilted(a, b)))


LENGTHS, TURNS = ("x", "y", "z"), ("turn x", "turn y", "turn z")
LOOPS: dict[str, tuple[Callable[[End, End, Mapping[str, Any]], Vec], tuple[str, ...]]] = {
    "weld": (_weld, (*LENGTHS, *TURNS)),
    "revolute": (_revolute, (*LENGTHS, *TURNS[:2])),
    "prismatic": (_prismatic, (*LENGTHS[:2], *TURNS)),
    "cylindrical": (_cylindrical, (*LENGTHS[:2], *TURNS[:2])),
    "universal": (_universal, (*LENGTHS, "turn z")),
    "spherical": (_spherical, LENGTHS),
    "planar": (_planar, ("z", *TURNS[:2])),
    "screw": (_screw, (*LENGTHS, *TURNS[:2])),
}
"""Closing joints: residual of the two frames, and the names of its rows."""


def _distance(a: End, b: End, data: Mapping[str, Any]) -> Vec:
    """(d·d − ℓ²)/2ℓ: a length to first order, with no direction lost at any d."""
    d, length = b.o - a.o, data["length"]
    return vec((square(d) - length * length) / (2 * length))


def _on_line(a: End, b: End, data: Mapping[str, Any]) -> Vec:
    return Vec(_apart(a, b)[:2])


def _on_plane(a: End, b: End, data: Mapping[str, Any]) -> Vec:
    return vec(_apart(a, b)[2])


def _on_curve(a: End, b: End, data: Mapping[str, Any]) -> Vec:
    """Two functions of the point in the frame of a, that vanish on the curve."""
    return data["function"](_apart(a, b))


POINTS: dict[str, tuple[Callable[[End, End, Mapping[str, Any]], Vec], tuple[str, ...]]] = {
    "distance": (_distance, ("length",)),
    "point-on-line": (_on_line, ("x", "y")),
    "point-on-plane": (_on_plane, ("z",)),
    "point-on-curve": (_on_curve, ("0", "1")),
}
"""The point of b and the frame of a: at a distance, on its z axis, in its xy plane, on a curve in it."""


# rolling: on the plane z = 0 of the frame on a


def _disk(a: End, b: End, data: Mapping[str, Any]) -> tuple[Scalar, Vec]:
    """A disk with a rounded edge: the centre's height above the plane less its rest, and the contact.  BEYOND §6

    c = −r u − ρ k,  x·k = r s + ρ,  s = |n × k|,  ẋ + ω × c = 0
    """
    k, n = a.axis(2), b.axis(2)
    r, rim = data["radius"], data.get("rim", 0.0)
    s = sqrt(square(cross(n, k)))
    u = (k - dot(k, n) * n) / s
    return dot(k, b.o - a.o) - r * s - rim, b.o - r * u - rim * k


def _sphere(a: End, b: End, data: Mapping[str, Any]) -> tuple[Scalar, Vec]:
    """A sphere: its centre's height less its radius, and the point below it."""
    k, r = a.axis(2), data["radius"]
    return dot(k, b.o - a.o) - r, b.o - r * k


ROLLING: dict[str, Callable[[End, End, Mapping[str, Any]], tuple[Scalar, Vec]]] = {
    "rolling-disk": _disk,
    "rolling-sphere": _sphere,
}
"""What rolls on the plane z = 0 of the frame on a: how far above it, and the point of contact."""


def _slip(contact: Vec, a: End, b: End) -> Vec:
    """The velocity of the point of contact, along the plane."""
    return Vec((a.R.T @ (b.carries(contact) - a.carries(contact)))[:2])


def _blade(a: End, b: End) -> Vec:
    """A blade along x of its frame: its point does not move along y, against body a.               BEYOND §6"""
    return vec(dot(b.axis(1), b.velocity - a.carries(b.o)))


class Connection(NamedTuple):
    """What a constraint asks of the frames on its two bodies: residuals of positions and of velocities."""

    positions: Callable[[End, End, Mapping[str, Any]], Vec] | None = None
    velocities: Callable[[End, End, Mapping[str, Any]], Vec] | None = None
    point: Callable[[End, End, Mapping[str, Any]], Vec] = lambda a, b, data: b.o
    """Where the reaction acts."""


def connection(kind: str) -> Connection | None:
    """The connection of two bodies that a kind of constraint makes; None where it makes none."""
    if kind in LOOPS or kind in POINTS:
        return Connection((LOOPS if kind in LOOPS else POINTS)[kind][0])
    if kind in ROLLING:
        roll = ROLLING[kind]
        return Connection(
            lambda a, b, data: vec(roll(a, b, data)[0]),
            lambda a, b, data: _slip(roll(a, b, data)[1], a, b),
            lambda a, b, data: roll(a, b, data)[1],
        )
    return Connection(velocities=lambda a, b, data: _blade(a, b)) if kind == "knife-edge" else None


def conditions(constraint: Constraint, names: Sequence[str] = ()) -> list[Condition]:
    """The conditions of one constraint: of positions, of velocities, or both.

    names  of the rows of a function
    """
    kind, name = constraint.type, constraint.name
    if kind in SINGLE:
        of_data, row = SINGLE[kind]
        return [Condition(name, (row,), True, lambda s: _asked(name, of_data, s.tree.constraints[name], s), ("turn",))]
    if found := connection(kind):
        held, slipping = ROWS.get(kind) or ((LOOPS if kind in LOOPS else POINTS)[kind][1], ())
        each = [(rows, residual) for rows, residual in ((held, found.positions), (slipping, found.velocities)) if rows]
        return [_of_ends(name, rows, rows is held, residual) for rows, residual in each if residual]
    count, holonomic = len(names), constraint.data.get("holonomic", True)
    of_state = partial(function_residual, constraint)
    whole = lambda s: _counted(name, count, of_state(s.t, s.q, s.v))  # noqa: E731
    return [Condition(name, tuple(names), holonomic, whole, ("length",) * count)]


ROWS = {**dict.fromkeys(ROLLING, (("height",), ("slip x", "slip y"))), "knife-edge": ((), ("across",))}
"""The rows of what rolls or slides: of positions, and of velocities."""


def _of_ends(name: str, rows: tuple[str, ...], holonomic: bool, of_ends: Callable[..., Vec]) -> Condition:
    """A condition on the frames of two bodies."""
    scales = tuple("turn" if row.startswith("turn") else "length" for row in rows)

    def residual(s: Scene) -> Vec:
        data = s.tree.constraints[name]
        return _counted(name, len(rows), _asked(name, of_ends, end(data, "a", s), end(data, "b", s), data))

    return Condition(name, rows, holonomic, residual, scales)


def _coordinate(tree: Tree, joint: str, q: Vec) -> Scalar:
    """The coordinate of a one-axis joint."""
    (k,) = next(e.q for e in tree.elements if e.joint == joint and e.q)
    return q[k]


def _mimic(data: Mapping[str, Any], scene: Scene) -> Vec:
    follower, source = (_coordinate(scene.tree, data[key], scene.q) for key in ("joint", "source"))
    if "polynomial" in data:
        *lower, found = data["polynomial"]
        for c in reversed(lower):
            found = found * source + c
        return vec(follower - found)
    return vec(follower - data.get("multiplier", 1.0) * source - data.get("offset", 0.0))


def _prescribed(data: Mapping[str, Any], scene: Scene) -> Vec:
    joint, value = data["joint"], data["value"]
    return vec(_coordinate(scene.tree, joint, scene.q) - (value(scene.t) if callable(value) else value))


SINGLE: dict[str, tuple[Callable[[Mapping[str, Any], Scene], Vec], str]] = {
    "mimic": (_mimic, "angle"),
    "gear": (_mimic, "angle"),
    "prescribed": (_prescribed, "value"),
}
"""Constraints on the coordinates of joints: the residual, and the name of its row."""


def function_residual(constraint: Constraint, t: Scalar, q: Vec, v: Vec) -> Vec:
    """What a function of the user's misses: φ(t, q), r(t, q, v), or A v − b of its (A, b)."""
    data, name = constraint.data, constraint.name
    _check_arguments(constraint)
    if data.get("holonomic", True):
        return _numbers(_asked(name, data["function"], t, q))
    if not data.get("matrix", False):
        return _numbers(_asked(name, data["function"], t, q, v))
    found = _asked(name, data["function"], t, q)
    try:
        A, b = found
        A, b = [_numbers(row) for row in A], _numbers(b)
    except (TypeError, ValueError):
        A, b = [], Vec()
    if not A or len(A) != len(b) or any(len(row) != len(v) for row in A):
        shown = f"{len(A)} rows of {len(A[0]) if A else 0} numbers, and {len(b)} numbers"
        expected = f"(A, b): rows of {len(v)} numbers, and as many numbers as rows"
        raise CompileError(message(f"constraint '{name}', function", "wrong result", shown, expected))
    return Vec([row @ v - x for row, x in zip(A, b, strict=True)])


def _check_arguments(constraint: Constraint) -> None:
    """Refuse a function that takes other arguments than it is given."""
    data = constraint.data
    of_velocities = not data.get("holonomic", True) and not data.get("matrix", False)
    expected = ("t", "q", "v") if of_velocities else ("t", "q")
    try:
        signature = inspect.signature(data["function"])
    except (TypeError, ValueError):  # built-in functions may not tell
        return
    try:
        signature.bind(*expected)
    except TypeError:
        fix = "Conditions of velocities take (t, q, v) and are marked: holonomic=False."
        where, asked = f"constraint '{constraint.name}', function", f"({', '.join(expected)})"
        raise CompileError(message(where, "takes other arguments", str(signature), asked, fix)) from None


def _asked(name: str, function: Callable, *arguments: Any) -> Any:
    """What a function gives; an error within it names the constraint."""
    where = f"constraint '{name}', function"
    try:
        return function(*arguments)
    except PolhodeError as error:
        raise CompileError(f"{where}: {error}") from error
    except Exception as error:
        expected, fix = "numbers on generic scalars", "Use ph.sin, ph.where and their like inside."
        raise CompileError(message(where, "failed", told(error), expected, fix)) from error


def _numbers(found: Any) -> Vec:
    """What a function gave as a vector: several numbers, or one."""
    if isinstance(found, (str, bytes)) or found is None:
        return Vec()
    try:
        return Vec(found)
    except TypeError:
        return vec(found)


def _counted(name: str, count: int, found: Any) -> Vec:
    """What a function gives, if it is as many numbers as it should be."""
    values = _numbers(found)
    if len(values) != count or any(hasattr(value, "__len__") for value in values):
        several = f"{len(values)} numbers" if values else type(found).__name__
        shown = "numbers inside one another" if len(values) == count else several
        raise CompileError(message(f"constraint '{name}', function", "wrong result", shown, f"{count} numbers"))
    return values


def scene(tree: Tree, t: Scalar, q: Vec, v: Vec) -> Scene:
    """All frames and their velocities."""
    at = frames(tree, q)
    return Scene(tree, t, q, v, at, velocities(tree, q, at, v))


class Rows(NamedTuple):
    """All conditions at an instant: φ, the rates r (rows of φ first), A v̇ = b of the accelerations."""

    phi: Vec
    r: Vec
    A: Vec
    b: Vec


def positions(tree: Tree, found: list[Condition], t: Scalar, q: Vec) -> Vec:
    """φ(t, q) of all conditions of positions."""
    now = scene(tree, t, q, Vec([0.0] * tree.nv))
    return Vec([x for c in found if c.holonomic for x in c.residual(now)])


def speeds(tree: Tree, found: list[Condition], t: Scalar, q: Vec, v: Vec) -> Vec:
    """r(t, q, v): the rates of φ along the motion, then the conditions of velocities."""

    def along(s: Vec) -> Vec:
        return positions(tree, found, t + s[0], q + s[0] * rate(tree, q, v))

    rates: list[Scalar] = []
    if any(c.holonomic for c in found):
        _, slopes = jacobian(along, vec(0.0 * q[0]))
        rates = [row[0] for row in slopes]
    now = scene(tree, t, q, v)
    return Vec([*rates, *(x for c in found if not c.holonomic for x in c.residual(now))])


def rows(tree: Tree, found: list[Condition], t: Scalar, q: Vec, v: Vec) -> Rows:
    """Everything about the conditions at an instant.

    A = ∂r/∂v,  b = −d/ds r(t + s, q + s q̇, v):  ṙ = A v̇ − b                           Udwadia (3)–(5)
    """
    r, A = jacobian(lambda w: speeds(tree, found, t, q, w), v)
    _, turning = jacobian(lambda s: speeds(tree, found, t + s[0], q + s[0] * rate(tree, q, v), v), vec(0.0 * q[0]))
    return Rows(positions(tree, found, t, q), r, A, Vec([-row[0] for row in turning]))
