"""Torsion springs: the twist about an axis, over turns at a joint, small motions, what is refused."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

import polhode as ph
from close import assert_close
from polhode import quaternion
from polhode.formats.yaml import model_from_yaml, to_yaml

BODY = ph.Body("disk", 2.0, (0.3, 0.4, 0.5))


def hinged(*forces, axis=(0, 0, 1)):
    joint = ph.Joint("hinge", "revolute", "world", "disk", axis=axis)
    return ph.Model("hinged", (0, 0, 0), [BODY], [joint], forces)


def ball(*forces):
    return ph.Model("ball", (0, 0, 0), [BODY], [ph.Joint("ball", "spherical", "world", "disk")], forces)


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, -2, 2)])
def test_about_a_hinge_it_is_the_stiffness_and_damping_of_the_hinge(axis):
    q, v = [0.7], [2.0]
    found = ph.compile(
        hinged(ph.TorsionSpring("t", "world", "disk", axis, stiffness=3.0, damping=0.2, rest=0.1), axis=axis)
    )
    at_joint = ph.compile(hinged(ph.TorsionSpring("t", joint="hinge", stiffness=3.0, damping=0.2, rest=0.1), axis=axis))
    joint = ph.Joint("hinge", "revolute", "world", "disk", axis=axis, stiffness=3.0, damping=0.2, rest=0.1)
    known = ph.compile(ph.Model("known", (0, 0, 0), [BODY], [joint]))
    for system in (found, at_joint):
        assert_close(system.bias(q, v), known.bias(q, v))
        assert_close(system.energy(q, v).potential, known.energy(q, v).potential)


def test_at_a_joint_its_angle_goes_on_over_turns():
    wound = ph.TorsionSpring("t", joint="hinge", stiffness=3.0)
    run = ph.simulate(hinged(wound), q=[20.0], duration=3.0, tolerance=1e-11)
    w = math.sqrt(3.0 / 0.5)
    assert np.max(abs(run.q.values[:, 0] - 20.0 * np.cos(w * run.time.values))) < 1e-8
    assert run.attrs["verdict"] == "good"


@pytest.mark.parametrize("angle", [-3.0, -1.0, 0.0, 0.5, 2.0, 3.1])
def test_the_twist_does_not_see_the_swing(angle):
    """Twist about z, then a swing about an axis across it."""
    spring = ph.TorsionSpring("t", "world", "disk", stiffness=2.0)
    twist = quaternion.from_axis_angle([0.0, 0.0, 1.0], angle)
    for swing in (0.0, 0.8, 2.5):
        q = quaternion.product(quaternion.from_axis_angle([0.6, 0.8, 0.0], swing), twist)
        potential = ph.compile(ball(spring)).energy(np.asarray(q), np.zeros(3)).potential
        assert_close(potential, 2.0 * angle**2 / 2, scale=10)


def test_its_energy_is_continuous_half_a_turn_from_rest():
    system = ph.compile(ball(ph.TorsionSpring("t", "world", "disk", stiffness=2.0, rest=0.7)))
    angles = 0.7 + np.pi + np.array([-1e-9, 1e-9])
    q = np.array([quaternion.from_axis_angle([0.0, 0.0, 1.0], angle) for angle in angles])
    assert_close(system.energy(q, np.zeros((2, 3))).potential, np.full(2, np.pi**2), condition=1e5)


def test_small_motions_are_those_of_the_linear_equations():
    frames = {
        "orientation_a": quaternion.normalise([2.0, 1.0, 0.0, 1.0]),
        "orientation_b": quaternion.normalise([2.0, 1, 0, 1]),
    }
    springs = [
        ph.TorsionSpring("t", "world", "disk", (1, 2, 2), stiffness=3.0, damping=0.4, **frames),
        ph.TorsionSpring("u", "world", "disk", (0, 1, 0), stiffness=5.0, polynomial=(7.0,)),
        ph.TorsionSpring("w", "world", "disk", (1, 0, 0), stiffness=2.0, damping=0.1),
    ]
    R = np.asarray(quaternion.rotation_matrix(frames["orientation_a"]))
    axes = np.array([R @ np.array([1, 2, 2]) / 3, [0, 1, 0], [1, 0, 0]])
    K, D = (axes.T @ np.diag(x) @ axes for x in ((3, 5, 2), (0.4, 0, 0.1)))
    J = np.diag([0.3, 0.4, 0.5])
    S = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.linalg.solve(J, K), -np.linalg.solve(J, D)]])
    small, way = 1e-6, np.array([0.3, -0.5, 0.8])
    q = np.asarray(quaternion.exp(small * way / 2))
    run = ph.simulate(ball(*springs), q=q, duration=2.0, tolerance=1e-14, samples=3)
    expected = expm(2.0 * S) @ np.concatenate([way, np.zeros(3)])
    found = np.concatenate([2 * np.asarray(quaternion.log(run.q.values[-1])), run.v.values[-1]]) / small
    assert np.max(abs(found - expected)) < 1e-5  # quadratic terms are of size 1e-6


def test_energy_stays_in_large_motions():
    springs = [ph.TorsionSpring("t", "world", "disk", (1, 2, 2), stiffness=3.0, table=((-1, -2), (0, 0), (2, 9)))]
    run = ph.simulate(ball(*springs), v=[1.0, 0.5, 0.2], duration=5.0, tolerance=1e-12)
    total = (run.kinetic_energy + run.potential_energy).values
    assert np.max(abs(total - total[0])) < 1e-9 * float(run.kinetic_energy.max())


def test_an_axis_that_is_turned_over_has_no_twist():
    with pytest.raises(ph.InputError, match=r"force 't'.*\n.*opposite"):
        ph.simulate(ball(ph.TorsionSpring("t", "world", "disk", stiffness=1.0)), q=[0, 1, 0, 0], duration=0.1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ph.TorsionSpring("t", "world", "world"), ["both ends on one body"]),
        (lambda: ph.TorsionSpring("t"), ["found neither; expected body_a and body_b, or joint"]),
        (lambda: ph.TorsionSpring("t", "world", joint="hinge"), ["found body_a, joint"]),
        (lambda: ph.TorsionSpring("t", "world", "disk", (0, 0, 0)), ["axis", "is zero"]),
        (lambda: ball(ph.TorsionSpring("t", joint="ball")), ["does not turn about one axis", "'ball', spherical"]),
        (lambda: ball(ph.TorsionSpring("t", joint="bal")), ["no such joint", "Did you mean 'ball'?"]),
    ],
)
def test_what_is_no_torsion_spring_is_told(make, words):
    with pytest.raises(ph.ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_it_is_read_and_written():
    text = """name: m
bodies: {disk: {mass: 2, inertia: [1, 1, 1]}}
joints: {hinge: {type: revolute, parent: world, child: disk}}
forces:
  t: {type: torsion-spring, joint: hinge, stiffness: 3, energy: e^4, law: -rate*abs(rate)}
  u: {type: torsion-spring, body_a: world, body_b: disk, axis: [0, 1, 0], rpy_a: [0, 0, pi/2], damping: 2}
"""
    model = model_from_yaml(text, "text")
    assert_close(model.forces[1].orientation_a, [math.sqrt(0.5), 0, 0, math.sqrt(0.5)])
    assert model_from_yaml(to_yaml(model), "text") == model
