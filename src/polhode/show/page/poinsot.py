"""Poinsot's picture of one turning body on the page: polhode on the inertia ellipsoid, herpolhode in a plane."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.model import Model, plain
from polhode.show.packing import PackedArrays
from polhode.show.scene.turning import distinct, family, level_curves, plane, turning

if TYPE_CHECKING:
    from xarray import Dataset

SIZE, EDGE = 420.0, 46.0
"""Side and margin of the herpolhode's picture."""


def poinsot(dataset: "Dataset", model: Model, store: PackedArrays) -> dict[str, Any] | None:
    """Ellipsoid, polhode, its neighbours, herpolhode (as SVG), or None for other machines and for bodies at rest."""
    body = turning(dataset, model)
    if body is None:
        return None
    J, time, shown = body.J, body.time, body.shown
    x = body.own / np.sqrt(body.twice)[:, None] * math.sqrt(J[0])  # the longest semi-axis has length one
    across = plane(body.momentum[0] if body.free else -np.array(plain(model.gravity), dtype=float))
    picture, mapping = _herpolhode(body.in_space[shown] @ across.T)
    return {
        "moments": [float(f"{m:.5g}") for m in J],
        "axes": [float(x) for x in body.axes.T.ravel()],
        "size": [float(math.sqrt(J[0] / m)) for m in J],
        "path": store.put(np.column_stack([x[shown], time[shown]])),
        "family": [store.put(curve) for curve in family(J)],
        "separatrix": [store.put(curve) for curve in level_curves(J, J[1])] if distinct(J) else [],
        "plane": [float(x) for x in across.ravel()],
        "map": mapping,
        "free": body.free,
        "about": "mass centre" if model.joints[0].kind.floats else "fixed point",
        "svg": picture,
        "until": None if shown[-1] == len(time) - 1 else float(time[shown[-1]]),
    }


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
