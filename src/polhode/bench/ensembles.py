"""Races over many motions at once: our batches against MuJoCo's `rollout` on one core, and two threads against one.

Both sides follow the same runs from the same random starts by RK4. `rollout` keeps every state; our batches keep every
hundredth. The last states are compared before anything is timed.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.bench.machines import machine, random_states
from polhode.bench.peers.registry import peer_module
from polhode.bench.timing import Contestant, Timing, race
from polhode.errors import PolhodeError, message
from polhode.integrate.methods import method_named
from polhode.simulation.batch.batch_records import BatchSpec, equal_steps
from polhode.simulation.batch.batch_run import BatchRun
from polhode.simulation.compiled_run import RunSpec

STEP, EVERY = 1e-3, 100
"""Step of every run, s; steps between its samples."""
SLOW = 0.3
"""Factor on the velocities of random states: both sides resolve such runs at this step."""
LARGEST = 1e-8
"""Difference of the last states, over the largest number in them, above which nothing is timed."""
THREADS = 2


@dataclass(frozen=True)
class Many:
    """Many runs, ours against a rival (MuJoCo, or our own several threads); times are seconds per step of one run.

    model    the machine;  runs, steps  how many, and steps of each
    ratio    least time of the rival over our least time; with threads, one thread's over several's
    """

    model: str
    runs: int
    steps: int
    rival: str
    ours: Timing
    theirs: Timing
    ratio: float
    ratio_median: float
    difference: float


@dataclass(frozen=True)
class Field:
    """Many starts of one machine, and our batch run of them."""

    name: str
    runs: int
    steps: int

    def names(self) -> dict[str, Any]:
        """All that a contestant's text needs."""
        model = machine(self.name)
        lanes = BatchRun(BatchSpec(RunSpec(model, method_named("rk4"), True)))
        q, v, _ = random_states(model, self.runs)
        timing = equal_steps(self.steps * STEP, STEP, EVERY)
        return {
            "lanes": lanes, "q": q, "v": SLOW * v, "p": np.zeros((self.runs, 0)), "timing": timing, "model": model,
        }  # fmt: skip

    def contestant(self, names: dict[str, Any], threads: int) -> Contestant:
        """Our batch run."""
        text = f"lanes.run(q, v, p, timing, {threads})"
        return Contestant("polhode", f"{threads} threads" if threads > 1 else "lanes", text, names, self.count)

    @property
    def count(self) -> int:
        """Steps of all runs together."""
        return self.runs * self.steps


RIVALS = (Field("arm-7", 64, 200), Field("free-body", 128, 500))
"""What is raced against MuJoCo."""
THREADED = Field("arm-7", 1024, 400)
"""What is raced on several threads."""


def ensemble_times(seconds: float, threads: bool = True) -> tuple[list[Many], list[str]]:
    """All races; and what was left out."""
    found: list[Many] = []
    left_out: list[str] = []
    try:
        found += _against_mujoco(seconds)
    except ImportError:
        left_out.append("MuJoCo: not installed")
    if threads:
        found.append(_threaded(seconds))
    return found, left_out


def _against_mujoco(seconds: float) -> Iterator[Many]:
    from mujoco import rollout

    for field in RIVALS:
        names = field.names()
        end = names["lanes"].run(*(names[x] for x in ("q", "v", "p", "timing")))
        first, peer, whole = _mujoco_starts(names)
        states = np.empty((field.runs, field.steps, first.shape[1]))
        theirs = {"rollout": rollout.rollout, "model": peer.model, "data": peer.data, "first": first, "states": states}
        text = f"rollout(model, data, first, nstep={field.steps}, state=states)"
        exec(text, theirs)
        difference = _difference(field, end, peer, states[:, -1], whole)
        rival = Contestant("MuJoCo", "rollout", text, theirs, field.count)
        ours, other = race([field.contestant(names, 1), rival], seconds)
        ratios = other.least / ours.least, other.median / ours.median
        yield Many(field.name, field.runs, field.steps, "MuJoCo rollout", ours, other, *ratios, difference)


def _mujoco_starts(names: dict[str, Any]) -> tuple[np.ndarray, Any, Any]:
    """MuJoCo's own states of our starts, its machine, and the kind of state."""
    import mujoco

    peer, whole = peer_module("mujoco_peer").MujocoPeer(names["model"]), mujoco.mjtState.mjSTATE_FULLPHYSICS
    peer.model.opt.integrator, peer.model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, STEP
    first = np.empty((len(names["q"]), mujoco.mj_stateSize(peer.model, whole)))
    for row, q, v in zip(first, names["q"], names["v"], strict=True):
        peer.put(q, v)
        mujoco.mj_getState(peer.model, peer.data, row, whole)
    return first, peer, whole


def _difference(field: Field, end: Any, peer: Any, states: np.ndarray, whole: Any) -> float:
    """The largest difference of the last states, ours and MuJoCo's."""
    import mujoco

    found = 0.0
    for k, state in enumerate(states):
        mujoco.mj_setState(peer.model, peer.data, state, whole)
        own = np.concatenate([end.q_end[k], end.v_end[k]])
        found = max(found, float(np.max(abs(peer.state() - own)) / np.max(abs(own))))
    if not found <= LARGEST:
        where = f"bench, ensembles, {field.name}, against MuJoCo"
        raise PolhodeError(message(where, "the last states differ", f"{found:.2e}", f"at most {LARGEST:g}"))
    return found


def _threaded(seconds: float) -> Many:
    """Two threads against one, on the clock on the wall; both give the same bits."""
    field = THREADED
    names = field.names()
    given = [names[x] for x in ("q", "v", "p", "timing")]
    alone, together = names["lanes"].run(*given, 1), names["lanes"].run(*given, THREADS)
    if not all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(alone, together, strict=True)):
        raise PolhodeError(message("bench, ensembles", "the results differ", f"{THREADS} threads", "the same bits"))
    contestants = [field.contestant(names, threads) for threads in (1, THREADS)]
    one, several = race(contestants, seconds, time.perf_counter)
    ratios = one.least / several.least, one.median / several.median
    return Many(field.name, field.runs, field.steps, f"{THREADS} threads", one, several, *ratios, 0.0)
