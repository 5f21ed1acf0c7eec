"""The iterations of inverse kinematics, on generic scalars: to the targets, and along them to a posture.

    minimise |r + J δ|² + μ |δ|²,   μ = ν |r|²,   q ← q ⊕ δ, brought back within limits               Sugihara (2011)

Levenberg's damping in proportion to the squared error, so that the last steps are Newton's; its factor ν follows from
whether steps gain. Coordinates at a limit that the gradient would cross stay there.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from polhode.analysis.inverse_kinematics.task import Left, Task, TaskErrors
from polhode.dynamics import kinematics
from polhode.linalg.triangular import Triangle
from polhode.scalar import Scalar, Vec, dot, flat, iterate, maximum, minimum, shaped, square, where

DAMPING, EASED, RAISED, LEAST_DAMPING = 0.06, 0.5, 4.0, 1e-6
"""The first ν; by what it is multiplied after a step that gained and after one that did not; the least. With these, the
first attempts reach 80 % of 10,000 poses of `arm-6` and 52 % of those of the Panda, within 29 and 63 iterations in all;
with 1, 0.25, 8 they reach 78 and 45 %, within 34 and 74; a first ν of 0.01 is no better."""

REGULAR = 1e-14
"""The part of the trace of J Jᵀ that damping is at least, some 50 ε: what keeps its triangle real where rows are
dependent."""

NEAR = 0.25
"""The part of the tolerance at which iterations end, so that what is measured afterwards is within it."""

CORRECTIONS, ON_TARGET = 2, 1e-8
"""Newton steps back onto the targets after a step along them, and the error of the rows, rad or parts of the length of
the machine, up to which it counts as back: what is left, over the least singular value of J, hides how far the posture
is."""


class Attempt(NamedTuple):
    """The end of one attempt.

    q           (..., nq)
    iterations  of the loop
    error       |r|² by the weights
    distance    (..., k)  that is left of each target, m
    angle       (..., k)  the same, rad
    violation   the largest residual of constraints
    """

    q: Any
    iterations: Any
    error: Any
    distance: Any
    angle: Any
    violation: Any


class _State(NamedTuple):
    q: Vec
    damping: Scalar
    iterations: Scalar
    errors: TaskErrors


class _Along(NamedTuple):
    q: Vec
    part: Scalar
    """Of the way to the posture that a step tries."""
    iterations: Scalar


@dataclass(frozen=True, eq=False)
class DampedSteps:
    """The iterations for a task.

    limits  (lower, upper) of coordinates that have them: by their place in v, with their place in q
    """

    task: Task
    limits: dict[int, tuple[int, float, float]]

    def attempt(
        self, q: Vec, numbers: Vec, tolerance: Scalar, weight: Scalar, shortest: Scalar, limit: Scalar
    ) -> Attempt:
        """A configuration that reaches the targets, or where no step gains.

        q          where to begin
        numbers    where the targets are
        tolerance  of distances (m), angles (rad) and residuals of constraints
        weight     of constraints against targets
        shortest   step, rad or parts of the length of the machine, below which it ends
        limit      of iterations
        """
        wanted, zero = self.task.wanted(numbers), 0.0 * q[0]
        q = self._within(q)
        begin = _State(q, DAMPING + zero, zero, self.task.errors(q, wanted, weight))
        near = (NEAR * tolerance) * (NEAR * tolerance)

        def gained(packed: Vec) -> tuple[Vec, Scalar]:
            now: _State = shaped(begin, iter(packed))
            rows, F = now.errors.rows, square(now.errors.rows)
            columns = now.errors.columns
            free, _ = self._free(now.q, columns, Vec([-dot(c, rows) for c in columns]))
            delta = -_shortest(free, rows, now.damping * F)
            there = self._moved(now.q, delta)
            found = self.task.errors(there, wanted, weight)
            better = square(found.rows) < F
            eased = maximum(EASED * now.damping, LEAST_DAMPING)
            following = _State(
                where(better, there, now.q),
                where(better, eased, RAISED * now.damping),
                now.iterations + 1.0,
                shaped(found, iter(where(better, Vec(flat(found)), Vec(flat(now.errors))))),
            )
            ends = (following.errors.worst <= near) | (square(delta) < shortest * shortest)
            return Vec(flat(following)), where(ends, 0.0, 1.0) > 0.0

        end: _State = shaped(begin, iter(iterate(gained, Vec(flat(begin)), limit)))
        left: Left = self.task.left(end.q, wanted)
        return Attempt(end.q, end.iterations, square(end.errors.rows), *left)

    def settled(self, q: Vec, numbers: Vec, posture: Vec, shortest: Scalar, limit: Scalar) -> Vec:
        """The configuration on the targets nearest to a posture, from one on them.

            minimise |q ⊖ posture|²  subject to  r(q) = 0

        Each iteration goes a part of the way along the targets, and back onto them by Newton steps.
        """
        task, tree = self.task, self.task.tree
        wanted, others = task.wanted(numbers), {*range(tree.nv)} - {*task.moving} - task.held
        apart = kinematics.difference(tree, q, posture)
        q = kinematics.integrate(tree, q, Vec([x if k in others else 0.0 for k, x in enumerate(apart)]))
        begin = _Along(q, 1.0 + 0.0 * q[0], 0.0 * q[0])

        def away(q: Vec) -> Vec:
            found = kinematics.difference(tree, q, posture)
            return Vec([found[k] / unit for k, unit in zip(task.moving, task.units, strict=True)])

        def nearer(packed: Vec) -> tuple[Vec, Scalar]:
            now: _Along = shaped(begin, iter(packed))
            errors, way = task.errors(now.q, wanted), now.part * away(now.q)
            free, kept = self._free(now.q, errors.columns, _along(errors.columns, errors.rows, way), way)
            delta = _along(free, errors.rows, kept)
            there = self._moved(now.q, delta)
            for _ in range(CORRECTIONS):
                errors = task.errors(there, wanted)
                there = self._moved(there, -_shortest(errors.columns, errors.rows, 0.0))
            on_target = square(task.errors(there, wanted).rows) < ON_TARGET * ON_TARGET
            better = on_target & (square(away(there)) < square(away(now.q)))
            following = _Along(
                where(better, there, now.q),
                where(better, minimum(2 * now.part, 1.0), now.part / 4),
                now.iterations + 1.0,
            )
            ends = square(delta) < shortest * shortest
            return Vec(flat(following)), where(ends, 0.0, 1.0) > 0.0

        end: _Along = shaped(begin, iter(iterate(nearer, Vec(flat(begin)), limit)))
        return end.q

    def _within(self, q: Vec) -> Vec:
        """The configuration with coordinates brought back to their limits."""
        found = list(q)
        for place, lower, upper in self.limits.values():
            found[place] = minimum(maximum(found[place], lower), upper)
        return Vec(found)

    def _moved(self, q: Vec, delta: Vec) -> Vec:
        """The configuration after a step along the velocities that errors depend on."""
        task = self.task
        whole: list[Scalar] = [0.0] * task.tree.nv
        for k, unit, x in zip(task.moving, task.units, delta, strict=True):
            whole[k] = unit * x
        return self._within(kinematics.integrate(task.tree, q, Vec(whole)))

    def _free(self, q: Vec, columns: list[Vec], direction: Vec, way: Vec | None = None) -> tuple[list[Vec], Vec]:
        """The columns, and the way, with 0 for coordinates that stand at a limit and would go beyond it."""
        free, kept = list(columns), list(direction if way is None else way)
        for i, k in enumerate(self.task.moving):
            if k in self.limits:
                place, lower, upper = self.limits[k]
                x, ahead = q[place], direction[i]
                stopped = ((x <= lower) & (ahead < 0.0)) | ((x >= upper) & (ahead > 0.0))
                free[i], kept[i] = where(stopped, 0.0 * free[i], free[i]), where(stopped, 0.0, kept[i])
        return free, Vec(kept)


def _shortest(columns: list[Vec], rows: Vec, damping: Scalar) -> Vec:
    """x least in |r − J x|² + μ |x|²: by J Jᵀ or by JᵀJ, whichever is smaller.

    columns  n of (m,)  of J
    """
    if len(rows) <= len(columns):
        y = _solved(Vec(columns).T, rows, damping)
        return Vec([dot(c, y) for c in columns])
    return _solved(Vec(columns), Vec([dot(c, rows) for c in columns]), damping)


def _solved(B: Vec, b: Vec, damping: Scalar) -> Vec:
    """x of (B Bᵀ + μ I) x = b."""
    A = [[dot(x, y) for y in B] for x in B]
    mu = damping + REGULAR * sum((A[i][i] for i in range(1, len(A))), A[0][0])
    for i, row in enumerate(A):
        row[i] = row[i] + mu
    K = Triangle.root(Vec([Vec(row) for row in A]))
    return K.backward(K.forward(b))


def _along(columns: list[Vec], rows: Vec, way: Vec) -> Vec:
    """δ nearest to a way with r + J δ = 0."""
    after = rows
    for c, x in zip(columns, way, strict=True):
        after = after + x * c
    return way - _shortest(columns, after, 0.0)
