"""Stages of making kernels: each second counts once, for the innermost stage."""

import time

import pytest

import polhode as ph
from polhode.kernel.stage_clock import stage, stages_counted


def test_the_time_of_an_inner_stage_counts_for_it_alone():
    with stages_counted() as found, stage("outer"):
        time.sleep(0.02)
        with stage("inner"):
            time.sleep(0.05)
    assert 0.02 <= found["outer"] < 0.05 <= found["inner"]


def test_nothing_is_counted_unless_asked_for():
    with stage("lost"):
        pass
    with stages_counted() as found:
        pass
    assert not found


def test_a_stage_that_raises_ends():
    with stages_counted() as found:
        with pytest.raises(ZeroDivisionError), stage("fault"):
            raise ZeroDivisionError
        with stage("next"):
            pass
    assert set(found) == {"fault", "next"}


def test_a_kernel_has_all_stages(monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE", "")
    with stages_counted() as found:
        ph.compile(ph.load("four-bar")).constraint_rows([0.1] * 3, [0.0] * 3)
    assert {"trace", "differentiate", "schedule", "text", "LLVM", "link"} <= set(found)
