"""Runs on disk are the runs in memory; cut off at any block, they go on to the last bit."""

import resource
import sys
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from own_elements import SampledPid, rotor
from polhode.result.store import RunStore
from polhode.simulation import recording
from polhode.simulation.step_times.segments import LazyRange

BALL = ph.Model(
    "ball",
    bodies=[ph.Body("ball", 1.0, (0.1, 0.1, 0.1))],
    joints=[ph.Joint("drop", "prismatic", "world", "ball")],
    start=ph.Start(q=(1.0,), v=(0.0,), duration=2.0),
)
BOUNCE = ph.Event("bounce", lambda t, q, v: q[0], direction=-1, reset=lambda t, q, v: (q, -0.9 * v))
FLOOR = replace(
    BALL, forces=(ph.ImpactStop("floor", "drop", lower=0.0, restitution=0.7),), start=ph.Start(q=(1.0,), duration=3.0)
)
TOP = ph.load("heavy-top")
SERVO = rotor(SampledPid("pid", "shaft", target=1.0, p=5.0, i=2.0, d=1.5))
RUNS = {
    "equal steps": (TOP, {"step": 1e-3, "method": "rk4", "duration": 0.5, "every": 1}),
    "a last, shorter step": (TOP, {"step": 3e-3, "method": "rkmk4", "duration": 0.1, "every": 2}),
    "with memory": (TOP, {"step": 1e-3, "method": "generalized-alpha", "duration": 0.2, "every": 3}),
    "controlled": (TOP, {"duration": 0.5, "samples": 401}),
    "sampled": (BALL, {"tau": ph.Sampled(lambda t, q, v: 9.0 - v, 0.05), "samples": 401}),
    "sampled, equal steps": (BALL, {"tau": ph.Sampled(lambda t, q, v: 9.0 - v, 0.05), "step": 5e-3, "method": "rk4"}),
    "bouncing": (BALL, {"events": [BOUNCE], "samples": 101}),
    "bouncing, equal steps": (BALL, {"events": [BOUNCE], "step": 1e-2, "method": "rk4"}),
    "states of a controller": (SERVO, {"duration": 0.3, "samples": 101}),
    "states of a controller, equal steps": (SERVO, {"duration": 0.3, "step": 1e-3, "method": "rk4"}),
    "impacts": (FLOOR, {"samples": 101}),
    "impacts, equal steps": (FLOOR, {"step": 1e-2, "method": "rk4"}),
    "stopped": (BALL, {"events": [ph.Event("floor", lambda t, q, v: q[0], terminal=True)]}),
}


CUTS = {2, 7, 30}
"""Blocks after which a run is cut off."""


class Cut(Exception):
    """A run that was cut off."""


def plain(run):
    run = run.load()
    del run.attrs["created"]
    run.attrs = {name: "" if value is None else value for name, value in run.attrs.items()}
    return run


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run_is_the_run_in_memory(tmp_path, name):
    model, asked = RUNS[name]
    assert plain(ph.record(tmp_path / "out", model, **asked)).identical(plain(ph.simulate(model, **asked)))


@pytest.mark.parametrize("name", RUNS)
def test_a_run_cut_off_at_any_block_goes_on_to_the_bit(tmp_path, name, monkeypatch):
    monkeypatch.setattr("polhode.simulation.run_loop.MOST_STATES", 7)
    model, asked = RUNS[name]
    calls = 0

    def cut(part, t, steps):
        nonlocal calls
        calls += 1
        if calls in CUTS:
            raise Cut

    for attempt in range(len(CUTS) + 1):
        try:
            found = ph.record(tmp_path, model, **asked, checkpoint=1e-9, progress=cut, resume=attempt > 0)
            break
        except Cut:
            continue
    assert plain(found).identical(plain(ph.simulate(model, **asked)))
    assert attempt > 0


def test_a_second_run_is_compared_in_parts(tmp_path, monkeypatch):
    asked = {"step": 1e-3, "method": "rk4", "every": 1, "verify": True}
    monkeypatch.setattr(recording, "CHUNK", 1)
    assert plain(ph.record(tmp_path, TOP, **asked)).identical(plain(ph.simulate(TOP, **asked)))


def test_ctrl_c_leaves_a_file_and_a_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr("polhode.simulation.run_loop.MOST_STATES", 50)

    def interrupt(part, t, steps):
        if part > 0.3:
            raise KeyboardInterrupt

    asked = {"step": 1e-5, "method": "rk4"}
    run = ph.record(tmp_path, TOP, **asked, progress=interrupt)
    assert run.attrs["status"] == "interrupted"
    assert 0.3 < run["time"][-1] / 2 < 1
    run.close()
    assert plain(ph.record(tmp_path, TOP, **asked, resume=True)).identical(plain(ph.simulate(TOP, **asked)))


