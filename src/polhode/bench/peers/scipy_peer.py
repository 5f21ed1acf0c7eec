"""A top on a fixed point for SciPy's `solve_ivp`: its right-hand side as one writes it by hand, in two ways.

    q̇ = ½ q ⊗ (0, ω),  J ω̇ = m c × Aᵀg − ω × J ω,  J about the fixed point, all in body axes

The state is (w, x, y, z, ωx, ωy, ωz), as ours.
"""

from collections.abc import Callable

import numpy as np

from polhode.model import Model
from polhode.model.numbers import plain

Rhs = Callable[[float, np.ndarray], np.ndarray]


def _numbers(model: Model) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Mass, centre, inertia about the fixed point, gravity."""
    body = model.bodies[0]
    m, c = float(plain(body.mass)), np.array(body.center, dtype=float)
    return m, c, body.inertia_matrix() + m * (c @ c * np.eye(3) - np.outer(c, c)), np.array(model.gravity, dtype=float)


def on_arrays(model: Model) -> Rhs:
    """The right-hand side in NumPy: small matrices, and products with them (`np.cross` takes longer)."""
    m, c, J, g = _numbers(model)
    J_inverse, torque = np.linalg.inv(J), m * _cross_matrix(c)

    def rhs(t: float, state: np.ndarray) -> np.ndarray:
        w, x, y, z = state[:4].tolist()
        omega = state[4:]
        E = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
        A = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        alpha = J_inverse @ (torque @ (g @ A) - _cross_matrix(omega) @ (J @ omega))
        return np.concatenate([E @ omega / 2, alpha])

    return rhs


def _cross_matrix(a: np.ndarray) -> np.ndarray:
    x, y, z = a.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def on_floats(model: Model) -> Rhs:
    """The same written out on Python's floats, which is quicker for so few numbers; the inertia is diagonal here."""
    m, (cx, cy, cz), J, (gx, gy, gz) = _numbers(model)
    J1, J2, J3 = np.diag(J).tolist()
    cx, cy, cz, gx, gy, gz = map(float, (cx, cy, cz, gx, gy, gz))

    def rhs(t: float, state: np.ndarray) -> np.ndarray:
        w, x, y, z, p, q, r = state.tolist()
        fx = m * ((1 - 2 * (y * y + z * z)) * gx + 2 * (x * y + w * z) * gy + 2 * (x * z - w * y) * gz)
        fy = m * (2 * (x * y - w * z) * gx + (1 - 2 * (x * x + z * z)) * gy + 2 * (y * z + w * x) * gz)
        fz = m * (2 * (x * z + w * y) * gx + 2 * (y * z - w * x) * gy + (1 - 2 * (x * x + y * y)) * gz)
        return np.array(
            [
                (-x * p - y * q - z * r) / 2,
                (w * p - z * q + y * r) / 2,
                (z * p + w * q - x * r) / 2,
                (-y * p + x * q + w * r) / 2,
                (cy * fz - cz * fy - (J3 - J2) * q * r) / J1,
                (cz * fx - cx * fz - (J1 - J3) * r * p) / J2,
                (cx * fy - cy * fx - (J2 - J1) * p * q) / J3,
            ]
        )

    return rhs
