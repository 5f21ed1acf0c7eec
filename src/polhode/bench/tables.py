"""The report as tables of text: each a title, headings and rows of cells; on the terminal, and in Markdown."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from polhode.bench.first_run import STAGES
from polhode.bench.quantities import QUANTITIES
from polhode.bench.report import QuantityRace, Report
from polhode.bench.simulation import Simulation

WIDTH = 160
"""Characters of a line where there is no terminal."""


class TextTable(NamedTuple):
    """Text in rows and columns; the first `left` columns are words, the others numbers."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    left: int


def print_report(report: Report) -> None:
    """The report as tables on the terminal."""
    console = wide_console()
    for line in provenance(report):
        console.print(line)
    for part in (times_table(report), *other_tables(report)):
        if part.rows:
            print_table(console, part)
    for line in notes(report):
        console.print(line)


def wide_console() -> Any:
    """Where tables are printed, in lines that are long enough: a narrow terminal breaks them, and loses nothing."""
    from rich.console import Console

    console = Console(highlight=False)
    console.width = max(WIDTH, console.width if console.is_terminal else 0)
    return console


def print_table(console: Any, part: TextTable) -> None:
    """A table on the terminal."""
    from rich import box, table

    shown = table.Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for k, heading in enumerate(part.headings):
        shown.add_column(heading, justify="left" if k < part.left else "right")
    for cells in part.rows:
        shown.add_row(*cells)
    console.print(f"\n{part.title}", style="bold")
    console.print(shown)


def report_markdown(report: Report) -> str:
    """The report in Markdown: ratios, machines across and calls down; all else; and the times."""
    tables = [part for part in (ratios_table(report), *other_tables(report), times_table(report)) if part.rows]
    parts = ["# Speed, measured", *provenance(report)]
    parts += [f"## {part.title}\n\n{markdown(part)}" for part in tables]
    return "\n\n".join((*parts, "\n".join(f"- {line}" for line in notes(report)))) + "\n"


def provenance(report: Report) -> Iterator[str]:
    """Where, with what and when."""
    yield ", ".join(f"{name} {value}" for name, value in report.machine.items())
    yield ", ".join(f"{name} {value}" for name, value in report.versions.items()) + f"; {report.date}"


