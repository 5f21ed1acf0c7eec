"""A model as text: its tree, its joints, its masses, what was noted when it was loaded."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.model import WORLD, Constraint, Joint, Model, Parameter
from polhode.model.numbers import named_parameters

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LONG = 12
"""Bodies in a row, or beside each other, of which the middle ones are left out."""
FIRST, LAST = 6, 3
"""How many of them are shown."""
ROWS = 40
"""Rows of a table, beyond which the middle ones are left out."""
PIPED = 110
"""Columns where there is no terminal."""
DEEP = 16
"""Levels drawn with a margin; deeper ones are numbered."""


class TreeLine(NamedTuple):
    """One line of the tree; without a joint it is the world, or says how many are left out."""

    margin: str
    body: str
    joint: Joint | None


def safe(text: Any) -> str:
    """A name as it may be printed: what would steer a terminal is shown as its code."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in str(text))


def model_text(model: Model, full: bool = False) -> str:
    """The tree of a model, the world at the top; long rows of bodies are shown unless `full`."""
    return "\n".join(f"{row.margin}{safe(row.body)}{_joint_text(row.joint)}" for row in tree_rows(model, full))


class Level(NamedTuple):
    """How deep a line is, and for each level drawn whether its branch is the last of its parent."""

    depth: int = 0
    lasts: tuple[bool, ...] = ()

    def below(self, last: bool) -> "Level":
        """One level deeper."""
        return Level(self.depth + 1, (*self.lasts, last) if self.depth < DEEP else self.lasts)

    @property
    def margin(self) -> str:
        """What stands before the name."""
        if self.depth > DEEP:
            return f"{'   ' * (DEEP - 1)}({self.depth}) "
        return "".join("   " if last else "│  " for last in self.lasts[:-1]) + ("└─ " if self.lasts[-1] else "├─ ")


def tree_rows(model: Model, full: bool = False) -> Iterator[TreeLine]:
    """The lines of the tree, from the top."""
    below: dict[str, list[Joint]] = defaultdict(list)
    for joint in model.joints:
        below[joint.parent].append(joint)
    yield TreeLine("", WORLD, None)
    waiting = _children(below[WORLD], Level(), full)
    while waiting:
        member, level = waiting.pop()
        run = [member] if full or isinstance(member, int) else _run(below, member)
        # of a long row of single children, its first and its last
        run = [*run[:FIRST], len(run) - FIRST - LAST, *run[-LAST:]] if len(run) > LONG else run[:1]
        for k, member in enumerate(run):
            level = level.below(True) if k else level
            if isinstance(member, int):
                yield TreeLine(level.margin, f"… {member} more", None)
            else:
                yield TreeLine(level.margin, member.child, member)
        if not isinstance(member, int):
            waiting += _children(below[member.child], level, full)


def _children(joints: list[Joint], level: Level, full: bool) -> list[tuple[Joint | int, Level]]:
    """The children as a stack; a number stands for as many that are left out."""
    shown: list[Joint | int] = [*joints]
    if not full and len(joints) > LONG:
        shown = [*joints[:FIRST], len(joints) - FIRST - LAST, *joints[-LAST:]]
    return [(joint, level.below(k == len(shown) - 1)) for k, joint in enumerate(shown)][::-1]


def _run(below: Mapping[str, list[Joint]], joint: Joint) -> list[Joint | int]:
    """A joint and those that follow it without a branch."""
    run = [joint]
    while len(below[run[-1].child]) == 1:
        run.append(below[run[-1].child][0])
    return [*run]


def _joint_text(joint: Joint | None) -> str:
    if joint is None:
        return ""
    axis = axis_text(joint)
    return f" ← {safe(joint.name)}, {joint.type}{' ' + axis if axis else ''}"


def axis_text(joint: Joint) -> str:
    """The axes of a joint that has some: x, −y, or components."""
    if not joint.kind.uses_axis:
        return ""
    return " ".join(_direction(axis) for axis in (joint.axis, joint.axis2) if axis is not None)


def _direction(axis: tuple) -> str:
    values = [plain(x) for x in axis]
    places = [k for k, x in enumerate(values) if x]
    if len(places) == 1:
        return ("-" if values[places[0]] < 0 else "") + "xyz"[places[0]]
    return vector(values)


