"""How a quantity is evaluated: on plain floats and batches (the oracle), or by a compiled kernel.

A quantity is a key and a function of `Arguments` on generic scalars; a target runs it for a `Call`.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np

from polhode.constrain.constrained_dynamics import ConditionRows, Projected, Reactions, Residuals
from polhode.constrain.reactions import ConstraintReactions, JointReactions
from polhode.dynamics import kinematics
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.energy import Energy, Momentum
from polhode.kernel import evaluate
from polhode.kernel.backends.llvm.compile import Kernel, kernel_for, lanes, single_call
from polhode.kernel.backends.llvm.threads import run_in_threads
from polhode.kernel.cache import key as cache_key
from polhode.model import Model, make_tree
from polhode.scalar import Array, Dual, Vec, split, stack
from polhode.system.algorithms import Graphs, Quantity, identity_text
from polhode.system.calls import FLOAT, Call, arguments, into, real_array

Key = tuple[str, ...]
"""The name of a quantity, and the body it is asked of."""

NOW = np.zeros(())
"""The time of a call that gives none."""

SQUARE = {"mass_matrix": 2, "coriolis": 2, "christoffel": 3}
"""Results with several axes of length nv."""


class Pose(NamedTuple):
    """Position (..., 3) of a body frame's origin and its quaternion (..., 4), in the world."""

    position: Any
    quaternion: Any


class Velocity(NamedTuple):
    """Linear (..., 3), of the body frame's origin, and angular (..., 3), world axes."""

    linear: Any
    angular: Any


class ForwardDerivatives(NamedTuple):
    """∂v̇/∂q along the tangent directions, ∂v̇/∂v, ∂v̇/∂τ; each (..., nv, nv), rows v̇."""

    dq: Any
    dv: Any
    dtau: Any


class InverseDerivatives(NamedTuple):
    """∂τ/∂q along the tangent directions, ∂τ/∂v, ∂τ/∂v̇; each (..., nv, nv), rows τ."""

    dq: Any
    dv: Any
    dvd: Any


RECORDS: dict[str, type] = {
    "pose": Pose,
    "velocity": Velocity,
    "acceleration": Velocity,
    "energy": Energy,
    "momentum": Momentum,
    "forward_dynamics_derivatives": ForwardDerivatives,
    "inverse_dynamics_derivatives": InverseDerivatives,
    "constraint_forces": Reactions,
    "constraint_reactions": ConstraintReactions,
    "constraint_residuals": Residuals,
    "constraint_rows": ConditionRows,
    "joint_reactions": JointReactions,
    "project": Projected,
}
"""The quantities with several results, and the record of them."""


CLOSED = {
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "constraint_forces",
    "constraint_rates",
    "constraint_reactions",
    "constraint_residuals",
    "constraint_rows",
    "joint_reactions",
    "project",
}
"""The quantities that constraints take part in."""


class Target(Protocol):
    """What evaluates the quantities of a model."""

    kernels: dict[tuple, Any]
    """What was compiled, by key and names of arguments."""

    def array(self, where: str, value: Array, shape: tuple[int, ...]) -> Any:
        """An argument as the target takes it, its last axes of this shape, or an InputError."""

    def evaluate(self, key: Key, quantity: Quantity, call: Call) -> Any:
        """The result of a quantity."""

    def quickly(self, key: Key, given: dict[str, Any], out: Any, threads: int) -> Any:
        """The result, where the kernel is there and all arguments are arrays just as it takes them; else None."""

    def direct(self, key: Key, names: Sequence[str], fallback: Callable) -> Callable | None:
        """A built-in for one state, which hands all other calls to `fallback`; None where there is none."""


