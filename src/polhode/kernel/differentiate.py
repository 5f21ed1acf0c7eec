"""Derivatives of a graph, as graphs: forward with tangents, in reverse with adjoints.

Both sweeps are loops over the same edges, from an operand to its operation with the partial
derivative between them. What a node carries is sparse: a zero known from the structure costs nothing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from polhode.errors import CompileError, InputError, UnknownNameError, message
from polhode.kernel.graph import Graph, Node, Port, labels
from polhode.kernel.operations import OPERATIONS, STRUCTURED
from polhode.kernel.routine import Block, Routine, Statement, Switch
from polhode.kernel.trace import BooleanSymbol, Builder, Symbol, scope

MODES = ("auto", "forward", "reverse")
Names = str | Iterable[str] | None
Slopes = dict[int, int]
"""Derivatives of a node (or by it) that are not zero: the direction, and the node of the derivative."""


def jacobian(graph: Graph, of: Names = None, wrt: Names = None, mode: str = "auto", values: bool = False) -> Graph:
    """The graph of all partial derivatives ∂y/∂x, as one output "d_y_d_x" for each pair of ports.

    of      names of outputs y, all by default
    wrt     names of inputs x, all by default
    mode    "forward", "reverse", or "auto" for the one with less work
    values  whether the outputs of `graph` come too, before the derivatives
    ->      a graph of the same inputs; d_y_d_x (*shape of y, *shape of x); a dict of arrays by name
    """
    where = f"jacobian of {graph.name}"
    outputs, inputs = _chosen(where, "output", graph.outputs, of), _chosen(where, "input", graph.inputs, wrt)
    if mode not in MODES:
        raise UnknownNameError(message(where, "unknown mode", repr(mode), ", ".join(MODES)))
    paths = _Paths.between(graph, inputs, outputs)
    calls = any(node.op == "call" for node in graph.nodes)
    forward = calls or paths.forward <= paths.reverse if mode == "auto" else mode == "forward"
    copy = _Copy(graph, paths, [])
    if forward:
        tangents = copy.tangents({k: {k: copy.one} for port in inputs for k in port.nodes})
        entry = lambda y, x: tangents[y].get(x, copy.zero)  # noqa: E731
    else:
        adjoints = copy.adjoints({k: {k: copy.one} for port in outputs for k in port.nodes})
        entry = lambda y, x: adjoints[x].get(y, copy.zero)  # noqa: E731
    slopes = [
        Port(f"d_{y.name}_d_{x.name}", y.shape + x.shape, tuple(entry(*pair) for pair in product(y.nodes, x.nodes)))
        for y, x in product(outputs, inputs)
    ]
    return copy.graph("jacobian", slopes, values)


def pushforward(graph: Graph, wrt: Names = None, suffix: str = "_dot", values: bool = False) -> Graph:
    """The graph of the derivatives of all outputs along a direction: ẏ = ∂y/∂x ẋ.

    wrt     names of inputs x that change, all by default; "x_dot" is a further input for each
    suffix  another than "_dot", for a second direction
    values  whether the outputs of `graph` come too, before the derivatives
    ->      an output "y_dot" for each output y
    """
    inputs = _chosen(f"pushforward of {graph.name}", "input", graph.inputs, wrt)
    copy = _Copy(graph, _Paths.between(graph, inputs, graph.outputs, apart=False), _renamed(inputs, suffix))
    tangents = copy.tangents({k: {0: seed} for k, seed in _pairs(inputs, copy.extra)})
    slopes = [y._replace(nodes=tuple(tangents[k].get(0, copy.zero) for k in y.nodes)) for y in graph.outputs]
    return copy.graph("pushforward", _renamed(slopes, suffix), values)


def pullback(graph: Graph, of: Names = None, suffix: str = "_bar", values: bool = False, wrt: Names = None) -> Graph:
    """The graph of the derivatives by inputs of a weighted sum of outputs: x̄ᵀ = ȳᵀ ∂y/∂x.

    of      names of outputs y in the sum, all by default; "y_bar" is a further input for each, its weights
    suffix  another than "_bar", for a second sum
    values  whether the outputs of `graph` come too, before the derivatives
    wrt     names of inputs x, all by default
    ->      an output "x_bar" for each input x
    """
    outputs = _chosen(f"pullback of {graph.name}", "output", graph.outputs, of)
    inputs = _chosen(f"pullback of {graph.name}", "input", graph.inputs, wrt)
    copy = _Copy(graph, _Paths.between(graph, inputs, outputs, apart=False), _renamed(outputs, suffix))
    seeds: dict[int, Slopes] = {}
    for k, seed in _pairs(outputs, copy.extra):
        seeds[k] = {0: copy.builder.apply("add", seeds[k][0], seed) if k in seeds else seed}
    adjoints = copy.adjoints(seeds)
    slopes = [x._replace(nodes=tuple(adjoints[k].get(0, copy.zero) for k in x.nodes)) for x in inputs]
    return copy.graph("pullback", _renamed(slopes, suffix), values)


def sparsity(graph: Graph, of: Names = None, wrt: Names = None) -> dict[str, np.ndarray]:
    """Which partial derivatives the structure allows to differ from zero: arrays like those of `jacobian`, of bool."""
    where = f"sparsity of {graph.name}"
    outputs, inputs = _chosen(where, "output", graph.outputs, of), _chosen(where, "input", graph.inputs, wrt)
    sources = _Paths.between(graph, inputs, outputs).sources
    found = {}
    for y, x in product(outputs, inputs):
        allowed = [bool(sources[k] >> i & 1) for k, i in product(y.nodes, x.nodes)]
        found[f"d_{y.name}_d_{x.name}"] = np.array(allowed, dtype=bool).reshape(y.shape + x.shape)
    return found


def _chosen(where: str, kind: str, ports: Sequence[Port], names: Names) -> list[Port]:
    """The ports of these names, or all of them."""
    known = {port.name: port for port in ports}
    names = [names] if isinstance(names, str) else known if names is None else list(names)
    for name in names:
        if name not in known:
            raise UnknownNameError(message(where, f"no {kind} of this name", repr(name), ", ".join(known) or "none"))
    return [known[name] for name in names]


def _renamed(ports: Iterable[Port], suffix: str) -> list[Port]:
    return [port._replace(name=port.name + suffix) for port in ports]


def _pairs(ports: Iterable[Port], others: Iterable[Port]) -> Iterator[tuple[int, int]]:
    """The components of ports beside those of others of the same shapes."""
    for port, other in zip(ports, others, strict=True):
        yield from zip(port.nodes, other.nodes, strict=True)


class _Paths(NamedTuple):
    """Which inputs a node depends on, and which outputs depend on it: sets of integers, one bit for each."""

    sources: list[int]
    targets: list[int]
    operands: list[tuple[int, ...]]
    """The operands of each node that are numbers, if it is a number itself."""

    @classmethod
    def between(cls, graph: Graph, inputs: Sequence[Port], outputs: Sequence[Port], apart: bool = True) -> "_Paths":
        """The paths from inputs to outputs. All inputs are one, and all outputs, if not kept apart."""
        conditions = [node.is_condition for node in graph.nodes]
        operands = [
            () if condition else tuple([a for a in node.args if not conditions[a]])
            for node, condition in zip(graph.nodes, conditions, strict=True)
        ]
        sources, targets = [0] * len(operands), [0] * len(operands)
        for k in {k for port in inputs for k in port.nodes}:
            sources[k] = 1 << k * apart
        for j, k in enumerate({k for port in outputs for k in port.nodes}):
            targets[k] = 1 << j * apart
        for k, args in enumerate(operands):
            for a in args:
                sources[k] |= sources[a]
        for k in reversed(range(len(operands))):
            for a in operands[k]:
                targets[a] |= targets[k]
        return cls(sources, targets, operands)

    @property
    def forward(self) -> int:
        """The number of products in a forward sweep, for all inputs."""
        return sum(self.sources[a].bit_count() for k, args in enumerate(self.operands) if self.targets[k] for a in args)

    @property
    def reverse(self) -> int:
        """The number of products in a reverse sweep, for all outputs."""
        return sum(self.targets[k].bit_count() for k, args in enumerate(self.operands) for a in args if self.sources[a])


_pushed: WeakKeyDictionary[Routine, Routine] = WeakKeyDictionary()
_pulled: WeakKeyDictionary[Routine, Routine] = WeakKeyDictionary()


def tangents_of(builder: Builder, routine: Routine, arguments: list[int], slopes: list[int]) -> list[int]:
    """The nodes of the derivatives of a routine's results along one direction."""
    if routine.rule:
        symbols = [Symbol(builder, k) for k in (*arguments, *slopes, *builder.call(routine, arguments))]
        n = len(arguments)
        with scope(builder):
            found = routine.rule(symbols[:n], symbols[n : 2 * n], symbols[2 * n :])
        return [builder.constant(x) if isinstance(x, float) else x.node for x in found]
    if routine not in _pushed:
        _pushed[routine] = pushed(routine)
    return builder.call(_pushed[routine], [*arguments, *slopes])


