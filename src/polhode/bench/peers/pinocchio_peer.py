"""A machine of ours in Pinocchio, and its results in our coordinates.

Pinocchio writes quaternions (x, y, z, w) and gives a free joint's linear velocity in child axes:
v̂ = T v with T = blockdiag(Aᵀ, I) there, orthogonal; T also holds the order of the joints.
"""

import os
from typing import Any

import numpy as np
import pinocchio as pin  # type: ignore[import-untyped,unused-ignore]

from polhode.bench.peers.registry import Arrays, TooLargeError
from polhode.bench.robots import ROBOTS, file_of
from polhode.bench.timing import Contestant
from polhode.errors import InputError, message
from polhode.model import JOINTS, WORLD, Joint, Model
from polhode.model.topology import parent_first
from polhode.quaternion import rotation_matrix

CALLS = {
    "inverse": ("rnea", "pin.rnea(model, data, q, v, x)"),
    "forward": ("aba", "pin.aba(model, data, q, v, x)"),
    "mass": ("crba", "pin.crba(model, data, q)"),
    "christoffel": ("n × computeCoriolisMatrix", "for e in units: pin.computeCoriolisMatrix(model, data, q, e)"),
    "derivatives": ("computeABADerivatives", "pin.computeABADerivatives(model, data, q, v, x)"),
    "jacobian": ("computeFrameJacobian", "pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)"),
    "com": ("jacobianCenterOfMass", "pin.jacobianCenterOfMass(model, data, q, False)"),
    "centroidal": ("computeCentroidalMap", "pin.computeCentroidalMap(model, data, q)"),
    "regressor": ("computeJointTorqueRegressor", "pin.computeJointTorqueRegressor(model, data, q, v, x)"),
}
OF_MOVING_MASSES = ("com", "centroidal")
"""Quantities in which Pinocchio leaves out what is fixed to the world."""
POOLED = {
    "inverse": ("rneaInParallel(1)", "pin.rneaInParallel(1, pool, q, v, x)"),
    "forward": ("abaInParallel(1)", "pin.abaInParallel(1, pool, q, v, x)"),
}
LOOPED_CHRISTOFFEL = """
for q, v, x in rows:
    for e in units:
        pin.computeCoriolisMatrix(model, data, q, e)
"""
LOOPED = 200
"""States of a batch that Pinocchio can only take one by one, from a loop in Python."""
LARGEST_POOL = 200
"""Velocities of the largest machine with batches of Pinocchio's own: they need its data twice."""
TENSORS = 8
"""Tensors of nv³ numbers in its data."""


