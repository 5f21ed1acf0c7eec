"""Kernels that are used at once and optimised later: the same bits, whatever happens meanwhile."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies as st

import polhode as ph
from compilations import counted
from machines import random_model
from polhode.errors import InputError, PolhodeWarning
from polhode.formats.library import names
from polhode.kernel import cache, trace
from polhode.kernel.backends.llvm import compile, hoisted_kernel, two_tiers
from polhode.kernel.backends.llvm.compile import build, lanes
from polhode.kernel.backends.llvm.optimiser import Optimiser, OptimiserError, UnoptimisedKernel, object_code, started
from polhode.kernel.backends.llvm.target_machine import FULL, QUICK
from polhode.kernel.lru_cache import LruCache
from polhode.scalar import Vec
from random_programs import programs, run

DAILY = ("heavy-top",)
"""Models whose runs are compared every day."""

PATIENCE = 60.0
"""Seconds for what takes a fraction of one: on a machine that does much else, a process may wait long to begin."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A cache of its own, and kernels that are optimised after the first moments of use."""
    folder = tmp_path / "kernels"
    monkeypatch.setenv("POLHODE_CACHE", str(folder))
    monkeypatch.setenv("POLHODE_OPTIMISE", "later")
    monkeypatch.setattr(two_tiers, "MOMENT", 0.02)
    monkeypatch.setattr(compile, "SHORT_TEXT", 0)
    monkeypatch.setattr(two_tiers, "_watch", watch := two_tiers._Watch())
    yield folder
    thread = watch._thread
    with watch._changed:
        watch.kernels.clear()
        watch._changed.notify()
    if thread:
        thread.join()
    watch._end_process()


def until(found, what):
    """Wait for something."""
    end = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def tier_of(name):
    """The kernel of a name among those of this process that are not optimised."""
    (found,) = (tier for tier in two_tiers._watch.kernels if tier.name == name)
    return found


def is_optimised(name):
    entry = cache.load(name)
    return entry is not None and not entry.bitcode


def gravity(seed=1):
    """One quantity of a machine, as a function of no argument; and its System."""
    system = ph.compile(random_model(["revolute", "spherical", "revolute"], seed), target="cpu")
    q = np.array(system.model.zero) + 0.0
    system.gravity(q)
    return lambda: system.gravity(q), system


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])
@given(programs(), st.lists(st.floats(), min_size=4, max_size=4))
def test_both_tiers_have_the_same_bits_for_any_numbers(steps, x):
    """Subnormal numbers, infinities and signs of zeros among them; which NaN it is no operation tells."""
    graph = trace(lambda x: run(steps, x), x=(4,))
    for width in (1, lanes()):
        with np.errstate(all="ignore"):
            (first,), (second,) = (build(graph, width, quick=quick)(np.tile(x, (11, 1))) for quick in (True, False))
        nan = np.isnan(first)
        assert np.array_equal(nan, np.isnan(second))
        assert np.array_equal(first[~nan].view(np.int64), second[~nan].view(np.int64))


@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")  # some are published with bodies without mass
@pytest.mark.parametrize(
    "name", [name if name in DAILY else pytest.param(name, marks=pytest.mark.long) for name in names()]
)
def test_runs_of_bundled_models_are_the_same_to_the_bit(name, monkeypatch):
    """By kernels of either tier, all that a run makes: steps, samples, observables, constraints."""
    runs, levels, machine = {}, {}, compile.machine
    for when in ("never", "first"):
        monkeypatch.setenv("POLHODE_OPTIMISE", when)
        levels[when] = asked = set()
        monkeypatch.setattr(compile, "machine", lambda level, asked=asked: asked.add(level) or machine(level))
        monkeypatch.setattr(compile, "_kept", LruCache(64))
        monkeypatch.setattr(hoisted_kernel, "_known", LruCache(256))
        runs[when] = ph.simulate(ph.load(name), duration=0.1)
    assert levels["never"] == {QUICK}
    assert FULL in levels["first"]
    first, second = runs["never"], runs["first"]
    assert {*first.variables} == {*second.variables}
    for known in first.variables:
        a, b = first[known].values, second[known].values
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), known


