"""A large graph → LLVM IR in parts: functions of a few hundred operations that share memory.

LLVM needs more than proportional time for a long function, and is out of registers in it anyway. A slot of the
memory holds one number per lane.
"""

from collections.abc import Callable, Mapping, Sequence

from polhode.kernel.backends.llvm.function_text import MANY_ANGLES, FunctionText, angles
from polhode.kernel.backends.llvm.streamed_rows import has_lines, stream_rows
from polhode.kernel.graph import Graph, Node, Port
from polhode.kernel.routine import Routine
from polhode.kernel.schedule import Division, divided

MOST_OPERATIONS = 1500
MOST_RESULTS = 400
"""A graph with more is compiled in parts: two at least (`schedule.PART`). At 1600 operations, the derivatives of
`arm-6`, either costs the same."""

STRIDE = 8
"""Numbers of one row that one turn of a loop copies, for one state."""


def is_large(graph: Graph) -> bool:
    """Whether a graph is better compiled in parts."""
    return graph.weight > MOST_OPERATIONS or sum(len(port.nodes) for port in graph.outputs) > MOST_RESULTS


def goes_past(graph: Graph, width: int) -> bool:
    """Whether a kernel for so many lanes can write results past the caches: its last argument, %past, says when."""
    by_memory = is_one_call(graph) or is_large(graph)
    return by_memory and any(has_lines(len(port.nodes), width) for port in graph.outputs)


def compute(body: FunctionText, graph: Graph, values: dict[int, str]) -> None:
    """All results of a graph from the values of its inputs; those of a large one by calls of its parts."""
    if not is_large(graph):
        body.compute(graph, values)
        return
    memory = _Memory(body, divided(graph))
    for port in graph.inputs:
        for k in port.nodes:
            memory.store(k, values[k])
    memory.run(graph)
    for port in graph.outputs:
        for k in port.nodes:
            values[k] = memory.load(k)


def kernel(body: FunctionText, graph: Graph) -> None:
    """The body of a kernel: rows to memory, the parts, memory to rows."""
    memory = _Memory(body, divided(graph))
    for i, port in enumerate(graph.inputs):
        memory.fill(port, f"%p{i}", f"%s{i}")
    memory.run(graph)
    first = sum(len(port.nodes) for port in graph.inputs)
    for i, port in enumerate(graph.outputs, len(graph.inputs)):
        memory.empty(port, f"%p{i}", f"%s{i}", first, goes_past(graph, body.width))
        first += len(port.nodes)


