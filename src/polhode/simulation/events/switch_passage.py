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


NONE_PASSED = Vec([0.0, -1.0])
"""How many surfaces are passed at a place in a step, and the number of the first, where there are none."""


class _SwitchBracket(NamedTuple):
    """The search for the first switch of a step.

    short              how many of SHORT_PARTS were tried or left out
    k                  number of the surface that is located; −1 while there are several
    slack              of `next_part`
    low, high          parts of the step, before the switch and beyond it
    at_low, at_high    how many surfaces are passed there, and the first of them
    g_high             the surfaces at `high`
    place              t, error, q, v, surfaces and work at `low`
    error              of the step up to nearly `low`; −1 while it is not known
    """

    short: Scalar
    k: Scalar
    slack: Scalar
    low: Scalar
    high: Scalar
    at_low: Vec
    at_high: Vec
    g_high: Vec
    place: Vec
    error: Scalar


class _PlaceWithError(NamedTuple):
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
    search = _FirstSwitch(setup, like, packed, tolerance, maximum(least, SHORTEST * s.t0))
    found, place = search.found, search.place
    beyond, passes = _beyond(setup, place, found, s.h0)
    errs = search.errs(found)
    kind = where(errs, SHORTER, where(passes & (found.k >= 0), PASSED, LEFT))
    k = where(found.k >= 0, found.k, found.at_high[1])
    back = where(s.t > s.t0, 1.0, 0.0)
    h = minimum(minimum(maximum(s.h, s.h0), end - beyond.t), longest)
    ended = s._replace(
        t=where(errs, s.t0, beyond.t), status=GOING, h=where(errs, _shorter_part(setup, found) * s.h0, h), grow=GROW,
        q=where(errs, s.before.q, beyond.state.q), v=where(errs, s.before.v, beyond.state.v),
        g=where(errs, s.g_before, beyond.g), work=where(errs, s.work_before, place.work),
        accepted=where(errs, s.accepted - back, s.accepted + 1.0 - back), rejected=s.rejected + where(errs, back, 0.0),
    )  # fmt: skip
    return Vec((kind, k, _chosen(k, beyond.g), *flat(ended)))


