"""A geometrically exact rod (Cosserat, Simo) clamped at one end, under a dead force at the other, by shooting."""

import numpy as np


def skewed(w):
    """The matrices w × of vectors (n, 3)."""
    zero, (x, y, z) = np.zeros(len(w)), w.T
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)


def exact_rod(length, section, force, curvature=(0.0, 0.0, 0.0), steps=160, loads=8):
    """Places (steps + 1, 3) and axes (steps + 1, 3, 3) of a rod that starts at the origin along x.

        x' = R (e₁ + Γ),  R' = R κ̂,  m' = −x' × f,  m(L) = 0,      κ = κ₀ + C⁻¹ Rᵀm,  Γ = D⁻¹ Rᵀf

    section    EA, GJ, EI_y, EI_z, GA_y, GA_z; GA 0: stiff against shear
    curvature  κ₀, rad/m, constant
    steps, loads  Runge and Kutta's along the rod, and those in which the force grows
    """
    EA, GJ, EI_y, EI_z, *GA = section
    bends, stretches = np.array([1 / GJ, 1 / EI_y, 1 / EI_z]), np.array([1 / EA, *(1 / x if x else 0.0 for x in GA)])
    h = length / steps

    def rates(state, f):
        _, R, m = state
        x_rate = np.einsum("nij,nj->ni", R, [1, 0, 0] + stretches * (f @ R))
        return x_rate, R @ skewed(bends * np.einsum("ni,nij->nj", m, R) + curvature), -np.cross(x_rate, f)

    def shot(moments, f):
        state = np.zeros((len(moments), 3)), np.tile(np.eye(3), (len(moments), 1, 1)), moments
        passed = [state]
        for _ in range(steps):
            a = rates(state, f)
            b = rates([x + h / 2 * y for x, y in zip(state, a, strict=True)], f)
            c = rates([x + h / 2 * y for x, y in zip(state, b, strict=True)], f)
            d = rates([x + h * y for x, y in zip(state, c, strict=True)], f)
            state = [x + h / 6 * (p + 2 * q + 2 * r + s) for x, p, q, r, s in zip(state, a, b, c, d, strict=True)]
            passed.append(state)
        return passed

    size = np.linalg.norm(force) * length
    root = np.zeros(3)
    for part in np.arange(1, loads + 1) / loads:
        for _ in range(12):
            passed = shot(np.vstack([root, root + 1e-6 * size * np.eye(3)]), part * np.array(force, float))
            m = passed[-1][2]
            change = -np.linalg.solve((m[1:] - m[0]).T / (1e-6 * size), m[0])
            root = root + change
            if np.max(abs(change)) < 1e-12 * size:
                break
        else:
            raise AssertionError("the rod was not found")
    return np.array([x[0] for x, _, _ in passed]), np.array([R[0] for _, R, _ in passed])
