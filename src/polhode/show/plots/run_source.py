"""What the plots take from a run, with errors that say what is missing and what to do."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import polhode  # its lazy table: only a state needs the compiler
from polhode.errors import InputError, ModelError, PolhodeWarning, UnknownNameError, did_you_mean, message
from polhode.formats.load import load
from polhode.formats.registry import model_of_text
from polhode.model import Model
from polhode.result.files import load as read_run
from polhode.result.labels import coordinate_names
from polhode.scalar import shown
from polhode.show.run_values import labels, times, values

if TYPE_CHECKING:
    from xarray import Dataset

Run: TypeAlias = "Dataset | str | Path"
"""A run, or the path of its file or folder."""
MOST_READ = 200_000
"""Samples that are read from a file: of longer runs every k-th."""


class Unfit(InputError):
    """This run has nothing for this kind of plot."""


def opened(run: Run, model: Any = None) -> "Dataset":
    """One run, or that of a file or folder as in `read`; an InputError where it is anything else.

    model  that it is said to be of: an InputError where its coordinates have other names
    """
    found = read(run)
    if not hasattr(found, "data_vars"):
        expected = "what ph.simulate returns, or the path of its file"
        raise InputError(message("plot, argument run", "not a run", shown(run), expected))
    if "run" in found.dims:
        fix = "Draw them all: ph.plot.fan(runs); or take one of them: runs.isel(run=0)."
        raise InputError(message("plot, argument run", "many runs", f"{found.sizes['run']:,} runs", "one run", fix))
    if model is not None and (names := labels(found, "coordinate")):
        known = coordinate_names(model_of("", found, model))
        if names != known:
            here, there = (", ".join(x[:6]) or "none" for x in (names, known))
            raise InputError(message("plot, argument model", "another model than the run's", there, here))
    return found


def as_run(where: str, run: Any, model: Any = None) -> "Dataset":
    """A run as in `opened`, or a state that was found, as `ph.equilibrium` returns it, as a run of one sample."""
    if not hasattr(run, "residual") or not hasattr(run, "tau"):
        return opened(run)
    if model is None:
        fix = f"Give it: {where}(…, model=model)."
        raise InputError(message(where, "a state without its model", "no model", "the model that it is of", fix))
    return polhode.still(model if isinstance(model, Model) else load(model), run)


def read(run: Run) -> "Dataset":
    """A run, or that of a file or folder; of a very long one evenly spread samples, the last among them."""
    if not isinstance(run, (str, Path)):
        return run
    path = Path(run)
    found = read_run(path / "run.nc" if path.is_dir() else path, lazy=True)
    count = found.sizes.get("time", 0)
    stride = max(1, -(-count // MOST_READ))
    return found.isel(time=slice((count - 1) % stride, None, stride)).load() if stride > 1 else found.load()


def where_of(kind: str, run: "Dataset") -> str:
    """The place that an error names: the plot and the model of the run."""
    return f"plot {kind}, run of '{run.attrs.get('model_name', 'unknown model')}'"


def instants(kind: str, run: "Dataset") -> np.ndarray:
    """The times of the samples, s: at least two."""
    found = times(run)
    if len(found) < 2:
        fix = f"It ended so: {run.attrs['reason']}" if run.attrs.get("reason") else "Run it for longer."
        raise Unfit(message(where_of(kind, run), "nothing to draw", f"{len(found)} samples", "two or more", fix))
    return found


def variable(kind: str, run: "Dataset", name: str, fix: str = "") -> np.ndarray:
    """A variable with time first; an error names it where it is missing."""
    instants(kind, run)
    found = values(run, name)
    if found is None:
        there = ", ".join(map(str, run.data_vars)) or "no variables"
        fix = fix or "Was the run made with keep=[…]? Make it again with this variable."
        raise Unfit(message(where_of(kind, run), f"no variable '{name}'", there, f"'{name}'", fix))
    return found


def chosen(kind: str, run: "Dataset", dim: str, names: Sequence[str] | str | None) -> list[int]:
    """The places of these names along a dimension; of all where none are given."""
    known = labels(run, dim)
    wanted = [names] if isinstance(names, str) else known if names is None else list(names)
    for name in wanted:
        if name not in known:
            fix = did_you_mean(name, known)
            raise UnknownNameError(message(where_of(kind, run), f"no such {dim}", repr(name), ", ".join(known), fix))
    return [known.index(name) for name in wanted]


def body_of(kind: str, run: "Dataset", body: str | None) -> tuple[int, str]:
    """The place and name of a body; the first where none is named."""
    names = labels(run, "body")
    if not names:
        raise Unfit(message(where_of(kind, run), "no bodies", "none", "a body"))
    place = chosen(kind, run, "body", body)[0]
    return place, names[place]


def model_of(kind: str, run: "Dataset", model: Any = None) -> Model:
    """The model of a run: the one given, or the one that the run holds as text."""
    if isinstance(model, Model):
        return model
    if model is not None:
        return load(model)
    text = str(run.attrs.get("model_yaml") or "")
    if not text:
        fix = (
            "Give it: model=…, on the command line --model FILE. Models with functions of Python are not kept in runs."
        )
        raise Unfit(message(where_of(kind, run), "its model is not in it", "no text of it", "a model", fix))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PolhodeWarning)  # told when the model was made
            return model_of_text(text, "the run's model")
    except ModelError as error:
        raise Unfit(f"{where_of(kind, run)}: its model cannot be read.\n  {error}") from None


def model_or_none(run: "Dataset", model: Any = None) -> Model | None:
    """The model of a run as in `model_of`; None where it has none."""
    try:
        return model_of("", run, model)
    except Unfit:
        return None
