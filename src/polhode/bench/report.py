"""What a run of the speed page finds: rows of several kinds, and where and with what they were measured."""

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from polhode.bench.ensembles import Many
from polhode.bench.first_run import FirstRun
from polhode.bench.issue_limit import IssueLimit
from polhode.bench.loops import Growth, LoopRace
from polhode.bench.pendulums import Pendulum
from polhode.bench.simulation import Simulation
from polhode.bench.threads import Threads
from polhode.bench.timing import Timing
from polhode.bench.whole_calls import WholeCall


@dataclass(frozen=True)
class QuantityRace:
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
    rows: tuple[QuantityRace, ...] = ()
    limits: tuple[IssueLimit, ...] = ()
    first_calls: tuple[FirstCall, ...] = ()
    threads: tuple[Threads, ...] = ()
    pendulums: tuple[Pendulum, ...] = ()
    simulations: tuple[Simulation, ...] = ()
    ensembles: tuple[Many, ...] = ()
    loops: tuple[LoopRace, ...] = ()
    growth: tuple[Growth, ...] = ()
    calls: tuple[WholeCall, ...] = ()
    first_runs: tuple[FirstRun, ...] = ()
    left_out: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return asdict(self)


KINDS = {
    "rows": QuantityRace,
    "limits": IssueLimit,
    "first_calls": FirstCall,
    "threads": Threads,
    "pendulums": Pendulum,
    "simulations": Simulation,
    "loops": LoopRace,
    "growth": Growth,
    "ensembles": Many,
    "calls": WholeCall,
    "first_runs": FirstRun,
}
"""The kinds of rows, by their place in the report."""


TIMING_FIELDS = {field.name for field in fields(Timing)}


def report_json(report: Report) -> str:
    """The report as JSON text."""
    return json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n"


def report_from_json(text: str) -> Report:
    """The report of a JSON text."""
    data = json.loads(text)
    rows = {name: tuple(kind(**_timed(row)) for row in data.get(name, [])) for name, kind in KINDS.items()}
    return Report(**{**data, **rows, "left_out": tuple(data["left_out"])})


def _timed(row: dict[str, Any]) -> dict[str, Any]:
    """The fields of a row, with times as they were."""
    return {
        name: Timing(**value) if isinstance(value, dict) and value.keys() == TIMING_FIELDS else value
        for name, value in row.items()
    }
