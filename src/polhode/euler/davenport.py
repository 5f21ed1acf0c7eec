"""Davenport angles: three turns about any axes a1, a2, a3 carried along in the body, a2 across the other two.

With λ the angle from a1 to a3 about a2, a turn about a3 is one about a1 between turns by λ and −λ about a2. So
p∘(λ about a2) has the angles φ, θ + λ, ψ of a proper Euler sequence in the axes a1, a2, a1 × a2.
"""

from math import pi
from typing import Any, NamedTuple

import numpy as np

from polhode import quaternion
from polhode.errors import GimbalLockError, InputError, message
from polhode.euler.sequences import LOCK, Flagged, check_lock_options, wrap
from polhode.scalar import (
    Array,
    Vec,
    as_array,
    atan2,
    batch_shape,
    checked,
    cross,
    dot,
    flag,
    on_arrays,
    sqrt,
    vec,
    where,
)

ACROSS = 1e-7
"""Largest cosine between the second axis and another that counts as none, as SciPy's."""


class _DavenportAngles(NamedTuple):
    """Angles of an intrinsic sequence, the sine of θ + λ, and the angles for lock, with a third one 0."""

    angles: Vec
    sine: Any
    least: Vec


def from_davenport(axes: Array, angles: Array, extrinsic: bool = False) -> np.ndarray:
    """The unit quaternion of turns about one, two or three axes one after the other.

    axes       (..., k, 3), k = 1, 2 or 3  directions of any length; the second across its neighbours. Intrinsic: as the
               body carries them; extrinsic: in space
    angles     (..., k)  rad
    ->         (..., 4)  its sign is that of the product

    >>> import polhode as ph
    >>> ph.euler.from_davenport([[0, 0, 1], [0, 1, 0]], [3.141592653589793, 0]).round(4).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    where = "euler.from_davenport"
    flag(f"{where}, argument extrinsic", extrinsic)
    e = _axes(where, axes, (1, 2, 3))
    u = as_array(f"{where}, argument angles", angles, (e.shape[-2],))
    batch_shape(where, {"axes": e.shape[:-2], "angles": u.shape[:-1]})
    turns = [quaternion.from_axis_angle(e[..., k, :], u[..., k]) for k in range(e.shape[-2])]
    p = turns[0]
    for turn in turns[1:]:
        p = quaternion.product(turn, p) if extrinsic else quaternion.product(p, turn)
    return p


def to_davenport(axes: Array, p: Array, extrinsic: bool = False, at_lock: str = "error", lock: float = LOCK) -> Any:
    """The three angles of an attitude about three axes; p and −p give the same.

    axes     (..., 3, 3)  directions of any length, the second across the first and the third
    p        (..., 4)
    at_lock  "error" raises a GimbalLockError where the first and the third axis come within asin(lock) of each other;
             "flag" gives `Flagged`, at lock with a third angle 0 (extrinsic: a first angle 0)
    ->       (..., 3)  rad: first and third in (−π, π]; with λ the angle from the first to the third axis about the
             second, the second between −λ and π − λ for λ ≥ 0, between −λ − π and −λ for λ < 0
    """
    where = "euler.to_davenport"
    check_lock_options(where, at_lock, lock)
    flag(f"{where}, argument extrinsic", extrinsic)
    e = _axes(where, axes, (3,))
    e = e[..., ::-1, :] if extrinsic else e
    x = checked(f"{where}, argument p", p, "unit quaternion")
    batch_shape(where, {"axes": e.shape[:-2], "p": x.shape[:-1]})
    angles, sine, least = _angles(x, e[..., 0, :], e[..., 1, :], e[..., 2, :])
    locked = np.asarray(abs(sine) <= lock)
    if at_lock == "error" and np.any(locked):
        place = tuple(int(i) for i in np.argwhere(locked)[0])
        found = f"middle angle {np.asarray(angles)[(*place, 1)]:.12g}" + (f" at index {place}" if place else "")
        fix = 'Use other axes, or quaternions; or at_lock="flag" for a third angle 0 and a flag.'
        what = "gimbal lock, the first and the third axis are parallel"
        raise GimbalLockError(message(where, what, found, f"the sine of their angle above lock={lock:g}", fix))
    value = np.where(locked[..., None], least, angles) if at_lock == "flag" else angles
    value = value[..., ::-1] if extrinsic else value
    return Flagged(value, locked if locked.ndim else bool(locked)) if at_lock == "flag" else value


@on_arrays(p="unit quaternion", a1="direction", a2="direction", a3="direction")
def _angles(p: Vec, a1: Vec, a2: Vec, a3: Vec) -> _DavenportAngles:
    """Angles about three unit axes as the body carries them."""
    side = cross(a1, a2)
    angle = atan2(dot(side, a3), dot(a1, a3))
    lam = -angle  # a turn about a2 takes a1 towards −a1 × a2
    way = where(lam < 0, -1.0, 1.0)
    q = quaternion.product(p, quaternion.from_axis_angle(a2, lam))
    e0, e = q[0], Vec(q[1:])
    e1, e2, e3 = dot(e, a1), way * dot(e, a2), way * dot(e, side)
    S, T = atan2(e1, e0), atan2(e3, e2)
    x = 2 * atan2(sqrt(e2 * e2 + e3 * e3), sqrt(e0 * e0 + e1 * e1))
    middle = way * x - lam
    near = x < pi / 2
    least = vec(wrap(where(near, 2 * S, 2 * T)), way * where(near, 0.0, pi) - lam, 0.0 * x)
    sine = 2 * sqrt(e2 * e2 + e3 * e3) * sqrt(e0 * e0 + e1 * e1)
    return _DavenportAngles(vec(wrap(S + T), middle, wrap(S - T)), sine, least)


def _axes(where: str, axes: Array, counts: tuple[int, ...]) -> np.ndarray:
    """Unit axes (..., k, 3), or an InputError."""
    e = checked(f"{where}, argument axes", axes, "direction")
    e = e[None] if e.ndim == 1 else e
    if e.shape[-2] not in counts:
        expected = "(..., k, 3), k = " + ", ".join(map(str, counts))
        raise InputError(message(f"{where}, argument axes", "wrong shape", str(e.shape), expected))
    e = e / np.sqrt(np.sum(e * e, axis=-1, keepdims=True))
    cosines = abs(np.sum(e[..., 1:, :] * e[..., :-1, :], axis=-1))
    if np.any(cosines > ACROSS):
        found = f"a cosine {np.max(cosines):.3g} between two that follow each other"
        raise InputError(message(f"{where}, argument axes", "not across each other", found, f"at most {ACROSS:g}"))
    return e
