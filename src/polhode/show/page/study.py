"""A study as one page: a single HTML file with fan charts, measures and failures, that opens anywhere, offline."""

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.result.atomic_file import atomic_write
from polhode.show.page.chart import SvgChart, chart_card
from polhode.show.page.document import document
from polhode.show.page.sections import badge, number

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

MOST = 24
"""The most charts of one kind."""
MEANINGS = {
    "unchecked": "the error of the motion was not estimated",
    "good": "the estimated error is within its threshold at every sample",
    "loose": "within 100 times that",
    "failed": "above, or the run broke off",
}
"""The verdicts of runs."""
SURE = 1.959963984540054
"""Standard errors to each side of a mean that hold 95 %, as ± does on the command line."""
FEW = 12
"""The most runs listed for one reason of failure, or as accompanied."""


def write_study_report(summary: "Dataset", path: Path | str, *, force: bool = True) -> Path:
    """Write the page of a study's summary and return where it is."""
    place = Path(path)
    with atomic_write(place, force) as sink:
        sink.write(study_page(summary).encode())
    return place


def study_page(summary: "Dataset") -> str:
    """The page as text."""
    title = str(summary.attrs.get("title", "study"))
    body = [_header(summary, title), "<main>", _fans(summary), _measures(summary), _histograms(summary)]
    body.append(_convergence(summary))
    body += [_verdicts(summary), _failures(summary), _provenance(summary), "</main>"]
    return document(title, body, ("page.css", "study.css"))


def _header(summary: "Dataset", title: str) -> str:
    attrs = summary.attrs
    low, high = (100 * max(float(attrs[name]), 0.0) for name in ("failure_low", "failure_high"))
    low = low if low > 1e-9 else 0.0  # what rounding leaves
    failed = f"{100 * float(attrs['failure_fraction']):.3g} % failed (95 %: {low:.3g} to {high:.3g} %)"
    done, runs = int(attrs["runs_done"]), int(attrs.get("runs", attrs["runs_done"]))
    count = (
        f"<b>{done:,}</b> runs" if done >= runs else f"<b>{done:,}</b> of {runs:,} runs; {runs - done:,} are missing"
    )
    single = [f"followed one by one: {escape(str(attrs['single_runs']))}"] if "single_runs" in attrs else []
    facts = (f"model <b>{escape(str(attrs.get('model_name', '')))}</b>", count, failed,
             f"seed {escape(str(attrs.get('seed', '')))}",
             *single)  # fmt: skip
    items = "".join(f"<li>{fact}</li>" for fact in facts)
    return f'<header><p class="kicker">Study</p><h1>{escape(title)}</h1><ul class="facts">{items}</ul></header>'


def _fans(summary: "Dataset") -> str:
    """A fan for every coordinate, velocity and output over time."""
    found, units = [], _units(summary)
    for name in ("q", "v", *summary.attrs.get("outputs", [])):
        if f"{name}_quantile" not in summary:
            continue
        whole = {what: summary[f"{name}_{what}"] for what in ("quantile", "mean", "low", "high")}
        inner = [axis for axis in whole["mean"].dims if axis != "time"]
        labels = [str(x) for x in summary[inner[0]].values] if inner else [""]
        for k, label in enumerate(labels):
            part = {what: x.isel({inner[0]: k}) if inner else x for what, x in whole.items()}
            own = units.get(name, "")
            unit = own if isinstance(own, str) else own[k] if k < len(own) else ""
            title = _titled(f"{name}, {label}" if label else name, unit)
            found.append(chart_card(title, _fan(summary["time"].values, part)))
    if not found:
        return ""
    note = "Median, the middle half and the middle nine tenths of the runs; dashed: mean; dotted: extremes."
    return _section("Over time", note, found)


def _units(summary: "Dataset") -> dict[str, Any]:
    """Units of q and v, in their order, and of measures by name, as the study tells them; times are in seconds."""
    return json.loads(str(summary.attrs.get("units") or "{}")) | {"end_time": "s"}


def _titled(text: str, unit: str) -> str:
    """A name and its unit."""
    return f"{text} [{unit}]" if unit else text


def _histograms(summary: "Dataset") -> str:
    """How the runs are spread, of each measure."""
    found, units = [], _units(summary)
    for name in summary.attrs.get("measures", []):
        counts = np.asarray(summary[f"{name}_histogram"].values) if f"{name}_histogram" in summary else np.zeros(0)
        low, high, mean = (float(summary[f"{name}_{x}"]) for x in ("low", "high", "mean"))
        if counts.sum() < 2:
            continue
        edges = np.linspace(low, high, len(counts) + 1)
        view = SvgChart(np.array([low, high]), np.array([0.0, 1.05 * counts.max()]))
        bars = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        drawn = [view.bar(left, right, count, "narrow") for left, right, count in bars if count]
        drawn.append(view.upright(mean, "mean"))
        title = f"{_titled(name, units.get(name, ''))}, of {int(counts.sum()):,} runs"
        found.append(chart_card(title, view.svg(drawn, units.get(name) or name)))
    note = "Runs in each of equal parts between the least and the most; dashed: the mean."
    return _section("How measures are spread", note, found)


def _fan(time: np.ndarray, part: "dict[str, DataArray]") -> str:
    quantiles, mean, low, high = (np.asarray(part[name].values) for name in ("quantile", "mean", "low", "high"))
    levels = [float(x) for x in part["quantile"]["quantile"].values]
    at = dict(zip(levels, quantiles, strict=True))
    view = SvgChart(time, np.concatenate([quantiles.ravel(), low, high]))
    pairs = [(a, b) for a, b in zip(levels, reversed(levels), strict=True) if a < b]
    bands = [view.band(at[a], at[b], "wide" if k == 0 else "narrow") for k, (a, b) in enumerate(pairs)]
    middle = [view.line(at[0.5], "middle")] if 0.5 in at else []
    lines = [view.line(low, "extreme"), view.line(high, "extreme"), view.line(mean, "mean")]
    return view.svg([*bands, *lines, *middle], "time, s")


