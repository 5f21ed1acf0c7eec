"""Bushings: forces from their potential at any angle, small motions, dissipation, what is refused."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.linalg import expm

import polhode as ph
from close import RESIDUAL, assert_close, complex_step
from polhode import quaternion
from polhode.dynamics import forces, inverse, kinematics
from polhode.formats.yaml import model_from_yaml, to_yaml
from polhode.kernel.backends.cuda import cuda_source
from polhode.model import make_tree
from polhode.scalar import Vec
from polhode.spatial import ORIGIN

rng = np.random.default_rng(3)
A, B = rng.normal(size=(2, 6, 6))
K = A @ A.T + np.diag([50.0, 60, 70, 5, 6, 7])
D = B @ B.T / 20
J, M = (0.3, 0.4, 0.5), 2.0
AT = ("first", "midway")


def flying(*elements):
    """Two bodies that fly, and the world."""
    bodies = [ph.Body("a", 1.0, (0.1, 0.2, 0.25), (0.1, 0, 0)), ph.Body("b", M, J, (0, 0.2, 0))]
    joints = [ph.Joint(f"air-{body.name}", "free", "world", body.name) for body in bodies]
    return ph.Model("pair", (0, 0, 0), bodies, joints, elements)


def bushing(at, stiffness=K, damping=(0.0,) * 6, body_a="a"):
    frames = {
        "orientation_a": quaternion.normalise([2.0, 1, 0, 1]),
        "orientation_b": quaternion.normalise([1.0, 3, -1, 0]),
    }
    return ph.Bushing(
        "u", body_a, "b", (0.1, 0.2, 0), (0, 0, -0.3), **frames, stiffness=stiffness, damping=damping, at=at
    )


def generalized(tree, q, v):
    """Generalised forces of the elements."""
    q, v, nothing = (Vec(np.asarray(x).tolist()) for x in (q, v, np.zeros(tree.nv)))
    found = forces.acting(tree, 0.0, q, v)
    return -np.array(inverse.inverse_dynamics(tree, q, nothing, nothing, ORIGIN, found.wrenches))


def pose(seed, angle):
    """Positions of both bodies, b turned from a by an angle, frames of the bushing taken into account."""
    rng = np.random.default_rng(seed)
    q_a, axis = quaternion.normalise(rng.normal(size=4)), rng.normal(size=3)
    turn = quaternion.from_axis_angle(axis, angle)
    element = bushing("first")
    frame_b = quaternion.product(quaternion.product(q_a, element.orientation_a), turn)
    q_b = quaternion.product(frame_b, quaternion.conjugate(element.orientation_b))
    return np.concatenate([rng.normal(size=3), np.asarray(q_a), rng.normal(size=3), np.asarray(q_b)])


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e-9, 1e-4, 0.019, 0.021, 0.3, 1.5, 2.5, 3.0]), st.sampled_from(AT))
def test_its_forces_are_the_slopes_of_its_potential_at_any_angle(seed, angle, at):
    tree, q = make_tree(flying(bushing(at))), pose(seed, angle)
    state = lambda x: kinematics.machine_state(tree, 0.0, Vec(x.tolist()), Vec([0.0] * 12))
    directions = [np.array(kinematics.rate(tree, Vec(q.tolist()), Vec(e.tolist()))) for e in np.eye(12)]
    slopes = [complex_step(lambda x: tree.forces[0].potential(state(x)), q, d) for d in directions]
    assert_close(generalized(tree, q, np.zeros(12)), -np.array(slopes), condition=100, scale=1000)


@given(st.integers(0, 10**6), st.floats(0, 3.1), st.sampled_from(AT))
def test_its_damper_takes_energy_from_every_relative_motion_and_from_no_other(seed, angle, at):
    tree, q = make_tree(flying(bushing(at, np.zeros(6), D))), pose(seed, angle)
    v = np.random.default_rng(seed + 1).normal(size=12)
    assert generalized(tree, q, v) @ v < 0
    both = rigid(q, v[:6])
    assert np.max(abs(generalized(tree, q, both))) < 1e3 * RESIDUAL


def rigid(q, twist):
    """Velocities of both bodies in a motion as one: linear and angular velocity of the world's origin."""
    found = []
    for x in (q[:7], q[7:]):
        back = np.asarray(quaternion.rotation_matrix(x[3:])).T
        found += [*(twist[:3] + np.cross(twist[3:], x[:3])), *(back @ twist[3:])]
    return np.array(found)


@pytest.mark.parametrize("at", AT)
def test_small_motions_are_those_of_the_linear_equations(at):
    model = ph.Model(
        "small", (0, 0, 0), [ph.Body("b", M, J)], [ph.Joint("air", "free", "world", "b")],
        [ph.Bushing("u", "world", "b", stiffness=K, damping=D, at=at)],
    )  # fmt: skip
    mass = np.diag([M] * 3 + [*J])
    S = np.block([[np.zeros((6, 6)), np.eye(6)], [-np.linalg.solve(mass, K), -np.linalg.solve(mass, D)]])
    small, way = 1e-6, np.array([0.5, -0.3, 0.2, 0.3, -0.5, 0.8])
    q = np.concatenate([small * way[:3], np.asarray(quaternion.exp(small * way[3:] / 2))])
    run = ph.simulate(model, q=q, duration=2.0, tolerance=1e-14, samples=3)
    expected = expm(2.0 * S) @ np.concatenate([way, np.zeros(6)])
    turn = 2 * np.asarray(quaternion.log(run.q.values[-1][3:]))
    found = np.concatenate([run.q.values[-1][:3], turn, run.v.values[-1]]) / small
    assert np.max(abs(found - expected)) < 1e-5 * np.max(abs(expected))  # quadratic terms are of size 1e-6
    linear = ph.linearize(model, [0, 0, 0, 1, 0, 0, 0])
    assert_close(linear.A, S, condition=10)


