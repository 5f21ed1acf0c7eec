"""The state of a run between steps, as one row of numbers, and how it advances: steps, their control, events, faults.

Everything here is on generic scalars. Compiled, a step state is one call; a whole run is a chain of them. On
floats it is the same run in Python, for functions that cannot be traced.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from polhode.integrate.adaptive import GROW, SHRINK, Controlled, controlled, counted_errors, error_norm, tolerance_scale
from polhode.integrate.integrals import advanced, dense_with_integrals, motion_within, state_within
from polhode.integrate.method import Machine, Method, MotionState
from polhode.model.forces.base import ABSENT
from polhode.scalar import Scalar, Vec, flat, iterate, maximum, minimum, shaped, sqrt, where

GOING, TOO_SMALL, NOT_FINITE, EVENT, STOPPED, DEGENERATE = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
"""The status of a step state: in progress; its step became too small; a number is not finite; an event lies in its last
step; stopped by Ctrl-C; its constraints turn without bound, or its motion was lost at a singular position of them."""

SMALLEST = 1e-14
"""Smallest step relative to the time, about the rounding of the time: a smaller one would not advance it."""

LIMIT = 200_000
"""Steps that compiled code tries at most before it returns to its caller."""

WORK = 500_000
"""Steps of a machine without joints that take about a tenth of a second, in the unit of `at_once`."""

LONGEST = 1e300
"""A step size in place of none: no step was counted yet, or no bound is set."""

LARGEST = 1e150
"""Numbers of a state above which a run ends as failed: their squares, in energies, would overflow."""

ROUNDING = 2e-16
"""ε: velocities across a row that has p left, about the angle to a singular position, are known to ε/p² of them."""

NEAR, FAR = 0.5, 5.0
"""What rows have left, over √(ε/tolerance), where a step ends too near to a singular position, if they had FAR where
it began: there velocities are known to 4 tolerances at best, and not to a 25th of one. What enters the neighbourhood of
a singular position by small steps goes on, and so does what leaves it."""

MARGIN, EQUAL_MARGIN = 2e-15, 1e-12
"""How far inside a step, relative to the time, the times lie that it sees where functions may jump at its ends: some
roundings of the time; with equal steps as far as a break may lie from the end of a step that counts as its place."""


def at_once(nv: int, runs: int = 1) -> int:
    """Steps that compiled code may take between checks for Ctrl-C: about a tenth of a second of them.

    A step of a machine with nv velocities is counted as (1 + nv)² of the smallest one, between its cost in a tree (nv)
    and under many constraints (nv³). It is a count, not a clock, so that kernels are the same on every machine.

    runs  that are followed side by side
    """
    return min(max(WORK // ((1 + nv) ** 2 * runs), 4), LIMIT)


class Crossing(NamedTuple):
    """A zero of a function g(t, q, v): upwards (direction 1), downwards (−1), or both ways (0)."""

    function: Callable[[Scalar, Vec, Vec], Scalar]
    direction: int
    name: str = ""
    is_level: bool = False
    """Whether it is passed wherever its function is above 0, as events of elements are."""


class Setup(NamedTuple):
    """What a step is made of: a method, a machine, crossings to watch for."""

    method: Method
    machine: Machine
    crossings: tuple[Crossing, ...] = ()
    project: Callable[[Scalar, Vec, Vec], tuple[Vec, Vec]] | None = None
    """Brings the state (t, q, v) at the end of a step back to where constraints hold."""
    land: Callable[[Scalar, Vec, Vec], tuple[Vec, Vec, Vec]] | None = None
    """The same, and what the rows of constraints have left there: of a row that nearly depends on others little."""
    interior: bool = False
    """Whether a step sees times of its interior only: functions may jump at its ends."""
    surfaces: Callable[[Scalar, Vec, Vec], Vec] | None = None
    """Switching functions of (t, q, v): where one passes zero a step has to end."""
    update: Callable[[Scalar, Vec, Vec], Vec] | None = None
    """The velocities of (t, q, v) with which a step begins: discrete states that are due are updated."""

    @property
    def is_watching(self) -> bool:
        """Whether there are crossings or surfaces."""
        return bool(self.crossings) or self.surfaces is not None

    def begun(self, t: Scalar, q: Vec, v: Vec) -> Vec:
        """The velocities with which a step from this state begins."""
        return self.update(t, q, v) if self.update else v

    def within(self, begin: Scalar, end: Scalar, part: float = MARGIN) -> Machine:
        """The machine as a step from one time to another sees it."""
        machine = self.machine
        if not self.interior:
            return machine
        margin = part * end

        def seen(function: Callable[..., Any]) -> Callable[..., Any]:
            return lambda t, *state: function(minimum(maximum(t, begin + margin), end - margin), *state)

        constraints = machine.constraints
        if constraints:
            constraints = constraints._replace(required_force=seen(constraints.required_force))
        machine = machine._replace(
            acceleration=seen(machine.acceleration),
            damped_acceleration=seen(machine.damped_acceleration),
            forces=seen(machine.forces),
            constraints=constraints,
        )
        return machine._replace(integrands=seen(machine.integrands)) if machine.integrands else machine


class FixedStepState(NamedTuple):
    """A run with equal steps: how many were accepted since the origin, and the state."""

    accepted: Scalar
    status: Scalar
    q: Vec
    v: Vec
    memory: Vec | None
    g: Vec
    """The values of the crossings' functions."""
    g_before: Vec
    """The same where the last step began."""
    before: MotionState | None
    """Where the last step began; kept if there are crossings."""
    memory_before: Vec | None
    work: Vec
    """Integrals since the start of the run."""
    work_before: Vec | None


