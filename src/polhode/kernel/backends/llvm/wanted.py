"""Kernels that a process found on disk as an earlier one left them, not optimised: they are wanted again.

A short program ends before any of its kernels was in use for long. So what it found it hands on when it ends, to one
process of low priority, which optimises as many as `optimiser_process.py` says; the programs after it find them. A
program that runs once costs nothing of this, and every kernel is optimised once.
"""

from contextlib import suppress

from polhode.kernel.backends.llvm.optimiser import OptimiserError, started, write_message
from polhode.kernel.cache import claim, is_claimed, release

ALL_WANTED = "wanted"
"""The name of the claim of whoever goes through a list: of several programs that end at once, one hands on its own."""

MOST = 200
"""Kernels of one list: they fit into a pipe that nobody reads yet."""


class WantedKernels:
    """The kernels that this process found on disk and that are not optimised."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str | None, bool]] = {}

    def add(self, name: str, cache: str | None, is_graph: bool = False) -> None:
        """Note a kernel.  cache: $POLHODE_CACHE; is_graph: whether what is on disk is its graph alone"""
        self._found[name] = cache, is_graph

    def discard(self, name: str) -> None:
        """Note that a kernel is optimised."""
        self._found.pop(name, None)

    def hand_on(self) -> None:
        """Leave the list, of the cache that was used last, to a process that goes through it after this one."""
        if not self._found:
            return
        *_, (cache, _) = self._found.values()
        names = [[name, is_graph] for name, (where, is_graph) in self._found.items() if where == cache]
        self._found.clear()
        if not claim(ALL_WANTED, cache) or not is_claimed(ALL_WANTED, cache):  # not: nothing could be stored there
            return
        try:
            process = started("optimise_wanted", answers=False)
            assert process.stdin is not None
            with suppress(OSError):
                write_message(process.stdin, {"cache": cache, "wanted": names[:MOST]}, b"")
                process.stdin.close()
            process.returncode = 0  # nobody waits for it
        except (OptimiserError, RuntimeError):  # RuntimeError: too late for a new process
            release(ALL_WANTED, cache)
