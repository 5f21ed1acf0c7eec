"""An identification as one page: residuals, parameters with their errors, and the bodies that were found."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from polhode.analysis.identification.identify import Identified
from polhode.model import plain
from polhode.result.atomic_file import atomic_write
from polhode.result.labels import dof_names
from polhode.show.figure import check_new_file
from polhode.show.page.chart import SvgChart, chart_card
from polhode.show.page.document import document
from polhode.show.page.sections import number

MOST = 600
"""Instants of a chart, at most: more would lie on one another."""


def write_identification_report(found: Identified, path: Path | str, *, force: bool = False) -> Path:
    """Write the page of an identification and return where it is.

    force  replace a file that is there already; the write is atomic
    """
    place = Path(path)
    check_new_file(f"report {place}", place, force)
    with atomic_write(place, force) as sink:
        sink.write(identification_page(found).encode())
    return place


def identification_page(found: Identified) -> str:
    """The page as text."""
    title = f"{found.model.name}, identified"
    body = [
        _header(found, title),
        "<main>",
        _residuals(found),
        _base(found),
        _friction(found),
        _bodies(found),
        "</main>",
    ]
    return document(title, body, ("page.css", "study.css"))


def _header(found: Identified, title: str) -> str:
    facts = (
        f"<b>{len(found.base)}</b> base parameters of {found.base.total}",
        f"<b>{len(found.residuals):,}</b> instants",
        f"condition number {number(found.condition)}",
    )
    items = "".join(f"<li>{fact}</li>" for fact in facts)
    return (
        f'<header><p class="kicker">Identification</p><h1>{escape(title)}</h1><ul class="facts">{items}</ul></header>'
    )


def _residuals(found: Identified) -> str:
    """For each velocity the measured torque and what is left of it."""
    step = max(len(found.residuals) // MOST, 1)
    instants = np.arange(len(found.residuals), dtype=float)[::step]
    cards = []
    for k, name in enumerate(dof_names(found.model)):
        measured, left = found.torques[::step, k], found.residuals[::step, k]
        chart = SvgChart(instants, np.concatenate([measured, left]))
        size = float(np.sqrt(np.mean(found.torques[:, k] ** 2)))
        part = f"{number(found.noise[k])} left of {number(size)}" if size else number(found.noise[k])
        svg = chart.svg([chart.line(measured, "mean"), chart.line(left, "middle")], "instant")
        cards.append(chart_card(f"{name}: {part} (root mean square)", svg))
    note = "Dashed: measured torque (N m, or N); full: what the parameters do not explain."
    return f'<h2>Residuals</h2><p class="note">{note}</p><div class="charts">{"".join(cards)}</div>'


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    cells = "".join(f"<th>{x}</th>" for x in head)
    lines = ""
    for name, *values in rows:
        numbers = "".join(f'<td class="number">{x}</td>' for x in values)
        lines += f"<tr><th>{escape(name)}</th>{numbers}</tr>"
    return f'<div class="card quality"><table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table></div>'


def _base(found: Identified) -> str:
    rows = list(zip(found.base.names, found.base_values, found.base_errors, strict=True))
    shown = [(name, number(value), number(error)) for name, value, error in rows]
    return "<h2>Base parameters</h2>" + _table(("combination", "value", "standard error"), shown)


def _friction(found: Identified) -> str:
    rows = []
    for term, values in found.friction.items():
        for name, value, error in zip(dof_names(found.model), values, found.friction_errors[term], strict=True):
            rows.append((f"{name}, {term}", number(value), number(error)))
    return "<h2>Friction</h2>" + _table(("term", "value", "standard error"), rows) if rows else ""


def _bodies(found: Identified) -> str:
    rows = []
    for body in found.model.bodies:
        moments = np.linalg.eigvalsh(body.inertia_matrix())
        center = ", ".join(number(float(x)) for x in plain(body.center))
        rows.append((body.name, number(plain(body.mass)), center, ", ".join(number(float(x)) for x in moments)))
    return "<h2>Bodies</h2>" + _table(("body", "mass, kg", "mass centre, m", "principal moments, kg m²"), rows)
