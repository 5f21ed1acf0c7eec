"""Drake's plant of a file beside our model of it: our states in the plant, and how far apart the two are."""

import numpy as np
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import BallRpyJoint, BodyIndex, FrameIndex, MultibodyForces, QuaternionFloatingJoint

import polhode as ph
from plain import matrix_normalised


def plant_of(source, gravity=(0.0, 0.0, -9.81), packages=()):
    """Drake's plant of a file, or of the text of an SDF."""
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    for folder in packages:
        parser.package_map().Add(folder.name, str(folder))
    if str(source).lstrip().startswith("<"):
        parser.AddModelsFromString(str(source), "sdf")
    else:
        parser.AddModels(str(source))
    plant.mutable_gravity_field().set_gravity_vector(gravity)
    plant.Finalize()
    return plant


class Beside:
    """A model and Drake's plant of the same file, at states by chance."""

    def __init__(self, model, plant, seed=0):
        self.model, self.plant = model, plant
        self.system = ph.compile(model, target="python")
        self.context = plant.CreateDefaultContext()
        self.random = np.random.default_rng(seed)
        self.bodies = [plant.get_body(BodyIndex(k)) for k in range(plant.num_bodies())]
        self.frames = [plant.get_frame(FrameIndex(k)) for k in range(plant.num_frames())]
        self.joints = [plant.get_joint(k) for k in plant.GetJointIndices()]

    def named(self, elements, name):
        """Drake's element of one of ours, whose model's name may be left out; None where there is none."""
        scoped = {f"{self.plant.GetModelInstanceName(each.model_instance())}::{each.name()}": each for each in elements}
        ends = [full for full in scoped if full == name or full.endswith(f"::{name}")]
        return scoped[min(ends, key=len)] if ends else None

    def joint(self, joint):
        """Drake's joint of ours; a free one by its body."""
        found = self.named(self.joints, joint.name)
        if found is not None and found.child_body().name() != "world":
            return found
        child = self.named(self.bodies, joint.child)
        return next(each for each in self.joints if each.child_body().index() == child.index())

    def random_state(self):
        """q, v, v̇ of ours, by chance."""
        parts = [np.zeros(0)]
        for joint in self.model.joints:
            q = self.random.uniform(-1, 1, joint.nq)
            if joint.kind.has_quaternion:
                q[-4:] /= np.linalg.norm(q[-4:])
            parts.append(q)
        return np.concatenate(parts), *self.random.uniform(-1, 1, (2, self.model.nv))

    def put(self, q, v):
        """Put the plant into our state; the matrix T with v_drake = T v and, T v being what it is, v̇_drake = T v̇."""
        plant, context = self.plant, self.context
        T, at, to = np.zeros((plant.num_velocities(), self.model.nv)), 0, 0
        for joint in self.model.joints:
            mine = np.asarray(q[at : at + joint.nq])
            if joint.nq:
                theirs = self.joint(joint)
                block = T[theirs.velocity_start() :, to:]
                if isinstance(theirs, QuaternionFloatingJoint):
                    R = matrix_normalised(mine[3:])
                    theirs.SetPose(context, RigidTransform(RotationMatrix(R), mine[:3]))
                    block[3:6, :3], block[:3, 3:6] = np.eye(3), R
                elif isinstance(theirs, BallRpyJoint):  # its ω is in the axes F of the joint on the parent
                    R_CM = theirs.frame_on_child().GetFixedPoseInBodyFrame().rotation().matrix()
                    R_FC = R_CM.T @ matrix_normalised(mine)
                    theirs.set_angles(context, RollPitchYaw(RotationMatrix(R_FC @ R_CM)).vector())
                    block[:3, :3] = R_FC
                else:
                    positions, first = plant.GetPositions(context), theirs.position_start()
                    positions[first : first + joint.nq] = mine
                    plant.SetPositions(context, positions)
                    block[: joint.nv, : joint.nv] = np.eye(joint.nv)
            at, to = at + joint.nq, to + joint.nv
        plant.SetVelocities(context, T @ np.asarray(v))
        return T

    def difference(self):
        """The largest difference of poses, mass matrix and inverse dynamics at a state by chance, relative to each."""
        q, v, vd = self.random_state()
        T, plant, context, found = self.put(q, v), self.plant, self.context, [0.0]
        for record, theirs in [
            *((body, self.named(self.bodies, body.name)) for body in self.model.bodies),
            *((frame, self.named(self.frames, frame.name)) for frame in self.model.frames),
        ]:
            if theirs is None:
                assert getattr(record, "mass", 1.0) == 0.0, record.name  # a frame between two joints
                continue
            frame = theirs if record in self.model.frames else theirs.body_frame()
            pose = frame.CalcPoseInWorld(context)
            r, p = self.system.pose(q, record.name)
            found.append(np.max(abs(r - pose.translation())))
            found.append(np.max(abs(matrix_normalised(p) - pose.rotation().matrix())))
        if self.model.nv:
            M = T.T @ plant.CalcMassMatrix(context) @ T
            found.append(np.max(abs(self.system.mass_matrix(q) - M)) / np.max(abs(M)))
            forces = MultibodyForces(plant)
            plant.CalcForceElementsContribution(context, forces)
            tau = T.T @ plant.CalcInverseDynamics(context, T @ vd, forces)
            found.append(np.max(abs(self.system.inverse_dynamics(q, v, vd) - tau)) / max(1.0, np.max(abs(tau))))
        return max(found)
