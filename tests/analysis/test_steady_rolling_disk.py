"""The rolling disk: upright stability, steady circles, small motions about them, against the reduced equations.

With θ the angle of the axle above the horizontal, Ω the turn about the vertical, ω the spin, b = Ω cos θ:
    (A + m r²) θ̈ = (C + m r²) ω b − A b² tan θ + m g r sin θ
    A ḃ = (A b tan θ − C ω) θ̇,   (C + m r²) ω̇ = −m r² b θ̇
"""

import math

import numpy as np
import pytest
from scipy.linalg import expm

import polhode as ph
from analysis_cases import G, disk, rolling

MASS, R, A, C = 2.0, 0.4, 0.09, 0.17
DISK = disk(MASS, R, A, C)
EXACT = 1e-12


def squared_rate(lean, turn, spin):
    """λ² of the lean, from the reduced equations."""
    I, b, t = A + MASS * R**2, turn * math.cos(lean), math.tan(lean)
    own = (-A * b**2 * (1 + t * t) + MASS * G * R * math.cos(lean)) / I
    by_turn = ((C + MASS * R**2) * spin - 2 * A * b * t) / I * (A * b * t - C * spin) / A
    by_spin = (C + MASS * R**2) * b / I * (-MASS * R**2 * b / (C + MASS * R**2))
    return own + by_turn + by_spin


def turns(lean, spin):
    """The rates of turning at which a disk that leans rolls in a circle."""
    s, c = math.sin(lean), math.cos(lean)
    return np.roots([-A * s * c, (C + MASS * R**2) * spin * c, MASS * G * R * s])


@pytest.mark.parametrize("spin", [0.0, 0.5, 2.0, 2.9, 3.1, 7.0])
def test_upright_rolling(spin):
    """λ² = (m g r − C (C + m r²) ω²/A) / (A + m r²)"""
    q, v = rolling(R, 0.0, 0.0, spin)
    small = ph.linearize(DISK, q, v)
    expected = (MASS * G * R - C * (C + MASS * R**2) * spin**2 / A) / (A + MASS * R**2)
    values = small.eigenvalues()
    assert len(small.A) == 8
    assert np.max(abs(np.sort((values**2).real) - np.sort([expected, expected, 0, 0]))) < EXACT * (1 + abs(expected))
    assert small.stability == ("unstable" if expected > 0 else "marginal")
    assert np.max(abs(small.S @ small.W - small.W @ small.A)) < 1e-13 * (1 + spin**2)


def test_a_thin_disk_is_critical_at_a_third_of_gravity():
    """SymPy's test: m = r = g = 1, spin 1/√3: all eight eigenvalues are 0."""
    thin = disk(1.0, 1.0, 0.25, 0.5, gravity=1.0)
    small = ph.linearize(thin, *rolling(1.0, 0.0, 0.0, 1 / math.sqrt(3)))
    assert len(small.A) == 8
    assert np.max(abs(np.linalg.matrix_power(small.A, 8))) < 1e-14
    assert np.max(abs(small.eigenvalues(all=True))) < 2e-5  # a chain of three zeros: the third root of rounding
    assert small.stability == "marginal"


@pytest.mark.parametrize("lean", [0.1, 0.35, -0.8])
@pytest.mark.parametrize("spin", [1.0, 4.0])
def test_small_motions_of_a_disk_in_a_circle(lean, spin):
    for turn in turns(lean, spin):
        small = ph.linearize(DISK, *rolling(R, lean, turn, spin))
        assert small.is_steady
        expected = squared_rate(lean, turn, spin)
        values = small.eigenvalues()
        assert len(values) == 4  # lean and its rate, turn, spin
        assert np.max(abs(np.sort((values**2).real) - np.sort([expected] * 2 + [0, 0]))) < 1e-11 * (1 + abs(expected))
        rest = np.sort_complex(small.eigenvalues(all=True))
        assert np.min(abs(rest - 1j * turn)) < 1e-10 * abs(turn)  # a shifted circle, seen from a disk that turns


