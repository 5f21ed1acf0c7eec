"""Graphs as bytes: the same code from compilers; data, of which nothing but graphs is read, and nothing is executed."""

import json
import pickle
import random
import struct
import sys
from copy import deepcopy
from math import inf, nan

import pytest
from hypothesis import given, settings

import polhode as ph
from machines import random_model
from polhode.kernel import OPERATIONS, Graph, Node, Port, jacobian, trace
from polhode.kernel.backends.llvm import compile
from polhode.kernel.backends.llvm.compile import CompiledAs, compiled_graph
from polhode.kernel.backends.llvm.module import modules
from polhode.kernel.graph_bytes import packed, unpacked
from polhode.kernel.lru_cache import LruCache
from polhode.kernel.record import Recorder
from polhode.kernel.routine import Block, For, Lookup, Switch, While, routines
from polhode.kernel.schedule import fused
from polhode.scalar import SharedFunction, Vec, cos, iterate, sin, where
from random_programs import programs, run

QUICKLY = CompiledAs(width=4, fast=False, quick=True, single=False)

MUTATIONS = 400
"""Changed copies of a graph's bytes, of each kind."""


def texts(graph):
    return modules(graph.anonymous(), "kernel", 4, single=False).texts


def object_code(graph):
    return compiled_graph(graph, QUICKLY)


def statements(graph):
    """All statements of all routines that a graph calls."""
    found, bodies = [], [routine.body for routine in routines(graph)]
    while bodies:
        for one in bodies.pop():
            found.append(one)
            if isinstance(one, Switch):
                bodies += [case for _, case in one.cases]
            elif not isinstance(one, Block):
                bodies.append(one.body)
    return found


def with_routines(x):
    """Loops, cases by a table, cells as indices, a loop until a condition; one routine that another calls, twice."""
    inner = SharedFunction("inner", lambda y: iterate(lambda s: (Vec([cos(s[0])]), s[0] < 0.7), y, 9))
    with Recorder("everything") as r:
        numbers, out, places = r.input("x", 4), r.output("out", 5, unset=True), r.array("places", 4)
        weight = r.table("weight", [1, -0.5, inf, 2.0])
        parents, kinds = r.lookup("parents", [0, 0, 1, 2]), r.lookup("kinds", [7, 3, 7, 3])
        for i in r.together(4):
            places[i] = numbers[i] * 0.0
        for i in r.range(1, 4, down=True):
            for kind in r.cases(kinds.at(i), [3, 7]):
                out[i] = numbers[parents.at(i)] * weight[i] if kind == 3 else sin(numbers[i])
            r.put(out, 1, 3, places, i, inner(Vec([numbers[0]]))[0] + inner(Vec([out[i]]))[0])
    return Vec([where(x[0] < 1.0, y, -0.0) for y in r.call(list(x))])


@pytest.fixture(scope="module")
def example():
    graph = trace(with_routines, x=(4,))
    assert {Block, For, While, Switch} == {type(one) for one in statements(graph)}
    return graph


@pytest.fixture(params=["itself", "derivative", "fused"], scope="module")
def relative(example, request):
    """A graph made of the example."""
    made = {"itself": lambda graph: graph, "derivative": lambda graph: jacobian(graph, wrt="x"), "fused": fused}
    return made[request.param](example)


@settings(max_examples=25)
@given(programs())
def test_a_graph_comes_back_whole(steps):
    graph = trace(lambda x: run(steps, x), x=(4,))
    again = unpacked(packed(graph))
    assert (again.inputs, again.outputs) == (graph.inputs, graph.outputs)
    assert repr(again.nodes) == repr(graph.nodes)  # the sign of a zero, a bool that is no float
    assert object_code(again) == object_code(graph)


def test_routines_come_back_with_all_that_is_in_them(relative):
    again = unpacked(packed(relative))
    assert packed(again) == packed(relative)
    outer, found = (routines(graph)[-1] for graph in (relative, again))
    for field in ("name", "inputs", "outputs", "arrays", "tables", "whole", "unset", "shared", "busy", "one_state"):
        assert getattr(outer, field) == getattr(found, field), field
    assert [*outer.arrays] == [*found.arrays]  # the order of their memory
    assert [repr(one.graph.nodes) for one in statements(again) if type(one) is Block] == [
        repr(one.graph.nodes) for one in statements(relative) if type(one) is Block
    ]
    assert object_code(again) == object_code(relative)


