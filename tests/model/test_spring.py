"""Springs, cables and props: closed forms, laws, what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from polhode.dynamics.kinematics import machine_state
from polhode.ensemble.measures import FAILED
from polhode.formats.yaml import model_from_yaml, to_yaml
from polhode.model import make_tree
from polhode.scalar import Vec

G = 9.81
UPRIGHT = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)  # the plane's y axis is the world's z axis


def hung(*forces, g=G):
    """A mass on a vertical rail."""
    joint = ph.Joint("rail", "prismatic", "world", "mass", axis=(0, 0, 1))
    return ph.Model("hung", (0, 0, -g), [ph.Body("mass", 2.0, (0.1, 0.1, 0.1))], [joint], forces)


def flying(*forces, g=0.0):
    bodies = [ph.Body(name, 1.0, (0.1, 0.2, 0.25)) for name in ("a", "b")]
    joints = [ph.Joint(f"air-{name}", "free", "world", name) for name in ("a", "b")]
    return ph.Model("pair", (0, 0, -g), bodies, joints, forces)


def bungee(t, k, m, rest):
    """Height of a mass that falls from the upper end of a cable: parabolas and parts of a sine, in turn."""
    fall, w = math.sqrt(2 * rest / G), math.sqrt(k / m)
    speed, sag = G * fall, m * G / k
    size, phase = math.hypot(sag, speed / w), math.atan2(-sag, speed / w)  # below rest: sag + size sin(w s + phase)
    taut = (math.pi - 2 * phase) / w
    t = t % (2 * fall + taut)
    if t < fall:
        return -G * t * t / 2
    if t < fall + taut:
        return -rest - sag - size * math.sin(w * (t - fall) + phase)
    return -rest + speed * (t - fall - taut) - G * (t - fall - taut) ** 2 / 2


def test_a_mass_on_a_cable_flies_and_swings_by_turns_as_the_closed_form_says():
    cable = ph.Spring("cable", "world", "mass", stiffness=400.0, rest=1.5, only="pull")
    run = ph.simulate(hung(cable), q=[-1e-9], duration=6.0, tolerance=1e-12, samples=301)
    expected = [bungee(t, 400.0, 2.0, 1.5) for t in run.time.values]
    assert np.max(abs(run.q.values[:, 0] - expected)) < 1e-7  # it starts 1e-9 below the end, where it has a direction
    total = (run.kinetic_energy + run.potential_energy).values
    assert np.max(abs(total - total[0])) < 1e-9 * float(run.kinetic_energy.max())
    assert run.attrs["verdict"] == "good"


def test_a_slack_cable_leaves_a_parabola():
    cable = ph.Spring("cable", "world", "mass", stiffness=1e4, damping=30.0, rest=2.0, only="pull")
    model = replace(hung(cable), joints=[ph.Joint("air", "planar", "world", "mass", orientation=UPRIGHT)])
    run = ph.simulate(model, q=[0.5, 0.3, 0.0], v=[1.0, 2.0, 0.0], duration=0.5, tolerance=1e-12)
    t = run.time.values
    assert_close(run.q.values[:, 0], 0.5 + t, condition=10)
    assert_close(run.q.values[:, 1], 0.3 + 2 * t - G * t * t / 2, condition=10)


def test_a_pendulum_on_a_cable_goes_slack_and_becomes_taut_again():
    """Thrown round too slowly, it leaves its circle; where it is slack it flies on a parabola, and energy stays."""
    cable = ph.Spring("cable", "world", "mass", stiffness=2e4, rest=1.0, only="pull")
    model = replace(hung(cable), joints=[ph.Joint("air", "planar", "world", "mass", orientation=UPRIGHT)])
    run = ph.simulate(model, q=[0.0, -1.0, 0.0], v=[6.0, 0.0, 0.0], duration=2.0, tolerance=1e-11, samples=2001)
    t, q, v = run.time.values, run.q.values, run.v.values
    slack = np.hypot(q[:, 0], q[:, 1]) < 1.0
    changes = np.flatnonzero(np.diff(slack.astype(int)))
    longest = max(np.split(np.arange(len(t)), changes + 1), key=lambda part: len(part) * slack[part[0]])
    assert 0.2 < t[longest[-1]] - t[longest[0]] < 1.0
    since = t[longest] - t[longest[0]]
    flight = q[longest[0], :2] + np.outer(since, v[longest[0], :2]) + np.outer(since**2 / 2, (0.0, -G))
    assert np.max(abs(q[longest, :2] - flight)) < 1e-10
    assert np.count_nonzero(~slack[longest[-1] + 1 :]) > 10  # taut again
    total = (run.kinetic_energy + run.potential_energy).values
    assert np.max(abs(total - total[0])) < 1e-9 * float(run.kinetic_energy.max())


def pull_of(element, apart, rate):
    """How hard an element pulls the mass towards the world's origin."""
    tree = make_tree(hung(element))
    state = machine_state(tree, 0.0, Vec([float(apart)]), Vec([float(rate)]))
    return -np.sign(apart) * next(f[2] for body, f, _ in tree.forces[0].wrenches(state) if body == "mass")


