"""The modes of a flexible body: coordinates that move several frames at once, and the mass that moves with them.

A modal body is a body whose frame floats with it, k modal coordinates, and interface frames that stand on the frame:
r = r0 + φ q, turned by ψ q. All elements stand on the body side by side and share the coordinates. The mass that moves
with the modes is a few points, u = φ q, found from the inertia invariants of the body (`model/modal/invariants.py`):
the algorithms of trees then give mass matrix, bias, energies and momenta with no formula of their own.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from polhode.errors import ModelError, message
from polhode.model.joints.base import Element, ElementKind, JointKind
from polhode.model.keys import Key
from polhode.model.numbers import plain
from polhode.quaternion import skew, skew_square
from polhode.scalar import Vec, cross, diagonal, dot, identity, is_list, shown, sqrt, square, vec
from polhode.spatial import AT_REST, ORIGIN, Inertia, Placement, Twist

FIRST = 4
"""Numbers of a point before those of its modes: mass, first moments."""


def _point_inertia(row: Vec) -> Inertia:
    """The mass moments of a point: mass, and first moments that stay in the axes of the body."""
    return Inertia(row[0], Vec(row[1:FIRST]), diagonal(ORIGIN))


class ModesElement(ElementKind):
    """k modal coordinates: they move nothing by themselves, and carry springs and dampers."""

    turns = False
    constant = carried = True
    symbol = ""
    operations = 0
    numbers = ("points",)

    def __init__(self, k: int) -> None:
        vars(self).update(name=f"modes {k}", nq=k, nv=k, linear=(True,) * k)

    def placement(self, e: Element, q: Vec) -> Placement:
        """The frame of the body."""
        return Placement(e.turning[1], e.position)

    def motions(self, e: Element, q: Vec) -> list[Twist]:
        """None, whatever their rates."""
        return [AT_REST] * self.nv

    def velocity(self, e: Element, q: Vec, v: Vec) -> Twist:
        """At rest."""
        return AT_REST

    def force(self, e: Element, q: Vec, f: Vec, n: Vec) -> Vec:
        """No force is along them."""
        return Vec([0.0] * self.nv)

    def turn(self, e: Element, q: Vec) -> None:
        """It never turns."""

    def inertia(self, numbers: Mapping[str, Any]) -> Inertia:
        """What the points have too much while they do not move against the body."""
        return _point_inertia(numbers["points"][0])


class ModalPoint(ElementKind):
    """A point whose place is linear in the modal coordinates: u = φ q, axes as those of the body."""

    turns = False
    constant = shares = True
    symbol = ""
    operations = 0
    numbers = ("points",)

    def __init__(self, k: int, place: int) -> None:
        vars(self).update(name=f"modal point {k}.{place}", nq=k, nv=k, linear=(True,) * k)
        self.place = place

    def _shape(self, e: Element) -> list[Vec]:
        """φ, a vector for each mode."""
        row = e.numbers["points"][self.place]
        return [Vec(row[FIRST + 3 * i : FIRST + 3 * i + 3]) for i in range(self.nv)]

    def placement(self, e: Element, q: Vec) -> Placement:
        """u = φ q"""
        return Placement(identity(3), _sum(self._shape(e), q))

    def motions(self, e: Element, q: Vec) -> list[Twist]:
        """φ, without turning."""
        return [Twist(phi, ORIGIN) for phi in self._shape(e)]

    def velocity(self, e: Element, q: Vec, v: Vec) -> Twist:
        """φ q̇"""
        return Twist(_sum(self._shape(e), v), ORIGIN)

    def force(self, e: Element, q: Vec, f: Vec, n: Vec) -> Vec:
        """φ·f"""
        return Vec([dot(phi, f) for phi in self._shape(e)])

    def turn(self, e: Element, q: Vec) -> None:
        """It never turns."""

    def inertia(self, numbers: Mapping[str, Any]) -> Inertia:
        """The mass moments of the point."""
        return _point_inertia(numbers["points"][self.place])


class ModalFrame(ElementKind):
    """An interface: r = r0 + φ q, turned by the Rodrigues vector g = ½ ψ q.

    R = 1 + 2s (g̃ + g̃²),  ω = 2s (ġ − g × ġ) in its axes,  s = 1/(1 + g·g): exp(ψ q) but for |ψ q|³/12, and rational.
    """

    shares = True
    symbol = ""
    operations = 0
    numbers = ("shape", "turn")

    def __init__(self, k: int) -> None:
        vars(self).update(name=f"modal frame {k}", nq=k, nv=k, linear=(True,) * k)

    def motion(self, e: Element, q: Vec) -> tuple[Vec, Vec]:
        """The place and the Rodrigues vector are linear in the coordinates."""
        return _axes(_half(e, q)), _sum(_columns_of(e, "shape"), q)

    def motions(self, e: Element, q: Vec) -> list[Twist]:
        """Rᵀφ, and s (ψ − g × ψ)."""
        g = _half(e, q)
        back, s = _axes(g).T, 1 / (1 + square(g))
        pairs = zip(_columns_of(e, "shape"), _columns_of(e, "turn"), strict=True)
        return [Twist(back @ phi, s * (psi - cross(g, psi))) for phi, psi in pairs]

    def motion_rates(self, e: Element, q: Vec, v: Vec) -> list[Twist]:
        """−ω × Rᵀφ, and ṡ (ψ − g × ψ) − s ġ × ψ."""
        g, gdot = _half(e, q), _half(e, v)
        back, s = _axes(g).T, 1 / (1 + square(g))
        omega, sdot = 2 * s * (gdot - cross(g, gdot)), -2 * s * s * dot(g, gdot)
        pairs = zip(_columns_of(e, "shape"), _columns_of(e, "turn"), strict=True)
        return [
            Twist(cross(back @ phi, omega), sdot * (psi - cross(g, psi)) - s * cross(gdot, psi)) for phi, psi in pairs
        ]

    def velocity(self, e: Element, q: Vec, v: Vec) -> Twist:
        """Rᵀφ q̇, and 2s (ġ − g × ġ)."""
        g, gdot = _half(e, q), _half(e, v)
        s = 1 / (1 + square(g))
        return Twist(_axes(g).T @ _sum(_columns_of(e, "shape"), v), 2 * s * (gdot - cross(g, gdot)))

    def drift(self, e: Element, q: Vec, v: Vec) -> Twist:
        """At q̈ = 0 the place does not accelerate, and ω̇ = −2s (g·ġ) ω."""
        g, gdot = _half(e, q), _half(e, v)
        s = 1 / (1 + square(g))
        return Twist(ORIGIN, -4 * s * s * dot(g, gdot) * (gdot - cross(g, gdot)))

    def force(self, e: Element, q: Vec, f: Vec, n: Vec) -> Vec:
        """φ·R f + s ψ·(n + g × n)"""
        g = _half(e, q)
        force, moment = _axes(g) @ f, (n + cross(g, n)) / (1 + square(g))
        pairs = zip(_columns_of(e, "shape"), _columns_of(e, "turn"), strict=True)
        return Vec([dot(phi, force) + dot(psi, moment) for phi, psi in pairs])

    def turn(self, e: Element, q: Vec) -> Vec:
        """(1, g)/√(1 + g·g)"""
        g = _half(e, q)
        return Vec((1.0, *g)) / sqrt(1 + square(g))


def _columns_of(e: Element, name: str) -> list[Vec]:
    """φ or ψ of each mode."""
    return [Vec(column) for column in zip(*e.numbers[name], strict=True)]


def _half(e: Element, q: Vec) -> Vec:
    """½ ψ q"""
    return _sum(_columns_of(e, "turn"), q) / 2


def _axes(g: Vec) -> Vec:
    """The rotation of a Rodrigues vector."""
    return identity(3) + 2 / (1 + square(g)) * (skew(g) + skew_square(g, g))


def _sum(shape: Sequence[Vec], q: Vec) -> Vec:
    """Σ q_i φ_i"""
    found = vec(0.0, 0.0, 0.0)
    for phi, x in zip(shape, q, strict=True):
        found = found + x * phi
    return found


SHAPE = Key("array", "φ: 3 rows, what each mode moves the node by, m for each m", unit="1", needed=True)
TURN = Key("array", "ψ: 3 rows, what each mode turns the node by, rad for each m", unit="rad/m", needed=True)


class ModalJoint(JointKind):
    """The first interface of a modal body: it has the modal coordinates, and the mass that moves with them."""

    name = "modal"
    elements: ClassVar = ()
    floats = shared = True
    keys: ClassVar = {
        "points": Key(
            "array",
            "rows of a point each: mass, three first moments, three displacements for each mode; the first moves not",
            needed=True,
        ),
        "shape": SHAPE,
        "turn": TURN,
        "size": Key(
            "number", "of the body, m: displacements beyond a tenth of it are warned of", unit="m", needed=True
        ),
    }

    def sized(self, joint: Any) -> JointKind:
        """With as many coordinates as its shape has columns."""
        where, data = f"joint '{joint.name}'", joint.data
        k = _columns(where, data, "shape")
        _columns(where, data, "turn", k)
        points = data.get("points")
        if not is_list(points) or not points or any(not is_list(row) or len(row) != FIRST + 3 * k for row in points):
            expected = f"rows of {FIRST + 3 * k} numbers: mass, 3 first moments, 3 numbers for each of {k} modes"
            raise ModelError(message(f"{where}, points", "not points of its modes", shown(points), expected))
        return _leader(k, len(points))


class ModalInterfaceJoint(JointKind):
    """A further interface of a modal body: the coordinates are those of the joint "modal" of the same parent."""

    name = "modal-interface"
    elements: ClassVar = ()
    floats = shares = True
    keys: ClassVar = {"shape": SHAPE, "turn": TURN}

    def sized(self, joint: Any) -> JointKind:
        """With as many coordinates, of another joint, as its shape has columns."""
        where = f"joint '{joint.name}'"
        k = _columns(where, joint.data, "shape")
        _columns(where, joint.data, "turn", k)
        return _follower(k)


def first_frequency(joint: Any) -> float:
    """The lowest frequency of the modes of a joint of this kind while its body is held, rad/s."""
    points = np.array(plain(joint.data["points"]), dtype=float)
    moved = points[:, FIRST:].reshape(len(points), joint.nv, 3)
    masses = np.einsum("n,nid,nid->i", points[:, 0], moved, moved)
    squares = np.broadcast_to(np.array(plain(joint.stiffness), dtype=float), (joint.nv,)) / masses
    return float(np.sqrt(max(np.min(squares), 0.0)))


def _columns(where: str, data: Any, name: str, wanted: int | None = None) -> int:
    """The number of columns of one of three rows."""
    given: Any = data.get(name) if isinstance(data, Mapping) else None
    rows = [*given] if is_list(given) else []
    sizes = {len(row) if is_list(row) else 0 for row in rows}
    if len(rows) != 3 or len(sizes) != 1 or sizes == {0} or sizes - {wanted or max(sizes)}:
        expected = f"3 rows of {wanted or 'as many'} numbers as there are modes"
        raise ModelError(message(f"{where}, {name}", "not a shape", shown(given), expected))
    return sizes.pop()


class _SizedModes(ModalJoint):
    """`ModalJoint` of k coordinates and n rows of points."""

    def __init__(self, k: int, n: int) -> None:
        names = tuple(f"mode{i}" for i in range(1, k + 1))
        vars(self).update(elements=((ModesElement(k), ""),), coordinates=names, dofs=names)
        super().__init__()
        points = tuple((ModalPoint(k, i), "") for i in range(1, n))
        self._steps = (*self.elements, *points, (ModalFrame(k), ""))

    @property
    def steps(self) -> tuple[tuple[ElementKind, str], ...]:
        """The coordinates, the points, and the frame of the node."""
        return self._steps


class _SizedInterface(ModalInterfaceJoint):
    """`ModalInterfaceJoint` of k coordinates of another joint."""

    def __init__(self, k: int) -> None:
        super().__init__()
        self._steps = ((ModalFrame(k), ""),)

    @property
    def steps(self) -> tuple[tuple[ElementKind, str], ...]:
        """The frame of the node."""
        return self._steps


_leader, _follower = lru_cache(maxsize=256)(_SizedModes), lru_cache(maxsize=256)(_SizedInterface)
