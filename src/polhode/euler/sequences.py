"""Euler and Cardan angles, all twelve sequences: attitudes, rate matrices, gimbal lock.

A sequence is named by its three axes in digits. "313" is intrinsic, each turn about an axis carried
along by those before it: R = R3(φ) R1(θ) R3(ψ). "extrinsic-313" turns about space axes, in that
order: R = R3(ψ) R1(θ) R3(φ), the intrinsic sequence read backwards. A sequence that comes back to its
first axis is a proper Euler sequence (lock at θ = kπ), the others are Cardan (lock at θ = π/2 + kπ).

With unit axes a1, a2, a3 of the three turns, a2 is always normal to a1 and a3. So two numbers tell all
about lock, c = a1·a3 and D = a1·(a2 × a3), c² + D² = 1: the sequence is locked where D = 0.

Every function takes arrays of angles (..., 3) in radians, or a `Vec` of generic scalars. Those without
an answer at lock take two more keywords: at_lock="error" raises a GimbalLockError where |D| ≤ lock,
at_lock="flag" returns `Flagged`. A `Vec` gets the regular formula: of its values nothing is known.
"""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from itertools import product as every
from math import pi
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from polhode import quaternion
from polhode.errors import GimbalLockError, InputError, UnknownNameError, message
from polhode.scalar import (
    Array,
    Scalar,
    Vec,
    as_array,
    atan2,
    cos,
    cross,
    on_arrays,
    sin,
    split,
    sqrt,
    stack,
    vec,
    where,
)

LOCK = 1e-8
"""|sin θ| (proper Euler) or |cos θ| (Cardan) up to which a sequence counts as locked."""

SEQUENCES = tuple(a + b + c for a, b, c in every("123", repeat=3) if b not in (a, c))
"""The twelve intrinsic names; each has an extrinsic one, "extrinsic-" before it."""

SHORT_SEQUENCES = ("1", "2", "3", *(a + b for a, b in every("123", repeat=2) if a != b))
"""One turn, or two: `to_quaternion` takes them too, with as many angles (..., 1), (..., 2)."""

UNIT = vec(vec(1, 0, 0), vec(0, 1, 0), vec(0, 0, 1))
ZERO = vec(0.0, 0.0, 0.0)


class Flagged(NamedTuple):
    """An answer that may have been found at lock: the value, and where (...) it is a least-squares one."""

    value: Any
    locked: Any


class Partials(NamedTuple):
    """Derivatives of a matrix with respect to the first, second and third angle, each (..., 3, 3)."""

    first: Vec
    second: Vec
    third: Vec


class _Order(NamedTuple):
    """A sequence: the axes (0, 1, 2) of its turns as their matrices are multiplied, and its kind."""

    axes: tuple[int, ...]
    extrinsic: bool

    @property
    def proper(self) -> bool:
        return self.axes[0] == self.axes[2]

    @property
    def sign(self) -> int:
        """+1 if first axis × second axis is the remaining axis, −1 if it is its opposite."""
        return 1 if (self.axes[1] - self.axes[0]) % 3 == 1 else -1

    def swap(self, items: Iterable) -> Vec:
        """Items by angle to items by turn, or back."""
        return Vec(tuple(items)[::-1] if self.extrinsic else items)

    def turns(self, angles: Vec) -> zip:
        """Axis and angle of each turn."""
        return zip(self.axes, self.swap(angles), strict=True)


_ORDERS = {name: _Order(tuple(int(a) - 1 for a in name), False) for name in SEQUENCES}
_ORDERS |= {f"extrinsic-{name}": _Order(_ORDERS[name].axes[::-1], True) for name in SEQUENCES}

_SHORT = {name: _Order(tuple(int(a) - 1 for a in name), False) for name in SHORT_SEQUENCES}
_SHORT |= {f"extrinsic-{name}": _Order(_SHORT[name].axes[::-1], True) for name in SHORT_SEQUENCES}


