"""What the links of a URDF look like: their visual shapes and mesh files, for pictures only."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from polhode.errors import InputError, message
from polhode.euler import to_quaternion
from polhode.formats.folders import Folders, folders_of
from polhode.formats.xml_guard import XmlElement, read_xml
from polhode.model import BodyShape

READABLE = (".stl", ".obj", ".ply", ".off")
"""Kinds of mesh files that are read."""


class Visual(NamedTuple):
    """One shape in the axes of its link.

    kind      "box", "cylinder", "sphere" or "mesh"
    size      sides; radius and length; radius; scale of the file's axes
    file      of a mesh; None where it was not found
    """

    kind: str
    size: tuple[float, ...]
    position: tuple[float, ...]
    orientation: tuple[float, ...]
    file: Path | None = None
    name: str = ""


def visuals(path: str | Path, packages: Sequence[str | Path] = ()) -> dict[str, list[Visual]]:
    """The visual shapes of every link of a URDF, by its name; files are looked for where `ph.load` does.

    Where the meshes are of a kind that is not read (COLLADA is XML of its own), the link's collision shapes.
    """
    path = Path(path)
    if path.suffix.lower() not in (".urdf", ".xml"):
        raise InputError(message("meshes", "not a URDF", repr(path.name), "a .urdf file, or shapes by body"))
    return visuals_of(read_xml(path), folders_of(path, False, packages))


def visuals_of(root: XmlElement, folders: Folders) -> dict[str, list[Visual]]:
    """The same of a file that was read."""
    found = {}
    for link in root.all("link"):
        kinds = [
            [shape for node in link.all(tag) for shape in _shapes(node, folders)] for tag in ("visual", "collision")
        ]
        if shapes := drawn_ones(*kinds):
            found[link.attributes.get("name", "")] = shapes
    return found


def drawn_ones(visual: list[Visual], collision: list[Visual]) -> list[Visual]:
    """The shapes of a link that are drawn: the first of the two that can be read throughout."""
    return next((shapes for shapes in (visual, collision) if shapes and all(map(_is_readable, shapes))), visual)


def shapes_of(visuals: Mapping[str, Sequence[Visual]], bodies: Collection[str]) -> list[BodyShape]:
    """The shapes of some links, as a model keeps them; meshes that are not found, or not read, are left out."""
    return [
        BodyShape(f"{link}-{k}", link, one.kind, one.size, one.position, one.orientation, str(one.file or ""))
        for link, shapes in visuals.items()
        for k, one in enumerate(shapes)
        if link in bodies and _is_readable(one) and (one.kind == "mesh" or min(one.size) > 0)
    ]


def _is_readable(shape: Visual) -> bool:
    return shape.kind != "mesh" or (shape.file is not None and shape.file.suffix.lower() in READABLE)


def _shapes(visual: XmlElement, folders: Folders) -> list[Visual]:
    origin, geometry = visual.first("origin"), visual.first("geometry")
    position = origin.numbers("xyz", 3, (0.0, 0.0, 0.0)) if origin else (0.0, 0.0, 0.0)
    roll = origin.numbers("rpy", 3, (0.0, 0.0, 0.0)) if origin else (0.0, 0.0, 0.0)
    place = (tuple(position), tuple(float(x) for x in to_quaternion("extrinsic-123", roll)))
    found = []
    for shape in geometry.children if geometry else ():
        if shape.tag == "box":
            found.append(Visual("box", shape.numbers("size", 3), *place))
        elif shape.tag == "cylinder":
            found.append(Visual("cylinder", (*shape.numbers("radius", 1), *shape.numbers("length", 1)), *place))
        elif shape.tag == "sphere":
            found.append(Visual("sphere", shape.numbers("radius", 1), *place))
        elif shape.tag == "mesh":
            name = shape.text("filename")
            file = (
                folders.package(name) if name.startswith("package://") else folders.beside(name.removeprefix("file://"))
            )
            scale = shape.numbers("scale", 3, (1.0, 1.0, 1.0))
            found.append(Visual("mesh", scale, *place, file if file and file.is_file() else None, name))
    return found
