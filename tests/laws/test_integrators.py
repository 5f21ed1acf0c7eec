"""What integrators keep: norms, momenta, energy, the symplectic form; and the three structured functions."""

import numpy as np
import pytest

import polhode as ph
from close import assert_close, complex_step
from integration import ARM_START, TOP, TOP_START, TUMBLER, TUMBLER_START, arm, machine_of, pushed
from machines import random_model, random_q
from marching import march, reach
from polhode.dynamics import kinematics
from polhode.dynamics.energy import energy, momentum
from polhode.integrate.adaptive import controlled
from polhode.integrate.group import coadjoint, right, right_inverse, turned
from polhode.integrate.implicit import implicit_midpoint, newton
from polhode.integrate.methods import METHODS, method_named
from polhode.integrate.structure import energy_momentum, variational
from polhode.kernel.backends.llvm.compile import build
from polhode.kernel.trace import trace
from polhode.linalg.elimination import solve
from polhode.model import make_tree
from polhode.quaternion import skew
from polhode.scalar import Dual, Vec, identity, iterate, jacobian, sin, split, stack, vec, where

PER_STEP = 2e-15
"""Rounding of a conserved quantity in one step, relative to its size, times a few operations that meet it."""

DIFFERENCES = 1e-8
"""Error of central differences with steps of 1e-5: truncation 1e-10, rounding 1e-11, times a condition of 100."""

ALL = [pytest.param(method, id=name) for name, method in METHODS.items()]


def compiled(function, **shapes):
    kernel = build(trace(function, **shapes))
    return lambda *arrays: tuple(np.asarray(x) for x in kernel(*map(np.asarray, arrays)))


def samples(model, method, start, h, steps, count, observe):
    """What is observed after each of `count` marches of `steps` steps, compiled."""
    machine, (q, v) = machine_of(model), map(np.array, start)
    go = compiled(lambda q, v: march(method, machine, 0.0, q, v, h, steps), q=(machine.nq,), v=(machine.nv,))
    tree, found = make_tree(model), []
    for _ in range(count):
        q, v = go(q, v)
        found.append(observe(tree, Vec(q.tolist()), Vec(v.tolist())))
    return np.array(found)


def total_energy(tree, q, v):
    return sum(energy(tree, q, v))


# ---- the structured functions


def test_a_repeated_step_stops_when_told_and_at_its_limit():
    halve = lambda x: (x / 2, x[0] > 1.0)
    assert iterate(halve, vec(8.0), 99) == (0.5,)
    assert iterate(halve, vec(8.0), 2) == (2.0,)
    assert iterate(halve, vec(0.0), 99) == (0.0,)


def test_each_element_of_a_batch_stops_on_its_own():
    found = iterate(lambda x: (vec(x[0] / 2, x[1] + 1), x[0] > 1.0), vec(np.array([8.0, 1.0, 3.0]), np.zeros(3)), 99)
    assert found[0].tolist() == [0.5, 0.5, 0.375]
    assert found[1].tolist() == [4, 1, 3]


@pytest.mark.parametrize("batch", [(), (7,), (2, 3)])
@pytest.mark.parametrize("n", [1, 4, 9])
def test_linear_equations_are_solved_for_one_and_for_several_right_sides(batch, n):
    rng = np.random.default_rng(n)
    A, B = rng.normal(size=(*batch, n, n)), rng.normal(size=(*batch, n, 3))
    condition = np.max(np.linalg.cond(A))
    assert_close(stack(solve(split(A, 2), split(B, 2)), batch), np.linalg.solve(A, B), condition)
    one = solve(split(A, 2), split(B[..., 0], 1))
    assert_close(stack(one, batch), np.linalg.solve(A, B)[..., 0], condition)


