"""Nothing is lost: a study on disk goes on after any fault, and ends in the bits of one that was never disturbed."""

import errno
import json
import random

import numpy as np
import pytest
import xarray as xr
import zarr

import polhode as ph
from polhode.ensemble.on_disk import store
from polhode.ensemble.on_disk.store import GROUP, RECEIPTS, StudyStore
from polhode.ensemble.study_runner import STATUS
from receipts import everyone_once
from study_cases import OPTIONS, RUNS, same, samples, small

CHUNK = 32


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return ph.sweep(small(), out=tmp_path_factory.mktemp("whole") / "s", chunk=CHUNK).load()


def test_a_store_holds_what_a_study_in_memory_is(whole):
    assert same(whole, ph.sweep(small()))


def test_it_is_plain_zarr_lazy_sharded_and_says_what_made_it(tmp_path):
    long = small(runs=4096, every=1)
    found = ph.sweep(long, out=tmp_path / "s", chunk=4096)
    assert not found["q"].variable._in_memory
    group = zarr.open_group(str(tmp_path / "s" / GROUP), mode="r")
    assert group["q"].metadata.zarr_format == 3
    assert group["q"].shards == (4096, 201, 2)
    assert group["q"].chunks[0] < 4096
    plain = xr.open_zarr(str(tmp_path / "s" / GROUP), consolidated=False, chunks=None)
    assert plain["q"].dims == ("run", "time", "coordinate")
    assert list(plain["coordinate"].values) == ["hinge", "elbow"]
    assert json.loads(plain.attrs["study"]) == json.loads(json.dumps(long.description))
    assert json.loads(plain.attrs["versions"])["polhode"] == ph.__version__
    assert plain["status"].attrs["flag_meanings"].split()[STATUS["finished"]] == "finished"


def test_what_is_missing_is_computed_again(tmp_path, whole):
    ph.sweep(small(), out=tmp_path / "s", chunk=CHUNK)
    (tmp_path / "s" / RECEIPTS / "000002.json").unlink()
    (tmp_path / "s" / GROUP / "q" / "c.4.0.0").unlink()
    store = StudyStore(tmp_path / "s")
    assert store.pending() == [2, 4]
    asked = []
    assert same(whole, ph.sweep(small(), out=tmp_path / "s", resume=True, progress=asked.append))
    assert [news.done for news in asked if news.device == "cpu"] == [RUNS - CHUNK, RUNS]
    assert everyone_once(tmp_path / "s")


def damaged(folder, rng):
    """Cut a file of a study short, or turn one of its bits."""
    path = rng.choice(sorted(p for p in (folder / GROUP).rglob("*") if p.name.startswith("c.")))
    if path.parent.name in ("time", "parameter", "coordinate", "dof"):
        return damaged(folder, rng)
    content = bytearray(path.read_bytes())
    if rng.random() < 0.5:
        path.write_bytes(content[: rng.randrange(len(content))])
    else:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
    return path


def harmed(tmp_path, whole, times):
    rng = random.Random(9)
    ph.sweep(small(), out=tmp_path / "s", chunk=CHUNK)
    for _ in range(times):
        path = damaged(tmp_path / "s", rng)
        assert len(StudyStore(tmp_path / "s").pending()) == 1, path
        assert same(whole, ph.sweep(small(), out=tmp_path / "s", resume=True))
        assert everyone_once(tmp_path / "s")


def test_truncated_files_and_flipped_bits_are_found_and_mended(tmp_path, whole):
    harmed(tmp_path, whole, 2)


@pytest.mark.long
def test_damage_at_ten_random_places_is_mended(tmp_path, whole):
    harmed(tmp_path, whole, 10)


def test_a_flipped_bit_does_not_reach_a_reader(tmp_path):
    ph.sweep(small(), out=tmp_path / "s", chunk=CHUNK)
    path = tmp_path / "s" / GROUP / "q_end" / "c.1.0"
    content = bytearray(path.read_bytes())
    content[40] ^= 4
    path.write_bytes(content)
    with pytest.raises(ValueError, match="checksum"):
        ph.open_study(tmp_path / "s")["q_end"].values  # noqa: B018


