"""A beam as its user writes it, and the bodies, joints, elements and constraints that it is made of."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import ModelError, check_name, did_you_mean, message
from polhode.model.beams.layout import ElementLayout, curved_elements, straight_elements
from polhode.model.beams.plane import BeamPlane
from polhode.model.beams.pose import BeamPose, pose_of
from polhode.model.beams.section import Section
from polhode.model.beams.strains import MEASURES, MODES
from polhode.model.constraints.constraint import Constraint
from polhode.model.edits.mounted import combined, seen
from polhode.model.forces.base import ForceElement
from polhode.model.forces.beam_element import BeamElement, check_strains
from polhode.model.forces.beam_inertia import BeamInertia
from polhode.model.mount import Mount, unit_quaternion
from polhode.model.numbers import Parameter, assign, direction, numbers, plain
from polhode.model.parts import Body, Joint
from polhode.model.topology import WORLD
from polhode.scalar import is_list, shown

ROUNDING = 1e-15
"""Direction cosines that differ by less than this are equal."""

MASSES = ("half-bars", "consistent")
"""How the mass of elements is shared."""

MOST_ELEMENTS = 10_000
"""Elements of one beam, at most: a model of 3,000 takes 6 s to be made, and dozens are enough for nearly every beam."""

BACK = -0.9998
"""The cosine of the angle between elements beyond which a beam turns back on itself: 179°. Its section half way between
the two would lie any way."""

SHORT = 1e-9
"""Metres below which two points of a beam are one."""


@dataclass(frozen=True)
class BeamEnd:
    """Where a beam ends on a body.

    body      a body, a node of another beam ("blade-3"), or the world
    position  in body axes, m
    joint     how the end may move against the body: "fixed", "revolute", "spherical", "universal", …
    axis      of that joint, in the axes of the body
    """

    body: str
    position: Any = (0.0, 0.0, 0.0)
    joint: str = "fixed"
    axis: Any = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        """Check everything but whether the body is there."""
        where = "beam end"
        if not isinstance(self.body, str):
            raise ModelError(message(f"{where}, body", "not a name", shown(self.body), "a body, or world"))
        where = f"beam end on '{self.body}'"
        if not isinstance(self.joint, str):
            raise ModelError(message(f"{where}, joint", "not a name", shown(self.joint), "as 'fixed', 'revolute'"))
        assign(self, position=numbers(where, "position", self.position, 3), axis=direction(where, "axis", self.axis))


@dataclass(frozen=True)
class Beam:
    """A beam: a row of nodes, each a body with the halves of its elements as inertia, and elements between them.

        ph.Beam("blade", ph.Section.circle(0.006), start=("hub", (0.05, 0, 0)), end=(0.85, 0, 0), elements=8)

    Without strain where all joints of the machine are at zero. Its nodes are bodies "blade-0", "blade-1", …, with the
    origin at the node, x along the beam and z towards `up`; its elements are the forces "blade-1", … of the node before
    to the node.

    section   a Section
    start, end  a point of the world (a free end), a pair of body and point (clamped to it), or a BeamEnd
    through   points of the world between the ends, one a node, with straight elements between them; then `elements`
              is one more than their number
    curved    whether the beam is a smooth curve through these points and not a chain of straight pieces: arcs, exact
              where the points lie on a circle. Its elements then count strains from their curvature at rest
    elements  how many
    plane     the normal, world axes, of the plane that it stays in: its nodes move on planar joints, by two ways and an
              angle, half as many as in space. What acts across the plane is borne, and moves nothing
    up        direction of the z axis of the section, world axes: z unless given, or the normal of its plane
    damping   s: stresses grow by so many seconds times the rate of strain
    held      strains that constraints keep at 0: "elongation", "torsion", …; "all" for a rigid beam
    driven    strains given as functions of time, m, by name
    prestrain strains of every element without loads, (6,), m
    load      uniform force per length, N/m, world axes; follower: in the axes of the sections
    measure   of strains: "angle", or "sine" as SPACAR has it
    mass      "half-bars": each node carries the halves of its elements, and the mass matrix couples no bodies.
              "consistent": that of the cubic through the nodes, which couples them; of slender beams alone
    """

    name: str
    section: Section
    start: Any
    end: Any
    through: Sequence[Any] = ()
    elements: int = 8
    up: Any = None
    damping: float = 0.0
    held: Sequence[str] = ()
    driven: Mapping[str, Callable] = field(default_factory=dict)
    prestrain: Any = (0.0,) * 6
    load: Any = (0.0, 0.0, 0.0)
    follower: bool = False
    measure: str = "angle"
    mass: str = "half-bars"
    plane: Any = None
    curved: bool = False

    def __post_init__(self) -> None:
        """Check everything."""
        check_name("beam", "beam", self.name)
        where = f"beam '{self.name}'"
        if not isinstance(self.section, Section):
            fix = "Write ph.Section.circle(0.006), or ph.Section(axial=…, bending_y=…, …)."
            raise ModelError(message(f"{where}, section", "not a section", shown(self.section), "a Section", fix))
        assign(self, start=_end(where, "start", self.start), end=_end(where, "end", self.end))
        points = _several(f"{where}, through", self.through, "points of the world")
        through = [numbers(where, f"through[{k}]", x, 3) for k, x in enumerate(points)]
        assign(self, through=tuple(through), elements=len(through) + 1 if through else self.elements)
        if isinstance(self.elements, bool) or not isinstance(self.elements, int) or self.elements < 1:
            raise ModelError(message(f"{where}, elements", "not a count", shown(self.elements), "1, 2, …"))
        if self.elements > MOST_ELEMENTS:
            fix = "Some dozens are enough for nearly every beam."
            expected = f"at most {MOST_ELEMENTS}"
            raise ModelError(message(f"{where}, elements", "too many", shown(self.elements), expected, fix))
        named = (self.held,) if isinstance(self.held, str) else self.held
        held = MODES if self.held == "all" else tuple(_several(f"{where}, held", named, "names of strains"))
        if not isinstance(self.driven, Mapping) or not all(map(callable, self.driven.values())):
            expected = "functions of time by the names of strains, as {'elongation': lambda t: 0.01 * t}"
            raise ModelError(message(f"{where}, driven", "not functions by name", shown(self.driven), expected))
        for key, modes in (("held", held), ("driven", self.driven)):
            if unknown := [mode for mode in modes if mode not in MODES]:
                place, fix = f"{where}, {key}", did_you_mean(unknown[0], MODES)
                raise ModelError(message(place, "no such strain", shown(unknown[0]), ", ".join(MODES), fix))
        if twice := set(held) & set(self.driven):
            raise ModelError(message(where, "a strain both held and driven", ", ".join(sorted(twice)), "one of both"))
        if self.measure not in MEASURES:
            raise ModelError(message(f"{where}, measure", "unknown", repr(self.measure), " or ".join(MEASURES)))
        if self.mass not in MASSES:
            raise ModelError(message(f"{where}, mass", "unknown", shown(self.mass), " or ".join(MASSES)))
        if self.plane is not None:
            assign(self, plane=direction(where, "plane", self.plane))
        up = (self.plane or (0.0, 0.0, 1.0)) if self.up is None else self.up
        assign(self, held=held, up=direction(where, "up", up))
        for name in ("damping", "prestrain", "load", "follower"):
            assign(self, **{name: BeamElement.keys[name].checked(where, name, getattr(self, name))})
        assign(self, curved=BeamElement.keys["follower"].checked(where, "curved", self.curved))
        self._check_curve(where)
        check_strains(where, self.prestrain)

    def _check_curve(self, where: str) -> None:
        """Refuse a curve without points, and one with driven strains."""
        if self.curved and not self.through:
            expected = "points that the curve goes through"
            raise ModelError(message(f"{where}, curved", "no points", "no through", expected))
        if self.curved and self.driven:
            found = ", ".join(self.driven)
            raise ModelError(message(f"{where}, driven", "strains of a curved beam", found, "straight elements"))

    @property
    def nodes(self) -> list[str]:
        """The names of its nodes."""
        return [f"{self.name}-{k}" for k in range(self.elements + 1)]


def _several(place: str, given: Any, expected: str) -> Sequence:
    """The entries of a list."""
    if not is_list(given):
        raise ModelError(message(place, "not a list", shown(given), expected))
    return tuple(given)


def _end(where: str, side: str, given: Any) -> Any:
    """An end as it is kept: a point, or a BeamEnd."""
    if isinstance(given, BeamEnd):
        return given
    if is_list(given) and len(given) == 2 and isinstance(given[0], str):
        return BeamEnd(given[0], numbers(where, f"{side}, position", given[1], 3))
    if is_list(given) and len(given) == 3:
        return numbers(where, side, given, 3)
    expected = "a point (x, y, z), (body, point), or a BeamEnd"
    raise ModelError(message(f"{where}, {side}", "not an end", shown(given), expected))


class BeamParts(NamedTuple):
    """What beams add to a model."""

    bodies: list[Body]
    joints: list[Joint]
    forces: list[ForceElement]
    constraints: list[Constraint]


def beam_parts(beams: Iterable[Beam], bodies: Sequence[Body], joints: Sequence[Joint]) -> BeamParts:
    """The parts of beams on a machine of these bodies and joints."""
    found = BeamParts([], [], [], [])
    for beam in beams:
        if not isinstance(beam, Beam):
            raise ModelError(message("beams", "not a beam", shown(beam), "a list of Beam"))
        _add(found, beam, [*bodies, *found.bodies], [*joints, *found.joints])
    return found


def _add(found: BeamParts, beam: Beam, bodies: Sequence[Body], joints: Sequence[Joint]) -> None:
    where, known = f"beam '{beam.name}'", {body.name for body in bodies}
    if taken := next((name for name in beam.nodes if name in known), None):
        raise ModelError(message(where, "a node has the name of a body", repr(taken), "another name of the beam"))
    ends = {0: beam.start, beam.elements: beam.end}
    for side, end in (("start", beam.start), ("end", beam.end)):
        if isinstance(end, BeamEnd) and end.body != WORLD and end.body not in known:
            fix = did_you_mean(end.body, known)
            raise ModelError(message(f"{where}, {side}", "unknown body", repr(end.body), "a body, or world", fix))
    poses = {k: pose_of(end.body, joints) for k, end in ends.items() if isinstance(end, BeamEnd)}
    first, last = (_place(end, poses.get(k)) for k, end in ends.items())
    points = _points(where, beam, first, last)
    plane = BeamPlane.of(where, beam.plane, points) if beam.plane is not None else None
    if plane:
        points = plane.flattened(points)
        for k, pose in poses.items():
            plane.check_end(f"{where}, {'end' if k else 'start'}", ends[k].joint, ends[k].axis, pose)
            plane.check_body(f"{where}, {'end' if k else 'start'}", ends[k].body, joints)
    chords = np.diff(points, axis=0)
    lengths = np.sqrt(np.sum(chords**2, axis=1))
    if not np.min(lengths) > SHORT:
        k = int(np.argmin(lengths))
        raise ModelError(message(where, "no length", f"{lengths[k]:g} m between nodes {k} and {k + 1}", "above 0"))
    if not -plain(beam.prestrain[0]) < np.min(lengths):
        given, expected = f"{shown(beam.prestrain[0])} m", f"above {-np.min(lengths):g} m: elements have a length"
        raise ModelError(message(f"{where}, prestrain", "shorter than nothing", given, expected))
    turns = np.sum(chords[1:] * chords[:-1], axis=1) / (lengths[1:] * lengths[:-1])
    if np.min(turns, initial=1.0) < BACK:
        k = int(np.argmin(turns)) + 1
        fix = "Make two beams of it, the second with its start on the last node of the first."
        raise ModelError(message(f"{where}, through", "turns back", f"half a turn at node {k}", "less", fix))
    layout = (curved_elements if beam.curved else straight_elements)(
        where, points, np.array(plain(beam.up), dtype=float), plane
    )
    if plane:
        plane.check_sections(where, layout.elements[0].start)
    frames = layout.frames
    for k, name in enumerate(beam.nodes):
        halves = [(part.end, part.length, -1.0) for part in layout.elements[max(k - 1, 0) : k]]
        halves += [(part.start, part.length, 1.0) for part in layout.elements[k : k + 1]]
        found.bodies.append(_node(name, beam, frames[k], halves))
        free = "planar" if plane else "free"
        found.joints.append(_joint(name, ends.get(k), poses.get(k), BeamPose(frames[k], points[k]), free))
    section, elements = beam.section, list[BeamElement]()
    shape, size = section.outline
    for k, part in enumerate(layout.elements):
        name, length = beam.nodes[k + 1], part.length
        turned = [
            unit_quaternion(frame.T @ axes) for frame, axes in ((frames[k], part.start), (frames[k + 1], part.end))
        ]
        element = BeamElement(
            name, beam.nodes[k], name, length,
            axial=section.axial, torsion=section.torsion, bending_y=section.bending_y, bending_z=section.bending_z,
            shear_y=section.shear_y, shear_z=section.shear_z, orientation_a=turned[0], orientation_b=turned[1],
            prestrain=beam.prestrain, damping=beam.damping, load=beam.load, follower=beam.follower,
            measure=beam.measure, shape=shape, size=size, nodes=True,
        )  # fmt: skip
        elements.append(_with_rest(where, element, part) if beam.curved else element)
        if beam.mass == "consistent":
            mass = section.mass * length
            found.forces.append(
                BeamInertia(
                    f"{name}-inertia", beam.nodes[k], name, length, mass, orientation_a=turned[0],
                    orientation_b=turned[1],
                )
            )  # fmt: skip
    found.forces.extend(elements)
    idle = plane.idle(where, beam.driven, layout.elements[0].start) if plane else ()
    found.constraints.extend(_constraints(beam, elements, layout.elements, idle))


def _with_rest(where: str, element: BeamElement, part: ElementLayout) -> BeamElement:
    """An element that is at rest as it lies: its prestrain counts from there."""
    numbers = *element.shear_numbers, *element.prestrain
    if named := next((x for x in numbers if isinstance(x, Parameter)), None):
        fix = "Give it as a number, or a section without shear."
        raise ModelError(
            message(f"{where}, curved", "a shape at rest by a parameter", repr(named.name), "numbers", fix)
        )
    rest = part.strains(element.law, element.measure == "sine", raw=False)
    return replace(element, prestrain=tuple(a + b for a, b in zip(element.prestrain, rest, strict=True)))


def _constraints(
    beam: Beam, elements: Sequence[BeamElement], parts: Sequence[ElementLayout], idle: Sequence[str]
) -> Iterable[Constraint]:
    """A row for each strain of each element that is held or driven; idle: those that are 0 anyway."""
    rigid, sine = set(beam.held) == set(MODES), beam.measure == "sine"
    for element, part in zip(elements, parts, strict=True):
        rest = part.strains(element.law, sine, raw=rigid) if beam.curved and beam.held else [0.0] * 6
        for i, mode in enumerate(MODES):
            if mode in idle or (mode not in beam.held and mode not in beam.driven):
                continue
            data: dict[str, Any] = {
                "body_a": element.body_a, "body_b": element.body_b, "orientation_a": element.orientation_a,
                "orientation_b": element.orientation_b, "length": element.length, "mode": mode, "measure": beam.measure,
                "shear": tuple(plain(x) for x in element.shear), "second_order": not rigid,
            }  # fmt: skip
            if mode in beam.driven:
                data["strain"] = beam.driven[mode]
            elif rest[i]:
                data["strain"] = rest[i]
            yield Constraint(f"{element.name}-{mode}", "beam-strain", data)


def _place(end: Any, pose: BeamPose | None) -> np.ndarray:
    """Where an end is in the world."""
    if pose is None:
        return np.array(plain(end), dtype=float)
    return pose.o + pose.R @ np.array(plain(end.position), dtype=float)


def _points(where: str, beam: Beam, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The nodes (n + 1, 3), m."""
    if beam.through:
        return np.array([first, *(plain(x) for x in beam.through), last], dtype=float)
    if not math.dist(first, last) > SHORT:
        raise ModelError(message(where, "no length", f"both ends at {first.tolist()}", "two places"))
    part = np.linspace(0.0, 1.0, beam.elements + 1)[:, None]
    return (1 - part) * first + part * last


