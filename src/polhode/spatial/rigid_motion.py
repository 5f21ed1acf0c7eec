"""SE(3): rigid motions as a position r and a unit quaternion p, which take a point x′ to r + p∘x′∘p*.

Spatial vectors are six numbers, the linear part first: motions (v, ω), forces (f, n), at the origin of the frame they
are given in. Everything takes arrays with any leading batch axes, or `Vec` of generic scalars.
"""

from polhode.quaternion import conjugate, exp, from_matrix, log, product, pure, rotate, rotation_matrix, skew, slerp
from polhode.quaternion.jacobians import cotangent_coefficient, cubic_coefficient, versine_coefficient
from polhode.scalar import Scalar, Vec, cross, identity, on_arrays, smooth, square, vec, where
from polhode.spatial.inertia import symmetric


def turned_by(w: Vec, x: Vec, b: Scalar, c: Scalar) -> Vec:
    """(I + b w̃ + c w̃²) x"""
    wx = cross(w, x)
    return x + b * wx + c * cross(w, wx)


@on_arrays(a="vector", p="unit quaternion", b="vector", q="unit quaternion")
def composed(a: Vec, p: Vec, b: Vec, q: Vec) -> tuple[Vec, Vec]:
    """The position and the quaternion of one pose after another: (a + p∘b∘p*, p∘q).

    a, b  (..., 3)
    p, q  (..., 4)
    """
    return a + rotate(p, b), product(p, q)


@on_arrays(r="vector", p="unit quaternion")
def inverted(r: Vec, p: Vec) -> tuple[Vec, Vec]:
    """The position and the quaternion of the inverse of a pose."""
    back = conjugate(p)
    return -rotate(back, r), back


@on_arrays(r="vector", p="unit quaternion", x="vector")
def placed(r: Vec, p: Vec, x: Vec) -> Vec:
    """A point r + p∘x∘p*, (..., 3)."""
    return r + rotate(p, x)


@on_arrays(motion="spatial vector")
@smooth
def exp6(motion: Vec) -> tuple[Vec, Vec]:
    """The position (..., 3) and the quaternion (..., 4) that a constant motion reaches in unit time.

        p = exp(ω/2),  r = V v,  V = I + (1 − cos θ)/θ² ω̃ + (θ − sin θ)/θ³ ω̃²,  θ = ‖ω‖

    motion  (..., 6)  v, m, and ω, rad, in the axes of the frame that moves
    """
    v, w = Vec(motion[:3]), Vec(motion[3:])
    ww = square(w)
    return turned_by(w, v, versine_coefficient(ww), cubic_coefficient(ww)), exp(w / 2)


@on_arrays(r="vector", p="unit quaternion")
@smooth
def log6(r: Vec, p: Vec) -> Vec:
    """The constant motion that reaches a pose in unit time, turning by at most π: the inverse of `exp6`.

        ω = 2 log p,  v = V⁻¹ r,  V⁻¹ = I − ½ ω̃ + (1 − (θ/2) cot(θ/2))/θ² ω̃²

    r   (..., 3)  m
    p   (..., 4)
    ->  (..., 6)
    """
    p = where(p[0] < 0, -p, p)
    w = 2 * log(p)
    return Vec((*turned_by(w, r, -0.5, cotangent_coefficient(square(w))), *w))


@on_arrays(r="vector", p="unit quaternion")
def adjoint(r: Vec, p: Vec) -> Vec:
    """The matrix [[R, r̃ R], [0, R]] (..., 6, 6) that moves motions out of a frame at r, p."""
    R = rotation_matrix(p)
    upper = [Vec((*a, *b)) for a, b in zip(R, skew(r) @ R, strict=True)]
    return Vec([*upper, *(Vec((0.0, 0.0, 0.0, *row)) for row in R)])


@on_arrays(r="vector", p="unit quaternion", m="spatial vector")
def moved_motion(r: Vec, p: Vec, m: Vec) -> Vec:
    """A motion (..., 6) given in a frame at r, p, in the frame in which that is placed: v ← R v + r × R ω."""
    w = rotate(p, Vec(m[3:]))
    return Vec((*(rotate(p, Vec(m[:3])) + cross(r, w)), *w))


