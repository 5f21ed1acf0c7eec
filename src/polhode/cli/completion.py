"""Shell completion: names of models, methods, forms and plots beside files, and `polhode completion`."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

MODEL_FILES = (".yaml", ".yml", ".urdf", ".sdf", ".world", ".xml", ".mjcf", ".usd", ".usda", ".usdc")
"""Files that are offered where a model is asked for."""

RUN_FILES = (".nc",)
"""Files that are offered where a run is asked for."""

SHELLS = ("bash", "zsh", "fish")

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def models(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Bundled models, each with what it is, and files of models."""
    del context, parameter
    from polhode.formats.library import names, summary_of

    known = [CompletionItem(name, help=summary_of(name)) for name in names() if name.startswith(begun)]
    return _with_files(known, begun, MODEL_FILES)


def runs(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Folders that hold a run, and files of runs."""
    del context, parameter
    folders = [CompletionItem(str(path.parent)) for path in sorted(Path().glob("*/run.nc"))]
    return _with_files([item for item in folders if item.value.startswith(begun)], begun, RUN_FILES)


def runs_and_plots(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Runs first; kinds of plots once a run stands there."""
    found = runs(context, parameter, begun)
    if not context.params.get("what"):
        return found
    from polhode.show.plots.kinds import KINDS

    return [*_named([*KINDS, "compare"], begun), *(item for item in found if item.type == "plain")]


def methods(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Methods of integration, each with its family and order."""
    del context, parameter
    from polhode.integrate.methods import METHODS
    from polhode.integrate.sundials import SUNDIALS

    known = [CompletionItem(x.name, help=f"{x.family}, order {x.order}") for x in METHODS.values()]
    return [item for item in [*known, *map(CompletionItem, SUNDIALS)] if item.value.startswith(begun)]


def forms(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Published forms of the rotational equations, each with its citation."""
    del context, parameter
    from polhode.dynamics.single.forms import forms as table

    return [CompletionItem(x.name, help=x.citation) for x in table.values() if x.name.startswith(begun)]


def words(*known: str) -> Completer:
    """A completer that offers some words."""

    def offered(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        del context, parameter
        return _named(known, begun)

    return offered


def files(*suffixes: str) -> Completer:
    """A completer that offers files with one of some suffixes."""

    def offered(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        del context, parameter
        return _with_files([], begun, suffixes)

    return offered


BY_NAME: dict[str, Completer] = {
    "method": methods,
    "engine": words("fundamental", "multipliers", "null-space", "absolute"),
    "constraints": words("project", "baumgarte", "ggl", "index-3", "none"),
    "norm": words("state", "none"),
}
"""Completers of the options of a run, by their names."""


def _named(known: Iterable[str], begun: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in known if name.startswith(begun)]


def _with_files(known: list[CompletionItem], begun: str, suffixes: tuple[str, ...]) -> list[CompletionItem]:
    """Names, and the files here with one of some suffixes; where neither is there, what the shell itself knows of files."""
    if "/" not in begun:
        here = sorted(path for path in Path().glob(f"{_literal(begun)}*") if path.suffix.lower() in suffixes)
        known = [*known, *(CompletionItem(str(path)) for path in here)]
    return known or [CompletionItem(begun, type="file")]


def _literal(text: str) -> str:
    """A text as a pattern that means just it."""
    return "".join(f"[{x}]" if x in "*?[" else x for x in text)


@click.command(short_help="Print the script by which a shell completes commands.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete commands, options, and names of models, methods, plots and files.

    \b
    bash, in ~/.bashrc:                       eval "$(polhode completion bash)"
    zsh, in ~/.zshrc, after compinit:         eval "$(polhode completion zsh)"
    fish: polhode completion fish > ~/.config/fish/completions/polhode.fish
    """
    found: Any = get_completion_class(shell)
    root = click.get_current_context().find_root()
    made = found(root.command, {}, "polhode", "_POLHODE_COMPLETE")
    click.echo(made.source_template % made.source_vars())
