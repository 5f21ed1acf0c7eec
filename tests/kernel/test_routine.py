"""Loops, arrays and linear equations in a graph: all targets agree with `evaluate`, derivatives with closed forms."""

import re
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from emulated import Emulated
from polhode.dynamics.arguments import Arguments
from polhode.errors import CompileError
from polhode.kernel import evaluate, jacobian, pullback, replay, trace
from polhode.kernel.backends.llvm.compile import build
from polhode.kernel.backends.llvm.module import module_text
from polhode.kernel.record import Recorder
from polhode.kernel.schedule import fused
from polhode.linalg.elimination import solution, solve
from polhode.model import make_tree
from polhode.scalar import (
    Dual,
    RecordedFunction,
    SharedFunction,
    Vec,
    cos,
    iterate,
    jacobian as scalar_jacobian,
    sin,
    sqrt,
    where,
)
from polhode.system.constrained_model import constrained_dynamics

N = 11
"""States: no multiple of any lane width."""


def weighted_sum(x, a):
    """Σ x_i 2a + sin a: a loop that uses what stands outside."""
    with Recorder("sum") as r:
        given, total = r.input("x", 3), r.output("total", 1)
        for i in r.range(3):
            total[0] = total[0] + given[i] * (2 * a)
    return r.call(list(x))[0] + sin(a)


def square_root(x, a):
    """√(a² + 1) by Newton's iteration: lanes stop on their own; the second number counts."""
    goal = a * a + 1.0

    def step(state):
        old, count = state
        new = (old + goal / old) / 2
        return Vec([new, count + 1]), abs(new - old) > 1e-14 * new

    return iterate(step, Vec([goal, 0.0 * a]), 60)


def power(x, a):
    """cos applied as often as the first number says, at run time."""
    return iterate(lambda s: (Vec([cos(s[0])]), True), Vec([a]), abs(x[0]) * 10)


def nested(x, a):
    """A loop in a loop: Σ_i (Newton's √ of x_i² + a²), with what was computed before both."""
    shift = a * a

    def outer(state):
        total, k = state
        inside = iterate(lambda s: (Vec([(s[0] + (shift + k) / s[0]) / 2]), True), Vec([1.0 + shift]), 8)
        return Vec([total + inside[0] * x[1], k + 1.0]), k < 3.0

    return iterate(outer, Vec([0.0 * a, 1.0 + 0.0 * a]), 10)


def rows_together(x, a):
    """Passes that know nothing of each other, over rows of several lengths: triangles of a product of sines."""
    with Recorder("rows") as r:
        given, wave, out = r.input("x", 3), r.array("wave", 23), r.output("out", 23 * 23)
        number = r.table("number", range(23))
        for j in r.together(23):
            wave[j] = sin(number[j] * a)
        for i in r.range(23):
            for j in r.together(i, 23):
                out[i * 23 + j] = wave[i] * wave[j] + given[1] / (1.0 + number[j])
    return Vec(r.call(list(x))[3:500])


def called_abreast(x, a):
    """Three passes that call a routine which stops on its own: √(x² + a²) of each by Newton's iteration, and counts."""
    inner = SharedFunction("inner", lambda y, b: square_root(y, sqrt(y[0] * y[0] + b[0] * b[0])))
    with Recorder("abreast") as r:
        given, out, number = r.input("x", 3), r.output("out", 6), r.table("number", [1.0, 2.0, 40.0])
        for i in r.together(3):
            for k, value in enumerate(inner(Vec([given[i] * number[i]]), Vec([a]))):
                out[i + 3 * k] = value
    return Vec(r.call(list(x)))


def table_driven(x, a):
    """A walk over a tree of parents, with two kinds of steps, there and back."""
    with Recorder("walk") as r:
        given, out, weight = r.input("x", 3), r.output("out", 4), r.table("weight", [0.5, -1.0, 2.0, 3.0])
        parents, kinds = r.lookup("parents", [0, 0, 1, 1]), r.lookup("kinds", [7, 3, 7, 3])
        out[0] = given[0] * a
        for i in r.range(1, 4):
            for kind in r.cases(kinds.at(i), [3, 7]):
                before = out[parents.at(i)]
                out[i] = before * weight[i] + given[2] if kind == 3 else sin(before) + weight[i] * a
        for i in r.range(1, 4, down=True):
            out[parents.at(i)] = out[parents.at(i)] + out[i]
    return Vec(r.call(list(x)))


def sorted_numbers(x, a):
    """Numbers put in order through cells that say where: every lane has indices of its own."""
    with Recorder("sort") as r:
        given, place, out, number = r.input("x", 3), r.array("place", 1), r.output("out", 3), r.table("n", range(3))
        for i in r.range(3):
            place[0] = 0.0
            for j in r.range(3):
                lower = (given[j] < given[i]) | ((given[j] == given[i]) & (number[j] < number[i]))
                place[0] = place[0] + where(lower, 1.0, 0.0)
            out[place.cell(0)] = given[i]
    return Vec(r.call(list(x)))


