"""Methods whose steps meet the constraints themselves: multipliers are unknowns, found by Newton's method.

Index 3 holds the positions alone, the stabilised index 2 (Gear, Gupta, Leimkuhler) positions and velocities.
A condition that others imply takes no part: its multiplier is 0.
"""

from collections.abc import Sequence
from typing import Any

from polhode.integrate.chart import combined, method_on_group
from polhode.integrate.group import right_inverse
from polhode.integrate.implicit import alpha_weights, newton
from polhode.integrate.method import Machine, Method, Step, StepConstraints
from polhode.integrate.tableaus import RADAU2, RADAU3, Collocation
from polhode.scalar import Scalar, Vec, where


def _constraints(machine: Machine) -> StepConstraints:
    assert machine.constraints is not None
    return machine.constraints


class IndependentRows:
    """The rows of constraints that take part in a step: all but those that others imply.

    dependent  1 for each row that others imply, now; such a constant is a row that is implied in every state
    """

    def __init__(self, dependent: Vec) -> None:
        self.rows = [i for i, x in enumerate(dependent) if not (isinstance(x, float) and x == 1.0)]
        self.dependent, self.k = dependent, len(dependent)

    def spread(self, values: Sequence[Scalar]) -> Vec:
        """The multipliers of all rows, from those of the rows that take part."""
        found: list[Scalar] = [0.0] * self.k
        for i, value in zip(self.rows, values, strict=True):
            found[i] = value
        return Vec(found)

    def equations(self, residuals: Any, multipliers: Vec, rows: Sequence[int]) -> list[Scalar]:
        """The equations of some rows: each residual; or, where others imply the row, its multiplier; all to be zero."""
        return [where(self.dependent[i] == 1.0, multipliers[i], residuals[i]) for i in rows]


