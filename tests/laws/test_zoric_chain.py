"""Chains of bodies against complex steps, sums over point masses and a Newton-Euler recursion with matrices."""

from typing import NamedTuple

import numpy as np
import pytest
import sympy
from hypothesis import given, strategies as st

import plain
from close import assert_close, complex_step
from indexing import equation
from polhode import spatial
from polhode.errors import InputError
from polhode.papers import chain
from polhode.scalar import Vec
from strategies import directions, vectors

SLIDE, TURN = "prismatic", "revolute"
ONE = np.array([1.0, 0, 0, 0])


# ── random chains, as plain arrays ───────────────────────────────────────────────────────────────────


class Case(NamedTuple):
    """A chain of the package; the same numbers as arrays; a state."""

    chain: chain.Chain
    kinds: list[str]
    e: np.ndarray  # axes (n, 3)
    d: np.ndarray  # links (n, 3)
    c: np.ndarray  # joint to mass centre (n, 3)
    dm: np.ndarray  # point masses (n, k)
    rho: np.ndarray  # where they are, from the mass centre (n, k, 3)
    m: np.ndarray  # (n)
    J: np.ndarray  # (n, 3, 3)
    base: np.ndarray  # position (3)
    mounts: np.ndarray  # quaternions (n, 4), the attitude of the base in the first
    q: np.ndarray
    qdot: np.ndarray
    qddot: np.ndarray


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@st.composite
def cases(draw, most=6, least=1, mounted=True, kind=None):
    """1 … 6 joints of both kinds, base and mountings turned, bodies of 4 point masses."""
    kinds = draw(st.lists(st.just(kind) if kind else st.sampled_from([TURN, SLIDE]), min_size=least, max_size=most))
    n, rng = len(kinds), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    e, d, c = unit(rng.normal(size=(n, 3))), rng.uniform(-1, 1, (n, 3)), rng.uniform(-1, 1, (n, 3))
    dm, rho = rng.uniform(0.1, 0.5, (n, 4)), rng.uniform(-1, 1, (n, 4, 3))
    m = dm.sum(axis=1)
    rho = rho - np.einsum("ik,ikx->ix", dm, rho)[:, None] / m[:, None, None]
    J = np.einsum(
        "ik,ikxy->ixy", dm, np.einsum("ikz,ikz,xy->ikxy", rho, rho, np.eye(3)) - rho[..., None] * rho[..., None, :]
    )
    J = (J + J.swapaxes(-1, -2)) / 2
    mounts, turned, base = np.tile(ONE, (n, 1)), ONE, np.zeros(3)
    if mounted:
        mounts, turned, base = unit(rng.normal(size=(n, 4))), unit(rng.normal(size=4)), rng.uniform(-1, 1, 3)
    made = chain.Chain.make(kinds, 2 * e, d, c, m, J, base_position=base, base_attitude=turned, mountings=mounts)
    mounts[0] = plain.ham(turned, mounts[0])
    return Case(made, kinds, e, d, c, dm, rho, m, J, base, mounts, *rng.uniform(-2, 2, (3, n)))


# ── the oracle: rotation matrices and plain NumPy, also on complex numbers ───────────────────────────


def revolute(case):
    return np.array([float(kind == TURN) for kind in case.kinds])


def about(e, angle):
    """Rodrigues' rotation matrix."""
    K = plain.skew(e)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


class Pose(NamedTuple):
    R: np.ndarray  # attitudes of the bodies
    z: np.ndarray  # axes
    o: np.ndarray  # where the joints sit, after their slide
    r: np.ndarray  # mass centres


def pose(case, q):
    R, x, found = np.eye(3), case.base, []
    for kind, e, d, c, mount, q_k in zip(case.kinds, case.e, case.d, case.c, case.mounts, q, strict=True):
        R = R @ plain.matrix(mount)
        z = R @ e
        x, R = (x, R @ about(e, q_k)) if kind == TURN else (x + q_k * z, R)
        found.append((R, z, x, x + R @ c))
        x = x + R @ d
    return Pose(*(np.array(part) for part in zip(*found, strict=True)))


def gradient(function, x):
    """∂f/∂x_α by complex steps, α in front."""
    return np.array([complex_step(function, x, direction) for direction in np.eye(len(x))])


def moved(case):
    """1 where joint α moves body i, [α, i]."""
    return np.triu(np.ones((len(case.q),) * 2))


def T_of(case, q):
    """Velocity of r_i per q̇_α from the moment of the axis; analytic in q."""
    P = pose(case, q)
    turning = np.cross(P.z[:, None], P.r[None] - P.o[:, None])
    x = revolute(case)[:, None, None]
    return moved(case)[..., None] * (x * turning + (1 - x) * P.z[:, None])


def Omega_of(case, q):
    return moved(case)[..., None] * (revolute(case)[:, None] * pose(case, q).z)[:, None]


def a_tr(case, q):
    T = T_of(case, q)
    return np.einsum("i,aix,bix->ab", case.m, T, T)


def a_rot(case, q):
    R, Omega = pose(case, q).R, Omega_of(case, q)
    body = np.einsum("iyx,aiy->aix", R, Omega)
    return np.einsum("aix,ixy,biy->ab", body, case.J, body)


def symbols(D):
    """½ (∂a_βγ/∂q_α + ∂a_γα/∂q_β − ∂a_αβ/∂q_γ) from D[α, β, γ] = ∂a_βγ/∂q_α."""
    return (D + np.einsum("bga->abg", D) - np.einsum("gab->abg", D)) / 2


def cloud(case, q):
    """The point masses in space (n, k, 3)."""
    P = pose(case, q)
    return P.r[:, None] + np.einsum("ixy,iky->ikx", P.R, case.rho)


