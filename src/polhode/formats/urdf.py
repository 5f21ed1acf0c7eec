"""URDF → Model.

Everything is taken from the guarded XML itself: MuJoCo's reader of URDF merges fixed links and drops
mimic, planar and effort data, and this way every message has its line. Properties that the model does
not keep are named in one warning.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from polhode.errors import check_name
from polhode.euler import to_quaternion
from polhode.formats.configurations import with_group_states
from polhode.formats.folders import Folders, folders_of
from polhode.formats.placement import ORIGIN, UPRIGHT, FramePose, turn_from_z
from polhode.formats.registry import FRICTION
from polhode.formats.remarks import ACTUATORS, Remarks, located, massless
from polhode.formats.visuals import shapes_of, visuals_of
from polhode.formats.xml_guard import TEXT, XmlElement, read_xml
from polhode.model import WORLD, Body, Constraint, Joint, JointFriction, Model
from polhode.quaternion import conjugate, rotation_matrix
from polhode.scalar import Vec, one_of

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
"""URDF's joint types, and ours."""

USED = {
    tag: frozenset(names.split())
    for tag, names in {
        "robot": "name version",
        "link": "name",
        "inertial": "",
        "origin": "xyz rpy",
        "mass": "value",
        "inertia": "ixx ixy ixz iyy iyz izz",
        "joint": "name type",
        "parent": "link",
        "child": "link",
        "axis": "xyz",
        "limit": "lower upper",
        "dynamics": "damping",
        "mimic": "joint multiplier offset",
        "visual": "name",
        "geometry": "",
        "box": "size",
        "cylinder": "radius length",
        "sphere": "radius",
        "mesh": "filename scale",
    }.items()
}
"""The elements and attributes that reach the model, or pictures of it."""

IGNORED = {
    "transmission": ACTUATORS,
    "dynamics.friction": "dry friction of joints",
    "gazebo": "extensions for Gazebo ({n})",
}
"""Elements and attributes that would change the motion and do not reach the model."""

ONE_AXIS = ("revolute", "continuous", "prismatic")
AXIS = (1.0, 0.0, 0.0)
"""The axis of a URDF joint that names none."""


@dataclass(frozen=True)
class _Link:
    """A joint element with its ends."""

    node: XmlElement
    name: str
    parent: str
    child: str


def load_urdf(
    source: str | Path,
    base: str = "fixed",
    mimic: str = "constrain",
    packages: Iterable[str | Path] = (),
    friction: str = "ignore",
    srdf: str | Path | None = None,
) -> Model:
    """The model of a URDF file, or of a text that begins with "<".

    base      "fixed": the root link is fixed to the world, by a joint "root_joint"; "free": by a free joint.
              A root link named "world" is the world itself.
    mimic     "constrain": joints that follow another give a "mimic" constraint; "free": they move on their own
    packages  folders in which package://NAME is looked for, before those above the file
    friction  "ignore", or the method of the `JointFriction` that dry friction of a joint of one axis becomes
    srdf      an SRDF file, or its text, whose group states become configurations

    Links without mass, inertias that no real body has, properties that are not used and meshes that are
    not found are told by one PolhodeWarning each.
    """
    one_of("load_urdf, argument base", base, ("fixed", "free"), "unknown")
    one_of("load_urdf, argument mimic", mimic, ("constrain", "free"), "unknown")
    one_of("load_urdf, argument friction", friction, FRICTION, "unknown")
    root = read_xml(source)
    if root.tag != "robot":
        root.fail("not a URDF", f"<{root.tag}>", "<robot>")
    name = root.attributes.get("name", "").strip() or ("robot" if root.file == TEXT else Path(root.file).stem)
    check_name(f"{root.file}:{root.line}", "robot", name)
    remarks = Remarks(root.file)
    links = _named(root.all("link"))
    if not links:
        root.fail("no links", "none", "at least one <link>")
    joints = _joint_ends(root, links)
    ground = _root(root, links, joints)
    bodies = [_body(remarks, node) for link, node in links.items() if link != WORLD]
    records = _base(root, ground, base, joints)
    for joint in joints.values():
        joint_records, frames = _joint(remarks, joint)
        records += joint_records
        bodies += frames
    constraints = _mimics(remarks, joints) if mimic == "constrain" else []
    if ground == WORLD and links[WORLD].first("inertial") is not None:
        remarks.not_used("inertial of the link 'world'")
    rubbing = _frictions(remarks, joints, friction) if friction != "ignore" else []
    kept = {} if friction == "ignore" else {"dynamics": frozenset(["damping", "friction"])}
    remarks.note_unused(root, USED | kept)
    folders = folders_of(source, root.file == TEXT, packages)
    _note_meshes(remarks, root, folders)
    remarks.note_ignored(root, {x: IGNORED[x] for x in IGNORED if friction == "ignore" or x != "dynamics.friction"})
    if mimic == "free":
        remarks.ignore("mimic joints ({n}): they move on their own", sum(node.tag == "mimic" for node in root.walk()))
    if sum(link.first("collision") is not None for link in links.values()) > 1:
        remarks.ignore("contacts: bodies pass through each other")
    with located(root.file):
        model = Model(
            name, bodies=tuple(bodies), joints=tuple(records), forces=rubbing, constraints=tuple(constraints),
            shapes=shapes_of(visuals_of(root, folders), [body.name for body in bodies]), ignored=remarks.ignored,
        )  # fmt: skip
    remarks.warn()
    return model if srdf is None else with_group_states(model, srdf)


