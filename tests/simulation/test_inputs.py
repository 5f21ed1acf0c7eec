"""Forces over time: constants, tables, functions, controllers."""

import math
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import polhode as ph
from close import assert_close
from integration import ARM_START, arm
from own_elements import Motor, rotor
from polhode.integrate.methods import ADAPTIVE, METHODS
from polhode.simulation import compiled_run
from run_cases import CART, DOUBLE, PENDULUM, SLIDER, attitude_gap, final, states, top

TOLERANCE = 1e-10
"""Of the runs here."""

ADDED = 100 * TOLERANCE
"""What the errors of their steps, some dozens, may add up to."""

KINK = 1e4 * TOLERANCE
"""The same where forces have corners: there the estimate of an error is no better than the error itself."""

DAMPED = arm(damping=0.3)


def run(model, q=None, v=None, duration=1.0, tau=None, **options):
    samples = None if "every" in options else options.pop("samples", 21)
    return ph.simulate(
        model, q, v, duration, tau, tolerance=options.pop("tolerance", TOLERANCE), samples=samples, **options
    )


# constants


def test_a_constant_force_gives_a_parabola():
    found = run(CART, [1.0], [2.0], tau=[3.0])
    t = found["time"].values
    assert_close(found["q"].values[:, 0], 1 + 2 * t + 3 / 4 * t * t)
    assert_close(found["tau"].values, np.full((21, 1), 3.0))


def test_forces_by_the_names_of_joints_leave_the_others_at_zero():
    named = run(DAMPED, *ARM_START, 0.2, {"elbow": 2.0, "shoulder": [0.1, 0.2, 0.3]})
    listed = run(DAMPED, *ARM_START, 0.2, [0.1, 0.2, 0.3, 2.0, 0.0])
    assert np.array_equal(states(named), states(listed))
    assert np.array_equal(named["tau"].values[0], [0.1, 0.2, 0.3, 2.0, 0.0])


# tables

KNOTS, LEVELS = np.array([0.0, 0.3, 0.5, 1.1, 1.7]), np.array([2.0, -3.0, 0.5, 4.0, -1.0])


def impulse(t, hold):
    """Exact ∫τ and ∬τ of the table from 0 to t: constant or straight between knots, constant after the last."""
    edges = [*(knot for knot in KNOTS if knot < t), t]
    speed = place = 0.0
    for k, (a, b) in enumerate(pairwise(edges)):
        h, slope = b - a, 0.0
        if not hold and k + 1 < len(KNOTS):
            slope = (LEVELS[k + 1] - LEVELS[k]) / (KNOTS[k + 1] - KNOTS[k])
        place += speed * h + LEVELS[k] * h * h / 2 + slope * h**3 / 6
        speed += LEVELS[k] * h + slope * h * h / 2
    return place, speed


@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.parametrize("name", ADAPTIVE)
def test_a_table_acts_as_its_integrals_say(name, hold):
    """Knots are breaks of the run: levels and lines are met exactly, and no step is rejected at them."""
    found = run(CART, duration=2.0, tau=ph.Table(KNOTS, LEVELS[:, None], hold), method=name, tolerance=1e-6, samples=9)
    for t, q, v in zip(found["time"].values, found["q"].values[:, 0], found["v"].values[:, 0], strict=True):
        place, speed = impulse(t, hold) if t else (0, 0)
        assert abs(q - place / 2) <= 1e-13
        assert abs(v - speed / 2) <= 1e-13
    assert found.attrs["steps_refused"] <= 1


@pytest.mark.parametrize("name", ["rk4", "generalized-alpha"])
def test_levels_that_change_between_equal_steps_are_met_exactly(name):
    """A step that ends at a knot must not see what comes after it."""
    found = run(CART, duration=2.0, tau=ph.Table(KNOTS, LEVELS[:, None], True), step=0.1, method=name)
    place, speed = impulse(2.0, True)
    assert_close(final(found), [place / 2, speed / 2])


@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.order > 1])
def test_knots_within_equal_steps_split_them_and_keep_the_order(name, hold):
    """Between knots forces are straight lines: methods of the third order are exact, those of the second keep it."""
    exact, errors = np.array(impulse(2.0, hold)) / 2, []
    for h in (0.07, 0.0175):
        found = run(CART, duration=2.0, tau=ph.Table(KNOTS, LEVELS[:, None], hold), step=h, method=name, every=1)
        errors.append(np.max(abs(final(found) - exact)))
        grid = h * np.arange(len(found["time"]))
        grid[-1] = 2.0
        assert np.array_equal(found["time"].values, grid)
    assert errors[0] <= 1e-2
    assert errors[1] <= max(errors[0] / 8, 1e-13)


