"""A formula that a user gives for a number: "-l_1", "m*l^2/12". A small reader; nothing is executed."""

import ast
from collections.abc import Callable
from typing import Any

import sympy

from polhode.errors import InputError, message

LONGEST = 500
"""The most characters of a formula."""

MOST = 12
"""The largest exponent."""

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


def parsed(where: str, value: Any) -> sympy.Expr:
    """A formula from text, or a SymPy expression as it is; its letters are real."""
    if isinstance(value, sympy.Expr):
        return value.subs({s: sympy.Symbol(s.name, real=True) for s in value.free_symbols})
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST:
        raise InputError(message(where, "not a formula", repr(value)[:80], "text such as 'm', '-l', 'm*l^2/12'"))
    try:
        found = _read(ast.parse(value.strip().replace("^", "**"), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if not any(c in value for c in "+*/^()= "):  # a name no formula could have
            return sympy.Symbol(value.strip(), real=True)
        raise InputError(
            message(where, "not a formula", repr(value)[:80], "text such as 'm', '-l', 'm*l^2/12'")
        ) from None
    return found


def _read(node: ast.expr) -> sympy.Expr:
    if isinstance(node, ast.Name):
        return sympy.Symbol(node.id, real=True)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return sympy.Rational(repr(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _read(node.operand)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        exponent = _read(node.right)
        if not exponent.is_Integer or abs(exponent) > MOST:
            raise ValueError
        return _read(node.left) ** exponent
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        found = _BINARY[type(node.op)](_read(node.left), _read(node.right))
        if not found.is_finite and found.is_number:
            raise ValueError
        return found
    raise ValueError
