"""The store of long runs: exact, whole or not there, one run at a time, and continued to the bit."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.result import store as store_module
from polhode.result.assembly import assemble
from polhode.result.dataset import Facts, Trajectory, completed, dataset
from polhode.result.files import load
from polhode.result.lock import Lock
from polhode.result.store import RunStore

WRITER = Path(__file__).parents[1] / "support" / "store_writer.py"
LONG = bool(os.environ.get("POLHODE_LONG"))
IDENTITY = {"model": "name: top", "method": "rk4", "step": 1e-3}
AWKWARD = np.array([-0.0, 5e-324, np.inf, -1 / 3, 2**-1074, 1e308])


def samples(start, n=5):
    time = np.arange(start, start + n, dtype=float)
    return {"time": time, "x": np.sin(np.outer(time, [1, 2, 3])), "rank": np.arange(n)}


def filled(directory, chunks=3, checkpoint=True):
    store = RunStore.create(directory, IDENTITY)
    for k in range(chunks):
        store.append(samples(5 * k))
    if checkpoint:
        store.checkpoint({"t": 0.1, "x": AWKWARD, "k": np.arange(3), "step": 15, "note": "é"})
    return store


def bits(arrays):
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


def test_samples_and_state_come_back_to_the_bit(tmp_path):
    with filled(tmp_path) as store:
        before = bits(store.arrays())
    again, state = RunStore.resume(tmp_path, IDENTITY)
    whole = samples(0, 15) | {"rank": np.tile(np.arange(5), 3)}
    assert bits(again.arrays()) == before == bits(whole)
    assert again.rows == 15
    assert state["x"].tobytes() == AWKWARD.tobytes()
    assert state["k"].tolist() == [0, 1, 2]
    assert (state["t"], state["step"], state["note"]) == (0.1, 15, "é")
    again.close()


def test_chunks_after_the_checkpoint_are_dropped(tmp_path):
    with filled(tmp_path) as store:
        before = bits(store.arrays())
        store.append(samples(15))
        (store.folder / "chunk-000004.npz.1-2.part").write_text("half")
    again, _ = RunStore.resume(tmp_path, IDENTITY)
    assert bits(again.arrays()) == before
    assert sorted(os.listdir(again.folder))[:3] == ["checkpoint.json", "chunk-000000.npz", "chunk-000001.npz"]
    assert len(os.listdir(again.folder)) == 5  # three chunks, the checkpoint, the lock
    again.append(samples(15))
    assert again.arrays()["time"].tolist() == list(range(20))
    again.close()


def test_nothing_is_pickled(tmp_path):
    with filled(tmp_path) as store:
        with np.load(store.folder / "chunk-000000.npz", allow_pickle=False) as chunk:
            assert chunk["x"].shape == (5, 3)
        assert json.loads((store.folder / "checkpoint.json").read_text())["state"]["t"] == {"float": (0.1).hex()}
        with pytest.raises(ph.InputError, match="'y'"):
            store.append({"y": np.array([object()])})
        with pytest.raises(ph.InputError, match="y: set"):
            store.checkpoint({"y": {1}})


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"method": "euler"}, ["its method differs", "'euler'", "'rk4'"]),
        ({"model": "name: other\n" * 50}, ["its model differs", "sha256"]),
        ({"step": 2e-3, "method": "euler"}, ["method and step differ"]),
        ({"seed": 1}, ["its seed differs", "not given"]),
    ],
)
def test_another_run_is_not_resumed(tmp_path, changed, words):
    filled(tmp_path).close()
    with pytest.raises(ph.InputError) as error:
        RunStore.resume(tmp_path, IDENTITY | changed)
    for word in [*words, "start it again"]:
        assert word in str(error.value)
    RunStore.resume(tmp_path, IDENTITY)[0].close()  # it is free again, and as it was


def test_another_version_does_not_resume(tmp_path, monkeypatch):
    filled(tmp_path).close()
    monkeypatch.setattr(store_module, "__version__", "9.9")
    with pytest.raises(ph.InputError, match=r"polhode_version differs(.|\n)*'9\.9'"):
        RunStore.resume(tmp_path, IDENTITY)


def test_a_run_without_a_checkpoint_cannot_be_resumed(tmp_path):
    filled(tmp_path, checkpoint=False).close()
    with pytest.raises(ph.InputError, match="nothing to resume"):
        RunStore.resume(tmp_path, IDENTITY)
    with RunStore.create(tmp_path, IDENTITY) as store:
        assert store.arrays() == {}


def test_an_unfinished_run_is_kept_unless_forced(tmp_path):
    filled(tmp_path).close()
    with pytest.raises(ph.InputError, match="--resume"):
        RunStore.create(tmp_path, IDENTITY)
    RunStore.resume(tmp_path, IDENTITY)[0].close()
    with RunStore.create(tmp_path, IDENTITY, force=True) as store:
        assert store.rows == 0
        assert os.listdir(store.folder) == ["lock"]


def test_a_removed_store_is_gone(tmp_path):
    filled(tmp_path).remove()
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ph.InputError, match="mkdir"):
        RunStore.create(tmp_path / "missing", IDENTITY)


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone"])
def test_a_damaged_chunk_is_found(tmp_path, damage):
    store = filled(tmp_path)
    path = store.folder / "chunk-000001.npz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data if damage == "flipped" else data[: len(data) // 2])
    if damage == "gone":
        path.unlink()
    with pytest.raises(ph.PolhodeError, match="chunk-000001"):
        store.arrays()
    store.close()
    with pytest.raises(ph.PolhodeError, match="chunk-000001"):
        RunStore.resume(tmp_path, IDENTITY)


def test_a_checkpoint_changed_in_one_bit_anywhere_is_found(tmp_path):
    store = filled(tmp_path)
    store.close()
    path = store.folder / "checkpoint.json"
    data = path.read_bytes()
    for place in range(0, len(data), 7):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(ph.PolhodeError, match=r"checkpoint\.json.*damaged"):
            RunStore.resume(tmp_path, IDENTITY)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ph.PolhodeError, match=r"checkpoint\.json.*damaged"):
        RunStore.resume(tmp_path, IDENTITY)


def test_chunks_must_be_alike(tmp_path):
    with filled(tmp_path) as store:
        for other in (
            {"time": np.zeros(2)},
            samples(0) | {"x": np.zeros((5, 2))},
            samples(0) | {"x": np.zeros((4, 3))},
        ):
            with pytest.raises(ph.InputError, match="append"):
                store.append(other)
        assert store.rows == 15


def test_a_disk_that_fills_at_any_call_leaves_the_last_checkpoint(tmp_path, disk):
    def more(store):
        store.append(samples(15))
        store.checkpoint({"t": 0.2})

    (tmp_path / "trial").mkdir()
    with filled(tmp_path / "trial") as store:
        before = bits(store.arrays())
        calls = disk.calls(lambda: more(store))
    (tmp_path / "run").mkdir()
    filled(tmp_path / "run").close()
    for k in range(1, calls - 1):  # the last two make the names in the folder last: the checkpoint is there by then
        store, state = RunStore.resume(tmp_path / "run", IDENTITY)
        assert state["t"] == 0.1
        assert bits(store.arrays()) == before
        with disk.full_from(k), pytest.raises(ph.PolhodeError, match="No space left"):
            more(store)
        assert not list(store.folder.glob("*.part"))
        store.close()


def test_two_runs_cannot_hold_one_store(tmp_path):
    with filled(tmp_path) as store:
        for take in (RunStore.resume, RunStore.create):
            with pytest.raises(ph.InputError, match=rf"in use by another run(.|\n)*{os.getpid()}"):
                take(tmp_path, IDENTITY)
        assert store.rows == 15
    RunStore.resume(tmp_path, IDENTITY)[0].close()


def test_a_lock_holds_against_other_processes_and_ends_with_its_own(tmp_path):
    script = f"""
