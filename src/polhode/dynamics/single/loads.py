"""Torques and forces on one body, as body torque n and as generalised force Q_p.

A force f (space axes) at a body point u has three generalised forces: the gradients of three
continuations of the rotation away from ‖p‖ = 1. They differ along p only: same motion, other multiplier.
"""

from typing import NamedTuple

from polhode.quaternion import B1, B2, G, H, L, product, pure, rotation_matrix_homogeneous
from polhode.scalar import Scalar, Vec, cross, dot, on_arrays


class Loads(NamedTuple):
    """What acts on a body; None is nothing."""

    torque: Vec | None = None
    """Couple in body axes, N m."""
    space_torque: Vec | None = None
    """Couple in space axes, N m."""
    force: Vec | None = None
    """Force in space axes, N."""
    point: Vec | None = None
    """Where the force acts: body axes, from the mass centre, m."""
    generalized: Vec | None = None
    """Udwadia's four-vector Γ_u, dual to ṗ."""


@on_arrays(p="unit quaternion", f="vector", u="vector")
def moment(p: Vec, f: Vec, u: Vec) -> Vec:
    """Moment of a space force at a body point, in body axes.

        n = ũ Aᵀ f                                                  Sherif (41, a bar lost)

    p   (..., 4)
    f   (..., 3)  space axes, N
    u   (..., 3)  body axes, m
    ->  (..., 3)  body axes, N m
    """
    return cross(u, rotation_matrix_homogeneous(p).T @ f)


@on_arrays(p="unit quaternion", n="vector")
def of_torque(p: Vec, n: Vec) -> Vec:
    """Generalised force of a torque in body axes.

        Q_p = 2 Lᵀ n = 2 Q (0, n)       Sherif (43), (60), Udwadia (39), Schwab-Meijaard (44), Schwab (25)

    p   (..., 4)
    n   (..., 3)  body axes, N m
    ->  (..., 4)
    """
    return 2 * product(p, pure(n))


@on_arrays(p="unit quaternion", n_s="vector")
def of_space_torque(p: Vec, n_s: Vec) -> Vec:
    """Generalised force of a torque in space axes.

        Q_p = 2 Gᵀ M_s = 2 Q̄ (0, M_s)                         Schwab-Meijaard (44), Schwab (25)

    p    (..., 4)
    n_s  (..., 3)  space axes, N m
    ->   (..., 4)
    """
    return 2 * product(pure(n_s), p)


@on_arrays(p="unit quaternion", Q_p="quaternion")
def torque_of(p: Vec, Q_p: Vec) -> Vec:
    """The body torque of a generalised force; its part along p does nothing.

        n = ½ L Γ_u                                                            Udwadia (41)

    p, Q_p  (..., 4)
    ->      (..., 3)  body axes, N m
    """
    return L(p) @ Q_p / 2


@on_arrays(p="unit quaternion", f="vector", u="vector")
def of_force_q1(p: Vec, f: Vec, u: Vec) -> Vec:
    """Generalised force Q_p,1 of a force at a point: cubic in p, orthogonal to p.

        Q_p,1 = 2 Lᵀ ũ Aᵀ f                                       Sherif (44), (60), (75)

    p      (..., 4)
    f, u   (..., 3)  space axes, N; body axes, m
    ->     (..., 4)
    """
    return of_torque(p, moment(p, f, u))


@on_arrays(p="unit quaternion", f="vector", u="vector")
def of_force_b1(p: Vec, f: Vec, u: Vec) -> Vec:
    """Q_p,1 through the Jacobian B₁ of the point.

        Q_p,1 = B₁ᵀ f                                             Sherif (58), (59), (79)

    p      (..., 4)
    f, u   (..., 3)
    ->     (..., 4)
    """
    return B1(p, u).T @ f


@on_arrays(p="unit quaternion", f="vector", u="vector")
def of_force_gh(p: Vec, f: Vec, u: Vec) -> Vec:
    """Generalised force of the homogeneous map: linear in p.

        2 Hᵀ Gᵀ f                                                 Sherif (82)

    p      (..., 4)
    f, u   (..., 3)
    ->     (..., 4)
    """
    return 2 * (H(u).T @ (G(p).T @ f))


