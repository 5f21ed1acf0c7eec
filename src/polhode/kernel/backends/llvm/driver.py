"""The loop over a batch, around the kernels for one state and for a row of lanes, as LLVM text.

Results that no cache holds are written past them, by stores that do not read the line first: by the kernel itself,
where it can (`parts.goes_past`) and lines begin with rows, or block by block, computed into memory that stays in the
nearest caches and copied from there. The bits are those of the plain loop.
"""

import math

from polhode.kernel.graph import Graph

STREAM = "@stream("
"""How a driver calls the copy that goes past the caches."""

LARGE = 2**24
"""Bytes of results from which on a batch is written past the caches: half of the last one here (EPYC, 32 MiB); below,
whoever reads the results next finds them there. Torque regressors of 10,000 states of `arm-7` (39 MB) take 135 ns a
state by the kernel itself, 205 ns by blocks, and 285 ns plainly."""

BLOCK, LARGEST_BLOCK = 2**14, 2**17
"""Bytes of results that are computed before they are copied: about so many, and, where the lanes fill more, at most so
many; those of more are written plainly."""

LINE = 64
"""Bytes of a cache's line."""


def driver_text(graph: Graph, name: str, width: int, single: bool, past: bool) -> str:
    """The loop over a batch, with the signature of a NumPy ufunc loop: (args, dimensions, steps, data).

    single  whether there is a function for one state; else what is left of a batch fills some of the lanes
    past    whether the function of the lanes itself can write past the caches, where it is told to
    """
    return _Driver(graph, name, width, single, past).text()


