"""A run as requested, checked: a model, its start, its inputs and its options; and the segments of its time."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from polhode.check.given_start import start_of
from polhode.check.initial_state import check_start
from polhode.check.joint_limits import check_limits, has_limits, moved_start, with_limits
from polhode.dynamics.power import EVENTS, work_sources
from polhode.errors import InputError, message
from polhode.integrate.methods import method_named
from polhode.model import Model, check_model, make_tree
from polhode.model.per_model_cache import once_each
from polhode.model.tree import Numbers, constraint_numbers
from polhode.simulation.events.element_events import element_events
from polhode.simulation.inputs import Sampled, breaks, is_held_input
from polhode.simulation.option_table import RUN_SAMPLES
from polhode.simulation.run_options import RunOptions
from polhode.simulation.run_records import NONE, Segment
from polhode.simulation.step_state import LONGEST
from polhode.simulation.step_times.companion_steps import coarser_segments, companion_segments
from polhode.simulation.step_times.segments import (
    JoinedSegments,
    Stops,
    check_period,
    segments_of,
    unsplit,
    unsplit_note,
)
from polhode.simulation.switching import Switching, known_functions, smooth_switching_within, user_functions
from polhode.system.identity import identity_text

if TYPE_CHECKING:
    from polhode.simulation.compiled_run import CompiledRun

T = TypeVar("T")

LOOKS = 1000
"""With events, or functions that depend on time or are opaque, a controlled step is at most the duration over this."""

KEPT_SAMPLES = 4096
"""Samples of a run up to which its times are kept for each start, where they depend on it: 2 MB a model at most."""


@dataclass
class RepeatedRuns:
    """What runs of a model by the same options found, for those after them.

    stops     by the number of their segment, where steps depend on time
    compiled  the steps
    has_kernels  whether all kernels are there that their steps take for certain
    pace      step states a second, of the last block of the last run
    others    what else is the same in all of them, by its name; nobody may change it
    """

    stops: dict[int, Stops] = field(default_factory=dict)
    compiled: "CompiledRun | None" = None
    has_kernels: bool = False
    pace: float = 0.0
    others: dict[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """A run as requested, checked.

    q, v     the start, (nq,) and (nv,)
    tau      the inputs, as in `simulate`
    options  with the duration and the method of this run
    moved    rows of constraints, and limits, that the given start violated, and by how much, where it was moved
    role     whose steps: "run", or of a companion of it: "companion" (equal steps shorter than asked for, controlled
             ones with further ends), "coarse companion" (equal steps of about twice the size)
    looks    a controlled step is at most the duration over this, where something within a step could be missed
    at_most  no controlled step is longer, s
    """

    model: Model
    q: np.ndarray
    v: np.ndarray
    tau: Any
    options: RunOptions
    moved: Mapping[str, float] = field(default_factory=dict)
    role: str = "run"
    looks: float = LOOKS
    at_most: float = math.inf
    _known: dict[Any, Switching] = field(default_factory=dict, repr=False, compare=False)  # shared with companions

    @classmethod
    def of(cls, model: Model, q: Any, v: Any, tau: Any, options: RunOptions) -> "Scenario":
        """The scenario of the arguments of `simulate`, or an error that names the argument at fault."""
        check_model("simulate", model)
        if not model.bodies:
            raise InputError(message(f"simulate, model '{model.name}'", "nothing to move", "no bodies", "at least one"))
        if options.specialise is not None and options.specialise == model.number_inputs:
            model = _with_kernels(model, not options.specialise)
        q, v, options = *start_of(model, q, v), options.for_model(model, tau)
        limited, moved = options.limits and not options.form and has_limits(model), dict[str, float]()
        if options.move_start:
            q, v, moved = moved_start(model, q, v, limited, options.rank_tolerance)
        check_start(model, q, v, options.rank_tolerance)
        if limited:
            check_limits("simulate", model, q)
            model = _limited(model)
        matters = _start_matters(model, options) if tau is None and options.is_plain else None
        if matters is None:
            return cls(model, q, v, tau, options, moved)
        by_start = (q.tobytes(), v.tobytes()) if matters else ()
        return prepared(model, options, *by_start)._from(q, v, moved)

    def _from(self, q: np.ndarray, v: np.ndarray, moved: Mapping[str, float]) -> "Scenario":
        """The same from another start, on which nothing else depends that is known of it."""
        found = object.__new__(Scenario)
        vars(found).update(vars(self), q=q, v=v, moved=moved)
        return found

    @cached_property
    def repeated(self) -> RepeatedRuns | None:
        """What all runs of this model by these options share; None where nothing is kept of them, as of a scenario that
        is not that of `prepared`, but was made from it with other options."""
        return None

    def once(self, name: Any, make: Callable[[], T]) -> T:
        """What is the same in all runs of this model by these options, made for the first of them.  name: of it"""
        if self.repeated is None:
            return make()
        known = self.repeated.others
        if name not in known:
            known[name] = make()
        found: T = known[name]
        return found

    def beside(
        self, options: RunOptions, looks: float = LOOKS, role: str = "companion", at_most: float = math.inf
    ) -> "Scenario":
        """The scenario of a companion run, by other options."""
        return Scenario(self.model, self.q, self.v, self.tau, options, self.moved, role, looks, at_most, self._known)

    @property
    def duration(self) -> float:
        """Seconds of the run."""
        assert self.options.duration is not None
        return self.options.duration

    @property
    def method(self) -> str:
        """The name of the method."""
        assert self.options.method is not None
        return self.options.method

    @property
    def every(self) -> int:
        """Equal steps between samples, where no times of samples were given."""
        assert self.options.step is not None
        return self.options.every or max(1, math.ceil(self.duration / self.options.step / (RUN_SAMPLES - 1) - 1e-9))

    @cached_property
    def switching(self) -> Switching:
        """Where the user functions of the run are not smooth, and which of them depend on time."""
        key = id(self.model), id(self.tau), self.duration
        if key not in self._known:
            given = self.model, self.tau, self.options.policy
            functions = known_functions(given[0], given[2]) if self.tau is None else list(user_functions(*given))
            if functions or not identity_text(self.model):
                found = Switching(functions, self.q, self.v, self.duration, make_tree(self.model))
            else:
                found = smooth_switching_within(self.model, self.duration)
            self._known[key] = found
        return self._known[key]

    @cached_property
    def work_sources(self) -> tuple[str, ...]:
        """What does work on the machine: it is integrated along the run, and energy has to balance it."""
        if self.options.verify is False and self.role == "run":
            return ()
        resets = any(event.reset for event in self.options.events) or bool(element_events(self.model))
        return (*_work_sources(self.model, self.tau is not None), *[EVENTS] * resets)

    @cached_property
    def is_autonomous(self) -> bool:
        """Whether nothing but the state decides the motion: no inputs, user functions or events."""
        options, functions = self.options, self.switching
        sampled = any(force.sampled or force.events() for force in self.model.forces)
        return not (self.tau is not None or options.events or functions.functions or functions.opaque or sampled)

    @property
    def _sampled(self) -> int | np.ndarray | None:
        """Every so many equal steps, or the times of samples; None: at times that are evenly spaced."""
        times = self.options.times
        return self.every if times is None and self.options.step is not None else times

    @property
    def _timing(self) -> "tuple[float, float | None, int | bytes | None, str]":
        """All that the segments of an autonomous run depend on: duration, step, samples and role."""
        sampled = self._sampled
        return self.duration, self.options.step, _frozen(sampled), self.role

    @cached_property
    def longest(self) -> float:
        """The longest controlled step, s."""
        has_events = bool(self.options.events or element_events(self.model))
        return min(self.switching.longest_step(self.looks, has_events, self.role != "run"), self.at_most)

    @cached_property
    def knots(self) -> np.ndarray:
        """Times at which a step has to end, besides those at which held forces change: corners of tables, solutions of
        conditions of time, times around abrupt changes."""
        return self.switching.ends_with(self.tau, self.model)

    @cached_property
    def unsplit(self) -> int:
        """Knots within equal steps that do not end a step, since there are too many of them; 0: every one does."""
        step = self.options.step
        if step is None or isinstance(self.tau, Sampled) or self.is_autonomous:
            return 0
        return unsplit(np.concatenate([breaks(self.tau, self.duration), self.knots]), self.duration, step)

    @cached_property
    def held(self) -> bool:
        """Whether forces are held from one segment to the next."""
        return is_held_input(self.tau) and not self.unsplit

    @cached_property
    def segments(self) -> list[Segment]:
        """The segments of the run."""
        step, has_memory = self.options.step, False
        if self.is_autonomous:
            return _autonomous_segments(*self._timing)
        if step is not None:
            check_period(self.tau, step)
            has_memory = method_named(self.method).start is not None
        held = breaks(self.tau, self.duration) if self.held else NONE
        given = self.duration, step, self._sampled, held, NONE if self.unsplit else self.knots
        if self.role == "companion":
            return companion_segments(*given, self.switching.is_timed, has_memory)
        own = segments_of(*given, has_memory)
        return own if self.role == "run" else coarser_segments(own)

    def stops(self, number: int) -> Stops:
        """The stops of a segment with controlled steps, by its number; autonomous and repeated runs keep them."""
        if self.is_autonomous:
            return _autonomous_stops(*self._timing)[number]
        if self.repeated is None:
            return Stops(self.segments[number])
        if number not in self.repeated.stops:
            self.repeated.stops[number] = Stops(self.segments[number])
        return self.repeated.stops[number]

    @cached_property
    def steps_before(self) -> tuple[int, ...]:
        """Equal steps before each segment, and of all."""
        counts = (int(segment.counts[-1]) if len(segment.counts) else 0 for segment in self.segments)
        return tuple(accumulate(counts, initial=0))

    @cached_property
    def samples_before(self) -> tuple[int, ...]:
        """Samples before each segment, and of all, that of the start not counted."""
        return tuple(accumulate((len(segment.samples) for segment in self.segments), initial=0))

    @property
    def joined(self) -> JoinedSegments:
        """The segments of a run with equal steps that is autonomous, as one chain."""
        return _autonomous_joined(*self._timing)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of how steps meet times, corners and jumps; lines for the grade."""
        switching, step, found = self.switching, self.options.step, []
        if step is None and self.longest < LONGEST:
            why = [f"{name} depends on time" for name in switching.explicit]
            why += [f"{name} runs in Python, where nothing is known of it" for name in switching.opaque]
            why += ["events"] * bool(self.options.events)
            why += [f"events of {force.kind} '{force.name}'" for force in self.model.forces if force.events()]
            why += [f"{name} has conditions" for name in dict.fromkeys(switching.jumps)]
            found.append(
                f"steps are at most {self.longest:.3g} s, duration/{self.duration / self.longest:.4g}: {'; '.join(why)}"
            )
        elif switching.opaque:
            names = ", ".join(switching.opaque)
            found.append(f"{names} runs in Python: its corners and jumps within equal steps are not found")
        if self.unsplit and step:
            found.append(unsplit_note(self.unsplit, step))
        elif len(self.knots):
            found.append(f"{len(self.knots)} times at which tables or functions of time bend or jump end a step")
        return tuple(found)


