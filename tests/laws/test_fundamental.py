"""The fundamental equation of constrained motion against explicit formulas and its own laws."""

from typing import NamedTuple

import mpmath
import numpy as np
import pytest
import scipy.linalg
import sympy
from hypothesis import given, settings, strategies as st

from close import assert_close, complex_step
from indexing import equation
from polhode.dynamics import fundamental
from polhode.errors import InputError
from polhode.scalar import Vec, split
from strategies import inertias, quaternions, states, vectors

SINGULAR_VALUES = (0.3, 3.0)
"""Of every nonsingular part of a random M or A."""

CUT = 1e-8
"""Singular values of the oracles below this part of the largest are 0."""


class Problem(NamedTuple):
    M: np.ndarray
    Q: np.ndarray
    A: np.ndarray
    b: np.ndarray


# ── random problems ──────────────────────────────────────────────────────────────────────────────────


def of_rank(rng, rows, columns, rank):
    """A random matrix of this rank with singular values in a known range."""
    U, V = (scipy.linalg.qr(rng.normal(size=(size, size)))[0][:, :rank] for size in (rows, columns))
    return U * rng.uniform(*SINGULAR_VALUES, rank) @ V.T


def mass_matrix(rng, n, rank):
    V = of_rank(rng, n, n, rank)
    return V @ V.T


generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def problems(draw, consistent=False, singular=False):
    """M > 0 (or M ≥ 0 with a unique motion), any A up to 7×5, any rank."""
    rng = draw(generators)
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 7))
    rank = draw(st.integers(0, min(m, n)))
    M, A = mass_matrix(rng, n, n), of_rank(rng, m, n, rank)
    if singular:  # massless along part of the row space of A
        _, _, V = np.linalg.svd(A)
        rest = V[draw(st.integers(min(1, rank), rank)) :]
        M = rest.T @ mass_matrix(rng, len(rest), len(rest)) @ rest
    b = A @ rng.normal(size=n) if consistent else rng.normal(size=m)
    return Problem((M + M.T) / 2, rng.normal(size=n), A, b)


def condition(problem):
    """Of the augmented matrix on its range."""
    M, _, A, _ = problem
    s = np.linalg.svd(np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]]), compute_uv=False)
    return s[0] / np.min(s[s > CUT * s[0]])


# ── independent answers ──────────────────────────────────────────────────────────────────────────────


def gain(M, A):
    """M^{1/2}(A M^{−1/2})⁺, literally."""
    root = np.real(scipy.linalg.sqrtm(M))
    return root @ np.linalg.pinv(A @ np.linalg.inv(root), rcond=CUT)


def motion(M, Q, A, b):
    """a and M a − Q from Udwadia (12), literally."""
    a_u = np.linalg.inv(M) @ Q
    force = gain(M, A) @ (b - A @ a_u)
    return a_u + np.linalg.inv(M) @ force, force


def motion_of_singular(M, Q, A, b):
    """a of Udwadia and Phohomsiri, with b replaced by the nearest consistent one."""
    inverse = np.linalg.pinv(A, rcond=CUT)
    stacked = np.vstack([(np.eye(len(M)) - inverse @ A) @ M, A])
    return np.linalg.pinv(stacked, rcond=CUT) @ np.concatenate([Q, A @ inverse @ b])


def left_null(A):
    """Rows that span the left null space of A."""
    U, s, _ = np.linalg.svd(A)
    return U[:, np.sum(s > CUT) :].T


def deviation(M, Q, a):
    """Gauss's (a − a_u)ᵀM(a − a_u)."""
    d = a - np.linalg.inv(M) @ Q
    return d @ M @ d


