"""Motions under constraints: energy stays, conditions hold, projections converge, derivatives are derivatives."""

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from free_bodies import ENDS, flying, states
from polhode.constrain.constrained_dynamics import SETTLED

CONSERVATIVE = [
    "four-bar",
    "bricard",
    "n-four-bar",
    "slider-crank-3d",
    "rolling-disk",
    "rolling-sphere",
    "chaplygin-sleigh",
    "bicycle",
    "closed-chain-4",
]
LARGER = ["closed-chain-10", "n-four-bar-8", "n-four-bar-40"]
CLOSED = [*CONSERVATIVE, "andrews", "stewart-platform"]
CHAOTIC = ["closed-chain-4", "closed-chain-10"]
"""Machines whose motion no tolerance follows over 10 s; their energy stays, which is no evidence."""


def start(model):
    return np.array(model.start.q), np.array(model.start.v)


def energy(run):
    return run["kinetic_energy"].values + run["potential_energy"].values


@pytest.mark.parametrize("name", [*CONSERVATIVE, *(pytest.param(name, marks=pytest.mark.long) for name in LARGER)])
def test_energy_and_conditions_stay(name):
    """Over 10 s, between the steps too: energy to 1e-8 of itself and of what moves (see below), residuals to 1e-10."""
    model = ph.load(name)
    run = ph.simulate(model, duration=10, tolerance=1e-10, samples=501, accuracy=1e-5)
    verdict = "failed" if name in CHAOTIC else "good"
    assert (run.attrs["status"], run.attrs["verdict"]) == ("finished", verdict)
    assert run.attrs["good_until"] > 0.5
    total, moving = energy(run), np.max(run["kinetic_energy"].values) + np.ptp(run["potential_energy"].values)
    most = 2e-8 if name == "n-four-bar-40" else 1e-8  # twenty passes of a singular position, each 1e-9 of the energy
    assert np.ptp(total) <= most * min(abs(total[0]), moving)
    missed = ph.compile(model).constraint_residuals(run["q"].values, run["v"].values)
    assert np.max(abs(missed.positions), initial=0) < 1e-10
    assert np.max(abs(missed.rates)) < 1e-10


@pytest.mark.parametrize("name", [name for name in CLOSED if name not in CONSERVATIVE])
def test_a_bundled_model_starts_where_its_constraints_hold_and_runs(name):
    model = ph.load(name)
    missed = ph.compile(model).constraint_residuals(*start(model))
    assert max(np.max(abs(missed.positions)), np.max(abs(missed.rates))) < 1e-13
    run = ph.simulate(model, duration=0.01, samples=3)
    assert run.attrs["status"] == "finished"


def test_a_run_holds_what_its_constraints_miss_by_name():
    run = ph.simulate(ph.load("rolling-disk"), duration=0.5, samples=3)
    assert list(run["constraint"].values) == ["ground.height", "ground.slip x", "ground.slip y"]
    assert np.max(abs(run["constraint_residual"].sel(constraint="ground.height").values)) < 1e-13
    assert np.all(np.isnan(run["constraint_residual"].values[:, 1:]))  # conditions of velocities alone
    assert np.max(abs(run["constraint_rate"].values)) < 1e-13
    assert "residual, constraints" in run.attrs["grade"]


def test_a_sphere_keeps_its_momentum_about_the_point_of_contact():
    """Chaplygin's ball: J ω + m r k × (ẋ) is constant in space, and so is the energy.               BEYOND §6"""
    model = ph.load("rolling-sphere")
    run = ph.simulate(model, duration=3, tolerance=1e-11, samples=31)
    system, r = ph.compile(model), 0.1
    about = []
    for q, v in zip(run["q"].values, run["v"].values, strict=True):
        linear, angular = system.momentum(q, v)
        about.append(angular - np.cross(q[:3] - [0, 0, r], linear))
    assert np.max(abs(np.array(about) - about[0])) < 1e-10


def test_a_sleigh_ends_on_a_straight_line_with_its_mass_centre_ahead():
    """d = 0.2: ω̇ = −m d u ω/(J + m d²), u̇ = d ω², E = ½(m u² + (J + m d²) ω²); u → √(2E/m), ω → 0."""
    run = ph.simulate(ph.load("chaplygin-sleigh"), duration=40, tolerance=1e-11, samples=5)
    angle = run["q"].values[:, 2]
    vx, vy, omega = run["v"].values.T
    along = vx * np.cos(angle) + vy * np.sin(angle)
    assert_close(0.5 * (along**2 + (0.04 + 0.04) * omega**2), np.full(5, 0.5 + 0.5 * 0.08 * 0.01), 100)
    assert along[0] == -1
    assert along[-1] == pytest.approx(np.sqrt(1 + 0.08 * 0.01), abs=1e-6)
    assert abs(omega[-1]) < 1e-3 * abs(omega).max()


