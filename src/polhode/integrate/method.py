"""What a step rule is, and how it is repeated.

A method is a pure function step(rhs, t, x, h) -> Step on generic scalars: it sees a right-hand side
rhs(t, x), never a machine.
"""

from collections.abc import Callable
from typing import NamedTuple

from polhode.scalar import Scalar, Vec

Rhs = Callable[[Scalar, Vec], Vec]
"""ẋ = rhs(t, x)"""


class Step(NamedTuple):
    """The state after a step, and an estimate of its error where the rule has one."""

    x: Vec
    error: Vec | None = None


Method = Callable[[Rhs, Scalar, Vec, Scalar], Step]
Project = Callable[[Vec], Vec]
"""A state moved back to where it belongs (the unit sphere, a constraint)."""


def fixed_step(method: Method, rhs: Rhs, x: Vec, h: float, steps: int, project: Project | None = None) -> list[Vec]:
    """The states at t = 0, h, 2h, …, `steps` h, projected after each step if asked."""
    states = [x]
    for k in range(steps):
        x = method(rhs, k * h, x, h).x
        if project:
            x = project(x)
        states.append(x)
    return states
