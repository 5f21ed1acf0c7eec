"""Tree → Tree: the same motion with fewer numbers, for forces, the mass matrix and accelerations only.

A regrouped tree must not be asked for energies, momenta, poses or loads of its bodies.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from polhode.model.joints.base import Element
from polhode.model.tree import GROUND, Tree, turning_parts
from polhode.quaternion import conjugate, from_matrix, product
from polhode.scalar import Vec, cross, dot, flat, identity, length, square
from polhode.spatial import ORIGIN, Inertia, Placement, joined, moved

ROUNDING = 4e-15
"""What is a smaller part than this of the numbers it was computed from is 0: rounding left it."""

PARALLEL = 1e-6
"""The sine of an angle below which two axes have no common normal to speak of."""
NEAR = 1e-9
"""Metres that a frame is not moved for."""

COORDINATES = identity(3)
WHOLE = (0.0, 1.0, -1.0)


def regrouped(tree: Tree) -> Tree:
    """The tree without fixed elements, in simple frames, with all mass moved inward that does not feel its own joint.

    Mass on the axis of a revolute joint is as well carried by the parent, and so is a part of the second
    moment that looks the same from there; what reaches the ground is gone. The equations of motion are
    unchanged, and many of their terms are zero. Where elements share velocities, the tree stays as it is.
    """
    if tree.shares:
        return tree
    return _inward(reframed(_inward(_welded(tree))))


class ElementFrame(NamedTuple):
    """A new frame in an element's own: its axes are the columns of Q, its origin lies at d."""

    Q: Vec
    d: Vec


OWN = ElementFrame(COORDINATES, ORIGIN)


def reframed(tree: Tree) -> Tree:
    """The tree in frames that make numbers zero; q and v keep their meaning.

    The frame of a one-axis element is turned so that its axis is z, and moved along it; a slider's may be moved
    anywhere. As with Denavit and Hartenberg, x and the origin are sought on common normals with the neighbours'
    axes; the simplest wins. Where there are symbols, and on a quaternion, a frame stays as it is.
    """
    outer_: list[list[Element]] = [[] for _ in tree.elements]
    for e in tree.elements:
        if e.parent != GROUND:
            outer_[e.parent].append(e)
    frames: list[ElementFrame] = []
    for e, others in zip(tree.elements, outer_, strict=True):
        parent = frames[e.parent] if e.parent != GROUND else OWN
        best = OWN
        if e.kind.one_axis and all(_is_known(x) for x in (e, *others)):
            cost = partial(_cost, e, parent, others)
            best = _least([ElementFrame(Q, ORIGIN) for Q in _turns(e, parent, others)], cost)
            best = _least([ElementFrame(best.Q, d) for d in _moves(e, parent, others)], cost)
        frames.append(best)
    elements = [
        _between(e, frames[e.parent] if e.parent != GROUND else OWN, own)
        for e, own in zip(tree.elements, frames, strict=True)
    ]
    return replace(tree, elements=tuple(elements))


def _least(frames: Sequence[ElementFrame], cost: Callable[[ElementFrame], float]) -> ElementFrame:
    return min(frames, key=cost) if len(frames) > 1 else frames[0]


def _is_known(e: Element) -> bool:
    """Whether the numbers that frames change are numbers already."""
    m, h, S = e.inertia
    matrices = (*e.turning, S)
    own = (*e.axis, *e.position, *flat([*e.numbers.values()]))
    numbers = (m, *h, *own, *(x for matrix in matrices for row in matrix for x in row))
    return all(isinstance(x, float) for x in numbers)


def _turns(e: Element, parent: ElementFrame, others: Sequence[Element]) -> list[Vec]:
    """Axes worth trying: x along the parent's axes, and along the common normals with the axes that follow."""
    if all(_is_simple(x, f) for x, f in ((e, parent), *((x, OWN) for x in others))):
        return [COORDINATES]
    directions = [*(_placed(e).T @ parent.Q).T]
    for x in others:
        normal = cross(e.axis, _placed(x) @ x.axis)
        directions.append(normal if length(normal) > PARALLEL else x.position)
    own = [COORDINATES] if e.axis in COORDINATES else []
    return [*own, *dict.fromkeys(_turned(e.axis, directions))]


def _moves(e: Element, parent: ElementFrame, others: Sequence[Element]) -> list[Vec]:
    """Origins worth trying: nearest to the parent's, to those that follow, and to the axes that follow."""
    feet = [0.0, -dot(e.axis, _placed(e).T @ (e.position - parent.d))]
    for x in others:
        along = _placed(x) @ x.axis
        normal = cross(e.axis, along)
        feet.append(dot(e.axis, x.position))
        if length(normal) > PARALLEL:
            feet.append(dot(cross(x.position, along), normal) / square(normal))
    moves = [s * e.axis if abs(s) > NEAR else ORIGIN for s in feet]
    if not e.kind.turns_about_axis:  # a slider
        moves.append(_placed(e).T @ (parent.d - e.position))
    return list(dict.fromkeys(moves))


