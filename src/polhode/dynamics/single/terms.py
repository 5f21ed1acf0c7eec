"""The terms of the rotational equations: energies, mass matrices, gyroscopic terms, augmented systems.

J is the inertia matrix about the mass centre (or a point fixed in space), body axes; J4 = diag(J0, J).
"""

from typing import NamedTuple

from polhode.quaternion import E, L, Q, angular_velocity
from polhode.scalar import (
    Scalar,
    Vec,
    cross,
    dot,
    inverse3,
    on_arrays,
    outer,
    square,
    trace,
)


def four_inertia(J: Vec, J0: Scalar) -> Vec:
    """J4 = diag(J0, J), 4×4 (a Vec)."""
    return Vec((Vec((J0, 0.0, 0.0, 0.0)), *(Vec((0.0, *row)) for row in J)))


def default_J0(J: Vec) -> Scalar:
    """J0 = tr(J)/3: between the smallest and the largest moment, where M_u is best conditioned."""
    return trace(J) / 3


@on_arrays(J="matrix", omega="vector", alpha="vector")
def newton_euler(J: Vec, omega: Vec, alpha: Vec) -> Vec:
    """The torque that a motion needs, in body axes.

        n = J ω̇ + ω × J ω                     Sherif (26), Schwab-Meijaard (17), Schwab (19)

    J             (..., 3, 3)
    omega, alpha  (..., 3)  rad/s, rad/s²
    ->            (..., 3)  N m
    """
    return J @ alpha + cross(omega, J @ omega)


@on_arrays(J="matrix", omega="vector", n="vector")
def angular_acceleration(J: Vec, omega: Vec, n: Vec) -> Vec:
    """The acceleration that a torque gives, in body axes.

        ω̇ = J⁻¹ (n − ω × J ω)                                Schwab-Meijaard (17), (20), (45)

    J         (..., 3, 3)
    omega, n  (..., 3)
    ->        (..., 3)
    """
    return inverse3(J) @ (n - cross(omega, J @ omega))


@on_arrays(J="matrix", omega="vector")
def kinetic_energy(J: Vec, omega: Vec) -> Scalar:
    """T = ½ ω·J ω                                                              Udwadia (4)

    J      (..., 3, 3)
    omega  (..., 3)
    ->     (...)  J
    """
    return dot(omega, J @ omega) / 2


@on_arrays(p="quaternion", pdot="quaternion", J="matrix", J0="scalar")
def kinetic_energy_of_rates(p: Vec, pdot: Vec, J: Vec, J0: Scalar) -> Scalar:
    """The kinetic energy as a function of p and ṗ, with Udwadia's J0.

        T = 2 ṗᵀ Eᵀ J4 E ṗ                                                      Udwadia (4)

    p, pdot  (..., 4)
    J, J0    (..., 3, 3), (...)
    ->       (...)
    """
    x = E(p) @ pdot
    return 2 * dot(x, four_inertia(J, J0) @ x)


@on_arrays(p="quaternion", pdot="quaternion", J="matrix", J0="scalar")
def kinetic_energy_of_attitude(p: Vec, pdot: Vec, J: Vec, J0: Scalar) -> Scalar:
    """The kinetic energy written with the rate of E; equal to the others where p·ṗ = 0.

        T = 2 pᵀ Ėᵀ J4 Ė p                                                      Udwadia (4)

    p, pdot  (..., 4)
    J, J0    (..., 3, 3), (...)
    ->       (...)
    """
    return kinetic_energy_of_rates(pdot, p, J, J0)


@on_arrays(p="quaternion", J="matrix")
def mass_matrix(p: Vec, J: Vec) -> Vec:
    """4 Lᵀ J L, of rank 3: alone it cannot be solved for p̈.                  Sherif (23), (32)

    p   (..., 4)
    J   (..., 3, 3)
    ->  (..., 4, 4)
    """
    return 4 * (L(p).T @ J @ L(p))


@on_arrays(p="quaternion", J="matrix", J0="scalar")
def mass_matrix_udwadia(p: Vec, J: Vec, J0: Scalar) -> Vec:
    """M_u = 4 Eᵀ J4 E, with eigenvalues 4 J0 and 4 J_i.                     Udwadia (8), (10)

    p      (..., 4)
    J, J0  (..., 3, 3), (...)
    ->     (..., 4, 4)
    """
    return 4 * (E(p).T @ four_inertia(J, J0) @ E(p))


@on_arrays(p="quaternion", J="matrix", J0="scalar")
def mass_matrix_udwadia_inverse(p: Vec, J: Vec, J0: Scalar) -> Vec:
    """4 M_u⁻¹ for a unit p.

        Eᵀ J4⁻¹ E = p pᵀ/J0 + Lᵀ J⁻¹ L; times p: p/J0                     Udwadia (14), (15)

    p      (..., 4)
    J, J0  (..., 3, 3), (...)
    ->     (..., 4, 4)
    """
    return outer(p, p) / J0 + L(p).T @ inverse3(J) @ L(p)


