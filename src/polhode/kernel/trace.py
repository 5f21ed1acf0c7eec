"""Run a Python function on symbols, and collect the graph of its operations.

Equal operations become one node, constants fold, and the rules of `graph.py` simplify, all while the
function runs; nothing is searched for afterwards.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from math import isnan
from typing import Any, NoReturn

import numpy as np

from polhode.errors import CompileError, message
from polhode.kernel.compile_fault import compile_fault
from polhode.kernel.graph import (
    RULE_CONSTANTS,
    RULE_OPERATIONS,
    SNAPPED,
    Graph,
    Node,
    Port,
    labels,
    rules_for,
)
from polhode.kernel.operations import BRANCHES, COMMUTATIVE, MEANING, OPERATIONS, STRUCTURED
from polhode.loading import collection_paused
from polhode.scalar import Vec, inside_smooth, split
from polhode.scalar.functions import NUMBERS

_serials = count()
_open = threading.local()


@contextmanager
def scope(place: Any) -> Iterator[None]:
    """While this lasts, new structured nodes belong to `place.current()`."""
    places = vars(_open).setdefault("places", [])
    places.append(place)
    try:
        yield
    finally:
        places.pop()


def current() -> Builder:
    """The graph that is being traced now, in this thread: of several inside each other the innermost."""
    return _open.places[-1].current()


def outermost() -> Builder:
    """The trace that all those inside it belong to, in this thread."""
    return next(place for place in reversed(_open.places) if type(place) is Builder)


class Builder:
    """A graph under construction. Of two that meet, the later (`serial`) stands inside the other."""

    def __init__(self, name: str = "graph", snap: float = 0.0) -> None:
        self.name, self.snap, self.serial = name, snap, next(_serials)
        self.nodes: list[tuple] = []  # the fields of each Node
        self.constants: dict[int, float | bool] = {}
        self.branches: dict[int, None] = {}
        """The comparisons, absolute values and angles of points outside functions marked as smooth, in order."""
        self.known: dict[Any, int] = {}
        self._tags: dict[int, Any] = {}  # what a rule may look at: an operation, a constant

    def current(self) -> Builder:
        """The graph that new nodes join."""
        return self

    def input(self, label: str) -> int:
        """A new input."""
        self.nodes.append(("input", (), label))
        return len(self.nodes) - 1

    def constant(self, value: float | bool) -> int:
        """The node of a constant; 0.0, −0.0 and False are three."""
        key = value if type(value) is float and value and not isnan(value) else repr(value)
        index = self.known.get(key)
        if index is None:
            index = self.known[key] = len(self.nodes)
            self.nodes.append(("constant", (), value))
            self.constants[index] = value
            other = "tiny" if abs(value) < self.snap else "other"
            self._tags[index] = value if value in RULE_CONSTANTS else other
        return index

    def apply(self, op: str, *args: int) -> int:
        """The node of an operation on nodes: a simpler one, one that is there already, or a new one."""
        key = (op, args, None)
        index = self.known.get(key)
        return self.made(key) if index is None else index

    def made(self, key: tuple[str, tuple[int, ...], None]) -> int:
        """The node of an operation that is not there as it stands (`known`): a simpler one, or a new one."""
        index = self._simpler(key[0], key[1])
        if index is None:
            index = self._new(key)
        self.known[key] = index
        return index

    def _new(self, key: tuple[str, tuple[int, ...], None]) -> int:
        """The node of an operation that nothing simplifies; operands that may change places are in order."""
        op, args, _ = key
        if op in COMMUTATIVE and args[0] > args[1]:
            key = (op, (args[1], args[0], *args[2:]), None)
            if (found := self.known.get(key)) is not None:
                return found
            self.known[key] = len(self.nodes)
        self.nodes.append(key)
        index = len(self.nodes) - 1
        if op in RULE_OPERATIONS:
            self._tags[index] = op
        return index

    def call(self, routine: Any, args: Sequence[int]) -> list[int]:
        """The nodes of a routine's results for these arguments."""
        node = self._noted(("call", tuple(args), routine))
        return [self._noted(("part", (node,), k)) for k in range(sum(n for _, n in routine.outputs))]

    def copied(self, op: str, args: Sequence[int], value: Any) -> int:
        """The node of any node of another graph, on operands here; constants included, inputs not."""
        if op in STRUCTURED:
            return self._noted((op, tuple(args), value))
        return self.apply(op, *args) if args else self.constant(value)

    def _noted(self, key: tuple) -> int:
        index = self.known.get(key)
        if index is None:
            index = self.known[key] = len(self.nodes)
            self.nodes.append(key)
        return index

    def capture(self, symbol: Symbol) -> int:
        """The node here of a symbol of another trace: there is none, unless this one stands inside that."""
        raise self.error("symbols of two traces meet", f"a symbol of {symbol.builder.name}", "symbols of this one")

    def _simpler(self, op: str, args: tuple[int, ...]) -> int | None:
        tag = self._tags.get
        if len(args) == 2:  # nearly all are, and of these nearly none has a tag
            a, b = args
            of_a, of_b, repeated = tag(a), tag(b), a == b
            if of_a is None and of_b is None and not repeated:
                return None
            tags: tuple[Any, ...] = (of_a, of_b)
        else:
            tags, repeated = tuple([tag(a) for a in args]), len({*args}) < len(args)
            if not repeated and not any(known is not None for known in tags):
                return None
        rewrite = _rewrite(op, tags, repeated)
        return rewrite(self, args) if rewrite else None

    def error(self, what: str, found: str, expected: str, fix: str = "", place: str = "") -> CompileError:
        """An error of the function that is being traced."""
        return CompileError(message(f"trace of {self.name}{place}", what, found, expected, fix))


