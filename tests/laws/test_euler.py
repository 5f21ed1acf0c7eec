"""Laws of Euler and Cardan angles, for every sequence, intrinsic and extrinsic."""

import inspect

import numpy as np
import pytest
import sympy
from hypothesis import given, strategies as st
from scipy.spatial.transform import Rotation

from close import assert_close, complex_step
from indexing import equation
from polhode import euler, quaternion
from polhode.errors import GimbalLockError, InputError, UnknownNameError
from polhode.scalar import Vec
from strategies import quaternions, vectors

NAMES = [*euler.SEQUENCES, *(f"extrinsic-{name}" for name in euler.SEQUENCES)]
PLANES = {a: np.cross(np.eye(3), np.eye(3)[int(a) - 1]) for a in "123"}  # x̃ of each axis

sequences = st.sampled_from(NAMES)
free_angles = vectors(3, 6.0)
small = st.floats(-12, -6).map(lambda k: 10.0**k)


def is_proper(name):
    return name[-3] == name[-1]


def locks(name):
    """The two middle angles of the principal range at which a sequence is locked."""
    return (0.0, np.pi) if is_proper(name) else (-np.pi / 2, np.pi / 2)


def scipy_matrix(name, angles):
    """SciPy's matrix: capital letters are intrinsic there, small letters extrinsic."""
    letters = name[-3:].translate(str.maketrans("123", "XYZ"))
    return Rotation.from_euler(letters.lower() if name.startswith("ext") else letters, angles).as_matrix()


def rodrigues_matrix(name, angles):
    """R as a product of Rodrigues' formulas I + sin K + (1 − cos) K², for complex angles too."""
    planes = (PLANES[a] for a in name[-3:])
    turns = [np.eye(3) + np.sin(u) * K + (1 - np.cos(u)) * K @ K for K, u in zip(planes, angles, strict=True)]
    return np.linalg.multi_dot(turns[::-1] if name.startswith("ext") else turns)


def skew_vector(S):
    return np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]]) / 2


def space_matrix(name, angles):
    """A_e by complex steps of Rodrigues' formulas: the vectors of (∂R/∂u_k) Rᵀ."""
    R, turn = rodrigues_matrix(name, angles), lambda u: rodrigues_matrix(name, u)
    return np.stack([skew_vector(complex_step(turn, angles, e) @ R.T) for e in np.eye(3)], axis=1)


def body_matrix(name, angles):
    """B by complex steps: the vectors of Rᵀ ∂R/∂u_k."""
    R, turn = rodrigues_matrix(name, angles), lambda u: rodrigues_matrix(name, u)
    return np.stack([skew_vector(R.T @ complex_step(turn, angles, e)) for e in np.eye(3)], axis=1)


@st.composite
def principal(draw, least=0.02):
    """A sequence, and angles in its principal range at least so far from lock."""
    name = draw(sequences)
    low, high = locks(name)
    outer = st.floats(-3.125, 3.125, width=32)
    return name, np.array([draw(outer), draw(st.floats(low + least, high - least)), draw(outer)])


@st.composite
def near_lock(draw, distance=small):
    """A sequence, angles this near to lock, and that distance."""
    name, d = draw(sequences), draw(distance)
    lock = draw(st.sampled_from(locks(name)))
    outer = st.floats(-3.125, 3.125, width=32)
    return name, np.array([draw(outer), lock - d if lock > 0 else lock + d, draw(outer)]), d


# Angles and attitudes


def test_there_are_twelve_sequences():
    assert len(euler.SEQUENCES) == len(set(euler.SEQUENCES)) == 12
    assert sum(map(is_proper, euler.SEQUENCES)) == 6


@given(sequences, free_angles)
def test_the_oracle_of_the_tests_is_scipys(name, angles):
    """The complex-step oracle below rests on Rodrigues' formula; SciPy agrees with it."""
    assert_close(rodrigues_matrix(name, angles), scipy_matrix(name, angles))


@equation("Schwab-Meijaard 2-4", of="euler.elementary_matrix")
@given(st.floats(-6, 6))
def test_an_elementary_matrix_turns_about_one_axis(angle):
    """(2) and (4) are R3, (3) is R1, entry by entry; R2 is SciPy's."""
    c, s = np.cos(angle), np.sin(angle)
    assert_close(euler.elementary_matrix(3, angle), [[c, -s, 0], [s, c, 0], [0, 0, 1]])
    assert_close(euler.elementary_matrix(1, angle), [[1, 0, 0], [0, c, -s], [0, s, c]])
    assert_close(euler.elementary_matrix(2, angle), Rotation.from_rotvec([0, angle, 0]).as_matrix())


