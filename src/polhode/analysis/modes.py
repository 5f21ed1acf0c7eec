"""Modes of a linear system: eigenvalues with their frequency, damping and shape, and the table of them."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polhode.analysis.spectrum import Spectrum

SHOWN = 3
"""The most components of a mode's shape in the table."""


class Mode(NamedTuple):
    """One mode: an eigenvalue, or the upper one of a pair.

    eigenvalue  1/s; a part that is within its bound of 0 is 0
    frequency   |imaginary part|, rad/s; 0 for one that does not oscillate
    damping     −Re/|λ|: 1 for one that dies without oscillating, below 0 for one that grows
    shape       complex, by the names of the states; the largest coordinate that matters is 1
    bound       of the error of the eigenvalue, 1/s
    """

    eigenvalue: complex
    frequency: float
    damping: float
    shape: dict[str, complex]
    bound: float = 0.0

    @property
    def time(self) -> float:
        """Seconds in which it halves or doubles; infinite for one that stays."""
        return math.log(2) / abs(self.eigenvalue.real) if self.eigenvalue.real else math.inf


def modes_of(found: Spectrum, shapes: np.ndarray, names: Sequence[str], main: Sequence[str]) -> list[Mode]:
    """The modes of eigenvalues and their shapes (columns), those that grow fastest first.

    main  the names by which shapes are scaled
    """
    chosen, modes = np.array([name in main for name in names], dtype=bool), []
    for value, shape, bound in zip(found.rounded.tolist(), shapes.T, found.bounds.tolist(), strict=True):
        if value.imag < 0:
            continue
        parts = _scaled(shape, chosen).tolist()
        damping = -value.real / abs(value) if value.real else 0.0
        modes.append(Mode(value, abs(value.imag), damping, dict(zip(names, parts, strict=True)), bound))
    return sorted(modes, key=lambda mode: (-mode.eigenvalue.real, mode.frequency))


def _scaled(shape: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The largest of the chosen parts made 1, or the largest of all where these take no part; rounding made 0."""
    largest = float(np.max(abs(shape), initial=0.0))
    part = shape[chosen] if np.max(abs(shape[chosen]), initial=0.0) > 1e-9 * largest else shape
    top = part[int(np.argmax(abs(part)))] if part.size else 1.0
    shape = shape / top if top else shape
    floor = 1e-12 * float(np.max(abs(shape), initial=0.0))
    return np.where(abs(shape.real) > floor, shape.real, 0.0) + 1j * np.where(abs(shape.imag) > floor, shape.imag, 0.0)


HEAD = ("eigenvalue, 1/s", "rad/s", "Hz", "damping", "time, s", "shape")
"""The columns of the table of modes."""


def rows_of(modes: Sequence[Mode], main: Sequence[str]) -> list[tuple[str, ...]]:
    """The modes as rows of texts, by `HEAD`: frequency, time to half or double, the largest parts of the shape.

    main  the names among which parts of shapes are listed
    """
    still = [mode for mode in modes if not mode.eigenvalue]
    rows = [_row(mode, main) for mode in modes if mode.eigenvalue or mode is still[0]]
    if len(still) > 1:  # their shapes are any mixture of each other
        row = next(k for k, mode in enumerate(modes) if mode is still[0])
        rows[row] = (f"0 ({len(still)} times)", "", "", "", "stays", "steady motions nearby")
    return rows


def table_of(modes: Sequence[Mode], main: Sequence[str]) -> str:
    """The rows of the modes as text, with their columns aligned."""
    rows = [HEAD, *rows_of(modes, main)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(HEAD) - 1)]
    lines = ["  ".join([*(text.rjust(w) for text, w in zip(row, widths, strict=False)), row[-1]]) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def _row(mode: Mode, main: Sequence[str]) -> tuple[str, ...]:
    value = mode.eigenvalue
    text = f"{value.real:.6g} ± {value.imag:.6g} i" if value.imag else f"{value.real:.6g}"
    turns = (f"{mode.frequency:.4g}", f"{mode.frequency / (2 * math.pi):.4g}") if value.imag else ("", "")
    grows = "doubles" if value.real > 0 else "halves"
    time = f"{grows} in {mode.time:.3g}" if math.isfinite(mode.time) and mode.time < 1e6 else "stays"
    return text, *turns, f"{mode.damping:.3f}" if value.imag else "", time, _shape(mode, main)


def _shape(mode: Mode, main: Sequence[str]) -> str:
    parts = {name.removeprefix("q."): mode.shape[name] for name in main}
    moving = parts if any(abs(x) > 1e-9 for x in parts.values()) else mode.shape
    largest = sorted(moving.items(), key=lambda pair: -abs(pair[1]))[:SHOWN]
    return ", ".join(_part(name, x) for name, x in largest if abs(x) > 5e-4)


def _part(name: str, x: complex) -> str:
    if abs(x.imag) < 1e-6 * abs(x):
        return f"{name} {x.real:.3g}"
    return f"{name} {abs(x):.3g} ∠{math.degrees(math.atan2(x.imag, x.real)):.0f}°"
