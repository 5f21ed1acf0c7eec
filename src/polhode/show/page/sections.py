"""The parts of a report page as HTML; whatever comes from a model or a run is escaped here."""

import json
import math
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.model import Model, plain
from polhode.result.verdict import said_beside
from polhode.show.model_text import axis_text
from polhode.show.packing import COLOURS, Plot
from polhode.show.run_values import parting, times, values
from polhode.show.scene.beams import PLAIN, beam_records, drawn, node_names
from polhode.show.section_values import beam_of

if TYPE_CHECKING:
    from xarray import Dataset

VERDICTS = {"good": "Good", "unchecked": "Unchecked", "loose": "Loose", "failed": "Failed"}
MEANINGS = {
    "good": "The error of the motion was estimated at every sample, and is within its threshold.",
    "unchecked": "The error of the motion was not estimated, or not at every sample: how good it is, is not known.",
    "loose": "The run ended, but not every check is within its threshold.",
    "failed": "This run failed: do not rely on these numbers.",
    "none": "This run was not graded.",
}
PARTLY = "This run failed: do not rely on these numbers after t = {}."
"""What a verdict of failed means for a run that is good at first."""
ENDINGS = {
    "failed": "The run failed",
    "stopped": "The run stopped, as it was told to,",
    "interrupted": "The run was interrupted",
}
"""What to say of a run that did not come to its end, by its status."""
MARKS = {
    "good": '<path d="M4.5 10.5l3.6 3.6 7.4-8"/>',
    "unchecked": '<path d="M7 7.6a3.1 3.1 0 1 1 4.4 2.8c-1 .5-1.4 1-1.4 2.1m0 3.2v.1"/>',
    "loose": '<path d="M3.5 11.5c2.2-4 4.3-4 6.5-1.5s4.3 2.5 6.5-1.5"/>',
    "failed": '<path d="M5.5 5.5l9 9m0-9l-9 9"/>',
    "none": '<path d="M5 10h10"/>',
}
SECTIONS = {"balance": "Energy and momentum", "joints": "Joints", "constraints": "Constraints", "run": "Integration"}
PROVENANCE = {
    "method": "Method",
    "tolerance": "Tolerance",
    "step": "Step",
    "norm_policy": "Norm policy",
    "seed": "Seed",
    "status": "Status",
    "reason": "Reason",
    "polhode_version": "Polhode",
    "python_version": "Python",
    "numpy_version": "NumPy",
    "machine": "Machine",
    "created": "Created",
}
UNITS = {"step": " s"}
NUMERIC = ("step", "tolerance")
LISTED_EVENTS = 50
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


# numbers and small pieces


def number(value: Any, digits: int = 3) -> str:
    """A number as people write it: 1.2×10⁻⁹."""
    try:
        x = float(value)
    except (TypeError, ValueError):
        return escape(str(value))
    if not math.isfinite(x):
        return "not a number" if math.isnan(x) else "∞" if x > 0 else "−∞"
    if x == 0 or 1e-3 <= abs(x) < 1e5:
        text = f"{x:.{digits + 1}g}"
        return (f"{x:.0f}" if "e" in text else text).replace("-", "−")
    mantissa, exponent = f"{x:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".").replace("-", "−")
    power = "10" + str(int(exponent)).translate(SUPERSCRIPTS)
    return power if mantissa == "1" else f"{mantissa}×{power}"


def badge(verdict: str, small: bool = False) -> str:
    """The mark and the word of a verdict."""
    kind = verdict if verdict in VERDICTS else "none"
    text = VERDICTS.get(verdict, escape(verdict) or "Not graded")
    stroke = 'fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"'
    mark = f'<svg viewBox="0 0 20 20" aria-hidden="true" {stroke}>{MARKS[kind]}</svg>'
    return f'<span class="badge {kind}{" small" if small else ""}">{mark}{text}</span>'


class Quality(NamedTuple):
    """The grade of a run: its verdict ("" if it has none), its checks, how their thresholds came about."""

    verdict: str
    checks: list[dict[str, Any]]
    basis: str


def quality(dataset: "Dataset") -> Quality:
    """The grade as the run's attributes hold it; a failed run without one has failed."""
    attrs = dataset.attrs
    verdict = str(attrs.get("verdict") or ("failed" if _status(dataset) == "failed" else "")).lower()
    try:
        rows = json.loads(str(attrs.get("grade") or "[]"))
    except ValueError:
        rows = []
    checks = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return Quality(verdict, checks, str(attrs.get("grade_basis") or ""))


