"""Poinsot's picture of one turning body: the polhode on the inertia ellipsoid, the herpolhode in a plane.

x = ω/√(2T) lies on the ellipsoid x·Jx = 1 at every instant. Of a body on which no torque acts, the path of x in
the body is the polhode, and the tip of ω moves in a plane normal to the angular momentum: the herpolhode.
"""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import quaternion
from polhode.model import JOINTS, Model, plain
from polhode.show.curves import times, values
from polhode.show.packing import Store
from polhode.show.scene import pivot_inertia

if TYPE_CHECKING:
    from xarray import Dataset

FLATTEST = 1e-4
"""Smallest ratio of the moments for which the ellipsoid can still be drawn."""
CONSTANT = 1e-3
"""Relative change of L below which no torque acts as far as a picture can show."""
TURN = 0.12
"""Largest mean angle between neighbouring points of a drawn path, rad."""
MOST_POINTS = 2000
SIZE, EDGE = 420.0, 46.0
"""Side and margin of the herpolhode's picture."""


def poinsot(dataset: "Dataset", model: Model, store: Store) -> dict[str, Any] | None:
    """Ellipsoid, polhode, its neighbours, herpolhode (as SVG), or None for other machines and for bodies at rest."""
    if len(model.bodies) != 1 or not JOINTS[model.joints[0].type].has_quaternion:
        return None
    omega, attitude = values(dataset, "omega_body"), values(dataset, "quaternion")
    if omega is None or attitude is None:
        return None
    length = np.linalg.norm(attitude[:, 0], axis=1)
    good = np.isfinite(omega[:, 0]).all(1) & (abs(length - 1) < 0.1)
    time, omega, p = times(dataset)[good], omega[good, 0], attitude[good, 0] / length[good, None]
    inertia = pivot_inertia(model)[0]
    J, axes = np.linalg.eigh(inertia)
    axes = axes * [1, 1, np.sign(np.linalg.det(axes))]
    own = omega @ axes
    twice = (own**2 * J).sum(1)  # 2T
    if len(time) < 2 or J[0] <= FLATTEST * J[2] or not twice.max() > 0 or twice.min() < 1e-9 * twice.max():
        return None
    x = own / np.sqrt(twice)[:, None] * math.sqrt(J[0])  # the longest semi-axis has length one
    in_space, momentum = quaternion.rotate(p, omega), quaternion.rotate(p, omega @ inertia)
    shown = _path(time, x, in_space)
    change = np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0])
    free = bool(change < CONSTANT)
    plane = _plane(momentum[0] if free else -np.array(plain(model.gravity), dtype=float))
    picture, mapping = _herpolhode(in_space[shown] @ plane.T)
    return {
        "moments": [float(f"{m:.5g}") for m in J],
        "axes": [float(x) for x in axes.T.ravel()],
        "size": [float(math.sqrt(J[0] / m)) for m in J],
        "path": store.put(np.column_stack([x[shown], time[shown]])),
        "family": [store.put(curve) for curve in family(J)],
        "separatrix": [store.put(curve) for curve in level_curves(J, J[1])] if _distinct(J) else [],
        "plane": [float(x) for x in plane.ravel()],
        "map": mapping,
        "free": free,
        "about": "mass centre" if model.joints[0].type == "free" else "fixed point",
        "svg": picture,
        "until": None if shown[-1] == len(time) - 1 else float(time[shown[-1]]),
    }


def _distinct(J: np.ndarray) -> bool:
    return bool(np.diff(J).min() > 1e-6 * J[2])


def _path(time: np.ndarray, x: np.ndarray, omega_world: np.ndarray) -> np.ndarray:
    """Samples close enough to look like a curve: all of the run, or its first part."""
    steps = np.zeros(len(time))
    for y in (x, omega_world):
        direction = y / np.linalg.norm(y, axis=1, keepdims=True)
        steps[1:] = np.maximum(steps[1:], np.linalg.norm(np.diff(direction, axis=0), axis=1))
    way = np.cumsum(steps)
    last = int(np.searchsorted(way, TURN * MOST_POINTS, side="right"))
    last = max(min(last, len(time)), 2)
    wanted = np.linspace(0, last - 1, min(last, MOST_POINTS))
    return np.unique(np.rint(wanted).astype(int))


