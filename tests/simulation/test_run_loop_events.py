"""Zeros of functions on the way: found, told, ended at, and turned back from."""

import numpy as np
import pytest

import polhode as ph
from integration import TOP, TOP_START
from polhode import exact
from polhode.integrate.adaptive import Controlled
from polhode.integrate.method import MotionState
from polhode.kernel.backends.llvm import in_place
from polhode.scalar import Vec
from polhode.simulation import step_state
from polhode.simulation.events import event_location
from run_cases import CART, FREQUENCY, PENDULUM, SLIDER, final

TOLERANCE = 1e-11
"""Of the runs with controlled steps."""

FOUND = 1e-9
"""How well they find a time: some hundred steps of this tolerance, at speeds of about 1."""

WAYS = {
    "controlled": {"tolerance": TOLERANCE},
    "rk4": {"step": 2e-3, "method": "rk4"},
    "generalized-alpha": {"step": 5e-4, "method": "generalized-alpha"},
    "variational": {"step": 5e-4, "method": "variational"},
}
ERRORS = {"controlled": FOUND, "rk4": 1e-8, "generalized-alpha": 1e-4, "variational": 1e-4}
"""Of times that they find: h⁴ and h² times the fourth and second power of the frequency, and the time."""


def lowest(t, q, v):
    return q[0]


def events_of(run):
    if "event_time" not in run:
        return []
    return list(zip(run["event_time"].values.tolist(), run["event_name"].values.tolist(), strict=True))


def times_of(run, name):
    return np.array([t for t, found in events_of(run) if found == name])


PERIOD = float(exact.pendulum_period(1.0, FREQUENCY))
PASSING = PERIOD * (2 * np.arange(4) + 1) / 4
"""When a pendulum let go at 1 rad passes its lowest place."""


@pytest.mark.parametrize("way", WAYS)
def test_a_pendulum_passes_its_lowest_place_at_quarters_of_its_period(way):
    run = ph.simulate(PENDULUM, [1.0], duration=3.9, events=[ph.Event("low", lowest)], samples=2, **WAYS[way])
    assert run.attrs["status"] == "finished"
    assert np.max(abs(times_of(run, "low") - PASSING)) <= ERRORS[way]


@pytest.mark.parametrize("direction", [1, -1])
def test_a_direction_leaves_out_every_other_zero(direction):
    event = ph.Event("low", lowest, direction)
    run = ph.simulate(PENDULUM, [1.0], duration=3.9, events=[event], tolerance=TOLERANCE)
    expected = PASSING[1::2] if direction > 0 else PASSING[0::2]
    assert np.max(abs(times_of(run, "low") - expected)) <= FOUND


def test_watching_leaves_the_motion_alone():
    """With equal steps to the bit."""
    events = [ph.Event("low", lowest), ph.Event("turn", lambda t, q, v: v[0])]
    options = {"duration": 2.0, "step": 0.01, "method": "rk4", "every": 7}
    watched, alone = (ph.simulate(PENDULUM, [1.0], events=e, **options) for e in (events, []))
    assert np.array_equal(watched["time"], alone["time"])
    assert np.array_equal(watched["q"], alone["q"])


@pytest.mark.parametrize("options", [{}, {"step": 0.5, "method": "rk4"}])
def test_several_events_within_one_step_come_in_their_order(options):
    marks = [0.31, 0.32, 0.36, 0.44]
    events = [ph.Event(f"at {x}", lambda t, q, v, x=x: q[0] - x) for x in reversed(marks)]
    run = ph.simulate(CART, [0.0], [1.0], duration=1.0, events=events, **options)
    assert [name for _, name in events_of(run)] == [f"at {x}" for x in marks]
    assert np.allclose([t for t, _ in events_of(run)], marks, rtol=0, atol=1e-12)


def test_zeros_that_lie_close_are_not_stepped_over():
    """A motion that steps follow exactly, however long they are, is looked at all the same."""
    height = 10**2 / (2 * 9.81) - 0.01
    event = ph.Event("nearly the top", lambda t, q, v: q[0] - height)
    run = ph.simulate(SLIDER, [0.0], [10.0], duration=2.0, events=[event])
    gap = np.sqrt(2 * 0.01 / 9.81)
    assert np.allclose(times_of(run, "nearly the top"), 10 / 9.81 + gap * np.array([-1, 1]), rtol=0, atol=FOUND)


