"""Numbers of a model given as texts: "hinge.q=pi/2", "bodies.arm.mass=2", "gravity=0,0,-1.62"."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from polhode.errors import InputError, UnknownNameError, did_you_mean, message
from polhode.formats.expression import Fault, evaluate_with_unit, unit_fault
from polhode.model import Model, Start
from polhode.model.other_numbers import other_numbers
from polhode.model.units import UnitNumber

PARTS = ("q", "v")
GROUPS = ("bodies", "joints", "forces", "constraints")


def overridden(model: Model, texts: Iterable[str]) -> Model:
    """The model with other numbers.

    texts  PATH=VALUE each; PATH is a path of `model.numbers()` or its beginning ("bodies.arm.inertia"), JOINT.q or
           JOINT.v at the start, q or v as a whole, or the name of a parameter; VALUE is one number or several, split
           by commas, each an expression such as pi/2, or a number with a unit, 30deg
    """
    for text in texts:
        path, equals, right = (part.strip() for part in text.partition("="))
        if not equals or not path or not right:
            raise InputError(message("set", "not an assignment", repr(text), "PATH=VALUE, as in hinge.q=pi/2"))
        if path == "q" and right in model.configurations:
            model = replace(model, start=replace(model.start or Start(), q=model.configurations[right]))
            continue
        values = _values(text, right)
        _check_units(text, model, path_parts(model, path), values)
        model = _with(model, path, values)
    return model


def assignments(model: Model, texts: Iterable[str]) -> dict[str, tuple[float, ...]]:
    """Forces of joints given as texts, "hinge=0.5" or "ball=0,0,1", by the names of the joints."""
    found: dict[str, tuple[float, ...]] = {}
    for text in texts:
        name, _, right = (part.strip() for part in text.partition("="))
        joint = next((joint for joint in model.joints if joint.name == name), None)
        if joint is None:
            known = [joint.name for joint in model.joints]
            raise UnknownNameError(
                message("tau", "no such joint", repr(name), ", ".join(known[:12]), did_you_mean(name, known, most=3))
            )
        values = _values(text, right)
        if len(values) != joint.nv:
            raise InputError(message(f"tau, joint '{name}'", "wrong size", right, f"{joint.nv} numbers"))
        _check_units(text, model, ("tau", name), values)
        found[name] = values
    return found


def _values(text: str, right: str) -> tuple[float, ...]:
    try:
        return tuple(evaluate_with_unit(part, {}) for part in right.split(","))
    except Fault as fault:
        raise InputError(
            message(f"'{text}'", fault.what, fault.found, "numbers, as in 1,pi/2,30deg", fault.fix)
        ) from None


def path_parts(model: Model, path: str) -> tuple[str, ...]:
    """The path of a number, or of a start (JOINT.q), as its parts; names of records may have dots."""
    head, _, part = path.rpartition(".")
    if part in PARTS and head in ("", *(joint.name for joint in model.joints)):
        return ("start", part, head) if head else ("start", part)
    group, _, rest = path.partition(".")
    for record in getattr(model, group) if group in GROUPS else ():
        if rest.startswith(f"{record.name}."):
            return (group, record.name, *rest.removeprefix(f"{record.name}.").split("."))
    return tuple(path.split("."))


def _check_units(text: str, model: Model, path: tuple[str, ...], values: tuple[float, ...]) -> None:
    """Refuse units of another dimension than the numbers of a path have."""
    for k, value in enumerate(values):
        is_one = len(values) == 1 and path[0] not in ("start", "tau")
        whole: tuple[str | int, ...] = path if is_one else (*path, k)
        fault = unit_fault(model, whole, value) if isinstance(value, UnitNumber) else None
        if fault:
            raise InputError(message(f"'{text}'", fault.what, fault.found, fault.expected, fault.fix))


def _with(model: Model, path: str, values: tuple[float, ...]) -> Model:
    head, _, part = path.rpartition(".")
    if part in PARTS and head in ("", *(joint.name for joint in model.joints)):
        return _started(model, head, part, values)
    starts = [f"{joint.name}.{part}" for joint in model.joints if joint.nv for part in PARTS]
    return other_numbers(model, {path: values}, "set", model.number_inputs, starts)


def _started(model: Model, joint_name: str, part: str, values: tuple[float, ...]) -> Model:
    """The model with another start of one joint, or of all."""
    start = model.start or Start()
    sizes = {joint.name: joint.nq if part == "q" else joint.nv for joint in model.joints}
    wanted = sizes[joint_name] if joint_name else sum(sizes.values())
    if len(values) != wanted:
        where = f"set '{joint_name}.{part}'" if joint_name else f"set '{part}'"
        fix = "A quaternion is w,x,y,z." if part == "q" else ""
        raise InputError(message(where, "wrong size", f"{len(values)} numbers", f"{wanted} numbers", fix))
    old, zero = getattr(start, part), model.zero if part == "q" else [0.0] * model.nv
    whole, at = list(zero if old is None else old), 0
    for name, size in sizes.items():
        if name == joint_name or not joint_name:
            whole[at : at + size] = values if joint_name else values[at : at + size]
        at += size
    new: dict[str, Any] = {part: tuple(whole)}
    return replace(model, start=replace(start, **new))