def plain(value: Any) -> Any:
    """Numbers without their names, tuples as lists; infinite ones as None, which JSON has."""
    if isinstance(value, Parameter):
        return plain(value.value)
    if isinstance(value, (tuple, list, np.ndarray)):
        return [plain(x) for x in value]
    if isinstance(value, Mapping):
        return {str(key): plain(x) for key, x in value.items()}
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value if isinstance(value, (str, bool, int)) or value is None else f"<{type(value).__name__}>"


def vector(values: Sequence, most: int = 12) -> str:
    """Numbers in parentheses, the first few of many."""
    shown = ", ".join(f"{plain(x):.4g}" if isinstance(plain(x), (int, float)) else str(x) for x in values[:most])
    return f"({shown}{f', … {len(values) - most} more' if len(values) > most else ''})"


def parameters(model: Model) -> dict[str, float]:
    """The named numbers of a model."""
    return {parameter.name: float(parameter.value) for parameter in named_parameters(model)}


def indices(model: Model) -> list[tuple[range, range]]:
    """Where the coordinates and velocities of each joint are in q and v."""
    found, q, v = [], 0, 0
    for joint in model.joints:
        found.append((range(q, q + joint.nq), range(v, v + joint.nv)))
        q, v = q + joint.nq, v + joint.nv
    return found


def info_dict(model: Model, notes: Sequence[str] = ()) -> dict[str, Any]:
    """Everything `print_info` prints, as plain data for JSON; infinite limits are null."""
    keys = ("axis", "axis2", "position", "orientation", "lower", "upper", "damping", "stiffness", "rest", "armature")
    joints = []
    for joint, (q, v) in zip(model.joints, indices(model), strict=True):
        entry = {"name": joint.name, "type": joint.type, "parent": joint.parent, "child": joint.child}
        joints.append({**entry, "q": list(q), "v": list(v), **{key: plain(getattr(joint, key)) for key in keys}})
    bodies = [
        {key: plain(getattr(body, key)) for key in ("name", "mass", "inertia", "center")} for body in model.bodies
    ]
    return {
        "name": model.name,
        "nq": model.nq,
        "nv": model.nv,
        "mass": plain(total_mass(model)),
        "gravity": plain(model.gravity),
        "parameters": parameters(model),
        "bodies": bodies,
        "joints": joints,
        "forces": [{"kind": type(force).__name__, **plain(vars(force))} for force in model.forces],
        "constraints": [{"name": c.name, "type": c.type, "data": _data(c)} for c in model.constraints],
        "start": plain(vars(model.start)) if model.start else None,
        "notes": list(notes),
    }


def total_mass(model: Model) -> float:
    """kg; infinite beyond all numbers"""
    try:
        return math.fsum(plain(body.mass) for body in model.bodies)
    except OverflowError:
        return math.inf


def print_info(model: Model, notes: Sequence[str] = (), full: bool = False, console: "Console | None" = None) -> None:
    """The whole page on the terminal.

    notes  warnings of the loader
    full   leave nothing out of long models
    """
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    if console is None:
        console = Console(highlight=False)
        console.width = console.width if console.is_terminal else PIPED

    def say(text: str, style: str = "", margin: int = 0) -> None:
        console.print(Padding(Text(text, style=style), (0, 0, 0, margin), expand=False), highlight=False)

    bodies, joints = _count(model.bodies, "body", "bodies"), _count(model.joints, "joint", "joints")
    say(f"{safe(model.name)}: {bodies}, {joints}, nq {model.nq}, nv {model.nv}", "bold")
    say(f"{total_mass(model):.6g} kg, gravity {vector(model.gravity)} m/s²")
    console.print()
    for row in tree_rows(model, full):
        parts = ((row.margin, "dim"), (safe(row.body), "bold" if row.joint else ""), _joint_text(row.joint))
        console.print(Text.assemble(*parts), highlight=False, soft_wrap=True)
    console.print()
    for table in (_joint_table(model, full), _body_table(model, full)) if model.bodies else ():
        console.print(table)
        console.print()
    for title, lines in _sections(model):
        say(f"{title}:", "bold")
        for line in lines if full else _shown(lines, "… {} more"):
            say(line, margin=2)
    say("notes:" if notes else "Nothing was ignored, nothing to warn of.", "bold yellow" if notes else "")
    for line in (line for note in notes for line in note.splitlines()):
        say(safe(line.strip()), margin=2 + len(line) - len(line.lstrip()))


