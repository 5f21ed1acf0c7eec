"""The text of one LLVM function under construction: operations, sine and cosine, rows and lanes.

A lane holds one state. All lane widths do the same operations, so they round alike.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from polhode.kernel.graph import Graph, Node, Port
from polhode.kernel.routine import Routine

SIN_LIMIT = 5e5
"""Largest |x| that sin and cos reduce themselves (three parts of π/2); beyond it the C library is asked."""

PI_PARTS = ("0x3FF921FB54442D18", "0x3C91A62633145C07", "0xB91F1976B7ED8FBC")
"""π/2 as a sum of three doubles."""

SIN = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
       2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
COS = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
       -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip
"""Coefficients on |r| ≤ π/4: sin r = r + r³ P(r²), cos r = 1 − r²/2 + r⁴ Q(r²), as in fdlibm."""

SINES = 4
"""Angles whose sines and cosines are computed together. Together and first, not one by one where they are needed:
inverse dynamics of a Panda puts 71 values aside instead of 227 and takes 84 ns instead of 99; 3 to 8 are alike."""

MANY_ANGLES = 16
"""Angles of a graph in parts above which their sines and cosines are functions that the parts call, `SINES` angles at a
time, and not written out in each. Of the steps of `n-four-bar-40`, 81 angles in each of five routines, that is a
seventh of the text and a third of the fused operations, which LLVM's quick level takes longest for. A call, with memory
for its numbers, adds some nanoseconds to four angles: graphs of few angles, whose single calls are timed, have none."""

LIBRARY = ("tan", "asin", "acos", "exp", "log")
"""Operations that are functions of the C library, called lane by lane."""


def constant(value: float) -> str:
    """A double as LLVM writes it exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def table_of_constants(width: int, table: Iterable[str]) -> str:
    """Constants in memory, all lanes of each.

    LLVM's quick level selects instructions one by one, but for those with a constant in several lanes: from one of them
    on it goes the long way for all that stand before it.
    """
    real = f"<{width} x double>"
    rows = [f"{real} splat (double {value})" for value in table]
    return f"@constants_{width} = internal constant [{len(rows)} x {real}] [{', '.join(rows)}], align 64"


def angles(nodes: Iterable[Node]) -> list[int]:
    """The operands of all sines and cosines."""
    return list(dict.fromkeys(a for node in nodes if node.op in ("sin", "cos") for a in node.args))


