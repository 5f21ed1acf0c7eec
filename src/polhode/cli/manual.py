"""`polhode manual`: manual pages for `man`, made from the commands themselves."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from polhode import __version__
from polhode.cli.options import overwriting

WIDTH = 80
"""Columns of a page's text, whatever the terminal has."""


@click.command(short_help="Write manual pages.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("man1"),
    show_default=True,
    help="Folder for the pages.",
)
@overwriting("Replace pages that are there.")
def manual(out: Path, overwrite: bool) -> None:
    """Write manual pages: polhode.1 and one page for each command.

    \b
    For `man polhode` in your own account:
      polhode manual --out ~/.local/share/man/man1
    """
    from polhode.result.atomic_file import atomic_write
    from polhode.show.figure import check_new_file

    pages = manual_pages(click.get_current_context().find_root().command)
    out.mkdir(parents=True, exist_ok=True)
    for name in pages:
        check_new_file(f"manual, --out '{out / name}'", out / name, overwrite)
    for name, text in pages.items():
        with atomic_write(out / name, overwrite) as sink:
            sink.write(text.encode())
    click.echo(f"{len(pages)} pages in {out}")


def manual_pages(group: click.Command) -> dict[str, str]:
    """The text of every page, in roff, by the name of its file."""
    assert isinstance(group, click.Group)
    top = click.Context(group, info_name="polhode", terminal_width=WIDTH)
    found = {"polhode.1": _page(top, "polhode", "")}
    for name in group.list_commands(top):
        command = group.get_command(top, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=top, terminal_width=WIDTH)
        found[f"polhode-{name}.1"] = _page(context, f"polhode-{name}", group.epilog or "")
    return found


def _page(context: click.Context, name: str, codes: str) -> str:
    """One page: name, synopsis, description, options, commands, exit codes, the other pages."""
    command = context.command
    usage = command.get_usage(context).removeprefix("Usage: ")
    shown = command.get_help(context)  # help texts that are made when they are asked for
    text = shown.split("\n\n", 1)[1] if "\n\n" in shown else ""
    lines = [f'.TH "{name.upper()}" "1" "" "Polhode {__version__}" "Polhode"', ".SH NAME"]
    lines += [rf"{_roff(name)} \- {_roff(command.get_short_help_str(limit=200).rstrip('.'))}"]
    lines += [".SH SYNOPSIS", f".B {_roff(' '.join(usage.split()))}"]
    lines += [".SH DESCRIPTION", *_described(text)]
    if codes:
        lines += [".SH EXIT STATUS", *_preserved(codes.replace("\b\n", ""))]
    others = "the pages of its commands, polhode\\-run(1), …" if name == "polhode" else ".BR polhode (1)"
    lines += [".SH SEE ALSO", others]
    return "\n".join(lines) + "\n"


def _described(text: str) -> Iterator[str]:
    """The body of a help text: paragraphs, then lists under their headings."""
    block: list[str] = []
    for line in [*text.splitlines(), "End:"]:
        heading = re.fullmatch(r"(Options|Commands|End):", line)
        if heading is None:
            block.append(line)
            continue
        yield from _preserved("\n".join(block).strip("\n"), 2)
        block = []
        if heading[1] != "End":
            yield f".SH {heading[1].upper()}"


def _preserved(text: str, indent: int = 0) -> list[str]:
    """Lines as they are, without filling; `indent` spaces less at the left."""
    kept = [line[indent:] if line.startswith(" " * indent) else line for line in text.splitlines()]
    return [".nf", *map(_roff, kept), ".fi"] if text.strip() else []


def _roff(text: str) -> str:
    """A line of text in which nothing is a command of roff."""
    found = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{found}" if found[:1] in (".", "'") else found
