"""The six generalised strains of a beam element between two frames, their rates, and the loads dual to them.

Besseling's strains as SPACAR has them (Jonker and Meijaard 1990; Meijaard 1996; Schwab and Meijaard 2010), all of the
unit of length: 0 elongation, 1 torsion, 2 and 3 bending in the plane xz at the first and the second end, 4 and 5 in the
plane xy. t is the unit vector from the first end to the second, A_p and A_q the axes of the section there, of which x
is along the beam; l₀ the length without strain:

    e₀ = l − l₀      e₁ = l₀ ψ      (e₂, e₄) = l₀ k_p (−τ_z, τ_y)      (e₃, e₅) = l₀ k_q (τ'_z, −τ'_y)
    τ = A_pᵀ t, τ' = A_qᵀ t,   ψ = atan2(S, C),   S = z_p·y_q − y_p·z_q,   C = y_p·y_q + z_p·z_q

By the measure "angle" k = β/sin β, β the angle between the chord and the axis of the section: the end turns by a
rotation vector. By "sine", SPACAR's, k = 1 and ψ = S/2. Terms of second order bring the energy of both to within terms
of fourth order of the energy of a geometrically exact rod, with shear: εᵢ = eᵢ + Σ c eⱼ eₖ. Terms of higher order, of
the measure "angle", are in `higher_order`.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from polhode.scalar import (
    Scalar,
    Vec,
    atan2,
    cross,
    dot,
    is_zero,
    length,
    minimum,
    real_part,
    smooth,
    sqrt,
    square,
    where,
)

MODES = ("elongation", "torsion", "bending-xz-start", "bending-xz-end", "bending-xy-start", "bending-xy-end")
STRAIN_SIGNS = (1.0, -1.0, 1.0, 1.0, -1.0, -1.0)
"""What they become, times themselves, where frames are reflected across y, as `reflection.FRAME` has it."""
"""The strains by name."""

MEASURES = ("angle", "sine")

BENT = (-0.9848, 0.0)
"""The cosine of the angle between chord and section, and of the twist, at which a measure ends: 170° of angles, 90° of
sines."""

SERIES_BELOW = 1e-5
"""Squared sine of the angle between chord and axis below which β/sin β is taken from its series."""

QuadraticTerm = tuple[int, int, int, Scalar]
"""(i, j, k, c): the term c eⱼ eₖ of εᵢ."""


def second_order(l0: Scalar, shear_y: Scalar, shear_z: Scalar) -> list[QuadraticTerm]:
    """The terms of second order.  shear: Φ = 12 EI/(GA l₀²) of the planes xy and xz, 0 where shear is left out"""
    y, z = shear_y, shear_z
    found: list[QuadraticTerm] = []
    for a, b, phi in ((2, 3, z), (4, 5, y)):
        below = 60 * (1 + phi) * (1 + phi) * l0
        same, mixed = (4 + 5 * phi - 5 * phi * phi) / below, (2 + 10 * phi + 20 * phi * phi) / below
        found += [(0, a, a, same), (0, b, b, same), (0, a, b, mixed)]
    below = 2 * l0 * (1 + y) * (1 + z)
    found += [(1, 2, 4, (z - y) / below), (1, 2, 5, -(2 + y + z) / below)]
    found += [(1, 3, 4, (2 + y + z) / below), (1, 3, 5, (y - z) / below)]
    for (near, far), (u, w), phi, sign in (((2, 3), (4, 5), y, 1), ((4, 5), (2, 3), z, -1)):
        below = 12 * l0 * (1 + phi)
        more, less = sign * (2 + 5 * phi) / below, sign * (2 - phi) / below
        found += [(near, 1, u, more), (near, 1, w, less), (far, 1, u, -less), (far, 1, w, -more)]
    return found


def with_second_order(e: Vec, terms: Iterable[QuadraticTerm]) -> Vec:
    """The strains ε (6,) of the raw ones."""
    found = list(e)
    for i, j, k, c in terms:
        found[i] = found[i] + c * e[j] * e[k]
    return Vec(found)


def rates_with_second_order(e: Vec, rates: Vec, terms: Iterable[QuadraticTerm]) -> Vec:
    """Their rates (6,), m/s."""
    found = list(rates)
    for i, j, k, c in terms:
        found[i] = found[i] + c * (rates[j] * e[k] + e[j] * rates[k])
    return Vec(found)


def raw_loads(e: Vec, loads: Vec, terms: Iterable[QuadraticTerm]) -> Vec:
    """The loads (6,), N, dual to the raw strains, of those dual to ε: (∂ε/∂e)ᵀ σ."""
    found = list(loads)
    for i, j, k, c in terms:
        found[j] = found[j] + c * loads[i] * e[k]
        found[k] = found[k] + c * loads[i] * e[j]
    return Vec(found)


class EndStrain(NamedTuple):
    """How the chord leans from the axis of the section at one end, in the axes of the section."""

    R: Vec
    tau: Vec
    """The direction of the chord."""
    k: Scalar
    """β/sin β; 1 by the measure "sine"."""
    slope: Scalar
    """(cos β − k)/sin² β, by which k falls; 0 by "sine"."""
    falls: Scalar
    """1 where k depends on the direction at all, 0 by "sine"."""

    @property
    def turn(self) -> tuple[Scalar, Scalar]:
        """k τ_y and k τ_z."""
        return self.k * self.tau[1], self.k * self.tau[2]

    def turn_rate(self, rate: Vec) -> tuple[Scalar, Scalar]:
        """Their rates, by the rate of τ."""
        _, y, z = self.tau
        k_rate = self.slope * (y * rate[1] + z * rate[2]) - self.falls * rate[0]
        return self.k * rate[1] + k_rate * y, self.k * rate[2] + k_rate * z

    def load(self, on_y: Scalar, on_z: Scalar) -> Vec:
        """The load dual to t, in world axes, of those dual to k τ_y and k τ_z."""
        _, y, z = self.tau
        both = on_y * y + on_z * z
        inside = [-self.falls * both, self.k * on_y + self.slope * both * y, self.k * on_z + self.slope * both * z]
        return self.R @ Vec(inside)


class Chord(NamedTuple):
    """The geometry of a beam element: its ends as seen from the straight line between them.

    sine  whether strains are measured by sines
    """

    l0: Scalar
    l: Scalar
    stretch: Scalar
    """l − l₀ without cancellation."""
    t: Vec
    p: EndStrain
    q: EndStrain
    S: Scalar
    C: Scalar
    dS: Vec
    """The slope of S by a turn of the first end, and minus that by one of the second."""
    dC: Vec
    sine: bool

    @property
    def is_bent_past(self) -> Any:
        """Whether a section leans from the chord by more than the measure holds for."""
        limit = BENT[self.sine]
        return minimum(real_part(self.p.tau[0]), real_part(self.q.tau[0])) <= limit

    @property
    def is_twisted_past(self) -> Any:
        """Whether it is twisted by more than the measure holds for: beyond half a turn the twist would change sides."""
        if is_zero(self.S):  # in a plane
            return False
        S, C, limit = real_part(self.S), real_part(self.C), BENT[self.sine]
        return (C <= 0.0) & (limit * limit * (S * S + C * C) <= C * C)

    @property
    def strains(self) -> Vec:
        """The raw strains e (6,), m."""
        (py, pz), (qy, qz) = self.p.turn, self.q.turn
        twist = self.S / 2 if self.sine else atan2(self.S, self.C)
        return Vec([self.stretch, self.l0 * twist, -self.l0 * pz, self.l0 * qz, self.l0 * py, -self.l0 * qy])

    @property
    def _twist_slopes(self) -> tuple[Scalar, Scalar]:
        """Those of the twist by S and by C."""
        if self.sine:
            return 0.5, 0.0
        size = self.S * self.S + self.C * self.C
        return self.C / size, -self.S / size

    def rates(self, apart: Vec, omega_p: Vec, omega_q: Vec) -> Vec:
        """The rates of the raw strains (6,), m/s.

        apart             velocity of the second end relative to the first, m/s, world axes
        omega_p, omega_q  angular velocities of the ends, rad/s, world axes
        """
        along = dot(self.t, apart)
        t_rate = (apart - along * self.t) / self.l
        py, pz = self.p.turn_rate(self.p.R.T @ (t_rate - cross(omega_p, self.t)))
        qy, qz = self.q.turn_rate(self.q.R.T @ (t_rate - cross(omega_q, self.t)))
        by_S, by_C = self._twist_slopes
        twist = dot(by_S * self.dS + by_C * self.dC, omega_p - omega_q)
        return Vec([along, self.l0 * twist, -self.l0 * pz, self.l0 * qz, self.l0 * py, -self.l0 * qy])

    def wrenches(self, loads: Vec) -> tuple[Vec, Vec, Vec]:
        """What loads (6,), N, dual to the raw strains pull with: the force on the second end (minus that on the first)
        and the couples on the first and the second, in world axes."""
        l0, t = self.l0, self.t
        at_p, at_q = self.p.load(l0 * loads[4], -l0 * loads[2]), self.q.load(-l0 * loads[5], l0 * loads[3])
        both = at_p + at_q
        force = loads[0] * t + (both - dot(t, both) * t) / self.l
        by_S, by_C = self._twist_slopes
        twist = (l0 * loads[1] * by_S) * self.dS + (l0 * loads[1] * by_C) * self.dC
        return -force, -(cross(at_p, t) + twist), twist - cross(at_q, t)


@smooth
def chord(R_p: Vec, R_q: Vec, apart: Vec, l0: Scalar, sine: bool) -> Chord:
    """The geometry of an element.

    R_p, R_q  axes of the sections at its ends in the world, columns
    apart     from the first end to the second, m
    """
    l = length(apart)
    t = apart / l
    yp, zp, yq, zq = (Vec([row[j] for row in R]) for R in (R_p, R_q) for j in (1, 2))
    S, C = dot(zp, yq) - dot(yp, zq), dot(yp, yq) + dot(zp, zq)
    dS, dC = cross(zp, yq) - cross(yp, zq), cross(yp, yq) + cross(zp, zq)
    stretch = (square(apart) - l0 * l0) / (l + l0)
    return Chord(l0, l, stretch, t, _end(R_p, t, sine), _end(R_q, t, sine), S, C, dS, dC, sine)


def _end(R: Vec, t: Vec, sine: bool) -> EndStrain:
    tau = R.T @ t
    if sine:
        return EndStrain(R, tau, 1.0, 0.0, 0.0)
    c, z = tau[0], tau[1] * tau[1] + tau[2] * tau[2]
    small = real_part(z) < SERIES_BELOW
    safe = where(small, 1.0, z)
    s = sqrt(safe)
    exact = atan2(s, c) / s
    near = 1 + z * (1 / 6 + z * (3 / 40 + z * (5 / 112)))
    k = where(small, near, exact)
    slope = where(small, -(2 / 3 + z * (1 / 5 + z * (3 / 28))), (c - exact) / safe)
    return EndStrain(R, tau, k, slope, 1.0)
