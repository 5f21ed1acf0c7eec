"""Limbs alone, machines without them, and with others in their place."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from edited_machines import motions, random_machine

TOLERANCE = 1e-12
KINDS = ("free", "universal", "spherical", "screw", "revolute", "cylindrical", "prismatic", "planar")


@pytest.mark.parametrize("seed", range(4))
def test_a_limb_put_back_is_the_machine_as_it_was(seed):
    model = random_machine(seed, KINDS, chain=True)
    joint = model.joints[3 + seed % 3]
    limb, rest = model.limb(joint.name, drop=True), model.without_subtree(joint.name, drop=True)
    both = rest.append(limb, at=joint.parent)
    kept = {record.name for record in (*both.forces, *both.constraints)}
    model = replace(
        model,
        forces=[force for force in model.forces if force.name in kept],
        constraints=[each for each in model.constraints if each.name in kept],
    )
    assert len(kept) > 5
    assert {x.path for x in both.diff(model)} <= {"forces in order", "constraints in order"}
    found, energy = motions(both)
    expected, before = motions(model)
    np.testing.assert_allclose(energy, before, rtol=TOLERANCE)
    for body, motion in expected.items():
        for one, other in zip(motion, found[body], strict=True):
            np.testing.assert_allclose(other, one, atol=TOLERANCE * (1 + np.max(abs(one))) * 10, rtol=0)
    assert both.configurations["home"] == model.configurations["home"]


def arm(**more):
    bodies = [ph.Body(name, 1.0, (1, 1, 1)) for name in ("upper", "lower", "hand")]
    joints = [
        ph.Joint("shoulder", "revolute", "world", "upper", position=(0, 0, 2)),
        ph.Joint("elbow", "revolute", "upper", "lower", position=(0, 0, 1)),
        ph.Joint("wrist", "revolute", "lower", "hand", position=(0, 0, 0.5)),
    ]
    return ph.Model("arm", bodies=bodies, joints=joints, **more)


def test_the_ground_of_a_limb_is_what_carried_it():
    held = ph.Spring("muscle", "upper", "lower", point_a=(0, 1, 0), stiffness=1.0)
    limb = arm(forces=[held]).limb("elbow")
    assert [joint.parent for joint in limb.joints] == ["world", "lower"]
    assert limb.joints[0].position == (0.0, 0.0, 1.0)
    assert (limb.forces[0].body_a, limb.forces[0].point_a) == ("world", (0.0, 1.0, 0.0))


def test_what_reaches_out_of_a_limb_is_told_and_what_is_elsewhere_is_not():
    rope = ph.Spring("rope", "world", "hand", stiffness=1.0)
    push = ph.Force("push", "upper", force=(1, 0, 0))
    with pytest.raises(ph.ModelError, match="force 'rope': body 'world' is another one"):
        arm(forces=[rope, push]).limb("elbow")
    assert arm(forces=[push]).limb("wrist").forces == ()
    with pytest.raises(ph.ModelError, match="force 'rope': body 'hand' is removed"):
        arm(forces=[rope]).without_subtree("wrist")


def test_another_hand():
    tool = ph.Model(
        "tool", bodies=[ph.Body("tip", 2.0, (1, 1, 1))], joints=[ph.Joint("turn", "revolute", "world", "tip")]
    )
    found = arm(start=ph.Start(q=(1, 2, 3))).with_subtree("wrist", tool, prefix="tool.")
    assert [joint.name for joint in found.joints] == ["shoulder", "elbow", "tool.turn"]
    assert (found.joints[-1].parent, found.joints[-1].position) == ("lower", (0.0, 0.0, 0.5))
    assert found.start.q == (1.0, 2.0, 0.0)


@pytest.mark.parametrize("edit", ["limb", "without_subtree"])
def test_a_joint_that_is_not_there_is_told(edit):
    with pytest.raises(ph.InputError, match=f"{edit}, model 'arm': no such joint.*\n.*\n.*Did you mean 'wrist'"):
        getattr(arm(), edit)("wirst")
    with pytest.raises(ph.InputError, match="no such joint"):
        getattr(arm(), edit)(None)