FUNCTIONS = [
    weighted_sum, square_root, power, nested, rows_together, called_abreast, table_driven, sorted_numbers,
]  # fmt: skip


def traced(function):
    """The graph of one of the functions, fused."""
    return fused(trace(function, x=(3,), a=()))


def values():
    """Arguments of N states."""
    rng = np.random.default_rng(7)
    return {"x": rng.normal(size=(N, 3)), "a": rng.normal(size=N)}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_lanes_of_every_width_compute_the_bits_of_evaluate(function, width):
    graph, given = traced(function), values()
    expected = np.asarray(evaluate(graph, **given))
    (found,) = build(graph, width)(*given.values())
    if function in (square_root, nested, called_abreast, sorted_numbers):
        np.testing.assert_array_equal(found, expected)
    else:  # the C library's sine and cosine may differ in the last bit
        assert_close(found, expected)


def test_passes_that_call_a_routine_are_lanes_of_it():
    """In code for one state; where lanes are states, passes go one after the other."""
    graph = traced(called_abreast)
    one, eight = (module_text(graph, "f", width, single=width == 1) for width in (1, 8))
    assert len(re.findall(r"call void @routine\d_4\(", one)) == 2  # the routine, and its own loop
    assert not re.search(r"@routine\d_4\(", eight)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_cuda_c_run_thread_by_thread_computes_what_evaluate_says(function, tmp_path):
    graph, given = traced(function), values()
    assert_close(Emulated(graph, tmp_path)(N, **given), np.asarray(evaluate(graph, **given)))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_replayed_in_another_trace_it_is_the_same(function):
    graph, given = traced(function), values()
    again = trace(lambda x, a: replay(graph, x=x, a=a), x=(3,), a=())
    assert_close(evaluate(again, **given), np.asarray(evaluate(graph, **given)))


@pytest.mark.parametrize("function", FUNCTIONS[:2])
def test_replayed_on_numbers_with_derivatives_it_is_differentiated(function):
    x, a, h = [0.3, -0.2, 0.9], 0.7, 1e-6
    graph = trace(function, x=(3,), a=())
    at = lambda s: np.asarray(evaluate(graph, x=x, a=a + s))
    found = replay(graph, x=Vec(x), a=Dual(a, np.ones(1)))
    slopes = [y.slope[0] if isinstance(y, Dual) else 0.0 for y in (found if isinstance(found, Vec) else [found])]
    np.testing.assert_allclose(slopes, np.ravel((at(h) - at(-h)) / (2 * h)), rtol=1e-7)


@pytest.mark.parametrize("function", FUNCTIONS[:2] + FUNCTIONS[3:5])
@pytest.mark.parametrize("target", ["evaluate", "compiled"])
def test_derivatives_through_loops_are_those_of_differences(function, target):
    graph = jacobian(trace(function, x=(3,), a=()))
    kernel = build(graph)
    run = kernel if target == "compiled" else lambda x, a: tuple(evaluate(graph, x=x, a=a).values())
    given, h = values(), 1e-6
    slopes = run(given["x"], given["a"])
    plain = trace(function, x=(3,), a=())
    at = lambda s: np.asarray(evaluate(plain, x=given["x"], a=given["a"] + s))
    along_a = (at(h) - at(-h)) / (2 * h)
    assert_close(slopes[1], along_a, 1e4)  # differences: h² and ε/h


def test_second_derivatives_go_through_a_loop_twice():
    twice = jacobian(jacobian(trace(lambda a: square_root(None, a)[0], a=())))
    a = np.linspace(-2, 2, 9)
    found = evaluate(twice, a=a)["d_d_result_d_a_d_a"]
    assert_close(found, (a * a + 1) ** -1.5)


def test_there_is_no_way_back_through_a_loop():
    with pytest.raises(CompileError, match="no way back"):
        pullback(trace(square_root, x=(3,), a=()))


SIZES = [1, 2, 3, 5, 7, 8, 14]


def system(m, k=2):
    """Equations of full rank, and one of rank m − 1."""
    rng = np.random.default_rng(m)
    A, b = rng.normal(size=(N, m, m)), rng.normal(size=(N, m, k))
    A[3, -1] = 0.0
    b[3, -1] = 0.0
    return {"A": A, "b": b}


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("unrolled", [0, 6])
def test_linear_equations_are_solved_and_their_rank_is_found(m, unrolled):
    given = system(m)
    graph = fused(trace(lambda A, b: solution(A, b, None, 1e-12, unrolled), A=(m, m), b=(m, 2)))
    x, rank, free = build(graph)(*given.values())
    expected = evaluate(graph, **given)
    np.testing.assert_array_equal(x, expected.x)
    np.testing.assert_array_equal(rank, [m - (i == 3) for i in range(N)])
    np.testing.assert_array_equal(free.sum(axis=1), m - rank)
    residual = np.einsum("nij,njk->nik", given["A"], x) - given["b"]
    scale = np.linalg.cond(np.delete(given["A"], 3, 0)).max()
    assert np.max(abs(residual)) < 1e-14 * m * scale


