"""Calls that may take long outside Python, ended by Ctrl-C at once all the same.

Python hears of Ctrl-C between its own instructions, not inside a library. So the call is made by another thread, while
the main one waits where it can be interrupted; the thread then ends by itself, and nobody reads its result.
"""

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

_left: list[threading.Event] = []
"""For each call that nobody waits for, what is set when it ends."""


def interruptible(call: Callable[[], Result], meanwhile: Callable[[], bool] = lambda: False) -> Result:
    """The result of a call that spends its time outside Python, with its lock released; Ctrl-C does not wait for it.

    meanwhile  what the main thread does again and again while it waits, until it returns False
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    results: list[Result] = []
    faults: list[BaseException] = []

    ended = threading.Event()  # Thread.join, interrupted, takes a thread for ended that is not

    def work() -> None:
        try:
            results.append(call())
        except BaseException as fault:
            faults.append(fault)
        finally:
            ended.set()

    threading.Thread(target=work, name="polhode", daemon=True).start()
    try:
        while not ended.is_set() and meanwhile():
            pass
        ended.wait()
    except BaseException:
        _left.append(ended)
        raise
    if faults:
        raise faults[0]
    return results[0]


def left_alone() -> bool:
    """Whether a call that was interrupted still works on."""
    return not all(ended.is_set() for ended in _left)
