"""Kinds of values on the command line, and options that several commands share."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polhode.cli.completion import BY_NAME
from polhode.simulation.option_table import RUN_OPTIONS, Flag, Option

if TYPE_CHECKING:
    from polhode.model import Model

OVERWRITE = ("--overwrite", "--force")
"""The words for the overwriting of files: the first is documented."""

SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0}
"""Units of time, in seconds."""


class NumberList(click.ParamType):
    """Numbers separated by commas, as in 1,2,3, each perhaps with a unit: 30deg.

    unit  of the numbers, in SI: a unit of another dimension is refused; "" where none may be given
    """

    name = "NUMBERS"

    def __init__(self, *counts: int, unit: str = "") -> None:
        self.counts, self.unit = counts, unit

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The numbers as a tuple."""
        if not isinstance(value, str):
            return value
        try:
            numbers = tuple(self._number(part, param, ctx) for part in value.split(","))
        except ValueError:
            self.fail(f"{value!r} is not a list of numbers such as 1,2,3", param, ctx)
        if len(numbers) not in self.counts:
            wanted = " or ".join(map(str, self.counts))
            self.fail(f"{value!r} has {len(numbers)} numbers, expected {wanted}", param, ctx)
        return numbers

    def _number(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """One number, or a ValueError."""
        from polhode.model.units import UnknownUnit, number_with_unit, unit_of

        try:
            found = number_with_unit(text) if self.unit else None
        except UnknownUnit as unknown:
            self.fail(f"{text!r}: no unit is called {unknown.word!r}. {unknown.fix}".strip(), param, ctx)
        if found is None:
            return float(text)
        if not unit_of(self.unit).dimension.admits(found.dimension):
            self.fail(f"{text!r} is in {found.dimension}, expected {self.unit}", param, ctx)
        return float(found)


class Seconds(click.ParamType):
    """A time: 60, 60s, 2min, 1.5h, 10ms."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The time in seconds."""
        if not isinstance(value, str):
            return value
        parts = re.fullmatch(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([a-z]*)\s*", value)
        try:
            return float(parts[1]) * SECONDS[parts[2]] if parts else self._refuse(value, param, ctx)
        except (ValueError, KeyError):
            return self._refuse(value, param, ctx)

    def _refuse(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        self.fail(f"{value!r} is not a time such as 60, 60s, 2min, 1.5h or 10ms", param, ctx)


def loading(command: Callable) -> Callable:
    """The options of a model's loading: --base, --mimic, --package."""
    bases, mimics = click.Choice(["fixed", "free"]), click.Choice(["constrain", "free"])
    for option in (
        click.option(
            "--package",
            "packages",
            multiple=True,
            type=click.Path(),
            help="URDF, SDF, MJCF: folder for package://; may be repeated.",
        ),
        click.option("--mimic", type=mimics, default="constrain", show_default=True, help="URDF, SDF: mimic joints."),
        click.option(
            "--base", type=bases, default="fixed", show_default=True, help="URDF: root on the world, or flying."
        ),
    ):
        command = option(command)
    return command


def loaded(source: str, sets: Sequence[str] = (), quiet: bool = False, **loading: Any) -> "Model":
    """The model of a file or of a bundled name, with the numbers that --set gave; notes of its loader on stderr."""
    from polhode.formats.load import load_with_notes
    from polhode.formats.overrides import overridden

    model, notes = load_with_notes(source, **loading)
    for note in () if quiet else notes:
        click.echo(f"note: {note}", err=True)
    return overridden(model, sets)


class OneWord(click.Option):
    """An option of several words, of which the help shows the first."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The first word and the help text."""
        return self.opts[0], self.help or ""


def overwriting(text: str, name: str = "overwrite", words: Sequence[str] = OVERWRITE) -> Callable[[Callable], Callable]:
    """The flag by which files are overwritten.

    text   its help
    name   the argument that it becomes
    words  on the command line; the first is shown
    """
    return click.option(*words, name, cls=OneWord, is_flag=True, default=False, help=text)


def output(out: str, overwrite: str, words: Sequence[str] = OVERWRITE) -> Callable[[Callable], Callable]:
    """The options --out and --overwrite of a command that writes files, by their help texts."""

    def added(command: Callable) -> Callable:
        command = overwriting(overwrite, words=words)(command)
        return click.option("--out", type=click.Path(path_type=Path), default=None, help=out)(command)

    return added


def listed(text: str | None) -> list[str] | None:
    """Words split by commas; None where none were given."""
    return [word.strip() for word in text.split(",")] if text else None


def options_of(table: Mapping[str, Option]) -> Callable[[Callable], Callable]:
    """The options of a table as a decorator of a command: --rank-tolerance for rank_tolerance."""

    def decorated(command: Callable) -> Callable:
        for name, option in reversed(list(table.items())):
            if option.flag:
                command = _option(name, option.default, option.flag)(command)
        return command

    return decorated


KINDS: dict[str, dict[str, Any]] = {
    "seconds": {"type": Seconds()},
    "number": {"type": float},
    "whole": {"type": int},
    "text": {"type": str},
    "address": {"type": str, "metavar": "tcp://…"},
    "pair": {"type": NumberList(2), "metavar": "ALPHA,BETA"},
    "switch": {"is_flag": True},
    "choice": {"is_flag": True},
}
"""Kinds of a Flag, as click has them."""


def _option(name: str, default: Any, flag: Flag) -> Callable[[Callable], Callable]:
    if name == "force":
        return overwriting(flag.help, name)
    kind: dict[str, Any]
    if flag.default:  # told in words: the library chooses where nothing is given
        kind = {"default": None, "help": f"{flag.help}  [default: {flag.default}]"}
    else:
        kind = {"default": default, "help": flag.help, "show_default": flag.kind != "switch"}
    word = name.replace("_", "-")
    kind |= {"shell_complete": BY_NAME[name]} if name in BY_NAME else {}
    return click.option(f"--{word}" + f"/--no-{word}" * (flag.kind == "choice"), name, **KINDS[flag.kind], **kind)


run_options = options_of(RUN_OPTIONS)
"""The options of a run."""