@pytest.mark.parametrize("lean", [0.2, -0.5])
def test_a_steady_circle_is_found(lean):
    tilt = lambda q, v: q[3] * q[3] - q[4] * q[4] - q[5] * q[5] + q[6] * q[6]  # height of the axle's end
    spin = 3.0
    for turn in turns(lean, spin):
        q, v = rolling(R, lean, turn, spin)
        found = ph.steady_motion(DISK, {"disk.omega_z": spin}, q, 1.15 * v)
        assert found.residual < 1e-9
        q, v = rolling(R, lean, 1.2 * turn, 0.9 * spin)
        v[5] = spin
        found = ph.steady_motion(DISK, ["disk.omega_z", tilt], q, v)
        assert found.rates["turn about the vertical"] == pytest.approx(turn, rel=1e-9)
        assert found.rates["spin of disk about z"] == pytest.approx(spin - turn * math.sin(lean), rel=1e-9)
        expected = np.zeros((6, 6))
        sigma = spin - turn * math.sin(lean)
        expected[:2, :2], expected[3:5, 3:5] = [[0, turn], [-turn, 0]], [[0, -sigma], [sigma, 0]]
        assert np.max(abs(found.generator - expected)) < 1e-8 * abs(turn)


def test_the_generator_may_be_given():
    turn = turns(0.35, 2.0)[1]
    q, v = rolling(R, 0.35, turn, 2.0)
    found = ph.linearize(DISK, q, v)
    sigma, G6 = 2.0 - turn * math.sin(0.35), np.zeros((6, 6))
    G6[:2, :2], G6[3:5, 3:5] = [[0, turn], [-turn, 0]], [[0, -sigma], [sigma, 0]]
    given = ph.linearize(DISK, q, v, generator=G6)
    assert np.max(abs(given.A - found.A)) < 1e-12
    with pytest.raises(ph.InputError, match="generator: wrong shape"):
        ph.linearize(DISK, q, v, generator=np.eye(3))


def test_derivatives_are_those_of_the_compiled_constrained_equations():
    """S on admissible perturbations, against the derivatives of forward dynamics."""
    turn = turns(0.35, 2.0)[1]
    q, v = rolling(R, 0.35, turn, 2.0)
    small = ph.linearize(DISK, q, v, generator=np.zeros((6, 6)))
    slopes = ph.compile(DISK).forward_dynamics_derivatives(q, v, np.zeros(6))
    F = np.hstack([slopes.dq, slopes.dv])
    assert np.max(abs((small.S[6:] - F) @ small.W)) < 1e-11 * np.max(abs(F))
    assert np.max(abs(small.B - np.vstack([np.zeros((6, 6)), slopes.dtau])[rows(small)])) < 1e-12


def rows(small):
    return [small.all_names.index(name) for name in small.states]


def test_small_motions_follow_the_linear_equations():
    """Two nearby motions of the nonlinear machine drift apart as exp(A t) says."""
    q, v = rolling(R, 0.0, 0.0, 5.0)
    small, n, size, t = ph.linearize(DISK, q, v, generator=np.zeros((6, 6))), 6, 1e-6, 0.05
    upright = ph.linearize(DISK, q, v)
    system, start = ph.compile(DISK), small.W @ (size * np.cos(1.0 + np.arange(8)))
    moved = ph.consistent_start(DISK, system.integrate(q, start[:n]), v + start[n:])
    ends = [ph.simulate(DISK, a, b, duration=t, tolerance=1e-13) for a, b in ((q, v), (moved.q, moved.v))]
    (q0, q1), (v0, v1) = ([run[name].values[-1] for run in ends] for name in ("q", "v"))
    apart = np.concatenate([system.difference(q0, q1), v1 - v0])
    # in axes that turn along with the disk: T = exp(−G t) brings components back
    spin = upright.S[:n, :n] - small.S[:n, :n]
    back = expm(np.kron(np.eye(2), spin) * t) @ apart
    begin = np.concatenate([system.difference(q, moved.q), moved.v - v])
    expected = upright.W @ expm(upright.A * t) @ begin[rows(upright)]
    assert np.max(abs(back - expected)) < 1e-4 * size
