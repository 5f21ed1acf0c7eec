"""MJCF as text: includes put in, mesh files found, and what the model does not use left out.

MuJoCo sees only what this module hands on, as a string; it opens no file of the user's.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from polhode.errors import check_name
from polhode.formats.folders import Folders, folders_of
from polhode.formats.remarks import ACTUATORS, Remarks
from polhode.formats.xml_guard import MAX_DEPTH, MAX_ELEMENTS, TEXT, XmlElement, read_xml

MAX_COPIES = 4_000
"""The most bodies a <replicate> or <composite> may ask for."""
MAX_PARTS = 20_000
"""Elements that MuJoCo is given, copies counted: its time grows with their square, to some ten seconds."""
MAX_BUILTIN = 200
"""The largest number of a mesh that MuJoCo makes itself."""

SECTIONS = frozenset({"compiler", "option", "default", "asset", "worldbody", "equality"})
"""The sections of a file that say something of bodies and joints."""
LEFT_OUT = frozenset({"plugin", "light", "camera"})
"""Elements that MuJoCo need not see, wherever they stand."""
REFUSED = {
    "flexcomp": "a soft body",
    "attach": "another model",
    "model": "another model",
}
"""Elements that would change the tree in a way that is not read here."""
NAMED = frozenset({"mujoco", "body", "joint", "freejoint", "connect", "weld", "key", "site"})
"""Elements whose names the model gets."""
WORDS = frozenset(
    {"name", "class", "childclass", "model", "file", "mesh", "material", "hfield", "texture", "prefix", "type"}
    | {"joint", "joint1", "joint2", "body", "body1", "body2", "site", "site1", "site2", "geom", "target"}
)
"""Attributes that hold names rather than numbers."""


PLACED = "pos quat axisangle xyaxes zaxis euler"
USED = {
    tag: frozenset(names.split())
    for tag, names in {
        "mujoco": "model",
        "compiler": "angle eulerseq autolimits inertiafromgeom inertiagrouprange boundmass boundinertia"
        " balanceinertia settotalmass meshdir assetdir strippath",
        "option": "gravity",
        "flag": "gravity",
        "default": "class",
        "asset": "",
        "mesh": "name class file content_type vertex face normal scale refpos refquat inertia builtin params"
        " smoothnormal maxhullvert",
        "worldbody": "childclass",
        "body": f"name childclass {PLACED}",
        "frame": f"name childclass {PLACED}",
        "site": f"name class {PLACED}",
        "replicate": "count offset euler sep childclass",
        "composite": "type count prefix offset quat curve size initial",
        "inertial": f"mass diaginertia fullinertia {PLACED}",
        "joint": "name class type pos axis range limited armature damping stiffness springref ref"
        " joint1 joint2 polycoef active kind",
        "freejoint": "name",
        "geom": f"name class type size fromto mass density group mesh shellinertia fitscale {PLACED}",
        "equality": "",
        "connect": "name class body1 body2 site1 site2 anchor active",
        "weld": "name class body1 body2 site1 site2 anchor relpose torquescale active",
        "keyframe": "",
        "key": "name qpos",
    }.items()
}
"""The elements and attributes that reach the model."""


PARTS_IGNORED = {"actuator": ACTUATORS, "tendon": "tendons ({n})", "deformable": "soft bodies ({n})"}
"""Sections whose elements would change the motion and do not reach the model."""
RUBBING = "joint.frictionloss"
IGNORED = {
    RUBBING: "dry friction of joints",
    "body.gravcomp": "compensation of gravity at bodies",
    "option.density": "forces of a fluid",
    "option.viscosity": "forces of a fluid",
    "plugin": "plugins ({n})",
}
"""Elements and attributes that would, in the sections that are read."""


@dataclass(frozen=True)
class Mjcf:
    """A model ready for MuJoCo: its elements, and the mesh files by the names they are given in them."""

    root: XmlElement
    files: dict[str, Path]
    keys: tuple[XmlElement, ...] = ()
    """Its keyframes, which MuJoCo need not see."""


def read_mjcf(
    source: str | Path, remarks: Remarks, packages: Iterable[str | Path] = (), friction: bool = False
) -> Mjcf:
    """The elements of a file with all it includes, checked, cleaned and without paths; friction: whether it is kept."""
    root = read_xml(source, remarks.shown)
    if root.tag != "mujoco":
        root.fail("not an MJCF", f"<{root.tag}>", "<mujoco>")
    folders = folders_of(source, root.file == TEXT, packages)
    _Includes(folders, set() if root.file == TEXT else {Path(source).resolve()}).put_in(root)
    _check(root)
    used, ignored = _used(friction), {x: text for x, text in IGNORED.items() if not friction or x != RUBBING}
    remarks.note_unused(root, used)
    for section in root.children:
        if section.tag in PARTS_IGNORED:
            remarks.ignore(PARTS_IGNORED[section.tag], len(section.children))
        elif section.tag in SECTIONS:
            remarks.note_ignored(section, ignored)
    keys = tuple(key for section in root.all("keyframe") for key in section.all("key"))
    mjcf = Mjcf(_without_unused(root), _name_meshes(root, folders, remarks), keys)
    _check_size(mjcf.root)
    return mjcf


def _used(friction: bool) -> dict[str, frozenset[str]]:
    """The table of what is used."""
    return USED | ({"joint": USED["joint"] | {"frictionloss"}} if friction else {})


class _Includes:
    """Puts included files in place of the <include> elements; each file once, as MuJoCo has it."""

    def __init__(self, folders: Folders, seen: set[Path]) -> None:
        self.folders, self.seen = folders, seen
        self.count = 0

    def put_in(self, root: XmlElement) -> None:
        """Replace every include below an element, and those of the files they name."""
        waiting = [(root, self.folders.home, 0)]
        while waiting:
            node, folder, depth = waiting.pop()
            self.count += len(node.children)
            if depth > MAX_DEPTH or self.count > MAX_ELEMENTS:
                node.fail("too much included", f"{depth} levels, {self.count} elements", "a smaller model")
            children: list[tuple[XmlElement, Path | None]] = [(child, folder) for child in node.children]
            while any(child.tag == "include" for child, _ in children):
                children = [found for child, at in children for found in self._replace(child, at)]
            node.children = [child for child, _ in children]
            waiting += [(child, at, depth + 1) for child, at in children]

    def _replace(self, node: XmlElement, folder: Path | None) -> list[tuple[XmlElement, Path | None]]:
        if node.tag != "include":
            return [(node, folder)]
        path = self._path(node, folder)
        if path.resolve() in self.seen:
            node.fail("included twice", repr(node.attributes["file"]), "each file once")
        self.seen.add(path.resolve())
        root = read_xml(path)
        if root.tag not in ("mujoco", "mujocoinclude"):
            root.fail("not a part of an MJCF", f"<{root.tag}>", "<mujoco> or <mujocoinclude>")
        return [(child, path.parent) for child in root.children]

    def _path(self, node: XmlElement, folder: Path | None) -> Path:
        name = node.text("file")
        if self.folders.home is None and not self.folders.packages:
            node.fail("no folder to include from", repr(name), "a model given as a file")
        for home in (self.folders.home, folder, *self.folders.packages):  # MuJoCo's order
            path = Folders(home, self.folders.packages).beside(name) if home is not None else None
            if path is not None and self.folders.inside(path) and path.is_file():
                return path
        if self.folders.beside(name) is None:
            fix = "Copy the file into the model's folder, or name its folder in packages=."
            node.fail("a path that leaves the model's folder", repr(name), "a file inside it", fix)
        node.fail("no such file", repr(name), "a file in the model's folder")


def _check(root: XmlElement) -> None:
    """Refuse what is not read, numbers that are none, and orders for millions of bodies."""
    waiting = [(root, 1.0)]
    while waiting:
        node, copies = waiting.pop()
        if node.tag in REFUSED:
            node.fail(f"<{node.tag}>, {REFUSED[node.tag]}", "one", "rigid bodies of this file")
        if node.tag == "frame" and node.attributes.keys() & {"scale", "massscale"}:
            node.fail("a frame that scales its content", "scale", "bodies at their own size")
        for name in ("name", "model"):
            if node.tag in NAMED and node.attributes.get(name, "").strip():
                check_name(f"{node.file}:{node.line}", node.tag, node.attributes[name])
        for name, value in node.attributes.items():
            if name not in WORDS and any(word.lower().lstrip("+-") == "nan" for word in value.split()):
                node.fail(f"{name} is not a number", "nan", "numbers")
        if node.tag == "compiler" and not re.fullmatch("[xyzXYZ]{3}", node.attributes.get("eulerseq", "xyz")):
            node.fail("eulerseq cannot be read", repr(node.attributes["eulerseq"]), "three of x, y, z, X, Y, Z")
        if node.tag in ("replicate", "composite"):
            copies *= _copies(node)
            if not copies <= MAX_COPIES:
                node.fail("too many copies", f"{copies:g}", f"at most {MAX_COPIES}")
        if node.tag == "mesh" and max(_floats(node.attributes.get("params", "")), default=0.0) > MAX_BUILTIN:
            node.fail("params too large", repr(node.attributes["params"]), f"at most {MAX_BUILTIN} each")
        waiting += [(child, copies) for child in node.children]


def _check_size(root: XmlElement) -> None:
    """Refuse more than MuJoCo reads in some ten seconds."""
    waiting, count = [(root, 1.0)], 0.0
    while waiting:
        node, copies = waiting.pop()
        count += copies
        copies *= _copies(node) if node.tag in ("replicate", "composite") else 1.0
        waiting += [(child, copies) for child in node.children]
    if count > MAX_PARTS:
        fix = "A larger polhode.formats.mjcf.cleaned_text.MAX_PARTS lets it pass; the time grows with its square."
        root.fail("too many elements", f"{count:g}, copies counted", f"at most {MAX_PARTS}", fix)


def _copies(node: XmlElement) -> float:
    return math.prod(max(abs(x), 1.0) for x in _floats(node.attributes.get("count", "")))


def _floats(text: str) -> list[float]:
    """The numbers in a text, infinite for a word that is none."""
    found = []
    for word in text.split():
        try:
            found.append(float(word))
        except ValueError:
            found.append(math.inf)
    return found


def _name_meshes(root: XmlElement, folders: Folders, remarks: Remarks) -> dict[str, Path]:
    """Give every mesh a name, and its file a name without a path; drop those whose file is not there."""
    strip, folder = False, ""
    for compiler in root.all("compiler"):
        strip = compiler.attributes.get("strippath", str(strip)).lower() == "true"
        folder = compiler.attributes.get("meshdir", compiler.attributes.get("assetdir", folder)).replace("\\", "/")
    files: dict[str, Path] = {}
    _check_meshes(root)
    for asset in root.all("asset"):
        asset.children = [
            mesh for mesh in asset.all("mesh") if _name_mesh(mesh, folder, strip, folders, files, remarks)
        ]
    for compiler in root.all("compiler"):
        for name in ("meshdir", "assetdir", "texturedir", "strippath"):
            compiler.attributes.pop(name, None)
    return files


def _check_meshes(root: XmlElement) -> None:
    """Every mesh that a geom names stands among the assets."""
    known = {mesh.attributes.get("name") or _stem(mesh) for asset in root.all("asset") for mesh in asset.all("mesh")}
    for node in root.walk():
        if node.tag == "geom" and node.attributes.get("mesh", "") not in {"", *known}:
            node.fail("unknown mesh", repr(node.attributes["mesh"]), "a mesh that stands in <asset>")


def _stem(mesh: XmlElement) -> str:
    return PurePosixPath(mesh.attributes.get("file", "").replace("\\", "/")).stem


def _name_mesh(
    mesh: XmlElement, folder: str, strip: bool, folders: Folders, files: dict[str, Path], remarks: Remarks
) -> bool:
    """Whether a mesh is kept: it has no file, or one inside the model's folders.

    As in MuJoCo, a file is looked for in the mesh folder of the whole model, then beside the included file naming it.
    """
    name = mesh.attributes.get("file", "")
    if not name:
        return True
    pure = PurePosixPath(name.replace("\\", "/"))
    mesh.attributes.setdefault("name", _stem(mesh))
    paths = [folders.beside(str(PurePosixPath(folder) / (pure.name if strip else pure)))]
    if not strip and mesh.file != remarks.shown:
        paths.append(folders.near(Path(mesh.file).parent, str(pure)))
    path = next((path for path in paths if path is not None and path.is_file()), None)
    if path is None:
        remarks.mesh(name, "not found" if any(paths) else "outside the model's folder")
        return False
    mesh.attributes["file"] = f"{len(files)}{pure.suffix.lower()}"
    files[mesh.attributes["file"]] = path
    return True


def _without_unused(root: XmlElement) -> XmlElement:
    """The sections that matter; the nodes keep their lines."""
    kept = XmlElement(root.tag, root.attributes, root.file, root.line)
    kept.children = [child for child in root.children if child.tag in SECTIONS]
    for node in kept.walk():
        node.children = [child for child in node.children if child.tag not in LEFT_OUT]
    return kept
