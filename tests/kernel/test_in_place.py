"""Kernels on arrays that stay in place: chains of rows, whole or up to a row at which they stop."""

import gc
import threading
import weakref

import numpy as np
import pytest

from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import build
from polhode.kernel.backends.llvm.in_place import AT_ONCE, BoundKernel, KeptChain, RowChain, chained
from polhode.scalar import Vec, where

GOING, STOPPED = 0.0, 3.0


@pytest.fixture(scope="module")
def counting():
    """A kernel that adds to a count up to a last one, where it stops: (count, status) from (count, status)."""

    def step(row, more, last):
        count = where(row[1] == GOING, row[0] + more, row[0])
        return Vec([count, where(count >= last, STOPPED, GOING)])

    return build(trace(step, row=(2,), more=(), last=()), width=1)


@pytest.mark.parametrize("last", [1, 2, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE, 3 * AT_ONCE + 7, 10_000])
def test_a_chain_ends_at_the_first_row_that_stops(counting, last):
    whole, part = np.zeros((2, 3 * AT_ONCE + 8, 2))
    others = [np.ones(len(whole) - 1), np.array(float(last))]
    chained(counting, whole, others)
    filled = RowChain(counting, part, others, 1, GOING).fill_from(0)
    assert filled == min(last, len(part) - 1)
    assert np.array_equal(part[: filled + 1], whole[: filled + 1])


def test_a_chain_of_no_rows_is_filled(counting):
    assert RowChain(counting, np.zeros((1, 2)), [np.array(1.0), np.array(5.0)], 1, GOING).fill_from(0) == 0


@pytest.mark.parametrize("stop", [1, 5, AT_ONCE, AT_ONCE + 1])
def test_a_chain_goes_on_from_another_row(counting, stop):
    rows = np.zeros((4 * AT_ONCE, 2))
    chain = RowChain(counting, rows, [np.array(1.0), np.array(float(stop))], 1, GOING)
    assert chain.fill_from(0) == stop
    before = rows[:stop].copy()
    assert chain.fill_again(stop, np.array([-10.0, GOING])) == 2 * stop + 9
    assert np.array_equal(rows[:stop], before)
    assert rows[stop : 2 * stop + 10, 0].tolist() == list(range(-9, stop + 1))


def test_a_row_that_stops_again_ends_the_chain(counting):
    rows = np.zeros((9, 2))
    chain = RowChain(counting, rows, [np.array(1.0), np.array(3.0)], 1, GOING)
    assert chain.fill_from(0) == 3
    assert chain.fill_again(3, np.array([7.0, GOING])) == 3
    assert rows[3].tolist() == [8.0, STOPPED]


def test_a_chain_that_stays_bound_sees_what_its_memory_holds_now(counting):
    rows, more, kept = np.zeros((4, 2)), np.ones(3), KeptChain(counting, 1e6)
    kept(rows, [more, 99.0])
    assert rows[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0]
    more[:], rows[0] = 2.0, (10.0, GOING)
    kept(rows, [more, 99.0])
    assert rows[:, 0].tolist() == [10.0, 12.0, 14.0, 16.0]


def test_a_chain_that_stays_bound_takes_other_rows_and_arguments(counting):
    kept, rows = KeptChain(counting, 1e6), np.zeros((5, 2))
    for more, last, n in ((np.ones(4), 99.0, 4), (1.0, 3.0, 4), (1.0, 2.0, 4), (2.0, 99.0, 4), (np.ones(2), 99.0, 2)):
        for part in (rows[: n + 1], rows[5 - n - 1 :], np.zeros((n + 1, 2))):
            part[:], plain = 0.0, np.zeros((n + 1, 2))
            chained(counting, plain, [more, last])
            kept(part, [more, last])
            assert np.array_equal(part, plain)


def test_chains_of_several_threads_do_not_share_what_is_bound(counting):
    kept, faults = KeptChain(counting, 1e6), []

    def work(more):
        rows = np.zeros((50, 2))
        for _ in range(200):
            kept(rows, [more, 1e9])
            if rows[-1, 0] != 49 * more:
                faults.append(more)

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_arguments_may_be_read_only(counting):
    row, found = np.zeros((1, 2)), np.empty((1, 2))
    row.flags.writeable = False
    BoundKernel(counting, 1, [row, np.array(1.0), np.array(5.0)], [found])()
    assert found.tolist() == [[1.0, GOING]]


def test_code_stays_as_long_as_arrays_are_bound_to_it():
    """A kernel that is not kept, as of user functions: nobody else has it."""
    x, y, kernels = np.arange(3.0), np.zeros(3), []

    def bound():
        kernel = build(trace(lambda x: 2 * x + 1, x=()), width=1)
        kernels.append(weakref.ref(kernel))
        return BoundKernel(kernel, 3, [x], [y])

    one = bound()
    gc.collect()
    assert kernels[0]() is not None
    one()
    assert y.tolist() == [1.0, 3.0, 5.0]
    y[:] = 0.0
    one.fill_some(1, 2)
    assert y.tolist() == [0.0, 3.0, 5.0]
    del one
    gc.collect()
    assert kernels[0]() is None