def pushed(routine: Routine) -> Routine:
    """The routine of the derivatives of its results along a direction: each array with its tangents beside it."""
    dot = f"_dot{routine.name.count('_dot') + 1}"  # another than that of a derivative already taken
    dotted = lambda ports: tuple((name + dot, n) for name, n in ports)  # noqa: E731
    beside = lambda cell: cell._replace(array=cell.array + dot)  # noqa: E731

    def of_body(body: Sequence[Statement]) -> tuple[Statement, ...]:
        return tuple(map(of_statement, body))

    def of_statement(statement: Statement) -> Statement:
        if isinstance(statement, Block):
            return of_block(statement)
        if isinstance(statement, Switch):
            return statement._replace(cases=tuple((n, of_body(case)) for n, case in statement.cases))
        return statement._replace(body=of_body(statement.body))

    def of_block(block: Block) -> Block:
        x, *tables = block.graph.inputs
        graph = pushforward(block.graph, wrt="x", values=True)
        whole = Port("x", (2 * len(x.nodes),), x.nodes + graph.inputs[-1].nodes)
        results = [k for port in graph.outputs for k in port.nodes]
        graph = replace(
            graph, inputs=(whole, *tables), outputs=(Port("y", (len(results),), tuple(results)),), structure=0
        )
        dots = [beside(block.loads[k]) for k in x.nodes]
        return Block(graph, (*block.loads, *dots), (*block.stores, *map(beside, block.stores)))

    arrays = dict(routine.arrays) | dict(dotted(routine.arrays.items()))
    return replace(
        routine,
        name=routine.name + dot,
        inputs=(*routine.inputs, *dotted(routine.inputs)),
        outputs=dotted(routine.outputs),
        arrays=arrays,
        body=of_body(routine.body),
    )


