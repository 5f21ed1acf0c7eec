"""One call for every kind of model: `load("arm.urdf")`, `load("arm.yaml")`, `load("heavy-top")`."""

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polhode.errors import InputError, ModelError, PolhodeWarning, UnknownNameError, did_you_mean, message
from polhode.formats.library import bundled, is_bundled
from polhode.model import Model
from polhode.scalar import one_of

SUFFIXES = {".yaml": "our YAML", ".yml": "our YAML", ".urdf": "URDF", ".xml": "MJCF or URDF"}
ACCEPTED = ".yaml or .yml (our own), .urdf, .xml (MJCF or URDF), or the name of a bundled model"
BASES, MIMICS = ("fixed", "free"), ("constrain", "free")
HEAD = 1_000_000
"""Bytes of an .xml file in which its first element must begin."""

_PROLOG = re.compile(r"\s*(?:<\?.*?\?>|<!--.*?-->|<!(?!--)[^>]*>|\]\s*>)", re.DOTALL)


def load(
    source: str | Path, base: str = "fixed", mimic: str = "constrain", packages: Sequence[str | Path] = ()
) -> Model:
    """A model from a file, or a bundled one by name.

    source    a path ending in .urdf, .xml, .yaml or .yml; or a name such as "heavy-top", "chain-7"
    base      of a URDF: "fixed" puts its root on the world, "free" lets it fly
    mimic     of a URDF: "constrain" keeps mimic joints as constraints, "free" leaves them free
    packages  of a URDF or MJCF: folders in which package://NAME is looked for
    """
    _check_options(base, mimic)
    if isinstance(source, str) and is_bundled(source):
        _refuse_options("a bundled model", source, base, mimic, packages)
        return bundled(source)
    if not isinstance(source, (str, Path)) or "\0" in str(source):
        raise InputError(message("load, argument source", "not a name or a path", repr(source), "text, or a Path"))
    path = Path(source)
    try:
        kind = _kind(source, path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(message(f"load, '{source}'", "cannot be read", reason, "a file that may be read")) from None
    if kind == "urdf":
        from polhode.formats.urdf import load_urdf

        return load_urdf(path, base=base, mimic=mimic, packages=packages)
    _refuse_options("MJCF" if kind == "mjcf" else "our YAML", str(source), base, mimic, packages)
    if kind == "mjcf":
        from polhode.formats.mjcf import load_mjcf

        return load_mjcf(path, packages=packages)
    from polhode.formats.yaml import load_yaml

    return load_yaml(path)


def load_with_notes(source: str | Path, **options: Any) -> tuple[Model, list[str]]:
    """A model, and the warnings of its loading as texts instead of as warnings.

    options  those of `load`
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load(source, **options)
    return model, [str(warning.message) for warning in caught if issubclass(warning.category, PolhodeWarning)]


def _check_options(base: str, mimic: str) -> None:
    for name, value, known in (("base", base, BASES), ("mimic", mimic, MIMICS)):
        one_of(f"load, argument {name}", value, known, "unknown")


def _refuse_options(kind: str, source: str, base: str, mimic: str, packages: Sequence) -> None:
    """Options of a URDF mean nothing elsewhere: an error, never ignored."""
    if packages and kind != "MJCF":
        where = f"load, {source!r}, argument packages"
        raise InputError(message(where, f"is for URDF and MJCF, and this is {kind}", repr(packages), "none"))
    for name, value, plain in (("base", base, BASES[0]), ("mimic", mimic, MIMICS[0])):
        if value != plain:
            fix = "The file itself says how its bodies hang on the world." if name == "base" else ""
            where = f"load, {source!r}, argument {name}"
            raise InputError(message(where, f"is for URDF, and this is {kind}", repr(value), repr(plain), fix))


def _kind(source: str | Path, path: Path) -> str:
    """yaml, urdf or mjcf; or the error that tells what is wrong with the source."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        if isinstance(source, str) and not _is_path(source, path):
            raise _unknown_name(source)
        what = "not a file" if path.is_dir() else f"no such suffix: {suffix}" if suffix else "no suffix"
        found = "a folder" if path.is_dir() else repr(path.name)
        raise InputError(message(f"load, '{source}'", what, found, ACCEPTED))
    if path.exists() and not path.is_file():
        raise InputError(message(f"load, '{source}'", "not a file", "a folder or a device", "a model file"))
    if not path.exists():
        raise InputError(message(f"load, '{source}'", "no such file", repr(path.name), "a file", _near_files(path)))
    if suffix == ".xml":
        return root_kind(path)
    return "urdf" if suffix == ".urdf" else "yaml"


def _is_path(source: str, path: Path) -> bool:
    """Whether a text without a known suffix means a file rather than a name."""
    return bool(path.suffix) or "/" in source or "\\" in source or (source != "" and path.exists())


def _unknown_name(source: str) -> InputError:
    """The library's error, with the files that might be meant."""
    here = [f"{source}{suffix}" for suffix in SUFFIXES if source and Path(f"{source}{suffix}").is_file()]
    try:
        bundled(source)
    except UnknownNameError as error:
        fix = f"\n  Or the file {' or '.join(map(repr, here))}?" if here else "\n  A file is named with its suffix."
        return UnknownNameError(str(error) + fix)
    raise AssertionError(source)


def _near_files(path: Path) -> str:
    """What the folder has instead."""
    if not path.parent.is_dir():
        return f"There is no folder '{path.parent}' either."
    if is_bundled(path.stem):
        return f"Did you mean the bundled model '{path.stem}'?"
    files = {
        file.stem: file.name for file in path.parent.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file()
    }
    return did_you_mean(path.stem, files, most=3, shown=files.__getitem__)


def root_kind(path: Path) -> str:
    """URDF or MJCF, by the first element of an XML file."""
    with path.open("rb") as file:
        text = file.read(HEAD).decode("utf-8", errors="replace").replace("\0", "").lstrip("\ufeff\ufffd")
    at = 0
    while skipped := _PROLOG.match(text, at):
        at = skipped.end()
    name = re.compile(r"\s*<([^\s/>!?]+)").match(text, at)
    root = name[1] if name else ""
    if root in ("robot", "mujoco"):
        return "urdf" if root == "robot" else "mjcf"
    found = f"<{root[:40]}>" if root else "no element"
    raise ModelError(message(f"{path}", "neither MJCF nor URDF", found, "<mujoco> or <robot> as the first element"))
