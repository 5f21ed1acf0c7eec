"""Runs as files: exact, whole or not there, and refused with a reason."""

import csv as reader
import errno
import io
import os
import signal
import stat

import numpy as np
import pytest

import polhode as ph
from polhode.result.atomic_file import Sink, atomic_write
from polhode.result.dataset import Extra, Facts, Trajectory, dataset
from polhode.result.files import csv, load, save

BRICK = (0.1, 0.2, 0.25)
AWKWARD = np.array([-0.0, 5e-324, np.nan, np.inf, -np.inf, 0.1, 1 / 3])


def model():
    bodies = [ph.Body("bob, the é", 1.0, BRICK)]
    return ph.Model("pendulum", bodies=bodies, joints=[ph.Joint("hinge", "spherical", "world", "bob, the é")])


def run(n=7, text="", **more):
    rng = np.random.default_rng(1)
    others = {
        "position": rng.normal(size=(n, 1, 3)),
        "kinetic_energy": np.resize(AWKWARD, n),
        "potential_energy": rng.normal(size=n),
    }
    extra = {"rank": Extra(np.arange(n), ("time",)), "held": Extra(np.arange(n) % 2 == 0, ("time",))}
    trajectory = Trajectory(np.arange(n) / 7, rng.normal(size=(n, 4)), rng.normal(size=(n, 3)), others, extra, **more)
    return dataset(model(), trajectory, Facts("rk4", step=0.1, model_text=text))


def bits(one):
    return {name: (variable.dims, variable.values.tobytes()) for name, variable in one.variables.items()}


def test_a_saved_run_comes_back_to_the_bit(tmp_path):
    text = "näme: pendulum\n" * 10_000  # more than the 64 kB of a plain HDF5 attribute
    made = run(text=text, events=[(0.5, "hit the é")])
    before = made.copy(deep=True)
    back = load(save(made, tmp_path / "run.nc"))
    assert bits(back) == bits(made)
    assert back.identical(made)
    assert made.identical(before)
    assert os.listdir(tmp_path) == ["run.nc"]


def test_a_loaded_run_can_be_saved_again(tmp_path):
    first = load(save(run(), tmp_path / "a.nc"))
    assert load(save(first, tmp_path / "b.nc")).identical(first)


def test_a_lazy_run_reads_what_is_asked(tmp_path):
    made = run()
    path = save(made, tmp_path / "run.nc")
    with load(path, lazy=True) as back:
        assert back["q"][3].values.tobytes() == made["q"][3].values.tobytes()


def test_a_machine_without_freedom_can_be_saved(tmp_path):
    bodies, joints = [ph.Body("b", 1.0, BRICK)], [ph.Joint("j", "fixed", "world", "b")]
    trajectory = Trajectory(np.arange(3.0), np.zeros((3, 0)), np.zeros((3, 0)))
    made = dataset(ph.Model("statue", bodies=bodies, joints=joints), trajectory)
    assert load(save(made, tmp_path / "run.nc")).identical(made)


def test_attributes_without_a_value_are_empty(tmp_path):
    made = run().assign_attrs(seed=None, verified=True)
    made["q"].attrs["source"] = None
    back = load(save(made, tmp_path / "run.nc"))
    assert (back.attrs["seed"], back.attrs["verified"], back["q"].attrs["source"]) == ("", 1, "")
    assert made.attrs["seed"] is None


@pytest.mark.parametrize("write", [save, csv])
def test_an_existing_file_is_kept_unless_forced(tmp_path, write):
    path = tmp_path / "out"
    path.write_text("mine")
    with pytest.raises(ph.InputError, match=r"out.*already there(.|\n)*force=True; --overwrite"):
        write(run(), path)
    assert path.read_text() == "mine"
    write(run(), path, force=True)
    assert path.read_bytes()[:4] != b"mine"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("write", [save, csv])
def test_a_file_that_appears_meanwhile_is_kept(tmp_path, write, monkeypatch):
    path, sync = tmp_path / "out", os.fsync

    def slow(handle):
        path.write_text("mine")
        sync(handle)

    monkeypatch.setattr(os, "fsync", slow)
    with pytest.raises(ph.InputError, match="already there"):
        write(run(), path)
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("write", [save, csv])
def test_no_hard_links_are_needed(tmp_path, write, monkeypatch):
    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    write(run(), tmp_path / "out")
    assert os.listdir(tmp_path) == ["out"]


def test_a_new_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").write_text("")
    usual = stat.S_IMODE((tmp_path / "usual").stat().st_mode)
    assert stat.S_IMODE(save(run(), tmp_path / "run.nc").stat().st_mode) == usual


@pytest.mark.parametrize("write", [save, csv])
@pytest.mark.parametrize("place", ["missing/out", "."])
def test_places_that_cannot_hold_a_file_are_refused(tmp_path, write, place):
    with pytest.raises(ph.InputError, match="folder"):
        write(run(), tmp_path / place, force=True)
    assert os.listdir(tmp_path) == []


def test_an_unwritable_folder_is_named(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)  # permissions do not bind the super-user
    with pytest.raises(ph.PolhodeError, match=r"run\.nc(.|\n)*Permission denied"):
        save(run(), tmp_path / "run.nc")


