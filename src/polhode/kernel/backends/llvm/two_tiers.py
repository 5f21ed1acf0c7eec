"""Kernels that are used at once and optimised while they are: quickly compiled code first, LLVM's usual level later.

Both compute the operations of the graph, fused ones among them, and so the same bits: no result tells when one takes
the other's place. A caller keeps one address, that of a jump to the code in use; jumps count calls, and a kernel that
is called at several moments is optimised by a process of its own (`optimiser.py`).
"""

import atexit
import ctypes
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any
from weakref import WeakSet

from polhode.errors import InputError, PolhodeWarning, message
from polhode.kernel.backends.llvm.optimiser import Optimiser, OptimiserError, UnoptimisedKernel
from polhode.kernel.backends.llvm.small_code import small_code
from polhode.kernel.backends.llvm.target_machine import linker
from polhode.kernel.backends.llvm.wanted import WantedKernels
from polhode.kernel.cache import GRAPH, CachedKernel, claim, is_there, load, release, save
from polhode.kernel.graph import Graph
from polhode.kernel.graph_bytes import packed
from polhode.loading import collection_paused

SWITCH = "POLHODE_OPTIMISE"
"""The variable of the environment that says when kernels are optimised."""

LATER, FIRST, NEVER = "later", "first", "never"
"""Its values: while they are used, where they are used for long (so also where it is not set); before; not at all."""

MOMENT = 0.2
"""Seconds between two looks at the counts of calls, at first; twice as many after each that finds none used."""

LONGEST_MOMENT = 5.0

MOMENTS = 3
"""In how many moments a kernel must be in use to be optimised. Kernels of short runs are not: that of `n-four-bar-40`
takes 0.3 s in code compiled quickly, and optimising it takes 4 s."""


MOMENTS_TO_TRACE = 30
"""The same of a kernel from disk that would have to be traced again for its code in lanes, by whoever calls it, since
nobody left its graph: 1.5 s for samples of `n-four-bar-40`, a quarter of six seconds of use."""


def when() -> str:
    """When kernels are optimised: LATER, FIRST or NEVER."""
    asked = os.environ.get(SWITCH) or LATER
    if asked not in (LATER, FIRST, NEVER):
        found, expected = repr(asked), f"{LATER!r}, {FIRST!r} or {NEVER!r}"
        raise InputError(message(f"environment, {SWITCH}", "not a time to optimise kernels", found, expected))
    return FIRST if asked == LATER and not _has_interpreter() else asked


def _has_interpreter() -> bool:
    """Whether `sys.executable` is Python: within other programs it may be that program."""
    name = os.path.basename(sys.executable or "").lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


# jumps

_JUMPS = """
@calls = global i64 0, align 8
@loop_code = global ptr null, align 8
@entry_code = global ptr null, align 8

define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) {
  %calls = load i64, ptr @calls, align 8
  %more = add i64 %calls, 1
  store i64 %more, ptr @calls, align 8
  %code = load atomic ptr, ptr @loop_code acquire, align 8
  musttail call void %code(ptr %args, ptr %dims, ptr %steps, ptr %data)
  ret void
}

define ptr @entry(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
  %calls = load i64, ptr @calls, align 8
  %more = add i64 %calls, 1
  store i64 %more, ptr @calls, align 8
  %code = load atomic ptr, ptr @entry_code acquire, align 8
  %found = musttail call ptr %code(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %found
}
"""

_numbers = count()


@cache
def _jumps_code() -> bytes:
    return small_code("jumps", _JUMPS)


class Jumps:
    """Addresses that stay, and the code behind them, which changes.

    loop, entry  addresses for callers
    """

    def __init__(self, loop: int, entry: int) -> None:
        """loop, entry: the addresses of the code; 0 where there is none."""
        import llvmlite.binding as llvm

        names = ("calls", "loop_code", "entry_code", "loop", "entry")
        library = llvm.JITLibraryBuilder().add_object_img(_jumps_code())
        for name in names:
            library.export_symbol(name)
        self._tracker = library.link(linker(), f"jumps {next(_numbers)}")
        calls, loop_code, entry_code, self.loop, own_entry = (self._tracker[name] for name in names)
        self.entry = own_entry if entry else 0
        self._calls, self._places = ctypes.c_int64.from_address(calls), (loop_code, entry_code)
        self.go_to(loop, entry)

    @property
    def calls(self) -> int:
        """How often they were taken; where threads do so at once, about so often."""
        return self._calls.value

    def go_to(self, loop: int, entry: int) -> None:
        """Other code: calls that have begun end in the old one. A pointer is stored in one piece."""
        for place, address in zip(self._places, (loop, entry), strict=True):
            ctypes.c_void_p.from_address(place).value = address
        self.code = loop, entry


# kernels in use