Rewrite = Callable[[Builder, tuple[int, ...]], int | None]
"""The simpler node for an operation on these nodes; None where there is none."""

Found = Callable[[Builder, tuple[int, ...]], int]
"""A node found or made from the operands of an operation."""


@cache
def _rewrite(op: str, tags: tuple, repeated: bool) -> Rewrite | None:
    """What makes an operation simpler whose operands have these tags: folding, snapping or a rule; None: nothing."""
    if not any(tag is None or tag in RULE_OPERATIONS for tag in tags):
        meaning = MEANING[op]
        return lambda builder, args: builder.constant(meaning(*[builder.constants[a] for a in args]))
    if "tiny" in tags and op in SNAPPED:
        tiny = [tag == "tiny" for tag in tags]
        return lambda builder, args: builder.apply(
            op, *[builder.constant(0.0) if snapped else a for snapped, a in zip(tiny, args, strict=True)]
        )
    rules = [_rule(patterns, result) for patterns, result in rules_for(op, tags, repeated)]
    if not rules or not rules[0][0]:
        return rules[0][1] if rules else None

    def first_that_fits(builder: Builder, args: tuple[int, ...]) -> int | None:
        for pairs, rewrite in rules:
            if all(one(builder, args) == other(builder, args) for one, other in pairs):
                return rewrite(builder, args)
        return None

    return first_that_fits


def _rule(patterns: tuple, result: Any) -> tuple[list[tuple[Found, Found]], Found]:
    """The operands that a rule asks to be one node, in pairs; and its simpler form. Tags vouch for the rest."""
    letters: dict[str, Found] = {}
    pairs = []
    for k, pattern in enumerate(patterns):
        inner = pattern[1:] if isinstance(pattern, tuple) else ()
        found = [(letter, _operand(k, j)) for j, letter in enumerate(inner)]
        for letter, place in [(pattern, _operand(k))] if isinstance(pattern, str) else found:
            if letter in letters:
                pairs.append((letters[letter], place))
            letters[letter] = place
    return pairs, _form(result, letters)


def _operand(k: int, j: int | None = None) -> Found:
    """Operand k; or operand j of that."""
    if j is None:
        return lambda builder, args: args[k]
    return lambda builder, args: builder.nodes[args[k]][1][j]