import sys; from pathlib import Path; from polhode.result.lock import Lock
lock = Lock(Path({str(tmp_path / "lock")!r})); print("held", flush=True); sys.stdin.read()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdin=-1, stdout=-1, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ph.InputError, match=f"kill {holder.pid}"):
            Lock(tmp_path / "lock")
        holder.kill()
    assert (tmp_path / "lock").exists()  # left by the killed process
    lock = Lock(tmp_path / "lock")
    assert json.loads((tmp_path / "lock").read_text())["pid"] == os.getpid()
    lock.release()
    assert not (tmp_path / "lock").exists()


def test_where_the_system_has_no_locks_the_text_of_the_file_decides(tmp_path, monkeypatch):
    monkeypatch.setattr("polhode.result.lock.fcntl", None)
    lock = Lock(tmp_path / "lock")
    with pytest.raises(ph.InputError, match="in use"):
        Lock(tmp_path / "lock")
    held = json.loads((tmp_path / "lock").read_text())
    lock.release()
    for stale in ({"pid": 2**22 + 1, "started": "1"}, {**held, "started": "another time"}, {"pid": "?"}, []):
        (tmp_path / "lock").write_text(json.dumps(stale))
        Lock(tmp_path / "lock").release()


def test_a_lock_does_not_remove_that_of_another(tmp_path):
    first = Lock(tmp_path / "lock")
    (tmp_path / "lock").unlink()
    second = Lock(tmp_path / "lock")
    first.release()
    with pytest.raises(ph.InputError, match="in use"):
        Lock(tmp_path / "lock")
    second.release()


def uninterrupted(directory, chunks):
    subprocess.run([sys.executable, WRITER, directory, str(chunks)], check=True, stdout=subprocess.DEVNULL)


