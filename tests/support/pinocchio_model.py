"""A model of ours as a Pinocchio model, and the change of velocities between the two.

Pinocchio writes quaternions (x, y, z, w) and gives a free joint's linear velocity in child axes:
v̂ = T v with T = blockdiag(Aᵀ, I) there; T also holds the order of the joints.
"""

import numpy as np
import pinocchio as pin

import plain
from polhode.model import JOINTS
from polhode.model.topology import parent_first


class Peer:
    """Pinocchio's side of a comparison, all results in our coordinates and velocities."""

    def __init__(self, model):
        self.ours, self.model = model, pin.Model()
        self.model.gravity.linear = np.array(model.gravity)
        self.frames, self.q_map, self.v_map, self.free, self.quaternions = {}, [], [], [], []
        q_at = np.cumsum([0, *(j.nq for j in model.joints)])
        v_at = np.cumsum([0, *(j.nv for j in model.joints)])
        links = [(j.name, j.parent, j.child) for j in model.joints]
        frames = {"world": (0, pin.SE3.Identity())}
        armature = []
        for k in parent_first(model.name, [b.name for b in model.bodies], links):
            joint = model.joints[k]
            index, before = frames[joint.parent]
            place = before * pin.SE3(plain.matrix(np.array(joint.orientation)), np.array(joint.position))
            body = model.body(joint.child)
            moments = pin.Inertia(body.mass, np.array(body.center), body.inertia_matrix())
            if joint.type == "fixed":
                frames[joint.child] = (index, place)
                if index:
                    self.model.appendBodyToJoint(index, moments, place)
            else:
                *before, last = self._kinds(joint)
                for step, kind in enumerate(before):
                    index, place = self.model.addJoint(index, kind, place, f"{joint.name}.{step}"), pin.SE3.Identity()
                index = self.model.addJoint(index, last, place, joint.name)
                self.model.addJointFrame(index)  # `buildReducedModel` asks for it
                self.model.appendBodyToJoint(index, moments, pin.SE3.Identity())
                frames[joint.child] = (index, pin.SE3.Identity())
                if JOINTS[joint.type].has_quaternion:
                    self.quaternions.append(len(self.q_map) + joint.nq - 4)
                if joint.type == "free":
                    self.free.append((len(self.v_map), q_at[k] + 3))
                self.q_map += range(q_at[k], q_at[k + 1])
                self.v_map += range(v_at[k], v_at[k + 1])
                armature += self._armature(joint)
            self.frames[joint.child] = self.model.addFrame(
                pin.Frame(joint.child, *frames[joint.child], pin.FrameType.OP_FRAME)
            )
        self.model.armature = np.array(armature)
        self.data = self.model.createData()

    @staticmethod
    def _armature(joint):
        return [0.0] * 3 + [joint.armature] * 3 if joint.type == "free" else [joint.armature] * joint.nv

    @classmethod
    def _kinds(cls, joint):
        """Joints one after the other: those of several axes are written as joints of one axis each."""
        axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
        if joint.type == "universal":
            second = np.array(joint.axis2) / np.linalg.norm(joint.axis2)
            return [pin.JointModelRevoluteUnaligned(axis), pin.JointModelRevoluteUnaligned(second)]
        if joint.type == "cylindrical":
            return [pin.JointModelRevoluteUnaligned(axis), pin.JointModelPrismaticUnaligned(axis)]
        if joint.type == "planar":
            return [pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()]
        return [cls._kind(joint, axis)]

    @staticmethod
    def _kind(joint, axis):
        if joint.type == "revolute":
            return pin.JointModelRevoluteUnaligned(axis)
        if joint.type == "prismatic":
            return pin.JointModelPrismaticUnaligned(axis)
        if joint.type == "screw":
            return pin.JointModelHelicalUnaligned(axis, joint.pitch)
        return {"spherical": pin.JointModelSpherical, "free": pin.JointModelFreeFlyer}[joint.type]()

    def q(self, q):
        """Our coordinates as Pinocchio's."""
        found = np.asarray(q)[self.q_map]
        for at in self.quaternions:
            found[at : at + 4] = found[[at + 1, at + 2, at + 3, at]]
        return found

    def T(self, q):
        """v̂ = T v."""
        T = np.zeros((len(self.v_map),) * 2)
        T[np.arange(len(self.v_map)), self.v_map] = 1
        for row, at in self.free:
            A = plain.matrix(np.asarray(q)[at : at + 4])
            T[row : row + 3] = A.T @ T[row : row + 3]
        return T

    def T_rate(self, q, v):
        """Ṫ along a velocity: −ω̃ Aᵀ in the linear blocks."""
        T, rate = self.T(q), np.zeros((len(self.v_map),) * 2)
        for row, _ in self.free:
            omega = (T @ v)[row + 3 : row + 6]
            rate[row : row + 3] = -plain.skew(omega) @ T[row : row + 3]
        return rate

    def mass_matrix(self, q):
        M = pin.crba(self.model, self.data, self.q(q))
        M = np.triu(M) + np.triu(M, 1).T
        return self.T(q).T @ M @ self.T(q)

    def inverse_dynamics(self, q, v, vd):
        T, Tdot = self.T(q), self.T_rate(q, v)
        return T.T @ pin.rnea(self.model, self.data, self.q(q), T @ v, T @ vd + Tdot @ v)

    def forward_dynamics(self, q, v, tau):
        T, Tdot = self.T(q), self.T_rate(q, v)
        found = pin.aba(self.model, self.data, self.q(q), T @ v, np.linalg.solve(T.T, tau))
        return np.linalg.solve(T, found - Tdot @ v)

    def coriolis(self, q, v):
        T, Tdot = self.T(q), self.T_rate(q, v)
        C = pin.computeCoriolisMatrix(self.model, self.data, self.q(q), T @ v).copy()
        M = pin.crba(self.model, self.data, self.q(q))
        M = np.triu(M) + np.triu(M, 1).T - np.diag(self.model.armature)
        return T.T @ C @ T + T.T @ M @ Tdot

    def christoffel(self, q):
        """Γ[a, b, g] from the n matrices C(q, e_a)."""
        return np.array([self.coriolis(q, e).T for e in np.eye(len(self.v_map))])

    def pose(self, q, body):
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        return self.data.oMf[self.frames[body]]

    def jacobian(self, q, body):
        found = pin.computeFrameJacobian(
            self.model, self.data, self.q(q), self.frames[body], pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        return np.reshape(found, (6, -1)) @ self.T(q)  # one column comes back flat

    def velocity(self, q, v, body):
        self.move(q, v)
        at = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        return pin.getFrameVelocity(self.model, self.data, self.frames[body], at).vector

    def move(self, q, v, vd=None):
        """Put everything at a state: q, T v and T v̇ + Ṫ v as Pinocchio has them."""
        vd = np.zeros(len(v)) if vd is None else vd
        T = self.T(q)
        state = self.q(q), T @ v, T @ vd + self.T_rate(q, v) @ v
        pin.forwardKinematics(self.model, self.data, *state)
        pin.updateFramePlacements(self.model, self.data)
        return state

    def frame_at(self, body, point):
        """A frame with the axes of a body at a point of it; its data are new."""
        frame = self.model.frames[self.frames[body]]
        place = frame.placement * pin.SE3(np.eye(3), np.array(point))
        name = f"{body} {len(self.model.frames)}"
        found = self.model.addFrame(pin.Frame(name, frame.parentJoint, place, pin.FrameType.OP_FRAME))
        self.data = self.model.createData()
        return found