def _form(result: Any, letters: Mapping[str, Found]) -> Found:
    """The simpler form of a rule, made of the operands that its letters stand for."""
    if isinstance(result, str):
        return letters[result]
    if not isinstance(result, tuple):
        return lambda builder, args: builder.constant(result)
    op, *parts = result[0], *[_form(part, letters) for part in result[1:]]
    return lambda builder, args: builder.apply(op, *[part(builder, args) for part in parts])


def _shown(self: Symbol | BooleanSymbol) -> str:
    op, args, value = self.builder.nodes[self.node]
    return f"<{type(self).__name__} {self.node}: {op}{args or f' {value}'}>"


def _no_truth(self: Symbol | BooleanSymbol, *_: Any) -> NoReturn:
    raise self.builder.error(
        "a symbol is neither true nor false yet",
        "`if`, `while`, `and`, `or`, `not`, `in`, min or max on a symbol",
        "a choice that stays in the graph",
        "Use polhode.where(condition, yes, no), which keeps both; & | ~ on conditions; polhode.minimum, maximum.",
    )


def _no_value(self: Symbol, *_: Any) -> NoReturn:
    raise self.builder.error(
        "a symbol has no value yet",
        "float(), int(), round(), an index or a function of `math` on a symbol",
        "operations that every scalar has",
        "Use polhode.sin, sqrt, …; let plain numbers decide on sizes and indices.",
    )


class BooleanSymbol:
    """A node that is true or false once the inputs are known: a comparison of symbols, or several joined by & | ~."""

    __slots__ = ("builder", "node")
    __array_ufunc__ = None
    __bool__ = __eq__ = __ne__ = _no_truth
    __hash__ = None  # type: ignore[assignment]
    __repr__ = _shown

    def __init__(self, builder: Builder, node: int) -> None:
        self.builder, self.node = builder, node

    def _with(self, op: str, other: Any) -> Any:
        builder = innermost(self, other)
        node = _truth(builder, other)
        if node is None:
            return NotImplemented
        return BooleanSymbol(builder, builder.apply(op, self.node_in(builder), node))

    def node_in(self, builder: Builder) -> int:
        """Its node in this trace, or in one inside it."""
        return self.node if builder is self.builder else _captured(builder, self)

    def __and__(self, other: Any) -> Any:
        return self._with("and", other)

    def __or__(self, other: Any) -> Any:
        return self._with("or", other)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> BooleanSymbol:
        return BooleanSymbol(self.builder, self.builder.apply("not", self.node))

    def where(self, yes: Any, no: Any) -> Any:
        """`yes` where the condition holds, else `no`: numbers, or conditions."""
        if all(isinstance(x, (bool, np.bool_, BooleanSymbol)) for x in (yes, no)):
            return (self & yes) | (~self & no)
        builder = innermost(self, yes, no)
        a, b = number_node(builder, yes), number_node(builder, no)
        if a is None or b is None:
            found = f"{type(yes).__name__} and {type(no).__name__}"
            raise self.builder.error("`where` cannot choose", found, "two numbers, or two Vec of one length")
        return Symbol(builder, builder.apply("select", self.node_in(builder), a, b))


def _binary(op: str, reflected: bool = False) -> Callable[[Symbol, Any], Any]:
    def method(self: Symbol, other: Any) -> Any:
        builder, own = self.builder, self.node
        if type(other) is Symbol and other.builder is builder:
            node: int | None = other.node
        elif type(other) is float:
            node = builder.constant(other)
        else:
            if type(other) is Symbol and other.builder.serial > builder.serial:
                builder = other.builder
                own = builder.capture(self)
            node = number_node(builder, other)
        if node is None:
            return NotImplemented  # a vector multiplies its own components
        key = (op, (node, own) if reflected else (own, node), None)
        node = builder.known.get(key)  # as `apply` does: most are there already
        if node is None:
            node = builder.made(key)
        if branches and not inside_smooth():
            builder.branches.setdefault(node)
        return BooleanSymbol(builder, node) if comparison else Symbol(builder, node)

    comparison = OPERATIONS[op].condition
    branches = op in BRANCHES
    return method


