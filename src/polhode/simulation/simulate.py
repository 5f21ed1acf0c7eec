"""`ph.simulate`: a model, a start and a method in; a graded Dataset out."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.check.constraint_monitor import JOINTS, ConstraintMonitor
from polhode.check.given_start import start_of
from polhode.check.initial_state import check_start, consistent_start
from polhode.constrain.constraint_policy import (
    DEFAULT,
    DEFAULT_POLICY,
    TOLERANCE,
    ConstraintPolicy,
    constraint_policy_of,
)
from polhode.dynamics.single import forms
from polhode.errors import InputError, did_you_mean, message
from polhode.formats.yaml import kept_text
from polhode.integrate.bound import BOUND
from polhode.integrate.method import Method
from polhode.integrate.methods import method_named
from polhode.model import Model, check_model
from polhode.result.checks import Residual, Steps, error_estimate, grade
from polhode.result.dataset import VARIABLES, Facts, Trajectory, completed, dataset
from polhode.result.symmetry import Conserved, conserved
from polhode.result.verdict import Grade
from polhode.scalar import Array, a_list, as_array, flag, real_number
from polhode.simulation.compiled_run import CompiledRun, RunSpec
from polhode.simulation.inputs import Sampled, Table, breaks
from polhode.simulation.lazy_range import LazyRange
from polhode.simulation.observer import Observer
from polhode.simulation.replayed_steps import ReplayedRun, replayed
from polhode.simulation.run_by_form import RunByForm, is_single
from polhode.simulation.run_loop import Event, RunLoop, Samples, Segment, listed
from polhode.simulation.sensitivity import Sensitivities
from polhode.simulation.step_state import LARGEST, Crossing
from polhode.simulation.sundials_run import SUNDIALS, Peer, check_peer
from polhode.simulation.tree_run_by_form import TreeRunByForm
from polhode.simulation.work_limits import (
    IN_MEMORY,
    MAX_BYTES,
    MAX_STEPS,
    Limits,
    check_samples,
    check_steps,
    limits_of,
)

if TYPE_CHECKING:
    import xarray as xr

DURATION = 10.0
"""Seconds of a run that says nothing else."""

SAMPLES = 1001
"""Samples of a run that says nothing else, its start and its end among them."""

ROUNDING = 1e-14
"""Times that differ by less than this part of the duration are the same."""

TIGHTEST = 1e-14
"""The smallest tolerance that doubles can promise."""

NORMS = ("state", "none")
"""What keeps quaternions at unit length in methods that add: they are brought back after every step, or nothing."""

ON_GROUP = ("implicit-midpoint", "generalized-alpha")
"""Implicit methods that turn quaternions rather than add to them."""

Progress = Callable[[float, float], None]
"""Called with the part of the run that is done, and the time reached."""


@dataclass(frozen=True)
class Settings:
    """A run as asked for, checked: everything but its inputs."""

    model: Model
    q: np.ndarray
    v: np.ndarray
    duration: float
    method: str
    step: float | None
    tolerance: float
    times: np.ndarray | None
    every: int | None
    norm: str
    form: str | None = None
    way: ConstraintPolicy = DEFAULT_POLICY
    """How constraints are met."""
    moved: Mapping[str, float] = field(default_factory=dict)
    """Rows of constraints that the given start violated, and by how much, where it was moved."""
    limits: Limits = IN_MEMORY
    """The work that the run may take."""


def simulate(
    model: Model,
    q: Array | None = None,
    v: Array | None = None,
    duration: float | None = None,
    tau: Any = None,
    step: float | None = None,
    method: str | None = None,
    tolerance: float = 1e-9,
    *,
    samples: int | Array | None = None,
    every: int | None = None,
    events: Sequence[Event] = (),
    norm: str = "state",
    form: str | None = None,
    engine: str = DEFAULT,
    rank_tolerance: float = TOLERANCE,
    constraints: str = "project",
    baumgarte: Sequence[float] | None = None,
    move_start: bool = False,
    verify: bool = False,
    sensitivities: Sequence[str] = (),
    keep: Sequence[str] | None = None,
    progress: Progress | None = None,
    model_text: str = "",
    max_steps: float = MAX_STEPS,
    max_bytes: float = MAX_BYTES,
) -> "xr.Dataset":
    """Follow the motion of a model.

    q, v, duration  the model's start unless given; else zero angles, identity quaternions, at rest, 10 s
    tau        generalised forces: (nv,); {joint: force}; Table(times, values); a function of (t, q, v) on generic
               scalars; PD, ComputedTorque; Sampled(function, period) for a controller in Python
    step       equal steps of this size, s; None: steps under control of the tolerance
    method     a name of ph.methods; "dop853" unless the model's start says another; or a peer's: "cvode", "cvode-bdf",
               "ida" of SUNDIALS (pip install scikit-sundae)
    tolerance  of every step, relative and absolute, down to 1e-14
    samples    how many, or their times; 1001 unless given; with equal steps, of those that end at a sample
    every      with equal steps: a sample every so many
    events     zeros to watch for, see Event
    norm       "state": quaternions are brought back to unit length after each step; "none": they are left alone
    form       a name of ph.forms: one body runs in the form's own variables, by RK4 with equal steps (step=…); norm may
               be "p" too; the multiplier and its prediction are in the Dataset. Machines: every body in (p, ṗ), joints
               held in accelerations alone, under gravity; `quaternion_norm`, `joint_residual` tell how well
    engine     how constraints are met: "fundamental" (Udwadia's equation), "multipliers", "null-space", or "absolute"
               (Euler parameters of every body, joints as constraints too)
    rank_tolerance  what is left of a row of constraints, relative to its size, below which it counts as dependent
    constraints  what keeps them: "project" (positions and velocities, after each step), "baumgarte", "ggl" (index 2, by
               radau2, radau3), "index-3" (positions alone, by generalized-alpha), "none"
    baumgarte  (α, β), 1/s: violations obey φ̈ + 2α φ̇ + β² φ = 0; (5, 5) unless given
    move_start  True: a start that violates constraints is moved to the nearest that does not, and what it missed is in
               `run.attrs["start_moved"]`; else it is refused
    verify     estimate the error by a second run, with a hundredth of the tolerance or half the step
    sensitivities  paths of numbers ("bodies.arm.mass", "gravity", a Parameter's name), "start.q", "start.v", "tau":
               derivatives by them of q (along the velocities) and v, times fixed: `sensitivity_q`, `sensitivity_v`
    keep       names of the variables that the Dataset holds, as ["q", "total_energy"]; all unless given, but for
               "joint_force" and "joint_torque", what every joint carries
    progress   called with the part that is done and the time reached
    max_steps  a run of more equal steps is refused; one that takes, or at its pace would take, more controlled steps
               ends as failed
    max_bytes  a run whose samples would take more memory is refused
    ->         Dataset: `status`, `reason` and the grade are in its attributes; a run that fails returns what there is
    """
    keep, sensitivities = _names("keep", keep), _names("sensitivities", sensitivities) or ()
    limits = limits_of("simulate", max_steps, max_bytes)
    if progress is not None and not callable(progress):
        found = repr(progress)[:60]
        raise InputError(message("simulate, progress", "not a function", found, "a function of (part, time)"))
    _check_kept(keep)
    if method is not None and not isinstance(method, str):
        _method(method)  # refuses it
    verify, move_start = flag("simulate, verify", verify), flag("simulate, move_start", move_start)
    if form is not None:
        forms[form]
        _check_form(step, method, events, sensitivities)
        method = "rk4"
    if method in SUNDIALS:
        held = isinstance(tau, Sampled) or (isinstance(tau, Table) and tau.hold)
        check_peer(method, step, events, sensitivities, held)
    way = constraint_policy_of("simulate", engine, rank_tolerance, constraints, baumgarte)
    method = fitting(model, way, method, sensitivities)
    asked = step, method, tolerance, samples, every, norm, form, move_start, limits, tau, way.rank_tolerance
    settings = settings_of(model, q, v, duration, *asked)
    settings = replace(settings, way=way)
    run = Run(settings, tau, events, keep=keep)
    beside = Sensitivities(run.replayed("simulate, sensitivities"), sensitivities) if len(sensitivities) else None
    for _ in run.blocks(progress):
        pass
    error = _second_run(settings, tau, events, run) if verify else None
    result = run.result(error, model_text)
    if keep is not None:
        result = result[[name for name in result.data_vars if name in keep or "event" in result[name].dims]]
    return beside.added(result) if beside else result


def fitting(model: Model, way: ConstraintPolicy, method: str | None, sensitivities: Sequence[str] = ()) -> str | None:
    """The method of a run, which some ways to keep constraints choose; or an error where the two do not fit."""
    where = "simulate, constraints"
    if way.keeping != "project" and isinstance(model, Model) and not model.constraints:
        found = f"{way.keeping!r} for model '{model.name}'"
        raise InputError(message(where, "the model has no constraints", found, "a model with constraints=[…]"))
    if way.keeping not in BOUND:
        return method
    if len(sensitivities):
        fix = "Take constraints='project'."
        raise InputError(message(where, "no derivatives of such a run", repr(way.keeping), "'project'", fix))
    known = BOUND[way.keeping]
    if method is not None and method not in known:
        raise InputError(message(where, f"{way.keeping!r} is a matter of its method", repr(method), " or ".join(known)))
    return next(iter(known)) if method is None else method


def _check_form(step: Any, method: Any, events: Sequence[Event], sensitivities: Sequence[str]) -> None:
    """Refuse what a run by a form does not take."""
    if step is None or method not in (None, "rk4"):
        found = f"method {method!r}, step {step!r}"
        raise InputError(
            message("simulate, form", "a form runs by RK4 with equal steps", found, "step=…, method 'rk4'")
        )
    if len(events) or len(sensitivities):
        found = "events" if len(events) else "sensitivities"
        raise InputError(message("simulate, form", "not with a form", found, "neither events nor sensitivities"))


def _names(option: str, given: Any) -> list[str] | None:
    """Names that were given as a list of texts; or an error."""
    if given is None:
        return None
    names = a_list(f"simulate, {option}", given, f"a list of names, as {option}=['q']")
    for name in names:
        if not isinstance(name, str):
            raise InputError(message(f"simulate, {option}", "not a name", repr(name)[:60], "text"))
    return names


def _check_kept(keep: Sequence[str] | None) -> None:
    """Refuse a name that no variable has, before the run."""
    for name in keep or ():
        if name not in VARIABLES:
            fix = did_you_mean(name, VARIABLES)
            raise InputError(message("simulate, keep", "no such variable", repr(name), ", ".join(VARIABLES), fix))


class Run:
    """One run: its engine, its loop, and the samples so far."""

    def __init__(
        self,
        settings: Settings,
        tau: Any,
        events: Sequence[Event],
        warn: bool = True,
        keep: Sequence[str] | None = None,
    ) -> None:
        self.settings, self.tau, self.events = settings, tau, listed(events)
        self.wanted = [name for name in VARIABLES if name not in JOINTS] if keep is None else list(keep)
        """The variables that the Dataset is to hold."""
        model, way = settings.model, settings.way
        chosen = BOUND[way.keeping][settings.method] if way.keeping in BOUND else _method(settings.method)
        self.fixed = settings.step is not None
        crossings = tuple(Crossing(event.function, event.direction, event.name) for event in self.events)
        zero, start, held = model.zero, (settings.q, settings.v), is_held(settings, tau)
        spec = RunSpec(model, chosen, self.fixed, tau, crossings, settings.norm, zero, start, held, way)
        self.compiled = CompiledRun(spec, warn)
        self.segments = _segments(settings, tau)
        self.loop = RunLoop(self.compiled, self.segments, settings.tolerance, self.events, settings.limits.steps)
        self.loop.position.q, self.loop.position.v = settings.q.copy(), settings.v.copy()
        self.kept: list[Samples] = []
        self.peer = Peer(self.compiled, settings.method, settings.tolerance) if settings.method in SUNDIALS else None
        self.formed: RunByForm | TreeRunByForm | None = None
        if settings.form:
            asked = model, settings.form, settings.norm, *start, tau
            self.formed = RunByForm(*asked) if is_single(model) else TreeRunByForm(*asked, way)

    def replayed(self, where: str) -> ReplayedRun:
        """What derivatives of the run need of it, or an error."""
        settings = self.settings
        return replayed(self.compiled, self.segments, settings.q, settings.v, settings.tolerance, self.events, where)

    def blocks(self, progress: Progress | None = None) -> Any:
        """Run, block by block; Ctrl-C ends the run with what there is."""
        try:
            for block in self._course():
                self.kept.append(block)
                if progress:
                    progress(self.loop.position.t / self.settings.duration, self.loop.position.t)
                yield block
        except KeyboardInterrupt:
            self.kept.extend(self.loop.reached())
            self.loop.ending.status = "interrupted"
            self.loop.ending.reason = f"by its user, at t = {self.loop.position.t:.6g}"

    def _course(self) -> Iterable[Samples]:
        """The blocks of the run: by a form, by a peer, or by its own engine."""
        if self.formed:
            return self._by_form(self.formed)
        return self._by_peer(self.peer) if self.peer else self.loop

    def _by_peer(self, peer: Peer) -> Iterable[Samples]:
        at = self.loop.position
        for block in peer.blocks(self.segments, self.settings.q, self.settings.v, self.loop.ending):
            at.t = float(block.time[-1])
            yield block

    def _by_form(self, formed: RunByForm | TreeRunByForm) -> Iterable[Samples]:
        """The blocks of a run by a form, up to where it leaves the numbers."""
        at, ending, h = self.loop.position, self.loop.ending, float(self.settings.step or 0.0)
        for block in formed.blocks(self.segments):
            good = int(np.sum(np.cumprod(np.all(abs(np.hstack([block.q, block.v])) < LARGEST, axis=1))))
            at.t = float(block.time[good - 1]) if good else at.t
            ending.accepted, ending.smallest = round(at.t / h), h
            if good:
                yield Samples(*(part[:good] for part in block[:4]))
            if good < len(block.time):
                ending.status, ending.reason = "failed", f"after t = {at.t:.9g}: the state is beyond all bounds"
                return

    def arrays(self) -> dict[str, np.ndarray]:
        """All samples so far, by name."""
        return joined(self.kept or [self.loop.start()])

    def result(self, error: float | None = None, model_text: str = "") -> "xr.Dataset":
        """The Dataset of the samples so far, graded."""
        arrays = self.arrays()
        residuals = self.residuals([arrays])
        observed = self.observed(arrays)
        whole = completed(self.settings.model, {**arrays, **observed})
        return self.described(arrays, self.mark([whole], error, residuals), model_text, observed)

    def residuals(self, parts: Iterable[Mapping[str, np.ndarray]]) -> dict[str, Residual]:
        """What constraints miss at most in each part of the samples, for the grade."""
        if not self.compiled.constrained:
            return {}
        missed = [self.compiled.missed(*(part[name] for name in ("time", "q", "v"))).relative for part in parts]
        worst = np.array([np.max(abs(each), axis=0, initial=0.0) for each in missed])
        return {"constraints": Residual(worst, note="in lengths of the machine or radians, and per second")}

    def described(
        self,
        arrays: Mapping[str, np.ndarray],
        mark: Grade | None,
        model_text: str,
        observed: dict[str, np.ndarray] | None = None,
    ) -> "xr.Dataset":
        """The Dataset of some samples of the run."""
        model, events = self.settings.model, self.loop.ending.events
        extra = self.formed.extras(arrays["q"], arrays["v"]) if self.formed else {}
        found = self.observed(arrays) if observed is None else observed
        named = self._watch.labels if self.compiled.constrained else {}
        if any(name in found for name in JOINTS) or any("joint" in x.dims for x in extra.values()):
            named["joint"] = [joint.name for joint in model.joints]
        trajectory = Trajectory(arrays["time"], arrays["q"], arrays["v"], found, extra, named, events)
        result = dataset(model, trajectory, self.facts(mark, model_text))
        if "multiplier" in found:
            units = {"long_name": "unit of this multiplier"}
            result = result.assign_coords(multiplier_units=("constraint", self._watch.multiplier_units, units))
        return result

    def whole(self, arrays: Mapping[str, np.ndarray], wanted: Sequence[str] | None = None) -> dict[str, np.ndarray]:
        """Samples with everything that is observed of them; wanted: of constraints, those variables alone."""
        return completed(self.settings.model, {**arrays, **self.observed(arrays, wanted)})

    def mark(
        self,
        parts: Iterable[Mapping[str, np.ndarray]],
        error: float | None = None,
        residuals: Mapping[str, Residual] | None = None,
    ) -> Grade:
        """The grade of the run, from its samples in parts."""
        settings, ending = self.settings, self.loop.ending
        steps = Steps(ending.accepted, ending.rejected, ending.smallest, math.nan, ending.largest)
        return grade(
            parts, None if self.fixed else settings.tolerance, self.conserved(), steps, settings.model,
            residuals, error, status=ending.status, reason=ending.reason,
        )  # fmt: skip

    def conserved(self) -> Conserved:
        """What the motion should keep."""
        driven = [joint.name for joint in self.settings.model.joints if joint.nv] if self.tau is not None else []
        resets = any(event.reset for event in self.events)
        found = conserved(self.settings.model, driven)
        return Conserved(False, (), (), found.mass, found.length, "resets at events") if resets else found

    def facts(self, mark: Grade | None, model_text: str) -> Facts:
        """What made the run, and how it ended."""
        settings, ending = self.settings, self.loop.ending
        chosen = self.compiled.spec.method
        on_group = chosen.name in ON_GROUP or settings.way.keeping in BOUND
        lie = chosen.family in ("Lie group", "structure-preserving") or on_group
        return Facts(
            method=settings.method,
            step=settings.step,
            tolerance=None if self.fixed else settings.tolerance,
            norm_policy="none" if self.peer else "Lie group" if lie else settings.norm,
            status=ending.status,
            reason=ending.reason,
            model_text=model_text,
            grade=mark,
            more={
                "steps_taken": ending.accepted,
                "steps_refused": ending.rejected,
                "form": settings.form,
                "model_yaml": kept_text(settings.model),
                **self._way(),
                **self._told,
            },
        )

    def _way(self) -> dict[str, str | float]:
        """How the constraints were met, if there are any."""
        way = self.settings.way
        if self.peer or (self.formed and not way.baumgarte):
            way = replace(way, keeping="none")
        kept = f"baumgarte {way.baumgarte[0]:g} {way.baumgarte[1]:g}" if way.baumgarte else way.keeping
        known: dict[str, str | float] = {
            "engine": way.engine,
            "rank_tolerance": way.rank_tolerance,
            "constraint_policy": kept,
        }
        return known if self.compiled.constrained else {}

    @cached_property
    def _observer(self) -> Observer:
        return Observer(self.settings.model)

    @cached_property
    def _watch(self) -> ConstraintMonitor:
        return ConstraintMonitor(self.compiled.system)

    @cached_property
    def _told(self) -> dict[str, str]:
        """Rows of constraints that hold by themselves: what no sample tells."""
        if not self.compiled.constrained:
            return {}
        moved = {"start_moved": json.dumps(self.settings.moved)} if self.settings.moved else {}
        return {"idle_constraints": json.dumps(self._watch.idle), **moved}

    def observed(self, arrays: Mapping[str, np.ndarray], wanted: Sequence[str] | None = None) -> dict[str, np.ndarray]:
        """Poses, velocities, energies, momenta and inputs at samples."""
        found = self._observer(arrays["q"], arrays["v"])
        found["step_size"] = arrays["step_size"]
        tau = self.compiled.forces(*(arrays[name] for name in ("time", "q", "v")))
        tau = arrays.get("tau") if tau is None else tau
        if tau is not None:
            found["tau"] = tau
        asked = self.wanted if wanted is None else wanted
        wanted = asked if self.compiled.constrained else [name for name in asked if name in JOINTS]
        return found | self._watch(arrays, np.zeros_like(arrays["v"]) if tau is None else tau, wanted)


def joined(blocks: Sequence[Samples]) -> dict[str, np.ndarray]:
    """Blocks of samples as arrays by name."""
    found = {
        name: np.concatenate([getattr(block, name) for block in blocks]) for name in ("time", "q", "v", "step_size")
    }
    levels = [block.level for block in blocks if block.level is not None]
    if levels:
        found["tau"] = np.concatenate(levels)
    return found


def _second_run(settings: Settings, tau: Any, events: Sequence[Event], first: Run) -> float:
    """The error of a run, by one with a hundredth of its tolerance or half its step."""
    second = Run(tighter(settings), tau, events, warn=False)
    for _ in second.blocks():
        pass
    a, b = first.arrays(), second.arrays()
    n = min(len(a["time"]), len(b["time"]))
    return error_estimate(settings.model, *({name: x[name][:n] for name in ("q", "v")} for x in (a, b)))


def tighter(settings: Settings) -> Settings:
    """The same run with a hundredth of its tolerance, or half its step."""
    if settings.step is None:
        return replace(settings, tolerance=max(settings.tolerance / 100, TIGHTEST))
    return replace(settings, step=settings.step / 2, every=2 * (settings.every or _every(settings)))


# what a user gave, checked


def settings_of(
    model: Model,
    q: Any,
    v: Any,
    duration: Any,
    step: Any,
    method: Any,
    tolerance: Any,
    samples: Any,
    every: Any,
    norm: str,
    form: str | None = None,
    move_start: bool = False,
    limits: Limits = IN_MEMORY,
    tau: Any = None,
    rank_tolerance: float = TOLERANCE,
) -> Settings:
    """What a user asked for, as in `simulate`, or the error that tells what is wrong with it."""
    check_model("simulate", model)
    if not model.bodies:
        raise InputError(message(f"simulate, model '{model.name}'", "nothing to move", "no bodies", "at least one"))
    start = model.start
    q, v = start_of(model, q, v)
    moved: dict[str, float] = {}
    if move_start:
        q, v, moved, _ = consistent_start(model, q, v, rank_tolerance=rank_tolerance)
    check_start(model, q, v, rank_tolerance)
    if duration is None:
        duration = start.duration if start and start.duration is not None else DURATION
    duration = _positive("duration", duration, "seconds above 0")
    name = method if method is not None else start.method if start else None
    name = "dop853" if name is None else name
    chosen = _method(name)
    if step is not None:
        step = _positive("step", step, "seconds above 0, or None for steps under control of the tolerance")
    elif not chosen.adaptive:
        adaptive = "dop853, dopri54, bs32"
        fix = f"Give step=…, or take a method that controls its own: {adaptive}."
        raise InputError(message("simulate, step", f"'{name}' takes equal steps", "no step", "its size", fix))
    if (
        isinstance(tolerance, bool)
        or not isinstance(tolerance, (int, float, np.floating))
        or not TIGHTEST <= tolerance < 1
    ):
        raise InputError(message("simulate, tolerance", "out of range", repr(tolerance), f"{TIGHTEST:g} to 1"))
    if form is None and norm not in NORMS:
        fix = "For steps on the group itself take a Lie-group method: rkmk4, cf4, rkmk-dop853."
        raise InputError(message("simulate, norm", "no such policy", repr(norm), " or ".join(map(repr, NORMS)), fix))
    if every is not None and (step is None or samples is not None or not is_whole(every) or every < 1):
        expected = "a whole number above 0, with equal steps (step=…) and without samples=…"
        raise InputError(message("simulate, every", "does not fit", repr(every), expected))
    every = None if every is None else int(every)
    _check_work(model, duration, step, samples, every, tau, limits)
    times = None if samples is None else _times(samples, duration)
    return Settings(
        model, q, v, duration, name, step, float(tolerance), times, every, norm, form, moved=moved, limits=limits
    )


def _check_work(
    model: Model, duration: float, step: float | None, samples: Any, every: int | None, tau: Any, limits: Limits
) -> None:
    """Refuse a run that would take more steps or more bytes than its limits."""
    steps = 0.0 if step is None else _quotient(duration, step)
    check_steps("simulate, step", steps, limits)
    count = samples if is_whole(samples) else 0
    breaks = _quotient(duration, tau.period) if isinstance(tau, Sampled) else 0.0
    check_steps("simulate, tau, period", breaks, limits)
    kept = steps / every if every else float(min(max(count, 0), 10**300))
    check_samples("simulate, samples", kept, model, limits, breaks)


def _quotient(a: float, b: float) -> float:
    """a / b of numbers above 0, infinite where it is too large."""
    try:
        return a / b
    except OverflowError:
        return math.inf


def is_whole(value: Any) -> bool:
    """Whether it is a whole number."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _method(name: str) -> Method:
    """The method of a name; for a peer's solver one that stands in for it where it is not asked."""
    return method_named("dop853" if isinstance(name, str) and name in SUNDIALS else name)


def _positive(name: str, value: Any, expected: str) -> float:
    return real_number(f"simulate, {name}", value, expected, 0.0)


def _times(samples: Any, duration: float) -> np.ndarray:
    """The times of the samples, from 0 to the duration."""
    if is_whole(samples):
        if samples < 2:
            raise InputError(message("simulate, samples", "too few", repr(samples), "2 or more: start and end"))
        times = np.linspace(0.0, duration, int(samples))
        times[-1] = duration
        return times
    times = as_array("simulate, samples", samples, ())
    near = ROUNDING * duration
    if times.ndim != 1 or not len(times) or not -near <= times.min() <= times.max() <= duration + near:
        raise InputError(message("simulate, samples", "out of range", repr(samples)[:60], f"times in 0 … {duration:g}"))
    inner = times[(times > near) & (times < duration - near)]  # start and end are samples themselves
    return np.unique(np.concatenate([[0.0], inner, [duration]]))


def _every(settings: Settings) -> int:
    assert settings.step is not None
    return max(1, math.ceil(settings.duration / settings.step / (SAMPLES - 1) - 1e-9))


def _segments(settings: Settings, tau: Any) -> list[Segment]:
    """The stretches of a run: between the calls of a sampled controller, and a last, shorter step."""
    if settings.step is not None:
        return _equal_segments(settings, settings.step, tau)
    times = settings.times if settings.times is not None else _times(SAMPLES, settings.duration)
    ends = [*breaks(tau, settings.duration).tolist(), settings.duration]
    found, begin = [], 0.0
    for end in ends:
        first, last = np.searchsorted(times, [begin, end], "right")
        found.append(Segment(begin, end, end - begin, times[first:last], np.zeros(0)))
        begin = end
    return found


def is_held(settings: Settings, tau: Any) -> bool:
    """Whether the run holds its forces between breaks: of a controller, or of a table whose times are step ends."""
    if isinstance(tau, Table) and tau.hold and settings.step is not None:
        numbers = breaks(tau, settings.duration) / settings.step
        return bool(np.all(abs(numbers - np.round(numbers)) <= 1e-9 * np.maximum(numbers, 1)))
    return isinstance(tau, Sampled) or (isinstance(tau, Table) and tau.hold)


def _equal_segments(settings: Settings, h: float, tau: Any) -> list[Segment]:
    steps, rest = whole_steps(settings.duration, h)
    if isinstance(tau, Sampled) and abs(tau.period / h - max(round(tau.period / h), 1)) > 1e-9 * tau.period / h:
        fix = "Make the period a multiple of the step."
        raise InputError(
            message("simulate, tau", "the period falls between steps", f"{tau.period:g} s", f"n × {h:g} s", fix)
        )
    held = breaks(tau, settings.duration) if is_held(settings, tau) else np.zeros(0)
    calls = np.round(held / h).astype(int).tolist()
    ends = [k for k in calls if k < steps] + [steps] * (steps > 0)
    found, marks, first = [], _marks(settings, h), 0
    for last in ends:
        end = settings.duration if last == steps and not rest else None  # it is a sample itself
        found.append(_stretch(marks, h, first, last, end))
        first = last
    if rest:
        asks = steps in calls
        found.append(Segment(steps * h, settings.duration, rest, np.array([settings.duration]), np.ones(1), asks))
    return found


def whole_steps(duration: float, h: float) -> tuple[int, float]:
    """How many steps a duration has, and the time left over; what rounding leaves over is none."""
    ratio = duration / h
    near = round(ratio)
    if near and abs(ratio - near) <= max(1e-9, 4e-16 * ratio):
        return near, 0.0
    steps = math.floor(ratio)
    return steps, duration - steps * h


def _marks(settings: Settings, h: float) -> int | np.ndarray:
    """After which steps there is a sample: every so many, or their numbers."""
    if settings.times is None:
        return settings.every or _every(settings)
    numbers = settings.times / h
    between = abs(numbers[:-1] - np.round(numbers[:-1])) > 1e-6
    if np.any(between):
        fix = "Choose times that are multiples of the step, or steps under control (step=None)."
        found = f"{settings.times[:-1][between][0]:g} s"
        raise InputError(message("simulate, samples", "between equal steps", found, f"n × {h:g} s", fix))
    return np.unique(np.round(numbers))


def _stretch(marks: int | np.ndarray, h: float, first: int, last: int, end: float | None) -> Segment:
    """Equal steps from one number to another; `end` is the time there if the run ends with it."""
    samples: Any
    counts: Any
    if isinstance(marks, int):
        inner = range((first // marks + 1) * marks, last, marks)
        closing = (end,) if end is not None else (last * h,) if last % marks == 0 else ()
        samples = LazyRange(inner, h, closing)
        counts = LazyRange(range(inner.start - first, last - first, marks), 1.0, (float(last - first),))
    else:
        here = marks[(marks > first) & (marks < last)]
        closing = (end,) if end is not None else (last * h,) if last in marks else ()
        samples, counts = np.append(here * h, closing), np.append(here - first, last - first)
    return Segment(first * h, last * h if end is None else end, h, samples, counts)
