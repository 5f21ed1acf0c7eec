"""Which mass matrices are refused: those in which something resists nothing, however large the rest is."""

import numpy as np
import pytest

import polhode as ph
from polhode.linalg import blas_threads

pytestmark = pytest.mark.filterwarnings("ignore::polhode.PolhodeWarning")


def beside(inertia, moments, center=(0.0, 0.0, 0.0), mass=1.0, **more):
    """A wheel on a shaft, and beside it a body on a hinge."""
    bodies = [ph.Body("wheel", 1.0, (inertia,) * 3), ph.Body("leaf", mass, moments, center, **more)]
    joints = [ph.Joint(body.name, "revolute", "world", body.name) for body in bodies]
    return ph.Model("beside", bodies=bodies, joints=joints)


@pytest.mark.parametrize("large", [1.0, 1e6, 1e12])
def test_a_small_inertia_beside_a_large_one_is_accepted(large):
    model = beside(large, (1e-9, 1e-9, 1e-9), mass=0.0, physical=False)
    found = ph.compile(model).forward_dynamics([0.0, 0.0], [0.0, 0.0], [large, 1e-9])
    np.testing.assert_allclose(found, [1.0, 1.0], rtol=1e-14)


@pytest.mark.parametrize("large", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("center", [(0.0, 0.0, 0.0), (0.0, 0.0, 0.3)])
def test_a_point_on_its_axis_resists_nothing(large, center):
    model = beside(large, (0.0, 0.0, 0.0), center)
    with pytest.raises(ph.ModelError, match="joint 'leaf': the mass matrix is singular"):
        ph.compile(model).forward_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 1.0])


def test_a_point_on_an_axis_that_is_reached_by_turns_resists_nothing():
    """Its moment is what rounding leaves of numbers that cancel."""
    turn = np.array([0.3, 0.4, -0.5, 0.7]) / np.linalg.norm([0.3, 0.4, -0.5, 0.7])
    R = ph.quaternion.rotation_matrix(turn)
    bodies = [ph.Body("wheel", 1e3, (1e3,) * 3), ph.Body("arm", 0.0, (0.0,) * 3, physical=False)]
    bodies.append(ph.Body("leaf", 1.0, (0.0,) * 3, (0.1, 0.2, 0.3)))
    axis = np.array([0.2, -0.3, 0.6])
    at = 1.7 * axis - R @ [0.1, 0.2, 0.3]
    joints = [
        ph.Joint("wheel", "revolute", "world", "wheel"),
        ph.Joint("hinge", "revolute", "wheel", "arm", axis=tuple(axis)),
        ph.Joint("end", "fixed", "arm", "leaf", position=tuple(at), orientation=tuple(turn)),
    ]
    model = ph.Model("turned", bodies=bodies, joints=joints)
    with pytest.raises(ph.ModelError, match="joint 'hinge': the mass matrix is singular"):
        ph.compile(model).forward_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 1.0])


def test_one_thread_of_blas_works_on_it(monkeypatch):
    """Several wait for each other where the processor has other work: 50 velocities took 70 ms in place of 0.3."""
    seen, eigh = [], np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda M: seen.append(blas_threads._inside[0]) or eigh(M))
    model = beside(1.0, (1e-3,) * 3, mass=0.0, physical=False)
    ph.compile(model).forward_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 1.0])
    assert seen
    assert all(seen)
