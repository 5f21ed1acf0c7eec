"""How a quantity is recorded: the decorator, and the axes and arguments that many quantities share."""

from collections.abc import Callable
from typing import Any

from polhode.system.quantity import Algorithm, Argument, Axes, Quantity, Request

QUANTITIES: dict[str, Quantity] = {}
"""Every quantity by name."""

Q, V, VD, TAU, Q1 = map(Argument, ("q", "v", "vd", "tau", "q1"))
POINT, LOAD, QDOT, PART = map(Argument, ("point", "load", "qdot", "part"))
RESTITUTION, DAMPING, MULTIPLIERS, FACTORS = map(Argument, ("restitution", "damping", "multipliers", "factors"))
SCALAR, VECTOR, QUATERNION, VELOCITIES, COORDINATES, SQUARE = (), (3,), (4,), ("nv",), ("nq",), ("nv", "nv")
SIX_ROWS: Axes = (6, "nv")

FRAMES = "the frames of the tree"
"""The algorithm of quantities that follow from where bodies are and how they move."""


def quantity(
    arguments: tuple[Argument, ...],
    *results: Axes,
    by: str,
    record: type | None = None,
    also: tuple[Algorithm, ...] = (),
    of_body: bool = False,
    of_subtree: bool = False,
    choices: tuple[str, ...] = (),
    needs_constraints: bool = False,
    inverts_mass: bool = False,
    divides_by_mass: bool = False,
    is_watched: bool = False,
    **of_algorithm: Any,
) -> Callable[[Callable[[Request], Any]], Quantity]:
    """The record of a quantity, from the function that computes it.

    by            what the algorithm does, and where it is from
    also          further algorithms
    of_algorithm  fields of `Algorithm`; all else are fields of `Quantity`
    """

    def recorded(function: Callable[[Request], Any]) -> Quantity:
        name, what = function.__name__, str(function.__doc__).removesuffix(".")
        algorithms = (Algorithm(by, function, **of_algorithm), *also)
        QUANTITIES[name] = Quantity(
            name,
            what,
            arguments,
            results,
            algorithms,
            record,
            of_body,
            of_subtree,
            choices,
            needs_constraints,
            inverts_mass,
            divides_by_mass,
            is_watched,
        )
        return QUANTITIES[name]

    return recorded
