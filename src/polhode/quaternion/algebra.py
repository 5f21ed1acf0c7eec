"""Quaternions as numbers: sum, product, conjugate, norm, and the matrices of the product.

Hamilton's convention, scalar first: p = (e0, e). Nothing here asks for a unit norm.
"""

from polhode.scalar import Scalar, Vec, cross, dot, identity, on_arrays, outer, sqrt, square, vec

IDENTITY = vec(1.0, 0.0, 0.0, 0.0)
"""The unit of the product, and the attitude without rotation."""


@on_arrays(a="quaternion", b="quaternion")
def add(a: Vec, b: Vec) -> Vec:
    """Sum of two quaternions, component by component.            Schwab-Meijaard (22), Schwab (1)

    a, b  (..., 4)
    ->    (..., 4)
    """
    return a + b


@on_arrays(a="quaternion", b="quaternion")
def product(a: Vec, b: Vec) -> Vec:
    """Hamilton's product of two quaternions.

        a∘b = (a0 b0 − a·b, a0 b + b0 a + a × b)                  Schwab-Meijaard (23), Schwab (2)

    As rotations, b acts first: (a∘b) turns x into a∘(b∘x∘b*)∘a*.

    a, b  (..., 4)
    ->    (..., 4)
    """
    a0, a_ = a[0], Vec(a[1:])
    b0, b_ = b[0], Vec(b[1:])
    return Vec((a0 * b0 - dot(a_, b_), *(a0 * b_ + b0 * a_ + cross(a_, b_))))


@on_arrays(p="quaternion")
def conjugate(p: Vec) -> Vec:
    """p* = (e0, −e): for a unit quaternion, the opposite rotation.

    p   (..., 4)
    ->  (..., 4)
    """
    e0, e1, e2, e3 = p
    return vec(e0, -e1, -e2, -e3)


@on_arrays(p="quaternion")
def squared_norm(p: Vec) -> Scalar:
    """N(p) = p·p                                                              Udwadia (3)

    p   (..., 4)
    ->  (...)
    """
    return square(p)


@on_arrays(p="quaternion")
def norm(p: Vec) -> Scalar:
    """‖p‖ = √(p·p), 1 for a rotation.                       Sherif (3), (4); Schwab-Meijaard (30)

    p   (..., 4)
    ->  (...)
    """
    return sqrt(square(p))


@on_arrays(p="nonzero quaternion")
def inverse(p: Vec) -> Vec:
    """p⁻¹ = p*/N(p), so that p∘p⁻¹ = 1.

    p   (..., 4)  not zero
    ->  (..., 4)
    """
    return conjugate(p) / square(p)


@on_arrays(p="nonzero quaternion")
def normalise(p: Vec) -> Vec:
    """p/‖p‖, the nearest unit quaternion.                               text at Schwab-Meijaard (46)

    p   (..., 4)  not zero
    ->  (..., 4)
    """
    return p / sqrt(square(p))


@on_arrays(x="vector")
def pure(x: Vec) -> Vec:
    """The quaternion (0, x) of a vector.

    x   (..., 3)
    ->  (..., 4)
    """
    return Vec((0.0, *x))


@on_arrays(p="quaternion")
def vector_part(p: Vec) -> Vec:
    """e of p = (e0, e).

    p   (..., 4)
    ->  (..., 3)
    """
    return Vec(p[1:])


@on_arrays(x="vector")
def skew(x: Vec) -> Vec:
    """The matrix x̃ with x̃ v = x × v.                                               Sherif (6)

    x   (..., 3)
    ->  (..., 3, 3)
    """
    x1, x2, x3 = x
    return vec(vec(0.0, -x3, x2), vec(x3, 0.0, -x1), vec(-x2, x1, 0.0))


@on_arrays(x="vector", y="vector")
def skew_square(x: Vec, y: Vec) -> Vec:
    """The matrix x̃ ỹ = y xᵀ − (x·y) I with x̃ ỹ v = x × (y × v).

    x, y  (..., 3)
    ->    (..., 3, 3)
    """
    return outer(y, x) - dot(x, y) * identity(3)


@on_arrays(S="matrix")
def unskew(S: Vec) -> Vec:
    """The vector x whose matrix x̃ is the skew part of S.                       Sherif (6), inverted

    S   (..., 3, 3)
    ->  (..., 3)
    """
    return vec(S[2][1] - S[1][2], S[0][2] - S[2][0], S[1][0] - S[0][1]) / 2


@on_arrays(p="quaternion")
def Q(p: Vec) -> Vec:
    """Left product matrix: a∘b = Q(a) b. Linear, so Q̇ = Q(ṗ).   Schwab-Meijaard (24), Schwab (3)

    Q = [p, Lᵀ] = Eᵀ.

    p   (..., 4)
    ->  (..., 4, 4)
    """
    e0, e1, e2, e3 = p
    return vec(vec(e0, -e1, -e2, -e3), vec(e1, e0, -e3, e2), vec(e2, e3, e0, -e1), vec(e3, -e2, e1, e0))


@on_arrays(p="quaternion")
def Qbar(p: Vec) -> Vec:
    """Right product matrix: b∘a = Q̄(a) b. Linear, so its rate is Q̄(ṗ).   Schwab-Meijaard (24)

    Q̄ = [p, Gᵀ].

    p   (..., 4)
    ->  (..., 4, 4)
    """
    e0, e1, e2, e3 = p
    return vec(vec(e0, -e1, -e2, -e3), vec(e1, e0, e3, -e2), vec(e2, -e3, e0, e1), vec(e3, e2, -e1, e0))


@on_arrays(p="quaternion")
def E(p: Vec) -> Vec:
    """E = [pᵀ; L], orthogonal for a unit p; E(p) = Q(p)ᵀ. Linear, so Ė = E(ṗ).     Udwadia (2)

    p   (..., 4)
    ->  (..., 4, 4)
    """
    return Vec((p, *L(p)))


@on_arrays(p="quaternion")
def L(p: Vec) -> Vec:
    """L = [−e, e0 I − ẽ], the body side: ω = 2 L ṗ. Linear, so L̇ = L(ṗ).            Sherif (9)

    Udwadia's E₁.

    p   (..., 4)
    ->  (..., 3, 4)
    """
    e0, e1, e2, e3 = p
    return vec(vec(-e1, e0, e3, -e2), vec(-e2, -e3, e0, e1), vec(-e3, e2, -e1, e0))


@on_arrays(p="quaternion")
def G(p: Vec) -> Vec:
    """G = [−e, e0 I + ẽ], the space side: ω_s = 2 G ṗ. Linear, so Ġ = G(ṗ).          Sherif (8)

    p   (..., 4)
    ->  (..., 3, 4)
    """
    e0, e1, e2, e3 = p
    return vec(vec(-e1, e0, -e3, e2), vec(-e2, e3, e0, -e1), vec(-e3, -e2, e1, e0))


@on_arrays(u="vector")
def H(u: Vec) -> Vec:
    """H = [0, −uᵀ; u, −ũ] = Q̄(0, u), skew. Constant for a body point u.             Sherif (67)

    u   (..., 3)
    ->  (..., 4, 4)
    """
    return Qbar(pure(u))
