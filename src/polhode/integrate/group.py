"""The group that a machine's tangent vectors belong to: turns on the given triples, sums on all else.

Every map takes the triples (`Machine.rotations`) first. Jr(d) is the right Jacobian: the body rate of
exp(d(t)) is Jr(d) ḋ. Its transpose, the left Jacobian, is Jr(−d).                              BEYOND §3
"""

from collections.abc import Callable, Sequence

from polhode.quaternion import exp, log, rotate, rotation_vector_rate
from polhode.scalar import Scalar, Vec, cos, cross, sin, sqrt, square, where

Triples = Sequence[tuple[int, int, int]]

SERIES_BELOW = 1e-2
"""Squared angle below which the coefficients of Jr come from their series; remainders are below 1e-18 there."""


def _on_triples(rotations: Triples, of_turn: Callable[[Vec, Vec], Vec], d: Vec, x: Vec) -> Vec:
    found = list(x)
    for triple in rotations:
        turned_part = of_turn(Vec([d[k] for k in triple]), Vec([x[k] for k in triple]))
        for k, value in zip(triple, turned_part, strict=True):
            found[k] = value
    return Vec(found)


def right(rotations: Triples, d: Vec, x: Vec) -> Vec:
    """Jr(d) x; its transpose is right(−d, x)."""
    return _on_triples(rotations, _right, d, x)


def right_inverse(rotations: Triples, d: Vec, x: Vec) -> Vec:
    """Jr(d)⁻¹ x; its transpose is right_inverse(−d, x)."""
    return _on_triples(rotations, rotation_vector_rate, d, x)


def turned(rotations: Triples, d: Vec, x: Vec) -> Vec:
    """Ad_{exp d} x: body components after the turn d to those before; its transpose is turned(−d, x)."""
    return _on_triples(rotations, lambda d, x: rotate(exp(d / 2), x), d, x)


def coadjoint(rotations: Triples, v: Vec, p: Vec) -> Vec:
    """ad*_v p: π × ω on the triples, 0 elsewhere. Momenta of a free motion obey ṗ = ad*_v p."""
    return _on_triples(rotations, lambda omega, pi: cross(pi, omega), v, _zero_but(rotations, p))


def cayley(rotations: Triples, x: Vec) -> Vec:
    """The tangent vector d whose turns are Cayley's of x: tan(‖d‖/2) = ‖x‖/2 in the same direction.   BEYOND §8"""

    def of_turn(_: Vec, x: Vec) -> Vec:
        z = x / 2
        return 2 * log(Vec((1.0, *z)) / sqrt(1 + square(z)))

    return _on_triples(rotations, of_turn, x, x)


def _zero_but(rotations: Triples, p: Vec) -> Vec:
    kept = {k for triple in rotations for k in triple}
    return Vec([value if k in kept else 0.0 for k, value in enumerate(p)])


def _right(d: Vec, x: Vec) -> Vec:
    """Jr(d) x = x − (1 − cos θ)/θ² d × x + (θ − sin θ)/θ³ d × (d × x).                            BEYOND §3

    Near θ = 0 series are used, with remainders θ¹⁰/479001600 and θ¹⁰/6227020800.
    """
    first, second = _coefficients(square(d))
    across = cross(d, x)
    return x - first * across + second * cross(d, across)


def _coefficients(dd: Scalar) -> tuple[Scalar, Scalar]:
    small = dd < SERIES_BELOW
    safe = where(small, 1.0, dd)
    theta = sqrt(safe)
    half = sin(theta / 2)
    first = 1 / 2 * (1 - dd / 12 * (1 - dd / 30 * (1 - dd / 56 * (1 - dd / 90))))
    second = 1 / 6 * (1 - dd / 20 * (1 - dd / 42 * (1 - dd / 72 * (1 - dd / 110))))
    closed = 2 * half * half / safe, (theta - 2 * half * cos(theta / 2)) / (safe * theta)
    return where(small, first, closed[0]), where(small, second, closed[1])