def along(case, function):
    """d/dt of a function of (q, q̇) along the motion."""
    return complex_step(lambda h: function(case.q + h * case.qdot, case.qdot + h * case.qddot), np.array(0.0), 1.0)


def newton_euler(case, gravity, force, point, couple):
    """What the joints must exert, by the recursion of Newton and Euler."""
    P, n = pose(case, case.q), len(case.q)
    w, alpha, a, x = np.zeros(3), np.zeros(3), np.zeros(3), case.base  # of the body before; of its end
    F, N = [], []
    for k in range(n):
        z, v, accel = P.z[k], case.qdot[k], case.qddot[k]
        if case.kinds[k] == TURN:
            alpha, w = alpha + accel * z + np.cross(w, v * z), w + v * z
        else:
            slide = P.o[k] - x
            a = a + np.cross(alpha, slide) + np.cross(w, np.cross(w, slide)) + 2 * np.cross(w, v * z) + accel * z
        arm, link = P.R[k] @ case.c[k], P.R[k] @ case.d[k]
        center = a + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        inertia = P.R[k] @ case.J[k] @ P.R[k].T
        F.append(case.m[k] * (center - gravity) - force[k])
        N.append(inertia @ alpha + np.cross(w, inertia @ w) - couple[k] - np.cross(P.R[k] @ point[k], force[k]))
        a, x = a + np.cross(alpha, link) + np.cross(w, np.cross(w, link)), P.o[k] + link
    tau, f, moment, o = np.zeros(n), np.zeros(3), np.zeros(3), np.zeros(3)
    for k in reversed(range(n)):
        moment = moment + np.cross(o - P.o[k], f) + N[k] + np.cross(P.r[k] - P.o[k], F[k])
        f, o = f + F[k], P.o[k]
        tau[k] = P.z[k] @ (moment if case.kinds[k] == TURN else f)
    return tau


def unloaded(case):
    return newton_euler(case, *np.zeros((1, 3)), *np.zeros((3, len(case.q), 3)))


def joint(case, k, q_k):
    """p_k of joint k from its axis and angle, without the mounting."""
    half = q_k / 2 if case.kinds[k] == TURN else 0 * q_k
    return np.array([np.cos(half), *(np.sin(half) * case.e[k])])


def composite(case, q, a, b):
    """p_{a,b}, from Hamilton's table."""
    p = ONE
    for k in range(a, b):
        p = plain.ham(plain.ham(p, case.mounts[k]), joint(case, k, q[k]))
    return p


@given(cases())
def test_the_oracle_agrees_with_itself(case):
    """Moments of axes are derivatives of positions, and Newton and Euler agree with Lagrange."""
    assert_close(T_of(case, case.q), gradient(lambda q: pose(case, q).r, case.q))
    a = lambda q: a_tr(case, q) + a_rot(case, q)
    Gamma = symbols(gradient(a, case.q))
    Q = a(case.q) @ case.qddot + np.einsum("abg,a,b->g", Gamma, case.qdot, case.qdot)
    assert_close(unloaded(case), Q)


# ── frames ───────────────────────────────────────────────────────────────────────────────────────────


@equation("Zoric 22, 23", of="papers.chain.selectors")
@given(cases())
def test_selectors_tell_sliding_from_turning(case):
    found = chain.selectors(case.chain)
    assert_close(found.revolute, revolute(case))
    assert_close(found.prismatic, 1 - revolute(case))


@equation("Zoric 24", of="papers.chain.in_frame")
@given(cases(mounted=False), vectors())
def test_components_are_the_same_in_all_frames_of_the_reference_configuration(case, x):
    n = len(case.q)
    assert_close(chain.in_frame(case.chain, 0 * case.q, x, n - 1, n), x)
    assert_close(chain.in_frame(case.chain, 0 * case.q, x, 0, n), x)


@equation("Zoric 25, 27, 32", of="papers.chain.in_frame")
@given(cases(least=2), vectors(), st.data())
def test_a_change_of_frame_turns_components(case, x, data):
    R = [np.eye(3), *pose(case, case.q).R]
    j = data.draw(st.integers(2, len(case.q)))
    for a, b in ((j - 1, j), (j - 2, j), (0, j), (j, 0), (j, j)):
        assert_close(chain.in_frame(case.chain, case.q, x, a, b), R[a].T @ R[b] @ x)


@equation("Zoric 30", of="papers.chain.in_frame")
@given(cases(mounted=False, kind=SLIDE), vectors())
def test_a_slide_changes_no_components(case, x):
    assert_close(chain.in_frame(case.chain, case.q, x, len(case.q) - 1, len(case.q)), x)


@equation("Zoric 26, 29, 31", of="papers.chain.joint_quaternions")
@given(cases())
def test_joint_quaternions_turn_about_the_axis(case):
    found = chain.joint_quaternions(case.chain, case.q)
    assert_close(found, np.array([joint(case, k, q_k) for k, q_k in enumerate(case.q)]))
    for k, p in enumerate(found):
        assert_close(plain.matrix(p), about(case.e[k], revolute(case)[k] * case.q[k]))


@equation("Zoric 28, 33, 34", of="papers.chain.relative_attitude")
@given(cases(), st.data())
def test_relative_attitudes_are_products_along_the_chain(case, data):
    n = len(case.q)
    a = data.draw(st.integers(0, n))
    b = data.draw(st.integers(a, n))
    found = chain.relative_attitude(case.chain, case.q, a, b)
    assert_close(found, composite(case, case.q, a, b))
    assert_close(chain.relative_attitude(case.chain, case.q, b, a), plain.star(composite(case, case.q, a, b)))
    assert_close(chain.relative_attitude(case.chain, case.q, b, b), ONE)


@equation("Zoric 33", of="papers.chain.attitudes")
@given(cases())
def test_attitudes_are_those_of_the_rotation_matrices(case):
    found = chain.attitudes(case.chain, case.q)
    assert_close(found, np.array([composite(case, case.q, 0, k + 1) for k in range(len(case.q))]))
    assert_close(np.array([plain.matrix(p) for p in found]), pose(case, case.q).R)


