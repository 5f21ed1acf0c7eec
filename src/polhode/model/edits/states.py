"""States of a model by the names of joints and force elements: how starts and configurations are carried over."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from polhode.model.numbers import plain

OwnStates = dict[tuple[str, str], Any]
"""Values of own states of force elements, by the names of element and state."""


@dataclass(frozen=True)
class NamedState:
    """A state of a model: coordinates and velocities by joint, own states by element.

    q, v  for each joint its numbers; None where the state says nothing of them
    own   None where it says nothing of own states
    """

    q: dict[str, tuple[float, ...]] | None = None
    v: dict[str, tuple[float, ...]] | None = None
    own: OwnStates | None = None


def by_joint(model: Any, numbers: Any, which: str = "nq") -> dict[str, tuple]:
    """The numbers of q or v of each joint, by its name.  which: "nq" or "nv" """
    found, at = {}, 0
    for joint in model.joints:
        size = getattr(joint, which)
        found[joint.name] = tuple(plain(tuple(numbers[at : at + size])))
        at += size
    return found


def start_state(model: Any) -> NamedState:
    """The start of a model by names."""
    start = model.start
    if start is None:
        return NamedState()
    own = None
    if start.v is not None and len(start.v) > model.joint_velocities:
        own = dict(zip(model.own_states, plain(tuple(start.v[model.joint_velocities :])), strict=True))
    return NamedState(
        None if start.q is None else by_joint(model, start.q),
        None if start.v is None else by_joint(model, start.v, "nv"),
        own,
    )


def start_q(model: Any) -> tuple[float, ...]:
    """The coordinates in which a model starts: zero unless its start says otherwise."""
    given = model.start.q if model.start else None
    return tuple(plain(given)) if given is not None else model.zero


def started(model: Any, state: NamedState, start: Any, configurations: Mapping[str, Mapping[str, Any]]) -> Any:
    """A model with a start and with configurations; joints of which nothing is known are at zero.

    model           without them
    start           that of the old model: its duration and method stay
    configurations  coordinates by joint, by name
    """
    made = {name: _q(model, known) for name, known in configurations.items()}
    if start is None:
        return replace(model, configurations=made)
    q = None if state.q is None else _q(model, state.q)
    v = None if state.v is None else _v(model, state.v, state.own)
    return replace(model, start=replace(start, q=q, v=v), configurations=made)


def _q(model: Any, known: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(x for joint in model.joints if joint.nq for x in known.get(joint.name, joint.zero))


def _v(model: Any, known: Mapping[str, Any], own: OwnStates | None) -> tuple[float, ...]:
    """Velocities, own states after them where there are values."""
    moving = tuple(x for joint in model.joints if joint.nv for x in known.get(joint.name, (0.0,) * joint.nv))
    if own is None or not model.own_states:
        return moving
    rest = zip(model.own_states, model.at_rest[model.joint_velocities :], strict=True)
    return (*moving, *(own.get(name, x) for name, x in rest))


def bare(model: Any, **changes: Any) -> Any:
    """A model with other records, and without the start and the configurations that it had."""
    return replace(model, start=None, configurations={}, **changes)


def restated(old: Any, new: Any) -> Any:
    """The new model with the start and the configurations of the old one, joints and elements by the same names."""
    configurations = {name: by_joint(old, q) for name, q in old.configurations.items()}
    return started(new, start_state(old), old.start, configurations)
