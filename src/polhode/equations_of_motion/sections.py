"""Sections of a page with everything written out: equations of motion, metric tensor, Christoffel symbols, energies."""

from collections.abc import Sequence
from typing import Any

import sympy

from polhode.equations_of_motion.abbreviate import abbreviated
from polhode.equations_of_motion.blocks import Block, display, say, title
from polhode.equations_of_motion.compact import operations
from polhode.equations_of_motion.mathematics import bracketed, broken, equation, joined, latex, with_factor
from polhode.equations_of_motion.record import DerivedEquations
from polhode.errors import InputError

IN_ONE = 200
"""Operations up to which each equation of motion is written in one."""

SHORT_REACTION = 60
"""Operations up to which the force of the constraints is written into an equation of motion."""

COVARIANT = r"""In the covariant form, with the metric tensor $M$, the Christoffel symbols $\Gamma$ of the first kind,
gravity $G$ (the gradient of the potential energy) and the generalised forces $\tau$ that belong to $v$, Zoric (109)"""
ACTING = "; $F$ are springs, dampers and given forces"

METRIC = r"The kinetic energy is $T = \tfrac12 \sum_{i,j} M_{ij} v_i v_j$; $M$ is symmetric, Zoric (97), (98)."

KIND = r"Of the first kind, Zoric (110), (129): $\Gamma_{ij,k} = \langle \nabla_{X_i} X_j, X_k\rangle$, "
SYMMETRIC = "symmetric in the first two indices."
MOVING = """the Levi-Civita connection in the moving frame of the angular velocities: not symmetric inside one
quaternion."""

LAGRANGE = r"\frac{d}{dt}\frac{\partial T}{\partial \dot q_k} - \frac{\partial T}{\partial q_k}"
LAGRANGE += r" + \frac{\partial V}{\partial q_k} = Q_k."
HAMEL = r"\frac{d}{dt}\frac{\partial T}{\partial v_k} - \sum_{i,j} c_{ik}^{\,j}\, v_i \frac{\partial T}{\partial v_j}"
HAMEL += r" - X_k T + X_k V = Q_k."
BY_HAMEL = r"""by the equations of Boltzmann and Hamel, with $X_k$ the derivative along the unit velocity $k$ and
$c_{ik}^{\,j}$ the structure constants, $[X_i, X_k] = \sum_j c_{ik}^{\,j} X_j$ ($\pm1$ inside one quaternion):"""
REST = r"$Q$ is $\tau$ and every force without a potential (dampers, given forces, constraints)."


