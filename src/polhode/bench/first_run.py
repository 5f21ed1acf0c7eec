"""Time to the first motion, in a process of its own.

The clock runs from the first line of the process's own to the end of `ph.simulate`, less a bare `import xarray`, which
comes first; stages are those of making kernels. Modules have bytecode, as those of an installed package do
(`first_call.py`).
"""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polhode.bench.first_call import told_by, until_optimised
from polhode.bench.robots import ROBOTS, file_of, missing, options_of

MODELS = ("pendulum", "arm-7", "bicycle", "closed-chain", "stewart-platform", "talos", "n-four-bar-40")
"""The machines whose first run is timed; robots where their files are installed."""

STAGES = ("trace", "differentiate", "schedule", "text", "LLVM", "link")
"""The stages of making kernels."""

REPEATS = 3
"""How often a process is started with a full cache; the least counts."""

HANDING_ON = 2
"""How many are started before, which hand on what is not optimised yet."""

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
    ph.simulate(ph.load(sys.argv[1], **json.loads(sys.argv[2])))
print(json.dumps({"seconds": time.perf_counter() - bare, "xarray": bare - begin, "stages": stages}))
"""


@dataclass(frozen=True)
class FirstRun:
    """Seconds of the first `ph.simulate` in a new process, with its imports, above those of `import xarray`.

    cold    with an empty cache
    cached  with what some runs before left, all of it optimised
    stages  seconds of making kernels, cold, by stage
    """

    model: str
    xarray: float
    cold: float
    cached: float
    stages: dict[str, float]


def first_runs() -> tuple[list[FirstRun], list[str]]:
    """The first run of each machine, in new processes, one after the other; and what was left out."""
    left_out = {model: reason for model in MODELS if (reason := missing(model))}
    return [_measured(model) for model in MODELS if model not in left_out], [*left_out.values()]


def _measured(model: str) -> FirstRun:
    file, options = (str(file_of(model)), options_of(model)) if model in ROBOTS else (model, {})
    script = ["-c", SCRIPT, file, json.dumps(options)]
    with tempfile.TemporaryDirectory(prefix="polhode-bench-") as folder:
        cold, *cached = (_told(script, Path(folder), model) for _ in range(1 + HANDING_ON + REPEATS))
        cached = cached[HANDING_ON:]
    least = min(one["seconds"] for one in cached)
    stages = {name: float(cold["stages"].get(name, 0.0)) for name in STAGES}
    return FirstRun(model, min(one["xarray"] for one in cached), cold["seconds"], least, stages)


def _told(script: list[str], kernels: Path, model: str) -> dict[str, Any]:
    """What one run tells; when it has ended, and what it handed on."""
    found: dict[str, Any] = told_by(script, kernels, f"first run of {model}")
    until_optimised(kernels)
    return found
