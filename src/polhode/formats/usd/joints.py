"""Joints of a USD as ours: those of a tree of bodies, and those that close a loop as constraints.

A joint of UsdPhysics is two frames, one on each body, and what they may do against each other; q = 0 is where they
coincide. A joint that is used from its second body to its first has the opposite axis, and so the same coordinate.
"""

from math import inf, isfinite, pi
from typing import Any, NamedTuple

import numpy as np

from polhode.formats.placement import ORIGIN, FramePose, moved
from polhode.formats.remarks import Remarks, massless
from polhode.formats.usd.stage import BODY, Prim, ScaledPose, Stage
from polhode.model import WORLD, Body, Constraint, Joint
from polhode.model.edits.mounted import joint_motion, motion_elements
from polhode.model.elements import Numbers, joint_elements
from polhode.model.joints.base import NOTHING
from polhode.model.state import GROUND
from polhode.quaternion import from_matrix, normalise, product, rotate
from polhode.scalar import Vec, dot, length, vec

TYPES = {
    "PhysicsFixedJoint": "fixed",
    "PhysicsRevoluteJoint": "revolute",
    "PhysicsPrismaticJoint": "prismatic",
    "PhysicsSphericalJoint": "spherical",
}
"""UsdPhysics' joints of one kind each, and ours."""
GENERIC, DISTANCE = "PhysicsJoint", "PhysicsDistanceJoint"
EVERY = (*TYPES, GENERIC, DISTANCE)

AXES = (vec(1.0, 0.0, 0.0), vec(0.0, 1.0, 0.0), vec(0.0, 0.0, 1.0))
LETTERS = "XYZ"
TURNS, TRAVELS = ("rotX", "rotY", "rotZ"), ("transX", "transY", "transZ")
DEGREE = pi / 180
BARE = 1e-12
"""An arm of a joint, across its axis, shorter than this part of its coordinates (m) is none."""
OFF = 1e-3
"""How far bodies may stand from where their joint lets them be, m and rad, before it is told: single precision."""


class Ends(NamedTuple):
    """A joint and what it is between: names of bodies, and the joint's frame on each."""

    prim: Prim
    name: str
    bodies: tuple[str, str]
    frames: tuple[FramePose, FramePose]

    def reversed(self) -> "Ends":
        """The same from the other side."""
        return self._replace(bodies=self.bodies[::-1], frames=self.frames[::-1])


class Freedom(NamedTuple):
    """What a joint lets its second frame do against the first.

    kind    ours; "" where nothing is held
    axes    numbers of its axes in its frames: `axis`, `axis2`; of a planar joint, the normal
    labels  of its coordinates in drives and limits, in our order
    """

    kind: str
    axes: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()


class JointRecords(NamedTuple):
    """The records of a joint, the massless frames between them, and the coordinates at the start."""

    joints: list[Joint]
    frames: list[Body]
    q: list[float]


def freedom_of(prim: Prim) -> Freedom:
    """The kind of a joint; one of PhysicsJoint by the axes that its limits lock (low above high)."""
    if prim.kind in TYPES:
        kind = TYPES[prim.kind]
        axis = LETTERS.index(prim.word("physics:axis", "X", tuple(LETTERS)))
        if kind in ("revolute", "prismatic"):
            return Freedom(kind, (axis,), ("angular" if kind == "revolute" else "linear",))
        return Freedom(kind)
    locked = set()
    for name in prim.instances("PhysicsLimitAPI"):
        low, high = _limits(prim, name)
        if low > high or low == high == 0:
            locked.add(name)
        elif low == high and name != "distance":
            prim.fail(f"{name} held away from zero", f"low and high {low:g}", "low above high, or low below high",
                      "Turn or move a frame of the joint instead.")  # fmt: skip
    turns = tuple(k for k in range(3) if TURNS[k] not in locked)
    travels = tuple(k for k in range(3) if TRAVELS[k] not in locked)
    if not travels:
        kind = ("fixed", "revolute", "universal", "spherical")[len(turns)]
        return Freedom(kind, turns if len(turns) < 3 else (), tuple(TURNS[k] for k in turns))
    if len(travels) == 1 and turns in ((), travels):
        names = (*(TURNS[k] for k in turns), TRAVELS[travels[0]])
        return Freedom("cylindrical" if turns else "prismatic", travels, names)
    if len(travels) == 2 and len(turns) == 1 and turns[0] not in travels:
        n = turns[0]
        return Freedom("planar", turns, (TRAVELS[(n + 1) % 3], TRAVELS[(n + 2) % 3], TURNS[n]))
    if len(travels) == 3 and len(turns) == 3:
        return Freedom("")
    free = ", ".join([TRAVELS[k] for k in travels] + [TURNS[k] for k in turns])
    expected = "those of a fixed, revolute, prismatic, cylindrical, universal, spherical or planar joint, or all"
    prim.fail("a joint of no kind of ours", f"free: {free}", expected, "Put bodies between, with one joint each.")