@on_arrays(p="unit quaternion", f="vector", u="vector")
def of_force_q2(p: Vec, f: Vec, u: Vec) -> Vec:
    """Generalised force Q_p,2, kept whole: linear in p, but its part along p depends on the space frame.

        Q_p,2 = B₂ᵀ f = 2 Hᵀ Gᵀ f + 2 p (u·f)                     Sherif (61), (62), (69)

    p      (..., 4)
    f, u   (..., 3)
    ->     (..., 4)
    """
    return B2(p, u).T @ f


@on_arrays(p="unit quaternion", f="vector", u="vector")
def of_force_q2_reduced(p: Vec, f: Vec, u: Vec) -> Vec:
    """Q_p,2 without its part 2 p (u·f), which does no virtual work.    Sherif (70)

    p      (..., 4)
    f, u   (..., 3)
    ->     (..., 4)
    """
    return of_force_q2(p, f, u) - 2 * dot(u, f) * p


@on_arrays(p="unit quaternion", f="vector", u="vector")
def virial(p: Vec, f: Vec, u: Vec) -> Scalar:
    """f·(A u), half the multiplier of the homogeneous load.                    Sherif (84)

    p      (..., 4)
    f, u   (..., 3)
    ->     (...)  J
    """
    return dot(f, rotation_matrix_homogeneous(p) @ u)


@on_arrays(f="vector", dR="vector", Q_p="quaternion", dp="quaternion")
def virtual_work(f: Vec, dR: Vec, Q_p: Vec, dp: Vec) -> Scalar:
    """Virtual work of a force at a body point.

        δW = f·δr = f·δR + Q_p·δp                                 Sherif (45), (46): Q_R = f

    f, dR    (..., 3)
    Q_p, dp  (..., 4)
    ->       (...)
    """
    return dot(f, dR) + dot(Q_p, dp)


OF_FORCE = {
    "q1": of_force_q1,
    "b1": of_force_b1,
    "gh": of_force_gh,
    "q2": of_force_q2,
    "q2-reduced": of_force_q2_reduced,
}
"""The variants of a force's generalised force, by name."""


def _sum(parts: list[Vec], size: int) -> Vec:
    total = parts[0] if parts else Vec([0.0] * size)
    for part in parts[1:]:
        total = total + part
    return total


def body_torque(p: Vec, loads: Loads) -> Vec:
    """Everything that acts, as one torque n in body axes (a Vec): for forms with three equations."""
    parts = []
    if loads.torque is not None:
        parts.append(loads.torque)
    if loads.space_torque is not None:
        parts.append(rotation_matrix_homogeneous(p).T @ loads.space_torque)
    if loads.force is not None and loads.point is not None:
        parts.append(moment(p, loads.force, loads.point))
    if loads.generalized is not None:
        parts.append(torque_of(p, loads.generalized))
    return _sum(parts, 3)


def generalized_force(p: Vec, loads: Loads, variant: str) -> Vec:
    """Everything that acts, as Q_p (a Vec), the force in one of the variants of `OF_FORCE`."""
    couples = body_torque(p, Loads(torque=loads.torque, space_torque=loads.space_torque))
    parts = [of_torque(p, couples)] if loads.torque is not None or loads.space_torque is not None else []
    if loads.force is not None and loads.point is not None:
        parts.append(OF_FORCE[variant](p, loads.force, loads.point))
    if loads.generalized is not None:
        parts.append(loads.generalized)
    return _sum(parts, 4)


def radial_part(p: Vec, loads: Loads, variant: str) -> Scalar:
    """p·Q_p as theory gives it: what a load adds to ‖p‖² λ.                 EQUATIONS §9

    0 for couples and Q_p,1; 2 f·(A u) for the homogeneous force; 2 f·(A + I) u for Q_p,2; p·Γ_u.
    """
    total: Scalar = 0.0
    if loads.force is not None and loads.point is not None and variant in ("gh", "q2", "q2-reduced"):
        total = total + 2 * virial(p, loads.force, loads.point)
        if variant == "q2":
            total = total + 2 * dot(p, p) * dot(loads.force, loads.point)
    if loads.generalized is not None:
        total = total + dot(p, loads.generalized)
    return total
