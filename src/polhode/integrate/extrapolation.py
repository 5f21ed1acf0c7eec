"""Euler's linearly implicit rule, extrapolated to order 7, for machines whose joints are damped hard.

    (M + h D) a = τ − D v − bias,  v₁ = v + h a,  d₁ = d + h Jr(d)⁻¹ v₁     one step of size h; D of joints, as of now
    x₁ = Σ_j w_j x_j,  x_j after j steps of size h/j,  w_j = Π_{i≠j} j/(j − i)      Hairer, Wanner (1996) §IV.9, SEULEX

with q ⊕ d around the state, so that what is extrapolated are changes, and rounding counts in parts of them.

D is diagonal, so a step of the rule costs what forward dynamics costs: the armature of each joint grows by h times its
damping. A joint of 1e-4 kg m² damped with 0.5 N m s/rad comes to rest within 0.2 ms, and explicit methods take a step
for each millisecond long after that; these steps follow the motion that is left. What the rule leaves out of the
derivatives of v̇ costs accuracy only, which the error estimate sees: its error has an expansion in powers of h whatever
the matrix is. Steps are as many as explicit ones where something else is fast.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from polhode.integrate.chart import hermite
from polhode.integrate.group import right_inverse
from polhode.integrate.method import Machine, Method, Step
from polhode.scalar import Scalar, SharedFunction, Vec, loops_for, where

COLUMNS = (1, 2, 3, 4, 5, 6, 7)
"""How many steps of the rule each column of the extrapolation takes. Its order is their number."""

COUNTED = 3
"""How often the difference to the extrapolation without the first column counts as the error of a step. For 3^(1/7), a
sixth, more steps runs then err as those by dop853 do, in parts of steps × tolerance: `heavy-top` at 1e-9 by 0.15 of it,
0.54 if it counts once."""

LANES = ((7,), (6, 1), (5, 2), (4, 3))
"""Which columns go one after the other, the others beside them: four rows of seven steps."""

Substep = Callable[[Vec, Vec, Vec, Vec], Vec]
"""How the change (d, δv) of a state grows in a step of the rule, and the integrals, of (t, h), q, v and the change"""


class Schedule(NamedTuple):
    """What the lanes do in each pass, by passes and lanes: tables of passes × lanes numbers.

    begins      1 where a column begins
    times       the end of the step of the rule, as a part of the whole step
    sizes       its size
    weights     of the state in the result: those of columns where they end, else 0
    errors      the same in the estimated error: COUNTED times the difference to that by all columns but the first
    """

    begins: tuple[float, ...]
    times: tuple[float, ...]
    sizes: tuple[float, ...]
    weights: tuple[float, ...]
    errors: tuple[float, ...]


def weights(columns: Sequence[int]) -> dict[int, Fraction]:
    """Those of the columns in the value at h = 0 of the polynomial in h through them (Aitken, Neville)."""
    found = {}
    for j in columns:
        found[j] = Fraction(1)
        for i in columns:
            if i != j:
                found[j] *= Fraction(j, j - i)
    return found


@cache
def schedule() -> Schedule:
    """The schedule of LANES."""
    whole, lower = weights(COLUMNS), weights(COLUMNS[1:])
    rows = []
    for lane in LANES:
        row = []
        for n in lane:
            for k in range(1, n + 1):
                w = whole[n] if k == n else Fraction(0)
                e = COUNTED * (w - lower.get(n, Fraction(0))) if k == n else Fraction(0)
                row.append((float(k == 1), k / n, 1 / n, float(w), float(e)))
        rows.append(row)
    passes = zip(*rows, strict=True)
    return Schedule(*zip(*(entry for each in passes for entry in each), strict=True))


def _substep_of(machine: Machine) -> Substep:
    n = machine.nv

    def substep(times: Vec, q: Vec, v: Vec, change: Vec) -> Vec:
        (t, h), d = times, Vec(change[:n])
        here, speeds = machine.retract(q, d), v + Vec(change[n:])
        a = machine.damped_acceleration(t, here, speeds, h)
        speeds = speeds + h * a
        way = h * right_inverse(machine.rotations, d, speeds)
        work = machine.integrands(t, here, speeds, a) if machine.integrands else Vec()  # of the forces that act here
        return Vec((*way, *(h * a), *(h * work)))

    return substep


def extrapolated_step(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar, substep: Substep | None = None) -> Step:
    """One step.

    substep  that of the machine, where it is known
    """
    substep, table = substep or _substep_of(machine), schedule()
    n, lanes = 2 * machine.nv, len(LANES)
    size = n + machine.integrals
    with loops_for("extrapolation", (q, v, Vec([t, h])), written_out=machine.written_out) as r:
        begins, times, sizes, whole, differs = (
            r.table(name, values) for name, values in zip(Schedule._fields, table, strict=True)
        )
        x, change, error = r.array("x", size * lanes), r.output("change", size), r.output("error", n)
        for k in r.range(len(table.begins) // lanes):
            for i in r.together(lanes):
                is_first = begins[k * lanes + i] == 1.0
                so_far = [where(is_first, 0.0, x[j * lanes + i]) for j in range(size)]
                here = Vec([t + times[k * lanes + i] * h, sizes[k * lanes + i] * h])
                for j, more in enumerate(substep(here, q, v, Vec(so_far[:n]))):
                    x[j * lanes + i] = so_far[j] + more
            for j in r.range(size):
                for i in range(lanes):
                    change[j] = change[j] + whole[k * lanes + i] * x[j * lanes + i]
            for j in r.range(n):
                for i in range(lanes):
                    error[j] = error[j] + differs[k * lanes + i] * x[j * lanes + i]
    results = r.results()
    ways, speeds, work = (Vec(results[i:j]) for i, j in ((0, machine.nv), (machine.nv, n), (n, size)))
    end, errors = machine.retract(q, ways), Vec(results[size:])
    errors = Vec((*machine.rate(end, Vec(errors[: machine.nv])), *errors[machine.nv :]))
    return Step(end, v + speeds, (errors,), None, work)


def shared(method: Method, machine: Machine) -> Method:
    """The method with steps of one machine as a function that compiled code has once, however often it is called."""
    substep, nq, n = SharedFunction("substep", _substep_of(machine)), machine.nq, machine.nq + machine.nv

    def found(times: Vec, q: Vec, v: Vec) -> Vec:
        end = extrapolated_step(machine, times[0], q, v, times[1], substep)
        return Vec((*end.q, *end.v, *end.errors[0], *end.integrals))

    routine = SharedFunction("step", found)

    def step(given: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Step:
        x = routine(Vec([t, h]), q, v)
        return Step(Vec(x[:nq]), Vec(x[nq:n]), (Vec(x[n : 2 * n]),), None, Vec(x[2 * n :]))

    return replace(method, step=step, dense=hermite(step, method.order))


SEULEX = Method(
    "seulex", "extrapolation", 7, extrapolated_step, hermite(extrapolated_step, 7),
    "Hairer, Wanner (1996) §IV.9", error_order=6, on_group=True, damps_ahead=True, with_routine=shared,
)  # fmt: skip
"""Under control of its error; the damping of joints takes no short steps."""
