"""`ph.compile(model)` → System: every quantity of a model as a call on arrays.

`target="cpu"` compiles each quantity when it is first called, `target="cuda"` does so for a GPU.
`target="python"` evaluates the physics on floats and NumPy batches, with no graph: the oracle of the others.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from polhode.constrain.absolute_coordinates import Absolute
from polhode.constrain.constrained_dynamics import (
    ConditionRows,
    ConstrainedDynamics,
    Projected,
    Reactions,
    Residuals,
    constrained_dynamics,
)
from polhode.constrain.constraint_policy import DEFAULT, TOLERANCE, constraint_policy_of
from polhode.constrain.reactions import (
    ConstraintReactions,
    JointReactions,
    connecting,
    constraint_reactions,
    joint_reactions,
)
from polhode.dynamics import covariant, energy, kinematics
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.energy import Energy, Momentum
from polhode.errors import CompileError, InputError, ModelError, UnknownNameError, message
from polhode.kernel.backends.c import c_source, identifier
from polhode.model import Model, check_model, make_tree
from polhode.scalar import Array, Vec, a_list
from polhode.system.algorithms import Quantity
from polhode.system.calls import checked_call, own_value, thread_count
from polhode.system.cuda import CudaTarget
from polhode.system.mass_matrix_check import check_mass_matrix
from polhode.system.quantities import forward_dynamics, gravity, inverse_dynamics, mass_matrix, needed
from polhode.system.targets import (
    CpuTarget,
    ForwardDerivatives,
    InverseDerivatives,
    Key,
    Pose,
    PythonTarget,
    Target,
    Velocity,
)

ORIGIN = (0.0, 0.0, 0.0)
"""The point of a body that Jacobians are asked for, unless another is named."""


TARGETS: dict[str, Callable[[Model, bool, str], Target]] = {
    "cpu": CpuTarget,
    "cuda": CudaTarget,
    "python": PythonTarget,
}
"""How quantities can be evaluated."""


def compile(  # the public name, as in `ph.compile`
    model: Model,
    target: str = "cpu",
    parameters: Sequence[str] = (),
    fast: bool = False,
    threads: int = 1,
    engine: str = DEFAULT,
    rank_tolerance: float = TOLERANCE,
) -> "System":
    """The System of a model.

    target      "cpu": kernels compiled by LLVM; "cuda": kernels on a GPU, for CuPy's arrays; "python": the physics
                on floats and NumPy batches, with no kernels
    parameters  paths or Parameter names that become inputs: parameters={path: value or batch} in every call
    fast        whether kernels may reassociate sums: results then differ in the last digits from those of others
    threads     how many threads share a batch (of target "cpu"), unless a call says otherwise: threads=…
    engine      how constraints are met: "fundamental" (Udwadia's equation), "multipliers", "null-space", or "absolute"
                (Euler parameters of every body, joints as constraints too)
    rank_tolerance  what is left of a row of constraints, relative to its size, below which it counts as dependent
    """
    return System(model, target, parameters, fast, threads, engine, rank_tolerance)


class System:
    """Every quantity of one model. Arguments are arrays with any leading batch axes; lists are accepted.

    Every call takes `out=` (an array, or a tuple of them for several results), `threads=` and, where parameters
    were named, `parameters={path: value or batch}`. Shapes are checked, values are not: NaN in, NaN out.
    """

    def __init__(
        self,
        model: Model,
        target: str = "cpu",
        parameters: Sequence[str] = (),
        fast: bool = False,
        threads: int = 1,
        engine: str = DEFAULT,
        rank_tolerance: float = TOLERANCE,
        baumgarte: tuple[float, float] | None = None,
    ) -> None:
        check_model("compile", model)
        if not isinstance(target, str) or target not in TARGETS:
            raise CompileError(message("compile", "no such target", repr(target), " or ".join(map(repr, TARGETS))))
        way = replace(constraint_policy_of("compile", engine, rank_tolerance), baumgarte=baumgarte)
        parameters = tuple(a_list("compile, parameters", parameters, "a list of paths, as parameters=['gravity']"))
        self.model, self.target, self.parameters = model, target, parameters
        self.engine, self.rank_tolerance, self.baumgarte = engine, float(rank_tolerance), baumgarte
        self.fast, self.threads = bool(fast), thread_count("compile", threads)
        make_tree(model, {path: own_value(model, path) for path in parameters})  # refuses unknown paths
        text = str(way) if model.constraints or engine == "absolute" else ""
        self._tree, self._target, self._regular = make_tree(model), TARGETS[target](model, self.fast, text), False
        self._direct: dict[Key, Callable] = {}  # built-ins of quantities of one body
        self._origin = ORIGIN if target == "cuda" else np.zeros(3)  # as kernels take it
        self.nq, self.nv, self._closed = model.nq, model.nv, constrained_dynamics(model, way)

    def __repr__(self) -> str:
        return f"<System of '{self.model.name}': nq {self.nq}, nv {self.nv}, target {self.target!r}>"

    def __reduce__(self) -> tuple:
        more = self.engine, self.rank_tolerance, self.baumgarte
        return System, (self.model, self.target, self.parameters, self.fast, self.threads, *more)

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
        try:
            Path(path).write_text("\n".join(texts), encoding="utf-8")
        except (OSError, TypeError, ValueError) as fault:
            found = getattr(fault, "strerror", None) or str(fault)
            raise InputError(message(f"export_c, {path!r}", "cannot be written", found, "the path of a file")) from None
        return Path(path)

    def _kernel(self, where: str, quantity: str, *body: str) -> Any:
        """The kernel of a quantity, made by calling it at zero."""
        if isinstance(self._target, PythonTarget):
            raise CompileError(message(where, "nothing is generated", f"target {self.target!r}", "target 'cpu'"))
        method = getattr(type(self), quantity, None) if isinstance(quantity, str) else None
        if not callable(method) or quantity.startswith("_") or quantity in ("source", "export_c"):
            raise UnknownNameError(message(where, "no such quantity", repr(quantity), "a method of System"))
        wanted = [n for n in inspect.signature(method).parameters if n == "body"]
        if len(body) != len(wanted):
            expected = f"{where}({quantity!r}, body)" if wanted else f"{where}({quantity!r})"
            raise InputError(message(where, "which body?", f"{len(body)} names of bodies", expected))
        zeros = {name: list(self.model.zero) for name in ("q", "q0", "q1")}
        names = [n for n in inspect.signature(method).parameters if n not in ("self", "body", "point", "options")]
        method(self, *(zeros.get(n, [0.0] * self.nv) for n in names), *body)
        return next(k for place, k in self._target.kernels.items() if place[: 1 + len(body)] == (quantity, *body))

    # dynamics

    def mass_matrix(self, q: Array, **options: Any) -> Any:
        """Metric tensor M (..., nv, nv).                                        Zoric (97)–(98)"""
        return self._call("mass_matrix", mass_matrix, options, q=q)

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
        return self._call("gravity", gravity, options, q=q)

    def inverse_dynamics(self, q: Array, v: Array, vd: Array, **options: Any) -> Any:
        """M v̇ + bias (..., nv). Takes t, wrench."""
        return self._call("inverse_dynamics", inverse_dynamics, options, q=q, v=v, vd=vd)

    def forward_dynamics(self, q: Array, v: Array, tau: Array, **options: Any) -> Any:
        """v̇ (..., nv), constraints included. Takes t, wrench."""
        return self._call("forward_dynamics", self._forward(), options, q=q, v=v, tau=tau)

    def forward_dynamics_derivatives(self, q: Array, v: Array, tau: Array, **options: Any) -> ForwardDerivatives:
        """∂v̇/∂q (tangent), ∂v̇/∂v, ∂v̇/∂τ. Takes t, wrench."""
        quantity = self._closed.forward_slopes if self._closed else self._forward()
        return self._call("forward_dynamics_derivatives", quantity, options, q=q, v=v, tau=tau)

    def _forward(self) -> Quantity:
        """How accelerations are found: by articulated bodies, or under the constraints."""
        if self._closed:
            return self._closed.forward
        self._check_regular()
        return Absolute.of(self.model).forward if self.engine == "absolute" else forward_dynamics

    def inverse_dynamics_derivatives(self, q: Array, v: Array, vd: Array, **options: Any) -> InverseDerivatives:
        """∂τ/∂q (tangent), ∂τ/∂v, ∂τ/∂v̇. Takes t, wrench."""
        return self._call("inverse_dynamics_derivatives", inverse_dynamics, options, q=q, v=v, vd=vd)

    # constraints

    @property
    def conditions(self) -> ConstrainedDynamics | None:
        """The conditions of its constraints; None without constraints."""
        return self._closed

    @property
    def constraint_names(self) -> list[str]:
        """The rows of all constraints, as in "loop.x"; those of positions come first."""
        return self._closed.names if self._closed else []

    def constraint_forces(self, q: Array, v: Array, tau: Array, **options: Any) -> Reactions:
        """Multipliers λ by row, their generalised force Aᵀλ, rank, dependent rows. Takes t, wrench."""
        return self._call("constraint_forces", self._bound().reactions, options, q=q, v=v, tau=tau)

    def constraint_reactions(self, q: Array, v: Array, tau: Array, **options: Any) -> ConstraintReactions:
        """Multipliers, rank, and the force and torque on body b of each constraint between two bodies (those of
        `connection_names`), in the axes of its frame on body a. Takes t, wrench."""
        bound = self._bound()
        if not self.connection_names:
            found = self.constraint_forces(q, v, tau, **options)
            none = np.zeros((*np.shape(found.multipliers)[:-1], 0, 3))
            return ConstraintReactions(found.multipliers, found.rank, none, none)
        on_scalars = lambda x: constraint_reactions(bound, self.model, x)  # noqa: E731
        return self._call("constraint_reactions", on_scalars, options, q=q, v=v, tau=tau)

    @property
    def connection_names(self) -> list[str]:
        """The constraints between two bodies, in their order."""
        return [constraint.name for constraint in connecting(self.model)]

    def joint_reactions(self, q: Array, v: Array, tau: Array, **options: Any) -> JointReactions:
        """The force and torque that each joint gives to its child, its drive included, in the axes of the joint
        frame, at the child's origin: (..., joints, 3) each. Takes t, wrench."""
        if not self._closed:
            self._check_regular()
        on_scalars = lambda x: joint_reactions(self._closed, self.model, x, forward_dynamics)  # noqa: E731
        return self._call("joint_reactions", on_scalars, options, q=q, v=v, tau=tau)

    def constraint_residuals(self, q: Array, v: Array, **options: Any) -> Residuals:
        """What the constraints miss: φ of positions, r of all rates. Takes t."""
        missed = self._bound().residuals
        if not self._bound().holonomic:
            rates = self.constraint_rates(q, v, **options)
            return Residuals(np.zeros((*np.shape(rates)[:-1], 0)), rates)
        on_scalars = lambda x: Residuals(*missed(x.tree, x.t, x.q, x.v))  # noqa: E731
        return self._call("constraint_residuals", on_scalars, options, q=q, v=v)

    def constraint_rates(self, q: Array, v: Array, **options: Any) -> Any:
        """What the constraints miss in velocities, r (..., k): rates of positions first. Takes t."""
        missed = self._bound().residuals
        return self._call("constraint_rates", lambda x: missed(x.tree, x.t, x.q, x.v)[1], options, q=q, v=v)

    def constraint_rows(self, q: Array, v: Array, **options: Any) -> ConditionRows:
        """What the constraints ask of accelerations, A v̇ = b: A (..., k, nv), b (..., k). Takes t."""
        found = self._bound().rows
        on_scalars = lambda x: ConditionRows(found(x).A, found(x).b)  # noqa: E731
        return self._call("constraint_rows", on_scalars, options, q=q, v=v)

    def project(self, q: Array, v: Array, **options: Any) -> Projected:
        """The state brought to where the constraints hold, by the least change in the mass metric. Takes t."""
        bound = self._bound()
        return self._call("project", lambda x: Projected(*bound.projected(x.tree, x.t, x.q, x.v)), options, q=q, v=v)

    def _bound(self) -> ConstrainedDynamics:
        if self._closed is None:
            where = f"model '{self.model.name}'"
            raise ModelError(message(where, "has no constraints", "a tree alone", "constraints=[…]"))
        return self._closed

    # kinematics

    def pose(self, q: Array, body: str, **options: Any) -> Pose:
        """Position and quaternion of a body frame in the world."""

        def on_scalars(x: Arguments) -> Pose:
            i = x.tree.of_body[body]
            return Pose(kinematics.frames(x.tree, x.q)[i].o, kinematics.orientations(x.tree, x.q)[i])

        return self._call(("pose", body), on_scalars, options, q=q)

    def velocity(self, q: Array, v: Array, body: str, **options: Any) -> Velocity:
        """Velocity of a body frame's origin and its angular velocity, world axes."""

        def on_scalars(x: Arguments) -> Velocity:
            frames = kinematics.frames(x.tree, x.q)
            return Velocity(*kinematics.velocities(x.tree, x.q, frames, x.v)[x.tree.of_body[body]])

        return self._call(("velocity", body), on_scalars, options, q=q, v=v)

    def acceleration(self, q: Array, v: Array, vd: Array, body: str, **options: Any) -> Velocity:
        """Acceleration of a body frame's origin and its angular acceleration, world axes."""

        def on_scalars(x: Arguments) -> Velocity:
            frames = kinematics.frames(x.tree, x.q)
            return Velocity(*kinematics.accelerations(x.tree, x.q, frames, x.v, x.vd)[x.tree.of_body[body]])

        return self._call(("acceleration", body), on_scalars, options, q=q, v=v, vd=vd)

    def jacobian(self, q: Array, body: str, point: Array = ORIGIN, **options: Any) -> Any:
        """(..., 6, nv): three linear rows, three angular, world axes, at a point in body axes."""
        call = lambda x: kinematics.jacobian(x.tree, x.q, x.tree.of_body[body], x.point)  # noqa: E731
        point = self._origin if point is ORIGIN else point
        return self._call(("jacobian", body), call, options, q=q, point=point)

    def jacobian_rate(self, q: Array, v: Array, body: str, point: Array = ORIGIN, **options: Any) -> Any:
        """The time derivative of `jacobian` along the motion (..., 6, nv)."""
        call = lambda x: kinematics.jacobian_rate(x.tree, x.q, x.v, x.tree.of_body[body], x.point)  # noqa: E731
        point = self._origin if point is ORIGIN else point
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

    def _call(self, key: str | Key, quantity: Quantity, options: dict, **given: Array) -> Any:
        """The result of a quantity; of a body, one state may go straight to the kernel."""
        if isinstance(key, str):
            return self._checked((key,), quantity, options, given)
        try:
            direct = self._direct.get(key)
        except TypeError:  # no name at all
            self.model.body(key[1])  # refuses it
            raise
        return self._checked(key, quantity, options, given) if direct is None else direct(*given.values(), **options)

    def _checked(self, key: Key, quantity: Quantity, options: dict, given: dict[str, Array]) -> Any:
        """The result of a quantity, from arguments of any kind."""
        if options.keys() <= {"out"} and not self.parameters:
            quick = self._target.quickly(key, given, options.get("out"), self.threads)
            if quick is not None:
                return quick
        for body in key[1:]:
            self.model.body(body)  # refuses unknown names
        options.setdefault("threads", self.threads)
        call = checked_call(self.model, self.parameters, key[0], given, options, self._target.array)
        result = self._target.evaluate(key, quantity, call)
        if not self.parameters:
            self._bind(key, quantity, tuple(given))
        return result

    def _bind(self, key: Key, quantity: Quantity, names: tuple[str, ...]) -> None:
        """From now on, one state goes straight to the kernel, if there is one."""
        if key in self._direct or key[0] in vars(self):
            return

        def of_body(*arrays: Array, **options: Any) -> Any:
            return self._checked(key, quantity, options, dict(zip(names, arrays, strict=True)))

        direct = self._target.direct(key, names, of_body if len(key) > 1 else getattr(self, key[0]))
        if direct is not None and len(key) > 1:
            self._direct[key] = direct
        elif direct is not None:
            setattr(self, key[0], direct)

    def _check_regular(self) -> None:
        """Refuse a model whose mass matrix is singular in general (once)."""
        if not self._regular:
            check_mass_matrix("forward_dynamics", self.model, self._tree)
            self._regular = True
