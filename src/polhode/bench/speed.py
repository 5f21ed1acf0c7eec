"""The race: every quantity of every machine, checked against the peers and then timed in turn with them."""

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from polhode.bench.ensembles import ensemble_times
from polhode.bench.first_call import cold_and_cached
from polhode.bench.first_run import first_runs
from polhode.bench.issue_limit import IssueRates
from polhode.bench.loops import growth_times, loop_times
from polhode.bench.machines import MACHINES, machine, random_states
from polhode.bench.peers.registry import PEERS, READERS, Arrays, Peer, installed_peers
from polhode.bench.pendulums import pendulum_times
from polhode.bench.provenance import machine_facts, versions
from polhode.bench.quantities import OTHERS, QUANTITIES
from polhode.bench.report import KINDS, FirstCall, QuantityRace, Report
from polhode.bench.robots import ROBOTS, missing as missing_robot
from polhode.bench.simulation import simulation_times
from polhode.bench.threads import thread_times
from polhode.bench.timing import OPTIMISED, Contestant, in_environment, race
from polhode.bench.whole_calls import whole_call_times
from polhode.errors import PolhodeError, UnknownNameError, message
from polhode.kernel import Graph
from polhode.system.system import System, compile

QUICK: dict[str, Any] = {"models": ("arm-7", "chain-7"), "seconds": 0.2}
"""Arguments of a short run."""
TOLERANCE = 1e-9
"""Relative difference of two results, above which nothing is timed; (nv/100)² times as much where nv is above 100, for
the mass matrix of a long chain is that badly conditioned."""
MOST_NUMBERS = 2**22
"""Numbers in the results of a batch; larger results would time the memory. Batches shrink to this."""
MOST_VELOCITIES = 2**19
"""Velocities of all states of a batch; more would take the peers minutes."""
THREADED = 10**6
"""States of the batch that threads share."""


def run_bench(
    models: Sequence[str] | None = None,
    quantities: Sequence[str] | None = None,
    batch: int = 10_000,
    seconds: float = 1.0,
    progress: Callable[[str], None] | None = None,
    first_calls: bool = True,
) -> Report:
    """Time our kernels and the peers that are installed.

    models       names of bundled models, of ROBOTS, "humanoid", "chain-N" or "pendulum-N"; default MACHINES
    quantities   names in QUANTITIES and OTHERS; default all, of the others only where no models are named
    batch        rows of the batches
    seconds      for each race, of which there are two for each quantity of each model
    progress     called with a name before each quantity of each model
    first_calls  whether to measure compile times, in processes of their own
    """
    for name in quantities or ():
        if name not in QUANTITIES and name not in OTHERS:
            known = ", ".join((*QUANTITIES, *OTHERS))
            raise UnknownNameError(message("bench", "no such quantity", repr(name), known))
    page = SpeedPage(batch, seconds, progress or (lambda name: None), first_calls)
    with _own_cache() as cache, in_environment(**OPTIMISED):
        for name, group in groupby(work(models, quantities), key=itemgetter(0)):
            page.measure(name, [quantity for _, quantity in group], cache)
    return page.report()


def work(models: Sequence[str] | None = None, quantities: Sequence[str] | None = None) -> list[tuple[str, str]]:
    """All pairs of a machine and a quantity that `run_bench` goes through; the machine of OTHERS is ""."""
    wanted = quantities or (*QUANTITIES, *(() if models else OTHERS))
    of_machines = [(name, quantity) for name in models or MACHINES for quantity in wanted if quantity in QUANTITIES]
    return of_machines + [("", other) for other in wanted if other in OTHERS]


class SpeedPage:
    """The rows measured so far, by kind, and what was left out."""

    def __init__(self, batch: int, seconds: float, progress: Callable[[str], None], first_calls: bool) -> None:
        self.batch, self.seconds, self.progress, self.first_calls = batch, seconds, progress, first_calls
        self.found: dict[str, list[Any]] = {name: [] for name in (*KINDS, "left_out")}

    def report(self) -> Report:
        """All of it, with its provenance."""
        date = datetime.now(UTC).strftime("%Y-%m-%d")
        found = {name: tuple(rows) for name, rows in self.found.items()}
        found["left_out"] = tuple(dict.fromkeys(found["left_out"]))
        return Report(date, machine_facts(), versions(), self.batch, self.seconds, **found)

    def measure(self, name: str, quantities: Sequence[str], cache: Path) -> None:
        """Some quantities of one machine; or, without a machine, what else is asked for."""
        if not name:
            for other in quantities:
                getattr(self, f"_{other}")()
            return
        if reason := missing_robot(name):
            self.found["left_out"].append(reason)
            return
        model = machine(name)
        small = [q for q in quantities if model.nv <= QUANTITIES[q].largest]
        known = READERS if name in ROBOTS else PEERS
        peers, missing = installed_peers(model, known) if small else ([], [])
        self.found["left_out"] += missing
        for quantity in quantities:
            about = QUANTITIES[quantity]
            self.progress(f"{name}, {about.title}")
            if quantity not in small:
                why = f"{model.nv} velocities, above the {about.largest} it is asked of here, to bound compile times"
                self.found["left_out"].append(f"{name}, {about.title}: {why}")
                continue
            if self.first_calls:
                start = FirstCall(name, model.nv, quantity, *cold_and_cached(name, quantity, cache))
                self.found["first_calls"].append(start)
            match = Match(name, quantity, compile(model, target="cpu"), peers)
            rows = list(match.rows(self.batch, self.seconds))
            self.found["rows"] += rows
            if name in ROBOTS and (
                limit := self.rates.limit(name, model.nv, quantity, match.graph(), rows[-1].out.least)
            ):
                self.found["limits"].append(limit)

    @cached_property
    def rates(self) -> IssueRates:
        """How fast this processor computes at best."""
        return IssueRates.measured(self.seconds)

    def _threads(self) -> None:
        self.progress(f"{OTHERS['threads']} against one")
        if (cores := machine_facts()["cores"]) == 1:
            self.found["left_out"].append(f"{OTHERS['threads']}: {cores} core")
            return
        self.found["threads"].append(thread_times(THREADED, 2 * self.seconds))

    def _pendulums(self) -> None:
        self.progress("compile times of pendulums")
        self._add("pendulums", *pendulum_times())

    def _simulation(self) -> None:
        self.progress("simulations")
        self._add("simulations", *simulation_times(2 * self.seconds))

    def _ensembles(self) -> None:
        self.progress("ensembles")
        self._add("ensembles", *ensemble_times(2 * self.seconds, threads=machine_facts()["cores"] != 1))

    def _loops(self) -> None:
        self.progress("closed loops")
        self._add("loops", *loop_times(2 * self.seconds))
        self._add("growth", growth_times(2 * self.seconds))

    def _calls(self) -> None:
        self.progress("whole calls")
        self._add("calls", whole_call_times(2 * self.seconds))

    def _compile(self) -> None:
        self.progress("first runs, in new processes")
        self._add("first_runs", *first_runs())

    def _add(self, kind: str, rows: Iterable[Any], left_out: Sequence[str] = ()) -> None:
        self.found[kind] += rows
        self.found["left_out"] += left_out


