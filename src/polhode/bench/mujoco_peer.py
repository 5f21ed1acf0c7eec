"""A machine of ours in MuJoCo. Both write (w, x, y, z), free linear velocities in world axes, angular in body axes.

`mj_inverse` and `mj_forward` do a little more than the dynamics (they also look for constraints, of which there are
none); setting the state is not timed.
"""

from xml.etree import ElementTree

import mujoco
import numpy as np

from polhode.bench.peers import Arrays
from polhode.bench.timing import Contestant
from polhode.errors import InputError, message
from polhode.model import WORLD, Joint, Model
from polhode.model.numbers import plain

CALLS = {"inverse": "mj_inverse", "forward": "mj_forward"}
KINDS = {"revolute": "hinge", "prismatic": "slide", "free": "free"}


class MujocoPeer:
    """MuJoCo, with one machine of hinges, sliders and free bodies."""

    name = "MuJoCo"

    def __init__(self, model: Model) -> None:
        self.model = mujoco.MjModel.from_xml_string(mjcf(model))
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

    def _set(self, quantity: str, state: Arrays) -> None:
        q, v, x = state
        self.data.qpos[self._q_map], self.data.qvel[self._v_map] = q, v
        (self.data.qacc if quantity == "inverse" else self.data.qfrc_applied)[self._v_map] = x


def mjcf(model: Model) -> str:
    """The machine as MJCF, with all that is not dynamics switched off."""
    root = ElementTree.Element("mujoco", model=model.name)
    ElementTree.SubElement(root, "compiler", angle="radian", balanceinertia="false", boundmass="0", boundinertia="0")
    option = ElementTree.SubElement(root, "option", gravity=_text(model.gravity))
    off = dict.fromkeys(("contact", "constraint", "equality", "limit", "frictionloss", "actuation"), "disable")
    ElementTree.SubElement(option, "flag", off)
    elements = {WORLD: ElementTree.SubElement(root, "worldbody")}
    waiting = list(model.joints)
    while waiting:
        joint = next(j for j in waiting if j.parent in elements)
        waiting.remove(joint)
        elements[joint.child] = _body(model, joint, elements[joint.parent])
    return ElementTree.tostring(root, encoding="unicode")


def _body(model: Model, joint: Joint, parent: ElementTree.Element) -> ElementTree.Element:
    if joint.type not in (*KINDS, "fixed"):
        what = "no peer is made of such joints"
        raise InputError(
            message(f"bench, joint '{joint.name}'", what, joint.type, "revolute, prismatic, fixed or free")
        )
    place = {"name": joint.child, "pos": _text(joint.position), "quat": _text(joint.orientation)}
    body, element = model.body(joint.child), ElementTree.SubElement(parent, "body", place)
    J = body.inertia_matrix()
    moments = _text([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
    mass = {"pos": _text(body.center), "mass": _text(plain(body.mass)), "fullinertia": moments}
    ElementTree.SubElement(element, "inertial", mass)
    if joint.type != "fixed":
        more = {} if joint.type == "free" else {"axis": _text(joint.axis), "armature": _text(joint.armature)}
        ElementTree.SubElement(element, "joint", {"name": joint.name, "type": KINDS[joint.type], **more})
    return element


def _text(values: object) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(np.asarray(values, dtype=float)))