def test_rows_of_any_size_keep_their_rank():
    """Pivots are compared with the natural size of their row, so that units do not matter."""
    rng = np.random.default_rng(0)
    A, scales = rng.normal(size=(6, 6)), 10.0 ** rng.integers(-9, 9, 6)
    A[5] = A[0] + A[1]
    graph = trace(lambda A, b, s: solution(A, b, s, 1e-10), A=(6, 6), b=(6,), s=(6,))
    for by in (np.ones(6), scales):
        _, rank, _ = build(graph)(A * by[:, None], np.zeros(6), by)
        assert rank == 5


@pytest.mark.parametrize("m", [3, pytest.param(7, marks=pytest.mark.long)])
def test_the_derivative_of_a_solution_is_that_of_the_inverse(m):
    rng = np.random.default_rng(m)
    A, b = rng.normal(size=(m, m)), rng.normal(size=m)
    slopes = build(jacobian(trace(solve, A=(m, m), b=(m,))))(A, b)
    inverse, x = np.linalg.inv(A), np.linalg.solve(A, b)
    size = np.linalg.cond(A) ** 2
    assert_close(slopes[1], inverse, size)
    assert_close(slopes[0], -np.einsum("ij,k->ijk", inverse, x), size)


def test_newtons_method_is_a_loop_with_a_jacobian_and_a_solve():
    def residual(x, a):
        return Vec([x[0] ** 2 + x[1] ** 2 - a, x[0] - sqrt(a) * sin(x[1])])

    def root(a):
        def step(x):
            f, J = scalar_jacobian(lambda y: residual(y, a), x)
            change = solve(J, f)
            return x - change, abs(change[0]) + abs(change[1]) > 1e-13

        return iterate(step, Vec([a, a]), 30)

    a = np.linspace(0.5, 2.0, 7)
    (x,) = build(trace(root, a=()))(a)
    assert_close(np.array(residual(Vec(x.T), a)), np.zeros((2, 7)))


def test_a_loop_that_changes_the_size_of_its_state_is_refused():
    with pytest.raises(CompileError, match="size of its state"):
        trace(lambda a: iterate(lambda s: (Vec([s[0], s[0]]), True), Vec([a]), 3), a=())


def test_a_recorded_function_is_traced_once_and_gives_the_graph_it_would_give_by_itself():
    calls = []

    def inner(t, x):
        calls.append(1)
        value, slopes = scalar_jacobian(lambda y: Vec([sin(y[0]) * y[1] + t[0]]), x)
        return value, slopes[0]

    recorded = RecordedFunction(inner)

    def outer(function, t, x, y):
        (a,), da = function(Vec([t]), x)
        (b,), db = function(Vec([2.0]), Vec([y, x[0]]))
        return Vec([a + b, *(da + db)])

    shapes = {"t": (), "x": (2,), "y": ()}
    found, plain = (trace(lambda t, x, y, f=f: outer(f, t, x, y), **shapes) for f in (recorded, inner))
    assert len(calls) == 1 + 2
    given = {"t": 0.3, "x": [0.7, -1.2], "y": 2.5}
    assert np.array_equal(evaluate(found, **given), evaluate(plain, **given))
    assert len(found.nodes) == len(plain.nodes)
    assert recorded(Vec([0.3]), Vec([0.7, -1.2]))[0] == inner(Vec([0.3]), Vec([0.7, -1.2]))[0]


@pytest.mark.parametrize("name", ["four-bar", "stewart-platform"])
def test_recorded_rows_are_those_of_every_trace_by_itself(name):
    model = ph.load(name)
    own, again = constrained_dynamics(model), replace(constrained_dynamics(model), recorded=None)
    tree, shapes = make_tree(model), {"t": (), "q": (model.nq,), "v": (model.nv,)}
    graphs = [trace(lambda t, q, v, one=one: one.rows(Arguments(tree, q, v, t=t)), **shapes) for one in (own, again)]
    rng = np.random.default_rng(1)
    q, v = np.array(model.zero) + 0.1 * rng.normal(size=model.nq), rng.normal(size=model.nv)
    for a, b in zip(*(evaluate(graph, t=0.0, q=q, v=v) for graph in graphs), strict=True):
        assert np.array_equal(a, b)
