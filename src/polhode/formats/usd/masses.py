"""Mass, centre and inertia of bodies of a USD: their own numbers, or those of their collision shapes.

As UsdPhysics says: a body's own mass before that of its shapes, a shape's density before its body's before its
material's before 1000 kg/m³; diagonalInertia is about the centre of mass along principalAxes; a centre of mass is in
the units of the prim's own space, so its scale acts on it; it does not on inertias.
"""

import math
from typing import NamedTuple

import numpy as np

from polhode.formats.remarks import Remarks
from polhode.formats.usd.stage import MASS, Prim, Stage
from polhode.quaternion import rotation_matrix

WATER = 1000.0
"""The density of what has none, kg/m³."""
EQUAL = 1e-5
"""Two scales nearer than this to each other, relatively, are one: numbers of files have six or seven digits."""
MASS_FIX = "Write physics:mass, physics:diagonalInertia and physics:centerOfMass of the body (PhysicsMassAPI)."


class MassMoments(NamedTuple):
    """Mass, kg; centre, m; inertia about the centre, kg m², all in the axes of a body."""

    mass: float
    center: np.ndarray
    inertia: np.ndarray
    is_given: bool = True
    """Whether the file says how heavy it is."""


class GivenMass(NamedTuple):
    """What a prim says of its mass, SI; None where it says nothing."""

    mass: float | None
    density: float | None
    center: np.ndarray | None
    moments: np.ndarray | None
    axes: np.ndarray | None
    """Principal axes as columns."""


def solid_of(stage: Stage, body: Prim, shapes: list[Prim], remarks: Remarks, name: str) -> MassMoments:
    """The mass properties of a body.  shapes: its collision shapes"""
    given = given_mass(stage, body)
    if given.mass is not None and given.moments is not None and (given.center is not None or not shapes):
        center = np.zeros(3) if given.center is None else given.center
        return MassMoments(given.mass, center, _about(given))
    if not shapes:
        missing = "mass" if given.mass is None else "inertia"
        body.fail(f"a body without {missing}", "no numbers, no collision shapes", "a mass and an inertia", MASS_FIX)
    parts = [_shape_solid(stage, body, shape, given.density) for shape in shapes]
    if given.mass is None and not all(part.is_given for part in parts):
        remarks.tell("without mass or density: 1000 kg/m³, as UsdPhysics says", name)
    found = _sum(parts)
    if given.mass is not None:
        found = MassMoments(given.mass, found.center, found.inertia * (given.mass / found.mass))
    if given.center is not None:
        found = _moved_to(found, given.center)
    if given.moments is not None:
        if given.axes is None:
            remarks.tell("diagonalInertia without principalAxes: taken along the axes of the body", name)
        return found._replace(inertia=_about(given))
    if given.axes is not None:
        remarks.tell("principalAxes without diagonalInertia: not used", name)
    return found


def given_mass(stage: Stage, prim: Prim) -> GivenMass:
    """The numbers of a prim's PhysicsMassAPI."""
    if not prim.has(MASS):
        return GivenMass(None, None, None, None, None)
    kg, m = stage.kilograms, stage.meters
    mass, density = prim.number("physics:mass", 0.0), prim.number("physics:density", 0.0)
    for key, value in (("mass", mass), ("density", density)):
        if value < 0:
            prim.fail(f"physics:{key} is below zero", f"{value:g}", "at least 0; 0 means that it is not given")
    center = prim.numbers("physics:centerOfMass", 3, (-math.inf,) * 3, infinite=True)
    moments = np.array(prim.numbers("physics:diagonalInertia", 3, (0.0,) * 3))
    axes = prim.numbers("physics:principalAxes", 4, (0.0,) * 4)
    scale = prim.pose(m).scale if all(map(math.isfinite, center)) and any(center) else np.ones(3)
    return GivenMass(
        mass * kg or None,
        density * kg / m**3 or None,
        np.array(center) * scale * m if all(map(math.isfinite, center)) else None,
        moments * kg * m * m if moments.any() else None,
        np.array(rotation_matrix(np.array(prim.turn("physics:principalAxes")))) if any(axes) else None,
    )


def _about(given: GivenMass) -> np.ndarray:
    """The inertia matrix of moments along principal axes, or those of the prim."""
    assert given.moments is not None
    if given.axes is None:
        return np.diag(given.moments)
    J = given.axes @ np.diag(given.moments) @ given.axes.T
    return (J + J.T) / 2


