"""Terms of third and fourth order of the strains of a beam element, of the measure "angle".

They make elements whose curvature and twist are constant exact, arcs and helices, and with the uneven torsion below
bring errors of a mesh in space from order 2 to order 4. By θ_y = (e₂ + e₃)/l₀ and θ_z = (e₄ + e₅)/l₀, the turns from
end to end, ψ = e₁/l₀ and Φ of the planes xy and xz:

    ε₀ += −l₀ (θ_y² + θ_z²)²/1920                                               the length of an arc: l₀ sin(θ/2)/(θ/2)
    ε₁ += −e₁ (p_y θ_y² + p_z θ_z²)              p = 1/12 + 1/(6(1+Φ)), Φ of xy for p_y, of xz for p_z        helices
    ε₂ += g_y ψ² l₀ θ_y − (e₂ − e₃) m_y          g = (1 − Φ)/(24(1+Φ)), the same Φ;  m = (θ_y² + θ_z²)/(120(1+Φ)),
    ε₃ += g_y ψ² l₀ θ_y + (e₂ − e₃) m_y          the other: shear forces in an arc; likewise ε₄ and ε₅

p and g are those of helices without shear, with which ε₂ = ε₃ and ε₄ = ε₅ hold up to fourth order. m is that of an arc
in one plane: the stiffness against e₂ = −e₃ is that of the arc, sin²a/(3/2 − (3/4a) sin 2a) = 1 − 2a²/15 + … times that
of the straight beam, a = θ/2; shear adds its compliance. In both planes at once it is right by its invariance only:
there m is of the order of what is left out.
"""

from typing import NamedTuple

from polhode.scalar import Scalar, Vec, real_part, where


class HigherOrder(NamedTuple):
    """The terms of third and fourth order at the raw strains e (6,), m, of an element of the length l0."""

    e: Vec
    l0: Scalar
    shear_y: Scalar
    shear_z: Scalar

    @property
    def turn(self) -> tuple[Scalar, Scalar]:
        """θ_y and θ_z, rad: of the second end against the first."""
        e, per = self.e, 1 / self.l0
        return per * (e[2] + e[3]), per * (e[4] + e[5])

    @property
    def _factors(self) -> tuple[tuple[Scalar, Scalar], tuple[Scalar, Scalar], tuple[Scalar, Scalar]]:
        """−p, g, and −m by θ_y² + θ_z², of y and z each."""
        by_y, by_z = 1 / (1 + self.shear_y), 1 / (1 + self.shear_z)
        p_y, p_z = -1 / 12 - by_y / 6, -1 / 12 - by_z / 6
        return (p_y, p_z), ((by_y - 0.5) / 12, (by_z - 0.5) / 12), (by_z / -120, by_y / -120)

    def added(self, strains: Vec) -> Vec:
        """Strains (6,) with these terms."""
        (y, z), e, l0 = self.turn, self.e, self.l0
        n, ((p_y, p_z), (g_y, g_z), (m_y, m_z)) = y * y + z * z, self._factors
        twisted = e[1] * e[1] / l0
        even_y, odd_y = g_y * twisted * y, m_y * n * (e[2] - e[3])
        even_z, odd_z = g_z * twisted * z, m_z * n * (e[4] - e[5])
        terms = [
            l0 * n * n / -1920, e[1] * (p_y * y * y + p_z * z * z),
            even_y + odd_y, even_y - odd_y, even_z + odd_z, even_z - odd_z,
        ]  # fmt: skip
        return Vec([x + term for x, term in zip(strains, terms, strict=True)])

    def added_rates(self, strain_rates: Vec, rates: Vec) -> Vec:
        """Rates of strains (6,), m/s, with those of these terms, by the rates of the raw strains."""
        slopes, l0 = self._slopes, self.l0
        y, z = (rates[2] + rates[3]) / l0, (rates[4] + rates[5]) / l0
        even_y = slopes.even_y[0] * rates[1] + slopes.even_y[1] * y
        even_z = slopes.even_z[0] * rates[1] + slopes.even_z[1] * z
        odd_y = slopes.odd_y[0] * (rates[2] - rates[3]) + slopes.odd_y[1] * y + slopes.odd_y[2] * z
        odd_z = slopes.odd_z[0] * (rates[4] - rates[5]) + slopes.odd_z[1] * y + slopes.odd_z[2] * z
        terms = [
            slopes.along[0] * y + slopes.along[1] * z,
            slopes.twist[0] * rates[1] + slopes.twist[1] * y + slopes.twist[2] * z,
            even_y + odd_y, even_y - odd_y, even_z + odd_z, even_z - odd_z,
        ]  # fmt: skip
        return Vec([x + term for x, term in zip(strain_rates, terms, strict=True)])

    def added_loads(self, raw: Vec, loads: Vec, turning: tuple[Scalar, Scalar] = (0.0, 0.0)) -> Vec:
        """Loads (6,), N, dual to the raw strains, with what loads dual to the strains add by these terms.

        turning  what else pulls on θ_y and θ_z, N m
        """
        s, l0 = self._slopes, self.l0
        even_y, odd_y, even_z, odd_z = (
            loads[2] + loads[3], loads[2] - loads[3], loads[4] + loads[5], loads[4] - loads[5],
        )  # fmt: skip
        y = s.along[0] * loads[0] + s.twist[1] * loads[1] + s.even_y[1] * even_y
        z = s.along[1] * loads[0] + s.twist[2] * loads[1] + s.even_z[1] * even_z
        y = (y + s.odd_y[1] * odd_y + s.odd_z[1] * odd_z + turning[0]) / l0
        z = (z + s.odd_y[2] * odd_y + s.odd_z[2] * odd_z + turning[1]) / l0
        twist = s.twist[0] * loads[1] + s.even_y[0] * even_y + s.even_z[0] * even_z
        apart_y, apart_z = s.odd_y[0] * odd_y, s.odd_z[0] * odd_z
        terms = [0.0, twist, y + apart_y, y - apart_y, z + apart_z, z - apart_z]
        return Vec([x + term for x, term in zip(raw, terms, strict=True)])

    @property
    def _slopes(self) -> "_TermSlopes":
        (y, z), e, l0 = self.turn, self.e, self.l0
        n, ((p_y, p_z), (g_y, g_z), (m_y, m_z)) = y * y + z * z, self._factors
        arc, twisted = l0 * n / -480, e[1] * e[1] / l0
        more_y, more_z = 2 * m_y * (e[2] - e[3]), 2 * m_z * (e[4] - e[5])
        return _TermSlopes(
            (arc * y, arc * z),
            (p_y * y * y + p_z * z * z, 2 * p_y * e[1] * y, 2 * p_z * e[1] * z),
            (2 * g_y * e[1] * y / l0, g_y * twisted),
            (2 * g_z * e[1] * z / l0, g_z * twisted),
            (m_y * n, more_y * y, more_y * z),
            (m_z * n, more_z * y, more_z * z),
        )


