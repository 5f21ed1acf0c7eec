"""How tests compare numbers: a residual relative to the size of the operands, against a named bound."""

import numpy as np

RESIDUAL = 1e-12
"""The bound on the residual of an equation, to be multiplied by the condition of a solve."""


def assert_close(found: object, expected: object, condition: float = 1.0, scale: float = 1.0) -> None:
    """found = expected within RESIDUAL × condition × max(scale, size of the operands)."""
    a, b = np.asarray(found), np.asarray(expected)
    assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
    size = max(scale, float(np.max(abs(b), initial=0.0)))
    worst = float(np.max(abs(a - b), initial=0.0))
    assert worst <= RESIDUAL * condition * size, f"residual {worst:.3g}, bound {RESIDUAL * condition * size:.3g}"


def complex_step(function, x: np.ndarray, direction: np.ndarray, h: float = 1e-30) -> np.ndarray:
    """Derivative of an analytic function along a direction, exact to rounding."""
    return np.imag(function(np.asarray(x) + 1j * h * np.asarray(direction))) / h
