"""How modules of ours are loaded: some at their first use, all of them without the garbage collector.

    from polhode.simulation.derivatives import sensitivity      # a module of DEFERRED: nothing of it is read
    sensitivity.Sensitivities(run)                              # now it is

A module of DEFERRED is imported as a whole and used within functions, so that a plain run never loads it; annotations
name it in quotes. A test checks both, and that the list is what a plain run can do without.
"""

import gc
import os
import sys
from _thread import RLock, allocate_lock
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType, TracebackType
from typing import Any, TypeVar

C = TypeVar("C")

DEFERRED = frozenset(
    f"polhode.{name}"
    for name in (
        "dynamics.absolute",
        "dynamics.covariant",
        "dynamics.fundamental",
        "dynamics.large_trees.christoffel_loops",
        "dynamics.large_trees.coriolis_loops",
        "dynamics.large_trees.derivatives",
        "dynamics.large_trees.one_velocity_loops",
        "dynamics.large_trees.subtree_rows",
        "dynamics.mass_inverse",
        "formats.beam_entries",
        "formats.modal_entries",
        "formats.schema",
        "formats.xml_guard",
        "kernel.backends.c",
        "model.beams.beam",
        "model.beams.section",
        "model.differences",
        "model.edits.append",
        "model.edits.base",
        "model.edits.lock",
        "model.edits.merge",
        "model.edits.mirror",
        "model.edits.named_frames",
        "model.edits.scale",
        "model.edits.subtree",
        "model.modal.body",
        "model.other_numbers",
        "simulation.by_form.form_names",
        "simulation.by_form.form_run",
        "simulation.derivatives.replayed_steps",
        "simulation.derivatives.sensitivity",
        "simulation.sundials_run",
    )
)
"""Modules that are loaded at their first use."""


SPARED = 3_000_000
"""Objects that the collector is spared in a process: those of the first runs of several large machines, some 300 MB if
all of them were lost in cycles."""


class collection_paused:
    """A block in which Python's garbage collector looks for no cycles; of several, until the last ends.

    A trace makes millions of tuples, none of them in a cycle, and so do imports: to look through them all, again and
    again, takes a fifth of the time. So that they are not looked through at the end of the block either, all objects
    that there are then count as old ones, which the collector looks at seldom. A program that makes kernels for long
    may make cycles between these blocks: beyond a number of objects (`SPARED`) it looks at new ones as ever.
    """

    spared = 0
    _lock = allocate_lock()
    _inside: list[bool] = []  # noqa: RUF012 - for each block under way, in any thread, whether collection was on before

    def __enter__(self) -> None:
        with self._lock:
            self._inside.append(gc.isenabled())
            gc.disable()

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        with self._lock:
            before = self._inside.pop(0)
            if self._inside:
                self._inside[0] = self._inside[0] or before
            elif before:
                spared = collection_paused.spared + gc.get_count()[0]
                if spared <= SPARED and not gc.get_freeze_count():
                    collection_paused.spared = spared
                    gc.freeze()
                    gc.unfreeze()  # into the oldest generation
                else:  # what the program froze stays frozen; to ask again would count all of it each time
                    collection_paused.spared = SPARED + 1
                gc.enable()


def imported(address: str) -> ModuleType:
    """A module, first imported without the garbage collector, which took a fifth of the time and found nothing."""
    if address in sys.modules:
        return import_module(address)
    with collection_paused():
        return import_module(address)


class NamedClasses(MutableMapping[str, type[C]]):
    """Classes by name, each given as itself, or as "module:Class", which is imported when it is first asked for."""

    def __init__(self, given: Mapping[str, str | type[C]]) -> None:
        self._given: dict[str, str | type[C]] = {**given}

    def __getitem__(self, name: str) -> type[C]:
        found = self._given[name]
        if isinstance(found, str):
            module, _, of_class = found.partition(":")
            made: type[C] = getattr(imported(module), of_class)
            self._given[name] = made
            return made
        return found

    def __setitem__(self, name: str, value: type[C]) -> None:
        self._given[name] = value

    def __delitem__(self, name: str) -> None:
        del self._given[name]

    def __contains__(self, name: object) -> bool:
        return name in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


class DeferredModule(ModuleType):
    """A module of which nothing is read yet; when it is, it becomes a plain one."""

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("__"):
            _load(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("__"):
            _load(self)
        ModuleType.__setattr__(self, name, value)

    def __dir__(self) -> list[str]:
        _load(self)
        return [*ModuleType.__dir__(self)]


_loading: set[str] = set()
"""The names of the modules that this thread, which holds the lock, is loading."""


def _load(module: ModuleType) -> None:
    """Load a deferred module; a thread that asks for it meanwhile waits."""
    with DeferredModules.lock:
        name = module.__name__
        if type(module) is ModuleType or name in _loading:
            return
        assert module.__spec__ is not None
        assert module.__spec__.loader is not None
        _loading.add(name)
        try:
            with collection_paused():
                module.__spec__.loader.exec_module(module)
        finally:
            _loading.discard(name)
        module.__class__ = ModuleType


def _after_fork() -> None:
    """A thread that held a lock is not there in a child: what it was loading is loaded again there."""
    DeferredModules.lock = RLock()
    _loading.clear()
    collection_paused._lock = allocate_lock()


class DeferredModules:
    """The finder and loader of DEFERRED.

    Its kin in the standard library, `importlib.util.LazyLoader`, loads a module when it is imported a second time, and
    lets other threads see one that is half loaded.
    """

    lock = RLock()

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """A spec for a deferred module; None for all others."""
        found = PathFinder.find_spec(name, path) if name in DEFERRED else None
        if found is not None:
            found.loader_state, found.loader = found.loader, self  # type: ignore[assignment]
        return found

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module, nothing of it read."""
        return DeferredModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Put the loader of its file in its place, and read nothing."""
        spec = module.__spec__
        assert spec is not None
        spec.loader, spec.loader_state = spec.loader_state, None
        module.__loader__ = spec.loader


def install() -> None:
    """Ask for deferred modules first."""
    if not any(isinstance(finder, DeferredModules) for finder in sys.meta_path):
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_after_fork)
        sys.meta_path.insert(0, DeferredModules())
