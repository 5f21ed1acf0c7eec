"""The passage of a switch by a controlled step, on generic scalars: compiled, it is one call.

A step that passes a surface is ended just beyond the surface, where the next one begins; or it is tried again, shorter,
where its error up to there is too large. What is rare is left as it is: a motion that only touches the surface, or that
comes back to it at once, see `event_location`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from polhode.integrate.adaptive import GROW, SAFETY, SHRINK
from polhode.integrate.method import MotionState
from polhode.model.forces.base import ABSENT
from polhode.scalar import Scalar, Vec, exp, flat, iterate, log, maximum, minimum, shaped, where
from polhode.simulation.step_state import GOING, AdaptiveStepState, Setup, adaptive_shorter, values_of

NARROW = 2.0**-50
"""The part of a step to which a switch is located: near the rounding of the times within it."""

FARTHEST = 1e-6
"""The part of a step that is tried at most to get beyond a switch; a function that needs more only touches zero."""

RETURN = 64.0
"""How many times the step beyond a switch is looked ahead, to see whether the motion comes back."""

SHORT_PARTS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""Parts of a step at which the first of several switches is looked for, before it is located: up to five evaluations,
which keep rejected steps from being searched where they have long left the motion of the machine. Of a rejected step
those before the part that its error suggests are left out."""

NEARLY = 0.9
"""The part of a step up to a switch that is tried where the whole errs too much."""

SHORTEST = 1e-13
"""A step up to a switch that is shorter than this part of the time is taken whatever its error."""

LEFT, PASSED, SHORTER = 0.0, 1.0, 2.0
"""What became of a step: nothing; it ends just beyond its switch; it is to be tried again, shorter."""

MOST_TRIES = 128
"""Parts of a step that are tried at most: more than all phases of a search take."""

MOST_MOMENTS = 64
"""Moments, each twice as long as the one before, that are tried beyond a switch: more than fit into its step."""

HALF_UNIT = 2.0**-53 * (1 + 2.0**-20)
"""A little more than half a unit in the last place of 1."""

TOLD = 3
"""Numbers of what `passage` returns before the step state: what became of the step, the number of the surface, and its
function beyond it."""


def next_part(low: Scalar, high: Scalar, f_low: Scalar, f_high: Scalar, slack: Scalar) -> Scalar:
    """The part of a step at which a function is evaluated next, between two at which it has two signs: by the secant,
    within a shrinking middle part of the bracket.                                  Oliveira, Takahashi (2020)

    slack  the width to which it is located, times 2 for each evaluation that is left beside this one
    """
    half, size = (low + high) / 2, high - low
    level = f_high == f_low
    secant = where(level, half, (f_high * low - f_low * high) / where(level, 1.0, f_high - f_low))
    side = where(half - secant < 0, -1.0, 1.0)
    nudged = secant + side * minimum(abs(half - secant), 0.2 * (size * size))
    reach = maximum(slack - size / 2, 0.0)
    x = where(abs(nudged - half) <= reach, nudged, half - side * reach)
    return where((low < x) & (x < high), x, half)


class _Search(NamedTuple):
    """The search for the first switch of a step.

    short      how many of SHORT_PARTS were tried or left out
    k          number of the surface that is located; −1 while there are several
    slack      of `next_part`
    low, high  parts of the step, before the switch and beyond it
    g_high     the surfaces at `high`
    place      t, error, q, v, surfaces and work at `low`
    error      of the step up to nearly `low`; −1 while it is not known
    """

    short: Scalar
    k: Scalar
    slack: Scalar
    low: Scalar
    high: Scalar
    g_high: Vec
    place: Vec
    error: Scalar


class _Place(NamedTuple):
    """What `adaptive_shorter` tells of a place in a step."""

    t: Scalar
    error: Scalar
    state: MotionState
    g: Vec
    work: Vec


def passage(
    setup: Setup,
    like: AdaptiveStepState,
    packed: Vec,
    tolerance: Scalar,
    end: Scalar,
    longest: Scalar,
    least: Scalar,
) -> Vec:
    """What became of a step that passes surfaces, the number of the first, its function beyond it, and the step state.

    end, longest  as in `controlled_steps`
    least         a step up to a switch that is no longer, s, is taken whatever its error
    """
    s: AdaptiveStepState = shaped(like, iter(packed))
    search = _Searched(setup, like, packed, tolerance, maximum(least, SHORTEST * s.t0))
    found, place = search.found, search.place
    beyond, passes = _beyond(setup, place, found, s.h0)
    errs = search.errs(found)
    kind = where(errs, SHORTER, where(passes & (found.k >= 0), PASSED, LEFT))
    k = where(found.k >= 0, found.k, _first(s.g_before, found.g_high))
    back = where(s.t > s.t0, 1.0, 0.0)
    h = minimum(minimum(maximum(s.h, s.h0), end - beyond.t), longest)
    ended = s._replace(
        t=where(errs, s.t0, beyond.t), status=GOING, h=where(errs, _shorter_part(setup, found) * s.h0, h), grow=GROW,
        q=where(errs, s.before.q, beyond.state.q), v=where(errs, s.before.v, beyond.state.v),
        g=where(errs, s.g_before, beyond.g), work=where(errs, s.work_before, place.work),
        accepted=where(errs, s.accepted - back, s.accepted + 1.0 - back), rejected=s.rejected + where(errs, back, 0.0),
    )  # fmt: skip
    return Vec((kind, k, _chosen(k, beyond.g), *flat(ended)))