class WrittenSections:
    """The sections of one model's page."""

    def __init__(self, eq: DerivedEquations) -> None:
        self.eq, self.n = eq, eq.model.nv
        self.names = dict(eq.words.latex)
        self.bound = eq.conditions if eq.constraints_readable else None
        if self.bound:
            several = len(self.bound.multipliers) > 1
            for k, lam in enumerate(self.bound.multipliers, 1):
                self.names[lam] = rf"\lambda_{{{k}}}" if several else r"\lambda"

    def tex(self, x: sympy.Expr) -> str:
        """An expression as LaTeX."""
        return latex(x, self.names)

    def blocks(self) -> list[Block]:
        """All sections."""
        eq, n = self.eq, self.n
        upper = [eq.metric[i, j] for i in range(n) for j in range(i, n)]
        shared, short = abbreviated([*upper, *eq.velocity_terms, *eq.gravity, *eq.forces], self.names)
        M = _symmetric(short[: len(upper)], n)
        parts = [short[len(upper) + k * n : len(upper) + (k + 1) * n] for k in range(3)]
        found: list[Block] = [title(2, "Equations of motion"), *self._law()]
        if shared:
            lines = [line for symbol, value in shared for line in equation(self.names[symbol], self.tex(value))]
            found += [say("With the abbreviations"), display(lines)]
        found += self._in_parts(M, *parts) if eq.operations > IN_ONE else self._in_one(M, *parts)
        return [*found, *self.metric(M), *self.christoffel(), *self.lagrange()]

    def _law(self) -> list[Block]:
        acting = any(self.eq.forces)
        right = r"\tau_k" + (" + F_k" if acting else "")
        right += r" + \sum_r A_{rk}\lambda_r" if self.eq.model.constraints else ""
        left = r"\sum_i M_{ki}\,\dot v_i + \sum_{i,j} \Gamma_{ij,k}\,v_i v_j + G_k"
        return [say(COVARIANT + (ACTING if acting else "") + ":"), display([f"{left} = {right}{_range(self.n)}."])]

    def _in_one(
        self, M: list[list[sympy.Expr]], h: list[sympy.Expr], G: list[sympy.Expr], F: list[sympy.Expr]
    ) -> list[Block]:
        lines = []
        for k in range(self.n):
            left = [with_factor(M[k][i], self.eq.words.vd[i].latex, self.names) for i in range(self.n)]
            lines += row(joined([*left, self.tex(h[k]), self.tex(G[k])]), self._right(k, F))
        return [say(f"Written out ({self.eq.operations} operations):"), display(lines)]

    def _in_parts(
        self, M: list[list[sympy.Expr]], h: list[sympy.Expr], G: list[sympy.Expr], F: list[sympy.Expr]
    ) -> list[Block]:
        """Long equations: with the entries of the metric tensor by name, velocity terms and gravity apart."""
        lines, parts, n = list[str](), list[str](), self.n
        for k in range(n):
            left = [rf"M_{{{index(*sorted((k, i)))}}}\,{self.eq.words.vd[i].latex}" for i in range(n) if M[k][i] != 0]
            left += [f"{letter}_{{{k + 1}}}" for letter, x in (("h", h[k]), ("G", G[k])) if x != 0]
            lines += row(joined(left), self._right(k, F))
        for letter, terms in (("h", h), ("G", G)):
            for k, x in enumerate(terms, 1):
                parts += equation(f"{letter}_{{{k}}}", self.tex(x)) if x != 0 else []
        return [
            say(f"Written out ({self.eq.operations} operations), with the entries of the metric tensor below,"),
            display(lines),
            say(r"with the velocity terms $h_k = \sum_{i,j} \Gamma_{ij,k}\, v_i v_j$ and gravity $G_k$"),
            display(parts),
        ]

    def _right(self, k: int, F: list[sympy.Expr]) -> str:
        """τ, forces and the forces of constraints."""
        parts = [self.eq.words.tau[k].latex, self.tex(F[k])]
        if self.bound:
            column = list(self.bound.A[:, k])
            if sum(map(operations, column)) > SHORT_REACTION:
                parts.append(rf"\textstyle\sum_r A_{{r{k + 1}}}\lambda_r")
            else:
                pairs = zip(column, self.bound.multipliers, strict=True)
                parts += [with_factor(x, self.names[lam], self.names) for x, lam in pairs]
        elif self.eq.model.constraints:
            parts.append(rf"\textstyle\sum_r A_{{r{k + 1}}}\lambda_r")
        return joined(parts)

    def metric(self, M: list[list[sympy.Expr]]) -> list[Block]:
        """The metric tensor."""
        n = self.n
        entries = [(i, j) for i in range(n) for j in range(i, n) if M[i][j] != 0]
        lines = [line for i, j in entries for line in equation(f"M_{{{index(i, j)}}}", self.tex(M[i][j]))]
        found: list[Block] = [title(2, "Metric tensor"), say(METRIC), display(lines)]
        if len(entries) < n * (n + 1) // 2:
            found.append(say("All other entries on and above the diagonal are zero."))
        return found

    def christoffel(self) -> list[Block]:
        """The Christoffel symbols."""
        n, found = self.n, list[Block]([title(2, "Christoffel symbols")])
        try:
            G = self.eq.christoffel
        except InputError as error:
            return [*found, say(_first_lines(error))]
        symmetric = all(G[i, j, k] == G[j, i, k] for i in range(n) for j in range(i) for k in range(n))
        places = [(i, j, k) for k in range(n) for i in range(n) for j in range(i if symmetric else 0, n)]
        places = [place for place in places if G[place] != 0]
        found.append(say(KIND + (SYMMETRIC if symmetric else MOVING)))
        if not places:
            return [*found, say("All of them are zero: the metric tensor is constant.")]
        total = sum(operations(G[place]) for place in places)
        if total > self.eq.limit:
            many = f"{len(places)} of them are not zero, with {total} operations: too many to read."
            return [*found, say(f"{many} In Python: ph.equations(model).christoffel.")]
        shared, short = abbreviated([G[place] for place in places], self.names, "\\chi", "chi")
        lines = [line for symbol, value in shared for line in equation(self.names[symbol], self.tex(value))]
        for (i, j, k), value in zip(places, short, strict=True):
            lines += equation(rf"\Gamma_{{{index(i, j)},{k + 1}}}", self.tex(value))
        return [*found, display(lines), say("All others are zero.")]

    def lagrange(self) -> list[Block]:
        """Energies, and Lagrange's equations."""
        found: list[Block] = [title(2, "Lagrange’s form")]
        try:
            T, V = self.eq.kinetic, self.eq.potential
        except InputError as error:
            return [*found, say(_first_lines(error))]
        shared, (T, V) = abbreviated([T, V], self.names, "\\sigma", "sigma")
        given = [line for symbol, value in shared for line in equation(self.names[symbol], self.tex(value))]
        turning = any(joint.kind.has_quaternion for joint in self.eq.model.joints)
        found += [
            say("The same equations follow from the kinetic and the potential energy (zero at the world’s origin):"),
            display([*equation("T", self.tex(T)), *equation("V", self.tex(V)), *given]),
            say(BY_HAMEL if turning else "by"),
            display([HAMEL if turning else LAGRANGE]),
            say(REST),
        ]
        return found


def row(left: str, right: str) -> list[str]:
    """left = right, aligned where the left side begins."""
    first, *rest = broken(bracketed(f"{left} = {right}"))
    return [f"& {first.strip()}", *(rf"&\qquad {line.strip()}" for line in rest)]


def index(i: int, j: int) -> str:
    """Two indices, from 1, kept apart where they have two digits."""
    return f"{i + 1}{j + 1}" if max(i, j) < 9 else f"{i + 1}\\,{j + 1}"


def _range(n: int) -> str:
    return "" if n == 1 else r", \qquad k = " + (", ".join(map(str, range(1, n + 1))) if n < 4 else rf"1, \dots, {n}")


def _symmetric(upper: Sequence[sympy.Expr], n: int) -> list[list[Any]]:
    found: list[list[Any]] = [[None] * n for _ in range(n)]
    entries = iter(upper)
    for i in range(n):
        for j in range(i, n):
            found[i][j] = found[j][i] = next(entries)
    return found


def _first_lines(error: Exception) -> str:
    return " ".join(line.strip() for line in str(error).splitlines()[:2])
