"""Machines of another size: the same motion, scaled."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from edited_machines import BodyMotion, motions, random_machine

TOLERANCE = 1e-11
L, M, T = 2.0, 3.0, 0.7


@pytest.mark.parametrize("seed", range(6))
def test_bodies_move_as_before_at_another_size(seed):
    model = random_machine(seed)
    (found, energy), (expected, before) = motions(model.scaled(L, M, T)), motions(model)
    np.testing.assert_allclose(energy, before * M * L**2 / T**2, rtol=1e-12)
    for body, motion in expected.items():
        for name, factor in zip(BodyMotion._fields, (L, L / T, L / T**2, 1 / T, 1 / T**2), strict=True):
            one = factor * getattr(motion, name)
            np.testing.assert_allclose(getattr(found[body], name), one, atol=TOLERANCE * (1 + np.max(abs(one))), rtol=0)


def test_gravity_stays_where_time_is_the_root_of_length():
    assert ph.load("double-pendulum").scaled(length=4.0, time=2.0).gravity == (0.0, 0.0, -9.81)


def test_joints_of_two_sorts_keep_the_ratio_of_what_they_go():
    bodies = [ph.Body(name, 1.0, (1, 1, 1)) for name in "ab"]
    joints = [ph.Joint("turn", "revolute", "world", "a"), ph.Joint("slide", "prismatic", "world", "b")]
    rack = ph.Constraint("rack", "gear", joint="slide", source="turn", offset=0.5)
    gap = ph.Backlash("gap", "turn", "slide", gap=0.1, ratio=3.0, stiffness=1.0)
    model = ph.Model("rack", bodies=bodies, joints=joints, constraints=[rack], forces=[gap])
    found = model.scaled(length=2.0)
    assert found.constraints[0].data == {"joint": "slide", "source": "turn", "offset": 1.0, "multiplier": 2.0}
    assert (found.forces[0].ratio, found.forces[0].gap, found.forces[0].stiffness) == (1.5, 0.1, 4.0)


def test_a_start_with_own_states_is_scaled_by_their_units():
    model = ph.Model(
        "rocket",
        bodies=[ph.Body("a", 5.0, (1, 1, 1))],
        joints=[ph.Joint("rail", "prismatic", "world", "a")],
        forces=[ph.Thrust("jet", "a", flow=0.1, exhaust_speed=3.0, propellant=1.0)],
        start=ph.Start(q=(1.0,), v=(2.0, 0.25, 0.0), duration=3.0),
        configurations={"up": (4.0,)},
    )
    found = model.scaled(length=2.0, mass=3.0, time=4.0)
    assert found.start == ph.Start(q=(2.0,), v=(1.0, 0.75, 0.0), duration=12.0)
    assert found.configurations == {"up": (8.0,)}
    jet = found.forces[0]
    np.testing.assert_allclose([jet.flow, jet.exhaust_speed, jet.propellant], [0.075, 1.5, 3.0])


@pytest.mark.parametrize("factor", [0.0, -1.0, np.nan, "two", None, True])
def test_a_factor_that_is_none_is_told(factor):
    with pytest.raises(ph.InputError, match="scaled, model 'double-pendulum', length"):
        ph.load("double-pendulum").scaled(length=factor)


def test_functions_have_numbers_of_their_own():
    model = ph.load("double-pendulum")
    law = ph.Spring("law", "world", model.bodies[0].name, law=lambda length, rate: 3 * length)
    with pytest.raises(ph.ModelError, match="force 'law': its function has numbers of its own"):
        replace(model, forces=[law]).scaled(2.0)
