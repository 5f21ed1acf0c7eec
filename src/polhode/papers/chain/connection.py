"""Christoffel symbols of the first kind of a chain, in every form of the paper.

Γ_αβ,γ is symmetric in α and β; arrays hold it at [α, β, γ]. The rotational part is written, in the
order of the paper, from derivatives, with six terms, with three, as an integral, with one term.
All vectors of a rotational formula are components in frame i; inf and sup are those of α and β.
"""

from collections.abc import Callable

from polhode.papers.chain.energy import (
    metric_derivatives,
    metric_rotational_derivatives,
    metric_translational_derivatives,
    symmetric,
)
from polhode.papers.chain.frames import axes_in_bodies
from polhode.papers.chain.kinematics import quasi_basic_derivatives, quasi_basic_vectors
from polhode.papers.chain.record import Chain, on_states
from polhode.scalar import Scalar, Vec, cross, dot, on_arrays, square
from polhode.spatial import planar_inertia


def _from_derivatives(D: Vec) -> Vec:
    """½ (∂a_βγ/∂q_α + ∂a_γα/∂q_β − ∂a_αβ/∂q_γ), D[α][β][γ] = ∂a_βγ/∂q_α."""
    n = len(D)
    return symmetric(n, lambda a, b: Vec([(D[a][b][g] + D[b][g][a] - D[g][a][b]) / 2 for g in range(n)]))


@on_states(q=("n",))
def christoffel_from_derivatives(chain: Chain, q: Vec) -> Vec:
    """Christoffel symbols by their definition.

        Γ_αβ,γ = ½ (∂a_βγ/∂q_α + ∂a_γα/∂q_β − ∂a_αβ/∂q_γ)                            Zoric (110)

    q   (..., n)
    ->  (..., n, n, n)
    """
    return _from_derivatives(metric_derivatives(chain, q))


@on_states(q=("n",))
def christoffel_translational_from_derivatives(chain: Chain, q: Vec) -> Vec:
    """Translational part by its definition.

        Γ^tr_αβ,γ = ½ (∂a^tr_βγ/∂q_α + ∂a^tr_γα/∂q_β − ∂a^tr_αβ/∂q_γ)                Zoric (112)

    q   (..., n)
    ->  (..., n, n, n)
    """
    return _from_derivatives(metric_translational_derivatives(chain, q))


@on_states(q=("n",))
def christoffel_rotational_from_derivatives(chain: Chain, q: Vec) -> Vec:
    """Rotational part by its definition.

        Γ^rot_αβ,γ = ½ (∂a^rot_βγ/∂q_α + ∂a^rot_γα/∂q_β − ∂a^rot_αβ/∂q_γ)            Zoric (113)

    q   (..., n)
    ->  (..., n, n, n)
    """
    return _from_derivatives(metric_rotational_derivatives(chain, q))


@on_states(q=("n",))
def christoffel_translational(chain: Chain, q: Vec) -> Vec:
    """Translational part, closed.

        Γ^tr_αβ,γ = Σ_{i ≥ sup(α,β,γ)} m_i ξ̄_inf (e_inf × T_sup(i))·T_γ(i)    Zoric (115), (116)

    q   (..., n)
    ->  (..., n, n, n)
    """
    T, G, m = quasi_basic_vectors(chain, q), quasi_basic_derivatives(chain, q), chain.masses

    def entry(a: int, b: int, g: int) -> Scalar:
        return sum(m[i] * dot(G[a][b][i], T[g][i]) for i in range(max(a, b, g), chain.n))

    return symmetric(chain.n, lambda a, b: Vec([entry(a, b, g) for g in range(chain.n)]))


def _rotational(chain: Chain, term: Callable[[int, int, int, int], Scalar]) -> Vec:
    """ξ̄_α ξ̄_β ξ̄_γ Σ_{i ≥ sup(α,β,γ)} term(inf, sup, γ, i)"""
    x = chain.xi_bar

    def entry(inf: int, sup: int, g: int) -> Scalar:
        return x[inf] * x[sup] * x[g] * sum(term(inf, sup, g, i) for i in range(max(sup, g), chain.n))

    return symmetric(chain.n, lambda inf, sup: Vec([entry(inf, sup, g) for g in range(chain.n)]))


@on_states(q=("n",))
def christoffel_rotational_six_terms(chain: Chain, q: Vec) -> Vec:
    """Rotational part with the derivatives written out.

        Γ^rot_αβ,γ = ½ ξ̄_α ξ̄_β ξ̄_γ Σ_{i ≥ sup(α,β,γ)} [
              (e_β × e_sup(α,β))·J e_γ + (e_γ × e_sup(α,γ))·J e_β
            + (e_γ × e_sup(β,γ))·J e_α + (e_α × e_sup(α,β))·J e_γ
            − (e_α × e_sup(α,γ))·J e_β − (e_β × e_sup(β,γ))·J e_α ]                  Zoric (121)

    q   (..., n)
    ->  (..., n, n, n)
    """
    e, J = axes_in_bodies(chain, q), chain.inertias

    def term(a: int, b: int, g: int, i: int) -> Scalar:
        def turned(x: int, y: int) -> Vec:
            return cross(e[x][i], e[max(x, y)][i])

        along_g = dot(turned(b, a) + turned(a, b), J[i] @ e[g][i])
        along_b = dot(turned(g, a) - turned(a, g), J[i] @ e[b][i])
        along_a = dot(turned(g, b) - turned(b, g), J[i] @ e[a][i])
        return (along_g + along_b + along_a) / 2

    return _rotational(chain, term)


