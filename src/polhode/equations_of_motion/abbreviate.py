"""Parts that several formulas share, given a name: only those that save enough to be worth one."""

from collections.abc import Sequence
from itertools import count

import sympy

from polhode.equations_of_motion.compact import operations

LONG = 160
"""Operations of all formulas together up to which nothing is abbreviated."""

UNDER_ROOT = 16
"""Operations that may stand under a root or a fraction bar."""

WORTH = 8
"""Operations that a name must save."""


def _roots(x: sympy.Expr) -> list[sympy.Expr]:
    """What stands under a root or a fraction bar and is too long for it."""
    powers = [p for p in x.atoms(sympy.Pow) if not (p.exp.is_Integer and p.exp > 0)]
    return sorted((p.base for p in powers if operations(p.base) > UNDER_ROOT), key=lambda b: b.sort_key())


def abbreviated(
    formulas: Sequence[sympy.Expr], names: dict[sympy.Symbol, str], latex: str = "\\kappa", letter: str = "kappa"
) -> tuple[list[tuple[sympy.Symbol, sympy.Expr]], list[sympy.Expr]]:
    """Names with what they stand for, and the formulas in their terms; `names` learns how to write them."""
    if sum(map(operations, formulas)) <= LONG and not any(_roots(x) for x in formulas):
        return [], list(formulas)
    roots = list(dict.fromkeys(part for x in formulas for part in _roots(x)))
    pairs, short = sympy.cse([*formulas, *roots], symbols=(sympy.Dummy() for _ in count()), order="none")
    inside = set(short[len(formulas) :])
    short = short[: len(formulas)]
    uses = {symbol: 0 for symbol, _ in pairs}
    for x in (*(value for _, value in pairs), *short):
        for part in sympy.preorder_traversal(x):
            if part in uses:
                uses[part] += 1
    kept: list[tuple[sympy.Symbol, sympy.Expr]] = []
    inline: dict[sympy.Symbol, sympy.Expr] = {}
    numbers = count(1)
    for symbol, value in pairs:
        value = value.xreplace(inline)
        saved = (uses[symbol] - 1) * (operations(value) - 1)
        if (saved < WORTH and symbol not in inside) or not isinstance(value, sympy.Add | sympy.Mul):
            inline[symbol] = value
            continue
        k = next(numbers)
        name = sympy.Symbol(f"{letter}_{k}", real=True)
        names[name] = f"{latex}_{{{k}}}"
        kept.append((name, value))
        inline[symbol] = name
    return kept, [x.xreplace(inline) for x in short]
