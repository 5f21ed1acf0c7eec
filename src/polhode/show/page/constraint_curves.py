"""The plots of constraints in a report: violation, reaction forces, distance from a singular configuration."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from polhode.result.constrained import constrained
from polhode.show.packing import COLOURS, Plot, PlotCurve

if TYPE_CHECKING:
    from xarray import Dataset

TOGETHER, MOST = 6, 8
"""Rows in one plot, and plots of each kind."""


def constraint_plots(dataset: "Dataset") -> list[Plot]:
    """The plots of a run's constraints; none of a run without any."""
    return [*_residuals(dataset), *_strength(dataset), *_reactions(dataset), *_multipliers(dataset)]


def _residuals(dataset: "Dataset") -> Iterator[Plot]:
    titles = {
        "constraint_residual": "Constraints: residuals",
        "constraint_rate": "Constraints: residuals of velocities",
    }
    for name, title in titles.items():
        if name not in dataset:
            continue
        rows = [(str(row), abs(dataset[name].sel(constraint=row).values)) for row in dataset["constraint"].values]
        moving = [(row, y) for row, y in rows if np.any(y > 0)]
        axis = f"what is missed [{dataset[name].attrs.get('units', '')}]"
        if not moving and any(np.any(np.isfinite(y)) for _, y in rows):
            yield Plot(title, axis, [], "constraints", log=True, empty="Zero to the last bit at every stored instant.")
        yield from _pieces(title, axis, moving, log=True)


def _strength(dataset: "Dataset") -> Iterator[Plot]:
    found = constrained(dataset)
    if found is None:
        return
    curve = PlotCurve("smallest singular value", dataset["smallest_singular_value"].values, 0)
    note = "Of the rows that are independent, each in its natural size: 0 where the constraints lose rank. "
    if found.passages:
        instants = ", ".join(f"t = {time:.5g} s ({value:.2g})" for time, value in found.passages[:6])
        note += f"Singular configurations, dashed: {instants}{' …' if len(found.passages) > 6 else ''}."
    else:
        note += "No singular configuration was approached."
    if found.redundant:
        note += f" Redundant, their forces not determined one by one: {', '.join(found.redundant)}."
    marks = tuple(time for time, _ in found.passages[:50])
    yield Plot("Distance from a singular configuration", "σ", [curve], "constraints", log=True, note=note, marks=marks)


def _reactions(dataset: "Dataset") -> Iterator[Plot]:
    """Force and torque of each constraint between two bodies, where they are not zero."""
    count = 0
    for name, what, unit in (("reaction_force", "force", "N"), ("reaction_torque", "torque", "N m")):
        if name not in dataset:
            continue
        largest = float(np.nanmax(abs(dataset["reaction_force"].values), initial=0.0))
        for connection in dataset["connection"].values:
            y = dataset[name].sel(connection=connection).values
            if not np.any(abs(y) > 1e-9 * largest) or count >= 2 * MOST:
                continue
            count += 1
            curves = [PlotCurve(axis, y[:, k], k) for k, axis in enumerate("xyz")]
            note = _undetermined(dataset, str(connection))
            yield Plot(f"Reaction of {connection}, {what}", f"{what} [{unit}]", curves, "constraints", note=note)


def _undetermined(dataset: "Dataset", connection: str) -> str:
    """Where a force is drawn, and whether all of it is determined."""
    where = "On body b, in the axes of the frame on body a."
    found = constrained(dataset)
    shared = [row for row in found.redundant if row.rpartition(".")[0] == connection] if found else []
    return f"{where} Shared with other constraints, so not determined alone: {', '.join(shared)}." if shared else where


def _multipliers(dataset: "Dataset") -> Iterator[Plot]:
    """Of constraints on coordinates, which have no place: the multiplier is the force along the row."""
    if "multiplier" not in dataset or "constraint" not in dataset["multiplier"].dims:
        return
    placed = {str(x) for x in dataset["connection"].values} if "connection" in dataset.coords else set()
    rows = [str(row) for row in dataset["constraint"].values if str(row).rpartition(".")[0] not in placed]
    shown = [(row, dataset["multiplier"].sel(constraint=row).values) for row in rows]
    yield from _pieces("Multipliers of constraints on coordinates", "λ, along the row", shown)


def _pieces(title: str, axis: str, rows: list[tuple[str, np.ndarray]], log: bool = False) -> Iterator[Plot]:
    starts = range(0, len(rows), TOGETHER)
    for start in starts[:MOST]:
        part = rows[start : start + TOGETHER]
        curves = [PlotCurve(row, y, k % COLOURS) for k, (row, y) in enumerate(part)]
        left = len(rows) - TOGETHER * MOST
        note = f"{left} more rows are in the data of the run." if left > 0 and start == starts[MOST - 1] else ""
        yield Plot(title, axis, curves, "constraints", log=log, note=note)
