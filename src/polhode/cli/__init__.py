"""The command line: `polhode COMMAND`. Each command is a few lines; the work is below."""

import os
import sys
import warnings
from typing import Any

import click

from polhode import __version__
from polhode.cli.animate import animate
from polhode.cli.bench import bench
from polhode.cli.compare import compare
from polhode.cli.completion import completion
from polhode.cli.draw import draw
from polhode.cli.equations import equations
from polhode.cli.info import info
from polhode.cli.lists import LISTS
from polhode.cli.manual import manual
from polhode.cli.modes import modes
from polhode.cli.plot import plot
from polhode.cli.run import BAD_INPUT, INTERRUPTED, run
from polhode.cli.sweep import sweep
from polhode.cli.wording import in_options
from polhode.errors import PolhodeError, PolhodeWarning


class Commands(click.Group):
    """The commands; an error of ours ends with its message and exit code 2, not with a traceback."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands in the help, by what they are for; their texts whole."""
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{command.name:{WIDEST_NAME}}", command.short_help or "") for command in group])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _noted  # type: ignore[assignment]
                return super().invoke(ctx)
        except PolhodeError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            click.echo(f"polhode: {in_options(str(error), command) if command else error}", err=True)
            sys.exit(BAD_INPUT)
        except BrokenPipeError:  # click's own affair
            raise
        except OSError as fault:
            click.echo(
                f"polhode: {fault.strerror or fault}{f': {fault.filename!r}' if fault.filename else ''}", err=True
            )
            sys.exit(BAD_INPUT)
        except KeyboardInterrupt:
            click.echo("polhode: interrupted", err=True)
            from polhode.kernel.interrupt import left_alone

            if left_alone():  # a compiler that nobody waits for: it is not to be torn down while it works
                sys.stdout.flush()
                os._exit(INTERRUPTED)
            sys.exit(INTERRUPTED)


def _noted(warning: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    """A warning of ours as a note, without the line of code that gave it; others as Python shows them."""
    if issubclass(category, PolhodeWarning):
        click.echo(f"note: {warning}", err=True)
    else:
        click.echo(warnings.formatwarning(warning, category, filename, lineno, line), err=True)


START = """\
Rigid multibody dynamics in unit quaternions (Euler parameters). Where to start:

  polhode run                    Dzhanibekov's T-handle: its motion, graded, with a report page
  polhode models                 the bundled models; polhode info MODEL tells more of one
  polhode run double-pendulum    the motion of a model, or of your own file: .yaml, .urdf, .sdf, .xml, .usd
  polhode plot double-pendulum-run energies
  polhode --help                 all commands; polhode COMMAND --help the options of one"""
"""What is printed where no command is given."""


EXIT_CODES = """\
\b
Exit codes, of every command:
  0    done; also of a run whose verdict is not good, unless --check is given
  1    a fault of Polhode itself: please report it
  2    wrong input, or files that cannot be read or written
  3    polhode run: the run failed on its way; polhode sweep: no run came to its end
  130  Ctrl-C
polhode run --check, by verdict: 0 good, 3 loose, 4 failed, 5 unchecked."""
"""What stands below the help of all commands."""


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EXIT_CODES,
)
@click.version_option(__version__, prog_name="polhode")
@click.pass_context
def main(context: click.Context) -> None:
    """Rigid multibody dynamics in unit quaternions (Euler parameters)."""
    if context.invoked_subcommand is None:
        click.echo(START)


GROUPS = {
    "Motions": (run, sweep, modes),
    "Pictures": (plot, animate, draw),
    "Models and equations": (info, equations, compare),
    "What there is": LISTS,
    "The program itself": (bench, completion, manual),
}
"""The commands, by what they are for."""

WIDEST_NAME = max(len(str(command.name)) for group in GROUPS.values() for command in group)
"""Columns of the names in the help."""

for group in GROUPS.values():
    for command in group:
        main.add_command(command)
