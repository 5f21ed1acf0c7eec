"""The law of a beam element: from where its ends are and how they move to what it pulls them with."""

from collections.abc import Callable
from functools import cache
from math import nan
from typing import NamedTuple

from polhode.model.beams.higher_order import HigherOrder, UnevenTorsion
from polhode.model.beams.strains import (
    Chord,
    QuadraticTerm,
    chord,
    rates_with_second_order,
    raw_loads,
    second_order,
    with_second_order,
)
from polhode.scalar import Scalar, SharedFunction, Vec, dot, identity, is_zero, where


class EndMotion(NamedTuple):
    """How the ends of an element move, world axes: the velocity of the second relative to the first, m/s, and the
    angular velocities of both, rad/s, (3,) each."""

    apart: Vec
    first: Vec
    second: Vec


class ElementNumbers(NamedTuple):
    """The numbers of an element: those of a BeamElement, with Φ = 12 EI/(GA l₀²) of the planes xy and xz for shear."""

    length: Scalar
    axial: Scalar
    torsion: Scalar
    bending_y: Scalar
    bending_z: Scalar
    shear_xy: Scalar
    shear_xz: Scalar
    damping: Scalar
    prestrain: Vec

    @property
    def quadratic(self) -> list[QuadraticTerm]:
        """The terms of second order of its strains."""
        return second_order(self.length, self.shear_xy, self.shear_xz)

    def _higher(self, line: Chord) -> HigherOrder:
        """The terms of higher order, of the measure "angle"."""
        return HigherOrder(line.strains, self.length, self.shear_xy, self.shear_xz)

    def strains(self, line: Chord) -> Vec:
        """ε (6,), m"""
        found = with_second_order(line.strains, self.quadratic)
        return found if line.sine else self._higher(line).added(found)

    def strain_rates(self, line: Chord, motion: EndMotion) -> Vec:
        """dε/dt (6,), m/s"""
        rates = line.rates(*motion)
        found = rates_with_second_order(line.strains, rates, self.quadratic)
        return found if line.sine else self._higher(line).added_rates(found, rates)

    def stiff(self, strains: Vec) -> Vec:
        """S ε (6,), N"""
        e, l0 = strains, self.length
        cube = l0 * l0 * l0
        found = [self.axial / l0 * e[0], self.torsion / cube * e[1]]
        for EI, phi, i in ((self.bending_y, self.shear_xz, 2), (self.bending_z, self.shear_xy, 4)):
            factor = EI / ((1 + phi) * cube)
            found += [
                factor * ((4 + phi) * e[i] + (phi - 2) * e[i + 1]),
                factor * ((phi - 2) * e[i] + (4 + phi) * e[i + 1]),
            ]
        return Vec(found)

    def loads(self, line: Chord, motion: EndMotion | None, elastic: bool = True) -> Vec:
        """σ (6,), N: S (ε − prestrain) + damping S dε/dt.  motion: None where nothing is damped"""
        stretched = self._stretched(line) if elastic else Vec([0.0] * 6)
        if motion is not None:
            stretched = stretched + self.damping * self.strain_rates(line, motion)
        return self.stiff(stretched)

    def raw_loads(self, line: Chord, motion: EndMotion | None, elastic: bool = True) -> Vec:
        """The loads (6,), N, dual to the raw strains: (∂ε/∂e)ᵀ σ, and the slopes of the energy of uneven torsion."""
        loads, turning = self.loads(line, motion, elastic), (0.0, 0.0)
        if line.sine:
            return raw_loads(line.strains, loads, self.quadratic)
        if elastic:
            (on_y, on_z), turning = self.uneven_torsion(line).loads
            loads = loads + Vec([0.0, 0.0, on_y, on_y, on_z, on_z])
        return self._higher(line).added_loads(raw_loads(line.strains, loads, self.quadratic), loads, turning)

    def _stretched(self, line: Chord) -> Vec:
        """ε − prestrain (6,), m"""
        return self.strains(line) - self.prestrain

    def uneven_torsion(self, line: Chord) -> UnevenTorsion:
        """The torsion that its bending moments make within it."""
        e, EI = self._stretched(line), (self.bending_y, self.bending_z)
        moment = EI[0] * (e[2] + e[3]) / self.length, EI[1] * (e[4] + e[5]) / self.length
        return UnevenTorsion(self._higher(line).turn, moment, EI, self.torsion, self.length)

    def energy(self, line: Chord) -> Scalar:
        """½ (ε − prestrain)ᵀ S (ε − prestrain), and that of uneven torsion, J"""
        stretched = self._stretched(line)
        found = dot(stretched, self.stiff(stretched)) / 2
        return found if line.sine else found + self.uneven_torsion(line).energy