@pytest.mark.long
def test_a_hundred_thousand_knots_are_a_hundred_thousand_steps():
    times = np.linspace(0, 1, 100_001)
    pushes = np.random.default_rng(1).normal(size=len(times))
    found = run(CART, duration=1.0, tau=ph.Table(times, pushes[:, None]), samples=2)
    assert found.attrs["steps_taken"] == 100_000
    assert abs(final(found)[1] - np.trapezoid(pushes, times) / 2) <= 1e-12


def test_more_knots_than_equal_steps_leave_the_steps_whole():
    times = np.linspace(0, 1, 1000)
    with pytest.warns(ph.PolhodeWarning, match=r"knots lie within equal steps of 0.01 s"):
        found = run(CART, duration=1.0, tau=ph.Table(times, np.sin(9 * times)[:, None]), step=0.01, method="rk4")
    assert found.attrs["steps_taken"] == 100
    assert "knots lie within equal steps" in found.attrs["grade"]


def test_the_ends_of_a_table_go_on_for_ever():
    early = run(CART, duration=1.0, tau=ph.Table([2.0, 3.0], [[4.0], [5.0]]))
    late = run(CART, duration=1.0, tau=ph.Table([-3.0, -2.0], [[5.0], [4.0]]))
    assert np.array_equal(states(early), states(late))
    assert_close(final(early), [1.0, 2.0])


@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 9])
def test_compiled_tables_are_those_on_plain_floats(n, hold):
    """At knots, between them and beyond, for numbers of knots around powers of two."""
    rng = np.random.default_rng(n)
    times, values = np.cumsum(rng.uniform(0.1, 0.3, n)), rng.normal(size=(n, 1))
    found = run(CART, duration=3.0, tau=ph.Table(times, values, hold), samples=[*times[times < 3], 0.05, 1.0, 2.9])
    t = found["time"].values
    place = np.clip(np.searchsorted(times, t, "right") - 1, 0, n - 1)
    expected = values[place, 0] if hold else np.interp(t, times, values[:, 0])
    assert_close(found["tau"].values[:, 0], expected)


def test_a_table_that_starts_later_gives_the_same_motion_later():
    """Time translation: rest until the table begins to push."""
    push = np.sin(np.linspace(0, 3, 12))[:, None]
    times = np.linspace(0, 1, 12)
    now = run(CART, duration=1.0, tau=ph.Table(times, push), samples=11)
    later = run(CART, duration=1.5, tau=ph.Table([0.0, 0.5 - 1e-9, *(times + 0.5)], [[0], [0], *push]), samples=16)
    assert np.max(abs(states(later)[5:] - states(now))) <= KINK


# functions


def switched(t, q, v):
    return [ph.where(t < 0.4, 3.0, -2.0) - 0.5 * v[0] + ph.sin(q[0])]


def switched_in_python(t, q, v):
    return [(3.0 if t < 0.4 else -2.0) - 0.5 * v[0] + math.sin(q[0])]


def in_numpy(t, q, v):
    return np.array([3.0 if t < 0.4 else -2.0]) - 0.5 * np.array(v) + np.sin(np.array(q))


@pytest.mark.parametrize("function", [switched_in_python, in_numpy])
@pytest.mark.parametrize(
    ("options", "bound"),
    [({"method": "dopri54"}, KINK), ({"step": 0.05, "method": "rk4", "duration": 0.35, "samples": 8}, 1e-13)],
)
def test_a_function_that_cannot_be_compiled_warns_once_and_gives_the_same_motion(function, options, bound):
    """With equal steps up to the jump: only that of a compiled function is known."""
    compiled = run(CART, tau=switched, **options)
    with pytest.warns(ph.PolhodeWarning, match=f"tau '{function.__name__}' cannot be compiled.*slow") as told:
        plain = run(CART, tau=function, verify=True, **options)
    assert len(told) == 1
    assert np.max(abs(states(plain) - states(compiled))) <= bound
    assert np.max(abs(plain["tau"].values - compiled["tau"].values)) <= bound


