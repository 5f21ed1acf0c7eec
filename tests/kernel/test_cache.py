"""Kernels on disk: found again without tracing, refused when they are not ours or not whole."""

import os
import shutil
import threading
import time

import numpy as np
import pytest

import polhode as ph
from machines import random_model
from polhode.kernel import cache


@pytest.fixture
def place(tmp_path, monkeypatch):
    folder = tmp_path / "kernels"
    monkeypatch.setenv("POLHODE_CACHE", str(folder))
    return folder


def gravity(monkeypatch=None, model=None, **options):
    """One quantity of a fresh System; tracing is forbidden if a monkeypatch is given."""
    if monkeypatch:
        monkeypatch.setattr("polhode.system.algorithms.trace", None)
    return ph.compile(model or random_model(["revolute"] * 2, 1), target="cpu", **options).gravity([0.1, 0.2])


def test_a_kernel_is_found_again_without_tracing(place, monkeypatch):
    first = gravity()
    assert len(list(place.glob("*.kernel"))) == 1
    assert np.array_equal(gravity(monkeypatch), first)
    assert place.stat().st_mode & 0o077 == 0
    assert next(place.glob("*.kernel")).stat().st_mode & 0o077 == 0


def test_another_model_quantity_or_source_is_another_kernel(place, monkeypatch):
    gravity()
    gravity(model=random_model(["revolute"] * 2, 2))
    gravity(parameters=["gravity"])  # two: one for what follows from the numbers alone
    ph.compile(random_model(["revolute"] * 2, 1), target="cpu").mass_matrix([0.1, 0.2])
    assert len(list(place.glob("*.kernel"))) == 5
    monkeypatch.setattr(cache, "source_digest", lambda: "another version")
    gravity()
    assert len(list(place.glob("*.kernel"))) == 6


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other"])
def test_a_damaged_file_is_compiled_anew(place, damage):
    first = gravity()
    path = next(place.glob("*.kernel"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes({"cut": data[:-100], "flip": data, "empty": b"", "other": b"not a kernel"}[damage])
    assert np.array_equal(gravity(), first)
    assert cache.load(path.stem) is not None


def test_a_file_or_folder_that_others_may_write_is_not_trusted(place):
    first = gravity()
    path = next(place.glob("*.kernel"))
    path.chmod(0o666)
    assert cache.load(path.stem) is None
    path.chmod(0o600)
    assert cache.load(path.stem) is not None
    place.chmod(0o777)
    assert cache.folder() is None
    assert np.array_equal(gravity(), first)


@pytest.mark.parametrize(
    "image",
    [
        b"",
        b"garbage",
        b"\x7fELF" + bytes(200),
        lambda x: x[:100],
        lambda x: x[: len(x) // 2],
        lambda x: x[:64] + bytes(len(x) - 64),
    ],
    ids=["empty", "garbage", "head", "cut", "half", "zeros"],
)
def test_an_image_of_another_shape_is_compiled_anew(place, image):
    """Its digest is right, and it is no object code."""
    first = gravity()
    name = next(place.glob("*.kernel")).stem
    entry = cache.load(name)
    cache.save(name, entry._replace(image=image(entry.image) if callable(image) else image))
    assert np.array_equal(gravity(), first)
    assert cache.load(name) == entry


@pytest.mark.parametrize(
    "facts",
    [{}, [], 5, {"width": 1}, {"inputs": 5}, {"inputs": [[2], 3]}, {"inputs": [["a"]]}, {"inputs": [[3], []]},
     {"outputs": [[-1]]}, {"outputs": [[3]]}, {"entry": 1}, {"entry": None}, {"width": 99}, {"fast": 0},
     {"quick": True}, {"level": True}, {"level": 7}, {"level": None}],
)  # fmt: skip
def test_facts_of_another_shape_are_compiled_anew(place, facts):
    first = gravity()
    name = next(place.glob("*.kernel")).stem
    entry = cache.load(name)
    whole = {**entry.facts, **facts} if isinstance(facts, dict) and facts and facts != {"width": 1} else facts
    cache.save(name, entry._replace(facts=whole))
    assert np.array_equal(gravity(), first)
    assert cache.load(name) == entry


def test_a_kernel_copied_over_another_is_not_used(place):
    one = gravity()
    name = next(place.glob("*.kernel"))
    two = gravity(model=random_model(["revolute"] * 2, 2))
    other = next(path for path in place.glob("*.kernel") if path != name)
    other.write_bytes(name.read_bytes())
    assert cache.load(other.stem) is None
    assert not np.array_equal(one, two)
    assert np.array_equal(gravity(model=random_model(["revolute"] * 2, 2)), two)


def test_links_pipes_and_folders_are_not_followed(place, tmp_path):
    first = gravity()
    path = next(place.glob("*.kernel"))
    kept = tmp_path / "elsewhere"
    path.rename(kept)
    path.symlink_to(kept)
    assert cache.load(path.stem) is None
    path.unlink()
    os.mkfifo(path, 0o600)
    assert cache.load(path.stem) is None  # at once: nobody writes to it
    path.unlink()
    path.mkdir(0o700)
    assert cache.load(path.stem) is None
    assert np.array_equal(gravity(), first)
    path.rmdir()
    away = tmp_path / "away"
    place.rename(away)
    place.symlink_to(away)
    assert cache.folder() is None
    assert np.array_equal(gravity(), first)


def test_what_a_killed_writer_left_is_removed(place):
    gravity()
    left = place / ".0123.part"
    left.write_bytes(b"half")
    cache.save("other", cache.CachedKernel({}, b""))
    assert left.exists()  # it may still be written
    os.utime(left, (0, 0))
    cache.save("other", cache.CachedKernel({}, b""))
    assert not left.exists()


def test_without_a_usable_folder_kernels_live_in_memory(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    for named in ("", str(tmp_path / "file"), str(tmp_path / "file" / "below")):
        monkeypatch.setenv("POLHODE_CACHE", named)
        assert cache.folder() is None
        assert np.all(np.isfinite(gravity()))


def test_the_folder_may_vanish_at_any_time(place):
    first = gravity()
    shutil.rmtree(place)
    assert np.array_equal(gravity(), first)
    assert place.exists()


class Push:
    """A function whose text does not tell it from another."""

    def __call__(self, t, q, v):
        return [0.0, 0.0]

    def __repr__(self):
        return "Push()"


@pytest.mark.parametrize("function", [lambda t, q, v: [0.0, 0.0], Push()], ids=["lambda", "object"])
def test_models_with_functions_are_not_kept(place, function):
    gravity(model=random_model(["revolute"] * 2, 1, forces=[ph.ForceFunction("f", function)]))
    assert not list(place.glob("*.kernel"))


def test_the_folder_stays_within_its_limit(place, monkeypatch):
    monkeypatch.setattr(cache, "LIMIT", 25_000)
    for k in range(12):
        cache.save(f"{k:02}", cache.CachedKernel({"k": k}, bytes(5_000)))
        os.utime(place / f"{k:02}.kernel", (k, k))
    kept = sorted(path.stem for path in place.glob("*.kernel"))
    assert kept == ["08", "09", "10", "11"]


def test_many_writers_of_one_kernel_do_not_disturb_each_other(place):
    results = []
    threads = [threading.Thread(target=lambda: results.append(gravity())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(np.array_equal(result, results[0]) for result in results)
    assert len(list(place.iterdir())) == 1


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A package of two modules, whose digest is asked for as that of ours; reads counts how often all is read."""
    package = tmp_path / "package"
    (package / "kernel").mkdir(parents=True)
    (package / "kernel" / "cache.py").write_text("a = 1\n", encoding="utf-8")
    (package / "other.py").write_text("b = 1\n", encoding="utf-8")
    monkeypatch.setenv("POLHODE_CACHE", str(tmp_path / "kernels"))
    monkeypatch.setattr(cache, "__file__", str(package / "kernel" / "cache.py"))
    monkeypatch.setattr(cache, "SETTLED", -60.0)
    read, reads = cache._content_digest, []
    monkeypatch.setattr(cache, "_content_digest", lambda *given: reads.append(1) or read(*given))
    yield package, reads
    cache.source_digest.cache_clear()


def digest():
    cache.source_digest.cache_clear()
    return cache.source_digest()


def test_source_that_nobody_changed_is_read_once(source):
    _, reads = source
    assert digest() == digest() == digest()
    assert len(reads) == 1


@pytest.mark.parametrize("how", ["written", "replaced", "renamed", "added", "gone"])
def test_other_source_has_another_digest_whatever_its_size_and_time(source, how):
    package, reads = source
    before, file = digest(), package / "other.py"
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    time.sleep(0.02)  # clocks of files go in steps
    if how == "written":
        file.write_text("b = 2\n", encoding="utf-8")
        os.utime(file, ns=times)
    elif how == "replaced":
        other = package / "other.part"
        other.write_text("b = 2\n", encoding="utf-8")
        os.utime(other, ns=times)
        other.replace(file)
    elif how == "renamed":
        file.rename(package / "othes.py")
    elif how == "added":
        (package / "third.py").write_text("", encoding="utf-8")
    else:
        file.unlink()
    assert digest() != before
    assert len(reads) == 2


def test_source_that_was_changed_just_now_is_read_again(source, monkeypatch):
    """A further change within the same step of the clock would not show."""
    monkeypatch.setattr(cache, "SETTLED", 60.0)
    _, reads = source
    assert digest() == digest()
    assert len(reads) == 2


def test_a_digest_of_the_source_that_is_damaged_is_not_used(source, tmp_path):
    _, reads = source
    before = digest()
    (file,) = (tmp_path / "kernels").iterdir()
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    assert digest() == before
    assert len(reads) == 2
    (file,) = (tmp_path / "kernels").iterdir()
    file.chmod(0o644)
    assert digest() == before
    assert len(reads) == 3
