"""`SweepOptions`: how a study is run and kept, checked once; made from keywords or the command line."""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polhode.ensemble.option_table import SWEEP_OPTIONS
from polhode.ensemble.study import StudyKeywords
from polhode.ensemble.work import Work
from polhode.errors import InputError, message
from polhode.simulation.work_limits import a_limit, enough
from polhode.system.calls import thread_count

MOST_THREADS = 1024
"""Threads of a sweep at most: more are a typing error."""

LIMITS = ("max_runs", "max_steps", "max_bytes", "max_memory")


class SweepKeywords(StudyKeywords, total=False):
    """Keywords of `ph.sweep`: those of `SweepOptions`, and of the `Study` that it makes of a model."""

    out: str | Path | None
    resume: bool
    force: bool
    threads: int | None
    device: str
    precision: str
    scheduler: Any
    chunk: int | None
    report: bool
    max_runs: float
    max_steps: float
    max_bytes: float
    max_memory: float


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """How a study is run and kept, checked; an option that does not hold is an InputError."""

    out: str | Path | None = SWEEP_OPTIONS["out"].default
    resume: bool = SWEEP_OPTIONS["resume"].default
    force: bool = SWEEP_OPTIONS["force"].default
    threads: int | None = SWEEP_OPTIONS["threads"].default
    device: str = SWEEP_OPTIONS["device"].default
    precision: str = SWEEP_OPTIONS["precision"].default
    scheduler: Any = SWEEP_OPTIONS["scheduler"].default
    chunk: int | None = SWEEP_OPTIONS["chunk"].default
    report: bool = SWEEP_OPTIONS["report"].default
    max_runs: float = SWEEP_OPTIONS["max_runs"].default
    max_steps: float = SWEEP_OPTIONS["max_steps"].default
    max_bytes: float = SWEEP_OPTIONS["max_bytes"].default
    max_memory: float = SWEEP_OPTIONS["max_memory"].default

    def __post_init__(self) -> None:
        """Check every option by itself, then those that exclude each other."""
        for name in LIMITS:
            a_limit(f"sweep, {name}", getattr(self, name))
        if self.thread_count > MOST_THREADS:
            raise InputError(message("sweep, threads", "too many", f"{self.thread_count:,}", f"at most {MOST_THREADS}"))
        if (self.resume or self.force) and self.out is None:
            raise InputError(message("sweep", "nothing to resume or to discard", "no folder", "out=…"))
        if self.resume and self.force:
            raise InputError(message("sweep", "contradictory options", "resume and force", "one of them"))
        if self.scheduler is not None and self.out is None:
            fix = "Workers write their own chunks: give a folder that they all see."
            raise InputError(message("sweep, scheduler", "no store", "no folder", "out=…", fix))
        if self.scheduler is not None and self.device != "cpu":
            found = f"a scheduler and device '{self.device}'"
            raise InputError(message("sweep", "contradictory options", found, "one"))
        chunk = self.chunk
        if chunk is not None and (isinstance(chunk, bool) or not isinstance(chunk, (int, np.integer)) or chunk < 1):
            raise InputError(message("sweep, chunk", "not a number of runs", repr(chunk), "1 or more"))

    @property
    def thread_count(self) -> int:
        """Threads of this process."""
        return thread_count("sweep", self.threads if self.threads is not None else os.cpu_count() or 1)

    def check_work(self, work: Work) -> None:
        """Refuse more work than is allowed, and say what would allow it."""
        steps = 0.0 if math.isnan(work.steps) else work.runs * work.steps
        asked = dict(zip(LIMITS, (work.runs, steps, work.bytes, work.memory), strict=True))
        over = {name: count for name, count in asked.items() if count > getattr(self, name)}
        if not over:
            return
        allowed = ", ".join(f"{name} {getattr(self, name):.3g}" for name in over)
        python = ", ".join(f"{name}={enough(count)}" for name, count in over.items())
        options = " ".join(f"--{name.replace('_', '-')} {enough(count)}" for name, count in over.items())
        fix = f"Ask for less, or allow it: {python} ({options})."
        raise InputError(message("sweep", "more work than is allowed", str(work), f"at most {allowed}", fix))
