"""Derivatives of a motion by numbers of its model and by its start: the numerical map of one step, differentiated.

    x' = Φ(t, x, h; p)  →  ẋ' = ∂Φ/∂x ẋ + ∂Φ/∂p ṗ                    Hairer, Nørsett, Wanner (1993) §I.14, (14.10)

The steps are those of the run, their sizes held fixed: what is found is the derivative of the numbers that the run
computes, not a second solution beside it. All directions go along together, one in each lane.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.assemble import rows
from polhode.assemble.directions import Directions, directions, tangent_units
from polhode.assemble.drive import LOOKS, Event, Segment
from polhode.assemble.engine import Engine
from polhode.assemble.inputs import Sampled
from polhode.errors import InputError, message
from polhode.integrate.method import Machine
from polhode.kernel import Graph, evaluate, pushforward, replay, trace
from polhode.kernel.build import Kernel, kernel_for, lanes
from polhode.kernel.cache import key as cache_key
from polhode.kernel.chain import chained
from polhode.model import Tree
from polhode.quaternion import conjugate, product
from polhode.result import labels
from polhode.scalar import Scalar, Vec, minimum, shaped, square

if TYPE_CHECKING:
    import xarray as xr

BLOCK = 2**20
"""Numbers that the steps of one block may take, with all that is kept of them."""

MOST = 4096
"""Steps of one block."""

NEAR = 1e-9
"""A sample this near to the end of a step, relative to the step, is at its end."""


class Course(NamedTuple):
    """A run that is to be differentiated: its engine (without events), its stretches, its start."""

    engine: Engine
    segments: Sequence[Segment]
    q: np.ndarray
    v: np.ndarray
    tolerance: float
    longest: float
    """No step under control is longer."""


def course(
    engine: Engine, segments: Sequence[Segment], q: np.ndarray, v: np.ndarray, tolerance: float,
    events: Sequence[Event], where: str,
) -> Course:  # fmt: skip
    """The course of a run, or an error that says why it has no derivative."""
    for event in events:
        if event.reset:
            fix = "Leave the reset out, or end the run there (terminal=True)."
            raise InputError(message(where, "the motion jumps", f"a reset at event '{event.name}'", "none", fix))
    if events:
        engine = Engine(replace(engine.plan, crossings=()), warn=False)
    sampled = ["tau, a Sampled controller, is a function in Python"] if isinstance(engine.plan.tau, Sampled) else []
    for reason in (*sampled, *engine.in_python):
        fix = "Write it on generic scalars: polhode.sin, polhode.where, …"
        raise InputError(message(where, "no derivative of a function in Python", reason, "compiled inputs", fix))
    return Course(engine, segments, q, v, tolerance, segments[-1].end / LOOKS if events else rows.LONGEST)


class Place(NamedTuple):
    """Where steps begin: the segment they belong to, the row there, how many they are."""

    segment: Segment
    row: np.ndarray
    many: int


class Steps(NamedTuple):
    """Steps that follow one another: times (n,), sizes (n,), states x = (q, v, memory) where they begin (n, …)."""

    place: Place
    t: np.ndarray
    h: np.ndarray
    x: np.ndarray
    end: np.ndarray
    """The state after the last."""
    row: np.ndarray
    whole: bool
    """Whether all of them could be taken."""


class Stepper:
    """A run again, step by step, in blocks; from where a block begins it can be run once more."""

    def __init__(self, course: Course, most: int = MOST) -> None:
        self.course, self.engine, self.most = course, course.engine, most
        self.memory = self.engine.plan.fixed and self.engine.like.memory is not None

    def __iter__(self) -> Iterator[Steps]:
        """All steps of the run, or those before a fault."""
        engine, x = self.engine, np.concatenate([self.course.q, self.course.v])
        fixed, h = engine.plan.fixed, 0.0
        for segment in self.course.segments:
            row = self._start(segment, x, h)
            left = int(segment.counts[-1]) if fixed else 1
            while left:
                steps = self.again(Place(segment, row, min(left, self.most) if fixed else self.most))
                if len(steps.t):
                    yield steps
                if not steps.whole:
                    return
                x, row = steps.end, steps.row
                left = left - len(steps.t) if fixed else float(engine.field(row, "t")) < segment.end
            h = 0.0 if fixed else float(engine.field(row, "h"))

    def _start(self, segment: Segment, x: np.ndarray, h: float) -> np.ndarray:
        """The row where a segment begins.  h: the step to try, 0 if not known"""
        engine, nq, n = self.engine, self.engine.model.nq, self.engine.model.nq + self.engine.model.nv
        q, v = x[:nq], x[nq:n]
        if engine.plan.fixed:
            return engine.start(segment.begin, q, v, segment.h)
        h = h or engine.first_step(segment.begin, q, v, self.course.tolerance, None)
        return engine.start(segment.begin, q, v, min(h, segment.end - segment.begin, self.course.longest))

    def again(self, place: Place) -> Steps:
        """The steps from a place on."""
        engine, segment = self.engine, place.segment
        table = np.empty((place.many + 1, engine.width))
        table[0] = place.row
        field = lambda name: engine.field(table, name)  # noqa: E731
        if engine.plan.fixed:
            engine.run(table, [1.0, segment.h, segment.begin])
            n = int(np.sum(field("status")[1:] == rows.GOING))
            t, h = segment.begin + field("taken") * segment.h, np.full(place.many, segment.h)
        else:
            chained(
                self._one_step, table, [np.array(x) for x in (self.course.tolerance, segment.end, self.course.longest)]
            )
            t, h = field("t"), field("h0")[1:]
            n = int(np.sum(np.diff(t) > 0))
        whole = bool(np.all(field("status") == rows.GOING))
        x = np.concatenate([field(name) for name in ("q", "v", *["memory"] * self.memory)], axis=1)
        return Steps(place._replace(many=n), t[:n], h[:n], x[:n], x[n], table[n], whole)

    @cached_property
    def _one_step(self) -> Kernel:
        """The row after one accepted step; at the end the row stays."""
        engine = self.engine

        def one_step(row: Vec, tolerance: Scalar, end: Scalar, longest: Scalar) -> Vec:
            t = shaped(engine.like, iter(row)).t
            beyond = minimum(t + (4e-16 * abs(t) + 1e-300), end)
            return rows.adaptive_row(engine.setup(), engine.like, row, beyond, tolerance, end, longest)[0]

        make = lambda: trace(one_step, row=(engine.width,), tolerance=(), end=(), longest=())  # noqa: E731
        title = f"{engine.model.name}: one step of {engine.plan.method.name}"
        return kernel_for(kept_as(engine, "one step"), make, title, 1)


def kept_as(engine: Engine, *more: str) -> str:
    """The name that a kernel of an engine is kept under; "": it is not."""
    return cache_key(engine._key, *more) if engine._key else ""


class Rule:
    """One step of a course as a function of (x, t, h, p) on generic scalars."""

    def __init__(self, course: Course, along: Directions, rolled: bool = True) -> None:
        self.engine, self.along, self.rolled = course.engine, along, rolled
        self.level = constant_forces(course.engine)
        self.n = course.engine.model.nq + course.engine.model.nv
        self.shapes: dict[str, tuple[int, ...]] = {"x": (self.n,), "t": (), "h": ()}
        if along.inputs:  # an array of no numbers is no argument
            self.shapes["p"] = (len(along.inputs),)

    def machine(self, p: Vec) -> Machine:
        """The machine with these numbers for inputs."""
        forces = self.along.forces(self.level or (), p)
        law = (lambda t, q, v: forces) if forces else None
        return self.engine.on(self.along.tree(p), law, self.rolled).setup().machine

    def parts(self, x: Vec) -> tuple[Vec, ...]:
        """q, v, and memory if there is one."""
        nq, n = self.engine.model.nq, self.engine.model.nq + self.engine.model.nv
        return (Vec(x[:nq]), Vec(x[nq:n]), *([Vec(x[n:])] if len(x) > n else []))


class Tangents:
    """The derivatives of a course's samples along directions."""

    def __init__(self, course: Course, along: Directions) -> None:
        self.course, self.along = course, along
        self.rule = Rule(course, along)
        memory = course.engine.like.memory if course.engine.plan.fixed else None
        self.n = self.rule.n + len(memory or ())
        self.rule.shapes["x"] = (self.n,)

    def step(self, x: Vec, t: Scalar, h: Scalar, p: Vec = Vec()) -> Vec:  # noqa: B008
        """The state after one step."""
        q, v, *memory = self.rule.parts(x)
        end = self.course.engine.plan.method.step(self.rule.machine(p), t, q, v, h, *memory)
        return Vec((*end.q, *end.v, *(end.memory or ())))

    def graph(self) -> Graph:
        """A row (ẋ, ṗ) after one step, of the row before and the arguments of the step."""
        slopes = pushforward(trace(self.step, **self.rule.shapes), [n for n in ("x", "p") if n in self.rule.shapes])

        def tangent(row: Vec, **given: Any) -> Vec:
            dots = {"x_dot": Vec(row[: self.n])} | ({"p_dot": Vec(row[self.n :])} if "p" in given else {})
            return Vec((*replay(slopes, **given, **dots)["result_dot"], *row[self.n :]))

        return trace(tangent, row=(self.n + len(self.along.inputs),), **self.rule.shapes)

    @cached_property
    def kernel(self) -> Kernel:
        """The compiled graph: a lane for each direction."""
        engine = self.course.engine
        title = f"{engine.model.name}: tangent of {engine.plan.method.name}"
        name = kept_as(engine, "tangent", *self.along.inputs)
        return kernel_for(name, self.graph, title, 1 if len(self.along.names) == 1 else None)

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """ẋ (len(times), D, nq + nv) at times that ascend from the start, raw coordinates; NaN after a fault."""
        directions, size = len(self.along.names), self.n + len(self.along.inputs)
        side = directions if directions == 1 else max(directions, lanes())
        now = np.zeros((side, size))
        now[:directions, : self.rule.n] = self.along.start
        now[:directions, self.n :] = self.along.along
        found = np.full((len(times), directions, self.rule.n), np.nan)
        done = int(np.searchsorted(times, self.course.segments[0].begin, "right"))
        found[:done] = self.along.start
        segment = None
        for steps in Stepper(self.course, max(1, min(MOST, BLOCK // (side * (size + self.n))))):
            if steps.place.segment is not segment:
                segment = steps.place.segment
                now[:, self.rule.n : self.n] = self._memory(steps, now)
            table = self._pushed(steps, now)
            now, last = table[-1], int(np.searchsorted(times, steps.t[-1] + (1 + NEAR) * steps.h[-1], "right"))
            self._sampled(steps, table, times[done:last], found[done:last])
            done = last
            if done == len(times):
                break
        return found

    def _pushed(self, steps: Steps, now: np.ndarray) -> np.ndarray:
        """Rows (n + 1, side, size) where steps begin, and after the last."""
        side, size = now.shape
        table = np.empty((len(steps.t) + 1, side, size))
        table[0] = now
        each = [np.repeat(array, side, axis=0) for array in (steps.x, steps.t, steps.h)]
        chained(self.kernel, table.reshape(-1, size), [*each, *self._p], apart=side)
        return table

    @property
    def _p(self) -> list[np.ndarray]:
        return [self.along.p] if len(self.along.p) else []

    def _sampled(self, steps: Steps, table: np.ndarray, times: np.ndarray, found: np.ndarray) -> None:
        """Derivatives at samples in these steps: within one by a shorter step from its begin."""
        _, directions, n = found.shape
        k = np.searchsorted(steps.t + (1 + NEAR) * steps.h, times)
        inside = times < steps.t[k] + (1 - NEAR) * steps.h[k]
        found[~inside] = table[k[~inside] + 1, :directions, :n]
        if np.any(inside):
            k, t = k[inside], times[inside]
            rest = [array[:, None] for array in (steps.x[k], steps.t[k], t - steps.t[k])]
            found[inside] = self.kernel(table[k, :directions], *rest, *self._p)[0][..., :n]

    def _memory(self, steps: Steps, now: np.ndarray) -> np.ndarray:
        """The derivatives of what a method starts its steps with."""
        method, n = self.course.engine.plan.method, self.rule.n
        if n == self.n:
            return np.zeros((len(now), self.n - n))

        def start(x: Vec, t: Scalar, h: Scalar, p: Vec = Vec()) -> Vec:  # noqa: B008
            assert method.start
            return method.start(self.rule.machine(p), t, *self.rule.parts(x), h)

        shapes = {**self.rule.shapes, "x": (n,)}
        given = {"x": steps.x[0, :n], "t": steps.t[0], "h": steps.h[0], "x_dot": now[:, :n]}
        if self._p:
            given |= {"p": self.along.p, "p_dot": now[:, self.n :]}
        slopes = pushforward(trace(start, **shapes), [name for name in ("x", "p") if name in shapes])
        return evaluate(slopes, **given)["result_dot"]


def constant_forces(engine: Engine) -> list[float] | None:
    """The constant forces of an engine (nv,); None if they are not constant."""
    if engine.plan.tau is None:
        return [0.0] * engine.model.nv
    return list(engine.law(0.0, Vec(), Vec())) if engine.law and engine.law_text.startswith("constant") else None


def tangent_part(tree: Tree, q: np.ndarray, qdot: np.ndarray) -> np.ndarray:
    """δ (..., nv) with q̇ = rate(q, δ): 2 p*∘ṗ/‖p‖² for quaternions, of raw q̇ (..., nq)."""
    found = np.zeros((*qdot.shape[:-1], tree.nv))
    for e in tree.elements:
        dots = [qdot[..., k] for k in e.q]
        if e.kind == "ball":
            p = Vec([q[..., k] for k in e.q])
            dots = list(2 * product(conjugate(p), Vec(dots)) / square(p))[1:]
        for k, value in zip(e.v, dots, strict=True):
            found[..., k] = value
    return found


class Sensitivities:
    """What `simulate(…, sensitivities=paths)` adds to a run."""

    def __init__(self, course: Course, paths: Sequence[str] | str) -> None:
        level = constant_forces(course.engine)
        self.course = course
        self.along = directions(course.engine.model, course.q, level, paths, "simulate, sensitivities")

    def added(self, run: "xr.Dataset") -> "xr.Dataset":
        """The Dataset with sensitivity_q, sensitivity_v (time, dof, parameter)."""
        model, nq = self.course.engine.model, self.course.engine.model.nq
        found = Tangents(self.course, self.along)(run["time"].values)
        q = tangent_part(self.course.engine.tree, run["q"].values[:, None], found[..., :nq])
        dims = ("time", "dof", "parameter")
        meaning = {
            "sensitivity_q": ("change of the coordinates along the velocities, by a parameter", tangent_units(model)),
            "sensitivity_v": ("change of the velocities, by a parameter", labels.dof_units(model)),
        }
        for (name, (text, units)), values in zip(meaning.items(), (q, found[..., nq:]), strict=True):
            attributes = {"units": _quotient(units, self.along.units), "long_name": text}
            run = run.assign({name: (dims, np.ascontiguousarray(np.swapaxes(values, 1, 2)), attributes)})
        return run.assign_coords(
            parameter=("parameter", np.array(self.along.names, dtype=str), {"long_name": "what is changed"}),
            parameter_units=("parameter", np.array(self.along.units, dtype=str), {"long_name": "its unit"}),
        )


def _quotient(units: Sequence[str], by: Sequence[str]) -> str:
    """The unit of all quotients, if it is one and known."""
    if len(set(units)) == 1 and len(set(by)) == 1 and by[0]:
        return f"{units[0]} / ({by[0]})"
    return "see dof_units, parameter_units"
