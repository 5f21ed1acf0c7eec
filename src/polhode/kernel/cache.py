"""Compiled kernels on disk: found again by what made them, never trusted unless they are ours and whole.

The cache holds executable code. Its folder must belong to the user alone and be no link; folder and file are
opened once, and what is checked (`fstat`) and read is what was opened, so that nothing can be put in its place in
between. Each file carries a digest of its name and content: a file that was damaged, or copied over another, is not
used. Writes are atomic, by descriptors of the folder (`result.atomic_file` goes by paths). Where any of this fails
the cache is silently without the file, and the kernel is compiled again.
"""

import hashlib
import json
import os
import secrets
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

LIMIT = 512 * 2**20
"""Bytes that the folder may hold; the files not used for longest go first."""

KERNEL, FACTS, GRAPH = ".kernel", ".facts", ".graph"
"""The suffixes of files: of kernels, of other small results that take long (`load_facts`, `small_code`), and of graphs
that are to become kernels (`wanted.py`)."""

MAGIC = b"polhode kernel 3\n"

ABANDONED = 3600.0
"""Seconds after which an unfinished file belongs to a writer that was killed."""


CLAIMED = 300.0
"""Seconds after which a claim belongs to a process that was killed."""


SETTLED = 10.0
"""Seconds for which no file of the source may have changed for its digest to be kept: a clock of files that goes in
steps of up to 2 s shows a second change within one step as none."""


class CachedKernel(NamedTuple):
    """A kernel as it is kept: facts about it (plain JSON) and its object code.

    bitcode  of one that was compiled quickly, what its optimised code is to be made of
    """

    facts: dict[str, Any]
    image: bytes
    bitcode: bytes = b""


@cache
def source_digest() -> str:
    """A digest of this package's own source: other source, other kernels.

    Files that are as they were when they were last read (`_stamp`) are not read again: 3 in place of 13 ms.
    """
    root = str(Path(__file__).resolve().parents[1])
    files = sorted(_sources(root))
    name, since = _stamp(root, files)
    if (known := load_facts(name)) is not None and type(found := known.get("source")) is str:
        return found
    digest = _content_digest(root, [path for path, _ in files])
    if since < time.time() - SETTLED and _stamp(root, sorted(_sources(root)))[0] == name:
        save_facts(name, {"source": digest})
    return digest


def _stamp(root: str, files: list[tuple[str, os.stat_result]]) -> tuple[str, float]:
    """A digest of where files are and of all that the system tells of their state, and when the last of them changed.

    The time of change, unlike that of modification, is set by no program, and is another after each write.
    """
    told = [(path, x.st_dev, x.st_ino, x.st_size, x.st_mtime_ns, x.st_ctime_ns) for path, x in files]
    text = json.dumps(["source", root, *told])
    return hashlib.sha256(text.encode()).hexdigest(), max(x.st_ctime for _, x in files)


def _content_digest(root: str, paths: list[str]) -> str:
    """A digest of the names and contents of files."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.removeprefix(root).encode())
        file = os.open(path, os.O_RDONLY)  # as pathlib does, in half the time
        try:
            while part := os.read(file, max(os.fstat(file).st_size, 1)):
                digest.update(part)
        finally:
            os.close(file)
    return digest.hexdigest()


def _sources(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The paths of all modules in a folder and below, and their state."""
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir():
                yield from _sources(entry.path)
            elif entry.name.endswith(".py"):
                yield entry.path, entry.stat()


def key(*parts: str) -> str:
    """The name of a kernel: a digest of all that it depends on."""
    digest = hashlib.sha256()
    for part in (source_digest(), *parts):
        digest.update(struct.pack("<Q", len(part)))
        digest.update(part.encode())
    return digest.hexdigest()


def folder(named: str | None = None, make: bool = True) -> int | None:
    """A descriptor of the cache's folder, made if need be; None where there is none that belongs to the user alone.

    $POLHODE_CACHE names it; empty means no cache. Otherwise ~/.cache/polhode (or $XDG_CACHE_HOME). A link is refused.

    named  what to take for $POLHODE_CACHE; None: its value now
    make   whether it is made where it is not there
    """
    named = os.environ.get("POLHODE_CACHE") if named is None else named
    if named == "" or not hasattr(os, "getuid"):
        return None
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        place = Path(named) if named else base / "polhode"
        if make:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, RuntimeError, ValueError):  # ValueError: a NUL in the name
        return None
    if _is_own(os.fstat(found)):
        return found
    os.close(found)
    return None


def _is_own(found: os.stat_result) -> bool:
    """Whether a file or folder belongs to the user, and nobody else may read or write it."""
    return found.st_uid == os.getuid() and not found.st_mode & 0o077


@contextmanager
def _opened(named: str | None = None, make: bool = True) -> Iterator[int | None]:
    """The folder's descriptor, closed afterwards."""
    found = folder(named, make)
    try:
        yield found
    finally:
        if found is not None:
            os.close(found)


def load(name: str, named: str | None = None, suffix: str = KERNEL) -> CachedKernel | None:
    """The kernel of this name, if it is there and whole.  named: as in `folder`; suffix: KERNEL, FACTS or GRAPH"""
    with _opened(named) as place:
        if place is None:
            return None
        try:
            handle = os.open(
                f"{name}{suffix}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place
            )
        except OSError:
            return None
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or not _is_own(found) or found.st_size > LIMIT:
                return None
            with os.fdopen(handle, "rb", closefd=False) as file:
                entry = _unpacked(name, file.read(found.st_size))
            if entry:
                os.utime(handle)  # used now
        except OSError:
            return None
        finally:
            os.close(handle)
    return entry