def runs_of(model, monkeypatch):
    """The graphs of all kernels of a run."""
    graphs, compiled = [], compile._compiled
    monkeypatch.setattr(compile, "_kept", LruCache(64))
    monkeypatch.setenv("POLHODE_CACHE", "")
    monkeypatch.setattr(compile, "_compiled", lambda graph, *more: graphs.append(graph) or compiled(graph, *more))
    ph.simulate(model, duration=0.01, verify=False)
    return graphs


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("four-bar", {For, While}),
        ("chain of ninety links", {For, Switch, Lookup}),
        pytest.param("stewart-platform", {For, While}, marks=pytest.mark.long),
    ],
)
def test_routines_come_back_each_once_with_their_code(name, parts, monkeypatch):
    """All kernels of a run with loops: of a machine under constraints, of a large tree."""
    model = random_model(["revolute", "prismatic"] * 45, 1) if name.startswith("chain") else ph.load(name)
    graphs = runs_of(model, monkeypatch)
    assert any(routine.tables for graph in graphs for routine in routines(graph))
    every = [one for graph in graphs for one in statements(graph)]
    cells = [cell for one in every if type(one) is Block for cell in (*one.loads, *one.stores)]
    assert parts <= {*map(type, every)} | {type(term) for cell in cells for _, term in cell.at.terms}
    for graph in graphs:
        again = unpacked(packed(graph))
        assert [one.name for one in routines(again)] == [one.name for one in routines(graph)]
        assert texts(again) == texts(graph)
    last = max(graphs, key=lambda graph: len(routines(graph)))
    assert object_code(unpacked(packed(last))) == object_code(last)


NUMBERS = [0.0, -0.0, inf, -inf, nan, -nan, 5e-324, 0.1, 1e22, sys.float_info.max, True, False]


def test_numbers_keep_their_bits():
    """The sign of a NaN too, which is in the text: that of 0/0 differs from machine to machine."""
    nodes = (Node("input", (), "x"), *(Node("constant", (), value) for value in NUMBERS))
    graph = Graph("numbers", (Port("x", (), (0,)),), (Port("y", (1,), (1,)),), nodes, None)
    again = unpacked(packed(graph))
    found = [node.value for node in again.nodes[1:]]
    assert [*map(type, found)] == [*map(type, NUMBERS)]
    assert [struct.pack(">d", value) for value in found] == [struct.pack(">d", value) for value in NUMBERS]


# other bytes


@pytest.mark.parametrize(
    "data",
    [
        b"", b"no graph", b"null", b"{}", b"[]", b"[1,2,3]", b'["polhode graph 2",[],{}]', b"\xff", b"\xef\xbb\xbf[]",
        b"[" * 100_000, b"[" * 10**6 + b"]" * 10**6, b'{"a":' * 100_000, b"[" + b"9" * 100_000 + b"]", b"[NaN]",
        pickle.dumps(print), pickle.dumps(OSError()), pickle.dumps((1, 2)), b" " * 2**26,
    ],
)  # fmt: skip
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match="no graph"):
        unpacked(data)


def test_nothing_is_unpickled():
    class Other:
        def __reduce__(self):
            return pytest.fail, ("unpickled",)

    with pytest.raises(ValueError, match="no graph"):
        unpacked(pickle.dumps(Other()))


ROUTINES, GRAPH = 1, 2
NAME, INPUTS, OUTPUTS, ARRAYS, TABLES, WHOLE, UNSET, SHARED, BUSY, ONE_STATE, BODY = range(11)
NODES, OPERANDS, VALUES = 3, 4, 5


def changed(graph, path, value):
    """The bytes of a graph with another entry at a place."""
    data = json.loads(packed(graph))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value(place[path[-1]]) if callable(value) else value
    return json.dumps(data).encode()