@equation("Schwab-Meijaard 1, 5", of="euler.matrix")
@given(sequences, free_angles, vectors())
def test_matrix_is_the_product_of_three_turns(name, angles, r_body):
    """r = R r′ with R = R_φ R_θ R_ψ, as in SciPy."""
    assert_close(euler.matrix(name, angles), scipy_matrix(name, angles))
    assert_close(euler.matrix(name, angles) @ r_body, scipy_matrix(name, angles) @ r_body)


@equation("Schwab-Meijaard 6, 7", of="euler.matrix")
@given(sequences, free_angles)
def test_transpose_undoes_the_turns_in_reverse_order(name, angles):
    """R⁻¹ = Rᵀ, the matrix of the opposite angles in reverse order."""
    R = euler.matrix(name, angles)
    back = name[:-3] + name[-3:][::-1]
    assert_close(R.T @ R, np.eye(3))
    assert_close(R.T, scipy_matrix(back, -angles[::-1]))


@given(sequences, free_angles)
def test_quaternion_of_angles_is_that_of_the_matrix(name, angles):
    p = euler.to_quaternion(name, angles)
    assert_close(quaternion.rotation_matrix(p), scipy_matrix(name, angles))


@given(free_angles, st.sampled_from(euler.SEQUENCES))
def test_extrinsic_is_intrinsic_backwards(angles, name):
    assert_close(euler.to_quaternion(f"extrinsic-{name}", angles), euler.to_quaternion(name[::-1], angles[::-1]))


@given(principal())
def test_angles_come_back_from_a_quaternion(case):
    name, angles = case
    for sign in (1, -1):
        p = sign * euler.to_quaternion(name, angles)
        assert_close(euler.from_quaternion(name, p), angles, condition=euler.condition(name, angles))


@given(principal())
def test_angles_come_back_from_a_matrix(case):
    name, angles = case
    found = euler.from_matrix(name, scipy_matrix(name, angles))
    assert_close(found, angles, condition=euler.condition(name, angles))


@given(sequences, quaternions())
def test_angles_of_any_attitude_are_in_range_and_rebuild_it(name, p):
    """Also on lock: a flagged answer is an attitude within the lock distance."""
    angles, locked = euler.from_quaternion(name, p, at_lock="flag")
    low, high = locks(name)
    assert low - 1e-15 <= angles[1] <= high + 1e-15
    assert np.all((-np.pi < angles[[0, 2]]) & (angles[[0, 2]] <= np.pi))
    assert not locked or angles[2] == 0
    bound = 4 * euler.LOCK / 1e-12 if locked else 1.0
    assert_close(scipy_matrix(name, angles), quaternion.rotation_matrix(p), condition=bound)


@given(near_lock())
def test_angles_near_lock_lose_nothing_of_the_attitude(case):
    """Down to 1e-12 from lock the middle angle and the attitude are exact to rounding; acos would give 1e-8."""
    name, angles, _ = case
    R = scipy_matrix(name, angles)
    for found in (
        euler.from_quaternion(name, euler.to_quaternion(name, angles), lock=1e-14),
        euler.from_matrix(name, R, lock=1e-14),
    ):
        assert_close(found[1], angles[1])
        assert_close(scipy_matrix(name, found), R)


@given(near_lock(st.just(0.0)))
def test_at_lock_the_first_angle_carries_all(case):
    """On lock the flagged angles have a third angle 0 and are the attitude exactly."""
    name, angles, _ = case
    R = scipy_matrix(name, angles)
    for found, locked in (
        euler.from_matrix(name, R, at_lock="flag"),
        euler.from_quaternion(name, euler.to_quaternion(name, angles), at_lock="flag"),
    ):
        assert locked is True
        assert found[2] == 0
        assert found[1] in locks(name)
        assert_close(scipy_matrix(name, found), R)


@given(near_lock(st.floats(-12, -8.5).map(lambda k: 10.0**k)))
def test_within_the_limit_angles_are_refused_or_flagged(case):
    name, angles, d = case
    p = euler.to_quaternion(name, angles)
    with pytest.raises(GimbalLockError):
        euler.from_quaternion(name, p)
    found, locked = euler.from_quaternion(name, p, at_lock="flag")
    assert locked is True
    off = quaternion.angle_between(euler.to_quaternion(name, found), p)
    assert off <= 1.001 * d + 1e-14


