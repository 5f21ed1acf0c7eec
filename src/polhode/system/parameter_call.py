"""A quantity of a System with parameters, for one state: what follows from the parameters is kept from call to call."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from polhode.kernel.backends.base import FLOAT
from polhode.scalar import Array

NONE: dict[str, Any] = {}


class ParameterCall:
    """A method of a System: machine code for one state given as arrays, the checked call for all else.

    direct    the built-in, which takes what follows from the parameters behind the other arguments; NotImplemented
              where arguments are not just what kernels take
    kept      what follows from the parameters, of all their numbers (n,); None where that is not for the built-in
    checked   the call from arguments of any kind
    defaults  the model's own values, by path
    method    the System and the name of the method that it stands for
    """

    __slots__ = ("checked", "defaults", "direct", "kept", "last", "method")

    def __init__(
        self,
        direct: Callable,
        kept: Callable[[np.ndarray], np.ndarray | None],
        checked: Callable,
        defaults: Mapping[str, Any],
        method: tuple[Any, str],
    ) -> None:
        self.direct, self.kept, self.checked, self.method = direct, kept, checked, method
        self.defaults = {path: (np.shape(x), np.ravel(x).tolist()) for path, x in defaults.items()}
        self.last: tuple[Any, Any] = (None, None)
        """The parameters of the last call that had others than the one before, and what follows from them."""

    def __call__(self, *arrays: Array, parameters: Any = NONE, **options: Any) -> Any:
        """The quantity."""
        known, kept = self.last
        try:
            if parameters != known:
                kept = self._renewed(parameters)
        except ValueError:  # arrays are compared element by element
            kept = self._renewed(parameters)
        found = NotImplemented if kept is None else self.direct(*arrays, kept, **options)
        return self.checked(*arrays, parameters=parameters, **options) if found is NotImplemented else found

    def _renewed(self, parameters: Any) -> np.ndarray | None:
        """What follows from other parameters; None where they are no plain numbers of the right shapes."""
        if type(parameters) is not dict or not parameters.keys() <= self.defaults.keys():
            return None
        flat: list[float] = []
        for path, (shape, own) in self.defaults.items():
            value = parameters.get(path, own)
            if type(value) is float and not shape:
                flat.append(value)
            elif value is own:
                flat += own
            elif type(value) is np.ndarray and value.dtype is FLOAT and value.shape == shape:
                flat += value.ravel().tolist()
            elif type(value) in (list, tuple) and len(shape) == 1 and len(value) == shape[0]:
                if not all(type(x) is float for x in value):
                    return None
                flat += value
            else:
                return None
        kept = self.kept(np.array(flat) + 0.0)  # −0.0 is 0.0
        self.last = {path: x if type(x) is float else deepcopy(x) for path, x in parameters.items()}, kept
        return kept

    def __reduce__(self) -> tuple:
        return getattr, self.method
