"""The tracer: a function on symbols gives a graph that means the same, with equal work done once."""

import itertools
import math
import operator
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import polhode as ph
from close import assert_close
from polhode import quaternion, scalar
from polhode.dynamics import fundamental
from polhode.dynamics.single import Loads, Problem, forms
from polhode.kernel import MEANING, OPERATIONS, RULES, SNAP, Builder, Graph, Symbol, evaluate, trace
from polhode.scalar import Vec, atan2, maximum, minimum, sin, sqrt, vec, where

# ── random programs ──────────────────────────────────────────────────────────────────────────────────

STEPS = {  # on any scalars, without poles and without a sign of zero that could be seen
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": lambda x, y: x / (abs(y) + 0.5),
    "neg": lambda x, _: -x,
    "sqrt": lambda x, _: sqrt(abs(x)),
    "sin": lambda x, _: scalar.sin(x),
    "cos": lambda x, _: scalar.cos(x),
    "tan": lambda x, _: scalar.tan(x),
    "atan2": lambda x, y: atan2(x, abs(y) + 0.5),
    "exp": lambda x, _: scalar.exp(scalar.sin(x)),
    "log": lambda x, _: scalar.log(abs(x) + 0.5),
    "asin": lambda x, _: scalar.asin(x / (abs(x) + 1.0)),
    "acos": lambda x, _: scalar.acos(x / (abs(x) + 1.0)),
    "where": lambda x, y: where((x < y) | (x > 2 * y), x, 3 - y),
    "maximum": maximum,
}
CONSTANTS = [0.0, 1.0, -1.0, 2.0, 0.5, -0.3, 7.0]


def run(program, values):
    """Every value that a program of steps (name, operand, operand) computes."""
    values = [*values, *CONSTANTS]
    for name, i, j in program:
        values.append(STEPS[name](values[i % len(values)], values[j % len(values)]))
    return values


def programs():
    places = st.integers(0, 100)
    return st.lists(st.tuples(st.sampled_from(sorted(STEPS)), places, places), min_size=1, max_size=25)


@given(programs(), st.lists(st.floats(-3, 3, width=32), min_size=3, max_size=3))
def test_a_graph_computes_what_the_function_computes(program, x):
    """Bit for bit: a rule changes no rounding. Where a value overflows, the rules may say otherwise."""
    expected = run(program, x)
    assume(all(math.isfinite(value) for value in expected))
    graph = trace(lambda x: Vec(run(program, x)), 0.0, x=(3,))
    assert evaluate(graph, x=x).tolist() == expected


@given(programs())
def test_a_graph_keeps_its_promises(program):
    graph = trace(lambda x: run(program, x)[-1], x=(3,))
    assert [node.value for node in graph.nodes[:3]] == ["x[0]", "x[1]", "x[2]"]
    assert all(a < k for k, node in enumerate(graph.nodes) for a in node.args)
    assert all(len(node.args) == OPERATIONS[node.op].arity for node in graph.nodes)
    assert len({*graph.nodes}) == len(graph.nodes)
    used = {a for node in graph.nodes for a in node.args} | {*graph.outputs[0].nodes} | {0, 1, 2}
    assert used == {*range(len(graph.nodes))}
    assert graph == trace(lambda x: run(program, x)[-1], x=(3,))


# ── sharing, folding, rules ──────────────────────────────────────────────────────────────────────────


def text(function, snap=SNAP, /, **shapes):
    """The lines of a graph after the first, as one."""
    return "; ".join(line.strip() for line in str(trace(function, snap, **shapes)).splitlines()[1:])


def test_equal_subexpressions_are_one_node():
    graph = trace(lambda x, y: (x * y + sin(x)) * (sin(x) + y * x), x=(), y=())
    assert graph.operations == {"mul": 2, "sin": 1, "add": 1}


def test_what_no_output_needs_is_left_out():
    graph = trace(lambda x, y: (x * y, sin(y), x + 1)[2], x=(), y=())
    assert graph.operations == {"add": 1}
    assert [port.name for port in graph.inputs] == ["x", "y"]


def built(builder, pattern, letters):
    """The node of a side of a rule."""
    if isinstance(pattern, str):
        return letters[pattern]
    if isinstance(pattern, tuple):
        return builder.apply(pattern[0], *(built(builder, part, letters) for part in pattern[1:]))
    return builder.constant(pattern)