class _Memory:
    """The slots of a divided graph, in a function under construction."""

    def __init__(self, body: FunctionText, division: Division, at: str = "") -> None:
        self.body, self.division, self.align = body, division, 8 * body.width
        self.at = at or f"%slots{len(body.scratch)}"
        if not at:
            body.scratch.append(f"  {self.at} = alloca [{max(division.slots, 1)} x {body.real}], align 64")

    def _place(self, slot: int | str, base: str = "") -> str:
        kind = self.body.real
        return self.body.put(f"getelementptr {kind}, ptr {base or self.at}, i64 {slot}")

    def load(self, k: int, truth: bool = False) -> str:
        """The value of a node; a condition lies there as 1 or 0."""
        body, real = self.body, self.body.real
        body.count += 2  # two instructions at once: there is none that texts have more of
        place, value = f"%{body.count - 1}", f"%{body.count}"
        body.lines.append(
            f"  {place} = getelementptr {real}, ptr {self.at}, i64 {self.division.slot[k]}\n"
            f"  {value} = load {real}, ptr {place}, align {self.align}"
        )
        return body.put(f"fcmp une {body.real} {value}, {body.real_constant(0.0)}") if truth else value

    def store(self, k: int, value: str, truth: bool = False) -> None:
        """Put the value of a node in its slot."""
        body = self.body
        if truth:
            one, zero = body.real_constant(1.0), body.real_constant(0.0)
            value = body.put(f"select {body.truth} {value}, {body.real} {one}, {body.real} {zero}")
        place = self._place(self.division.slot[k])
        body.lines.append(f"  store {body.real} {value}, ptr {place}, align {self.align}")

    def elsewhere(self, k: int, args: Sequence[int]) -> list[int]:
        """The arguments of a call for one state that do not lie in its slots."""
        first = self.division.given[k]
        return [a for place, a in enumerate(args, first) if self.division.slot.get(a) != place]

    def call(self, k: int, node: Node, values: Mapping[int, str]) -> str:
        """A call for one state: its arguments in its slots; the value is where its results lie."""
        body, first = self.body, self.division.given[k]
        for place, a in enumerate(node.args, first):
            if self.division.slot.get(a) != place:
                body.lines.append(f"  store {body.real} {values[a]}, ptr {self._place(place)}, align {self.align}")
        if k in self.division.found:
            found = self._place(self.division.found[k])
        else:
            found = f"%found{len(body.scratch)}"
            results = sum(n for _, n in node.value.outputs)
            body.scratch.append(f"  {found} = alloca [{results} x {body.real}], align 64")
        body.run(node.value, self._place(first), body.places(node.value, found))
        return found

    def run(self, graph: Graph) -> None:
        """Call the parts, whose text joins the functions of the body; then put constants that are results."""
        body, calls_sines = self.body, len(angles(graph.nodes)) > MANY_ANGLES
        for part in self.division.parts:
            name = f"{body.title}_part{len(body.functions)}"
            inner = FunctionText(body.width, body.routines, name, body.fast, calls_sines, body.table)
            body.functions.append(_part_text(inner, graph, self.division, part))
            body.lines.append(f"  call void @{name}(ptr {self.at})")
        for k in sorted(self.division.slot):
            if graph.nodes[k].op == "constant":
                self.store(k, body.literal(graph.nodes[k].value), graph.nodes[k].is_condition)

    def fill(self, port: Port, at: str, stride: str) -> None:
        """Put the components of an argument in their slots, which follow one another."""
        body, m, W = self.body, len(port.nodes), self.body.width
        if not m:
            return
        first = self._place(self.division.slot[port.nodes[0]])
        if W == 1:
            body.lines.append(f"  call void @llvm.memcpy.p0.p0.i64(ptr {first}, ptr {at}, i64 {8 * m}, i1 false)")
            return
        if port.uniform:
            self._spread(m, at, first)
            return
        rows = [body.row(at, stride, lane, 0) for lane in range(W)]
        ahead = body.put(f"mul i64 {stride}, {W}")

        def block(k: str, size: int) -> None:
            places = [body.put(f"getelementptr double, ptr {row}, i64 {k}") for row in rows]
            self._prefetch(places, ahead, 0)
            columns = body.transposed([body.load_row(place, size) for place in places])[:size]
            base = self._place(k, first)
            for j, column in enumerate(columns):
                body.lines.append(f"  store {body.real} {column}, ptr {self._place(j, base)}, align {self.align}")

        _blocks(body, m, W, block)

    def _spread(self, m: int, at: str, first: str) -> None:
        """Put m numbers that all states share in their slots, from the first on."""
        body = self.body

        def block(k: str, size: int) -> None:
            for j in range(size):
                n = body.put(f"add i64 {k}, {j}")
                place = self._place(n, first)
                body.lines.append(f"  store {body.real} {body.uniform(at, n)}, ptr {place}, align {self.align}")

        _blocks(body, m, STRIDE, block)

    def _prefetch(self, places: list[str], ahead: str, write: int) -> None:
        """Ask for the same places of the states that come next."""
        for place in places:
            following = self.body.put(f"getelementptr i8, ptr {place}, i64 {ahead}")
            self.body.lines.append(f"  call void @llvm.prefetch.p0(ptr {following}, i32 {write}, i32 3, i32 1)")

    def empty(self, port: Port, at: str, stride: str, first: int, past: bool = False) -> None:
        """Copy the components of a result from their slots, which a table tells, to the rows of its states.

        first  the slot of the first, where they lie in order
        past   whether to do so past the caches where %past says so: rows are dense and aligned then
        """
        body, m, W = self.body, len(port.nodes), self.body.width
        if not m:
            return
        slots = [self.division.slot[k] for k in port.nodes]
        elsewhere = [j for j, slot in enumerate(slots) if slot != first + j]
        if W == 1 and len(elsewhere) <= m // 2:
            body.lines.append(
                f"  call void @llvm.memcpy.p0.p0.i64(ptr {at}, ptr {self._place(first)}, i64 {8 * m}, i1 false)"
            )
            for j in elsewhere:
                body.store_row(body.put(f"getelementptr double, ptr {at}, i64 {j}"), self.load(port.nodes[j]), 1)
            return
        table = f"@{body.title}_slots{len(body.functions)}"
        if elsewhere:
            body.functions.append(f"{table} = internal constant [{m} x i32] [{', '.join(f'i32 {x}' for x in slots)}]")

        def columns(k: str, size: int) -> list[str]:
            found = []
            for j in range(size):
                n = body.put(f"add i64 {k}, {j}")
                if elsewhere:
                    entry = body.put(f"load i32, ptr {body.put(f'getelementptr i32, ptr {table}, i64 {n}')}, align 4")
                    slot = body.put(f"zext i32 {entry} to i64")
                else:
                    slot = body.put(f"add i64 {n}, {first}")
                found.append(body.put(f"load {body.real}, ptr {self._place(slot)}, align {self.align}"))
            return found

        def states(k: str, size: int) -> list[str]:
            found = columns(k, size)
            return body.transposed(found + [found[-1]] * (W - size))

        if past and has_lines(m, W):
            plain, streamed, after = (f"{word}{body.name()[1:]}" for word in ("plain", "streamed", "stored"))
            body.lines.append(f"  br i1 %past, label %{streamed}, label %{plain}")
            body.label(streamed)
            stream_rows(body, [body.row(at, stride, lane, 0) for lane in range(W)], m, states)
            body.lines.append(f"  br label %{after}")
            body.label(plain)
        rows = [body.row(at, stride, lane, 0) for lane in range(W)]
        ahead = body.put(f"mul i64 {stride}, {W}")

        def block(k: str, size: int) -> None:
            if W == 1:
                start = body.put(f"getelementptr double, ptr {at}, i64 {k}")
                for j, value in enumerate(columns(k, size)):
                    body.store_row(body.put(f"getelementptr double, ptr {start}, i64 {j}"), value, 1)
                return
            places = [body.put(f"getelementptr double, ptr {row}, i64 {k}") for row in rows]
            self._prefetch(places, ahead, 1)
            for place, value in zip(places, states(k, size), strict=True):
                body.store_row(place, value, size)

        _blocks(body, m, W if W > 1 else STRIDE, block)
        if past and has_lines(m, W):
            body.lines.append(f"  br label %{after}")
            body.label(after)