@on_arrays(p="quaternion", pdot="quaternion", J="matrix")
def gyroscopic_23(p: Vec, pdot: Vec, J: Vec) -> Vec:
    """The gyroscopic term of form 23: orthogonal to p, quintic.

        8 Lᵀ L L̇ᵀ J L ṗ                                                Sherif (20), (23), (27)

    p, pdot  (..., 4)
    J        (..., 3, 3)
    ->       (..., 4)
    """
    return 8 * (L(p).T @ (L(p) @ (L(pdot).T @ (J @ (L(p) @ pdot)))))


@on_arrays(p="quaternion", pdot="quaternion", J="matrix")
def gyroscopic_29(p: Vec, pdot: Vec, J: Vec) -> Vec:
    """The gyroscopic term of form 29: cubic; its part along p makes the multiplier 4T.

        8 L̇ᵀ J L ṗ                                                            Sherif (28), (29)

    p, pdot  (..., 4)
    J        (..., 3, 3)
    ->       (..., 4)
    """
    return 8 * (L(pdot).T @ (J @ (L(p) @ pdot)))


@on_arrays(p="quaternion", pdot="quaternion", J="matrix")
def gyroscopic_schwab(p: Vec, pdot: Vec, J: Vec) -> Vec:
    """The gyroscopic term of Schwab's augmented form, on the left-hand side.

        −8 Q̇ diag(0, J) Q̇ᵀ q                Schwab-Meijaard (42, a dot lost), Schwab (23)

    p, pdot  (..., 4)
    J        (..., 3, 3)
    ->       (..., 4)
    """
    return -8 * (Q(pdot) @ (four_inertia(J, 0.0) @ (Q(pdot).T @ p)))


@on_arrays(p="quaternion", pdot="quaternion", J="matrix", J0="scalar")
def gyroscopic_udwadia(p: Vec, pdot: Vec, J: Vec, J0: Scalar) -> Vec:
    """The velocity terms of Udwadia's equations, on the left-hand side.

        8 Ėᵀ J4 E ṗ + 4 J0 N(ṗ) p                        Udwadia (8)–(10); Ė ṗ = (N(ṗ), 0)

    p, pdot  (..., 4)
    J, J0    (..., 3, 3), (...)
    ->       (..., 4)
    """
    return 8 * (E(pdot).T @ (four_inertia(J, J0) @ (E(p) @ pdot))) + 4 * J0 * square(pdot) * p


@on_arrays(p="quaternion", pdot="quaternion", pddot="quaternion", J="matrix", J0="scalar")
def momentum_rate(p: Vec, pdot: Vec, pddot: Vec, J: Vec, J0: Scalar) -> Vec:
    """Rate of the generalised momentum ∂T/∂ṗ along a motion.

        d/dt ∂T/∂ṗ = 4 Eᵀ J4 E p̈ + 4 Ėᵀ J4 E ṗ + 4 Eᵀ J4 Ė ṗ                      Udwadia (6)

    p, pdot, pddot  (..., 4)
    J, J0           (..., 3, 3), (...)
    ->              (..., 4)
    """
    J4 = four_inertia(J, J0)
    return 4 * (E(p).T @ (J4 @ (E(p) @ pddot + E(pdot) @ pdot)) + E(pdot).T @ (J4 @ (E(p) @ pdot)))


@on_arrays(p="quaternion", pdot="quaternion", J="matrix", J0="scalar")
def energy_gradient(p: Vec, pdot: Vec, J: Vec, J0: Scalar) -> Vec:
    """Gradient of the kinetic energy with respect to p.

        ∂T/∂p = 4 Ėᵀ J4 Ė p, which is −4 Ėᵀ J4 E ṗ where p·ṗ = 0                  Udwadia (7)

    (7) differentiates T = 2 pᵀ Ėᵀ J4 Ė p.

    p, pdot  (..., 4)
    J, J0    (..., 3, 3), (...)
    ->       (..., 4)
    """
    return 4 * (E(pdot).T @ (four_inertia(J, J0) @ (E(pdot) @ p)))


