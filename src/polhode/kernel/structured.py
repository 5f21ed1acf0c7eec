"""Loops and structured operations of `polhode.scalar` on symbols: structured nodes of the graph.

Importing this module gives symbols these methods; `polhode.kernel` does.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from polhode.kernel.differentiate import jacobian as jacobian_graph
from polhode.kernel.graph import Graph, Port, labels
from polhode.kernel.record import Recorder
from polhode.kernel.replay import replay
from polhode.kernel.routine import Routine
from polhode.kernel.stage_clock import stage
from polhode.kernel.trace import Builder, Symbol, current, number_node, outermost, scope, trace
from polhode.scalar import RecordedFunction, SharedFunction, Vec, spans, where
from polhode.scalar.structured import Stages

ANY_TRACE = -1
"""In the place of the number of a trace: a routine that belongs to none."""


def loops(symbol: Symbol, name: str) -> Recorder:
    """Loops that are recorded as a routine."""
    return Recorder(name)


def iterate(symbol: Symbol, step: Callable[[Vec], tuple[Vec, Any]], state: Vec, limit: Any) -> Vec:
    """Repeat `state, go = step(state)` while go holds, at most `limit` times: a loop of the graph.

    limit  a whole number, or a symbol
    """
    with Recorder(getattr(step, "__name__", "loop").strip("<>")) as r:
        x, go, most = r.both("state", len(state)), r.array("go", 1), r.input("limit", 1)
        for _ in r.repeat(most.cell(0), go.cell(0)):
            new, go[0] = _checked(step(Vec([x[k] for k in range(len(state))])), len(state), r.outer)
            for k, value in enumerate(new):
                x[k] = value
    return Vec(r.call([*state, limit]))


def _checked(found: tuple[Vec, Any], n: int, builder: Builder) -> tuple[Vec, Any]:
    new, go = found
    if len(new) != n:
        raise builder.error("a loop changes the size of its state", f"{len(new)} numbers", f"{n}")
    return new, (1.0 if go else 0.0) if isinstance(go, bool) else go


def staged(symbol: Symbol, rhs: Callable[[Any, Vec], Vec], t: Any, x: Vec, h: Any, rule: Stages) -> list[Vec]:
    """The sums of the stages of an explicit rule: a loop over the stages, with loops over the numbers of each."""
    n, s, m = len(x), len(rule.c), len(rule.sums)
    with Recorder("stages") as r:
        start, th = r.input("start", n), r.input("th", 2)
        c, A, weights = (
            r.table("c", rule.c), r.table("A", _full(rule.A, s)), r.table("weights", _full(rule.sums, s))
        )  # fmt: skip
        K, X, sums = r.array("K", s * n), r.array("X", n), r.output("sums", m * n)
        for i in r.range(s):
            for part in spans(r, n):
                for e in part:
                    X[e] = 0.0
            for j in r.range(i):
                r.add_scaled(X, 0, (A, i * s + j), K, j * n, n)
            for part in spans(r, n):
                for e in part:
                    X[e] = start[e] + th[1] * X[e]
            rates = rhs(th[0] + c[i] * th[1], Vec([X[e] for e in range(n)]))
            for e, value in enumerate(rates):
                K[i * n + e] = value
        for l in r.range(m):
            for j in r.range(s):
                r.add_scaled(sums, l * n, (weights, l * s + j), K, j * n, n)
    found = r.call([*x, t, h])
    return [Vec(found[l * n : (l + 1) * n]) for l in range(m)]


def _full(rows: Sequence[Mapping[int, float]], width: int) -> list[float]:
    return [float(row.get(j, 0.0)) for row in rows for j in range(width)]


def unless_valid(symbol: Symbol, valid: Any, values: Vec, again: Callable[[], Vec]) -> Vec:
    """The values, or those of a routine that runs only for states (lanes) where they are not valid."""
    with Recorder("unless_valid") as r:
        kept, invalid, go = r.both("values", len(values)), r.input("invalid", 1), r.array("go", 1)
        for _ in r.repeat(invalid.cell(0), go.cell(0)):
            for i, value in enumerate(again()):
                kept[i] = value
    return Vec(r.call([*values, where(valid, 0.0, 1.0)]))


UNITS = (0.0, 1.0, -1.0)
"""Numbers that fold, where a shared function lets them."""


def call_shared(symbol: Symbol, shared: SharedFunction, arguments: Sequence[Vec]) -> Vec:
    """The result of a shared function: a routine, recorded when it is first asked for in a trace.

    One that uses nothing of the trace but its arguments serves all later traces: the kernels of a run share it.
    """
    top, lengths = outermost(), tuple(map(len, arguments))
    every = [x for argument in arguments for x in argument]
    known = tuple(_unit(x) if shared.folds else None for x in every)
    found = shared.recorded.get((lengths, known))
    if found is None or found[0] not in (ANY_TRACE, top.serial):
        routine, given, results = _recorded(shared, top, lengths, known)
        found = top.serial if given else ANY_TRACE, routine, given, results
        shared.recorded[lengths, known] = found
    _, routine, given, results = found
    builder = current()
    asked = [x for x, value in zip(every, known, strict=True) if value is None]
    nodes = builder.call(routine, [number_node(builder, x) for x in (*asked, *given)])  # type: ignore[misc]
    node = iter(nodes)
    return Vec([Symbol(builder, next(node)) if value is None else value for value in results])


def _unit(x: Any) -> float | None:
    """The value of a number that is known and folds; None of all others."""
    value = x.builder.constants.get(x.node) if isinstance(x, Symbol) else x
    return float(value) if isinstance(value, float) and value in UNITS else None


def _recorded(
    shared: SharedFunction, top: Builder, lengths: Sequence[int], known: Sequence[float | None]
) -> tuple[Routine, list[Symbol], list[float | None]]:
    """A routine, the symbols that it takes from around it, and of each result its value, where that is known."""
    with Recorder(shared.name, top) as r:
        values, arguments = iter(known), []
        for i, n in enumerate(lengths):
            own = [next(values) for _ in range(n)]
            given = [k for k, value in enumerate(own) if value is None]
            memory = r.input(f"x{i}", len(given)) if given else ()
            loaded = {k: memory[j] for j, k in enumerate(given)}
            arguments.append(Vec([loaded.get(k, value) for k, value in enumerate(own)]))
        found = shared.function(*arguments)
        results = [_unit(x) if shared.folds else None for x in found]
        open_ = [x for x, value in zip(found, results, strict=True) if value is None]
        out = r.output("y", len(open_))
        for k, value in enumerate(open_):
            out[k] = value
    return r.finished(shared=not r.captured, busy=shared.busy), [Symbol(top, node) for node in r.captured], results


def call_recorded(symbol: Symbol, recorded: RecordedFunction, arguments: Sequence[Vec]) -> Any:
    """The result of a recorded function: its graph, traced by itself when first asked for, written out here."""
    lengths = tuple(map(len, arguments))
    names = [f"x{k}" for k in range(len(lengths))]
    if lengths not in recorded.recorded:
        shapes = {name: (n,) for name, n in zip(names, lengths, strict=True)}
        recorded.recorded[lengths] = trace(lambda **x: recorded.function(*(x[name] for name in names)), **shapes)
    return replay(recorded.recorded[lengths], **dict(zip(names, arguments, strict=True)))


class _Inner(Builder):
    """A trace inside another one, whose symbols it takes as further inputs."""

    def __init__(self, name: str, outer: Builder) -> None:
        super().__init__(name)
        self.outer = outer
        self.given: dict[int, int] = {}

    def capture(self, symbol: Symbol) -> int:
        """A symbol of the trace around this one."""
        if symbol.node in symbol.builder.constants:
            return self.constant(symbol.builder.constants[symbol.node])
        outside = symbol.node if symbol.builder is self.outer else self.outer.capture(symbol)
        if outside not in self.given:
            self.given[outside] = self.input(f"given[{len(self.given)}]")
        return self.given[outside]


def jacobian(symbol: Symbol, function: Callable[[Vec], Vec], x: Vec) -> tuple[Vec, Vec]:
    """The value of a function and its derivative, row by row."""
    outer = current()
    inner = _Inner(getattr(function, "__name__", "function"), outer)
    nodes = [inner.input(label) for label in labels("x", (len(x),))]
    with scope(inner):
        found = [number_node(inner, y) for y in function(Vec([Symbol(inner, k) for k in nodes]))]
    own, given = Port("x", (len(nodes),), tuple(nodes)), tuple(inner.given.values())
    inputs = [own, Port("given", (len(given),), given)]
    outputs = [Port("y", (len(found),), tuple(found))]  # type: ignore[arg-type]
    graph = Graph.pruned(inner.name, inputs, outputs, inner.nodes, {"y": 0})
    with stage("differentiate"):
        slopes = jacobian_graph(graph, wrt="x", values=True)
    result = replay(slopes, x=x, given=Vec([Symbol(outer, k) for k in inner.given]))
    return result["y"], result["d_y_d_x"]


for method in (loops, iterate, staged, unless_valid, call_shared, call_recorded, jacobian):
    setattr(Symbol, method.__name__, method)
