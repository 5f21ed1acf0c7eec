"""Cylinders and curves in space as a viewer far away sees them: outlines, hidden lines, what stands in front.

The projection is orthographic (axonometric), so a circle is drawn as a true ellipse. A point is hidden where the ray
from it towards the viewer runs through a solid; where a curve passes behind one is found by bisection.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

Array = np.ndarray

TOUCH = 1e-4
"""Depth of a solid, in can radii, below which it hides nothing: surfaces that touch do not hide each other."""
STEP = 0.06
"""Way between the points of a curve that are looked at first, in can radii."""
HALVINGS = 20
"""Bisections of an end of a visible piece: STEP / 2²⁰ is far below any line's width."""


def unit(x: Array) -> Array:
    """A vector's direction."""
    return x / np.linalg.norm(x)


def across(u: Array, like: Array) -> Array:
    """The unit vector normal to u that is nearest to another one; any normal if that is along u."""
    w = like - (like @ u) * u
    if np.linalg.norm(w) < 1e-9:
        w = np.eye(3)[np.argmin(abs(u))]
        w = w - (w @ u) * u
    return unit(w)


@dataclass(frozen=True)
class View:
    """Where the viewer is: rows `axes` are the page's right, its up, and the way towards the viewer."""

    axes: Array

    @staticmethod
    def of(azimuth: float, elevation: float) -> "View":
        """A viewer at these angles (degrees) over the x, y plane, from x towards y; z stays upright."""
        a, e = np.radians([azimuth, elevation])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        toward = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        return View(np.array([right, np.cross(toward, right), toward]))

    @property
    def toward(self) -> Array:
        """The way towards the viewer."""
        return self.axes[2]

    def page(self, x: Array) -> Array:
        """Points (..., 3) on the page: right and up (..., 2)."""
        return x @ self.axes[:2].T


@dataclass(frozen=True)
class SpaceCurve:
    """c + e1 cos t + e2 sin t + w t for t0 ≤ t ≤ t1: a line, an arc of an ellipse, or a helix."""

    c: Array
    e1: Array
    e2: Array
    w: Array
    t0: float
    t1: float

    def at(self, t: Array | float) -> Array:
        """The points (..., 3) at t (...)."""
        t = np.asarray(t)[..., None]
        return self.c + np.cos(t) * self.e1 + np.sin(t) * self.e2 + t * self.w

    def rate(self, t: Array | float) -> Array:
        """d/dt of the points."""
        t = np.asarray(t)[..., None]
        return -np.sin(t) * self.e1 + np.cos(t) * self.e2 + self.w

    @cached_property
    def length(self) -> float:
        """About how long it is."""
        ends = self.at(np.linspace(self.t0, self.t1, 17))
        return float(np.linalg.norm(np.diff(ends, axis=0), axis=1).sum())

    @property
    def straight(self) -> bool:
        """Whether it is a line."""
        return not (self.e1.any() or self.e2.any())

    def piece(self, t0: float, t1: float) -> "SpaceCurve":
        """The part between two values of t; backwards if t1 < t0."""
        return SpaceCurve(self.c, self.e1, self.e2, self.w, t0, t1)


ZERO = np.zeros(3)


def line(p: Array, q: Array) -> SpaceCurve:
    """The straight line from p to q."""
    return SpaceCurve(np.asarray(p, float), ZERO, ZERO, np.asarray(q, float) - p, 0.0, 1.0)


def arc(c: Array, axis: Array, start: Array, t0: float, t1: float, rise: float = 0.0) -> SpaceCurve:
    """An arc about an axis through c, right-handed for t1 > t0: `start` is the radius at 0, `rise` is per radian."""
    return SpaceCurve(np.asarray(c, float), start, np.cross(axis, start), rise * axis, t0, t1)


