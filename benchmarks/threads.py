"""Sweeps on all cores of a machine: threads of one process against as many processes, one thread each.

    python benchmarks/threads.py [runs [cores [steps]]]   default 65536 runs, all cores, 1000 RK4 steps; prints JSON

Every process compiles and runs once before all begin together; the clock on the wall counts, from that moment to the
end of the last. Threads and processes take turns.
"""

import json
import multiprocessing as mp
import os
import sys
import time
from typing import Any

TURNS, STEP = 4, 1e-3


def prepared(runs: int, threads: int, steps: int) -> Any:
    """A sweep of the seven-axis arm, compiled: called, it runs."""
    import polhode as ph

    model = ph.load("arm-7")
    options = {"runs": runs, "duration": steps * STEP, "step": STEP, "method": "rk4", "every": steps}

    def sweep() -> None:
        ph.sweep(model, {"start.v.joint1": ph.Normal(0, 0.3)}, threads=threads, **options)

    sweep()
    return sweep


def part(runs: int, steps: int, gate: Any, done: Any) -> None:
    """One process: wait at the gate, run, say that it is done; TURNS times."""
    sweep = prepared(runs, 1, steps)
    for _ in range(TURNS):
        gate.wait()
        sweep()
        done.wait()


if __name__ == "__main__":
    runs = int(float(sys.argv[1])) if len(sys.argv) > 1 else 65536
    cores = int(sys.argv[2]) if len(sys.argv) > 2 else len(os.sched_getaffinity(0))
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    context = mp.get_context("spawn")
    gate, done = context.Barrier(cores + 1), context.Barrier(cores + 1)
    others = [context.Process(target=part, args=(runs // cores, steps, gate, done)) for _ in range(cores)]
    for other in others:
        other.start()
    sweep = prepared(runs, cores, steps)
    times: dict[str, list[float]] = {"threads": [], "processes": []}
    for _ in range(TURNS):
        begin = time.perf_counter()
        sweep()
        times["threads"].append(time.perf_counter() - begin)
        gate.wait()
        begin = time.perf_counter()
        done.wait()
        times["processes"].append(time.perf_counter() - begin)
    for other in others:
        other.join()
    least = {way: min(values) for way, values in times.items()}
    ratio = least["processes"] / least["threads"]
    print(
        json.dumps(
            {"runs": runs, "cores": cores, "steps": steps, "seconds": times, "processes over threads": round(ratio, 3)}
        )
    )