@dataclass(frozen=True)
class Match:
    """One quantity of one machine: our System and the peers."""

    name: str
    quantity: str
    system: System
    peers: list[Peer]

    def rows(self, batch: int, seconds: float) -> Iterator[QuantityRace]:
        """One state, then a batch: each a race of all."""
        about = QUANTITIES[self.quantity]
        numbers = sum(math.prod(shape) for shape in about.shapes(self.system))
        count = max(1, min(batch, MOST_NUMBERS // numbers, MOST_VELOCITIES // self.system.nv))
        states = [np.ascontiguousarray(rows) for rows in random_states(self.system.model, count)]
        one = [rows[0].copy() for rows in states]
        differences = {p.name: d for p in self.peers if (d := self._difference(p, states)) is not None}
        yield from self._race(one, 1, [p.one(self.quantity, one) for p in self.peers], differences, seconds)
        yield from self._race(states, count, [p.batch(self.quantity, states) for p in self.peers], differences, seconds)

    def graph(self) -> Graph:
        """The graph of our kernel, products fused."""
        about = QUANTITIES[self.quantity]
        return self.system._kernel("bench", about.method, *about.words(self.system.model)).graph

    def _race(
        self, states: Arrays, count: int, theirs: list[Contestant | None], differences: dict[str, float], seconds: float
    ) -> Iterator[QuantityRace]:
        others = [contestant for contestant in theirs if contestant]
        ours, out, *found = race([*self._ours(states, count), *others], seconds)
        facts = self.name, self.system.nv, self.quantity, count, ours, out
        for contestant, timing in zip(others, found, strict=True):
            least = timing.least
            ratios = least / ours.least, least / out.least, timing.median / ours.median
            yield QuantityRace(*facts, contestant.who, contestant.call, timing, *ratios, differences[contestant.who])
        if not others:
            yield QuantityRace(*facts, None, None, None, None, None, None, None)

    def _ours(self, states: Arrays, count: int) -> list[Contestant]:
        """Our call with a fresh result, and into a given one; both as a user writes them."""
        about = QUANTITIES[self.quantity]
        result = about.call(self.system, *states[: about.arguments])
        out = tuple(np.empty_like(x) for x in result) if isinstance(result, tuple) else np.empty_like(result)
        names = {"system": self.system, "out": out, **dict(zip("qvx", states, strict=True))}
        if about.of_body:
            words = about.words(self.system.model)
            names |= {"body": words[0], "call": self.system.bound(about.method, *words), "point": np.zeros(3)}
        return [Contestant("polhode", each, each, names, count) for each in about.texts()]

    def _difference(self, peer: Peer, states: Arrays) -> float | None:
        """The largest relative difference of the results, ours one by one and as a batch, over a few states."""
        few = [rows[:5] for rows in states]
        if peer.one(self.quantity, [rows[0] for rows in few]) is None:
            return None
        about = QUANTITIES[self.quantity]
        call = partial(about.call, self.system)
        batch = _blocks(call(*(rows.copy() for rows in few[: about.arguments])))
        worst = 0.0
        for k, state in enumerate(zip(*few, strict=True)):
            single = _blocks(call(*(x.copy() for x in state[: about.arguments])))
            for a, b, theirs in zip(single, batch, peer.result(self.quantity, state), strict=True):
                size = float(np.max(abs(theirs)))
                worst = max(worst, *(float(np.max(abs(x - theirs))) / size for x in (a, b[k])))
        largest = TOLERANCE * max(1.0, self.system.nv / 100) ** 2
        if not worst <= largest:
            where = f"bench, {self.name}, {about.title}, against {peer.name}"
            raise PolhodeError(message(where, "the results differ", f"{worst:.2e}", f"at most {largest:g}, relative"))
        return worst


def _blocks(result: Any) -> list[np.ndarray]:
    return list(result) if isinstance(result, tuple) else [result]


@contextmanager
def _own_cache() -> Iterator[Path]:
    """A cache folder for the time of the race, empty at first."""
    with tempfile.TemporaryDirectory(prefix="polhode-bench-") as folder, in_environment(POLHODE_CACHE=folder):
        yield Path(folder)
