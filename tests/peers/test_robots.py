"""Pinocchio agrees on the dynamics of public robots, each read from its own URDF by both."""

import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import polhode as ph

ROBOTS = Path(pin.__file__).resolve().parents[4] / "share" / "example-robot-data" / "robots"
FILES = sorted(ROBOTS.rglob("*.urdf"))
BROKEN = {"ur3": "no links", "falcon": "Z_propeller"}
"""Files that nobody can read, and what is wrong with them."""
RELATIVE = 1e-10


class Read:
    """A URDF as Pinocchio reads it, its coordinates and velocities matched to ours by joint names."""

    def __init__(self, path, ours, free):
        args = (str(path), pin.JointModelFreeFlyer()) if free else (str(path),)
        self.model = pin.buildModelFromUrdf(*args)
        self.model.armature[:] = 0
        self.model.damping[:] = 0
        self.data = self.model.createData()
        self.free = free
        q_at = np.cumsum([0, *(j.nq for j in ours.joints)])
        v_at = np.cumsum([0, *(j.nv for j in ours.joints)])
        at = {j.name: (q_at[k], v_at[k]) for k, j in enumerate(ours.joints)}
        self.joints = []
        for index in range(1, self.model.njoints):
            joint, name = self.model.joints[index], self.model.names[index]
            self.joints.append((joint, *at.get(name, (0, 0))))
        self.nv = ours.nv

    def q(self, q):
        found = pin.neutral(self.model)
        for joint, at, _ in self.joints:
            if joint.nq == 7:
                found[joint.idx_q : joint.idx_q + 7] = [*q[at : at + 3], *q[at + 4 : at + 7], q[at + 3]]
            elif joint.nq == 2:  # a continuous joint: cosine and sine
                found[joint.idx_q : joint.idx_q + 2] = np.cos(q[at]), np.sin(q[at])
            else:
                found[joint.idx_q : joint.idx_q + joint.nq] = q[at : at + joint.nq]
        return found

    def T(self, q):
        T = np.zeros((self.model.nv, self.nv))
        for joint, q_at, v_at in self.joints:
            T[joint.idx_v : joint.idx_v + joint.nv, v_at : v_at + joint.nv] = np.eye(joint.nv)
            if joint.nq == 7:
                A = ph.quaternion.rotation_matrix(q[q_at + 3 : q_at + 7])
                T[joint.idx_v : joint.idx_v + 3, v_at : v_at + 3] = A.T
        return T

    def T_rate(self, q, v):
        T = self.T(q)
        rate = np.zeros_like(T)
        for joint, _, v_at in self.joints:
            if joint.nq == 7:
                i = joint.idx_v
                rate[i : i + 3] = -ph.quaternion.skew(v[v_at + 3 : v_at + 6]) @ T[i : i + 3]
        return rate


def close(found, expected, condition=1.0):
    size = max(1.0, float(np.max(abs(expected), initial=0.0)))
    worst = np.max(abs(found - expected), initial=0.0)
    assert worst <= RELATIVE * max(1.0, condition) * size, f"{worst / size:.3g}"


def compare(path, free):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        model = ph.load(path, base="free" if free else "fixed", mimic="free")
    if free:  # Pinocchio's base is named root_joint, ours as it is told
        assert model.joints[0].type == "free"
    system, peer = ph.compile(model, target="python"), Read(path, model, free)
    assert model.nv == peer.model.nv
    rng = np.random.default_rng(len(path.name))
    q = 0.7 * rng.normal(size=model.nq)
    if free:
        q[3:7] /= np.linalg.norm(q[3:7])
    v, w = rng.normal(size=model.nv), rng.normal(size=model.nv)
    damping = np.concatenate([np.zeros(0), *(np.broadcast_to(j.damping, j.nv) for j in model.joints)])
    T, Tdot, pq = peer.T(q), peer.T_rate(q, v), peer.q(q)
    M = pin.crba(peer.model, peer.data, pq)
    M = np.triu(M) + np.triu(M, 1).T
    close(system.mass_matrix(q), T.T @ M @ T)
    tau = T.T @ pin.rnea(peer.model, peer.data, pq, T @ v, T @ w + Tdot @ v)
    close(system.inverse_dynamics(q, v, w) - damping * v, tau)
    C = pin.computeCoriolisMatrix(peer.model, peer.data, pq, T @ v).copy()
    close(system.coriolis(q, v), T.T @ C @ T + T.T @ M @ Tdot)
    moments = np.linalg.eigvalsh(T.T @ M @ T)
    if model.nv and moments[0] > 1e-9 * moments[-1]:
        found = pin.aba(peer.model, peer.data, pq, T @ v, np.linalg.solve(T.T, w))
        expected = np.linalg.solve(T, found - Tdot @ v)
        close(system.forward_dynamics(q, v, w + damping * v), expected, moments[-1] / moments[0])
    pin.framesForwardKinematics(peer.model, peer.data, pq)
    at = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for body in model.bodies[:: max(1, len(model.bodies) // 6)]:
        if not peer.model.existFrame(body.name):
            continue
        frame = peer.model.getFrameId(body.name, pin.FrameType.BODY)
        place = peer.data.oMf[frame]
        pose = system.pose(q, body.name)
        close(pose.position, place.translation)
        close(ph.quaternion.rotation_matrix(pose.quaternion), place.rotation)
        J = np.reshape(pin.computeFrameJacobian(peer.model, peer.data, pq, frame, at), (6, -1))
        close(system.jacobian(q, body.name), J @ T)
    return system, peer, q


def symbols(system, peer, q):
    """Γ from Pinocchio's n Coriolis matrices."""
    pq = peer.q(q)
    M = pin.crba(peer.model, peer.data, pq)
    M = np.triu(M) + np.triu(M, 1).T
    T = peer.T(q)
    planes = []
    for e in np.eye(peer.nv):
        C = pin.computeCoriolisMatrix(peer.model, peer.data, pq, T @ e).copy()
        planes.append((T.T @ C @ T + T.T @ M @ peer.T_rate(q, e)).T)
    close(system.christoffel(q), np.array(planes))


def bases(files):
    """Each file with a fixed base, and with a free one unless its root link is the world itself."""
    pairs = [(path, free) for path in files for free in (False, True)]
    return [(path, free) for path, free in pairs if not (free and '<link name="world"' in path.read_text())]


def named(pairs):
    return [f"{path.stem}-{'free' if free else 'fixed'}" for path, free in pairs]


EVERY = bases(FILES)


@pytest.mark.parametrize(("path", "free"), EVERY, ids=named(EVERY))
def test_every_public_robot_agrees(path, free):
    if path.stem in BROKEN:
        with pytest.raises(ph.ModelError, match=BROKEN[path.stem]):
            ph.load(path)
    else:
        symbols(*compare(path, free))


def test_there_are_enough_robots():
    assert len([path for path in FILES if path.stem not in BROKEN]) >= 60
