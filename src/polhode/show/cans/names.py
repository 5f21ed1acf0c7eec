"""Names as they are set: symbols in italics with their indices, words upright."""

import re

import numpy as np

from polhode.show.cans.chain import MotionChain
from polhode.show.vector.canvas import TextRun

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
}  # fmt: skip
_SYMBOL = re.compile(rf"({'|'.join(GREEK)}|[A-Za-zα-ωΑ-Ωϕϑ])(?:_?([0-9]{{1,3}})|_([A-Za-z0-9]{{1,3}}))?(′*)")

SPACE, INNER, BODY = ("x", "y", "z"), ("ξ", "η", "ζ"), ("x", "y", "z")
"""Axes of the frames of three angles: space, between, body."""


def plain_runs(text: str) -> tuple[TextRun, ...]:
    """A word."""
    return (TextRun(text),)


def symbol(letter: str, index: str = "", primes: int = 0) -> tuple[TextRun, ...]:
    """A symbol in italics, its primes, its index (upright if it is a number or a word)."""
    runs = [TextRun(letter, italic=True)]
    if primes:
        runs.append(TextRun("′" * primes))
    if index:
        runs.append(TextRun(index, italic=len(index) == 1 and index.isalpha(), script=-1))
    return tuple(runs)


def angle_name(name: str) -> tuple[TextRun, ...]:
    """The name of a coordinate: theta_B is θ with the index B, q1 is q with the index 1, other words stay words."""
    found = _SYMBOL.fullmatch(name)
    if not found:
        return plain_runs(name)
    letter, index = GREEK.get(found[1], found[1]), found[2] or found[3] or ""
    return symbol(letter, index, len(found[4]))


def rate_name(name: str, symbol: str) -> tuple[TextRun, ...]:
    """The vector of a rate: ω with the angle as its index, v for a travel.    Schwab-Meijaard (12)"""
    letter = TextRun("v" if symbol == "prismatic" else "ω", italic=True, bold=True)
    index = "".join(run.text for run in angle_name(name))
    return (letter, TextRun(index, italic=len(index) <= 2, script=-1))


def axis_names(chain: MotionChain, k: int, tip: int = 0) -> tuple[tuple[TextRun, ...], ...]:
    """Names of the axes of frame k: 0 is space; of three angles as in Schwab-Meijaard, Fig. 2."""
    last = len(chain.turns)
    if k == 0:
        return tuple(symbol(letter) for letter in SPACE)
    if chain.sequence:
        letters, primes = (BODY, 1) if k == last else (INNER, k - 1)
        return tuple(symbol(letter, primes=primes) for letter in letters)
    if k == last and len(chain.tips) == 1:
        return tuple(symbol(letter, primes=1) for letter in BODY)
    index = k if k < last else chain.tips[tip].turn + 1
    return tuple(symbol(letter, str(index)) for letter in BODY)


def degrees(angle: float) -> str:
    """An angle in degrees, to a tenth."""
    shown = f"{np.degrees(angle):.1f}".removesuffix(".0").replace("-", "−")
    return f"{'0' if shown == '−0' else shown}°"
