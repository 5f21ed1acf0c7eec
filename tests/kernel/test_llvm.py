"""Compiled kernels: every operation as `evaluate` defines it, every lane width alike, every batch size."""

import threading
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies as st

import polhode as ph
import polhode.kernel.backends.llvm.compile as building
from close import assert_close
from machines import ALL, random_model, random_q
from polhode import scalar
from polhode.dynamics import inverse
from polhode.dynamics.large_trees import loops
from polhode.kernel import evaluate, trace
from polhode.kernel.backends.llvm import parts
from polhode.kernel.backends.llvm.compile import build, lanes
from polhode.kernel.schedule import fused
from polhode.model import make_tree
from random_programs import programs, run

WIDTHS = [1, 2, 4, 8]


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])
@given(programs(), st.lists(st.floats(-3, 3), min_size=4, max_size=4))
def test_random_programs_compute_what_evaluate_says_to_the_last_bit(steps, x):
    """These operations have one right answer each (IEEE 754), fused multiply-adds included."""
    graph = trace(lambda x: run(steps, x), x=(4,))
    expected = evaluate(fused(graph), x=x)
    for width in (1, lanes()):
        for quick in (False, True):
            (found,) = build(graph, width, quick=quick)(np.tile(x, (11, 1)))
            assert np.array_equal(found, np.tile(expected, (11, 1)), equal_nan=True)


@pytest.mark.parametrize("name", ["exp", "log", "tan", "asin", "acos"])
def test_functions_of_the_c_library_are_called_in_every_lane(name):
    x = np.linspace(0.05, 0.95, 19)
    (found,) = build(trace(getattr(scalar, name), x=()))(x)
    assert_close(found, getattr(np, name)(x))


ARC_ULPS = 1.5
"""What atan2 of kernels may err by, in units in the last place."""


@pytest.mark.parametrize("width", WIDTHS)
def test_atan2_is_right_within_one_and_a_half_units_all_around(width):
    rng, n = np.random.default_rng(0), 4000
    size, angle = 10.0 ** rng.uniform(-300, 300, n), rng.uniform(-np.pi, np.pi, n)
    near = np.nextafter(np.tile([7 / 16, 11 / 16, 1.0, 16 / 7, 16 / 11], 20), np.repeat([-9.0, 9.0], 50))
    y = np.concatenate([size * np.sin(angle), rng.normal(size=n) * 10.0 ** rng.uniform(-20, 20, n), near])
    x = np.concatenate([size * np.cos(angle), rng.normal(size=n), rng.choice([-1.0, 1.0], 100)])
    (found,) = build(trace(scalar.atan2, x=(), y=()), width)(y, x)
    with mpmath.workprec(200):
        exact = [mpmath.atan2(mpmath.mpf(b), mpmath.mpf(a)) for b, a in zip(y.tolist(), x.tolist(), strict=True)]
        units = [mpmath.mpf(float(np.spacing(abs(float(e))))) for e in exact]
        errors = [abs(mpmath.mpf(f) - e) / u for f, e, u in zip(found.tolist(), exact, units, strict=True)]
    assert max(errors) <= ARC_ULPS


@pytest.mark.parametrize("width", WIDTHS)
def test_atan2_of_zeros_infinities_and_extremes_is_that_of_the_c_library(width):
    some = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.7e308, -1.7e308, 1e300, -1e-310, 2.3e-308]
    y, x = (part.ravel() for part in np.meshgrid(some, some))
    (found,) = build(trace(scalar.atan2, x=(), y=()), width)(y, x)
    expected = np.arctan2(y, x)
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    known = ~np.isnan(expected)
    assert np.array_equal(np.signbit(found[known]), np.signbit(expected[known]))
    assert np.all(abs(found - expected)[known] <= 2 * np.spacing(abs(expected[known])))


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=2))
def test_atan2_has_the_same_bits_in_every_number_of_lanes(point):
    y, x = np.tile(np.array(point)[:, None], 9)
    found = [build_atan2(width)(y, x)[0] for width in WIDTHS]
    assert len({one.tobytes() for one in found}) == 1