def test_complete_pivoting_meets_what_row_pivoting_cannot():
    """Wilkinson's matrix: with row pivots its entries grow as 2^n."""
    n = 60
    A = np.tril(-np.ones((n, n)), -1) + np.eye(n)
    A[:, -1] = 1
    x = np.random.default_rng(0).normal(size=n)
    assert_close(np.array(solve(split(A, 2), Vec((A @ x).tolist()))), x, condition=np.linalg.cond(A))


def test_a_singular_matrix_has_no_finite_solution_and_raises_nothing():
    assert not np.all(np.isfinite(np.array(solve(vec(vec(1.0, 2.0), vec(2.0, 4.0)), vec(1.0, 0.0)))))


def test_solutions_of_duals_have_the_derivative_of_the_inverse():
    A, dA = np.random.default_rng(1).normal(size=(2, 3, 3))
    b = vec(1.0, -2.0, 0.5)
    duals = Vec([Vec([Dual(x, np.array([d])) for x, d in zip(*rows, strict=True)]) for rows in zip(A, dA, strict=True)])
    found = solve(duals, b)
    x = np.linalg.solve(A, b)
    assert_close([y.slope[0] for y in found], -np.linalg.solve(A, dA @ x), condition=np.linalg.cond(A) ** 2)


@pytest.mark.parametrize("batch", [(), (5,)])
def test_a_jacobian_is_exact(batch):
    function = lambda x: vec(x[0] * sin(x[1]), x[1] / x[0], 3.0)
    x = 1 + np.random.default_rng(2).uniform(size=(*batch, 2))
    value, J = jacobian(function, split(x, 1))
    plain = lambda x: np.stack([x[..., 0] * np.sin(x[..., 1]), x[..., 1] / x[..., 0], 3 + 0 * x[..., 0]], -1)
    assert_close(stack(value, batch), plain(x))
    for j, e in enumerate(np.eye(2)):
        assert_close(stack(J, batch)[..., j], complex_step(plain, x, e))


def test_newtons_method_finds_a_root_for_each_element_or_says_that_there_is_none():
    a = np.array([4.0, 9.0, -1.0])
    found = newton(lambda x: vec(x[0] * x[0] - a, x[1] - x[0]), vec(np.ones(3), np.zeros(3)))
    assert_close(found[0][:2], [2, 3])
    assert_close(found[1][:2], [2, 3])
    assert np.isnan(found[0][2])
    assert_close(newton(lambda x: vec(x[0] * x[0] - 2), vec(1.0))[0], np.sqrt(2))


# ---- what methods see


def test_maps_of_the_group_are_the_derivatives_of_the_exponential():
    rng = np.random.default_rng(3)
    for size in (1e-6, 0.05, 2.0):
        d, x = (Vec((scale * rng.normal(size=4)).tolist()) for scale in (size, 1.0))
        turns = [(0, 1, 2)]
        assert_close(right(turns, d, right_inverse(turns, d, x)), x)
        assert_close(turned(turns, d, right(turns, d, x)), right(turns, -d, x))  # Jl = Ad Jr
        plain = np.array([turned(turns, d, e) for e in identity(4)]).T
        assert_close(plain.T @ plain, np.eye(4))
        assert right(turns, d, x)[3] == x[3]


@pytest.mark.parametrize("types", [["spherical", "revolute", "prismatic"], ["free", "universal", "spherical", "screw"]])
def test_momentum_changes_by_the_gradient_the_turning_axes_and_the_forces(types):
    """ṗ = X L + ad*_v p + forces, and Ė = forces·v."""
    spring = ph.Spring("s", "b0", "b2", (0.1, 0.2, 0.3), (0, 0.1, 0), stiffness=30.0, rest=0.2, damping=2.0)
    push = ph.Force("f", "b1", force=(1.0, 2.0, 3.0), point=(0.1, 0.0, 0.2))
    model = random_model(types, 3, forces=[spring, push])
    rng = np.random.default_rng(1)
    machine = machine_of(model, lambda t, q, v: Vec([sin(t + k) for k in range(model.nv)]))
    q, v, t = Vec(random_q(model, rng).tolist()), Vec(rng.normal(size=model.nv).tolist()), 0.7
    vd, p, h = machine.acceleration(t, q, v), machine.momentum(q, v), 1e-5
    later, earlier = ((machine.retract(q, s * v), v + s * vd) for s in (h, -h))
    rate = (machine.momentum(*later) - machine.momentum(*earlier)) / (2 * h)
    forces = machine.forces(t, q, v)
    expected = machine.gradient(q, v) + coadjoint(machine.rotations, v, p) + forces
    assert np.allclose(rate, expected, rtol=0, atol=DIFFERENCES * max(map(abs, expected)))
    power = (machine.energy(*later) - machine.energy(*earlier)) / (2 * h)
    assert power == pytest.approx(forces @ v, abs=DIFFERENCES * abs(machine.energy(q, v)))
    assert_close(machine.velocity(q, p), v, condition=100)