def meant(pattern, letters):
    """The value of a side of a rule."""
    if isinstance(pattern, tuple):
        return MEANING[pattern[0]](*(meant(part, letters) for part in pattern[1:]))
    return letters[pattern] if isinstance(pattern, str) else pattern


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule[0]))
@pytest.mark.parametrize("swap", [False, True])
def test_each_rule_is_applied_and_true(rule, swap):
    pattern, result = rule
    if swap and OPERATIONS[pattern[0]].commutative:
        pattern = (pattern[0], pattern[2], pattern[1])
    builder = Builder()
    letters = {letter: builder.input(letter) for letter in "xyz"}
    assert built(builder, pattern, letters) == built(builder, result, letters)
    logical = pattern[0] in ("and", "or", "not")
    for values in itertools.product([0.3, -1.7, 1e300], repeat=3):
        numbers = dict(zip("xyz", values, strict=True))
        if logical or (pattern[0] == "select" and not isinstance(pattern[1], bool)):
            numbers["x"] = numbers["x"] > 0
        assert meant(pattern, numbers) == meant(result, numbers)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, y: x + 0, "result = x"),
        (lambda x, y: 0.0 + x * 1, "result = x"),
        (lambda x, y: x * 0 + y, "result = y"),
        (lambda x, y: x - x, "result = 0.0"),
        (lambda x, y: 0 / x, "result = 0.0"),
        (lambda x, y: x / 1, "result = x"),
        (lambda x, y: -(y - y - x), "result = x"),
        (lambda x, y: x + -y, "v0 = x - y; result = v0"),
        (lambda x, y: -x + y, "v0 = y - x; result = v0"),
        (lambda x, y: -x - y, "v0 = x + y; v1 = -v0; result = v1"),
        (lambda x, y: (-x) * (-y), "v0 = x * y; result = v0"),
        (lambda x, y: x - y * (-x), "v0 = x * y; v1 = x + v0; result = v1"),
        (lambda x, y: 0 - (x - y), "v0 = y - x; result = v0"),
        (lambda x, y: x / 2, "v0 = x * 0.5; result = v0"),
        (lambda x, y: x / 3, "v0 = x / 3.0; result = v0"),
        (lambda x, y: sqrt(x - x + 2) * y, f"v0 = y * {math.sqrt(2)}; result = v0"),
        (lambda x, y: 1 / (x - x), "result = inf"),
        (lambda x, y: where(x - x < 1, x, y), "result = x"),
        (lambda x, y: where((x < y) & (x - x > 1), x, y), "result = y"),
        (lambda x, y: where(~(x < y), x, y), "v0 = x < y; v1 = where(v0, y, x); result = v1"),
        (lambda x, y: x**-2, "v0 = x * x; v1 = 1.0 / v0; result = v1"),
        (lambda x, y: x**0, "result = 1.0"),
        (lambda x, y: +x > y, "v0 = y < x; result = v0"),
    ],
)
def test_what_a_function_becomes(function, expected):
    assert text(function, x=(), y=()) == expected


def test_rounding_left_over_from_a_zero_is_zero_in_sums_and_products():
    c = math.cos(math.pi / 2)
    assert 0 < c < SNAP
    assert text(lambda x, y: c * x + y - c, x=(), y=()) == "result = y"
    assert text(lambda x: c * x, 0.0, x=()) == f"v0 = x * {c!r}; result = v0"


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x / 1e-200,
        lambda x: atan2(x, 1e-200),
        lambda x: where(x < 1e-200, 1e-201, x),
        lambda x: vec(x, 1e-200),
    ],
)
def test_a_small_constant_elsewhere_stays(function):
    assert "1e-200" in text(function, x=())


def test_constants_that_only_compare_equal_stay_apart():
    values = [0.0, -0.0, 1.0, True, False, math.inf, math.nan]
    builder = Builder()
    assert len({builder.constant(value) for value in values}) == len(values)
    assert builder.constant(float("nan")) == builder.constant(math.nan)
    found = evaluate(trace(lambda: (True, 1, -0.0)))
    assert found == (True, 1.0, 0.0)
    assert found[0] is True
    assert math.copysign(1, found[2]) == -1


# ── choices ──────────────────────────────────────────────────────────────────────────────────────────


