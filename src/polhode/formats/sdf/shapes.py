"""What the links of an SDF look like: visual shapes, or collision shapes where the visual ones are not read."""

from collections.abc import Iterator

from polhode.formats.remarks import Remarks
from polhode.formats.sdf.frames import SdfDocument, SdfLink
from polhode.formats.sdf.values import pose_of, reference, text
from polhode.formats.visuals import Visual, drawn_ones
from polhode.formats.xml_guard import XmlElement

SIZES = {"box": (("size", 3),), "cylinder": (("radius", 1), ("length", 1)), "sphere": (("radius", 1),)}
"""The shapes that are drawn, and the elements of their sizes."""


def link_shapes(document: SdfDocument, full: str, remarks: Remarks) -> list[Visual]:
    """The shapes of a link that are drawn; meshes that are not found are noted.  full: its full name"""
    link = document.links[full]
    kinds = ([shape for node in link.node.all(tag) for shape in _shapes(document, full, link, node)] for tag in TAGS)
    visual, collision = kinds
    for shape in (*visual, *collision):
        if shape.kind == "mesh" and shape.file is None:
            remarks.mesh(shape.name, "not found in the model's folders")
    return drawn_ones(visual, collision)


TAGS = ("visual", "collision")


def _shapes(document: SdfDocument, full: str, link: SdfLink, node: XmlElement) -> Iterator[Visual]:
    owner = f"link '{full}'"
    at = pose_of(node, owner)
    if given := reference(node):
        at = document.between(full, document.known(document.full(link.scope, given), node)).then(at)
    place = (tuple(at.position), tuple(at.orientation))
    geometry = node.first("geometry")
    for shape in geometry.children if geometry else ():
        if shape.tag in SIZES:
            size = [x for tag, count in SIZES[shape.tag] for x in _numbers(shape, tag, count, owner)]
            yield Visual(shape.tag, tuple(size), *place)
        elif shape.tag == "mesh":
            uri, scale = text(shape, "uri"), shape.first("scale")
            factors = (1.0, 1.0, 1.0) if scale is None else scale.content_numbers(3, owner)
            file = document.file(uri, link.scope.folder) if uri else None
            yield Visual("mesh", factors, *place, file if file and file.is_file() else None, uri)


def _numbers(shape: XmlElement, tag: str, count: int, owner: str) -> tuple:
    child = shape.first(tag)
    if child is None:
        shape.fail(f"no {tag}", "nothing", f"<{tag}>", owner=owner)
    return child.content_numbers(count, owner)
