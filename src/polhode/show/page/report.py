"""One run as one page: a single HTML file that opens anywhere, offline.

The file holds its own style, scripts, numbers and pictures; a content security policy in it forbids every
request. Whatever a name or a message says is escaped where it is printed.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import __version__
from polhode.errors import InputError, message
from polhode.model import Model
from polhode.result.atomic_file import atomic_write
from polhode.show.packing import PackedArrays, packed
from polhode.show.page import sections
from polhode.show.page.curves import plots
from polhode.show.page.poinsot import poinsot
from polhode.show.run_values import times
from polhode.show.scene.scene import scene

if TYPE_CHECKING:
    from xarray import Dataset

SCRIPTS = ("uplot.min.js", "stage.js", "page.js", "plots.js", "pictures.js", "controls.js")
STYLES = ("uplot.min.css", "page.css")
MOST_EVENTS = 200
"""Events marked on the plots."""


def write_report(dataset: "Dataset", model: Model, path: Path | str, *, title: str = "", force: bool = False) -> Path:
    """Write the page of a run and return where it is.

    dataset  what `simulate` returns, of a run that failed too
    model    the model it was made with
    title    in place of the model's name
    force    replace a file that is there already; the write is atomic
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(message(f"report {path}", "its folder is missing", str(path.parent), "an existing folder"))
    if path.exists() and not force:
        fix = "Give another name, or allow it to be overwritten."
        raise InputError(message(f"report {path}", "the file is there already", "a file", "a new name", fix))
    with np.errstate(all="ignore"):  # a failed run may hold anything
        text = report_page(dataset, model, title)
    with atomic_write(path, force) as sink:
        sink.write(text.encode())
    return path


def report_page(dataset: "Dataset", model: Model, title: str = "") -> str:
    """The page as text."""
    store = PackedArrays()
    time = times(dataset)
    good = time[~sections.broken(dataset)] if len(time) else time
    drawn = plots(dataset, model) if len(time) else []
    records = packed(drawn, time, store)
    moving = scene(dataset, model, store) if len(time) else None
    turning = poinsot(dataset, model, store) if moving else None
    data = {
        "start": float(good[0]) if len(good) else 0.0,
        "end": float(good[-1]) if len(good) else 0.0,
        "plots": records,
        "events": [moment for moment, _ in sections.events(dataset)[:MOST_EVENTS]],
        "scene": moving,
        "poinsot": {key: value for key, value in turning.items() if key != "svg"} if turning else None,
        "arrays": store.texts,
    }
    name = title or str(dataset.attrs.get("model_name") or model.name)
    body = [
        sections.header(dataset, model, name, good),
        "<main>",
        sections.hero(dataset, model, moving),
        sections.poinsot(turning) if turning else "",
        *sections.plot_sections(drawn, records),
        sections.event_table(dataset),
        sections.provenance(dataset, model),
        "</main>",
        f"<footer>Made by Polhode {escape(__version__)}. This file is complete: it makes no request.</footer>",
    ]
    return document(name, "\n".join(body), data)


def document(name: str, body: str, data: Mapping[str, Any]) -> str:
    """A whole file: policy, style, body, data, scripts."""
    scripts = [_asset(file) for file in SCRIPTS]
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    policy = f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:"
    style = "\n".join(_asset(file) for file in STYLES)
    numbers = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # nothing in the data may end its element
    numbers = numbers.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="generator" content="polhode {escape(__version__)}">',
            '<link rel="icon" href="data:,">',
            f"<title>{escape(name)} – Polhode</title>",
            f"<style>{style}</style>\n</head>\n<body>",
            body,
            f'<script type="application/json" id="data">{numbers}</script>',
            *(f"<script>{script}</script>" for script in scripts),
            "</body>\n</html>\n",
        ]
    )


def _asset(name: str) -> str:
    return files("polhode.show.page").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
