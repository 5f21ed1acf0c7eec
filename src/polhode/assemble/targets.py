"""How a quantity is evaluated: on plain floats and batches (the oracle), or by a compiled kernel.

A quantity is a key and a function of `Arguments` on generic scalars; a target runs it for a `Call`.
"""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from polhode.assemble.calls import Arguments, Call, arguments
from polhode.assemble.quantities import forward_by_factors, forward_dynamics, inverse_dynamics
from polhode.dynamics import inertia, kinematics
from polhode.dynamics.energy import Energy, Momentum
from polhode.kernel import Graph, jacobian, replay, trace
from polhode.kernel.build import Kernel, kernel_for, single_call
from polhode.kernel.cache import key as cache_key
from polhode.kernel.schedule import fused
from polhode.model import Model, make_tree, regrouped
from polhode.scalar import Dual, Vec, identity, split, stack

Quantity = Callable[[Arguments], Any]
FLOAT = np.dtype(np.float64)


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

    def quickly(self, key: tuple, given: dict[str, Any], out: Any = None) -> Any:
        """Nothing is quick here."""
        return None

    def direct(self, key: tuple, given: dict[str, Any], method: Callable) -> Callable | None:
        """There is no kernel to go to."""
        return None

    def evaluate(self, key: tuple, quantity: Quantity, call: Call) -> Any:
        """The result of a quantity."""
        return stack(quantity(self._arguments(call)), call.batch)

    def inverse_derivatives(self, call: Call) -> list[np.ndarray]:
        """∂τ/∂q (tangent), ∂τ/∂v, ∂τ/∂v̇, each (..., nv, nv)."""
        return self._derivatives(inverse_dynamics, call, ("v", "vd"))

    def forward_derivatives(self, call: Call) -> list[np.ndarray]:
        """∂v̇/∂q (tangent), ∂v̇/∂v, ∂v̇/∂τ, each (..., nv, nv)."""
        return self._derivatives(forward_dynamics, call, ("v", "tau"))

    def _derivatives(self, quantity: Quantity, call: Call, names: tuple[str, ...]) -> list[np.ndarray]:
        """Derivatives along the tangent directions of q, and along the named arguments, by dual numbers."""
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

    def quickly(self, key: tuple, given: dict[str, Any], out: Any = None) -> Any:
        """The result, where the kernel is there and all arguments are arrays just as it takes them; else None."""
        kernel = self.kernels.get((*key, *given, "t"))
        if kernel is None:
            return None
        for array, shape in zip(given.values(), kernel.facts["inputs"], strict=False):
            if type(array) is not np.ndarray or array.dtype is not FLOAT or array.shape[-1:] != (shape[0],):
                return None
            if not array.flags.c_contiguous:
                return None
        try:
            found = kernel.ufunc(*given.values(), 0.0) if out is None else kernel.ufunc(*given.values(), 0.0, out=out)
        except (TypeError, ValueError):  # what does not fit is told the checked way
            return None
        kind = RECORDS.get(key[0])
        return kind(*found) if kind else found

    def direct(self, key: tuple, given: dict[str, Any], method: Callable) -> Callable | None:
        """A built-in in the place of a method, for one state; all other calls still go to the method."""
        kernel = self.kernels.get((*key, *given, "t"))
        return single_call(kernel, key[0], method) if kernel and key[0] not in RECORDS else None

    def evaluate(self, key: tuple, quantity: Quantity, call: Call) -> Any:
        """The result of a quantity."""
        if self.model.nv == 0:  # nothing moves: there is nothing to compile
            return self._plain.evaluate(key, quantity, call)
        reduce = key[0] in REDUCED and self._alone(call)
        ways = (quantity, forward_by_factors) if key == ("forward_dynamics",) else (quantity,)
        found = self._run(key, call, *(self._traced(way, reduce) for way in ways))
        kind = RECORDS.get(key[0])
        return kind(*found) if kind else found[0]

    def inverse_derivatives(self, call: Call) -> list[np.ndarray]:
        """∂τ/∂q (tangent), ∂τ/∂v, ∂τ/∂v̇, each (..., nv, nv)."""
        if self.model.nv == 0:
            return self._plain.inverse_derivatives(call)
        names = ("step", "v", "vd")
        return self._run(("inverse_dynamics_derivatives",), call, lambda **s: self._slopes(call, s, names))

    def forward_derivatives(self, call: Call) -> list[np.ndarray]:
        """∂v̇/∂q (tangent), ∂v̇/∂v, ∂v̇/∂τ, each (..., nv, nv).

        ∂v̇/∂x = −M⁻¹ ∂τ/∂x at the v̇ of the motion, ∂v̇/∂τ = M⁻¹
        """

        def quantity(**scalars: Any) -> tuple[Vec, ...]:
            x = self._arguments(scalars, self._alone(call))
            scalars["vd"] = forward_by_factors(x)
            dq, dv = self._slopes(call, scalars, ("step", "v"))
            L, D = inertia.factor(x.tree, inertia.mass_matrix(x.tree, x.q))  # shared with v̇

            def solved(right: Vec) -> Vec:
                return Vec([inertia.solve_factored(x.tree, L, D, column) for column in right.T]).T

            return solved(-dq), solved(-dv), solved(identity(self.model.nv))

        if self.model.nv == 0:
            return self._plain.forward_derivatives(call)
        return self._run(("forward_dynamics_derivatives",), call, quantity)

    def _slopes(self, call: Call, scalars: dict[str, Any], names: tuple[str, ...]) -> tuple[Vec, ...]:
        """Derivatives of inverse dynamics, from its graph: along "step" (the tangent directions of q), v, v̇."""
        n = self.model.nv

        def needed(step: Vec, **inner: Any) -> Vec:
            x = self._arguments(inner, self._alone(call))
            return inverse_dynamics(x._replace(q=x.q + kinematics.rate(x.tree, x.q, step)))

        shapes = {name: shape for name, shape in call.shapes.items() if name != "tau"} | {"vd": (n,)}
        graph = jacobian(trace(needed, step=(n,), **shapes), wrt=names)
        found = replay(graph, step=Vec([0.0] * n), **{name: scalars[name] for name in shapes})
        return tuple(found[f"d_result_d_{name}"] for name in names)

    def _traced(self, quantity: Quantity, reduce: bool) -> Callable[..., Any]:
        return lambda **scalars: quantity(self._arguments(scalars, reduce))

    def _arguments(self, scalars: dict[str, Any], reduce: bool) -> Arguments:
        """The arguments, with the tree regrouped where nothing asks for its bodies one by one."""
        x = arguments(self.model, self.tree, scalars)
        return x._replace(tree=regrouped(x.tree)) if reduce else x

    def _alone(self, call: Call) -> bool:
        """Whether nothing acts on single bodies but gravity."""
        return not self.model.forces and not any(name.startswith("wrench.") for name in call.arrays)

    def _run(self, key: tuple, call: Call, *ways: Callable[..., Any]) -> list[Any]:
        """The results of a kernel, each with all batch axes; of several ways the one with fewest operations."""
        kernel = self.kernel(key, call, *ways)
        found = kernel(*(np.asarray(array, order="C") for array in call.arrays.values()))
        shapes = (tuple(shape) for shape in kernel.facts["outputs"])
        return [_spread(x, shape, call.batch) for x, shape in zip(found, shapes, strict=True)]

    def kernel(self, key: tuple, call: Call, *ways: Callable[..., Any]) -> Kernel:
        """The kernel of a function of the arguments of a call: from memory, from disk, or made now."""

        def make() -> Graph:
            graphs = [trace(way, **call.shapes) for way in ways]
            return min(graphs, key=lambda graph: fused(graph).operations.total())

        place = (*key, *call.arrays)
        with self._lock:
            if place not in self.kernels:
                name = cache_key(self._identity, repr(place), repr(call.shapes)) if self._identity else ""
                title = f"{self.model.name}: {' '.join(map(str, key))}"
                self.kernels[place] = kernel_for(name, make, title)
            return self.kernels[place]


REDUCED = {"mass_matrix", "christoffel", "coriolis", "gravity", "bias", "inverse_dynamics", "forward_dynamics"}
"""The quantities that a regrouped tree may serve."""

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
    return "" if any(callable(x) for force in model.forces for x in vars(force).values()) else repr(model)


def _spread(x: Any, shape: tuple[int, ...], batch: tuple[int, ...]) -> Any:
    """A result with all batch axes, also where it does not depend on what varies along them."""
    whole = (*batch, *shape)
    return x if np.shape(x) == whole else np.broadcast_to(x, whole).copy()