# Rates


@equation("Schwab-Meijaard 8-10", of="euler.angular_velocity_space")
@given(sequences, free_angles, vectors(), vectors())
def test_a_point_moves_with_the_cross_product(name, angles, rates, r_body):
    """ṙ = Ṙ Rᵀ r = ω̃_s r = ω_s × r, with Ṙ a complex step; ω̃_s is skew."""
    omega_s = euler.angular_velocity_space(name, angles, rates)
    R = rodrigues_matrix(name, angles)
    Rdot = complex_step(lambda u: rodrigues_matrix(name, u), angles, rates)
    W = np.array([[0, -omega_s[2], omega_s[1]], [omega_s[2], 0, -omega_s[0]], [-omega_s[1], omega_s[0], 0]])
    assert_close(W, Rdot @ R.T, scale=9)
    assert_close(np.cross(omega_s, R @ r_body), Rdot @ r_body, scale=50)


@equation("Schwab-Meijaard 11", of="euler.matrix_derivatives")
@given(sequences, free_angles)
def test_matrix_derivatives_are_the_complex_steps(name, angles):
    for found, e in zip(euler.matrix_derivatives(name, angles), np.eye(3), strict=True):
        assert_close(found, complex_step(lambda u: rodrigues_matrix(name, u), angles, e))


@equation("Schwab-Meijaard 11", of="euler.space_rate_matrix_from_derivatives")
@given(sequences, free_angles)
def test_rate_matrix_by_differentiation(name, angles):
    """ω̃_s = Σ (∂R/∂u_k) Rᵀ u̇_k: columns from SciPy's R and complex steps, against the axes themselves."""
    steps = [complex_step(lambda u: rodrigues_matrix(name, u), angles, e) for e in np.eye(3)]
    found = euler.space_rate_matrix_from_derivatives(scipy_matrix(name, angles), *steps)
    assert_close(found, space_axes(name, angles))


def space_axes(name, angles):
    """The axes as columns: each unit vector carried by SciPy's turns before it (extrinsic: after it)."""
    e = [np.eye(3)[int(a) - 1] for a in name[-3:]]
    if name.startswith("ext"):
        return np.stack([scipy_matrix(name, np.where(np.arange(3) > k, angles, 0)) @ e[k] for k in range(3)], axis=1)
    return np.stack([scipy_matrix(name, np.where(np.arange(3) < k, angles, 0)) @ e[k] for k in range(3)], axis=1)


@equation("Schwab-Meijaard 12", of="euler.rate_axes")
@given(sequences, free_angles, vectors())
def test_angular_velocity_is_the_sum_along_the_three_axes(name, angles, rates):
    """ω = φ̇ e_z + θ̇ e_ξ + ψ̇ e_ζ′: unit axes, carried by the turns before them."""
    axes = euler.rate_axes(name, angles)
    assert_close(axes, space_axes(name, angles).T)
    assert_close(np.linalg.norm(axes, axis=-1), np.ones(3))
    assert_close(rates @ axes, space_matrix(name, angles) @ rates, scale=9)


@equation("Schwab-Meijaard 13, 14", of="euler.space_rate_matrix")
@given(sequences, free_angles)
def test_space_rate_matrix_is_that_of_the_rotation(name, angles):
    assert_close(euler.space_rate_matrix(name, angles), space_matrix(name, angles))


@equation("Schwab-Meijaard 13, 14", of="euler.space_rate_matrix")
@given(free_angles)
def test_space_rate_matrix_of_313_as_printed(angles):
    (sf, st_, _), (cf, ct, _) = np.sin(angles), np.cos(angles)
    assert_close(euler.space_rate_matrix("313", angles), [[0, cf, sf * st_], [0, sf, -cf * st_], [1, 0, ct]])


@equation("Schwab-Meijaard 14", of="euler.angular_velocity_space")
@given(sequences, free_angles, vectors())
def test_space_angular_velocity_is_linear_in_the_rates(name, angles, rates):
    found = euler.angular_velocity_space(name, angles, rates)
    assert_close(found, space_matrix(name, angles) @ rates, scale=9)