@equation("Zoric 37, 52, 75, 116", of="papers.chain.joint_axes")
@given(cases())
def test_axes_in_space(case):
    assert_close(chain.joint_axes(case.chain, case.q), pose(case, case.q).z)


@equation("Zoric 36", of="papers.chain.link_vectors")
@given(cases())
def test_link_vectors_lead_from_joint_to_joint(case):
    expected = np.einsum("kxy,ky->kx", pose(case, case.q).R, case.d)
    assert_close(chain.link_vectors(case.chain, case.q), expected)


@equation("Zoric 38", of="papers.chain.center_vectors")
@given(cases())
def test_center_vectors_lead_from_the_end_of_the_link(case):
    P = pose(case, case.q)
    ends = P.o + np.einsum("kxy,ky->kx", P.R, case.d)
    assert_close(chain.center_vectors(case.chain, case.q), P.r - ends)


@equation("Zoric 102, 103", of="papers.chain.axes_in_bodies")
@given(cases())
def test_axes_in_the_frames_of_later_bodies(case):
    P = pose(case, case.q)
    expected = moved(case)[..., None] * np.einsum("iyx,ay->aix", P.R, P.z)
    assert_close(chain.axes_in_bodies(case.chain, case.q), expected)


@equation("Zoric 102, 103", of="papers.chain.axes_in_bodies")
@given(cases(mounted=False), st.data())
def test_an_axis_is_the_same_before_and_after_its_joint(case, data):
    i = data.draw(st.integers(1, len(case.q)))
    a = data.draw(st.integers(1, i))
    found = chain.axes_in_bodies(case.chain, case.q)[a - 1, i - 1]
    for start in (a - 1, a):
        assert_close(found, plain.turn(plain.star(composite(case, case.q, start, i)), case.e[a - 1]))


# ── derivatives of quaternions and of carried vectors ────────────────────────────────────────────────


@equation("Zoric 41, 42, 44", of="papers.chain.joint_quaternion_derivatives")
@given(cases())
def test_derivatives_of_joint_quaternions(case):
    joints = lambda q: np.array([joint(case, k, q_k) for k, q_k in enumerate(q)])
    assert_close(chain.joint_quaternion_derivatives(case.chain, case.q), gradient(joints, case.q))


@equation("Zoric 45", of="papers.chain.joint_quaternions")
@given(cases())
def test_joint_quaternions_times_their_conjugates_are_one(case):
    for p in chain.joint_quaternions(case.chain, case.q):
        assert_close(plain.ham(p, plain.star(p)), ONE)


@equation("Zoric 46-48", of="papers.chain.joint_conjugate_derivatives")
@given(cases())
def test_derivatives_of_conjugate_joint_quaternions(case):
    found = chain.joint_conjugate_derivatives(case.chain, case.q)
    joints = lambda q: np.array([joint(case, k, q_k) for k, q_k in enumerate(q)])
    D = gradient(joints, case.q)
    assert_close(found, plain.star(D))
    for a, p in enumerate(joints(case.q)):
        assert_close(plain.ham(p, found[a, a]), -plain.ham(D[a, a], plain.star(p)))


def attitude_gradient(case):
    return gradient(lambda q: np.array([composite(case, q, 0, k + 1) for k in range(len(q))]), case.q)


@equation("Zoric 49, 50", of="papers.chain.attitude_derivatives_from_joints")
@given(cases())
def test_derivatives_of_attitudes_from_axes_in_their_frames(case):
    found = chain.attitude_derivatives_from_joints(case.chain, case.q)
    assert_close(found, attitude_gradient(case))
    p, rho = np.array([composite(case, case.q, 0, k + 1) for k in range(len(case.q))]), plain.pure(case.d)
    turned = plain.ham(plain.ham(found, rho), plain.star(p)) + plain.ham(plain.ham(p, rho), plain.star(found))
    links = gradient(lambda q: np.einsum("kxy,ky->kx", pose(case, q).R, case.d), case.q)
    assert_close(turned, plain.pure(links))


@equation("Zoric 51", of="papers.chain.attitude_conjugate_derivatives_from_joints")
@given(cases())
def test_derivatives_of_conjugate_attitudes_from_axes_in_their_frames(case):
    found = chain.attitude_conjugate_derivatives_from_joints(case.chain, case.q)
    assert_close(found, plain.star(attitude_gradient(case)))


@equation("Zoric 53", of="papers.chain.attitude_derivatives")
@given(cases())
def test_derivatives_of_attitudes_from_axes_in_space(case):
    assert_close(chain.attitude_derivatives(case.chain, case.q), attitude_gradient(case))


@equation("Zoric 54", of="papers.chain.attitude_conjugate_derivatives")
@given(cases())
def test_derivatives_of_conjugate_attitudes_from_axes_in_space(case):
    assert_close(chain.attitude_conjugate_derivatives(case.chain, case.q), plain.star(attitude_gradient(case)))


@equation("Zoric 49, 55, 56", of="papers.chain.link_derivatives")
@given(cases())
def test_derivatives_of_link_vectors(case):
    links = lambda q: np.einsum("kxy,ky->kx", pose(case, q).R, case.d)
    assert_close(chain.link_derivatives(case.chain, case.q), gradient(links, case.q))


@equation("Zoric 57, 58", of="papers.chain.axis_derivatives")
@given(cases())
def test_derivatives_of_axes(case):
    assert_close(chain.axis_derivatives(case.chain, case.q), gradient(lambda q: pose(case, q).z, case.q))


