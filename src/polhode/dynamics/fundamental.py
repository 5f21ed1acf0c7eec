"""The fundamental equation of constrained motion (Udwadia-Kalaba), for any mass matrix and constraints.

    minimise (a − a_u)ᵀ M (a − a_u)  subject to  A a = b,  a_u = M⁻¹Q
    M a = Q + M^{1/2}(A M^{−1/2})⁺(b − A a_u)                                  Udwadia (12), (45)

`constrained` is the equation on generic scalars; `solve` is the same on arrays, with every check.
M^{1/2} is never formed. With M = K Kᵀ and y = Kᵀa the problem is: the y nearest to K⁻¹Q among those
with B y = b, B = A K⁻ᵀ. Two orthogonal factorisations give its Moore-Penrose answer at any rank:

    P D⁻¹B = (L above dependent rows) U     the rows of B by their sizes D, basic ones first (P)
    P A = N (P A)₁,  Nᵀ = P₂ᵀ L₂ V          every row as a combination of the basic rows

Constraint forces stand on the right: M a = Q + Aᵀλ.
"""

from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.linalg.constrained import weighted_metric
from polhode.linalg.orthogonal import RowBasis, row_basis
from polhode.linalg.triangular import Triangle
from polhode.scalar import (
    Array,
    Scalar,
    Vec,
    as_array,
    batch_shape,
    dot,
    identity,
    is_real,
    maximum,
    shown,
    split,
    sqrt,
    square,
    stack,
    where,
)

TOLERANCE = 1e-10
"""Rank tolerance: remainder of a row after elimination, relative to its natural size; below it the row counts as
dependent."""

SYMMETRY = 1e-9
"""How far a mass matrix may be from symmetric and from ≥ 0, relative to its diagonal."""

NEARLY_SINGULAR = 1e-6
"""Smallest eigenvalue of M, scaled to unit diagonal, below which M + AᵀWA takes its place."""

MASSLESS = 1e-30
"""Coordinates with less mass than this part of the heaviest have none; they are scaled like the heaviest."""

ROUNDING = 64 * float(np.finfo(float).eps)
"""Eigenvalues below n times this, after scaling to unit diagonal, are 0."""


class Solution(NamedTuple):
    """A constrained motion.

    acceleration  (..., n)  a
    force         (..., n)  M a − Q = Aᵀλ, the constraint force
    multipliers   (..., m)  λ, the shortest of all that give this force
    rank          (...)     number of independent constraints
    redundant     (..., m)  the row takes part in a left null vector of A: its multiplier is not determined
    inconsistent  (...)     no a has A a = b; the answer is the least-squares one
    residual      (..., m)  A a − b
    """

    acceleration: Any
    force: Any
    multipliers: Any
    rank: Any
    redundant: Any
    inconsistent: Any
    residual: Any


# ── the equation on generic scalars ──────────────────────────────────────────────────────────────────


class Factors(NamedTuple):
    """All that depends on M and A alone."""

    K: Triangle  # the metric, K Kᵀ
    weights: Vec | None  # W, when the metric is M + AᵀWA
    sizes: Vec  # of the rows, basic rows first
    rows: RowBasis  # P D⁻¹ A K⁻ᵀ
    N: Vec  # P A = N (P A)₁
    columns: RowBasis  # of Nᵀ
    sharing: Vec  # > 0 for the rows in a left null vector


def _weights(M: Vec, A: Vec) -> Vec:
    """W that makes each row about as heavy as the coordinates it touches; 0 for a row of zeros."""
    mass = [abs(M[j][j]) for j in range(len(M))]
    heaviest = mass[0]
    for x in mass[1:]:
        heaviest = maximum(heaviest, x)
    nominal = where(heaviest > 0, heaviest, 1.0)
    mass = [where(x > MASSLESS * heaviest, x, nominal) for x in mass]
    reach = [dot(row, Vec([x / m for x, m in zip(row, mass, strict=True)])) for row in A]
    return Vec([where(abs(x) > 0, 1.0, 0.0) / where(abs(x) > 0, x, 1.0) for x in reach])


