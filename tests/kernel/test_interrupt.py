"""Ctrl-C ends what compiled code and libraries do, and threads that work together stop together."""

import ctypes
import os
import signal
import threading
import time

import pytest

from polhode.kernel.interrupt import interruptible, left_alone
from polhode.kernel.work_threads import Stopped, go_on, in_threads

LONG = 8.0
"""Seconds that a call would take."""


def interrupt_soon():
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def test_a_call_outside_python_is_left_alone_at_once():
    sleep = ctypes.CDLL(None).usleep  # ctypes releases the interpreter's lock, as LLVM's binding does
    begin = time.monotonic()
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: [sleep(50_000) for _ in range(int(20 * LONG))])  # the signal may wake one of them
    assert time.monotonic() - begin < LONG / 2
    assert left_alone()


def test_results_and_faults_come_through():
    assert interruptible(lambda: 42) == 42
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)
    found = []
    other = threading.Thread(target=lambda: found.append(interruptible(lambda: 7)))
    other.start()
    other.join()
    assert found == [7]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("inner", [1, 2])
def test_ctrl_c_stops_all_threads_even_those_of_threads(threads, inner):
    ended = []

    def piece(number):
        for _ in range(int(LONG / 0.01)):
            time.sleep(0.01)
            go_on()
        ended.append(number)

    def pieces(number):
        in_threads(piece, [number] * inner, inner)

    begin = time.monotonic()
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        in_threads(pieces, range(threads), threads)
    assert time.monotonic() - begin < LONG / 2
    assert not ended
    go_on()  # nothing of it is left


def test_the_first_fault_is_the_one_that_is_told():
    def piece(number):
        if number == 1:
            raise ValueError("the fault")
        while True:
            time.sleep(0.001)
            go_on()

    with pytest.raises(ValueError, match="the fault"):
        in_threads(piece, [0, 1, 2], 3)
    assert issubclass(Stopped, BaseException)
    assert not issubclass(Stopped, Exception)
