"""Plots of runs: `ph.plot.energies(run)`, `ph.plot.poinsot(run)`, …; each returns the figure and shows no window.

A run is what `ph.simulate` returns, or the path of a file that `polhode run` wrote. This module is `ph.plot` and the
registry: a new kind is one file beside this one with a function of its name, imported and listed here.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from polhode.errors import UnknownNameError, did_you_mean, message
from polhode.show.plots.angles import angles as angles
from polhode.show.plots.balance import balance as balance
from polhode.show.plots.campbell import campbell as campbell
from polhode.show.plots.compare import compare as compare
from polhode.show.plots.drift import drift as drift
from polhode.show.plots.eigenvalues import eigenvalues as eigenvalues
from polhode.show.plots.energies import energies as energies
from polhode.show.plots.fan import fan as fan
from polhode.show.plots.herpolhode import herpolhode as herpolhode
from polhode.show.plots.joints import joints as joints
from polhode.show.plots.momenta import momenta as momenta
from polhode.show.plots.multipliers import multipliers as multipliers
from polhode.show.plots.phase import phase as phase
from polhode.show.plots.poinsot import poinsot as poinsot
from polhode.show.plots.polhode import polhode as polhode
from polhode.show.plots.quaternions import quaternions as quaternions
from polhode.show.plots.rates import rates as rates
from polhode.show.plots.reactions import reactions as reactions
from polhode.show.plots.run_source import Run, Unfit, read
from polhode.show.plots.section_force import section_force as section_force

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS: dict[str, Callable[..., Any]] = {
    plot.__name__: plot
    for plot in (
        energies, balance, momenta, drift, joints, phase, reactions, multipliers, quaternions, angles, rates,
        section_force, polhode, herpolhode, poinsot,
    )
}  # fmt: skip
"""Plots of one run by the name that `polhode plot` takes; not `campbell`, `compare`, `eigenvalues` and `fan`."""


__all__ = [*KINDS, "Unfit", "campbell", "compare", "draw", "eigenvalues", "fan", "fitting", "read", "takers"]


def __dir__() -> list[str]:
    """The plots, and what draws them by name: what `ph.plot.` offers to complete."""
    return __all__


def takers(option: str) -> list[str]:
    """The kinds that take this option: it is a parameter of their function."""
    return [kind for kind, plot in KINDS.items() if option in inspect.signature(plot).parameters]


def draw(kind: str, run: Run, **options: Any) -> "Figure":
    """One kind of plot by its name; options that it does not take are left out."""
    if kind not in KINDS:
        fix = did_you_mean(kind, KINDS)
        raise UnknownNameError(message("plot", "no such kind", repr(kind), ", ".join([*KINDS, "compare"]), fix))
    given = {key: value for key, value in options.items() if value is not None and kind in takers(key)}
    return KINDS[kind](run, **given)


def fitting(run: Run, **options: Any) -> "Iterator[tuple[str, Figure]]":
    """Every kind that this run has something for, drawn."""
    found = read(run)
    for kind in KINDS:
        try:
            yield kind, draw(kind, found, **options)
        except Unfit:
            continue
