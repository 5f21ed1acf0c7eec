"""Inertia that couples bodies: mass matrix, bias, energies and momenta of trees with it, and an element of a user."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import polhode as ph
from machines import random_model, random_q
from polhode.dynamics import coupled_inertia, inertia
from polhode.dynamics.kinematics import machine_state
from polhode.kernel.backends.cuda import cuda_source
from polhode.kernel.schedule import fused
from polhode.kernel.trace import trace
from polhode.model import make_tree
from polhode.scalar import Vec

TYPES = ["free", "revolute", "spherical", "prismatic"]


@dataclass(frozen=True)
class Inerter(ph.ForceElement):
    """A two-terminal inertia along the line between the origins of two bodies: F = b d²l/dt²."""

    name: str
    body_a: str
    body_b: str
    inertance: Any = 0.0

    kind = "inerter"
    keys: ClassVar = {
        "body_a": ph.Key("body", "a body", needed=True),
        "body_b": ph.Key("body", "another", needed=True),
        "inertance": ph.Key("number", "b, kg", unit="kg", letter="b"),
    }

    def inertia(self, state):
        apart = state.frame(self.body_b).o - state.frame(self.body_a).o
        n = apart / ph.length(apart)
        row = [*-n, 0.0, 0.0, 0.0, *n, 0.0, 0.0, 0.0]
        return [[self.inertance * a * b for b in row] for a in row]

    @property
    def is_internal(self):
        return True


TURNED = (0.8, 0.0, 0.6, 0.0)


def tree_model(*forces):
    return random_model(TYPES, 4, forces=forces)


def coupled_model():
    return tree_model(
        Inerter("i", "b0", "b2", 0.7),
        ph.BeamInertia("e", "b1", "b3", 0.9, 0.3, point_a=(0.1, 0.2, 0), orientation_b=TURNED),
    )


def state(model, seed=3):
    rng = np.random.default_rng(seed)
    return random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)


def test_the_mass_matrix_is_what_accelerations_need():
    model = coupled_model()
    system, (q, v, vd) = ph.compile(model, target="python"), state(model)
    M = system.mass_matrix(q)
    np.testing.assert_allclose(system.inverse_dynamics(q, v, vd) - system.bias(q, v), M @ vd, atol=1e-12)
    np.testing.assert_allclose(system.forward_dynamics(q, v, M @ vd + system.bias(q, v)), vd, atol=1e-12)
    np.testing.assert_allclose(system.inverse_mass_matrix(q) @ M, np.eye(model.nv), atol=1e-12)
    np.testing.assert_allclose(M @ system.solve_mass_matrix(q, v), v, atol=1e-12)
    assert system.energy(q, v).kinetic == pytest.approx(v @ M @ v / 2, abs=1e-13)
    bare = ph.compile(tree_model(), target="python").mass_matrix(q)
    assert np.max(abs(M - bare)) > 0.1  # it is there


def test_forces_do_the_work_that_the_kinetic_energy_gains():
    """dT/dt = v·(M v̇ + bias) without gravity."""
    model = replace(coupled_model(), gravity=(0, 0, 0))
    system, (q, v, vd), h = ph.compile(model, target="python"), state(model), 1e-5
    T = [system.energy(system.integrate(q, s * h * (v + s * h * vd / 2)), v + s * h * vd).kinetic for s in (-1, 1)]
    assert (T[1] - T[0]) / (2 * h) == pytest.approx(v @ system.inverse_dynamics(q, v, vd), rel=1e-8)


def test_the_bias_of_a_beam_is_that_of_boltzmann_and_hamel():
    """Given by Newton's law of constant masses; found by derivatives of the matrix."""
    tree, (q, v, _) = make_tree(coupled_model()), state(coupled_model())
    at = machine_state(tree, 0.0, Vec(q.tolist()), Vec(v.tolist()))
    element = next(force for force in tree.forces if force.kind == "beam-inertia")

    class Derived(type(element)):
        def inertia_bias(self, state):
            return None

    derived = Derived(**{name: getattr(element, name) for name in ("name", *element.keys)})
    given, found = (np.array(coupled_inertia.bias(one, at), dtype=float) for one in (element, derived))
    np.testing.assert_allclose(found, given, atol=1e-15)
    assert np.max(abs(given)) > 1e-3


