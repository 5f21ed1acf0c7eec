"""Attitudes along a chain and the vectors that its bodies carry, with their derivatives.

p_j is the quaternion of joint j, p_{a,b} = p_{a+1}∘…∘p_b leads from components in frame b to
components in frame a; frame 0 is space. Derivatives have the coordinate as their first axis.
"""

from polhode.errors import InputError, message
from polhode.papers.chain.record import ZERO, Chain, on_states
from polhode.quaternion import IDENTITY, conjugate, product, pure, rotate
from polhode.scalar import Vec, cos, cross, sin


@on_states(q=("n",))
def joint_quaternions(chain: Chain, q: Vec) -> Vec:
    """The rotation in each joint, without its mounting.

        p_j = cos(ξ̄_j q_j/2) + sin(ξ̄_j q_j/2) e_j                       Zoric (26), (29), (31)

    q   (..., n)
    ->  (..., n, 4)
    """
    half = [xi_bar * q_j / 2 for xi_bar, q_j in zip(chain.xi_bar, q, strict=True)]
    return Vec([Vec((cos(h), *(sin(h) * e))) for h, e in zip(half, chain.axes, strict=True)])


def _mountings(chain: Chain) -> Vec:
    """c_j, with the attitude of the base in front of the first."""
    first, *others = chain.mountings or [IDENTITY] * chain.n
    return Vec([product(chain.base_attitude, first), *others])


def _steps(chain: Chain, q: Vec) -> list[Vec]:
    """c_j∘p_j: attitude of frame j in frame j − 1."""
    return [product(c, p) for c, p in zip(_mountings(chain), joint_quaternions(chain, q), strict=True)]


@on_states(q=("n",))
def attitudes(chain: Chain, q: Vec) -> Vec:
    """Attitude of every body.

        p_{0,j} = p_1∘p_2∘…∘p_j, each p_j after its mounting                          Zoric (33)

    q   (..., n)
    ->  (..., n, 4)
    """
    found = [IDENTITY]
    for step in _steps(chain, q):
        found.append(product(found[-1], step))
    return Vec(found[1:])


@on_states(q=("n",))
def relative_attitude(chain: Chain, q: Vec, a: int, b: int) -> Vec:
    """Attitude of frame b in frame a; frame 0 is space, frame i that of body i.

        p_{a,b} = p_{a+1}∘…∘p_b,  p_{a,a} = 1,  p_{b,a} = p_{a,b}*         Zoric (28), (33), (34)

    q     (..., n)
    a, b  0 … n
    ->    (..., 4)
    """
    for name, frame in (("a", a), ("b", b)):
        if not 0 <= frame <= chain.n:
            where = f"chain.relative_attitude, argument {name}"
            raise InputError(message(where, "no such frame", f"{frame}", f"0 (space) … {chain.n}"))
    p = IDENTITY
    for step in _steps(chain, q)[min(a, b) : max(a, b)]:
        p = product(p, step)
    return p if a <= b else conjugate(p)


@on_states(q=("n",), x=(3,))
def in_frame(chain: Chain, q: Vec, x: Vec, a: int, b: int) -> Vec:
    """Components in frame a of a vector given in frame b.

        τ^(a) = p_{a,b}∘τ^(b)∘p_{a,b}*                Zoric (25), (27), (32); (30) if prismatic

    At q = 0 and without mountings, components are the same in all frames: Zoric (24).

    q     (..., n)
    x     (..., 3)  τ^(b)
    a, b  0 … n, 0 is space
    ->    (..., 3)
    """
    return rotate(relative_attitude(chain, q, a, b), x)


def _joint_frames(chain: Chain, q: Vec) -> list[Vec]:
    """p_{0,j−1}∘c_j: attitude of what joint j turns or slides from."""
    before = [IDENTITY, *attitudes(chain, q)[:-1]]
    return [product(p, c) for p, c in zip(before, _mountings(chain), strict=True)]


@on_states(q=("n",))
def joint_axes(chain: Chain, q: Vec) -> Vec:
    """The axes of the joints in space, unit.

        e_k = p_{0,k−1}∘e_k^(k)∘p_{0,k−1}*                        Zoric (37), (52), (75), (116)

    q   (..., n)
    ->  (..., n, 3)
    """
    return Vec([rotate(p, e) for p, e in zip(_joint_frames(chain, q), chain.axes, strict=True)])


@on_states(q=("n",))
def link_vectors(chain: Chain, q: Vec) -> Vec:
    """From each joint to the next, in space.

        ρ_kk = p_{0,k}∘ρ_kk^(k)∘p_{0,k}*                                              Zoric (36)

    q   (..., n)
    ->  (..., n, 3)  m
    """
    return Vec([rotate(p, d) for p, d in zip(attitudes(chain, q), chain.links, strict=True)])


