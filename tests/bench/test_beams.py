"""The race of flexible rods: who is as accurate as whom, and what is timed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from polhode.bench import beams
from polhode.formats.expression_functions import Expression


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # Exudyn's own, which pytest would make errors of
@pytest.mark.parametrize("name", ["slider-crank", "spin-up"])
def test_both_are_raced_where_both_are_accurate(name):
    problem = next(p for p in beams.PROBLEMS if p.name == name)
    theirs = (beams.BeamSetting("GE", 4, 100), beams.BeamSetting("ANCF", 4, 800))
    ours = (beams.BeamSetting("half-bars", 2, 1e-2), beams.BeamSetting("consistent", 4, 1e-3))
    few = replace(problem, theirs=theirs, ours=ours, accuracies=(1e-2, 1e-6))
    (coarse, fine), missing = beams.beam_times(0.1, [few])
    assert not missing
    assert (coarse.setting, coarse.their_setting) == (ours[1], theirs[1])
    assert coarse.ratio > 0
    assert (fine.ours, fine.theirs, fine.ratio) == (None, None, None)
    assert "none is so accurate" in beams.beam_table([fine])


def test_errors_of_the_tip_are_across_the_root():
    turned = [Expression(beams.SPIN_ANGLE, ("t",))(t) for t in (3.0, 6.0)]
    along, across = (
        np.column_stack([np.cos(turned), np.sin(turned)]),
        np.column_stack([-np.sin(turned), np.cos(turned)]),
    )
    tip = 10 * along + np.array(beams.SPIN_TIP)[:, None] * across
    assert beams.spin_error(np.vstack([[10, 0], tip])) < 1e-15
    assert beams.spin_error(np.vstack([[10, 0], tip + 1e-3 * across])) == pytest.approx(1e-3)
    assert beams.spin_error(tip) == math.inf


def test_errors_are_those_at_quarter_turns():
    found = np.zeros(9)
    found[list(beams.QUARTERS)] = beams.DEFLECTION
    assert beams.error(found) == 0
    found[4] += 1e-3
    assert beams.error(found) == pytest.approx(1e-3)
    assert beams.error(found[:3]) == math.inf
