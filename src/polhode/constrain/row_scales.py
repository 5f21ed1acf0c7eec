"""Natural sizes of the rows of constraints: what a residual and a rank are compared with.

A row may be small because its terms cancel, as they do where a constraint is redundant. Its natural size is the one it
has before they cancel: how far forces on its bodies or joints move them.                                  BEYOND §5
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from polhode.dynamics import inertia, kinematics
from polhode.dynamics.constraints import in_row_order
from polhode.model import WORLD, Constraint, Model, Tree, plain
from polhode.model.constraints.base import ConstraintCondition
from polhode.model.tree import GROUND
from polhode.scalar import Vec
from polhode.spatial import ORIGIN

SIZE_SAMPLES = 4
"""Configurations over which natural sizes are averaged: the start and three random ones, so that a start at which
a mechanism is stretched out does not decide alone."""

LIGHT = 1e-10
"""Eigenvalue of the mass matrix, scaled to unit diagonal, below which the matrix counts as singular. Rounding leaves
about 1e-16 times nv of a zero; the smallest of a regular bundled model is 3e-4, of a chain of ten links."""


class Scales(NamedTuple):
    """Natural sizes of all rows of a model."""

    sizes: tuple[float, ...]
    """The natural size of each row of rates: those of positions first, as `dynamics.constraints` orders them."""
    units: tuple[float, ...]
    """What the residual of each row is measured in: a length of the machine, or a radian (per second)."""
    singular_mass: bool
    """Whether the mass matrix alone is singular."""


Evaluated = Callable[[Sequence[Vec]], Iterable[list[np.ndarray]]]
"""`mobility_terms` at several configurations, as arrays."""


def scales(
    model: Model, tree: Tree, found: tuple[ConstraintCondition, ...], evaluated: Evaluated | None = None
) -> Scales:
    """Natural sizes of rows, averaged over a few configurations.                                      BEYOND §5

    evaluated  `mobility_terms` of this tree by a kernel; None: on floats
    """
    held = {constraint.name: constraint for constraint in model.constraints}
    conditions, singular_mass = in_row_order(found), False
    reaches: list[list[_Reach]] = []
    above, slots = tree.ancestors, kinematics.motion_slots(tree)
    for M, R, o, *motions in (evaluated or partial(_on_floats, tree))(_positions(model, tree)):
        inverse_mass, is_singular = _inverse(M)
        singular_mass = singular_mass or is_singular
        seen = _Seen(tree, above, slots, R, o, motions, inverse_mass)
        reaches.append([seen.reach(held[c.name]) for c in conditions])
    typical = [_Reach(*np.mean(each, axis=0)) for each in zip(*reaches, strict=True)]
    sizes = [getattr(r, scale) for c, r in zip(conditions, typical, strict=True) for scale in c.scales]
    units = [
        1.0 if scale == "turn" or not r.turn > 0 else r.length / r.turn
        for c, r in zip(conditions, typical, strict=True)
        for scale in c.scales
    ]
    found_sizes, found_units = (tuple(float(x) if x > 0 else 1.0 for x in each) for each in (sizes, units))
    return Scales(found_sizes, found_units, bool(singular_mass))


def _positions(model: Model, tree: Tree) -> list[Vec]:
    """The configurations over which natural sizes are averaged: the start, then random turns of its joints."""
    rng, start, found = np.random.default_rng(0), _start(model), []
    moved = [e for e in tree.elements if not e.kind.shares]
    places = [a for e in moved for a in e.v]
    for sample in range(SIZE_SAMPLES):
        step = np.zeros(tree.nv)
        step[places] = [rng.normal() if sample and e.kind.turns else 0.0 for e in moved for _ in e.v]
        found.append(kinematics.integrate(tree, start, Vec(step.tolist())))
    return found


def mobility_terms(tree: Tree, q: Vec) -> tuple[Any, ...]:
    """The mass matrix (nv, nv); axes (n, 3, 3) and origins (n, 3) of the frames of the n elements; unit motions w, l, o
    of the `motion_slots`, (slots, 3) each."""
    at = kinematics.frames(tree, q)
    motions = kinematics.slot_motions(tree, q, at)
    frames = (Vec([frame[k] for frame in at]) for k in (0, 1))
    return inertia.mass_matrix(tree, q), *frames, *(Vec([motion[k] for motion in motions]) for k in (1, 2, 3))


def _on_floats(tree: Tree, positions: Sequence[Vec]) -> Iterable[list[np.ndarray]]:
    """`mobility_terms` at several configurations."""
    n, nv, slots = len(tree.elements), tree.nv, len(kinematics.motion_slots(tree))
    shapes = [(nv, nv), (n, 3, 3), (n, 3), (slots, 3), (slots, 3), (slots, 3)]
    for q in positions:
        yield [np.array(x, dtype=float).reshape(s) for x, s in zip(mobility_terms(tree, q), shapes, strict=True)]


def _start(model: Model) -> Vec:
    if model.start is not None and model.start.q is not None:
        return Vec(map(float, plain(model.start.q)))
    return Vec(model.zero)


def _inverse(M: np.ndarray) -> tuple[np.ndarray, bool]:
    """M⁻¹ and whether M is singular; where it is, the inverse of its diagonal."""
    size = np.diag(M).copy()
    size[size <= LIGHT * np.max(size, initial=0.0)] = np.max(size, initial=1.0) or 1.0
    scaled = M / np.sqrt(np.outer(size, size))
    if len(M) and np.linalg.eigvalsh(scaled)[0] <= LIGHT:
        return np.diag(1 / size), True
    return np.linalg.inv(scaled) / np.sqrt(np.outer(size, size)), False


class _Reach(NamedTuple):
    """Mobility of a body: how far a unit of force or couple moves and turns it, ‖Jv K⁻ᵀ‖ and ‖Jw K⁻ᵀ‖, M = K Kᵀ."""

    length: float
    turn: float


class _Seen(NamedTuple):
    """A tree, its `ancestors` and `motion_slots`, at a configuration, in arrays: axes and origins of the elements'
    frames (n, 3, 3), (n, 3); unit motions w, l, o of the slots (slots, 3) each; M⁻¹."""

    tree: Tree
    above: Sequence[Sequence[int]]
    slots: Sequence[tuple[int, int]]
    R: np.ndarray
    o: np.ndarray
    motions: Sequence[np.ndarray]
    inverse_mass: np.ndarray

    def reach(self, constraint: Constraint) -> _Reach:
        """The mobility of the bodies or joints of a constraint, summed."""
        kind, data = constraint.kind, constraint.data
        if names := kind.joints(data):
            dofs = [next(e.v[0] for e in self.tree.elements if e.joint == name and e.v) for name in names]
            both = sum(float(np.sqrt(self.inverse_mass[a, a])) for a in dofs)
            return _Reach(both, both)
        if kind.of_coordinates:
            whole = float(np.sqrt(np.max(np.diag(self.inverse_mass))))
            return _Reach(whole, whole)
        ends = [self._of_point(data, side) for side in ("a", "b")]
        return _Reach(*np.sum(ends, axis=0))

    def _of_point(self, data: Mapping[str, Any], side: str) -> _Reach:
        body = self.tree.of_body[data.get(f"body_{side}", WORLD)]
        if body == GROUND:
            return _Reach(0.0, 0.0)
        x = self.o[body] + self.R[body] @ np.array(plain(tuple(data.get(f"position_{side}", ORIGIN))), dtype=float)
        path = set(self.above[body])
        slots = [(k, a) for k, (a, i) in enumerate(self.slots) if i in path]
        places, dofs = [k for k, _ in slots], [a for _, a in slots]
        w, l, o = (x[places] for x in self.motions)
        G = self.inverse_mass[np.ix_(dofs, dofs)]
        J = _cross(w, x - o) + l
        return _Reach(*(float(np.sqrt(max(np.einsum("ai,ab,bi", j, G, j), 0.0))) for j in (J, w)))


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b of rows (n, 3) each: for a few rows a fifth of the time of NumPy's."""
    (a0, a1, a2), (b0, b1, b2) = a.T, b.T
    return np.column_stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])
