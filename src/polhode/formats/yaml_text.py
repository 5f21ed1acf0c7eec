"""The file of a model in our own YAML, which `yaml` reads; what checks files (pydantic, 60 ms) is not loaded for it."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from polhode.errors import ModelError, message
from polhode.formats.expression import is_name, short
from polhode.formats.expression_functions import BodyLaw, Conditions, Curve, Expression
from polhode.model import Constraint, ForceElement, Model, Parameter, Start
from polhode.model.forces.registry import FORCES
from polhode.model.numbers import named_parameters, plain
from polhode.model.per_model_cache import once_each
from polhode.model.per_record_cache import once_per_record

WRITTEN = ("bodies", "joints", "forces", "constraints", "frames", "shapes")
_PLAIN = re.compile(r"[A-Za-z_][\w./-]*", re.ASCII)
WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
"""Text that some reader of YAML takes for something else."""


def to_yaml(model: Model) -> str:
    """The file of a model: reading it gives the same model. Functions of Python cannot be written."""
    lines = [f"name: {_text(model.name)}"]
    groups = [(group, [_lines(model.name, group, record) for record in _kept(model, group)]) for group in WRITTEN]
    called = [parameter for parameter in named_parameters(model) if is_name(parameter.name)]
    if called:
        lines += ["parameters:", *(f"  {_text(known.name)}: {_flow(float(known.value))}" for known in called)]
    lines.append(f"gravity: {_flow(model.gravity)}")
    for group, entries in groups:
        names = [record.name for record in _kept(model, group)]
        if len(set(names)) < len(names):
            raise ModelError(message(f"model '{model.name}', {group}", "one name twice", str(names), "unique names"))
        lines += [f"{group}:"] if entries else []
        for entry in entries:
            lines += entry
    if model.configurations:
        lines.append("configurations:")
        lines += [f"  {_text(name)}: {_flow(plain(tuple(q)))}" for name, q in model.configurations.items()]
    if model.start is not None:
        lines += _start_lines(model.start)
    return "\n".join(lines) + "\n"


def _kept(model: Model, group: str) -> list[Any]:
    """The records of a group that a file holds: all but shapes that are files of their own."""
    return [record for record in getattr(model, group) if not getattr(record, "file", "")]


@once_each
def kept_text(model: Model) -> str:
    """The file of a model for what is made of it to keep; "" for one with functions of Python."""
    try:
        return to_yaml(model)
    except ModelError:
        return ""


@once_per_record
def _lines(model: str, group: str, record: Any) -> list[str]:
    """The lines of a record."""
    return _block(f"  {_text(record.name)}:", _entry(model, group, record))


def _entry(model: str, group: str, record: Any) -> dict[str, Any]:
    """The keys of a record that differ from their defaults."""
    where = f"model '{model}', {group}.{record.name}"
    if isinstance(record, Constraint):
        if "type" in record.data:
            raise ModelError(message(where, "a constraint whose data has a 'type'", "two types", "another key"))
        return {"type": record.type, **_written(where, record.data)}
    if isinstance(record, ForceElement) and FORCES.get(record.kind) is not type(record):
        fix = "Register its kind: ph.register_force."
        raise ModelError(message(where, "a kind that files do not know", type(record).__name__, "a known kind", fix))
    held = [getattr(record, field.name) for field in fields(record)]
    if any(callable(x) and not isinstance(x, (Expression, BodyLaw)) for x in held):
        fix = "A file holds data only; add such forces in Python."
        raise ModelError(message(where, "a function of Python cannot be written", "a function", "numbers", fix))
    kept: dict[str, Any] = {"type": record.kind} if group == "forces" and record.kind != "force" else {}
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, BodyLaw):
            kept |= {part: [each.text for each in x] for part in record.expressions if (x := getattr(value, part))}
            continue
        if field.name != "name" and value is not None and (field.default is MISSING or value != field.default):
            kept[field.name] = value.text if isinstance(value, Expression) else value
    return kept


def _written(where: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a constraint, with its expressions as texts."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, (Conditions, Curve)):
            found["residual"] = [each.text for each in value.expressions]
        elif callable(value) and not isinstance(value, Expression):
            fix = "A file holds data only; add such constraints in Python."
            raise ModelError(message(where, "a function of Python cannot be written", "a function", "numbers", fix))
        else:
            found[key] = value.text if isinstance(value, Expression) else value
    return found


@once_per_record
def _start_lines(start: Start) -> list[str]:
    """The lines of a start."""
    kept = {key: value for key, value in vars(start).items() if value is not None}
    return _block("start:", {key: plain(tuple(value) if key in ("q", "v") else value) for key, value in kept.items()})


def _block(head: str, entry: Mapping[str, Any]) -> list[str]:
    """An entry on one line, or a line for each key where it is long."""
    line = f"{head} {_flow(entry)}"
    if len(line) <= 120:
        return [line]
    margin = " " * (len(head) - len(head.lstrip()) + 2)
    return [head, *(f"{margin}{_text(key)}: {_flow(value)}" for key, value in entry.items())]


def _flow(value: Any) -> str:
    """A value on one line."""
    if type(value) is float:  # as most are
        return _number(value)
    if isinstance(value, Parameter):
        inline = {"parameter": value.name, "value": float(value.value)}
        return _text(value.name) if is_name(value.name) else _flow(inline)
    if isinstance(value, (tuple, list, np.ndarray)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(key)}: {_flow(x)}" for key, x in value.items()) + "}"
    return _text(value) if isinstance(value, str) else _scalar(value)


def _scalar(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return _number(float(value))
    raise ModelError(message("to_yaml", "cannot be written", short(value), "numbers, text, lists, mappings"))


def _number(value: float) -> str:
    text = repr(value).replace("inf", ".inf").replace("nan", ".nan")
    return text.replace("e", ".0e") if "e" in text and "." not in text else text  # 1e-3 is text to some readers


def _text(text: str) -> str:
    """A text that reads as itself, in quotes where it would not."""
    if _PLAIN.fullmatch(text) and text.lower() not in WORDS:
        return text
    escaped = (c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in text)
    return '"' + "".join(escaped) + '"'