@equation("Zoric 59, 60", of="papers.chain.center_derivatives")
@given(cases())
def test_derivatives_of_center_vectors(case):
    arms = lambda q: np.einsum("kxy,ky->kx", pose(case, q).R, case.c - case.d)
    assert_close(chain.center_derivatives(case.chain, case.q), gradient(arms, case.q))


@equation("Zoric 55, 56, 88", of="papers.chain.carried_derivatives")
@given(cases())
def test_derivatives_of_any_carried_vector(case):
    x = case.rho[:, 0]
    found = chain.carried_derivatives(case.chain, case.q, x)
    carried = lambda q: np.einsum("kxy,ky->kx", pose(case, q).R, x)
    assert_close(found, gradient(carried, case.q))
    omega = np.einsum("aix,a->ix", Omega_of(case, case.q), case.qdot)
    assert_close(np.einsum("aix,a->ix", found, case.qdot), np.cross(omega, carried(case.q)))


@equation("Zoric 118, 119", of="papers.chain.axis_derivatives_in_bodies")
@given(cases(most=4))
def test_derivatives_of_axes_in_later_frames(case):
    def axes(q):
        P = pose(case, q)
        return moved(case)[..., None] * np.einsum("iyx,by->bix", P.R, P.z)

    assert_close(chain.axis_derivatives_in_bodies(case.chain, case.q), gradient(axes, case.q))


# ── positions, velocities, accelerations ─────────────────────────────────────────────────────────────


@equation("Zoric 35", of="papers.chain.positions")
@given(cases())
def test_positions_are_those_of_the_rotation_matrices(case):
    assert_close(chain.positions(case.chain, case.q), pose(case, case.q).r)


@equation("Zoric 40, 61, 62, 64", of="papers.chain.quasi_basic_vectors")
@given(cases())
def test_quasi_basic_vectors_are_derivatives_of_positions(case):
    found = chain.quasi_basic_vectors(case.chain, case.q)
    assert_close(found, gradient(lambda q: pose(case, q).r, case.q))


def test_complex_numbers_pass_through():
    rng = np.random.default_rng(1)
    made = chain.Chain.make(
        [TURN, SLIDE], rng.normal(size=(2, 3)), *rng.normal(size=(2, 2, 3)), np.ones(2), np.ones((2, 3))
    )
    q = rng.normal(size=2)
    steps = gradient(lambda x: chain.positions(made, x), q)
    assert_close(chain.quasi_basic_vectors(made, q), steps)


@equation("Zoric 39, 63, 86", of="papers.chain.velocities")
@given(cases())
def test_velocities_are_rates_of_positions(case):
    assert_close(chain.velocities(case.chain, case.q, case.qdot), along(case, lambda q, _: pose(case, q).r))


@equation("Zoric 67, 69-73, 76, 114", of="papers.chain.quasi_basic_derivatives")
@given(cases(most=4))
def test_second_derivatives_of_positions(case):
    found = chain.quasi_basic_derivatives(case.chain, case.q)
    D = gradient(lambda q: T_of(case, q), case.q)  # [β, α, i]
    assert_close(found, D.swapaxes(0, 1))
    assert_close(found, found.swapaxes(0, 1))


@equation("Zoric 66", of="papers.chain.quasi_basic_rates")
@given(cases())
def test_rates_of_quasi_basic_vectors(case):
    found = chain.quasi_basic_rates(case.chain, case.q, case.qdot)
    assert_close(found, along(case, lambda q, _: T_of(case, q)))


@equation("Zoric 65, 68, 74", of="papers.chain.accelerations")
@given(cases())
def test_accelerations_are_rates_of_velocities(case):
    found = chain.accelerations(case.chain, case.q, case.qdot, case.qddot)
    V = lambda q, qdot: np.einsum("aix,a->ix", T_of(case, q), qdot)
    assert_close(found, along(case, V))


@equation("Zoric 78", of="papers.chain.angular_vectors")
@given(cases())
def test_angular_vectors_turn_the_bodies(case):
    R = pose(case, case.q).R
    S = np.einsum("aixy,izy->aixz", gradient(lambda q: pose(case, q).R, case.q), R)
    expected = np.stack([S[..., 2, 1], S[..., 0, 2], S[..., 1, 0]], axis=-1)
    assert_close(chain.angular_vectors(case.chain, case.q), expected)


@equation("Zoric 77-79", of="papers.chain.angular_velocities")
@given(cases())
def test_angular_velocities_are_those_of_the_rotation_matrices(case):
    S = np.einsum("ixy,izy->ixz", along(case, lambda q, _: pose(case, q).R), pose(case, case.q).R)
    expected = np.stack([S[..., 2, 1], S[..., 0, 2], S[..., 1, 0]], axis=-1)
    assert_close(chain.angular_velocities(case.chain, case.q, case.qdot), expected)


@equation("Zoric 81", of="papers.chain.point_velocities")
@given(cases())
def test_velocities_of_body_points(case):
    found = chain.point_velocities(case.chain, case.q, case.qdot, case.rho[:, 1])
    assert_close(found, along(case, lambda q, _: cloud(case, q)[:, 1]))


# ── kinetic energy and metric tensor ─────────────────────────────────────────────────────────────────


def energies(case):
    """½ Σ dm V² of every body, from the velocities of its points."""
    V = along(case, lambda q, _: cloud(case, q))
    return np.einsum("ik,ikx,ikx->i", case.dm, V, V) / 2


@equation("Zoric 80, 82", of="papers.chain.body_energies_of_points")
@given(cases(most=4))
def test_energy_of_point_masses(case):
    found = chain.body_energies_of_points(case.chain, case.q, case.qdot, case.dm, case.rho)
    assert_close(found, energies(case))
    one = chain.body_energies_of_points(case.chain, case.q, case.qdot, case.dm[:, :1], case.rho[:, :1])
    V = along(case, lambda q, _: cloud(case, q)[:, 0])
    assert_close(one, case.dm[:, 0] * np.sum(V * V, axis=-1) / 2)


