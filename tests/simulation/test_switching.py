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
from run_cases import CART, SLIDER, final

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
    return Switching(list(user_functions(CART, tau, DEFAULT_POLICY)), np.zeros(1), np.zeros(1), duration)


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


# switches of the state

STIFF, FRICTION, GAP = 50.0, 1.0, 0.2
OMEGA = math.sqrt(STIFF / 2)
"""Of the cart, 2 kg, on a spring."""


def coulomb(t, q, v):
    return [-STIFF * q[0] - FRICTION * ph.where(v[0] > 0, 1.0, ph.where(v[0] < 0, -1.0, 0.0))]


def with_friction(t):
    """From rest at 1 m: half periods about ±friction/stiffness, each turning point that much nearer."""
    q, side, half = 1.0, 1.0, math.pi / OMEGA
    while t > half:
        q, side, t = 2 * side * FRICTION / STIFF - q, -side, t - half
    centre = side * FRICTION / STIFF
    return centre + (q - centre) * math.cos(OMEGA * t), -(q - centre) * OMEGA * math.sin(OMEGA * t)


def dead_zone(t, q, v):
    return [-STIFF * (ph.maximum(q[0] - GAP, 0.0) + ph.minimum(q[0] + GAP, 0.0))]


def between_springs(t, speed=1.0):
    """From 0 at 1 m/s: free over the gap, half a period in each spring."""
    if t < GAP / speed:
        return speed * t, speed
    side, t = 1.0, t - GAP / speed
    while True:
        if t < math.pi / OMEGA:
            return side * (GAP + speed / OMEGA * math.sin(OMEGA * t)), side * speed * math.cos(OMEGA * t)
        t -= math.pi / OMEGA
        if t < 2 * GAP / speed:
            return side * (GAP - speed * t), -side * speed
        side, t = -side, t - 2 * GAP / speed


def landing(t, q, v):
    return [1e4 * ph.maximum(0.0, -q[0])]


def bouncing(t, height=1.0):
    """A mass of 2 kg that falls on a spring: parabolas, and arcs of a harmonic about the weight's own depth."""
    g, w = 9.81, math.sqrt(1e4 / 2)
    speed, flight = math.sqrt(2 * g * height), math.sqrt(2 * height / g)
    if t < flight:
        return height - g * t * t / 2, -g * t
    t -= flight
    depth, swing = g / w**2, -speed / w
    contact = 2 * (math.atan2(swing, depth) + math.pi) / w
    while True:
        if t < contact:
            return (
                -depth + depth * math.cos(w * t) + swing * math.sin(w * t),
                w * (swing * math.cos(w * t) - depth * math.sin(w * t)),
            )
        t -= contact
        if t < 2 * flight:
            return speed * t - g * t * t / 2, speed - g * t
        t -= 2 * flight


MOTIONS = {
    "friction": (CART, [1.0], [0.0], coulomb, with_friction, 5.0, 2e-8),
    "dead zone": (CART, [0.0], [1.0], dead_zone, between_springs, 7.0, 1e-11),
    "landing": (SLIDER, [1.0], [0.0], landing, bouncing, 5.0, 2e-8),
}


@pytest.mark.parametrize("kind", MOTIONS)
def test_steps_end_at_switches(kind):
    """With the accuracy of the tolerance, and few rejected steps; 3e-8 to 4e-7 and a hundred of them without."""
    model, q, v, tau, exact, duration, bound = MOTIONS[kind]
    found = ph.simulate(model, q, v, duration, tau, samples=8, tolerance=1e-9)
    assert found.attrs["status"] == "finished"
    for t, x in zip(found["time"].values, np.column_stack([found["q"].values, found["v"].values]), strict=True):
        assert x == pytest.approx(exact(t), abs=bound)
    assert found.attrs["steps_refused"] < 70


@pytest.mark.parametrize(("kind", "h"), [("dead zone", 0.035), ("landing", 0.002), ("friction", 0.01)])
@pytest.mark.parametrize("name", ["midpoint", "rk4", "variational", "generalized-alpha", "dop853"])
def test_switches_within_equal_steps_keep_the_order(kind, h, name):
    """But for generalized-alpha, whose accelerations begin anew at every switch: of it the first order is asked."""
    order = 1 if name == "generalized-alpha" else min(METHODS[name].order, 4) - 0.5
    model, q, v, tau, exact, duration, _ = MOTIONS[kind]
    errors = []
    for step in (h, h / 2):
        found = ph.simulate(model, q, v, duration, tau, step=step, method=name, every=10**6, verify=False)
        errors.append(np.max(abs(final(found) - exact(duration))))
    assert errors[1] <= max(errors[0] / 2**order, 1e-7)


@pytest.mark.parametrize("options", [{}, {"method": "bs32", "tolerance": 1e-6}, {"method": "rk4", "step": 0.01}])
def test_friction_that_sticks_is_chattering(options):
    found = ph.simulate(CART, [0.13], [0.0], 5.0, coulomb, **options)
    assert found.attrs["status"] == "failed"
    assert "chattering: tau 'coulomb' switches more than 100 times" in found.attrs["reason"]
    assert found["time"].values[-1] == pytest.approx(3 * math.pi / OMEGA, abs=0.02)


