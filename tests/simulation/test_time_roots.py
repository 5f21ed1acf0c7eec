"""Times before a run: zeros of functions of time, and abrupt changes of them."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import polhode as ph
from polhode.kernel import trace
from polhode.kernel.evaluate import evaluate
from polhode.kernel.intervals import bounds
from polhode.simulation.step_times.time_roots import abrupt_changes, roots


def zeros(function, duration=10.0):
    return roots(trace(lambda t: ph.Vec([function(t)]), t=()), duration, {})


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda t: t - 0.7, [0.7]),
        (lambda t: 0.1 - t, [0.1]),
        (lambda t: t - 12, []),
        (lambda t: (t - 3) / 7, [3.0]),
        (lambda t: t * t - 2, [math.sqrt(2)]),
        (lambda t: ph.sin(3 * t) - 1 + 1e-9, None),
        (lambda t: ph.exp(-t) - 1e-3, [math.log(1000)]),
        (lambda t: abs(t - 5) - 1e-7, [5 - 1e-7, 5 + 1e-7]),
        (lambda t: ph.where(t < 4, -1.0, 1.0), [4.0]),
        (lambda t: ph.cos(ph.sqrt(t)) * ph.log(1 + t), [math.pi**2 / 4]),
    ],
)
def test_all_zeros_are_found(function, expected):
    """Those of a sine near its top come in pairs that lie 3e-5 apart."""
    if expected is None:
        top = [(math.pi / 2 + 2 * math.pi * k) / 3 for k in range(5)]
        expected = sorted(t + side * math.acos(1 - 1e-9) / 3 for t in top for side in (-1, 1))
    found = zeros(function)
    found = found[found > 1e-9]
    assert found == pytest.approx(expected, abs=2e-13 if len(expected) != 10 else 1e-11)


def test_a_shifted_time_is_met_to_the_last_bit():
    for c in (0.1, 1 / 3, math.pi, 9.99):
        assert zeros(lambda t, c=c: t - c).tolist() == [c]
        assert zeros(lambda t, c=c: 2 * (t - c)).tolist() == [c]


def test_a_function_that_is_zero_for_a_while_changes_at_its_ends():
    found = zeros(lambda t: ph.maximum(0.0, t - 2) * ph.where(t < 6, 1.0, 0.0))
    assert np.min(abs(found[:, None] - [2.0, 6.0]), axis=0) == pytest.approx(0, abs=1e-12)


def test_many_zeros_are_all_found():
    found = zeros(lambda t: ph.sin(2000 * t + 0.1))
    assert len(found) == math.floor((20_000 + 0.1) / math.pi)


@given(st.floats(-3, 3), st.floats(0, 2), st.floats(-2, 2), st.floats(0, 1))
def test_bounds_hold_all_values(low, width, c, part):
    """Of a function with every kind of operation, over an interval."""

    def function(t):
        x = ph.sin(3 * t) * ph.cos(t - c) + ph.exp(-t * t / 4) / (1.5 + ph.sin(t))
        y = ph.sqrt(abs(x)) + ph.where((t < c) | (x > 0.3), ph.log(2 + x * x), -x) - ph.atan2(x, t)
        return ph.Vec([ph.maximum(y, c) - ph.minimum(t, x), ph.asin(x / 9) + ph.acos(x / 7)])

    graph = trace(function, t=())
    found = bounds(graph, np.array([low]), np.array([low + width]))
    values = evaluate(graph, t=low + part * width)
    for each, value in zip(found, values, strict=True):
        assert each.low[0] <= value <= each.high[0]


def test_abrupt_changes_are_marked_and_waves_are_not():
    pulse = lambda t: np.exp(-(((t - 7.03) / 0.004) ** 2))[:, None]
    for found in (abrupt_changes(pulse, 10.0), abrupt_changes(lambda t: np.sin(t)[:, None] + 0.01 * pulse(t), 10.0)):
        assert np.any((found > 7.02) & (found < 7.04))
        assert len(found) < 50
    assert not len(abrupt_changes(lambda t: np.sin(9 * t)[:, None], 10.0))
    assert not len(abrupt_changes(lambda t: np.stack([np.ones(len(t)), t], 1), 10.0))


def test_a_jump_at_a_known_time_is_no_abrupt_change():
    def box(t):
        return np.where((t > 0.313) & (t < 0.77), 1.0, 0.0)[:, None]

    assert len(abrupt_changes(box, 1.0)) > 2
    assert len(abrupt_changes(box, 1.0, np.array([0.313, 0.77]))) == 0
    assert len(abrupt_changes(box, 1.0, np.array([0.313]))) > 0
