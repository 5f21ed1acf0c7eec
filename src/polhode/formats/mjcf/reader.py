"""MJCF → Model, through MuJoCo's MjSpec read uncompiled.

Body frames are MuJoCo's, and so are q and v, number by number: several joints on one body, and joints
away from its origin, make massless frames "<body>.<joint>" in between.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce
from math import inf, isnan, pi
from operator import or_
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import ModelError, escaped, message
from polhode.formats.configurations import keyframes
from polhode.formats.mjcf.cleaned_text import read_mjcf
from polhode.formats.mjcf.equality import constraints
from polhode.formats.mjcf.inertia_of_geoms import NOTHING, Geoms, Solid
from polhode.formats.mjcf.shapes import body_shapes
from polhode.formats.mjcf.spec import Parsed, as_vec, frame_of, fresh, orientation, parse, placement, the_mujoco, turn
from polhode.formats.placement import ORIGIN, UPRIGHT, FramePose, moved
from polhode.formats.registry import FRICTION
from polhode.formats.remarks import Remarks, located, massless
from polhode.formats.visuals import shapes_of
from polhode.formats.xml_guard import TEXT, is_text
from polhode.model import WORLD, Body, BodyFrame, Constraint, Joint, JointFriction, Model, Start
from polhode.quaternion import rotate, rotation_matrix
from polhode.scalar import Vec, length, one_of

TYPES = {"HINGE": "revolute", "SLIDE": "prismatic", "BALL": "spherical", "FREE": "free"}
"""MuJoCo's joint types, and ours."""

MANY = 500
"""Bodies among which contacts are looked for."""


class _Place(NamedTuple):
    """A body of the spec, the name it gets, and its parent's."""

    body: Any
    name: str
    parent: str


class _Chain(NamedTuple):
    """The joints that carry one body, the massless frames between them, and their coordinates at the start."""

    joints: list[Joint]
    frames: list[Body]
    q: list[float]


def load_mjcf(source: str | Path, packages: Iterable[str | Path] = (), friction: str = "ignore") -> Model:
    """The model of an MJCF file, or of a text that begins with "<".

    packages  folders beside the model's own in which included files may lie
    friction  "ignore", or the method of the `JointFriction` that frictionloss of hinges and slides becomes

    q and v are those of MuJoCo, the start is its qpos0, and its keyframes are configurations. Bodies without mass,
    inertias that no real body has, properties that are not used and meshes that are not read are told by one
    PolhodeWarning each.
    """
    one_of("load_mjcf, argument friction", friction, FRICTION, "unknown")
    shown = TEXT if is_text(source) else str(source)
    the_mujoco()
    remarks = Remarks(shown)
    mjcf = read_mjcf(source, remarks, packages, friction != "ignore")
    parsed = parse(mjcf.root, shown)
    reader = _MjcfReader(parsed, Geoms(parsed, mjcf.files), remarks, friction)
    with np.errstate(all="ignore"):  # numbers beyond all bounds are found by the records
        model = reader.model(mjcf.root.attributes.get("model", "").strip())
    start = model.start.q if model.start and model.start.q is not None else model.zero
    if made := keyframes(mjcf.keys, model.joints, start):
        model = replace(model, configurations=made)
    remarks.warn()
    return model


