"""What some computations cannot take of force elements: events, inertia of their own states, normal forces."""

from collections.abc import Iterable

from polhode.errors import InputError, message
from polhode.model.forces.base import ForceElement


def refuse_events(where: str, forces: Iterable[ForceElement], why: str, fix: str) -> None:
    """Raise an InputError where a force element has events.  why: what the computation does instead"""
    names = [f"'{force.name}.{event.name}'" for force in forces for event in force.events()]
    if names:
        raise InputError(message(where, f"events of force elements: {why}", ", ".join(names[:4]), "none", fix))


def refuse_state_inertia(where: str, forces: Iterable[ForceElement], fix: str) -> None:
    """Raise an InputError where a force element holds axes of joints, or changes masses."""
    names = [f"{force.kind} '{force.name}'" for force in forces if force.changes_inertia]
    if names:
        what = "force elements that hold axes or change masses"
        raise InputError(message(where, what, ", ".join(names[:4]), "none", fix))


def refuse_coupled_inertia(where: str, forces: Iterable[ForceElement], fix: str) -> None:
    """Raise an InputError where a force element has inertia that couples bodies."""
    names = [f"{force.kind} '{force.name}'" for force in forces if force.inertia_bodies]
    if names:
        raise InputError(message(where, "inertia that couples bodies", ", ".join(names[:4]), "none", fix))


def refuse_normal_forces(where: str, forces: Iterable[ForceElement], fix: str) -> None:
    """Raise an InputError where a force element depends on normal forces of joints."""
    names = [f"{force.kind} '{force.name}'" for force in forces if force.loaded_joints]
    if names:
        what = "force elements that depend on normal forces of joints"
        raise InputError(message(where, what, ", ".join(names[:4]), "none", fix))
