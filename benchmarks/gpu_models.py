"""Every bundled model on a GPU: whether its runs are those of the processor, and what its first sweep takes.

    python benchmarks/gpu_models.py [name …]      prints JSON; about three minutes for all, less with names
    python benchmarks/gpu_models.py loops         machines with many loops alone: LOOPS
    … --written-out                               equations of constraints written out, as of a small machine

Two runs of 0.05 s, equal steps (RK4) and controlled ones, one number of the model drawn. Nothing is compiled before:
the cache of kernels is an empty folder. Needs NumPy, SciPy, xarray, llvmlite, CuPy and a GPU.
"""

import json
import os
import sys
import tempfile
import time
import warnings
from typing import Any

import numpy as np

import polhode as ph
from polhode.ensemble.gpu import GpuBatchRun
from polhode.ensemble.study import study
from polhode.formats.library import names
from polhode.linalg import constrained

DURATION = 0.05
MANY = 4096
"""Runs of the batch whose time is taken besides, in seconds of the device for all of them."""
LOOPS = ("n-four-bar-40", "closed-chain-50", "bricard", "stewart-platform", "n-four-bar-10")
WAYS: dict[str, dict[str, Any]] = {"equal steps": {"step": 1e-3, "method": "rk4"}, "controlled": {}}


def compared(name: str, options: dict[str, Any]) -> dict[str, float]:
    """Seconds of the first batch on the device, kernels traced and compiled; of the second; of MANY runs; and the
    largest difference from the processor's, over the largest number."""
    model = ph.load(name)
    path, value = next(iter(model.numbers().items()))
    runner = ph.StudyRunner(study(model, {path: ph.Grid([value, 1.01 * value])}, duration=DURATION, **options))
    given, timing = runner.starts(0, 2), runner.timing
    device, times = GpuBatchRun(runner.batch), []
    for _ in range(2):
        begin = time.perf_counter()
        found = device.run(*given, timing)
        times.append(time.perf_counter() - begin)
    many = [np.repeat(x, MANY // 2, axis=0) for x in given]
    begin = time.perf_counter()
    device.run(*many, timing)
    times.append(time.perf_counter() - begin)
    expected = runner.batch.run(*given, timing)
    apart = max(
        np.max(abs(a - b)) / max(np.max(abs(b)), 1e-9) for a, b in ((found.q, expected.q), (found.v, expected.v))
    )
    first, second, last = times
    return {
        "first, s": round(first, 2),
        "second, s": round(second, 4),
        f"{MANY} runs, s": round(last, 4),
        "apart": float(f"{apart:.2g}"),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ["POLHODE_OPTIMISE"] = "never"  # lanes of the processor are for comparison alone
    given = [word for word in sys.argv[1:] if word != "--written-out"]
    if len(given) < len(sys.argv[1:]):
        constrained.LOOPED = constrained.SPARSE
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for asked in LOOPS if given == ["loops"] else given or dict.fromkeys([*names(), *LOOPS]):
            try:
                row: Any = {way: compared(asked, options) for way, options in WAYS.items()}
            except ph.PolhodeError as fault:
                row = str(fault)
            print(json.dumps({asked: row}), flush=True)