class _MjcfReader:
    """Turns a parsed spec into records."""

    def __init__(self, parsed: Parsed, geoms: Geoms, remarks: Remarks, friction: str) -> None:
        self.parsed, self.geoms, self.remarks, self.friction = parsed, geoms, remarks, friction
        self.rubbing: list[JointFriction] = []
        self.spec = parsed.spec
        self.taken = {WORLD, *(body.name for body in self.spec.bodies)}
        self.taken_joints = {joint.name for joint in self.spec.joints}
        self.joint_count = 0

    def model(self, name: str) -> Model:
        """The model of the spec; name: as the file has it."""
        places = list(self._places())
        solids = []
        for place in places:
            with self._at(place):
                solids.append(self._solid(place))
        solids = self._weighed(solids)
        bodies, joints, q = [], [], []
        for place, solid in zip(places, solids, strict=True):
            with self._at(place):
                chain = self._chain(place)
            bodies += chain.frames
            joints += chain.joints
            q += chain.q
            at = self.parsed.place(place.body)
            bodies.append(self.remarks.body(at, place.name, solid.mass, solid.inertia.tolist(), tuple(solid.center)))
        self._note_contacts(places)
        stem = "model" if self.parsed.shown == TEXT else Path(self.parsed.shown).stem
        zero = [x for joint in joints for x in joint.zero]
        held = tuple(self._constraints(places, joints, q))
        with located(self.parsed.shown):
            return Model(
                name or stem,
                gravity=self._gravity(),
                bodies=tuple(bodies),
                joints=tuple(joints),
                forces=self.rubbing,
                constraints=held,
                frames=self._frames(),
                shapes=shapes_of({x.name: body_shapes(self.geoms, x.body) for x in places}, {x.name for x in places}),
                start=Start(q=tuple(q)) if q != zero else None,
                ignored=self.remarks.ignored,
            )

    def _frames(self) -> list[BodyFrame]:
        """The sites of bodies by name; those of the world stand still."""
        found: dict[str, BodyFrame] = {}
        for site in self.spec.sites:
            body, name, at = site.parent.name or WORLD, site.name, placement(site)
            if body == WORLD:
                self.remarks.not_used("site of the world")
            elif not name or name in self.taken or np.isfinite(site.fromto[0]):
                self.remarks.not_used("site without a name of its own, or between two points")
            else:
                found[name] = BodyFrame(name, body, tuple(at.position), tuple(at.orientation))
        return [*found.values()]

    def _note_contacts(self, places: list[_Place]) -> None:
        """Note contacts that MuJoCo would compute: those of moving bodies with what stands still, and with others.

        Geoms touch where a bit of contype of one is in conaffinity of the other. Bodies without a joint between them
        are one, and touch neither themselves nor what carries them.
        """
        if int(self.spec.option.disableflags) & int(the_mujoco().mjtDisableBit.mjDSBL_CONTACT):
            return
        one, above, bits = {WORLD: WORLD}, {WORLD: WORLD}, {WORLD: _bits(self.spec.worldbody)}
        for body, name, parent in places:  # parents first
            one[name] = name if len(body.joints) else one[parent]
            above.setdefault(one[name], one[parent])
            kinds, others = bits.get(one[name], (0, 0))
            bits[one[name]] = (kinds | _bits(body)[0], others | _bits(body)[1])
        still, moving = bits.pop(WORLD), [(name, own) for name, own in bits.items() if any(own)]
        if any(_touch(own, still) for _, own in moving):
            self.remarks.ignore("contacts: bodies pass through what stands still, such as a floor")
        if any(
            _touch(own, other) and above[a] != b and above[b] != a
            for k, (a, own) in enumerate(moving[:MANY])
            for b, other in moving[:k]
        ):
            self.remarks.ignore("contacts: bodies pass through each other")

    def _constraints(self, places: list[_Place], joints: list[Joint], q: list[float]) -> Iterator[Constraint]:
        """The equality constraints, exact."""
        starts, at = dict[str, float](), 0
        for joint in joints:
            if joint.nq == 1:
                starts[joint.name] = q[at]
            at += joint.nq
        poses = {WORLD: FramePose()}
        for place in places if len(self.spec.equalities) else ():  # parents first
            poses[place.name] = poses[place.parent].then(placement(place.body))
        return constraints(self.parsed, poses, starts, self.remarks)

    def _at(self, place: _Place) -> located:
        return located(f"{self.parsed.place(place.body)}, body '{place.name}'")

    def _places(self) -> Iterator[_Place]:
        """Every body, parents first, in MuJoCo's order; those without a name get one."""
        waiting = [(child, WORLD) for child in reversed(self.spec.worldbody.bodies)]
        count = 0
        while waiting:
            body, parent = waiting.pop()
            count += 1
            name = body.name or fresh(f"body_{count}", self.taken)
            yield _Place(body, name, parent)
            waiting += [(child, name) for child in reversed(body.bodies)]

    def _gravity(self) -> tuple:
        disabled = int(self.spec.option.disableflags) & int(the_mujoco().mjtDisableBit.mjDSBL_GRAVITY)
        return ORIGIN if disabled else as_vec(self.spec.option.gravity)

    # masses

    def _solid(self, place: _Place) -> Solid:
        """Mass, centre and inertia of a body, by its <inertial> or by its geoms."""
        body = place.body
        rule = body.compiler.inertiafromgeom.name.removeprefix("mjINERTIAFROMGEOM_")
        found = None
        if rule == "TRUE" or (rule == "AUTO" and not body.explicitinertial):
            found = self.geoms.of_body(body)
            if self.geoms.without_mesh:
                self.remarks.lighter.append(f"'{escaped(place.name)}'")
                self.geoms.without_mesh.clear()
        if found is None:
            found = _inertial(body) if body.explicitinertial else NOTHING
        return self._bounded(found, body)

    def _bounded(self, solid: Solid, body: Any) -> Solid:
        """The compiler's lower bounds and its repair of impossible inertias, where the file asks for them."""
        compiler = body.compiler
        asked = compiler.boundmass or compiler.boundinertia or compiler.balanceinertia
        if not asked or not np.isfinite(solid.inertia).all():
            return solid
        moments, R = np.linalg.eigh(solid.inertia)
        moments = np.maximum(moments, compiler.boundinertia)
        if compiler.balanceinertia and moments[0] + moments[1] < moments[2]:
            moments = np.full(3, moments.mean())
        return Solid(max(solid.mass, compiler.boundmass), solid.center, R @ np.diag(moments) @ R.T)

    def _weighed(self, solids: list[Solid]) -> list[Solid]:
        """All masses to scale, where the file gives a total."""
        total, wanted = sum(solid.mass for solid in solids), float(self.spec.compiler.settotalmass)
        if wanted <= 0 or total <= 0:
            return solids
        return [Solid(s.mass * wanted / total, s.center, s.inertia * (wanted / total)) for s in solids]

    # joints

    def _chain(self, place: _Place) -> _Chain:
        """The joints from a body's parent to the body."""
        body = place.body
        kinds = [joint.type.name.removeprefix("mjJNT_") for joint in body.joints]
        at = placement(body)
        if not kinds:
            fixed = Joint(self._joint_name(f"{place.name}.fixed"), "fixed", place.parent, place.name, **_frame(at))
            return _Chain([fixed], [], [])
        if "FREE" not in kinds:
            return self._moving(place, at)
        if len(kinds) > 1 or place.parent != WORLD:
            found = "another joint beside it" if len(kinds) > 1 else f"a child of '{place.parent}'"
            where = f"{self.parsed.place(body)}, body '{place.name}'"
            raise ModelError(message(where, "a free joint out of place", found, "one alone, on a body of the world"))
        return self._free(place, body.joints[0], at)

    def _moving(self, place: _Place, at: FramePose) -> _Chain:
        """Hinges, slides and balls, in the order written, each about its own point of the body."""
        chain = _Chain([], [], [])
        parent, last = place.parent, len(place.body.joints) - 1
        for k, element in enumerate(place.body.joints):
            name = self._named(element)
            kind = element.type.name.removeprefix("mjJNT_")
            frame = frame_of(element)
            anchor = ORIGIN if kind == "SLIDE" else frame.then(moved(element.pos)).position
            axis = self._axis(element, frame, place.name) if kind != "BALL" else None
            ends_here = k == last and not any(anchor)
            child = place.name if ends_here else fresh(f"{place.name}.{name}", self.taken)
            data = self._joint_data(element, kind)
            ref = _unit(element, kind) * float(element.ref) if axis is not None else 0.0
            here = _back_by(at.then(FramePose(anchor)), kind, axis, ref)
            with located(self.parsed.place(element)):
                data |= _frame(here) | ({} if axis is None else {"axis": axis})
                chain.joints.append(Joint(name, TYPES[kind], parent, child, **data))
                self._note_friction(element, kind, name)
            chain.q.extend(UPRIGHT if kind == "BALL" else (ref,))
            if not ends_here:
                chain.frames.append(massless(child))
            parent, at = child, moved(-anchor)
        if parent != place.name:
            name = self._joint_name(f"{place.name}.fixed")
            chain.joints.append(Joint(name, "fixed", parent, place.name, **_frame(at)))
        return chain

    def _axis(self, element: Any, frame: FramePose, body: str) -> Vec:
        axis = as_vec(element.axis)
        if not any(axis):
            where = f"{self.parsed.place(element)}, body '{body}', joint '{element.name}'"
            raise ModelError(message(where, "the axis is zero", "(0, 0, 0)", "a direction"))
        return rotate(frame.orientation, axis) if frame.orientation != UPRIGHT else axis

    def _free(self, place: _Place, element: Any, at: FramePose) -> _Chain:
        """A free joint: MuJoCo counts position and quaternion from the world, so they start at the body's place.

        Armature acts on all six velocities there, on the angular ones here: with armature the joint is
        written as three slides and a ball, which have the same q and v.
        """
        name, data = self._named(element), self._joint_data(element, "FREE")
        q = [*at.position, *at.orientation]
        self._note_friction(element, "FREE", name)
        with located(self.parsed.place(element)):
            if not data["armature"]:
                return _Chain([Joint(name, "free", WORLD, place.name, **data)], [], q)
            joints, frames, parent = [], [], WORLD
            for letter, axis in (("x", (1.0, 0.0, 0.0)), ("y", (0.0, 1.0, 0.0)), ("z", (0.0, 0.0, 1.0))):
                child = fresh(f"{place.name}.{name}.{letter}", self.taken)
                slide = self._joint_name(f"{name}.{letter}")
                joints.append(Joint(slide, "prismatic", parent, child, axis=axis, **data))
                frames.append(massless(child))
                parent = child
            return _Chain([*joints, Joint(name, "spherical", parent, place.name, **data)], frames, q)

    def _joint_data(self, element: Any, kind: str) -> dict[str, Any]:
        """Armature, damping, spring and limits."""
        data: dict[str, Any] = {"armature": float(element.armature), "damping": self._linear(element, "damping")}
        stiffness = self._linear(element, "stiffness")
        if kind in ("BALL", "FREE"):
            if stiffness:
                self.remarks.not_used(f"joint.stiffness of a {kind.lower()} joint")
                self.remarks.ignore("springs of ball and free joints ({n})")
            if _limited(element):
                self.remarks.not_used(f"joint.range of a {kind.lower()} joint")
                self.remarks.ignore("limits of ball and free joints ({n})")
            return data
        unit = _unit(element, kind)
        data |= {"stiffness": stiffness, "rest": unit * float(element.springref)}
        given = (float(x) for x in element.range) if _limited(element) else (-inf, inf)
        lower, upper = self.remarks.limits(self.parsed.place(element), element.name or "a joint", *given)
        return data | {"lower": unit * lower, "upper": unit * upper}

    def _note_friction(self, element: Any, kind: str, name: str) -> None:
        """Dry friction of a joint: kept where it has one axis, and the file's is to be kept."""
        size = float(np.max(element.frictionloss)) if self.friction != "ignore" else 0.0
        if size and kind in ("HINGE", "SLIDE"):
            self.rubbing.append(JointFriction(f"{name}.friction", name, size, method=self.friction))
        elif size:
            self.remarks.not_used(f"joint.frictionloss of a {kind.lower()} joint")
            self.remarks.ignore("dry friction of ball and free joints ({n})")

    def _linear(self, element: Any, name: str) -> float:
        """The linear coefficient of a damper or spring; MuJoCo knows higher ones."""
        first, *higher = (float(x) for x in np.atleast_1d(getattr(element, name)))
        if any(higher):
            self.remarks.not_used(f"joint.{name} beyond its linear part")
            self.remarks.ignore(f"{name} of joints beyond its linear part ({{n}})")
        return first

    def _named(self, element: Any) -> str:
        """The name of a joint; those without one get their number in MuJoCo."""
        self.joint_count += 1
        return element.name or self._joint_name(f"joint_{self.joint_count - 1}")

    def _joint_name(self, name: str) -> str:
        return fresh(name, self.taken_joints)