def test_a_warning_points_at_the_call():
    with pytest.warns(ph.PolhodeWarning) as told:
        ph.simulate(CART, duration=0.1, tau=switched_in_python, step=0.05, method="rk4")
    assert told[0].filename == __file__


def test_forces_of_a_model_that_cannot_be_compiled_run_in_python():
    def gust(t):
        return (0, 0, 3.0 if t < 0.05 else 1.0)

    model = ph.Model("pushed", CART.gravity, CART.bodies, CART.joints, forces=[ph.Force("gust", "mass", force=gust)])
    with pytest.warns(ph.PolhodeWarning, match="force of 'gust' cannot be compiled"):
        found = run(model, duration=0.1, step=0.01, method="euler", samples=2)
    assert_close(final(found)[1], (5 * 3.0 + 5 * 1.0) * 0.01 / 2)


def test_a_function_works_on_what_methods_differentiate():
    """Implicit methods take exact derivatives of the input, compiled."""
    exact_end = final(run(PENDULUM, [1.0], tau=lambda t, q, v: [-0.7 * v[0] * abs(v[0]) + ph.cos(3 * t)]))
    found = run(
        PENDULUM,
        [1.0],
        tau=lambda t, q, v: [-0.7 * v[0] * abs(v[0]) + ph.cos(3 * t)],
        method="radau3",
        step=0.01,
        samples=2,
    )
    assert np.max(abs(final(found) - exact_end)) <= 1e-8  # h⁵ = 1e-10 on the smooth parts, |v| v has a corner


def braked(t, q, v):
    return [ph.where(v[0] > 0, -1.5 * v[0], -0.5 * v[0]) + ph.sin(q[0])]


def braked_in_python(t, q, v):
    return [(-1.5 * v[0] if v[0] > 0 else -0.5 * v[0]) + ph.sin(q[0])]


def braked_on_floats(t, q, v):
    return [(-1.5 if v[0] > 0 else -0.5) * float(v[0]) + math.sin(q[0])]


@pytest.mark.parametrize("name", ["radau2", "implicit-midpoint", "generalized-alpha", "energy-momentum"])
@pytest.mark.filterwarnings("ignore::polhode.PolhodeWarning")
def test_implicit_methods_take_functions_that_cannot_be_compiled(name):
    """The derivatives that they need come from duals, or from differences where a function takes only floats.

    Each run stays on one side of the condition: only compiled functions tell where it changes.
    """
    options = {"duration": 0.6, "step": 0.05, "method": name, "samples": None, "verify": False}
    for side, tau in ((1, braked_in_python), (-1, braked_on_floats)):
        start = [-side * 1.0], [side * 0.3]
        expected, found = (states(run(PENDULUM, *start, tau=one, **options)) for one in (braked, tau))
        assert np.all(side * expected[:, 1] > 0)
        assert_close(found, expected, condition=10)


# controllers


def test_a_pd_controller_on_one_axis_is_a_spring_and_a_damper():
    """q̈ = (K (q* − q) − D q̇)/2 critically damped: q* − q = (e₀ + (e₀ w) t) exp(−w t), w = √(K/2)."""
    w = 3.0
    found = run(CART, [0.0], duration=2.0, tau=ph.PD(2 * w * w, 4 * w, target=[0.5]))
    t = found["time"].values
    assert np.max(abs(0.5 - found["q"].values[:, 0] - 0.5 * (1 + w * t) * np.exp(-w * t))) <= ADDED


def test_a_pd_controller_turns_a_body_to_its_target_the_short_way():
    model, target = top(1.0, (1.0, 2.0, 2.5), (0, 0, 0)), np.array([0.6, 0.0, 0.8, 0.0])
    for sign in (1, -1):  # both are the same attitude
        found = run(model, duration=15.0, tau=ph.PD(8.0, 8.0, target=sign * target), method="dopri54")
        assert attitude_gap(found["q"].values[-1], target) <= 1e-6  # exp(−15) of the turn is left
        turn = np.unwrap(2 * np.arctan2(found["q"].values[:, 2], found["q"].values[:, 0]))
        assert np.max(abs(turn)) <= 2 * np.arctan2(0.8, 0.6) + 0.1


def test_controllers_follow_a_target_that_moves():
    found = run(
        CART,
        duration=2.0,
        tau=ph.PD(50.0, 20.0, target=lambda t: [ph.sin(t)], speed=lambda t: [ph.cos(t)]),
        v=[1.0],
    )
    lag = found["q"].values[:, 0] - np.sin(found["time"].values)
    assert np.max(abs(lag)) <= 2 * 1.0 / 50.0 + ADDED  # m |q̈|/K