SMALL = ["four-bar", "slider-crank-3d", "rolling-disk", "n-four-bar-5"]


@pytest.mark.parametrize(
    "name",
    [
        *("four-bar", "slider-crank-3d", "rolling-disk", "n-four-bar-2"),
        *(pytest.param(name, marks=pytest.mark.long) for name in ("n-four-bar-5", "stewart-platform")),
    ],
)
def test_forward_derivatives_are_those_of_forward_dynamics(name):
    model = ph.load(name)
    system, (q, v), h = ph.compile(model), start(model), 1e-6
    tau = np.random.default_rng(2).normal(size=model.nv)
    found = system.forward_dynamics_derivatives(q, v, tau)
    for k, e in enumerate(np.eye(model.nv)):
        for slope, ahead, behind in (
            (found.dq, (system.integrate(q, h * e), v, tau), (system.integrate(q, -h * e), v, tau)),
            (found.dv, (q, v + h * e, tau), (q, v - h * e, tau)),
            (found.dtau, (q, v, tau + h * e), (q, v, tau - h * e)),
        ):
            difference = (system.forward_dynamics(*ahead) - system.forward_dynamics(*behind)) / (2 * h)
            assert np.max(abs(slope[:, k] - difference)) < 1e-6 * np.max(abs(slope), initial=1.0)


def test_forward_derivatives_of_a_redundant_machine_hold_along_its_motion():
    """Off the conditions Bricard's rank is another; along the motion v̇(t) has the derivative v̇_q v + v̇_v v̇."""
    model = ph.load("bricard")
    h = 1e-4
    run = ph.simulate(model, duration=0.4 + 2 * h, tolerance=1e-13, samples=[0.4, 0.4 + h])
    system, tau = ph.compile(model), np.zeros(5)
    rates = [system.forward_dynamics(q, v, tau) for q, v in zip(run["q"].values[1:], run["v"].values[1:], strict=True)]
    q, v = run["q"].values[2], run["v"].values[2]
    found = system.forward_dynamics_derivatives(q, v, tau)
    jerk = found.dq @ v + found.dv @ rates[1]
    assert np.max(abs((rates[2] - rates[0]) / (2 * h) - jerk)) < 1e-5 * np.max(abs(jerk))


def test_a_step_of_projection_squares_the_violation_twice():
    model = flying(ph.Constraint("c", "revolute", ENDS))
    system = ph.compile(model)
    q, v, *_ = ph.consistent_start(model, *next(states()))
    for size in (1e-2, 1e-3):
        moved = system.integrate(q, size * np.random.default_rng(1).normal(size=12))
        before = np.max(abs(system.constraint_residuals(moved, v).positions))
        after = np.max(abs(system.constraint_residuals(system.project_step(moved, v).q, v).positions))
        assert after < max(30 * before**4, 1e-15)  # two corrections


@pytest.mark.parametrize("name", ["four-bar", "bricard", "slider-crank-3d"])
def test_projection_goes_on_until_positions_hold_to_rounding(name):
    model = ph.load(name)
    system = ph.compile(model)
    turned = 0.06 * np.random.default_rng(0).normal(size=(8, model.nv))
    q, v = system.integrate(np.array(model.start.q), turned), np.ones((8, model.nv))
    before = np.max(abs(system.constraint_residuals(q, v).positions), axis=-1)
    after = system.constraint_residuals(*system.project(q, v))
    assert np.all(before > 1e-3)
    assert np.max(abs(after.positions)) < SETTLED
    assert np.max(abs(after.rates)) < 1e-12


