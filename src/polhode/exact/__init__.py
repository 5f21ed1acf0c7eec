"""Closed-form motions: free bodies, Lagrange's top, the pendulum, steady precession.

Each takes one body, one start and any times, and takes its numbers as exact: what is lost to rounding
does not grow near a separatrix, near the vertical or over long times.
"""

from polhode.exact.elliptic import Functions as Functions, jacobi as jacobi
from polhode.exact.free import free_body as free_body, free_symmetric_body as free_symmetric_body
from polhode.exact.motion import Motion as Motion, constant_rate as constant_rate
from polhode.exact.pendulum import (
    PendulumMotion as PendulumMotion,
    pendulum as pendulum,
    pendulum_period as pendulum_period,
)
from polhode.exact.steady import (
    FreePrecession as FreePrecession,
    TopPrecession as TopPrecession,
    sleeping_top_rate as sleeping_top_rate,
    steady_precession_free as steady_precession_free,
    steady_precession_top as steady_precession_top,
    steady_top as steady_top,
)
from polhode.exact.top import heavy_top as heavy_top
