"""The kinds of plots of one run by name, and those that fit a run."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from polhode.errors import UnknownNameError, did_you_mean, message
from polhode.show.plot import attitude, balance, machine, rolling
from polhode.show.plot.source import Unfit, opened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polhode.show.plot.source import Run

KINDS: dict[str, Callable[..., Any]] = {
    "energies": balance.energies,
    "momenta": balance.momenta,
    "drift": balance.drift,
    "joints": machine.joints,
    "phase": machine.phase,
    "reactions": machine.reactions,
    "multipliers": machine.multipliers,
    "quaternions": attitude.quaternions,
    "angles": attitude.angles,
    "rates": attitude.rates,
    "polhode": rolling.polhode,
    "herpolhode": rolling.herpolhode,
    "poinsot": rolling.poinsot,
}
"""By the name that `polhode plot` takes; `compare` and `eigenvalues` take more than one run."""

OPTIONS = {
    "model": ("drift", "reactions", "polhode", "herpolhode", "poinsot"),
    "body": ("quaternions", "angles", "rates"),
    "sequence": ("angles",),
    "at": ("poinsot",),
    "names": ("joints", "phase", "reactions"),
}
"""Which kinds take which option of the command line."""


def draw(kind: str, run: "Run", **options: Any) -> "Figure":
    """One kind of plot by its name; options that it does not take are left out."""
    if kind not in KINDS:
        fix = did_you_mean(kind, KINDS)
        raise UnknownNameError(message("plot", "no such kind", repr(kind), ", ".join([*KINDS, "compare"]), fix))
    given = {key: value for key, value in options.items() if value is not None and kind in OPTIONS[key]}
    return KINDS[kind](run, **given)


def fitting(run: "Run", **options: Any) -> "Iterator[tuple[str, Figure]]":
    """Every kind that this run has something for, drawn."""
    found = opened(run)
    for kind in KINDS:
        try:
            yield kind, draw(kind, found, **options)
        except Unfit:
            continue
