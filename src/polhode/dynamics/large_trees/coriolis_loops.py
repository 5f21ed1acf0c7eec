"""The Coriolis matrix of large trees, in loops."""

from typing import Any

from polhode.dynamics.inertia import impulse
from polhode.dynamics.large_trees.derivative_passes import DerivativePasses, unpacked
from polhode.dynamics.large_trees.subtree_rows import clear_unrelated, depth_first
from polhode.dynamics.spatial_vectors import motion_cross, moved_to
from polhode.model.joints.base import Element
from polhode.model.tree import Tree
from polhode.quaternion import skew
from polhode.scalar import Scalar, Vec, cross, dot, identity, loops_for, trace
from polhode.spatial import AT_REST, ORIGIN


def coriolis(tree: Tree, q: Vec, v: Vec) -> Vec:
    """The Coriolis matrix C, nv × nv, as `dynamics.covariant`, in loops.

    C[b, a] = S_bᵀ(B_b S_a + I_b Ṡ_a),  C[a, b] = S_aᵀ(B_b S_b + I_b Ṡ_b),  Ṡ = v × S                  a ≼ b
    """
    tree = depth_first(tree)
    n = tree.nv
    with loops_for("coriolis", (q, v)) as r:
        p, out = DerivativePasses(r, tree, q, v, 1.0), r.output("C", n * n, unset=True)
        C, below = p.matrix("whole"), p.matrix("below")
        rate, response = p.columns("rate", AT_REST), p.columns("response", (ORIGIN, ORIGIN, ORIGIN, ORIGIN, ORIGIN))
        p.outward(ORIGIN)
        for _ in p.bodies():
            pass
        for i, e in p.each(down=True):
            p.gather(i, e, p.step(i))
        for s in p.slots():
            S, body, (k, beta) = p.S.get(s), unpacked(p.composite.get(s)), p.flow.get(s)
            T, change = (trace(beta) * identity(3) - beta.T) / 2, motion_cross(p.v.get(s), S)
            (P, H), (f, m) = impulse(body, S), impulse(body, change)
            rate.put(s, change)
            turn = cross(k, S.linear) / 2 + T.T @ S.angular
            response.put(s, (P, H, turn, f + cross(S.angular, k) / 2, m + T @ S.angular))

        def lower(a: Any, b: Any, d: Vec) -> Scalar:
            (P, H, turn, _, _), change = response.get(b), moved_to(rate.get(a), d)
            return dot(p.S.get(a).angular, turn) + dot(change.linear, P) + dot(change.angular, H)

        for a in r.range(n):
            for b in r.together(p.places.below.at(a), p.places.end.at(a)):
                S, d, (_, _, _, f, m) = p.S.get(a + 1), p.frame.get(b + 1).o - p.frame.get(a + 1).o, response.get(b + 1)
                C[a, b] = dot(S.linear + cross(S.angular, d), f) + dot(S.angular, m)
                below[a, b] = lower(a + 1, b + 1, d)
        for i, e in p.each():
            first, extra = p.first(i), _of_armature(e, p.rows.of_v(p.V, i))
            for a in range(len(e.v)):
                for b in range(len(e.v)):
                    value = lower(p.slot(i) + a, p.slot(i) + b, ORIGIN) + extra[b][a]
                    if a < b:
                        below[first + a, first + b] = value
                    else:
                        C[first + b, first + a] = value
        clear_unrelated(r, p.places, C, below)
        C.mirror(below)
        C.deliver(out, p.places.order)
    found = r.results()
    return Vec([Vec(found[i * n : (i + 1) * n]) for i in range(n)])


def _of_armature(e: Element, v: Any) -> Vec:
    """What armature on a quaternion adds to its block of C."""
    if not e.kind.quaternion:
        return 0.0 * identity(len(e.v))
    return e.armature[0] / 2 * skew(Vec([v[0], v[1], v[2]]))