@cache
def build_atan2(width):
    return build(trace(scalar.atan2, x=(), y=()), width)


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sine_and_cosine_are_right_within_two_units_over_the_whole_range(name):
    rng = np.random.default_rng(0)
    whole = np.concatenate([
        rng.uniform(-10, 10, 1500),
        rng.uniform(-6e5, 6e5, 1500),
        rng.choice([-1, 1], 1500) * 10.0 ** rng.uniform(-300, 300, 1500),
        np.pi / 2 * np.arange(-400, 400),
        np.nextafter(np.pi / 2 * rng.integers(-300000, 300000, 800), rng.choice([-1, 1], 800) * np.inf),
        [0.0, -0.0, 5e-324, 5e5, -5e5, np.nextafter(5e5, 1e9), 1.7e308],
    ])  # fmt: skip
    graph = trace(getattr(scalar, name), x=())
    (found,) = build(graph)(whole)
    with mpmath.workprec(1200):
        exact = [getattr(mpmath, name)(mpmath.mpf(float(x))) for x in whole]
        errors = [
            abs(mpmath.mpf(float(f)) - e) / max(mpmath.mpf(float(np.spacing(abs(float(e))))), mpmath.mpf(5e-324))
            for f, e in zip(found, exact, strict=True)
        ]
    assert max(errors) <= 2
    assert np.all(np.isnan(build(graph)(np.array([np.nan, np.inf, -np.inf] * 5))))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("size", [0, 1, 3, 7, 8, 9, 64, 1001])
def test_every_width_and_batch_size_gives_the_same_bits(width, size):
    model = random_model(["free", "revolute", "spherical", "prismatic"], 1)
    tree = make_tree(model)
    graph = trace(lambda q, v, w: inverse.inverse_dynamics(tree, q, v, w), q=(13,), v=(11,), w=(11,))
    rng = np.random.default_rng(size)
    q, v, w = random_q(model, rng, (size,)), rng.normal(size=(size, 11)), rng.normal(size=11)
    (found,) = build(graph, width)(q, v, w)
    assert found.shape == (size, 11)
    if size:
        one = build(graph, 1)
        rows = [one(q[k], v[k], w)[0] for k in range(min(size, 20))]
        assert np.array_equal(found[:20], rows)
        assert_close(found[0], ph.compile(model, target="python").inverse_dynamics(q[0], v[0], w), condition=100)


@pytest.mark.parametrize(
    ("physics", "width"), [(inverse.inverse_dynamics, 2), (inverse.inverse_dynamics, 8), (loops.inverse_dynamics, 4)]
)
def test_without_code_for_one_state_what_is_left_of_a_batch_has_the_same_bits(physics, width, monkeypatch):
    """Nothing is written beyond the batch, also where an argument is the same for all states, or memory asked for."""
    monkeypatch.setattr(parts, "HEAP", 0)
    model = random_model(["free", "revolute", "prismatic"], 2)
    tree, rng = make_tree(model), np.random.default_rng(0)
    graph = trace(lambda q, v, w: physics(tree, q, v, w), q=(model.nq,), v=(model.nv,), w=(model.nv,))
    whole, lanes_only = build(graph, width), build(graph, width, single=False)
    assert "@kernel_1(" not in lanes_only.source
    for size in (0, 1, 2, 3, 7, 8, 9, 23):
        q, v, w = random_q(model, rng, (size,)), rng.normal(size=(size, model.nv)), rng.normal(size=model.nv)
        out = np.full((size + 2, model.nv), 7.0)
        lanes_only.ufunc(q, v, w, out=out[1:-1])
        assert np.array_equal(out[1:-1], whole(q, v, w)[0])
        assert np.all(out[[0, -1]] == 7.0)
    assert np.array_equal(lanes_only(q[0], v[0], w)[0], out[1])