@on_states(q=("n",))
def christoffel_rotational_three_terms(chain: Chain, q: Vec) -> Vec:
    """Rotational part with three terms.

        Γ^rot_αβ,γ = ½ ξ̄_α ξ̄_β ξ̄_γ Σ_{i ≥ sup(α,β,γ)} [
              (e_inf × e_sup)·J e_γ − (e_α × e_γ)·J e_β − (e_β × e_γ)·J e_α ]        Zoric (122)

    q   (..., n)
    ->  (..., n, n, n)
    """
    e, J = axes_in_bodies(chain, q), chain.inertias

    def term(inf: int, sup: int, g: int, i: int) -> Scalar:
        e_inf, e_sup, e_g = e[inf][i], e[sup][i], e[g][i]
        first = dot(cross(e_inf, e_sup), J[i] @ e_g)
        return (first - dot(cross(e_inf, e_g), J[i] @ e_sup) - dot(cross(e_sup, e_g), J[i] @ e_inf)) / 2

    return _rotational(chain, term)


@on_arrays(e_inf="vector", e_sup="vector", e_g="vector", rho="vector")
def christoffel_integrand(e_inf: Vec, e_sup: Vec, e_g: Vec, rho: Vec) -> Scalar:
    """What one unit of mass at ρ contributes to the rotational part, with three terms.

        ½ [−(e_inf × e_sup)·ρ̃² e_γ + (e_inf × e_γ)·ρ (ρ·e_sup) + (e_sup × e_γ)·ρ (ρ·e_inf)]
                                                                             Zoric (124), (125)

    e_inf, e_sup, e_g, rho  (..., 3)
    ->                      (...)
    """
    minus_square = square(rho) * e_g - dot(rho, e_g) * rho
    inf_term = dot(cross(e_inf, e_g), rho) * dot(rho, e_sup)
    sup_term = dot(cross(e_sup, e_g), rho) * dot(rho, e_inf)
    return (dot(cross(e_inf, e_sup), minus_square) + inf_term + sup_term) / 2


@on_arrays(e_inf="vector", e_sup="vector", e_g="vector", rho="vector")
def christoffel_integrand_reduced(e_inf: Vec, e_sup: Vec, e_g: Vec, rho: Vec) -> Scalar:
    """The same with one term.

        −(e_inf × e_sup)·ρ̃² e_γ + (e_inf × e_γ)·ρ (ρ·e_sup) = (e_sup × e_γ)·ρ (ρ·e_inf)   Zoric (126)

    e_inf, e_sup, e_g, rho  (..., 3)
    ->                      (...)
    """
    return dot(cross(e_sup, e_g), rho) * dot(rho, e_inf)


@on_states(q=("n",), masses=("n", "k"), points=("n", "k", 3))
def christoffel_rotational_of_points(chain: Chain, q: Vec, masses: Vec, points: Vec) -> Vec:
    """Rotational part of bodies made of point masses.

        Γ^rot_αβ,γ = ξ̄_α ξ̄_β ξ̄_γ Σ_{i ≥ sup(α,β,γ)} ∫ (integrand) dm                 Zoric (124)

    q               (..., n)
    masses, points  (..., n, k), (..., n, k, 3)  body axes, from the mass centre
    ->              (..., n, n, n)
    """
    e = axes_in_bodies(chain, q)

    def term(inf: int, sup: int, g: int, i: int) -> Scalar:
        cloud = zip(masses[i], points[i], strict=True)
        return sum(m * christoffel_integrand(e[inf][i], e[sup][i], e[g][i], rho) for m, rho in cloud)

    return _rotational(chain, term)


@on_states(q=("n",))
def christoffel_rotational(chain: Chain, q: Vec) -> Vec:
    """Rotational part with one term; zero if γ = sup(α,β).

        Γ^rot_αβ,γ = ξ̄_α ξ̄_β ξ̄_γ Σ_{i ≥ sup(α,β,γ)} (e_sup × e_γ)·Π_i e_inf          Zoric (127)

    q   (..., n)
    ->  (..., n, n, n)
    """
    e, Pi = axes_in_bodies(chain, q), [planar_inertia(J) for J in chain.inertias]
    return _rotational(chain, lambda inf, sup, g, i: dot(cross(e[sup][i], e[g][i]), Pi[i] @ e[inf][i]))


@on_states(q=("n",))
def christoffel(chain: Chain, q: Vec) -> Vec:
    """Christoffel symbols of the first kind, closed.

        Γ_αβ,γ = Γ^tr_αβ,γ + Γ^rot_αβ,γ, from (115) and (127)                 Zoric (111), (129)

    Γ_αβ,γ + Γ_γβ,α = ∂a_αγ/∂q_β.

    q   (..., n)
    ->  (..., n, n, n)  [α, β, γ]
    """
    return christoffel_translational(chain, q) + christoffel_rotational(chain, q)
