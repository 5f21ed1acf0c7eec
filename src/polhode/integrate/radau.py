"""Radau IIA of order 5 under control of its error, for stiff machines: its iteration takes their sparse matrices.

    Z = h (A ⊗ I) F(x + Z),  x = (d, v) around the state,  ḋ = Jr(d)⁻¹ v,  v̇ = v̇(t, q ⊕ d, v)
    (Λ − h J) ΔW = T⁻¹ h F − Λ W,  Z = T W                          Hairer, Wanner (1996) §IV.8, radau5.f

J = ∂(ḋ, v̇)/∂(d, v) is that of the middle of the step, about, and not exact, so iterations are more than one; what they
converge to is exact. Its stiff part, [0 I; −M⁻¹K −M⁻¹D], leaves for each eigenvalue ζ/h of A⁻¹/h one symmetric system
of nv unknowns,

    (M + s D + s² K) δd = M (s² r_v + s r_d) + s² D r_d,  s = h/ζ,  δv = δd/s − r_d

sparse where K and D are those of elements between bodies; under constraints M, D and K act along them, by the rows A.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import nan, sqrt
from typing import Any

from polhode.integrate.chart import hermite
from polhode.integrate.group import right_inverse
from polhode.integrate.method import Machine, Method, Step
from polhode.integrate.tableaus import RADAU3
from polhode.linalg.sparse_loops import (
    ComplexCells,
    ComplexNumber,
    RealCells,
    StiffMatrices,
    SymmetricPattern,
    SymmetricTables,
)
from polhode.scalar import (
    Loops,
    Scalar,
    SharedFunction,
    Vec,
    cross,
    dot,
    exp,
    identity,
    log,
    loops_for,
    maximum,
    minimum,
    sqrt as sqrt_,
    square,
    where,
)

LIMIT = 30
"""Most corrections of a step. They shrink by what J leaves out and how it changes within the step: where thirty are not
enough, the step is too long. Equal steps need them to come to TIGHT; controlled ones end sooner, by SLOW."""

PART = 0.005
"""The part of what a step may err by that its iteration may. Hairer and Wanner give 0.01 to 0.1; a correction takes a
tenth of the time of a step here, and steps are few."""

SHRINKS, HALVED, MOST, FASTER, STEADY = 0.04, 0.6, 8.0, 2.5, 1.25
"""What a change should be of the one before, which the size of steps is chosen for (it grows with its fourth power, as
what the guess is off by), and the factors of a step whose iteration failed, and at most: of one whose guess was as good
as its stages, of one that two changes were enough for, of any other. Iterations that shrink fast diverge at steps of
twice the size."""

GROWS, SLOW = 2.0, 0.6
"""A change that is more than this times the one before ends an iteration, and so do two in turn that are more than SLOW
times the one before: a step of half the size takes less work."""

TIGHT, ROUNDING = 1e-14, 1e-11
"""What the iteration of equal steps may err by, and where any may end that no longer shrinks. With 1e-13 for the first,
64 steps of a flying rod erred by 3.3e-10 where the rule errs by 1.8e-10; smaller errors are those of the iteration.
With 1e-13 for the second, equal steps of a slider-crank failed, whose stiff forces leave changes of 7e-13 by rounding.
"""

WAY_ROUNDING = 1e-13
"""Changes of a way, in parts of the way itself, that count as rounding where its errors count in parts of a length."""

_root = 9 ** (1 / 3)
_alpha, _beta = (12 - _root * (_root - 1)) / 60, _root * (_root + 1) * sqrt(3) / 60

GAMMA = 30 / (6 + _root * (_root - 1))
"""The real eigenvalue of A⁻¹."""

ALPHA, BETA = _alpha / (_alpha**2 + _beta**2), _beta / (_alpha**2 + _beta**2)
"""The others are ALPHA ± i BETA."""

T = (
    (9.1232394870892942792e-02, -0.14125529502095420843, -3.0029194105147424492e-02),
    (0.24171793270710701896, 0.20412935229379993199, 0.38294211275726193779),
    (0.96604818261509293619, 1.0, 0.0),
)
T_INVERSE = (
    (4.3255798900631553510, 0.33919925181580986954, 0.54177053993587487119),
    (-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196),
    (-0.50287263494578687595, 2.5719269498556054292, -0.59603920482822492497),
)
"""T⁻¹ A⁻¹ T = Λ, of one real and one complex block: those of radau5.f."""

A_INVERSE = tuple(
    tuple(
        GAMMA * T[i][0] * T_INVERSE[0][j]
        + T[i][1] * (ALPHA * T_INVERSE[1][j] - BETA * T_INVERSE[2][j])
        + T[i][2] * (BETA * T_INVERSE[1][j] + ALPHA * T_INVERSE[2][j])
        for j in range(3)
    )
    for i in range(3)
)

ERROR = ((-13 - 7 * sqrt(6)) / 3, (-13 + 7 * sqrt(6)) / 3, -1 / 3)
"""Weights of the stages in the difference to a rule of order 3.                         Hairer, Wanner (1996) (8.19)"""


class _Solver:
    """(ζ/h − J)⁻¹ for both eigenvalues, factored, in loops."""

    def __init__(self, r: Loops, matrices: StiffMatrices, n: int, h: Scalar) -> None:
        self.r, self.n, self.h, self.matrices = r, n, h, matrices
        pattern = matrices.pattern
        self.tables = SymmetricTables(r, pattern)
        self.y = RealCells(r, "y", pattern.n), ComplexCells(r, "y_c", pattern.n)
        self.x = RealCells(r, "x", pattern.n), ComplexCells(r, "x_c", pattern.n)
        self.a = RealCells(r, "a", pattern.size), ComplexCells(r, "a_c", pattern.size)
        self.inverse = RealCells(r, "inverse", pattern.n), ComplexCells(r, "inverse_c", pattern.n)
        self.s = h / GAMMA, _over(ZETA[1]) * h
        for o in r.range(pattern.size):
            M, D, K = (0.0 if x is None else x[o] for x in matrices[1:])
            s, z = self.s
            self.a[0].put(o, M + s * (D + s * K))
            zz = z * z
            self.a[1].put(o, ComplexNumber(M + z.re * D + zz.re * K, z.im * D + zz.im * K))
        for a, inverse in zip(self.a, self.inverse, strict=True):
            self.tables.factor(a, inverse)

    def solve(self, *asked: tuple[int, Any, Any], ways: bool = False) -> None:
        """(d, v) of (ζ − h J) (d, v) = right for each asked (which, right, out): 2 n numbers, first those of d; ways:
        these alone."""
        r, n, h = self.r, self.n, self.h
        over_h, whole = 1 / where(h == 0.0, 1.0, h), self.matrices.pattern.n
        for k in r.range(n):
            for which, right, _ in asked:
                part = _over(ZETA[which])
                self.y[which].put(k, (right.get(n + k) * self.s[which] + right.get(k)) * part)
                self.x[which].put(k, _number(which, 0.0))
        for k in r.range(n, whole):
            for which, _, _ in asked:
                self.y[which].put(k, _number(which, 0.0))
                self.x[which].put(k, _number(which, 0.0))
        pairs = [(self.y[which], self.x[which]) for which, _, _ in asked]
        self.tables.times(self.matrices.inertia, *pairs)
        if self.matrices.damping is not None:
            for k in r.range(n):
                for which, right, _ in asked:
                    self.y[which].put(k, right.get(k) * (self.s[which] * _over(ZETA[which])))
            self.tables.times(self.matrices.damping, *pairs)
        self.tables.solve(*((self.a[which], self.inverse[which], self.x[which]) for which, _, _ in asked))
        for k in r.range(n):
            for which, right, out in asked:
                d = self.x[which].get(k)
                if not ways:
                    out.put(n + k, (d * ZETA[which] - right.get(k)) * over_h)
                out.put(k, d)


ZETA: tuple[float, ComplexNumber] = (GAMMA, ComplexNumber(ALPHA, BETA))


def _over(zeta: Any) -> Any:
    return zeta.inverse() if isinstance(zeta, ComplexNumber) else 1 / zeta


def _number(which: int, value: Any) -> Any:
    return ComplexNumber(value, 0.0) if which else value


def _unit_masses(r: Loops, n: int) -> StiffMatrices:
    M = r.array("inertia", n)
    for k in r.range(n):
        M[k] = 1.0
    return StiffMatrices(SymmetricPattern([()] * n), M, None, None)


class _Turns:
    """Turns of the bodies that carry stiff elements, from where J is taken to the stages and to the start of a step.

    base  the change of the state from the start to where J is taken, nv numbers
    ends  those to the stages and to the start

    Stiffness turns with them: J of a stage is Q J₀ Qᵀ, about, with Q the turn of each body's velocities and ways along
    fixed axes. What Q is not exact in costs iterations, so turns are those of the guess, added as vectors, by Cayley's
    map.
    """

    def __init__(self, r: Loops, machine: Machine, q: Vec, base: Vec, ends: Sequence[Vec]) -> None:
        self.r, self.n, self.groups = r, machine.nv, []
        if not machine.carried or machine.turning is None:
            return
        first = machine.turning(q, base)
        vectors = [iter((machine.turning(q, end) - first) / 2) for end in ends]
        each = [
            (body, [[next(x) for _ in range(3 if len(body) == 3 else 1)] for x in vectors]) for body in machine.carried
        ]
        for size in (3, 2):
            if some := [(body, halves) for body, halves in each if len(body) == size]:
                self.groups.append(_TurningBodies(r, some, len(ends)))

    def apply(self, x: Any, turn: int, stages: int = 1, *, back: bool, ways: bool = False) -> None:
        """Q x, or Qᵀ x, in the place of x, (2 n, stages).

        turn  that of a stage, 3 of the start
        ways  of these alone
        """
        for group in self.groups:
            group.apply(x, turn, (0,) if ways else (0, self.n), stages, back=back)


class _TurningBodies:
    """Bodies that move along three axes, or two, and several turns Q of each: Cayley's map.

    bodies  of each the places of its shifts, and half the vectors of its turns, three numbers or one
    turns   how many there are
    """

    def __init__(
        self, r: Loops, bodies: Sequence[tuple[tuple[int, ...], Sequence[Sequence[Scalar]]]], turns: int
    ) -> None:
        self.r, self.count, self.size = r, len(bodies), len(bodies[0][0])
        n, m, name = self.size, len(bodies[0][1][0]), f"turn{self.size}"
        halves = r.array(f"{name}_halves", m * turns * self.count, unset=True)
        for k, value in enumerate(x for _, half in bodies for one in half for x in one):
            halves[k] = value
        self.places = [r.lookup(f"{name}_shift{k}", [body[k] for body, _ in bodies]) for k in range(n)]
        self.Q, self.width = r.array(name, n * n * turns * self.count, unset=True), n * n * turns
        for b in r.range(self.count):
            for i in range(turns):
                a = [halves[(b * turns + i) * m + k] for k in range(m)]
                Q = _turn_in_space(Vec(a)) if n == 3 else _turn(a[0])
                for k, value in enumerate(x for row in Q for x in row):
                    self.Q[b * self.width + i * n * n + k] = value

    def apply(self, x: Any, turn: int, parts: Sequence[int], stages: int, *, back: bool) -> None:
        """Q x, or Qᵀ x, in the place of x, (2 nv, stages), where its parts begin: ways, and velocities."""
        n, stage = self.size, turn if stages > 1 else 0
        for b in self.r.range(self.count):
            Q = [[self.Q[b * self.width + turn * n * n + n * i + j] for j in range(n)] for i in range(n)]
            at = [place.at(b) for place in self.places]
            for first in parts:
                old = [x[(k + first) * stages + stage] for k in at]
                for m, k in enumerate(at):
                    row = Vec([Q[j][m] if back else Q[m][j] for j in range(n)])
                    x[(k + first) * stages + stage] = dot(row, Vec(old))


def _turn_in_space(a: Vec) -> list[Vec]:
    part = 2 / (1 + square(a))
    columns = []
    for axis in identity(3):
        across = cross(a, axis)
        columns.append(axis + part * (across + cross(a, across)))
    return [Vec([column[m] for column in columns]) for m in range(3)]


def _turn(a: Scalar) -> list[Vec]:
    part = 1 / (1 + a * a)
    c, s = (1 - a * a) * part, 2 * a * part
    return [Vec([c, -s]), Vec([s, c])]


class _Recalled:
    """The polynomial of the stages of an earlier step, gone on: the guess of the stages of this one.

    memory  where on it this step begins, 0 or 1; the size of the earlier step, 0 where there was none; its Z
    """

    def __init__(self, r: Loops, machine: Machine, memory: Vec, h: Scalar) -> None:
        self.r, self.n, self.rotations = r, machine.nv, machine.rotations
        origin, size = memory[0], memory[1]
        self.is_known = size != 0.0
        self.memory = Vec(memory[2:])
        self.Z = r.given("recalled", self.memory)
        part = h / where(self.is_known, size, 1.0)
        self.begin = _weights(origin)
        self.half = [a - b for a, b in zip(_weights(origin + part / 2), self.begin, strict=True)]
        self.stages = [[a - b for a, b in zip(_weights(origin + c * part), self.begin, strict=True)] for c in RADAU3.c]

    def middle(self) -> tuple[Scalar, Vec]:
        """The middle of the step, as a part of it, and the way to there; the start where nothing is known."""
        way = [_sum(self.half, _stages(self.memory, k)) for k in range(self.n)]
        return where(self.is_known, 0.5, 0.0), Vec([where(self.is_known, x, 0.0) for x in way])

    def guess(self, Z: Any) -> None:
        """Put the guess in the place of Z, where there is one."""
        r, n = self.r, self.n
        for k in r.range(2 * n):
            old = _stages(self.Z, k)
            for i, weights in enumerate(self.stages):
                Z[k * 3 + i] = where(self.is_known, _sum(weights, old), Z[k * 3 + i])
        if not self.rotations:
            return
        turns = [r.lookup(f"turn{k}", [triple[k] for triple in self.rotations]) for k in range(3)]
        for b in r.range(len(self.rotations)):
            at = [turn.at(b) for turn in turns]
            begin = Vec([_sum(self.begin, _stages(self.Z, k)) for k in at])
            for i in range(3):  # the turn from where the step begins: Jr(d) of the difference, to second order
                x = Vec([Z[k * 3 + i] for k in at])
                across = cross(begin, x)
                turn = x - across / 2 + cross(begin, across) / 6
                for k, value, old in zip(at, turn, x, strict=True):
                    Z[k * 3 + i] = where(self.is_known, value, old)


def _stages(Z: Any, k: Any) -> list[Any]:
    """The three stages of a number, in memory of (2 n, 3)."""
    return [Z[k * 3 + i] for i in range(3)]


def _weights(theta: Scalar) -> list[Scalar]:
    """Those of the stages in the polynomial through them and 0 at the start, at the part θ of the step."""
    found = []
    for j, c in enumerate(RADAU3.c):
        weight = theta / c
        for other in (*RADAU3.c[:j], *RADAU3.c[j + 1 :]):
            weight = weight * (theta - other) / (c - other)
        found.append(weight)
    return found


def _memory_size(machine: Machine) -> int:
    return 2 + 6 * machine.nv


Rates = Callable[[Vec, Vec, Vec, Vec], Vec]
"""h (ḋ, v̇) of (t, h), q, v and the change (d, δv) of the state (q, v)"""


def _rates_of(machine: Machine) -> Rates:
    def rates(times: Vec, q: Vec, v: Vec, change: Vec) -> Vec:
        (t, h), d, V = times, Vec(change[: machine.nv]), v + Vec(change[machine.nv :])
        vd = machine.acceleration(t, machine.retract(q, d), V)
        return h * Vec((*right_inverse(machine.rotations, d, V), *vd))

    return rates


class _Iteration:
    """Newton's iteration for the stages of one step, in loops.

    Changes are measured as ways and turns, and as velocities over 1 + |v|: an error of those lasts beyond the step.
    Ways that count in parts of a length have it in the place of 1, and so have their velocities.
    """

    def __init__(
        self, r: Loops, machine: Machine, rates: Rates, t: Scalar, q: Vec, v: Vec, h: Scalar, memory: Vec | None
    ) -> None:
        self.recalled = _Recalled(r, machine, memory, h) if memory is not None else None
        self.r, self.machine, self.t, self.q, self.v, self.h = r, machine, t, q, v, h
        self._rates = rates
        n = self.n = machine.nv
        part, self.base, near = 0.0 * h, Vec([0.0] * n), q
        if self.recalled:
            part, self.base = self.recalled.middle()
            near = machine.retract(q, self.base)
        # a state ahead is not as good as its strains, which decide how bodies lean across them: those of the start are
        given = machine.stiff_matrices(r, t + part * h, near, v, q) if machine.stiff_matrices else _unit_masses(r, n)
        self.solver = _Solver(r, given, n, h)
        self.Z = r.array("Z", 6 * n, unset=True)
        """Increments of the stages, (2 n, 3)"""
        self.V, self.scale = r.given("v", v), r.array("scale", 2 * n, unset=True)
        for k in r.range(n):
            self.scale[k] = 1.0
            self.scale[n + k] = 1 / (1 + abs(self.V[k]))
        self._scale_ways()

    def _scale_ways(self) -> None:
        """Measure ways that count in parts of a length by it, as far as rounding allows; equal steps go to rounding
        anyway."""
        if (tolerance := self.machine.tolerance) is None:
            return
        is_equal = PART * tolerance <= 2 * TIGHT
        for coordinate, k, length in self.machine.error_lengths:
            rounding = WAY_ROUNDING / (PART * tolerance)
            way, speed = length + rounding * abs(self.q[coordinate]), length + abs(self.v[k])
            self.scale[k] = where(is_equal, 1.0, 1 / way)
            self.scale[self.n + k] = 1 / where(is_equal, 1 + abs(self.v[k]), speed)

    def rates(self, c: Any, get: Any) -> Vec:
        """h times the rates of d and v where these have changed; get: the change of the number k."""
        change = Vec([get(k) for k in range(2 * self.n)])
        return self._rates(Vec([self.t + c * self.h, self.h]), self.q, self.v, change)

    def _guess(self, right: RealCells, out: RealCells) -> None:
        """The stages at first, in Z; the rates at the start, in `now`."""
        r, n, Z, h = self.r, self.n, self.Z, self.h
        # at first, as by the acceleration without what is too fast for the step: that of the implicit rule of Euler
        self.now = RealCells(r, "now", 2 * n)
        for k, value in enumerate(self.rates(0.0, lambda k: 0.0)):
            self.now.put(k, value)
        for k in r.range(2 * n):
            right.put(k, self.now.get(k))
        self.solver.solve((0, right, out))
        for k in r.range(n):
            change = GAMMA * out.get(n + k)
            for i, part in enumerate(RADAU3.c):
                Z[k * 3 + i] = part * h * (self.V[k] + part / 2 * change)
                Z[(k + n) * 3 + i] = part * change
        if self.recalled:
            self.recalled.guess(Z)
        ways = [Vec([Z[k * 3 + i] for k in range(n)]) for i in range(3)]
        self.turns = _Turns(r, self.machine, self.q, self.base, [*ways, Vec([0.0] * n)])

    def _change(
        self, F: Any, right: tuple[RealCells, ComplexCells], out: tuple[RealCells, ComplexCells], on: Any
    ) -> None:
        """The changes of the stages in the place of F, h times their rates; on: 0 where it is not true.

        Velocities change with the ways as those follow from them, A⁻¹ δd − h δv = r_d, along axes that do not turn: a
        change of ways would else leave one of velocities along what is stiff that is as large.
        """
        r, n, Z = self.r, self.n, self.Z
        for k in r.range(2 * n):
            z = _stages(Z, k)
            for i in range(3):
                F[k * 3 + i] = F[k * 3 + i] - _sum(A_INVERSE[i], z)
        for k in r.range(3 * n):
            self.behind[k] = F[k]
        for i in range(3):
            self.turns.apply(F, i, 3, back=True)
        for k in r.range(2 * n):
            f = _stages(F, k)
            right[0].put(k, _sum(T_INVERSE[0], f))
            right[1].put(k, ComplexNumber(_sum(T_INVERSE[1], f), _sum(T_INVERSE[2], f)))
        self.solver.solve((0, right[0], out[0]), (1, right[1], out[1]), ways=True)
        for k in r.range(n):
            first, others = out[0].get(k), out[1].get(k)
            w = [where(on, x, 0.0) for x in (first, others.re, others.im)]
            for i in range(3):
                F[k * 3 + i] = _sum(T[i], w)
        for i in range(3):
            self.turns.apply(F, i, 3, back=False, ways=True)
        over_h = 1 / where(self.h == 0.0, 1.0, self.h)
        for k in r.range(n):
            d = _stages(F, k)
            for i in range(3):
                F[(k + n) * 3 + i] = where(on, (_sum(A_INVERSE[i], d) - self.behind[k * 3 + i]) * over_h, 0.0)

    def stages(self) -> Any:
        """Find the stages; the array of 1 where they were found, and of what changes are of those before, for the size
        of the next step."""
        r, n, Z = self.r, self.n, self.Z
        tolerance = TIGHT if self.machine.tolerance is None else maximum(PART * self.machine.tolerance, TIGHT)
        F = r.array("F", 6 * n, unset=True)
        self.behind = r.array("behind", 3 * n, unset=True)
        c, found = r.table("c", RADAU3.c), r.array("found", 2)
        go, size, before = r.array("go", 1), r.array("size", 1), r.array("before", 1)
        last, begun, opened, count = (r.array(name, 1) for name in ("last", "begun", "opened", "count"))
        right = RealCells(r, "right", 2 * n), ComplexCells(r, "right_c", 2 * n)
        out = RealCells(r, "out", 2 * n), ComplexCells(r, "out_c", 2 * n)
        self._guess(right[0], out[0])
        go[0], before[0] = 1.0, 0.0
        for _ in r.repeated(LIMIT, go):
            going = go[0] == 1.0
            for i in r.together(3):
                for k, value in enumerate(self.rates(c[i], lambda k, i=i: Z[k * 3 + i])):
                    F[k * 3 + i] = value
            self._change(F, right, out, going)
            size[0] = 0.0
            for k in r.range(2 * n):
                change = _stages(F, k)
                size[0] = size[0] + square(Vec([x * self.scale[k] for x in change]))
                for i in range(3):
                    Z[k * 3 + i] = Z[k * 3 + i] + change[i]
            size[0] = sqrt_(size[0] / (6 * n))
            # of changes that shrink by θ, θ/(1 − θ) of the last is left
            first = before[0] == 0.0
            theta = size[0] / where(first, 1.0, before[0])
            shrinks = where(first, False, theta < 1)
            left = size[0] * where(shrinks, theta / where(shrinks, 1 - theta, 1.0), 1.0)
            near = where(shrinks, left <= tolerance, size[0] <= PART * tolerance)
            near = near | where(first, False, (size[0] <= ROUNDING) & (theta > SLOW))  # all that rounding allows
            found[0] = where(going, where(near, 1.0, 0.0), found[0])
            hopes = where(first, True, (theta < GROWS) & ((theta < SLOW) | (last[0] < SLOW)))
            last[0] = where(going, where(first, 0.0, theta), last[0])
            begun[0] = where(count[0] < 2.0, size[0], begun[0])
            opened[0] = where(count[0] == 1.0, where(size[0] <= ROUNDING, 0.0, theta), opened[0])
            count[0] = count[0] + where(going, 1.0, 0.0)
            go[0] = where(going, where(near, 0.0, where(hopes, 1.0, 0.0)), 0.0)
            before[0] = where(going, size[0], before[0])
        # from the second change on: the first two are about as large, whatever the step, since the first removes the
        # stresses that the guess alone has, by which all else is off; where the second is larger, it is nearly too long
        shrunk = maximum(before[0], 1e-300) / maximum(begun[0], 1e-300)
        mean = exp(log(shrunk) / maximum(count[0] - 2, 1.0)) * square(Vec([maximum(opened[0], 1.0)]))
        # where two were enough, the second may be rounding: what is far below SHRINKS counts alike
        few = where(count[0] > 1.0, maximum(minimum(opened[0], SHRINKS), SHRINKS / FASTER**4), 0.0)
        found[1] = where(count[0] > 2.0, maximum(mean, SHRINKS / STEADY**4), few)
        return found

    def _filtered(self, given: RealCells, right: RealCells, out: RealCells) -> None:
        """(γ − h J)⁻¹ of what is given, J that of the start of the step; right: gets what is given, turned"""
        for k in self.r.range(2 * self.n):
            right.put(k, given.get(k))
        self.turns.apply(right.memory, 3, back=True)
        self.solver.solve((0, right, out))
        self.turns.apply(out.memory, 3, back=False)

    def integrals(self, out: Any) -> None:
        """The integrals of the machine's integrands over the step, by the quadrature of its stages."""
        machine, n, h, Z = self.machine, self.n, self.h, self.Z
        if machine.integrands is None:
            return
        weights, c = self.r.table("weights", [RADAU3.A[2][i] for i in range(3)]), self.r.table("c", RADAU3.c)
        for i in self.r.range(3):
            x = [Z[k * 3 + i] for k in range(2 * n)]
            at = self.t + c[i] * h, machine.retract(self.q, Vec(x[:n])), self.v + Vec(x[n:])
            for k, value in enumerate(machine.integrands(*at, machine.acceleration(*at))):
                out[k] = out[k] + weights[i] * h * value

    def error(self, out: Any) -> None:
        """The estimated error, 2 n numbers, filtered twice: what is stiff counts as much as it is worth."""
        r, n, Z = self.r, self.n, self.Z
        right, err, turned = (RealCells(r, name, 2 * n) for name in ("wanted", "err", "turned"))
        for k in r.range(2 * n):
            right.put(k, self.now.get(k))
        for again in (False, True):
            if again:
                for k, value in enumerate(self.rates(0.0, err.get)):
                    right.put(k, value)
            for k in r.range(2 * n):
                right.put(k, right.get(k) + _sum(ERROR, _stages(Z, k)))
            self._filtered(right, turned, err)
        for k in r.range(2 * n):
            out[k] = err.get(k)


