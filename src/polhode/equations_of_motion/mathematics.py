"""Expressions as LaTeX, in the order of textbooks, and long ones broken into lines."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter

WIDTH = 74
"""Letters in a line of mathematics."""


SHORT = 24
"""Denominators up to which a number is written as a fraction."""


class Printer(LatexPrinter):
    """LaTeX of expressions whose factors and terms already stand in order."""

    def __init__(self, names: Mapping[sympy.Symbol, str]) -> None:
        super().__init__(
            {"symbol_names": dict(names), "order": "none", "fold_func_brackets": True, "long_frac_ratio": 2}
        )

    def _print_Mul(self, expr: sympy.Mul) -> str:
        """A number in front, then the factors as they stand; SymPy's own way where there are denominators."""
        number, rest = sympy.Integer(1), []
        for x in expr.args:
            if x.is_Rational:
                number *= x
            else:
                rest.append(x)
        if not rest or any(x.as_base_exp()[1].is_negative for x in rest):
            return super()._print_Mul(expr)
        factors = [rf"({self._print(x)})" if isinstance(x, sympy.Add) else self._print(x) for x in rest]
        sign, size = ("- ", -number) if number < 0 else ("", number)
        lead = (
            "" if size == 1 else rf"\tfrac{{{size.p}}}{{{size.q}}} " if 1 < size.q <= SHORT else f"{self._print(size)} "
        )
        return sign + lead + " ".join(factors)

    def _print_Rational(self, expr: sympy.Rational) -> str:
        written = f"{float(expr):.15g}"
        if expr.q > SHORT and sympy.Rational(written) == expr and "e" not in written:
            return written
        return super()._print_Rational(expr)

    def _print_Float(self, expr: sympy.Float) -> str:
        written = f"{float(expr):.12g}"
        head, _, power = written.partition("e")
        return rf"{head} \cdot 10^{{{int(power)}}}" if power else head


def latex(x: sympy.Expr, names: Mapping[sympy.Symbol, str]) -> str:
    """An expression as LaTeX."""
    text = Printer(names).doprint(Ordered(names).of(x))
    text = text.replace(r"\left(", "(").replace(r"\right)", ")")
    return re.sub(r"\s*\)", ")", text)


def bracketed(text: str) -> str:
    """Parentheses around parentheses as brackets, and as braces around these."""
    heights: list[int] = []
    opened: list[tuple[int, int]] = []
    shape: dict[int, int] = {}
    for k, c in enumerate(text):
        if c == "(":
            opened.append((k, len(heights)))
            heights.append(0)
        elif c == ")" and opened:
            start, at = opened.pop()
            height = heights[at]
            shape[start] = shape[k] = height
            del heights[at:]
            if heights:
                heights[-1] = max(heights[-1], height + 1)
    pairs = {0: "()", 1: "[]"}
    written = []
    for k, c in enumerate(text):
        kind = pairs.get(shape.get(k, 0) % 2, "()") if k in shape else ""
        written.append(kind[c == ")"] if kind else c)
    return "".join(written)


INERTIA = 2
"""The rank of moments of inertia among factors; in a sum they stand first."""


class Ordered:
    """Puts factors and terms in the order of textbooks: numbers, masses, lengths, rates, functions; minus last."""

    def __init__(self, names: Mapping[sympy.Symbol, str]) -> None:
        self.names = names

    def of(self, x: Any) -> Any:
        """The same expression, its parts reordered and not evaluated again."""
        if not isinstance(x, sympy.Basic) or not x.args:
            return x
        args = [self.of(part) for part in x.args]
        if isinstance(x, sympy.Mul):
            return sympy.Mul(*sorted(args, key=self._factor), evaluate=False)
        if isinstance(x, sympy.Add):
            return sympy.Add(*sorted(args, key=self._term), evaluate=False)
        if isinstance(x, sympy.Pow):
            return sympy.Pow(*args, evaluate=False)
        return x.func(*args)

    def _factor(self, x: sympy.Expr) -> tuple:
        base = x.base if isinstance(x, sympy.Pow) else x
        if x.is_number:
            return (0, "", str(x))
        if base.is_Symbol:
            return (*self._symbol(base), str(x))
        if base.has(sympy.sin, sympy.cos) or isinstance(base, sympy.Function):
            return (8 + isinstance(base, sympy.Add), "", str(x))
        if isinstance(base, sympy.Add) and any(self._symbol(s)[0] >= 5 for s in base.free_symbols):
            return (6.5, "", str(x))
        return (1.5, "", str(x))

    def _symbol(self, symbol: sympy.Symbol) -> tuple[float, str]:
        written = self.names.get(symbol, symbol.name)
        if r"\ddot" in written or written.startswith(r"\lambda"):
            return 7.5, written
        if r"\dot" in written or written.startswith(r"\omega"):
            return 7, written
        letter = re.sub(r"[^A-Za-z\\].*", "", written)
        return {"m": 1, "I": INERTIA, "k": 2.5, "g": 3, "l": 4, "c": 4, "a": 4, r"\theta": 6}.get(letter, 5), written

    def _term(self, x: sympy.Expr) -> tuple:
        negative = x.could_extract_minus_sign()
        functions = len(x.atoms(sympy.sin, sympy.cos))
        rates = sum(self._symbol(s)[0] >= 7 for s in x.free_symbols)
        lead = min((self._symbol(s) for s in x.free_symbols), default=(0, ""))
        rank = 0.5 if lead[0] == INERTIA else lead[0]
        return (negative, functions > 0, rates > 0, rank, functions, x.sort_key())