def killed_after(directory, chunks, lines, pause):
    """Start the writer, kill it when it has said so many chunks and a moment has passed; whether it still ran."""
    with subprocess.Popen([sys.executable, WRITER, directory, str(chunks)], stdout=-1) as writer:
        for _ in range(lines):
            writer.stdout.readline()
        time.sleep(pause)
        writer.kill()
        return writer.wait() == -signal.SIGKILL


def test_a_run_killed_at_any_moment_goes_on_to_the_bit(tmp_path):
    identity = {"model": "logistic map", "method": "iteration", "step": 1.0}
    seed = random.SystemRandom().randrange(10**6)
    rng, times = random.Random(seed), 200 if LONG else 5
    chunks = 80 * times
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    uninterrupted(tmp_path / "whole", chunks)
    kills = [killed_after(tmp_path / "killed", chunks, rng.randrange(12), rng.uniform(0, 0.01)) for _ in range(times)]
    assert kills[0]
    uninterrupted(tmp_path / "killed", chunks)
    whole, at_end = RunStore.resume(tmp_path / "whole", identity)
    killed, at_end_too = RunStore.resume(tmp_path / "killed", identity)
    assert bits(whole.arrays()) == bits(killed.arrays()), f"seed {seed}, kills {kills}"
    assert at_end["x"].tobytes() == at_end_too["x"].tobytes()
    assert killed.rows == chunks * 40
    whole.close()
    killed.close()


def pendulum():
    joints = [ph.Joint("hinge", "revolute", "world", "bob")]
    return ph.Model("pendulum", bodies=[ph.Body("bob", 1.0, (0.1, 0.1, 0.1))], joints=joints)


def motion(start, n):
    time = np.arange(start, start + n) / 100
    return {"time": time, "q": np.sin(time)[:, None], "v": np.cos(time)[:, None]}


def with_energies(arrays):
    return completed(
        pendulum(), {**arrays, "kinetic_energy": arrays["v"][:, 0] ** 2 / 2, "potential_energy": arrays["q"][:, 0]}
    )


def as_dataset(arrays):
    full = dict(with_energies(arrays))
    time, q, v = (full.pop(name) for name in ("time", "q", "v"))
    facts = Facts("rk4", created="2026-01-01T00:00:00+00:00")
    return dataset(pendulum(), Trajectory(time, q, v, full, events=[(0.5, "top")]), facts)


def test_an_assembled_run_is_the_run_made_in_memory(tmp_path):
    store = RunStore.create(tmp_path, IDENTITY)
    for start, n in ((0, 7), (7, 1), (8, 20)):
        store.append(motion(start, n))
    template = as_dataset(next(store.chunks()))
    assemble(store, template, tmp_path / "run.nc", with_energies)
    assert load(tmp_path / "run.nc").identical(as_dataset(motion(0, 28)))
    with pytest.raises(ph.InputError, match="already there"):
        assemble(store, template, tmp_path / "run.nc", with_energies)
    with pytest.raises(ph.InputError, match="no 'kinetic_energy'"):
        assemble(store, template, tmp_path / "other.nc")
    store.remove()
    assert os.listdir(tmp_path) == ["run.nc"]


def test_assembly_keeps_one_chunk_in_memory(tmp_path):
    store = RunStore.create(tmp_path, IDENTITY)
    rows, chunks = 20_000, 30
    for k in range(chunks):
        store.append(motion(k * rows, rows))
    size = rows * 3 * 8
    template = as_dataset(motion(0, 1))
    (tmp_path / "one").mkdir()
    one = RunStore.create(tmp_path / "one", IDENTITY)
    one.append(motion(0, 1))
    assemble(one, template, tmp_path / "one.nc", with_energies)  # imports what it needs, which is no memory of a chunk
    one.close()
    tracemalloc.start()
    try:
        assemble(store, template, tmp_path / "run.nc", with_energies)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < chunks * size / 3
    with load(tmp_path / "run.nc", lazy=True) as run:
        assert run.sizes["time"] == rows * chunks
        assert run["q"][-1, 0].item() == motion(rows * chunks - 1, 1)["q"].item()
    store.close()


def test_a_disk_that_fills_while_a_run_is_assembled_leaves_the_chunks(tmp_path, disk):
    store = RunStore.create(tmp_path, IDENTITY)
    for k in range(3):
        store.append(motion(7 * k, 7))
    template = as_dataset(next(store.chunks()))[["q"]]
    path = tmp_path / "run.nc"
    calls = disk.calls(lambda: assemble(store, template, path))
    path.unlink()
    for k in range(1, calls + 1):
        with disk.full_from(k), pytest.raises(ph.PolhodeError, match=r"run\.nc(.|\n)*No space left"):
            assemble(store, template, path)
        assert os.listdir(tmp_path) == [store.folder.name]
    assert load(assemble(store, template, path))["q"].values.tobytes() == motion(0, 21)["q"].tobytes()
    store.close()
