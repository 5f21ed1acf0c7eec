"""How a quantity is evaluated: on plain floats and batches (the oracle), or by a compiled kernel.

A quantity is a key and a function of `Arguments` on generic scalars; a target runs it for a `Call`.
"""

import re
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from polhode.assemble.calls import Arguments, Call, arguments
from polhode.dynamics import kinematics
from polhode.dynamics.energy import Energy, Momentum
from polhode.kernel import trace
from polhode.kernel.build import Kernel, kernel_for
from polhode.kernel.cache import key as cache_key
from polhode.model import Model, make_tree
from polhode.scalar import Dual, Vec, split, stack

Quantity = Callable[[Arguments], Any]


class Pose(NamedTuple):
    """Position (..., 3) of a body frame's origin and its quaternion (..., 4), in the world."""

    position: Any
    quaternion: Any


class Velocity(NamedTuple):
    """Linear (..., 3), of the body frame's origin, and angular (..., 3), world axes."""

    linear: Any
    angular: Any


class PythonTarget:
    """The physics itself, on floats and NumPy batches, with no graph: what all other targets must equal."""

    def __init__(self, model: Model) -> None:
        self.model, self.tree = model, make_tree(model)

    def evaluate(self, key: tuple, quantity: Quantity, call: Call) -> Any:
        """The result of a quantity."""
        return stack(quantity(self._arguments(call)), call.batch)

    def derivatives(self, key: tuple, quantity: Quantity, call: Call, names: tuple[str, ...]) -> list[np.ndarray]:
        """Derivatives (..., nv, nv) along the tangent directions of q, and along the named arguments."""
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

    def __init__(self, model: Model) -> None:
        self.model, self.tree = model, make_tree(model)
        self.kernels: dict[tuple, Kernel] = {}
        self._plain = PythonTarget(model)
        self._lock = threading.Lock()
        self._identity = _identity(model)

    def evaluate(self, key: tuple, quantity: Quantity, call: Call) -> Any:
        """The result of a quantity."""
        if self.model.nv == 0:  # nothing moves: there is nothing to compile
            return self._plain.evaluate(key, quantity, call)
        kernel = self.kernel(key, quantity, call)
        found = kernel(*(np.asarray(array, order="C") for array in call.arrays.values()))
        shapes = (tuple(shape) for shape in kernel.facts["outputs"])
        results = [_spread(x, shape, call.batch) for x, shape in zip(found, shapes, strict=True)]
        kind = RECORDS.get(key[0])
        return kind(*results) if kind else results[0]

    def derivatives(self, key: tuple, quantity: Quantity, call: Call, names: tuple[str, ...]) -> list[np.ndarray]:
        """Derivatives by the plain evaluation: no kernel of them is made yet."""
        return self._plain.derivatives(key, quantity, call, names)

    def kernel(self, key: tuple, quantity: Quantity, call: Call) -> Kernel:
        """The kernel of a quantity for arguments of these names: from memory, from disk, or made now."""
        place = (*key, *call.arrays)
        with self._lock:
            if place not in self.kernels:

                def traced(**scalars: Any) -> Any:
                    return quantity(arguments(self.model, self.tree, scalars))

                traced.__name__ = f"{self.model.name}: {' '.join(map(str, key))}"
                name = cache_key(self._identity, repr(place), repr(call.shapes)) if self._identity else ""
                self.kernels[place] = kernel_for(name, lambda: trace(traced, **call.shapes))
            return self.kernels[place]


RECORDS: dict[str, type] = {
    "pose": Pose,
    "velocity": Velocity,
    "acceleration": Velocity,
    "energy": Energy,
    "momentum": Momentum,
}
"""The quantities with several results, and the record of them."""


def _identity(model: Model) -> str:
    """The model as text that says everything about it; "" where it holds functions, which no text tells."""
    text = repr(model)
    return "" if re.search(r"<function|<bound method|<built-in| at 0x", text) else text


def _spread(x: Any, shape: tuple[int, ...], batch: tuple[int, ...]) -> Any:
    """A result with all batch axes, also where it does not depend on what varies along them."""
    whole = (*batch, *shape)
    return x if np.shape(x) == whole else np.broadcast_to(x, whole).copy()
