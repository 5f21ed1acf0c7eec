"""Points of bodies: velocities, accelerations, Jacobians beside Pinocchio's; derivatives beside complex steps."""

import numpy as np
import pinocchio as pin
import pytest

import polhode as ph
from complex_steps import along_q, along_v
from machines import random_model, random_q
from pinocchio_model import Peer
from polhode.dynamics import body_points
from polhode.model import make_tree
from polhode.scalar import Vec

AXES = {
    "world-aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    "local": pin.ReferenceFrame.LOCAL,
    "world": pin.ReferenceFrame.WORLD,
}
TYPES = ["free", "universal", "revolute", "spherical", "screw", "cylindrical", "prismatic", "planar"]
RELATIVE = 1e-10
POINT = (0.3, -0.2, 0.5)


def close(found, expected):
    size = max(1.0, float(np.max(abs(expected), initial=0.0)))
    assert np.max(abs(found - expected), initial=0.0) <= RELATIVE * size


@pytest.fixture(scope="module", params=[0, 1, 2])
def case(request):
    """A random tree, a state of it and a body, and Pinocchio there, with a frame at POINT of the body."""
    rng = np.random.default_rng(request.param)
    model = random_model(list(rng.permutation(TYPES)), request.param, armature=False)
    peer, body = Peer(model), model.bodies[-1].name
    frame = peer.frame_at(body, POINT)
    q, v, w = random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    return ph.compile(model, target="python"), peer, body, frame, (q, v, w)


@pytest.mark.parametrize("axes", AXES)
def test_velocities_accelerations_and_jacobians_are_pinocchios(case, axes):
    system, peer, body, frame, (q, v, w) = case
    place, at = (body, POINT, axes), (peer.model, peer.data, frame, AXES[axes])
    own = peer.move(q, v, w)
    close(np.concatenate(system.velocity(q, v, *place)), pin.getFrameVelocity(*at).vector)
    close(np.concatenate(system.acceleration(q, v, w, *place, "spatial")), pin.getFrameAcceleration(*at).vector)
    close(np.concatenate(system.acceleration(q, v, w, *place)), pin.getFrameClassicalAcceleration(*at).vector)
    T, T_rate = peer.T(q), peer.T_rate(q, v)
    pin.computeJointJacobiansTimeVariation(peer.model, peer.data, *own[:2])
    pin.updateFramePlacements(peer.model, peer.data)
    J, J_rate = pin.getFrameJacobian(*at), pin.getFrameJacobianTimeVariation(*at)
    close(system.jacobian(q, *place), J @ T)
    close(system.jacobian_rate(q, v, *place), J_rate @ T + J @ T_rate)
    load = np.arange(6.0) - 2
    close(system.generalized_force(q, load, *place), (J @ T).T @ load)


@pytest.mark.parametrize("axes", AXES)
def test_derivatives_are_those_of_complex_steps(case, axes):
    system, _, body, _, (q, v, w) = case
    tree, place = make_tree(system.model), (body, POINT, axes)
    p = body_points.body_point(tree, body, Vec(POINT))

    def flat(twist):
        return np.array([*twist.linear, *twist.angular])

    def J(q):
        return np.array(body_points.jacobian(tree, Vec(q), p, axes))

    def V(q, v):
        return flat(body_points.velocity(tree, Vec(q), Vec(v), p, axes))

    close(system.kinematic_hessian(q, *place), along_q(tree, J, q))
    found = system.velocity_derivatives(q, v, *place)
    close(found.dq, along_q(tree, lambda q: V(q, v), q))
    close(found.dv, system.jacobian(q, *place))
    for kind in ("classical", "spatial"):

        def A(q, v, kind=kind):
            return flat(body_points.acceleration(tree, Vec(q), Vec(v), Vec(w), p, axes, kind))

        found = system.acceleration_derivatives(q, v, w, *place, kind)
        close(found.dq, along_q(tree, lambda q, A=A: A(q, v), q))
        close(found.dv, along_v(lambda v, A=A: A(q, v), v))
        close(found.dvd, system.jacobian(q, *place))


def test_rates_of_the_velocity_are_accelerations(case):
    """a = J v̇ + J̇ v at a point that moves along, in axes at rest."""
    system, _, body, _, (q, v, w) = case
    J, J_rate = system.jacobian(q, body, POINT), system.jacobian_rate(q, v, body, POINT)
    close(np.concatenate(system.acceleration(q, v, w, body, POINT)), J @ w + J_rate @ v)


def test_compiled_kernels_of_every_choice_are_the_oracles():
    model = random_model(["free", "revolute", "universal"], 5)
    oracle, system, rng = ph.compile(model, target="python"), ph.compile(model), np.random.default_rng(3)
    q, v, load = random_q(model, rng, (3,)), rng.normal(size=(3, model.nv)), rng.normal(size=6)
    for axes in AXES:
        calls = {
            "jacobian": (q,), "velocity": (q, v), "generalized_force": (q, load),
            "acceleration": (q, v, v), "velocity_derivatives": (q, v),
        }  # fmt: skip
        for name, values in calls.items():
            found, again, expected = (getattr(s, name)(*values, "b2", axes=axes) for s in (system, system, oracle))
            for a, b, c in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, again, expected)), strict=True):
                close(a, c)
                assert np.array_equal(a, b)


def test_wrong_words_are_told():
    system = ph.compile(ph.load("double-pendulum"), target="python")
    body = system.model.bodies[0].name
    with pytest.raises(
        ph.InputError,
        match=r"jacobian, axes: no such axes\.\s+found 'body'; expected 'world-aligned' or 'local' or 'world'",
    ):
        system.jacobian([0.0, 0.0], body, axes="body")
    with pytest.raises(ph.InputError, match=r"acceleration, kind: no such kind\.\s+found 3"):
        system.acceleration([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], body, kind=3)
    with pytest.raises(ph.ModelError, match="no such body"):
        system.jacobian([0.0, 0.0], ["arm"])
    with pytest.raises(ph.InputError, match="which body"):
        ph.compile(system.model).source("jacobian")
    with pytest.raises(ph.InputError, match="too many words"):
        ph.compile(system.model).source("mass_matrix", body)
    assert "jacobian" in ph.compile(system.model).source("jacobian", body, "local")


def test_a_bound_call_is_the_call():
    system = ph.compile(ph.load("double-pendulum"))
    body, q, point = system.model.bodies[-1].name, np.array([0.3, 0.4]), np.array([0.1, 0.0, 0.2])
    for of in ((body,), (body, "local")):
        jacobian = system.bound("jacobian", *of)
        assert np.array_equal(jacobian(q, point), system.jacobian(q, body, point, *of[1:]))
        out = np.empty((6, 2))
        assert jacobian(q, point, out=out) is out
        assert jacobian(np.tile(q, (9, 1)), point).shape == (9, 6, 2)
    assert np.array_equal(system.bound("mass_matrix")(q), system.mass_matrix(q))
    plain = ph.compile(system.model, target="python")
    assert np.allclose(plain.bound("jacobian", body)(q, point), system.jacobian(q, body, point))
    with pytest.raises(ph.UnknownNameError, match="no such quantity"):
        system.bound("jacobean", body)
    with pytest.raises(ph.InputError, match="no such axes"):
        system.bound("jacobian", body, "mine")