@given(st.floats(-2, 2), st.sampled_from([-1.0, 0.0, 0.5]))
def test_comparisons_and_choices_mean_what_they_say(a, b):
    def function(x, y):
        return {
            "relations": vec(x < y, x <= y, x > y, x >= y, x == y, x != y, x < 0.5, x > 0.5, np.float64(0.5) <= x),
            "logic": vec((x < y) & (x > 0), (x < y) | True, True & (x < y), ~(x < y)),
            "chosen": where((x < y) | (x == y), vec(x, 1.0), vec(2.0, y)),
            "extremes": vec(minimum(x, y), maximum(x, 0.25), abs(x)),
            "condition": where(x < y, x > 0, False),
        }

    found = evaluate(trace(function, x=(), y=()), x=a, y=b)
    assert found["relations"].tolist() == [
        a < b, a <= b, a > b, a >= b, a == b, a != b, a < 0.5, a > 0.5, a >= 0.5,
    ]  # fmt: skip
    assert found["logic"].tolist() == [0 < a < b, True, a < b, not a < b]
    assert found["chosen"].tolist() == ([a, 1.0] if a <= b else [2.0, b])
    assert found["extremes"].tolist() == [min(a, b), max(a, 0.25), abs(a)]
    assert found["condition"] is (a < b and a > 0)


def test_comparisons_with_nan_are_false():
    graph = trace(lambda x, y: vec(x < 1, x >= 1, x == y, x != y), x=(), y=())
    assert evaluate(graph, x=math.nan, y=math.nan).tolist() == [False, False, False, True]


# ── the physics of this package ──────────────────────────────────────────────────────────────────────

RNG = np.random.default_rng(3)


def unit(*batch):
    p = RNG.normal(size=(*batch, 4))
    return p / np.linalg.norm(p, axis=-1, keepdims=True)


QUATERNIONS = [
    (quaternion.rotate, {"p": (4,), "x": (3,)}),
    (quaternion.exp, {"x": (3,)}),
    (quaternion.log, {"p": (4,)}),
    (quaternion.from_matrix, {"R": (3, 3)}),
    (quaternion.slerp, {"p": (4,), "q": (4,), "s": ()}),
    (quaternion.axis_angle, {"p": (4,)}),
    (quaternion.from_axis_angle, {"axis": (3,), "angle": ()}),
    (quaternion.rotation_matrix, {"p": (4,)}),
    (quaternion.angle_between, {"p": (4,), "q": (4,)}),
    (quaternion.project, {"p": (4,), "pdot": (4,)}),
    (quaternion.rotation_vector_rate, {"r": (3,), "omega": (3,)}),
    (quaternion.canonical, {"p": (4,)}),
    (quaternion.same_sign, {"p": (4,), "reference": (4,)}),
    (quaternion.full_exp, {"p": (4,)}),
    (quaternion.full_log, {"p": (4,)}),
    (quaternion.power, {"p": (4,), "s": ()}),
    (quaternion.slerp_state, {"p": (4,), "q": (4,), "s": ()}),
    (quaternion.squad, {"p": (4,), "a": (4,), "b": (4,), "q": (4,), "s": ()}),
    (quaternion.chordal_distance, {"p": (4,), "q": (4,)}),
    (quaternion.quaternion_distance, {"p": (4,), "q": (4,)}),
    (quaternion.shadow_mrp, {"sigma": (3,)}),
    (quaternion.short_mrp, {"sigma": (3,)}),
    (quaternion.mrp_product, {"a": (3,), "b": (3,)}),
    (quaternion.mrp_rate, {"sigma": (3,), "omega": (3,)}),
    (quaternion.mrp_angular_velocity, {"sigma": (3,), "rate": (3,)}),
    (quaternion.gibbs_product, {"a": (3,), "b": (3,)}),
    (quaternion.gibbs_rate, {"g": (3,), "omega": (3,)}),
    (quaternion.gibbs_angular_velocity, {"g": (3,), "rate": (3,)}),
    (quaternion.right_jacobian, {"r": (3,)}),
    (quaternion.left_jacobian_inverse, {"r": (3,)}),
    (quaternion.rotation_vector_angular_velocity, {"r": (3,), "rdot": (3,)}),
    (quaternion.rotation_vector_angular_acceleration, {"r": (3,), "rdot": (3,), "rddot": (3,)}),
    (quaternion.integrate, {"p": (4,), "r": (3,)}),
    (quaternion.difference, {"p": (4,), "q": (4,)}),
    (quaternion.integrate_derivatives, {"r": (3,)}),
    (quaternion.difference_derivatives, {"p": (4,), "q": (4,)}),
    (quaternion.swing_twist, {"p": (4,), "axis": (3,)}),
    (quaternion.from_two_vectors, {"a": (3,), "b": (3,)}),
    (quaternion.from_two_axes, {"x": (3,), "y": (3,)}),
    (quaternion.from_two_pairs, {"body": (3,), "space": (3,), "body2": (3,), "space2": (3,)}),
    (quaternion.skew_square, {"x": (3,), "y": (3,)}),
]


