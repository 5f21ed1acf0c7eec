"""Arguments of calls: parameters by their paths, whatever their names end with."""

import numpy as np
import pytest

import polhode as ph
from close import assert_close


def pushed(name="push", force=(1.0, 2.0, 3.0), torque=(0.0, 0.5, 0.0), body="arm"):
    body = ph.Body(body, 1.0, (0.1, 0.1, 0.1), (0.0, 0.0, -1.0))
    joint = ph.Joint("hinge", "revolute", "world", body.name, axis=(0, 1, 0))
    return ph.Model("pushed", bodies=[body], joints=[joint], forces=[ph.Force(name, body.name, force, torque)])


@pytest.mark.parametrize("target", ["cpu", "python"])
@pytest.mark.parametrize("name", ["push", "wrench", "couple"])
@pytest.mark.parametrize(("field", "value"), [("force", (4.0, 5.0, 6.0)), ("torque", (1.0, 2.0, 3.0))])
def test_the_numbers_of_a_force_are_parameters_of_a_call(target, name, field, value):
    path, q, v, tau = f"forces.{name}.{field}", np.array([0.3]), np.array([0.2]), np.array([0.1])
    system = ph.compile(pushed(name), target=target, parameters=[path])
    expected = ph.compile(pushed(name, **{field: value}), target="python")
    assert_close(system.forward_dynamics(q, v, tau, parameters={path: value}), expected.forward_dynamics(q, v, tau))
    own = ph.compile(pushed(name), target="python")
    assert_close(system.forward_dynamics(q, v, tau), own.forward_dynamics(q, v, tau))


@pytest.mark.parametrize("body", ["arm", "arm.force", "wrench.arm"])
def test_wrenches_and_parameters_of_one_call_keep_apart(body):
    path, q, v, tau = "forces.push.force", np.array([0.3]), np.array([0.2]), np.array([0.1])
    system = ph.compile(pushed(body=body), parameters=[path])
    load = {body: ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))}
    both = system.forward_dynamics(q, v, tau, parameters={path: (0.0, 0.0, 0.0)}, wrench=load)
    expected = ph.compile(pushed(force=(1.0, 0.0, 0.0), torque=(0.0, 1.5, 0.0)), target="python")
    assert_close(both, expected.forward_dynamics(q, v, tau))