def _named(nodes: Iterable[XmlElement]) -> dict[str, XmlElement]:
    """Elements by name, each name once."""
    found: dict[str, XmlElement] = {}
    for node in nodes:
        name = node.text("name")
        check_name(f"{node.file}:{node.line}", node.tag, name)
        if name in found:
            node.fail("a second one of this name", f"the first in line {found[name].line}", "unique names")
        found[name] = node
    return found


def _joint_ends(root: XmlElement, links: dict[str, XmlElement]) -> dict[str, _Link]:
    """The joints, their links checked."""
    joints: dict[str, _Link] = {}
    joint_of: dict[str, _Link] = {}
    for name, node in _named(root.all("joint")).items():
        ends = {}
        for end in ("parent", "child"):
            element = node.first(end)
            if element is None:
                node.fail(f"no {end}", "nothing", f"<{end} link=…>")
            ends[end] = element.text("link", f"joint '{name}'")
            if ends[end] not in links:
                element.fail("unknown link", repr(ends[end]), "a link of this file", owner=f"joint '{name}'")
        joint = joints[name] = _Link(node, name, **ends)
        if joint.parent == joint.child:
            node.fail("parent and child are one link", repr(joint.child), "two links")
        if joint.child in joint_of:
            found = f"'{joint.child}' is the child of '{joint_of[joint.child].name}' too"
            node.fail("a link with two parents", found, "one joint for each link")
        joint_of[joint.child] = joint
    return joints


def _root(root: XmlElement, links: dict[str, XmlElement], joints: dict[str, _Link]) -> str:
    """The one link that is no child."""
    children = {joint.child: joint for joint in joints.values()}
    tops = [link for link in links if link not in children]
    if len(tops) > 1:
        second = links[tops[1]]
        second.fail("a second root link", f"'{tops[0]}' and '{tops[1]}' have no parent", "one root link")
    if not tops:
        first = next(iter(joints.values()))
        first.node.fail("the joints make a cycle", "every link is a child", "one link without a parent")
    reached = {tops[0]}
    below: dict[str, list[str]] = {}
    for joint in joints.values():
        below.setdefault(joint.parent, []).append(joint.child)
    waiting = [tops[0]]
    while waiting:
        for child in below.get(waiting.pop(), []):
            reached.add(child)
            waiting.append(child)
    for joint in joints.values():
        if joint.child not in reached:
            joint.node.fail("the joints make a cycle", f"'{joint.parent}' → '{joint.child}'", f"a tree on '{tops[0]}'")
    if WORLD in children:
        links[WORLD].fail(
            "'world' is not the root", f"a child of '{children[WORLD].parent}'", "the ground, or another name"
        )
    return tops[0]


def _base(root: XmlElement, ground: str, base: str, joints: dict[str, _Link]) -> list[Joint]:
    """The joint between the world and the root link."""
    if ground == WORLD:
        if base == "free":
            fix = "Load it with base='fixed', or give the link another name."
            root.fail("no base to free", "the root link is 'world'", "another root link", fix)
        return []
    name = "root_joint"
    while name in joints:
        name += "_"
    return [Joint(name, base, WORLD, ground)]