@pytest.mark.parametrize(("function", "shapes"), QUATERNIONS, ids=lambda x: getattr(x, "__name__", ""))
def test_quaternion_functions_trace_to_the_same_numbers(function, shapes):
    graph = trace(function, **shapes)
    samples = {(4,): unit(40), (3,): RNG.normal(size=(40, 3)), (): RNG.normal(size=40)}
    samples[3, 3] = quaternion.rotation_matrix(unit(40))
    samples[3,][:10] *= 1e-4  # where series take over
    values = {name: np.roll(samples[shape], k, 0) for k, (name, shape) in enumerate(shapes.items())}
    expected = function(**values)
    assert_same(evaluate(graph, **values), expected)
    for k in (0, 20):
        one = evaluate(graph, **{name: value[k] for name, value in values.items()})
        assert_same(one, type(expected)(*(x[k] for x in expected)) if isinstance(expected, tuple) else expected[k])


def assert_same(found, expected):
    if isinstance(expected, tuple) and not isinstance(expected, Vec):
        assert type(found) is type(expected)
        for a, b in zip(found, expected, strict=True):
            assert_same(a, b)
    elif expected is None:
        assert found is None
    else:
        assert_close(found, np.array(expected, dtype=float))


def problem(p, pdot, J, J0, torque, force, point):
    return Problem(p, pdot, J, Loads(torque=torque, force=force, point=point), J0, "313")


@cache
def body():
    p, pdot = unit(), RNG.normal(size=4)
    J = np.diag([1.0, 2.0, 2.5]) + 0.1
    loads = dict(zip(("torque", "force", "point"), RNG.normal(size=(3, 3)), strict=True))
    return {"p": p, "pdot": pdot - p * (p @ pdot), "J": J, "J0": 1.5, **loads}


@pytest.mark.parametrize("name", forms)
def test_every_form_traces_to_the_same_numbers(name):
    values = body()
    shapes = {key: np.shape(value) for key, value in values.items()}
    graph = trace(lambda **x: forms[name].on_scalars(problem(**x)), **shapes)
    floats = {key: scalar.split(np.asarray(value), np.ndim(value)) for key, value in values.items()}
    assert_same(evaluate(graph, **values), forms[name].on_scalars(problem(**floats)))
    assert graph.operations.total() < 2000


def test_constants_of_a_body_fold_away():
    """A diagonal inertia, known when tracing, costs less than one that is not."""

    def explicit(J):
        return lambda p, pdot: forms["udwadia-42"].on_scalars(Problem(p, pdot, J, Loads(), 1.0, "313")).pddot

    full = trace(lambda p, pdot, J: explicit(J)(p, pdot), p=(4,), pdot=(4,), J=(3, 3))
    diagonal = trace(explicit(scalar.diagonal((1.0, 2.0, 2.5))), p=(4,), pdot=(4,))
    assert diagonal.operations.total() < 0.6 * full.operations.total()


@pytest.mark.parametrize("singular", [False, True])
def test_the_fundamental_equation_traces_with_its_decisions(singular):
    """Rank, redundant rows and consistency are decided in the graph."""
    M = np.diag([1.0, 2.0, 0.0 if singular else 3.0]) + 0.0
    A = np.array([[1.0, 1, 1], [2.0, 2, 2], [0, 1, -1]])
    values = {"M": M, "Q": np.array([1.0, -2, 0.5]), "A": A, "b": np.array([1.0, 2, 0])}
    graph = trace(
        lambda M, Q, A, b: fundamental.constrained(M, Q, A, b, singular=singular),
        **{key: value.shape for key, value in values.items()},
    )
    found, expected = evaluate(graph, **values), fundamental.solve(**values)
    assert found.rank == expected.rank == 2
    assert found.redundant.tolist() == expected.redundant.tolist() == [True, True, False]
    assert found.inconsistent is False
    assert_close(found.acceleration, expected.acceleration)
    assert_close(found.multipliers, expected.multipliers)


# ── structure, batches, size, text ───────────────────────────────────────────────────────────────────


class Pair(NamedTuple):
    first: object
    second: object


