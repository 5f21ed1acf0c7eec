"""Joints of an SDF as ours: those of a tree of links, and those that close a loop as constraints."""

from math import inf, tau
from typing import Any, NamedTuple

from polhode.errors import did_you_mean
from polhode.formats.placement import FramePose, moved
from polhode.formats.remarks import Remarks, located, massless
from polhode.formats.sdf.frames import SdfDocument, SdfJoint, joint_frame
from polhode.formats.sdf.values import flag, limit, needed_text, number, text
from polhode.formats.xml_guard import XmlElement
from polhode.model import WORLD, Body, Constraint, Joint, JointFriction
from polhode.model.elements import Numbers, joint_elements
from polhode.model.joints.base import NOTHING
from polhode.model.state import GROUND
from polhode.quaternion import product, rotate
from polhode.scalar import Vec, cross, dot, length

GEARBOX = "gearbox"
"""The one type that is a constraint between two other joints."""

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "screw": "screw",
    "ball": "spherical",
    "universal": "universal",
    "revolute2": "universal",
    "fixed": "fixed",
}
"""SDF's joint types, and ours."""

AXES = {"revolute": 1, "continuous": 1, "prismatic": 1, "screw": 1, "universal": 2, "revolute2": 2, GEARBOX: 2}
"""How many axes a type has."""

HINGES = ("revolute", "continuous")

BARE = 1e-12
"""An arm of a joint, across its axis, shorter than this part of its coordinates (m) is none."""

PARALLEL = 1e-9
"""Sine of the angle between two axes below which they are one."""


class TreeJoint(NamedTuple):
    """A joint with the links that it is between, by full names."""

    full: str
    node: XmlElement
    source: SdfJoint
    said: str
    """Its type, as SDF calls it."""
    parent: str
    child: str


class JointParts(NamedTuple):
    """The records of a joint, and the massless frames between them."""

    joints: list[Joint]
    frames: list[Body]


def joint_ends(document: SdfDocument, full: str) -> TreeJoint:
    """A joint, its type and its links checked."""
    source = document.joints[full]
    node = source.node
    kind = node.text("type").lower()
    if kind not in TYPES and kind != GEARBOX:
        fix = did_you_mean(kind, TYPES)
        node.fail("unknown type", repr(kind[:40]), ", ".join([*TYPES, GEARBOX]), fix)
    ends = []
    for end in ("parent", "child"):
        name = needed_text(node, end)
        is_world = end == "parent" and name == WORLD
        ends.append(WORLD if is_world else document.link(document.full(source.scope, name), node.first(end) or node))
    parent, child = ends
    if child == WORLD:
        node.fail("the child is the world", repr(text(node, "child")[:60]), "a link: the world can only be a parent")
    if parent == child:
        node.fail("parent and child are one link", repr(child[:60]), "two links")
    return TreeJoint(full, node, source, kind, parent, child)


