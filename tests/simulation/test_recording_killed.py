"""A run killed with kill -9 at any moment and resumed is the run that was never killed, to the last bit."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import main
from polhode.result.files import load

KILLS = 20 if os.environ.get("POLHODE_LONG") else 3
COMMAND = [sys.executable, "-c", "from polhode.cli import main; main()", "run"]
RUNS = {
    "equal steps": ["free-body", "--method", "rk4", "--step", "1e-5", "--duration", "100", "--every", "100"],
    "with memory": ["heavy-top", "--method", "variational", "--step", "1e-5", "--duration", "5", "--every", "10"],
    "controlled steps": ["spacecraft", "--duration", "1.5e5", "--tolerance", "1e-12", "--samples", "50001"],
}
LATE = 0.4
"""Seconds after a new checkpoint within which a run is killed."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Kernels are compiled once for all these runs."""
    return {**os.environ, "POLHODE_CACHE": str(tmp_path_factory.mktemp("cache"))}


def start(args, out, environment):
    command = [*COMMAND, *args, "--out", str(out), "--checkpoint", "30ms", "--no-report", "--quiet"]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def finish(args, out, environment):
    process = start(args, out, environment)
    told = process.communicate(timeout=300)[1]
    assert process.returncode == 0, told
    run = load(out / "run.nc")
    del run.attrs["created"]
    return run


def checkpoint(out):
    return out / ".polhode-run/checkpoint.json"


def chunks(out):
    try:
        return len(json.loads(checkpoint(out).read_text())["chunks"])
    except FileNotFoundError:
        return 0


def wait_for_more(process, out, before):
    """Wait for a checkpoint with more samples."""
    while process.poll() is None and chunks(out) <= before:
        time.sleep(0.005)


def kill_at_random(args, out, environment):
    """Start, wait for a new checkpoint and a little longer, kill; how many chunks there were then."""
    before = chunks(out)
    process = start(args, out, environment)
    wait_for_more(process, out, before)
    time.sleep(random.uniform(0.0, LATE))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return chunks(out)


@pytest.mark.long
@pytest.mark.parametrize("name", RUNS)
def test_a_run_killed_again_and_again_is_the_run_that_was_not(tmp_path, name, environment):
    args, out = RUNS[name], tmp_path / "killed"
    whole = finish(args, tmp_path / "whole", environment)
    there = [kill_at_random(args, out, environment)]
    while len(there) < KILLS and checkpoint(out).exists():
        there.append(kill_at_random(["--resume"], out, environment))
    assert max(there) > 0
    if checkpoint(out).exists():  # else it was done before it was killed
        assert finish(["--resume"], out, environment).identical(whole)  # what it is, is kept beside the checkpoint
    assert not (out / ".polhode-run").exists()


@pytest.mark.long
def test_ctrl_c_ends_a_run_with_what_there_is(tmp_path, environment):
    args, out = RUNS["equal steps"], tmp_path / "out"
    process = start(args, out, environment)
    wait_for_more(process, out, 0)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 130, told
    assert "--resume" in told
    assert "Traceback" not in told
    run = load(out / "run.nc")
    assert run.attrs["status"] == "interrupted"
    assert 0 < run["time"][-1] < 100
    whole = finish(["--resume"], out, environment)
    assert whole.attrs["status"] == "finished"
    assert whole.identical(finish(args, tmp_path / "whole", environment))
    assert whole.isel(time=slice(0, run.sizes["time"]))["q"].identical(run["q"])


MOMENTS = {
    "run.nc not yet named": "atomic_file._publish",
    "run.nc there, before its report and table": "files.csv",
    "within the table": "files._columns",
    "all there, its checkpoint not yet gone": "store.RunStore.remove",
    "its checkpoint gone": "store.RunStore._drop_chunks",
    "its chunks gone": "lock.Lock.release",
}
KILLER = """
import os, signal, sys
import polhode.result.atomic_file, polhode.result.files, polhode.result.store, polhode.result.lock
from importlib import import_module
module, _, name = sys.argv.pop(1).partition(".")
place, *_ = owner = [import_module("polhode.result." + module)]
*path, last = name.split(".")
for part in path:
    place = getattr(place, part)
real, folder = getattr(place, last), sys.argv[sys.argv.index("--out") + 1]
def killed(*args, **options):
    if last != "_drop_chunks" or os.path.exists(folder + "/run.nc"):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*args, **options)
if last != "_publish":
    setattr(place, last, killed)
else:
    setattr(place, last, lambda part, path, force: killed() if path.name == "run.nc" else real(part, path, force))
from polhode.cli import main
main()
"""


