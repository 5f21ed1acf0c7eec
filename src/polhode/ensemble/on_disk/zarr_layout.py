"""The arrays of a study on disk: shapes, shards, codecs and attributes."""

import json
from typing import Any

import numpy as np

from polhode import __version__
from polhode.ensemble.on_disk.seal import FORMAT
from polhode.ensemble.study_runner import StudyRunner
from polhode.errors import InputError, message

PIECE = 2**22
"""Approximate bytes of the inner chunks of a shard: the least that a reader of a few runs reads."""

SHARDED = 2**18
"""Bytes of one chunk of runs from which an array is sharded; a smaller one is one piece."""


def needed() -> Any:
    """The Zarr package, or an error that says how to get it."""
    try:
        import zarr
    except ImportError:
        fix = "Install it with: pip install 'polhode[ensemble]'."
        raise InputError(message("sweep, out", "no store", "no package zarr", "zarr 3", fix)) from None
    return zarr


def fill(group: Any, runner: StudyRunner, chunk: int) -> None:
    """Make the arrays of a new store, empty, with their coordinates and attributes."""
    import zarr
    from zarr.codecs import Crc32cCodec

    runs = runner.study.runs
    for name, array in runner.arrays.items():
        whole = (chunk, *array.sizes)
        size = int(np.prod(whole)) * np.dtype(array.kind).itemsize
        inner, shards = whole, None
        if size > SHARDED and array.sizes:
            wanted = max(1, size // PIECE)
            pieces = next((k for k in range(wanted, min(4 * wanted, chunk) + 1) if chunk % k == 0), 1)
            inner, shards = (chunk // pieces, *array.sizes), whole
        fill: Any = np.nan if array.kind == "f8" else 0
        made = group.create_array(
            name, shape=(runs, *array.sizes), chunks=inner, shards=shards, dtype=array.kind, fill_value=fill,
            compressors=[Crc32cCodec()], dimension_names=("run", *array.axes),
        )  # fmt: skip
        made.attrs.update(array.attrs)
    for name, values in runner.coordinates.items():
        if len(values) and any(name in array.axes for array in runner.arrays.values()):
            texts = name != "time"
            data = np.array(values, dtype=object if texts else float)
            kept = group.create_array(name, shape=data.shape, dtype=str if texts else float, dimension_names=(name,))
            kept[:] = data
            if name == "time":
                kept.attrs["units"] = "s"
    versions = {"polhode": __version__, "numpy": np.__version__, "zarr": zarr.__version__}
    more = {"source": runner.study.source, "versions": json.dumps(versions), "format": FORMAT, "chunk": chunk}
    group.attrs.update(runner.attributes | more | {"arrays": list(runner.arrays)})