class _Driver:
    """The text of the loop over a batch.

    Its blocks: %entry; where results go past the caches %look, then %direct.first or %blocks; %lanes, the loop over
    whole rows of lanes; %rest. On the way: %past, whether results go past the caches; %direct, whether by the kernel.
    """

    def __init__(self, graph: Graph, name: str, width: int, single: bool, past: bool) -> None:
        self.name, self.width, self.single, self.past = name, width, single, past
        self.first = len(graph.inputs)
        self.count = self.first + len(graph.outputs)
        self.rows = {i: 8 * math.prod(port.shape) for i, port in enumerate(graph.outputs, self.first)}  # bytes a state
        row = sum(self.rows.values())
        self.states = max(1, BLOCK // max(1, width * row)) * width  # of a block that is computed aside
        self.aside = width > 1 and 0 < self.states * row <= LARGEST_BLOCK

    def text(self) -> str:
        """All of it."""
        lines = [f"define void @{self.name}(ptr %args, ptr %dims, ptr %steps, ptr %data) {{", "entry:"]
        lines.append("  %n = load i64, ptr %dims, align 8")
        for i in range(self.count):
            lines += [
                f"  %a{i} = getelementptr ptr, ptr %args, i64 {i}",
                f"  %p{i} = load ptr, ptr %a{i}, align 8",
                f"  %b{i} = getelementptr i64, ptr %steps, i64 {i}",
                f"  %s{i} = load i64, ptr %b{i}, align 8",
            ]
        lines.append("  %numpy = icmp eq ptr %data, null")
        lines += self._ways()
        if self.width > 1:
            lines += self._whole_rows()
        lines += self._one_by_one() if self.single else self._together()
        lines += ["done:"]
        if self.past or self.aside:  # other threads see what went past the caches before what follows
            lines += ["  br i1 %past, label %order, label %end", "order:", "  fence seq_cst", "  br label %end", "end:"]
        lines += [  # NumPy gives no data and looks at the processor's flags: what unused branches set is no warning
            "  br i1 %numpy, label %clear, label %out",
            "clear:",
            "  %cleared = call i32 @feclearexcept(i32 63)",
            "  br label %out",
            "out:",
            "  ret void",
            "}",
        ]
        return "\n".join(lines)

    def _ways(self) -> list[str]:
        """From %entry to %lanes: the ways past the caches, where NumPy calls (others may chain rows) and results are
        large and lie row after row."""
        if not (self.past or self.aside):
            return ["  br label %lanes"] if self.width > 1 else ["  br label %rest"]
        lines = [
            f"  %bytes = mul i64 %n, {sum(self.rows.values())}",
            f"  %large = icmp uge i64 %bytes, {LARGE}",
            f"  %many = icmp sge i64 %n, {2 * self.width}",
        ]
        lines += [f"  %dense{i} = icmp eq i64 %s{i}, {row}" for i, row in self.rows.items()]
        conditions = ["%numpy", "%large", "%many", *(f"%dense{i}" for i in self.rows)]
        for k, condition in enumerate(conditions[1:]):
            lines.append(f"  %and{k} = and i1 {f'%and{k - 1}' if k else conditions[0]}, {condition}")
        lines += [
            f"  %past = and i1 %and{len(conditions) - 2}, true",
            "  br i1 %past, label %look, label %lanes",
            "look:",
        ]
        other = "blocks" if self.aside else "lanes"
        lines += self._first_line(other) if self.past else [f"  br label %{other}"]
        return lines + (self._blocks() if self.aside else [])

    def _first_line(self, other: str) -> list[str]:
        """From %look to %direct.first, and from there to %lanes, where some state's rows begin lines: the first such
        %start is among as many as there are lanes. Else to another block."""
        lines, found = [], ("false", "0")
        for k in reversed(range(self.width)):
            places: list[str] = []
            for i, row in self.rows.items():
                lines += [
                    f"  %at{i}.{k} = getelementptr i8, ptr %p{i}, i64 {k * row}",
                    f"  %number{i}.{k} = ptrtoint ptr %at{i}.{k} to i64",
                    f"  %over{i}.{k} = or i64 %number{i}.{k}, {places[-1] if places else 0}",
                ]
                places.append(f"%over{i}.{k}")
            lines += [
                f"  %off{k} = and i64 {places[-1]}, {8 * self.width - 1}",
                f"  %begins{k} = icmp eq i64 %off{k}, 0",
                f"  %any{k} = or i1 {found[0]}, %begins{k}",
                f"  %start{k} = select i1 %begins{k}, i64 {k}, i64 {found[1]}",
            ]
            found = f"%any{k}", f"%start{k}"
        return [
            *lines,
            f"  br i1 {found[0]}, label %direct.first, label %{other}",
            "direct.first:",  # the states before %start, and some that are computed again
            "  %if = add i64 0, 0",
            *self._call(self.width, "f", str(self.width - 1)),
            "  br label %lanes",
        ]

    def _blocks(self) -> list[str]:
        """From %blocks to %lanes: a loop over blocks that are computed aside and copied, up to state %ib."""
        lines = [
            "blocks:",
            *(f"  %block{i} = alloca [{self.states * row} x i8], align {LINE}" for i, row in self.rows.items()),
            f"  %count = sdiv i64 %n, {self.states}",
            f"  %until = mul i64 %count, {self.states}",
            "  br label %block",
            "block:",
            "  %ib = phi i64 [ 0, %blocks ], [ %jb, %block.copy ]",
            "  %moreb = icmp slt i64 %ib, %until",
            "  br i1 %moreb, label %block.lanes, label %lanes",
            "block.lanes:",
            "  %ks = phi i64 [ 0, %block ], [ %kn, %block.lanes ]",
            "  %is = add i64 %ib, %ks",
            *self._call(self.width, "s", str(self.width - 1), aside=True),
            f"  %kn = add i64 %ks, {self.width}",
            f"  %mores = icmp slt i64 %kn, {self.states}",
            "  br i1 %mores, label %block.lanes, label %block.copy",
            "block.copy:",
        ]
        for i, row in self.rows.items():
            lines += [
                f"  %d{i} = mul i64 {row}, %ib",
                f"  %e{i} = getelementptr i8, ptr %p{i}, i64 %d{i}",
                f"  call void {STREAM}ptr %e{i}, ptr %block{i}, i64 {self.states * row})",
            ]
        return [*lines, f"  %jb = add i64 %ib, {self.states}", "  br label %block"]

    def _whole_rows(self) -> list[str]:
        """From %lanes to %rest: the loop over whole rows of lanes, up to state %iw."""
        begun = ["[ 0, %entry ]"]
        direct = ["[ false, %entry ]"]
        if self.past and not self.aside:
            begun.append("[ 0, %look ]")
            direct.append("[ false, %look ]")
        if self.past:
            begun.append("[ %start0, %direct.first ]")
            direct.append("[ true, %direct.first ]")
        if self.aside:
            begun.append("[ %ib, %block ]")
            direct.append("[ false, %block ]")
        return [
            "lanes:",
            f"  %begun = phi i64 {', '.join(begun)}",
            f"  %direct = phi i1 {', '.join(direct)}",
            "  br label %wide",
            "wide:",
            "  %iw = phi i64 [ %begun, %lanes ], [ %jw, %wide.body ]",
            f"  %jw = add i64 %iw, {self.width}",
            "  %morew = icmp sle i64 %jw, %n",
            "  br i1 %morew, label %wide.body, label %rest",
            "wide.body:",
            *self._call(self.width, "w", str(self.width - 1), "%direct"),
            "  br label %wide",
        ]

    def _one_by_one(self) -> list[str]:
        """From %rest to %done: what is left of a batch, by the function for one state."""
        reached = "[ %iw, %wide ]" if self.width > 1 else "[ 0, %entry ]"
        return [
            "rest:",
            f"  %reached = phi i64 {reached}",
            "  br label %one",
            "one:",
            "  %ir = phi i64 [ %reached, %rest ], [ %jr, %one.body ]",
            "  %morer = icmp slt i64 %ir, %n",
            "  br i1 %morer, label %one.body, label %done",
            "one.body:",
            *self._call(1, "r", ""),
            "  %jr = add i64 %ir, 1",
            "  br label %one",
        ]

    def _together(self) -> list[str]:
        """From %rest to %done: what is left of a batch, in some of the lanes."""
        return [
            "rest:",
            "  %ir = phi i64 [ %iw, %wide ]",
            "  %left = sub i64 %n, %ir",
            "  %morer = icmp sgt i64 %left, 0",
            "  br i1 %morer, label %some, label %done",
            "some:",
            "  %last = sub i64 %left, 1",
            *self._call(self.width, "r", "%last"),
            "  br label %done",
        ]

    def _call(self, states: int, at: str, last: str, past: str = "false", aside: bool = False) -> list[str]:
        """The kernel for so many states from state %i{at} on; results in their rows, or from row %k{at} of the blocks.

        past  whether it writes past the caches
        """
        text = []
        for i in range(self.count):
            block = aside and i in self.rows
            row, to = (f"{self.rows[i]}, %k{at}", "block") if block else (f"%s{i}, %i{at}", "p")
            text += [f"  %o{i}{at} = mul i64 {row}", f"  %q{i}{at} = getelementptr i8, ptr %{to}{i}, i64 %o{i}{at}"]
        given = [f"ptr %q{i}{at}, i64 %s{i}" for i in range(self.count)] + [f"i64 {last}"] * (not self.single)
        given += [f"i1 {past}"] * (self.past and states > 1)
        return [*text, f"  call void @{self.name}_{states}({', '.join(given)})"]


def stream_text() -> str:
    """The function that copies bytes past the caches: whole lines of the destination, its ends by plain stores."""
    line = f"<{LINE // 8} x double>"
    return f"""define internal void {STREAM}ptr noalias %to, ptr noalias %from, i64 %size) noinline {{
entry:
  %address = ptrtoint ptr %to to i64
  %over = sub i64 0, %address
  %before = and i64 %over, {LINE - 1}
  %head = call i64 @llvm.umin.i64(i64 %before, i64 %size)
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %head, i1 false)
  %rest = sub i64 %size, %head
  %lines = and i64 %rest, {-LINE}
  %end = add i64 %head, %lines
  br label %next
next:
  %k = phi i64 [ %head, %entry ], [ %kn, %copy ]
  %more = icmp ult i64 %k, %end
  br i1 %more, label %copy, label %last
copy:
  %a = getelementptr i8, ptr %from, i64 %k
  %b = getelementptr i8, ptr %to, i64 %k
  %x = load {line}, ptr %a, align 8
  store {line} %x, ptr %b, align {LINE}, !nontemporal !1
  %kn = add i64 %k, {LINE}
  br label %next
last:
  %c = getelementptr i8, ptr %from, i64 %end
  %d = getelementptr i8, ptr %to, i64 %end
  %tail = sub i64 %size, %end
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %c, i64 %tail, i1 false)
  ret void
}}"""