def test_a_huge_angle_in_one_lane_does_not_touch_its_neighbours():
    kernel = build(trace(scalar.sin, x=()))
    x = np.linspace(0.1, 0.8, 8)
    y = x.copy()
    y[3] = 1e200
    assert np.array_equal(np.delete(kernel(x)[0], 3), np.delete(kernel(y)[0], 3))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_huge_angle_leaves_all_registers_as_they_were(width):
    """More numbers than there are registers are alive around the call of the C library, in every lane."""

    def function(x, y):
        squares = [a * a for a in y]
        s = scalar.sin(x + sum(squares))
        return scalar.Vec([s, *(a * s + a for a in squares)])

    x, y = np.linspace(0.1, 0.8, 16), np.linspace(1.0, 2.0, 40)
    x[[3, 9, 10]] = 1e6, 3e9, -1e12
    (found,) = build(trace(function, x=(), y=(40,)), width)(x, y)
    assert_close(found[:, 0], np.sin(x + sum(y * y)), condition=100)
    assert_close(found[:, 1:], (y * y) * found[:, :1] + y * y, condition=10)


@pytest.mark.parametrize("physics", [inverse.inverse_dynamics, loops.inverse_dynamics])
def test_long_texts_are_compiled_at_another_level_to_the_same_bits(physics, monkeypatch):
    model = random_model(["free", "revolute", "spherical", "prismatic"], 4)
    tree, rng = make_tree(model), np.random.default_rng(0)
    graph = trace(lambda q, v, w: physics(tree, q, v, w), q=(model.nq,), v=(model.nv,), w=(model.nv,))
    given = random_q(model, rng, (11,)), rng.normal(size=(11, model.nv)), rng.normal(size=(11, model.nv))
    (expected,) = build(graph)(*given)
    levels = []
    machine = building.machine
    monkeypatch.setattr(building, "LONG_TEXT", 0)
    monkeypatch.setattr(building, "machine", lambda level=building.FULL: levels.append(level) or machine(level))
    (found,) = build(graph)(*given)
    assert building.OF_LONG in levels
    assert np.array_equal(found, expected)


MODELS = [random_model([kind, "revolute"], k) for k, kind in enumerate(ALL)] + [
    random_model(["free", "universal", "spherical"], 20)
]


@pytest.mark.parametrize("model", MODELS, ids=[m.joints[0].type + str(len(m.joints)) for m in MODELS])
def test_every_quantity_of_a_compiled_system_is_that_of_the_oracle(model):
    oracle, system = ph.compile(model, target="python"), ph.compile(model, target="cpu")
    rng = np.random.default_rng(1)
    q, v, w = random_q(model, rng, (3, 5)), rng.normal(size=(5, model.nv)), rng.normal(size=model.nv)
    body = model.bodies[-1].name
    force = {"wrench": {body: (np.ones(3), np.arange(3.0))}, "t": 0.3}
    calls = {
        "mass_matrix": ((q,), {}), "christoffel": ((q,), {}), "coriolis": ((q, v), {}), "bias": ((q, v), force),
        "gravity": ((q,), {}), "inverse_dynamics": ((q, v, w), force), "forward_dynamics": ((q, v, w), force),
        "pose": ((q, body), {}), "velocity": ((q, v, body), {}), "acceleration": ((q, v, w, body), {}),
        "jacobian": ((q, body, (0.1, 0.2, 0.3)), {}), "jacobian_rate": ((q, v, body), {}), "energy": ((q, v), {}),
        "momentum": ((q, v), {}), "center_of_mass": ((q,), {}), "rate": ((q, v), {}), "integrate": ((q, v), {}),
        "difference": ((q, q[::-1]), {}), "forward_dynamics_derivatives": ((q, v, w), {}),
        "inverse_dynamics_derivatives": ((q, v, w), {}),
    }  # fmt: skip
    for name, (args, options) in calls.items():
        found, expected = (getattr(s, name)(*args, **dict(options)) for s in (system, oracle))
        assert type(found) is type(expected) or not isinstance(expected, tuple)
        for a, b in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected)), strict=True):
            assert_close(a, b, condition=1e3)


