"""`ph.compile(model)` → System: every quantity of a model as a call on arrays.

`target="python"` evaluates the physics on floats and NumPy batches, with no graph: the oracle of all
other targets. `target="cpu"` compiles each quantity when it is first called.
"""

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.assemble.calls import Arguments, checked_call, into, own_value
from polhode.assemble.quantities import forward_dynamics, inverse_dynamics, needed
from polhode.assemble.targets import CpuTarget, Pose, PythonTarget, Quantity, Velocity
from polhode.dynamics import covariant, energy, inertia, inverse, kinematics
from polhode.dynamics.energy import Energy, Momentum
from polhode.errors import CompileError, ModelError, UnknownNameError, message
from polhode.kernel.build import Kernel
from polhode.kernel.emit_c import c_source, identifier
from polhode.model import JOINTS, Model, make_tree
from polhode.scalar import Array, Vec

SINGULAR = 1e-13
"""An eigenvalue of the mass matrix, scaled to unit diagonal, that counts as zero."""


TARGETS: dict[str, type[PythonTarget] | type[CpuTarget]] = {"python": PythonTarget, "cpu": CpuTarget}
"""How quantities can be evaluated."""

SQUARE = {"mass_matrix": 2, "coriolis": 2, "christoffel": 3}
"""Results with several axes of length nv."""


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

    target      "python": the physics on floats and NumPy batches; "cpu": kernels compiled by LLVM
    parameters  paths or Parameter names that become inputs: parameters={path: value or batch} in every call
    """
    return System(model, target, parameters)


class System:
    """Every quantity of one model. Arguments are arrays with any leading batch axes; lists are accepted.

    Every call takes `out=` (an array, or a tuple of them for several results) and, where parameters were
    named, `parameters={path: value or batch}`. Shapes are checked, values are not: NaN in, NaN out.
    """

    def __init__(self, model: Model, target: str = "python", parameters: Sequence[str] = ()) -> None:
        if target not in TARGETS:
            raise CompileError(message("compile", "no such target", repr(target), " or ".join(map(repr, TARGETS))))
        if model.constraints:
            names = ", ".join(constraint.name for constraint in model.constraints[:5])
            fix = "Load with mimic='free', or leave the constraints out, to see the open tree."
            where = f"compile, model '{model.name}'"
            raise CompileError(message(where, "constraints cannot be compiled yet", names, "a tree alone", fix))
        self.model, self.target, self.parameters = model, target, tuple(parameters)
        make_tree(model, {path: own_value(model, path) for path in parameters})  # refuses unknown paths
        self._tree, self._target, self._regular = make_tree(model), TARGETS[target](model), False
        self.nq, self.nv = model.nq, model.nv

    def __repr__(self) -> str:
        return f"<System of '{self.model.name}': nq {self.nq}, nv {self.nv}, target {self.target!r}>"

    def __reduce__(self) -> tuple:
        return System, (self.model, self.target, self.parameters)

    def source(self, quantity: str, *body: str) -> str:
        """The generated text of a quantity's kernel, as in source("forward_dynamics"), source("pose", "hand")."""
        return self._kernel("source", quantity, *body).source

    def export_c(self, path: str | Path, *quantities: str) -> Path:
        """Write stand-alone C99 of some quantities (inverse and forward dynamics unless named), for controllers.

        One function each, named <model>_<quantity>: pointers to its arguments in the order of the call, the
        time t (a pointer to one number), then its results.
        """
        texts = []
        for name in quantities or ("inverse_dynamics", "forward_dynamics"):
            function = identifier(f"{identifier(self.model.name)}_{name}")
            texts.append(c_source(self._kernel("export_c", name).graph, function))
        Path(path).write_text("\n".join(texts), encoding="utf-8")
        return Path(path)

    def _kernel(self, where: str, quantity: str, *body: str) -> Kernel:
        """The kernel of a quantity, made by calling it at zero."""
        if not isinstance(self._target, CpuTarget):
            raise CompileError(message(where, "nothing is generated", f"target {self.target!r}", "target 'cpu'"))
        method = getattr(type(self), quantity, None)
        if not callable(method) or quantity.startswith("_"):
            raise UnknownNameError(message(where, "no such quantity", repr(quantity), "a method of System"))
        zeros = {"q": _zero(self.model), "q0": _zero(self.model), "q1": _zero(self.model)}
        names = [n for n in inspect.signature(method).parameters if n not in ("self", "body", "point", "options")]
        method(self, *(zeros.get(n, np.zeros(self.nv)) for n in names), *body)
        return next(k for place, k in self._target.kernels.items() if place[: 1 + len(body)] == (quantity, *body))

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
        return self._call("bias", lambda x: needed(x, Vec([0.0] * self.nv)), options, q=q, v=v)

    def gravity(self, q: Array, **options: Any) -> Any:
        """Generalised gravity (..., nv), the gradient of the potential energy."""

        def on_scalars(x: Arguments) -> Vec:
            rest = Vec([0.0] * self.nv)
            return inverse.inverse_dynamics(x.tree, x.q, rest, rest)

        return self._call("gravity", on_scalars, options, q=q)

    def inverse_dynamics(self, q: Array, v: Array, vd: Array, **options: Any) -> Any:
        """M v̇ + bias (..., nv). Takes t, wrench."""
        return self._call("inverse_dynamics", inverse_dynamics, options, q=q, v=v, vd=vd)

    def forward_dynamics(self, q: Array, v: Array, tau: Array, **options: Any) -> Any:
        """v̇ (..., nv) by articulated bodies. Takes t, wrench."""
        self._check_singular()
        return self._call("forward_dynamics", forward_dynamics, options, q=q, v=v, tau=tau)

    def forward_dynamics_derivatives(self, q: Array, v: Array, tau: Array, **options: Any) -> ForwardDerivatives:
        """∂v̇/∂q (tangent), ∂v̇/∂v, ∂v̇/∂τ. Takes t, wrench."""
        self._check_singular()
        return self._derivatives("forward_dynamics_derivatives", ForwardDerivatives, options, q=q, v=v, tau=tau)

    def inverse_dynamics_derivatives(self, q: Array, v: Array, vd: Array, **options: Any) -> InverseDerivatives:
        """∂τ/∂q (tangent), ∂τ/∂v, ∂τ/∂v̇. Takes t, wrench."""
        return self._derivatives("inverse_dynamics_derivatives", InverseDerivatives, options, q=q, v=v, vd=vd)

    # kinematics

    def pose(self, q: Array, body: str, **options: Any) -> Pose:
        """Position and quaternion of a body frame in the world."""
        i = self._body(body)

        def on_scalars(x: Arguments) -> Pose:
            return Pose(kinematics.frames(x.tree, x.q)[i].o, kinematics.orientations(x.tree, x.q)[i])

        return self._call(("pose", body), on_scalars, options, q=q)

    def velocity(self, q: Array, v: Array, body: str, **options: Any) -> Velocity:
        """Velocity of a body frame's origin and its angular velocity, world axes."""
        i = self._body(body)

        def on_scalars(x: Arguments) -> Velocity:
            return Velocity(*kinematics.velocities(x.tree, kinematics.frames(x.tree, x.q), x.v)[i])

        return self._call(("velocity", body), on_scalars, options, q=q, v=v)

    def acceleration(self, q: Array, v: Array, vd: Array, body: str, **options: Any) -> Velocity:
        """Acceleration of a body frame's origin and its angular acceleration, world axes."""
        i = self._body(body)

        def on_scalars(x: Arguments) -> Velocity:
            return Velocity(*kinematics.accelerations(x.tree, kinematics.frames(x.tree, x.q), x.v, x.vd)[i])

        return self._call(("acceleration", body), on_scalars, options, q=q, v=v, vd=vd)

    def jacobian(self, q: Array, body: str, point: Array = (0.0, 0.0, 0.0), **options: Any) -> Any:
        """(..., 6, nv): three linear rows, three angular, world axes, at a point in body axes."""
        i = self._body(body)
        call = lambda x: kinematics.jacobian(x.tree, x.q, i, x.point)  # noqa: E731
        return self._call(("jacobian", body), call, options, q=q, point=point)

    def jacobian_rate(self, q: Array, v: Array, body: str, point: Array = (0.0, 0.0, 0.0), **options: Any) -> Any:
        """The time derivative of `jacobian` along the motion (..., 6, nv)."""
        i = self._body(body)
        call = lambda x: kinematics.jacobian_rate(x.tree, x.q, x.v, i, x.point)  # noqa: E731
        return self._call(("jacobian_rate", body), call, options, q=q, v=v, point=point)

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

    def _call(self, key: str | tuple[str, ...], quantity: Quantity, options: dict, **given: Array) -> Any:
        key = key if isinstance(key, tuple) else (key,)
        if options.keys() <= {"out"} and not self.parameters:
            quick = self._target.quickly(key, given, options.get("out"))
            if quick is not None:
                return quick
        call = checked_call(self.model, self.parameters, key[0], given, options)
        result = self._target.evaluate(key, quantity, call)
        if len(key) == 1 and not self.parameters and key[0] not in vars(self):
            direct = self._target.direct(key, given, getattr(self, key[0]))
            if direct is not None:  # from now on, one state goes straight to the kernel
                setattr(self, key[0], direct)
        if self.nv == 0 and key[0] in SQUARE:  # an empty list of rows does not know its columns
            result = np.zeros((*call.batch, *(0,) * SQUARE[key[0]]))
        return result if call.out is None else into(key[0], call.out, result)

    def _derivatives(self, name: str, kind: type, options: dict, **given: Array) -> Any:
        if options.keys() <= {"out"} and not self.parameters:
            quick = self._target.quickly((name,), given, options.get("out"))
            if quick is not None:
                return kind(*quick)
        call = checked_call(self.model, self.parameters, name, given, options)
        of_forward = kind is ForwardDerivatives
        blocks = self._target.forward_derivatives(call) if of_forward else self._target.inverse_derivatives(call)
        result = kind(*blocks)
        return result if call.out is None else into(name, call.out, result)

    def _body(self, name: str) -> int:
        self.model.body(name)
        return self._tree.of_body[name]

    def _check_singular(self) -> None:
        """Refuse a model whose mass matrix is singular in general, and name the joint (once)."""
        if self._regular:
            return
        rng = np.random.default_rng(0)
        for _ in range(2):
            q = Vec(self.integrate(_zero(self.model), rng.normal(size=self.nv)).tolist())
            M = np.array(inertia.mass_matrix(self._tree, q)).reshape(self.nv, self.nv)
            size = np.diag(M).copy()
            size[size <= SINGULAR * np.max(size, initial=0.0)] = np.max(size, initial=1.0)
            scaled = M / np.sqrt(np.outer(size, size))
            values, vectors = np.linalg.eigh(scaled) if self.nv else (np.ones(1), np.ones((1, 1)))
            if values[0] <= SINGULAR:
                dof = int(np.argmax(abs(vectors[:, 0])))
                joint = next(e.joint for e in self._tree.elements if dof in e.v)
                where, fix = (
                    f"forward_dynamics, joint '{joint}'",
                    "Give the bodies it moves mass, or the joint armature.",
                )
                raise ModelError(
                    message(where, "the mass matrix is singular", "nothing that resists it", "inertia", fix)
                )
        self._regular = True


def _zero(model: Model) -> np.ndarray:
    """Zero angles and travels, identity quaternions."""
    return np.array([x for joint in model.joints for x in JOINTS[joint.type].zero])
