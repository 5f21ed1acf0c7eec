"""What it costs to keep a study: processor time of a sweep into a store, over that of its runs alone, on one thread.

python benchmarks/store.py [runs]        prints JSON; every 100th of 2000 steps is kept, q and v

The runs alone and the whole sweep take turns; the least of each counts. Draws, grades, the store, its checksums and the
Dataset are in the sweep; compiling is in neither.
"""

import json
import sys
import tempfile
import time
from typing import Any

import polhode as ph
from polhode.ensemble.study import study

MODELS = {"free-body": "", "double-pendulum": "hinge", "arm-7": "joint1"}
TURNS, STEPS, EVERY, STEP = 3, 2000, 100, 1e-3


def overhead(name: str, runs: int) -> dict[str, Any]:
    """Seconds of the runs alone and of the whole sweep, and what the latter has more."""
    model = ph.load(name)
    joint = MODELS[name]
    samples = {f"start.v.{joint}": ph.Normal(0, 0.3)} if joint else {f"start.q.{model.joints[0].name}": ph.Rotations()}
    what = study(model, samples, runs=runs, duration=STEPS * STEP, step=STEP, method="rk4", every=EVERY)
    runner = ph.StudyRunner(what)
    given = runner.starts(0, runs)
    alone, whole = [], []
    for _ in range(TURNS + 1):  # the first compiles
        begin = time.process_time()
        runner.batch.run(*given, runner.timing)
        alone.append(time.process_time() - begin)
        with tempfile.TemporaryDirectory() as folder:
            begin = time.process_time()
            ph.sweep(what, out=f"{folder}/study", threads=1)
            whole.append(time.process_time() - begin)
    a, b = min(alone[1:]), min(whole[1:])
    return {"runs alone, s": round(a, 3), "sweep with its store, s": round(b, 3), "overhead": round(b / a - 1, 3)}


if __name__ == "__main__":
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 32768
    print(json.dumps({name: overhead(name, count) for name in MODELS}, indent=1))
