"""Generated CUDA C: NVRTC takes it, and run thread by thread as C it computes what `evaluate` says."""

import ctypes
from functools import cache
from importlib.metadata import files
from math import inf, nan

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from emulated import DTYPE, Emulated
from machines import ALL, random_model, random_q
from polhode import scalar
from polhode.dynamics import covariant, forward, inertia, inverse
from polhode.ensemble.study import study
from polhode.formats.library import names
from polhode.kernel import evaluate, trace
from polhode.kernel.backends import cuda
from polhode.kernel.backends.cuda import cuda_source
from polhode.kernel.record import Recorder
from polhode.kernel.routine import routines
from polhode.kernel.schedule import fused
from polhode.model import make_tree
from polhode.scalar import Vec

RESIDUAL = {"double": 1e-13, "float": 1e-4}
"""The bound on the residual: rounding times the condition of a small machine."""


def quantities(model):
    """The graphs of the physics of a model, by name."""
    tree = make_tree(model)
    q, v = (sum(joint.nq for joint in model.joints),), (model.nv,)
    return {
        "inverse": trace(lambda q, v, w: inverse.inverse_dynamics(tree, q, v, w), q=q, v=v, w=v),
        "forward": trace(lambda q, v, w: forward.forward_dynamics(tree, q, v, w), q=q, v=v, w=v),
        "mass": trace(lambda q: inertia.mass_matrix(tree, q), q=q),
        "christoffel": trace(lambda q: covariant.christoffel(tree, q), q=q),
    }


def states(model, n):
    """Random states of a model, with forces that are the same for all."""
    rng = np.random.default_rng(n)
    return {"q": random_q(model, rng, (n,)), "v": rng.normal(size=(n, model.nv)), "w": rng.normal(size=model.nv)}


MODELS = [random_model([kind, "revolute"], k) for k, kind in enumerate(ALL)]
MODELS.append(random_model(["free", "universal", "spherical"], 20))
KINDS = [*ALL, "tree"]


@pytest.mark.parametrize("real", DTYPE)
@pytest.mark.parametrize("model", MODELS, ids=KINDS)
def test_the_physics_of_every_joint_computes_what_evaluate_says(model, real, tmp_path):
    values = states(model, 3)
    for graph in map(fused, quantities(model).values()):
        given = {port.name: values[port.name] for port in graph.inputs}
        found = Emulated(graph, tmp_path, real)(3, **given)
        assert_close(found, evaluate(graph, **given), condition=RESIDUAL[real] / 1e-12)


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_a_batch_of_any_size_computes_every_state_and_no_other(n, tmp_path):
    model = MODELS[-1]
    graph, values = fused(quantities(model)["inverse"]), states(model, n)
    found = Emulated(graph, tmp_path)(n, **values)
    assert found.shape == (n, model.nv)
    some = slice(0, n, 100)
    expected = evaluate(graph, q=values["q"][some], v=values["v"][some], w=values["w"])
    assert_close(found[some], expected, condition=0.1)
    assert not np.isnan(found).any()


def test_steps_lead_from_row_to_row(tmp_path):
    """Rows with gaps, rows in turn of one table, rows backwards, one row for all."""
    graph = trace(lambda x, y, t: (Vec([x[0] * y[1], x[1] - t]), y[0] * t), x=(2,), y=(2,), t=())
    kernel, rng = Emulated(graph, tmp_path), np.random.default_rng(0)
    table, y = rng.normal(size=(7, 5)), np.array([2.0, 3.0])
    for arrays, steps in (
        ([table, y, table[:, 4:]], [5, 0, 5]),
        ([table[:, 1:], table[:, 3:], table[:, :1]], [5, 5, 5]),
        ([table[::-1], table, y], [-5, 5, 0]),
    ):
        first, second = np.zeros((7, 2)), np.zeros((7, 3))
        kernel.launch(7, [*arrays, first, second], [*steps, 2, 3])
        rows = [np.lib.stride_tricks.as_strided(a, (7, 2), (8 * s, 8)) for a, s in zip(arrays[:2], steps, strict=False)]
        t = np.lib.stride_tricks.as_strided(arrays[2], (7,), (8 * steps[2],))
        expected = evaluate(graph, x=rows[0], y=rows[1], t=t)
        assert np.array_equal(first, expected[0])
        assert np.array_equal(second[:, 0], expected[1])
        assert not second[:, 1:].any()