def _factors(M: Vec, A: Vec, tolerance: float, sizes: Vec | None, singular: bool) -> Factors:
    """Factor the metric, then the rows in it, then the dependent rows by the basic ones."""
    W = _weights(M, A) if singular else None
    K = Triangle.root(M if W is None else weighted_metric(M, A, W))
    B = [K.forward(row) for row in A]
    D = Vec([where(abs(s) > 0, s, 1.0) for s in (sizes or [sqrt(square(row)) for row in B])])
    rows = row_basis(Vec([row / s for row, s in zip(B, D, strict=True)]), tolerance)
    D = rows.P @ D

    # every row by the basic rows: N = [I; C]; the left null vectors of A are [−C, I]
    k, N, pivots = len(rows.basis), [], rows.L.diagonal()
    sharing = [1.0 - x for x in rows.live] + [1.0] * (len(A) - k)
    for i, c in enumerate(rows.coefficients):
        dependent = 1.0 - rows.live[i] if i < k else 1.0
        C = [dependent * x for x in rows.L.leading(len(c)).backward(c)]
        for j, c_j in enumerate(C):
            present = abs(c_j * pivots[j]) > tolerance
            C[j] = where(present, c_j * D[i] / D[j], 0.0)
            sharing[j] = sharing[j] + where(present, 1.0, 0.0)
        N.append(Vec([*C, *([rows.live[i]] if i < k else []), *([0.0] * (k - i - 1))]))
    columns = row_basis(Vec(N).T, 0.5)  # the singular values of [I; C] are ≥ 1
    return Factors(K, W, D, rows, Vec(N), columns, rows.P.T @ Vec(sharing))


def _motion(F: Factors, A: Vec, Q: Vec, b1: Vec) -> tuple[Vec, Vec, Vec, Scalar]:
    """a, force, multipliers of the basic rows, and the size of y, when the basic rows of A a have the values b1.

    y = (I − UᵀU) y₀ + Uᵀz,  y₀ = K⁻¹Q,  z = L⁻¹D⁻¹b₁;   M a − Q = K Uᵀη = (P A)₁ᵀμ,  η = z − U y₀,  μ = D⁻¹L⁻ᵀη
    """
    U, L, D = F.rows.basis, F.rows.L, F.sizes[: len(b1)]
    if F.weights is not None:
        Q = Q + Vec([w * x for w, x in zip(F.weights, F.rows.P.T @ (F.N @ b1), strict=True)]) @ A
    y0 = free = F.K.forward(Q)
    z = eta = L.forward(Vec([x / d for x, d in zip(b1, D, strict=True)]))
    for _ in range(2):  # the second time removes what rounding left
        along = U @ free
        free, eta = free - along @ U, eta - along
    y = free + z @ U
    mu = Vec([x / d for x, d in zip(L.backward(eta), D, strict=True)])
    force = (mu @ Vec(F.rows.P[: len(mu)])) @ A
    return F.K.backward(y), force, mu, sqrt(square(y0)) + sqrt(square(y))


def _solution(
    F: Factors, M: Vec, Q: Vec, A: Vec, b: Vec, *, tolerance: float = TOLERANCE, refinements: int = 1
) -> Solution:
    """The motion for one Q and b."""
    rows, columns = F.rows, F.columns

    # the values of the basic rows that fit all rows best: b₁ + N⁺(b − N b₁)
    b_P = rows.P @ b
    b1 = Vec([x * live for x, live in zip(b_P, rows.live, strict=False)])
    rho = b_P - F.N @ b1
    b1 = b1 + columns.P.T @ columns.L.backward(columns.basis @ rho)

    a, force, mu, size = _motion(F, A, Q, b1)
    # again, for what is missing: forces that the constraints take up may dwarf those that move
    for _ in range(refinements):
        missing = Vec([x - live * y for x, live, y in zip(b1, rows.live, rows.P @ (A @ a), strict=False)])
        da, df, dmu, _ = _motion(F, A, Q + force - M @ a, missing)
        a, force, mu = a + da, force + df, mu + dmu
    lam = rows.P.T @ (columns.L.forward(columns.P @ mu) @ columns.basis)  # (Nᵀ)⁺μ

    gap: Scalar = 0.0
    for rho_i, d in zip(rho, F.sizes, strict=True):
        gap = maximum(gap, abs(rho_i / d))
    redundant = Vec([x > 0.5 for x in F.sharing])
    return Solution(a, force, lam, sum(rows.live), redundant, gap > tolerance * abs(size), A @ a - b)


def constrained(
    M: Vec,
    Q: Vec,
    A: Vec,
    b: Vec,
    *,
    tolerance: float = TOLERANCE,
    sizes: Vec | None = None,
    singular: bool = False,
    refinements: int = 1,
) -> Solution:
    """The constrained motion, on generic scalars and unchecked.

        M a = Q + M^{1/2}(A M^{−1/2})⁺(b − A M⁻¹Q)                              Udwadia (12), (45)

    M, Q, A, b        n×n, n, m×n (any rank, m ≥ 0), m
    tolerance, sizes  as in `solve`
    singular          use the metric M + AᵀWA, for M ≥ 0 that is not, or hardly, positive definite
    refinements       how often to solve again for what rounding left: 0 for symbols, 2 if M is singular
    ->                `Solution`; `rank` counts in floats
    """
    if not A:  # no constraints
        return Solution(unconstrained(M, Q), 0.0 * Q, Vec(), 0.0, Vec(), False, Vec())
    F = _factors(M, A, tolerance, sizes, singular)
    return _solution(F, M, Q, A, b, tolerance=tolerance, refinements=refinements)


