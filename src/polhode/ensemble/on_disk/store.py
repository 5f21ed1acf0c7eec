"""The runs of a study on disk: a Zarr group that xarray opens, and a receipt for every chunk that is whole.

    DIR/study.zarr            arrays over (run, time, …), in shards of one chunk of runs; the study and versions inside
    DIR/seal.json             the seal of what all chunks share; see `seal`
    DIR/receipts/000012.json  written when all files of the chunk are: their digests, and why runs failed
    DIR/lock                  held by the one process that may write

A chunk without a receipt that fits its files is not there, whatever lies on the disk: it is computed again.
"""

import json
import os
import shutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.ensemble.on_disk.seal import (
    BEGUN,
    FORMAT,
    GROUP,
    LOCK,
    MOST_RUNS,
    REASON,
    RECEIPTS,
    REPORT,
    RESULTS,
    SEAL,
    SUMMARY,
    Damage,
    Seal,
    checked_attributes,
    chunk_damage,
    read_receipt,
    read_receipts,
    read_seal,
    receipt_path,
    results_damage,
    shared_damage,
    write_json,
    write_seal,
    written_chunks,
)
from polhode.ensemble.on_disk.zarr_layout import ChunkLayout, empty_group, needed
from polhode.ensemble.option_table import RUN_FLAGS, STUDY_RUN_OPTIONS
from polhode.ensemble.study_runner import STATUS, RunBlock, StudyRunner
from polhode.errors import InputError, PolhodeError, escaped, message, warn_caller
from polhode.kernel.work_threads import in_threads
from polhode.result.atomic_file import FULL
from polhode.result.digests import Damaged, is_count, is_digest, read_json, written_with_digest
from polhode.result.lock import Lock

if TYPE_CHECKING:
    import xarray as xr

FEW = 5
"""Damaged files that a message names."""

EAGER = 2**30
"""Bytes of a study up to which a reader compares all of them when it opens it: about 0.6 s."""