def test_results_may_lie_where_the_arguments_lay(tmp_path):
    graph = trace(lambda x: Vec([x[1], x[2] + x[0], x[0]]), x=(3,))
    x = np.arange(21.0).reshape(7, 3)
    expected = evaluate(graph, x=x)
    Emulated(graph, tmp_path).launch(7, [x, x], [3, 3])
    assert np.array_equal(x, expected)


SOURCE = """\
/*
 * rotor(q[2], q_step) -> result[3]: 6 operations (1 mul, 1 fma, 3 sin, 1 cos)
 * One state per thread; a step is the length of a row, or 0.
 */
static __device__ __forceinline__ void rotor_state(const float *q, const float *q_step, float *result)
{
    float x4, x3;
    sincosf(q[0], &x4, &x3);
    const float x5 = sinf(q[1]);
    const float x6 = fmaf(x3, x5, x4);
    const float x8 = x4 * 0.1f;
    const float x9 = sinf(q_step[0]);
    result[0] = x6;
    result[1] = x8;
    result[2] = x9;
}

extern "C" __global__ void rotor(long long n, const float *q, long long q_step_, const float *q_step, \
long long q_step_step, float *result, long long result_step)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        rotor_state(q + i * q_step_, q_step + i * q_step_step, result + i * result_step);
    }
}
"""


def test_the_source_is_readable_and_takes_sine_and_cosine_together():
    def rotor(q, q_step):
        c, s = scalar.cos(q[0]), scalar.sin(q[0])
        return Vec([c * scalar.sin(q[1]) + s, s * 0.1, scalar.sin(q_step)])

    first, second = (cuda_source(fused(trace(rotor, q=(2,), q_step=())), "rotor", "float") for _ in range(2))
    assert first == second == SOURCE


def test_wrong_names_and_numbers_are_refused():
    graph = trace(lambda x: x, x=())
    for name, real in (("two words", "double"), ("f", "half"), ("while", "float")):
        with pytest.raises(ph.InputError):
            cuda_source(graph, name, real)


@cache
def nvrtc():
    """NVIDIA's compiler, from its package."""
    (place,) = (file for file in files("nvidia-cuda-nvrtc") or () if file.name.startswith("libnvrtc.so"))
    return ctypes.CDLL(str(place.locate()))


def ptx(source):
    """What NVRTC makes of a source for the H100 and H200; its log if it refuses."""
    library, program, size = nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    options = [b"--gpu-architecture=compute_90", b"--fmad=false", b"-Werror", b"all-warnings"]
    assert library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None) == 0
    failed = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    kind = "ProgramLog" if failed else "PTX"
    assert library[f"nvrtcGet{kind}Size"](program, ctypes.byref(size)) == 0
    text = ctypes.create_string_buffer(size.value)
    assert library[f"nvrtcGet{kind}"](program, text) == 0
    library.nvrtcDestroyProgram(ctypes.byref(program))
    assert not failed, text.value.decode()
    return text.value.decode()


@pytest.mark.parametrize("real", DTYPE)
def test_nvidias_compiler_takes_the_physics(real):
    for name, graph in quantities(MODELS[-1]).items():
        source = cuda_source(fused(graph), name, real)
        text = ptx(source)
        assert f".entry {name}(" in text
        assert f"fma.rn.f{8 * DTYPE[real]().itemsize}" in text
        assert ({"double", "float"} - {real}).pop() not in source


