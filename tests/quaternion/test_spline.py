"""Curves through attitudes."""

import numpy as np
import pytest
from scipy.spatial.transform import RotationSpline, Slerp

from attitudes import apart, scipys, wxyz
from close import assert_close
from polhode import InputError, quaternion
from polhode.kernel import evaluate, trace
from polhode.quaternion import AttitudeSpline
from polhode.scalar import Dual

TIMES = np.array([0.0, 1.0, 2.5, 3.0, 5.0, 5.5])
PATH = quaternion.random_near(quaternion.random(seed=1), 0.5, 6, seed=4) * [[1.0], [-1], [1], [1], [-1], [1]]
T = np.linspace(0, 5.5, 67)
ACCURACY = 1e-8
"""SciPy ends its iteration for the angular velocities at 1e-9 of them."""


def test_the_cubic_curve_is_scipys_rotation_spline():
    ours, theirs = AttitudeSpline(TIMES, PATH), RotationSpline(TIMES, scipys(PATH))
    assert apart(ours(T), wxyz(theirs(T))) < ACCURACY
    assert np.max(abs(ours.angular_velocity(T) - theirs(T, 1))) < ACCURACY
    assert np.max(abs(ours.angular_acceleration(T) - theirs(T, 2))) < 10 * ACCURACY


def test_two_attitudes_are_joined_at_constant_rate():
    ours, theirs = AttitudeSpline(TIMES[:2], PATH[:2]), RotationSpline(TIMES[:2], scipys(PATH[:2]))
    t = np.linspace(0, 1, 5)
    assert apart(ours(t), wxyz(theirs(t))) < 1e-12
    assert_close(ours.angular_velocity(t), theirs(t, 1))
    assert_close(ours.angular_acceleration(t), np.zeros((5, 3)))


def test_slerp_between_attitudes_is_scipys():
    found = AttitudeSpline(TIMES, PATH, kind="slerp")
    assert apart(found(T), wxyz(Slerp(TIMES, scipys(PATH))(T))) < 1e-12
    assert_close(found.angular_acceleration(T), np.zeros((67, 3)))


@pytest.mark.parametrize("kind", ["cubic", "squad", "slerp"])
def test_rates_are_derivatives_and_the_attitudes_are_met(kind):
    spline, h = AttitudeSpline(np.arange(6), PATH, kind=kind), 1e-4
    t = np.linspace(0.05, 4.95, 24)
    omega = quaternion.difference(spline(t - h), spline(t + h)) / (2 * h)
    alpha = (spline.angular_velocity(t + h) - spline.angular_velocity(t - h)) / (2 * h)
    assert np.max(abs(omega - spline.angular_velocity(t))) < 1e-6  # h² times a third derivative
    assert np.max(abs(alpha - spline.angular_acceleration(t))) < 1e-6
    assert apart(spline(np.arange(6)), PATH) < 1e-12
    steps = spline(np.linspace(0, 5, 200))
    assert np.all(np.sum(steps[1:] * steps[:-1], axis=1) > 0.9)  # signs go on


@pytest.mark.parametrize(("kind", "smooth"), [("cubic", 2), ("squad", 1), ("slerp", 0)])
def test_curves_are_as_smooth_as_said_at_the_attitudes(kind, smooth):
    spline, h, t = AttitudeSpline(np.arange(6), PATH, kind=kind), 1e-12, np.arange(1, 5)
    for order, call in enumerate((spline.angular_velocity, spline.angular_acceleration), 1):
        jump = np.max(abs(call(t + h) - call(t - h)))
        if order <= smooth + 1:
            assert (jump < 1e-9) == (order <= smooth), f"order {order}: {jump:.3g}"


def test_velocities_at_the_ends_can_be_given():
    first, last = np.array([0.3, -0.2, 0.5]), np.zeros(3)
    spline = AttitudeSpline(TIMES, PATH, start_velocity=first, end_velocity=last)
    assert_close(spline.angular_velocity(0.0), first)
    assert_close(spline.angular_velocity(5.5), last)


