"""The arrays of a study on disk: shapes, shards, codecs and attributes; the bytes of their chunks."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode import __version__
from polhode.ensemble.on_disk.seal import FORMAT, Seal
from polhode.ensemble.study_runner import StudyRunner
from polhode.errors import InputError, message

PIECE = 2**22
"""Approximate bytes of the inner chunks of a shard: the least that a reader of a few runs reads."""

SEPARATOR = Seal._field_defaults["separator"]
"""Between the numbers in the name of a chunk's file: no slash, since each folder would cost as much as a file."""

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


def empty_group(runner: StudyRunner, chunk: int, known: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of a new study by key: its arrays, empty, with their coordinates and attributes.

    Zarr would make the same arrays in ten times the time.

    known  the attributes of the study, `runner.attributes`
    """
    zarr, files = needed(), dict[str, bytes]()
    runs = runner.study.runs
    for name, array in runner.arrays.items():
        described = _described((runs, *array.sizes), (chunk, *array.sizes), array.kind, ("run", *array.axes))
        files[f"{name}/zarr.json"] = _json(described | {"attributes": dict(array.attrs)})
    used = {axis for array in runner.arrays.values() for axis in array.axes}
    for name, values in runner.coordinates.items():
        if len(values) and name in used:
            files |= _coordinate(name, values)
    versions = {"polhode": __version__, "numpy": np.__version__, "zarr": zarr.__version__}
    more = {"source": runner.study.source, "versions": json.dumps(versions), "format": FORMAT, "chunk": chunk}
    attributes = {**known, **more, "arrays": list(runner.arrays)}
    return files | {"zarr.json": _json({"attributes": attributes, "zarr_format": 3, "node_type": "group"})}


def _json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content).encode()


def _described(
    shape: tuple[int, ...], whole: tuple[int, ...], kind: str, axes: tuple[str, ...]
) -> dict[str, Any]:  # fmt: skip
    """The metadata of an array in chunks of a shape, `whole`, but for its attributes.    Zarr 3 specification

    kind  of its numbers, as NumPy calls it, or "string"
    """
    inner = _inner(whole, kind)
    codecs = _codecs(kind)
    if inner < whole[0]:
        shard = {"chunk_shape": [inner, *whole[1:]], "codecs": codecs, "index_codecs": _codecs("u8")}
        codecs = [{"name": "sharding_indexed", "configuration": shard | {"index_location": "end"}}]
    fill: Any = {"f8": "NaN", "string": ""}.get(kind, 0)
    return {
        "shape": list(shape), "data_type": kind if kind == "string" else np.dtype(kind).name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(whole)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": SEPARATOR}},
        "fill_value": fill, "codecs": codecs, "dimension_names": list(axes), "zarr_format": 3,
        "node_type": "array", "storage_transformers": [],
    }  # fmt: skip


def _inner(whole: tuple[int, ...], kind: str) -> int:
    """The runs of an inner chunk, of about PIECE bytes where the whole one has more."""
    chunk = whole[0]
    wanted = 1 if kind == "string" else math.prod(whole) * np.dtype(kind).itemsize // PIECE
    if wanted < 2 or len(whole) == 1:
        return chunk
    return chunk // next((k for k in range(wanted, min(4 * wanted, chunk) + 1) if chunk % k == 0), 1)


def _codecs(kind: str) -> list[dict[str, Any]]:
    """The codecs of a chunk: its bytes, and their checksum."""
    if kind == "string":
        first: dict[str, Any] = {"name": "vlen-utf8", "configuration": {}}
    else:
        one = np.dtype(kind).itemsize == 1
        first = {"name": "bytes"} | ({} if one else {"configuration": {"endian": "little"}})
    return [first, {"name": "crc32c"}]


def _coordinate(name: str, values: Sequence[Any]) -> dict[str, bytes]:
    """The files of a coordinate by key: times, or names."""
    kind, content = ("f8", np.array(values, "<f8").tobytes()) if name == "time" else ("string", _texts(values))
    attrs = {"units": "s"} if name == "time" else {}
    described = _described((len(values),), (len(values),), kind, (name,)) | {"attributes": attrs}
    data = b"".join(_with_checksum(np.frombuffer(content, np.uint8)))
    return {f"{name}/zarr.json": _json(described), f"{name}/c{SEPARATOR}0": data}


def _texts(values: Sequence[str]) -> bytes:
    """Texts as Zarr's codec vlen-utf8 writes them: how many there are, then the length and the bytes of each."""
    encoded = [x.encode() for x in values]
    return b"".join([len(encoded).to_bytes(4, "little"), *(len(x).to_bytes(4, "little") + x for x in encoded)])


class ChunkLayout(NamedTuple):
    """How the file of a chunk of runs is laid out, as `empty_group` describes its array.

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
