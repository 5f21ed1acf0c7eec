"""Whole runs per second on a GPU: the seven-axis arm by RK4, samples decimated on the device, numbers drawn per run.

    python benchmarks/gpu_sweep.py [runs [steps]]      default 524288 runs of 5000 steps; prints JSON, in a few minutes

Needs NumPy, CuPy and a GPU; with llvmlite the lanes of the processor are compared, with xarray and zarr a whole
`ph.sweep` is timed too, its store included, and with mujoco.mjx and JAX its RK4 on the same machine.
"""

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
from gpu import arm

from polhode.ensemble.gpu import GpuBatchRun
from polhode.integrate.methods import METHODS
from polhode.simulation.batch.batch_records import BatchSpec, equal_steps
from polhode.simulation.batch.batch_run import BatchRun
from polhode.simulation.compiled_run import RunSpec

STEP, EVERY, TURNS = 1e-3, 100, 4
MASS = "bodies.flange.mass"
"""What differs from run to run, beside the start."""
BOUNDS = {"double": 1e-9, "single": 1e-2}
"""Largest difference from the processor's runs, over the largest number, above which nothing is timed."""
MJX_RUNS, MJX_STEPS = (8192, 65536, 262144), 20
"""Batches of MJX, of which the best counts, and steps of each."""


def given(lanes: BatchRun, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts and masses."""
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-np.pi, np.pi, (n, 7)), rng.normal(scale=0.3, size=(n, 7))
    return q, v, rng.uniform(0.4, 3.0, (n, len(lanes.names)))


def least(run: Callable[[], Any], turns: int = TURNS) -> float:
    """The least wall-clock time of some turns, the device waited for."""
    import cupy

    times = []
    for _ in range(turns):
        begin = time.perf_counter()
        run()
        cupy.cuda.runtime.deviceSynchronize() if hasattr(cupy.cuda.runtime, "deviceSynchronize") else None
        times.append(time.perf_counter() - begin)
    return min(times)


def own(found: dict[str, Any], lanes: BatchRun, runs: int, steps: int) -> None:
    """Our own runs, checked and timed."""
    few = given(lanes, 64)
    short = equal_steps(100 * STEP, STEP, 50)
    expected = None
    with contextlib.suppress(ImportError):
        import llvmlite  # noqa: F401

        expected = lanes.run(*few, short)
        timing = equal_steps(steps * STEP, STEP, EVERY)
        begin = time.perf_counter()
        lanes.run(*given(lanes, 1024), timing)
        found["processor, one core, steps/s"] = 1024 * steps / (time.perf_counter() - begin)
    for precision in ("double", "single"):
        device = GpuBatchRun(lanes, precision)
        first = device.run(*few, short)
        found["device"] = device.name.partition(",")[0]
        if expected is not None:
            error = float(np.max(abs(first.q - expected.q)) / np.max(abs(expected.q)))
            found[f"{precision} error"] = error
            assert error < BOUNDS[precision], error
        timing = equal_steps(steps * STEP, STEP, EVERY)
        many = given(lanes, runs)
        block = [None]

        def run(device: GpuBatchRun = device, many: Any = many, timing: Any = timing, block: list = block) -> None:
            block[0] = device.run(*many, timing)

        seconds = least(run)
        found[f"{precision} steps/s, samples every {EVERY} steps brought back"] = runs * steps / seconds
        found[f"{precision} batch"] = device.most_runs(timing)
        alone = equal_steps(steps * STEP, STEP, steps)
        seconds = least(lambda device=device, many=many, alone=alone: device.run(*many, alone))
        found[f"{precision} steps/s, last states only"] = runs * steps / seconds
        kernel = device.kernel("advance")._functions
        found[f"{precision} registers"] = [getattr(f, "num_regs", None) for f in kernel.values()]


def whole(found: dict[str, Any], runs: int, steps: int) -> None:
    """All of `ph.sweep`, with draws, checks, measures and a store on disk."""
    try:
        import xarray  # noqa: F401
        import zarr  # noqa: F401
    except ImportError as fault:
        found["whole sweep"] = f"left out: {fault}"
        return
    import polhode as ph

    samples = {MASS: ph.Uniform(0.4, 3.0), "start.q": ph.Listed(np.random.default_rng(2).normal(size=(64, 7)).tolist())}
    options = {"runs": runs, "duration": steps * STEP, "step": STEP, "method": "rk4", "every": EVERY}
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        ph.sweep(arm(), samples, device="cuda", out=f"{folder}/study", **options)
        found["whole sweep with its store, steps/s"] = runs * steps / (time.perf_counter() - begin)


def theirs(found: dict[str, Any]) -> None:
    """MuJoCo's MJX, RK4, the same machine."""
    try:
        import jax
        import mujoco
        from mujoco import mjx
    except ImportError as fault:
        found["MJX"] = f"left out: {fault}"
        return
    from polhode.bench.peers.mujoco_peer import mujoco_model

    for precision in ("double", "single"):
        jax.config.update("jax_enable_x64", precision == "double")
        model = mujoco_model(arm())
        model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, STEP
        there, data = mjx.put_model(model), mjx.make_data(model)

        @jax.jit
        def rollout(q: Any, v: Any, there: Any = there, data: Any = data) -> Any:
            def one(q: Any, v: Any) -> Any:
                start = data.replace(qpos=q, qvel=v)
                last, _ = jax.lax.scan(lambda d, _: (mjx.step(there, d), None), start, None, length=MJX_STEPS)
                return last.qpos

            return jax.vmap(one)(q, v)

        rates = {}
        for runs in MJX_RUNS:
            q, v = (jax.numpy.asarray(x) for x in given_states(runs))
            rollout(q, v).block_until_ready()
            seconds = least(lambda rollout=rollout, q=q, v=v: rollout(q, v).block_until_ready())
            rates[runs] = runs * MJX_STEPS / seconds
        found[f"MJX {precision} steps/s by batch"] = rates
        found[f"MJX {precision} ratio"] = found[f"{precision} steps/s, last states only"] / max(rates.values())


def given_states(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts alone."""
    rng = np.random.default_rng(1)
    return rng.uniform(-np.pi, np.pi, (n, 7)), rng.normal(scale=0.3, size=(n, 7))


def main(runs: int = 524_288, steps: int = 5000) -> None:
    """Everything, as JSON."""
    model = arm()
    lanes = BatchRun(BatchSpec(RunSpec(model, METHODS["rk4"], True), (MASS,)))
    found: dict[str, Any] = {"date": f"{date.today()}", "model": "arm-7", "method": "rk4", "runs": runs}
    found["steps"] = steps
    for part in (lambda: own(found, lanes, runs, steps), lambda: theirs(found), lambda: whole(found, runs, steps)):
        begin = time.perf_counter()
        try:
            part()
        except Exception as fault:  # one part that fails leaves the others
            found.setdefault("faults", []).append(f"{type(fault).__name__}: {fault}"[:400])
        found.setdefault("seconds of each part", []).append(round(time.perf_counter() - begin, 1))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(*(int(float(x)) for x in sys.argv[1:3]))
