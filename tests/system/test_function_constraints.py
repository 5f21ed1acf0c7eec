"""`ph.Constraint(function)`: any condition, as a function on generic scalars, does what the record of its kind does."""

import numpy as np
import pytest

import polhode as ph
from close import assert_close

SLED = ph.Body("sled", 1.5, (0.2, 0.2, 0.3), center=(0.2, 0.1, 0.0))
PLANE = ph.Joint("plane", "planar", "world", "sled")
STATES = np.random.default_rng(6).normal(size=(5, 9))


def skate(t, q, v):
    return v[1] * ph.cos(q[2]) - v[0] * ph.sin(q[2])


def as_matrix(t, q):
    return [[-ph.sin(q[2]), ph.cos(q[2]), 0]], [0]


def sled(*constraints):
    return ph.Model("sled", gravity=(0, -1, 0), bodies=[SLED], joints=[PLANE], constraints=constraints)


def accelerations(model):
    q, v, tau = STATES[:, :3], STATES[:, 3:6], STATES[:, 6:]
    return ph.compile(model).forward_dynamics(q, v, tau)


KNIFE = ph.Constraint("blade", "knife-edge", body_b="sled")


@pytest.mark.parametrize(
    "mine",
    [
        ph.Constraint(skate, holonomic=False),
        ph.Constraint(as_matrix, holonomic=False, matrix=True),
        ph.Constraint("blade", "function", {"function": skate, "rows": 1, "holonomic": False}),
    ],
)
def test_a_blade_may_be_written_three_ways(mine):
    assert_close(accelerations(sled(mine)), accelerations(sled(KNIFE)), 256)


def test_a_rod_may_be_a_function():
    rod = ph.Constraint("rod", "distance", body_b="sled", position_a=(2, 1, 0), length=1.2)
    mine = ph.Constraint(lambda t, q: ((q[0] - 2) ** 2 + (q[1] - 1) ** 2 - 1.44) / 2.4, name="rod", rows=("length",))
    assert_close(accelerations(sled(mine)), accelerations(sled(rod)), 256)
    assert ph.compile(sled(mine)).constraint_names == ["rod.length"]


def test_a_condition_may_depend_on_time_and_have_a_right_side():
    """v_x = cos t: the acceleration along x is −sin t, whatever acts."""
    mine = ph.Constraint(lambda t, q: ([[1.0, 0.0, 0.0]], [ph.cos(t)]), holonomic=False, matrix=True, name="belt")
    found = ph.compile(sled(mine)).forward_dynamics([0.1, 0.2, 0.3], [np.cos(0.7), 1, 1], [1, 2, 3], t=0.7)
    assert found[0] == pytest.approx(-np.sin(0.7), abs=1e-14)


def test_names_come_from_the_function_or_are_given():
    assert ph.Constraint(skate).name == "skate"
    assert ph.Constraint(lambda t, q: q[0]).name == "function"
    assert ph.Constraint(skate, name="blade").name == "blade"
    names = ph.compile(sled(ph.Constraint(lambda t, q: (q[0], q[1]), name="pin"))).constraint_names
    assert names == ["pin.0", "pin.1"]


def test_data_may_be_keywords_or_a_mapping():
    one = ph.Constraint("rod", "distance", body_b="sled", position_a=[2, 1, 0], length=1.2)
    assert one == ph.Constraint("rod", "distance", {"body_b": "sled", "position_a": (2, 1, 0), "length": 1.2})


def test_a_function_runs_and_stays_where_it_is_zero():
    circle = ph.Constraint(lambda t, q: q[0] * q[0] + q[1] * q[1] - 1, name="circle")
    run = ph.simulate(sled(circle), [1, 0, 0], [0, 2, 1], duration=1, samples=11)
    assert run.attrs["verdict"] == "good"
    x, y, _ = run["q"].values.T
    assert np.max(abs(np.hypot(x, y) - 1)) < 1e-13