class AdaptiveStepState(NamedTuple):
    """A run with controlled steps: time, state, the step to try next, and where the last step began."""

    t: Scalar
    status: Scalar
    q: Vec
    v: Vec
    h: Scalar
    """The step to try next, s."""
    grow: Scalar
    """The factor by which the step after it may be longer, at most: 1 after a rejected step."""
    accepted: Scalar
    rejected: Scalar
    smallest: Scalar
    largest: Scalar
    """Steps so far; the sizes of accepted ones, s."""
    g: Vec
    g_before: Vec
    """The values of the crossings' functions, now and where the last step began."""
    t0: Scalar
    h0: Scalar
    before: MotionState
    """Where the last step began, its size, and the state there."""
    work: Vec
    """Integrals since the start of the run."""
    work_before: Vec
    memory: Vec
    """Of the last step, for methods that recall it."""
    firm: Vec
    """(1)  Rows of constraints that have FAR left where the last step ended, 0 where they are not known; nothing where
    steps do not land."""

    def recalled(self, origin: Scalar) -> tuple[Vec, ...]:
        """The memory of the last step for a step that begins at its start, 0, or its end, 1; none of other methods."""
        return (Vec((origin, *self.memory[1:])),) if self.memory else ()


def fixed_start(
    setup: Setup, t: Scalar, q: Vec, v: Vec, h: Scalar, g: Vec | None = None, work: Vec | None = None
) -> FixedStepState:
    """The first step state of a run with equal steps.

    g     values of crossings and surfaces, where they are known
    work  integrals up to there; None: it is the start of the run
    """
    begun, machine = setup.begun(t, q, v), setup.within(t, t + h, EQUAL_MARGIN)
    memory = setup.method.start(machine, t, q, begun, h) if setup.method.start else None
    watched, g = setup.is_watching, values_of(setup, t, q, v) if g is None else g
    work = _nothing(setup) if work is None else work
    before, memory_before = (MotionState(q, v), memory) if watched else (None, None)
    return FixedStepState(0.0, GOING, q, v, memory, g, g, before, memory_before, work, work if watched else None)


def adaptive_start(
    setup: Setup, t: Scalar, q: Vec, v: Vec, h: Scalar, g: Vec | None = None, work: Vec | None = None
) -> AdaptiveStepState:
    """The first step state of a run with controlled steps; h is the step to try, g and work as in `fixed_start`."""
    none, g = (0.0, 0.0, LONGEST, 0.0), values_of(setup, t, q, v) if g is None else g
    work = _nothing(setup) if work is None else work
    memory = Vec([0.0] * (setup.method.recalls(setup.machine) if setup.method.recalls else 0))
    firm = Vec([0.0] if setup.land else [])
    return AdaptiveStepState(t, GOING, q, v, h, GROW, *none, g, g, t, h, MotionState(q, v), work, work, memory, firm)


def _nothing(setup: Setup) -> Vec:
    """The integrals at the start of a run."""
    return Vec([0.0] * setup.machine.integrals)


def values_of(setup: Setup, t: Scalar, q: Vec, v: Vec) -> Vec:
    """The functions of all crossings, then the surfaces."""
    found = [crossing.function(t, q, v) for crossing in setup.crossings]
    return Vec([*found, *setup.surfaces(t, q, v)] if setup.surfaces else found)