def test_results_keep_their_structure():
    def function(x, A, t):
        return Pair({"Ax": A @ x, "t": t, "none": None}, (A.T, [t, 1], np.array([t, t * t]), 2))

    graph = trace(function, x=(2,), A=(2, 2), t=())
    assert [port.name for port in graph.outputs] == ["first.Ax", "first.t"] + [f"second.{k}" for k in range(4)]
    assert [port.shape for port in graph.outputs] == [(2,), (), (2, 2), (2,), (2,), ()]
    found = evaluate(graph, x=[1, 2], A=[[1, 2], [3, 4]], t=3)
    assert isinstance(found, Pair)
    assert found.first["Ax"].tolist() == [5, 11]
    assert type(found.first["t"]) is float
    assert found.first["none"] is None
    assert [np.array(part).tolist() for part in found.second] == [[[1, 3], [2, 4]], [3, 1], [3, 9], 2]


@pytest.mark.parametrize("shape", [(0,), (5,), (2, 3)])
def test_batches_broadcast(shape):
    graph = trace(lambda p, x, t: (t * quaternion.rotate(p, x), t, 1.0, Vec(), x[0] < t), p=(4,), x=(3,), t=())
    p = unit(*shape)
    turned, t, one, empty, less = evaluate(graph, p=p, x=[1.0, 2, 3], t=2.0)
    assert_close(turned, 2 * quaternion.rotate(p, [1.0, 2, 3]))
    assert t.shape == one.shape == less.shape == shape
    assert empty.shape == (*shape, 0)


def test_symbols_meet_numbers_of_every_kind_and_vectors():
    def function(x):
        v = vec(1.0, x)
        return vec(np.float64(2) * x, x + np.int64(1), np.array(3.0) - x, 2 * x, *(x * v), *(v * x), *(v / x))

    assert evaluate(trace(function, x=()), x=4.0).tolist() == [8, 5, -1, 8, 4, 16, 4, 16, 0.25, 1]


def test_whole_powers_are_products():
    graph = trace(lambda x: vec(x**1, x**5, x ** np.float64(-3)), x=())
    assert_close(evaluate(graph, x=1.7), [1.7, 1.7**5, 1.7**-3])
    assert graph.operations == {"mul": 4, "div": 1}


def test_powers_of_halves_have_a_square_root():
    graph = trace(lambda x: vec(x**0.5, x**1.5, x ** np.float64(-2.5)), x=())
    assert_close(evaluate(graph, x=1.7), [1.7**0.5, 1.7**1.5, 1.7**-2.5])
    assert graph.operations == {"sqrt": 1, "mul": 3, "div": 1}
    with pytest.raises(ph.CompileError, match=r"exponent 0\.3[\s\S]*halves[\s\S]*exp\(n \* log"):
        trace(lambda x: x**0.3, x=())


def test_a_hundred_thousand_operations_in_one_chain():
    def function(x, y):
        for _ in range(25_000):
            x, y = 0.5 * x + sin(y), y - 0.1 * x
        return x

    graph = trace(function, x=(), y=())
    assert graph.operations.total() > 99_990
    assert evaluate(graph, x=0.3, y=0.2) == function(0.3, 0.2)
    assert len(str(graph).splitlines()) == graph.operations.total() + 2


def test_a_graph_prints_whole_and_the_same_each_time():
    def turned(q, t):
        return vec(q[0] * t - 2, where(q[1] < t, q[1], -t))

    expected = """\
turned(q[2], t) -> result[2]: 5 operations (1 sub, 1 mul, 1 neg, 1 less, 1 select)
  v0 = q[0] * t
  v1 = v0 - 2.0
  v2 = q[1] < t
  v3 = -t
  v4 = where(v2, q[1], v3)
  result[0] = v1
  result[1] = v4"""
    first, second = (trace(turned, q=(2,), t=()) for _ in range(2))
    assert str(first) == str(second) == expected
    assert first == second
    assert repr(first) == expected.splitlines()[0]
    assert first.operations == Counter(sub=1, mul=1, neg=1, less=1, select=1)


def test_a_graph_cannot_be_changed():
    graph = trace(lambda x: x, x=())
    with pytest.raises(AttributeError):
        graph.name = "other"
    assert isinstance(graph, Graph)
    assert hash(graph) == hash(trace(lambda x: x, x=()))


# ── the meaning of the operations ────────────────────────────────────────────────────────────────────


