"""The method of a quantity of a body, once kernels are there: from its arguments to the built-in with one look-up."""

from collections.abc import Callable
from functools import update_wrapper
from inspect import signature
from sys import intern
from typing import Any, NamedTuple

from polhode.system.quantity import Quantity

TEXT = """
def call({arguments}, **options):
    try:
        direct = built_ins{keys}
    except (KeyError, TypeError):  # not called before, or no name at all
        pass
    else:
        return direct({arrays}, **options) if options else direct({arrays})
    return method({given}, **options)
"""
"""Written out for each signature: arguments that are gathered and spread again cost more than the kernel does."""


def put(built_ins: dict[str, Any], direct: Callable, body: str, *words: str) -> None:
    """Enter the built-in of a body and words, as `body_call` looks it up: tables of tables, by words, then by body.

    A key of several names would have to be made, hashed and compared in each call: 50 ns of 290.
    """
    for word in words:
        built_ins = built_ins.setdefault(word, {})
    built_ins[body] = direct


MOST_SPOKEN = 4
"""Bodies and words of a quantity whose calls are compared with one after the other, in machine code, before a look-up:
each comparison takes about 5 ns."""


class SpokenCall(NamedTuple):
    """How one built-in is called by name: arrays, the body, and a word by keyword where it is not the default."""

    before: int
    """Arrays before the body."""
    names: tuple[str, ...]
    """The body; the keyword and its word."""
    of_point: bool
    """Whether a point follows that is not given."""


def spoken_call(quantity: Quantity, method: Callable, body: str, *words: str) -> SpokenCall | None:
    """How a method is called for a body and words; None where two words are not the default."""
    parameters = signature(method).parameters
    given = [(c, w) for c, w in zip(quantity.choices, words, strict=True) if w != parameters[c].default]
    if len(given) > 1:
        return None
    names = (body, *(intern(part) for pair in given for part in pair))
    return SpokenCall([*parameters].index("body") - 1, names, "point" in parameters)


def body_call(quantity: Quantity, method: Callable, built_ins: dict[str, Any], origin: Any) -> Callable:
    """A method of the same signature that calls the built-in of the body and words it is given; without one, `method`.

    method     of the class: what takes arguments of any kind, and binds the built-ins
    built_ins  those of the quantity, as `put` enters them
    origin     the point that is meant where none is given, as built-ins take it
    """
    parameters = [p for p in signature(method).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    names = [p.name for p in parameters]
    words = ["body", *quantity.choices]
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    if "point" in defaults:
        defaults["point"] = origin
    text = TEXT.format(
        arguments=", ".join(f"{name}=defaults[{name!r}]" if name in defaults else name for name in names),
        keys="".join(f"[{word}]" for word in (*quantity.choices, "body")),
        given=", ".join(names),
        arrays=", ".join(name for name in names[1:] if name not in words),
    )
    made: dict[str, Any] = {"method": method, "built_ins": built_ins, "defaults": defaults}
    exec(text, made)
    return update_wrapper(made["call"], method)
