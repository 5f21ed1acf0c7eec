"""run.nc and checkpoints are input: what is damaged is told, what cannot be a run is refused, nothing is unpickled."""

import json
import os
import random
import warnings

import h5py
import numpy as np
import pytest

import polhode as ph
from polhode.result.digests import with_digest
from polhode.result.files import load, save
from polhode.result.store import RunStore
from polhode.result.trailer import SIZE
from polhode.result.verdict import Grade

BITS = 60


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    run = ph.simulate(ph.load("heavy-top"), duration=0.1, step=1e-3, method="rk4")
    return save(run, tmp_path_factory.mktemp("run") / "run.nc")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    ph.record(folder, ph.load("heavy-top"), duration=0.1, step=1e-3, method="rk4").close()
    return folder / "run.nc"


def flipped(source, path, count):
    rng, data = random.Random(5), source.read_bytes()
    for _ in range(count):
        content = bytearray(data)
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        for lazy in (False, True):
            with pytest.raises(ph.InputError, match=r"damaged|not a netCDF file"):
                load(path, lazy=lazy)


def test_a_flipped_bit_anywhere_is_noticed(made, recorded, tmp_path):
    flipped(made, tmp_path / "run.nc", BITS)
    flipped(recorded, tmp_path / "run.nc", BITS)


@pytest.mark.long
def test_two_thousand_flipped_bits_are_noticed(made, recorded, tmp_path):
    flipped(made, tmp_path / "run.nc", 1000)
    flipped(recorded, tmp_path / "run.nc", 1000)


def test_a_file_without_its_end_is_damaged(made, tmp_path):
    data = made.read_bytes()
    for cut in (1, 2, SIZE - 1, SIZE, SIZE + 1, len(data) // 2):
        (tmp_path / "run.nc").write_bytes(data[:-cut])
        with pytest.raises(ph.InputError, match="damaged"):
            load(tmp_path / "run.nc")


def changed(made, path, change):
    """The file without its end, changed by a program that makes none, as an older version or a stranger would."""
    path.write_bytes(made.read_bytes()[:-SIZE])
    with h5py.File(path, "r+") as file:
        del file.attrs["polhode_digest"]
        change(file)
    return path


def test_an_older_file_opens_with_a_note(made, tmp_path):
    path = changed(made, tmp_path / "run.nc", lambda file: None)
    with pytest.warns(ph.PolhodeWarning, match="not compared"):
        old = load(path)
    assert old.identical(load(made))


def huge(file):
    del file["q"]
    file.create_dataset("q", shape=(10**11, 4), dtype="f8", chunks=(1024, 4))


HOSTILE = {
    "no run": lambda file: file.attrs.__delitem__("model_name"),
    "a name of two lines": lambda file: file.attrs.__setitem__("model_name", "a\nb"),
    "a number for a name": lambda file: file.attrs.__setitem__("model_name", 5),
    "a status of its own": lambda file: file.attrs.__setitem__("status", "splendid"),
    "larger than itself": huge,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_cannot_be_a_run_is_refused(made, tmp_path, kind):
    path = changed(made, tmp_path / "run.nc", HOSTILE[kind])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for lazy in (False, True):
            with pytest.raises(ph.InputError):
                load(path, lazy=lazy)


@pytest.mark.parametrize("text", ["{", "5", '[{"name": 5}]', "[" * 100_000, '["x"]'])
def test_a_grade_that_is_none_is_refused(text):
    with pytest.raises(ph.InputError, match="grade"):
        Grade.of({"grade": text, "verdict": "good", "grade_basis": ""})


IDENTITY = {"model": "m", "step": 0.1}


@pytest.fixture
def unfinished(tmp_path):
    with RunStore.create(tmp_path, IDENTITY) as store:
        store.append({"time": np.arange(3.0), "q": np.ones((3, 2))})
        store.checkpoint({"t": 1.0, "q": np.ones(2), "n": 3})
    return tmp_path / ".polhode-run" / "checkpoint.json"


VALUES = [None, 5, -1, "x", [], {}, [[]], [[1, 2]], {"a": 1}, {"a": [5]}, 10**30, True]


STATES = [
    {"float": "x"},
    {"floats": [1], "dtype": "O", "shape": [1]},
    {"floats": "ab", "dtype": "<f8"},
    {"integers": [1, 2], "dtype": "<i8", "shape": [3]},
    {"integers": [[1]], "dtype": "<i8", "shape": [1]},
]


def test_a_signed_checkpoint_of_wrong_kinds_is_told(unfinished):
    content = json.loads(unfinished.read_text())
    del content["sha256"]
    for key in content:
        for value in VALUES:
            if (key == "state" and isinstance(value, dict)) or (key, value) == ("chunks", []):
                continue  # no state of a run, which is for the run to say; and a run without samples
            unfinished.write_bytes(with_digest({**content, key: value}))
            with pytest.raises(ph.PolhodeError), RunStore.resume(unfinished.parents[1], IDENTITY)[0] as store:
                next(store.chunks())
    for value in STATES:
        unfinished.write_bytes(with_digest({**content, "state": {"q": value}}))
        with pytest.raises(ph.PolhodeError, match="not a state"):
            RunStore.resume(unfinished.parents[1], IDENTITY)


def test_a_state_of_other_shapes_never_reaches_compiled_code(tmp_path):
    top, asked = ph.load("heavy-top"), {"step": 1e-3, "method": "rk4", "duration": 1.0}

    def interrupt(part, t, steps):
        raise KeyboardInterrupt

    ph.record(tmp_path, top, **asked, progress=interrupt).close()
    path = tmp_path / ".polhode-run" / "checkpoint.json"
    content = json.loads(path.read_text())
    del content["sha256"]
    state = content["state"]
    for key in state:
        for value in (None, "x", 5, {"floats": [(1.0).hex()] * 3, "dtype": "<f8", "shape": [3, 1]}):
            if value is None and key in ("row", "level"):
                continue
            if type(value) is type(state[key]) and not isinstance(value, dict):
                continue
            path.write_bytes(with_digest({**content, "state": {**state, key: value}}))
            with pytest.raises(ph.PolhodeError, match="not a state of this run"):
                ph.record(tmp_path, top, **asked, resume=True)
    path.write_bytes(with_digest(content))
    assert ph.record(tmp_path, top, **asked, resume=True).attrs["status"] == "finished"


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are followed here")
def test_a_lock_never_writes_through_a_link(tmp_path):
    (tmp_path / ".polhode-run").mkdir()
    victim = tmp_path / "letter"
    victim.write_text("dear")
    (tmp_path / ".polhode-run" / "lock").symlink_to(victim)
    with pytest.raises(ph.InputError, match="a link"):
        RunStore.create(tmp_path, IDENTITY)
    assert victim.read_text() == "dear"
