"""Machines in absolute coordinates: models that fly, held by their joints; states there and back."""

import numpy as np
import pytest

import polhode as ph
from machines import random_model, random_q

KINDS = ["revolute", "prismatic", "screw", "cylindrical", "universal", "planar", "spherical", "free", "fixed"]


def across(model):
    """The model with second axes across the first."""
    from dataclasses import replace

    def own(joint):
        if joint.type != "universal":
            return joint
        return replace(joint, axis2=tuple(np.cross(joint.axis, joint.axis2)))

    return replace(model, joints=[own(joint) for joint in model.joints])


@pytest.mark.parametrize("kind", KINDS)
def test_states_go_there_and_back(kind):
    model = across(random_model(["revolute", kind, "spherical"], 4, armature=False))
    rng = np.random.default_rng(1)
    q, v = random_q(model, rng), rng.normal(size=model.nv)
    flight = ph.absolute(model)
    Q, V = flight.to(q, v)
    back_q, back_v = flight.back(Q, V)
    np.testing.assert_allclose(ph.compile(model).difference(q, back_q), np.zeros(model.nv), atol=1e-12)
    np.testing.assert_allclose(back_v, v, atol=1e-12)
    missed = ph.compile(flight.model, target="python").constraint_residuals(Q, V)
    assert max(np.max(abs(missed.positions)), np.max(abs(missed.rates))) < 1e-13
    assert ph.diagnose(flight.model, Q, V).freedoms == model.nv


@pytest.mark.parametrize("name", ["double-pendulum", pytest.param("four-bar", marks=pytest.mark.long)])
def test_a_machine_moves_the_same_way_in_absolute_coordinates(name):
    model = ph.load(name)
    flight = ph.absolute(model)
    options = {"duration": 0.3, "tolerance": 1e-10, "samples": 2}
    run, other = ph.simulate(model, **options), ph.simulate(flight.model, **options)
    q, v = flight.back(other["q"].values[-1], other["v"].values[-1])
    turn = run["q"].values[-1] - q  # hinges: up to whole turns
    assert np.max(abs(turn - 2 * np.pi * np.round(turn / (2 * np.pi)))) < 1e-8
    assert np.max(abs(run["v"].values[-1] - v)) < 1e-7


@pytest.mark.parametrize(
    ("joint", "what"),
    [({"damping": 1.0}, "has damping"), ({"armature": 0.1}, "has armature"), ({"stiffness": 2.0}, "")],
)
def test_what_cannot_be_told_of_bodies_that_fly_is_refused(joint, what):
    body = ph.Body("b", 1.0, (0.1, 0.1, 0.1))
    model = ph.Model("m", bodies=[body], joints=[ph.Joint("j", "revolute", "world", "b", **joint)])
    with pytest.raises(ph.ModelError, match=what or "has stiffness"):
        ph.absolute(model)


def test_a_universal_joint_of_oblique_axes_flies_too():
    """Its two axes keep their angle, whatever it is."""
    model = random_model(["revolute", "universal", "spherical"], 4, armature=False)
    joint = next(joint for joint in model.joints if joint.type == "universal")
    assert abs(np.dot(joint.axis, joint.axis2)) > 0.05 * np.linalg.norm(joint.axis) * np.linalg.norm(joint.axis2)
    rng = np.random.default_rng(1)
    q, v = random_q(model, rng), rng.normal(size=model.nv)
    flight = ph.absolute(model)
    back_q, back_v = flight.back(*flight.to(q, v))
    np.testing.assert_allclose(ph.compile(model).difference(q, back_q), np.zeros(model.nv), atol=1e-12)
    np.testing.assert_allclose(back_v, v, atol=1e-12)
    missed = ph.compile(flight.model, target="python").constraint_residuals(*flight.to(q, v))
    assert max(np.max(abs(missed.positions)), np.max(abs(missed.rates))) < 1e-13
