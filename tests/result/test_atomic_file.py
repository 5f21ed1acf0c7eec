"""Atomic writes by name: the new file as a whole, or the old one, and nothing beside it."""

import pytest

import polhode as ph
from polhode.result.atomic_file import atomic_path, atomic_write
from polhode.result.lock import Lock


def test_a_file_that_a_library_writes_by_name_is_there_when_the_block_ends(tmp_path):
    place = tmp_path / "figure.svg"
    with atomic_path(place, suffix=".svg") as part:
        part.write_text("whole")
        assert part.suffix == ".svg"
        assert part.parent == tmp_path
        assert not place.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["figure.svg"]
    assert place.read_text() == "whole"


@pytest.mark.parametrize("fault", [OSError(5, "broken"), ValueError("wrong"), KeyboardInterrupt()])
def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path, fault):
    place = tmp_path / "receipt.json"
    place.write_text("old")

    def broken():
        with atomic_path(place, force=True) as part:
            part.write_text("half")
            raise fault

    with pytest.raises(type(fault)):
        broken()
    assert [path.name for path in tmp_path.iterdir()] == ["receipt.json"]
    assert place.read_text() == "old"


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path):
    place = tmp_path / "run.nc"

    def late():
        with atomic_path(place) as part:
            part.write_text("mine")
            place.write_text("theirs")

    with pytest.raises(ph.InputError, match="already there"):
        late()
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]
    assert place.read_text() == "theirs"


def test_a_fault_of_the_disk_is_told_rather_than_what_followed_it(tmp_path):
    """HDF5 fails in odd ways once a write was refused: the cause is the disk."""

    def full():
        with atomic_write(tmp_path / "run.nc") as sink:
            sink.fault = OSError(28, "No space left on device")
            raise RuntimeError("cannot flush")

    with pytest.raises(ph.PolhodeError, match="the disk is full"):
        full()
    assert not list(tmp_path.iterdir())


def test_a_lock_is_released_where_what_it_guards_fails(tmp_path):
    lock = Lock(tmp_path / "lock")
    with pytest.raises(KeyError), lock.released_on_error():
        raise KeyError
    with (again := Lock(tmp_path / "lock")).released_on_error():
        pass
    with pytest.raises(ph.InputError, match="in use"):
        Lock(tmp_path / "lock")
    again.release()
