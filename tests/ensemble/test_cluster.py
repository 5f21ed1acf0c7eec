"""A study on a cluster: the same bits, whatever dies; a run that always fails costs itself alone."""

import json
import os
import random
import signal
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import distributed
import numpy as np
import pytest

import polhode as ph
from failing_workers import DEADLY, FAULTY, Deadly, Faulty, Slow, of_kind
from polhode.ensemble.study_runner import STATUS
from receipts import everyone_once
from study_cases import RUNS, same, small

CHUNK = 20
pytestmark = pytest.mark.filterwarnings("ignore")
"""Of processes that are killed, others tell."""


@contextmanager
def two_workers():
    """A client of two processes, which find these tests."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "support"), prepend=os.pathsep)
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            client.wait_for_workers(2, timeout=60)
            yield client


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


@pytest.fixture(scope="module")
def whole():
    return ph.sweep(small())


def test_a_cluster_gives_the_same_bits(client, tmp_path, whole):
    told = []
    found = ph.sweep(small(), out=tmp_path / "s", scheduler=client, chunk=CHUNK, progress=told.append)
    assert same(whole, found)
    assert everyone_once(tmp_path / "s")
    assert told[-1].done == RUNS
    assert {news.device for news in told} <= {"worker 0", "worker 1"}
    address = client.scheduler.address
    again = ph.sweep(small(), out=tmp_path / "s", scheduler=address, resume=True, progress=told.append)
    assert same(whole, again)
    assert all(news.device == "before" for news in told[RUNS // CHUNK :])


def kill_later(client, pause, everyone):
    """End workers a little later."""
    pids = list(client.run(os.getpid).values())

    def kill():
        time.sleep(pause)
        for pid in pids if everyone else pids[:1]:
            os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def killed(client, folder, whole, pause, everyone):
    thread = kill_later(client, pause, everyone)
    found = ph.sweep(of_kind(Slow), out=folder, scheduler=client, chunk=CHUNK)
    thread.join()
    assert same(whole, found)
    assert everyone_once(folder)


@pytest.mark.long
def test_a_worker_that_is_killed_costs_only_its_chunk(client, tmp_path, whole):
    killed(client, tmp_path / "s", whole, 0.4, everyone=False)


@pytest.mark.long
@pytest.mark.parametrize("everyone", [False, True])
def test_workers_killed_at_ten_random_moments_cost_nothing_but_time(tmp_path, whole, everyone):
    rng = random.Random(5)
    for k in range(10):
        with two_workers() as fresh:
            killed(fresh, tmp_path / str(k), whole, rng.uniform(0, 0.8), everyone)


def set_aside(found, whole, runs, why):
    bad = found["status"].values == STATUS["quarantined"]
    assert np.flatnonzero(bad).tolist() == list(runs)
    reasons = json.loads(found.attrs["reasons"])
    assert set(reasons) == {str(k) for k in runs}
    assert all(why in reason for reason in reasons.values())
    assert np.array_equal(found["q"].values[~bad], whole["q"].values[~bad], equal_nan=True)


def test_runs_that_always_fail_are_set_aside_with_their_reason(client, tmp_path, whole):
    client.wait_for_workers(1, timeout=60)
    found = ph.sweep(of_kind(Faulty), out=tmp_path / "s", scheduler=client, chunk=CHUNK)
    set_aside(found, whole, FAULTY, "ArithmeticError: poison")


@pytest.mark.long
def test_a_run_that_always_kills_its_worker_is_set_aside(tmp_path, whole):
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), two_workers() as fresh:
        found = ph.sweep(of_kind(Deadly), out=tmp_path / "s", scheduler=fresh, chunk=4).load()
    set_aside(found, whole, DEADLY, "KilledWorker")