@pytest.mark.parametrize("real", DTYPE)
def test_nvidias_compiler_takes_every_operation_and_constant(real):
    def everything(x, y, unused):
        functions = (scalar.sqrt, scalar.sin, scalar.cos, scalar.tan, scalar.asin, scalar.acos, scalar.exp, scalar.log)
        values = [f(x) for f in functions] + [scalar.atan2(x, y), abs(x), -x, x + y, x - y, x * y + 3.0, x / y, y]
        limits = [scalar.where(((x < y) | (y <= 0.0)) & ~(x < 0.3), c, x) for c in (inf, -inf, nan, 5e-324, -1e308)]
        return Vec([*values, *limits]), Vec([x < y, ~(x < y)])

    graph = fused(trace(everything, x=(), y=(), unused=(0,)))
    assert ".entry everything(" in ptx(cuda_source(graph, "everything", real))


def test_nvidias_compiler_refuses_what_is_wrong():
    with pytest.raises(AssertionError, match="undefined"):
        ptx("__global__ void f(double *x) { *x = undefined_thing; }")


def empty_loop(x):
    """A loop that is never entered, over a table and an array of nothing; then the sum of the argument."""
    with Recorder("empty") as r:
        given, out, none = r.input("x", 2), r.output("out", 1), r.array("none", 0)
        weight, places = r.table("weight", []), r.lookup("places", [])
        for i in r.range(0):
            out[0] = out[0] + weight[i] * none[places.at(i)]
        out[0] = given[0] + given[1]
    return r.call(list(x))[0]


@pytest.mark.parametrize("real", DTYPE)
def test_arrays_of_nothing_hold_one_number(real, tmp_path):
    """C has none of length 0; `stewart-platform` has such a table."""
    graph = fused(trace(empty_loop, x=(2,)))
    source = cuda_source(graph, "empty", real)
    assert "[0] = {" not in source
    assert ".entry empty(" in ptx(source)
    assert Emulated(graph, tmp_path, real)(1, x=[2.0, 3.0]) == 5.0


def test_routines_of_small_kernels_are_inlined_and_those_of_large_ones_called(monkeypatch):
    graph = fused(trace(empty_loop, x=(2,)))
    assert "__noinline__" not in cuda_source(graph, "empty")
    monkeypatch.setattr(cuda, "INLINED", 2)
    source = cuda_source(graph, "empty")
    assert "static __device__ __noinline__ void routine0(" in source
    assert ".entry empty(" in ptx(source)


def powers(x, passes):
    """x₀ times x₁, again and again in a loop."""
    with Recorder("powers") as r:
        given, out = r.input("x", 2), r.output("out", 1)
        out[0] = given[0] + 1.0
        for _ in r.range(passes):
            out[0] = out[0] * given[1]
    return r.call(list(x))[0]


def test_loops_that_a_compiler_may_unroll_count_several_times():
    graph = trace(lambda x: powers(x, 5), x=(2,))
    call, before = 1, 1
    assert cuda._inlined(graph, {}) == call + before + cuda.UNROLLED


def test_the_steps_of_a_run_count_once():
    """Their number is not known beforehand, so that no compiler unrolls them: those of an arm stay inlined."""
    model = ph.load("arm-7")
    path, value = next(iter(model.numbers().items()))
    runner = ph.StudyRunner(study(model, {path: ph.Grid([value])}, duration=0.01, step=1e-3, method="rk4"))
    graph = fused(runner.batch.compact.graph("advance"))
    written = sum(routine.size for routine in routines(graph))
    assert written < cuda._inlined(graph, {}) < cuda.UNROLLED * written
    assert cuda.is_small(graph)


@pytest.mark.long
@pytest.mark.parametrize("name", names())
@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
def test_nvidias_compiler_takes_the_step_of_every_bundled_model(name):
    model = ph.load(name)
    path, value = next(iter(model.numbers().items()))
    runner = ph.StudyRunner(study(model, {path: ph.Grid([value])}, duration=0.01, step=1e-3, method="rk4"))
    source = cuda_source(fused(runner.batch.compact.graph("advance")).anonymous(), "advance")
    assert "[0] = {" not in source
    assert ".entry advance(" in ptx(source)