CHANGES = {
    "another format": ([0], "polhode graph 3"),
    "a name of two lines": ([ROUTINES, -1, NAME], "a\n@x = global i64 0"),
    "a name with a direction": ([ROUTINES, -1, NAME], "a\u202e"),
    "half a character": ([GRAPH, 0], "\ud800"),
    "a name that is too long": ([GRAPH, 0], "a" * 1001),
    "an unknown operation": ([GRAPH, NODES], lambda old: old.replace("less", "system")),
    "an operation with other operands": ([GRAPH, NODES], lambda old: old.replace("less", "not")),
    "a condition as a number": ([GRAPH, NODES], lambda old: old.replace("less", "add")),
    "a number of operations": ([GRAPH, NODES], 3),
    "an operand that is the node itself": ([GRAPH, OPERANDS, -1], 17),
    "an operand of no node": ([GRAPH, OPERANDS, -1], 18),
    "an operand that is negative": ([GRAPH, OPERANDS], lambda old: [-1, *old[1:]]),
    "an operand that is a fraction": ([GRAPH, OPERANDS], lambda old: [0.0, *old[1:]]),
    "an operand that is true": ([GRAPH, OPERANDS], lambda old: [True, *old[1:]]),
    "an operand that is no number": ([GRAPH, OPERANDS], lambda old: [[], *old[1:]]),
    "an operand too many": ([GRAPH, OPERANDS], lambda old: [*old, 0]),
    "an operand too few": ([GRAPH, OPERANDS], lambda old: old[:-1]),
    "a value too many": ([GRAPH, VALUES], lambda old: [*old, None]),
    "a value too few": ([GRAPH, VALUES], lambda old: old[:-1]),
    "a routine that there is not": ([GRAPH, VALUES, 4], 9),
    "a part that there is not": ([GRAPH, VALUES, 9], 5),
    "a constant that is whole": ([GRAPH, VALUES, 10], 1),
    "a constant that is text": ([GRAPH, VALUES, 10], "1.0"),
    "a number as bits": ([GRAPH, VALUES, 10], "3ff0000000000000"),
    "bits with spaces": ([ROUTINES, -1, TABLES, "weight", 2], "7f f0 00 00 0000"),
    "an input that is no port's": ([GRAPH, 1], []),
    "inputs in another order": ([GRAPH, 1, 0, 2], [1, 0, 2, 3]),
    "an input of two ports": ([GRAPH, 1], lambda old: [*old, ["y", [1], [0], False]]),
    "a port of another shape": ([GRAPH, 1, 0, 1], [5]),
    "a port of many axes": ([GRAPH, 1, 0, 1], [4] + [1] * 8),
    "a port of a node that there is not": ([GRAPH, 2, 0, 2, 0], 10**6),
    "a port that may be uniform": ([GRAPH, 1, 0, 3], 0),
    "a routine before those that it calls": ([ROUTINES], lambda old: old[::-1]),
    "no routines": ([ROUTINES], []),
    "a routine of fewer fields": ([ROUTINES, -1], lambda old: old[:-1]),
    "an argument that is no array": ([ROUTINES, -1, INPUTS, 0, 0], "y"),
    "an argument of another length": ([ROUTINES, -1, INPUTS, 0, 1], 3),
    "an argument that is there twice": ([ROUTINES, -1, INPUTS], lambda old: [*old, old[0]]),
    "an array of a name that is text": ([ROUTINES, -1, ARRAYS, "x\n"], 3),
    "an array that is large": ([ROUTINES, -1, ARRAYS, "places"], 2**40),
    "an array of a negative length": ([ROUTINES, -1, ARRAYS, "places"], -1),
    "tables that are a list": ([ROUTINES, -1, TABLES], []),
    "a table of text": ([ROUTINES, -1, TABLES, "weight", 0], "0x0"),
    "a table of whole numbers of fractions": ([ROUTINES, -1, WHOLE, "parents", 0], 0.5),
    "a table of whole numbers that are too large": ([ROUTINES, -1, WHOLE, "parents", 0], 2**63),
    "an unset array that is none": ([ROUTINES, -1, UNSET, 0], "nothing"),
    "a flag that is a number": ([ROUTINES, -1, SHARED], 1),
    "a statement of no kind": ([ROUTINES, -1, BODY, 0], []),
    "a statement of an unknown kind": ([ROUTINES, -1, BODY, 0, 0], "__class__"),
    "a statement whose kind is a list": ([ROUTINES, -1, BODY, 0, 0], []),
    "a statement that is a table": ([ROUTINES, -1, BODY, 0], {}),
    "a variable that is no name": ([ROUTINES, -1, BODY, 0, 1], "i 0"),
    "a variable of no loop around": ([ROUTINES, -1, BODY, 0, 1], "j"),
    "an end that is no index": ([ROUTINES, -1, BODY, 0, 3], []),
    "an end that is too large": ([ROUTINES, -1, BODY, 0, 3], [2**31]),
    "a cell of no array": ([ROUTINES, -1, BODY, 0, 6, 0, 2, 0], ["nothing", 0]),
    "a cell that is none": ([ROUTINES, -1, BODY, 0, 6, 0, 2, 0], []),
    "a cell outside its array": ([ROUTINES, -1, BODY, 0, 6, 0, 2, 0], ["x", 4]),
    "a cell before its array": ([ROUTINES, -1, BODY, 0, 6, 0, 2, 0], ["x", -1]),
    "a cell too many": ([ROUTINES, -1, BODY, 0, 6, 0, 2], lambda old: [*old, ["x", 0]]),
    "a result in a table": ([ROUTINES, -1, BODY, 0, 6, 0, 3, 0], ["weight", 0]),
    "a case that is there twice": ([ROUTINES, -1, BODY, 1, 6, 0, 3], lambda old: [*old, old[0]]),
    "a case that is no number": ([ROUTINES, -1, BODY, 1, 6, 0, 3, 0, 0], "3"),
    "a term of no kind": ([ROUTINES, -1, BODY, 0, 2], [0, [1]]),
    "a term of an unknown kind": ([ROUTINES, -1, BODY, 0, 2], [0, [1, "global", "x"]]),
    "a term of a table that there is not": ([ROUTINES, -1, BODY, 0, 6, 0, 2, 0], ["x", 0, [1, "lookup", "no", "i0"]]),
    "a table at no variable": ([ROUTINES, -1, BODY, 0, 2], [0, [1, "lookup", "parents", "i"]]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_an_entry_that_is_wrong_is_refused(example, what):
    path, value = CHANGES[what]
    with pytest.raises(ValueError, match="no graph"):
        unpacked(changed(example, path, value))


FORMAT = "polhode graph 2"


def one_number(operations="input", operands=(), values=("x",), result=0):
    """A graph from one number to one, as data."""
    return ["one", [["x", [1], [0], False]], [["y", [1], [result], False]], operations, [*operands], [*values]]


def one_routine(*body, one_state=False):
    """A routine from one number to one, as data."""
    return ["r", [["x", 1]], [["y", 1]], {"x": 1, "y": 1}, {}, {}, [], False, False, one_state, [*body]]


CALLED = one_number("input call part", [0, 1], ["x", 0, 0], result=2)


@pytest.mark.parametrize(("depth", "is_read"), [(100, True), (350, False), (5000, False)])
def test_statements_in_each_other_are_read_as_deep_as_python_goes(depth, is_read):
    deep = '["for","k",[0],[1],false,false,[' * depth + "]]" * depth
    data = json.dumps([FORMAT, [one_routine("deep")], CALLED]).replace('"deep"', deep).encode()
    if is_read:
        assert len(statements(unpacked(data))) == depth
    else:
        with pytest.raises(ValueError, match="no graph"):
            unpacked(data)


@pytest.mark.parametrize(
    ("ends", "is_read"), [([[0], [100]], True), ([[0], [10**6]], False), ([[1], [1, [1, "variable", "k"]]], False)]
)
def test_loops_that_lanes_have_written_out_are_short(ends, is_read):
    """Their length is known, and they are no more operations than a graph may have."""
    block = ["block", one_number(), [["x", 0]], [["y", 0]]]
    inner = ["for", "k", *ends, False, True, [block]]
    outer = ["for", "k", [0], [10], False, False, [inner]]
    data = json.dumps([FORMAT, [one_routine(outer, one_state=True)], CALLED]).encode()
    if is_read:
        assert routines(unpacked(data))[0].one_state
    else:
        with pytest.raises(ValueError, match="no graph"):
            unpacked(data)


@pytest.mark.parametrize(("count", "is_read"), [(10, True), (30, False)])
def test_routines_that_call_each_other_twice_each_are_few(count, is_read):
    """Thirty of them would be a thousand million calls to whoever looks through them."""
    cells = [["x", 0]], [["y", 0]]
    graphs = [
        one_number("input call part call part", [0, 1, 2, 3], ["x", k, 0, k, 0], result=4) for k in range(count - 1)
    ]
    table = [one_routine(["block", graph, *cells]) for graph in (one_number(), *graphs)]
    data = json.dumps([FORMAT, table, [*CALLED[:5], ["x", count - 1, 0]]]).encode()
    if is_read:
        assert len(routines(unpacked(data))) == count
    else:
        with pytest.raises(ValueError, match="no graph"):
            unpacked(data)


ODD = [
    None, True, False, 0, 1, -1, 2, 7, 10**6, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, "", "x", "out", "places",
    "weight", "call", "input part", "for", "cell", "7ff8000000000000", "0" * 16, "a\n", "\ud800", [], [[]], [0],
    ["x", 0], {}, {"x": 1}, [1, "variable", "i0"],
]  # fmt: skip
"""What an entry is changed to."""


def with_another_entry(data, chance):
    """Bytes of lists with an entry changed, dropped, doubled or put in the place of another."""
    data = deepcopy(data)
    places = [data]
    for place in places:  # it grows meanwhile
        inner = place.values() if type(place) is dict else place
        places += [one for one in inner if type(one) in (list, dict) and one]
    place = chance.choice(places)
    at = chance.choice([*place] if type(place) is dict else range(len(place)))
    value = deepcopy(chance.choice([chance.choice(ODD), chance.choice(places), _near(place[at], chance)]))
    if type(place) is list and (how := chance.randrange(4)):
        place[at : at + 1] = [[], [place[at]] * 2, [value]][how - 1]
    else:
        place[at] = value
    return json.dumps(data).encode()


def _near(value, chance):
    """A whole number beside another; another word of a text."""
    if type(value) is int:
        return value + chance.choice([-1, 1])
    words = value.split() if type(value) is str else []
    if len(words) > 1:
        words[chance.randrange(len(words))] = chance.choice([*OPERATIONS, *words])
    return " ".join(words)


def with_other_bytes(data, chance):
    """Bytes of which some are changed, dropped, doubled, or cut off."""
    at = chance.randrange(len(data))
    few = data[at : at + chance.randrange(1, 30)]
    others = [
        data[:at], data[at:], data[:at] + data[at + len(few) :], data[:at] + few + data[at:],
        data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :], data[:at] + chance.choice(PIECES) + data[at + 1 :],
    ]  # fmt: skip
    return chance.choice(others)


PIECES = [b"[", b"]", b"{", b"}", b",", b'"', b"-", b"0", b"9", b"e9", b".", b" ", b"NaN", b"null", b"true", b"\\u0000"]


def is_refused(data):
    """Whether bytes are refused; what is read instead is a graph that is written and that compilers read."""
    try:
        found = unpacked(data)
    except ValueError as error:
        told = str(error)
    else:
        again = packed(found)
        assert packed(unpacked(again)) == again
        assert texts(fused(found))
        return False
    assert told.startswith("no graph")
    return True


@pytest.mark.parametrize("changed_at_random", [with_another_entry, with_other_bytes])
def test_changed_bytes_are_refused_or_a_graph(example, changed_at_random):
    """Not one leads to another error, or to a graph that compilers cannot read."""
    data, chance = packed(example), random.Random(1)
    given = json.loads(data) if changed_at_random is with_another_entry else data
    refused = [is_refused(changed_at_random(given, chance)) for _ in range(MUTATIONS)]
    assert MUTATIONS / 2 < sum(refused) < MUTATIONS
