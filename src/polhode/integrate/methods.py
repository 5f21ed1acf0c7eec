"""All methods by name."""

from difflib import get_close_matches

from polhode.errors import UnknownNameError, message
from polhode.integrate.explicit import EXPLICIT
from polhode.integrate.implicit import IMPLICIT
from polhode.integrate.lie import LIE
from polhode.integrate.method import Method
from polhode.integrate.structure import STRUCTURE

METHODS: dict[str, Method] = {method.name: method for method in (*EXPLICIT, *LIE, *STRUCTURE, *IMPLICIT)}
"""Every method of integration."""

methods = METHODS
"""The same, as `ph.methods`."""


def method_named(name: str) -> Method:
    """The method of a name, or an error that lists them."""
    if isinstance(name, str) and name in METHODS:
        return METHODS[name]
    near = get_close_matches(name, METHODS, 2, 0.5) if isinstance(name, str) else []
    fix = f"Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise UnknownNameError(message("method", "no such method", repr(name), f"one of {', '.join(METHODS)}", fix))