@pytest.mark.parametrize("way", WAYS)
def test_a_terminal_event_ends_the_run_where_it_lies(way):
    event = ph.Event("low", lowest, terminal=True)
    run = ph.simulate(PENDULUM, [1.0], duration=3.9, events=[event], **WAYS[way])
    assert run.attrs["status"] == "stopped"
    assert "event 'low'" in run.attrs["reason"]
    assert abs(run["time"].values[-1] - PASSING[0]) <= ERRORS[way]
    assert abs(final(run)[0]) <= 1e-12
    assert np.all(np.diff(run["time"]) > 0)
    assert 0 < run["step_size"].values[-1] <= run["step_size"].values[1:-1].max()
    before = ph.simulate(PENDULUM, [1.0], duration=3.9, **WAYS[way])["q"].values[: run.sizes["time"] - 1]
    assert np.max(abs(run["q"].values[:-1] - before)) <= ERRORS[way]


def test_of_several_terminal_events_the_first_ends_the_run():
    events = [ph.Event(f"at {x}", lambda t, q, v, x=x: q[0] - x, terminal=True) for x in (0.5, 0.4)]
    run = ph.simulate(CART, [0.0], [1.0], duration=1.0, events=events, step=1.0, method="rk4")
    assert [name for _, name in events_of(run)] == ["at 0.4"]
    assert abs(run["time"].values[-1] - 0.4) <= 1e-12


# resets

BOUNCE = 0.8
"""Of its speed a ball keeps so much."""


def bounced(t, q, v):
    return q, -BOUNCE * v


FLOOR = ph.Event("floor", lowest, -1, reset=bounced)


def landings(height, count):
    """When a ball that is let go from a height meets the floor."""
    first = np.sqrt(2 * height / 9.81)
    return first * (1 + 2 * np.concatenate([[0.0], np.cumsum(BOUNCE ** np.arange(1, count))]))


def flight(height, t):
    """Place and speed of that ball."""
    met = landings(height, 60)
    k = np.searchsorted(met, t, "right")
    since = t - np.concatenate([[0.0], met])[k]
    speed = np.where(k > 0, np.sqrt(2 * 9.81 * height) * BOUNCE**k, 0.0)
    return np.where(k > 0, 0.0, height) + speed * since - 9.81 * since**2 / 2, speed - 9.81 * since


@pytest.mark.parametrize("options", [{}, {"step": 0.01, "method": "rk4"}, {"step": 0.2, "method": "rk4"}])
@pytest.mark.parametrize("direction", [-1, 0])
def test_a_ball_bounces_when_its_parabolas_say(direction, options):
    """Also where it bounces several times within one step; parabolas are exact for these methods."""
    event = ph.Event("floor", lowest, direction, reset=bounced)
    run = ph.simulate(SLIDER, [1.0], duration=3.0, events=[event], samples=16, **options)
    expected = landings(1.0, 12)
    assert np.allclose(times_of(run, "floor"), expected[expected < 3.0], rtol=0, atol=1e-12)
    place, speed = flight(1.0, run["time"].values)
    assert np.allclose(run["q"].values[:, 0], place, rtol=0, atol=1e-11)
    assert np.allclose(run["v"].values[:, 0], speed, rtol=0, atol=1e-11)


