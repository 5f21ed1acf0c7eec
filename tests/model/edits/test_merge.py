"""Bodies on fixed joints made one: the same machine with fewer bodies."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from edited_machines import random_machine, start_of

TOLERANCE = 1e-12
FIXED = ("free", "fixed", "universal", "fixed", "fixed", "spherical", "screw")


@pytest.mark.parametrize("seed", range(6))
def test_a_merged_machine_moves_as_before(seed):
    model = random_machine(seed, FIXED)
    found = model.merged(drop=True)
    kept = {record.name for record in (*found.forces, *found.constraints)}
    model = replace(
        model,
        forces=[force for force in model.forces if force.name in kept],
        constraints=[each for each in model.constraints if each.name in kept],
    )
    assert not any(joint.type == "fixed" and joint.parent != "world" for joint in found.joints)
    q, v = start_of(model)
    tau = np.random.default_rng(seed).normal(size=model.nv)
    before, after = (ph.compile(each, target="python") for each in (model, found))
    for ask in (
        lambda system: system.mass_matrix(q),
        lambda system: system.forward_dynamics(q, v, tau),
        lambda system: system.inverse_dynamics(q, v, tau),
        lambda system: np.array(system.energy(q, v)),
        lambda system: np.array(system.momentum(q, v)),
        lambda system: np.concatenate(system.pose(q, found.bodies[-1].name)),
    ):
        expected = np.array(ask(before))
        np.testing.assert_allclose(ask(after), expected, atol=TOLERANCE * (1 + np.max(abs(expected))), rtol=0)
    assert found.start.q == model.start.q
    assert found.configurations == model.configurations


def pair(**more):
    bodies = [ph.Body("a", 1.0, (1, 1, 1)), ph.Body("b", 1.0, (1, 1, 1))]
    joints = [ph.Joint("hinge", "revolute", "world", "a"), ph.Joint("weld", "fixed", "a", "b", position=(1, 0, 0))]
    return ph.Model("pair", bodies=bodies, joints=joints, **more)


def test_two_bodies_are_one_about_their_common_mass_centre():
    (body,) = pair().merged().bodies
    assert (body.name, body.mass, body.center) == ("a", 2.0, (0.5, 0.0, 0.0))
    np.testing.assert_allclose(body.inertia_matrix(), np.diag([2.0, 2.5, 2.5]), rtol=1e-15)


def test_what_cannot_be_carried_over_is_told_by_name():
    inside = ph.Spring("inside", "a", "b", stiffness=1.0)
    jet = ph.Thrust("jet", "b", flow=0.1, exhaust_speed=1.0)
    with pytest.raises(ph.ModelError, match=r"(?s)force 'inside'.*become one, 'a' and 'b'.*drop=True"):
        pair(forces=[inside]).merged()
    with pytest.raises(ph.ModelError, match=r"force 'jet'.*changes the mass"):
        pair(forces=[jet]).merged()
    assert pair(forces=[inside, jet]).merged(drop=True).forces == ()


def test_a_user_function_of_a_body_stays_where_its_axes_do():
    push = ph.BodyForce("push", lambda t, body: -body.velocity, "b", point=(0, 1, 0))
    assert pair(forces=[push]).merged().forces[0].point == (1.0, 1.0, 0.0)
    turned = replace(pair(forces=[push]).joints[1], orientation=(0.0, 1.0, 0.0, 0.0))
    with pytest.raises(ph.ModelError, match="force 'push': its function is of a body whose frame is another"):
        replace(pair(forces=[push]), joints=[pair().joints[0], turned]).merged()


def test_a_model_without_fixed_joints_is_itself():
    model = ph.load("double-pendulum")
    assert model.merged() is model