def _unary(op: str) -> Callable[[Symbol], Symbol]:
    return lambda self: Symbol(self.builder, self.builder.apply(op, self.node))


def _abs(self: Symbol) -> Symbol:
    node = self.builder.apply("abs", self.node)
    if not inside_smooth():
        self.builder.branches.setdefault(node)
    return Symbol(self.builder, node)


class Symbol:
    """A number that is known once the inputs are: a node of the graph under construction."""

    __slots__ = ("builder", "node")
    __array_ufunc__ = None  # or NumPy would take `array * Symbol` apart
    __bool__ = _no_truth
    __float__ = __int__ = __index__ = __round__ = _no_value
    __hash__ = None  # type: ignore[assignment]
    __repr__ = _shown

    def __init__(self, builder: Builder, node: int) -> None:
        self.builder, self.node = builder, node

    __add__, __radd__ = _binary("add"), _binary("add", reflected=True)
    __sub__, __rsub__ = _binary("sub"), _binary("sub", reflected=True)
    __mul__, __rmul__ = _binary("mul"), _binary("mul", reflected=True)
    __truediv__, __rtruediv__ = _binary("div"), _binary("div", reflected=True)
    __neg__, sqrt, exp, log = map(_unary, ("neg", "sqrt", "exp", "log"))
    __abs__ = _abs
    sin, cos, tan, asin, acos = map(_unary, ("sin", "cos", "tan", "asin", "acos"))
    atan2, ratan2 = _binary("atan2"), _binary("atan2", reflected=True)
    __lt__, __gt__ = _binary("less"), _binary("less", reflected=True)
    __le__, __ge__ = _binary("less_equal"), _binary("less_equal", reflected=True)

    def __eq__(self, other: Any) -> Any:
        below = self.__le__(other)
        return below if below is NotImplemented else below & self.__ge__(other)

    def __ne__(self, other: Any) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else ~equal

    def is_structural_zero(self) -> bool:
        """Whether it is 0 whatever the inputs are."""
        return self.builder.constants.get(self.node) == 0.0

    def __pos__(self) -> Symbol:
        return self

    def __pow__(self, exponent: Any) -> Any:
        """A whole power, by products, or an odd number of halves, by a square root besides."""
        if not isinstance(exponent, NUMBERS) or not float(2 * exponent).is_integer():
            found = f"the exponent {exponent!r}"
            expected = "a whole number, or halves of one"
            raise self.builder.error("neither a whole power nor halves", found, expected, "Use exp(n * log(x)).")
        halves = abs(int(2 * exponent))
        one = Symbol(self.builder, self.builder.constant(1.0))
        power, square, n = self.sqrt() if halves % 2 else one, self, halves // 2
        while n:
            power, square, n = power * square if n % 2 else power, square * square, n // 2
        return 1.0 / power if exponent < 0 else power


def innermost(*values: Any) -> Builder:
    """The builder of the symbols among these that stands inside all others."""
    builders = [x.builder for x in values if isinstance(x, (Symbol, BooleanSymbol))]
    return max(builders, key=lambda builder: builder.serial)


def number_node(builder: Builder, value: Any) -> int | None:
    """The node of a number: a symbol, or a constant; None for all else."""
    if type(value) is Symbol and value.builder is builder:
        return value.node
    if type(value) is float:
        return builder.constant(value)
    if isinstance(value, NUMBERS):
        return builder.constant(float(value))
    if isinstance(value, np.ndarray):
        if not value.ndim:
            return number_node(builder, value.item())
        raise builder.error("an array meets a symbol", f"an array {value.shape}", "numbers, or Vec", "Make it a Vec.")
    if isinstance(value, BooleanSymbol):
        fix = "Use polhode.where(condition, 1.0, 0.0)."
        raise builder.error("a condition stands for a number", "a comparison of symbols", "a number", fix)
    return builder.capture(value) if isinstance(value, Symbol) else None


def _truth(builder: Builder, value: Any) -> int | None:
    """The node of a condition, or of True or False; None for all else."""
    if isinstance(value, BooleanSymbol):
        return value.node_in(builder)
    return builder.constant(bool(value)) if isinstance(value, (bool, np.bool_)) else None


