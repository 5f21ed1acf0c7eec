"""Graphs as bytes: the same texts for compilers, and nothing but graphs."""

import pickle

import pytest
from hypothesis import given, settings

import polhode as ph
from polhode.kernel import trace
from polhode.kernel.backends.llvm import compile
from polhode.kernel.backends.llvm.module import modules
from polhode.kernel.graph_bytes import packed, unpacked
from polhode.kernel.lru_cache import LruCache
from polhode.kernel.routine import For, While, routines
from polhode.kernel.schedule import fused
from random_programs import programs, run


def texts(graph):
    return modules(graph.anonymous(), "kernel", 4, single=False).texts


@settings(max_examples=25)
@given(programs())
def test_a_graph_comes_back_whole(steps):
    graph = trace(lambda x: run(steps, x), x=(4,))
    again = unpacked(packed(graph))
    assert (again.inputs, again.outputs) == (graph.inputs, graph.outputs)
    assert repr(again.nodes) == repr(graph.nodes)  # a NaN, the sign of a zero, a bool that is no float
    assert texts(fused(again)) == texts(fused(graph))


def test_routines_come_back_each_once_with_their_texts(monkeypatch):
    """All kernels of a run with loops: of a machine under constraints."""
    graphs, compiled = [], compile._compiled
    monkeypatch.setattr(compile, "_kept", LruCache(64))
    monkeypatch.setenv("POLHODE_CACHE", "")
    monkeypatch.setattr(compile, "_compiled", lambda graph, *more: graphs.append(graph) or compiled(graph, *more))
    ph.simulate(ph.load("four-bar"), duration=0.01, verify=False)
    called = [routine for graph in graphs for routine in routines(graph)]
    assert {For, While} & {type(statement) for routine in called for statement in routine.body}
    for graph in graphs:
        again = unpacked(packed(graph))
        assert [one.name for one in routines(again)] == [one.name for one in routines(graph)]
        assert texts(again) == texts(graph)


@pytest.mark.parametrize("data", [b"", b"no graph", pickle.dumps(print), pickle.dumps(OSError()), pickle.dumps((1, 2))])
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match="no graph"):
        unpacked(data)


def test_no_function_is_called_that_makes_no_graph():
    class Other:
        def __reduce__(self):
            return exec, ("raise SystemExit",)

    with pytest.raises(ValueError, match="no graph"):
        unpacked(pickle.dumps(Other()))
