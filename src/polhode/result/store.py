"""Long runs on disk: numbered chunks of samples, and a checkpoint from which a killed run resumes.

store = RunStore.create("out", identity={"model": text, "method": "rk4", "step": 1e-3})
store.append({"time": t, "q": q, "v": v})             # one chunk, whole or not there
store.checkpoint({"t": 1.5, "q": q[-1], "step": 1500})  # from here a killed run resumes
store, state = RunStore.resume("out", identity)

Chunks are plain .npz files, the checkpoint is JSON with floats in hexadecimal: exact, and no pickle.
What was appended after the last checkpoint is dropped by `resume`: the run makes it again, to the bit.
"""

import contextlib
import hashlib
import io
import json
import platform
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode import __version__
from polhode.errors import InputError, PolhodeError, message
from polhode.result.atomic_file import atomic_write, sync_folder
from polhode.result.digests import Damaged, is_count, is_digest, read_digested, with_digest
from polhode.result.lock import Lock
from polhode.scalar import Array

FORMAT = 1
"""The version of the checkpoint's format."""

FOLDER, CHECKPOINT = ".polhode-run", "checkpoint.json"

SHOWN = 200
"""Entries of an identity longer than this, such as a model's text, are kept as digests."""

State = dict[str, Any]
"""What a run needs to resume: arrays of floats or integers, numbers and texts by name."""


class Chunk(NamedTuple):
    """A chunk of the store: the number of its samples, and the checksum of its file."""

    rows: int
    sha256: str