def _convergence(summary: "Dataset") -> str:
    found = []
    for name in summary.attrs.get("measures", []):
        mean, error = (np.asarray(summary[f"{name}_{x}"].values) for x in ("so_far", "so_far_error"))
        runs = np.log10(summary["so_far"].values.astype(float))
        good = np.isfinite(error) & np.isfinite(mean)
        if good.sum() < 2:
            continue
        runs, mean, error = runs[good], mean[good], error[good]
        sure = SURE * error
        view = SvgChart(runs, np.concatenate([mean - sure, mean + sure]))
        drawn = [view.band(mean - sure, mean + sure, "wide"), view.line(mean, "middle")]
        title = _titled(f"mean of {name}", _units(summary).get(name, ""))
        found.append(chart_card(title, view.svg(drawn, "runs", powers=True)))
    note = "The mean of the first so many runs, and ±, which holds the mean of all with a probability of 95 %."
    return _section("Convergence", note, found)


def _measures(summary: "Dataset") -> str:
    names = [*summary.attrs.get("measures", []), *(x for x in ("end_time", "energy_drift") if f"{x}_mean" in summary)]
    if not names:
        return ""
    levels, units = [float(x) for x in summary["quantile"].values], _units(summary)
    heads = ["", "unit", "runs", "mean", "± (95 %)", "deviation", "least", *(f"{100 * x:g} %" for x in levels), "most"]
    rows = []
    for name in names:
        one = [summary[f"{name}_{x}"].item() for x in ("count", "mean", "error", "deviation", "low")]
        one[2] = SURE * one[2]
        values = [*one, *summary[f"{name}_quantile"].values.tolist(), summary[f"{name}_high"].item()]
        texts = [escape(units.get(name, "")), f"{int(values[0]):,}", *map(number, values[1:])]
        cells = "".join(f'<td class="number">{x}</td>' for x in texts)
        rows.append(f"<tr><th>{escape(name)}</th>{cells}</tr>")
    head = "".join(f'<th class="number">{escape(x)}</th>' for x in heads)
    table = f'<div class="card quality" style="overflow:auto"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'  # noqa: E501
    return f"<h2>Measures</h2>{table}"


def _verdicts(summary: "Dataset") -> str:
    """How many runs are good, and of how many the error was estimated."""
    counts = json.loads(str(summary.attrs.get("verdicts") or "{}"))
    if not counts:
        return ""
    known = int(summary.attrs.get("runs_accompanied", 0))
    worst = f"; the largest is {number(summary['error_estimate_high'].item())}" if known else ""
    note = f"The errors of {known:,} runs were estimated, by companion runs of other steps{worst}."
    rows = "".join(
        f'<tr><th>{badge(name, small=True)}<small class="note">{escape(MEANINGS.get(name, ""))}</small></th>'
        f'<td class="number">{count:,}</td></tr>'
        for name, count in counts.items()
    )
    how = json.loads(str(summary.attrs.get("accompanied") or "{}"))
    rows += "".join(
        f'<tr><th>{escape(one["told"])}<small class="note">{_listed(one)}</small></th>'
        f'<td class="number">{one["runs"]:,}</td></tr>'
        for one in how.values()
    )
    table = f'<div class="card quality"><table><tbody>{rows}</tbody></table></div>'
    return f'<h2>How good the runs are</h2><p class="note">{note}</p>{table}'


def _listed(one: dict) -> str:
    """The numbers of the first of some runs."""
    more = ", …" if one["runs"] > FEW else ""
    return f"run {', '.join(str(int(run)) for run in one['first'][:FEW])}{more}"


def _failures(summary: "Dataset") -> str:
    counts = json.loads(summary.attrs["status"])
    rows = "".join(f'<tr><th>{escape(k)}</th><td class="number">{v:,}</td></tr>' for k, v in counts.items())
    groups: dict[str, list[str]] = {}
    for run, why in json.loads(summary.attrs.get("reasons", "{}")).items():
        groups.setdefault(why, []).append(run)
    listed = "".join(
        f'<tr><th>{escape(why)}<small class="note">run {escape(", ".join(runs[:FEW]))}'
        f'{", …" if len(runs) > FEW else ""}</small></th><td class="number">{len(runs):,}</td></tr>'
        for why, runs in list(groups.items())[:MOST]
    )
    more = f'<p class="note">and {len(groups) - MOST} more reasons</p>' if len(groups) > MOST else ""
    table = f'<div class="card quality"><table><tbody>{rows}{listed}</tbody></table>{more}</div>'
    return f"<h2>How runs ended</h2>{table}"


def _provenance(summary: "Dataset") -> str:
    text = str(summary.attrs.get("study_text") or "") or json.dumps(
        json.loads(summary.attrs.get("study", "{}")), indent=1
    )
    return f'<h2>The study</h2><pre class="card">{escape(text)}</pre>'


def _section(title: str, note: str, figures: list[str]) -> str:
    if not figures:
        return ""
    cut = f" {len(figures) - MOST} more are not drawn." if len(figures) > MOST else ""
    return f'<h2>{title}</h2><p class="note">{note}{cut}</p><div class="charts">{"".join(figures[:MOST])}</div>'