def unconstrained(M: Vec, Q: Vec) -> Vec:
    """a_u = M⁻¹Q on generic scalars, unchecked, for M > 0.                        Udwadia (13)"""
    K = Triangle.root(M)
    return K.backward(K.forward(Q))


# ── the equation on arrays ───────────────────────────────────────────────────────────────────────────


def solve(
    M: Array, Q: Array, A: Array, b: Array, *, tolerance: float = TOLERANCE, sizes: Array | None = None
) -> Solution:
    """The motion of a system with mass matrix M and forces Q under the constraints A a = b.

        M a = Q + M^{1/2}(A M^{−1/2})⁺(b − A a_u)                               Udwadia (12), (45)

    M may be singular as long as the motion is unique, rank [M; A] = n; otherwise an InputError names
    a free direction. Redundant rows are found and named; inconsistent ones give the least-squares
    answer and a flag.

    M          (..., n, n)  symmetric, ≥ 0
    Q          (..., n)     all forces but those of the constraints
    A          (..., m, n)  any rank; m may be 0 or exceed n
    b          (..., m)
    tolerance               rows that the others explain up to this part of their size are dependent
    sizes      (..., m)     natural size of each row of A K⁻ᵀ (M = K Kᵀ), before terms in it cancel;
                            default its length, 1 for a row of zeros
    ->                      `Solution`
    """
    place = "fundamental.solve"
    if not is_real(tolerance) or not 0 < tolerance < 1:
        raise InputError(message(f"{place}, argument tolerance", "out of range", shown(tolerance), "between 0 and 1"))
    given, batch, smallest = _arrays(place, M=M, Q=Q, A=A, b=b, sizes=sizes)
    singular = bool(np.any(smallest < NEARLY_SINGULAR))
    if singular:
        _check_unique(place, given["M"], given["A"], batch)
    found = constrained(**given, tolerance=tolerance, singular=singular, refinements=2 if singular else 1)
    arrays = Solution(*(_stacked(x, batch) for x in found))
    rank, inconsistent = np.asarray(arrays.rank, dtype=int), np.asarray(arrays.inconsistent)
    if not batch:
        rank, inconsistent = rank.item(), inconsistent.item()
    return arrays._replace(rank=rank, inconsistent=inconsistent, redundant=arrays.redundant.astype(bool))


def force_gain(M: Array, A: Array) -> np.ndarray:
    """The constraint force per unit of violation.

        M^{1/2}(A M^{−1/2})⁺                                                       Udwadia (18)

    M   (..., n, n)  symmetric, > 0
    A   (..., m, n)
    ->  (..., n, m)
    """
    given, batch, _ = _arrays("fundamental.force_gain", definite=True, M=M, A=A)
    M, A = given["M"], given["A"]
    if not A:
        return np.zeros((*batch, len(M), 0))
    F = _factors(M, A, TOLERANCE, None, False)
    no_force = Vec([0.0] * len(M))
    return stack(Vec([_solution(F, M, no_force, A, e).force for e in identity(len(A))]).T, batch)


def unconstrained_acceleration(M: Array, Q: Array) -> np.ndarray:
    """The acceleration without constraints.

        a_u = M⁻¹Q                                                                 Udwadia (13)

    M   (..., n, n)  symmetric, > 0
    Q   (..., n)
    ->  (..., n)
    """
    given, batch, _ = _arrays("fundamental.unconstrained_acceleration", definite=True, M=M, Q=Q)
    return stack(unconstrained(**given), batch)


def violation(M: Array, Q: Array, A: Array, b: Array) -> np.ndarray:
    """By how much the unconstrained motion misses the constraints.

        b − A a_u,  a_u = M⁻¹Q                                                     Udwadia (16)

    M, Q, A, b  as in `solve`, M > 0
    ->          (..., m)
    """
    given, batch, _ = _arrays("fundamental.violation", definite=True, M=M, Q=Q, A=A, b=b)
    a_u = unconstrained(given["M"], given["Q"])
    return _stacked(Vec([b_i - dot(row, a_u) for row, b_i in zip(given["A"], given["b"], strict=True)]), batch)


