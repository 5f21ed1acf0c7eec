"""Source → callable: LLVM compiles a graph for this machine, NumPy broadcasts it over batches."""

import ctypes
import hashlib
import json
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import CompileError, escaped
from polhode.kernel.ahead import begun, make_next
from polhode.kernel.backends.llvm.builtin_text import entry_text
from polhode.kernel.backends.llvm.cpython_call import builtin, fits, is_switched_on
from polhode.kernel.backends.llvm.module import Modules, SharedModule, header, modules
from polhode.kernel.backends.llvm.object_parts import divided, is_object, joined
from polhode.kernel.backends.llvm.optimiser import object_code
from polhode.kernel.backends.llvm.small_code import small_code
from polhode.kernel.backends.llvm.target_machine import FULL, QUICK, lanes, linker, machine, processor_identity
from polhode.kernel.backends.llvm.two_tiers import FIRST, LATER, NEVER, FirstTier, SinglesFirst, watch, when
from polhode.kernel.cache import CachedKernel, is_there, key as cache_key, load, save
from polhode.kernel.graph import Graph
from polhode.kernel.interrupt import interruptible
from polhode.kernel.lru_cache import LruCache
from polhode.kernel.routine import routines
from polhode.kernel.schedule import fused
from polhode.kernel.stage_clock import stage
from polhode.loading import collection_paused

with suppress(ImportError):  # `_new_machine` says so
    import llvmlite.binding  # noqa: F401 - here while nobody collects garbage: see polhode.__init__

SYMBOL, ENTRY, SEAL = "kernel", "entry", "seal"
"""The names of the compiled loop, of the built-in around it, and of the digest of its facts, in their object code."""

TIME = "t"
"""The last input of a kernel that has a built-in, which takes it as 0."""

_numbers = count()

SHORT_TEXT = 400_000
"""Characters of a kernel's text up to which it is optimised before its first use, where somebody may time its calls:
that takes 0.15 s at most (quantities of `arm-7` 0.05 to 0.15 s, 0.02 to 0.05 s quickly), and what is timed is what it
stays. Kernels of whole runs, of which there are many and none is timed alone, have no such limit."""

FEW = 7000
"""Operations of a kernel for the batches of a run up to which it is in lanes at once. A closed chain of ten links (two
of 6,900 and 6,500) takes 0.1 s longer to compile so, and each of its runs 0.06 s less, of 0.13 s; `bicycle` (one of
6,300) 0.05 s longer, and 0.01 s less. Of `stewart-platform` (25,000) samples take 0.52 and 0.03 s, and 1,001 of them 8
and 40 ms."""

LONG_TEXT, OF_LONG = 1_500_000, 1
"""Characters of a kernel's text above which it is compiled at a level below FULL, and that level: without scheduling
after registers are given out, which the processor does itself. Steps of `stewart-platform` and of `n-four-bar-40` take
0.76 and 0.65 times as long to compile, and derivatives of a quadruped 0.84 times; their run times are the same."""

_kept: LruCache["Kernel"] = LruCache(64)
"""Kernels that stay in memory for whoever asks for them by name."""

_singles: LruCache[Any] = LruCache(64)
"""Kernels for batches that go state by state so far, for whoever asks for them by name."""

_shared_code: LruCache[tuple[bytes, bytes]] = LruCache(32)
"""Object code and bitcode of routines that several kernels share, a megabyte or less each."""

UFUNC_FROM_SIGNATURE = 31
"""The place of PyUFunc_FromFuncAndDataAndSignature in NumPy's table of C functions."""


class CompiledAs(NamedTuple):
    """How a graph is compiled: all but the graph that its object code depends on."""

    width: int
    """Lanes."""
    fast: bool
    """Whether sums and products may be reassociated."""
    quick: bool
    """Whether it is called a few times only: compiled in less time, to slower code."""
    single: bool
    """Whether there is a function for one state beside that of the lanes. Without, kernels of samples compile in 0.46
    to 0.70 of the time (`bicycle`, `stewart-platform`), and what is left of a batch takes the time of all lanes."""

    @property
    def has_tiers(self) -> bool:
        """Whether it may be used before it is optimised: where sums are reassociated, other code has other bits."""
        return not self.quick and not self.fast


ALONE = CompiledAs(width=1, fast=False, quick=True, single=True)
"""Kernels of a run that go state by state, until there are some in lanes."""


