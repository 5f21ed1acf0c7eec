"""Beams of a scene: sections swept along each bent element, coloured by what the sections bear.

The axis of an element is the cubic through its ends along the axes x of its frames, of a beam that bends by shear along
x + γ; sections turn evenly from the first frame to the last, and stand across the axis but for γ:

    r = h₁ r_a + h₂ r_b + l₀ (h₃ d_a + h₄ d_b),   d = x + γ_y y + γ_z z,   γ = Φ/(2 + 2Φ) (τ_a + τ_b)

τ the direction of the chord in the axes of a section, Φ = 12 EI/(GA l₀²).
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.model import WORLD, DrawnBeam, Model, plain
from polhode.quaternion import conjugate, product, rotation_matrix, rotation_vector_to_wxyz, wxyz_to_rotation_vector
from polhode.show.packing import COLOURS
from polhode.show.scene.solids import Mesh
from polhode.show.section_values import SECTION_FORCES, beam_of, force_name, section_values

if TYPE_CHECKING:
    from xarray import Dataset

PLAIN = "plain"
"""The name of no section force: beams in the colours of bodies."""
USUAL = "M"
"""The section force that beams are coloured by where none is named."""
AROUND = 20
"""Corners of a round section."""
STATIONS, FEWEST, MOST = 160, 3, 12
"""Sections along all elements together, and the fewest and most steps along one."""
LEAST = 2.5e-3
"""Half the smallest thickness that is drawn, in parts of the reach of the machine."""
RISING = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
BOTH_SIGNS = ("#3b4cc0", "#6f92f3", "#aac7fd", "#dddcdc", "#f7b89c", "#e7745b", "#b40426")
"""Colours from the smallest value to the largest, even steps apart: Viridis, and blue to red through grey."""
NOTHING = 1e-12
"""A section force whose largest value is below this part of that of all of its unit is none."""

Record = dict[str, Any]


def drawn(model: Model) -> list[tuple[str, DrawnBeam]]:
    """The beams that force elements ask for, each with the name of its element."""
    return [(force.name, line) for force in model.forces for line in force.drawing() if isinstance(line, DrawnBeam)]


def node_names(model: Model) -> set[str]:
    """The bodies that are parts of beams, and not drawn themselves."""
    return set(_ends(model))


def inner_nodes(model: Model) -> set[str]:
    """Those of them with beams on both sides."""
    ends = _ends(model)
    return {body for body in ends if ends.count(body) > 1}


def _ends(model: Model) -> list[str]:
    """The nodes at the ends of all beams; not a body that a node became part of, which has another name."""
    return [
        body
        for name, beam in drawn(model)
        for body in (beam.body_a, beam.body_b)
        if beam.nodes and beam_of(body) == beam_of(name)
    ]


def beam_records(model: Model, reach: float) -> list[Record]:
    """The beams of a model as plain data.

    bodies  the places of both bodies, −1 for the world; points, turns: the frames there
    ring    corners of the section and normals there (n, 4): y, z, n_y, n_z; bore: those of its hole
    caps    whether its ends are closed
    """
    found, place = drawn(model), {WORLD: -1, **{body.name: b for b, body in enumerate(model.bodies)}}
    ends = [(body, tuple(plain(x))) for _, b in found for body, x in ((b.body_a, b.point_a), (b.body_b, b.point_b))]
    colours: dict[str, int] = {}
    records = []
    for name, beam in found:
        owner = max(place[beam.body_a], place[beam.body_b])
        colour = colours.setdefault(beam_of(name), owner % COLOURS)
        ring, bore = rings(beam.shape, beam.size, LEAST * reach)
        pair = ((beam.body_a, tuple(plain(beam.point_a))), (beam.body_b, tuple(plain(beam.point_b))))
        records.append(
            {
                "element": name,
                "bodies": [place[beam.body_a], place[beam.body_b]],
                "points": [[float(x) for x in point] for _, point in pair],
                "turns": [[float(x) for x in plain(turn)] for turn in (beam.orientation_a, beam.orientation_b)],
                "length": float(beam.length),
                "lean": [float(phi / (2 + 2 * phi)) for phi in beam.shear],
                "ring": ring,
                "bore": bore,
                "caps": [ends.count(end) < 2 for end in pair],
                "reach": float(max(math.hypot(*corner[:2]) for corner in ring)),
                "colour": colour,
            }
        )
    return records


def rings(shape: str, size: Sequence[float], least: float) -> tuple[list[list[float]], list[list[float]]]:
    """The corners of a section and of its hole, and normals there: (y, z, n_y, n_z) each, about x.

    least  half the smallest thickness, m
    """
    halves = [max(x / 2, least) for x in size]
    if shape == "rectangle":
        (y, z), found = halves, list[list[float]]()
        for (a, b), (p, q), normal in (
            ((y, -z), (y, z), (1, 0)), ((y, z), (-y, z), (0, 1)), ((-y, z), (-y, -z), (-1, 0)),
            ((-y, -z), (y, -z), (0, -1)),
        ):  # fmt: skip
            found += [[a, b, *map(float, normal)], [p, q, *map(float, normal)]]
        return found, []
    y, z = halves[0], halves[1] if shape == "ellipse" else halves[0]
    bore = size[1] / 2 if shape == "tube" and 0 < size[1] / 2 < y else 0.0
    outer = [_corner(y, z, 2 * math.pi * k / AROUND) for k in range(AROUND)]
    return outer, [_corner(bore, bore, 2 * math.pi * k / AROUND, -1.0) for k in range(AROUND)] if bore else []


def _corner(y: float, z: float, angle: float, side: float = 1.0) -> list[float]:
    c, s = math.cos(angle), math.sin(angle)
    size = math.hypot(c / y, s / z)
    return [float(f"{x:.6g}") for x in (y * c, z * s, side * c / y / size, side * s / z / size)]


def steps_of(count: int) -> int:
    """Steps along each of so many beams."""
    return int(np.clip(STATIONS // max(count, 1), FEWEST, MOST))


class Axis(NamedTuple):
    """Points of the axis of an element (n, 3), and the axes of its sections there, columns (n, 3, 3)."""

    points: np.ndarray
    axes: np.ndarray


def axis(record: Record, x: np.ndarray, q: np.ndarray, parts: np.ndarray) -> Axis:
    """The bent axis of an element at parts of its length (n,).

    x, q  (bodies, 3), (bodies, 4)  poses of the bodies
    """
    frames = []
    for body, point, turn in zip(record["bodies"], record["points"], record["turns"], strict=True):
        origin, p = (np.zeros(3), np.array([1.0, 0, 0, 0])) if body < 0 else (x[body], q[body])
        p = p / np.linalg.norm(p)
        frames.append((origin + np.asarray(rotation_matrix(p)) @ point, np.asarray(product(p, turn))))
    (r_a, q_a), (r_b, q_b) = frames
    R_a, R_b = np.asarray(rotation_matrix(q_a)), np.asarray(rotation_matrix(q_b))
    l0, chord = record["length"], r_b - r_a
    t = chord / (np.linalg.norm(chord) or 1.0)
    gamma = np.array(record["lean"]) * ((R_a.T @ t)[1:] + (R_b.T @ t)[1:])
    relative = np.asarray(product(conjugate(q_a), q_b))
    way = np.asarray(wxyz_to_rotation_vector(relative * (1.0 if relative[0] >= 0 else -1.0)))
    s = parts[:, None]
    d_a, d_b = (R[:, 0] + R[:, 1:] @ gamma for R in (R_a, R_b))
    tangent = 6 * (s - s * s) * chord + l0 * ((1 - 4 * s + 3 * s * s) * d_a + (3 * s * s - 2 * s) * d_b)
    points = r_a + (3 * s**2 - 2 * s**3) * chord + l0 * ((s - 2 * s**2 + s**3) * d_a + (s**3 - s**2) * d_b)
    turned = np.asarray(rotation_matrix(np.stack([product(q_a, rotation_vector_to_wxyz(k * way)) for k in parts])))
    across = tangent / (np.linalg.norm(tangent, axis=1, keepdims=True) + 1e-300) - turned[..., 1:] @ gamma
    across /= np.linalg.norm(across, axis=1, keepdims=True) + 1e-300
    y = turned[..., 1] - np.sum(turned[..., 1] * across, axis=1, keepdims=True) * across
    y /= np.linalg.norm(y, axis=1, keepdims=True) + 1e-300
    return Axis(points, np.stack([across, y, np.cross(across, y)], axis=-1))


class Swept(NamedTuple):
    """The surface of a beam, and the part of its length at which each triangle is (n,)."""

    mesh: Mesh
    part: np.ndarray


def swept(record: Record, x: np.ndarray, q: np.ndarray, steps: int) -> Swept:
    """The surface of a beam at poses of the bodies."""
    parts = np.linspace(0.0, 1.0, steps + 1)
    line = axis(record, x, q, parts)
    corners, normals, where = [], [], []
    for ring in filter(None, (record["ring"], record["bore"])):
        given = np.array(ring)
        at = line.points[:, None] + np.einsum("sij,kj->ski", line.axes[..., 1:], given[:, :2])
        n = np.einsum("sij,kj->ski", line.axes[..., 1:], given[:, 2:])
        ahead, n_ahead = np.roll(at, -1, axis=1), np.roll(n, -1, axis=1)
        wide = np.linalg.norm(ahead[0] - at[0], axis=-1) > 1e-12
        a, b, c, d = at[:-1, wide], ahead[:-1, wide], ahead[1:, wide], at[1:, wide]
        flat = (n[:-1, wide] + n_ahead[:-1, wide] + n[1:, wide] + n_ahead[1:, wide]) / 4
        middle = np.broadcast_to(((parts[1:] + parts[:-1]) / 2)[:, None], flat.shape[:2])
        for triangle in ((a, b, c), (a, c, d)):
            corners.append(np.stack(triangle, axis=-2).reshape(-1, 3, 3))
            normals.append(flat.reshape(-1, 3))
            where.append(middle.ravel())
    for end, side in ((0, -1.0), (-1, 1.0)):
        if record["caps"][end]:
            face = _cap(record, line.points[end], line.axes[end])
            corners.append(face)
            normals.append(np.broadcast_to(side * line.axes[end][:, 0], (len(face), 3)))
            where.append(np.full(len(face), parts[end]))
    all_of, along = np.concatenate(corners), np.concatenate(where)
    n = np.concatenate(normals)
    n = n / (np.linalg.norm(n, axis=1, keepdims=True) + 1e-300)
    return Swept(Mesh(all_of, n, np.zeros(len(n), bool), closed=not record["bore"]), along)


def _cap(record: Record, at: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The face at an end: a fan, or the ring about a hole."""
    outer = at + np.array(record["ring"])[:, :2] @ R[:, 1:].T
    inner = at + np.array(record["bore"])[:, :2] @ R[:, 1:].T if record["bore"] else np.broadcast_to(at, outer.shape)
    ahead, inside = np.roll(outer, -1, axis=0), np.roll(inner, -1, axis=0)
    found = [np.stack([outer, ahead, inner], axis=1)]
    return np.concatenate([*found, np.stack([ahead, inside, inner], axis=1)] if record["bore"] else found)


