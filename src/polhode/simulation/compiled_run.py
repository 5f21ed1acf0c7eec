"""The steps of one run, compiled: a step state from the one before, and the state within a step.

A user function that cannot be traced (one that branches on values) runs in Python, by the same functions.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from polhode.constrain.constrained_dynamics import ConstrainedDynamics
from polhode.constrain.constraint_policy import DEFAULT_POLICY, ConstraintPolicy
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.forces import updated
from polhode.dynamics.normal_forces import loaded_joints, solved
from polhode.dynamics.power import has_contacts, powers, stored_in_contacts
from polhode.dynamics.stiffness import stiff_matrices
from polhode.dynamics.with_forces import forward_dynamics
from polhode.errors import InputError, message, told, warn_caller
from polhode.integrate.adaptive import initial_step
from polhode.integrate.integrals import factor_size
from polhode.integrate.method import Machine, Method
from polhode.kernel import Symbol, trace
from polhode.kernel.backends.llvm.compile import Kernel, batch_kernel_for, kernel_for, lanes
from polhode.kernel.backends.llvm.hoisted_kernel import hoisted_kernel_for
from polhode.kernel.backends.llvm.in_place import BoundKernel, KeptChain, RowChain
from polhode.kernel.cache import key as cache_key
from polhode.linalg.sparse_loops import StiffMatrices
from polhode.model import Model, Tree, regrouped
from polhode.model.per_model_cache import once_each
from polhode.scalar import Loops, SharedFunction, Vec, flat, is_zero
from polhode.simulation import step_state
from polhode.simulation.driven_model import DrivenModel
from polhode.simulation.events.element_events import (
    ElementJumps,
    RunElementEvent,
    TakenEvent,
    Watch,
    element_events,
    guards,
)
from polhode.simulation.events.switch_log import SwitchLog
from polhode.simulation.events.switch_passage import passage
from polhode.simulation.events.switches_in_blocks import SwitchPassages, put_samples_at_switches
from polhode.simulation.inputs import acts_on_discrete, law_of, ours
from polhode.simulation.machine import Input, machine
from polhode.simulation.switching import Switching, smooth_switching
from polhode.simulation.within_steps.step_motions import StepMotions, WithinSteps
from polhode.system.algorithms import ChosenDynamics, chosen_dynamics
from polhode.system.catalogue import dynamics
from polhode.system.constrained_model import number_inputs
from polhode.system.identity import identity_text
from polhode.system.number_inputs import NumberInputs
from polhode.system.quantity import SystemSpec

SHORT = 1e-6
"""A first step, s, where the acceleration at the start suggests none."""

UNBOUNDED = 1e50
"""A state with a larger number has diverged by itself: no input is to blame."""

WRITTEN = 50
"""Numbers of a state up to which the stages of a step are written out, each with sums of its own; beyond, a loop over
stages keeps the code, and the time to compile it, small."""

WRITTEN_CONSTRAINED = 30
"""The same under constraints, where accelerations take so much longer than sums over stages."""

OPTIMISED = 120
"""Numbers of a state up to which kernels of samples, in lanes, are optimised as steps are: samples of `arm-7` then take
half the time, those of `stewart-platform` and of a closed chain of 50 links three quarters. Of forty four-bars, 240
numbers, they would take 0.95 of it, and LLVM 8 s more."""

ROOM = 2**20
"""Bytes of a block of step states whose memory is kept for the next run, at most: malloc gives it back to the system,
which fills it with zeros again, page by page (`arm-7`: 0.3 ms of the second run in a process)."""

ROOMS = 2
"""Blocks whose memory is kept: of a run, and of the steps between its samples."""

INLINE = 250
"""Operations of an acceleration up to which it is written out at every stage of a step, so that stages share what they
can; a larger one is one routine that all stages call, compiled once."""


@dataclass(frozen=True)
class RunSpec:
    """The specification of compiled steps: a model under inputs, a method, crossings to watch for."""

    model: Model
    method: Method
    fixed: bool
    """Equal steps, or steps under control of their error."""
    tau: Any = None
    crossings: tuple[step_state.Crossing, ...] = ()
    norm: str = "state"
    """What keeps quaternions at unit length: "state", or "none"; Lie-group methods need neither."""
    start: tuple[np.ndarray, np.ndarray] | None = None
    """q and v at the start, where user functions are tried."""
    held: bool = False
    """Whether forces are held over each segment of the run."""
    policy: ConstraintPolicy = DEFAULT_POLICY
    """Constraint policy: engine, rank tolerance, stabilisation."""
    interior: bool = False
    """Whether a step sees times of its interior only: functions may jump at its ends."""
    switching: Switching | None = None
    """Switching functions of the state, at whose zeros steps end; None: there are none."""
    work: tuple[str, ...] = ()
    """Sources of work that is integrated along the run; see `dynamics.power`."""
    watches_elements: bool = True
    """Whether steps end at events of force elements."""


class WatchedValues(NamedTuple):
    """What events of elements depend on, at a state.

    values        of the functions of all crossings, then of the surfaces
    acceleration  (nv,)
    normals       the normal forces of joints that elements depend on, N
    """

    values: np.ndarray
    acceleration: np.ndarray
    normals: np.ndarray


class CompiledRun:
    """A RunSpec, checked and ready to run."""

    def __init__(self, spec: RunSpec, warn: bool = True) -> None:
        self.spec, self.model = spec, spec.model
        self.driven = driven = DrivenModel(spec.model, spec.tau, spec.policy, spec.crossings, spec.start)
        self.tree, self.constrained, self.law = driven.tree, driven.constrained, driven.law
        self._rooms: list[np.ndarray] = []  # while no run uses them
        self._loops_stages = True  # of a state of many numbers, stages are a loop and not written out
        self._has_loops = True  # steps may go in loops
        self.raised = ""
        self.pace = 0.0  # step states a second, of the last block of the last run
        """What a user function raised during the run, and where."""
        self.in_python = driven.untraceable()
        """Why steps run in Python, one reason for each user function; empty: they are compiled."""
        if self.constrained and spec.method.meets_constraints:
            self._check_multipliers(self.constrained)
        for reason in self.in_python if warn else ():
            warn_caller(f"simulate: {reason}; Python runs in the loop, which is slow.")

    def _check_multipliers(self, constrained: ConstrainedDynamics) -> None:
        """Refuse what steps that solve for multipliers cannot take: a singular mass matrix, inputs in Python."""
        keeping, method = self.spec.policy.keeping, self.spec.method.name
        where, name, other = "simulate, constraints", repr(keeping), "take constraints='project'"
        if keeping == "project":
            where, name, other = "simulate, method", repr(method), "take method='implicit-midpoint'"
        if constrained.scales.singular_mass and keeping != "index-3":
            fix = f"Give every body mass and inertia, or {other}."
            found = f"model '{self.model.name}', whose mass matrix is singular"
            raise InputError(message(where, f"{name} needs M⁻¹", found, "a regular one", fix))
        if self.in_python:
            fix = f"Write it on generic scalars (polhode.sin, polhode.where, …), or {other}."
            raise InputError(
                message(f"{where} {name}", "needs compiled inputs", self.in_python[0], "none in Python", fix)
            )

    # on generic scalars

    def setup(self, level: Vec | None = None) -> step_state.Setup:
        """Method, machine and crossings; level: forces held over a period.

        Where none are held, all kernels of a run have the same, and with it the routine of a step that goes in loops.
        """
        return self._new_setup(level) if self.spec.held else self._setup_unheld

    def _new_setup(self, level: Vec | None) -> step_state.Setup:
        spec = self.spec
        surfaces = partial(spec.switching.values, tree=self.tree) if spec.switching else None
        law: Input | None = self.law
        if spec.held:
            law = lambda t, q, v: level or Vec()  # noqa: E731
        forward = forward_dynamics if self.driven.has_opaque_forces and not self.constrained else self._forward
        made = machine(self.tree, law, forward)
        most = WRITTEN_CONSTRAINED if self.constrained else WRITTEN
        made = made._replace(is_large=self._loops_stages and self.model.nq + self.model.nv > most)
        if spec.work:
            made = made._replace(integrands=partial(self._powers, level), integrals=len(spec.work))
            if has_contacts(self.tree, spec.work):
                made = made._replace(stored=lambda q: stored_in_contacts(self.tree, q, spec.work))
        if spec.norm == "none":
            made = made._replace(normalized=lambda q: q)
        crossings = spec.crossings
        if spec.watches_elements:
            crossings = (*crossings, *guards(self.tree, made.acceleration, partial(self._normals, law)))
        sampled = any(force.sampled for force in self.tree.forces)
        update = partial(updated, self.tree) if sampled else None
        more = spec.interior, surfaces, update
        project = land = None
        if self.constrained:
            made = made._replace(stiff_matrices=self._stiff_matrices)
            if spec.method.meets_constraints:
                nothing = Vec([0.0] * self.model.nv)
                given = (lambda t, q, v: Vec(law(t, q, v))) if law else (lambda t, q, v: nothing)
                made = made._replace(constraints=self.constrained.step_constraints(self.tree, given))
            if spec.policy.keeping == "project":
                made, project, land = made._replace(tangent=self._tangent), self.project, self.land
        made, method = made._replace(written_out=not self._has_loops), spec.method
        if method.with_routine and self._has_loops and not spec.interior:
            method = method.with_routine(method, made)
        return step_state.Setup(method, made, crossings, project, land, *more)

    def _stiff_matrices(self, r: Loops, t: Any, q: Vec, v: Vec, stressed: Vec) -> StiffMatrices:
        """Inertia, damping, stiffness and the rows of constraints, in loops."""
        assert self.constrained
        x = Arguments(self.tree, q, v, t=t)
        return stiff_matrices(r, x, self.constrained.rows_at_rest(x), stressed)

    def _normals(self, law: Input | None, t: Any, q: Vec, v: Vec) -> Mapping[str, Any] | None:
        """The normal forces of joints that elements depend on; None where none does."""
        if not loaded_joints(self.tree):
            return None
        tau = Vec(law(t, q, v)) if law else Vec([0.0] * self.model.nv)
        x = Arguments(self.tree, q, v, tau=tau, t=t)
        if not self.constrained:
            return solved(x)
        return self.constrained.with_normals(x).normals if _is_traced(q, v) else self.driven.normals(x)

    def _powers(self, level: Vec | None, t: Any, q: Vec, v: Vec, vd: Vec) -> Vec:
        """The powers of the sources of work.  level: forces held over a period

        Traced, they are a routine of their own that shares nothing with the steps, which so keep their bits.
        """
        return self._shared_powers(Vec([t]), q, v, vd, level or Vec())

    @cached_property
    def _shared_powers(self) -> SharedFunction:
        tree, law, spec, none = self.tree, self.law, self.spec, Vec([0.0] * self.model.nv)
        constrained = self.constrained

        def found(t: Vec, q: Vec, v: Vec, vd: Vec, level: Vec) -> Vec:
            tau = level if spec.held else Vec(law(t[0], q, v)) if law else none
            x = Arguments(tree, q, v, tau=tau, t=t[0])
            return powers(constrained.with_normals(x) if constrained else x, vd, spec.work, whole_contacts=True)

        return SharedFunction("powers", found)

    def on_tree(self, tree: Tree, law: Input | None = None, rolled: bool = True) -> "CompiledRun":
        """The same spec for a tree with symbols among its numbers, and perhaps another law, to be traced.

        rolled  False: no loops over the elements, however many there are, nor over parts of a step
        """
        chosen = self._acceleration
        own = tree if chosen.tree is self.tree else regrouped(tree)
        return self._on(tree, self.constrained, chosen._replace(tree=own, rolled=chosen.rolled and rolled), law, rolled)

    def on_numbers(
        self,
        inputs: NumberInputs,
        numbers: Vec,
        given: Mapping[str, Any] | None = None,
        law: Input | None = None,
        rolled: bool = True,
    ) -> "CompiledRun":
        """The same with symbols for all numbers of the model; given: for some of them others, by path."""
        tree = inputs.tree(numbers, given)
        constrained = self.constrained.with_scales(inputs.more(numbers)) if self.constrained else None
        own = SystemSpec.of(self.model, self.tree, self.spec.policy, self.constrained, self.inputs)
        chosen = chosen_dynamics(dynamics.forward_dynamics, own, replace(own, tree=tree, constrained=constrained))
        return self._on(tree, constrained, chosen._replace(rolled=chosen.rolled and rolled), law, rolled)

    def _on(
        self,
        tree: Tree,
        constrained: ConstrainedDynamics | None,
        chosen: ChosenDynamics,
        law: Input | None,
        rolled: bool,
    ) -> "CompiledRun":
        law = law or law_of(self.model, tree, self.spec.tau, np.array(self.model.zero))[0]
        given = {"tree": tree, "constrained": constrained, "law": law, "like": self.like, "_acceleration": chosen}
        return self.changed(**given, _loops_stages=self.spec.policy.compact, _has_loops=rolled)

    def changed(self, **fields: Any) -> "CompiledRun":
        """The same with other inputs, or of another tree, and nothing kept that followed from those."""
        other, of_inputs = copy(self), ("_shared_powers", "_setup_unheld")
        for name in ("_shared", "_projection", "_along", *of_inputs) if "tree" in fields else of_inputs:
            vars(other).pop(name, None)
        vars(other).update(fields)
        return other

    @cached_property
    def inputs(self) -> NumberInputs | None:
        """The numbers of the model that its kernels take; None where they fold, as with user functions."""
        spec = self.spec
        may = self.key and not (spec.switching and spec.switching.traced) and spec.policy.engine != "absolute"
        return number_inputs(self.model, spec.policy) if may and self.model.number_inputs else None

    def kernel_of(
        self,
        make: Callable[["CompiledRun"], Callable],
        shapes: Mapping[str, tuple[int, ...]],
        title: str,
        more: Sequence[str] | None = (),
        quick: bool = False,
        width: int = 1,
    ) -> Any:
        """The kernel of a function of generic scalars that a run gives, for arguments of these shapes.

        more   words that tell it from other kernels of the run; None: it is not kept
        quick  whether it is called a few times only
        width  lanes: of several, batches are asked for a few times only
        """
        title, inputs = f"{self.model.name}: {title}", self.inputs
        if inputs is None or more is None:
            key = "" if more is None or not self.key else cache_key(self.key, *more)
            traced = lambda: trace(make(self), **shapes)  # noqa: E731
            if width > 1:
                return batch_kernel_for(key, traced, title, quick)
            return kernel_for(key, traced, title, 1, quick=quick, keep=True, later=True)

        def function(*, numbers: Vec, **given: Any) -> Any:
            run = self.on_numbers(inputs, numbers)
            run._loops_stages = True
            return make(run)(**given)

        graph = lambda: trace(function, **shapes, numbers=inputs.values.shape)  # noqa: E731
        name, single = self.key_of(inputs, *more), width == 1
        made = hoisted_kernel_for(name, graph, ["numbers"], title, width, single=single, later=True)
        return made.bound(inputs.values)

    @cached_property
    def _acceleration(self) -> ChosenDynamics:
        """The algorithm of v̇."""
        spec = SystemSpec.of(self.model, self.tree, self.spec.policy, self.constrained)
        return chosen_dynamics(dynamics.forward_dynamics, spec)

    def _forward(self, x: Arguments) -> Vec:
        """v̇ of the arguments of a call."""
        if not _is_traced(x.q, x.v):
            by_kernel = self.constrained or (self.in_python and _are_floats(x.q, x.v, x.tau))
            return self._on_floats(x) if by_kernel else forward_dynamics(x._replace(tree=self.tree))
        chosen = self._acceleration
        own = x._replace(tree=chosen.tree)
        is_small = chosen.operations is not None and chosen.operations <= INLINE
        if is_small or (self.constrained and self.constrained.is_shared(own)):
            return chosen.function(own)
        times = Vec([x.t, x.ahead] if self.spec.method.damps_ahead else [x.t])
        return self._shared(times, x.q, x.v, x.tau)

    @cached_property
    def _shared(self) -> SharedFunction:
        """v̇ of times (t, and how far ahead the damping of joints is taken, where it is), q, v, τ."""
        function, tree, rolled, _ = self._acceleration

        def acceleration(times: Vec, q: Vec, v: Vec, tau: Vec) -> Vec:
            t, ahead = (*times, 0.0)[:2]
            return function(Arguments(tree, q, v, tau=tau, t=t, ahead=ahead, rolled=rolled))

        return SharedFunction("acceleration", acceleration, busy=True)

    def _on_floats(self, x: Arguments) -> Vec:
        """v̇ of plain numbers by a kernel: conditions are derivatives of a graph, and around a user function in Python
        the machine need not run there too. A step of `double-pendulum` takes a tenth of the time."""
        state, system = [np.array(part, dtype=float) for part in (x.q, x.v, x.tau)], self.driven.system
        if not is_zero(x.ahead):
            return Vec(self._damped_kernel(np.array([x.t, x.ahead]), *state)[0].tolist())
        return Vec((system.forward_dynamics(*state, t=x.t) if x.t else system.forward_dynamics(*state)).tolist())

    @cached_property
    def _damped_kernel(self) -> Kernel:
        """v̇ with the damping of joints as it is later, of (t, how much later), q, v and the forces τ."""
        sizes = {"times": 2, "q": self.model.nq, "v": self.model.nv, "tau": self.model.nv}

        def make(run: CompiledRun) -> Callable[..., Vec]:
            return lambda times, q, v, tau: run._forward(Arguments(run.tree, q, v, tau=tau, t=times[0], ahead=times[1]))

        return self.kernel_of(make, {name: (n,) for name, n in sizes.items()}, "damped acceleration", ["damped"], True)

    def project(self, t: Any, q: Vec, v: Vec) -> tuple[Vec, Vec]:
        """The state brought back to where the constraints hold."""
        if not _is_traced(q, v):
            found = self.driven.system.project_step([*q], [*v], t=t)
            return Vec(found.q.tolist()), Vec(found.v.tolist())
        return self.land(t, q, v)[:2]

    def land(self, t: Any, q: Vec, v: Vec) -> tuple[Vec, Vec, Vec]:
        """The same, and what the rows of the constraints have left there."""
        if not _is_traced(q, v):
            return *self.project(t, q, v), Vec(self.driven.system.constraint_pivots([*q], t=t).tolist())
        found = iter(self._projection(Vec([t]), q, v))
        new_q, new = (Vec(islice(found, len(x))) for x in (q, v))
        return new_q, new, Vec(found)

    def _tangent(self, t: Any, q: Vec, v: Vec, changes: list[Vec]) -> list[Vec]:
        """The parts of small changes of the state along the constraints; on floats they stay whole."""
        if not _is_traced(q, v):
            return changes
        found = self._along(Vec([t]), q, v, Vec([x for change in changes for x in change]))
        size = len(q) + len(v)
        return [Vec(found[k * size : (k + 1) * size]) for k in range(len(changes))]

    @cached_property
    def _along(self) -> SharedFunction:
        constrained, tree = self.constrained, self.tree
        assert constrained is not None

        def along(t: Vec, q: Vec, v: Vec, changes: Vec) -> Vec:
            size = len(q) + len(v)
            parts = [Vec(changes[k : k + size]) for k in range(0, len(changes), size)]
            return Vec(flat(constrained.tangent(tree, t[0], q, v, parts)))

        return SharedFunction("tangent", along)

    @cached_property
    def _projection(self) -> SharedFunction:
        constrained, tree = self.constrained, self.tree
        assert constrained is not None
        return SharedFunction("project", lambda t, q, v: Vec(flat(constrained.landing(tree, t[0], q, v))))

    # compiled

    @property
    def is_watching(self) -> bool:
        """Whether steps end at crossings or switches."""
        return bool(self.crossings) or self.spec.switching is not None

    @cached_property
    def crossings(self) -> tuple[step_state.Crossing, ...]:
        """Those of the events of the run, then those of the events of force elements."""
        return self._setup_unheld.crossings

    @cached_property
    def element_events(self) -> tuple[RunElementEvent, ...]:
        """The events of force elements."""
        return element_events(self.model)

    def element_jumps(self, level: np.ndarray | None = None, taken: list[TakenEvent] | None = None) -> ElementJumps:
        """What events of elements change, on plain floats.

        level  forces held over a period
        taken  gets the events that take place
        """
        if self._watch_is_compiled:
            return ElementJumps(self.tree, self._compiled_watch(level), None, taken)
        rows = (lambda t, q, v: self.driven.system.constraint_rows(q, v, t=t)) if self.constrained else None
        law: Input | None = self.law if level is None else lambda t, q, v: Vec(level.tolist())
        acceleration = self.setup(_vector(level)).machine.acceleration
        return ElementJumps(self.tree, Watch(acceleration, partial(self._normals, law)), rows, taken)

    # what events of elements depend on

    @property
    def _watch_is_compiled(self) -> bool:
        """Whether a kernel computes what events of elements depend on."""
        return bool(self.element_events) and self.spec.watches_elements and not self.in_python and not self.constrained

    def _compiled_watch(self, level: np.ndarray | None) -> Watch:
        first, joints = len(self.spec.crossings), loaded_joints(self.tree)
        known: dict[tuple[float, bytes, bytes], WatchedValues] = {}

        def there(t: float, q: np.ndarray, v: np.ndarray) -> WatchedValues:
            key = t, q.tobytes(), v.tobytes()
            if key not in known:
                known[key] = self._watched(t, q, v, level)
            return known[key]

        def on_vectors(t: float, q: Vec, v: Vec) -> WatchedValues:
            return there(t, np.array(q, dtype=float), np.array(v, dtype=float))

        def normals(t: float, q: Vec, v: Vec) -> Mapping[str, Any] | None:
            return dict(zip(joints, on_vectors(t, q, v).normals.tolist(), strict=True)) if joints else None

        return Watch(
            lambda t, q, v: Vec(on_vectors(t, q, v).acceleration.tolist()),
            normals,
            lambda t, q, v: there(t, q, v).values[first : len(self.crossings)],
            self.driven.system.mass_matrix,
        )

    def _watched(self, t: float, q: np.ndarray, v: np.ndarray, level: np.ndarray | None) -> WatchedValues:
        found = self._watch_kernel(t, q, v, *([level] if self.spec.held else []))[0]
        end = len(found) - len(loaded_joints(self.tree))
        return WatchedValues(found[: end - self.model.nv], found[end - self.model.nv : end], found[end:])

    @cached_property
    def _watch_kernel(self) -> Kernel:
        shapes: dict[str, tuple[int, ...]] = {"t": (), "q": (self.model.nq,), "v": (self.model.nv,)}
        if self.spec.held:
            shapes["level"] = (self.model.nv,)

        def function(run: CompiledRun, t: Any, q: Vec, v: Vec, level: Vec | None = None) -> Vec:
            setup, held = run.setup(level), level or Vec()
            normals = run._normals((lambda t, q, v: held) if run.spec.held else run.law, t, q, v) or {}
            return Vec((*step_state.values_of(setup, t, q, v), *setup.machine.acceleration(t, q, v), *normals.values()))

        title = "what events depend on"
        return self.kernel_of(lambda run: partial(function, run), shapes, title, ["events"], quick=True)

    def start(
        self,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        h: float,
        level: np.ndarray | None = None,
        g: np.ndarray | None = None,
        work: np.ndarray | None = None,
    ) -> np.ndarray:
        """The first step state of a run from a state.

        g     the functions of crossings and surfaces, where known
        work  done so far, by source; None: none
        """
        if not self.is_watching and not self.spec.method.start:  # nothing is computed
            return self._plain_start(t, q, v, h, work)
        if g is None and self._watch_is_compiled:
            g = self._watched(t, q, v, level).values
        elif g is None and self.spec.switching and not self.crossings:
            g = np.array(self.surfaces(t, q, v))
        if g is not None and not self.spec.method.start:
            return self._plain_start(t, q, v, h, work, g)
        make = step_state.fixed_start if self.spec.fixed else step_state.adaptive_start
        first = make(self.setup(_vector(level)), t, Vec(q.tolist()), Vec(v.tolist()), h, _vector(g), _vector(work))
        return np.array(flat(first), dtype=float)

    def surfaces(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[float, ...]:
        """The switching functions at a state; where no user function is in them, those of some states are kept: a run
        asks for those of its start three times."""
        assert self.spec.switching
        if self.spec.switching.functions:
            return self.spec.switching.values(t, Vec(q.tolist()), Vec(v.tolist()), self.tree)
        return self._known_surfaces(t, q.tobytes(), v.tobytes())

    @cached_property
    def _known_surfaces(self) -> Callable[[float, bytes, bytes], tuple[float, ...]]:
        """The switching functions of states, given as bytes."""
        switching, tree = self.spec.switching, self.tree
        assert switching

        @lru_cache(maxsize=64)
        def known(t: float, q: bytes, v: bytes) -> tuple[float, ...]:
            return switching.values(t, Vec(np.frombuffer(q).tolist()), Vec(np.frombuffer(v).tolist()), tree)

        return known

    def _plain_start(
        self,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        h: float,
        work: np.ndarray | None = None,
        g: np.ndarray | None = None,
    ) -> np.ndarray:
        """The first step state of a run by a method without memory.  g: the functions of crossings and surfaces"""
        found, places = self._blank.copy(), self._places
        found[places["q"]], found[places["v"]] = q, v
        if g is not None:
            found[places["g"]] = found[places["g_before"]] = g
        if not self.spec.fixed:
            found[places["t"]] = found[places["t0"]] = t
            found[places["h"]] = found[places["h0"]] = h
        keeps = not self.spec.fixed or g is not None  # where the last step began
        if keeps:
            before = found[places["before"]]
            before[: len(q)], before[len(q) :] = q, v
        if work is not None:
            found[places["work"]] = work
            if keeps:
                found[places["work_before"]] = work
        return found

    @cached_property
    def _blank(self) -> np.ndarray:
        """A first step state, in which t, q, v and h are to be filled in."""
        return np.array(flat(self.like), dtype=float)

    def first_step(self, t: float, q: np.ndarray, v: np.ndarray, tolerance: float, level: np.ndarray | None) -> float:
        """A first step for steps under control."""
        if self.constrained and self.key:
            return self._known_first_step(
                t, q.tobytes(), v.tobytes(), tolerance, b"" if level is None else level.tobytes()
            )
        return self._first_step(t, q, v, tolerance, level)

    @cached_property
    def _known_first_step(self) -> Callable[[float, bytes, bytes, float, bytes], float]:
        """The first step of a machine under constraints, where it takes as long as hundreds of later ones; arrays as
        bytes."""

        @lru_cache(maxsize=64)
        def known(t: float, q: bytes, v: bytes, tolerance: float, level: bytes) -> float:
            held = np.frombuffer(level) if level else None
            return self._first_step(t, np.frombuffer(q), np.frombuffer(v), tolerance, held)

        return known

    def _first_step(self, t: float, q: np.ndarray, v: np.ndarray, tolerance: float, level: np.ndarray | None) -> float:
        if self._first_kernel:
            extra = [level] if self.spec.held else []
            h = float(self._first_kernel(t, q, v, tolerance, *extra)[0])
            return h if 0 < h < np.inf else SHORT
        setup = self.setup(_vector(level))
        try:
            h = float(initial_step(setup.method, setup.machine, t, Vec(q.tolist()), Vec(v.tolist()), tolerance))
        except ArithmeticError:  # 1/0 of floats, where arrays and compiled code have infinities
            h = 0.0
        return h if 0 < h < np.inf else SHORT

    @cached_property
    def _first_kernel(self) -> Kernel | None:
        """The first step, compiled, of a machine without constraints that is known on disk: Python takes long."""
        if self.constrained or self.in_python or not self.key:
            return None
        shapes: dict[str, tuple[int, ...]] = {"t": (), "q": (self.model.nq,), "v": (self.model.nv,), "tolerance": ()}
        if self.spec.held:
            shapes["level"] = (self.model.nv,)

        def function(run: CompiledRun, t: Any, q: Vec, v: Vec, tolerance: Any, level: Vec | None = None) -> Any:
            setup = run.setup(level)
            return initial_step(setup.method, setup.machine, t, q, v, tolerance)

        return self.kernel_of(lambda run: partial(function, run), shapes, "first step", ["first step"], quick=True)

    def ahead(
        self, t: float, q: np.ndarray, v: np.ndarray, h: float, level: np.ndarray | None = None
    ) -> tuple[float, Vec, Vec]:
        """The state a moment later, by one step of Euler's, on plain floats."""
        state = t, Vec(q.tolist()), Vec(v.tolist())
        return _euler_step(self.setup(_vector(level)).machine, *state, h) if h else state

    def moment_later(self, t: float, q: np.ndarray, v: np.ndarray, h: float, level: np.ndarray | None) -> np.ndarray:
        """t, q, v, crossings and surfaces a moment later, by one step of Euler's: of the side where it begins alone."""
        if self.in_python:
            return np.array(self._moment(_vector(level))(t, Vec(q.tolist()), Vec(v.tolist()), h), dtype=float)
        extra = [level] if self.spec.held else []
        return self._moment_kernel(t, q, v, h, *extra)[0]

    def moments_later(
        self, t: float, q: np.ndarray, v: np.ndarray, sizes: np.ndarray, level: np.ndarray | None
    ) -> np.ndarray:
        """(n, m)  `moment_later` of several sizes (n,), each from the same state."""
        if self.in_python:
            return np.array([self.moment_later(t, q, v, h, level) for h in sizes.tolist()])
        extra = [level] if self.spec.held else []
        found: np.ndarray = self._moment_kernel(t, q, v, sizes, *extra)[0]
        return found

    def _moment(self, level: Vec | None = None) -> Callable[..., Vec]:
        """`moment_later` as a function of (t, q, v, h) on generic scalars."""
        setup = self.setup(level)

        def later(t: Any, q: Vec, v: Vec, h: Any) -> Vec:
            return step_state.with_values(setup, *_euler_step(setup.machine, t, q, v, h))

        return later

    @cached_property
    def _moment_kernel(self) -> Kernel:
        shapes: dict[str, tuple[int, ...]] = {"t": (), "q": (self.model.nq,), "v": (self.model.nv,), "h": ()}
        if self.spec.held:
            shapes["level"] = (self.model.nv,)

        def function(run: CompiledRun, t: Any, q: Vec, v: Vec, h: Any, level: Vec | None = None) -> Vec:
            return run._moment(level)(t, q, v, h)

        return self.kernel_of(
            lambda run: partial(function, run), shapes, "a moment later", ["a moment later"], quick=True
        )

    def blame(self, t: float, q: np.ndarray, v: np.ndarray, sizes: Sequence[float], level: np.ndarray | None) -> str:
        """Which input is no finite number at a state or just ahead of it; "" if none, or if the state is to blame."""
        if not np.max(abs(np.concatenate([q, v])), initial=0.0) < UNBOUNDED:
            return ""
        if self.constrained and (found := self.driven.contradictions(t, q, v, sizes)):
            return found
        for h in (0.0, *sizes):
            try:
                state = self.ahead(t, q, v, h, level)
            except Exception:
                return ""
            for name, fault in self.driven.joint_faults(np.array(state[1])):
                return f"joint '{name}' cannot move: {fault}"
            for name, fault in self.driven.force_faults(state[0], *map(np.array, state[1:])):
                return f"force '{name}' has no value: {fault}"
            for name, function in (*self.driven.inputs, *self.driven.normal_forces):
                try:
                    values = np.array(function(*state), dtype=float)
                except Exception as error:
                    return f"{name} {told(error)}"
                if not np.all(np.isfinite(values)):
                    why = acts_on_discrete(self.model, values) if name.startswith("tau") else ""
                    why = f" ({why})" if why else ""
                    return f"{name} is not finite: {str(values.tolist())[:80]} at t = {state[0]:.9g}{why}"
        return ""

    @cached_property
    def like(self) -> Any:
        """Some step state: rows of numbers get its nesting and its sizes, by `shaped`."""
        make = step_state.fixed_start if self.spec.fixed else step_state.adaptive_start
        q, v = Vec(self.model.zero), Vec([0.0] * self.model.nv)
        return make(self.setup(v), 0.0, q, v, 1.0)

    @cached_property
    def _setup_unheld(self) -> step_state.Setup:
        """The setup with held forces of 0, for what does not depend on them."""
        return self._new_setup(Vec([0.0] * self.model.nv))

    @cached_property
    def width(self) -> int:
        """How many numbers a step state has."""
        return len(flat(self.like))

    @cached_property
    def _places(self) -> dict[str, int | slice]:
        """Where in a step state its fields lie."""
        found: dict[str, int | slice] = {}
        at = 0
        for name, value in self.like._asdict().items():
            size = len(flat(value))
            found[name] = slice(at, at + size) if isinstance(value, tuple) else at
            at += size
        return found

    def room(self, n: int) -> np.ndarray:
        """Memory for n step states at least, contents not set: that of a run before, where nobody uses it."""
        try:
            kept = self._rooms.pop()
        except IndexError:
            kept = np.empty((0, 0))
        return kept if len(kept) >= n and kept.shape[1] == self.width else np.empty((n, self.width))

    def keep_room(self, room: np.ndarray) -> None:
        """Keep memory of `room`, which nobody uses any more, for the next run."""
        if len(self._rooms) < ROOMS and 0 < room.nbytes <= ROOM:
            self._rooms.append(room)

    def field(self, table: np.ndarray, name: str) -> np.ndarray:
        """A field of step states, by name: (n,), or (n, size)."""
        return table[..., self._places[name]]

    def number(self, packed: np.ndarray, name: str) -> float:
        """A field of one step state that is one number."""
        place: Any = self._places[name]
        found: float = packed.item(place)
        return found

    def put(self, packed: np.ndarray, name: str, value: float) -> None:
        """Put a number into a field of one step state."""
        packed[self._places[name]] = value

    def run(self, table: np.ndarray, settings: Sequence[Any], level: np.ndarray | None = None) -> np.ndarray | None:
        """Fill table[1:], each step state from the one before; with controlled steps also samples of q, v and work.

        settings  fixed: count, h, origin;  controlled: target, tolerance, end, longest;  each a number or (n,)
        """
        extra = [level] if self.spec.held else []
        if self.in_python:
            size = self.model.nq + self.model.nv + len(self.spec.work)
            samples = None if self.spec.fixed else np.empty((len(table) - 1, size))
            self._run_in_python(table, settings, extra, samples)
            return samples
        self.advance(table, settings, level)
        if self.has_motions:
            return self.samples_of(self.motions(table, settings[1], level), table, settings[0])
        if self.spec.fixed:
            return None
        return self._samples(table[1:], np.asarray(settings[0], dtype=float, order="C"), settings[1], *extra)

    def run_to_event(
        self, table: np.ndarray, settings: Sequence[Any], level: np.ndarray | None = None, log: SwitchLog | None = None
    ) -> np.ndarray | None:
        """Fill table[1:] as `run` does, of controlled steps up to one that an event or a fault ended: as many rows are
        filled as there are samples.

        log  gets the switches that steps pass on the way
        """
        if self.spec.fixed or self.in_python or self.has_motions or not self.is_watching:
            return self.run(table, settings, level)
        given = [np.asarray(x, dtype=float, order="C") for x in self._given(settings, level)]
        status: Any = self._places["status"]
        chain, extra = RowChain(self._kernel, table, given, status, step_state.GOING), [level] if self.spec.held else []
        n = chain.fill_from(0)
        if log and self.passes_switches and table.item(n, status) == step_state.EVENT:
            passages = SwitchPassages(self._passage_kernel, self._places, [*given[1:4], *given[5:]], log.least)
            n = passages.follow(chain, n, log)
        target = given[0] if given[0].ndim == 0 else given[0][:n]
        found = self._samples(table[1 : n + 1], target, given[1], *extra)
        if log and log.block:
            put_samples_at_switches(found, target, table, self._places, log.block)
        return found

    def advance(
        self, table: np.ndarray, settings: Sequence[Any], level: np.ndarray | None = None, limit: int | None = None
    ) -> None:
        """Fill table[1:] as `run` does, without samples: those of many rows are found together.

        limit  controlled steps that are tried for each row, at most; unless given, those of about a tenth of a second
        """
        self._chain(table, [_argument(x) for x in self._given(settings, level, limit)])

    def _given(self, settings: Sequence[Any], level: np.ndarray | None, limit: int | None = None) -> tuple[Any, ...]:
        """What the kernel of steps is given beside a step state."""
        most = [] if self.spec.fixed else [limit or step_state.at_once(self.model.nv)]
        return *settings, *most, *([level] if self.spec.held else [])

    @cached_property
    def has_motions(self) -> bool:
        """Whether the motion within a step is a polynomial, as exact as the step: under constraints, where v̇ takes
        longest. Without, samples by shorter steps take a tenth of a call."""
        projects = self.constrained is not None and self.spec.policy.keeping == "project"
        return projects and not self.spec.fixed and not self.in_python and self.spec.method.extension is not None

    def motions(self, rows: np.ndarray, tolerance: Any, level: np.ndarray | None = None) -> StepMotions:
        """The motion within the last steps of step states."""
        extra = [level] if self.spec.held else []

        def shorter(rows: np.ndarray, times: np.ndarray) -> np.ndarray:
            found: np.ndarray = self._samples_kernel(rows, times, tolerance, *extra)[0]
            return found

        within = WithinSteps(
            lambda rows: self._motion_kernel(rows, tolerance, *extra)[0],
            lambda motions, times: self._within_kernel(motions, times)[0],
            shorter,
            lanes(),
        )
        states = np.concatenate([self.field(rows, name) for name in ("q", "v", "work")], axis=1)
        return StepMotions(rows, self.field(rows, "t0"), self.field(rows, "t"), states, within)

    def _samples(self, rows: np.ndarray, target: np.ndarray, *more: Any) -> np.ndarray:
        """q, v and work at the targets of step states; NaN from one on that an event or a fault ended."""
        status, n = self.field(rows, "status"), len(rows)
        if status[-1] == step_state.GOING:
            found: np.ndarray = self._samples_kernel(rows, target, *more)[0]
            return found
        good = int(np.argmax(status != step_state.GOING))
        found = np.full((n, self.model.nq + self.model.nv + len(self.spec.work)), np.nan)
        if good:
            found[:good] = self._samples_kernel(rows[:good], target if target.ndim == 0 else target[:good], *more)[0]
        return found

    def samples_of(self, motions: StepMotions, table: np.ndarray, target: Any) -> np.ndarray:
        """q, v and work at the targets of table[1:], whose motions are known; NaN from one on that an event or a fault
        ended."""
        rows, size = table[1:], self.model.nq + self.model.nv + len(self.spec.work)
        good, n, status = len(rows), len(rows), self.field(rows, "status")
        if n and status[-1] != step_state.GOING:
            good = int(np.argmax(status != step_state.GOING))
        found = motions.at(np.arange(1, good + 1), np.broadcast_to(target, n)[:good])
        return found if good == n else np.concatenate([found, np.full((n - good, size), np.nan)])

    def _run_in_python(
        self, table: np.ndarray, settings: Sequence[Any], extra: list[Any], samples: np.ndarray | None
    ) -> None:
        held = [Vec(level.tolist()) for level in extra]
        advance, sampled = self._advance(*held), None if samples is None else self._state_at(*held)
        for i in range(len(table) - 1):
            now = [x if np.ndim(x) == 0 else x[i] for x in settings]
            most = step_state.at_once(self.model.nv)
            given = [int(now[0]), *map(float, now[1:])] if self.spec.fixed else [*map(float, now), most]
            try:
                found = advance(Vec(table[i].tolist()), *given)
                state = sampled(found, *given[:2]) if sampled else None
            except (Exception, KeyboardInterrupt) as error:
                stopped = isinstance(error, KeyboardInterrupt)
                if not stopped and not isinstance(error, ArithmeticError) and ours(error):
                    raise
                self.raised = "" if stopped or ours(error) else f"a function {told(error)}"
                table[i + 1 :] = table[i]
                self.field(table[i + 1 :], "status")[:] = step_state.STOPPED if stopped else step_state.NOT_FINITE
                return
            table[i + 1] = found
            if samples is not None:
                samples[i] = state

    def _advance(self, level: Vec | None = None) -> Callable[..., Vec]:
        """The next step state as a function of (packed, settings) on generic scalars."""
        advance = step_state.advance_fixed if self.spec.fixed else step_state.controlled_steps
        return partial(advance, self.setup(level), self.like)

    def _state_at(self, level: Vec | None = None) -> Callable[..., Vec]:
        """A sample as a function of (packed, target, tolerance) on generic scalars."""
        return partial(step_state.state_at, self.setup(level), self.like)

    @property
    def _is_long(self) -> bool:
        """Whether kernels of states within steps are not optimised, ever."""
        return self.model.nq + self.model.nv > OPTIMISED

    @cached_property
    def _samples_kernel(self) -> Kernel:
        """The samples of controlled steps: apart from one another, so several at once. Of `stewart-platform` 1,001 take
        8 ms in place of 40 ms, with the bits of one after the other."""
        given = "target", "tolerance"
        return self._step_kernel(given, CompiledRun._state_at, "samples", ["samples"], self._is_long, lanes())

    @cached_property
    def _motion_kernel(self) -> Kernel:
        """The polynomials of steps, several at once."""

        def make(run: CompiledRun, level: Vec | None) -> Callable[..., Vec]:
            return partial(step_state.step_motion, run.setup(level), run.like)

        return self._step_kernel(("tolerance",), make, "motion within steps", ["motion"], self._is_long, lanes())

    @cached_property
    def _within_kernel(self) -> Kernel:
        """The states within steps whose polynomials are known, several at once."""
        setup, extension = self._setup_unheld, self.spec.method.extension
        assert extension
        state, machine = self.like.before, setup.machine
        size = factor_size(self.spec.method, machine, *state)
        numbers = len(flat(state)) + machine.integrals + extension.count * size + 3
        shapes: dict[str, tuple[int, ...]] = {"motion": (numbers,), "target": ()}

        def function(run: CompiledRun, motion: Vec, target: Any) -> Vec:
            return step_state.state_in_step(run._setup_unheld, motion, target)

        title = "state within a step"
        return self.kernel_of(lambda run: partial(function, run), shapes, title, [title], self._is_long, lanes())

    def inside(
        self, packed: np.ndarray, settings: Sequence[float], level: np.ndarray | None
    ) -> Callable[[float], np.ndarray]:
        """t, q, v, the crossings' functions, the work within the last step; the error after t where there are surfaces.

        settings  h, origin for fixed steps; the tolerance of controlled ones where there are surfaces
        ->        a function of the part θ of the step, whose calls share one array for what they return
        """
        if self.in_python:
            function = self._inside(_vector(level))
            return lambda theta: np.array(function(Vec(packed.tolist()), float(theta), *settings))
        theta_, found = np.empty(()), np.empty((1, *self._inside_kernel.facts["outputs"][0]))
        extra = [level] if self.spec.held else []
        others = [np.asarray(x, dtype=float, order="C") for x in (*settings, *extra)]
        bound, row = BoundKernel(self._inside_kernel, 1, [packed, theta_, *others], [found]), found[0]

        def inside(theta: float) -> np.ndarray:
            theta_[()] = theta
            bound.fill()
            return row

        return inside

    def inside_at(
        self, packed: np.ndarray, thetas: np.ndarray, settings: Sequence[float], level: np.ndarray | None
    ) -> np.ndarray:
        """(n, m)  What `inside` gives at several parts θ (n,) of the last step."""
        if self.in_python:
            function = self.inside(packed, settings, level)
            return np.array([function(theta) for theta in thetas.tolist()])
        extra = [level] if self.spec.held else []
        found: np.ndarray = self._inside_kernel(packed, thetas, *settings, *extra)[0]
        return found

    def _inside(self, level: Vec | None = None) -> Callable[..., Vec]:
        """`inside` as a function of (packed, theta, settings) on generic scalars."""
        find: Callable[..., Vec] = step_state.fixed_inside if self.spec.fixed else step_state.adaptive_inside
        if self.spec.switching:
            find = step_state.fixed_shorter if self.spec.fixed else step_state.adaptive_shorter
        return partial(find, self.setup(level), self.like)

    @cached_property
    def _inside_kernel(self) -> Kernel:
        names = ("theta", "h", "origin") if self.spec.fixed else ("theta", "tolerance")[: 1 + bool(self.spec.switching)]
        return self._step_kernel(names, CompiledRun._inside, "within a step", ["within a step"])

    @cached_property
    def passes_switches(self) -> bool:
        """Whether steps pass switches in compiled code: under control of their error, without constraints, events, a
        memory, and user functions that switch. Of a state of many numbers the kernel takes longer to make than it saves
        (`talos`: 1.5 s more in a first run)."""
        spec = self.spec
        if self.model.nq + self.model.nv > WRITTEN:
            return False
        plain = not spec.fixed and not self.in_python and not self.constrained and not spec.method.recalls
        return plain and spec.switching is not None and not spec.switching.traced and not self.crossings

    @cached_property
    def _passage_kernel(self) -> Kernel:
        """What becomes of a step that passes surfaces, in one call."""

        def make(run: CompiledRun, level: Vec | None) -> Callable[..., Vec]:
            return partial(passage, run.setup(level), run.like)

        title = "passage of a switch"
        return self._step_kernel(("tolerance", "end", "longest", "least"), make, title, [title])

    @cached_property
    def _kernel(self) -> Kernel:
        names = ("count", "h", "origin") if self.spec.fixed else ("target", "tolerance", "end", "longest", "limit")
        return self._step_kernel(names, CompiledRun._advance, self.spec.method.name, ())

    @cached_property
    def _chain(self) -> KeptChain:
        """What fills blocks of step states."""
        return KeptChain(self._kernel, ROOM)

    def kernels(self) -> list[Callable[[], Any]]:
        """What asks for the kernels that steps under way take for certain and nobody made yet, one each."""
        made = vars(self)
        return [partial(getattr, self, name) for name in self._certain if name not in made]

    @cached_property
    def _certain(self) -> tuple[str, ...]:
        """The names of these kernels, made or not."""
        if self.in_python:
            return ()
        of_steps = ["_kernel"] if self.spec.fixed else ["_first_kernel", "_kernel"]
        of_motions = ["_motion_kernel", "_within_kernel"] if self.has_motions else []
        of_samples = [] if self.spec.fixed or self.has_motions else ["_samples_kernel"]
        return (*of_steps, *of_motions, *of_samples)

    def _step_kernel(
        self,
        names: Sequence[str],
        make: Callable[..., Callable],
        title: str,
        more: Sequence[str] | None,
        quick: bool = False,
        width: int = 1,
    ) -> Kernel:
        """The kernel of a function of a step state and of numbers of these names."""
        shapes: dict[str, tuple[int, ...]] = {"packed": (self.width,), **dict.fromkeys(names, ())}
        if self.spec.held:
            shapes["level"] = (self.model.nv,)

        def function(run: CompiledRun, packed: Vec, level: Vec | None = None, **settings: Any) -> Any:
            return make(run, level)(packed, *(settings[name] for name in names))

        return self.kernel_of(lambda run: partial(function, run), shapes, title, more, quick, width)

    @cached_property
    def key(self) -> str:
        """Text that tells the kernel from others; "": there are user functions, which no text identifies."""
        return self._key(identity_text(self.model))

    def key_of(self, inputs: NumberInputs, *more: str) -> str:
        """The key of a kernel that takes these numbers, in all models of this structure."""
        return cache_key(self._key(inputs.text), "number inputs", *more)

    def _key(self, model: str) -> str:
        """The same of a text for the model."""
        spec = self.spec
        if not model or spec.crossings or not (self.driven.law_text or spec.held):
            return ""
        inputs = "held" if spec.held else self.driven.law_text
        policy = spec.policy.identity if self.constrained or spec.policy.engine == "absolute" else ""
        more = ["interior"] * spec.interior + ["surfaces"] * (spec.switching is not None)
        more += ["through events"] * (not spec.watches_elements)
        more += ["work", *spec.work] if spec.work else []
        return cache_key(model, spec.method.name, str(spec.fixed), spec.norm, inputs, policy, "run", *more)


