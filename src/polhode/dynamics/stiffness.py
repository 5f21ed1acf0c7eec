"""Mass matrix, stiffness and damping of a tree as sparse matrices, assembled element by element in loops.

The stiffness of an element is the derivative of its own law by its two frames, (9, 9), which compiled code has once; in
a loop over elements the unit motions of the velocities that carry their ends take it to the machine's. Unknowns that no
body, element or constraint couples have no entry.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

from polhode.dynamics import inertia, kinematics
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.state_inertia import at_state
from polhode.linalg.sparse_loops import StiffMatrices, SymmetricPattern
from polhode.model import Tree
from polhode.model.forces.base import Slopes, StiffLaw
from polhode.model.tree import GROUND
from polhode.quaternion import rotate, rotation_matrix_homogeneous
from polhode.scalar import Loops, Scalar, Vec, cross, dot, flat, is_zero

SOFT = 1e-9
"""What a row of constraints yields, in parts of what it moves by a unit force: rows that depend on others would else
have no pivot; iterations that use the matrices do not notice."""


class _Support(NamedTuple):
    """A velocity that moves an element, and which of its ends: 1 or 0 each."""

    velocity: int
    first: float
    second: float


class _StiffElement(NamedTuple):
    """An element, the tree's elements that carry its ends, and the velocities that move these."""

    law: StiffLaw
    carriers: tuple[int, int]
    support: list[_Support]


def _elements(tree: Tree) -> Iterator[_StiffElement]:
    above = tree.ancestors
    for force in tree.forces:
        law = force.stiff_law()
        if law is None:
            continue
        i, j = (tree.of_body[body] for body, _, _ in law.ends)
        moved = [{k for e in (above[x] if x != GROUND else ()) for k in tree.elements[e].v} for x in (i, j)]
        both = sorted(moved[0] | moved[1])
        yield _StiffElement(law, (i, j), [_Support(k, float(k in moved[0]), float(k in moved[1])) for k in both])


class CarriedBody(NamedTuple):
    """A body that moves along fixed axes and turns, with stiff elements at it: along three axes and freely, or along
    two and about the third.

    shifts  the places in v of its velocities along the axes
    turn    the element of the tree that turns it
    """

    shifts: tuple[int, ...]
    turn: int


def carried_bodies(tree: Tree) -> list[CarriedBody]:
    """The bodies that stiff elements move along fixed axes: the stiffness of those turns with them."""
    found, ancestors = [], tree.ancestors
    for i in sorted({i for element in _elements(tree) for i in element.carriers if i != GROUND}):
        *along, last = [tree.elements[k] for k in sorted(ancestors[i])]
        if not all(e.kind.linear == (True,) and not e.kind.turns for e in along):
            continue
        axes = [e.axis for e in along]
        in_plane = last.kind.turns_about_axis and len({e.joint for e in (*along, last)}) == 1
        if (len(along) == 3 and last.kind.quaternion and _are_right_handed(axes)) or (
            len(along) == 2 and in_plane and _are_right_handed([*axes, last.axis])
        ):
            found.append(CarriedBody(tuple(e.v[0] for e in along), i))
    return found


def _are_right_handed(axes: Sequence[Vec]) -> bool:
    """Whether three axes are those of a frame, in order."""
    known = all(isinstance(x, float) for axis in axes for x in axis)
    return known and max(abs(x) for x in cross(axes[0], axes[1]) - axes[2]) < 1e-9


def turning(tree: Tree, carried: Sequence[CarriedBody], q: Vec, v: Vec) -> Vec:
    """The angular velocities of carried bodies along the axes of their shifts, three numbers each; one in a plane."""
    found: list[Scalar] = []
    for body in carried:
        e = tree.elements[body.turn]
        if len(body.shifts) == 2:
            found.append(v[e.v[0]])
            continue
        rate = rotate(Vec([q[k] for k in e.q]), Vec([v[k] for k in e.v]))
        found += (dot(tree.elements[i].axis, rate) for i in sorted(tree.ancestors[body.turn])[:3])
    return Vec(found)


@lru_cache(maxsize=64)
def _pattern(near: tuple[tuple[int, ...], ...], later: int) -> SymmetricPattern:
    return SymmetricPattern(near, later)


