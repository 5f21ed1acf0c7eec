"""The runs of a study on disk: a Zarr group that xarray opens, and a receipt for every chunk that is whole.

    DIR/study.zarr            arrays over (run, time, …), in shards of one chunk of runs; the study and versions inside
    DIR/receipts/000012.json  written when all files of the chunk are: their sizes and checksums, and why runs failed
    DIR/lock                  held by the one process that may write

A chunk without a receipt that fits its files is not there, whatever lies on the disk: it is computed again.
"""

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import __version__
from polhode.ensemble.fleet import STATUS, Fleet, Stretch
from polhode.ensemble.measures import VERDICTS
from polhode.errors import InputError, PolhodeError, message
from polhode.result.lock import Lock

if TYPE_CHECKING:
    import xarray as xr
    import zarr

GROUP, BEGUN, RECEIPTS, LOCK = "study.zarr", "study.zarr.partial", "receipts", "lock"

PIECE = 2**22
"""Bytes of the inner chunks of a shard, about: what a reader of a few runs must read."""

SHARDED = 2**18
"""Bytes of one chunk of runs from which an array is sharded; a smaller one is one piece."""


def needed() -> Any:
    """The Zarr package, or an error that says how to get it."""
    try:
        import zarr
    except ImportError:
        fix = "Install it with: pip install 'polhode[ensemble]'."
        raise InputError(message("sweep, out", "no store", "no package zarr", "zarr 3", fix)) from None
    return zarr


