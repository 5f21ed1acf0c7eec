"""Lagrange's equations of a chain in covariant form, and the generalised forces in them.

Σ_α a_αγ q̈_α + Σ_α Σ_β Γ_αβ,γ q̇_α q̇_β = Q_γ                                          Zoric (109)
"""

from polhode.dynamics import fundamental
from polhode.errors import InputError, message
from polhode.papers.chain.connection import christoffel
from polhode.papers.chain.energy import metric, metric_derivatives
from polhode.papers.chain.frames import attitudes
from polhode.papers.chain.kinematics import angular_vectors, quasi_basic_vectors
from polhode.papers.chain.record import ZERO, Chain, on_states
from polhode.quaternion import rotate
from polhode.scalar import Array, Vec, cross, dot

# ── generalised forces ───────────────────────────────────────────────────────────────────────────────


@on_states(q=("n",), gravity=(3,))
def gravity_force(chain: Chain, q: Vec, gravity: Vec) -> Vec:
    """Generalised force of a uniform gravity.

        Q_γ = Σ_i m_i g·T_γ(i)                                                       Zoric (104)

    q        (..., n)
    gravity  (..., 3)  in space, m/s²
    ->       (..., n)
    """
    T, m = quasi_basic_vectors(chain, q), chain.masses
    return Vec([sum(m_i * dot(gravity, T_i) for m_i, T_i in zip(m, row, strict=True)) for row in T])


@on_states(q=("n",), forces=("n", 3), points=("n", 3))
def applied_force(chain: Chain, q: Vec, forces: Vec, points: Vec) -> Vec:
    """Generalised force of a force on each body.

        Q_γ = Σ_i F_i·(T_γ(i) + Ω_γ(i) × ρ)                                          Zoric (104)

    q       (..., n)
    forces  (..., n, 3)  in space, N
    points  (..., n, 3)  where they act: body axes, from the mass centres, m
    ->      (..., n)
    """
    rho = [rotate(p, x) for p, x in zip(attitudes(chain, q), points, strict=True)]
    T, Omega, n = quasi_basic_vectors(chain, q), angular_vectors(chain, q), range(chain.n)
    return Vec([sum(dot(forces[i], T[g][i] + cross(Omega[g][i], rho[i])) for i in n) for g in n])


@on_states(q=("n",), couples=("n", 3))
def couple_force(chain: Chain, q: Vec, couples: Vec) -> Vec:
    """Generalised force of a couple on each body.

        Q_γ = Σ_i M_i·Ω_γ(i)                                                         Zoric (104)

    q        (..., n)
    couples  (..., n, 3)  in space, N m
    ->       (..., n)
    """
    return Vec([sum(dot(M, w) for M, w in zip(couples, row, strict=True)) for row in angular_vectors(chain, q)])


@on_states(q=("n",), gravity=(3,), forces=("n", 3), points=("n", 3), couples=("n", 3), joints=("n",))
def generalized_force(
    chain: Chain,
    q: Vec,
    gravity: Vec | None = None,
    forces: Vec | None = None,
    points: Vec | None = None,
    couples: Vec | None = None,
    joints: Vec | None = None,
) -> Vec:
    """Q of all that acts on the chain; what is left out does not act.               Zoric (104)

    q                 (..., n)
    gravity           (..., 3)     in space, m/s²
    forces, couples   (..., n, 3)  on each body, in space; forces act at `points`
    points            (..., n, 3)  body axes, from the mass centres; default the mass centres
    joints            (..., n)     torque of a revolute, force of a prismatic joint
    ->                (..., n)
    """
    if points is not None and forces is None:
        where, expected = "chain.generalized_force, argument points", "the forces that act there"
        raise InputError(message(where, "points without forces", "no forces", expected))
    Q = Vec([0.0] * chain.n) if joints is None else joints
    if gravity is not None:
        Q = Q + gravity_force(chain, q, gravity)
    if forces is not None:
        Q = Q + applied_force(chain, q, forces, points or Vec([ZERO] * chain.n))
    if couples is not None:
        Q = Q + couple_force(chain, q, couples)
    return Q


# ── Lagrange's equations ─────────────────────────────────────────────────────────────────────────────


@on_states(q=("n",), qdot=("n",))
def momentum(chain: Chain, q: Vec, qdot: Vec) -> Vec:
    """Generalised momenta.

        ∂E/∂q̇_γ = Σ_α a_αγ q̇_α                                              Zoric (105), (106)

    q, qdot  (..., n)
    ->       (..., n)
    """
    return metric(chain, q) @ qdot