def _placed(e: Element) -> Vec:
    """Its orientation at zero."""
    return e.turning[0] + e.turning[1]


def _turned(z: Vec, directions: Iterable[Vec]) -> Iterator[Vec]:
    """Axes with this z, and with x as near as can be to each of some directions; not turned if that is enough."""
    for direction in directions:
        across = direction - dot(z, direction) * z
        if length(across) > PARALLEL:
            x = across / length(across)
            Q = Vec([x, cross(z, x), z]).T
            yield COORDINATES if z in COORDINATES and _is_whole(Q) else Q


def _is_simple(e: Element, parent: ElementFrame) -> bool:
    """Whether its axes are coordinate axes, also of its parent."""
    return parent.Q == COORDINATES and _is_whole(_placed(e)) and (e.axis in COORDINATES or not any(e.axis))


def _is_whole(R: Vec) -> bool:
    return all(x in WHOLE for row in R for x in row)


def _step(e: Element, parent: ElementFrame, own: ElementFrame) -> tuple[Vec, Vec]:
    """Orientation at zero and position in the parent's new frame."""
    C = _placed(e)
    reach = max(abs(x) for arm in (e.position, parent.d, own.d) for x in arm)
    R, r = parent.Q.T @ C @ own.Q, parent.Q.T @ (e.position - parent.d + C @ own.d)
    return Vec([_without_rounding(row, 1.0) for row in R]), _without_rounding(r, reach)


def _without_rounding(x: Vec, scale: float) -> Vec:
    return Vec([0.0 if abs(a) <= ROUNDING * scale else a for a in x])


def _between(e: Element, parent: ElementFrame, own: ElementFrame) -> Element:
    """An element in new frames."""
    if parent == own == OWN:
        return e
    R, r = _step(e, parent, own)
    axis = e.axis if own.Q == COORDINATES else COORDINATES[2]
    turn = product(conjugate(from_matrix(parent.Q)), product(e.orientation, from_matrix(own.Q)))
    turning = turning_parts(R, axis if any(axis) else None)
    return replace(e, axis=axis, position=r, orientation=turn, turning=turning, inertia=_seen(e.inertia, own))


def _seen(body: Inertia, own: ElementFrame) -> Inertia:
    """The mass moments of a body in a new frame."""
    if own == OWN:
        return body
    m, h, S = moved(Placement(own.Q.T, -(own.Q.T @ own.d)), body)
    reach = max(map(abs, own.d))
    first = max(map(abs, body.first)) + m * reach
    second = max(abs(x) for row in body.second for x in row) + first * reach
    return Inertia(m, _without_rounding(h, first), Vec([_without_rounding(row, second) for row in S]))


def _cost(e: Element, parent: ElementFrame, others: Sequence[Element], own: ElementFrame) -> float:
    """About how many operations a frame causes: of the steps to it and from it, and of its body."""
    _, h, S = _seen(e.inertia, own)
    body = sum(5.0 for x in h if x) + sum(4.0 for x in (S[0][1], S[0][2], S[1][2]) if x)
    after = sum(min(_step_cost(x, own, frame) for frame in _simplest(x, own)) for x in others)
    return body + _step_cost(e, parent, own) + after


def _simplest(e: Element, parent: ElementFrame) -> Iterator[ElementFrame]:
    """Frames that an element may get in the end, for an estimate."""
    if not e.kind.one_axis or e.axis in COORDINATES:
        yield OWN
        return
    foot = -dot(e.axis, _placed(e).T @ (e.position - parent.d)) * e.axis
    for Q in _turned(e.axis, (_placed(e).T @ parent.Q).T):
        yield from (ElementFrame(Q, ORIGIN), ElementFrame(Q, foot))


def _step_cost(e: Element, parent: ElementFrame, own: ElementFrame) -> float:
    R, r = _step(e, parent, own)
    cost = sum(6.0 for x in r if x)
    axis = e.axis.index(1.0) if own.Q == COORDINATES and 1.0 in e.axis else 2
    for row in R:
        if not e.kind.turns_about_axis:
            cost += sum(5.0 for x in row if x not in WHOLE)
            continue
        across = [x for k, x in enumerate(row) if k != axis and x]  # these turn into two numbers each
        cost += 10.0 * bool(across) + 5.0 * (row[axis] not in WHOLE)
        cost += 4.0 if len(across) == 2 else 2.0 * sum(x not in WHOLE for x in across)
    return cost


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
        if not e.v:
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
        kept, given = e.kind.shared(e, bodies[i])
        bodies[i] = kept
        if e.parent != GROUND:
            bodies[e.parent] = joined(bodies[e.parent], moved(tree.placed(i), given))
    return replace(tree, elements=tuple(replace(e, inertia=b) for e, b in zip(tree.elements, bodies, strict=True)))
