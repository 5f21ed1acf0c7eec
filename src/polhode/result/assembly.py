"""A long run from its chunks to one netCDF file, one chunk in memory at a time."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError, message
from polhode.result.atomic_file import Sink, atomic_write
from polhode.result.dataset import xarray
from polhode.result.files import write_netcdf
from polhode.result.store import RunStore
from polhode.result.trailer import MARK, NO_RUN, NOTE, write_trailer

if TYPE_CHECKING:
    import xarray as xr

BLOCK = 2**18
"""Approximate size in bytes of a block (HDF5 chunk) of the file: the least that a reader reads."""

Derive = Callable[[dict[str, np.ndarray]], Mapping[str, Any]]
"""A function from the arrays of a chunk to all variables of the run over that chunk."""


def assemble(
    store: RunStore,
    template: "xr.Dataset",
    path: str | Path,
    derive: Derive | None = None,
    force: bool = False,
    run: str = NO_RUN,
) -> Path:
    """Write the run in a store as netCDF, atomically.

    template  a Dataset of this run with any number of samples: its variables, coordinates, attributes
    derive    makes the variables that the chunks do not hold, as poses from q; None: all are there
    run       the digest of what run it is, for who resumes it; see `trailer`
    """
    xarray()
    variables = template.variables.items()
    over_time = {str(name): variable.shape[1:] for name, variable in variables if "time" in variable.dims}
    with atomic_write(path, force) as sink:
        blocks = {name: _block(template[name], store.rows) for name in over_time}
        write_netcdf(template.isel(time=slice(0, 0)).assign_attrs({MARK: NOTE}), sink, blocks, unlimited_dims=["time"])
        sink.check()
        with import_module("h5netcdf").File(sink, "r+") as file:
            file.resize_dimension("time", store.rows)
            start = 0
            for chunk in store.chunks():
                start = _fill(file, sink, over_time, derive(chunk) if derive else chunk, start)
        write_trailer(sink, run)
    return Path(path)


def _fill(file: Any, sink: Sink, shapes: Mapping[str, tuple[int, ...]], arrays: Mapping[str, Any], start: int) -> int:
    """The number of samples after one more chunk is written behind those in the file.

    shapes  of one sample of each variable over time; to ask the file for them takes longer than to write
    """
    stop = start + len(arrays["time"])
    for name, shape in shapes.items():
        if name not in arrays:
            fix = "RunStore it with each chunk, or let `derive` make it."
            raise InputError(message("assemble", "a variable is missing", f"no '{name}'", ", ".join(shapes), fix))
        values, expected = np.asarray(arrays[name]), (stop - start, *shape)
        if values.shape != expected:
            raise InputError(message(f"assemble, variable '{name}'", "wrong shape", str(values.shape), str(expected)))
        file.variables[name][start:stop] = values
    sink.check()
    return stop


def _block(variable: "xr.DataArray", rows: int) -> tuple[int, ...]:
    """The shape of the blocks (HDF5 chunks) of a variable of so many samples."""
    sizes = [max(size, 1) for dim, size in variable.sizes.items() if dim != "time"]
    return (max(min(BLOCK // (8 * int(np.prod(sizes))), rows), 1), *sizes)
