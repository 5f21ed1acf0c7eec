"""Hostile input in worker processes with limits: a hang, a crash or a memory blow-up is a count, not a dead test run.

    report = run(cases, attempt, seconds=20, bytes=2 * 2**30, workers=2)
    assert not report.failures, report

`attempt(kind, content, folder)` gives an outcome in a word; an error of ours counts as "refused", any other exception
as a traceback. Whatever hostile input tries to run is RUN, a shell command that makes the file CANARY: then it was run.
"""

import faulthandler
import multiprocessing
import multiprocessing.connection
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polhode.errors import PolhodeError

CANARY = Path(tempfile.gettempdir()) / f"polhode-canary-{os.getuid()}-{os.getpid()}"
"""Hostile content would make this file, were it ever run."""
RUN = "touch $POLHODE_CANARY"
"""The command that hostile content carries; the same in every process, so that cases are the same."""

Attempt = Callable[[str, Any, Path], str]


@dataclass
class Report:
    """What became of every case; `failures` holds (what, kind, content, detail)."""

    counts: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str, Any, str]] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")

    @property
    def total(self) -> int:
        """How many cases ran."""
        return sum(self.counts.values())

    def __str__(self) -> str:
        bad = {what: self.counts[what] for what in ("executed code", "traceback", "hang", "memory", "crash")}
        head = ", ".join(f"{count} {what}" for what, count in bad.items())
        good = ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()) if what not in bad)
        lines = [f"{self.total} cases: {head}; {good}; the slowest took {self.slowest[0]:.1f} s ({self.slowest[1]})"]
        lines += [
            f"{what}, {kind}: {detail}\n  {content!r}"[:2000] for what, kind, content, detail in self.failures[:20]
        ]
        return "\n".join(lines)


def run(
    cases: Iterable[tuple[str, Any]], attempt: Attempt, seconds: float = 20, bytes: int = 2 * 2**30, workers: int = 2
) -> Report:
    """Every case in one of a few processes, each attempt with a limit of time and memory."""
    report, waiting = Report(), iter(cases)
    CANARY.unlink(missing_ok=True)
    staff = [_Worker(attempt, seconds, bytes) for _ in range(workers)]
    try:
        active = [worker for worker in staff if worker.take(waiting)]
        while active:
            ready = multiprocessing.connection.wait([worker.pipe for worker in active], timeout=0.5)
            for worker in list(active):
                done = worker.result(worker.pipe in ready)
                if done is None:
                    continue
                _note(report, worker, *done)
                if not worker.take(waiting):
                    active.remove(worker)
    finally:
        for worker in staff:
            worker.stop()
        CANARY.unlink(missing_ok=True)
    return report


def _note(report: Report, worker: "_Worker", what: str, detail: str) -> None:
    kind, content = worker.case
    if CANARY.exists():
        CANARY.unlink(missing_ok=True)
        what, detail = "executed code", f"{what}: {detail}"
    report.counts[what] += 1
    report.kinds[kind] += 1
    report.slowest = max(report.slowest, (time.monotonic() - worker.since, kind))
    if what in ("executed code", "traceback", "hang", "memory", "crash"):
        report.failures.append((what, kind, content, detail))


class _Worker:
    """One process, made anew after it died."""

    def __init__(self, attempt: Attempt, seconds: float, bytes: int) -> None:
        self.attempt, self.seconds, self.bytes = attempt, seconds, bytes
        self.case: tuple[str, Any] = ("", b"")
        self.since = 0.0
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.folder = Path(tempfile.mkdtemp(prefix="polhode-hostile-"))
        self.process = context.Process(target=_serve, args=(theirs, self.attempt, self.bytes, self.folder), daemon=True)
        self.process.start()
        theirs.close()

    def take(self, cases: Iterator[tuple[str, Any]]) -> bool:
        """Begin with the next case, if there is one."""
        found = next(cases, None)
        if found is None:
            return False
        self.case, self.since = found, time.monotonic()
        self.pipe.send(found)
        return True

    def result(self, is_ready: bool) -> tuple[str, str] | None:
        """How the case ended; None while it is under way."""
        if is_ready:
            try:
                return self.pipe.recv()
            except (EOFError, OSError):
                self.stop()
                code = self.process.exitcode
                self._start()
                return ("memory" if code == -signal.SIGKILL else "crash"), f"exit code {code}"
        if time.monotonic() - self.since > self.seconds:
            self.stop()
            self._start()
            return "hang", f"more than {self.seconds:g} s"
        return None

    def stop(self) -> None:
        """End the process."""
        if self.process.pid is not None and self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.pipe.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _serve(pipe: Any, attempt: Attempt, bytes: int, folder: Path) -> None:
    """Answer case after case, in a folder of its own, silent."""
    os.environ["POLHODE_CANARY"] = str(CANARY)
    faulthandler.disable()  # a crash is counted, not shown
    os.chdir(folder)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    before = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if _LINUX else 0
    resource.setrlimit(resource.RLIMIT_AS, (before + bytes, before + bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        while True:
            kind, content = pipe.recv()
            pipe.send(_outcome(attempt, kind, content, folder))
    except (EOFError, BrokenPipeError):
        pass


_LINUX = sys.platform.startswith("linux")


def _outcome(attempt: Attempt, kind: str, content: Any, folder: Path) -> tuple[str, str]:
    try:
        return attempt(kind, content, folder), ""
    except PolhodeError as error:
        text = str(error)
        odd = next((c for c in text if not c.isprintable() and c != "\n"), None)
        return ("traceback", f"a message with U+{ord(odd):04X}: {text!r}") if odd else ("refused", "")
    except MemoryError:
        return "memory", traceback.format_exc(limit=-3)
    except BaseException:
        return "traceback", traceback.format_exc(limit=-4)
