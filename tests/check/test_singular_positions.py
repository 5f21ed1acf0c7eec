"""Singular positions on the way of a machine: found between samples, at the right time, with what follows from them."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

import polhode as ph
from polhode.check import singular_positions
from polhode.check.singular_positions import PathWatch
from polhode.constrain.constraint_policy import DEFAULT_POLICY
from polhode.result.verdict import Grade
from polhode.system.shared import shared_system

G = 9.81


def four_bars_lie_flat(windows, times):
    """The first times at which the rods of `n-four-bar` lie flat: φ̈ = −c cos φ from φ = π/2, φ̇ = −1."""
    c = G * ((windows + 1) / 2 + windows) / ((windows + 1) / 3 + windows)
    ends = [np.pi / 2, *(-np.pi * k for k in range(times))]
    each = [quad(lambda x: 1 / np.sqrt(1 + 2 * c * (1 - np.sin(x))), b, a)[0] for a, b in pairwise(ends)]
    return np.cumsum(each)


def positions(run):
    return json.loads(run.attrs["singular_positions"])


def line(run):
    """The line of the grade about singular positions."""
    (found,) = [check for check in Grade.of(run.attrs).checks if check.name == "singular positions"]
    return found


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"samples": 5},
        {"step": 0.01, "method": "rk4"},
        {"step": 0.01, "method": "rk4", "every": 100},
        {"constraints": "baumgarte", "step": 0.005, "method": "rk4"},
    ],
)
@pytest.mark.parametrize("windows", [1, 2])
def test_four_bars_pass_their_line_when_the_pendulum_they_are_does(windows, options):
    """With two windows two singular values pass zero at once, and no determinant changes its sign."""
    run = ph.simulate(ph.load(f"n-four-bar-{windows}"), duration=2.0, verify=False, **options)
    found, expected = positions(run), four_bars_lie_flat(windows, 2)
    assert [x["time"] for x in found] == pytest.approx(expected, abs=1e-5)
    assert [x["ratio"] for x in found] == [0.0, 0.0]
    assert {tuple(x["rows"]) for x in found} == {tuple(f"loop{k}.x" for k in range(windows))}
    assert {x["kind"] for x in found} == {"straight"}
    assert line(run).verdict == "note"


@pytest.mark.parametrize("policy", ["baumgarte", "none"])
def test_a_run_that_leaves_its_branch_is_not_good(policy):
    """Without projection the rods fold the other way at their second passage: by radians, with its energy kept."""
    model = ph.load("n-four-bar-1")
    run = ph.simulate(model, duration=2.0, constraints=policy, verify=False)
    second = positions(run)[1]
    assert np.max(abs(run["q"].values[:, 0] - run["q"].values[:, 1])) > 1
    assert second["time"] == pytest.approx(four_bars_lie_flat(1, 2)[1], abs=1e-3)
    assert second["kind"] == "open"
    assert (line(run).verdict, run.attrs["verdict"]) == ("loose", "loose")
    assert "which branch" in line(run).note


def bead_on(wire, *, name="wire"):
    """A bead of 1 kg in the plane, on a wire φ(x, y) = 0."""
    plane = ph.Joint("plane", "planar", "world", "bead")
    return ph.Model(
        "bead", (0, 0, 0), [ph.Body("bead", 1.0, (1, 1, 1))], [plane], constraints=[ph.Constraint(wire, name=name)]
    )


def lemniscate(t, q):
    square = q[0] * q[0] + q[1] * q[1]
    return square * square - q[0] * q[0] + q[1] * q[1]


@pytest.mark.parametrize("options", [{"tolerance": 1e-10}, {"samples": 5}, {"step": 0.01, "method": "rk4"}])
def test_a_bead_crosses_the_middle_of_a_lemniscate_after_a_quarter_of_its_length(options):
    """At a constant speed of 1; the quarter is half of Gauss's 2.622…; the gradient of φ is zero there."""
    run = ph.simulate(bead_on(lemniscate), [1, 0, 0], [0, 1, 0], duration=4.5, verify=False, **options)
    quarter = 2.622057554292119 / 2
    found = positions(run)
    assert [x["time"] for x in found] == pytest.approx([quarter, 3 * quarter], abs=1e-5)
    assert {(x["ratio"], x["kind"], *x["rows"]) for x in found} == {(0.0, "straight", "wire.0")}