def _order(sequence: str) -> _Order:
    if isinstance(sequence, str) and sequence in _ORDERS:
        return _ORDERS[sequence]
    name = str(sequence).lower()
    digits = name[:-3] + name[-3:].translate(str.maketrans("xyz", "123"))
    fix = f"Was '{digits}' meant?" if digits in _ORDERS else ""
    if digits in SEQUENCES and str(sequence).islower():
        fix += f" Or 'extrinsic-{digits}', as SciPy's lower-case letters are?"
    expected = f"one of {', '.join(SEQUENCES)} in quotes, 'extrinsic-' before it for turns about space axes"
    raise UnknownNameError(message("euler", "unknown sequence of axes", repr(sequence), expected, fix))


def check_sequence(sequence: str) -> None:
    """Refuse what is not the name of a sequence."""
    _order(sequence)


def _about(axis: int, c: Scalar, s: Scalar, one: Scalar) -> Vec:
    """The matrix with c, ∓s in the plane normal to an axis, and `one` on the axis."""
    after, before = (axis + 1) % 3, (axis + 2) % 3
    rows: list[list[Scalar]] = [[0] * 3 for _ in range(3)]
    rows[axis][axis] = one
    rows[after][after] = rows[before][before] = c
    rows[after][before], rows[before][after] = -s, s
    return Vec(Vec(row) for row in rows)


def _factors(order: _Order, angles: Vec) -> list[Vec]:
    return [_about(axis, cos(u), sin(u), 1) for axis, u in order.turns(angles)]


def _space_axes(order: _Order, angles: Vec) -> Vec:
    """The axes of the turns in space components: e_i, R_i e_j, R_i R_j e_k."""
    (i, j, k), (R1, R2, _) = order.axes, _factors(order, angles)
    return vec(UNIT[i], R1.T[j], (R1 @ R2).T[k])


def _body_axes(order: _Order, angles: Vec) -> Vec:
    """The axes of the turns in body components: R_kᵀ R_jᵀ e_i, R_kᵀ e_j, e_k."""
    (i, j, k), (_, R2, R3) = order.axes, _factors(order, angles)
    return vec((R2 @ R3)[i], R3[j], UNIT[k])


def _lock(order: _Order, middle: Scalar) -> tuple[Scalar, Scalar]:
    """c = a1·a3 and D = a1·(a2 × a3) of the turns."""
    if order.proper:
        return cos(middle), -sin(middle)
    return order.sign * sin(middle), order.sign * cos(middle)


@on_arrays(angle="scalar")
def elementary_matrix(axis: int, angle: Scalar) -> Vec:
    """The rotation by an angle (...) about the coordinate axis 1, 2 or 3.  Schwab-Meijaard (2)–(4)

    -> (..., 3, 3)
    """
    if axis not in (1, 2, 3):
        raise InputError(message("euler.elementary_matrix, argument axis", "no such axis", repr(axis), "1, 2 or 3"))
    return _about(axis - 1, cos(angle), sin(angle), 1)


@on_arrays(angles="vector")
def matrix(sequence: str, angles: Vec) -> Vec:
    """The rotation matrix (..., 3, 3): body components r′ to space components r = R r′.

    R = R_i(φ) R_j(θ) R_k(ψ),  R⁻¹ = Rᵀ                      Schwab-Meijaard (1), (5)–(7)
    """
    R1, R2, R3 = _factors(_order(sequence), angles)
    return R1 @ R2 @ R3


@on_arrays(angles="vector")
def matrix_derivatives(sequence: str, angles: Vec) -> Partials:
    """∂R/∂φ, ∂R/∂θ, ∂R/∂ψ, each factor of R differentiated in turn.    in Schwab-Meijaard (11)"""
    order = _order(sequence)
    R1, R2, R3 = _factors(order, angles)
    d1, d2, d3 = (_about(axis, -sin(u), cos(u), 0) for axis, u in order.turns(angles))
    return Partials(*order.swap((d1 @ R2 @ R3, R1 @ d2 @ R3, R1 @ R2 @ d3)))


