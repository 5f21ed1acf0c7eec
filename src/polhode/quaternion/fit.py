"""The attitude that fits given data best: directions known in body and space axes, axes, a matrix."""

from typing import NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.quaternion.algebra import normalise, product
from polhode.quaternion.rotation import exp, from_axis_angle, from_matrix, from_two_vectors, rotate, rotation_matrix
from polhode.quaternion.signs import canonical
from polhode.scalar import Array, Vec, as_array, batch_shape, checked, checked_real, cross, length, on_arrays, vec

UNIQUE = 1e-12
"""Least gap between the two largest eigenvalues, relative to the data, with which an attitude counts as determined: at
it rounding already turns the attitude by 1e-4 rad."""

REFINEMENTS = 2
"""Newton steps after the eigenvector: the second squares what the first left of pairs with weights 1e10 apart."""


class AttitudeFit(NamedTuple):
    """An attitude from pairs of vectors, as `wahba` gives it.

    attitude    (..., 4)     e0 ≥ 0
    loss        (...)        ½ Σ w ‖s − A b‖², without a pair of infinite weight
    covariance  (..., 3, 3)  of the rotation vector of its error, body axes, rad², for weights 1/variance of the vectors
    """

    attitude: np.ndarray
    loss: np.ndarray
    covariance: np.ndarray


def wahba(body: Array, space: Array, weights: Array | None = None) -> AttitudeFit:
    """The attitude A that takes vectors in body axes nearest to the same vectors in space axes (Wahba's problem).

        smallest ½ Σ w ‖s − A b‖²; p is the eigenvector of Davenport's matrix K of B = Σ w s bᵀ for its largest
        eigenvalue; covariance (tr S I − S)⁻¹, S the symmetric part of Aᵀ B                  Markley & Crassidis (2014)

    At least two directions are needed; for a single pair see `from_two_vectors`. One weight may be infinite: that pair
    is met exactly, the others turn the body about it.

    body, space  (..., n, 3)  of any length
    weights      (..., n)     not negative; 1/σ² of the components of s − A b for the covariance. None: all 1

    >>> import polhode as ph
    >>> fit = ph.quaternion.wahba([[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [-1, 0, 0]])
    >>> round(ph.quaternion.axis_angle(fit.attitude).angle, 4)
    1.5708
    """
    pairs = _pairs("quaternion.wahba", body, space, weights)
    return _about_one(*pairs) if np.any(np.isinf(pairs[2])) else _by_eigenvector(*pairs)


def nearest_rotation(M: Array) -> np.ndarray:
    """The attitude whose rotation matrix is nearest to a matrix, in the sum of squares of their difference.

    Matrices without a unique nearest one (of rank 1, the reflection −I) are an error.

    M   (..., 3, 3)
    ->  (..., 4)  e0 ≥ 0

    >>> import polhode as ph
    >>> p = ph.quaternion.nearest_rotation([[0, -2, 0], [2, 0, 0], [0, 0, 2.1]])
    >>> round(ph.quaternion.axis_angle(p).angle, 4)
    1.5708
    """
    where = "quaternion.nearest_rotation"
    B = checked_real(f"{where}, argument M", M, "matrix")
    size = np.max(abs(B), axis=(-1, -2))
    return _largest(where, B, size, "this matrix", "Has it rank 1, or is it near −I?")


def from_two_axes(x: Array, y: Array) -> Array:
    """The attitude whose body x axis points along x, and whose y axis is as near to y as that allows.

    Of a matrix, or of six numbers, it makes a rotation by Gram and Schmidt's method: pass the first two columns.

    x, y  (..., 3)  space axes, not zero, not parallel
    ->    (..., 4)
    """
    _check_across("quaternion.from_two_axes", x, y)
    return from_matrix(_triad(x, y))


