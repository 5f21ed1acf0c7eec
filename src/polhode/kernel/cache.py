"""Compiled kernels on disk: found again by what made them, never trusted unless they are ours and whole.

The cache holds executable code. Its folder must belong to the user alone; each file carries the
checksum of its content; writers put a file aside and rename it. Where any of this fails the cache is
silently without the file, and the kernel is compiled again.
"""

import hashlib
import json
import os
import struct
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

LIMIT = 512 * 2**20
"""Bytes that the folder may hold; the files not used for longest go first."""

MAGIC = b"polhode kernel 1\n"


class Entry(NamedTuple):
    """What is kept of a kernel: facts about it (plain JSON) and its object code."""

    facts: dict[str, Any]
    image: bytes


@cache
def source_digest() -> str:
    """A digest of this package's own source: other source, other kernels."""
    digest = hashlib.sha256()
    root = Path(__file__).resolve().parents[1]
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def key(*parts: str) -> str:
    """The name of a kernel: a digest of all that it depends on."""
    digest = hashlib.sha256()
    for part in (source_digest(), *parts):
        digest.update(struct.pack("<Q", len(part)))
        digest.update(part.encode())
    return digest.hexdigest()


def folder() -> Path | None:
    """The folder of the cache, made if need be; None where there is none that belongs to the user alone.

    $POLHODE_CACHE names it; empty means no cache. Otherwise ~/.cache/polhode (or $XDG_CACHE_HOME).
    """
    named = os.environ.get("POLHODE_CACHE")
    if named == "" or not hasattr(os, "getuid"):
        return None
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        place = Path(named) if named else base / "polhode"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = place.stat()
    except (OSError, RuntimeError):
        return None
    return place if found.st_uid == os.getuid() and not found.st_mode & 0o077 else None


def load(name: str) -> Entry | None:
    """The kernel of this name, if it is there and whole."""
    place = folder()
    if place is None:
        return None
    path = place / f"{name}.kernel"
    try:
        found = path.stat()
        if found.st_uid != os.getuid() or found.st_mode & 0o077:
            return None
        data = path.read_bytes()
        entry = _unpacked(data)
        if entry:
            os.utime(path)  # used now
    except OSError:
        return None
    return entry


def save(name: str, entry: Entry) -> None:
    """Keep a kernel, where there is a folder for it."""
    place = folder()
    if place is None:
        return
    try:
        handle, aside = tempfile.mkstemp(prefix=".", suffix=".part", dir=place)  # readable by its owner only
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_packed(entry))
            os.replace(aside, place / f"{name}.kernel")
        except OSError:
            os.unlink(aside)
            return
        _trim(place)
    except OSError:  # the folder went away, the disk is full: the kernel is in memory all the same
        return


def _packed(entry: Entry) -> bytes:
    facts = json.dumps(entry.facts, sort_keys=True).encode()
    payload = struct.pack("<Q", len(facts)) + facts + entry.image
    return MAGIC + hashlib.sha256(payload).digest() + payload


def _unpacked(data: bytes) -> Entry | None:
    start = len(MAGIC) + 32
    payload = data[start:]
    if not data.startswith(MAGIC) or hashlib.sha256(payload).digest() != data[len(MAGIC) : start]:
        return None
    (size,) = struct.unpack_from("<Q", payload)
    return Entry(json.loads(payload[8 : 8 + size]), payload[8 + size :])


def _trim(place: Path) -> None:
    """Remove the files not used for longest, until the folder is within its limit."""
    files = [(path.stat(), path) for path in place.glob("*.kernel")]
    total = sum(found.st_size for found, _ in files)
    for found, path in sorted(files, key=lambda pair: pair[0].st_mtime):
        if total <= LIMIT:
            return
        path.unlink(missing_ok=True)
        total -= found.st_size