def _values_after(setup: Setup, t: Scalar, old: Vec, free: MotionState, q: Vec, v: Vec) -> Vec:
    """The functions of all crossings and surfaces at the end of a step; surfaces that it passed before its projection
    count as passed: where a wire has a corner, a projection may bring every step back to the side it came from.

    old   their values where the step began
    free  the end of the step before its projection; q, v: after it
    """
    found = values_of(setup, t, q, v)
    if not setup.surfaces or not setup.project:
        return found
    n = len(setup.crossings)
    passed = zip(old[n:], setup.surfaces(t, *free), found[n:], strict=True)
    return Vec([*found[:n], *(where(crossed([SURFACE], [a], [b]), b, c) for a, b, c in passed)])


def with_values(setup: Setup, t: Scalar, q: Vec, v: Vec) -> Vec:
    """Time and state, with the functions of all crossings and surfaces there."""
    return Vec((t, *q, *v, *values_of(setup, t, q, v)))


def crossed(crossings: Sequence[Crossing], old: Sequence[Any], new: Sequence[Any]) -> Any:
    """Whether any function changed its sign in the direction that is watched for."""
    found: Any = False
    for crossing, a, b in zip(crossings, old, new, strict=True):
        if crossing.is_level:
            found = found | (b > 0)
            continue
        if crossing is SURFACE:
            found = found | ((a < 0) & (a != -ABSENT) & (b >= 0)) | ((a > 0) & (b <= 0) & (b != -ABSENT))
            continue
        if crossing.direction >= 0:
            found = found | ((a < 0) & (b >= 0))
        if crossing.direction <= 0:
            found = found | ((a > 0) & (b <= 0))
    return found


SURFACE = Crossing(lambda t, q, v: 0.0, 0)
"""A surface as `crossed` sees it: it is passed both ways, but not where it comes or goes, see `ABSENT`."""


def _passed(setup: Setup, old: Vec, new: Vec) -> tuple[Any, Any]:
    """Whether any crossing was passed, and whether any surface was."""
    n = len(setup.crossings)
    surfaces = crossed([SURFACE] * (len(new) - n), old[n:], new[n:])
    return crossed(setup.crossings, old[:n], new[:n]), surfaces


def _finite(state: Vec) -> Any:
    """Whether all numbers are finite and within LARGEST."""
    size: Scalar = 0.0
    for x in state:
        size = size + abs(x)
    return size < LARGEST


def advance_fixed(setup: Setup, like: FixedStepState, packed: Vec, count: Any, h: Scalar, origin: Scalar) -> Vec:
    """The step state after `count` equal steps, or after those up to an event or a fault."""
    method, watched = setup.method, setup.is_watching

    def step(state: Vec) -> tuple[Vec, Any]:
        s: FixedStepState = shaped(like, iter(state))
        carried = (s.memory,) if s.memory is not None else ()
        t = origin + s.accepted * h
        s = s._replace(v=setup.begun(t, s.q, s.v))
        end = advanced(method, setup.within(t, t + h, EQUAL_MARGIN), t, s.q, s.v, h, *carried)
        free = MotionState(end.q, end.v)
        if setup.project:
            q, v = setup.project(origin + (s.accepted + 1.0) * h, end.q, end.v)
            end = end._replace(q=q, v=v)
        good = _finite(Vec((*end.q, *end.v)))
        g = _values_after(setup, origin + (s.accepted + 1.0) * h, s.g, free, end.q, end.v)
        event, switch = _passed(setup, s.g, g)
        status = where(good, where(event | switch, EVENT, GOING), NOT_FINITE)
        before, memory, work = (MotionState(s.q, s.v), s.memory, s.work) if watched else (None, None, None)
        now = end.q, end.v, end.memory, g, s.g
        new = FixedStepState(s.accepted + 1.0, status, *now, before, memory, s.work + end.integrals, work)
        kept = where(good, Vec(flat(new)), Vec(flat(s._replace(status=status))))
        return kept, status == GOING

    return iterate(step, packed, where(shaped(like, iter(packed)).status == GOING, count, 0 * count))


