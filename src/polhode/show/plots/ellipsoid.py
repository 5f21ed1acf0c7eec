"""An ellipsoid, lines on it and lines about it, as a viewer far away sees them: outline, hidden parts, shade."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.show.plots.axes import INK, QUIET
from polhode.show.vector.geometry import View

SURFACE = 1e-6
"""Depth, in sizes of the ellipsoid, up to which a point of its surface is not hidden by it."""
SHADES = 14


@dataclass(frozen=True)
class Ellipsoid:
    """The solid x = A u, |u| ≤ 1, about the origin; columns of A are its semi-axes."""

    A: np.ndarray

    def hides(self, x: np.ndarray, toward: np.ndarray) -> np.ndarray:
        """Whether the ray from each point (n, 3) towards the viewer runs through it (n,).

        |B(x + s d)|² = 1 with B = A⁻¹: a s² + 2 b s + c = 0, hidden where the larger root is above 0
        """
        B = np.linalg.inv(self.A)
        y, d = x @ B.T, B @ toward
        a, b, c = d @ d, y @ d, np.sum(y * y, axis=1) - 1
        under = b * b - a * c
        last = (-b + np.sqrt(np.maximum(under, 0.0))) / a
        size = float(np.linalg.norm(self.A, axis=0).max())
        return (under > 1e-12 * a) & (last > SURFACE * size)

    def outline(self, view: View, points: int = 181) -> np.ndarray:
        """Its contour on the page (points, 2), an ellipse: M u with M = P A and |u| = 1 across the null space of M."""
        U, s, _ = np.linalg.svd(view.axes[:2] @ self.A)
        t = np.linspace(0, 2 * np.pi, points)
        return np.column_stack([s[0] * np.cos(t), s[1] * np.sin(t)]) @ U.T

    def ring(self, k: int, points: int = 181) -> np.ndarray:
        """Its section normal to the k-th semi-axis (points, 3)."""
        i, j = (k + 1) % 3, (k + 2) % 3
        t = np.linspace(0, 2 * np.pi, points)[:, None]
        return np.cos(t) * self.A[:, i] + np.sin(t) * self.A[:, j]


class SpaceAxes:
    """Draws points of space on axes without ticks."""

    def __init__(self, axes: Any, view: View) -> None:
        self.axes, self.view = axes, view
        axes.set_aspect("equal")
        axes.axis("off")

    def solid(self, solid: Ellipsoid, alpha: float = 1.0) -> None:
        """The ellipsoid, lit from the upper left."""
        edge = solid.outline(self.view)
        self.axes.fill(*edge.T, facecolor="#dfe5ea", edgecolor="none", alpha=alpha, zorder=1)
        shift = np.array([-0.25, 0.3]) * abs(edge).max(axis=0)
        for k in range(1, SHADES):
            s = k / SHADES
            self.axes.fill(
                *((1 - s) * edge + s * shift * 0.9).T,
                facecolor="white",
                edgecolor="none",
                alpha=0.085 * alpha,
                zorder=1,
            )
        self.axes.plot(*edge.T, color=QUIET, linewidth=1.0, zorder=1.2)

    def curve(
        self, x: np.ndarray, solids: Sequence[Ellipsoid], behind: float = 0.0, front: bool = True, **how: Any
    ) -> None:
        """A curve, where solids hide it dashed and paler, or not at all (`behind` 0)."""
        hidden = np.zeros(len(x), bool)
        for solid in solids:
            hidden |= solid.hides(x, self.view.toward)
        flat = self.view.page(x)
        if front:
            self.axes.plot(*np.where(hidden[:, None], np.nan, flat).T, zorder=3, solid_capstyle="round", **how)
        if behind:
            dashed = {
                **how,
                "linestyle": (0, (2.2, 1.8)),
                "alpha": behind,
                "linewidth": 0.6 * how.get("linewidth", 1.4),
            }
            self.axes.plot(*np.where(hidden[:, None], flat, np.nan).T, zorder=2.5, **dashed)

    def ring(self, solid: Ellipsoid, k: int) -> None:
        """A principal section of the ellipsoid."""
        self.curve(solid.ring(k), [solid], color=QUIET, linewidth=0.6)

    def point(self, x: np.ndarray, solid: Ellipsoid, color: str) -> None:
        """A dot, if it is not hidden."""
        if not solid.hides(x[None], self.view.toward)[0]:
            self.axes.plot(*self.view.page(x), "o", color=color, markersize=5, zorder=4)

    def dot(self, x: np.ndarray, name: str, color: str, away: tuple[float, float]) -> None:
        """A dot with a name beside it."""
        self.axes.plot(*self.view.page(x), "o", color=color, markersize=3.6, zorder=6)
        if name:
            self.axes.annotate(name, self.view.page(x), away, textcoords="offset points", color=color, zorder=6)

    def axis(self, solid: Ellipsoid, k: int, name: str, length: float) -> None:
        """What sticks out of the ellipsoid of one of its axes, and its name."""
        tip = solid.A[:, k]
        out = tip / np.linalg.norm(tip)
        line = tip + np.linspace(0, length, 40)[:, None] * out
        seen = line[~solid.hides(line, self.view.toward)]
        flat = self.view.page(line[-1])
        if len(seen) > 1:
            how = {"arrowstyle": "-|>", "color": INK, "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 9}
            self.axes.annotate("", flat, self.view.page(seen[0]), arrowprops=how, zorder=3.5, annotation_clip=False)
            end = self.view.page(line[-1] + 0.45 * length * out)
            self.axes.text(*end, name, ha="center", va="center")
            self._reach(flat, end)

    def area(self, corners: np.ndarray) -> None:
        """A plane."""
        flat = self.view.page(corners)
        self.axes.fill(*flat.T, facecolor="#e8f1f8", edgecolor="#9dbbd3", linewidth=0.8, zorder=0.2)

    def arrow(self, start: np.ndarray, end: np.ndarray, name: str, color: str) -> None:
        """A vector with its name at its tip."""
        a, b = self.view.page(start), self.view.page(end)
        how = {"arrowstyle": "-|>", "color": color, "linewidth": 1.7, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 13}
        self.axes.annotate("", b, a, arrowprops=how, zorder=5, annotation_clip=False)
        d = (b - a) / max(float(np.linalg.norm(b - a)), 1e-12)
        self.axes.annotate(
            name,
            b,
            (7 * d[0] + 6, 7 * d[1]),
            textcoords="offset points",
            color=color,
            ha="center",
            va="center",
            zorder=6,
            fontsize=11,
        )
        self._reach(a, b)

    def _reach(self, *points: np.ndarray) -> None:
        """Let points count for the limits: arrows and texts do not by themselves."""
        self.axes.update_datalim(np.array(points))

    def names(self, found: Sequence[tuple[str, str]]) -> None:
        """What the colours mean, in words of these colours, below the picture."""
        for k, (text, color) in enumerate(found):
            place = {"xy": (0.5, 0.0), "xycoords": "axes fraction", "textcoords": "offset points", "ha": "center"}
            self.axes.annotate(text, xytext=(0, -13 * k - 4), color=color, fontsize=8.5, va="top", **place)

    def done(self, margin: float = 0.06) -> None:
        """Room about what is drawn."""
        self.axes.margins(margin)
        self.axes.autoscale_view()
