"""Time to the first result, in a process of its own: `python -m polhode.bench.first_call MODEL QUANTITY`.

The clock runs over `compile` and the first call; importing polhode and loading the model come before. The process finds
bytecode, as in a package that pip has installed: what of the package has none is compiled before, whatever
PYTHONDONTWRITEBYTECODE says here.
"""

import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

from polhode.bench.machines import machine, random_states
from polhode.bench.quantities import QUANTITIES
from polhode.errors import PolhodeError
from polhode.kernel.backends.llvm.two_tiers import SWITCH
from polhode.kernel.backends.llvm.wanted import ALL_WANTED
from polhode.kernel.cache import is_claimed
from polhode.system.system import compile

REPEATS = 3
"""How often a process is started for one of these times; the least counts."""
PATIENCE = 2.0
"""Seconds of cold starts after which no more are made."""

LONGEST_WAIT = 120.0
"""Seconds for which a process that optimises kernels is waited for."""


def first_call(model: str, quantity: str) -> float:
    """Seconds in `compile` and the first call, here and now."""
    described = machine(model)
    arguments = [rows[0] for rows in random_states(described, 1)][: QUANTITIES[quantity].arguments]
    start = time.perf_counter()
    system = compile(described, target="cpu")
    QUANTITIES[quantity].call(system, *arguments)
    return time.perf_counter() - start


def cold_and_cached(model: str, quantity: str, cache: Path) -> tuple[float, float | None]:
    """Seconds to the first result in a new process: with an empty cache, then from what that one left.

    The cached time is None where the later processes did not find the kernel (the package was edited meanwhile).
    """
    colds: list[float] = []
    while len(colds) < REPEATS and sum(colds) < PATIENCE:
        with tempfile.TemporaryDirectory(prefix="polhode-bench-") as empty:
            folder = Path(empty)
            colds.append(in_new_process(model, quantity, folder))
            if len(colds) > 1:
                continue
            kept = len(list(folder.glob("*.kernel")))
            cached = min(in_new_process(model, quantity, folder) for _ in range(REPEATS))
            found = kept > 0 and len(list(folder.glob("*.kernel"))) == kept
            until_optimised(folder)
            for file in folder.iterdir():  # the timed calls to come need not compile again
                file.replace(cache / file.name)
    return min(colds), cached if found else None


def in_new_process(model: str, quantity: str, cache: Path) -> float:
    """Seconds to the first result in a new process with this cache."""
    return float(told_by(["-m", "polhode.bench.first_call", model, quantity], cache, f"{model}, {quantity}"))


def told_by(arguments: list[str], kernels: Path, what: str) -> Any:
    """What a new process of Python with these arguments and this cache of kernels prints as JSON; what: for errors."""
    _write_bytecode()
    environment = {**os.environ, "POLHODE_CACHE": str(kernels)}
    for name in (SWITCH, "PYTHONDONTWRITEBYTECODE"):  # as users find it
        environment.pop(name, None)
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise PolhodeError(f"bench, {what}: a new process failed.\n  {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def until_optimised(kernels: Path) -> None:
    """Wait until no process optimises kernels of a cache that an earlier one handed on."""
    end = time.monotonic() + LONGEST_WAIT
    while is_claimed(ALL_WANTED, str(kernels)) and time.monotonic() < end:
        time.sleep(0.05)


@cache
def _write_bytecode() -> None:
    """Write the bytecode of this package, where it is missing or old, as pip does when it installs one."""
    compileall.compile_dir(Path(__file__).parents[1], quiet=2)


if __name__ == "__main__":
    print(json.dumps(first_call(*sys.argv[1:3])))
