"""One call for every kind of model: `load("arm.urdf")`, `load("arm.sdf")`, `load("arm.yaml")`, `load("heavy-top")`."""

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polhode.errors import InputError, ModelError, PolhodeWarning, UnknownNameError, did_you_mean, message
from polhode.formats.library import bundled, is_bundled
from polhode.formats.registry import FRICTION, FileFormat, by_suffix, function_named, takers
from polhode.model import Model
from polhode.scalar import one_of

OPTIONS = {"base": ("fixed", "free"), "mimic": ("constrain", "free"), "friction": FRICTION}
"""The options of `load` that are one of some words, the usual one first."""
HEAD = 1_000_000
"""Bytes of an .xml file in which its first element must begin."""

_PROLOG = re.compile(r"\s*(?:<\?.*?\?>|<!--.*?-->|<!(?!--)[^>]*>|\]\s*>)", re.DOTALL)


def load(
    source: str | Path,
    base: str = "fixed",
    mimic: str = "constrain",
    packages: Sequence[str | Path] = (),
    friction: str = "ignore",
    srdf: str | Path | None = None,
) -> Model:
    """A model from a file, or a bundled one by name.

    source    a path ending in .urdf, .sdf, .world, .xml, .usd, .usda, .usdc, .dmd.yaml, .yaml or .yml; or a name such
              as "heavy-top"
    base      of a URDF: "fixed" puts its root on the world, "free" puts it on a free joint
    mimic     of a URDF or SDF: "constrain" keeps mimic joints as constraints, "free" leaves them free
    packages  of a URDF, SDF or MJCF: folders in which package://NAME or model://NAME is looked for; of a USD: those in
              which files that it refers to may lie
    friction  of a URDF, SDF or MJCF: dry friction of joints of one axis is ignored, and every run says so; or it
              becomes a `JointFriction`, "regularised" or by "events"
    srdf      of a URDF: an SRDF file, whose group states become `Model.configurations`
    """
    for name, value in (("base", base), ("mimic", mimic), ("friction", friction)):
        one_of(f"load, argument {name}", value, OPTIONS[name], "unknown")
    options = {"base": base, "mimic": mimic, "packages": packages, "friction": friction, "srdf": srdf}
    if isinstance(source, str) and is_bundled(source):
        _refuse_options("a bundled model", source, options)
        return bundled(source)
    if not isinstance(source, (str, Path)) or "\0" in str(source):
        raise InputError(message("load, argument source", "not a name or a path", repr(source), "text, or a Path"))
    path = Path(source)
    try:
        found = format_of(source, path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(message(f"load, '{source}'", "cannot be read", reason, "a file that may be read")) from None
    own = {name: value for name, value in options.items() if name in found.options}
    _refuse_options(found.name, str(source), {name: options[name] for name in options if name not in own})
    return function_named(found.loader)(path, **own)


def load_with_notes(source: str | Path, **options: Any) -> tuple[Model, list[str]]:
    """A model, and the warnings of its loading as texts instead of as warnings.

    options  those of `load`
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load(source, **options)
    return model, [str(warning.message) for warning in caught if issubclass(warning.category, PolhodeWarning)]


def _refuse_options(kind: str, source: str, options: Mapping[str, Any]) -> None:
    """Refuse options that a kind of model does not take, unless they are the usual ones: never ignored."""
    for name, value in options.items():
        usual = OPTIONS[name][0] if name in OPTIONS else None
        if value == usual or (usual is None and not value):
            continue
        where = f"load, {source!r}, argument {name}"
        fix = "The file itself says how its bodies hang on the world." if name == "base" else ""
        expected = repr(usual) if usual else "none"
        *others, last = takers(name)
        told = f"{', '.join(others)} and {last}" if others else last
        raise InputError(message(where, f"is for {told}, and this is {kind}", repr(value), expected, fix))


def format_of(source: str | Path, path: Path) -> FileFormat:
    """The format of a file; or the error that tells what is wrong with the source."""
    known, name = by_suffix(), path.name.lower()
    suffix = max((one for one in known if name.endswith(one)), key=len, default=path.suffix.lower())
    if suffix not in known:
        if isinstance(source, str) and not _is_path(source, path):
            raise _unknown_name(source)
        what = "not a file" if path.is_dir() else f"no such suffix: {suffix}" if suffix else "no suffix"
        found = "a folder" if path.is_dir() else repr(path.name)
        kinds = ", ".join(f"{suffix} ({' or '.join(row.name for row in rows)})" for suffix, rows in known.items())
        raise InputError(message(f"load, '{source}'", what, found, f"{kinds}, or the name of a bundled model"))
    if path.exists() and not path.is_file():
        raise InputError(message(f"load, '{source}'", "not a file", "a folder or a device", "a model file"))
    if not path.exists():
        raise InputError(message(f"load, '{source}'", "no such file", repr(path.name), "a file", _near_files(path)))
    return xml_format(path) if suffix == ".xml" else known[suffix][0]


def _is_path(source: str, path: Path) -> bool:
    """Whether a text without a known suffix means a file rather than a name."""
    return bool(path.suffix) or "/" in source or "\\" in source or (source != "" and path.exists())


def _unknown_name(source: str) -> InputError:
    """The library's error, with the files that might be meant."""
    here = [f"{source}{suffix}" for suffix in by_suffix() if source and Path(f"{source}{suffix}").is_file()]
    try:
        bundled(source)
    except UnknownNameError as error:
        fix = f"\n  Or the file {' or '.join(map(repr, here))}?" if here else "\n  A file is named with its suffix."
        return UnknownNameError(str(error) + fix)
    raise AssertionError(source)


def _near_files(path: Path) -> str:
    """A hint at what the folder has instead of a file."""
    if not path.parent.is_dir():
        return f"There is no folder '{path.parent}' either."
    if is_bundled(path.stem):
        return f"Did you mean the bundled model '{path.stem}'?"
    files = {
        file.stem: file.name for file in path.parent.iterdir() if file.suffix.lower() in by_suffix() and file.is_file()
    }
    return did_you_mean(path.stem, files, most=3, shown=files.__getitem__)


def xml_format(path: Path) -> FileFormat:
    """The format of an .xml file, by its first element."""
    with path.open("rb") as file:
        text = file.read(HEAD).decode("utf-8", errors="replace").replace("\0", "").lstrip("\ufeff\ufffd")
    at = 0
    while skipped := _PROLOG.match(text, at):
        at = skipped.end()
    first = re.compile(r"\s*<([^\s/>!?]+)").match(text, at)
    root, known = first[1] if first else "", by_suffix()[".xml"]
    for row in known:
        if row.root == root:
            return row
    found = f"<{root[:40]}>" if root else "no element"
    expected = " or ".join(f"<{row.root}>" for row in known) + " as the first element"
    raise ModelError(message(f"{path}", f"neither {' nor '.join(row.name for row in known)}", found, expected))
