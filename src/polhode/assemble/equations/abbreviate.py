"""Parts that several formulas share, given a name: only those that save enough to be worth one."""

from collections.abc import Sequence
from itertools import count

import sympy

from polhode.assemble.equations.compact import operations

LONG = 160
"""Operations of all formulas together up to which nothing is abbreviated."""

WORTH = 8
"""Operations that a name must save."""


def abbreviated(
    formulas: Sequence[sympy.Expr], names: dict[sympy.Symbol, str], latex: str = "\\kappa", letter: str = "kappa"
) -> tuple[list[tuple[sympy.Symbol, sympy.Expr]], list[sympy.Expr]]:
    """Names with what they stand for, and the formulas in their terms; `names` learns how to write them."""
    if sum(map(operations, formulas)) <= LONG:
        return [], list(formulas)
    pairs, short = sympy.cse(list(formulas), symbols=(sympy.Dummy() for _ in count()), order="none")
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
        if (uses[symbol] - 1) * (operations(value) - 1) < WORTH or not isinstance(value, sympy.Add | sympy.Mul):
            inline[symbol] = value
            continue
        k = next(numbers)
        name = sympy.Symbol(f"{letter}_{k}", real=True)
        names[name] = f"{latex}_{{{k}}}"
        kept.append((name, value))
        inline[symbol] = name
    return kept, [x.xreplace(inline) for x in short]
