"""Every bundled model on a GPU: whether its runs are those of the processor, and what its first sweep takes.

    python benchmarks/gpu_models.py [name …]      prints JSON; about three minutes for all, less with names

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

DURATION = 0.05
WAYS: dict[str, dict[str, Any]] = {"equal steps": {"step": 1e-3, "method": "rk4"}, "controlled": {}}


def compared(name: str, options: dict[str, Any]) -> dict[str, float]:
    """Seconds of the first batch on the device, kernels traced and compiled; seconds of the second; and the largest
    difference from the processor's, over the largest number."""
    model = ph.load(name)
    path, value = next(iter(model.numbers().items()))
    runner = ph.StudyRunner(study(model, {path: ph.Grid([value, 1.01 * value])}, duration=DURATION, **options))
    given, timing = runner.starts(0, 2), runner.timing
    device, times = GpuBatchRun(runner.batch), []
    for _ in range(2):
        begin = time.perf_counter()
        found = device.run(*given, timing)
        times.append(time.perf_counter() - begin)
    expected = runner.batch.run(*given, timing)
    apart = max(
        np.max(abs(a - b)) / max(np.max(abs(b)), 1e-9) for a, b in ((found.q, expected.q), (found.v, expected.v))
    )
    return {"first, s": round(times[0], 2), "second, s": round(times[1], 4), "apart": float(f"{apart:.2g}")}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ["POLHODE_OPTIMISE"] = "never"  # lanes of the processor are for comparison alone
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for asked in sys.argv[1:] or [*names(), "n-four-bar-10"]:
            try:
                row: Any = {way: compared(asked, options) for way, options in WAYS.items()}
            except ph.PolhodeError as fault:
                row = str(fault)
            print(json.dumps({asked: row}), flush=True)
