"""Rates: angular velocity and acceleration, in body and space axes, from ṗ, p̈ and back."""

from typing import NamedTuple

from polhode.quaternion.algebra import E, G, L, Q, Qbar, product, pure, skew, unskew
from polhode.quaternion.rotation import rotation_matrix_homogeneous
from polhode.scalar import Scalar, Vec, cos, cross, dot, on_arrays, real_part, sin, smooth, sqrt, square, where


class State(NamedTuple):
    """An attitude and its rate."""

    p: Vec
    pdot: Vec


@on_arrays(p="unit quaternion", pdot="quaternion")
def angular_velocity(p: Vec, pdot: Vec) -> Vec:
    """Angular velocity in body axes.

        ω = 2 L ṗ                              Sherif (17), Udwadia (1), Schwab-Meijaard (35)

    Off the unit sphere the rotation p/‖p‖ turns with 2 L ṗ/‖p‖².

    p, pdot  (..., 4)
    ->       (..., 3)  rad/s
    """
    return 2 * (L(p) @ pdot)


@on_arrays(p="unit quaternion", pdot="quaternion")
def angular_velocity_space(p: Vec, pdot: Vec) -> Vec:
    """Angular velocity in space axes.

        ω_s = 2 G ṗ                                        Schwab-Meijaard (33), Schwab (13)

    p, pdot  (..., 4)
    ->       (..., 3)  rad/s
    """
    return 2 * (G(p) @ pdot)


@on_arrays(p="unit quaternion", pdot="quaternion")
def four_rates(p: Vec, pdot: Vec) -> Vec:
    """The four-vector of rates: (0, ω) when p·ṗ = 0.

        2 E ṗ = (2 p·ṗ, ω)                     Udwadia (1), (32); Schwab-Meijaard (35), Schwab (15)

    p, pdot  (..., 4)
    ->       (..., 4)
    """
    return 2 * (E(p) @ pdot)


@on_arrays(p="unit quaternion", pdot="quaternion")
def four_rates_space(p: Vec, pdot: Vec) -> Vec:
    """The four-vector of rates in space axes: (0, ω_s) when p·ṗ = 0.

        2 Q̄ᵀ ṗ                                            Schwab-Meijaard (33), Schwab (13)

    p, pdot  (..., 4)
    ->       (..., 4)
    """
    return 2 * (Qbar(p).T @ pdot)


@on_arrays(p="quaternion", pdot="quaternion")
def angular_velocity_tensor(p: Vec, pdot: Vec) -> Vec:
    """The skew matrix of the angular velocity in body axes.

        ω̃ = 2 L L̇ᵀ, plus 2 (p·ṗ) I off the tangent                      Sherif (16), Udwadia (24)

    p, pdot  (..., 4)
    ->       (..., 3, 3)
    """
    return 2 * (L(p) @ L(pdot).T)


@on_arrays(A="matrix", Adot="matrix")
def angular_velocity_of_matrix(A: Vec, Adot: Vec) -> Vec:
    """Angular velocity in body axes of a moving rotation matrix.

        ω̃ = Aᵀ Ȧ                                                            Sherif (14), (15)

    A, Adot  (..., 3, 3)
    ->       (..., 3)
    """
    return unskew(A.T @ Adot)


@on_arrays(A="matrix", Adot="matrix")
def angular_velocity_space_of_matrix(A: Vec, Adot: Vec) -> Vec:
    """Angular velocity in space axes of a moving rotation matrix.

        ω̃_s = Ȧ Aᵀ                                 Schwab-Meijaard (8), (9), (10); Schwab (4)

    A, Adot  (..., 3, 3)
    ->       (..., 3)
    """
    return unskew(Adot @ A.T)


@on_arrays(p="unit quaternion", omega="vector")
def rotation_matrix_rate(p: Vec, omega: Vec) -> Vec:
    """Rate of the rotation matrix.

        Ȧ = A ω̃                                                             Sherif (14), (15)

    p      (..., 4)
    omega  (..., 3)  body axes
    ->     (..., 3, 3)
    """
    return rotation_matrix_homogeneous(p) @ skew(omega)


