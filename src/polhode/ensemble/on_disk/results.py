"""What is made of a study on disk: summary.nc and report.html in its folder, signed."""

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from polhode.ensemble.on_disk.seal import REPORT, RESULTS, SUMMARY, sign_results
from polhode.ensemble.summary import summary
from polhode.result.atomic_file import atomic_write, clear_parts
from polhode.result.files import write_netcdf

if TYPE_CHECKING:
    import xarray as xr

PAGE = ("polhode.show.page.study", "write_study_report")
"""Who draws the page. By name: rooms side by side do not import each other, and a study in memory needs no page."""


def write_results(dataset: "xr.Dataset", folder: Path) -> "xr.Dataset":
    """The summary of the study in a folder, which is then there too, with its page."""
    import dask

    found = summary(dataset)
    paths = [folder / SUMMARY, folder / REPORT]
    (folder / RESULTS).unlink(missing_ok=True)  # what it says is no longer so
    clear_parts(*paths)
    kept = found.copy()
    kept.attrs = {key: x if isinstance(x, (str, int, float)) else json.dumps(x) for key, x in found.attrs.items()}
    with dask.config.set(scheduler="synchronous"), atomic_write(paths[0], force=True) as sink:
        write_netcdf(kept, sink)  # here: a lock of a cluster knows no file of ours
    module, name = PAGE
    getattr(import_module(module), name)(found, paths[1])
    sign_results(folder, str(found.attrs["identity"]), [path.name for path in paths])
    return found
