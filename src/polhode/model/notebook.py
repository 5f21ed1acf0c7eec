"""What notebooks show of a model: HTML tables, with nothing in them that runs."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from polhode.model.numbers import short

ROWS = 60
"""Rows of a table at most: the rest is counted."""


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """An HTML table of texts; empty where there are no rows."""
    lines = ["<tr>" + "".join(f"<td>{escape(str(x))}</td>" for x in row) + "</tr>" for row in rows]
    if not lines:
        return ""
    more = len(lines) - ROWS
    lines = [*lines[:ROWS], f'<tr><td colspan="{len(head)}">… {more} more</td></tr>'] if more > 0 else lines
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    return f"<table><caption>{escape(caption)}</caption><tr>{titles}</tr>{''.join(lines)}</table>"


def model_html(model: Any) -> str:
    """The bodies, joints, forces and constraints of a model as tables."""
    title = (
        f"<p><b>{escape(model.name)}</b>: nq {model.nq}, nv {model.nv}, gravity {escape(short(model.gravity))} m/s²</p>"
    )
    joints, at_q, at_v = [], 0, 0
    for joint in model.joints:
        q, v = _places(at_q, joint.nq), _places(at_v, joint.nv)
        limits = "" if short(joint.lower) == "-inf" and short(joint.upper) == "inf" else _limits(joint)
        joints.append((joint.name, joint.type, f"{joint.parent} → {joint.child}", q, v, limits))
        at_q, at_v = at_q + joint.nq, at_v + joint.nv
    bodies = [(body.name, short(body.mass), short(body.center), short(body.inertia)) for body in model.bodies]
    parts = [
        title,
        table("joints", ("name", "type", "parent → child", "q", "v", "limits"), joints),
        table("bodies", ("name", "mass, kg", "mass centre, m", "inertia, kg m²"), bodies),
        table("forces", ("name", "what"), [(force.name, force.summary()) for force in model.forces]),
        table("constraints", ("name", "type"), [(each.name, each.type) for each in model.constraints]),
        table("configurations", ("name", "q"), [(name, short(q)) for name, q in model.configurations.items()]),
    ]
    return "".join(parts)


def _places(first: int, size: int) -> str:
    return "" if not size else str(first) if size == 1 else f"{first}–{first + size - 1}"


def _limits(joint: Any) -> str:
    return f"{short(joint.lower)} to {short(joint.upper)}"
