"""Many steps: a fixed number of equal ones, or as many as it takes to reach a time.

Both repeat one step with `iterate`, so that a compiler sees one loop.
"""

from typing import Any, NamedTuple

from polhode.integrate.adaptive import GROW, controlled
from polhode.integrate.method import Machine, Method, MotionState
from polhode.scalar import Scalar, Vec, iterate, minimum, where


class Reached(NamedTuple):
    """Where a march ended, and the step it would try next. Short of its goal it ran out of steps."""

    t: Scalar
    q: Vec
    v: Vec
    h: Scalar


def march(method: Method, machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar, steps: int) -> MotionState:
    """The state after a number of equal steps."""
    nq, end = machine.nq + 1, machine.nq + machine.nv + 1

    def step(state: Vec) -> tuple[Vec, Any]:
        k, q, v = state[0], Vec(state[1:nq]), Vec(state[nq:end])
        carried = (Vec(state[end:]),) if method.start else ()
        found = method.step(machine, t + k * h, q, v, h, *carried)
        return Vec((k + 1, *found.q, *found.v, *(found.memory or ()))), k + 1 < steps

    memory = method.start(machine, t, q, v, h) if method.start else Vec()
    found = iterate(step, Vec((0.0, *q, *v, *memory)), steps)
    return MotionState(Vec(found[1:nq]), Vec(found[nq:end]))


def reach(
    method: Method,
    machine: Machine,
    t: Scalar,
    q: Vec,
    v: Vec,
    h: Scalar,
    end: Scalar,
    tolerance: Scalar,
    limit: int = 100_000,
) -> Reached:
    """Steps under control of the error until t = end exactly, end > t; at most `limit` are tried."""
    nq = machine.nq

    def step(state: Vec) -> tuple[Vec, Any]:
        t, h, grow, q, v = state[0], state[1], state[2], Vec(state[3 : nq + 3]), Vec(state[nq + 3 :])
        last = t + h >= end
        found = controlled(method, machine, t, q, v, minimum(h, end - t), tolerance, grow)
        t = where(found.accepted, where(last, end, found.t), t)
        return Vec((t, found.h, where(found.accepted, GROW, 1.0), *found.q, *found.v)), t < end

    found = iterate(step, Vec((t, h, GROW, *q, *v)), limit)
    return Reached(found[0], Vec(found[3 : nq + 3]), Vec(found[nq + 3 :]), found[1])