def test_projection_tells_where_it_does_not_arrive(recwarn):
    """A four-bar whose bars are turned so that they cannot meet soon: the loop stays open, and is named."""
    model = ph.load("four-bar")
    system, nearby = ph.compile(model), np.array(model.start.q)
    system.project(nearby, np.zeros(model.nv))
    assert not recwarn.list
    far = nearby + np.random.default_rng(2).uniform(-3, 3, (200, model.nq))
    for q, left in ((far, True), (far[:0], False), (np.full(model.nq, np.nan), False)):
        recwarn.clear()
        found = system.project(q, np.zeros((*q.shape[:-1], model.nv)))
        open_ones = np.any(abs(system.constraint_residuals(found.q, found.v).positions) > 1e-9, axis=-1)
        assert np.any(open_ones) == left
        assert len(recwarn.list) == left
        recwarn.clear()
    with pytest.warns(
        ph.PolhodeWarning, match=r"project: constraints do not hold.\n  found [0-9]+ of 200 states left: state"
    ):
        found = system.project(far, np.zeros((200, model.nv)))
    one = far[np.argmax(np.max(abs(system.constraint_residuals(found.q, found.v).positions), axis=-1))]
    for _ in range(2):  # the second call too, which other quantities leave to machine code alone
        with pytest.warns(ph.PolhodeWarning, match=r"1 of 1 states left: constraint row '"):
            system.project(one, np.zeros(model.nv))


def test_projection_moves_least_in_the_mass_metric():
    """Nothing that the conditions allow is in the change: N·M δ = 0."""
    model = flying(ph.Constraint("c", "universal", ENDS))
    system = ph.compile(model)
    q, v, *_ = ph.consistent_start(model, *next(states()))
    w = v + np.random.default_rng(3).normal(size=12)
    found = system.project(q, w)
    A, M = system.constraint_rows(q, v).A, system.mass_matrix(q)
    N = np.linalg.svd(A)[2][len(A) :].T
    assert_close(N.T @ M @ (found.v - w), np.zeros(12 - len(A)), 100)
    before, after = (x @ M @ x / 2 for x in (w, found.v))
    change = found.v - w
    assert before - after == pytest.approx(change @ M @ change / 2, rel=1e-12)


def test_a_projected_state_has_unit_quaternions():
    model = flying(ph.Constraint("c", "weld", ENDS))
    system = ph.compile(model)
    q, v = next(states())
    found = system.project(q, v)
    assert_close([np.linalg.norm(found.q[3:7]), np.linalg.norm(found.q[10:])], np.ones(2))


def test_states_come_in_batches():
    model = ph.load("slider-crank-3d")
    system, (q, v) = ph.compile(model), start(model)
    many = np.array([v * s for s in np.linspace(-1, 2, 21)])
    tau = np.zeros(model.nv)
    found = system.forward_dynamics(q, many, tau)
    assert_close(found, np.array([system.forward_dynamics(q, one, tau) for one in many]))
    plain = ph.compile(model, target="python")
    assert_close(found, plain.forward_dynamics(q, many, tau), 100)


@pytest.mark.parametrize("name", ["n-four-bar-6", "stewart-platform"])
def test_lanes_of_a_sparse_machine_fall_back_one_by_one(name):
    """States of full rank and singular ones in one batch: each gets its own answer."""
    model = ph.load(name)
    system, (q, v) = ph.compile(model), start(model)
    tau = np.zeros(model.nv)
    states = [q] * 9
    if name.startswith("n-"):
        for k in (2, 5):
            states[k] = 0 * q  # flat: rank is lost
    found = system.constraint_forces(np.array(states), v, tau)
    for k, one in enumerate(states):
        alone = system.constraint_forces(one, v, tau)
        assert found.rank[k] == alone.rank
        assert_close(found.generalized[k], alone.generalized, 1000)


@pytest.mark.parametrize("method", ["dop853", "dopri54", "bs32"])
def test_steps_do_not_shrink_for_errors_that_projection_removes(method):
    """Where all bars lie flat, rounding across the conditions is divided by almost nothing."""
    run = ph.simulate(ph.load("n-four-bar"), duration=2, tolerance=1e-9, samples=5, method=method)
    assert run.attrs["status"] == "finished"
    assert np.ptp(run["q"].values[:, :3], axis=1).max() < 1e-6  # the rods stay parallel


@pytest.mark.parametrize(
    ("method", "step"), [("rk4", 0.002), ("implicit-midpoint", 0.002), ("radau2", 0.005), ("cf4", 0.002)]
)
def test_methods_with_equal_steps_project_too(method, step):
    model = ph.load("four-bar")
    run = ph.simulate(model, duration=0.3, method=method, step=step, samples=4)
    exact = ph.simulate(model, duration=0.3, tolerance=1e-11, samples=4)
    assert run.attrs["status"] == "finished"
    missed = ph.compile(model).constraint_residuals(run["q"].values, run["v"].values)
    assert max(np.max(abs(missed.positions)), np.max(abs(missed.rates))) < 1e-12
    assert np.max(abs(run["q"].values - exact["q"].values)) < 1e-3
