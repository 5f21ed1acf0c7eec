"""`polhode plot`: pictures of runs."""

import textwrap
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polhode.cli.completion import models, runs_and_plots
from polhode.cli.options import Seconds, listed, output
from polhode.errors import InputError, message

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polhode.show.plots.run_source import Run


class PlotCommand(click.Command):
    """A command whose help names the kinds of plots as their registry has them, read when help is asked for."""

    def get_help(self, ctx: click.Context) -> str:
        """The help text."""
        from polhode.show.plots.kinds import KINDS, takers

        kinds = textwrap.wrap(" ".join([*KINDS, "compare"]), 60)
        shown = copy(self)
        shown.help = (self.help or "").replace("{kinds}", ("\n" + 11 * " ").join(kinds))
        shown.params = [copy(option) for option in self.params]
        for option in shown.params:
            if isinstance(option, click.Option) and option.help:
                option.help = option.help.replace("{kinds}", ", ".join(takers(str(option.name))))
        return super(PlotCommand, shown).get_help(ctx)


@click.command(cls=PlotCommand, short_help="Draw runs: energies, joints, reactions and more.")
@click.argument("what", nargs=-1, required=True, metavar="RUN… [KIND…]", shell_complete=runs_and_plots)
@click.option("--body", default=None, help="Of {kinds}: which body.  [default: the first]")
@click.option("--sequence", default=None, help="Of {kinds}: 313, 321, extrinsic-123, …  [default: 313]")
@click.option("--names", default=None, help="Of {kinds}, compare: which, split by commas.")
@click.option(
    "--at", type=Seconds(), default=None, help="Of {kinds}: the instant, s.  [default: when ω is farthest from L]"
)
@click.option("--beam", default=None, help="Of {kinds}: which beam.  [default: the first]")
@click.option(
    "--section-force",
    "force",
    default=None,
    help="Of {kinds}: N, Qy, Qz, Mx, My, Mz, M, split by commas.  [default: all]",
)
@click.option("--time", default=None, help="Of {kinds}: instants, s, split by commas.  [default: five]")
@click.option("--envelope", is_flag=True, default=None, help="Of {kinds}: shade the range of all instants.")
@click.option("--variable", default="q", show_default=True, help="Of compare: which variable.")
@click.option(
    "--model",
    default=None,
    shell_complete=models,
    help="The run's model, if the run does not hold it: a file or a bundled name.",
)
@output(
    "The picture: .svg, .pdf or .png; of several, the kind is put in.  [default: RUN-KIND.svg beside the run]",
    "Overwrite existing pictures.",
)
def plot(what: tuple[str, ...], out: Path | None, overwrite: bool, variable: str, **options: Any) -> None:
    """Draw RUN (run.nc, or its folder): the KINDs named, or all that fit. Several runs are compared.

    \b
    Kinds: {kinds}
    """
    from polhode.show.figure import check_figure_path, save_figure
    from polhode.show.plots.kinds import KINDS, draw, fitting
    from polhode.show.plots.run_source import opened

    runs = [item for item in what if item not in KINDS and item != "compare" and _means_file(item)]
    kinds = [item for item in what if item not in runs]
    options |= {name: listed(options[name]) for name in ("names", "force")}
    options["time"] = _seconds(options["time"])
    if not runs:
        raise InputError(message("plot", "no run", repr(" ".join(what)), "a file such as run.nc, then kinds of plots"))
    several = len(kinds) != 1 and not (len(runs) > 1 and not kinds)
    if out is not None:
        check_figure_path(_path(runs[0], out, "", several=False), overwrite or several)
    made_by = f"polhode plot {' '.join(Path(item).name for item in what)}"
    found: list[tuple[str, Figure]] = []
    if len(runs) > 1 or "compare" in kinds:
        found.append(("compare", _compared(runs, kinds, variable, options["names"])))
    else:
        run: Run = opened(runs[0])
        found += [(kind, draw(kind, run, **options)) for kind in kinds] if kinds else fitting(run, **options)
    if not found:
        fix = "Was it made with keep=[…], or did it end at its start?"
        raise InputError(message(f"plot {runs[0]}", "no kind of plot fits", "a run without samples", "a motion", fix))
    paths = [_path(runs[0], out, kind, several) for kind, _ in found]
    for path in paths:
        check_figure_path(path, overwrite)
    for path, (_, figure) in zip(paths, found, strict=True):
        click.echo(save_figure(figure, path, made_by, force=overwrite))


def _seconds(text: str | None) -> list[float] | None:
    """Instants that are split by commas."""
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(message("plot, --time", "not instants", repr(text), "seconds, as 0,0.5,1")) from None


def _means_file(item: str) -> bool:
    """Whether a word means a run rather than a kind of plot."""
    path = Path(item)
    return path.exists() or bool(path.suffix) or "/" in item


def _compared(runs: list[str], kinds: list[str], variable: str, names: list[str] | None) -> "Figure":
    from polhode.show.plots.compare import compare

    if [kind for kind in kinds if kind != "compare"]:
        found = f"{len(runs)} runs and the kinds {', '.join(kinds)}"
        raise InputError(message("plot", "several runs can only be compared", found, "one run, or only compare"))
    stems = [Path(run).stem for run in runs]
    unique = runs if len(set(stems)) < len(runs) else stems
    return compare(dict(zip(unique, runs, strict=True)), variable, names)


def _path(run: str, out: Path | None, kind: str, several: bool) -> Path:
    """Where a picture goes."""
    if out is None:
        path = Path(run) / "run" if Path(run).is_dir() else Path(run).with_suffix("")
        return path.with_name(f"{path.name}-{kind}.svg")
    return out.with_name(f"{out.stem}-{kind}{out.suffix}") if several and kind else out