@once_each
def prepared(model: Model, options: RunOptions, *start: bytes) -> Scenario:
    """A scenario of a model without inputs and user functions in Python, with what all its runs by these options have
    in common.

    start  q and v where functions of files are in the model: what is known of these depends on it
    """
    q, v = map(np.frombuffer, start) if start else (np.array(model.zero), np.array(model.at_rest))
    found = Scenario(model, q, v, None, options)
    vars(found)["repeated"] = RepeatedRuns()
    found.steps_before, found.samples_before, found.longest, found.notes, found.work_sources, found.held  # noqa: B018
    return found


@once_each
def _start_matters(model: Model, options: RunOptions) -> bool | None:
    """Whether what is known of runs without inputs, by these options, depends on their start; None: nothing is kept."""
    if options.form or not identity_text(model):
        return None
    matters = bool(known_functions(model, options.policy))
    return None if matters and (options.samples or 0) > KEPT_SAMPLES else matters


@once_each
def _limited(model: Model) -> Model:
    """The model with stops at the limits of its joints."""
    return with_limits(model)


@once_each
def _work_sources(model: Model, has_inputs: bool) -> tuple[str, ...]:
    """What does work on a model, events apart."""
    sizes, numbers = (model.nq, model.nv), Numbers({})
    moves = any(c.kind.does_work(constraint_numbers(c, numbers), *sizes) for c in model.constraints)
    return work_sources(make_tree(model), has_inputs, moves)


