"""The digests of a study on disk: a seal over the files that all chunks share, and a receipt for every chunk.

    DIR/seal.json             the seal: what the study is, and digests of all metadata and coordinates
    DIR/receipts/000012.json  a receipt: digests of the files of one chunk, how its runs ended, why runs failed
    DIR/results.json          digests of summary.nc and report.html, where they were made

Every digest is bound to the study's identity and to the place of the file: one chunk in the place of another, or of
another study's, is damage. Each of these files ends in the digest of its own content; what it holds is checked
before it is used.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from polhode.ensemble.study_runner import STATUS
from polhode.result.atomic_file import atomic_path
from polhode.result.digests import (
    Damaged,
    check_file,
    digest_of,
    is_count,
    is_digest,
    is_entry,
    read_digested,
    read_json,
    with_digest,
)

GROUP, BEGUN, RECEIPTS, LOCK = "study.zarr", "study.zarr.partial", "receipts", "lock"
SEAL, RESULTS, SUMMARY, REPORT = "seal.json", "results.json", "summary.nc", "report.html"

FORMAT = 2
"""The version of seals and receipts."""

MOST_RUNS = 2**40
"""Runs of a study at most, whatever `max_runs` says."""

PER_RUN, PER_CHUNK = 1200, 2**20
"""Largest size of a receipt in bytes: for each run (the reason of its failure), and for all else."""

REASON = 200
"""Characters that are kept of a reason."""

KINDS = {"float64", "int8", "string"}
CODECS = {"bytes", "crc32c", "sharding_indexed", "vlen-utf8", "zstd"}
"""Types and codecs of the arrays of a study; anything else is not ours, and is not decoded."""

Entry = tuple[int, str]
"""Size and digest of a file."""


class Damage(NamedTuple):
    """A file of a study that is not what was written: its path in the folder, and what is wrong with it."""

    path: str
    fault: str

    def __str__(self) -> str:
        return f"{self.path} ({self.fault})"


class Seal(NamedTuple):
    """A study on disk: its identity, its size, where it came from, and every file that all chunks share.

    axes   of each array over runs, the axis of runs among them
    files  by their path in the group
    separator  between the numbers in the name of a chunk's file; "/": each chunk has folders of its own, as in studies
               that are older than this entry
    """

    identity: str
    runs: int
    chunk: int
    seed: int
    source: str
    axes: dict[str, int]
    files: dict[str, Entry]
    separator: str = "."

    @property
    def chunks(self) -> int:
        """How many chunks there are, written or not."""
        return -(-self.runs // self.chunk)

    def bounds(self, number: int) -> tuple[int, int]:
        """The first run of a chunk, and the first after it."""
        return number * self.chunk, min((number + 1) * self.chunk, self.runs)

    def place(self, key: str) -> str:
        """What the digest of a shared file is bound to."""
        return f"{self.identity} {key}"

    def chunk_place(self, name: str, number: int) -> str:
        """What the digest of a chunk's file is bound to: its array as it is laid out, and its number."""
        return f"{self.identity} {name} {self.files[f'{name}/zarr.json'][1]} {number}"

    def key(self, name: str, number: int) -> str:
        """The path, in the group, of the one file of a chunk of an array."""
        return f"{name}/{self.separator.join(('c', str(number), *['0'] * (self.axes[name] - 1)))}"


# the seal


def write_seal(folder: Path, seal: Seal) -> None:
    """Write a seal, atomically."""
    write_json(folder / SEAL, {"format": FORMAT, **seal._asdict()})


def read_seal(folder: Path) -> Seal:
    """The seal of a study; Damaged unless it is one of ours, whole."""
    found = read_digested(folder / SEAL)
    if found.get("format") != FORMAT or type(found["format"]) is not int:
        raise Damaged(f"of format {str(found.get('format'))[:20]}, not {FORMAT}")
    counts = is_count(found.get("runs"), 1, MOST_RUNS) and is_count(found.get("chunk"), 1, found["runs"])
    axes, files = found.get("axes"), found.get("files")
    kinds = is_digest(found.get("identity")) and isinstance(found.get("source"), str)
    kinds = kinds and type(found.get("seed")) is int and found["seed"] >= 0
    if not (counts and kinds and isinstance(axes, dict) and isinstance(files, dict)):
        raise Damaged("not a seal: wrong kinds of values")
    if not all(is_count(n, 1, 8) and f"{name}/zarr.json" in files for name, n in axes.items()):
        raise Damaged("not a seal: wrong arrays")
    if not all(is_inside(key) and is_entry(entry) for key, entry in files.items()) or "zarr.json" not in files:
        raise Damaged("not a seal: wrong files")
    if found.setdefault("separator", "/") not in ("/", "."):
        raise Damaged("not a seal: wrong names of chunks")
    values = {name: found[name] for name in Seal._fields}
    return Seal(**values)._replace(files={key: (size, digest) for key, (size, digest) in files.items()})


