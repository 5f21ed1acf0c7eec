"""Progress of a study as lines, for a log or a notebook; the command line has a bar of its own."""

import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, TextIO

SECONDS = 5.0
"""Seconds between lines."""


class News(NamedTuple):
    """How far a study is: runs done, of all, those that failed, and who did them.

    device  who did the last chunk
    """

    done: int
    runs: int
    failed: int
    device: str
    seconds: float


Progress = Callable[[News], None]
"""A function that is called with each report."""


class StudyPace:
    """Rates of a study: runs a second, of all and of each device, and the seconds left.

    What was done before this process began counts as done, not as speed.
    """

    def __init__(self) -> None:
        self.begin = time.monotonic()
        self.before = self.done = 0
        self.by: dict[str, int] = defaultdict(int)

    def take(self, news: News) -> None:
        """Take note of one report."""
        if news.device == "before":
            self.before = news.done
        else:
            self.by[news.device] += news.done - max(self.done, self.before)
        self.done = news.done

    def text(self, news: News) -> str:
        """Share done, rates, time left and failures in one line."""
        seconds = max(time.monotonic() - self.begin, 1e-9)
        rate = (self.done - self.before) / seconds
        left = f"{_clock((news.runs - news.done) / rate)} left" if rate > 0 else "time left unknown"
        devices = ", ".join(f"{name} {count / seconds:,.0f}/s" for name, count in self.by.items())
        part = news.done / news.runs
        return f"{part:4.0%}  {news.done:,} of {news.runs:,} runs  {devices or 'begun'}  {left}  {news.failed:,} failed"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class Lines:
    """A progress function that prints a line every few seconds, and one at the end."""

    def __init__(self, title: str = "sweep", file: TextIO | None = None, seconds: float = SECONDS) -> None:
        self.title, self.file, self.seconds = title, file, seconds
        self.pace, self._last = StudyPace(), time.monotonic()

    def __call__(self, news: News) -> None:
        """Print a line, if it is time for one."""
        self.pace.take(news)
        now = time.monotonic()
        if now - self._last >= self.seconds or news.done >= news.runs:
            self._last = now
            with suppress(OSError):  # nobody reads any more: no reason to end a study
                print(f"{self.title}: {self.pace.text(news)}", file=self.file or sys.stderr, flush=True)
