"""The bytes of chunks, against those that Zarr writes of the same numbers."""

import numpy as np
import pytest
import zarr
from zarr.codecs import Crc32cCodec

from polhode.ensemble.on_disk.zarr_layout import ChunkLayout
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