class UsdJointReader:
    """Makes records of joints."""

    def __init__(self, stage: Stage, bodies: dict[str, str], remarks: Remarks) -> None:
        """bodies: what the model calls them, by the paths of their prims."""
        self.stage, self.bodies, self.remarks = stage, bodies, remarks
        self.poses: dict[str, FramePose] = {WORLD: FramePose()}
        for path, name in bodies.items():
            self.poses[name] = stage.prims[path].pose(stage.meters).at
        self.taken = set(bodies.values()) | {WORLD}

    def ends(self, prim: Prim, name: str) -> Ends:
        """What a joint is between; a prim that is no body stands for the body that carries it, or the world."""
        bodies, frames = [], []
        for k in (0, 1):
            path = prim.target(f"physics:body{k}")
            if path and path not in self.stage.prims:
                fix = "Remove the joint, or name a prim of the stage; with no prim it is on the world."
                prim.fail(f"physics:body{k} is no prim", repr(path[:120]), "a prim of the stage", fix)
            owner = self.owner(path)
            there = self.stage.prims[path].pose(self.stage.meters) if path else ScaledPose(FramePose(), np.ones(3))
            local = np.array(prim.numbers(f"physics:localPos{k}", 3, (0.0,) * 3)) * there.scale * self.stage.meters
            at = FramePose(Vec(local.tolist()), prim.turn(f"physics:localRot{k}"))
            if not path or self.stage.prims[path].path not in self.bodies:
                at = self.poses[owner].inverse().then(there.at).then(at)
            bodies.append(owner)
            frames.append(at)
        if bodies[0] == bodies[1] != WORLD:
            prim.fail("a joint between a body and itself", repr(bodies[0]), "two bodies, or a body and the world")
        return Ends(prim, name, (bodies[0], bodies[1]), (frames[0], frames[1]))

    def owner(self, path: str) -> str:
        """The body that a prim is on."""
        for prim in self.stage.above(path):
            if prim.path in self.bodies:
                return self.bodies[prim.path]
            if prim.has(BODY) and prim.flag("physics:rigidBodyEnabled", True):
                return WORLD  # one that stands still
        return WORLD

    def of_tree(self, ends: Ends, turned: bool) -> JointRecords:
        """A joint that carries its second body.  turned: whether the file has them the other way round"""
        freedom = freedom_of(ends.prim)
        data = self._data(ends.prim, freedom, turned)
        self._note(ends.prim, freedom)
        parent, child = ends.bodies
        on_parent, on_child = ends.frames
        with ends.prim.naming():
            if freedom.kind == "planar":
                turn = _turned_normal(freedom.axes[0])
                on_parent, on_child = on_parent.then(turn), on_child.then(turn)
                between, back = self._between(child, ends.name, on_child)
                moving = self._joint(ends.name, freedom.kind, parent, between or child, on_parent, data)
            else:
                data |= _axes(freedom, turned, on_child.orientation)
                arm = _arm(freedom, on_child.position, data, on_parent.position)
                at = on_parent.then(on_child.inverse()).then(moved(arm))
                between, back = self._between(child, ends.name, moved(arm))
                moving = self._joint(ends.name, freedom.kind, parent, between or child, at, data)
            q = self._start(ends, moving, back)
        if not between:
            return JointRecords([moving], [], q)
        place = back.inverse()
        fixed = Joint(
            f"{ends.name}.back", "fixed", between, child, position=place.position, orientation=place.orientation
        )
        return JointRecords([moving, fixed], [massless(between)], q)

    def of_loop(self, ends: Ends) -> Constraint:
        """A joint between two bodies that the tree carries already: a constraint."""
        freedom = freedom_of(ends.prim)
        if any(x is not None for x in self._forces(ends.prim, freedom)):
            self.remarks.ignore("limits and drives of joints that close a loop ({n})")
        (a, b), (on_a, on_b) = ends.bodies, ends.frames
        with ends.prim.naming():
            data = _axes(freedom, False, FramePose().orientation) if freedom.kind != "planar" else {}
            if freedom.kind == "planar":
                turn = _turned_normal(freedom.axes[0])
                on_a, on_b = on_a.then(turn), on_b.then(turn)
            record = Joint(ends.name, freedom.kind, a, b, **data)
            closing = record.kind.closing(joint_elements(record, GROUND, 0, 0, 0, NOTHING, Numbers({})))
            assert closing is not None
            return Constraint(
                ends.name, closing.constraint, body_a=a, body_b=b,
                position_a=on_a.position, orientation_a=normalise(product(on_a.orientation, closing.turn_a)),
                position_b=on_b.position, orientation_b=normalise(product(on_b.orientation, closing.turn_b)),
                **closing.data,
            )  # fmt: skip

    def distance(self, ends: Ends) -> Constraint | None:
        """A distance joint: a rod where least and largest distance are one; any other is told."""
        prim = ends.prim
        scale = self.stage.meters
        low, high = (prim.number(f"physics:{name}Distance", -1.0, infinite=True) for name in ("min", "max"))
        if not 0 < low == high < inf:
            self.remarks.ignore("distance joints that hold a range of distances ({n})")
            return None
        with prim.naming():
            return Constraint(
                ends.name, "distance", body_a=ends.bodies[0], body_b=ends.bodies[1], length=low * scale,
                position_a=ends.frames[0].position, position_b=ends.frames[1].position,
            )  # fmt: skip

    # parts of a joint

    def _joint(self, name: str, kind: str, parent: str, child: str, at: FramePose, data: dict[str, Any]) -> Joint:
        return Joint(name, kind, parent, child, position=at.position, orientation=at.orientation, **data)

    def _between(self, child: str, name: str, at: FramePose) -> tuple[str, FramePose]:
        """The name of a massless frame at a place of the child, and the place; "" where the place is its origin."""
        if at == FramePose():
            return "", at
        found = f"{child}.{name}"
        while found in self.taken:
            found += "_"
        self.taken.add(found)
        return found, at

    def _start(self, ends: Ends, joint: Joint, back: FramePose) -> list[float]:
        """The coordinates of a joint where the file has its bodies."""
        parent, child = self.poses[ends.bodies[0]], self.poses[ends.bodies[1]]
        home = parent.then(FramePose(Vec(joint.position), Vec(joint.orientation)))
        there = home.inverse().then(child.then(back))
        r, p = np.array(there.position, dtype=float), np.array(there.orientation, dtype=float)
        q = [float(x) for x in joint.kind.from_pose(motion_elements(joint), r, p)]
        reached = joint_motion(joint, q)
        off = float(np.max(abs(np.array(reached.position) - r)))
        turn = 2 * np.linalg.norm(product(np.array([1.0, -1.0, -1.0, -1.0]) * np.array(reached.orientation), p)[1:])
        if off > OFF * max(1.0, float(np.max(abs(r)))) or turn > OFF:
            found = "bodies that stand where their joint does not let them be: they begin where it does"
            self.remarks.tell(found, ends.name)
        return q

    def _data(self, prim: Prim, freedom: Freedom, turned: bool) -> dict[str, Any]:
        """Springs, dampers and limits of the coordinates of a joint."""
        n = len(freedom.labels)
        if not n or freedom.kind == "spherical":
            return {}
        found: dict[str, list[float]] = {key: [] for key in ("stiffness", "damping", "rest", "lower", "upper")}
        for label in freedom.labels:
            unit = DEGREE if label in (*TURNS, "angular") else self.stage.meters
            low, high = self.remarks.limits(prim.where, prim.name, *_limits(prim, label))
            stiffness, damping, target = self._drive(prim, label)
            for key, value in zip(found, (stiffness, damping, target * unit, low * unit, high * unit), strict=True):
                found[key].append(value)
        if turned and freedom.kind == "universal":
            found = {key: values[::-1] for key, values in found.items()}
        if turned and freedom.kind == "planar" and any(v not in (0.0, inf, -inf) for x in found.values() for v in x):
            self.remarks.ignore("limits and drives of planar joints whose first body is the carried one ({n})")
            return {}
        return {key: values[0] if n == 1 else tuple(values) for key, values in found.items()}

    def _drive(self, prim: Prim, label: str) -> tuple[float, float, float]:
        """Stiffness and damping, SI, and the position aimed at, as written, of a drive."""
        if label not in prim.instances("PhysicsDriveAPI"):
            return 0.0, 0.0, 0.0
        name = f"drive:{label}:physics:"
        if prim.word(f"{name}type", "force", ("force", "acceleration")) == "acceleration":
            self.remarks.ignore("drives by acceleration ({n})")
            return 0.0, 0.0, 0.0
        is_turn = label in (*TURNS, "angular")
        unit = self.stage.kilograms * (self.stage.meters**2 / DEGREE if is_turn else 1.0)
        stiffness, damping = prim.number(f"{name}stiffness", 0.0), prim.number(f"{name}damping", 0.0)
        if damping < 0 or stiffness < 0:
            prim.fail("a drive below zero", f"stiffness {stiffness:g}, damping {damping:g}", "at least 0")
        if damping and prim.number(f"{name}targetVelocity", 0.0):
            self.remarks.ignore("velocities that drives aim at ({n})")
        if isfinite(prim.number(f"{name}maxForce", inf, infinite=True)) and (stiffness or damping):
            self.remarks.ignore("largest forces of drives ({n}): springs and dampers act without a limit")
        return stiffness * unit, damping * unit, prim.number(f"{name}targetPosition", 0.0)

    def _forces(self, prim: Prim, freedom: Freedom) -> list[str | None]:
        """The limits and drives that a joint has; None for none."""
        labels = freedom.labels or (*TURNS, *TRAVELS)
        limited = [label if any(map(isfinite, _limits(prim, label))) else None for label in labels if freedom.labels]
        return [*limited, *prim.instances("PhysicsDriveAPI")]

    def _note(self, prim: Prim, freedom: Freedom) -> None:
        """Note what of a joint of the tree does not reach the model."""
        if freedom.kind == "spherical":
            if any(prim.number(f"physics:coneAngle{k}Limit", -1.0, infinite=True) >= 0 for k in (0, 1)):
                self.remarks.ignore("cones of spherical joints ({n})")
            if any(isfinite(x) for label in freedom.labels for x in _limits(prim, label)):
                self.remarks.ignore("limits of spherical joints ({n})")
        driven = prim.instances("PhysicsDriveAPI")
        lost = [label for label in driven if freedom.kind == "spherical" or label not in freedom.labels]
        if lost:
            self.remarks.ignore("drives that no coordinate of their joint follows ({n})", len(lost))
        if freedom.kind == "universal":
            self.remarks.tell(
                "two free turns, taken as a universal joint: the first axis on body0, the second on body1", prim.name
            )
        if "distance" in prim.instances("PhysicsLimitAPI") and any(map(isfinite, _limits(prim, "distance"))):
            self.remarks.ignore("limits of distance of joints ({n})")
        if any(isfinite(prim.number(f"physics:{name}", inf, infinite=True)) for name in ("breakForce", "breakTorque")):
            self.remarks.ignore("forces at which joints break ({n})")


