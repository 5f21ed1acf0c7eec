"""The record of a quantity of a System: its name, its arguments, the shapes of its results, its algorithms.

The records themselves are in `catalogue`; which algorithm is used, and its graph, in `algorithms.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from polhode.constrain.constrained_dynamics import ConstrainedDynamics
from polhode.constrain.constraint_policy import ConstraintPolicy
from polhode.constrain.reactions import connecting
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.body_points import AXES, KINDS, BodyPoint, body_point
from polhode.dynamics.large_trees.loops import is_large
from polhode.model import Model, Tree, make_tree, regrouped
from polhode.spatial import ORIGIN
from polhode.system.number_inputs import NumberInputs

Size = int | str
"""The length of an axis: a number, or a name of `SystemSpec.sizes`."""

Axes = tuple[Size, ...]

FIELDS: dict[str, Axes] = {
    "q": ("nq",),
    "v": ("nv",),
    "vd": ("nv",),
    "tau": ("nv",),
    "q1": ("nq",),
    "point": (3,),
    "load": (6,),
    "qdot": ("nq",),
    "multipliers": ("rows",),
    "factors": ("bodies",),
    "part": (),
    "restitution": (),
    "damping": (),
    "t": (),
    "force": (3,),
    "couple": (3,),
}
"""The axes of each kind of argument; those of a parameter are its own."""


class Argument(NamedTuple):
    """One argument of the physics: a field of `Arguments`, or a part of one that belongs to a body or a number.

        Argument("q"), Argument("force", "hand"), Argument("parameter", "bodies.arm.mass")

    Its text is its name in graphs and in generated source; nothing reads that back.
    """

    field: str
    """A name of `FIELDS`, "parameter", or "numbers": those of `NumberInputs`."""
    of: str = ""
    """The body that a wrench acts on; the path of a parameter."""

    def __str__(self) -> str:
        if self.field in ("force", "couple"):
            return f"wrench.{self.of}.{self.field}"
        return f"parameters.{self.of}" if self.field == "parameter" else self.field


NUMBERS = Argument("numbers")

CHOICES = {"axes": AXES, "kind": KINDS}
"""The words that choose between kernels of one quantity, the usual one first."""


class Subject(NamedTuple):
    """What a quantity is asked of: a body or a frame, or the subtree that it carries, in which axes, of which kind."""

    body: str = ""
    """"": the whole machine."""
    axes: str = AXES[0]
    kind: str = KINDS[0]

    @property
    def words(self) -> tuple[str, ...]:
        """What is not as usual, in words that no other subject of the same quantity has."""
        last = max((k for k, (a, b) in enumerate(zip(self, WHOLE, strict=True), 1) if a != b), default=0)
        return self[:last]


WHOLE = Subject()


@dataclass(frozen=True)
class SystemSpec:
    """The model that a System was compiled from, and how its constraints are met."""

    model: Model
    tree: Tree
    policy: ConstraintPolicy | None
    """The constraint policy; None for a tree without constraints in its own coordinates."""
    constrained: ConstrainedDynamics | None
    """The conditions of its constraints; None without constraints."""
    inputs: NumberInputs | None = None
    """The numbers that are inputs, all together; None: they fold."""

    @classmethod
    def of(
        cls,
        model: Model,
        tree: Tree,
        policy: ConstraintPolicy,
        constrained: ConstrainedDynamics | None,
        inputs: NumberInputs | None = None,
    ) -> "SystemSpec":
        """The same, where the policy is that of any model."""
        return cls(model, tree, policy if constrained or policy.engine == "absolute" else None, constrained, inputs)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The lengths of axes by name.

        rows, positions  of all constraints, and of those on positions
        joints, bodies   of the tree
        connections      constraints between two bodies
        parameters       inertial ones of all bodies; mass_parameters: their masses and first moments
        placements       positions and orientations of all joints
        """
        model, constrained = self.model, self.constrained
        return {
            "nq": model.nq,
            "nv": model.nv,
            "rows": len(constrained.names) if constrained else 0,
            "nv + rows": model.nv + (len(constrained.names) if constrained else 0),
            "positions": constrained.holonomic if constrained else 0,
            "joints": len(model.joints),
            "bodies": len(model.bodies),
            "connections": len(connecting(model)),
            "parameters": 10 * len(model.bodies),
            "mass_parameters": 4 * len(model.bodies),
            "placements": 6 * len(model.joints),
        }

    def shape(self, axes: Axes) -> tuple[int, ...]:
        """The lengths of axes."""
        return tuple(self.sizes[axis] if isinstance(axis, str) else axis for axis in axes)