def _status(dataset: "Dataset") -> str:
    return str(dataset.attrs.get("status", "")).lower()


def _freedoms(dataset: "Dataset", model: Model) -> int:
    """Velocities, less what constraints take; at singular configurations there are more, so most of the time."""
    if "degrees_of_freedom" not in dataset or not dataset.sizes["time"]:
        return model.joint_velocities
    return int(np.median(dataset["degrees_of_freedom"].values))


def _count(n: int, one: str, many: str) -> str:
    return f"<b>{n:,}</b> {one if n == 1 else many}".replace(",", "\u202f")


# the page, from the top


def header(dataset: "Dataset", model: Model, name: str, time: np.ndarray) -> str:
    """Title, verdict, the run in one line, and what went wrong.

    time  the instants at which the state holds numbers
    """
    attrs = dataset.attrs
    facts = [f"<b>{number(time[-1] - time[0], 4)} s</b> of motion"] if len(time) > 1 else []
    facts.append(_count(int(attrs.get("samples") or dataset.sizes.get("time", 0)), "sample", "samples"))
    facts.append(_count(len(model.bodies), "body", "bodies"))
    facts.append(_count(_freedoms(dataset, model), "degree of freedom", "degrees of freedom"))
    if attrs.get("method"):
        facts.append(f"<b>{escape(str(attrs['method']))}</b>")
    facts += [f"{key} <b>{_attribute(key, attrs[key])}</b>" for key in ("tolerance", "step") if _given(attrs.get(key))]
    facts += [f"<b>{escape(until.words)}</b>"] if (until := parting(dataset)) else []
    listed = "".join(f"<li>{fact}</li>" for fact in facts)
    made = f", {_attribute('created', attrs['created'])}" if attrs.get("created") else ""
    return (
        f'<header><p class="kicker"><b>Polhode</b> run report{made}</p>'
        f'<div class="top"><h1>{escape(name)}</h1>{badge(quality(dataset).verdict)}</div>'
        f'<ul class="facts">{listed}</ul>{_alert(dataset, time)}</header>'
    )


def _attribute(key: str, value: Any) -> str:
    """An attribute of a run as it is printed."""
    if key in NUMERIC and _is_number(value):
        return number(value) + UNITS.get(key, "")
    text = str(value)
    if key == "created":  # ISO 8601
        text = text.replace("T", " ").replace("+00:00", " UTC")
    return escape(text)


def _given(value: Any) -> bool:
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "none", "nan")):
        return False
    return not (_is_number(value) and math.isnan(float(value)))


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _alert(dataset: "Dataset", time: np.ndarray) -> str:
    """What happened, where a run did not come to its end or holds numbers that are none."""
    status, reason = _status(dataset), str(dataset.attrs.get("reason") or "").strip()
    lines = []
    if status in ENDINGS:
        when = f" at t = {number(time[-1], 5)} s" if len(time) else ""
        lines.append(f"<b>{ENDINGS[status]}{when}.</b>")
        lines.append(f'<p class="reason">{escape(reason)}</p>' if reason else "<p>No reason was recorded.</p>")
        lines.append("<p>Everything up to there is below.</p>" if len(time) > 1 else "")
    samples, bad = dataset.sizes.get("time", 0), broken(dataset)
    if samples == 0:
        lines.append("<p>The run holds no sample: there is nothing to draw.</p>")
    elif samples == 1:
        lines.append("<p>The run holds a single sample: the pose at its start is all there is to show.</p>")
    if bad.any():
        since = number(times(dataset)[bad][0], 5)
        lines.append(f"<p>From t = {since} s on, {int(bad.sum())} samples hold values that are not numbers.</p>")
    if not any(lines):
        return ""
    kind = "failed" if status == "failed" or bad.any() else "none" if status == "stopped" else "loose"
    return f'<div class="alert {kind}" role="status">{"".join(lines)}</div>'


def broken(dataset: "Dataset") -> np.ndarray:
    """Which samples hold values that are not numbers (time,)."""
    bad = np.zeros(dataset.sizes.get("time", 0), dtype=bool)
    for name in ("q", "v", "position"):
        if (array := values(dataset, name)) is not None:
            bad |= ~np.isfinite(array.reshape(len(array), -1)).all(axis=1)
    return bad


def hero(dataset: "Dataset", model: Model, moving: Mapping[str, Any] | None) -> str:
    """Animation, quality and bodies."""
    side = f'<div class="side">{_quality(dataset)}{_bodies(model)}</div>'
    return f'<div class="hero">{animation(moving)}{side}</div>' if moving else f'<div class="hero alone">{side}</div>'


