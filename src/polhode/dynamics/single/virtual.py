"""The principles behind the forms: virtual work and virtual power of one body. All vanish in a motion."""

from polhode.dynamics.single.terms import gyroscopic_23, gyroscopic_29, mass_matrix, newton_euler
from polhode.scalar import Scalar, Vec, dot, on_arrays


@on_arrays(
    m="scalar",
    J="matrix",
    Rddot="vector",
    omega="vector",
    alpha="vector",
    f="vector",
    n="vector",
    dR="vector",
    dtheta="vector",
)
def work_of_free_body(
    m: Scalar, J: Vec, Rddot: Vec, omega: Vec, alpha: Vec, f: Vec, n: Vec, dR: Vec, dtheta: Vec
) -> Scalar:
    """Virtual work of inertia and loads on a free body.

        δR·(m R̈ − f) + δθ·(J ω̇ + ω̃ J ω − n)                Sherif (18); n holds the couples m too

    R̈, f, δR in space axes; ω, ω̇, n, δθ in body axes.
    """
    return dot(dR, m * Rddot - f) + dot(dtheta, newton_euler(J, omega, alpha) - n)


@on_arrays(p="unit quaternion", pdot="quaternion", pddot="quaternion", J="matrix", Q_p="quaternion", dp="quaternion")
def work_of_rotation_23(p: Vec, pdot: Vec, pddot: Vec, J: Vec, Q_p: Vec, dp: Vec) -> Scalar:
    """Virtual work of the rotation in Euler parameters, with the gyroscopic term of form 23.

        δp·(4 Lᵀ J L p̈ + 8 Lᵀ L L̇ᵀ J L ṗ − Q_p)      Sherif (20), (76)–(78), (80), (81)

    p, pdot, pddot, Q_p, dp  (..., 4); p·δp = 0
    J                        (..., 3, 3)
    ->                       (...)
    """
    return dot(dp, mass_matrix(p, J) @ pddot + gyroscopic_23(p, pdot, J) - Q_p)


@on_arrays(p="unit quaternion", pdot="quaternion", pddot="quaternion", J="matrix", Q_p="quaternion", dp="quaternion")
def work_of_rotation_29(p: Vec, pdot: Vec, pddot: Vec, J: Vec, Q_p: Vec, dp: Vec) -> Scalar:
    """Virtual work of the rotation in Euler parameters, with the gyroscopic term of form 29.

        δp·(4 Lᵀ J L p̈ + 8 L̇ᵀ J L ṗ − Q_p)                                    Sherif (28)

    p, pdot, pddot, Q_p, dp  (..., 4); p·δp = 0
    J                        (..., 3, 3)
    ->                       (...)
    """
    return dot(dp, mass_matrix(p, J) @ pddot + gyroscopic_29(p, pdot, J) - Q_p)


@on_arrays(p="unit quaternion", multiplier="scalar", dp="quaternion")
def work_of_constraint(p: Vec, multiplier: Scalar, dp: Vec) -> Scalar:
    """Virtual work of the constraint force p λ: none for p·δp = 0.

        δp·p λ                                                                   Sherif (22)

    p, dp       (..., 4)
    multiplier  (...)
    ->          (...)
    """
    return dot(dp, p) * multiplier


@on_arrays(J="matrix", omega="vector", alpha="vector", n="vector", domega="vector")
def power_of_rotation(J: Vec, omega: Vec, alpha: Vec, n: Vec, domega: Vec) -> Scalar:
    """Virtual power of loads and inertia; equal to λ δΦ̇ = 2λ q·δq̇, zero for admissible δω.

        (n − J ω̇ − ω × J ω)·δω           Schwab-Meijaard (40, two misprints), Schwab (21)

    J                        (..., 3, 3)
    omega, alpha, n, domega  (..., 3)  body axes
    ->                       (...)
    """
    return dot(n - newton_euler(J, omega, alpha), domega)