@on_states(q=("n",), qdot=("n",), qddot=("n",))
def momentum_rate(chain: Chain, q: Vec, qdot: Vec, qddot: Vec) -> Vec:
    """Rates of the generalised momenta along a motion.

        d/dt ∂E/∂q̇_γ = Σ_α a_αγ q̈_α + ½ Σ_α Σ_β (∂a_αγ/∂q_β + ∂a_βγ/∂q_α) q̇_α q̇_β    Zoric (107)

    q, qdot, qddot  (..., n)
    ->              (..., n)
    """
    D, n = metric_derivatives(chain, q), range(chain.n)
    products = [sum((D[b][a][g] + D[a][b][g]) / 2 * qdot[a] * qdot[b] for a in n for b in n) for g in n]
    return metric(chain, q) @ qddot + Vec(products)


@on_states(q=("n",), qdot=("n",))
def energy_gradient(chain: Chain, q: Vec, qdot: Vec) -> Vec:
    """Derivatives of the kinetic energy by the coordinates.

        ∂E/∂q_γ = ½ Σ_α Σ_β ∂a_αβ/∂q_γ q̇_α q̇_β                                      Zoric (108)

    q, qdot  (..., n)
    ->       (..., n)
    """
    return Vec([dot(qdot, D_g @ qdot) / 2 for D_g in metric_derivatives(chain, q)])


@on_states(q=("n",), qdot=("n",), qddot=("n",))
def lagrange_derivative(chain: Chain, q: Vec, qdot: Vec, qddot: Vec) -> Vec:
    """Lagrange's derivative of the kinetic energy: the generalised force that a motion needs.

        d/dt ∂E/∂q̇_γ − ∂E/∂q_γ = Q_γ                                                 Zoric (104)

    q, qdot, qddot  (..., n)
    ->              (..., n)
    """
    return momentum_rate(chain, q, qdot, qddot) - energy_gradient(chain, q, qdot)


# ── the covariant form ───────────────────────────────────────────────────────────────────────────────


@on_states(q=("n",), qdot=("n",))
def coriolis(chain: Chain, q: Vec, qdot: Vec) -> Vec:
    """The Coriolis matrix of Christoffel: ȧ − 2C is skew.

        C_γβ = Σ_α Γ_αβ,γ q̇_α                                                        Zoric (109)

    q, qdot  (..., n)
    ->       (..., n, n)
    """
    G, n = christoffel(chain, q), range(chain.n)
    return Vec([Vec([sum(G[a][b][g] * qdot[a] for a in n) for b in n]) for g in n])


@on_states(q=("n",), qdot=("n",), qddot=("n",))
def inverse_dynamics(chain: Chain, q: Vec, qdot: Vec, qddot: Vec) -> Vec:
    """The generalised force Q that a motion needs; less that of gravity and loads, the joint forces.

        Q_γ = Σ_α a_αγ q̈_α + Σ_α Σ_β Γ_αβ,γ q̇_α q̇_β                                  Zoric (109)

    q, qdot, qddot  (..., n)
    ->              (..., n)
    """
    return metric(chain, q) @ qddot + coriolis(chain, q, qdot) @ qdot


@on_states(q=("n",), qdot=("n",), Q=("n",))
def net_force(chain: Chain, q: Vec, qdot: Vec, Q: Vec) -> Vec:
    """What is left of a generalised force to accelerate: Q_γ − Σ_α Σ_β Γ_αβ,γ q̇_α q̇_β.   Zoric (109)

    q, qdot, Q  (..., n)
    ->          (..., n)
    """
    return Q - coriolis(chain, q, qdot) @ qdot


def forward_dynamics(chain: Chain, q: Array, qdot: Array, Q: Array) -> Array:
    """The accelerations that generalised forces give.

        Σ_α a_αγ q̈_α = Q_γ − Σ_α Σ_β Γ_αβ,γ q̇_α q̇_β, solved                          Zoric (109)

    On arrays, an InputError if the metric tensor is singular: nothing resists some motion.

    q, qdot  (..., n)
    Q        (..., n)  of all that acts, see `generalized_force`
    ->       (..., n)
    """
    a, net = metric(chain, q), net_force(chain, q, qdot, Q)
    if isinstance(net, Vec):
        return fundamental.unconstrained(a, net)
    return fundamental.unconstrained_acceleration(a, net)
