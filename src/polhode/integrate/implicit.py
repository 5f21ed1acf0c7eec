"""Implicit rules, each solved by Newton's method with exact derivatives."""

from collections.abc import Callable
from dataclasses import replace
from math import nan

from polhode.integrate import tableaus
from polhode.integrate.chart import combined, hermite, in_coordinates, method_on_group, raw
from polhode.integrate.method import Machine, Method, Rhs, Rule, Step, VectorStep
from polhode.integrate.tableaus import Collocation
from polhode.linalg.elimination import solve
from polhode.scalar import Scalar, Vec, iterate, jacobian, maximum, where

TOLERANCE = 1e-10
"""The last relative correction of Newton's method: the error after it is of the order of its square, 1e-20."""

LIMIT = 20
"""Most corrections of Newton's method before a step counts as failed; derivatives are exact, so a few are enough."""


def newton(residual: Callable[[Vec], Vec], start: Vec, limit: int = LIMIT, tolerance: Scalar = TOLERANCE) -> Vec:
    """x with residual(x) = 0, from x ← x − J⁻¹ residual; NaN where the corrections do not get small.

    tolerance  of the largest |Δx_i|/(1 + |x_i|)
    """
    n = len(start)

    def correct(state: Vec) -> tuple[Vec, Scalar]:
        x = Vec(state[:n])
        value, J = jacobian(residual, x)
        dx = solve(J, -value)
        size: Scalar = 0.0
        for d, at in zip(dx, x, strict=True):
            size = maximum(size, abs(d) / (1 + abs(at)))
        return Vec((*(x + dx), size)), size > tolerance

    found = iterate(correct, Vec((*start, 1.0)), limit)
    return where(found[n] <= tolerance, Vec(found[:n]), Vec([nan] * n))


def collocation(tableau: Collocation) -> Rule:
    """The rule of an implicit tableau.                                          Hairer, Wanner (1996) §IV.8

    The unknowns are the increments Z of the stages: for stiff equations they are known better than rates.
    """

    def step(rhs: Rhs, t: Scalar, x: Vec, h: Scalar) -> VectorStep:
        n = len(x)

        def residual(z: Vec) -> Vec:
            Z = [Vec(z[i : i + n]) for i in range(0, len(z), n)]
            f = [rhs(t + c * h, x + Z_i) for c, Z_i in zip(tableau.c, Z, strict=True)]
            found: list[Scalar] = []
            for Z_i, row in zip(Z, tableau.A, strict=True):
                found += Z_i - h * combined(row, f)
            return Vec(found)

        f = rhs(t, x)
        z = newton(residual, Vec([c * h * f_k for c in tableau.c for f_k in f]))
        return VectorStep(x + combined(tableau.d, [Vec(z[i : i + n]) for i in range(0, len(z), n)]))

    return step


def implicit(tableau: Collocation) -> Method:
    """The method of an implicit tableau, in raw coordinates: Gauss keeps the length of quaternions there."""
    step = in_coordinates(collocation(tableau), raw)
    ends = tableau.c[-1] == 1.0  # stiffly accurate: R(∞) = 0
    dense = hermite(step, tableau.order)
    return Method(tableau.name, "implicit", tableau.order, step, dense, tableau.source, damps=ends)


def implicit_midpoint(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Step:
    """The midpoint rule on the group: symmetric in time.                    Hairer, Lubich, Wanner (2006) §IV.8

    v̄ = v + h/2 v̇(t + h/2, q ⊕ h/2 v̄, v̄),  q₁ = q ⊕ h v̄,  v₁ = 2v̄ − v
    """

    def residual(mean: Vec) -> Vec:
        return mean - v - h / 2 * machine.acceleration(t + h / 2, machine.retract(q, h / 2 * mean), mean)

    mean = newton(residual, v)
    return Step(machine.retract(q, h * mean), 2 * mean - v)


def alpha_weights(radius: float) -> tuple[float, float, float, float]:
    """αm, αf, β, γ of the generalised-α method with a spectral radius for infinitely fast vibrations."""
    am, af = (2 * radius - 1) / (radius + 1), radius / (radius + 1)
    gamma = 1 / 2 + af - am
    return am, af, (gamma + 1 / 2) ** 2 / 4, gamma


def generalized_alpha(radius: float = 0.8) -> Method:
    """The generalised-α method on the group, second order, with damping of what the step cannot resolve.

        q₁ = q ⊕ (h v + h² ((½ − β) a + β a₁)),  v₁ = v + h ((1 − γ) a + γ a₁)
        (1 − αm) a₁ + αm a = (1 − αf) v̇₁ + αf v̇                       Chung, Hulbert (1993); Brüls, Cardona (2010)

    The memory is a, which follows v̇ at t + (αm − αf) h.

    radius  the spectral radius ρ for infinitely fast vibrations, 0 … 1; 1 damps nothing
    """
    am, af, beta, gamma = alpha_weights(radius)

    def start(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Vec:
        earlier = (am - af) * h
        vd = machine.acceleration(t, q, v)
        return machine.acceleration(t + earlier, machine.retract(q, earlier * v), v + earlier * vd)

    def step(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar, memory: Vec | None = None) -> Step:
        a = start(machine, t, q, v, h) if memory is None else memory
        vd = machine.acceleration(t, q, v)

        def end(a1: Vec) -> tuple[Vec, Vec]:
            d = h * v + h * h * ((1 / 2 - beta) * a + beta * a1)
            return machine.retract(q, d), v + h * ((1 - gamma) * a + gamma * a1)

        def residual(a1: Vec) -> Vec:
            return (1 - am) * a1 + am * a - (1 - af) * machine.acceleration(t + h, *end(a1)) - af * vd

        a1 = newton(residual, vd)
        return Step(*end(a1), memory=a1)

    source = "Chung, Hulbert (1993); Brüls, Cardona (2010)"
    found = method_on_group("generalized-alpha", "implicit", 2, step, source, start)
    return replace(found, damps=radius < 1)


IMPLICIT = (
    method_on_group("implicit-midpoint", "implicit", 2, implicit_midpoint, "Hairer, Lubich, Wanner (2006) §IV.8"),
    *map(implicit, tableaus.IMPLICIT),
    generalized_alpha(),
)
"""Implicit methods."""
