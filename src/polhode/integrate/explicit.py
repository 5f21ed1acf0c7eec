"""Explicit Runge–Kutta rules: one function for all tableaus, on vectors and on machines."""

from polhode.integrate import tableaus
from polhode.integrate.chart import ChartOf, combined, exponential, hermite, in_coordinates, raw
from polhode.integrate.extension import extension_of
from polhode.integrate.method import Dense, Interpolant, Machine, Method, Rhs, Rule, Step, VectorStep
from polhode.integrate.tableaus import Tableau
from polhode.scalar import Scalar, Vec
from polhode.scalar.structured import Stages, staged


def stages(tableau: Tableau, rhs: Rhs, t: Scalar, x: Vec, h: Scalar) -> list[Vec]:
    """k_i = f(t + c_i h, x + h Σ_j A_ij k_j)"""
    k: list[Vec] = []
    for c, row in zip(tableau.c, tableau.A, strict=True):
        k.append(rhs(t + c * h, x + h * combined(row, k)) if row else rhs(t, x))
    return k


def runge_kutta(tableau: Tableau) -> Rule:
    """The rule of a tableau, step(rhs, t, x, h) -> VectorStep.          Hairer, Nørsett, Wanner (1993) §II.1"""

    def step(rhs: Rhs, t: Scalar, x: Vec, h: Scalar) -> VectorStep:
        k = stages(tableau, rhs, t, x, h)
        return VectorStep(x + h * combined(tableau.b, k), tuple(h * combined(row, k) for row in tableau.errors))

    return step


def looped(tableau: Tableau) -> Rule:
    """The same rule with its stages in a loop, for vectors of many numbers."""
    rule = Stages(tableau.c, tableau.A, (tableau.b, *tableau.errors))

    def step(rhs: Rhs, t: Scalar, x: Vec, h: Scalar) -> VectorStep:
        end, *errors = staged(rhs, t, x, h, rule)
        return VectorStep(x + h * end, tuple(h * error for error in errors))

    return step


rk4 = runge_kutta(tableaus.RK4)


def continuous(tableau: Tableau, chart_of: ChartOf) -> Dense:
    """The motion within a step by the tableau's own polynomial.         Hairer, Nørsett, Wanner (1993) §II.6"""

    def dense(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Interpolant:
        chart = chart_of(machine, q, v)
        k = stages(tableau, chart.rhs, t, chart.start, h)
        for c, row in tableau.later:
            k.append(chart.rhs(t + c * h, chart.start + h * combined(row, k)))
        return Interpolant((chart.start, *(h * combined(row, k) for row in tableau.dense)), chart.state)

    return dense


def explicit(tableau: Tableau, chart_of: ChartOf = raw, family: str = "explicit", name: str = "") -> Method:
    """The method of a tableau in a chart."""
    written, in_loops = (in_coordinates(rule, chart_of) for rule in (runge_kutta(tableau), looped(tableau)))

    def step(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Step:
        return (in_loops if machine.is_large else written)(machine, t, q, v, h)

    dense = continuous(tableau, chart_of) if tableau.dense else hermite(step, tableau.order)
    known = tableau.order, step, dense, tableau.source, tableau.error_order
    extension = extension_of(tableau, chart_of)
    return Method(name or tableau.name, family, *known, extension=extension, on_group=chart_of is exponential)


EXPLICIT = tuple(map(explicit, tableaus.EXPLICIT))
"""Explicit methods in raw coordinates."""
