"""A backend is one class and one line in a registry; whatever it does, a System gives the same results."""

import numpy as np
import pytest

import polhode as ph
from polhode.kernel.backends.base import Backend, into, real_array
from polhode.kernel.backends.registry import BACKENDS
from polhode.kernel.evaluate import evaluate
from polhode.kernel.schedule import fused


class GraphBackend(Backend):
    """Graphs, evaluated as they are: what a user might write to look at them."""

    def __init__(self, fast=False):
        self.kernels = {}

    array = staticmethod(real_array)

    def kernel(self, computation, call):
        place = (*computation.key, *call.names)
        if place not in self.kernels:
            self.kernels[place] = fused(computation.graph(call.shapes))
        return self.kernels[place]

    def evaluate(self, computation, call):
        arrays = dict(zip(call.names, call.arrays.values(), strict=True))
        found = evaluate(self.kernel(computation, call), **arrays)
        result = computation.gathered(computation.parts(found))
        return result if call.out is None else into(computation.key[0], call.out, result)


@pytest.fixture
def others(monkeypatch):
    """Systems by all backends that run here, one of our own among them."""
    monkeypatch.setitem(BACKENDS, "graph", GraphBackend)
    return [target for target in BACKENDS if target != "cuda"]


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar"])
def test_all_backends_agree(name, others):
    model = ph.load(name)
    rng = np.random.default_rng(2)
    q, v, tau = np.tile(np.array(model.zero), (5, 1)), *rng.normal(size=(2, 5, model.nv))
    q = ph.compile(model).integrate(q, 0.1 * rng.normal(size=(5, model.nv)))
    found = {}
    for target in others:
        system = ph.compile(model, target=target)
        results = [system.forward_dynamics(q, v, tau), system.inverse_dynamics(q, v, tau, t=0.3)]
        results += system.forward_dynamics_derivatives(q, v, tau)
        results += system.pose(q, model.bodies[-1].name)
        found[target] = [np.asarray(x) for x in results]
    for target in others:
        for a, b in zip(found[target], found["python"], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_a_backend_of_ones_own_is_asked_by_its_name(others):
    system = ph.compile(ph.load("pendulum"), target="graph")
    out = np.empty(1)
    assert system.gravity([0.2], out=out) is out
    assert system.gravity([0.2]) == out
    assert system._backend.kernels.keys() == {("gravity", "q", "t")}
    with pytest.raises(ph.CompileError, match="'graph'"):
        ph.compile(system.model, target="nowhere")


def test_a_backend_that_generates_nothing_to_read_says_so(others, tmp_path):
    system = ph.compile(ph.load("pendulum"), target="graph")
    with pytest.raises(ph.CompileError, match=r"source of gravity: .* has no `source`\.\n.*'graph'"):
        system.source("gravity")
    with pytest.raises(ph.CompileError, match=r"export_c of gravity: .* has no `graph`\.\n.*'graph'"):
        system.export_c(tmp_path / "x.c", "gravity")


def test_every_backend_of_the_registry_is_one():
    assert {*BACKENDS} >= {"cpu", "cuda", "python"}
    assert all(issubclass(backend, Backend) and not backend.__abstractmethods__ for backend in BACKENDS.values())
