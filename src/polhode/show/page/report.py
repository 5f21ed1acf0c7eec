"""One run as one page: a single HTML file that opens anywhere, offline.

The file holds its own style, scripts, numbers and pictures; a content security policy in it forbids every
request. Whatever a name or a message says is escaped where it is printed.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polhode.model import Model
from polhode.result.atomic_file import atomic_write
from polhode.show.figure import check_new_file
from polhode.show.packing import PackedArrays, packed
from polhode.show.page import sections
from polhode.show.page.curves import plots
from polhode.show.page.document import document
from polhode.show.page.poinsot import poinsot
from polhode.show.run_values import parting, times
from polhode.show.scene.scene import scene

if TYPE_CHECKING:
    from xarray import Dataset

SCRIPTS = ("uplot.min.js", "stage.js", "page.js", "beams.js", "plots.js", "pictures.js", "controls.js")
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
    check_new_file(f"report {path}", path, force)
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
        "until": until._asdict() if (until := parting(dataset)) else None,
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
    ]
    return document(name, body, STYLES, SCRIPTS, data)
