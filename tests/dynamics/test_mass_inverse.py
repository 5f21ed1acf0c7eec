"""What the inverse of the mass matrix gives, beside NumPy's and Pinocchio's; impacts on constraints."""

import numpy as np
import pinocchio as pin
import pytest

import polhode as ph
from machines import random_model, random_q
from pinocchio_model import Peer
from polhode.bench.machines import machine

TYPES = ["free", "universal", "revolute", "spherical", "screw", "cylindrical"]
RELATIVE = 1e-10


def close(found, expected, condition=1.0):
    size = max(1.0, float(np.max(abs(expected), initial=0.0)))
    assert np.max(abs(found - expected), initial=0.0) <= RELATIVE * condition * size


@pytest.fixture(scope="module")
def tree():
    rng = np.random.default_rng(2)
    model = random_model(TYPES, 2, chain=True)
    return ph.compile(model, target="python"), random_q(model, rng), rng.normal(size=model.nv)


@pytest.fixture(scope="module")
def loop():
    """A four-bar at a position of its own, with A and M there."""
    model = ph.load("four-bar")
    system, start = ph.compile(model, target="python"), ph.consistent_start(model, v=[0.7] * model.nv)
    return system, start, system.constraint_rows(start.q, start.v).A, system.mass_matrix(start.q)


def test_the_inverse_and_its_products_are_those_of_the_matrix(tree):
    system, q, x = tree
    M = system.mass_matrix(q)
    condition = np.linalg.cond(M)
    close(system.inverse_mass_matrix(q), np.linalg.inv(M), condition)
    close(system.solve_mass_matrix(q, x), np.linalg.solve(M, x), condition)
    assert np.array_equal(system.inverse_mass_matrix(q), system.inverse_mass_matrix(q).T)


@pytest.mark.parametrize("axes", ["world-aligned", "local", "world"])
def test_the_mobility_is_that_of_the_jacobian(tree, axes):
    system, q, _ = tree
    place = "b5", (0.1, 0.2, 0.3), axes
    J, inverse = system.jacobian(q, *place), np.linalg.inv(system.mass_matrix(q))
    G, condition = J @ inverse @ J.T, np.linalg.cond(inverse)
    close(system.mobility(q, *place), G, condition)
    assert np.linalg.cond(G) < 1e4
    close(system.operational_space_inertia(q, *place), np.linalg.inv(G), np.linalg.cond(G))


def test_an_arm_of_two_joints_has_a_mobility_and_no_inertia_of_its_hand():
    system = ph.compile(ph.load("double-pendulum"), target="python")
    body = system.model.bodies[-1].name
    assert np.linalg.matrix_rank(system.mobility([0.3, 0.4], body), tol=1e-9) == 2
    assert not np.all(abs(system.operational_space_inertia([0.3, 0.4], body)) < 1e6)


@pytest.mark.long
def test_large_trees_are_solved_in_loops():
    model = machine("chain-50")
    system, rng = ph.compile(model), np.random.default_rng(0)
    q, x = rng.normal(size=50) / 9, rng.normal(size=50)
    M = system.mass_matrix(q)
    condition = np.linalg.cond(M)
    close(M @ system.inverse_mass_matrix(q), np.eye(50), condition)
    close(M @ system.solve_mass_matrix(q, x), x, condition)


def test_matrices_of_constraints_are_those_of_their_rows(loop):
    system, start, A, M = loop
    q, mu = start.q, 1e-3
    G = A @ np.linalg.inv(M) @ A.T
    close(system.delassus_matrix(q), G)
    K = system.delassus_factor(q, mu)
    close(K @ K.T, G + mu * np.eye(len(A)))
    assert np.array_equal(K, np.tril(K))
    kkt = np.block([[M, A.T], [A, -mu * np.eye(len(A))]])
    close(system.kkt_matrix(q, mu), kkt)
    close(system.kkt_inverse(q, mu), np.linalg.inv(kkt), np.linalg.cond(kkt))
    batch = np.array([1e-3, 1e-2])
    assert system.kkt_inverse(q, batch).shape == (2, *kkt.shape)
    tau = np.linspace(-1, 1, system.nv)
    right = np.append(tau - system.bias(q, start.v), system.constraint_rows(q, start.v).b)
    vd, lam = np.split(np.linalg.lstsq(system.kkt_matrix(q), right)[0], [system.nv])
    close(vd, system.forward_dynamics(q, start.v, tau), 1e3)
    close(-lam @ A, system.constraint_forces(q, start.v, tau).generalized, 1e3)