def _count(records: Sequence, one: str, many: str) -> str:
    return f"{len(records)} {one if len(records) == 1 else many}"


def _sections(model: Model) -> Iterator[tuple[str, list[str]]]:
    """The short lists at the end, those that are not empty."""
    if found := parameters(model):
        yield "parameters", [f"{safe(name)} = {value:.6g}" for name, value in found.items()]
    if model.forces:
        yield "forces", [safe(f"{force.name}: {force.summary()}") for force in model.forces]
    if model.constraints:
        yield "constraints", [_constraint_text(constraint) for constraint in model.constraints]
    if start := model.start:
        lines = [f"{key} {vector(value)}" for key, value in (("q", start.q), ("v", start.v)) if value is not None]
        lines += [f"duration {plain(start.duration):g} s"] if start.duration is not None else []
        yield "start", lines + ([f"method {safe(start.method)}"] if start.method else [])


def _data(constraint: Constraint) -> dict[str, Any]:
    """The data of a constraint as numbers and texts: of an expression its text."""
    return {key: _told(value) if callable(value) else plain(value) for key, value in constraint.data.items()}


def _told(function: Any) -> str:
    return "a function" if hasattr(function, "__name__") else str(function)


def _constraint_text(constraint: Constraint) -> str:
    data = ", ".join(f"{safe(key)} {safe(value)}" for key, value in _data(constraint).items())
    return f"{safe(constraint.name)}: {safe(constraint.type)}, {data}"


def _shown(rows: list, left_out: Any) -> list:
    """The rows, or the first and last of many with a row between that says how many are missing."""
    if len(rows) <= ROWS:
        return rows
    count = len(rows) - 2 * FIRST - LAST
    middle = left_out.format(count) if isinstance(left_out, str) else left_out(count)
    return [*rows[: 2 * FIRST], middle, *rows[-LAST:]]


def _table(headings: Sequence[str], rows: list[tuple], full: bool) -> "Table":
    """A table without the columns in which no row has anything."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    used = [k for k in range(len(headings)) if any(row[k] != "–" for row in rows)]
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for k in used:
        table.add_column(headings[k], overflow="fold", justify="left" if k < 2 else "right")
    for row in rows if full else _shown(rows, lambda count: (f"… {count} more", *[""] * (len(headings) - 1))):
        table.add_row(*(Text(row[k]) for k in used))
    return table


def _joint_table(model: Model, full: bool) -> "Table":
    rows = []
    for joint, (q, v) in zip(model.joints, indices(model), strict=True):
        numbers = [_each(getattr(joint, key)) for key in ("damping", "stiffness", "armature")]
        rows.append((safe(joint.name), joint.type, _span(q), _span(v), _limits(joint), *numbers))
    return _table(("joint", "type", "q", "v", "limits", "damping", "stiffness", "armature"), rows, full)


def _body_table(model: Model, full: bool) -> "Table":
    rows = []
    for body in model.bodies:
        matrix = isinstance(body.inertia[0], tuple)
        moments = list(np.linalg.eigvalsh(body.inertia_matrix())) if matrix else body.inertia
        rows.append((safe(body.name), vector(body.center), f"{plain(body.mass):.4g}", vector(moments)))
    return _table(("body", "centre, m", "mass, kg", "principal moments, kg m²"), rows, full)


def _span(numbers: range) -> str:
    if not numbers:
        return "–"
    return f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"


def _each(value: Any) -> str:
    values = plain(value)
    if isinstance(values, list):
        return ", ".join(f"{x:.4g}" for x in values) if any(values) else "–"
    return f"{values:.4g}" if values else "–"


def _limits(joint: Joint) -> str:
    lower, upper = np.atleast_1d(joint.lower), np.atleast_1d(joint.upper)
    if np.all(np.isinf(lower)) and np.all(np.isinf(upper)):
        return "–"
    lower, upper = np.broadcast_arrays(lower, upper) if 1 in (lower.size, upper.size) else (lower, upper)
    pairs = zip(lower, upper, strict=False)
    return ", ".join(f"{a:.3g} … {b:.3g}".replace("inf", "∞") for a, b in pairs)
