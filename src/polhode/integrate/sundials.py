"""SUNDIALS through scikit-sundae: CVODE for ẋ = f(t, x), IDA for F(t, x, ẋ) = 0; peers to compare our methods with."""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, message

SUNDIALS = ("cvode", "cvode-bdf", "ida")
"""Names of the solvers: Adams' formulas; backward differentiation; the same on implicit equations."""

MOST_STEPS = 1_000_000
"""Most steps between two samples."""

Rhs = Callable[[float, np.ndarray], np.ndarray]
"""f(t, x), on arrays."""
Residual = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
"""F(t, x, ẋ), zero along a motion."""


class Reached(NamedTuple):
    """The states at the times reached, how often the function was called, and what stopped it ("": nothing)."""

    states: np.ndarray
    evaluations: int
    fault: str


def _package(name: str) -> ModuleType:
    """One of the package's modules, or an error that says what to install."""
    from importlib import import_module

    try:
        return import_module(f"sksundae.{name}")
    except ImportError:
        fix = "Install it with `pip install scikit-sundae`."
        raise InputError(message(name, "SUNDIALS is missing", "no package sksundae", "scikit-sundae", fix)) from None


def cvode(
    rhs: Rhs, x: np.ndarray, times: np.ndarray, tolerance: float, longest: float = 0.0, stiff: bool = False
) -> Reached:
    """The states at given times, by CVODE: Adams' formulas, or backward differentiation where `stiff`.

    times      (n,)  increasing; the first is the time of x
    tolerance  relative and absolute
    longest    step, s; 0: any
    ->         states (n, len(x)), fewer if it stopped                              Hindmarsh et al. (2005)
    """

    def fill(t: float, y: np.ndarray, ydot: np.ndarray) -> None:
        ydot[:] = rhs(float(t), y)

    kind = "BDF" if stiff else "Adams"
    options = {"rtol": tolerance, "atol": tolerance, "max_num_steps": MOST_STEPS, "max_step": longest}
    solver = _package("cvode").CVODE(fill, method=kind, **options)
    return _reached(solver.solve(np.asarray(times), np.array(x)), len(times))


def ida(
    residual: Residual, x: np.ndarray, xdot: np.ndarray, times: np.ndarray, tolerance: float, longest: float = 0.0
) -> Reached:
    """The states at given times, by IDA; x and ẋ satisfy the equations at the first.

    times      (n,)  increasing
    tolerance  relative and absolute
    longest    step, s; 0: any
    ->         states (n, len(x)), fewer if it stopped                              Hindmarsh et al. (2005)
    """

    def fill(t: float, y: np.ndarray, ydot: np.ndarray, found: np.ndarray) -> None:
        found[:] = residual(float(t), y, ydot)

    options = {"rtol": tolerance, "atol": tolerance, "max_num_steps": MOST_STEPS, "max_step": longest}
    solver = _package("ida").IDA(fill, **options)
    return _reached(solver.solve(np.asarray(times), np.array(x), np.array(xdot)), len(times))


def _reached(found: Any, wanted: int) -> Reached:
    good = bool(found.success) and len(found.t) == wanted
    return Reached(np.asarray(found.y), int(found.nfev), "" if good else str(found.message))
