"""`target="cuda"`, launched on a stand-in for CuPy: the results of the oracle, on arrays that stay on the GPU."""

import importlib.util
import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import fake_cupy
import polhode as ph
from close import assert_close
from machines import random_model, random_q
from polhode.bench.machines import machine
from polhode.kernel.backends import cuda

MODEL = random_model(["free", "revolute", "universal"], 3)
BODY = MODEL.bodies[-1].name
SINGLE = 1e-4 / 1e-12
"""Condition for results in single precision: rounding of float32 times that of a small machine."""


@pytest.fixture(autouse=True)
def cp(monkeypatch):
    """CuPy, or what stands for it."""
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy)
    cuda.cupy.cache_clear()
    cuda._constant.cache_clear()
    fake_cupy.launches.clear()
    yield fake_cupy
    cuda.cupy.cache_clear()
    cuda._constant.cache_clear()


@pytest.fixture(scope="module")
def oracle():
    return ph.compile(MODEL, target="python")


@pytest.fixture
def system():
    return ph.compile(MODEL, target="cuda")


def blocks(result):
    return result if isinstance(result, tuple) else (result,)


def sent(arguments):
    return [fake_cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]


def test_every_quantity_is_that_of_the_oracle(system, oracle):
    rng = np.random.default_rng(1)
    q, v, w = random_q(MODEL, rng, (3, 5)), rng.normal(size=(5, MODEL.nv)), rng.normal(size=MODEL.nv)
    calls = {
        "mass_matrix": (q,), "christoffel": (q,), "coriolis": (q, v), "bias": (q, v), "gravity": (q,),
        "inverse_dynamics": (q, v, w), "forward_dynamics": (q, v, w), "pose": (q, BODY), "velocity": (q, v, BODY),
        "acceleration": (q, v, w, BODY), "jacobian": (q, BODY, (0.1, 0.2, 0.3)), "jacobian_rate": (q, v, BODY),
        "energy": (q, v), "momentum": (q, v), "center_of_mass": (q,), "rate": (q, v), "integrate": (q, v),
        "difference": (q, q[::-1].copy()), "forward_dynamics_derivatives": (q, v, w),
        "inverse_dynamics_derivatives": (q, v, w),
    }  # fmt: skip
    for name, arguments in calls.items():
        found, expected = getattr(system, name)(*sent(arguments)), getattr(oracle, name)(*arguments)
        assert type(found) is type(expected) or not isinstance(expected, tuple)
        for a, b in zip(blocks(found), blocks(expected), strict=True):
            assert isinstance(a, fake_cupy.ndarray)
            assert a.dtype == np.float64
            assert_close(a.get(), b, condition=1e3)
    assert len(fake_cupy.launches) == len(calls)


