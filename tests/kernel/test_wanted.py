"""Kernels that later processes find on disk: optimised when these end, with the same bits, each once."""

import json
import os
import subprocess
import sys
import time

import pytest

from polhode.kernel import cache, trace
from polhode.kernel.backends.llvm import compile, optimiser_process, wanted
from polhode.kernel.backends.llvm.compile import lanes
from polhode.kernel.backends.llvm.optimiser import object_code
from polhode.kernel.backends.llvm.target_machine import FULL
from polhode.kernel.backends.llvm.wanted import ALL_WANTED, WantedKernels
from polhode.scalar import Vec

PATIENCE = 60.0
"""Seconds for what takes a fraction of one: on a machine that does much else, a process may wait long to begin."""

SHORT_PROGRAM = """
import json, sys
import numpy as np
from polhode.kernel import trace
from polhode.kernel.backends.llvm import compile, two_tiers
from polhode.scalar import Vec
two_tiers.MOMENT, compile.FEW = 1000.0, 0
function = lambda x: Vec([x[0] * x[1] + x[2], x[0] / x[1]])
make = lambda: trace(function, x=(3,))
x = np.arange(57.0).reshape(19, 3) / 7
batch = compile.batch_kernel_for("a batch", make, "two numbers")
one = compile.kernel_for("one", make, "two numbers", 1, later=True)
found = [batch(x)[0].tolist(), one(x[1])[0].tolist()]
print(json.dumps({"width": batch.facts["width"], "found": found}))
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A cache of its own, and kernels that are optimised later."""
    folder = tmp_path / "kernels"
    monkeypatch.setenv("POLHODE_CACHE", str(folder))
    monkeypatch.setenv("POLHODE_OPTIMISE", "later")
    return folder


def until(found, what):
    """Wait for something."""
    end = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def short_program():
    """What a short program finds; when what it leaves has ended."""
    done = subprocess.run([sys.executable, "-c", SHORT_PROGRAM], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    until(lambda: not cache.is_claimed(ALL_WANTED), "the process of the list did not end")
    return json.loads(done.stdout)


def entries(place):
    return [cache.load(file.stem) for file in place.glob("*.kernel")]


def test_what_a_second_program_finds_the_third_finds_optimised(place):
    """The first leaves what that takes, and no more: it may be the last."""
    first = short_program()
    assert first["width"] == 1
    assert [bool(entry.bitcode) for entry in entries(place)].count(True) == 1
    assert len([*place.glob("*.graph")]) == 1
    second = short_program()
    assert second["width"] == 1
    assert not any(entry.bitcode for entry in entries(place))
    assert lanes() in {entry.facts["width"] for entry in entries(place)}
    assert not [*place.glob("*.graph")]
    assert not [*place.glob(".*")]
    third = short_program()
    assert third["width"] == lanes()
    assert first["found"] == second["found"] == third["found"]


@pytest.mark.parametrize("when", ["never", "first"])
def test_nothing_is_left_where_kernels_are_not_optimised_later(place, monkeypatch, when):
    monkeypatch.setenv("POLHODE_OPTIMISE", when)
    for _ in range(2):
        short_program()
    assert not [*place.glob("*.graph")]
    assert any(entry.bitcode for entry in entries(place)) == (when == "never")


def kept_kernel(name, bitcode=None):
    """A kernel on disk that is not optimised."""
    make = lambda: trace(lambda x: Vec([x[0] * x[1], x[0] / x[1]]), x=(2,))
    compile.kernel_for(name, make, "two numbers", 1, later=True)
    full = compile._full_name(name, compile.CompiledAs(1, False, False, True))
    if bitcode is not None:
        cache.save(full, cache.load(full)._replace(bitcode=bitcode))
    return full


def test_a_list_is_gone_through_as_long_as_that_is_not_too_long(place, monkeypatch):
    names = [kept_kernel(name) for name in "abc"]
    spent = iter([7.0, 7.0, 8.0, 8.0 + optimiser_process.ENOUGH])
    monkeypatch.setattr(optimiser_process.time, "process_time", lambda: next(spent))
    optimiser_process.optimise_listed([(name, False) for name in names], os.environ["POLHODE_CACHE"])
    assert [bool(cache.load(name).bitcode) for name in names] == [False, False, True]


def test_what_another_process_optimises_or_did_is_left_alone(place, monkeypatch):
    first, second = map(kept_kernel, "ab")
    entry = cache.load(first)
    cache.save(first, cache.CachedKernel(entry.facts, object_code(entry.bitcode, FULL)))
    assert cache.claim(second)
    monkeypatch.setattr(optimiser_process, "_stored", lambda asked: 1 / 0)
    optimiser_process.optimise_listed([(first, False), (second, False)], None)
    assert cache.load(second).bitcode
    assert cache.is_claimed(second)


def test_what_fails_stays_as_it_is_and_is_not_tried_again(place):
    name, graph = kept_kernel("a", b"no bitcode"), "0" * 64
    image = cache.load(name).image
    cache.save(graph, cache.CachedKernel(compile.ALONE._asdict(), b"no graph"), suffix=cache.GRAPH)
    optimiser_process.optimise_listed([(name, False), (graph, True)], None)
    entry = cache.load(name)
    assert (entry.image, entry.bitcode) == (image, b"")
    assert not [*place.glob("*.graph")]
    assert not [*place.glob(".*")]


def test_of_programs_that_end_at_once_one_hands_on_its_list(place, monkeypatch):
    kept_kernel("a")
    started = []
    monkeypatch.setattr(wanted, "started", lambda *given, **more: started.append(given) or 1 / 0)
    assert cache.claim(ALL_WANTED)
    kernels = WantedKernels()
    kernels.add("a name", os.environ["POLHODE_CACHE"])
    kernels.hand_on()
    assert not started


def test_nothing_is_handed_on_where_nothing_can_be_stored(tmp_path, monkeypatch):
    """As in a folder that may only be read: each program would have the same kernels optimised, for nothing."""
    started = []
    monkeypatch.setattr(wanted, "started", lambda *given, **more: started.append(given) or 1 / 0)
    kernels = WantedKernels()
    kernels.add("a name", str(tmp_path / "nowhere"))
    kernels.hand_on()
    assert not started


def test_very_large_kernels_wait_for_a_program_that_uses_them_for_long(place, monkeypatch):
    small, large = kept_kernel("a"), kept_kernel("b")
    monkeypatch.setattr(optimiser_process, "LARGEST", len(cache.load(large).bitcode))
    cache.save(large, cache.load(large)._replace(bitcode=cache.load(large).bitcode + b" "))
    optimiser_process.optimise_listed([(large, False), (small, False)], None)
    assert [bool(cache.load(name).bitcode) for name in (small, large)] == [False, True]


def test_a_process_that_cannot_be_started_leaves_no_claim(place, monkeypatch):
    kept_kernel("a")
    monkeypatch.setattr(sys, "executable", str(place / "nothing"))
    kernels = WantedKernels()
    kernels.add("a name", os.environ["POLHODE_CACHE"])
    kernels.hand_on()
    assert not cache.is_claimed(ALL_WANTED)


def test_kernels_that_were_optimised_meanwhile_are_not_handed_on(place, monkeypatch):
    started = []
    monkeypatch.setattr(wanted, "started", lambda *given, **more: started.append(given) or 1 / 0)
    kernels = WantedKernels()
    kernels.add("a name", os.environ["POLHODE_CACHE"])
    kernels.discard("a name")
    kernels.hand_on()
    assert not started
