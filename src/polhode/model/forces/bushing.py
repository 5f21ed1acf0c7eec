"""A bushing: stiffness and damping against all six relative motions of two frames."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from polhode.errors import ModelError, message, warn_caller
from polhode.model.forces.base import DrawnLine, ForceElement, Wrench
from polhode.model.forces.two_frames import (
    FRAMES,
    FrameOnBody,
    body_frame,
    check_two_bodies,
    is_between_bodies,
    opposite,
    reflected_ends,
)
from polhode.model.keys import Key
from polhode.model.mount import floats
from polhode.model.numbers import plain, short
from polhode.model.reflection import FRAME, Reflection
from polhode.model.state import MachineState
from polhode.quaternion import from_matrix, rotation_matrix_homogeneous
from polhode.scalar import Scalar, Vec, atan2, cross, diagonal, dot, is_zero, real_part, smooth, sqrt, square, where
from polhode.spatial import symmetric

SERIES_BELOW = 1e-4
"""Squared sine of half the angle below which the arc is taken from its series."""

ASYMMETRY = 1e-12
"""Two entries of a matrix that differ by less than this part of its largest are equal but for rounding."""

AXES = ("x", "y", "z", "turn x", "turn y", "turn z")
"""The relative motions, in the order of stiffness and damping."""


@dataclass(frozen=True)
class Bushing(ForceElement):
    """A bushing between frames on two bodies (or the world): linear springs and dampers against all six motions.

        V = ½ xᵀ K x,  generalised forces −K x − D ẋ,   x = (d, φ)

    d is the way from the origin of frame a to that of frame b, φ the rotation vector of b relative to a. The forces
    are the slopes of V, and the power of the damper is −ẋᵀ D ẋ, for motions of any size; φ is that of the shorter way
    round, at most half a turn.

    point_a, orientation_a, …  the frames, in body axes: origins, m, and unit quaternions
    stiffness, damping         six numbers (x, y, z in N/m; turns about x, y, z in N m), or a 6×6 matrix
    at                         the axes of d: those of frame a ("first"), or half way between the two ("midway")

    A Cartesian damper is a bushing without stiffness.
    """

    name: str
    body_a: str
    body_b: str
    point_a: Any = (0.0, 0.0, 0.0)
    point_b: Any = (0.0, 0.0, 0.0)
    orientation_a: Any = (1.0, 0.0, 0.0, 0.0)
    orientation_b: Any = (1.0, 0.0, 0.0, 0.0)
    stiffness: Any = (0.0,) * 6
    damping: Any = (0.0,) * 6
    at: str = "midway"

    kind = "bushing"
    keys: ClassVar = {
        "body_a": Key("body", "a body, or world", needed=True),
        "body_b": Key("body", "another body, or world", needed=True),
        **FRAMES,
        "stiffness": Key("array", "6 numbers (N/m, N m/rad), or 6 rows of 6", unit="N/m, N m/rad"),
        "damping": Key("array", "6 numbers (N s/m, N m s/rad), or 6 rows of 6", unit="N s/m, N m s/rad"),
        "at": Key("word", "axes of the way between the frames: first or midway", choices=("first", "midway")),
    }
    changes_energy = "dampers"

    def check(self, where: str) -> None:
        """Refuse what is no matrix, or not symmetric; warn of one that is not positive."""
        check_two_bodies(where, self.body_a, self.body_b)
        for name in ("stiffness", "damping"):
            _check_matrix(f"{where}, {name}", np.array(plain(getattr(self, name)), dtype=float))

    def wrenches(self, state: MachineState) -> Iterator[Wrench]:
        """On b, at its origin, and the opposite on a."""
        x, K, D = self._displacement(state), _matrix(self.stiffness), _matrix(self.damping)
        a, b = x.a, x.b
        load = K @ x.coordinates
        if not _is_zero(D):
            apart = x.R.T @ (b.twist.angular - a.twist.angular)
            carried = x.R.T @ a.twist.angular + x.share(apart)
            linear = x.R.T @ (b.twist.linear - a.twist.linear) + cross(x.way, carried)
            load = load + D @ Vec([*linear, *x.turning(apart)])
        force, torque = Vec(load[:3]), Vec(load[3:])
        moment = x.turning_transposed(torque) + x.share_transposed(cross(force, x.way))
        yield from opposite(a, b, -(x.R @ force), -(x.R @ moment))

    def potential(self, state: MachineState) -> Scalar:
        """½ xᵀ K x"""
        x = self._displacement(state).coordinates
        return dot(x, _matrix(self.stiffness) @ x) / 2

    def _displacement(self, state: MachineState) -> "Displacement":
        a = body_frame(state, self.body_a, self.point_a, self.orientation_a)
        b = body_frame(state, self.body_b, self.point_b, self.orientation_b)
        return displacement(a, b, self.at == "midway")

    def conservative_part(self) -> "Bushing | None":
        """The springs alone."""
        return None if _is_zero(_matrix(self.stiffness)) else self.changed(damping=Vec([0.0] * 6))

    def other_part(self) -> "Bushing | None":
        """The dampers alone."""
        return None if _is_zero(_matrix(self.damping)) else self.changed(stiffness=Vec([0.0] * 6))

    @property
    def is_internal(self) -> bool:
        """Between two bodies it is, not to the world."""
        return is_between_bodies(self.body_a, self.body_b)

    def drawing(self) -> Iterator[DrawnLine]:
        """A coil between the origins of its frames."""
        yield DrawnLine(self.body_a, self.point_a, self.body_b, self.point_b, "coil")

    def summary(self) -> str:
        """Its ends and its numbers."""
        ends = f"{self.body_a} {short(self.point_a)} – {self.body_b} {short(self.point_b)}"
        return f"bushing, {ends}, stiffness {short(self.stiffness)}, damping {short(self.damping)}, {self.at}"

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """Its frames; products of stiffness and damping change their signs."""
        found, signs = reflected_ends(self, mirror), np.concatenate([FRAME.diagonal(), -FRAME.diagonal()])
        for name in ("stiffness", "damping"):
            K = np.array(plain(getattr(self, name)), dtype=float)
            if K.ndim == 2:
                found[name] = tuple(floats(row) for row in K * np.outer(signs, signs))
        return found


class Displacement(NamedTuple):
    """How frame b is displaced from frame a: x = (d, φ), and the linear maps of relative velocities to its rate.

    Components are in the axes E of d: those of a, or of a turned by half the rotation. r = (r₀, e), r₀ ≥ 0, is the
    quaternion of the rotation from a to b, α = (θ/2)/sin(θ/2), θ its angle. Of the relative angular velocity ρ,

        φ̇ = ρ − p e × ρ + k e × (e × ρ)          first: p = α, k = (1 − α r₀)/e²;  midway: p = 0, k = (1 − α)/e²
        ω_E = ω_a + M ρ                           first: M = 0;  midway: M ρ = ½ (ρ − σ × ρ), σ = e/(1 + r₀)
        ḋ = u_b − u_a + d × ω_E
    """

    a: FrameOnBody
    b: FrameOnBody
    R: Vec
    """The axes E in the world."""
    way: Vec
    """d, m"""
    turn: Vec
    """φ, rad"""
    e: Vec
    p: Scalar
    k: Scalar
    sigma: Vec | None
    """None where E are the axes of a."""

    @property
    def coordinates(self) -> Vec:
        """x, (6,)"""
        return Vec([*self.way, *self.turn])

    def turning(self, rho: Vec) -> Vec:
        """φ̇ of the relative angular velocity."""
        across = cross(self.e, rho)
        return rho - self.p * across + self.k * cross(self.e, across)

    def turning_transposed(self, torque: Vec) -> Vec:
        """The couple on b of a load dual to φ."""
        across = cross(self.e, torque)
        return torque + self.p * across + self.k * cross(self.e, across)

    def share(self, rho: Vec) -> Vec:
        """M ρ: how much of the relative angular velocity the axes E share."""
        return 0.0 * rho if self.sigma is None else (rho - cross(self.sigma, rho)) / 2

    def share_transposed(self, moment: Vec) -> Vec:
        """Mᵀ: the couple on b of a moment on the axes E."""
        return 0.0 * moment if self.sigma is None else (moment + cross(self.sigma, moment)) / 2


@smooth
def displacement(a: FrameOnBody, b: FrameOnBody, midway: bool) -> Displacement:
    """How frame b is displaced from frame a, in the axes of a or half way between the two."""
    r = from_matrix(a.frame.R.T @ b.frame.R)
    r = where(real_part(r[0]) < 0, -r, r)
    r0, e = r[0], Vec(r[1:])
    alpha, k_first, k_midway = _arc(r0, square(e))
    line, turn = b.frame.o - a.frame.o, 2 * alpha * e
    if not midway:
        return Displacement(a, b, a.frame.R, a.frame.R.T @ line, turn, e, alpha, k_first, None)
    half = Vec([1 + r0, *e]) / sqrt(2 * (1 + r0))
    R = a.frame.R @ rotation_matrix_homogeneous(half)
    return Displacement(a, b, R, R.T @ line, turn, e, 0.0, k_midway, e / (1 + r0))


def _arc(r0: Scalar, z: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """α = asin(s)/s, (1 − α √(1 − z))/z and (1 − α)/z of z = s²; below z = 1e-4 series with remainders of z⁴."""
    small = real_part(z) < SERIES_BELOW
    safe = where(small, 1.0, z)
    s = sqrt(safe)
    alpha = atan2(s, r0) / s
    near = 1 / 6 + z * (3 / 40 + z * (5 / 112 + z * (35 / 1152)))
    first = 1 / 3 + z * (2 / 15 + z * (8 / 105 + z * (16 / 315)))
    return (
        where(small, 1 + z * near, alpha),
        where(small, first, (1 - alpha * r0) / safe),
        where(small, -near, (1 - alpha) / safe),
    )


def _matrix(given: Vec) -> Vec:
    """A matrix, from six numbers on its diagonal, or from its upper half."""
    return symmetric(given) if isinstance(given[0], tuple) else diagonal(given)


def _is_zero(matrix: Vec) -> bool:
    return all(is_zero(x) for row in matrix for x in row)


def _check_matrix(where: str, found: np.ndarray) -> None:
    """Refuse what is neither six numbers nor a symmetric matrix; warn of one that is not positive."""
    if found.shape not in ((6,), (6, 6)):
        raise ModelError(
            message(where, "wrong shape", str(found.shape), f"6 numbers, or 6 rows of 6: {', '.join(AXES)}")
        )
    matrix = np.diag(found) if found.ndim == 1 else found
    apart = abs(matrix - matrix.T)
    if np.max(apart) > ASYMMETRY * np.max(abs(matrix)):
        i, j = sorted(map(int, np.unravel_index(np.argmax(apart), apart.shape)))
        told = f"[{i}][{j}] = {matrix[i, j]:g} ({AXES[i]}, {AXES[j]}), [{j}][{i}] = {matrix[j, i]:g}"
        raise ModelError(message(where, "a matrix that is not symmetric", told, "two equal entries"))
    least = float(np.min(np.linalg.eigvalsh(matrix)))
    if least < -ASYMMETRY * np.max(abs(matrix)):
        what = "pushes away from rest" if where.endswith("stiffness") else "adds energy"
        text = message(where, f"is negative and {what}", f"the least eigenvalue {least:.4g}", "none below 0")
        warn_caller(text)