def killed_late(tmp_path, environment, moment, *report):
    out = tmp_path / "out"
    args = ["run", "heavy-top", "--step", "1e-3", "--method", "rk4", "--duration", "0.05", "--csv", *report, "--quiet"]
    command = [sys.executable, "-c", KILLER, MOMENTS[moment], *args, "--out", str(out)]
    options = {"env": environment, "capture_output": True, "text": True, "timeout": 120}
    first = subprocess.run(command, check=False, **options)
    assert first.returncode == -signal.SIGKILL, first.stderr
    before = (out / "run.nc").read_bytes() if (out / "run.nc").exists() else b""
    assert bool(before) == (moment != "run.nc not yet named")
    told = subprocess.run([*COMMAND, "--resume", "--out", str(out), "--quiet"], check=False, **options)
    assert told.returncode == 0, told.stderr
    names = {"run.nc", "run.csv", *([] if report else ["report.html"])}
    assert {path.name for path in out.iterdir()} == names
    assert not before or (out / "run.nc").read_bytes() == before  # it was not made again
    assert (out / "run.csv").read_text().count("\n") == load(out / "run.nc").sizes["time"] + 2


@pytest.mark.long
def test_a_run_killed_after_its_end_makes_only_the_rest(tmp_path, environment):
    killed_late(tmp_path, environment, "within the table", "--no-report")


@pytest.mark.long
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_killed_at_any_moment_after_its_end_makes_only_the_rest(tmp_path, environment, moment):
    killed_late(tmp_path, environment, moment)


def test_the_last_folder_of_a_complete_run_is_tidied(tmp_path):
    ph.record(tmp_path, ph.load("heavy-top"), duration=0.05).close()
    (tmp_path / ".polhode-run").mkdir()
    found = CliRunner().invoke(main, ["run", "--resume", "--out", str(tmp_path)], catch_exceptions=False)
    assert found.exit_code == 0
    assert "complete" in found.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_a_recorded_run_killed_after_its_end_is_not_computed_again(tmp_path, monkeypatch):
    top, asked = ph.load("heavy-top"), {"step": 1e-3, "method": "rk4", "duration": 0.05}

    def killed(*_):
        raise OSError("killed")

    with pytest.raises(OSError, match="killed"):
        ph.record(tmp_path, top, **asked, then=killed)
    (tmp_path / "run.nc.77-0123abcd.part").write_text("half")
    before, rest = (tmp_path / "run.nc").read_bytes(), []
    monkeypatch.setattr("polhode.simulation.recording.Recording.follow", killed)
    ph.record(tmp_path, top, **asked, resume=True, then=rest.append).close()
    assert len(rest) == 1
    assert (tmp_path / "run.nc").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_kept_options_of_wrong_kinds_are_told(tmp_path):
    top, asked = ph.load("heavy-top"), {"step": 1e-3, "method": "rk4", "duration": 0.05}

    def interrupt(*_):
        raise KeyboardInterrupt

    ph.record(tmp_path, top, **asked, progress=interrupt, note="{}").close()
    for text in ('{"duration": "long"}', '{"sets": 5}', '{"csv": "no"}', '{"samples": 1.5}', '{"source": [1]}'):
        (tmp_path / ".polhode-run" / "note.txt").write_text(text)
        found = CliRunner().invoke(main, ["run", "--resume", "--out", str(tmp_path)], catch_exceptions=False)
        assert found.exit_code == 2
        assert "the options kept" in found.stderr
    for text in ("[1", "5", "[" * 100_000):
        (tmp_path / ".polhode-run" / "note.txt").write_text(text)
        found = CliRunner().invoke(main, ["run", "--resume", "--out", str(tmp_path)], catch_exceptions=False)
        assert found.exit_code == 2