def E(p):
    """[pᵀ; L] of Udwadia (2), written out."""
    w, x, y, z = p
    return np.array([[w, x, y, z], [-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])


def J4(J, J0):
    return scipy.linalg.block_diag(J0, J)


# ── Udwadia's equations ──────────────────────────────────────────────────────────────────────────────


@equation("Udwadia 12, 45", of="dynamics.fundamental.solve")
@given(problems())
def test_motion_is_that_of_the_fundamental_equation(problem):
    """M a = Q + M^{1/2}(A M^{−1/2})⁺(b − A M⁻¹Q), any rank, b consistent or not; λ the shortest multipliers."""
    found = fundamental.solve(*problem)
    a, force = motion(*problem)
    kappa = condition(problem)
    assert_close(found.acceleration, a, kappa)
    assert_close(found.force, force, kappa)
    assert_close(found.multipliers, np.linalg.pinv(problem.A.T, rcond=CUT) @ force, kappa)
    assert_close(found.residual, problem.A @ a - problem.b, kappa)
    assert found.rank == np.linalg.matrix_rank(problem.A, tol=CUT)


@equation("Udwadia 18", of="dynamics.fundamental.force_gain")
@given(quaternions(), inertias(), st.floats(0.1, 10))
def test_force_gain_of_the_unit_sphere(p, J, J0):
    """M_u^{1/2}(pᵀM_u^{−1/2})⁺ = 4 J0 p for M_u = 4EᵀJ4E."""
    M = 4 * E(p).T @ J4(J, J0) @ E(p)
    assert_close(fundamental.force_gain(M, [p]), 4 * J0 * p[:, None], np.linalg.cond(M))


@given(problems())
def test_force_gain_is_the_weighted_inverse(problem):
    M, _, A, _ = problem
    assert_close(fundamental.force_gain(M, A), gain(M, A), condition(problem))


@equation("Udwadia 13", of="dynamics.fundamental.unconstrained_acceleration")
@given(states(), inertias(), st.floats(0.1, 10), vectors(4))
def test_unconstrained_acceleration_of_the_quaternion(state, J, J0, Gamma):
    """a_u = EᵀJ4⁻¹E(Γ/4 − 2ĖᵀJ4Eṗ − J0 N(ṗ)p)."""
    p, pdot = state
    M = 4 * E(p).T @ J4(J, J0) @ E(p)
    Q = Gamma - 8 * E(pdot).T @ J4(J, J0) @ E(p) @ pdot - 4 * J0 * (pdot @ pdot) * p
    expected = E(p).T @ np.linalg.inv(J4(J, J0)) @ E(p) @ Q / 4
    kappa = np.linalg.cond(M)
    assert_close(fundamental.unconstrained_acceleration(M, Q), expected, kappa, max(1.0, *abs(Q)))


@equation("Udwadia 16", of="dynamics.fundamental.violation")
@given(states(), inertias(), st.floats(0.1, 10), vectors(4))
def test_violation_of_the_unit_sphere(state, J, J0, Gamma):
    """b_u − A_u a_u = −(p·Γ/4 + ½ω·Jω)/J0."""
    p, pdot = state
    M = 4 * E(p).T @ J4(J, J0) @ E(p)
    Q = Gamma - 8 * E(pdot).T @ J4(J, J0) @ E(p) @ pdot - 4 * J0 * (pdot @ pdot) * p
    omega = 2 * E(p)[1:] @ pdot
    expected = -(p @ Gamma / 4 + omega @ J @ omega / 2) / J0
    found = fundamental.violation(M, Q, [p], [-pdot @ pdot])
    assert_close(found, [expected], np.linalg.cond(M), max(1.0, *abs(Q)) / min(J0, 1))


@given(states(), inertias(), vectors(), st.sampled_from([0.0, 1e-12, 1e-8, 1e-4, 1.0]))
def test_arbitrary_inertia_of_the_quaternion_does_not_matter(state, J, n, J0):
    """p̈ = ½LᵀJ⁻¹(n − ω × Jω) − N(ṗ)p and λ = −4T, Udwadia (42), also where J0 → 0 leaves M singular."""
    p, pdot = state
    L = E(p)[1:]
    omega = 2 * L @ pdot
    M = 4 * E(p).T @ J4(J, J0) @ E(p)
    Q = 2 * L.T @ n - 8 * E(pdot).T @ J4(J, J0) @ E(p) @ pdot - 4 * J0 * (pdot @ pdot) * p
    found = fundamental.solve(M, Q, [p], [-pdot @ pdot])
    expected = L.T @ np.linalg.inv(J) @ (n - np.cross(omega, J @ omega)) / 2 - pdot @ pdot * p
    kappa = 10 * np.linalg.cond(J)
    size = max(1.0, *abs(Q))  # p·ṗ = 0 up to rounding of numbers of size 1
    assert_close(found.acceleration, expected, kappa, size)
    assert_close(found.multipliers, [-2 * omega @ J @ omega], kappa, size)


# ── laws ─────────────────────────────────────────────────────────────────────────────────────────────


@given(problems(consistent=True))
def test_consistent_constraints_give_the_augmented_solution(problem):
    """[M, −Aᵀ; A, 0][a; λ] = [Q; b], its shortest solution."""
    M, Q, A, b = problem
    m, n = A.shape
    matrix = np.block([[M, -A.T], [A, np.zeros((m, m))]])
    expected = np.linalg.lstsq(matrix, np.concatenate([Q, b]), rcond=CUT)[0]
    found = fundamental.solve(*problem)
    assert_close(found.acceleration, expected[:n], condition(problem))
    assert_close(found.multipliers, expected[n:], condition(problem))
    assert_close(found.force, M @ found.acceleration - Q, condition(problem))
    assert not found.inconsistent


@given(problems(consistent=True), vectors(5))
def test_gauss_least_deviation(problem, x):
    """Another a with A a = b deviates more, by the square of the difference."""
    M, Q, A, _ = problem
    a = fundamental.solve(*problem).acceleration
    tangent = (np.eye(len(M)) - np.linalg.pinv(A, rcond=CUT) @ A) @ x[: len(M)]
    least = deviation(M, Q, a)
    assert_close(deviation(M, Q, a + tangent), least + tangent @ M @ tangent, condition(problem))


@given(problems())
def test_inconsistent_constraints_give_least_squares_and_are_flagged(problem):
    M, _, A, b = problem
    found = fundamental.solve(*problem)
    gap = left_null(A) @ b
    assert found.inconsistent == (np.max(abs(gap), initial=0.0) > CUT)
    assert_close(A.T @ found.residual, np.zeros(len(M)), condition(problem))
    assert_close(np.linalg.norm(found.residual), np.linalg.norm(gap), condition(problem))


@given(problems(singular=True))
def test_singular_mass_matrix_with_unique_motion(problem):
    """a = [(I − A⁺A)M; A]⁺[Q; b], and the force is that of multipliers."""
    M, Q, A, _ = problem
    found = fundamental.solve(*problem)
    kappa = condition(problem)
    assert_close(found.acceleration, motion_of_singular(*problem), kappa)
    assert_close(found.force, M @ found.acceleration - Q, kappa)
    assert_close(found.multipliers, np.linalg.pinv(A.T, rcond=CUT) @ found.force, kappa)


def test_massless_coordinates_follow_the_constraints():
    """A massless coordinate x1 tied to x0, and x2 tied to x1: the force on all of them moves x0."""
    found = fundamental.solve(np.diag([2.0, 0, 0]), [1.0, 3, 5], [[1, -1, 0], [0, 1, -1]], [0, 0])
    assert_close(found.acceleration, [4.5, 4.5, 4.5])
    assert_close(found.multipliers, [8.0, 5.0])
    assert_close(fundamental.solve(np.zeros((1, 1)), [7.0], [[2.0]], [4.0]).multipliers, [-3.5])


@given(generators, st.integers(2, 6))
def test_motion_that_is_not_unique_is_an_error(rng, n):
    free = of_rank(rng, n, 1, 1)[:, 0]
    P = np.eye(n) - np.outer(free, free) / (free @ free)
    M, A = P @ mass_matrix(rng, n, n) @ P, of_rank(rng, 2, n, 2) @ P
    with pytest.raises(InputError, match=rf"rank {n - 1} of \[M; A\].*expected rank n = {n}"):
        fundamental.solve((M + M.T) / 2, np.zeros(n), A, [0, 0])


@given(problems(consistent=True))
def test_redundant_rows_are_those_of_left_null_vectors(problem):
    """A row is redundant exactly when some zᵀA = 0 has z_i ≠ 0; all other multipliers are determined."""
    A = problem.A
    found = fundamental.solve(*problem)
    Z = left_null(A)
    assert list(found.redundant) == list(np.max(abs(Z), axis=0, initial=0.0) > 1e-6)


def test_redundancy_belongs_to_a_set_of_rows():
    """Rows 0, 1, 3, 4 lie in left null vectors, 2 and 5 in none: only their multipliers are determined."""
    rng = np.random.default_rng(0)
    M, Q = mass_matrix(rng, 6, 6), rng.normal(size=6)
    x, y, z, u = of_rank(rng, 4, 6, 4)
    A = np.array([x, y, z, 3 * x, 2 * x - y, u])
    b = A @ rng.normal(size=6)
    found = fundamental.solve(M, Q, A, b)
    assert found.rank == 4
    assert list(found.redundant) == [True, True, False, True, True, False]
    fewer = fundamental.solve(M, Q, A[[0, 1, 2, 5]], b[[0, 1, 2, 5]])
    assert_close(fewer.acceleration, found.acceleration, 100)
    assert_close(fewer.multipliers[[2, 3]], found.multipliers[[2, 5]], 100)
    assert abs(fewer.multipliers[0] - found.multipliers[0]) > 1e-3


@given(problems(consistent=True), st.lists(st.integers(-3, 3), min_size=7, max_size=7))
def test_determined_multipliers_do_not_depend_on_the_weight_of_other_rows(problem, powers):
    """λ_i of a row outside every left null vector is λ_i/s_i when rows are multiplied by s."""
    M, Q, A, b = problem
    s = 10.0 ** np.array(powers[: len(b)])
    plain, scaled = fundamental.solve(*problem), fundamental.solve(M, Q, s[:, None] * A, s * b)
    assert list(plain.redundant) == list(scaled.redundant)
    own = ~plain.redundant
    assert_close((s * scaled.multipliers)[own], plain.multipliers[own], condition(problem))


@given(problems(consistent=True), st.sampled_from([0.0, 1.0]))
def test_rows_of_zeros_change_nothing(problem, value):
    M, Q, A, b = problem
    found = fundamental.solve(M, Q, np.insert(A, 1, 0.0, axis=0), np.insert(b, 1, value))
    plain = fundamental.solve(*problem)
    assert_close(found.acceleration, plain.acceleration, condition(problem))
    assert found.rank == plain.rank
    assert found.redundant[1]
    assert found.multipliers[1] == 0
    assert found.residual[1] == -value
    assert found.inconsistent == bool(value)


@given(problems())
def test_no_constraints(problem):
    M, Q, _, _ = problem
    for A in (np.zeros((0, len(M))), []):
        found = fundamental.solve(M, Q, A, [])
        assert_close(found.acceleration, np.linalg.inv(M) @ Q, np.linalg.cond(M))
        assert_close(found.force, 0 * Q)
        assert (found.rank, found.inconsistent) == (0, False)
        assert found.multipliers.shape == found.redundant.shape == found.residual.shape == (0,)
        assert fundamental.force_gain(M, A).shape == (len(M), 0)
        assert fundamental.violation(M, Q, A, []).shape == (0,)


powers_of_coordinates = st.lists(st.integers(-3, 3), min_size=5, max_size=5)
powers_of_rows = st.lists(st.integers(-6, 6), min_size=7, max_size=7)


@given(st.booleans().flatmap(lambda s: problems(consistent=True, singular=s)), powers_of_coordinates, powers_of_rows)
def test_units_do_not_matter(problem, coordinates, rows):
    """Coordinates in other units by 10^±3, rows by 10^±6: the same motion, rank and redundancy."""
    M, Q, A, b = problem
    c, r = 10.0 ** np.array(coordinates[: len(Q)]), 10.0 ** np.array(rows[: len(b)])
    plain = fundamental.solve(*problem)
    found = fundamental.solve(M * c[:, None] * c, Q * c, r[:, None] * A * c, r * b)
    assert_close(found.acceleration * c, plain.acceleration, 10 * condition(problem))
    assert_close(found.force / c, plain.force, 10 * condition(problem))
    assert found.rank == plain.rank
    assert list(found.redundant) == list(plain.redundant)
    assert not found.inconsistent


def test_natural_sizes_tell_noise_from_a_row():
    """A row that is zero but for rounding, as of a planar loop closed in space, has no rank."""
    problem = np.eye(3), [1.0, 2, 3], [[1.0, 1, 0], [1e-17, -2e-17, 1e-17]], [0.0, 0.0]
    assert fundamental.solve(*problem).rank == 2
    found = fundamental.solve(*problem, sizes=[2.0, 2.0])
    assert found.rank == 1
    assert list(found.redundant) == [False, True]
    assert_close(found.acceleration, [-0.5, 0.5, 3.0])


def test_tolerance_decides_on_nearly_dependent_rows():
    problem = np.eye(2), [1.0, 2], [[1.0, 1], [1.0, 1 + 1e-7]], [0.0, 0.0]
    assert fundamental.solve(*problem).rank == 2
    assert fundamental.solve(*problem, tolerance=1e-6).rank == 1


# ── batches and other scalars ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("batch", [(0,), (7,), (2, 5)])
@pytest.mark.parametrize("singular", [False, True])
def test_a_batch_is_its_members(batch, singular):
    """Each member of a batch has its own rank."""
    rng = np.random.default_rng(1)
    A = np.zeros((*batch, 5, 4))
    for count, index in enumerate(np.ndindex(batch)):
        A[index] = of_rank(rng, 5, 4, max(count % 5, 1))
    M, Q, b = mass_matrix(rng, 4, 4), rng.normal(size=(*batch, 4)), rng.normal(size=5)
    if singular:
        P = np.eye(4) - A[..., :1, :].swapaxes(-1, -2) @ A[..., :1, :] / np.sum(A[..., :1, :] ** 2, -1, keepdims=True)
        M = P @ M @ P
    found = fundamental.solve(M, Q, A, b)
    assert found.rank.shape == found.inconsistent.shape == batch
    assert found.acceleration.shape == found.force.shape == (*batch, 4)
    assert found.multipliers.shape == found.redundant.shape == found.residual.shape == (*batch, 5)
    assert (found.rank.dtype.kind, found.redundant.dtype.kind, found.inconsistent.dtype.kind) == ("i", "b", "b")
    for index in np.ndindex(batch):
        one = fundamental.solve(M[index] if singular else M, Q[index], A[index], b)
        for member, alone in zip(found, one, strict=True):
            assert_close(np.asarray(member[index], float), np.asarray(alone, float), 100)
    if not singular:
        assert fundamental.force_gain(M, A).shape == (*batch, 4, 5)
        assert fundamental.violation(M, Q, A, b).shape == (*batch, 5)
        assert fundamental.unconstrained_acceleration(M, Q).shape == (*batch, 4)


@given(problems(), st.booleans())
def test_generic_scalars_give_what_arrays_give(problem, singular):
    """Floats, batches of arrays and numbers of 40 digits; the metric M + AᵀWA does not change the answer."""
    arrays = fundamental.solve(*problem)
    floats = [split(x, x.ndim) for x in problem]
    batches = [split(np.stack([x, x]), x.ndim) for x in problem]
    kappa = condition(problem)
    on_floats = fundamental.constrained(*floats, singular=singular)
    on_batches = fundamental.constrained(*batches, singular=singular)
    with mpmath.workdps(40):
        digits = [Vec([Vec(map(mpmath.mpf, r)) if isinstance(r, Vec) else mpmath.mpf(r) for r in x]) for x in floats]
        on_digits = fundamental.constrained(*digits, singular=singular)
    for name in ("acceleration", "force", "multipliers", "residual"):
        expected = np.array(getattr(on_digits, name), dtype=float)
        assert_close(getattr(arrays, name), expected, kappa)
        assert_close(getattr(on_floats, name), expected, kappa)
        assert_close(np.broadcast_arrays(*getattr(on_batches, name), [0, 0])[:-1], np.stack([expected] * 2, 1), kappa)
    assert arrays.rank == on_floats.rank == on_digits.rank
    assert arrays.inconsistent == on_floats.inconsistent == on_digits.inconsistent
    assert list(arrays.redundant) == list(on_floats.redundant) == list(on_digits.redundant)


@given(problems(), vectors(5), vectors(7))
def test_answer_is_linear_and_complex_steps_pass_through(problem, dQ, db):
    """At fixed M and A the acceleration is linear in (Q, b)."""
    M, Q, A, b = problem
    dQ, db = dQ[: len(Q)], db[: len(b)]
    slope_Q = complex_step(lambda x: fundamental.solve(M, x, A, b).acceleration, Q, dQ)
    slope_b = complex_step(lambda x: fundamental.solve(M, Q, A, x).acceleration, b, db)
    assert_close(slope_Q + slope_b, motion(M, dQ, A, db)[0], condition(problem))


@pytest.mark.long
def test_symbols_give_the_closed_formula():
    """n = 2, m = 1: a = M⁻¹(Q + Aᵀ(A M⁻¹Aᵀ)⁻¹(b − A M⁻¹Q))."""
    names = sympy.symbols("m0 m1 m2 Q0 Q1 A0 A1 b", real=True)
    m0, m1, m2, Q0, Q1, A0, A1, b = names
    mass = Vec([Vec([m0, m1]), Vec([m1, m2])])
    found = fundamental.constrained(mass, Vec([Q0, Q1]), Vec([Vec([A0, A1])]), Vec([b]), refinements=0)
    M, Q, A = sympy.Matrix([[m0, m1], [m1, m2]]), sympy.Matrix([Q0, Q1]), sympy.Matrix([[A0, A1]])
    lam = (A * M.inv() * A.T).inv() * (sympy.Matrix([b]) - A * M.inv() * Q)
    expected = [*(M.inv() * (Q + A.T * lam)), *(A.T * lam), *lam]
    values = dict(zip(names, map(sympy.Rational, ("2", "1/3", "3/2", "-1", "4/5", "2/7", "-3", "5/4")), strict=True))
    exact = [float(x.subs(values)) for x in expected]
    assert_close([float(x.subs(values)) for x in (*found.acceleration, *found.force, *found.multipliers)], exact, 10)
    assert found.redundant[0].subs(values) == sympy.false


@settings(max_examples=5)
@given(generators)
def test_fifty_coordinates_and_thirty_constraints(rng):
    problem = Problem(mass_matrix(rng, 50, 50), rng.normal(size=50), of_rank(rng, 30, 50, 20), rng.normal(size=30))
    found = fundamental.solve(*problem)
    a, force = motion(*problem)
    assert found.rank == 20
    assert_close(found.acceleration, a, condition(problem))
    assert_close(found.force, force, condition(problem))


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_free_direction_is_named():
    with pytest.raises(InputError) as error:
        fundamental.solve(np.diag([1.0, 0, 0]), [1, 0, 0], [[0, 1, 1]], [1])
    assert str(error.value) == (
        "fundamental.solve: the motion is not unique.\n"
        "  found rank 2 of [M; A]: nothing resists or prescribes motion along "
        "0.707 of coordinate 1, -0.707 of coordinate 2; expected rank n = 3.\n"
        "  Give this direction a mass or a constraint."
    )
    with pytest.raises(InputError, match=r"rank 1 of \[M; A\] at index \(1, 0\).*along 1 of coordinate 1"):
        fundamental.solve([[np.eye(2)], [np.diag([1, 0])]], [0, 0], [[1, 0]], [0])
    with pytest.raises(InputError, match="not unique"):
        fundamental.solve([[1, 1], [1, 1]], [0, 0], [], [])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"M": [[1, 0.5], [0, 1]]}, "argument M: not symmetric.\n  found M − Mᵀ up to 0.5 of the diagonal"),
        ({"M": [[1, 2], [2, 1]]}, "argument M: not ≥ 0.\n  found smallest eigenvalue -1 after scaling"),
        ({"M": [np.eye(2), -np.eye(2)]}, "smallest eigenvalue -1 after scaling to unit diagonal at index (1,)"),
        ({"M": np.eye(3)}, "argument Q: wrong shape.\n  found (2,); expected (..., 3)"),
        ({"M": np.ones((2, 3))}, "argument M: wrong shape.\n  found (2, 3); expected (..., 3, 3)"),
        ({"M": np.zeros((0, 0))}, "argument M: no coordinates"),
        ({"M": "heavy"}, "argument M: not an array of numbers"),
        ({"Q": [1, np.nan]}, "argument Q: not finite.\n  found nan at index (1,)"),
        ({"A": [1, 1]}, "argument A: wrong shape.\n  found (2,); expected (..., 1, 2)"),
        ({"A": [[1, np.inf]]}, "argument A: not finite"),
        ({"b": [1, 2]}, "argument b: wrong shape.\n  found (2,); expected (..., 1)"),
        ({"Q": np.zeros((3, 2)), "b": np.zeros((2, 1))}, "batch axes do not fit together"),
        ({"sizes": [-1.0]}, "argument sizes: negative.\n  found -1"),
        ({"sizes": [1.0, 1.0]}, "argument sizes: wrong shape"),
        ({"tolerance": 2.0}, "argument tolerance: out of range.\n  found 2.0; expected between 0 and 1"),
    ],
)
def test_faults_of_the_input_are_named(given, words):
    arguments = {"M": np.eye(2), "Q": [1, 2], "A": [[1, 1]], "b": [0], **given}
    with pytest.raises(InputError) as error:
        fundamental.solve(**arguments)
    assert str(error.value).startswith("fundamental.solve")
    assert words in str(error.value)


def test_functions_of_the_inverse_refuse_a_singular_mass_matrix():
    M = np.diag([1.0, 0.0])
    for call in (
        lambda: fundamental.force_gain(M, [[1, 1]]),
        lambda: fundamental.unconstrained_acceleration(M, [1, 2]),
        lambda: fundamental.violation(M, [1, 2], [[1, 1]], [0]),
    ):
        with pytest.raises(InputError, match="argument M: singular") as error:
            call()
        assert "fundamental.solve takes such M" in str(error.value)