@pytest.mark.parametrize(("only", "sign"), [("pull", 1), ("push", -1)])
def test_the_damper_of_a_one_sided_spring_never_acts_the_other_way(only, sign):
    element = ph.Spring("s", "world", "mass", stiffness=50.0, damping=40.0, rest=1.0, only=only)
    found = np.array([[pull_of(element, x, v) for x in np.linspace(0.2, 2, 19)] for v in np.linspace(-9, 9, 19)])
    assert np.all(sign * found >= 0)
    assert np.any(found != 0)
    slack = np.linspace(0.2, 2, 19) <= 1.0 if only == "pull" else np.linspace(0.2, 2, 19) >= 1.0
    assert np.all(found[:, slack] == 0)


def test_laws_add_up():
    rows = ((-1.0, -5.0), (0.0, 0.0), (1.0, 2.0))
    element = ph.Spring(
        "s", "world", "mass", stiffness=3.0, damping=0.5, rest=1.0, preload=7.0, polynomial=(2.0, -1.0), table=rows,
        energy=lambda e: e**4, law=lambda length, rate: length * rate,
    )  # fmt: skip
    e, rate = 0.7, 0.4
    table = pull_of(ph.Spring("s", "world", "mass", rest=1.0, table=rows), 1.0 + e, 0.0)
    expected = 7.0 + 3 * e + 2 * e**2 - e**3 + table + 4 * e**3 + 0.5 * rate + (1 + e) * rate
    assert_close(pull_of(element, 1.0 + e, rate), expected)
    assert 0 < table < 2.0


def test_energy_stays_with_a_law_of_each_sort():
    rows = ((-1.0, -50.0), (0.0, 0.0), (0.5, 2.0), (1.0, 60.0))
    springs = [
        ph.Spring("s1", "a", "b", (0.1, 0, 0), polynomial=(5.0, 80.0), stiffness=10.0, rest=0.5),
        ph.Spring("s2", "a", "b", (0, 0.2, 0), (0, 0, 0.1), rest=0.8, table=rows),
        ph.Spring("s3", "a", "b", (0, 0, 0.3), energy=lambda e: 3 * (ph.exp(e) - e)),
    ]
    q, v = [0, 0, 0, 1, 0, 0, 0, 1.2, 0.1, 0, 1, 0, 0, 0], [0, 0.5, 0, 1, 0, 2, 0, -0.5, 0.3, 0, 1, -1]
    run = ph.simulate(flying(*springs), q=q, v=v, duration=2.0, tolerance=1e-11)
    total = (run.kinetic_energy + run.potential_energy).values
    assert np.max(abs(total - total[0])) < 1e-8 * float(run.kinetic_energy.max())
    assert run.attrs["verdict"] == "good"


def test_a_spring_that_pulls_at_zero_length_has_no_direction_and_says_so():
    pulled = ph.Spring("s", "world", "mass", stiffness=3.0, rest=1.0)
    with pytest.raises(ph.InputError, match=r"force 's'.*\n.*at one point, where it pulls with -3 N"):
        ph.simulate(hung(pulled), duration=0.1)
    with pytest.raises(ph.InputError, match="no direction"):
        ph.simulate(hung(pulled), q=[1e-17], duration=0.1)