class _FirstSwitch:
    """The search for the first switch of a step, ended: at the switch, or at a place before it up to which a step errs
    too much; then with the error of one that is nearly as long."""

    def __init__(self, setup: Setup, like: AdaptiveStepState, packed: Vec, tolerance: Scalar, least: Scalar) -> None:
        self.step: AdaptiveStepState = shaped(like, iter(packed))
        s, self.least = self.step, least
        self.sides = Vec([where((g < 0) & (g > -ABSENT), -1.0, where(g > 0, 1.0, 0.0)) for g in s.g_before])
        self.begin = _PlaceWithError(s.t0, 0.0, s.before, s.g_before, s.work_before)
        self.width = maximum(NARROW, 2 * _unit(s.t0 + s.h0) / s.h0)
        whole = self._passed(s.g)
        left_out = where(whole[0] > 1, 0.0, float(len(SHORT_PARTS)))
        short = where(s.t <= s.t0, _count_up_to(SHORT_PARTS, s.h / (2 * s.h0)), left_out)
        numbers = short, -1.0, self.width, 0.0, 1.0, NONE_PASSED, whole
        begun = self._settled(_SwitchBracket(*numbers, s.g, Vec(flat(self.begin)), -1.0))

        def step(state: Vec) -> tuple[Vec, Any]:
            x: _SwitchBracket = shaped(begun, iter(state))
            is_last = self._is_located(x) | self.errs(x)
            part = where(is_last, NEARLY * x.low, self._part(x))
            row = adaptive_shorter(setup, like, packed, part, tolerance)
            new = self._settled(self._after(x, part, row, is_last))
            return Vec(flat(new)), self._goes_on(new)

        limit = where(self._goes_on(begun), MOST_TRIES, 0)
        self.found: _SwitchBracket = shaped(begun, iter(iterate(step, Vec(flat(begun)), limit)))
        self.place: _PlaceWithError = shaped(self.begin, iter(self.found.place))

    def errs(self, x: _SwitchBracket) -> Any:
        """Whether a step up to `low` errs too much: it is longer than `least`, and its error is not below 1."""
        return where(x.place[1] < 1, False, x.low * self.step.h0 > self.least)

    def _is_located(self, x: _SwitchBracket) -> Any:
        return (x.k >= 0) & ((x.high - x.low <= self.width) | (x.slack < self.width))

    def _goes_on(self, x: _SwitchBracket) -> Any:
        """Whether something is left to be evaluated."""
        searching = (x.k >= 0) | (x.short < len(SHORT_PARTS)) | (x.high - x.low > self.width)
        return where(self.errs(x), x.error < 0, where(self._is_located(x), False, searching))

    def _part(self, x: _SwitchBracket) -> Scalar:
        """The part of the step that is tried next."""
        g_low = shaped(self.begin, iter(x.place)).g
        part = next_part(x.low, x.high, _chosen(x.k, g_low), _chosen(x.k, x.g_high), x.slack)
        part = where(x.k < 0, (x.low + x.high) / 2, part)
        return where(x.short < len(SHORT_PARTS), _chosen(x.short, SHORT_PARTS), part)

    def _after(self, x: _SwitchBracket, part: Scalar, row: Vec, is_last: Any) -> _SwitchBracket:
        """The search after a part was tried: `low` or `high` is there; or, the last time, its error is known."""
        there, is_open = shaped(self.begin, iter(row)), x.k < 0
        passed = self._passed(there.g)
        one = _chosen(x.k, self.sides) * _chosen(x.k, there.g)
        is_beyond = where(is_open, passed[0] > 0, one < 0)
        is_low, is_high = where(is_beyond, False, ~is_last), where(is_last, False, is_beyond)
        is_short, all_parts = x.short < len(SHORT_PARTS), float(len(SHORT_PARTS))
        return x._replace(
            low=where(is_low, part, x.low), high=where(is_high, part, x.high),
            at_low=where(is_low, passed, x.at_low), at_high=where(is_high, passed, x.at_high),
            g_high=where(is_high, there.g, x.g_high), place=where(is_low, row, x.place),
            short=where(is_short, where(is_beyond, all_parts, x.short + 1.0), x.short),
            slack=where(is_open, x.slack, x.slack / 2), error=where(is_last, there.error, x.error),
        )  # fmt: skip

    def _settled(self, x: _SwitchBracket) -> _SwitchBracket:
        """The search with the number of its surface, once there is one to be located; from the beginning again where
        another one is passed before that."""
        g_low = shaped(self.begin, iter(x.place)).g
        hidden = self._is_located(x) & (x.at_low[0] > 0)
        x = x._replace(
            k=where(hidden, -1.0, x.k), low=where(hidden, 0.0, x.low), high=where(hidden, x.low, x.high),
            at_low=where(hidden, NONE_PASSED, x.at_low), at_high=where(hidden, x.at_low, x.at_high),
            g_high=where(hidden, g_low, x.g_high), place=where(hidden, Vec(flat(self.begin)), x.place),
        )  # fmt: skip
        size = x.high - x.low
        is_alone = where(x.at_high[0] > 1, size <= self.width, x.at_high[0] > 0)
        ready = (x.k < 0) & (x.short >= len(SHORT_PARTS)) & is_alone

        def doubled(state: Vec) -> tuple[Vec, Any]:
            return Vec([2 * state[0]]), 2 * state[0] < size

        wide = where(ready & (2 * self.width < size), MOST_TRIES, 0)
        (slack,) = iterate(doubled, Vec([2 * self.width]), wide)
        return x._replace(k=where(ready, x.at_high[1], x.k), slack=where(ready, slack, x.slack))

    def _passed(self, g: Vec) -> Vec:
        """How many surfaces are passed where they have these values, and the first of them; one that is 0 is not."""
        many, first = NONE_PASSED
        for k in reversed(range(len(g))):
            turned = self.sides[k] * g[k]
            is_passed = (turned < 0) & (turned > -ABSENT)
            many, first = many + where(is_passed, 1.0, 0.0), where(is_passed, float(k), first)
        return Vec([many, first])


def _shorter_part(setup: Setup, x: _SwitchBracket) -> Scalar:
    """The part of the step to be tried where one up to the switch errs too much."""
    power = -1 / ((setup.method.error_order or 1) + 1)
    ok, finite = x.error < 1, x.error < 1e300
    factor = maximum(SHRINK, SAFETY * exp(power * log(where(finite, maximum(x.error, 1.0), 1.0))))
    return NEARLY * x.low * where(ok, 1.0, where(finite, factor, SHRINK))


def _beyond(setup: Setup, place: _PlaceWithError, x: _SwitchBracket, h: Scalar) -> tuple[_PlaceWithError, Any]:
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


def _hop(
    setup: Setup, place: _PlaceWithError, k: Scalar, first: Scalar, farthest: Scalar
) -> tuple[Scalar, _PlaceWithError]:
    """The size of the shortest step, from one on, that passes a surface, and the place there; the longest where none
    passes."""
    q, v = place.state
    rate, side, machine = setup.machine.acceleration(place.t, q, v), _chosen(k, place.g), setup.machine

    def later(size: Scalar) -> _PlaceWithError:
        state = MotionState(machine.retract(q, size * v), v + size * rate)
        return _PlaceWithError(place.t + size, place.error, state, values_of(setup, place.t + size, *state), place.work)

    def longer(state: Vec) -> tuple[Vec, Any]:
        there = later(state[0])
        goes_on = where(_chosen(k, there.g) * side < 0, False, 2 * state[0] <= farthest)
        return Vec([where(goes_on, 2 * state[0], state[0])]), goes_on

    (size,) = iterate(longer, Vec([first]), MOST_MOMENTS)
    return size, later(size)


def _unit(t: Scalar) -> Scalar:
    """A unit in the last place of a time t ≥ 0."""
    return t + HALF_UNIT * t - t


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
        found = where(k >= i, value, found) if i else value
    return found