@equation("Zoric 83", of="papers.chain.center_of_points")
@given(cases())
def test_mass_centre_of_points(case):
    for dm, rho, c in zip(case.dm, case.rho, case.c, strict=True):
        assert_close(chain.center_of_points(dm, rho), np.zeros(3))
        assert_close(chain.center_of_points(dm, rho + c), c)


@equation("Zoric 84", of="papers.chain.body_energies")
@given(cases())
def test_energy_of_a_body_is_that_of_its_points(case):
    assert_close(chain.body_energies(case.chain, case.q, case.qdot), energies(case))


@equation("Zoric 85", of="papers.chain.kinetic_energy")
@given(cases())
def test_energy_of_the_chain_is_that_of_its_points(case):
    assert_close(chain.kinetic_energy(case.chain, case.q, case.qdot), energies(case).sum())


@equation("Zoric 90", of="papers.chain.kinetic_energy_of_metric")
@given(cases())
def test_energy_is_a_quadratic_form(case):
    assert_close(chain.kinetic_energy_of_metric(case.chain, case.q, case.qdot), energies(case).sum())


@equation("Zoric 87", of="papers.chain.quasi_basic_products")
@given(cases())
def test_products_of_quasi_basic_vectors_give_squared_speeds(case):
    found = chain.quasi_basic_products(case.chain, case.q)
    T = gradient(lambda q: pose(case, q).r, case.q)
    assert_close(found, np.einsum("aix,bix->abi", T, T))
    V = along(case, lambda q, _: pose(case, q).r)
    assert_close(np.einsum("abi,a,b->i", found, case.qdot, case.qdot), np.sum(V * V, axis=-1))


def point_metric(case, points):
    """Σ dm ∂x/∂q_α·∂x/∂q_β."""
    D = gradient(points, case.q)
    return np.einsum("ik,aikx,bikx->ab", case.dm, D, D)


def about_centres(case):
    return lambda q: np.einsum("ixy,iky->ikx", pose(case, q).R, case.rho)


@equation("Zoric 92, 99", of="papers.chain.metric_translational")
@given(cases())
def test_translational_metric_is_that_of_the_mass_centres(case):
    T = gradient(lambda q: pose(case, q).r, case.q)
    assert_close(chain.metric_translational(case.chain, case.q), np.einsum("i,aix,bix->ab", case.m, T, T))


@equation("Zoric 95, 100", of="papers.chain.metric_rotational")
@given(cases())
def test_rotational_metric_is_that_of_points_about_mass_centres(case):
    assert_close(chain.metric_rotational(case.chain, case.q), point_metric(case, about_centres(case)))


@equation("Zoric 89, 93", of="papers.chain.metric_rotational_of_points")
@given(cases(most=4))
def test_rotational_metric_by_definition(case):
    found = chain.metric_rotational_of_points(case.chain, case.q, case.dm, case.rho)
    assert_close(found, point_metric(case, about_centres(case)))


@equation("Zoric 91", of="papers.chain.metric_of_points")
@given(cases(most=4))
def test_metric_by_definition(case):
    found = chain.metric_of_points(case.chain, case.q, case.dm, case.rho)
    assert_close(found, point_metric(case, lambda q: cloud(case, q)))


@equation("Zoric 97, 98, 101", of="papers.chain.metric")
@given(cases())
def test_metric_is_that_of_all_points(case):
    found = chain.metric(case.chain, case.q)
    assert_close(found, point_metric(case, lambda q: cloud(case, q)))
    assert_close(found, found.T)
    assert np.linalg.eigvalsh(found)[0] > 0


@equation("Zoric 94", of="papers.chain.inertia_of_points")
@given(directions(), directions(), vectors())
def test_products_with_one_point_are_its_inertia(e_a, e_b, rho):
    found = e_a @ chain.inertia_of_points([1.0], [rho]) @ e_b
    assert_close(found, np.cross(e_a, rho) @ np.cross(e_b, rho))


@equation("Zoric 96, 123", of="papers.chain.inertia_of_points")
@given(cases(most=1))
def test_inertia_of_point_masses(case):
    found = chain.inertia_of_points(case.dm[0], case.rho[0])
    x, y, z = case.rho[0].T
    rows = [[y * y + z * z, -x * y, -x * z], [-x * y, x * x + z * z, -y * z], [-x * z, -y * z, x * x + y * y]]
    assert_close(found, np.array(rows) @ case.dm[0])
    squares = [-m * plain.skew(rho) @ plain.skew(rho) for m, rho in zip(case.dm[0], case.rho[0], strict=True)]
    assert_close(found, sum(squares))


@equation("Zoric 128", of="papers.chain.planar_inertia_of_points")
@given(cases(most=1))
def test_planar_inertia_of_point_masses(case):
    found = chain.planar_inertia_of_points(case.dm[0], case.rho[0])
    assert_close(found, np.trace(case.J[0]) / 2 * np.eye(3) - case.J[0])


@equation("Zoric 128", of="spatial.planar_inertia")
@given(cases(most=1))
def test_planar_inertia_from_the_inertia(case):
    expected = np.einsum("k,kx,ky->xy", case.dm[0], case.rho[0], case.rho[0])
    assert_close(spatial.planar_inertia(case.J[0]), expected)


@given(cases(most=4))
def test_derivatives_of_the_translational_metric(case):
    found = chain.metric_translational_derivatives(case.chain, case.q)
    assert_close(found, gradient(lambda q: a_tr(case, q), case.q))


@equation("Zoric 117, 120", of="papers.chain.metric_rotational_derivatives")
@given(cases(most=4))
def test_derivatives_of_the_rotational_metric(case):
    found = chain.metric_rotational_derivatives(case.chain, case.q)
    assert_close(found, gradient(lambda q: a_rot(case, q), case.q))