class StudyStore:
    """The store of one study on disk: its chunks of runs, those written and those pending."""

    def __init__(self, folder: str | Path) -> None:
        """Use `create`, `resume` or `open_study`; an InputError where what all chunks share is damaged."""
        self.folder, where = Path(folder), f"study '{folder}'"
        try:
            self.seal = read_seal(self.folder)
        except Damaged as fault:
            raise damage_error(where, self.folder, [Damage(SEAL, str(fault))]) from None
        if found := list(shared_damage(self.folder, self.seal)):
            raise damage_error(where, self.folder, found)
        try:
            self.attrs = checked_attributes(self.folder, self.seal)
        except Damaged as fault:
            raise damage_error(where, self.folder, [Damage(f"{GROUP}/zarr.json", str(fault))]) from None
        self.names = list(self.seal.axes)
        self.lock: Lock | None = None
        self._layouts: dict[str, ChunkLayout] = {}

    # beginning

    @classmethod
    def create(cls, folder: str | Path, runner: StudyRunner, chunk: int, force: bool = False) -> "StudyStore":
        """A new store, locked; `force` discards what is there."""
        needed()
        place, where = Path(folder), f"sweep, out '{folder}'"
        if _is_used(place) and not force:
            study = (place / GROUP).exists()
            fix = (
                "Go on with it (--resume), give another folder (--out), or discard this one (force=True; --overwrite)."
            )
            found = "a study" if study else "a folder with files"
            raise InputError(message(where, "already there", found, "a new folder", fix))
        lock = _locked(where, place)
        with lock.released_on_error():
            if (place / GROUP).exists() and not _is_ours(place):
                raise InputError(message(where, "not a study of ours", GROUP, "a study, or a new folder"))
            _clear(place)
            seal = _begin(place, runner, chunk)
            write_seal(place, seal)
            (place / BEGUN).rename(place / GROUP)  # there as a whole, or not at all
            store = cls(place)
        store.lock = lock
        return store

    @classmethod
    def resume(cls, folder: str | Path, runner: StudyRunner) -> "StudyStore":
        """The store of a study that was cut off, locked and mended; an InputError where it is of another study."""
        needed()
        place, where = Path(folder), f"sweep, out '{folder}'"
        facts = begun(place)
        lock = _locked(where, place)
        with lock.released_on_error():
            _compare(where, place, facts, runner)
            for pattern in ("*.json.*.part", f"{RECEIPTS}/*.part", f"{GROUP}/**/*.partial"):  # the last are Zarr's
                for left in place.glob(pattern):
                    left.unlink(missing_ok=True)  # of a writer that was killed
            _mend(place, runner, facts["chunk"])
            store = cls(place)
        store.lock = lock
        return store

    def release(self) -> None:
        """Release the lock, so that others may write."""
        if self.lock:
            self.lock.release()
            self.lock = None

    # chunks

    @property
    def runs(self) -> int:
        """The number of runs, done or not."""
        return self.seal.runs

    @property
    def chunk(self) -> int:
        """The number of runs of a chunk."""
        return self.seal.chunk

    @property
    def chunks(self) -> int:
        """The number of chunks, written or not."""
        return self.seal.chunks

    def bounds(self, number: int) -> tuple[int, int]:
        """The first run of a chunk, and the first after it."""
        return self.seal.bounds(number)

    def pending(self, threads: int = 1) -> list[int]:
        """The chunks that are missing, or are not what their receipt says."""
        there = written_chunks(self.folder, self.seal)
        fit: set[int] = set()

        def look(number: int) -> None:
            if self.receipt(number) is not None:
                fit.add(number)

        in_threads(look, there, threads)
        return [number for number in range(self.chunks) if number not in fit]

    def write(self, number: int, block: RunBlock, facts: Mapping[str, Any]) -> dict[str, Any]:
        """The receipt of a chunk, after both are written; facts: further entries of the receipt."""
        first, last = self.bounds(number)
        assert (block.first, block.last) == (first, last)
        receipt_path(self.folder, number).unlink(missing_ok=True)  # what it says is no longer so
        files = {}
        for name in self.names:
            place, path = self.seal.chunk_place(name, number), self.folder / GROUP / self.seal.key(name, number)
            files[name] = list(written_with_digest(place, path, self.layout(name).pieces(block.arrays[name])))
        status = block.arrays["status"]
        receipt = {
            "format": FORMAT, "identity": self.seal.identity, "chunk": number, "first": first, "last": last,
            "status": {name: int(np.sum(status == code)) for name, code in STATUS.items()},
            "reasons": {str(run): escaped(why)[:REASON] for run, why in block.reasons.items()},
            "files": files, **facts,
        }  # fmt: skip
        write_json(receipt_path(self.folder, number), receipt)
        return receipt

    def receipt(self, number: int, check: bool = True) -> dict[str, Any] | None:
        """The receipt of a chunk; None where there is none, or (with `check`) where its files are not as it says."""
        try:
            found = read_receipt(self.folder, self.seal, number)
        except Damaged:
            return None
        if check and next(chunk_damage(self.folder, self.seal, number, found), None):
            return None
        return found

    def layout(self, name: str) -> ChunkLayout:
        """The layout of the chunks of an array."""
        if name not in self._layouts:
            self._layouts[name] = ChunkLayout.of(read_json(self.folder / GROUP / name / "zarr.json"))
        return self._layouts[name]

    # reading

    def dataset(self, verify: bool | None = False, gaps: bool = False) -> "xr.Dataset":
        """The Dataset of the study, read lazily, with the reasons of the runs that failed.

        verify  True: compare all bytes now; False: when they are read; None: now where they are few
        gaps    open a damaged study all the same; damaged chunks count as pending
        """
        needed()
        import xarray as xr

        where = f"study '{self.folder}'"
        receipts, bad = read_receipts(self.folder, self.seal, bool(verify or gaps))
        size = sum(size for receipt in receipts.values() for size, _ in receipt["files"].values())
        if verify is None and not bad and size <= EAGER:
            receipts, bad = read_receipts(self.folder, self.seal, verify=True)
        if bad and not gaps:
            raise damage_error(where, self.folder, bad)
        reader = import_module(
            "polhode.ensemble.on_disk.zarr_reader"
        )  # no plain import: its base is a class of optional Zarr
        store = reader.SealedStore(self.folder.resolve(), self.seal, receipts)
        try:
            found = xr.open_dataset(store, engine="zarr", consolidated=False, chunks=None, zarr_format=3)
        except PolhodeError:
            raise
        except Exception as fault:  # of a hostile study, Zarr reports nearly any kind of error
            told = escaped(f"{type(fault).__name__}: {fault}"[:200])
            raise InputError(message(where, "cannot be opened", told, "a study of `polhode sweep`")) from fault
        reasons = {run: why for receipt in receipts.values() for run, why in receipt["reasons"].items()}
        done = sum(receipt["last"] - receipt["first"] for receipt in receipts.values())
        if done < self.runs:
            fix = f"Compute them: polhode sweep --resume --out '{self.folder}'"
            lost = f", {len(bad)} files are damaged: {listed(bad)}" if bad else ""
            expected = f"{self.runs:,}; the others are NaN, their status is pending"
            told = message(where, "not all runs are there", f"{done:,} runs{lost}", expected, fix)
            warn_caller(told)
        return found.assign_attrs(runs_done=done, reasons=json.dumps(reasons))


