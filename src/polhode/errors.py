"""The errors of this package: each message says where, what was found, what was expected, what to do."""

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from traceback import extract_tb
from types import FrameType, MappingProxyType


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


class NotPlainError(CompileError, TypeError):
    """A plain number was asked for where derivatives are taken: of a dual number."""


class IntegrationError(PolhodeError):
    """A motion could not be followed to its end."""


INSIDE = {"polhode", "dataclasses", "functools"}
"""Modules between a warning and the caller's code: this package, and those through which it calls itself."""


def warn_caller(text: str, category: type[Warning] = PolhodeWarning) -> None:
    """Give a warning at the line of the caller's code: of the first frame outside this package.

    Frames are told by their module, not by their file: the __init__ of a dataclass has none.
    """
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def told(error: BaseException) -> str:
    """What a function of a user's raised, and where."""
    frame = extract_tb(error.__traceback__)[-1]
    return f"raised {type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno}, in {frame.name})"


def defined_at(function: object) -> str:
    """The file and line at which a user function begins, in parentheses after a space; "" where none is known."""
    code = getattr(function, "__code__", None)
    return f" ({Path(code.co_filename).name}:{code.co_firstlineno})" if code else ""


NAME_LENGTH = 200
"""Characters that a name may have at most."""

NONE: Mapping[str, str] = MappingProxyType({})
"""No synonyms."""

NEAR = 0.5
"""Similarity (`difflib`, 0 to 1) from which a name is suggested for another: short names with one wrong letter are."""


def escaped(text: str) -> str:
    """Text from outside as it may stand in generated source, in a terminal, in a message: one line, nothing hidden.

    Every character that is not printable (line breaks, control and bidirectional characters, surrogates), every
    backslash and whatever begins or ends a comment or a trigraph in C becomes its code point, as in <U+000A>.
    """
    text = _named(text).replace("\\", "<U+005C>")
    for pair in ("*/", "/*", "??"):
        while pair in text:
            text = text.replace(pair, f"{pair[0]}<U+{ord(pair[1]):04X}>")
    return text


def fault_of_name(name: object) -> str:
    """What is wrong with a name, in half a sentence; "" for one line of 1 to 200 printable characters."""
    if not isinstance(name, str):
        return f"is {type(name).__name__}, not text"
    if not name:
        return "is empty"
    if len(name) > NAME_LENGTH:
        return f"has {len(name)} characters, {NAME_LENGTH} are the most"
    place = next((k for k, c in enumerate(name) if not c.isprintable()), None)
    return "" if place is None else f"has U+{ord(name[place]):04X} as character {place + 1}, which cannot be printed"


def check_name(where: str, kind: str, name: object, error: type[PolhodeError] = ModelError) -> None:
    """Raise an error unless a name is one line of 1 to 200 printable characters.

    where  the model, file or study
    kind   what is named: "body", "output"
    """
    if fault := fault_of_name(name):
        found = repr(name) if not isinstance(name, str) else f"'{escaped(name[:60])}'{'…' if len(name) > 60 else ''}"
        expected = f"one line of 1 to {NAME_LENGTH} printable characters"
        what = (
            f"a {kind} has no name"
            if name is None or (isinstance(name, str) and not name)
            else f"the name of a {kind} {fault}"
        )
        raise error(message(where, what, found, expected))


def message(where: str, what: str, found: str, expected: str, fix: str = "") -> str:
    """One text of the form every error here has.

    where     the function, file or object
    what      the fault, in half a sentence
    found     what was given
    expected  what would have been right
    fix       the likely remedy
    """
    lines = [f"{where}: {what}.", f"  found {found}; expected {expected}."]
    return _named("\n".join([*lines, f"  {fix}"] if fix else lines), keep="\n")  # nothing that a terminal obeys


def did_you_mean(
    name: object,
    known: Iterable[str],
    otherwise: str = "",
    *,
    most: int = 1,
    shown: Callable[[str], str] = str,
    synonyms: Mapping[str, str] = NONE,
) -> str:
    """A question with the known names nearest to an unknown one: "Did you mean 'hinge' or 'hinges'?".

    otherwise  the text where no name is near
    most       names in the question at most
    shown      how a known name is written in it
    synonyms   known names by other words for the same, in lower case

    Names that differ in upper and lower case alone come before synonyms, and these before names that are similar.
    """
    if not isinstance(name, str):
        return otherwise
    from difflib import get_close_matches  # not loaded unless a name is wrong

    known = list(known)
    near = [other for other in known if other.lower() == name.lower()]
    near = near or [other for other in known if other == synonyms.get(name.lower())]
    near = near or get_close_matches(name, known, most, NEAR)
    return f"Did you mean {' or '.join(repr(shown(other)) for other in near[:most])}?" if near else otherwise


def _named(text: str, keep: str = "") -> str:
    """A text with characters that cannot be printed, but for those to keep, as their code points."""
    return "".join(c if c.isprintable() or c in keep else f"<U+{ord(c):04X}>" for c in text)