def compiled_run_of(spec: RunSpec, warn: bool = True) -> CompiledRun:
    """The compiled steps of a run: those of an earlier run of the same model, where no user function is in it."""
    functions = spec.tau is not None or spec.crossings or (spec.switching and spec.switching.traced)
    if functions or not identity_text(spec.model):
        return CompiledRun(spec, warn)
    return _kept_run(spec.model, spec.method, spec.fixed, spec.norm, spec.held, spec.policy, spec.interior, spec.work)


@once_each
def _kept_run(
    model: Model,
    method: Method,
    fixed: bool,
    norm: str,
    held: bool,
    policy: ConstraintPolicy,
    interior: bool,
    work: tuple[str, ...],
) -> CompiledRun:
    bends = smooth_switching(model)
    spec = RunSpec(
        model, method, fixed, norm=norm, held=held, policy=policy, interior=interior,
        switching=bends if bends.surfaces else None, work=work,
    )  # fmt: skip
    return CompiledRun(spec)


def _euler_step(machine: Machine, t: Any, q: Vec, v: Vec, h: Any) -> tuple[Any, Vec, Vec]:
    """Time and state after one step of Euler's."""
    return t + h, machine.retract(q, h * v), v + h * machine.acceleration(t, q, v)


def _is_traced(q: Vec, v: Vec) -> bool:
    """Whether any of these is a symbol."""
    return any(isinstance(value, Symbol) for value in (*q, *v))


def _argument(given: Any) -> Any:
    """An argument of a `BoundKernel`: an array of doubles, or a float."""
    return np.asarray(given, dtype=float, order="C") if isinstance(given, np.ndarray) else float(given)


def _are_floats(*vectors: Vec) -> bool:
    """Whether all of these are plain numbers."""
    return all(isinstance(value, (float, int)) for vector in vectors for value in vector)


def _vector(level: np.ndarray | None) -> Vec | None:
    """Held forces as a vector of scalars; None where there are none."""
    return Vec(level.tolist()) if level is not None else None
