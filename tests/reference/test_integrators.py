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


PEERS = ("cvode", "cvode-bdf", "ida")


@pytest.mark.parametrize("method", PEERS)
def test_sundials_follows_a_top(method):
    """SUNDIALS on our accelerations, our methods and the closed form are one motion."""
    model = ph.load("heavy-top")
    options = {"duration": 0.05, "samples": 6}
    theirs = ph.simulate(model, method=method, tolerance=1e-10, **options)
    ours = ph.simulate(model, tolerance=1e-12, **options)
    assert theirs.attrs["status"] == "finished"
    assert theirs.attrs["norm_policy"] == "none"
    assert theirs.attrs["steps_taken"] > 50
    for name in ("q", "v"):
        gap = np.max(abs(theirs[name].values - ours[name].values))
        assert 0 < gap < 1e-5 * np.max(abs(ours[name].values))


def test_sundials_takes_inputs_and_loops():
    model = ph.load("four-bar")
    options = {"duration": 0.3, "samples": 4, "tau": lambda t, q, v: [0.1 * t, *[0.0] * (model.nv - 1)]}
    theirs = ph.simulate(model, method="cvode", tolerance=1e-11, **options)
    ours = ph.simulate(model, tolerance=1e-11, **options)
    assert np.max(abs(theirs["q"].values - ours["q"].values)) < 1e-8
    assert theirs.attrs["constraint_policy"] == "none"
    other = ph.simulate(model, method="cvode", tolerance=1e-11, engine="null-space", **options)
    gap = np.max(abs(theirs["q"].values - other["q"].values))
    assert 0 < gap < 1e-8  # another engine, another rounding


def test_a_run_that_sundials_gives_up_keeps_what_there_is():
    def burst(t, q, v):
        return [1e6 * (1 + v[0] * v[0]) * q[0], *[0.0] * 1]

    model = ph.load("double-pendulum")
    run = ph.simulate(model, method="cvode", duration=1.0, samples=101, tau=burst, q=(0.1, 0), v=(0, 0))
    assert run.attrs["status"] == "failed"
    assert "cvode" in run.attrs["reason"]
    assert 1 <= len(run["time"]) < 101
    assert np.all(np.isfinite(run["q"]))


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"step": 1e-3}, "step=…"),
        ({"events": [ph.Event("low", lambda t, q, v: q[0])]}, "events"),
        ({"sensitivities": ["gravity"]}, "sensitivities"),
        ({"tau": ph.Sampled(lambda t, q, v: [0, 0, 0], 0.1)}, "sampled"),
    ],
)
def test_what_sundials_does_not_take_is_refused(options, found):
    with pytest.raises(ph.InputError, match=found):
        ph.simulate(ph.load("heavy-top"), method="cvode", **options)
    with pytest.raises(ph.InputError, match="under constraints"):
        ph.simulate(ph.load("four-bar"), method="ida")


def test_sundials_keeps_no_checkpoints(tmp_path):
    with pytest.raises(ph.InputError, match="no checkpoints"):
        ph.record(tmp_path / "out", ph.load("heavy-top"), method="cvode")


def test_missing_sundials_is_told_with_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "sksundae.cvode", None)
    monkeypatch.setitem(sys.modules, "sksundae.ida", None)
    with pytest.raises(ph.InputError, match="pip install scikit-sundae"):
        cvode(lambda t, x: x, np.ones(1), np.linspace(0, 1, 2), 1e-6)
    with pytest.raises(ph.InputError, match="pip install scikit-sundae"):
        ida(lambda t, x, xdot: xdot - x, np.ones(1), np.ones(1), np.linspace(0, 1, 2), 1e-6)
