"""Routines that several kernels call: compiled once, in modules of their own, with the bits of the graph."""

import numpy as np
import pytest

from polhode.kernel import evaluate, trace
from polhode.kernel.backends.llvm import compile, module
from polhode.kernel.backends.llvm.compile import OF_LONG, build, lanes
from polhode.kernel.backends.llvm.object_parts import MAGIC, divided, joined
from polhode.kernel.backends.llvm.target_machine import FULL, QUICK
from polhode.kernel.lru_cache import LruCache
from polhode.kernel.schedule import fused
from polhode.scalar import SharedFunction, Vec, loops_for, sin


def sums(count, busy=False):
    """A function of three numbers with so many bounded terms, one routine for whoever calls it."""

    def function(x):
        y = x
        for k in range(count):
            y = Vec([0.5 * sin(y[1] * y[2] + 0.1 * k), 0.3 * y[0] - 0.4 * y[2], 0.5 * y[0] + 0.1 * x[1] * y[1]])
        return y

    return SharedFunction("sums", function, busy=busy)


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Routines of few operations are modules of their own."""
    monkeypatch.setattr(module, "APART", 100)


@pytest.fixture
def compiled(monkeypatch):
    """The texts that LLVM reads, while nothing is known yet."""
    texts, parsed = [], compile._parsed
    monkeypatch.setattr(compile, "_shared_code", LruCache(32))
    monkeypatch.setattr(compile, "_parsed", lambda text: texts.append(text) or parsed(text))
    return texts


def one(routine):
    """A function that calls a routine, for `trace`, which asks for the names of arguments."""
    return lambda x: Vec([*routine(x)])


X = np.random.default_rng(0).normal(size=(11, 3))


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("width", [1, lanes()])
def test_a_kernel_of_a_shared_routine_has_the_bits_of_its_graph(width, quick, monkeypatch):
    """Apart or in one module; evaluation in plain floats is the oracle (it does not fuse)."""
    routine, outer = sums(40), sums(60)
    graph = trace(lambda x: Vec([*routine(x), *outer(routine(x) + x)]), x=(3,))
    assert len(module.modules(fused(graph), "kernel", width).shared) == 2 * len({1, width})
    (apart,) = build(graph, width, quick=quick)(X)
    monkeypatch.setattr(module, "APART", 10**9)
    assert not module.modules(fused(graph), "kernel", width).shared
    (whole,) = build(graph, width, quick=quick)(X)
    assert np.array_equal(apart, whole)
    expected = evaluate(graph, x=X)
    np.testing.assert_allclose(apart, expected, rtol=1e-11, atol=1e-11)


def test_a_shared_routine_is_compiled_once_for_all_kernels(compiled):
    routine = sums(60)
    once = build(trace(one(routine), x=(3,)), 1)
    assert len(compiled) == 2
    again = build(trace(lambda x: routine(routine(x)), x=(3,)), 1)
    assert len(compiled) == 3
    assert np.array_equal(again(X)[0], once(once(X)[0])[0])


def test_a_routine_inside_a_shared_one_is_a_module_too(compiled):
    inner = sums(60)
    outer = SharedFunction("outer", lambda x: Vec([a * b for a, b in zip(inner(x), sums(60).function(x), strict=True)]))
    build(trace(one(outer), x=(3,)), 1)
    assert len(compiled) == 3
    (found,) = build(trace(lambda x: Vec([*inner(x), *outer(x)]), x=(3,)), 1)(X)
    assert len(compiled) == 4
    (expected,) = build(trace(lambda x: Vec([*sums(60)(x), *outer.function(x)]), x=(3,)), 1)(X)
    assert np.array_equal(found, expected)


def test_small_routines_stay_in_the_module_of_their_kernel():
    routine = sums(3)
    assert not module.modules(fused(trace(one(routine), x=(3,))), "kernel", 1).shared


def test_other_operations_have_another_name():
    names = {module.shared_module(fused_routine(count), 1, False, False).name for count in (60, 61)}
    assert len(names) == 2


def fused_routine(count):
    graph = fused(trace(one(sums(count)), x=(3,)))
    (found,) = (node.value for node in graph.nodes if node.op == "call")
    return found


def test_optimised_code_of_all_modules_is_one_piece():
    graph = fused(trace(one(sums(60)), x=(3,)))
    facts, _, bitcode = compile._compiled(graph, compile.CompiledAs(1, False, False, True), "later")
    entry = compile.CachedKernel(facts, compile.object_code(bitcode, FULL))
    assert len(divided(entry.image)) == len(divided(bitcode)) == 2
    assert compile.is_object(entry.image)
    (found,) = compile._linked("", entry, lambda: graph, compile.FIRST)(X)
    assert np.array_equal(found, build(trace(one(sums(60)), x=(3,)), 1)(X)[0])


@pytest.mark.parametrize(("when", "levels"), [("later", {QUICK, OF_LONG}), ("first", {FULL}), ("never", {QUICK})])
@pytest.mark.parametrize("busy", [True, False])
def test_a_large_routine_that_takes_most_of_the_time_is_optimised_at_once(monkeypatch, when, levels, busy):
    """With the same bits; what calls it is optimised later, and then as a whole."""
    monkeypatch.setattr(module, "BUSY", 100)
    monkeypatch.setattr(compile, "_shared_code", LruCache(32))
    monkeypatch.setenv("POLHODE_OPTIMISE", when)
    graph, asked, machine = fused(trace(one(sums(60, busy)), x=(3,))), set(), compile.machine
    monkeypatch.setattr(compile, "machine", lambda level: asked.add(level) or machine(level))
    entry = compile._compiled(graph, compile.CompiledAs(1, False, False, True), when)
    assert asked == (levels if busy else levels - {OF_LONG})
    (found,) = compile._linked("", entry, lambda: graph, compile.FIRST)(X)
    assert np.array_equal(found, build(trace(one(sums(60)), x=(3,)), 1)(X)[0])


def test_modules_are_joined_and_divided():
    for parts in ([b"one"], [b"one", b"", b"three"]):
        assert divided(joined(parts)) == parts


@pytest.mark.parametrize(
    "damage", [lambda x: x[:-1], lambda x: x + b"!", lambda x: MAGIC, lambda x: MAGIC + b"\xff" * 64]
)
def test_damaged_modules_are_refused(damage):
    damaged = damage(joined([b"one", b"two"]))
    with pytest.raises(ValueError, match="modules"):
        divided(damaged)
    assert not compile.is_object(damaged)


def test_a_routine_that_calls_a_large_one_for_all_passes_at_once_is_a_module_with_it(compiled):
    """It is small by itself; what it calls is written beside it, in the lanes of its passes alone."""
    inner = sums(60)

    def passes(x):
        with loops_for("passes", x) as r:
            given, out, ith = r.given("x", x), r.output("out", 12), r.table("ith", range(4))
            for i in r.together(4):
                for k, value in enumerate(inner(Vec([given[0] + ith[i], given[1], given[2]]))):
                    out[i + 4 * k] = value
        return Vec(r.results())

    outer = SharedFunction("outer", passes)
    found = module.modules(fused(trace(one(outer), x=(3,))), "kernel", 1)
    (apart,) = found.shared
    assert "sums" not in found.own
    assert apart.text.count("define internal void @routine0_4(") == 1
    assert "define internal void @routine0_1(" not in apart.text
    kernels = [build(trace(f, x=(3,)), 1) for f in (one(outer), lambda x: outer(Vec(outer(x)[:3])))]
    assert len(compiled) == 3
    first, second = (kernel(X)[0] for kernel in kernels)
    assert np.array_equal(kernels[0](first[:, :3])[0], second)
