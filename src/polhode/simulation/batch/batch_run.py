"""Many runs of one model at once: a run is a lane of the compiled loop, numbers of its model are its inputs.

One kernel serves all runs: what differs from run to run (masses, gains, starts) it reads from a row of its own.
Every lane does the same operations at every width and rounds alike, so a run has the same bits wherever it
stands and whichever runs are beside it; a lane that ends (a fault, an event) keeps its state and does not affect the
others.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from polhode.check.initial_state import ROUNDS
from polhode.errors import InputError, message
from polhode.integrate.adaptive import initial_step
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import Kernel, kernel_for
from polhode.kernel.backends.llvm.in_place import BoundKernel
from polhode.kernel.cache import key as cache_key
from polhode.kernel.graph import Graph
from polhode.kernel.work_threads import go_on, in_threads
from polhode.model import Tree
from polhode.model.forces.refused import refuse_events
from polhode.scalar import Scalar, Vec, flat, minimum, where
from polhode.simulation import step_state
from polhode.simulation.batch.batch_records import (
    BatchSamples,
    BatchSpec,
    BatchStretch,
    SampleTimes,
    TreeOutput,
    takes_numbers,
)
from polhode.simulation.compiled_run import SHORT, CompiledRun, RunSpec
from polhode.simulation.derivatives.directions import Directions, directions, upper
from polhode.simulation.events.event_location import located
from polhode.simulation.inputs import PD, Sampled, is_held_input, law_of
from polhode.simulation.run_records import NONE, Segment
from polhode.simulation.scenario import LOOKS
from polhode.simulation.step_times.companion_steps import LOOKS as COMPANION_LOOKS, companion_segments
from polhode.simulation.step_times.segments import Stops, segments_of, unsplit
from polhode.simulation.switching import Switching, user_functions
from polhode.system.identity import identity_text

START_TOLERANCE = 1e-6
"""Distance of a start from the constraints, relative to 1 + its largest number, above which it is refused."""

MOVED = 1e-11
"""Change of a start by one projection, relative to 1 + its largest number, below which it counts as moved onto the
constraints: the tolerance of `ph.consistent_start`."""

MOST_STEPS = 10_000_000
"""Steps that are tried within one sample, before a run counts as stuck."""

TOGETHER = 128
"""Runs that one thread follows at a time: their step states stay in its cache."""

MORE_TOGETHER = 1024
"""The same, at most, of trees by equal steps: a call takes the steps of one run after those of another, in registers;
more runs mean less of the interpreter's time, which threads share, for each."""

FEW = 32
"""Runs that one thread follows at a time, at least, where there are fewer than TOGETHER for each."""

QUICK_STEPS = 10
"""Equal steps of trees between checks for Ctrl-C, over those of other machines: one of `arm-7` in lanes takes 2 ns in
the unit of `step_state.at_once`, a hundredth of what that allows."""

GAINS = ("stiffness", "damping")
"""Numbers of a PD controller that may differ from run to run, as "tau.stiffness", "tau.damping"."""


