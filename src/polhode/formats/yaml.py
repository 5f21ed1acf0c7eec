"""Our own model files: YAML → Model, with the file, line and path of every fault.

    name: pendulum
    bodies:
      rod: {mass: 1, inertia: [1/12, 1/12, 0], center: [0, 0, -0.5]}
    joints:
      hinge: {type: revolute, parent: world, child: rod, axis: [0, 1, 0]}

The keys are the fields of the records. docs/models.md is the page for users, docs/model-schema.json the schema.
`yaml_text` writes such files.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polhode import euler
from polhode.errors import InputError, ModelError, did_you_mean, message, warn_caller
from polhode.formats import beam_entries, modal_entries
from polhode.formats.configurations import placed_numbers
from polhode.formats.document import Document, read_document, read_text
from polhode.formats.entries import plain_entries
from polhode.formats.entries.entry_keys import JOINT, own_keys
from polhode.formats.entries.entry_values import ExpressionTexts, FileContext, frozen, read_number
from polhode.formats.expression import Fault, is_name, short, unit_fault, written_number
from polhode.formats.expression_functions import Conditions, Curve, Expression, body_law, expression
from polhode.formats.folders import Folders, folders_of
from polhode.formats.yaml_faults import LocatedFaults, checked_entry
from polhode.formats.yaml_text import to_yaml as to_yaml
from polhode.loading import collection_paused
from polhode.model import JOINTS, Body, BodyFrame, BodyShape, Constraint, ForceElement, Joint, Model, Start
from polhode.model.beams import beam, section
from polhode.model.constraints.constraint import check_data
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.forces.registry import FORCES
from polhode.model.modal import body as modal_body
from polhode.model.numbers import plain
from polhode.model.parts import limit_pairs


def load_yaml(path: str | Path) -> Model:
    """The model of a file."""
    with collection_paused():
        return _read(read_text(Path(path)), str(path), folders_of(path, False))


def model_from_yaml(text: str, where: str) -> Model:
    """The model of a text.

    where  what errors call it, as a file's name
    """
    with collection_paused():
        return _read(text, where, folders_of(where, True))


def _read(text: str, where: str, folders: Folders) -> Model:
    document = read_document(text, where)
    if not isinstance(document.data, dict):
        found = short(document.data)
        raise ModelError(message(document.place(()), "not a model", found, "keys such as name, bodies, joints"))
    context = FileContext(_parameters(document), [])
    entry: Any = plain_entries.model_entry(document.data, context)
    if entry is None:
        context = FileContext(_parameters(document), [])
        entry = checked_entry(document, context)
    model = _model(document, entry, folders)
    if context.units:
        _check_units(document, model, document.data, ())
    return model


def _check_units(document: Document, model: Model, data: Any, path: tuple[str | int, ...]) -> None:
    """Refuse units of another dimension than their keys have."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inner:
        if isinstance(value, (dict, list)):
            _check_units(document, model, value, (*path, key))
        elif isinstance(value, str) and path[:1] != ("parameters",):
            found = written_number(value)
            fault = None if found is None else unit_fault(model, (*path, key), found)
            if fault:
                place = document.place((*path, key))
                raise ModelError(message(place, fault.what, fault.found, fault.expected, fault.fix))


def _parameters(document: Document) -> dict[str, float]:
    """The values of the parameters, each of which may use those before it."""
    values: dict[str, float] = {}
    given = document.data.get("parameters", {})
    for name, value in given.items() if isinstance(given, dict) else ():
        try:
            if not is_name(name):
                raise Fault("a parameter that cannot be called so", f"'{name}'", "a letter, then letters, digits or _")
            values[name] = plain(read_number(value, values))
        except Fault as fault:
            where = document.place(("parameters", name))
            raise ModelError(message(where, fault.what, fault.found, fault.expected, fault.fix)) from None
    return values


def _model(document: Document, entry: Any, folders: Folders) -> Model:
    """The records of what was read; each of them checks itself."""
    values: dict[str, Any] = {
        key: frozen(getattr(entry, key)) for key in ("name", "gravity") if key in entry.model_fields_set
    }
    with LocatedFaults(document) as located:
        bodies = [Body(name, **_given(body)) for name, body in located.each("bodies", entry.bodies)]
        joints = [_joint(name, joint) for name, joint in located.each("joints", entry.joints)]
        forces = [_force(name, force) for name, force in located.each("forces", entry.forces)]
        constraints = [
            _constraint(name, constraint, joints) for name, constraint in located.each("constraints", entry.constraints)
        ]
        frames = [_frame(name, frame) for name, frame in located.each("frames", entry.frames)]
        shapes = [_shape(name, shape) for name, shape in located.each("shapes", entry.shapes)]
        sections = _sections(entry, located) if entry.materials or entry.sections or entry.beams else {}
        if entry.modal:
            flexible = modal_body.modal_parts(modal_entries.modal_of(located.each("modal", entry.modal), folders))
            bodies, joints = [*bodies, *flexible.bodies], [*joints, *flexible.joints]
        if entry.beams:
            beams = beam_entries.beams_of(located.each("beams", entry.beams), sections)
            added = beam.beam_parts(beams, bodies, joints)
            bodies, joints = [*bodies, *added.bodies], [*joints, *added.joints]
            forces, constraints = [*forces, *added.forces], [*constraints, *added.constraints]
        values |= _states(entry, joints)
        return Model(
            bodies=bodies,
            joints=joints,
            forces=forces,
            constraints=constraints,
            frames=frames,
            shapes=shapes,
            **values,
        )