def stiff_matrices(r: Loops, x: Arguments, rows: Sequence[Vec] = (), stressed: Vec | None = None) -> StiffMatrices:
    """The matrices of a tree at a state, in loops.

    rows      those of constraints, A (k, nv)
    stressed  coordinates of which elements have their stresses, near x.q; None: x.q
    """
    x = at_state(x)
    tree, n = x.tree, x.tree.nv
    M, stiff = inertia.mass_matrix(tree, x.q), list(_elements(tree))
    near = [{j for j, value in enumerate(row) if not is_zero(value)} for row in M]
    near += [{j for j, value in enumerate(row) if not is_zero(value)} for row in rows]
    for element in stiff:
        for one in element.support:
            near[one.velocity] |= {other.velocity for other in element.support}
    pattern = _pattern(tuple(tuple(sorted(places)) for places in near), len(rows))
    values: list[Scalar] = [0.0] * pattern.size
    for i, row in enumerate((*M, *rows)):
        for j in near[i]:
            if j <= i:
                values[pattern.slot(i, j)] = row[j]
    for i, row in enumerate(rows, n):
        values[pattern.slot(i, i)] = -SOFT * sum(row[j] * row[j] / M[j][j] for j in near[i])
    base = _filled(r, "inertia", values)
    damped = any(element.law.is_damped for element in stiff)
    K = r.array("stiffness", pattern.size)
    D = (
        r.array("damping", pattern.size)
        if damped or any(not is_zero(d) for e in tree.elements for d in e.damping)
        else None
    )
    for e in tree.elements:
        for k, a in enumerate(e.v):
            slot = pattern.slot(a, a)
            if D is not None and not is_zero(e.damping[k]):
                D[slot] = e.damping[k]
            if e.q and not e.kind.quaternion and not is_zero(e.stiffness[k]):
                K[slot] = e.stiffness[k]
    if stiff:
        _add_elements(r, x, x.q if stressed is None else stressed, pattern, stiff, K, D)
    return StiffMatrices(pattern, base, D, K)


def _filled(r: Loops, name: str, values: Sequence[Any]) -> Any:
    """An array of numbers that are computed within the loops; those that are known come from a table."""
    memory = r.array(name, len(values), unset=True)
    known = r.table(f"{name}_known", [x if isinstance(x, float) else 0.0 for x in values])
    for k in r.range(len(values)):
        memory[k] = known[k]
    for k, value in enumerate(values):
        if not isinstance(value, float):
            memory[k] = value
    return memory


def _add_elements(
    r: Loops,
    x: Arguments,
    stressed: Vec,
    pattern: SymmetricPattern,
    stiff: list[_StiffElement],
    K: Any,
    D: Any | None,
) -> None:
    at = kinematics.frames(x.tree, x.q)
    used = sorted({i for element in stiff for i in element.carriers if i != GROUND})
    place = {GROUND: 0} | {i: k for k, i in enumerate(used, 1)}
    here = _FrameRows.of(r, "frames", at, used)
    there = here if stressed is x.q else _FrameRows.of(r, "stressed", kinematics.frames(x.tree, stressed), used)
    moving = sorted({one.velocity for element in stiff for one in element.support})
    slots = zip(kinematics.motion_slots(x.tree), kinematics.slot_motions(x.tree, x.q, at), strict=True)
    units = {
        a: motion for (a, _), motion in slots
    }  # the matrix steers Newton steps: one frame of shared velocities does
    column = {k: c for c, k in enumerate(moving)}
    from_origin = [(units[k].l - cross(units[k].w, units[k].o), units[k].w) for k in moving]
    motions = _filled(r, "motions", [y for pair in from_origin for part in pair for y in part])
    moves = {k: [not is_zero(y) for part in pair for y in part] for k, pair in zip(moving, from_origin, strict=True)}
    groups: dict[Slopes, list[_StiffElement]] = {}
    for element in stiff:
        groups.setdefault(element.law.slopes, []).append(element)
    for g, group in enumerate(groups.values()):
        damping = D if group[0].law.is_damped else None
        carriers = [i for element in group for i in element.carriers]
        moved = [any(each) for each in zip(*(moves[one.velocity] for e in group for one in e.support), strict=True)]
        _Group(r, f"stiff{g}", pattern, group, place, column).add(
            here.frames(carriers), there.frames(carriers), motions, _seen(moved), K, damping
        )


