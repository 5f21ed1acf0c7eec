"""Adaptive integration through SciPy, where a reference serves."""

import numpy as np

from polhode.errors import IntegrationError
from polhode.integrate.method import Rhs
from polhode.scalar import Vec


def dop853(rhs: Rhs, x: Vec, times: np.ndarray, tolerance: float) -> np.ndarray:
    """The states at given times, by SciPy's DOP853.

    times      (n,)  increasing; the first is the time of x
    tolerance  relative and absolute, for each step
    ->         (n, len(x))
    """
    from scipy.integrate import solve_ivp

    def plain(t: float, y: np.ndarray) -> np.ndarray:
        return np.array(rhs(t, Vec(y.tolist())))

    span = (times[0], times[-1])
    found = solve_ivp(plain, span, np.array(x), "DOP853", t_eval=times, rtol=max(tolerance, 3e-14), atol=tolerance)
    if not found.success:
        raise IntegrationError(f"dop853 stopped at t = {found.t[-1] if len(found.t) else span[0]:.6g}: {found.message}")
    return found.y.T