class _Searched:
    """The search for the first switch of a step, ended: at the switch, or at a place before it up to which a step errs
    too much; then with the error of one that is nearly as long."""

    def __init__(self, setup: Setup, like: AdaptiveStepState, packed: Vec, tolerance: Scalar, least: Scalar) -> None:
        self.step: AdaptiveStepState = shaped(like, iter(packed))
        s, self.least = self.step, least
        self.begin = _Place(s.t0, 0.0, s.before, s.g_before, s.work_before)
        self.width = maximum(NARROW, 2 * _unit(s.t0 + s.h0) / s.h0)
        several = _count(s.g_before, s.g) > 1
        short = where(s.t <= s.t0, _count_up_to(SHORT_PARTS, s.h / (2 * s.h0)), where(several, 0.0, len(SHORT_PARTS)))
        begun = self._settled(_Search(short, -1.0, self.width, 0.0, 1.0, s.g, Vec(flat(self.begin)), -1.0))

        def step(state: Vec) -> tuple[Vec, Any]:
            x: _Search = shaped(begun, iter(state))
            is_last = self._is_located(x) | self.errs(x)
            part = where(is_last, NEARLY * x.low, self._part(x))
            row = adaptive_shorter(setup, like, packed, part, tolerance)
            there = shaped(self.begin, iter(row))
            tried = Vec(flat(self._settled(self._after(x, part, row))))
            new = where(is_last, Vec(flat(x._replace(error=there.error))), tried)
            return new, self._goes_on(shaped(begun, iter(new)))

        limit = where(self._goes_on(begun), MOST_TRIES, 0)
        self.found: _Search = shaped(begun, iter(iterate(step, Vec(flat(begun)), limit)))
        self.place: _Place = shaped(self.begin, iter(self.found.place))

    def errs(self, x: _Search) -> Any:
        """Whether a step up to `low` errs too much: it is longer than `least`, and its error is not below 1."""
        return where(x.place[1] < 1, False, x.low * self.step.h0 > self.least)

    def _is_located(self, x: _Search) -> Any:
        return (x.k >= 0) & ((x.high - x.low <= self.width) | (x.slack < self.width))

    def _goes_on(self, x: _Search) -> Any:
        """Whether something is left to be evaluated."""
        searching = (x.k >= 0) | (x.short < len(SHORT_PARTS)) | (x.high - x.low > self.width)
        return where(self.errs(x), x.error < 0, where(self._is_located(x), False, searching))

    def _part(self, x: _Search) -> Scalar:
        """The part of the step that is tried next."""
        g_low = shaped(self.begin, iter(x.place)).g
        part = next_part(x.low, x.high, _chosen(x.k, g_low), _chosen(x.k, x.g_high), x.slack)
        part = where(x.k < 0, (x.low + x.high) / 2, part)
        return where(x.short < len(SHORT_PARTS), _chosen(x.short, SHORT_PARTS), part)

    def _after(self, x: _Search, part: Scalar, row: Vec) -> _Search:
        """The search after a part was tried: `low` or `high` is there."""
        there, before, is_open = shaped(self.begin, iter(row)), self.step.g_before, x.k < 0
        one = _passes(_chosen(x.k, before), _chosen(x.k, there.g))
        passed = where(is_open, _count(before, there.g), one) > 0
        is_short, all_parts = x.short < len(SHORT_PARTS), float(len(SHORT_PARTS))
        return x._replace(
            low=where(passed, x.low, part), high=where(passed, part, x.high),
            g_high=where(passed, there.g, x.g_high), place=where(passed, x.place, row),
            short=where(is_short, where(passed, all_parts, x.short + 1.0), x.short),
            slack=where(is_open, x.slack, x.slack / 2),
        )  # fmt: skip

    def _settled(self, x: _Search) -> _Search:
        """The search with the number of its surface, once there is one to be located; from the beginning again where
        another one is passed before that."""
        before, g_low = self.step.g_before, shaped(self.begin, iter(x.place)).g
        hidden = self._is_located(x) & (_count(before, g_low) > 0)
        x = x._replace(
            k=where(hidden, -1.0, x.k), low=where(hidden, 0.0, x.low), high=where(hidden, x.low, x.high),
            g_high=where(hidden, g_low, x.g_high), place=where(hidden, Vec(flat(self.begin)), x.place),
        )  # fmt: skip
        size, many = x.high - x.low, _count(before, x.g_high)
        is_alone = where(many > 1, size <= self.width, many > 0)
        ready = (x.k < 0) & (x.short >= len(SHORT_PARTS)) & is_alone

        def doubled(state: Vec) -> tuple[Vec, Any]:
            return Vec([2 * state[0]]), 2 * state[0] < size

        wide = where(ready & (2 * self.width < size), MOST_TRIES, 0)
        (slack,) = iterate(doubled, Vec([2 * self.width]), wide)
        return x._replace(k=where(ready, _first(before, x.g_high), x.k), slack=where(ready, slack, x.slack))


