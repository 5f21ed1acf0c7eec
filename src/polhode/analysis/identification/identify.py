"""`ph.identify`: inertial parameters and friction of a machine from measured motions and torques, by least squares.

Base parameters follow from linear least squares, with their standard errors; those of bodies from the same squares
under the condition that every body is a real one. The model's own parameters decide where motions say nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from polhode.analysis.identification.base_parameters import BaseParameters, base_parameters
from polhode.analysis.identification.measured_motion import MeasuredMotion, measured_motion
from polhode.analysis.identification.real_bodies import least_squares, with_extent
from polhode.constrain.constraint_policy import DEFAULT_POLICY
from polhode.dynamics.regressors import PAIRS
from polhode.errors import InputError, ModelError, UnknownNameError, did_you_mean, message
from polhode.model import Model, check_model
from polhode.scalar import Array, a_list, shown
from polhode.system.shared import shared_system
from polhode.system.system import System

FRICTION = ("viscous", "coulomb")
"""Terms of friction at each velocity: proportional to it, and to its sign."""

BLOCK = 4096
"""Instants whose regressor is in memory at a time."""

REWEIGHTED = 3
"""Rounds of least squares in which each joint gets the inverse of its noise as weight; the first has equal ones."""

ROUNDING = 1e-12
"""The least noise of a joint, relative to its torques, that weights assume: without noise they would be infinite."""

SINGULAR = 1e-9
"""Singular values of the base columns, relative to the largest, at and below which a motion says nothing of a
direction: columns are of length 1, and products of numbers of some 12 digits."""


@dataclass(frozen=True, eq=False)
class Identified:
    """What motions and torques tell of a machine.

    model            the model with the masses, mass centres and inertias that were found
    parameters       (10 bodies,)  its inertial parameters, in the order of `System.inertial_parameters`
    base             the base parameters of the model, by name
    base_values      (b,)  those that were found, from the squares alone
    base_errors      (b,)  their standard errors; infinite where the motion says nothing of them
    friction         (nv,) of each term that was asked for, "viscous" and "coulomb"
    friction_errors  (nv,) their standard errors
    noise            (nv,) root mean squares of the torques that are left, N m or N
    torques          (n, nv)  measured, filtered where a cutoff was given
    residuals        (n, nv)  torques that are left, of the bodies' parameters
    condition        condition number of the base columns, each of length 1: how well the motion tells them apart
    """

    model: Model
    parameters: np.ndarray
    base: BaseParameters
    base_values: np.ndarray
    base_errors: np.ndarray
    friction: dict[str, np.ndarray]
    friction_errors: dict[str, np.ndarray]
    noise: np.ndarray
    torques: np.ndarray = field(repr=False)
    residuals: np.ndarray = field(repr=False)
    condition: float

    def torque(self, q: Array, v: Array, vd: Array) -> np.ndarray:
        """Predicted torques (..., nv), friction included."""
        system = shared_system(self.model, DEFAULT_POLICY, quick=False)
        found = system.inverse_dynamics(q, v, vd)
        for name, values in self.friction.items():
            found = found + values * _friction_column(name, np.asarray(v, dtype=float))
        return found

    def __repr__(self) -> str:
        told = f"{len(self.base_values)} base parameters, condition {self.condition:.3g}"
        return f"<Identified '{self.model.name}': {told}, noise {np.array2string(self.noise, precision=3)}>"


def identify(
    model: Model,
    data: Any,
    *,
    friction: Sequence[str] = (),
    cutoff: float | None = None,
    fixed: Sequence[str] = (),
) -> Identified:
    """The masses, mass centres and inertias of a model's bodies, and friction, from measured motions and torques.

    data      a mapping or Dataset with q (n, nq), v, vd, tau (n, nv) of n instants; or time (n,), q, tau and a cutoff
    friction  terms to be found at every velocity: "viscous" (N m s), "coulomb" (N m)
    cutoff    Hz: q and tau pass a low-pass filter without delay, and v and vd are derivatives of the filtered q
    fixed     bodies that keep their parameters; those without mass do anyway

    Everything else that acts in the model (armature, springs, dampers, forces) is taken as it is. Machines with
    constraints are refused: the torques of their joints are not unique.

        >>> import numpy as np
        >>> import polhode as ph
        >>> arm = ph.load("double-pendulum")
        >>> q, v, vd = ph.excitation(arm, trials=5)(np.arange(100) / 10)
        >>> found = ph.identify(arm, {"q": q, "v": v, "vd": vd, "tau": ph.compile(arm).inverse_dynamics(q, v, vd)})
        >>> print(found.base.names[5], found.base_values[5].round(6))
        lower.I_yy 1.0
    """
    where = "identify"
    check_model(where, model)
    if model.constraints:
        found = ", ".join(constraint.name for constraint in model.constraints[:3])
        raise ModelError(message(f"{where}, model", "has constraints", found, "a tree", "Open its loops first."))
    terms = _terms(f"{where}, friction", friction)
    motion = measured_motion(where, model, data, cutoff)
    system = shared_system(model, DEFAULT_POLICY, quick=False)
    base = base_parameters(model)
    free = _free_bodies(f"{where}, fixed", model, system, fixed)
    squares = _Squares(system, motion, terms)
    columns = [*base.columns.tolist(), *range(squares.bodies, squares.size)]
    if len(motion.q) * model.nv <= len(columns):
        found = f"{len(motion.q)} instants of {model.nv} torques"
        raise InputError(message(where, "too few", found, f"more than {len(columns)} torques"))
    if not np.any(motion.tau):
        raise InputError(message(f"{where}, tau", "no torques", "zeros alone", "what moved or held the machine"))
    weights, fit = _reweighted(squares, columns)
    x = _of_real_bodies(squares, weights, system.inertial_parameters, free, fit.x[len(base) :])
    parameters, of_friction = x[: squares.bodies], x[squares.bodies :].reshape(-1, model.nv)
    found_model = with_inertial_parameters(model, parameters)
    residuals = squares.residuals(motion, parameters, of_friction)
    errors = fit.errors[len(base) :].reshape(-1, model.nv)
    return Identified(
        found_model, parameters, base, fit.x[: len(base)], fit.errors[: len(base)],
        dict(zip(terms, of_friction, strict=True)), dict(zip(terms, errors, strict=True)),
        np.sqrt(np.mean(residuals**2, axis=0)), motion.tau, residuals, fit.condition,
    )  # fmt: skip


def with_inertial_parameters(model: Model, parameters: np.ndarray) -> Model:
    """The model with other inertial parameters (10 bodies,); bodies whose own are unchanged stay as they are."""
    own = shared_system(model, DEFAULT_POLICY, quick=False).inertial_parameters.reshape(-1, 10)
    bodies = []
    for body, before, row in zip(model.bodies, own, parameters.reshape(-1, 10), strict=True):
        if np.array_equal(before, row):
            bodies.append(body)
            continue
        m, h, inertia = row[0], row[1:4], np.zeros((3, 3))
        for k, (i, j) in enumerate(PAIRS, 4):
            inertia[i, j] = inertia[j, i] = row[k]
        c = h / m
        about = inertia - m * (c @ c * np.eye(3) - np.outer(c, c))
        rows = tuple(map(tuple, ((about + about.T) / 2).tolist()))
        bodies.append(replace(body, mass=float(m), center=tuple(c.tolist()), inertia=rows))
    return replace(model, bodies=bodies)


class _Squares:
    """The squares Σ (Y π + F f − τ)² of each joint's torques, condensed: |R_j (x, −1)|² = their sum."""

    def __init__(self, system: System, motion: MeasuredMotion, terms: tuple[str, ...]) -> None:
        self.system, self.terms, self.nv, self.count = system, terms, system.nv, len(motion.q)
        self.bodies = len(system.inertial_parameter_names)
        self.size = self.bodies + len(terms) * self.nv
        own = system.inertial_parameters
        self.R = np.zeros((self.nv, 0, self.size + 1))
        for first in range(0, self.count, BLOCK):
            q, v, vd, tau = (x[first : first + BLOCK] for x in motion)
            Y = system.torque_regressor(q, v, vd)
            rest = system.inverse_dynamics(q, v, vd) - Y @ own  # armature, springs, dampers, other forces
            rows = np.zeros((len(q), self.nv, self.size + 1))
            rows[..., : self.bodies], rows[..., -1] = Y, tau - rest
            for k, term in enumerate(terms):
                at = self.bodies + k * self.nv + np.arange(self.nv)
                rows[:, np.arange(self.nv), at] = _friction_column(term, v)
            both = np.concatenate([self.R, np.moveaxis(rows, 1, 0)], axis=1)
            self.R = np.stack([np.linalg.qr(each, mode="r") for each in both])

    def weighted(self, weights: np.ndarray) -> np.ndarray:
        """All rows, by the weights of their joints."""
        return (weights[:, None, None] * self.R).reshape(-1, self.size + 1)

    def residuals(self, motion: MeasuredMotion, parameters: np.ndarray, friction: np.ndarray) -> np.ndarray:
        """τ − Y π − F f − all that acts besides (n, nv)."""
        change, found = parameters - self.system.inertial_parameters, motion.tau.copy()
        for first in range(0, self.count, BLOCK):
            few = slice(first, first + BLOCK)
            q, v, vd = (x[few] for x in motion[:3])
            found[few] -= self.system.inverse_dynamics(q, v, vd) + self.system.torque_regressor(q, v, vd) @ change
            for term, values in zip(self.terms, friction, strict=True):
                found[few] -= values * _friction_column(term, v)
        return found