def test_momentum_is_the_map_of_velocities_and_its_rate_the_force():
    model = replace(coupled_model(), gravity=(0, 0, 0))
    system, (q, v, vd) = ph.compile(model, target="python"), state(model)
    P, H = system.centroidal_momentum(q, v)
    np.testing.assert_allclose(system.centroidal_map(q) @ v, [*P, *H], atol=1e-12)
    about = system.momentum(q, v)
    np.testing.assert_allclose(about.linear, P, atol=1e-12)
    np.testing.assert_allclose(about.angular, H + np.cross(system.center_of_mass(q), P), atol=1e-12)
    rate, h = system.centroidal_momentum_rate(q, v, vd), 1e-5
    ends = [
        system.centroidal_momentum(system.integrate(q, s * h * (v + s * h * vd / 2)), v + s * h * vd) for s in (-1, 1)
    ]
    slope = [(b - a) / (2 * h) for a, b in zip(*ends, strict=True)]
    np.testing.assert_allclose(rate.linear, slope[0], atol=1e-7)
    np.testing.assert_allclose(rate.angular, slope[1], atol=1e-7)


def test_all_targets_and_engines_agree():
    model = coupled_model()
    q, v, tau = state(model)
    oracle = ph.compile(model, target="python").forward_dynamics(q, v, tau)
    compiled = ph.compile(model)
    np.testing.assert_allclose(compiled.forward_dynamics(q, v, tau), oracle, atol=1e-10)
    lanes = compiled.forward_dynamics(np.tile(q, (5, 1)), np.tile(v, (5, 1)), np.tile(tau, (5, 1)))
    np.testing.assert_allclose(lanes, np.tile(oracle, (5, 1)), atol=1e-10)


@pytest.mark.long
def test_absolute_coordinates_agree():
    model = coupled_model()
    q, v, tau = state(model)
    absolute = ph.compile(model, engine="absolute").forward_dynamics(q, v, tau)
    np.testing.assert_allclose(absolute, ph.compile(model).forward_dynamics(q, v, tau), atol=1e-8)