def markdown(part: TextTable) -> str:
    """A table in Markdown."""
    lines = [part.headings, ["---"] * len(part.headings), *part.rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def times_table(report: Report) -> TextTable:
    """Times of every quantity of every machine, ours and those of all peers, with their ratios."""
    peers = list(dict.fromkeys(row.peer for row in report.rows if row.peer))
    races: dict[tuple, list[QuantityRace]] = {}
    for row in report.rows:
        races.setdefault((row.model, row.nv, row.quantity, row.states), []).append(row)
    lines = []
    for (model, nv, quantity, states), rows in races.items():
        line = [f"{model} ({nv})", QUANTITIES[quantity].title, f"{states:,}"]
        line += [duration(rows[0].ours.least), duration(rows[0].out.least)]
        found = {row.peer: f"{duration(row.theirs.least)}  {times(row.ratio)} ×" for row in rows if row.theirs}
        lines.append(line + [found.get(peer, "–") for peer in peers])
    title = "Processor time per state, and how many times ours (fresh result): one thread, taking turns, least sample"
    return TextTable(title, ["model (nv)", "quantity", "states", "ours", "out=", *peers], lines, 2)


def ratios_table(report: Report) -> TextTable:
    """How many times our time with a fresh result the peers take: machines across, calls down."""
    calls = dict.fromkeys((row.quantity, row.states > 1, row.peer) for row in report.rows if row.peer)
    models = dict.fromkeys((row.model, row.nv) for row in report.rows)
    rows = []
    for key in sorted(calls, key=lambda call: (list(QUANTITIES).index(call[0]), call[1])):
        found = {row.model: row.ratio for row in report.rows if (row.quantity, row.states > 1, row.peer) == key}
        head = f"{QUANTITIES[key[0]].title}, {'batch' if key[1] else 'one'}, {key[2]}"
        rows.append([head, *(times(found.get(model)) for model, _ in models)])
    headings = ["call and peer", *(f"{model} ({nv})" for model, nv in models)]
    return TextTable("Least processor time of the peer over ours", headings, rows, 1)


def other_tables(report: Report) -> Iterator[TextTable]:
    """The tables of everything but single calls: compile times, threads, motions, ensembles, loops."""
    yield limits_table(report)
    yield first_table(report)
    headings = ["machine", "from model to first accelerations", "median", "processes"]
    pendulums = [
        [f"{p.who}, {p.links} links", duration(p.least), duration(p.median), str(p.samples)] for p in report.pendulums
    ]
    yield TextTable("Planar pendulums, cold, in new processes that take turns (wall clock)", headings, pendulums, 1)
    headings = ["batch", "one thread", "threads", "ratio", "of medians"]
    threads = [
        [f"{x.model}, {x.quantity}, {x.states:,} states, out=", duration(x.one.least),
         f"{x.threads}: {duration(x.several.least)}", f"{times(x.ratio)} ×", f"{times(x.ratio_median)} ×"]
        for x in report.threads
    ]  # fmt: skip
    yield TextTable("Threads, time per state (wall clock)", headings, threads, 1)
    yield simulation_table(report)
    yield ensemble_table(report)
    yield loop_table(report)
    yield growth_table(report)
    yield calls_table(report)
    yield first_runs_table(report)


def limits_table(report: Report) -> TextTable:
    """Batches of robots beside what their arithmetic alone would take."""
    headings = ["model (nv)", "quantity", "products", "other sums", "sign changes", "issue limit", "ours", "part of it"]
    rows = [
        [f"{x.model} ({x.nv})", QUANTITIES[x.quantity].title, str(x.multiplications), str(x.additions),
         str(x.sign_changes), duration(x.limit), duration(x.ours), f"{x.limit / x.ours:.0%}"]
        for x in report.limits
    ]  # fmt: skip
    title = "Operations, and time per state of a batch (out=) beside the processor's issue limit for them, measured"
    return TextTable(title, headings, rows, 2)


def calls_table(report: Report) -> TextTable:
    """Calls that were made before."""
    headings = ["machine", "call", "against", "ours", "other", "ratio"]
    rows = [
        [x.model, x.call, x.other_call or "–", duration(x.ours.least)]
        + ([duration(x.other.least), f"{times(x.ratio)} ×"] if x.other else ["–", "–"])
        for x in report.calls
    ]
    return TextTable("Whole calls, in a process that has made them before (processor time)", headings, rows, 3)


def first_runs_table(report: Report) -> TextTable:
    """First runs, and where the time to make kernels goes."""
    headings = ["machine", "cold", "from the cache", "import xarray", *(f"{name}, cold" for name in STAGES)]
    rows = [
        [x.model, duration(x.cold), duration(x.cached), duration(x.xarray), *(duration(x.stages[s]) for s in STAGES)]
        for x in report.first_runs
    ]
    title = "The first ph.simulate in a new process, above import xarray and with the package's bytecode"
    return TextTable(f"{title}, and where its kernels' time goes (wall clock)", headings, rows, 1)


def first_table(report: Report) -> TextTable:
    """Compile times, cold and from the cache: machines down, quantities across."""
    models = dict.fromkeys((start.model, start.nv) for start in report.first_calls)
    quantities = dict.fromkeys(start.quantity for start in report.first_calls)
    found = {(start.model, start.quantity): start for start in report.first_calls}

    def cell(model: str, quantity: str) -> str:
        start = found.get((model, quantity))
        if start is None:
            return "–"
        return f"{duration(start.cold)}, {'–' if start.cached is None else duration(start.cached)}"

    rows = [[f"{model} ({nv})", *(cell(model, quantity) for quantity in quantities)] for model, nv in models]
    title = "To the first result, compile and call, in a new process: cold, then from cache (wall clock)"
    return TextTable(title, ["model (nv)", *(QUANTITIES[quantity].title for quantity in quantities)], rows, 1)


TIMED = {
    "engine": "compiled run alone",
    "unverified": "whole ph.simulate(verify=False)",
    "simulate": "whole ph.simulate, with its companion",
}


def simulation_table(report: Report) -> TextTable:
    """Whole motions."""
    headings = ["motion", "ours is the", "peer", "ours", "theirs", "ratio", "steps", "theirs", "difference"]
    rows = [
        [s.title, TIMED[s.timed], f"{s.peer} {s.call}" if s.peer else "–", duration(s.ours.least), *_rival(s)]
        for s in report.simulations
    ]
    title = (
        "Whole motions, processor time; of equal steps our whole calls keep 101 samples, else the last state is kept"
    )
    return TextTable(title, headings, rows, 3)


def loop_table(report: Report) -> TextTable:
    """Closed loops at equal accuracy."""
    headings = ["motion", "ours is the", "peer", "ours", "theirs", "ratio", "our error", "theirs", "tolerance", "step"]
    rows = [
        [x.title, TIMED[x.timed], x.peer, duration(x.ours.least), duration(x.theirs.least), f"{times(x.ratio)} ×",
         f"{x.error:.1e}", f"{x.their_error:.1e}", f"{x.tolerance:.0e}", duration(x.step)]
        for x in report.loops if x.peer and x.theirs and x.step
    ]  # fmt: skip
    return TextTable("Closed loops at equal accuracy, processor time, the last state kept", headings, rows, 3)


def growth_table(report: Report) -> TextTable:
    """Steps of closed chains by their length."""
    headings = ["closed chain", "one RK4 step", "per link"]
    rows = [[f"{x.links} links", duration(x.ours.least), duration(x.ours.least / x.links)] for x in report.growth]
    return TextTable("A step of a chain with one loop, projection included", headings, rows, 1)


def _rival(s: Simulation) -> list[str]:
    if s.theirs is None or s.difference is None:
        return ["–", "–", str(s.steps), "–", "–"]
    return [duration(s.theirs.least), f"{times(s.ratio)} ×", str(s.steps), str(s.their_steps), f"{s.difference:.1e}"]


def ensemble_table(report: Report) -> TextTable:
    """Many motions at once."""
    headings = ["runs", "ours, one core", "rival", "theirs", "ratio", "of medians", "difference"]
    rows = [
        [f"{x.model}, {x.runs} runs of {x.steps} steps, RK4", duration(x.ours.least), x.rival,
         duration(x.theirs.least), f"{times(x.ratio)} ×", f"{times(x.ratio_median)} ×", f"{x.difference:.1e}"]
        for x in report.ensembles
    ]  # fmt: skip
    return TextTable("Many motions in lanes, time per step of one run (threads: wall clock)", headings, rows, 3)


def notes(report: Report) -> Iterator[str]:
    """What a reader should know."""
    if report.rows:
        yield "ours: a fresh result; out=: into a given array.  ×: their least time over ours with a fresh result."
        calls: dict[str, dict[str, None]] = {}
        for row in report.rows:
            if row.peer and row.call:
                calls.setdefault(row.peer, {})[row.call] = None
        for peer, names in calls.items():
            yield f"{peer}: {'; '.join(names)}."
    differences = [row.difference for row in report.rows] + [row.difference for row in report.simulations]
    differences += [row.difference for row in report.ensembles]
    worst = max((x for x in differences if x is not None), default=0.0)
    yield f"All results agreed before timing: largest relative difference {worst:.1e}."
    for what in report.left_out:
        yield f"Left out: {what}."


def duration(seconds: float) -> str:
    """Three figures and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def times(ratio: float | None) -> str:
    """A ratio; "–" for none."""
    if ratio is None:
        return "–"
    digits: Callable[[float], str] = "{:.0f}".format if ratio >= 100 else "{:.1f}".format
    return digits(ratio) if ratio >= 1 else f"{ratio:.2g}"