def from_two_pairs(body: Array, space: Array, body2: Array, space2: Array) -> Array:
    """The attitude that takes one direction exactly to another, and a second one as near as that allows (TRIAD).

    `wahba` weighs the two instead.

    body, space    (..., 3)  the first direction in body and space axes, not zero
    body2, space2  (..., 3)  the second, not parallel to the first
    ->             (..., 4)

    >>> import polhode as ph
    >>> ph.quaternion.from_two_pairs([1, 0, 0], [0, 0, 2], [0, 1, 0], [0, 1, 1]).round(4).tolist()
    [0.7071, 0.0, -0.7071, 0.0]
    """
    _check_across("quaternion.from_two_pairs, arguments body", body, body2)
    _check_across("quaternion.from_two_pairs, arguments space", space, space2)
    return _from_triads(_triad(body, body2), _triad(space, space2))


@on_arrays(x="direction", y="direction")
def _triad(x: Vec, y: Vec) -> Vec:
    """The rotation matrix with x along its first column and y in the plane of the first two."""
    e1 = x / length(x)
    e3 = cross(e1, y)
    e3 = e3 / length(e3)
    return vec(e1, cross(e3, e1), e3).T


@on_arrays(b="matrix", s="matrix")
def _from_triads(b: Vec, s: Vec) -> Vec:
    return from_matrix(s @ b.T)


def _check_across(where: str, x: Array, y: Array) -> None:
    if isinstance(x, Vec) or isinstance(y, Vec):
        return
    a, b = checked(where, x, "direction"), checked(where, y, "direction")
    batch_shape(where, {"first": a.shape[:-1], "second": b.shape[:-1]})
    a, b = (v / np.sqrt(np.sum(v * v, axis=-1, keepdims=True)) for v in (a, b))
    c = np.cross(a, b)
    sine = np.sqrt(np.sum(c * c, axis=-1))
    if np.any(sine < UNIQUE):
        fix = "They leave the rotation about them open: see quaternion.from_two_vectors."
        found, expected = f"sine {np.min(sine):.3g} of their angle", f"at least {UNIQUE:g}"
        raise InputError(message(where, "parallel directions", found, expected, fix))


