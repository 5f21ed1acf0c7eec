"""All methods by name."""

from polhode.errors import UnknownNameError, did_you_mean, message
from polhode.integrate.explicit import EXPLICIT
from polhode.integrate.extrapolation import SEULEX
from polhode.integrate.implicit import IMPLICIT
from polhode.integrate.lie import LIE
from polhode.integrate.method import Method
from polhode.integrate.radau import RADAU
from polhode.integrate.structure import STRUCTURE

METHODS: dict[str, Method] = {method.name: method for method in (*EXPLICIT, *LIE, *STRUCTURE, *IMPLICIT, RADAU, SEULEX)}
"""Every method of integration."""

ADAPTIVE = tuple(name for name, method in METHODS.items() if method.adaptive)
"""The methods that control their own step size."""

methods = METHODS
"""The same, as `ph.methods`."""


def method_named(name: str) -> Method:
    """The method of a name, or an error that lists them."""
    if isinstance(name, str) and name in METHODS:
        return METHODS[name]
    fix = did_you_mean(name, METHODS, most=2)
    raise UnknownNameError(message("method", "no such method", repr(name), f"one of {', '.join(METHODS)}", fix))
