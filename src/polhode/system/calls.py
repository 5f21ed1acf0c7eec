"""The arguments of a System's calls: checked where they enter, named one by one, and put together again.

Every argument is a named array with its own axes last: q, v, t, "wrench.hand.force",
"parameters.bodies.arm.mass". Targets see these names only.
"""

import re
from collections.abc import Callable, Mapping
from operator import index
from typing import Any, NamedTuple

import numpy as np

from polhode.dynamics.arguments import Arguments
from polhode.errors import InputError, UnknownNameError, message
from polhode.model import Model, Tree, make_tree
from polhode.model.description import named_parameters
from polhode.model.tree import unknown_number
from polhode.scalar import Array, as_array, batch_shape, shown

FLOAT = np.dtype(np.float64)

_PLACE = re.compile(r"(\.\d+){1,2}")
"""The end of a path: the place of a number in a vector or a matrix."""


class Call(NamedTuple):
    """One call: its arrays by name, how many of their last axes are their own, the batch axes they share.

    out      where results go, None for new arrays
    threads  how many threads may share a batch
    """

    arrays: dict[str, Any]
    depths: dict[str, int]
    batch: tuple[int, ...]
    out: Any = None
    threads: int = 1

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The own shape of each argument."""
        return {name: array.shape[array.ndim - self.depths[name] :] for name, array in self.arrays.items()}

    @property
    def outline(self) -> "Call":
        """The same names and shapes, for one state at zero: what a graph depends on, and no more."""
        return Call({name: np.zeros(shape) for name, shape in self.shapes.items()}, self.depths, ())


Converter = Callable[[str, Array, tuple[int, ...]], Any]
"""Makes an array of a target from an argument: (where, value, shape of its last axes), or raises an InputError."""


def checked_call(
    model: Model, parameters: tuple[str, ...], name: str, given: Mapping[str, Array], options: dict, convert: Converter
) -> Call:
    """Check shapes and kinds (not values) of everything a call was given; `options` are used up."""
    sizes = {"q": model.nq, "q1": model.nq, "point": 3}
    own: dict[str, tuple[Any, tuple[int, ...]]] = {n: (x, (sizes.get(n, model.nv),)) for n, x in given.items()}
    own["t"] = options.pop("t", 0.0), ()
    for body, pair in _mapping(f"{name}, wrench", options.pop("wrench", None), "{body: (force, couple)}").items():
        model.body(body)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(message(f"{name}, wrench on '{body}'", "not a pair", shown(pair), "(force, couple)"))
        own[f"wrench.{body}.force"], own[f"wrench.{body}.couple"] = (pair[0], (3,)), (pair[1], (3,))
    values = _mapping(f"{name}, parameters", options.pop("parameters", None), "{path: value}")
    for path in values:
        if path not in parameters:
            expected = ", ".join(map(repr, parameters)) or "none: name them in ph.compile(…, parameters=[…])"
            raise UnknownNameError(message(f"{name}, parameters", "not an input", repr(path), expected))
    for path in parameters:
        default = own_value(model, path)
        own[f"parameters.{path}"] = values.get(path, default), np.shape(default)
    out, threads = options.pop("out", None), thread_count(name, options.pop("threads", 1))
    if options:
        raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(options))!r}")
    arrays = {n: convert(f"{name}, argument {n}", value, shape) for n, (value, shape) in own.items()}
    depths = {n: len(shape) for n, (_, shape) in own.items()}
    batch = batch_shape(name, {n: a.shape[: a.ndim - depths[n]] for n, a in arrays.items()})
    return Call(arrays, depths, batch, out, threads)


def _mapping(where: str, value: Any, expected: str) -> Mapping:
    """A mapping that was given, empty for None; or an InputError."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(message(where, "not a mapping", shown(value), expected))
    return value


def real_array(where: str, value: Array, shape: tuple[int, ...]) -> np.ndarray:
    """An argument as an array of float64, the very same if it is one; an InputError if it cannot be."""
    if type(value) is np.ndarray and value.dtype is FLOAT and value.shape[value.ndim - len(shape) :] == shape:
        return value
    array = as_array(where, value, shape, finite=False)
    if array.dtype.kind != "f":
        raise InputError(message(where, "not real numbers", str(array.dtype), "real numbers"))
    return array.astype(np.float64, copy=False)


def thread_count(where: str, threads: Any) -> int:
    """A number of threads, or an InputError."""
    try:
        count = 0 if isinstance(threads, bool) else index(threads)
    except TypeError:
        count = 0
    if count < 1:
        fix = "One thread is the default; more serve large batches."
        raise InputError(message(f"{where}, threads", "not a number of threads", repr(threads), "1, 2, 3, …", fix))
    return count


def arguments(model: Model, tree: Tree, scalars: Mapping[str, Any]) -> Arguments:
    """The arguments as physics takes them, from scalars by name; parameters make the tree anew."""
    known: dict[str, Any] = {n: x for n, x in scalars.items() if "." not in n}
    values = {n.removeprefix("parameters."): x for n, x in scalars.items() if n.startswith("parameters.")}
    loads = [n.removesuffix(".force") for n in scalars if n.startswith("wrench.") and n.endswith(".force")]
    bodies = [n.removeprefix("wrench.") for n in loads]
    wrench = {body: (scalars[f"wrench.{body}.force"], scalars[f"wrench.{body}.couple"]) for body in bodies}
    return Arguments(make_tree(model, values) if values else tree, wrench=wrench, **known)


def own_value(model: Model, path: str) -> Any:
    """The model's own value of a path: a number, a vector, a matrix, or a Parameter's value."""
    numbers = model.numbers()
    if not isinstance(path, str):
        raise unknown_number(model, path)
    if path in numbers:
        return numbers[path]
    below = [value for key, value in numbers.items() if _PLACE.fullmatch(key.removeprefix(path))]
    if below:
        return tuple(np.reshape(below, (3, 3)).tolist()) if len(below) == 9 else tuple(below)
    for parameter in named_parameters(model):
        if parameter.name == path:
            return parameter.value
    raise unknown_number(model, path)


def into(name: str, out: Any, result: Any) -> Any:
    """Write a result into the caller's array (or arrays) and hand that back."""
    if isinstance(result, tuple):
        if not isinstance(out, tuple) or len(out) != len(result):
            found, expected = type(out).__name__, f"a tuple of {len(result)} arrays"
            raise InputError(message(f"{name}, argument out", "not as many arrays", found, expected))
        return type(result)(*(into(name, o, r) for o, r in zip(out, result, strict=True)))
    shape = np.shape(result)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.float64:
        found = f"{type(out).__name__} of shape {getattr(out, 'shape', None)}"
        raise InputError(message(f"{name}, argument out", "does not fit", found, f"a float64 array of shape {shape}"))
    if not out.flags.writeable:
        raise InputError(message(f"{name}, argument out", "cannot be written", "a read-only array", "one to write to"))
    out[...] = result
    return out
