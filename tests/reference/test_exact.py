"""Closed-form motions against independent integrations, published digits and each other.

Two oracles are written here from Newton's and Euler's equations alone: `taylor`, a power series in
40-digit arithmetic, and `dop853`, SciPy's integrator.
"""

import csv
from decimal import Context, Decimal, localcontext
from operator import mul
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy.integrate import solve_ivp

from close import assert_close
from plain import ham, matrix, star, turn
from polhode import InputError, exact
from polhode.bench.published import FOLDER
from strategies import directions, inertias, quaternions, vectors

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


def pendulum_series(angle, rate, frequency, t):
    """θ and θ̇ of θ̈ = −f² sin θ by power series in 40 digits, 200 steps; the start by mpmath."""
    with localcontext(Context(prec=40)), mpmath.workdps(50):
        f2, h = Decimal(frequency) ** 2, Decimal(float(t)) / 200
        sine, cosine = (Decimal(mpmath.nstr(f(mpmath.mpf(angle)), 45)) for f in (mpmath.sin, mpmath.cos))
        y = [Decimal(angle), Decimal(rate), sine, cosine]
        for _ in range(200):
            _, r, s, c = a = [[x] for x in y]
            for k in range(30):
                for x, value in zip(a, (r[k], -f2 * s[k], _cauchy(c, r), -_cauchy(s, r)), strict=True):
                    x.append(value / (k + 1))
            y = [_horner(x, h) for x in a]
    return [float(y[0]), float(y[1])]


def agree(found, expected, bound):
    """Both parts of a motion within a bound; ω relative to its size where that is above 1."""
    assert found.p.shape == expected.p.shape
    assert found.omega.shape == expected.omega.shape
    assert np.max(abs(found.p - expected.p), initial=0) <= bound
    assert np.max(abs(found.omega - expected.omega), initial=0) <= bound * max(1, np.max(abs(expected.omega)))


def table(name):
    """The columns of a reference table by name."""
    own = Path(__file__).parents[1] / "data"
    path = (own if name.startswith("exact_long") or name == "exact_heavy_top" else FOLDER) / f"{name}.csv"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = [{key: float(x) for key, x in row.items()} for row in csv.DictReader(lines)]
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def motion_of(columns):
    return exact.Motion(
        np.stack([columns[f"p{i}"] for i in range(4)], axis=-1),
        np.stack([columns[f"w{i}"] for i in (1, 2, 3)], axis=-1),
    )


def about_fixed_point(mass, inertia, center):
    return inertia + mass * (center @ center * np.eye(3) - np.outer(center, center))


def moment_of_weight(mass, center, gravity=DOWN):
    return mass * np.linalg.norm(gravity) * np.asarray(center)


# ---- elliptic functions


@pytest.mark.parametrize("m1", [1.0, 0.75, 0.5, 0.4375, 2.0**-7, 1e-6, 1e-10, 1e-14, 1e-30])
def test_jacobi_functions_keep_their_relative_accuracy(m1):
    """sn, cn, dn to 40 digits by mpmath; an error of the argument alone, ε|u|, moves cn and dn by as much."""
    with mpmath.workdps(60):
        m = 1 - mpmath.mpf(m1)
        K = float(mpmath.ellipk(m))
        for u in np.array([-2.9, -1.7, -0.51, 0.02, 0.49, 0.7, 0.98, 1.3, 2.2]) * K:
            found = exact.jacobi(u, 1 - m1, m1)
            for name, value in zip(("sn", "cn", "dn"), found, strict=True):
                expected = mpmath.ellipfun(name, mpmath.mpf(u), m=m)
                assert abs(value / expected - 1) <= 1e-15 * max(8, abs(u))


def test_jacobi_functions_become_hyperbolic_on_the_separatrix():
    u = np.array([[-800.0, -2, 0], [0.5, 3, 800]])
    sn, cn, dn = exact.jacobi(u, 1.0, 0.0)
    assert_close(sn, np.tanh(u))
    assert_close(cn, 1 / np.cosh(np.clip(u, -700, 700)))
    assert_close(dn, cn)


# ---- published and stored digits