def _frozen(sampled: int | np.ndarray | None) -> int | bytes | None:
    return sampled.tobytes() if isinstance(sampled, np.ndarray) else sampled


@lru_cache(maxsize=64)
def _autonomous_segments(duration: float, step: float | None, sampled: int | bytes | None, role: str) -> list[Segment]:
    """The segments of an autonomous run, which has no held forces and no knots.  sampled: times of samples as bytes"""
    times = np.frombuffer(sampled) if isinstance(sampled, bytes) else sampled
    made = (companion_segments if role == "companion" else segments_of)(duration, step, times, NONE, NONE)
    return coarser_segments(made) if role == "coarse companion" else made


@lru_cache(maxsize=64)
def _autonomous_stops(duration: float, step: float | None, sampled: int | bytes | None, role: str) -> list[Stops]:
    return [Stops(segment) for segment in _autonomous_segments(duration, step, sampled, role)]


@lru_cache(maxsize=64)
def _autonomous_joined(duration: float, step: float | None, sampled: int | bytes | None, role: str) -> JoinedSegments:
    return JoinedSegments.of(_autonomous_segments(duration, step, sampled, role))


@once_each
def _with_kernels(model: Model, number_inputs: bool) -> Model:
    """The model, its kernels with or without numbers as inputs."""
    return replace(model, number_inputs=number_inputs)