def is_there(name: str, suffix: str = KERNEL) -> bool:
    """Whether there is a file of this name; `load` tells whether it is whole.  suffix: as in `load`"""
    with _opened(make=False) as place:
        if place is None:
            return False
        try:
            os.stat(f"{name}{suffix}", dir_fd=place, follow_symlinks=False)
        except OSError:
            return False
    return True


def save(name: str, entry: CachedKernel, named: str | None = None, make: bool = True, suffix: str = KERNEL) -> None:
    """Keep a kernel, where there is a folder for it.  named, make: as in `folder`; suffix: as in `load`"""
    with _opened(named, make) as place:
        if place is None:
            return
        part = f".{secrets.token_hex(8)}.part"
        create = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(part, create, 0o600, dir_fd=place)  # readable by its owner only
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_packed(name, entry))
                os.replace(part, f"{name}{suffix}", src_dir_fd=place, dst_dir_fd=place)
            except OSError:
                os.unlink(part, dir_fd=place)
                return
            _trim(place)
        except OSError:  # the folder went away, the disk is full: the kernel is in memory all the same
            return


def forget(name: str, named: str | None = None, suffix: str = KERNEL) -> None:
    """Remove a file, where it is there.  named, suffix: as in `load`"""
    with _opened(named, make=False) as place:
        if place is not None:
            with suppress(OSError):
                os.unlink(f"{name}{suffix}", dir_fd=place)


def load_facts(name: str) -> dict[str, Any] | None:
    """The facts that were kept under a name, if they are there and whole."""
    found = load(name, suffix=FACTS)
    return None if found is None else found.facts


def save_facts(name: str, facts: dict[str, Any]) -> None:
    """Keep facts, plain JSON, under a name, as kernels are kept."""
    save(name, CachedKernel(facts, b""), suffix=FACTS)


def claim(name: str, named: str | None = None) -> bool:
    """Whether this process, of all that use the folder, is to optimise a kernel: until it releases it.

    Where there is no folder, or none to write to, nobody else would know of the result: yes.
    """
    with _opened(named, make=False) as place:
        if place is None or not name:
            return True
        for _ in range(2):
            try:
                os.close(
                    os.open(_claim(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=place)
                )
                return True
            except FileExistsError:
                pass
            except OSError:
                return True
            try:
                since = os.stat(_claim(name), dir_fd=place, follow_symlinks=False).st_mtime
                if since > time.time() - CLAIMED:
                    return False
                os.unlink(_claim(name), dir_fd=place)
            except OSError:  # released just now
                continue
        return False


def release(name: str, named: str | None = None) -> None:
    """End a claim."""
    with _opened(named, make=False) as place:
        if place is not None and name:
            with suppress(OSError):
                os.unlink(_claim(name), dir_fd=place)


def is_claimed(name: str, named: str | None = None) -> bool:
    """Whether a process holds a claim."""
    with _opened(named, make=False) as place:
        if place is None:
            return False
        try:
            os.stat(_claim(name), dir_fd=place, follow_symlinks=False)
        except OSError:
            return False
    return True


def _claim(name: str) -> str:
    return f".{name}.claim"


def _digest(name: str, *parts: bytes | memoryview) -> bytes:
    """The digest of a kernel's name and content, in parts."""
    digest = hashlib.sha256(name.encode() + b"\n")
    for part in parts:
        digest.update(part)
    return digest.digest()


def _packed(name: str, entry: CachedKernel) -> bytes:
    facts = json.dumps(entry.facts, sort_keys=True).encode()
    parts = struct.pack("<QQ", len(facts), len(entry.image)), facts, entry.image, entry.bitcode
    return b"".join((MAGIC, _digest(name, *parts), *parts))


def _unpacked(name: str, data: bytes) -> CachedKernel | None:
    """The kernel that a file holds; None where it is damaged, of another name, or not made as ours are."""
    start = len(MAGIC) + 32
    payload = memoryview(data)[start:]  # no copy of megabytes
    if not data.startswith(MAGIC) or _digest(name, payload) != data[len(MAGIC) : start]:
        return None
    try:
        size, image = struct.unpack_from("<QQ", payload)
        facts = json.loads(bytes(payload[16 : 16 + size]))
    except (struct.error, ValueError, OverflowError, RecursionError):
        return None
    end = 16 + size + image
    if not isinstance(facts, dict) or end > len(payload):
        return None
    return CachedKernel(facts, bytes(payload[16 + size : end]), bytes(payload[end:]))


def _trim(place: int) -> None:
    """Remove the files not used for longest, until the folder is within its limit; and what killed writers left."""
    with os.scandir(place) as entries:
        files = [(entry.stat(follow_symlinks=False), entry.name) for entry in entries]
    kernels = [(found, name) for found, name in files if name.endswith((KERNEL, FACTS, GRAPH))]
    total = sum(found.st_size for found, _ in kernels)
    old = [
        name for found, name in files if name.endswith((".part", ".claim")) and found.st_mtime < time.time() - ABANDONED
    ]
    for found, name in sorted(kernels, key=lambda pair: pair[0].st_mtime):
        if total <= LIMIT:
            break
        old.append(name)
        total -= found.st_size
    for name in old:
        try:
            os.unlink(name, dir_fd=place)
        except FileNotFoundError:  # another process was quicker
            continue