@pytest.mark.parametrize("method", ALL)
def test_a_step_is_the_same_on_floats_on_batches_and_compiled(method):
    machine, (q, v), h = machine_of(TOP), TOP_START, 0.02
    plain = method.step(machine, 0.3, Vec(q), Vec(v), h)
    batch = method.step(machine, 0.3, *(Vec([np.full(2, x) for x in y]) for y in (q, v)), h)
    kernel = compiled(lambda q, v: method.step(machine, 0.3, q, v, h)[:2], q=(4,), v=(3,))
    for k, found in enumerate(kernel(q, v)):
        assert_close(found, plain[k], scale=10)
        assert_close(np.array(batch[k])[:, 1], plain[k], scale=10)
    for estimate, other in zip(plain.errors, batch.errors, strict=True):
        assert_close(np.array(other)[:, 0], estimate)
    assert len(plain.errors) == (0 if not method.adaptive else 2 if "dop853" in method.name else 1)


@pytest.mark.parametrize("method", ALL)
def test_the_motion_within_a_step_begins_and_ends_with_it(method):
    machine, (q, v), h = machine_of(TOP), map(Vec, TOP_START), 0.02
    motion, end = method.dense(machine, 0.0, q, v, h), method.step(machine, 0.0, q, v, h)
    assert_close([*motion.at(0.0).q, *motion.at(0.0).v], [*q, *v], scale=10)
    assert_close([*motion.at(1.0).q, *motion.at(1.0).v], [*end.q, *end.v], scale=10)
    assert_close(np.linalg.norm(motion.at(0.4).q), 1.0)


def test_a_quaternion_that_is_only_turned_keeps_its_length():
    for method in METHODS.values():
        if method.family == "Lie group":
            machine = machine_of(TOP)
            end = march(method, machine, 0.0, *map(Vec, TOP_START), 0.05, 50)
            assert abs(np.linalg.norm(end.q) - 1) < 50 * PER_STEP, method.name


# ---- what the structure-preserving methods keep


def test_the_energy_of_a_variational_motion_stays_in_a_band_where_rk4_drifts():
    start = energy(make_tree(TOP), *map(Vec, TOP_START))
    run = {
        n: samples(TOP, METHODS[n], TOP_START, 0.02, 100, 400, total_energy) - sum(start)
        for n in ("variational", "rk4")
    }
    width = {name: [np.max(abs(part)) for part in np.split(values, 8)] for name, values in run.items()}
    assert width["variational"][-1] < 1.5 * max(width["variational"][:4])
    assert width["rk4"][-1] > 6 * width["rk4"][0]  # in proportion to time: 8
    assert abs(np.mean(run["variational"][200:]) - np.mean(run["variational"][:200])) < 0.1 * width["variational"][0]


