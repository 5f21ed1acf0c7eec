"""What it costs to keep a study: processor time of a sweep into a store, over that of its runs alone, on one thread.

python benchmarks/store.py [runs]        prints JSON; every 100th of 2000 steps is kept, q and v

The runs alone, the sweep and the sweep with its summary take turns; the least of each counts. Draws, grades, the store,
its checksums and the Dataset are in the sweep; quantiles, summary.nc and report.html are in that with its summary;
compiling is in none.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import polhode as ph
from polhode.ensemble.study import study

MODELS = {"free-body": "", "double-pendulum": "hinge", "arm-7": "joint1"}
TURNS, STEPS, EVERY, STEP = 3, 2000, 100, 1e-3


def overhead(name: str, runs: int) -> dict[str, Any]:
    """Seconds of the runs alone, of the sweep into a store and of that with its summary; and what those have more."""
    model = ph.load(name)
    joint = MODELS[name]
    samples = {f"start.v.{joint}": ph.Normal(0, 0.3)} if joint else {f"start.q.{model.joints[0].name}": ph.Rotations()}
    what = study(model, samples, runs=runs, duration=STEPS * STEP, step=STEP, method="rk4", every=EVERY)
    runner = ph.StudyRunner(what)
    given = runner.starts(0, runs)
    ways: dict[str, Callable[[str], Any]] = {
        "runs alone, s": lambda folder: runner.batch.run(*given, runner.timing),
        "sweep with its store, s": lambda folder: ph.sweep(what, out=f"{folder}/study", threads=1, report=False),
        "sweep with its store and summary, s": lambda folder: ph.sweep(what, out=f"{folder}/study", threads=1),
    }
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(TURNS + 1):  # the first compiles
        for way, call in ways.items():
            with tempfile.TemporaryDirectory() as folder:
                begin = time.process_time()
                call(folder)
                taken[way].append(time.process_time() - begin)
    least = {way: min(times[1:]) for way, times in taken.items()}
    alone, stored, summed = least.values()
    shares = {"overhead of the store": stored / alone - 1, "of the summary": (summed - stored) / alone}
    return {name: round(value, 3) for name, value in (least | shares).items()}


if __name__ == "__main__":
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 32768
    print(json.dumps({name: overhead(name, count) for name in MODELS}, indent=1))