def test_symmetric_body_has_the_stored_digits():
    columns = table("exact_free_symmetric")
    agree(exact.free_symmetric_body(0.04, 0.02, [2, 4, 6], columns["t"]), motion_of(columns), ROUNDING)
    agree(exact.free_body([0.04, 0.04, 0.02], [2, 4, 6], columns["t"]), motion_of(columns), ROUNDING)


def test_asymmetric_body_has_the_stored_digits():
    columns = table("exact_free_asymmetric")
    agree(exact.free_body([500, 200, 300], [0.5, -0.4, 0.7], columns["t"]), motion_of(columns), ROUNDING)


def test_heavy_top_has_the_stored_digits():
    columns = table("exact_heavy_top")
    inertia, center, omega = [0.234375, 0.46875, 0.234375], [0, 1, 0], [0, 150, -4.61538]
    found = exact.heavy_top(15, inertia, center, UPRIGHT, omega, columns["t"])
    agree(found, motion_of(columns), ROUNDING)
    x = np.stack([columns[f"x{i}"] for i in (1, 2, 3)], axis=-1)
    assert_close(turn(found.p, np.array([0.0, 1, 0])), x)


def test_pendulum_has_the_stored_digits():
    columns = table("exact_pendulum")
    found = exact.pendulum(-np.pi / 2, 0, columns["t"], np.sqrt(9.81))
    assert_close(np.sin(found.angle), columns["x"])
    assert_close(-np.cos(found.angle), columns["y"])
    assert_close(exact.pendulum_period(np.pi / 2, np.sqrt(9.81)), 2.36784194757623745)