@given(st.floats(allow_nan=False), st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_fused_multiply_add_rounds_once(x, y, z):
    found = MEANING["fma"](x, y, z)
    if not all(map(math.isfinite, (x, y, z))):
        assert found == x * y + z or math.isnan(found)
        return
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if math.isinf(found):
        assert abs(exact) > Fraction(math.nextafter(math.inf, 0))
    else:
        for other in (math.nextafter(found, math.inf), math.nextafter(found, -math.inf)):
            assert math.isinf(other) or abs(Fraction(found) - exact) <= abs(Fraction(other) - exact)


def test_fused_multiply_add_keeps_what_two_roundings_lose():
    x = 1 + 2.0**-30
    assert MEANING["fma"](x, x, -(x * x)) == 2.0**-60
    assert MEANING["fma"](np.array([x, 2.0]), x, -x * x).tolist() == [2.0**-60, 2 * x - x * x]
    assert math.copysign(1, MEANING["fma"](-0.0, 1.0, -0.0)) == -1
    assert MEANING["fma"](1e308, -10.0, 1.0) == -math.inf


def test_nothing_raises_where_there_is_no_number():
    graph = trace(lambda x: vec(1 / x, -1 / x, x / x, sqrt(x - 1), scalar.log(x), scalar.exp(x + 1000)), x=())
    expected = [math.inf, -math.inf, math.nan, math.nan, -math.inf, math.inf]
    np.testing.assert_array_equal(evaluate(graph, x=0.0), expected)
    np.testing.assert_array_equal(evaluate(graph, x=[0.0, 0.0]), [expected] * 2)


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────


def choose(x):
    return x if x > 0 else -x


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (choose, ["trace of choose", "where", "neither true nor false"]),
        (lambda x: x > 0 and x < 1, ["where", "& | ~"]),
        (lambda x: max(x, 1.0), ["where", "maximum"]),
        (lambda x: 1.0 if x == 0 else x, ["where"]),
        (lambda x: (x < 1) == (x < 2), ["where"]),
        (lambda x: 1 + float(x), ["no value yet", "polhode.sin"]),
        (lambda x: 1 + math.sin(x), ["no value yet", "math"]),
        (lambda x: [1, 2][x], ["no value yet", "index"]),
        (lambda x: x * np.ones(3), ["an array (3,)", "Vec"]),
        (lambda x: x + (x > 0), ["condition", "where(condition, 1.0, 0.0)"]),
        (lambda x: x**0.3, ["exponent 0.3", "halves"]),
        (lambda x: where(x < 1, x, "no"), ["`where` cannot choose", "str"]),
        (lambda x: {"a": [x, "text"]}, [", a", "not a number", "'text'"]),
        (lambda x: [[x, x], [x]], ["several lengths", "(1,)"]),
        (lambda x: vec(x, x < 1), ["numbers and conditions"]),
        (lambda x: trace(lambda y: x + y, y=()), ["symbols of two traces"]),
    ],
)
def test_what_a_graph_cannot_hold_is_a_compile_error(function, words):
    with pytest.raises(ph.CompileError) as caught:
        trace(function, x=())
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ({"x": 3}, ["argument x", "not a shape", "(n,)"]),
        ({"x": (-1,)}, ["not a shape"]),
        ({"y": ()}, ["missing", "'x'", "shapes of y"]),
        ({"x": (), "y": ()}, ["unexpected", "'y'"]),
        ({}, ["missing", "none"]),
    ],
)
def test_wrong_shapes_are_told(shapes, words):
    with pytest.raises(ph.CompileError) as caught:
        trace(choose, **shapes)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"q": [1, 2]}, ["evaluate", "found q", "expected q, t"]),
        ({"q": [1, 2], "t": 0, "u": 1}, ["found q, t, u"]),
        ({"q": [1, 2, 3], "t": 0}, ["argument q", "(3,)", "(..., 2)"]),
        ({"q": 1.0, "t": 0}, ["argument q", "()", "(..., 2)"]),
        ({"q": ["a", "b"], "t": 0}, ["argument q", "not numbers"]),
        ({"q": np.ones((2, 2)), "t": np.ones(3)}, ["batch axes", "q (2,)", "t (3,)"]),
    ],
)
def test_wrong_values_are_told(values, words):
    graph = trace(lambda q, t: q[0] * t, q=(2,), t=())
    with pytest.raises(ph.InputError) as caught:
        evaluate(graph, **values)
    for word in words:
        assert word in str(caught.value)


def test_symbols_show_what_they_are():
    shown = []
    trace(lambda x: shown.extend([repr(x), repr(x + 1), repr(x < 1)]), x=())
    assert shown == ["<Symbol 0: input x>", "<Symbol 2: add(0, 1)>", "<BooleanSymbol 3: less(0, 1)>"]
    assert Symbol.__array_ufunc__ is None