def test_computed_torque_gives_the_linear_equation_of_the_error():
    """ë + 2w ė + w² e = 0 for every one-axis joint of a machine with dampers, springs, gravity and other forces."""
    push = ph.Force("push", "b", force=(1.0, -2.0, 0.5), point=(0.1, 0.2, 0.3))
    spring = ph.Spring("spring", "world", "c", (1.0, 0.0, 0.0), (0.0, 0.1, 0.0), stiffness=20.0, damping=1.0, rest=0.5)
    model = ph.Model(
        "arm", bodies=DAMPED.bodies, joints=arm(damping=0.3, base="universal").joints, forces=[push, spring]
    )
    w, q0, v0 = 4.0, np.array([0.3, -0.4, 0.4, 0.05]), np.array([0.5, -1.0, 1.2, -0.3])
    goal = lambda t: [ph.sin(t), 0.2 * t, 0.0, 0.1]
    speed = lambda t: [ph.cos(t), 0.2, 0.0, 0.0]
    acceleration = lambda t: [-ph.sin(t), 0.0, 0.0, 0.0]
    found = run(model, q0, v0, 2.0, ph.ComputedTorque(w * w, 2 * w, goal, speed, acceleration))
    t = found["time"].values
    e0, rate = np.array(goal(0.0)) - q0, np.array(speed(0.0)) - v0
    expected = (e0 + np.outer(t, rate + w * e0)) * np.exp(-w * t)[:, None]
    wanted = np.stack([np.sin(t), 0.2 * t, 0 * t, 0 * t + 0.1], axis=1)
    assert np.max(abs(wanted - found["q"].values - expected)) <= ADDED


def test_computed_torque_turns_a_ball_joint_about_one_axis_linearly():
    """From rest the error angle of any joint with a quaternion obeys the same equation; the axis stays."""
    w, angle, axis = 3.0, 2.0, np.array([1.0, 2.0, -2.0]) / 3
    start = [np.cos(angle / 2), *np.sin(angle / 2) * axis]
    found = run(DAMPED, [*start, 0.0, 0.0], duration=2.0, tau=ph.ComputedTorque(w * w, 2 * w))
    t = found["time"].values
    left = angle * (1 + w * t) * np.exp(-w * t)
    expected = np.concatenate([np.cos(left / 2)[:, None], np.outer(np.sin(left / 2), axis)], axis=1)
    assert np.max(abs(found["q"].values[:, :4] - expected)) <= ADDED
    assert np.max(abs(found["q"].values[:, 4:])) <= ADDED


def test_gains_may_differ_from_joint_to_joint():
    tau = ph.ComputedTorque([9, 16], [6, 8])
    found = run(DOUBLE, [1.0, 1.0], duration=1.0, tau=tau)
    t, w = found["time"].values[:, None], np.array([3.0, 4.0])
    assert np.max(abs(found["q"].values - (1 + w * t) * np.exp(-w * t))) <= ADDED


def test_a_controller_may_know_another_machine_than_the_one_it_holds():
    """At rest m₀ (K (target − q) + g) = m g."""
    known = slider(2.0)
    wrong, right = (
        ph.simulate(
            known,
            q=[0.3],
            duration=8.0,
            parameters={"bodies.block.mass": 3.0},
            tau=ph.ComputedTorque(9.0, 6.0, target=[0.3], model=given),
        )
        for given in (known, None)
    )
    assert right["q"].values[-1, 0] == pytest.approx(0.3, abs=1e-9)
    assert wrong["q"].values[-1, 0] == pytest.approx(0.3 - (3.0 - 2.0) * 9.81 / (9.0 * 2.0), abs=1e-6)
    with pytest.raises(ph.InputError, match="another machine"):
        ph.simulate(known, duration=1.0, tau=ph.ComputedTorque(1.0, 1.0, model=DOUBLE))


def slider(mass):
    """A block that gravity pulls along its rail."""
    rail = ph.Joint("rail", "prismatic", "world", "block", axis=(0, 0, 1))
    return ph.Model("slider", bodies=[ph.Body("block", mass, (0.1, 0.1, 0.1))], joints=[rail])