@on_arrays(p="quaternion", pdot="quaternion", pddot="quaternion", J="matrix", J0="scalar")
def lagrange_derivative(p: Vec, pdot: Vec, pddot: Vec, J: Vec, J0: Scalar) -> Vec:
    """Lagrange's derivative of T = 2 ṗᵀ Eᵀ J4 E ṗ, exact also where p·ṗ ≠ 0.

        d/dt ∂T/∂ṗ − ∂T/∂p = M_u p̈ + 8 Ėᵀ J4 E ṗ + 4 J0 N(ṗ) p − 8 J0 (p·ṗ) ṗ    Udwadia (5), (8)

    The last term is missing in (8)–(10), which use p·ṗ = 0.

    p, pdot, pddot  (..., 4)
    J, J0           (..., 3, 3), (...)
    ->              (..., 4)
    """
    on_sphere = mass_matrix_udwadia(p, J, J0) @ pddot + gyroscopic_udwadia(p, pdot, J, J0)
    return on_sphere - 8 * J0 * dot(p, pdot) * pdot


@on_arrays(p="quaternion", pdot="quaternion", J="matrix")
def multiplier_29(p: Vec, pdot: Vec, J: Vec) -> Scalar:
    """The multiplier that the gyroscopic term of form 29 needs.

        λ = −8 p·L̇ᵀ J L ṗ = 2 ω·J ω = 4T      Sherif (30); Udwadia (20), where "twice" is a slip

    p, pdot  (..., 4)
    J        (..., 3, 3)
    ->       (...)
    """
    return -dot(p, gyroscopic_29(p, pdot, J))


@on_arrays(p="quaternion", pdot="quaternion", J="matrix")
def multiplier_schwab(p: Vec, pdot: Vec, J: Vec) -> Scalar:
    """The multiplier of the same term with the constraint gradient 2q.

        λ = 4 qᵀ Q̇ diag(0, J) Q̇ᵀ q = ω·J ω = 2T                 Schwab-Meijaard (43), Schwab (24)

    p, pdot  (..., 4)
    J        (..., 3, 3)
    ->       (...)
    """
    return -dot(p, gyroscopic_schwab(p, pdot, J)) / 2


@on_arrays(p="quaternion", J="matrix")
def augmented_matrix(p: Vec, J: Vec, gradient: float = 1.0) -> Vec:
    """The matrix of the augmented (index-1) system, gradient p or 2p (a Vec).

    [4 Lᵀ J L, g p; g pᵀ, 0]             Sherif (34), (39), (83); Schwab-Meijaard (42)
    """
    rows = mass_matrix(p, J)
    border = gradient * p
    return Vec((*(Vec((*row, g)) for row, g in zip(rows, border, strict=True)), Vec((*border, 0.0))))


@on_arrays(p="nonzero quaternion", J="matrix")
def augmented_inverse(p: Vec, J: Vec) -> Vec:
    """The closed inverse of the augmented matrix with gradient p, for any ‖p‖ = s (a Vec).

    [Lᵀ J⁻¹ L/(4 s⁴), p/s²; pᵀ/s², 0]                                         Sherif (35)
    """
    ss = square(p)
    rows = L(p).T @ inverse3(J) @ L(p) / (4 * ss * ss)
    border = p / ss
    return Vec((*(Vec((*row, g)) for row, g in zip(rows, border, strict=True)), Vec((*border, 0.0))))


class ExplicitTerms(NamedTuple):
    """The four terms of Udwadia (22), each (..., 4), J0 cancelled; p̈ is their sum."""

    gyroscopic: Vec
    centripetal: Vec
    load: Vec
    constraint: Vec


@on_arrays(p="unit quaternion", pdot="quaternion", J="matrix", generalized="quaternion", J0="scalar")
def explicit_terms(p: Vec, pdot: Vec, J: Vec, generalized: Vec, J0: Scalar) -> ExplicitTerms:
    """The terms of the explicit acceleration, multiplied out one by one.

        −2 Eᵀ J4⁻¹ E Ėᵀ J4 E ṗ = −½ Lᵀ J⁻¹ ω̃ J ω + (½ ω·J ω/J0) p                 Udwadia (25)
        −J0 N(ṗ) Eᵀ J4⁻¹ E p = −N(ṗ) p                                            Udwadia (26)
        ¼ Eᵀ J4⁻¹ E (I − p pᵀ) Γ_u = ¼ Lᵀ J⁻¹ L Γ_u                               Udwadia (27)
        −½ (ω·J ω) Eᵀ J4⁻¹ E p = −(½ ω·J ω/J0) p                                  Udwadia (28)

    p, pdot, generalized  (..., 4)
    J, J0                 (..., 3, 3), (...)
    ->                    four vectors (..., 4)
    """
    omega = angular_velocity(p, pdot)
    radial = dot(omega, J @ omega) / (2 * J0) * p
    side = L(p).T @ inverse3(J)
    return ExplicitTerms(
        gyroscopic=radial - side @ cross(omega, J @ omega) / 2,
        centripetal=-square(pdot) * p,
        load=side @ (L(p) @ generalized) / 4,
        constraint=-radial,
    )