def _sections(entry: Any, located: LocatedFaults) -> dict[str, "section.Section"]:
    """The sections of beams, by name, of the materials of the file and those that are known without it."""
    materials = beam_entries.materials_of(entry.materials)
    pairs = located.each("sections", entry.sections)
    return {name: beam_entries.section_of(name, each, materials) for name, each in pairs}


def _states(entry: Any, joints: Sequence[Joint]) -> dict[str, Any]:
    """The start and the configurations of a model, numbers by joint in their places."""
    where = f"model '{entry.name}'"

    def numbers(place: str, value: Any, which: str = "nq") -> Any:
        value = frozen(value)
        return placed_numbers(f"{where}, {place}", joints, value, which) if isinstance(value, dict) else value

    known = {name: numbers(f"configurations, {name}", value) for name, value in entry.configurations.items()}
    for name, value in known.items():
        if isinstance(value, str):
            raise ModelError(message(f"{where}, configurations, {name}", "not coordinates", repr(value), "numbers"))
    found: dict[str, Any] = {"configurations": known} if known else {}
    if entry.start is None:
        return found
    given: dict[str, Any] = {"q": entry.start} if isinstance(entry.start, str) else _given(entry.start)
    if isinstance(given.get("q"), str):
        if given["q"] not in known:
            expected = ", ".join(known) or "none: there is no 'configurations:'"
            fix = did_you_mean(given["q"], known)
            place = f"{where}, start" if isinstance(entry.start, str) else f"{where}, start, q"
            raise ModelError(message(place, "no such configuration", repr(given["q"]), expected, fix))
        given["q"] = known[given["q"]]
    sizes = {"q": "nq", "v": "nv"}
    given |= {key: numbers(f"start, {key}", given[key], which) for key, which in sizes.items() if key in given}
    return {**found, "start": Start(**given)}


def _force(name: str, entry: Any) -> ForceElement:
    values = _oriented(f"force '{name}'", _given(entry))
    kind = FORCES[values.pop("type", "force")]
    return kind(name, **(_with_law(name, kind, values) if kind.expressions else values))


def _with_law(name: str, kind: type[ForceElement], values: dict[str, Any]) -> dict[str, Any]:
    """The values of a force element, its expressions as the function that they are."""
    written = {key: values.pop(key) for key in kind.expressions if key in values}
    if not written:
        expected = f"expressions: {', '.join(kind.expressions)}"
        raise ModelError(message(f"force '{name}'", "no force and no torque", "neither", expected))
    texts, parameters = {key: x.texts for key, x in written.items()}, next(iter(written.values())).parameters
    try:
        law = body_law(texts, parameters, values.get("other") is not None, [*values.get("numbers", {})])
    except Fault as fault:
        where = f"force '{name}', {', '.join(written)}"
        raise ModelError(message(where, fault.what, fault.found, fault.expected, fault.fix)) from None
    return {"function": law, **values}


def _oriented(where: str, values: dict[str, Any]) -> dict[str, Any]:
    """The values of an entry, angles of its frame, or of its frames a and b, as quaternions."""
    for side in ("", "_a", "_b"):
        rpy, orientation = f"rpy{side}", f"orientation{side}"
        if rpy in values and orientation in values:
            raise ModelError(
                message(f"{where}, {rpy}", "an orientation twice", f"{rpy} and {orientation}", "one of them")
            )
        if rpy in values:
            values[orientation] = _attitude("extrinsic-123", values.pop(rpy))
    return values


def _given(entry: Any) -> dict[str, Any]:
    """The values a file gives, in the order of the fields; the records know the defaults of the others."""
    given = entry.model_fields_set
    return {name: frozen(value) for name, value in entry.__dict__.items() if name in given}


