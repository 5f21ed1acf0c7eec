"""Plain NumPy versions of the basic facts, written from definitions: the oracle of the law tests.

Nothing here calls the package.
"""

import numpy as np

# i² = j² = k² = ijk = −1, as structure constants: (a∘b)_k = Σ TABLE[i, j, k] a_i b_j
TABLE = np.zeros((4, 4, 4))
for _i in range(4):
    TABLE[0, _i, _i] = TABLE[_i, 0, _i] = 1
for _i in (1, 2, 3):
    TABLE[_i, _i, 0] = -1
for _i, _j, _k in [(1, 2, 3), (2, 3, 1), (3, 1, 2)]:
    TABLE[_i, _j, _k], TABLE[_j, _i, _k] = 1, -1


def ham(a, b):
    """Hamilton's product, from its table."""
    return np.einsum("ijk,...i,...j->...k", TABLE, a, b)


def star(p):
    return np.asarray(p) * np.array([1, -1, -1, -1])


def pure(x):
    return np.concatenate([np.zeros((*np.shape(x)[:-1], 1)), x], axis=-1)


def turn(p, x):
    """x turned by p: vector part of p∘(0, x)∘p*."""
    return ham(ham(p, pure(x)), star(p))[..., 1:]


def matrix(p):
    """Columns: the turned unit vectors."""
    return np.stack([turn(p, e) for e in np.eye(3)], axis=-1)


def matrix_normalised(p):
    """The rotation matrix of p/‖p‖; analytic in p, for complex steps."""
    return matrix(p) / np.sum(np.asarray(p) ** 2)


def skew(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def omega(p, pdot):
    """Body angular velocity from ω̃ = Aᵀ Ȧ, by a complex step along ṗ."""
    h = 1e-30
    A = matrix_normalised(p)
    Adot = np.imag(matrix_normalised(p + 1j * h * pdot)) / h
    S = A.T @ Adot
    return np.array([S[2, 1], S[0, 2], S[1, 0]])


def pddot(p, pdot, J, n):
    """p̈ of Newton and Euler: ω̇ from J ω̇ + ω × J ω = n, then the product rule on ṗ = ½ p∘(0, ω)."""
    w = omega(p, pdot)
    alpha = np.linalg.solve(J, n - np.cross(w, J @ w))
    return (ham(pdot, pure(w)) + ham(p, pure(alpha))) / 2
