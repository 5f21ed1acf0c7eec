"""What is told of the constraints of a run."""

import json

import numpy as np
import pytest
import xarray as xr

from polhode.result.constrained import constrained, passages


def run(weakest, determined, rank, idle=()):
    n = len(weakest)
    data = {
        "smallest_singular_value": ("time", np.array(weakest, dtype=float)),
        "rank": ("time", np.full(n, rank)),
        "degrees_of_freedom": ("time", 3 - np.full(n, rank)),
        "determined": (("time", "constraint"), np.tile(determined, (n, 1))),
    }
    coords = {"time": np.arange(n) * 0.1, "constraint": [f"loop.{k}" for k in range(len(determined))]}
    return xr.Dataset(data, coords, {"idle_constraints": json.dumps(list(idle))})


def test_each_dip_is_told_once_at_its_lowest_sample():
    time, dip = np.linspace(0, 10, 1001), np.abs(np.sin(np.linspace(0, 10, 1001) + 0.001))
    found = passages(time, dip)
    assert [round(t, 2) for t, _ in found] == [0.0, 3.14, 6.28, 9.42]
    assert max(value for _, value in found) < 5e-3


def test_a_run_that_keeps_away_says_so():
    found = constrained(run([0.5, 0.4, 0.6], [1, 1], 2))
    assert found.passages == ()
    assert str(found).splitlines() == [
        "constraints  2 rows, rank 2; 1 degree of freedom",
        "  smallest singular value 0.4: no singular configuration was approached",
    ]


def test_redundant_rows_are_told_from_idle_ones():
    found = constrained(run([0.5, 1e-5, 0.6], [1, 0, 0], 1, ["loop.2"]))
    assert (found.redundant, found.idle) == (("loop.1",), ("loop.2",))
    assert "near a singular configuration at t = 0.1 s: smallest singular value 1e-05" in str(found)
    assert json.loads(json.dumps(found.facts()))["passages"] == [{"time": 0.1, "value": 1e-5}]


@pytest.mark.parametrize("broken", [[np.nan, np.nan], []])
def test_nothing_is_told_where_nothing_is_known(broken):
    assert constrained(run(broken, [1], 1)) is None
    assert constrained(xr.Dataset({"q": ("time", [1.0])})) is None


def test_a_start_that_was_moved_is_told():
    found = constrained(run([0.5, 0.4], [1], 1).assign_attrs(start_moved='{"loop.0": 0.25}'))
    assert "the start was moved, since it missed: loop.0 (0.25)" in str(found)


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        ({"singular_positions": "[{}, {}]"}, "0.4 at the samples; 2 singular positions between them"),
        ({"status": "failed"}, "0.4 at the samples"),
    ],
)
def test_samples_that_keep_away_are_not_taken_for_the_run(attributes, told):
    found = constrained(run([0.5, 0.4, 0.6], [1, 1], 2).assign_attrs(attributes))
    assert str(found).endswith(told)
