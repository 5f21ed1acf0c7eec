"""Which numbers of q, v and τ belong to which joint: told in words, and read from numbers by the names of joints."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, UnknownNameError, did_you_mean, message
from polhode.model.description import Model
from polhode.model.notebook import table
from polhode.model.parts import Joint
from polhode.model.per_model_cache import once_each
from polhode.scalar import Array, as_array

SHOWN = 8
"""So many joints at most a message lists."""

LAYOUTS = {"q": "q", "q1": "q", "qdot": "q", "v": "v", "vd": "v", "tau": "v"}
"""The arguments of calls that are laid out as q or as v are."""

AT_REST = ("v",)
"""Those in which own states of force elements have the values that they start with, where nothing is given for them."""


class LayoutPart(NamedTuple):
    """The numbers of one joint, or of the own states of one force element."""

    name: str
    places: range
    what: str
    """What they are, in words; "" for one number."""


@once_each
def layout(model: Model, name: str) -> tuple[LayoutPart, ...]:
    """The parts of an argument of calls, in order.  name: of LAYOUTS"""
    found, at, which = list[LayoutPart](), 0, LAYOUTS[name]
    for joint in model.joints:
        size = joint.nq if which == "q" else joint.nv
        if size:
            found.append(LayoutPart(joint.name, range(at, at + size), _words(joint, name)))
        at += size
    for force in model.forces if which == "v" else ():
        if own := force.own_states:
            found.append(LayoutPart(force.name, range(at, at + len(own)), f"own states {', '.join(own)}"))
            at += len(own)
    return tuple(found)


WORDS = {
    "q": ("position 3", "quaternion 4 scalar first"),
    "q1": ("position 3", "quaternion 4 scalar first"),
    "qdot": ("velocity 3", "rate of its quaternion 4"),
    "v": ("velocity 3", "angular velocity 3 in its own axes"),
    "vd": ("acceleration 3", "angular acceleration 3 in its own axes"),
    "tau": ("force 3", "torque 3 in its own axes"),
}
"""What the numbers of a free joint are; those of a spherical joint are the second."""


def _words(joint: Joint, name: str) -> str:
    """What the numbers of a joint are."""
    kind = joint.kind
    if kind.has_quaternion:
        first, turn = WORDS[name]
        return turn if kind.nv == 3 else f"{first if kind.nv == 6 else f'{kind.nv - 3} of its own'}, {turn}"
    names = kind.coordinates if LAYOUTS[name] == "q" else kind.dofs
    return ", ".join(names) if len(names) > 1 else ""


def layout_text(model: Model, name: str) -> str:
    """What the numbers of an argument are, in words.  name: of LAYOUTS

    >>> layout_text(ph.load("heavy-top"), "v")
    'v has 3 numbers: tip 0–2 (angular velocity 3 in its own axes).'
    """
    parts = layout(model, name)
    size = sum(len(part.places) for part in parts)
    told = [_told(part) for part in parts[:SHOWN]] + [f"… and {len(parts) - SHOWN} more"] * (len(parts) > SHOWN)
    return f"{name} has {size} number{'s' * (size != 1)}{': ' * bool(told)}{', '.join(told)}."


def _told(part: LayoutPart) -> str:
    first, last = part.places[0], part.places[-1]
    places = f"{first}–{last}" if last > first else f"{first}"
    return f"{part.name} {places} ({part.what})" if part.what else f"{part.name} {places}"


def layout_html(model: Model) -> str:
    """Which numbers of q, and of v and τ, belong to which joint or element: a table for notebooks."""
    own = {part.name: part for part in layout(model, "q")}
    rows = [(part.name, _range(own.get(part.name)), _range(part), _units(model, part)) for part in layout(model, "v")]
    return table("coordinates", ("joint or element", "q", "v, τ", "units of q, v, τ"), rows)


def _range(part: LayoutPart | None) -> str:
    return "" if part is None else _told(part).removeprefix(f"{part.name} ")


def _units(model: Model, part: LayoutPart) -> str:
    """The units of the numbers of a joint, each once."""
    joint = next((joint for joint in model.joints if joint.name == part.name), None)
    if joint is None:
        return ""
    of = [[unit for kind, _ in joint.kind.elements for unit in kind.units[k]] for k in range(3)]
    return "; ".join(", ".join(dict.fromkeys(units)) for units in of)


def spelled_out(where: str, model: Model, name: str, value: Any) -> Any:
    """An argument as numbers, where it was given by names: of joints, {name: numbers}, or, of q, of a configuration.

    name  of the argument, one of LAYOUTS
    """
    if isinstance(value, Mapping):
        return numbers_by_name(where, model, name, value)
    named = isinstance(value, str) and name in ("q", "q1") and model.configurations
    return model.configuration(value) if named else value


def numbers_by_name(where: str, model: Model, name: str, given: Mapping[str, Array], one: bool = False) -> np.ndarray:
    """An argument (..., nq) or (..., nv) from the numbers of joints by name.

    name   of the argument, one of LAYOUTS
    given  (..., n) for a joint with n numbers, (...) for one with one number; own states by the name of their element.
           Joints that are left out are at zero; own states are 0, or of v what they start with
    one    whether it is one state: then a list of one number is as good as the number
    """
    which = LAYOUTS[name]
    parts = {part.name: part for part in layout(model, name)}
    values = {key: _value(f"{where}['{key}']", _part(where, model, parts, key), x, one) for key, x in given.items()}
    zero = model.zero if which == "q" else model.at_rest if name in AT_REST else (0.0,) * model.nv
    try:
        batch = np.broadcast_shapes(*(array.shape[:-1] for array in values.values()))
    except ValueError:
        found = ", ".join(f"'{key}' {array.shape[:-1]}" for key, array in values.items())
        raise InputError(message(where, "batches of different shapes", found, "one shape, or ()")) from None
    made = np.empty((*batch, len(zero)))
    made[...] = zero
    for key, array in values.items():
        made[..., parts[key].places] = array
    return made


def _part(where: str, model: Model, parts: Mapping[str, LayoutPart], key: Any) -> LayoutPart:
    if isinstance(key, str) and key in parts:
        return parts[key]
    still = [joint.name for joint in model.joints if joint.name not in parts]
    if key in still:
        raise InputError(message(where, "a joint that does not move", repr(key), ", ".join([*parts][:SHOWN])))
    known = ", ".join([*parts][:SHOWN]) or "none: nothing moves"
    raise UnknownNameError(message(where, "no such joint", repr(key), known, did_you_mean(key, parts)))


def _value(where: str, part: LayoutPart, value: Any, one: bool) -> np.ndarray:
    """The numbers of a part, the last axis its own."""
    size = len(part.places)
    if size == 1 and not (one and np.ndim(value) == 1 and np.size(value) == 1):
        return as_array(where, value, (), finite=False)[..., None]
    return as_array(where, value, (size,), finite=False)