@on_states(q=("n",))
def center_vectors(chain: Chain, q: Vec) -> Vec:
    """From the end of each link to the mass centre of its body, in space.

        ρ_i = p_{0,i}∘ρ_i^(i)∘p_{0,i}*,  ρ_i^(i) = c_i − d_i                          Zoric (38)

    q   (..., n)
    ->  (..., n, 3)  m
    """
    return Vec(
        [rotate(p, c - d) for p, c, d in zip(attitudes(chain, q), chain.centers, chain.links, strict=True)],
    )


@on_states(q=("n",))
def axes_in_bodies(chain: Chain, q: Vec) -> Vec:
    """The axes of the joints in the frames of the bodies they move; zero for α > i.

        e_α^(i) = p_{α,i}*∘e_α^(α)∘p_{α,i} = p_{α−1,i}*∘e_α^(α)∘p_{α−1,i}      Zoric (102), (103)

    The second form holds without mountings.

    q   (..., n)
    ->  (..., n, n, 3)  [α, i]
    """
    back = [conjugate(step) for step in _steps(chain, q)]
    rows = []
    for a, e in enumerate(chain.axes):
        row = [ZERO] * a + [e]
        for i in range(a + 1, chain.n):
            row.append(rotate(back[i], row[-1]))
        rows.append(Vec(row))
    return Vec(rows)


# ── derivatives of quaternions ───────────────────────────────────────────────────────────────────────


