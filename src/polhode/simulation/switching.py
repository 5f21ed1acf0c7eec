"""Where inputs, forces and constraints are not smooth, and which of them depend on time: read from their graphs.

A comparison, an absolute value or the angle of a point in a user function is a switching function g(t, q, v): where it
passes zero, the function has a corner or jumps, and a step has to end there. Those of time alone are solved before the
run; those of the state are crossings that the run finds.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from polhode.constrain.constraint_policy import ConstraintPolicy
from polhode.dynamics.kinematics import joint_state, machine_state
from polhode.kernel.graph import Graph, Port
from polhode.kernel.operations import BRANCHES
from polhode.kernel.replay import replay
from polhode.kernel.trace import Symbol, current, number_node, trace
from polhode.model import Model, Tree, make_tree
from polhode.model.constraints.base import ConstraintCondition
from polhode.model.forces.base import ForceElement
from polhode.model.per_model_cache import once_each
from polhode.model.user_kinds import is_by_user
from polhode.scalar import Scalar, Vec, smooth
from polhode.simulation.inputs import PD, ComputedTorque, called_name, checked_law, knots, whole_force, within
from polhode.simulation.run_records import NONE
from polhode.simulation.step_state import LONGEST
from polhode.simulation.step_times.time_roots import abrupt_changes_of, roots, smooth_pieces
from polhode.system.constrained_model import constrained_dynamics
from polhode.system.identity import identity_text

APART = 1e-13
"""Breaks that are nearer to each other than this part of the duration are one."""

MOST_PIECES = 1000
"""Pieces of a run, no longer than which steps are where functions of time may do anything."""

TIME, STATE = 1, 2
"""What a node of a graph depends on."""

BENDS = "bends of "
"""How the names of functions begin whose values bend, but do not jump, where their conditions change."""

Named = tuple[str, Callable[[Scalar, Vec, Vec], Any]]
"""A function of (t, q, v), and what messages call it"""

NamedOrTraced = tuple[str, "Callable[[Scalar, Vec, Vec], Any] | TracedFunction"]
"""The same, perhaps traced already"""


class TracedFunction(NamedTuple):
    """A user function of (t, q, v) as a graph of its values and its switching functions.

    depends_on_time  whether t enters its values
    values, times, states  graphs of its values, and of its switching functions of time alone and of the state
    parts  graph of the functions of time alone that it is a sum of products of, with functions of the state; None where
           time and state are mixed otherwise
    """

    name: str
    depends_on_time: bool
    values: Graph
    times: tuple[Graph, ...]
    states: Graph
    parts: Graph | None


def user_functions(model: Model, tau: Any, policy: ConstraintPolicy, tree: Tree | None = None) -> Iterator[Named]:
    """The functions by users that act on a model: inputs, parts of controllers, forces, constraints.

    tree  of the model, where its numbers are not those of the model
    """
    if isinstance(tau, (PD, ComputedTorque)):
        for part in ("target", "speed", "acceleration"):
            if callable(function := getattr(tau, part, None)):
                yield f"{type(tau).__name__}, {part}", _of_time(function)
    elif callable(tau):
        yield f"tau '{called_name(tau)}'", checked_law(tau, model.nv)
    own = {c.name for c in model.constraints if c.kind.may_move(c.data) or is_by_user(type(c.kind))}
    if not model.forces and not own:
        return
    tree = tree or make_tree(model)
    for force in tree.forces:
        told = force.functions()
        yield from told
        if is_by_user(type(force)) or force.has_jumps or (force.holds_functions and not told):
            yield f"force '{force.name}'", whole_force(tree, force)
        elif force.has_conditions:
            yield f"{BENDS}{force.kind} '{force.name}'", whole_force(tree, force)
    dynamics = constrained_dynamics(model, policy) if own else None
    for condition in dynamics.conditions if dynamics else ():
        if condition.name in own:
            yield f"constraint '{condition.name}'", _residual(tree, condition)


def _of_time(function: Callable[[Scalar], Any]) -> Callable[[Scalar, Vec, Vec], Any]:
    return lambda t, q, v: function(t)


def _residual(tree: Tree, condition: ConstraintCondition) -> Callable[[Scalar, Vec, Vec], Any]:
    return lambda t, q, v: condition.residual(smooth(machine_state)(tree, t, q, v))


def traced(sizes: tuple[int, int], name: str, function: Callable[[Scalar, Vec, Vec], Any]) -> TracedFunction | None:
    """A function of (t, q, v) as graphs; None where it cannot be traced.  sizes: of q and v"""
    depends, apart = 0, False

    def collected(t: Scalar, q: Vec, v: Vec) -> dict[str, Vec]:
        nonlocal depends, apart
        values = Vec(function(t, q, v))
        builder = current()
        nodes = [number_node(builder, x) for x in values]
        needed, on = _needed(builder.nodes, nodes), _dependence(builder.nodes)
        depends = max((on[k] & TIME for k in nodes if k is not None), default=0)
        parts = _time_parts(builder.nodes, [k for k in nodes if k is not None], needed, on)
        apart = parts is not None
        found: dict[str, dict[tuple[int, ...], Symbol]] = {"times": {}, "states": {}}
        for k in builder.branches:
            op, args, _ = builder.nodes[k]
            if k not in needed or op not in BRANCHES:
                continue
            g = builder.apply("sub", *args) if op in ("less", "less_equal") else args[0]
            kind, operands, _ = builder.nodes[g]
            g = operands[0] if kind == "neg" else g
            what = _dependence(builder.nodes)[g] if g >= len(on) else on[g]
            if what:
                key = tuple(sorted(operands)) if kind == "sub" else (g,)
                found["times" if what == TIME else "states"].setdefault(key, Symbol(builder, g))
        alone = Vec([Symbol(builder, k) for k in parts or ()])
        return {"values": values, "parts": alone, **{part: Vec(each.values()) for part, each in found.items()}}

    try:
        graph = trace(collected, t=(), q=sizes[:1], v=sizes[1:])
    except Exception:  # whatever a function says to a symbol
        return None
    ports = {port.name: port for port in graph.outputs}
    times = tuple(_only(graph, k) for k in ports["times"].nodes)
    return TracedFunction(
        name, bool(depends), _only(graph, *ports["values"].nodes), times, _only(graph, *ports["states"].nodes),
        _only(graph, *ports["parts"].nodes) if apart else None,
    )  # fmt: skip


def known_functions(model: Model, policy: ConstraintPolicy) -> Sequence[NamedOrTraced]:
    """The functions of a model without inputs: traced once, where expressions of files are all that is in it."""
    return _traced_once(model, policy) if identity_text(model) else [*user_functions(model, None, policy)]


@once_each
def _traced_once(model: Model, policy: ConstraintPolicy) -> Sequence[NamedOrTraced]:
    named = list(user_functions(model, None, policy))
    return [(name, traced((model.nq, model.nv), name, f) or f) for name, f in named]


def _needed(nodes: Sequence[tuple], outputs: Sequence[int | None]) -> set[int]:
    """The nodes that outputs follow from."""
    found, waiting = set[int](), [k for k in outputs if k is not None]
    while waiting:
        k = waiting.pop()
        if k not in found:
            found.add(k)
            waiting += nodes[k][1]
    return found


def _dependence(nodes: Sequence[tuple]) -> list[int]:
    """What every node depends on: 0, TIME, STATE or both. The first input is the time, all others are the state."""
    found: list[int] = []
    for k, (op, args, _) in enumerate(nodes):
        what = (TIME if k == 0 else STATE) if op == "input" else 0
        for a in args:
            what |= found[a]
        found.append(what)
    return found


def _time_parts(
    nodes: Sequence[tuple], outputs: Sequence[int], needed: set[int], on: Sequence[int]
) -> list[int] | None:
    """The nodes of time alone that outputs are sums of products of, with nodes of the state; None: they are not."""
    found = {k for k in outputs if on[k] == TIME}
    for k in needed:
        op, args, _ = nodes[k]
        if on[k] != TIME | STATE:
            continue
        if op not in ("add", "sub", "neg", "mul") and not (op == "div" and not on[args[1]] & TIME):
            return None
        found |= {a for a in args if on[a] == TIME}
    return sorted(found)


def _only(graph: Graph, *nodes: int) -> Graph:
    """The graph of some of its nodes, as one vector."""
    return Graph.pruned(graph.name, graph.inputs, [Port("g", (len(nodes),), nodes)], graph.nodes, 0)


class Bend(NamedTuple):
    """A function of the state at whose zeros the forces of an element bend; whether a contact begins and ends there."""

    force: ForceElement
    g: Scalar
    is_contact: bool


def bends(tree: Tree, t: Scalar, q: Vec, v: Vec) -> list[Bend]:
    """The switching functions that force elements of the package have, and those of their corners: forces bend at their
    zeros, but do not jump."""
    own = [force for force in tree.forces if force.gives_switching]
    if not own:
        return []
    state = machine_state(tree, t, q, v) if any(force.bodies for force in own) else joint_state(tree, t, q, v)
    contacts = [Bend(force, g, force.is_contact) for force in own for g in force.switching(state)]
    return contacts + [Bend(force, g, False) for force in own for g in force.corners(state)]


def update_times(model: Model, duration: float) -> np.ndarray:
    """The times within a run at which discrete states of force elements are updated, increasing."""
    periods = {force.period for force in model.forces if force.sampled}
    if not periods:
        return NONE
    found = [period * np.arange(1, np.ceil(duration / period)) for period in periods]
    return np.unique(np.concatenate([NONE, *found]))


class Switching:
    """Where the user functions of a run are not smooth, and which of them depend on time; where forces of the package
    bend.

    explicit    names of those that t enters
    opaque      names of those that cannot be traced: nothing is known of them
    traced      for each switching function of the state in them the name of the function it is of
    jumps       those at which a function may jump
    bends       for each switching function that a force element gives, the name of that
    surfaces    traced, and bends
    contacts    for each of these the force element whose contact begins and ends there; "" where none does
    times       (n,)  solutions of conditions of time alone, and times around abrupt changes, increasing
    solved      whether any of them is the solution of a condition
    """

    def __init__(
        self,
        functions: Sequence[NamedOrTraced],
        q: np.ndarray,
        v: np.ndarray,
        duration: float,
        tree: Tree | None = None,
    ) -> None:
        sizes = len(q), len(v)
        tried = [(name, f if isinstance(f, TracedFunction) else traced(sizes, name, f)) for name, f in functions]
        self.functions = [function for _, function in tried if function]
        self.opaque = tuple(name for name, function in tried if function is None)
        self.explicit = tuple(f.name for f in self.functions if f.depends_on_time)
        self.traced = tuple(f.name for f in self.functions for _ in f.states.outputs[0].nodes)
        self.jumps = tuple(name for name in self.traced if not name.startswith(BENDS))
        self._state, self._duration, self._tree = {"q": q, "v": v}, duration, tree
        found = bends(tree, 0.0, Vec(q.tolist()), Vec(v.tolist())) if tree else []
        self.bends = tuple(f"{bend.force.kind} '{bend.force.name}'" for bend in found)
        self.surfaces = (*self.traced, *self.bends)
        self.contacts = (*[""] * len(self.traced), *(bend.force.name if bend.is_contact else "" for bend in found))

    def within(self, duration: float) -> "Switching":
        """The same in a run of another duration, of one without user functions."""
        assert not self.functions
        assert not self.opaque
        found = copy(self)
        found._duration = duration
        return found

    @cached_property
    def _solved(self) -> np.ndarray:
        found = [roots(g, self._duration, self._state) for f in self.functions for g in f.times]
        if not found:
            return NONE
        return np.unique(np.concatenate([NONE, *found]))

    @cached_property
    def times(self) -> np.ndarray:
        """Times at which steps have to end."""
        state = [np.asarray(self._state[name], dtype=float).tobytes() for name in ("q", "v")]
        found = [
            abrupt_changes_of(f.values, self._duration, self._solved.tobytes(), *state)
            for f in self.functions
            if f.depends_on_time and not any(node.op == "call" for node in f.values.nodes)
        ]
        return np.unique(np.concatenate([self._solved, *found]))

    @property
    def is_timed(self) -> bool:
        """Whether a function may repeat itself in time: t enters it, or nothing is known of it."""
        return bool(self.explicit or self.opaque)

    def longest_step(self, looks: float, has_events: bool, is_companion: bool) -> float:
        """The longest controlled step, s: what comes and goes within one step would be missed.

        looks  the duration over the longest step, where something could be missed

        Smooth user functions bound the steps of a companion too: they may be flat but for a short part of the way.
        """
        by_users = any(not f.name.startswith(BENDS) for f in self.functions)
        if has_events or self.opaque or self.jumps or (is_companion and by_users and not self.explicit):
            return self._duration / looks
        return self._duration / looks * (MOST_PIECES / self._pieces) if self.explicit else LONGEST

    @cached_property
    def _pieces(self) -> int:
        """Equal pieces of the run on which all functions of time are smooth; MOST_PIECES where that is not known."""
        found = [1]
        for f in self.functions:
            if f.depends_on_time:
                sizes, pieces = (len(self._state["q"]), len(self._state["v"])), None
                if f.parts is not None and not f.times and not any(node.op == "call" for node in f.parts.nodes):
                    pieces = smooth_pieces(f.parts, self._duration, sizes)
                found.append(pieces or MOST_PIECES)
        return max(found)

    @property
    def solved(self) -> bool:
        """Whether any time is the solution of a condition, at which a function may jump."""
        return len(self._solved) > 0

    def values(self, t: Scalar, q: Vec, v: Vec, tree: Tree | None = None) -> Vec:
        """All switching functions of the state; tree: with other numbers than those of the model."""
        graphs, tree = [f.states for f in self.functions if f.states.outputs[0].nodes], tree or self._tree
        traced = [g for graph in graphs for g in replay(graph, t=t, q=q, v=v)]
        return Vec([*traced, *(bend.g for bend in (bends(tree, t, q, v) if self.bends and tree else ()))])

    def ends_with(self, tau: Any, model: Model) -> np.ndarray:
        """Times at which a step has to end, increasing: `times`, the corners of an input tau that is a table, and those
        at which discrete states of force elements are updated."""
        updates = update_times(model, self._duration)
        if tau is None and not self.functions and not len(updates):
            return NONE
        found = np.union1d(np.union1d(knots(tau, model.nv, self._duration), self.times), updates)
        return within(found[np.diff(found, prepend=-1.0) > APART * self._duration], self._duration)


@once_each
def smooth_switching(model: Model) -> Switching:
    """The switching of a run without user functions, but for its duration: where forces of the package bend."""
    return Switching((), np.array(model.zero), np.zeros(model.nv), 1.0, make_tree(model))


@once_each
def smooth_switching_within(model: Model, duration: float) -> Switching:
    """The switching of a run of some duration without user functions."""
    return smooth_switching(model).within(duration)
