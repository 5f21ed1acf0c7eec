"""The mass matrix of a tree as a product M = K Kᵀ whose factors are sweeps over the tree, O(n) each.

    K⁻¹τ   leaves to root: the forces that articulated bodies leave to their joints, D^{-1/2}(τ − Sᵀp)
    K⁻ᵀy   root to leaves: the accelerations that such forces make

The innovations factors of Rodriguez, in the articulated bodies of `forward.py`; no matrix is formed.  BEYOND §5
"""

from polhode.dynamics.forward import Released, follow, joined, left_over, release, rigid, seen_from_parent
from polhode.dynamics.inverse import handed, inverse_dynamics
from polhode.dynamics.kinematics import placement, unit_twists
from polhode.model.tree import GROUND, Tree
from polhode.scalar import Scalar, Vec, sqrt
from polhode.spatial import ORIGIN, Twist

NOTHING = (ORIGIN, ORIGIN)


class Sweep:
    """The factors of the mass matrix at a configuration."""

    def __init__(self, tree: Tree, q: Vec) -> None:
        self.tree, self.q = tree, q
        self.at = [placement(e, q) for e in tree.elements]
        bodies = [rigid(e.inertia) for e in tree.elements]
        self.joints: list[Released | None] = [None] * len(bodies)
        self.roots: list[Vec] = [Vec()] * len(bodies)
        for i in reversed(range(len(bodies))):
            e, x = tree.elements[i], bodies[i]
            if e.v:
                x, joint = release(x, unit_twists(e, q), e.armature)
                self.joints[i], self.roots[i] = joint, _root(joint.Dinv)
            if (p := e.parent) != GROUND:
                bodies[p] = joined(bodies[p], seen_from_parent(x, self.at[i]))

    def over(self, tau: Vec) -> Vec:
        """K⁻¹τ"""
        tree = self.tree
        forces: list[tuple[Vec, Vec]] = [NOTHING] * len(tree.elements)
        found: list[Scalar] = [0.0] * tree.nv
        for i in reversed(range(len(forces))):
            e, joint, (f, n) = tree.elements[i], self.joints[i], forces[i]
            if joint:
                u, (f, n) = left_over(joint, Vec([tau[a] for a in e.v]), f, n)
                for a, value in zip(e.v, self.roots[i].T @ u, strict=True):
                    found[a] = value
            if (p := e.parent) != GROUND:
                f_p, n_p = handed(self.at[i], f, n)
                forces[p] = forces[p][0] + f_p, forces[p][1] + n_p
        return Vec(found)

    def under(self, y: Vec) -> Vec:
        """K⁻ᵀy"""
        tree = self.tree
        found: list[Scalar] = [0.0] * tree.nv
        moving: list[Twist] = []
        for i, e in enumerate(tree.elements):
            up = moving[e.parent] if e.parent != GROUND else Twist(*NOTHING)
            u = _solved(self.roots[i], Vec([y[a] for a in e.v])) if e.v else Vec()
            own, twist = follow(self.joints[i], self.at[i], u, up)
            moving.append(twist)
            for a, value in zip(e.v, own, strict=True):
                found[a] = value
        return Vec(found)

    def times(self, x: Vec) -> Vec:
        """Kᵀx"""
        rest = Vec([0.0] * self.tree.nv)
        return self.over(inverse_dynamics(self.tree, self.q, rest, x, ORIGIN))


def _root(X: Vec) -> Vec:
    """The lower triangle C of a small X = C Cᵀ, as whole rows."""
    n = len(X)
    C: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for j in range(n):
        for i in range(j, n):
            left = X[i][j]
            for m in range(j):
                left = left - C[i][m] * C[j][m]
            C[i][j] = sqrt(left) if i == j else left / C[j][j]
    return Vec([Vec(row) for row in C])


def _solved(C: Vec, y: Vec) -> Vec:
    """C⁻ᵀy of a lower triangle."""
    x = list(y)
    for i in reversed(range(len(x))):
        for m in range(i + 1, len(x)):
            x[i] = x[i] - C[m][i] * x[m]
        x[i] = x[i] / C[i][i]
    return Vec(x)
