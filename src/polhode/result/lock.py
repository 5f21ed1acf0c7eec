"""A lock file: one process at a time, named in the file, for as long as it lives.

The system's own lock on the open file decides, so that a lock left by `kill -9` holds nobody up; the
text in the file is for the message. Where the system has no such lock, the text decides.
"""

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from polhode.errors import InputError, message
from polhode.result.digests import Damaged, read_json

try:
    import fcntl
except ImportError:  # not POSIX
    fcntl = None  # type: ignore[assignment]


class Lock:
    """A lock that this process holds until `release`, or until it ends."""

    def __init__(self, path: Path) -> None:
        """Take the lock, or raise an InputError that names its holder."""
        self.path, self.handle = path, -1
        while self.handle < 0:
            handle = _opened(path)
            try:
                self._take(handle)
            except BaseException:
                os.close(handle)
                raise
            if _is_same(handle, path):  # else its last holder removed it just before we had it
                self.handle = handle
            else:
                os.close(handle)
        text = json.dumps({"pid": os.getpid(), "started": _started(os.getpid())})
        os.ftruncate(self.handle, 0)
        os.pwrite(self.handle, text.encode(), 0)

    def release(self) -> None:
        """Give the lock back; a second time does nothing."""
        if self.handle >= 0:
            if _is_same(self.handle, self.path):
                with contextlib.suppress(OSError):
                    self.path.unlink()
            os.close(self.handle)
            self.handle = -1

    @contextlib.contextmanager
    def released_on_error(self) -> Iterator[None]:
        """Release the lock if the block raises; else it stays held."""
        try:
            yield
        except BaseException:
            self.release()
            raise

    def _take(self, handle: int) -> None:
        if fcntl is None:
            if _is_alive(self.path):
                raise _held(self.path)
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _held(self.path) from None


def _opened(path: Path) -> int:
    """The lock file, made if it is missing; never what a link in its place points at, which would be written to."""
    try:
        handle = os.open(
            path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o666
        )
    except OSError as fault:
        if fault.errno != errno.ELOOP:
            raise
        raise InputError(message(f"lock '{path}'", "a link", "not a file of its own", "a lock file")) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputError(message(f"lock '{path}'", "not a plain file", "a pipe or a device", "a lock file"))
    return handle


def _is_same(handle: int, path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False


def _holder(path: Path) -> dict:
    try:
        return read_json(path, 4096)
    except Damaged:
        return {}


def _is_alive(path: Path) -> bool:
    """Whether the process that wrote the lock still runs: one of its number, started at the same time."""
    holder = _holder(path)
    pid = holder.get("pid")
    if not isinstance(pid, int) or pid <= 0:
        return False
    if os.name != "posix":
        return True  # there a signal would end it
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _started(pid) == holder.get("started")


def _started(pid: int) -> str:
    """When a process started, in clock ticks since boot; "" where the system does not tell."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def _held(path: Path) -> InputError:
    pid = _holder(path).get("pid", "unknown")
    fix = f"Wait for it, or end it first: kill {pid}" if isinstance(pid, int) else "Wait for it, or end it first."
    where = f"run store '{path.parent}'"
    return InputError(message(where, "in use by another run", f"process {pid}", "one run at a time", fix))