@equation("Schwab-Meijaard 15, 16", of="euler.body_rate_matrix")
@given(sequences, free_angles)
def test_body_rate_matrix_is_that_of_the_rotation(name, angles):
    """B from Rᵀ ∂R/∂u_k, and B = Rᵀ A_e."""
    B = euler.body_rate_matrix(name, angles)
    assert_close(B, body_matrix(name, angles))
    assert_close(B, scipy_matrix(name, angles).T @ space_axes(name, angles))


@equation("Schwab-Meijaard 15, 16", of="euler.body_rate_matrix")
@given(free_angles)
def test_body_rate_matrix_of_313_as_printed(angles):
    (_, st_, sp), (_, ct, cp) = np.sin(angles), np.cos(angles)
    assert_close(euler.body_rate_matrix("313", angles), [[sp * st_, cp, 0], [cp * st_, -sp, 0], [ct, 0, 1]])


@equation("Schwab-Meijaard 15, 16", of="euler.angular_velocity")
@given(sequences, free_angles, vectors())
def test_body_angular_velocity_is_linear_in_the_rates(name, angles, rates):
    found = euler.angular_velocity(name, angles, rates)
    assert_close(found, body_matrix(name, angles) @ rates, scale=9)


@given(sequences, free_angles, vectors())
def test_angular_velocity_is_that_of_the_quaternion(name, angles, rates):
    """ω = 2 L ṗ, with ṗ a complex step of the quaternion of the angles."""
    p = euler.to_quaternion(name, angles)
    pdot = complex_step(lambda u: euler.to_quaternion(name, u), angles, rates)
    assert_close(euler.angular_velocity(name, angles, rates), quaternion.angular_velocity(p, pdot), scale=9)


@given(sequences, free_angles, vectors())
def test_derivatives_of_the_rate_matrices_are_the_complex_steps(name, angles, rates):
    """∂A_e/∂u_k, ∂B/∂u_k by complex steps of the axes' own formulas, and their sums along the rates."""
    for side in ("space", "body"):
        base = getattr(euler, f"{side}_rate_matrix")
        partials = getattr(euler, f"{side}_rate_matrix_derivatives")(name, angles)
        for found, e in zip(partials, np.eye(3), strict=True):
            assert_close(found, complex_step(lambda u, f=base: f(name, u), angles, e))
        rate = getattr(euler, f"{side}_rate_matrix_rate")(name, angles, rates)
        assert_close(rate, complex_step(lambda u, f=base: f(name, u), angles, rates), scale=9)


@given(sequences, free_angles, vectors(), vectors())
def test_angular_acceleration_is_that_of_the_quaternion(name, angles, rates, accelerations):
    """Along u(t) = u + u̇ t + ½ ü t², ω̇ is a complex step of ω."""
    moving = lambda t: euler.angular_velocity(
        name, angles + t * rates + t * t / 2 * accelerations, rates + t * accelerations
    )
    found = euler.angular_acceleration(name, angles, rates, accelerations)
    assert_close(found, complex_step(moving, 0.0, 1.0), scale=50)


@equation("Schwab-Meijaard 21", of="euler.body_rate_matrix_inverse")
@given(principal())
def test_body_inverse_is_the_inverse(case):
    name, angles = case
    B = body_matrix(name, angles)
    assert_close(euler.body_rate_matrix_inverse(name, angles), np.linalg.inv(B), condition=np.linalg.cond(B))


@equation("Schwab-Meijaard 21", of="euler.body_rate_matrix_inverse")
@given(principal())
def test_body_inverse_of_313_as_written_out(case):
    angles = case[1]
    angles[1] = 0.1 + abs(angles[1]) % 2.9
    (_, st_, sp), (_, ct, cp) = np.sin(angles), np.cos(angles)
    expected = [[sp / st_, cp / st_, 0], [cp, -sp, 0], [-sp * ct / st_, -cp * ct / st_, 1]]
    assert_close(euler.body_rate_matrix_inverse("313", angles), expected)


@given(principal())
def test_space_inverse_is_the_inverse(case):
    name, angles = case
    A = space_matrix(name, angles)
    assert_close(euler.space_rate_matrix_inverse(name, angles), np.linalg.inv(A), condition=np.linalg.cond(A))


@equation("Schwab-Meijaard 21", of="euler.rates")
@given(principal(), vectors())
def test_rates_give_the_angular_velocity_back(case, omega):
    """u̇ = B⁻¹ ω, so B u̇ = ω."""
    name, angles = case
    B = body_matrix(name, angles)
    assert_close(B @ euler.rates(name, angles, omega), omega, condition=np.linalg.cond(B))


