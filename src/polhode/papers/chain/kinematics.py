"""Positions, velocities and accelerations of the bodies of a chain, by quasi-basic vectors.

inf and sup of joint numbers are the smaller and the larger one.
"""

from polhode.papers.chain.frames import attitudes, center_vectors, joint_axes, link_vectors
from polhode.papers.chain.record import ZERO, Chain, on_states
from polhode.quaternion import rotate
from polhode.scalar import Vec, cross


def _stretches(chain: Chain, q: Vec) -> list[Vec]:
    """ρ_kk + ξ_k q_k e_k: from joint k to joint k + 1, with the slide before the link."""
    parts = zip(link_vectors(chain, q), chain.xi, q, joint_axes(chain, q), strict=True)
    return [rho + xi * q_k * e for rho, xi, q_k, e in parts]


@on_states(q=("n",))
def positions(chain: Chain, q: Vec) -> Vec:
    """The mass centres in space.

        r_i = r_base + Σ_{k≤i} (ρ_kk + ξ_k q_k e_k) + ρ_i                             Zoric (35)

    q   (..., n)
    ->  (..., n, 3)  m
    """
    end, found = chain.base_position, []
    for stretch, rho in zip(_stretches(chain, q), center_vectors(chain, q), strict=True):
        end = end + stretch
        found.append(end + rho)
    return Vec(found)


@on_states(q=("n",))
def quasi_basic_vectors(chain: Chain, q: Vec) -> Vec:
    """The quasi-basic vectors: velocity of mass centre i per unit of q̇_α.

        T_α(i) = ∂r_i/∂q_α = ξ̄_α e_α × [Σ_{k=α..i} (ρ_kk + ξ_k q_k e_k) + ρ_i] + ξ_α e_α
                 for α ≤ i, else 0                                  Zoric (40), (61), (62), (64)

    q   (..., n)
    ->  (..., n, n, 3)  [α, i]
    """
    stretches, rho = _stretches(chain, q), center_vectors(chain, q)
    rows = []
    for a, e in enumerate(joint_axes(chain, q)):
        row, lever = [ZERO] * a, ZERO
        for i in range(a, chain.n):
            lever = lever + stretches[i]
            row.append(chain.xi_bar[a] * cross(e, lever + rho[i]) + chain.xi[a] * e)
        rows.append(Vec(row))
    return Vec(rows)


def weighted(weights: Vec, rows: Vec) -> Vec:
    """Σ_α w_α v_αi for every i, of vectors v_αi given by rows α."""
    return Vec([sum((w * v for w, v in zip(weights, column, strict=True)), start=ZERO) for column in rows.T])


@on_states(q=("n",), qdot=("n",))
def velocities(chain: Chain, q: Vec, qdot: Vec) -> Vec:
    """Velocities of the mass centres.

        V_i = Σ_α T_α(i) q̇_α                                              Zoric (39), (63), (86)

    q, qdot  (..., n)
    ->       (..., n, 3)  m/s
    """
    return weighted(qdot, quasi_basic_vectors(chain, q))


@on_states(q=("n",))
def quasi_basic_derivatives(chain: Chain, q: Vec) -> Vec:
    """Second derivatives of the positions; symmetric in α and β.

        Γ_αβ(i) = ∂T_α(i)/∂q_β = ξ̄_inf e_inf × T_sup(i)             Zoric (67), (69)–(73), (114)

    (76) writes T_sup(i) out, with α for sup(α, β) by a slip.

    q   (..., n)
    ->  (..., n, n, n, 3)  [α, β, i]
    """
    T, e, n = quasi_basic_vectors(chain, q), joint_axes(chain, q), range(chain.n)

    def vectors(inf: int, sup: int) -> Vec:
        return Vec([chain.xi_bar[inf] * cross(e[inf], T_i) for T_i in T[sup]])

    return Vec([Vec([vectors(min(a, b), max(a, b)) for b in n]) for a in n])


@on_states(q=("n",), qdot=("n",))
def quasi_basic_rates(chain: Chain, q: Vec, qdot: Vec) -> Vec:
    """Rates of the quasi-basic vectors along a motion.

        dT_α(i)/dt = Σ_β Γ_αβ(i) q̇_β                                                  Zoric (66)

    q, qdot  (..., n)
    ->       (..., n, n, 3)  [α, i]
    """
    return Vec([weighted(qdot, rows) for rows in quasi_basic_derivatives(chain, q)])


@on_states(q=("n",), qdot=("n",), qddot=("n",))
def accelerations(chain: Chain, q: Vec, qdot: Vec, qddot: Vec) -> Vec:
    """Accelerations of the mass centres.

        a_i = Σ_α T_α(i) q̈_α + Σ_α Σ_β Γ_αβ(i) q̇_α q̇_β                    Zoric (65), (68), (74)

    q, qdot, qddot  (..., n)
    ->              (..., n, 3)  m/s²
    """
    return weighted(qddot, quasi_basic_vectors(chain, q)) + weighted(qdot, quasi_basic_rates(chain, q, qdot))


@on_states(q=("n",))
def angular_vectors(chain: Chain, q: Vec) -> Vec:
    """Angular velocity of body i per unit of q̇_α, in space.

        Ω_α(i) = ξ̄_α e_α for α ≤ i, else 0                                            Zoric (78)

    q   (..., n)
    ->  (..., n, n, 3)  [α, i]
    """
    e, n = joint_axes(chain, q), range(chain.n)
    return Vec([Vec([chain.xi_bar[a] * e[a] if a <= i else ZERO for i in n]) for a in n])


@on_states(q=("n",), qdot=("n",))
def angular_velocities(chain: Chain, q: Vec, qdot: Vec) -> Vec:
    """Angular velocities of the bodies, in space.

        ω_i = Σ_{α≤i} ξ̄_α q̇_α e_α = Σ_α Ω_α(i) q̇_α                       Zoric (77), (78), (79)

    q, qdot  (..., n)
    ->       (..., n, 3)  rad/s
    """
    return weighted(qdot, angular_vectors(chain, q))


@on_states(q=("n",), qdot=("n",), points=("n", 3))
def point_velocities(chain: Chain, q: Vec, qdot: Vec, points: Vec) -> Vec:
    """Velocities of points of the bodies.

        V_M = V_C + ω_i × ρ                                                           Zoric (81)

    q, qdot  (..., n)
    points   (..., n, 3)  one in each body, body axes, from the mass centre, m
    ->       (..., n, 3)  in space, m/s
    """
    parts = zip(
        velocities(chain, q, qdot), angular_velocities(chain, q, qdot), attitudes(chain, q), points, strict=True
    )
    return Vec([V + cross(omega, rotate(p, rho)) for V, omega, p, rho in parts])