@cache
def pull(sine: bool, elastic: bool, damped: bool) -> SharedFunction:
    """What an element pulls its ends with, as a function that compiled code has once for all elements: for those in
    space, and for those in a plane, where zeros fold.

        R_p (9), R_q (9), way from p to q (3), numbers (14), [motion (9)] -> force on q (3), couples on p and q (6)

    Damped elements are given their motion. World axes; rows of R one after the other.
    """

    def function(R_p: Vec, R_q: Vec, way: Vec, numbers: Vec, *motion: Vec) -> Vec:
        law = _law(numbers)
        line = chord(_matrix(R_p), _matrix(R_q), way, law.length, sine)
        moving = EndMotion(*(Vec(motion[0][k : k + 3]) for k in (0, 3, 6))) if damped else None
        loads = law.raw_loads(line, moving, elastic)
        past = where(line.is_bent_past | line.is_twisted_past, nan, 0.0)  # no value: a run ends there
        return Vec([x if is_zero(x) else x + past for part in line.wrenches(loads) for x in part])

    return SharedFunction("beam element", function, folds=True)


@cache
def tension(sine: bool) -> SharedFunction:
    """N of an element, without damping: of R_p (9), R_q (9), the way from p to q (3) and the numbers (14); (1,)."""

    def function(R_p: Vec, R_q: Vec, way: Vec, numbers: Vec) -> Vec:
        law = _law(numbers)
        return Vec([law.loads(chord(_matrix(R_p), _matrix(R_q), way, law.length, sine), None)[0]])

    return SharedFunction("tension of a beam element", function, folds=True)


@cache
def pull_slopes(sine: bool, damped: bool) -> Callable[[tuple[int, ...]], SharedFunction]:
    """Stiffness and damping of an element, as functions that compiled code has once for all elements, as `pull`.

        R_p (9), R_q (9), way from p to q (3), numbers (14), N (1) -> K [D], by rows up to the diagonal

        K = EᵀSE − v vᵀ + N/l (I − t tᵀ) on the way,  D = damping EᵀSE,  E = ∂ε/∂(way, turns of p and q)

    Minus the derivatives of the force on q and the couples on p and q, but for what moments and shear forces of the
    sections add: that is of the order of the angle by which an element is bent, of the whole. N is given: of a state
    that is guessed, places are near those that it will have, but stretching need not be. v vᵀ is what uneven torsion
    takes off: of flat sections that are bent, much of their larger stiffness.
    """

    @cache
    def of(seen: tuple[int, ...]) -> SharedFunction:
        places = [(a, b) for k, a in enumerate(seen) for b in seen[: k + 1]]

        def function(R_p: Vec, R_q: Vec, way: Vec, numbers: Vec, stresses: Vec) -> Vec:
            law = _law(numbers)
            line = chord(_matrix(R_p), _matrix(R_q), way, law.length, sine)
            units = identity(9)
            E = {k: law.strain_rates(line, EndMotion(*(Vec(units[k][m : m + 3]) for m in (0, 3, 6)))) for k in seen}
            SE = {k: law.stiff(column) for k, column in E.items()}
            K = [dot(E[a], SE[b]) for a, b in places]
            D = [law.damping * x for x in K] if damped else []
            if not sine:
                uneven = law.uneven_torsion(line)
                v = {k: uneven.torque_slope(column) for k, column in E.items()}
                K = [x - uneven.softness * v[a] * v[b] for x, (a, b) in zip(K, places, strict=True)]
            pull, t = stresses[0] / line.l, line.t
            K = [x + pull * (float(a == b) - t[a] * t[b]) if a < 3 else x for x, (a, b) in zip(K, places, strict=True)]
            return Vec([*K, *D])

        return SharedFunction("stiffness of a beam element", function, folds=True)

    return of


def _law(numbers: Vec) -> ElementNumbers:
    """The law of the 14 numbers of an element."""
    length, EA, GJ, EI_y, EI_z, xy, xz, damping, *prestrain = numbers
    return ElementNumbers(length, EA, GJ, EI_y, EI_z, xy, xz, damping, Vec(prestrain))


def _matrix(rows: Vec) -> Vec:
    return Vec([Vec(rows[k : k + 3]) for k in (0, 3, 6)])
