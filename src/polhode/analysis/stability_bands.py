"""Bands of a parameter in which a motion is stable, marginal or unstable, and where they end."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

MOST = 8
"""Bands that are looked for between two samples; more would be noise, or want more samples."""

EDGE = 1e-9
"""How well the end of a band is found, relative to the parameter's range: below what is printed and drawn."""


class Band(NamedTuple):
    """A band of a parameter, from start to end, of one stability: "stable", "marginal" or "unstable"."""

    start: float
    end: float
    stability: str


def bands(
    x: Sequence[float],
    stability: Sequence[str],
    find: Callable[[float], str | None] | None = None,
    guess: Callable[[int], float] | None = None,
) -> list[Band]:
    """The bands of samples, in order, from the first sample to the last.

    A band narrower than an end can be found is none: a sample that happens to lie on the end of two others.

    x          (n,) ascending
    stability  (n,) at the samples
    find       the stability anywhere between, by which ends are located; None where it cannot be told
    guess      where the band ends between the samples i − 1 and i, if `find` is not given; else the middle
    """
    tolerance = EDGE * (x[-1] - x[0])
    found = [Band(float(x[0]), float(x[0]), stability[0])]
    for i in range(1, len(x)):
        a, b = float(x[i - 1]), float(x[i])
        if stability[i] == stability[i - 1]:
            found[-1] = found[-1]._replace(end=b)
            continue
        if find:
            parts = _located(find, a, stability[i - 1], b, stability[i], tolerance)
        else:
            parts = [(guess(i) if guess else (a + b) / 2, stability[i])]
        for edge, word in parts:
            found[-1] = found[-1]._replace(end=edge)
            found.append(Band(edge, b, word))
    return _joined(found, tolerance)


def _located(
    find: Callable[[float], str | None], a: float, left: str, b: float, right: str, tolerance: float
) -> list[tuple[float, str]]:
    """Where bands begin between a and b, and their stability: by halving, as many as there are on the way."""
    found: list[tuple[float, str]] = []
    while left != right and len(found) < MOST:
        low, high, beyond = a, b, right
        while high - low > tolerance:
            middle = (low + high) / 2
            if not low < middle < high or (word := find(middle)) is None:
                break
            if word == left:
                low = middle
            else:
                high, beyond = middle, word
        found.append(((low + high) / 2, beyond))
        a, left = high, beyond
    return found if left == right else [*found, (b, right)]


def _joined(given: list[Band], tolerance: float) -> list[Band]:
    """Bands without those that are narrower than the tolerance, equal neighbours as one."""
    wide = [band for band in given if band.end - band.start > 2 * tolerance] or given[:1]
    found = [wide[0]._replace(start=given[0].start)]
    for band in wide[1:]:
        if band.stability == found[-1].stability:
            found[-1] = found[-1]._replace(end=band.end)
        else:
            found[-1] = found[-1]._replace(end=band.start)
            found.append(band)
    return [*found[:-1], found[-1]._replace(end=given[-1].end)]