def test_parameters_are_inputs_of_the_kernel():
    model = random_model(["revolute", "screw"], 3)
    paths = ["bodies.b1.mass", "gravity", "joints.j0.axis"]
    oracle, system = (ph.compile(model, target, paths) for target in ("python", "cpu"))
    given = {"bodies.b1.mass": np.array([1.0, 2.0]), "gravity": (1.0, 2.0, 3.0)}
    found, expected = (s.bias([0.1, 0.2], [1.0, 2.0], parameters=given) for s in (system, oracle))
    assert found.shape == (2, 2)
    assert_close(found, expected)


def test_any_layout_and_kind_of_real_numbers_is_taken():
    system = ph.compile(random_model(["revolute"] * 3, 1), target="cpu")
    q = np.random.default_rng(0).normal(size=(6, 4, 3))
    expected = system.gravity(q)
    layouts = [np.asfortranarray(q), q[::-1][::-1], q.tolist(), np.repeat(q, 2, axis=2)[..., ::2], q.copy()]
    for layout in layouts:
        assert np.array_equal(system.gravity(layout), expected)
    assert np.allclose(system.gravity(q.astype(np.float32)), expected, atol=1e-5)
    assert system.gravity([1, 2, 3]).dtype == np.float64
    out = np.empty((6, 4, 3))
    assert system.gravity(q, out=out) is out
    assert np.isnan(system.gravity([np.nan, 0, 0])).any()
    assert system.gravity([[0.0, 0, 0]] * 3).shape == (3, 3)
    with pytest.raises(ph.InputError, match="complex"):
        system.gravity([1j, 0, 0])


def test_many_threads_may_compile_and_call_at_once():
    systems = [ph.compile(random_model(["revolute"] * (1 + k % 3), k), target="cpu") for k in range(8)]
    results = {}

    def work(k):
        system = systems[k % 8]
        results[k] = system.mass_matrix(np.zeros(system.nv))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(24):
        model = systems[k % 8].model
        assert_close(results[k], ph.compile(model, target="python").mass_matrix(np.zeros(model.nv)))


def test_the_source_is_readable_and_the_same_each_time():
    graph = trace(lambda q: scalar.sin(q[0]) * q[1], q=(2,))
    first, second = (build(graph).source for _ in range(2))
    assert "; <lambda>(q[2]) -> result: 2 operations (1 mul, 1 sin)" in first
    assert first == second
    system = ph.compile(random_model(["revolute", "spherical"], 1), target="cpu")
    assert "forward_dynamics" in system.source("forward_dynamics").splitlines()[0]
    assert "articulated bodies" in (how := system.source("forward_dynamics").splitlines()[1]) or "LᵀDL" in how
    assert "Zoric" in how
    assert "pose b1" in system.source("pose", "b1").splitlines()[0]
    with pytest.raises(ph.InputError, match="no such quantity"):
        system.source("nonsense")
    with pytest.raises(ph.CompileError, match="target 'cpu'"):
        ph.compile(system.model, target="python").source("bias")


def test_the_quick_way_of_a_call_is_the_checked_one():
    system = ph.compile(random_model(["revolute", "spherical"], 1), target="cpu")
    rng = np.random.default_rng(0)
    q, v = random_q(system.model, rng, (5,)), rng.normal(size=(5, 4))
    for args in ((q, v), (q[0], v[0]), (q, v[0])):
        checked = system.coriolis(*(a.tolist() for a in args))
        quick = system.coriolis(*args)
        assert quick.shape == checked.shape
        assert np.array_equal(quick, checked)
        assert quick is not system.coriolis(*args)
    assert isinstance(system.energy(q, v), tuple)
    assert system.energy(q, v).kinetic.shape == (5,)
    out = np.empty((5, 4, 4))
    assert system.coriolis(q, v, out=out) is out
    assert np.array_equal(out, system.coriolis(q, v))
    with pytest.raises(ph.InputError, match="does not fit"):
        system.coriolis(q, v, out=np.empty((5, 4, 3)))
    with pytest.raises(ph.InputError, match="batch axes"):
        system.coriolis(q, v[:3])
    with pytest.raises(ph.InputError, match="wrong shape"):
        system.coriolis(q[:, :4], v)