@on_states(q=("n",))
def joint_quaternion_derivatives(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the joint quaternions.

        ∂p_α/∂q_α = ½ ξ̄_α e_α∘p_α,  ∂p_k/∂q_α = 0 for k ≠ α                  Zoric (41)–(44)

    q   (..., n)
    ->  (..., n, n, 4)  [α, k]
    """
    p = joint_quaternions(chain, q)
    own = [x / 2 * product(pure(e), p_a) for x, e, p_a in zip(chain.xi_bar, chain.axes, p, strict=True)]
    return Vec([Vec([own[a] if a == k else 0.0 * IDENTITY for k in range(chain.n)]) for a in range(chain.n)])


@on_states(q=("n",))
def joint_conjugate_derivatives(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the conjugates of the joint quaternions.

        ∂p_α*/∂q_α = −½ ξ̄_α p_α*∘e_α,  ∂p_k*/∂q_α = 0 for k ≠ α              Zoric (46)–(48)

    q   (..., n)
    ->  (..., n, n, 4)  [α, k]
    """
    p = joint_quaternions(chain, q)
    own = [-x / 2 * product(conjugate(p_a), pure(e)) for x, e, p_a in zip(chain.xi_bar, chain.axes, p, strict=True)]
    return Vec([Vec([own[a] if a == k else 0.0 * IDENTITY for k in range(chain.n)]) for a in range(chain.n)])


@on_states(q=("n",))
def attitude_derivatives_from_joints(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the attitudes, from the axis in its own frame.

        ∂p_{0,k}/∂q_α = ½ ξ̄_α p_{0,α−1}∘e_α^(α)∘p_{α−1,k} for α ≤ k, else 0           Zoric (50)

    A mounting stands between p_{0,α−1} and e_α.

    q   (..., n)
    ->  (..., n, n, 4)  [α, k]
    """
    p, steps, frames = joint_quaternions(chain, q), _steps(chain, q), _joint_frames(chain, q)
    rows = []
    for a, e in enumerate(chain.axes):
        row = [0.0 * IDENTITY] * a + [chain.xi_bar[a] / 2 * product(product(frames[a], pure(e)), p[a])]
        for k in range(a + 1, chain.n):
            row.append(product(row[-1], steps[k]))
        rows.append(Vec(row))
    return Vec(rows)


@on_states(q=("n",))
def attitude_conjugate_derivatives_from_joints(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the conjugates of the attitudes, from the axis in its own frame.

        ∂p_{0,k}*/∂q_α = −½ ξ̄_α p_{α−1,k}*∘e_α^(α)∘p_{0,α−1}* for α ≤ k, else 0     Zoric (51)

    The last factor of (51) is p_1*; a mounting stands between e_α and p_{0,α−1}*.

    q   (..., n)
    ->  (..., n, n, 4)  [α, k]
    """
    p, steps, frames = joint_quaternions(chain, q), _steps(chain, q), _joint_frames(chain, q)
    rows = []
    for a, e in enumerate(chain.axes):
        first = product(product(conjugate(p[a]), pure(e)), conjugate(frames[a]))
        row = [0.0 * IDENTITY] * a + [-chain.xi_bar[a] / 2 * first]
        for k in range(a + 1, chain.n):
            row.append(product(conjugate(steps[k]), row[-1]))
        rows.append(Vec(row))
    return Vec(rows)


@on_states(q=("n",))
def attitude_derivatives(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the attitudes, from the axes in space.

        ∂p_{0,k}/∂q_α = ½ ξ̄_α e_α∘p_{0,k} for α ≤ k, else 0                           Zoric (53)

    q   (..., n)
    ->  (..., n, n, 4)  [α, k]
    """
    turned = [pure(x / 2 * e) for x, e in zip(chain.xi_bar, joint_axes(chain, q), strict=True)]
    p = attitudes(chain, q)
    return Vec(
        [Vec([product(turned[a], p_k) if a <= k else 0.0 * p_k for k, p_k in enumerate(p)]) for a in range(chain.n)]
    )


@on_states(q=("n",))
def attitude_conjugate_derivatives(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the conjugates of the attitudes, from the axes in space.

        ∂p_{0,k}*/∂q_α = −½ ξ̄_α p_{0,k}*∘e_α for α ≤ k, else 0             Zoric (54, order lost)

    q   (..., n)
    ->  (..., n, n, 4)  [α, k]
    """
    turned = [pure(-x / 2 * e) for x, e in zip(chain.xi_bar, joint_axes(chain, q), strict=True)]
    p = [conjugate(p_k) for p_k in attitudes(chain, q)]
    return Vec(
        [Vec([product(p_k, turned[a]) if a <= k else 0.0 * p_k for k, p_k in enumerate(p)]) for a in range(chain.n)]
    )


# ── derivatives of vectors ───────────────────────────────────────────────────────────────────────────


def _carried(chain: Chain, q: Vec, vectors: Vec) -> Vec:
    """ξ̄_α e_α × v_k for α ≤ k, else 0, of vectors in space that body k carries."""
    turned = [x * e for x, e in zip(chain.xi_bar, joint_axes(chain, q), strict=True)]
    return Vec(
        [Vec([cross(turned[a], v) if a <= k else ZERO for k, v in enumerate(vectors)]) for a in range(chain.n)],
    )


@on_states(q=("n",), vectors=("n", 3))
def carried_derivatives(chain: Chain, q: Vec, vectors: Vec) -> Vec:
    """Derivatives, in space, of vectors fixed in the bodies; times q̇ they are ω_k × v_k, Zoric (88).

        ∂v_k/∂q_α = ξ̄_α e_α × v_k for α ≤ k, else 0                 Zoric (49), (55), (56), (88)

    q        (..., n)
    vectors  (..., n, 3)     one in each body, body axes
    ->       (..., n, n, 3)  [α, k]
    """
    return _carried(chain, q, Vec([rotate(p, v) for p, v in zip(attitudes(chain, q), vectors, strict=True)]))


@on_states(q=("n",))
def link_derivatives(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the link vectors.

        ∂ρ_kk/∂q_α = ξ̄_α e_α × ρ_kk for α ≤ k, else 0                     Zoric (49), (55), (56)

    q   (..., n)
    ->  (..., n, n, 3)  [α, k]
    """
    return _carried(chain, q, link_vectors(chain, q))


@on_states(q=("n",))
def axis_derivatives(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the axes in space.

        ∂e_k/∂q_α = ξ̄_α e_α × e_k for α ≤ k, else 0                             Zoric (57), (58)

    q   (..., n)
    ->  (..., n, n, 3)  [α, k]
    """
    return _carried(chain, q, joint_axes(chain, q))


@on_states(q=("n",))
def center_derivatives(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the vectors from the ends of the links to the mass centres.

        ∂ρ_i/∂q_α = ξ̄_α e_α × ρ_i for α ≤ i, else 0                             Zoric (59), (60)

    q   (..., n)
    ->  (..., n, n, 3)  [α, i]
    """
    return _carried(chain, q, center_vectors(chain, q))


@on_states(q=("n",))
def axis_derivatives_in_bodies(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the axes in the frames of the bodies they move.

        ∂e_β^(i)/∂q_α = ξ̄_α e_β^(i) × e_α^(i) for β ≤ α ≤ i, else 0           Zoric (118), (119)

    q   (..., n)
    ->  (..., n, n, n, 3)  [α, β, i]
    """
    e, n = axes_in_bodies(chain, q), range(chain.n)
    return Vec(
        [Vec([Vec([chain.xi_bar[a] * cross(e[b][i], e[a][i]) if b <= a else ZERO for i in n]) for b in n]) for a in n]
    )