class EndImpulses:
    """Impulses of constraints at both ends of a step, as in RATTLE, of a machine at (t, q, v) and a step h.

        p⁺ = p + A(t, q)ᵀλ;  a step from p⁺ to p₁⁻ with φ(t₁, q₁) = 0;  p₁ = p₁⁻ + A(t₁, q₁)ᵀμ with r(t₁, q₁, v₁) = 0
        conditions of velocities alone hold in the middle of the step too: r(t + h/2, q ⊕ d/2, d/h) = 0

    Of a symmetric step of second order it makes a symmetric one of second order.
                         Andersen (1983); Hairer, Lubich, Wanner (2006) §VII.1.4; McLachlan, Perlmutter (2006)
    The unknowns are hλ: the rounding of φ does not grow with 1/h. Without constraints there are none, nor equations.
    """

    def __init__(self, machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> None:
        self.constraints, self.machine = machine.constraints, machine
        self.t, self.q, self.h = t, q, h
        self.independent = IndependentRows(machine.constraints.dependent(t, q, v) if machine.constraints else Vec())
        self.none = [0.0] * len(self.independent.rows)
        """The unknowns of no impulse"""
        self._A = machine.constraints.rows(t, q) if machine.constraints else Vec()

    def before(self, unknowns: Sequence[Scalar]) -> Vec:
        """A(t, q)ᵀλ"""
        return self._impulse(self._A, unknowns)

    def after(self, unknowns: Sequence[Scalar], q1: Vec) -> Vec:
        """A(t₁, q₁)ᵀμ"""
        return self._impulse(self.constraints.rows(self.t + self.h, q1) if self.constraints else Vec(), unknowns)

    def _impulse(self, A: Vec, unknowns: Sequence[Scalar]) -> Vec:
        if not self.constraints:
            return Vec([0.0] * self.machine.nv)
        return (self.independent.spread(unknowns) @ A) / self.h

    def on_positions(self, unknowns: Sequence[Scalar], d: Vec, q1: Vec) -> list[Scalar]:
        """What the impulse at the start has to make zero in a step along d to q₁."""
        if not self.constraints:
            return []
        t, h, positions = self.t, self.h, self.constraints.positions
        held = [*self.constraints.residuals(t + h, q1, d / h)[0]]
        if self.independent.k > positions:
            r = self.constraints.residuals(t + h / 2, self.machine.retract(self.q, d / 2), d / h)[1]
            held += h * Vec(r[positions:])
        return self._equations(held, unknowns)

    def on_velocities(self, unknowns: Sequence[Scalar], q1: Vec, v1: Vec) -> list[Scalar]:
        """What the impulse at the end has to make zero."""
        if not self.constraints:
            return []
        return self._equations(self.h * self.constraints.residuals(self.t + self.h, q1, v1)[1], unknowns)

    def _equations(self, held: Sequence[Scalar], unknowns: Sequence[Scalar]) -> list[Scalar]:
        return self.independent.equations(held, self.independent.spread(unknowns), self.independent.rows)

    def velocity(self, q1: Vec, v1: Vec) -> Vec:
        """The velocity after the impulse at the end, from the one before it."""
        return self.constraints.velocity(self.t + self.h, q1, v1) if self.constraints else v1


def index_3(radius: float = 0.8) -> Method:
    """The generalised-α method on the group with multipliers, second order; positions are held, index 3.

        M v̇₁ + bias = τ + Aᵀλ₁,  φ(t₁, q₁) = 0,  r(t₁, q₁, v₁) = 0 of conditions of velocities alone
        (1 − αm) a₁ + αm a = (1 − αf) v̇₁ + αf v̇       Arnold, Brüls (2007); Brüls, Cardona, Arnold (2012)

    q₁, v₁ of a₁ as in `implicit.generalized_alpha`. The memory is (a, v̇).
    """
    am, af, beta, gamma = alpha_weights(radius)

    def start(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Vec:
        earlier, vd = (am - af) * h, machine.acceleration(t, q, v)
        a = machine.acceleration(t + earlier, machine.retract(q, earlier * v), v + earlier * vd)
        return Vec((*a, *vd))

    def step(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar, memory: Vec | None = None) -> Step:
        n, constraints = machine.nv, _constraints(machine)
        carried = start(machine, t, q, v, h) if memory is None else memory
        a, vd = Vec(carried[:n]), Vec(carried[n:])
        independent = IndependentRows(constraints.dependent(t, q, v))

        def end(a1: Vec) -> tuple[Vec, Vec]:
            d = h * v + h * h * ((1 / 2 - beta) * a + beta * a1)
            return machine.retract(q, d), v + h * ((1 - gamma) * a + gamma * a1)

        def rate(a1: Vec) -> Vec:
            return ((1 - am) * a1 + am * a - af * vd) / (1 - af)

        part = beta * h * h  # unknowns are parts of the displacement: rounding of φ does not grow with 1/h²

        def residual(x: Vec) -> Vec:
            a1, lam = Vec(x[:n]) / part, independent.spread(x[n:])
            q1, v1 = end(a1)
            phi, r = constraints.residuals(t + h, q1, v1)
            held = [*phi, *(beta * h / gamma * Vec(r[constraints.positions :]))]
            left = part * constraints.required_force(t + h, q1, v1, rate(a1)) - constraints.force(t + h, q1, lam)
            return Vec((*left, *independent.equations(held, lam, independent.rows)))

        a1 = Vec(newton(residual, Vec((*(part * vd), *[0.0] * len(independent.rows))))[:n]) / part
        return Step(*end(a1), memory=Vec((*a1, *rate(a1))))

    source = "Arnold, Brüls (2007); Brüls, Cardona, Arnold (2012)"
    return method_on_group("generalized-alpha", "implicit", 2, step, source, start, meets_constraints=True)


def stabilised_index_2(tableau: Collocation) -> Method:
    """A stiffly accurate implicit rule on the stabilised index-2 equations, in the exponential chart.    BEYOND §7

        ḋ = Jr(d)⁻¹ (v + M⁻¹Aᵀμ),  M v̇ + bias = τ + Aᵀλ,  φ(t, q ⊕ d) = 0,  r(t, q ⊕ d, v) = 0

    All hold at every stage, the last of which is the end. μ is 0 but for the error of the rule.
    """

    def step(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Step:
        n, constraints = machine.nv, _constraints(machine)
        independent = IndependentRows(constraints.dependent(t, q, v))
        k = len(independent.rows)
        positions = [i for i in independent.rows if i < constraints.positions]
        width = 2 * n + k + len(positions)
        still = Vec([0.0] * n)

        def residual(x: Vec) -> Vec:
            turns, speeds, moves, pushes, held = [], [], [], [], []
            for i, c in enumerate(tableau.c):
                part = x[i * width : (i + 1) * width]
                d, V = Vec(part[:n]), v + Vec(part[n : 2 * n])
                lam = independent.spread(part[2 * n : 2 * n + k])
                mu = independent.spread([*part[2 * n + k :], *[0.0] * (k - len(positions))])
                Q, when = machine.retract(q, d), t + c * h
                force = constraints.force(when, Q, lam) - h * constraints.required_force(when, Q, V, still)
                correction = machine.velocity(Q, constraints.force(when, Q, mu))
                turns.append(d)
                speeds.append(Vec(part[n : 2 * n]))
                moves.append(right_inverse(machine.rotations, d, h * V + correction))
                pushes.append(machine.velocity(Q, force))
                phi, r = constraints.residuals(when, Q, V)
                held.append(independent.equations(r, lam, independent.rows) + independent.equations(phi, mu, positions))
            found: list[Scalar] = []
            for row, d, Z, rest in zip(tableau.A, turns, speeds, held, strict=True):
                found += [*(d - combined(row, moves)), *(Z - combined(row, pushes)), *rest]
            return Vec(found)

        vd, none = machine.acceleration(t, q, v), [0.0] * (width - 2 * n)
        guess = [x for c in tableau.c for x in (*(c * h * v), *(c * h * vd), *none)]
        last = Vec(newton(residual, Vec(guess))[-width:])
        return Step(machine.retract(q, Vec(last[:n])), v + Vec(last[n : 2 * n]))

    source = f"Gear, Gupta, Leimkuhler (1985); {tableau.source}"
    return method_on_group(tableau.name, "implicit", tableau.order, step, source, meets_constraints=True)


CONSTRAINED_METHODS: dict[str, dict[str, Method]] = {
    "ggl": {tableau.name: stabilised_index_2(tableau) for tableau in (RADAU3, RADAU2)},
    "index-3": {"generalized-alpha": index_3()},
}
"""By constraint policy, the methods that it can be carried out with, the usual one first."""