def test_events_beside_switches_are_found_as_without():
    """Where the cart passes the middle of the gap; the last of them ends the run."""
    event = ph.Event("middle", lambda t, q, v: q[0])
    found = ph.simulate(CART, [-0.1], [1.0], 3.0, dead_zone, events=[event])
    period = math.pi / OMEGA + 2 * GAP
    assert found["event_time"].values == pytest.approx(0.1 + period * np.arange(len(found["event_time"])), abs=1e-9)
    assert len(found["event_time"]) == math.floor((3.0 - 0.1) / period) + 1


def test_a_force_element_of_a_user_switches_too():
    class Stop(ph.ForceElement):
        """A spring below a height."""

        kind = "stop"

        def wrenches(self, state):
            body = SLIDER.bodies[0].name
            o = state.position(body, ph.Vec([0.0, 0.0, 0.0]))
            height = sum(a * b for a, b in zip(SLIDER.joints[0].axis, o, strict=True))
            yield ph.Wrench(body, ph.Vec([1e4 * ph.maximum(0.0, -height) * a for a in SLIDER.joints[0].axis]))

    model = ph.Model("stopped", bodies=SLIDER.bodies, joints=SLIDER.joints, forces=[Stop("floor")])
    found = ph.simulate(model, [1.0], [0.0], 2.0, samples=3)
    assert final(found) == pytest.approx(bouncing(2.0), abs=2e-8)


@pytest.mark.parametrize("options", [{}, {"step": 0.01, "method": "rk4"}])
def test_a_corner_of_a_constraint_ends_the_run(options):
    """A bead slides down one side of a V: at its bottom the velocity would have to jump."""

    def corner(t, q):
        return q[1] - abs(q[0])

    carrier, bead = ph.Body("carrier", 1e-3, (1e-3, 1e-3, 1e-3)), ph.Body("bead", 1.0, (1, 1, 1))
    x = ph.Joint("x", "prismatic", "world", "carrier", axis=(1, 0, 0))
    z = ph.Joint("z", "prismatic", "carrier", "bead", axis=(0, 0, 1))
    model = ph.Model("bead", bodies=[carrier, bead], joints=[x, z], constraints=[ph.Constraint(corner)])
    found = ph.simulate(model, [-1.0, 1.0], [0.0, 0.0], 2.0, **options)
    assert found.attrs["status"] == "failed"
    assert "constraint 'corner' has a corner: the velocity would have to jump" in found.attrs["reason"]
    assert found["time"].values[-1] == pytest.approx(math.sqrt(2 / (9.81 / 2)), rel=1e-3)


@pytest.mark.parametrize("step", [0.01, 0.005, 0.0123])
def test_a_corner_of_a_wire_ends_a_run_that_projections_would_hold_before_it(step):
    """From (x, −x) the nearest point of z = x is the corner: every projected step ended just before it, and a damped
    bead, whose energy says nothing, was good."""
    bodies = [ph.Body("slide", 1e-3, (1e-3, 1e-3, 1e-3)), ph.Body("bead", 1.0, (0.01, 0.01, 0.01))]
    joints = [
        ph.Joint("x", "prismatic", "world", "slide", axis=(1, 0, 0), damping=0.05),
        ph.Joint("z", "prismatic", "slide", "bead", axis=(0, 0, 1), damping=0.05),
    ]
    wire = ph.Constraint("wire", "function", {"function": lambda t, q: q[1] - abs(q[0])})
    model = ph.Model("bead", bodies=bodies, joints=joints, constraints=[wire])
    run = ph.simulate(model, q=[-0.5, 0.5], v=[0, 0], duration=1.0, method="rk4", step=step)
    assert run.attrs["status"] == "failed"
    assert "constraint 'wire' has a corner" in run.attrs["reason"]
    assert run["time"].values[-1] == pytest.approx(0.45334186, abs=1e-6)


@pytest.mark.parametrize(
    ("tau", "pieces"),
    [
        (lambda t, q, v: [ph.sin(t) * v[0] + q[0]], 16),
        (lambda t, q, v: [ph.exp(-(((t - 5) / 0.05) ** 2))], 400),
        (lambda t, q, v: [1e-6 * ph.sin(3e3 * t) + t], 1000),
        (lambda t, q, v: [ph.sin(t + q[0])], 1000),
        (lambda t, q, v: [ph.where(t < 20, t, 0.0)], 1000),
    ],
)
def test_steps_may_be_as_long_as_functions_of_time_are_smooth(tau, pieces):
    """Those of time alone are sampled; time within functions of the state, and conditions, are not looked into."""
    options = RunOptions(duration=10.0).for_model(CART)
    assert 10.0 / Scenario(CART, np.zeros(1), np.zeros(1), tau, options).longest == pytest.approx(pieces)