def test_a_curve_of_scipy_is_told_how_it_is_given_and_runs_as_its_table():
    times = np.linspace(0.0, 1.0, 6)
    curve, fine = CubicSpline(times, np.sin(4 * times)[:, None]), np.linspace(0.0, 1.0, 401)
    with pytest.raises(ph.InputError, match=r"ph\.Table\(times, curve\(times\)\)"):
        ph.simulate(slider(2.0), duration=0.5, tau=curve)
    with pytest.warns(ph.PolhodeWarning, match="Python runs in the loop"):
        opaque = ph.simulate(slider(2.0), duration=0.5, tau=lambda t, q, v: curve(t), method="rk4", step=0.01)
    table = ph.simulate(slider(2.0), duration=0.5, tau=ph.Table(fine, curve(fine)))
    assert opaque["q"].values[-1, 0] == pytest.approx(table["q"].values[-1, 0], abs=1e-5)


def test_around_a_function_in_python_the_machine_is_compiled(monkeypatch):
    options = {"q": [1.0, 1.0], "duration": 0.2, "method": "rk4", "step": 0.01}
    monkeypatch.setattr(compiled_run, "forward_dynamics", None)  # that of generic scalars, a millisecond a call
    with pytest.warns(ph.PolhodeWarning, match="Python runs in the loop"):
        found = ph.simulate(DOUBLE, tau=lambda t, q, v: [math.sin(t), 0.0], **options)
    compiled = ph.simulate(DOUBLE, tau=lambda t, q, v: [ph.sin(t), 0.0], **options)
    assert np.max(abs(found["q"].values - compiled["q"].values)) < 1e-14


# sampled controllers


class Noted:
    """A controller that notes when and with what it was called."""

    __name__ = "noted"

    def __init__(self, law):
        self.law, self.calls = law, []

    def __call__(self, t, q, v):
        self.calls.append((t, q.copy(), v.copy()))
        return self.law(t, q, v)


@pytest.mark.parametrize("options", [{}, {"step": 0.05, "method": "rk4"}, {"step": 0.2, "method": "rk4"}])
@pytest.mark.parametrize("duration", [1.0, 1.15, 0.1])
def test_a_sampled_controller_is_asked_at_its_period_and_held_in_between(duration, options):
    if duration == 1.15 and options.get("step") == 0.2:
        options = {"step": 0.1, "method": "rk4"}  # the last, shorter step is no new period
    period, law = 0.2, Noted(lambda t, q, v: [3.0 - 4.0 * q[0] - 2.0 * v[0]])
    found = run(CART, [0.3], [-1.0], duration, ph.Sampled(law, period), **{"samples": None, "verify": False} | options)
    calls = math.ceil(duration / period - 1e-9)
    assert_close([t for t, _, _ in law.calls], period * np.arange(calls))
    q, v, end = 0.3, -1.0, np.zeros(2)
    for k, (_, given_q, given_v) in enumerate(law.calls):  # parabolas, from call to call
        assert_close([*given_q, *given_v], [q, v], condition=10)
        h, a = min(period, duration - k * period), (3.0 - 4.0 * q - 2.0 * v) / 2
        q, v = q + v * h + a * h * h / 2, v + a * h
        end = np.array([q, v])
    assert_close(final(found), end, condition=10)


def test_the_forces_of_a_sampled_controller_are_stored():
    found = run(CART, duration=1.0, tau=ph.Sampled(lambda t, q, v: [t], 0.25), samples=9)
    assert_close(found["tau"].values[:, 0], [0, 0, 0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75])  # those held until then


def test_a_sampled_controller_may_keep_a_state_and_change_what_it_is_given():
    total = np.zeros(1)

    def integral(t, q, v):
        total[:] += q
        q[:] = 100.0  # a copy: the run does not see it
        return -5 * total

    found = run(CART, [1.0], duration=1.0, tau=ph.Sampled(integral, 0.1))
    assert abs(final(found)[0]) < 10


def test_a_period_between_steps_is_refused():
    with pytest.raises(ph.InputError, match=r"period falls between steps.*\n.*0\.25 s.*n × 0\.1 s"):
        run(CART, tau=ph.Sampled(lambda t, q, v: [0.0], 0.25), step=0.1, method="rk4")


def test_many_periods_take_little_time_each():
    """Ten seconds at a kilohertz: a run asks the controller, not a compiler."""
    law = Noted(lambda t, q, v: -4.0 * q - 2.0 * v)
    ph.simulate(CART, [1.0], duration=2.0, tau=ph.Sampled(law, 1e-3), samples=5, verify=False)
    assert len(law.calls) == 2000


