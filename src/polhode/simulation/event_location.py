"""Events within a step: where their functions cross zero, in one run or in many, and the state after a reset."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, told
from polhode.scalar import UNIT_TOLERANCE
from polhode.simulation.compiled_run import CompiledRun
from polhode.simulation.run_records import Event, Position, Segment
from polhode.simulation.step_state import Crossing, crossed

HALVINGS = 60
"""Bisections of a step to find an event in it: to 2⁻⁶⁰ of the step, finer than doubles tell times within it apart."""


def located(crossing: Crossing, before: Any, value: Callable[[Any], Any], whole: Any = 1.0) -> Any:
    """The part θ of a step, 0 < θ ≤ 1, at which a function has crossed zero as it is watched for, by bisection.

    before  its values where the step begins: a number, or (n,) of n runs
    value   its values at parts θ of the step
    whole   the whole step: 1, or ones (n,)
    ->      θ; the whole step where it crosses nowhere
    """
    choose = np.where if isinstance(whole, np.ndarray) else _either
    low, high = 0.0 * whole, whole
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        passed = crossed((crossing,), (before,), (value(middle),))
        low, high = choose(passed, low, middle), choose(passed, middle, high)
    return high


def _either(passed: Any, a: Any, b: Any) -> Any:
    return a if passed else b


class EventHit(NamedTuple):
    """An event within a step.

    k         its number
    t, q, v   time and state there
    g, side   its function there, and where the step began
    begin, h  where the step began, and its size
    """

    k: int
    t: float
    q: np.ndarray
    v: np.ndarray
    g: float
    side: float
    begin: float
    h: float


class StepEvents:
    """The events within the last step of a step state."""

    def __init__(self, compiled: CompiledRun, step: Segment, packed: np.ndarray, level: np.ndarray | None) -> None:
        self.compiled, self.packed, self.level = compiled, packed, level
        self.settings = (step.h, step.begin) if compiled.spec.fixed else ()

    def at(self, theta: float) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """t, q, v and the functions of all events at a part θ of the step."""
        found = self.compiled.inside(self.packed, theta, self.settings, self.level)
        nq, n = self.compiled.model.nq, self.compiled.model.nq + self.compiled.model.nv
        return float(found[0]), found[1 : 1 + nq], found[1 + nq : 1 + n], found[1 + n :]

    def hits(self) -> Iterator[EventHit]:
        """The events of the step in the order of their times."""
        begin, end = self.at(0.0)[0], self.at(1.0)[0]
        before = self.compiled.field(self.packed, "g_before")
        for theta, k in sorted(self._crossings()):
            t, q, v, g = self.at(theta)
            yield EventHit(k, t, q, v, float(g[k]), float(before[k]), begin, end - begin)

    def _crossings(self) -> Iterator[tuple[float, int]]:
        """Where in the step which functions cross zero."""
        before, after = (self.compiled.field(self.packed, name).tolist() for name in ("g_before", "g"))
        for k, crossing in enumerate(self.compiled.spec.crossings):
            if crossed((crossing,), (before[k],), (after[k],)):
                yield located(crossing, before[k], partial(self._value, k)), k

    def _value(self, k: int, theta: float) -> float:
        return float(self.at(theta)[3][k])


def slope(compiled: CompiledRun, hit: EventHit, at: Position) -> float:
    """The change of an event's function from the position on, over a short part of its step."""
    function = compiled.spec.crossings[hit.k].function
    here, later = (compiled.ahead(at.t, at.q, at.v, h, at.level) for h in (0.0, 1e-4 * hit.h))
    return float(function(*later)) - float(function(*here))


def reset_state(compiled: CompiledRun, event: Event, hit: EventHit) -> tuple[np.ndarray, np.ndarray]:
    """q and v after the reset of an event, or an InputError that says what is wrong with them."""
    assert event.reset
    try:
        q, v = (np.array(x, dtype=float) for x in event.reset(hit.t, hit.q.copy(), hit.v.copy()))
    except Exception as error:
        raise InputError(told(error)) from error
    if q.shape != hit.q.shape or v.shape != hit.v.shape:
        raise InputError(f"gave shapes {q.shape}, {v.shape}, not {hit.q.shape}, {hit.v.shape}")
    if not np.all(np.isfinite([*q, *v])):
        raise InputError(f"gave {str([*q.tolist(), *v.tolist()])[:80]}, not finite numbers")
    sizes = [np.linalg.norm(q[list(e.q)]) for e in compiled.tree.elements if e.kind.quaternion]
    if (off := max((abs(size - 1) for size in sizes), default=0.0)) > UNIT_TOLERANCE:
        raise InputError(f"gave a quaternion {off:.3g} off the unit sphere")
    return q, v
