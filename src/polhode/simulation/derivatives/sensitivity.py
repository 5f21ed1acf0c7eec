"""Derivatives of a motion by numbers of its model and by its start: the numerical map of one step, differentiated.

    x' = Φ(t, x, h; p)  →  ẋ' = ∂Φ/∂x ẋ + ∂Φ/∂p ṗ                            Hairer, Nørsett, Wanner (1993) §I.14

The steps are those of the run, their sizes held fixed: what is found is the derivative of the numbers that the run
computes, not a second solution beside it. All directions are computed together, one in each SIMD lane.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.dynamics import kinematics
from polhode.kernel import Graph, evaluate, pushforward, replay, trace
from polhode.kernel.backends.llvm.compile import Kernel, kernel_for, lanes
from polhode.kernel.backends.llvm.hoisted_kernel import hoisted_kernel_for
from polhode.kernel.backends.llvm.in_place import chained
from polhode.model import Tree
from polhode.result import labels
from polhode.scalar import Scalar, Vec, split, stack
from polhode.simulation import step_state
from polhode.simulation.compiled_run import CompiledRun
from polhode.simulation.derivatives.directions import Directions, directions, tangent_units
from polhode.simulation.derivatives.jumps import JumpMaps
from polhode.simulation.derivatives.replayed_steps import Replay, ReplayedRun, StepBlock, held, kept_as
from polhode.system.constrained_model import inputs_with_scales
from polhode.system.number_inputs import NumberInputs

if TYPE_CHECKING:
    import xarray as xr

WHERE = "simulate, sensitivities"

BLOCK = 2**20
"""Numbers of one block of steps, with the tangents kept of them: 8 MB."""

NEAR = 1e-9
"""A sample this near to the end of a step, relative to the step, is at its end."""


class StepMap:
    """One step of a run as a function of (x, t, h, level, p) on generic scalars, the last two only where needed."""

    def __init__(self, replayed: ReplayedRun, along: Directions, rolled: bool = True) -> None:
        self.compiled, self.along, self.rolled = replayed.compiled, along, rolled
        self.forces = constant_forces(replayed.compiled)
        model = replayed.compiled.model
        self.n = model.nq + model.nv
        self.shapes: dict[str, tuple[int, ...]] = {"x": (self.n,), "t": (), "h": ()}
        if replayed.compiled.spec.held:
            self.shapes["level"] = (model.nv,)
        if along.inputs:
            self.shapes["p"] = (len(along.inputs),)
        self.inputs: NumberInputs | None = None
        if replayed.compiled.inputs:
            paths = [*along.values(Vec(along.p.tolist()))]
            self.inputs = inputs_with_scales(model, replayed.compiled.constrained, paths)
            self.shapes["numbers"] = self.inputs.values.shape

    @property
    def changing(self) -> list[str]:
        """The arguments that derivatives are taken by."""
        return [name for name in ("x", "p") if name in self.shapes]

    def setup(self, p: Vec, level: Vec | None, numbers: Vec) -> step_state.Setup:
        """Method and machine with these numbers for inputs."""
        forces = self.along.forces(self.forces or (), p)
        law = (lambda t, q, v: forces) if forces else None
        if self.inputs:
            return self.compiled.on_numbers(self.inputs, numbers, self.along.values(p), law, self.rolled).setup(level)
        return self.compiled.on_tree(self.along.tree(p), law, self.rolled).setup(level)

    def parts(self, x: Vec) -> tuple[Vec, ...]:
        """q, v, and memory if there is one."""
        nq, n = self.compiled.model.nq, self.n
        return (Vec(x[:nq]), Vec(x[nq:n]), *([Vec(x[n:])] if len(x) > n else []))

    def given(self, steps: StepBlock) -> list[np.ndarray]:
        """The last arguments of kernels, the same for all steps of a block."""
        return [*held(steps.start.level), *([self.along.p] if "p" in self.shapes and not self.inputs else [])]

    def kernel(self, graph: Callable[[], Graph], what: str, width: int | None, keep: bool = True) -> Kernel:
        """The kernel of a graph of such steps.  what: "tangent" or "adjoint"; keep: whether it is kept"""
        compiled, words = self.compiled, (what, *self.along.inputs)
        title = f"{compiled.model.name}: {what} of {compiled.spec.method.name}"
        if not self.inputs:
            return kernel_for(kept_as(compiled, *words) if keep else "", graph, title, width)
        numbers = {"p": self.along.p, "numbers": self.inputs.values}
        given = {name: values for name, values in numbers.items() if name in self.shapes}
        name = compiled.key_of(self.inputs, *words) if keep else ""
        return hoisted_kernel_for(name, graph, [*given], title, width).bound(np.concatenate([*given.values()]))


NOTHING = Vec()


class Tangents:
    """The derivatives of a run's samples along directions."""

    def __init__(self, replayed: ReplayedRun, along: Directions) -> None:
        self.replayed, self.along = replayed, along
        self.step_map = StepMap(replayed, along)
        memory = replayed.compiled.like.memory
        self.n = self.step_map.n + len(memory or ())
        self.step_map.shapes["x"] = (self.n,)

    def step(
        self, x: Vec, t: Scalar, h: Scalar, level: Vec | None = None, p: Vec = NOTHING, numbers: Vec = NOTHING
    ) -> Vec:
        """The state after one step."""
        setup = self.step_map.setup(p, level, numbers)
        q, v, *memory = self.step_map.parts(x)
        end = setup.method.step(setup.machine, t, q, setup.begun(t, q, v), h, *memory)
        q, v = setup.project(t + h, end.q, end.v) if setup.project else (end.q, end.v)
        return Vec((*q, *v, *(end.memory or ())))

    def graph(self) -> Graph:
        """A row (ẋ, ṗ) after one step, of the row before and the arguments of the step."""
        slopes = pushforward(trace(self.step, **self.step_map.shapes), self.step_map.changing)

        def tangent(row: Vec, **given: Any) -> Vec:
            dots = {"x_dot": Vec(row[: self.n])} | ({"p_dot": Vec(row[self.n :])} if "p" in given else {})
            return Vec((*replay(slopes, **given, **dots)["result_dot"], *row[self.n :]))

        return trace(tangent, row=(self.n + len(self.along.inputs),), **self.step_map.shapes)

    @cached_property
    def kernel(self) -> Kernel:
        """The compiled graph: a lane for each direction."""
        return self.step_map.kernel(self.graph, "tangent", 1 if len(self.along.names) == 1 else None)

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """ẋ (len(times), D, nq + nv) at times that ascend from the start, raw coordinates; NaN after a fault."""
        directions, size = len(self.along.names), self.n + len(self.along.inputs)
        if not directions or not self.step_map.n:
            return np.zeros((len(times), directions, self.step_map.n))
        side = directions if directions == 1 else max(directions, lanes())
        now = np.zeros((side, size))
        now[:directions, : self.step_map.n] = self.along.x_dot
        now[:directions, self.n :] = self.along.p_dot
        found = np.full((len(times), directions, self.step_map.n), np.nan)
        done = int(np.searchsorted(times, self.replayed.segments[0].begin, "right"))
        found[:done] = self.along.x_dot
        segment, jumps = None, JumpMaps(self.replayed.jumps, self.along, WHERE) if self.replayed.jumps else None
        for steps in Replay(self.replayed, BLOCK // (side * (size + self.n))):
            if steps.start.segment is not segment:
                segment = steps.start.segment
                if jumps and (jump := jumps(steps.start.number)) is not None:
                    now[:, : self.step_map.n] = np.delete(now, range(self.step_map.n, self.n), axis=1) @ jump.state.T
                    found[abs(times - segment.begin) <= NEAR * steps.h[0]] = now[:directions, : self.step_map.n]
                now[:, self.step_map.n : self.n] = self._memory(steps, now)
            table = self._pushed(steps, now)
            now, last = table[-1], int(np.searchsorted(times, steps.t[-1] + (1 + NEAR) * steps.h[-1], "right"))
            self._sampled(steps, table, times[done:last], found[done:last])
            done = last
            if done == len(times):
                break
        return found

    def _pushed(self, steps: StepBlock, now: np.ndarray) -> np.ndarray:
        """Rows (n + 1, side, size) where steps begin, and after the last."""
        side, size = now.shape
        table = np.empty((len(steps.t) + 1, side, size))
        table[0] = now
        each = [np.repeat(array, side, axis=0) for array in (steps.x, steps.t, steps.h)]
        chained(self.kernel, table.reshape(-1, size), [*each, *self.step_map.given(steps)], apart=side)
        return table

    def _sampled(self, steps: StepBlock, table: np.ndarray, times: np.ndarray, found: np.ndarray) -> None:
        """Derivatives at samples in these steps: within one by a shorter step from its beginning."""
        _, directions, n = found.shape
        k = np.searchsorted(steps.t + (1 + NEAR) * steps.h, times)
        inside = times < steps.t[k] + (1 - NEAR) * steps.h[k]
        found[~inside] = table[k[~inside] + 1, :directions, :n]
        if np.any(inside):
            k, t = k[inside], times[inside]
            rest = [array[:, None] for array in (steps.x[k], steps.t[k], t - steps.t[k])]
            found[inside] = self.kernel(table[k, :directions], *rest, *self.step_map.given(steps))[0][..., :n]

    def _memory(self, steps: StepBlock, now: np.ndarray) -> np.ndarray:
        """The derivatives of the memory that a method starts its steps with."""
        method, n = self.replayed.compiled.spec.method, self.step_map.n
        if n == self.n or method.start is None:  # memory that steps guess by begins as zeros
            return np.zeros((len(now), self.n - n))

        def start(
            x: Vec, t: Scalar, h: Scalar, level: Vec | None = None, p: Vec = NOTHING, numbers: Vec = NOTHING
        ) -> Vec:
            assert method.start
            q, v = self.step_map.parts(x)
            return method.start(self.step_map.setup(p, level, numbers).machine, t, q, v, h)

        shapes = {**self.step_map.shapes, "x": (n,)}
        known = {"x": steps.x[0, :n], "t": steps.t[0], "h": steps.h[0], "level": steps.start.level, "p": self.along.p}
        known["numbers"] = self.step_map.inputs.values if self.step_map.inputs else None
        given = {name: known[name] for name in shapes} | {"x_dot": now[:, :n]}
        given |= {"p_dot": now[:, self.n :]} if "p" in shapes else {}
        return evaluate(pushforward(trace(start, **shapes), self.step_map.changing), **given)["result_dot"]


def kept_on_constraints(replayed: ReplayedRun, along: Directions) -> Directions:
    """The same directions, with the start moved as constraints move: by the least change in the mass metric."""
    compiled, constrained = replayed.compiled, replayed.compiled.constrained
    if constrained is None or not along.inputs:
        return along

    def start(x: Vec, p: Vec) -> Vec:
        nq = compiled.model.nq
        q, v = constrained.projected(along.tree(p), replayed.segments[0].begin, Vec(x[:nq]), Vec(x[nq:]), corrections=1)
        return Vec((*q, *v))

    x = np.concatenate([replayed.q, replayed.v])
    graph = pushforward(trace(start, x=x.shape, p=along.p.shape), ["p"])
    return replace(along, x_dot=along.x_dot + evaluate(graph, x=x, p=along.p, p_dot=along.p_dot)["result_dot"])


def constant_forces(compiled: CompiledRun) -> list[float] | None:
    """The constant forces of a run (nv,); None if they are not constant."""
    if compiled.spec.tau is None:
        return [0.0] * compiled.model.nv
    return (
        list(compiled.law(0.0, Vec(), Vec()))
        if compiled.law and compiled.driven.law_text.startswith("constant")
        else None
    )


def tangent_part(tree: Tree, q: np.ndarray, qdot: np.ndarray) -> np.ndarray:
    """δ (..., nv) with q̇ = rate(q, δ): 2 p*∘ṗ/‖p‖² for quaternions, of raw q̇ (..., nq)."""
    return np.asarray(stack(kinematics.tangent(tree, split(q, 1), split(qdot, 1)), qdot.shape[:-1]), dtype=float)


class Sensitivities:
    """The derivatives that `simulate(…, sensitivities=paths)` adds to a run."""

    def __init__(self, replayed: ReplayedRun, paths: Sequence[str] | str) -> None:
        level = constant_forces(replayed.compiled)
        self.replayed = replayed
        along = directions(replayed.compiled.model, replayed.q, level, paths, WHERE)
        self.along = kept_on_constraints(replayed, along)
        self._tangents: tuple[np.ndarray, np.ndarray] | None = None  # times, and the derivatives there

    def values(self, times: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives of q along the velocities and of v at samples: (n, nv, parameters) each."""
        nq = self.replayed.compiled.model.nq
        if self._tangents is None or not np.array_equal(self._tangents[0], times):  # the steps are replayed once
            self._tangents = times, Tangents(self.replayed, self.along)(times)
        found = self._tangents[1]
        along = tangent_part(self.replayed.compiled.tree, q[:, None], found[..., :nq])
        return tuple(np.ascontiguousarray(np.swapaxes(x, 1, 2)) for x in (along, found[..., nq:]))  # type: ignore

    def error(self, other: "Sensitivities", times: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Their distance from those of another run at each sample (n,), in parts of 1 + the largest value so far."""
        worst = np.zeros(len(times))
        with np.errstate(all="ignore"):
            for a, b in zip(self.values(times, q), other.values(times, q), strict=True):
                size = np.maximum.accumulate(np.minimum(abs(a), abs(b)), axis=0)
                worst = np.maximum(worst, np.max(abs(a - b) / (1 + size), axis=(1, 2), initial=0.0))
        return np.where(np.isnan(worst), np.inf, worst)

    def added(self, run: "xr.Dataset") -> "xr.Dataset":
        """The Dataset with sensitivity_q, sensitivity_v (time, dof, parameter)."""
        model, dims = self.replayed.compiled.model, ("time", "dof", "parameter")
        found = self.values(run["time"].values, run["q"].values)
        meaning = {
            "sensitivity_q": ("change of the coordinates along the velocities, by a parameter", tangent_units(model)),
            "sensitivity_v": ("change of the velocities, by a parameter", labels.dof_units(model)),
        }
        for (name, (text, units)), values in zip(meaning.items(), found, strict=True):
            attributes = {"units": _quotient(units, self.along.units), "long_name": text}
            run = run.assign({name: (dims, values, attributes)})
        return run.assign_coords(
            parameter=("parameter", np.array(self.along.names, dtype=str), {"long_name": "what is changed"}),
            parameter_units=("parameter", np.array(self.along.units, dtype=str), {"long_name": "its unit"}),
        )


def _quotient(units: Sequence[str], by: Sequence[str]) -> str:
    """The unit of all quotients, if it is one and known."""
    if len(set(units)) == 1 and len(set(by)) == 1 and by[0]:
        return f"{units[0]} / ({by[0]})"
    return "see dof_units, parameter_units"
