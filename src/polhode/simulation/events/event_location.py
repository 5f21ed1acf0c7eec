"""Events and switches within a step: where their functions cross zero, and the state after a reset."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, told
from polhode.scalar import UNIT_TOLERANCE
from polhode.simulation.compiled_run import CompiledRun
from polhode.simulation.events.switch_log import CHATTER
from polhode.simulation.events.switch_passage import FARTHEST, NARROW, RETURN, SHORT_PARTS, next_part
from polhode.simulation.run_records import NONE, Event, Position, Segment
from polhode.simulation.step_state import SURFACE, Crossing, crossed

APPROACHES, PART, SAME = 12, 0.75, 1e-10
"""Equal steps up to a jump: of at most so many shorter ones each goes this part of the way, until the place of the
switch moves by less than this part of a step."""

HOPS = 8
"""Moments beyond a switch, each twice as long as the one before, that are computed together: looks back at a switch
take about as many, and one more costs a tenth of a call."""

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


def bracketed(
    before: float,
    after: float,
    value: Callable[[float], float],
    width: float,
    crossing: Crossing = SURFACE,
    ends: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float]:
    """The parts of a step between which a function passes zero, no farther apart than `width`.

    Never more evaluations than one beyond bisection, a few where the function is smooth. The function may jump.

    before, after  its values at both ends, of two signs
    crossing       what passing means
    ends           the parts of the step between which it is looked for
    """
    (low, high), f_low, f_high = ends, before, after
    passed = _passing(crossing, before)
    most = math.ceil(math.log2(max((high - low) / width, 2.0))) + 1
    for k in range(most):
        if high - low <= width:
            break
        x = next_part(low, high, f_low, f_high, width * 2.0 ** (most - k - 1))
        f = value(x)
        if passed(f) or math.isnan(f):
            high, f_high = x, f
        else:
            low, f_low = x, f
    return low, high


def _passing(crossing: Crossing, before: float) -> Callable[[float], Any]:
    """Whether a function that had a value before has crossed zero where it has another."""
    if crossing is SURFACE and before < 0:
        return (0.0).__le__
    if crossing is SURFACE and before > 0:
        return (0.0).__ge__
    return lambda value: crossed((crossing,), (before,), (value,))


class EventHit(NamedTuple):
    """An event within a step, or a switch: then beyond it, by as little as is needed.

    k         its number; switches have those after the events
    t, q, v   time and state there
    g, side   its function there, and where the step began
    begin, h  where the step began, and its size
    values    all functions there
    work      done up to there, by source
    chatters  whether the motion comes back to a switch at once, again and again
    """

    k: int
    t: float
    q: np.ndarray
    v: np.ndarray
    g: float
    side: float
    begin: float
    h: float
    values: np.ndarray
    work: np.ndarray
    chatters: bool = False


class PlaceInStep(NamedTuple):
    """Time, state, the functions of all events and switches, and the work done, somewhere in a step."""

    t: Any
    q: np.ndarray
    v: np.ndarray
    g: np.ndarray
    work: np.ndarray


class SwitchInStep(NamedTuple):
    """A switch within a step: its number, and the parts of the step just before and just after it."""

    k: int
    low: float
    high: float


class StepEvents:
    """The events and switches within the last step of a step state."""

    def __init__(
        self,
        compiled: CompiledRun,
        step: Segment,
        packed: np.ndarray,
        level: np.ndarray | None,
        tolerance: float,
        apart: bool = False,
    ) -> None:
        """Look into a step.

        apart  equal steps go to a switch by other parts, so that a companion does not repeat a run's
        """
        self.apart = apart
        self.compiled, self.packed, self.level, self.tolerance = compiled, packed, level, tolerance
        self.is_switching = compiled.spec.switching is not None
        self.settings: tuple[float, ...] = (tolerance,) if self.is_switching else ()
        self.begin, self.h = step.begin, step.h
        if compiled.spec.fixed:
            self.settings = step.h, step.begin
            self.begin += (float(compiled.field(packed, "accepted")) - 1) * step.h
        else:
            self.begin, self.h = compiled.number(packed, "t0"), compiled.number(packed, "h0")
        self._known: tuple[float, Any] = math.nan, None

    def at(self, theta: float) -> PlaceInStep:
        """The place at a part θ of the step."""
        return self._at(theta)[1]

    def error(self, theta: float) -> float:
        """The error of the step up to a part θ of it, in units of the tolerance; 0 with equal steps."""
        return self._at(theta)[0]

    def places(self, thetas: np.ndarray) -> PlaceInStep:
        """The places at parts θ > 0 (n,) of the step, as one record of rows."""
        found = self.compiled.inside_at(self.packed, thetas, self.settings, self.level)
        return PlaceInStep(found[:, 0], *(found[:, part] for part in self._parts))

    def _at(self, theta: float) -> tuple[float, PlaceInStep]:
        """The error of the step up to a part θ of it, and the place there: the last one asked for is known."""
        if theta != self._known[0]:
            self._known = theta, self._found_at(theta)
        return self._known[1]

    def _found_at(self, theta: float) -> tuple[float, PlaceInStep]:
        nq = self.compiled.model.nq
        if self.is_switching and theta == 0.0:  # a step of no length: nothing is computed
            before, g, work = (self.compiled.field(self.packed, name) for name in ("before", "g_before", "work_before"))
            return 0.0, PlaceInStep(self.begin, before[:nq], before[nq:], g, work)
        found = self._inside(theta).copy()
        error = found.item(1) if self.is_switching else 0.0
        return error, PlaceInStep(found.item(0), *(found[part] for part in self._parts))

    @cached_property
    def _parts(self) -> tuple[slice, ...]:
        """Where q, v, functions and work lie in what is told of a place."""
        first, nq, nv = 1 + self.is_switching, self.compiled.model.nq, self.compiled.model.nv
        ends = first, first + nq, first + nq + nv, first + nq + nv + len(self._before)
        return *(slice(*pair) for pair in pairwise(ends)), slice(ends[-1], None)

    @cached_property
    def _inside(self) -> Callable[[float], np.ndarray]:
        """What `CompiledRun.inside` tells of a part θ of the step; the next call writes over it."""
        return self.compiled.inside(self.packed, self.settings, self.level)

    def hits(self) -> Iterator[EventHit]:
        """The events of the step in the order of their times, up to the first switch, and that."""
        near, switch = self._near() if self.compiled.spec.fixed else (self, self.switch)
        until = (near.begin + switch.low * near.h - self.begin) / self.h if switch else 1.0
        begin, end = self._ends
        before = self._before
        if self.compiled.crossings:
            after = self.at(until).g if switch else self.compiled.field(self.packed, "g")
            for theta, k in self._in_order(before, {k: theta for theta, k in self._crossings(before, after, until)}):
                t, q, v, g, work = self.at(theta)
                yield EventHit(k, t, q, v, float(g[k]), float(before[k]), begin, end - begin, g, work)
        if switch:
            (t, q, v, g, work), chatters = near._beyond(switch)
            k = switch.k
            yield EventHit(k, float(t), q, v, float(g[k]), float(before[k]), begin, end - begin, g, work, chatters)

    @property
    def _ends(self) -> tuple[float, float]:
        """The times between which the step lies."""
        if self.compiled.spec.fixed:
            return self.at(0.0).t, self.at(1.0).t
        return self.begin, self.begin + self.h

    def _crossings(self, before: np.ndarray, after: np.ndarray, until: float) -> Iterator[tuple[float, int]]:
        """Where in the step up to a part of it which events' functions cross zero."""
        for k, crossing in enumerate(self.compiled.crossings):
            if crossed((crossing,), (float(before[k]),), (float(after[k]),)):
                yield self._place(k, float(before[k]), float(after[k]), until), k

    def _in_order(self, before: np.ndarray, places: dict[int, float]) -> list[tuple[float, int]]:
        """Events by the parts of the step at which they lie.

        One of a force element that lies before the first of them is found too, though its guard is no more above 0 at
        the end of the step: the motion changes before that.
        """
        while places:
            first = min(places.values())
            g, early = self.at(first).g, dict[int, float]()
            for k, crossing in enumerate(self.compiled.crossings):
                if crossing.is_level and g[k] > 0 and places.get(k, 1.0) > first:
                    early[k] = self._place(k, float(before[k]), float(g[k]), first)
            if not early:
                break
            places = places | early
        return sorted((theta, k) for k, theta in places.items())

    def _place(self, k: int, before: float, after: float, until: float) -> float:
        """The part of the step at which an event lies, up to the part `until`; after: its function there."""
        crossing = self.compiled.crossings[k]
        if not (crossing.is_level and before < 0 < after):
            return located(crossing, before, self._function(k), until)
        value = self._function(k)
        return until * bracketed(before, after, lambda part: value(part * until), NARROW, crossing)[1]

    def _function(self, k: int) -> Callable[[float], float]:
        """The function k as one of a part θ > 0 of the step."""
        place, inside = 1 + self.is_switching + self.compiled.model.nq + self.compiled.model.nv + k, self._inside
        return lambda theta: inside(theta).item(place)

    # switches

    @cached_property
    def switch(self) -> SwitchInStep | None:
        """The first switch of the step.

        Beyond it others may be passed, and it may be passed back, above all by a step that was rejected since its
        forces were those of the wrong side: such steps are tried from a short part of them on.
        """
        before, after = self._before, self.compiled.field(self.packed, "g")
        high, passed = 1.0, self._passed(before, after)
        parts = self._short_parts() if len(passed) > 1 or self._is_rejected else ()
        while passed:
            found = self._first_of(passed, high, after, parts)
            hidden = self.at(found.low)
            if not (passed := self._passed(before, hidden.g)):
                return found
            high, after, parts = found.low, hidden.g, ()
        return None

    def _first_of(self, passed: list[int], high: float, after: np.ndarray, parts: Sequence[float]) -> SwitchInStep:
        """The first of the surfaces that are passed up to a part of the step, of those seen there; others may be
        passed, and passed back, before it.

        after  all functions at that part
        parts  shorter ones, which are looked at first
        """
        before, low, at_low = self._before, 0.0, self._before
        width = max(NARROW, 2 * math.ulp(self.begin + self.h) / self.h)
        for part in parts:
            values = self._values(part)
            if there := self._passed(before, values):
                passed, high, after = there, part, values
                break
            low, at_low = part, values
        while len(passed) > 1 and high - low > width:
            half = (low + high) / 2
            values = self._values(half)
            if there := self._passed(before, values):
                passed, high, after = there, half, values
            else:
                low, at_low = half, values
        k = passed[0]
        ends = float(at_low[k]), float(after[k])
        return SwitchInStep(k, *bracketed(*ends, self._function(k), width, ends=(low, high)))

    @property
    def _is_rejected(self) -> bool:
        """Whether the step was rejected: nothing is beyond its begin."""
        return not self.compiled.spec.fixed and self.compiled.number(self.packed, "t") <= self.begin

    def _short_parts(self) -> list[float]:
        """The parts of the step that are looked at first; of a rejected one beyond half of what its error suggests."""
        least = self.compiled.number(self.packed, "h") / (2 * self.h) if self._is_rejected else 0.0
        return [part for part in SHORT_PARTS if part > least]

    def _values(self, theta: float) -> np.ndarray:
        """All functions at a part θ > 0 of the step."""
        return self._inside(theta)[self._parts[2]].copy()

    @cached_property
    def _before(self) -> np.ndarray:
        """All functions where the step begins."""
        return self.compiled.field(self.packed, "g_before")

    def _passed(self, before: np.ndarray, values: np.ndarray) -> list[int]:
        """The surfaces that are passed between two places; one whose function is no number counts as passed."""
        first = len(self.compiled.crossings)
        old, new = before[first:], values[first:]
        (beyond,) = (crossed((SURFACE,), (old,), (new,)) | np.isnan(new)).nonzero()
        passed: list[int] = (first + beyond).tolist()
        return passed

    def _near(self) -> tuple["StepEvents", SwitchInStep | None]:
        """Equal steps: the events of a shorter step up to the first switch, and the switch in it.

        Stages of a step up to a switch may lie beyond it. Where that moves it, part of the way is gone by another step
        first, again and again: what is left of the error is in proportion to the last of them. A companion goes half as
        far at first: it would else repeat a passage of a contact from touch to leaving, whatever its steps.
        """
        here, switch = self, self.switch
        for k in range(APPROACHES):
            if switch is None:
                break
            place = here.at((PART / 2 if self.apart and not k else PART) * switch.low)
            rest = here._following(place, here.begin + here.h - place.t)
            there = rest.switch
            if there is None:
                break
            moved = abs(rest.begin + there.low * rest.h - here.begin - switch.low * here.h)
            if moved < SAME * self.h and (k or not self.apart):
                break
            here, switch = rest, there
        return here, switch

    def _following(self, place: "PlaceInStep", h: float) -> "StepEvents":
        """The events of one more step, from a place."""
        t, compiled = float(place.t), self.compiled
        packed = compiled.start(t, place.q, place.v, h, self.level, place.g, place.work)
        if compiled.spec.fixed:
            compiled.field(packed[None], "accepted")[:] = 1.0
        found = StepEvents(compiled, Segment(t, t + h, h, NONE, NONE), packed, self.level, self.tolerance)
        compiled.field(packed[None], "g")[:] = found.at(1.0).g
        return found

    def _beyond(self, switch: SwitchInStep) -> tuple["PlaceInStep", bool]:
        """The place just beyond a switch, and whether the motion comes back at once, CHATTER times: it chatters.

        Nothing passes where a function only touches zero: then the place before it, and its function as 0.
        """
        before, k = PlaceInStep(*(np.array(x) for x in self.at(switch.low))), switch.k
        least = max(4 * math.ulp(float(before.t)), (switch.high - switch.low) * self.h)
        found, h = self._hop(before, k, least, FARTHEST * self.h)
        if found is None:
            before.g[k] = 0.0
            return before, False
        place: PlaceInStep | None = found
        for _ in range(CHATTER):
            assert place
            place, h = self._hop(place, k, least, RETURN * h)
            if place is None:
                return found, False
        return found, True

    def _hop(self, before: "PlaceInStep", k: int, h: float, farthest: float) -> tuple["PlaceInStep | None", float]:
        """The place after the shortest step, from h on, that passes a surface, and its size; None: none is so short."""
        compiled, nq, n = self.compiled, self.compiled.model.nq, self.compiled.model.nq + self.compiled.model.nv
        t, side, farthest = float(before.t), float(before.g[k]), max(farthest, 64 * math.ulp(float(before.t)))
        while h <= farthest:
            sizes = [h * 2.0**i for i in range(HOPS) if h * 2.0**i <= farthest]
            found = compiled.moments_later(t, before.q, before.v, np.array(sizes), self.level)
            for size, row, g in zip(sizes, found, found[:, 1 + n + k].tolist(), strict=True):
                if g * side < 0:
                    return PlaceInStep(row[0], row[1 : 1 + nq], row[1 + nq : 1 + n], row[1 + n :], before.work), size
            h = 2 * sizes[-1]
        return None, h


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
