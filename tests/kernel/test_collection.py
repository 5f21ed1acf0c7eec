"""Garbage collection, paused while kernels are made."""

import gc
import threading

import pytest

from polhode.kernel.collection import collection_paused


@pytest.fixture(autouse=True)
def _as_before():
    before = gc.isenabled()
    yield
    (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("enabled", [True, False])
def test_afterwards_all_is_as_before(enabled):
    (gc.enable if enabled else gc.disable)()
    with collection_paused():
        assert not gc.isenabled()
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() == enabled
    with pytest.raises(ZeroDivisionError), collection_paused():
        1 / 0  # noqa: B018
    assert gc.isenabled() == enabled


def test_of_several_threads_the_last_ends_it():
    """The first that began ends before the second."""
    gc.enable()
    begun, ended = threading.Event(), threading.Event()

    def second():
        with collection_paused():
            begun.set()
            ended.wait()
            seen.append(gc.isenabled())

    seen, thread = [], threading.Thread(target=second)
    with collection_paused():
        thread.start()
        begun.wait()
    ended.set()
    thread.join()
    assert seen == [False]
    assert gc.isenabled()
