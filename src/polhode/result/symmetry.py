"""Conserved quantities of a model's motion, from its gravity, its forces and the joints that hold it to the world.

A momentum stays along a direction if all joints on the world let the whole machine move that way, and
no force or constraint resists or drives that motion (Noether).
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from polhode.model import WORLD, Body, Joint, Model, plain
from polhode.model.per_record_cache import once_per_record
from polhode.model.tree import Numbers, constraint_numbers, force_numbers
from polhode.quaternion import rotate
from polhode.scalar import is_zero

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
"""All three directions, for `Conserved`."""


@dataclass(frozen=True)
class Conserved:
    """Conserved quantities of a model's motion; `conserved(model)` finds them.

    energy           whether kinetic plus potential energy stays
    linear, angular  world directions along which the momentum stays
    mass, length     of the machine, kg and m: the scale of momenta that are zero; 0: not known
    because          why the energy does not stay
    """

    energy: bool = True
    linear: tuple[tuple[float, float, float], ...] = ()
    angular: tuple[tuple[float, float, float], ...] = ()
    mass: float = 0.0
    length: float = 0.0
    because: str = "dampers, inputs or given forces"


def conserved(model: Model, driven: Collection[str] = (), varied: Collection[str] = ()) -> Conserved:
    """Conserved quantities of a model while inputs act at the joints named in `driven`.

    varied  paths and names of Parameters whose values differ from run to run: energy is conserved only where it is
            at any values of these; momenta are those of the model's own values
    """
    reasons = _energy_reasons(model, driven, varied)
    linear, angular = _under(plain(model.gravity))  # rows span the directions that are still possible
    held = {*driven, *(joint for c in model.constraints for joint in c.kind.joints(c.data))}
    held |= {joint for force in model.forces for joint in force.joints}
    for joint in model.joints:
        if not len(linear) and not len(angular):
            break  # no direction is left
        if joint.parent == WORLD:
            along, about = _motions(joint) if _is_loose(joint, held) else (_none(), _none())
            linear, angular = _common(linear, along), _common(angular, about)
    internal = [force.is_internal for force in model.forces] + [c.kind.is_internal(c.data) for c in model.constraints]
    if not all(internal):
        linear = angular = _none()
    mass = float(sum(plain(body.mass) for body in model.bodies))
    return Conserved(not reasons, _rows(linear), _rows(angular), mass, length_of(model), ", ".join(reasons))


@lru_cache(maxsize=64)
def _under(gravity: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Directions along which gravity has no part, and axes about which it has no moment."""
    g = np.array(gravity, dtype=float)
    return (_across(g), g[None] / np.linalg.norm(g)) if g.any() else (np.eye(3), np.eye(3))


def _energy_reasons(model: Model, driven: Collection[str], varied: Collection[str]) -> list[str]:
    """Why kinetic plus potential energy is not conserved, in words."""
    numbers = Numbers(dict.fromkeys(varied, math.nan))  # not a number: nothing holds of it, least of all that it is 0
    damped = partial(_is_damped, numbers) if varied else _is_damped_itself
    dampers = [joint.name for joint in model.joints if damped(joint)]
    words: dict[str, list[str]] = {"dampers": dampers, "given forces": [], "inputs": sorted(driven)}
    for force in model.forces:
        if force_numbers(force, numbers).other_part() is not None:
            words.setdefault(force.changes_energy, []).append(force.name)
    sizes = model.nq, model.nv
    words["given motions"] = [
        c.name for c in model.constraints if c.kind.does_work(constraint_numbers(c, numbers), *sizes)
    ]
    return [
        f"{kind} at {', '.join(names[:3])}{', …' if len(names) > 3 else ''}" for kind, names in words.items() if names
    ]


def _is_damped(numbers: Numbers, joint: Joint) -> bool:
    return not all(map(is_zero, numbers.each(f"joints.{joint.name}.damping", joint.damping, 1)))


@once_per_record
def _is_damped_itself(joint: Joint) -> bool:
    return _is_damped(Numbers({}), joint)


def _is_loose(joint: Joint, driven: Collection[str]) -> bool:
    """Whether nothing acts along the joint; armature counts, since it has no momentum."""
    return joint.name not in driven and not _acts(joint)


@once_per_record
def _acts(joint: Joint) -> bool:
    return any(np.any(plain(x)) for x in (joint.stiffness, joint.damping, joint.armature))


@once_per_record
def _motions(joint: Joint) -> tuple[np.ndarray, np.ndarray]:
    """Directions along which, and axes through the world's origin about which, a joint lets the machine move."""
    turn, r = plain(joint.orientation), np.array(plain(joint.position), dtype=float)
    axis, normal = (_unit(rotate(turn, direction, unit=False)) for direction in (plain(joint.axis), AXES[2]))
    along = (_none(), axis[None], _across(normal), np.eye(3))[joint.kind.shifts]
    about = {
        "axis": axis[None] if _parallel(r, axis) else _none(),
        "z": normal[None],
        "point": _unit(r)[None] if r.any() else np.eye(3),
        "all": np.eye(3),
    }
    return along, about.get(joint.kind.spins, _none())


def _common(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Directions in both spans: those orthogonal to what is orthogonal to either. Rows are orthonormal."""
    if len(a) == 3 or len(b) == 0:
        return a if len(a) == len(b) else b
    if len(b) == 3 or len(a) == 0:
        return a
    outside = np.eye(3) * 2 - a.T @ a - b.T @ b
    values, vectors = np.linalg.eigh(outside)
    found = vectors[:, values < 1e-9].T
    if len(found) == len(a):
        return a  # all of it, in the basis it had
    return b if len(found) == len(b) else found


def _across(normal: np.ndarray) -> np.ndarray:
    """Two unit rows orthogonal to a direction; coordinate axes if the direction is one."""
    n = _unit(normal)
    k = int(np.argmax(abs(n)))
    if abs(n[k]) == 1:
        return np.delete(np.eye(3), k, axis=0)
    first = _unit(np.cross(n, np.eye(3)[int(np.argmin(abs(n)))]))
    return np.array([first, np.cross(n, first)])


def length_of(model: Model) -> float:
    """A length of the machine: from the world through all joints to the far side of the largest body."""
    reach = sum(math.hypot(*plain(joint.position)) for joint in model.joints)
    return reach + max(map(_far_side, model.bodies), default=0.0)


@once_per_record
def _far_side(body: Body) -> float:
    """How far a body reaches from its origin, about: to its mass centre and its radius of gyration beyond."""
    mass, trace = plain(body.mass), np.trace(body.inertia_matrix())
    gyration = math.sqrt(max(trace / (2 * mass), 0.0)) if mass > 0 else 0.0
    return math.hypot(*plain(body.center)) + gyration


def _parallel(r: np.ndarray, axis: np.ndarray) -> bool:
    return bool(np.linalg.norm(np.cross(r, axis)) <= 1e-9 * np.linalg.norm(r))


def _unit(x: np.ndarray) -> np.ndarray:
    return np.asarray(x, dtype=float) / np.linalg.norm(x)


def _none() -> np.ndarray:
    return np.zeros((0, 3))


def _rows(directions: np.ndarray) -> tuple[tuple[float, float, float], ...]:
    return tuple((float(x), float(y), float(z)) for x, y, z in directions)
