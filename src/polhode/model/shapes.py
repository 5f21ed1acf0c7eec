"""What bodies look like, for pictures only: boxes, cylinders, spheres and mesh files."""

from dataclasses import dataclass

from polhode.errors import ModelError, check_name, did_you_mean, message
from polhode.model.numbers import assign, numbers, plain, unit_quaternion_numbers
from polhode.scalar import Array, shown

SIZES = {
    "box": ("sides x, y, z, m", 3),
    "cylinder": ("radius and length along z, m", 2),
    "sphere": ("radius, m", 1),
    "mesh": ("factors of the file's x, y, z", 3),
}
"""The types of shapes: what their sizes are, and how many."""


@dataclass(frozen=True)
class BodyShape:
    """A part of what a body looks like. No equation of motion reads it.

    name         unique among shapes
    body         that carries it
    type         "box", "cylinder", "sphere" or "mesh"
    size         sides (3,); radius and length along z (2,); radius (1,); factors of the file's axes (3,)
    position     of its middle, or of the mesh's origin, in the body frame, m
    orientation  its axes → those of the body: unit quaternion (w, x, y, z)
    file         of a mesh; not written into model files
    """

    name: str
    body: str
    type: str
    size: Array
    position: Array = (0.0, 0.0, 0.0)
    orientation: Array = (1.0, 0.0, 0.0, 0.0)
    file: str = ""

    def __post_init__(self) -> None:
        """Check everything."""
        check_name("shape", "shape", self.name)
        where = f"shape '{self.name}'"
        if self.type not in SIZES:
            fix = did_you_mean(self.type, SIZES) if isinstance(self.type, str) else ""
            raise ModelError(message(f"{where}, type", "no such shape", shown(self.type), ", ".join(SIZES), fix))
        meaning, count = SIZES[self.type]
        given = (self.size,) if isinstance(self.size, (int, float)) else self.size
        size = plain(numbers(where, "size", given, count))
        if min(size) <= 0 and self.type != "mesh":
            raise ModelError(message(f"{where}, size", "not above 0", shown(size), meaning))
        if (self.type == "mesh") != bool(self.file):
            raise ModelError(message(f"{where}, file", "a mesh is a file", shown(self.file), "a file of a mesh alone"))
        position = plain(numbers(where, "position", self.position, 3))
        orientation = plain(unit_quaternion_numbers(where, self.orientation))
        assign(self, size=size, position=position, orientation=orientation)
