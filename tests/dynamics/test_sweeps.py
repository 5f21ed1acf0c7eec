"""Sweeps over a tree are the factors of its mass matrix, and give constrained motion without it."""

import numpy as np
import pytest
from hypothesis import given, settings

import polhode as ph
from close import assert_close
from machines import machines
from polhode.constrain import constrained_dynamics
from polhode.dynamics.sweeps import Sweep
from polhode.model import make_tree
from polhode.scalar import Vec


@settings(max_examples=40)
@given(machines())
def test_sweeps_are_factors_of_the_mass_matrix(machine):
    """M = K Kᵀ: K⁻¹ M K⁻ᵀ = I and Kᵀx = K⁻¹(M x), for every kind of joint."""
    model, system, q, _, x = machine
    if not model.nv:
        return
    sweep = Sweep(make_tree(model), Vec(q.tolist()))
    M = system.mass_matrix(q)
    columns = np.array([sweep.under(Vec(e)) for e in np.eye(model.nv).tolist()]).T
    condition = np.linalg.cond(M)
    assert_close(columns.T @ M @ columns, np.eye(model.nv), condition)
    assert_close(np.array(sweep.over(Vec((M @ x).tolist()))), np.linalg.solve(columns, x), condition)
    assert_close(np.array(sweep.times(Vec(x.tolist()))), np.linalg.solve(columns, x), condition)


@pytest.fixture(params=[0, 10**9], ids=["sweeps", "matrix"])
def way(request, monkeypatch):
    """Makes every model take the one way or the other."""
    monkeypatch.setattr(constrained_dynamics, "SWEEP", request.param)
    monkeypatch.setattr(constrained_dynamics, "SWEPT", request.param)
    return request.param


@pytest.mark.parametrize(
    "name", ["four-bar", "bricard", "slider-crank-3d", "rolling-disk", "closed-chain-12", "bicycle"]
)
def test_both_ways_give_one_motion(name, way):
    model = ph.load(name)
    system = ph.compile(model, target="python")
    q, v = np.array(model.start.q), np.array(model.start.v)
    tau = np.random.default_rng(1).normal(size=model.nv)
    found, M = system.constraint_forces(q, v, tau), system.mass_matrix(q)
    vd = system.forward_dynamics(q, v, tau)
    A, b = system.constraint_rows(q, v)
    expected = ph.fundamental.solve(M, tau - system.bias(q, v), A, b, sizes=system.conditions.sizes)
    assert_close(vd, expected.acceleration, 10 * np.linalg.cond(M))
    assert_close(found.generalized, expected.force, 10 * np.linalg.cond(M))
    assert found.rank == expected.rank
    moved = system.project(system.integrate(q, np.full(model.nv, 1e-5)), v)
    missed = system.constraint_residuals(moved.q, moved.v)
    assert max(np.max(abs(missed.positions), initial=0), np.max(abs(missed.rates))) < 1e-12


def test_a_long_chain_takes_sweeps_and_a_row_of_windows_the_matrix():
    def swept(name):
        model = ph.load(name)
        system = ph.compile(model)
        return system.conditions._by_sweeps(system._spec.tree, len(system.constraint_names))

    assert swept("closed-chain-50")
    assert not swept("n-four-bar-20")
    assert not swept("four-bar")
