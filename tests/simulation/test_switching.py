"""Corners, jumps and pulses of user functions: known before the run, and never missed."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

import polhode as ph
from polhode.constrain.constraint_policy import DEFAULT_POLICY
from polhode.integrate.methods import ADAPTIVE, METHODS
from polhode.result.verdict import Grade
from polhode.simulation.run_options import RunOptions
from polhode.simulation.scenario import Scenario
from polhode.simulation.switching import Switching, user_functions
from run_cases import CART, final

DURATION, BEGIN = 200.0, 120.3
PUSH = 2.0


def tanh(x):
    e = ph.exp(-2 * abs(x))
    return ph.where(x < 0, -1.0, 1.0) * (1 - e) / (1 + e)


def pulses(width):
    """Forces from rest that push for a short while, and their impulses."""
    a, b, m, s = BEGIN, BEGIN + width, BEGIN + width / 2, width / 8

    def in_python(t, q, v):
        return [PUSH if a <= t < b else 0.0]

    return {
        "box": (lambda t, q, v: [ph.where((t >= a) & (t < b), PUSH, 0.0)], width),
        "box by ≤": (lambda t, q, v: [ph.where(t <= a, 0.0, ph.where(t <= b, PUSH, 0.0))], width),
        "box of a distance": (lambda t, q, v: [PUSH * ph.where(abs(t - m) < width / 2, 1.0, 0.0)], width),
        "gaussian": (lambda t, q, v: [PUSH * ph.exp(-(((t - m) / s) ** 2))], s * math.sqrt(math.pi)),
        "tanh edges": (lambda t, q, v: [PUSH / 2 * (tanh((t - a) * 25 / width) - tanh((t - b) * 25 / width))], width),
        "half sine": (
            lambda t, q, v: [ph.where((t > a) & (t < b), PUSH * ph.sin(math.pi * (t - a) / width), 0.0)],
            2 * width / math.pi,
        ),
        "triangle": (lambda t, q, v: [PUSH * ph.maximum(0.0, 1 - abs(t - m) / (width / 2))], width / 2),
        "ramps": (
            lambda t, q, v: [PUSH * ph.minimum(ph.maximum(t - a, 0.0), ph.maximum(b - t, 0.0)) * 2 / width],
            width / 2,
        ),
        "table": (ph.Table([a, m, b], [[0.0], [PUSH], [0.0]]), width / 2),
        "pair": (([a, m, b], [[0.0], [PUSH], [0.0]]), width / 2),
        "held table": (ph.Table([0.0, a, b], [[0.0], [PUSH], [0.0]], hold=True), width),
        "python": (in_python, width),
    }


def notes(found):
    return "; ".join(check.note for check in Grade.of(found.attrs).checks)


def speed_after(tau, **options):
    found = ph.simulate(CART, [0.0], [0.0], DURATION, tau, samples=2, **options)
    return final(found)[1] / (PUSH / 2)


@pytest.mark.parametrize("width", [2.0, 0.1])
@pytest.mark.parametrize("kind", [kind for kind in pulses(1.0) if kind != "python"])
def test_a_short_pulse_from_rest_is_felt(kind, width):
    """A hundredth of the time, and a twentieth of that: less than the longest step."""
    tau, impulse = pulses(width)[kind]
    assert speed_after(tau, method="dopri54") == pytest.approx(impulse, rel=1e-6)


@pytest.mark.parametrize("name", ADAPTIVE)
@pytest.mark.parametrize("kind", ["box", "gaussian", "triangle"])
def test_every_adaptive_method_feels_it(name, kind):
    tau, impulse = pulses(2.0)[kind]
    assert speed_after(tau, method=name, tolerance=1e-7) == pytest.approx(impulse, rel=1e-5)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.order > 1])
def test_jumps_in_time_keep_the_order_of_equal_steps(name):
    """The steps with the jumps are split there, and neither part sees the other side."""
    tau, impulse = pulses(2.0)["box by ≤"]
    assert speed_after(tau, method=name, step=0.7) == pytest.approx(impulse, rel=1e-9)


def test_a_function_in_python_has_a_longest_step_and_says_so():
    tau, impulse = pulses(2.0)["python"]
    with pytest.warns(ph.PolhodeWarning, match="Python runs in the loop"):
        found = ph.simulate(CART, [0.0], [0.0], DURATION, tau, samples=3, method="bs32", tolerance=1e-6)
    assert final(found)[1] == pytest.approx(impulse, rel=1e-4)
    assert "steps are at most 0.2 s, duration/1000: tau 'in_python' runs in Python" in notes(found)


def test_a_pulse_of_a_force_of_the_model_is_felt():
    tau, impulse = pulses(2.0)["half sine"]
    axis = np.array(CART.joints[0].axis)
    cart = ph.Model(
        "cart", gravity=(0, 0, 0), bodies=CART.bodies, joints=CART.joints,
        forces=[ph.Force("push", CART.bodies[0].name, force=lambda t: [tau(t, None, None)[0] * x for x in axis])],
    )  # fmt: skip
    found = ph.simulate(cart, [0.0], [0.0], DURATION, samples=3)
    assert final(found)[1] == pytest.approx(impulse, rel=1e-8)
    assert "force of 'push' depends on time" in notes(found)


def test_a_jerk_of_a_moving_constraint_is_felt():
    """A mass on a spring, on a base that is moved to and fro once: ẍ = −ω² x − ä, solved by its convolution."""
    m, s, stiffness = BEGIN + 1.0, 0.25, 1.0

    def place(t):
        return 0.1 * ph.exp(-(((t - m) / s) ** 2))

    base, mass = (ph.Body(name, 1.0, (1, 1, 1)) for name in ("base", "mass"))
    model = ph.Model(
        "shaken", gravity=(0, 0, 0), bodies=[base, mass],
        joints=[
            ph.Joint("track", "prismatic", "world", "base", axis=(1, 0, 0)),
            ph.Joint("spring", "prismatic", "base", "mass", axis=(1, 0, 0), stiffness=stiffness),
        ],
        constraints=[ph.Constraint("moved", "prescribed", {"joint": "track", "value": place})],
    )  # fmt: skip
    found = ph.simulate(model, [0.0, 0.0], [0.0, 0.0], DURATION, samples=3)
    x = quad(lambda t: place(t) * math.sin(DURATION - t), m - 3, m + 3, epsabs=1e-13)[0]  # x + base, as ω = 1
    assert final(found)[1] == pytest.approx(x, abs=1e-7)


# what is known beforehand


def switching(tau, duration=10.0):
    return Switching(CART, list(user_functions(CART, tau, DEFAULT_POLICY)), np.zeros(1), np.zeros(1), duration)


def test_conditions_of_time_are_solved_and_those_of_the_state_are_not():
    def law(t, q, v):
        return [ph.where(t * t < 50, 1.0, 2.0) + abs(ph.sin(t)) + ph.maximum(q[0], 0.0) + ph.where(v[0] < t, 1.0, 0.0)]

    found = switching(law)
    expected = [math.pi, 2 * math.pi, math.sqrt(50), 3 * math.pi]
    assert np.min(abs(found.times[:, None] - expected), axis=0) == pytest.approx(0, abs=1e-14)
    assert found.surfaces == ("tau 'law'", "tau 'law'")
    assert found.explicit == ("tau 'law'",)
    g = found.values(0.5, ph.Vec([0.25]), ph.Vec([2.0]))
    assert sorted(map(abs, g)) == pytest.approx([0.25, 1.5])


def test_branches_of_our_own_formulas_are_not_switches():
    def law(t, q, v):
        p = ph.quaternion.exp(ph.Vec([q[0], 0.0, 0.0]))
        return [ph.quaternion.log(p)[0]]

    found = switching(law)
    assert not found.surfaces
    assert not found.explicit
    assert not len(found.times)


def test_a_table_needs_no_longest_step_and_a_function_of_the_state_neither():
    options = RunOptions(duration=10.0).for_model(CART)
    for tau, bounded in (
        (ph.Table([1.0], [[0.0]]), False),
        (lambda t, q, v: [-v[0]], False),
        (pulses(1)["box"][0], True),
    ):
        assert (Scenario(CART, np.zeros(1), np.zeros(1), tau, options).longest == 0.01) is bounded
