"""Memory of large results: used again when an array is gone, and not before."""

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

import polhode as ph
from polhode.kernel.backends.llvm import result_memory
from polhode.kernel.backends.llvm.result_memory import new_array

SHAPE = (3, 2**20)


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Nothing waits from other tests, and nothing stays for them."""
    monkeypatch.setattr(result_memory, "_waiting", type(result_memory._waiting)())
    yield
    gc.collect()


def place(array):
    return array.__array_interface__["data"][0]


def test_memory_of_an_array_that_is_gone_serves_the_next():
    a = new_array(SHAPE)
    was = place(a)
    a[:] = 3.0
    del a
    b = new_array((SHAPE[1], SHAPE[0]))
    assert place(b) == was
    assert b.shape == (SHAPE[1], SHAPE[0])
    assert b.dtype == np.float64
    assert b.flags.carray


@pytest.mark.parametrize(
    "hold", [lambda a: a[1:, ::2], lambda a: a.reshape(-1).view(np.int64), memoryview, lambda a: a.T[5:].T]
)
def test_memory_stays_while_anything_looks_at_it(hold):
    a = new_array(SHAPE)
    a[:] = 3.0
    was, view = place(a), hold(a)
    del a
    others = [new_array(SHAPE) for _ in range(3)]
    for other in others:
        assert place(other) != was
        other[:] = 5.0
    del view
    assert place(new_array(SHAPE)) == was


def test_small_arrays_are_numpys_own():
    assert new_array((10, 10)).flags.owndata


def test_no_more_waits_than_is_allowed(monkeypatch):
    monkeypatch.setattr(result_memory, "KEPT", 2 * 2**25)
    arrays = [new_array(SHAPE) for _ in range(4)]
    del arrays
    assert sum(map(len, result_memory._waiting)) <= 2 * 2**25
    assert result_memory._waiting


def test_memory_of_another_size_is_not_taken():
    a = new_array((4 * SHAPE[0], SHAPE[1]))
    was = place(a)
    del a
    assert place(new_array(SHAPE)) != was


def test_threads_never_share_memory():
    def work(number):
        for _ in range(30):
            a = new_array(SHAPE)
            a[0, ::1000] = number
            wrong.extend(a[0, ::1000][a[0, ::1000] != number])

    wrong = []
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_large_results_of_a_system_use_it_and_have_the_bits_of_small_ones():
    system = ph.compile(ph.load("arm-7"))
    rng = np.random.default_rng(0)
    q, v, vd = rng.normal(size=(3, 4301, 7))
    found = system.torque_regressor(q, v, vd)
    again = system.torque_regressor(q, v, vd, t=0.0, threads=2)
    assert not found.flags.owndata
    assert not again.flags.owndata
    parts = [slice(k, k + 500) for k in range(0, 4301, 500)]
    expected = np.concatenate([system.torque_regressor(q[k], v[k], vd[k]) for k in parts])
    assert np.array_equal(found.view(np.int64), expected.view(np.int64))
    assert np.array_equal(again.view(np.int64), expected.view(np.int64))


def test_nothing_is_said_when_the_interpreter_ends():
    text = (
        "from polhode.kernel.backends.llvm.result_memory import new_array\n"
        "a = new_array((3, 2**20)); b = [new_array((3, 2**20))]; b.append(b)\n"
        "class Held: pass\n"
        "Held.a = new_array((3, 2**20))\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stderr == ""
