"""The base class of force elements: what a machine asks of one. A kind is a subclass, and a line of `registry`.

@dataclass(frozen=True)
class Drag(ForceElement):
    name: str
    body: str
    coefficient: Scalar = 0.0

    kind = "drag"
    keys: ClassVar = {"body": Key("body", "the body it acts on", needed=True),
            "coefficient": Key("number", "of the drag, N s²/m²", unit="N s2/m2", letter="c")}

    def wrenches(self, state):
        u = state.twist(self.body).linear
        yield Wrench(self.body, -self.coefficient * length(u) * u)
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

from polhode.errors import ModelError, check_name, message
from polhode.model.joints.base import JointKind
from polhode.model.keys import Key
from polhode.model.mount import Mount, NotCarried
from polhode.model.numbers import short
from polhode.model.parts import Body
from polhode.model.reflection import Reflection
from polhode.model.scale import Scale
from polhode.model.state import MachineState
from polhode.scalar import Scalar, SharedFunction, Vec
from polhode.spatial import ORIGIN

ABSENT = 1e300
"""The size of a function of `ForceElement.corners` where there is no corner."""


class Wrench(NamedTuple):
    """A force on a body at its origin, N, and a couple, N m, (3,) each, in world axes."""

    body: str
    force: Vec
    torque: Vec = ORIGIN


Slopes = Callable[[tuple[int, ...]], SharedFunction]
"""Derivatives of the pull of an element, by some of the nine (way from p to q, turns of p and q)"""


class StiffLaw(NamedTuple):
    """What an implicit method knows of a stiff element between two frames on bodies: the derivatives of its pull.

    ends      of both frames the body, the origin in body axes, m, and the axes there, a unit quaternion
    slopes    which of the nine (way from p to q, turns of p and q) there are -> a function of R_p (9), R_q (9), the way
              (3), the numbers and the stresses, as `beams.element_law.pull_slopes`
    stresses  of R_p, R_q, the way and the numbers, as `beams.element_law.tension`
    numbers   of the element
    is_damped whether derivatives by velocities follow those by displacements
    """

    ends: tuple[tuple[str, Vec, Vec], tuple[str, Vec, Vec]]
    slopes: Slopes
    stresses: SharedFunction
    numbers: Vec
    is_damped: bool


class Hold(NamedTuple):
    """An axis of a joint that an element holds: its velocity does not change, whatever acts.

    axis    its place among those of the joint; None: all of them
    weight  1 where it is held, 0 where it is free
    side    1 or −1: it is only stopped from moving in this direction, and let go by impulses the other way; 0: both
    """

    joint: str
    axis: int | None
    weight: Scalar
    side: Scalar = 0.0


class Jump(NamedTuple):
    """What changes at an event of an element, at once.

    own    new values of own states of the element, by name
    rates  velocities after it, (joint, axis, velocity) each, brought about by impulses along these axes; axis None: all
           of the joint
    """

    own: Mapping[str, float] = MappingProxyType({})
    rates: Sequence[tuple[str, int | None, float]] = ()


class ElementEvent(NamedTuple):
    """An event of a force element: it is due where its guard is above 0, also at the start and after other events.

    name   runs record it as "element.name"
    guard  of a state, on generic scalars; `state.load(joint, axis)` is what pushes on an axis that is held
    jump   of a state, on floats
    """

    name: str
    guard: Callable[[MachineState], Scalar]
    jump: Callable[[MachineState], Jump]


class DrawnLine(NamedTuple):
    """A line that pictures show between points of two bodies: their names, points in body axes (m), and its look."""

    body_a: str
    point_a: Any
    body_b: str
    point_b: Any
    look: str = "line"
    """"line", or "coil"."""


class DrawnBeam(NamedTuple):
    """A beam that pictures show bent between frames on two bodies, with its section.

    body_a, point_a, orientation_a, …  the frames, in body axes: m, unit quaternions (w, x, y, z); x along the beam
    length  without strain, m
    shape   of the section: "circle", "tube", "ellipse" or "rectangle"
    size    of the section, m: diameter; outer and inner diameter; width along y and height along z
    shear   12 EI/(GA l²) of the planes xy and xz: how far sections lean from the axis
    nodes   whether the bodies at its ends are part of it, and not drawn themselves
    """

    body_a: str
    point_a: Any
    orientation_a: Any
    body_b: str
    point_b: Any
    orientation_b: Any
    length: float
    shape: str
    size: tuple[float, ...]
    shear: tuple[float, float] = (0.0, 0.0)
    nodes: bool = False


@dataclass(frozen=True)
class ForceElement:
    """A force element of a machine: a frozen record with a name, names of bodies, and numbers.

    Its methods that take a state work on generic scalars, with the numbers of the element as scalars in its fields.
    A subclass gives `wrenches` or `generalized`, and `potential` where it stores energy.
    """

    name: str

    kind: ClassVar[str] = "force"
    """What files call it: "type: spring"."""
    keys: ClassVar[Mapping[str, Key]] = {}
    """Its fields but for the name: what each holds."""
    expressions: ClassVar[Mapping[str, str]] = {}
    """Keys under which files give the function that it needs as expressions, each with what it is."""
    states: ClassVar[Mapping[str, str]] = {}
    """Its continuous states, each with its unit; a property where the fields decide them."""
    sampled: ClassVar[Mapping[str, str]] = {}
    """Its discrete states, each with its unit: they change at once, by `update`, at 0 and every `period` seconds on."""
    modes: ClassVar[Mapping[str, str]] = {}
    """Its discrete states that events change, each with its unit."""
    fault_is_nan: ClassVar[bool] = False
    """Whether its force is not a number wherever it has a `fault`: runs notice that by themselves."""
    passes_impulses: ClassVar[bool] = True
    """Whether an axis that it holds stays held in an impact elsewhere; no of friction, whose force is bounded."""
    period = 0.0  # no annotation: it may become a field
    """Seconds from one update of the discrete states to the next; a field of the key "seconds"."""
    changes_energy: ClassVar[str] = "given forces"
    """What its part without a potential is called, where a run says why energy does not stay."""
    source: ClassVar[str] = ""
    """What its work is booked under, together with that of others; "": under its own name."""
    has_conditions: ClassVar[bool] = False
    """Whether its forces, continuous, bend where conditions of the state change that are to be found in what it gives,
    since it has no `switching`: steps then end there."""
    is_contact: ClassVar[bool] = False
    """Whether its switching functions are depths of contacts: runs record as events that it touches and leaves."""
    has_jumps: ClassVar[bool] = False
    """Whether they jump there."""
    is_stiff: ClassVar[bool] = False
    """Whether runs of its machine need an implicit method, as a rule."""
    load_steps: ClassVar[int] = 0
    """Steps in which `ph.equilibrium` lets loads grow on a machine that has it; 0: they act at once."""
    section_labels: ClassVar[Sequence[str]] = ()
    """Names of what its sections bear, `section_loads`, where it has sections."""
    section_forces: ClassVar[Mapping[str, str]] = {}
    """Names of what sections along it bear, `forces_along`, each with its unit."""

    def __post_init__(self) -> None:
        """Check everything."""
        check_name("force", "force", self.name)
        where = f"force '{self.name}'"
        if {field.name for field in fields(self)} != {"name", *self.keys}:
            found = ", ".join(field.name for field in fields(self))
            expected = f"name, {', '.join(self.keys)}"
            fix = "`keys` says of each field but the name what it holds; the class is a dataclass(frozen=True)."
            raise ModelError(
                message(where, f"fields of {type(self).__name__} and their keys differ", found, expected, fix)
            )
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in self.keys and (value is not None or field.default is not None):
                object.__setattr__(self, field.name, self.keys[field.name].checked(where, field.name, value))
        self._check_states(where)
        self.check(where)

    def _check_states(self, where: str) -> None:
        names = [*self.states, *self.sampled, *self.modes]
        for name in names:
            check_name(f"{where}, states", "state", name)
        if "updates" in names or len(set(names)) < len(names):
            raise ModelError(message(f"{where}, states", "one name twice", ", ".join(self.own_states), "other names"))
        if self.sampled and not self.period > 0:
            fix = 'Give the class a field `period` with ph.Key("seconds", …), or period = 0.01.'
            raise ModelError(message(f"{where}, period", "not above 0", repr(self.period), "seconds", fix))
        values = [*self.start_values()]
        if len(values) != len(names):
            expected = f"{len(names)} numbers, one a state"
            raise ModelError(message(f"{where}, start_values", "wrong size", repr(values)[:60], expected))

    def check(self, where: str) -> None:
        """Raise a ModelError where values that are good one by one make no sense together."""

    def check_joint(self, where: str, joint: str, kind: JointKind) -> None:
        """Raise a ModelError where it cannot act on a joint that it names: unless given, one of several axes."""
        if kind.nv != 1:
            raise ModelError(message(where, "not a joint of one axis", f"'{joint}', {kind.name}", "one coordinate"))

    def check_body(self, where: str, body: Body) -> None:
        """Raise a ModelError where it cannot act on a body that it names."""

    # what acts

    def wrenches(self, state: MachineState) -> Iterable[Wrench]:
        """The wrenches on bodies."""
        return ()

    def generalized(self, state: MachineState) -> Sequence:
        """Generalised forces (nv,), dual to v, of an element that is a function of the coordinates of joints."""
        return [0.0] * len(state.v)

    def switching(self, state: MachineState) -> Sequence[Scalar]:
        """Functions of the state at whose zeros its forces bend, but do not jump: steps of a run end there.

        It acts where one of them is above 0, and not where all are below. Without them, conditions of a user's own
        element are found in what it gives.
        """
        return ()

    def corners(self, state: MachineState) -> Sequence[Scalar]:
        """Functions at whose zeros its forces bend too while it acts; −ABSENT where there is no such corner: one that
        comes or goes so is not passed."""
        return ()

    @property
    def gives_switching(self) -> bool:
        """Whether it gives `switching`."""
        return type(self).switching is not ForceElement.switching

    @property
    def loaded_joints(self) -> Sequence[str]:
        """Joints of one axis whose normal forces enter its forces, `state.normal(joint)`: in trees alone."""
        return ()

    def section_loads(self, state: MachineState) -> Vec:
        """What its sections bear, one number for each of `section_labels`; runs keep them."""
        return Vec([])

    def forces_along(self, loads: Sequence, R_a: Vec, R_b: Vec, part: float) -> Sequence:
        """What the section at a part of its length bears, one number for each of `section_forces`.

        loads     what `section_loads` gave
        R_a, R_b  the axes of the frames at its ends in the world, columns
        """
        return []

    @property
    def strain_holders(self) -> Sequence[str]:
        """The names of constraints that hold its strains, where there are such: their multipliers are loads then."""
        return ()

    def held_loads(self, multipliers: Sequence) -> Sequence:
        """What `section_loads` lacks, by the multipliers of `strain_holders`, N, 0 where there is none."""
        return []

    # strains

    def strains(self, state: MachineState) -> Vec:
        """The strains of which what it bears is a linear function, as a beam element has them."""
        return Vec([])

    @property
    def has_strains(self) -> bool:
        """Whether it bears loads by strains: `strains`, `unloaded` and `load_alone` then say how."""
        return type(self).strains is not ForceElement.strains

    @property
    def strain_size(self) -> Scalar:
        """The size of a strain that is large, in its unit."""
        return 1.0

    @property
    def error_length(self) -> Scalar | None:
        """The length, m, that errors of the places of its bodies are to be small against, in runs whose steps are
        controlled: that of a beam element, whose strains are parts of it. None: they count as all others do."""
        return None

    def unloaded(self, prestrain: Sequence[float] | None = None) -> Self:
        """The element without its distributed load; prestrain: the strains at which it bears nothing, its own unless
        given."""
        return self

    def load_alone(self) -> "ForceElement | None":
        """Its distributed load, without stiffness; None where it has none."""
        return None

    # own states

    @property
    def own_states(self) -> dict[str, str]:
        """All its own states, each with its unit: continuous, discrete, modes, and how often discrete ones were
        updated."""
        return {**self.states, **self.sampled, **self.modes, **({"updates": "1"} if self.sampled else {})}

    def start_values(self) -> Sequence[float]:
        """The values that its own states start with, continuous, discrete and modes, where a run is given none."""
        return [0.0] * (len(self.states) + len(self.sampled) + len(self.modes))

    def derivatives(self, state: MachineState) -> Sequence:
        """The time derivatives of its continuous states; `state.own(self)` are the values of its own states."""
        return [0.0] * len(self.states)

    def update(self, state: MachineState) -> Sequence:
        """The discrete states from now on."""
        return state.own(self)[len(self.states) : len(self.states) + len(self.sampled)]

    # events

    def events(self) -> Sequence[ElementEvent]:
        """Its events; of several that are due at once the first is taken, and the others are asked again."""
        return ()

    def settled(self, state: MachineState) -> Mapping[str, float]:
        """Own states that have to change at the start of a run, or after an impact elsewhere: new values by name."""
        return {}

    def holds(self, own: Vec) -> Iterable[Hold]:
        """The axes of joints that it may hold.  own: values of its own states"""
        return ()

    def masses(self, own: Vec) -> Iterable[tuple[str, Scalar]]:
        """Bodies that lose mass, and how much has left, kg; their inertia falls in proportion.  own: as of `holds`"""
        return ()

    # inertia

    def inertia(self, state: MachineState) -> Sequence:
        """Inertia that it has beside that of bodies, without weight: a symmetric matrix (6k, 6k) for its k bodies.

        Forces at the origins of the bodies, N, and couples, N m, per acceleration of the origins, m/s², and angular
        acceleration, rad/s², world axes, (force, couple) of one body after the other: a function of positions alone.
        With the inertia of all bodies the mass matrix must be positive definite.
        """
        return ()

    def inertia_bias(self, state: MachineState) -> Sequence | None:
        """What that inertia needs at accelerations that are 0, (6k,); None: found by derivatives of `inertia`."""
        return None

    @property
    def inertia_bodies(self) -> Sequence[str]:
        """The bodies that its inertia couples, in order: all that it names, unless given; none where it has none."""
        return self.bodies if type(self).inertia is not ForceElement.inertia else ()

    @property
    def changes_inertia(self) -> bool:
        """Whether its own states decide the inertia of the machine: it holds axes, or masses change."""
        can = type(self).holds is not ForceElement.holds or type(self).masses is not ForceElement.masses
        return can and bool(self.own_states)

    # energy and symmetry

    def potential(self, state: MachineState) -> Scalar:
        """The potential energy, J: a function of positions alone."""
        return 0.0

    def conservative_part(self) -> "ForceElement | None":
        """The part whose forces are those of the potential; None where there is none."""
        return self if type(self).potential is not ForceElement.potential else None

    def other_part(self) -> "ForceElement | None":
        """The part without a potential; None where there is none. Its forces and those of the conservative part add up
        to those of the element."""
        own = type(self)
        has_forces = own.wrenches is not ForceElement.wrenches or self.of_coordinates or bool(self.own_states)
        return self if own.potential is ForceElement.potential and has_forces else None

    def strain_energy(self, state: MachineState) -> Scalar:
        """The energy that its sections store, J; runs keep it where there are `section_labels`."""
        return self.potential(state)

    def stiff_law(self) -> StiffLaw | None:
        """The derivatives of its forces, for implicit methods, where it is so stiff that their iterations need them."""
        return None

    @property
    def is_internal(self) -> bool:
        """Whether its forces on the bodies of the machine cancel, moments included, so that momenta stay."""
        return False

    @property
    def of_coordinates(self) -> bool:
        """Whether it is a function of the coordinates of joints, and not of bodies alone."""
        own = type(self)
        return own.generalized is not ForceElement.generalized or own.holds is not ForceElement.holds

    def fault(self, state: MachineState) -> str:
        """Why it has no value at a state of floats, in half a sentence; "" where it has one."""
        return ""

    # what is told of it

    def functions(self) -> list[tuple[str, Callable[[Scalar, Vec, Vec], Any]]]:
        """User functions of (t, q, v) that it holds, each with what messages call it."""
        return []

    @property
    def holds_functions(self) -> bool:
        """Whether any of its fields is a function, by a user or from a file."""
        return any(callable(getattr(self, name)) for name in self.keys)

    @property
    def of_layout(self) -> str:
        """Why it belongs to the coordinates of one model, in half a sentence: it has a function of all of q and v; ""
        where it does not."""
        return ""

    @property
    def is_load(self) -> bool:
        """Whether it is a load: one that grows in `ph.buckling`, unless loads are named there."""
        return False

    @property
    def stops(self) -> Sequence[tuple[str, int]]:
        """Axes of joints that it keeps within limits, (joint, axis) each."""
        return ()

    def notes(self) -> Sequence[str]:
        """What every run of a model with it should say of it, a line each."""
        return ()

    def drawing(self) -> Iterable[DrawnLine | DrawnBeam]:
        """The lines and beams that pictures show of it."""
        return ()

    def summary(self) -> str:
        """The element in one line, without its name."""
        values = [f"{key} {short(x)}" for key in self.keys if (x := getattr(self, key)) is not None]
        return ", ".join([self.kind, *values])

    # changed models: each of these gives the fields that become others, or raises a NotCarried that says why it cannot

    def moved(self, mounts: Mapping[str, Mount]) -> dict[str, Any]:
        """Its fields where frames of its bodies become others: by the keys that are `fixed_to` those bodies.

        mounts  of each key of a body, the old frame on the new body
        """
        fixed = {name: key for name, key in self.keys.items() if key.fixed_to in mounts}
        if any(
            not mount.is_own and body not in {key.fixed_to for key in fixed.values()} for body, mount in mounts.items()
        ):
            raise NotCarried(f"{type(self).__name__} does not say how it is moved to another frame")
        return {name: _seen(mounts[key.fixed_to], key.holds, getattr(self, name)) for name, key in fixed.items()}

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """Its fields in a mirror image of the machine."""
        raise NotCarried("its kind has no image")

    def scaled(self, scale: Scale) -> dict[str, Any]:
        """Its fields in a machine of another size: numbers by their units."""
        if self.holds_functions:
            raise NotCarried("its function has numbers of its own")
        values = {}
        for name in self.numeric:
            if not self.keys[name].unit:
                raise NotCarried(f"the unit of its {name} is not known")
            values[name] = scale.by(self.keys[name].unit, getattr(self, name), self._is_along_length(scale))
        if self.sampled and "period" in self.keys:
            values["period"] = float(self.period) * scale.time
        return values

    def _is_along_length(self, scale: Scale) -> bool:
        """Whether the coordinate that it acts along is a length."""
        if not self.joints:
            return False
        along, axis = scale.linear[self.joints[0]], getattr(self, "axis", 0)
        return along[axis if isinstance(axis, int) and axis < len(along) else 0]

    def locked(self, values: Mapping[str, tuple[float, ...]]) -> dict[str, Any] | None:
        """Its fields where joints do not move, some of those that it names among them; None: it does nothing then.

        values  the coordinates of each locked joint
        """
        held = [name for name in self.joints if name in values]
        if len(held) < len(self.joints):
            left = next(name for name in self.joints if name not in values)
            raise NotCarried(f"joint '{held[0]}' is locked, '{left}' is not")
        return None

    # numbers

    @property
    def bodies(self) -> list[str]:
        """The bodies that it names."""
        held = [getattr(self, name) for name, key in self.keys.items() if key.holds == "body"]
        pairs = [pair for name, key in self.keys.items() if key.holds == "pairs" for pair in getattr(self, name)]
        return [*(body for body in held if body is not None), *(body for pair in pairs for body in pair)]

    @property
    def joints(self) -> list[str]:
        """The joints that it names."""
        return [x for name, key in self.keys.items() if key.holds == "joint" and (x := getattr(self, name)) is not None]

    @property
    def numeric(self) -> list[str]:
        """The fields that hold numbers of the machine, finite ones: each of these has a path."""
        return [n for n, key in self.keys.items() if key.is_numeric and _is_given(getattr(self, n))]

    def changed(self, **values: Any) -> Self:
        """The element with other values in its fields, scalars of any kind, unchecked."""
        made = copy(self)
        for name, value in values.items():
            object.__setattr__(made, name, value)
        return made


def _seen(mount: Mount, holds: str, value: Any) -> tuple[float, ...]:
    """A point, direction or attitude in the axes of a frame, in those of the body that carries it."""
    if callable(value):
        raise NotCarried("it has a function in the axes of a body whose frame is another")
    return {"vector": mount.point, "direction": mount.direction, "quaternion": mount.attitude}[holds](value)


def _is_given(value: Any) -> bool:
    """Whether a field has a number, or numbers: no function, nothing left out, no infinite limit."""
    if value is None or callable(value) or (isinstance(value, tuple) and not value):
        return False
    return not (isinstance(value, float) and math.isinf(value))
