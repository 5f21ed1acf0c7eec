"""Long runs on disk: numbered chunks of samples, and a checkpoint from which a killed run goes on.

store = Store.create("out", identity={"model": text, "method": "rk4", "step": 1e-3})
store.append({"time": t, "q": q, "v": v})             # one chunk, whole or not there
store.checkpoint({"t": 1.5, "q": q[-1], "step": 1500})  # from here a killed run goes on
store, state = Store.resume("out", identity)

Chunks are plain .npz files, the checkpoint is JSON with floats in hexadecimal: exact, and no pickle.
What was appended after the last checkpoint is dropped by `resume`: the run makes it again, to the bit.
"""

import contextlib
import hashlib
import io
import json
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode import __version__
from polhode.errors import InputError, PolhodeError, message
from polhode.result.aside import aside, sync_folder
from polhode.result.lock import Lock
from polhode.scalar import Array

FORMAT = 1
"""The version of what is written here."""

FOLDER, CHECKPOINT = ".polhode-run", "checkpoint.json"

SHOWN = 200
"""Entries of an identity longer than this, such as a model's text, are kept as digests."""

State = dict[str, Any]
"""What a run needs to go on: arrays of floats or integers, numbers and texts by name."""


class Chunk(NamedTuple):
    """A chunk of the store: how many samples, and the checksum of its file."""

    rows: int
    sha256: str


class Store:
    """The samples of one run, in a folder that one process at a time may hold."""

    def __init__(self, folder: Path, identity: Mapping[str, Any], lock: Lock) -> None:
        """Use `create` or `resume`."""
        self.folder, self.identity, self._lock = folder, dict(identity), lock
        self._chunks: list[Chunk] = []
        self._layout: dict[str, list] = {}

    @classmethod
    def create(cls, directory: str | Path, identity: Mapping[str, Any], force: bool = False) -> "Store":
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
        try:
            if (folder / CHECKPOINT).exists() and not force:
                fix = "Continue it (--resume), or discard it (--force)."
                raise InputError(message(_place(folder), "holds an unfinished run", "a checkpoint", "no run", fix))
            store = cls(folder, _known(identity), lock)
            _clear(folder, CHECKPOINT)  # before its chunks go, so that what is left never looks whole
            store._drop_chunks(0)
        except BaseException:
            lock.release()
            raise
        return store

    @classmethod
    def resume(cls, directory: str | Path, identity: Mapping[str, Any]) -> tuple["Store", State]:
        """The store of a run that was cut off, and its state at the last checkpoint."""
        folder = Path(directory) / FOLDER
        if not (folder / CHECKPOINT).is_file():
            fix = "It ended before its first checkpoint, or it is another folder: start the run again."
            raise InputError(message(_place(folder), "nothing to resume", "no checkpoint", "an unfinished run", fix))
        try:
            lock = Lock(folder / "lock")
        except OSError as fault:
            raise _failed(folder, "cannot be locked", fault) from fault
        try:
            saved = _read_checkpoint(folder / CHECKPOINT)
            _compare(folder, saved["identity"], _known(identity))
            store = cls(folder, saved["identity"], lock)
            store._chunks = [Chunk(*entry) for entry in saved["chunks"]]
            store._layout = saved["layout"]
            for number in range(len(store._chunks)):
                store._bytes(number)
            store._drop_chunks(len(store._chunks))
        except BaseException:
            lock.release()
            raise
        return store, {name: _decoded(value) for name, value in saved["state"].items()}

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
        with aside(self._path(len(self._chunks)), force=True) as sink:
            sink.write(buffer.getbuffer())
        self._chunks.append(Chunk(rows, hashlib.sha256(buffer.getbuffer()).hexdigest()))
        self._layout = layout

    def checkpoint(self, state: Mapping[str, Any]) -> None:
        """Record that the run can go on from this state, with the chunks there are."""
        content = {
            "format": FORMAT,
            "identity": self.identity,
            "state": {name: _encoded(name, value) for name, value in state.items()},
            "chunks": self._chunks,
            "layout": self._layout,
        }
        text = json.dumps({**content, "sha256": _digest(content)})
        try:
            sync_folder(self.folder)  # the names of the chunks come before the checkpoint that counts them
            with aside(self.folder / CHECKPOINT, force=True) as sink:
                sink.write(text.encode())
            sync_folder(self.folder)
        except OSError as fault:
            raise _failed(self.folder, "cannot be written", fault) from fault

    def chunks(self) -> Iterator[dict[str, np.ndarray]]:
        """The chunks in order, each checked and read when it is asked for."""
        for number in range(len(self._chunks)):
            with np.load(io.BytesIO(self._bytes(number)), allow_pickle=False) as file:
                yield {name: file[name] for name in file.files}

    def arrays(self) -> dict[str, np.ndarray]:
        """All samples, as whole arrays in memory."""
        parts = list(self.chunks())
        return {name: np.concatenate([part[name] for part in parts]) for name in self._layout}

    def close(self) -> None:
        """Let another process have the store; what is in it stays."""
        self._lock.release()

    def remove(self) -> None:
        """Delete the store, once the run is assembled elsewhere."""
        _clear(self.folder, CHECKPOINT)  # first, so that what is left never looks whole
        self._drop_chunks(0)
        self._lock.release()
        with contextlib.suppress(OSError):  # another run began there
            self.folder.rmdir()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _path(self, number: int) -> Path:
        return self.folder / f"chunk-{number:06d}.npz"

    def _bytes(self, number: int) -> bytes:
        """The content of a chunk's file, if it is what was written."""
        path, where = self._path(number), f"run store, '{self._path(number)}'"
        fix = "The run cannot go on from here: start it again (--force)."
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
        """The number of samples in a chunk that is like the ones before it, and what its arrays are like."""
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
        fix = "Resume with what the run began with, or start it again (--force)."
        what = f"another run: its {' and '.join(names)} differ{'s' if len(names) == 1 else ''}"
        raise InputError(message(_place(folder), what, found, expected, fix))


def _read_checkpoint(path: Path) -> dict[str, Any]:
    fix = "The run cannot go on from it: start it again (--force)."
    where = f"run store, '{path}'"
    try:
        content = json.loads(path.read_bytes())
        digest = content.pop("sha256")
    except OSError as fault:
        raise PolhodeError(
            message(where, "cannot be read", fault.strerror or str(fault), "a checkpoint", fix)
        ) from fault
    except (ValueError, KeyError, AttributeError, TypeError) as fault:
        raise PolhodeError(message(where, "damaged", str(fault), "the JSON of a checkpoint", fix)) from fault
    if digest != _digest(content):
        raise PolhodeError(message(where, "damaged: its checksum is wrong", "changed content", "what was written", fix))
    if content.get("format") != FORMAT:
        found = f"format {content.get('format')}"
        raise InputError(message(where, "of another version of polhode", found, f"format {FORMAT}", fix))
    return content


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


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
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float.fromhex(value["float"])
    entries = [float.fromhex(x) for x in value["floats"]] if "floats" in value else value["integers"]
    return np.array(entries, dtype=value["dtype"]).reshape(value["shape"])


def _clear(folder: Path, name: str) -> None:
    try:
        (folder / name).unlink(missing_ok=True)
    except OSError as fault:
        raise _failed(folder, "cannot be cleared", fault) from fault


def _place(folder: Path) -> str:
    return f"run store '{folder}'"


def _failed(folder: Path, what: str, fault: OSError) -> PolhodeError:
    return PolhodeError(message(_place(folder), what, fault.strerror or str(fault), "a folder that may be written"))
