"""A beam element: stiffness and damping against the six strains of a straight beam between two frames."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from polhode.errors import ModelError, message
from polhode.model.beams.element_law import ElementNumbers, EndMotion, pull, pull_slopes, tension
from polhode.model.beams.section import OUTLINES
from polhode.model.beams.strains import MEASURES, MODES, STRAIN_SIGNS, Chord, chord
from polhode.model.forces.base import DrawnBeam, ForceElement, StiffLaw, Wrench
from polhode.model.forces.two_frames import (
    FRAMES,
    FrameOnBody,
    body_frame,
    check_two_bodies,
    is_between_bodies,
    reflected_ends,
)
from polhode.model.keys import AT_LEAST_ZERO, POSITIVE, Key
from polhode.model.mount import array_of, floats
from polhode.model.numbers import plain, short
from polhode.model.reflection import FRAME, Reflection, times
from polhode.model.scale import Scale
from polhode.model.state import MachineState
from polhode.model.topology import WORLD
from polhode.scalar import Scalar, Vec, cross, dot, flat, is_zero, real_part, shown, vec


@dataclass(frozen=True)
class BeamElement(ForceElement):
    """A straight beam element between frames on two bodies (or the world), whose x axes point along it.

    Six strains ε (`polhode.model.beams.strains`), loads σ = S (ε − prestrain) + damping S ε̇, and on the bodies what
    these pull with; the energy is ½ (ε − prestrain)ᵀ S (ε − prestrain), less what uneven torsion takes off
    (`polhode.model.beams.higher_order`). Its inertia is that of the bodies.

    point_a, orientation_a, …  the frames, in body axes: origins, m, and unit quaternions; x along the beam, y and z the
                               principal axes of the section
    length      without strain, m
    axial       EA, N; 0 where the elongation is held by a constraint
    torsion     GJ, N m²
    bending_y, bending_z  EI about the y and the z axis of the section, N m²
    shear_y, shear_z      GA along y and z, N, with the factor of the section; 0: stiff against shear
    prestrain   the strains without loads, (6,), m
    damping     s: loads grow by so many seconds times S ε̇
    load        uniform force per length, N/m, (3,), in world axes; with follower=True in those of the sections
    measure     of bending and torsion: "angle", or "sine" as SPACAR has it
    shape, size of the section in pictures: "circle" (diameter), "tube" (outer and inner diameter), "ellipse" or
                "rectangle" (width along y, height along z), m; "": the rectangle that has EI/EA of both planes
    nodes       whether the bodies at its ends are nodes of a beam, which pictures leave out
    """

    name: str
    body_a: str
    body_b: str
    length: Scalar
    axial: Scalar = 0.0
    torsion: Scalar = 0.0
    bending_y: Scalar = 0.0
    bending_z: Scalar = 0.0
    shear_y: Scalar = 0.0
    shear_z: Scalar = 0.0
    point_a: Any = (0.0, 0.0, 0.0)
    point_b: Any = (0.0, 0.0, 0.0)
    orientation_a: Any = (1.0, 0.0, 0.0, 0.0)
    orientation_b: Any = (1.0, 0.0, 0.0, 0.0)
    prestrain: Any = (0.0,) * 6
    damping: Scalar = 0.0
    load: Any = (0.0, 0.0, 0.0)
    follower: bool = False
    measure: str = "angle"
    shape: str = ""
    size: Any = ()
    nodes: bool = False

    kind = "beam-element"
    keys: ClassVar = {
        "body_a": Key("body", "a body, or world", needed=True),
        "body_b": Key("body", "another body, or world", needed=True),
        "length": Key("number", "without strain, m", unit="m", letter="l_0", needed=True, range=POSITIVE),
        "axial": Key("number", "EA, N", unit="N", letter="EA", range=AT_LEAST_ZERO),
        "torsion": Key("number", "GJ, N m²", unit="N m2", letter="GJ", range=AT_LEAST_ZERO),
        "bending_y": Key("number", "EI about y, N m²", unit="N m2", letter="EI_y", range=AT_LEAST_ZERO),
        "bending_z": Key("number", "EI about z, N m²", unit="N m2", letter="EI_z", range=AT_LEAST_ZERO),
        "shear_y": Key("number", "GA along y, N; 0: no shear", unit="N", letter="GA_y", range=AT_LEAST_ZERO),
        "shear_z": Key("number", "GA along z, N; 0: no shear", unit="N", letter="GA_z", range=AT_LEAST_ZERO),
        **FRAMES,
        "prestrain": Key("array", "six strains without loads, m", unit="m"),
        "damping": Key("number", "seconds: σ = S (ε + damping dε/dt)", unit="s", letter="tau", range=AT_LEAST_ZERO),
        "load": Key("vector", "uniform force per length, N/m", unit="N/m", letter="f"),
        "follower": Key("flag", "whether the load is in the axes of the sections"),
        "measure": Key("word", "of strains: angle or sine", choices=MEASURES),
        "shape": Key("word", "of the section in pictures", choices=("", *OUTLINES)),
        "size": Key("sizes", "of the section in pictures, m: diameter; outer, inner; width, height"),
        "nodes": Key("flag", "whether the bodies at its ends are nodes, which pictures leave out"),
    }
    changes_energy = "dampers and loads that follow"
    is_stiff = True
    load_steps = 8
    section_labels = ("N", "Mx", "My_start", "My_end", "Mz_start", "Mz_end", "Qy", "Qz")
    section_forces: ClassVar = {"N": "N", "Qy": "N", "Qz": "N", "Mx": "N m", "My": "N m", "Mz": "N m"}
    elastic: ClassVar[float] = 1.0
    fault_is_nan: ClassVar[bool] = True
    """0 of the part without a potential."""

    def check(self, where: str) -> None:
        """Refuse an element within one body, and strains that are not six."""
        check_two_bodies(where, self.body_a, self.body_b)
        check_strains(where, self.prestrain)
        if self.shape and len(self.size) != len(OUTLINES[self.shape]):
            expected = f"{', '.join(OUTLINES[self.shape])} of a {self.shape}, m"
            raise ModelError(message(f"{where}, size", "wrong count", shown(self.size), expected))

    # strains and loads

    def _ends(self, state: MachineState) -> tuple[FrameOnBody, FrameOnBody]:
        """The frames of its ends."""
        return (
            body_frame(state, self.body_a, self.point_a, self.orientation_a),
            body_frame(state, self.body_b, self.point_b, self.orientation_b),
        )

    def _chord(self, a: FrameOnBody, b: FrameOnBody) -> Chord:
        return chord(a.frame.R, b.frame.R, b.frame.o - a.frame.o, self.length, self.measure == "sine")

    @property
    def shear(self) -> tuple[Scalar, Scalar]:
        """Φ = 12 EI/(GA l₀²) of the planes xy and xz."""
        pairs, square = ((self.bending_z, self.shear_y), (self.bending_y, self.shear_z)), self.length * self.length
        y, z = (0.0 if is_zero(GA) else 12 * EI / (GA * square) for EI, GA in pairs)
        return y, z

    @property
    def shear_numbers(self) -> tuple[Scalar, ...]:
        """Those that Φ takes: none of an element that is stiff against shear."""
        pairs = (self.bending_z, self.shear_y), (self.bending_y, self.shear_z)
        return tuple(x for EI, GA in pairs if not is_zero(GA) for x in (EI, GA))

    @property
    def law(self) -> ElementNumbers:
        """Its law: strains, loads and energy."""
        stiffness = self.length, self.axial, self.torsion, self.bending_y, self.bending_z
        return ElementNumbers(*stiffness, *self.shear, self.damping, Vec(self.prestrain))

    def strains(self, state: MachineState) -> Vec:
        """ε (6,), m"""
        return self.law.strains(self._chord(*self._ends(state)))

    @property
    def strain_size(self) -> Scalar:
        """Its length."""
        return self.length

    @property
    def error_length(self) -> Scalar:
        """Its length: an error of that size would be a strain of 1."""
        return self.length

    def unloaded(self, prestrain: Sequence[float] | None = None) -> "BeamElement":
        """The element without its load; prestrain: its own unless given."""
        return replace(self, load=(0.0, 0.0, 0.0), prestrain=self.prestrain if prestrain is None else tuple(prestrain))

    def load_alone(self) -> "BeamElement":
        """Its load: the element without stiffness."""
        none: dict[str, Any] = dict.fromkeys(
            ("axial", "torsion", "bending_y", "bending_z", "shear_y", "shear_z", "damping"), 0.0
        )
        return replace(self, **none)

    def strain_rates(self, state: MachineState) -> Vec:
        """dε/dt (6,), m/s"""
        a, b = self._ends(state)
        return self.law.strain_rates(self._chord(a, b), _motion(a, b))

    def section_loads(self, state: MachineState) -> Vec:
        """What the sections bear, (8,), in element axes, to first order in strains.

        N (N), M_x (N m), M_y at the first and the second end, M_z at them (N m), Q_y and Q_z (N)
        """
        a, b = self._ends(state)
        return self.held_loads(self.law.loads(self._chord(a, b), _motion(a, b)))

    @property
    def strain_holders(self) -> list[str]:
        """As a Beam names the constraints of its strains."""
        return [f"{self.name}-{mode}" for mode in MODES]

    def held_loads(self, multipliers: Sequence) -> Vec:
        """The loads of sections (8,) of σ (6,), N."""
        s, l0 = multipliers, self.length
        return Vec([s[0], l0 * s[1], l0 * s[2], l0 * s[3], l0 * s[4], l0 * s[5], s[4] - s[5], s[3] - s[2]])

    def forces_along(self, loads: Sequence, R_a: Vec, R_b: Vec, part: float) -> Vec:
        """N, Q_y, Q_z (N), M_x, M_y, M_z (N m), by statics of the element, to first order in strains.

        Those of the ends, straight between them, and what its own load f adds to a beam that is clamped at both:
            dF/ds = −f,   dM/ds = F × x
        """
        N, Mx, My_a, My_b, Mz_a, Mz_b, Qy, Qz = loads
        l0, f, none = self.length, Vec(self.load), (0.0, 0.0, 0.0)
        p, q, r = none if _is_zero(f) else f if self.follower else (R_a.T @ f + R_b.T @ f) / 2
        left, bowed = l0 * (0.5 - part), l0 * l0 * (1 - 6 * part + 6 * part * part) / 12
        My = (1 - part) * My_a + part * My_b - r * bowed
        return Vec([
            N + p * left, Qy + q * left, Qz + r * left, Mx, My, (1 - part) * Mz_a + part * Mz_b + q * bowed,
        ])  # fmt: skip

    def strain_energy(self, state: MachineState) -> Scalar:
        """½ (ε − prestrain)ᵀ S (ε − prestrain), and that of uneven torsion, J"""
        return self.law.energy(self._chord(*self._ends(state)))

    def wrenches(self, state: MachineState) -> Iterator[Wrench]:
        """On both bodies, at their origins."""
        a, b = self._ends(state)
        damped, law = not is_zero(self.damping), self.law
        given = [Vec(flat(a.frame.R)), Vec(flat(b.frame.R)), b.frame.o - a.frame.o, Vec([*law[:8], *law.prestrain])]
        if damped:
            given.append(Vec(flat(_motion(a, b))))
        found = pull(self.measure == "sine", bool(self.elastic), damped)(*given)
        force, on_a, on_b = (Vec(found[k : k + 3]) for k in (0, 3, 6))
        yield a.wrench(-force, on_a)
        yield b.wrench(force, on_b)
        if not _is_zero(self.load):
            yield from self._load(a, b)

    def _load(self, a: FrameOnBody, b: FrameOnBody) -> Iterator[Wrench]:
        """The uniform load, on both ends: as on a beam that is clamped there."""
        for end, side in ((a, 1.0), (b, -1.0)):
            R = end.frame.R
            f = R @ Vec(self.load) if self.follower else Vec(self.load)
            along = Vec([row[0] for row in R])
            yield end.wrench(self.length / 2 * f, side * self.length * self.length / 12 * cross(along, f))

    def potential(self, state: MachineState) -> Scalar:
        """The energy of its strains, less the work of a dead load."""
        a, b = self._ends(state)
        energy = self.law.energy(self._chord(a, b))
        if self.follower or _is_zero(self.load):
            return energy
        f, l0 = Vec(self.load), self.length
        lean = Vec([row[0] for row in a.frame.R]) - Vec([row[0] for row in b.frame.R])
        return energy - l0 * dot(f, (a.frame.o + b.frame.o) / 2 + l0 / 12 * lean)

    def conservative_part(self) -> "BeamElement":
        """Without damping, and without a load that follows."""
        return self.changed(damping=0.0, load=vec(0.0, 0.0, 0.0)) if self.follower else self.changed(damping=0.0)

    def other_part(self) -> "BeamElement | None":
        """Its damping, and a load that follows."""
        if is_zero(self.damping) and (not self.follower or _is_zero(self.load)):
            return None
        return self.changed(elastic=0.0, load=self.load if self.follower else vec(0.0, 0.0, 0.0))

    def stiff_law(self) -> StiffLaw:
        """Stiffness and damping of all six strains; loads are left out."""
        damped, law = not is_zero(self.damping), self.law
        frames = ((self.point_a, self.orientation_a), (self.point_b, self.orientation_b))
        a, b = ((body, Vec(x), Vec(C)) for body, (x, C) in zip((self.body_a, self.body_b), frames, strict=True))
        sine, numbers = self.measure == "sine", Vec([*law[:8], *law.prestrain])
        return StiffLaw((a, b), pull_slopes(sine, damped), tension(sine), numbers, damped)

    @property
    def is_internal(self) -> bool:
        """Between two bodies it is, not to the world, nor with a load."""
        return is_between_bodies(self.body_a, self.body_b) and _is_zero(self.load)

    def fault(self, state: MachineState) -> str:
        """An element that has no length, or is bent or twisted past its measure."""
        line, limit = self._chord(*self._ends(state)), 170 if self.measure == "angle" else 90
        if not real_part(line.l) > 0:
            return f"beam element '{self.name}' has no length"
        for how, is_past in (("bent", line.is_bent_past), ("twisted", line.is_twisted_past)):
            if is_past:
                return f"beam element '{self.name}' is {how} by more than {limit}°: use more elements"
        return ""

    def drawing(self) -> Iterator[DrawnBeam]:
        """A beam with its section."""
        ends = self.body_a, self.point_a, self.orientation_a, self.body_b, self.point_b, self.orientation_b
        shape, size = (self.shape, self.size) if self.shape else ("rectangle", self._by_stiffness())
        y, z = self.shear
        yield DrawnBeam(*ends, float(plain(self.length)), shape, size, (plain(y), plain(z)), self.nodes)

    def _by_stiffness(self) -> tuple[float, float]:
        """Width and height of the rectangle that has EI/EA of both planes, up to half the length; 0 without EA."""
        axial, most = float(plain(self.axial)), float(plain(self.length)) / 2
        width, height = (
            min(math.sqrt(12 * float(plain(EI)) / axial), most) if axial > 0 else 0.0
            for EI in (self.bending_z, self.bending_y)
        )
        return width, height

    def summary(self) -> str:
        """Its ends and its stiffness."""
        stiffness = f"EA {short(self.axial)}, GJ {short(self.torsion)}, EI {short((self.bending_y, self.bending_z))}"
        return f"beam element, {self.body_a} – {self.body_b}, {short(self.length)} m, {stiffness}"

    def scaled(self, scale: Scale) -> dict[str, Any]:
        """Its numbers by their units, and the size that pictures show."""
        return super().scaled(scale) | {"size": scale.by("m", self.size)}

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """Its frames; torsion, and bending in the plane of y, change their signs."""
        in_section = floats(FRAME @ array_of(self.load))
        return reflected_ends(self, mirror) | {
            "prestrain": times(STRAIN_SIGNS, self.prestrain),
            "load": in_section if self.follower else mirror.polar(WORLD, self.load),
        }


def check_strains(where: str, prestrain: Any) -> None:
    """Refuse what is not six strains."""
    if len(prestrain) != 6 or isinstance(prestrain[0], tuple):
        found = f"{len(prestrain)} entries"
        raise ModelError(message(f"{where}, prestrain", "not six strains", found, ", ".join(MODES)))


def _motion(a: FrameOnBody, b: FrameOnBody) -> EndMotion:
    return EndMotion(b.twist.linear - a.twist.linear, a.twist.angular, b.twist.angular)


def _is_zero(values: Any) -> bool:
    return all(is_zero(x) for x in values)