def begun(folder: str | Path) -> dict[str, Any]:
    """Identity, runs, chunk, seed and source of a study on disk; an InputError where they cannot be read.

    The seal says it, and so do the attributes of the group: one of them may be damaged.
    """
    place, where = Path(folder), f"sweep, out '{folder}'"
    if not (place / GROUP).is_dir():
        fix = "It ended before it began, or it is another folder: leave --resume out."
        raise InputError(message(where, "nothing to resume", "no study", "a study that was cut off", fix))
    try:
        seal = read_seal(place)
    except Damaged as fault:
        first = fault
    else:
        return {name: getattr(seal, name) for name in ("identity", "runs", "chunk", "seed", "source")}
    try:
        attrs = read_json(place / GROUP / "zarr.json").get("attributes")
    except Damaged:
        attrs = None
    names = ("identity", "runs", "chunk", "seed", "source")
    found: dict[str, Any] = {name: attrs.get(name) for name in names} if isinstance(attrs, dict) else {}
    whole = is_digest(found.get("identity")) and is_count(found.get("runs"), 1, MOST_RUNS)
    whole = whole and is_count(found["chunk"], 1, found["runs"]) and is_count(found["seed"])
    if not whole or not isinstance(found["source"], str):
        fix = "Begin it again: the study file, and --overwrite."
        told = f"{SEAL} ({first}), and {GROUP}/zarr.json"
        raise InputError(message(where, "cannot be mended", told, "one of them, whole", fix))
    return found


def begun_options(folder: str | Path) -> dict[str, Any]:
    """The run options of a study on disk that a study file may have, by name; none where they cannot be read."""
    there = _description(Path(folder))
    if there is None:
        return {}
    return {name: there.get(name, STUDY_RUN_OPTIONS[name].default) for name in RUN_FLAGS}


def _description(place: Path) -> dict[str, Any] | None:
    """What a study on disk says that it is; None where that cannot be read."""
    try:
        found = json.loads(read_json(place / GROUP / "zarr.json")["attributes"]["study"])
    except (Damaged, KeyError, TypeError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def open_study(folder: str | Path, *, verify: bool | None = None, gaps: bool = False) -> "xr.Dataset":
    """A study on disk as a Dataset over (run, time, …), read when asked for.

    Metadata, coordinates and receipts are compared with their digests, and all files with their sizes, before this
    returns; all bytes too where they are fewer than 1 GiB, else those of a file when they are first read. What is
    damaged is an InputError; runs that are not there yet are NaN, their status is pending, and a warning says so.

    verify  True: compare all bytes now, however many; False: only when they are read
    gaps    open a damaged study all the same: chunks that are damaged count as not there; compares all bytes
    """
    place = Path(folder)
    if not (place / GROUP).is_dir():
        raise InputError(message(f"open_study '{folder}'", "not a study", f"no {GROUP}", "a folder of `polhode sweep`"))
    store = StudyStore(place)
    for one in results_damage(place, store.seal.identity):
        fix = f"Make it again: polhode sweep --resume --out '{folder}'"
        told = message(f"study '{folder}', {one.path}", "damaged", one.fault, "the file that was made of the runs", fix)
        warn_caller(told)
    return store.dataset(verify, gaps)


def damage_error(where: str, folder: Path, found: list[Damage]) -> InputError:
    """The error for files that are not what was written."""
    count = "a file" if len(found) == 1 else f"{len(found):,} files"
    fix = f"Compute again what was lost: polhode sweep --resume --out '{folder}'"
    return InputError(message(where, "damaged", f"{count}: {listed(found)}", "what its receipts tell of", fix))


def listed(found: list[Damage]) -> str:
    """The first few damaged files, for a message."""
    return "; ".join(map(str, found[:FEW])) + ("; …" if len(found) > FEW else "")


def _locked(where: str, place: Path) -> Lock:
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place / RECEIPTS).mkdir(exist_ok=True)
        return Lock(place / LOCK)
    except OSError as fault:
        raise InputError(message(where, "cannot be made", fault.strerror or str(fault), "a folder")) from None


