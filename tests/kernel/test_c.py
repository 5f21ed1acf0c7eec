"""Generated C: gcc takes it without a warning, and it computes what `evaluate` says."""

import ctypes
import subprocess
from math import inf, nan, pi
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import polhode as ph
from close import assert_close
from machines import ALL, random_model, random_q
from polhode import scalar
from polhode.dynamics import covariant, energy, forward, inertia, inverse
from polhode.kernel import evaluate, trace
from polhode.kernel.backends.c import c_source, constant, identifier
from polhode.kernel.schedule import fused
from polhode.model import make_tree
from polhode.scalar import Vec

GCC = ["gcc", "-std=c99", "-O1", "-ffp-contract=off", "-shared", "-fPIC"]
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wdouble-promotion", "-Wfloat-conversion"]
SINGLE = 1e-4
"""The bound on the residual in single precision: 2⁻²³ times the condition of a small machine."""

EXACT = ["+", "-", "*", "/", "neg", "abs", "where", "either", "sqrt"]
"""Operations that IEEE 754 rounds in one way."""
LIBRARY = ["sin", "cos", "exp", "atan2"]


def compiled(folder, *sources):
    """The library of these sources."""
    text, library = Path(folder) / "all.c", Path(folder) / "all.so"
    text.write_text("\n".join(sources))
    done = subprocess.run([*GCC, *STRICT, text, "-o", library, "-lm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def called(function, graph, values, dtype=float):
    """The results of a compiled function, in the structure of the graph."""
    arrays = [np.array(values[port.name], dtype) for port in graph.inputs]
    results = [np.full(port.shape, nan, dtype) for port in graph.outputs]
    function.restype = None
    function(*(ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *results)))
    return graph.result(results)


def computed(graph, real="double", /, **values):
    """The results of a graph as C."""
    with TemporaryDirectory() as folder:
        library = compiled(folder, c_source(graph, "f", real))
        return called(library.f, graph, values, {"double": np.float64, "float": np.float32}[real])


def assert_same_bits(found, expected):
    """Equal, zeros by sign too; any NaN is one."""
    found, expected = (np.asarray(a, dtype=float) for a in (found, expected))
    assert np.array_equal(found, expected, equal_nan=True), f"{found} is not {expected}"
    numbers = ~np.isnan(expected)
    assert np.array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@st.composite
def programs(draw, operations):
    """A random function of four scalars, as a list of instructions."""
    steps = []
    for k in range(4, draw(st.integers(8, 40))):
        places = (draw(st.integers(0, k - 1)) for _ in range(3))
        steps.append((draw(st.sampled_from(operations)), *places, draw(st.floats(-2, 2))))
    return steps


RULES = {
    "+": lambda a, b, d, c: a + b * c,
    "-": lambda a, b, d, c: a * b - d,
    "*": lambda a, b, d, c: a * c,
    "/": lambda a, b, d, c: a / b,
    "neg": lambda a, b, d, c: -a,
    "abs": lambda a, b, d, c: abs(a),
    "where": lambda a, b, d, c: scalar.where(a < b, d, c),
    "either": lambda a, b, d, c: scalar.where(((a <= c) | (b < d)) & ~(d < a), b, d),
    "sqrt": lambda a, b, d, c: scalar.sqrt(a),
    "sin": lambda a, b, d, c: scalar.sin(a),
    "cos": lambda a, b, d, c: scalar.cos(a),
    "exp": lambda a, b, d, c: scalar.exp(-abs(a)),
    "atan2": lambda a, b, d, c: scalar.atan2(a, b * b + 0.5),
}


def run(steps, x):
    """The function itself, on any scalars."""
    values = list(x)
    for op, i, j, k, c in steps:
        values.append(RULES[op](values[i], values[j], values[k], c))
    return Vec(values[-4:])


@settings(max_examples=25)
@given(programs(EXACT), st.lists(st.floats(-3, 3), min_size=4, max_size=4))
def test_random_programs_give_the_bits_that_evaluate_gives(steps, x):
    graph = fused(trace(lambda x: run(steps, x), x=(4,)))
    assert_same_bits(computed(graph, x=x), evaluate(graph, x=x))


@settings(max_examples=25)
@given(programs(["+", "-", "neg", "abs", *LIBRARY]), st.lists(st.floats(-3, 3), min_size=4, max_size=4))
def test_random_programs_with_functions_compute_what_evaluate_says(steps, x):
    graph = fused(trace(lambda x: run(steps, x), x=(4,)))
    found, expected = computed(graph, x=x), np.asarray(evaluate(graph, x=x))
    tame = abs(expected) < 1e3  # a sine of more has lost digits that are not its own
    with np.errstate(all="ignore"):
        assert np.all(np.isclose(found, expected, rtol=1e-11, atol=1e-11, equal_nan=True) | ~tame)


@pytest.mark.parametrize("name", ["sqrt", "sin", "cos", "tan", "asin", "acos", "exp", "log", "atan2", "abs"])
def test_every_function_is_that_of_the_c_library(name):
    function = getattr(scalar, name, abs)
    two = name == "atan2"
    graph = trace((lambda x: Vec([function(x[k], x[k - 1]) for k in range(8)])) if two else
                  (lambda x: Vec([function(x[k]) for k in range(8)])), x=(8,))  # fmt: skip
    x = [0.0, -0.0, 0.3, -0.9, 1.0, 7.5, inf, nan]
    double, single = (np.asarray(computed(graph, real, x=x)) for real in ("double", "float"))
    expected = np.asarray(evaluate(graph, x=x))
    assert np.allclose(double, expected, rtol=1e-15, atol=1e-16, equal_nan=True)
    assert np.allclose(single, expected, rtol=1e-6, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize("real", ["double", "float"])
def test_constants_are_exact(real):
    """Every number comes back as itself (or as the single nearest to it), with its sign."""
    numbers = [0.1, -1 / 3, pi, 1e22, 5e-324, -2.2250738585072014e-308, 1.7976931348623157e308, 16777217.0, 1e-45, 2.0]
    numbers += [0.0, -0.0, inf, -inf, nan, 3.4028235677973366e38, 1e-39]
    graph = trace(lambda x: Vec([scalar.where(x < 0.0, 0.5, number) for number in numbers]), x=())
    dtype = {"double": np.float64, "float": np.float32}[real]
    with np.errstate(over="ignore"):
        assert_same_bits(computed(graph, real, x=1.0), np.array(numbers).astype(dtype))


def test_conditions_are_one_or_zero():
    graph = trace(lambda x, y: Vec([x < y, x <= y, (x < y) | (y < x), ~(x < y), (x <= y) & (y <= x)]), x=(), y=())
    for x, y in ((1.0, 2.0), (2.0, 2.0), (nan, 1.0)):
        assert_same_bits(computed(graph, x=x, y=y), evaluate(graph, x=x, y=y))
    assert constant(True) == "1"
    assert constant(False) == "0"


def quantities(tree):
    """Each quantity as a function of symbols, and its arguments."""
    return {
        "inverse_dynamics": (lambda q, v, w: inverse.inverse_dynamics(tree, q, v, w), "qvw"),
        "forward_dynamics": (lambda q, v, w: forward.forward_dynamics(tree, q, v, w), "qvw"),
        "mass_matrix": (lambda q: inertia.mass_matrix(tree, q), "q"),
        "christoffel": (lambda q: covariant.christoffel(tree, q), "q"),
        "energy": (lambda q, v: energy.energy(tree, q, v), "qv"),
    }


MODELS = [random_model([kind, "revolute"], k) for k, kind in enumerate(ALL)]
MODELS.append(random_model(["free", "universal", "spherical"], 20))


@pytest.mark.parametrize("model", MODELS, ids=[*ALL, "tree"])
def test_the_physics_of_every_joint_computes_what_evaluate_says(model, tmp_path):
    tree, rng = make_tree(model), np.random.default_rng(0)
    values = {"q": random_q(model, rng), "v": rng.normal(size=model.nv), "w": rng.normal(size=model.nv)}
    shapes = {name: value.shape for name, value in values.items()}
    graphs = {
        name: fused(trace(function, **{x: shapes[x] for x in letters}))
        for name, (function, letters) in quantities(tree).items()
    }
    sources = [c_source(graph, name) for name, graph in graphs.items()]
    sources += [c_source(graph, f"{name}_single", "float") for name, graph in graphs.items()]
    library = compiled(tmp_path, *sources)
    for name, graph in graphs.items():
        expected = evaluate(graph, **{port.name: values[port.name] for port in graph.inputs})
        double = called(library[name], graph, values)
        single = called(library[f"{name}_single"], graph, values, np.float32)
        for e, d, s in zip(*((x if isinstance(x, tuple) else (x,)) for x in (expected, double, single)), strict=True):
            assert_close(d, e, condition=0.1)
            assert_close(s, e, condition=SINGLE / 1e-12)


def test_names_become_legal_and_stay_apart():
    names = ["wrench.hand.force", "wrench_hand_force", "double", "x3", "3d", "θ", "fma", "f", "", "M_PI", "result", "é"]
    graph = trace(lambda **x: Vec([a * 2.0 for a in x.values()]), **dict.fromkeys(names, ()))
    values = {name: float(k) for k, name in enumerate(names)}
    assert_same_bits(computed(graph, **values), evaluate(graph, **values))
    assert "wrench_hand_force_ is wrench_hand_force." in c_source(graph, "f")
    assert identifier("wrench.hand.force") == "wrench_hand_force"


def test_a_graph_without_arguments_or_results_is_a_function_still(tmp_path):
    nothing, no_q = trace(lambda: ()), trace(lambda q, t: (Vec([]), t), q=(0,), t=())
    library = compiled(tmp_path, c_source(nothing, "nothing"), c_source(no_q, "no_q"))
    assert called(library.nothing, nothing, {}) == ()
    assert called(library.no_q, no_q, {"q": [], "t": 2.0})[1] == 2.0


def test_results_may_lie_where_the_arguments_lay(tmp_path):
    graph = trace(lambda x: Vec([x[1], x[2], x[0]]), x=(3,))
    library, x = compiled(tmp_path, c_source(graph, "turn")), np.array([1.0, 2.0, 3.0])
    library.turn(*[ctypes.c_void_p(x.ctypes.data)] * 2)
    assert x.tolist() == [2.0, 3.0, 1.0]


SOURCE = """\
/*
 * rotor(q[2], wrench.arm, dt) -> rate, inside: 6 operations (1 add, 1 fma, 1 sin, 1 less, 1 not, 1 select)
 * wrench_arm is wrench.arm.
 */
#include <math.h>

void rotor(const double q[2], const double *wrench_arm, const double *dt, double *rate, double *inside)
{
    (void)dt;
    const double x4 = sin(q[0]);
    const double x5 = fma(q[1], x4, wrench_arm[0]);
    const int x7 = x5 < (-0.5);
    const double x9 = x5 + 0.1;
    const double x10 = x7 ? (-0.5) : x9;
    const int x11 = !x7;
    rate[0] = x10;
    inside[0] = x11;
}
"""


def test_the_source_is_readable_and_the_same_each_time():
    def rotor(**x):
        y = scalar.sin(x["q"][0]) * x["q"][1] + x["wrench.arm"]
        return {"rate": scalar.where(y < -0.5, -0.5, y + 0.1), "inside": ~(y < -0.5)}

    shapes = {"q": (2,), "wrench.arm": (), "dt": ()}
    first, second = (c_source(fused(trace(rotor, **shapes)), "rotor") for _ in range(2))
    assert first == second == SOURCE


def test_a_comment_in_a_name_does_not_end_the_header():
    assert computed(trace(lambda **x: x["a*/b"] + x["/*"], **{"a*/b": (), "/*": ()}), **{"a*/b": 1.0, "/*": 2.0}) == 3.0


def test_wrong_names_and_numbers_are_refused():
    graph = trace(lambda x: x, x=())
    with pytest.raises(ph.InputError, match=r"'mass matrix': not a name.*\n.*mass_matrix"):
        c_source(graph, "mass matrix")
    with pytest.raises(ph.InputError, match="no such kind of number"):
        c_source(graph, "f", "half")


def test_a_system_writes_its_kernels_as_c(tmp_path):
    model = random_model(["revolute", "spherical", "prismatic"], 4)
    system, oracle = ph.compile(model, target="cpu"), ph.compile(model, target="python")
    path = system.export_c(tmp_path / "arm.c", "inverse_dynamics", "mass_matrix")
    library = tmp_path / "arm.so"
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(path), "-o", str(library), "-lm"], check=True)
    rng = np.random.default_rng(0)
    q, v, w = random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    tau, zero = np.empty(model.nv), np.zeros(1)
    function = ctypes.CDLL(str(library)).random_4_inverse_dynamics
    function(*(ctypes.c_void_p(a.ctypes.data) for a in (q, v, w, zero, tau)))
    assert np.allclose(tau, oracle.inverse_dynamics(q, v, w), rtol=1e-12, atol=1e-12)
    with pytest.raises(ph.InputError, match="no such quantity"):
        system.export_c(path, "nonsense")
