"""The functions of one run, compiled: a row from the row before, and the state within a step.

What cannot be traced (a user's function that branches on values) runs in Python, by the same functions.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from polhode.assemble import rows
from polhode.assemble.calls import Arguments
from polhode.assemble.graphs import FACTORED, identity_text
from polhode.assemble.inputs import PD, ComputedTorque, Sampled, controller, law_of, traceable
from polhode.assemble.machine import Input, machine
from polhode.assemble.quantities import forward_by_factors, forward_dynamics
from polhode.assemble.rolled import is_large
from polhode.errors import PolhodeWarning
from polhode.integrate.adaptive import initial_step
from polhode.integrate.method import Method
from polhode.kernel import Symbol, trace
from polhode.kernel.build import Kernel, kernel_for
from polhode.kernel.cache import key as cache_key
from polhode.kernel.chain import chained
from polhode.kernel.record import Shared
from polhode.kernel.schedule import fused
from polhode.model import ForceFunction, Model, Tree, make_tree, regrouped
from polhode.scalar import Vec, flat

INLINE = 250
"""Operations of an acceleration that are written out at each stage of a step; a larger one is one routine for all."""


@dataclass(frozen=True)
class Plan:
    """What is to be run: a model under inputs, by a method, watching for crossings."""

    model: Model
    method: Method
    fixed: bool
    """Equal steps, or steps under control of their error."""
    tau: Any = None
    crossings: tuple[rows.Crossing, ...] = ()
    norm: str = "state"
    """What keeps quaternions at unit length: "state", or "none"; Lie-group methods need neither."""
    zero: tuple[float, ...] = ()
    """The coordinates at zero."""


class Engine:
    """A plan, ready to run."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.model = plan, plan.model
        self.tree = make_tree(plan.model)
        self.law, self.law_text = law_of(plan.model, plan.tau, np.array(plan.zero))
        self.in_python = self._reasons()
        for reason in self.in_python:
            warnings.warn(f"simulate: {reason}; Python runs in the loop, which is slow.", PolhodeWarning, stacklevel=4)

    def _reasons(self) -> list[str]:
        """Why the run cannot be compiled."""
        named: list[tuple[Any, str]] = []
        if callable(self.plan.tau):
            named.append((self.law, f"tau '{getattr(self.plan.tau, '__name__', 'tau')}'"))
        named += [(crossing.function, f"event {k}") for k, crossing in enumerate(self.plan.crossings)]
        named += [(f.function, f"force '{f.name}'") for f in self.model.forces if isinstance(f, ForceFunction)]
        found = [traceable(self.model, function, what) for function, what in named if function]
        return [reason for reason in found if reason]

    # on generic scalars

    def setup(self, level: Vec | None = None) -> rows.Setup:
        """Method, machine and crossings; level: forces held over a period."""
        plan, tau = self.plan, self.plan.tau
        law: Input | None = self.law
        if isinstance(tau, (PD, ComputedTorque)):
            law = controller(tau, self.tree, np.array(plan.zero))
        if isinstance(tau, Sampled):
            law = lambda t, q, v: level or Vec()  # noqa: E731
        forward = self._forward if not self.in_python else forward_dynamics
        made = machine(self.tree, law, forward)
        if plan.norm == "none":
            made = made._replace(normalized=lambda q: q)
        return rows.Setup(plan.method, made, plan.crossings)

    @cached_property
    def _way(self) -> tuple[Callable[[Arguments], Vec], Tree, int]:
        """The cheapest way to the acceleration, the tree it works on, and its operations."""
        tree = self.tree if self.model.forces else regrouped(self.tree)
        if is_large(tree) and not self.model.forces:
            return (lambda x: forward_dynamics(x._replace(rolled=True))), tree, 10**9
        nq, nv = (self.model.nq,), (self.model.nv,)

        def cost(way: Callable[[Arguments], Vec]) -> int:
            graph = trace(lambda t, q, v, tau: way(Arguments(tree, q, v, tau=tau, t=t)), t=(), q=nq, v=nv, tau=nv)
            return fused(graph).operations.total()

        ways = (forward_dynamics, forward_by_factors) if self.model.nv <= FACTORED else (forward_dynamics,)
        counts = {way: cost(way) for way in ways}
        best = min(counts, key=counts.__getitem__)
        return best, tree, counts[best]

    def _forward(self, x: Arguments) -> Vec:
        """v̇ of the arguments of a call."""
        way, tree, operations = self._way
        if not any(isinstance(value, Symbol) for value in (*x.q, *x.v)):
            return forward_dynamics(x._replace(tree=tree))
        if operations <= INLINE:
            return way(x._replace(tree=tree))
        return self._shared(Vec([x.t]), x.q, x.v, x.tau)

    @cached_property
    def _shared(self) -> Shared:
        way, tree, _ = self._way
        return Shared("acceleration", lambda t, q, v, tau: way(Arguments(tree, q, v, tau=tau, t=t[0])))

    # compiled

    def start(self, t: float, q: np.ndarray, v: np.ndarray, h: float, level: np.ndarray | None = None) -> np.ndarray:
        """The first row of a run from a state."""
        make = rows.fixed_start if self.plan.fixed else rows.adaptive_start
        given = Vec(level.tolist()) if level is not None else None
        first = make(self.setup(given), t, Vec(q.tolist()), Vec(v.tolist()), h)
        return np.array(flat(first), dtype=float)

    def first_step(self, t: float, q: np.ndarray, v: np.ndarray, tolerance: float, level: np.ndarray | None) -> float:
        """A first step for steps under control."""
        given = Vec(level.tolist()) if level is not None else None
        setup = self.setup(given)
        return float(initial_step(setup.method, setup.machine, t, Vec(q.tolist()), Vec(v.tolist()), tolerance))

    @cached_property
    def like(self) -> Any:
        """A row, for its shape."""
        make = rows.fixed_start if self.plan.fixed else rows.adaptive_start
        q, v = Vec(self.plan.zero), Vec([0.0] * self.model.nv)
        return make(self.setup(v), 0.0, q, v, 1.0)

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return len(flat(self.like))

    def field(self, table: np.ndarray, name: str) -> np.ndarray:
        """A field of rows, by name: (n,), or (n, size)."""
        at = 0
        for key, value in self.like._asdict().items():
            size = len(flat(value))
            if key == name:
                part = table[..., at : at + size]
                return part if isinstance(value, tuple) else part[..., 0]
            at += size
        raise KeyError(name)

    def run(self, table: np.ndarray, settings: Sequence[Any], level: np.ndarray | None = None) -> np.ndarray | None:
        """Fill table[1:], each row from the one before; with controlled steps also the samples (n, nq + nv).

        settings  fixed: count, h, origin;  controlled: target, tolerance, end;  each a number or (n,)
        """
        samples = None if self.plan.fixed else np.empty((len(table) - 1, self.model.nq + self.model.nv))
        extra = [level] if isinstance(self.plan.tau, Sampled) else []
        if self.in_python:
            self._run_in_python(table, settings, extra, samples)
            return samples
        others = [np.asarray(x, dtype=float, order="C") for x in (*settings, *extra)]
        chained(self._kernel, table, others, [] if samples is None else [samples])
        return samples

    def _run_in_python(
        self, table: np.ndarray, settings: Sequence[Any], extra: list[Any], samples: np.ndarray | None
    ) -> None:
        row = self._row(*(Vec(level.tolist()) for level in extra))
        for i in range(len(table) - 1):
            now = [x if np.ndim(x) == 0 else x[i] for x in settings]
            given = [int(now[0]), *map(float, now[1:])] if self.plan.fixed else list(map(float, now))
            found = row(Vec(table[i].tolist()), *given)
            table[i + 1], state = (found, None) if self.plan.fixed else found
            if samples is not None:
                samples[i] = state

    def _row(self, level: Vec | None = None) -> Callable[..., Any]:
        row = rows.fixed_row if self.plan.fixed else rows.adaptive_row
        return partial(row, self.setup(level), self.like)

    def inside(self, row: np.ndarray, theta: float, settings: Sequence[float], level: np.ndarray | None) -> np.ndarray:
        """t, q, v and the crossings' functions within the last step.  settings: h, origin for fixed steps"""
        if not self.in_python:
            extra = [level] if isinstance(self.plan.tau, Sampled) else []
            return self._inside_kernel(row, theta, *settings, *extra)[0]
        given = Vec(level.tolist()) if level is not None else None
        return np.array(self._find(given)(Vec(row.tolist()), float(theta), *settings))

    def _find(self, level: Vec | None = None) -> Callable[..., Vec]:
        find = rows.fixed_inside if self.plan.fixed else rows.adaptive_inside
        return partial(find, self.setup(level), self.like)

    @cached_property
    def _inside_kernel(self) -> Kernel:
        names = ("theta", "h", "origin") if self.plan.fixed else ("theta",)
        return self._compiled(names, self._find, "within a step", "")

    @cached_property
    def _kernel(self) -> Kernel:
        names = ("count", "h", "origin") if self.plan.fixed else ("target", "tolerance", "end")
        return self._compiled(names, self._row, self.plan.method.name, self._key)

    def _compiled(self, names: Sequence[str], make: Callable[..., Callable], title: str, key: str) -> Kernel:
        """The kernel of a function of a row and of numbers of these names."""
        shapes: dict[str, tuple[int, ...]] = {"row": (self.width,), **dict.fromkeys(names, ())}
        if isinstance(self.plan.tau, Sampled):
            shapes["level"] = (self.model.nv,)

        def function(row: Vec, level: Vec | None = None, **settings: Any) -> Any:
            return make(level)(row, *(settings[name] for name in names))

        return kernel_for(key, lambda: trace(_named(function, shapes), **shapes), f"{self.model.name}: {title}", 1)

    @property
    def _key(self) -> str:
        """What makes the kernel the same again; "": functions, which no text tells."""
        model, plan = identity_text(self.model), self.plan
        held = isinstance(plan.tau, Sampled)
        if not model or plan.crossings or not (self.law_text or held):
            return ""
        return cache_key(model, plan.method.name, str(plan.fixed), plan.norm, "held" if held else self.law_text, "run")


def _named(function: Callable, shapes: dict) -> Callable:
    """The same function, with arguments of these names."""
    return lambda **given: function(**{name: given[name] for name in shapes})
