"""Small matrices by one thread of BLAS, and as many as before afterwards."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from polhode.linalg import blas_threads
from polhode.linalg.blas_threads import SMALL, one_blas_thread, small_by_one_thread, threads


@pytest.fixture
def several(monkeypatch):
    """OpenBLAS with three threads, whatever the environment says, or what stands for it."""
    count = [1]
    stand_in = (lambda: count[0]), (lambda number: count.__setitem__(0, number))
    functions = blas_threads._threads() or stand_in
    monkeypatch.setattr(blas_threads, "_threads", lambda: functions)
    tell, put = functions
    before = tell()
    put(3)
    yield
    put(before)


def test_within_there_is_one_thread_and_afterwards_as_many_as_before(several):
    assert threads() == 3
    with one_blas_thread():
        assert threads() == 1
        with one_blas_thread():
            assert threads() == 1
        assert threads() == 1
    assert threads() == 3


def test_the_number_comes_back_after_an_error(several):
    with pytest.raises(np.linalg.LinAlgError), one_blas_thread():
        np.linalg.cholesky(-np.eye(2))
    assert threads() == 3


def test_threads_of_python_that_overlap_leave_the_number_as_it_was(several):
    def work(seed: int) -> int:
        with one_blas_thread():
            np.linalg.svd(np.random.default_rng(seed).standard_normal((60, 60)))
            return threads()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(64))) == {1}
    assert threads() == 3


def test_large_matrices_keep_all_threads(several):
    seen = small_by_one_thread(lambda matrix: threads())
    assert seen(np.zeros((SMALL, 3))) == 1
    assert seen(np.zeros((2, 3, SMALL + 1))) == 3
