"""Steps on a manifold: any rule for vectors, applied in a chart around the present state."""

from collections.abc import Callable
from typing import Any

from polhode.integrate.method import Method, Step
from polhode.scalar import Scalar, Vec


def in_chart(method: Method, origin: Callable[[Vec], Vec], retract: Callable[[Vec, Vec], Vec]) -> Callable[..., Step]:
    """A step rule on a manifold, of the same order, from one for vectors.

    The state never leaves the manifold, whatever the step.                  Munthe-Kaas (1998)

    origin(x)      the coordinates of x in the chart around x
    retract(x, y)  the state at the coordinates y of the chart around x
    ->             step(rhs, t, x, h), where rhs(t, x, y) is ẏ in the chart around x
    """

    def step(rhs: Callable[[Scalar, Vec, Vec], Vec], t: Any, x: Vec, h: Any) -> Step:
        return Step(retract(x, method(lambda s, y: rhs(s, x, y), t, origin(x), h).x))

    return step
