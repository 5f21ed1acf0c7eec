"""A model under its inputs, whatever follows its motion: force law, constrained dynamics, faults of user functions."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Any

import numpy as np

from polhode.check.diagnosis import Violations, contradictions, violations
from polhode.constrain.constraint_policy import DEFAULT_POLICY, ConstraintPolicy
from polhode.dynamics import normal_forces
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.kinematics import machine_state, unit_twists
from polhode.errors import InputError, PolhodeError, message, told
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import Kernel, kernel_for
from polhode.kernel.cache import key as cache_key
from polhode.model import ForceElement, Joint, JointKind, Model, make_tree
from polhode.model.per_model_cache import once_each
from polhode.scalar import Scalar, Vec
from polhode.simulation.inputs import Law, acts_on_discrete, law_of, named_inputs, traceable
from polhode.simulation.step_state import Crossing
from polhode.system.constrained_model import constrained_dynamics
from polhode.system.identity import identity_text
from polhode.system.mass_matrix_check import check_mass_matrix
from polhode.system.shared import shared_system
from polhode.system.system import System

ONE_CURVE = "It is called with (t, q, v). A curve over time: ph.Table(times, curve(times)), which is compiled."
"""What to do with an input of another number of arguments."""

AHEAD = 1e-9
"""How far ahead, relative to the time, constraints are evaluated after a run has failed."""


class DrivenModel:
    """A model, its tree and constrained dynamics, under generalised forces; user functions are tried at the start."""

    def __init__(
        self,
        model: Model,
        tau: Any = None,
        policy: ConstraintPolicy = DEFAULT_POLICY,
        crossings: Sequence[Crossing] = (),
        start: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.model, self.tau, self.policy, self.crossings = model, tau, policy, crossings
        self.tree, self.constrained = make_tree(model), constrained_dynamics(model, policy)
        zero = np.array(model.zero)
        self.law, self.law_text = law_of(model, self.tree, tau, zero)
        """The generalised forces of (t, q, v), if any; and a text that identifies them, "" if none can."""
        self.inputs = named_inputs(self.tree, tau, self.law)
        if not self.constrained:
            check_mass_matrix("simulate", model, self.tree)
        self._try(*(start or (zero, np.zeros(model.nv))))

    def _try(self, q: np.ndarray, v: np.ndarray) -> None:
        """Call the user functions once, at the start, so that a mistake is reported before the run."""
        state = 0.0, Vec(q.tolist()), Vec(v.tolist())
        asked: list[tuple[str, Callable[[], Any], int]] = [(f, partial(g, *state), 1) for f, g in self.inputs]
        asked += [(f"event '{c.name}'", partial(c.function, *state), 0) for c in self.crossings]
        for name, function, axes in asked:
            where = f"simulate, {name}"
            try:
                found = np.array(function(), dtype=float)
            except PolhodeError:
                raise
            except Exception as error:
                fix = ONE_CURVE if name.startswith("tau") and isinstance(error, TypeError) else ""
                raise InputError(message(where, "failed at the start", told(error), "finite numbers", fix)) from error
            if found.ndim != axes:
                raise InputError(message(where, "wrong result", f"shape {found.shape}", "one number"))
            if not np.all(np.isfinite(found)):
                fix = acts_on_discrete(self.model, found) if axes and name.startswith("tau") else ""
                shown = str(found.tolist())[:80]
                raise InputError(message(where, "not finite at the start", shown, "finite numbers", fix))

    def check_forces(self, q: np.ndarray, v: np.ndarray, *, hidden: bool = False) -> None:
        """Refuse a start at which a force element has no value, or the motion of a joint.

        hidden  leave out elements whose force is then not a number: the first step will tell
        """
        if not self._has_faults:
            return
        for name, fault in self.joint_faults(q):
            fix = "Start from other coordinates."
            raise InputError(message(f"simulate, joint '{name}'", "cannot move at the start", fault, "a motion", fix))
        for name, fault in self.force_faults(0.0, q, v, hidden=hidden):
            fix = "Start from other positions."
            raise InputError(message(f"simulate, force '{name}'", "has no value at the start", fault, "a value", fix))

    @cached_property
    def _has_faults(self) -> bool:
        """Whether a joint or a force element may have no value at some state."""
        return bool(_joints_with_faults(self.model) or self._forces_with_faults)

    @cached_property
    def has_changing_rows(self) -> bool:
        """Whether there are constraints whose rows depend on the position, which may be a singular one."""
        if not self.constrained:
            return False
        constant = {c.name for c in self.model.constraints if c.kind.has_constant_rows}
        return any(condition.name not in constant for condition in self.constrained.conditions)

    def force_faults(self, t: float, q: np.ndarray, v: np.ndarray, *, hidden: bool = False) -> list[tuple[str, str]]:
        """The force elements that have no value at a state, by name, and why; hidden: without `fault_is_nan`."""
        asked = self._forces_with_faults
        asked = [force for force in asked if not force.fault_is_nan] if hidden else asked
        if not asked:
            return []
        state = machine_state(self.tree, t, Vec(q.tolist()), Vec(v.tolist()))
        found = [(force.name, force.fault(state)) for force in asked]
        return [(name, why) for name, why in found if why]

    @cached_property
    def _forces_with_faults(self) -> list[Any]:
        """The force elements that may have no value at a state."""
        return [force for force in self.tree.forces if type(force).fault is not ForceElement.fault]

    def joint_faults(self, q: np.ndarray) -> list[tuple[str, str]]:
        """The joints whose motion is not defined at coordinates, by name, and why."""
        found = []
        for joint, place in _joints_with_faults(self.model):
            if why := joint.kind.fault(q[place].tolist()):
                found.append((joint.name, why))
        return found

    def untraceable(self) -> list[str]:
        """Why user functions cannot be compiled, one reason each."""
        crossings = [(f"event '{c.name}'", c.function) for c in self.crossings]
        found = [traceable(self.model, function, what) for what, function in (*self.inputs, *crossings)]
        return [reason for reason in found if reason]

    @cached_property
    def has_opaque_forces(self) -> bool:
        """Whether a force element of the model cannot be compiled."""
        return any(traceable(self.model, function, what) for what, function in named_inputs(self.tree, None, None))

    @cached_property
    def normal_forces(self) -> list[tuple[str, Law]]:
        """The normal forces that friction depends on, of (t, q, v), each with what a failure says of it."""
        return [
            (
                f"normal force of joint '{joint}' (no or several solutions, Painlevé; force '{force.name}')",
                partial(self._normal_force, joint),
            )
            for force in self.tree.forces
            for joint in force.loaded_joints
        ]

    @cached_property
    def _loading(self) -> list[Any]:
        """The force elements that depend on normal forces of joints."""
        return [force for force in self.tree.forces if force.loaded_joints]

    def unloaded(self, q: np.ndarray, v: np.ndarray) -> list[str]:
        """Which joints bear no normal force at a start though friction depends on it, in words."""
        if not self._loading:
            return []
        state, found = (0.0, Vec(q.tolist()), Vec(v.tolist())), []
        for force in self._loading:
            for joint in force.loaded_joints:
                if float(self._normal_force(joint, *state)[0]) == 0.0:
                    what = f"joint '{joint}' bears no normal force at the start"
                    found.append(f"{what}: the coefficient of force '{force.name}' has nothing to act on")
        return found

    def _normal_force(self, joint: str, t: Scalar, q: Vec, v: Vec) -> Vec:
        """The normal force of a joint, N, as one number."""
        tau = Vec(self.law(t, q, v)) if self.law else Vec([0.0] * self.tree.nv)
        return Vec([self.normals(Arguments(self.tree, q, v, tau=tau, t=t))[joint]])

    def normals(self, x: Arguments) -> Mapping[str, Scalar]:
        """The normal forces that elements depend on, N, at a state of floats; under constraints by a kernel."""
        if not self.constrained:
            return normal_forces.solved(x) or {}
        given, found = [np.array(part, dtype=float) for part in (x.q, x.v, x.tau)], dict[str, Scalar]()
        forces = dict(zip(self._joint_names, self.system.joint_reactions(*given, t=float(x.t)).force, strict=True))
        for e in self.tree.elements:
            if e.joint in normal_forces.loaded_joints(self.tree):
                along = np.array(unit_twists(e, x.q)[0].linear, dtype=float)
                found[e.joint] = float(np.linalg.norm(forces[e.joint] - (forces[e.joint] @ along) * along))
        return found

    @cached_property
    def _joint_names(self) -> list[str]:
        return [joint.name for joint in self.model.joints]

    @cached_property
    def system(self) -> System:
        """The same model as a System, for quantities besides those of the run."""
        return shared_system(self.model, self.policy)

    def forces(self, time: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """The generalised forces of the inputs at samples (n, nv); None where there is no law."""
        law = self.law
        if law is None:
            return None
        if self._law_kernel is not None:
            (found,) = self._law_kernel(*(np.ascontiguousarray(x) for x in (time, q, v)))
            return np.array(np.broadcast_to(found, (len(time), self.model.nv)))
        found = np.full((len(time), self.model.nv), np.nan)
        for k, (t, q_k, v_k) in enumerate(zip(time.tolist(), q.tolist(), v.tolist(), strict=True)):
            with suppress(Exception):  # where a run failed by its input
                found[k] = law(t, Vec(q_k), Vec(v_k))
        return found

    @cached_property
    def _law_kernel(self) -> Kernel | None:
        law, nq, nv = self.law, (self.model.nq,), (self.model.nv,)
        if not self.model.nv or law is None or traceable(self.model, law, "tau"):
            return None
        known = identity_text(self.model) and self.law_text
        key = cache_key(identity_text(self.model), self.law_text, "inputs") if known else ""
        title = f"{self.model.name}: inputs"
        return kernel_for(key, lambda: trace(law, t=(), q=nq, v=nv), title, 1, quick=True, keep=True)

    def violations(self, time: np.ndarray, q: np.ndarray, v: np.ndarray) -> Violations:
        """The residuals of constraints at samples of a run."""
        return violations(self.system, time, q, v)

    def contradictions(self, t: float, q: np.ndarray, v: np.ndarray, ahead: Sequence[float]) -> str:
        """Which constraints contradict each other at a state or some seconds ahead of it; "" if none."""
        for h in (0.0, *ahead, AHEAD * max(abs(t), 1.0)):
            A, b = self.system.constraint_rows(q, v, t=t + h)
            broken = ~np.all(np.isfinite(np.column_stack([A, b])), axis=1)
            if np.any(broken):
                listed = ", ".join(f"'{n}'" for n, yes in zip(self.system.constraint_names, broken, strict=True) if yes)
                return f"constraint {listed} has no finite derivative at t = {t + h:.9g}"
            if found := contradictions(self.system, q, v, t + h):
                names = ", ".join(f"'{name}' by {value:.3g}" for name, value in found.items())
                return f"constraints contradict each other: {names}"
        return ""


@once_each
def _joints_with_faults(model: Model) -> list[tuple[Joint, slice]]:
    """The joints whose motion may not be defined everywhere, and where their coordinates lie."""
    found, at = [], 0
    for joint in model.joints:
        if type(joint.kind).fault is not JointKind.fault:
            found.append((joint, slice(at, at + joint.nq)))
        at += joint.nq
    return found
