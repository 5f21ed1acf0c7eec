"""A small painter of triangles and lines with a depth buffer: pictures of a scene without a window or a GPU."""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from polhode.show.scene.solids import Mesh

GAMMA = 2.2
"""Light adds up in the power of a colour's numbers."""
TALL = np.tan(0.25)
"""Half the field of view, as on the page."""


@dataclass(frozen=True)
class Camera:
    """A viewer at `eye`; rows of `axes` are right, up and towards the viewer."""

    axes: np.ndarray
    eye: np.ndarray
    size: tuple[int, int]

    @classmethod
    def seeing(cls, look: np.ndarray, up: np.ndarray, cloud: np.ndarray, size: tuple[int, int]) -> "Camera":
        """A viewer in the direction `look` from a cloud of (x, y, z, radius), which just fills the picture."""
        back = look / np.linalg.norm(look)
        right = np.cross(up, back)
        right = right / np.linalg.norm(right) if np.linalg.norm(right) > 1e-9 else np.array([1.0, 0.0, 0.0])
        axes = np.array([right, np.cross(back, right), back])
        aspect, centre, far = size[0] / size[1], cloud[:, :3].mean(axis=0), 1.0
        for _ in range(5):
            x, y, z = axes @ (cloud[:, :3] - centre).T
            r = cloud[:, 3]
            far = float(np.max(np.maximum(z + (abs(x) + r) / (TALL * aspect), z + (abs(y) + r) / TALL)))
            far = max(far, float(np.max(z + 2 * r)), 1e-9)
            d = np.maximum(far - z, 1e-9)
            middle = [((s - r) / d).min() / 2 + ((s + r) / d).max() / 2 for s in (x, y)]
            centre = centre + far * (middle[0] * axes[0] + middle[1] * axes[1])
        return cls(axes, centre + 1.07 * far * back, size)

    def on_page(self, x: np.ndarray) -> np.ndarray:
        """Pixels right and down, and 1/distance, of points (..., 3)."""
        seen = (x - self.eye) @ self.axes.T
        near = 1 / np.maximum(-seen[..., 2], 1e-9)
        scale = self.size[1] / (2 * TALL)
        right, down = self.size[0] / 2 + scale * seen[..., 0] * near, self.size[1] / 2 - scale * seen[..., 1] * near
        return np.stack([right, down, near], axis=-1)


@dataclass
class Canvas:
    """Colours (height, width, 3) in 0 … 1, and 1/distance of what is nearest so far."""

    camera: Camera
    colours: np.ndarray
    near: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        """Begin with what is drawn already as the background."""
        self.near = np.zeros(self.colours.shape[:2])

    def solid(
        self, mesh: Mesh, colour: np.ndarray, shade: float, key: np.ndarray, up: np.ndarray, alpha: float = 1.0
    ) -> None:
        """Lit triangles; those of a solid that face away are left out."""
        centre = mesh.corners.mean(axis=1)
        facing = np.sum(mesh.normals * (self.camera.eye - centre), axis=1) > 0
        normals = mesh.normals
        if not mesh.closed:
            normals = np.where(facing[:, None], normals, -normals)
            facing = np.ones(len(normals), bool)
        n, toward = normals[facing], self.camera.eye - centre[facing]
        face = np.maximum(np.sum(n * toward, axis=1) / np.linalg.norm(toward, axis=1), 0.0)
        light = 0.21 + 0.34 * (0.5 + 0.5 * n @ up) + 0.56 * np.maximum(n @ key, 0.0) + 0.12 * face  # as on the page
        tone = np.where(mesh.dark[facing], shade, 1.0)
        paint = np.minimum(np.asarray(colour) ** GAMMA * (light * tone)[:, None], 1.0) ** (1 / GAMMA)
        for corners, one in zip(self.camera.on_page(mesh.corners[facing]), paint, strict=True):
            self._triangle(corners, one, alpha)

    def _triangle(self, corners: np.ndarray, colour: np.ndarray, alpha: float = 1.0, lift: float = 1.0) -> None:
        """One triangle of points (3, 3): right, down, 1/distance, which is linear on the page."""
        height, width = self.near.shape
        (x0, y0, _), (x1, y1, _), (x2, y2, _) = corners
        a, b = max(0, int(np.ceil(min(x0, x1, x2) - 0.5))), min(width, int(np.floor(max(x0, x1, x2) - 0.5)) + 1)
        c, d = max(0, int(np.ceil(min(y0, y1, y2) - 0.5))), min(height, int(np.floor(max(y0, y1, y2) - 0.5)) + 1)
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if a >= b or c >= d or abs(area) < 1e-12:
            return
        x, y = np.arange(a, b) + 0.5, (np.arange(c, d) + 0.5)[:, None]
        w1 = ((x - x0) * (y2 - y0) - (x2 - x0) * (y - y0)) / area
        w2 = ((x1 - x0) * (y - y0) - (x - x0) * (y1 - y0)) / area
        depth = (corners[0, 2] + w1 * (corners[1, 2] - corners[0, 2]) + w2 * (corners[2, 2] - corners[0, 2])) * lift
        view = self.near[c:d, a:b]
        inside = (w1 >= -1e-9) & (w2 >= -1e-9) & (w1 + w2 <= 1 + 1e-9) & (depth > view)
        if alpha >= 1:
            view[inside] = depth[inside]
            self.colours[c:d, a:b][inside] = colour
        else:
            patch = self.colours[c:d, a:b]
            patch[inside] = alpha * colour + (1 - alpha) * patch[inside]

    def line(
        self, points: np.ndarray, colour: np.ndarray, width: float, alpha: float = 1.0, lift: float = 1.002
    ) -> None:
        """A line through points (n, 3), so many pixels wide; `lift` puts it a little before what it lies on."""
        page = self.camera.on_page(points)
        for p, q in pairwise(page):
            d = q[:2] - p[:2]
            length = float(np.hypot(*d))
            if not (np.isfinite(length) and 1e-6 < length < 4e4):
                continue
            side = np.array([-d[1], d[0]]) / length * width / 2
            ends = [np.array([*(x[:2] + sign * side), x[2]]) for x, sign in ((p, 1), (p, -1), (q, -1), (q, 1))]
            self._triangle(np.array([ends[0], ends[1], ends[2]]), colour, alpha, lift)
            self._triangle(np.array([ends[0], ends[2], ends[3]]), colour, alpha, lift)