class _TermSlopes(NamedTuple):
    """Derivatives of the terms, as the methods of HigherOrder name them."""

    along: tuple[Scalar, Scalar]
    """Of ε₀ by θ_y and θ_z."""
    twist: tuple[Scalar, Scalar, Scalar]
    """Of ε₁ by e₁, θ_y and θ_z."""
    even_y: tuple[Scalar, Scalar]
    """Of what ε₂ and ε₃ have alike by e₁ and θ_y."""
    even_z: tuple[Scalar, Scalar]
    odd_y: tuple[Scalar, Scalar, Scalar]
    """Of what ε₂ has and ε₃ lacks by e₂ − e₃, θ_y and θ_z."""
    odd_z: tuple[Scalar, Scalar, Scalar]


class UnevenTorsion(NamedTuple):
    """The torsion that bending moments across the curvature make within an element, as a compliance.

    The torque of a bent rod changes from end to end by T = θ_y M_z − θ_z M_y, so its twist is uneven. That of least
    energy is linear along the element, with no mean, as if S⁻¹ of torsion and bending were S⁻¹ + w wᵀ/(12 GJ):

        U = −(l₀T)²/(2 l₀ D),   D = 12 GJ + EI_y θ_z² + EI_z θ_y²,   w = (0, −θ_z, θ_y),   l₀T = w · l₀M

    turn    θ_y and θ_z, rad
    moment  M_y and M_z, times l₀, N m²
    """

    turn: tuple[Scalar, Scalar]
    moment: tuple[Scalar, Scalar]
    bending: tuple[Scalar, Scalar]
    torsion: Scalar
    l0: Scalar

    @property
    def softness(self) -> Scalar:
        """1/(l₀ D); 0 of an element that has no stiffness against torsion, or a constraint in its place."""
        (y, z), (EI_y, EI_z), stiff = self.turn, self.bending, real_part(self.torsion) > 0
        D = 12 * where(stiff, self.torsion, 1.0) + EI_y * z * z + EI_z * y * y
        return where(stiff, 1 / (self.l0 * D), 0.0)

    @property
    def torque(self) -> Scalar:
        """l₀T, N m²"""
        (y, z), (my, mz) = self.turn, self.moment
        return y * mz - z * my

    def torque_slope(self, strains: Vec) -> Scalar:
        """l₀T of further strains (6,), m, at the same curvature: U falls by half its square times the softness."""
        (y, z), (EI_y, EI_z), e = self.turn, self.bending, strains
        return y * EI_z / self.l0 * (e[4] + e[5]) - z * EI_y / self.l0 * (e[2] + e[3])

    @property
    def energy(self) -> Scalar:
        """U, J"""
        return -self.torque * self.torque * self.softness / 2

    @property
    def loads(self) -> tuple[tuple[Scalar, Scalar], tuple[Scalar, Scalar]]:
        """What it adds to the loads of ε₂, ε₃ and of ε₄, ε₅, N, and its pull on θ_y and θ_z, N m: slopes of U."""
        (y, z), (my, mz), (EI_y, EI_z) = self.turn, self.moment, self.bending
        r = self.torque * self.softness
        on_y, on_z = r * z * EI_y / self.l0, -r * y * EI_z / self.l0
        again = r * r * self.l0
        return (on_y, on_z), (again * EI_z * y - r * mz, again * EI_y * z + r * my)
