"""The lengths that errors of coordinates are to be small against, where force elements declare them."""

from typing import NamedTuple

from polhode.model.tree import GROUND, Tree
from polhode.scalar import Scalar, minimum


class ErrorLength(NamedTuple):
    """A coordinate that is a way, its place in q and that of its velocity in v, and the length for its errors, m."""

    coordinate: int
    velocity: int
    length: Scalar


def error_lengths(tree: Tree) -> tuple[ErrorLength, ...]:
    """Those of the ways that move bodies of elements with an `error_length`: the smallest of them.

    Turns have none: an error of 1 rad is large on every machine.
    """
    found: dict[int, ErrorLength] = {}
    for force in tree.forces:
        if (length := force.error_length) is None:
            continue
        carriers = {tree.of_body[body] for body in force.bodies} - {GROUND}
        for i in sorted({i for carrier in carriers for i in tree.ancestors[carrier]}):
            e = tree.elements[i]
            if e.kind.linear != (True,) or e.kind.turns:
                continue
            old = found.get(e.v[0])
            found[e.v[0]] = ErrorLength(e.q[0], e.v[0], minimum(old.length, length) if old else length)
    return tuple(found.values())