class _Frames(NamedTuple):
    """Frames of the bodies that elements are at, 12 numbers each, and those that are known and the same in all."""

    memory: Any
    known: list[float | None]

    def get(self, first: Any, k: int) -> Any:
        """A number of the frame that begins at a place."""
        return self.memory[first + k] if self.known[k] is None else self.known[k]


class _FrameRows(NamedTuple):
    """The frames of the bodies that elements are at, by the tree's elements that carry them, and the same in loops."""

    rows: dict[int, list[Any]]
    memory: Any

    @classmethod
    def of(cls, r: Loops, name: str, at: Sequence[Any], used: Sequence[int]) -> "_FrameRows":
        rows = {GROUND: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]}
        rows |= {i: [*flat(at[i].R), *at[i].o] for i in used}
        return cls(rows, _filled(r, name, [y for row in rows.values() for y in row]))

    def frames(self, carriers: Sequence[int]) -> _Frames:
        """Those of a group of elements."""
        return _Frames(self.memory, _common([self.rows[i] for i in carriers]))


def _common(rows: Sequence[Sequence[Any]]) -> list[float | None]:
    """The numbers that are known, and the same in all rows: in a plane those that no motion changes."""
    alike = [all(isinstance(y, float) and y == column[0] for y in column) for column in zip(*rows, strict=True)]
    return [y if same else None for y, same in zip(rows[0], alike, strict=True)]


def _seen(moved: Sequence[bool]) -> tuple[int, ...]:
    """Which of a way and two turns change, from which components of velocities and angular velocities there are."""
    linear, angular = moved[:3], moved[3:]
    way = [linear[k] or angular[(k + 1) % 3] or angular[(k + 2) % 3] for k in range(3)]
    return tuple(k for k, yes in enumerate((*way, *angular, *angular)) if yes)


