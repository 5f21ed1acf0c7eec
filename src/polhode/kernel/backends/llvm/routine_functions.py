"""Routine → LLVM IR: a function of memory in and memory out, for one state or for a row of lanes.

Every cell of an array holds one number per lane. Lanes run together: where a `While` has ended for some of
them, what they hold is kept. Only indices that come from cells may differ from lane to lane.
"""

from collections.abc import Mapping, Sequence

from polhode.kernel.backends.llvm import parts
from polhode.kernel.backends.llvm.function_text import FunctionText, constant
from polhode.kernel.routine import (
    Block,
    Cell,
    For,
    Index,
    Lookup,
    Routine,
    Statement,
    Switch,
    Variable,
    While,
    routines,
)

TOGETHER = 8
"""Passes of a loop that code for one state does at once, where they know nothing of each other: the doubles of a row of
AVX-512; with AVX2, two rows."""

ABREAST = 4
"""Lanes of code for one state that does all passes of a short loop at once, where they call routines: the three stages
of an implicit step. Each pass is a lane of the routines; a fourth does what the third does. With 4, accelerations of
three stages of a slider-crank take 0.5 of the time of one after the other (AVX-512)."""

STACK = 2**18
"""Bytes of arrays that a routine takes from the stack; beyond it asks for memory."""

Value = tuple[str, bool]
"""A whole number: its name, and whether it differs from lane to lane."""


