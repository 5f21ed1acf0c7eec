"""SUNDIALS through scikit-sundae: CVODE for ẋ = f(t, x), IDA for F(t, x, ẋ) = 0; references on plain floats."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from polhode.errors import InputError, IntegrationError, message
from polhode.integrate.method import Rhs
from polhode.scalar import Vec

Residual = Callable[[float, Vec, Vec], Vec]
"""F(t, x, ẋ), zero along a motion."""


def _package(name: str) -> ModuleType:
    """One of the package's modules, or an error that says what to install."""
    from importlib import import_module

    try:
        return import_module(f"sksundae.{name}")
    except ImportError:
        fix = "Install it with `pip install scikit-sundae`."
        raise InputError(message(name, "SUNDIALS is missing", "no package sksundae", "scikit-sundae", fix)) from None


def cvode(rhs: Rhs, x: Vec, times: np.ndarray, tolerance: float, stiff: bool = False) -> np.ndarray:
    """The states at given times, by CVODE: Adams' formulas, or backward differentiation where `stiff`.

    times      (n,)  increasing; the first is the time of x
    tolerance  relative and absolute
    ->         (n, len(x))                                                          Hindmarsh et al. (2005)
    """

    def fill(t: float, y: np.ndarray, ydot: np.ndarray) -> None:
        ydot[:] = rhs(float(t), Vec(y.tolist()))

    solver = _package("cvode").CVODE(
        fill, method="BDF" if stiff else "Adams", rtol=tolerance, atol=tolerance, max_num_steps=1_000_000
    )
    return _states("cvode", solver.solve(np.asarray(times), np.array(x)), len(times))


def ida(residual: Residual, x: Vec, xdot: Vec, times: np.ndarray, tolerance: float) -> np.ndarray:
    """The states at given times, by IDA; x and ẋ satisfy the equations at the first.

    times      (n,)  increasing
    tolerance  relative and absolute
    ->         (n, len(x))                                                          Hindmarsh et al. (2005)
    """

    def fill(t: float, y: np.ndarray, ydot: np.ndarray, found: np.ndarray) -> None:
        found[:] = residual(float(t), Vec(y.tolist()), Vec(ydot.tolist()))

    solver = _package("ida").IDA(fill, rtol=tolerance, atol=tolerance, max_num_steps=1_000_000)
    return _states("ida", solver.solve(np.asarray(times), np.array(x), np.array(xdot)), len(times))


def _states(name: str, found: Any, wanted: int) -> np.ndarray:
    if not found.success or len(found.t) != wanted:
        raise IntegrationError(f"{name} stopped at t = {found.t[-1]:.6g}: {found.message}")
    return found.y
