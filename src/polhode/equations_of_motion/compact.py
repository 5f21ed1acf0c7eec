"""A polynomial as a person would write it: common factors in front, sums in parentheses, the shortest of a few ways."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm
from typing import Any

import sympy
from sympy.core.mul import _keep_coeff

from polhode.equations_of_motion.angles import Powers, Sum, joined

FACTORABLE = 16
"""Terms up to which a polynomial is tried for factors that are sums."""

LETTERS = 9
"""Different letters up to which a polynomial is tried for factors that are sums."""

TRIED = 3
"""First factors that are tried, the commonest ones, up to `BRANCHING` terms."""

BRANCHING = 24

LONG = 10**6
"""A denominator beyond this is that of a decimal number: nothing is in common with it."""


def compact(terms: Sum, is_rate: Callable[[sympy.Expr], bool], exact: bool = True) -> sympy.Expr:
    """The shortest expression found for a polynomial.

    is_rate  which letters are velocities: terms are also tried by equal products of them
    exact    whether all numbers are: only then are there factors that are sums
    """
    if not terms:
        return sympy.Integer(0)
    if len(terms) == 1:
        return _product(terms)
    ways = [_pulled(terms, TRIED)]
    if any(is_rate(x) for powers in terms for x, _ in powers):
        ways.append(_by_rates(terms, is_rate, exact))
        ways += [_by_others(terms, is_rate)] if exact else []
    if exact and len(terms) <= FACTORABLE:
        ways.append(_factored(terms))
    return min(ways, key=operations)


def operations(x: sympy.Expr) -> int:
    """How many operations an expression takes, as SymPy counts them."""
    return int(x.count_ops())


def _product(terms: Sum) -> sympy.Expr:
    ((powers, c),) = terms.items()
    return sympy.Mul(_rational(c), *(x**n for x, n in powers))


def _rational(c: Any) -> sympy.Rational:
    return sympy.Rational(int(c.numerator), int(c.denominator))


def _pulled(terms: Sum, tried: int = 1) -> sympy.Expr:
    """The polynomial with its commonest factors pulled out, one after the other."""
    if len(terms) == 1:
        return _product(terms)
    front, terms = _common(terms)
    counts = Counter(x for powers in terms for x, _ in powers)
    shared = [x for x, n in counts.most_common() if n > 1]
    if not shared:
        return _times(front, _sum([_product({p: c}) for p, c in terms.items()]))
    shared.sort(key=lambda x: (-counts[x], -_saving(terms, x), x.sort_key()))
    ways = []
    for x in shared[: tried if len(terms) <= BRANCHING else 1]:
        power = min(n for powers in terms for y, n in powers if y == x)
        inside = {_without(powers, x, power): c for powers, c in terms.items() if any(y == x for y, _ in powers)}
        outside = {powers: c for powers, c in terms.items() if all(y != x for y, _ in powers)}
        within, rest = _pulled(inside, max(tried - 1, 1)), _pulled(outside, max(tried - 1, 1)) if outside else None
        head = _times(({x: power}, 1), within)
        ways.append(head if rest is None else _sum([head, rest]))
    return _times(front, min(ways, key=operations))


def _saving(terms: Sum, x: sympy.Expr) -> int:
    """How much more the terms with x have in common."""
    inside = {powers: c for powers, c in terms.items() if any(y == x for y, _ in powers)}
    factors, content = _common(inside)[0]
    return (len(inside) - 1) * (sum(factors.values()) + (content != 1))


def _without(powers: Powers, x: sympy.Expr, power: int) -> Powers:
    return tuple((y, n - power if y == x else n) for y, n in powers if y != x or n > power)


def _common(terms: Sum) -> tuple[tuple[dict[sympy.Expr, int], Any], Sum]:
    """What all terms have in common: letters with powers and a number; and the terms without it."""
    monomials = [dict(powers) for powers in terms]
    shared = {x: min(m[x] for m in monomials) for x in monomials[0] if all(x in m for m in monomials)}
    values = [Fraction(int(c.numerator), int(c.denominator)) for c in terms.values()]
    content = Fraction(gcd(*(v.numerator for v in values)), lcm(*(v.denominator for v in values)))
    if any(v.denominator > LONG for v in values):
        content = Fraction(1)
    below = sum(v < 0 for v in values)
    if below == len(values) or (values[0] < 0 and below > len(values) / 2):
        content = -content
    rest: Sum = {}
    for powers, value in zip(terms, values, strict=True):
        left = tuple((x, n - shared.get(x, 0)) for x, n in powers if n > shared.get(x, 0))
        rest[left] = value / content
    return (shared, content), rest


def _times(front: tuple[dict[sympy.Expr, int], Any], x: sympy.Expr) -> sympy.Expr:
    """A common factor times the rest; a number stays in front of a parenthesis."""
    shared, content = front
    letters = sympy.Mul(*(y**n for y, n in shared.items()))
    content = _rational(content)
    if letters == 1 and isinstance(x, sympy.Add):
        return -x if content == -1 and len(x.args) == 1 else _keep_coeff(content, x) if content != 1 else x
    product = sympy.Mul(letters, x)
    return _keep_coeff(content, product) if content != 1 else product


def _sum(parts: Sequence[sympy.Expr]) -> sympy.Expr:
    return sympy.Add(*parts)


def _split(terms: Sum, is_rate: Callable[[sympy.Expr], bool]) -> dict[Powers, dict[Powers, Any]]:
    """The terms by their monomial of rates."""
    found: dict[Powers, dict[Powers, Any]] = {}
    for powers, c in terms.items():
        rates = tuple((x, n) for x, n in powers if is_rate(x))
        others = tuple((x, n) for x, n in powers if not is_rate(x))
        found.setdefault(rates, {})[others] = c
    return found


def _by_rates(terms: Sum, is_rate: Callable[[sympy.Expr], bool], exact: bool) -> sympy.Expr:
    """Σ (coefficients) × (product of rates)."""
    parts = []
    for rates, own in _split(terms, is_rate).items():
        ways = [_pulled(own), *([_factored(own)] if exact and 1 < len(own) <= FACTORABLE // 2 else [])]
        parts.append(sympy.Mul(min(ways, key=operations), _product({rates: 1})))
    return together(parts)


def _by_others(terms: Sum, is_rate: Callable[[sympy.Expr], bool]) -> sympy.Expr:
    """Σ (product of all else) × (polynomial of rates, in factors); those with equal polynomials together."""
    swapped = _split(terms, lambda x: not is_rate(x))
    same: dict[sympy.Expr, Sum] = {}
    for others, rates in swapped.items():
        polynomial = _factored(rates)
        number, rest = polynomial.as_coeff_Mul()
        same.setdefault(rest, {})[others] = Fraction(int(number.p), int(number.q))
    parts = [_times(({}, 1), sympy.Mul(_pulled(own), rest, evaluate=True)) for rest, own in same.items()]
    return together(parts)


def together(parts: list[sympy.Expr]) -> sympy.Expr:
    """A sum of products with factors that several have in common pulled out, sums among the factors."""
    terms: Sum = {}
    for part in parts:
        number, rest = part.as_coeff_Mul()
        factors = [factor.as_base_exp() for factor in sympy.Mul.make_args(rest)]
        whole = all(n.is_Integer and n > 0 for _, n in factors)
        powers: Powers = joined((), tuple((x, int(n)) for x, n in factors)) if whole else ((rest, 1),)
        terms[powers] = terms.get(powers, 0) + Fraction(int(number.p), int(number.q))
    return _pulled({p: c for p, c in terms.items() if c}) if terms else sympy.Integer(0)


def _factored(terms: Sum) -> sympy.Expr:
    """The polynomial in factors that may be sums."""
    front, rest = _common(terms)
    return _times(front, _in_factors(frozenset(rest.items())))


@lru_cache(4096)
def _in_factors(terms: frozenset) -> sympy.Expr:
    front: tuple[dict[sympy.Expr, int], Any] = ({}, Fraction(1))
    rest: Sum = dict(sorted(terms, key=lambda pair: [(x.sort_key(), n) for x, n in pair[0]]))
    if len(rest) == 1:
        return _product(rest)
    letters = {x: sympy.Dummy() for powers in rest for x, _ in powers}
    if len(letters) > LETTERS:
        return _times(front, _pulled(rest))
    plain = sympy.Add(*(_rational(c) * sympy.Mul(*(letters[x] ** n for x, n in powers)) for powers, c in rest.items()))
    content, factors = sympy.factor_list(plain)
    if len(factors) == 1 and factors[0][1] == 1:
        return _times(front, _pulled(rest))
    back = {d: x for x, d in letters.items()}
    parts = []
    for factor, n in factors:
        inner: Sum = {}
        for powers, c in sympy.Poly(factor, *letters.values()).terms():
            inner[joined((), tuple((back[d], k) for d, k in zip(letters.values(), powers, strict=True) if k))] = c
        parts.append(_pulled(inner) ** n)
    shared, number = front
    return _times((shared, number * Fraction(int(content.p), int(content.q))), sympy.Mul(*parts))
