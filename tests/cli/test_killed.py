"""A run killed with kill -9 at any moment and resumed is the run that was never killed, to the last bit."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from polhode.result import load

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