def full_at(monkeypatch, k):
    """A disk that is full from the k-th write on; → how many writes were asked for."""
    real, count = store.written_with_digest, [0]

    def written(place, path, content):
        count[0] += 1
        if count[0] >= k:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return real(place, path, content)

    monkeypatch.setattr(store, "written_with_digest", written)
    return count


def filled(tmp_path, whole, moments):
    for k in moments:
        folder = tmp_path / f"full{k}"
        with pytest.MonkeyPatch.context() as patch:
            full_at(patch, k)
            with pytest.raises((ph.PolhodeError, OSError), match="No space left"):
                ph.sweep(small(), out=folder, chunk=CHUNK)
        resume = (folder / GROUP).exists()
        assert same(whole, ph.sweep(small(), out=folder, resume=resume, chunk=None if resume else CHUNK))
        assert everyone_once(folder)
        assert not list((folder / GROUP).rglob("*.partial"))


@pytest.fixture(scope="module")
def writes(tmp_path_factory):
    """How many writes the whole study asks for."""
    with pytest.MonkeyPatch.context() as patch:
        count = full_at(patch, 10**9)
        ph.sweep(small(), out=tmp_path_factory.mktemp("count") / "s", chunk=CHUNK)
    return count[0]


def test_a_full_disk_is_survived(tmp_path, whole, writes):
    filled(tmp_path, whole, [5, writes - 20])


@pytest.mark.long
def test_a_disk_full_at_ten_random_writes_is_survived(tmp_path, whole, writes):
    filled(tmp_path, whole, sorted(random.Random(2).sample(range(1, writes), 10)))


def test_a_full_disk_is_told_with_what_to_do(tmp_path, writes):
    with pytest.MonkeyPatch.context() as patch:
        full_at(patch, writes - 5)
        with pytest.raises(ph.PolhodeError, match=r"No space left on device.*\n.*--resume"):
            ph.sweep(small(), out=tmp_path / "s", chunk=CHUNK)


def test_two_writers_are_refused(tmp_path):
    ph.sweep(small(), out=tmp_path / "s", chunk=CHUNK)
    first = StudyStore.resume(tmp_path / "s", ph.StudyRunner(small()))
    with pytest.raises(ph.InputError, match="in use"):
        ph.sweep(small(), out=tmp_path / "s", resume=True)
    first.release()
    ph.sweep(small(), out=tmp_path / "s", resume=True)


def test_other_studies_and_other_folders_are_refused(tmp_path):
    ph.sweep(small(), out=tmp_path / "s", chunk=CHUNK)
    with pytest.raises(ph.InputError, match="already there"):
        ph.sweep(small(), out=tmp_path / "s")
    with pytest.raises(ph.InputError, match=r"of another study.*\n.*seed"):
        ph.sweep(small(seed=5), out=tmp_path / "s", resume=True)
    with pytest.raises(ph.InputError, match=r"of another study.*\n.*samples"):
        ph.sweep(
            ph.load("double-pendulum"), {**samples(), "start.q.hinge": ph.Uniform(0, 1.6)}, **OPTIONS,
            out=tmp_path / "s", resume=True,
        )  # fmt: skip
    with pytest.raises(ph.InputError, match="nothing to resume"):
        ph.sweep(small(), out=tmp_path / "t", resume=True)
    (tmp_path / "u").mkdir()
    (tmp_path / "u" / "letter").write_text("dear")
    with pytest.raises(ph.InputError, match="a folder with files"):
        ph.sweep(small(), out=tmp_path / "u")
    with pytest.raises(ph.InputError, match="not a study"):
        ph.open_study(tmp_path / "u")
    ph.sweep(small(seed=5), out=tmp_path / "s", force=True)
    assert ph.open_study(tmp_path / "s").attrs["seed"] == 5


def test_kept_parts_alone_are_stored(tmp_path):
    found = ph.sweep(small(keep=["v.elbow"]), out=tmp_path / "s", chunk=CHUNK)
    assert "q" not in found
    assert list(found["dof"].values) == ["elbow"]
    assert found["v_end"].sizes["dof_end"] == 2
    none = ph.sweep(small(keep=[]), out=tmp_path / "t", chunk=CHUNK)
    assert np.array_equal(none["highest"], found["highest"])
    assert "v" not in none
