"""The rotational equations in Euler angles u of any sequence, and the state forms.

n is the torque in body axes. At gimbal lock these have no answer: `ph.acceleration` says so.
"""

from typing import NamedTuple

from polhode import euler
from polhode.dynamics.single.terms import angular_acceleration
from polhode.linalg.elimination import solve_by_rows
from polhode.quaternion import rate
from polhode.scalar import Vec, cross, on_arrays


class AngleStateRates(NamedTuple):
    """u̇ (..., 3) and ω̇ (..., 3)."""

    udot: Vec
    alpha: Vec


class StateRates(NamedTuple):
    """ṗ (..., 4) and ω̇ (..., 3)."""

    pdot: Vec
    alpha: Vec


@on_arrays(u="vector", udot="vector", J="matrix", n="vector")
def angle_accelerations(sequence: str, u: Vec, udot: Vec, J: Vec, n: Vec) -> Vec:
    """Second derivatives of Euler angles.

        Bᵀ J B ü = Bᵀ [n − (B u̇) × (J B u̇) − J Ḃ u̇]                Schwab-Meijaard (18), (19)

    u, udot  (..., 3)  rad, rad/s
    J, n     (..., 3, 3), (..., 3)
    ->       (..., 3)  rad/s²
    """
    B = euler.body_rate_matrix(sequence, u)
    Bdot = euler.body_rate_matrix_rate(sequence, u, udot)
    omega = B @ udot
    return solve_by_rows(B.T @ J @ B, B.T @ (n - cross(omega, J @ omega) - J @ (Bdot @ udot)))


@on_arrays(u="vector", omega="vector", J="matrix", n="vector")
def angle_state_rates(sequence: str, u: Vec, omega: Vec, J: Vec, n: Vec) -> AngleStateRates:
    """The state form in Euler angles.

        u̇ = B⁻¹ ω,  ω̇ = J⁻¹ (n − ω × J ω)                          Schwab-Meijaard (20), (21)

    u, omega  (..., 3)
    J, n      (..., 3, 3), (..., 3)
    ->        udot (..., 3), alpha (..., 3)
    """
    return AngleStateRates(euler.rates(sequence, u, omega), angular_acceleration(J, omega, n))


@on_arrays(p="unit quaternion", omega="vector", J="matrix", n="vector")
def state_rates(p: Vec, omega: Vec, J: Vec, n: Vec) -> StateRates:
    """The state form in Euler parameters: linear in p, so it needs no re-normalisation for accuracy.

        ṗ = ½ Q (0, ω),  ω̇ = J⁻¹ (n − ω × J ω)                     Schwab-Meijaard (45), (46)

    p      (..., 4)
    omega  (..., 3)
    J, n   (..., 3, 3), (..., 3)
    ->     pdot (..., 4), alpha (..., 3)
    """
    return StateRates(rate(p, omega), angular_acceleration(J, omega, n))
