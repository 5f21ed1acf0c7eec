"""Machines with closed loops against Exudyn, at equal accuracy; and how the cost of a step grows with their length.

Exudyn runs at a given step; its error is that of mass centres and of their velocities at the end, against a run of
ours to 1e-11. Ours then runs to the loosest tolerance that is no less accurate. Only then are both timed, in turn.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polhode.bench.peers.registry import peer_module
from polhode.bench.simulation import Case, StartState, compiled_run, whole_call
from polhode.bench.timing import Contestant, Timing, race
from polhode.errors import PolhodeError, message
from polhode.formats.load import load

REFERENCE = 1e-11
"""Tolerance of the run that errors are measured against."""
TOLERANCES = tuple(10.0 ** (-k / 2) for k in range(2, 21))
"""Tolerances from which ours is chosen, loosest first."""
TURNS = 3
"""The fewest runs of each contestant: some of Exudyn's take seconds."""
METHOD = "dop853"
LENGTHS = (10, 20, 50, 100, 200)
"""Links of the closed chains whose steps are timed."""
STEPS = 50


@dataclass(frozen=True)
class LoopCase:
    """A motion of a bundled model from its own start, and the steps of Exudyn, s."""

    title: str
    model: str
    duration: float
    steps: tuple[float, ...]
    planar: bool = True


CASES = (
    LoopCase("A02, 40 four-bars, 10 s", "n-four-bar-40", 10.0, (1e-2, 2e-3)),
    LoopCase("Bricard, 5 s", "bricard", 5.0, (1e-2, 1e-3), planar=False),
    LoopCase("closed chain of 50 links, 0.5 s", "closed-chain-50", 0.5, (5e-3, 1e-3)),
)
"""The motions that are raced."""


@dataclass(frozen=True)
class LoopRace:
    """One motion at one accuracy; times are seconds for the whole motion.

    timed            "engine": the compiled run alone; "simulate": the whole call, with its Dataset
    error            of ours at the end, over the largest position and velocity
    ratio            least time of the peer over our least time; likewise ratio_median
    """

    title: str
    model: str
    timed: str
    tolerance: float
    taken: int
    error: float
    ours: Timing
    peer: str | None
    step: float | None
    their_error: float | None
    theirs: Timing | None
    ratio: float | None
    ratio_median: float | None


@dataclass(frozen=True)
class Growth:
    """A closed chain: seconds for one RK4 step, projection included."""

    links: int
    ours: Timing


def loop_times(seconds: float) -> tuple[list[LoopRace], list[str]]:
    """All races; and what was left out."""
    try:
        peer_module("exudyn_peer")
    except ImportError:
        return [], ["Exudyn: not installed"]
    return [row for case in CASES for row in raced(case, seconds)], []


def raced(case: LoopCase, seconds: float) -> Iterator[LoopRace]:
    """One motion, at the accuracy of each of the peer's steps."""
    exudyn = peer_module("exudyn_peer")
    model = load(case.model)
    assert model.start is not None
    start = StartState(model, np.array(model.start.q, dtype=float), np.array(model.start.v, dtype=float))
    compiled = compiled_run(_ours(case, REFERENCE), start)

    def run(tolerance: float) -> tuple[np.ndarray, int]:
        compiled.names["settings"][1] = tolerance
        exec(compiled.text, dict(compiled.names))
        run, state = compiled.names["compiled"], compiled.names["table"][1]
        return exudyn.centers(model, run.field(state, "q"), run.field(state, "v")), int(run.field(state, "accepted"))

    best, _ = run(REFERENCE)
    ends = {tolerance: run(tolerance) for tolerance in TOLERANCES}
    peer = exudyn.ExudynPeer(model, start.q, start.v, case.planar)
    for step in case.steps:
        names = {"mbs": peer.mbs, "settings": peer.settings(case.duration, step)}
        theirs = Contestant(peer.name, "SolveDynamic", "mbs.SolveDynamic(settings)", names)
        exec(theirs.text, dict(names))
        their_error = error(peer.centers(), best)
        good = (tolerance for tolerance in TOLERANCES if error(ends[tolerance][0], best) <= their_error)
        tolerance = next(good, None)
        if tolerance is None:
            where = f"bench, {case.title}, against {peer.name} in steps of {step:g} s"
            raise PolhodeError(message(where, "no run of ours is as accurate", f"{their_error:.1e}", "a larger error"))
        end, taken = ends[tolerance]
        compiled.names["settings"][1] = tolerance
        mine = _ours(case, tolerance)
        ours = [compiled, whole_call(mine, start, verify=False), whole_call(mine, start)]
        *times, other = race([*ours, theirs], seconds, fewest=TURNS)
        for contestant, timing in zip(ours, times, strict=True):
            ratios = other.least / timing.least, other.median / timing.median
            yield LoopRace(
                case.title,
                case.model,
                contestant.call,
                tolerance,
                taken,
                error(end, best),
                timing,
                peer.name,
                step,
                their_error,
                other,
                *ratios,
            )


def error(found: np.ndarray, best: np.ndarray) -> float:
    """The relative error of mass centres and velocities (bodies, 6), each half over its largest number."""
    parts = [float(np.max(abs(found[:, k] - best[:, k])) / np.max(abs(best[:, k]))) for k in (slice(3), slice(3, 6))]
    return max(parts)


def growth_times(seconds: float) -> list[Growth]:
    """A step of closed chains of growing length, all taking turns."""
    contestants = []
    for links in LENGTHS:
        model = load(f"closed-chain-{links}")
        assert model.start is not None
        start = StartState(model, np.array(model.start.q, dtype=float), np.array(model.start.v, dtype=float))
        case = Case(model.name, model.name, "rk4", STEPS * 1e-4, 1.0, step=1e-4)
        run = compiled_run(case, start)
        contestants.append(Contestant(run.who, run.call, run.text, run.names, STEPS))
    found = race(contestants, seconds)
    return [Growth(links, timing) for links, timing in zip(LENGTHS, found, strict=True)]


def _ours(case: LoopCase, tolerance: float) -> Case:
    return Case(case.title, case.model, METHOD, case.duration, 1.0, tolerance=tolerance)