LONG = {
    "exact_long_free": lambda t: exact.free_body([3, 4, 6], [1, 0.5, 2], t),
    "exact_long_free_back": lambda t: exact.free_body([3, 4, 6], [2, 0.5, 0.75], t),
    "exact_long_top": lambda t: exact.heavy_top(
        1, [0.25, 0.25, 0.25], [0, 0, 0.5], UPRIGHT, [0.5, 0.25, 1], t, gravity=[0, 0, -4]
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_long_times_cost_no_digits(name):
    """Thousands of periods, forwards and backwards, against stored 40-digit power series."""
    columns = table(name)
    assert abs(columns["t"][-1]) == 1e4
    agree(LONG[name](columns["t"]), motion_of(columns), ROUNDING)


# ---- free bodies

SAMPLES = np.linspace(0.0, 20.0, 9)


@pytest.mark.parametrize("seed", range(10))
def test_free_body_follows_an_independent_integration(seed):
    """Random full inertias, seeds alternating between both sides of the separatrix."""
    rng = np.random.default_rng(seed)
    beyond = 0.0
    while beyond * (-1) ** seed < 0.02:  # L²/2TJ₂ − 1
        planar, omega = rng.uniform(0.2, 3.0, 3), rng.uniform(-1.5, 1.5, 3)
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        J = axes @ np.diag(planar.sum() - planar) @ axes.T
        J = (J + J.T) / 2
        beyond = omega @ J @ J @ omega / (np.linalg.eigvalsh(J)[1] * (omega @ J @ omega)) - 1
    p = rng.normal(size=4)
    p /= np.linalg.norm(p)
    agree(exact.free_body(J, omega, SAMPLES, p), dop853(J, p, omega, SAMPLES), INTEGRATION)


@pytest.mark.parametrize("off", [0.0, 1e-6, -1e-6, 1e-10, -1e-10, 1e-14, -1e-14])
@pytest.mark.parametrize("moments", [(3, 4, 6), (6, 3, 4)])
def test_free_body_is_right_on_and_near_the_separatrix(moments, off):
    """J = (3, 4, 6) with ω₁ = 2 ω₃ is exactly on it; m₁ is then about as small as `off`."""
    omega = dict(zip((3, 4, 6), (2 * (1 + off), 0.3, -1.0), strict=True))
    omega = np.array([omega[J] for J in moments])
    p = np.array([0.5, -0.5, 0.5, 0.5])
    for times in ([2.5, 12.0, 30.0], [-7.0]):
        agree(exact.free_body(moments, omega, times, p), taylor(np.diag(moments), p, omega, times), ROUNDING)


@pytest.mark.parametrize("off", [0.0, 1e-9])
def test_full_inertia_is_diagonalised_to_all_digits(off):
    """Moments 75, 100, 150 in axes turned by the 3-4-5 triangle, on the separatrix to the last bit."""
    J = np.array([[91.0, -12, 0], [-12, 84, 0], [0, 0, 150]])
    omega = np.array([5.0, 8.75, 5.0 + off]) / 8
    agree(exact.free_body(J, omega, [40.0]), taylor(J, UPRIGHT, omega, [40.0]), ROUNDING)


@pytest.mark.parametrize("omega", [(0, 1.0, 1e-12), (1e-30, 1, 0), (1e-9, 1e-12, 1), (1, 1e-160, 1e-12)])
def test_free_body_is_right_near_permanent_rotation(omega):
    J = np.diag([1, 2, 2.5])
    agree(exact.free_body(J, omega, [3.0, 25.0]), taylor(J, UPRIGHT, omega, [3.0, 25.0]), ROUNDING)


@pytest.mark.parametrize(
    ("moments", "omega"),
    [
        ((1, 2, 2.5), (3, 0, 0)),
        ((1, 2, 2.5), (0, -3, 0)),
        ((1, 2, 2.5), (0, 0, 3)),
        ((1, 2, 2.5), (0, 0, 0)),
        ((2, 2, 2), (1, -2, 3)),
        ((2, 2, 3), (1, -2, 0)),
        ((1, 2, 2), (0, -2, 1)),
    ],
)
def test_permanent_rotation_has_a_constant_rate(moments, omega):
    p = np.array([0.5, 0.5, -0.5, 0.5])
    agree(exact.free_body(moments, omega, SAMPLES, p), exact.constant_rate(p, omega, SAMPLES), 0)


@given(inertias(full=False), vectors(), quaternions(), st.integers(0, 2))
@settings(max_examples=25)
def test_elliptic_form_of_a_symmetric_body_is_the_elementary_one(J, omega, p, axis):
    A, C = J[0, 0], min(J[1, 1], 2 * J[0, 0])
    moments = np.where(np.arange(3) == axis, C, A)
    times = np.array([-30.0, 0, 0.1, 50])
    agree(exact.free_body(moments, omega, times, p), exact.free_symmetric_body(A, C, omega, times, p, axis), ROUNDING)


@given(inertias(), vectors(), quaternions())
@settings(max_examples=25)
def test_free_body_keeps_energy_and_momentum(J, omega, p):
    times = np.array([[-1e4, -7.0, 0.0], [0.3, 40, 1e4]])
    found = exact.free_body(J, omega, times, p)
    assert found.p.shape == (2, 3, 4)
    energy = np.einsum("...i,ij,...j", found.omega, J, found.omega)
    assert_close(energy, np.full((2, 3), omega @ J @ omega), scale=10)
    momentum = turn(found.p, found.omega @ J)
    assert_close(momentum, np.broadcast_to(turn(p, J @ omega), momentum.shape), scale=10)


@given(inertias(), vectors(), quaternions())
@settings(max_examples=25)
def test_free_body_starts_where_it_is_told(J, omega, p):
    """At t = 0 both parts are the given ones, with the given sign of p."""
    found = exact.free_body(J, omega, 0.0, p)
    assert_close(found.p, p)
    assert_close(found.omega, omega)
    agree(exact.free_body(J, omega, [7.0], -p), exact.Motion(-(q := exact.free_body(J, omega, [7.0], p)).p, q.omega), 0)


@given(inertias(), vectors(), st.floats(-20, 20))
@settings(max_examples=25)
def test_free_body_restarted_goes_on(J, omega, t):
    """The motion to t and from there 3 s on is the motion to t + 3."""
    middle = exact.free_body(J, omega, t)
    moments = np.linalg.eigvalsh(J)
    L2, T2 = omega @ J @ J @ omega, omega @ J @ omega
    assume(abs(L2 / moments[1] - T2) > 1e-3 * T2)  # nearer to the separatrix a restart loses digits
    agree(exact.free_body(J, middle.omega, 3.0, middle.p), exact.free_body(J, omega, t + 3.0), INTEGRATION)


def assert_continuous(found, times):
    """p never moves faster than its rate allows: ‖Δp‖ ≤ ½ max ‖ω‖ Δt."""
    step = np.linalg.norm(np.diff(found.p, axis=0), axis=-1)
    fastest = np.max(np.linalg.norm(found.omega, axis=-1))
    assert np.all(step <= 0.5 * fastest * np.diff(times) * (1 + 1e-9))
    assert fastest * np.max(np.diff(times)) < 1


@pytest.mark.parametrize("omega", [(0.3, 1, 2.1), (2.1, 1, -0.3), (-1, 0.1, 1e-7), (2, -0.5, 1), (-1e-3, 2, 0)])
def test_free_body_never_jumps(omega):
    times = np.linspace(-40, 40, 4001)
    assert_continuous(exact.free_body([3, 4, 6], omega, times), times)


# ---- Lagrange's top

TOP = (2.0, np.diag([0.3, 0.3, 0.5]), np.array([0, 0, 0.5]))
TOP_AT_POINT, TOP_MOMENT = about_fixed_point(*TOP), moment_of_weight(TOP[0], TOP[2])


def tilted(theta):
    return np.array([np.cos(theta / 2), np.sin(theta / 2), 0, 0])


@pytest.mark.parametrize("seed", range(8))
def test_heavy_top_follows_an_independent_integration(seed):
    """Random tops with their axis anywhere in the body."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    transverse = rng.uniform(0.5, 2)
    inertia = axes @ np.diag([transverse, transverse, rng.uniform(0.2, 2 * transverse)]) @ axes.T
    mass, center = rng.uniform(0.5, 1.5), rng.uniform(0.3, 1) * axes[:, 2]
    p, omega = rng.normal(size=4), rng.uniform(-3, 3, 3)
    p /= np.linalg.norm(p)
    found = exact.heavy_top(mass, inertia, center, p, omega, SAMPLES)
    oracle = dop853(about_fixed_point(mass, inertia, center), p, omega, SAMPLES, moment_of_weight(mass, center))
    agree(found, oracle, INTEGRATION)


@pytest.mark.parametrize(
    ("p", "omega"),
    [
        (UPRIGHT, (0, 0, 20)),  # sleeping, stable
        (UPRIGHT, (0, 0, 1)),  # sleeping, not stable, and not disturbed
        (UPRIGHT, (0.1, 0, 20)),
        (UPRIGHT, (1, 2, 3)),
        (UPRIGHT, (3, 0, 0)),  # no spin: a pendulum that falls to one side
        (UPRIGHT, (12, 0, 0)),  # and one that turns over
        (HANGING, (0, 0, 5)),
        (HANGING, (1, 2, 3)),
        (HANGING, (3, 0, 0)),
        (HANGING, (12, 0, 0)),
        (tilted(0.5), (0, 0, 0)),
        (tilted(3.0), (1, 0, 0)),  # through the lowest point
        (tilted(2.0), (0, 1, 0)),  # a spherical pendulum
        (tilted(2.0), (0, 1e-9, 0)),
        (tilted(1e-9), (0, 0, 3)),
        (tilted(1e-9), (1, 1, 3)),
        (tilted(1e-20), (0, 0, 3)),
        (tilted(np.pi - 1e-9), (1, 1, 3)),
        (tilted(1.0), (1e-9, 0, 30)),
        (tilted(1.0), (0, 1e-3, -200)),
    ],
)
def test_heavy_top_is_right_at_and_near_the_vertical(p, omega):
    omega = np.array(omega, dtype=float)
    for times in ([0.0, 0.7, 3.0], [-1.0]):
        oracle = taylor(TOP_AT_POINT, p, omega, times, TOP_MOMENT)
        agree(exact.heavy_top(*TOP, p, omega, times), oracle, ROUNDING)


def test_published_top_is_right_when_its_axis_passes_the_vertical():
    inertia, center, omega = np.diag([0.234375, 0.46875, 0.234375]), np.array([0.0, 1, 0]), [0, 150, -4.61538]
    times = np.linspace(0, 0.5, 20001)
    found = exact.heavy_top(15, inertia, center, UPRIGHT, omega, times)
    height = turn(found.p, center)[:, 2]
    closest = times[np.argmin(height)]
    assert np.min(height) < -1 + 1e-7
    oracle = taylor(
        about_fixed_point(15, inertia, center), UPRIGHT, omega, closest + np.array([-1e-6, 0, 1e-6]), [0, 15 * 9.81, 0]
    )
    agree(exact.heavy_top(15, inertia, center, UPRIGHT, omega, closest + np.array([-1e-6, 0, 1e-6])), oracle, ROUNDING)


@pytest.mark.parametrize("off", [0.0, 1e-12, -1e-12, 1e-6])
def test_heavy_top_is_right_on_and_near_its_separatrix(off):
    """Zero spin and the energy of rest at the top: A ω² = 4 m g l from the lowest point, exactly so for off = 0."""
    mass, inertia, center, gravity = 1.0, np.diag([0.25, 0.25, 0.25]), np.array([0, 0, 0.5]), np.array([0, 0, -4.0])
    omega = np.array([4 * (1 + off), 0, 0])
    times = [1.0, 5.0, 9.0]
    oracle = taylor(np.diag([0.5, 0.5, 0.25]), HANGING, omega, times, [0, 0, 2])
    agree(exact.heavy_top(mass, inertia, center, HANGING, omega, times, gravity), oracle, ROUNDING)


def test_heavy_top_is_right_at_the_limit_of_sleeping():
    """C ω₃ = 2 √(A m g l), where all three roots of the cubic meet upright."""
    A, C, mgl = 0.5, 0.25, 2.0
    spin = exact.sleeping_top_rate(A, C, mgl)
    assert spin == 8
    for tilt, kick in ((0, 0), (0, 0.125), (0.01, 0)):
        p, omega, times = tilted(tilt), np.array([kick, 0, spin]), [2.0, 6.0]
        found = exact.heavy_top(1, [0.25] * 3, [0, 0, 0.5], p, omega, times, [0, 0, -4])
        agree(found, taylor(np.diag([A, A, C]), p, omega, times, [0, 0, mgl]), ROUNDING)


@given(st.one_of(st.floats(0, np.pi), st.floats(0, 1e-9)), vectors(scale=6), st.floats(0.05, 1.5))
@settings(max_examples=25)
def test_heavy_top_keeps_energy_and_both_momenta(theta, omega, arm):
    mass, inertia, center = 1.5, np.diag([0.4, 0.4, 0.7]), np.array([0, 0, arm])
    J = about_fixed_point(mass, inertia, center)
    found = exact.heavy_top(mass, inertia, center, tilted(theta), omega, [-30.0, 0, 0.2, 5, 1e4])
    height = mass * 9.81 * turn(found.p, center)[:, 2]
    energy = np.einsum("ni,ij,nj->n", found.omega, J, found.omega) / 2 + height
    assert_close(energy, np.full(5, energy[1]), scale=100)
    vertical = turn(found.p, found.omega @ J)[:, 2]
    assert_close(vertical, np.full(5, vertical[1]), scale=10)
    assert_close(found.omega[:, 2], np.full(5, omega[2]))
    assert_close(found.p[1], tilted(theta))
    assert_close(found.omega[1], omega)


@given(quaternions(), quaternions(), quaternions(), vectors())
@settings(max_examples=25)
def test_axes_of_body_and_space_do_not_matter(p, body, space, omega):
    """Other body axes and another vertical give the same motion in other components."""
    mass, inertia, center = TOP
    plain_top = exact.heavy_top(mass, inertia, center, p, omega, SAMPLES[:3])
    R = matrix(body)
    turned = exact.heavy_top(
        mass, R @ inertia @ R.T, R @ center, ham(ham(space, p), star(body)), R @ omega, SAMPLES[:3], turn(space, DOWN)
    )
    expected = exact.Motion(ham(ham(space, plain_top.p), star(body)), plain_top.omega @ R.T)
    tilt = np.linalg.norm(np.cross(turn(p, center / 0.5), [0, 0, 1]))
    assume(tilt > 1e-3)  # nearer to an unstable upright position rounding of the axes grows
    agree(turned, expected, 1e-9)


@pytest.mark.parametrize(
    ("p", "omega"),
    [
        (UPRIGHT, (1, 2, 3)),
        (HANGING, (3, 0, 0)),
        (HANGING, (12, 0, 0)),
        (tilted(2.0), (0, 1e-9, 0)),
        (tilted(1), (1, 2, 3)),
    ],
)
def test_heavy_top_never_jumps(p, omega):
    times = np.linspace(-20, 20, 8001)
    found = exact.heavy_top(*TOP, p, omega, times)
    assert_continuous(found, times)


def test_heavy_top_without_spin_is_a_pendulum():
    mass, inertia, center = TOP
    frequency = np.sqrt(TOP_MOMENT[2] / TOP_AT_POINT[0, 0])
    for rate in (1.0, 20.0):
        swing = exact.pendulum(2.5, rate, SAMPLES, frequency)
        found = exact.heavy_top(mass, inertia, center, tilted(np.pi + 2.5), [rate, 0, 0], SAMPLES)
        half = (np.pi + swing.angle) / 2
        assert_close(found.p, np.stack([np.cos(half), np.sin(half), 0 * half, 0 * half], axis=-1), condition=10)
        assert_close(found.omega[:, 0], swing.rate, condition=10)


def test_heavy_top_without_gravity_or_arm_is_free():
    mass, inertia, center = TOP
    p, omega = tilted(0.4), np.array([1, 2, -3])
    free = exact.free_symmetric_body(TOP_AT_POINT[0, 0], TOP_AT_POINT[2, 2], omega, SAMPLES, p)
    for gravity in ((0, 0, 0), (0, 0, -1e-70)):
        agree(exact.heavy_top(mass, inertia, center, p, omega, SAMPLES, gravity), free, ROUNDING)
    free = exact.free_body([1, 2, 2.5], omega, SAMPLES, p)
    agree(exact.heavy_top(mass, [1, 2, 2.5], [0, 0, 0], p, omega, SAMPLES), free, ROUNDING)


# ---- steady motions


@given(st.floats(0.5, 5), st.floats(0.1, 1), st.floats(0.1, 50), st.floats(-3.1, 3.1), st.floats(-40, 40))
@settings(max_examples=40)
def test_steady_rates_solve_their_equation(A, C, mgl, theta, spin):
    try:
        rates = exact.steady_precession_top(A, C, mgl, theta, spin)
    except InputError:
        assert (C * spin) ** 2 <= 4 * A * mgl * np.cos(theta) * (1 + 1e-12) or spin == 0
        return
    assert abs(rates.slow) <= abs(rates.fast) * (1 + 1e-12)
    for rate in rates:
        terms = np.array([A * rate**2 * np.cos(theta), -C * spin * rate, mgl])
        assert abs(terms.sum()) <= 1e-13 * np.max(abs(terms))


def test_level_axis_has_one_steady_precession():
    assert exact.steady_precession_top(2, 1, 6, np.pi / 2, 3) == (2.0, np.inf)
    with pytest.raises(InputError, match="no fast precession"):
        exact.steady_top(2, 1, 6, np.pi / 2, 3, 1.0, fast=True)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(("theta", "spin"), [(0.7, 12.0), (2.0, -1.5), (0.0, 9.0), (2.0, 0.0)])
def test_steady_top_is_a_heavy_top(theta, spin, fast):
    A, C = TOP_AT_POINT[0, 0], TOP_AT_POINT[2, 2]
    steady = exact.steady_top(A, C, TOP_MOMENT[2], theta, spin, SAMPLES, fast)
    agree(exact.heavy_top(*TOP, steady.p[0], steady.omega[0], SAMPLES), steady, 1e-12)
    height = turn(steady.p, np.array([0, 0, 1.0]))[:, 2]
    assert_close(height, np.full(len(SAMPLES), np.cos(theta)))


def test_cone_precesses_ten_radians_per_second():
    """Cone of metis: tilt π/3, precession 10 rad/s by construction, the axis back after 2π/10 s."""
    R, H, density = 0.05, 0.1, 2700.0
    arm, mass = 0.75 * H, density * np.pi * R**2 * H / 3
    J1, C = 3 * mass * (4 * R**2 + H**2) / 80, 3 * mass * R**2 / 10
    A, mgl = J1 + mass * arm**2, mass * 9.81 * arm
    spin = mgl / (C * 10) + (A - C) / C * 10 * np.cos(np.pi / 3)  # ψ̇
    rates = exact.steady_precession_top(A, C, mgl, np.pi / 3, spin + 10 * np.cos(np.pi / 3))
    assert min(abs(np.array(rates) - 10)) <= 1e-12
    p = tilted(np.pi / 3)
    omega = [0, 10 * np.sin(np.pi / 3), spin + 10 * np.cos(np.pi / 3)]
    found = exact.heavy_top(mass, [J1, J1, C], [0, 0, arm], p, omega, [0.0, 2 * np.pi / 10])
    axis = turn(found.p, np.array([0, 0, 1.0]))
    assert_close(axis[1], axis[0])


def test_free_symmetric_body_precesses_at_the_steady_rates():
    A, C, theta, spin = 2.0, 3.0, 0.6, 4.0
    rates = exact.steady_precession_free(A, C, theta, spin)
    omega = np.array([0, C / A * spin * np.tan(theta), spin])
    found = exact.free_symmetric_body(A, C, omega, SAMPLES)
    angle = rates.body * SAMPLES
    assert_close(found.omega[:, :2], omega[1] * np.stack([-np.sin(angle), np.cos(angle)], axis=-1), condition=10)
    L = np.array([A, A, C]) * omega
    axis = np.array([0, 0, 1.0])
    half = rates.space * SAMPLES[:, None] / 2
    about = np.concatenate([np.cos(half), np.sin(half) * L / np.linalg.norm(L)], axis=-1)
    assert_close(turn(found.p, axis), turn(about, axis), condition=10)


def test_sleeping_limit_is_where_the_upright_rates_meet():
    spin = exact.sleeping_top_rate(0.8, 0.5, 9.81)
    rates = exact.steady_precession_top(0.8, 0.5, 9.81, 0, spin)
    assert_close(rates.slow, rates.fast)
    with pytest.raises(InputError, match="too slow for a steady precession"):
        exact.steady_precession_top(0.8, 0.5, 9.81, 0, spin * (1 - 1e-9))


# ---- pendulum


@pytest.mark.parametrize(
    ("angle", "rate", "frequency"),
    [
        (1.0, 0.0, 2.0),
        (3.0, -0.4, 1.0),
        (0.1, 5.0, 2.0),
        (-20.0, -3.0, 1.0),
        (0.0, 2 + 2e-9, 1.0),
        (0.0, 1e-14 - 2, 1.0),
        (1e-9, 0.0, 1.0),
        (np.pi, 1e-12, 1.0),
    ],
)
def test_pendulum_follows_its_equation(angle, rate, frequency):
    times = np.array([-4.0, 0, 9, 25])
    found = exact.pendulum(angle, rate, times, frequency)
    oracle = np.array([pendulum_series(angle, rate, frequency, t) for t in times])
    assert np.max(abs(found.angle - oracle[:, 0])) <= ROUNDING
    assert np.max(abs(found.rate - oracle[:, 1])) <= ROUNDING


def test_pendulum_on_its_separatrix_is_hyperbolic():
    times = np.array([-30.0, -1, 0, 2, 500])
    for sense in (1, -1):
        found = exact.pendulum(0, sense * 3.0, times, 1.5)
        assert_close(np.sin(found.angle / 2), sense * np.tanh(1.5 * times))
        assert_close(found.rate, sense * 3 / np.cosh(np.clip(1.5 * times, -99, 99)))


@pytest.mark.parametrize("angle", [0.0, np.pi, -np.pi, 3 * np.pi])
def test_pendulum_at_rest_in_equilibrium_stays(angle):
    found = exact.pendulum(angle, 0, [[0.0, 1e3]], 2)
    assert np.all(found.angle == angle)
    assert np.all(found.rate == 0)


@given(st.floats(0.01, 3.1), st.floats(0.1, 10), st.floats(-50, 50))
@settings(max_examples=25)
def test_pendulum_returns_after_its_period(amplitude, frequency, t):
    period = exact.pendulum_period(amplitude, frequency)
    first = exact.pendulum(amplitude, 0, np.array([0, period / 2, period]), frequency)
    assert_close(first.angle, amplitude * np.array([1.0, -1, 1]), condition=10)
    energy = exact.pendulum(amplitude, 0, t, frequency)
    kappa = np.sin(energy.angle / 2) ** 2 + (energy.rate / (2 * frequency)) ** 2
    assert_close(kappa, np.sin(amplitude / 2) ** 2)


def test_period_grows_from_that_of_small_swings_to_infinity():
    periods = exact.pendulum_period([0.0, 1, 2, 3, np.pi], 2.0)
    assert_close(periods[0], np.pi)
    assert np.all(np.diff(periods) > 0)
    assert periods[-1] == np.inf


# ---- constant rate


@given(quaternions(), directions(), st.floats(-10, 10))
@settings(max_examples=20)
def test_constant_rate_turns_by_rate_times_time(p, axis, angle):
    found = exact.constant_rate(p, 2 * axis, [angle / 2, -angle / 2])
    step = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])
    assert_close(found.p, np.array([ham(p, step), ham(p, star(step))]))
    assert_close(found.omega, np.array([2 * axis, 2 * axis]))


# ---- the border


def test_times_may_have_any_shape():
    for t in (np.zeros((0,)), 1.0, [[1.0], [2.0]]):
        for motion in (exact.free_body([1, 2, 2.5], [1, 2, 3], t), exact.heavy_top(*TOP, UPRIGHT, [1, 2, 3], t)):
            assert motion.p.shape == (*np.shape(t), 4)
            assert motion.omega.shape == (*np.shape(t), 3)
        assert np.shape(exact.pendulum(1, 0, t, 1).angle) == np.shape(t)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: exact.free_body([1, 1, 3], [1, 0, 0], 1), "not that of a real body"),
        (lambda: exact.free_body([1, 1, -1], [1, 0, 0], 1), "not positive definite"),
        (lambda: exact.free_body([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], [1, 0, 0], 1), "not symmetric"),
        (lambda: exact.free_body(np.ones((2, 3, 3)) * np.eye(3), [1, 0, 0], 1), "more than one"),
        (lambda: exact.free_body([1, 1, 1], [1, np.nan, 0], 1), "not finite"),
        (lambda: exact.free_body([1, 1, 1], [1, 0], 1), "wrong shape"),
        (lambda: exact.free_body([1, 1, 1], [1, 0, 1j], 1), "not real"),
        (lambda: exact.free_body([1, 1, 1], [1, 0, 0], [0, np.inf]), "not finite"),
        (lambda: exact.free_body([1, 1, 1], [1, 0, 0], 1, [1, 0, 0, 1e-2]), "not a unit quaternion"),
        (lambda: exact.free_symmetric_body(1, 3, [1, 0, 0], 1), "not that of a real body"),
        (lambda: exact.free_symmetric_body(1, 1, [1, 0, 0], 1, axis=3), "not a body axis"),
        (lambda: exact.heavy_top(0, *TOP[1:], UPRIGHT, [1, 0, 0], 1), "not positive"),
        (lambda: exact.heavy_top(1, [1, 1.1, 1], [0, 0, 1], UPRIGHT, [1, 0, 0], 1), "not symmetric about the axis"),
        (lambda: exact.heavy_top(1, [1, 1, 1.1], [0, 0.1, 1], UPRIGHT, [1, 0, 0], 1), "not symmetric about the axis"),
        (lambda: exact.heavy_top(*TOP, UPRIGHT, [1, 0, 0], 1, gravity=[0, 0]), "wrong shape"),
        (lambda: exact.steady_precession_top(1, 1, 10, 0.1, 1), "too slow for a steady precession"),
        (lambda: exact.steady_precession_top(1, 1, 10, np.pi / 2, 0), "too slow for a steady precession"),
        (lambda: exact.steady_precession_free(1, 1, np.pi / 2, 1), "a right angle"),
        (lambda: exact.sleeping_top_rate(1, 1, -1), "not positive"),
        (lambda: exact.pendulum(1, 0, 1, 0), "not positive"),
        (lambda: exact.pendulum([1, 2], 0, 1, 1), "more than one"),
        (lambda: exact.pendulum_period(4, 1), "not one of a swing"),
        (lambda: exact.constant_rate([2, 0, 0, 0], [1, 0, 0], 1), "not a unit quaternion"),
        (lambda: exact.constant_rate(UPRIGHT, [1, 0, 0], 1e300), "too far to tell the phase"),
        (lambda: exact.free_body([1, 2, 2.5], [1, 2, 3], 1e20), "too far to tell the phase"),
        (lambda: exact.jacobi(1.0, [0.5], 0.5), "wrong kinds"),
        (lambda: exact.jacobi(1.0, 0.5, 0.4), "not a parameter and its complement"),
    ],
)
def test_wrong_input_is_named(call, text):
    with pytest.raises(InputError, match=text):
        call()
