"""Bodies as they look: shapes and meshes of a URDF, or given ones, in place of the solids of their inertia."""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from polhode import quaternion
from polhode.errors import InputError, PolhodeError, PolhodeWarning, message, warn_caller
from polhode.formats.visuals import READABLE, Visual, visuals
from polhode.model import Model, plain

MOST_BYTES = 128 * 2**20
MOST_TRIANGLES, OF_ALL = 1800, 16_000
"""Triangles of one body, and of all: finer meshes are made coarser."""

Part = dict[str, Any]


def looks(source: Any, model: Model, packages: Sequence[str | Path] = ()) -> dict[str, list[Part]]:
    """The parts of bodies by name.

    source  a URDF file, or by body: a mesh file (.stl, .obj, .ply, …), or triangles (n, 3, 3) in the body's axes, m
    """
    if source is None:
        return {}
    names = {body.name for body in model.bodies}
    most = max(200, min(MOST_TRIANGLES, OF_ALL // max(len(names), 1)))
    if isinstance(source, (str, Path)):
        found = visuals(source, packages)
        return {name: parts for name, shapes in found.items() if name in names and (parts := _parts(shapes, most))}
    if not isinstance(source, Mapping):
        expected = "a URDF file, or mesh files by body"
        raise InputError(message("animate, meshes", "not shapes", type(source).__name__, expected))
    for name in source:
        if name not in names:
            raise InputError(message("animate, meshes", "no such body", repr(name), ", ".join(sorted(names))))
    return {name: [_mesh_part(_given(name, shape), most)] for name, shape in source.items()}


def looks_of(model: Model) -> dict[str, list[Part]]:
    """The parts of bodies by name, as the shapes of the model say; meshes that cannot be read are left out."""
    found: dict[str, list[Part]] = {}
    most = max(200, min(MOST_TRIANGLES, OF_ALL // max(len(model.bodies), 1)))
    for shape in model.shapes:
        place = (tuple(plain(shape.position)), tuple(plain(shape.orientation)))
        one = Visual(shape.type, tuple(plain(shape.size)), *place, Path(shape.file) if shape.file else None, shape.name)
        with warnings.catch_warnings(), suppress(PolhodeError):  # without trimesh: the solids of their inertia
            warnings.simplefilter("ignore", PolhodeWarning)
            found.setdefault(shape.body, []).extend(_parts([one], most))
    return {name: parts for name, parts in found.items() if parts}


def _given(name: str, shape: Any) -> np.ndarray:
    if isinstance(shape, (str, Path)):
        return read_mesh(Path(shape))
    triangles = np.asarray(shape, dtype=float)
    if triangles.ndim != 3 or triangles.shape[1:] != (3, 3) or not len(triangles) or not np.isfinite(triangles).all():
        where = f"animate, meshes, body '{name}'"
        raise InputError(message(where, "not triangles", str(triangles.shape), "corners (n, 3, 3), finite"))
    return triangles


def _parts(found: Sequence[Visual], most: int) -> list[Part]:
    parts: list[Part] = []
    for one in found:
        place: Part = {"at": list(one.position), "turn": list(one.orientation)}
        if one.kind == "box":
            parts.append({"kind": "box", "size": list(one.size), **place})
        elif one.kind == "cylinder":
            parts.append({"kind": "cylinder", "r": one.size[0], "h": one.size[1], **place})
        elif one.kind == "sphere":
            parts.append({"kind": "ellipsoid", "size": [one.size[0]] * 3, **place})
        elif (part := _visual_mesh(one, most)) is not None:
            parts.append(part)
    return parts


def _visual_mesh(one: Visual, most: int) -> Part | None:
    """A mesh of a file, placed; None with a warning where it cannot be read."""
    try:
        if one.file is None:
            raise InputError(message(f"mesh '{one.name}'", "no such file", "nothing there", "a file beside the model"))
        triangles = read_mesh(one.file) * np.array(one.size)
    except InputError as error:
        text = f"{str(error).replace(str(one.file), one.name)}\n  It is left out."
        warn_caller(text)
        return None
    R = np.asarray(quaternion.rotation_matrix(np.array(one.orientation)))
    return _mesh_part(triangles @ R.T + np.array(one.position), most)


def _mesh_part(triangles: np.ndarray, most: int) -> Part:
    """Triangles about their middle."""
    found = coarser(triangles, most)
    middle = (found.min(axis=(0, 1)) + found.max(axis=(0, 1))) / 2
    return {"kind": "mesh", "triangles": found - middle, "at": middle.tolist()}


def read_mesh(path: Path) -> np.ndarray:
    """The triangles (n, 3, 3) of a mesh file."""
    try:
        import trimesh
    except ImportError:
        raise PolhodeError("meshes need trimesh.\n  Install it with: pip install 'polhode[meshes]'") from None
    where = f"mesh '{path}'"
    if path.suffix.lower() not in READABLE:
        raise InputError(message(where, "a kind that is not read", repr(path.suffix), ", ".join(READABLE)))
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise InputError(message(where, "too large", f"{size} bytes", f"at most {MOST_BYTES}"))
        made = trimesh.load_mesh(str(path), process=False, skip_materials=True)
        triangles = np.asarray(getattr(made, "triangles", None), dtype=float)
    except InputError:
        raise
    except Exception as fault:  # each format fails in its own way
        reason = str(fault).splitlines()[0][:120] if str(fault) else type(fault).__name__
        raise InputError(message(where, "cannot be read", reason, "a whole mesh file")) from None
    if triangles.ndim != 3 or not len(triangles) or not np.isfinite(triangles).all():
        raise InputError(message(where, "holds no triangles", str(triangles.shape), "a surface"))
    return triangles


def coarser(triangles: np.ndarray, most: int) -> np.ndarray:
    """The same surface with at most about so many triangles: corners within a cell of a grid become their mean."""
    cells = 64
    found = triangles
    while len(found) > most and cells >= 4:
        found = _clustered(triangles, cells)
        cells = int(cells * 0.8)
    return found


def _clustered(triangles: np.ndarray, cells: int) -> np.ndarray:
    points = triangles.reshape(-1, 3)
    low = points.min(axis=0)
    width = max(float((points.max(axis=0) - low).max()), 1e-300) / cells
    _, which = np.unique(np.floor((points - low) / width).astype(int), axis=0, return_inverse=True)
    which = which.reshape(-1)
    count = np.bincount(which)
    mean = np.column_stack([np.bincount(which, points[:, k]) / count for k in range(3)])
    corners = which.reshape(-1, 3)
    whole = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 0] != corners[:, 2])
    kept = corners[whole]
    _, once = np.unique(np.sort(kept, axis=1), axis=0, return_index=True)
    return mean[kept[np.sort(once)]] if len(kept) else triangles[:1]


def with_normals(triangles: np.ndarray) -> np.ndarray:
    """Corners and their normals (n, 3, 6), one normal for a triangle."""
    n = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    n = n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-300)
    return np.concatenate([triangles, np.repeat(n[:, None], 3, axis=1)], axis=2)
