"""The end of a run's file: the digest of all bytes before it, and of what run it is.

HDF5 has no checksums of its own where xarray writes it, and reads what a flipped bit left of it. The last bytes of a
file, which HDF5 does not look at, say what the others must be; they are compared before HDF5 sees any of them.
"""

import hashlib
import os
import re
from pathlib import Path

from polhode.result.atomic_file import Sink
from polhode.result.signed import PIECE, Damaged, open_plain

MARK = "polhode_digest"
"""The attribute that says that a file has this end: without it, it was cut off."""

NOTE = "sha256 of all bytes but the last 150, which hold it"

NOBODY = "-" * 64
"""In place of the digest of a run that cannot be resumed."""

_END = re.compile(rb"\npolhode-sha256 ([0-9a-f]{64}) run ([0-9a-f]{64}|-{64})\n")
SIZE = 150
assert len(f"\npolhode-sha256 {NOBODY} run {NOBODY}\n") == SIZE


def seal_file(sink: Sink, run: str = NOBODY) -> None:
    """Put the end behind all that was written; run: the digest of what it is."""
    sink.check()
    size, found = os.fstat(sink.handle).st_size, hashlib.sha256()
    sink.seek(0)
    left = size
    while left > 0 and (piece := os.read(sink.handle, min(PIECE, left))):
        found.update(piece)
        left -= len(piece)
    sink.seek(0, os.SEEK_END)
    sink.write(f"\npolhode-sha256 {found.hexdigest()} run {run}\n".encode())
    sink.check()


def read_end(path: Path, verify: bool = True) -> str | None:
    """The digest of what run a file is, from its end; None where it has no end of this kind.

    verify  whether all bytes are compared; Damaged where they are not those that were written
    """
    handle = open_plain(path)
    try:
        size = os.fstat(handle).st_size
        os.lseek(handle, max(size - SIZE, 0), os.SEEK_SET)
        parts = _END.fullmatch(os.read(handle, SIZE))
        if parts is None:
            return None
        if verify:
            os.lseek(handle, 0, os.SEEK_SET)
            found, left = hashlib.sha256(), size - SIZE
            while left > 0 and (piece := os.read(handle, min(PIECE, left))):
                found.update(piece)
                left -= len(piece)
            if left or found.hexdigest().encode() != parts[1]:
                raise Damaged("its checksum is wrong")
        return parts[2].decode()
    except OSError as fault:
        raise Damaged(f"cannot be read: {fault.strerror or fault}") from None
    finally:
        os.close(handle)