@contextmanager
def _claimed(name: str, cache: str | None) -> Iterator[bool]:
    """A block in which this process is the one that optimises a kernel, if that is so; none begins when it ends."""
    if _watch.is_ended or not claim(name, cache):
        yield False
        return
    _watch.in_hand = name, cache
    try:
        yield not _watch.is_ended  # else `end` may have been too early to see the claim
    finally:
        _watch.in_hand = None
        release(name, cache)


class FirstTier:
    """A kernel compiled quickly, until its optimised code takes over."""

    def __init__(self, name: str, entry: CachedKernel, code: tuple[int, int, Any], link: Callable) -> None:
        """A kernel in use.

        name   in the cache; "": it is not kept there
        entry  its bitcode among the rest
        code   the addresses of its loop and of its entry, and what keeps them alive
        link   CachedKernel → the same of its optimised code
        """
        self.jumps = Jumps(*code[:2])
        self._cache = os.environ.get("POLHODE_CACHE")
        self.name, self._entry, self._link = name, entry, link
        self._kept = [code[2]]  # also of the old code: a call may still be in it
        self._seen, self._moments = 0, 0

    def is_hot(self) -> bool:
        """Whether it was used in enough of the moments at which this is asked."""
        calls = self.jumps.calls
        self._moments += calls != self._seen
        self._seen = calls
        return self._moments >= MOMENTS

    @property
    def was_used(self) -> bool:
        """Whether it was used since it was asked whether it is hot."""
        return self.jumps.calls != self._seen

    def optimise(self, optimiser: Callable[[], Optimiser]) -> bool:
        """Let optimised code take over; False where another process is about to make it."""
        name, facts = self.name, self._entry.facts
        with _claimed(name, self._cache) as is_ours:
            if not is_ours:
                return False
            found = load(name, self._cache) if name else None  # by another process, meanwhile
            if found is None or found.bitcode or found.facts != facts:
                found = optimiser().optimised(UnoptimisedKernel(name, self._cache, facts, self._entry.bitcode))
        with _watch.linking:
            loop, entry, kept = self._link(found)
            self._kept.append(kept)
            self.jumps.go_to(loop, entry)
        self._entry = found  # without bitcode
        return True


class SinglesFirst:
    """A kernel for batches that goes state by state, until one in lanes takes its place, with the same bits.

    Code of several lanes takes as long to compile as all the steps of a run, and a short run asks for few samples.
    Its text is written by the process that optimises, from a graph that was traced by whoever called the kernel
    (tracing runs functions of models and of users, which may not take two threads), or left by an earlier process.
    """

    def __init__(
        self,
        name: str,
        single: Any,
        way: dict[str, Any],
        trace: Callable[[], Graph],
        link: Callable[[CachedKernel], Any],
        is_traced: bool,
    ) -> None:
        """A kernel in use.

        name       of that in lanes, in the cache; "": it is not kept there
        single     the kernel of single states
        way        how that in lanes is compiled
        trace      gives the graph
        link       CachedKernel → its callable
        is_traced  whether `trace` has its graph at hand
        """
        self.kernel = single
        self._cache = os.environ.get("POLHODE_CACHE")
        self.name, self._way, self._trace, self._link = name, way, trace, link
        self._graph = trace() if is_traced else None
        self.is_on_disk = self._graph is None and bool(name) and is_there(name, GRAPH)
        """Whether an earlier process left its graph."""
        self._needed = MOMENTS if self._has_graph else MOMENTS_TO_TRACE
        self._calls, self._seen, self._moments = 0, 0, 0

    def __call__(self, *arrays: Any) -> tuple:
        """The results of the kernel that there is."""
        found: tuple = self.current(*arrays)
        return found

    @property
    def current(self) -> Any:
        """The kernel that there is, for one call."""
        self._calls += 1
        if self._moments >= self._needed and not self._has_graph:
            self._graph = self._trace()
        return self.kernel

    @property
    def _has_graph(self) -> bool:
        return self._graph is not None or self.is_on_disk

    @property
    def facts(self) -> dict[str, Any]:
        """Those of the kernel that there is: shapes of its arguments and results do not change."""
        return self.kernel.facts

    def is_hot(self) -> bool:
        """Whether it was used in enough of the moments at which this is asked, and its graph is there since."""
        self._moments += self.was_used
        self._seen = self._calls
        return self._moments >= self._needed and self._has_graph

    @property
    def was_used(self) -> bool:
        """Whether it was used since it was asked whether it is hot."""
        return self._calls != self._seen

    def optimise(self, optimiser: Callable[[], Optimiser]) -> bool:
        """Let code in lanes take over; False where another process is about to make it, or its graph has gone."""
        name = self.name
        with _claimed(name, self._cache) as is_ours:
            if not is_ours:
                return False
            found = load(name, self._cache) if name else None  # by another process, meanwhile
            if found is None:
                body = self._body()
                if not body:
                    return False
                found = optimiser().optimised(UnoptimisedKernel(name, self._cache, self._way, body, is_graph=True))
        with _watch.linking:
            self.kernel = self._link(found)
        return True

    def _body(self) -> bytes:
        """The graph as bytes; none where it was on disk, and is not any more."""
        if self._graph is not None:
            with collection_paused():
                return packed(self._graph)
        entry = load(self.name, self._cache, GRAPH)
        if entry is None or entry.facts != self._way:
            self.is_on_disk, self._needed = False, MOMENTS_TO_TRACE
            return b""
        return entry.image

    def leave_graph(self) -> None:
        """Keep the graph of a kernel that was used on disk, for a later process: 10 to 40 ms for large ones."""
        if self.name and self._graph is not None and self._calls and not is_there(self.name, GRAPH):
            save(self.name, CachedKernel(self._way, self._body()), self._cache, make=False, suffix=GRAPH)


