"""Structure-preserving steps: they conserve the symplectic form and momenta, or the energy."""

from polhode.integrate.chart import method_on_group
from polhode.integrate.group import cayley, coadjoint, right, right_inverse, turned
from polhode.integrate.implicit import newton
from polhode.integrate.method import Machine, Step
from polhode.scalar import Scalar, Vec, dot

ENERGY_ROUNDING = 1e-9
"""A difference of energies, relative to the energies, below which it is mostly rounding."""


def variational(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Step:
    """The motion that makes a discrete action stationary: symplectic, and it keeps the momenta of symmetries.

        L_d = h L(q̄, δ/h),  q̄ = q ⊕ δ/2;   g = X L + forces and μ = M δ/h, both at q̄
        p = Jl(δ)⁻ᵀ (μ + h/2 Jr(δ/2)ᵀ g) − h Ad_{exp(−δ/2)}ᵀ g,  solved for δ
        p₁ = Ad_{exp δ}ᵀ p + h Ad_{exp(δ/2)}ᵀ g,  q₁ = q ⊕ δ             Marsden, West (2001) §§1.3, 3.2, on the group

    p₁ = Jr(δ)⁻ᵀ (μ + h/2 Jr(δ/2)ᵀ g) is written by p, so that momenta do not depend on the solver's tolerance.
    """
    p, turns = machine.momentum(q, v), machine.rotations

    def impulse(d: Vec) -> Vec:
        middle, mean = machine.retract(q, d / 2), d / h
        return h * (machine.gradient(middle, mean) + machine.forces(t + h / 2, middle, mean))

    def residual(d: Vec) -> Vec:
        g = impulse(d)
        alpha = machine.momentum(machine.retract(q, d / 2), d / h) + right(turns, -d / 2, g) / 2
        return right_inverse(turns, d, alpha) - turned(turns, d / 2, g) - p

    d = newton(residual, h * v)
    return _ended(machine, machine.retract(q, d), turned(turns, -d, p) + turned(turns, -d / 2, impulse(d)))


def energy_momentum(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Step:
    """Energy changes by the work of the forces, exactly; a body about its mass centre keeps its momentum too.

        q₁ = q ⊕ cay(h v̄),  v̄ = ∇̄_p H,  p₁ − p = h (−∇̄_q H + ad*_v̄ p̄ + forces)
        ∇̄_q H = −X L + λ M v̄/h,  ∇̄_p H = M⁻¹p̄ + λ M⁻¹Δp      at the midpoint q̄, p̄, λ such that
        H₁ − H = h ∇̄_q H·v̄ + ∇̄_p H·Δp                                           Gonzalez (1996), BEYOND §8

    The correction λ is measured with the mass matrix, so that units do not matter.
    """
    p, turns, n = machine.momentum(q, v), machine.rotations, machine.nv
    H = machine.energy(q, v)

    def residual(x: Vec) -> Vec:
        mean, dp = Vec(x[:n]), Vec(x[n:])
        turn = cayley(turns, h * mean)
        middle, p_middle, q1 = machine.retract(q, turn / 2), p + dp / 2, machine.retract(q, turn)
        v_middle = machine.velocity(middle, p_middle)
        H_q, H_p = -machine.gradient(middle, v_middle), v_middle
        along_q, along_p = machine.momentum(middle, mean), machine.velocity(middle, dp)
        H1 = machine.energy(q1, machine.velocity(q1, p + dp))
        missing = H1 - H - h * dot(H_q, mean) - dot(H_p, dp)
        correction = _quotient(missing, dot(mean, along_q) + dot(dp, along_p), ENERGY_ROUNDING * (abs(H) + abs(H1)))
        H_q, H_p = H_q + correction / h * along_q, H_p + correction * along_p
        force = machine.forces(t + h / 2, middle, mean) + coadjoint(turns, mean, p_middle) - H_q
        return Vec((*(mean - H_p), *(dp - h * force)))

    pushed = h * (machine.gradient(q, v) + coadjoint(turns, v, p) + machine.forces(t, q, v))
    found = newton(residual, Vec((*v, *pushed)))
    return _ended(machine, machine.retract(q, cayley(turns, h * Vec(found[:n]))), p + Vec(found[n:]))


def _ended(machine: Machine, q: Vec, p: Vec) -> Step:
    """The step that ends at (q, p). What rounding does to the length of quaternions would feed on M⁻¹p and M v."""
    q = machine.normalized(q)
    return Step(q, machine.velocity(q, p))


def _quotient(x: Scalar, y: Scalar, noise: Scalar) -> Scalar:
    """x/y for y ≫ noise ≥ 0, fading to 0 where y is noise itself."""
    return x * y / (y * y + noise * noise + 1e-200)


STRUCTURE = (
    method_on_group("variational", "structure-preserving", 2, variational, "Marsden, West (2001)"),
    method_on_group("energy-momentum", "structure-preserving", 2, energy_momentum, "Gonzalez (1996)"),
)
"""Structure-preserving methods."""