@dataclass(frozen=True)
class Kernel:
    """A compiled graph: call it with arrays in the order of its inputs, with any leading batch axes."""

    facts: dict[str, Any]
    """The shapes of its arguments and results, its lanes, how it was compiled: plain data."""
    ufunc: Any
    loop: int
    """Address of the compiled loop, with the signature of a ufunc's."""
    entry: int
    """Address of the built-in's function; 0 where there is none."""
    _graph: Callable[[], Graph] = field(repr=False, compare=False)
    _kept: tuple = field(repr=False, compare=False)
    bound: tuple[np.ndarray, ...] = field(default=(), repr=False, compare=False)
    """Its last arguments, where they are the same in every call: nobody gives them."""

    @cached_property
    def largest(self) -> int:
        """Numbers of one state in its largest result."""
        return max(map(math.prod, self.facts["outputs"]), default=0)

    @cached_property
    def rows(self) -> list[tuple[tuple[int, ...], int]]:
        """The shape and the size of one state's part of each argument and result."""
        shapes = [*self.facts["inputs"], *self.facts["outputs"]]
        return [(tuple(shape), math.prod(shape)) for shape in shapes]

    @property
    def graph(self) -> Graph:
        """The graph it was compiled from, products fused; traced again where the kernel came from disk."""
        return self._graph()

    @property
    def source(self) -> str:
        """The generated LLVM text, under a comment that says what it is."""
        graph = self.graph
        facts = self.facts
        way = CompiledAs(*[facts[name] for name in CompiledAs._fields])
        return header(graph) + "\n\n".join(_modules(graph, way).texts)

    def __call__(self, *arrays: Any) -> tuple:
        """The results, in the order of the graph's outputs."""
        found = self.ufunc(*arrays, *self.bound)
        return found if isinstance(found, tuple) else (found,)


def kernel_for(
    name: str,
    make: Callable[[], Graph],
    title: str,
    width: int | None = None,
    fast: bool = False,
    schedule: Callable[[Graph], Graph] = fused,
    quick: bool = False,
    keep: bool = False,
    single: bool = True,
    later: bool = False,
) -> Kernel:
    """The kernel of this name: from the disk if it is there, else traced, compiled and kept.

    name   a digest of all the graph depends on (`cache.key`); "" for a kernel that is not kept
    make   gives the graph; not called where the kernel is found
    title  what the comment above the generated text says it is; no part of what is compiled
    fast   whether sums and products may be reassociated
    schedule  from the graph to the one that is compiled
    quick  whether it is called a few times only: compiled in less time, to slower code
    keep   whether it stays in memory, for the next one that asks for this name
    single whether there is code of its own for one state: without, only batches are quick
    later  whether a small one, too, is used before it is optimised, as kernels of runs are: nobody times one call
    """
    width = lanes() if width is None else width
    way = CompiledAs(width, fast, quick, single or width == 1)
    full = _full_name(name, way)

    def scheduled() -> Graph:
        with stage("trace"):
            graph = replace(make(), name=title)
        with stage("schedule"):
            return schedule(graph)

    optimised = when() if way.has_tiers else FIRST
    make_kernel = partial(_loaded_or_compiled, full, scheduled, way, optimised, 0 if later else SHORT_TEXT)
    return _kept.get(full, make_kernel) if keep and full else make_kernel()


def batch_kernel_for(
    name: str, make: Callable[[], Graph], title: str, quick: bool = False, single: Kernel | None = None
) -> Kernel | SinglesFirst:
    """The kernel of this name for batches of states of a run: in lanes where it is small, where it is on disk, or where
    kernels are optimised first; else state by state, until it turns out to be used for long.

    name, make, title  as in `kernel_for`
    quick   whether that in lanes is compiled in less time, to slower code
    single  the kernel for one state, where there is one
    """
    way = CompiledAs(lanes(), fast=False, quick=quick, single=lanes() == 1)
    full = _full_name(name, way)

    @cache
    def traced() -> Graph:
        with stage("trace"):
            return make()

    def in_lanes() -> Kernel:
        return kernel_for(name, traced, title, way.width, quick=quick, keep=True, single=way.single, later=True)

    if when() == FIRST or way.width == 1 or (full and (_kept.knows(full) or is_there(full))):
        return in_lanes()

    def new() -> SinglesFirst | Kernel:
        alone = single or kernel_for(name, traced, title, ALONE.width, quick=ALONE.quick, keep=True, later=True)
        scheduled = cache(lambda: fused(replace(traced(), name=title)))
        link, is_traced = partial(_kernel_of, full, scheduled), traced.cache_info().currsize > 0
        found = SinglesFirst(full, alone, way._asdict(), traced, link, is_traced)
        if when() == LATER:
            watch(found, found.is_on_disk)
        return found

    known = bool(single) or bool(full and is_there(_full_name(name, ALONE)))
    with begun(f"{full} in lanes" if full else ""):
        if not known and _operations(traced()) <= FEW:
            return in_lanes()
        return _singles.get(full, new) if full else new()


def _operations(graph: Graph) -> int:
    """The operations of a graph and of the routines that it calls, each counted once."""
    return graph.operations.total() + sum(routine.size for routine in routines(graph))


