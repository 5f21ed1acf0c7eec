"""New frames, the same machine: what a System says of forces and accelerations does not depend on where frames are."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

import polhode as ph
from close import assert_close
from machines import ONE_AXIS, machines, random_model, random_q
from polhode.bench.machines import machine as bench_machine
from polhode.dynamics import covariant, forward, inertia, inverse, kinematics
from polhode.dynamics.energy import energy
from polhode.formats.library import names
from polhode.kernel import trace
from polhode.kernel.schedule import fused
from polhode.model import Tree, make_tree, reframe, regrouped
from polhode.model.reframe import COORDINATES, reframed
from polhode.scalar import Vec

FEW = settings(max_examples=25)
SLACK = 0.05
"""Part of the operations of a mass matrix that new frames may add: 7 of 158 for the Puma's, and 6 of 270 for its
Christoffel symbols; inverse and forward dynamics, which they are chosen for, lose 6 each."""


def as_vec(x):
    return Vec(np.asarray(x).tolist())


def constants(tree: Tree) -> list[float]:
    """The numbers of all steps from frame to frame."""
    return [x for e in tree.elements for row in (e.position, *(row for C in e.turning for row in C)) for x in row]


def operations(tree: Tree) -> dict[str, int]:
    """How many operations each quantity takes; a changed sign is part of the operation after it."""
    q, v = (tree.nq,), (tree.nv,)
    graphs = {
        "inverse": trace(lambda q, v, w: inverse.inverse_dynamics(tree, q, v, w), q=q, v=v, w=v),
        "forward": trace(lambda q, v, w: forward.forward_dynamics(tree, q, v, w), q=q, v=v, w=v),
        "mass": trace(lambda q: inertia.mass_matrix(tree, q), q=q),
        "christoffel": trace(lambda q: covariant.christoffel(tree, q), q=q),
    }
    counts = {name: fused(graph).operations for name, graph in graphs.items()}
    return {name: count.total() - count["neg"] for name, count in counts.items()}


@FEW
@given(machines())
def test_new_frames_change_no_force_and_no_acceleration(machine):
    model, system, q, v, vd = machine
    assume(system.nv)
    tree = reframed(make_tree(model))
    q, v, vd = as_vec(q), as_vec(v), as_vec(vd)
    condition = np.linalg.cond(system.mass_matrix(q))
    tau = inverse.inverse_dynamics(tree, q, v, vd)
    assert_close(np.array(tau), system.inverse_dynamics(q, v, vd), scale=100)
    assert_close(np.array(inertia.mass_matrix(tree, q)), system.mass_matrix(q), scale=10)
    assert_close(np.array(forward.forward_dynamics(tree, q, v, tau)), np.array(vd), condition=condition, scale=10)
    assert_close(np.array(covariant.christoffel(tree, q)), system.christoffel(q), scale=10)


@FEW
@given(machines())
def test_new_frames_hold_the_same_bodies(machine):
    """Each frame took its body along: energies, and where quaternions say the frames are, agree."""
    model, system, q, v, _ = machine
    tree = reframed(make_tree(model))
    q, v = as_vec(q), as_vec(v)
    found, expected = energy(tree, q, v), system.energy(q, v)
    assert_close(found.kinetic, expected.kinetic, scale=100)
    assert_close(found.potential, expected.potential, scale=100)
    for frame, p in zip(kinematics.frames(tree, q), kinematics.orientations(tree, q), strict=True):
        assert_close(np.array(ph.quaternion.rotation_matrix_homogeneous(np.array(p))), np.array(frame.R), scale=10)


@FEW
@given(machines(kinds=ONE_AXIS))
def test_every_axis_becomes_a_coordinate_axis(machine):
    tree = regrouped(make_tree(machine[0]))
    assert all(e.axis in COORDINATES for e in tree.elements)


@pytest.mark.filterwarnings("ignore::polhode.PolhodeWarning")  # a body without mass
@pytest.mark.parametrize("name", [*names(), "chain-7", "pendulum-10"])
def test_new_frames_cost_no_operations(name):
    """Frames are chosen for the recursions; the mass matrix and the symbols may lose a little by it."""
    tree = reframe._inward(reframe._welded(make_tree(bench_machine(name))))
    before, after = operations(tree), operations(reframe._inward(reframed(tree)))
    print(name, before, after)
    assert all(after[quantity] <= before[quantity] for quantity in ("inverse", "forward"))
    assert all(after[quantity] <= (1 + SLACK) * before[quantity] for quantity in ("mass", "christoffel"))


def test_turned_axes_save_operations():
    """A chain with axes and placements that are nowhere along a coordinate."""
    tree = make_tree(random_model(["revolute"] * 6, 1, chain=True))
    before, after = operations(tree), operations(regrouped(tree))
    assert all(after[quantity] < 0.8 * before[quantity] for quantity in before)


def test_nothing_that_rounding_left_survives():
    """A wrist of three axes that meet, in quarter turns given as rounded numbers."""
    half, quarter = np.sqrt(0.5), (np.pi / 2) / 2
    turns = [(half, half, 0, 0), (np.cos(quarter), 0, -np.sin(quarter), 0), (half, 0, 0, half)] * 2
    axes = [(0.6, 0, 0.8), (0, 0, 1)] * 3
    joints = [
        ph.Joint(f"j{k}", "revolute", parent, f"b{k}", axis=axis, position=(0.1 * k, 0, 0.3), orientation=turn)
        for k, (turn, parent, axis) in enumerate(zip(turns, ["world", *(f"b{k}" for k in range(5))], axes, strict=True))
    ]
    bodies = [ph.Body(f"b{k}", 1.0, (0.1, 0.2, 0.25), (0.05, 0, 0.1)) for k in range(len(joints))]
    tree = regrouped(make_tree(ph.Model("wrist", bodies=bodies, joints=joints)))
    assert not [x for x in constants(tree) if 0 < abs(x) < 1e-12]


@pytest.mark.parametrize("path", ["joints.j1.position", "joints.j1.orientation", "joints.j2.axis", "bodies.b1.mass"])
def test_frames_at_symbols_stay_and_all_else_is_as_it_was(path):
    model = random_model(["revolute", "revolute", "prismatic", "screw", "revolute"], 4, chain=True)
    plain, system = (ph.compile(model, target, parameters=[path]) for target in ("python", "cpu"))
    rng = np.random.default_rng(0)
    q, v, vd = random_q(model, rng, (3,)), rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    assert_close(system.inverse_dynamics(q, v, vd), plain.inverse_dynamics(q, v, vd), scale=100)
    condition = np.linalg.cond(plain.mass_matrix(q)).max()
    assert_close(system.forward_dynamics(q, v, vd), plain.forward_dynamics(q, v, vd), condition=condition, scale=10)
    assert_close(system.mass_matrix(q), plain.mass_matrix(q), scale=10)
