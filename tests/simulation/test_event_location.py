"""Events within a step: one function finds them for one run and for many, to the same bit."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import polhode as ph
from polhode.simulation.events.event_location import StepEvents, _passing, located
from polhode.simulation.step_state import SURFACE, Crossing, crossed

ROOTS = np.array([1e-9, 0.1, 1 / 3, 0.5, 0.9, 1.0])


@pytest.mark.parametrize("direction", [-1, 0, 1])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_one_run_and_many_find_the_same_bits(direction, sign):
    crossing = Crossing(lambda t, q, v: 0.0, direction)
    before = -sign * ROOTS
    many = located(crossing, before, lambda theta: sign * (theta - ROOTS), np.ones(len(ROOTS)))
    one = [located(crossing, -sign * root, lambda x, root=root: sign * (x - root)) for root in ROOTS.tolist()]
    assert many.tolist() == one
    watched = direction in (0, sign)
    expected = ROOTS if watched else np.ones(len(ROOTS))
    assert np.all((many >= expected) & (many <= expected + 2.0**-60))


def test_the_part_found_lies_at_the_zero_or_one_rounding_after_it():
    crossing = Crossing(lambda t, q, v: 0.0, 0)
    found = located(crossing, -math.cos(1.0), lambda x: -math.cos(1.0 + x))
    assert -math.cos(1.0 + found) >= 0 > -math.cos(1.0 + math.nextafter(found, 0) - 2**-52)


@pytest.mark.parametrize("before", [-2.0, -1e-320, 0.0, 1e-320, 3.0])
def test_passing_a_surface_is_crossing_zero_both_ways(before):
    passed = _passing(SURFACE, before)
    for value in (-math.inf, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, math.inf, math.nan):
        assert bool(passed(value)) == bool(crossed((SURFACE,), (before,), (value,)))


@pytest.mark.parametrize("method", ["heun", "midpoint", "radau2"])
@pytest.mark.parametrize("step", [0.1, 0.233])
def test_a_companion_does_not_repeat_how_a_run_passes_a_contact(method, step):
    """A wall that is left within the step after its touch: the passage depends on no step size, and no step on it."""
    block = ph.Body("block", 1.0, (0.1, 0.1, 0.1))
    slide = ph.Joint("slide", "prismatic", "world", "block", axis=(0, 0, 1))
    wall = ph.Backlash("wall", "slide", gap=0.4, stiffness=35e3, dissipation=0.3)
    model = ph.Model("walls", gravity=(0, 0, 0), bodies=[block], joints=[slide], forces=[wall])
    run = ph.simulate(model, v=[-2.0], duration=0.7, step=step, method=method)
    times = run.time.values
    exact = ph.simulate(model, v=[-2.0], duration=0.7, samples=tuple(times), tolerance=1e-12, verify=False)
    error = np.maximum(abs(run.q - exact.q)[:, 0], abs(run.v - exact.v)[:, 0] / 3).values
    assert error.max() > 1e-2
    assert run.attrs["verdict"] == "failed"
    assert error[times < run.attrs["good_until"]].max() < 1e-6


class StepWithFunctions(StepEvents):
    """A step of 1 s whose switching functions are known, and where it was rejected."""

    def __init__(self, functions):
        self.functions, self.begin, self.h, self.is_switching = functions, 0.0, 1.0, True
        self.packed, self._known = None, (math.nan, None)
        model = SimpleNamespace(nq=0, nv=0)
        fields = {"g": self._all(1.0), "g_before": self._all(0.0), "t": 0.0}
        self.compiled = SimpleNamespace(
            model=model, crossings=(), spec=SimpleNamespace(fixed=False),
            field=lambda packed, name: fields[name], number=lambda packed, name: {"t": 0.0, "h": 0.2}[name],
        )  # fmt: skip

    def _all(self, theta):
        return np.array([function(theta) for function in self.functions])

    @property
    def _inside(self):
        return lambda theta: np.array([theta, 0.0, *self._all(theta)])


def test_a_surface_passed_and_passed_back_before_the_one_that_the_end_of_a_step_shows_is_found():
    """The end of a rejected step may lie where only the later one of two has passed."""
    back = StepWithFunctions([lambda x: x - 0.564, lambda x: 0.01 if 0.502 < x < 0.6 else -0.01])
    assert back.switch.k == 1
    assert back.switch.low <= 0.502 < back.switch.high + 1e-12
    plain = StepWithFunctions([lambda x: x - 0.564, lambda x: x - 0.7])
    assert plain.switch.k == 0
    assert plain.switch.high == pytest.approx(0.564)