def declarations(width: int) -> list[str]:
    """The declarations of LLVM and of the C library that routines need, for a number of lanes."""
    real, whole, suffix, wholes = (
        ("double", "i64", "f64", "i64")
        if width == 1
        else (f"<{width} x double>", f"<{width} x i64>", f"v{width}f64", f"v{width}i64")
    )
    found = [f"declare {whole} @llvm.fptosi.sat.{wholes}.{suffix}({real})"]
    if width > 1:
        pointers, truth = f"<{width} x ptr>", f"<{width} x i1>"
        at = f"{suffix}.v{width}p0"
        found.append(f"declare {real} @llvm.masked.gather.{at}({pointers}, i32, {truth}, {real})")
        found.append(f"declare void @llvm.masked.scatter.{at}({real}, {pointers}, i32, {truth})")
    else:
        found += ["declare ptr @aligned_alloc(i64, i64)", "declare void @free(ptr)"]
        found.append("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        found.append("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    return found


def table_text(routine: Routine, name: str) -> str:
    """The tables of a routine, as constants."""
    lines = [f"; tables of {routine!r}"]
    for table, values in routine.tables.items():
        numbers = ", ".join(f"double {constant(x)}" for x in values)
        lines.append(f"@{name}_{table} = internal constant [{len(values)} x double] [{numbers}], align 64")
    for table, wholes in routine.whole.items():
        numbers = ", ".join(f"i64 {x}" for x in wholes)
        lines.append(f"@{name}_{table} = internal constant [{len(wholes)} x i64] [{numbers}], align 64")
    return "\n".join(lines)


def _stride(index: Index, variable: str) -> int | None:
    """How far apart the places of two passes of a loop are; None where they are in no row."""
    stride = 0
    for factor, term in index.terms:
        if isinstance(term, Variable):
            stride += factor * (term.name == variable)
        elif isinstance(term, Cell) or term.variable == variable:
            return None
    return stride


def _is_in_rows(loop: For) -> bool:
    """Whether a group of passes reads rows of numbers, or one number for all, and writes rows."""
    blocks = [statement for statement in loop.body if isinstance(statement, Block)]
    return len(blocks) == len(loop.body) and all(
        all(_stride(cell.at, loop.variable) in (0, 1) for cell in block.loads)
        and all(_stride(cell.at, loop.variable) == 1 for cell in block.stores)
        for block in blocks
    )


def _calls(loop: For) -> list[Routine]:
    """The routines that blocks of a loop call, with those that these call."""
    return [x for block in loop.body if isinstance(block, Block) for x in routines(block.graph)]


def _passes(loop: For) -> int:
    """The number of passes of a loop; 0 where it depends on variables."""
    return 0 if loop.first.terms or loop.last.terms else loop.last.offset - loop.first.offset


def _first_lanes(count: int, width: int) -> str:
    """The mask of the first lanes of a row."""
    return f"<{', '.join(f'i1 {str(k < count).lower()}' for k in range(width))}>"


def _is_abreast(loop: For) -> bool:
    """Whether all passes of a loop of rows are done at once, by routines of as many lanes."""
    return loop.together and 1 < _passes(loop) <= ABREAST and _is_in_rows(loop) and bool(_calls(loop))


def called_abreast(routine: Routine) -> list[Routine]:
    """The routines that code of a routine for one state calls with a lane for each pass of a loop."""
    found: dict[Routine, None] = {}
    bodies = [routine.body]
    while bodies:
        for statement in bodies.pop():
            if isinstance(statement, For) and _is_abreast(statement):
                found.update(dict.fromkeys(_calls(statement)))
            elif isinstance(statement, Switch):
                bodies += [case for _, case in statement.cases]
            elif not isinstance(statement, Block):
                bodies.append(statement.body)
    return list(found)


class RoutineText:
    """The text of one routine under construction."""

    def __init__(self, routine: Routine, name: str, body: FunctionText) -> None:
        self.routine, self.name, self.body = routine, name, body
        self.W, self.real, self.bytes = body.width, body.real, 8 * body.width
        self.variables: dict[str, str] = {}
        self.active = ""  # the lanes that still run; "" for all
        self.start: list[str] = []
        self.heap: list[str] = []
        self.labels = 0

    def text(self) -> str:
        """The whole function."""
        self._memory()
        self.do(self.routine.body)
        body = self.body
        given = ", ".join(["ptr noalias %in", *(f"ptr noalias %a_{name}" for name, _ in self.routine.outputs)])
        head = f"define internal void @{self.name}_{self.W}({given}) noinline alignstack(64) {{"
        free = [f"  call void @free(ptr {array})" for array in self.heap]
        return "\n".join([head, "entry:", *body.scratch, *self.start, *body.lines, *free, "  ret void", "}"])

    def _memory(self) -> None:
        """Names for the arrays: results have theirs, arguments lie in %in, all else in memory of its own, at zero."""
        routine, at = self.routine, 0
        given, wanted = dict(routine.inputs), dict(routine.outputs)
        own = sum(n for name, n in routine.arrays.items() if name not in given and name not in wanted)
        taken, heap = 0, len(self.start)
        for name, n in routine.inputs:
            target = f"%a_{name}" if name not in wanted else f"%from_{name}"
            self.start.append(f"  {target} = getelementptr {self.real}, ptr %in, i64 {at}")
            at += n
        for name, n in routine.arrays.items():
            size = n * self.bytes
            if name in given and name in wanted:
                self.start.append(
                    f"  call void @llvm.memcpy.p0.p0.i64(ptr %a_{name}, ptr %from_{name}, i64 {size}, i1 false)"
                )
                continue
            if name in given:
                continue
            if name not in wanted:
                if own * self.bytes > STACK:
                    self.start.append(f"  %a_{name} = getelementptr i8, ptr %heap, i64 {taken}")
                    taken += -(-size // 64) * 64
                else:
                    self.body.scratch.append(f"  %a_{name} = alloca [{max(n, 1)} x {self.real}], align 64")
            if name not in routine.unset:
                self.start.append(f"  call void @llvm.memset.p0.i64(ptr %a_{name}, i8 0, i64 {size}, i1 false)")
        if taken:
            self.start.insert(heap, f"  %heap = call ptr @aligned_alloc(i64 64, i64 {taken})")
            self.heap.append("%heap")

    # places

    def index(self, index: Index) -> Value:
        """The value of an index."""
        put, total, varies = self.body.put, str(index.offset), False
        for stride, term in index.terms:
            value, lanes = self._term(term)
            if lanes and not varies:
                total, varies = self._all(total), True
            elif varies and not lanes:
                value = self._all(value)
            kind, factor = (self.body.whole, self._constant(stride)) if varies else ("i64", str(stride))
            if stride != 1:
                value = put(f"mul {kind} {value}, {factor}")
            total = value if total == "0" else put(f"add {kind} {total}, {value}")
        return total, varies

    def _constant(self, number: int) -> str:
        return self.body.all_lanes(str(number), "i64")

    def _all(self, value: str) -> str:
        """One whole number in every lane."""
        if not value.startswith("%"):
            return self.body.all_lanes(value, "i64")
        whole, put = self.body.whole, self.body.put
        one = put(f"insertelement {whole} poison, i64 {value}, i32 0")
        return put(f"shufflevector {whole} {one}, {whole} poison, <{self.W} x i32> zeroinitializer")

    def _term(self, term: Variable | Lookup | Cell) -> Value:
        put = self.body.put
        if isinstance(term, Variable):
            return self.variables[term.name], False
        if isinstance(term, Lookup):
            place = put(f"getelementptr i64, ptr @{self.name}_{term.table}, i64 {self.variables[term.variable]}")
            return put(f"load i64, ptr {place}, align 8"), False
        wholes = "i64" if self.W == 1 else f"v{self.W}i64"
        number = self.load(term)
        call = f"call {self.body.whole} @llvm.fptosi.sat.{wholes}.{self.body.suffix}({self.real} {number})"
        return put(call), self.W > 1

    def _address(self, cell: Cell) -> Value:
        """The address of a cell; for lanes that differ, a row of addresses."""
        put, (index, varies) = self.body.put, self.index(cell.at)
        if not varies:
            return put(f"getelementptr {self.real}, ptr %a_{cell.array}, i64 {index}"), False
        whole = self.body.whole
        lanes = "<" + ", ".join(f"i64 {k}" for k in range(self.W)) + ">"
        index = put(f"add {whole} {put(f'mul {whole} {index}, {self._constant(self.W)}')}, {lanes}")
        return put(f"getelementptr double, ptr %a_{cell.array}, {whole} {index}"), True

    def load(self, cell: Cell) -> str:
        """The value of a cell."""
        put = self.body.put
        place, varies = self._address(cell)
        if not varies:
            return put(f"load {self.real}, ptr {place}, align {self.bytes}")
        return self._gathered(place)

    def _table(self, cell: Cell) -> str:
        """An entry of a table: the same in every lane, unless the index differs."""
        put, (index, varies) = self.body.put, self.index(cell.at)
        table = f"ptr @{self.name}_{cell.array}"
        if varies:
            return self._gathered(put(f"getelementptr double, {table}, {self.body.whole} {index}"))
        value = put(f"load double, ptr {put(f'getelementptr double, {table}, i64 {index}')}, align 8")
        if self.W == 1:
            return value
        one = put(f"insertelement {self.real} poison, double {value}, i32 0")
        return put(f"shufflevector {self.real} {one}, {self.real} poison, <{self.W} x i32> zeroinitializer")

    def _gathered(self, places: str) -> str:
        """The numbers at a row of addresses."""
        every = f"{self.body.truth} {self.body.all_lanes('true', 'i1')}"
        given = f"<{self.W} x ptr> {places}, i32 8, {every}, {self.real} zeroinitializer"
        return self.body.put(f"call {self.real} @llvm.masked.gather.{self.body.suffix}.v{self.W}p0({given})")

    def _store(self, address: Value, value: str) -> None:
        place, varies = address
        lines, truth = self.body.lines, self.body.truth
        if varies:
            mask = self.active or self.body.all_lanes("true", "i1")
            at, pointers = f"{self.body.suffix}.v{self.W}p0", f"<{self.W} x ptr> {place}"
            lines.append(
                f"  call void @llvm.masked.scatter.{at}({self.real} {value}, {pointers}, i32 8, {truth} {mask})"
            )
            return
        if self.active:
            old = self.body.put(f"load {self.real}, ptr {place}, align {self.bytes}")
            value = self.body.put(f"select {truth} {self.active}, {self.real} {value}, {self.real} {old}")
        lines.append(f"  store {self.real} {value}, ptr {place}, align {self.bytes}")

    # statements

    def do(self, body: Sequence[Statement]) -> None:
        """The text of statements, one after the other."""
        for statement in body:
            if isinstance(statement, Block):
                self._block(statement)
            elif isinstance(statement, For):
                self._for(statement)
            elif isinstance(statement, While):
                self._while(statement)
            else:
                self._switch(statement)

    def _block(self, block: Block) -> None:
        self.body.sincos.clear()
        tables, graph = self.routine.tables, block.graph
        values = {
            k: self._table(cell) if cell.array in tables else self.load(cell) for k, cell in enumerate(block.loads)
        }
        parts.compute(self.body, graph, values)
        places = [self._address(cell) for cell in block.stores]
        for place, k in zip(places, (k for port in graph.outputs for k in port.nodes), strict=True):
            self._store(place, values[k])

    def _new_labels(self, *names: str) -> list[str]:
        self.labels += 1
        return [f"{name}.{self.labels}" for name in names]

    def _for(self, loop: For) -> None:
        if self.W == 1 and _is_abreast(loop):
            self._abreast(loop)
            return
        if loop.together and self.W == 1 and _is_in_rows(loop) and not _calls(loop):
            self._together(loop)
            return
        (first, _), (last, _) = self.index(loop.first), self.index(loop.last)
        if loop.down:
            self._counting(loop, self.body.put(f"sub i64 {last}, 1"), f"sge i64 %s, {first}", -1)
        else:
            self._counting(loop, first, f"slt i64 %s, {last}", 1)

    def _counting(self, loop: For, start: str, going: str, step: int) -> None:
        """Passes while a condition of the variable (%s) holds, one number at a time or a group of lanes."""
        body, (head, inside, done) = self.body, self._new_labels("for", "each", "done")
        variable = self.variables[loop.variable] = body.name()
        before = body.block
        body.lines.append(f"  br label %{head}")
        body.label(head)
        joint = len(body.lines)
        body.lines.append("")  # where the variable comes from, known at the end
        more = body.put(f"icmp {going.replace('%s', variable)}")
        body.lines.append(f"  br i1 {more}, label %{inside}, label %{done}")
        body.label(inside)
        if abs(step) == 1:
            self.do(loop.body)
        else:
            self._rows(loop)
        following = body.put(f"add i64 {variable}, {step}")
        body.lines[joint] = f"  {variable} = phi i64 [ {start}, %{before} ], [ {following}, %{body.block} ]"
        body.lines.append(f"  br label %{head}")
        body.label(done)

    def _together(self, loop: For) -> None:
        """Passes in groups of `TOGETHER`, each a lane; what is left over in one more, under a mask."""
        if 0 < _passes(loop) < TOGETHER:
            self.variables[loop.variable] = str(loop.first.offset)
            self._rows(loop, _first_lanes(_passes(loop), TOGETHER))
            return
        body, (rest, end) = self.body, self._new_labels("rest", "end")
        (first, _), (last, _) = self.index(loop.first), self.index(loop.last)
        count = body.put(f"sub i64 {last}, {first}")
        whole = body.put(f"add i64 {first}, {body.put(f'and i64 {count}, {-TOGETHER}')}")
        self._counting(loop, first, f"slt i64 %s, {whole}", TOGETHER)
        left = body.put(f"sub i64 {last}, {whole}")
        some = body.put(f"icmp sgt i64 {left}, 0")
        body.lines.append(f"  br i1 {some}, label %{rest}, label %{end}")
        body.label(rest)
        self.variables[loop.variable] = whole
        numbers = ", ".join(f"i64 {k}" for k in range(TOGETHER))
        mask = body.put(f"icmp slt <{TOGETHER} x i64> <{numbers}>, {self._spread(left, 'i64')}")
        self._rows(loop, mask)
        body.lines.append(f"  br label %{end}")
        body.label(end)

    def _abreast(self, loop: For) -> None:
        """All passes of a short loop, each a lane; lanes that are left do what the last pass does."""
        count = _passes(loop)
        self.variables[loop.variable] = str(loop.first.offset)
        self._rows(loop, _first_lanes(count, ABREAST), ABREAST, [min(k, count - 1) for k in range(ABREAST)])

    def _spread(self, value: str, kind: str, width: int = TOGETHER) -> str:
        """One number for all passes of a group."""
        row, put = f"<{width} x {kind}>", self.body.put
        one = put(f"insertelement {row} poison, {kind} {value}, i32 0")
        return put(f"shufflevector {row} {one}, {row} poison, <{width} x i32> zeroinitializer")

    def _rows(self, loop: For, mask: str = "", width: int = TOGETHER, filled: Sequence[int] = ()) -> None:
        """The blocks of a loop for a group of passes.

        mask    for which of them
        filled  of which lane each gets what was read, where not of its own
        """
        body, row = self.body, f"<{width} x double>"
        at, truth = f"v{width}f64.p0", f"<{width} x i1> {mask}"
        for block in loop.body:
            assert isinstance(block, Block)
            values = {}
            for k, cell in enumerate(block.loads):
                known = cell.array in self.routine.tables
                if not _stride(cell.at, loop.variable):
                    values[k] = self._spread(self._table(cell) if known else self.load(cell), "double", width)
                    continue
                array = f"@{self.name}_{cell.array}" if known else f"%a_{cell.array}"
                place = body.put(f"getelementptr double, ptr {array}, i64 {self.index(cell.at)[0]}")
                given = f"(ptr {place}, i32 8, {truth}, {row} zeroinitializer)"
                values[k] = body.put(
                    f"call {row} @llvm.masked.load.{at}{given}" if mask else f"load {row}, ptr {place}, align 8"
                )
                if filled:
                    lanes = ", ".join(f"i32 {lane}" for lane in filled)
                    values[k] = body.put(f"shufflevector {row} {values[k]}, {row} poison, <{width} x i32> <{lanes}>")
            with body.widened(width) as wide:
                parts.compute(wide, block.graph, values)
            places = [
                body.put(f"getelementptr double, ptr %a_{cell.array}, i64 {self.index(cell.at)[0]}")
                for cell in block.stores
            ]
            for place, k in zip(places, (k for port in block.graph.outputs for k in port.nodes), strict=True):
                if mask:
                    body.lines.append(
                        f"  call void @llvm.masked.store.{at}({row} {values[k]}, ptr {place}, i32 8, {truth})"
                    )
                else:
                    body.lines.append(f"  store {row} {values[k]}, ptr {place}, align 8")

    def _while(self, loop: While) -> None:
        body, W, truth = self.body, self.W, self.body.truth
        head, inside, done = self._new_labels("while", "again", "ended")
        limit, varies = self.index(loop.limit)
        outer, before, count, active = self.active, body.block, body.name(), body.name()
        everyone = outer or body.all_lanes("true", "i1")
        body.lines.append(f"  br label %{head}")
        body.label(head)
        joint = len(body.lines)
        body.lines += ["", ""]
        if W == 1:
            more = body.put(f"icmp slt i64 {count}, {limit}")
            going = body.put(f"and i1 {more}, {active}")
        else:
            counts, limits = self._all(count), limit if varies else self._all(limit)
            within = body.put(f"icmp slt {body.whole} {counts}, {limits}")
            self.active = body.put(f"and {truth} {active}, {within}")
            bits = body.put(f"bitcast {truth} {self.active} to i{W}")
            going = body.put(f"icmp ne i{W} {bits}, 0")
        body.lines.append(f"  br i1 {going}, label %{inside}, label %{done}")
        body.label(inside)
        self.do(loop.body)
        go = body.put(f"fcmp une {self.real} {self.load(loop.go)}, {body.real_constant(0.0)}")
        still = body.put(f"and {truth} {self.active}, {go}") if W > 1 else go
        following = body.put(f"add i64 {count}, 1")
        body.lines[joint] = f"  {count} = phi i64 [ 0, %{before} ], [ {following}, %{body.block} ]"
        body.lines[joint + 1] = f"  {active} = phi {truth} [ {everyone}, %{before} ], [ {still}, %{body.block} ]"
        body.lines.append(f"  br label %{head}")
        body.label(done)
        self.active = outer

    def _switch(self, choice: Switch) -> None:
        body = self.body
        (done,) = self._new_labels("chosen")
        value, _ = self._term(choice.of)
        labels = [self._new_labels("case")[0] for _ in choice.cases]
        cases = " ".join(f"i64 {n}, label %{at}" for (n, _), at in zip(choice.cases, labels, strict=True))
        body.lines.append(f"  switch i64 {value}, label %{done} [ {cases} ]")
        for (_, case), label in zip(choice.cases, labels, strict=True):
            body.label(label)
            self.do(case)
            body.lines.append(f"  br label %{done}")
        body.label(done)


def declaration(routine: Routine, name: str) -> str:
    """The declaration of the function of a routine that another module has."""
    return f"declare void @{name}({', '.join(['ptr'] * (1 + len(routine.outputs)))})"


def routine_text(routine: Routine, names: Mapping[Routine, str], body: FunctionText) -> str:
    """The function `name_width` of a routine."""
    return RoutineText(routine, names[routine], body).text()
