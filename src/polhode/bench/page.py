"""The report as a table, as JSON and as a picture."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polhode.bench.first_call import SYMPY_LINKS
from polhode.bench.quantities import QUANTITIES
from polhode.bench.speed import FirstCall, Report, Row
from polhode.bench.timing import Timing
from polhode.errors import InputError, PolhodeError, message

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {"Pinocchio": "#0072b2", "MuJoCo": "#d55e00"}


def report_json(report: Report) -> str:
    """The report as JSON text."""
    return json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n"


def report_from_json(text: str) -> Report:
    """The report of a JSON text."""
    data = json.loads(text)
    rows = tuple(
        Row(**{**row, **{n: Timing(**row[n]) for n in ("ours", "out", "theirs") if row[n]}}) for row in data["rows"]
    )
    starts = tuple(FirstCall(**start) for start in data["first_calls"])
    return Report(**{**data, "rows": rows, "first_calls": starts, "left_out": tuple(data["left_out"])})


def check_output(folder: Path, overwrite: bool = False) -> tuple[Path, Path]:
    """The files of a report in a folder; refused, before any work is done, where they cannot be written."""
    where = f"bench, {folder}"
    if not folder.is_dir():
        raise InputError(message(where, "no such folder", str(folder), "an existing folder"))
    files = folder / "speed.json", folder / "speed.png"
    for file in files:
        if file.exists() and not overwrite:
            fix = "Give another folder, or allow them to be overwritten (--overwrite)."
            raise InputError(message(where, "results are there already", file.name, "a folder without", fix))
    return files


def save_report(report: Report, folder: Path, overwrite: bool = False) -> tuple[Path, Path]:
    """Write speed.json and speed.png into a folder."""
    text, picture = check_output(folder, overwrite)
    figure = speed_figure(report)
    text.write_text(report_json(report), encoding="utf-8")
    figure.savefig(picture, dpi=130, metadata={"Software": f"polhode {report.versions['polhode']}"})
    return text, picture


def print_report(report: Report) -> None:
    """The report as tables on the terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 130
    console.print(", ".join(f"{name} {value}" for name, value in report.machine.items()))
    console.print(", ".join(f"{name} {value}" for name, value in report.versions.items()) + f"; {report.date}")
    style: dict[str, Any] = {"box": box.SIMPLE_HEAD, "pad_edge": False, "title_justify": "left", "title_style": "bold"}
    table = Table(title="Processor time per state: one thread, taking turns, least of all samples", **style)
    for heading in ("model (nv)", "quantity", "states", "ours", "out=", "peer", "theirs", "ratio", "out="):
        left = heading in ("model (nv)", "quantity", "peer")
        table.add_column(heading, justify="left" if left else "right", no_wrap=heading != "peer")
    for row in report.rows:
        about = f"{row.model} ({row.nv})", QUANTITIES[row.quantity].title, f"{row.states:,}"
        times = duration(row.ours.least), duration(row.out.least)
        if row.theirs and row.ratio and row.ratio_out:
            ratios = f"{_times(row.ratio)} ×", f"{_times(row.ratio_out)} ×"
            table.add_row(*about, *times, f"{row.peer} {row.call}", duration(row.theirs.least), *ratios)
        else:
            table.add_row(*about, *times, "–", "–", "–", "–")
    console.print(table)
    if report.first_calls:
        table = Table(title="To the first result, in a new process: compile and call", **style)
        for heading in ("model", "nv", "quantity", "cold", "from cache"):
            table.add_column(heading, justify="left" if heading in ("model", "quantity") else "right", no_wrap=True)
        for start in report.first_calls:
            cached = "–" if start.cached is None else duration(start.cached)
            title = QUANTITIES[start.quantity].title
            table.add_row(start.model, str(start.nv), title, duration(start.cold), cached)
        console.print(table)
    if report.sympy is not None:
        console.print(f"SymPy, pendulum of {SYMPY_LINKS} links on a cart, Kane and lambdify: {duration(report.sympy)}")
    console.print("ours: a fresh result; out=: into a given array.  ratio: their least time over ours.")
    worst = max((row.difference for row in report.rows if row.difference is not None), default=0.0)
    console.print(f"All results agreed before timing: largest relative difference {worst:.1e}.")
    for what in report.left_out:
        console.print(f"Left out: {what}.")


def report_markdown(report: Report) -> str:
    """The ratios as a Markdown table, machines down, calls across; then the times to the first result."""
    peers = dict.fromkeys((row.quantity, row.states > 1, row.peer) for row in report.rows if row.peer)
    models = dict.fromkeys((row.model, row.nv) for row in report.rows)
    heads = [f"{QUANTITIES[q].title}, {'batch' if many else 'one'}, {peer}" for q, many, peer in peers]
    lines = [_line("call and peer", *(f"{model} ({nv})" for model, nv in models)), _line(*["---"] * (1 + len(models)))]
    for head, key in zip(heads, peers, strict=True):
        found = {row.model: row.ratio for row in report.rows if (row.quantity, row.states > 1, row.peer) == key}
        lines.append(_line(head, *(_times(found[m] or 0.0) if found.get(m) else "–" for m, _ in models)))
    lines += ["", _line("first result", "quantity", "cold", "from cache"), _line(*["---"] * 4)]
    for start in report.first_calls:
        cached = "–" if start.cached is None else duration(start.cached)
        lines.append(_line(start.model, QUANTITIES[start.quantity].title, duration(start.cold), cached))
    return "\n".join(lines) + "\n"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def speed_figure(report: Report) -> "Figure":
    """How many times faster: one bar for each row that has a peer, on a logarithmic axis."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch
    except ImportError:
        raise PolhodeError("figures need matplotlib.\n  Install it with: pip install 'polhode[plot]'") from None
    rows = [row for row in report.rows if row.ratio]
    figure = Figure(figsize=(9, 1.4 + 0.17 * max(len(rows), 6)), layout="constrained")
    axes = figure.subplots()
    y = range(len(rows))[::-1]
    axes.barh(y, [(row.ratio or 1) - 1 for row in rows], left=1, color=[COLOURS[row.peer or ""] for row in rows])
    for level, row in zip(y, rows, strict=True):
        axes.text(max(row.ratio or 1, 1) * 1.05, level, _times(row.ratio or 1), va="center", fontsize=6.5)
    labels = [f"{row.model}, {QUANTITIES[row.quantity].title}, {_mode(row)}: {row.call}" for row in rows]
    axes.set_yticks(list(y), labels, fontsize=6.5)
    axes.set_ylim(-1, len(rows))
    axes.set_xscale("log")
    axes.set_xlim(right=2 * max(row.ratio or 1 for row in rows) if rows else 10)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(
        "processor time of the peer / that of polhode (one thread, taking turns, least of all samples)", fontsize=8
    )
    title = f"polhode {report.versions['polhode']} on {report.machine['cpu']}, {report.date}"
    axes.set_title(title, loc="left", fontsize=9)
    shown = [name for name in COLOURS if any(row.peer == name for row in rows)]
    handles = [Patch(color=COLOURS[name], label=f"{name} {report.versions[name.lower()]}") for name in shown]
    if handles:
        axes.legend(handles=handles, fontsize=8, frameon=False, loc="lower right")
    return figure


def duration(seconds: float) -> str:
    """Three figures and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2g}"


def _mode(row: Row) -> str:
    return "one call" if row.states == 1 else f"batch of {row.states:,}"
