"""Runs of machines by a form of `ph.forms`: every body by its mass centre c and its (p, ṗ), joints as constraints.

    p̈ = p̈₀ + P n by the form, affine in the torque n on the body;   m c̈ = m g + f
    (f, n) = Aᵀλ with A (c̈, α) = b of all joints, α of the attitude p/‖p‖                          BEYOND §4

Joints hold in accelerations alone, and nothing but the norm policy keeps the length of p: what a form does to joints
and to lengths is in the Dataset.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.constrain.constraint_policy import DEFAULT_POLICY, ConstraintPolicy
from polhode.dynamics import constraints
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.constraints import in_row_order
from polhode.dynamics.single import Form, Loads, Problem, acceleration, forms
from polhode.dynamics.single.terms import default_J0
from polhode.dynamics.single.variables import variables
from polhode.errors import InputError, ModelError, message
from polhode.linalg.constrained import ConstrainedProblem, constrained
from polhode.model import Model, make_tree, plain
from polhode.quaternion import angular_velocity, rate, rotation_matrix, skew
from polhode.result.dataset import Extra
from polhode.scalar import Scalar, SharedFunction, Vec, cross, dot, identity, inverse3, split, sqrt, square, stack
from polhode.simulation.absolute_model import AbsoluteModel, absolute
from polhode.simulation.by_form.run_by_form import WHERE, sampled_states, steps_kernel
from polhode.simulation.run_records import Samples, Segment
from polhode.simulation.step_state import LARGEST
from polhode.spatial import as_inertia
from polhode.system.constrained_model import constrained_dynamics
from polhode.system.identity import identity_text
from polhode.system.system import System

SIZE = 14
"""Numbers of a body: c, p, ċ, ṗ."""

OTHER = ("state", "angles", "angle state")
"""`solution` of forms that integrate other variables than (p, ṗ)."""


class Part(NamedTuple):
    """A body: mass, mass centre and inertia about it, in body axes."""

    mass: float
    center: Vec
    J: Vec


class Place(NamedTuple):
    """Where a body is and how it moves: R and ω of the attitude p/‖p‖, the origin of its frame and its velocity."""

    p: Vec
    pdot: Vec
    unit: Vec
    R: Vec
    omega: Vec
    origin: Vec
    velocity: Vec


class Turning(NamedTuple):
    """What a form says of a body: p̈ = p̈₀ + n P, and so α = α₀ + K n."""

    pddot: Vec
    P: Vec
    alpha: Vec
    K: Vec


class TreeRunByForm:
    """A machine of joints and constraints under gravity, each body by one form."""

    def __init__(
        self,
        model: Model,
        form: str,
        norm: str,
        q: np.ndarray,
        v: np.ndarray,
        tau: Any = None,
        policy: ConstraintPolicy = DEFAULT_POLICY,
    ) -> None:
        self.model, self.form, self.norm, self.q, self.v = model, forms[form], norm, q, v
        _check(model, self.form, tau)
        self.absolute = _absolute_model(model)
        self.tree, self.constrained = make_tree(self.absolute.model), constrained_dynamics(self.absolute.model, policy)
        self.parts = [_part(body) for body in model.bodies]
        self.gravity = Vec(np.array(plain(model.gravity), dtype=float).tolist())
        norms = variables(self.form, self.parts[0].J, Loads()).norms
        if norm not in norms:
            expected = " or ".join(map(repr, norms))
            raise InputError(message(f"{WHERE} '{form}'", "norm policy does not apply", repr(norm), expected))
        self._projected = norms[norm]
        self._states = [self.start()[None]]

    # on generic scalars

    def rates(self, x: Vec) -> Vec:
        """ẋ of all bodies."""
        places = [_place(part, Vec(x[SIZE * k : SIZE * (k + 1)])) for k, part in enumerate(self.parts)]
        turnings = [_turning(self.form, part, at) for part, at in zip(self.parts, places, strict=True)]
        linear, torques = self._held(places, turnings)
        found: list[Scalar] = []
        for k, (at, turning) in enumerate(zip(places, turnings, strict=True)):
            speed = x[SIZE * k + 7 : SIZE * k + 10]
            found += [*speed, *at.pdot, *linear[k], *(turning.pddot + torques[k] @ turning.P)]
        return Vec(found)

    def _held(self, places: list[Place], turnings: list[Turning]) -> tuple[list[Vec], list[Vec]]:
        """c̈ and the torque n of every body, such that all joints hold."""
        if not self.constrained:
            return [self.gravity] * len(places), [Vec([0.0] * 3)] * len(places)
        Q = Vec([x for at in places for x in (*at.origin, *at.unit)])
        V = Vec([x for at in places for x in (*at.velocity, *at.omega)])
        rows = self.constrained.rows(Arguments(self.tree, Q, V))
        A, b = _about_centers(rows, self.parts, places)
        n = 6 * len(places)
        M: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        f: list[Scalar] = []
        for k, (part, turning) in enumerate(zip(self.parts, turnings, strict=True)):
            J = inverse3(turning.K)  # the inertia that the form shows
            for i in range(3):
                M[6 * k + i][6 * k + i] = part.mass
                M[6 * k + 3 + i][6 * k + 3 : 6 * k + 6] = list(J[i])
            f += [*(part.mass * self.gravity), *(J @ turning.alpha)]
        given = ConstrainedProblem(
            Vec([Vec(row) for row in M]), A, self.constrained.sizes, self.constrained.tolerance(rows.phi)
        )
        found = constrained(given, Vec(f), b)
        forces = found.multipliers @ A
        starts = range(0, n, 6)
        return [Vec(found.a[k : k + 3]) for k in starts], [Vec(forces[k + 3 : k + 6]) for k in starts]

    def projected(self, x: Vec) -> Vec:
        """The norm policy, applied to every body."""
        found: list[Scalar] = []
        for k in range(0, len(x), SIZE):
            c, p, cdot, pdot = x[k : k + 3], x[k + 3 : k + 7], x[k + 7 : k + 10], x[k + 10 : k + 14]
            state = self._projected(Vec((*p, *pdot))) if self._projected else Vec((*p, *pdot))
            found += [*c, *state[:4], *cdot, *state[4:]]
        return Vec(found)

    # the run

    def start(self) -> np.ndarray:
        """The state of all bodies at the start."""
        found: list[Any] = []
        Q, V = self.absolute.to(self.q, self.v)
        for part, at, moving in zip(self.parts, Q.reshape(-1, 7), V.reshape(-1, 6), strict=True):
            p, omega, R = Vec(at[3:]), Vec(moving[3:]), rotation_matrix(Vec(at[3:]))
            c, cdot = Vec(at[:3]) + R @ part.center, Vec(moving[:3]) + R @ cross(omega, part.center)
            found += [*c, *p, *cdot, *rate(p, omega)]
        return np.array(found, dtype=float)

    def blocks(self, segments: Sequence[Segment]) -> Iterator[Samples]:
        """The samples of the run, segment by segment; a run that leaves the numbers ends with NaN."""
        shared = SharedFunction("rates", self.rates)
        policy = self.constrained.policy if self.constrained else None
        known = (identity_text(self.model), self.form.name, self.norm, repr(policy), "tree")
        x = self.start()
        kernel = steps_kernel(lambda t, x: shared(x), self.projected, len(x), known, self.model.name)
        last = Samples(np.zeros(1), self.q[None], self.v[None], np.array([np.nan]))
        kept: list[np.ndarray] = []
        for times, states, sizes in sampled_states(kernel, x, segments):
            if not len(times):
                continue  # a segment without a sample
            kept.append(states)
            self._states = kept
            q, v = (np.full((len(times), n), np.nan) for n in (self.model.nq, self.model.nv))
            good = int(np.sum(np.cumprod(np.all(abs(states) < LARGEST, axis=1))))
            if good:
                q[:good], v[:good] = self.absolute.back(*self._absolute_state(states[:good]))
                q[:good] = _continued(self.model, last, times[:good], q[:good], v[:good])
            last = Samples(times, q, v, sizes)
            yield last

    def _absolute_state(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses and velocities of all bodies in absolute coordinates, as `AbsoluteModel` has them, of unit p."""
        Q, V = [], []
        for k, part in enumerate(self.parts):
            at = _place(part, split(states[:, SIZE * k : SIZE * (k + 1)], 1))
            Q += [*at.origin, *at.unit]
            V += [*at.velocity, *at.omega]
        return stack(Vec(Q), (len(states),)), stack(Vec(V), (len(states),))

    def extras(self, q: np.ndarray, v: np.ndarray) -> dict[str, Extra]:
        """Beside the samples so far: ‖p‖ of every body, how far joints opened, the form's multiplier by body."""
        states = np.concatenate(self._states)[: len(q)]
        bodies = states.reshape(len(states), -1, SIZE)
        p, pdot = bodies[..., 3:7], bodies[..., 10:14]
        norms = np.linalg.norm(p, axis=-1)
        found = {"quaternion_norm": Extra(norms, ("time", "body"), "1", "length of the body's Euler parameters")}
        text = "largest residual of the joint's rows"
        found["joint_residual"] = Extra(self._opened(states), ("time", "joint"), "m or rad", text)
        each = [
            acceleration(self.form, p[:, k], pdot[:, k], np.array(part.J), unit=False, physical=False)
            for k, part in enumerate(self.parts)
        ]  # no torque changes a multiplier: it is across p
        named = {
            "norm_multiplier": ([x.multiplier for x in each], "Lagrange multiplier of ‖p‖ = 1"),
            "norm_multiplier_predicted": ([x.predicted for x in each], "its value as predicted"),
        }
        for name, (values, text) in named.items():
            known = [np.broadcast_to(x, len(states)) for x in values if x is not None]
            if known:
                found[name] = Extra(np.stack(known, axis=1), ("time", "body"), "J", text)
        return found

    def _opened(self, states: np.ndarray) -> np.ndarray:
        """The largest residual of each joint."""
        worst = np.zeros((len(states), len(self.model.joints)))
        if not self.constrained:
            return worst
        missed = abs(System(self.absolute.model).constraint_residuals(*self._absolute_state(states)).positions)
        of_rows = [c.name for c in in_row_order(self.constrained.conditions) if c.holonomic for _ in c.rows]
        for k, joint in enumerate(self.model.joints):
            mine = [i for i, name in enumerate(of_rows) if name == f"joint {joint.name}"]
            worst[:, k] = np.max(missed[:, mine], axis=1, initial=0.0)
        return worst


