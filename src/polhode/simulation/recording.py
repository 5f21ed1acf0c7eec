"""Long runs: samples go to disk in chunks; a killed run is resumed from its last checkpoint, with the same bits.

record("out", model, duration=1e5, step=1e-3, method="rk4")                 # out/run.nc
record("out", model, duration=1e5, step=1e-3, method="rk4", resume=True)    # after kill -9

Memory holds one chunk of samples, however long the run is.
"""

import hashlib
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import fields
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from polhode import __version__
from polhode.check.singular_positions import read
from polhode.errors import InputError, PolhodeError, PolhodeWarning, message
from polhode.integrate.sundials import SUNDIALS
from polhode.model import Model
from polhode.result.assembly import assemble
from polhode.result.atomic_file import atomic_write, clear_parts, refuse_existing
from polhode.result.digests import Damaged, is_count, read_bounded
from polhode.result.error_estimate import ErrorEstimate
from polhode.result.files import load
from polhode.result.store import CHECKPOINT as CHECKPOINT_NAME, FOLDER, RunStore
from polhode.result.trailer import NO_RUN, read_trailer
from polhode.scalar import Array
from polhode.simulation.companion import Companion, StepProgress
from polhode.simulation.inputs import Sampled
from polhode.simulation.option_table import ARGUMENTS, MAX_BYTES_ON_DISK, RUN_OPTIONS, check_keywords, takes_options
from polhode.simulation.run import Run, padded
from polhode.simulation.run_loop import RunLoop
from polhode.simulation.run_options import MotionKeywords, RunOptions
from polhode.simulation.run_records import Ending, Position, Samples, joined
from polhode.simulation.scenario import Scenario
from polhode.simulation.work_limits import bytes_of_sample
from polhode.system.identity import identity_text

if TYPE_CHECKING:
    import xarray as xr

RUN = "run.nc"
"""The name of the result in its folder."""

NOTE, LONGEST_NOTE = "note.txt", 2**20

CHECKPOINT = 60.0
"""Seconds of work between checkpoints."""

CHUNK = 2**24
"""Bytes of a chunk with everything that is observed of its samples, about."""


@takes_options(RUN_OPTIONS, MotionKeywords, {"max_bytes": MAX_BYTES_ON_DISK})
def record(
    directory: str | Path,
    model: Model,
    q: Array | None = None,
    v: Array | None = None,
    duration: float | None = None,
    tau: Any = None,
    step: float | None = None,
    method: str | None = None,
    tolerance: float = RUN_OPTIONS["tolerance"].default,
    *,
    progress: StepProgress | None = None,
    checking: StepProgress | None = None,
    model_text: str = "",
    checkpoint: float = CHECKPOINT,
    resume: bool = False,
    force: bool = False,
    note: str = "",
    then: Callable[["xr.Dataset"], None] | None = None,
    **options: Unpack[MotionKeywords],
) -> "xr.Dataset":
    """The motion of a model, followed into a folder in bounded memory; q, v, tau as in `simulate`, and:

    directory      where `run.nc` is to be; made if it is missing
    {options}
    progress       called with the part that is done, the time reached and the steps taken
    checking       called in the same way while a companion run estimates the error
    checkpoint     seconds of work between checkpoints
    resume         resume a run that was cut off; model, method, options and version must be the same
    force          replace a run that is there
    note           a text kept beside the checkpoint, for who resumes; see `note_of`
    then           makes what else belongs to the run; where it is killed, a resumed run is not computed again
    ->             the Dataset in `run.nc`, read when it is used; Ctrl-C leaves what there is, and the checkpoint
    """
    check_keywords("record", (*ARGUMENTS, "resume", "force", *MotionKeywords.__annotations__), options)
    options.setdefault("max_bytes", MAX_BYTES_ON_DISK)
    run_options = RunOptions(duration=duration, step=step, method=method, tolerance=tolerance, **options)
    scenario = Scenario.of(model, q, v, tau, run_options)
    if scenario.method in SUNDIALS:
        fix = "Take ph.simulate, or a method of ph.methods."
        what = "SUNDIALS keeps no checkpoints"
        raise InputError(message("record, method", what, repr(scenario.method), "a method of ours", fix))
    if not 0 < checkpoint < float("inf"):
        raise InputError(message("record, checkpoint", "out of range", repr(checkpoint), "seconds above 0"))
    run, path = Run(scenario), Path(directory) / RUN
    asked = identity(run)
    own = _digest(asked, scenario.options)
    if resume and _is_written(path, own):
        return _finish_written(path, then)
    store, state = _opened(path, asked, resume, force)
    with store:
        clear_parts(path)
        recording = Recording(run, store, checkpoint)
        if state:
            recording.restore(state)
        elif note:
            with atomic_write(store.folder / NOTE, force=True) as sink:
                sink.write(note.encode())
        try:
            recording.follow(progress)
            done = recording.loop.ending.status != "interrupted"
            recording.write(path, model_text, force or resume, own if done else NO_RUN, checking)
        finally:
            run.end()
        found = _loaded(path)
        if then:
            then(found)
        if done:
            store.remove(NOTE)
    return found