def advance_adaptive(
    setup: Setup,
    like: AdaptiveStepState,
    packed: Vec,
    target: Scalar,
    tolerance: Scalar,
    end: Scalar,
    longest: Scalar,
    limit: int,
) -> tuple[Vec, Vec]:
    """`controlled_steps`, and `state_at` its target; where that is no state, the run ends before its last step."""
    found = controlled_steps(setup, like, packed, target, tolerance, end, longest, limit)
    state = state_at(setup, like, found, target, tolerance)
    s: AdaptiveStepState = shaped(like, iter(found))
    is_wild = where(_finite(Vec(state[: len(s.q) + len(s.v)])), False, (s.status == GOING) & (s.t >= target))
    undone = s._replace(t=s.t0, status=NOT_FINITE, q=s.before.q, v=s.before.v, work=s.work_before)
    return where(is_wild, Vec(flat(undone)), found), state


def controlled_steps(
    setup: Setup,
    like: AdaptiveStepState,
    packed: Vec,
    target: Scalar,
    tolerance: Scalar,
    end: Scalar,
    longest: Scalar,
    limit: Any = LIMIT,
) -> Vec:
    """The step state at a time or, by the last step, beyond it; or at an event or a fault before it.

    end      of the run: no step goes beyond it
    longest  no step is longer
    limit    steps tried, after which the step state is handed back as it is
    """
    method = setup.method

    def step(state: Vec) -> tuple[Vec, Any]:
        s: AdaptiveStepState = shaped(like, iter(state))
        s = s._replace(v=setup.begun(s.t, s.q, s.v))
        last = s.t + s.h >= end
        h = where(last, end - s.t, s.h)
        tried = controlled(method, setup.within(s.t, s.t + h), s.t, s.q, s.v, h, tolerance, s.grow, s.memory)
        firm = s.firm
        if setup.land:
            tried, near, far = _landed(setup.land, tried, tolerance)
            is_too_near = where(last, False, tried.accepted & (near < s.firm[0]))
            tried = _taken_back(tried, is_too_near, s.t, h)
            firm = Vec([where(is_too_near, 0.0, where(tried.accepted, far, s.firm[0]))])
        finite = _finite(Vec((*tried.q, *tried.v)))
        yes = where(finite, tried.accepted, False)
        t = where(yes, where(last, end, tried.t), s.t)
        q, v = where(yes, tried.q, s.q), where(yes, tried.v, s.v)
        g = values_of(setup, t, q, v)
        event, switch = crossed(setup.crossings, s.g[: len(setup.crossings)], g[: len(setup.crossings)]), False
        if setup.surfaces:  # also a rejected step that passes one: it will end there
            ends = where(yes, q, tried.end.q), where(yes, v, tried.end.v)
            ahead = _values_after(setup, s.t + h, s.g, tried.end, *ends)
            switch = where(finite, _passed(setup, s.g, ahead)[1], False)
            g = where(switch, ahead, g)
        kept = yes | switch
        stuck = where(yes, where(last, False, tried.t <= s.t), h <= SMALLEST * maximum(abs(s.t), 1e-6))
        fault = where(finite, where(stuck, TOO_SMALL, GOING), NOT_FINITE)
        status = where(event | switch, EVENT, fault)
        one, none = where(yes, 1.0, 0.0), where(yes, 0.0, 1.0)
        following = minimum(where(yes, where(last, maximum(tried.h, s.h), tried.h), tried.h), longest)
        new = AdaptiveStepState(
            t, status, q, v, following, where(yes, GROW, 1.0), s.accepted + one, s.rejected + none,
            where(yes, minimum(s.smallest, h), s.smallest), where(yes, maximum(s.largest, h), s.largest), g,
            where(kept, s.g, s.g_before), where(kept, s.t, s.t0), where(kept, h, s.h0),
            MotionState(where(kept, s.q, s.before.q), where(kept, s.v, s.before.v)),
            where(yes, s.work + tried.integrals, s.work), where(kept, s.work, s.work_before),
            where(kept, tried.memory, s.memory), firm,
        )  # fmt: skip
        return Vec(flat(new)), (t < target) & (status == GOING)

    first: AdaptiveStepState = shaped(like, iter(packed))
    moving = (first.status == GOING) & (first.t < target)
    return iterate(step, packed, where(moving, limit, 0))


def _firm_rows(pivots: Vec, least: Scalar) -> Scalar:
    """How many rows of constraints have so much left at least."""
    found = 0.0 * least
    for pivot in pivots:
        found = found + where(pivot >= least, 1.0, 0.0)
    return found


