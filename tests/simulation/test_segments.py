"""When samples are taken: from 0 to exactly the duration, and without a trace in the motion."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import polhode as ph
from polhode.integrate.methods import METHODS
from polhode.simulation import run_loop, step_state
from polhode.simulation.run_options import RunOptions
from polhode.simulation.scenario import Scenario
from polhode.simulation.step_times.segments import LazyRange
from run_cases import PENDULUM, SLIDER, final, states

START = [1.0], [0.5]

DENSE = 20
"""How many tolerances a step, or the motion within it, may be wrong by: the estimate is of a lower order's error."""


def swing(duration, **options):
    return ph.simulate(PENDULUM, *START, duration, **options)


def grid(run):
    return run["time"].values


@pytest.mark.parametrize("name", METHODS)
def test_every_method_starts_at_zero_and_ends_at_the_duration(name):
    run = swing(0.1, method=name, step=0.03)
    assert grid(run)[0] == 0
    assert grid(run)[-1] == 0.1
    assert run.attrs["steps_taken"] == 4
    assert run.attrs["status"] == "finished"


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.adaptive])
def test_controlled_steps_start_at_zero_and_end_at_the_duration(name):
    run = swing(1 / 3, method=name, tolerance=1e-5)
    assert len(grid(run)) == 1001
    assert (grid(run)[0], grid(run)[-1]) == (0, 1 / 3)


durations = st.floats(-9, 3).map(lambda x: 10.0**x)
ratios = st.one_of(st.floats(0.01, 3000), st.integers(1, 2000), st.floats(0.999999, 1.000001))


@given(durations, ratios, st.one_of(st.none(), st.integers(1, 3000)))
def test_equal_steps_fill_any_duration(duration, ratio, every):
    """Whole steps, and one that is shorter if they do not fill it; samples rise from 0 to the end."""
    h = duration / ratio
    options = RunOptions(duration=duration, step=h, method="rk4", every=every)
    run = Scenario.of(SLIDER, None, None, None, options)
    begin, steps = 0.0, 0
    for segment in run.segments:
        assert segment.begin == begin
        assert segment.counts[-1] * segment.h == pytest.approx(segment.end - segment.begin, rel=1e-9)
        assert segment.h <= h
        begin, steps = segment.end, steps + segment.counts[-1]
    assert begin == duration
    assert abs(steps - np.ceil(ratio * (1 - 1e-9))) <= 1e-9 * ratio
    times = np.concatenate([segment.samples[:] for segment in run.segments])
    assert times[-1] == duration
    assert np.all(np.diff(times, prepend=0.0) > 0)
    assert len(times) <= (1001 if every is None else np.ceil(steps / every) + 1)


@pytest.mark.parametrize(("duration", "step"), [(1e-9, None), (1e-9, 1.0), (1e-9, 3e-10), (0.7, 0.1), (2.0, 5.0)])
def test_short_runs_and_long_steps_are_runs_like_all_others(duration, step):
    run = ph.simulate(SLIDER, [1.0], [2.0], duration, step=step, method="dop853")
    t = grid(run)
    assert (t[0], t[-1]) == (0, duration)
    assert np.allclose(run["q"].values[:, 0], 1 + 2 * t - 9.81 * t * t / 2, rtol=1e-14, atol=1e-14)


def test_samples_are_a_number_or_times():
    assert np.array_equal(grid(swing(0.3, samples=4)), np.linspace(0, 0.3, 4))
    assert np.array_equal(grid(swing(0.3, samples=[0.2, 0.1, 0.1])), [0, 0.1, 0.2, 0.3])
    assert np.array_equal(grid(swing(0.3, samples=[0.1, 3 * 0.1])), [0, 0.1, 0.3])  # 3 · 0.1 > 0.3 by rounding
    assert np.array_equal(grid(swing(0.3, step=0.1, method="rk4", samples=[0.2])), [0, 0.2, 0.3])
    assert np.allclose(grid(swing(0.35, step=0.1, method="rk4", every=2)), [0, 0.2, 0.35])


def test_with_equal_steps_there_are_about_a_thousand_samples():
    run = swing(1.0, step=1e-4, method="rk4")
    assert np.allclose(grid(run), np.linspace(0, 1, 1001))
    assert run.attrs["steps_taken"] == 10_000


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.adaptive])
def test_samples_of_dense_output_are_where_steps_would_end(name):
    tolerance = 1e-6 if name == "bs32" else 1e-9
    times = np.array([0.05, 0.173, 0.4, 0.61])
    dense = swing(0.61, method=name, tolerance=tolerance, samples=times)
    for t, state in zip(times, states(dense)[1:], strict=True):
        there = swing(t, method=name, tolerance=tolerance, samples=2)
        allowed = DENSE * tolerance * (dense.attrs["steps_taken"] + 1)
        assert np.max(abs(final(there) - state)) <= allowed * np.max(abs(state))


@pytest.mark.parametrize("name", ["rk4", "gauss2", "generalized-alpha", "variational"])
def test_samples_leave_no_trace_in_a_motion_of_equal_steps(name):
    whole = swing(0.5, step=0.01, method=name, every=1)
    for options in ({"every": 7}, {"every": 50}, {"samples": [0.03, 0.44]}, {"samples": 2}):
        run = swing(0.5, step=0.01, method=name, **options)
        numbers = np.round(grid(run) / 0.01).astype(int)
        assert np.array_equal(states(run), states(whole)[numbers])


@pytest.mark.parametrize("name", ["dop853", "rkmk-dopri54"])
def test_samples_leave_no_trace_in_a_motion_of_controlled_steps(name):
    few, many = (swing(2.0, method=name, samples=n) for n in (2, 500))
    assert np.array_equal(final(few), final(many))
    assert few.attrs["steps_taken"] == many.attrs["steps_taken"]


@pytest.mark.parametrize("options", [{"step": 0.01, "method": "rk4"}, {"method": "dop853"}])
def test_blocks_of_rows_leave_no_trace(options, monkeypatch):
    whole = swing(1.0, samples=11, **options)
    monkeypatch.setattr(run_loop, "MOST_STATES", 3)
    monkeypatch.setattr(step_state, "at_once", lambda nv, runs=1: 4)
    assert np.array_equal(states(swing(1.0, samples=11, **options)), states(whole))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    "made",
    [
        LazyRange(range(3, 40, 7), 0.1),
        LazyRange(range(0, 5000, 10), 1e-3, (5.003,)),
        LazyRange(range(0), 1.0, (2.0,)),
        LazyRange(range(5, 5), 0.5),
        LazyRange(range(10, 1000, 10), 1.0, (1000.0,)),
    ],
)
def test_a_lazy_range_is_searched_as_its_numbers_are(made, side):
    numbers = made[:]
    near = [x + e for x in (*numbers[:5], *numbers[-5:], 0.0, -1.0, 1e9) for e in (-1e-12, 0.0, 1e-12, 0.3)]
    for value in near:
        assert made.searchsorted(value, side) == np.searchsorted(numbers, value, side)