def is_inside(key: str) -> bool:
    """Whether a path stays inside its folder."""
    parts = PurePosixPath(key).parts
    return bool(key) and key == "/".join(parts) and not {"..", "/", "."} & set(parts) and "\\" not in key


def shared_damage(folder: Path, seal: Seal) -> Iterator[Damage]:
    """Every shared file that is not what was sealed."""
    for key, entry in seal.files.items():
        try:
            check_file(seal.place(key), folder / GROUP / key, entry)
        except Damaged as fault:
            yield Damage(f"{GROUP}/{key}", str(fault))


def checked_attributes(folder: Path, seal: Seal) -> dict[str, Any]:
    """The attributes of a sealed group, whose arrays are of kinds that we write: nothing else is decoded."""
    for name in {key.split("/")[0] for key in seal.files if "/" in key}:
        _check_array(f"{GROUP}/{name}", read_json(folder / GROUP / name / "zarr.json"), seal.axes.get(name), seal)
    group = read_json(folder / GROUP / "zarr.json")
    attrs = group.get("attributes")
    if group.get("zarr_format") != 3 or group.get("node_type") != "group" or not isinstance(attrs, dict):
        raise Damaged("not a group of Zarr 3")
    lists = {name: attrs.get(name) for name in ("measures", "outputs", "arrays")}
    for name, found in lists.items():
        if not isinstance(found, list) or not all(x in seal.axes for x in map(str, found)):
            raise Damaged(f"{name}: {str(found)[:60]}, not names of its arrays")
    same = all(attrs.get(name) == getattr(seal, name) for name in ("identity", "runs", "chunk", "seed"))
    texts = all(isinstance(attrs.get(name), str) for name in ("title", "model_name", "study", "study_text"))
    if not same or not texts:
        raise Damaged("attributes that do not fit the seal")
    return attrs


def _check_array(where: str, found: Mapping[str, Any], axes: int | None, seal: Seal) -> None:
    shape = found.get("shape")
    plain = isinstance(shape, list) and all(is_count(n) for n in shape) and found.get("data_type") in KINDS
    known = all(name in CODECS for name in _codecs(found.get("codecs")))
    runs = axes is None or (plain and len(shape or []) == axes and (shape or [0])[0] == seal.runs)
    whole = (
        found.get("zarr_format") == 3 and found.get("node_type") == "array" and not found.get("storage_transformers")
    )
    if not (plain and known and runs and whole):
        raise Damaged(f"{where}: not an array that a study has")


def _codecs(found: Any) -> Iterator[Any]:
    """The names of codecs, those inside others too."""
    for codec in found if isinstance(found, list) else [found]:
        yield codec.get("name") if isinstance(codec, dict) else None
        inner = codec.get("configuration") if isinstance(codec, dict) else None
        for key in ("codecs", "index_codecs"):
            if isinstance(inner, dict) and key in inner:
                yield from _codecs(inner[key])


# receipts


def receipt_path(folder: Path, number: int) -> Path:
    """The file of a chunk's receipt."""
    return folder / RECEIPTS / f"{number:06d}.json"


def read_receipt(folder: Path, seal: Seal, number: int) -> dict[str, Any]:
    """The receipt of a chunk; Damaged unless it is one of this study and of this chunk, whole."""
    first, last = seal.bounds(number)
    found = read_digested(receipt_path(folder, number), PER_CHUNK + PER_RUN * (last - first))
    if found.get("format") != FORMAT or type(found["format"]) is not int:
        raise Damaged(f"of format {str(found.get('format'))[:20]}, not {FORMAT}")
    if found.get("identity") != seal.identity:
        raise Damaged("of another study")
    numbered = [found.get(name) for name in ("chunk", "first", "last")]
    if numbered != [number, first, last] or not all(map(is_count, numbered)):
        raise Damaged("of another chunk")
    status, files, reasons = (found.get(name) for name in ("status", "files", "reasons"))
    if not isinstance(status, dict) or not set(status) <= set(STATUS) or not all(map(is_count, status.values())):
        raise Damaged("not a receipt: how its runs ended")
    if sum(status.values()) != last - first or status.get("pending"):
        raise Damaged("not a receipt: the number of its runs")
    if not isinstance(files, dict) or set(files) != set(seal.axes) or not all(map(is_entry, files.values())):
        raise Damaged("not a receipt: its files")
    numbers = {str(run) for run in range(first, last)} if reasons else set[str]()
    if not isinstance(reasons, dict) or not all(
        run in numbers and isinstance(why, str) and len(why) <= REASON for run, why in reasons.items()
    ):
        raise Damaged("not a receipt: its reasons")
    if not isinstance(found.get("device"), str) or type(found.get("seconds")) is not float:
        raise Damaged("not a receipt: who made it")
    return found


