"""Variables, names and instants of a run, whatever its data set lacks."""

from typing import TYPE_CHECKING

import numpy as np

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