def test_a_curve_sampled_from_a_motion_converges_to_it_at_order_four():
    """A steady precession: exp(t a/2)∘exp(t b/2)."""
    a, b = np.array([0.3, 0.1, -0.2]), np.array([0.0, 0.4, 0.9])

    def motion(t):
        turns = [quaternion.rotation_vector_to_wxyz(np.multiply.outer(t, x)) for x in (a, b)]
        return quaternion.product(*turns)

    def omega(t):
        return quaternion.rotate(quaternion.rotation_vector_to_wxyz(-np.multiply.outer(t, b)), a) + b

    def worst(n):
        times = np.linspace(0, 4, n)
        spline = AttitudeSpline(times, motion(times), start_velocity=omega(0.0), end_velocity=omega(4.0))
        t = np.linspace(0, 4, 301)
        return apart(spline(t), motion(t))

    assert worst(9) / worst(17) > 14


def test_a_batch_of_curves_is_each_of_them():
    paths = np.stack([PATH, PATH[::-1], quaternion.random_near(PATH[0], 0.3, 6, seed=1)])
    for kind in ("cubic", "squad"):
        together, t = AttitudeSpline(TIMES, paths, kind=kind), np.array([[0.1, 2.0], [4.0, 5.5]])
        for k in range(3):
            alone = AttitudeSpline(TIMES, paths[k], kind=kind)
            assert_close(together(t)[k], alone(t))
            assert_close(together.angular_acceleration(t)[k], alone.angular_acceleration(t), condition=10)
    assert together(np.zeros(0)).shape == (3, 0, 4)


@pytest.mark.parametrize("kind", ["cubic", "squad", "slerp"])
def test_a_curve_of_a_symbol_is_that_of_numbers(kind):
    spline, t = AttitudeSpline(TIMES, PATH, kind=kind), np.array([0.0, 0.3, 1.0, 2.7, 4.0, 5.5])
    for call in (spline, spline.angular_velocity, spline.angular_acceleration):
        assert_close(evaluate(trace(lambda t, call=call: call(t), t=()), t=t), call(t), condition=10)
    at = spline(Dual(0.3, 1.0))
    rate = quaternion.angular_velocity([x.value for x in at], [x.slope for x in at])
    assert_close(rate, spline.angular_velocity(0.3))


def test_fifty_attitudes_in_all_directions_have_a_curve():
    spline = AttitudeSpline(np.arange(50), quaternion.random(50, seed=8))
    t, h = np.arange(1, 49), 1e-12
    jump = spline.angular_acceleration(t + h) - spline.angular_acceleration(t - h)
    assert np.max(abs(jump)) < 1e-8


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: AttitudeSpline([0.0], PATH[:1]), "sizes do not fit together"),
        (lambda: AttitudeSpline(TIMES[:5], PATH), "sizes do not fit together"),
        (lambda: AttitudeSpline(TIMES, PATH[0]), "attitudes: not a path"),
        (lambda: AttitudeSpline([0, 1, 1, 2, 3, 4], PATH), r"times: not increasing.*\n.*1 s, then 1 s"),
        (lambda: AttitudeSpline([0, 1, np.nan, 2, 3, 4], PATH), "times: not finite"),
        (lambda: AttitudeSpline(TIMES, 2 * PATH), "attitudes: not a unit quaternion"),
        (lambda: AttitudeSpline(TIMES, PATH, kind="linear"), "kind: no such curve"),
        (lambda: AttitudeSpline(TIMES, PATH, kind="squad", start_velocity=[0, 0, 0]), "start_velocity: has no meaning"),
        (lambda: AttitudeSpline(TIMES, PATH, end_velocity=[0, 0]), "end_velocity: wrong shape"),
        (lambda: AttitudeSpline(TIMES, PATH)(5.6), r"argument t: outside the curve.*\n.*5.6 s; expected 0 to 5.5 s"),
        (lambda: AttitudeSpline(TIMES, PATH).angular_velocity([-1e-9, 1]), "outside the curve"),
        (lambda: AttitudeSpline(TIMES, [PATH] * 2)(Dual(0.3, 1.0)), "one time for a batch of curves"),
    ],
)
def test_bad_arguments_are_named(given, words):
    with pytest.raises(InputError, match=words):
        given()
