"""The dynamics of a tree with all that acts on it, as functions of `Arguments` on generic scalars.

Force elements and wrenches act; the passes are loops where `rolled` asks for them.
"""

from polhode.dynamics import covariant, forces, forward, inertia, inverse, normal_forces
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.large_trees import coriolis_loops, derivatives, loops, one_velocity_loops, subtree_rows
from polhode.dynamics.state_inertia import at_state
from polhode.scalar import Vec
from polhode.spatial import ORIGIN


def needed(x: Arguments, vd: Vec) -> Vec:
    """M v̇ + bias for an acceleration."""
    normals, x = normal_forces.of_motion(x, vd), at_state(x)
    acting = forces.acting(x.tree, x.t, x.q, x.v, x.wrench, normals)
    if x.rolled and not acting.wrenches:
        return loops.inverse_dynamics(x.tree, x.q, x.v, vd) - acting.generalized
    return inverse.inverse_dynamics(x.tree, x.q, x.v, vd, wrenches=acting.wrenches) - acting.generalized


def applied_forces(x: Arguments) -> Vec:
    """The generalised forces of all that acts but gravity."""
    acting = forces.acting(x.tree, x.t, x.q, x.v, x.wrench)
    if not acting.wrenches:
        return acting.generalized
    rest = Vec([0.0] * x.tree.nv)
    return acting.generalized - inverse.inverse_dynamics(x.tree, x.q, rest, rest, ORIGIN, acting.wrenches)


def gravity(x: Arguments) -> Vec:
    """What gravity alone needs."""
    rest = Vec([0.0] * x.tree.nv)
    return (loops if x.rolled else inverse).inverse_dynamics(x.tree, x.q, rest, rest)


def mass_matrix(x: Arguments) -> Vec:
    """The metric tensor."""
    return (subtree_rows if x.rolled else inertia).mass_matrix(x.tree, x.q)


def coriolis(x: Arguments) -> Vec:
    """The Coriolis matrix."""
    return (coriolis_loops if x.rolled and derivatives.applies(x.tree) else covariant).coriolis(x.tree, x.q, x.v)


def inverse_dynamics(x: Arguments) -> Vec:
    """M v̇ + bias for the acceleration of the call."""
    return needed(x, x.vd)


def forward_by_factors(x: Arguments) -> Vec:
    """v̇ from the factors of the mass matrix: L, D of M = Lᵀ D L, and the bias."""
    L, D = inertia.factor(x.tree, inertia.mass_matrix(at_state(x).tree, x.q))
    return inertia.solve_factored(x.tree, L, D, x.tau - needed(x, Vec([0.0] * x.tree.nv)))


def forward_dynamics(x: Arguments) -> Vec:
    """v̇ by articulated bodies."""
    normals, x = normal_forces.solved(x), at_state(x)
    acting = forces.acting(x.tree, x.t, x.q, x.v, x.wrench, normals)
    if x.rolled and not acting.wrenches:
        in_loops = one_velocity_loops if one_velocity_loops.applies(x.tree) else loops
        return in_loops.forward_dynamics(x.tree, x.q, x.v, x.tau + acting.generalized)
    return forward.forward_dynamics(x.tree, x.q, x.v, x.tau + acting.generalized, acting.wrenches)