@pytest.mark.parametrize("after", [False, True])
def test_ctrl_c_within_the_writing_of_a_chunk_neither_loses_nor_doubles_it(tmp_path, monkeypatch, after):
    monkeypatch.setattr("polhode.simulation.run_loop.MOST_STATES", 50)
    append, calls = RunStore.append, 0

    def interrupted(store, arrays):
        nonlocal calls
        calls += 1
        if calls == 3 and not after:
            raise KeyboardInterrupt
        append(store, arrays)
        if calls == 3:
            raise KeyboardInterrupt

    asked = {"step": 1e-4, "method": "rk4", "every": 10}
    whole = plain(ph.simulate(TOP, **asked))
    with monkeypatch.context() as patch:
        patch.setattr(RunStore, "append", interrupted)
        run = ph.record(tmp_path, TOP, **asked, checkpoint=1e-9).load()
    assert run.attrs["status"] == "interrupted"
    assert run["q"].identical(whole["q"].isel(time=slice(0, run.sizes["time"])))
    assert plain(ph.record(tmp_path, TOP, **asked, resume=True)).identical(whole)


def test_ctrl_c_before_the_first_sample_leaves_the_start(tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    run = ph.record(tmp_path, TOP, progress=interrupt)
    assert run.attrs["status"] == "interrupted"
    np.testing.assert_array_equal(run["q"][0], TOP.start.q)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"method": "rkmk4"}, ["method", "rk4"]),
        ({"step": 1e-4}, ["step", "0.001"]),
        ({"duration": 3.0}, ["duration"]),
        ({"v": [0.0, 100.0, 0.0]}, ["start v"]),
        ({"tau": [0.0, 0.0, 1.0]}, ["inputs"]),
    ],
)
def test_another_run_is_not_resumed(tmp_path, changed, words):
    asked = {"step": 1e-3, "method": "rk4"}
    interrupted(tmp_path, asked)
    with pytest.raises(ph.InputError, match="another run") as caught:
        ph.record(tmp_path, TOP, **{**asked, **changed}, resume=True)
    for word in words:
        assert word in str(caught.value)


def test_another_model_or_version_is_not_resumed(tmp_path, monkeypatch):
    asked = {"step": 1e-3, "method": "rk4"}
    interrupted(tmp_path, asked)
    other = ph.load("spherical-pendulum")
    with pytest.raises(ph.InputError, match="model"):
        ph.record(tmp_path, other, **asked, resume=True)
    monkeypatch.setattr("polhode.result.store.__version__", "9.9")
    with pytest.raises(ph.InputError, match="polhode_version"):
        ph.record(tmp_path, TOP, **asked, resume=True)


def interrupted(folder, asked):
    def interrupt(part, t, steps):
        if part > 0:
            raise KeyboardInterrupt

    ph.record(folder, TOP, **asked, progress=interrupt).close()


def test_an_existing_run_is_kept_unless_forced(tmp_path):
    ph.record(tmp_path, TOP, duration=0.1).close()
    with pytest.raises(ph.InputError, match="already there"):
        ph.record(tmp_path, TOP, duration=0.2)
    assert ph.record(tmp_path, TOP, duration=0.2, force=True)["time"][-1] == 0.2
    with pytest.raises(ph.InputError, match="nothing to resume"):
        ph.record(tmp_path, TOP, duration=0.2, resume=True)


def test_a_whole_run_that_is_to_be_resumed_is_called_whole(tmp_path):
    ph.record(tmp_path, BALL, duration=0.1)
    with pytest.raises(ph.InputError, match=r"nothing to resume(.|\n)*found a whole run"):
        ph.record(tmp_path, BALL, duration=0.1, resume=True)


def test_a_wrong_interval_between_checkpoints_is_refused(tmp_path):
    with pytest.raises(ph.InputError, match="checkpoint"):
        ph.record(tmp_path, TOP, checkpoint=0)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units elsewhere")
@pytest.mark.long
def test_memory_does_not_grow_with_the_run(tmp_path):
    body, asked = ph.load("free-body"), {"step": 1e-3, "method": "rk4", "every": 1}
    ph.record(tmp_path / "short", body, duration=100, **asked).close()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ph.record(tmp_path / "long", body, duration=700, **asked).close()  # 600000 samples more: 200 MB
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


def test_a_grid_is_the_array_it_stands_for():
    grid = LazyRange(range(3, 50, 7), 0.1, (5.0,))
    array = np.array([*(np.arange(3, 50, 7) * 0.1), 5.0])
    assert len(grid) == len(array)
    for part in (slice(None), slice(2, 4), slice(5, 99), slice(-1, None), slice(8, 8), slice(7, 8), slice(0, 0)):
        np.testing.assert_array_equal(grid[part], array[part])
    assert grid[-1] == 5.0
    assert grid[0] == array[0]
    for x in (-1.0, *array, 2.0, 9.0):
        for side in ("left", "right"):
            assert np.searchsorted(grid, x, side) == np.searchsorted(array, x, side)
