"""A read-only Zarr store of a study: bytes are compared with their digests before they are handed out.

A chunk without a receipt is not there, whatever lies on the disk; a file that its receipt or the seal tells of, and
that is missing or another, is an error, never an array of NaN.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest

from polhode.ensemble.on_disk.seal import GROUP, Seal
from polhode.errors import InputError, message
from polhode.result.digests import Damaged, check_file, digest, pieces

SMALL = 2**16
"""Bytes of a file that is read at once: a thread for it would take as long, about 0.1 ms."""


class SealedStore(Store):
    """The group of a study, as its seal and the receipts of its chunks say it is."""

    supports_writes = supports_deletes = supports_partial_writes = False
    supports_listing = True

    def __init__(self, folder: Path, seal: Seal, receipts: Mapping[int, Mapping[str, Any]]) -> None:
        super().__init__(read_only=True)
        self.folder, self.seal = folder, seal
        self._known = {key: (seal.place(key), entry) for key, entry in seal.files.items()}
        for number, receipt in receipts.items():
            for name, entry in receipt["files"].items():
                self._known[seal.key(name, number)] = seal.chunk_place(name, number), tuple(entry)
        self._seen: dict[str, tuple[int, ...]] = {}  # files that were compared, as they were then

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SealedStore) and (self.folder, self.seal) == (other.folder, other.seal)

    def __hash__(self) -> int:
        return hash((self.folder, self.seal.identity))

    def with_read_only(self, read_only: bool = False) -> "SealedStore":
        """Itself: it cannot be written."""
        return self

    def _bytes(self, key: str, wanted: Any) -> bytes | None:
        """The bytes of a file, or some of them; None where a study has no such file."""
        if key not in self._known:
            return None
        place, entry = self._known[key]
        path = self.folder / GROUP / key
        try:
            first, last = _span(wanted, entry[0])
            if (first, last) != (0, entry[0]) and self._seen.get(key) != _state(path):
                check_file(place, path, entry)
                self._seen[key] = _state(path)
            found = b"".join(pieces(path, entry[0], first, last))
            if (first, last) == (0, entry[0]) and digest(place, found) != entry[1]:
                raise Damaged("its checksum is wrong")
        except Damaged as fault:
            fix = f"Compute it again: polhode sweep --resume --out '{self.folder}'"
            where, expected = f"study '{self.folder}', {GROUP}/{key}", "the file that was signed for"
            raise InputError(message(where, "damaged", str(fault), expected, fix)) from None
        return found

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        """The bytes of a file as Zarr wants them, compared with their digest."""
        size = self._known[key][1][0] if key in self._known else 0
        found = self._bytes(key, byte_range) if size <= SMALL else await asyncio.to_thread(self._bytes, key, byte_range)
        if found is None:
            return None
        if prototype is None:
            from zarr.core.buffer.core import default_buffer_prototype

            prototype = default_buffer_prototype()
        return prototype.buffer.from_bytes(found)

    async def get_partial_values(self, prototype: Any, key_ranges: Iterable[tuple[str, Any]]) -> list[Any]:
        """Parts of files."""
        return [await self.get(key, prototype, wanted) for key, wanted in key_ranges]

    async def exists(self, key: str) -> bool:
        """Whether a study has this file."""
        return key in self._known

    async def set(self, key: str, value: Any) -> None:
        """Refused."""
        self._check_writable()

    async def delete(self, key: str) -> None:
        """Refused."""
        self._check_writable()

    async def list(self) -> AsyncIterator[str]:
        """All files."""
        for key in self._known:
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Files whose path begins so."""
        for key in self._known:
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """What is directly in a folder."""
        head = f"{prefix.rstrip('/')}/" if prefix else ""
        for name in dict.fromkeys(key[len(head) :].split("/")[0] for key in self._known if key.startswith(head)):
            yield name


def _state(path: Path) -> tuple[int, ...]:
    """Numbers of a file that change when it does: inode, size and times."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _span(wanted: Any, size: int) -> tuple[int, int]:
    """The first byte that is wanted, and the first after them."""
    if isinstance(wanted, RangeByteRequest):
        return min(wanted.start, size), min(wanted.end, size)
    if isinstance(wanted, OffsetByteRequest):
        return min(wanted.offset, size), size
    if isinstance(wanted, SuffixByteRequest):
        return max(size - wanted.suffix, 0), size
    return 0, size
