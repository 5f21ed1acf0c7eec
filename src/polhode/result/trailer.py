"""The trailer of a run's file: the digest of all bytes before it, and of what run it is.

HDF5 has no checksums of its own where xarray writes it, and reads what a flipped bit left of it. The last bytes of a
file, which HDF5 does not look at, say what the others must be; they are compared before HDF5 sees any of them.
"""

import hashlib
import os
import re
from pathlib import Path

from polhode.result.atomic_file import Sink
from polhode.result.digests import PIECE, Damaged, open_plain

MARK = "polhode_digest"
"""The attribute that says that a file has a trailer: one without it was cut off."""

NOTE = "sha256 of all bytes but the last 150, which hold it"

NO_RUN = "-" * 64
"""Stands for the run's digest where the run cannot be resumed."""

_TRAILER = re.compile(rb"\npolhode-sha256 ([0-9a-f]{64}) run ([0-9a-f]{64}|-{64})\n")
SIZE = 150
assert len(f"\npolhode-sha256 {NO_RUN} run {NO_RUN}\n") == SIZE


def write_trailer(sink: Sink, run: str = NO_RUN) -> None:
    """Write the trailer behind all bytes of a file; run: the digest of what run it is."""
    sink.check()
    size = os.fstat(sink.handle).st_size
    sink.seek(0)
    found = _digest(sink.handle, size)
    sink.seek(0, os.SEEK_END)
    sink.write(f"\npolhode-sha256 {found} run {run}\n".encode())
    sink.check()


def read_trailer(path: Path, verify: bool = True) -> str | None:
    """The digest of what run a file is, from its trailer; None where it has none.

    verify  whether all bytes are compared; Damaged where they are not those that were written
    """
    handle = open_plain(path)
    try:
        size = os.fstat(handle).st_size
        os.lseek(handle, max(size - SIZE, 0), os.SEEK_SET)
        parts = _TRAILER.fullmatch(os.read(handle, SIZE))
        if parts is None:
            return None
        if verify:
            os.lseek(handle, 0, os.SEEK_SET)
            if _digest(handle, size - SIZE).encode() != parts[1]:
                raise Damaged("its checksum is wrong")
        return parts[2].decode()
    except OSError as fault:
        raise Damaged(f"cannot be read: {fault.strerror or fault}") from None
    finally:
        os.close(handle)


def _digest(handle: int, size: int) -> str:
    """The digest of the next bytes of an open file; of fewer where it ends before."""
    found = hashlib.sha256()
    while size > 0 and (piece := os.read(handle, min(PIECE, size))):
        found.update(piece)
        size -= len(piece)
    return found.hexdigest()
