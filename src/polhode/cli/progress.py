"""Progress on stderr: bars where it is a terminal, else nothing or plain lines."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import click

LINES = 5.0
"""Seconds between lines where stderr is no terminal."""
CHECKING = ", checking"
"""What is told of a run while its companion goes on."""


@contextmanager
def progress_of(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar on stderr that vanishes when done; nothing where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        started = False

        def advance(name: str) -> None:
            nonlocal started
            bar.update(task, advance=int(started), description=f"{title} {name}")
            started = True

        yield advance


class RunPace:
    """How fast a run goes: steps a second, and the seconds left."""

    def __init__(self) -> None:
        self.begin = time.monotonic()
        self._first: tuple[float, float, int] | None = None

    def of(self, part: float, steps: int) -> tuple[float, float]:
        """Steps a second since the first call, and the seconds left at this pace."""
        now = time.monotonic()
        if self._first is None:
            self._first = (now, part, steps)
        since, begun, before = self._first
        seconds, done = max(now - since, 1e-9), part - begun
        return (steps - before) / seconds, seconds * (1 - part) / done if done > 0 else float("inf")


class Told(Protocol):
    """A function that tells how far a run is."""

    def __call__(self, part: float, t: float, steps: int, checking: bool = False) -> None:
        """Tell the part that is done, the time reached and the steps taken; checking: of the companion run."""


@contextmanager
def run_progress(title: str, duration: float, quiet: bool = False) -> Iterator[Told]:
    """A bar for a run: time reached, steps a second, time left; lines now and then where stderr is no terminal."""
    if quiet:
        yield lambda part, t, steps, checking=False: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with _bar(console, title, duration) if console.is_terminal else _lines(title, duration) as told, _answered():
        yield told


@contextmanager
def _answered() -> Iterator[None]:
    """Ctrl-C is answered at once, before what there is gets written; a second one leaves without that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def heard(*_: Any) -> None:
        signal.signal(signal.SIGINT, before)
        click.echo("\npolhode: stopped; writing what there is (Ctrl-C again leaves at once)", err=True)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar(console: Any, title: str, duration: float) -> Iterator[Told]:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    texts = (TextColumn("t = {task.fields[t]:.6g} of {task.fields[end]:.6g} s"), TextColumn("{task.fields[rate]}"))
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), *texts)
    paces = (RunPace(), RunPace())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(f"{title}: compiling", total=1.0, t=0.0, end=duration, rate="")

        def told(part: float, t: float, steps: int, checking: bool = False) -> None:
            rate = f"{paces[checking].of(part, steps)[0]:.2g} steps/s"
            bar.update(task, completed=part, description=f"{title}{CHECKING * checking}", t=t, rate=rate)

        yield told


@contextmanager
def _lines(title: str, duration: float) -> Iterator[Told]:
    paces, last = (RunPace(), RunPace()), time.monotonic()

    def told(part: float, t: float, steps: int, checking: bool = False) -> None:
        nonlocal last
        rate, left = paces[checking].of(part, steps)
        if time.monotonic() - last >= LINES:
            last = time.monotonic()
            reached = f"{part:4.0%}  t = {t:.6g} of {duration:.6g} s"
            with suppress(OSError):  # nobody reads any more: no reason to end a run
                click.echo(f"{title}{CHECKING * checking}: {reached}  {rate:.2g} steps/s  {left:.0f} s left", err=True)

    yield told