class RunStore:
    """The samples of one run, in a folder that one process at a time may hold."""

    def __init__(self, folder: Path, identity: Mapping[str, Any], lock: Lock) -> None:
        """Use `create` or `resume`."""
        self.folder, self.identity, self._lock = folder, dict(identity), lock
        self._chunks: list[Chunk] = []
        self._layout: dict[str, list] = {}

    @classmethod
    def create(cls, directory: str | Path, identity: Mapping[str, Any], force: bool = False) -> "RunStore":
        """A new, empty store in `directory`.

        identity  what the run is: model, method, options; `resume` compares it
        force     discard an unfinished run that is there
        """
        folder = Path(directory) / FOLDER
        if not folder.parent.is_dir():
            fix = f"Make it first: mkdir -p '{directory}'"
            raise InputError(message(_place(folder), "its folder is missing", "none", "an existing folder", fix))
        try:
            folder.mkdir(exist_ok=True)
            lock = Lock(folder / "lock")
        except OSError as fault:
            raise _failed(folder, "cannot be made", fault) from fault
        with lock.released_on_error():
            if (folder / CHECKPOINT).exists() and not force:
                fix = "Continue it (--resume), or discard it (force=True; --overwrite)."
                raise InputError(message(_place(folder), "holds an unfinished run", "a checkpoint", "no run", fix))
            store = cls(folder, _known(identity), lock)
            _clear(folder, CHECKPOINT)  # before its chunks go, so that what is left never looks whole
            store._drop_chunks(0)
        return store

    @classmethod
    def resume(cls, directory: str | Path, identity: Mapping[str, Any]) -> tuple["RunStore", State]:
        """The store of a run that was cut off, and its state at the last checkpoint."""
        folder = Path(directory) / FOLDER
        if not (folder / CHECKPOINT).is_file():
            fix = "It ended before its first checkpoint, or it is another folder: start the run again."
            raise InputError(message(_place(folder), "nothing to resume", "no checkpoint", "an unfinished run", fix))
        try:
            lock = Lock(folder / "lock")
        except OSError as fault:
            raise _failed(folder, "cannot be locked", fault) from fault
        with lock.released_on_error():
            saved = _read_checkpoint(folder / CHECKPOINT)
            _compare(folder, saved["identity"], _known(identity))
            store = cls(folder, saved["identity"], lock)
            store._chunks = [Chunk(*entry) for entry in saved["chunks"]]
            store._layout = saved["layout"]
            for number in range(len(store._chunks)):
                store._bytes(number)
            state = {name: _decoded(value) for name, value in saved["state"].items()}
            store._drop_chunks(len(store._chunks))
        return store, state

    @classmethod
    def leftover(cls, directory: str | Path) -> "RunStore":
        """The remains of the store of a run that is assembled already, only to be removed."""
        folder = Path(directory) / FOLDER
        try:
            return cls(folder, {}, Lock(folder / "lock"))
        except OSError as fault:
            raise _failed(folder, "cannot be locked", fault) from fault

    @property
    def rows(self) -> int:
        """The number of samples."""
        return sum(chunk.rows for chunk in self._chunks)

    def append(self, arrays: Mapping[str, Array]) -> None:
        """Write samples as the next chunk: arrays (rows, ...) by name, alike in every chunk."""
        plain: dict[str, Any] = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
        rows, layout = self._checked_layout(plain)
        buffer = io.BytesIO()
        np.savez(buffer, **plain)
        with atomic_write(self._path(len(self._chunks)), force=True) as sink:
            sink.write(buffer.getbuffer())
        self._chunks.append(Chunk(rows, hashlib.sha256(buffer.getbuffer()).hexdigest()))
        self._layout = layout

    def checkpoint(self, state: Mapping[str, Any]) -> None:
        """Record that the run can resume from this state, with the chunks written so far."""
        content = {
            "format": FORMAT,
            "identity": self.identity,
            "state": {name: _encoded(name, value) for name, value in state.items()},
            "chunks": self._chunks,
            "layout": self._layout,
        }
        try:
            sync_folder(self.folder)  # the names of the chunks come before the checkpoint that counts them
            with atomic_write(self.folder / CHECKPOINT, force=True) as sink:
                sink.write(with_digest(content))
            sync_folder(self.folder)
        except OSError as fault:
            raise _failed(self.folder, "cannot be written", fault) from fault

    def chunks(self) -> Iterator[dict[str, np.ndarray]]:
        """The chunks in order, each checked and read when it is asked for."""
        for number in range(len(self._chunks)):
            yield self._arrays(number)

    def _arrays(self, number: int) -> dict[str, np.ndarray]:
        """The arrays of a chunk, if they are of the kinds and shapes that the checkpoint tells of."""
        data, rows = self._bytes(number), self._chunks[number].rows
        what = "no arrays of this run"
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                packed = [
                    x for x in archive.infolist() if x.compress_type != zipfile.ZIP_STORED or x.file_size > len(data)
                ]
            if not packed:
                with np.load(io.BytesIO(data), allow_pickle=False) as file:
                    found = {name: file[name] for name in file.files}
                layout = {name: [x.dtype.str, list(x.shape[1:])] for name, x in found.items()}
                if layout == self._layout and all(len(x) == rows for x in found.values()):
                    return found
        except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile) as fault:
            what = str(fault)[:80]
        fix = "The run cannot go on from here: start it again (force=True; --overwrite)."
        where = f"run store, '{self._path(number)}'"
        raise PolhodeError(message(where, "not a chunk of this run", what, f"{rows} samples of each array", fix))

    def arrays(self) -> dict[str, np.ndarray]:
        """All samples, as whole arrays in memory."""
        parts = list(self.chunks())
        return {name: np.concatenate([part[name] for part in parts]) for name in self._layout}

    def close(self) -> None:
        """Let another process have the store; what is in it stays."""
        self._lock.release()

    def remove(self, *last: str) -> None:
        """Delete the store, once the run is assembled elsewhere; last: other files in its folder."""
        _clear(self.folder, CHECKPOINT)  # first, so that what is left never looks whole
        self._drop_chunks(0)
        self._lock.release()
        for name in last:
            _clear(self.folder, name)
        with contextlib.suppress(OSError):  # another run began there
            self.folder.rmdir()

    def __enter__(self) -> "RunStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _path(self, number: int) -> Path:
        return self.folder / f"chunk-{number:06d}.npz"

    def _bytes(self, number: int) -> bytes:
        """The content of a chunk's file, if it is what was written."""
        path, where = self._path(number), f"run store, '{self._path(number)}'"
        fix = "The run cannot go on from here: start it again (force=True; --overwrite)."
        try:
            data = path.read_bytes()
        except OSError as fault:
            found = fault.strerror or str(fault)
            raise PolhodeError(message(where, "cannot be read", found, "a chunk of samples", fix)) from fault
        digest = hashlib.sha256(data).hexdigest()
        if digest != self._chunks[number].sha256:
            found = f"checksum {digest[:12]}… of {len(data)} bytes"
            expected = f"{self._chunks[number].sha256[:12]}…"
            raise PolhodeError(message(where, "damaged: cut off or changed", found, expected, fix))
        return data

    def _checked_layout(self, arrays: Mapping[str, np.ndarray]) -> tuple[int, dict[str, list]]:
        """The number of samples of a chunk, and the types and shapes of its arrays, which are those before."""
        where = "run store, append"
        for name, array in arrays.items():
            if array.dtype.kind not in "biuf" or array.ndim == 0 or not name.isidentifier() or name == "file":
                found = f"'{name}': {array.dtype} of shape {array.shape}"
                raise InputError(message(where, "cannot be stored", found, "real numbers, one row per sample"))
        rows = {len(array) for array in arrays.values()}
        if len(rows) != 1:
            raise InputError(message(where, "rows differ", str(sorted(rows)), "as many samples of each"))
        layout = {name: [array.dtype.str, list(array.shape[1:])] for name, array in arrays.items()}
        if self._layout and layout != self._layout:
            raise InputError(message(where, "not like the chunks before", str(layout), str(self._layout)))
        return rows.pop(), layout

    def _drop_chunks(self, first: int) -> None:
        """Delete chunks from a number on, and files that were never finished."""
        keep = {self._path(number).name for number in range(first)}
        for path in [*self.folder.glob("chunk-*"), *self.folder.glob("*.part")]:
            if path.name not in keep:
                _clear(self.folder, path.name)


