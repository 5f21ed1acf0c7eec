"""The logo: polhodes on an inertia ellipsoid, drawn from the closed form. `python docs/_tools/logo.py` writes docs/_static/*.svg.

The ellipsoid is that of energy, J₁ω₁² + J₂ω₂² + J₃ω₃² = 2T; polhodes are where it meets those of angular momentum, Σ Jᵢ²ωᵢ² = h². Curves
are cut at the outline: what is behind is drawn pale.
"""

from pathlib import Path

import numpy as np

import polhode as ph

STATIC = Path(__file__).resolve().parents[1] / "_static"
MOMENTS = np.array([1.0, 2.0, 3.2])
AXES = 1 / np.sqrt(MOMENTS)
VIEW = ph.quaternion.product(
    ph.quaternion.from_axis_angle((1, 0, 0), -0.62), ph.quaternion.from_axis_angle((0, 0, 1), -0.75)
)
SIZE = 100


def polhode(part: float, sign: int) -> np.ndarray:
    """A polhode (n, 3): angular velocities ω with energy ½ and h² a part of the way from the least to the separatrix, or beyond."""
    squared = MOMENTS[0] + part * (MOMENTS[2] - MOMENTS[0])
    angle = np.linspace(0, 2 * np.pi, 361)
    j1, j2, j3 = MOMENTS
    if squared < j2:  # around the axis of the smallest moment
        y = np.sqrt((squared - j1) / (j2 * (j2 - j1))) * np.cos(angle)
        z = np.sqrt((squared - j1) / (j3 * (j3 - j1))) * np.sin(angle)
        x = sign * np.sqrt(np.clip((1 - j2 * y**2 - j3 * z**2) / j1, 0, None))
    else:
        y = np.sqrt((j3 - squared) / (j2 * (j3 - j2))) * np.cos(angle)
        x = np.sqrt((j3 - squared) / (j1 * (j3 - j1))) * np.sin(angle)
        z = sign * np.sqrt(np.clip((1 - j2 * y**2 - j1 * x**2) / j3, 0, None))
    return np.stack([x, y, z], axis=-1)


def seen(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places on the page (n, 2), and whether the points of the ellipsoid face us (n,)."""
    turned = ph.quaternion.rotate(VIEW, points)
    normal = ph.quaternion.rotate(VIEW, points * MOMENTS)
    return turned[:, :2] * (1, -1) * 47 + SIZE / 2, normal[:, 2] > 0


def path(places: np.ndarray, closed: bool = False) -> str:
    """The data of an SVG path."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places) + ("Z" if closed else "")


def pieces(places: np.ndarray, front: np.ndarray, which: bool) -> str:
    """The parts of a curve that face us, or those that do not."""
    runs, current = [], []
    for place, facing in zip(places, front, strict=True):
        if facing == which:
            current.append(place)
        elif current:
            runs.append(current)
            current = []
    runs += [current] if current else []
    return "".join(path(np.array(run)[:: 3 if len(run) > 30 else 1]) for run in runs if len(run) > 1)


def outline() -> np.ndarray:
    """The outline of the ellipsoid (n, 2)."""
    R = ph.quaternion.rotation_matrix(VIEW)
    shape = (R @ np.diag(AXES**2) @ R.T)[:2, :2]
    angle = np.linspace(0, 2 * np.pi, 91)[:-1]
    circle = np.stack([np.cos(angle), np.sin(angle)])
    return (np.linalg.cholesky(shape) @ circle).T * (1, -1) * 47 + SIZE / 2


def drawing(ink: str, accent: str, fill: tuple[str, str]) -> str:
    """The logo in given colours."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="Polhode">',
        f'<defs><radialGradient id="g" cx="0.36" cy="0.3" r="0.8"><stop offset="0" stop-color="{fill[0]}"/><stop offset="1" stop-color="{fill[1]}"/></radialGradient></defs>',
        f'<path d="{path(outline(), True)}" fill="url(#g)" stroke="{ink}" stroke-width="2.4"/>',
    ]
    separatrix = (MOMENTS[1] - MOMENTS[0]) / (MOMENTS[2] - MOMENTS[0])
    for part, width, colour in (
        (0.14, 1.5, ink),
        (0.3, 1.5, ink),
        (separatrix + 0.3, 1.5, ink),
        (0.9, 1.5, ink),
        (separatrix + 0.12, 4.2, accent),
    ):
        for sign in (-1, 1):
            if colour == accent and sign < 0:
                continue
            places, front = seen(polhode(part, sign))
            lines.append(
                f'<path d="{pieces(places, front, True)}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linecap="round" stroke-linejoin="round"/>'
            )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    STATIC.mkdir(exist_ok=True)
    light = drawing("#0068a3", "#d55e00", ("#ffffff", "#cfe3f1"))
    dark = drawing("#66b7ee", "#ff8a47", ("#2a4257", "#0f1a24"))
    (STATIC / "logo.svg").write_text(light, encoding="utf-8")
    (STATIC / "icon.svg").write_text(light, encoding="utf-8")
    (STATIC / "logo-dark.svg").write_text(dark, encoding="utf-8")