def _placement(node: XmlElement | None, owner: str) -> FramePose:
    """The frame of an <origin>: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    if node is None:
        return FramePose()
    rpy = Vec(node.numbers("rpy", 3, ORIGIN, owner))
    return FramePose(Vec(node.numbers("xyz", 3, ORIGIN, owner)), to_quaternion("extrinsic-123", rpy))


def _body(remarks: Remarks, link: XmlElement) -> Body:
    """A body: the inertia is turned from the axes of the inertial frame into those of the link."""
    name = link.text("name")
    inertial = link.first("inertial")
    if inertial is None:
        remarks.without_mass(name)
        return massless(name)
    owner = f"link '{name}'"
    with located(f"{link.file}:{link.line}, {owner}"):
        center, orientation = _placement(inertial.first("origin"), owner)
    mass, inertia = inertial.first("mass"), inertial.first("inertia")
    m = 0.0 if mass is None else mass.number("value", owner=owner)
    J = np.zeros((3, 3))
    if inertia is not None:
        xx, xy, xz, yy, yz, zz = (inertia.number(f"i{k}", owner=owner) for k in ("xx", "xy", "xz", "yy", "yz", "zz"))
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    with np.errstate(all="ignore"):  # numbers beyond all bounds are found by the record
        if orientation != UPRIGHT:
            R = rotation_matrix(np.array(orientation))
            J = R @ J @ R.T
            J = (J + J.T) / 2
        return remarks.body(f"{link.file}:{link.line}", name, m, J.tolist(), center)


def _joint(remarks: Remarks, link: _Link) -> tuple[list[Joint], list[Body]]:
    """The joints of a URDF joint, and the massless frames between them."""
    node, name = link.node, link.name
    owner = f"joint '{name}'"
    kind = node.text("type")
    if kind not in TYPES:
        node.fail("unknown type", repr(kind), ", ".join(TYPES))
    with located(f"{node.file}:{node.line}, {owner}"):
        position, orientation = _placement(node.first("origin"), owner)
    element = node.first("axis")
    axis = AXIS if element is None else element.numbers("xyz", 3, AXIS, owner)
    if not any(axis) and kind in (*ONE_AXIS, "planar"):
        (element or node).fail("the axis is zero", "(0, 0, 0)", "a direction", owner=owner if element else "")
    common = {"parent": link.parent, "position": position, "orientation": orientation, **_limits(remarks, link, kind)}
    with located(f"{node.file}:{node.line}"):
        if kind != "planar":
            common |= {"axis": axis} if kind in ONE_AXIS else {}
            return [Joint(name, TYPES[kind], child=link.child, **common)], []
        return _planar(link, axis, common)


def _limits(remarks: Remarks, link: _Link, kind: str) -> dict:
    """Limits and damping. URDF: a limit element without numbers means 0."""
    node, owner, found = link.node, f"joint '{link.name}'", {}
    limit, dynamics = node.first("limit"), node.first("dynamics")
    if limit is not None and kind in ("revolute", "prismatic"):
        given = (limit.number(key, 0.0, owner, infinite=True) for key in ("lower", "upper"))
        found["lower"], found["upper"] = remarks.limits(f"{limit.file}:{limit.line}", link.name, *given)
    if dynamics is not None and kind != "fixed":
        found["damping"] = dynamics.number("damping", 0.0, owner)
    return found


def _frictions(remarks: Remarks, joints: dict[str, _Link], method: str) -> list[JointFriction]:
    """Dry friction of the joints of one axis; that of others is noted."""
    found = []
    for name, link in joints.items():
        dynamics, kind = link.node.first("dynamics"), link.node.attributes.get("type")
        size = dynamics.number("friction", 0.0, f"joint '{name}'") if dynamics is not None else 0.0
        if size and kind in ONE_AXIS:
            with located(f"{link.node.file}:{link.node.line}"):
                found.append(JointFriction(f"{name}.friction", name, size, method=method))
        elif size and kind != "fixed":
            remarks.ignore("dry friction of joints of several axes ({n})")
    return found


def _planar(link: _Link, axis: tuple, common: dict) -> tuple[list[Joint], list[Body]]:
    """A planar joint. Ours moves normal to its frame's z, so another normal needs a turned frame, and back.

    The shortest turn from z to the axis is taken.
    """
    turn = turn_from_z(axis)
    if turn == UPRIGHT:
        return [Joint(link.name, "planar", child=link.child, **common)], []
    frame = f"{link.child}.{link.name}"
    common["orientation"] = FramePose(orientation=common["orientation"]).then(FramePose(orientation=turn)).orientation
    moving = Joint(link.name, "planar", child=frame, **common)
    back = Joint(f"{link.name}.back", "fixed", frame, link.child, orientation=conjugate(turn))
    return [moving, back], [massless(frame)]


def _mimics(remarks: Remarks, joints: dict[str, _Link]) -> list[Constraint]:
    """Joints that follow another: q = multiplier · q_source + offset."""
    found = []
    for name, joint in joints.items():
        element = joint.node.first("mimic")
        if element is None:
            continue
        if joint.node.attributes["type"] == "fixed":
            remarks.not_used("mimic of a fixed joint")
            continue
        owner = f"joint '{name}'"
        source = element.text("joint", owner)
        if source not in joints or source == name:
            fix = "With mimic='free' it is not needed."
            element.fail("unknown source", repr(source), "another joint of this file", fix, owner)
        for end in (name, source):
            kind = joints[end].node.attributes.get("type")
            if kind not in ONE_AXIS:
                element.fail(f"joint '{end}' has no single coordinate", repr(kind), ", ".join(ONE_AXIS), owner=owner)
        numbers = {k: element.number(k, default, owner) for k, default in (("multiplier", 1.0), ("offset", 0.0))}
        found.append(Constraint(name, "mimic", {"joint": name, "source": source, **numbers}))
    return found


def _note_meshes(remarks: Remarks, root: XmlElement, folders: Folders) -> None:
    """Name the meshes that lie outside the model's folders, or nowhere."""
    for node in root.walk():
        name = node.attributes.get("filename", "")
        if node.tag != "mesh" or not name or name in remarks.meshes:
            continue
        if name.startswith("package://"):
            if folders.package(name) is None:
                remarks.mesh(name, "not in its package, or no such package")
            continue
        path = folders.beside(name.removeprefix("file://"))
        if path is None:
            remarks.mesh(name, "outside the model's folder")
        elif not path.is_file():
            remarks.mesh(name, "not found")
