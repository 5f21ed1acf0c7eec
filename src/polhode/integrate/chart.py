"""A machine's state as a vector: where rules for vectors meet machines, and the motion within a step."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from polhode.integrate.group import right_inverse
from polhode.integrate.method import Advance, Dense, Interpolant, Machine, Method, MotionState, Rhs, Rule, Start, Step
from polhode.integrate.tableaus import Row
from polhode.linalg.elimination import solve_by_rows
from polhode.scalar import Scalar, Vec


def combined(row: Row, vectors: Sequence[Vec]) -> Vec:
    """Σ row_i vectors_i"""
    first, *others = [weight * vectors[i] for i, weight in row.items()]
    for other in others:
        first = first + other
    return first


class Chart(NamedTuple):
    """Coordinates x around a state: x at that state, ẋ = rhs(t, x), the state at x, an error of x as one of (q, v)."""

    start: Vec
    rhs: Rhs
    state: Callable[[Vec], MotionState]
    error: Callable[[Vec, Vec], Vec]


ChartOf = Callable[[Machine, Vec, Vec], Chart]


def raw(machine: Machine, q: Vec, v: Vec) -> Chart:
    """x = (q, v) as they are; quaternions are brought back to unit length when the state is read."""
    nq = machine.nq

    def rhs(t: Scalar, x: Vec) -> Vec:
        q, v = Vec(x[:nq]), Vec(x[nq:])
        return Vec((*machine.rate(q, v), *machine.acceleration(t, q, v)))

    def state(x: Vec) -> MotionState:
        return MotionState(machine.normalized(Vec(x[:nq])), Vec(x[nq:]))

    return Chart(Vec((*q, *v)), rhs, state, lambda error, q: error)


def exponential(machine: Machine, q: Vec, v: Vec) -> Chart:
    """x = (d, v) with the coordinates q ⊕ d: quaternions never leave the sphere.

    ḋ = Jr(d)⁻¹ v                                                          Munthe-Kaas (1998), BEYOND §3
    """
    nv = machine.nv

    def rhs(t: Scalar, x: Vec) -> Vec:
        d, v = Vec(x[:nv]), Vec(x[nv:])
        return Vec((*right_inverse(machine.rotations, d, v), *machine.acceleration(t, machine.retract(q, d), v)))

    def state(x: Vec) -> MotionState:
        return MotionState(machine.retract(q, Vec(x[:nv])), Vec(x[nv:]))

    def error(e: Vec, q: Vec) -> Vec:
        return Vec((*machine.rate(q, Vec(e[:nv])), *e[nv:]))

    return Chart(Vec((*[0.0] * nv, *v)), rhs, state, error)


def in_coordinates(rule: Rule, chart_of: ChartOf) -> Advance:
    """The method that a rule for vectors gives in a chart."""

    def step(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Step:
        chart = chart_of(machine, q, v)
        found = rule(chart.rhs, t, chart.start, h)
        end = chart.state(found.x)
        return Step(end.q, end.v, tuple(chart.error(e, end.q) for e in found.errors))

    return step


INNER: dict[int, tuple[Fraction, ...]] = {
    3: (),
    5: (Fraction(1, 3), Fraction(2, 3)),
    7: (Fraction(1, 6), Fraction(2, 5), Fraction(3, 5), Fraction(5, 6)),
}
"""Instants within a step, besides its ends, whose rates fix a polynomial of a degree."""


@cache
def basis(degree: int) -> tuple[Row, ...]:
    """The polynomial of a degree with given states at the ends and given rates: for each power of θ the weights of x₀,
    x₁, and of the rates at 0, 1 and the inner instants."""
    nodes = (Fraction(0), Fraction(1), *INNER[degree])
    powers = range(degree + 1)
    conditions = [[Fraction(k == 0) for k in powers], [Fraction(1) for k in powers]]
    conditions += [[k * c ** max(k - 1, 0) for k in powers] for c in nodes]
    A = Vec([Vec(row) for row in conditions])
    columns = [solve_by_rows(A, Vec([Fraction(i == j) for i in powers])) for j in powers]
    return tuple({j: float(column[k]) for j, column in enumerate(columns) if column[k]} for k in powers)


def hermite(step: Advance, order: int) -> Dense:
    """The motion within a step from the states and rates at its ends, error O(h^order).

    The cubic has the error O(h⁴). Rates at inner instants, taken on the polynomial found so far, raise
    that by one power of h each time.                 Enright, Jackson, Nørsett, Thomsen (1986), bootstrapping
    """

    def dense(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar, *memory: Vec) -> Interpolant:
        return interpolated(machine, t, q, v, h, step(machine, t, q, v, h, *memory), order)

    return dense


def interpolated(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar, end: Step, order: int) -> Interpolant:
    """The motion within a step of which the end is known, error O(h^order): see `hermite`."""
    chart = raw(machine, q, v)
    ends = [chart.start, Vec((*end.q, *end.v))]
    rates = [h * chart.rhs(t, ends[0]), h * chart.rhs(t + h, ends[1])]
    coefficients = [combined(row, [*ends, *rates]) for row in basis(3)]
    for known in range(4, order):  # the error is O(h^known) so far
        degree = 5 if known < 6 else 7
        so_far = Interpolant(tuple(coefficients), lambda x: MotionState(x, Vec()))
        inner = [h * chart.rhs(t + float(c) * h, so_far.at(float(c)).q) for c in INNER[degree]]
        coefficients = [combined(row, [*ends, *rates, *inner]) for row in basis(degree)]
    return Interpolant(tuple(coefficients), chart.state)


def method_on_group(
    name: str,
    family: str,
    order: int,
    step: Advance,
    source: str,
    start: Start | None = None,
    meets_constraints: bool = False,
) -> Method:
    """The method of a step that turns quaternions; the motion within it is `hermite`'s."""
    dense = hermite(step, order)
    return Method(
        name, family, order, step, dense, source, start=start, on_group=True, meets_constraints=meets_constraints
    )