@pytest.mark.parametrize("at", AT)
def test_energy_and_momenta_stay_in_large_motions(at):
    q = np.array([0, 0, 0, 1, 0, 0, 0, 0.5, -0.2, 0.4, np.cos(0.6), 0, np.sin(0.6), 0])
    v = np.array([0.5, 0, 0, 1, 2, -1, 0, -0.5, 0, -2, 1, 1.0])
    plain = ph.Bushing("u", "a", "b", (0.1, 0.2, 0), (0, 0, -0.3), stiffness=K, at=at)
    run = ph.simulate(flying(plain), q=q, v=v, duration=3.0, tolerance=1e-12)
    total = (run.kinetic_energy + run.potential_energy).values
    assert np.max(abs(total - total[0])) < 1e-10 * float(run.kinetic_energy.max())
    assert np.max(abs(run.linear_momentum.values - run.linear_momentum.values[0])) < 1e-10
    assert np.max(abs(run.angular_momentum.values - run.angular_momentum.values[0])) < 1e-10
    assert run.attrs["verdict"] == "good"


def test_midway_sees_both_ends_alike():
    """With its ends exchanged, and its matrices as seen from the other side, a bushing at midway is the same."""
    back = -np.eye(6)
    one = ph.Bushing("u", "a", "b", (0.1, 0.2, 0), (0, 0, -0.3), stiffness=K, damping=D)
    other = ph.Bushing("u", "b", "a", (0, 0, -0.3), (0.1, 0.2, 0), stiffness=back @ K @ back, damping=back @ D @ back)
    q, v = pose(5, 1.2), np.random.default_rng(6).normal(size=12)
    found = [generalized(make_tree(flying(element)), q, v) for element in (one, other)]
    assert_close(*found, scale=100)


def test_kernels_of_all_targets_and_lanes_agree(tmp_path):
    model = flying(bushing("midway", K, D))
    system, oracle = ph.compile(model), ph.compile(model, target="python")
    q, v = np.array([pose(seed, 0.3 * seed) for seed in range(9)]), np.random.default_rng(1).normal(size=(9, 12))
    tau = np.zeros((9, 12))
    expected = oracle.forward_dynamics(q, v, tau)
    assert_close(system.forward_dynamics(q, v, tau), expected, condition=10, scale=1000)
    assert_close(system.forward_dynamics(q[2], v[2], tau[2]), expected[2], condition=10, scale=1000)
    assert "atan2" in cuda_source(system._kernel("test", "forward_dynamics").graph, "forward", "double")
    assert "atan2" in system.export_c(tmp_path / "pair.c").read_text()


def test_its_numbers_are_varied_and_differentiated():
    element = ph.Bushing("u", "a", "b", stiffness=(5.0, 6.0, 7.0, 1.0, 2.0, 3.0), damping=(0.1,) * 6)
    path, options = "forces.u.stiffness.4", {"duration": 0.3, "step": 0.01, "method": "rk4", "q": pose(2, 0.8)}
    model = flying(element)
    found = ph.simulate(model, sensitivities=[path], **options).sensitivity_v.values[-1, :, 0]
    h = 1e-5
    ends = [ph.simulate(model.with_numbers({path: 2.0 + s * h}), **options).v.values[-1] for s in (-1, 1)]
    assert_close(found, (ends[1] - ends[0]) / (2 * h), condition=1e5)
    assert np.max(abs(found)) > 1e-3


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"stiffness": (1, 2, 3)}, ["force 'u', stiffness", "(3,)", "6 numbers, or 6 rows of 6: x, y, z, turn x"]),
        ({"damping": np.ones((6, 5))}, ["force 'u', damping", "(6, 5)"]),
        ({"stiffness": K + np.eye(6, k=1)}, ["force 'u', stiffness", "not symmetric", "(x, y)", "[0][1] ="]),
        ({"stiffness": 3.0}, ["force 'u', stiffness", "not numbers"]),
        ({"at": "last"}, ["force 'u', at", "'first' or 'midway'"]),
        ({"orientation_a": (1, 1, 0, 0)}, ["orientation_a", "not a unit quaternion"]),
    ],
)
def test_what_is_no_bushing_is_told(values, words):
    with pytest.raises(ph.ModelError) as caught:
        ph.Bushing("u", "a", "b", **values)
    for word in words:
        assert word in str(caught.value)


def test_a_matrix_that_is_not_positive_warns():
    with pytest.warns(ph.PolhodeWarning, match="force 'u', stiffness: is negative and pushes away") as told:
        ph.Bushing("u", "a", "b", stiffness=(1, 1, -1, 1, 1, 1))
    assert told[0].filename == __file__


def test_it_is_read_and_written():
    model = flying(bushing("first", K, D), ph.Bushing("w", "world", "a", stiffness=(1, 2, 3, 4, 5, 6)))
    assert model_from_yaml(to_yaml(model), "text") == model
    text = to_yaml(model).replace("stiffness: [1.0, 2.0", "stiffness: [1.0, [2.0]")
    with pytest.raises(ph.ModelError, match=r"forces\.w\.stiffness"):
        model_from_yaml(text, "text")
