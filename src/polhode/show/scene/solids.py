"""The parts of a scene as triangles: boxes, cylinders, capsules, ellipsoids, cones, with outward normals."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from polhode import quaternion
from polhode.show.scene.overlay import from_z

ROUND = 48
"""Sides of round solids, a multiple of four: a pattern of quarters falls on their edges."""


class Mesh(NamedTuple):
    """Triangles: corners (n, 3, 3), outward normals (n, 3), whether each is of the darker pattern (n,).

    closed  a solid: those that face away are hidden; else both sides are seen
    """

    corners: np.ndarray
    normals: np.ndarray
    dark: np.ndarray
    closed: bool = True

    def moved(self, R: np.ndarray, x: np.ndarray) -> "Mesh":
        """The same, turned and shifted."""
        return Mesh(self.corners @ R.T + x, self.normals @ R.T, self.dark, self.closed)


def mesh(part: dict[str, Any]) -> Mesh:
    """A part in the axes of its body."""
    size = tuple(part["size"]) if "size" in part else (part["r"], part["h"])
    turn = np.asarray(from_z(part["toward"]) if "toward" in part else part.get("turn", (1.0, 0.0, 0.0, 0.0)))
    R = np.asarray(quaternion.rotation_matrix(turn / np.linalg.norm(turn)))
    return _shape(part["kind"], size, part.get("pattern", 0)).moved(R, np.asarray(part.get("at", (0, 0, 0)), float))


def given(corners_and_normals: np.ndarray) -> Mesh:
    """A mesh of (n, 3, 6), as a scene keeps it: a surface that need not be closed."""
    both = corners_and_normals.reshape(-1, 3, 6)
    return Mesh(both[..., :3], both[:, 0, 3:], np.zeros(len(both), bool), closed=False)


@lru_cache(maxsize=512)
def _shape(kind: str, size: tuple[float, ...], pattern: int) -> Mesh:
    if kind == "box":
        corners = _box(np.array(size))
    elif kind == "ellipsoid":
        t = np.linspace(-np.pi / 2, np.pi / 2, 21)
        corners = _lathe(np.cos(t), np.sin(t)) * np.array(size)
    elif kind == "capsule":
        t = np.linspace(-np.pi / 2, 0, 5)
        r, h = size
        corners = _lathe(
            r * np.cos(np.append(t, -t[::-1])), np.append(r * np.sin(t) - h / 2, h / 2 - r * np.sin(t[::-1])), 20
        )
    elif kind == "cone":
        corners = _lathe(np.array([0.0, size[0], 0.0]), np.array([0.0, 0.0, size[1]]), 20)
    else:
        r, h = size
        corners = _lathe(np.array([0.0, r, r, 0.0]), np.array([-h, -h, h, h]) / 2)
    return _outward(corners, pattern)


def _lathe(r: np.ndarray, z: np.ndarray, sides: int = ROUND) -> np.ndarray:
    """A profile turned about z, as triangles."""
    a = np.linspace(0, 2 * np.pi, sides + 1)
    points = np.stack([np.outer(r, np.cos(a)), np.outer(r, np.sin(a)), np.outer(z, np.ones_like(a))], axis=-1)
    return _quads(points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1])


def _box(size: np.ndarray, cells: int = 2) -> np.ndarray:
    found = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (-0.5, 0.5):
            s = np.linspace(-0.5, 0.5, cells + 1)
            points = np.zeros((cells + 1, cells + 1, 3))
            points[..., axis], points[..., u], points[..., v] = side, s[:, None], s[None, :]
            points = points * size
            found.append(_quads(points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]))
    return np.concatenate(found)


def _quads(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    corners = np.concatenate([np.stack([a, b, c], axis=-2), np.stack([a, c, d], axis=-2)]).reshape(-1, 3, 3)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return corners[area > 1e-12 * max(float(area.max()), 1e-300)]


def _outward(corners: np.ndarray, pattern: int) -> Mesh:
    """Normals that point away from the middle of a convex solid, and its pattern of quarters or eighths."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    centre = corners.mean(axis=1)
    inner = (corners.reshape(-1, 3).min(axis=0) + corners.reshape(-1, 3).max(axis=0)) / 2
    normals *= np.where(np.sum(normals * (centre - inner), axis=1) < 0, -1.0, 1.0)[:, None]
    checker = centre[:, 0] * centre[:, 1] * (centre[:, 2] if pattern == 2 else 1.0)
    return Mesh(corners, normals, (checker > 0) if pattern else np.zeros(len(centre), bool))