def _landed(
    land: Callable[..., tuple[Vec, Vec, Vec]], tried: Controlled, tolerance: Scalar
) -> tuple[Controlled, Scalar, Scalar]:
    """The end of a step that was tried, brought back to where constraints hold, and how many rows have NEAR and FAR
    left there; a rejected one has not left them."""
    n, unit = len(tried.q), sqrt(ROUNDING / tolerance)

    def once(state: Vec) -> tuple[Vec, Any]:
        q, v, pivots = land(tried.t, Vec(state[:n]), Vec(state[n:-2]))
        return Vec((*q, *v, *(_firm_rows(pivots, least * unit) for least in (NEAR, FAR)))), False

    found = iterate(once, Vec((*tried.q, *tried.v, 0.0 * unit, 0.0 * unit)), where(tried.accepted, 1, 0))
    return tried._replace(q=Vec(found[:n]), v=Vec(found[n:-2])), found[-2], found[-1]


def _taken_back(tried: Controlled, is_too_near: Any, t: Scalar, h: Scalar) -> Controlled:
    """A step that was tried, rejected and shortened where it ends too near to a singular position."""
    accepted, after = where(is_too_near, False, tried.accepted), where(is_too_near, t, tried.t)
    return tried._replace(accepted=accepted, t=after, h=where(is_too_near, SHRINK * h, tried.h))


def state_at(setup: Setup, like: AdaptiveStepState, packed: Vec, target: Scalar, tolerance: Scalar) -> Vec:
    """(q, v, work) at a time within the last step, by a shorter step, or at its end; tolerance: of its iteration."""
    s: AdaptiveStepState = shaped(like, iter(packed))
    there = s.t == target
    inner, work = _between(setup, s, target, tolerance)
    return Vec((*where(there, s.q, inner.q), *where(there, s.v, inner.v), *where(there, s.work, work)))


def _between(setup: Setup, s: AdaptiveStepState, target: Scalar, tolerance: Scalar) -> tuple[MotionState, Vec]:
    """The state at a time within the last step, by a shorter step from where that began, and the integrals there.

    It takes no more work than dense output, and is as exact as the steps are. Under constraints it starts at the nearer
    end, backwards from the end of the step if that is nearer: a shorter path past a singular configuration. Not where
    the method takes damping by velocities to come, which would push backwards.
    """
    machine = setup.within(s.t0, s.t)._replace(tolerance=tolerance)
    t, (q, v), work, origin = s.t0, s.before, s.work_before, 0.0
    if setup.project and not setup.method.damps_ahead:
        early = target - s.t0 <= s.t - target
        t, q, v = where(early, s.t0, s.t), where(early, s.before.q, s.q), where(early, s.before.v, s.v)
        work, origin = where(early, s.work_before, s.work), where(early, 0.0, 1.0)

    def step(*memory: Vec) -> Vec:
        inner = advanced(setup.method, machine, t, q, v, target - t, *memory)
        return Vec((*inner.q, *inner.v, *inner.integrals))

    found, n = _recalling(s, origin, step), len(q) + len(v)
    inner = MotionState(Vec(found[: len(q)]), Vec(found[len(q) : n]))
    return MotionState(*setup.project(target, *inner)) if setup.project else inner, work + Vec(found[n:])


def _recalling(s: AdaptiveStepState, origin: Scalar, step: Callable[..., Vec]) -> Vec:
    """What a part of the last step leads to; step: as a function of what it recalls of that.

    Its iteration may fail from there, as it may in any step. Then it begins as that of a first step does.
    """
    found = step(*s.recalled(origin))
    if not s.memory:
        return found
    afresh = Vec([0.0] * len(s.memory))
    return iterate(lambda _: (step(afresh), False), found, where(_finite(found), 0, 1))


def step_motion(setup: Setup, like: AdaptiveStepState, packed: Vec, tolerance: Scalar) -> Vec:
    """The motion within the last step, for `state_in_step`: its begin, size and first state, the factors of its
    polynomial; last its error in units of the tolerance, estimated by a polynomial of lower order."""
    s: AdaptiveStepState = shaped(like, iter(packed))
    machine = setup.within(s.t0, s.t)
    found = motion_within(setup.method, machine, s.t0, *s.before, s.h0)
    scale = tolerance_scale(machine, Vec(flat(s.before)), Vec((*s.q, *s.v)), tolerance)
    differences = counted_errors(machine, s.t, s.q, s.v, found.differences, tolerance)
    error: Scalar = 0.0
    for difference in differences:
        error = maximum(error, error_norm((difference,), scale))
    return Vec((s.t0, s.h0, *s.before.q, *s.before.v, *s.work_before, *flat(found.factors), error))


