"""Old addresses of modules: an import by one gives the module at its present address, with a DeprecationWarning."""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "polhode.assemble.analysis": "polhode.analysis.steady",
    "polhode.assemble.compare": "polhode.papers.compare",
    "polhode.assemble.equations": "polhode.equations_of_motion.equations",
    "polhode.assemble.simulate": "polhode.simulation.simulate",
    "polhode.assemble.single": "polhode.papers.single_body",
    "polhode.assemble.system": "polhode.system.system",
    "polhode.dynamics.chain": "polhode.papers.chain",
    "polhode.ensemble.store": "polhode.ensemble.on_disk.store",
    "polhode.show.plot": "polhode.show.plots.kinds",
}
"""Modules that examples or documents named, by their old address."""


class MovedModules:
    """The finder and loader of modules that have moved.

    It derives from no class of `importlib.abc`, whose import would take longer than that of this package.
    """

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """A spec for an old address, or for a package that only held some; None for all other modules."""
        if name in MOVED or any(old.startswith(f"{name}.") and not _exists(name) for old in MOVED):
            return ModuleSpec(name, self, is_package=name not in MOVED)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module at its present address; an empty one for a package that is gone."""
        if spec.name not in MOVED:
            return None
        new = MOVED[spec.name]
        warnings.warn(f"{spec.name} is now {new}", DeprecationWarning, stacklevel=2)
        found = import_module(new)
        spec.loader_state = found.__spec__
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is executed twice; the module keeps the spec of its present address."""
        state = module.__spec__.loader_state if module.__spec__ else None
        if state is not None:
            module.__spec__ = state


def _exists(name: str) -> bool:
    return name in sys.modules and not isinstance(getattr(sys.modules[name].__spec__, "loader", None), MovedModules)


def install() -> None:
    """Ask for old addresses where no module is found at one."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.append(MovedModules())
