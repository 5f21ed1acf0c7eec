"""Runs in memory as a Dataset, the same as that of a store."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from polhode.ensemble.study_runner import RunBlock, StudyRunner

if TYPE_CHECKING:
    import xarray as xr


def joined(runner: StudyRunner, blocks: Sequence[RunBlock]) -> "xr.Dataset":
    """All runs of a study, from blocks of them in their order."""
    import xarray as xr

    data = {}
    for name, array in runner.arrays.items():
        parts = [block.arrays[name] for block in blocks]
        values = np.concatenate(parts) if len(parts) > 1 else parts[0]
        data[name] = (("run", *array.axes), values.astype(array.kind, copy=False), array.attrs)
    used = {axis for array in runner.arrays.values() for axis in array.axes}
    coordinates = {name: values for name, values in runner.coordinates.items() if name in used and len(values)}
    reasons = {str(run): why for block in blocks for run, why in block.reasons.items()}
    known = {"runs_done": runner.study.runs, "reasons": json.dumps(reasons)}
    return xr.Dataset(data, coordinates, runner.attributes | known)
