"""A run as requested, checked: a model, its start, its inputs and its options; and the segments of its time."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from polhode.check.given_start import start_of
from polhode.check.initial_state import check_start, consistent_start
from polhode.errors import InputError, message
from polhode.model import Model, check_model
from polhode.simulation.inputs import Sampled, breaks, is_held_input, knots
from polhode.simulation.option_table import RUN_SAMPLES
from polhode.simulation.run_options import RunOptions
from polhode.simulation.run_records import NONE, Segment
from polhode.simulation.segments import (
    MOST_SPLITS,
    between_steps,
    check_period,
    controlled_segments,
    equal_segments,
    refined,
)


@dataclass(frozen=True)
class Scenario:
    """A run as requested, checked.

    q, v     the start, (nq,) and (nv,)
    tau      the inputs, as in `simulate`
    options  with the duration and the method of this run
    moved    rows of constraints that the given start violated, and by how much, where it was moved
    refined  whether equal steps are shorter than asked for, as those of a companion run
    """

    model: Model
    q: np.ndarray
    v: np.ndarray
    tau: Any
    options: RunOptions
    moved: Mapping[str, float] = field(default_factory=dict)
    refined: bool = False

    @classmethod
    def of(cls, model: Model, q: Any, v: Any, tau: Any, options: RunOptions) -> "Scenario":
        """The scenario of the arguments of `simulate`, or an error that names the argument at fault."""
        check_model("simulate", model)
        if not model.bodies:
            raise InputError(message(f"simulate, model '{model.name}'", "nothing to move", "no bodies", "at least one"))
        q, v = start_of(model, q, v)
        moved: dict[str, float] = {}
        if options.move_start:
            q, v, moved, _ = consistent_start(model, q, v, rank_tolerance=options.rank_tolerance)
        check_start(model, q, v, options.rank_tolerance)
        return cls(model, q, v, tau, options.for_model(model, tau), moved)

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
    def knots(self) -> np.ndarray:
        """Times at which a step has to end, besides those at which held forces change: corners of tables."""
        return knots(self.tau, self.model.nv, self.duration)

    @cached_property
    def unsplit(self) -> int:
        """Knots within equal steps that do not end a step, since there are too many of them; 0: every one does."""
        step = self.options.step
        if step is None or isinstance(self.tau, Sampled):
            return 0
        inner = len(between_steps(np.concatenate([breaks(self.tau, self.duration), self.knots]), step))
        return inner if inner > min(self.duration / step, MOST_SPLITS) else 0

    @cached_property
    def held(self) -> bool:
        """Whether forces are held from one segment to the next."""
        return is_held_input(self.tau) and not self.unsplit

    @cached_property
    def segments(self) -> list[Segment]:
        """The segments of the run."""
        times, step = self.options.times, self.options.step
        held = breaks(self.tau, self.duration) if self.held else NONE
        if step is None:
            return controlled_segments(self.duration, times, held, self.knots)
        check_period(self.tau, step)
        inner = NONE if self.unsplit else self.knots
        found = equal_segments(self.duration, step, self.every if times is None else times, held, inner)
        return [refined(segment) for segment in found] if self.refined else found