@pytest.mark.parametrize("n", [0, 1, 127, 128, 129])
def test_a_batch_of_any_size_is_launched_in_blocks_of_128(system, oracle, n):
    rng = np.random.default_rng(n)
    q, v = random_q(MODEL, rng, (n,)), rng.normal(size=(n, MODEL.nv))
    found = system.bias(*sent((q, v)))
    assert found.shape == (n, MODEL.nv)
    assert_close(found.get(), oracle.bias(q, v), condition=1e3)
    expected = [("kernel", ("--std=c++17", "--fmad=false"), (-(-n // 128),), (128,))]
    assert fake_cupy.launches == (expected if n else [])


def test_one_state_and_numbers_written_out(system, oracle):
    q, v = random_q(MODEL, np.random.default_rng(0)).tolist(), [0.1] * MODEL.nv
    found, expected = system.energy(q, v), oracle.energy(q, v)
    assert found.kinetic.shape == ()
    assert_close(np.array([x.get() for x in found]), np.array(expected), condition=1e3)


def test_results_are_single_where_all_arrays_are(system, oracle):
    rng = np.random.default_rng(2)
    q, v = random_q(MODEL, rng, (4,)), rng.normal(size=(4, MODEL.nv))
    half = [fake_cupy.asarray(x, np.float32) for x in (q, v)]
    tau = [1.0] * MODEL.nv  # numbers written out are of no kind
    found = system.forward_dynamics(*half, tau)
    assert found.dtype == np.float32
    assert_close(found.get(), oracle.forward_dynamics(q, v, tau), condition=SINGLE)
    assert system.forward_dynamics(half[0], fake_cupy.asarray(v), tau).dtype == np.float64
    whole = fake_cupy.asarray(np.ones((4, MODEL.nv), dtype=int))
    assert system.inverse_dynamics(half[0], half[1], whole).dtype == np.float64


def test_forces_and_parameters_are_arguments(oracle):
    rng = np.random.default_rng(3)
    q, v = random_q(MODEL, rng, (4,)), rng.normal(size=(4, MODEL.nv))
    paths = ["gravity", f"bodies.{BODY}.mass"]
    system, other = (ph.compile(MODEL, target, paths) for target in ("cuda", "python"))
    masses, force = np.array([1.0, 2.0, 3.0, 4.0]), rng.normal(size=(4, 3))
    found, expected = (
        s.bias(x, y, t=0.5, wrench={BODY: (f, (1.0, 2.0, 3.0))}, parameters={paths[1]: m})
        for s, (x, y, f, m) in ((system, sent((q, v, force, masses))), (other, (q, v, force, masses)))
    )
    assert_close(found.get(), expected, condition=1e3)


def test_results_go_where_out_says(system, oracle):
    rng = np.random.default_rng(4)
    q, v, w = random_q(MODEL, rng, (6,)), rng.normal(size=(6, MODEL.nv)), rng.normal(size=(6, MODEL.nv))
    expected = oracle.inverse_dynamics(q, v, w)
    outs = [fake_cupy.empty((6, MODEL.nv), float), fake_cupy.ndarray(np.empty((MODEL.nv, 6)).T)]
    there = sent((q, v, w))
    for out in (*outs, there[2]):  # contiguous, not so, and one of the arguments
        assert system.inverse_dynamics(*there, out=out) is out
        assert_close(out.get(), expected, condition=1e3)
    pair = tuple(fake_cupy.empty((6, 3), float) for _ in range(2))
    found = system.momentum(*there[:2], out=pair)
    assert found.linear is pair[0]
    assert_close(found.angular.get(), oracle.momentum(q, v).angular, condition=1e3)


def test_mistakes_are_told(system):
    q, v = sent((random_q(MODEL, np.random.default_rng(5)), np.zeros(MODEL.nv)))
    short, complex_v = fake_cupy.asarray(np.zeros(2)), fake_cupy.asarray(np.zeros(MODEL.nv, complex))
    wrong = [fake_cupy.empty((MODEL.nv,), np.float32), fake_cupy.empty((3,), float), np.empty(MODEL.nv), (v, v)]
    for call, text in (
        (lambda: system.bias(q.get(), v), r"argument q: not on the GPU[\s\S]*cupy\.asarray"),
        (lambda: system.bias(q, short), "argument v: wrong shape"),
        (lambda: system.bias(q, complex_v), "not real numbers"),
        (lambda: system.bias(q, ["a"] * MODEL.nv), "not an array of numbers"),
        (lambda: system.momentum(q, v, out=v), "not as many arrays"),
        *((lambda out=out: system.bias(q, v, out=out), "argument out") for out in wrong),
    ):
        with pytest.raises(ph.InputError, match=text):
            call()


def test_the_source_is_cuda(system):
    assert 'extern "C" __global__ void forward_dynamics(' in system.source("forward_dynamics")
    assert "void pose(" in system.source("pose", BODY)


def test_fast_lets_the_compiler_fuse(oracle):
    q = random_q(MODEL, np.random.default_rng(6), (2,))
    found = ph.compile(MODEL, target="cuda", fast=True).gravity(fake_cupy.asarray(q))
    assert_close(found.get(), oracle.gravity(q), condition=1e3)
    assert fake_cupy.launches[0][1] == ("--std=c++17",)


def test_a_model_that_cannot_move_is_computed_too():
    model = ph.Model("still", bodies=[ph.Body("b", 1.0, (1, 1, 1))], joints=[ph.Joint("j", "fixed", "world", "b")])
    system = ph.compile(model, target="cuda")
    assert system.mass_matrix([]).shape == (0, 0)
    empty = fake_cupy.asarray(np.zeros((5, 0)))
    assert system.forward_dynamics_derivatives(empty, empty, empty).dq.shape == (5, 0, 0)
    out = (fake_cupy.empty((5, 3), float), fake_cupy.empty((5, 4), float))
    assert system.pose(empty, "b", out=out).quaternion is out[1]
    assert np.array_equal(out[1].get(), [[1, 0, 0, 0]] * 5)


def test_without_cupy_or_a_gpu_the_error_says_what_to_install(monkeypatch):
    def no_driver():
        raise RuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")

    for count, text in ((no_driver, "no CUDA-capable device"), (lambda: 0, "0 GPUs")):
        monkeypatch.setattr(fake_cupy.cuda.runtime, "getDeviceCount", count)
        cuda.cupy.cache_clear()
        with pytest.raises(ph.CompileError, match=text) as caught:
            ph.compile(MODEL, target="cuda")
        assert 'target="cpu"' in str(caught.value)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ph.CompileError, match=r"pip install 'polhode\[cuda\]'"):
        ph.compile(MODEL, target="cuda")


def gravity(**options):
    """A quantity of a System made anew, and how many texts were compiled for it."""
    before = len(fake_cupy.compiled)
    q = random_q(MODEL, np.random.default_rng(0), (3,))
    found = ph.compile(MODEL, target="cuda", **options).gravity(fake_cupy.asarray(q)).get()
    return found, len(fake_cupy.compiled) - before


def test_machine_code_is_kept_on_disk_and_used_only_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE", str(tmp_path / "kernels"))
    first, compiled = gravity()
    assert compiled == 1
    again, compiled = gravity()
    assert compiled == 0
    assert np.array_equal(first, again)
    (kept,) = (tmp_path / "kernels").glob("*.kernel")
    assert kept.stat().st_mode & 0o077 == 0
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])
    assert gravity()[1] == 1
    kept.chmod(0o644)  # others may read it, so others may have given it
    assert gravity()[1] == 1
    assert gravity(fast=True)[1] == 1  # compiled with other options


def test_a_device_that_the_compiler_does_not_know_is_left_to_cupy(monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE", "")
    expected = gravity()[0]
    monkeypatch.setattr(fake_cupy, "UNKNOWN", "--gpu-architecture=sm_90")
    assert np.array_equal(gravity()[0], expected)


def gpu_script():
    """benchmarks/gpu.py as a module."""
    place = Path(__file__).parents[2] / "benchmarks" / "gpu.py"
    spec = importlib.util.spec_from_file_location("gpu_script", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_script_for_a_gpu_runs(monkeypatch, capsys):
    script = gpu_script()
    monkeypatch.setattr(script, "TURNS", 1)
    script.main([3])
    found = json.loads(capsys.readouterr().out)
    assert {(row["quantity"], row["dtype"]) for row in found["rows"]} == set(product(script.QUANTITIES, script.BOUNDS))
    assert all(row["states"] == 3 and row["error"] <= script.BOUNDS[row["dtype"]] for row in found["rows"])
    monkeypatch.setitem(script.BOUNDS, "float32", 1e-9)
    with pytest.raises(SystemExit, match="differs from the oracle"):
        script.main([3])


def test_the_arm_of_the_script_is_the_bundled_one():
    ours, bundled = gpu_script().arm(), machine("arm-7")
    assert ours.bodies == bundled.bodies
    q, v, w = np.random.default_rng(0).normal(size=(3, 7))
    found, expected = (ph.compile(m, target="python").inverse_dynamics(q, v, w) for m in (ours, bundled))
    assert np.array_equal(found, expected)


def test_llvmlite_is_needed_by_target_cpu_alone():
    code = """
import sys
sys.modules["llvmlite"] = None
import fake_cupy, polhode as ph
sys.modules["cupy"] = fake_cupy
model = ph.load("double-pendulum")
q = [0.1, 0.2]
found = ph.compile(model, target="cuda").gravity(fake_cupy.asarray(q)).get()
assert abs(found - ph.compile(model, target="python").gravity(q)).max() < 1e-12
try:
    ph.compile(model)
except ph.CompileError as error:
    assert "pip install 'polhode[cpu]'" in str(error), error
    print("told")
"""
    places = [str(Path(fake_cupy.__file__).parent), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    assert done.stdout == "told\n", done.stderr