def _full_name(name: str, way: CompiledAs) -> str:
    """The name of a kernel on disk: of its graph, of how it is compiled, and of the machine; "" stays."""
    return cache_key(name, processor_identity(), *map(str, way)) if name else ""


def _kernel_of(full: str, scheduled: Callable[[], Graph], entry: CachedKernel) -> Kernel:
    """The kernel of object code that is optimised."""
    return _linked(full, entry, scheduled, FIRST)


def _loaded_or_compiled(
    full: str, scheduled: Callable[[], Graph], way: CompiledAs, optimised: str, short: int = 0
) -> Kernel:
    """The kernel of a name: from the disk if it is there, else compiled and kept there; "": compiled.

    optimised  when: a value of `two_tiers.SWITCH`
    short      characters of its text up to which it is optimised first in any case
    """
    entry = load(full) if full else None
    if entry is not None and _is_complete(entry.facts, way) and is_object(entry.image):
        try:
            if entry.bitcode and optimised == FIRST:
                entry = _optimised(full, entry)
            with stage("link"):
                return _linked(full, entry, scheduled, optimised, from_disk=True)
        except RuntimeError:  # not object code of this machine, or of another kernel
            pass
    with collection_paused(), begun(full):
        entry = _compiled(scheduled(), way, optimised, short)
    if full:
        save(full, entry)
    with stage("link"):
        return _linked(full, entry, scheduled, optimised)


def _is_complete(facts: dict[str, Any], way: CompiledAs) -> bool:
    """Whether facts from the disk are those that `_compiled` writes, each of its kind."""
    shapes = [facts.get("inputs"), facts.get("outputs")]
    if not all(isinstance(ports, list) and all(isinstance(shape, list) for shape in ports) for ports in shapes):
        return False
    lengths = [n for ports in shapes for shape in ports or () for n in shape]
    whole = all(type(n) is int and 0 <= n < 2**31 for n in lengths)
    entry = facts.get("entry")
    own = type(entry) is bool and (not entry or fits(facts))
    own = own and type(facts.get("level")) is int and facts["level"] in (QUICK, OF_LONG, FULL)
    same = all(type(facts.get(name)) is type(value) and facts[name] == value for name, value in way._asdict().items())
    return whole and own and same


def build(
    graph: Graph, width: int | None = None, fast: bool = False, quick: bool = False, single: bool = True
) -> Kernel:
    """The kernel of a graph, not kept: products fused, for `width` lanes (this processor's own unless given)."""
    way = CompiledAs(lanes() if width is None else width, fast, quick, single or width == 1)
    return _loaded_or_compiled("", lambda: fused(graph), way, FIRST)


def _modules(graph: Graph, way: CompiledAs) -> Modules:
    """The texts of a graph's modules."""
    return modules(graph.anonymous(), SYMBOL, way.width, way.fast, way.single, way.quick)


def _compiled(graph: Graph, way: CompiledAs, optimised: str = FIRST, short: int = 0) -> CachedKernel:
    """Object code of a graph, and the facts that a caller needs of it; bitcode with what is not optimised first."""
    text, shared, facts = _written(graph, way)
    length = len(text) + sum(len(module.text) for module in shared)
    at_once = optimised == FIRST or (optimised == LATER and length <= short)
    level = facts["level"] if at_once else QUICK

    def made() -> CachedKernel:
        found = [_module_code(text, level, not at_once)]
        for module in shared:  # the next kernel that calls it may be one that is optimised later
            own = max(level, OF_LONG) if module.busy and when() != NEVER else level
            again = partial(_module_code, module.text, own, level == QUICK)
            found.append(_shared_code.made_once((module.name, own, level), again))
        images, bitcodes = map(joined, zip(*found, strict=True))
        return CachedKernel(facts, images, b"" if at_once else bitcodes)

    try:
        with stage("LLVM"):
            return interruptible(made, make_next)
    except RuntimeError as error:
        raise CompileError(f"LLVM refused the kernel of {escaped(graph.name)}: {error}") from error


def compiled_graph(graph: Graph, way: CompiledAs) -> CachedKernel:
    """Object code of a graph as it was traced, at its usual level."""
    return _compiled(fused(graph), way)


def _written(graph: Graph, way: CompiledAs) -> tuple[str, tuple[SharedModule, ...], dict[str, Any]]:
    """The text of a kernel's own module, the modules that it shares with others, and its facts."""
    facts: dict[str, Any] = {
        **way._asdict(),
        "inputs": [list(port.shape) for port in graph.inputs],
        "outputs": [list(port.shape) for port in graph.outputs],
    }
    facts["entry"] = way.single and bool(graph.inputs) and graph.inputs[-1].name == TIME and fits(facts)
    with stage("text"):
        text, shared = _modules(graph, way)
    length = len(text) + sum(len(module.text) for module in shared)
    facts["level"] = QUICK if way.quick else OF_LONG if length > LONG_TEXT else FULL
    text += f"\n@{SEAL} = constant [32 x i8] [{', '.join(f'i8 {byte}' for byte in _digest(facts))}]\n"
    if facts["entry"]:
        text += entry_text(ENTRY, f"{SYMBOL}_1", facts["inputs"], facts["outputs"])
    return text, shared, facts