@dataclass(frozen=True)
class Cylinder:
    """A solid cylinder: the middle of its first end, its unit axis, its length and radius."""

    start: Array
    axis: Array
    length: float
    radius: float

    @property
    def end(self) -> Array:
        """The middle of its second end."""
        return self.start + self.length * self.axis

    @property
    def middle(self) -> Array:
        """Its centre."""
        return self.start + self.length / 2 * self.axis

    def within(self, x: Array, d: Array) -> tuple[Array, Array]:
        """Where the lines x + t d (..., 3) are inside: from t to t (...), the second smaller where they never are."""
        w, u = x - self.start, self.axis
        wu, du = w @ u, np.asarray(d @ u)
        wp, dp = w - wu[..., None] * u, d - du[..., None] * u
        a, b, c = (dp * dp).sum(-1), (wp * dp).sum(-1), (wp * wp).sum(-1) - self.radius**2
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(b * b - a * c)
            low = np.where(a > 1e-14, (-b - root) / a, np.where(c < 0, -np.inf, np.inf))
            high = np.where(a > 1e-14, (-b + root) / a, np.where(c < 0, np.inf, -np.inf))
            first, second = -wu / du, (self.length - wu) / du
        inside = np.where((wu > 0) & (wu < self.length), np.inf, -np.inf)
        flat = abs(du) < 1e-12
        slab_low = np.where(flat, -inside, np.minimum(first, second))
        slab_high = np.where(flat, inside, np.maximum(first, second))
        low, high = np.where(np.isnan(low), np.inf, low), np.where(np.isnan(high), -np.inf, high)
        return np.maximum(low, slab_low), np.minimum(high, slab_high)

    def holds(self, x: Array, margin: float = 0.0) -> Array:
        """Which points (..., 3) are inside, by more than a margin."""
        w = x - self.start
        along = w @ self.axis
        away = np.linalg.norm(w - along[..., None] * self.axis, axis=-1)
        return (along > margin) & (along < self.length - margin) & (away < self.radius - margin)

    def facing(self, view: View) -> Array:
        """The normal of its side that is nearest to the viewer."""
        return across(self.axis, view.toward)

    def ring(self, along: float, view: View, t0: float, t1: float) -> SpaceCurve:
        """An arc on its side at a distance from the start; t = 0 faces the viewer."""
        return arc(self.start + along * self.axis, self.axis, self.radius * self.facing(view), t0, t1)

    def generator(self, t: float, view: View) -> SpaceCurve:
        """The line along its side at the angle t from the one that faces the viewer."""
        foot = self.ring(0.0, view, 0.0, 0.0).at(t)
        return line(foot, foot + self.length * self.axis)

    def outline(self, view: View) -> list[SpaceCurve]:
        """Its lines that it does not hide itself: two sides, the whole near end, the visible half of the far one."""
        slope = float(self.axis @ view.toward)
        if 1 - abs(slope) < 1e-12:
            return [self.ring(self.length if slope > 0 else 0.0, view, -np.pi, np.pi)]
        half, whole = np.pi / 2, np.pi
        near, far = (self.length, 0.0) if slope > 0 else (0.0, self.length)
        reach = whole if abs(slope) > 1e-12 else half
        sides = [self.generator(-half, view), self.generator(half, view)]
        return [*sides, self.ring(far, view, -half, half), self.ring(near, view, -reach, reach)]


def hidden(x: Array, view: View, solids: Sequence[Cylinder]) -> Array:
    """Which points (n, 3) the solids hide."""
    found = np.zeros(len(x), bool)
    for solid in solids:
        low, high = solid.within(x, view.toward)
        found |= high - np.maximum(low, 0.0) > TOUCH
    return found


def visible(
    at: Callable[[Array], Array],
    span: tuple[float, float],
    length: float,
    view: View,
    solids: Sequence[Cylinder],
) -> list[tuple[float, float]]:
    """The pieces of a curve that can be seen, as pairs of t."""
    t = np.linspace(*span, max(5, int(np.ceil(length / STEP)) + 1))
    seen = ~hidden(at(t), view, solids)
    change = np.flatnonzero(seen[1:] != seen[:-1])
    a, b = t[change], t[change + 1]
    for _ in range(HALVINGS if len(change) else 0):
        middle = (a + b) / 2
        same = ~hidden(at(middle), view, solids) == seen[change]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    ends = [*([span[0]] if seen[0] else []), *map(float, (a + b) / 2), *([span[1]] if seen[-1] else [])]
    return list(zip(ends[::2], ends[1::2], strict=True))


