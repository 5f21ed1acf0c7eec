"""Symmetric linear equations with many structural zeros, solved in loops over tables: code does not grow with them.

    S = L D Lᵀ,   S = M + s D + s² K   for a number s, real or complex, and matrices of one pattern

The pattern is known beforehand, so the order of elimination, its fill and every operation of it are tables of places;
compiled, one loop goes over each. Unknowns come before the conditions that hold them ([M Aᵀ; A 0] with few entries), in
order of least degree (Tinney, Walker 1967). There is no pivoting: what is eliminated first has to be definite, as
inertia is, and a row that may depend on others needs a small number on its diagonal.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from polhode.scalar import Loops, Scalar

RUN = 3
"""Neighbouring entries that one pass of a loop updates: unknowns come in threes, of places and of turns."""


class ComplexNumber:
    """A complex number of two generic scalars."""

    __slots__ = ("im", "re")

    def __init__(self, re: Scalar, im: Scalar) -> None:
        self.re, self.im = re, im

    def __add__(self, other: "ComplexNumber") -> "ComplexNumber":
        return ComplexNumber(self.re + other.re, self.im + other.im)

    def __sub__(self, other: "ComplexNumber") -> "ComplexNumber":
        return ComplexNumber(self.re - other.re, self.im - other.im)

    def __mul__(self, other: Any) -> "ComplexNumber":
        if isinstance(other, ComplexNumber):
            return ComplexNumber(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
        return ComplexNumber(self.re * other, self.im * other)

    __rmul__ = __mul__

    def inverse(self) -> "ComplexNumber":
        """1/z"""
        size = self.re * self.re + self.im * self.im
        return ComplexNumber(self.re / size, -self.im / size)


class RealCells:
    """An array of real numbers."""

    def __init__(self, r: Loops, name: str, count: int) -> None:
        self.memory = r.array(name, count, unset=True)

    def get(self, place: Any) -> Any:
        """A number."""
        return self.memory[place]

    def put(self, place: Any, value: Any) -> None:
        """Another number."""
        self.memory[place] = value

    @staticmethod
    def inverse(value: Any) -> Any:
        """1/x"""
        return 1.0 / value


class ComplexCells:
    """An array of complex numbers."""

    def __init__(self, r: Loops, name: str, count: int) -> None:
        self.memory = r.array(name, 2 * count, unset=True)

    def get(self, place: Any) -> ComplexNumber:
        """A number."""
        return ComplexNumber(self.memory[place * 2], self.memory[place * 2 + 1])

    def put(self, place: Any, value: ComplexNumber) -> None:
        """Another number."""
        self.memory[place * 2] = value.re
        self.memory[place * 2 + 1] = value.im

    @staticmethod
    def inverse(value: ComplexNumber) -> ComplexNumber:
        """1/z"""
        return value.inverse()


class _Operations(NamedTuple):
    """Operations of an elimination, target −= factor × source: those of pivot p from first[p] to first[p + 1]."""

    first: list[int]
    target: list[int]
    factor: list[int]
    source: list[int]


class SymmetricPattern:
    """Which entries of a symmetric matrix may be other than zero, and how it is factored.

    near   for each row the places of its other entries
    later  so many last rows, each eliminated after all its neighbours among the others
    """

    def __init__(self, near: Sequence[Iterable[int]], later: int = 0) -> None:
        self.n = len(near)
        self._near = [set(places) - {i} for i, places in enumerate(near)]
        for i, others in enumerate(self._near):
            for j in others:
                self._near[j].add(i)
        self.order, self.below = _eliminated([set(x) for x in self._near], self.n - later)
        self.at = {i: p for p, i in enumerate(self.order)}
        self.first = [0]
        for places in self.below:
            self.first.append(self.first[-1] + 1 + len(places))
        self._slot = {
            (i, p): self.first[p] + k for p, places in enumerate(self.below) for k, i in enumerate((p, *places))
        }

    @property
    def size(self) -> int:
        """How many entries it has, fill among them: a column from its diagonal on after the other."""
        return self.first[-1]

    def slot(self, i: int, j: int) -> int:
        """The place of an entry among all."""
        p, q = self.at[i], self.at[j]
        return self._slot[(max(p, q), min(p, q))]

    @cached_property
    def updates(self) -> tuple[_Operations, _Operations]:
        """All updates of the elimination: in runs of RUN entries, and of single ones."""
        runs, singles = _Operations([], [], [], []), _Operations([], [], [], [])
        for p, places in enumerate(self.below):
            for made in (runs, singles):
                made.first.append(len(made.target))
            for k, j in enumerate(places):
                rest = [(self._slot[(i, j)], self.first[p] + 1 + k + m) for m, i in enumerate(places[k:])]
                while rest:
                    whole = [(rest[0][0] + m, rest[0][1] + m) for m in range(RUN)] == rest[:RUN]
                    made = runs if whole else singles
                    made.target.append(rest[0][0])
                    made.factor.append(self.first[p] + 1 + k)
                    made.source.append(rest[0][1])
                    rest = rest[RUN if whole else 1 :]
        for made in (runs, singles):
            made.first.append(len(made.target))
        return runs, singles


def _eliminated(near: list[set[int]], early: int) -> tuple[list[int], list[list[int]]]:
    """An order of least degree, and for each of its unknowns the later ones that its column has, by their order.

    early  the unknowns; conditions follow them, each after those that it holds
    """
    held = [{j for j in places if j < early} if i >= early else set() for i, places in enumerate(near)]
    left, order, found = set(range(len(near))), [], []
    while left:
        i = min((i for i in left if not held[i] & left), key=lambda i: (len(near[i]), i))
        left.discard(i)
        others = near[i]
        for j in others:
            near[j] = (near[j] | others) - {i, j}
        order.append(i)
        found.append(others)
    at = {i: p for p, i in enumerate(order)}
    return order, [sorted(at[j] for j in others) for others in found]


class StiffMatrices(NamedTuple):
    """Inertia, damping and stiffness of a machine near a state, on one pattern: arrays of its slots, in loops.

        inertia = [M Aᵀ; A −ε],   damping = −∂f/∂v,   stiffness = −∂f/∂q along unit velocities, f the generalised forces

    The unknowns are velocities, and after them the multipliers of the rows A of constraints. Derivatives are those that
    make steps stiff, their symmetric part; they need not be all.
    """

    pattern: SymmetricPattern
    inertia: Any
    damping: Any | None
    stiffness: Any | None


class SymmetricTables:
    """The tables of a pattern in loops, for all matrices of it."""

    def __init__(self, r: Loops, pattern: SymmetricPattern, name: str = "lu") -> None:
        self.r, self.pattern, self.n = r, pattern, pattern.n
        self.order = r.lookup(f"{name}_order", pattern.order)
        self.first, self.after = (
            r.lookup(f"{name}_first", pattern.first[:-1]),
            r.lookup(f"{name}_after", pattern.first[1:]),
        )
        self.row = r.lookup(f"{name}_row", [i for p, x in enumerate(pattern.below) for i in (p, *x)])
        self.place = r.lookup(f"{name}_place", [pattern.order[i] for p, x in enumerate(pattern.below) for i in (p, *x)])
        self.updates = [
            (
                RUN if k == 0 else 1,
                r.lookup(f"{name}_begin{k}", made.first[:-1]), r.lookup(f"{name}_end{k}", made.first[1:]),
                *(r.lookup(f"{name}_{word}{k}", getattr(made, word)) for word in ("target", "factor", "source")),
            )
            for k, made in enumerate(pattern.updates)
            if made.target
        ]  # fmt: skip

    def factor(self, a: Any, inverse: Any) -> None:
        """L D of a matrix in the place of its entries a; inverse: gets 1/D."""
        r = self.r
        for p in r.range(self.n):
            inverse.put(p, inverse.inverse(a.get(self.first.at(p))))
            for width, begin, end, target, factor, source in self.updates:
                for o in r.range(begin.at(p), end.at(p)):
                    f = a.get(factor.at(o)) * inverse.get(p)
                    new = [a.get(target.at(o) + m) - f * a.get(source.at(o) + m) for m in range(width)]
                    for m, value in enumerate(new):
                        a.put(target.at(o) + m, value)

    def solve(self, *systems: tuple[Any, Any, Any]) -> None:
        """S⁻¹x in the place of x, of the factors (a, inverse) of S; several systems (a, inverse, x) go side by side, so
        that none waits for its own last result. x is in the order of the unknowns themselves."""
        r = self.r
        for p in r.range(self.n):
            for o in r.range(self.first.at(p) + 1, self.after.at(p)):
                at, here = self.place.at(o), self.order.at(p)
                found = [x.get(at) - a.get(o) * (x.get(here) * inverse.get(p)) for a, inverse, x in systems]
                for (_, _, x), value in zip(systems, found, strict=True):
                    x.put(at, value)
        for p in r.range(0, self.n, down=True):
            here = self.order.at(p)
            for _, inverse, x in systems:
                x.put(here, x.get(here) * inverse.get(p))
            for o in r.range(self.first.at(p) + 1, self.after.at(p)):
                at = self.place.at(o)
                found = [x.get(here) - inverse.get(p) * a.get(o) * x.get(at) for a, inverse, x in systems]
                for (_, _, x), value in zip(systems, found, strict=True):
                    x.put(here, value)

    def times(self, a: Any, *pairs: tuple[Any, Any]) -> None:
        """y + S x in the place of y for pairs (x, y), of a matrix S that is not factored: entries a."""
        r = self.r
        for p in r.range(self.n):
            here = self.order.at(p)
            for x, y in pairs:
                y.put(here, y.get(here) + a[self.first.at(p)] * x.get(here))
            for o in r.range(self.first.at(p) + 1, self.after.at(p)):
                at = self.place.at(o)
                found = [(y.get(at) + a[o] * x.get(here), y.get(here) + a[o] * x.get(at)) for x, y in pairs]
                for (_, y), (first, second) in zip(pairs, found, strict=True):
                    y.put(at, first)
                    y.put(here, second)
