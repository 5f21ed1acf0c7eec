"""The command line: `polhode COMMAND`. Each command is a few lines; the work is below."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from polhode import __version__
from polhode.errors import PolhodeError


class Numbers(click.ParamType):
    """Numbers separated by commas, as in 1,2,3."""

    name = "NUMBERS"

    def __init__(self, *counts: int) -> None:
        self.counts = counts

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The numbers as a tuple."""
        if not isinstance(value, str):
            return value
        try:
            numbers = tuple(float(part) for part in value.split(","))
        except ValueError:
            self.fail(f"{value!r} is not a list of numbers such as 1,2,3", param, ctx)
        if len(numbers) not in self.counts:
            wanted = " or ".join(map(str, self.counts))
            self.fail(f"{value!r} has {len(numbers)} numbers, expected {wanted}", param, ctx)
        return numbers


class Group(click.Group):
    """The commands; an error of ours ends with its message and exit code 2, not with a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except PolhodeError as error:
            click.echo(f"polhode: {error}", err=True)
            sys.exit(2)


@contextmanager
def _progress(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar on stderr that vanishes when done; nothing where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        started = False

        def advance(name: str) -> None:
            nonlocal started
            bar.update(task, advance=int(started), description=f"{title} {name}")
            started = True

        yield advance


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="polhode")
def main() -> None:
    """Rigid multibody dynamics in unit quaternions (Euler parameters)."""


@main.command()
@click.option(
    "--inertia", type=Numbers(3, 9), default="1,2,3", show_default=True, help="Principal moments, or 9 entries, kg m²."
)
@click.option(
    "--omega",
    type=Numbers(3),
    default="0.3,2,0.4",
    show_default=True,
    help="Start: angular velocity in body axes, rad/s.",
)
@click.option(
    "--attitude", type=Numbers(4), default=None, help="Start: unit quaternion w,x,y,z.  [default: 60° about x]"
)
@click.option("--torque", type=Numbers(3), default=None, help="Constant couple in body axes, N m.")
@click.option("--space-torque", type=Numbers(3), default=None, help="Constant couple in space axes, N m.")
@click.option("--force", type=Numbers(3), default=None, help="Constant force in space axes, N; needs --point.")
@click.option("--point", type=Numbers(3), default=None, help="Where the force acts, body axes, m.")
@click.option("--duration", type=float, default=20.0, show_default=True, help="Time to follow, s.")
@click.option("--step", type=float, default=0.05, show_default=True, help="Step of RK4, s.")
@click.option("--form", "names", multiple=True, help="Only this form; may be repeated.  [default: all]")
@click.option("--sequence", default="313", show_default=True, help="Angle sequence of the Euler-angle forms.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="The figure: .png, .svg or .pdf.  [default: polhode-compare.png]",
)
@click.option("--overwrite", is_flag=True, help="Overwrite an existing figure.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table; a figure only with --out.")
def compare(
    inertia: tuple,
    omega: tuple,
    attitude: tuple | None,
    torque: tuple | None,
    space_torque: tuple | None,
    force: tuple | None,
    point: tuple | None,
    duration: float,
    step: float,
    names: tuple[str, ...],
    sequence: str,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """All published formulations on one motion: accelerations, multipliers, errors, costs."""
    from polhode.assemble import SingleBody, compare as run
    from polhode.assemble.compare import START
    from polhode.dynamics.single import forms

    moments = [inertia[0:3], inertia[3:6], inertia[6:9]] if len(inertia) == 9 else inertia
    loads = {"torque": torque, "space_torque": space_torque, "force": force, "point": point}
    body = SingleBody.make(moments, omega, attitude or START, **loads)
    picture = out or (None if as_json else Path("polhode-compare.png"))
    if picture:
        from polhode.show.figure import check_figure_path

        check_figure_path(picture, overwrite)
    chosen = [forms[name].name for name in names] or list(forms)
    with _progress("comparing", len(chosen)) as advance:
        found = run(body, duration, step, chosen, sequence, advance)
    if as_json:
        click.echo(json.dumps({"polhode": __version__, **found.as_dict()}, indent=1))
    else:
        from polhode.show.compare import print_comparison

        print_comparison(found)
    if picture:
        from polhode.show.compare import compare_figure
        from polhode.show.figure import save_figure

        made_by = f"polhode compare: J {moments}, omega {omega}, {duration:g} s, RK4 step {step:g} s"
        save_figure(compare_figure(found), picture, made_by, overwrite)
        click.echo(f"figure: {picture}", err=as_json)


@main.command()
@click.argument("source")
@click.option(
    "--base",
    type=click.Choice(["fixed", "free"]),
    default="fixed",
    show_default=True,
    help="URDF: root on the world, or flying.",
)
@click.option(
    "--mimic",
    type=click.Choice(["constrain", "free"]),
    default="constrain",
    show_default=True,
    help="URDF: mimic joints.",
)
@click.option(
    "--package",
    "packages",
    multiple=True,
    type=click.Path(),
    help="URDF, MJCF: folder for package://; may be repeated.",
)
@click.option("--full", is_flag=True, help="Leave nothing out of long models.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(source: str, base: str, mimic: str, packages: tuple[str, ...], full: bool, as_json: bool) -> None:
    """A model file, or a bundled model: its tree, joints, masses, limits, and what was ignored."""
    from polhode.formats.load import load_with_notes
    from polhode.show.tree import info_dict, print_info

    model, notes = load_with_notes(source, base=base, mimic=mimic, packages=packages)
    if as_json:
        click.echo(json.dumps({"polhode": __version__, **info_dict(model, notes)}, indent=1))
    else:
        print_info(model, notes, full)


@main.command()
@click.option("--model", "models", multiple=True, help="Only this machine; may be repeated.  [default: all]")
@click.option(
    "--quantity", "quantities", multiple=True, help="Only inverse, forward, mass, christoffel or derivatives."
)
@click.option("--batch", type=click.IntRange(1), default=10_000, show_default=True, help="States in a batch.")
@click.option("--seconds", type=click.FloatRange(0), default=None, help="For each race.  [default: 1; quick: 0.2]")
@click.option("--quick", is_flag=True, help="Two machines, short races.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for speed.json and speed.png.")
@click.option("--overwrite", is_flag=True, help="Overwrite existing results.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the tables.")
def bench(
    models: tuple[str, ...],
    quantities: tuple[str, ...],
    batch: int,
    seconds: float | None,
    quick: bool,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Our kernels against the libraries that are installed: times, ratios, compile times."""
    from polhode.bench import QUICK, check_output, print_report, report_json, run_bench, save_report, work

    if out:
        check_output(out, overwrite)
    chosen = models or (QUICK["models"] if quick else None)
    spent = seconds if seconds is not None else (QUICK["seconds"] if quick else 1.0)
    with _progress("racing", len(work(chosen, quantities))) as advance:
        report = run_bench(chosen, quantities, batch, spent, advance)
    if as_json:
        click.echo(report_json(report), nl=False)
    else:
        print_report(report)
    for path in save_report(report, out, overwrite) if out else ():
        click.echo(f"written: {path}", err=as_json)
