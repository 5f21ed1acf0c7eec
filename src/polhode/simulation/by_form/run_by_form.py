"""Runs of one body by a form of `ph.forms`, in the form's own variables: (p, ṗ), (p, ω) or angles.

Equal steps of RK4 inside compiled code; after each step the form's projection, if one is chosen. Nothing else keeps
the quaternion's length, so that a form shows what it does to it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from polhode.dynamics.single import acceleration, forms
from polhode.dynamics.single.variables import SingleBody, variables
from polhode.errors import InputError, message
from polhode.integrate.explicit import rk4
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import kernel_for
from polhode.kernel.backends.llvm.in_place import chained
from polhode.kernel.cache import key as cache_key
from polhode.model import Model, plain
from polhode.quaternion import IDENTITY, rate, rotate, rotation_matrix
from polhode.result.dataset import Extra
from polhode.scalar import Scalar, Vec, iterate, split, stack
from polhode.simulation.run_records import Samples, Segment

WHERE = "simulate, form"
POINTED = ("angles", "angle state")
"""Ways of a form that integrate Euler angles."""


class RunByForm:
    """One body on a spherical or free joint to the world, under gravity and a constant couple, by one form."""

    def __init__(self, model: Model, form: str, norm: str, q: np.ndarray, v: np.ndarray, tau: Any = None) -> None:
        self.model, self.form = model, forms[form]
        self.norm, self.q, self.v = norm, q, v
        self.joint, self.body = _parts(model)
        self.free = self.joint.kind.floats
        self.center = np.array(plain(self.body.center), dtype=float)
        self.single = self._single(tau)
        self.chart = variables(self.form, split(self.single.inertia, 2), self.single.loads)
        if norm not in self.chart.norms:
            expected = " or ".join(map(repr, self.chart.norms))
            raise InputError(message(f"{WHERE} '{form}'", "norm policy does not apply", repr(norm), expected))

    def _single(self, tau: Any) -> SingleBody:
        """The body about its mass centre, or about the point that a spherical joint holds."""
        mass, c = float(plain(self.body.mass)), self.center
        moments = np.array(plain(self.body.inertia), dtype=float)
        J = np.diag(moments) if moments.ndim == 1 else moments
        constant = isinstance(tau, (list, tuple, np.ndarray))
        couple = np.array(tau, dtype=float) if constant else np.zeros(self.model.nv)
        if (
            not (constant or tau is None)
            or couple.shape != (self.model.nv,)
            or couple[:-3].any()
            or (self.free and couple.any() and c.any())
        ):
            expected = "a constant couple, or none"
            raise InputError(message(f"{WHERE}, tau", "a form takes no such input", repr(tau)[:60], expected))
        loads: dict[str, Any] = {"torque": couple[-3:]} if couple.any() else {}
        if not self.free:
            J = J + mass * (c @ c * np.eye(3) - np.outer(c, c))
            loads |= {"force": mass * self._gravity(), "point": c} if c.any() else {}
        return SingleBody.make(J, self.v[-3:], self.q[-4:], **loads)

    def _gravity(self) -> np.ndarray:
        """In the axes of the joint's frame, which are the form's space axes."""
        turned = rotation_matrix(np.array(plain(self.joint.orientation), dtype=float))
        return np.asarray(turned).T @ np.array(plain(self.model.gravity), dtype=float)

    def blocks(self, segments: Sequence[Segment]) -> Iterator[Samples]:
        """The samples of the run, segment by segment; a run that leaves the numbers ends with NaN."""
        x = np.array(self.chart.start(split(self.single.p, 1), split(self.single.omega, 1)), dtype=float)
        known = (repr(self.single.inertia.tolist()), repr(self.single.loads), self.form.name, self.norm)
        kernel = steps_kernel(self.chart.rhs, self.chart.norms[self.norm], len(x), known, self.model.name)
        for times, states, sizes in sampled_states(kernel, x, segments):
            yield self._samples(times, states, sizes)

    def _samples(self, times: np.ndarray, x: np.ndarray, sizes: np.ndarray) -> Samples:
        p, omega = (stack(part, (len(x),)) for part in self.chart.end(split(x, 1)))
        if not self.free:
            return Samples(times, p, omega, sizes)
        g, c = self._gravity(), self.center
        arm0, t = np.asarray(rotate(self.q[-4:], c)), times[:, None]
        moved = np.asarray(rotate(self.q[-4:], np.cross(self.v[-3:], c)))
        center, speed = self.q[:3] + arm0 + t * (self.v[:3] + moved) + t**2 / 2 * g, self.v[:3] + moved + t * g
        with np.errstate(all="ignore"):
            unit, swung = p / np.linalg.norm(p, axis=1, keepdims=True), np.cross(omega, c)
        good = np.all(np.isfinite(np.hstack([unit, swung])), axis=1)[
            :, None
        ]  # a run that has left all bounds ends there
        unit, swung = np.where(good, unit, IDENTITY), np.where(good, swung, 0.0)
        place = center - np.asarray(rotate(unit, np.broadcast_to(c, omega.shape)))
        velocity = speed - np.asarray(rotate(unit, swung))
        return Samples(times, np.hstack([place, p]), np.hstack([velocity, omega]), sizes)

    def extras(self, q: np.ndarray, v: np.ndarray) -> dict[str, Extra]:
        """The multiplier of the form at samples, and the value its paper predicts; nothing for forms without one."""
        if self.form.solution in POINTED:
            return {}
        p, loads = q[:, -4:], {name: x for name, x in self.single.loads._asdict().items() if x is not None}
        pdot = rate(p, v[:, -3:], unit=False)
        with np.errstate(all="ignore"):  # a run that left all bounds ends with infinities
            found = acceleration(self.form, p, pdot, self.single.inertia, **loads, unit=False, physical=False)
        named = {"multiplier": found.multiplier, "multiplier_predicted": found.predicted}
        text = {"multiplier": "Lagrange multiplier of ‖p‖ = 1", "multiplier_predicted": "its value as predicted"}
        values = {name: np.broadcast_to(x, len(q)) for name, x in named.items() if x is not None}
        return {name: Extra(x, ("time",), "J", text[name]) for name, x in values.items()}


def sampled_states(kernel: Any, x: np.ndarray, segments: Sequence[Segment]) -> Iterator[tuple[np.ndarray, ...]]:
    """Times, states and step sizes of the start of a run, then of its samples segment by segment, by a kernel."""
    yield np.zeros(1), x[None], np.array([np.nan])
    for segment in segments:
        counts = np.array(list(segment.counts), dtype=float)
        table = np.empty((len(counts) + 1, len(x)))
        table[0] = x
        chained(kernel, table, [np.diff(counts, prepend=0.0), np.array(segment.h), np.array(segment.begin)])
        times = np.array(list(segment.samples), dtype=float)
        yield times, table[1 : len(times) + 1], np.full(len(times), segment.h)
        x = table[-1].copy()


def steps_kernel(
    rhs: Callable[[Scalar, Vec], Vec],
    project: Callable[[Vec], Vec] | None,
    size: int,
    known: Sequence[str],
    name: str,
) -> Any:
    """A count of steps of RK4 from a state, each with its projection, as one kernel; known: what tells it apart."""

    def advance(row: Vec, count: Scalar, h: Scalar, origin: Scalar) -> Vec:
        def step(state: Vec) -> tuple[Vec, bool]:
            found = rk4(rhs, origin, state, h).x  # nothing depends on the time
            return (project(found) if project else found), True

        return iterate(step, row, count)

    graph = lambda: trace(advance, row=(size,), count=(), h=(), origin=())  # noqa: E731
    return kernel_for(cache_key("form", *known), graph, f"{name}: steps by a form", 1)


def is_single(model: Model) -> bool:
    """Whether a model is one body, free or on a point of the world that holds it."""
    joints = model.joints
    return len(joints) == 1 and joints[0].kind.turns_freely and not model.constraints


def _parts(model: Model) -> tuple[Any, Any]:
    """The joint and the body of a model of one body, or an error that says what a form cannot run."""
    joint = model.joints[0]
    if model.forces or plain(joint.damping) or plain(joint.armature):
        found = "forces, damping or armature"
        raise InputError(message(WHERE, "forms know gravity and a constant couple", found, "neither of these"))
    return joint, model.bodies[0]