class PythonTarget:
    """The physics itself, on floats and NumPy batches, with no graph: what all other targets must equal."""

    def __init__(self, model: Model, fast: bool = False, way: str = "") -> None:
        self.model, self.tree, self.way = model, make_tree(model), way
        self.kernels: dict[tuple, Any] = {}

    array = staticmethod(real_array)

    def quickly(self, key: Key, given: dict[str, Any], out: Any, threads: int) -> Any:
        """Nothing is quick here."""
        return None

    def direct(self, key: Key, names: Sequence[str], fallback: Callable) -> Callable | None:
        """There is no kernel to go to."""
        return None

    def evaluate(self, key: Key, quantity: Quantity, call: Call) -> Any:
        """The result of a quantity; of derivatives, that of the quantity itself is given."""
        result: Any
        if (self.model.constraints or self.way) and key[
            0
        ] in CLOSED:  # derivatives of conditions need a graph, evaluated plainly
            graph = Graphs(self.model, self.way).graph(key[0], quantity, call)
            result = evaluate(graph, **call.arrays)
            result = RECORDS[key[0]](*result) if key[0] in RECORDS else result
        elif key[0].endswith("_derivatives"):
            result = RECORDS[key[0]](*self._derivatives(quantity, call))
        elif self.model.nv == 0 and key[0] in SQUARE:  # an empty list of rows does not know its columns
            result = np.zeros((*call.batch, *(0,) * SQUARE[key[0]]))
        else:
            result = stack(quantity(self._arguments(call)), call.batch)
        return result if call.out is None else into(key[0], call.out, result)

    def _derivatives(self, quantity: Quantity, call: Call) -> list[np.ndarray]:
        """Derivatives along the tangent directions of q, then along v and v̇ or τ, by dual numbers."""
        names = ("v", "vd" if "vd" in call.arrays else "tau")
        x = self._arguments(call)
        n, blocks = self.model.nv, 1 + len(names)
        values = x._asdict()
        values["q"] = Vec(map(Dual, x.q, self._tangents(x, blocks, call.batch)))
        for block, name in enumerate(names, 1):
            seeds = np.zeros((n, blocks * n, *call.batch))
            seeds[np.arange(n), block * n + np.arange(n)] = 1.0
            values[name] = Vec(map(Dual, values[name], seeds))
        slopes = np.zeros((n, blocks * n, *call.batch))  # output, direction, batch
        for row, entry in enumerate(quantity(Arguments(**values))):
            slopes[row] = entry.slope if isinstance(entry, Dual) else 0.0
        parts = (slopes[:, k * n : (k + 1) * n] for k in range(blocks))
        return [np.moveaxis(part, (0, 1), (-2, -1)).copy() for part in parts]

    def _arguments(self, call: Call) -> Arguments:
        scalars = {name: split(array, call.depths[name]) for name, array in call.arrays.items()}
        return arguments(self.model, self.tree, scalars)

    def _tangents(self, x: Arguments, blocks: int, batch: tuple[int, ...]) -> np.ndarray:
        """For each coordinate its derivative along each direction: q̇ of the unit velocities."""
        n = self.model.nv
        seeds = np.zeros((self.model.nq, blocks * n, *batch))
        for direction, unit in enumerate(np.eye(n)):
            for k, value in enumerate(kinematics.rate(x.tree, x.q, Vec(unit.tolist()))):
                seeds[k, direction] = value
        return seeds