class _Fit(NamedTuple):
    x: np.ndarray
    errors: np.ndarray
    condition: float


def _friction_column(term: str, v: np.ndarray) -> np.ndarray:
    return v if term == "viscous" else np.sign(v)


def _reweighted(squares: _Squares, columns: list[int]) -> tuple[np.ndarray, _Fit]:
    """Least squares in base parameters and friction, joints weighted by the inverse of their noise."""
    size = np.linalg.norm(squares.R[:, :, -1], axis=1) / np.sqrt(squares.count)
    least = ROUNDING * np.maximum(size, np.max(size, initial=0.0) * ROUNDING) + 1e-300
    weights = np.ones(squares.nv)
    free = max(squares.count - len(columns) / squares.nv, 1.0)
    for _ in range(REWEIGHTED):
        fit = _linear(squares.weighted(weights), columns)
        left = squares.R[:, :, columns] @ fit.x - squares.R[:, :, -1]
        weights = 1 / np.maximum(np.linalg.norm(left, axis=1) / np.sqrt(free), least)
    return weights, _linear(squares.weighted(weights), columns)


def _linear(rows: np.ndarray, columns: list[int]) -> _Fit:
    """x of least squares, its standard errors for rows of unit noise, and the condition number."""
    A, b = rows[:, columns], rows[:, -1]
    sizes = np.linalg.norm(A, axis=0)
    seen = sizes > 0
    sizes = np.where(seen, sizes, 1.0)
    _, s, Vt = np.linalg.svd(A / sizes, full_matrices=False)
    good = s > SINGULAR * s[0]
    inverse = np.where(good, 1 / np.where(good, s, 1.0), 0.0)
    x = Vt.T @ (inverse**2 * (Vt @ ((A / sizes).T @ b))) / sizes
    errors = np.sqrt(np.sum((inverse[:, None] * Vt) ** 2, axis=0)) / sizes
    unseen = np.sum(Vt[~good] ** 2, axis=0) > 1e-12
    return _Fit(x, np.where(unseen | ~seen, np.inf, errors), float(s[0] / s[-1]) if s[-1] > 0 else np.inf)