def test_a_corner_of_a_wire_is_told():
    run = ph.simulate(
        bead_on(lambda t, q: q[1] - ph.sqrt(q[0] * q[0])), [-1, 1, 0], [1, -1, 0], duration=1.5, verify=False
    )
    found, *more = positions(run)
    assert (found["kind"], found["time"]) == ("corner", pytest.approx(1.0, abs=2e-3))  # a sample
    assert all(again["kind"] == "corner" for again in more)  # it is thrown back
    assert line(run).verdict == "loose"


@pytest.mark.parametrize("name", ["four-bar", "bricard", "rolling-disk"])
def test_machines_that_stay_regular_pass_none(name):
    run = ph.simulate(ph.load(name), samples=20, verify=False)
    assert positions(run) == []
    assert "singular positions" not in run.attrs["grade"]


def test_a_start_in_a_singular_position_is_told():
    """Which branch it takes from there depends on the given velocity."""
    model = ph.load("n-four-bar-1")
    run = ph.simulate(model, [0, 0, 0], [1, 1, -1], duration=0.1, verify=False)
    (found,) = positions(run)
    assert (found["time"], found["ratio"], found["kind"]) == (0.0, 0.0, "open")


@pytest.mark.parametrize("longer", [1e-10, 1e-6])
def test_a_path_that_leads_past_a_singular_position_is_not_taken_for_one_through_it(longer):
    """One rod a little longer: the rods must fold where they lie flat, and steps of 10 ms jump over that."""
    model = ph.load("n-four-bar-1")
    (loop,) = model.constraints
    loop = replace(loop, data={**loop.data, "position_b": (1 + longer, 0, 0)})
    model = replace(model, constraints=[loop])
    q, v, *_ = ph.consistent_start(model, model.start.q, model.start.v, keep=["foot0"])
    run = ph.simulate(model, q, v, duration=0.8, step=0.01, method="rk4", verify=False)
    assert np.ptp(run["q"].values[-1, :2]) < 1e-3  # it did not fold
    assert [x["kind"] for x in positions(run)] == ["open"]
    assert line(run).verdict == "loose"


@pytest.mark.parametrize(("place", "value"), [(0, 99.0), (0, np.nan), (4, -1.0), (6, np.inf), (7, np.nan)])
def test_a_damaged_state_of_the_watch_is_none(place, value):
    """A rank beyond the rows, or a count that is none, would end a resumed run in a traceback."""
    watch = PathWatch(ph.compile(ph.load("four-bar")))
    state = watch.state
    assert watch.is_state(state)
    state[place] = value
    assert not watch.is_state(state)
    assert not watch.is_state(state[:-1])


def test_what_is_known_of_a_start_changes_nothing(monkeypatch):
    """Rows at a start are those of the run before; where none are kept, they are found again."""
    model, asked = ph.load("n-four-bar-2"), {"duration": 3.0, "verify": False}
    runs = [ph.simulate(model, **asked) for _ in range(2)]
    monkeypatch.setattr(singular_positions, "_known_starts", lambda system: {})
    runs.append(ph.simulate(model, **asked))
    assert positions(runs[0])
    for run in runs[1:]:
        assert np.array_equal(run["q"], runs[0]["q"])
        assert run.attrs["singular_positions"] == runs[0].attrs["singular_positions"]


def test_few_starts_are_kept(monkeypatch):
    monkeypatch.setattr(singular_positions, "STARTS", 2)
    model = ph.load("four-bar")
    system = shared_system(model, DEFAULT_POLICY)
    for k in range(5):
        singular_positions._first_rows(system, np.array([float(k)]), np.array([model.zero]))
        assert 1 <= len(singular_positions._known_starts(system)) <= 2


@pytest.mark.parametrize("name", ["four-bar", "n-four-bar-2", "bricard", "closed-chain"])
def test_when_singular_values_are_asked_for_changes_nothing(name):
    """Those of looks whose pivots grow wait until a position is examined: what is found of it is the same."""
    run = ph.simulate(ph.load(name), duration=2.0, samples=200, verify=False)
    system, states = ph.compile(ph.load(name)), [run[x].values for x in ("time", "q", "v")]
    late, early = PathWatch(system), PathWatch(system)
    for i in range(0, 200, 40):
        for watch in (late, early):
            watch.see(*(x[i : i + 40] for x in states))
        assert early.usual > 0
    for watch in (late, early):
        watch.close()
    assert late.found == early.found
    assert (late.rank, late.usual) == (early.rank, early.usual)
    np.testing.assert_array_equal(late.state, early.state)
