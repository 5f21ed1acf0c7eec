"""Rows of results written past the caches, as LLVM text: stores of whole lines that do not read the line first.

Lanes hold states, and the rows of as many states as lanes follow one another in memory. A line has as many numbers as
there are lanes: it begins at multiples of that from the first row on, so rows begin somewhere in a line, and a line may
end one row and begin the next. With plain stores for the parts of such lines all would take two to three times as long.
"""

from collections.abc import Callable, Sequence

from polhode.kernel.backends.llvm.function_text import FunctionText

FEWEST_LINES = 4
"""Lines that a row has at least: shorter ones are written plainly."""


def has_lines(m: int, width: int) -> bool:
    """Whether rows of m numbers may be written past the caches, by so many lanes."""
    return width > 1 and m >= FEWEST_LINES * width


def stream_rows(body: FunctionText, rows: list[str], m: int, states: Callable[[str, int], list[str]]) -> None:
    """Write the rows of all lanes, line by line.

    rows    the address of each; they follow one another, and the first is that of a line
    m       numbers of a row
    states  (first number, how many) → for each lane these numbers of its row; whatever else it holds is not used
    """
    lines = _Lines(body, rows, m)
    first = states("0", body.width)
    kept = lines.kept(first)
    last = lines.whole_blocks(first, states)
    if lines.left:
        lines.row_ends(last, states(str(lines.at), lines.left), kept)


class _Lines:
    """The lines of the rows of all lanes, in a function under construction."""

    def __init__(self, body: FunctionText, rows: list[str], m: int) -> None:
        W = body.width
        self.body, self.rows, self.left = body, rows, m % W
        self.at = m - self.left  # where the blocks of as many columns as lanes end
        self.heads = [-lane * m % W for lane in range(W)]  # numbers of each row before its first line

    def kept(self, first: list[str]) -> str:
        """Memory with the first numbers of every row: they end the lines that the rows before them begin."""
        body = self.body
        place = f"%first{len(body.scratch)}"
        body.scratch.append(f"  {place} = alloca [{body.width} x {body.real}], align {8 * body.width}")
        for lane, row in enumerate(first):
            to = body.put(f"getelementptr {body.real}, ptr {place}, i64 {lane}")
            body.lines.append(f"  store {body.real} {row}, ptr {to}, align {8 * body.width}")
        return place

    def whole_blocks(self, first: list[str], states: Callable[[str, int], list[str]]) -> list[str]:
        """Write the lines that whole blocks of columns end, each begun by the block before it; the last block."""
        body, W = self.body, self.body.width
        for lane, row in enumerate(first):
            if not self.heads[lane]:
                self._store(lane, row, "0")
        before, k = body.block, body.name()
        loop, after = f"lines{k[1:]}", f"ends{k[1:]}"
        body.lines.append(f"  br label %{loop}")
        body.label(loop)
        head = len(body.lines)
        found = states(k, W)
        body.lines.insert(head, f"  {k} = phi i64 [ {W}, %{before} ], [ %next{k[1:]}, %{loop} ]")
        for lane, (a, b) in enumerate(zip(first, found, strict=True)):
            body.lines.insert(head, f"  %row{k[1:]}_{lane} = phi {body.real} [ {a}, %{before} ], [ {b}, %{loop} ]")
        for lane, row in enumerate(found):
            h = self.heads[lane]
            line = self._line(f"%row{k[1:]}_{lane}", row, range(h, h + W)) if h else row
            self._store(lane, line, body.put(f"sub i64 {k}, {-h % W}"))
        body.lines.append(f"  %next{k[1:]} = add i64 {k}, {W}")
        more = body.put(f"icmp slt i64 %next{k[1:]}, {self.at}")
        body.lines.append(f"  br i1 {more}, label %{loop}, label %{after}")
        body.label(after)
        return found

    def row_ends(self, last: list[str], ends: list[str], kept: str) -> None:
        """Write the lines with what is left of each row, and the beginning of the next row in them.

        last  the last block of columns; ends  what is left
        """
        body, W = self.body, self.body.width
        for lane, h in enumerate(self.heads):
            end = ends[lane]
            if lane < W - 1:
                place = body.put(f"getelementptr {body.real}, ptr {kept}, i64 {lane + 1}")
                following = body.put(f"load {body.real}, ptr {place}, align {8 * W}")
                joined = [j if j < self.left else W + j - self.left for j in range(2 * W)]
                if h < self.left:
                    self._store(lane, self._line(end, following, joined[h : h + W]), str(self.at + h))
                end = self._line(end, following, joined[:W])
            if h:
                self._store(lane, self._line(last[lane], end, range(h, h + W)), str(self.at - W + h))

    def _line(self, a: str, b: str, order: Sequence[int]) -> str:
        """Numbers of a, then of b."""
        body = self.body
        mask = f"<{body.width} x i32> <{', '.join(f'i32 {j}' for j in order)}>"
        return body.put(f"shufflevector {body.real} {a}, {body.real} {b}, {mask}")

    def _store(self, lane: int, line: str, column: str) -> None:
        body = self.body
        place = body.put(f"getelementptr double, ptr {self.rows[lane]}, i64 {column}")
        body.lines.append(f"  store {body.real} {line}, ptr {place}, align {8 * body.width}, !nontemporal !1")
