"""Straight-line C in which the same lines repeat, as loops: less text, which compilers of GPUs take long for.

A repetition is some lines in a row that differ from those before them in the values and the places that they name
alone. It is a loop where each of these is

    the same in all,  or a place that advances evenly,  or a value of the same repetition or of the one before,
    or one of the values that another loop has made, at a place that advances evenly.

The loop does what its lines did, in their order: results have the same bits.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LONGEST = 24
"""Lines of a repetition, at most."""

FEWEST, SHORTEST = 24, 24
"""Repetitions of a loop, and lines that it replaces, at least: shorter ones save nothing."""

SLOT = re.compile(r"\bx\d+\b|(?<=\[)\d+(?=\]| \+)")
"""What may differ between repetitions: values, and places in arrays."""

DEFINED = re.compile(r"(?:const )?(double|float|int) (x\d+)(?:, (x\d+))?(?= =|;)")
"""The beginning of a line that makes one value, or two."""

CALL = re.compile(r"((?:double|float) (xa\d+)\[\d+\]) = \{(.*)\};")
"""The line that fills the arguments of a call."""


class _CodeLine(NamedTuple):
    """A line of text: what stands between its slots, the slots, and the values that it makes with their type."""

    shape: tuple[str, ...]
    slots: tuple[str, ...]
    made: tuple[str, ...]
    kind: str


class _SlotRule(NamedTuple):
    """How a slot goes on from one repetition to the next.

    same   its text in all of them
    own    the number of the value of the repetition that it is
    last   the number of the value of the repetition before; `same` is then that of the first
    array, first, step  the array of another loop, or "" for a number, and the places
    """

    same: str = ""
    own: int = -1
    last: int = -1
    array: str = ""
    first: int = 0
    step: int = 0


def rolled(lines: Sequence[str]) -> list[str]:
    """The lines of a block, repetitions as loops."""
    return list(_RolledBlock([part for line in lines for part in _split(line)]).text())


def _split(line: str) -> list[str]:
    """A line; of one that fills many arguments of a call a line for each."""
    found = CALL.fullmatch(line)
    values = found[3].split(", ") if found else []
    if not found or len(values) < SHORTEST:
        return [line]
    return [f"{found[1]};", *(f"{found[2]}[{k}] = {value};" for k, value in enumerate(values))]


def _line(text: str) -> _CodeLine:
    made = DEFINED.match(text)
    return _CodeLine(
        tuple(SLOT.split(text)),
        tuple(SLOT.findall(text)),
        tuple(name for name in made.groups()[1:] if name) if made else (),
        made[1] if made else "",
    )


def _runs(shapes: Sequence[tuple[str, ...]], apart: int) -> list[int]:
    """From each place on, how many shapes in a row are as those `apart` before."""
    found = [0] * (len(shapes) + 1)
    for k in range(len(shapes) - 1, max(apart, 1) - 1, -1):
        found[k] = found[k + 1] + 1 if shapes[k] == shapes[k - apart] else 0
    return found


class _RolledBlock:
    """The lines of one block on their way into text."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = [_line(text) for text in lines]
        self.runs = [_runs([line.shape for line in self.lines], n) for n in range(LONGEST + 1)]
        """For each number of lines, from each line on, how many in a row are as those so many lines before."""
        self.uses: dict[str, list[int]] = defaultdict(list)
        for k, line in enumerate(self.lines):
            for slot in line.slots:
                self.uses[slot].append(k)
        self.place: dict[str, tuple[str, int]] = {}
        """Of values that a loop has made, the array and the place."""
        self.known: dict[str, str] = {}
        """Of the same, the text."""
        self.count = 0

    def text(self) -> Iterator[str]:
        """All lines."""
        at = 0
        while at < len(self.lines):
            ways, lines, times = self._repetition(at)
            if times:
                yield from self._loop(at, lines, times, ways)
                at += lines * times
            else:
                yield self._written(self.lines[at], [self.known.get(x, x) for x in self.lines[at].slots])
                at += 1

    @staticmethod
    def _written(line: _CodeLine, slots: Sequence[str]) -> str:
        return "".join([line.shape[0], *(x for pair in zip(slots, line.shape[1:], strict=True) for x in pair)])

    def _repetition(self, at: int) -> tuple[list[_SlotRule], int, int]:
        """The longest repetition that begins at a line: its ways, its lines, how often it comes; 0: never."""
        best: tuple[list[_SlotRule], int, int] = ([], 0, 0)
        for lines in range(1, LONGEST + 1):
            times = self._alike(at, lines)
            if times * lines <= max(best[1] * best[2], SHORTEST - 1) or times < FEWEST:
                continue
            ways, times = self._ways(at, lines, times)
            if times >= FEWEST and times * lines > max(best[1] * best[2], SHORTEST - 1):
                best = ways, lines, times
        return best

    def _alike(self, at: int, lines: int) -> int:
        """How often so many lines come in a row, but for their slots."""
        return 1 + self.runs[lines][at + lines] // lines if at + lines < len(self.lines) else 1

    def _ways(self, at: int, lines: int, times: int) -> tuple[list[_SlotRule], int]:
        """The ways of all slots, and up to which repetition they hold."""

        def parts(number: int) -> tuple[list[str], dict[str, int]]:
            own = self.lines[at + number * lines : at + (number + 1) * lines]
            made = [name for line in own for name in line.made]
            return [slot for line in own for slot in line.slots], {name: k for k, name in enumerate(made)}

        first, second = parts(0), parts(1)
        ways = [self._way(a, b, first[1], second[1]) for a, b in zip(first[0], second[0], strict=True)]
        found = [way for way in ways if way]
        starts = {(way.last, way.same) for way in found if way.last >= 0}
        if len(found) < len(ways) or len({last for last, _ in starts}) < len(starts):
            return [], 0
        before = first[1]
        for number in range(1, times):
            slots, own = parts(number)
            if not all(self._holds(way, slot, number, own, before) for way, slot in zip(found, slots, strict=True)):
                return found, number
            before = own
        return found, times

    def _way(self, a: str, b: str, first: dict[str, int], second: dict[str, int]) -> _SlotRule | None:
        """The way of a slot that is a in the first repetition and b in the second."""
        if a in first:
            return _SlotRule(own=first[a]) if second.get(b) == first[a] else None
        if b in first:
            return _SlotRule(last=first[b], same=a)
        if a == b:
            return _SlotRule(same=a)
        if a[0] != "x" and b[0] != "x":
            return _SlotRule(first=int(a), step=int(b) - int(a))
        if a in self.place and b in self.place and self.place[a][0] == self.place[b][0]:
            (array, place), (_, next_) = self.place[a], self.place[b]
            return _SlotRule(array=array, first=place, step=next_ - place)
        return None

    def _holds(self, way: _SlotRule, slot: str, number: int, own: dict[str, int], before: dict[str, int]) -> bool:
        """Whether a slot goes its way in a repetition."""
        if way.own >= 0:
            return own.get(slot) == way.own
        if way.last >= 0:
            return before.get(slot) == way.last
        if way.same:
            return slot == way.same
        if way.array:
            return self.place.get(slot) == (way.array, way.first + number * way.step)
        return slot == str(way.first + number * way.step)

    def _loop(self, at: int, lines: int, times: int, ways: Sequence[_SlotRule]) -> Iterator[str]:
        """The text of a loop; what later lines use of it is known from then on."""
        body, end = self.lines[at : at + lines], at + lines * times
        made = [(name, line.kind) for line in body for name in line.made]
        every = [
            [name for line in self.lines[at + k * lines : at + (k + 1) * lines] for name in line.made]
            for k in range(times)
        ]
        carried = sorted({way.last for way in ways if way.last >= 0})
        starts = {way.last: way.same for way in ways if way.last >= 0}
        inside: list[str] = []
        rest = iter(ways)
        local = {name: f"xl{k}" for k, (name, _) in enumerate(made)}
        for line in body:
            slots = [self._slot(next(rest), made) for _ in line.slots]
            inside.append(self._written(line, slots))
        for k, (name, kind) in enumerate(made):
            names = [row[k] for row in every]
            wanted = [j for j, x in enumerate(names) if self.uses[x] and self.uses[x][-1] >= end]
            if not wanted:
                continue
            new, self.count = f"xr{self.count}", self.count + 1
            if wanted == [times - 1]:
                yield f"{kind} {new};"
                inside.append(f"{new} = {local[name]};")
                self.known[names[-1]] = new
                continue
            yield f"{kind} {new}[{times}];"
            inside.append(f"{new}[xk0] = {local[name]};")
            for j, x in enumerate(names):
                self.place[x], self.known[x] = (new, j), f"{new}[{j}]"
        for k in carried:
            name, kind = made[k]
            yield f"{kind} xc{self.count}_{k} = {self.known.get(starts[k], starts[k])};"
            inside.append(f"xc{self.count}_{k} = {local[name]};")
        inside = [line.replace("xc?_", f"xc{self.count}_") for line in inside]
        self.count += 1
        yield f"for (int xk0 = 0; xk0 < {times}; xk0++) {{"
        yield from (f"    {line}" for line in inside)
        yield "}"

    def _slot(self, way: _SlotRule, made: Sequence[tuple[str, str]]) -> str:
        """A slot inside its loop."""
        if way.own >= 0:
            return f"xl{way.own}"
        if way.last >= 0:
            return f"xc?_{way.last}"
        if way.same:
            return self.known.get(way.same, way.same)
        place = str(way.first) if not way.step else f"{way.first} + {way.step} * xk0"
        return f"{way.array}[{place}]" if way.array else place
