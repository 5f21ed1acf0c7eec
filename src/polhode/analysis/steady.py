"""Rest (`equilibrium`), and steady motion along the symmetries of a machine (`steady_motion`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from polhode.analysis import names, symmetry
from polhode.analysis.equations_at_state import equations_at_state
from polhode.analysis.linear import linearize
from polhode.analysis.load_path import rest_under_load
from polhode.analysis.names import Observed
from polhode.analysis.solve import SteadyProblem, Trial
from polhode.check.given_start import start_of
from polhode.errors import InputError, ModelError, message
from polhode.model import Model, check_model
from polhode.result.labels import dof_names
from polhode.scalar import flag, real_number, shown

TOLERANCE = 1e-10
"""Tolerance of accelerations, relative to their change per radian and metre: about the error of the coordinates."""

Constant = Sequence[Observed] | Mapping[str, float]
"""Quantities that keep their value at the start, or get the one given."""


@dataclass(frozen=True, eq=False)
class Steady:
    """A state of rest, or of steady motion along symmetries.

    q, v       (nq,), (nv,)
    tau        (nv,)         the forces that hold it, those found among them
    generator  (nv, nv)      G: v̇ + G v = 0; for `linearize`
    rates      by the names of the symmetries: how fast it moves along each
    residual   the largest of |v̇ + G v| that is left, rad/s² or m/s²
    missing    the largest residual of constraints, by their natural sizes, and of what is held
    steps      steps of the solver, damped ones included
    stability  "stable", "marginal" or "unstable"; None unless it was requested
    """

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    generator: np.ndarray = field(repr=False)
    rates: Mapping[str, float]
    residual: float
    missing: float
    steps: int
    stability: str | None = None


def equilibrium(
    model: Model,
    q: Any = None,
    *,
    tau: Any = None,
    constant: Constant = (),
    inputs: Sequence[str] = (),
    stable: bool = False,
    stability: bool = False,
    tolerance: float = TOLERANCE,
    loads: int | None = None,
) -> Steady:
    """A state of rest near a given one: the nearest, or a stable one downhill if that is unstable and not near.

    q          where to begin; the model's start unless given
    tau        (nv,) constant forces, or by the names of joints or velocities
    constant   coordinates that keep their values ("q.hinge"), or get those given: {"q.hinge": 0.3}
    inputs     velocities, or joints, whose forces are found too: what must push to hold it
    stable     go downhill at once: ends at a stable one
    stability  whether `stability` is computed, from the eigenvalues of small motions
    loads      steps in which the load grows from none to its whole; 8 for a machine with beams unless given, else 0:
               the load acts at once
    """
    check_model("equilibrium", model)
    stable, stability = flag("equilibrium, stable", stable), flag("equilibrium, stability", stability)
    tolerance = real_number("equilibrium, tolerance", tolerance, "a number above 0", 0.0)
    where, rest = "equilibrium", np.array(model.at_rest)
    problem, q, _ = _problem(where, model, q, rest, tau, inputs, constant, moves=False)
    steps = _load_steps(model, loads)
    if steps and not stable:
        loaded = rest_under_load(problem, problem.begin(q, rest), tolerance, steps)
        return _told(where, "no state of rest found", problem, loaded, tolerance, stability)
    found = None if stable else problem.newton(problem.begin(q, rest), tolerance)
    if found is None or not problem.is_near(found, q, tolerance):
        down = problem.downhill(problem.begin(q, rest), tolerance)
        found = down if found is None or problem.is_solved(down, tolerance) else found
    return _told(where, "no state of rest found", problem, found, tolerance, stability)


def _load_steps(model: Model, loads: Any) -> int:
    """The steps of the load at first; 0: all of it at once."""
    if loads is None:
        return max((force.load_steps for force in model.forces), default=0)
    if isinstance(loads, bool) or not isinstance(loads, int) or loads < 0:
        raise InputError(message("equilibrium, loads", "not a count", shown(loads), "0, 1, 2, … steps of the load"))
    return loads


def steady_motion(
    model: Model,
    constant: Constant = (),
    q: Any = None,
    v: Any = None,
    *,
    tau: Any = None,
    inputs: Sequence[str] = (),
    stability: bool = False,
    tolerance: float = TOLERANCE,
) -> Steady:
    """A motion near a given one that stays as it is: a top that precesses, a wheel that turns in a circle.

    It runs along symmetries of the machine, found from its equations: coordinates that do not matter, turns of
    everything about the vertical, spins of round bodies. All other parts of v are left out.

    constant   what keeps its value, or gets the one given: {"frame.speed_x": 5}. Velocities and coordinates by name
               ("v.steer", "q.steer"; a joint's name alone is its velocity), or functions(q, v) on generic scalars;
               the kinetic energy unless given
    q, v       where to begin; the model's start unless given
    tau        (nv,) constant forces, or by the names of joints or velocities
    inputs     velocities, or joints, whose forces are found too
    stability  whether `stability` is computed, from the eigenvalues of small motions
    """
    where = "steady_motion"
    check_model(where, model)
    stability = flag(f"{where}, stability", stability)
    tolerance = real_number(f"{where}, tolerance", tolerance, "a number above 0", 0.0)
    problem, q, v = _problem(where, model, q, v, tau, inputs, constant)
    held = problem.held or problem.as_fast(q, v)
    if not held:  # no part of v runs along a symmetry
        return equilibrium(model, q, tau=tau, inputs=inputs, stability=stability, tolerance=tolerance)
    problem = replace(problem, held=held)
    found = problem.newton(problem.begin(q, v), tolerance)
    return _told(where, "no steady motion found", problem, found, tolerance, stability)


def _problem(
    where: str,
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    inputs: Sequence[str],
    constant: Constant,
    moves: bool = True,
) -> tuple[SteadyProblem, np.ndarray, np.ndarray]:
    """The problem to be solved, and the state to begin with, projected onto the constraints."""
    if not model.nv:
        raise ModelError(message(f"{where}, model '{model.name}'", "nothing moves", "no velocities", "a joint"))
    equations, (q, v) = equations_at_state(model), start_of(model, q, v, where)
    tau, chosen = names.forces(where, model, tau), names.dof_indices(f"{where}, inputs", model, inputs)
    held = names.wanted(f"{where}, constant", model, constant, q, v)
    for known, value in held:  # begin with what is wanted
        known.put(model, q, v, value)
    q, _, left = equations.settled(q, np.zeros_like(v))
    if not left < 1e-6:
        fix = "Start closer to a closed configuration; look for contradictions."
        raise InputError(message(f"{where}, constraints", "cannot be met", f"residual {left:.3g}", "0", fix))
    found = symmetry.symmetries(equations, q, v, tau) if moves else symmetry.own_states(equations)
    return SteadyProblem(equations, tuple(found), tau, tuple(chosen), tuple(held)), q, v


def _told(where: str, what: str, problem: SteadyProblem, x: Trial, tolerance: float, stability: bool) -> Steady:
    """The steady state that was found, or an error that says why none was."""
    model = problem.equations.model
    if not problem.is_solved(x, tolerance):
        raise InputError(message(f"{where}, model '{model.name}'", what, *_why(problem, x)))
    least = 1e-12 * max(1.0, float(np.max(abs(x.c), initial=0.0)))
    own = {s.name for s in symmetry.own_states(problem.equations)}
    pairs = [(s.name, float(c)) for s, c in zip(problem.symmetries, x.c, strict=True) if s.name not in own]
    rates = {name: c for name, c in pairs if abs(c) > least}
    missing = float(np.max(abs(x.rows), initial=0.0))
    found = Steady(x.q, x.v, x.tau, x.G, rates, x.residual, missing, x.steps)
    if not stability:
        return found
    return replace(found, stability=linearize(model, x.q, x.v, tau=x.tau, generator=x.G).stability)


def _why(problem: SteadyProblem, x: Trial) -> tuple[str, str, str]:
    """Of the message about a search that failed: what was found, what was expected, what to do."""
    left = abs(x.left)
    if not np.all(np.isfinite(left)):
        return "accelerations that are not finite", "finite ones", "Start elsewhere."
    dof, worst = dof_names(problem.equations.model)[int(np.argmax(left))], float(np.max(left))
    found = f"an acceleration {worst:.3g} of '{dof}' after {x.steps} steps"
    apart = {known.name: abs(known.value(x.q, x.v) - value) for known, value in problem.held}
    if apart and max(apart.values()) > 1e-9:
        name = max(apart, key=apart.__getitem__)
        found += f", and '{name}' off by {apart[name]:.3g}"
    fix = "Start closer to one, hold fewer quantities, or name forces that may hold it: inputs=[…]."
    return found, "0", fix
