"""`ph.inverse_kinematics`: configurations that take frames where they are wanted, for one target or a batch.

An attempt is one kernel, with a loop over its iterations; targets are its lanes. Those that an attempt does not reach
begin again from another configuration, all in one call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, NamedTuple

import numpy as np

from polhode.analysis.inverse_kinematics.attempt_kernels import DEVICES, AttemptKernels, kept_kernels
from polhode.analysis.inverse_kinematics.damped_steps import Attempt
from polhode.analysis.inverse_kinematics.restarts import MOST_RESTARTS, restart_configurations
from polhode.analysis.inverse_kinematics.targets import CheckedTargets, checked_targets
from polhode.check.given_start import start_of
from polhode.errors import InputError, UnknownNameError, did_you_mean, message
from polhode.model import Model, check_model
from polhode.model.layout import spelled_out
from polhode.scalar import Array, a_list, as_array, batch_shape, checked, flag, one_of, real_number, shown
from polhode.system.calls import thread_count
from polhode.system.identity import identity_text

TOLERANCE = 1e-9
"""Distance (m), angle (rad) and residual of constraints up to which a target counts as reached."""

ITERATIONS, LAST_ITERATIONS = 30, 500
"""Of an attempt, and of the last one, which begins at the best configuration found. Of 10,000 poses of `arm-6` attempts
of 20, 30 and 40 iterations took 0.036, 0.042 and 0.053 s in all: most that converge at all do so in 15."""

SHORTEST, LAST_SHORTEST = 1e-6, 1e-12
"""Steps, rad or parts of the length of the machine, below which an attempt has ended, and the last one: the square of
the first is gained by the next, but where a minimum is not 0."""

LAST_WEIGHT = 1e3
"""The weight of constraints where targets cannot be reached: constraints are then off by about its inverse
square of what targets are. All attempts with it would go along the constraints, and few would arrive."""

SETTLED, SETTLING = 1e-8, 300
"""The last step to a posture, and the number of them."""

TOGETHER = 16
"""Attempts that a call makes at least, where few targets are left: they fill the lanes of a kernel."""


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """Configurations that reach targets, or come nearest to them; `...` are the batch axes of the targets.

    q           (..., nq)  within limits
    reached     (...)      whether all targets and constraints are within the tolerance
    targets     the names of their frames, in the order of the axis k
    distance    (..., k)   that is left of each position, m; 0 where a target has none
    angle       (..., k)   that is left of each orientation or direction, rad; 0 where a target has none
    violation   (...)      the largest residual of constraints, in lengths of the machine or rad
    iterations  (...)      of all attempts
    restarts    (...)      attempts after the first
    """

    q: np.ndarray
    reached: np.ndarray
    targets: tuple[str, ...]
    distance: np.ndarray
    angle: np.ndarray
    violation: np.ndarray
    iterations: np.ndarray
    restarts: np.ndarray

    def __repr__(self) -> str:
        total, reached = self.reached.size, int(np.count_nonzero(self.reached))
        worst = f"{np.max(self.distance, initial=0.0):.3g} m, {np.max(self.angle, initial=0.0):.3g} rad"
        return (
            f"InverseKinematics({reached} of {total} reached; at most {worst} left; targets {', '.join(self.targets)})"
        )


def inverse_kinematics(
    model: Model,
    targets: Mapping[str, Any],
    start: Array | None = None,
    *,
    limits: bool = True,
    posture: Array | None = None,
    hold: Sequence[str] = (),
    tolerance: float = TOLERANCE,
    restarts: int = MOST_RESTARTS,
    seed: int = 0,
    threads: int = 1,
    device: str = "cpu",
) -> InverseKinematics:
    """Configurations in which frames are where they are wanted, constraints hold and joints are within their limits.

    targets    {name of a body or frame: target}: a position (..., 3), an orientation (..., 4), a pair of both in any
               order, a `ph.Pose`, a `ph.Target`, or a list of those; leading axes are batch axes
    start      (..., nq), numbers by joint or the name of a configuration: where the first attempt begins; brought to
               the limits; the posture, else the model's start
    limits     whether joints stay within their limits
    posture    (..., nq)  of all configurations that reach the targets, the nearest to this one from where they are
               reached
    hold       joints that keep their coordinates of the start
    tolerance  of distances (m), angles (rad) and residuals of constraints, by their natural sizes
    restarts   attempts after the first at most, up to 100, from random configurations; the same for every target
    seed       of these configurations
    device     "cpu", "cuda" (one target a thread of a GPU), or "python"
    ->         where targets are not reached: the best that was found, and how far it is

        >>> import polhode as ph
        >>> found = ph.inverse_kinematics(ph.load("double-pendulum"), {"lower": [(0.6, 0, -0.8), (0, 0, -3)]})
        >>> found.reached.tolist(), found.distance[1].round(6).tolist()
        ([True, False], [2.0])
    """
    where = "inverse_kinematics"
    check_model(where, model)
    wanted = checked_targets(where, model, targets)
    options = SearchOptions(
        flag(f"{where}, limits", limits),
        _held(f"{where}, hold", model, hold),
        real_number(f"{where}, tolerance", tolerance, "a number above 0, at most 0.1", 0.0, 0.1),
        _whole(f"{where}, restarts", restarts, MOST_RESTARTS),
        _whole(f"{where}, seed", seed, 2**63),
        thread_count(where, threads),
    )
    one_of(f"{where}, device", device, DEVICES, "no such device")
    near = None if posture is None else _configurations(f"{where}, posture", model, posture)
    if start is None:
        begin = start_of(model, None, None, where)[0] if near is None else near
    else:
        begin = _configurations(f"{where}, start", model, start)
    return _Search(model, wanted, options, device).run(begin, near)


class SearchOptions(NamedTuple):
    """The options of a search, checked."""

    limits: bool
    hold: tuple[str, ...]
    tolerance: float
    restarts: int
    seed: int
    threads: int


class _Found:
    """The best that was found for each row of a batch."""

    def __init__(self, start: np.ndarray, targets: int, tolerance: float) -> None:
        """start: (rows, nq), kept where errors are beyond all numbers."""
        self.tolerance, rows = tolerance, len(start)
        unknown = np.full((rows, targets), np.inf)
        self.best = Attempt(
            start.copy(), np.zeros(rows), np.full(rows, np.inf), unknown, unknown.copy(), np.zeros(rows)
        )
        self.restarts = np.zeros(rows, dtype=int)
        self.reached = np.zeros(rows, dtype=bool)

    def is_reached(self, found: Attempt) -> np.ndarray:
        """Whether an attempt reached all targets, by row."""
        within = (found.distance <= self.tolerance) & (found.angle <= self.tolerance)
        return within.all(axis=-1) & (found.violation <= self.tolerance)

    def keep(self, rows: np.ndarray, found: Attempt, moved: bool = False) -> None:
        """Keep what is better than the best so far; moved: what reaches the targets from elsewhere, too."""
        reached = self.is_reached(found)
        better = reached if moved else reached | (found.error < self.best.error[rows])
        self.best.iterations[rows] += found.iterations
        for name in ("q", "error", "distance", "angle", "violation"):
            getattr(self.best, name)[rows[better]] = getattr(found, name)[better]
        self.reached[rows] |= reached


class _Search:
    """One call of `inverse_kinematics`."""

    def __init__(self, model: Model, targets: CheckedTargets, options: SearchOptions, device: str) -> None:
        make = kept_kernels if identity_text(model) else AttemptKernels
        self.model, self.targets, self.options = model, targets, options
        self.kernels = make(model, targets.shapes, options.limits, options.hold, device)

    def run(self, start: np.ndarray, posture: np.ndarray | None) -> InverseKinematics:
        """The best configurations from a start (..., nq)."""
        given = {"targets": self.targets.numbers, "start": start}
        given |= {} if posture is None else {"posture": posture}
        batch = batch_shape("inverse_kinematics", {name: x.shape[:-1] for name, x in given.items()})
        rows = {name: _in_rows(x, batch) for name, x in given.items()}
        found = _Found(rows["start"], len(self.targets.shapes), self.options.tolerance)
        if len(rows["targets"]):
            self._attempts(found, rows["targets"], rows["start"])
            if posture is not None:
                self._settle(found, rows["targets"], rows["posture"])
        best = [x.reshape((*batch, *x.shape[1:])) for x in found.best]
        reached, restarts = found.reached.reshape(batch), found.restarts.reshape(batch)
        names = tuple(shape.frame for shape in self.targets.shapes)
        q, iterations, _, distance, angle, violation = best
        return InverseKinematics(q, reached, names, distance, angle, violation, iterations.astype(int), restarts)

    def _attempts(self, found: _Found, targets: np.ndarray, start: np.ndarray) -> None:
        """All attempts: from the start, from random configurations, and a last one from the best."""
        self._attempt(found, todo := np.arange(len(targets)), targets, start)
        kernels, options, used = self.kernels, self.options, 0
        while len(todo := np.flatnonzero(~found.reached)) and used < options.restarts:
            count = min(max(TOGETHER // len(todo), 1), options.restarts - used)
            begin = np.repeat(start[todo, None], count, axis=1)
            elsewhere = restart_configurations(self.model, options.seed)[used : used + count]
            begin[..., kernels.coordinates] = elsewhere[:, kernels.coordinates]
            found.restarts[todo] = used
            self._attempt(found, todo, targets, begin)
            used += count
        if len(todo := np.flatnonzero(~found.reached)):
            last = LAST_SHORTEST, LAST_ITERATIONS
            found.keep(todo, self._called(found.best.q[todo], targets[todo], *last))
            if self.model.constraints and len(todo := np.flatnonzero(~found.reached)):
                found.best.error[todo] = np.inf  # as it is now, constraints give way to targets
                found.keep(todo, self._called(found.best.q[todo], targets[todo], *last, LAST_WEIGHT))

    def _attempt(self, found: _Found, todo: np.ndarray, targets: np.ndarray, begin: np.ndarray) -> None:
        """One attempt of each row, or several (rows, count, nq) of which the first that reaches the targets counts."""
        if begin.ndim == 2:
            found.keep(todo, self._called(begin[todo], targets[todo], SHORTEST, ITERATIONS))
            return
        rows, count = begin.shape[:2]
        tried = self._called(
            begin.reshape(rows * count, -1), np.repeat(targets[todo], count, axis=0), SHORTEST, ITERATIONS
        )
        tried = Attempt(*(x.reshape(rows, count, *x.shape[1:]) for x in tried))
        reached = found.is_reached(tried)
        error = np.where(np.isnan(tried.error), np.inf, tried.error)
        chosen = np.where(reached.any(axis=1), reached.argmax(axis=1), error.argmin(axis=1))
        spent = np.where(reached.any(axis=1), chosen, count - 1)
        picked = Attempt(*(x[np.arange(rows), chosen] for x in tried))
        iterations = np.where(np.arange(count) <= spent[:, None], tried.iterations, 0.0).sum(axis=1)
        found.restarts[todo] += spent + 1
        found.keep(todo, picked._replace(iterations=iterations))

    def _called(self, q: np.ndarray, targets: np.ndarray, shortest: float, limit: int, weight: float = 1.0) -> Attempt:
        kernels, options = self.kernels, self.options
        return kernels.call(kernels.attempt, options.threads, q, targets, options.tolerance, weight, shortest, limit)

    def _settle(self, found: _Found, targets: np.ndarray, posture: np.ndarray) -> None:
        """Move those that reach their targets along them to the posture."""
        todo = np.flatnonzero(found.reached)
        if not len(todo):
            return
        kernels, options = self.kernels, self.options
        given = found.best.q[todo], targets[todo], posture[todo], SETTLED, SETTLING
        q = kernels.call(kernels.settled, options.threads, *given)
        found.keep(todo, self._called(q, targets[todo], SHORTEST, ITERATIONS), moved=True)


def _in_rows(x: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
    """An array (..., n) with all batch axes as one."""
    return np.ascontiguousarray(np.broadcast_to(x, (*batch, x.shape[-1]))).reshape(-1, x.shape[-1])


def _configurations(where: str, model: Model, value: Array) -> np.ndarray:
    """Configurations (..., nq) of unit quaternions, or an InputError."""
    q = as_array(where, spelled_out(where, model, "q", value), (model.nq,))
    if q.dtype.kind != "f":
        raise InputError(message(where, "not real numbers", str(q.dtype), "real numbers"))
    at = 0
    for joint in model.joints:
        at += joint.nq
        if joint.kind.has_quaternion:
            checked(f"{where} of joint '{joint.name}'", q[..., at - 4 : at], "unit quaternion")
    return q


def _held(where: str, model: Model, hold: Any) -> tuple[str, ...]:
    known = [joint.name for joint in model.joints]
    names = a_list(where, hold, "a list of names of joints")
    for name in names:
        if name not in known:
            raise UnknownNameError(message(where, "no such joint", shown(name), "names", did_you_mean(name, known)))
    return tuple(sorted(names))


def _whole(where: str, value: Any, most: int) -> int:
    try:
        found = -1 if isinstance(value, bool) else index(value)
    except TypeError:
        found = -1
    if not 0 <= found <= most:
        raise InputError(message(where, "out of range", shown(value), f"a whole number from 0 to {most}"))
    return found
