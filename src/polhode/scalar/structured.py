"""Operations that are more than arithmetic: repeat a step, differentiate, go by stages, share a function, compute
again where a shortcut was not allowed.

Each asks the components of its vector for a method of its own name (tracer symbols have them: a loop
stays one node of the graph). Floats and batches are worked on here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.scalar.arrays import split
from polhode.scalar.dual import Dual
from polhode.scalar.functions import Scalar, where
from polhode.scalar.loops import own_method
from polhode.scalar.vector import Vec

Iteration = Callable[[Vec], tuple[Vec, Any]]
"""The next state, and whether to go on from it."""


def iterate(step: Iteration, state: Vec, limit: int) -> Vec:
    """Repeat `state, go = step(state)` while `go` holds, at most `limit` times, at least once.

    In a batch each element stops on its own and keeps its state; what its further steps would give (infinities,
    perhaps) is not used.
    """
    if method := own_method("iterate", state):
        return method(step, state, limit)
    going: Any = True
    for _ in range(limit):
        with np.errstate(all="ignore"):
            following, go = step(state)
        state = where(going, following, state)
        going = going & go
        if not np.any(getattr(going, "holds", going)):
            break
    return state


class SharedFunction:
    """A function of vectors that symbols record once in a trace, as one routine, however often it is called.

    What it uses besides its arguments must be symbols of the trace itself, or numbers that never change: where there
    are no such symbols, later traces use the same routine.

    folds  whether arguments that are known to be 0 or ±1 fold: there is one routine for each pattern of them, and
           results that are known then are no results of it
    busy   whether what calls it spends most of its time in it
    """

    def __init__(self, name: str, function: Callable[..., Vec], folds: bool = False, busy: bool = False) -> None:
        self.name, self.function, self.folds, self.busy = name, function, folds, busy
        self.recorded: dict[Any, Any] = {}
        """What symbols keep of it, by the lengths of its arguments and the pattern of those that fold."""

    def __call__(self, *arguments: Vec) -> Vec:
        """The result."""
        method = own_method("call_shared", arguments)
        return method(self, arguments) if method else self.function(*arguments)


class RecordedFunction:
    """A function of vectors that symbols trace once for all, and write out again wherever it is called.

    What it uses besides its arguments must be numbers that never change.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.recorded: dict[tuple[int, ...], Any] = {}
        """What symbols keep of it, by the lengths of its arguments."""

    def __call__(self, *arguments: Vec) -> Any:
        """The result."""
        method = own_method("call_recorded", arguments)
        return method(self, arguments) if method else self.function(*arguments)


def unless_valid(valid: Any, values: Vec, again: Callable[[], Vec]) -> Vec:
    """The values of a shortcut where it was valid, else those that a longer way gives; it runs only where needed."""
    if method := own_method("unless_valid", values):
        return method(valid, values, again)
    if hasattr(valid, "where"):  # a condition on symbols, of values that are none
        return where(valid, values, again())
    return values if np.all(valid) else where(valid, values, again())


def staged(rhs: Callable[[Scalar, Vec], Vec], t: Scalar, x: Vec, h: Scalar, rule: "Stages") -> list[Vec]:
    """The sums Σ_j e_j k_j of the stages k_i = rhs(t + c_i h, x + h Σ_j A_ij k_j), one for each row e of `rule.sums`.

    On symbols the stages are one loop of the graph: code for one of them serves all.
    """
    if method := own_method("staged", x):
        return method(rhs, t, x, h, rule)
    k: list[Vec] = []
    for c, row in zip(rule.c, rule.A, strict=True):
        k.append(rhs(t + c * h, x + h * _summed(row, k)) if row else rhs(t, x))
    return [_summed(row, k) for row in rule.sums]


class Stages(NamedTuple):
    """An explicit rule: its instants c, the weights A of each stage, and those of the sums, by numbers of stages."""

    c: Sequence[float]
    A: Sequence[Mapping[int, float]]
    sums: Sequence[Mapping[int, float]]


def _summed(row: Mapping[int, float], k: Sequence[Vec]) -> Vec:
    first, *others = [weight * k[j] for j, weight in row.items()]
    for other in others:
        first = first + other
    return first


def jacobian(function: Callable[[Vec], Vec], x: Vec) -> tuple[Vec, Vec]:
    """A function's value and its exact Jacobian by rows, ∂f_i/∂x_j.

    x   (n,)  with all batch axes that the function meets
    ->  (m,), (m, n)
    """
    if method := own_method("jacobian", x):
        return method(function, x)
    batch, n = np.broadcast_shapes(*map(np.shape, x)), len(x)
    directions = np.eye(n).reshape(n, n, *(1,) * len(batch))
    found = function(Vec([Dual(value, directions[i]) for i, value in enumerate(x)]))
    return Vec([_value(part, batch) for part in found]), Vec([_slopes(part, batch, n) for part in found])


def derivative_along(function: Callable[[Vec], Vec], x: Vec, dx: Vec) -> tuple[Vec, Vec]:
    """A function's value and its exact derivative d/ds f(x + s dx) at s = 0.

    Unlike `jacobian` it may be used within itself, on duals too; the function may use no other duals than those of x.

    x, dx  (n,)
    ->     (m,), (m,)
    """
    if own_method("jacobian", x) or own_method("jacobian", dx):
        value, slopes = jacobian(lambda s: function(x + s[0] * dx), Vec([0.0 * (x[0] + dx[0])]))
        return value, Vec([row[0] for row in slopes])
    found = function(Vec([Dual(value, slope) for value, slope in zip(x, dx, strict=True)]))
    parts = [(part.value, part.slope) if isinstance(part, Dual) else (part, 0.0) for part in found]
    return Vec([value for value, _ in parts]), Vec([slope for _, slope in parts])


def _value(part: Any, batch: tuple[int, ...]) -> Scalar:
    value = part.value if isinstance(part, Dual) else part
    return split(np.broadcast_to(np.asarray(value, dtype=float), batch), 0)


def _slopes(part: Any, batch: tuple[int, ...], n: int) -> Vec:
    slope = part.slope if isinstance(part, Dual) else np.zeros((n, *(1,) * len(batch)))
    return Vec([split(along, 0) for along in np.broadcast_to(slope, (n, *batch))])
