"""`polhode info`"""

import json

import click

from polhode import __version__
from polhode.cli.completion import models
from polhode.cli.options import loading


@click.command(short_help="Tell of a model: its tree, joints, masses, limits.")
@click.argument("source", metavar="MODEL", shell_complete=models)
@loading
@click.option("--full", is_flag=True, help="Leave nothing out of long models.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(source: str, base: str, mimic: str, packages: tuple[str, ...], full: bool, as_json: bool) -> None:
    """A model file, or a bundled model: its tree, joints, masses, limits, and what was ignored."""
    from polhode.formats.load import load_with_notes
    from polhode.show.model_text import info_dict, print_info

    model, notes = load_with_notes(source, base=base, mimic=mimic, packages=packages)
    if as_json:
        click.echo(json.dumps({"polhode": __version__, **info_dict(model, notes)}, indent=1))
    else:
        print_info(model, notes, full)
