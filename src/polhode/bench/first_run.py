"""Time to the first motion, in a process of its own: `python -m polhode.bench.first_run MODEL`.

The clock runs from the first line of the process's own to the end of `ph.simulate`, less a bare `import xarray`, which
comes first; stages are those of making kernels.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from polhode.errors import PolhodeError

MODELS = ("pendulum", "arm-7", "bicycle", "closed-chain", "stewart-platform", "n-four-bar-40")
"""The machines whose first run is timed."""

STAGES = ("trace", "differentiate", "schedule", "text", "LLVM", "link")
"""The stages of making kernels."""

REPEATS = 3
"""How often a process is started with a full cache; the least counts."""

SCRIPT = """
import time
begin = time.perf_counter()
import xarray
bare = time.perf_counter()
import json, sys, warnings
import polhode as ph
from polhode.kernel.stage_clock import stages_counted
warnings.simplefilter("ignore")
with stages_counted() as stages:
    ph.simulate(ph.load(sys.argv[1]))
print(json.dumps({"seconds": time.perf_counter() - bare, "xarray": bare - begin, "stages": stages}))
"""


@dataclass(frozen=True)
class FirstRun:
    """Seconds of the first `ph.simulate` in a new process, with its imports, above those of `import xarray`.

    cold, cached  with an empty cache, and with what that run left
    stages        seconds of making kernels, cold, by stage
    """

    model: str
    xarray: float
    cold: float
    cached: float
    stages: dict[str, float]


def first_runs() -> list[FirstRun]:
    """The first run of each machine, in new processes, one after the other."""
    return [_measured(model) for model in MODELS]


def _measured(model: str) -> FirstRun:
    with tempfile.TemporaryDirectory(prefix="polhode-bench-") as folder:
        cold = _in_new_process(model, Path(folder))
        cached = [_in_new_process(model, Path(folder)) for _ in range(REPEATS)]
    least = min(one["seconds"] for one in cached)
    stages = {name: float(cold["stages"].get(name, 0.0)) for name in STAGES}
    return FirstRun(model, min(one["xarray"] for one in cached), cold["seconds"], least, stages)


def _in_new_process(model: str, cache: Path) -> dict:
    environment = {**os.environ, "POLHODE_CACHE": str(cache)}
    command = [sys.executable, "-c", SCRIPT, model]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise PolhodeError(f"bench, first run of {model}: a new process failed.\n  {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)