def _digest(asked: dict[str, Any], options: RunOptions) -> str:
    """The digest of what makes a run and its verdict the same, kept at the end of its file."""
    judged = {"verify": options.verify, "accuracy": options.accuracy}
    text = json.dumps({**asked, **judged, "polhode": __version__}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _is_written(path: Path, own: str) -> bool:
    """Whether a run is whole in its file, and was killed after that, while further files were made."""
    try:
        return (path.parent / FOLDER).is_dir() and read_trailer(path) == own
    except Damaged:
        return False


def _finish_written(path: Path, then: Callable[["xr.Dataset"], None] | None) -> "xr.Dataset":
    """The run in its file: its further files are made, and what is left of its store is removed."""
    with RunStore.leftover(path.parent) as store:
        clear_parts(path)
        found = _loaded(path)
        if then:
            then(found)
        store.remove(NOTE)
    return found


def _loaded(path: Path) -> "xr.Dataset":
    """The run in a file that was just written, or just compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PolhodeWarning)
        return load(path, lazy=True, verify=False)


def _opened(path: Path, asked: dict[str, Any], resume: bool, force: bool) -> tuple[RunStore, dict[str, Any] | None]:
    """The store of a new run; or of one to be resumed, with its checkpoint."""
    if resume and is_complete(path.parent):
        where, fix = f"record, '{path.parent}'", "Open it (xarray.open_dataset), or replace it (force=True)."
        raise InputError(message(where, "nothing to resume", "a whole run", "an unfinished one", fix))
    if resume:
        return RunStore.resume(path.parent, asked)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        found = fault.strerror or str(fault)
        where = f"record, '{path.parent}'"
        raise InputError(message(where, "cannot be made", found, "a folder that may be written")) from None
    refuse_existing(path, force)
    return RunStore.create(path.parent, asked, force), None


def identity(run: Run) -> dict[str, Any]:
    """Everything that makes two runs the same, as plain data; functions by their names only."""
    scenario, options = run.scenario, run.options
    model, times = scenario.model, options.times
    return {
        "model": identity_text(model) or f"{model}\n{model.numbers()}",
        "start q": scenario.q.tolist(),
        "start v": scenario.v.tolist(),
        "duration": scenario.duration,
        "method": scenario.method,
        "step": options.step,
        "tolerance": None if options.fixed else options.tolerance,
        "norm": options.norm,
        "constraints": options.policy.identity,
        "samples": None if times is None else times.tolist(),
        "every": options.every,
        "inputs": run.driven.law_text or _name(scenario.tau),
        **({"numbers": "inputs"} if run.takes_numbers else {}),
        "events": [[event.name, event.direction, event.terminal, _name(event.function)] for event in options.events],
    }


def _name(function: Any) -> str:
    inner = f" of {_name(function.function)}, period {function.period}" if isinstance(function, Sampled) else ""
    return getattr(function, "__name__", type(function).__name__) + inner


class Recording:
    """One run, written to disk while it runs."""

    def __init__(self, run: Run, store: RunStore, checkpoint: float) -> None:
        assert isinstance(run.stepper, RunLoop)  # the others keep no checkpoints
        self.run, self.loop, self.store, self.checkpoint = run, run.stepper, store, checkpoint
        if self.loop.watched:
            self.loop.watched.is_recorded = True
        self.seen, self.ended = store.rows, False
        self.pending: list[tuple[int, Samples]] = []  # blocks, with the number of samples up to the end of each
        self._resumable = (self.seen, self.state())  # the last checkpoint, and the number of samples up to it
        self.chunk = int(np.clip(CHUNK // bytes_of_sample(run.model), 256, 2**16))

    # the state of a run, and back

    def state(self) -> dict[str, Any]:
        """A checkpoint: everything that a resumed run needs."""
        at, ending = vars(self.loop.position), vars(self.loop.ending)
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
        """Resume from a checkpoint, if it is one of this run."""
        loop = self.loop
        try:
            self._check(state)
        except (KeyError, TypeError, ValueError, RecursionError, AttributeError) as fault:
            fix = "The run cannot go on from it: start it again (force=True; --overwrite)."
            found = f"{type(fault).__name__}: {fault}"[:80]
            raise PolhodeError(
                message("record, checkpoint", "not a state of this run", found, "its own", fix)
            ) from None
        for field in fields(Position):
            setattr(loop.position, field.name, state.get(field.name))
        events = zip(state["event_times"].tolist(), json.loads(state["event_names"]), strict=True)
        counted = {field.name: state[field.name] for field in fields(Ending) if field.name != "events"}
        loop.ending = Ending(**counted, events=list(events))
        self.ended = state["ended"]
        self._resumable = (self.seen, self.state())

    def _check(self, state: dict[str, Any]) -> None:
        """Raise unless a state fits the run: compiled code trusts its shapes."""
        model, segments = self.run.model, self.loop.segments
        sizes = {"q": model.nq, "v": model.nv, "packed": self.loop.compiled.width, "level": model.nv}
        sizes["work"] = len(self.loop.compiled.spec.work)
        for name, size in sizes.items():
            value = state.get(name)
            if value is None and (name in ("packed", "level") or (name == "work" and not size)):
                continue
            if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.shape != (size,):
                raise ValueError(name)
        if (watch := state.get("watch")) is not None and not (
            self.loop.watched and self.loop.watched.path.is_state(watch)
        ):
            raise ValueError("watch")
        read(state["singular"])
        numbers = ("t", "until", "reset_at", "smallest", "largest")
        most = {"sample": 2**53, "segment": len(segments), "idle": 2**31, "accepted": 2**53, "rejected": 2**53}
        most["singular_count"] = most["unseen"] = most["contacts"] = 2**53
        for name in numbers:
            if not isinstance(state[name], float):
                raise ValueError(name)
        for name, bound in most.items():
            if not is_count(state[name], 0, bound):
                raise ValueError(name)
        names, times = json.loads(state["event_names"]), state["event_times"]
        if not isinstance(times, np.ndarray) or times.shape != (len(names),) or times.dtype != np.float64:
            raise ValueError("event_times")
        texts = (*names, state["status"], state["reason"])
        if not all(isinstance(text, str) for text in texts) or not isinstance(state["ended"], bool):
            raise ValueError("status")

    # the run

    def follow(self, progress: StepProgress | None = None) -> None:
        """Run to the end, or to Ctrl-C, with checkpoints."""
        if self.ended:
            return
        if not self.store.rows:
            self.save()
        try:
            self._follow(progress)
            self.ended = True
            self._resumable = (self.seen, self.state())
        except KeyboardInterrupt:
            self.loop.ending.interrupt(self.loop.position.t)
        self.save()
        self._flush(self.seen)

    def _follow(self, progress: StepProgress | None) -> None:
        loop, last, begin = self.loop, time.monotonic(), time.perf_counter()
        for block in loop:
            self.run.accompany(begin)
            self.pending.append((self.seen + len(block.time), block))
            self.seen += len(block.time)
            if loop.can_resume:
                self._resumable = (self.seen, self.state())
            if self.seen - self.store.rows >= self.chunk:
                self._flush(self._resumable[0])
            if time.monotonic() - last >= self.checkpoint:
                self.save()
                last = time.monotonic()
            if progress:
                progress(loop.position.t / self.run.scenario.duration, loop.position.t, loop.ending.accepted)

    def save(self) -> None:
        """A checkpoint at the last position that a run can be resumed from."""
        self._flush(self._resumable[0])
        self.store.checkpoint(self._resumable[1])

    def _flush(self, until: int) -> None:
        """Write what is pending up to a number of samples as a chunk.

        Ctrl-C may come between any two lines: the store itself records what it holds.
        """
        done = [block for end, block in self.pending if self.store.rows < end <= until]
        if done:
            self.store.append(joined(done))
        self.pending = [(end, block) for end, block in self.pending if end > self.store.rows]

    # the result

    def write(self, path: Path, model_text: str, force: bool, own: str, checking: StepProgress | None = None) -> None:
        """Assemble `run.nc` from the chunks, graded; own: the digest of the run."""
        run, store = self.run, self.store
        if not store.rows:  # interrupted before its first sample
            self._append_start()
        residuals = run.residuals(store.chunks())
        with TemporaryFile() as file:
            table = np.memmap(file, float, "w+", shape=(2, store.rows))
            error_by = lambda one: self._estimated(one, table, checking)  # noqa: E731
            companion, error = run.estimated(store.chunks(), store.rows, error_by)
            wholes = (run.whole(chunk, ()) for chunk in store.chunks())
            again = (lambda: map(run.whole, companion.arrays())) if companion else None
            graded = run.graded(wholes, error, residuals, again, run.not_accompanied, samples=store.chunks)
            first = {name: values[:1] for name, values in next(store.chunks()).items()}
            template = run.dataset_of(first, graded, model_text, _with_error(run.observed(first), error, 0, 1))
            places = accumulate((len(chunk["time"]) for chunk in store.chunks()), initial=0)

            def derive(chunk: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
                return _with_error(run.whole(chunk), error, next(places), len(chunk["time"]))

            assemble(store, template, path, derive, force, own)

    def _estimated(self, companion: Companion, table: np.ndarray, checking: StepProgress | None) -> ErrorEstimate:
        """The estimated error of the samples in the store; table: (2, samples), gets their times and errors."""
        done = 0
        estimates = companion.estimates(self.store.chunks(), checking=checking)
        for chunk, values in zip(self.store.chunks(), estimates, strict=False):
            table[:, done : done + len(values)] = chunk["time"][: len(values)], values
            done += len(values)
        return companion.estimate(table[0], table[1, :done])

    def _append_start(self) -> None:
        q, v = self.run.scenario.q, self.run.scenario.v
        self.store.append(joined([Samples(np.zeros(1), q[None], v[None], np.full(1, np.nan))]))


def _with_error(
    arrays: dict[str, np.ndarray], error: ErrorEstimate | None, first: int, n: int
) -> dict[str, np.ndarray]:
    """Arrays of n samples from the first on, with their estimated errors where there are any."""
    return arrays if error is None else {**arrays, "error_estimate": padded(error.values[first : first + n], n)}


def unfinished(directory: str | Path) -> bool:
    """Whether a folder holds a run that may be resumed."""
    return (Path(directory) / FOLDER / CHECKPOINT_NAME).is_file()


def note_of(directory: str | Path) -> str:
    """The note of the unfinished run in a folder; "" where there is none."""
    try:
        return read_bounded(Path(directory) / FOLDER / NOTE, LONGEST_NOTE).decode()
    except (Damaged, ValueError):
        return ""


def is_complete(directory: str | Path) -> bool:
    """Whether a folder holds a whole run and nothing to resume; an empty store beside the run is removed."""
    place, store = Path(directory), Path(directory) / FOLDER
    try:
        if (store.is_dir() and any(store.iterdir())) or not (place / RUN).is_file():
            return False
        if read_trailer(place / RUN) in (None, NO_RUN):
            return False
    except Damaged:
        return False
    if store.is_dir():
        store.rmdir()
    return True


def is_leftover(path: Path) -> bool:
    """Whether a file or folder is a leftover of a killed run without any result."""
    return path.name.endswith(".part") or (path.name == FOLDER and not (path / CHECKPOINT_NAME).exists())
