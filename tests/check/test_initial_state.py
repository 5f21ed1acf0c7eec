"""Starts of machines given to few digits, and starts of which some coordinates and rates are kept."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph

FOUR_BAR = ph.load("four-bar")


def tilted(part, joint=True):
    """The four-bar with one hinge axis this much off: in its tree, or where the loop is closed."""
    axis = (part, -1.0, 0.3 * part)
    if joint:
        joints = [replace(j, axis=axis) if j.name == "knee" else j for j in FOUR_BAR.joints]
        return replace(FOUR_BAR, joints=tuple(joints))
    closing = FOUR_BAR.constraints[0]
    return replace(FOUR_BAR, constraints=(ph.Constraint(closing.name, closing.type, {**closing.data, "axis_b": axis}),))


@pytest.mark.parametrize("joint", [True, False], ids=["in the tree", "in the loop"])
@pytest.mark.parametrize("part", [1e-6, 1e-5])
def test_an_axis_of_six_digits_assembles_with_the_tolerance_that_is_named(part, joint):
    model = tilted(part, joint)
    with pytest.raises(ph.InputError, match=r"contradict each other|cannot be met") as told:
        ph.consistent_start(model)
    assert "closing." in str(told.value)
    named = float(str(told.value).partition("rank_tolerance=")[2].split()[0])
    assert part / 10 <= named <= 100 * part
    found = ph.consistent_start(model, rank_tolerance=named)
    assert abs(found.residual) < 10 * part
    assert np.max(abs(found.q - FOUR_BAR.start.q)) < 10 * part
    run = ph.simulate(model, duration=0.5, rank_tolerance=named, move_start=True)
    exact = ph.simulate(FOUR_BAR, duration=0.5)
    assert run.attrs["status"] == "finished"
    assert np.max(abs(run["q"].values - exact["q"].values)) < 100 * part


def test_given_rates_are_kept_and_all_others_follow():
    q = np.add(FOUR_BAR.start.q, (0.0, 0.02, -0.01))
    found = ph.consistent_start(FOUR_BAR, q, [10.0, 0.0, 0.0], keep=["motor"])
    assert found.q[0] == q[0]
    assert found.v[0] == 10.0
    assert found.residual < 1e-10
    scale = 10.0 / FOUR_BAR.start.v[0]  # one freedom: all rates follow from one
    assert found.q == pytest.approx(FOUR_BAR.start.q, abs=1e-9)
    assert found.v == pytest.approx(scale * np.array(FOUR_BAR.start.v), abs=1e-8)
    free = ph.consistent_start(FOUR_BAR, q, [10.0, 0.0, 0.0])
    assert abs(free.v[0] - 10.0) > 0.1


@pytest.mark.parametrize(("keep", "kept"), [("v.motor", "v"), ("q.motor", "q")])
def test_coordinates_or_rates_alone_may_be_kept(keep, kept):
    q, v = np.add(FOUR_BAR.start.q, (0.05, 0.0, 0.0)), [10.0, 0.0, 0.0]
    found = ph.consistent_start(FOUR_BAR, q, v, keep=[keep])
    assert found.residual < 1e-10
    assert (found.v[0] == 10.0) == (kept == "v")
    assert (found.q[0] == q[0]) == (kept == "q")


def test_rates_that_cannot_all_be_kept_are_told():
    with pytest.raises(ph.InputError, match=r"cannot be met.*\n.*\n.*Keep fewer"):
        ph.consistent_start(FOUR_BAR, v=[10.0, 0.0, 0.0], keep=["v.motor", "v.knee"])
    with pytest.raises(ph.InputError, match=r"Did you mean 'motor'"):
        ph.consistent_start(FOUR_BAR, keep=["moter"])