def adjoints_of(builder: Builder, routine: Routine, arguments: list[int], weights: list[int]) -> list[int]:
    """The nodes of the derivatives by a routine's arguments of the weighted sum of its results."""
    if routine not in _pulled:
        _pulled[routine] = pulled(routine)
    return builder.call(_pulled[routine], [*arguments, *weights])


def pulled(routine: Routine) -> Routine:
    """The routine of the derivatives by its arguments of the weighted sum of its results, if it is one block."""
    both = {name for name, _ in routine.inputs} & {name for name, _ in routine.outputs}
    if len(routine.body) != 1 or not isinstance(routine.body[0], Block) or both:
        where, fix = f"reverse derivative of {routine.name}", "Use mode='forward', or pushforward."
        raise CompileError(message(where, "no way back through a loop", "a routine", "operations alone", fix))
    block, bar = routine.body[0], f"_bar{routine.name.count('_bar') + 1}"
    barred = lambda ports: tuple((name + bar, n) for name, n in ports)  # noqa: E731
    beside = lambda cell: cell._replace(array=cell.array + bar)  # noqa: E731
    x, *tables = block.graph.inputs
    graph = pullback(block.graph, wrt="x")
    whole = Port("x", (len(x.nodes) + len(block.stores),), x.nodes + graph.inputs[-1].nodes)
    graph = replace(graph, inputs=(whole, *tables), outputs=(graph.outputs[0]._replace(name="y"),), structure=0)
    loads = (*block.loads, *map(beside, block.stores))
    return replace(
        routine,
        name=routine.name + bar,
        inputs=(*routine.inputs, *barred(routine.outputs)),
        outputs=barred(routine.inputs),
        arrays=dict(routine.arrays) | dict(barred(routine.arrays.items())),
        body=(Block(graph, loads, tuple(beside(block.loads[k]) for k in x.nodes)),),
        rule=None,
    )