class PinocchioPeer:
    """Pinocchio, with one machine of hinges, sliders and free bodies."""

    name = "Pinocchio"

    def __init__(self, model: Model, read: Any = None) -> None:
        """read: a model that Pinocchio has read from the same file; else it is told joint by joint."""
        _check_memory(model.nv)
        self.model = read or pin.Model()
        self.model.gravity.linear = np.array(model.gravity)
        self._q_map: list[int] = []
        self._v_map: list[int] = []
        self._free: list[tuple[int, int]] = []  # row of the velocity there, place of the quaternion here
        self._has_fixed = any(joint.type == "fixed" for joint in model.joints)
        if read:
            self._match_joints(model)
        else:
            self._add_joints(model)
        self.frame = self.model.getFrameId(model.bodies[-1].name)
        self.grounded = any(joint.type == "fixed" and joint.parent == WORLD for joint in model.joints)
        self.data, self.units = self.model.createData(), list(np.eye(self.model.nv))
        bodies = [body.name for body in model.bodies]
        order = [bodies.index(model.joint(name).child) for name in list(self.model.names)[1:]]
        self._parameters = (10 * np.argsort(order)[:, None] + np.arange(10)).ravel()  # of our bodies, in its regressor
        pooled = hasattr(pin, "ModelPool") and model.nv <= LARGEST_POOL
        self.pool = pin.ModelPool(self.model, 1) if pooled else None

    def _add_joints(self, model: Model) -> None:
        q_at, v_at = (np.cumsum([0, *(getattr(j, n) for j in model.joints)]) for n in ("nq", "nv"))
        frames = {WORLD: (0, pin.SE3.Identity())}
        armature: list[float] = []
        links = [(j.name, j.parent, j.child) for j in model.joints]
        for k in parent_first(model.name, [b.name for b in model.bodies], links):
            joint, body = model.joints[k], model.body(model.joints[k].child)
            index, before = frames[joint.parent]
            place = before * pin.SE3(rotation_matrix(joint.orientation), np.array(joint.position))
            inertia = pin.Inertia(body.mass, np.array(body.center), body.inertia_matrix())
            if joint.type != "fixed":
                index, place = self.model.addJoint(index, _kind(joint), place, joint.name), pin.SE3.Identity()
                self._map(joint, int(q_at[k]), int(v_at[k]))
                linear = JOINTS["free"].linear if joint.type == "free" else (False,)
                armature += [0.0 if x else joint.armature for x in linear]
            frames[joint.child] = (index, place)
            self.model.appendBodyToJoint(index, inertia, place)
            self.model.addFrame(pin.Frame(joint.child, index, place, pin.FrameType.BODY), False)
        self.model.armature = np.array(armature)

    def _match_joints(self, model: Model) -> None:
        """The places of the joints that Pinocchio has read, known by their names."""
        q_at, v_at = (np.cumsum([0, *(getattr(j, n) for j in model.joints)]) for n in ("nq", "nv"))
        places = {joint.name: (joint, int(q), int(v)) for joint, q, v in zip(model.joints, q_at, v_at, strict=False)}
        for name in list(self.model.names)[1:]:
            self._map(*places[name])
        self.model.armature, self.model.damping = np.zeros(self.model.nv), np.zeros(self.model.nv)

    def _map(self, joint: Joint, q: int, v: int) -> None:
        """The next joint there is this one here, whose first coordinate and velocity have these places."""
        if joint.type == "free":
            self._free.append((len(self._v_map), q + 3))
        self._q_map += range(q, q + joint.nq)
        self._v_map += range(v, v + joint.nv)

    def one(self, quantity: str, state: Arrays) -> Contestant | None:
        """One call at one state."""
        if self._leaves_out(quantity):
            return None
        call, text = CALLS[quantity]
        q, v, x = (rows[0] for rows in self._own(quantity, [np.atleast_2d(a) for a in state]))
        return Contestant(self.name, call, text, {**self._names(), "q": q, "v": v, "x": x})

    def _leaves_out(self, quantity: str) -> bool:
        """Whether Pinocchio means something else by a quantity: fixed bodies are one with what carries them."""
        return (quantity == "regressor" and self._has_fixed) or (quantity in OF_MOVING_MASSES and self.grounded)

    def batch(self, quantity: str, states: Arrays) -> Contestant | None:
        """Many states: by Pinocchio's own loop on one thread where it has one, else by one in Python."""
        if self._leaves_out(quantity):
            return None
        if quantity in POOLED and self.pool is not None:
            call, text = POOLED[quantity]
            q, v, x = (rows.T for rows in self._own(quantity, states))  # columns, as Pinocchio keeps them
            return Contestant(self.name, call, text, {**self._names(), "q": q, "v": v, "x": x}, len(states[0]))
        call, text = CALLS[quantity]
        few = [rows[:LOOPED] for rows in states]
        loop = f"for q, v, x in rows:\n    {text}" if quantity != "christoffel" else LOOPED_CHRISTOFFEL
        rows = list(zip(*map(list, self._own(quantity, few)), strict=True))
        return Contestant(self.name, f"{call}, in a loop", loop, {**self._names(), "rows": rows}, len(few[0]))

    def result(self, quantity: str, state: Arrays) -> list[np.ndarray]:
        """The results at one state, in our coordinates."""
        q, v, _ = state
        T, T_rate = self._T(q), self._T_rate(q, v)
        q_own, v_own, x_own = (rows[0] for rows in self._own(quantity, [np.atleast_2d(a) for a in state]))
        if quantity == "inverse":
            return [T.T @ pin.rnea(self.model, self.data, q_own, v_own, x_own)]
        if quantity == "forward":
            return [T.T @ (pin.aba(self.model, self.data, q_own, v_own, x_own) - T_rate @ v)]
        if quantity == "mass":
            return [T.T @ self._mass_matrix(q_own) @ T]
        if quantity == "christoffel":
            M = self._mass_matrix(q_own) - np.diag(self.model.armature)
            return [np.array([self._coriolis(q, q_own, M, e).T for e in np.eye(self.model.nv)])]
        if quantity == "jacobian":
            J = pin.computeFrameJacobian(self.model, self.data, q_own, self.frame, pin.LOCAL)
            return [np.reshape(J, (6, -1)) @ T]  # one column comes back flat
        if quantity == "com":
            return [np.reshape(pin.jacobianCenterOfMass(self.model, self.data, q_own, False), (3, -1)) @ T]
        if quantity == "centroidal":
            return [np.reshape(pin.computeCentroidalMap(self.model, self.data, q_own), (6, -1)) @ T]
        if quantity == "regressor":
            Y = T.T @ pin.computeJointTorqueRegressor(self.model, self.data, q_own, v_own, x_own)
            return [Y[:, self._parameters]]
        return self._derivatives(state, q_own, v_own, x_own)

    def _names(self) -> dict[str, Any]:
        return {
            "pin": pin,
            "model": self.model,
            "data": self.data,
            "pool": self.pool,
            "units": self.units,
            "frame": self.frame,
        }

    def _own(self, quantity: str, states: Arrays) -> list[np.ndarray]:
        """Rows of q, v and accelerations or forces as Pinocchio has them."""
        q, v, x = states
        q_own, v_own, x_own = q[:, self._q_map], v[:, self._v_map], x[:, self._v_map]
        for row, at in self._free:
            there = self._q_map.index(at)
            q_own[:, there : there + 4] = q[:, [at + 1, at + 2, at + 3, at]]
            A, omega = rotation_matrix(q[:, at : at + 4]), v_own[:, row + 3 : row + 6].copy()
            v_own[:, row : row + 3] = np.einsum("nji,nj->ni", A, v_own[:, row : row + 3])
            x_own[:, row : row + 3] = np.einsum("nji,nj->ni", A, x_own[:, row : row + 3])
            if quantity in ("inverse", "regressor"):
                x_own[:, row : row + 3] -= np.cross(omega, v_own[:, row : row + 3])
        return [np.ascontiguousarray(rows) for rows in (q_own, v_own, x_own)]

    def _T(self, q: np.ndarray) -> np.ndarray:
        """v̂ = T v."""
        T = np.eye(self.model.nv)[:, np.argsort(self._v_map)]
        for row, at in self._free:
            T[row : row + 3] = rotation_matrix(q[at : at + 4]).T @ T[row : row + 3]
        return T

    def _T_rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Ṫ along a velocity: −ω̃ Aᵀ in the linear blocks."""
        T, rate = self._T(q), np.zeros((self.model.nv, self.model.nv))
        for row, _ in self._free:
            rate[row : row + 3] = -np.cross((T @ v)[row + 3 : row + 6], T[row : row + 3], axisb=0, axisc=0)
        return rate

    def _mass_matrix(self, q_own: np.ndarray) -> np.ndarray:
        M = np.triu(pin.crba(self.model, self.data, q_own))
        return M + np.triu(M, 1).T

    def _coriolis(self, q: np.ndarray, q_own: np.ndarray, M: np.ndarray, v: np.ndarray) -> np.ndarray:
        T = self._T(q)
        C = pin.computeCoriolisMatrix(self.model, self.data, q_own, T @ v)
        return T.T @ (C @ T + M @ self._T_rate(q, v))

    def _derivatives(self, state: Arrays, q_own: np.ndarray, v_own: np.ndarray, x_own: np.ndarray) -> list[np.ndarray]:
        """∂v̇/∂q, ∂v̇/∂v, ∂v̇/∂τ from v̇ = Tᵀ(â(q, T v, T τ) − Ṫ v), with δT = Ṫ along δ."""
        q, v, tau = state
        found = pin.computeABADerivatives(self.model, self.data, q_own, v_own, x_own)
        D_q, D_v, D_tau = (np.array(block) for block in found)
        D_tau = np.triu(D_tau) + np.triu(D_tau, 1).T
        a_own = pin.aba(self.model, self.data, q_own, v_own, x_own)
        T, T_rate, units = self._T(q), self._T_rate(q, v), np.eye(self.model.nv)
        turns = [self._T_rate(q, e) for e in units]
        spin = T_rate @ T.T  # −ω̃ in the linear blocks
        dq = [
            dT.T @ (a_own - T_rate @ v) + T.T @ (D_q @ T @ e + D_v @ dT @ v + D_tau @ dT @ tau - spin @ dT @ v)
            for e, dT in zip(units, turns, strict=True)
        ]
        dv = [T.T @ (D_v @ T @ e - dT @ v - T_rate @ e) for e, dT in zip(units, turns, strict=True)]
        return [np.stack(dq, axis=-1), np.stack(dv, axis=-1), T.T @ D_tau @ T]


def from_its_file(model: Model) -> PinocchioPeer:
    """Pinocchio with a robot that it reads from the URDF file which ours was read from."""
    about, path = ROBOTS[model.name], str(file_of(model.name))
    read = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if about.free else pin.buildModelFromUrdf(path)
    if about.held:
        held = [read.getJointId(name) for name in about.held]
        read = pin.buildReducedModel(read, held, pin.neutral(read))
    return PinocchioPeer(model, read)


def _check_memory(nv: int) -> None:
    """Refuse a machine whose data would take more than half of the free memory."""
    needed = TENSORS * 8 * nv**3
    if hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if needed > free / 2:
            raise TooLargeError(f"its data would take {needed / 1e9:.1f} GB of memory")


def _kind(joint: Joint) -> Any:
    """Pinocchio's joint; those along a coordinate axis have kinds of their own there, which are faster."""
    if joint.type == "free":
        return pin.JointModelFreeFlyer()
    if joint.type not in ("revolute", "prismatic"):
        what = "no peer is made of such joints"
        raise InputError(
            message(f"bench, joint '{joint.name}'", what, joint.type, "revolute, prismatic, fixed or free")
        )
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    for letter, unit in zip("XYZ", np.eye(3), strict=True):
        if np.array_equal(axis, unit):
            return getattr(pin, f"JointModel{'R' if joint.type == 'revolute' else 'P'}{letter}")()
    return getattr(pin, f"JointModel{joint.type.capitalize()}Unaligned")(axis)
