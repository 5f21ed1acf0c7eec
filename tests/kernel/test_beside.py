"""What an iterator gives, made by another thread."""

import threading
import time

import numpy as np
import pytest

from polhode.kernel import beside
from polhode.kernel.beside import Beside


def test_what_is_made_comes_in_its_order_and_by_another_thread():
    def source():
        for k in range(100):
            yield k, threading.current_thread() is threading.main_thread()

    found = Beside(source())
    assert [*found] == [(k, False) for k in range(100)]
    assert [*found] == []
    found.end()


def test_a_fault_comes_where_it_belongs():
    def source():
        yield from (1, 2)
        raise ValueError("no third")

    found, taken = Beside(source()), []
    with pytest.raises(ValueError, match="no third"):
        taken.extend(found)
    assert taken == [1, 2]
    found.end()


def test_what_is_ended_makes_nothing_more():
    made, go = [], threading.Event()

    def source():
        for k in range(1000):
            made.append(k)
            yield k
            go.wait(10)

    found = Beside(source())
    assert next(iter(found)) == 0
    threading.Timer(0.05, go.set).start()  # while `end` waits
    found.end()
    assert len(made) <= 2
    assert not found._thread.is_alive()


def test_it_waits_where_what_is_made_takes_much_memory(monkeypatch):
    monkeypatch.setattr(beside, "MOST_BYTES", 10)
    made = []

    def source():
        for k in range(50):
            made.append(k)
            yield k

    found = Beside(source(), lambda _: 4)
    time.sleep(0.1)
    assert len(made) == 3  # 12 bytes: above the most
    assert [*found] == [*range(50)]
    found.end()


def test_states_of_numpy_are_those_of_who_began_it():
    def source():
        yield np.geterr()["divide"]

    with np.errstate(divide="ignore"):
        found = Beside(source())
    assert [*found] == ["ignore"]
    found.end()
