"""Normal forces of joints whose friction depends on them: what a joint bears across its axis.

Friction f = −c N is a force along the axis, and what bodies bear depends on the acceleration, which depends on f. The
reactions R_i across the axes are affine in the normal forces N_j of all such joints, so

    N_i = |R_i| = |R_i⁰ + Σ_j N_j R_ij|                                                            solved by Newton

Where Σ_j |R_ij| < 1 for every i this has exactly one solution, as a contraction. Else there may be none or several,
as Painlevé found for a rod that slides: the normal forces then are no numbers. Of one joint the condition is sharp.

In loops the multipliers of constraints are affine in the normal forces too, and act on the bodies that they hold.
"""

from collections.abc import Callable, Mapping

from polhode.dynamics import forces, forward, inverse
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.forward import small_inverse
from polhode.dynamics.kinematics import unit_twists
from polhode.dynamics.state_inertia import at_state, with_masses
from polhode.errors import InputError, message
from polhode.model import Tree
from polhode.scalar import Scalar, Vec, dot, identity, length, real_part, sqrt, square, where

ROUNDS = 8
"""Newton steps where there are several normal forces: each squares the error, which is below the forces at first."""

NONE_OR_SEVERAL = float("nan")

Motion = Callable[[Mapping[str, Scalar]], tuple[Vec, inverse.Wrenches]]
"""v̇ and the wrenches on bodies, those of constraints included, that some normal forces lead to."""


def loaded_joints(tree: Tree) -> tuple[str, ...]:
    """The joints whose normal forces enter forces of elements."""
    return tuple(dict.fromkeys(joint for force in tree.forces for joint in force.loaded_joints))


def of_motion(x: Arguments, vd: Vec) -> Mapping[str, Scalar] | None:
    """The normal forces of a motion; None where no element asks for them."""
    if x.normals is not None or not (joints := loaded_joints(x.tree)):
        return x.normals
    if x.tree.constraints:
        what, fix = "not known without the forces of constraints", "Take forward_dynamics, or joint_reactions."
        found = ", ".join(f"joint '{joint}'" for joint in joints)
        raise InputError(message("normal forces of joints", what, found, "a tree, or a motion under constraints", fix))
    wrenches = forces.acting(x.tree, x.t, x.q, x.v, x.wrench, dict.fromkeys(joints, 0.0)).wrenches
    return {joint: length(R) for joint, R in _across(x, vd, wrenches, joints).items()}


def solved(x: Arguments, motion: Motion | None = None) -> Mapping[str, Scalar] | None:
    """The normal forces at a state under generalised forces; None where no element asks for them.

    motion  under constraints; None: of a tree
    """
    if x.normals is not None or not (joints := loaded_joints(x.tree)):
        return x.normals
    here = at_state(x)

    def of_tree(normals: Mapping[str, Scalar]) -> tuple[Vec, inverse.Wrenches]:
        found = forces.acting(x.tree, x.t, x.q, x.v, x.wrench, normals)
        return forward.forward_dynamics(here.tree, x.q, x.v, x.tau + found.generalized, found.wrenches), found.wrenches

    def reactions(normals: Mapping[str, Scalar]) -> dict[str, Vec]:
        return _across(x, *(motion or of_tree)(normals), joints)

    at_zero = reactions(dict.fromkeys(joints, 0.0))
    by_unit = [reactions({other: float(other == joint) for other in joints}) for joint in joints]
    R0 = [at_zero[joint] for joint in joints]
    R = [[one[joint] - at_zero[joint] for one in by_unit] for joint in joints]
    return dict(zip(joints, _solution(R0, R), strict=True))


def _across(x: Arguments, vd: Vec, wrenches: inverse.Wrenches, joints: tuple[str, ...]) -> dict[str, Vec]:
    """What each of these joints bears: its force but for the part along an axis that slides, in its own axes."""
    tree, found = with_masses(x.tree, x.v), dict[str, Vec]()
    given = inverse.loads(tree, x.q, x.v, vd, wrenches=wrenches)
    for e, (f, _) in zip(tree.elements, given, strict=True):
        if e.joint in joints and e.v:
            along = unit_twists(e, x.q)[0].linear
            found[e.joint] = f - dot(f, along) * along
    return found


def _solution(R0: list[Vec], R: list[list[Vec]]) -> list[Scalar]:
    """The N of N_i = |R_i⁰ + Σ_j N_j R_ij|, or NONE_OR_SEVERAL."""
    n = len(R0)
    sums = [sum((length(part) for part in row), start=0.0) for row in R]
    is_one = [where(real_part(total) < 1.0, 1.0, NONE_OR_SEVERAL) for total in sums]
    if n == 1:  # a quadratic equation
        a, b = R0[0], R[0][0]
        ab, rest = dot(a, b), 1 - square(b)
        rest = where(real_part(rest) > 0, rest, 1.0)
        return [is_one[0] * (ab + sqrt(ab * ab + rest * square(a))) / rest]
    N = Vec([length(a) for a in R0])
    for _ in range(ROUNDS):
        whole = [a + Vec(N @ Vec(row)) for a, row in zip(R0, R, strict=True)]
        sizes = [length(vector) for vector in whole]
        over = [vector / where(real_part(size) > 0, size, 1.0) for vector, size in zip(whole, sizes, strict=True)]
        slopes = Vec([Vec([dot(along, part) for part in row]) for along, row in zip(over, R, strict=True)])
        N = N - small_inverse(identity(n) - slopes) @ (N - Vec(sizes))
    return [N_i * one for N_i, one in zip(N, is_one, strict=True)]
