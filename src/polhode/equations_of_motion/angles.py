"""A polynomial in cosines and sines, in the shortest of its ways: products, sums of parallel turns, multiples.

Joints with parallel axes add their angles: what a textbook writes cos(θ₁ + θ₂) is a difference of products here. Three
bases are tried for each group of parallel turns, and the shortest is kept:

    relative   powers of cos θ_j, sin θ_j
    absolute   powers of cos φ_j, sin φ_j, with φ_j the sum of the turns that carry j and its own
    multiples  cos and sin of whole combinations k·θ, to the first power only
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import sympy

Powers = tuple[tuple[sympy.Expr, int], ...]
"""A monomial: functions of angles (or other symbols) and their powers, sorted."""

Sum = dict[Powers, Any]
"""A polynomial: monomials and their coefficients."""


class ParallelTurn(NamedTuple):
    """One angle of a group of parallel turns: the turn that carries it (by place in the group), and its sense.

    A turn that none of the group carries has the sense 1; others are compared with it.
    """

    angle: sympy.Symbol
    carrier: int | None
    sense: int


class ParallelGroup:
    """Turns about parallel axes that carry each other."""

    def __init__(self, turns: Sequence[ParallelTurn]) -> None:
        self.turns = list(turns)
        self.memory: dict[tuple, Sum] = {}

    @cached_property
    def absolute(self) -> list[sympy.Expr]:
        """For each turn its sum with those that carry it."""
        found: list[sympy.Expr] = []
        for turn in self.turns:
            above = found[turn.carrier] if turn.carrier is not None else sympy.Integer(0)
            found.append(above + turn.sense * turn.angle)
        return found

    @property
    def bases(self) -> tuple[str, ...]:
        """The bases worth a try."""
        return ("relative", "absolute", "multiples") if len(self.turns) > 1 else ("relative",)

    def written(self, powers: tuple[tuple[int, int], ...], basis: str) -> Sum:
        """A monomial Π cosⁱ sinʲ of the relative angles in a basis."""
        if basis == "relative":
            angles = [turn.angle for turn in self.turns]
            return {_powers(angles, powers): 1}
        if (powers, basis) not in self.memory:
            waves = self._waves(powers)
            self.memory[powers, basis] = self._multiples(waves) if basis == "multiples" else self._absolutes(waves)
        return self.memory[powers, basis]

    def _waves(self, powers: tuple[tuple[int, int], ...]) -> dict[tuple[int, ...], tuple]:
        """Coefficients (real, imaginary) of exp(i k·θ)."""
        n = len(self.turns)
        found = {(0,) * n: (Fraction(1), Fraction(0))}
        for j, (c, s) in enumerate(powers):
            for is_sine in [False] * c + [True] * s:
                new: dict[tuple[int, ...], tuple] = {}
                for k, (re, im) in found.items():
                    for step in (1, -1):
                        # cos = (E + E*)/2;  sin = (E − E*)/2i
                        part = (step * im / 2, -step * re / 2) if is_sine else (re / 2, im / 2)
                        at = (*k[:j], k[j] + step, *k[j + 1 :])
                        old = new.get(at, (Fraction(0), Fraction(0)))
                        new[at] = old[0] + part[0], old[1] + part[1]
                found = {k: z for k, z in new.items() if any(z)}
        return found

    def _halves(self, waves: Mapping[tuple[int, ...], tuple]) -> list[tuple[tuple[int, ...], Any, Any]]:
        """k, a, b of every a cos k·θ + b sin k·θ."""
        found = []
        for k, (re, im) in waves.items():
            first = next((x for x in k if x), 0)
            if first > 0:
                found.append((k, 2 * re, -2 * im))
            elif first == 0:
                found.append((k, re, 0))
        return found

    def _multiples(self, waves: Mapping[tuple[int, ...], tuple]) -> Sum:
        found: Sum = {}
        for k, a, b in self._halves(waves):
            angle = sum((x * turn.angle for x, turn in zip(k, self.turns, strict=True)), sympy.Integer(0))
            if not any(k):
                _add(found, (), a)
                continue
            for function, value in ((sympy.cos, a), (sympy.sin, b)):
                if value:
                    sign, wave = _plain(function(angle))
                    _add(found, ((wave, 1),), sign * value)
        return found

    def _absolutes(self, waves: Mapping[tuple[int, ...], tuple]) -> Sum:
        found: Sum = {}
        for k, a, b in self._halves(waves):
            K = [0] * len(k)  # k·θ = K·φ
            for x, turn, j in zip(k, self.turns, range(len(k)), strict=True):
                K[j] += turn.sense * x
                if turn.carrier is not None:
                    K[turn.carrier] -= turn.sense * x
            for powers, (re, im) in _expanded(K).items():
                value = a * re + b * im
                if value:
                    _add(found, _powers(self.absolute, powers), value)
        return _less_sines(found)


def _expanded(K: Sequence[int]) -> dict[tuple[tuple[int, int], ...], tuple[int, int]]:
    """Π (C_j + i S_j)^K_j by powers of C_j, S_j: the real and imaginary coefficients."""
    found: dict[tuple[tuple[int, int], ...], tuple[int, int]] = {(): (1, 0)}
    for x in K:
        sign, n = (1, x) if x >= 0 else (-1, -x)
        new = {}
        for powers, (re, im) in found.items():
            for s in range(n + 1):
                c = int(sympy.binomial(n, s)) * sign**s
                turned = ((re, im), (-im, re), (-re, -im), (im, -re))[s % 4]
                new[*powers, (n - s, s)] = (c * turned[0], c * turned[1])
        found = new
    return found


def _powers(angles: Sequence[sympy.Expr], powers: Sequence[tuple[int, int]]) -> Powers:
    factors = []
    for angle, (c, s) in zip(angles, powers, strict=True):
        factors += [(f(angle), n) for f, n in ((sympy.cos, c), (sympy.sin, s)) if n]
    return joined((), tuple(factors))


def joined(a: Powers, b: Powers) -> Powers:
    """The product of two monomials."""
    found = dict(a)
    for x, n in b:
        found[x] = found.get(x, 0) + n
    return tuple(sorted(found.items(), key=lambda pair: pair[0].sort_key()))


def _plain(x: sympy.Expr) -> tuple[int, sympy.Expr]:
    """sin(−a) is −sin(a) to SymPy: its sign apart."""
    return (-1, -x) if isinstance(x, sympy.Mul) else (1, x)


def _add(total: Sum, powers: Powers, value: Any) -> None:
    new = total.get(powers, 0) + value
    if new:
        total[powers] = new
    else:
        total.pop(powers, None)


def _less_sines(terms: Sum) -> Sum:
    """Every sin² as 1 − cos²."""
    return _squares_replaced(terms, sympy.sin, sympy.cos)


def _squares_replaced(terms: Sum, old: Any, new: Any, angles: set[sympy.Expr] | None = None) -> Sum:
    """Squares of one function as 1 minus those of the other, for some angles or for all."""
    found: Sum = {}
    for powers, value in terms.items():
        parts: Sum = {(): value}
        for x, n in powers:
            pairs, left = divmod(n, 2)
            if isinstance(x, old) and pairs and (angles is None or x.args[0] in angles):
                factor = {
                    joined(((new(x.args[0]), 2 * k),) if k else (), ((x, left),) if left else ()): (-1) ** k
                    * int(sympy.binomial(pairs, k))
                    for k in range(pairs + 1)
                }
            else:
                factor = {((x, n),): 1}
            parts = times(parts, factor)
        for p, c in parts.items():
            _add(found, p, c)
    return found


def times(a: Sum, b: Sum) -> Sum:
    """The product of two polynomials."""
    found: Sum = {}
    for (p, x), (r, y) in product(a.items(), b.items()):
        _add(found, joined(p, r), x * y)
    return found


def size(terms: Sum) -> int:
    """About how many operations a polynomial takes as it stands."""
    total = max(len(terms) - 1, 0)
    for powers, c in terms.items():
        total += sum(2 + (n > 1) + _depth(x) for x, n in powers) - bool(powers) + (abs(c) != 1)
    return total


def _depth(x: sympy.Expr) -> int:
    """Operations inside a function of an angle."""
    return x.args[0].count_ops() if x.args else -1


Circle = tuple[int, int]


class Circles:
    """All groups of angles of a model, and the shortest form of polynomials in their cosines and sines."""

    def __init__(self, groups: Sequence[ParallelGroup]) -> None:
        self.groups = list(groups)
        self.memory: dict[tuple, Sum] = {}

    def shortest(self, terms: Mapping[tuple[tuple[Circle, ...], ...], Any]) -> Sum:
        """The shortest form of Σ c Π cosⁱ sinʲ; powers are given by group and by turn of the group."""
        lead = next(iter(sorted(terms)))
        scale = terms[lead]
        key = tuple(sorted((p, c / scale) for p, c in terms.items()))
        if key not in self.memory:
            self.memory[key] = min(self._ways(dict(key)), key=size)
        return {p: c * scale for p, c in self.memory[key].items()}

    def _ways(self, terms: Mapping[tuple[tuple[Circle, ...], ...], Any]) -> list[Sum]:
        met = [any(any(map(any, powers[g])) for powers in terms) for g in range(len(self.groups))]
        options = [g.bases if here else ("relative",) for g, here in zip(self.groups, met, strict=True)]
        found = []
        for bases in product(*options):
            total: Sum = {}
            for powers, c in terms.items():
                part: Sum = {(): c}
                for group, own, basis in zip(self.groups, powers, bases, strict=True):
                    if any(map(any, own)):
                        part = times(part, group.written(own, basis))
                for p, x in part.items():
                    _add(total, p, x)
            found += _by_sines(total)
        return found


MOST_SQUARES = 4
"""Angles with squares for which both cos² and sin² are tried."""


def _by_sines(terms: Sum) -> list[Sum]:
    """The polynomial with cos² or 1 − sin², for each angle."""
    squared = {x.args[0] for powers in terms for x, n in powers if isinstance(x, sympy.cos) and n > 1}
    angles = sorted(squared, key=lambda a: a.sort_key())
    if len(angles) > MOST_SQUARES:
        return [terms, _squares_replaced(terms, sympy.cos, sympy.sin)]
    found = []
    for chosen in product((False, True), repeat=len(angles)):
        turned = {a for a, yes in zip(angles, chosen, strict=True) if yes}
        found.append(_squares_replaced(terms, sympy.cos, sympy.sin, turned) if turned else terms)
    return found