def _begin(place: Path, runner: StudyRunner, chunk: int) -> Seal:
    """The seal of a new, empty group, which is made beside the place of the study's."""
    shutil.rmtree(place / BEGUN, ignore_errors=True)
    study, attributes = runner.study, runner.attributes
    axes = {name: 1 + len(array.axes) for name, array in runner.arrays.items()}
    bare = Seal(attributes["identity"], study.runs, chunk, int(study.seed), study.source, axes, {})
    made = empty_group(runner, chunk, attributes)
    files = {key: written_with_digest(bare.place(key), place / BEGUN / key, [made[key]]) for key in sorted(made)}
    return bare._replace(files=files)


def _mend(place: Path, runner: StudyRunner, chunk: int) -> None:
    """Make the files that all chunks share again, where they are not as they were sealed."""
    try:
        seal: Seal | None = read_seal(place)
    except Damaged:
        seal = None
    if seal is not None and not any(shared_damage(place, seal)):
        return
    made = _begin(place, runner, chunk)
    for key in made.files:
        (place / GROUP / key).parent.mkdir(parents=True, exist_ok=True)
        os.replace(place / BEGUN / key, place / GROUP / key)
    write_seal(place, made)
    shutil.rmtree(place / BEGUN, ignore_errors=True)


def _is_ours(place: Path) -> bool:
    """Whether a folder holds a study, damaged or not."""
    if (place / SEAL).is_file():
        return True
    try:
        return "identity" in read_json(place / GROUP / "zarr.json").get("attributes", {})
    except (Damaged, TypeError):
        return False


def _is_used(place: Path) -> bool:
    """Whether a folder holds anything that counts."""
    there = {x.name for x in place.iterdir()} if place.is_dir() else set()
    if GROUP not in there and not any((place / RECEIPTS).glob("*.json")):  # of a study killed before it began
        there -= {RECEIPTS, SEAL, *(name for name in there if name.startswith(f"{SEAL}."))}
    return bool(there - {LOCK, BEGUN})


def _clear(place: Path) -> None:
    """Remove a study that is to be replaced: its receipts first, so that what is left never looks whole."""
    for name in (RECEIPTS, BEGUN, GROUP):
        if (place / name).exists():
            shutil.rmtree(place / name)
    for name in (SEAL, RESULTS, SUMMARY, REPORT):
        (place / name).unlink(missing_ok=True)
    (place / RECEIPTS).mkdir()


def _compare(where: str, place: Path, facts: Mapping[str, Any], runner: StudyRunner) -> None:
    """Refuse to resume another study."""
    if facts["identity"] == runner.study.identity:
        return
    fix = "Give the study it was begun with, another folder (--out), or discard it (force=True; --overwrite)."
    there = _description(place) or {}
    here = json.loads(json.dumps(runner.study.description, default=str))
    for name in (*here, *(name for name in there if name not in here)) if there else ():
        if here.get(name) != there.get(name):
            found, expected = (f"{name}: {str(x.get(name, 'the default'))[:80]}" for x in (here, there))
            raise InputError(message(where, "of another study", found, expected, fix))
    found, expected = (f"identity {x[:12]}…" for x in (runner.study.identity, facts["identity"]))
    what = "of another study, or of another version of polhode"
    raise InputError(message(where, what, found, expected, fix))


def written(where: str, fault: OSError, folder: Path) -> PolhodeError:
    """The error for a store that could not be written; what is in it stays."""
    again = f"then: polhode sweep --resume --out '{folder}'"
    reason = f"{fault.strerror or fault}{f' ({fault.filename})' if fault.filename else ''}"
    if fault.errno in FULL:
        fix = f"Nothing that was written is lost. Make room, {again}"
        return PolhodeError(message(where, "the disk is full", reason, "room on the disk", fix))
    fix = f"Nothing that was written is lost. Mend the cause, {again}"
    return PolhodeError(message(where, "the study broke off", reason, "files that can be read and written", fix))
