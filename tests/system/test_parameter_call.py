"""Calls with parameters after the first: straight to machine code, and never with the numbers of an earlier call."""

import pickle

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InputError, UnknownNameError
from polhode.system.parameter_call import ParameterCall

PATHS = ["gravity", "bodies.upper.mass", "bodies.lower.center.2", "joints.hinge.damping"]
q, v, tau = np.array([0.3, -0.7]), np.array([1.1, 0.4]), np.array([0.2, 0.1])


def model():
    return ph.load("double-pendulum")


@pytest.fixture(scope="module")
def system():
    found = ph.compile(model(), parameters=PATHS)
    found.forward_dynamics(q, v, tau)
    assert isinstance(found.forward_dynamics, ParameterCall)
    return found


def expected(parameters):
    return ph.compile(model(), target="python", parameters=PATHS).forward_dynamics(q, v, tau, parameters=parameters)


def check(system, parameters):
    found = system.forward_dynamics(q, v, tau, parameters=parameters)
    assert found == pytest.approx(expected(parameters), rel=1e-13)


def test_each_call_has_its_own_numbers(system):
    mass = PATHS[1]
    for value in (2.0, 3.0, 2.0, 2, np.float64(4.0), np.array(5.0)):
        check(system, {mass: value})
    check(system, {})
    assert np.array_equal(system.forward_dynamics(q, v, tau), system.forward_dynamics(q, v, tau, parameters=None))


@pytest.mark.parametrize("kind", [list, np.array, tuple])
def test_a_vector_that_is_changed_in_place_is_seen(system, kind):
    given = {"gravity": kind([0.0, 0.0, -9.81])}
    check(system, given)
    if kind is not tuple:
        given["gravity"][2] = -1.62
    check(system, given)


def test_a_negative_zero_is_zero(system):
    damping = PATHS[-1]
    found = [system.forward_dynamics(q, v, tau, parameters={damping: zero}) for zero in (0.0, -0.0, 0.0)]
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


def test_one_state_and_batches_have_the_same_bits(system):
    mass, rng = PATHS[1], np.random.default_rng(1)
    Q, V, T = rng.normal(size=(3, 19, 2))
    masses = rng.uniform(1, 2, size=19)
    alone = [system.forward_dynamics(*x, parameters={mass: float(m)}) for *x, m in zip(Q, V, T, masses, strict=True)]
    assert np.array_equal(system.forward_dynamics(Q, V, T, parameters={mass: masses}), alone)
    one = [system.forward_dynamics(*x, parameters={mass: 1.5}) for x in zip(Q, V, T, strict=True)]
    assert np.array_equal(system.forward_dynamics(Q, V, T, parameters={mass: 1.5}), one)
    many = system.forward_dynamics(Q, V, T, parameters={mass: 1.5}, threads=2)
    assert np.array_equal(many, one)


def test_results_go_where_they_are_asked_for(system):
    out, given = np.empty(2), {PATHS[1]: 2.5}
    assert system.forward_dynamics(q, v, tau, parameters=given, out=out) is out
    assert np.array_equal(out, system.forward_dynamics(q, v, tau, parameters=given))
    derivatives = [system.forward_dynamics_derivatives(q, v, tau, parameters=given) for _ in range(2)]
    assert all(np.array_equal(a, b) for a, b in zip(*derivatives, strict=True))


def test_wrenches_and_times_join(system):
    wrench, given = {model().bodies[1].name: ([1.0, 0.0, 2.0], [0.0, 0.1, 0.0])}, {PATHS[1]: 2.5}
    plain = ph.compile(model(), target="python", parameters=PATHS)
    more = {"parameters": given, "wrench": wrench, "t": 0.5}
    assert system.forward_dynamics(q, v, tau, **more) == pytest.approx(plain.forward_dynamics(q, v, tau, **more))


def test_poses_of_bodies_take_parameters():
    names = [f"joints.{model().joints[1].name}.position"]
    body = model().bodies[1].name
    system = ph.compile(model(), parameters=names)
    for position in ([0.0, 0.0, -1.0], [0.0, 0.0, -2.0], [0.0, 0.0, -1.0]):
        found = system.pose(np.zeros(2), body, parameters={names[0]: position})
        assert found.position.tolist() == position


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"bodies.uper.mass": 1.0}, UnknownNameError),
        ({"gravity": [0.0, 0.0]}, InputError),
        ({"gravity": 1.0}, InputError),
        ({"gravity": "down"}, InputError),
        ([1.0], InputError),
    ],
)
def test_mistakes_are_told_after_the_first_call_too(system, given, error):
    with pytest.raises(error):
        system.forward_dynamics(q, v, tau, parameters=given)
    check(system, {})


def test_a_missing_argument_is_no_parameter(system):
    with pytest.raises(TypeError):
        system.forward_dynamics(q, v, parameters={})
    with pytest.raises(TypeError):
        system.forward_dynamics(q, v, tau, tau, parameters={})


def test_not_a_number_goes_in_and_out(system):
    assert np.all(np.isnan(system.forward_dynamics(q, v, tau, parameters={PATHS[1]: float("nan")})))
    check(system, {PATHS[1]: 2.0})


def test_a_call_can_be_sent_to_another_process(system):
    again = pickle.loads(pickle.dumps(system.forward_dynamics))
    assert np.array_equal(again(q, v, tau), system.forward_dynamics(q, v, tau))


def test_many_parameters_are_one_input():
    """NumPy takes 64 arguments at most."""
    arm = ph.load("arm-7")
    names = [path for path in arm.numbers() if path.startswith("bodies.")] + ["gravity"]
    names += [f"joints.{joint.name}.damping" for joint in arm.joints] + [
        f"joints.{j.name}.armature" for j in arm.joints
    ]
    assert len(names) > 60
    system, x = ph.compile(arm, parameters=names), np.linspace(0.1, 0.7, 7)
    found = system.inverse_dynamics(x, x, x)
    assert found == pytest.approx(ph.compile(arm).inverse_dynamics(x, x, x), rel=1e-12)
    mass = names[0]
    both = system.inverse_dynamics(x, x, x, parameters={mass: np.array([arm.numbers()[mass], 9.0])})
    assert np.array_equal(both[0], found)
