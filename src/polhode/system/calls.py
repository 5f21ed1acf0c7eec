"""The arguments of a System's calls, checked where they enter."""

import re
from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any

import numpy as np

from polhode.errors import InputError, UnknownNameError, message
from polhode.kernel.backends.base import Call
from polhode.model import Model
from polhode.model.layout import LAYOUTS, layout_text, spelled_out
from polhode.model.numbers import named_parameters
from polhode.model.tree import unknown_number
from polhode.scalar import Array, batch_shape, shown
from polhode.system.quantity import FIELDS, NUMBERS, Argument, Quantity, SystemSpec

_PLACE = re.compile(r"(\.\d+){1,2}")
"""The end of a path: the place of a number in a vector or a matrix."""

Converter = Callable[[str, Array, tuple[int, ...]], Any]
"""Makes an array of a backend from an argument: (where, value, shape of its last axes), or raises an InputError."""


def checked_call(
    spec: SystemSpec,
    parameters: Mapping[str, Any],
    quantity: Quantity,
    values: Sequence[Array],
    options: dict[str, Any],
    convert: Converter,
) -> Call:
    """Check shapes and kinds (not values) of all arguments of a call; `options` are emptied.

    parameters  the model's own values, by path
    """
    model, name = spec.model, quantity.name
    given = dict(zip(quantity.arguments, values, strict=True))
    given[Argument("t")] = options.pop("t", 0.0)
    for body, pair in _mapping(f"{name}, wrench", options.pop("wrench", None), "{body: (force, couple)}").items():
        model.frame(body)  # refuses unknown names
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(message(f"{name}, wrench on '{body}'", "not a pair", shown(pair), "(force, couple)"))
        given[Argument("force", body)], given[Argument("couple", body)] = pair
    own = {argument: (value, spec.shape(FIELDS[argument.field])) for argument, value in given.items()}
    numbers = _mapping(f"{name}, parameters", options.pop("parameters", None), "{path: value}")
    for path in numbers:
        if path not in parameters:
            expected = ", ".join(map(repr, parameters)) or "none: name them in ph.compile(…, parameters=[…])"
            raise UnknownNameError(message(f"{name}, parameters", "not an input", repr(path), expected))
    for path, default in parameters.items():
        own[Argument("parameter", path)] = numbers.get(path, default), np.shape(default)
    if spec.inputs:
        own[NUMBERS] = spec.inputs.values, spec.inputs.values.shape
    out, threads = options.pop("out", None), thread_count(name, options.pop("threads", 1))
    if options:
        raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(options))!r}")
    arrays = {a: _array(model, f"{name}, argument {a}", a, value, shape, convert) for a, (value, shape) in own.items()}
    depths = {a: len(shape) for a, (_, shape) in own.items()}
    batch = batch_shape(name, {str(a): array.shape[: array.ndim - depths[a]] for a, array in arrays.items()})
    return Call(arrays, depths, batch, out, threads)


def _array(model: Model, where: str, argument: Argument, value: Any, shape: tuple[int, ...], convert: Converter) -> Any:
    """An argument as an array of a backend; numbers by joint, and errors that tell the layout, where it has one."""
    if argument.field not in LAYOUTS:
        return convert(where, value, shape)
    if isinstance(value, (Mapping, str)):
        value = spelled_out(where, model, argument.field, value)
        if isinstance(value, np.ndarray) and value.ndim == 1:
            value = value.tolist()  # a GPU takes lists, and arrays of its own alone
    try:
        return convert(where, value, shape)
    except InputError as error:
        if getattr(value, "shape", ())[-1:] == shape:  # as many numbers as there are: something else is wrong
            raise
        raise InputError(f"{error}\n  {layout_text(model, argument.field)}") from None


def _mapping(where: str, value: Any, expected: str) -> Mapping:
    """A mapping that was given, empty for None; or an InputError."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(message(where, "not a mapping", shown(value), expected))
    return value


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
