"""Modules loaded at their first use; garbage collection, paused while modules are loaded and kernels are made."""

import gc
import subprocess
import sys
import threading
import weakref

import pytest

from polhode.loading import collection_paused


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


def run(code):
    """Run a script as a program of its own; these tests are frozen, and collect seldom."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def test_what_was_made_in_the_block_is_not_looked_through_at_its_end():
    run("""
import gc
from polhode.loading import collection_paused
found = []
gc.callbacks.append(lambda phase, info: found.append(len(gc.get_objects(0))) if phase == "start" else None)
with collection_paused():
    kept = [[k] for k in range(20_000)]
more = [[k] for k in range(5_000)]
assert found and max(found) < 5_000, found
""")


def test_what_a_program_froze_stays_frozen():
    run("""
import gc
from polhode.loading import collection_paused
gc.freeze()
before = gc.get_freeze_count()
with collection_paused():
    pass
assert gc.get_freeze_count() == before > 0
""")


def test_cycles_of_a_block_are_found_later():
    class Knot:
        pass

    gc.enable()
    with collection_paused():
        knot = Knot()
        knot.self = knot
        seen = weakref.ref(knot)
        del knot
    gc.collect()
    assert seen() is None


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
