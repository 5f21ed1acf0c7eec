"""Runs as files: netCDF to keep, CSV for spreadsheets."""

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError, PolhodeWarning, escaped, fault_of_name, message
from polhode.result.atomic_file import Sink, atomic_write
from polhode.result.dataset import MIXED, STATUSES, VARIABLES, xarray
from polhode.result.digests import Damaged
from polhode.result.trailer import MARK, NOTE, read_trailer, write_trailer

if TYPE_CHECKING:
    import xarray as xr

HDF5, CLASSIC = b"\x89HDF\r\n\x1a\n", b"CDF"
"""The first bytes of netCDF-4 files, which are HDF5, and of older netCDF files."""

LARGE = 2**32
"""Bytes up to which a lazily read file is compared with its digest when it is opened: 4 GiB take some 3 s."""

SPREAD, ROOM = 16, 2**26
"""A run may take SPREAD times the bytes of its file, plus ROOM: our files are not compressed, so more is an attack."""

LONGEST = 2**26
"""Characters that an attribute may have."""

ROWS = 4096
"""Rows of a CSV file that are held in memory at a time."""


def save(run: "xr.Dataset", path: str | Path, force: bool = False) -> Path:
    """Write a run as netCDF-4, atomically; an existing file is refused unless `force`."""
    xarray()
    with atomic_write(path, force) as sink:
        write_netcdf(run.assign_attrs({MARK: NOTE}), sink)
        write_trailer(sink)
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
            encoding[name]["fletcher32"] = True  # of each block, for readers of a part of a large file
    try:
        plain.to_netcdf(sink, engine="h5netcdf", encoding=encoding, **options)
    except (ValueError, TypeError) as fault:
        fix = "Attributes must be text or numbers, variables arrays of numbers or text."
        raise InputError(message("save", "netCDF cannot hold this", str(fault), "plain data", fix)) from fault


def load(path: str | Path, lazy: bool = False, verify: bool | None = None) -> "xr.Dataset":
    """A run read from a file that `save` or a recorded run wrote.

    lazy    leave the arrays in the file until they are used: for runs larger than memory
    verify  compare all bytes with the digest at the end of the file; None: unless it is read lazily and above 4 GiB
    """
    path = Path(path)
    _check_first_bytes(path)
    xr, where, size = xarray(), f"load, '{path}'", path.stat().st_size
    verify = (not lazy or size <= LARGE) if verify is None else verify
    try:
        end = read_trailer(path, verify)
    except Damaged as fault:
        raise _damaged(where, str(fault)) from None
    try:
        run = xr.open_dataset(path, engine="h5netcdf", mask_and_scale=False, decode_times=False, decode_timedelta=False)
    except Exception as fault:  # HDF5 reports damage as nearly any kind of error
        raise _damaged(where, str(fault).splitlines()[0] if str(fault) else type(fault).__name__) from fault
    try:
        _check_kind(where, run)
        if end is None and MARK in run.attrs:
            raise _damaged(where, "its end is missing")
        _check_content(where, run, size)
        if not lazy:
            run.load()
    except InputError:
        run.close()
        raise
    except Exception as fault:
        run.close()
        raise _damaged(where, str(fault).splitlines()[0] if str(fault) else type(fault).__name__) from fault
    if not lazy:
        run.close()
    if end is None or not verify:
        found = "no digest: an older version wrote it" if end is None else f"{size / 2**30:.1f} GiB, verify=True does"
        warnings.warn(message(where, "not compared with what was written", found, "a digest"), PolhodeWarning, 2)
    run.attrs.pop(MARK, None)
    for variable in run.variables.values():
        variable.encoding = {}
    return run


def _damaged(where: str, found: str) -> InputError:
    fix = "Was it cut off while being copied? Fetch it again, or repeat the run."
    return InputError(message(where, "damaged", escaped(found[:200]), "a whole netCDF-4 file", fix))


def _check_kind(where: str, run: "xr.Dataset") -> None:
    missing = [name for name in ("polhode_version", "model_name", "status") if name not in run.attrs]
    if missing:
        fix = "Was it made by another program? xarray.open_dataset reads any netCDF file."
        found = f"no attribute {', '.join(missing)}"
        raise InputError(message(where, "not a run of polhode", found, "a file that polhode saved", fix))


def _check_content(where: str, run: "xr.Dataset", size: int) -> None:
    """Refuse names, kinds, axes and sizes that no run of ours has: a file is input like any other."""

    def refuse(what: str, found: object) -> InputError:
        return InputError(message(where, what, escaped(str(found)[:80]), "a file as polhode saves it"))

    bytes_ = sum(math.prod(x.shape) * max(x.dtype.itemsize, 1) for x in run.variables.values())
    if bytes_ > SPREAD * size + ROOM:
        raise refuse("larger than its file can be", f"{bytes_:.3g} bytes in a file of {size:.3g}")
    for name, variable in run.variables.items():
        if what := _fault_of(str(name), variable, name in run.coords):
            raise refuse(what, f"{name}: {variable.dtype} over {', '.join(map(str, variable.dims))}")
    for attrs in (run.attrs, *(x.attrs for x in run.variables.values())):
        for name, value in attrs.items():
            if not isinstance(value, (str, int, float, np.number, np.ndarray)) or len(str(name)) > 200:
                raise refuse("an attribute that is neither text nor number", f"{name}: {type(value).__name__}")
            if isinstance(value, str) and len(value) > LONGEST:
                raise refuse("an attribute is too long", f"{name}: {len(value)} characters")
    if fault := fault_of_name(run.attrs["model_name"]):
        raise refuse(f"the name of its model {fault}", run.attrs["model_name"])
    if run.attrs["status"] not in STATUSES:
        raise refuse("ended in no way that a run can", run.attrs["status"])


def _fault_of(name: str, variable: Any, labels: bool) -> str:
    """What is wrong with a variable of a file, in half a sentence; "" where a run could have it."""
    kind = variable.dtype.kind
    if fault := fault_of_name(name):
        return f"the name of a variable {fault}"
    if kind not in "biufUSO" or (kind == "O" and not all(isinstance(x, str) for x in variable.values.flat)):
        return "a variable that is neither numbers nor text"
    if name in VARIABLES and (variable.dims != VARIABLES[name].dims or kind not in "biuf"):
        return "a variable with other axes"
    if labels and kind in "UO" and not all(str(x).isprintable() and len(str(x)) <= 1000 for x in variable.values.flat):
        return "a label that cannot be printed"
    return ""


def csv(run: "xr.Dataset", path: str | Path, force: bool = False) -> Path:
    """Write a run as CSV: columns as in position[bob.x], units in the second line, one row per time."""
    import csv as writer
    import io

    heads = list(_columns(run.isel(time=slice(0, 0))))
    with atomic_write(path, force) as sink:
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
