"""Files that can be checked: digests of bytes, bound to the place where they belong, and JSON with its own digest.

Everything here is read as untrusted input: only plain files, only up to a size, only plain data. A digest tells damage
from what was written, whatever did it; it is no proof against somebody who writes a new one.
"""

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any

from polhode.errors import PolhodeError

PIECE = 2**18
"""Bytes that are read at a time."""

LARGEST = 64 * 2**20
"""Bytes of a JSON file, at most, unless its reader knows better."""

DIGEST = "sha256"
"""The digest, and its key in a JSON file."""


class Damaged(PolhodeError):
    """A file is not what was written; what is wrong with it, in half a sentence."""


def open_plain(path: Path) -> int:
    """The descriptor of a plain file, open to be read; Damaged where there is none: a pipe would wait for ever."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise Damaged("missing") from None
    except OSError as fault:
        raise Damaged(f"cannot be read: {fault.strerror or fault}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Damaged("not a plain file")
    return handle


def pieces(
    path: Path, size: int | None = None, first: int = 0, last: int | None = None, most: float = inf
) -> Iterator[bytes]:
    """The bytes of a plain file from `first` to `last`, some at a time.

    size, most  of the whole file, exact and at most; Damaged if it has another one
    """
    handle = open_plain(path)
    try:
        there = os.fstat(handle).st_size
        if size is not None and there != size:
            raise Damaged(f"{there} bytes, not {size}")
        if there > most:
            raise Damaged(f"{there} bytes, more than {most}")
        left = (there if last is None else last) - first
        if first:
            os.lseek(handle, first, os.SEEK_SET)
        while left > 0:
            piece = os.read(handle, min(PIECE, left))
            if not piece:
                raise Damaged("cut off while it was read")
            left -= len(piece)
            yield piece
    except OSError as fault:
        raise Damaged(f"cannot be read: {fault.strerror or fault}") from None
    finally:
        os.close(handle)


def digest_of(place: str, path: Path, size: int | None = None) -> tuple[int, str]:
    """Size and digest of a file, bound to its place: the same bytes elsewhere have another one."""
    found, count = hashlib.sha256(f"{place}\n".encode()), 0
    for piece in pieces(path, size):
        found.update(piece)
        count += len(piece)
    return count, found.hexdigest()


def written_with_digest(place: str, path: Path, content: Iterable[bytes | memoryview]) -> tuple[int, str]:
    """Size and digest of a file, as `digest_of`, whose content is written: it is there as a whole, or not at all."""
    found, count = hashlib.sha256(f"{place}\n".encode()), 0
    part = f"{path}.{secrets.token_hex(8)}.partial"
    handle = _created(part, path.parent)
    try:
        try:
            for piece in content:
                view = memoryview(piece)
                while view.nbytes:
                    done = os.write(handle, view[:PIECE])
                    found.update(view[:done])
                    view, count = view[done:], count + done
        finally:
            os.close(handle)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise
    return count, found.hexdigest()


def _created(name: str, folder: Path) -> int:
    """The descriptor of a new file, open to be written; its folder is made where it is not there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        return os.open(name, flags, 0o666)
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(name, flags, 0o666)


def digest(place: str, content: bytes) -> str:
    """The digest of bytes that belong to a place."""
    found = hashlib.sha256(f"{place}\n".encode())
    found.update(content)
    return found.hexdigest()


def check_file(place: str, path: Path, expected: tuple[int, str]) -> None:
    """Raise Damaged unless a file has its size and digest."""
    if digest_of(place, path, expected[0])[1] != expected[1]:
        raise Damaged("its checksum is wrong")


def read_bounded(path: Path, most: int = LARGEST) -> bytes:
    """All bytes of a plain file that is not larger than `most`."""
    return b"".join(pieces(path, most=most))


def read_json(path: Path, most: int = LARGEST) -> dict[str, Any]:
    """The JSON object in a file; Damaged where there is none."""
    try:
        found = json.loads(read_bounded(path, most))
    except (ValueError, RecursionError) as fault:
        raise Damaged(f"not JSON: {str(fault)[:80]}") from None
    if not isinstance(found, dict):
        raise Damaged("no JSON object")
    return found


def with_digest(content: Mapping[str, Any]) -> bytes:
    """JSON of some content and of its digest."""
    return json.dumps({**content, DIGEST: _own_digest(content)}).encode()


def read_digested(path: Path, most: int = LARGEST) -> dict[str, Any]:
    """The content of a JSON file with its digest; Damaged unless it is what was written."""
    found = read_json(path, most)
    own = found.pop(DIGEST, None)
    try:
        if own != _own_digest(found):
            raise Damaged("its checksum is wrong")
    except RecursionError:
        raise Damaged("nested too deeply") from None
    return found


def _own_digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def is_count(value: Any, least: int = 0, most: int = 2**53) -> bool:
    """Whether a value of a JSON file is a whole number within bounds."""
    return type(value) is int and least <= value <= most


def is_digest(value: Any) -> bool:
    """Whether a value of a JSON file is a digest."""
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def is_entry(value: Any) -> bool:
    """Whether a value of a JSON file is the size and digest of a file."""
    return isinstance(value, list) and len(value) == 2 and is_count(value[0]) and is_digest(value[1])