def test_a_method_with_a_memory_starts_anew_after_a_reset():
    run = ph.simulate(SLIDER, [1.0], duration=2.0, events=[FLOOR], step=1e-3, method="generalized-alpha")
    expected = landings(1.0, 12)
    assert np.allclose(times_of(run, "floor"), expected[expected < 2.0], rtol=0, atol=1e-9)  # parabolas are exact here
    assert np.allclose(run["q"].values[:, 0], flight(1.0, run["time"].values)[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("options", [{"tolerance": TOLERANCE}, {"step": 0.01, "method": "rk4"}])
def test_a_reset_that_goes_on_through_zero_is_not_taken_twice(options):
    """A push at the lowest place: each pass adds to the speed, and is counted once."""
    push = ph.Event("push", lowest, reset=lambda t, q, v: (q, 1.05 * v))
    run = ph.simulate(PENDULUM, [0.5], duration=3.9, events=[push], **options)
    assert len(times_of(run, "push")) == 4
    energy = run["total_energy"].values + 9.81
    assert abs(energy[-1] / energy[0] - 1.05**8) <= 1e-5


@pytest.mark.parametrize("options", [{}, {"step": 0.05, "method": "rk4"}])
def test_a_reset_to_another_place_is_a_new_start(options):
    jump = ph.Event("end of the belt", lambda t, q, v: q[0] - 1, reset=lambda t, q, v: (q - 1, v))
    run = ph.simulate(CART, [0.0], [3.0], duration=2.1, events=[jump], **options)
    assert np.allclose(times_of(run, "end of the belt"), np.arange(1, 7) / 3, rtol=0, atol=1e-12)
    assert abs(final(run)[0] - 0.3) <= 1e-12


@pytest.mark.parametrize("options", [{}, {"step": 0.01, "method": "rk4"}])
def test_a_ball_that_bounces_for_ever_in_a_finite_time_ends_the_run_with_the_reason(options):
    run = ph.simulate(SLIDER, [1.0], duration=6.0, events=[FLOOR], **options)
    rest = landings(1.0, 400)[-1]
    assert run.attrs["status"] == "failed"
    assert "event 'floor' resets the motion again and again" in run.attrs["reason"]
    assert abs(run["time"].values[-1] - rest) <= 1e-6
    assert np.all(run["q"].values >= -1e-9)


def test_several_resets_each_keep_their_own_side():
    """A ball between two walls."""
    walls = [
        ph.Event("left", lambda t, q, v: q[0], reset=lambda t, q, v: (q, -v)),
        ph.Event("right", lambda t, q, v: q[0] - 1, reset=lambda t, q, v: (q, -v)),
    ]
    for options in ({}, {"step": 0.7, "method": "rk4"}):
        run = ph.simulate(CART, [0.5], [2.0], duration=5.0, events=walls, **options)
        assert np.allclose([t for t, _ in events_of(run)], np.arange(0.25, 5, 0.5), rtol=0, atol=1e-12)
        assert abs(final(run)[0] - 0.5) <= 1e-11


def test_a_reset_of_a_ball_joint_keeps_the_sphere():
    kick = ph.Event("kick", lambda t, q, v: t - 0.05, reset=lambda t, q, v: (q, 1.2 * v))
    run = ph.simulate(TOP, *TOP_START, duration=0.1, events=[kick])
    assert run["norm_error"].max() <= 1e-15
    wrong = ph.Event("kick", lambda t, q, v: t - 0.05, reset=lambda t, q, v: (1.1 * q, v))
    run = ph.simulate(TOP, *TOP_START, duration=0.1, events=[wrong])
    assert run.attrs["status"] == "failed"
    assert "reset of event 'kick' gave a quaternion 0.1 off the unit sphere" in run.attrs["reason"]


# where events may lie


@pytest.mark.parametrize("options", [{}, {"step": 0.125, "method": "rk4"}])
def test_a_zero_at_the_start_is_none(options):
    run = ph.simulate(CART, [0.0], [1.0], duration=1.0, events=[ph.Event("zero", lowest)], **options)
    assert events_of(run) == []


@pytest.mark.parametrize("options", [{}, {"step": 0.125, "method": "rk4"}])
@pytest.mark.parametrize("place", [0.5, 1.0])
def test_a_zero_at_a_sample_or_at_the_end_is_one(place, options):
    event = ph.Event("here", lambda t, q, v: q[0] - place)
    run = ph.simulate(CART, [0.0], [1.0], duration=1.0, samples=9, events=[event], **options)
    assert np.allclose(times_of(run, "here"), [place], rtol=0, atol=1e-12)
    assert run.sizes["time"] == 9


@pytest.mark.parametrize("options", [{}, {"step": 0.125, "method": "rk4"}])
@pytest.mark.parametrize("place", [0.5, 1.0])
def test_a_terminal_zero_at_a_sample_gives_that_sample_once(place, options):
    event = ph.Event("here", lambda t, q, v: t - place, terminal=True)
    run = ph.simulate(CART, [0.0], [1.0], duration=1.0, samples=9, events=[event], **options)
    assert np.all(np.diff(run["time"]) > 1e-9)
    assert run["time"].values[-1] == pytest.approx(place, abs=1e-12)


@pytest.mark.parametrize("options", [{}, {"step": 0.125, "method": "rk4"}])
@pytest.mark.parametrize("place", [0.5, 1.0])
def test_a_reset_at_a_sample_is_seen_in_it_or_after_it(place, options):
    """Samples are as many as asked for, and only the one at the reset itself may be on either side of it."""
    stop = ph.Event("stop", lambda t, q, v: t - place, reset=lambda t, q, v: (q, 0 * v))
    run = ph.simulate(CART, [0.0], [1.0], duration=1.0, samples=9, events=[stop], **options)
    t, v = run["time"].values, run["v"].values[:, 0]
    assert np.allclose(t, np.linspace(0, 1, 9), rtol=0, atol=1e-12)
    assert np.all(v[t < place - 1e-9] == 1)
    assert np.all(v[t > place + 1e-9] == 0)


@pytest.mark.parametrize("options", [{}, {"step": 0.05, "method": "rk4"}])
def test_events_and_a_sampled_controller_go_together(options):
    """The controller pushes at its own times; bounces lie in between, and one of them at a call."""
    calls = []

    def push(t, q, v):
        calls.append((t, v[0]))
        return [0.0]

    wall = ph.Event("wall", lambda t, q, v: q[0] - 0.5, reset=lambda t, q, v: (q, -v))
    asked = {"duration": 1.0, "tau": ph.Sampled(push, 0.2), "events": [wall], "samples": 11}
    run = ph.simulate(CART, [0.0], [1.0], **asked, verify=False, **options)
    assert np.allclose([t for t, _ in calls], 0.2 * np.arange(5))
    assert np.allclose([speed for _, speed in calls], [1, 1, 1, -1, -1])
    assert np.allclose(run["q"].values[:, 0], 0.5 - abs(run["time"] - 0.5), rtol=0, atol=1e-12)


def test_an_event_that_cannot_be_compiled_works_in_python():
    def low_in_python(t, q, v):
        return float(q[0]) if t > 0 else 1.0

    with pytest.warns(ph.PolhodeWarning, match="event 'low' cannot be compiled"):
        run = ph.simulate(
            PENDULUM, [1.0], duration=1.5, events=[ph.Event("low", low_in_python)], method="rk4", step=0.01
        )
    assert np.max(abs(times_of(run, "low") - PASSING[PASSING < 1.5])) <= 1e-6


def test_a_run_verified_with_events_compares_the_same_samples():
    run = ph.simulate(SLIDER, [1.0], duration=1.0, events=[FLOOR], verify=True)
    assert run.attrs["status"] == "finished"
    assert float(run["error_estimate"].max()) < 1e-6


@pytest.mark.parametrize("samples", [1001, 1619, 41])
def test_a_sample_at_a_jump_of_the_force_is_not_beyond_it(samples):
    """At t = 9.9 a force begins; a step up to there must not have its last stage on the other side."""

    def force(t, q, v):
        return [ph.where(abs(q[0] - 10.0) < 0.1, 3.0, 0.0)]

    mass = sum(body.mass for body in CART.bodies)
    for tolerance in (1e-6, 1e-9, 1e-11):
        times = np.union1d(np.linspace(0, 20, samples), 9.9)
        run = ph.simulate(CART, [0.0], [1.0], 20.0, force, samples=times, tolerance=tolerance)
        work = np.where(abs(run["q"][:, 0] - 10) < 0.1, run["q"][:, 0] - 9.9, np.where(run["q"][:, 0] > 10, 0.2, 0.0))
        np.testing.assert_allclose(run["v"][:, 0] ** 2, 1 + 6 / mass * work, rtol=1e-9)
        assert run.verdict == "good"


@pytest.mark.parametrize("rows", [1, 5])
def test_rows_and_moments_that_are_computed_together_do_not_change_a_bit(monkeypatch, rows):
    """A run into the limits of its joints, which ends blocks at contacts and has samples in the steps up to them."""
    asked = {"duration": 1.0, "samples": 400, "verify": False}
    usual = ph.simulate(ph.load("arm-7"), **asked)
    monkeypatch.setattr(in_place, "AT_ONCE", rows)
    monkeypatch.setattr(event_location, "HOPS", rows)
    parts = ph.simulate(ph.load("arm-7"), **asked)
    assert len(events_of(usual)) > 3
    assert events_of(usual) == events_of(parts)
    for part in ("q", "v", "step_size"):
        assert np.array_equal(usual[part], parts[part], equal_nan=True)


def test_samples_up_to_a_switch_are_those_of_steps_that_end_there():
    """Samples in the steps before contacts are those of a run that ends at them."""
    model = ph.load("arm-7")
    times = np.linspace(0.0, 0.6, 601)[1:]
    many, few = (ph.simulate(model, duration=0.6, samples=x, verify=False) for x in (times, times[-1:]))
    assert events_of(many) == events_of(few)
    assert np.array_equal(many["q"][-1], few["q"][-1])
    assert float(abs(many["q"].diff("time")).max()) < 0.02


def test_a_rejected_step_is_not_projected():
    calls = []

    def land(t, q, v):
        calls.append(t)
        return 2.0 * q, 3.0 * v, Vec([1.0, 1e-9])

    q, v = Vec([1.0, 2.0]), Vec([3.0])
    tried = Controlled(True, 0.5, q, v, 0.1, 0.2, MotionState(q, v))
    there, near, far = step_state._landed(land, tried, 1e-9)
    assert (there.q, there.v, near, far) == ((2.0, 4.0), (9.0,), 1.0, 1.0)
    there, *_ = step_state._landed(land, tried._replace(accepted=False), 1e-9)
    assert (there.q, there.v) == (q, v)
    assert calls == [0.5]
