"""`ph.with_limits`: a model whose joints are held within their limits by stops; and starts within limits."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from polhode.check.initial_state import consistent_start
from polhode.dynamics.inertia import mass_matrix
from polhode.errors import InputError, ModelError, did_you_mean, message
from polhode.model import Joint, LimitStop, Model, check_model, make_tree, plain
from polhode.model.parts import limit_pairs
from polhode.model.per_model_cache import once_each
from polhode.model.per_record_cache import once_per_record
from polhode.result.labels import coordinate_names, coordinate_units
from polhode.result.symmetry import length_of
from polhode.scalar import Vec, real_number, shown

TIME_CONSTANT = 0.02
"""√(inertia/stiffness) of a stop unless given, s: that of MuJoCo's limits (solref)."""

REBOUND = 0.1
"""Speed with which a joint leaves its stop at most unless given, rad/s or lengths of the machine per second."""

REFUSED = 1.0
"""A start is in contact with its stop, as a state of a run may be, up to the way that a joint of this speed, rad/s or
lengths of the machine per second, goes in a time constant; one farther outside is refused."""


class LimitedAxis(NamedTuple):
    """An axis of a joint with a finite limit: its place among those of the joint, in q and in v."""

    joint: Joint
    axis: int
    q: int
    v: int
    lower: float
    upper: float


def with_limits(
    model: Model,
    joints: Sequence[str] | None = None,
    *,
    stiffness: float | None = None,
    dissipation: float | None = None,
    time_constant: float = TIME_CONSTANT,
) -> Model:
    """The model with a compliant stop for every limit of its joints, as `ph.simulate` runs it (`limits=True`).

    joints         names of those whose limits act; all unless given
    stiffness      of every stop, N m/rad or N/m; (inertia that the joint has in the model's start, all others being
                   free)/time_constant² unless given
    dissipation    of every stop, s/rad or s/m; 10 s/rad, 10 s over the length of the machine for travels, unless given:
                   joints leave their stops slower than a tenth of a rad/s or of that length per second
    time_constant  s: a joint at u rad/s is stopped within about time_constant √(u/5) rad, in some time constants

    An axis that has a `JointStop` or an `ImpactStop` of its own keeps that one alone. The System of such a model has
    their forces.
    """
    check_model("with_limits", model)
    time_constant = real_number("with_limits, time_constant", time_constant, "seconds above 0", 0.0)
    known = [joint.name for joint in model.joints]
    for name in joints or ():
        if name not in known:
            fix = did_you_mean(name, known)
            raise InputError(message("with_limits, joints", "no such joint", shown(name), "names of joints", fix))
    chosen = None if joints is None else tuple(joints)
    return _with_stops(model, chosen, stiffness, dissipation, time_constant)


@once_each
def has_limits(model: Model) -> bool:
    """Whether a coordinate of any joint has a finite limit."""
    return any(_limited(joint) for joint in model.joints)


@once_each
def limited_axes(model: Model) -> tuple[LimitedAxis, ...]:
    """Every axis with a finite limit."""
    found, q, v = list[LimitedAxis](), 0, 0
    for joint in model.joints:
        found += [LimitedAxis(joint, k, q + k, v + k, *ends) for k, ends in _limited(joint)]
        q, v = q + joint.nq, v + joint.nv
    return tuple(found)


@once_per_record
def _limited(joint: Joint) -> tuple[tuple[int, tuple[float, float]], ...]:
    """The axes of a joint that have a finite limit, with both limits; a quaternion has none."""
    if joint.kind.has_quaternion:
        return ()
    pairs = limit_pairs(joint.lower, joint.upper)
    pairs = pairs * joint.nv if len(pairs) == 1 else pairs
    return tuple((k, (float(a), float(b))) for k, (a, b) in enumerate(pairs) if not (math.isinf(a) and math.isinf(b)))


@once_each
def _with_stops(
    model: Model,
    joints: tuple[str, ...] | None,
    stiffness: float | None,
    dissipation: float | None,
    time_constant: float,
) -> Model:
    held = {axis for force in model.forces for axis in force.stops}
    axes = [x for x in limited_axes(model) if joints is None or x.joint.name in joints]
    axes = [x for x in axes if (x.joint.name, x.axis) not in held]
    if not axes:
        return model
    inertia = inertia_seen(model) if stiffness is None else np.zeros(model.nv)
    names, made = {force.name for force in model.forces}, list[LimitStop]()
    for x in axes:
        name = f"{x.joint.name}.limit" if x.joint.nv == 1 else f"{x.joint.name}.limit.{x.axis}"
        while name in names:
            name += "_"
        names.add(name)
        size = _unit_of(model, x)
        loss = 1 / (REBOUND * size) if dissipation is None else dissipation
        k = inertia[x.v] / time_constant**2 if stiffness is None else stiffness
        if not k > 0:
            fix = "Give the body inertia, or say ph.with_limits(model, stiffness=…); limits=False leaves limits out."
            raise ModelError(message(f"joint '{x.joint.name}', limits", "nothing to stop", "no inertia", "some", fix))
        made.append(LimitStop(name, x.joint.name, x.lower, x.upper, stiffness=k, dissipation=loss, axis=x.axis))
    return replace(model, forces=(*model.forces, *made))


