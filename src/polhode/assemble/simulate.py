"""`ph.simulate`: a model, a start and a method in; a graded Dataset out."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.assemble.drive import Drive, Event, Samples, Segment
from polhode.assemble.engine import Engine, Plan
from polhode.assemble.inputs import Sampled
from polhode.assemble.observe import Observer
from polhode.assemble.rows import Crossing
from polhode.errors import CompileError, InputError, message
from polhode.integrate.methods import method_named
from polhode.model import JOINTS, Model
from polhode.result import Conserved, Facts, Grade, Steps, Trajectory, conserved, dataset, error_estimate, grade
from polhode.scalar import UNIT_TOLERANCE, Array

if TYPE_CHECKING:
    import xarray as xr

DURATION = 10.0
"""Seconds of a run that says nothing else."""

SAMPLES = 1001
"""Samples of a run that says nothing else, its start and its end among them."""

TIGHTEST = 1e-14
"""The smallest tolerance that doubles can promise."""

NORMS = ("state", "none")
"""What keeps quaternions at unit length in methods that add: they are brought back after every step, or nothing."""

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
    verify: bool = False,
    progress: Progress | None = None,
    model_text: str = "",
) -> "xr.Dataset":
    """Follow the motion of a model.

    q, v, duration  the model's start unless given; else zero angles, identity quaternions, at rest, 10 s
    tau        generalised forces: (nv,); {joint: force}; Table(times, values); a function of (t, q, v) on generic
               scalars; PD, ComputedTorque; Sampled(function, period) for a controller in Python
    step       equal steps of this size, s; None: steps under control of the tolerance
    method     a name of ph.methods; "dop853" unless the model's start says another
    tolerance  of every step, relative and absolute, down to 1e-14
    samples    how many, or their times; 1001 unless given; with equal steps, of those that end at a sample
    every      with equal steps: a sample every so many
    events     zeros to watch for, see Event
    norm       "state": quaternions are brought back to unit length after each step; "none": they are left alone
    verify     estimate the error by a second run, with a hundredth of the tolerance or half the step
    progress   called with the part that is done and the time reached
    ->         Dataset: `status`, `reason` and the grade are in its attributes; a run that fails returns what there is
    """
    settings = _settings(model, q, v, duration, step, method, tolerance, samples, every, norm)
    run = Run(settings, tau, tuple(events))
    for _ in run.blocks(progress):
        pass
    error = _second_run(settings, tau, tuple(events), run) if verify else None
    return run.result(error, model_text)


class Run:
    """One run: its engine, its drive, and the samples so far."""

    def __init__(self, settings: Settings, tau: Any, events: tuple[Event, ...]) -> None:
        self.settings, self.tau, self.events = settings, tau, events
        model, chosen = settings.model, method_named(settings.method)
        self.fixed = settings.step is not None
        crossings = tuple(Crossing(event.function, event.direction) for event in events)
        plan = Plan(model, chosen, self.fixed, tau, crossings, settings.norm, tuple(zero_coordinates(model)))
        self.engine = Engine(plan)
        self.segments = _segments(settings, tau)
        self.drive = Drive(self.engine, self.segments, settings.tolerance, events)
        self.drive.position.q, self.drive.position.v = settings.q.copy(), settings.v.copy()
        self.kept: list[Samples] = []
        self._check_inputs()

    def _check_inputs(self) -> None:
        """Ask the user's functions once, at the start, so that a mistake is told before the run."""
        if self.tau is None or isinstance(self.tau, Sampled):
            return
        setup = self.engine.setup()
        q, v = (tuple(x.tolist()) for x in (self.settings.q, self.settings.v))
        from polhode.scalar import Vec

        forces = np.array(setup.machine.forces(0.0, Vec(q), Vec(v)), dtype=float)
        if not np.all(np.isfinite(forces)):
            found = f"{forces.tolist()} at t = 0"
            raise InputError(message("simulate, tau", "not finite", found, "finite forces at the start"))

    def blocks(self, progress: Progress | None = None) -> Any:
        """Run, block by block; Ctrl-C ends the run with what there is."""
        try:
            for block in self.drive:
                self.kept.append(block)
                if progress:
                    progress(self.drive.position.t / self.settings.duration, self.drive.position.t)
                yield block
        except KeyboardInterrupt:
            self.drive.ending.status = "interrupted"
            self.drive.ending.reason = f"by its user, at t = {self.drive.position.t:.6g}"

    def arrays(self) -> dict[str, np.ndarray]:
        """All samples so far, by name."""
        return joined(self.kept)

    def result(self, error: float | None = None, model_text: str = "") -> "xr.Dataset":
        """The Dataset of the samples so far, graded."""
        arrays, settings = self.arrays(), self.settings
        model, ending = settings.model, self.drive.ending
        others = self.observed(arrays)
        steps = Steps(ending.taken, ending.refused, ending.smallest, math.nan, ending.largest)
        kept = self.conserved()
        judged = {**arrays, **others}
        mark: Grade = grade(
            _totalled(model, judged), None if self.fixed else settings.tolerance, kept, steps, model,
            error=error, status=ending.status, reason=ending.reason,
        )  # fmt: skip
        trajectory = Trajectory(arrays["time"], arrays["q"], arrays["v"], others, events=ending.events)
        return dataset(model, trajectory, self.facts(mark, model_text))

    def conserved(self) -> Conserved:
        """What the motion should keep."""
        driven = [joint.name for joint in self.settings.model.joints if joint.nv] if self.tau is not None else []
        resets = any(event.reset for event in self.events)
        found = conserved(self.settings.model, driven)
        return Conserved(False, (), (), found.mass, found.length, "resets at events") if resets else found

    def facts(self, mark: Grade | None, model_text: str) -> Facts:
        """What made the run, and how it ended."""
        settings, ending = self.settings, self.drive.ending
        lie = self.engine.plan.method.family in ("Lie group", "structure-preserving")
        return Facts(
            method=settings.method,
            step=settings.step,
            tolerance=None if self.fixed else settings.tolerance,
            norm_policy="Lie group" if lie else settings.norm,
            status=ending.status,
            reason=ending.reason,
            model_text=model_text,
            grade=mark,
            more={"steps_taken": ending.taken, "steps_refused": ending.refused},
        )

    def observed(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Poses, velocities, energies, momenta and inputs at samples."""
        found = Observer(self.settings.model)(arrays["q"], arrays["v"])
        found["step_size"] = arrays["step_size"]
        if "tau" in arrays:
            found["tau"] = arrays["tau"]
        return found


def joined(blocks: Sequence[Samples]) -> dict[str, np.ndarray]:
    """Blocks of samples as arrays by name."""
    found = {
        name: np.concatenate([getattr(block, name) for block in blocks]) for name in ("time", "q", "v", "step_size")
    }
    levels = [block.level for block in blocks if block.level is not None]
    if levels:
        found["tau"] = np.concatenate(levels)
    return found


def _totalled(model: Model, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    from polhode.result import completed

    return completed(model, arrays)


def _second_run(settings: Settings, tau: Any, events: tuple[Event, ...], first: Run) -> float:
    """The error of a run, by one with a hundredth of its tolerance or half its step."""
    from dataclasses import replace

    tighter = replace(settings, tolerance=max(settings.tolerance / 100, TIGHTEST))
    if settings.step is not None:
        every = settings.every or _every(settings)
        tighter = replace(settings, step=settings.step / 2, every=2 * every)
    second = Run(tighter, tau, events)
    for _ in second.blocks():
        pass
    a, b = first.arrays(), second.arrays()
    n = min(len(a["time"]), len(b["time"]))
    return error_estimate(settings.model, *({name: x[name][:n] for name in ("q", "v")} for x in (a, b)))


# what a user gave, checked


def zero_coordinates(model: Model) -> list[float]:
    """Zero angles and travels, identity quaternions."""
    return [x for joint in model.joints for x in JOINTS[joint.type].zero]


def _settings(
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
) -> Settings:
    if model.constraints:
        names = ", ".join(constraint.name for constraint in model.constraints[:5])
        fix = "Load with mimic='free', or leave the constraints out, to see the open tree."
        where = f"simulate, model '{model.name}'"
        raise CompileError(message(where, "constraints cannot be simulated yet", names, "a tree alone", fix))
    start = model.start
    q = _vector("q", q if q is not None else start.q if start else None, zero_coordinates(model))
    v = _vector("v", v if v is not None else start.v if start else None, [0.0] * model.nv)
    _check_quaternions(model, q)
    if duration is None:
        duration = start.duration if start and start.duration is not None else DURATION
    duration = _positive("duration", duration, "seconds above 0")
    name = method or (start.method if start else None) or "dop853"
    chosen = method_named(name)
    if step is not None:
        step = _positive("step", step, "seconds above 0, or None for steps under control of the tolerance")
    elif not chosen.adaptive:
        adaptive = "dop853, dopri54, bs32"
        fix = f"Give step=…, or take a method that controls its own: {adaptive}."
        raise InputError(message("simulate, step", f"'{name}' takes equal steps", "no step", "its size", fix))
    if not isinstance(tolerance, (int, float)) or not TIGHTEST <= tolerance < 1:
        raise InputError(message("simulate, tolerance", "out of range", repr(tolerance), f"{TIGHTEST:g} to 1"))
    if norm not in NORMS:
        fix = "For steps on the group itself take a Lie-group method: rkmk4, cf4, rkmk-dop853."
        raise InputError(message("simulate, norm", "no such policy", repr(norm), " or ".join(map(repr, NORMS)), fix))
    if every is not None and (step is None or not isinstance(every, int) or every < 1):
        expected = "a whole number above 0, with equal steps (step=…)"
        raise InputError(message("simulate, every", "does not fit", repr(every), expected))
    times = None if samples is None else _times(samples, duration)
    return Settings(model, q, v, duration, name, step, float(tolerance), times, every, norm)


def _vector(name: str, value: Any, default: list[float]) -> np.ndarray:
    if value is None:
        return np.array(default, dtype=float)
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(message(f"simulate, {name}", "not numbers", repr(value)[:60], f"({len(default)},)")) from None
    if array.shape != (len(default),):
        raise InputError(message(f"simulate, {name}", "wrong shape", str(array.shape), f"({len(default)},)"))
    if not np.all(np.isfinite(array)):
        raise InputError(message(f"simulate, {name}", "not finite", repr(array.tolist())[:80], "finite numbers"))
    return array


def _check_quaternions(model: Model, q: np.ndarray) -> None:
    at = 0
    for joint in model.joints:
        zero = JOINTS[joint.type].zero
        if JOINTS[joint.type].has_quaternion:
            size = float(np.linalg.norm(q[at + len(zero) - 4 : at + len(zero)]))
            if abs(size - 1) > UNIT_TOLERANCE:
                where, fix = f"simulate, q of joint '{joint.name}'", "Divide it by its length."
                raise InputError(message(where, "not a unit quaternion", f"length {size:.9g}", "length 1", fix))
        at += len(zero)


def _positive(name: str, value: Any, expected: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < float(value) < math.inf:
        raise InputError(message(f"simulate, {name}", "out of range", repr(value), expected))
    return float(value)


def _times(samples: Any, duration: float) -> np.ndarray:
    """The times of the samples, from 0 to the duration."""
    if isinstance(samples, (int, np.integer)) and not isinstance(samples, bool):
        if samples < 2:
            raise InputError(message("simulate, samples", "too few", repr(samples), "2 or more: start and end"))
        times = np.linspace(0.0, duration, int(samples))
        times[-1] = duration
        return times
    times = np.unique(np.asarray(samples, dtype=float))
    if times.ndim != 1 or not len(times) or not np.all(np.isfinite(times)) or times[0] < 0 or times[-1] > duration:
        raise InputError(message("simulate, samples", "out of range", repr(samples)[:60], f"times in 0 … {duration:g}"))
    return np.union1d(times, [0.0, duration])


def _every(settings: Settings) -> int:
    assert settings.step is not None
    return max(1, math.ceil(settings.duration / settings.step / (SAMPLES - 1) - 1e-9))


def _segments(settings: Settings, tau: Any) -> list[Segment]:
    """The stretches of a run: between the calls of a sampled controller, and a last, shorter step."""
    if settings.step is not None:
        return _equal_segments(settings, settings.step, tau)
    times = settings.times if settings.times is not None else _times(SAMPLES, settings.duration)
    ends = [settings.duration]
    if isinstance(tau, Sampled):
        ends = [tau.period * k for k in range(1, math.ceil(settings.duration / tau.period - 1e-9))] + ends
    found, begin = [], 0.0
    for end in ends:
        inside = times[(times > begin) & (times <= end)]
        found.append(Segment(begin, end, end - begin, inside, np.zeros(0)))
        begin = end
    return found


def _equal_segments(settings: Settings, h: float, tau: Any) -> list[Segment]:
    steps = math.floor(settings.duration / h + 1e-9)
    every = settings.every or _every(settings)
    marked = set(range(every, steps + 1, every))
    if settings.times is not None:
        numbers = settings.times / h
        if np.any(abs(numbers[:-1] - np.round(numbers[:-1])) > 1e-6):
            fix = "Choose times that are multiples of the step, or steps under control (step=None)."
            raise InputError(
                message("simulate, samples", "between equal steps", "such times", "multiples of the step", fix)
            )
        marked = {int(k) for k in np.round(numbers) if 0 < k <= steps}
    rest = settings.duration - steps * h
    length = steps
    if isinstance(tau, Sampled):
        length = round(tau.period / h)
        if length < 1 or abs(length * h - tau.period) > 1e-9 * tau.period:
            fix = "Make the period a multiple of the step."
            raise InputError(
                message("simulate, tau", "the period falls between steps", f"{tau.period:g} s", f"n × {h:g} s", fix)
            )
    found = []
    for first in range(0, steps, max(length, 1)):
        last = min(first + length, steps)
        here = np.array(sorted(k for k in marked if first < k <= last), dtype=float)
        end = settings.duration if last == steps and rest <= 1e-9 * h else last * h
        samples = here * h
        if last == steps and rest <= 1e-9 * h:  # the last sample is the end itself
            here, samples = np.union1d(here, [last]), np.append(samples[here < last], end)
        counts = here - first
        if not len(counts) or counts[-1] < last - first:
            counts = np.append(counts, last - first)
        found.append(Segment(first * h, end, h, samples, counts))
    if rest > 1e-9 * h:
        found.append(Segment(steps * h, settings.duration, rest, np.array([settings.duration]), np.ones(1)))
    return found
