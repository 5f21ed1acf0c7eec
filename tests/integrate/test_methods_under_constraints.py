"""Every method converges with its order under constraints, whatever keeps them; none is first order by its projection.

Each machine is run with three step sizes, h, h/2 and h/4, against a closed form or a run of two tight tolerances that
agree; the slope is the order. A new entry of METHODS, or of CONSTRAINED_METHODS, is tested without a change here.
"""

from functools import cache

import numpy as np
import pytest

import polhode as ph
from polhode import exact
from polhode.constrain.constraint_policy import KEEPING
from polhode.integrate.constrained import CONSTRAINED_METHODS
from polhode.integrate.methods import METHODS

SLOPE = 0.3
"""How far a measured slope may be below the order: what the next power of h adds at these steps."""

NUMBERS_OF_STEPS = {1: 64, 2: 32, 3: 24, 4: 16, 5: 16, 6: 12, 7: 12, 8: 8}
"""For each order the fewest steps: long enough for errors above rounding, short enough for the leading term to lead."""

FLOOR = 1e-11
"""An error of the finest run, relative to the state, that rounding and the reference may have a part in."""

LENGTH, SPIN, INERTIA, GRAVITY = 1.5, (0.5, -1.0, 2.0), (0.02, 0.03, 0.04), 9.81
ANGLE, RATE = 1.0, 0.7


def rod(joint, **held):
    """A body held by a rod at its mass centre: a pendulum in the plane z = 0, and a body that turns freely."""
    held = held or {"type": "distance", "body_b": "bob", "length": LENGTH}
    return ph.Model(
        "rod",
        bodies=[ph.Body("bob", 1.3, INERTIA)],
        joints=[ph.Joint("joint", joint, "world", "bob")],
        constraints=[ph.Constraint("rod", **held)],
        gravity=(0, -GRAVITY, 0),
    )


def swing(t):
    """Position and velocity of the pendulum, in its plane."""
    angle, rate = exact.pendulum(ANGLE, RATE, t, np.sqrt(GRAVITY / LENGTH))
    s, c = LENGTH * np.sin(angle), LENGTH * np.cos(angle)
    return [s, -c], [rate * c, rate * s]


def in_the_plane(t):
    """The state of a rod in a plane, a body that does not turn."""
    at, moving = swing(t)
    return [*at, 0.0], [*moving, 0.0]


def flying(t):
    """The state of a rod in space, a body that tumbles."""
    (at, moving), turning = swing(t), exact.free_body(INERTIA, SPIN, t, p=(1, 0, 0, 0))
    return [*at, 0.0, *np.ravel(turning.p)], [*moving, 0.0, *np.ravel(turning.omega)]


def winch(t, q):
    """A rod whose length is let out and pulled in again."""
    length = LENGTH + 0.2 * ph.sin(3 * t)
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - length * length


class Case:
    """A machine, its start, a duration, and the state at its end: by a closed form, and by runs that agree with it."""

    def __init__(self, model, duration, q=None, v=None, truth=None):
        self.model, self.duration, self.start = model, duration, {"q": q, "v": v}
        tight = [self.end(method=method, tolerance=1e-13, samples=2) for method in ("dop853", "rkmk-dop853")]
        self.truth = np.concatenate(truth(duration)) if truth else tight[1]
        for found in tight:
            assert np.max(abs(found - self.truth)) < FLOOR * (1 + np.max(abs(self.truth)))

    def end(self, **options):
        run = ph.simulate(self.model, duration=self.duration, **self.start, **options)
        assert run.attrs["status"] == "finished"
        return np.concatenate([run["q"].values[-1], run["v"].values[-1]])

    def slope(self, method, keeping):
        """The observed order, and the error of the finest run relative to the state."""
        first, found = NUMBERS_OF_STEPS[METHODS[method].order], []
        for steps in (first, 2 * first, 4 * first):
            step = self.duration / steps
            end = self.end(method=method, step=step, every=steps, constraints=keeping)
            found.append(np.max(abs(end - self.truth)))
        return np.log2(found[0] / found[2]) / 2, found[2] / (1 + np.max(abs(self.truth)))


@cache
def case(name):
    if name == "rod":
        return Case(rod("planar"), 0.8, *in_the_plane(0.0), in_the_plane)
    if name == "flying-rod":
        return Case(rod("free"), 0.8, *flying(0.0), flying)
    if name == "winch":
        q, v = flying(0.0)
        pull = 3 * 0.2 * np.array(q[:3]) / LENGTH
        return Case(rod("free", type="function", function=winch), 0.8, q, [*(v[:3] + pull), *v[3:]])
    return Case(ph.load(name), BUNDLED[name])


BUNDLED = {"four-bar": 0.15, "slider-crank-3d": 0.05, "bricard": 0.8, "rolling-disk": 0.5, "chaplygin-sleigh": 0.5}
"""Bundled machines, loops and rolling, and seconds in which they turn far enough, without a sharp corner."""

OTHERS = [
    (name, keeping, method)
    for name in ("rod", "flying-rod", "winch", *BUNDLED)
    for keeping in KEEPING
    for method in CONSTRAINED_METHODS.get(keeping, METHODS)
    if not (METHODS[method].meets_constraints and keeping in ("baumgarte", "none"))
]


