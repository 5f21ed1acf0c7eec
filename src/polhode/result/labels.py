"""The name and the unit of every coordinate, velocity and generalised force of a model."""

from collections.abc import Iterator, Sequence

from polhode.model import Joint, Model
from polhode.model.per_model_cache import once_each


def coordinate_names(model: Model) -> list[str]:
    """Names of q (nq): the joint's alone if it has one coordinate, else "base.px", "base.w", …"""
    return _names(model.joints, [joint.kind.coordinates for joint in model.joints])


def dof_names(model: Model) -> list[str]:
    """Names of v (nv): the joint's alone if it has one velocity, else "base.speed_x", "base.omega_x", …; own states of
    force elements are "motor.current"."""
    names = _names(model.joints, [joint.kind.dofs for joint in model.joints])
    own = [f"{owner}.{state}" for owner, state in model.own_states]
    return [*names, *(name if name not in names else f"forces.{name}" for name in own)]


def coordinate_units(model: Model) -> list[str]:
    """Units of q (nq)."""
    return [unit for joint in model.joints for unit in _units(joint, 0)]


def dof_units(model: Model) -> list[str]:
    """Units of v (nv)."""
    return [*(unit for joint in model.joints for unit in _units(joint, 1)), *_state_units(model)]


def force_units(model: Model) -> list[str]:
    """Units of the generalised forces τ (nv)."""
    rates = [f"{unit}/s" if unit else "1/s" for unit in _state_units(model)]
    return [*(unit for joint in model.joints for unit in _units(joint, 2)), *rates]


@once_each
def quaternion_slices(model: Model) -> tuple[slice, ...]:
    """Where the quaternions lie in q."""
    found, start = [], 0
    for joint in model.joints:
        if joint.kind.has_quaternion:  # always the last four coordinates of the joint
            found.append(slice(start + joint.nq - 4, start + joint.nq))
        start += joint.nq
    return tuple(found)


def _names(joints: Sequence[Joint], parts: Sequence[Sequence[str]]) -> list[str]:
    pairs = [(joint.name, part, len(own)) for joint, own in zip(joints, parts, strict=True) for part in own]
    short = [name if count == 1 else f"{name}.{part}" for name, part, count in pairs]
    return short if len(set(short)) == len(short) else [f"{name}.{part}" for name, part, _ in pairs]


def _state_units(model: Model) -> list[str]:
    return [unit for force in model.forces for unit in force.own_states.values()]


def _units(joint: Joint, which: int) -> Iterator[str]:
    for kind, _ in joint.kind.elements:
        yield from kind.units[which]
