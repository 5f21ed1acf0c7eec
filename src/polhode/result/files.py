"""Runs as files: netCDF to keep, CSV for spreadsheets."""

import itertools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError, message
from polhode.result.aside import Sink, aside
from polhode.result.dataset import MIXED, xarray

if TYPE_CHECKING:
    import xarray as xr

HDF5, CLASSIC = b"\x89HDF\r\n\x1a\n", b"CDF"
"""The first bytes of netCDF-4 files, which are HDF5, and of older netCDF files."""

ROWS = 4096
"""Rows of a CSV file made at a time."""


def save(run: "xr.Dataset", path: str | Path, force: bool = False) -> Path:
    """Write a run as netCDF-4, aside and then renamed; an existing file is refused unless `force`."""
    xarray()
    with aside(path, force) as sink:
        write_netcdf(run, sink)
    return Path(path)


def write_netcdf(
    run: "xr.Dataset", sink: Sink, blocks: Mapping[str, tuple[int, ...]] | None = None, **options: Any
) -> None:
    """The bytes of a run as netCDF-4, every number to the bit, into an open file.

    blocks  the shape in which variables are laid out; None: in one piece
    """
    plain = run.copy()
    plain.attrs = _representable(run.attrs)
    encoding: dict[Any, dict[str, Any]] = {}
    for name in plain.variables:
        plain[name].attrs = _representable(run[name].attrs)
        plain[name].encoding = {}
        encoding[name] = {"_FillValue": None} if plain[name].dtype.kind == "f" else {}
        if blocks and name in blocks:
            encoding[name]["chunksizes"] = blocks[str(name)]
    try:
        plain.to_netcdf(sink, engine="h5netcdf", encoding=encoding, **options)
    except (ValueError, TypeError) as fault:
        fix = "Attributes must be text or numbers, variables arrays of numbers or text."
        raise InputError(message("save", "netCDF cannot hold this", str(fault), "plain data", fix)) from fault


def load(path: str | Path, lazy: bool = False) -> "xr.Dataset":
    """Read a run that was saved here.

    lazy  leave the arrays in the file until they are used: for runs larger than memory
    """
    path = Path(path)
    _check_first_bytes(path)
    xr, where = xarray(), f"load, '{path}'"
    reader = xr.open_dataset if lazy else xr.load_dataset
    try:
        run = reader(path, engine="h5netcdf", mask_and_scale=False, decode_times=False, decode_timedelta=False)
    except Exception as fault:  # HDF5 reports damage as nearly any kind of error
        fix = "Was it cut off while being copied? Fetch it again, or repeat the run."
        found = str(fault).splitlines()[0] if str(fault) else type(fault).__name__
        raise InputError(message(where, "damaged", found, "a whole netCDF-4 file", fix)) from fault
    missing = [name for name in ("polhode_version", "model_name", "status") if name not in run.attrs]
    if missing:
        run.close()
        fix = "Was it made by another program? xarray.open_dataset reads any netCDF file."
        found = f"no attribute {', '.join(missing)}"
        raise InputError(message(where, "not a run of polhode", found, "a file that polhode saved", fix))
    for variable in run.variables.values():
        variable.encoding = {}
    return run


def csv(run: "xr.Dataset", path: str | Path, force: bool = False) -> Path:
    """Write a run as CSV: columns as in position[bob.x], units in the second line, one row per time."""
    import csv as writer
    import io

    heads = list(_columns(run.isel(time=slice(0, 0))))
    with aside(path, force) as sink:
        page = io.StringIO()
        rows = writer.writer(page, lineterminator="\n")
        rows.writerow(["time", *(name for name, _, _ in heads)])
        rows.writerow(["s", *(unit for _, unit, _ in heads)])
        for start in range(0, run.sizes["time"], ROWS):
            part = run.isel(time=slice(start, start + ROWS))
            columns = [part["time"].values, *(values for *_, values in _columns(part))]
            rows.writerows(zip(*(values.tolist() for values in columns), strict=True))
            sink.write(page.getvalue().encode())
            sink.check()
            page.seek(0)
            page.truncate()
        sink.write(page.getvalue().encode())
    return Path(path)


def _columns(run: "xr.Dataset") -> Iterator[tuple[str, str, np.ndarray]]:
    """Name, unit and values of each column: every component of every variable over time."""
    for name, variable in run.data_vars.items():
        if "time" not in variable.dims:
            continue
        variable = variable.transpose("time", ...)
        names = [[str(x) for x in variable[dim].values] for dim in variable.dims[1:]]
        per_entry = run.coords.get(MIXED.get(str(name), ""))
        units = None if per_entry is None else [str(x) for x in per_entry.values]
        flat = variable.values.reshape(len(variable), math.prod(variable.shape[1:]))
        for k, parts in enumerate(itertools.product(*names)):
            unit = units[k] if units else str(variable.attrs.get("units", ""))
            yield (f"{name}[{'.'.join(parts)}]" if parts else str(name)), unit, flat[:, k]


def _check_first_bytes(path: Path) -> None:
    where = f"load, '{path}'"
    try:
        with path.open("rb") as file:
            first = file.read(len(HDF5))
    except FileNotFoundError:
        raise InputError(message(where, "no such file", "nothing there", "a netCDF file of a run")) from None
    except OSError as fault:
        raise InputError(message(where, "cannot be read", fault.strerror or str(fault), "a readable file")) from None
    if first == HDF5:
        return
    if first.startswith(CLASSIC):
        raise InputError(message(where, "an older kind of netCDF", "netCDF-3", "netCDF-4, as polhode saves it"))
    found = "an empty file" if not first else f"a file that begins with {first!r}"
    raise InputError(message(where, "not a netCDF file", found, "a file that polhode saved"))


def _representable(attributes: dict) -> dict:
    """Attributes as netCDF has them: no None, no truth values."""
    plain = {}
    for name, value in attributes.items():
        plain[name] = "" if value is None else int(value) if isinstance(value, (bool, np.bool_)) else value
    return plain