def _module_code(text: str, level: int, later: bool) -> tuple[bytes, bytes]:
    """The object code of a module, and its bitcode where that may be optimised later, else none."""
    module = _parsed(text)
    bitcode = module.as_bitcode() if later else b""
    return machine(level).emit_object(module), bitcode


def _parsed(text: str) -> Any:
    """LLVM's module of a text, verified."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    return module


def _optimised(full: str, entry: CachedKernel) -> CachedKernel:
    """The kernel of a name that another process has compiled quickly, optimised."""
    with stage("LLVM"):
        image = interruptible(lambda: object_code(entry.bitcode, entry.facts["level"]))
    found = CachedKernel(entry.facts, image)
    save(full, found)
    return found


def _digest(facts: dict[str, Any]) -> bytes:
    """A digest of the facts of a kernel: object code carries that of its own."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).digest()


def _linked(
    name: str, entry: CachedKernel, graph: Callable[[], Graph], optimised: str, from_disk: bool = False
) -> Kernel:
    """A callable of object code; that of code which is to be optimised goes by addresses that stay.

    Raises a RuntimeError for what is not object code, or not that of these facts.
    """
    loop, of_entry, kept = _addresses(entry)
    if entry.bitcode and optimised == LATER:
        tier = FirstTier(name, entry, (loop, of_entry, kept), _addresses)
        loop, of_entry, kept = tier.jumps.loop, tier.jumps.entry, tier
        watch(tier, from_disk)
    ufunc, more = _ufunc(entry.facts, loop)
    return Kernel(entry.facts, ufunc, loop, of_entry, graph, (kept, *more))


def _addresses(entry: CachedKernel) -> tuple[int, int, Any]:
    """The addresses of the loop and of the built-in's function, 0 for none, and what must live as long as they.

    Every kernel is a library of its own in the just-in-time linker.
    """
    import llvmlite.binding as llvm

    library = llvm.JITLibraryBuilder()
    for image in divided(entry.image):
        library.add_object_img(image)
    library.add_current_process().export_symbol(SYMBOL).export_symbol(SEAL)
    if entry.facts["entry"]:
        library.export_symbol(ENTRY)
    tracker = library.link(linker(), f"kernel {next(_numbers)}")
    if ctypes.string_at(tracker[SEAL], 32) != _digest(entry.facts):
        raise RuntimeError("the facts are those of another kernel")
    return tracker[SYMBOL], tracker[ENTRY] if entry.facts["entry"] else 0, tracker


def small_function(name: str, text: str) -> tuple[int, Any]:
    """The address of a function of a few lines, from the disk or compiled now, and what must live as long as it."""
    import llvmlite.binding as llvm

    library = llvm.JITLibraryBuilder().add_object_img(small_code(name, text)).add_current_process().export_symbol(name)
    tracker = library.link(linker(), f"{name} {next(_numbers)}")
    return tracker[name], tracker


def single_call(kernel: Kernel, name: str, fallback: Callable, record: type = tuple) -> Callable | None:
    """A built-in that takes one state at little overhead and hands all else to `fallback`; None if not to be had.

    record  the type of named tuples that several results come as
    """
    if not kernel.entry or not is_switched_on():
        return None
    return builtin(name, kernel.entry, kernel.facts, fallback, record, kernel)


def _ufunc(facts: dict[str, Any], address: int) -> tuple[Any, tuple]:
    """A NumPy gufunc around the compiled loop, and what must stay alive with it."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(_multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    n, total = len(facts["inputs"]), len(facts["inputs"]) + len(facts["outputs"])
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int] * 4,
        ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p,
    )(table[UFUNC_FROM_SIGNATURE])  # fmt: skip
    functions, data = (ctypes.c_void_p * 1)(address), (ctypes.c_void_p * 1)(None)
    types = (ctypes.c_char * total)(*[bytes([np.dtype(float).num])] * total)
    cores = [f"({','.join(map(str, shape))})" for shape in (*facts["inputs"], *facts["outputs"])]
    signature = f"{','.join(cores[:n])}->{','.join(cores[n:])}".encode()
    title = SYMBOL.encode()
    ufunc = make(functions, data, types, 1, n, total - n, -1, title, b"", 0, signature)
    return ufunc, (functions, data, types, signature, title)