def check(name, keeping, method):
    slope, finest = case(name).slope(method, keeping)
    assert slope > METHODS[method].order - SLOPE or finest < FLOOR, f"{slope:.2f}, error {finest:.1e}"


@pytest.mark.parametrize("method", METHODS)
def test_a_method_has_its_order_on_a_rod(method):
    check("rod", "project", method)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_has_its_order_on_a_loop(method):
    check("four-bar", "project", method)


@pytest.mark.parametrize("keeping", CONSTRAINED_METHODS)
def test_methods_of_a_policy_have_their_order_on_a_rod(keeping):
    for method in CONSTRAINED_METHODS[keeping]:
        check("rod", keeping, method)


@pytest.mark.parametrize("method", ["variational", "energy-momentum"])
def test_multipliers_of_a_step_hold_conditions_of_velocities(method):
    check("chaplygin-sleigh", "project", method)


@pytest.mark.long
@pytest.mark.parametrize(("name", "keeping", "method"), OTHERS)
def test_a_method_has_its_order_on_every_machine_by_every_policy(name, keeping, method):
    check(name, keeping, method)


@pytest.mark.parametrize("keeping", ["baumgarte", "none"])
@pytest.mark.parametrize("method", ["variational", "energy-momentum"])
def test_a_method_with_multipliers_of_its_own_leaves_nothing_to_drift(method, keeping):
    with pytest.raises(ph.InputError, match=r"(?s)multipliers of its own.*constraints='project'.*implicit-midpoint"):
        ph.simulate(ph.load("four-bar"), duration=0.1, step=0.01, method=method, constraints=keeping)


def test_a_method_with_multipliers_of_its_own_refuses_what_it_cannot_solve():
    ball = ph.Body("ball", 1.0, (0, 0, 0), (1, 0, 0))
    hinge = ph.Constraint("hinge", "revolute", {"body_b": "ball", "axis_a": (0, 1, 0), "axis_b": (0, 1, 0)})
    light = ph.Model("light", bodies=[ball], joints=[ph.Joint("j", "free", "world", "ball")], constraints=[hinge])
    with pytest.raises(ph.InputError, match=r"(?s)'variational' needs M⁻¹.*implicit-midpoint"):
        ph.simulate(light, duration=0.1, step=0.01, method="variational")
    switched = lambda t, q, v: [1.0 if t < 0.05 else 0.0, 0.0, 0.0]
    with pytest.raises(ph.InputError, match=r"(?s)'energy-momentum': needs compiled inputs.*implicit-midpoint"):
        ph.simulate(ph.load("four-bar"), duration=0.1, step=0.01, method="energy-momentum", tau=switched)


# ---- what the structure-preserving methods keep under constraints


def energies(model, method, step, duration):
    run = ph.simulate(model, duration=duration, step=step, method=method, every=5)
    assert run.attrs["status"] == "finished"
    return (run["kinetic_energy"] + run["potential_energy"]).values


@pytest.mark.parametrize("name", ["four-bar", "rolling-disk"])
def test_an_energy_momentum_step_keeps_the_energy_under_constraints(name):
    """In large steps, to the rounding of each: 2e-15 of the energy."""
    found = energies(ph.load(name), "energy-momentum", 0.01, 2.0)
    assert np.max(abs(found - found[0])) < 200 * 2e-15 * np.max(abs(found))


def test_the_energy_of_a_variational_loop_stays_in_a_band():
    """Its error is of second order, and does not grow with time; one of first order would be 100 times as large."""
    model = ph.load("four-bar")
    found = energies(model, "variational", 2e-3, 40.0)
    error, part = abs(found - found[0]), len(found) // 4
    assert np.max(error[-part:]) < 1.5 * np.max(error[:part])
    fine = energies(model, "variational", 1e-3, 10.0)
    assert np.max(error[:part]) / np.max(abs(fine - fine[0])) == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize("method", ["variational", "energy-momentum"])
def test_a_constrained_step_is_its_own_inverse_backwards(method):
    """Symmetry in time, which makes the order even: there and back with reversed velocities is the start."""
    model = ph.load("four-bar")
    q, v = model.start.q, np.array(model.start.v)
    there = ph.simulate(model, duration=0.2, step=0.01, method=method)
    turned = {"q": there["q"].values[-1], "v": -there["v"].values[-1]}
    back = ph.simulate(model, duration=0.2, step=0.01, method=method, **turned)
    assert np.max(abs(back["q"].values[-1] - q)) < 1e-11
    assert np.max(abs(back["v"].values[-1] + v)) < 1e-10


@pytest.mark.parametrize("method", ["variational", pytest.param("energy-momentum", marks=pytest.mark.long)])
def test_an_event_is_located_within_a_constrained_step(method):
    """The motion within a step ends where the step does, velocities included: errors are of second order."""
    event = ph.Event("up", lambda t, q, v: q[0] - 2.5)
    model, when = ph.load("four-bar"), []
    for options in ({"tolerance": 1e-12}, {"step": 2e-3, "method": method}, {"step": 1e-3, "method": method}):
        when.append(ph.simulate(model, duration=0.3, events=[event], **options)["event_time"].values[0])
    assert abs(when[2] - when[0]) < 1e-6
    assert abs(when[1] - when[0]) > 2.5 * abs(when[2] - when[0])