# colours


def loads(run: "Dataset", model: Model, records: Sequence[Record], chosen: np.ndarray, store: Any) -> dict[str, Any]:
    """What the beams of a scene can be coloured by: for each section force that is there its values at both ends
    (frames, beams, 2) in the store, its range, its colours and its name in words."""
    seen = section_values(run, model)
    if seen is None or not records:
        return {}
    place = {element.name: k for k, element in enumerate(seen.elements)}
    rows = [place.get(record["element"]) for record in records]
    if any(row is None for row in rows):
        return {}
    every = {name: np.nan_to_num(seen.at_ends(name))[chosen][:, rows] for name in SECTION_FORCES}
    largest = {name: float(abs(x).max(initial=0.0)) for name, x in every.items()}
    found = {}
    for name, kind in SECTION_FORCES.items():
        of_unit = max(largest[other] for other, like in SECTION_FORCES.items() if like.unit == kind.unit)
        if largest[name] > NOTHING * of_unit > 0:
            found[name] = {
                "values": store.put(every[name]),
                "range": [-largest[name] if kind.is_signed else 0.0, largest[name]],
                "colours": BOTH_SIGNS if kind.is_signed else RISING,
                "words": kind.words,
                "unit": kind.unit,
            }
    return found


def coloured_by(where: str, given: str | None, found: dict[str, Any]) -> str:
    """The section force that beams are coloured by: the one named, the usual one where none is, or `PLAIN`."""
    if given is None:
        return USUAL if USUAL in found else PLAIN
    if given == PLAIN:
        return PLAIN
    name = force_name(where, given)
    if name not in found:
        there = ", ".join(found) or "none: the run has no section_force, or nothing is borne"
        raise InputError(message(where, "zero all over the beams", repr(given), there))
    return name


def tones(colours: Sequence[str], share: np.ndarray) -> np.ndarray:
    """Colours (n, 3) in 0 … 1 of shares (n,) of a range, 0 … 1."""
    table = np.array([[int(text[k : k + 2], 16) / 255 for k in (1, 3, 5)] for text in colours])
    at = np.clip(share, 0.0, 1.0) * (len(table) - 1)
    return np.stack([np.interp(at, np.arange(len(table)), column) for column in table.T], axis=-1)
