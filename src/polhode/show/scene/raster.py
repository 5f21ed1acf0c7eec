"""A small painter of triangles and lines with a depth buffer: pictures of a scene without a window or a GPU."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from polhode.show.scene.solids import Mesh

GAMMA = 2.2
"""Light adds up in the power of a colour's numbers."""
TALL = np.tan(0.25)
"""Half the field of view, as on the page."""
NEAREST = 1e8
"""1/distance beyond which a point counts as behind the viewer, 1/m."""
AT_ONCE = 1 << 18
"""Pixels that are painted at once: they fit into a cache."""


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


class Painted(NamedTuple):
    """A mesh with its colour (3,) in 0 … 1, or one for each triangle (n, 3), the factor of its darker pattern, and how
    opaque it is."""

    mesh: Mesh
    colour: np.ndarray
    shade: float = 1.0
    alpha: float = 1.0


class Covered(NamedTuple):
    """The pixels that triangles cover, (n,) each: places in the picture, 1/distance there, numbers of the triangles."""

    place: np.ndarray
    near: np.ndarray
    which: np.ndarray


@dataclass
class Canvas:
    """Pixels (height, width, 4) of bytes, the last unused, and 1/distance of what is nearest so far."""

    camera: Camera
    pixels: np.ndarray
    near: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        """Begin with what is drawn already as the background."""
        self.near = np.zeros(self.pixels.shape[0] * self.pixels.shape[1], np.float32)

    def solids(self, solids: Sequence[Painted], key: np.ndarray, up: np.ndarray) -> None:
        """Lit triangles of meshes, those that are seen through last; of solids, those that face away are left out."""
        lit = [(solid.alpha, *self._lit(solid, key, up)) for solid in solids]
        opaque = [each for each in lit if each[0] >= 1]
        if opaque:
            self.triangles(np.concatenate([x for _, x, _ in opaque]), np.concatenate([c for *_, c in opaque]))
        for alpha, corners, colours in lit:
            if alpha < 1:
                self._glass(corners, colours, alpha)

    def _lit(self, solid: Painted, key: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The triangles of a mesh that are seen, on the page (n, 3, 3), and their colours (n, 4) in the light."""
        mesh = solid.mesh
        toward = self.camera.eye - mesh.corners.mean(axis=1)
        facing = np.einsum("ij,ij->i", mesh.normals, toward)
        normals, seen = mesh.normals, facing > 0
        if not mesh.closed:
            normals, seen = np.where(seen[:, None], normals, -normals), np.ones(len(normals), bool)
        n = normals[seen]
        face = abs(facing[seen]) / np.linalg.norm(toward[seen], axis=1)
        light = 0.21 + 0.34 * (0.5 + 0.5 * n @ up) + 0.56 * np.maximum(n @ key, 0.0) + 0.12 * face  # as on the page
        tone = np.where(mesh.dark[seen], solid.shade, 1.0)
        colour = np.asarray(solid.colour)
        colour = colour[seen] if colour.ndim == 2 else colour
        paint = np.minimum(colour**GAMMA * (light * tone)[:, None], 1.0) ** (1 / GAMMA)
        return self.camera.on_page(mesh.corners[seen]), as_bytes(paint)

    def triangles(self, corners: np.ndarray, colours: np.ndarray, lift: float = 1.0) -> None:
        """Triangles of points (n, 3, 3): right, down, 1/distance; colours (n, 4) of bytes.

        lift  a factor of 1/distance: a little more than 1 puts them before what they lie on
        """
        packed = self.pixels.view(np.uint32).reshape(-1)
        paint = np.ascontiguousarray(colours).view(np.uint32).reshape(-1)
        for found in covered(corners, self.camera.size):
            near = found.near * np.float32(lift)
            ahead = near > self.near[found.place]
            place, near, which = found.place[ahead], near[ahead], found.which[ahead]
            np.maximum.at(self.near, place, near)
            nearest = self.near[place] == near
            packed[place[nearest]] = paint[which[nearest]]

    def _glass(self, corners: np.ndarray, colours: np.ndarray, alpha: float) -> None:
        """Triangles that are seen through; none hides another."""
        flat = self.pixels.reshape(-1, 4)
        for found in covered(corners, self.camera.size):
            ahead = found.near > self.near[found.place]
            place, over = found.place[ahead], colours[found.which[ahead]]
            flat[place] = (alpha * over + (1 - alpha) * flat[place] + 0.5).astype(np.uint8)

    def line(self, points: np.ndarray, colour: np.ndarray, width: float, lift: float = 1.002) -> None:
        """A line through points (n, 3), so many pixels wide; `lift` puts it a little before what it lies on."""
        page = self.camera.on_page(points)
        p, q = page[:-1], page[1:]
        d = q[:, :2] - p[:, :2]
        length = np.hypot(*d.T)
        good = (length > 1e-6) & (length < 4e4)
        p, q, d, length = p[good], q[good], d[good], length[good]
        side = np.zeros_like(p)
        side[:, :2] = np.column_stack([-d[:, 1], d[:, 0]]) / length[:, None] * width / 2
        a, b, c, e = p + side, p - side, q - side, q + side
        quads = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, e], axis=1)])
        self.triangles(quads, np.tile(as_bytes(colour), (len(quads), 1)), lift)


def as_bytes(colours: np.ndarray) -> np.ndarray:
    """Colours (…, 3) in 0 … 1 as bytes (…, 4), the last unused."""
    found = np.full((*np.shape(colours)[:-1], 4), 255, np.uint8)
    found[..., :3] = 255 * np.asarray(colours) + 0.5
    return found


def covered(corners: np.ndarray, size: tuple[int, int]) -> Iterator[Covered]:
    """The pixels whose middles triangles cover, row by row, a part of the triangles at a time.

    A pixel on the edge of two triangles belongs to one of them. Triangles that reach behind the viewer are left out.
    """
    width, height = size
    whole = (corners[..., 2].max(axis=1) < NEAREST) & np.isfinite(corners).all(axis=(1, 2))
    corners = np.where(whole[:, None, None], corners, 0.0)
    (x0, y0, z0), (x1, y1, z1), (x2, y2, z2) = (corners[:, k].T for k in range(3))
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    first = np.ceil(np.clip(np.minimum(np.minimum(y0, y1), y2) - 0.5, 0, height)).astype(int)
    last = np.ceil(np.clip(np.maximum(np.maximum(y0, y1), y2) - 0.5, 0, height)).astype(int)
    rows = np.where(abs(area) > 1e-12, last - first, 0)
    across = np.where(abs(area) > 1e-12, area, 1.0)
    slope_x = ((z1 - z0) * (y2 - y0) - (z2 - z0) * (y1 - y0)) / across
    slope_y = ((z2 - z0) * (x1 - x0) - (z1 - z0) * (x2 - x0)) / across
    which, step = _counted(rows)
    down = first[which] + step
    y = down + 0.5
    left, right = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for xa, ya, xb, yb in ((x0, y0, x1, y1), (x1, y1, x2, y2), (x2, y2, x0, y0)):
        rise = np.where(yb == ya, 1.0, yb - ya)
        a, b = ya[which], yb[which]
        x = xa[which] + (y - a) * ((xb - xa) / rise)[which]
        crossed = (a <= y) != (b <= y)
        left = np.where(crossed, np.minimum(left, x), left)
        right = np.where(crossed, np.maximum(right, x), right)
    start = np.ceil(np.clip(left - 0.5, 0, width)).astype(int)
    count = np.maximum(np.ceil(np.clip(right - 0.5, 0, width)).astype(int) - start, 0)
    begin = z0[which] + slope_x[which] * (start + 0.5 - x0[which]) + slope_y[which] * (y - y0[which])
    ends = np.cumsum(count)
    cuts = np.searchsorted(ends, np.arange(AT_ONCE, ends[-1] if len(ends) else 0, AT_ONCE))
    for part in np.split(np.arange(len(count)), np.unique(cuts)):
        span, k = _counted(count[part])
        if len(span):
            place = (down[part] * width + start[part])[span] + k
            step_x = slope_x[which[part]].astype(np.float32)
            near = begin[part].astype(np.float32)[span] + step_x[span] * k.astype(np.float32)
            yield Covered(place, near, which[part][span])


def _counted(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For counts (3, 2): the places 0, 0, 0, 1, 1 and the steps 0, 1, 2, 0, 1."""
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
