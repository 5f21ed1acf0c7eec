"""A machine of ours in Drake, and its results in our coordinates.

Drake keeps results with its context: a call of ours is a new state and then the quantity, for nothing would be computed
again at the same state. A free joint there has its quaternion first and turns by ω in world axes before it travels:
v̂ = T v with T = blockdiag(A, I) and the order of the joints, orthogonal, and Ṫ v = 0, for ω × ω = 0.
"""

from importlib import import_module
from typing import Any

import numpy as np

from polhode.bench.peers.registry import Arrays
from polhode.bench.timing import Contestant
from polhode.errors import InputError, message
from polhode.model import WORLD, Joint, Model
from polhode.model.topology import parent_first
from polhode.quaternion import rotation_matrix

MATH, PLANT, TREE = (import_module(f"pydrake.{part}") for part in ("math", "multibody.plant", "multibody.tree"))
"""Drake's modules; its stubs do not fit NumPy's."""

SET = "plant.SetPositionsAndVelocities(context, state)"
CALLS = {
    "inverse": (
        "CalcInverseDynamics",
        f"{SET}; plant.CalcForceElementsContribution(context, forces); plant.CalcInverseDynamics(context, x, forces)",
    ),
    "forward": ("CalcTimeDerivatives", f"{SET}; plant.CalcTimeDerivatives(context, rates)"),
    "mass": ("CalcMassMatrix", f"{SET}; plant.CalcMassMatrix(context)"),
}
"""Gravity is a force element; the applied forces of forward dynamics were set before."""


class DrakePeer:
    """Drake's MultibodyPlant, with one machine of hinges, sliders and free bodies."""

    name = "Drake"

    def __init__(self, model: Model) -> None:
        self.plant = PLANT.MultibodyPlant(0.0)
        self.plant.mutable_gravity_field().set_gravity_vector(np.array(model.gravity))
        self._add_bodies(model)
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.forces, self.rates = TREE.MultibodyForces(self.plant), self.plant.AllocateTimeDerivatives()
        self._q_map = np.zeros(model.nq, dtype=int)  # Drake's at k is ours at map[k]
        self._v_map = np.zeros(model.nv, dtype=int)
        self._free: list[tuple[int, int]] = []  # place of ω there, of the quaternion here
        self._map_joints(model)

    def _add_bodies(self, model: Model) -> None:
        plant, frames = self.plant, {WORLD: self.plant.world_frame()}
        links = [(j.name, j.parent, j.child) for j in model.joints]
        for k in parent_first(model.name, [b.name for b in model.bodies], links):
            joint, body = model.joints[k], model.body(model.joints[k].child)
            J = body.inertia_matrix()
            moments = TREE.RotationalInertia(J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
            inertia = TREE.SpatialInertia.MakeFromCentralInertia(body.mass, np.array(body.center), moments)
            frames[joint.child] = plant.AddRigidBody(body.name, inertia).body_frame()
            place = MATH.RigidTransform(
                MATH.RotationMatrix(rotation_matrix(joint.orientation)), np.array(joint.position)
            )
            before = plant.AddFrame(TREE.FixedOffsetFrame(f"before {joint.name}", frames[joint.parent], place))
            there = plant.AddJoint(_kind(joint, before, frames[joint.child]))
            if joint.nv == 1 and joint.armature:  # Drake's reflected inertia of a motor
                motor = plant.AddJointActuator(f"motor of {joint.name}", there)
                motor.set_default_rotor_inertia(joint.armature)
                motor.set_default_gear_ratio(1.0)

    def _map_joints(self, model: Model) -> None:
        q_at = v_at = 0
        for joint in model.joints:
            there = self.plant.GetJointByName(joint.name)
            q, v = np.arange(q_at, q_at + joint.nq), np.arange(v_at, v_at + joint.nv)
            if joint.type == "free":
                q, v = np.roll(q, 4), np.roll(v, 3)
                self._free.append((there.velocity_start(), q_at + 3))
            self._q_map[there.position_start() : there.position_start() + joint.nq] = q
            self._v_map[there.velocity_start() : there.velocity_start() + joint.nv] = v
            q_at, v_at = q_at + joint.nq, v_at + joint.nv

    def one(self, quantity: str, state: Arrays) -> Contestant | None:
        """One call at one state; dynamics only."""
        if quantity not in CALLS:
            return None
        own, x = self._set(quantity, state)
        call, text = CALLS[quantity]
        names = {"plant": self.plant, "context": self.context, "forces": self.forces, "rates": self.rates}
        return Contestant(self.name, call, text, {**names, "state": own, "x": x})

    def batch(self, quantity: str, states: Arrays) -> Contestant | None:
        """Drake has no batch of states."""
        return None

    def result(self, quantity: str, state: Arrays) -> list[np.ndarray]:
        """The result at one state, in our coordinates."""
        _, x = self._set(quantity, state)
        plant, context, T = self.plant, self.context, self._T(state[0])
        if quantity == "mass":
            return [T.T @ plant.CalcMassMatrix(context) @ T]
        if quantity == "forward":
            plant.CalcTimeDerivatives(context, self.rates)
            return [T.T @ self.rates.CopyToVector()[plant.num_positions() :]]
        plant.CalcForceElementsContribution(context, self.forces)
        return [T.T @ plant.CalcInverseDynamics(context, x, self.forces)]

    def _set(self, quantity: str, state: Arrays) -> tuple[np.ndarray, np.ndarray]:
        """Put a state into the context. -> q and v together, and x, as Drake has them"""
        q, v, x = state
        T = self._T(q)
        own, x_own = np.concatenate([q[self._q_map], T @ v]), T @ x
        self.plant.SetPositionsAndVelocities(self.context, own)
        applied = x_own if quantity == "forward" else np.zeros_like(x_own)
        self.plant.get_applied_generalized_force_input_port().FixValue(self.context, applied)
        return own, x_own

    def _T(self, q: np.ndarray) -> np.ndarray:
        """v̂ = T v."""
        T = np.eye(len(self._v_map))[self._v_map]
        for row, at in self._free:
            T[row : row + 3] = rotation_matrix(q[at : at + 4]) @ T[row : row + 3]
        return T


def _kind(joint: Joint, before: Any, child: Any) -> Any:
    """Drake's joint."""
    if joint.type == "free":
        return TREE.QuaternionFloatingJoint(joint.name, before, child)
    if joint.type == "fixed":
        return TREE.WeldJoint(joint.name, before, child, MATH.RigidTransform.Identity())
    if joint.type not in ("revolute", "prismatic"):
        what = "no peer is made of such joints"
        where = f"bench, joint '{joint.name}'"
        raise InputError(message(where, what, joint.type, "revolute, prismatic, fixed or free"))
    kind = TREE.RevoluteJoint if joint.type == "revolute" else TREE.PrismaticJoint
    return kind(joint.name, before, child, np.array(joint.axis))
