"""Kernels on disk: found again without tracing, refused when they are not ours or not whole."""

import os
import shutil
import threading

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
        monkeypatch.setattr("polhode.assemble.graphs.trace", None)
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
    gravity(parameters=["gravity"])
    ph.compile(random_model(["revolute"] * 2, 1), target="cpu").mass_matrix([0.1, 0.2])
    assert len(list(place.glob("*.kernel"))) == 4
    monkeypatch.setattr(cache, "source_digest", lambda: "another version")
    gravity()
    assert len(list(place.glob("*.kernel"))) == 5


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
        cache.save(f"{k:02}", cache.Entry({"k": k}, bytes(5_000)))
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
