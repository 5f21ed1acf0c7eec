"""The machine as solids that move: what the report's animation needs, as plain data.

A body is drawn as the solid whose mass and inertia it has (box, cylinder, ball), and as a link from its
own joint to those of its children. Poses are a few hundred of the run's own samples; the page turns
between them along rotation vectors, which hold whole turns.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import quaternion
from polhode.model import WORLD, Body, Joint, Model, plain
from polhode.show.packing import COLOURS, PackedArrays
from polhode.show.run_values import labels, times, values
from polhode.show.scene.beams import beam_records, coloured_by, inner_nodes, loads, node_names, steps_of
from polhode.show.scene.meshes import looks_of, with_normals
from polhode.show.scene.overlay import cans
from polhode.show.scene.ties import fixed_ends, ties

if TYPE_CHECKING:
    from xarray import Dataset

MOST_FRAMES = 600
MOST_POSES = 24_000
"""Frames times bodies, beyond which there are fewer frames."""
MOST_TRAILS = 4
MOST_SPINS = 12
"""Bodies whose angular velocities are drawn."""
TRIFLE = 1e-3
"""Part of the largest mass up to which a body on a fixed joint counts as a frame, and is not drawn."""
EQUAL = 1e-3
"""Moments of inertia that differ less, relative to the largest, are drawn as equal."""

Part = dict[str, Any]
EMPTY: Part = {"kind": "box", "size": [0.0, 0.0, 0.0]}


# solids of given inertia


def solid(body: Body, least: float) -> Part | None:
    """The uniform solid with the mass and inertia of a body, or None for a body without mass.

    box       a_i² = 6 (J_j + J_k − J_i) / m
    cylinder  r² = 2 J_3 / m,  h² = 12 (J_1 − J_3/2) / m     where two moments are equal
    ball      r² = 5 J / (2 m)                               where all are

    least  no side is drawn thinner, m
    """
    mass = float(plain(body.mass))
    if mass <= 0:
        return None
    J, axes = np.linalg.eigh(body.inertia_matrix())
    large = float(max(J[2], 0.0))
    place = {"at": _floats(plain(body.center))}
    if large <= 0.02 * mass * least**2:  # as good as a point
        return {"kind": "ellipsoid", "size": [2.2 * least] * 3, **place, "pattern": 2}
    if J[2] - J[0] <= EQUAL * large:
        return {"kind": "ellipsoid", "size": [math.sqrt(2.5 * large / mass)] * 3, **place, "pattern": 2}
    for odd, one, two in ((2, 0, 1), (0, 1, 2)):
        if abs(J[one] - J[two]) <= EQUAL * large:
            r = max(math.sqrt(2 * max(J[odd], 0.0) / mass), least)
            h = max(math.sqrt(12 * max(J[one] - J[odd] / 2, 0.0) / mass), least, 0.16 * r)
            return {"kind": "cylinder", "r": r, "h": h, **place, "turn": _turn(axes[:, [one, two, odd]]), "pattern": 1}
    size = np.sqrt(np.maximum(6 * (J.sum() - 2 * J) / mass, 0.0))
    size = np.maximum(size, max(least, 0.05 * size.max()))
    return {"kind": "box", "size": _floats(size), **place, "turn": _turn(axes), "pattern": 1}


def _turn(axes: np.ndarray) -> list[float]:
    """The quaternion of a frame given by its columns, made right-handed."""
    axes = axes * [1, 1, np.sign(np.linalg.det(axes)) or 1]
    return _floats(quaternion.from_matrix(axes))


def _floats(array: Any) -> list[float]:
    return [float(f"{x:.7g}") for x in np.asarray(array, dtype=float).ravel()]


def _size(part: Part) -> float:
    """How far a part reaches from its middle."""
    if part["kind"] == "cylinder":
        return math.hypot(part["r"], part["h"] / 2)
    if part["kind"] == "capsule":
        return part["h"] / 2 + part["r"]
    if part["kind"] == "mesh":
        return float(np.linalg.norm(part["triangles"], axis=-1).max())
    return float(np.linalg.norm(part["size"])) / (2 if part["kind"] == "box" else math.sqrt(3))


# machines


def _rod(start: Sequence[float], end: Sequence[float], radius: float) -> Part | None:
    """A rod with round ends between two points."""
    a, b = np.array(start, dtype=float), np.array(end, dtype=float)
    length = float(np.linalg.norm(b - a))
    if length < radius:
        return None
    place = {"at": _floats((a + b) / 2), "toward": _floats((b - a) / length)}
    return {"kind": "capsule", "r": radius, "h": length, **place}


def _hub(joint: Joint, radius: float, shape: Part | None = None) -> Part | None:
    """What is seen of a joint, at the child's origin.  shape: the solid of the child"""
    axis = _floats(plain(joint.axis))
    hub: Part = {"at": [0.0, 0.0, 0.0], "tone": "hub"}
    if joint.kind.symbol in ("revolute", "screw"):
        h, thick = 4.4 * radius, _thickness(shape, plain(joint.axis)) if shape else 0.0
        h = 1.12 * thick if 0.6 * h < thick < 1.5 * h else h  # none that its body's own surface just cuts
        return {"kind": "cylinder", "r": 1.75 * radius, "h": h, "toward": axis, **hub}
    if joint.kind.symbol == "prismatic":
        return {"kind": "box", "size": [3 * radius, 3 * radius, 5 * radius], "toward": axis, **hub}
    if joint.kind.symbol == "ball":
        return {"kind": "ellipsoid", "size": [2.0 * radius] * 3, **hub}
    return None


