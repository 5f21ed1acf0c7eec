"""A run that is repeated gives what it gave before: nothing that is kept of a model can be changed by a result."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import zip_longest

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from polhode.bench.beams import PLANE, slider_crank, spin_up
from polhode.simulation.compiled_run import CompiledRun
from polhode.simulation.option_table import RUN_OPTIONS
from polhode.simulation.run import Run
from polhode.simulation.run_options import checked_options
from polhode.simulation.scenario import Scenario


def beams():
    model, v = slider_crank(1, mass="consistent", plane=PLANE)
    return model, {"v": v, "duration": 0.002, "samples": 3, "tolerance": 1e-3}


def driven_beams():
    return spin_up(1, "consistent", PLANE), {"duration": 0.2, "samples": 3, "tolerance": 1e-2}


def bundled(name, **options):
    return lambda: (ph.load(name), options)


CASES = {
    "rk4": bundled("free-body", method="rk4", step=1e-2, duration=0.5, samples=6),
    "every": bundled("pendulum", method="rk4", step=1e-2, duration=0.5, every=7),
    "dop853": bundled("heavy-top", duration=0.2, samples=3, tolerance=1e-10),
    "times": bundled("pendulum", duration=0.5, samples=[0.1, 0.35]),
    "start": bundled("pendulum", duration=0.5, samples=4, q=[0.3], v=[-1.0]),
    "stops": bundled("arm-7", method="rk4", step=5e-3, duration=0.2, samples=5),
    "into stops": bundled("arm-7", duration=2.0, samples=5),
    "constrained": bundled("four-bar", duration=0.1, samples=4),
    "beams": beams,
    "driven beams": driven_beams,
    "constant input": bundled("pendulum", duration=0.5, samples=4, tau=[0.2]),
    "input": bundled("pendulum", duration=0.5, samples=4, tau=lambda t, q, v: [ph.sin(9 * t) - 0.1 * v[0]]),
    "sampled": bundled("pendulum", duration=0.5, samples=4, tau=ph.Sampled(lambda t, q, v: -q, 0.1)),
    "events": bundled("pendulum", duration=2.0, samples=4, events=[ph.Event("down", lambda t, q, v: q[0])]),
    "accompanied": bundled("pendulum", duration=0.5, samples=4, verify=True),
    "other mass": bundled("pendulum", duration=0.5, samples=4, parameters={"bodies.rod.mass": 2.5}),
    "failed": bundled("pendulum", duration=9.0, samples=4, max_steps=10),
    "failed beams": lambda: (driven_beams()[0], {"duration": 6.0, "samples": 3, "tolerance": 1e-2, "max_steps": 5}),
}


def run_of(model, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ph.simulate(model, **{"verify": False, **options})


def told_apart(run):
    """All that a reader sees of a run but its date: values, attributes, and the order of both."""
    attrs = {name: value for name, value in run.attrs.items() if name != "created"}
    seen = {
        name: (x.dims, x.dtype, x.values.tobytes() if x.dtype.kind != "O" else x.values.tolist(), list(x.attrs.items()))
        for name, x in run.variables.items()
    }
    return repr(attrs), list(seen.items()), list(run.coords), dict(run.sizes), list(run.indexes)


def spoilt(run):
    """Overwrite whatever can be overwritten in a run."""
    for name in (*run.coords, *run.data_vars):
        run[name].attrs.clear()
        run[name].attrs["units"] = "changed"
        run[name].encoding["dtype"] = "f4"
        if name not in run.indexes:
            run[name].values[...] = "changed" if run[name].dtype.kind == "U" else 7
    run.attrs.clear()


@pytest.mark.parametrize("kind", CASES)
def test_a_repeated_run_is_the_first_whatever_was_done_to_that(kind):
    model, options = CASES[kind]()
    first = run_of(model, options)
    kept = pickle.loads(pickle.dumps(first))
    expected = told_apart(first)
    assert told_apart(kept) == expected
    spoilt(first)
    for _ in range(2):
        again = run_of(model, options)
        assert told_apart(again) == expected
        again.attrs["created"] = kept.attrs["created"]
        xr.testing.assert_identical(again, kept)
        assert not any(again[name].encoding for name in again.variables)
        spoilt(again)


@pytest.mark.parametrize("kind", ["dop853", "stops", "constrained", "driven beams"])
def test_a_repeated_run_is_that_of_a_model_that_is_read_again(kind):
    model, options = CASES[kind]()
    run_of(model, options)
    assert told_apart(run_of(model, options)) == told_apart(run_of(*CASES[kind]()))


@pytest.mark.parametrize("kind", ["dop853", "stops", "constrained", "beams"])
def test_other_starts_and_other_options_in_between_change_nothing(kind):
    model, options = CASES[kind]()
    expected = told_apart(run_of(model, options))
    start = run_of(model, options)
    elsewhere = {"q": start["q"].values[1], "v": start["v"].values[1]}
    moved = run_of(model, {**options, **elsewhere})
    assert told_apart(moved) != expected
    run_of(model, {**options, "duration": options["duration"] / 2})
    assert told_apart(run_of(model, options)) == expected
    assert told_apart(run_of(model, {**options, **elsewhere})) == told_apart(moved)


@pytest.mark.parametrize("change", [{"tolerance": 1e-4}, {"duration": 0.0015}, {"samples": 4}, {"samples": [0.0007]}])
def test_each_run_has_its_own_options(change):
    model, options = beams()
    run_of(model, options)
    expected = told_apart(run_of(beams()[0], {**options, **change}))
    assert told_apart(run_of(model, {**options, **change})) == expected
    assert told_apart(run_of(model, options)) != expected


def test_a_start_that_is_written_to_between_calls_is_another_start():
    model, options = beams()
    first = told_apart(run_of(model, options))
    options["v"] *= 1.01
    moved = told_apart(run_of(model, options))
    assert moved != first
    assert moved == told_apart(run_of(beams()[0], options))


def test_inputs_that_change_between_calls_are_seen():
    model, drive = ph.load("pendulum"), {"torque": 0.0}
    options = {"duration": 0.5, "samples": 4, "tau": lambda t, q, v: [drive["torque"]]}
    still = run_of(model, options)
    drive["torque"] = 3.0
    driven = run_of(model, options)
    assert abs(driven["q"].values - still["q"].values).max() > 0.01
    assert told_apart(run_of(model, {**options, "tau": [3.0]}))[1][0][1] == told_apart(driven)[1][0][1]


def with_pace(model, options):
    """Let the next run by these options, which were given before, believe that a run is quick."""
    asked = {"step": None, "method": None, "tolerance": RUN_OPTIONS["tolerance"].default, "verify": False, **options}
    scenario = Scenario.of(model, None, None, None, checked_options(**asked))
    assert scenario.repeated.pace > 0  # left by the run before
    scenario.repeated.pace = 1e6


def test_a_scenario_with_another_model_or_other_options_shares_nothing_with_the_first():
    model = ph.load("pendulum")
    scenario = Scenario.of(model, None, None, None, checked_options(duration=0.5, samples=4))
    assert scenario.repeated is Scenario.of(model, [0.3], None, None, checked_options(duration=0.5, samples=4)).repeated
    for changed in ({"model": ph.load("pendulum")}, {"options": scenario.options.changed(samples=9)}):
        assert replace(scenario, **changed).repeated is None
    assert scenario.beside(scenario.options).repeated is None


@pytest.mark.parametrize("kind", ["failed", "failed beams"])
def test_a_limit_on_steps_ends_a_repeated_run_where_it_ended_the_first(kind):
    """Its first block is longer than that of a first run, which is judged after one step state."""
    model, options = CASES[kind]()
    first = run_of(model, options)
    assert "max_steps" in first.attrs["reason"]
    with_pace(model, options)
    again = run_of(model, options)
    assert told_apart(again) == told_apart(first)
    assert len(again["time"]) == 2  # the start, and where the first step state ended


@pytest.mark.parametrize("kind", ["dop853", "driven beams"])
def test_a_repeated_run_is_one_block(kind, monkeypatch):
    model, options = CASES[kind]()
    blocks, advance = [], CompiledRun.advance

    def counted(self, table, *more, **others):
        blocks.append(len(table) - 1)
        advance(self, table, *more, **others)

    monkeypatch.setattr(CompiledRun, "advance", counted)
    run_of(model, options)
    assert blocks == [1, 1]  # its pace is not known before the first
    with_pace(model, options)
    blocks.clear()
    run_of(model, options)
    assert blocks == [2]


def test_the_start_that_is_given_stays_the_users():
    model, q = ph.load("pendulum"), np.array([0.4])
    first = run_of(model, {"q": q, "duration": 0.5, "samples": 4})
    expected = told_apart(first)
    first["q"].values[...] = 9.0
    assert q.tolist() == [0.4]
    assert told_apart(run_of(model, {"q": q, "duration": 0.5, "samples": 4})) == expected


@pytest.mark.parametrize("kind", ["dop853", "stops", "constrained"])
def test_threads_that_run_one_model_find_the_same(kind):
    model, options = CASES[kind]()
    expected = told_apart(run_of(model, options))
    fresh, _ = CASES[kind]()  # nothing is kept of it yet
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: told_apart(ph.simulate(fresh, **{"verify": False, **options})), range(12)))
    assert all(one == expected for one in found)


@pytest.mark.parametrize("kind", ["into stops", "constrained", "every"])
def test_runs_that_go_on_side_by_side_have_memory_of_their_own(kind):
    model, options = CASES[kind]()
    expected = run_of(model, options)  # keeps the memory of its step states
    asked = {"step": None, "method": None, "tolerance": RUN_OPTIONS["tolerance"].default, "verify": False, **options}
    runs = [Run(Scenario.of(model, None, None, None, checked_options(**asked))) for _ in range(2)]
    for _ in zip_longest(*[run.blocks() for run in runs]):
        pass
    for run in runs:
        found = run.result()
        for name in ("time", "q", "v", "step_size"):
            np.testing.assert_array_equal(found[name].values, expected[name].values)