def animation(moving: Mapping[str, Any], chosen: Mapping[str, bool] | None = None) -> str:
    """The moving machine with its controls.

    chosen  switches that are not as usual
    """
    switches = [("trail", "path", True), ("axes", "body axes", False)]
    if "vectors" in moving or "spins" in moving:
        switches.append(("vectors", "ω and L", "vectors" in moving))
    if any(body.get("overlay") for body in moving["bodies"]):
        switches.append(("cans", "cans", False))
    if moving["travels"]:
        switches.append(("follow", "follow", bool(moving["follow"])))
    state = {key: " checked" if (chosen or {}).get(key, on) else "" for key, _, on in switches}
    boxes = "".join(
        f'<label><input type="checkbox" data-option="{key}"{state[key]}> {text}</label>' for key, text, _ in switches
    )
    boxes, bar = boxes + _shades(moving), '<div class="bar" id="bar" hidden><b></b><div>{}</div><i></i></div>'
    needles = "".join(f'<g class="needle-{x}"><line x1="36" y1="36"/><text>{x}</text></g>' for x in "xyz")
    label = "The machine in motion. Drag to turn, pinch or scroll to zoom; arrow keys turn, + and − zoom, 0 resets."
    return f"""<section class="card view" id="scene" aria-label="Animation">
<div class="frame"><canvas tabindex="0" role="img" aria-label="{label}"></canvas>
<div class="tags" aria-hidden="true"></div><svg class="compass" viewBox="0 0 72 72" aria-hidden="true">{needles}</svg>
<span class="scale">grid {number(moving["cell"])} m</span>
<span class="hint">drag to turn · click, then scroll to zoom · double-click to reset · space to play</span>
<p class="fallback" hidden>The animation needs WebGL 2, which this browser does not offer. The plots below do not.</p>
<noscript><p class="fallback">The animation and the plots need JavaScript.</p></noscript>
{bar.format(3 * "<span></span>") if moving.get("loads") else ""}<div class="stills"></div></div>
<div class="controls" id="controls" hidden><button id="play" type="button" aria-label="Play" aria-pressed="false">
<svg viewBox="0 0 20 20" aria-hidden="true"><path class="go" d="M5 2.6v14.8L17.5 10z"/>
<path class="pause" d="M4 3h4.4v14H4zm7.6 0H16v14h-4.4z"/></svg></button>
<input id="time" type="range" min="0" max="10000" value="0" aria-label="Time"><output id="readout"></output>
<label>speed <select id="speed" aria-label="Speed"></select></label>
<div class="switches">{boxes}</div></div></section>"""


def _shades(moving: Mapping[str, Any]) -> str:
    """The choice of what beams are coloured by."""
    if not moving.get("loads"):
        return ""
    names = {PLAIN: "plain", **{name: found["words"] for name, found in moving["loads"].items()}}
    chosen = {name: " selected" if name == moving["color"] else "" for name in names}
    options = "".join(f'<option value="{name}"{chosen[name]}>{text}</option>' for name, text in names.items())
    return f'<label>beams <select id="shade" aria-label="Colour of beams">{options}</select></label>'


def _bodies(model: Model) -> str:
    """The bodies with the colours they are drawn in."""
    if not model.bodies:
        return '<section class="card bodies"><h3>Bodies</h3><p class="note">The model has none.</p></section>'
    owners = {joint.child: (k, joint) for k, joint in enumerate(model.joints)}
    rows, nodes = list[str](), node_names(model)
    for body in model.bodies:
        if body.name in nodes:
            continue
        k, joint = owners[body.name]
        axis = axis_text(joint)
        how = f"{escape(joint.name)}, {joint.type}{' ' + escape(axis) if axis else ''}"
        name = f'<i class="chip c{k % COLOURS}"></i>{escape(body.name)}'
        mass = f"{number(plain(body.mass))} kg"
        rows.append(f'<tr><th scope="row">{name}</th><td class="number">{mass}</td><td>{how}</td></tr>')
    rows += _beams(model)
    titles = '<th>Body</th><th class="number">Mass</th><th>On the joint</th>'
    table = f"<table><thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<section class="card bodies"><h3>Bodies</h3><div class="scroll" tabindex="0">{table}</div></section>'