@pytest.mark.parametrize("numbers", [{}, {"damping": 0.1}, {"rest": 1.0, "only": "pull"}], ids=["", "damped", "slack"])
def test_a_spring_that_pulls_nothing_at_zero_length_may_start_there(numbers):
    run = ph.simulate(hung(ph.Spring("s", "world", "mass", stiffness=3.0, **numbers)), duration=0.1)
    assert run.attrs["status"] == "finished"


def test_a_run_of_a_sweep_that_starts_at_zero_length_fails():
    run = ph.sweep(
        hung(ph.Spring("s", "world", "mass", stiffness=3.0, rest=1.0)), {"gravity.0": ph.Grid([0.0])}, duration=0.1
    )
    assert run.verdict.values.tolist() == [FAILED]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ph.Spring("s", "a", "a"), ["both ends on one body"]),
        (lambda: ph.Spring("s", "a", "b", table=((0, 1),)), ["force 's', table", "1 rows"]),
        (lambda: ph.Spring("s", "a", "b", polynomial=3.0), ["force 's', polynomial", "not numbers"]),
        (lambda: ph.Spring("s", "a", "b", table=((0, 1), (1, 2, 3))), ["rows of different length"]),
        (lambda: ph.Spring("s", "a", "b", only="stretch"), ["force 's', only", "'pull'"]),
        (lambda: ph.Spring("s", "a", "b", preload=2.0, only="pull"), ["preload", "rest length at which it goes slack"]),
        (lambda: ph.Spring("s", "a", "b", energy=3.0), ["force 's', energy", "not a function"]),
    ],
)
def test_what_is_no_spring_is_told(make, words):
    with pytest.raises(ph.ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_a_law_with_a_wrong_result_is_named_with_its_line():
    def law(length, rate):
        return [length, rate]

    line = law.__code__.co_firstlineno
    with pytest.raises(ph.PolhodeError, match=rf"force 's', law \(test_spring.py:{line}\): wrong result"):
        ph.simulate(hung(ph.Spring("s", "world", "mass", law=law)), q=[1.0], duration=0.1)


@pytest.mark.parametrize(("key", "words"), [("stiffness", "pushes away"), ("damping", "adds energy")])
def test_a_negative_number_warns(key, words):
    with pytest.warns(ph.PolhodeWarning, match=f"force 's', {key}: is negative and {words}") as told:
        ph.Spring("s", "a", "b", **{key: -1.0})
    assert told[0].filename == __file__


def test_laws_are_read_and_written():
    text = """name: m
bodies: {mass: {mass: 2, inertia: [1, 1, 1]}}
joints: {rail: {type: prismatic, parent: world, child: mass}}
parameters: {k: 3}
forces:
  s: {type: spring, body_a: world, body_b: mass, stiffness: k, rest: 1, only: pull, polynomial: [2, 5],
      table: [[0, 0], [1, k]], energy: k*e^4, law: "where(rate > 0, -2*rate*length, 0)"}
"""
    model = model_from_yaml(text, "text")
    (spring,) = model.forces
    assert spring.table == ((0.0, 0.0), (1.0, ph.Parameter("k", 3.0)))
    assert (spring.energy(2.0), spring.law(2.0, 3.0), spring.law(2.0, -3.0)) == (48.0, -12.0, 0.0)
    assert model_from_yaml(to_yaml(model), "text") == model
    assert "forces.s.table.1.1" in model.numbers()


def test_numbers_of_a_table_are_varied_and_differentiated():
    model = hung(ph.Spring("s", "world", "mass", table=((0.0, 0.0), (1.0, 20.0), (2.0, 50.0), (3.0, 51.0)), rest=0.0))
    path, options = "forces.s.table.2.1", {"q": [-1.4], "duration": 0.3, "step": 0.01, "method": "rk4"}
    found = ph.simulate(model, sensitivities=[path], **options).sensitivity_q.values[-1, 0, 0]
    h = 1e-5
    ends = [ph.simulate(model.with_numbers({path: 50.0 + s * h}), **options).q.values[-1, 0] for s in (-1, 1)]
    assert_close(found, (ends[1] - ends[0]) / (2 * h), condition=1e5)
    swept = ph.sweep(model, {path: ph.Grid([49.0, 50.0])}, **options)
    assert_close(swept.q.values[1, -1], ph.simulate(model, **options).q.values[-1])
    assert abs(swept.q.values[1, -1] - swept.q.values[0, -1]) > 1e-6
