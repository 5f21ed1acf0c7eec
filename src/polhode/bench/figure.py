"""The report as a picture: how many times slower the peers are, and how times grow with the length of a chain."""

from typing import TYPE_CHECKING, Any

from polhode.bench.quantities import QUANTITIES
from polhode.bench.report import QuantityRace, Report
from polhode.bench.tables import duration, times
from polhode.errors import PolhodeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "Pinocchio": "#0072b2",
    "MuJoCo": "#d55e00",
    "Drake": "#009e73",
    "CasADi": "#cc79a7",
    "CasADi + gcc": "#e69f00",
    "SciPy": "#56b4e9",
    "SymPy": "#999999",
    "polhode": "#000000",
}
LINE = 0.2
"""Inches of one line of a panel."""
FEWEST = 4
"""Lines of the lowest panel."""


def speed_figure(report: Report) -> "Figure":
    """All panels that the report has something for."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D
    except ImportError:
        raise PolhodeError("figures need matplotlib.\n  Install it with: pip install 'polhode[plot]'") from None
    bands = _bands(report)
    heights = [1 + LINE * max(FEWEST, lines) for lines, _ in bands]
    figure = Figure(figsize=(11, 1.2 + sum(heights or [2])), layout="constrained")
    grid = figure.subplots(max(len(bands), 1), 2, squeeze=False, height_ratios=heights or [1])
    for axes, (_, pair) in zip(grid, bands, strict=False):
        for panel, (draw, *given) in zip(axes, pair, strict=True):
            draw(panel, *given)
    if not bands:
        for panel in grid[0]:
            panel.axis("off")
    shown = [who for who in COLOURS if who in _named(report)]
    handles = [Line2D([], [], marker="o", linestyle="", color=COLOURS[who], label=_label(report, who)) for who in shown]
    title = f"polhode {report.versions['polhode']} on {report.machine['cpu']}, {report.date}"
    if report.rows:
        title += "\nbeside the name of a machine: that of the fastest peer"
    for x in report.threads:
        title += (
            f"\n{x.threads} threads on {x.states:,} states, {x.model}, {x.quantity}: {times(x.ratio)} × as fast as one"
        )
    figure.legend(handles=handles, title=title, fontsize=8, frameon=False, loc="outside upper center", ncols=4)
    return figure


def _label(report: Report, who: str) -> str:
    return " + ".join(f"{part} {report.versions.get(part.lower(), '')}" for part in who.split(" + "))


def _named(report: Report) -> set[str]:
    """Everyone who takes part."""
    peers = {row.peer for row in report.rows if row.peer} | {row.peer for row in report.simulations if row.peer}
    ours = {"polhode"} if _chains(report) else set()
    return peers | {p.who for p in report.pendulums} | ours


def _bands(report: Report) -> list[tuple[int, list[Any]]]:
    """The panels, two side by side: how many lines they have, and how each is drawn."""
    found: list[tuple[int, list[Any]]] = []
    for quantity, about in QUANTITIES.items():
        rows = [row for row in report.rows if row.quantity == quantity and row.ratio]
        if rows:
            lines = len({row.model for row in rows})
            pair = [
                (_ratios, [row for row in rows if (row.states > 1) == many], f"{about.title}, {title}")
                for many, title in ((False, "one call"), (True, "batch"))
            ]
            found.append((lines, pair))
    if _chains(report):
        found.append((12, [(_growth, report, quantity) for quantity in ("inverse", "forward")]))
    if report.simulations or report.pendulums:
        lines = max(len(report.simulations), len(report.pendulums))
        found.append((lines, [(_simulations, report), (_pendulums, report)]))
    return found


def _ratios(axes: "Axes", rows: list[QuantityRace], title: str) -> None:
    """One line for each machine, one dot for each peer."""
    models = list(dict.fromkeys(row.model for row in rows))
    for row in rows:
        assert row.peer is not None
        assert row.ratio is not None
        axes.plot([row.ratio], [models.index(row.model)], "o", color=COLOURS.get(row.peer, "black"), markersize=5)
    best = {model: min(row.ratio or 0 for row in rows if row.model == model) for model in models}
    labels = [f"{model}   {times(best[model])}" for model in models]
    axes.set_yticks(range(len(models)), labels, fontsize=7)
    axes.set_ylim(max(len(models), FEWEST) - 0.5, -0.5)
    _ratio_axis(axes, f"{title}: time of the peer / ours")


def _ratio_axis(axes: "Axes", title: str) -> None:
    axes.set_title(title, loc="left", fontsize=8)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.grid(axis="both", linewidth=0.3)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def _chains(report: Report) -> list[QuantityRace]:
    """Races of chains, where there are several lengths."""
    rows = [row for row in report.rows if row.model.startswith("chain-") and row.quantity in ("inverse", "forward")]
    return rows if len({row.model for row in rows}) > 1 else []


def _growth(axes: "Axes", report: Report, quantity: str) -> None:
    """Times of chains over their length: one call, and ours in a batch."""
    rows = [row for row in _chains(report) if row.quantity == quantity]
    lines: dict[tuple[str, bool], dict[int, float]] = {}
    for row in rows:
        lines.setdefault(("polhode", row.states > 1), {})[row.nv] = row.ours.least
        if row.peer and row.theirs:
            lines.setdefault((row.peer, row.states > 1), {})[row.nv] = row.theirs.least
    for (who, many), points in lines.items():
        xs = sorted(points)
        line, ys = "o--" if many else "o-", [points[x] for x in xs]
        axes.plot(xs, ys, line, color=COLOURS.get(who, "black"), markersize=3, linewidth=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    lengths = sorted({row.nv for row in rows})
    axes.set_xticks(lengths, [str(n) for n in lengths])
    axes.set_xticks([], minor=True)
    axes.set_title(f"{quantity} of chains, s per state over links (dashed: batch)", loc="left", fontsize=8)
    axes.grid(linewidth=0.3)
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def _simulations(axes: "Axes", report: Report) -> None:
    """One bar for each race over a motion."""
    rows = [row for row in report.simulations if row.ratio]
    for line, row in enumerate(rows):
        assert row.ratio is not None
        axes.barh(line, row.ratio - 1, left=1, color=COLOURS.get(row.peer or "", "black"), height=0.7)
        axes.text(max(row.ratio, 1) * 1.1, line, times(row.ratio), va="center", fontsize=7)
    labels = [f"{row.title}\n{row.peer} {row.call} / {row.timed}" for row in rows]
    axes.set_yticks(range(len(rows)), labels, fontsize=5.5)
    axes.set_ylim(max(len(rows), FEWEST) - 0.5, -0.5)
    _ratio_axis(axes, "whole motions: time of the peer / ours")
    axes.set_xlim(right=4 * max((row.ratio or 1 for row in rows), default=10))


def _pendulums(axes: "Axes", report: Report) -> None:
    """Compile times of pendulums."""
    for line, row in enumerate(report.pendulums):
        axes.barh(line, row.least, color=COLOURS.get(row.who, "black"), height=0.7)
        axes.text(row.least, line, f" {duration(row.least)}", va="center", fontsize=7)
    axes.set_yticks(range(len(report.pendulums)), [f"{p.who}, {p.links} links" for p in report.pendulums], fontsize=7)
    axes.set_ylim(max(len(report.pendulums), FEWEST) - 0.5, -0.5)
    axes.set_title("planar pendulums: s from model to first accelerations, cold", loc="left", fontsize=8)
    axes.tick_params(axis="x", labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
