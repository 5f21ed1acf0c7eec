"""Records of a batch of runs: its specification, its sample times, its samples."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from polhode.dynamics import energy
from polhode.errors import InputError, message
from polhode.model import Tree
from polhode.scalar import Scalar, Vec
from polhode.simulation.compiled_run import RunSpec
from polhode.simulation.step_times.segments import step_numbers

Named = Callable[[Scalar, Vec, Vec, Mapping[str, Scalar]], Any]
"""A function of (t, q, v, numbers by name)"""


FAILED = 6.0
"""The status of a run, beside those of `step_state`, that ended by a fault of another kind; `reason` says which."""


@dataclass(frozen=True)
class BatchSpec:
    """What many runs have in common, and the names of the numbers in which they differ.

    run         a model under inputs, by a method; its `tau` and events may take a fourth argument, numbers by name
    numbers     paths of the model's numbers that each run has its own of
    free        further names, which only user functions see
    outputs     by name, functions of (t, q, v, numbers by name), sampled along with the state
    identity    text that identifies the user functions; "": none can, and no kernel is kept on disk
    """

    run: RunSpec
    numbers: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    outputs: Mapping[str, Named] | None = None
    identity: str = ""


def takes_numbers(function: Any) -> bool:
    """Whether a user function asks for numbers by name, as its fourth argument."""
    if not callable(function):
        return False
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in given) == 4


class TreeOutput(NamedTuple):
    """An output computed from the tree, such as its energy."""

    function: Callable[[Tree, Vec, Vec], Scalar]

    def __call__(self, tree: Tree, q: Vec, v: Vec) -> Scalar:
        """Its value at a state."""
        return self.function(tree, q, v)


KINETIC = TreeOutput(lambda tree, q, v: energy.energy(tree, q, v).kinetic)
POTENTIAL = TreeOutput(lambda tree, q, v: energy.energy(tree, q, v).potential)
"""The energies of a run."""


@dataclass(frozen=True)
class SampleTimes:
    """When the runs of a batch are sampled, and how they step.

    counts        (S,)  steps between samples, for equal steps of size h
    times         (S + 1,)  of the samples, the first 0
    tolerance     of steps under control
    is_companion  whether the steps are those of companions, by the rule of `companion_steps`
    duration      of the whole runs, where these times are only their beginning; 0: up to the last sample
    """

    times: np.ndarray
    counts: np.ndarray
    h: float
    tolerance: float
    is_companion: bool = False
    duration: float = 0.0

    @property
    def end(self) -> float:
        """The time at which every run ends, s."""
        return float(self.times[-1])

    @property
    def whole(self) -> float:
        """The duration of the whole runs, s."""
        return self.duration or self.end

    def beginning(self, steps: float = 100.0) -> "SampleTimes":
        """The first so many steps, or with steps under control so many thousandths of the time.

        All of them end where the whole does, to the last bit.
        """
        if self.h:
            total = float(np.sum(self.counts))
            count = min(steps, total)
            end = self.end if count == total else count * self.h
            return replace(self, times=np.array([0.0, end]), counts=np.array([count]), duration=self.whole)
        part = min(1.0, steps / 1000)
        return replace(self, times=np.array([0.0, self.end * part]), counts=np.ones(1), duration=self.whole)


class BatchStretch(NamedTuple):
    """Steps of all runs up to one time.

    time      up to which, s
    settings  of the compiled steps: (count, h, origin) of equal ones, (time, tolerance, end, longest) under control
    sample    the number of the sample that lies there; 0: none does
    is_new    equal steps: whether another segment begins with it, which is not the first
    """

    time: float
    settings: tuple[float, ...]
    sample: int
    is_new: bool = False


class BatchSamples(NamedTuple):
    """Runs side by side, sampled: n runs, S + 1 samples; NaN after the end of a run.

    status    (n,)  as in `step_state`, or FAILED
    end       (n,)  the time each run reached;  q_end, v_end the state there
    event     (n,)  the number of the event that ended it, −1: none
    accepted  (n,)  steps
    reason    (n,)  why it failed, of runs that are followed one by one; "" otherwise
    """

    q: np.ndarray
    v: np.ndarray
    outputs: np.ndarray
    status: np.ndarray
    end: np.ndarray
    q_end: np.ndarray
    v_end: np.ndarray
    event: np.ndarray
    accepted: np.ndarray
    reason: np.ndarray

    def clear(self) -> None:
        """Write NaN for all states and outputs."""
        for array in (self.q, self.v, self.outputs, self.q_end, self.v_end):
            array.fill(np.nan)


def equal_steps(duration: float, h: float, sampled: int | np.ndarray) -> SampleTimes:
    """Samples after every so many equal steps, or at times that are the ends of steps; and at the end."""
    steps = round(duration / h)
    if not steps or abs(duration / h - steps) > 1e-9 * max(steps, 1):
        near = max(steps, 1) * h
        fix = f"Take {near:.12g} s, or a step of {duration / max(steps, 1):.12g} s."
        raise InputError(
            message("sweep, duration", "not a whole number of steps", f"{duration:g} s", f"n × {h:g} s", fix)
        )
    if isinstance(sampled, np.ndarray):
        numbers = step_numbers(sampled, h)
    else:
        numbers = np.append(np.arange(0, steps, sampled), steps)
    times = numbers * h
    times[-1] = duration
    return SampleTimes(times, np.diff(numbers).astype(float), h, 0.0)


def controlled_steps(times: Sequence[float], tolerance: float) -> SampleTimes:
    """Samples at times, the first of them 0, with steps under control of a tolerance."""
    given = np.array(times, dtype=float)
    return SampleTimes(given, np.ones(len(given) - 1), 0.0, tolerance)
