"""Every method converges with its order, and so does the motion within its steps.

Each machine has one method's work at two step sizes; the slope between them is the order. A new entry of
METHODS is tested without a change here.
"""

from functools import cache

import numpy as np
import pytest

from integration import ARM_START, TUMBLER, TUMBLER_START, arm, machine_of, pushed
from marching import march
from polhode import exact
from polhode.integrate.adaptive import dop853
from polhode.integrate.chart import raw
from polhode.integrate.methods import METHODS
from polhode.scalar import Vec

SLOPE = 0.3
"""How far a measured slope may be from the order: what the next power of h adds at these steps."""

NUMBERS_OF_STEPS = {1: (32, 64), 2: (8, 16), 3: (8, 16), 4: (8, 16), 5: (16, 32), 6: (6, 12), 7: (6, 12), 8: (5, 10)}
"""For each order: long enough for errors far above rounding, short enough for the leading term to lead."""

ORDERS = [pytest.param(method, id=name) for name, method in METHODS.items()]


class Problem:
    """A machine, its start, and its motion."""

    def __init__(self, machine, start, truth, durations):
        self.machine, self.q, self.v = machine, Vec(start[0]), Vec(start[1])
        self.truth, self.durations = truth, durations


@cache
def tumbling():
    """The free asymmetric body, against its closed form."""
    q, v = TUMBLER_START

    def truth(times):
        turning = exact.free_body(TUMBLER.bodies[0].inertia, v[3:], times, p=q[3:])
        at = np.array(q[:3]) + np.outer(times, v[:3])
        still = np.tile(v[:3], (len(times), 1))
        return np.concatenate([at, turning.p, still, turning.omega], axis=1)

    return Problem(machine_of(TUMBLER), TUMBLER_START, truth, {5: 1.0, 6: 1.0, 7: 1.0, 8: 2.0})


@cache
def swinging():
    """The arm in gravity, with a damper, a spring and forces that change with time, against SciPy."""
    machine = machine_of(arm(damping=0.1), pushed)
    chart = raw(machine, *map(Vec, ARM_START))
    known = {}

    def truth(times):
        key = tuple(times)
        if key not in known:
            known[key] = dop853(chart.rhs, chart.start, np.array([0.0, *times]), 1e-14)[1:]
        return known[key]

    return Problem(machine, ARM_START, truth, dict.fromkeys(range(1, 5), 0.1) | {5: 0.4, 6: 0.15, 7: 0.4, 8: 0.3})


def slope(problem, method, error):
    less = 2 if method.family in ("implicit", "structure-preserving") else 1  # they are slow on plain floats
    T = problem.durations.get(method.order, 0.5) / less
    steps = np.array(NUMBERS_OF_STEPS[method.order]) // less
    errors = [error(problem, method, T, int(n)) for n in steps]
    return np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0]), errors


def final_error(problem, method, T, steps):
    end = march(method, problem.machine, 0.0, problem.q, problem.v, T / steps, steps)
    return np.linalg.norm([*end.q, *end.v] - problem.truth([T])[-1])


def inner_error(problem, method, T, steps):
    """At a few instants within the last step."""
    h, start = T / steps, (problem.q, problem.v)
    if steps > 1:
        start = march(method, problem.machine, 0.0, *start, h, steps - 1)
    motion = method.dense(problem.machine, T - h, *start, h)
    thetas = [0.23, 0.5, 0.81]
    found = [[*state.q, *state.v] for state in map(motion.at, thetas)]
    return np.linalg.norm(np.array(found) - problem.truth([T - h + theta * h for theta in thetas]))


@pytest.mark.parametrize("method", ORDERS)
def test_a_method_has_its_order_on_a_free_body(method):
    found, errors = slope(tumbling(), method, final_error)
    assert found == pytest.approx(method.order, abs=SLOPE), errors


@pytest.mark.parametrize("method", ORDERS)
def test_a_method_has_its_order_on_an_arm_with_every_kind_of_joint(method):
    found, errors = slope(swinging(), method, final_error)
    assert found == pytest.approx(method.order, abs=SLOPE), errors


@pytest.mark.parametrize("method", ORDERS)
def test_the_motion_within_a_step_has_the_order_of_the_method(method):
    found, errors = slope(swinging(), method, inner_error)
    assert found > method.order - SLOPE, errors