def _place(part: Part, x: Vec) -> Place:
    c, p, cdot, pdot = Vec(x[:3]), Vec(x[3:7]), Vec(x[7:10]), Vec(x[10:14])
    unit = p / sqrt(square(p))
    R, omega = rotation_matrix(unit), angular_velocity(p, pdot) / square(p)
    return Place(p, pdot, unit, R, omega, c - R @ part.center, cdot - R @ cross(omega, part.center))


def _turning(form: Form, part: Part, at: Place) -> Turning:
    """α = 2 L p̈/‖p‖² − 2 (p·ṗ) ω/‖p‖²: of a form used as it is, asked for no torque and for three of unit size."""

    def pddot(torque: Vec) -> Vec:
        loads = Loads(torque=torque)
        return form.on_scalars(Problem(at.p, at.pdot, part.J, loads, default_J0(part.J), "313")).pddot

    size = square(at.p)
    free = pddot(Vec([0.0] * 3))
    P = Vec([pddot(unit) - free for unit in identity(3)])
    alpha = (angular_velocity(at.p, free) - 2 * dot(at.p, at.pdot) * at.omega) / size
    return Turning(free, P, alpha, Vec([angular_velocity(at.p, row) / size for row in P]).T)


def _about_centers(rows: constraints.ConstraintRows, parts: list[Part], places: list[Place]) -> tuple[Vec, Vec]:
    """Rows on (ö, α) as rows on (c̈, α), for ö = c̈ − R (α × r + ω × (ω × r))."""
    A, b = [], []
    for row, value in zip(rows.A, rows.b, strict=True):
        moved: list[Scalar] = []
        for k, (part, at) in enumerate(zip(parts, places, strict=True)):
            linear, angular = Vec(row[6 * k : 6 * k + 3]), Vec(row[6 * k + 3 : 6 * k + 6])
            turned = linear @ at.R
            moved += [*linear, *(angular + turned @ skew(part.center))]
            value = value + dot(turned, cross(at.omega, cross(at.omega, part.center)))
        A.append(Vec(moved))
        b.append(value)
    return Vec(A), Vec(b)


