"""`polhode models`, `methods`, `forms`, `constraints`, `plots`: what there is to choose from, read from the registries."""

import inspect
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from polhode.errors import PolhodeWarning

if TYPE_CHECKING:
    from rich.text import Text

    from polhode.model import Model

PICTURE = (22, 7)
"""Columns and rows of the picture of a model."""

LEAST_WIDTH = 100
"""Columns of a terminal from which on pictures are shown."""

MOST_BODIES = 40
"""Models of more bodies have no picture."""

PIPED = 160
"""Columns where there is no terminal."""


@click.command(short_help="Bundled models: joints, freedoms, what each one is.")
@click.option(
    "--pictures/--no-pictures",
    default=None,
    help="A picture of each.  [default: on terminals with colours that are wide enough]",
)
def models(pictures: bool | None) -> None:
    """Bundled models: joints, degrees of freedom at the start, what each one is, and how it looks."""
    from polhode.formats.library import bundled, names, summary_of

    shown = _shows_pictures() if pictures is None else pictures
    rows: list[tuple[object, ...]] = []
    for name in names():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PolhodeWarning)  # told by the commands that take the model
            model = bundled(name)
        row = (name, len(model.joints), _freedoms(model), summary_of(name))
        rows.append((*row, _picture(model)) if shown else row)
    _print(
        ("model", "joints", "freedoms", "what it is", *([""] if shown else [])),
        rows,
        "polhode run MODEL follows the motion of one; polhode info MODEL tells more of it",
    )


@click.command(short_help="Methods of integration: family, order, steps, source.")
def methods() -> None:
    """Methods of integration: family, order, how steps are chosen, source."""
    from polhode.integrate.methods import METHODS
    from polhode.integrate.sundials import SUNDIALS

    rows = [
        (x.name, x.family, x.order, f"by an estimate of order {x.error_order}" if x.adaptive else "equal", x.source)
        for x in METHODS.values()
    ]
    then = f"polhode run MODEL --method METHOD takes one; also, with scikit-sundae: {', '.join(SUNDIALS)}"
    _print(("method", "family", "order", "steps", "source"), rows, then)


@click.command(short_help="Published forms of the rotational equations.")
def forms() -> None:
    """Published forms of the rotational equations: where each stands, and whether it has a multiplier."""
    from polhode.dynamics.single.forms import forms as table

    rows = [(x.name, x.citation, "yes" if x.has_multiplier else "no", x.solution) for x in table.values()]
    _print(("form", "equation", "multiplier", "solution"), rows, "polhode compare --form FORM compares some")


@click.command(short_help="Types of constraints: the rows of each, and what it is.")
def constraints() -> None:
    """Types of constraints: the rows of each, and what it is."""
    from polhode.model.constraints.registry import CONSTRAINTS

    rows = [
        (name, "by its function" if x.rows_by_trial else ", ".join((*x.rows, *x.rate_rows)), _first_line(type(x)))
        for name, x in CONSTRAINTS.items()
    ]
    _print(("type", "rows", "what it is"), rows, "a model file names one: constraints: {NAME: {type: TYPE, …}}")


@click.command(short_help="Kinds of plots, and what each one shows.")
def plots() -> None:
    """Kinds of plots, and what each one shows."""
    from polhode.show.plots.kinds import KINDS, compare

    rows = [(name, _first_line(plot)) for name, plot in {**KINDS, compare.__name__: compare}.items()]
    _print(("kind", "what it shows"), rows, "polhode plot RUN KIND draws one; polhode plot RUN all that fit the run")


LISTS = (models, methods, forms, constraints, plots)
"""The commands that list what there is."""


def _freedoms(model: "Model") -> int:
    """Velocities less the rank of the constraints at the model's start, by plain evaluation: nothing is compiled."""
    if not model.constraints:
        return model.nv
    from polhode.check.diagnosis import ranked_rows
    from polhode.check.given_start import start_of
    from polhode.system.system import System

    return model.joint_velocities - ranked_rows(System(model, target="python"), *start_of(model, None, None, "")).rank


def _shows_pictures() -> bool:
    """Whether the output is a terminal that shows colours and block characters, and has room for pictures."""
    from rich.console import Console

    console = Console()
    colours = console.color_system in ("256", "truecolor")
    return console.is_terminal and colours and console.encoding.startswith("utf") and console.width >= LEAST_WIDTH


def _picture(model: "Model") -> "Text":
    """A model at its start, in characters; nothing is compiled."""
    import numpy as np
    from rich.color import Color
    from rich.style import Style
    from rich.text import Text

    from polhode.check.given_start import start_of
    from polhode.show.terminal_picture import terminal_picture
    from polhode.system.system import System

    found = Text(end="")
    if not 0 < len(model.bodies) <= MOST_BODIES:
        return found
    system, (q, _) = System(model, target="python"), start_of(model, None, None, "")
    poses = [system.pose(q, body.name) for body in model.bodies]
    r, p = (np.array([pose[k] for pose in poses], dtype=float) for k in (0, 1))
    rows = terminal_picture(model, r, p, *PICTURE)
    for k, row in enumerate(rows):
        for cell in row:
            front, back = (Color.from_rgb(*x) if x else None for x in (cell.front, cell.back))
            found.append(cell.text, Style(color=front, bgcolor=back))
        found.append("" if k == len(rows) - 1 else "\n")
    return found


def _first_line(described: object) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(described) or "").partition("\n")[0]


def _print(headings: Sequence[str], rows: Iterable[Sequence[object]], then: str) -> None:
    """Print a table, numbers to the right, and a line that says what to do with a name."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    console = Console(highlight=False)
    console.width = console.width if console.is_terminal else PIPED
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for k, heading in enumerate(headings):
        fixed = k == 0 or isinstance(rows[0][k], Text)
        table.add_column(heading, justify="right" if isinstance(rows[0][k], int) else "left", no_wrap=fixed)
    for row in rows:
        table.add_row(*(x if isinstance(x, Text) else Text(str(x)) for x in row))
    console.print(table)
    console.print(Text(f"\n{then}"))
