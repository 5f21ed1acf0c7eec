"""Derivatives through events of force elements: closed forms, central differences, grazing."""

import math

import numpy as np
import pytest

import polhode as ph
from own_elements import arm


def slider(name, *forces, **others):
    block = ph.Body("block", 1.0, (0.1, 0.1, 0.1))
    joint = ph.Joint("slide", "prismatic", "world", "block", **others)
    return ph.Model(name, bodies=[block], joints=[joint], forces=forces)


BALL = slider("ball", ph.ImpactStop("floor", "slide", lower=0.0, restitution=0.6), axis=(0, 0, 1))
BELT = slider(
    "belt",
    ph.JointFriction("rub", "slide", coulomb=1.0, static=2.0, drive_speed=0.3, method="events"),
    axis=(1, 0, 0),
    stiffness=4.0,
)


def test_a_ball_that_bounces_has_the_derivatives_of_its_closed_form():
    h, e, g, t = 0.5, 0.6, 9.81, 0.5
    paths = ["start.q.slide", "forces.floor.restitution"]
    asked = {"q": [h], "duration": t, "step": 2e-3, "method": "rk4"}
    run = ph.simulate(BALL, sensitivities=paths, samples=[t], **asked)
    falls, speed = math.sqrt(2 * h / g), math.sqrt(2 * g * h)
    after = t - falls
    by_h = [e * g / speed * after - (e * speed - g * after) / speed, (e + 1) * g / speed]
    by_e = [speed * after, speed]
    assert run.attrs["verdict"] == "good"
    np.testing.assert_allclose(run.sensitivity_q[-1, 0], [by_h[0], by_e[0]], rtol=1e-8)
    np.testing.assert_allclose(run.sensitivity_v[-1, 0], [by_h[1], by_e[1]], rtol=1e-8)

    def objective(q, v):
        return q[0] + 2 * v[0]

    found = ph.gradient(BALL, objective, paths, **asked)
    expected = [one[0] + 2 * one[1] for one in (by_h, by_e)]
    np.testing.assert_allclose(list(found.derivatives.values()), expected, rtol=1e-8)
    # ∫ v dt is the way, which has no jump; its integrand has
    way = ph.gradient(BALL, None, paths, running=lambda t, q, v: v[0], **asked)
    np.testing.assert_allclose(list(way.derivatives.values()), [by_h[0] - 1, by_e[0]], rtol=1e-8)


def double_arm():
    return arm(
        ph.ImpactStop("stop", "elbow", lower=-0.3, upper=0.4, restitution=0.5),
        ph.JointLock("lock", "shoulder", lock_time=0.7, release_time=0.9),
    )


CASES = {
    "belt": (BELT, [0.0], 6.0, ["coulomb", "static", "drive_speed"], "forces.rub."),
    "arm": (double_arm(), [1.0, 0.2], 1.5, ["stop.restitution", "stop.upper"], "forces."),
}


@pytest.mark.long
@pytest.mark.parametrize("options", [{"tolerance": 1e-11}, {"method": "rk4", "step": 2e-3}], ids=["control", "equal"])
@pytest.mark.parametrize("case", CASES)
def test_derivatives_through_events_are_those_of_central_differences(case, options):
    model, q, duration, names, head = CASES[case]
    first, e = model.joints[0].name, 1e-5
    paths = [
        *(head + name for name in names),
        f"bodies.{model.bodies[-1].name}.mass",
        f"start.q.{first}",
        f"tau.{first}",
    ]
    tau = np.eye(model.nv)[0] * 0.1
    asked = {"duration": duration, **options}
    run = ph.simulate(model, q=q, tau=tau, sensitivities=paths, samples=26, **asked)
    found = ph.gradient(model, lambda q, v: q[0] + 2 * v[0], paths, q=q, tau=tau, **asked)
    assert run.attrs["verdict"] == "good"
    assert run.sizes["event"] >= 4
    n = model.joint_velocities
    for k, path in enumerate(paths):
        numbers = model.numbers()
        moved = [
            ph.simulate(
                model, q=[q[0] + (s * e if path.startswith("start") else 0.0), *q[1:]], samples=26, verify=False,
                parameters={path: numbers[path] + s * e} if path in numbers else None,
                tau=tau * (1 + (10 * s * e if path.startswith("tau") else 0.0)), **asked,
            )
            for s in (1, -1)
        ]  # fmt: skip
        for one, other in (("sensitivity_q", "q"), ("sensitivity_v", "v")):
            central = (moved[0][other].values - moved[1][other].values)[:, :n] / (2 * e)
            np.testing.assert_allclose(run[one].values[:, :n, k], central, atol=1e-6, rtol=1e-6)
        forward = run.sensitivity_q[-1, 0, k] + 2 * run.sensitivity_v[-1, 0, k]
        assert found.derivatives[path] == pytest.approx(float(forward), rel=1e-9)


def test_a_grazed_event_is_told_by_name():
    lock = ph.JointLock("latch", "slide", lock_when=lambda t, q, v: (t - 0.1) ** 3)
    with pytest.raises(ph.InputError, match=r"an event is grazed: no derivative(.|\n)*'latch.locks' at t = 0.1"):
        ph.simulate(slider("latched", lock, axis=(0, 0, 1)), duration=0.2, sensitivities=["bodies.block.mass"])


def test_loops_with_events_are_refused_by_name():
    bar = ph.load("four-bar")
    rub = ph.JointFriction("rub", "motor", coulomb=3.0, method="events")
    model = ph.Model("bar", bar.gravity, bar.bodies, bar.joints, [rub], bar.constraints)
    with pytest.raises(ph.InputError, match=r"the motion jumps, under constraints(.|\n)*'rub.sticks'"):
        ph.gradient(model, lambda q, v: q[0], ["gravity.2"], q=bar.start.q, duration=0.1)
