"""The picture of a comparison: what each formulation costs in accuracy, and its multiplier over time."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from polhode.dynamics.single import forms
from polhode.papers.compare import Comparison
from polhode.show.figure import COLOURS, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 110
"""Columns of the table; a narrower terminal breaks its lines, and loses nothing."""


@styled
def compare_figure(comparison: Comparison) -> "Figure":
    """Attitude errors of all forms (left), multipliers over time (right)."""
    rows = comparison.rows
    figure, (left, right) = new_figure(10, 1.5 + 0.17 * max(len(rows), 18), ncols=2, width_ratios=[1.3, 1])
    y = np.arange(len(rows))[::-1]
    pairs = [(row.error, row.error_projected) for row in rows]
    for level, (plain, projected) in zip(y, pairs, strict=True):
        if plain is not None and projected is not None:
            left.plot([plain, projected], [level, level], color="#bbbbbb", linewidth=1, zorder=1)
    for k, (label, marker) in enumerate([("p as it comes", "o"), ("p and ṗ projected after each step", "D")]):
        found = [(pair[k], level) for pair, level in zip(pairs, y, strict=True) if pair[k] is not None]
        if found:
            left.scatter(*zip(*found, strict=True), marker=marker, s=20, color=COLOURS[k], label=label, zorder=2)
    left.set_xscale("log")
    left.set_ylim(-1, len(rows))
    left.set_yticks(y, [row.form + (f"  ({row.note})" if row.note else "") for row in rows], fontsize=7.5)
    left.set_xlabel(f"attitude error after {comparison.duration:g} s, RK4 with h = {comparison.step:g} s (rad)")
    left.set_title("One motion, different errors", loc="left", fontsize=10)
    right.set_xlabel("time (s)")
    right.set_ylabel("multiplier λ (J)")
    right.set_title("One motion, different multipliers", loc="left", fontsize=10)
    for k, (names, curve) in enumerate(_same_curves(comparison.multipliers)):
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        label = f"{forms[names[0]].multiplier_text}: {', '.join(names[:2])}{more}"
        right.plot(comparison.reference.t, curve, color=COLOURS[k % len(COLOURS)], label=label)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower left", fontsize=8)
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower right", fontsize=8)
    return figure


def _same_curves(curves: dict[str, np.ndarray]) -> list[tuple[list[str], np.ndarray]]:
    """The curves that are one, with the names of all that share it."""
    size = max((float(np.max(abs(curve))) for curve in curves.values()), default=1.0)
    groups: list[tuple[list[str], np.ndarray]] = []
    for name, curve in curves.items():
        for names, other in groups:
            if np.max(abs(curve - other)) <= 1e-9 * size:
                names.append(name)
                break
        else:
            groups.append(([name], curve))
    return groups


def print_comparison(comparison: Comparison) -> None:
    """The comparison as a table on the terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    body = comparison.body
    loads = [f"{name} {_vector(load)}" for name, load in body.loads._asdict().items() if load is not None]
    title = f"{comparison.duration:g} s of RK4 with h = {comparison.step:g} s"
    table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", title_style="bold")
    for heading in ("form", "λ at start", "predicted", "max |Δλ|", "max |Δp̈|", "error", "projected", "ops"):
        table.add_column(heading, justify="left" if heading == "form" else "right", no_wrap=True)
    for row in comparison.rows:
        numbers = [_short(row.multiplier, 5), _short(row.predicted, 5)]
        numbers += [_short(x, 2) for x in (row.multiplier_error, row.acceleration_difference)]
        numbers += [_short(x, 2) for x in (row.error, row.error_projected)]
        table.add_row(row.form, *numbers, str(row.operations) if not row.note else row.note)
    console = Console(highlight=False)
    console.width = max(WIDTH, console.width if console.is_terminal else 0)
    inertia = body.inertia
    moments = np.diag(inertia) if np.count_nonzero(inertia - np.diag(np.diag(inertia))) == 0 else inertia.ravel()
    console.print(f"Body with inertia {_vector(moments)} kg m², started with ω = {_vector(body.omega)} rad/s", end="")
    console.print(f", {', '.join(loads) if loads else 'no load'}.")
    console.print(table)
    truth = "the closed form" if body.free else "DOP853 at 1e-13"
    console.print(
        "λ: multiplier on the left-hand side, J.  Δλ: against its prediction.  Δp̈: against Newton and Euler, 1/s².\n"
        f"error: angle to {truth} at the end, rad; projected: p and ṗ projected after each step.\n"
        f"ops: operations of one right-hand side, constants folded.  –: the form has none."
    )
    best = min((row for row in comparison.rows if row.error is not None), key=lambda row: row.error or 0.0)
    worst = max(row.acceleration_difference or 0.0 for row in comparison.rows)
    console.print(
        f"All {len(comparison.rows)} forms give one acceleration (to {worst:.1e}); "
        f"the smallest error, {best.error:.1e} rad, is that of {best.form}."
    )


def _short(value: float | None, digits: int) -> str:
    if value is None:
        return "–"
    if digits >= 4 and (value == 0 or abs(value) > 1e-9):
        return f"{value + 0.0:.{digits}g}"
    return f"{value:.{min(digits, 2) - 1}e}"


def _vector(values: Iterable[float]) -> str:
    return "(" + ", ".join(f"{x:g}" for x in values) + ")"
