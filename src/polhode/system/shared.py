"""Systems that several parts of the program ask for: one for each model and policy, its kernels linked once."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from polhode.constrain.constraint_policy import ConstraintPolicy
from polhode.model import Model
from polhode.model.per_model_cache import once_each
from polhode.system.identity import identity_text
from polhode.system.system import System

T = TypeVar("T")


def shared_system(model: Model, policy: ConstraintPolicy, quick: bool = True) -> System:
    """The System of a model on this processor; a new one where user functions are in it, which may have changed.

    quick  whether it is asked for single states a few times only, as checks do: their kernels are made in less time
    """
    make = _kept if identity_text(model) else _made
    return make(model, policy.engine, policy.rank_tolerance, policy.baumgarte, quick)


def _made(
    model: Model, engine: str, rank_tolerance: float, baumgarte: tuple[float, float] | None, quick: bool
) -> System:
    return System(model, engine=engine, rank_tolerance=rank_tolerance, baumgarte=baumgarte, quick=quick)


_kept = once_each(_made)


def once_per_system(function: Callable[[System], T]) -> Callable[[System], T]:
    """A function of a System that is called once for the same one."""
    known: WeakKeyDictionary[System, T] = WeakKeyDictionary()

    @wraps(function)
    def again(system: System) -> T:
        try:
            return known[system]
        except KeyError:
            found = known[system] = function(system)
            return found

    return again
