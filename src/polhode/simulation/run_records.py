"""The records of a run: events to watch for, its segments, its position, blocks of samples, its ending."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, check_name, message
from polhode.scalar import flag, is_real, shown

NONE = np.zeros(0)
"""No times."""


@dataclass(frozen=True)
class Event:
    """An event: the zero of a function of (t, q, v).

    function   on generic scalars, as polhode.sin; a number
    direction  1: only where it grows, −1: only where it falls, 0: both
    terminal   whether the run ends there
    reset      (t, q, v) -> (q, v) after it, on arrays; None: the motion continues as it is

    A zero at the start is not an event. A function that is zero twice within one step is not seen; steps under control
    are at most a thousandth of the run, equal ones as long as they are.
    """

    name: str
    function: Callable[..., Any]
    direction: int = 0
    terminal: bool = False
    reset: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        """Check name, functions and direction."""
        check_name("event", "event", self.name, InputError)
        for name in ("function", "reset"):
            if not callable(getattr(self, name)) and not (name == "reset" and self.reset is None):
                where, found = f"event '{self.name}', {name}", repr(getattr(self, name))[:60]
                raise InputError(message(where, "not a function", found, "a function of (t, q, v)"))
        if not is_real(self.direction) or float(self.direction) not in (-1.0, 0.0, 1.0):
            raise InputError(message(f"event '{self.name}'", "no such direction", shown(self.direction), "-1, 0 or 1"))
        flag(f"event '{self.name}', terminal", self.terminal)


def listed(events: Any) -> tuple[Event, ...]:
    """The events of a run, if they are events."""
    if isinstance(events, (list, tuple)) and all(isinstance(event, Event) for event in events):
        return tuple(events)
    raise InputError(message("simulate, events", "not events", repr(events)[:60], "a list of Event"))


@dataclass
class Ending:
    """How a run ended: its status and reason; steps accepted and rejected, their smallest and largest size; events."""

    status: str = "finished"
    reason: str = ""
    accepted: int = 0
    rejected: int = 0
    smallest: float = np.inf
    largest: float = 0.0
    events: list[tuple[float, str]] = field(default_factory=list)
    singular: str = "[]"
    """Singular positions of constraints that were passed: a JSON list."""
    singular_count: int = 0
    """How many there were, with those beyond the list."""
    contacts: int = 0
    """How often a contact of a stop or of backlash began or ended."""
    unseen: int = 0
    """Intervals between samples that were not looked into closely enough to see every singular position."""

    def interrupt(self, t: float) -> None:
        """End the run at a time, interrupted by Ctrl-C."""
        self.status, self.reason = "interrupted", f"by its user, at t = {t:.6g}"


class Samples(NamedTuple):
    """A block of samples: times (n,), q (n, nq), v (n, nv), and the sizes of the steps that led there (n,), s."""

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    step_size: np.ndarray
    level: np.ndarray | None = None
    """Forces that a sampled controller held until then, at the start those it holds from then on (n, nv)."""
    work: np.ndarray | None = None
    """Work done since the start, by source (n, sources)."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory that they take."""
        return sum(values.nbytes for values in self if values is not None)


@dataclass
class Position:
    """Where a run is: what a checkpoint holds, so that a resumed run has the same bits."""

    t: float
    q: np.ndarray
    v: np.ndarray
    packed: np.ndarray | None = None
    """The step state as one row of numbers; None: at the start of a segment."""
    sample: int = 0
    """Samples delivered so far, those of the start not counted."""
    segment: int = 0
    level: np.ndarray | None = None
    """Forces that a sampled controller holds."""
    until: float = -1.0
    """The time of the last sample."""
    reset_at: float = -1.0
    idle: int = 0
    """Time of the last reset of the motion by an event, and resets since then while no time passed."""
    work: np.ndarray | None = None
    """Work done since the start, by source."""
    watch: np.ndarray | None = None
    """Under constraints: what the watch for singular positions carries on."""


class Segment(NamedTuple):
    """A part of a run without a break: from one time to another, with steps of one size h (or smaller)."""

    begin: float
    end: float
    h: float
    samples: np.ndarray
    """The times of the samples in it, those at its beginning left out."""
    counts: np.ndarray
    """Equal steps: how many lead to each sample, and to the end (last)."""
    asks: bool = True
    """Whether forces that are held change at its beginning."""
    knots: np.ndarray = NONE
    """Controlled steps: times inside it at which a step ends."""

    @property
    def middle(self) -> float:
        """The time halfway through it: what forces that are held from its beginning on are evaluated at."""
        return (self.begin + self.end) / 2


def first_sample(at: Position) -> Samples:
    """The state of a run at its start, as a block of one sample."""
    return Samples(np.array([at.t]), at.q[None].copy(), at.v[None].copy(), np.array([np.nan]))


def joined(blocks: Sequence[Samples]) -> dict[str, np.ndarray]:
    """Blocks of samples as arrays by name."""
    time, q, v, sizes, levels, work = zip(*blocks, strict=True)
    together = np.concatenate
    found = {"time": together(time), "q": together(q), "v": together(v), "step_size": together(sizes)}
    for name, parts in (("work_by_source", work), ("tau", levels)):
        if known := [part for part in parts if part is not None]:
            found[name] = together(known)
    return found
