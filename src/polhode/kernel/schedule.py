"""From a graph as traced to one as machines run it: products and sums fused, operations in a good order.

Fusing is a choice made here, in the graph, so that every target and every lane width rounds alike.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from weakref import WeakKeyDictionary

from polhode.kernel.graph import Graph
from polhode.kernel.operations import cost
from polhode.kernel.routine import Routine

_routines: WeakKeyDictionary[Routine, Routine] = WeakKeyDictionary()


def _fused_routine(routine: Routine) -> Routine:
    """A routine with all its graphs fused; the same one each time."""
    if routine not in _routines:
        _routines[routine] = routine.mapped(fused)
    return _routines[routine]


def fused(graph: Graph, apart: Sequence[bool] = ()) -> Graph:
    """The same graph with a·b + c as one operation wherever the product serves that sum alone.

        a·b + c → fma(a, b, c),  a·b − c → fma(a, b, −c),  c − a·b → fma(−a, b, c)

    The result is rounded once instead of twice; its meaning is the same.

    apart  for each node whether it is computed apart from the others: its product is not fused into a sum that is not
    """
    before = graph.nodes
    uses = [0] * len(before)
    for _, args, _ in before:
        for a in args:
            uses[a] += 1
    for port in graph.outputs:
        for k in port.nodes:
            uses[k] += 1
    nodes: list[tuple] = []
    place: list[int] = []
    negated: dict[int, int] = {}

    def add(op: str, args: tuple[int, ...], value: object = None) -> int:
        nodes.append((op, args, value))
        return len(nodes) - 1

    def negative(k: int) -> int:
        if k not in negated:
            negated[k] = add("neg", (k,))
        return negated[k]

    def product(k: int, into: int) -> tuple[int, ...]:
        op, args, _ = before[k]
        return args if op == "mul" and uses[k] == 1 and not (apart and apart[k] and not apart[into]) else ()

    for here, (op, args, value) in enumerate(before):
        moved = tuple([place[a] for a in args])
        value = _fused_routine(value) if op == "call" else value
        if op in ("add", "sub"):
            left, right = product(args[0], here), product(args[1], here)
            if left:
                a, b = place[left[0]], place[left[1]]
                place.append(add("fma", (a, b, moved[1] if op == "add" else negative(moved[1]))))
                continue
            if right:
                a, b = place[right[0]], place[right[1]]
                place.append(add("fma", (a if op == "add" else negative(a), b, moved[0])))
                continue
        place.append(add(op, moved, value))
        if op == "neg":
            negated[moved[0]] = place[-1]
    ports = [[p._replace(nodes=tuple(place[k] for k in p.nodes)) for p in x] for x in (graph.inputs, graph.outputs)]
    return replace(Graph.pruned(graph.name, ports[0], ports[1], nodes, graph.structure), notes=graph.notes)


PART = 700
"""Operations of one part of a divided graph, and values that it takes from others.