def _thickness(shape: Part, axis: Sequence[float]) -> float:
    """How thick a solid is along an axis through the origin of its body; 0 where it is not there."""
    turn = quaternion.conjugate(np.asarray(shape.get("turn", (1.0, 0.0, 0.0, 0.0)), dtype=float))
    at = abs(np.asarray(quaternion.rotate(turn, -np.asarray(shape["at"], dtype=float))))
    along = abs(np.asarray(quaternion.rotate(turn, np.asarray(axis, dtype=float))))
    if shape["kind"] == "cylinder":
        half = np.array([shape["r"], shape["r"], shape["h"] / 2])
    else:
        half = np.asarray(shape["size"], dtype=float) / (2 if shape["kind"] == "box" else 1)
    if np.any((at > 1.3 * half) & (along < 0.5)):
        return 0.0
    return 2 * float(np.min(half / np.maximum(along, 1e-9)))


def body_parts(model: Model, body: Body, radius: float, is_node: bool = False) -> list[Part]:
    """The parts of a body, in its own axes: its solid, its links, the hub of its joint.

    is_node  it is part of a beam, which is drawn: it has no solid
    """
    joint = next(joint for joint in model.joints if joint.child == body.name)
    ends = [plain(j.position) for j in model.joints if j.parent == body.name and not j.kind.floats]
    ends += [
        tuple(plain(c.data[f"position_{side}"]))
        for c in model.constraints
        for side in "ab"
        if c.data.get(f"body_{side}") == body.name and f"position_{side}" in c.data
    ]
    center = plain(body.center)
    shape = None if is_node or _is_frame(model, body, joint) else solid(body, 1.4 * radius)
    if shape is not None:
        ends.append(center)
    found: list[Part | None] = [shape, _hub(joint, radius, shape)]
    if not joint.kind.floats or len(ends) > 1:
        found += [_rod((0, 0, 0), end, 0.8 * radius) for end in dict.fromkeys(ends)]
    return [part for part in found if part]


def _is_frame(model: Model, body: Body, joint: Joint) -> bool:
    """Whether a body is hardly more than a frame: without mass, or fixed to another with a trifle of the whole mass."""
    whole = max(float(plain(each.mass)) for each in model.bodies)
    return float(plain(body.mass)) <= (TRIFLE * whole if not joint.kind.nv else 0.0)


def _stands(model: Model, radius: float, nodes: set[str]) -> list[Part]:
    """Rods from the world's origin to the joints that stand on it, but for ends of beams, `nodes`."""
    found = []
    for joint in model.joints:
        if joint.parent == WORLD and not joint.kind.floats and joint.child not in nodes:
            rod = _rod((0, 0, 0), plain(joint.position), 1.3 * radius)
            found += [{**rod, "tone": "hub"}] if rod else []
    return found


# motion