@on_arrays(p="unit quaternion", omega="vector")
def rate(p: Vec, omega: Vec) -> Vec:
    """Rate of an attitude, from the angular velocity in body axes.

        ṗ = ½ Q (0, ω) = ½ p∘(0, ω)         Schwab-Meijaard (36), (46); Schwab (16)

    p      (..., 4)
    omega  (..., 3)  rad/s
    ->     (..., 4)
    """
    return product(p, pure(omega)) / 2


@on_arrays(p="unit quaternion", omega_s="vector")
def rate_from_space(p: Vec, omega_s: Vec) -> Vec:
    """Rate of an attitude, from the angular velocity in space axes.

        ṗ = ½ Q̄ (0, ω_s) = ½ (0, ω_s)∘p                Schwab-Meijaard (34), Schwab (14, misprinted)

    p        (..., 4)
    omega_s  (..., 3)  rad/s
    ->       (..., 4)
    """
    return product(pure(omega_s), p) / 2


@on_arrays(p="unit quaternion", pddot="quaternion")
def angular_acceleration(p: Vec, pddot: Vec) -> Vec:
    """Angular acceleration ω̇ in body axes.

        ω̇ = 2 L p̈, because L̇ ṗ = 0                      Sherif (12), Schwab-Meijaard (38)

    p, pddot  (..., 4)
    ->        (..., 3)  rad/s²
    """
    return 2 * (L(p) @ pddot)


@on_arrays(p="unit quaternion", pddot="quaternion")
def angular_acceleration_space(p: Vec, pddot: Vec) -> Vec:
    """Angular acceleration ω̇_s in space axes.

        ω̇_s = 2 G p̈, because Ġ ṗ = 0                     Sherif (12), Schwab-Meijaard (37)

    p, pddot  (..., 4)
    ->        (..., 3)  rad/s²
    """
    return 2 * (G(p) @ pddot)


@on_arrays(p="unit quaternion", pdot="quaternion", pddot="quaternion")
def four_accelerations(p: Vec, pdot: Vec, pddot: Vec) -> Vec:
    """The four-vector of angular accelerations in body axes: (0, ω̇) on the unit sphere.

        2 Qᵀ p̈ + 2 (N(ṗ), 0)                               Schwab-Meijaard (38), Schwab (18)

    p, pdot, pddot  (..., 4)
    ->              (..., 4)
    """
    return 2 * (Q(p).T @ pddot) + Vec((2 * square(pdot), 0.0, 0.0, 0.0))


@on_arrays(p="unit quaternion", pdot="quaternion", pddot="quaternion")
def four_accelerations_space(p: Vec, pdot: Vec, pddot: Vec) -> Vec:
    """The four-vector of angular accelerations in space axes: (0, ω̇_s) on the unit sphere.

        2 Q̄ᵀ p̈ + 2 (N(ṗ), 0)                               Schwab-Meijaard (37), Schwab (17)

    p, pdot, pddot  (..., 4)
    ->              (..., 4)
    """
    return 2 * (Qbar(p).T @ pddot) + Vec((2 * square(pdot), 0.0, 0.0, 0.0))


@on_arrays(p="unit quaternion", omega="vector", alpha="vector")
def second_rate(p: Vec, omega: Vec, alpha: Vec) -> Vec:
    """Second time derivative of an attitude, from body components.

        p̈ = ½ p∘(0, ω̇) − ¼ |ω|² p                Schwab-Meijaard (38), Schwab (18), inverted

    The second term keeps ‖p‖ = 1: it is the centripetal part on the unit sphere.

    p      (..., 4)
    omega  (..., 3)  rad/s
    alpha  (..., 3)  its time derivative ω̇, rad/s²
    ->     (..., 4)
    """
    return product(p, pure(alpha)) / 2 - square(omega) / 4 * p


