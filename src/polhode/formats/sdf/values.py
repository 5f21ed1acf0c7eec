"""Values of SDF: the text of an element as numbers, a flag, a name or a pose."""

import math

from polhode.errors import check_name
from polhode.euler import to_quaternion
from polhode.formats.placement import FramePose, turned
from polhode.formats.remarks import located
from polhode.formats.xml_guard import XmlElement
from polhode.scalar import Vec

UNLIMITED = 1e16
"""Limits of this size and above are none: what older files write for an infinite one."""

FLAGS = {"true": True, "1": True, "false": False, "0": False}


def text(node: XmlElement, tag: str, default: str = "") -> str:
    """The text of a child element; the default where there is none."""
    child = node.first(tag)
    return default if child is None or not child.content else child.content


def needed_text(node: XmlElement, tag: str) -> str:
    """The text of a child element that must be there."""
    found = text(node, tag)
    if not found:
        node.fail(f"no {tag}", "nothing", f"<{tag}>…</{tag}>")
    return found


def number(node: XmlElement | None, tag: str, default: float, owner: str) -> float:
    """A child element of one finite number."""
    child = None if node is None else node.first(tag)
    return default if child is None else child.content_numbers(1, owner)[0]


def limit(node: XmlElement | None, tag: str, default: float, owner: str) -> float:
    """A child element of one number that may be infinite."""
    child = None if node is None else node.first(tag)
    found = default if child is None else child.content_numbers(1, owner, infinite=True)[0]
    return math.copysign(math.inf, found) if abs(found) >= UNLIMITED else found


def flag(node: XmlElement | None, tag: str, default: bool, owner: str = "") -> bool:
    """A child element that is true or false."""
    child = None if node is None else node.first(tag)
    return default if child is None else _flag(child, child.content, owner)


def flag_attribute(node: XmlElement, name: str, owner: str = "") -> bool:
    """An attribute that is true or false; false unless given."""
    return _flag(node, node.attributes[name], owner) if name in node.attributes else False


def _flag(node: XmlElement, given: str, owner: str) -> bool:
    found = FLAGS.get(given.strip().lower())
    if found is None:
        node.fail("neither true nor false", repr(given[:40]), "true or false", owner=owner)
    return found


def name_of(node: XmlElement) -> str:
    """The name of an element."""
    name = node.text("name")
    check_name(f"{node.file}:{node.line}", node.tag, name)
    return name


def reference(node: XmlElement | None) -> str:
    """The frame that the <pose> of an element is relative to, as it is written; "" where none is."""
    pose = None if node is None else node.first("pose")
    if pose is None:
        return ""
    return (pose.attributes.get("relative_to") or pose.attributes.get("frame") or "").strip()


def pose_of(node: XmlElement | None, owner: str) -> FramePose:
    """The <pose> of an element: x y z, then roll, pitch and yaw or the quaternion x y z w."""
    pose = None if node is None else node.first("pose")
    if pose is None or not pose.content:
        return FramePose()
    form = pose.attributes.get("rotation_format", "euler_rpy").strip()
    degrees = flag_attribute(pose, "degrees", owner)
    if form not in ("euler_rpy", "quat_xyzw"):
        pose.fail("unknown rotation_format", repr(form[:40]), "euler_rpy or quat_xyzw", owner=owner)
    if form == "quat_xyzw" and degrees:
        pose.fail("a quaternion in degrees", "degrees=true", "euler_rpy, or no degrees", owner=owner)
    with located(f"{pose.file}:{pose.line}, {owner}"):
        if form == "quat_xyzw":
            x, y, z, *q = pose.content_numbers(7, owner)
            if not any(q):
                pose.fail("a quaternion without length", "0 0 0 0", "one of any other length", owner=owner)
            return FramePose(Vec((x, y, z)), turned((q[3], q[0], q[1], q[2])).orientation)
        x, y, z, *rpy = pose.content_numbers(6, owner)
        if not any(rpy):
            return FramePose(Vec((x, y, z)))
        angles = Vec([math.radians(a) for a in rpy] if degrees else rpy)
        return FramePose(Vec((x, y, z)), to_quaternion("extrinsic-123", angles))