def _arrays(place: str, definite: bool = False, **given: Array) -> tuple[dict[str, Any], tuple[int, ...], np.ndarray]:
    """The arguments, checked, as vectors of scalars; their batch axes; the smallest eigenvalue of the scaled M."""
    labels = {name: f"{place}, argument {name}" for name, value in given.items() if value is not None}
    arrays = {name: as_array(label, given[name], ()) for name, label in labels.items()}
    n = arrays["M"].shape[-1] if arrays["M"].ndim else 1
    if "A" in arrays and arrays["A"].shape == (0,):  # a list without rows
        arrays["A"] = np.zeros((0, n))
    m = arrays["A"].shape[-2] if "A" in arrays and arrays["A"].ndim > 1 else 1
    if n == 0:
        raise InputError(message(labels["M"], "no coordinates", f"shape {arrays['M'].shape}", "(..., n, n), n ≥ 1"))
    shapes = {"M": (n, n), "Q": (n,), "A": (m, n), "b": (m,), "sizes": (m,)}
    arrays = {name: as_array(labels[name], x, shapes[name]) for name, x in arrays.items()}
    batch = batch_shape(place, {name: x.shape[: x.ndim - len(shapes[name])] for name, x in arrays.items()})
    if "sizes" in arrays and np.any(arrays["sizes"] < 0):
        raise InputError(message(labels["sizes"], "negative", f"{np.min(arrays['sizes']):.3g}", "sizes ≥ 0"))
    smallest = np.asarray(1.0)
    if arrays["M"].dtype.kind != "O":
        smallest = _smallest_eigenvalue(labels["M"], arrays["M"].real, definite)
        arrays["M"] = (arrays["M"] + arrays["M"].swapaxes(-1, -2)) / 2
    return {name: split(x, len(shapes[name])) for name, x in arrays.items()}, batch, smallest


def _unit_diagonal(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """d_i d_j M_ij with unit diagonal (0 for a massless coordinate), and d."""
    own = abs(np.diagonal(M, axis1=-2, axis2=-1))
    heaviest = own.max(axis=-1, keepdims=True)
    own = np.where(own > MASSLESS * heaviest, own, heaviest)
    d = 1 / np.sqrt(np.where(own > 0, own, 1.0))
    return d[..., :, None] * M * d[..., None, :], d


def _smallest_eigenvalue(label: str, M: np.ndarray, definite: bool) -> np.ndarray:
    """The smallest eigenvalue of M scaled to unit diagonal, or an InputError if M is no mass matrix."""
    scaled, _ = _unit_diagonal(M)
    skew = np.max(abs(scaled - scaled.swapaxes(-1, -2)), axis=(-1, -2))
    if np.any(bad := skew > SYMMETRY):
        found = f"M − Mᵀ up to {np.max(skew):.3g} of the diagonal{_index(bad)}"
        raise InputError(message(label, "not symmetric", found, f"at most {SYMMETRY:g}"))
    smallest = np.asarray(np.linalg.eigvalsh(scaled)[..., 0])
    found = "smallest eigenvalue {:.3g} after scaling to unit diagonal{}"
    if np.any(bad := smallest < -SYMMETRY):
        found = found.format(smallest[bad][0], _index(bad))
        raise InputError(message(label, "not ≥ 0", found, "eigenvalues ≥ 0", "Is a mass or an inertia negative?"))
    if definite and np.any(bad := smallest < ROUNDING * M.shape[-1]):
        found = found.format(smallest[bad][0], _index(bad))
        raise InputError(message(label, "singular", found, "eigenvalues > 0", "fundamental.solve takes such M."))
    return smallest


def _check_unique(place: str, M: Vec, A: Vec, batch: tuple[int, ...]) -> None:
    """The motion is unique if and only if rank [M; A] = n."""
    n = len(M)
    scaled, d = _unit_diagonal(stack(weighted_metric(M, A, _weights(M, A)) if A else M, batch).real)
    values, directions = np.linalg.eigh(scaled)
    rank = np.sum(values > ROUNDING * n, axis=-1)
    if np.any(rank < n):
        first = np.unravel_index(int(np.argmax(rank < n)), batch)
        free = d[first] * directions[first][:, 0]
        largest = sorted(i for i in np.argsort(-abs(free))[:6] if abs(free[i]) > 1e-9 * np.max(abs(free)))
        free = free / (np.linalg.norm(free) * np.sign(free[largest[0]]))
        along = ", ".join(f"{free[i]:.3g} of coordinate {i}" for i in largest)
        found = f"rank {rank[first]} of [M; A]{_index(rank < n)}: nothing resists or prescribes motion along {along}"
        fix = "Give this direction a mass or a constraint."
        raise InputError(message(place, "the motion is not unique", found, f"rank n = {n}", fix))


def _index(bad: np.ndarray) -> str:
    """Where in a batch the first fault is, in words."""
    return f" at index {tuple(int(i) for i in np.argwhere(bad)[0])}" if np.ndim(bad) else ""


def _stacked(x: Any, batch: tuple[int, ...]) -> Any:
    """`stack`, also of a vector without components."""
    return np.zeros((*batch, 0)) if isinstance(x, Vec) and not x else stack(x, batch)
