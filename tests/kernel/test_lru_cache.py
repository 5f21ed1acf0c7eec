"""What is kept in memory of what was asked for last."""

import threading

import pytest

from polhode.kernel.lru_cache import LruCache


def asked_at_once(cache, make, threads=8):
    """What threads get that ask for one entry at once."""
    ready, found = threading.Barrier(threads), []

    def ask():
        ready.wait()
        found.append(cache.made_once("a", make))

    running = [threading.Thread(target=ask) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return found


def test_of_threads_that_ask_at_once_one_makes_the_entry():
    made, others = [], threading.Event()

    def make():
        made.append(1)
        others.wait(0.1)  # time for the others to ask
        return len(made)

    assert asked_at_once(LruCache(4), make) == [1] * 8


def test_an_entry_that_cannot_be_made_is_asked_for_again():
    cache, tries = LruCache(4), []

    def make():
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("not now")
        return "made"

    with pytest.raises(ValueError, match="not now"):
        cache.made_once("a", make)
    assert cache.made_once("a", make) == "made"
    assert cache.knows("a")
    assert not cache._making


def test_the_least_recently_asked_for_is_dropped():
    cache = LruCache(2)
    for name in "abac":
        cache.made_once(name, lambda name=name: name)
    assert [cache.knows(name) for name in "abc"] == [True, False, True]