def to_quaternion(sequence: str, angles: Array) -> Array:
    """The unit quaternion (..., 4) of three angles; its sign is that of the product, never flipped.

    Also of one turn or two (`SHORT_SEQUENCES`), with angles (..., 1) or (..., 2).

    >>> import polhode as ph
    >>> ph.euler.to_quaternion("31", [3.141592653589793, 0]).round(4).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    order = (_SHORT.get(sequence) if isinstance(sequence, str) else None) or _order(sequence)
    if isinstance(angles, Vec):
        return _product_of_turns(order, angles)
    array = as_array("euler.to_quaternion, argument angles", angles, (len(order.axes),))
    return stack(_product_of_turns(order, split(array, 1)), array.shape[:-1])


def _product_of_turns(order: _Order, angles: Vec) -> Vec:
    p, *others = (Vec((cos(u / 2), *(sin(u / 2) * UNIT[axis]))) for axis, u in order.turns(angles))
    for turn in others:
        p = quaternion.product(p, turn)
    return p


@on_arrays(R="rotation", first="matrix", second="matrix", third="matrix")
def space_rate_matrix_from_derivatives(R: Vec, first: Vec, second: Vec, third: Vec) -> Vec:
    """A_e by differentiation, for any three coordinates u of a rotation.

        ω̃_s = Σ (∂R/∂u_k) Rᵀ u̇_k                                        Schwab-Meijaard (11)

    R                     (..., 3, 3)
    first, second, third  (..., 3, 3)  ∂R/∂u_k, as from `matrix_derivatives`
    ->                    (..., 3, 3)
    """
    return Vec(quaternion.unskew(d @ R.T) for d in (first, second, third)).T


@on_arrays(angles="vector")
def rate_axes(sequence: str, angles: Vec) -> Vec:
    """The unit axes about which the three rates turn the body: rows (..., 3, 3), space components.

    313: ω = φ̇ e_z + θ̇ e_ξ + ψ̇ e_ζ′    Schwab-Meijaard (12), whose last two subscripts are lost
    """
    order = _order(sequence)
    return order.swap(_space_axes(order, angles))


@on_arrays(angles="vector")
def space_rate_matrix(sequence: str, angles: Vec) -> Vec:
    """A_e (..., 3, 3): rates of the angles to angular velocity in space axes.

    ω_s = A_e u̇,  A_e = [e_i, R_i e_j, R_i R_j e_k]            Schwab-Meijaard (13), (14)
    """
    return rate_axes(sequence, angles).T


@on_arrays(angles="vector")
def body_rate_matrix(sequence: str, angles: Vec) -> Vec:
    """B (..., 3, 3): rates of the angles to angular velocity in body axes.

    ω = B u̇,  B = Rᵀ A_e = [R_kᵀ R_jᵀ e_i, R_kᵀ e_j, e_k]      Schwab-Meijaard (15), (16)
    """
    order = _order(sequence)
    return order.swap(_body_axes(order, angles)).T


@on_arrays(angles="vector")
def space_rate_matrix_derivatives(sequence: str, angles: Vec) -> Partials:
    """∂A_e/∂u_l: a turn moves the axes of the turns after it, ∂a_m/∂u_l = a_l × a_m for l < m."""
    order = _order(sequence)
    a = _space_axes(order, angles)
    by_turn = [order.swap(cross(a[k], a[m]) if k < m else ZERO for m in range(3)).T for k in range(3)]
    return Partials(*order.swap(by_turn))


@on_arrays(angles="vector")
def body_rate_matrix_derivatives(sequence: str, angles: Vec) -> Partials:
    """∂B/∂u_l: seen from the body a turn moves the axes before it, ∂b_m/∂u_l = b_m × b_l for m < l."""
    order = _order(sequence)
    b = _body_axes(order, angles)
    by_turn = [order.swap(cross(b[m], b[k]) if m < k else ZERO for m in range(3)).T for k in range(3)]
    return Partials(*order.swap(by_turn))


def _along(partials: Partials, rates: Vec) -> Vec:
    """Σ ∂A/∂u_k u̇_k"""
    d1, d2, d3 = (Vec(rate * row for row in d) for d, rate in zip(partials, rates, strict=True))
    return d1 + d2 + d3


@on_arrays(angles="vector", rates="vector")
def space_rate_matrix_rate(sequence: str, angles: Vec, rates: Vec) -> Vec:
    """Ȧ_e (..., 3, 3), the time derivative of the space rate matrix, 1/s."""
    return _along(space_rate_matrix_derivatives(sequence, angles), rates)


@on_arrays(angles="vector", rates="vector")
def body_rate_matrix_rate(sequence: str, angles: Vec, rates: Vec) -> Vec:
    """Ḃ (..., 3, 3), the time derivative of the body rate matrix, 1/s."""
    return _along(body_rate_matrix_derivatives(sequence, angles), rates)


@on_arrays(angles="vector", rates="vector")
def angular_velocity(sequence: str, angles: Vec, rates: Vec) -> Vec:
    """Angular velocity (..., 3) in body axes, ω = B u̇, rad/s.       Schwab-Meijaard (15), (16)"""
    return body_rate_matrix(sequence, angles) @ rates


@on_arrays(angles="vector", rates="vector")
def angular_velocity_space(sequence: str, angles: Vec, rates: Vec) -> Vec:
    """Angular velocity (..., 3) in space axes, rad/s.

        ω_s = A_e u̇,  ω̃_s = Ṙ Rᵀ,  ṙ = ω_s × r              Schwab-Meijaard (8)–(10), (14)

    The paper calls the components of Ṙ Rᵀ body components; they are space components.
    """
    return space_rate_matrix(sequence, angles) @ rates


@on_arrays(angles="vector", rates="vector", accelerations="vector")
def angular_acceleration(sequence: str, angles: Vec, rates: Vec, accelerations: Vec) -> Vec:
    """Angular acceleration (..., 3) in body axes, ω̇ = B ü + Ḃ u̇, rad/s².  text at Schwab-Meijaard (19)"""
    convective = body_rate_matrix_rate(sequence, angles, rates) @ rates
    return body_rate_matrix(sequence, angles) @ accelerations + convective


@on_arrays(angles="vector")
def determinant(sequence: str, angles: Vec) -> Scalar:
    """det A_e = det B (...): ∓ sin θ for proper Euler, ± cos θ for Cardan.  under Schwab-Meijaard (16)"""
    order = _order(sequence)
    D = _lock(order, angles[1])[1]
    return -D if order.extrinsic else D


@on_arrays(angles="vector")
def condition(sequence: str, angles: Vec) -> Scalar:
    """The condition number (...) of A_e and B; infinite at lock.

    cond = √((1 + |c|)/(1 − |c|)) = (1 + |c|)/|D|                  under Schwab-Meijaard (16)
    """
    c, D = _lock(_order(sequence), angles[1])
    return where(D == 0, float("inf"), (1 + abs(c)) / where(D == 0, 1.0, abs(D)))


@on_arrays(angles="vector")
def lock_distance(sequence: str, angles: Vec) -> Scalar:
    """How far (...) the middle angle is from the nearest lock, 0 … π/2 rad."""
    c, D = _lock(_order(sequence), angles[1])
    return atan2(abs(D), abs(c))


@on_arrays(angles="vector")
def lost_direction(sequence: str, angles: Vec) -> Vec:
    """The unit direction (..., 3) in space about which the rates turn the body least, at lock not at all.

        ((1 + |c|) a1 × a2 ∓ D a1)/√(2 (1 + |c|)),  − for c ≥ 0

    The left singular vector of A_e for its smallest singular value √(1 − |c|); at the lock of 313 it is
    (−sin φ, cos φ, 0).                                                under Schwab-Meijaard (16)
    """
    order = _order(sequence)
    c, D = _lock(order, angles[1])
    a1, a2, _ = _space_axes(order, angles)
    return ((1 + abs(c)) * cross(a1, a2) - where(c < 0, -D, D) * a1) / sqrt(2 * (1 + abs(c)))


def check_lock_options(label: str, at_lock: str, lock: float) -> None:
    """Refuse what the keywords `at_lock` and `lock` cannot be."""
    if not isinstance(at_lock, str) or at_lock not in ("error", "flag"):
        raise InputError(message(f"{label}, argument at_lock", "no such choice", repr(at_lock), "'error' or 'flag'"))
    if not (isinstance(lock, Real) and 0 < lock < 1):
        raise InputError(message(f"{label}, argument lock", "not a limit", repr(lock), "a number above 0, below 1"))


def _refuse(label: str, sequence: str, middle: np.ndarray, locked: np.ndarray, lock: float) -> None:
    order, index = _order(sequence), tuple(int(i) for i in np.argwhere(locked)[0])
    angle = float(np.real(middle[index]))
    place, distance = f" at index {index}" if index else "", lock_distance(sequence, [0, angle, 0])
    raise GimbalLockError(
        message(
            f"{label}, sequence {sequence!r}",
            "gimbal lock, the three axes of rotation lie in one plane",
            f"middle angle {angle:.12g}{place}, {distance:.3g} rad from lock",
            f"|{'sin' if order.proper else 'cos'}| of it above lock={lock:g}",
            'Use another sequence, or quaternions; or at_lock="flag" for a least-squares answer and a flag.',
        )
    )


def _lock_aware(axes: int) -> Callable[[Callable], Callable]:
    """Give a function with this many axes in its result the keywords `at_lock` and `lock`.

    The function gives the regular answer, with `least=True` the one for lock. Lock is looked for in its
    argument `angles`, or else in the angles that it returns.
    """

    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)
        label = f"euler.{function.__name__}"

        @wraps(function)
        def wrapper(*args: Any, at_lock: str = "error", lock: float = LOCK, **options: Any) -> Any:
            check_lock_options(label, at_lock, lock)
            given = signature.bind(*args, **options).arguments
            if any(isinstance(value, Vec) for value in given.values()):
                return function(*args, **options)
            with np.errstate(all="ignore"):  # what overflows is at lock, and replaced
                value = function(*args, **options)
            sequence, middle = given["sequence"], np.asarray(given.get("angles", value))[..., 1]
            locked = np.asarray(abs(_lock(_order(sequence), middle)[1]) <= lock)
            if at_lock == "error":
                return value if not np.any(locked) else _refuse(label, sequence, middle, locked, lock)
            locked = np.broadcast_to(locked, value.shape[: value.ndim - axes])
            if np.any(locked):
                mask = locked.reshape(locked.shape + (1,) * axes)
                value = np.where(mask, function(*args, **options, least=True), value)
            return Flagged(value, locked.copy() if locked.ndim else bool(locked))

        shown = [p for p in signature.parameters.values() if p.name != "least"]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=type(default))
            for name, default in (("at_lock", "error"), ("lock", LOCK))
        ]
        wrapper.__signature__ = signature.replace(parameters=[*shown, *added])  # type: ignore[attr-defined]
        return wrapper

    return decorate


def wrap(angle: Scalar) -> Scalar:
    """An angle within a turn of 0, brought into (−π, π]."""
    return where(angle > pi, angle - 2 * pi, where(angle <= -pi, angle + 2 * pi, angle))


def _at_lock(order: _Order, angles: Vec) -> Vec:
    """The same attitude at lock: third angle 0, all turning about the common axis in the first."""
    u1, u2, u3 = angles
    c, _ = _lock(order, u2)
    middle = where(u2 < pi / 2, 0.0, pi) if order.proper else where(u2 < 0, -pi / 2, pi / 2)
    return vec(wrap(u1 + where(c < 0, -u3, u3)), middle, 0.0)


@_lock_aware(axes=1)
@on_arrays(p="unit quaternion")
def from_quaternion(sequence: str, p: Vec, least: bool = False) -> Vec:
    """The angles of a unit quaternion; p and −p give the same.

    For a proper Euler sequence i, j, i, with k the remaining axis and ± for i × j = ±k,

        p = (cos θ/2 cos S, cos θ/2 sin S, sin θ/2 cos T, ± sin θ/2 sin T) along 1, i, j, k

    and the angles are S + T, θ, S − T. Near lock nothing is lost but what the attitude itself does not
    tell, T or S. A Cardan sequence is the proper one with j turned by ∓π/2 at its end. At lock
    at_lock="flag" gives the middle angle of the lock and a third angle 0: an attitude within the lock
    distance of that given.

    p   (..., 4)
    ->  (..., 3)  rad: first and third in (−π, π], middle in [0, π] (proper) or [−π/2, π/2] (Cardan)
    """
    order = _order(sequence)
    (i, j, _), sign = order.axes, order.sign
    k = 3 - i - j
    start, way = (0.0, 1) if order.proper else (sign * pi / 2, -sign)  # θ = start + way × (0 … π)
    e0, *e = p if order.proper else quaternion.product(p, Vec((1, *(-sign * UNIT[j]))))
    S = atan2(e[i], e0)
    T = atan2(way * sign * e[k], way * e[j])
    x = 2 * atan2(sqrt(e[j] * e[j] + e[k] * e[k]), sqrt(e0 * e0 + e[i] * e[i]))
    angles = order.swap((wrap(S + T), start + way * x, wrap(S - T)))
    return _at_lock(order, angles) if least else angles


@_lock_aware(axes=1)
@on_arrays(R="rotation")
def from_matrix(sequence: str, R: Vec, least: bool = False) -> Vec:
    """The angles (..., 3) of a rotation matrix (..., 3, 3): those of its quaternion, see `from_quaternion`."""
    return from_quaternion(sequence, quaternion.from_matrix(R), least=least)


def _inverse(order: _Order, middle: Scalar, axes: Vec, least: bool) -> Vec:
    """The inverse of the matrix whose columns are the axes of the turns: rows (a2 × a3)/D, a2, (a1 × a2)/D.

    With `least`, the pseudo-inverse without the smallest singular value √(1 − |c|).
    """
    a1, a2, a3 = axes
    c, D = _lock(order, middle)
    if least:
        sign = where(c < 0, -1.0, 1.0)
        common = (a1 + sign * a3) / (2 * (1 + abs(c)))
        return order.swap((common, a2, sign * common))
    D = where(D == 0, 1.0, D)  # its result goes: the callers look for lock
    return order.swap((cross(a2, a3) / D, a2, cross(a1, a2) / D))


@_lock_aware(axes=2)
@on_arrays(angles="vector")
def space_rate_matrix_inverse(sequence: str, angles: Vec, least: bool = False) -> Vec:
    """A_e⁻¹ (..., 3, 3): angular velocity in space axes to rates; at lock the pseudo-inverse."""
    order = _order(sequence)
    return _inverse(order, angles[1], _space_axes(order, angles), least)


@_lock_aware(axes=2)
@on_arrays(angles="vector")
def body_rate_matrix_inverse(sequence: str, angles: Vec, least: bool = False) -> Vec:
    """B⁻¹ (..., 3, 3): angular velocity in body axes to rates; at lock the pseudo-inverse.

    313: B⁻¹ = [sψ/sθ, cψ/sθ, 0; cψ, −sψ, 0; −sψ cθ/sθ, −cψ cθ/sθ, 1]      in Schwab-Meijaard (21)
    """
    order = _order(sequence)
    return _inverse(order, angles[1], _body_axes(order, angles), least)


@_lock_aware(axes=1)
@on_arrays(angles="vector", omega="vector")
def rates(sequence: str, angles: Vec, omega: Vec, least: bool = False) -> Vec:
    """Rates of the angles, u̇ = B⁻¹ ω; at lock the smallest that come nearest to ω.   Schwab-Meijaard (21)

    angles  (..., 3)  rad
    omega   (..., 3)  body axes, rad/s
    ->      (..., 3)  rad/s
    """
    order = _order(sequence)
    return _inverse(order, angles[1], _body_axes(order, angles), least) @ omega


@_lock_aware(axes=1)
@on_arrays(angles="vector", rates="vector", alpha="vector")
def accelerations(sequence: str, angles: Vec, rates: Vec, alpha: Vec, least: bool = False) -> Vec:
    """Second derivatives of the angles, ü = B⁻¹ (ω̇ − Ḃ u̇); at lock the smallest that come nearest to ω̇.

    angles, rates  (..., 3)  rad, rad/s
    alpha          (..., 3)  ω̇ in body axes, rad/s²
    ->             (..., 3)  rad/s²
    """
    order = _order(sequence)
    convective = body_rate_matrix_rate(sequence, angles, rates) @ rates
    return _inverse(order, angles[1], _body_axes(order, angles), least) @ (alpha - convective)