@equation("Zoric 107", of="papers.chain.metric_derivatives")
@given(cases(most=4))
def test_derivatives_of_the_metric(case):
    found = chain.metric_derivatives(case.chain, case.q)
    assert_close(found, gradient(lambda q: a_tr(case, q) + a_rot(case, q), case.q))


# ── generalised forces and Lagrange's equations ──────────────────────────────────────────────────────


def loads(case):
    """Gravity, forces, their points, couples; any numbers will do."""
    x = np.cos(np.arange(1, 9 * len(case.q) + 1)).reshape(3, len(case.q), 3)
    return np.array([1.0, -2.0, -9.0]), x[0], x[1], x[2]


@equation("Zoric 104", of="papers.chain.gravity_force")
@given(cases())
def test_generalised_force_of_gravity_is_its_work(case):
    g, *_ = loads(case)
    work = lambda q: case.m @ (pose(case, q).r @ g)
    assert_close(chain.gravity_force(case.chain, case.q, g), gradient(work, case.q))


@equation("Zoric 104", of="papers.chain.applied_force")
@given(cases())
def test_generalised_force_of_forces_is_their_work(case):
    _, force, point, _ = loads(case)

    def work(q):
        P = pose(case, q)
        return np.sum(force * (P.r + np.einsum("ixy,iy->ix", P.R, point)))

    assert_close(chain.applied_force(case.chain, case.q, force, point), gradient(work, case.q))


@equation("Zoric 104", of="papers.chain.couple_force")
@given(cases())
def test_generalised_force_of_couples_is_their_work(case):
    """A couple M is a pair of forces f at ±½ρ with ρ × f = M."""
    *_, couple = loads(case)
    P = pose(case, case.q)
    arm = np.cross(couple, np.roll(couple, 1, axis=-1) + 1.0)
    f = np.cross(couple, arm) / np.sum(arm * arm, axis=-1, keepdims=True)
    fixed = np.einsum("iyx,iy->ix", P.R, arm)
    work = lambda q: np.sum(f * np.einsum("ixy,iy->ix", pose(case, q).R, fixed))
    assert_close(chain.couple_force(case.chain, case.q, couple), gradient(work, case.q))


@equation("Zoric 104", of="papers.chain.generalized_force")
@given(cases())
def test_newton_and_euler_find_the_same_joint_forces(case):
    """What a motion needs, less what gravity and loads give, is what the joints exert."""
    g, force, point, couple = loads(case)
    joints = newton_euler(case, g, force, point, couple)
    found = chain.generalized_force(case.chain, case.q, g, force, point, couple, joints)
    assert_close(found, unloaded(case))


@equation("Zoric 104", of="papers.chain.lagrange_derivative")
@given(cases(most=4))
def test_lagranges_equations_agree_with_newton_and_euler(case):
    found = chain.lagrange_derivative(case.chain, case.q, case.qdot, case.qddot)
    assert_close(found, unloaded(case))


@equation("Zoric 105, 106", of="papers.chain.momentum")
@given(cases())
def test_momenta_are_derivatives_of_the_energy(case):
    def energy(qdot):
        V = np.einsum("aikx,a->ikx", gradient(lambda q: cloud(case, q), case.q), qdot)
        return np.einsum("ik,ikx,ikx->", case.dm, V, V) / 2

    assert_close(chain.momentum(case.chain, case.q, case.qdot), gradient(energy, case.qdot))


@equation("Zoric 107", of="papers.chain.momentum_rate")
@given(cases(most=4))
def test_rates_of_the_momenta(case):
    found = chain.momentum_rate(case.chain, case.q, case.qdot, case.qddot)
    expected = along(case, lambda q, qdot: (a_tr(case, q) + a_rot(case, q)) @ qdot)
    assert_close(found, expected)


@equation("Zoric 108", of="papers.chain.energy_gradient")
@given(cases(most=4))
def test_derivatives_of_the_energy_by_the_coordinates(case):
    energy = lambda q: case.qdot @ (a_tr(case, q) + a_rot(case, q)) @ case.qdot / 2
    assert_close(chain.energy_gradient(case.chain, case.q, case.qdot), gradient(energy, case.q))


@equation("Zoric 109", of="papers.chain.inverse_dynamics")
@given(cases())
def test_the_covariant_form_agrees_with_newton_and_euler(case):
    found = chain.inverse_dynamics(case.chain, case.q, case.qdot, case.qddot)
    assert_close(found, unloaded(case))


@equation("Zoric 109", of="papers.chain.net_force")
@given(cases())
def test_the_net_force_accelerates(case):
    found = chain.net_force(case.chain, case.q, case.qdot, unloaded(case))
    assert_close(found, (a_tr(case, case.q) + a_rot(case, case.q)) @ case.qddot)


@equation("Zoric 109", of="papers.chain.forward_dynamics")
@given(cases())
def test_forces_of_newton_and_euler_give_the_accelerations(case):
    found = chain.forward_dynamics(case.chain, case.q, case.qdot, unloaded(case))
    a = a_tr(case, case.q) + a_rot(case, case.q)
    assert_close(found, case.qddot, condition=np.linalg.cond(a))


@equation("Zoric 109", of="papers.chain.coriolis")
@given(cases())
def test_the_coriolis_matrix_keeps_the_energy(case):
    """C q̇ is the velocity part of Newton and Euler, and ȧ − 2C is skew."""
    C = chain.coriolis(case.chain, case.q, case.qdot)
    assert_close(C @ case.qdot, unloaded(case._replace(qddot=0 * case.q)))
    adot = along(case, lambda q, _: a_tr(case, q) + a_rot(case, q))
    assert_close(C + C.T, adot)


# ── Christoffel symbols ──────────────────────────────────────────────────────────────────────────────


