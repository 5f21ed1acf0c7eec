"""Laws of motion that runs obey."""

import json

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from integration import ARM_START, TOP, TOP_START, arm
from machines import random_inertia, random_model, random_q
from polhode import exact
from polhode.result.error_estimate import Difference
from run_cases import FREQUENCY, PENDULUM, final, states, top

TOLERANCE = 1e-11


def accumulated(run, scale=1.0):
    """What errors of TOLERANCE at each step may add up to, of numbers of this size."""
    return 10 * TOLERANCE * run.attrs["steps_taken"] * scale


@pytest.mark.parametrize("options", [{"tolerance": 1e-9}, {"step": 0.01, "method": "cf4"}])
def test_a_quaternion_and_its_negative_have_one_motion(options):
    """To the bit: every sign is carried through."""
    q, v = ARM_START
    one = ph.simulate(arm(), q, v, 0.5, samples=6, **options)
    other = ph.simulate(arm(), [*(-x for x in q[:4]), *q[4:]], v, 0.5, samples=6, **options)
    assert np.array_equal(other["q"].values[:, :4], -one["q"].values[:, :4])
    assert np.array_equal(other["q"].values[:, 4:], one["q"].values[:, 4:])
    assert np.array_equal(other["v"], one["v"])
    assert np.array_equal(other["position"], one["position"])


def test_two_bodies_welded_together_move_as_one():
    rng = np.random.default_rng(5)
    m, c = np.array([1.3, 0.6]), np.array([[0.1, -0.2, 0.3], [0.5, 0.1, -0.4]])
    J = [np.array(random_inertia(rng)) for _ in m]
    center = m @ c / m.sum()
    about = sum(
        J_i + m_i * ((r := c_i - center) @ r * np.eye(3) - np.outer(r, r))
        for J_i, m_i, c_i in zip(J, m, c, strict=True)
    )
    parts = [ph.Body(name, m_i, J_i, c_i) for name, m_i, J_i, c_i in zip("ab", m, J, c, strict=True)]
    hinge = ph.Joint("tip", "spherical", "world", "a")
    two = ph.Model("two", bodies=parts, joints=[hinge, ph.Joint("weld", "fixed", "a", "b")])
    one = ph.Model("one", bodies=[ph.Body("a", m.sum(), about, center)], joints=[hinge])
    runs = [ph.simulate(model, *TOP_START, 1.0, tolerance=TOLERANCE, samples=11) for model in (one, two)]
    assert np.max(abs(states(runs[0]) - states(runs[1]))) <= accumulated(runs[0])
    assert_close(runs[0]["total_energy"].values, runs[1]["total_energy"].values, condition=1e4)


@pytest.mark.parametrize("seed", range(3))
def test_a_tree_that_floats_freely_keeps_its_momenta_and_its_energy(seed):
    rng = np.random.default_rng(seed)
    inner = list(rng.choice(["revolute", "prismatic", "spherical", "universal", "planar"], 3))
    model = random_model(["free", *inner], seed, chain=True, armature=False, gravity=(0, 0, 0))
    q, v = random_q(model, rng), rng.normal(size=model.nv)
    run = ph.simulate(model, q, v, 1.0, tolerance=TOLERANCE, samples=11)
    for name in ("linear_momentum", "angular_momentum", "total_energy"):
        values = run[name].values
        size = max(1.0, float(np.max(abs(values))), float(run["kinetic_energy"].max()))
        assert np.max(abs(values - values[0])) <= accumulated(run, size), name
    assert run.attrs["verdict"] == "good"


@pytest.mark.parametrize("seed", range(2))
def test_the_energy_of_a_conservative_machine_stays(seed):
    model = random_model(["spherical", "revolute", "screw"], seed)
    q, v = random_q(model, np.random.default_rng(seed)), np.ones(model.nv)
    run = ph.simulate(model, q, v, 2.0, tolerance=TOLERANCE, samples=11)
    energy = run["total_energy"].values
    assert np.max(abs(energy - energy[0])) <= accumulated(run, 1 + float(run["kinetic_energy"].max()))


def test_a_motion_runs_back_to_its_start_when_its_velocities_are_turned_around():
    there = ph.simulate(TOP, *TOP_START, 1.0, tolerance=TOLERANCE, samples=2)
    q, v = np.split(final(there), [4])
    back = ph.simulate(TOP, q, -v, 1.0, tolerance=TOLERANCE, samples=2)
    assert np.max(abs(final(back)[:4] - TOP_START[0])) <= 2 * accumulated(there, 10)
    assert np.max(abs(final(back)[4:] + TOP_START[1])) <= 2 * accumulated(there, 10)


def test_a_run_goes_on_from_where_another_ended():
    whole = ph.simulate(TOP, *TOP_START, 1.0, step=0.01, method="rk4")
    half = ph.simulate(TOP, *TOP_START, 0.5, step=0.01, method="rk4")
    rest = ph.simulate(TOP, *np.split(final(half), [4]), 0.5, step=0.01, method="rk4")
    assert_close(final(rest), final(whole), condition=10)


# the error estimate

FACTOR = 100


def pendulum_case():
    start = [2.0], [0.5]

    def truth(t):
        motion = exact.pendulum(2.0, 0.5, t, FREQUENCY)
        return {"q": motion.angle[:, None], "v": motion.rate[:, None]}

    return PENDULUM, start, truth


def top_case():
    inertia, center, (p, omega) = (0.3, 0.3, 0.2), (0.0, 0.0, 0.3), TOP_START

    def truth(t):
        motion = exact.heavy_top(1.0, inertia, center, p, omega, t)
        return {"q": motion.p, "v": motion.omega}

    return top(1.0, inertia, center), TOP_START, truth


@pytest.mark.parametrize(
    "options",
    [
        {"tolerance": 1e-6},
        {"tolerance": 1e-9},
        {"tolerance": 1e-7, "method": "dopri54"},
        {"step": 0.01, "method": "rk4"},
        {"step": 0.03, "method": "variational"},  # the last step is shorter
    ],
)
@pytest.mark.parametrize("case", [pendulum_case, top_case])
def test_a_companion_run_tells_the_error_within_a_factor_of_three(case, options):
    model, start, truth = case()
    run = ph.simulate(model, *start, 2.5, **options)
    (check,) = [c for c in json.loads(run.attrs["grade"]) if c["name"] == "error of the motion"]
    true = np.max(Difference(model)(run, truth(run["time"].values)))
    assert true <= check["value"] <= 3 * true
    assert check["value"] == np.max(run["error_estimate"])
