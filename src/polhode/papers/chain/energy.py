"""Kinetic energy and metric tensor (mass matrix) of a chain; bodies made of point masses.

A cloud of k point masses in every body stands for the integrals over it: `masses` (..., n, k) and
`points` (..., n, k, 3), in body axes from the mass centre.
"""

from collections.abc import Callable
from functools import partial

from polhode.papers.chain.frames import attitudes, axes_in_bodies, carried_derivatives
from polhode.papers.chain.kinematics import (
    angular_velocities,
    point_velocities,
    quasi_basic_derivatives,
    quasi_basic_vectors,
    velocities,
)
from polhode.papers.chain.record import ZERO, Chain, on_states
from polhode.quaternion import conjugate, rotate
from polhode.scalar import Scalar, Vec, cross, dot, identity, outer, square

ZERO_MATRIX = Vec((ZERO, ZERO, ZERO))


# ── bodies made of point masses ──────────────────────────────────────────────────────────────────────


@on_states(masses=("k",), points=("k", 3))
def center_of_points(masses: Vec, points: Vec) -> Vec:
    """The mass centre of point masses; zero if the points are measured from it.

        ∫ ρ dm = m ρ_C                                                                Zoric (83)

    masses  (..., k)
    points  (..., k, 3)
    ->      (..., 3)
    """
    return sum((m * rho for m, rho in zip(masses, points, strict=True)), start=ZERO) / sum(masses)


@on_states(masses=("k",), points=("k", 3))
def inertia_of_points(masses: Vec, points: Vec) -> Vec:
    """The inertia of point masses about the point from which ρ is measured.

        J = −∫ ρ̃² dm = ∫ (ρ² I − ρ ρᵀ) dm        Zoric (94), (96, a sign lost), (123)

    masses  (..., k)
    points  (..., k, 3)
    ->      (..., 3, 3)
    """
    terms = (m * (square(rho) * identity(3) - outer(rho, rho)) for m, rho in zip(masses, points, strict=True))
    return sum(terms, start=ZERO_MATRIX)


@on_states(masses=("k",), points=("k", 3))
def planar_inertia_of_points(masses: Vec, points: Vec) -> Vec:
    """The planar inertia of point masses; `spatial.planar_inertia` has it from J.

        Π = ∫ ρ ρᵀ dm                                                                Zoric (128)

    masses  (..., k)
    points  (..., k, 3)
    ->      (..., 3, 3)
    """
    return sum((m * outer(rho, rho) for m, rho in zip(masses, points, strict=True)), start=ZERO_MATRIX)


# ── kinetic energy ───────────────────────────────────────────────────────────────────────────────────


@on_states(q=("n",), qdot=("n",), masses=("n", "k"), points=("n", "k", 3))
def body_energies_of_points(chain: Chain, q: Vec, qdot: Vec, masses: Vec, points: Vec) -> Vec:
    """Kinetic energies of bodies made of point masses.

        E_i = ∫ ½ V_M² dm = ½ ∫ (V_C + ω_i × ρ)·(V_C + ω_i × ρ) dm             Zoric (80), (82)

    q, qdot         (..., n)
    masses, points  (..., n, k), (..., n, k, 3)
    ->              (..., n)  J
    """
    found = Vec([0.0] * chain.n)
    for m, rho in zip(masses.T, points.T, strict=True):  # one point of every body
        V = point_velocities(chain, q, qdot, rho)
        found = found + Vec([m_i * square(V_i) / 2 for m_i, V_i in zip(m, V, strict=True)])
    return found


@on_states(q=("n",), qdot=("n",))
def body_energies(chain: Chain, q: Vec, qdot: Vec) -> Vec:
    """Kinetic energies of the bodies, by König: of the mass centre, and about it.

        E_i = ½ m_i V_C·V_C + ½ ω_i·J_i ω_i                                           Zoric (84)

    q, qdot  (..., n)
    ->       (..., n)  J
    """
    V, omega, p = velocities(chain, q, qdot), angular_velocities(chain, q, qdot), attitudes(chain, q)
    omega = Vec([rotate(conjugate(p_i), w) for p_i, w in zip(p, omega, strict=True)])  # in body axes
    parts = zip(chain.masses, V, chain.inertias, omega, strict=True)
    return Vec([(m * square(V_i) + dot(w, J @ w)) / 2 for m, V_i, J, w in parts])