def level_curves(J: np.ndarray, D: float, points: int = 96) -> Iterator[np.ndarray]:
    """Both curves x·Jx = 1, |Jx|² = D on the ellipsoid of the moments J_1 ≤ J_2 ≤ J_3, scaled to x_1 ≤ 1.

    About the axis k: eliminating x_k leaves an ellipse, Σ_i J_i (J_i − J_k) x_i² = D − J_k.
    """
    k = 0 if J[1] >= D and J[1] - J[0] > 1e-6 * J[2] else 2
    i, j = (1, 2) if k == 0 else (0, 1)
    angle = np.linspace(0, 2 * np.pi, points + 1)
    x = np.zeros((points + 1, 3))
    x[:, i] = math.sqrt(max((D - J[k]) / (J[i] * (J[i] - J[k])), 0.0)) * np.cos(angle)
    x[:, j] = math.sqrt(max((D - J[k]) / (J[j] * (J[j] - J[k])), 0.0)) * np.sin(angle)
    x[:, k] = np.sqrt(np.maximum(1 - J[i] * x[:, i] ** 2 - J[j] * x[:, j] ** 2, 0.0) / J[k])
    for sign in (1, -1):
        x[:, k] = sign * abs(x[:, k])
        yield x * math.sqrt(J[0])


def family(J: np.ndarray) -> Iterator[np.ndarray]:
    """Neighbouring polhodes, evenly spaced to the eye; none on a sphere."""
    for k, middle in ((0, J[1]), (2, J[1])):
        if abs(J[k] - middle) > 1e-6 * J[2]:
            for s in (0.2, 0.45, 0.7) if _distinct(J) else (0.15, 0.35, 0.55, 0.75, 0.92):
                yield from level_curves(J, J[k] + (middle - J[k]) * s**2)


def _plane(normal: np.ndarray) -> np.ndarray:
    """Two unit vectors that span the plane and, as a right-handed frame, see it from the tip of its normal."""
    n = normal / np.linalg.norm(normal) if np.any(normal) else np.array([0.0, 0.0, 1.0])
    first = np.eye(3)[np.argmin(abs(n))]
    e1 = np.cross(np.cross(n, first), n)
    e1 /= np.linalg.norm(e1)
    return np.array([e1, np.cross(n, e1)])


def _herpolhode(points: np.ndarray) -> tuple[str, list[float]]:
    """The path as SVG, and how a point is mapped on it: scale and middle."""
    radius = np.linalg.norm(points, axis=1)
    widest = float(radius.max()) or 1.0
    scale = (SIZE / 2 - EDGE) / (widest * 1.08)
    step = _round_step(widest)
    middle = SIZE / 2
    lines, low, high = [], EDGE * 0.8, SIZE - EDGE * 0.8
    count = int(1.12 * widest / step)
    for k in range(-count, count + 1):
        at = middle + k * step * scale
        name = f"{k * step:.6g}".replace("-", "−")
        kind = "axis" if k == 0 else "grid"
        lines.append(f'<path class="h-{kind}" d="M{at:.1f} {low:.1f}V{high:.1f}M{low:.1f} {at:.1f}H{high:.1f}"/>')
        lines.append(f'<text class="h-tick" x="{at:.1f}" y="{high + 16:.1f}" text-anchor="middle">{name}</text>')
        name = f"{-k * step + 0.0:.6g}".replace("-", "−")
        lines.append(f'<text class="h-tick" x="{low - 6:.1f}" y="{at + 4:.1f}" text-anchor="end">{name}</text>')
    rings = sorted({round(float(r) * scale, 1) for r in (radius.min(), radius.max())})
    lines += [f'<circle class="h-ring" cx="{middle}" cy="{middle}" r="{r}"/>' for r in rings if r > 3]
    pixels = np.column_stack([middle + scale * points[:, 0], middle - scale * points[:, 1]])
    way = "L".join(f"{x:.1f} {y:.1f}" for x, y in pixels)
    lines.append(f'<path class="h-path" d="M{way}"/>')
    lines.append(f'<circle class="h-start" cx="{pixels[0, 0]:.1f}" cy="{pixels[0, 1]:.1f}" r="4"/>')
    lines.append(f'<circle class="h-now" cx="{pixels[0, 0]:.1f}" cy="{pixels[0, 1]:.1f}" r="5.5"/>')
    text = "".join(lines)
    label = "Herpolhode: the path of the angular velocity in space"
    picture = f'<svg viewBox="0 0 {SIZE:.0f} {SIZE:.0f}" role="img" aria-label="{label}">{text}</svg>'
    return picture, [scale, middle]


def _round_step(widest: float) -> float:
    raw = widest / 2.5
    power = 10.0 ** math.floor(math.log10(raw))
    return float(power * next(k for k in (1, 2, 2.5, 5, 10) if raw <= k * power * 1.0000001))