def _unit_of(model: Model, axis: LimitedAxis) -> float:
    """What a coordinate is measured in: 1 rad, or the length of the machine, m."""
    return (length_of(model) or 1.0) if axis.joint.kind.linear[axis.axis] else 1.0


@once_each
def inertia_seen(model: Model) -> np.ndarray:
    """The inertia along each velocity of the joints at the model's start, others free; held where M is singular."""
    q = plain(model.start.q) if model.start and model.start.q is not None else model.zero
    n = model.joint_velocities
    M = np.array(mass_matrix(make_tree(model), Vec([float(x) for x in q])), dtype=float)[:n, :n]
    try:
        with np.errstate(all="ignore"):
            free = 1 / np.diag(np.linalg.inv(M))
    except np.linalg.LinAlgError:
        return np.diag(M)
    return np.where((free > 0) & (free <= np.diag(M)), free, np.diag(M))


# starts


class _Limits(NamedTuple):
    """The limits of all axes that have one: their places in q, both limits; and how far outside its own each coordinate
    of q may be."""

    places: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    allowed: np.ndarray


@once_each
def _limits(model: Model) -> _Limits:
    axes, allowed = limited_axes(model), np.full(model.nq, REFUSED * TIME_CONSTANT)
    for x in axes:
        allowed[x.q] = REFUSED * TIME_CONSTANT * _unit_of(model, x)
    places = np.array([x.q for x in axes], dtype=int)
    return _Limits(places, np.array([x.lower for x in axes]), np.array([x.upper for x in axes]), allowed)


def beyond_limits(model: Model, q: np.ndarray) -> np.ndarray:
    """How far coordinates q (..., nq) are outside the limits that act, rad or m, with the sign of the side; else 0."""
    places, lower, upper, _ = _limits(model)
    found, own = np.zeros_like(q), q[..., places]
    found[..., places] = own - np.minimum(np.maximum(own, lower), upper)
    return found


def too_far(model: Model, beyond: np.ndarray) -> np.ndarray:
    """Which coordinates (..., nq) are farther outside their limits than a contact with a stop goes."""
    return abs(beyond) > _limits(model).allowed


def check_limits(where: str, model: Model, q: np.ndarray) -> None:
    """Refuse a start outside the limits of joints, and offer the nearest within them."""
    beyond = beyond_limits(model, q)
    if not (far := too_far(model, beyond)).any():
        return
    bad = np.flatnonzero(far)
    k = int(bad[np.argmax(abs(beyond[bad]))])
    x = next(x for x in limited_axes(model) if x.q == k)
    name, unit = coordinate_names(model)[k], coordinate_units(model)[k]
    found = f"{q[k]:.6g} {unit}" + (f", and {len(bad) - 1} more outside theirs" if len(bad) > 1 else "")
    nearest = np.array2string(q - beyond, precision=6, separator=", ", threshold=12, max_line_width=10**6)
    fix = (
        f"The nearest start is q = {nearest}: move_start=True (polhode run --move-start) takes it; "
        "limits=False (--no-limits) lets limits be."
    )
    expected = f"{x.lower:.6g} to {x.upper:.6g}"
    raise InputError(message(f"{where}, q of '{name}'", "outside the limits of its joint", found, expected, fix))


def moved_within(model: Model, q: np.ndarray) -> np.ndarray:
    """Coordinates (..., nq) with those that are too far outside their limits at them."""
    beyond = beyond_limits(model, q)
    return np.where(too_far(model, beyond), q - beyond, q)


def moved_start(
    model: Model, q: np.ndarray, v: np.ndarray, limited: bool, rank_tolerance: float
) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """The nearest start on the constraints and, if `limited`, within limits; and what the given one violated."""
    given, names = q, coordinate_names(model)
    q = moved_within(model, q) if limited else q
    found = consistent_start(model, q, v, rank_tolerance=rank_tolerance)
    if limited and np.any(moved_within(model, found.q) != found.q):  # the constraints led out again
        q = moved_within(model, found.q)
        held = [f"q.{x.joint.name}" for x in limited_axes(model) if q[x.q] != found.q[x.q]]
        found = consistent_start(model, q, v, rank_tolerance=rank_tolerance, keep=held)
    outside = given - moved_within(model, given) if limited else np.zeros_like(given)
    limits = {f"limit of {names[k]}": float(outside[k]) for k in np.flatnonzero(outside).tolist()}
    return found.q, found.v, limits | found.moved
