"""Tree → Tree: the same motion with fewer numbers, for forces, the mass matrix and accelerations only.

A regrouped tree must not be asked for energies, momenta, poses or loads of its bodies.
"""

from dataclasses import replace

from polhode.model.tree import GROUND, NOTHING, ORIGIN, Element, Tree
from polhode.quaternion import product
from polhode.scalar import Vec, diagonal, dot, outer
from polhode.spatial import Inertia, Placement, joined, moved


def regrouped(tree: Tree) -> Tree:
    """The tree without fixed elements, with all mass moved inward that does not feel its own joint.

    Mass on the axis of a revolute joint is as well carried by the parent, and so is a part of the second
    moment that looks the same from there; what reaches the ground is gone. The equations of motion are
    unchanged, and many of their terms are zero.
    """
    return _inward(_welded(tree))


def _welded(tree: Tree) -> Tree:
    """Fixed elements joined to what they are fixed to."""
    elements: list[Element] = []
    place: dict[int, tuple[int, Placement, Vec] | None] = {GROUND: None}  # new parent, placement and attitude there
    index: dict[int, int] = {GROUND: GROUND}
    for i, e in enumerate(tree.elements):
        at, attitude, parent = tree.placed(i), e.orientation, index[e.parent]
        turning = e.turning
        outer_ = place.get(e.parent)
        if outer_:
            parent, before, q = outer_
            at = Placement(before.R @ at.R, before.r + before.R @ at.r)
            turning = tuple(before.R @ C for C in turning)
            attitude = product(q, attitude)
        if e.kind == "fixed":
            place[i], index[i] = (parent, at, attitude), parent
            if parent != GROUND:
                host = elements[parent]
                elements[parent] = replace(host, inertia=joined(host.inertia, moved(at, e.inertia)))
            continue
        place[i], index[i] = None, len(elements)
        elements.append(replace(e, parent=parent, position=at.r, orientation=attitude, turning=turning))
    of_body = {name: index[i] for name, i in tree.of_body.items()}
    return replace(tree, elements=tuple(elements), of_body=of_body)


def _inward(tree: Tree) -> Tree:
    """Mass that does not feel its joint, handed to the parent; leaves first."""
    bodies = [e.inertia for e in tree.elements]
    for i in reversed(range(len(bodies))):
        e = tree.elements[i]
        kept, given = _shared(e, bodies[i])
        bodies[i] = kept
        if e.parent != GROUND:
            bodies[e.parent] = joined(bodies[e.parent], moved(tree.placed(i), given))
    return replace(tree, elements=tuple(replace(e, inertia=b) for e, b in zip(tree.elements, bodies, strict=True)))


def _shared(e: Element, body: Inertia) -> tuple[Inertia, Inertia]:
    """The mass moments of a body that its joint moves, and those that the parent may carry as well."""
    m, h, S = body
    if e.kind == "revolute":  # mass on the axis: m, and h and Σ along it
        along = dot(e.axis, h) * e.axis
        axial = dot(e.axis, S @ e.axis) * outer(e.axis, e.axis)
        return Inertia(0.0, h - along, S - axial), Inertia(m, along, axial)
    if e.kind == "prismatic":  # it turns with the parent: Σ
        return Inertia(m, h, diagonal(ORIGIN)), Inertia(0.0, ORIGIN, S)
    if e.kind == "ball":  # mass at its centre: m
        return Inertia(0.0, h, S), Inertia(m, ORIGIN, diagonal(ORIGIN))
    return body, NOTHING
