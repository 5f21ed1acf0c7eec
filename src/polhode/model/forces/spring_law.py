"""How hard a spring pulls, as a function of its extension: polynomial, table, energy; on generic scalars."""

from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.errors import CompileError, defined_at, message, warn_caller
from polhode.model.forces.monotone_table import monotone_table
from polhode.model.numbers import plain, short
from polhode.scalar import Scalar, Vec, derivative_along, is_zero


class SpringLaw(NamedTuple):
    """The elastic force of a spring:  preload + k e + c₂ e² + c₃ e³ + … + table(e) + V′(e).

    e is its extension (of a torsion spring, its angle) beyond rest. `energy` is V, a user function; its slope is exact.
    """

    name: str
    stiffness: Scalar
    preload: Scalar
    polynomial: Vec
    """c₂, c₃, …"""
    table: Vec
    """Rows (e, force); () where there is none."""
    energy: Callable[[Scalar], Any] | None

    def force(self, e: Scalar) -> Scalar:
        """The elastic force at an extension."""
        found = self.stiffness * e
        if not is_zero(self.preload):
            found = found + self.preload
        power = e
        for c in self.polynomial:
            power = power * e
            found = found + c * power
        if self.table:
            found = found + monotone_table(self.table).value(e)
        if self.energy:
            _, (slope,) = derivative_along(lambda x: Vec([self._energy(x[0])]), Vec([e]), Vec([1.0]))
            found = found + slope
        return found

    def potential(self, e: Scalar) -> Scalar:
        """Its integral, the energy stored."""
        found = self.stiffness * e * e / 2
        if not is_zero(self.preload):
            found = found + self.preload * e
        power = e * e
        for k, c in enumerate(self.polynomial, 3):
            power = power * e
            found = found + c * power / k
        if self.table:
            found = found + monotone_table(self.table).integral(e)
        return found + self._energy(e) if self.energy else found

    @property
    def is_linear(self) -> bool:
        """Whether it is k e alone."""
        return is_zero(self.preload) and not self.polynomial and not self.table and self.energy is None

    def _energy(self, e: Scalar) -> Scalar:
        assert self.energy is not None
        return one_number(f"force '{self.name}', energy", self.energy, e)


def law_summary(element: Any) -> str:
    """The numbers and functions of a spring in words, those that are there."""
    told = [f"{n} {short(getattr(element, n))}" for n in ("stiffness", "damping", "rest")]
    more = ("preload", "polynomial", "table", "energy", "law")
    return ", ".join(told + [f"{n} {short(x)}" for n in more if (x := plain(getattr(element, n)))])


def one_number(where: str, function: Callable[..., Any], *given: Scalar) -> Scalar:
    """What a user function gives, refused where it is not one number."""
    found = function(*given)
    if isinstance(found, (tuple, list)):
        raise CompileError(
            message(f"{where}{defined_at(function)}", "wrong result", f"{len(found)} numbers", "one number")
        )
    return found


def warn_of_negative(where: str, stiffness: Any, damping: Any) -> None:
    """Warn of a stiffness or a damping below 0."""
    for name, value, what in (("stiffness", stiffness, "pushes away from rest"), ("damping", damping, "adds energy")):
        if plain(value) < 0:
            text = message(f"{where}, {name}", f"is negative and {what}", short(value), "0 or more")
            warn_caller(text)