def _beams(model: Model) -> Iterator[str]:
    """The beams with their colours, in place of their nodes: a row of the table of bodies each."""
    masses = {body.name: float(plain(body.mass)) for body in model.bodies}
    beams: dict[str, list[int]] = {}
    records, found = beam_records(model, 0.0), drawn(model)
    for k, (name, beam) in enumerate(found):
        if beam.nodes:
            beams.setdefault(beam_of(name), []).append(k)
    for name, places in beams.items():
        nodes = {body for k in places for body in (found[k][1].body_a, found[k][1].body_b)}
        mass = number(sum(masses.get(body, 0.0) for body in nodes))
        chip = f'<i class="chip c{records[places[0]]["colour"]}"></i>{escape(name)}'
        how = f"beam, {len(places)} element{'s' if len(places) > 1 else ''}"
        yield f'<tr><th scope="row">{chip}</th><td class="number">{mass} kg</td><td>{how}</td></tr>'


def _quality(dataset: "Dataset") -> str:
    verdict, checks, basis = quality(dataset)
    meaning = (
        MEANINGS.get(verdict, MEANINGS["none"]) if checks or verdict != "good" else "Its checks were not recorded."
    )
    until = parting(dataset)
    if until and verdict == "failed" and until.words.startswith("good"):
        meaning = PARTLY.format(f"{number(until.time, 5)} s")
    elif until:
        meaning += f" It is {escape(until.words)}."
    meaning += said_beside([check.get("name") for check in checks])
    judged = [check for check in checks if check.get("verdict") != "note"]
    notes = [check for check in checks if check.get("verdict") == "note"]
    parts = [f"<h3>Quality of the run</h3><p>{meaning}</p>"]
    if judged:
        titles = '<th>Check</th><th class="number">Value</th><th class="number">Threshold</th><th>Verdict</th>'
        rows = "".join(map(_check_row, judged))
        parts.append(f"<table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>")
    lines = [f"{_text(check, 'name')}: {_note(check)}" for check in notes]
    parts += [f'<p class="note">{line}</p>' for line in [*lines, escape(basis)] if line]
    said = [f"<dt>{_text(check, 'name')}</dt><dd>{_text(check, 'note')}</dd>" for check in judged if check.get("note")]
    if said:
        parts.append(f"<details><summary>What was measured</summary><dl>{''.join(said)}</dl></details>")
    return f'<section class="card quality" aria-label="Quality">{"".join(parts)}</section>'


def _text(check: Mapping[str, Any], key: str) -> str:
    return escape(str(check.get(key) or ""))


def _note(check: Mapping[str, Any]) -> str:
    """What a note says; the number of steps is not in its text."""
    return (
        f"{_value(check, 'value')} taken, {_text(check, 'note')}"
        if check.get("name") == "steps"
        else _text(check, "note")
    )


def _value(check: Mapping[str, Any], key: str) -> str:
    """A number of a check, or nothing where it has none."""
    return number(check[key]) if check.get(key) is not None else ""


def _check_row(check: Mapping[str, Any]) -> str:
    verdict = str(check.get("verdict", "")).lower()
    unit = _text(check, "unit").removeprefix("1")
    under = unit or ("" if _given(check.get("value")) else _text(check, "note"))
    under = f'<small class="note">{under}</small>' if under else ""
    limit = f'<small class="note">loose to {_value(check, "limit")}</small>' if check.get("limit") is not None else ""
    if not _given(check.get("value")) and not _given(check.get("threshold")):
        name = f'<th scope="row" colspan="3">{_text(check, "name")}{under}</th>'
        return f"<tr>{name}<td>{badge(verdict, small=True)}</td></tr>"
    return (
        f'<tr><th scope="row">{_text(check, "name")}{under}{_meter(check, verdict)}</th>'
        f'<td class="number">{_value(check, "value") or "–"}</td>'
        f'<td class="number">{_value(check, "threshold") or "–"}{limit}</td><td>{badge(verdict, small=True)}</td></tr>'
    )


def _meter(check: Mapping[str, Any], verdict: str) -> str:
    """How close a value is to its threshold, on a logarithmic scale: nine decades below it, three above."""
    try:
        value, threshold = abs(float(check["value"])), float(check["threshold"])
    except (KeyError, TypeError, ValueError):
        return ""
    if not (threshold > 0 and math.isfinite(threshold) and math.isfinite(value)):
        return ""
    decades = math.log10(value / threshold) if value > 0 else -9.0
    width = min(max((decades + 9) / 12, 0.015), 1.0) * 100
    kind = verdict if verdict in VERDICTS else "none"
    return f'<span class="meter {kind}" aria-hidden="true"><i style="width:{width:.1f}%"></i></span>'


