"""Structure-preserving steps: they conserve the symplectic form and momenta, or the energy."""

from polhode.integrate.chart import method_on_group
from polhode.integrate.constrained import EndImpulses
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
    Constraints push at both ends of the step (`EndImpulses`): still symplectic, on what they leave free.
    """
    p, turns, n = machine.momentum(q, v), machine.rotations, machine.nv
    ends = EndImpulses(machine, t, q, v, h)

    def impulse(d: Vec) -> Vec:
        middle, mean = machine.retract(q, d / 2), d / h
        return h * (machine.gradient(middle, mean) + machine.forces(t + h / 2, middle, mean))

    def residual(x: Vec) -> Vec:
        d, pushes = Vec(x[:n]), x[n:]
        g = impulse(d)
        alpha = machine.momentum(machine.retract(q, d / 2), d / h) + right(turns, -d / 2, g) / 2
        left = right_inverse(turns, d, alpha) - turned(turns, d / 2, g) - (p + ends.before(pushes))
        return Vec((*left, *ends.on_positions(pushes, d, machine.retract(q, d))))

    found = newton(residual, Vec((*(h * v), *ends.none)))
    d, p = Vec(found[:n]), p + ends.before(found[n:])
    end = _ended(machine, machine.retract(q, d), turned(turns, -d, p) + turned(turns, -d / 2, impulse(d)))
    return Step(end.q, ends.velocity(end.q, end.v))


def energy_momentum(machine: Machine, t: Scalar, q: Vec, v: Vec, h: Scalar) -> Step:
    """Energy changes by the work of the forces, exactly; a body about its mass centre keeps its momentum too.

        q₁ = q ⊕ cay(h v̄),  v̄ = ∇̄_p H,  p₁ − p = h (−∇̄_q H + ad*_v̄ p̄ + forces)
        ∇̄_q H = −X L + λ M v̄/h,  ∇̄_p H = M⁻¹p̄ + λ M⁻¹Δp      at the midpoint q̄, p̄, λ such that
        H₁ − H = h ∇̄_q H·v̄ + ∇̄_p H·Δp                                           Gonzalez (1996), BEYOND §8

    The correction λ is measured with the mass matrix, so that units do not matter.
    Constraints push at both ends of the step (`EndImpulses`): p̄ and Δp are between the two, H and H₁ beyond them,
    less the work that constraints do which move by themselves.
    """
    p, turns, n = machine.momentum(q, v), machine.rotations, machine.nv
    H, ends = machine.energy(q, v), EndImpulses(machine, t, q, v, h)
    unit = h if ends.constraints else 1.0  # with constraints the unknowns are displacements, as the impulses are

    k = len(ends.none)

    def residual(x: Vec) -> Vec:
        mean, dp, pushes, last = Vec(x[:n]) / unit, Vec(x[n : 2 * n]), x[2 * n : 2 * n + k], x[2 * n + k :]
        turn = cayley(turns, h * mean)
        middle, q1 = machine.retract(q, turn / 2), machine.retract(q, turn)
        before, after = ends.before(pushes), ends.after(last, q1)
        p_middle = p + before + dp / 2
        v_middle, v1 = machine.velocity(middle, p_middle), machine.velocity(q1, p + before + dp + after)
        H_q, H_p = -machine.gradient(middle, v_middle), v_middle
        along_q, along_p = machine.momentum(middle, mean), machine.velocity(middle, dp)
        H1 = machine.energy(q1, v1)
        missing = H1 - H - h * dot(H_q, mean) - dot(H_p, dp) - dot(before, v) - dot(after, v1)
        correction = _quotient(missing, dot(mean, along_q) + dot(dp, along_p), ENERGY_ROUNDING * (abs(H) + abs(H1)))
        H_q, H_p = H_q + correction / h * along_q, H_p + correction * along_p
        force = machine.forces(t + h / 2, middle, mean) + coadjoint(turns, mean, p_middle) - H_q
        held = (*ends.on_positions(pushes, turn, q1), *ends.on_velocities(last, q1, v1))
        return Vec((*(unit * (mean - H_p)), *(dp - h * force), *held))

    pushed = h * (machine.gradient(q, v) + coadjoint(turns, v, p) + machine.forces(t, q, v))
    found = newton(residual, Vec((*(unit * v), *pushed, *ends.none, *ends.none)))
    q1 = machine.retract(q, cayley(turns, h * (Vec(found[:n]) / unit)))
    before, after = ends.before(found[2 * n : 2 * n + k]), ends.after(found[2 * n + k :], q1)
    return _ended(machine, q1, p + before + Vec(found[n : 2 * n]) + after)


def _ended(machine: Machine, q: Vec, p: Vec) -> Step:
    """The step that ends at (q, p). What rounding does to the length of quaternions would feed on M⁻¹p and M v."""
    q = machine.normalized(q)
    return Step(q, machine.velocity(q, p))


def _quotient(x: Scalar, y: Scalar, noise: Scalar) -> Scalar:
    """x/y for y ≫ noise ≥ 0, fading to 0 where y is noise itself."""
    return x * y / (y * y + noise * noise + 1e-200)


STRUCTURE = (
    method_on_group(
        "variational", "structure-preserving", 2, variational, "Marsden, West (2001)", meets_constraints=True
    ),
    method_on_group(
        "energy-momentum", "structure-preserving", 2, energy_momentum, "Gonzalez (1996)", meets_constraints=True
    ),
)
"""Structure-preserving methods."""