@given(principal(), vectors(), vectors())
def test_accelerations_give_the_angular_acceleration_back(case, rates, alpha):
    name, angles = case
    found = euler.accelerations(name, angles, rates, alpha)
    back = euler.angular_acceleration(name, angles, rates, found)
    assert_close(back, alpha, condition=euler.condition(name, angles), scale=50)


# Lock


@equation('Schwab-Meijaard "under 16"', of="euler.determinant")
@given(sequences, free_angles)
def test_determinant_is_that_of_both_rate_matrices(name, angles):
    found = euler.determinant(name, angles)
    assert_close(found, np.linalg.det(space_matrix(name, angles)))
    assert_close(found, np.linalg.det(body_matrix(name, angles)))
    if name == "313":
        assert_close(found, -np.sin(angles[1]))


@equation('Schwab-Meijaard "under 16"', of="euler.condition")
@given(principal(least=1e-3))
def test_condition_is_that_of_both_rate_matrices(case):
    name, angles = case
    cond = np.linalg.cond(body_matrix(name, angles))
    assert_close(euler.condition(name, angles) / cond, 1.0, condition=cond)
    assert_close(euler.condition(name, angles) / np.linalg.cond(space_matrix(name, angles)), 1.0, condition=cond)


@given(sequences, st.floats(-15, -1))
def test_condition_and_distance_keep_their_digits_near_lock(name, k):
    """cond = cot(d/2) at the distance d from lock, where √((1+c)/(1−c)) would have lost all its digits."""
    for lock in locks(name):
        middle = lock + 10.0**k
        d = abs(middle - lock - np.sin(np.pi) * lock / np.pi)  # sin of the double π is what it lacks of π
        assert_close(euler.lock_distance(name, [0.3, middle, -0.4]) / d, 1.0)
        assert_close(euler.condition(name, [0.3, middle, -0.4]) * np.tan(d / 2), 1.0)


def test_condition_is_infinite_exactly_at_lock():
    assert euler.condition("313", [1, 0, 2]) == np.inf
    assert np.array_equal(euler.condition("131", np.zeros((2, 3))), [np.inf, np.inf])
    assert euler.condition("321", [0, 0, 0]) == 1
    assert euler.lock_distance("313", [1, 0, 2]) == 0
    assert_close(euler.lock_distance("321", [1, 0, 2]), np.pi / 2)


@equation('Schwab-Meijaard "under 16"', of="euler.lost_direction")
@given(st.floats(-6, 6), st.sampled_from([0.0, np.pi]), st.floats(-6, 6))
def test_lost_direction_of_313_as_printed(phi, theta, psi):
    found = euler.lost_direction("313", [phi, theta, psi])
    assert_close(found, [-np.sin(phi), np.cos(phi), 0])


@equation('Schwab-Meijaard "under 16"', of="euler.lost_direction")
@given(sequences, free_angles)
def test_lost_direction_is_the_smallest_singular_vector(name, angles):
    """‖A_eᵀ ℓ‖ is the smallest singular value; near lock the vector is unique and the same."""
    A, found = space_matrix(name, angles), euler.lost_direction(name, angles)
    assert_close(np.linalg.norm(found), 1.0)
    U, sigma, _ = np.linalg.svd(A)
    assert_close(np.linalg.norm(A.T @ found), sigma[2], condition=1 / max(sigma[2], 1e-3))
    gap = sigma[1] - sigma[2]
    if gap > 1e-3:
        assert_close(found * np.sign(found @ U[:, 2]), U[:, 2], condition=1 / gap)


@given(near_lock(st.just(0.0)), vectors())
def test_at_lock_the_lost_direction_cannot_be_reached(case, rates):
    name, angles, _ = case
    lost = euler.lost_direction(name, angles)
    assert_close(lost @ euler.angular_velocity_space(name, angles, rates), 0.0, scale=9)