@on_arrays(p="unit quaternion", omega_s="vector", alpha_s="vector")
def second_rate_from_space(p: Vec, omega_s: Vec, alpha_s: Vec) -> Vec:
    """Second time derivative of an attitude, from space components.

        p̈ = ½ (0, ω̇_s)∘p − ¼ |ω_s|² p            Schwab-Meijaard (37), Schwab (17), inverted

    p                 (..., 4)
    omega_s, alpha_s  (..., 3)
    ->                (..., 4)
    """
    return product(pure(alpha_s), p) / 2 - square(omega_s) / 4 * p


@on_arrays(p="quaternion")
def norm_residual(p: Vec) -> Scalar:
    """Φ = p·p − 1, zero on the unit sphere.       Sherif (4), Schwab-Meijaard (39), Schwab (20)

    p   (..., 4)
    ->  (...)
    """
    return square(p) - 1


@on_arrays(p="quaternion", pdot="quaternion")
def norm_rate_residual(p: Vec, pdot: Vec) -> Scalar:
    """Φ̇ = 2 p·ṗ, with gradient 2p.          Schwab-Meijaard (41), Schwab (22); half of it Sherif (21)

    p, pdot  (..., 4)
    ->       (...)
    """
    return 2 * dot(p, pdot)


@on_arrays(p="quaternion", pdot="quaternion", pddot="quaternion")
def norm_acceleration_residual(p: Vec, pdot: Vec, pddot: Vec) -> Scalar:
    """½Φ̈ = p·p̈ + ṗ·ṗ, zero for every motion on the unit sphere.     Sherif (33), Udwadia (11)

    p, pdot, pddot  (..., 4)
    ->              (...)
    """
    return dot(p, pddot) + square(pdot)


@on_arrays(p="quaternion", x="quaternion")
def tangent(p: Vec, x: Vec) -> Vec:
    """The part of a four-vector tangent to the sphere at p.

        (I − p pᵀ) x = Lᵀ L x = Gᵀ G x               Sherif (11), Udwadia (21), (36), (37)

    p   (..., 4)  unit
    x   (..., 4)
    ->  (..., 4)
    """
    return x - dot(p, x) * p


@on_arrays(p="nonzero quaternion", pdot="quaternion")
def project(p: Vec, pdot: Vec) -> State:
    """The state on the unit sphere with the same attitude p/‖p‖ and the same angular velocity.

        p ← p/‖p‖,  ṗ ← (I − p pᵀ) ṗ/‖p‖

    Scaling p and leaving ṗ would multiply ω by ‖p‖ at every step.

    p, pdot  (..., 4)
    ->       p (..., 4), pdot (..., 4)
    """
    n = sqrt(square(p))
    unit = p / n
    return State(unit, tangent(unit, pdot / n))


@on_arrays(p="unit quaternion", dp="quaternion")
def virtual_rotation(p: Vec, dp: Vec) -> Vec:
    """Virtual rotation in body axes of a variation δp, p·δp = 0.

        δθ = 2 L δp                    Sherif (19), (21), Udwadia (33)–(35)

    p, dp  (..., 4)
    ->     (..., 3)
    """
    return 2 * (L(p) @ dp)


@on_arrays(r="vector", omega="vector")
@smooth
def rotation_vector_rate(r: Vec, omega: Vec) -> Vec:
    """Rate of the rotation vector of p = exp(r/2), from the angular velocity in body axes.

        ṙ = Jr(r)⁻¹ ω = ω + ½ r × ω + c r × (r × ω),  c = 1/θ² − (1 + cos θ)/(2θ sin θ), θ = ‖r‖ < 2π

    Near θ = 0 a series for c is used, with remainder θ⁸/47900160.

    r      (..., 3)  rad
    omega  (..., 3)  rad/s
    ->     (..., 3)
    """
    rr = square(r)
    small = real_part(rr) < 1e-2
    theta = sqrt(where(small, 1.0, rr))
    closed = (1 - theta * cos(theta / 2) / (2 * sin(theta / 2))) / where(small, 1.0, rr)
    series = 1 / 12 + rr * (1 / 720 + rr * (1 / 30240 + rr / 1209600))
    return omega + cross(r, omega) / 2 + where(small, series, closed) * cross(r, cross(r, omega))