def test_optimised_code_takes_over_while_a_kernel_is_used(place):
    """Built-in, batch and bound loop: callers keep what they hold, and get the same bits."""
    call, system = gravity()
    name = next(place.glob("*.kernel")).stem
    before, states = call(), np.random.default_rng(0).normal(size=(1, system.nq))
    batch = system.gravity(states)
    tier = tier_of(name)
    code = tier.jumps.code
    until(lambda: call() is not None and tier.jumps.code != code, "no other code took over")
    assert np.array_equal(call(), before)
    assert np.array_equal(system.gravity(states), batch)
    assert is_optimised(name)
    assert tier not in two_tiers._watch.kernels


def test_small_kernels_of_runs_are_used_before_they_are_optimised_and_those_of_calls_after(place, monkeypatch):
    """A call that somebody times is what it stays; a run, of many kernels, begins soon."""
    monkeypatch.setattr(compile, "SHORT_TEXT", 400_000)
    monkeypatch.setattr(two_tiers, "MOMENT", 10.0)
    monkeypatch.setattr(compile, "_kept", LruCache(64))
    call, _ = gravity()
    call()
    assert not [*two_tiers._watch.kernels]
    assert all(is_optimised(path.stem) for path in place.glob("*.kernel"))
    run = ph.simulate(random_model(["revolute", "revolute"], 3), duration=0.05)
    assert [*two_tiers._watch.kernels]
    assert run.sizes["time"] > 1


def test_a_kernel_that_is_hardly_used_is_left_as_it_is(place):
    call, _ = gravity()
    call()
    name = next(place.glob("*.kernel")).stem
    time.sleep(0.3)
    assert not is_optimised(name)
    assert cache.load(name).bitcode


def test_the_next_process_goes_on_where_this_one_ended(place, monkeypatch):
    """Without tracing: code that was compiled quickly is stored with what optimised code is made of."""
    call, _ = gravity()
    before, name = call(), next(place.glob("*.kernel")).stem
    monkeypatch.setenv("POLHODE_OPTIMISE", "first")
    with counted() as compiled:
        again, _ = gravity()
    assert not compiled
    assert is_optimised(name)
    assert np.array_equal(again(), before)


ENDS = """
import sys
import polhode as ph
from polhode.kernel.backends.llvm import compile, optimiser, two_tiers
two_tiers.MOMENT, compile.SHORT_TEXT = 0.01, 0
system = ph.compile(ph.load("quadruped"))
state = system.model.zero, [0.0] * system.nv, [0.0] * system.nv
asked, write = [], optimiser.write_message
optimiser.write_message = lambda *given: (write(*given), asked.append(given))
while not asked:
    system.forward_dynamics(*state)
print("asked", flush=True)
"""


def test_a_process_that_ends_meanwhile_loses_nothing(place):
    """It does not wait; what was begun is finished and stored."""
    done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "asked\n", "")
    names = [file.stem for file in place.glob("*.kernel")]
    until(lambda: any(map(is_optimised, names)), "no kernel was optimised")
    until(lambda: not [*place.glob(".*")], "a claim was left")


def test_a_process_that_ends_begins_with_no_other_kernel(place, monkeypatch):
    """What it has in hand ends in an error then, and its thread goes on to the next."""
    gravity()
    name = next(place.glob("*.kernel")).stem
    tier = tier_of(name)
    monkeypatch.setattr(two_tiers._watch, "is_ended", True)
    assert not tier.optimise(forbidden)
    assert not cache.is_claimed(name)


def test_a_process_that_ends_before_it_asked_leaves_no_claim(place):
    """Nor one that ends while it asks: the other process then ends the claim."""
    gravity()
    name, folder = next(place.glob("*.kernel")).stem, os.environ["POLHODE_CACHE"]
    assert cache.claim(name)
    watch = two_tiers._Watch()
    watch.in_hand = name, folder
    watch.end()
    assert not cache.is_claimed(name)
    assert cache.claim(name)
    process = started("serve")
    head = {"name": name, "cache": folder, "facts": {"level": 2}, "is_graph": False, "size": 1000}
    process.stdin.write(json.dumps(head).encode() + b"\n" + b"half of it")
    process.stdin.close()
    until(lambda: process.poll() is not None, "it did not end")
    process.stdout.close()
    assert not cache.is_claimed(name)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_optimises_its_copy(place):
    call, _ = gravity()
    name, before = next(place.glob("*.kernel")).stem, call()
    child = os.fork()
    if not child:
        try:
            tier = tier_of(name)
            code = tier.jumps.code
            until(lambda: call() is not None and tier.jumps.code != code, "no other code took over")
            os._exit(0 if np.array_equal(call(), before) else 2)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert is_optimised(name)