def test_a_variational_motion_keeps_the_momenta_of_symmetries():
    """All six of a machine that floats, the vertical one of a top."""
    floating = arm(gravity=(0, 0, 0), base="free")
    start = [0.1, 0.2, 0.3, *ARM_START[0]], [0.3, -0.2, 0.4, *ARM_START[1]]
    both = lambda tree, q, v: np.concatenate(momentum(tree, q, v))
    at_first = both(make_tree(floating), *map(Vec, start))
    steps = 2000
    found = samples(floating, METHODS["variational"], start, 0.02, steps // 4, 4, both)
    assert np.max(abs(found - at_first)) < PER_STEP * steps * np.max(abs(at_first))
    vertical = lambda tree, q, v: momentum(tree, q, v).angular[2]
    at_first = vertical(make_tree(TOP), *map(Vec, TOP_START))
    found = samples(TOP, METHODS["variational"], TOP_START, 0.02, steps // 4, 4, vertical)
    assert np.max(abs(found - at_first)) < PER_STEP * steps * abs(at_first)


def symplectic_defect(step, model, start, h):
    """‖DᵀΩD − Ω‖, D the derivative of (δ, p) ↦ (δ, p) by central differences, all in one batch.     BEYOND §8"""
    machine, tree = machine_of(model), make_tree(model)
    n, e = machine.nv, 1e-5
    q, v = map(Vec, start)
    p = machine.momentum(q, v)
    moves = e * np.concatenate([np.eye(2 * n), -np.eye(2 * n)])
    q_all = machine.retract(Vec([np.full(4 * n, x) for x in q]), split(moves[:, :n], 1))
    end = step(machine, 0.0, q_all, machine.velocity(q_all, p + split(moves[:, n:], 1)), h)
    middle = step(machine, 0.0, q, v, h)
    apart = kinematics.difference(tree, Vec([np.full(4 * n, x) for x in middle.q]), end.q)
    images = np.array([*apart, *machine.momentum(end.q, end.v)])
    D = (images[:, : 2 * n] - images[:, 2 * n :]) / (2 * e)
    before, after = (_form(machine, at) for at in (p, machine.momentum(middle.q, middle.v)))
    return np.max(abs(D.T @ after @ D - before))


def _form(machine, p):
    n = machine.nv
    found = np.block([[np.zeros((n, n)), -np.eye(n)], [np.eye(n), np.zeros((n, n))]])
    for triple in machine.rotations:
        found[np.ix_(triple, triple)] = skew(np.array([p[k] for k in triple]))
    return found


def test_the_variational_step_is_symplectic_and_others_are_not():
    assert symplectic_defect(variational, arm(), ARM_START, 0.05) < DIFFERENCES
    assert symplectic_defect(variational, TUMBLER, TUMBLER_START, 0.2) < DIFFERENCES
    assert symplectic_defect(energy_momentum, arm(), ARM_START, 0.05) > 1e3 * DIFFERENCES
    assert symplectic_defect(implicit_midpoint, arm(), ARM_START, 0.05) > 1e3 * DIFFERENCES


@pytest.mark.long
def test_the_energy_momentum_step_keeps_the_energy_of_every_machine():
    steps = 2000
    for model, start in ((arm(), ARM_START), (TOP, TOP_START)):
        at_first = total_energy(make_tree(model), *map(Vec, start))
        found = samples(model, METHODS["energy-momentum"], start, 0.02, steps // 8, 8, total_energy)
        assert np.max(abs(found - at_first)) < PER_STEP * steps * abs(at_first)


def test_the_energy_momentum_step_keeps_energy_and_momentum_of_a_free_body():
    both = lambda tree, q, v: [*momentum(tree, q, v).linear, *momentum(tree, q, v).angular, total_energy(tree, q, v)]
    at_first, steps = both(make_tree(TUMBLER), *map(Vec, TUMBLER_START)), 2000
    found = samples(TUMBLER, METHODS["energy-momentum"], TUMBLER_START, 0.1, steps // 4, 4, both)
    assert np.max(abs(found - at_first)) < PER_STEP * steps * np.max(np.abs(at_first))


def test_the_energy_momentum_step_accounts_for_the_work_of_forces():
    """E₁ − E = h v̄·forces: a damper only takes."""
    machine, (q, v), h = machine_of(arm(damping=0.5)), map(Vec, ARM_START), 0.01
    for _ in range(10):
        before = machine.energy(q, v)
        q, v = energy_momentum(machine, 0.0, q, v, h)[:2]
        assert machine.energy(q, v) < before


def test_generalized_alpha_damps_what_the_step_cannot_resolve_and_leaves_the_slow_motion():
    """A spring of 1e5 rad/s behind one of 1 rad/s, h = 0.05: per step the fast one shrinks to ρ."""
    model = ph.Model(
        "springs",
        gravity=(0, 0, 0),
        bodies=[ph.Body("slow", 1.0, (1, 1, 1)), ph.Body("fast", 1.0, (1, 1, 1))],
        joints=[
            ph.Joint("one", "prismatic", "world", "slow", stiffness=1.0),
            ph.Joint("two", "prismatic", "world", "fast", stiffness=1e10),
        ],
    )
    q, _ = march(METHODS["generalized-alpha"], machine_of(model), 0.0, vec(1.0, 1e-6), vec(0.0, 0.0), 0.05, 120)
    assert q[0] == pytest.approx(np.cos(120 * 0.05), abs=1e-2)
    assert abs(q[1]) < 1e-6 * 120 * 0.8**110  # a Jordan block of ρ = 0.8 at most


# ---- names and control


def test_an_unknown_method_is_told_with_the_nearest_names():
    with pytest.raises(ph.PolhodeError) as caught:
        method_named("dopri45")
    for word in ("dopri45", "'dopri54'", "rk4", "variational"):
        assert word in str(caught.value)
    assert method_named("rk4") is METHODS["rk4"]
    assert "order 8" in str(METHODS["dop853"])


def test_step_control_refuses_a_method_without_an_estimate():
    with pytest.raises(ph.InputError, match="estimates no error"):
        controlled(METHODS["rk4"], machine_of(TOP), 0.0, *map(Vec, TOP_START), 0.1, 1e-6)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.adaptive])
def test_a_refused_step_leaves_the_state_and_shortens_the_step(name):
    machine, (q, v) = machine_of(TOP), map(Vec, TOP_START)
    tried = controlled(METHODS[name], machine, 0.0, q, v, 1.0, 1e-9)
    assert not tried.accepted
    assert (tried.t, tried.q, tried.v) == (0.0, q, v)
    assert 0.2 <= tried.h < 1.0
    assert not tried.error <= 1  # of an iteration that failed it is no number
    accepted = controlled(METHODS[name], machine, 0.0, q, v, 1e-4, 1e-6)
    assert accepted.accepted
    assert accepted.t == 1e-4
    assert 1e-4 < accepted.h <= 1e-3


def test_a_step_into_what_is_no_number_is_refused():
    machine = machine_of(TOP)._replace(acceleration=lambda t, q, v: where(t > 0.01, np.nan, 1.0) * v)
    tried = controlled(METHODS["dop853"], machine, 0.0, *map(Vec, TOP_START), 1.0, 1e-6)
    assert not tried.accepted
    assert tried.h == 0.2


def test_a_march_under_control_is_the_same_on_floats_on_batches_and_compiled():
    machine, (q, v), tolerance = machine_of(arm(damping=0.1), pushed), ARM_START, 1e-9
    go = lambda q, v: reach(METHODS["dop853"], machine, 0.0, q, v, 0.01, 0.3, tolerance)
    plain = go(Vec(q), Vec(v))
    batch = go(*(Vec([np.full(2, x) for x in y]) for y in (q, v)))
    kernel = compiled(go, q=(6,), v=(5,))
    assert plain.t == 0.3
    for k, (found, expected) in enumerate(zip(kernel(q, v), plain, strict=True)):
        condition = 1.0 if k < 3 else 1e-3 / tolerance  # the next step comes from an error that is mostly rounding
        assert_close(found, expected, condition, scale=10)
        assert_close(np.array(batch[k])[..., 1], expected, condition, scale=10)
