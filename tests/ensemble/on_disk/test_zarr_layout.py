"""The bytes of chunks, against those that Zarr writes of the same numbers."""

import json

import numpy as np
import pytest
import zarr
from zarr.codecs import Crc32cCodec

import polhode as ph
from polhode.ensemble.on_disk.zarr_layout import ChunkLayout, empty_group
from polhode.ensemble.study import study
from polhode.result.digests import digest_of, read_json, written_with_digest

ARRAYS = {
    "sharded": {"shape": (50, 21, 7), "chunks": (4, 21, 7), "shards": (16, 21, 7), "dtype": "f8", "fill_value": np.nan},
    "one piece": {"shape": (50, 3), "chunks": (16, 3), "dtype": "f8", "fill_value": np.nan},
    "bytes": {"shape": (50,), "chunks": (16,), "dtype": "i1", "fill_value": 0},
}
"""Arrays of 50 runs in chunks of 16: the last has two, which fill an inner chunk by half."""


@pytest.mark.parametrize("kind", ARRAYS)
def test_chunks_have_the_bytes_that_zarr_writes(kind, tmp_path):
    given = ARRAYS[kind]
    group = zarr.open_group(str(tmp_path / "theirs"), mode="w", zarr_format=3)
    with zarr.config.set({"array.write_empty_chunks": True}):
        array = group.create_array("x", compressors=[Crc32cCodec()], **given)
        values = (100 * np.random.default_rng(0).normal(size=given["shape"])).astype(given["dtype"])
        array[:] = values
    layout = ChunkLayout.of(read_json(tmp_path / "theirs" / "x" / "zarr.json"))
    for number in range(4):
        theirs = (tmp_path / "theirs" / "x" / "c" / "/".join([str(number), *"0" * (values.ndim - 1)])).read_bytes()
        ours, runs = tmp_path / "ours" / str(number), values[16 * number : 16 * number + 16]
        found = written_with_digest("place", ours, layout.pieces(runs))
        assert ours.read_bytes() == theirs
        assert found == digest_of("place", ours)
    assert len([*ours.parent.iterdir()]) == 4


def test_a_file_that_cannot_be_written_whole_is_not_there(tmp_path):
    def broken():
        yield b"begun"
        raise OSError("no room")

    (tmp_path / "f").write_bytes(b"before")
    with pytest.raises(OSError, match="no room"):
        written_with_digest("place", tmp_path / "f", broken())
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert (tmp_path / "f").read_bytes() == b"before"


def zarrs_own(group, name, described, data=None):
    """The metadata that Zarr makes of an array like this one."""
    chunks, shards = described["chunk_grid"]["configuration"]["chunk_shape"], None
    if described["codecs"][0]["name"] == "sharding_indexed":
        chunks, shards = described["codecs"][0]["configuration"]["chunk_shape"], tuple(chunks)
    texts = described["data_type"] == "string"
    array = group.create_array(
        name, shape=described["shape"], chunks=tuple(chunks), shards=shards, attributes=described["attributes"],
        dtype=str if texts else described["data_type"], fill_value="" if texts else float(described["fill_value"]),
        compressors=[Crc32cCodec()], dimension_names=described["dimension_names"],
        chunk_key_encoding={"name": "default", "separator": "."},
    )  # fmt: skip
    if data is not None:
        array[:] = data


@pytest.mark.parametrize("runs", [5000, 70])
def test_a_new_group_is_the_one_that_zarr_makes(runs):
    """Its metadata, and the bytes of its coordinates, of arrays with shards and without."""
    what = study(
        ph.load("double-pendulum"), {"start.v.hinge": ph.Normal(0, 1)}, runs=runs, duration=2, step=0.01, every=1
    )
    runner = ph.StudyRunner(what)
    ours = empty_group(runner, min(4096, runs), runner.attributes)
    theirs: dict = {}
    group = zarr.create_group(zarr.storage.MemoryStore(theirs), zarr_format=3)
    group.update_attributes(json.loads(ours["zarr.json"])["attributes"])
    for name in [key.split("/")[0] for key in ours if key.endswith("/zarr.json")]:
        zarrs_own(group, name, json.loads(ours[f"{name}/zarr.json"]), runner.coordinates.get(name))
    assert set(theirs) == set(ours)
    for key, content in theirs.items():
        if key.endswith("zarr.json"):
            assert json.loads(content.to_bytes()) == json.loads(ours[key]), key
        else:
            assert content.to_bytes() == ours[key], key
    shards = [json.loads(ours[f"{name}/zarr.json"])["codecs"][0]["name"] for name in ("q", "end_time")]
    assert shards == ["sharding_indexed" if runs == 5000 else "bytes", "bytes"]