def _shorter_part(setup: Setup, x: _Search) -> Scalar:
    """The part of the step to be tried where one up to the switch errs too much."""
    power = -1 / ((setup.method.error_order or 1) + 1)
    ok, finite = x.error < 1, x.error < 1e300
    factor = maximum(SHRINK, SAFETY * exp(power * log(where(finite, maximum(x.error, 1.0), 1.0))))
    return NEARLY * x.low * where(ok, 1.0, where(finite, factor, SHRINK))


def _beyond(setup: Setup, place: _Place, x: _Search, h: Scalar) -> tuple[_Place, Any]:
    """The place just beyond a switch, by the shortest step of Euler's that passes it, and whether the motion passes it
    for good: there is one, and none that passes it back."""
    unit = _unit(place.t)
    first = maximum(4 * unit, (x.high - x.low) * h)
    size, found = _hop(setup, place, x.k, first, maximum(FARTHEST * h, 64 * unit))
    passes = _chosen(x.k, place.g) * _chosen(x.k, found.g) < 0
    unit = _unit(found.t)
    _, back = _hop(setup, found, x.k, first, maximum(RETURN * size, 64 * unit))
    returns = _chosen(x.k, found.g) * _chosen(x.k, back.g) < 0
    return found, where(returns, False, passes)


def _hop(setup: Setup, place: _Place, k: Scalar, first: Scalar, farthest: Scalar) -> tuple[Scalar, _Place]:
    """The size of the shortest step, from one on, that passes a surface, and the place there; the longest where none
    passes."""
    q, v = place.state
    rate, side, machine = setup.machine.acceleration(place.t, q, v), _chosen(k, place.g), setup.machine

    def later(size: Scalar) -> _Place:
        state = MotionState(machine.retract(q, size * v), v + size * rate)
        return _Place(place.t + size, place.error, state, values_of(setup, place.t + size, *state), place.work)

    def longer(state: Vec) -> tuple[Vec, Any]:
        there = later(state[0])
        goes_on = where(_chosen(k, there.g) * side < 0, False, 2 * state[0] <= farthest)
        return Vec([where(goes_on, 2 * state[0], state[0])]), goes_on

    (size,) = iterate(longer, Vec([first]), MOST_MOMENTS)
    return size, later(size)


def _unit(t: Scalar) -> Scalar:
    """A unit in the last place of a time t ≥ 0."""
    return t + HALF_UNIT * t - t


def _passes(a: Scalar, b: Scalar) -> Scalar:
    """1 where a surface is passed between two values, else 0; one whose function is no number counts as passed."""
    below, above = where((b < 0) | (a <= -ABSENT), 0.0, 1.0), where((b > 0) | (b <= -ABSENT), 0.0, 1.0)
    return where(a < 0, below, where(a > 0, above, 0.0))


def _count(before: Vec, values: Vec) -> Scalar:
    """How many surfaces are passed."""
    found: Scalar = 0.0
    for a, b in zip(before, values, strict=True):
        found = found + _passes(a, b)
    return found


def _first(before: Vec, values: Vec) -> Scalar:
    """The number of the first surface that is passed."""
    found: Scalar = -1.0
    for k in reversed(range(len(before))):
        found = where(_passes(before[k], values[k]) > 0, float(k), found)
    return found


def _count_up_to(values: Sequence[float], most: Scalar) -> Scalar:
    """How many values are at most so large."""
    found: Scalar = 0.0
    for value in values:
        found = found + where(most >= value, 1.0, 0.0)
    return found


def _chosen(k: Scalar, values: Sequence[Scalar]) -> Scalar:
    """The value of a number; the first where there is none."""
    found = values[0]
    for i, value in enumerate(values):
        found = where(k == i, value, found)
    return found
