"""Section forces along a beam: normal force, shear, torsion and bending moments over its length."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.errors import InputError, UnknownNameError, did_you_mean, message
from polhode.scalar import a_list, shown
from polhode.show.figure import new_figure, styled
from polhode.show.plots.axes import FAINT, QUIET, WIDE, escaped, headed, legend, look
from polhode.show.plots.run_source import Run, Unfit, as_run, model_of, where_of
from polhode.show.run_values import times
from polhode.show.section_values import SECTION_FORCES, SectionValues, force_name, section_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

POINTS = 9
"""Sections of each element, both ends among them: a load bows the curve between."""
SHOWN = 5
"""Instants of a run that are drawn, where none are given."""
NOTHING = 1e-9
"""A force below this part of the largest force, or a moment of that force times the length, has no panel."""


class SectionCurves(NamedTuple):
    """A section force along a beam.

    s       (points,)        arc length without strain, from its start, m; ends of elements twice
    time    (times,)         s
    values  (times, points)
    """

    s: np.ndarray
    time: np.ndarray
    values: np.ndarray


@styled
def section_force(
    run: Run,
    beam: str | None = None,
    force: Sequence[str] | str | None = None,
    time: Sequence[float] | float | None = None,
    envelope: bool = False,
    model: Any = None,
) -> "Figure":
    """What the sections of a beam bear, over its length: a panel for each section force, a curve for each instant.

    run       a run, or what `ph.equilibrium` returns, with its model
    beam      its name, "blade" of the elements "blade-1", …; the first unless given
    force     N, Qy, Qz, Mx, My, Mz, or M for √(My² + Mz²); also "axial", "shear_y", …, "torsion", "bending_y", …,
              "bending"; all that are not 0 unless given
    time      instants, s: the nearest samples; five, evenly spread, unless given
    envelope  shade what lies between the smallest and the largest value of all samples
    model     the model of the run, where the run does not hold it
    """
    found = as_run("plot section_force", run, model)
    names = None if force is None else [force] if isinstance(force, str) else [*force]
    curves = section_curves(found, beam, names, None if envelope else _instants(found, time), model)
    chosen = _samples(times(found), _instants(found, time))
    drawn = list(curves) if names else _not_nothing(curves)
    if not drawn:
        raise Unfit(message(where_of("section_force", found), "nothing is borne", "zero forces", "a load"))
    figure, grid = new_figure(WIDE + 0.6, 0.6 + 1.9 * len(drawn), nrows=len(drawn), sharex=True, squeeze=False)
    for axes, name in zip(grid[:, 0], drawn, strict=True):
        curve, kind = curves[name], SECTION_FORCES[name]
        rows = chosen if envelope else range(len(curve.time))
        if envelope:
            low, high = np.nanmin(curve.values, axis=0), np.nanmax(curve.values, axis=0)
            axes.fill_between(curve.s, low, high, color=FAINT, alpha=0.4, linewidth=0, label="all instants")
        for k, row in enumerate(rows):
            label = f"{curve.time[row]:.4g} s" if len(curve.time) > 1 else None
            axes.plot(curve.s, curve.values[row], label=label, **look(k))
        axes.axhline(0.0, color=QUIET, linewidth=0.7, zorder=1)
        axes.set_ylabel(f"{_symbol(name)} ({kind.unit})")
        axes.set_xlim(curve.s[0], curve.s[-1])
        if axes is grid[0, 0]:
            legend(axes)
    grid[-1, 0].set_xlabel("arc length $s$ (m)")
    whose = beam or next(iter(_values("section_force", found, model).beams))
    return headed(figure, found, f"Section forces of {whose}")


def section_curves(
    run: "Dataset",
    beam: str | None = None,
    forces: Sequence[str] | None = None,
    time: Sequence[float] | None = None,
    model: Any = None,
) -> dict[str, SectionCurves]:
    """The curves that `section_force` draws, by the names of the forces; at all samples where no instants are given."""
    seen = _values("section_force", run, model)
    where = where_of("section_force", run)
    name = next(iter(seen.beams)) if beam is None else beam
    if name not in seen.beams:
        known = list(seen.beams)
        raise UnknownNameError(message(where, "no such beam", shown(beam), ", ".join(known), did_you_mean(name, known)))
    wanted = [force_name(where, one) for one in a_list(f"{where}, force", forces or list(SECTION_FORCES)[:-1], "names")]
    every = times(run)
    rows = np.arange(len(every)) if time is None else _samples(every, time)
    parts = np.linspace(0.0, 1.0, POINTS)
    places = seen.beams[name]
    starts = np.concatenate([[0.0], np.cumsum([seen.length(k) for k in places])])
    s = np.concatenate([start + seen.length(k) * parts for k, start in zip(places, starts[:-1], strict=True)])
    return {
        one: SectionCurves(
            s, every[rows], np.concatenate([seen.along(k, parts.tolist(), one)[rows] for k in places], axis=1)
        )
        for one in wanted
    }


def _values(kind: str, run: "Dataset", model: Any) -> SectionValues:
    found = section_values(run, model_of(kind, run, model)) if "section_force" in run else None
    if found is None:
        there = ", ".join(map(str, run.data_vars)) or "no variables"
        expected = "section_force and quaternion, of a machine with beams"
        raise Unfit(message(where_of(kind, run), "no sections", there, expected))
    return found


def _instants(run: "Dataset", given: Any) -> list[float]:
    """The instants that are drawn."""
    every = times(run)
    if given is None:
        return np.linspace(every[0], every[-1], SHOWN).tolist() if len(every) > SHOWN else every.tolist()
    where = where_of("section_force", run)
    try:
        found = np.atleast_1d(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        raise InputError(message(f"{where}, time", "not instants", shown(given), "seconds")) from None
    slack = 1e-9 * (1 + abs(float(every[-1])))
    if found.ndim != 1 or not found.size or not np.all((found >= every[0] - slack) & (found <= every[-1] + slack)):
        expected = f"seconds from {every[0]:g} to {every[-1]:g}"
        raise InputError(message(f"{where}, time", "not instants of the run", shown(given), expected))
    return found.tolist()


def _samples(every: np.ndarray, wanted: Sequence[float]) -> list[int]:
    """The nearest sample to each instant, each once."""
    return list(dict.fromkeys(int(np.argmin(abs(every - t))) for t in wanted))


def _not_nothing(curves: dict[str, SectionCurves]) -> list[str]:
    """The forces that are there, those of rounding left out."""
    sizes = {name: float(np.nanmax(abs(curve.values), initial=0.0)) for name, curve in curves.items()}
    long = max(float(curve.s[-1]) for curve in curves.values())
    arm = {name: long if SECTION_FORCES[name].unit == "N m" else 1.0 for name in curves}
    largest = max(size / arm[name] for name, size in sizes.items())
    return [name for name, size in sizes.items() if size > NOTHING * largest * arm[name]]


def _symbol(name: str) -> str:
    """A name as mathematics."""
    return f"${name[0]}_{name[1]}$" if len(name) > 1 else f"${escaped(name)}$"
