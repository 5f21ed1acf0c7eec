"""Normal forces of joints whose friction depends on them: what a joint bears across its axis.

Friction f = −c N is a force along the axis, and what bodies bear depends on the acceleration, which depends on f. The
reactions R_i across the axes are affine in the normal forces N_j of all such joints, so

    N_i = |R_i| = |R_i⁰ + Σ_j N_j R_ij|                                                            solved by Newton

Where Σ_j |R_ij| < 1 for every i this has exactly one solution, as a contraction. Else there may be none or several,
as Painlevé found for a rod that slides: the normal forces then are no numbers.
"""

from collections.abc import Mapping

from polhode.dynamics import forces, forward, inverse
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.forward import small_inverse
from polhode.dynamics.kinematics import unit_twists
from polhode.dynamics.state_inertia import at_state, with_masses
from polhode.model import Tree
from polhode.scalar import Scalar, Vec, dot, identity, length, real_part, sqrt, square, where

ROUNDS = 8
"""Newton steps where there are several normal forces: each squares the error, which is below the forces at first."""

NONE_OR_SEVERAL = float("nan")


def loaded_joints(tree: Tree) -> tuple[str, ...]:
    """The joints whose normal forces enter forces of elements."""
    return tuple(dict.fromkeys(joint for force in tree.forces for joint in force.loaded_joints))


def of_motion(x: Arguments, vd: Vec) -> dict[str, Scalar] | None:
    """The normal forces of a motion; None where no element asks for them."""
    if not (joints := loaded_joints(x.tree)):
        return None
    wrenches = forces.acting(x.tree, x.t, x.q, x.v, x.wrench, dict.fromkeys(joints, 0.0)).wrenches
    return {joint: length(R) for joint, R in _across(x, vd, wrenches, joints).items()}


def solved(x: Arguments) -> dict[str, Scalar] | None:
    """The normal forces at a state under generalised forces; None where no element asks for them."""
    if not (joints := loaded_joints(x.tree)):
        return None
    here = at_state(x)

    def reactions(normals: Mapping[str, Scalar]) -> dict[str, Vec]:
        found = forces.acting(x.tree, x.t, x.q, x.v, x.wrench, normals)
        vd = forward.forward_dynamics(here.tree, x.q, x.v, x.tau + found.generalized, found.wrenches)
        return _across(x, vd, found.wrenches, joints)

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