def _part_text(body: FunctionText, graph: Graph, division: Division, part: tuple[int, ...]) -> str:
    """The function of one part: it takes what it needs from the slots and leaves there what others need."""
    memory = _Memory(body, division, "%slots")
    given = {*angles(graph.nodes[k] for k in part)}.difference(part)
    values = {a: memory.load(a) for a in sorted(given) if graph.nodes[a].op != "constant"}
    body.sines_of(sorted(given), values)
    for k in part:
        node = graph.nodes[k]
        if node.op == "part" and node.args[0] in division.found:
            continue  # it lies in its slot
        elsewhere = memory.elsewhere(k, node.args) if k in division.given else node.args
        for a in elsewhere:
            if a not in values:
                other = graph.nodes[a]
                known = other.op == "constant"
                values[a] = body.literal(other.value) if known else memory.load(a, other.is_condition)
        if k in division.given:
            values[k] = memory.call(k, node, values)
            continue
        values[k] = body.operation(node, [values[a] for a in node.args])
        if k in division.slot:
            memory.store(k, values[k], node.is_condition)
    head = f"define internal void @{body.title}(ptr noalias %slots) noinline alignstack(64) {{"
    return "\n".join([head, "entry:", *body.scratch, *body.lines, "  ret void", "}"])


def _blocks(body: FunctionText, count: int, size: int, block: Callable[[str, int], None]) -> None:
    """A loop over whole blocks of components, and what is left: block(first component, how many)."""
    whole = count - count % size
    if whole:
        before, name = body.block, body.name()
        loop, after, following = f"loop{name[1:]}", f"done{name[1:]}", f"%next{name[1:]}"
        body.lines.append(f"  br label %{loop}")
        body.label(loop)
        body.lines.append(f"  {name} = phi i64 [ 0, %{before} ], [ {following}, %{loop} ]")
        block(name, size)
        body.lines.append(f"  {following} = add i64 {name}, {size}")
        more = body.put(f"icmp slt i64 {following}, {whole}")
        body.lines.append(f"  br i1 {more}, label %{loop}, label %{after}")
        body.label(after)
    if count > whole:
        block(str(whole), count - whole)


