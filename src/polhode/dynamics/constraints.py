"""Conditions on the motion of a tree: closed loops, rods, gears, rolling wheels, prescribed motions, functions.

A condition is a residual on generic scalars: φ(t, q) of positions, or r(t, q, v) of velocities, linear in v.
What follows from it — rates, Jacobians, second-order terms — is derived, never written.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from polhode.dynamics.kinematics import AT_REST, WORLD_FRAME, Frame, Twist, frames, rate, velocities
from polhode.errors import CompileError, message
from polhode.model import Constraint, Tree, plain
from polhode.model.tree import GROUND, ORIGIN, UPRIGHT
from polhode.quaternion import rotation_matrix_homogeneous
from polhode.scalar import Scalar, Vec, atan2, cos, cross, dot, jacobian, length, sin, sqrt, square, trace, vec


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


def _end(data: Mapping[str, Any], side: str, scene: Scene) -> End:
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
    axis = Vec(map(float, data[f"axis_{side}"]))
    x, y, z = axis / length(axis)
    if z < -0.9:  # its mirror image, then half a turn about x
        R = _attitude({"axis_b": (x, -y, -z)}, "b")
        return Vec([R[0], -R[1], -R[2]])
    p = Vec((1 + z, -y, x, 0.0))
    return _exact(rotation_matrix_homogeneous(p / length(p)))


def _exact(R: Vec) -> Vec:
    """Direction cosines that are 0, 1 or −1 but for rounding, made so, so that what vanishes folds away."""
    return Vec([Vec([float(round(x)) if abs(x - round(x)) < 1e-15 else x for x in row]) for row in R])


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
    if pitch == 0:
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
    return Vec(data["function"](_apart(a, b)))


POINTS: dict[str, tuple[Callable[[End, End, Mapping[str, Any]], Vec], tuple[str, ...]]] = {
    "distance": (_distance, ("length",)),
    "point-on-line": (_on_line, ("x", "y")),
    "point-on-plane": (_on_plane, ("z",)),
    "point-on-curve": (_on_curve, ("0", "1")),
}
"""The point of b and the frame of a: at a distance, on its z axis, in its xy plane, on a curve in it."""


# rolling: on the plane z = 0 of the frame on a


def _disk(a: End, b: End, data: Mapping[str, Any]) -> tuple[Vec, Vec]:
    """The centre's height above the plane less its rest, and the velocity of the contact point.     BEYOND §6

    c = −r u − ρ k,  x·k = r s + ρ,  s = |n × k|,  ẋ + ω × c = 0
    """
    k, n = a.axis(2), b.axis(2)
    r, rim = data["radius"], data.get("rim", 0.0)
    s = sqrt(square(cross(n, k)))
    u = (k - dot(k, n) * n) / s
    contact = b.o - r * u - rim * k
    slip = b.carries(contact) - a.carries(contact)
    return vec(dot(k, b.o - a.o) - r * s - rim), a.R.T @ slip


def _sphere(a: End, b: End, data: Mapping[str, Any]) -> tuple[Vec, Vec]:
    """A sphere that rolls: its centre's height, and the velocity of the point below it."""
    k, r = a.axis(2), data["radius"]
    contact = b.o - r * k
    return vec(dot(k, b.o - a.o) - r), a.R.T @ (b.carries(contact) - a.carries(contact))


ROLLING = {"rolling-disk": _disk, "rolling-sphere": _sphere}


def _knife(data: Mapping[str, Any], scene: Scene) -> Vec:
    """A blade along x of its frame: its point does not move along y, against body a.               BEYOND §6"""
    a, b = _end(data, "a", scene), _end(data, "b", scene)
    return vec(dot(b.axis(1), b.velocity - a.carries(b.o)))


def conditions(constraint: Constraint) -> list[Condition]:
    """The conditions of one constraint: of positions, of velocities, or both."""
    kind, name = constraint.type, constraint.name
    data = {key: plain(tuple(x) if isinstance(x, list) else x) for key, x in constraint.data.items()}
    if kind in LOOPS or kind in POINTS:
        of_ends, rows = (LOOPS if kind in LOOPS else POINTS)[kind]
        scales = tuple("turn" if row.startswith("turn") else "length" for row in rows)

        def residual(s: Scene) -> Vec:
            return _counted(name, len(rows), of_ends(_end(data, "a", s), _end(data, "b", s), data))

        return [Condition(name, rows, True, residual, scales)]
    if kind in ROLLING:
        roll = ROLLING[kind]
        ends = lambda s: roll(_end(data, "a", s), _end(data, "b", s), data)  # noqa: E731
        height = Condition(name, ("height",), True, lambda s: ends(s)[0], ("length",))
        return [height, Condition(name, ("slip x", "slip y"), False, lambda s: Vec(ends(s)[1][:2]), ("length",) * 2)]
    if kind == "knife-edge":
        return [Condition(name, ("across",), False, lambda s: _knife(data, s), ("length",))]
    if kind in ("mimic", "gear"):
        return [Condition(name, ("angle",), True, lambda s: _mimic(data, s), ("turn",))]
    if kind == "prescribed":
        return [Condition(name, ("value",), True, lambda s: _prescribed(data, s), ("turn",))]
    return _of_function(name, data)


def _coordinate(tree: Tree, joint: str, q: Vec) -> Scalar:
    """The coordinate of a one-axis joint."""
    (k,) = next(e.q for e in tree.elements if e.joint == joint and e.kind != "fixed")
    return q[k]


def _mimic(data: Mapping[str, Any], scene: Scene) -> Vec:
    follower, source = (_coordinate(scene.tree, data[key], scene.q) for key in ("joint", "source"))
    return vec(follower - data.get("multiplier", 1.0) * source - data.get("offset", 0.0))


def _prescribed(data: Mapping[str, Any], scene: Scene) -> Vec:
    value = data["value"](scene.t) if callable(data["value"]) else data["value"]
    return vec(_coordinate(scene.tree, data["joint"], scene.q) - value)


def _of_function(name: str, data: Mapping[str, Any]) -> list[Condition]:
    function, count, holonomic = data["function"], data["rows"], data.get("holonomic", True)

    def residual(s: Scene) -> Vec:
        return _counted(name, count, function(s.t, s.q) if holonomic else function(s.t, s.q, s.v))

    return [Condition(name, tuple(map(str, range(count))), holonomic, residual, ("length",) * count)]


def _counted(name: str, count: int, found: Any) -> Vec:
    """What a function gives, if it is as many numbers as it should be."""
    try:
        values = Vec(found)
    except TypeError:
        values = Vec()
    if len(values) != count:
        shown = f"{len(values)} numbers" if values else type(found).__name__
        raise CompileError(message(f"constraint '{name}', function", "wrong result", shown, f"{count} numbers"))
    return values


def scene(tree: Tree, t: Scalar, q: Vec, v: Vec) -> Scene:
    """All frames and their velocities."""
    at = frames(tree, q)
    return Scene(tree, t, q, v, at, velocities(tree, at, v))


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
