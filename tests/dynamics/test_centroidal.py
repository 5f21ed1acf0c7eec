"""Mass centres, momenta and their maps beside Pinocchio's and MuJoCo's; derivatives beside complex steps; powers."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import polhode as ph
from complex_steps import along_q, along_v
from machines import random_model, random_q
from pinocchio_model import Peer
from polhode.bench.peers.mujoco_peer import MujocoPeer
from polhode.dynamics import centroidal
from polhode.model import make_tree
from polhode.scalar import Vec

TYPES = ["free", "universal", "revolute", "spherical", "screw", "cylindrical", "prismatic", "planar"]
RELATIVE = 1e-10


def close(found, expected, relative=RELATIVE):
    size = max(1.0, float(np.max(abs(expected), initial=0.0)))
    assert np.max(abs(found - expected), initial=0.0) <= relative * size


@pytest.fixture(scope="module", params=[0, 1])
def case(request):
    """A random tree, a state of it and Pinocchio's side."""
    rng = np.random.default_rng(request.param)
    model = random_model(list(rng.permutation(TYPES)), request.param, armature=False)
    state = random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    return ph.compile(model, target="python"), Peer(model), state


@pytest.mark.parametrize("body", [None, "b2"])
def test_mass_centre_and_momentum_are_pinocchios(case, body):
    """Of a subtree too: there all other bodies lose their mass in Pinocchio's model."""
    system, peer, (q, v, w) = case
    if body:
        peer = Peer(system.model)
        for name in {b.name for b in system.model.bodies} - {*system.model.subtree(body)}:
            peer.model.inertias[peer.model.frames[peer.frames[name]].parentJoint] = pin.Inertia.Zero()
        peer.data = peer.model.createData()
    model, data, T, T_rate = peer.model, peer.data, peer.T(q), peer.T_rate(q, v)
    q_own, v_own, a_own = peer.move(q, v, w)
    pin.centerOfMass(model, data, q_own, v_own, a_own)
    close(system.center_of_mass(q, body), data.com[0])
    close(system.center_of_mass_velocity(q, v, body), data.vcom[0])
    close(system.center_of_mass_acceleration(q, v, w, body), data.acom[0])
    close(system.center_of_mass_jacobian(q, body), pin.jacobianCenterOfMass(model, data, q_own) @ T)
    pin.ccrba(model, data, q_own, v_own)
    close(system.centroidal_map(q, body), data.Ag @ T)
    close(np.concatenate(system.centroidal_momentum(q, v, body)), data.hg.vector)
    found = system.composite_inertia(q, body)
    close(found.mass, data.Ig.mass)
    close(found.center, data.com[0])
    close(found.inertia, data.Ig.inertia)
    pin.dccrba(model, data, q_own, v_own)
    close(system.centroidal_map_rate(q, v, body), data.dAg @ T + data.Ag @ T_rate)
    pin.computeCentroidalMomentumTimeVariation(model, data, q_own, v_own, a_own)
    close(np.concatenate(system.centroidal_momentum_rate(q, v, w, body)), data.dhg.vector)
    mass = system.model.subtree_mass(body) if body else system.model.total_mass
    close(mass, pin.computeTotalMass(model))


def test_the_inertia_of_some_bodies_is_the_sum_of_pinocchios(case):
    system, peer, (q, v, w) = case
    pin.forwardKinematics(peer.model, peer.data, peer.move(q, v, w)[0])
    for names in (["b2"], ["b3", "b0"], [body.name for body in system.model.bodies]):
        joints = [peer.model.frames[peer.frames[name]].parentJoint for name in names]
        parts = [peer.data.oMi[j].act(peer.model.inertias[j]) for j in joints]
        expected = sum(parts[1:], start=parts[0])
        found = system.inertia_of_bodies(q, names)
        close(found.mass, expected.mass)
        close(found.center, expected.lever)
        close(found.inertia, expected.inertia)


def test_bodies_are_named_or_given_factors():
    model = random_model(["revolute", "prismatic", "revolute"], 6)
    system, oracle = ph.compile(model), ph.compile(model, target="python")
    q = random_q(model, np.random.default_rng(6), (4,))
    for bodies in (["b2", "b0"], {"b1"}, [0.5, 0, 2], np.eye(4, 3) + 1.0):
        for _ in range(2):
            for a, b in zip(system.inertia_of_bodies(q, bodies), oracle.inertia_of_bodies(q, bodies), strict=True):
                close(a, b)
    assert system.inertia_of_bodies(q[:0], ["b1"]).inertia.shape == (0, 3, 3)


@pytest.mark.parametrize(
    ("bodies", "match"),
    [
        ("b0", r"one name(?s:.*)as \['b0'\]"),
        ([], "no bodies"),
        (["b0", "b1", "b0"], r"named twice(?s:.*)'b0'"),
        (["b0", "b9"], "no such body"),
        (["b0", 3], "no such body"),
        ([1.0, 0.0], r"argument factors: wrong shape(?s:.*)\(2,\); expected \(..., 3\)"),
        (None, "argument factors"),
    ],
)
def test_bodies_that_are_none_are_refused_by_name(bodies, match):
    system = ph.compile(random_model(["revolute", "prismatic", "revolute"], 6), target="python")
    with pytest.raises(ph.PolhodeError, match=match):
        system.inertia_of_bodies(np.zeros(3), bodies)


