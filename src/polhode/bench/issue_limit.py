"""How fast a processor can be at best with the operations of a kernel: what its arithmetic alone would take in lanes.

Two kernels of independent chains measure it: one of fused multiply-adds, one of as many sums beside them, which some
processors compute in other units. Sign changes count nothing: nearly all become part of the operation that follows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.bench.timing import Contestant, race
from polhode.kernel import Graph, trace
from polhode.kernel.backends.llvm.compile import build
from polhode.kernel.operations import SINE
from polhode.scalar import Vec

CHAINS, LENGTH = 16, 64
"""Independent chains of a measured kernel, more than a unit's latency takes; and operations of each."""
STATES = 256
"""States of its batch: all in the nearest cache."""


@dataclass(frozen=True)
class IssueLimit:
    """The operations of one quantity of one machine, and seconds per state: those of a batch, and the least possible.

    multiplications  products, fused or not; a sine and the cosine of the same angle count as operations.SINE
    additions        sums that are not fused into products
    sign_changes     no part of the limit
    ours             the batch, into a given array
    limit            what the multiplications alone, or all operations, take at least
    """

    model: str
    nv: int
    quantity: str
    multiplications: int
    additions: int
    sign_changes: int
    ours: float
    limit: float


@dataclass(frozen=True)
class IssueRates:
    """Seconds per state of one product, and of one operation where every second one is a sum."""

    product: float
    mixed: float

    @classmethod
    def measured(cls, seconds: float) -> "IssueRates":
        """Those of this processor, in lanes, on one core."""
        contestants = [_stream(_products), _stream(_products_and_sums)]
        product, mixed = race(contestants, seconds)
        return cls(product.least / (CHAINS * LENGTH), mixed.least / (CHAINS * LENGTH))

    def limit(self, name: str, nv: int, quantity: str, graph: Graph, ours: float) -> IssueLimit | None:
        """The limit of a graph that takes so long; None for one with loops, whose operations are not counted."""
        count = graph.operations
        if "call" in count:
            return None
        products = count["mul"] + count["fma"] + SINE * max(count["sin"], count["cos"])
        sums = count["add"] + count["sub"]
        least = max(products * self.product, (products + sums) * self.mixed)
        return IssueLimit(name, nv, quantity, products, sums, count["neg"], ours, least)


def _stream(function: Callable[[Vec, Vec], Vec]) -> Contestant:
    kernel = build(trace(function, x=(CHAINS,), y=(2,)))
    x, out = np.ones((STATES, CHAINS)), np.empty((STATES, CHAINS))
    names: dict[str, Any] = {"kernel": kernel, "x": x, "y": np.array([0.5, 0.25]), "out": out}
    return Contestant("polhode", "a stream of operations", "kernel.ufunc(x, y, out=out)", names, STATES)


def _products(x: Vec, y: Vec) -> Vec:
    for _ in range(LENGTH):
        x = Vec([a * y[0] + y[1] for a in x])
    return x


def _products_and_sums(x: Vec, y: Vec) -> Vec:
    for _ in range(LENGTH):
        x = Vec([a * y[0] + y[1] if k % 2 else a + y[1] for k, a in enumerate(x)])
    return x
