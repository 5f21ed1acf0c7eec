"""Locked joints: the machine as it moves where they are held."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from edited_machines import random_machine, start_of

TOLERANCE = 1e-12
KINDS = ("free", "universal", "spherical", "screw", "revolute", "cylindrical", "prismatic", "planar")


def places(model, names, which):
    """The places of the numbers of joints that are not named."""
    at, found = 0, []
    for joint in model.joints:
        size = getattr(joint, which)
        found += range(at, at + size) if joint.name not in names else ()
        at += size
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("merge", [True, False])
def test_the_rest_of_the_machine_moves_as_before(seed, merge):
    """M and inverse dynamics are the rows of the free joints, where those that are locked do not move."""
    model = random_machine(seed, KINDS, loop=False)
    rng = np.random.default_rng(seed)
    names = [joint.name for joint in model.joints if rng.uniform() < 0.5][:4] or [model.joints[0].name]
    q, v = start_of(model)
    found = model.with_locked(names, merge=merge, drop=True)
    kept = {force.name for force in found.forces}
    gone = {force.name for force in model.forces if set(force.joints) & set(names)}
    model = replace(
        model,
        forces=[force for force in model.forces if force.name in kept | gone],
        joints=[replace(x, stiffness=0.0) if x.name in names else x for x in model.joints],
    )
    model = replace(model, forces=[force for force in model.forces if force.name not in gone])
    at_q, at_v = places(model, names, "nq"), places(model, names, "nv")
    np.testing.assert_array_equal(found.start.q, q[at_q])
    still, vd = np.zeros_like(v), np.zeros_like(v)
    still[at_v], vd[at_v] = v[at_v], rng.normal(size=len(at_v))
    before, after = (ph.compile(each, target="python") for each in (model, found))
    own = q[at_q], v[at_v]
    for expected, given in (
        (np.array(before.mass_matrix(q))[np.ix_(at_v, at_v)], after.mass_matrix(own[0])),
        (np.array(before.inverse_dynamics(q, still, vd))[at_v], after.inverse_dynamics(*own, vd[at_v])),
        (np.array(before.energy(q, still)), after.energy(*own)),
        (np.array(before.pose(q, found.bodies[-1].name).position), after.pose(own[0], found.bodies[-1].name).position),
    ):
        np.testing.assert_allclose(given, expected, atol=TOLERANCE * (1 + np.max(abs(expected))), rtol=0)


@pytest.mark.parametrize("seed", range(4))
def test_loops_move_as_if_a_constraint_held_the_joint(seed):
    """Accelerations are those of the whole machine with the joint prescribed."""
    model = random_machine(seed, ("universal", "spherical", "screw", "revolute", "prismatic"))
    joint = next(joint for joint in model.joints if joint.type in ("revolute", "screw", "prismatic"))
    found = model.with_locked([joint.name], drop=True)
    kept = {record.name for record in (*found.forces, *found.constraints)}
    at_q, at_v = places(model, [joint.name], "nq"), places(model, [joint.name], "nv")
    q, v = start_of(model)
    (place,) = {*range(model.nq)} - {*at_q}
    v[[*{*range(model.nv)} - {*at_v}]] = 0.0
    held = ph.Constraint("held", "prescribed", joint=joint.name, value=q[place])
    whole = replace(
        model,
        forces=[force for force in model.forces if force.name in kept],
        constraints=[*(each for each in model.constraints if each.name in kept), held],
    )
    tau = np.random.default_rng(seed).normal(size=model.nv)
    expected = np.array(ph.compile(whole, target="python").forward_dynamics(q, v, tau))[at_v]
    given = ph.compile(found, target="python").forward_dynamics(q[at_q], v[at_v], tau[at_v])
    np.testing.assert_allclose(given, expected, atol=1e-10 * (1 + np.max(abs(expected))), rtol=0)
    assert found.constraints


def geared_row():
    """A machine of three hinges in a row, the last of which follows the first."""
    bodies = [ph.Body(name, 1.0, (1, 1, 1), (0.5, 0, 0)) for name in "abc"]
    joints = [
        ph.Joint(f"j{name}", "revolute", parent, name, axis=(0, 1, 0), position=(1, 0, 0))
        for parent, name in (("world", "a"), ("a", "b"), ("b", "c"))
    ]
    gear = ph.Constraint("gear", "gear", joint="jc", source="ja", multiplier=2.0, offset=0.1)
    return ph.Model("row", bodies=bodies, joints=joints, constraints=[gear])


def test_a_joint_that_follows_a_locked_one_is_held():
    model = geared_row()
    assert model.with_locked({"ja": 0.3}).constraints[0].data == {"joint": "jc", "value": 0.7}
    (held,) = model.with_locked({"jc": 0.7}).constraints
    assert held.data["joint"] == "ja"
    assert held.data["value"] == pytest.approx(0.3)
    assert model.with_locked({"jc": 0.7, "ja": 0.3}).constraints == ()
    with pytest.raises(ph.ModelError, match=r"constraint 'gear': 'jc' is locked at 1, where 'ja' demands 0\.7"):
        model.with_locked({"jc": 1.0, "ja": 0.3})


def test_backlash_against_a_locked_joint_is_about_its_place():
    gap = ph.Backlash("gap", "ja", "jb", gap=0.1, ratio=3.0, offset=0.2, stiffness=1.0)
    model = replace(geared_row(), constraints=(), forces=[gap])
    (found,) = model.with_locked({"jb": 0.5}).forces
    assert (found.other, found.offset) == (None, 1.7)
    with pytest.raises(ph.ModelError, match="force 'gap': joint 'ja' is locked, 'jb' is not"):
        model.with_locked({"ja": 0.5})


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"jx": 0.0}, "no such joint.*Did you mean"),
        ({"ja": np.nan}, "joint 'ja': not its coordinates"),
        ({"ja": (1.0, 2.0)}, "1 finite numbers"),
        ({"ja": "up"}, "not its coordinates"),
        (3, "not values by joint"),
        ("ja", "not values by joint"),
    ],
)
def test_values_that_are_none_are_told(values, told):
    with pytest.raises(ph.InputError, match=f"(?s){told}"):
        geared_row().with_locked(values)


def test_a_quaternion_that_is_none_is_told():
    body = ph.Body("a", 1.0, (1, 1, 1))
    model = ph.Model("ball", bodies=[body], joints=[ph.Joint("ball", "spherical", "world", "a")])
    with pytest.raises(ph.InputError, match="joint 'ball': not a unit quaternion"):
        model.with_locked({"ball": (1, 1, 0, 0)})
    assert model.with_locked({"ball": (0, 1, 0, 0)}).joints[0].orientation == (0.0, 1.0, 0.0, 0.0)


def test_a_user_function_of_all_coordinates_is_told():
    model = replace(geared_row(), forces=[ph.ForceFunction("drive", lambda t, q, v: [0, 0, q[0]])])
    with pytest.raises(ph.ModelError, match="force 'drive': its function is of q and v of the model as it was"):
        model.with_locked({"jb": 0.0})


def test_nothing_locked_is_the_same_machine():
    model = geared_row()
    assert not model.with_locked({}).diff(model)