def _shape_solid(stage: Stage, body: Prim, shape: Prim, body_density: float | None) -> MassMoments:
    """A collision shape as a part of its body."""
    given = given_mass(stage, shape)
    density = given.density or body_density or shape.density * stage.kilograms / stage.meters**3
    is_given = density > 0 or given.mass is not None
    density = density if density > 0 else WATER
    volume, center, inertia = shape_volume(stage, shape)
    if given.mass is not None and not volume > 0:
        shape.fail("a shape without volume", f"{volume:g} m³", "more")
    density = given.mass / volume if given.mass is not None else density
    own = MassMoments(density * volume, center, density * inertia)
    if given.moments is not None:
        own = MassMoments(own.mass, own.center if given.center is None else given.center, _about(given))
    elif given.center is not None:
        own = _moved_to(own, given.center)
    at = body.pose(stage.meters).at.inverse().then(shape.pose(stage.meters).at)
    R = np.array(rotation_matrix(np.array(at.orientation)))
    return MassMoments(own.mass, np.array(at.position) + R @ own.center, R @ own.inertia @ R.T, is_given)


def shape_volume(stage: Stage, shape: Prim) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, centre and inertia per density of a shape, in its own axes."""
    kind = shape.kind
    if kind not in ("Cube", "Sphere", "Cylinder", "Capsule", "Cone"):
        expected = "Cube, Sphere, Cylinder, Capsule or Cone"
        shape.fail("a body whose mass is that of a shape that is not known", kind or "no type", expected, MASS_FIX)
    a, b, c = dimensions(stage, shape)
    if kind == "Cube":
        V = a * b * c
        return V, np.zeros(3), V / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    if kind == "Sphere":
        V = 4 / 3 * math.pi * a**3
        return V, np.zeros(3), 0.4 * V * a * a * np.eye(3)
    r, h, axis = a, b, int(c)
    along, across, middle = 0.0, 0.0, 0.0
    if kind == "Cylinder":
        V = math.pi * r * r * h
        along, across = V * r * r / 2, V * (3 * r * r + h * h) / 12
    elif kind == "Cone":  # the tip is at the end of the axis
        V, middle = math.pi * r * r * h / 3, -h / 4
        along, across = 0.3 * V * r * r, V * (12 * r * r + 3 * h * h) / 80
    else:  # a cylinder and two halves of a ball
        rod, ball = math.pi * r * r * h, 4 / 3 * math.pi * r**3
        V = rod + ball
        along = rod * r * r / 2 + 0.4 * ball * r * r
        across = rod * (3 * r * r + h * h) / 12 + ball * (0.4 * r * r + h * h / 4 + 3 * h * r / 8)
    J, center = np.full(3, across), np.zeros(3)
    J[axis], center[axis] = along, middle
    return V, center, np.diag(J)


def dimensions(stage: Stage, shape: Prim) -> tuple[float, float, float]:
    """Sides of a cube; radius of a sphere; radius, height and number of the axis of the others: m, scale included."""
    scale, m = shape.pose(stage.meters).scale, stage.meters
    if shape.kind == "Cube":
        a, b, c = (_size(shape, "size", 2.0) * m * scale).tolist()
        return a, b, c
    if shape.kind == "Sphere":
        return _size(shape, "radius", 1.0) * m * _equal(shape, scale), 0.0, 0.0
    radius, height = {"Cylinder": (1.0, 2.0), "Cone": (1.0, 2.0), "Capsule": (0.5, 1.0)}[shape.kind]
    axis = "XYZ".index(shape.word("axis", "Z", ("X", "Y", "Z")))
    around = _equal(shape, scale if shape.kind == "Capsule" else np.delete(scale, axis))
    return _size(shape, "radius", radius) * m * around, _size(shape, "height", height) * m * float(scale[axis]), axis


def _size(shape: Prim, name: str, default: float) -> float:
    found = shape.number(name, default)
    if not found > 0:
        shape.fail(f"{name} of a shape", f"{found:g}", "more than 0")
    return found


def _equal(shape: Prim, scale: np.ndarray) -> float:
    """The one scale of a shape that others would make another shape."""
    if np.ptp(scale) > EQUAL * scale.max():
        found = ", ".join(f"{x:g}" for x in scale)
        shape.fail(f"a {shape.kind} that its scale makes another shape", found, "equal scales", MASS_FIX)
    return float(scale.mean())


def _moved_to(solid: MassMoments, center: np.ndarray) -> MassMoments:
    """A solid with another centre, its inertia taken about it."""
    d = center - solid.center
    return MassMoments(solid.mass, center, solid.inertia + solid.mass * (d @ d * np.eye(3) - np.outer(d, d)))


def _sum(parts: list[MassMoments]) -> MassMoments:
    """Several solids as one."""
    mass = sum(part.mass for part in parts)
    center = sum((part.mass * part.center for part in parts), np.zeros(3)) / mass
    inertia = sum((_moved_to(part, center).inertia for part in parts), np.zeros((3, 3)))
    return MassMoments(mass, center, (inertia + inertia.T) / 2)
