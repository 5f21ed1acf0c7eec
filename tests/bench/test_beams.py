"""The race of flexible rods: who is as accurate as whom, and what is timed."""

import math

import numpy as np
import pytest

from polhode.bench import beams


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # Exudyn's own, which pytest would make errors of
def test_ours_is_raced_where_it_is_as_accurate(monkeypatch):
    monkeypatch.setattr(beams, "OURS", ((4, 1e-4), (8, 1e-4)))
    (coarse, fine), missing = beams.beam_times(0.1, [("GE", 8, 800), ("ANCF", 4, 3200)])
    assert not missing
    assert coarse.error <= coarse.their_error < 3e-3
    assert coarse.ratio > 0
    assert (fine.ours, fine.ratio) == (None, None)
    assert fine.their_error < 2e-4 < fine.error
    assert "none of ours is as accurate" in beams.beam_table([fine])


def test_errors_are_those_at_quarter_turns():
    found = np.zeros(9)
    found[list(beams.QUARTERS)] = beams.DEFLECTION
    assert beams.error(found) == 0
    found[4] += 1e-3
    assert beams.error(found) == pytest.approx(1e-3)
    assert beams.error(found[:3]) == math.inf
