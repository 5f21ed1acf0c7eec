"""Points of a body: where they are, how they move, and three Jacobians that differ off the tangent."""

from polhode.quaternion.algebra import G, H, L, skew, vector_part
from polhode.quaternion.rotation import rotate, rotation_matrix_homogeneous
from polhode.scalar import Vec, cross, dot, identity, on_arrays, outer


@on_arrays(R="vector", p="unit quaternion", u="vector")
def point_position(R: Vec, p: Vec, u: Vec) -> Vec:
    """Position of a body point.

        r = R + A u                                                      Sherif (1), (42)

    R   (..., 3)  position of the body frame, space axes, m
    p   (..., 4)
    u   (..., 3)  the point, body axes, m
    ->  (..., 3)  space axes
    """
    return R + rotate(p, u)


@on_arrays(Rdot="vector", p="unit quaternion", omega="vector", u="vector")
def point_velocity(Rdot: Vec, p: Vec, omega: Vec, u: Vec) -> Vec:
    """Velocity of a body point.

        ṙ = Ṙ + Ȧ u = Ṙ − A ũ ω                                          Sherif (47), (48)

    Rdot   (..., 3)  space axes, m/s
    p      (..., 4)
    omega  (..., 3)  body axes, rad/s
    u      (..., 3)  body axes, m
    ->     (..., 3)  space axes
    """
    return Rdot + rotate(p, cross(omega, u))


@on_arrays(Rddot="vector", p="unit quaternion", omega="vector", alpha="vector", u="vector")
def point_acceleration(Rddot: Vec, p: Vec, omega: Vec, alpha: Vec, u: Vec) -> Vec:
    """Acceleration of a body point.

        r̈ = R̈ + A (ω̇ × u + ω × (ω × u))                              derivative of Sherif (48)

    Rddot         (..., 3)  space axes, m/s²
    p             (..., 4)
    omega, alpha  (..., 3)  body axes, rad/s, rad/s²
    u             (..., 3)  body axes, m
    ->            (..., 3)  space axes
    """
    return Rddot + rotate(p, cross(alpha, u) + cross(omega, cross(omega, u)))


@on_arrays(p="unit quaternion", u="vector")
def B1(p: Vec, u: Vec) -> Vec:
    """Jacobian of a body point: that of A(p/‖p‖) u, blind to changes along p.

        B₁ = −2 A ũ L = 2 G H − 2 G Lᵀ u pᵀ                   Sherif (50)–(52), (73), (74)

    p   (..., 4)
    u   (..., 3)
    ->  (..., 3, 4)
    """
    return -2 * (rotation_matrix_homogeneous(p) @ skew(u) @ L(p))


@on_arrays(p="unit quaternion", u="vector")
def B2(p: Vec, u: Vec) -> Vec:
    """Jacobian of a body point: that of A u with Sherif's A of (5).

        B₂ = 2 [2 e0 u + ẽ u, (e·u) I + e uᵀ − e0 ũ] = 2 G H + 2 u pᵀ    Sherif (53)–(56), (64), (68)

    p   (..., 4)
    u   (..., 3)
    ->  (..., 3, 4)
    """
    e0, e = p[0], vector_part(p)
    first = 2 * e0 * u + cross(e, u)
    rest = dot(e, u) * identity(3) + outer(e, u) - e0 * skew(u)
    return 2 * Vec([Vec((f, *row)) for f, row in zip(first, rest, strict=True)])


@on_arrays(p="unit quaternion", u="vector")
def B_homogeneous(p: Vec, u: Vec) -> Vec:
    """Jacobian of a body point: that of G Lᵀ u, the quadratic form.

        2 G H, the common part of B₁ and B₂                               Sherif (66), (68), (73)

    p   (..., 4)
    u   (..., 3)
    ->  (..., 3, 4)
    """
    return 2 * (G(p) @ H(u))