def poinsot(turning: Mapping[str, Any]) -> str:
    """Polhode and herpolhode, side by side."""
    moments = ", ".join(number(m) for m in turning["moments"])
    part = f" Shown until t = {number(turning['until'], 4)} s." if turning["until"] is not None else ""
    if turning["free"]:
        polhode = f"The path of ω on the inertia ellipsoid of the {turning['about']}, among its neighbours."
        if turning["separatrix"]:
            polhode += " The bold grey curve separates those about the largest and the smallest moment."
        plane = "The tip of ω in space, seen along the angular momentum; components in rad/s."
    else:
        polhode = (
            f"The path of ω/√(2T) on the inertia ellipsoid of the {turning['about']}. Torques act, so it leaves the"
            " curves of a free body (grey)."
        )
        plane = "The tip of ω in space, seen from above (torques act: there is no invariable plane); in rad/s."
    label = "Polhode on the inertia ellipsoid. Drag to turn."
    return f"""<h2>Poinsot’s picture</h2><div class="poinsot">
<section class="card view" id="polhode">
<div class="frame"><canvas tabindex="0" role="img" aria-label="{label}"></canvas>
<div class="tags" aria-hidden="true"></div><span class="hint">drag to turn</span>
<p class="fallback" hidden>The ellipsoid needs WebGL 2, which this browser does not offer.</p>
<div class="stills"></div></div>
<div class="text"><h3>Polhode</h3><p class="note">{polhode}{part} Principal moments {moments} kg m².</p></div></section>
<section class="card">{turning["svg"]}
<div class="text"><h3>Herpolhode</h3><p class="note">{plane}{part} The ring marks the start.</p></div>
</section></div>"""


def plot_sections(drawn: list[Plot], records: list[dict[str, Any]]) -> Iterator[str]:
    """The plots under their headings; the scripts draw into them."""
    for section, heading in SECTIONS.items():
        cards = [_plot_card(k, plot, records[k]) for k, plot in enumerate(drawn) if plot.section == section]
        if cards:
            yield f'<h2>{heading}</h2><div class="plots">{"".join(cards)}</div>'


def _plot_card(k: int, plot: Plot, record: Mapping[str, Any]) -> str:
    note = f'<p class="note">{escape(plot.note)}</p>' if plot.note else ""
    inner = f'<div data-plot="{k}"></div>'
    if not record["series"]:
        said = plot.empty or ("Zero at every instant." if plot.log else "No finite values to show.")
        inner = f'<p class="empty">{escape(said)}</p>'
    return f'<section class="card plot"><h3>{escape(plot.title)}</h3>{inner}{note}</section>'


def events(dataset: "Dataset") -> list[tuple[float, str]]:
    """Time and name of what happened during the run."""
    if "event_time" not in dataset or "event_name" not in dataset:
        return []
    moments, names = np.atleast_1d(dataset["event_time"].values), np.atleast_1d(dataset["event_name"].values)
    return [(float(t), str(name)) for t, name in zip(moments, names, strict=True) if math.isfinite(t)]


def event_table(dataset: "Dataset") -> str:
    """What happened, or nothing."""
    found = events(dataset)
    if not found:
        return ""
    rows = "".join(
        f'<tr><td class="number">{number(t, 6)} s</td><th scope="row">{escape(name)}</th></tr>'
        for t, name in found[:LISTED_EVENTS]
    )
    more = f'<p class="note">… {len(found) - LISTED_EVENTS} more.</p>' if len(found) > LISTED_EVENTS else ""
    return f'<h2>Events</h2><section class="card events"><table><tbody>{rows}</tbody></table>{more}</section>'


def provenance(dataset: "Dataset", model: Model) -> str:
    """What made the run, and the model as its user wrote it."""
    attrs = dataset.attrs
    rows = [("Model", escape(str(attrs.get("model_name") or model.name)))]
    rows += [(label, _attribute(key, attrs[key])) for key, label in PROVENANCE.items() if _given(attrs.get(key))]
    listed = "".join(f"<dt>{label}</dt><dd>{value}</dd>" for label, value in rows)
    text = str(attrs.get("model") or "").strip()
    source = f"<details><summary>The model as it was run</summary><pre>{escape(text)}</pre></details>" if text else ""
    return f'<h2>Provenance</h2><section class="card provenance"><dl>{listed}</dl>{source}</section>'
