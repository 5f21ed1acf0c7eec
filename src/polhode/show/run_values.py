"""Variables, names and instants of a run, whatever its data set lacks."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polhode.errors import InputError
from polhode.result.verdict import ERROR, Grade

if TYPE_CHECKING:
    from xarray import Dataset


def values(dataset: "Dataset", name: str) -> np.ndarray | None:
    """A variable as numbers with time first, or None where it is missing or empty."""
    if name not in dataset or "time" not in dataset[name].dims:
        return None
    array = np.asarray(dataset[name].transpose("time", ...).values, dtype=float)
    return array if array.size else None


def labels(dataset: "Dataset", dim: str) -> list[str]:
    """The names along a dimension; numbers where it has none."""
    if dim in dataset.coords:
        return [str(x) for x in np.atleast_1d(dataset.coords[dim].values)]
    return [str(k) for k in range(dataset.sizes.get(dim, 0))]


def times(dataset: "Dataset") -> np.ndarray:
    """The instants, s; of a data set without any, an empty array."""
    if "time" not in dataset.coords:
        return np.arange(float(dataset.sizes.get("time", 0)))
    return np.atleast_1d(np.asarray(dataset.coords["time"].values, dtype=float))


def grade_of(dataset: "Dataset") -> Grade | None:
    """The grade of a run; None where it has none that can be read."""
    try:
        return Grade.of(dataset.attrs)
    except InputError:
        return None


class Parting(NamedTuple):
    """The time, s, up to which a run is good, or was checked, and that in words."""

    time: float
    words: str


def parting(dataset: "Dataset") -> Parting | None:
    """Where a run ceases to be good, or to be checked; None where that is not before its last sample."""
    grade, time = grade_of(dataset), times(dataset)
    if grade is None or not grade.until or not len(time) or not grade.good_until < time[-1]:
        return None
    return Parting(grade.good_until, grade.until)


def error_threshold(dataset: "Dataset") -> float | None:
    """The estimated error up to which a run is good; None where it is not known."""
    grade = grade_of(dataset)
    return next((check.threshold for check in grade.checks if check.name == ERROR), None) if grade else None
