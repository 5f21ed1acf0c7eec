"""Matrices of a machine with beams, assembled in loops: against its mass matrix and derivatives of its forces."""

import numpy as np

import polhode as ph
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.stiffness import stiff_matrices
from polhode.model import make_tree
from polhode.scalar import Vec
from polhode.scalar.loops import PythonLoops

SECTION = ph.Section(
    axial=1e4, torsion=10.0, bending_y=3.0, bending_z=5.0, shear_y=4e3, shear_z=5e3, mass=1.0, inertia_y=1e-3,
    inertia_z=2e-3,
)  # fmt: skip


def machine():
    """A hinged hub with two beams, one clamped to it, one branching from a node; damped, with springs in a joint."""
    hub = ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1), stiffness=2.0, damping=0.3)
    first = ph.Beam("a", SECTION, start=("hub", (0.1, 0, 0)), end=(1, 0, 0), elements=2, damping=1e-2)
    branch = ph.Beam("b", SECTION, start=("a-1", (0, 0, 0)), end=(0.5, 1, 0.2), elements=1, damping=1e-2)
    return ph.Model("hub", bodies=[ph.Body("hub", 1.0, (1, 1, 1))], joints=[hub], beams=[first, branch])


def dense(pattern, a):
    return np.array(
        [
            [a[pattern.slot(i, j)] if (i == j or _coupled(pattern, i, j)) else 0.0 for j in range(pattern.n)]
            for i in range(pattern.n)
        ]
    )


def _coupled(pattern, i, j):
    p, q = sorted((pattern.at[i], pattern.at[j]))
    return q in pattern.below[p]


def test_matrices_are_those_of_the_machine():
    """Stiffness but for moments of the sections: at strains of 1e-6 they are so much of it."""
    model = machine()
    system, rng = ph.compile(model), np.random.default_rng(1)
    q = system.integrate(np.array(model.zero), 1e-6 * rng.normal(size=model.nv))
    still = np.zeros(model.nv)
    rows = [Vec(rng.normal(size=model.nv).tolist())]
    given = Arguments(make_tree(model), Vec(q.tolist()), Vec(still.tolist()))
    found = stiff_matrices(PythonLoops(), given, rows)
    M, D, K = (dense(found.pattern, a) for a in found[1:])
    n, whole = model.nv, system.forward_dynamics_derivatives(q, still, np.zeros(model.nv))
    mass = system.mass_matrix(q)
    np.testing.assert_allclose(M[:n, :n], mass, atol=1e-14)
    np.testing.assert_allclose(M[n, :n], rows[0], atol=1e-14)
    for mine, theirs in ((K, whole[0]), (D, whole[1])):
        expected = -mass @ theirs
        np.testing.assert_allclose(mine[:n, :n], expected, atol=1e-5 * np.max(abs(expected)))


def test_a_machine_without_beams_has_inertia_and_joint_springs_alone():
    model = ph.load("double-pendulum")
    q = np.full(model.nq, 0.3)
    found = stiff_matrices(PythonLoops(), Arguments(make_tree(model), Vec(q.tolist()), Vec([0.0] * model.nv)))
    np.testing.assert_allclose(dense(found.pattern, found.inertia), ph.compile(model).mass_matrix(q), atol=1e-15)
    assert not any(found.stiffness)


def test_stresses_may_be_those_of_another_state():
    """A rod that is stretched there and not here: its tension stiffens it across, here."""
    section = ph.Section(axial=1e4, torsion=1.0, bending_y=1.0, bending_z=1.0, mass=1.0, inertia_y=1e-3, inertia_z=1e-3)
    rod = ph.Beam("b", section, start=("world", (0, 0, 0)), end=(2, 0, 0), elements=1)
    model = ph.Model("rod", beams=[rod])
    here, there = Vec(model.zero), Vec([0.02, *model.zero[1:]])
    given = Arguments(make_tree(model), here, Vec([0.0] * model.nv))
    free, same, pulled = (
        dense(found.pattern, found.stiffness)
        for found in (stiff_matrices(PythonLoops(), given, (), x) for x in (None, here, there))
    )
    np.testing.assert_array_equal(free, same)
    tension = 1e4 * 0.02 / 2
    np.testing.assert_allclose(pulled - free, np.diag([0, tension / 2, tension / 2, 0, 0, 0]), atol=1e-9)