@on_states(q=("n",), qdot=("n",))
def kinetic_energy(chain: Chain, q: Vec, qdot: Vec) -> Scalar:
    """Kinetic energy of the chain.

        E = ½ Σ m_i V_C·V_C + ½ Σ ω_i·J_i ω_i                                         Zoric (85)

    q, qdot  (..., n)
    ->       (...)  J
    """
    return sum(body_energies(chain, q, qdot))


@on_states(q=("n",), qdot=("n",))
def kinetic_energy_of_metric(chain: Chain, q: Vec, qdot: Vec) -> Scalar:
    """Kinetic energy as a quadratic form in the velocities.

        E = ½ Σ_α Σ_β a_αβ q̇_α q̇_β                                                    Zoric (90)

    q, qdot  (..., n)
    ->       (...)  J
    """
    return dot(qdot, metric(chain, q) @ qdot) / 2


# ── metric tensor ────────────────────────────────────────────────────────────────────────────────────


def symmetric(n: int, value: Callable[[int, int], Scalar | Vec]) -> Vec:
    """The matrix with entries value(inf, sup), symmetric."""
    upper = {(a, b): value(a, b) for a in range(n) for b in range(a, n)}
    return Vec([Vec([upper[min(a, b), max(a, b)] for b in range(n)]) for a in range(n)])


@on_states(q=("n",))
def quasi_basic_products(chain: Chain, q: Vec) -> Vec:
    """Dot products of the quasi-basic vectors of each body, so that V_i·V_i = ΣΣ T_α(i)·T_β(i) q̇_α q̇_β.

        ∂r_i/∂q_α·∂r_i/∂q_β = T_α(i)·T_β(i)                                           Zoric (87)

    q   (..., n)
    ->  (..., n, n, n)  [α, β, i]
    """
    T = quasi_basic_vectors(chain, q)
    return symmetric(chain.n, lambda a, b: Vec([dot(x, y) for x, y in zip(T[a], T[b], strict=True)]))


@on_states(q=("n",))
def metric_translational(chain: Chain, q: Vec) -> Vec:
    """The part of the metric tensor that the mass centres contribute.

        a^tr_αβ = Σ_{i ≥ sup(α,β)} m_i T_α(i)·T_β(i)                            Zoric (92), (99)

    q   (..., n)
    ->  (..., n, n)
    """
    products = quasi_basic_products(chain, q)
    return symmetric(chain.n, lambda a, b: sum(chain.masses[i] * products[a][b][i] for i in range(b, chain.n)))


@on_states(q=("n",))
def metric_rotational(chain: Chain, q: Vec) -> Vec:
    """The part of the metric tensor that the rotations contribute.

        a^rot_αβ = ξ̄_α ξ̄_β Σ_{i ≥ sup(α,β)} e_α^(i)·J_i e_β^(i)               Zoric (95), (100)

    The sums of (93), (95) and (97) start at sup(α, β), as in (100), not at 1.

    q   (..., n)
    ->  (..., n, n)
    """
    e, J, x = axes_in_bodies(chain, q), chain.inertias, chain.xi_bar
    return symmetric(chain.n, lambda a, b: x[a] * x[b] * sum(dot(e[a][i], J[i] @ e[b][i]) for i in range(b, chain.n)))


@on_states(q=("n",))
def metric(chain: Chain, q: Vec) -> Vec:
    """The metric tensor of the chain: its mass matrix, symmetric, positive definite.

        a_αβ = a^tr_αβ + a^rot_αβ                                        Zoric (97), (98), (101)

    q   (..., n)
    ->  (..., n, n)
    """
    return metric_translational(chain, q) + metric_rotational(chain, q)