@pytest.mark.parametrize("write", [save, csv])
@pytest.mark.parametrize("older", [False, True])
def test_a_disk_that_fills_at_any_call_loses_nothing(tmp_path, write, older, disk):
    made, path = run()[["q", "rank"]], tmp_path / "out"
    calls = disk.calls(lambda: write(made, tmp_path / "whole"))
    (tmp_path / "whole").unlink()
    assert calls >= 4
    for k in range(1, calls + 1):
        if older:
            path.write_text("mine")
        with disk.full_from(k), pytest.raises(ph.PolhodeError) as error:
            write(made, path, force=older)
        assert "No space left" in str(error.value)
        assert str(path) in str(error.value)
        assert os.listdir(tmp_path) == (["out"] if older else [])
        assert not older or path.read_text() == "mine"
    write(made, path, force=older)


def test_what_netcdf_cannot_hold_is_refused(tmp_path):
    with pytest.raises(ph.InputError, match="netCDF cannot hold this"):
        save(run(text="a\0b"), tmp_path / "run.nc")
    with pytest.raises(ph.InputError, match="netCDF cannot hold this"):
        save(run().assign_attrs(seed={"a": 1}), tmp_path / "run.nc")
    assert os.listdir(tmp_path) == []


def test_a_file_cut_anywhere_is_refused(tmp_path):
    path = save(run(500), tmp_path / "run.nc")
    data = path.read_bytes()
    for size in (len(data) - 1, len(data) // 2, len(data) // 10, 100, 8):
        path.write_bytes(data[:size])
        with pytest.raises(ph.InputError, match=r"run\.nc.*damaged"):
            load(path)


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "an empty file"), (b"time,q\n0,1\n", "not a netCDF file"), (b"CDF\x01" + b"\0" * 50, "-3")],
)
def test_a_file_of_another_kind_is_refused(tmp_path, data, words):
    path = tmp_path / "run.nc"
    path.write_bytes(data)
    with pytest.raises(ph.InputError, match=words):
        load(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(ph.InputError, match="no such file"):
        load(tmp_path / "run.nc")
    with pytest.raises(ph.InputError, match="cannot be read"):
        load(tmp_path)


def test_a_file_of_another_program_is_refused(tmp_path):
    other = run()
    other.attrs = {"title": "ocean temperatures"}
    path = save(other, tmp_path / "ocean.nc")
    with pytest.raises(ph.InputError, match=r"not a run of polhode(.|\n)*polhode_version(.|\n)*another program"):
        load(path)


def test_csv_has_a_row_per_time_and_units_below_the_names(tmp_path):
    made = run(5000, events=[(0.5, "hit")])
    with csv(made, tmp_path / "run.csv").open(newline="", encoding="utf-8") as file:
        names, units, *rows = list(reader.reader(file))
    assert names[:5] == ["time", "q[hinge.w]", "q[hinge.x]", "q[hinge.y]", "q[hinge.z]"]
    assert units[:8] == ["s", "1", "1", "1", "1", "rad/s", "rad/s", "rad/s"]
    assert "position[bob, the é.x]" in names
    assert units[names.index("position[bob, the é.x]")] == "m"
    assert len(rows) == 5000
    for name, values in [("time", made["time"]), ("q[hinge.y]", made["q"].sel(coordinate="hinge.y"))]:
        column = np.array([float(row[names.index(name)]) for row in rows])
        assert column.tobytes() == values.values.tobytes()


def test_ctrl_c_while_a_file_is_written_comes_after_the_write_and_leaves_no_file(tmp_path):
    written = []

    def interrupted():
        with atomic_write(tmp_path / "run.nc") as sink:
            signal.raise_signal(signal.SIGINT)  # held back: HDF5 would swallow it
            written.append(sink.write(b"half"))

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert written == [4]
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_after_a_file_is_written_leaves_the_file(tmp_path, monkeypatch):
    replace = os.replace

    def interrupted(*names):
        replace(*names)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / "run.nc", force=True) as sink:
        sink.write(b"whole")
    assert (tmp_path / "run.nc").read_bytes() == b"whole"


def test_what_a_full_disk_refuses_is_read_back_until_the_fault_is_told(tmp_path, monkeypatch):
    """HDF5 reads again what it wrote: it must find it, or it takes the process with it."""
    rng, write = np.random.default_rng(0), os.write
    handle = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    sink, mirror = Sink(handle), io.BytesIO()
    for k in range(60):
        if k == 20:
            monkeypatch.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
        at, data = int(rng.integers(200_000)), rng.bytes(int(rng.integers(1, 90_000)))
        for file in (sink, mirror):
            file.seek(at)
            file.write(data)
        at, size = int(rng.integers(250_000)), int(rng.integers(1, 150_000))
        sink.seek(at)
        mirror.seek(at)
        assert (sink.read(size) or b"") == mirror.read(size)
        assert sink.seek(0, os.SEEK_END) == mirror.seek(0, os.SEEK_END)
    monkeypatch.setattr(os, "write", write)
    os.close(handle)
    with pytest.raises(OSError, match="full"):
        sink.check()
