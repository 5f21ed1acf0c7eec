"""The mass matrix by composite bodies, and its factors.

The composite of an element is everything its motion carries: m, h, Σ about its origin, in its axes.
"""

from polhode.dynamics.coupled_inertia import add_mass, factor_pattern, is_coupled
from polhode.dynamics.kinematics import joint_force, placement, unit_twists
from polhode.model.tree import GROUND, Tree
from polhode.scalar import Scalar, Vec, cross, identity, is_zero, trace
from polhode.spatial import Inertia, Placement, Twist, joined, moved


def composites(tree: Tree, at: list[Placement]) -> list[Inertia]:
    """The composite of every element."""
    found = [e.inertia for e in tree.elements]
    for i in reversed(range(len(found))):
        p = tree.elements[i].parent
        if p != GROUND:
            found[p] = joined(found[p], moved(at[i], found[i]))
    return found


def impulse(body: Inertia, motion: Twist) -> tuple[Vec, Vec]:
    """Linear and angular momentum P, H of a composite that moves with a unit motion (l, w).   BEYOND §1

    P = w × h + m l,  H = h × l + (tr Σ I − Σ) w
    """
    w, l, h = motion.angular, motion.linear, body.first
    J = trace(body.second) * identity(3) - body.second
    return cross(w, h) + body.mass * l, cross(h, l) + J @ w


def mass_matrix(tree: Tree, q: Vec) -> Vec:
    """The metric tensor, nv × nv.

    M[b, g] = l_b·P_g + w_b·H_g at the origin of b, for b carrying g                 BEYOND §1, Zoric (97)–(100)
    """
    at = [placement(e, q) for e in tree.elements]
    whole = composites(tree, at)
    M: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    shares = tree.shares
    for i, e in enumerate(tree.elements):
        for g, motion in zip(e.v, unit_twists(e, q), strict=True):
            if shares and all(map(is_zero, (*motion.linear, *motion.angular))):
                continue  # a mode that does not move this point
            f, n = impulse(whole[i], motion)
            j = i
            while j != GROUND:
                for b, value in zip(tree.elements[j].v, joint_force(tree.elements[j], q, f, n), strict=True):
                    if shares and (j != i or e.v.index(b) <= e.v.index(g)):  # each pair of an element once
                        M[b][g] = M[g][b] = M[b][g] + value
                    elif not shares:
                        M[b][g] = M[g][b] = value
                f = at[j].R @ f
                n = at[j].R @ n + cross(at[j].r, f)
                j = tree.elements[j].parent
        for a, armature in zip(e.v, e.armature, strict=True):
            M[a][a] = M[a][a] + armature
    if is_coupled(tree):
        add_mass(tree, q, M)
    return Vec([Vec(row) for row in M])


def carriers(tree: Tree) -> list[list[int]]:
    """For each velocity, those on its path from itself to the root, in that order."""
    found: list[list[int]] = [[] for _ in range(tree.nv)]
    for e, path in zip(tree.elements, tree.ancestors, strict=True):
        above = [a for j in reversed(path[:-1]) for a in reversed(tree.elements[j].v)]
        for k, a in enumerate(e.v):
            found[a] = [*reversed(e.v[: k + 1]), *above]
    return found


def filled(tree: Tree) -> list[list[int]]:
    """For each velocity itself and those that its row of the factor L has: its path to the root, and where force
    elements couple bodies, the fill by them."""
    return factor_pattern(tree, carriers(tree)) if is_coupled(tree) else carriers(tree)


def _reached(tree: Tree) -> list[list[int]]:
    """The same of the inverse of L: all that a row leads to."""
    if not is_coupled(tree):
        return carriers(tree)
    found: list[list[int]] = [[] for _ in range(tree.nv)]
    path = filled(tree)
    for a in tree.velocity_order:
        found[a] = [a, *(found[path[a][1]] if len(path[a]) > 1 else [])]
    return found


def factor(tree: Tree, M: Vec) -> tuple[Vec, Vec]:
    """L and D of M = Lᵀ D L, L unit triangular along the paths to the root: no fill elsewhere (but by what couples).

    Featherstone (2008), algorithm 8.1. L has the entries L[k][i] for i on the path of k.
    """
    H = [list(row) for row in M]
    L: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    path = filled(tree)
    for k in reversed(tree.velocity_order):
        L[k][k] = 1.0
        inverse = 1 / H[k][k]
        for i in path[k][1:]:
            L[k][i] = H[k][i] * inverse
        for n, i in enumerate(path[k][1:], 1):
            for j in path[k][n:]:
                H[i][j] = H[j][i] = H[i][j] - L[k][i] * H[k][j]
    return Vec([Vec(row) for row in L]), Vec([H[k][k] for k in range(tree.nv)])


def half_solved(tree: Tree, L: Vec, tau: Vec) -> Vec:
    """y of Lᵀ y = τ."""
    path, y = filled(tree), list(tau)
    for k in reversed(tree.velocity_order):
        for i in path[k][1:]:
            y[i] = y[i] - L[k][i] * y[k]
    return Vec(y)


def solve_factored(tree: Tree, L: Vec, D: Vec, tau: Vec) -> Vec:
    """x of M x = τ from the factors of M."""
    return solve_scaled(tree, L, Vec([1 / d for d in D]), tau)


def solve_scaled(tree: Tree, L: Vec, inverse: Vec, tau: Vec) -> Vec:
    """The same from the inverse of D."""
    path = filled(tree)
    x = [value * d for value, d in zip(half_solved(tree, L, tau), inverse, strict=True)]
    for k in tree.velocity_order:  # L x = y
        for i in path[k][1:]:
            x[k] = x[k] - L[k][i] * x[i]
    return Vec(x)


def inverse_factored(tree: Tree, L: Vec, D: Vec) -> Vec:
    """M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ from the factors of M, symmetric to the last bit."""
    path, reached = filled(tree), _reached(tree)
    X: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]  # L⁻¹, with entries like L
    found: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for k in tree.velocity_order:
        X[k][k] = 1.0
        for i in path[k][1:]:
            for j in reached[i]:
                X[k][j] = X[k][j] - L[k][i] * X[i][j]
    scaled = [[x * (1 / d) for x, d in zip(row, D, strict=True)] for row in X]
    for r, row in enumerate(X):
        for c in range(r + 1):
            total: Scalar = 0.0
            for k in reached[r]:
                total = total + row[k] * scaled[c][k]
            found[r][c] = found[c][r] = total
    return Vec([Vec(row) for row in found])
