"""Another body as the base: the same motion of every body."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from edited_machines import motions, random_machine

TOLERANCE = 1e-11
"""Accelerations of chains of eight: ε times the condition of their mass matrix, about 1e4."""

KINDS = ("free", "universal", "spherical", "screw", "cylindrical", "revolute", "prismatic", "fixed")


def flying(seed, kinds=KINDS):
    """A furnished chain that flies; nothing is along the coordinates of its base."""
    model = random_machine(seed, kinds, chain=True)
    return replace(model, joints=[replace(x, armature=0.0) if x.type == "free" else x for x in model.joints])


@pytest.mark.parametrize("seed", range(8))
def test_bodies_move_as_before(seed):
    model = flying(seed)
    found = model.with_base(model.bodies[-1 - seed % 4].name)
    assert [joint.name for joint in found.joints] == [joint.name for joint in model.joints]
    after, energy = motions(found)
    expected, before = motions(model)
    np.testing.assert_allclose(energy, before, rtol=1e-12)
    for body, motion in expected.items():
        for one, other in zip(motion, after[body], strict=True):
            np.testing.assert_allclose(other, one, atol=TOLERANCE * (1 + np.max(abs(one))), rtol=0)


def plain_chain(kind, seed=3):
    rng = np.random.default_rng(seed)
    bodies = [ph.Body(name, 1.0, (1, 1.2, 1.4), rng.normal(size=3)) for name in "ab"]
    free = ph.Joint("base", "free", "world", "a")
    joint = ph.Joint("joint", kind, "a", "b", position=rng.normal(size=3), orientation=(0.6, 0.8, 0, 0))
    nq, nv = free.nq + joint.nq, free.nv + joint.nv
    q, v = rng.normal(size=nq), rng.normal(size=nv)
    q[3:7] /= np.linalg.norm(q[3:7])
    if joint.kind.has_quaternion:
        q[-4:] /= np.linalg.norm(q[-4:])
    return ph.Model("chain", bodies=bodies, joints=[free, joint], start=ph.Start(q=q, v=v))


@pytest.mark.parametrize("kind", ["planar", "free", "spherical"])
def test_joints_whose_coordinates_become_others(kind):
    model = plain_chain(kind)
    (after, energy), (expected, before) = motions(model.with_base("b")), motions(model)
    np.testing.assert_allclose(energy, before, rtol=1e-12)
    for body, motion in expected.items():
        for one, other in zip(motion, after[body], strict=True):
            np.testing.assert_allclose(other, one, atol=TOLERANCE * (1 + np.max(abs(one))), rtol=0)


def test_a_body_that_is_the_base_stays_it():
    model = plain_chain("free")
    assert model.with_base("a") is model


def test_a_base_that_does_not_fly_is_told():
    model = ph.load("double-pendulum")
    with pytest.raises(ph.ModelError, match="its base does not fly"):
        model.with_base(model.bodies[-1].name)
    with pytest.raises(ph.InputError, match="no such body"):
        model.with_base("nothing")


@pytest.mark.parametrize(("key", "value"), [("damping", 0.1), ("stiffness", 1.0), ("lower", -1.0)])
def test_numbers_along_coordinates_that_become_others_are_told(key, value):
    model = plain_chain("planar")
    held = replace(model, joints=[model.joints[0], replace(model.joints[1], **{key: value})])
    with pytest.raises(ph.ModelError, match=r"joint 'joint', .*become others"):
        held.with_base("b")
