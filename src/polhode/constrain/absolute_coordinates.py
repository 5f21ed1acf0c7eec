"""An engine in absolute coordinates: bodies with Euler parameters, all joints as constraints, as the papers have it.

    a = (ẍ, p̈) of each body:  M a = Q + Aᵀλ,  A a = b                                              BEYOND §4

M holds 4LᵀJL, singular along p; the row of the unit norm, p·p̈ = −ṗ·ṗ, makes p̈ unique.

One system of accelerations and multipliers answers for joints, constraints and norms together. What the joints do
(springs, dampers, armature, inputs) and conditions on their coordinates enter through v = P V.
"""

from collections.abc import Sequence
from typing import NamedTuple

from polhode.constrain.constraint_policy import TOLERANCE
from polhode.dynamics import absolute, constraints, forces, inertia, inverse
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.kinematics import frames
from polhode.linalg.augmented import by_multipliers, unit_scale
from polhode.linalg.constrained import ConstrainedProblem, ConstrainedSolution
from polhode.model import Model, Tree
from polhode.model.constraints.base import ConstraintCondition
from polhode.model.forces.refused import refuse_normal_forces, refuse_state_inertia
from polhode.model.joints.base import JointKind
from polhode.quaternion import L
from polhode.scalar import Scalar, Vec, is_zero, sqrt, square, where

FIRST = 2.0**20
"""The weight of rows of joints and norms against those of constraints: of rows that depend on each other, pivoting then
leaves out a constraint, not a joint. A power of 2, so that weighting is exact; 1e6 is beyond the sizes of rows."""


class BodyRows(NamedTuple):
    """Rows on the accelerations of N bodies: A V̇ = b, A (k, 6N), or (k, 7N) in Euler parameters; b (k)"""

    A: list[Vec]
    b: list[Scalar]


