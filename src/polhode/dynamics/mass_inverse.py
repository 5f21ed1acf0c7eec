"""What the inverse of the mass matrix gives: M⁻¹, M⁻¹x, and what a load on a machine at rest moves, J M⁻¹ Jᵀ.

With M = Lᵀ D L (Featherstone (2008) 8.1) and Y = L⁻ᵀJᵀ, J M⁻¹ Jᵀ = Yᵀ D⁻¹ Y: half of the substitutions, and symmetric.
"""

from dataclasses import replace
from typing import NamedTuple

from polhode.dynamics import forward, inertia
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.large_trees import derivatives, loops, one_velocity_loops
from polhode.linalg.triangular import Triangle, positive_inverse
from polhode.model.tree import Tree
from polhode.scalar import Scalar, Vec, diagonal, dot
from polhode.spatial import ORIGIN


class KktInverse(NamedTuple):
    """The blocks of [[M, Aᵀ], [A, −μ]]⁻¹."""

    motions: Vec
    """(nv, nv)  accelerations per force"""
    mixed: Vec
    """(nv, k)  accelerations per value of A v̇"""
    rows: Vec
    """(k, k)  −(A M⁻¹ Aᵀ + μ)⁻¹"""

    @property
    def matrix(self) -> Vec:
        """The whole of it."""
        upper = [Vec((*a, *b)) for a, b in zip(self.motions, self.mixed, strict=True)]
        columns = self.mixed.T if self.rows else Vec()
        return Vec([*upper, *(Vec((*a, *b)) for a, b in zip(columns, self.rows, strict=True))])


def solved(x: Arguments) -> Vec:
    """M⁻¹ τ by articulated bodies, at rest and without gravity: M is not formed."""
    tree, still = replace(x.tree, gravity=ORIGIN), Vec([0.0] * x.tree.nv)
    if x.rolled:
        in_loops = one_velocity_loops if one_velocity_loops.applies(tree) else loops
        return in_loops.forward_dynamics(tree, x.q, still, x.tau)
    return forward.forward_dynamics(tree, x.q, still, x.tau)


def solved_by_factors(x: Arguments) -> Vec:
    """M⁻¹ τ from the factors of M."""
    return inertia.solve_factored(x.tree, *inertia.factor(x.tree, inertia.mass_matrix(x.tree, x.q)), x.tau)


def inverse(x: Arguments) -> Vec:
    """M⁻¹, symmetric to the last bit."""
    return inertia.inverse_factored(x.tree, *inertia.factor(x.tree, inertia.mass_matrix(x.tree, x.q)))


def inverse_by_recursion(x: Arguments) -> Vec:
    """M⁻¹ by articulated bodies, in loops over the joints."""
    still = Vec([0.0] * x.tree.nv)
    return derivatives.forward_derivatives(replace(x.tree, gravity=ORIGIN), x.q, still, still)[2]


def moved_by(tree: Tree, q: Vec, rows: Vec) -> Vec:
    """J M⁻¹ Jᵀ of some rows J (k, nv): what unit loads along them move along each of them, (k, k)."""
    L, D = inertia.factor(tree, inertia.mass_matrix(tree, q))
    halves = [inertia.half_solved(tree, L, row) for row in rows]
    scaled = [Vec([x / d for x, d in zip(y, D, strict=True)]) for y in halves]
    found: list[list[Scalar]] = [[0.0] * len(rows) for _ in rows]
    for i, y in enumerate(halves):
        for j in range(i + 1):
            found[i][j] = found[j][i] = dot(y, scaled[j])
    return Vec([Vec(row) for row in found])


def delassus_factor(tree: Tree, q: Vec, rows: Vec, damping: Scalar) -> Vec:
    """K, lower triangular, of K Kᵀ = A M⁻¹ Aᵀ + μ; NaN where that is not positive definite."""
    G = moved_by(tree, q, rows) + diagonal([damping] * len(rows))
    K, k = Triangle.root(G).entries, len(rows)
    return Vec([Vec([K[i * k + j] if j <= i else 0.0 for j in range(k)]) for i in range(k)])


def kkt_matrix(tree: Tree, q: Vec, rows: Vec, damping: Scalar) -> Vec:
    """[[M, Aᵀ], [A, −μ]], (nv + k, nv + k)."""
    M = inertia.mass_matrix(tree, q)
    upper = [Vec((*row, *(a[i] for a in rows))) for i, row in enumerate(M)]
    corner = diagonal([-damping] * len(rows))
    return Vec([*upper, *(Vec((*a, *c)) for a, c in zip(rows, corner, strict=True))])


def kkt_inverse(tree: Tree, q: Vec, rows: Vec, damping: Scalar) -> KktInverse:
    """[[M, Aᵀ], [A, −μ]]⁻¹ by blocks; NaN where A M⁻¹ Aᵀ + μ is not positive definite."""
    inverse = inertia.inverse_factored(tree, *inertia.factor(tree, inertia.mass_matrix(tree, q)))
    X = inverse @ rows.T
    S = positive_inverse(rows @ X + diagonal([damping] * len(rows)))
    mixed = X @ S
    return KktInverse(inverse - mixed @ X.T, mixed, -S)
