"""Faults of our model files with their file, line and path: those that pydantic finds, and those of the records."""

import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from polhode.errors import ModelError, PolhodeWarning, did_you_mean, message, warn_caller
from polhode.formats import beam_entries, schema
from polhode.formats.document import Document, Path_
from polhode.formats.entries.entry_keys import JOINT, own_keys
from polhode.formats.entries.entry_values import FileContext
from polhode.formats.expression import short
from polhode.model.joints.registry import JOINTS

SHOWN = 5
"""Faults that one message lists."""
KINDS = {
    "dict_type": ("not a mapping", "names or keys, each with its value"),
    "model_type": ("not a mapping", "keys, each with its value"),
    "list_type": ("not a list", "numbers in brackets, as in [1, 2, 3]"),
    "bool_type": ("neither true nor false", "true or false"),
    "string_type": ("not text", "text"),
    "int_type": ("not a whole number", "a whole number, as 8"),
    "int_from_float": ("not a whole number", "a whole number, as 8"),
}
"""Faults of type, by pydantic's name: what is wrong, and what is expected."""
GROUPS = {
    "body": "bodies",
    "joint": "joints",
    "force": "forces",
    "constraint": "constraints",
    "beam": "beams",
    "section": "sections",
    "modal body": "modal",
}
"""The groups of a file, by how errors of records begin."""


def checked_entry(document: Document, context: FileContext) -> "schema.ModelEntry":
    """The entry of a file, or a ModelError that tells all its faults."""
    try:
        return schema.model_entry_for(document.data).model_validate(document.data, context=context)
    except schema.ValidationError as error:
        raise ModelError(faults_text(document, error)) from None


def faults_text(document: Document, error: "schema.ValidationError") -> str:
    """The text of the faults that pydantic found, the first lines first."""
    told = sorted((_fault(document, fault) for fault in error.errors()), key=lambda pair: pair[0])
    texts = [text for _, text in told[:SHOWN]]
    return "\n".join([*texts, f"… and {len(told) - SHOWN} more"] if len(told) > SHOWN else texts)


def _fault(document: Document, fault: Mapping[str, Any]) -> tuple[int, str]:
    """The line and the text of one fault."""
    path, kind = _path(document.data, fault["loc"]), fault["type"]
    context, found, fix = fault.get("ctx", {}), short(fault["input"]), ""
    keys = _keys(document.data, path[:-1])
    described = keys[path[-1]].description if path and path[-1] in keys else None
    if kind == "polhode":
        what, expected, fix = context["what"], context["expected"], context.get("fix", "")
        found = context.get("found", found)
    elif kind == "extra_forbidden":
        what, found, expected = "an unknown key", f"'{path[-1]}'", f"one of {', '.join(keys)}"
        fix = did_you_mean(path[-1], keys)
    elif kind == "missing":
        what, found, expected = "missing", "no such key", described or "a value"
    elif kind in ("too_short", "too_long"):
        size = context.get("min_length", context.get("max_length"))
        what, found, expected = "wrong size", f"{context['actual_length']} values", f"{size}: {described or 'numbers'}"
    else:
        what, expected = KINDS.get(kind, ("not what stands here", described or "another value"))
    return document.line(path), message(document.place(path), what, found, expected, fix)


def _path(data: Any, loc: tuple) -> Path_:
    """Where a fault is; pydantic also names the alternatives it took, which the file does not have."""
    path: list = []
    for step, part in enumerate(loc):
        inside = isinstance(data, dict) and part in data
        if inside or (isinstance(data, list) and isinstance(part, int) and part < len(data)):
            data = data[part]
            path.append(part)
        elif step == len(loc) - 1 and isinstance(data, dict):
            path.append(part)
    return tuple(path)


def _keys(data: Any, path: Path_) -> dict[str, Any]:
    """The keys that the mapping at a path may have."""
    entries = schema.entries()
    if not path:
        return entries.model.model_fields
    if path == ("start",):
        return schema.StartEntry.model_fields
    if len(path) == 2 and path[0] == "forces":
        kind = data["forces"][path[1]].get("type")
        return entries.forces[kind if isinstance(kind, str) and kind in entries.forces else "force"].model_fields
    if len(path) == 2 and path[0] == "constraints":
        return entries.constraint.model_fields
    if len(path) == 2 and path[0] == "bodies":
        return schema.BodyEntry.model_fields
    if len(path) == 2 and path[0] == "joints":
        kind = data["joints"][path[1]].get("type")
        own = own_keys(JOINTS[kind]) if isinstance(kind, str) and kind in JOINTS else []
        return {name: entries.joint.model_fields[name] for name in (*JOINT, *own)}
    if path[-1] == "euler":
        return schema.Euler.model_fields
    if len(path) == 3 and path[0] == "beams" and path[2] in ("start", "end"):
        return beam_entries.BeamEndEntry.model_fields
    group = entries.model.model_fields.get(str(path[0]))
    kinds = [kind for kind in get_args(group.annotation) if hasattr(kind, "model_fields")] if group else []
    return kinds[0].model_fields if kinds and len(path) == 2 else {}


class LocatedFaults:
    """A block in which errors and warnings of records get the file, line and path of what they are about."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.path: Path_ = ()
        self.told: list[tuple[str, type[Warning]]] = []
        self.catching = warnings.catch_warnings(record=True)
        self.caught: list[warnings.WarningMessage] = []

    def __enter__(self) -> "LocatedFaults":
        caught = self.catching.__enter__()
        self.caught = [] if caught is None else caught
        warnings.simplefilter("always")
        return self

    def each(self, group: str, entries: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The entries of a group; what is raised or warned meanwhile is about the last one given."""
        for name, entry in entries.items():
            self.path = (group, name)
            yield name, entry
            if self.caught:
                self._note()
        self.path = ()

    def _note(self) -> None:
        for warning in self.caught:
            ours = issubclass(warning.category, PolhodeWarning)
            text = _relocate(self.document, self.path, str(warning.message)) if ours else str(warning.message)
            self.told.append((text, warning.category))
        self.caught.clear()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._note()
        self.catching.__exit__(kind, error, trace)
        if isinstance(error, ModelError):
            raise ModelError(_relocate(self.document, self.path, str(error))) from None
        for text, category in self.told if error is None else ():
            warn_caller(text, category)


def _relocate(document: Document, path: Path_, text: str) -> str:
    """ "body 'arm', mass: …" becomes "arm.yaml:7, bodies.arm.mass: …"."""
    head = re.match(r"(body|joint|force|constraint|beam|section|modal body) '(.*?)'(?:, (\w+))?: ", text)
    if head:
        kind, name, key = head.groups()
        path = (GROUPS[kind], name, key) if key else (GROUPS[kind], name)
        return f"{document.place(path)}: {text[head.end() :]}"
    head = re.match(r"model '.*?'(?:, (start|gravity|configurations))?(?:, (\w+))?: ", text)
    if not head:
        return f"{document.place(path)}: {text}"
    path = tuple(part for part in head.groups() if part) or path
    rest = text[head.end() :]
    if not path:  # the first record that the message names
        names = re.findall(r"'(.*?)'", rest)
        paths = [(group, name) for group in ("joints", "bodies") for name in reversed(names)]
        path = next((found for found in paths if document.find(found)[1]), ())
    return f"{document.place(path)}: {rest}"
