"""SDF → Model.

q = 0 is where the file has the links. Links that no joint carries are free, those of static models are fixed. The
first joint of a link carries it, any other closes a loop and becomes a constraint.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from polhode.formats.folders import folders_of
from polhode.formats.placement import UPRIGHT, FramePose
from polhode.formats.registry import FRICTION
from polhode.formats.remarks import Remarks, located
from polhode.formats.sdf.frames import SdfDocument, joint_frame
from polhode.formats.sdf.joints import GEARBOX, JointReader, TreeJoint, joint_ends
from polhode.formats.sdf.shapes import link_shapes
from polhode.formats.sdf.values import flag, flag_attribute, number, pose_of, reference
from polhode.formats.visuals import shapes_of
from polhode.formats.xml_guard import TEXT, XmlElement, read_xml
from polhode.model import WORLD, Body, BodyFrame, Constraint, Force, Joint, Model, Start
from polhode.model.description import STANDARD_GRAVITY
from polhode.model.numbers import plain
from polhode.quaternion import rotation_matrix
from polhode.scalar import one_of

GRAVITY = (0.0, 0.0, -9.8)
"""That of a <world> that gives none."""

USED = {
    tag: frozenset(names.split())
    for tag, names in {
        "sdf": "version",
        "world": "name",
        "model": "name canonical_link placement_frame",
        "include": "merge",
        "uri": "",
        "name": "",
        "placement_frame": "",
        "static": "",
        "gravity": "",
        "link": "name",
        "frame": "name attached_to",
        "pose": "relative_to frame rotation_format degrees",
        "inertial": "",
        "mass": "",
        "inertia": "",
        **dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), ""),
        "joint": "name type",
        **dict.fromkeys(("parent", "child", "axis", "axis2", "dynamics", "limit", "lower", "upper"), ""),
        "xyz": "expressed_in",
        **dict.fromkeys(("damping", "friction", "spring_stiffness", "spring_reference"), ""),
        **dict.fromkeys(("screw_thread_pitch", "thread_pitch", "gearbox_ratio", "gearbox_reference_body"), ""),
        **dict.fromkeys(("drake:rotor_inertia", "drake:gear_ratio"), ""),
        "use_parent_model_frame": "",
        "mimic": "joint axis",
        **dict.fromkeys(("multiplier", "offset", "reference"), ""),
        "visual": "name",
        "collision": "name",
        "geometry": "",
        **dict.fromkeys(("box", "cylinder", "sphere", "mesh", "size", "radius", "length", "scale"), ""),
    }.items()
}
"""The elements and attributes that reach the model, or pictures of it."""

IGNORED = {
    "plugin": "plugins ({n})",
    "actor": "actors ({n})",
    "fluid_added_mass": "added mass of a fluid ({n})",
    "drake:mimic": "mimic joints of Drake ({n})",
    "drake:joint": "joints of Drake's own ({n})",
    "drake:linear_bushing_rpy": "bushings of Drake ({n})",
    "drake:ball_constraint": "constraints of Drake ({n})",
}
"""Elements that would change the motion and do not reach the model."""


def load_sdf(
    source: str | Path, mimic: str = "constrain", packages: Iterable[str | Path] = (), friction: str = "ignore"
) -> Model:
    """The model of an SDF file, or of a text that begins with "<".

    mimic     "constrain": joints that follow another give a "mimic" constraint; "free": they move on their own
    packages  folders in which model://NAME and package://NAME are looked for, before those above the file
    friction  "ignore", or the method of the `JointFriction` that dry friction of a joint of one axis becomes

    Links have the names of the file, those of models inside models "hand::finger"; where the file has several models
    in its world, the model's name comes first. What the file does not say (inertias) and what is not used is told by
    one PolhodeWarning each.
    """
    one_of("load_sdf, argument mimic", mimic, ("constrain", "free"), "unknown")
    one_of("load_sdf, argument friction", friction, FRICTION, "unknown")
    root = read_xml(source, keep_content=True)
    if root.tag != "sdf":
        root.fail("not an SDF", f"<{root.tag}>", "<sdf>")
    folders = folders_of(source, root.file == TEXT, packages)
    document = SdfDocument(folders)
    with np.errstate(all="ignore"):  # numbers beyond all bounds are found by the records
        document.read(root, folders.home)
        remarks = Remarks(root.file)
        model = _SdfReader(document, root, remarks, friction).model(mimic)
    remarks.warn()
    return model


class _SdfReader:
    """Turns a document into records."""

    def __init__(self, document: SdfDocument, root: XmlElement, remarks: Remarks, friction: str) -> None:
        self.document, self.root, self.remarks, self.friction = document, root, remarks, friction
        self.worlds = root.all("world")
        self.names = self._names()
        self.reader = JointReader(document, remarks, self.names, friction)

    def model(self, mimic: str) -> Model:
        """The model."""
        document, remarks = self.document, self.remarks
        gravity = self._gravity()
        bodies = {full: self._body(full) for full in document.links}
        every = [joint_ends(document, full) for full in document.joints]
        boxes = [joint for joint in every if joint.said == GEARBOX]
        carrying, closing = self._split([joint for joint in every if joint.said != GEARBOX])
        joints, q = self._bases({joint.child for joint in carrying.values()})
        frames = []
        for joint in carrying.values():
            parts = self.reader.of_tree(joint)
            joints += parts.joints
            frames += parts.frames
        q += [x for joint in joints for x in joint.zero][len(q) :]
        constraints = [self.reader.of_loop(joint) for joint in closing]
        constraints += self.reader.gears(boxes, carrying)
        constraints += self._mimics(carrying, mimic)
        self._note_unused()
        self._note_contacts(carrying)
        shapes = shapes_of(
            {self.names[full]: link_shapes(document, full, remarks) for full in bodies}, [*self.names.values()]
        )
        weightless = [f for full in document.links for f in self._without_gravity(full, bodies[full], gravity)]
        made = [*bodies.values(), *frames]
        with located(self.root.file):
            return Model(
                self._title(), gravity=gravity, bodies=made, joints=joints,
                forces=[*weightless, *self.reader.rubbing], constraints=constraints,
                frames=self._frames({body.name for body in made}), shapes=shapes,
                start=Start(q=tuple(q)) if q != [x for joint in joints for x in joint.zero] else None,
                ignored=remarks.ignored,
            )  # fmt: skip

    # names

    def _names(self) -> dict[str, str]:
        """What the model calls links and joints: by full names, without the model's where there is one alone."""
        alone = [f"{name}::" for name in self.document.models.values()]
        before = alone[0] if len(alone) == 1 else ""
        found = {full: full.removeprefix(before) for full in self.document.links}
        found[WORLD] = WORLD
        for full in self.document.joints:
            found[joint_frame(full)] = full.removeprefix(before)
        for full in self.document.named:
            found[full] = full.removeprefix(before)
        return found

    def _title(self) -> str:
        if self.worlds and self.worlds[0].attributes.get("name", "").strip():
            return self.worlds[0].attributes["name"].strip()
        return next(iter(self.document.models.values()))

    def _fresh(self, name: str, taken: set[str]) -> str:
        while name in taken:
            name += "_"
        return name

    # bodies

    def _gravity(self) -> tuple:
        if not self.worlds:
            return STANDARD_GRAVITY
        node = self.worlds[0].first("gravity")
        return GRAVITY if node is None else node.content_numbers(3)

    def _body(self, full: str) -> Body:
        """A body: the inertia is turned from the axes of the inertial frame into those of the link."""
        node, name, owner = self.document.links[full].node, self.names[full], f"link '{full}'"
        inertial = node.first("inertial")
        if inertial is not None and flag_attribute(inertial, "auto", owner):
            fix = "Write the mass and the inertia of the link."
            inertial.fail("an inertia of its shapes", "auto=true", "<mass> and <inertia>", fix, owner)
        if inertial is None or inertial.first("mass") is None or inertial.first("inertia") is None:
            missing = [tag for tag in ("mass", "inertia") if inertial is None or inertial.first(tag) is None]
            values = {"mass": "a mass (1 kg)", "inertia": "an inertia (1 kg m² about each axis)"}
            said = " and ".join(values[tag] for tag in missing)
            self.remarks.tell(f"links without {said}: values in brackets, as SDF says", name)
        if inertial is not None and reference(inertial):
            inertial.fail(
                "an inertial pose in another frame", repr(reference(inertial)[:60]), "that of the link", owner=owner
            )
        center, orientation = pose_of(inertial, owner)
        m = number(inertial, "mass", 1.0, owner)
        inertia = None if inertial is None else inertial.first("inertia")
        xx, yy, zz = (number(inertia, tag, 1.0, owner) for tag in ("ixx", "iyy", "izz"))
        xy, xz, yz = (number(inertia, tag, 0.0, owner) for tag in ("ixy", "ixz", "iyz"))
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if orientation != UPRIGHT:
            R = rotation_matrix(np.array(orientation))
            J = R @ J @ R.T
            J = (J + J.T) / 2
        return self.remarks.body(f"{node.file}:{node.line}", name, m, J.tolist(), center)

    def _without_gravity(self, full: str, body: Body, gravity: tuple) -> Iterator[Force]:
        """The force that carries a link on which gravity does not act."""
        if not flag(self.document.links[full].node, "gravity", True, f"link '{full}'") and any(gravity):
            m = plain(body.mass)
            if m:
                yield Force(f"{body.name}.gravity", body.name, tuple(-m * g for g in gravity), point=body.center)

    # the tree

    def _split(self, joints: list[TreeJoint]) -> tuple[dict[str, TreeJoint], list[TreeJoint]]:
        """The joints that carry links, by full names, and those that close loops; none of static models."""
        links = self.document.links
        carries: dict[str, TreeJoint] = {}
        closing: list[TreeJoint] = []
        for joint in joints:
            if links[joint.child].scope.is_static:
                if joint.parent != WORLD and not links[joint.parent].scope.is_static:
                    closing.append(joint)
                else:
                    self.remarks.not_used("joint of a static model")
            elif joint.child in carries:
                closing.append(joint)
            else:
                carries[joint.child] = joint
        grounded: set[str] = {WORLD}
        for link in links:  # a link that is carried by what it carries: the joint closes a loop, and the link is free
            path: dict[str, None] = {}
            at = link
            while at not in grounded and at in carries:
                if at in path:
                    closing.append(carries.pop(at))
                    break
                path[at] = None
                at = carries[at].parent
            grounded.update([*path, link])
        return {joint.full: joint for joint in joints if carries.get(joint.child) is joint}, closing

    def _bases(self, carried: set[str]) -> tuple[list[Joint], list[float]]:
        """Joints on the world of the links that no joint carries: free, or fixed where the model is static."""
        taken = {self.names[joint_frame(full)] for full in self.document.joints}
        found, q = [], list[float]()
        for full, link in self.document.links.items():
            if full in carried:
                continue
            at, body = self.document.in_world(full), self.names[full]
            with located(f"{link.node.file}:{link.node.line}"):
                if link.scope.is_static:
                    name = self._fresh(f"{body}.fixed", taken)
                    found.append(Joint(name, "fixed", WORLD, body, **_placed(at)))
                else:
                    found.append(Joint(self._fresh(f"{body}.free", taken), "free", WORLD, body))
                    q += [*at.position, *at.orientation]
        return found, q

    def _mimics(self, joints: dict[str, TreeJoint], mimic: str) -> list[Constraint]:
        if mimic == "constrain":
            return self.reader.mimics(joints)
        count = sum(axis.first("mimic") is not None for joint in joints.values() for axis in joint.node.children)
        self.remarks.ignore("mimic joints ({n}): they move on their own", count)
        return []

    def _frames(self, bodies: set[str]) -> list[BodyFrame]:
        """The <frame> elements on links; those of the world stand still."""
        found = []
        for full, node in self.document.named.items():
            link = self.document.link(full, node)
            if link == WORLD:
                self.remarks.not_used("frame of the world")
                continue
            at = self.document.between(link, full)
            name = self._fresh(self.names[full], bodies)
            with located(f"{node.file}:{node.line}"):
                found.append(BodyFrame(name, self.names[link], **_placed(at)))
        return found

    # remarks

    def _note_unused(self) -> None:
        seen = set()
        for root in self.document.roots:
            if id(root) not in seen:
                seen.add(id(root))
                self.remarks.note_unused(root, USED)
                self.remarks.note_ignored(root, IGNORED)
        for full, link in self.document.links.items():
            owner = f"link '{full}'"
            decay = link.node.first("velocity_decay")
            if number(decay, "linear", 0.0, owner) or number(decay, "angular", 0.0, owner):
                self.remarks.ignore("velocity_decay of links ({n})")
            if flag(link.node, "kinematic", False, owner):
                self.remarks.ignore("links that are kinematic ({n}): forces move them here")

    def _note_contacts(self, carrying: dict[str, TreeJoint]) -> None:
        """Note contacts: of links that move with what stands still, and with others."""
        parents = {joint.child: joint for joint in carrying.values()}
        still, moving = 0, 0
        for full, link in self.document.links.items():
            if link.node.first("collision") is None:
                continue
            at = full
            while at in parents and parents[at].said == "fixed":
                at = parents[at].parent
            is_still = at == WORLD or (at not in parents and self.document.links[at].scope.is_static)
            still, moving = still + is_still, moving + (not is_still)
        if moving > 1:
            self.remarks.ignore("contacts: bodies pass through each other")
        if moving and still:
            self.remarks.ignore("contacts: bodies pass through what stands still, such as a floor")


def _placed(at: FramePose) -> dict[str, Any]:
    return {"position": at.position, "orientation": at.orientation}
