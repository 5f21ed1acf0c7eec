"""The kernels of inverse kinematics: an attempt, and the way to a posture, for targets of some shapes."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from polhode.analysis.inverse_kinematics.damped_steps import Attempt, DampedSteps
from polhode.analysis.inverse_kinematics.targets import TargetShape
from polhode.analysis.inverse_kinematics.task import Task
from polhode.check.joint_limits import limited_axes
from polhode.errors import InputError, message
from polhode.kernel import trace
from polhode.kernel.backends.base import Backend, Call, Computation
from polhode.kernel.backends.cuda import cupy
from polhode.kernel.backends.registry import BACKENDS
from polhode.model import Model, make_tree
from polhode.model.per_model_cache import once_each
from polhode.result.symmetry import length_of
from polhode.system.constrained_model import constrained_dynamics
from polhode.system.identity import identity_text

DEVICES = tuple(BACKENDS)


class BoundComputation(NamedTuple):
    """A computation, and the shapes of its arguments by name."""

    computation: Computation
    shapes: dict[str, tuple[int, ...]]


class AttemptKernels:
    """The computations for a model and targets of some shapes, on one device."""

    def __init__(
        self, model: Model, shapes: tuple[TargetShape, ...], limits: bool, hold: tuple[str, ...], device: str
    ) -> None:
        self.backend: Backend = BACKENDS[device]()
        self.xp = cupy() if device == "cuda" else np
        tree = make_tree(model)
        held = frozenset(k for e in tree.elements if e.joint in hold for k in e.v)
        task = Task(tree, constrained_dynamics(model), shapes, length_of(model) or 1.0, held)
        if not task.moving:
            bodies = ", ".join(sorted({repr(shape.frame) for shape in shapes}))
            fix = "Give a target of a body that joints move, or hold fewer joints."
            raise InputError(message("inverse_kinematics", "nothing moves them", bodies, "bodies that move", fix))
        bounds = {axis.v: (axis.q, axis.lower, axis.upper) for axis in limited_axes(model)} if limits else {}
        steps = DampedSteps(task, bounds)
        self.coordinates = [k for e in tree.elements if {*e.v} & {*task.moving} for k in e.q]
        """The places in q of the coordinates that may change."""
        self._model, self._words = model, (repr(shapes), str(limits), repr(hold), repr(model.frames))
        nq, k = model.nq, len(shapes)
        given = {"q": (nq,), "numbers": (sum(shape.size for shape in shapes),)}
        ends: dict[str, tuple[int, ...]] = {"shortest": (), "limit": ()}
        results = (nq,), (), (), (k,), (k,), ()
        self.attempt = self._bound(steps.attempt, given | {"tolerance": (), "weight": ()} | ends, results, Attempt)
        self.settled = self._bound(steps.settled, given | {"posture": (nq,)} | ends, ((nq,),))

    def _bound(
        self,
        function: Callable[..., Any],
        shapes: dict[str, tuple[int, ...]],
        results: tuple[tuple[int, ...], ...],
        record: type | None = None,
    ) -> BoundComputation:
        def on_numbers(scalars: Mapping[str, Any], batch: tuple[int, ...]) -> Any:
            return function(**{**scalars, "limit": int(np.max(scalars["limit"]))})

        name, title = function.__name__, f"{self._model.name}: inverse kinematics, {function.__name__}"
        by_numbers = None if self._model.constraints else on_numbers  # rows of constraints come from a graph
        graph = lambda _: trace(function, **shapes)  # noqa: E731
        computation = Computation(
            (f"inverse_kinematics_{name}", *self._words),
            tuple(shapes), title, identity_text(self._model), graph, by_numbers, results, record,
        )  # fmt: skip
        return BoundComputation(computation, shapes)

    def call(self, bound: BoundComputation, threads: int, *values: Any) -> Any:
        """The results of a computation, for rows of its arguments; numbers serve all rows."""
        arrays = {name: self.xp.asarray(x, dtype=float) for name, x in zip(bound.shapes, values, strict=True)}
        depths = {name: len(shape) for name, shape in bound.shapes.items()}
        call = Call(arrays, depths, (len(values[0]),), None, threads)
        found = self.backend.evaluate(bound.computation, call)
        if self.xp is np:
            return found
        return found.get() if bound.computation.record is None else Attempt(*(x.get() for x in found))


kept_kernels = once_each(AttemptKernels)
"""The same, made once for a model."""
