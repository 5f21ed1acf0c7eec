"""A study killed with kill -9 at any moment and resumed is the study that was never killed, to the last bit."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

import polhode as ph
from polhode.ensemble.on_disk.store import GROUP, RECEIPTS
from polhode.ensemble.study_file import load_study
from receipts import everyone_once
from study_cases import same

RUNS = 1024
COMMAND = [sys.executable, "-c", "from polhode.cli import main; main()", "sweep"]
TEXT = f"""\
model: double-pendulum
runs: {RUNS}
duration: 2
step: 0.001
method: rk4
every: 50
parameters:
  bodies.upper.mass: {{normal: [1, 0.1]}}
  start.q.hinge: {{uniform: [0, 1]}}
stop: {{over: q.elbow - 0.8}}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "study.yaml"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def whole(file):
    return ph.sweep(load_study(file))


def start(*args):
    command = [*COMMAND, *map(str, args), "--chunk", "16", "--threads", "2", "--no-report", "--quiet"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def receipts(out):
    return len(list((out / RECEIPTS).glob("*.json")))


def kill(file, out, pause):
    """Start, or go on, wait for a new receipt and a little longer, kill."""
    before = receipts(out)
    args = ["--resume", "--out", out] if (out / GROUP).exists() else [file, "--out", out]
    process = start(*args)
    while process.poll() is None and receipts(out) <= before:
        time.sleep(0.002)
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def killed(file, out, whole, pauses):
    there = []
    for pause in pauses:
        kill(file, out, pause)
        there.append(receipts(out))
    assert there[0] < RUNS // 16
    process = start("--resume", "--out", out)
    told = process.communicate(timeout=120)[1]
    assert process.returncode == 0, told
    assert same(whole, ph.open_study(out))
    assert everyone_once(out, RUNS)
    assert not [*out.rglob("*.partial"), *out.rglob("*.part")]


def test_a_killed_study_goes_on_to_the_same_bits(file, tmp_path, whole):
    killed(file, tmp_path / "s", whole, [0.01])


@pytest.mark.long
def test_a_study_killed_at_ten_random_moments_is_the_study_that_was_not(file, tmp_path, whole):
    rng = random.Random(3)
    for k in range(5):
        killed(file, tmp_path / str(k), whole, [rng.uniform(0, 0.03) for _ in range(2)])


@pytest.mark.long
def test_a_study_killed_while_it_begins_begins_again(file, tmp_path, whole):
    out = tmp_path / "s"
    process = start(file, "--out", out)
    while process.poll() is None and not out.exists():
        time.sleep(0.0005)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    resume = (out / GROUP).exists()
    process = start(*(["--resume"] if resume else [file]), "--out", out)
    told = process.communicate(timeout=120)[1]
    assert process.returncode == 0, told
    assert same(whole, ph.open_study(out))
