"""The other process's part: what optimises kernels, one after the other, at low priority.

`serve` answers the process that started it (`optimiser.py`); `optimise_wanted` goes through a list that a process left
when it ended (`wanted.py`), and answers nobody.
"""

import os
import sys
import time
from collections.abc import Iterable
from typing import Any

from polhode.kernel.backends.llvm.compile import CompiledAs, compiled_graph
from polhode.kernel.backends.llvm.optimiser import (
    EndedError,
    UnoptimisedKernel,
    object_code,
    read_message,
    write_message,
)
from polhode.kernel.backends.llvm.wanted import ALL_WANTED
from polhode.kernel.cache import GRAPH, CachedKernel, claim, forget, load, release, save
from polhode.kernel.graph_bytes import unpacked
from polhode.loading import collection_paused

NICE = 10
"""How much less of a processor that others want it gets, on the scale of `nice`."""

ENOUGH = 5.0
"""Seconds of processor time after which no further kernel of a list is begun: the kernels of `arm-7` take 0.7 s, those
of `stewart-platform` 5, of forty four-bars 6. The next process hands on what is left."""

LARGEST = 4_000_000
"""Bytes of bitcode, or of a graph, up to which a kernel of a list is optimised: LLVM takes some 10 s for so many (2.5 s
for 0.9 MB, steps of forty four-bars). Larger ones are optimised by programs that use them for long."""


def serve() -> None:
    """Optimise kernels until the input ends: the whole program of a process."""
    _step_back()
    given, told = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            head, body = read_message(given)
        except EndedError as cut:
            if cut.head:  # its user's process ended while it wrote
                release(cut.head["name"], cut.head["cache"])
            return
        asked = UnoptimisedKernel(head["name"], head["cache"], head["facts"], body, head["is_graph"])
        answer: dict[str, Any]
        try:
            found = _stored(asked)
            answer, image = {"facts": found.facts}, found.image
        except Exception as error:
            answer, image = {"error": f"LLVM: {error}"}, b""
        finally:
            release(asked.name, asked.cache)
        try:
            write_message(told, answer, image)
        except OSError:  # nobody there any more
            return


def optimise_wanted() -> None:
    """Optimise the kernels of a list: the whole program of a process."""
    _step_back()
    head, _ = read_message(sys.stdin.buffer)
    try:
        optimise_listed(head["wanted"], head["cache"])
    finally:
        release(ALL_WANTED, head["cache"])


def optimise_listed(wanted: Iterable[tuple[str, bool]], cache: str | None) -> None:
    """Optimise kernels that are on disk, as long as that does not take too long.

    wanted  their names, and whether a graph is all that is there
    """
    begin = time.process_time()
    for name, is_graph in wanted:
        if time.process_time() > begin + ENOUGH:
            break
        _optimise_from_disk(name, cache, is_graph)


def _step_back() -> None:
    if hasattr(os, "nice"):
        os.nice(NICE)


def _optimise_from_disk(name: str, cache: str | None, is_graph: bool) -> None:
    """Optimise a kernel that is on disk, unless another process does or did; what fails is not tried again."""
    if not claim(name, cache):
        return
    try:
        entry = load(name, cache, GRAPH) if is_graph else load(name, cache)
        body = b"" if entry is None else entry.image if is_graph else entry.bitcode
        if entry is None or not 0 < len(body) <= LARGEST:
            return
        try:
            _stored(UnoptimisedKernel(name, cache, entry.facts, body, is_graph))
        except Exception:  # nobody is there to be told: it stays as it is, for good
            if is_graph:
                forget(name, cache, GRAPH)
            else:
                save(name, entry._replace(bitcode=b""), cache, make=False)
    finally:
        release(name, cache)


def _stored(asked: UnoptimisedKernel) -> CachedKernel:
    """A kernel with its object code, which then is in the cache."""
    if asked.is_graph:
        with collection_paused():
            graph = unpacked(asked.body)
        found = compiled_graph(graph, CompiledAs(**asked.facts))
    else:
        found = CachedKernel(asked.facts, object_code(asked.body, asked.facts["level"]))
    if asked.name:
        save(asked.name, found, asked.cache, make=False)
        forget(asked.name, asked.cache, GRAPH)
    return found
