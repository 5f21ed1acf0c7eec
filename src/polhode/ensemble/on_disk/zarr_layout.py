"""The arrays of a study on disk: shapes, shards, codecs and attributes; the bytes of their chunks."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from polhode import __version__
from polhode.ensemble.on_disk.seal import FORMAT
from polhode.ensemble.study_runner import StudyRunner
from polhode.errors import InputError, message

PIECE = 2**22
"""Approximate bytes of the inner chunks of a shard: the least that a reader of a few runs reads."""

SHARDED = 2**18
"""Bytes of one chunk of runs from which an array is sharded; a smaller one is one piece."""


MISSING = 2**64 - 1
"""Place and size, in the index of a shard, of an inner chunk that is not there."""


def needed() -> Any:
    """The Zarr package, or an error that says how to get it."""
    try:
        import zarr
    except ImportError:
        fix = "Install it with: pip install 'polhode[ensemble]'."
        raise InputError(message("sweep, out", "no store", "no package zarr", "zarr 3", fix)) from None
    return zarr


def empty_group(runner: StudyRunner, chunk: int) -> dict[str, bytes]:
    """The files of a new study by key: its arrays, empty, with their coordinates and attributes.

    Zarr makes them in memory; on disk it would write some of them over and over.
    """
    zarr = needed()
    from zarr.codecs import Crc32cCodec

    files: dict[str, Any] = {}
    group = zarr.create_group(zarr.storage.MemoryStore(files), zarr_format=3)
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
        group.create_array(
            name, shape=(runs, *array.sizes), chunks=inner, shards=shards, dtype=array.kind, fill_value=fill,
            compressors=[Crc32cCodec()], dimension_names=("run", *array.axes), attributes=dict(array.attrs),
        )  # fmt: skip
    for name, values in runner.coordinates.items():
        if len(values) and any(name in array.axes for array in runner.arrays.values()):
            texts = name != "time"
            data = np.array(values, dtype=object if texts else float)
            kept = group.create_array(
                name, shape=data.shape, dtype=str if texts else float, dimension_names=(name,),
                attributes={} if texts else {"units": "s"},
            )  # fmt: skip
            kept[:] = data
    versions = {"polhode": __version__, "numpy": np.__version__, "zarr": zarr.__version__}
    more = {"source": runner.study.source, "versions": json.dumps(versions), "format": FORMAT, "chunk": chunk}
    group.update_attributes(runner.attributes | more | {"arrays": list(runner.arrays)})
    return {key: content.to_bytes() for key, content in files.items()}


class ChunkLayout(NamedTuple):
    """How the file of a chunk of runs is laid out, as `fill` made its array.

    Zarr writes the same bytes, in ten times the time where arrays are small.    Zarr 3 specification, sharding codec

    runs   of a chunk;  inner: of an inner chunk, or None where the chunk is one piece
    shape  of one run;  kind, fill: its numbers, and those where no run is
    """

    runs: int
    inner: int | None
    shape: tuple[int, ...]
    kind: np.dtype
    fill: Any

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> "ChunkLayout":
        """The layout of an array that its zarr.json describes."""
        runs, *shape = described["chunk_grid"]["configuration"]["chunk_shape"]
        first = described["codecs"][0]
        inner = first["configuration"]["chunk_shape"][0] if first["name"] == "sharding_indexed" else None
        kind = np.dtype(described["data_type"]).newbyteorder("<")
        return cls(runs, inner, tuple(shape), kind, float(described["fill_value"]))

    def pieces(self, values: np.ndarray) -> Iterator[bytes | memoryview]:
        """The bytes of the file of a chunk of runs (n, …), one after the other; the last chunk may have fewer runs."""
        values = np.ascontiguousarray(values, dtype=self.kind)
        inner, at, index = self.inner or self.runs, 0, list[tuple[int, int]]()
        for first in range(0, self.runs, inner):
            rows = values[first : first + inner]
            if not len(rows):
                index.append((MISSING, MISSING))
                continue
            if len(rows) < inner:
                rows = np.concatenate([rows, np.full((inner - len(rows), *self.shape), self.fill, self.kind)])
            yield from _with_checksum(rows)
            index.append((at, rows.nbytes + 4))
            at += rows.nbytes + 4
        if self.inner:
            yield from _with_checksum(np.array(index, dtype="<u8"))


def _with_checksum(numbers: np.ndarray) -> Iterator[bytes | memoryview]:
    """The bytes of numbers, and the checksum that Zarr's codec crc32c puts after them."""
    from google_crc32c import value  # of the packages that Zarr needs

    data = numbers.reshape(-1).view(np.uint8)
    yield data.data
    yield value(data).to_bytes(4, "little")
