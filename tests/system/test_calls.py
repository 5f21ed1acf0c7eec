"""Arguments of a call: names that look alike are not taken for each other."""

import numpy as np
import pytest

import polhode as ph


def pushed():
    """A pendulum with a constant force on its bob, and a body whose name ends as a part of a wrench does."""
    arm, bob = (ph.Body(name, mass=1.0, inertia=[0.1, 0.1, 0.1]) for name in ("arm", "bob.force"))
    joints = [
        ph.Joint("hinge", "revolute", "world", "arm", axis=[0, 1, 0]),
        ph.Joint("slide", "prismatic", "arm", "bob.force", axis=[1, 0, 0]),
    ]
    return ph.Model(
        "pushed", bodies=[arm, bob], joints=joints, forces=[ph.Force("push", "bob.force", force=[1.0, 0.0, 2.0])]
    )


@pytest.fixture(params=["cpu", "python"])
def target(request):
    return request.param


def test_the_number_of_a_force_may_be_a_parameter(target):
    """Its path ends as a part of a wrench does: "forces.push.force"."""
    model = pushed()
    system = ph.compile(model, target=target, parameters=["forces.push.force"])
    q, v = [0.3, 0.1], [0.2, -0.4]
    plain = ph.compile(model, target=target).bias(q, v)
    np.testing.assert_allclose(system.bias(q, v), plain, rtol=1e-13)
    none = system.bias(q, v, parameters={"forces.push.force": [0.0, 0.0, 0.0]})
    wrench = {"bob.force": ([1.0, 0.0, 2.0], [0.0, 0.0, 0.0])}
    both = system.bias(q, v, wrench=wrench, parameters={"forces.push.force": [0.0, 0.0, 0.0]})
    np.testing.assert_allclose(both, plain, atol=1e-12)
    assert not np.allclose(none, plain)
    batch = system.forward_dynamics(q, v, [0, 0], parameters={"forces.push.force": np.outer([0, 1, 2], [1, 0, 2])})
    assert batch.shape == (3, 2)


def test_a_wrench_on_a_body_whose_name_ends_like_one(target):
    system = ph.compile(pushed(), target=target)
    q, v, push = [0.3, 0.1], [0.2, -0.4], ([0.5, 1.0, -2.0], [0.1, 0.2, 0.3])
    found = system.bias(q, v, wrench={"bob.force": push}) - system.bias(q, v)
    J = system.jacobian(q, "bob.force")
    np.testing.assert_allclose(-found, J.T @ np.concatenate(push), atol=1e-12)


def test_parameters_reach_the_derivatives(target):
    system = ph.compile(pushed(), target=target, parameters=["forces.push.force"])
    q, v, tau = np.array([0.3, 0.1]), np.array([0.2, -0.4]), np.zeros(2)
    given = {"parameters": {"forces.push.force": [3.0, 0.5, -1.0]}}
    found = system.forward_dynamics_derivatives(q, v, tau, **given)
    h = 1e-6
    for k, step in enumerate(h * np.eye(2)):
        ahead, behind = (system.forward_dynamics(q + s * step, v, tau, **given) for s in (1, -1))
        np.testing.assert_allclose(found.dq[:, k], (ahead - behind) / (2 * h), atol=1e-7)


def test_a_body_without_a_name_is_refused():
    """It is not the whole machine either."""
    system = ph.compile(ph.load("double-pendulum"))
    for call in (system.jacobian, system.pose, system.center_of_mass):
        with pytest.raises(ph.ModelError, match="''"):
            call([0.1, 0.2], "")
