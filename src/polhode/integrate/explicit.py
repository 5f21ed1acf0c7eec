"""Explicit step rules."""

from polhode.integrate.method import Rhs, Step
from polhode.scalar import Scalar, Vec


def rk4(rhs: Rhs, t: Scalar, x: Vec, h: Scalar) -> Step:
    """One step of the classical Runge–Kutta rule, order 4.

    x + h/6 (k₁ + 2 k₂ + 2 k₃ + k₄)                    Kutta (1901); Hairer, Nørsett, Wanner II.1
    """
    k1 = rhs(t, x)
    k2 = rhs(t + h / 2, x + h / 2 * k1)
    k3 = rhs(t + h / 2, x + h / 2 * k2)
    k4 = rhs(t + h, x + h * k3)
    return Step(x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
