"""The Christoffel symbols of large trees, in loops."""

from itertools import accumulate
from typing import Any

from polhode.dynamics.inertia import impulse
from polhode.dynamics.large_trees.subtree_rows import (
    Columns,
    CompositePasses,
    Matrix,
    UnitMotionAt,
    clear_unrelated,
    depth_first,
    runs_of,
)
from polhode.model.tree import Tree
from polhode.quaternion import skew
from polhode.scalar import Loops, Scalar, Vec, cross, dot, identity, loops_for, outer
from polhode.spatial import ORIGIN, Inertia, Twist

AROUND = ((0, 1, 2, 1), (1, 2, 0, 1), (2, 0, 1, 1), (1, 0, 2, -1), (2, 1, 0, -1), (0, 2, 1, -1))
"""The axes of a quaternion, and ε of them."""


def christoffel(tree: Tree, q: Vec) -> Vec:
    """Christoffel symbols Γ[a, b, g], nv × nv × nv, as `dynamics.covariant`, in loops.

    Γ[a, b, g] = w_a·N_bg if a ≼ b;  w_b·N_ag if only b ≼ a;  0 if a, b are unrelated
    N_bg = K_g w_b + t_b × P_g,  K_g = h_g l_gᵀ − (h_g·l_g) 1 − Σ_g [w_g]×,  N_gb = −N_bg                         b ≼ g

    World axes. N is three matrices, zero for pairs that are not related; a row of symbols is a sum of three rows.
    """
    tree = depth_first(tree)
    n = tree.nv
    with loops_for("christoffel", q) as r:
        p, out = CompositePasses(r, tree, q), r.output("G", n**3, unset=True)
        held, N = Columns(r, "held", n, (identity(3), ORIGIN)), [Matrix(r, f"pair_{axis}", n) for axis in "xyz"]
        # passes 1 and 2: what each unit motion g makes of others, and the pairs of one element
        p.outward()
        for _, first, composite, units in p.inward():
            for k, unit in enumerate(units):
                K, P = _held(composite, unit)
                held.put(first + k, (K, P))
                for b, by in enumerate(units[:k]):
                    _put(N, first + b, first + k, K @ by.w + cross(by.l, P))
                _put(N, first + k, first + k, ORIGIN)
        # pass 3: N of each velocity and those that it carries
        for b in r.range(n):
            o, l, w = p.motion.get(b)
            for g in r.together(p.places.below.at(b), p.places.end.at(b)):
                K, P = held.get(g)
                _put(N, b, g, K @ w + cross(l + cross(w, p.motion.get(g).o - o), P))
        clear_unrelated(r, p.places, *N)
        for matrix in N:
            matrix.mirror(skew=True)
        # pass 4: the symbols
        _rows_of_symbols(r, tree, p, N, out)
        _add_armature(r, tree, p, out)
    found = r.results()
    rows = [Vec(found[i * n : (i + 1) * n]) for i in range(n * n)]
    return Vec([Vec(rows[i * n : (i + 1) * n]) for i in range(n)])


def _held(body: Inertia, unit: UnitMotionAt) -> tuple[Vec, Vec]:
    """K and P of a unit motion that moves a body."""
    _, l, w = unit
    P, _ = impulse(body, Twist(l, w))
    h = body.first
    return outer(h, l) - dot(h, l) * identity(3) - body.second @ skew(w), P


def _put(N: list[Matrix], b: Any, g: Any, value: Vec) -> None:
    for matrix, x in zip(N, value, strict=True):
        matrix[b, g] = x


def _rows_of_symbols(r: Loops, tree: Tree, p: CompositePasses, N: list[Matrix], out: Any) -> None:
    """Γ[a, b, ·] and, of two elements, Γ[b, a, ·] = Γ[a, b, ·], for all b that a carries; zeros for unrelated ones."""
    order, n, runs = p.places.order, tree.nv, runs_of(p.places.order)
    firsts = accumulate((len(e.v) for e in tree.elements), initial=0)
    start = r.lookup("start", [first for first, e in zip(firsts, tree.elements, strict=False) for _ in e.v])
    plane, row = r.lookup("plane", [a * n * n for a in order]), r.lookup("line", [a * n for a in order])

    def fill(b: Any, places: tuple[Any, ...], w: Vec | None) -> None:
        for first, last, shift in runs:
            for g in r.together(first, last):
                value: Scalar = 0.0 if w is None else dot(w, Vec([matrix[b, g] for matrix in N]))
                for place in places:
                    out[place + g + shift] = value

    for a in r.range(n):
        w = p.motion.get(a).w
        for b in r.range(start.at(a), p.places.below.at(a)):
            fill(b, (plane.at(a) + row.at(b),), w)
        for b in r.range(p.places.below.at(a), p.places.end.at(a)):
            fill(b, (plane.at(a) + row.at(b), plane.at(b) + row.at(a)), w)
        for b in r.range(p.places.end.at(a), n):
            fill(b, (plane.at(a) + row.at(b), plane.at(b) + row.at(a)), None)


def _add_armature(r: Loops, tree: Tree, p: CompositePasses, out: Any) -> None:
    """Armature D on a quaternion: ½ ε[a, b, g] (D_b + D_g − D_a) is added."""
    n, rows = tree.nv, p.rows
    if not any(e.kind.quaternion for e in tree.elements):
        return
    first = r.lookup("corner", [e.v[0] * (n * n + n + 1) if e.v else 0 for e in tree.elements])
    for i in r.range(rows.n):
        for e in rows.each_kind(i):
            if e.kind.quaternion:
                D = e.armature
                for a, b, g, sign in AROUND:
                    place = first.at(i) + (a * n * n + b * n + g)
                    out[place] = out[place] + sign * (D[b] + D[g] - D[a]) / 2