class CpuTarget:
    """Kernels compiled by LLVM for this processor, one for each quantity, made when first called."""

    def __init__(self, model: Model, fast: bool = False, way: str = "") -> None:
        self.lanes = lanes()  # says so now where there is no compiler
        self.model, self.fast = model, fast
        self.kernels: dict[tuple, Kernel] = {}
        self._plain, self._graphs = PythonTarget(model), Graphs(model, way)
        self._lock = threading.Lock()
        self._identity = identity_text(model, way)

    array = staticmethod(real_array)

    def quickly(self, key: Key, given: dict[str, Any], out: Any, threads: int) -> Any:
        """The result, where the kernel is there and all arguments are arrays just as it takes them; else None."""
        kernel = self.kernels.get((*key, *given, "t"))
        if kernel is None:
            return None
        batch: tuple[int, ...] = ()
        for array, shape in zip(given.values(), kernel.facts["inputs"], strict=False):
            if type(array) is not np.ndarray or array.dtype is not FLOAT:
                return None
            if not (array.flags.c_contiguous and array.flags.aligned):
                return None
            own = array.shape[:-1]
            if array.shape[-1:] != (shape[0],) or (batch and own and own != batch):
                return None
            batch = batch or own
        if batch and (threads > 1 or self._too_narrow(kernel, batch)):
            return None
        if out is None:
            found = kernel.ufunc(*given.values(), NOW)
        else:
            outs = _as_given(out, [(*batch, *shape) for shape in kernel.facts["outputs"]], given.values())
            if not outs:
                return None
            found = kernel.ufunc(*given.values(), NOW, out=tuple(outs))
        kind = RECORDS.get(key[0])
        return kind(*found) if kind else found

    def direct(self, key: Key, names: Sequence[str], fallback: Callable) -> Callable | None:
        """A built-in for one state, which hands all other calls to `fallback`."""
        kernel = self.kernels.get((*key, *names, "t"))
        return single_call(kernel, key[0], fallback, RECORDS.get(key[0], tuple)) if kernel else None

    def evaluate(self, key: Key, quantity: Quantity, call: Call) -> Any:
        """The result of a quantity."""
        if self.model.nv == 0:  # nothing moves: there is nothing to compile
            return self._plain.evaluate(key, quantity, call)
        kernel = self.kernel(key, quantity, call)
        outputs = [tuple(shape) for shape in kernel.facts["outputs"]]
        arrays = [_rows(array, call.depths[name]) for name, array in call.arrays.items()]
        given = _as_given(call.out, [(*call.batch, *shape) for shape in outputs], arrays)
        found = self._run(kernel, call, arrays, given)
        kind = RECORDS.get(key[0])
        result = kind(*found) if kind else found[0]
        return result if given or call.out is None else into(key[0], call.out, result)

    def _run(self, kernel: Kernel, call: Call, arrays: list[np.ndarray], given: list[np.ndarray]) -> list[Any]:
        """The results of a kernel, each with all batch axes, in the arrays given or in new ones."""
        if not given and (call.threads == 1 or not call.batch):
            return list(kernel(*arrays))
        outputs = [tuple(shape) for shape in kernel.facts["outputs"]]
        outs = given or [np.empty((*call.batch, *shape)) for shape in outputs]
        depths = [*call.depths.values(), *map(len, outputs)]
        run_in_threads(kernel.ufunc, arrays, depths, outs, call.threads, kernel.facts["width"])
        return outs

    def kernel(self, key: Key, quantity: Quantity, call: Call) -> Kernel:
        """The kernel of a quantity for the arguments of a call: from memory, from disk, or made now.

        One for single states is compiled first, one with lanes when there is a batch that fills them.
        """
        place = (*key, *call.arrays)
        with self._lock:
            kernel = self.kernels.get(place)
            if kernel is None or self._too_narrow(kernel, call.batch):
                name = cache_key(self._identity, repr(place), repr(call.shapes)) if self._identity else ""
                title = f"{self.model.name}: {' '.join(key)}"
                make = partial(self._graphs.graph, key[0], quantity, call.outline)
                width = self.lanes if prod(call.batch) >= self.lanes else 1
                self.kernels[place] = kernel = kernel_for(name, make, title, width, self.fast)
            return kernel

    def _too_narrow(self, kernel: Kernel, batch: tuple[int, ...]) -> bool:
        """Whether a batch would fill more lanes than a kernel has."""
        return kernel.facts["width"] == 1 and prod(batch) >= self.lanes > 1


def _rows(array: np.ndarray, depth: int) -> np.ndarray:
    """The array, its own axes contiguous and aligned as kernels read them; batch axes may lie anyhow."""
    step, size = [], array.itemsize
    for length in reversed(array.shape[array.ndim - depth :]):
        step.append(size)
        size *= length
    if array.strides[array.ndim - depth :] == tuple(reversed(step)) and array.flags.aligned:
        return array
    return array.copy(order="C")


def _as_given(out: Any, shapes: list[tuple[int, ...]], arrays: Iterable[np.ndarray]) -> list[np.ndarray]:
    """The arrays given for the results, where kernels may write into them; else none."""
    outs = list(out) if isinstance(out, tuple) else [out]
    if len(outs) != len(shapes):
        return []
    for k, (array, shape) in enumerate(zip(outs, shapes, strict=True)):
        if type(array) is not np.ndarray or array.dtype is not FLOAT or array.shape != shape:
            return []
        if not array.flags.carray or any(np.may_share_memory(array, other) for other in (*arrays, *outs[:k])):
            return []
    return outs
