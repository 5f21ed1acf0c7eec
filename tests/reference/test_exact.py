"""Closed-form motions against independent integrations, published digits and each other.

Two oracles are written here from Newton's and Euler's equations alone: `taylor`, a power series in
40-digit arithmetic, and `dop853`, SciPy's integrator.
"""

from decimal import Context, Decimal, localcontext
from operator import mul

import numpy as np
from scipy.integrate import solve_ivp

from plain import matrix
from polhode import exact

ROUNDING = 1e-13
"""Bound on an error that consists of rounding only, for rates of a few rad/s and tens of seconds."""

INTEGRATION = 1e-11
"""Bound where the oracle is SciPy's DOP853 at tolerance 1e-13 over 20 s."""

UPRIGHT = np.array([1.0, 0, 0, 0])
HANGING = np.array([0.0, 1, 0, 0])
DOWN = np.array([0, 0, -9.81])


# ---- the oracles


def taylor(inertia, p, omega, times, moment=(0, 0, 0), up=(0, 0, 1)):
    """States (p, ω) at times of one sign, by power series in 40 digits.

        J ω̇ = J ω × ω − moment × γ,  γ̇ = γ × ω,  ṗ = ½ p∘ω

    inertia  (3, 3)  about the fixed point (or the mass centre of a free body)
    moment   (3,)    weight × position of the mass centre, body axes
    up       (3,)    unit vector against gravity, space axes
    """
    with localcontext(Context(prec=40)):
        exactly = np.vectorize(Decimal, otypes=[object])
        J, p, omega, c, up = (exactly(np.asarray(x, dtype=float)) for x in (inertia, p, omega, moment, up))
        adjugate = np.array([np.cross(J[1], J[2]), np.cross(J[2], J[0]), np.cross(J[0], J[1])]).T
        inverse = adjugate / (J[0] @ adjugate[:, 0])
        e0, e = p[0], p[1:]
        gamma = ((e0 * e0 - e @ e) * up + 2 * (e @ up) * e - 2 * e0 * np.cross(e, up)) / (p @ p)
        y = [*p, *gamma, *omega]
        now, found = Decimal(0), []
        for t in map(Decimal, map(float, times)):
            while now != t:
                series = _series(J.tolist(), inverse.tolist(), c.tolist(), y)
                size = float(max(abs(a[-1]) for a in series)) + 1e-300
                step = Decimal(min((1e-28 / size) ** (1 / (len(series[0]) - 1)), 1e3))
                last = step >= abs(t - now)
                step = t - now if last else step.copy_sign(t - now)
                y = [_horner(a, step) for a in series]
                now = t if last else now + step
            found.append([float(y[i]) for i in (0, 1, 2, 3, 7, 8, 9)])
    return exact.Motion(*np.split(np.array(found), [4], axis=1))


def _series(J, inverse, c, y, order=32):
    """Coefficients of the power series of a solution through y = (p, γ, ω)."""
    a = [[x] for x in y]
    p, g, w = a[:4], a[4:7], a[7:]
    L = [[x] for x in _apply(J, y[7:])]
    for k in range(order):
        weight = _cross([x[k] for x in g], c, mul)
        L_next = [(x + y) / (k + 1) for x, y in zip(_cross(L, w, _cauchy), weight, strict=True)]
        following = [
            (-_cauchy(p[1], w[0]) - _cauchy(p[2], w[1]) - _cauchy(p[3], w[2])) / (2 * k + 2),
            (_cauchy(p[0], w[0]) + _cauchy(p[2], w[2]) - _cauchy(p[3], w[1])) / (2 * k + 2),
            (_cauchy(p[0], w[1]) + _cauchy(p[3], w[0]) - _cauchy(p[1], w[2])) / (2 * k + 2),
            (_cauchy(p[0], w[2]) + _cauchy(p[1], w[1]) - _cauchy(p[2], w[0])) / (2 * k + 2),
            *(x / (k + 1) for x in _cross(g, w, _cauchy)),
            *_apply(inverse, L_next),
        ]
        for x, value in zip(a + L, following + L_next, strict=True):
            x.append(value)
    return a


def _apply(A, x):
    return [sum(map(mul, row, x)) for row in A]


def _cross(x, y, times):
    return [times(x[i], y[j]) - times(x[j], y[i]) for i, j in ((1, 2), (2, 0), (0, 1))]


def _cauchy(x, y):
    """The next coefficient of a product of two series."""
    return sum(map(mul, x, reversed(y)))


def _horner(coefficients, h):
    total = Decimal(0)
    for x in reversed(coefficients):
        total = total * h + x
    return total


def dop853(inertia, p, omega, times, moment=(0, 0, 0)):
    """The same motion by SciPy, gravity along −z."""
    J, c = np.asarray(inertia), np.asarray(moment)
    inverse = np.linalg.inv(J)

    def slope(_, y):
        e0, e1, e2, e3, w1, w2, w3 = y
        g1, g2, g3 = 2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), e0 * e0 - e1 * e1 - e2 * e2 + e3 * e3
        L1, L2, L3 = J @ y[4:]
        torque = [
            L2 * w3 - L3 * w2 + g2 * c[2] - g3 * c[1],
            L3 * w1 - L1 * w3 + g3 * c[0] - g1 * c[2],
            L1 * w2 - L2 * w1 + g1 * c[1] - g2 * c[0],
        ]
        return [
            (-e1 * w1 - e2 * w2 - e3 * w3) / 2,
            (e0 * w1 + e2 * w3 - e3 * w2) / 2,
            (e0 * w2 + e3 * w1 - e1 * w3) / 2,
            (e0 * w3 + e1 * w2 - e2 * w1) / 2,
            *(inverse @ torque),
        ]

    start = np.concatenate([p, omega])
    y = solve_ivp(slope, (0, times[-1]), start, "DOP853", t_eval=times, rtol=1e-13, atol=1e-13).y.T
    return exact.Motion(y[:, :4], y[:, 4:])
