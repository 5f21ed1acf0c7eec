"""Each step rule converges with its order, on the closed-form tumble of a free body."""

import numpy as np
import pytest

import polhode as ph
from polhode.dynamics.single.variables import SingleBody
from polhode.integrate.adaptive import dop853
from polhode.integrate.explicit import rk4
from polhode.papers.single_body import NORMS, motion, reference
from polhode.scalar import Vec, vec

BODY = SingleBody.make((1.0, 2.0, 3.0), (0.3, 2.0, 0.4), (0.5, 0.5, 0.5, 0.5))


def attitude_error(form, norm, step, duration=4.0):
    run = motion(form, BODY, duration, step, norm)
    truth = reference(BODY, np.array([0.0, duration]))
    last = run.p[-1] / np.linalg.norm(run.p[-1])
    return ph.quaternion.angle_between(last, truth.p[-1])


@pytest.mark.parametrize("form", ["schwab-meijaard-45", "sherif-29", "sherif-38", "schwab-meijaard-20"])
@pytest.mark.parametrize("norm", ["none", "state", "lie"])
def test_rk4_converges_with_order_four(form, norm):
    if form == "schwab-meijaard-20" and norm != "none":
        with pytest.raises(ph.InputError, match="does not apply"):
            attitude_error(form, norm, 0.1)
        return
    steps = np.array([0.1, 0.05, 0.025])
    errors = [attitude_error(form, norm, h) for h in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert 3.7 < slope < 5.3, (slope, errors)


def test_one_step_is_the_taylor_series_to_fourth_order():
    x, h = vec(1.0), 0.1
    found = rk4(lambda t, x: x, 0.0, x, h).x[0]
    assert found == pytest.approx(1 + h + h**2 / 2 + h**3 / 6 + h**4 / 24, abs=1e-16)


def test_a_step_uses_the_time_of_each_stage():
    found = rk4(lambda t, x: Vec([4 * t**3]), 1.0, vec(0.0), 0.5).x[0]
    assert found == pytest.approx(1.5**4 - 1, abs=1e-14)


def test_the_lie_step_keeps_the_norm_and_the_state_form_loses_it_as_predicted():
    """At constant rate RK4 shrinks ‖p‖ per step by √(1 − z⁶/72 + z⁸/576), z = hω/2."""
    ball = SingleBody.make((1.0, 1.0, 1.0), (0.0, 0.0, 2.0))
    h, steps = 0.5, 40
    plain = np.linalg.norm(motion("schwab-meijaard-45", ball, h * steps, h).p[-1])
    z = h * 2.0 / 2
    assert plain == pytest.approx((1 - z**6 / 72 + z**8 / 576) ** (steps / 2), rel=1e-13)
    lie = motion("schwab-meijaard-45", ball, h * steps, h, "lie")
    assert np.max(abs(np.linalg.norm(lie.p, axis=1) - 1)) < 1e-14


def test_projecting_p_alone_harms_and_projecting_the_state_does_not():
    errors = {norm: attitude_error("sherif-38", norm, 0.05, 20.0) for norm in NORMS}
    assert errors["p"] > 10 * errors["none"]
    assert errors["state"] < 1.5 * errors["none"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"norm": "sometimes"}, ["unknown norm policy", "sometimes", "lie"]),
        ({"step": 0.0}, ["step 0.0", "> 0"]),
        ({"duration": np.nan}, ["duration nan"]),
    ],
)
def test_bad_options_are_told(options, words):
    with pytest.raises(ph.InputError) as caught:
        motion("sherif-38", BODY, **{"duration": 1.0, "step": 0.1, **options})
    for word in words:
        assert word in str(caught.value)


def test_the_last_sample_is_at_the_duration_exactly():
    run = motion("sherif-38", BODY, 1.0, 0.3)
    assert run.t[-1] == 1.0
    assert len(run.t) == 5


def test_a_motion_that_leaves_the_numbers_says_so():
    with pytest.raises(ph.IntegrationError, match="smaller step"):
        motion("sherif-29", SingleBody.make((1, 2, 3), (3e3, 2e3, 1e3)), 100.0, 1.0)


def test_adaptive_integration_says_where_it_stopped():
    with pytest.raises(ph.IntegrationError, match="stopped at t = "):
        dop853(lambda t, x: Vec([x[0] * x[0]]), vec(1.0), np.linspace(0, 2, 5), 1e-8)
