"""A bead on a wire, given by a function: its energy stays unless time enters, and is judged."""

import math

import pytest

import polhode as ph
from polhode.result.symmetry import conserved
from polhode.result.verdict import Grade


def bead(wire, **more):
    """A bead of 1 kg in a vertical plane, x across and z up, held by a function of (t, q)."""
    bodies = [ph.Body("slide", 0.1, (0.1, 0.1, 0.1)), ph.Body("bead", 1.0, (0.1, 0.1, 0.1))]
    across, up = ("x", "world", "slide", (1, 0, 0)), ("z", "slide", "bead", (0, 0, 1))
    joints = [ph.Joint(name, "prismatic", on, body, axis=axis) for name, on, body, axis in (across, up)]
    held = ph.Constraint(wire, **more)
    return ph.Model("bead", bodies=bodies, joints=joints, constraints=[held])


def corner(t, q):
    """Down at 45°, then level: two straight pieces, |x| written so that no condition tells of the corner."""
    return q[1] - (ph.sqrt(q[0] * q[0]) - q[0]) / 2


def told_corner(t, q):
    """The same, with a condition."""
    return q[1] - ph.maximum(-q[0], 0.0)


def bowl(t, q):
    return q[1] - q[0] * q[0]


@pytest.mark.parametrize("options", [{}, {"step": 0.002, "method": "gauss2"}], ids=["controlled", "equal"])
def test_a_bead_that_loses_its_energy_at_a_corner_is_not_good(options):
    run = ph.simulate(bead(corner), [-1.0, 1.0], duration=0.9, **options)
    energy = run["total_energy"].values
    assert energy[0] - energy[-1] > 1.0  # J: the velocity is projected onto the level piece
    assert run.attrs["verdict"] == "failed"
    drift = next(check for check in Grade.of(run.attrs).checks if check.name == "energy drift")
    assert drift.verdict == "failed"
    assert drift.value > 0.1


def test_a_bead_ends_at_a_corner_that_a_condition_tells_of():
    run = ph.simulate(bead(told_corner), [-1.0, 1.0], duration=0.9)
    assert run.attrs["status"] == run.attrs["verdict"] == "failed"
    assert run["q"].values[-1] == pytest.approx([0.0, 0.0], abs=1e-6)
    assert run["total_energy"].values[-1] == pytest.approx(run["total_energy"].values[0], rel=1e-9)


def test_a_bead_in_a_bowl_is_good_by_its_energy_too():
    run = ph.simulate(bead(bowl), [-1.0, 1.0], duration=2.0)
    assert run.attrs["verdict"] == "good"
    drift = next(check for check in Grade.of(run.attrs).checks if check.name == "energy drift")
    assert drift.verdict == "good"
    assert drift.value is not None


KNIFE, BELT = (lambda t, q, v: v[0] * ph.sin(q[1]) - v[1]), (lambda t, q, v: v[0] - 0.5)


@pytest.mark.parametrize(
    ("stays", "wire", "more"),
    [
        (True, corner, {}),
        (True, told_corner, {}),
        (True, bowl, {}),
        (True, lambda t, q: [q[0] - 1, ph.where(q[1] > 0, q[1], 2 * q[1])], {}),
        (False, lambda t, q: q[1] - math.pi * t, {}),
        (False, lambda t, q: q[1] - ph.where(q[0] > 5, t, 0.0), {}),
        (False, lambda t, q: q[1] - ph.where(t > 1, 1.0, 0.0), {}),
        (True, KNIFE, {"holonomic": False}),
        (False, BELT, {"holonomic": False}),
        (False, lambda t, q, v: v[0] - q[1], {"holonomic": False}),
        (False, lambda t, q, v: v[0] - t * v[1], {"holonomic": False}),
        (True, lambda t, q: ([[ph.sin(q[1]), -1.0]], [0.0]), {"holonomic": False, "matrix": True}),
        (False, lambda t, q: ([[ph.sin(q[1]), -1.0]], [q[0]]), {"holonomic": False, "matrix": True}),
    ],
)  # fmt: skip
def test_energy_stays_where_a_function_cannot_do_work(stays, wire, more):
    assert conserved(bead(wire, **more)).energy == stays
