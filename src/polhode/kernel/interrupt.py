"""Calls that may take long outside Python, ended by Ctrl-C at once all the same.

Python hears of Ctrl-C between its own instructions, not inside a library. So the call is made by another thread, while
the main one waits where it can be interrupted; the thread then ends by itself, and nobody reads its result.
"""

import atexit
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

PATIENCE = 60.0
"""Seconds that the end of the process waits for a call that was left alone: libraries do not like to be torn down."""

_left: list[threading.Thread] = []


def interruptible(call: Callable[[], Result]) -> Result:
    """The result of a call that spends its time outside Python, with its lock released; Ctrl-C does not wait for it."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    results: list[Result] = []
    faults: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=work, name="polhode", daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        _left.append(thread)
        raise
    if faults:
        raise faults[0]
    return results[0]


def left_alone() -> bool:
    """Whether a call that was interrupted still works on."""
    return any(thread.is_alive() for thread in _left)


@atexit.register
def _wait() -> None:
    for thread in _left:
        thread.join(PATIENCE)