@on_states(q=("n",), masses=("n", "k"), points=("n", "k", 3))
def metric_rotational_of_points(chain: Chain, q: Vec, masses: Vec, points: Vec) -> Vec:
    """The rotational part of the metric tensor, from its definition.

        a^rot_αβ = Σ_i ∫ ∂ρ/∂q_α·∂ρ/∂q_β dm = ξ̄_α ξ̄_β Σ_i ∫ (e_α × ρ)·(e_β × ρ) dm
                                                                                Zoric (89), (93)

    q               (..., n)
    masses, points  (..., n, k), (..., n, k, 3)
    ->              (..., n, n)
    """
    D = [carried_derivatives(chain, q, rho) for rho in points.T]  # of one point of every body

    def entry(a: int, b: int) -> Scalar:
        bodies = range(b, chain.n)
        return sum(m[i] * dot(D_k[a][i], D_k[b][i]) for m, D_k in zip(masses.T, D, strict=True) for i in bodies)

    return symmetric(chain.n, entry)


@on_states(q=("n",), masses=("n", "k"), points=("n", "k", 3))
def metric_of_points(chain: Chain, q: Vec, masses: Vec, points: Vec) -> Vec:
    """The metric tensor, from its definition.

        a_αβ = Σ m_i ∂r_i/∂q_α·∂r_i/∂q_β + Σ ∫ ∂ρ/∂q_α·∂ρ/∂q_β dm                     Zoric (91)

    q               (..., n)
    masses, points  (..., n, k), (..., n, k, 3)  mass centre in the origin, m_i in all
    ->              (..., n, n)
    """
    return metric_translational(chain, q) + metric_rotational_of_points(chain, q, masses, points)


# ── derivatives of the metric tensor ─────────────────────────────────────────────────────────────────


@on_states(q=("n",))
def metric_translational_derivatives(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the translational part.

        ∂a^tr_βγ/∂q_α = Σ_i m_i (Γ_αβ(i)·T_γ(i) + T_β(i)·Γ_αγ(i))               Zoric (99), (69)

    q   (..., n)
    ->  (..., n, n, n)  [α, β, γ]
    """
    T, G, m = quasi_basic_vectors(chain, q), quasi_basic_derivatives(chain, q), chain.masses

    def entry(a: int, b: int, g: int) -> Scalar:
        bodies = range(max(a, b, g), chain.n)
        return sum(m[i] * (dot(G[a][b][i], T[g][i]) + dot(T[b][i], G[a][g][i])) for i in bodies)

    return Vec([symmetric(chain.n, partial(entry, a)) for a in range(chain.n)])


@on_states(q=("n",))
def metric_rotational_derivatives(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the rotational part.

        ∂a^rot_βγ/∂q_α = ξ̄_α ξ̄_β ξ̄_γ Σ_{i ≥ sup(α,β,γ)} [(e_β × e_sup(α,β))·J_i e_γ
                         + e_β·J_i (e_γ × e_sup(α,γ))], all in frame i        Zoric (117), (120)

    The sum of (120) starts at sup(β, γ) by a slip: bodies before joint α do not feel q_α.

    q   (..., n)
    ->  (..., n, n, n)  [α, β, γ]
    """
    e, J, x = axes_in_bodies(chain, q), chain.inertias, chain.xi_bar

    def entry(a: int, b: int, g: int) -> Scalar:
        total: Scalar = 0.0
        for i in range(max(a, b, g), chain.n):
            turned_b, turned_g = cross(e[b][i], e[max(a, b)][i]), cross(e[g][i], e[max(a, g)][i])
            total = total + dot(turned_b, J[i] @ e[g][i]) + dot(e[b][i], J[i] @ turned_g)
        return x[a] * x[b] * x[g] * total

    return Vec([symmetric(chain.n, partial(entry, a)) for a in range(chain.n)])


@on_states(q=("n",))
def metric_derivatives(chain: Chain, q: Vec) -> Vec:
    """Derivatives of the metric tensor, ∂a_βγ/∂q_α.                                 Zoric (107)

    q   (..., n)
    ->  (..., n, n, n)  [α, β, γ]
    """
    return metric_translational_derivatives(chain, q) + metric_rotational_derivatives(chain, q)
