"""Colours and line widths of a picture, on light and on dark paper, and which colour a piece has."""

from dataclasses import dataclass

from polhode.show.figure import COLOURS
from polhode.show.vector.canvas import Style

TONES = 7
"""Colours of pieces: that of the ground, then six in rotation."""
GROUND, LOST = "#77776f", "#c8102e"
"""The ground's colour; that of the lost direction."""
READABLE = 4.5
"""Least contrast of lines and texts with the paper."""


@dataclass(frozen=True)
class Theme:
    """Colours of a page."""

    paper: str
    ink: str
    quiet: str
    shares: tuple[float, float, float, float]
    """How much of a piece's colour is in its lid, its side, its shades; the rest is paper."""


THEMES = {
    "light": Theme("#ffffff", "#1b1b1b", "#8a8a8a", (0.11, 0.25, 0.32, 0.4)),
    "dark": Theme("#15181d", "#ece9e4", "#9a9a9a", (0.52, 0.38, 0.31, 0.24)),
}


def mix(a: str, b: str, share: float) -> str:
    """The colour made of a share of `a` and the rest of `b`, as #rrggbb."""
    parts = [round(share * int(a[i : i + 2], 16) + (1 - share) * int(b[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{x:02x}" for x in parts)


def luminance(colour: str) -> float:
    """Relative luminance of a colour, 0 … 1.    WCAG 2"""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    """Contrast of two colours, 1 … 21.    WCAG 2"""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def strong(colour: str, theme: Theme) -> str:
    """A colour with as much ink as makes it readable on the paper."""
    shares = (share / 20 for share in range(20, -1, -1))
    return next(
        found
        for found in (mix(colour, theme.ink, share) for share in shares)
        if contrast(found, theme.paper) >= READABLE
    )


def styles(theme: Theme) -> dict[str, Style]:
    """The styles of all classes of a picture, by name."""
    lost = strong(LOST, theme)
    found = {
        "edge": Style(theme.ink, 0.65),
        "fine": Style(mix(theme.ink, theme.paper, 0.55), 0.35),
        "mark": Style(theme.ink, 1.0),
        "leader": Style(theme.quiet, 0.35),
        "omega": Style(theme.ink, 1.9),
        "omega-head": Style(fill=theme.ink),
        "omega-text": Style(fill=theme.ink),
        "lost": Style(lost, 1.0, dash=(3.2, 2.2)),
        "lost-head": Style(fill=lost),
        "lost-text": Style(fill=lost),
        "caption": Style(fill=theme.ink),
        "guide": Style(theme.quiet, 0.6, dash=(2.0, 1.8)),
    }
    for k, colour in enumerate([GROUND, *COLOURS[:4], COLOURS[5], COLOURS[4]][:TONES]):
        line = theme.ink if k == 0 else strong(colour, theme)
        for kind, share in zip(("lid", "side", "shade", "deep"), theme.shares, strict=True):
            found[f"piece-{k}-{kind}"] = Style(fill=mix(colour, theme.paper, share))
        for kind, width in (("axis", 0.75), ("arrow", 1.15), ("rate", 1.9), ("wheel", 0.8)):
            found[f"{kind}-{k}"] = Style(line, width)
        found[f"behind-{k}"] = Style(line, 0.5, dash=(1.6, 1.4))
        for kind in ("axis-head", "arrow-head", "rate-head", "axis-text", "arrow-text", "rate-text", "body-text"):
            found[f"{kind}-{k}"] = Style(fill=line)
        found[f"centre-{k}"] = Style(line, 0.7, theme.paper)
        found[f"disc-{k}"] = Style(fill=mix(colour, theme.paper, theme.shares[0]))
    return found


def used(found: dict[str, Style], names: set[str]) -> dict[str, Style]:
    """The styles of the classes that occur on a page."""
    return {name: style for name, style in found.items() if name in names}


def tone_of(piece: int) -> int:
    """The number of a piece's colour; 0 is the ground's."""
    return piece if piece == 0 else (piece - 1) % (TONES - 1) + 1


def turn_tone(turn: int) -> int:
    """The number of the colour of what a motion carries."""
    return tone_of(turn + 1)