@pytest.mark.long
def test_derivatives_of_accelerations_are_exact():
    model = coupled_model()
    system, (q, v, tau), h = ph.compile(model), state(model), 1e-6
    dq, dv, dtau = system.forward_dynamics_derivatives(q, v, tau)
    step = np.random.default_rng(0).normal(size=model.nv)
    ends = [system.forward_dynamics(system.integrate(q, s * h * step), v, tau) for s in (-1, 1)]
    np.testing.assert_allclose(dq @ step, (ends[1] - ends[0]) / (2 * h), rtol=1e-6, atol=1e-6)
    ends = [system.forward_dynamics(q, v + s * h * step, tau) for s in (-1, 1)]
    np.testing.assert_allclose(dv @ step, (ends[1] - ends[0]) / (2 * h), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(dtau, system.inverse_mass_matrix(q), atol=1e-10)


def test_a_chain_fills_no_more_than_its_neighbours():
    """The factors of a free chain of n elements are block tridiagonal: 12 entries a row at most."""
    section = ph.Section(axial=1, torsion=1, bending_y=1, bending_z=1, mass=1, inertia_y=1e-3, inertia_z=1e-3)
    tree = make_tree(
        ph.Model("c", beams=[ph.Beam("b", section, start=(0, 0, 0), end=(1, 0, 0), elements=7, mass="consistent")])
    )
    assert max(map(len, inertia.filled(tree))) == 12
    assert sum(map(len, inertia.filled(tree))) == 21 + 7 * (21 + 36)


def two_masses(*constraints):
    bodies = [ph.Body("a", 2.0, (1, 1, 1)), ph.Body("b", 3.0, (1, 1, 1))]
    joints = [
        ph.Joint(name, "prismatic", "world", name, axis=(1, 0, 0), position=(x, 0, 0))
        for name, x in (("a", 0), ("b", 1))
    ]
    return ph.Model("two", (0, 0, 0), bodies, joints, [Inerter("i", "a", "b", 5.0)], constraints)


def pulled(b=5.0):
    return np.linalg.solve([[2 + b, -b], [-b, 3 + b]], [7.0, 0.0])


def test_two_masses_on_an_inerter():
    """Two bodies that slide, one pulled: the inerter adds to the mass of their relative motion."""
    found = ph.compile(two_masses()).forward_dynamics([0, 0.3], [1.0, -2.0], [7.0, 0.0])
    np.testing.assert_allclose(found, pulled(), rtol=1e-14)


@pytest.mark.long
def test_runs_and_their_derivatives_take_an_inerter():
    run = ph.simulate(two_masses(), tau={"a": 7.0}, duration=1.0, sensitivities=["forces.i.inertance"])
    np.testing.assert_allclose(run.q.values[-1], pulled() / 2, rtol=1e-9)
    slope = (pulled(5 + 1e-5) - pulled(5 - 1e-5)) / 4e-5
    np.testing.assert_allclose(run.sensitivity_q.values[-1, :, 0], slope, rtol=1e-6)


def test_constraints_and_inertia_that_couples():
    """An inerter between a body that a constraint holds and one that slides."""
    hold = ph.Constraint("hold", "distance", {"body_a": "world", "body_b": "a", "position_a": (-1, 0, 0), "length": 1})
    found = ph.compile(two_masses(hold)).forward_dynamics([0, 0], [0, 0], [0.0, 16.0])
    np.testing.assert_allclose(found, [0, 2], atol=1e-12)


def test_code_for_a_gpu_is_written():
    model = coupled_model()
    tree = make_tree(model)
    graph = trace(lambda q: inertia.mass_matrix(tree, q), q=(model.nq,))
    source = cuda_source(fused(graph), "mass_matrix")
    assert "mass_matrix" in source


@pytest.mark.parametrize(
    "call",
    [
        lambda s, q, v: s.christoffel(q),
        lambda s, q, v: s.coriolis(q, v),
        lambda s, q, v: s.composite_inertia(q),
        lambda s, q, v: s.center_of_mass(q, body="b2"),
        lambda s, q, v: s.torque_regressor(q, v, v),
        lambda s, q, v: ph.equations(s.model),
        pytest.param(
            lambda s, q, v: ph.simulate(s.model, v=v, duration=0.1, step=0.01, method="variational"),
            marks=pytest.mark.long,
        ),
    ],
)
def test_what_does_not_take_it_says_so(call):
    model = coupled_model()
    q, v, _ = state(model)
    with pytest.raises(ph.PolhodeError, match="inertia that couples bodies"):
        call(ph.compile(model, target="python"), q, v)


def test_an_inertia_that_is_not_symmetric_or_takes_too_much_is_told():
    class Lame(Inerter):
        def inertia(self, state):
            return [[float(j == i + 1) for j in range(12)] for i in range(12)]

    lame, negative = tree_model(Lame("i", "b0", "b2")), tree_model(Inerter("i", "b0", "b2", -50.0))
    for model, said in ((lame, r"inerter 'i': its inertia is not symmetric"), (negative, "not positive definite")):
        with pytest.raises(ph.ModelError, match=said):
            ph.compile(model).forward_dynamics(*state(model))


def test_an_inertia_of_wrong_size_is_told():
    class Wrong(Inerter):
        def inertia(self, state):
            return [[1.0]]

    model = tree_model(Wrong("i", "b0", "b2", 1.0))
    with pytest.raises(ph.CompileError, match="expected 12 × 12"):
        ph.compile(model).mass_matrix(state(model)[0])