class BatchRun:
    """A BatchSpec, checked and ready to run."""

    def __init__(self, spec: BatchSpec) -> None:
        """Check and prepare; kernels are compiled when they are first needed."""
        self.spec = spec
        run = spec.run
        if is_held_input(run.tau):
            fix = "Write it on generic scalars: a function of (t, q, v), or of (t, q, v, numbers); or use ph.simulate."
            found = "Sampled" if isinstance(run.tau, Sampled) else "Table(…, hold=True)"
            raise InputError(message("sweep, tau", "held from time to time", found, "a continuous input", fix))
        self.model = run.model
        q, level = np.array(self.model.zero), None
        self.along: Directions = directions(self.model, q, level, spec.numbers, "sweep")
        self.names = (*self.along.inputs, *spec.free)
        """Names of the numbers that each run has its own of, in the order of p."""
        self.defaults = np.concatenate([self.along.p, np.zeros(len(spec.free))])
        own = dict(zip(self.names, self.defaults.tolist(), strict=True))
        self.nq, self.nv = self.model.nq, self.model.nv
        self.interior, self._breaks = False, dict[float, Switching]()  # by the duration
        self.interior = any(f.times for f in self.switching(1.0).functions)
        """Whether conditions of time alone switch something: a step then sees times of its interior only."""
        self.compiled = CompiledRun(self.run_spec(own), warn=False)
        for reason in self.compiled.in_python:
            fix = "Write it on generic scalars: polhode.sin, polhode.where, …"
            raise InputError(message("sweep", "a function that cannot be compiled", reason, "compiled inputs", fix))
        self.outputs = tuple(spec.outputs or {})

    def switching(self, duration: float) -> Switching:
        """Where the user functions of all runs alike are not smooth, and which of them depend on time."""
        if duration not in self._breaks:
            self._breaks[duration] = self._switching(duration)
        return self._breaks[duration]

    # the steps of all runs

    def unsplit(self, timing: SampleTimes) -> int:
        """Breaks within equal steps that do not end a step, since there are too many of them; 0: every one does."""
        return unsplit(self._ends(timing), timing.whole, timing.h) if self.fixed else 0

    def _ends(self, timing: SampleTimes) -> np.ndarray:
        """Times at which steps end: corners of a table, solutions of conditions of time alone."""
        return self.switching(timing.whole).ends_with(self.spec.run.tau, self.model)

    def segments(self, timing: SampleTimes) -> list[Segment]:
        """The segments of every run, as those of one by itself."""
        knots = NONE if self.unsplit(timing) else self._ends(timing)
        given = timing.end, timing.h if self.fixed else None, timing.times, NONE, knots[knots < timing.end]
        if timing.is_companion:
            return companion_segments(*given, self.switching(timing.whole).is_timed, self.has_memory)
        return segments_of(*given, self.has_memory)

    def stretches(self, timing: SampleTimes) -> list[BatchStretch]:
        """The steps of every run, from one time at which Python looks at them to the next."""
        segments, found, samples = self.segments(timing), list[BatchStretch](), 0
        if not self.fixed:
            stops, longest = Stops(segments[0]), self.longest(timing)
            for time, is_sample, end in zip(stops.times.tolist(), stops.sampled, stops.ends.tolist(), strict=True):
                samples += is_sample
                found.append(BatchStretch(time, (time, timing.tolerance, end, longest), samples if is_sample else 0))
            return found
        for k, segment in enumerate(segments):
            before = 0.0
            for i, count in enumerate(segment.counts.tolist()):
                samples += (is_sample := i < len(segment.samples))
                time = float(segment.samples[i]) if is_sample else segment.end
                settings = count - before, segment.h, segment.begin
                found.append(BatchStretch(time, settings, samples if is_sample else 0, k > 0 and i == 0))
                before = count
        return found

    def longest(self, timing: SampleTimes) -> float:
        """The longest controlled step, s."""
        looks = COMPANION_LOOKS if timing.is_companion else LOOKS
        return self.switching(timing.whole).longest_step(looks, bool(self.spec.run.crossings), timing.is_companion)

    def _switching(self, duration: float) -> Switching:
        """Conditions in which numbers of a run stand beside the time count as those of the state."""
        n, start = self.model.nq, self.spec.run.start
        q, v = start if start else (np.array(self.model.zero), np.zeros(self.model.nv))

        def functions(p: Vec) -> list[tuple[str, Callable[..., Any]]]:
            run = self.run_spec(self._own(p))
            own = self.along.tree(Vec(p[: len(self.along.inputs)])) if self.along.inputs else None
            return list(user_functions(self.model, run.tau, run.policy, own))

        def nth(k: int, t: Scalar, x: Vec, v: Vec) -> Any:
            return functions(Vec(x[n:]))[k][1](t, Vec(x[:n]), v)

        names = [name for name, _ in functions(Vec(self.defaults.tolist()))]
        named = [(name, partial(nth, k)) for k, name in enumerate(names)]
        return Switching(named, np.concatenate([q, self.defaults]), v, duration)

    @property
    def fixed(self) -> bool:
        """Equal steps, or steps under control of their error."""
        return self.spec.run.fixed

    def beside(self, other: "BatchRun") -> "BatchRun":
        """A batch on the same device, in double: this processor."""
        return other

    @cached_property
    def compact(self) -> "BatchRun":
        """The same in less code, for compilers that take long: equal up to rounding."""
        run = self.spec.run
        return BatchRun(replace(self.spec, run=replace(run, policy=replace(run.policy, compact=True))))

    @property
    def has_memory(self) -> bool:
        """Whether equal steps carry something on beside the state."""
        return self.fixed and self.spec.run.method.start is not None

    @property
    def at_once(self) -> int:
        """Steps of each run that compiled code takes between checks for Ctrl-C."""
        return step_state.at_once(self.nv, TOGETHER)

    @property
    def is_quick(self) -> bool:
        """Whether steps are equal and of a tree."""
        return self.fixed and not self.compiled.constrained

    def together(self, runs: int, threads: int) -> int:
        """Runs that one thread follows at a time, where some threads share some runs."""
        if not self.is_quick:
            return TOGETHER
        if threads > 1 and runs < threads * TOGETHER:
            return max(FEW * -(-runs // (FEW * threads)), FEW)
        share = runs // (4 * threads)  # a few for each thread, since none is to wait long for the last
        return min(max(share // TOGETHER, 1) * TOGETHER, MORE_TOGETHER)

    def place(self, path: str) -> str:
        """The name in p of a path: two equal entries of an inertia matrix are one number."""
        return upper(path)

    # on generic scalars

    def run_spec(self, own: Mapping[str, Any]) -> RunSpec:
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
        return replace(run, tau=tau, crossings=crossings, interior=self.interior)

    def _own(self, p: Vec) -> dict[str, Scalar]:
        return dict(zip(self.names, p, strict=True))

    def _tree(self, p: Vec) -> Tree:
        return self.along.tree(Vec(p[: len(self.along.inputs)])) if self.along.inputs else self.compiled.tree

    def _with(self, p: Vec) -> CompiledRun:
        """The compiled run with the numbers of one run; a controller's own model keeps those of the specification."""
        run = self.run_spec(self._own(p))
        tree = self._tree(p)
        law = self.compiled.law
        if takes_numbers(self.spec.run.tau) or isinstance(run.tau, PD):
            law = law_of(self.model, tree, run.tau, np.array(self.model.zero))[0]
        found = self.compiled.on_tree(tree, law) if self.along.inputs else self.compiled
        return found.changed(spec=run, law=law)

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

    def _again(self, q: Vec, v: Vec, p: Vec, t: Scalar, h: Scalar) -> Vec:
        """The first step state of another segment of equal steps."""
        return Vec(flat(step_state.fixed_start(self._setup(p), t, q, v, h)))

    def _inside(self, packed: Vec, p: Vec, theta: Scalar, h: Scalar, origin: Scalar) -> Vec:
        setup, like = self._setup(p), self.compiled.like
        if self.fixed:
            return step_state.fixed_inside(setup, like, packed, theta, h, origin)
        return step_state.adaptive_inside(setup, like, packed, theta)

    def _nearest(self, q: Vec, v: Vec, p: Vec) -> Vec:
        """The state brought to where the constraints hold; no number where they contradict each other."""
        return Vec(flat(self._with(p).project(0.0, q, v)))

    def _nearer(self, q: Vec, v: Vec, p: Vec) -> Vec:
        """A state nearer to where the constraints hold, from one that may be far from them."""
        constrained = self.compiled.constrained
        assert constrained is not None
        return Vec(flat(constrained.projected(self._tree(p), 0.0, q, v)))

    def _observed(self, t: Scalar, q: Vec, v: Vec, p: Vec) -> Vec:
        """All outputs."""
        tree, own = self._tree(p), self._own(p)
        rules = (self.spec.outputs or {}).values()
        return Vec([rule(tree, q, v) if isinstance(rule, TreeOutput) else rule(t, q, v, own) for rule in rules])

    # compiled

    @property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"p": (len(self.names),)} if self.names else {}

    def graph(self, part: str) -> Graph:
        """The graph of one function: "first", "advance", "inside", "observed"; with constraints "nearest", "nearer";
        of equal steps that have a memory "again"."""
        width, state = (self.compiled.width,), {"q": (self.nq,), "v": (self.nv,)}
        settings = ("count", "h", "origin") if self.fixed else ("target", "tolerance", "end", "longest")
        functions: dict[str, tuple[Callable[..., Any], dict, tuple[str, ...]]] = {
            "first": (self._first, state, ("h", "tolerance")),
            "advance": (self._advance, {"packed": width}, settings),
            "again": (self._again, state, ("t", "h")),
            "inside": (self._inside, {"packed": width}, ("theta", "h", "origin")),
            "nearest": (self._nearest, state, ()),
            "nearer": (self._nearer, state, ()),
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
        """The kernel of one function of `graph`, for all SIMD lanes of this processor, or for fewer."""
        title = f"{self.model.name}: {part} of many {self.compiled.spec.method.name}"
        return kernel_for(self.key(part), lambda: self.graph(part), title, width, keep=True)

    def key(self, part: str) -> str:
        """A digest of all that the graph of one function depends on; "" where texts do not say all of it."""
        model, run, spec = identity_text(self.model), self.spec.run, self.spec
        functions = takes_numbers(run.tau) or run.crossings or spec.outputs or isinstance(run.tau, PD)
        law = self.compiled.driven.law_text or (spec.identity if functions or self.compiled.law else "")
        if not model or not law or (functions and not spec.identity):
            return ""
        names = repr((self.names, self.along.inputs, sorted(self.along.places.items()), tuple(self.outputs)))
        events = repr([(c.name, c.direction) for c in run.crossings])
        method = (run.method.name, str(run.fixed), run.norm, run.policy.identity)
        more = ["interior"] * self.interior
        return cache_key(model, *method, law, names, events, spec.identity, "lanes", part, *more)

    @cached_property
    def kernels(self) -> dict[str, Kernel]:
        """The kernels that runs side by side need, by the names of `graph`."""
        fix = "Follow them one by one: SingleRuns, as ph.sweep does on a processor; or take an element without events."
        refuse_events("sweep", self.model.forces, "runs side by side do not stop for them", fix)
        wanted = ["first", "advance"]
        wanted += ["inside"] if self.spec.run.crossings else []
        wanted += ["observed"] if self.outputs else []
        return {part: self.kernel(part) for part in wanted}

    @cached_property
    def again(self) -> Kernel:
        """The kernel that begins the memory of equal steps anew."""
        return self.kernel("again")

    def violated(self, q: np.ndarray, v: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Which of n starts (n,) the constraints do not allow."""
        if not self.compiled.constrained:
            return np.zeros(len(q), dtype=bool)
        here = np.concatenate([q, v], axis=1)
        return ~_is_near(here, self._projected("nearest", here, p), START_TOLERANCE)

    def moved(self, q: np.ndarray, v: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The starts q (n, nq), v (n, nv) brought to where the constraints hold, each as if it were alone."""
        if not self.compiled.constrained:
            return q, v
        here, going = np.concatenate([q, v], axis=1), np.ones(len(q), dtype=bool)
        for _ in range(ROUNDS):
            there = self._projected("nearer", here, p)
            going, last = going & np.isfinite(there).all(axis=1), here
            here = np.where(going[:, None], there, here)
            going &= ~_is_near(last, here, MOVED)
            if not going.any():
                break
        return here[:, : self.nq], here[:, self.nq :]

    def _projected(self, part: str, states: np.ndarray, p: np.ndarray) -> np.ndarray:
        """States (n, nq + nv) after one projection onto the constraints, "nearest" or "nearer"."""
        found = np.empty(states.shape)
        q, v = (np.ascontiguousarray(x) for x in (states[:, : self.nq], states[:, self.nq :]))
        numbers = [np.ascontiguousarray(p)] if self.names else []
        BoundKernel(self.kernel(part), len(states), [q, v, *numbers], [found])()
        return found

    # running

    def run(self, q: np.ndarray, v: np.ndarray, p: np.ndarray, timing: SampleTimes, threads: int = 1) -> BatchSamples:
        """The samples of n runs from q (n, nq), v (n, nv) with numbers p (n, P); same bits by any number of threads."""
        found, stretches = self.empty(len(q), timing, fill=False), self.stretches(timing)
        self.kernels  # noqa: B018 - compiled before threads ask for them
        if self.has_memory and any(stretch.is_new for stretch in stretches):
            self.again  # noqa: B018

        def follow(few: slice) -> None:
            own = BatchSamples(*(array[few] for array in found))
            own.clear()
            runs = BatchLoop(self, p[few], timing, own)
            runs.start(q[few], v[few], stretches[0])
            for stretch in stretches:
                if not runs.advance(stretch):
                    break
            runs.close()

        together = self.together(len(q), threads)
        in_threads(follow, [slice(k, k + together) for k in range(0, len(q), together)], threads)
        return found

    def empty(self, n: int, timing: SampleTimes, fill: bool = True) -> BatchSamples:
        """Arrays for n runs; fill: states begin as NaN, which callers that write all of them do not need."""
        samples, sizes = len(timing.times), (self.nq, self.nv, len(self.outputs))
        q, v, outputs = (np.empty((n, samples, size)) for size in sizes)
        q_end, v_end = (np.empty((n, size)) for size in sizes[:2])
        status, end, accepted = (np.zeros(n) for _ in range(3))
        reason = np.full(n, "", dtype=object)
        found = BatchSamples(q, v, outputs, status, end, q_end, v_end, np.full(n, -1.0), accepted, reason)
        if fill:
            found.clear()
        return found


class BatchLoop:
    """Runs in progress: two tables of step states, each computed from the other in turn.

    origin, h  (n,)  of equal steps: where the segment began in which each run is or ended, and its step
    earlier    (n,)  equal steps of the segments before it
    """

    def __init__(self, batch: BatchRun, p: np.ndarray, timing: SampleTimes, found: BatchSamples) -> None:
        self.batch, self.timing, self.found, compiled = batch, timing, found, batch.compiled
        self.n = n = len(found.q)
        self.given = [np.ascontiguousarray(p)] if batch.names else []
        self.tables = [np.empty((n, compiled.width)) for _ in range(2)]
        self.now = 0
        self.settings = [np.zeros(()) for _ in range(3 if batch.fixed else 4)]
        self.state = [] if batch.fixed else [np.empty((n, batch.nq + batch.nv))]
        self.origin, self.h, self.earlier = (np.zeros(n) for _ in range(3))
        self.most = step_state.at_once(batch.nv, n) * (QUICK_STEPS if batch.is_quick else 1)
        """Equal steps between checks for Ctrl-C."""

    @cached_property
    def steps(self) -> list[BoundKernel]:
        """The step kernels: from the first table to the second, and back."""
        advance, given = self.batch.kernels["advance"], [*self.given, *self.settings]
        return [
            BoundKernel(advance, self.n, [self.tables[k], *given], [self.tables[1 - k], *self.state]) for k in range(2)
        ]

    @cached_property
    def observe(self) -> tuple[list[np.ndarray], BoundKernel]:
        """Arrays for time, q, v and outputs; and the kernel that computes the outputs from the others."""
        batch, n = self.batch, self.n
        room = [np.zeros(()), *(np.empty((n, size)) for size in (batch.nq, batch.nv, len(batch.outputs)))]
        return room, BoundKernel(batch.kernels["observed"], n, [*room[:3], *self.given], [room[3]])

    @property
    def table(self) -> np.ndarray:
        """The step states as they are now."""
        return self.tables[self.now]

    def start(self, q: np.ndarray, v: np.ndarray, stretch: BatchStretch) -> None:
        """The first step states, and the first sample; stretch: the steps that follow."""
        batch = self.batch
        q, v, h = np.ascontiguousarray(q), np.ascontiguousarray(v), np.array(self.first_step(stretch))
        given = [q, v, *self.given, h, np.array(self.timing.tolerance)]
        BoundKernel(batch.kernels["first"], self.n, given, [self.table])()
        self._keep(0, q, v, np.ones(self.n, dtype=bool))

    def first_step(self, stretch: BatchStretch) -> float:
        """The first of the equal steps to come, or the longest one under control."""
        if not self.batch.fixed:
            return min(self.timing.end, stretch.settings[-1])
        _, self.h[:], self.origin[:] = stretch.settings
        return stretch.settings[1]

    def advance(self, stretch: BatchStretch) -> bool:
        """Advance all runs to the end of a stretch; False when none is left."""
        batch, field = self.batch, self.batch.compiled.field
        if stretch.is_new:
            self._begin_segment(stretch)
        for place, value in zip(self.settings, stretch.settings, strict=True):
            place[...] = value
        if batch.fixed:
            left_over = int(stretch.settings[0])
            while left_over:
                few = min(left_over, self.most)
                self.settings[0][...] = few
                self._step()
                left_over -= few
            there = field(self.table, "status") == step_state.GOING
            q, v = field(self.table, "q"), field(self.table, "v")
        else:
            self._controlled(stretch.time)
            there = field(self.table, "t") >= stretch.time
            q, v = self.state[0][:, : batch.nq], self.state[0][:, batch.nq :]
        if stretch.sample:
            self._keep(stretch.sample, q, v, there)
        return bool(there.any())

    def _begin_segment(self, stretch: BatchStretch) -> None:
        """Begin another segment of equal steps, in all runs that are still going."""
        field, table = self.batch.compiled.field, self.table
        going = self.going_on(field(table, "status"), field(table, "accepted"), stretch)
        if self.batch.has_memory:
            state = [np.ascontiguousarray(field(table, name)) for name in ("q", "v")]
            settings, fresh = [np.array(stretch.settings[2]), np.array(stretch.settings[1])], np.empty_like(table)
            BoundKernel(self.batch.again, self.n, [*state, *self.given, *settings], [fresh])()
            table[going] = fresh[going]
        else:
            field(table, "accepted")[going] = 0.0

    def going_on(self, status: np.ndarray, accepted: np.ndarray, stretch: BatchStretch) -> np.ndarray:
        """Which runs (n,) go on in another segment of equal steps; theirs are counted on."""
        going = status == step_state.GOING
        self.earlier[going] += accepted[going]
        _, self.h[going], self.origin[going] = stretch.settings
        return going

    def _controlled(self, target: float) -> None:
        """Steps under control of all runs up to a time."""
        field = self.batch.compiled.field
        for _ in range(-(-MOST_STEPS // self.batch.at_once)):
            self._step()
            left = (field(self.table, "status") == step_state.GOING) & (field(self.table, "t") < target)
            if not left.any():
                return
        field(self.table, "status")[left] = step_state.TOO_SMALL

    def _step(self) -> None:
        go_on()
        self.steps[self.now]()
        self.now = 1 - self.now

    def _keep(self, sample: int, q: np.ndarray, v: np.ndarray, there: np.ndarray) -> None:
        batch, found, t = self.batch, self.found, self.timing.times[sample]
        everyone = bool(there.all())
        if batch.outputs:
            (at, own_q, own_v, values), look = self.observe
            at[...], own_q[:], own_v[:] = t, q, v
            look()
            found.outputs[there if not everyone else slice(None), sample] = values if everyone else values[there]
        if everyone:
            found.q[:, sample], found.v[:, sample] = q, v
        else:
            found.q[there, sample], found.v[there, sample] = q[there], v[there]

    def close(self, last: "LastStates | None" = None) -> None:
        """Record how each run ended, and remove samples after its end; last: step states that are not in this table."""
        found, timing, last = self.found, self.timing, last or _HostStates(self)
        last.copy("status", found.status)
        last.copy("accepted", found.accepted)
        if self.batch.fixed:
            found.end[:] = self.origin + found.accepted * self.h
        else:
            last.copy("t", found.end)
        found.end[found.status == step_state.GOING] = timing.end
        found.accepted[:] += self.earlier
        last.copy("q", found.q_end)
        last.copy("v", found.v_end)
        at = np.flatnonzero(found.status == step_state.EVENT)
        if len(at):
            found.event[at], found.end[at], found.q_end[at], found.v_end[at] = self._events(at, last.rows(at))
            after = np.zeros((self.n, len(timing.times)), dtype=bool)
            after[at] = timing.times > found.end[at, None]
            for array in (found.q, found.v, found.outputs):
                array[after] = np.nan

    def _events(self, at: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, ...]:
        """Which event ended each of these runs first in its last step, and its time and state; table: of these runs."""
        batch, n = self.batch, len(at)
        nq, nv, crossings = batch.nq, batch.nv, batch.compiled.spec.crossings
        before, after = (batch.compiled.field(table, name) for name in ("g_before", "g"))
        theta, found = np.ones(n), np.empty((n, 1 + nq + nv + len(crossings)))
        given = [np.ascontiguousarray(x[at]) for x in self.given]
        given += [theta, self.h[at], self.origin[at]]
        look = BoundKernel(batch.kernels["inside"], n, [table, *given], [found])

        def value(k: int, part: np.ndarray) -> np.ndarray:
            theta[:] = part
            look()
            return found[:, 1 + nq + nv + k]

        best, which = np.full(n, 2.0), np.full(n, -1)
        for k, crossing in enumerate(crossings):
            part = located(crossing, before[:, k], partial(value, k), np.ones(n))
            first = step_state.crossed((crossing,), (before[:, k],), (after[:, k],)) & (part < best)
            best, which = np.where(first, part, best), np.where(first, k, which)
        theta[:] = best
        look()
        return which, found[:, 0].copy(), found[:, 1 : 1 + nq].copy(), found[:, 1 + nq : 1 + nq + nv]


class LastStates(Protocol):
    """Step states of runs that have ended, wherever they lie."""

    def copy(self, name: str, out: np.ndarray) -> None:
        """Write one field of all runs (n, …) into an array."""

    def rows(self, at: np.ndarray) -> np.ndarray:
        """The step states of some runs, whole."""


class _HostStates:
    """Those in the table of a loop."""

    def __init__(self, loop: BatchLoop) -> None:
        self.field, self.table = loop.batch.compiled.field, loop.table

    def copy(self, name: str, out: np.ndarray) -> None:
        out[:] = self.field(self.table, name)

    def rows(self, at: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self.table[at])


def _is_near(a: np.ndarray, b: np.ndarray, tolerance: float) -> np.ndarray:
    """Whether states (n, size) are alike, within a tolerance relative to 1 + the largest number of each."""
    with np.errstate(all="ignore"):
        return abs(b - a).max(axis=1) <= tolerance * (1 + abs(a).max(axis=1))


def _with_numbers(function: Callable[..., Scalar], own: Mapping[str, Any]) -> Callable[[Scalar, Vec, Vec], Scalar]:
    if not takes_numbers(function):
        return function
    return lambda t, q, v: function(t, q, v, own)
