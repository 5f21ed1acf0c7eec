"""Beams, sections and materials of a model file: their keys, and the records of them.

sections:
  rod: {shape: circle, diameter: 6mm, material: steel}
beams:
  blade: {section: rod, start: {body: hub, position: [0.05, 0, 0]}, end: [0.85, 0, 0], elements: 8}
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Discriminator, StrictBool, StrictInt, StrictStr, Tag

from polhode.errors import ModelError, did_you_mean, message
from polhode.formats.entries.entry_values import frozen
from polhode.formats.file_values import Entry, Motion, Name, Number, Value, Vector, needed, optional
from polhode.model import Beam, BeamEnd, Material, Section
from polhode.model.beams.section import MATERIALS

SHAPES = {"circle": ("diameter",), "tube": ("outer", "inner"), "rectangle": ("width", "height")}
"""The shapes of sections, and the lengths that each is given by, m."""


class MaterialEntry(Entry):
    """An elastic material."""

    young: Value = needed("Young's modulus, Pa")
    poisson: Value = needed("Poisson's ratio")
    density: Value = needed("kg/m³")


class SectionEntry(Entry):
    """The section of a beam: by shape and material, or by its stiffnesses and mass."""

    shape: StrictStr = optional("circle, tube or rectangle")
    material: Name = optional("steel unless given")
    diameter: Value = optional("of a circle, m")
    outer: Value = optional("diameter of a tube, m")
    inner: Value = optional("diameter of its bore, m")
    width: Value = optional("of a rectangle along y, m")
    height: Value = optional("of a rectangle along z, m")
    shear_factor: Value = optional("the part of the area that bears shear")
    axial: Number = optional("EA, N")
    torsion: Number = optional("GJ, N m²")
    bending_y: Number = optional("EI about y, N m²")
    bending_z: Number = optional("EI about z, N m²")
    shear_y: Number = optional("GA along y, N; 0: no shear")
    shear_z: Number = optional("GA along z, N; 0: no shear")
    mass: Value = optional("of a metre, kg/m")
    inertia_y: Value = optional("of a metre about y, kg m")
    inertia_z: Value = optional("of a metre about z, kg m")


class BeamEndEntry(Entry):
    """Where a beam ends on a body."""

    body: Name = needed("a body, a node of a beam before this one, or world")
    position: Vector = optional("in body axes, m; 0 unless given")
    joint: StrictStr = optional("fixed unless given; revolute, spherical, universal, …")
    axis: Vector = optional("of the joint, in body axes; z unless given")


_END = Annotated[
    Annotated[BeamEndEntry, Tag("on a body")] | Annotated[Vector, Tag("a point")],
    Discriminator(lambda value: "on a body" if isinstance(value, dict) else "a point"),
]


class BeamEntry(Entry):
    """A beam: a row of nodes, which are bodies, and of elements between them."""

    section: Name = needed("of the sections of this file")
    start: _END = needed("a point of the world, or a body with a position")
    end: _END = needed("as start")
    through: list[Vector] = optional("points of the world between the ends, one a node")
    curved: StrictBool = optional(
        "whether the beam is a smooth curve through these points; straight elements unless given"
    )
    elements: StrictInt = optional("how many; 8 unless given")
    up: Vector = optional("direction of the z axis of the section; z unless given, or the normal of its plane")
    damping: Number = optional("s: stress is stiffness times (strain + damping × its rate)")
    held: StrictStr | list[StrictStr] = optional("strains that are kept at 0, or all")
    driven: dict[str, Motion] = optional("strains as expressions of t, m, by name")
    prestrain: list[Number] = optional("six strains without loads, m")
    load: Vector = optional("force per length, N/m")
    follower: StrictBool = optional("whether the load turns with the sections")
    measure: StrictStr = optional("of strains: angle or sine")
    mass: StrictStr = optional("half-bars or consistent; half-bars unless given")
    plane: Vector = optional("normal of the plane that it stays in; a beam in space unless given")


def _given(entry: Entry) -> dict[str, Any]:
    given = entry.model_fields_set
    return {name: frozen(value) for name, value in entry.__dict__.items() if name in given}


def section_of(name: str, entry: SectionEntry, materials: Mapping[str, Material]) -> Section:
    """The section of an entry."""
    where, given = f"section '{name}'", _given(entry)
    shape = given.pop("shape", None)
    if shape is None:
        stray = [key for key in given if key not in Section.__dataclass_fields__ or key in ("width", "height")]
        if stray:
            fix = f"Say shape: {' or '.join(SHAPES)}."
            raise ModelError(message(where, "a shape without its name", ", ".join(stray), "stiffnesses alone", fix))
        return Section(**given)
    if shape not in SHAPES:
        fix = did_you_mean(shape, SHAPES)
        raise ModelError(message(f"{where}, shape", "unknown", repr(shape), " or ".join(SHAPES), fix))
    chosen = given.pop("material", "steel")
    if chosen not in materials:
        fix = did_you_mean(chosen, materials)
        raise ModelError(message(f"{where}, material", "unknown", repr(chosen), ", ".join(materials), fix))
    wanted = {*SHAPES[shape]}
    if wanted != given.keys() - {"shear_factor"}:
        found = ", ".join(given) or "none"
        raise ModelError(message(where, f"not the lengths of a {shape}", found, ", ".join(SHAPES[shape])))
    return getattr(Section, shape)(**given, material=materials[chosen])


def materials_of(entries: Mapping[str, MaterialEntry]) -> dict[str, Material]:
    """The materials of a file, and those that are known without it."""
    return {**MATERIALS, **{name: Material(**_given(entry)) for name, entry in entries.items()}}


def beams_of(pairs: Iterator[tuple[str, BeamEntry]], sections: Mapping[str, Section]) -> list[Beam]:
    """The beams of a file."""
    found = []
    for name, entry in pairs:
        given = _given(entry)
        chosen = given.pop("section")
        if chosen not in sections:
            expected = ", ".join(sections) or "none: there is no 'sections:'"
            fix = did_you_mean(chosen, sections)
            raise ModelError(message(f"beam '{name}', section", "no such section", repr(chosen), expected, fix))
        ends = {side: _end(getattr(entry, side)) for side in ("start", "end")}
        found.append(Beam(name, sections[chosen], **{**given, **ends}))
    return found


def _end(entry: Any) -> Any:
    return BeamEnd(**_given(entry)) if isinstance(entry, BeamEndEntry) else frozen(entry)
