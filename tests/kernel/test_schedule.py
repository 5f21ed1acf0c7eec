"""Large graphs in parts: the parts compute what the whole does, in every lane width, and long graphs compile."""

from functools import partial

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies as st

from polhode import scalar
from polhode.kernel import evaluate, trace
from polhode.kernel.backends.llvm import parts
from polhode.kernel.backends.llvm.compile import build, lanes
from polhode.kernel.operations import MEANING
from polhode.kernel.schedule import divided, fused
from polhode.scalar import Vec, iterate, vec

WIDTHS = [1, 2, 4, 8]
N = 11
"""States: no multiple of any lane width."""


def mixed(x):
    """Inputs, constants and one value twice among the results; conditions that are used long after they are found."""
    below, inside = x[0] < x[1], abs(x[2]) <= 1.0
    values = [*x]
    for k in range(60):
        a, b = values[-1], values[-3]
        values.append(scalar.sin(a) * b + 0.25 if k % 9 == 0 else a / (1.5 + b * b) - 0.5 * values[k])
    chosen = scalar.where(below & inside, values[-1], values[20])
    both = scalar.where(~below | inside, values[30], 3.0)
    return vec(x[3], chosen, 0.0, both, 7.5, chosen, *values[-12:])


def with_a_loop(x):
    """A routine between operations: its results are used before and after others."""
    before = [x[0] * k + x[1] for k in range(12)]
    found = iterate(lambda s: (Vec([s[0] / 2 + before[3], s[1] + s[0]]), True), Vec([x[2], before[5]]), 5)
    after = [found[k % 2] * before[k] - x[3] for k in range(12)]
    return vec(*after, found[1], sum(before[1:], before[0]))


def in_a_loop(x):
    """A step that is large itself."""
    return iterate(lambda s: (Vec(mixed(s)[6:10]) / 4, True), Vec([x[0], x[1], x[2], x[3]]), 3)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("function", [mixed, with_a_loop, in_a_loop])
def test_parts_compute_the_bits_of_the_whole(function, width, monkeypatch):
    graph = trace(function, x=(4,))
    x = np.random.default_rng(1).normal(size=(N, 4))
    x[5, 3] = 1e9  # a sine that the C library is asked for
    (whole,) = build(graph, width)(x)
    assert np.array_equal(whole, [build(graph, 1)(row)[0] for row in x])
    monkeypatch.setattr(parts, "MOST_OPERATIONS", 0)
    monkeypatch.setattr(parts, "divided", partial(divided, size=7))
    kernel = build(graph, width)
    assert "_part3(" in kernel.source
    assert np.array_equal(kernel(x)[0], whole)
    assert np.array_equal(kernel(x[0])[0], whole[0])


def many_turns(x):
    """More angles than parts write out, one of them computed on the way; negated values, constants, a condition."""
    waves = [scalar.sin(turn) * 0.5 - scalar.cos(turn) for turn in x]
    later = scalar.sin(waves[3] + waves[7])
    values = [*waves, -later]
    for k in range(100):
        values.append(1.25 - values[k] * values[-1])
    return vec(*values[-9:], scalar.where(later < 0.25, -values[30], values[40]))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("quick", [False, True])
def test_sines_by_calls_and_constants_from_memory_have_the_bits_of_those_written_out(width, quick, monkeypatch):
    graph = trace(many_turns, x=(20,))
    x = np.random.default_rng(2).normal(size=(N, 20))
    x[5, 3], x[6, 1] = 1e9, -0.0
    whole = build(graph, width)(x)
    monkeypatch.setattr(parts, "MOST_OPERATIONS", 0)
    monkeypatch.setattr(parts, "divided", partial(divided, size=400))
    kernel = build(graph, width, quick=quick)
    source = kernel.source
    assert f"call void @sines4_{width}(" in source
    assert f"call void @sines1_{width}(" in source
    assert (f"@constants_{width} =" in source) == (quick and width > 1)
    assert np.array_equal(kernel(x), whole)
    monkeypatch.setattr(parts, "MANY_ANGLES", 1000)
    written = build(graph, width, quick=quick)
    assert "@sines" not in written.source
    assert np.array_equal(written(x), whole)