def _bits(body: Any) -> tuple[int, int]:
    """The bits of contype and conaffinity that any geom of a body has."""
    kinds = reduce(or_, (int(geom.contype) for geom in body.geoms), 0)
    return kinds, reduce(or_, (int(geom.conaffinity) for geom in body.geoms), 0)


def _touch(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return bool(a[0] & b[1] or b[0] & a[1])


def _frame(at: FramePose) -> dict[str, Any]:
    return {"position": at.position, "orientation": at.orientation}


def _unit(element: Any, kind: str) -> float:
    """Radians in the unit of an angle of the file; travels are in metres."""
    return pi / 180 if kind == "HINGE" and element.compiler.degree else 1.0


def _limited(element: Any) -> bool:
    said = element.limited.name.removeprefix("mjLIMITED_")
    lower, upper = element.range
    return said == "TRUE" or (said == "AUTO" and bool(element.compiler.autolimits) and lower != upper)


def _back_by(frame: FramePose, kind: str, axis: Vec | None, ref: float) -> FramePose:
    """The joint frame at coordinate zero, where `frame` is the one at coordinate `ref`."""
    if axis is None or ref == 0:
        return frame
    unit = axis / length(axis)
    return frame.then(moved(-ref * unit) if kind == "SLIDE" else FramePose(ORIGIN, turn(unit, -ref)))


def _inertial(body: Any) -> Solid:
    """The <inertial> of a body, its inertia turned into body axes."""
    center = np.array(body.ipos, dtype=float)
    if not isnan(body.fullinertia[0]):
        xx, yy, zz, xy, xz, yz = (float(x) for x in body.fullinertia)
        return Solid(float(body.mass), center, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    R = np.array(rotation_matrix(orientation(body, body.iquat, body.ialt)))
    return Solid(float(body.mass), center, R @ np.diag(np.array(body.inertia, dtype=float)) @ R.T)