@given(near_lock(st.one_of(st.just(0.0), st.floats(-12, -8.5).map(lambda k: 10.0**k))), vectors(), vectors())
def test_at_lock_rates_are_the_smallest_least_squares_ones(case, omega, rates):
    """Flagged answers are those of the pseudo-inverse without the vanishing singular value; else an error."""
    name, angles, _ = case
    B = body_matrix(name, angles)
    pseudo = np.linalg.pinv(B, rcond=1e-7)
    with pytest.raises(GimbalLockError):
        euler.rates(name, angles, omega)
    found, locked = euler.rates(name, angles, omega, at_lock="flag")
    assert locked is True
    assert_close(found, pseudo @ omega, scale=9)
    assert_close(found, np.linalg.lstsq(B, omega, rcond=1e-7)[0], scale=9)
    alpha = omega - euler.body_rate_matrix_rate(name, angles, rates) @ rates
    assert_close(euler.accelerations(name, angles, rates, omega, at_lock="flag").value, pseudo @ alpha, scale=50)
    assert_close(euler.body_rate_matrix_inverse(name, angles, at_lock="flag").value, pseudo)
    A_pseudo = np.linalg.pinv(space_matrix(name, angles), rcond=1e-7)
    assert_close(euler.space_rate_matrix_inverse(name, angles, at_lock="flag").value, A_pseudo)


@given(near_lock(st.floats(-7.5, -6).map(lambda k: 10.0**k)), vectors())
def test_outside_the_limit_rates_are_regular_and_large(case, omega):
    name, angles, d = case
    found, locked = euler.rates(name, angles, omega, at_lock="flag")
    assert locked is False
    assert np.array_equal(found, euler.rates(name, angles, omega))
    assert_close(body_matrix(name, angles) @ found, omega, condition=2 / d)


@given(sequences)
def test_a_batch_with_some_entries_at_lock(name):
    """Flags and least-squares answers stand where the lock is; the other entries are as alone."""
    low, high = locks(name)
    middle = [low, (low + high) / 2, high, low + 1e-10, low + 1e-5, 1e-300 + low]
    angles = np.array([[0.3, m, -0.7] for m in middle])
    expected = [True, False, True, True, False, True]
    omega = np.array([0.1, -0.2, 0.5])
    for call in (
        lambda u, **k: euler.rates(name, u, omega, **k),
        lambda u, **k: euler.accelerations(name, u, omega, omega, **k),
        lambda u, **k: euler.body_rate_matrix_inverse(name, u, **k),
        lambda u, **k: euler.space_rate_matrix_inverse(name, u, **k),
        lambda u, **k: euler.from_matrix(name, scipy_matrix(name, u), **k),
    ):
        value, locked = call(angles, at_lock="flag")
        assert locked.tolist() == expected
        assert np.all(np.isfinite(value))
        for i, row in enumerate(angles):
            assert_close(value[i], call(row, at_lock="flag").value)
        with pytest.raises(GimbalLockError, match=r"at index \(0,\)"):
            call(angles)
        assert np.array_equal(call(angles[[1, 4]]), value[[1, 4]])


def test_one_locked_attitude_and_many_rates():
    value, locked = euler.rates("313", [0.1, 0, 0.2], np.ones((4, 3)), at_lock="flag")
    assert value.shape == (4, 3)
    assert locked.tolist() == [True] * 4


def test_a_denormal_middle_angle_is_lock():
    for angles in ([0.1, 5e-324, 0.2], [[0.1, 5e-324, 0.2]]):
        value, locked = euler.rates("313", angles, [1, 2, 3], at_lock="flag")
        assert np.all(locked)
        assert np.all(np.isfinite(value))


# Arrays, symbols, messages

ON_ANGLES = [
    "matrix", "to_quaternion", "matrix_derivatives", "rate_axes", "space_rate_matrix", "body_rate_matrix",
    "space_rate_matrix_derivatives", "body_rate_matrix_derivatives", "space_rate_matrix_rate", "body_rate_matrix_rate",
    "angular_velocity", "angular_velocity_space", "angular_acceleration", "determinant", "condition", "lock_distance",
    "lost_direction", "space_rate_matrix_inverse", "body_rate_matrix_inverse", "rates", "accelerations",
]  # fmt: skip


def fields(value):
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("name", ON_ANGLES)
@pytest.mark.parametrize("shape", [(0, 3), (7, 3), (2, 5, 3)])
def test_a_batch_is_its_entries_one_by_one(name, shape):
    function = getattr(euler, name)
    arguments = [a for a in inspect.signature(function).parameters if a not in ("sequence", "at_lock", "lock")]
    rng = np.random.default_rng(3)
    inputs = [rng.uniform(0.1, 1.2, shape) for _ in arguments]
    for sequence in ("313", "extrinsic-321"):
        for i, found in enumerate(fields(function(sequence, *inputs))):
            assert found.shape[: len(shape) - 1] == shape[:-1]
            assert found.dtype == float
            for index in np.ndindex(*shape[:-1]):
                alone = fields(function(sequence, *(x[index] for x in inputs)))[i]
                assert_close(found[index], alone)