@dataclass(frozen=True)
class Request:
    """One evaluation of a quantity on scalars: floats, arrays of a batch, or symbols of a trace."""

    spec: SystemSpec
    scalars: Mapping[Argument, Any]
    subject: Subject = WHOLE
    """What the quantity is asked of."""
    regroup: bool = False
    """Whether the tree may be regrouped: nothing asks for its bodies one by one."""
    batch: tuple[int, ...] = ()
    """The batch axes of the scalars."""

    @cached_property
    def x(self) -> Arguments:
        """The arguments as physics takes them; parameters make the tree anew."""
        scalars = self.scalars
        known: dict[str, Any] = {a.field: value for a, value in scalars.items() if not a.of and a != NUMBERS}
        values = {a.of: value for a, value in scalars.items() if a.field == "parameter"}
        pairs = {a.of: (force, scalars[Argument("couple", a.of)]) for a, force in scalars.items() if a.field == "force"}
        tree = make_tree(self.spec.model, values) if values else self.spec.tree
        if NUMBERS in scalars:
            assert self.spec.inputs is not None
            tree = self.spec.inputs.tree(scalars[NUMBERS])
        x = Arguments(tree, wrench=pairs, **known)
        return x._replace(tree=regrouped(tree), rolled=is_large(tree)) if self.regroup else x

    @classmethod
    def of(cls, spec: SystemSpec, x: Arguments) -> "Request":
        """A request whose arguments are there already."""
        request = cls(spec, {})
        vars(request)["x"] = x
        return request

    def at(self, x: Arguments) -> "Request":
        """The same with other arguments."""
        request = replace(self)
        vars(request)["x"] = x
        return request

    @property
    def place(self) -> BodyPoint:
        """The point of the body or frame that the quantity is asked of."""
        return body_point(self.x.tree, self.subject.body, self.x.point or ORIGIN)

    @property
    def constrained(self) -> ConstrainedDynamics:
        """The conditions of the constraints, which are there."""
        found = self.spec.constrained
        if NUMBERS in self.scalars and self.spec.inputs:
            found = found.with_scales(self.spec.inputs.more(self.scalars[NUMBERS])) if found else None
        assert found is not None
        return found


def _always(spec: SystemSpec) -> bool:
    return True


class Algorithm(NamedTuple):
    """One algorithm of a quantity."""

    text: str
    """Its method and its source: a line in the head of generated text."""
    function: Callable[[Request], Any]
    """The quantity, on any scalars; where `on_numbers` is given, on symbols alone."""
    applies: Callable[[SystemSpec], bool] = _always
    """Whether it serves a System."""
    regroups: bool = False
    """Whether a regrouped tree may serve, where nothing but gravity acts on single bodies."""
    on_numbers: Callable[[Request], Any] | None = None
    """The same on numbers, where that is another function."""
    by_graph: bool = False
    """Whether constraints take part: their rows are derivatives, so that numbers too are put into its graph."""


@dataclass(frozen=True)
class Quantity:
    """A quantity of a System: all that is known of it."""

    name: str
    what: str
    """Its meaning in words: a line in the head of generated text."""
    arguments: tuple[Argument, ...]
    """In the order of a call; the time, wrenches and parameters follow."""
    results: tuple[Axes, ...]
    """The axes of each result."""
    algorithms: tuple[Algorithm, ...]
    """The candidates: of those that apply, the one with fewest operations is used."""
    record: type | None = None
    """The record of several results; None for one alone."""
    of_body: bool = False
    """Whether it belongs to a body, named in the call."""
    of_subtree: bool = False
    """Whether it may be asked of what a body carries, itself included, instead of the whole machine."""
    choices: tuple[str, ...] = ()
    """The names of `CHOICES` that a call may give."""
    needs_constraints: bool = False
    """Whether it is a quantity of constraints alone."""
    inverts_mass: bool = False
    """Whether a singular mass matrix is refused, of a model without constraints."""
    divides_by_mass: bool = False
    """Whether a subject without mass is refused."""
    is_watched: bool = False
    """Whether its method looks at the result: then calls with one state do not go straight to the kernel."""

    @property
    def call(self) -> str:
        """Its name and the words that it takes, for messages."""
        return ", ".join([repr(self.name), *["body"] * (self.of_body or self.of_subtree), *self.choices])
