"""A machine of hinges in Exudyn: bodies in absolute coordinates, every hinge, of the tree or closing a loop, a joint.

In a plane, Exudyn's own planar bodies and joints with its sparse solver, which is its fastest way; in space, rigid
bodies and revolute joints with the dense solver, which with a flag of its own stands redundant conditions.
"""

from typing import Any, NamedTuple

import exudyn
import numpy as np
from exudyn import itemInterface as items
from exudyn.rigidBodyUtilities import RigidBodyInertia

from polhode.dynamics.kinematics import frames, velocities
from polhode.errors import InputError, message
from polhode.model import WORLD, Model, make_tree
from polhode.model.numbers import plain
from polhode.scalar import Vec

DAMPING = 0.9
"""Spectral radius of the generalised-α method at infinity: Exudyn's own default."""
NEWTON = 1e-8
"""Relative tolerance of Newton's method: Exudyn's own default."""


class Hinge(NamedTuple):
    """Two bodies, the point in the axes of each, the axis in those of the first."""

    a: str
    at_a: np.ndarray
    b: str
    at_b: np.ndarray
    axis: np.ndarray


class StartPose(NamedTuple):
    """A body at the start: mass centre in its own axes and in space, attitude, and how both move."""

    center: np.ndarray
    position: np.ndarray
    R: np.ndarray
    velocity: np.ndarray
    omega: np.ndarray


class ExudynPeer:
    """Exudyn with one machine of hinges.

    planar  whether all moves in the plane of x and z; Exudyn's plane is that of x and y
    """

    name = "Exudyn"

    def __init__(self, model: Model, q: np.ndarray, v: np.ndarray, planar: bool) -> None:
        self.model, self.planar = model, planar
        self.container = exudyn.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.ground = self.mbs.AddObject(items.ObjectGround())
        self.placed = placed(model, q, v)
        self.bodies = {body.name: self._body(body.name) for body in model.bodies}
        for hinge in hinges(model):
            (self._planar_hinge if planar else self._hinge)(hinge)
        self.mbs.Assemble()

    def settings(self, duration: float, step: float) -> Any:
        """Generalised-α with equal steps, modified Newton; nothing is written or printed."""
        found: Any = exudyn.SimulationSettings()
        time = found.timeIntegration
        time.numberOfSteps, time.endTime, time.verboseMode = round(duration / step), duration, 0
        time.newton.useModifiedNewton, time.newton.relativeTolerance = True, NEWTON
        time.generalizedAlpha.spectralRadius = DAMPING
        time.generalizedAlpha.computeInitialAccelerations = True
        found.solution.file.write = False
        solver, kinds = found.linearSolver, exudyn.LinearSolverType
        solver.solverType = kinds.EigenSparse if self.planar else kinds.EigenDense
        solver.ignoreSingularJacobian, solver.reuseAnalyzedPattern = not self.planar, self.planar
        return found

    def centers(self) -> np.ndarray:
        """Mass centres, and their velocities, (bodies, 6)."""
        kinds, rows = exudyn.OutputVariableType, []
        for number in self.bodies.values():
            parts = [self.mbs.GetObjectOutputBody(number, kind) for kind in (kinds.Position, kinds.Velocity)]
            rows.append(np.concatenate([[x, 0.0, y] if self.planar else [x, y, z] for x, y, z in parts]))
        return np.array(rows)

    def _body(self, name: str) -> Any:
        body, at, gravity = self.model.body(name), self.placed[name], np.array(plain(self.model.gravity), dtype=float)
        J, mass = body.inertia_matrix(), float(plain(body.mass))
        if not self.planar:
            facts = {"referencePosition": at.position, "referenceRotationMatrix": at.R, "gravity": list(gravity)}
            facts |= {"initialVelocity": at.velocity, "initialAngularVelocity": at.omega}
            return self.mbs.CreateRigidBody(inertia=RigidBodyInertia(mass, J), **facts)
        angle = float(np.arctan2(at.R[2, 0], at.R[0, 0]))  # a turn about −y
        node = items.NodeRigidBody2D(
            referenceCoordinates=[at.position[0], at.position[2], angle],
            initialVelocities=[at.velocity[0], at.velocity[2], -at.omega[1]],
        )
        number = self.mbs.AddObject(
            items.ObjectRigidBody2D(nodeNumber=self.mbs.AddNode(node), mass=mass, inertia=float(J[1, 1]))
        )
        marker = self.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=number))
        pull = [gravity[0], gravity[2], 0.0]
        self.mbs.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=pull))
        return number

    def _planar_hinge(self, hinge: Hinge) -> None:
        markers = [self._marker(hinge.a, hinge.at_a), self._marker(hinge.b, hinge.at_b)]
        self.mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))

    def _marker(self, name: str, point: np.ndarray) -> Any:
        number = self.ground if name == WORLD else self.bodies[name]
        arm = point if name == WORLD else point - self.placed[name].center
        return self.mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=number, localPosition=[arm[0], arm[2], 0.0]))

    def _hinge(self, hinge: Hinge) -> None:
        position, axis = hinge.at_a, hinge.axis
        if hinge.a != WORLD:
            at = self.placed[hinge.a]
            position, axis = at.position + at.R @ (hinge.at_a - at.center), at.R @ hinge.axis
        numbers = [self.ground if name == WORLD else self.bodies[name] for name in (hinge.a, hinge.b)]
        self.mbs.CreateRevoluteJoint(itemNumbers=numbers, position=position, axis=axis)


def placed(model: Model, q: np.ndarray, v: np.ndarray) -> dict[str, StartPose]:
    """Where all bodies are at a state, and how they move."""
    tree = make_tree(model)
    at = frames(tree, Vec(q))
    moving = velocities(tree, Vec(q), at, Vec(v))
    found = {}
    for body in model.bodies:
        frame, twist = at[tree.of_body[body.name]], moving[tree.of_body[body.name]]
        center, R, omega = (np.array(x, dtype=float) for x in (plain(body.center), frame.R, twist.angular))
        arm = R @ center
        found[body.name] = StartPose(
            center, np.array(frame.o) + arm, R, np.array(twist.linear) + np.cross(omega, arm), omega
        )
    return found


def centers(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Mass centres, and their velocities, of a state of ours, (bodies, 6)."""
    found = placed(model, q, v).values()
    return np.array([np.concatenate([at.position, at.velocity]) for at in found])


def hinges(model: Model) -> list[Hinge]:
    """Those of the tree, and those that close its loops."""
    found, here = [], np.zeros(3)
    for joint in model.joints:
        _is_hinge(f"joint '{joint.name}'", joint.type)
        at = np.array(plain(joint.position), dtype=float)
        if not np.array_equal(np.array(plain(joint.orientation), dtype=float), (1.0, 0.0, 0.0, 0.0)):
            raise InputError(
                message(f"bench, joint '{joint.name}'", "turned against its parent", str(joint.orientation), "no turn")
            )
        found.append(Hinge(joint.parent, at, joint.child, here, np.array(plain(joint.axis), dtype=float)))
    for loop in model.constraints:
        _is_hinge(f"constraint '{loop.name}'", loop.type)
        data = {"position_a": here, "position_b": here, **loop.data}
        points = [np.array(plain(data[key]), dtype=float) for key in ("position_a", "position_b", "axis_a")]
        found.append(Hinge(data["body_a"], points[0], data["body_b"], points[1], points[2]))
    return found


def _is_hinge(where: str, kind: str) -> None:
    if kind != "revolute":
        raise InputError(message(f"bench, {where}", "Exudyn is raced on hinges only", kind, "revolute"))