def Gamma_tr(case):
    return symbols(gradient(lambda q: a_tr(case, q), case.q))


def Gamma_rot(case):
    return symbols(gradient(lambda q: a_rot(case, q), case.q))


@equation("Zoric 110", of="papers.chain.christoffel_from_derivatives")
@given(cases(most=4))
def test_christoffel_symbols_by_definition(case):
    found = chain.christoffel_from_derivatives(case.chain, case.q)
    D = gradient(lambda q: a_tr(case, q) + a_rot(case, q), case.q)
    assert_close(found, symbols(D))


@equation("Zoric 112", of="papers.chain.christoffel_translational_from_derivatives")
@given(cases(most=4))
def test_translational_symbols_by_definition(case):
    assert_close(chain.christoffel_translational_from_derivatives(case.chain, case.q), Gamma_tr(case))


@equation("Zoric 113", of="papers.chain.christoffel_rotational_from_derivatives")
@given(cases(most=4))
def test_rotational_symbols_by_definition(case):
    assert_close(chain.christoffel_rotational_from_derivatives(case.chain, case.q), Gamma_rot(case))


@equation("Zoric 115, 116", of="papers.chain.christoffel_translational")
@given(cases(most=4))
def test_translational_symbols_without_differentiation(case):
    assert_close(chain.christoffel_translational(case.chain, case.q), Gamma_tr(case))


@equation("Zoric 121", of="papers.chain.christoffel_rotational_six_terms")
@given(cases(most=4))
def test_rotational_symbols_with_six_terms(case):
    assert_close(chain.christoffel_rotational_six_terms(case.chain, case.q), Gamma_rot(case))


@equation("Zoric 122", of="papers.chain.christoffel_rotational_three_terms")
@given(cases(most=4))
def test_rotational_symbols_with_three_terms(case):
    assert_close(chain.christoffel_rotational_three_terms(case.chain, case.q), Gamma_rot(case))


@equation("Zoric 124", of="papers.chain.christoffel_rotational_of_points")
@given(cases(most=3))
def test_rotational_symbols_of_point_masses(case):
    found = chain.christoffel_rotational_of_points(case.chain, case.q, case.dm, case.rho)
    assert_close(found, Gamma_rot(case))


@equation("Zoric 124, 125", of="papers.chain.christoffel_integrand")
@given(directions(), directions(), directions(), vectors())
def test_the_integrand_with_three_terms(a, b, g, rho):
    found = chain.christoffel_integrand(a, b, g, rho)
    first = -np.cross(a, b) @ plain.skew(rho) @ plain.skew(rho) @ g
    others = np.cross(a, g) @ np.outer(rho, rho) @ b + np.cross(b, g) @ np.outer(rho, rho) @ a
    assert_close(found, (first + others) / 2)
    swapped = chain.christoffel_integrand(b, a, g, rho)  # the last two terms stay, the first turns
    assert_close(found + swapped, others)


@equation("Zoric 126", of="papers.chain.christoffel_integrand_reduced")
@given(directions(), directions(), directions(), vectors())
def test_the_integrand_with_one_term(inf, sup, g, rho):
    found = chain.christoffel_integrand_reduced(inf, sup, g, rho)
    first = -np.cross(inf, sup) @ plain.skew(rho) @ plain.skew(rho) @ g
    assert_close(found, first + np.cross(inf, g) @ np.outer(rho, rho) @ sup)


@equation("Zoric 127", of="papers.chain.christoffel_rotational")
@given(cases(most=4))
def test_rotational_symbols_with_one_term(case):
    found = chain.christoffel_rotational(case.chain, case.q)
    assert_close(found, Gamma_rot(case))
    for a in range(len(case.q)):
        for b in range(len(case.q)):
            assert_close(found[a, b, max(a, b)], 0.0)


@equation("Zoric 111, 129", of="papers.chain.christoffel")
@given(cases(most=5))
def test_christoffel_symbols_are_the_sum_of_both_parts(case):
    found = chain.christoffel(case.chain, case.q)
    assert_close(found, Gamma_tr(case) + Gamma_rot(case))
    D = gradient(lambda q: a_tr(case, q) + a_rot(case, q), case.q)  # [β, α, γ]
    assert_close(np.einsum("abg->bag", found) + np.einsum("gba->bag", found), D)


# ── arrays, symbols, errors ──────────────────────────────────────────────────────────────────────────

OF_Q = [
    "accelerations angular_vectors angular_velocities attitude_conjugate_derivatives",
    "attitude_conjugate_derivatives_from_joints attitude_derivatives attitude_derivatives_from_joints attitudes",
    "axes_in_bodies axis_derivatives axis_derivatives_in_bodies body_energies center_derivatives center_vectors",
    "christoffel christoffel_from_derivatives coriolis energy_gradient forward_dynamics inverse_dynamics joint_axes",
    "joint_quaternions kinetic_energy lagrange_derivative link_vectors metric metric_derivatives momentum",
    "positions quasi_basic_derivatives quasi_basic_rates quasi_basic_vectors velocities",
]
OF_VELOCITY = (
    "angular_velocities body_energies coriolis energy_gradient kinetic_energy momentum quasi_basic_rates velocities"
)
OF_THREE = "accelerations forward_dynamics inverse_dynamics lagrange_derivative"


@pytest.mark.parametrize("name", " ".join(OF_Q).split())
def test_a_batch_is_many_single_states(name):
    rng = np.random.default_rng(7)
    e, d, c = rng.normal(size=(3, 3, 3))
    made = chain.Chain.make([TURN, SLIDE, TURN], e, d, c, np.ones(3), np.ones((3, 3)))
    count = 3 if name in OF_THREE.split() else 2 if name in OF_VELOCITY.split() else 1
    states = [rng.normal(size=(2, 1, 3)), *rng.normal(size=(2, 4, 3))][:count]
    found = getattr(chain, name)(made, *states)
    for i, j in np.ndindex(2, 4 if count > 1 else 1):
        one = [states[0][i, 0], *(x[j] for x in states[1:])]
        assert_close(found[i, j], getattr(chain, name)(made, *one))


