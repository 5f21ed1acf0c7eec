"""The configuration manifold of a tree: steps between configurations, distances, and derivatives of both.

Every element has its own part of q and v: derivatives are square blocks on the diagonal, one for each element.
"""

from collections.abc import Callable

from polhode.dynamics.kinematics import difference, integrate, own_coordinates
from polhode.model.joints.base import Element
from polhode.model.tree import Tree
from polhode.scalar import Scalar, Vec, derivative_along, identity, length, square


def interpolate(tree: Tree, q0: Vec, q1: Vec, part: Scalar) -> Vec:
    """The configuration q0 ⊕ s (q1 ⊖ q0)."""
    return integrate(tree, q0, part * difference(tree, q0, q1))


def distance(tree: Tree, q0: Vec, q1: Vec) -> Scalar:
    """‖q1 ⊖ q0‖"""
    return length(difference(tree, q0, q1)) if tree.nv else 0.0


def squared_distance(tree: Tree, q0: Vec, q1: Vec) -> Scalar:
    """‖q1 ⊖ q0‖²"""
    return square(difference(tree, q0, q1)) if tree.nv else 0.0


def rate_matrix(tree: Tree, q: Vec) -> Vec:
    """The matrix (nq, nv) of q̇ = Q v."""
    found: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nq)]
    for e in tree.elements:
        own = own_coordinates(e, q)
        for b, unit in zip(e.v, identity(len(e.v)), strict=True):
            for k, value in zip(e.q, e.kind.rate(own, unit), strict=True):
                found[k][b] = value
    return Vec([Vec(row) for row in found])


def integrate_derivatives(tree: Tree, q: Vec, dv: Vec) -> tuple[Vec, Vec]:
    """The derivatives of q ⊕ δ along the tangent directions of q and by δ, (nv, nv) each, in those at its end."""

    def by_q(e: Element, unit: Vec) -> Vec:
        own, step = own_coordinates(e, q), Vec([dv[k] for k in e.v])
        there, slope = derivative_along(lambda x: e.kind.retract(x, step), own, e.kind.rate(own, unit))
        return e.kind.tangent(there, slope)

    def by_step(e: Element, unit: Vec) -> Vec:
        own, step = own_coordinates(e, q), Vec([dv[k] for k in e.v])
        there, slope = derivative_along(lambda x: e.kind.retract(own, x), step, unit)
        return e.kind.tangent(there, slope)

    return _blocks(tree, by_q), _blocks(tree, by_step)


def difference_derivatives(tree: Tree, q0: Vec, q1: Vec) -> tuple[Vec, Vec]:
    """The derivatives of q1 ⊖ q0 along the tangent directions of q0 and of q1, each (nv, nv)."""

    def by_first(e: Element, unit: Vec) -> Vec:
        a, b = own_coordinates(e, q0), own_coordinates(e, q1)
        return derivative_along(lambda x: e.kind.difference(x, b), a, e.kind.rate(a, unit))[1]

    def by_second(e: Element, unit: Vec) -> Vec:
        a, b = own_coordinates(e, q0), own_coordinates(e, q1)
        return derivative_along(lambda x: e.kind.difference(a, x), b, e.kind.rate(b, unit))[1]

    return _blocks(tree, by_first), _blocks(tree, by_second)


def _blocks(tree: Tree, slope: Callable[[Element, Vec], Vec]) -> Vec:
    """A square matrix from what each element gives along its own unit velocities."""
    found: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for e in tree.elements:
        for b, unit in zip(e.v, identity(len(e.v)), strict=True):
            for a, value in zip(e.v, slope(e, unit), strict=True) if e.q else ():
                found[a][b] = value
    return Vec([Vec(row) for row in found])
