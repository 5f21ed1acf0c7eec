"""`ph.compile(model)` → System: every quantity of a model as a call on arrays.

`target="python"` evaluates the physics on floats and NumPy batches, with no graph: the oracle of all
other targets.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from polhode.dynamics import covariant, energy, forces, forward, inertia, inverse, kinematics
from polhode.dynamics.energy import Energy, Momentum
from polhode.errors import CompileError, InputError, ModelError, UnknownNameError, message
from polhode.model import Model, Tree, make_tree
from polhode.model.description import named_parameters
from polhode.scalar import Array, Dual, Vec, as_array, batch_shape, split, stack, vec

SINGULAR = 1e-13
"""A pivot of forward dynamics below this part of the joint's own inertia counts as zero."""


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


def compile(
    model: Model, target: str = "python", parameters: Sequence[str] = ()
) -> "System":  # `compile` is the public name, as in `ph.compile`
    """The System of a model.

    target      "python": the physics on floats and NumPy batches
    parameters  paths or Parameter names that become inputs: parameters={path: value or batch} in every call
    """
    return System(model, target, parameters)


class System:
    """Every quantity of one model. Arguments are arrays with any leading batch axes; lists are accepted.

    Every call takes `out=` (an array, or a tuple of them for several results) and, where parameters were
    named, `parameters={path: value or batch}`. Shapes are checked, values are not: NaN in, NaN out.
    """

    def __init__(self, model: Model, target: str = "python", parameters: Sequence[str] = ()) -> None:
        if target != "python":
            raise CompileError(message("compile", "no such target yet", repr(target), "'python'"))
        if model.constraints:
            names = ", ".join(constraint.name for constraint in model.constraints[:5])
            fix = "Load with mimic='free', or leave the constraints out, to see the open tree."
            where = f"compile, model '{model.name}'"
            raise CompileError(message(where, "constraints cannot be compiled yet", names, "a tree alone", fix))
        self.model, self.target, self.parameters = model, target, tuple(parameters)
        self._tree = make_tree(model, {path: self._own(path) for path in parameters})
        self.nq, self.nv = model.nq, model.nv

    def __repr__(self) -> str:
        return f"<System of '{self.model.name}': nq {self.nq}, nv {self.nv}, target {self.target!r}>"

    def __reduce__(self) -> tuple:
        return System, (self.model, self.target, self.parameters)

    # dynamics

    def mass_matrix(self, q: Array, **options: Any) -> Any:
        """Metric tensor M (..., nv, nv).                                        Zoric (97)–(98)"""
        return self._call("mass_matrix", lambda x: inertia.mass_matrix(x.tree, x.q), options, q=q)

    def christoffel(self, q: Array, **options: Any) -> Any:
        """Christoffel symbols Γ (..., nv, nv, nv), [a, b, g].                    Zoric (110), (129)"""
        return self._call("christoffel", lambda x: covariant.christoffel(x.tree, x.q), options, q=q)

    def coriolis(self, q: Array, v: Array, **options: Any) -> Any:
        """C (..., nv, nv), C[g, b] = Σ_a Γ[a, b, g] v[a]; Ṁ − 2C is skew."""
        return self._call("coriolis", lambda x: covariant.coriolis(x.tree, x.q, x.v), options, q=q, v=v)

    def bias(self, q: Array, v: Array, **options: Any) -> Any:
        """Coriolis + gravity − all other forces (..., nv): M v̇ + bias = τ. Takes t, wrench."""
        return self._call("bias", lambda x: _inverse(x, Vec([0.0] * self.nv)), options, q=q, v=v)

    def gravity(self, q: Array, **options: Any) -> Any:
        """Generalised gravity (..., nv), the gradient of the potential energy."""

        def on_scalars(x: "_Arguments") -> Vec:
            rest = Vec([0.0] * self.nv)
            return inverse.inverse_dynamics(x.tree, x.q, rest, rest)

        return self._call("gravity", on_scalars, options, q=q)

    def inverse_dynamics(self, q: Array, v: Array, vd: Array, **options: Any) -> Any:
        """M v̇ + bias (..., nv). Takes t, wrench."""
        return self._call("inverse_dynamics", lambda x: _inverse(x, x.vd), options, q=q, v=v, vd=vd)

    def forward_dynamics(self, q: Array, v: Array, tau: Array, **options: Any) -> Any:
        """v̇ (..., nv) by articulated bodies. Takes t, wrench."""
        return self._call("forward_dynamics", self._forward, options, q=q, v=v, tau=tau)

    def forward_dynamics_derivatives(self, q: Array, v: Array, tau: Array, **options: Any) -> ForwardDerivatives:
        """∂v̇/∂q (tangent), ∂v̇/∂v, ∂v̇/∂τ. Takes t, wrench."""
        names = ("v", "tau")
        return self._derivatives("forward_dynamics_derivatives", self._forward, options, names, q=q, v=v, tau=tau)

    def inverse_dynamics_derivatives(self, q: Array, v: Array, vd: Array, **options: Any) -> InverseDerivatives:
        """∂τ/∂q (tangent), ∂τ/∂v, ∂τ/∂v̇. Takes t, wrench."""
        call = lambda x: _inverse(x, x.vd)  # noqa: E731
        return self._derivatives("inverse_dynamics_derivatives", call, options, ("v", "vd"), q=q, v=v, vd=vd)

    # kinematics

    def pose(self, q: Array, body: str, **options: Any) -> Pose:
        """Position and quaternion of a body frame in the world."""
        i = self._body(body)

        def on_scalars(x: "_Arguments") -> Pose:
            return Pose(kinematics.frames(x.tree, x.q)[i].o, kinematics.orientations(x.tree, x.q)[i])

        return self._call("pose", on_scalars, options, q=q)

    def velocity(self, q: Array, v: Array, body: str, **options: Any) -> Velocity:
        """Velocity of a body frame's origin and its angular velocity, world axes."""
        i = self._body(body)

        def on_scalars(x: "_Arguments") -> Velocity:
            return Velocity(*kinematics.velocities(x.tree, kinematics.frames(x.tree, x.q), x.v)[i])

        return self._call("velocity", on_scalars, options, q=q, v=v)

    def acceleration(self, q: Array, v: Array, vd: Array, body: str, **options: Any) -> Velocity:
        """Acceleration of a body frame's origin and its angular acceleration, world axes."""
        i = self._body(body)

        def on_scalars(x: "_Arguments") -> Velocity:
            return Velocity(*kinematics.accelerations(x.tree, kinematics.frames(x.tree, x.q), x.v, x.vd)[i])

        return self._call("acceleration", on_scalars, options, q=q, v=v, vd=vd)

    def jacobian(self, q: Array, body: str, point: Array = (0.0, 0.0, 0.0), **options: Any) -> Any:
        """(..., 6, nv): three linear rows, three angular, world axes, at a point in body axes."""
        i, u = self._body(body), split(as_array("jacobian, argument point", point, (3,)), 1)
        return self._call("jacobian", lambda x: kinematics.jacobian(x.tree, x.q, i, u), options, q=q)

    def jacobian_rate(self, q: Array, v: Array, body: str, point: Array = (0.0, 0.0, 0.0), **options: Any) -> Any:
        """The time derivative of `jacobian` along the motion (..., 6, nv)."""
        i, u = self._body(body), split(as_array("jacobian_rate, argument point", point, (3,)), 1)
        return self._call(
            "jacobian_rate", lambda x: kinematics.jacobian_rate(x.tree, x.q, x.v, i, u), options, q=q, v=v
        )

    def energy(self, q: Array, v: Array, **options: Any) -> Energy:
        """Kinetic and potential energy (zero at the world origin)."""
        return self._call("energy", lambda x: energy.energy(x.tree, x.q, x.v), options, q=q, v=v)

    def momentum(self, q: Array, v: Array, **options: Any) -> Momentum:
        """Linear momentum and angular momentum about the world origin, world axes."""
        return self._call("momentum", lambda x: energy.momentum(x.tree, x.q, x.v), options, q=q, v=v)

    def center_of_mass(self, q: Array, **options: Any) -> Any:
        """Mass centre of the whole machine (..., 3), world axes."""
        return self._call("center_of_mass", lambda x: energy.center_of_mass(x.tree, x.q), options, q=q)

    # the configuration manifold

    def rate(self, q: Array, v: Array, **options: Any) -> Any:
        """q̇ (..., nq) of a velocity v."""
        return self._call("rate", lambda x: kinematics.rate(x.tree, x.q, x.v), options, q=q, v=v)

    def integrate(self, q: Array, dv: Array, **options: Any) -> Any:
        """q ⊕ dv (..., nq): quaternions turn by exp(dv/2), everything else adds."""
        return self._call("integrate", lambda x: kinematics.integrate(x.tree, x.q, x.v), options, q=q, v=dv)

    def difference(self, q0: Array, q1: Array, **options: Any) -> Any:
        """dv (..., nv) with integrate(q0, dv) = q1, the shorter way round."""
        return self._call("difference", lambda x: kinematics.difference(x.tree, x.q, x.q1), options, q=q0, q1=q1)

    # how a call works

    def _call(self, name: str, on_scalars: Callable[["_Arguments"], Any], options: dict, **given: Array) -> Any:
        out = options.pop("out", None)
        arrays, batch = self._arrays(name, given, options)
        result = stack(on_scalars(self._arguments(arrays)), batch)
        if self.nv == 0 and name in SQUARE:  # an empty list of rows does not know its columns
            result = np.zeros((*batch, *(0,) * SQUARE[name]))
        return result if out is None else _into(name, out, result)

    def _derivatives(
        self, name: str, on_scalars: Callable[["_Arguments"], Any], options: dict, names: tuple, **given: Array
    ) -> Any:
        """Derivatives along the tangent directions of q and the components of the other arguments."""
        out = options.pop("out", None)
        arrays, batch = self._arrays(name, given, options)
        x = self._arguments(arrays)
        seeds = self._seeds(x, names, batch)
        values = x._asdict() | {n: Vec(map(Dual, getattr(x, n), slopes)) for n, slopes in seeds.items()}
        found = on_scalars(_Arguments(**values))
        n = self.nv
        slopes = np.zeros((n, 3 * n, *batch))  # output, direction, batch
        for row, entry in enumerate(found):
            slopes[row] = entry.slope if isinstance(entry, Dual) else 0.0
        blocks = [np.moveaxis(slopes[:, k * n : (k + 1) * n], (0, 1), (-2, -1)).copy() for k in range(3)]
        kind = ForwardDerivatives if "tau" in given else InverseDerivatives
        return kind(*blocks) if out is None else _into(name, out, kind(*blocks))

    def _seeds(self, x: "_Arguments", names: tuple, batch: tuple[int, ...]) -> dict[str, list[np.ndarray]]:
        """For q, v and the third argument: the derivative of each component along each of 3 nv directions."""
        n = self.nv
        units = np.eye(n)
        along = [kinematics.rate(x.tree, x.q, Vec(unit.tolist())) for unit in units]  # q̇ of each direction
        seeds = {"q": [np.zeros((3 * n, *batch)) for _ in range(self.nq)]}
        for direction, qdot in enumerate(along):
            for k, value in enumerate(qdot):
                seeds["q"][k][direction] = value
        for block, name in enumerate(names, 1):
            seeds[name] = [np.zeros((3 * n, *batch)) for _ in range(n)]
            for k in range(n):
                seeds[name][k][block * n + k] = 1.0
        return seeds

    def _forward(self, x: "_Arguments") -> Vec:
        acting = forces.acting(x.tree, x.t, x.q, x.v, x.wrench)
        try:
            found = forward.forward_with_pivots(x.tree, x.q, x.v, x.tau + acting.generalized, acting.wrenches)
        except ZeroDivisionError:
            self._refuse_singular(x)
            raise
        M = inertia.mass_matrix(x.tree, x.q)
        weak = [
            np.any(np.asarray(_value(found.pivots[a])) <= SINGULAR * np.asarray(_value(M[a][a])))
            for a in range(self.nv)
        ]
        if any(weak):
            self._refuse_singular(x)
        return found.vd

    def _refuse_singular(self, x: "_Arguments") -> None:
        """Name the joint along which the mass matrix vanishes."""
        M = np.array([[np.min(_value(entry)) for entry in row] for row in inertia.mass_matrix(x.tree, x.q)])
        scale = np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
        scale = np.where(np.diag(M) > SINGULAR * np.max(np.diag(M)), scale, np.max(scale))
        null = np.linalg.eigh(M / np.outer(scale, scale))[1][:, 0]
        dof = int(np.argmax(abs(null)))
        joint = next(e.joint for e in x.tree.elements if dof in e.v)
        where, fix = f"forward_dynamics, joint '{joint}'", "Give the bodies it moves mass, or the joint armature."
        raise ModelError(message(where, "the mass matrix is singular", "nothing that resists it", "inertia", fix))

    def _arguments(self, arrays: dict[str, Any]) -> "_Arguments":
        tree = self._tree
        if self.parameters:
            tree = make_tree(self.model, arrays["parameters"])
        values = {n: split(arrays[n], 1) for n in ("q", "v", "vd", "tau", "q1") if n in arrays}
        return _Arguments(tree, t=arrays["t"], wrench=arrays["wrench"], **values)

    def _arrays(self, name: str, given: dict[str, Array], options: dict) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Every argument as a checked array, and the batch axes they share."""
        sizes = {"q": self.nq, "q1": self.nq}
        arrays: dict[str, Any] = {}
        for n, value in given.items():
            arrays[n] = as_array(f"{name}, argument {n}", value, (sizes.get(n, self.nv),), finite=False)
            if arrays[n].dtype.kind == "c":
                raise InputError(message(f"{name}, argument {n}", "complex numbers", "complex", "real numbers"))
        shapes = {n: array.shape[:-1] for n, array in arrays.items()}
        t = as_array(f"{name}, argument t", options.pop("t", 0.0), (), finite=False)
        wrench = self._wrench(name, options.pop("wrench", None) or {})
        parameters = self._parameter_arrays(name, options.pop("parameters", None) or {})
        if options:
            unknown = next(iter(options))
            raise TypeError(f"{name}() got an unexpected keyword argument {unknown!r}")
        shapes |= {"t": t.shape}
        shapes |= {f"wrench on {b}": np.broadcast_shapes(f.shape, n.shape)[:-1] for b, (f, n) in wrench.items()}
        shapes |= {path: value.shape[: value.ndim - depth] for path, (value, depth) in parameters.items()}
        batch = batch_shape(name, shapes)
        arrays["t"] = split(t, 0)
        arrays["wrench"] = {body: (split(f, 1), split(n, 1)) for body, (f, n) in wrench.items()}
        arrays["parameters"] = {path: split(value, depth) for path, (value, depth) in parameters.items()}
        return arrays, batch

    def _wrench(self, name: str, given: Mapping[str, tuple[Array, Array]]) -> dict[str, tuple]:
        found = {}
        for body, pair in given.items():
            self._body(body)
            where = f"{name}, wrench on '{body}'"
            if len(pair) != 2:
                raise InputError(message(where, "not a pair", repr(pair), "(force, couple)"))
            found[body] = tuple(as_array(where, part, (3,), finite=False) for part in pair)
        return found

    def _parameter_arrays(self, name: str, given: Mapping[str, Array]) -> dict[str, tuple[np.ndarray, int]]:
        for path in given:
            if path not in self.parameters:
                expected = ", ".join(map(repr, self.parameters)) or "none: name them in ph.compile(…, parameters=[…])"
                raise UnknownNameError(message(f"{name}, parameters", "not an input", repr(path), expected))
        found = {}
        for path in self.parameters:
            own = self._own(path)
            shape = np.shape(own)
            value = given.get(path, own)
            found[path] = (as_array(f"{name}, parameter '{path}'", value, shape, finite=False), len(shape))
        return found

    def _own(self, path: str) -> Any:
        """The model's own value of a path: a number, a vector of numbers, or a Parameter's value."""
        numbers = self.model.numbers()
        if path in numbers:
            return numbers[path]
        below = [value for key, value in numbers.items() if key.startswith(f"{path}.")]
        if below:
            return tuple(np.reshape(below, (3, 3)).tolist()) if len(below) == 9 else tuple(below)
        for value in named_parameters(self.model):
            if value.name == path:
                return value.value
        near = get_close_matches(path, numbers, 3, 0.5)
        fix = f"Did you mean {' or '.join(map(repr, near))}?" if near else "model.numbers() lists all paths."
        raise UnknownNameError(message(f"model '{self.model.name}'", "no such number", repr(path), "a path", fix))

    def _body(self, name: str) -> int:
        if name not in self._tree.of_body or name == "world":
            self.model.body(name)
        return self._tree.of_body[name]


class _Arguments(NamedTuple):
    """The arguments of one call, on scalars."""

    tree: Tree
    q: Vec = vec()
    v: Vec = vec()
    vd: Vec = vec()
    tau: Vec = vec()
    q1: Vec = vec()
    t: Any = 0.0
    wrench: Any = None


def _inverse(x: _Arguments, vd: Vec) -> Vec:
    acting = forces.acting(x.tree, x.t, x.q, x.v, x.wrench)
    return inverse.inverse_dynamics(x.tree, x.q, x.v, vd, wrenches=acting.wrenches) - acting.generalized


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Dual) else x


def _into(name: str, out: Any, result: Any) -> Any:
    """Write a result into the caller's array (or arrays) and hand that back."""
    if isinstance(result, tuple):
        if not isinstance(out, tuple) or len(out) != len(result):
            found, expected = type(out).__name__, f"a tuple of {len(result)} arrays"
            raise InputError(message(f"{name}, argument out", "not as many arrays", found, expected))
        return type(result)(*(_into(name, o, r) for o, r in zip(out, result, strict=True)))
    shape = np.shape(result)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.float64:
        found = f"{type(out).__name__} of shape {np.shape(out)}"
        raise InputError(message(f"{name}, argument out", "does not fit", found, f"a float64 array of shape {shape}"))
    out[...] = result
    return out
