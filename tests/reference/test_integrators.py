"""Integrators against SciPy's, to rounding, and against closed forms, to the tolerance asked for."""

import sys

import numpy as np
import pytest
from scipy.integrate import DOP853, RK23, RK45

import polhode as ph
from close import assert_close
from integration import TUMBLER, TUMBLER_START, machine_of
from marching import march, reach
from polhode import exact
from polhode.integrate.adaptive import controlled, initial_step
from polhode.integrate.chart import raw
from polhode.integrate.methods import METHODS
from polhode.integrate.sundials import cvode, ida
from polhode.scalar import Vec, vec

PAIRS = {"bs32": RK23, "dopri54": RK45, "dop853": DOP853}

PENDULUM = ph.Model(
    "pendulum",
    bodies=[ph.Body("a", 1.0, (0.1, 0.1, 0.1), (0, 0, -0.5)), ph.Body("b", 0.5, (0.1, 0.1, 0.1), (0, 0, -0.4))],
    joints=[
        ph.Joint("one", "revolute", "world", "a", axis=(1, 0, 0)),
        ph.Joint("two", "revolute", "a", "b", axis=(1, 0, 0), position=(0, 0, -1.0)),
    ],
)
"""Without a quaternion: nothing is brought back to unit length, so SciPy takes the very same steps."""

START = vec(1.0, -0.5), vec(0.3, 0.8)

ESTIMATE = 1e4
"""Rounding of an error estimate, 1e-15, over the tolerance 1e-6: relative error of a controlled step; times v̇ = 20."""

ACCUMULATED = 50
"""How much of the error of one step a whole motion may gather: steps taken, times how fast motions part."""


def of_scipy(name, tolerance, first_step=None):
    chart = raw(machine_of(PENDULUM), *START)
    rhs = lambda t, x: np.array(chart.rhs(t, Vec(x.tolist())))
    return PAIRS[name](rhs, 0.0, np.array(chart.start), 10.0, rtol=tolerance, atol=tolerance, first_step=first_step)


@pytest.mark.parametrize("name", PAIRS)
def test_a_first_step_is_that_of_scipy(name):
    found = initial_step(METHODS[name], machine_of(PENDULUM), 0.0, *START, 1e-6)
    assert_close(found, of_scipy(name, 1e-6).h_abs, condition=100)


@pytest.mark.parametrize("name", PAIRS)
def test_steps_under_control_are_those_of_scipy(name):
    """The same states at the same times, and the same motion in between."""
    machine, solver = machine_of(PENDULUM), of_scipy(name, 1e-6, 0.05)
    t, (q, v), h = 0.0, START, 0.05
    for _ in range(6):
        solver.step()
        inner, grow = METHODS[name].dense(machine, t, q, v, solver.t - t), 10.0
        while True:
            tried = controlled(METHODS[name], machine, t, q, v, h, 1e-6, grow)
            h, grow = tried.h, 1.0
            if tried.accepted:
                break
        between = solver.dense_output()(t + 0.3 * (solver.t - t))
        t, q, v = tried.t, tried.q, tried.v
        assert_close(t, solver.t, ESTIMATE)
        assert_close([*q, *v], solver.y, ESTIMATE)
        assert_close([*inner.at(0.3).q, *inner.at(0.3).v], between, ESTIMATE)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.adaptive])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_the_tumble_of_a_free_body_is_met_to_the_tolerance(name, tolerance):
    if name == "bs32" and tolerance < 1e-6:
        return  # third order would take thousands of steps
    machine, (q, v) = machine_of(TUMBLER), map(Vec, TUMBLER_START)
    h = initial_step(METHODS[name], machine, 0.0, q, v, tolerance)
    found = reach(METHODS[name], machine, 0.0, q, v, h, 2.0, tolerance)
    truth = exact.free_body(TUMBLER.bodies[0].inertia, v[3:], 2.0, p=q[3:])
    assert found.t == 2.0
    assert np.max(abs(np.array(found.q[3:]) - truth.p)) < ACCUMULATED * tolerance
    assert np.max(abs(np.array(found.v[3:]) - truth.omega)) < ACCUMULATED * tolerance


def test_a_pendulum_in_sixth_order_is_its_closed_form():
    """The error is nearly all of what half the step removes: 63/64 of it."""
    rod = ph.Model(
        "rod",
        gravity=(0, 0, -9.81),
        bodies=[ph.Body("rod", 1.0, (0.1, 0.1, 0.1), (0, 0, -1.0))],
        joints=[ph.Joint("pin", "revolute", "world", "rod", axis=(1, 0, 0))],
    )
    truth = float(exact.pendulum(1.0, 0.0, 1.0, frequency=np.sqrt(9.81 / 1.1)).angle)
    coarse, fine = (
        march(METHODS["gauss3"], machine_of(rod), 0.0, vec(1.0), vec(0.0), 1.0 / n, n).q[0] for n in (5, 10)
    )
    assert coarse - truth == pytest.approx((coarse - fine) * 64 / 63, rel=0.05)


def test_missing_sundials_is_told_with_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "sksundae.cvode", None)
    monkeypatch.setitem(sys.modules, "sksundae.ida", None)
    with pytest.raises(ph.InputError, match="pip install scikit-sundae"):
        cvode(lambda t, x: x, vec(1.0), np.linspace(0, 1, 2), 1e-6)
    with pytest.raises(ph.InputError, match="pip install scikit-sundae"):
        ida(lambda t, x, xdot: xdot - x, vec(1.0), vec(1.0), np.linspace(0, 1, 2), 1e-6)
