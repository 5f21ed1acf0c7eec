"""Many runs of one model at once: a run is a lane of the compiled loop, numbers of its model are its inputs.

One kernel serves all runs: what differs from run to run (masses, gains, starts) it reads from a row of its own.
Every lane does the same operations at every width and rounds alike, so a run has the same bits wherever it
stands and whoever runs beside it; a lane that ends (a fault, an event) keeps its state and leaves the others alone.
"""

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from polhode.dynamics import energy
from polhode.errors import InputError, message
from polhode.integrate.adaptive import initial_step
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import Kernel, kernel_for
from polhode.kernel.backends.llvm.in_place import BoundKernel
from polhode.kernel.cache import key as cache_key
from polhode.kernel.graph import Graph
from polhode.kernel.work_threads import in_threads
from polhode.model import Tree
from polhode.scalar import Scalar, Vec, flat, minimum, where
from polhode.simulation import step_state
from polhode.simulation.batch_loop import (
    BatchLoop,
    BatchSamples as BatchSamples,
    SampleTimes as SampleTimes,
    controlled_steps as controlled_steps,
    equal_steps as equal_steps,
)
from polhode.simulation.compiled_run import SHORT, CompiledRun, RunSpec
from polhode.simulation.derivatives.directions import Directions, directions, upper
from polhode.simulation.inputs import PD, Sampled, law_of
from polhode.system.algorithms import identity_text

OFF = 1e-6
"""How far a start may be from the constraints, of 1 + its largest number."""

TOGETHER = 128
"""Runs that one thread follows at a time: their step states stay in its cache."""

GAINS = ("stiffness", "damping")
"""What of a PD controller may differ from run to run, as "tau.stiffness", "tau.damping"."""

Named = Callable[[Scalar, Vec, Vec, Mapping[str, Scalar]], Any]
"""A function of (t, q, v, numbers by name)"""


@dataclass(frozen=True)
class BatchSpec:
    """What many runs have in common, and the names of what they have not.

    run        a model under inputs, by a method; its `tau` and events may take a fourth argument, numbers by name
    numbers     paths of the model's numbers that each run has its own of
    free        further names, which only functions of the user's see
    outputs     by name, functions of (t, q, v, numbers by name), sampled along with the state
    identity    what makes the user's functions the same again; "": nothing does, and no kernel is kept on disk
    """

    run: RunSpec
    numbers: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    outputs: Mapping[str, Named] | None = None
    identity: str = ""


def takes_numbers(function: Any) -> bool:
    """Whether a function of the user's asks for numbers by name, as its fourth argument."""
    if not callable(function):
        return False
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in given) == 4


