"""Races over whole motions: many steps in compiled code, ours and others', from one start to one end.

Ours is timed twice: the compiled run alone (`CompiledRun.run`: all steps in one call, the last state kept), and the
whole `simulate` with what surrounds it (checks, kernels from memory, energies, momenta, the grade, the Dataset).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.bench.machines import machine, random_states
from polhode.bench.peers import scipy_peer
from polhode.bench.peers.registry import peer_module
from polhode.bench.timing import Contestant, Timing, race
from polhode.errors import PolhodeError, message
from polhode.formats.load import load
from polhode.integrate.methods import method_named
from polhode.model import Model
from polhode.simulation import step_state
from polhode.simulation.compiled_run import CompiledRun, RunSpec
from polhode.simulation.simulate import simulate


@dataclass(frozen=True)
class Case:
    """One motion of a bundled model, without damping, from its own start, or a random one where that is at rest.

    step     of equal steps, s; None: steps under control of the tolerance
    largest  difference of the last states, over the largest number in them, above which nothing is timed
    """

    title: str
    model: str
    method: str
    duration: float
    largest: float
    step: float | None = None
    tolerance: float | None = None
    rivals: Callable[["Case", "StartState"], Iterator["Rival"]] | None = None

    @property
    def samples(self) -> int:
        """Samples of the whole call."""
        return 2 if self.step is None else 101


@dataclass(frozen=True)
class StartState:
    """A machine and the state it starts from."""

    model: Model
    q: np.ndarray
    v: np.ndarray


@dataclass(frozen=True)
class Rival:
    """A peer's run: what is timed, and the state that it ends with, in our order, after how many steps."""

    contestant: Contestant
    end: Callable[[], np.ndarray]
    steps: Callable[[], int]


@dataclass(frozen=True)
class Simulation:
    """One motion, ours against one peer; times are seconds for the whole motion.

    timed        "engine": the compiled run alone; "simulate": the whole call, with its Dataset and its companion run;
                 "unverified": the whole call with verify=False
    steps        accepted, ours and theirs
    ratio        least time of the peer over our least time; likewise ratio_median
    difference   of the last states, before timing
    """

    title: str
    model: str
    method: str
    duration: float
    step: float | None
    tolerance: float | None
    timed: str
    steps: int
    ours: Timing
    peer: str | None
    call: str | None
    their_steps: int | None
    theirs: Timing | None
    ratio: float | None
    ratio_median: float | None
    difference: float | None


def simulation_times(seconds: float) -> tuple[list[Simulation], list[str]]:
    """All races; and what was left out."""
    found: list[Simulation] = []
    left_out: list[str] = []
    for case in CASES:
        found += _raced(case, seconds, left_out)
    return found, left_out


def _raced(case: Case, seconds: float, left_out: list[str]) -> Iterator[Simulation]:
    start = start_of(case)
    compiled = compiled_run(case, start)
    exec(compiled.text, dict(compiled.names))
    end, accepted = _end(compiled)
    rivals: list[Rival] = []
    try:
        rivals += case.rivals(case, start) if case.rivals else ()
    except ImportError:
        if "MuJoCo: not installed" not in left_out:
            left_out.append("MuJoCo: not installed")
    differences = [_difference(case, end, rival) for rival in rivals]
    ours = [compiled, whole_call(case, start, verify=False), whole_call(case, start)]
    timings = race([*ours, *(rival.contestant for rival in rivals)], seconds)
    facts = case.title, case.model, case.method, case.duration, case.step, case.tolerance
    for own, timing in zip(ours, timings, strict=False):
        for rival, theirs, difference in zip(rivals, timings[len(ours) :], differences, strict=True):
            ratios = theirs.least / timing.least, theirs.median / timing.median
            who, call = rival.contestant.who, rival.contestant.call
            yield Simulation(*facts, own.call, accepted, timing, who, call, rival.steps(), theirs, *ratios, difference)
        if not rivals:
            yield Simulation(*facts, own.call, accepted, timing, *[None] * 7)


def start_of(case: Case) -> StartState:
    """The machine of a case, and the state it starts from."""
    model, own = machine(case.model), load(case.model).start
    q, v, _ = (rows[0] for rows in random_states(model, 1))
    if own is not None and own.q is not None and own.v is not None and any(own.v):
        q, v = np.array(own.q, dtype=float), np.array(own.v, dtype=float)
    return StartState(model, q, v)


# ours


def compiled_run(case: Case, start: StartState) -> Contestant:
    """The compiled run: a table of two step states, of which the second is filled."""
    compiled = CompiledRun(RunSpec(start.model, method_named(case.method), case.step is not None))
    settings: list[Any]
    if case.step is not None:
        h, settings = case.step, [round(case.duration / case.step), case.step, 0.0]
    else:
        assert case.tolerance is not None
        h = compiled.first_step(0.0, start.q, start.v, case.tolerance, None)
        settings = [case.duration, case.tolerance, case.duration, step_state.LONGEST]
    table, first = np.empty((2, compiled.width)), compiled.start(0.0, start.q, start.v, h)
    names = {"to_the_end": to_the_end, "compiled": compiled, "first": first, "table": table, "settings": settings}
    return Contestant("polhode", "engine", "to_the_end(compiled, first, table, settings)", names)


