"""From a model to the first accelerations: planar pendulums of ours beside a short one of SymPy's.

Everyone runs in new processes, which take turns; the clock is that on the wall, and imports do not count.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from polhode.bench import first_call
from polhode.bench.machines import machine, random_states
from polhode.errors import PolhodeError, message
from polhode.system.system import compile

LINKS = (10, 20, 50)
SYMPY_LINKS = 5
TOLERANCE = 1e-9
"""Relative difference of SymPy's accelerations from ours, above which nothing is reported."""


@dataclass(frozen=True)
class Pendulum:
    """Seconds to the first accelerations of a planar pendulum, in a new process with nothing compiled yet."""

    who: str
    links: int
    least: float
    median: float
    samples: int


def pendulum_times() -> tuple[list[Pendulum], list[str]]:
    """Ours and SymPy's times; and what was left out."""
    found: dict[tuple[str, int], list[float]] = {("polhode", links): [] for links in LINKS}
    left_out = []
    for _ in range(first_call.REPEATS):
        for links in LINKS:
            with tempfile.TemporaryDirectory(prefix="polhode-bench-") as empty:
                seconds = first_call.in_new_process(f"pendulum-{links}", "forward", Path(empty))
            found["polhode", links].append(seconds)
        if (of_sympy := sympy_time()) is None:
            left_out = ["SymPy: not installed"]
        else:
            found.setdefault(("SymPy", SYMPY_LINKS), []).append(of_sympy)
    rows = [Pendulum(*key, min(times), statistics.median(times), len(times)) for key, times in found.items()]
    return rows, left_out


def sympy_time() -> float | None:
    """Seconds that SymPy takes, in a new process; None where it is not installed."""
    command = [sys.executable, "-m", "polhode.bench.sympy_pendulum", str(SYMPY_LINKS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No module named 'sympy'" in done.stderr:
        return None
    if done.returncode != 0:
        raise PolhodeError(f"bench, SymPy's pendulum: a new process failed.\n  {done.stderr.strip()[-500:]}")
    seconds, theirs = json.loads(done.stdout)
    model = machine(f"pendulum-{SYMPY_LINKS}")
    ours = compile(model, target="python").forward_dynamics(*(rows[0] for rows in random_states(model, 1)))
    difference = float(np.max(abs(ours - theirs)) / np.max(abs(ours)))
    if not difference <= TOLERANCE:
        expected = f"at most {TOLERANCE:g}, relative"
        raise PolhodeError(message("bench, SymPy's pendulum", "the results differ", f"{difference:.2e}", expected))
    return float(seconds)