@pytest.mark.parametrize("shape", [(0, 3), (7, 3), (2, 5, 3)])
def test_batches_go_to_attitudes_and_back(shape):
    angles = np.random.default_rng(4).uniform(0.1, 1.2, shape)
    for sequence in NAMES:
        p = euler.to_quaternion(sequence, angles)
        assert_close(euler.from_quaternion(sequence, p), angles, condition=100)
        assert_close(euler.from_matrix(sequence, euler.matrix(sequence, angles)), angles, condition=100)
        R, dR = euler.matrix(sequence, angles), euler.matrix_derivatives(sequence, angles)
        assert_close(euler.space_rate_matrix_from_derivatives(R, *dR), euler.space_rate_matrix(sequence, angles))
        value, locked = euler.from_quaternion(sequence, p, at_lock="flag")
        assert value.shape == shape
        assert locked.shape == shape[:-1]
    assert euler.elementary_matrix(2, angles[..., 0]).shape == (*shape[:-1], 3, 3)


def test_the_formulas_of_313_on_symbols():
    """Schwab-Meijaard (5), (14), (16), (21) come out of the code as printed."""
    u = phi, theta, psi = sympy.symbols("phi theta psi", real=True)
    (sf, st_, sp), (cf, ct, cp) = map(sympy.sin, u), map(sympy.cos, u)
    A = sympy.Matrix([[0, cf, sf * st_], [0, sf, -cf * st_], [1, 0, ct]])
    B = sympy.Matrix([[sp * st_, cp, 0], [cp * st_, -sp, 0], [ct, 0, 1]])
    Binv = sympy.Matrix([[sp / st_, cp / st_, 0], [cp, -sp, 0], [-sp * ct / st_, -cp * ct / st_, 1]])
    R = sympy.rot_ccw_axis3(phi) * sympy.rot_ccw_axis1(theta) * sympy.rot_ccw_axis3(psi)
    angles = Vec(u)
    assert sympy.Matrix(euler.space_rate_matrix("313", angles)) == A
    assert sympy.Matrix(euler.body_rate_matrix("313", angles)) == B
    assert sympy.expand(sympy.Matrix(euler.matrix("313", angles)) - R) == sympy.zeros(3, 3)
    assert sympy.simplify(sympy.Matrix(euler.body_rate_matrix_inverse("313", angles)) - Binv) == sympy.zeros(3, 3)
    assert sympy.simplify(sympy.Matrix(euler.space_rate_matrix_inverse("313", angles)) * A) == sympy.eye(3)
    assert euler.determinant("313", angles) == -st_


def test_rates_of_change_on_symbols():
    """Ȧ_e, Ḃ, u̇ and ü of 321 on symbols are the derivatives and solutions of its own rate matrices."""
    u, v, w = (Vec(sympy.symbols(f"{x}1:4", real=True)) for x in "uvw")
    for sequence in ("321", "extrinsic-313"):
        for side in ("space", "body"):
            base = sympy.Matrix(getattr(euler, f"{side}_rate_matrix")(sequence, u))
            rate = sympy.Matrix(getattr(euler, f"{side}_rate_matrix_rate")(sequence, u, v))
            expected = sum((base.diff(x) * y for x, y in zip(u, v, strict=True)), sympy.zeros(3, 3))
            assert sympy.simplify(rate - expected) == sympy.zeros(3, 3)
        B = sympy.Matrix(euler.body_rate_matrix(sequence, u))
        back = B * sympy.Matrix(euler.rates(sequence, u, w)) - sympy.Matrix(w)
        assert sympy.simplify(back) == sympy.zeros(3, 1)


def test_angles_of_a_quaternion_of_symbols():
    """The regular formula runs on symbols, and gives what it gives on numbers."""
    p = np.array([0.5, -0.1, 0.7, 0.2]) / np.linalg.norm([0.5, -0.1, 0.7, 0.2])
    symbols = sympy.symbols("e0:4", real=True)
    for sequence in ("313", "extrinsic-321"):
        formula = euler.from_quaternion(sequence, Vec(symbols))
        values = [float(f.subs(dict(zip(symbols, p, strict=True)))) for f in formula]
        assert_close(values, euler.from_quaternion(sequence, p))