class JointReader:
    """Makes records of joints."""

    def __init__(self, document: SdfDocument, remarks: Remarks, names: dict[str, str], friction: str) -> None:
        """names: what the model calls links and joints, by their full names."""
        self.document, self.remarks, self.names, self.friction = document, remarks, names, friction
        self.rubbing: list[JointFriction] = []

    def of_tree(self, joint: TreeJoint) -> JointParts:
        """A joint that carries its child.

        Our child frames lie in the joint frame at zero: where a joint turns about a point away from the origin of its
        link, a massless frame stands between.
        """
        name, child = self.joint_name(joint), self.names[joint.child]
        at, arm, data = self._placed(joint)
        data |= self._axis_data(joint)
        self._note_friction(joint, name)
        with located(f"{joint.node.file}:{joint.node.line}"):
            if not any(arm):
                return JointParts([self._joint(joint, name, child, at, data)], [])
            between = f"{child}.{name}"
            moving = self._joint(joint, name, between, at.then(moved(arm)), data)
            back = Joint(f"{name}.back", "fixed", between, child, position=-arm)
            return JointParts([moving, back], [massless(between)])

    def of_loop(self, joint: TreeJoint) -> Constraint:
        """A joint between two links that the tree carries already: a constraint."""
        name = self.joint_name(joint)
        at, arm, data = self._placed(joint)
        if self._has_forces(joint):
            self.remarks.ignore("limits, springs, dampers and friction of joints that close a loop ({n})")
        if any(axis.first("mimic") is not None for axis in joint.node.all("axis")):
            joint.node.fail("mimic of a joint that closes a loop", repr(name), "a joint that carries its child")
        with located(f"{joint.node.file}:{joint.node.line}"):
            here = at.then(moved(arm))
            record = self._joint(joint, name, self.names[joint.child], here, data)
            closing = record.kind.closing(joint_elements(record, GROUND, 0, 0, 0, NOTHING, Numbers({})))
            assert closing is not None
            return Constraint(
                name,
                closing.constraint,
                body_a=record.parent,
                body_b=record.child,
                position_a=here.position,
                orientation_a=product(here.orientation, closing.turn_a),
                position_b=arm,
                orientation_b=closing.turn_b,
                **closing.data,
            )

    def joint_name(self, joint: TreeJoint) -> str:
        """What the model calls a joint."""
        return self.names[joint_frame(joint.full)]

    def _joint(self, joint: TreeJoint, name: str, child: str, at: FramePose, data: dict[str, Any]) -> Joint:
        parent = self.names[joint.parent]
        return Joint(name, TYPES[joint.said], parent, child, position=at.position, orientation=at.orientation, **data)

    def _placed(self, joint: TreeJoint) -> tuple[FramePose, Vec, dict[str, Any]]:
        """The child in the parent at zero; from the child's origin to a point of the joint; the axes, child axes."""
        document, owner = self.document, f"joint '{joint.full}'"
        at = document.between(joint.parent, joint.child)
        arm = document.between(joint.child, joint_frame(joint.full)).position
        found: dict[str, Any] = {}
        axes = [self.axis(joint, tag, joint.child) for tag in ("axis", "axis2")[: AXES.get(joint.said, 0)]]
        for tag, axis in zip(("axis", "axis2"), axes, strict=False):
            found[tag] = axis
        if joint.said in ("fixed", "prismatic"):  # the same about any point
            arm = moved((0.0, 0.0, 0.0)).position
        elif len(axes) == 1:  # the same about any point of the axis
            arm = arm - dot(arm, axes[0]) * axes[0]
        if length(arm) <= BARE * max(1.0, length(at.position)):
            arm = moved((0.0, 0.0, 0.0)).position
        if joint.said == "screw":
            found["pitch"] = self._pitch(joint, owner)
        return at, arm, found

    def axis(self, joint: TreeJoint, tag: str, frame: str) -> Vec:
        """A unit axis of a joint, in the axes of a frame by its full name."""
        node, scope, owner = joint.node.first(tag), joint.source.scope, f"joint '{joint.full}'"
        if node is None:
            joint.node.fail(f"no {tag}", "nothing", f"<{tag}><xyz>0 0 1</xyz></{tag}>")
        xyz = node.first("xyz")
        axis = Vec((0.0, 0.0, 1.0)) if xyz is None else Vec(xyz.content_numbers(3, owner))
        with located(f"{node.file}:{node.line}, {owner}"):
            size = length(axis)
        if not size > 0:
            (xyz or node).fail("the axis is zero", "(0, 0, 0)", "a direction", owner=owner)
        given = "" if xyz is None else xyz.attributes.get("expressed_in", "").strip()
        if given:
            expressed = self.document.known(self.document.full(scope, given), xyz or node)
        elif scope.version < (1, 5) or flag(node, "use_parent_model_frame", False, owner):
            expressed = scope.own
        else:
            expressed = joint_frame(joint.full)
        turn = self.document.between(frame, expressed).orientation
        unit = axis / size if sorted(map(abs, axis)) != [0.0, 0.0, 1.0] else axis
        return rotate(turn, unit) if turn != FramePose().orientation else unit

    def _pitch(self, joint: TreeJoint, owner: str) -> float:
        """Metres of travel per radian. `thread_pitch` is in radians per metre of a left-handed thread."""
        node = joint.node
        if node.first("screw_thread_pitch") is not None:
            return number(node, "screw_thread_pitch", 0.0, owner) / tau
        if node.first("thread_pitch") is None:
            node.fail("no pitch of the screw", "nothing", "<screw_thread_pitch>, metres per turn")
        ratio = number(node, "thread_pitch", 0.0, owner)
        if ratio == 0:
            node.fail("a thread_pitch of zero", "0", "radians per metre; <screw_thread_pitch> is metres per turn")
        return -1.0 / ratio

    def _axis_data(self, joint: TreeJoint) -> dict[str, Any]:
        """Dampers, springs and limits of the coordinates of a joint."""
        owner, count = f"joint '{joint.full}'", AXES.get(joint.said, 0)
        nodes = [joint.node.first(tag) for tag in ("axis", "axis2")[:count]]
        if joint.said == "ball":
            dynamics = _dynamics(joint.node.first("axis"))
            if number(dynamics, "spring_stiffness", 0.0, owner):
                self.remarks.ignore("springs of ball joints ({n})")
            return {"damping": self._damping(dynamics, owner)}
        found: dict[str, list[float]] = {key: [] for key in ("damping", "stiffness", "rest", "lower", "upper")}
        for node in nodes:
            dynamics, bounds = _dynamics(node), None if node is None else node.first("limit")
            found["damping"].append(self._damping(dynamics, owner))
            found["stiffness"].append(number(dynamics, "spring_stiffness", 0.0, owner))
            found["rest"].append(number(dynamics, "spring_reference", 0.0, owner))
            low, high = limit(bounds, "lower", -inf, owner), limit(bounds, "upper", inf, owner)
            if joint.said == "continuous":
                low, high = -inf, inf
            place = f"{joint.node.file}:{joint.node.line}"
            low, high = self.remarks.limits(place, self.joint_name(joint), low, high)
            found["lower"].append(low)
            found["upper"].append(high)
        if not count:
            return {}
        data: dict[str, Any] = {key: values[0] if count == 1 else tuple(values) for key, values in found.items()}
        return data | ({"armature": self._rotor(joint, owner)} if count == 1 else {})

    def _rotor(self, joint: TreeJoint, owner: str) -> float:
        """The reflected inertia of a rotor, as Drake's files give it to joints with an actuator: J n²."""
        inertia = number(joint.node, "drake:rotor_inertia", 0.0, owner)
        axis = joint.node.first("axis")
        effort = limit(None if axis is None else axis.first("limit"), "effort", inf, owner)
        return inertia * number(joint.node, "drake:gear_ratio", 1.0, owner) ** 2 if effort else 0.0

    def _damping(self, dynamics: XmlElement | None, owner: str) -> float:
        value = number(dynamics, "damping", 0.0, owner)
        if value < 0 and dynamics is not None:
            dynamics.fail("a negative damping", f"{value:g}", "at least 0", owner=owner)
        return value

    def _has_forces(self, joint: TreeJoint) -> bool:
        owner = f"joint '{joint.full}'"
        for node in (joint.node.first(tag) for tag in ("axis", "axis2")[: AXES.get(joint.said, 0)]):
            keys = ("damping", "friction", "spring_stiffness")
            if any(number(_dynamics(node), key, 0.0, owner) for key in keys):
                return True
            bounds = None if node is None else node.first("limit")
            if limit(bounds, "lower", -inf, owner) > -inf or limit(bounds, "upper", inf, owner) < inf:
                return joint.said != "continuous"
        return False

    def _note_friction(self, joint: TreeJoint, name: str) -> None:
        """Dry friction of a joint: kept where it has one axis, and the file's is to be kept."""
        owner = f"joint '{joint.full}'"
        sizes = [
            number(_dynamics(node), "friction", 0.0, owner) for tag in ("axis", "axis2") for node in joint.node.all(tag)
        ]
        if not any(sizes) or joint.said == "fixed":
            return
        if self.friction == "ignore":
            self.remarks.ignore("dry friction of joints")
        elif AXES.get(joint.said) == 1:
            with located(f"{joint.node.file}:{joint.node.line}"):
                self.rubbing.append(JointFriction(f"{name}.friction", name, sizes[0], method=self.friction))
        else:
            self.remarks.ignore("dry friction of joints of several axes ({n})")

    # joints that follow others

    def mimics(self, joints: dict[str, TreeJoint]) -> list[Constraint]:
        """Joints that follow another: q = multiplier (q_leader − reference) + offset."""
        found = []
        for joint in joints.values():
            for tag in ("axis", "axis2"):
                axis = joint.node.first(tag)
                element = None if axis is None else axis.first("mimic")
                if element is None:
                    continue
                owner = f"joint '{joint.full}'"
                leader = f"{joint.source.scope.prefix}{element.text('joint', owner)}"
                if leader not in joints or leader == joint.full:
                    fix = "With mimic='free' it is not needed."
                    element.fail("unknown leader", repr(leader[:60]), "another joint of the tree", fix, owner)
                for each in (joint, joints[leader]):
                    if AXES.get(each.said) != 1:
                        found_type = f"'{each.full}', {each.said}"
                        element.fail("a joint without a single coordinate", found_type, "one axis", owner=owner)
                n, offset = number(element, "multiplier", 1.0, owner), number(element, "offset", 0.0, owner)
                offset -= n * number(element, "reference", 0.0, owner)
                name, source = self.joint_name(joint), self.joint_name(joints[leader])
                found.append(
                    Constraint(name, "mimic", {"joint": name, "source": source, "multiplier": n, "offset": offset})
                )
        return found

    def gears(self, boxes: list[TreeJoint], joints: dict[str, TreeJoint]) -> list[Constraint]:
        """Gearboxes: θ₂ = −ratio θ₁, angles from the reference body to parent and child about axis and axis2."""
        found = []
        for box in boxes:
            owner, scope = f"joint '{box.full}'", box.source.scope
            name = needed_text(box.node, "gearbox_reference_body")
            element = box.node.first("gearbox_reference_body") or box.node
            body = WORLD if name == WORLD else self.document.link(self.document.full(scope, name), element)
            ratio = number(box.node, "gearbox_ratio", 1.0, owner)
            (one, sign_1), (two, sign_2) = (
                self._turning(box, body, link, tag, joints)
                for link, tag in ((box.parent, "axis"), (box.child, "axis2"))
            )
            ends = {"joint": self.joint_name(two), "source": self.joint_name(one)}
            found.append(
                Constraint(
                    self.joint_name(box), "gear", {**ends, "multiplier": -ratio * sign_1 * sign_2, "offset": 0.0}
                )
            )
        return found

    def _turning(
        self, box: TreeJoint, body: str, link: str, tag: str, joints: dict[str, TreeJoint]
    ) -> tuple[TreeJoint, float]:
        """The hinge between two links, and the sign of its angle as one from `body` to `link` about an axis."""
        for joint in joints.values():
            ends = (joint.parent, joint.child)
            if joint.said in HINGES and ends in ((body, link), (link, body)):
                wanted, there = self.axis(box, tag, link), self.axis(joint, "axis", link)
                if length(cross(wanted, there)) < PARALLEL:
                    sign = 1.0 if dot(wanted, there) > 0 else -1.0
                    return joint, sign if ends == (body, link) else -sign
        found = f"no hinge about {tag} between '{body}' and '{link}'"
        box.node.fail("a gearbox without its hinges", found, "a revolute joint of this axis between them")


def _dynamics(axis: XmlElement | None) -> XmlElement | None:
    return None if axis is None else axis.first("dynamics")