class FunctionText:
    """The text of one function under construction, for a number of lanes."""

    def __init__(
        self,
        width: int,
        routines: Mapping[Routine, str] | None = None,
        title: str = "body",
        fast: bool = False,
        calls_sines: bool = False,
        table: dict[str, int] | None = None,
    ) -> None:
        self.width, self.routines, self.title, self.fast = width, routines or {}, title, fast
        self.calls_sines = calls_sines  # whether sines and cosines come from functions of their own (`sines_text`)
        self.table = (
            table  # the places of constants that are read from memory, all lanes of each (`table_of_constants`)
        )
        self.lanes = [str(lane) for lane in range(width)]  # for each the row that it reads and writes
        self.real = "double" if width == 1 else f"<{width} x double>"
        self.truth = "i1" if width == 1 else f"<{width} x i1>"
        self.whole = "i64" if width == 1 else f"<{width} x i64>"
        self.suffix = "f64" if width == 1 else f"v{width}f64"
        self.lines: list[str] = []
        self.block = "entry"
        self.scratch: list[str] = []  # memory of its own, taken at the entry
        self.functions: list[str] = []  # text of what it calls, and of their tables
        self.count = 0
        self.sincos: dict[str, tuple[str, str]] = {}

    @contextmanager
    def widened(self, width: int) -> Iterator["FunctionText"]:
        """The same text under construction, for operations on rows of so many numbers."""
        wide = FunctionText(width, self.routines, self.title, self.fast)
        wide.lines, wide.scratch, wide.functions = self.lines, self.scratch, self.functions
        wide.count, wide.block = self.count, self.block
        yield wide
        self.count, self.block = wide.count, wide.block

    def name(self) -> str:
        """A fresh name for a value: a number. LLVM keeps no table of those, and wants them to grow along the text."""
        self.count += 1
        return f"%{self.count}"

    def put(self, text: str) -> str:
        """One instruction with a result."""
        self.count += 1
        name = f"%{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def all_lanes(self, value: str, kind: str = "double") -> str:
        """A constant in every lane."""
        return value if self.width == 1 else f"splat ({kind} {value})"

    def real_constant(self, value: float) -> str:
        """A double in every lane."""
        if self.table is None or self.width == 1:
            return self.all_lanes(constant(value))
        place = self.table.setdefault(constant(value), len(self.table))
        table = f"getelementptr ({self.real}, ptr @constants_{self.width}, i64 {place})"
        return self.put(f"load {self.real}, ptr {table}, align {8 * self.width}")

    def negative(self, x: str) -> str:
        """−x; LLVM's quick level knows −0.0 − x alone where there are several lanes."""
        if self.table is None or self.width == 1:
            return self.put(f"fneg {self.real} {x}")
        return self.binary("fsub", self.real_constant(-0.0), x)

    def literal(self, value: float | bool) -> str:
        """A constant of the graph in every lane."""
        truth = isinstance(value, bool)
        return self.all_lanes(str(value).lower(), "i1") if truth else self.real_constant(value)

    def intrinsic(self, function: str, *args: str) -> str:
        """A function that LLVM knows, on numbers."""
        given = ", ".join(f"{self.real} {a}" for a in args)
        return self.put(f"call {self.real} @llvm.{function}.{self.suffix}({given})")

    def fma(self, a: str, b: str, c: str) -> str:
        """a·b + c, rounded once."""
        return self.intrinsic("fma", a, b, c)

    def binary(self, op: str, a: str, b: str) -> str:
        """fadd, fsub, fmul, fdiv."""
        return self.put(f"{op} {self.real} {a}, {b}")

    def loose(self, op: str, a: str, b: str) -> str:
        """fadd, fsub, fmul; reassociated and contracted where that is asked for."""
        return self.binary(f"{op} reassoc nsz contract" if self.fast else op, a, b)

    def label(self, block: str) -> None:
        """Begin a block."""
        self.lines.append(f"{block}:")
        self.block = block

    def lane_by_lane(self, function: str, args: Sequence[str]) -> str:
        """A function of the C library in every lane."""
        if self.width == 1:
            return self.put(f"call double @{function}({', '.join(f'double {a}' for a in args)})")
        result = "poison"
        for lane in range(self.width):
            parts = [self.put(f"extractelement {self.real} {a}, i32 {lane}") for a in args]
            value = self.put(f"call double @{function}({', '.join(f'double {p}' for p in parts)})")
            result = self.put(f"insertelement {self.real} {result}, double {value}, i32 {lane}")
        return result

    def sine_cosine(self, x: str) -> tuple[str, str]:
        """sin x and cos x: Cody and Waite's reduction, fdlibm's polynomials, the C library for huge x."""
        if x not in self.sincos:
            self.sines_cosines([x])
        return self.sincos[x]

    def sines_cosines(self, numbers: Sequence[str]) -> None:
        """sin x and cos x of several numbers, with one question for all whether any is huge."""
        if self.calls_sines:
            self.sincos |= zip(numbers, self._called_sines(numbers), strict=True)
            return
        fast = [self._reduced(x) for x in numbers]
        huge = [self._is_huge(x) for x in numbers]
        some = huge[0]
        for more in huge[1:]:
            some = self.put(f"or {self.truth} {some}, {more}")
        if self.width > 1:
            bits = self.put(f"bitcast {self.truth} {some} to i{self.width}")
            some = self.put(f"icmp ne i{self.width} {bits}, 0")
        before, slow, after = self.block, f"huge{self.count}", f"on{self.count}"
        self.lines.append(f"  br i1 {some}, label %{slow}, label %{after}, !prof !0")
        self.label(slow)
        asked = [
            self.put(f"select {self.truth} {mask}, {self.real} {found}, {self.real} {quick}")
            for x, mask, pair in zip(numbers, huge, fast, strict=True)
            for found, quick in zip(self._asked(x), pair, strict=True)
        ]
        self.lines.append(f"  br label %{after}")
        self.label(after)
        found = [
            self.put(f"phi {self.real} [ {quick}, %{before} ], [ {slowly}, %{slow} ]")
            for quick, slowly in zip((value for pair in fast for value in pair), asked, strict=True)
        ]
        self.sincos |= zip(numbers, zip(found[::2], found[1::2], strict=True), strict=True)

    def _called_sines(self, numbers: Sequence[str]) -> list[tuple[str, str]]:
        """sin x and cos x of several numbers from a function of its own, by memory."""
        memory, n, align = f"%sines{self.width}", len(numbers), 8 * self.width
        taken = f"  {memory} = alloca [{3 * SINES} x {self.real}], align 64"
        self.scratch += [] if taken in self.scratch else [taken]
        for k, x in enumerate(numbers):
            place = self.put(f"getelementptr {self.real}, ptr {memory}, i64 {k}")
            self.lines.append(f"  store {self.real} {x}, ptr {place}, align {align}")
        self.lines.append(f"  call void @sines{n}_{self.width}(ptr {memory})")
        found = [self.part(memory, k) for k in range(n, 3 * n)]
        return [*zip(found[::2], found[1::2], strict=True)]

    def _is_huge(self, x: str) -> str:
        """Where the C library must be asked; NaN included."""
        return self.put(f"fcmp ugt {self.real} {self.intrinsic('fabs', x)}, {self.real_constant(SIN_LIMIT)}")

    def _asked(self, x: str) -> list[str]:
        """sin x and cos x from the C library, by a function of its own: it is almost never called."""
        memory = [f"%huge{self.width}.{x}" for x in ("x", "sin", "cos")]
        taken = [f"  {place} = alloca {self.real}, align 64" for place in memory]
        self.scratch += [] if taken[0] in self.scratch else taken
        self.lines.append(f"  store {self.real} {x}, ptr {memory[0]}, align 64")
        given = ", ".join(f"ptr {place}" for place in memory)
        self.lines.append(f"  call void @huge_{self.width}({given})")
        return [self.put(f"load {self.real}, ptr {place}, align 64") for place in memory[1:]]

    def _reduced(self, x: str) -> tuple[str, str]:
        shift = self.real_constant(6755399441055744.0)  # 1.5·2⁵²: adding it rounds to a whole number
        shifted = self.fma(x, self.real_constant(0.63661977236758134308), shift)
        n = self.put(f"fneg {self.real} {self.binary('fsub', shifted, shift)}")
        r = x
        for part in PI_PARTS:
            r = self.fma(n, self.all_lanes(part), r)
        z = self.binary("fmul", r, r)
        s, c = self.real_constant(SIN[-1]), self.real_constant(COS[-1])
        for a, b in zip(SIN[-2::-1], COS[-2::-1], strict=True):
            s, c = self.fma(s, z, self.real_constant(a)), self.fma(c, z, self.real_constant(b))
        sine = self.fma(self.binary("fmul", z, r), s, r)
        half = self.binary("fmul", z, self.real_constant(0.5))
        w = self.binary("fsub", self.real_constant(1.0), half)
        rest = self.binary("fsub", self.binary("fsub", self.real_constant(1.0), w), half)
        cosine = self.binary("fadd", w, self.fma(self.binary("fmul", z, z), c, rest))
        quadrant = self.put(f"bitcast {self.real} {shifted} to {self.whole}")
        return self._turned(quadrant, sine, cosine, 0), self._turned(quadrant, sine, cosine, 1)

    def _turned(self, quadrant: str, sine: str, cosine: str, ahead: int) -> str:
        """The sine of the quadrant, or (one quadrant ahead) the cosine."""
        number = lambda value: self.all_lanes(str(value), "i64")  # noqa: E731
        if ahead:
            quadrant = self.put(f"add {self.whole} {quadrant}, {number(1)}")
        odd = self.put(f"trunc {self.whole} {quadrant} to {self.truth}")
        value = self.put(f"select {self.truth} {odd}, {self.real} {cosine}, {self.real} {sine}")
        second = self.put(f"and {self.whole} {quadrant}, {number(2)}")
        sign = self.put(f"shl {self.whole} {second}, {number(62)}")
        bits = self.put(f"bitcast {self.real} {value} to {self.whole}")
        return self.put(f"bitcast {self.whole} {self.put(f'xor {self.whole} {bits}, {sign}')} to {self.real}")

    def compute(self, graph: Graph, values: dict[int, str]) -> None:
        """All nodes of a graph from the values of its inputs, one instruction after the other; sines of inputs first.

        Around the call of the C library, which is almost never made, values leave their registers: here they are few.
        """
        self.sines_of(angles(graph.nodes), values)
        for k, node in enumerate(graph.nodes):
            if node.op == "constant":
                values[k] = self.literal(node.value)
            elif node.op != "input":
                values[k] = self.operation(node, [values[a] for a in node.args])

    def sines_of(self, nodes: Iterable[int], values: Mapping[int, str]) -> None:
        """The sines and cosines of those of these nodes whose values are known, several at a time."""
        known = [x for x in dict.fromkeys(values[k] for k in nodes if k in values) if x not in self.sincos]
        for first in range(0, len(known), SINES):
            self.sines_cosines(known[first : first + SINES])

    def call(self, routine: Routine, args: list[str]) -> str:
        """Run a routine: arguments and results pass through memory; the value is where the results lie."""
        count = len(self.scratch)
        given, found = f"%given{count}", f"%found{count}"
        results = sum(n for _, n in routine.outputs)
        for memory, n in ((given, len(args)), (found, results)):
            self.scratch.append(f"  {memory} = alloca [{n} x {self.real}], align 64")
        for k, value in enumerate(args):
            place = self.put(f"getelementptr {self.real}, ptr {given}, i64 {k}")
            self.lines.append(f"  store {self.real} {value}, ptr {place}, align {8 * self.width}")
        self.run(routine, given, self.places(routine, found))
        return found

    def places(self, routine: Routine, found: str) -> list[str]:
        """Where each result array of a routine lies in memory that holds them all."""
        at, places = 0, []
        for _, n in routine.outputs:
            places.append(self.put(f"getelementptr {self.real}, ptr {found}, i64 {at}"))
            at += n
        return places

    def run(self, routine: Routine, given: str, places: Sequence[str]) -> None:
        """Run a routine: arguments from memory, each result array to its place."""
        pointers = ", ".join(f"ptr {place}" for place in (given, *places))
        self.lines.append(f"  call void @{self.routines[routine]}_{self.width}({pointers})")

    def part(self, found: str, k: int) -> str:
        """One result of a routine."""
        place = self.put(f"getelementptr {self.real}, ptr {found}, i64 {k}")
        return self.put(f"load {self.real}, ptr {place}, align {8 * self.width}")

    def operation(self, node: Node, args: list[str]) -> str:
        """One node of the graph."""
        op = node.op
        if op == "call":
            return self.call(node.value, args)
        if op == "part":
            return self.part(args[0], node.value)
        return TEXT[op](self, *args)

    def transposed(self, rows: list[str]) -> list[str]:
        """Rows of a width × width block as its columns: log₂(width) stages of exchanges."""
        W, d = self.width, 1
        while d < W:
            for i in (i for i in range(W) if not i & d):
                low = [j if not j & d else W + j - d for j in range(W)]
                high = [j + d if not j & d else W + j for j in range(W)]
                a, b = rows[i], rows[i + d]
                for k, order in ((i, low), (i + d, high)):
                    mask = f"<{W} x i32> <{', '.join(f'i32 {j}' for j in order)}>"
                    rows[k] = self.put(f"shufflevector {self.real} {a}, {self.real} {b}, {mask}")
            d *= 2
        return rows

    def row(self, port: str, stride: str, lane: int, column: int) -> str:
        """The address of a column of the row of a lane."""
        step = self.put(f"mul i64 {stride}, {self.lanes[lane]}")
        base = self.put(f"getelementptr i8, ptr {port}, i64 {step}")
        return self.put(f"getelementptr double, ptr {base}, i64 {column}")

    def fill_lanes(self, last: str) -> None:
        """Let the lanes after the last row that there is do what that one's lane does."""
        self.lanes = [self.put(f"call i64 @llvm.umin.i64(i64 {lane}, i64 {last})") for lane in range(self.width)]

    def mask(self, left: int) -> str:
        """True for as many lanes as columns are left."""
        return f"{self.truth} <{', '.join(f'i1 {str(k < left).lower()}' for k in range(self.width))}>"

    def load_row(self, place: str, left: int) -> str:
        """As many numbers of one row as lanes, or as are left."""
        if left >= self.width:
            return self.put(f"load {self.real}, ptr {place}, align 8")
        given = f"ptr {place}, i32 8, {self.mask(left)}, {self.real} zeroinitializer"
        return self.put(f"call {self.real} @llvm.masked.load.{self.suffix}.p0({given})")

    def store_row(self, place: str, value: str, left: int) -> None:
        """As many lanes to one row, or as are left."""
        if left >= self.width:
            self.lines.append(f"  store {self.real} {value}, ptr {place}, align 8")
        else:
            given = f"{self.real} {value}, ptr {place}, i32 8, {self.mask(left)}"
            self.lines.append(f"  call void @llvm.masked.store.{self.suffix}.p0({given})")

    def load(self, port: Port, at: str, stride: str) -> list[str]:
        """All components of an argument, each as a row of lanes."""
        m, W = len(port.nodes), self.width
        if W == 1 or port.uniform:
            return [self.uniform(at, k) for k in range(m)]
        found: list[str] = []
        for first in range(0, m, W):
            rows = []
            for lane in range(W):
                rows.append(self.load_row(self.row(at, stride, lane, first), m - first))
            found += self.transposed(rows)[: m - first]
        return found

    def uniform(self, at: str, k: int | str) -> str:
        """The number at a place, in every lane."""
        place = self.put(f"getelementptr double, ptr {at}, i64 {k}")
        one = self.put(f"load double, ptr {place}, align 8")
        if self.width == 1:
            return one
        first = self.put(f"insertelement {self.real} poison, double {one}, i32 0")
        mask = f"<{self.width} x i32> zeroinitializer"
        return self.put(f"shufflevector {self.real} {first}, {self.real} poison, {mask}")

    def store(self, port: Port, at: str, stride: str, values: list[str]) -> None:
        """All components of a result, each a row of lanes, as rows of states."""
        W = self.width
        if W == 1:
            for k, value in enumerate(values):
                place = self.put(f"getelementptr double, ptr {at}, i64 {k}")
                self.lines.append(f"  store double {value}, ptr {place}, align 8")
            return
        for first in range(0, len(values), W):
            columns = values[first : first + W]
            left = len(columns)
            rows = self.transposed(columns + [columns[-1]] * (W - left))
            for lane, value in enumerate(rows):
                self.store_row(self.row(at, stride, lane, first), value, left)