def _pairs(where: str, body: Array, space: Array, weights: Array | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    b, s = (checked_real(f"{where}, argument {n}", x, "vector") for n, x in (("body", body), ("space", space)))
    if b.ndim < 2 or s.ndim < 2 or b.shape[-2] != s.shape[-2] or b.shape[-2] < 2:
        found = f"body {b.shape}, space {s.shape}"
        fix = "For one pair see quaternion.from_two_vectors."
        raise InputError(message(where, "no pairs of vectors", found, "(..., n, 3) both, n ≥ 2", fix))
    n = b.shape[-2]
    w = as_array(f"{where}, argument weights", np.ones(n) if weights is None else weights, (n,), finite=False)
    shapes = {"body": b.shape[:-2], "space": s.shape[:-2], "weights": w.shape[:-1]}
    batch = batch_shape(where, shapes)
    exact = np.sum(np.isinf(w), axis=-1)
    if np.any(np.isnan(w)) or np.any(w < 0) or np.any(exact > 1) or (np.any(exact) and not np.all(exact)):
        expected = "numbers from 0, of which one, in every case of a batch or in none, may be infinite"
        raise InputError(message(f"{where}, argument weights", "not weights", str(w)[:80], expected))
    return np.broadcast_to(b, (*batch, n, 3)), np.broadcast_to(s, (*batch, n, 3)), np.broadcast_to(w, (*batch, n))


def _by_eigenvector(b: np.ndarray, s: np.ndarray, w: np.ndarray) -> AttitudeFit:
    B = np.einsum("...n,...ni,...nj->...ij", w, s, b)
    size = np.einsum("...n,...n,...n->...", w, np.linalg.norm(s, axis=-1), np.linalg.norm(b, axis=-1))
    fix = "Are all directions parallel? They leave the rotation about them open: see quaternion.from_two_vectors."
    p = _largest("quaternion.wahba", B, size, "these pairs", fix)
    for _ in range(REFINEMENTS):
        p = _refined(p, B, b, s, w)
    p = canonical(p)
    return AttitudeFit(p, _loss(p, b, s, w), np.linalg.inv(_hessian(np.swapaxes(rotation_matrix(p), -1, -2) @ B)))


def _hessian(S: np.ndarray) -> np.ndarray:
    """The second derivative of the loss by a small rotation, tr S I − S of the symmetric part of S."""
    S = (S + np.swapaxes(S, -1, -2)) / 2
    return np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S


def _refined(p: np.ndarray, B: np.ndarray, b: np.ndarray, s: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A Newton step from p, by the rotation δ in space axes with (tr S I − S) δ = Σ w (A b) × s, S of B Aᵀ.

    The eigenvector is accurate to rounding of the largest weight; the products here, of what A b has across s, to
    rounding of each.
    """
    a = rotate(p[..., None, :], b)
    ss = np.sum(s * s, axis=-1, keepdims=True)
    across = a - np.sum(a * s, axis=-1, keepdims=True) / np.where(ss == 0, 1.0, ss) * s
    slope = np.sum(w[..., None] * np.cross(across, s), axis=-2)
    step = np.linalg.solve(_hessian(B @ np.swapaxes(rotation_matrix(p), -1, -2)), slope[..., None])[..., 0]
    return normalise(product(exp(step / 2), p))


def _largest(where: str, B: np.ndarray, size: np.ndarray, what: str, fix: str) -> np.ndarray:
    """The unit quaternion of the rotation R with the largest tr(Rᵀ B): an eigenvector of Davenport's K."""
    t = np.trace(B, axis1=-2, axis2=-1)
    z = np.stack([B[..., 2, 1] - B[..., 1, 2], B[..., 0, 2] - B[..., 2, 0], B[..., 1, 0] - B[..., 0, 1]], axis=-1)
    K = np.empty((*B.shape[:-2], 4, 4))
    K[..., 0, 0] = t
    K[..., 0, 1:] = K[..., 1:, 0] = z
    K[..., 1:, 1:] = B + np.swapaxes(B, -1, -2) - t[..., None, None] * np.eye(3)
    values, vectors = np.linalg.eigh(K)
    gap = values[..., 3] - values[..., 2]
    bad = ~(gap > UNIQUE * size)
    if np.any(bad):
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        found = f"largest eigenvalues {values[place][3]:.6g} and {values[place][2]:.6g}"
        found += f" at index {place}" if place else ""
        raise InputError(message(where, f"several attitudes fit {what} alike", found, "one alone", fix))
    return canonical(vectors[..., :, 3])


def _about_one(b: np.ndarray, s: np.ndarray, w: np.ndarray) -> AttitudeFit:
    """One pair, of infinite weight, is met exactly; the others give the angle about it."""
    first = np.argmax(np.isinf(w), axis=-1)[..., None, None]
    b1, s1 = (np.take_along_axis(x, first, axis=-2)[..., 0, :] for x in (b, s))
    others = np.where(np.isinf(w), 0.0, w)
    p1 = from_two_vectors(b1, s1)
    axis = (s1 / np.linalg.norm(s1, axis=-1, keepdims=True))[..., None, :]
    c = rotate(p1[..., None, :], b)
    along = np.sum(c * axis, axis=-1) * np.sum(s * axis, axis=-1)
    cosine = np.sum(others * (np.sum(c * s, axis=-1) - along), axis=-1)
    sine = np.sum(others * np.sum(axis * np.cross(c, s), axis=-1), axis=-1)
    size = np.hypot(sine, cosine)
    scale = np.sum(others * np.linalg.norm(s, axis=-1) * np.linalg.norm(b, axis=-1), axis=-1)
    if np.any(~(size > UNIQUE * scale)):
        fix = "The other pairs leave the rotation about the first open: see quaternion.from_two_vectors."
        where, found = "quaternion.wahba", f"{np.min(size):.3g} of {np.max(scale):.3g} across the exact pair"
        raise InputError(message(where, "several attitudes fit these pairs alike", found, "more than nothing", fix))
    p = canonical(product(from_axis_angle(axis[..., 0, :], np.arctan2(sine, cosine)), p1))
    e = b1 / np.linalg.norm(b1, axis=-1, keepdims=True)
    covariance = e[..., :, None] * e[..., None, :] / size[..., None, None]
    return AttitudeFit(p, _loss(p, b, s, others), covariance)


def _loss(p: np.ndarray, b: np.ndarray, s: np.ndarray, w: np.ndarray) -> np.ndarray:
    miss = s - rotate(p[..., None, :], b)
    return np.sum(w * np.sum(miss * miss, axis=-1), axis=-1) / 2