def visible(text: str) -> int:
    """About how many letters wide a piece of LaTeX prints."""
    text = re.sub(r"\\(?:text|mathrm|operatorname)\b", "", text)
    text = re.sub(r"\\d?dot", "", text)
    text = re.sub(r"\\(sin|cos|tan|exp|log)\b", "xxx", text)
    text = re.sub(r"\\t?frac\{([^{}]*)\}\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\[a-zA-Z]+", "x", text)
    return len(re.sub(r"[{}^_\s\\]", "", text))


def pieces(text: str) -> list[tuple[str, int]]:
    """Where a line may end: the text cut before every + and − outside braces, each with its depth in parentheses."""
    found, start, braces, depth = [], 0, 0, 0
    at = 0
    for k, c in enumerate(text):
        if c == "\\":
            continue
        braces += (c == "{") - (c == "}")
        depth += (c in "([") - (c in ")]")
        if c in "+-=" and braces == 0 and text[k - 1 : k] == " " and text[k + 1 : k + 2] == " ":
            found.append((text[start:k], at))
            start, at = k, depth
    found.append((text[start:], at))
    whole: list[tuple[str, int]] = []
    for piece, depth in found:
        if whole and whole[-1][0].strip() == "=":  # a minus after it does not begin a line
            whole[-1] = whole[-1][0] + piece, whole[-1][1]
        else:
            whole.append((piece, depth))
    return whole


def broken(text: str, width: int = WIDTH) -> list[str]:
    """A long formula in lines, cut where parentheses are few."""
    lines: list[str] = []
    line: list[tuple[str, int]] = []
    for piece in pieces(text):
        line.append(piece)
        while sum(visible(part) for part, _ in line) > width and len(line) > 1:
            cut = _cut(line, width)
            lines.append("".join(part for part, _ in line[:cut]))
            line = line[cut:]
    return [*lines, "".join(part for part, _ in line)]


def _cut(line: Sequence[tuple[str, int]], width: int) -> int:
    """Before which piece a line is cut: the shallowest place in its second half."""
    best, at, filled = len(line) - 1, 10**6, 0
    for k, (part, depth) in enumerate(line):
        if k and filled <= width and filled >= width * 0.45 and depth <= at:
            best, at = k, depth
        filled += visible(part)
    return best


def equation(left: str, right: str, width: int = WIDTH) -> list[str]:
    """left = right in lines for an aligned display."""
    first, *rest = broken(bracketed(right), width - visible(left))
    return [f"{left} &= {first.strip()}", *(rf"&\qquad {line.strip()}" for line in rest)]


def joined(parts: Sequence[str]) -> str:
    """Terms added, their own signs in front."""
    found = ""
    for part in parts:
        part = part.strip()
        if part in ("", "0"):
            continue
        found += f" - {part[1:].strip()}" if found and part.startswith("-") else f" + {part}" if found else part
    return found or "0"


def with_factor(x: sympy.Expr, factor: str, names: Mapping[sympy.Symbol, str]) -> str:
    """x times a symbol, x in parentheses if it is a sum."""
    if x == 0:
        return ""
    if x == 1:
        return factor
    if x == -1:
        return f"-{factor}"
    if any(isinstance(part.as_base_exp()[0], sympy.sin | sympy.cos) for part in sympy.Mul.make_args(x)):
        own = sympy.Dummy()  # in front of the function, or it would look like its argument
        return latex(x * own, {**names, own: factor})
    if isinstance(x, sympy.Add) and all(part.could_extract_minus_sign() for part in x.args):
        return rf"-({latex(-x, names)})\,{factor}"
    text = latex(x, names)
    return rf"({text})\,{factor}" if isinstance(x, sympy.Add) else rf"{text}\,{factor}"