def _node(name: str, beam: Beam, frame: np.ndarray, halves: list[tuple[np.ndarray, float, float]]) -> Body:
    """A node: half a bar for each element, as one rigid body; of consistent mass what `BeamInertia` starts from."""
    section, is_consistent, parts = beam.section, beam.mass == "consistent", []
    about_y, about_z = section.inertia_y, section.inertia_z
    for axes, length, sign in halves:
        half, mass = length / 2, section.mass * length / 2
        across = mass * half * half * (2 / 9 if is_consistent else 1 / 12)
        inertia = (half * (about_y + about_z), half * about_y + across, half * about_z + across)
        bar = Body(name, mass, inertia, (sign * half / (3 if is_consistent else 2), 0.0, 0.0))
        turned = frame.T @ axes
        is_straight = np.max(abs(turned - np.eye(3))) < ROUNDING
        parts.append(bar if is_straight else seen(bar, Mount(name, orientation=unit_quaternion(turned))))
    return combined(name, parts) if len(parts) > 1 else parts[0]


def _joint(name: str, end: Any, body: BeamPose | None, node: BeamPose, free: str) -> Joint:
    """The joint of a node: that of an end on a body, or of a node that nothing holds."""
    if body is None or not isinstance(end, BeamEnd):
        return Joint(name, free, WORLD, name, position=node.o.tolist(), orientation=unit_quaternion(node.R))
    axis = (node.R.T @ body.R @ np.array(plain(end.axis), dtype=float)).tolist()
    turned = unit_quaternion(body.R.T @ node.R)
    return Joint(name, end.joint, end.body, name, axis=axis, position=plain(end.position), orientation=turned)
