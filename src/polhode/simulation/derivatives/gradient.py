"""`ph.gradient`: the derivatives of one number of a motion by many numbers of its model and its start.

The steps of the run are traversed backwards, each by the adjoint of its numerical map x' = Φ(t, x, h; p):

    λ = ∂Φ/∂xᵀ λ',  p̄ = p̄' + ∂Φ/∂pᵀ λ'                              Griewank, Walther (2008) §3.2; Hager (2000)

The work is that of a few runs, however many derivatives there are. Only every block's first state is kept; its steps
are run once more in the backward pass.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import CompileError, InputError, IntegrationError, message, warn_caller
from polhode.integrate.integrals import with_integrals
from polhode.kernel import Graph, evaluate, jacobian, pullback, replay, trace
from polhode.kernel.backends.llvm.compile import Kernel
from polhode.kernel.backends.llvm.in_place import chained
from polhode.model import Model
from polhode.scalar import Array, Scalar, Vec
from polhode.simulation.derivatives.directions import Directions, directions
from polhode.simulation.derivatives.jumps import JumpMap, JumpMaps
from polhode.simulation.derivatives.replayed_steps import LEFT_OUT, BlockStart, Replay, ReplayedRun, StepBlock
from polhode.simulation.derivatives.sensitivity import NOTHING, StepMap, constant_forces, kept_on_constraints
from polhode.simulation.option_table import RUN_OPTIONS
from polhode.simulation.run import Progress, Run
from polhode.simulation.run_options import RunOptions
from polhode.simulation.scenario import Scenario

Objective = Callable[[Vec, Vec], Scalar]
"""One number of (q, v) on generic scalars."""

Running = Callable[[Scalar, Vec, Vec], Scalar]
"""One number of (t, q, v) on generic scalars, per second."""

WHERE = "gradient"


class Gradient(NamedTuple):
    """The value of an objective, and its derivatives by path."""

    value: float
    derivatives: dict[str, float]


def gradient(
    model: Model,
    objective: Objective | None,
    parameters: Sequence[str],
    running: Running | None = None,
    q: Array | None = None,
    v: Array | None = None,
    duration: float | None = None,
    tau: Any = None,
    step: float | None = None,
    method: str | None = None,
    tolerance: float = RUN_OPTIONS["tolerance"].default,
    *,
    norm: str = RUN_OPTIONS["norm"].default,
    limits: bool = RUN_OPTIONS["limits"].default,
    progress: Progress | None = None,
) -> Gradient:
    """The value of an objective of a motion and its derivatives, by one run forward and one backward.

        J = objective(q, v at the end) + ∫ running(t, q, v) dt

    objective   one number of (q, v), on generic scalars (polhode.sin, …); None: the integral alone
    parameters  paths, as `sensitivities` of `simulate`; those of q are along the velocities
    running     one number of (t, q, v), integrated by the method itself; None: none
    q … limits  as in `simulate`; explicit and Lie-group methods only
    progress    called with the part that is done and the time reached, there and back
    ->          value, {path: derivative}: of the numbers that the run computes, its steps held fixed; a warning where
                user functions have conditions of the state, whose switching is not differentiated
    """
    options = RunOptions(duration=duration, step=step, method=method, tolerance=tolerance, norm=norm, limits=limits)
    run = Run(Scenario.of(model, q, v, tau, options))
    replayed = run.replayed(WHERE)
    if names := dict.fromkeys(run.scenario.switching.jumps):
        warn_caller(f"gradient: conditions of the state in {', '.join(names)}; where one switches, {LEFT_OUT}.")
    along = directions(run.model, replayed.q, constant_forces(replayed.compiled), parameters, WHERE)
    along = kept_on_constraints(replayed, along)
    return Adjoint(replayed, along, objective, running)(progress or (lambda part, t: None))


class Adjoint:
    """The adjoint sweep: backward through the steps of a run."""

    def __init__(
        self, replayed: ReplayedRun, along: Directions, objective: Objective | None, running: Running | None
    ) -> None:
        self.replayed, self.along, self.running = replayed, along, running
        self.step_map = StepMap(replayed, along, rolled=False)
        if objective is None and running is None:
            raise InputError(message(WHERE, "nothing to differentiate", "no objective", "objective or running"))
        model = replayed.compiled.model
        if not model.nv:
            raise InputError(message(WHERE, "nothing moves", f"model '{model.name}'", "a joint that moves"))
        sizes: dict[str, tuple[int, ...]] = {"q": (model.nq,), "v": (model.nv,)}
        self.at_end = _number("objective", objective, sizes) if objective is not None else None
        if running is not None:
            _number("running", running, {"t": (), **sizes})

    def step(
        self, x: Vec, t: Scalar, h: Scalar, level: Vec | None = None, p: Vec = NOTHING, numbers: Vec = NOTHING
    ) -> tuple[Vec, Scalar]:
        """The state after one step, and what the step adds to the integral."""
        setup = self.step_map.setup(p, level, numbers)
        q, v = self.step_map.parts(x)
        nv, machine, speeds = len(v), setup.machine, setup.begun(t, q, v)
        if self.running:
            running = self.running
            integrand = lambda t, q, v, vd: Vec([running(t, q, v)])  # noqa: E731
            machine = with_integrals(machine._replace(integrands=integrand, integrals=1))
            speeds = Vec((*speeds, 0.0))
        end = setup.method.step(machine, t, q, speeds, h)
        q, v = end.q, Vec(end.v[:nv])
        if setup.project:
            q, v = setup.project(t + h, q, v)
        return Vec((*q, *v)), end.v[nv] if self.running else 0.0

    def graph(self) -> Graph:
        """A row (λ, p̄) before one step, of the row after it and the arguments of the step; and the integral over it."""
        n = self.step_map.n
        try:
            back = pullback(trace(self.step, **self.step_map.shapes), values=True, wrt=self.step_map.changing)
        except CompileError as error:
            if "no way back" not in str(error):
                raise
            compiled, forwards = self.replayed.compiled, "or sensitivities= of simulate, which go forward."
            fix = (
                f"Take fewer constraints, {forwards}"
                if compiled.constrained
                else f"Take an explicit method, {forwards}"
            )
            what = f"no way back through a step of '{compiled.spec.method.name}'"
            raise CompileError(message(WHERE, what, "a loop", "steps without a loop", fix)) from None

        def adjoint(row: Vec, **given: Any) -> tuple[Vec, Scalar]:
            found = replay(back, **given, **{"0_bar": Vec(row[:n]), "1_bar": 1.0})
            more = found["p_bar"] if "p" in given else Vec()
            return Vec((*found["x_bar"], *(Vec(row[n:]) + more))), found["1"]

        return trace(adjoint, row=(n + len(self.along.inputs),), **self.step_map.shapes)

    @cached_property
    def kernel(self) -> Kernel:
        """The compiled graph."""
        return self.step_map.kernel(self.graph, "adjoint", 1, keep=not self.running)

    def __call__(self, progress: Progress = lambda part, t: None) -> Gradient:
        """The value and the derivatives."""
        kernel, stepper = self.kernel, Replay(self.replayed)
        places, x, t = list[BlockStart](), np.concatenate([self.replayed.q, self.replayed.v]), 0.0
        end = self.replayed.segments[-1].end
        for steps in stepper:
            places.append(steps.start)
            x, t = steps.end, float(steps.t[-1] + steps.h[-1])
            progress(t / end / 2, t)
        if t < end * (1 - 1e-9):
            raise IntegrationError(f"{WHERE}: the motion could not be followed to its end, only to t = {t:.9g}")
        value, row = self._last(x)
        n, jumps = self.step_map.n, JumpMaps(self.replayed.jumps, self.along, WHERE) if self.replayed.jumps else None
        for k, start in reversed(list(enumerate(places))):
            steps = stepper.again(start)
            added, row = self._back(kernel, steps, row)
            value += added
            begins = not k or places[k - 1].number != start.number
            if begins and jumps and (jump := jumps(start.number)) is not None:
                row = row[:n] @ jump.state + np.concatenate([np.zeros(n), row[n:]])
                row += self._over(jump, start.segment.begin) * jump.time
            progress(1 - float(steps.t[0]) / end / 2, float(steps.t[0]))
        slopes = self.along.x_dot @ row[:n] + self.along.p_dot @ row[n:]
        return Gradient(value, dict(zip(self.along.names, slopes.tolist(), strict=True)))

    def _over(self, jump: JumpMap, t: float) -> float:
        """By how much the integrand is larger before events than after them."""
        if self.running is None:
            return 0.0
        before, after = (self.running(t, *(Vec(x.tolist()) for x in state)) for state in (jump.before, jump.after))
        return float(before) - float(after)

    def _last(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective at the end, and the row there."""
        row = np.zeros(self.step_map.n + len(self.along.inputs))
        if self.at_end is None:
            return 0.0, row
        nq = self.replayed.compiled.model.nq
        found = evaluate(self.at_end, q=x[:nq], v=x[nq:])
        row[: self.step_map.n] = np.concatenate([found["d_result_d_q"], found["d_result_d_v"]])
        return float(found["result"]), row

    def _back(self, kernel: Kernel, steps: StepBlock, row: np.ndarray) -> tuple[float, np.ndarray]:
        """The integral over steps, and the row where they begin."""
        table, integral = np.empty((len(steps.t) + 1, len(row))), np.empty(len(steps.t))
        table[0] = row
        backwards = [np.ascontiguousarray(array[::-1]) for array in (steps.x, steps.t, steps.h)]
        chained(kernel, table, [*backwards, *self.step_map.given(steps)], [integral])
        return float(np.sum(integral)), table[-1]


def _number(name: str, function: Callable, shapes: Mapping[str, tuple[int, ...]]) -> Graph:
    """The graph of a function that gives one number, with its derivatives."""
    where = f"{WHERE}, {name} '{getattr(function, '__name__', name)}'"
    arguments = ", ".join(shapes)
    try:
        graph = trace(lambda **given: function(*(given[key] for key in shapes)), **shapes)
    except Exception as error:  # whatever a function says to a symbol
        fix = "Write it on generic scalars: polhode.sin, polhode.where, …"
        found = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            message(where, "cannot be differentiated", found, f"one number of ({arguments})", fix)
        ) from error
    numbers = [port for port in graph.outputs if not port.shape and not graph.nodes[port.nodes[0]].is_condition]
    if graph.structure != 0 or not numbers:
        found = ", ".join(map(str, graph.outputs)) or "nothing"
        fix = "Sum what it returns, or ask `simulate` for sensitivities."
        raise InputError(message(where, "not one number", found, f"one number of ({arguments})", fix))
    return jacobian(graph, wrt=["q", "v"], mode="reverse", values=True)
