"""Steps on a manifold: quaternions are turned, never added, so they keep their length."""

from collections.abc import Callable
from typing import Any

from polhode.integrate.chart import exponential, method_on_group
from polhode.integrate.explicit import explicit
from polhode.integrate.method import Machine, Rule, Step, VectorStep
from polhode.integrate.tableaus import DOP853, DOPRI54, RK4
from polhode.scalar import Scalar, Vec


def in_chart(rule: Rule, origin: Callable[[Vec], Vec], retract: Callable[[Vec, Vec], Vec]) -> Callable[..., VectorStep]:
    """A step rule on a manifold, of the same order, from one for vectors.

    The state never leaves the manifold, whatever the step.                  Munthe-Kaas (1998)

    origin(x)      the coordinates of x in the chart around x
    retract(x, y)  the state at the coordinates y of the chart around x
    ->             step(rhs, t, x, h), where rhs(t, x, y) is ẏ in the chart around x
    """

    def step(rhs: Callable[[Scalar, Vec, Vec], Vec], t: Any, x: Vec, h: Any) -> VectorStep:
        return VectorStep(retract(x, rule(lambda s, y: rhs(s, x, y), t, origin(x), h).x))

    return step


def exponential_midpoint(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Step:
    """Half a step at the velocity of the start, then a whole one at the velocity found there.

    v½ = v + h/2 v̇,  q₁ = q ⊕ h v½,  v₁ = v + h v̇(t + h/2, q ⊕ h/2 v, v½)      Crouch, Grossman (1993), s = 2
    """
    middle = v + h / 2 * machine.acceleration(t, q, v)
    vd = machine.acceleration(t + h / 2, machine.retract(q, h / 2 * v), middle)
    return Step(machine.retract(q, h * middle), v + h * vd)


def commutator_free(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Step:
    """Four stages, five exponentials, no commutator.               Celledoni, Marthinsen, Owren (2003), CF4

    q₁ = q ⊕ h/12 (3V₁ + 2V₂ + 2V₃ − V₄) ⊕ h/12 (−V₁ + 2V₂ + 2V₃ + 3V₄)
    """
    A1 = machine.acceleration(t, q, v)
    q2, v2 = machine.retract(q, h / 2 * v), v + h / 2 * A1
    A2 = machine.acceleration(t + h / 2, q2, v2)
    q3, v3 = machine.retract(q, h / 2 * v2), v + h / 2 * A2
    A3 = machine.acceleration(t + h / 2, q3, v3)
    q4, v4 = machine.retract(q2, h * v3 - h / 2 * v), v + h * A3
    A4 = machine.acceleration(t + h, q4, v4)
    half = machine.retract(q, h / 12 * (3 * v + 2 * v2 + 2 * v3 - v4))
    end = machine.retract(half, h / 12 * (2 * v2 - v + 2 * v3 + 3 * v4))
    return Step(end, v + h / 6 * (A1 + 2 * A2 + 2 * A3 + A4))


LIE = (
    method_on_group("exponential-midpoint", "Lie group", 2, exponential_midpoint, "Crouch, Grossman (1993)"),
    explicit(RK4, exponential, "Lie group", "rkmk4"),
    method_on_group("cf4", "Lie group", 4, commutator_free, "Celledoni, Marthinsen, Owren (2003)"),
    explicit(DOPRI54, exponential, "Lie group", "rkmk-dopri54"),
    explicit(DOP853, exponential, "Lie group", "rkmk-dop853"),
)
"""Explicit methods on the group."""