def frame_indices(time: np.ndarray, good: np.ndarray, bodies: int) -> np.ndarray:
    """Which samples the animation shows: finite ones, evenly spread over time."""
    usable = np.flatnonzero(good & np.isfinite(time))
    most = int(np.clip(MOST_POSES // max(bodies, 1), 40, MOST_FRAMES))
    if len(usable) <= most:
        return usable
    wanted = np.linspace(time[usable[0]], time[usable[-1]], most)
    places = np.clip(np.searchsorted(time[usable], wanted), 0, len(usable) - 1)
    return usable[np.unique(places)]


def turns(time: np.ndarray, p: np.ndarray, omega: np.ndarray | None, chosen: np.ndarray) -> np.ndarray:
    """Rotation vectors in body axes from each chosen attitude to the next, with whole turns.

    Attitudes fix an angle up to 2π; the turns are those nearest to ∫ω dt over the samples between.

    p      (n, 4)  unit quaternions
    omega  (n, 3)  angular velocity, body axes; None: the shorter way each time
    ->     (len(chosen) − 1, 3)
    """
    p0, p1 = p[chosen[:-1]], p[chosen[1:]]
    relative = quaternion.product(quaternion.conjugate(p0), p1)
    relative = np.where(relative[:, :1] < 0, -relative, relative)
    vector = quaternion.wxyz_to_rotation_vector(quaternion.normalise(relative))
    if omega is None:
        return vector
    steps = np.diff(time)[:, None] * (omega[1:] + omega[:-1]) / 2
    whole = np.vstack([np.zeros(3), np.cumsum(np.nan_to_num(steps), axis=0)])[chosen]
    expected = np.diff(whole, axis=0)
    angle = np.linalg.norm(vector, axis=1, keepdims=True)
    length = np.linalg.norm(expected, axis=1, keepdims=True)
    guess = expected / np.where(length > 0, length, 1.0)
    axis = np.where(angle > 1e-6, vector / np.where(angle > 1e-6, angle, 1.0), guess)
    count = np.rint((np.sum(expected * axis, axis=1, keepdims=True) - angle) / (2 * np.pi))
    return np.where(length < 2.5, vector, axis * (angle + 2 * np.pi * count))


def scene(
    dataset: "Dataset",
    model: Model,
    store: PackedArrays,
    sequence: str = "313",
    looks: Mapping[str, list[Part]] | None = None,
    color: str | None = None,
) -> dict[str, Any] | None:
    """Everything the animation needs, or None where there is nothing to show.

    sequence  of the cans of balls and free bodies
    looks     parts of bodies by name, in place of the model's own shapes and the solids of their inertia
    color     the section force that beams are coloured by; None: the bending moment, where there is one
    """
    position, attitude = values(dataset, "position"), values(dataset, "quaternion")
    names = labels(dataset, "body")
    places = [names.index(body.name) for body in model.bodies if body.name in names]
    if position is None or attitude is None or len(places) < len(model.bodies) or not model.bodies:
        return None
    time, omega = times(dataset), values(dataset, "omega_body")
    r, p = position[:, places], attitude[:, places]
    length = np.linalg.norm(p, axis=-1)
    good = np.isfinite(r).all((1, 2)) & (abs(length - 1) < 0.1).all(1) & (abs(r) < 1e9).all((1, 2))
    chosen = frame_indices(time, good, len(places))
    if not len(chosen):
        return None
    p = np.where(good[:, None, None], p, (1.0, 0.0, 0.0, 0.0))
    p = p / np.linalg.norm(p, axis=-1, keepdims=True)
    moved = np.stack(
        [turns(time, p[:, b], None if omega is None else omega[:, k], chosen) for b, k in enumerate(places)], axis=1
    )
    r, p = r[chosen], p[chosen]
    machine = _machine(model, r, p, {**looks_of(model), **(looks or {})})
    for body in machine["bodies"]:
        body["parts"] = [_stored(part, store) for part in body["parts"]]
    cans = list(_cans(model, r, p, machine, time[chosen], sequence))
    machine["bodies"] += [record for record, *_ in cans]
    r, p, moved = (np.concatenate([x, *(each[k] for _, *each in cans)], axis=1) for k, x in enumerate((r, p, moved)))
    momentum = values(dataset, "angular_momentum")
    if machine["beams"]:
        machine["loads"] = loads(dataset, model, machine["beams"], chosen, store)
        machine["color"] = coloured_by("animation, color", color, machine["loads"])
    return {
        "time": store.put(time[chosen], double=True),
        "position": store.put(r),
        "attitude": store.put(p),
        "turn": store.put(moved),
        **machine,
        **_vectors(model, None if omega is None else omega[chosen][:, places], store),
        **_spins(model, omega, momentum, (chosen, places), machine["reach"], store),
    }


def _cans(
    model: Model, r: np.ndarray, p: np.ndarray, machine: dict[str, Any], time: np.ndarray, sequence: str
) -> Iterator[tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray]]:
    """The cans as bodies of their own, drawn when they are asked for: record, path, attitudes, turns."""
    size = min(0.13, 0.3 / math.sqrt(len(model.joints))) * machine["reach"]
    every = np.arange(len(time))
    for held in cans(model, r, p, size, sequence, node_names(model)):
        record = {"name": "", "colour": held.colour % COLOURS, "parts": _with_reach(held.parts), "glass": False}
        turn = turns(time, held.attitude, None, every)
        yield {**record, "overlay": True}, held.position[:, None], held.attitude[:, None], turn[:, None]


def _spins(
    model: Model, omega: np.ndarray | None, momentum: np.ndarray | None, which: tuple, reach: float, store: PackedArrays
) -> dict[str, Any]:
    """Of a machine of several bodies: ω of each at its mass centre (body axes), L of all about the world's origin."""
    chosen, places = which
    if omega is None or not 1 < len(model.bodies) <= MOST_SPINS or node_names(model):
        return {}
    shown = omega[chosen][:, places]
    if not np.isfinite(shown).all() or not np.any(shown):
        return {}
    found = {"omega": store.put(shown), "centers": [_floats(plain(body.center)) for body in model.bodies]}
    fastest = float(np.linalg.norm(shown, axis=-1).max())
    if momentum is not None and np.any(momentum[chosen]):
        largest = float(np.linalg.norm(momentum[chosen], axis=-1).max())
        found |= {"momentum": store.put(momentum[chosen]), "largest": largest}
    return {"spins": {**found, "fastest": fastest, "length": 0.6 * reach}}


def _stored(part: Part, store: PackedArrays) -> Part:
    """A part as plain data: the triangles of a mesh are in the store, each corner with its normal."""
    if part["kind"] != "mesh":
        return part
    kept = {key: value for key, value in part.items() if key != "triangles"}
    return {**kept, "mesh": store.put(with_normals(part["triangles"]))}


def still_machine(model: Model, r: np.ndarray, p: np.ndarray) -> dict[str, Any]:
    """A machine at one instant as plain data: bodies with their parts, the triangles of meshes as `faces`.

    r, p  (bodies, 3 and 4)
    """
    found = _machine(model, r[None], p[None], looks_of(model))
    for body in found["bodies"]:
        body["parts"] = [
            {**part, "faces": with_normals(part["triangles"])} if part["kind"] == "mesh" else part
            for part in body["parts"]
        ]
    return found


def _machine(model: Model, r: np.ndarray, p: np.ndarray, looks: Mapping[str, list[Part]]) -> dict[str, Any]:
    """Bodies with their parts, and the space they need.

    r, p  (frames, bodies, 3 and 4)
    """
    centers = np.array([plain(body.center) for body in model.bodies], dtype=float)
    points = np.concatenate([r, r + quaternion.rotate(p, np.broadcast_to(centers, r.shape))], axis=1)
    still = [plain(j.position) for j in model.joints if j.parent == WORLD and not j.kind.floats]
    roots = np.array([*still, *fixed_ends(model)], dtype=float).reshape(-1, 3)
    reach = _reach(model, np.concatenate([points[0], roots]))
    radius = min((0.022 if len(model.bodies) > 1 else 0.03) * reach, 0.07 * _link(model, reach))
    nodes, beams = node_names(model), beam_records(model, reach)
    parts = [looks.get(body.name) or body_parts(model, body, radius, body.name in nodes) for body in model.bodies]
    place = {body.name: b for b, body in enumerate(model.bodies)}
    pairs = [(place[j.parent], place[j.child]) for j in model.joints if j.parent != WORLD]
    hiding = {
        a for a, b in pairs if parts[a] and parts[b] and _inside(parts[b][0], parts[a][0], r[0, [b, a]], p[0, [b, a]])
    }
    cloud = np.concatenate([points.reshape(-1, 3), roots])
    low, high, up = cloud.min(0), cloud.max(0), _up(model)
    way = float(np.linalg.norm(high - low)) / 2
    floating = _floats_about(model, nodes)
    follow = floating and way > 5 * reach
    wide = 1.6 * reach if follow else max(way, 0.5 * reach) + 0.3 * reach
    return {
        "bodies": [
            {
                "name": body.name,
                "colour": _colour(model, body),
                "parts": _with_reach(parts[b]),
                "glass": b in hiding,
                "axes": _axes_length(parts[b], reach, len(model.bodies)),
            }
            for b, body in enumerate(model.bodies)
        ],
        "stands": _with_reach(_stands(model, radius, nodes)),
        "ties": ties(model, 2.2 * radius),
        "beams": beams,
        "steps": steps_of(len(beams)),
        "target": _floats((low + high) / 2),
        "look": _floats(_look(cloud, up)),
        "radius": wide,
        "reach": reach,
        "follow": follow,
        "travels": floating and way > 1.5 * reach,
        "up": _floats(up),
        "ground": _ground(model, r, p, parts, up, _thickness_of(beams)),
        "cell": _cell(wide),
        "trails": _trails(model),
    }


def _floats_about(model: Model, nodes: set[str]) -> bool:
    """Whether the machine moves about as a whole: a body floats that is no node of a beam, or nothing stands."""
    roots = [joint for joint in model.joints if joint.parent == WORLD]
    others = [joint for joint in roots if joint.child not in nodes or not joint.kind.floats]
    return any(joint.kind.floats for joint in others or roots)


def _thickness_of(beams: list[dict[str, Any]]) -> dict[int, float]:
    """Half the thickness of beams at bodies, by their places, m."""
    return {body: beam["reach"] for beam in beams for body in beam["bodies"] if body >= 0}


def _axes_length(parts: list[Part], reach: float, bodies: int) -> float:
    """The length at which the axes of a body are drawn, m: beyond the parts that its origin is in."""
    around = [
        float(np.linalg.norm(part["at"])) + _size(part)
        for part in parts
        if part["kind"] != "capsule" and float(np.linalg.norm(part["at"])) < 0.8 * _size(part)
    ]
    return float(f"{max(reach * (0.16 if bodies > 1 else 0.5), 1.15 * max(around, default=0.0)):.4g}")


def _reach(model: Model, points: np.ndarray) -> float:
    """About half the width of the machine as it starts, m."""
    half = float(np.linalg.norm(points.max(0) - points.min(0))) / 2
    shapes = [shape for body in model.bodies if (shape := solid(body, 1e-9))]
    widest = max(map(_size, shapes), default=0.0)
    return half + (1.0 if len(model.bodies) == 1 else 0.6) * widest or 1.0


def _link(model: Model, reach: float) -> float:
    """The usual length of a link, m: in long chains it bounds the thickness of rods and hubs."""
    ends = [plain(joint.position) for joint in model.joints if joint.parent != WORLD]
    lengths = [length for end in ends if (length := float(np.linalg.norm(end))) > 0.01 * reach]
    return float(np.median(lengths)) if len(lengths) > 8 else reach


def _inside(inner: Part, outer: Part, r: np.ndarray, p: np.ndarray) -> bool:
    """Whether the solid of a body starts within that of its parent, which is then drawn see-through.

    r, p  (2, 3 and 4)  poses of the two bodies
    """
    if outer["kind"] != "box" or "turn" not in outer:
        return False
    middle = r[0] + quaternion.rotate(p[0], inner["at"])
    own = quaternion.rotate(quaternion.conjugate(p[1]), middle - r[1]) - outer["at"]
    own = quaternion.rotate(quaternion.conjugate(quaternion.normalise(outer["turn"])), own)
    return bool(np.all(abs(own) + 0.5 * _size(inner) < np.array(outer["size"]) / 2))


def _with_reach(parts: list[Part]) -> list[Part]:
    return [{**part, "reach": float(f"{_size(part):.4g}")} for part in parts]


def _ground(
    model: Model, r: np.ndarray, p: np.ndarray, parts: list[list[Part]], up: np.ndarray, thick: Mapping[int, float]
) -> float:
    """Height of the floor: the world's origin for a machine that stands on it, else below everything.

    thick  half the thickness of beams at bodies, by their places, m
    """
    lowest = min((float((r[:, b] @ up).min()) - half for b, half in thick.items()), default=math.inf)
    for b, group in enumerate(parts):
        for part in group:
            at = r[:, b] + quaternion.rotate(p[:, b], np.broadcast_to(part["at"], r[:, b].shape))
            lowest = min(lowest, float((at @ up).min()) - _size(part))
    floats = _floats_about(model, node_names(model))
    width = max((_size(part) for group in parts for part in group), default=0.0)
    lowest = lowest if math.isfinite(lowest) else float((r @ up).min())
    return 0.0 if not floats and abs(lowest) < 0.8 * width and float((r @ up).min()) > 0 else lowest


def _look(cloud: np.ndarray, up: np.ndarray) -> np.ndarray:
    """From where to look: from the side on which a flat motion is widest, a little aside and above."""
    flat = cloud - np.outer(cloud @ up, up)
    spread, axes = np.linalg.eigh(np.cov((flat - flat.mean(0)).T) + 1e-30 * np.eye(3))
    side = np.cross(up, axes[:, 2])  # normal to the widest direction
    if spread[2] <= 0 or spread[1] > 0.3 * spread[2]:
        side = np.array([0.58, 0.81, 0.0]) if abs(up[2]) > 0.8 else np.array([0.58, 0.0, 0.81])
    side = side / np.linalg.norm(side)
    side = side if side @ (1.0, -1.2, 0.9) > 0 or spread[1] > 0.3 * spread[2] else -side
    turned = side + 0.45 * np.cross(up, side)
    return turned / np.linalg.norm(turned) + 0.34 * up


def _up(model: Model) -> np.ndarray:
    """Against gravity; z where there is none."""
    g = np.array(plain(model.gravity), dtype=float)
    return -g / np.linalg.norm(g) if np.any(g) else np.array([0.0, 0.0, 1.0])


def _cell(radius: float) -> float:
    """A round width of the ground's cells, about a sixth of the view."""
    raw = radius / 6
    power = 10.0 ** math.floor(math.log10(raw)) if raw > 0 else 1.0
    return float(power * next(k for k in (1, 2, 5, 10) if raw <= k * power * 1.0000001))


def _colour(model: Model, body: Body) -> int:
    return next(k for k, joint in enumerate(model.joints) if joint.child == body.name) % COLOURS


def _trails(model: Model) -> list[dict[str, Any]]:
    """Points of the outermost bodies whose paths are drawn: their mass centres."""
    parents = {joint.parent for joint in model.joints}
    nodes, inner = node_names(model), inner_nodes(model)
    still = {joint.child for joint in model.joints if joint.child in nodes and not joint.nv}
    leaves = [k for k, b in enumerate(model.bodies) if b.name not in parents and b.name not in inner | still]
    points = [(0.0, 0.0, 0.0) if model.bodies[k].name in nodes else plain(model.bodies[k].center) for k in leaves]
    return [{"body": k, "point": _floats(x)} for k, x in zip(leaves, points, strict=True)][:MOST_TRAILS]


def _vectors(model: Model, omega: np.ndarray | None, store: PackedArrays) -> dict[str, Any]:
    """For one body that turns freely: what the arrows of ω and L are made of."""
    if omega is None or len(model.bodies) != 1 or not model.joints[0].kind.has_quaternion:
        return {}
    J, pivot = pivot_inertia(model)
    shape = solid(model.bodies[0], 1e-9)
    length = float(np.linalg.norm(np.subtract(plain(model.bodies[0].center), pivot))) + 1.35 * _size(shape or EMPTY)
    names = {"omega": store.put(omega[:, 0]), "inertia": _floats(J), "pivot": _floats(pivot)}
    return {"vectors": {**names, "length": length or 1.0}}


def pivot_inertia(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Inertia of a single body about the point it turns about, body axes, and that point: its fixed point
    on a spherical joint, its mass centre when free.
    """
    body, joint = model.bodies[0], model.joints[0]
    c = np.array(plain(body.center), dtype=float)
    if joint.kind.floats:
        return body.inertia_matrix(), c
    return body.inertia_matrix() + float(plain(body.mass)) * (c @ c * np.eye(3) - np.outer(c, c)), np.zeros(3)