@on_arrays(r="vector", p="unit quaternion", f="spatial vector")
def moved_force(r: Vec, p: Vec, f: Vec) -> Vec:
    """A force and couple (..., 6) given in a frame at r, p, in the frame in which that is placed: n ← R n + r × R f."""
    force = rotate(p, Vec(f[:3]))
    return Vec((*force, *(rotate(p, Vec(f[3:])) + cross(r, force))))


@on_arrays(r="vector", p="unit quaternion", inertia="spatial matrix")
def moved_inertia(r: Vec, p: Vec, inertia: Vec) -> Vec:
    """A spatial inertia (..., 6, 6) given in a frame at r, p, in the frame in which that is placed: X⁻ᵀ I X⁻¹."""
    X = adjoint(*inverted(r, p))
    return symmetric(X.T @ inertia @ X)


@on_arrays(mass="scalar", center="vector", inertia="matrix")
def spatial_inertia(mass: Scalar, center: Vec, inertia: Vec) -> Vec:
    """The spatial inertia (..., 6, 6) of a body about the origin of its frame: [[m, −m c̃], [m c̃, J − m c̃ c̃]].

    mass     (...)        kg
    center   (..., 3)     m
    inertia  (..., 3, 3)  J, about the mass centre, kg m²
    """
    C = mass * skew(center)
    upper = [Vec((*a, *b)) for a, b in zip(mass * identity(3), -C, strict=True)]
    lower = [Vec((*a, *b)) for a, b in zip(C, inertia - C @ skew(center), strict=True)]
    return Vec([*upper, *lower])


@on_arrays(r="vector", p="unit quaternion")
def transform(r: Vec, p: Vec) -> Vec:
    """The homogeneous matrix [[R, r], [0, 1]] (..., 4, 4) of a pose."""
    rows = [Vec((*row, x)) for row, x in zip(rotation_matrix(p), r, strict=True)]
    return Vec([*rows, vec(0.0, 0.0, 0.0, 1.0)])


@on_arrays(matrix="transform")
def from_transform(matrix: Vec) -> tuple[Vec, Vec]:
    """The position (..., 3) and the quaternion (..., 4) of a homogeneous matrix (..., 4, 4)."""
    return Vec([row[3] for row in matrix[:3]]), from_matrix(Vec([Vec(row[:3]) for row in matrix[:3]]))


@on_arrays(r="vector", p="unit quaternion")
def dual_quaternion(r: Vec, p: Vec) -> Vec:
    """The unit dual quaternion p + ε ½ (0, r)∘p of a pose: (..., 8), its real part first."""
    return Vec((*p, *(product(pure(r), p) / 2)))


@on_arrays(dual="unit dual quaternion")
def from_dual_quaternion(dual: Vec) -> tuple[Vec, Vec]:
    """The position (..., 3) and the quaternion (..., 4) of a unit dual quaternion (..., 8)."""
    p = Vec(dual[:4])
    return 2 * Vec(product(Vec(dual[4:]), conjugate(p))[1:]), p


@on_arrays(a="vector", p="unit quaternion", b="vector", q="unit quaternion", s="scalar")
def screw_between(a: Vec, p: Vec, b: Vec, q: Vec, s: Scalar) -> tuple[Vec, Vec]:
    """The pose at s between two, along the screw motion from one (s = 0) to the other (s = 1)."""
    return composed(a, p, *exp6(s * log6(*composed(*inverted(a, p), b, q))))


@on_arrays(a="vector", p="unit quaternion", b="vector", q="unit quaternion", s="scalar")
def decoupled_between(a: Vec, p: Vec, b: Vec, q: Vec, s: Scalar) -> tuple[Vec, Vec]:
    """The pose at s between two: the position on a straight line, the attitude at a constant rate."""
    return a + s * (b - a), slerp(p, q, s)
