"""Atomic writes: a file is written under another name and then renamed, so that a reader finds the old file or the new
one, never half of one.
"""

import contextlib
import errno
import io
import os
import re
import secrets
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polhode.errors import InputError, PolhodeError, message

PAGE = 2**16
"""Size in bytes of a page of what could not be written and is kept in memory."""


class Sink(io.RawIOBase):
    """An open file that keeps the first error of a write and acts as if the write had succeeded.

    HDF5 cannot close a file whose disk is full: it leaks the file, reports some failures nowhere, and may
    take the process with it. So it never hears of the fault; `check` raises what was kept. What could not be
    written stays in memory, page by page, until then: HDF5 reads its own tables again and must find them.
    """

    def __init__(self, handle: int = -1) -> None:
        super().__init__()
        self.handle = handle
        self.fault: OSError | None = None
        self.interrupted = False
        self._pages: dict[int, bytearray] = {}
        self._end = 0

    def check(self) -> None:
        """Raise the error that was kept, or Ctrl-C, if there is one."""
        if self.fault:
            raise self.fault
        if self.interrupted:
            self.interrupted = False
            raise KeyboardInterrupt

    def readable(self) -> bool:
        """Yes."""
        return True

    def writable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """The new position, after a move to an offset from `whence`."""
        if whence == os.SEEK_END and self.fault:
            offset, whence = max(os.fstat(self.handle).st_size, self._end) + offset, os.SEEK_SET
        return os.lseek(self.handle, offset, whence)

    def tell(self) -> int:
        """The position in the file."""
        return os.lseek(self.handle, 0, os.SEEK_CUR)

    def readinto(self, buffer: Any) -> int:
        """The number of bytes read into a buffer."""
        at, size = self.tell(), len(buffer)
        data = os.read(self.handle, size)
        if not self.fault:
            buffer[: len(data)] = data
            return len(data)
        found = bytearray(data.ljust(size, b"\0"))
        for number, page in self._pages.items():
            first, last = max(number * PAGE, at), min((number + 1) * PAGE, at + size)
            if first < last:
                found[first - at : last - at] = page[first - number * PAGE : last - number * PAGE]
        count = min(size, max(at + len(data), self._end) - at) if self._end > at or data else 0
        buffer[:count] = found[:count]
        self.seek(at + count)
        return count

    def write(self, data: Any) -> int:
        """The number of bytes written: all of them, into memory once a write has failed."""
        left, at = memoryview(data).cast("B"), self.tell()
        size = len(left)
        try:
            while left and not self.fault:
                left = left[os.write(self.handle, left) :]
        except OSError as fault:
            self.fault = fault
        if left:
            self._keep(at + size - len(left), left)
            self.seek(at + size)
        return size

    def _keep(self, at: int, data: memoryview) -> None:
        """Put bytes into pages of memory, each of which begins as a copy of the file's."""
        self._end = max(self._end, at + len(data))
        while data:
            number, inside = divmod(at, PAGE)
            if number not in self._pages:
                self.seek(number * PAGE)
                self._pages[number] = bytearray(os.read(self.handle, PAGE).ljust(PAGE, b"\0"))
            count = min(PAGE - inside, len(data))
            self._pages[number][inside : inside + count] = data[:count]
            at, data = at + count, data[count:]

    def truncate(self, size: int | None = None) -> int:
        """The new size of the file, the current position unless given."""
        size = self.tell() if size is None else size
        try:
            os.ftruncate(self.handle, size)
        except OSError as fault:
            self.fault = self.fault or fault
        self._end = min(self._end, size)
        return size


def refuse_existing(path: str | Path, force: bool = False) -> Path:
    """The path, if a file may be written there; call it before a long run rather than after."""
    path, where = Path(path), f"writing '{path}'"
    if path.is_dir():
        raise InputError(message(where, "is a folder", "a folder", "the name of a file", "Add a file name to it."))
    if not path.parent.is_dir():
        fix = f"Make it first: mkdir -p '{path.parent}'"
        raise InputError(message(where, "its folder is missing", f"no '{path.parent}'", "an existing folder", fix))
    if path.exists() and not force:
        fix = "Give another name, or overwrite it (force=True; --overwrite)."
        raise InputError(message(where, "already there", "an existing file", "a new name", fix))
    return path


@contextlib.contextmanager
def atomic_path(path: str | Path, force: bool = False, suffix: str = "") -> Iterator[Path]:
    """The name of a file beside `path`, which takes its place when the block ends well; else nothing is left of it.

    force   replace a file that is there already; False: refuse
    suffix  the end of the name, for libraries that choose a format by it
    """
    path = refuse_existing(path, force)
    part = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part{suffix}")
    try:
        yield part
        _publish(part, path, force)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


@contextlib.contextmanager
def atomic_write(path: str | Path, force: bool = False) -> Iterator[Sink]:
    """An open file that becomes `path` when the block ends well, its bytes on the disk; else nothing is left of it."""
    sink = Sink()
    try:
        with _patient(sink), atomic_path(path, force) as part:
            sink.handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
            try:
                yield sink
                sink.check()
                os.fsync(sink.handle)
            except BaseException:
                if sink.fault:
                    raise sink.fault from None  # the cause of whatever followed it
                raise
            finally:
                os.close(sink.handle)
    except OSError as fault:
        raise _unwritable(Path(path), fault) from fault


def clear_parts(*paths: Path) -> None:
    """Remove what killed writers of some files left beside them; the caller knows that no other writer is at work."""
    for path in paths:
        mine = re.compile(re.escape(path.name) + r"\.[0-9]+-[0-9a-f]{8}\.part")
        for name in os.listdir(path.parent) if path.parent.is_dir() else ():
            if mine.fullmatch(name):
                with contextlib.suppress(OSError):
                    (path.parent / name).unlink()


@contextlib.contextmanager
def _patient(sink: Sink) -> Iterator[None]:
    """Delay Ctrl-C until `check`, or the end: inside HDF5 the exception would be lost, and a write with it."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def later(*_: object) -> None:
        sink.interrupted = True

    signal.signal(signal.SIGINT, later)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if sink.interrupted:  # after the last check; the handler of before decides
            signal.raise_signal(signal.SIGINT)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _publish(part: Path, path: Path, force: bool) -> None:
    """Give the finished file its name; without force, never in the place of another."""
    if force:
        os.replace(part, path)
        return
    try:
        os.link(part, path)  # refuses where a file appeared meanwhile
    except OSError:  # or has no hard links: another look, then a rename
        refuse_existing(path)
        os.replace(part, path)
    else:
        with contextlib.suppress(OSError):
            part.unlink()


FULL = {errno.ENOSPC, errno.EDQUOT}
"""Error numbers of a full disk or an exhausted quota."""


def _unwritable(path: Path, fault: OSError) -> PolhodeError:
    reason, left = fault.strerror or str(fault), "nothing was left there, and an older file is as it was."
    if fault.errno in FULL:
        what, expected, fix = (
            "the disk is full",
            "a place with room",
            f"Free some space or choose another place; {left}",
        )
    else:
        what, expected, fix = "could not be written", "a place that may be written", f"Choose another place; {left}"
    return PolhodeError(message(f"writing '{path}'", what, reason, expected, fix))
