"""The steps of companions: the samples of the run, by other steps."""

from itertools import pairwise

import numpy as np
import pytest

from polhode.simulation.run_records import NONE
from polhode.simulation.step_times.companion_steps import companion_segments, companion_tolerance
from polhode.simulation.step_times.segments import segments_of


def step_ends(segments):
    """Ends of all equal steps, and those of samples."""
    ends = [s.begin + s.h * np.arange(1, int(s.counts[-1]) + 1) for s in segments]
    return np.concatenate(ends), np.concatenate([s.samples[:] for s in segments])


@pytest.mark.parametrize("knots", [[], [0.43], [0.07, 0.072, 0.431]])
@pytest.mark.parametrize("sampled", [1, 3, 10, np.array([0.0, 0.2, 0.3, 0.7, 1.0])])
def test_equal_steps_are_shorter_and_meet_all_samples_and_breaks(sampled, knots):
    run = segments_of(1.0, 0.1, sampled, knots=np.array(knots))
    other = companion_segments(1.0, 0.1, sampled, NONE, np.array(knots))
    (ends, samples), (finer, same) = step_ends(run), step_ends(other)
    assert np.array_equal(samples, same)
    assert other[-1].end == run[-1].end == 1.0
    assert 2 * len(ends) < len(finer) <= 4 * len(ends) + 2
    breaks = np.array([*samples, *(segment.end for segment in run)])
    assert abs(finer[:, None] - breaks).min(axis=0).max() < 1e-12
    assert max(segment.h for segment in other) < 0.05


@pytest.mark.parametrize("every", [2, 5, 10])
def test_between_samples_no_two_equal_steps_end_together(every):
    run = segments_of(1.0, 0.1, every)
    ends, samples = step_ends(run)
    inner = ends[abs(ends[:, None] - samples).min(axis=1) > 1e-9]
    finer, _ = step_ends(companion_segments(1.0, 0.1, every, NONE, NONE))
    assert abs(finer[:, None] - inner).min() > 1e-3


@pytest.mark.parametrize("knots", [[0.4], [0.1, 0.2, 0.5, 0.53]])
def test_equal_steps_end_at_knots_where_steps_of_the_run_do(knots):
    """Else the companion errs where the run does not, and a right run is not good."""
    finer, samples = step_ends(companion_segments(1.0, 0.1, 10, NONE, np.array(knots)))
    assert samples.tolist() == [1.0]
    assert abs(finer[:, None] - knots).min(axis=0).max() < 1e-12


def test_many_knots_at_ends_of_steps_divide_every_step():
    knots, few = 0.01 * np.arange(1, 1000), companion_segments(10.0, 0.01, 50, NONE, NONE)
    made = companion_segments(10.0, 0.01, 50, NONE, knots)
    finer, samples = step_ends(made)
    assert np.array_equal(samples, step_ends(few)[1])
    assert len(made) <= 2
    assert abs(finer[np.searchsorted(finer, knots - 1e-9)] - knots).max() < 1e-12
    assert len(finer) == 3 * 500 + 4 * 500


def test_controlled_steps_end_once_more_between_any_two_ends():
    other = companion_segments(1.0, None, np.array([0.0, 0.25, 1.0]), np.array([0.5]), np.array([0.3, 0.7]))
    assert [segment.end for segment in other] == [0.5, 1.0]
    knots = np.concatenate([segment.knots for segment in other])
    ends = [0.0, 0.25, 0.3, 0.5, 0.7, 1.0]
    assert all(np.sum((knots > a) & (knots < b)) == 1 for a, b in pairwise(ends))
    assert {0.3, 0.7} < set(knots)


def test_the_tolerance_of_a_companion_is_tighter_than_what_could_be_good():
    assert companion_tolerance(1e-6, None) == 1e-8
    assert companion_tolerance(0.1, None) == 1e-6
    assert companion_tolerance(1e-3, 1e-9) == pytest.approx(1e-11)
