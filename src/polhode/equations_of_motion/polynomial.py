"""A graph of the physics as polynomials: in parameters, velocities, cosines, sines and quaternion components.

Polynomials have a normal form, so what cancels is gone, and what is equal is seen to be. Cosine and sine of
each angle, the components of each quaternion and each root obey their relation, by which squares are replaced:
s² = 1 − c², e₀² = 1 − e₁² − e₂² − e₃², r² = what the root is of. Everything that is no polynomial (a quotient, a
root, a choice) becomes a letter of its own with its definition kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy
from sympy.polys.rings import PolyElement, PolyRing, ring

from polhode.errors import InputError, message
from polhode.kernel import Graph

TERMS = 3000
"""Terms of one polynomial beyond which it counts as too large to read."""

WORK = 400_000
"""Products of terms after which expanding is given up: some seconds."""

WHOLE = 1e-15
"""How far a number may be from a short fraction, relatively, to be that fraction."""

SHORTEST = 1e-100
"""A bound below this guards a division; formulas do without the guard."""


class TooLarge(Exception):
    """Expanding was given up."""


@dataclass
class Alphabet:
    """The letters of the polynomials of one graph, and what those that are no inputs stand for."""

    ring: PolyRing
    letters: list[sympy.Symbol]
    squares: dict[int, Any] = field(default_factory=dict)
    """Letters whose square is replaced, and by what."""
    circles: dict[sympy.Expr, tuple[int, int]] = field(default_factory=dict)
    """The places of cosine and sine of each angle."""
    meaning: dict[int, tuple[Callable[..., sympy.Expr], list[Any]]] = field(default_factory=dict)
    """Letters that are neither inputs nor of an angle: a function, and its arguments as polynomials or Exprs."""
    inexact: bool = False
    """Whether a number occurs that is known to rounding only."""
    work: int = 0


def polynomials(
    graph: Graph, given: Mapping[str, Sequence[sympy.Symbol]], quaternions: Sequence[Sequence[sympy.Symbol]]
) -> tuple[Alphabet, list[list[PolyElement]]]:
    """The outputs of a graph, each with its components in order.

    given        symbols for the components of every argument, by name
    quaternions  symbols whose squares add up to 1, four each
    """
    own = [node for node in graph.nodes if node.op not in ("input", "constant", "add", "sub", "mul", "neg")]
    inputs = list(dict.fromkeys(s for port in graph.inputs for s in given[port.name]))
    extra = [sympy.Dummy(f"x{k}") for k in range(2 * len(own) + 4)]
    letters = [*inputs, *extra]
    R = ring(letters, sympy.QQ)[0]
    alphabet = Alphabet(R, letters)
    place = {s: k for k, s in enumerate(letters)}
    for e0, *e in quaternions:
        if e0 in place:
            alphabet.squares[place[e0]] = R.one - sum((R.gens[place[x]] ** 2 for x in e), R.zero)
    return alphabet, _Replay(alphabet, place, len(inputs)).run(graph, given)


class _Replay:
    """One pass over a graph."""

    def __init__(self, alphabet: Alphabet, place: dict[sympy.Symbol, int], first: int) -> None:
        self.a, self.place, self.free = alphabet, place, first
        self.roots: dict[Any, PolyElement] = {}
        self.known: dict[Any, PolyElement] = {}

    def run(self, graph: Graph, given: Mapping[str, Sequence[sympy.Symbol]]) -> list[list[PolyElement]]:
        """The outputs."""
        gens = self.a.ring.gens
        values: list[Any] = [None] * len(graph.nodes)
        for port in graph.inputs:
            for k, symbol in zip(port.nodes, given[port.name], strict=True):
                values[k] = gens[self.place[symbol]]
        for k, node in enumerate(graph.nodes):
            if node.op == "constant":
                values[k] = self.number(node.value)
            elif node.op != "input":
                values[k] = self.apply(node.op, [values[a] for a in node.args])
        return [[values[k] for k in port.nodes] for port in graph.outputs]

    def number(self, value: Any) -> Any:
        """A constant: a fraction, a multiple of a root of 2 or 3, or the decimal number it is written as."""
        if isinstance(value, bool):
            return sympy.true if value else sympy.false
        exact = short_fraction(value)
        if exact is not None:
            return self.a.ring.ground_new(sympy.QQ(exact.numerator, exact.denominator))
        for n in (2, 3):
            part = short_fraction(value / n**0.5)
            if part is not None and part.denominator <= 12:
                return self._root_of_number(n) * sympy.QQ(part.numerator, part.denominator)
        self.a.inexact = True
        written = Fraction(repr(value))
        return self.a.ring.ground_new(sympy.QQ(written.numerator, written.denominator))

    def _root_of_number(self, n: int) -> PolyElement:
        if n not in self.roots:
            k = self._letter()
            self.a.squares[k], self.a.meaning[k] = self.a.ring.ground_new(n), (lambda: sympy.sqrt(n), [])
            self.roots[n] = self.a.ring.gens[k]
        return self.roots[n]

    def _letter(self) -> int:
        self.free += 1
        return self.free - 1

    def apply(self, op: str, x: list[Any]) -> Any:
        """One operation."""
        if op in RELATIONS:
            return RELATIONS[op](*(part.as_expr() if isinstance(part, PolyElement) else part for part in x))
        if op == "select":
            return self._choice(*x)
        if op == "neg":
            return -x[0]
        if op in ("add", "sub"):
            return x[0] + x[1] if op == "add" else x[0] - x[1]
        if op == "mul":
            return self.product(*x)
        if op == "div":
            return self.product(x[0], self._one_over(x[1]))
        if op in ("sin", "cos"):
            return self._of_angle(op, x[0])
        if op == "fma":
            return self.product(x[0], x[1]) + x[2]
        if op not in FUNCTIONS:
            fix = "ph.equations(model, factored=True) keeps such steps apart where it can."
            raise InputError(message("equations", "a step with no formula", repr(op), "arithmetic and functions", fix))
        return self._of_function(op, x)

    def product(self, x: PolyElement, y: PolyElement) -> PolyElement:
        """x y, squares replaced."""
        self.a.work += len(x) * len(y)
        if self.a.work > WORK or len(x) * len(y) > 40 * TERMS:
            raise TooLarge
        found = reduced(self.a, x * y)
        if len(found) > TERMS:
            raise TooLarge
        return found

    def _of_angle(self, op: str, x: PolyElement) -> PolyElement:
        angle = x.as_expr()
        if x.is_ground:
            return self._of_function(op, [x])
        if (-angle) in self.a.circles:
            value = self._of_angle(op, -x)
            return value if op == "cos" else -value
        if angle not in self.a.circles:
            c, s = self._letter(), self._letter()
            self.a.circles[angle] = c, s
            self.a.squares[s] = self.a.ring.one - self.a.ring.gens[c] ** 2
        return self.a.ring.gens[self.a.circles[angle][op == "sin"]]

    def _one_over(self, x: PolyElement) -> PolyElement:
        if x.is_ground:
            return self.a.ring.ground_new(1 / x.coeff(1))
        if len(x) == 1 and x == self.a.ring.gens[self._only(x)]:  # 1/r of a root r of X is r/X
            k = self._only(x)
            if k in self.a.meaning and self.a.meaning[k][0] is FUNCTIONS["sqrt"]:
                return self.product(x, self._one_over(self.a.meaning[k][1][0]))
        content, primitive = x.primitive()
        return self._of_function("inverse", [primitive]) / content

    def _only(self, x: PolyElement) -> int:
        (monomial,) = x
        return max(range(len(monomial)), key=monomial.__getitem__)

    def _of_function(self, op: str, x: list[Any]) -> PolyElement:
        key = (op, *x)
        if key not in self.known:
            k = self._letter()
            self.a.meaning[k] = FUNCTIONS[op], x
            if op == "sqrt":
                self.a.squares[k] = x[0]
            self.known[key] = self.a.ring.gens[k]
        return self.known[key]

    def _choice(self, condition: Any, yes: Any, no: Any) -> Any:
        if condition in (sympy.true, sympy.false):
            return yes if condition else no
        if isinstance(condition, sympy.StrictLessThan | sympy.LessThan | sympy.StrictGreaterThan | sympy.GreaterThan):
            for value in (yes, no):  # max(length, 1e-150) guards a division
                if value.is_ground and abs(float(value.coeff(1))) < SHORTEST and value != 0:
                    return no if value is yes else yes
        return self._of_function("select", [condition, yes, no])


def reduced(a: Alphabet, x: PolyElement) -> PolyElement:
    """Squares of letters with a relation replaced, until none is left."""
    while True:
        for k, square in a.squares.items():
            if any(monomial[k] > 1 for monomial in x):
                x = _replaced(a, x, k, square)
                break
        else:
            return x


def _replaced(a: Alphabet, x: PolyElement, k: int, square: PolyElement) -> PolyElement:
    by_power: dict[int, dict] = {}
    for monomial, c in x.items():
        pairs, left = divmod(monomial[k], 2)
        by_power.setdefault(pairs, {})[(*monomial[:k], left, *monomial[k + 1 :])] = c
    total, power = a.ring.zero, a.ring.one
    for pairs in range(max(by_power) + 1):
        if pairs:
            power = power * square
        if pairs in by_power:
            part = a.ring.from_dict(by_power[pairs])
            a.work += len(part) * len(power)
            total = total + part * power
    return total


def short_fraction(value: float, longest: int = 1000) -> Fraction | None:
    """The fraction with a short denominator that a float is, but for rounding."""
    near = Fraction(value).limit_denominator(longest)
    return near if abs(float(near) - value) <= WHOLE * max(abs(value), 1e-3) and (near or not value) else None


FUNCTIONS: dict[str, Callable[..., sympy.Expr]] = {
    "inverse": lambda x: 1 / x,
    "sqrt": sympy.sqrt,
    "abs": sympy.Abs,
    "tan": sympy.tan,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "asin": sympy.asin,
    "acos": sympy.acos,
    "atan2": sympy.atan2,
    "exp": sympy.exp,
    "log": sympy.log,
    "select": lambda condition, yes, no: sympy.Piecewise((yes, condition), (no, True)),
}
RELATIONS: dict[str, Callable[..., Any]] = {
    "less": sympy.StrictLessThan,
    "less_equal": sympy.LessThan,
    "and": sympy.And,
    "or": sympy.Or,
    "not": sympy.Not,
}
