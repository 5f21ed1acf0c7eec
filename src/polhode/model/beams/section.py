"""Sections of beams: stiffnesses and inertia of a metre, by shape and material or as numbers."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from polhode.errors import ModelError, message
from polhode.model.keys import ABOVE_ZERO, AT_LEAST_ZERO, Key
from polhode.model.numbers import Number, assign, number, plain
from polhode.scalar import shown

OUTLINES = {
    "circle": ("diameter",),
    "tube": ("outer diameter", "inner diameter"),
    "ellipse": ("width", "height"),
    "rectangle": ("width", "height"),
}
"""The shapes of sections in pictures, and the lengths of each; width along y, height along z."""

TERMS = 40
"""Terms of the series of the torsion of a rectangle: the rest is below rounding."""


def _checked(where: str, name: str, value: Any, range: Any) -> Any:
    """A number of a section or a material, or an error that names it; numbers with units as text are for files."""
    if isinstance(value, str):
        fix = f"Files take units, as {name}: {value}." if any(map(str.isalpha, value)) else "Write it without quotes."
        raise ModelError(message(f"{where}, {name}", "text", shown(value), "a number, in SI", fix))
    return Key("number", range=range).checked(where, name, value)


@dataclass(frozen=True)
class Material:
    """An elastic material: Young's modulus, Pa, Poisson's ratio, density, kg/m³."""

    young: float
    poisson: float
    density: float

    def __post_init__(self) -> None:
        """Check everything."""
        for name in ("young", "density"):
            _checked("material", name, getattr(self, name), ABOVE_ZERO)
        if not -1 < plain(number("material", "poisson", self.poisson)) <= 0.5:
            raise ModelError(message("material, poisson", "out of range", repr(self.poisson), "above −1, up to 0.5"))

    @property
    def shear(self) -> float:
        """The shear modulus G = E/(2 (1 + ν)), Pa."""
        return self.young / (2 * (1 + self.poisson))


MATERIALS = {
    "steel": Material(210e9, 0.3, 7850.0),
    "aluminium": Material(70e9, 0.33, 2700.0),
    "titanium": Material(114e9, 0.34, 4430.0),
    "carbon": Material(130e9, 0.3, 1600.0),
    "nylon": Material(2.7e9, 0.39, 1140.0),
}
"""Usual materials by name; carbon: fibres along the beam."""


@dataclass(frozen=True)
class Section:
    """The section of a beam: its stiffnesses, and what a metre of it weighs. x is along the beam.

    axial                 EA, N
    torsion               GJ, N m²
    bending_y, bending_z  EI about the y and the z axis, N m²
    shear_y, shear_z      GA along y and z with the factor of the section, N; 0: stiff against shear
    mass                  ρA, kg/m
    inertia_y, inertia_z  ρI about y and z, kg m; about x it is their sum
    height, width         along z and y, m, for pictures
    round                 whether pictures show it round
    bore                  diameter of the hole in it, m, for pictures
    """

    axial: Number = 0.0
    torsion: Number = 0.0
    bending_y: Number = 0.0
    bending_z: Number = 0.0
    shear_y: Number = 0.0
    shear_z: Number = 0.0
    mass: float = 0.0
    inertia_y: float = 0.0
    inertia_z: float = 0.0
    height: float = 0.0
    width: float = 0.0
    round: bool = False
    bore: float = 0.0

    def __post_init__(self) -> None:
        """Check everything."""
        for field in fields(self):
            if field.name != "round":
                range = ABOVE_ZERO if field.name == "mass" else AT_LEAST_ZERO
                assign(self, **{field.name: _checked("section", field.name, getattr(self, field.name), range)})
        Key("flag").checked("section", "round", self.round)

    @classmethod
    def circle(cls, diameter: float, material: Any = "steel", shear_factor: float = 0.9) -> "Section":
        """A solid circle.  diameter: m; material: a Material, or the name of one"""
        return cls.tube(_checked("section, circle", "diameter", diameter, ABOVE_ZERO), 0.0, material, shear_factor)

    @classmethod
    def tube(cls, outer: float, inner: float, material: Any = "steel", shear_factor: float | None = None) -> "Section":
        """A circular tube.  outer, inner: diameters, m; shear_factor: Cowper's (1966) unless given"""
        made, where = material_of(material), "section, tube"
        for name, value in (("outer", outer), ("inner", inner)):
            _checked(where, name, value, AT_LEAST_ZERO)
        if not 0 <= inner < outer:
            raise ModelError(message(where, "no wall", f"outer {outer!r}, inner {inner!r}", "0 ≤ inner < outer, m"))
        if shear_factor is None:
            m, nu = (inner / outer) ** 2, made.poisson
            k = (1 + m) ** 2
            shear_factor = 6 * (1 + nu) * k / ((7 + 6 * nu) * k + (20 + 12 * nu) * m)
        area, second = math.pi * (outer**2 - inner**2) / 4, math.pi * (outer**4 - inner**4) / 64
        found = cls._of(made, area, second, second, 2 * second, shear_factor, outer, outer, True)
        return replace(found, bore=float(inner))

    @property
    def outline(self) -> tuple[str, tuple[float, ...]]:
        """What pictures show: a shape of OUTLINES and its sizes, m; "" where it is not known."""
        if not self.width or not self.height:
            return "", ()
        if self.round and self.width == self.height:
            return ("tube", (self.width, self.bore)) if self.bore else ("circle", (self.width,))
        return ("ellipse" if self.round else "rectangle"), (self.width, self.height)

    @classmethod
    def rectangle(cls, width: float, height: float, material: Any = "steel", shear_factor: float = 5 / 6) -> "Section":
        """A solid rectangle.  width: along y, height: along z, m"""
        for name, value in (("width", width), ("height", height)):
            _checked("section, rectangle", name, value, ABOVE_ZERO)
        a, b = max(width, height), min(width, height)
        odd = range(1, 2 * TERMS, 2)
        series = sum(math.tanh(n * math.pi * a / (2 * b)) / n**5 for n in odd)
        torsion = a * b**3 * (1 / 3 - 64 * b / (math.pi**5 * a) * series)
        about_y, about_z = width * height**3 / 12, height * width**3 / 12
        return cls._of(
            material_of(material), width * height, about_y, about_z, torsion, shear_factor, height, width, False
        )

    @classmethod
    def _of(
        cls,
        material: Material,
        area: float,
        second_y: float,
        second_z: float,
        torsion: float,
        shear_factor: float,
        height: float,
        width: float,
        is_round: bool,
    ) -> "Section":
        _checked("section", "shear_factor", shear_factor, ABOVE_ZERO)
        E, G, density = material.young, material.shear, material.density
        shear = shear_factor * G * area
        return cls(
            E * area, G * torsion, E * second_y, E * second_z, shear, shear,
            density * area, density * second_y, density * second_z, height, width, is_round,
        )  # fmt: skip


def material_of(given: Any) -> Material:
    """A material, given itself or by name."""
    if isinstance(given, Material):
        return given
    if isinstance(given, str) and given in MATERIALS:
        return MATERIALS[given]
    expected = f"a Material, or {', '.join(MATERIALS)}"
    raise ModelError(message("section, material", "unknown", repr(given), expected))
