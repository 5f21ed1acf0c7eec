"""Bounds of a graph over intervals of its inputs: every value that it takes there lies between them.

The bounds of each operation follow from those of its operands; rounding is covered by widening them outwards. Where an
operand may be beyond the domain of an operation, nothing is known: the bounds are infinite.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.kernel.graph import Graph

ROUNDING = 4e-16
"""By which part of themselves bounds are moved outwards: at least the rounding of one operation."""


class Bounds(NamedTuple):
    """Lower and upper bounds of a number on n intervals, (n,) each; of a condition whether it may fail and may hold."""

    low: np.ndarray
    high: np.ndarray


def bounds(graph: Graph, low: np.ndarray, high: np.ndarray) -> list[Bounds] | None:
    """The bounds of all outputs while the first input lies between `low` and `high` (n,); the others must not matter.

    None where an operation of the graph has no rule here.
    """
    inputs = sum(len(port.nodes) for port in graph.inputs)
    anything = Bounds(np.full(len(low), -np.inf), np.full(len(low), np.inf))
    found: list[Bounds] = [Bounds(low, high), *[anything] * (inputs - 1)]
    with np.errstate(all="ignore"):
        for node in graph.nodes[inputs:]:
            if node.op == "constant":
                value = node.value
                ends = (not value, value) if isinstance(value, bool) else (value, value)
                found.append(Bounds(*(np.full(len(low), end) for end in ends)))
            elif node.op not in RULES:
                return None
            else:
                found.append(_widened(RULES[node.op]([found[a] for a in node.args])))
    return [found[k] for port in graph.outputs for k in port.nodes]


def _widened(x: Bounds) -> Bounds:
    if x.low.dtype == bool:
        return x
    low, high = x.low - ROUNDING * abs(x.low) - 1e-300, x.high + ROUNDING * abs(x.high) + 1e-300
    return Bounds(np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high))


Rule = Callable[[Sequence[Bounds]], Bounds]


def _product(x: Bounds, y: Bounds) -> Bounds:
    corners = [a * b for a in x for b in y]
    unknown = np.any(np.isnan(corners), axis=0)
    return Bounds(
        np.where(unknown, -np.inf, np.min(corners, axis=0)), np.where(unknown, np.inf, np.max(corners, axis=0))
    )


def _quotient(x: Bounds, y: Bounds) -> Bounds:
    through = (y.low <= 0) & (y.high >= 0)
    found = _product(x, Bounds(1 / y.high, 1 / y.low))
    return Bounds(np.where(through, -np.inf, found.low), np.where(through, np.inf, found.high))


def _absolute(x: Bounds) -> Bounds:
    through = (x.low <= 0) & (x.high >= 0)
    ends = abs(x.low), abs(x.high)
    return Bounds(np.where(through, 0.0, np.minimum(*ends)), np.maximum(*ends))


def _wave(function: Callable[[Any], Any], top: float) -> Rule:
    """Sine or cosine: largest at `top` + 2πk, smallest half a turn later."""

    def rule(operands: Sequence[Bounds]) -> Bounds:
        (x,) = operands
        ends = function(x.low), function(x.high)
        turn = 2 * np.pi
        margin = 1e-15 * np.maximum(abs(x.low), abs(x.high)) + 1e-15

        def passes(place: float) -> np.ndarray:
            return np.floor((x.high + margin - place) / turn) >= np.ceil((x.low - margin - place) / turn)

        low = np.where(passes(top + np.pi), -1.0, np.minimum(*ends) - margin)
        high = np.where(passes(top), 1.0, np.maximum(*ends) + margin)
        wild = ~np.isfinite(low) | ~np.isfinite(high)
        return Bounds(np.where(wild, -1.0, low), np.where(wild, 1.0, high))

    return rule


def _rising(function: Callable[[Any], Any], lowest: float = -np.inf, highest: float = np.inf) -> Rule:
    """A function that rises on its domain."""

    def rule(operands: Sequence[Bounds]) -> Bounds:
        (x,) = operands
        inside = (x.low >= lowest) & (x.high <= highest)
        return Bounds(np.where(inside, function(x.low), -np.inf), np.where(inside, function(x.high), np.inf))

    return rule


def _negative(x: Bounds) -> Bounds:
    return Bounds(-x.high, -x.low)


def _chosen(x: Sequence[Bounds]) -> Bounds:
    """`where`: bounds of both sides together where the condition may hold and may fail."""
    (may_fail, may_hold), yes, no = x
    low = np.where(may_hold & may_fail, np.minimum(yes.low, no.low), np.where(may_hold, yes.low, no.low))
    high = np.where(may_hold & may_fail, np.maximum(yes.high, no.high), np.where(may_hold, yes.high, no.high))
    return Bounds(low, high)


def _sum(x: Bounds, y: Bounds) -> Bounds:
    return Bounds(x.low + y.low, x.high + y.high)


RULES: dict[str, Rule] = {
    "add": lambda x: _sum(*x),
    "sub": lambda x: _sum(x[0], _negative(x[1])),
    "mul": lambda x: _product(*x),
    "fma": lambda x: _sum(_product(x[0], x[1]), x[2]),
    "div": lambda x: _quotient(*x),
    "neg": lambda x: _negative(x[0]),
    "abs": lambda x: _absolute(x[0]),
    "sqrt": _rising(np.sqrt, 0.0),
    "exp": _rising(np.exp),
    "log": _rising(np.log, 1e-300),
    "asin": _rising(np.arcsin, -1.0, 1.0),
    "acos": lambda x: _negative(_rising(lambda y: -np.arccos(y), -1.0, 1.0)(x)),
    "sin": _wave(np.sin, np.pi / 2),
    "cos": _wave(np.cos, 0.0),
    "atan2": lambda x: Bounds(np.full(len(x[0].low), -np.pi), np.full(len(x[0].low), np.pi)),
    "less": lambda x: Bounds(x[0].high >= x[1].low, x[0].low < x[1].high),
    "less_equal": lambda x: Bounds(x[0].high > x[1].low, x[0].low <= x[1].high),
    "and": lambda x: Bounds(x[0].low | x[1].low, x[0].high & x[1].high),
    "or": lambda x: Bounds(x[0].low & x[1].low, x[0].high | x[1].high),
    "not": lambda x: Bounds(x[0].high, x[0].low),
    "select": _chosen,
}
"""The bounds of operations from those of their operands; those of conditions: whether they may fail, may hold."""