class _Group:
    """Elements of one law, as tables."""

    def __init__(
        self,
        r: Loops,
        name: str,
        pattern: SymmetricPattern,
        group: list[_StiffElement],
        place: dict[int, int],
        column: dict[int, int],
    ) -> None:
        self.r, self.name, self.law, self.count = r, name, group[0].law, len(group)
        numbers = [
            [*element.law.numbers, *(y for _, point, C in element.law.ends for y in _placed(point, C))]
            for element in group
        ]
        self.width = len(numbers[0])
        rows = [y for row in numbers for y in row]
        known = all(isinstance(y, float) for y in rows)
        self.numbers = (r.table if known else r.given)(f"{name}_numbers", rows)
        self.common = _common(numbers)
        self.bodies = [r.lookup(f"{name}_body{k}", [place[e.carriers[k]] for e in group]) for k in (0, 1)]
        self.most = max(len(e.support) for e in group)
        sizes = [len(e.support) for e in group]
        self.begin, self.end = self._bounds("support", sizes)
        every = [one for e in group for one in e.support]
        self.motion = r.lookup(f"{name}_motion", [column[one.velocity] for one in every])
        self.local = r.lookup(f"{name}_local", [k for n in sizes for k in range(n)])
        self.sides = [r.table(f"{name}_side{k}", [one[1 + k] for one in every]) for k in (0, 1)]
        pairs = [list(combinations_with_replacement(range(n), 2)) for n in sizes]
        self.first, self.after = self._bounds("pairs", [len(x) for x in pairs])
        chosen = [(e, i, j) for e, x in zip(group, pairs, strict=True) for i, j in x]
        self.left = r.lookup(f"{name}_left", [i for _, i, _ in chosen])
        self.right = r.lookup(f"{name}_right", [j for _, _, j in chosen])
        slots = [pattern.slot(e.support[i].velocity, e.support[j].velocity) for e, i, j in chosen]
        self.slot = r.lookup(f"{name}_slot", slots)

    def _bounds(self, what: str, sizes: list[int]) -> tuple[Any, Any]:
        ends = [sum(sizes[: k + 1]) for k in range(len(sizes))]
        begins = [0, *ends[:-1]]
        return self.r.lookup(f"{self.name}_{what}", begins), self.r.lookup(f"{self.name}_{what}_end", ends)

    def add(
        self, frames: _Frames, stressed: _Frames, motions: Any, seen: tuple[int, ...], K: Any, D: Any | None
    ) -> None:
        """Add the elements to stiffness and damping.

        stressed  where they have their stresses
        seen      which of a way and two turns there are: in a plane four of the nine
        """
        r, size = self.r, len(seen)
        half = size * (size + 1) // 2
        B = r.array(f"{self.name}_B", self.most * size, unset=True)
        targets = [(K, 0)] if D is None else [(K, 0), (D, half)]
        products = [r.array(f"{self.name}_KB{k}", self.most * size, unset=True) for k in range(len(targets))]
        law = r.array(f"{self.name}_law", half * len(targets), unset=True)
        for e in r.range(self.count):
            n = [self.numbers[e * self.width + k] if x is None else x for k, x in enumerate(self.common)]
            stresses = self.law.stresses(*self._ends(stressed, e, n)[:3], Vec(n[:-24]))
            *ends, (o_p, o_q) = self._ends(frames, e, n)
            found = self.law.slopes(seen)(*ends, Vec(n[:-24]), stresses)
            for k, value in enumerate(found):
                law[k] = value
            for s in r.range(self.begin.at(e), self.end.at(e)):
                one = self._motion(motions, s, o_p, o_q)
                local = self.local.at(s)
                out = [
                    [sum(law[first + _packed(i, j)] * one[k] for j, k in enumerate(seen)) for i in range(size)]
                    for _, first in targets
                ]
                for m, k in enumerate(seen):
                    B[local * size + m] = one[k]
                for product, values in zip(products, out, strict=True):
                    for m, value in enumerate(values):
                        product[local * size + m] = value
            for o in r.range(self.first.at(e), self.after.at(e)):
                left, right, slot = self.left.at(o), self.right.at(o), self.slot.at(o)
                for (target, _), product in zip(targets, products, strict=True):
                    value = sum(B[left * size + m] * product[right * size + m] for m in range(size))
                    target[slot] = target[slot] + value

    def _ends(self, frames: _Frames, e: Any, n: Sequence[Any]) -> tuple[Vec, Vec, Vec, tuple[Vec, Vec]]:
        """R_p, R_q, the way from p to q, and the origins of both."""
        (R_p, o_p), (R_q, o_q) = (self._end(frames, e, k, n[-24 + 12 * k :]) for k in (0, 1))
        return Vec(flat(R_p)), Vec(flat(R_q)), o_q - o_p, (o_p, o_q)

    def _end(self, frames: _Frames, e: Any, k: int, own: Sequence[Any]) -> tuple[Vec, Vec]:
        """The frame of an end in the world."""
        at = self.bodies[k].at(e) * 12
        R = Vec([Vec([frames.get(at, 3 * i + j) for j in range(3)]) for i in range(3)])
        C = Vec([Vec(own[3 * i : 3 * i + 3]) for i in range(3)])
        return R @ C, Vec([frames.get(at, 9 + i) for i in range(3)]) + R @ Vec(own[9:12])

    def _motion(self, motions: Any, s: Any, o_p: Vec, o_q: Vec) -> Vec:
        """How a unit velocity moves the ends of an element: the way from one to the other, and both turns."""
        at = self.motion.at(s) * 6
        u, w = (Vec([motions[at + k + m] for m in range(3)]) for k in (0, 3))
        p, q = self.sides[0][s], self.sides[1][s]
        return Vec([*(q * (u + cross(w, o_q)) - p * (u + cross(w, o_p))), *(p * w), *(q * w)])


def _placed(point: Vec, orientation: Vec) -> list[Scalar]:
    return [*flat(rotation_matrix_homogeneous(orientation)), *point]


def _packed(i: int, j: int) -> int:
    """The place of an entry of a symmetric matrix by rows up to the diagonal."""
    i, j = max(i, j), min(i, j)
    return i * (i + 1) // 2 + j