def test_of_several_processes_one_optimises(place):
    """The others take what it stored."""
    call, _ = gravity()
    name = next(place.glob("*.kernel")).stem
    assert cache.claim(name)
    assert not cache.claim(name)
    tier = tier_of(name)
    assert not tier.optimise(forbidden)
    entry = cache.load(name)
    cache.save(name, cache.CachedKernel(entry.facts, object_code(entry.bitcode, FULL)))
    cache.release(name)
    code, before = tier.jumps.code, call()
    assert tier.optimise(forbidden)
    assert tier.jumps.code != code
    assert np.array_equal(call(), before)


def forbidden():
    raise AssertionError("another process is asked")


def test_a_claim_of_a_killed_process_ends(place, monkeypatch):
    gravity()
    name = next(place.glob("*.kernel")).stem
    assert cache.claim(name)
    monkeypatch.setattr(cache, "CLAIMED", -1.0)
    assert cache.claim(name)


def test_what_fails_is_told_and_the_kernel_stays(place, monkeypatch):
    def refuses(self, asked):
        raise OptimiserError("LLVM: no such instruction")

    monkeypatch.setattr(Optimiser, "optimised", refuses)
    call, _ = gravity()
    before = call()
    with pytest.warns(PolhodeWarning, match=r"could not be optimised: LLVM: no such instruction.*POLHODE_OPTIMISE"):
        until(lambda: call() is not None and not two_tiers._watch.kernels, "nothing happened")
    assert np.array_equal(call(), before)


def test_an_optimiser_says_what_llvm_refused_and_goes_on():
    optimiser = Optimiser()
    with pytest.raises(OptimiserError, match="LLVM"):
        optimiser.optimised(UnoptimisedKernel("", None, {"level": 2}, b"no bitcode"))
    with pytest.raises(OptimiserError, match="LLVM"):
        optimiser.optimised(UnoptimisedKernel("", None, {"level": 2}, b"no bitcode"))
    optimiser._process.kill()
    with pytest.raises(OptimiserError, match="ended"):
        optimiser.optimised(UnoptimisedKernel("", None, {"level": 2}, b"no bitcode"))
    optimiser.end()


@pytest.mark.parametrize(("when", "levels"), [("first", {FULL}), ("never", {QUICK}), ("later", {QUICK})])
def test_a_switch_says_when(place, monkeypatch, when, levels):
    monkeypatch.setenv("POLHODE_OPTIMISE", when)
    asked, machine = set(), compile.machine
    monkeypatch.setattr(compile, "machine", lambda level: asked.add(level) or machine(level))
    call, _ = gravity()
    assert asked == levels
    assert len(two_tiers._watch.kernels) == (when == "later")
    assert call() is not None


def test_another_value_of_the_switch_is_refused(monkeypatch):
    monkeypatch.setenv("POLHODE_OPTIMISE", "soon")
    with pytest.raises(InputError, match=r"POLHODE_OPTIMISE(.|\n)*'soon'; expected 'later', 'first' or 'never'"):
        gravity()


@pytest.mark.parametrize("executable", ["", "/usr/bin/blender", None])
def test_within_another_program_kernels_are_optimised_first(monkeypatch, executable):
    """What `sys.executable` names there is not Python, and is not to be started."""
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setenv("POLHODE_OPTIMISE", "later")
    assert two_tiers.when() == "first"


def test_reassociated_sums_have_one_tier(place):
    """Their bits depend on what LLVM makes of them."""
    system = ph.compile(random_model(["revolute"] * 2, 1), target="cpu", fast=True)
    system.gravity([0.1, 0.2])
    (name,) = (file.stem for file in place.glob("*.kernel"))
    assert is_optimised(name)