def _sum(row: Any, values: Any) -> Scalar:
    return row[0] * values[0] + row[1] * values[1] + row[2] * values[2]


def radau_step(
    machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar, memory: Vec | None = None, rates: Rates | None = None
) -> Step:
    """One step.

    memory  that of an earlier step; none of it is in the result
    rates   those of the machine, where they are known
    """
    n = machine.nv
    with loops_for("radau", (q, v, Vec([t, h]))) as r:
        iteration = _Iteration(r, machine, rates or _rates_of(machine), t, q, v, h, memory)
        end, err, good = r.output("end", 2 * n, unset=True), r.output("error", 2 * n, unset=True), r.output("good", 2)
        stages, work = iteration.stages(), r.output("work", machine.integrals)
        iteration.integrals(work)
        for k in range(2):
            good[k] = stages[k]
        iteration.error(err)
        for k in r.range(2 * n):
            end[k] = iteration.Z[k * 3 + 2]
        stage = r.output("stages", 6 * n if memory is not None else 0, unset=True)
        for k in r.range(6 * n) if memory is not None else ():
            stage[k] = iteration.Z[k]
    results = r.results()
    found, good_one, theta, more = results[: 4 * n], results[4 * n], results[4 * n + 1], results[4 * n + 2 :]
    work, recalled = Vec(more[: machine.integrals]), Vec((1.0, h, *more[machine.integrals :]))
    failed = Vec([where(good_one == 1.0, 0.0, nan)] * n)
    q1, v1 = machine.retract(q, Vec(found[:n])), v + Vec(found[n : 2 * n]) + failed
    ways, speeds = Vec(found[2 * n : 3 * n]), minimum(1.0, abs(h)) * Vec(found[3 * n :]) + failed
    allowed = sqrt_(sqrt_(SHRINKS / maximum(theta, ROUNDING)))
    growth = where(good_one == 1.0, maximum(HALVED, minimum(MOST, allowed)), HALVED)
    errors = (Vec((*machine.rate(q1, ways), *speeds)),)
    return Step(q1, v1, errors, None if memory is None else recalled, work, growth)