def test_products_with_the_rows_of_constraints_are_those_of_the_matrix(loop):
    system, start, A, _ = loop
    lam = np.linspace(-1, 2, 3 * len(A)).reshape(3, -1)
    close(system.generalized_constraint_force(start.q, lam), lam @ A)
    close(system.constraint_rates(start.q, start.v + 1.0), A @ (start.v + 1.0))
    tau = np.linspace(-1, 1, system.nv)
    found = system.constraint_forces(start.q, start.v, tau)
    close(system.generalized_constraint_force(start.q, found.multipliers), found.generalized)
    with pytest.raises(ph.InputError, match="argument multipliers: wrong shape"):
        system.generalized_constraint_force(start.q, np.zeros(len(A) + 1))
    with pytest.raises(ph.ModelError, match="has no constraints"):
        ph.compile(ph.load("double-pendulum"), target="python").generalized_constraint_force([0, 0], [])


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_an_impact_turns_the_rates_of_constraints_by_the_restitution(loop, e):
    system, start, A, M = loop
    v = start.v + np.linspace(-1, 1, system.nv)
    found = system.impact(start.q, v, e)
    close(A @ found.v, -e * A @ v)
    close(M @ (found.v - v), A.T @ found.impulses)
    lost = (v @ M @ v - found.v @ M @ found.v) / 2
    assert lost > -1e-12 if e == 1.0 else lost > 0
    if e == 0.0:
        close(found.v, system.project(start.q, v).v)


@pytest.mark.parametrize(
    ("name", "target", "e"), [("four-bar", "python", 0.4), pytest.param("bricard", "cpu", 0.0, marks=pytest.mark.long)]
)
def test_derivatives_of_impacts_are_their_differences(name, target, e):
    """Along the tangent directions of q and by v, redundant rows (those of Bricard's linkage) included."""
    model = ph.load(name)
    system, start = ph.compile(model, target=target), ph.consistent_start(model, v=[0.7] * model.nv)
    n, q, v = system.nv, start.q, start.v + np.linspace(-1, 1, model.nv)
    found, h = system.impact_derivatives(q, v, e), 1e-5
    assert system.impact(q, v, e).rank == system.constraint_forces(q, v, np.zeros(n)).rank
    for k, unit in enumerate(np.eye(n)):
        by_v = [system.impact(q, v + s * h * unit, e) for s in (1, -1)]
        close(found.dv[:, k], (by_v[0].v - by_v[1].v) / (2 * h))
        close(found.impulses_dv[:, k], (by_v[0].impulses - by_v[1].impulses) / (2 * h))
        if name == "four-bar":  # Bricard's rows keep their rank on the motion alone
            by_q = [system.impact(system.integrate(q, s * h * unit), v, e) for s in (1, -1)]
            close(found.dq[:, k], (by_q[0].v - by_q[1].v) / (2 * h), 100)
            close(found.impulses_dq[:, k], (by_q[0].impulses - by_q[1].impulses) / (2 * h), 100)


def test_impacts_are_pinocchios():
    """A ball joint at the tip of a tree of revolute joints is a contact of three rows there."""
    model = random_model(["revolute"] * 5, 3, chain=True, armature=False)
    rng = np.random.default_rng(3)
    q, v = rng.normal(size=5), rng.normal(size=5)
    free = ph.compile(model, target="python")
    tip = free.pose(q, "b4").position
    held = ph.Model("held", bodies=model.bodies, joints=model.joints, gravity=model.gravity, constraints=[
        ph.Constraint("tip", "spherical", body_b="b4", position_a=tuple(tip.tolist()))
    ])  # fmt: skip
    peer, J = Peer(model), free.jacobian(q, "b4")[:3]
    expected = pin.impulseDynamics(peer.model, peer.data, peer.q(q), v, J, 0.3, 0.0)
    close(ph.compile(held, target="python").impact(q, v, 0.3).v, expected)
