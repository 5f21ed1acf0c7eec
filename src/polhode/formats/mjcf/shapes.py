"""What the bodies of an MJCF look like: the geoms that MuJoCo's viewer shows, for pictures only."""

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from polhode.errors import ModelError
from polhode.formats.mjcf.inertia_of_geoms import Geoms
from polhode.formats.placement import UPRIGHT, FramePose, moved
from polhode.formats.visuals import Visual, drawn_ones
from polhode.scalar import Vec

SHOWN = range(3)
"""Groups of geoms that the viewer shows; shapes for contacts are usually in the others."""


def body_shapes(geoms: Geoms, body: Any) -> list[Visual]:
    """The shapes of a body that are drawn: shown geoms, or the others where it has none that can be."""
    shown, others = (
        [shape for geom in body.geoms if (geom.group in SHOWN) == is_shown for shape in _drawn(geoms, geom)]
        for is_shown in (True, False)
    )
    return drawn_ones(shown, others)


def _drawn(geoms: Geoms, geom: Any) -> list[Visual]:
    """A geom as shapes; none where its numbers make no shape: that refuses a file only where its mass is asked for."""
    try:
        found = list(_shapes(geoms, geom))
    except ModelError:
        return []
    return [x for x in found if all(map(isfinite, (*x.size, *x.position, *x.orientation)))]


def _shapes(geoms: Geoms, geom: Any) -> Iterator[Visual]:
    """A geom as shapes; none of planes, height fields, ellipsoids, and of those without a size."""
    kind = geom.type.name.removeprefix("mjGEOM_")
    if kind == "MESH":
        yield from _mesh(geoms, geom)
        return
    if geom.meshname or kind not in COUNTS or not any(map(isfinite, geom.size)):
        return  # of a mesh that it is fitted to
    at, size = geoms.frame_and_size(geom, kind)
    sizes = [float(x) for x in size[: COUNTS[kind]]]
    if not all(isfinite(x) and x > 0 for x in sizes):
        return
    if kind == "BOX":
        yield _visual("box", [2 * x for x in sizes], at)
    elif kind == "SPHERE":
        yield _visual("sphere", sizes, at)
    else:
        radius, half = sizes
        yield _visual("cylinder", [radius, 2 * half], at)
        for end in (half, -half) if kind == "CAPSULE" else ():
            yield _visual("sphere", [radius], at.then(moved((0.0, 0.0, end))))


COUNTS = {"BOX": 3, "SPHERE": 1, "CYLINDER": 2, "CAPSULE": 2}
"""The geoms that are drawn, and how many sizes each has."""


def _mesh(geoms: Geoms, geom: Any) -> Iterator[Visual]:
    """A mesh file; not one whose vertices stand in the model, or which is placed anew by its own reference."""
    mesh = geoms.parsed.spec.mesh(geom.meshname)
    if mesh is None or any(mesh.refpos) or tuple(mesh.refquat) != UPRIGHT:
        return
    file: Path | None = geoms.files.get(mesh.file)
    if file is not None:
        at, _ = geoms.frame_and_size(geom, "MESH")
        yield _visual("mesh", [float(x) for x in mesh.scale], at, file)


def _visual(kind: str, size: list[float], at: FramePose, file: Path | None = None) -> Visual:
    return Visual(kind, tuple(size), _floats(at.position), _floats(at.orientation), file, str(file or ""))


def _floats(x: Vec) -> tuple[float, ...]:
    return tuple(float(a) for a in x)
