"""Derivatives of inverse and forward dynamics by recursion over the tree, in loops.

World axes; what belongs to an element is about its own origin o, velocities and accelerations are those of a frame at
rest there (spatial vectors). With a ≼ b meaning "a carries b", for unit motions S that are constant in their
element (Singh (2022), after Carpentier (2018)):

    Ψ̇ = v_p × S,  Ψ̈ = a_p × S + v_p × Ψ̇,  Φ = Ψ̇ + v × S                                        p: the parent
    ∂τ_b/∂q_a = S_bᵀ(2B_b Ψ̇_a + I_b Ψ̈_a),  ∂τ_b/∂v_a = S_bᵀ(2B_b S_a + I_b Φ_a)                  a ≼ b
    ∂τ_a/∂q_b = S_aᵀ(2B_b Ψ̇_b + I_b Ψ̈_b + S_b ×* f_b),  ∂τ_a/∂v_b = S_aᵀ(2B_b S_b + I_b Φ_b)      a ≺ b

I, f: inertia of a composite and the force that it needs. 2B of a motion (l, w) is (2 w × k, 2 (tr β − βᵀ) w) with
k = ∫ṙ dm, β = ∫r ṙᵀ dm. M⁻¹ comes from articulated bodies, row by row, to the root and back (CarpentierInverse).
"""

from collections.abc import Sequence
from typing import Any

from polhode.dynamics.large_trees.derivative_passes import DerivativePasses
from polhode.dynamics.large_trees.inverse_rows import InverseRows
from polhode.dynamics.large_trees.subtree_rows import depth_first
from polhode.model.tree import Tree
from polhode.scalar import Loops, Scalar, Vec, loops_for
from polhode.spatial import ORIGIN, Twist


def applies(tree: Tree) -> bool:
    """Whether the unit motions of all elements are constant in their axes, and each has velocities of its own."""
    return not tree.shares and all(e.kind.constant or not e.v for e in tree.elements)


def inverse_derivatives(
    tree: Tree, q: Vec, v: Vec, vd: Vec, slopes: tuple[Vec, Vec] | None = None
) -> tuple[Vec, Vec, Vec]:
    """∂τ/∂q along the tangent directions, ∂τ/∂v, M, each nv × nv; of inertia and gravity.

    slopes  derivatives by q and v of other generalised forces that act, nv × nv each
    """
    tree = depth_first(tree)
    with loops_for("inverse_derivatives", (q, v, vd)) as r:
        p, A = DerivativePasses(r, tree, q, v, 1.0), r.given("vd", vd)
        outs, M = _outputs(r, tree.nv), p.matrix("mass")
        p.outward(-tree.gravity, A)
        for _ in p.bodies():
            pass
        p.tangents()
        for i, e in p.each(down=True):
            d = p.step(i)
            p.gather(i, e, d)
            p.hand_on(i, e, d)
        p.responses()
        p.pairs(M, slopes)
        for out, matrix in zip(outs, (p.dq, p.dv, M), strict=True):
            matrix.deliver(out, p.places.order)
    return _squares(r.results(), tree.nv)


def forward_derivatives(
    tree: Tree, q: Vec, v: Vec, tau: Vec, slopes: tuple[Vec, Vec] | None = None
) -> tuple[Vec, Vec, Vec]:
    """∂v̇/∂q along the tangent directions, ∂v̇/∂v, M⁻¹, each nv × nv.

    tau     all generalised forces that act but gravity
    slopes  their derivatives by q and v, nv × nv each
    """
    tree = depth_first(tree)
    with loops_for("forward_derivatives", (q, v, tau)) as r:
        p = DerivativePasses(r, tree, q, v, -1.0)
        inverse, outs = InverseRows(p, r.given("tau", tau)), _outputs(r, tree.nv)
        p.outward(ORIGIN)
        for s, body in p.bodies():
            inverse.begin(s, body)
        for i, e in p.each(down=True):
            d = p.step(i)
            inverse.inward(i, e, d)
            p.gather(i, e, d)
        inverse.answer.put(0, Twist(-tree.gravity, ORIGIN))
        for i, e in p.each():
            inverse.outward(i, e, p.step(i))
        p.tangents((inverse.answer, inverse.answer_p))
        for i, e in p.each(down=True):
            p.hand_on(i, e, p.step(i))
        p.responses()
        p.pairs(None, slopes)
        inverse.rows.mirror()
        filled = p.filled(slopes)
        for out, matrix in zip(outs[:2], (p.dq, p.dv), strict=True):
            inverse.rows.times(matrix, out, p.places.order, filled)
        inverse.rows.deliver(outs[2], p.places.order)
    return _squares(r.results(), tree.nv)


def _outputs(r: Loops, n: int) -> list[Any]:
    return [r.output(name, n * n, unset=True) for name in ("out_q", "out_v", "out_x")]


def _squares(found: Sequence[Scalar], n: int) -> tuple[Vec, Vec, Vec]:
    rows = [Vec(found[i * n : (i + 1) * n]) for i in range(3 * n)]
    return Vec(rows[:n]), Vec(rows[n : 2 * n]), Vec(rows[2 * n :])