def visible_pieces(
    curve: SpaceCurve, view: View, solids: Sequence[Cylinder], skip: Collection[int] = ()
) -> list[SpaceCurve]:
    """The parts of a curve that can be seen."""
    near = near_on_page(curve.at(np.linspace(curve.t0, curve.t1, 9)), view, solids)
    others = [solid for i, solid in enumerate(solids) if near[i] and i not in skip]
    pairs = visible(curve.at, (curve.t0, curve.t1), curve.length, view, others)
    return [curve.piece(*pair) for pair in pairs]


def near_on_page(x: Array, view: View, solids: Sequence[Cylinder]) -> Array:
    """Which solids may hide something among points (n, 3) of a curve, by circles round both on the page."""
    flat = view.page(x)
    middle = flat.mean(0)
    reach = 1.3 * np.linalg.norm(flat - middle, axis=1).max()
    centres = view.page(np.array([solid.middle for solid in solids]).reshape(-1, 3))
    sizes = np.array([np.hypot(solid.length / 2, solid.radius) for solid in solids])
    return np.linalg.norm(centres - middle, axis=1) < reach + sizes + 0.1


@dataclass(frozen=True)
class Trimmed:
    """A cylinder that runs out of other solids: where each line along its side begins and ends."""

    body: Cylinder
    first: Cylinder | None = None
    second: Cylinder | None = None

    def reach(self, x: Array) -> tuple[Array, Array]:
        """From where to where, along the axis, lines along the side stand free; x (n, 3) are their feet."""
        u, low, high = self.body.axis, np.zeros(len(x)), np.full(len(x), self.body.length)
        if self.first:
            low = np.clip(self.first.within(x, u)[1], 0.0, self.body.length)
        if self.second:
            out = self.second.within(x + self.body.length * u, -u)[1]
            high = self.body.length - np.clip(out, 0.0, self.body.length)
        return low, high

    def seam(self, t: Array, view: View, second: bool) -> Array:
        """The points where the side leaves the first solid, or enters the second, at angles t from the facing one."""
        feet = self.body.ring(0.0, view, 0.0, 0.0).at(t)
        return feet + self.reach(feet)[int(second)][:, None] * self.body.axis


def depths(part: Trimmed, page: Array, view: View) -> Array:
    """How near the viewer a solid is first met at points (n, 2) of the page; −∞ where it is not."""
    x = page @ view.axes[:2]
    low, high = part.body.within(x, view.toward)
    met = x + np.where(high > low, high, 0.0)[:, None] * view.toward
    found = high > low
    for other in (part.first, part.second):
        if other:
            found &= ~other.holds(met, -TOUCH)
    return np.where(found, high, -np.inf)


def back_to_front(parts: Sequence[Trimmed], view: View, rays: int = 140) -> list[int]:
    """The order in which the parts are to be painted, so that each covers what it stands in front of.

    Two parts are compared where rays over the page meet both. Parts that stand in front of each other in a ring
    have no order; then the fewest rays are wrong.
    """
    corners = np.concatenate([view.page(np.array([p.body.start, p.body.end])) for p in parts])
    room = max(p.body.radius for p in parts)
    low, high = corners.min(0) - room, corners.max(0) + room
    grid = np.stack(np.meshgrid(*(np.linspace(a, b, rays) for a, b in zip(low, high, strict=True))), -1).reshape(-1, 2)
    depth = np.array([depths(part, grid, view) for part in parts])
    both = np.isfinite(depth)
    over = np.zeros((len(parts), len(parts)), int)
    for i in range(len(parts)):
        for j in range(i):
            at = both[i] & both[j]
            over[i, j] = np.count_nonzero(depth[i, at] > depth[j, at] + TOUCH)
            over[j, i] = np.count_nonzero(depth[j, at] > depth[i, at] + TOUCH)
    order, left, lead = [], list(range(len(parts))), np.maximum(over - over.T, 0)
    while left:
        behind = [int(lead[i, left].sum()) for i in left]  # rays on which i covers parts not yet painted
        order.append(left.pop(int(np.argmin(behind))))
    return order
