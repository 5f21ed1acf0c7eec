"""The race: every quantity of every machine, checked against the peers and then timed in turn with them."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from polhode.assemble import System, compile
from polhode.bench.first_call import cold_and_cached, sympy_time
from polhode.bench.machines import MACHINES, machine, random_states
from polhode.bench.peers import Arrays, Peer, installed_peers
from polhode.bench.provenance import machine_facts, versions
from polhode.bench.quantities import QUANTITIES
from polhode.bench.timing import Contestant, Timing, race
from polhode.errors import PolhodeError, UnknownNameError, message

QUICK: dict[str, Any] = {"models": ("arm-7", "chain-7"), "seconds": 0.2}
"""Arguments of a short run."""
TOLERANCE = 1e-9
"""Relative difference of two results, above which nothing is timed."""
MOST_NUMBERS = 2**22
"""Numbers in the results of a batch; larger results would time the memory. Batches shrink to this."""
PENDULUMS = ("pendulum-10", "pendulum-20", "pendulum-50")
"""Planar pendulums, for their compile times beside SymPy's."""


@dataclass(frozen=True)
class Row:
    """One quantity of one machine, ours against one peer (or alone); times are seconds per state.

    states      1, or those of a batch
    ours, out   with a fresh result; into an array given as `out`
    ratio       least time of the peer over our least time, fresh result; likewise ratio_out, ratio_median
    difference  largest difference of the results over the largest result, before timing
    """

    model: str
    nv: int
    quantity: str
    states: int
    ours: Timing
    out: Timing
    peer: str | None
    call: str | None
    theirs: Timing | None
    ratio: float | None
    ratio_out: float | None
    ratio_median: float | None
    difference: float | None


@dataclass(frozen=True)
class FirstCall:
    """Seconds to the first result in a new process: nothing compiled yet; from the cache (None: not found there)."""

    model: str
    nv: int
    quantity: str
    cold: float
    cached: float | None


@dataclass(frozen=True)
class Report:
    """Everything that was measured, and where."""

    date: str
    machine: dict[str, str | int]
    versions: dict[str, str]
    batch: int
    seconds: float
    rows: tuple[Row, ...]
    first_calls: tuple[FirstCall, ...]
    sympy: float | None
    """Seconds of SymPy for a planar pendulum of five links on a cart, by Kane's method."""
    left_out: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return asdict(self)


def run_bench(
    models: Sequence[str] | None = None,
    quantities: Sequence[str] | None = None,
    batch: int = 10_000,
    seconds: float = 1.0,
    progress: Callable[[str], None] | None = None,
    first_calls: bool = True,
) -> Report:
    """Time our kernels and the peers that are installed.

    models       names of bundled models, "humanoid", "chain-N" or "pendulum-N"; default MACHINES
    quantities   names in QUANTITIES; default all
    batch        rows of the batches
    seconds      for each race, of which there are two for each quantity of each model
    progress     called with a name before each quantity of each model
    first_calls  whether to measure compile times, in processes of their own
    """
    names, wanted = tuple(models or MACHINES), tuple(quantities or QUANTITIES)
    for name in wanted:
        if name not in QUANTITIES:
            raise UnknownNameError(message("bench", "no such quantity", repr(name), ", ".join(QUANTITIES)))
    rows: list[Row] = []
    starts: list[FirstCall] = []
    left_out: list[str] = []
    with _own_cache() as cache:
        for name, quantity in work(names, wanted):
            if progress:
                progress(f"{name}, {QUANTITIES[quantity].title}")
            model = machine(name)
            if model.nv > QUANTITIES[quantity].largest:
                about = QUANTITIES[quantity]
                why = f"{model.nv} velocities, above the {about.largest} it is asked of here, to bound compile times"
                left_out.append(f"{name}, {about.title}: {why}")
                continue
            if first_calls:
                starts.append(FirstCall(name, model.nv, quantity, *cold_and_cached(name, quantity, cache)))
            peers, missing = installed_peers(model)
            left_out += [f"{peer}: not installed" for peer in missing if f"{peer}: not installed" not in left_out]
            rows += Match(name, quantity, compile(model, target="cpu"), peers).rows(batch, seconds)
        of_pendulums = first_calls and models is None and "forward" in wanted
        for name in PENDULUMS if of_pendulums else ():
            starts.append(FirstCall(name, machine(name).nv, "forward", *cold_and_cached(name, "forward", cache)))
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    sympy = sympy_time() if of_pendulums else None
    facts = machine_facts(), versions()
    return Report(date, *facts, batch, seconds, tuple(rows), tuple(starts), sympy, tuple(left_out))