# what is stored


def test_forces_are_stored_as_their_law_gives_them():
    for tau, expected in (
        (switched, lambda t, q, v: [(3.0 if t < 0.4 else -2.0) - 0.5 * v[0] + np.sin(q[0])]),
        (ph.PD(3.0, 0.5, target=[1.0]), lambda t, q, v: [3.0 * (1 - q[0]) - 0.5 * v[0]]),
        (ph.ComputedTorque(3.0, 0.5), lambda t, q, v: [2 * (-3.0 * q[0] - 0.5 * v[0]) + 2 * 9.81]),
    ):
        found = run(SLIDER, [0.2], tau=tau)
        rows = zip(*(found[name].values for name in ("time", "q", "v")), strict=True)
        assert_close(found["tau"].values, [expected(*row) for row in rows])


def test_without_inputs_no_forces_are_stored():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "tau" not in run(SLIDER, duration=0.1)


# own states of force elements

DAMPERS = (0.01, ph.PD(0.0, 3.0)), (3.01, None)
"""Dampings of a shaft and controllers that give the same in all."""


def stopped(*more):
    """A mass on a rail over a floor; v holds its speed and whether it rests."""
    mass = ph.Body("mass", 1.0, (0.1, 0.1, 0.1))
    rail = ph.Joint("rail", "prismatic", "world", "mass", axis=(0, 0, 1))
    return ph.Model("m", bodies=[mass], joints=[rail], forces=[ph.ImpactStop("floor", "rail", lower=-0.2), *more])


@pytest.mark.parametrize("tau", [ph.PD(5.0, 3.0), ph.ComputedTorque(5.0, 3.0)])
def test_controllers_leave_own_states_alone(tau):
    """A damping of 3 would have the mode `rests` decay, and friction let go."""
    belt = ph.JointFriction("belt", "rail", coulomb=30.0, method="events")
    run = ph.simulate(stopped(belt), q=[0.1], v=[2.0, 0.0, 1.0], duration=2.0, tau=tau)
    assert set(np.unique(run.v.values[:, 1:])) <= {-1.0, 0.0, 1.0}


def test_a_controller_leaves_the_current_of_a_motor_to_the_motor():
    """A damping of 3 is that of the joint, and none of the current."""
    motor = Motor("motor", "shaft", voltage=6.0, resistance=2.0)
    pulled, damped = (ph.simulate(rotor(motor, damping=d), duration=0.5, tau=tau, verify=False) for d, tau in DAMPERS)
    np.testing.assert_allclose(pulled.v, damped.v, atol=1e-7)


@pytest.mark.parametrize(
    ("tau", "words"),
    [
        ([0.0, 0.3], "simulate, tau: a force on an own state"),
        (ph.Table([0.0, 1.0], [[0.0, 0.0], [0.0, 1.0]]), "Table, values: a force on an own state"),
        (ph.Table([0.0, 1.0], [[0.0, 0.0], [0.0, 1.0]], hold=True), "Table, values: a force on an own state"),
        (lambda t, q, v: [0.0, 1.0], "not finite at the start"),
    ],
)
def test_a_force_on_a_mode_is_refused(tau, words):
    """It would move what changes at events alone: with half of `rests` gone the stop lets go, and nothing tells."""
    with pytest.raises(ph.PolhodeError, match=words) as refused:
        ph.simulate(stopped(), duration=1.0, tau=tau)
    assert "'floor.rests'" in str(refused.value)


@pytest.mark.parametrize("how", ["function", "sampled", "force"])
def test_a_force_on_a_mode_ends_the_run(how):
    def late(t, q, v):
        return [0.0, ph.where(t > 0.5, 1.0, 0.0)]

    model = stopped(ph.ForceFunction("late", late)) if how == "force" else stopped()
    tau = {"function": late, "sampled": ph.Sampled(lambda t, q, v: np.array([0.0, float(t > 0.5)]), 0.1)}.get(how)
    run = ph.simulate(model, duration=1.0, tau=tau, verify=False)
    assert run.attrs["status"] == "failed"
    assert 0.4 < float(run.time[-1]) < 0.7
    assert how == "force" or "'floor.rests': no force acts on what changes at events alone" in run.attrs["reason"]