def sizes_fit(folder: Path, seal: Seal, number: int, receipt: Mapping[str, Any]) -> Iterator[Damage]:
    """Every file of a chunk that is missing or of another size; their bytes are not read."""
    for name, (size, _) in receipt["files"].items():
        key = seal.key(name, number)
        try:
            there = os.stat(folder / GROUP / key).st_size
        except OSError as fault:
            told = "missing" if isinstance(fault, FileNotFoundError) else str(fault.strerror)
            yield Damage(f"{GROUP}/{key}", told)
            continue
        if there != size:
            yield Damage(f"{GROUP}/{key}", f"{there} bytes, not {size}")


def chunk_damage(folder: Path, seal: Seal, number: int, receipt: Mapping[str, Any]) -> Iterator[Damage]:
    """Every file of a chunk that is not what its receipt says."""
    for name, (size, digest) in receipt["files"].items():
        key = seal.key(name, number)
        try:
            check_file(seal.chunk_place(name, number), folder / GROUP / key, (size, digest))
        except Damaged as fault:
            yield Damage(f"{GROUP}/{key}", str(fault))


def written_chunks(folder: Path, seal: Seal) -> list[int]:
    """The chunks that have a receipt, good or not."""
    names = set(os.listdir(folder / RECEIPTS)) if (folder / RECEIPTS).is_dir() else set()
    stems = [x[:-5] for x in names if x.endswith(".json") and x.isascii() and x[:-5].isdecimal() and len(x) < 20]
    return sorted(n for n in map(int, stems) if n < seal.chunks and receipt_path(folder, n).name in names)


def read_receipts(folder: Path, seal: Seal, verify: bool) -> tuple[dict[int, dict[str, Any]], list[Damage]]:
    """The receipts whose files are there, by chunk, and what is damaged.

    verify  whether bytes are compared, and not names and sizes alone
    """
    found: dict[int, dict[str, Any]] = {}
    bad: list[Damage] = []
    look = chunk_damage if verify else sizes_fit
    for number in written_chunks(folder, seal):
        try:
            receipt = read_receipt(folder, seal, number)
        except Damaged as fault:
            bad.append(Damage(f"{RECEIPTS}/{receipt_path(folder, number).name}", str(fault)))
            continue
        wrong = list(look(folder, seal, number, receipt))
        bad += wrong
        if not wrong:
            found[number] = receipt
    return found, bad


# summary and report


def sign_results(folder: Path, identity: str, names: list[str]) -> None:
    """Write the digests of the files that were made of a study (summary, report)."""
    files = {name: digest_of(f"{identity} {name}", folder / name) for name in names}
    write_json(folder / RESULTS, {"format": FORMAT, "identity": identity, "files": files})


def results_damage(folder: Path, identity: str) -> Iterator[Damage]:
    """Files made of a study (summary, report) that are not what was written."""
    there = [name for name in (SUMMARY, REPORT) if (folder / name).exists()]
    if not there and not (folder / RESULTS).exists():
        return
    path = RESULTS
    try:
        found = read_digested(folder / path, PER_CHUNK)
    except Damaged as fault:
        yield Damage(path, str(fault))
        return
    files = found.get("files")
    if not isinstance(files, dict) or not all(x in (SUMMARY, REPORT) and is_entry(e) for x, e in files.items()):
        yield Damage(path, "not a receipt of results")
        return
    if found.get("identity") != identity or found.get("format") != FORMAT:
        yield Damage(path, "of another study")
        return
    for name, (size, digest) in files.items():
        try:
            check_file(f"{identity} {name}", folder / name, (size, digest))
        except Damaged as fault:
            yield Damage(name, str(fault))
    for name in there:
        if name not in files:
            yield Damage(name, "not signed for")


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON with its digest, atomically."""
    with atomic_path(path, force=True) as part:
        part.write_bytes(with_digest(content))