def test_a_division_is_found_once():
    graph = fused(trace(mixed, x=(4,)))
    assert divided(graph, 7) is divided(graph, 7)
    assert len(divided(graph, 7).parts) > len(divided(graph, 70).parts)


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])
@given(st.integers(1, 40), st.integers(0, 2**31))
def test_a_slot_holds_what_a_part_left_there_until_its_last_use(size, seed):
    rng = np.random.default_rng(seed)

    def walk(x, y):
        values = [*x, y]
        for _ in range(120):
            i, j = rng.integers(0, len(values), 2)
            values.append(0.5 * (values[i] * values[j] - values[-1]))
        return Vec([values[k] for k in rng.integers(0, len(values), 10)]), vec(1.5, values[-1])

    graph = fused(trace(walk, x=(3,), y=()))
    division = divided(graph, size)
    state = rng.uniform(-1, 1, 4)
    memory = [np.nan] * division.slots
    memory[:4] = state
    for part in division.parts:
        own = {}
        for k in part:
            op, args, _ = graph.nodes[k]
            constants = {a: graph.nodes[a].value for a in args if graph.nodes[a].op == "constant"}
            here = [own[a] if a in own else constants[a] if a in constants else memory[division.slot[a]] for a in args]
            own[k] = MEANING[op](*here)
            if k in division.slot:
                memory[division.slot[k]] = own[k]
    for port, expected in zip(graph.outputs, evaluate(graph, x=state[:3], y=state[3]), strict=True):
        known = [k for k in port.nodes if graph.nodes[k].op != "constant"]
        found = {k: memory[division.slot[k]] for k in known}
        assert [found.get(k, graph.nodes[k].value) for k in port.nodes] == expected.tolist()


def test_few_slots_serve_many_values():
    """A chain needs no more memory for being longer."""

    def chain(x):
        values = [*x]
        for _ in range(5000):
            values.append(values[-1] * values[-2] + values[-3])
        return values[-1]

    assert divided(fused(trace(chain, x=(3,))), 50).slots < 10


@pytest.mark.parametrize("width", [1, lanes()])
@pytest.mark.parametrize("sizes", [(1, 500), (9, 401), (17, 1024)])
def test_many_results_come_out_in_their_places(sizes, width):
    m, n = sizes
    graph = trace(lambda x, y: vec(Vec([x[k % m] + y[k] for k in range(n)]), Vec([*y])), x=(m,), y=(n,))
    rng = np.random.default_rng(m)
    x, y = rng.normal(size=(N, m)), rng.normal(size=(N, n))
    (found,) = build(graph, width)(x, y)
    expected = np.stack([x[:, np.arange(n) % m] + y, y], axis=1)
    assert np.array_equal(found, expected)
    assert np.array_equal(build(graph, width)(x[3], y[3])[0], expected[3])


@pytest.mark.long
def test_a_graph_of_a_hundred_thousand_operations_compiles_and_is_right():
    def long(x):
        values = [*x]
        for k in range(50_000):
            a, b, c = values[-1], values[-7], values[(k * k) % len(values)]
            values.append(a / (1.5 + b * b) if k % 11 == 0 else 0.9 * a * c - b if k % 3 == 0 else 0.5 * (a + c))
        return Vec(values[-20:])

    graph = trace(long, x=(20,))
    assert graph.operations.total() > 100_000
    x = np.random.default_rng(0).normal(size=(9, 20))
    kernel = build(graph)
    (found,) = kernel(x)
    scheduled = fused(graph)
    assert np.array_equal(found[[0, 8]], [evaluate(scheduled, x=x[k]) for k in (0, 8)])