def test_rates_on_complex_numbers():
    """The regular answer can be differentiated by complex steps, single and in batches."""
    angles, omega = np.array([0.1, 0.7, -0.4]), np.array([1.0, 2.0, -0.5])
    step = complex_step(lambda x: euler.rates("313", angles, x), omega, [0, 1, 0])
    assert_close(step, euler.body_rate_matrix_inverse("313", angles)[:, 1])


@pytest.mark.parametrize(
    ("sequence", "words"),
    [
        ("zxz", ["'zxz'", "'313' meant", "'extrinsic-313'"]),
        ("XYZ", ["'XYZ'", "Was '123' meant?"]),
        ("extrinsic-zyx", ["Was 'extrinsic-321' meant?"]),
        ("EXTRINSIC-313", ["Was 'extrinsic-313' meant?"]),
        (313, ["found 313", "Was '313' meant?", "in quotes"]),
        ("112", ["'112'"]),
        ("", ["''"]),
        ("31", ["'31'"]),
        (None, ["None"]),
    ],
)
def test_an_unknown_sequence_is_named_with_the_twelve(sequence, words):
    for function in (euler.matrix, euler.determinant, euler.space_rate_matrix_inverse):
        with pytest.raises(UnknownNameError) as caught:
            function(sequence, [0.1, 0.2, 0.3])
        text = str(caught.value)
        assert all(word in text for word in [*words, *euler.SEQUENCES, "unknown sequence of axes"])
        assert ("meant?" in text) == any("meant" in word for word in words)


def test_the_message_at_lock_says_what_to_do():
    with pytest.raises(GimbalLockError) as caught:
        euler.rates("313", [[0.1, 0.5, 0.2], [0.1, 3e-9, 0.2]], [1, 2, 3])
    assert str(caught.value) == (
        "euler.rates, sequence '313': gimbal lock, the three axes of rotation lie in one plane.\n"
        "  found middle angle 3e-09 at index (1,), 3e-09 rad from lock; expected |sin| of it above lock=1e-08.\n"
        '  Use another sequence, or quaternions; or at_lock="flag" for a least-squares answer and a flag.'
    )
    with pytest.raises(
        GimbalLockError, match=r"euler.from_matrix, sequence 'extrinsic-321'.*\n.*1.57079.*\|cos\|.*1e-05"
    ):
        euler.from_matrix("extrinsic-321", euler.matrix("extrinsic-321", [0.1, np.pi / 2 - 1e-6, 0.3]), lock=1e-5)


@pytest.mark.parametrize("at_lock", ["ignore", "", None, True])
def test_any_other_choice_at_lock_is_an_error(at_lock):
    with pytest.raises(
        InputError, match=r"euler.from_quaternion, argument at_lock: no such choice.*\n.*'error' or 'flag'"
    ):
        euler.from_quaternion("313", [1, 0, 0, 0], at_lock=at_lock)


@pytest.mark.parametrize("lock", [0, -1e-8, 1, np.nan, "1e-8"])
def test_the_limit_must_be_a_small_positive_number(lock):
    with pytest.raises(InputError, match=r"euler.rates, argument lock: not a limit"):
        euler.rates("313", [0, 1, 0], [1, 2, 3], lock=lock)


def test_bad_arguments_are_refused():
    with pytest.raises(InputError, match=r"euler.matrix, argument angles: wrong shape"):
        euler.matrix("313", [1, 2])
    with pytest.raises(InputError, match=r"euler.rates, argument omega: not finite"):
        euler.rates("313", [0, 1, 0], [1, np.nan, 0])
    with pytest.raises(InputError, match=r"euler.from_quaternion, argument p: not a unit quaternion"):
        euler.from_quaternion("321", [2, 0, 0, 0])
    with pytest.raises(InputError, match=r"euler.from_matrix, argument R: not a rotation matrix"):
        euler.from_matrix("321", np.ones((3, 3)))
    with pytest.raises(InputError, match=r"argument axis: no such axis"):
        euler.elementary_matrix(0, 0.3)
    assert_close(euler.from_quaternion("321", [2, 0, 0, 0], unit=False), np.zeros(3))


def test_signatures_show_the_lock_keywords():
    shown = str(inspect.signature(euler.rates))
    assert "at_lock" in shown
    assert "lock: float = 1e-08" in shown
    assert "least" not in shown