def to_the_end(compiled: CompiledRun, first: np.ndarray, table: np.ndarray, settings: list[Any]) -> None:
    """Fill the second step state of a table with that at the end of a run; compiled code may hand it back before."""
    table[0] = first
    compiled.run(table, settings)
    while not compiled.spec.fixed and compiled.field(table[1], "t") < settings[0]:
        if compiled.field(table[1], "status") != step_state.GOING:
            raise PolhodeError(
                f"bench, {compiled.model.name}: the run ended at t = {compiled.field(table[1], 't'):.6g}"
            )
        table[0] = table[1]
        compiled.run(table, settings)


def _end(contestant: Contestant) -> tuple[np.ndarray, int]:
    """The state at the end of the compiled run, and how many steps it took."""
    compiled, state = contestant.names["compiled"], contestant.names["table"][1]
    q, v = compiled.field(state, "q"), compiled.field(state, "v")
    return np.concatenate([q, v]), int(compiled.field(state, "accepted"))


def whole_call(case: Case, start: StartState, verify: bool | None = None) -> Contestant:
    """All of `simulate`; verify=False: without its companion."""
    options: dict[str, Any] = {"duration": case.duration, "method": case.method, "samples": case.samples}
    options |= {"verify": verify, "limits": False}  # nothing stops the peers
    options |= {"step": case.step} if case.step is not None else {"tolerance": case.tolerance}
    names = {"simulate": simulate, "model": start.model, "q": start.q, "v": start.v, "options": options}
    timed = "simulate" if verify is None else "unverified"
    return Contestant("polhode", timed, "simulate(model, q, v, **options)", names)


def _difference(case: Case, end: np.ndarray, rival: Rival) -> float:
    theirs = rival.end()
    found = float(np.max(abs(end - theirs)) / np.max(abs(end)))
    if not found <= case.largest:
        where = f"bench, {case.title}, against {rival.contestant.who} {rival.contestant.call}"
        raise PolhodeError(message(where, "the last states differ", f"{found:.2e}", f"at most {case.largest:g}"))
    return found


# theirs


def mujoco_rivals(case: Case, start: StartState) -> Iterator[Rival]:
    """MuJoCo's RK4 in C: by `rollout`, which keeps every state, and by `mj_step`, which keeps the last."""
    import mujoco
    from mujoco import rollout

    assert case.step is not None
    peer, steps = peer_module("mujoco_peer").MujocoPeer(start.model), round(case.duration / case.step)
    model, data, whole = peer.model, peer.data, mujoco.mjtState.mjSTATE_FULLPHYSICS
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, case.step
    peer.put(start.q, start.v)
    first = np.empty(mujoco.mj_stateSize(model, whole))
    mujoco.mj_getState(model, data, first, whole)
    names = {
        "mujoco": mujoco, "rollout": rollout.rollout, "model": model, "data": data, "first": first, "whole": whole,
        "states": np.empty((1, steps, len(first))), "steps": steps,
    }  # fmt: skip
    texts = {
        "rollout": "rollout(model, data, first, nstep=steps, state=states)",
        "mj_step(nstep)": "mujoco.mj_setState(model, data, first, whole); mujoco.mj_step(model, data, steps)",
    }
    for call, text in texts.items():
        contestant = Contestant("MuJoCo", call, text, names)

        def end(text: str = text) -> np.ndarray:
            exec(text, dict(names))
            if "rollout" in text:
                mujoco.mj_setState(model, data, names["states"][0, -1], whole)
            return peer.state()

        yield Rival(contestant, end, lambda: steps)


def scipy_rivals(case: Case, start: StartState) -> Iterator[Rival]:
    """SciPy's DOP853 with a right-hand side in NumPy; and with one on Python's floats."""
    from scipy.integrate import solve_ivp

    x = np.concatenate([start.q, start.v])
    text = "solve_ivp(rhs, span, x, 'DOP853', t_eval, rtol=tolerance, atol=tolerance)"
    for made, how in ((scipy_peer.on_arrays, "NumPy"), (scipy_peer.on_floats, "floats")):
        span, tolerance = (0.0, case.duration), case.tolerance
        names = {"solve_ivp": solve_ivp, "rhs": made(start.model), "span": span, "x": x, "tolerance": tolerance}

        def end(names: dict[str, Any] = names) -> np.ndarray:
            return eval(text, {**names, "t_eval": None}).y[:, -1]

        def steps(names: dict[str, Any] = names) -> int:
            return len(eval(text, {**names, "t_eval": None}).t) - 1

        yield Rival(Contestant("SciPy", f"DOP853, {how}", text, {**names, "t_eval": span[1:]}), end, steps)


CASES = (
    Case("arm-7, RK4, 1000 steps of 1 ms", "arm-7", "rk4", 1.0, 1e-8, step=1e-3, rivals=mujoco_rivals),
    Case("free body, RK4, 1000 steps of 1 ms", "free-body", "rk4", 1.0, 1e-8, step=1e-3, rivals=mujoco_rivals),
    Case("heavy top, DOP853 to 1e-10, 1 s", "heavy-top", "dop853", 1.0, 1e-9, tolerance=1e-10, rivals=scipy_rivals),
)
"""The motions that are raced."""
