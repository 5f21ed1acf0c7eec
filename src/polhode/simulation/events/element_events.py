"""Events of force elements: their guards as crossings of a run, and what changes where one is due.

Velocities jump by impulses: the least change, in the metric of the mass matrix, that gives some axes their new
velocities and leaves constraints and axes that are held as they are.                              Gauss's principle
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from polhode.constrain.constraint_policy import TOLERANCE
from polhode.dynamics.inertia import mass_matrix
from polhode.dynamics.kinematics import frames, joint_state, velocities
from polhode.dynamics.state_inertia import held_axes, places, with_masses
from polhode.errors import told
from polhode.linalg.augmented import unit_scale
from polhode.linalg.constrained import ConstrainedProblem
from polhode.linalg.null_space import by_null_space
from polhode.model import Model, Tree
from polhode.model.forces.base import ElementEvent, ForceElement, Hold
from polhode.model.state import MachineState
from polhode.scalar import Scalar, Vec, length
from polhode.simulation.run_records import Position
from polhode.simulation.step_state import Crossing

MOST = 1000
"""Events of elements at one time, one after the other, after which a run ends: no state lets the motion go on."""

ROUNDING = 1e-12
"""A change up to this part of the largest velocity is rounding: no impact that lets go what friction holds."""

FORBIDDEN = 1e-8
"""The part of a wanted change of velocity that constraints and held axes may withhold, by rounding."""

DRIVEN = 1e-8
"""The part of an axis that lies outside the rows of constraints, up to which they alone decide how it moves."""

Acceleration = Callable[[Scalar, Vec, Vec], Vec]
Normals = Callable[[Scalar, Vec, Vec], Mapping[str, Scalar] | None]
"""v̇, and the normal forces of joints by name that elements depend on, of (t, q, v)."""


class RunElementEvent(NamedTuple):
    """An event of a force element, as a run sees it."""

    name: str
    terminal: bool = False
    reset: bool = True


def element_events(model: Model) -> tuple[RunElementEvent, ...]:
    """The events of all force elements, in the order of the elements."""
    return tuple(RunElementEvent(f"{force.name}.{event.name}") for force in model.forces for event in force.events())


class TakenEvent(NamedTuple):
    """An event of a force element that took place.

    number         among those of all elements
    t, q           when and where
    before, after  the velocities, with own states
    axes           places in v of the velocities that impulses gave new values, and of those that they left as they were
    is_located     whether its time is where its guard passes 0; else it was due at the start, or after another
    """

    number: int
    t: float
    q: np.ndarray
    before: np.ndarray
    after: np.ndarray
    axes: tuple[int, ...]
    is_located: bool


def events_of_tree(tree: Tree) -> tuple[tuple[ForceElement, ElementEvent], ...]:
    """The events of all elements, each with its element."""
    return tuple((force, event) for force in tree.forces for event in force.events())


def guards(tree: Tree, acceleration: Acceleration, normals: Normals) -> tuple[Crossing, ...]:
    """The crossings of all events of elements: each is due where its function is above 0."""
    last: list = []

    def state_of(*given: Scalar) -> MachineState:
        if not last or any(a is not b for a, b in zip(last[0], given, strict=True)):
            last[:] = given, event_state(tree, acceleration, normals, *given)  # all guards are asked of one state
        return last[1]

    def crossing(force: ForceElement, event: ElementEvent) -> Crossing:
        return Crossing(lambda *given: event.guard(state_of(*given)), 1, f"{force.name}.{event.name}", is_level=True)

    return tuple(crossing(*each) for each in events_of_tree(tree))


def event_state(tree: Tree, acceleration: Acceleration, normals: Normals, t: Scalar, q: Vec, v: Vec) -> MachineState:
    """A state that also knows its acceleration and normal forces; places of bodies are computed where asked for."""
    at = _Later(lambda: frames(tree, q))
    moving = _Later(lambda: velocities(tree, q, list(at), v))
    known = joint_state(tree, t, q, v)._replace(at=at, moving=moving, normals=normals(t, q, v))
    return known._replace(acceleration=cache(lambda: acceleration(t, q, v)))


class _Later(Sequence):
    """A list that is made when it is first read."""

    def __init__(self, make: Callable[[], list]) -> None:
        self._made = cache(make)

    def __getitem__(self, i: Any) -> Any:
        return self._made()[i]

    def __len__(self) -> int:
        return len(self._made())


class Watch(NamedTuple):
    """What events of elements depend on, of (t, q, v).

    guards       of all events (n,), on arrays; None: they are asked one by one
    mass_matrix  of q, where no own state decides the inertia but by holding axes; None: it is computed in Python
    """

    acceleration: Acceleration
    normals: Normals
    guards: Callable[[float, np.ndarray, np.ndarray], np.ndarray] | None = None
    mass_matrix: Callable[[np.ndarray], np.ndarray] | None = None


class ElementJumps:
    """What events of elements change, in a run.

    rows   A (k, nv) and b (k,) of the constraints A v̇ = b, of (t, q, v); None: there are none
    taken  gets the events that take place, where it is given
    """

    def __init__(
        self,
        tree: Tree,
        watch: Watch,
        rows: Callable[[float, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]] | None,
        taken: list[TakenEvent] | None = None,
    ) -> None:
        self.tree, self.watch, self.rows, self.taken = tree, watch, rows, taken
        self.events = events_of_tree(tree)
        self._axes: list[int] = []  # of the impulses of the last event

    def begin(self, at: Position) -> tuple[list[str], str]:
        """Bring the own states at the start of a run in order; the names of events that are due, and a fault."""
        self._settle(at)
        return self.follow(at, None)

    def follow(self, at: Position, first: int | None) -> tuple[list[str], str]:
        """Let an event take place, and all that are due after it; their names, and why the run ends, "" if it does not.

        first  its number among the events of elements; None: those that are due
        """
        names: list[str] = []
        while len(names) <= MOST:
            due = self._due(at) if first is None else first
            if due is None:
                return names, ""
            state = self._state(at)
            force, event = self.events[due]
            names.append(f"{force.name}.{event.name}")
            before = at.v
            if fault := self._apply(at, state, force, event):
                return names, fault
            if self.taken is not None:
                what = due, at.t, at.q.copy(), before, at.v.copy(), tuple(self._axes), first is not None
                self.taken.append(TakenEvent(*what))
            first = None
        cycle = ", ".join(f"'{name}'" for name in dict.fromkeys(names[-10:]))
        return names, f"events of elements follow one another without end while no time passes: {cycle}"

    def _due(self, at: Position) -> int | None:
        """The number of the first event that is due; None: none is."""
        if self.watch.guards:
            found = np.flatnonzero(self.watch.guards(at.t, at.q, at.v) > 0)
            return int(found[0]) if len(found) else None
        state = self._state(at)
        return next((k for k, (_, event) in enumerate(self.events) if event.guard(state) > 0), None)

    def _state(self, at: Position) -> MachineState:
        return event_state(
            self.tree, self._acceleration, self.watch.normals, at.t, Vec(at.q.tolist()), Vec(at.v.tolist())
        )

    def _acceleration(self, t: float, q: Vec, v: Vec) -> Vec:
        """v̇, in which an axis that is held and that constraints drive, as at a dead centre, moves as these demand.

        Where an element cannot hold an axis the load on it is beyond all bounds, and has the sign of that motion.
        """
        found = self.watch.acceleration(t, q, v)
        held = {k for k, hold, _ in held_axes(self.tree, v) if float(hold.weight) > 0.5} if self.rows else set()
        if not self.rows or not held:
            return found
        A, b = self.rows(t, np.array(q, dtype=float), np.array(v, dtype=float))
        for k in held:
            unit = np.eye(len(v))[k]
            y = np.linalg.lstsq(A.T, unit, rcond=None)[0]
            if np.linalg.norm(A.T @ y - unit) < DRIVEN and abs(y @ b) > DRIVEN * np.linalg.norm(y) * np.linalg.norm(b):
                found = Vec([float(y @ b) if i == k else a for i, a in enumerate(found)])
        return found

    def _apply(self, at: Position, state: MachineState, force: ForceElement, event: ElementEvent) -> str:
        """Let one event take place; why it cannot, or ""."""
        name = f"event '{force.name}.{event.name}'"
        self._axes = []
        try:
            own, rates = event.jump(state)
            wanted = {k: float(rate) for joint, axis, rate in rates for k in places(state.rates_of_joint, joint, axis)}
            at.v = self._with_own(at.v, force, own)
            if not wanted:
                return ""
            found = self._after_impulse(at, wanted)
            if found is None:
                return f"{name} wants a velocity that constraints or held axes do not let it have"
            at.v = found
            self._settle(at)
        except Exception as error:
            return f"{name} {told(error)}"
        return ""

    def _with_own(self, v: np.ndarray, force: ForceElement, own: Mapping[str, float]) -> np.ndarray:
        """The velocities with other values of own states of an element."""
        v, at = v.copy(), dict(zip(force.own_states, self.tree.of_states.get(force.name, ()), strict=True))
        for name, value in own.items():
            v[at[name]] = float(value)
        return v

    def _settle(self, at: Position) -> None:
        """Ask every element for own states that have to change."""
        state = self._state(at)
        for force in self.tree.forces:
            if own := force.settled(state):
                at.v = self._with_own(at.v, force, own)

    def _mass_matrix(self, q: np.ndarray, v: Vec) -> np.ndarray:
        """M (n, n) without what holds axes."""
        tree = with_masses(self.tree, v)
        if self.watch.mass_matrix and tree is self.tree:
            return self.watch.mass_matrix(q)
        return np.array(mass_matrix(tree, Vec(q.tolist())), dtype=float).reshape(len(v), len(v))

    def _after_impulse(self, at: Position, wanted: Mapping[int, float]) -> np.ndarray | None:
        """The velocities after impulses along axes that give them wanted velocities; None where these cannot be."""
        n, axes = len(at.v), list(wanted)
        v, change = Vec(at.v.tolist()), np.array([wanted[k] - at.v[k] for k in axes])
        speeds = at.v[[k for e in self.tree.elements if e.kind.moves for k in e.v]]
        rounding = ROUNDING * np.max(abs(speeds), initial=1e-300)
        is_impact = bool(np.max(abs(change)) > rounding)
        holds: list[tuple[int, Hold]] = [
            (k, hold)
            for k, hold, force in held_axes(self.tree, v)
            if float(hold.weight) > 0.5 and k not in wanted and (force.passes_impulses or not is_impact)
        ]
        M = self._mass_matrix(at.q, v)
        A = self.rows(at.t, at.q, at.v)[0] if self.rows else np.zeros((0, n))
        while True:
            own = axes + [k for k, _ in holds]
            C, d = np.vstack([A, np.eye(n)[own]]), np.concatenate([np.zeros(len(A)), change, np.zeros(len(holds))])
            is_plain = not len(A) and len(set(own)) == len(own)
            found, impulse = change_of_axes(M, own, d) if is_plain else least_change(M, C, d)
            if np.max(abs(C @ found - d)) > max(FORBIDDEN * np.max(abs(change), initial=1e-300), rounding):
                return None
            pulls = [i for i, (_, hold) in enumerate(holds) if float(hold.side) * impulse[len(A) + len(axes) + i] > 0]
            if not pulls or not is_impact:
                break
            del holds[pulls[0]]
        after = at.v + found
        after[axes] = [wanted[k] for k in axes]
        self._axes = [*axes, *(k for k, _ in holds)]
        return after


def least_change(M: np.ndarray, C: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x with C x = d and the least xᵀMx, and λ with M x = Cᵀλ; rows of C may depend on each other: their λ is 0.

    M  (n, n), C  (k, n), d  (k,)
    """
    metric, rows = (Vec([Vec(row) for row in X.tolist()]) for X in (M, C))
    sizes = [length(Vec([x * s for x, s in zip(row, unit_scale(metric), strict=True)])) or 1.0 for row in rows]
    problem = ConstrainedProblem(metric, rows, sizes, TOLERANCE)
    (found,) = by_null_space(problem, [(Vec([0.0] * len(M)), Vec(d.tolist()))])
    return np.array(found.a, dtype=float), np.array(found.multipliers, dtype=float)


def change_of_axes(M: np.ndarray, axes: Sequence[int], d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`least_change` where the rows are those of different axes: x with x[axes] = d.  M  (n, n), regular"""
    columns = np.linalg.solve(M, np.eye(len(M))[:, list(axes)])
    impulse = np.linalg.solve(columns[list(axes)], d)
    return columns @ impulse, impulse