def state_in_step(setup: Setup, motion: Vec, target: Scalar) -> Vec:
    """(q, v, work) at a time within a step whose motion is known, brought to where constraints hold."""
    machine, extension = setup.machine, setup.method.extension
    assert extension
    parts = iter(motion)
    t0, h = next(parts), next(parts)
    q, v, work = (Vec(islice(parts, n)) for n in (machine.nq, machine.nv, machine.integrals))
    factors = Vec(list(parts)[:-1])
    n = len(factors) // extension.count
    rows = tuple(Vec(factors[i : i + n]) for i in range(0, len(factors), n))
    state, integrals = state_within(setup.method, machine, q, v, rows, (target - t0) / h)
    state = MotionState(*setup.project(target, *state)) if setup.project else state
    return Vec((*state.q, *state.v, *(work + integrals)))


def fixed_inside(setup: Setup, like: FixedStepState, packed: Vec, theta: Scalar, h: Scalar, origin: Scalar) -> Vec:
    """t, q, v, the crossings' functions and the integrals within the last step, at its part θ."""
    s: FixedStepState = shaped(like, iter(packed))
    carried = (s.memory_before,) if s.memory_before is not None else ()
    assert s.before is not None
    assert s.work_before is not None
    return _inside(setup, origin + (s.accepted - 1.0) * h, s.before, s.work_before, h, theta, *carried)


def adaptive_inside(setup: Setup, like: AdaptiveStepState, packed: Vec, theta: Scalar) -> Vec:
    """t, q, v, the crossings' functions and the integrals within the last step, at its part θ."""
    s: AdaptiveStepState = shaped(like, iter(packed))
    return _inside(setup, s.t0, s.before, s.work_before, s.h0, theta, *s.recalled(0.0))


def fixed_shorter(setup: Setup, like: FixedStepState, packed: Vec, theta: Scalar, h: Scalar, origin: Scalar) -> Vec:
    """t, 0, q, v, crossings, surfaces, integrals after a step that is the part θ of the last: of its own side alone."""
    s: FixedStepState = shaped(like, iter(packed))
    assert s.before is not None
    assert s.work_before is not None
    carried = (s.memory_before,) if s.memory_before is not None else ()
    t0, part = origin + (s.accepted - 1.0) * h, theta * h
    end = advanced(setup.method, setup.within(t0, t0 + part, EQUAL_MARGIN), t0, *s.before, part, *carried)
    work = s.work_before + end.integrals
    return _after(setup, t0 + part, 0.0 * part, s.g_before, MotionState(end.q, end.v), work)


def adaptive_shorter(setup: Setup, like: AdaptiveStepState, packed: Vec, theta: Scalar, tolerance: Scalar) -> Vec:
    """t, error, q, v, crossings, surfaces, integrals after a part θ of the last step: of its own side alone."""
    s: AdaptiveStepState = shaped(like, iter(packed))
    part = theta * s.h0
    machine = setup.within(s.t0, s.t0 + part)

    def step(*memory: Vec) -> Vec:
        tried = controlled(setup.method, machine, s.t0, *s.before, part, tolerance, GROW, *memory)
        return Vec((tried.error, *flat(tried.end), *tried.integrals))

    found, nq = _recalling(s, 0.0, step), len(s.q)
    end, work = MotionState(Vec(found[1 : nq + 1]), Vec(found[nq + 1 : nq + 1 + len(s.v)])), found[nq + 1 + len(s.v) :]
    return _after(setup, s.t0 + part, found[0], s.g_before, end, s.work_before + Vec(work))


def _after(setup: Setup, t: Scalar, error: Scalar, old: Vec, end: MotionState, work: Vec) -> Vec:
    q, v = setup.project(t, *end) if setup.project else end
    return Vec((t, error, *q, *v, *_values_after(setup, t, old, end, q, v), *work))


def _inside(setup: Setup, t0: Scalar, before: MotionState, work: Vec, h: Scalar, theta: Scalar, *carried: Any) -> Vec:
    state, integrals = dense_with_integrals(setup.method, setup.within(t0, t0 + h), t0, *before, h, theta, *carried)
    t = t0 + theta * h
    return Vec((t, *state.q, *state.v, *values_of(setup, t, *state), *(work + integrals)))
