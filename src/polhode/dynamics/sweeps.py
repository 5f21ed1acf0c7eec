"""The mass matrix of a tree as a product M = K Kᵀ whose factors are sweeps over the tree, O(n) each.

    K⁻¹τ   leaves to root: the forces that articulated bodies leave to their joints, D^{-1/2}(τ − Sᵀp)
    K⁻ᵀy   root to leaves: the accelerations that such forces make

The innovations factors of Rodriguez, in the articulated bodies of `forward.py`; no matrix is formed.  BEYOND §5
"""

from polhode.dynamics.forward import Released, follow, joined, left_over, release, rigid, seen_from_parent
from polhode.dynamics.inverse import handed, inverse_dynamics
from polhode.dynamics.kinematics import placement, unit_twists
from polhode.linalg.triangular import Triangle
from polhode.model.tree import GROUND, Tree
from polhode.scalar import Scalar, Vec
from polhode.spatial import ORIGIN, Twist

NOTHING = (ORIGIN, ORIGIN)


class Sweep:
    """The factors of the mass matrix at a configuration."""

    def __init__(self, tree: Tree, q: Vec) -> None:
        self.tree, self.q = tree, q
        self.at = [placement(e, q) for e in tree.elements]
        bodies = [rigid(e.inertia) for e in tree.elements]
        self.joints: list[Released | None] = [None] * len(bodies)
        self.roots: list[Triangle | None] = [None] * len(bodies)
        for i in reversed(range(len(bodies))):
            e, x = tree.elements[i], bodies[i]
            if e.v:
                x, joint = release(x, unit_twists(e, q), e.armature)
                self.joints[i], self.roots[i] = joint, Triangle.root(joint.Dinv)
            if (p := e.parent) != GROUND:
                bodies[p] = joined(bodies[p], seen_from_parent(x, self.at[i]))

    def over(self, tau: Vec) -> Vec:
        """K⁻¹τ"""
        tree = self.tree
        forces: list[tuple[Vec, Vec]] = [NOTHING] * len(tree.elements)
        found: list[Scalar] = [0.0] * tree.nv
        for i in reversed(range(len(forces))):
            e, joint, root, (f, n) = tree.elements[i], self.joints[i], self.roots[i], forces[i]
            if joint and root:
                u, (f, n) = left_over(joint, Vec([tau[a] for a in e.v]), f, n)
                for a, value in zip(e.v, root.transposed_times(u), strict=True):
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
            root = self.roots[i]
            u = root.backward(Vec([y[a] for a in e.v])) if root else Vec()
            own, twist = follow(self.joints[i], self.at[i], u, up)
            moving.append(twist)
            for a, value in zip(e.v, own, strict=True):
                found[a] = value
        return Vec(found)

    def times(self, x: Vec) -> Vec:
        """Kᵀx"""
        rest = Vec([0.0] * self.tree.nv)
        return self.over(inverse_dynamics(self.tree, self.q, rest, x, ORIGIN))
