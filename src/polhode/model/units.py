"""Units as text: "N m/rad", "kg m2", "rpm", "mm". What each is in SI, and its dimension."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from polhode.errors import did_you_mean

PREFIXES = {"k": 1e3, "m": 1e-3, "M": 1e6, "u": 1e-6, "µ": 1e-6, "c": 1e-2, "n": 1e-9, "G": 1e9}


class Dimension(NamedTuple):
    """Powers of kilogram, metre, second and radian."""

    kg: int = 0
    m: int = 0
    s: int = 0
    rad: int = 0

    def times(self, other: "Dimension", power: int = 1) -> "Dimension":
        """The dimension of a product with a power of another."""
        return Dimension(*(a + power * b for a, b in zip(self, other, strict=True)))

    def __str__(self) -> str:
        known = _SHORT.get(self)
        if known:
            return known
        parts = [
            f"{name}{power if power != 1 else ''}" for name, power in zip(self._fields, self, strict=True) if power
        ]
        return " ".join(parts) or "1"

    def admits(self, other: "Dimension") -> bool:
        """Whether a number of another dimension may be given for it: torques and their like may leave rad out."""
        same = self[:3] == other[:3]
        return same and (self.rad == other.rad or (self.kg != 0 and other.rad == 0))


class Unit(NamedTuple):
    """A unit: how many SI units it is, and its dimension."""

    factor: float
    dimension: Dimension


class UnknownUnit(Exception):
    """A text that is no unit: the word that is not known, and a hint."""

    def __init__(self, word: str, fix: str = "") -> None:
        super().__init__(word)
        self.word, self.fix = word, fix


_N, _NM = Dimension(1, 1, -2), Dimension(1, 2, -2)
_SHORT = {
    Dimension(): "1", _N: "N", _NM: "N m", Dimension(1, 0, -2): "N/m", Dimension(1, 0, -1): "N s/m",
    Dimension(1, 2, -1): "N m s", Dimension(1, 2, 0): "kg m2", Dimension(1, 2, -2, -1): "N m/rad",
    Dimension(1, 2, -1, -1): "N m s/rad", Dimension(0, 1, -1): "m/s", Dimension(0, 1, -2): "m/s2",
    Dimension(0, 0, -1, 1): "rad/s", Dimension(0, 1, 0, -1): "m/rad", Dimension(1, 0, -1, 0): "N s/m",
    Dimension(1, -1, -2): "Pa",
}  # fmt: skip
_BASE: dict[str, Unit] = {
    "m": Unit(1.0, Dimension(m=1)), "g": Unit(1e-3, Dimension(kg=1)), "s": Unit(1.0, Dimension(s=1)),
    "rad": Unit(1.0, Dimension(rad=1)), "N": Unit(1.0, _N), "J": Unit(1.0, _NM), "W": Unit(1.0, Dimension(1, 2, -3)),
    "Pa": Unit(1.0, Dimension(1, -1, -2)),
}  # fmt: skip
"""Units that take prefixes."""

UNITS: dict[str, Unit] = {
    **{f"{prefix}{name}": Unit(size * unit.factor, unit.dimension)
       for name, unit in _BASE.items() for prefix, size in PREFIXES.items()},
    **_BASE,
    "kg": Unit(1.0, Dimension(kg=1)), "t": Unit(1e3, Dimension(kg=1)), "lb": Unit(0.45359237, Dimension(kg=1)),
    "in": Unit(0.0254, Dimension(m=1)), "ft": Unit(0.3048, Dimension(m=1)), "lbf": Unit(4.4482216152605, _N),
    "min": Unit(60.0, Dimension(s=1)), "h": Unit(3600.0, Dimension(s=1)),
    "deg": Unit(math.pi / 180, Dimension(rad=1)), "°": Unit(math.pi / 180, Dimension(rad=1)),
    "rev": Unit(2 * math.pi, Dimension(rad=1)), "turn": Unit(2 * math.pi, Dimension(rad=1)),
    "rpm": Unit(math.pi / 30, Dimension(s=-1, rad=1)), "Nm": Unit(1.0, _NM), "1": Unit(1.0, Dimension()),
}  # fmt: skip
"""Every unit by name."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_FACTOR = re.compile(r"\s*([*·/]?)\s*([^\W\d_]+|°|1)\s*(?:\^?(-?[0-9]))?")
_NUMBER = re.compile(
    r"\s*(?>([-+]?\s*(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?))\s*([^\W\d_°µ]|°|µ)(.*)", re.DOTALL
)


def unit_of(text: str) -> Unit:
    """The unit of a text, as in "N m/rad", "kg*cm^2", "rev/min"; raises UnknownUnit."""
    factor, found, at = 1.0, Dimension(), 0
    plain = text.strip().translate(_SUPERSCRIPTS)
    sign = 1
    while at < len(plain):
        part = _FACTOR.match(plain, at)
        if part is None:
            raise UnknownUnit(plain[at:])
        operator, name, power = part.groups()
        if name not in UNITS:
            raise UnknownUnit(name, did_you_mean(name, UNITS))
        sign = -1 if operator == "/" else 1 if operator else sign  # N m s/rad2: what follows a slash is below it
        times = sign * int(power or 1)
        factor, found = factor * UNITS[name].factor ** times, found.times(UNITS[name].dimension, times)
        at = part.end()
    return Unit(factor, found)


def dimension_at(unit: str, place: Sequence[int] = (), size: int = 0, is_linear: bool = False) -> Dimension:
    """The dimension of a number of a key, by the text of its unit.

    unit       "A"; "A or B": about an axis, or along one; "A, B" of rows of two; "A, B" of six numbers, or of six rows
               of six, against three lengths and three turns; "A, B, …": of powers, one after the other
    place      of the number, where the key has several
    size       of the row in which it is
    is_linear  whether it is along an axis
    """
    about, _, along = unit.partition(" or ")
    parts = [unit_of(part).dimension for part in (along if along and is_linear else about).split(", ") if part != "…"]
    if len(parts) == 1 or not place:
        return parts[0]
    if unit.endswith("…"):
        return parts[0].times(parts[1].times(parts[0], -1), place[0])
    if size == len(parts):
        return parts[place[-1]]
    if len(place) == 1:
        return parts[place[0] >= size // 2]
    (row, column), half = place, size // 2
    turned = Dimension(rad=-1).times(Dimension(m=1))
    return parts[0].times(Dimension(m=1), int(row >= half)).times(turned, int(column >= half))


class UnitNumber(float):
    """A number that was written with a unit, in SI; it keeps its dimension, and the text."""

    dimension: Dimension
    text: str


def number_with_unit(text: str) -> UnitNumber | None:
    """The number of a text such as "30deg", "3000 rpm", "-5 N/mm"; None where it is no number and a unit.

    Raises UnknownUnit where a number is followed by what is no unit.

    >>> round(number_with_unit("180 deg"), 4), number_with_unit("2 N/mm"), number_with_unit("2*pi")
    (3.1416, 2000.0, None)
    """
    parts = _NUMBER.fullmatch(text)
    if parts is None:
        return None
    unit = unit_of(parts[2] + parts[3])
    found = UnitNumber(float(parts[1].replace(" ", "")) * unit.factor)
    found.dimension, found.text = unit.dimension, text.strip()
    return found
