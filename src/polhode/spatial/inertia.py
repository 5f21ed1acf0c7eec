"""Mass moments of rigid bodies, on generic scalars; inertias checked where they enter."""

from typing import NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.scalar import Array, Scalar, Vec, as_array, identity, is_zero, on_arrays, outer, trace
from polhode.spatial.frames import Placement

TRIANGLE_TOLERANCE = 1e-9
"""The largest principal moment may exceed the sum of the others by this part of itself."""


class Inertia(NamedTuple):
    """A body's mass moments about the origin of its frame, in its axes."""

    mass: Scalar
    """m"""
    first: Vec
    """h = ∫ρ dm = m c"""
    second: Vec
    """Σ = ∫ρ ρᵀ dm = Π + m c cᵀ, 3×3"""


def symmetric(M: Vec) -> Vec:
    """A matrix that is symmetric but for rounding, from its upper half."""
    return Vec([Vec([M[min(i, j)][max(i, j)] for j in range(len(M))]) for i in range(len(M))])


def congruence(R: Vec, S: Vec) -> Vec:
    """R S Rᵀ of a rotation R and a symmetric matrix S, symmetric to the last bit."""
    return symmetric(turned(R, S))


def turned(R: Vec, M: Vec) -> Vec:
    """R M Rᵀ of a rotation R and a matrix M, 3×3; with half the products where R takes a coordinate axis to another.

    In the planes across these axes R has the rows a = (x, y) and b = σ (−y, x), and with x² + y² = 1

        M'_aa = M_pp − y w,  M'_bb = M_qq + y w,  M'_ab = −σ (x w + M_qp),  M'_ba = −σ (x w + M_pq),
        w = y (M_pp − M_qq) − x (M_pq + M_qp)
    """
    axes = _kept_axis(R)
    if axes is None:
        return R @ M @ R.T
    i, k = axes
    (a, b), (p, q) = ([n for n in range(3) if n != axis] for axis in axes)
    x, y, one = R[a][p], R[a][q], R[i][k]
    sigma = one if (i + k) % 2 == 0 else -one  # the determinant of R is 1
    w = y * (M[p][p] - M[q][q]) - x * (M[p][q] + M[q][p])
    along, across = y * w, x * w
    found = [[M[k][k]] * 3 for _ in range(3)]
    found[a][a], found[b][b] = M[p][p] - along, M[q][q] + along
    found[a][b], found[b][a] = -sigma * (across + M[q][p]), -sigma * (across + M[p][q])
    for n in (a, b):
        found[n][i] = one * (R[n][p] * M[p][k] + R[n][q] * M[q][k])
        found[i][n] = one * (R[n][p] * M[k][p] + R[n][q] * M[k][q])
    return Vec([Vec(row) for row in found])


def _kept_axis(R: Vec) -> tuple[int, int] | None:
    """Row and column of a number of a rotation that is known to be 1 or −1; None where there is none."""
    for i, row in enumerate(R):
        places = [k for k, x in enumerate(row) if not is_zero(x)]
        if len(places) == 1 and is_zero(row[places[0]] * row[places[0]] - 1.0):
            return i, places[0]
    return None


def moved(at: Placement, body: Inertia) -> Inertia:
    """The mass moments of a body about the origin of the frame in which it is placed, in that frame's axes."""
    h = at.R @ body.first
    cross_terms = outer(h, at.r) + outer(at.r, h) + body.mass * outer(at.r, at.r)
    return Inertia(body.mass, h + body.mass * at.r, congruence(at.R, body.second) + cross_terms)


def joined(a: Inertia, b: Inertia) -> Inertia:
    """The mass moments of two bodies as one."""
    return Inertia(a.mass + b.mass, a.first + b.first, a.second + b.second)


@on_arrays(J="matrix")
def planar_inertia(J: Vec) -> Vec:
    """The planar inertia of a body.

        Π = ∫ ρ ρᵀ dm = ½ tr(J) I − J                                              Zoric (128)

    J   (..., 3, 3)  about the point from which ρ is measured, kg m²
    ->  (..., 3, 3)
    """
    return trace(J) / 2 * identity(3) - J


def as_inertia(where: str, value: Array, physical: bool = True) -> np.ndarray:
    """An inertia matrix (..., 3, 3) from three principal moments or from matrices, checked.

    Symmetric and positive definite; unless `physical` is False, A + B ≥ C (1 − 1e-9) for the
    principal moments A ≤ B ≤ C. Raises an InputError otherwise.
    """
    array = as_array(where, value, ())
    if array.shape == (3,):
        array = np.diag(array)
    array = as_array(where, array, (3, 3))
    if array.dtype.kind != "f":
        return array
    size = np.max(abs(array), initial=0.0)
    skewness = np.max(abs(array - np.swapaxes(array, -1, -2)), initial=0.0)
    if skewness > 1e-9 * size:
        raise InputError(
            message(where, "inertia is not symmetric", f"a difference of {skewness:.3g} across the diagonal", "none")
        )
    for moments in np.linalg.eigvalsh(array).reshape(-1, 3):
        _check_moments(where, moments, physical)
    return array


def _check_moments(where: str, moments: np.ndarray, physical: bool) -> None:
    smallest, middle, largest = moments
    shown = "principal moments " + ", ".join(f"{m:.6g}" for m in moments) + " kg m²"
    if smallest <= 1e-14 * abs(largest):
        raise InputError(
            message(
                where,
                "inertia is not positive definite",
                shown,
                "all above 0, or the rotation is not determined",
            )
        )
    if physical and smallest + middle < largest * (1 - TRIANGLE_TOLERANCE):
        raise InputError(
            message(
                where,
                "inertia is not that of a real body",
                shown,
                f"a largest one of at most the sum of the others ({smallest + middle:.6g})",
                "Was it given about a joint instead of the centre of mass?",
            )
        )