def work(models: Sequence[str] | None = None, quantities: Sequence[str] | None = None) -> list[tuple[str, str]]:
    """All pairs of a machine and a quantity that `run_bench` goes through."""
    return [(name, quantity) for name in models or MACHINES for quantity in quantities or QUANTITIES]


@dataclass(frozen=True)
class Match:
    """One quantity of one machine: our System and the peers."""

    name: str
    quantity: str
    system: System
    peers: list[Peer]

    def rows(self, batch: int, seconds: float) -> Iterator[Row]:
        """One state, then a batch: each a race of all."""
        about = QUANTITIES[self.quantity]
        count = max(1, min(batch, MOST_NUMBERS // (about.results * self.system.nv**about.axes)))
        states = [np.ascontiguousarray(rows) for rows in random_states(self.system.model, count)]
        one = [rows[0].copy() for rows in states]
        differences = {p.name: d for p in self.peers if (d := self._difference(p, states)) is not None}
        yield from self._race(one, 1, [p.one(self.quantity, one) for p in self.peers], differences, seconds)
        yield from self._race(states, count, [p.batch(self.quantity, states) for p in self.peers], differences, seconds)

    def _race(
        self, states: Arrays, count: int, theirs: list[Contestant | None], differences: dict[str, float], seconds: float
    ) -> Iterator[Row]:
        others = [contestant for contestant in theirs if contestant]
        ours, out, *found = race([*self._ours(states, count), *others], seconds)
        facts = self.name, self.system.nv, self.quantity, count, ours, out
        for contestant, timing in zip(others, found, strict=True):
            least = timing.least
            ratios = least / ours.least, least / out.least, timing.median / ours.median
            yield Row(*facts, contestant.who, contestant.call, timing, *ratios, differences[contestant.who])
        if not others:
            yield Row(*facts, None, None, None, None, None, None, None)

    def _ours(self, states: Arrays, count: int) -> list[Contestant]:
        """Our call with a fresh result, and into a given one; both as a user writes them."""
        method, arguments = QUANTITIES[self.quantity].method, "q, v, x"[: 3 * QUANTITIES[self.quantity].arguments - 2]
        result = getattr(self.system, method)(*states[: QUANTITIES[self.quantity].arguments])
        out = tuple(np.empty_like(x) for x in result) if isinstance(result, tuple) else np.empty_like(result)
        names = {"system": self.system, "out": out, **dict(zip("qvx", states, strict=True))}
        texts = f"system.{method}({arguments})", f"system.{method}({arguments}, out=out)"
        return [Contestant("polhode", text, text, names, count) for text in texts]

    def _difference(self, peer: Peer, states: Arrays) -> float | None:
        """The largest relative difference of the results, ours one by one and as a batch, over a few states."""
        few = [rows[:5] for rows in states]
        if peer.one(self.quantity, [rows[0] for rows in few]) is None:
            return None
        about = QUANTITIES[self.quantity]
        call = getattr(self.system, about.method)
        batch = _blocks(call(*(rows.copy() for rows in few[: about.arguments])))
        worst = 0.0
        for k, state in enumerate(zip(*few, strict=True)):
            single = _blocks(call(*(x.copy() for x in state[: about.arguments])))
            for a, b, theirs in zip(single, batch, peer.result(self.quantity, state), strict=True):
                size = float(np.max(abs(theirs)))
                worst = max(worst, *(float(np.max(abs(x - theirs))) / size for x in (a, b[k])))
        if not worst <= TOLERANCE:
            where = f"bench, {self.name}, {about.title}, against {peer.name}"
            raise PolhodeError(message(where, "the results differ", f"{worst:.2e}", f"at most {TOLERANCE:g}, relative"))
        return worst


def _blocks(result: Any) -> list[np.ndarray]:
    return list(result) if isinstance(result, tuple) else [result]


@contextmanager
def _own_cache() -> Iterator[Path]:
    """A cache folder for the time of the race, empty at first."""
    before = os.environ.get("POLHODE_CACHE")
    with tempfile.TemporaryDirectory(prefix="polhode-bench-") as folder:
        os.environ["POLHODE_CACHE"] = folder
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ["POLHODE_CACHE"]
            else:
                os.environ["POLHODE_CACHE"] = before
