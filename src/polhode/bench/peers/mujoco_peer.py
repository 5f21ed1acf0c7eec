"""A machine of ours in MuJoCo. Both write (w, x, y, z), free linear velocities in world axes, angular in body axes.

`mj_inverse` and `mj_forward` do a little more than the dynamics (they also look for constraints, of which there are
none); setting the state is not timed.
"""

from typing import Any

import mujoco
import numpy as np

from polhode.bench.peers.registry import Arrays
from polhode.bench.timing import Contestant
from polhode.errors import InputError, message
from polhode.model import WORLD, Joint, Model
from polhode.model.numbers import plain
from polhode.model.topology import parent_first

CALLS = {"inverse": "mj_inverse", "forward": "mj_forward"}
KINDS = {
    "revolute": mujoco.mjtJoint.mjJNT_HINGE,
    "prismatic": mujoco.mjtJoint.mjJNT_SLIDE,
    "free": mujoco.mjtJoint.mjJNT_FREE,
}
OFF = ("CONTACT", "CONSTRAINT", "EQUALITY", "LIMIT", "FRICTIONLOSS", "ACTUATION")


class MujocoPeer:
    """MuJoCo, with one machine of hinges, sliders and free bodies."""

    name = "MuJoCo"

    def __init__(self, model: Model) -> None:
        self.model = mujoco_model(model)
        self.data = mujoco.MjData(self.model)
        self._q_map: list[int] = []
        self._v_map: list[int] = []
        for joint in model.joints:  # ours at k is MuJoCo's at map[k]
            if joint.type != "fixed":
                there = self.model.joint(joint.name)
                self._q_map += range(there.qposadr[0], there.qposadr[0] + joint.nq)
                self._v_map += range(there.dofadr[0], there.dofadr[0] + joint.nv)

    def one(self, quantity: str, state: Arrays) -> Contestant | None:
        """One call at one state; dynamics only."""
        if quantity not in CALLS:
            return None
        self._set(quantity, state)
        names = {"mujoco": mujoco, "model": self.model, "data": self.data}
        return Contestant(self.name, CALLS[quantity], f"mujoco.{CALLS[quantity]}(model, data)", names)

    def batch(self, quantity: str, states: Arrays) -> Contestant | None:
        """MuJoCo has no batch of states without time steps."""
        return None

    def result(self, quantity: str, state: Arrays) -> list[np.ndarray]:
        """The result at one state, in our order."""
        self._set(quantity, state)
        getattr(mujoco, CALLS[quantity])(self.model, self.data)
        found = self.data.qfrc_inverse if quantity == "inverse" else self.data.qacc
        return [found[self._v_map]]

    def put(self, q: np.ndarray, v: np.ndarray) -> None:
        """Take a state of ours."""
        self.data.qpos[self._q_map], self.data.qvel[self._v_map] = q, v

    def state(self) -> np.ndarray:
        """The state there, q and v, in our order."""
        return np.concatenate([self.data.qpos[self._q_map], self.data.qvel[self._v_map]])

    def _set(self, quantity: str, state: Arrays) -> None:
        q, v, x = state
        self.put(q, v)
        (self.data.qacc if quantity == "inverse" else self.data.qfrc_applied)[self._v_map] = x


def mujoco_model(model: Model) -> Any:
    """The machine as an MjModel, with all that is not dynamics switched off."""
    spec = mujoco.MjSpec()
    spec.modelname, spec.compiler.degree = model.name, False
    spec.compiler.balanceinertia, spec.compiler.boundmass, spec.compiler.boundinertia = False, 0.0, 0.0
    spec.option.gravity = np.array(model.gravity)
    for what in OFF:
        spec.option.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}")
    elements = {WORLD: spec.worldbody}
    links = [(j.name, j.parent, j.child) for j in model.joints]
    for k in parent_first(model.name, [b.name for b in model.bodies], links):
        joint = model.joints[k]
        elements[joint.child] = _body(model, joint, elements[joint.parent])
    return spec.compile()


def _body(model: Model, joint: Joint, parent: Any) -> Any:
    if joint.type not in (*KINDS, "fixed"):
        what = "no peer is made of such joints"
        raise InputError(
            message(f"bench, joint '{joint.name}'", what, joint.type, "revolute, prismatic, fixed or free")
        )
    body, element = model.body(joint.child), parent.add_body(name=joint.child)
    element.pos, element.quat = np.array(joint.position), np.array(joint.orientation)
    J = body.inertia_matrix()
    element.explicitinertial, element.mass, element.ipos = True, plain(body.mass), np.array(body.center)
    element.fullinertia = np.array([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
    if joint.type == "free":
        element.add_freejoint(name=joint.name)
    elif joint.type != "fixed":
        there = element.add_joint(name=joint.name, type=KINDS[joint.type], axis=np.array(joint.axis))
        there.armature = joint.armature
    return element