def _captured(builder: Builder, condition: BooleanSymbol) -> int:
    """A condition of a trace around this one, carried as 1 or 0."""
    origin = condition.builder
    number = origin.apply("select", condition.node, origin.constant(1.0), origin.constant(0.0))
    return builder.apply("less", builder.constant(0.5), builder.capture(Symbol(origin, number)))


def trace(function: Callable, snap: float = 0.0, /, **shapes: tuple[int, ...]) -> Graph:
    """The graph of a function of generic scalars.

        trace(quaternion.rotate, p=(4,), x=(3,))

    function  is called with a Vec for each argument, nested for a matrix, a scalar for the shape ()
    snap      see `SNAP`
    shapes    of the arguments, by name
    ->        `Graph`; results are scalars, or Vec, lists or arrays, also in tuples, NamedTuples and dicts
    """
    builder = Builder(getattr(function, "__name__", type(function).__name__), snap)
    _check(builder, function, shapes)
    arguments, inputs, outputs = {}, list[Port](), list[Port]()
    for name, shape in shapes.items():
        nodes = [builder.input(label) for label in labels(name, shape)]
        inputs.append(Port(name, shape, tuple(nodes)))
        symbols = np.empty(len(nodes), dtype=object)
        symbols[:] = [Symbol(builder, node) for node in nodes]
        arguments[name] = split(symbols.reshape(shape), len(shape))
    with scope(builder), collection_paused():
        try:
            found = function(**arguments)
        except (TypeError, CompileError) as error:
            if told := compile_fault(error):
                raise CompileError(f"{error}\n  {told}.") from error
            raise
        structure = _collected(builder, found, [], outputs)
        return Graph.pruned(builder.name, inputs, outputs, builder.nodes, structure)


def _check(builder: Builder, function: Callable, shapes: dict[str, Any]) -> None:
    for name, shape in shapes.items():
        if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):
            raise builder.error("not a shape", repr(shape), "() for a number, (n,) or (m, n)", "", f", argument {name}")
    try:
        inspect.signature(function).bind(**shapes)
    except (TypeError, ValueError) as error:
        found = f"shapes of {', '.join(shapes) or 'none'}"
        raise builder.error(str(error), found, "the shape of each argument, by its name") from None


def _collected(builder: Builder, value: Any, path: list[str], outputs: list[Port]) -> Any:
    """Note the nodes of a result; return its structure, with the position of an output for each array."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {key: _collected(builder, part, [*path, str(key)], outputs) for key, part in value.items()}
    if isinstance(value, tuple) and not isinstance(value, Vec):
        names = getattr(value, "_fields", range(len(value)))
        parts = [_collected(builder, v, [*path, str(n)], outputs) for n, v in zip(names, value, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    name, nodes = ".".join(path) or "result", list[int]()
    shape = _flattened(builder, split(value, value.ndim) if isinstance(value, np.ndarray) else value, nodes, name)
    if len({Node(*builder.nodes[k]).is_condition for k in nodes}) > 1:
        raise builder.error("numbers and conditions in one vector", f"both in {name}", "one kind")
    outputs.append(Port(name, shape, tuple(nodes)))
    return len(outputs) - 1


def _flattened(builder: Builder, value: Any, nodes: list[int], name: str) -> tuple[int, ...]:
    """Append the nodes of a scalar or (nested) Vec, and return its shape."""
    if isinstance(value, (Vec, list)):
        shapes = {_flattened(builder, part, nodes, name) for part in value}
        if len(shapes) > 1:
            raise builder.error("rows of several lengths", f"{sorted(shapes)}", "equal ones", "", f", {name}")
        return (len(value), *(shapes.pop() if shapes else ()))
    node = _truth(builder, value)
    node = number_node(builder, value) if node is None and not isinstance(value, BooleanSymbol) else node
    if node is None:
        found = f"{type(value).__name__} {value!r}"[:80]
        raise builder.error("not a number", found, "symbols and numbers, or Vec of them", "", f", {name}")
    nodes.append(node)
    return ()
