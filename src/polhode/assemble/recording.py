"""Long runs: samples go to disk in chunks; from its checkpoints a killed run goes on, to the last bit.

record("out", model, duration=1e5, step=1e-3, method="rk4")                 # out/run.nc
record("out", model, duration=1e5, step=1e-3, method="rk4", resume=True)    # after kill -9

Memory holds one chunk of samples, however long the run is.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.assemble import rows
from polhode.assemble.drive import Ending, Event, Position, Samples
from polhode.assemble.graphs import identity_text
from polhode.assemble.inputs import Sampled
from polhode.assemble.peers import SUNDIALS
from polhode.assemble.simulate import Run, fitting, joined, settings_of, tighter
from polhode.assemble.way import DEFAULT, TOLERANCE, way_of
from polhode.assemble.work import MAX_BYTES_ON_DISK, MAX_STEPS, bytes_of_sample, limits_of
from polhode.errors import InputError, message
from polhode.model import Model
from polhode.result import Store, assemble, error_of_parts, load, refuse_existing
from polhode.result.aside import aside
from polhode.result.store import CHECKPOINT as CHECKPOINT_NAME, FOLDER
from polhode.scalar import Array

if TYPE_CHECKING:
    import xarray as xr

RUN = "run.nc"
"""The name of the result in its folder."""

NOTE = "note.txt"

CHECKPOINT = 60.0
"""Seconds of work between checkpoints."""

CHUNK = 2**24
"""Bytes of a chunk with everything that is observed of its samples, about."""

Progress = Callable[[float, float, int], None]
"""Called with the part of the run that is done, the time reached, and the steps taken."""


def record(
    directory: str | Path,
    model: Model,
    q: Array | None = None,
    v: Array | None = None,
    duration: float | None = None,
    tau: Any = None,
    step: float | None = None,
    method: str | None = None,
    tolerance: float = 1e-9,
    *,
    samples: int | Array | None = None,
    every: int | None = None,
    events: Sequence[Event] = (),
    norm: str = "state",
    engine: str = DEFAULT,
    rank_tolerance: float = TOLERANCE,
    constraints: str = "project",
    baumgarte: Sequence[float] | None = None,
    move_start: bool = False,
    verify: bool = False,
    progress: Progress | None = None,
    model_text: str = "",
    checkpoint: float = CHECKPOINT,
    resume: bool = False,
    force: bool = False,
    note: str = "",
    max_steps: float = MAX_STEPS,
    max_bytes: float = MAX_BYTES_ON_DISK,
) -> "xr.Dataset":
    """Follow the motion of a model into a folder, in bounded memory; arguments as in `simulate`, and:

    directory   where `run.nc` is to be; made if it is missing
    checkpoint  seconds of work between checkpoints
    resume      go on with a run that was cut off; model, method, options and version must be the same
    force       replace a run that is there
    note        a text kept beside the checkpoint, for who resumes; see `note_of`
    ->          the Dataset in `run.nc`, read when it is used; Ctrl-C leaves what there is, and the checkpoint
    """
    way = way_of("record", engine, rank_tolerance, constraints, baumgarte)
    method = fitting(model, way, method)
    if method in SUNDIALS:
        fix = "Take ph.simulate, or a method of ph.methods."
        raise InputError(
            message("record, method", "SUNDIALS keeps no checkpoints", repr(method), "a method of ours", fix)
        )
    limits = limits_of("record", max_steps, max_bytes)
    asked = step, method, tolerance, samples, every, norm, None, move_start, limits, tau, way.rank_tolerance
    settings = settings_of(model, q, v, duration, *asked)
    settings = replace(settings, way=way)
    if not 0 < checkpoint < float("inf"):
        raise InputError(message("record, checkpoint", "out of range", repr(checkpoint), "seconds above 0"))
    run, path = Run(settings, tau, tuple(events)), Path(directory) / RUN
    store, state = _opened(path, identity(run), resume, force)
    with store:
        recording = Recording(run, store, checkpoint)
        if state:
            recording.restore(state)
        elif note:
            with aside(store.folder / NOTE, force=True) as sink:
                sink.write(note.encode())
        recording.follow(progress)
        error = recording.second_run() if verify and run.drive.ending.status != "interrupted" else None
        recording.write(path, error, model_text, force=force or resume)
        if run.drive.ending.status != "interrupted":
            (store.folder / NOTE).unlink(missing_ok=True)
            store.remove()
    return load(path, lazy=True)


def _opened(path: Path, asked: dict[str, Any], resume: bool, force: bool) -> tuple[Store, dict[str, Any] | None]:
    """The store of a new run, or of one to go on with, and where that stands."""
    if resume:
        return Store.resume(path.parent, asked)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        found = fault.strerror or str(fault)
        where = f"record, '{path.parent}'"
        raise InputError(message(where, "cannot be made", found, "a folder that may be written")) from None
    refuse_existing(path, force)
    return Store.create(path.parent, asked, force), None


def identity(run: Run) -> dict[str, Any]:
    """What makes a run the same again; functions are told by their names only."""
    settings, plan = run.settings, run.engine.plan
    model = settings.model
    return {
        "model": identity_text(model) or f"{model}\n{model.numbers()}",
        "start q": settings.q.tolist(),
        "start v": settings.v.tolist(),
        "duration": settings.duration,
        "method": settings.method,
        "step": settings.step,
        "tolerance": None if run.fixed else settings.tolerance,
        "norm": settings.norm,
        "way": str(settings.way),
        "samples": None if settings.times is None else settings.times.tolist(),
        "every": settings.every,
        "inputs": run.engine.law_text or _name(plan.tau),
        "events": [[event.name, event.direction, event.terminal, _name(event.function)] for event in run.events],
    }


def _name(function: Any) -> str:
    inner = f" of {_name(function.function)}, period {function.period}" if isinstance(function, Sampled) else ""
    return getattr(function, "__name__", type(function).__name__) + inner


class Recording:
    """One run on its way to disk."""

    def __init__(self, run: Run, store: Store, checkpoint: float) -> None:
        self.run, self.store, self.checkpoint = run, store, checkpoint
        self.seen, self.ended = store.rows, False
        self.pending: list[tuple[int, Samples]] = []  # with the number of samples up to the end of each
        self._sure = (self.seen, self.state())
        model = run.settings.model
        self.chunk = int(np.clip(CHUNK // bytes_of_sample(model), 256, 2**16))

    # the state of a run, and back

    def state(self) -> dict[str, Any]:
        """All that is needed to go on from here."""
        at, ending = vars(self.run.drive.position), vars(self.run.drive.ending)
        known = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in at.items()}
        counted = {name: value for name, value in ending.items() if name != "events"}
        return {
            **{name: value for name, value in known.items() if value is not None},
            **counted,
            "event_times": np.array([moment for moment, _ in ending["events"]], dtype=float),
            "event_names": json.dumps([name for _, name in ending["events"]]),
            "ended": self.ended,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        drive = self.run.drive
        for field in fields(Position):
            setattr(drive.position, field.name, state.get(field.name))
        events = zip(state["event_times"].tolist(), json.loads(state["event_names"]), strict=True)
        counted = {field.name: state[field.name] for field in fields(Ending) if field.name != "events"}
        drive.ending = Ending(**counted, events=list(events))
        self.ended = state["ended"]
        self._sure = (self.seen, self.state())

    # the run

    def follow(self, progress: Progress | None = None) -> None:
        """Run to the end, or to Ctrl-C, with checkpoints."""
        if self.ended:
            return
        if not self.store.rows:
            self.save()
        try:
            self._follow(progress)
            self.ended = True
            self._sure = (self.seen, self.state())
        except KeyboardInterrupt:
            ending = self.run.drive.ending
            ending.status, ending.reason = "interrupted", f"by its user, at t = {self.run.drive.position.t:.6g}"
        self.save()
        self._flush(self.seen)

    def _follow(self, progress: Progress | None) -> None:
        drive, last = self.run.drive, time.monotonic()
        for block in drive:
            self.pending.append((self.seen + len(block.time), block))
            self.seen += len(block.time)
            if self._can_go_on():
                self._sure = (self.seen, self.state())
            if self.seen - self.store.rows >= self.chunk:
                self._flush(self._sure[0])
            if time.monotonic() - last >= self.checkpoint:
                self.save()
                last = time.monotonic()
            if progress:
                progress(drive.position.t / self.run.settings.duration, drive.position.t, drive.ending.taken)

    def _can_go_on(self) -> bool:
        """Whether the position follows the last sample, with no event half dealt with."""
        row, engine = self.run.drive.position.row, self.run.engine
        return row is not None and float(engine.field(row, "status")) == rows.GOING

    def save(self) -> None:
        """A checkpoint at the last position that is sure."""
        self._flush(self._sure[0])
        self.store.checkpoint(self._sure[1])

    def _flush(self, until: int) -> None:
        """Write what is pending up to a number of samples as a chunk.

        Ctrl-C may come between any two lines: the store itself tells what is in it.
        """
        done = [block for end, block in self.pending if self.store.rows < end <= until]
        if done:
            self.store.append(joined(done))
        self.pending = [(end, block) for end, block in self.pending if end > self.store.rows]

    # the result

    def write(self, path: Path, error: float | None, model_text: str, force: bool) -> None:
        """Assemble `run.nc` from the chunks, graded."""
        run, store = self.run, self.store
        if not store.rows:  # interrupted before its first sample
            self._append_start()
        residuals = run.residuals(store.chunks())
        mark = run.mark((run.whole(chunk, ()) for chunk in store.chunks()), error, residuals)
        first = {name: values[:1] for name, values in next(store.chunks()).items()}
        template = run.described(first, mark, model_text)
        assemble(store, template, path, run.whole, force)

    def _append_start(self) -> None:
        q, v = self.run.settings.q, self.run.settings.v
        self.store.append(joined([Samples(np.zeros(1), q[None], v[None], np.full(1, np.nan))]))

    def second_run(self) -> float:
        """The error, by a run with a hundredth of the tolerance or half the step."""
        second = Run(tighter(self.run.settings), self.run.tau, self.run.events)
        return error_of_parts(self.run.settings.model, _side_by_side(self.store.chunks(), iter(second.drive)))


def _side_by_side(chunks: Iterator[dict], blocks: Iterator[Samples]) -> Iterator[tuple[dict, dict]]:
    """Samples of two runs at the same times, as far as both go."""
    kept: list[Samples] = []
    for chunk in chunks:
        need = len(chunk["time"])
        while sum(len(block.time) for block in kept) < need and (block := next(blocks, None)):
            kept.append(block)
        if not kept:
            return
        other = joined(kept)
        n = min(need, len(other["time"]))
        yield {name: chunk[name][:n] for name in ("q", "v")}, {name: other[name][:n] for name in ("q", "v")}
        kept = [Samples(*(other[name][n:] for name in ("time", "q", "v", "step_size")))]


def unfinished(directory: str | Path) -> bool:
    """Whether a folder holds a run that may be resumed."""
    return (Path(directory) / FOLDER / CHECKPOINT_NAME).is_file()


def note_of(directory: str | Path) -> str:
    """The note of the unfinished run in a folder; "" where there is none."""
    try:
        return (Path(directory) / FOLDER / NOTE).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
