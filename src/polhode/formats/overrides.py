"""Numbers of a model given as texts: "hinge.q=pi/2", "bodies.arm.mass=2", "gravity=0,0,-1.62"."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from polhode.errors import InputError, UnknownNameError, did_you_mean, message
from polhode.formats.expression import Fault, evaluate
from polhode.model import Constraint, Model, Parameter, Start
from polhode.model.constraints.constraint import check_data
from polhode.model.description import named_parameters

GROUPS = ("bodies", "joints", "forces")
PARTS = ("q", "v")


def overridden(model: Model, texts: Iterable[str]) -> Model:
    """The model with other numbers.

    texts  PATH=VALUE each; PATH is a path of `model.numbers()` or its beginning ("bodies.arm.inertia"), JOINT.q or
           JOINT.v at the start, q or v as a whole, or the name of a parameter; VALUE is one number or several, split
           by commas, each an expression such as pi/2
    """
    for text in texts:
        path, equals, right = (part.strip() for part in text.partition("="))
        if not equals or not path or not right:
            raise InputError(message("set", "not an assignment", repr(text), "PATH=VALUE, as in hinge.q=pi/2"))
        model = _with(model, path, _values(text, right))
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
        found[name] = values
    return found


def _values(text: str, right: str) -> tuple[float, ...]:
    try:
        return tuple(evaluate(part, {}) for part in right.split(","))
    except Fault as fault:
        raise InputError(message(f"'{text}'", fault.what, fault.found, "numbers, as in 1,pi/2,3")) from None


def _with(model: Model, path: str, values: tuple[float, ...]) -> Model:
    head, _, part = path.rpartition(".")
    if part in PARTS and head in ("", *(joint.name for joint in model.joints)):
        return _started(model, head, part, values)
    if path in {parameter.name for parameter in named_parameters(model)}:
        return _renumbered(model, path, _one(path, values))
    if path.partition(".")[0] == "gravity":
        return replace(model, gravity=_placed(path, model.gravity, path.split(".")[1:], values))
    for group in GROUPS:
        for record in getattr(model, group):
            inner = path.removeprefix(f"{group}.{record.name}.").split(".")
            if path.startswith(f"{group}.{record.name}.") and inner[0] in _numeric(record):
                new = _placed(path, getattr(record, inner[0]), inner[1:], values)
                changed = replace(record, **{inner[0]: new})
                whole = tuple(changed if one is record else one for one in getattr(model, group))
                return _replaced(model, {group: whole})
    for constraint in model.constraints:
        head = f"constraints.{constraint.name}."
        inner = path.removeprefix(head).split(".")
        if path.startswith(head) and inner[0] in constraint.numeric:
            new = _placed(path, constraint.data[inner[0]], inner[1:], values)
            changed = replace(constraint, data={**constraint.data, inner[0]: new})
            check_data(changed)
            return _replaced(
                model, {"constraints": tuple(changed if c is constraint else c for c in model.constraints)}
            )
    raise _unknown(model, path)


def _numeric(record: Any) -> list[str]:
    """The fields of a record that hold numbers."""
    return [
        field.name
        for field in fields(record)
        if not isinstance(getattr(record, field.name), (str, bool)) and not callable(getattr(record, field.name))
    ]


def _placed(path: str, old: Any, places: list[str], values: tuple[float, ...]) -> Any:
    """The old number, or numbers, with new ones in their place."""
    if places:
        if isinstance(old, Mapping) and places[0] in old:
            return {**old, places[0]: _placed(path, old[places[0]], places[1:], values)}
        if not isinstance(old, tuple) or places[0] not in map(str, range(len(old))):
            size = f"a place from 0 to {len(old) - 1}" if isinstance(old, tuple) else "no place: it is one number"
            raise InputError(message(f"set '{path}'", "no such place", repr(places[0]), size))
        k = int(places[0])
        return (*old[:k], _placed(path, old[k], places[1:], values), *old[k + 1 :])
    if not isinstance(old, tuple):
        return values[0] if len(values) == 1 else values
    flat = len(old) * (len(old[0]) if isinstance(old[0], tuple) else 1)
    if len(values) not in (flat, len(old)):
        raise InputError(message(f"set '{path}'", "wrong size", f"{len(values)} numbers", f"{flat} numbers"))
    if len(values) == flat != len(old):
        return tuple(values[i : i + len(old[0])] for i in range(0, flat, len(old[0])))
    return values


def _one(path: str, values: tuple[float, ...]) -> float:
    if len(values) != 1:
        raise InputError(message(f"set '{path}'", "wrong size", f"{len(values)} numbers", "one number"))
    return values[0]


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
    return replace(model, start=_replaced(start, {part: tuple(whole)}))


def _renumbered(model: Model, name: str, value: float) -> Model:
    """The model with another value of a parameter, wherever it stands."""

    def changed(x: Any) -> Any:
        if isinstance(x, tuple):
            return tuple(map(changed, x))
        return Parameter(name, value) if isinstance(x, Parameter) and x.name == name else x

    def renewed(record: Any) -> Any:
        return replace(record, **{field: changed(getattr(record, field)) for field in _numeric(record)})

    def bound(constraint: Constraint) -> Constraint:
        new = {key: changed(constraint.data[key]) for key in constraint.numeric}
        return replace(constraint, data={**constraint.data, **new})

    groups = {group: tuple(map(renewed, getattr(model, group))) for group in GROUPS}
    constraints = tuple(map(bound, model.constraints))
    return _replaced(model, {"gravity": changed(model.gravity), "constraints": constraints, **groups})


def _replaced(record: Any, values: dict[str, Any]) -> Any:
    return replace(record, **values)


def _unknown(model: Model, path: str) -> UnknownNameError:
    starts = [f"{joint.name}.{part}" for joint in model.joints if joint.nv for part in PARTS]
    parameters = [parameter.name for parameter in named_parameters(model)]
    known = [*starts, *parameters, *model.numbers(), *{path.rpartition(".")[0] for path in model.numbers()}]
    expected = f"a start ({', '.join(starts[:2])}), a parameter, or a path ({next(iter(model.numbers()))})"
    return UnknownNameError(
        message(f"set, model '{model.name}'", "no such number", repr(path), expected, did_you_mean(path, known, most=3))
    )
