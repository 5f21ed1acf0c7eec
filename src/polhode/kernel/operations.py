"""The operations of a graph, one row each: what it computes, its derivative, its cost.

Meanings hold on any scalars: floats, NumPy's batches, symbols of another trace. On floats and arrays they follow
IEEE 754, as every backend must: nothing raises, x/0 is an infinity or NaN, √−1 is NaN.
Each backend has its own table of text; `tests/kernel/test_operations.py` holds all of them to this one.
"""

import operator
from collections.abc import Callable
from fractions import Fraction
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from polhode import scalar
from polhode.scalar import Scalar, cos, sin, sqrt, where

PLAIN = (float, int, np.ndarray, np.generic)
"""Numbers themselves, and arrays of them."""


def divide(x: Scalar, y: Scalar) -> Scalar:
    """x/y, also by zero."""
    if (isinstance(x, float) and isinstance(y, float) and y) or not (isinstance(x, PLAIN) and isinstance(y, PLAIN)):
        return x / y
    with np.errstate(all="ignore"):
        quotient = np.divide(x, y)
    return quotient if quotient.ndim else float(quotient)


def fma(x: Scalar, y: Scalar, z: Scalar) -> Scalar:
    """x y + z; of numbers rounded once: the double nearest to the exact value."""
    if not all(isinstance(number, PLAIN) for number in (x, y, z)):
        return x * y + z
    if not all(isinstance(number, float) for number in (x, y, z)):
        return np.vectorize(fma, otypes=[float])(*map(np.asarray, (x, y, z)))
    x, y, z = float(x), float(y), float(z)
    if not (isfinite(x) and isfinite(y) and isfinite(z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z  # the product is exact here: this only finds the sign of zero
    try:
        return float(exact)
    except OverflowError:
        return inf if exact > 0 else -inf


def negation(condition: Any) -> Any:
    """True for false, false for true."""
    return not condition if isinstance(condition, bool) else ~condition


class Operation(NamedTuple):
    """One operation of the graph."""

    name: str
    arity: int
    text: str
    """Its form in print, with places for its operands."""
    meaning: Callable[..., Any] | None = None
    """Its value from those of its operands; None for a node without operands."""
    derivative: Callable[..., tuple] | None = None
    """The partial derivatives of a result r by those of its operands that are numbers, from (r, operands).

    A condition stands for 1 where it holds; where it does not, the operand has no effect, not even an
    infinite or undefined one. None for operations that give a condition.
    """
    cost: int = 1
    """About how many instructions it becomes: what large graphs are divided by."""
    commutative: bool = False
    """Whether its first two operands may change places."""
    condition: bool = False
    """Whether its result is true or false instead of a number."""


SINE = 20
"""Instructions of a sine or a cosine in LLVM's text: both come together, of a reduction and two polynomials."""

TABLE = [
    Operation("input", 0, ""),
    Operation("constant", 0, ""),
    Operation("add", 2, "{} + {}", operator.add, lambda r, x, y: (1.0, 1.0), commutative=True),
    Operation("sub", 2, "{} - {}", operator.sub, lambda r, x, y: (1.0, -1.0)),
    Operation("mul", 2, "{} * {}", operator.mul, lambda r, x, y: (y, x), commutative=True),
    Operation("div", 2, "{} / {}", divide, lambda r, x, y: (1 / y, -r * (1 / y))),
    Operation("neg", 1, "-{}", operator.neg, lambda r, x: (-1.0,)),
    Operation("fma", 3, "fma({}, {}, {})", fma, lambda r, x, y, z: (y, x, 1.0), commutative=True),
    Operation("abs", 1, "abs({})", abs, lambda r, x: (where(x < 0, -1.0, 1.0),)),
    Operation("sqrt", 1, "sqrt({})", sqrt, lambda r, x: (0.5 / r,)),
    Operation("sin", 1, "sin({})", sin, lambda r, x: (cos(x),), cost=SINE),
    Operation("cos", 1, "cos({})", cos, lambda r, x: (-sin(x),), cost=SINE),
    Operation("tan", 1, "tan({})", scalar.tan, lambda r, x: (1 + r * r,)),
    Operation("asin", 1, "asin({})", scalar.asin, lambda r, x: (1 / sqrt(1 - x * x),)),
    Operation("acos", 1, "acos({})", scalar.acos, lambda r, x: (-1 / sqrt(1 - x * x),)),
    Operation("atan2", 2, "atan2({}, {})", scalar.atan2, lambda r, y, x: (x / (x * x + y * y), -y / (x * x + y * y))),
    Operation("exp", 1, "exp({})", scalar.exp, lambda r, x: (r,)),
    Operation("log", 1, "log({})", scalar.log, lambda r, x: (1 / x,)),
    Operation("less", 2, "{} < {}", operator.lt, condition=True),
    Operation("less_equal", 2, "{} <= {}", operator.le, condition=True),
    Operation("and", 2, "{} and {}", operator.and_, commutative=True, condition=True),
    Operation("or", 2, "{} or {}", operator.or_, commutative=True, condition=True),
    Operation("not", 1, "not {}", negation, condition=True),
    Operation("select", 3, "where({}, {}, {})", where, lambda r, c, x, y: (c, ~c)),
]

OPERATIONS = {operation.name: operation for operation in TABLE}
"""Every operation by name. `and`, `or`, `not` and the first operand of `select` take conditions, all else numbers."""

MEANING: dict[str, Callable[..., Any]] = {row.name: row.meaning for row in TABLE if row.meaning}
"""Every operation that has operands, as a function of their values."""

STRUCTURED = {"call", "part"}
"""Beside the operations: a node that runs a Routine on its operands, and nodes that are one of its results each."""

BRANCHES = {"less", "less_equal", "abs", "atan2"}
"""The operations that jump or have a corner where a number passes zero: the difference of the operands of a comparison,
the first operand of the others."""

COMMUTATIVE = {row.name for row in TABLE if row.commutative}
"""The operations whose first two operands may change places."""


def cost(op: str) -> int:
    """About how many instructions a node becomes."""
    return OPERATIONS[op].cost if op in OPERATIONS else 1
