"""Verification of a study on disk, byte by byte (`polhode sweep --verify`); nothing is changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from polhode.ensemble.on_disk.seal import (
    GROUP,
    RECEIPTS,
    SEAL,
    Damage,
    Seal,
    checked_attributes,
    read_receipts,
    read_seal,
    results_damage,
    shared_damage,
    written_chunks,
)
from polhode.errors import InputError, message
from polhode.result.digests import Damaged


class Findings(NamedTuple):
    """The result of verifying a study.

    runs, done    how many there should be, and how many are there and whole
    files, bytes  that were compared
    damage        what is not as it was written
    """

    runs: int
    done: int
    files: int
    bytes: int
    damage: list[Damage]


def verify_study(folder: str | Path) -> Findings:
    """Every file of a study compared with its digest; nothing is changed."""
    place = Path(folder)
    if not (place / GROUP).is_dir() and not (place / RECEIPTS).is_dir():
        raise InputError(message(f"sweep, --verify '{folder}'", "not a study", f"no {GROUP}", "a folder of a study"))
    try:
        seal = read_seal(place)
    except Damaged as fault:
        return Findings(0, 0, 1, 0, [Damage(SEAL, f"{fault}; nothing can be compared without it")])
    bad = list(shared_damage(place, seal))
    if not bad:
        try:
            checked_attributes(place, seal)
        except Damaged as fault:
            bad.append(Damage(f"{GROUP}/zarr.json", str(fault)))
    receipts, wrong = read_receipts(place, seal, verify=True)
    missing = seal.chunks - len(written_chunks(place, seal))
    if missing:
        wrong.append(Damage(RECEIPTS, f"{missing:,} of {seal.chunks:,} chunks have no receipt"))
    bad += [*wrong, *results_damage(place, seal.identity), *_strangers(place, seal)]
    sizes = [size for size, _ in seal.files.values()] + [
        size for receipt in receipts.values() for size, _ in receipt["files"].values()
    ]
    done = sum(receipt["last"] - receipt["first"] for receipt in receipts.values())
    return Findings(seal.runs, done, len(sizes) + len(receipts) + 1, sum(sizes), bad)


def _strangers(place: Path, seal: Seal) -> Iterator[Damage]:
    """Files in a study without a digest, but for those of a writer at work."""
    known = set(seal.files)
    for path in sorted((place / GROUP).rglob("*")):
        key = path.relative_to(place / GROUP).as_posix()
        name, _, rest = key.partition("/")
        number = rest.removeprefix(f"c{seal.separator}").partition(seal.separator)[0]
        of_chunk = name in seal.axes and number.isdecimal() and key == seal.key(name, int(number))
        if path.is_file() and key not in known and not key.endswith(".partial") and not of_chunk:
            yield Damage(f"{GROUP}/{key}", "no file of this study")