class _Watch:
    """Those kernels of this process that are not optimised, and the thread that looks after them."""

    def __init__(self) -> None:
        self.kernels: WeakSet[FirstTier | SinglesFirst] = WeakSet()
        self.wanted = WantedKernels()
        self.in_hand: tuple[str, str | None] | None = None
        """The name and the cache of the kernel that the thread has claimed."""
        self.linking = threading.Lock()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._moment = MOMENT
        self._optimiser: Optimiser | None = None
        self.is_ended = False

    def add(self, kernel: FirstTier | SinglesFirst) -> None:
        with self._changed:
            self.kernels.add(kernel)
            if self._moment > MOMENT:  # else the thread looks soon, and to wake it would take a millisecond each time
                self._changed.notify()
            self.start()

    def start(self) -> None:
        if self._thread is None and self.kernels:
            self._moment = MOMENT
            self._thread = threading.Thread(target=self._look_after, name="polhode", daemon=True)
            self._thread.start()

    def _look_after(self) -> None:
        """What the thread does, until no kernel is left."""
        while True:
            with self._changed:
                if not self.kernels:
                    self._thread = None
                    return
                if self._changed.wait(self._moment):
                    self._moment = MOMENT
                kernels = [*self.kernels]
            used = any(kernel.was_used for kernel in kernels)
            self._moment = MOMENT if used else min(2 * self._moment, LONGEST_MOMENT)
            if self._moment == LONGEST_MOMENT:
                self._end_process()
            for kernel in kernels:
                if kernel.is_hot() and self._optimise(kernel):
                    self.kernels.discard(kernel)
                    self.wanted.discard(kernel.name)

    def _optimise(self, kernel: FirstTier | SinglesFirst) -> bool:
        """Whether no more is to be done about it; what fails is told, and the kernel stays as it is."""
        try:
            return kernel.optimise(self._process)
        except (OptimiserError, RuntimeError, OSError) as fault:
            if self.is_ended:
                return True
            self._end_process()
            fix = f"Results are the same, and runs slower. {SWITCH}={FIRST} optimises kernels before they are used."
            warnings.warn(f"A kernel could not be optimised: {fault}. {fix}", PolhodeWarning, stacklevel=1)
            return True

    def _process(self) -> Optimiser:
        self._optimiser = self._optimiser or Optimiser()
        return self._optimiser

    def _end_process(self) -> None:
        if self._optimiser:
            self._optimiser.end()
            self._optimiser = None

    def leave(self) -> None:
        """Leave the other process alone: it ends when it has finished what it has in hand."""
        if self._optimiser:
            self._optimiser.leave()

    def end(self) -> None:
        """Before the interpreter goes: no code is linked any more."""
        self.is_ended = True
        self.linking.acquire()
        if self.in_hand and not (self._optimiser and self._optimiser.is_asked):  # nobody else will end the claim
            release(*self.in_hand)
        self.leave()
        for kernel in [*self.kernels]:
            if isinstance(kernel, SinglesFirst):
                kernel.leave_graph()
        self.wanted.hand_on()


_watch = _Watch()


def watch(kernel: FirstTier | SinglesFirst, from_disk: bool) -> None:
    """Have a kernel optimised where it turns out to be used for long.

    from_disk  whether an earlier process left what it is made of: then it is used again and again, and is optimised at
               the end of this one
    """
    _watch.add(kernel)
    if from_disk and kernel.name:
        _watch.wanted.add(kernel.name, os.environ.get("POLHODE_CACHE"), isinstance(kernel, SinglesFirst))


def _in_child() -> None:
    """A forked process has neither the thread nor the other process of its parent; it looks after its own copies."""
    global _watch
    _watch.leave()
    kernels, _watch = [*_watch.kernels], _Watch()
    _watch.kernels.update(kernels)
    _watch.start()


def _before_fork() -> None:
    """No fork while code is linked: a child would find LLVM's lock held for ever."""
    _watch.linking.acquire()


def _in_parent() -> None:
    _watch.linking.release()


def _at_exit() -> None:
    _watch.end()  # that of now: a forked process has another


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