class Store:
    """The store of one study: what is there, and what is missing."""

    def __init__(self, folder: str | Path) -> None:
        """Use `create`, `resume` or `open_study`."""
        self.folder = Path(folder)
        self.group: zarr.Group = needed().open_group(str(self.folder / GROUP), mode="r+")
        self.attrs: dict[str, Any] = dict(self.group.attrs)
        self.runs, self.chunk = int(self.attrs["runs"]), int(self.attrs["chunk"])
        self.names: list[str] = list(self.attrs["arrays"])
        self.lock: Lock | None = None
        self._arrays: dict[str, Any] = {}

    # beginning

    @classmethod
    def create(cls, folder: str | Path, fleet: Fleet, chunk: int, force: bool = False) -> "Store":
        """A new store, locked; `force` discards what is there."""
        zarr, place = needed(), Path(folder)
        where = f"sweep, out '{folder}'"
        if _is_used(place) and not force:
            study = (place / GROUP).exists()
            fix = "Go on with it (--resume), give another folder (--out), or discard what is there (--force)."
            found = "a study" if study else "a folder with files"
            raise InputError(message(where, "already there", found, "a new folder", fix))
        try:
            place.mkdir(parents=True, exist_ok=True)
            lock = Lock(place / LOCK)
        except OSError as fault:
            raise InputError(message(where, "cannot be made", fault.strerror or str(fault), "a folder")) from None
        try:
            if (place / GROUP).exists() and not _is_ours(place / GROUP):
                raise InputError(message(where, "not a study of ours", GROUP, "a study, or a new folder"))
            _clear(place)
            _fill(zarr.open_group(str(place / BEGUN), mode="w", zarr_format=3), fleet, chunk)
            (place / RECEIPTS).mkdir(exist_ok=True)
            (place / BEGUN).rename(place / GROUP)  # there as a whole, or not at all
            store = cls(place)
        except BaseException:
            lock.release()
            raise
        store.lock = lock
        return store

    @classmethod
    def resume(cls, folder: str | Path, fleet: Fleet) -> "Store":
        """The store of a study that was cut off, locked; an InputError where it is of another study."""
        place, where = Path(folder), f"sweep, out '{folder}'"
        if not _is_ours(place / GROUP):
            fix = "It ended before it began, or it is another folder: leave --resume out."
            raise InputError(message(where, "nothing to resume", "no study", "a study that was cut off", fix))
        lock = Lock(place / LOCK)
        try:
            store = cls(place)
            _compare(where, json.loads(store.attrs["study"]), fleet)
            (place / RECEIPTS).mkdir(exist_ok=True)
            for left in (place / GROUP).rglob("*.partial"):  # of a writer that was killed
                left.unlink(missing_ok=True)
        except BaseException:
            lock.release()
            raise
        store.lock = lock
        return store

    def release(self) -> None:
        """Let others write."""
        if self.lock:
            self.lock.release()
            self.lock = None

    # chunks

    @property
    def chunks(self) -> int:
        """How many there are, written or not."""
        return -(-self.runs // self.chunk)

    def bounds(self, number: int) -> tuple[int, int]:
        """The first run of a chunk, and the first after it."""
        return number * self.chunk, min((number + 1) * self.chunk, self.runs)

    def pending(self) -> list[int]:
        """The chunks that are missing, or are not what their receipt says."""
        return [number for number in range(self.chunks) if self.receipt(number) is None]

    def write(self, number: int, stretch: Stretch, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Write a chunk, then its receipt, and hand that back; facts: what else it should say."""
        first, last = self.bounds(number)
        assert (stretch.first, stretch.last) == (first, last)
        self._path(number).unlink(missing_ok=True)  # what it says is no longer so
        for name in self.names:
            self.array(name)[first:last] = stretch.arrays[name]
        status = stretch.arrays["status"]
        receipt = {
            "identity": self.attrs["identity"], "chunk": number, "first": first, "last": last,
            "status": {name: int(np.sum(status == code)) for name, code in STATUS.items()},
            "reasons": {str(run): why for run, why in stretch.reasons.items()},
            "files": {name: _sum(self._file(name, number)) for name in self.names}, **facts,
        }  # fmt: skip
        aside = self._path(number).with_suffix(f".{secrets.token_hex(8)}.partial")
        try:
            aside.write_text(json.dumps(receipt), encoding="utf-8")
            os.replace(aside, self._path(number))
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
        return receipt

    def receipt(self, number: int, check: bool = True) -> dict[str, Any] | None:
        """The receipt of a chunk; None where there is none, or (with `check`) where its files are not as it says."""
        try:
            found = json.loads(self._path(number).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or found.get("identity") != self.attrs["identity"]:
            return None
        if check and any(_sum(self._file(name, number)) != found["files"].get(name) for name in self.names):
            return None
        return found

    def receipts(self) -> Iterator[dict[str, Any]]:
        """All that there are, their files unread."""
        for number in range(self.chunks):
            if found := self.receipt(number, check=False):
                yield found

    def array(self, name: str) -> Any:
        """An array of the group."""
        if name not in self._arrays:
            place = str(self.folder / GROUP)
            whole = {"write_empty_chunks": True}  # without a look at every number, whether it is the empty one
            self._arrays[name] = needed().open_array(place, path=name, mode="r+", config=whole)
        return self._arrays[name]

    def _path(self, number: int) -> Path:
        return self.folder / RECEIPTS / f"{number:06d}.json"

    def _file(self, name: str, number: int) -> Path:
        """The one file of a chunk of an array."""
        axes = self.array(name).ndim
        return (self.folder / GROUP / name / "c").joinpath(str(number), *["0"] * (axes - 1))

    # reading

    def dataset(self) -> "xr.Dataset":
        """All of it, read when asked for; with what is known of runs that were not run."""
        import xarray as xr

        found = xr.open_dataset(str(self.folder / GROUP), engine="zarr", consolidated=False, chunks=None)
        done = list(self.receipts())
        reasons = {run: why for receipt in done for run, why in receipt["reasons"].items()}
        finished = sum(receipt["last"] - receipt["first"] for receipt in done)
        return found.assign_attrs(runs_done=finished, reasons=json.dumps(reasons))


def begun(folder: str | Path) -> dict[str, Any]:
    """What a study on disk says of itself; an InputError where there is none."""
    try:
        return json.loads((Path(folder) / GROUP / "zarr.json").read_text(encoding="utf-8"))["attributes"]
    except (OSError, ValueError, KeyError):
        where = f"sweep, out '{folder}'"
        raise InputError(message(where, "nothing to resume", "no study", "a study that was cut off")) from None


def open_study(folder: str | Path) -> "xr.Dataset":
    """A study on disk as a Dataset over (run, time, …), read when asked for."""
    place = Path(folder)
    if not _is_ours(place / GROUP):
        raise InputError(message(f"open_study '{folder}'", "not a study", f"no {GROUP}", "a folder of `polhode sweep`"))
    return Store(place).dataset()


def _fill(group: Any, fleet: Fleet, chunk: int) -> None:
    """The arrays of a new store, empty, and all that says what it is."""
    from zarr.codecs import Crc32cCodec

    runs = fleet.study.runs
    for name, array in fleet.arrays.items():
        whole = (chunk, *array.sizes)
        size = int(np.prod(whole)) * np.dtype(array.kind).itemsize
        inner, shards = whole, None
        if size > SHARDED and array.sizes:
            wanted = max(1, size // PIECE)
            pieces = next((k for k in range(wanted, min(4 * wanted, chunk) + 1) if chunk % k == 0), 1)
            inner, shards = (chunk // pieces, *array.sizes), whole
        fill: Any = np.nan if array.kind == "f8" else 0
        made = group.create_array(
            name, shape=(runs, *array.sizes), chunks=inner, shards=shards, dtype=array.kind, fill_value=fill,
            compressors=[Crc32cCodec()], dimension_names=("run", *array.axes),
        )  # fmt: skip
        made.attrs.update({key: x for key, x in (("units", array.unit), ("long_name", array.note)) if x})
        if name in ("status", "verdict"):
            codes = STATUS if name == "status" else VERDICTS
            made.attrs["flag_values"] = list(codes.values())
            made.attrs["flag_meanings"] = " ".join(key.replace(" ", "_") for key in codes)
        if name == "event":
            made.attrs["stops"] = list(fleet.study.stop)
    for name, values in fleet.coordinates.items():
        if len(values) and any(name in array.axes for array in fleet.arrays.values()):
            texts = name != "time"
            data = np.array(values, dtype=object if texts else float)
            kept = group.create_array(name, shape=data.shape, dtype=str if texts else float, dimension_names=(name,))
            kept[:] = data
            if name == "time":
                kept.attrs["units"] = "s"
    group.attrs.update(facts(fleet) | {"chunk": chunk, "arrays": list(fleet.arrays)})


def facts(fleet: Fleet) -> dict[str, Any]:
    """What made a study: its description and text, the model's, the versions."""
    import zarr

    study = fleet.study
    versions = {"polhode": __version__, "numpy": np.__version__, "zarr": zarr.__version__}
    return {
        "title": study.name, "model_name": study.model.name, "runs": study.runs, "seed": study.seed,
        "study": json.dumps(study.description), "study_text": study.text, "source": study.source,
        "model_text": study.model_text,
        "identity": study.identity, "versions": json.dumps(versions), "measures": list(study.measures),
        "outputs": list(study.outputs),
    }  # fmt: skip


def _sum(path: Path) -> list[int]:
    """Size and checksum (CRC-32C, which Zarr brings) of a file; none of them where it cannot be read."""
    from google_crc32c import value

    try:
        content = path.read_bytes()
    except OSError:
        return []
    return [len(content), value(content)]


def _is_ours(group: Path) -> bool:
    try:
        found = json.loads((group / "zarr.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return "identity" in found.get("attributes", {})


def _is_used(place: Path) -> bool:
    """Whether a folder holds anything that counts."""
    there = list(place.iterdir()) if place.is_dir() else []
    empty = (place / RECEIPTS).is_dir() and not any((place / RECEIPTS).iterdir())
    return any(x.name not in (LOCK, BEGUN, *([RECEIPTS] if empty else [])) for x in there)


def _clear(place: Path) -> None:
    """Remove a study that is to be replaced: its receipts first, so that what is left never looks whole."""
    import shutil

    for name in (RECEIPTS, BEGUN, GROUP):
        if (place / name).exists():
            shutil.rmtree(place / name)


def _compare(where: str, there: Mapping[str, Any], fleet: Fleet) -> None:
    """Refuse to go on with another study."""
    here = json.loads(json.dumps(fleet.study.description, default=str))
    for name in here:
        if here[name] != there.get(name):
            fix = "Give the study it was begun with, another folder (--out), or discard it (--force)."
            found, expected = (f"{name}: {str(x)[:80]}" for x in (here[name], there.get(name)))
            raise InputError(message(where, "of another study", found, expected, fix))


def written(where: str, fault: OSError, folder: Path) -> PolhodeError:
    """The error for a store that could not be written: what is there stays."""
    fix = f"Nothing that was written is lost. Make room, then: polhode sweep --resume --out {folder}"
    return PolhodeError(message(where, "cannot be written", fault.strerror or str(fault), "room on the disk", fix))
