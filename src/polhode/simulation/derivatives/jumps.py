"""Derivatives through events of force elements: saltation matrices.

    δx⁺ = J_x δx⁻ + J_p δp + (J_t + J_x f⁻ − f⁺) δτ                              Aizerman-Gantmakher (1958)
    δτ = −(g_x δx⁻ + g_p δp)/(g_t + g_x f⁻)

x⁺ = J(t, x⁻, p) is the jump, f∓ = ẋ before and after it, g the guard whose zero is the time τ of the event. Guards are
on generic scalars, and differentiated exactly; what a jump wants is on floats, and differentiated by central
differences; the impulses that bring it about by the derivative of their equation.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from polhode.dynamics import inertia, inverse, kinematics, normal_forces
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.state_inertia import places, with_masses
from polhode.dynamics.with_forces import forward_dynamics
from polhode.errors import InputError, message
from polhode.model import Tree
from polhode.model.state import MachineState
from polhode.scalar import Scalar, Vec, jacobian
from polhode.simulation.derivatives.directions import Directions
from polhode.simulation.events.element_events import TakenEvent, event_state, events_of_tree
from polhode.simulation.inputs import DIFFERENCE, Law
from polhode.spatial import ORIGIN

GRAZING = 1e-6
"""The rate of a guard where it passes 0, over its rate before, below which the event is grazed: near a grazed event
motions part as square roots do, and have no derivative."""


class JumpSource(NamedTuple):
    """The events of elements of a run, by the number of the segment that begins with them.

    taken   in their order
    start   time, q and v where the run began
    law     the inputs of (t, q, v), if any
    """

    taken: dict[int, Sequence[TakenEvent]]
    start: tuple[float, np.ndarray, np.ndarray]
    law: Law | None


class JumpMap(NamedTuple):
    """The derivatives of what events at one time change, by x = (q, v) before them, n numbers, and by P inputs.

    state  (n, n + P)  of x after them, at a fixed time
    time   (n + P,)    of their time
    before, after      (q, v) there
    """

    state: np.ndarray
    time: np.ndarray
    before: tuple[np.ndarray, np.ndarray]
    after: tuple[np.ndarray, np.ndarray]


class JumpMaps:
    """The derivatives of all that events of a run change.

    where  what asks, for errors
    """

    def __init__(self, source: JumpSource, along: Directions, where: str) -> None:
        self.source, self.along, self.where = source, along, where
        self.tree, self.p = along.tree(Vec(along.p.tolist())), along.p
        self.nq, self.n = self.tree.nq, self.tree.nq + self.tree.nv
        self._found: dict[int, JumpMap] = {}

    def __call__(self, number: int) -> JumpMap | None:
        """The derivatives of all that happens where a segment begins; None: nothing does."""
        if number not in self.source.taken:
            return None
        if number not in self._found:
            self._found[number] = self._saltation(self.source.taken[number])
        return self._found[number]

    def _saltation(self, taken: Sequence[TakenEvent]) -> JumpMap:
        n, first, last = self.n, taken[0], taken[-1]
        whole = np.eye(1 + n + len(self.p))  # of (t, x, p) by those before
        for event in taken:
            whole[1 : 1 + n] = self._jump(event) @ whole
        J, time = whole[1 : 1 + n], np.zeros(n + len(self.p))
        if first.is_located:
            before, after = (
                self._rate(event.t, event.q, v) for event, v in ((first, first.before), (last, last.after))
            )
            g = self._guard(first.number, first.t, first.q, first.before)[1]
            rate = float(g[0] + g[1 : 1 + n] @ before)
            self._check_grazing(first, rate)
            time = -g[1:] / rate
            J = J + np.outer(J[:, 0] + J[:, 1 : 1 + n] @ before - after, np.concatenate([[0.0], time]))
        return JumpMap(J[:, 1:], time, (first.q, first.before), (last.q, last.after))

    def _jump(self, event: TakenEvent) -> np.ndarray:
        """The derivatives of one jump (n, 1 + n + P) by (t, x, p)."""
        tree, nq, n = self.tree, self.nq, self.n
        found, v = np.eye(n, 1 + n + len(self.p), 1), slice(nq, n)
        wanted, own = self._wanted(event)
        for k, slope in own.items():
            found[nq + k] = slope
        if wanted:
            still, change = Vec([0.0] * tree.nv), event.after - event.before
            change[list(tree.own_places)] = 0.0

            def momentum(z: Vec) -> Vec:
                q, speeds, p = self._parts(z)
                other = with_masses(self._tree(p), speeds)
                return inverse.inverse_dynamics(other, q, still, Vec(change.tolist()), ORIGIN)

            z = np.concatenate([[event.t], event.q, event.before, self.p])
            M = np.array(inertia.mass_matrix(with_masses(tree, Vec(event.before.tolist())), Vec(event.q.tolist())))
            M = M.astype(float).reshape(tree.nv, tree.nv)
            C = np.eye(tree.nv)[list(event.axes)]
            right = M @ found[v] - _slopes(momentum, z)
            below = np.array([wanted.get(k, found[nq + k]) for k in event.axes])
            K = np.block([[M, -C.T], [C, np.zeros((len(C), len(C)))]])
            found[v] = np.linalg.solve(K, np.vstack([right, below]))[: tree.nv]
        found[[nq + k for k in self._modes]] = 0.0
        return found

    def _wanted(self, event: TakenEvent) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
        """How velocities that a jump wants, and own states that it sets, change with (t, x, p), by places in v."""
        z = np.concatenate([[event.t], event.q, event.before, self.p])
        ends = []
        for k, value in enumerate(z):
            e = DIFFERENCE * (abs(value) or 1.0)
            here = [self._asked(event, z + side * e * np.eye(len(z))[k]) for side in (1, -1)]
            ends.append(
                [{place: (here[0][i][place] - here[1][i][place]) / (2 * e) for place in here[0][i]} for i in (0, 1)]
            )
        rates, own = ({place: np.array([one[i][place] for one in ends]) for place in ends[0][i]} for i in (0, 1))
        return rates, own

    def _asked(self, event: TakenEvent, z: np.ndarray) -> tuple[dict[int, float], dict[int, float]]:
        """The velocities that a jump wants, and the continuous own states that it sets, by their places in v."""
        q, v, p = self._parts(Vec(z.tolist()))
        tree = self._tree(p)
        force, own_event = events_of_tree(tree)[event.number]
        state = self._state(tree, float(z[0]), q, v, p)
        own, rates = own_event.jump(state)
        at = dict(zip(force.own_states, tree.of_states.get(force.name, ()), strict=True))
        wanted = {k: float(rate) for joint, axis, rate in rates for k in places(state.rates_of_joint, joint, axis)}
        return wanted, {at[name]: float(x) for name, x in own.items() if name in force.states}

    def _guard(self, number: int, t: float, q: np.ndarray, v: np.ndarray) -> tuple[float, np.ndarray]:
        """The guard of an event, and its derivatives by (t, x, p)."""

        def guard(z: Vec) -> Vec:
            q, v, p = self._parts(z)
            tree = self._tree(p)
            return Vec([events_of_tree(tree)[number][1].guard(self._state(tree, z[0], q, v, p))])

        value, slopes = jacobian(guard, Vec([t, *q.tolist(), *v.tolist(), *self.p.tolist()]))
        return float(value[0]), np.array(slopes[0], dtype=float)

    def _state(self, tree: Tree, t: Scalar, q: Vec, v: Vec, p: Vec) -> MachineState:
        def arguments(t: Scalar, q: Vec, v: Vec) -> Arguments:
            given = self.source.law(t, q, v) if self.source.law else [0.0] * tree.nv
            return Arguments(tree, q, v, tau=self.along.forces(given, p) or Vec(given), t=t)

        acceleration: Callable[..., Vec] = lambda t, q, v: forward_dynamics(arguments(t, q, v))  # noqa: E731
        return event_state(tree, acceleration, lambda t, q, v: normal_forces.solved(arguments(t, q, v)), t, q, v)

    def _rate(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """ẋ (n,)"""
        state = self._state(self.tree, t, Vec(q.tolist()), Vec(v.tolist()), Vec(self.p.tolist()))
        assert state.acceleration
        vd = np.array(state.acceleration(), dtype=float)
        return np.concatenate([np.array(kinematics.rate(self.tree, state.q, state.v), dtype=float), vd])

    def _check_grazing(self, event: TakenEvent, rate: float) -> None:
        """Refuse an event whose guard touches 0."""
        earlier = [one for group in self.source.taken.values() for one in group if one.t < event.t]
        t, q, v = (earlier[-1].t, earlier[-1].q, earlier[-1].after) if earlier else self.source.start
        value, slopes = self._guard(event.number, t, q, v)
        usual = max(
            abs(slopes[0] + slopes[1 : 1 + self.n] @ self._rate(t, q, v)), abs(value) / max(event.t - t, 1e-300)
        )
        if not abs(rate) > GRAZING * usual:
            force, own = events_of_tree(self.tree)[event.number]
            found = f"'{force.name}.{own.name}' at t = {event.t:.6g}"
            fix = "Move the start or the numbers a little; or take an element without events."
            raise InputError(message(self.where, "an event is grazed: no derivative", found, "one that is passed", fix))

    def _parts(self, z: Vec) -> tuple[Vec, Vec, Vec]:
        """q, v, p of (t, q, v, p)."""
        return Vec(z[1 : 1 + self.nq]), Vec(z[1 + self.nq : 1 + self.n]), Vec(z[1 + self.n :])

    def _tree(self, p: Vec) -> Tree:
        return self.along.tree(p) if self.along.inputs else self.tree

    @cached_property
    def _modes(self) -> list[int]:
        """The places in v of own states that events alone change."""
        return [
            k
            for force in self.tree.forces
            for name, k in zip(force.own_states, self.tree.of_states.get(force.name, ()), strict=True)
            if name in force.modes
        ]


def _slopes(function: Callable[[Vec], Vec], z: np.ndarray) -> np.ndarray:
    return np.array(jacobian(function, Vec(z.tolist()))[1], dtype=float)
