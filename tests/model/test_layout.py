"""Numbers of joints by name, and messages that tell which numbers are whose."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from polhode.model.layout import layout_text


@pytest.fixture(scope="module")
def model():
    bodies = [ph.Body(name, 1.0, (1, 1.2, 1.4)) for name in "abcd"]
    joints = [
        ph.Joint("base", "free", "world", "a"),
        ph.Joint("plate", "fixed", "a", "d"),
        ph.Joint("elbow", "revolute", "a", "b"),
        ph.Joint("cross", "universal", "b", "c"),
    ]
    return ph.Model("m", bodies=bodies, joints=joints, configurations={"home": (0, 0, 1, 1, 0, 0, 0, 0.5, 0, 0)})


@pytest.fixture(scope="module")
def system(model):
    return ph.compile(model, target="python")


def test_the_layout_is_told_in_words(model):
    assert layout_text(model, "q") == (
        "q has 10 numbers: base 0–6 (position 3, quaternion 4 scalar first), elbow 7, cross 8–9 (angle1, angle2)."
    )
    assert layout_text(model, "tau") == (
        "tau has 9 numbers: base 0–5 (force 3, torque 3 in its own axes), elbow 6, cross 7–8 (rate1, rate2)."
    )


def test_layouts_of_many_joints_are_cut():
    assert layout_text(ph.load("chain-50"), "v").endswith("… and 42 more.")


@pytest.mark.parametrize("shape", [(), (1,), (7,), (0,), (2, 3)])
def test_numbers_by_joint_are_those_of_arrays(system, shape):
    rng = np.random.default_rng(1)
    q, v, vd = (rng.normal(size=(*shape, n)) for n in (10, 9, 9))
    q[..., 3:7] /= np.linalg.norm(q[..., 3:7], axis=-1, keepdims=True)
    expected = system.inverse_dynamics(q, v, vd)
    given = system.inverse_dynamics(
        {"elbow": q[..., 7], "base": q[..., :7], "cross": q[..., 8:]},
        {"base": v[..., :6], "elbow": v[..., 6], "cross": v[..., 7:]},
        {"base": vd[..., :6], "elbow": vd[..., 6], "cross": vd[..., 7:]},
    )
    np.testing.assert_array_equal(given, expected)


def test_joints_that_are_left_out_are_at_zero(system, model):
    np.testing.assert_array_equal(system.mass_matrix({"elbow": 0.3}), system.mass_matrix([*model.zero[:7], 0.3, 0, 0]))
    np.testing.assert_array_equal(system.pose({}, "c").position, system.pose(model.zero, "c").position)


def test_a_batch_of_one_joint_is_a_batch(system):
    assert np.shape(system.mass_matrix({"elbow": np.linspace(0, 1, 5)})) == (5, 9, 9)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"elbw": 1.0}, r"(?s)mass_matrix, argument q: no such joint.*Did you mean 'elbow'"),
        ({3: 1.0}, "no such joint"),
        ({"plate": 1.0}, "a joint that does not move"),
        ({"base": (1.0, 2.0)}, r"(?s)argument q\['base'\]: wrong shape.*\(\.\.\., 7\)"),
        ({"cross": 1.0}, r"argument q\['cross'\]: wrong shape"),
        ({"elbow": "up"}, r"argument q\['elbow'\]: not an array of numbers"),
        ({"elbow": [1, 2], "cross": np.zeros((3, 2))}, "batches of different shapes"),
        (np.zeros(9), r"(?s)wrong shape.*q has 10 numbers: base 0–6"),
        ("hom", r"(?s)no such configuration.*'home'"),
    ],
)
def test_mistakes_tell_the_layout(system, given, told):
    with pytest.raises(ph.InputError, match=told):
        system.mass_matrix(given)


def test_compiled_systems_take_names_before_and_after_their_first_call():
    pendulum = ph.load("pendulum")
    (joint,) = pendulum.joints
    system = ph.compile(pendulum)
    for _ in range(2):
        assert system.gravity({joint.name: 0.5})[0] == system.gravity(np.array([0.5]))[0]


def test_own_states_have_the_values_that_they_start_with():
    jet = ph.Thrust("jet", "a", flow=0.1, exhaust_speed=1.0)
    rail = ph.Joint("rail", "prismatic", "world", "a")
    model = ph.Model("rocket", bodies=[ph.Body("a", 5.0, (1, 1, 1))], joints=[rail], forces=[jet])
    assert layout_text(model, "v") == "v has 2 numbers: rail 0, jet 1 (own states burnt)."
    system = ph.compile(model, target="python")
    zero = np.zeros(2)
    np.testing.assert_array_equal(
        system.forward_dynamics([0.0], {"jet": 0.3}, zero), system.forward_dynamics([0.0], [0.0, 0.3], zero)
    )


def test_a_run_starts_at_numbers_by_joint_and_at_a_configuration():
    model = ph.load("double-pendulum")
    first, second = (joint.name for joint in model.joints)
    named = ph.Model(
        model.name, bodies=model.bodies, joints=model.joints, configurations={"bent": (0.5, -0.5)}, start=model.start
    )
    run = {"duration": 0.01, "verify": False}
    expected = ph.simulate(model, q=(0.5, -0.5), v=(0.0, 1.0), **run)
    by_joint = ph.simulate(model, q={first: 0.5, second: [-0.5]}, v={second: 1.0}, **run)
    by_name = ph.simulate(named, q="bent", v={second: 1.0}, **run)
    for found in (by_joint, by_name):
        np.testing.assert_array_equal(found["q"], expected["q"])
    with pytest.raises(ph.UnknownNameError, match=r"(?s)no such configuration.*Did you mean 'bent'"):
        ph.simulate(named, q="bend", **run)
    with pytest.raises(ph.InputError, match=r"(?s)simulate, q: wrong shape.*q has 2 numbers"):
        ph.simulate(model, q=(1, 2, 3), **run)


def test_calls_take_numbers_by_joint_and_names_of_configurations():
    """System, Simulator.step, inverse kinematics, same_configuration: as arrays, one and the same result."""
    plain = ph.load("double-pendulum")
    names = [joint.name for joint in plain.joints]
    model = replace(plain, configurations={"bent": (0.3, -0.4)}, frames=(ph.BodyFrame("tip", "lower", (0, 0, -1)),))
    q, by_name = np.array([0.3, -0.4]), dict(zip(names, (0.3, -0.4), strict=True))
    system = ph.compile(model, target="python")
    simulator = ph.simulator(model, step=1e-3, method="rk4")
    for given in (by_name, "bent"):
        assert np.array_equal(system.mass_matrix(given), system.mass_matrix(q))
        assert ph.same_configuration(model, given, q)
        found = simulator.step(given, by_name, by_name)
        assert np.array_equal(found.q, simulator.step(q, q, q).q)
        assert np.array_equal(found.v, simulator.step(q, q, q).v)
        target = {"tip": system.pose(q, "tip").position}
        found, known = (ph.inverse_kinematics(model, target, start=x, posture=x) for x in (given, q))
        assert np.array_equal(found.q, known.q)
    with pytest.raises(ph.UnknownNameError, match="no such configuration"):
        system.mass_matrix("straight")
    with pytest.raises(ph.InputError, match="q has 2 numbers"):
        ph.compile(plain, target="python").mass_matrix("bent")
    with pytest.raises(ph.InputError, match="argument v"):
        system.energy(q, "bent")
    assert model.subtree_mass("tip") == model.subtree_mass("lower")
    assert system.inertia_of_bodies(q, ["tip"]).mass == model.body("lower").mass