def shared(method: Method, machine: Machine) -> Method:
    """The method with steps of one machine as a function that compiled code has once, however often it is called."""

    rates = SharedFunction("rates", _rates_of(machine))

    def found(numbers: Vec, q: Vec, v: Vec, memory: Vec) -> Vec:
        t, h, tolerance = numbers
        end = radau_step(machine._replace(tolerance=tolerance), t, q, v, h, memory, rates)
        return Vec((*end.q, *end.v, *end.errors[0], end.growth, *end.integrals, *(end.memory or ())))

    routine, nq, n = SharedFunction("step", found), machine.nq, machine.nv

    def step(given: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar, memory: Vec | None = None) -> Step:
        tolerance = TIGHT / PART if given.tolerance is None else given.tolerance
        x = routine(Vec([t, h, tolerance]), q, v, Vec([0.0] * _memory_size(machine)) if memory is None else memory)
        more = 2 * (nq + n)
        end = Vec(x[:nq]), Vec(x[nq : nq + n]), (Vec(x[nq + n : more]),)
        integrals, rest = Vec(x[more + 1 : more + 1 + machine.integrals]), Vec(x[more + 1 + machine.integrals :])
        return Step(*end, None if memory is None else rest, integrals, x[more])

    return replace(method, step=step, dense=hermite(step, method.order))


RADAU = Method(
    "radau", "implicit", 5, radau_step, hermite(radau_step, 5), RADAU3.source,
    error_order=3, on_group=True, damps=True, with_routine=shared, recalls=_memory_size,
)  # fmt: skip
"""Under control of its error; its iteration knows the structure of beams."""
