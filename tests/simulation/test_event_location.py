"""Events within a step: one function finds them for one run and for many, to the same bit."""

import math

import numpy as np
import pytest

from polhode.simulation.events.event_location import _passing, located
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
