"""The equations of motion of a model as SymPy objects: metric tensor, Christoffel symbols, energies, recursions."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import sympy

from polhode.dynamics.constraints import in_row_order
from polhode.equations_of_motion import derive
from polhode.equations_of_motion.compact import operations
from polhode.equations_of_motion.derive import Derivation, SymbolicState
from polhode.equations_of_motion.polynomial import TooLarge
from polhode.equations_of_motion.program import (
    Program,
    accelerations_bound,
    compiled,
    composite_bodies,
    newton_euler,
    program,
)
from polhode.equations_of_motion.single import FormEquations, form_equations
from polhode.equations_of_motion.vocabulary import Vocabulary
from polhode.errors import InputError, message
from polhode.model import Model
from polhode.scalar import Array

TERMS = 800
"""Expanded terms of the equations of motion beyond which no readable form is sought."""

HOPELESS = 3_000_000
"""Operations, when nothing is shared, beyond which formulas are not expanded: it would take minutes."""


QUANTITIES = (
    *("metric", "christoffel", "velocity_terms", "gravity", "forces", "bias", "kinetic", "potential", "lagrangian"),
    *("A", "b", "residuals"),
)
"""What can be evaluated besides the recursions."""


class WrittenConstraints(NamedTuple):
    """The constraints of a model: residuals φ (or rates r), and A v̇ = b of accelerations.

    Rows that hold whatever the motion are left out, and listed.
    """

    names: tuple[str, ...]
    residuals: tuple[sympy.Expr, ...]
    A: sympy.ImmutableMatrix
    b: sympy.ImmutableMatrix
    multipliers: tuple[sympy.Symbol, ...]
    empty: tuple[str, ...]


class DerivedEquations:
    """The equations of one model: Σ M_ga v̇_a + Σ Γ_ab,g v_a v_b + gravity_g − forces_g = τ_g.      Zoric (109)

    Everything is derived when it is first asked for. What cannot be written out raises an InputError that says how
    large it is; `newton_euler` and `composite_bodies`, the recursions, always work.
    """

    def __init__(
        self, model: Model, words: Vocabulary, factored: bool, forms: Sequence[str] | None, limit: int
    ) -> None:
        self.model, self.words, self.factored, self.limit = model, words, factored, limit
        self.derivation = Derivation(model, words)
        self._forms = None if forms is None else tuple((forms,) if isinstance(forms, str) else forms)
        self._functions: dict[str, Callable[..., Any]] = {}
        if self._forms:
            _ = self.forms  # refuses unknown names and machines of several bodies now

    def __repr__(self) -> str:
        kept = ", ".join(letter.symbol.name for letter in self.words.letters) or "none"
        return f"<Equations of '{self.model.name}': nv {self.model.nv}, letters {kept}>"

    # symbols

    @property
    def q(self) -> sympy.ImmutableMatrix:
        """The coordinates (nq)."""
        return _column([c.symbol for c in self.words.q])

    @property
    def v(self) -> sympy.ImmutableMatrix:
        """The velocities (nv)."""
        return _column([c.symbol for c in self.words.v])

    @property
    def vd(self) -> sympy.ImmutableMatrix:
        """The accelerations (nv)."""
        return _column([c.symbol for c in self.words.vd])

    @property
    def tau(self) -> sympy.ImmutableMatrix:
        """The generalised forces (nv)."""
        return _column([c.symbol for c in self.words.tau])

    @property
    def values(self) -> dict[sympy.Symbol, float]:
        """The model's own value of every letter."""
        return self.words.values

    # quantities

    @cached_property
    def metric(self) -> sympy.ImmutableMatrix:
        """The metric tensor M (nv, nv).                                              Zoric (97)–(98)"""
        n = self.model.nv
        return sympy.ImmutableMatrix(n, n, self._formulas("metric", derive.metric)[0])

    @cached_property
    def christoffel(self) -> sympy.ImmutableDenseNDimArray:
        """Christoffel symbols Γ (nv, nv, nv), [a, b, g].                              Zoric (110), (129)"""
        n = self.model.nv
        return sympy.ImmutableDenseNDimArray(self._formulas("christoffel", derive.christoffel)[0], (n, n, n))

    @cached_property
    def velocity_terms(self) -> sympy.ImmutableMatrix:
        """Σ Γ[a, b, g] v_a v_b (nv)."""
        return _column(self._formulas("velocity_terms", derive.velocity_terms)[0])

    @cached_property
    def gravity(self) -> sympy.ImmutableMatrix:
        """Generalised forces that balance gravity (nv), on the left-hand side."""
        return _column(self._formulas("gravity", derive.gravity_terms)[0])

    @cached_property
    def forces(self) -> sympy.ImmutableMatrix:
        """Springs, dampers and given forces (nv), on the right-hand side."""
        return _column(self._formulas("forces", derive.other_forces)[0])

    @property
    def bias(self) -> sympy.ImmutableMatrix:
        """Velocity terms + gravity − forces (nv): M v̇ + bias = τ."""
        return sympy.ImmutableMatrix(self.velocity_terms + self.gravity - self.forces)

    @cached_property
    def kinetic(self) -> sympy.Expr:
        """The kinetic energy T."""
        return self._formulas("kinetic", derive.kinetic_energy)[0][0]

    @cached_property
    def potential(self) -> sympy.Expr:
        """The potential energy V: gravity and springs."""
        return self._formulas("potential", derive.potential_energy)[0][0]

    @property
    def lagrangian(self) -> sympy.Expr:
        """L = T − V."""
        return self.kinetic - self.potential

    @cached_property
    def rows(self) -> tuple[sympy.Eq, ...]:
        """The equations of motion one by one, in the covariant form.                          Zoric (109)"""
        right = self.tau
        if self.conditions:
            right = right + self.conditions.A.T * _column(self.conditions.multipliers)
        left = self.metric * self.vd + self.bias
        return tuple(sympy.Eq(a, b, evaluate=False) for a, b in zip(left, right, strict=True))

    @cached_property
    def conditions(self) -> WrittenConstraints | None:
        """The constraints; None if the model has none."""
        if not self.model.constraints:
            return None
        names = [f"{c.name}.{row}" for c in in_row_order(tuple(self.derivation.conditions)) for row in c.rows]
        residuals = self._formulas("constraints", derive.residuals)[0]
        A, b = self._formulas("constraint_rows", derive.second_order)
        n = self.model.nv
        rows = [A[k * n : (k + 1) * n] for k in range(len(names))]
        kept = [k for k in range(len(names)) if any(rows[k]) or b[k] != 0]
        lam = [sympy.Symbol(f"lambda_{k + 1}" if len(kept) > 1 else "lambda", real=True) for k in range(len(kept))]
        return WrittenConstraints(
            tuple(names[k] for k in kept),
            tuple(residuals[k] for k in kept),
            sympy.ImmutableMatrix(len(kept), n, [x for k in kept for x in rows[k]]),
            _column([b[k] for k in kept]),
            tuple(lam),
            tuple(name for k, name in enumerate(names) if k not in kept),
        )

    @cached_property
    def forms(self) -> tuple[FormEquations, ...]:
        """The forms of one body that were asked for, each with its multiplier."""
        return tuple(form_equations(self.derivation, name) for name in self._forms or ())

    # recursions

    @cached_property
    def newton_euler(self) -> Program:
        """τ of q, v, v̇ by Newton and Euler's recursion, step by step."""
        return program(self.derivation, newton_euler, "Newton–Euler recursion")

    @cached_property
    def composite_bodies(self) -> Program:
        """The metric tensor by composite bodies, step by step."""
        return program(self.derivation, composite_bodies, "Composite bodies")

    @cached_property
    def constraint_steps(self) -> Program:
        """A and b (the last column) of the constraints, step by step."""
        if not self.model.constraints:
            where = f"equations, model '{self.model.name}'"
            raise InputError(message(where, "has no constraints", "a tree alone", "constraints=[…]"))
        return program(self.derivation, accelerations_bound, "Constraints")

    @cached_property
    def used_letters(self) -> set[sympy.Symbol]:
        """The letters that the motion depends on."""
        programs = [self.newton_euler, *([self.constraint_steps] if self.model.constraints else [])]
        found: set[sympy.Symbol] = set()
        for steps in programs:
            needed = {s for x in steps.results for s in x.free_symbols}
            for step in reversed(steps.steps):
                if step.symbol in needed:
                    needed |= step.value.free_symbols
            found |= needed
        if self.readable:
            bound = found if self.model.constraints else set()
            if self.constraints_readable and self.conditions:
                bound = {s for x in (*self.conditions.A, *self.conditions.b) for s in x.free_symbols}
            found = bound | {s for x in (*self.metric, *self.bias) for s in x.free_symbols}
        return found & {letter.symbol for letter in self.words.letters}

    # size

    @cached_property
    def operations(self) -> int:
        """Operations of the equations of motion as they are written; when nothing is shared, if they are not."""
        graphs = [self.derivation.graph(x) for x in (derive.metric, derive.velocity_terms, derive.gravity_terms)]
        whole = sum(map(self.derivation.written_out, graphs))
        try:
            if whole > HOPELESS or sum(map(self.derivation.terms, graphs)) > max(TERMS, self.limit):
                return whole
        except TooLarge:
            return whole
        n = self.model.nv
        upper = [self.metric[i, j] for i in range(n) for j in range(i, n)]
        return sum(map(operations, (*upper, *self.velocity_terms, *self.gravity, *self.forces)))

    @cached_property
    def readable(self) -> bool:
        """Whether the equations of motion are short enough to read."""
        return self.operations <= self.limit

    def _formulas(self, name: str, quantity: Callable[[SymbolicState], Any]) -> list[list[sympy.Expr]]:
        graph = self.derivation.graph(quantity)
        size = self.derivation.written_out(graph)
        try:
            if size > HOPELESS:
                raise TooLarge
            return self.derivation.formulas(graph)
        except TooLarge:
            where = f"equations, model '{self.model.name}', {name}"
            fix = "Use .newton_euler and .composite_bodies, or factored=True; fewer letters help too."
            found = f"{size:,} operations when nothing is shared"
            raise InputError(
                message(where, "too large to write out", found, "a machine of a few bodies", fix)
            ) from None

    @cached_property
    def constraint_operations(self) -> int:
        """Operations of A and b as they are written; when nothing is shared, if they are not."""
        try:
            c = self.conditions
            return sum(map(operations, (*c.A, *c.b))) if c else 0
        except InputError:
            return self.derivation.written_out(self.derivation.graph(derive.second_order))

    @cached_property
    def constraints_readable(self) -> bool:
        """Whether there are constraints, short enough to read."""
        return bool(self.model.constraints) and self.constraint_operations <= self.limit

    # numbers

    def evaluate(
        self, name: str, q: Array, v: Array | None = None, vd: Array | None = None, t: float = 0.0
    ) -> np.ndarray:
        """A quantity in numbers, at one state, with the model's own values of the letters.

        name  "metric", "christoffel", "velocity_terms", "gravity", "forces", "bias", "kinetic", "potential", "A", "b",
              "residuals"; of the recursions "newton_euler", "composite_bodies", "constraint_steps"
        """
        n = self.model.nv
        given = [self._row("q", q, self.model.nq), *(self._row(k, x, n) for k, x in (("v", v), ("vd", vd)))]
        flat = [*given[0], *given[1], *given[2], *(letter.value for letter in self.words.letters), t]
        if name not in self._functions:
            self._functions[name] = self._function(name)
        return self._functions[name](*flat)

    def _row(self, name: str, value: Array | None, size: int) -> list[float]:
        array = np.zeros(size) if value is None else np.asarray(value, dtype=float)
        if array.shape != (size,):
            raise InputError(message(f"equations, argument {name}", "wrong shape", str(array.shape), f"({size},)"))
        return array.tolist()

    def _function(self, name: str) -> Callable[..., np.ndarray]:
        if name in ("newton_euler", "composite_bodies", "constraint_steps"):
            steps: Program = getattr(self, name)
            return lambda *x: np.array(steps.function(*x), dtype=float).reshape(steps.shape)
        if name not in QUANTITIES:
            raise InputError(message("equations, evaluate", "no such quantity", repr(name), ", ".join(QUANTITIES)))
        found: Any = getattr(self.conditions if name in ("A", "b", "residuals") else self, name)
        shape = {"christoffel": (self.model.nv,) * 3, "metric": (self.model.nv,) * 2, "A": getattr(found, "shape", ())}
        flat = list(sympy.flatten(found.tolist())) if hasattr(found, "tolist") else [found]
        flat = list(found) if isinstance(found, tuple) else flat
        inputs = [s for symbols in self.derivation.symbols.values() for s in symbols]
        function = compiled(inputs, flat)
        return lambda *x: np.array(function(*x), dtype=float).reshape(shape.get(name, (len(flat),)))


def _column(entries: Sequence[sympy.Expr]) -> sympy.ImmutableMatrix:
    return sympy.ImmutableMatrix(len(entries), 1, list(entries))
