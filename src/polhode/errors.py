"""The errors of this package: each message says where, what was found, what was expected, what to do."""

from pathlib import Path
from traceback import extract_tb


class PolhodeError(Exception):
    """Anything this package raises on purpose."""


class InputError(PolhodeError, ValueError):
    """An argument is not what the function needs."""


class UnknownNameError(InputError, KeyError):
    """A name that is not in a table of names."""

    __str__ = Exception.__str__  # KeyError would show the message quoted, on one line


class GimbalLockError(InputError):
    """Three angles cannot describe this attitude, or its rates, uniquely."""


class ModelError(PolhodeError, ValueError):
    """A body, a joint or a whole model is not valid."""


class PolhodeWarning(UserWarning):
    """Something was accepted that a user should know of."""


class CompileError(PolhodeError):
    """A function cannot be turned into a kernel."""


class IntegrationError(PolhodeError):
    """A motion could not be followed to its end."""


def told(error: BaseException) -> str:
    """What a function of a user's raised, and where."""
    frame = extract_tb(error.__traceback__)[-1]
    return f"raised {type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno}, in {frame.name})"


def message(where: str, what: str, found: str, expected: str, fix: str = "") -> str:
    """One text of the form every error here has.

    where     the function, file or object
    what      the fault, in half a sentence
    found     what was given
    expected  what would have been right
    fix       the likely remedy
    """
    lines = [f"{where}: {what}.", f"  found {found}; expected {expected}."]
    return "\n".join([*lines, f"  {fix}"] if fix else lines)