def _limits(prim: Prim, label: str) -> tuple[float, float]:
    """The limits of a coordinate, as written."""
    if label in ("angular", "linear"):
        names = ("physics:lowerLimit", "physics:upperLimit")
    elif label in prim.instances("PhysicsLimitAPI"):
        names = (f"limit:{label}:physics:low", f"limit:{label}:physics:high")
    else:
        return -inf, inf
    return prim.number(names[0], -inf, infinite=True), prim.number(names[1], inf, infinite=True)


def _axes(freedom: Freedom, turned: bool, turn: Vec) -> dict[str, Any]:
    """The axes of a joint in the axes of its child: the opposite ones, last first, where it is turned round."""
    axes = [-AXES[k] if turned else AXES[k] for k in freedom.axes]
    found = [rotate(turn, axis) if turn != FramePose().orientation else axis for axis in axes[:: -1 if turned else 1]]
    return dict(zip(("axis", "axis2"), found, strict=False))


def _arm(freedom: Freedom, arm: Vec, data: dict[str, Any], reach: Vec) -> Vec:
    """From the child's origin to a point of the joint, child axes; none where another point would do as well."""
    if freedom.kind in ("fixed", "prismatic"):
        return ORIGIN
    if len(freedom.axes) == 1:
        arm = arm - dot(arm, data["axis"]) * data["axis"]
    return ORIGIN if length(arm) <= BARE * max(1.0, length(reach)) else arm


def _turned_normal(n: int) -> FramePose:
    """The turn that takes x, y, z to the axes n + 1, n + 2, n: a planar joint's plane is across its z."""
    columns = [AXES[(n + 1) % 3], AXES[(n + 2) % 3], AXES[n]]
    if n == 2:
        return FramePose()
    return FramePose(ORIGIN, normalise(from_matrix(Vec(Vec(row) for row in zip(*columns, strict=True)))))