class AbsoluteCoordinates(NamedTuple):
    """What the engine needs of a model."""

    kinds: dict[str, JointKind]
    """Of the joints by name."""
    of_coordinates: frozenset[str]
    """The constraints on coordinates, by name."""

    @classmethod
    def of(cls, model: Model) -> "AbsoluteCoordinates":
        """The joints and constraints of a model."""
        named = frozenset(c.name for c in model.constraints if c.kind.of_coordinates)
        return cls({joint.name: joint.kind for joint in model.joints}, named)

    def forward(self, x: Arguments) -> Vec:
        """v̇ of a tree alone."""
        return self.accelerate(x, (), (), TOLERANCE).a

    def accelerate(
        self, x: Arguments, conditions: Sequence[ConstraintCondition], pull: Sequence[Scalar], tolerance: Scalar
    ) -> ConstrainedSolution:
        """v̇ of the arguments of a call, and the multipliers of conditions, in their order.

        conditions  those of positions first
        pull        Baumgarte's term of each row, subtracted from its b
        """
        refuse_state_inertia("engine 'absolute'", x.tree.forces, "Take engine='fundamental'.")
        refuse_normal_forces("engine 'absolute'", x.tree.forces, "Take engine='fundamental'.")
        tree, free = x.tree, absolute.free_bodies(x.tree)
        at = frames(tree, x.q)
        now, P, still = (
            absolute.bodies(tree, x.q, x.v),
            absolute.rates(tree, x.q, at),
            absolute.turning(tree, x.q, at, x.v),
        )
        held_by = [joint.condition() for joint in absolute.closed_joints(tree, self.kinds)]
        joints = constraints.rows(free, held_by, x.t, now.Q, now.V)
        own = self._rows(x, free, conditions, now, P, still)
        M, f = _moved(x, free, now, P, still)
        turns = [L(Vec(now.Q[7 * k + 3 : 7 * k + 7])) for k in range(free.nv // 6)]
        spread = lambda rows: [_in_parameters(row, turns) for row in rows]  # noqa: E731
        norms = _norms(now, len(turns))
        A = Vec([*spread(joints.A), *norms.A, *spread(own.A)])
        b = Vec([*joints.b, *norms.b, *(value - p for value, p in zip(own.b, pull, strict=True))])
        M = Vec(spread(Vec(spread(M)).T))
        d = unit_scale(M)
        added = len(joints.b) + len(norms.b)
        sizes = [_length(row, d) / (FIRST if i < added else 1.0) for i, row in enumerate(A)]
        (found,) = by_multipliers(ConstrainedProblem(M, A, sizes, tolerance), [(_in_parameters(f, turns), b)])
        Vd = [y for k, turn in enumerate(turns) for y in (*found.a[7 * k : 7 * k + 3], *(2 * (turn @ _p(found.a, k))))]
        return ConstrainedSolution(
            _with_own_states(x, P @ (Vec(Vd) - still)),
            Vec(found.multipliers[added:]),
            found.rank - float(added),
            Vec(found.dependent[added:]),
            Vec(found.residual[added:]),
            found.pivots,
        )

    def _rows(
        self,
        x: Arguments,
        free: Tree,
        conditions: Sequence[ConstraintCondition],
        now: "absolute.Bodies",
        P: Vec,
        still: Vec,
    ) -> BodyRows:
        """The rows of conditions, in their order."""
        A, b = [], []
        for c in conditions:
            if c.name in self.of_coordinates:
                found = constraints.rows(x.tree, [c], x.t, x.q, x.v)
                over = [row @ P for row in found.A]
                A += over
                b += [value + row @ still for value, row in zip(found.b, over, strict=True)]
            else:
                found = constraints.rows(free, [c], x.t, now.Q, now.V)
                A += found.A
                b += found.b
        return BodyRows(A, b)


def _moved(x: Arguments, free: Tree, now: "absolute.Bodies", P: Vec, still: Vec) -> tuple[Vec, Vec]:
    """The mass matrix of the bodies and the forces on them, without those of constraints; 6 numbers a body."""
    tree = x.tree
    acting = forces.acting(tree, x.t, x.q, x.v, x.wrench)
    wrenches = {free.of_body[tree.elements[i].body or ""]: wrench for i, wrench in acting.wrenches.items()}
    rest = Vec([0.0] * free.nv)
    M = inertia.mass_matrix(free, now.Q)
    f = P.T @ (x.tau + acting.generalized) - inverse.inverse_dynamics(free, now.Q, now.V, rest, wrenches=wrenches)
    armature: list[Scalar] = [0.0] * tree.nv
    for e in tree.elements:
        for a, value in zip(e.v, e.armature, strict=True):
            armature[a] = value
    if all(map(is_zero, armature)):
        return M, f
    extra = P.T @ Vec([value * row for value, row in zip(armature, P, strict=True)])
    return M + extra, f + extra @ still


def _with_own_states(x: Arguments, vd: Vec) -> Vec:
    """Accelerations of joints with the rates of own states of force elements, which no body has."""
    own = x.tree.own_places
    if not own:
        return vd
    rates = x.tau + forces.acting(x.tree, x.t, x.q, x.v, x.wrench).generalized
    return Vec([rates[k] if k in own else value for k, value in enumerate(vd)])


def _in_parameters(row: Vec, turns: list[Vec]) -> Vec:
    """A row on (ẋ, ω) of each body as one on (ẋ, ṗ), ω = 2Lṗ; the same serves accelerations, since L̇ṗ = 0."""
    found: list[Scalar] = []
    for k, turn in enumerate(turns):
        found += [*row[6 * k : 6 * k + 3], *(2 * (Vec(row[6 * k + 3 : 6 * k + 6]) @ turn))]
    return Vec(found)


def _norms(now: "absolute.Bodies", count: int) -> BodyRows:
    """p·p̈ = −ṗ·ṗ = −ω·ω/4 of every body.                                                    Udwadia (11)"""
    A, b = [], []
    for k in range(count):
        row: list[Scalar] = [0.0] * (7 * count)
        row[7 * k + 3 : 7 * k + 7] = now.Q[7 * k + 3 : 7 * k + 7]
        A.append(Vec(row))
        b.append(-square(Vec(now.V[6 * k + 3 : 6 * k + 6])) / 4)
    return BodyRows(A, b)


def _p(a: Vec, k: int) -> Vec:
    return Vec(a[7 * k + 3 : 7 * k + 7])


def _length(row: Vec, d: Sequence[Scalar]) -> Scalar:
    """The length of a row in units of its own: in absolute coordinates nothing in it cancels.        BEYOND §5"""
    size = sqrt(square(Vec([x * s for x, s in zip(row, d, strict=True)])))
    return where(size > 0, size, 1.0)