def test_batches_go_state_by_state_until_lanes_take_over(place, monkeypatch):
    """With the same bits; the next process finds them in lanes."""
    monkeypatch.setattr(compile, "FEW", 0)
    monkeypatch.setattr(compile, "_kept", LruCache(64))
    monkeypatch.setattr(compile, "_singles", LruCache(64))

    def make():
        return trace(lambda x: Vec([x[0] * x[1] + x[2], x[0] / x[1]]), x=(3,))

    x = np.random.default_rng(0).normal(size=(19, 3))
    kernel = compile.batch_kernel_for("a name", make, "two numbers")
    assert kernel.facts["width"] == 1
    assert compile.batch_kernel_for("a name", make, "two numbers") is kernel
    (first,) = kernel(x)
    until(lambda: kernel(x) and kernel.facts["width"] == lanes(), "no lanes took over")
    assert np.array_equal(kernel(x)[0], first)
    monkeypatch.setattr(compile, "_singles", LruCache(64))
    again = compile.batch_kernel_for("a name", forbidden, "two numbers")
    assert again.facts["width"] == lanes()
    assert np.array_equal(again(x)[0], first)


@pytest.mark.parametrize(("when", "few", "wide"), [("first", 0, True), ("never", 0, False), ("later", 10, True)])
def test_small_batches_kernels_and_those_optimised_first_are_in_lanes_at_once(place, monkeypatch, when, few, wide):
    monkeypatch.setenv("POLHODE_OPTIMISE", when)
    monkeypatch.setattr(compile, "FEW", few)
    kernel = compile.batch_kernel_for("", lambda: trace(lambda x: x[0] * x[1], x=(2,)), "a product")
    assert kernel.facts["width"] == (lanes() if wide else 1)
    assert kernel(np.array([[2.0, 3.0], [4.0, 5.0]]))[0].tolist() == [6.0, 20.0]


def test_a_kernel_from_disk_is_not_traced_again_by_a_short_use(place, monkeypatch):
    """Tracing is done by whoever calls, and takes longer than a short run gains by lanes."""
    monkeypatch.setattr(compile, "FEW", 0)
    x, traces = np.array([[2.0, 3.0], [4.0, 5.0]]), []

    def make():
        traces.append(1)
        return trace(lambda x: x[0] * x[1], x=(2,))

    for count in (1, 1):
        monkeypatch.setattr(compile, "_kept", LruCache(64))
        monkeypatch.setattr(compile, "_singles", LruCache(64))
        kernel = compile.batch_kernel_for("a name", make, "a product")
        assert len(traces) == count
    for _ in range(two_tiers.MOMENTS_TO_TRACE):
        assert len(traces) == 1
        kernel(x)
        kernel.is_hot()
    assert kernel(x)[0].tolist() == [6.0, 20.0]
    assert len(traces) == 2


def test_a_graph_that_an_earlier_process_left_is_not_traced_again(place, monkeypatch):
    """Code in lanes is made as soon as that of a kernel that was traced here; the graph on disk then goes."""
    monkeypatch.setattr(compile, "FEW", 0)
    x = np.random.default_rng(0).normal(size=(19, 3))

    def make():
        return trace(lambda x: Vec([x[0] * x[1] + x[2], x[0] / x[1]]), x=(3,))

    def known(make):
        monkeypatch.setattr(compile, "_kept", LruCache(64))
        monkeypatch.setattr(compile, "_singles", LruCache(64))
        two_tiers._watch.kernels.clear()
        return compile.batch_kernel_for("a name", make, "two numbers")

    first = known(make)
    before = first(x)[0]
    first.leave_graph()
    assert len([*place.glob("*.graph")]) == 1
    again = known(forbidden)
    until(lambda: again(x) and again.facts["width"] == lanes(), "no lanes took over")
    assert np.array_equal(again(x)[0], before)
    assert not [*place.glob("*.graph")]


def test_a_damaged_graph_is_traced_again(place, monkeypatch):
    monkeypatch.setattr(compile, "FEW", 0)
    monkeypatch.setattr(compile, "_kept", LruCache(64))
    monkeypatch.setattr(two_tiers, "MOMENTS_TO_TRACE", 5)
    x = np.array([[2.0, 3.0], [4.0, 5.0]])

    def known():
        monkeypatch.setattr(compile, "_singles", LruCache(64))
        return compile.batch_kernel_for("a name", lambda: trace(lambda x: x[0] * x[1], x=(2,)), "a product")

    first = known()
    first(x)
    first.leave_graph()
    (file,) = place.glob("*.graph")
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    again = known()
    until(lambda: again(x) and again.facts["width"] == lanes(), "no lanes took over")
    assert again(x)[0].tolist() == [6.0, 20.0]