HEAP = 2**18
"""Bytes of slots above which memory is asked for instead of taken from the stack."""


def is_one_call(graph: Graph) -> bool:
    """Whether a graph is a routine and nothing else: its arguments are the inputs, its results the outputs."""
    calls = [node for node in graph.nodes if node.op == "call"]
    if len(calls) != 1 or any(node.args and node.op not in ("call", "part") for node in graph.nodes):
        return False
    given, inputs = list(calls[0].args), [k for port in graph.inputs for k in port.nodes]
    whole = [k for port in graph.inputs if _uses(port, calls[0].args) for k in port.nodes]
    constants = [k for k in given if graph.nodes[k].op == "constant"]
    results = [k for port in graph.outputs for k in port.nodes]
    ordered = given == whole + constants and len({*given}) == len(given) and len({*inputs}) == len(inputs)
    return ordered and all(graph.nodes[k].op == "part" for k in results)


def _uses(port: Port, given: tuple[int, ...]) -> bool:
    return bool(port.nodes) and port.nodes[0] in given


def _direct(graph: Graph, routine: Routine) -> dict[int, int]:
    """The result arrays of a routine that are a result of the graph each: the number of the one, and of the other."""
    at, found = 0, dict[int, int]()
    numbers = [[graph.nodes[k].value for k in port.nodes] for port in graph.outputs]
    for k, (_, n) in enumerate(routine.outputs):
        whole = list(range(at, at + n))
        if n and numbers.count(whole) == 1:
            found[k] = numbers.index(whole)
        at += n
    return found


def one_call(body: FunctionText, graph: Graph) -> None:
    """The body of a kernel that only runs a routine: rows to its arguments, and its results to rows."""
    call = next(node for node in graph.nodes if node.op == "call")
    count = sum(n for _, n in call.value.outputs)
    slot = {k: i for i, k in enumerate(call.args)}
    slot |= {k: len(call.args) + node.value for k, node in enumerate(graph.nodes) if node.op == "part"}
    division = Division((), slot, len(call.args) + count, {}, {})
    memory = _Memory(body, division)
    large = division.slots * 8 * body.width > HEAP
    if large:
        room = -(-division.slots * 8 * body.width // 64) * 64
        body.scratch[-1] = f"  {memory.at} = call ptr @aligned_alloc(i64 64, i64 {room})"
    for i, port in enumerate(graph.inputs):
        if _uses(port, call.args):
            memory.fill(port, f"%p{i}", f"%s{i}")
    for k in call.args:
        if graph.nodes[k].op == "constant":
            memory.store(k, body.literal(graph.nodes[k].value))
    results = body.put(f"getelementptr {body.real}, ptr {memory.at}, i64 {len(call.args)}")
    places, direct = body.places(call.value, results), dict[int, int]()
    if body.width == 1:
        direct = _direct(graph, call.value)
        places = [f"%p{len(graph.inputs) + direct[k]}" if k in direct else place for k, place in enumerate(places)]
    body.run(call.value, memory.at, places)
    for i, port in enumerate(graph.outputs):
        if i not in direct.values():
            n = len(graph.inputs) + i
            first = slot[port.nodes[0]] if port.nodes else 0
            memory.empty(port, f"%p{n}", f"%s{n}", first, goes_past(graph, body.width))
    if large:
        body.lines.append(f"  call void @free(ptr {memory.at})")
