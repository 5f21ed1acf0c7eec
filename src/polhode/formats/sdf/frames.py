"""The graph of frames of an SDF: models inside models, included files, and which pose is relative to which.

Every link, joint, model and <frame> of the file has a full name, "arm::hand::finger", and a pose in another frame.
Names of a file are looked for in the scope of their model.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from polhode.errors import did_you_mean
from polhode.formats.folders import Folders
from polhode.formats.placement import FramePose
from polhode.formats.sdf.values import flag, flag_attribute, name_of, needed_text, pose_of, reference, text
from polhode.formats.xml_guard import XmlElement, read_xml
from polhode.model import WORLD

OLDEST, NEWEST = (1, 3), (1, 12)
"""The versions of SDF that are read."""

DEEPEST = 40
"""Models inside models, included ones too."""

MOST_INCLUDES = 1000
"""Files that a file may include, and those theirs."""

MODEL = "__model__"
"""What a file calls the frame of the model itself."""


class Scope(NamedTuple):
    """Where names of a model are looked for."""

    prefix: str
    """Before the names of its links, as "arm::hand::"."""
    own: str
    """The full name of the frame of the model itself."""
    version: tuple[int, int]
    depth: int
    is_static: bool
    folder: Path | None
    """Of its file."""


@dataclass(frozen=True)
class SdfFrame:
    """A frame: its pose in another one, and what carries it."""

    node: XmlElement
    base: str
    """The full name of the frame that its pose is in."""
    pose: FramePose
    carrier: str = ""
    """The full name of the frame that it is attached to; "" for a link, which carries itself."""
    placed: str = ""
    """Of a model: the full name of the frame of it that has the pose, where it is another than its own."""


class SdfLink(NamedTuple):
    """A link: its element and where its names are looked for."""

    node: XmlElement
    scope: Scope


class SdfJoint(NamedTuple):
    """A joint: its element and where its names are looked for."""

    node: XmlElement
    scope: Scope


@dataclass
class SdfDocument:
    """All that a file and those it includes have, by full names."""

    folders: Folders
    links: dict[str, SdfLink] = field(default_factory=dict)
    joints: dict[str, SdfJoint] = field(default_factory=dict)
    frames: dict[str, SdfFrame] = field(default_factory=dict)
    named: dict[str, XmlElement] = field(default_factory=dict)
    """The <frame> elements."""
    models: dict[str, str] = field(default_factory=dict)
    """The models that stand in the world: of the frame of each its name."""
    roots: list[XmlElement] = field(default_factory=list)
    """The first elements of all files."""
    _read: dict[Path, XmlElement] = field(default_factory=dict)
    _includes: int = 0
    _carrier: dict[str, str] = field(default_factory=lambda: {WORLD: WORLD})
    _placed: dict[str, FramePose] = field(default_factory=dict)
    _in_world: dict[str, tuple[str, FramePose]] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)

    # what a file has

    def read(self, root: XmlElement, folder: Path | None) -> None:
        """Take in all models of a file."""
        version = version_of(root)
        self.roots.append(root)
        self.frames[WORLD] = SdfFrame(root, WORLD, FramePose(), WORLD)
        ground = Scope("", WORLD, version, 0, False, folder)
        worlds = root.all("world")
        if len(worlds) > 1:
            worlds[1].fail("a second world", "two", "one <world> a file")
        for place in (root, *worlds):
            self._read_children(place, ground)
        if not self.links:
            root.fail("no links", "none", "a <model> with at least one <link>")
        for name, frame in self.frames.items():  # every name of the file means something
            self.in_world(name)
            self.link(name, frame.node)

    def _read_children(self, node: XmlElement, scope: Scope) -> str:
        """Take in the links, joints, frames and models of a model; the full name of its canonical link, unless given.

        That is its first link; of a model without links, that of the first model inside.
        """
        links, models = [], []
        for child in node.children:
            if child.tag == "link":
                links.append(self._read_link(child, scope))
            elif child.tag == "joint":
                self._read_joint(child, scope)
            elif child.tag == "frame":
                self._read_frame(child, scope)
            elif child.tag == "model":
                models.append(self._read_model(child, scope, child))
            elif child.tag == "include":
                found = self._read_include(child, scope)
                (links if flag_attribute(child, "merge") else models).append(found)
        return next((name for name in (*links, *models) if name), "")

    def _read_link(self, node: XmlElement, scope: Scope) -> str:
        if scope.own == WORLD:
            node.fail("a link outside of a model", "in the world", "a link of a <model>")
        full = self._added(scope, node, SdfFrame(node, self._base(node, scope), _pose(node)))
        self.links[full] = SdfLink(node, scope)
        return full

    def _read_joint(self, node: XmlElement, scope: Scope) -> None:
        name = name_of(node)
        full = f"{scope.prefix}{name}"
        if full in self.joints:
            node.fail("a second one of this name", f"the first in line {self.joints[full].node.line}", "unique names")
        self.joints[full] = SdfJoint(node, scope)
        child = self.full(scope, needed_text(node, "child"))
        base = self.full(scope, reference(node)) if reference(node) else child
        self.frames[joint_frame(full)] = frame = SdfFrame(node, base, _pose(node), child)
        self.frames.setdefault(full, frame)  # older files have links and joints of one name: then the link is meant

    def _read_frame(self, node: XmlElement, scope: Scope) -> None:
        attached = node.attributes.get("attached_to", "").strip()
        carrier = self.full(scope, attached)
        base = self.full(scope, reference(node)) if reference(node) else carrier
        full = self._added(scope, node, SdfFrame(node, base, _pose(node), carrier))
        self.named[full] = node

    def _read_model(self, node: XmlElement, scope: Scope, placing: XmlElement, merged: bool = False) -> str:
        """Take in a model; the full name of its canonical link.

        placing  the element with its name, pose, placement_frame: its own, or an <include>
        merged   whether its names become those of the model around it
        """
        if scope.depth >= DEEPEST:
            node.fail("nested too deeply", f"more than {DEEPEST} models", f"at most {DEEPEST}")
        given = text(placing, "name") if placing is not node else ""
        name = given or name_of(node)
        posed = placing if placing.first("pose") is not None else node
        static = scope.is_static or (flag(placing, "static", flag(node, "static", False)))
        prefix = scope.prefix if merged else f"{scope.prefix}{name}::"
        own = f"{scope.prefix}_merged__{name}__model__" if merged else f"{prefix}{MODEL}"
        inside = scope._replace(prefix=prefix, own=own, depth=scope.depth + 1, is_static=static)
        if own in self.frames:
            placing.fail("a second model of this name", repr(name), "unique names")
        if scope.own == WORLD:
            self.models[own] = name
        placed = text(placing, "placement_frame") if placing is not node else ""
        placed = placed or node.attributes.get("placement_frame", "").strip()
        base = self.full(scope, reference(posed)) if reference(posed) else scope.own
        version = version_of(self.roots[-1]) if placing is not node else scope.version
        folder = Path(node.file).parent if placing is not node else scope.folder
        inside = inside._replace(version=version, folder=folder)
        self.frames[own] = SdfFrame(
            placing, base, _pose(posed), placed=self.full(inside, placed) if placed else "", carrier=WORLD
        )
        first = self._read_children(node, inside)
        canonical = node.attributes.get("canonical_link", "").strip()
        carrier = self.full(inside, canonical) if canonical else first
        frame = self.frames[own]
        self.frames[own] = SdfFrame(frame.node, frame.base, frame.pose, carrier or WORLD, frame.placed)
        return first if merged else carrier

    def _read_include(self, node: XmlElement, scope: Scope) -> str:
        merged = flag_attribute(node, "merge")
        if merged and scope.own == WORLD:
            node.fail("a model merged into the world", "merge=true", "an <include> inside of a <model>")
        self._includes += 1
        if self._includes > MOST_INCLUDES:
            node.fail("too many included files", f"more than {MOST_INCLUDES}", f"at most {MOST_INCLUDES}")
        uri = needed_text(node, "uri")
        path = self._found(node, uri, scope)
        root = self._read.get(path)
        if root is None:
            root = self._read[path] = read_xml(path, keep_content=True)
        if root.tag != "sdf":
            node.fail("the included file is not an SDF", f"<{root.tag}> in {uri!r}", "<sdf>")
        version_of(root)
        models = root.all("model")
        if len(models) != 1:
            node.fail("the included file has no single model", f"{len(models)} models in {uri!r}", "one <model>")
        self.roots.append(root)
        return self._read_model(models[0], scope, node, merged)

    def _found(self, node: XmlElement, uri: str, scope: Scope) -> Path:
        """The file that a URI means, inside of the model's folders."""
        scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", uri)
        path: Path | None
        if scheme and scheme[1] in ("model", "package"):
            path = self._package(uri.partition("://")[2])
        elif scheme and scheme[1] != "file":
            fix = "Save the model beside this file, and include it by its folder."
            node.fail("a file of elsewhere", repr(uri[:80]), "model://NAME, package://NAME, or a path", fix)
        else:
            name = uri.removeprefix("file://")
            path = None if scope.folder is None else self.folders.near(scope.folder, name)
        if path is not None and path.is_dir():
            path = _main_file(path)
        if path is None or not path.is_file():
            fix = "Folders given as packages=… are looked at too."
            node.fail("included file not found in the model's folders", repr(uri[:80]), "a file there", fix)
        return path

    def _package(self, rest: str) -> Path | None:
        return self.folders.beside(rest) if self._is_beside(rest) else self.folders.package(f"package://{rest}")

    def _is_beside(self, rest: str) -> bool:
        path = self.folders.beside(rest)
        return path is not None and path.exists()

    def file(self, uri: str, folder: Path | None) -> Path | None:
        """The file of a mesh; None where it is not in the model's folders."""
        if uri.startswith(("model://", "package://")):
            return self._package(uri.partition("://")[2])
        return None if folder is None or "://" in uri[8:] else self.folders.near(folder, uri.removeprefix("file://"))

    def _base(self, node: XmlElement, scope: Scope) -> str:
        return self.full(scope, reference(node))

    def _added(self, scope: Scope, node: XmlElement, frame: SdfFrame) -> str:
        full = f"{scope.prefix}{name_of(node)}"
        known = self.frames.get(full)
        if known is not None and known.node.tag != "joint":
            node.fail("a second one of this name", f"the first in line {known.node.line}", "unique names")
        self.frames[full] = frame
        return full

    # names

    def full(self, scope: Scope, name: str) -> str:
        """The full name of what a name of a file means; whether there is such a frame is asked later."""
        if name in ("", MODEL):
            return scope.own
        return WORLD if name == WORLD and scope.own == WORLD else f"{scope.prefix}{name}"

    def known(self, full: str, node: XmlElement) -> str:
        """The full name of a frame; of a model, its own frame.  node: that names it"""
        if full in self.frames:
            return full
        if (own := f"{full}::{MODEL}") in self.frames:
            return own
        fix = did_you_mean(full, [name for name in self.frames if name.isprintable() and not name.endswith(MODEL)])
        node.fail("unknown frame", repr(full[:80]), "a link, joint, model or frame of this scope", fix)

    def link(self, full: str, node: XmlElement) -> str:
        """The full name of the link that carries a frame, or the world."""
        path: dict[str, None] = {}
        name = self.known(full, node)
        while name not in self.links and name not in self._carrier:
            if name in path:
                node.fail("frames attached to each other in a circle", repr(full[:80]), "a link at the end")
            path[name] = None
            frame = self.frames[name]
            name = self.known(frame.carrier, frame.node)
        found = self._carrier.get(name, name)
        self._carrier.update(dict.fromkeys(path, found))
        return found

    # poses

    def between(self, a: str, b: str) -> FramePose:
        """The pose of frame b in frame a, both by full names that are known."""
        (root_a, in_a), (root_b, in_b) = self._in_root(a), self._in_root(b)
        if root_a == root_b:
            return in_a.inverse().then(in_b) if in_a != FramePose() else in_b
        return self.in_world(a).inverse().then(self.in_world(b))

    def in_world(self, full: str) -> FramePose:
        """The pose of a frame in the world, where the file has it."""
        root, pose = self._in_root(full)
        seen = set()
        while root != WORLD:
            if root in seen:
                self.frames[root].node.fail("poses relative to each other in a circle", repr(root[:80]), "a tree")
            seen.add(root)
            above, more = self._in_root(self.frames[root].base, self.frames[root].node)
            root, pose = above, more.then(self._step(root)).then(pose)
        return pose

    def _in_root(self, full: str, node: XmlElement | None = None) -> tuple[str, FramePose]:
        """The frame of the model of the world that a frame belongs to, and the pose in it.

        Joints of one model so do not depend on where it stands.
        """
        chain: list[str] = []
        name = self.known(full, node or self.frames[WORLD].node)
        while name not in self._in_world:
            if name in self._open:
                self.frames[name].node.fail("poses relative to each other in a circle", repr(name[:80]), "a tree")
            if name == WORLD or name in self.models:
                self._in_world[name] = (name, FramePose())
                break
            chain.append(name)
            self._open.add(name)
            frame = self.frames[name]
            name = self.known(frame.base, frame.node)
        self._open.difference_update(chain)
        for each in reversed(chain):
            root, pose = self._in_world[self.known(self.frames[each].base, self.frames[each].node)]
            self._in_world[each] = (root, pose.then(self._step(each)))
        return self._in_world[self.known(full, node or self.frames[WORLD].node)]

    def _step(self, name: str) -> FramePose:
        """The pose of a frame in its base."""
        frame = self.frames[name]
        if not frame.placed:
            return frame.pose
        if name not in self._placed:
            at, pose, seen = self.known(frame.placed, frame.node), FramePose(), {f"placing {name}"}
            if f"placing {name}" in self._open:
                frame.node.fail("placement frames in a circle", repr(name[:80]), "a frame of the model itself")
            self._open.add(f"placing {name}")
            while at != name:
                if at == WORLD or at in seen:
                    found = repr(frame.placed[:80])
                    frame.node.fail("a placement_frame outside of its model", found, "a frame of the model itself")
                seen.add(at)
                pose, at = self._step(at).then(pose), self.known(self.frames[at].base, self.frames[at].node)
            self._open.discard(f"placing {name}")
            self._placed[name] = frame.pose.then(pose.inverse())
        return self._placed[name]


def joint_frame(joint: str) -> str:
    """The key of the frame of a joint, by the joint's full name: no name of a file."""
    return f"\0{joint}"


def version_of(root: XmlElement) -> tuple[int, int]:
    """The version of a file, as (1, 10)."""
    found = re.fullmatch(r"(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?", root.text("version"))
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    if not OLDEST <= version <= NEWEST:
        expected = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
        root.fail("a version that is not read", repr(root.attributes["version"][:40]), expected)
    return version


def _pose(node: XmlElement) -> FramePose:
    name = node.attributes.get("name", "").strip() or text(node, "name")
    return pose_of(node, f"{node.tag} '{name[:60]}'")


def _main_file(folder: Path) -> Path | None:
    """The SDF of a model's folder: what its model.config names, or model.sdf."""
    config = folder / "model.config"
    if config.is_file():
        root = read_xml(config, keep_content=True)
        names = [(each.attributes.get("version", ""), each.content) for each in root.all("sdf") if each.content]
        if names:
            newest = max(names, key=lambda one: [int(x) for x in re.findall(r"\d{1,6}", one[0])])[1]
            path = folder / newest
            return path if path.resolve().is_relative_to(folder.resolve()) else None
    return folder / "model.sdf"