class _Copy:
    """A graph, copied to where its derivatives are added.

    A *guard* is the node of a condition under which a term counts. Where it does not hold the term may
    be infinite or undefined, so it is left out by a choice; a product with zero would keep it.
    """

    def __init__(self, graph: Graph, paths: _Paths, extra: list[Port]) -> None:
        self.source, self.builder = graph, Builder(graph.name)
        builder = self.builder
        self.place = [builder.input(str(node.value)) for node in graph.nodes if node.op == "input"]
        self.extra = [p._replace(nodes=tuple(map(builder.input, labels(p.name, p.shape)))) for p in extra]
        self.zero, self.one, self.always = builder.constant(0.0), builder.constant(1.0), builder.constant(True)
        self.edges: list[list[tuple[int, int, int]]] = [[] for _ in graph.nodes]  # operand, guard, factor
        self.live = [bool(s and t) for s, t in zip(paths.sources, paths.targets, strict=True)]
        self.pushed: list[list[int]] = []  # tangents of the results of calls, one list for each direction
        self._parts: dict[int, tuple[int, int]] = {}  # a guard that is "this one, and this condition"
        for k, (op, args, value) in enumerate(graph.nodes[len(self.place) :], len(self.place)):
            node = builder.copied(op, [self.place[a] for a in args], value)
            self.place.append(node)
            derivative = OPERATIONS[op].derivative if op in OPERATIONS else None
            if derivative and paths.targets[k] and paths.sources[k]:
                kinds = [BooleanSymbol if graph.nodes[a].is_condition else Symbol for a in args]
                symbols = [kind(builder, self.place[a]) for kind, a in zip(kinds, args, strict=True)]
                partials = zip(paths.operands[k], derivative(Symbol(builder, node), *symbols), strict=True)
                self.edges[k] = [(a, *self._edge(partial)) for a, partial in partials if paths.sources[a]]

    def _edge(self, partial: Any) -> tuple[int, int]:
        """The guard and the factor of a partial derivative."""
        if isinstance(partial, BooleanSymbol):
            return self._narrowed(self.always, partial.node), self.one
        return self.always, partial.node if isinstance(partial, Symbol) else self.builder.constant(partial)

    def tangents(self, seeds: dict[int, Slopes]) -> list[Slopes]:
        """Derivatives of every node along the directions of the seeds, which are given at inputs."""
        found = [seeds.get(k, {}) for k in range(len(self.place))]
        for k, edges in enumerate(self.edges):
            terms: dict[int, dict[int, int]] = {}
            for a, guard, factor in edges:
                for i, slope in found[a].items():
                    self._add(terms.setdefault(i, {}), guard, self.builder.apply("mul", slope, factor))
            if edges:
                found[k] = self._totals(terms)
            elif self.source.nodes[k].op in STRUCTURED:
                found[k] = self._through(self.source.nodes[k], found)
        return found

    def _through(self, node: Node, found: list[Slopes]) -> Slopes:
        """Tangents of a routine's results: its own rule, or those of all its steps; a part takes its own."""
        if node.op == "part":
            parts = {i: self.pushed[call][node.value] for i, call in found[node.args[0]].items()}
            return {i: slope for i, slope in parts.items() if slope != self.zero}
        arguments, tangents = [self.place[a] for a in node.args], dict[int, int]()
        for i in dict.fromkeys(i for a in node.args for i in found[a]):
            slopes = [found[a].get(i, self.zero) for a in node.args]
            tangents[i] = len(self.pushed)
            self.pushed.append(tangents_of(self.builder, node.value, arguments, slopes))
        return tangents

    def adjoints(self, seeds: dict[int, Slopes]) -> list[Slopes]:
        """Derivatives by every input of the sums whose weights are the seeds, which are given at outputs."""
        terms: list[dict[int, dict[int, int]]] = [{} for _ in self.place]
        for k, slopes in seeds.items():
            terms[k] = {j: {self.always: seed} for j, seed in slopes.items()}
        for k in reversed(range(len(self.place))):
            for j, parts in terms[k].items() if self.edges[k] else ():
                outer, slope = self._joined(parts)
                for a, guard, factor in self.edges[k]:
                    inner = outer if guard == self.always else self._narrowed(outer, guard)
                    self._add(terms[a].setdefault(j, {}), inner, self.builder.apply("mul", slope, factor))
            if self.edges[k]:
                terms[k] = {}
            elif self.source.nodes[k].op == "call" and self.live[k]:
                self._back_through(k, terms)
        return [self._totals(of_node) for of_node in terms]

    def _back_through(self, k: int, terms: list[dict[int, dict[int, int]]]) -> None:
        """Hand the adjoints of a routine's results on to its arguments."""
        node, apply = self.source.nodes[k], self.builder.apply
        parts = {p: n.value for p, n in enumerate(self.source.nodes[k:], k) if n.op == "part" and n.args == (k,)}
        for j in dict.fromkeys(j for p in parts for j in terms[p]):
            weights, guard = [self.zero] * sum(n for _, n in node.value.outputs), None
            for p, place in parts.items():
                if j in terms[p]:
                    own, slope = self._joined(terms[p][j])
                    weights[place] = self._where_held(own, slope)
                    guard = own if guard is None else apply("or", guard, own)
            assert guard is not None
            found = adjoints_of(self.builder, node.value, [self.place[a] for a in node.args], weights)
            for a, slope in zip(node.args, found, strict=True):
                if self.live[a]:
                    self._add(terms[a].setdefault(j, {}), guard, slope)

    def _narrowed(self, guard: int, condition: int) -> int:
        """The guard that holds where a guard and a condition do."""
        both = self.builder.apply("and", guard, condition)
        if both != guard:
            self._parts.setdefault(both, (guard, condition))
        return both

    def _add(self, terms: dict[int, int], guard: int, term: int) -> None:
        if term != self.zero:
            terms[guard] = self.builder.apply("add", terms[guard], term) if guard in terms else term

    def _joined(self, terms: dict[int, int]) -> tuple[int, int]:
        """Terms by their guards as one term, with the guard of it."""
        apply, pending = self.builder.apply, [*terms] if len(terms) > 1 else []
        while pending:  # two branches of one choice
            guard = pending.pop()
            outer, condition = self._parts.get(guard, (guard, self.always))
            other = apply("and", outer, apply("not", condition))
            if guard in terms and other in terms:
                self._add(terms, outer, apply("select", condition, terms.pop(guard), terms.pop(other)))
                pending.append(outer)
        if not terms:
            return self.always, self.zero
        (guard, total), *rest = terms.items()
        for other, term in rest:
            total = apply("add", self._where_held(guard, total), self._where_held(other, term))
            guard = apply("or", guard, other)
        return guard, total

    def _where_held(self, guard: int, term: int) -> int:
        return self.builder.apply("select", guard, term, self.zero)

    def _totals(self, terms: dict[int, dict[int, int]]) -> Slopes:
        found = {i: self._where_held(*self._joined(parts)) for i, parts in terms.items()}
        return {i: slope for i, slope in found.items() if slope != self.zero}

    def graph(self, kind: str, slopes: Sequence[Port], values: bool) -> Graph:
        """The graph of these derivatives."""
        name = f"{kind} of {self.source.name}"
        copied = [y._replace(nodes=tuple(self.place[k] for k in y.nodes)) for y in self.source.outputs if values]
        inputs, outputs = [*self.source.inputs, *self.extra], [*copied, *slopes]
        for ports in (inputs, outputs):
            twice = [name for name, count in Counter(port.name for port in ports).items() if count > 1]
            if twice:
                fix = "Choose each port once, and a suffix that no name ends with yet."
                raise InputError(message(name, "two ports of one name", ", ".join(twice), "different names", fix))
        return Graph.pruned(name, inputs, outputs, self.builder.nodes, {p.name: n for n, p in enumerate(outputs)})
