"""The motion within a step of an explicit rule, as exact as its steps are: for samples between them.

A tableau's own polynomial has the error O(h^p), p its order: within steps 10 to 20 times what they leave at their ends
(dop853, an orbit). Rates at inner instants, taken on it, raise that by one power of h, to the local error of the step
itself; taken again, on what they gave, they leave no more than that.
                                                              Enright, Jackson, Nørsett, Thomsen (1986), bootstrapping
As these rates are further stages, and the polynomial is linear in all of them, it is a tableau with more rows.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from polhode.integrate.chart import ChartOf
from polhode.integrate.method import Machine, MotionState, WithinStep
from polhode.integrate.tableaus import EXPLICIT, Row, Tableau
from polhode.linalg.elimination import solve_by_rows
from polhode.scalar import Scalar, Vec
from polhode.scalar.structured import Stages, staged

INNER: dict[int, tuple[Fraction, ...]] = {
    8: (Fraction(1, 10), Fraction(1, 4), Fraction(2, 5), Fraction(3, 5), Fraction(4, 5))
}
"""Instants within a step, besides its ends, whose rates fix the polynomial, by the order of the rule. Five that lie
symmetrically would not fix it; of the sets tried these magnify roundings least."""

ROUNDS = 2
"""How often the rates are taken, five stages beside sixteen each time. After one, the polynomials of a quarter to all
steps (four-bar, rolling-disk, tolerance 1e-9) are too far from those before to be taken, after two of a tenth."""

COMPARED = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
"""Instants at which the polynomial is compared with that of the round before: the estimate of its error."""

Weights = dict[int, Fraction]


@dataclass(frozen=True, eq=False)
class Extension:
    """A continuous extension of an explicit rule in a chart, of the order of its steps."""

    tableau: Tableau
    chart_of: ChartOf

    @property
    def count(self) -> int:
        """Factors of the polynomial."""
        return len(INNER[self.tableau.order]) + 3

    def size(self, machine: Machine, q: Vec, v: Vec) -> int:
        """Numbers of each factor."""
        return len(self.chart_of(machine, q, v).start)

    def within(self, machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> WithinStep:
        """The polynomial of the step from a state; its stages are found again, in one loop."""
        chart, rule, n = self.chart_of(machine, q, v), _rule(self.tableau.name), self.count
        sums = [h * found for found in staged(chart.rhs, t, chart.start, h, rule)]
        return WithinStep(tuple(sums[:n]), tuple(chart.error(found, q) for found in sums[n:]))

    def state(self, machine: Machine, q: Vec, v: Vec, factors: tuple[Vec, ...], theta: Scalar) -> MotionState:
        """The state at the part θ of a step that began at a state."""
        chart = self.chart_of(machine, q, v)
        x = factors[-1]
        for n in range(len(factors) - 2, -1, -1):
            x = factors[n] + (theta if n % 2 else 1.0 - theta) * x
        return chart.state(chart.start + theta * x)


def extension_of(tableau: Tableau, chart_of: ChartOf) -> Extension | None:
    """The extension of a tableau that has a polynomial of its own; None for others."""
    return Extension(tableau, chart_of) if tableau.dense and tableau.order in INNER else None


@cache
def _rule(name: str) -> Stages:
    """All stages of the tableau of a name, and the sums of them that are the factors and the differences."""
    tableau = next(tableau for tableau in EXPLICIT if tableau.name == name)
    c = [*tableau.c, *(later.c for later in tableau.later)]
    A = [*tableau.A, *(later.row for later in tableau.later)]
    end = next(i for i, row in enumerate(A) if c[i] == 1.0 and row == tableau.b)
    own, inner = [_weights(row) for row in tableau.dense], INNER[tableau.order]

    def by_powers(theta: Fraction) -> Weights:
        return _at(own, [theta ** (m + 1) for m in range(len(own))])

    def by_factors(theta: Fraction) -> Weights:
        return _at(factors, [_shape(n, theta)[0] for n in range(len(factors))])

    factors: list[Weights] = []
    before: list[Weights] = []
    for _ in range(ROUNDS):
        polynomial, first = by_factors if factors else by_powers, len(c)
        before = [polynomial(theta) for theta in COMPARED]
        A += [_floats(polynomial(theta)) for theta in inner]
        c += [float(theta) for theta in inner]
        factors = _factors(_weights(tableau.b), end, inner, first)
    differences = [_sum(by_factors(x), lower, Fraction(-1)) for x, lower in zip(COMPARED, before, strict=True)]
    return Stages(tuple(c), tuple(A), tuple(_floats(row) for row in (*factors, *differences)))


def _factors(b: Weights, end: int, inner: tuple[Fraction, ...], first: int) -> list[Weights]:
    """The factors, in weights of the stages: x₁, the rates at both ends, and those at inner instants fix them."""
    F0 = b
    F1 = _sum({0: Fraction(1)}, F0, Fraction(-1))
    F2 = _sum(_sum(F0, F0), {0: Fraction(1), end: Fraction(1)}, Fraction(-1))
    known, n = [F0, F1, F2], len(inner)
    slopes = Vec([Vec([_shape(3 + k, theta)[1] for k in range(n)]) for theta in inner])
    columns = [solve_by_rows(slopes, Vec([Fraction(i == j) for i in range(n)])) for j in range(n)]
    rest = []
    for i, theta in enumerate(inner):
        taken = _at(known, [_shape(k, theta)[1] for k in range(3)])
        rest.append(_sum({first + i: Fraction(1)}, taken, Fraction(-1)))
    return [*known, *(_at(rest, [columns[i][k] for i in range(n)]) for k in range(n))]


def _shape(n: int, theta: Fraction) -> tuple[Fraction, Fraction]:
    """What multiplies the factor n, θ^a (1−θ)^b, and its slope."""
    a, b = n // 2 + 1, (n + 1) // 2
    value = theta**a * (1 - theta) ** b
    return value, value * (a / theta - b / (1 - theta))


def _weights(row: Row) -> Weights:
    return {i: Fraction(w) for i, w in row.items()}


def _floats(row: Weights) -> dict[int, float]:
    return {i: float(w) for i, w in sorted(row.items()) if w}


def _sum(a: Weights, b: Weights, factor: Fraction = Fraction(1)) -> Weights:
    return {i: a.get(i, Fraction(0)) + factor * b.get(i, Fraction(0)) for i in {*a, *b}}


def _at(rows: list[Weights], parts: list[Fraction]) -> Weights:
    """Σ parts_i rows_i"""
    total: Weights = {}
    for row, part in zip(rows, parts, strict=True):
        total = _sum(total, row, part)
    return total