def _of_real_bodies(
    squares: _Squares, weights: np.ndarray, own: np.ndarray, free: list[int], friction: np.ndarray
) -> np.ndarray:
    """π of real bodies and friction (size,), from the squares and the model's own parameters.

    free      the bodies whose parameters are found
    friction  where its terms begin
    """
    R = np.asarray(np.linalg.qr(squares.weighted(weights), mode="r"))
    A, b, x = R[:, :-1], R[:, -1], np.append(own, friction)
    places = np.array([*(10 * k + p for k in free for p in range(10)), *range(squares.bodies, squares.size)], dtype=int)
    others = np.setdiff1d(np.arange(squares.size), places)
    known = [with_extent(own[10 * k : 10 * k + 10]) for k in free]
    first = np.concatenate([*known, friction])
    x[places] = least_squares(A[:, places], b - A[:, others] @ x[others], first, len(free))
    return x


def _terms(where: str, friction: Any) -> tuple[str, ...]:
    given = a_list(where, friction, "a list of 'viscous', 'coulomb'")
    for name in given:
        if name not in FRICTION:
            raise InputError(message(where, "no such term", shown(name), " or ".join(map(repr, FRICTION))))
    return tuple(name for name in FRICTION if name in given)


def _free_bodies(where: str, model: Model, system: System, fixed: Any) -> list[int]:
    """The bodies whose parameters are found: those with mass that are not to stay."""
    known = [body.name for body in model.bodies]
    names = a_list(where, fixed, "a list of names of bodies")
    for name in names:
        if name not in known:
            raise UnknownNameError(message(where, "no such body", shown(name), "a name", did_you_mean(name, known)))
    masses = system.inertial_parameters[::10]
    return [k for k, name in enumerate(known) if name not in names and masses[k] > 0]