def _library(function: str) -> Callable[..., str]:
    return lambda body, *args: body.lane_by_lane(function, args)


TEXT: dict[str, Callable[..., str]] = {
    "add": lambda body, x, y: body.loose("fadd", x, y),
    "sub": lambda body, x, y: body.loose("fsub", x, y),
    "mul": lambda body, x, y: body.loose("fmul", x, y),
    "div": lambda body, x, y: body.binary("fdiv", x, y),
    "neg": FunctionText.negative,
    "fma": FunctionText.fma,
    "abs": lambda body, x: body.intrinsic("fabs", x),
    "sqrt": lambda body, x: body.intrinsic("sqrt", x),
    "sin": lambda body, x: body.sine_cosine(x)[0],
    "cos": lambda body, x: body.sine_cosine(x)[1],
    "atan2": lambda body, y, x: body.put(f"call {body.real} @atan2_{body.width}({body.real} {y}, {body.real} {x})"),
    **{function: _library(function) for function in LIBRARY},
    "less": lambda body, x, y: body.put(f"fcmp olt {body.real} {x}, {y}"),
    "less_equal": lambda body, x, y: body.put(f"fcmp ole {body.real} {x}, {y}"),
    "and": lambda body, x, y: body.put(f"and {body.truth} {x}, {y}"),
    "or": lambda body, x, y: body.put(f"or {body.truth} {x}, {y}"),
    "not": lambda body, x: body.put(f"xor {body.truth} {x}, {body.all_lanes('true', 'i1')}"),
    "select": lambda body, c, x, y: body.put(f"select {body.truth} {c}, {body.real} {x}, {body.real} {y}"),
}
"""Every operation that has operands, as the instructions that compute it; each puts them in the body."""