class BatchRun:
    """A BatchSpec, checked and ready to run."""

    def __init__(self, spec: BatchSpec) -> None:
        """Check and prepare; kernels are compiled when they are first needed."""
        self.spec = spec
        run = spec.run
        if isinstance(run.tau, Sampled):
            fix = "Write it on generic scalars: a function of (t, q, v), or of (t, q, v, numbers)."
            raise InputError(message("sweep, tau", "a function in Python", "Sampled", "compiled inputs", fix))
        self.model = run.model
        q, level = np.array(self.model.zero), None
        self.along: Directions = directions(self.model, q, level, spec.numbers, "sweep")
        self.names = (*self.along.inputs, *spec.free)
        """Of the numbers that each run has its own of, in the order of p."""
        self.defaults = np.concatenate([self.along.p, np.zeros(len(spec.free))])
        own = dict(zip(self.names, self.defaults.tolist(), strict=True))
        self.compiled = CompiledRun(self._run_spec(own), warn=False)
        for reason in self.compiled.in_python:
            fix = "Write it on generic scalars: polhode.sin, polhode.where, …"
            raise InputError(message("sweep", "a function that cannot be compiled", reason, "compiled inputs", fix))
        self.nq, self.nv = self.model.nq, self.model.nv
        self.outputs = tuple(spec.outputs or {})

    @property
    def fixed(self) -> bool:
        """Equal steps, or steps under control of their error."""
        return self.spec.run.fixed

    @property
    def at_once(self) -> int:
        """Steps of each run that compiled code takes before its user is looked at."""
        return step_state.at_once(self.nv, TOGETHER)

    def place(self, path: str) -> str:
        """The name in p of a path: two equal entries of an inertia matrix are one number."""
        return upper(path)

    # on generic scalars

    def _run_spec(self, own: Mapping[str, Any]) -> RunSpec:
        """The specification of a run, its user functions given these numbers."""
        run, tau = self.spec.run, self.spec.run.tau
        if takes_numbers(tau):
            given = tau
            tau = lambda t, q, v: given(t, q, v, own)  # noqa: E731
        elif isinstance(tau, PD):
            tau = replace(tau, **{gain: own[f"tau.{gain}"] for gain in GAINS if f"tau.{gain}" in own})
        crossings = tuple(
            crossing._replace(function=_with_numbers(crossing.function, own)) for crossing in run.crossings
        )
        return replace(run, tau=tau, crossings=crossings)

    def _own(self, p: Vec) -> dict[str, Scalar]:
        return dict(zip(self.names, p, strict=True))

    def _tree(self, p: Vec) -> Tree:
        return self.along.tree(Vec(p[: len(self.along.inputs)])) if self.along.inputs else self.compiled.tree

    def _with(self, p: Vec) -> CompiledRun:
        """The compiled run with the numbers of one run; a controller's own model keeps those of the specification."""
        run = self._run_spec(self._own(p))
        tree = self._tree(p)
        law = self.compiled.law
        if takes_numbers(self.spec.run.tau) or isinstance(run.tau, PD):
            law = law_of(self.model, tree, run.tau, np.array(self.model.zero))[0]
        found = copy(self.compiled.on(tree, law)) if self.along.inputs else copy(self.compiled)
        vars(found).update(spec=run, law=law)
        return found

    def _setup(self, p: Vec) -> step_state.Setup:
        return self._with(p).setup()

    def _first(self, q: Vec, v: Vec, p: Vec, h: Scalar, tolerance: Scalar) -> Vec:
        """The first step state; h: of equal steps, or the longest of steps under control."""
        setup = self._setup(p)
        if self.fixed:
            return Vec(flat(step_state.fixed_start(setup, 0.0, q, v, h)))
        try_ = initial_step(setup.method, setup.machine, 0.0, q, v, tolerance)
        good = (try_ > 0.0) & (try_ < step_state.LONGEST)
        return Vec(flat(step_state.adaptive_start(setup, 0.0, q, v, minimum(where(good, try_, SHORT), h))))

    def _advance(self, packed: Vec, p: Vec, *settings: Scalar) -> Any:
        make: Callable[..., Any] = step_state.advance_fixed if self.fixed else step_state.advance_adaptive
        more = {} if self.fixed else {"limit": self.at_once}
        return make(self._setup(p), self.compiled.like, packed, *settings, **more)

    def _inside(self, packed: Vec, p: Vec, theta: Scalar, h: Scalar) -> Vec:
        setup, like = self._setup(p), self.compiled.like
        if self.fixed:
            return step_state.fixed_inside(setup, like, packed, theta, h, 0.0)
        return step_state.adaptive_inside(setup, like, packed, theta)

    def _nearest(self, q: Vec, v: Vec, p: Vec) -> Vec:
        """The state brought to where the constraints hold."""
        setup = self._setup(p)
        assert setup.project
        return Vec(flat(setup.project(0.0, q, v)))

    def _observed(self, t: Scalar, q: Vec, v: Vec, p: Vec) -> Vec:
        """All outputs."""
        tree, own = self._tree(p), self._own(p)
        rules = (self.spec.outputs or {}).values()
        return Vec([rule(tree, q, v) if isinstance(rule, OfTree) else rule(t, q, v, own) for rule in rules])

    # compiled

    @property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"p": (len(self.names),)} if self.names else {}

    def graph(self, part: str) -> Graph:
        """The graph of a part: "first", "advance", "inside", "observed", or "nearest" where there are constraints."""
        width, state = (self.compiled.width,), {"q": (self.nq,), "v": (self.nv,)}
        settings = ("count", "h", "origin") if self.fixed else ("target", "tolerance", "end", "longest")
        functions: dict[str, tuple[Callable[..., Any], dict, tuple[str, ...]]] = {
            "first": (self._first, state, ("h", "tolerance")),
            "advance": (self._advance, {"packed": width}, settings),
            "inside": (self._inside, {"packed": width}, ("theta", "h")),
            "nearest": (self._nearest, state, ()),
            "observed": (self._observed, {"t": (), **state}, ()),
        }
        function, before, after = functions[part]
        shapes = {**before, **self._shapes, **dict.fromkeys(after, ())}

        def traced(**given: Any) -> Any:
            numbers = given.pop("p", Vec())
            first = [given[name] for name in before]
            return function(*first, numbers, *(given[name] for name in after))

        return trace(traced, **shapes)

    def kernel(self, part: str, width: int | None = None) -> Kernel:
        """A part, compiled for all lanes of this processor, or for fewer."""
        title = f"{self.model.name}: {part} of many {self.compiled.spec.method.name}"
        return kernel_for(self._key(part), lambda: self.graph(part), title, width)

    def _key(self, part: str) -> str:
        model, run, spec = identity_text(self.model), self.spec.run, self.spec
        functions = takes_numbers(run.tau) or run.crossings or spec.outputs or isinstance(run.tau, PD)
        law = self.compiled.driven.law_text or (spec.identity if functions or self.compiled.law else "")
        if not model or not law or (functions and not spec.identity):
            return ""
        names = repr((self.names, self.along.inputs, sorted(self.along.places.items()), tuple(self.outputs)))
        events = repr([(c.name, c.direction) for c in run.crossings])
        method = (run.method.name, str(run.fixed), run.norm)
        return cache_key(model, *method, law, names, events, spec.identity, "lanes", part)

    @cached_property
    def kernels(self) -> dict[str, Kernel]:
        """All parts that runs need."""
        wanted = ["first", "advance"]
        wanted += ["inside"] if self.spec.run.crossings else []
        wanted += ["observed"] if self.outputs else []
        return {part: self.kernel(part) for part in wanted}

    def violated(self, q: np.ndarray, v: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Which of n starts (n,) the constraints do not allow."""
        n = len(q)
        if not self.compiled.constrained:
            return np.zeros(n, dtype=bool)
        there = np.empty((n, self.nq + self.nv))
        given = [np.ascontiguousarray(x) for x in (q, v, *([p] if self.names else []))]
        BoundKernel(self.kernel("nearest"), n, given, [there])()
        here = np.concatenate([q, v], axis=1)
        with np.errstate(all="ignore"):
            return ~(abs(there - here).max(axis=1) <= OFF * (1 + abs(here).max(axis=1)))

    # running

    def run(self, q: np.ndarray, v: np.ndarray, p: np.ndarray, timing: SampleTimes, threads: int = 1) -> BatchSamples:
        """Follow n runs from q (n, nq), v (n, nv) with numbers p (n, P), by some threads, in the same bits by any."""
        found = self.empty(len(q), timing)
        self.kernels  # noqa: B018 - compiled before threads ask for them

        def follow(few: slice) -> None:
            runs = BatchLoop(self, p[few], timing, BatchSamples(*(array[few] for array in found)))
            runs.start(q[few], v[few])
            for sample in range(len(timing.counts)):
                if not runs.advance(sample):
                    break
            runs.close()

        in_threads(follow, [slice(k, k + TOGETHER) for k in range(0, len(q), TOGETHER)], threads)
        return found

    def empty(self, n: int, timing: SampleTimes, fill: bool = True) -> BatchSamples:
        """Room for n runs; samples NaN unless they are filled anyhow."""
        samples, sizes = len(timing.times), (self.nq, self.nv, len(self.outputs))
        q, v, outputs = (np.empty((n, samples, size)) for size in sizes)
        for array in (q, v, outputs) if fill else ():
            array.fill(np.nan)
        q_end, v_end = (np.full((n, size), np.nan) for size in sizes[:2])
        status, end, accepted = (np.zeros(n) for _ in range(3))
        return BatchSamples(q, v, outputs, status, end, q_end, v_end, np.full(n, -1.0), accepted)


class OfTree(NamedTuple):
    """An output that asks the machine itself, such as its energy."""

    function: Callable[[Tree, Vec, Vec], Scalar]

    def __call__(self, tree: Tree, q: Vec, v: Vec) -> Scalar:
        """Its value at a state."""
        return self.function(tree, q, v)


KINETIC = OfTree(lambda tree, q, v: energy.energy(tree, q, v).kinetic)
POTENTIAL = OfTree(lambda tree, q, v: energy.energy(tree, q, v).potential)
"""The energies of a run."""


def _with_numbers(function: Callable[..., Scalar], own: Mapping[str, Any]) -> Callable[[Scalar, Vec, Vec], Scalar]:
    if not takes_numbers(function):
        return function
    return lambda t, q, v: function(t, q, v, own)