def test_symbols_give_the_textbook_double_pendulum():
    m1, m2, l1, l2 = sympy.symbols("m1 m2 l1 l2", positive=True)
    t1, t2 = sympy.symbols("theta1 theta2", real=True)
    zero = Vec((0, 0, 0))
    down = [Vec((0, 0, -l1)), Vec((0, 0, -l2))]
    arm = chain.Chain(
        kinds=(TURN, TURN),
        axes=Vec([Vec((0, 1, 0))] * 2),
        links=Vec(down),
        centers=Vec(down),
        masses=Vec((m1, m2)),
        inertias=Vec([Vec((zero, zero, zero))] * 2),
    )
    a = chain.metric(arm, Vec((t1, t2)))
    textbook = [
        [m1 * l1**2 + m2 * (l1**2 + 2 * l1 * l2 * sympy.cos(t2) + l2**2), m2 * (l1 * l2 * sympy.cos(t2) + l2**2)],
        [m2 * (l1 * l2 * sympy.cos(t2) + l2**2), m2 * l2**2],
    ]
    Gamma = chain.christoffel(arm, Vec((t1, t2)))
    values = {m1: 1.1, m2: 0.7, l1: 0.9, l2: 1.3, t1: 0.4, t2: -0.8}
    number = lambda x: float(sympy.sympify(x).subs(values))
    for row, expected in zip(a, textbook, strict=True):
        for found, entry in zip(row, expected, strict=True):
            assert_close(number(found), number(entry))
    assert_close(number(Gamma[0][0][1]), number(m2 * l1 * l2 * sympy.sin(t2)))
    assert_close(number(Gamma[0][1][0]), number(-m2 * l1 * l2 * sympy.sin(t2)))


def arguments(n=2):
    return {
        "kinds": [TURN] * n,
        "axes": np.eye(3)[:n],
        "links": np.ones((n, 3)),
        "centers": np.ones((n, 3)),
        "masses": np.ones(n),
        "inertias": np.ones((n, 3)),
    }


def test_a_chain_prints_its_joints_and_may_be_given_in_lists():
    made = chain.Chain.make(
        [TURN, SLIDE], [[0, 0, 2], [1, 0, 0]], [[1, 0, 0]] * 2, [[0, 0, 0]] * 2, [1, 2], [[1, 1, 1]] * 2
    )
    assert str(made) == "chain of 2 bodies: revolute, prismatic"
    assert_close(made.axes[0], [0.0, 0.0, 1.0])
    assert_close(chain.positions(made, [0, 3]), np.array([[0.0, 0, 0], [4, 0, 0]]))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kinds": [TURN, "ball"]}, "ball"),
        ({"kinds": []}, "kinds"),
        ({"kinds": TURN}, "kinds"),
        ({"axes": [[1, 0, 0], [0, 0, 0]]}, "zero"),
        ({"axes": np.eye(3)}, r"\(3, 3\)"),
        ({"links": np.ones((2, 2, 3))}, "one chain"),
        ({"centers": [[0, 0, np.nan]] * 2}, "not finite"),
        ({"masses": [1, -1]}, "negative"),
        ({"inertias": [[1, 1, 3], [1, 1, 1]]}, "real body"),
        ({"inertias": [np.eye(3), np.eye(3) + np.eye(3, k=1)]}, "symmetric"),
        ({"base_attitude": [1, 1, 0, 0]}, "unit quaternion"),
        ({"mountings": [[1, 0, 0, 0], [2, 0, 0, 0]]}, "unit quaternion"),
    ],
)
def test_a_faulty_chain_is_refused(change, text):
    with pytest.raises(InputError, match=text):
        chain.Chain.make(**{**arguments(), **change})


def test_a_chain_of_symbols_has_as_many_vectors_as_joints():
    with pytest.raises(InputError, match="argument masses"):
        chain.Chain((TURN,), Vec([Vec((0, 0, 1))]), *[Vec([Vec((0, 0, 0))])] * 2, Vec(), Vec([Vec(np.eye(3))]))
    with pytest.raises(InputError, match="ball"):
        chain.Chain(("ball",), *[Vec((1,))] * 5)


def test_unphysical_inertias_pass_on_request():
    made = chain.Chain.make(**{**arguments(), "inertias": [[1, 1, 3], [1, 1, 1]]}, physical=False)
    assert made.n == 2


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda made: chain.positions(made, [1.0]), "argument q"),
        (lambda made: chain.velocities(made, [1.0, 2.0], [[1.0]]), "argument qdot"),
        (lambda made: chain.metric(made, ["a", "b"]), "numbers"),
        (lambda made: chain.velocities(made, np.ones((3, 2)), np.ones((4, 2))), "batch axes"),
        (lambda made: chain.in_frame(made, [0, 0], [1, 0, 0], 0, 3), "no such frame"),
        (lambda made: chain.generalized_force(made, [0, 0], points=np.ones((2, 3))), "without forces"),
        (lambda made: chain.inertia_of_points([1.0, 2.0], [[0, 0, 0]]), "argument points"),
    ],
)
def test_faulty_states_are_refused(call, text):
    with pytest.raises(InputError, match=text):
        call(chain.Chain.make(**arguments()))


def test_a_chain_that_nothing_resists_has_no_accelerations():
    made = chain.Chain.make(**{**arguments(), "masses": [1, 0], "inertias": [[1, 1, 1], [0, 0, 0]]})
    with pytest.raises(InputError, match="singular"):
        chain.forward_dynamics(made, [0.1, 0.2], [0, 0], [1, 1])