def _continued(model: Model, last: Samples, times: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """q with the whole turns and the signs of quaternions that follow from the samples before."""
    t = np.concatenate([last.time[-1:], times])
    rates = np.vstack([last.v[-1:], v])
    expected = np.diff(t)[:, None] * (rates[1:] + rates[:-1]) / 2
    found = q.copy()
    for e in make_tree(model).elements:
        if e.kind.wraps(e):
            before = np.concatenate([last.q[-1:, e.q[0]], q[:, e.q[0]]])
            turns = np.round((expected[:, e.v[0]] - np.diff(before)) / (2 * np.pi))
            found[:, e.q[0]] += 2 * np.pi * np.cumsum(turns)
        if e.kind.quaternion:
            found[:, e.q] *= np.sign(q[0, e.q] @ last.q[-1, e.q]) or 1.0
    return found


def _absolute_model(model: Model) -> AbsoluteModel:
    try:
        return absolute(model)
    except ModelError as error:
        found = str(error).splitlines()[0].rstrip(".")
        expected, fix = "a machine that ph.absolute takes", "Run it without form=."
        raise InputError(message(WHERE, "forms run machines in absolute coordinates", found, expected, fix)) from None


def _part(body: Any) -> Part:
    mass = float(plain(body.mass))
    where = f"{WHERE}, body '{body.name}'"
    if not mass > 0:
        raise InputError(message(where, "a form needs mass and inertia", f"mass {mass:g}", "mass > 0"))
    inertia = as_inertia(f"{where}, inertia", np.array(plain(body.inertia), dtype=float))
    return Part(mass, Vec(np.array(plain(body.center), dtype=float).tolist()), split(inertia, 2))


def _check(model: Model, form: Form, tau: Any) -> None:
    """Refuse what no form can run of a machine."""
    if form.solution in OTHER:
        fix = "Take a form with p̈, such as 'sherif-29' or 'udwadia-45'."
        found = f"'{form.name}', whose solution is '{form.solution}'"
        raise InputError(message(WHERE, "machines run by forms in (p, ṗ)", found, "p and ṗ", fix))
    if tau is not None:
        raise InputError(message(f"{WHERE}, tau", "a form takes no such input", repr(tau)[:60], "none for a machine"))
    if model.forces:
        found = f"force '{model.forces[0].name}'"
        raise InputError(message(WHERE, "forms of machines know gravity alone", found, "no forces"))