def _known(identity: Mapping[str, Any]) -> dict[str, Any]:
    """An identity as it is kept: with the program's version and the machine's kind, long texts as digests."""
    full = {**identity, "polhode_version": __version__, "machine": platform.machine()}
    kept = {}
    for name, value in full.items():
        try:
            text = json.dumps(value, sort_keys=True)
        except (TypeError, ValueError):
            found = f"{name}: {value!r}"
            raise InputError(message("run store, identity", "not plain data", found, "text and numbers")) from None
        kept[name] = json.loads(text) if len(text) <= SHOWN else f"sha256 {hashlib.sha256(text.encode()).hexdigest()}"
    return kept


def _compare(folder: Path, saved: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    missing = "not given"
    names = [name for name in {**saved, **now} if saved.get(name, missing) != now.get(name, missing)]
    if names:
        found = ", ".join(f"{name} {now.get(name, missing)!r}" for name in names)
        expected = ", ".join(f"{name} {saved.get(name, missing)!r}" for name in names)
        fix = "Resume with what the run began with, or start it again (force=True; --overwrite)."
        what = f"another run: its {' and '.join(names)} differ{'s' if len(names) == 1 else ''}"
        raise InputError(message(_place(folder), what, found, expected, fix))


def _read_checkpoint(path: Path) -> dict[str, Any]:
    """The content of a checkpoint, its digest and the types of its values checked."""
    fix = "The run cannot go on from it: start it again (force=True; --overwrite)."
    where = f"run store, '{path}'"
    try:
        content = read_digested(path)
    except Damaged as fault:
        raise PolhodeError(message(where, f"damaged: {fault}", "changed content", "what was written", fix)) from None
    if content.get("format") != FORMAT or isinstance(content["format"], bool):
        found = f"format {str(content.get('format'))[:20]}"
        raise InputError(message(where, "of another version of polhode", found, f"format {FORMAT}", fix))
    kinds = all(isinstance(content.get(name), dict) for name in ("identity", "state", "layout"))
    chunks, layout = content.get("chunks"), content.get("layout") or {}
    kinds = (
        kinds
        and isinstance(chunks, list)
        and all(isinstance(x, list) and len(x) == 2 and is_count(x[0], 1) and is_digest(x[1]) for x in chunks)
    )
    if not kinds or not all(_is_layout(x) for x in layout.values()):
        raise PolhodeError(message(where, "not a checkpoint", "wrong kinds of values", "what was written", fix))
    return content


def _is_layout(entry: Any) -> bool:
    """Whether an entry of a layout is a NumPy type of numbers and a shape."""
    plain = isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str) and isinstance(entry[1], list)
    return plain and entry[0][1:2] in tuple("biuf") and all(is_count(n) for n in entry[1])


def _encoded(name: str, value: Any) -> Any:
    """A value as exact JSON: floats in hexadecimal."""
    if isinstance(value, (bool, str)) or value is None:
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return {"float": float(value).hex()}
    array = np.asarray(value)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return {"floats": [float(x).hex() for x in array.flat], "dtype": array.dtype.str, "shape": array.shape}
    if array.dtype.kind in "iu":
        return {"integers": [int(x) for x in array.flat], "dtype": array.dtype.str, "shape": array.shape}
    found = f"{name}: {type(value).__name__}"
    raise InputError(
        message("run store, checkpoint", "cannot be kept exactly", found, "floats, integers, their arrays")
    )


def _decoded(value: Any) -> Any:
    """A value of a checkpoint, as `_encoded` wrote it."""
    if not isinstance(value, dict):
        return value
    try:
        if "float" in value:
            return float.fromhex(value["float"])
        entries = [float.fromhex(x) for x in value["floats"]] if "floats" in value else value["integers"]
        kind = np.dtype(value["dtype"])
        if kind.kind not in "iuf" or not all(isinstance(x, (int, float)) for x in entries):
            raise ValueError("not numbers")
        return np.array(entries, dtype=kind).reshape(value["shape"])
    except (ValueError, TypeError, KeyError, OverflowError, AttributeError) as fault:
        fix = "The run cannot go on from it: start it again (force=True; --overwrite)."
        found = f"{type(fault).__name__}: {fault}"[:80]
        raise PolhodeError(message("run store, checkpoint", "not a state", found, "what was written", fix)) from None


def _clear(folder: Path, name: str) -> None:
    try:
        (folder / name).unlink(missing_ok=True)
    except OSError as fault:
        raise _failed(folder, "cannot be cleared", fault) from fault


def _place(folder: Path) -> str:
    return f"run store '{folder}'"


def _failed(folder: Path, what: str, fault: OSError) -> PolhodeError:
    return PolhodeError(message(_place(folder), what, fault.strerror or str(fault), "a folder that may be written"))
