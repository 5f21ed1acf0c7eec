"""RK4 steps per second on a GPU: the loop of a run as one CUDA kernel, one trajectory a thread.

python benchmarks/gpu_steps.py        prints JSON; needs NumPy, CuPy and a GPU
"""

import json

import numpy as np
from gpu import arm

from polhode.integrate.methods import METHODS
from polhode.kernel import evaluate, trace
from polhode.kernel.backends.cuda import cuda_source
from polhode.kernel.schedule import fused
from polhode.simulation.compiled_run import CompiledRun, RunSpec

BLOCK = 128


def main() -> None:
    """Compare three steps with `evaluate`, then time hundreds."""
    import cupy as cp

    engine = CompiledRun(RunSpec(arm(), METHODS["rk4"], True))
    shapes = {"packed": (engine.width,), "count": (), "h": (), "origin": ()}
    row_after = engine._advance()
    graph = fused(trace(lambda **given: row_after(*given.values()), **shapes))
    rng = np.random.default_rng(0)
    found = {"operations": graph.operations.total()}
    for real, dtype in (("double", np.float64), ("float", np.float32)):
        text = cuda_source(graph, "steps", real)
        module = cp.RawModule(code=text, options=("--std=c++17", "--fmad=false"))
        kernel = module.get_function("steps")
        for n, count in ((8, 3.0), (1_000_000, 200.0), (4_000_000, 200.0)):
            rows = np.zeros((n, engine.width))
            rows[:, 2:] = rng.uniform(-1, 1, size=(n, engine.width - 2))
            given, out = cp.asarray(rows.astype(dtype)), cp.empty((n, engine.width), dtype)
            numbers = [cp.asarray(np.array([x], dtype)) for x in (count, 1e-3, 0.0)]
            args = (np.int64(n), given, np.int64(engine.width))
            for number in numbers:
                args += (number, np.int64(0))
            args += (out, np.int64(engine.width))
            times = []
            for _ in range(4):
                begin, end = cp.cuda.Event(), cp.cuda.Event()
                begin.record()
                kernel(((n + BLOCK - 1) // BLOCK,), (BLOCK,), args)
                end.record()
                end.synchronize()
                times.append(cp.cuda.get_elapsed_time(begin, end) / 1e3)
            if n == 8:
                expected = evaluate(graph, packed=rows, count=count, h=1e-3, origin=0.0)
                found[f"{real} error"] = float(np.max(abs(out.get() - expected)))
            else:
                found[f"{real} steps/s, {n} trajectories"] = n * count / min(times)
        found[f"{real} registers, local bytes"] = [kernel.num_regs, kernel.local_size_bytes]
    print(json.dumps(found, indent=1))


main()