def test_angular_momentum_is_about_the_point_that_is_named(case):
    system, _, (q, v, _) = case
    at_origin, point = system.momentum(q, v), np.array([0.3, -1.0, 2.0])
    found = system.momentum_about(q, v, point)
    close(found.linear, at_origin.linear)
    close(found.angular, at_origin.angular - np.cross(point, at_origin.linear))
    found = system.momentum_about(q, v, system.center_of_mass(q))
    close(found.angular, system.centroidal_momentum(q, v).angular)
    parts = [system.momentum(q, v, joint.child) for joint in system.model.joints if joint.parent == "world"]
    close(sum(part.angular for part in parts), at_origin.angular)


@pytest.mark.parametrize("body", [None, "b2"])
def test_derivatives_are_those_of_complex_steps(case, body):
    system, _, (q, v, w) = case
    tree = centroidal.subtree(make_tree(system.model), body or "")

    def h(q):
        return np.concatenate(centroidal.centroidal_momentum(tree, Vec(q), Vec(v)))

    def hdot(q, v):
        return np.concatenate(centroidal.centroidal_momentum_rate(tree, Vec(q), Vec(v), Vec(w)))

    found = system.centroidal_derivatives(q, v, w, body)
    close(found.h_dq, along_q(tree, h, q))
    close(found.hdot_dq, along_q(tree, lambda q: hdot(q, v), q))
    close(found.hdot_dv, along_v(lambda v: hdot(q, v), v))
    close(found.hdot_dvd, system.centroidal_map(q, body))
    of_center = system.center_of_mass_velocity_derivatives(q, v, body)
    mass = system.composite_inertia(q, body).mass
    close(of_center.dq, found.h_dq[:3] / mass)
    close(of_center.dv, system.center_of_mass_jacobian(q, body))


def test_subtrees_are_mujocos():
    model = random_model(["prismatic", "revolute", "prismatic", "revolute", "revolute"], 4)
    system, peer, rng = ph.compile(model, target="python"), MujocoPeer(model), np.random.default_rng(4)
    q, v = random_q(model, rng), rng.normal(size=model.nv)
    peer.put(q, v)
    mujoco.mj_forward(peer.model, peer.data)
    mujoco.mj_subtreeVel(peer.model, peer.data)
    for body in model.bodies:
        k, J = peer.model.body(body.name).id, np.zeros((3, model.nv))
        mujoco.mj_jacSubtreeCom(peer.model, peer.data, J, k)
        close(system.center_of_mass(q, body.name), peer.data.subtree_com[k])
        close(system.center_of_mass_velocity(q, v, body.name), peer.data.subtree_linvel[k])
        close(system.centroidal_momentum(q, v, body.name).angular, peer.data.subtree_angmom[k])
        close(system.center_of_mass_jacobian(q, body.name), J[:, peer._v_map])
        mujoco.mj_angmomMat(peer.model, peer.data, J, k)
        close(system.centroidal_map(q, body.name)[3:], J[:, peer._v_map])
        close(model.subtree_mass(body.name), peer.model.body_subtreemass[k])


def test_compiled_kernels_are_the_oracles():
    model = random_model(["free", "revolute", "universal"], 5)
    oracle, system, rng = ph.compile(model, target="python"), ph.compile(model), np.random.default_rng(3)
    q, v, w = random_q(model, rng, (3,)), rng.normal(size=(3, model.nv)), rng.normal(size=(3, model.nv))
    calls = {"center_of_mass": (q,), "centroidal_map": (q,), "centroidal_momentum_rate": (q, v, w)}
    for name, values in calls.items():
        for body in (None, "b1", None) if name == "center_of_mass" else (None,):
            found, expected = (getattr(s, name)(*values, body=body) for s in (system, oracle))
            for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
                close(a, b)


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar"])
def test_the_kinetic_energy_grows_by_the_sum_of_the_powers(name):
    model = ph.load(name)
    system = ph.compile(model, target="python")
    start = ph.consistent_start(model, v=[0.4] * model.nv) if model.constraints else None
    q, v = (start.q, start.v) if start else (np.array([0.3, -0.5]), np.array([1.0, 0.4]))
    tau, wrench = np.linspace(-1, 1, model.nv), {model.bodies[-1].name: ((1.0, 2.0, 3.0), (0.1, 0.2, 0.3))}
    found = system.powers(q, v, tau, wrench=wrench)
    vd = system.forward_dynamics(q, v, tau, wrench=wrench)
    h = 1e-5
    ends = [system.energy(system.integrate(q, s * h * v + h * h / 2 * vd), v + s * h * vd).kinetic for s in (1, -1)]
    close(sum(found), (ends[0] - ends[1]) / (2 * h), relative=1e-7)
    close(found.actuated, tau @ v)
    assert found.dissipated <= 0


def test_what_has_no_mass_has_no_mass_centre():
    with pytest.warns(ph.PolhodeWarning, match="found 0 kg"):
        tip = ph.Body("tip", 0.0, (0.0, 0.0, 0.0), physical=False)
    joints = [ph.Joint("hip", "revolute", "world", "arm"), ph.Joint("hold", "fixed", "arm", "tip")]
    system = ph.compile(
        ph.Model("arm", bodies=[ph.Body("arm", 1.0, (0.1, 0.1, 0.1)), tip], joints=joints), target="python"
    )
    with pytest.raises(ph.ModelError, match=r"center_of_mass, 'tip' and what it carries: no mass"):
        system.center_of_mass([0.0], "tip")
    with pytest.raises(ph.ModelError, match="no such body"):
        system.center_of_mass([0.0], "hand")
    assert system.center_of_mass([0.0], "arm").shape == (3,)
    assert system.center_of_mass(np.zeros((0, 1))).shape == (0, 3)