def _joint(name: str, entry: Any) -> Joint:
    values = _given(entry)
    ways = [way for way in ("orientation", "rpy", "euler") if way in values]
    if len(ways) > 1:
        raise ModelError(
            message(f"joint '{name}', {ways[1]}", "an orientation twice", " and ".join(ways), "one of them")
        )
    if "rpy" in values:
        values["orientation"] = _attitude("extrinsic-123", values.pop("rpy"))
    elif "euler" in values:
        try:
            values["orientation"] = _attitude(entry.euler.sequence, values.pop("euler").angles)
        except InputError as error:
            raise ModelError(f"joint '{name}', {error}") from None
    return Joint(name, **_uncrossed(name, _with_own(name, values)))


def _frame(name: str, entry: Any) -> BodyFrame:
    return BodyFrame(name, **_oriented(f"frame '{name}'", _given(entry)))


def _shape(name: str, entry: Any) -> BodyShape:
    where = f"shape '{name}'"
    values = _oriented(where, _given(entry))
    if values["type"] == "mesh":
        fix = "Meshes are given to the picture: ph.animate(run, meshes=…)."
        raise ModelError(message(f"{where}, type", "not in files", "'mesh'", "box, cylinder or sphere", fix))
    return BodyShape(name, **values)


def _with_own(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """The values of a joint, the numbers of its kind that were written as keys of the joint among its data."""
    plain_keys = {key: values.pop(key) for key in [*values] if key not in JOINT}
    known = own_keys(JOINTS[values["type"]]) if values["type"] in JOINTS else list(plain_keys)
    data = values.get("data", {})
    for key in plain_keys:
        where = f"joint '{name}', {key}"
        if key not in known:
            expected = ", ".join(known) or "none of its own"
            raise ModelError(message(where, "not a number of this kind of joint", f"a {values['type']}", expected))
        if key in data:
            raise ModelError(message(where, "given twice", f"{key}, and data: {{{key}: …}}", "one of them"))
    return {**values, "data": {**data, **plain_keys}} if plain_keys else values


def _uncrossed(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """The values of a joint; a lower limit above the upper one is no limit, with a warning."""
    pairs = limit_pairs(values.get("lower", -math.inf), values.get("upper", math.inf))
    for k, (lower, upper) in enumerate(pairs):
        if lower > upper:
            found, fix = f"lower {lower:g}, upper {upper:g}", "It is taken as no limit."
            text = message(f"joint '{name}', lower", "above upper", found, "an interval", fix)
            warn_caller(text)
            pairs[k] = (-math.inf, math.inf)
            lowers, uppers = zip(*pairs, strict=True)
            values |= {"lower": lowers, "upper": uppers} if len(pairs) > 1 else {"lower": lowers[0], "upper": uppers[0]}
    return values


def _constraint(name: str, entry: Any, joints: Sequence[Joint] = ()) -> Constraint:
    if entry.model_extra is not None:  # of another program
        data = {key: frozen(value) for key, value in entry.model_extra.items()}
        return Constraint(name, entry.type, data)
    values = _oriented(f"constraint '{name}'", _given(entry))
    kind = values.pop("type")
    if of := CONSTRAINTS[kind].expressions_of:
        if "residual" not in values:
            raise ModelError(message(f"constraint '{name}'", "'residual' is missing", "nothing", "expressions"))
        written = values.pop("residual")
        values["function"] = _conditions(name, written, joints) if of == "coordinates" else _curve(name, written)
    constraint = Constraint(name, kind, values)
    check_data(constraint)
    return constraint


def _conditions(name: str, written: ExpressionTexts, joints: Sequence[Joint]) -> Conditions:
    """The function of a constraint, from the expressions of its residuals."""
    places, at = list[tuple[str, int]](), 0
    for joint in joints:
        places += [(joint.name, at)] if joint.nq == 1 and is_name(joint.name) and joint.name != "t" else []
        at += joint.nq
    fix = "Coordinates are called by the names of their joints, of one axis."
    return Conditions(_expressions(name, written, ("t", *(joint for joint, _ in places)), fix), tuple(places))


def _curve(name: str, written: ExpressionTexts) -> Curve:
    return Curve(_expressions(name, written, ("x", "y", "z"), "A curve is two expressions of x, y and z."))


def _expressions(name: str, written: ExpressionTexts, variables: tuple[str, ...], fix: str) -> tuple[Expression, ...]:
    """The residuals of a constraint as functions of variables."""
    try:
        return tuple(expression(text, written.parameters, variables) for text in written.texts)
    except Fault as fault:
        where = f"constraint '{name}', residual"
        raise ModelError(message(where, fault.what, fault.found, fault.expected, fix)) from None


def _attitude(sequence: str, angles: Any) -> tuple[float, ...]:
    """A unit quaternion (w, x, y, z); a parameter counts with its value."""
    return tuple(map(float, np.asarray(euler.to_quaternion(sequence, plain(tuple(angles))))))