Small parts compile faster, large ones pass fewer values through memory, and beyond a few hundred operations a function
is out of registers anyway. Derivatives of inverse dynamics of `quadruped` (7900 operations, 8 lanes): parts of 200
compile in 1.4 s and run in 1.7 µs a state, of 700 in 1.8 s and 1.6 µs, of 2000 in 2.3 s and 2.7 µs, whole in 2.9 s
and 2.8 µs.
"""


MANY = 16
"""Results that have places of their own, so that they are copied in one piece: fewer are copied one by one."""


@dataclass(frozen=True)
class Division:
    """A graph in parts that run one after the other and share memory: slots, one number each."""

    parts: tuple[tuple[int, ...], ...]
    """The nodes of each part, in order; inputs and constants belong to none."""
    slot: Mapping[int, int]
    """Where values lie that another part or a result needs; first all inputs, then (`MANY`) all results, in order.

    A value that is several results lies in the place of the first; an input or a constant in its own.
    """
    slots: int
    given: Mapping[int, int]
    """Where the arguments of calls for one state (`Routine.one_state`) lie, one after the other: they are computed into
    these slots, but for those that have another."""
    found: Mapping[int, int]
    """Where their results lie, for those calls whose results are results of the graph, in the same order."""


def divided(graph: Graph, size: int = PART) -> Division:
    """A graph cut into parts of about equal weight; a slot serves several values, one after the other.

    It is found once: functions of all lane widths, and all kernels that share a routine, take the same.
    """
    known = vars(graph).setdefault("divisions", {})  # kept as a `cached_property` is: hashing the graph would take long
    if size not in known:
        known[size] = _divided(graph, size)
    return known[size]


def _divided(graph: Graph, size: int) -> Division:
    parts = _cut(graph, size)
    last = dict.fromkeys((k for port in graph.outputs for k in port.nodes), len(parts))
    for p in reversed(range(len(parts))):
        for k in parts[p]:
            for a in graph.nodes[k].args:
                last.setdefault(a, p)
    inputs = [k for k, node in enumerate(graph.nodes) if node.op == "input"]
    slot = dict(zip(inputs, count(), strict=False))
    results = [k for port in graph.outputs for k in port.nodes]
    results = results if len(results) >= MANY else []
    for place, k in enumerate(results, len(inputs)):
        if graph.nodes[k].args:
            slot.setdefault(k, place)
    taken = len(inputs) + len(results)
    given, fresh = _given(graph, slot, taken)
    found = _found(graph, given, slot, range(len(inputs), taken))
    free: list[int] = []
    ending: list[list[int]] = [[] for _ in range(len(parts) + 1)]
    for p, part in enumerate(parts):
        for k in part:
            if last.get(k, p) > p and k not in slot:
                slot[k] = free.pop() if free else next(fresh)
                ending[last[k]].append(slot[k])
        free += ending[p]
    for k in last:
        if last[k] == len(parts) and k not in slot:  # a constant that is a result
            slot[k] = next(fresh)
    return Division(parts, slot, next(fresh), given, found)


def _given(graph: Graph, slot: dict[int, int], first: int) -> tuple[dict[int, int], "count[int]"]:
    """For each call for one state where its arguments begin, which get their slots; and the slots after these."""
    given = {}
    for k, node in enumerate(graph.nodes):
        if node.op == "call" and node.value.one_state:
            given[k] = first
            for place, a in enumerate(node.args, first):
                if graph.nodes[a].args:
                    slot.setdefault(a, place)
            first += len(node.args)
    return given, count(first)


def _found(graph: Graph, calls: Collection[int], slot: Mapping[int, int], results: range) -> dict[int, int]:
    """For each call whose results all lie in order among those of the graph, where they begin."""
    starts: dict[int, set[int]] = {k: set() for k in calls}
    for k, node in enumerate(graph.nodes):
        if node.op == "part" and node.args[0] in starts:
            starts[node.args[0]].add(slot.get(k, -1) - node.value)
    found = {}
    for k, at in starts.items():
        first, length = min(at, default=-1), sum(n for _, n in graph.nodes[k].value.outputs)
        if len(at) == 1 and first in results and first + length <= results.stop:
            found[k] = first
    return found


REGISTERS = 28
"""Values that a processor keeps at hand, of its 32 registers."""

MATRICES = 100
MORE_LOADS = 1.06
"""Results that a graph must have at least, and how many times as many values it may take from memory, to be computed
one result after the other: the ways between values are shorter then. Derivatives take 0.9 to 1.05 times as many and get
5 to 25 % faster (`arm-7`, `quadruped`); other matrices take 1.3 to 2.6 times as many and would get slower (Γ, M), and
so would steps of runs (those of `stewart-platform` by 15 %)."""


def ordered(graph: Graph) -> list[int]:
    """The nodes in the order in which they are computed: as traced, or one result after the other."""
    traced = list(range(len(graph.nodes)))
    if sum(len(port.nodes) for port in graph.outputs) < MATRICES:
        return traced
    by_results, most = _by_results(graph), MORE_LOADS * _loads(graph, traced)
    return by_results if _loads(graph, by_results, most) < most else traced


def _loads(graph: Graph, order: Sequence[int], most: float = inf) -> int:
    """How often a value is taken from memory where the last ones used are at hand; counted up to `most`."""
    known, loads, nodes = dict[int, None](), 0, graph.nodes
    for k in order:
        args = nodes[k][1]
        if not args:
            continue
        for a in args:
            if a in known:
                del known[a]
            elif nodes[a][0] != "constant":
                loads += 1
            known[a] = None
        known[k] = None
        while len(known) > REGISTERS:
            del known[next(iter(known))]
        if loads >= most:
            break
    return loads


def _by_results(graph: Graph) -> list[int]:
    """The nodes, one result after the other: what each still needs, what takes the longest way first."""
    depth: list[int] = []
    for _, args, _ in graph.nodes:
        depth.append(1 + max([depth[a] for a in args]) if args else 1)
    found, nodes = dict[int, None](), graph.nodes
    for port in graph.outputs:
        for result in port.nodes:
            waiting = [result]
            while waiting:
                k = waiting[-1]
                needed = [] if k in found else [a for a in nodes[k][1] if a not in found]
                if needed:
                    waiting += sorted(needed, key=depth.__getitem__) if len(needed) > 1 else needed
                else:
                    found.setdefault(waiting.pop())
    return list(found)


def _cut(graph: Graph, size: int) -> tuple[tuple[int, ...], ...]:
    """The nodes in their order, cut; the results of a routine stay with its call."""
    results: dict[int, list[int]] = {}
    for k, node in enumerate(graph.nodes):
        if node.op == "part":
            results.setdefault(node.args[0], []).append(k)
    parts: list[list[int]] = [[]]
    room, here = size, set[int]()
    for k in ordered(graph):
        op, args, _ = graph.nodes[k]
        if not args or op == "part":
            continue
        if room <= 0:
            parts.append([])
            room, here = size, set()
        room -= cost(op) + len({*args} - here)
        here.update(args)
        if op == "call":
            own = [k, *results.get(k, ())]
            parts[-1] += own
            room -= len(own) - 1
            here.update(own)
        else:
            parts[-1].append(k)
            here.add(k)
    return tuple(map(tuple, parts))
