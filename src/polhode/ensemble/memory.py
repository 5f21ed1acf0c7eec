"""Runs in memory as a Dataset, the same as one from a store."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.ensemble.measures import VERDICTS
from polhode.ensemble.study_runner import STATUS, Stretch, StudyRunner

if TYPE_CHECKING:
    import xarray as xr


def joined(fleet: StudyRunner, stretches: Sequence[Stretch]) -> "xr.Dataset":
    """All stretches, in their order."""
    import xarray as xr

    data = {}
    for name, array in fleet.arrays.items():
        attrs = {key: x for key, x in (("units", array.unit), ("long_name", array.note)) if x}
        values = np.concatenate([stretch.arrays[name] for stretch in stretches]).astype(array.kind, copy=False)
        data[name] = (("run", *array.axes), values, attrs)
    used = {axis for array in fleet.arrays.values() for axis in array.axes}
    coordinates = {name: values for name, values in fleet.coordinates.items() if name in used and len(values)}
    reasons = {str(run): why for stretch in stretches for run, why in stretch.reasons.items()}
    study = fleet.study
    facts: dict[str, Any] = {
        "title": study.name, "model_name": study.model.name, "runs": study.runs, "seed": study.seed,
        "study": json.dumps(study.description), "study_text": study.text, "model_text": study.model_text,
        "identity": study.identity, "measures": list(study.measures), "outputs": list(study.outputs),
        "runs_done": study.runs, "reasons": json.dumps(reasons),
    }  # fmt: skip
    found = xr.Dataset(data, coordinates, facts)
    for name, codes in (("status", STATUS), ("verdict", VERDICTS)):
        found[name].attrs["flag_values"] = list(codes.values())
        found[name].attrs["flag_meanings"] = " ".join(key.replace(" ", "_") for key in codes)
    if "event" in found:
        found["event"].attrs["stops"] = list(study.stop)
    return found
