"""From polynomials back to formulas: each in its shortest form."""

from collections.abc import Container, Sequence
from fractions import Fraction
from typing import Any

import sympy
from sympy.polys.rings import PolyElement

from polhode.equations_of_motion.angles import Circles, ParallelGroup, ParallelTurn, Powers, Sum, joined
from polhode.equations_of_motion.compact import compact, operations, together
from polhode.equations_of_motion.polynomial import Alphabet, reduced

ROUNDING = Fraction(1, 10**15)
"""A coefficient smaller than this, relative to the largest, is what rounding left of none."""


BY_BODY = 3, 60
"""Terms, at least and at most, of polynomials that are tried mass by mass."""


class Writer:
    """Writes the polynomials of one graph."""

    def __init__(
        self,
        alphabet: Alphabet,
        groups: Sequence[Sequence[ParallelTurn]],
        rates: set[sympy.Symbol],
        inertial: Container[sympy.Symbol] = (),
    ) -> None:
        self.a, self.rates = alphabet, rates
        self.inertial = {k for k, letter in enumerate(alphabet.letters) if letter in inertial}
        met = set(alphabet.circles)
        own = [list(group) for group in groups if any(turn.angle in met for turn in group)]
        known = {turn.angle for group in own for turn in group}
        own += [[ParallelTurn(angle, None, 1)] for angle in alphabet.circles if angle not in known]
        self.circles = Circles([ParallelGroup(turns) for turns in own])
        self.place: dict[int, tuple[int, int, int]] = {}
        for g, turns in enumerate(own):
            for k, turn in enumerate(turns):
                for which, letter in enumerate(alphabet.circles.get(turn.angle, ())):
                    self.place[letter] = g, k, which
        self.memory: dict[Any, sympy.Expr] = {}

    def expression(self, x: PolyElement) -> sympy.Expr:
        """A polynomial as the shortest expression found."""
        if x not in self.memory:
            found = self._compact(x)
            if not self.a.inexact and BY_BODY[0] <= len(x) <= BY_BODY[1]:
                found = min([found, *self._by_bodies(x)], key=operations)
            self.memory[x] = _decimal(found) if self.a.inexact else found
        return self.memory[x]

    def _compact(self, x: PolyElement) -> sympy.Expr:
        return compact(self.terms(x), self.rates.__contains__, exact=not self.a.inexact)

    def _by_bodies(self, x: PolyElement) -> list[sympy.Expr]:
        """Σ m × (squares): masses and moments in front, what each has behind it as squares where that is shorter."""
        parts: dict[int, dict] = {}
        for monomial, c in x.items():
            inertial = [k for k in self.inertial if monomial[k]]
            if len(inertial) != 1 or monomial[inertial[0]] != 1:
                return []
            k = inertial[0]
            parts.setdefault(k, {})[(*monomial[:k], 0, *monomial[k + 1 :])] = c
        each = [self.a.letters[k] * self._squares(self.a.ring.from_dict(own)) for k, own in parts.items()]
        return [together(each)]

    def _squares(self, x: PolyElement, depth: int = 2) -> sympy.Expr:
        """a (u + b)² + rest, for the letter u for which that is shortest; or as it stands."""
        ways = [self._compact(x)]
        for k, letter in enumerate(self.a.letters):
            by_power: dict[int, dict] = {}
            for monomial, c in x.items():
                by_power.setdefault(monomial[k], {})[(*monomial[:k], 0, *monomial[k + 1 :])] = c
            if k in self.place or max(by_power, default=0) != 2 or 1 not in by_power:
                continue
            lead, middle, rest = (self.a.ring.from_dict(by_power.get(n, {})) for n in (2, 1, 0))
            if not lead.is_ground:
                continue
            a = lead.coeff(1)
            half = middle / (2 * a)
            left = reduced(self.a, rest - a * half**2)
            if len(left) >= len(rest) or not depth:
                continue
            number = sympy.Rational(int(a.numerator), int(a.denominator))
            ways.append(number * (letter + self._compact(half)) ** 2 + self._squares(left, depth - 1))
        return min(ways, key=operations)

    def terms(self, x: PolyElement) -> Sum:
        """Its terms, each trigonometric coefficient in its shortest basis."""
        grouped: dict[Powers, dict] = {}
        values = {monomial: Fraction(int(c.numerator), int(c.denominator)) for monomial, c in x.items()}
        least = ROUNDING * max(map(abs, values.values()), default=0) if self.a.inexact else 0
        for monomial, c in values.items():
            if abs(c) < least:
                continue
            angles = [[[0, 0] for _ in group.turns] for group in self.circles.groups]
            rest: Powers = ()
            for k, n in enumerate(monomial):
                if n and k in self.place:
                    g, j, which = self.place[k]
                    angles[g][j][which] = n
                elif n:
                    rest = joined(rest, ((self._letter(k), n),))
            key = tuple(tuple(map(tuple, group)) for group in angles)
            grouped.setdefault(rest, {})[key] = c
        found: Sum = {}
        for rest, own in grouped.items():
            for powers, c in self.circles.shortest(own).items():
                both = joined(rest, powers)
                found[both] = found.get(both, 0) + c
        return {p: c for p, c in found.items() if c}

    def _letter(self, k: int) -> sympy.Expr:
        """What a letter stands for."""
        if k not in self.a.meaning:
            return self.a.letters[k]
        function, arguments = self.a.meaning[k]
        return function(*(self._argument(x) for x in arguments))

    def _argument(self, x: Any) -> Any:
        if isinstance(x, PolyElement):
            return self.expression(x)
        if not isinstance(x, sympy.Basic):
            return x
        met = x.free_symbols  # of a condition
        swap = {self.a.letters[k]: self._letter(k) for k in self.a.meaning if self.a.letters[k] in met}
        for angle, pair in self.a.circles.items():
            swap |= {self.a.letters[k]: f(angle) for k, f in zip(pair, (sympy.cos, sympy.sin), strict=True)}
        return x.xreplace(swap)


LONG = 10**6
"""A denominator beyond this is that of a decimal number."""


def _decimal(x: sympy.Expr) -> sympy.Expr:
    """Long fractions as the decimal numbers they came from."""
    return x.xreplace({n: sympy.Float(n, 17) for n in x.atoms(sympy.Rational) if n.q > LONG})
