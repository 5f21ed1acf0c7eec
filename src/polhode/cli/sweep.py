"""`polhode sweep`: a study of many runs into a folder, with its summary and its report."""

import json
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polhode import __version__
from polhode.cli.completion import files
from polhode.cli.options import options_of
from polhode.ensemble.option_table import FLAGS, RUN_FLAGS, STUDY_RUN_OPTIONS, SWEEP_OPTIONS
from polhode.errors import InputError, PolhodeWarning, message

if TYPE_CHECKING:
    import xarray as xr

    from polhode.ensemble.progress import News, Progress

NAMES = {"study": "study.zarr", "summary": "summary.nc", "report": "report.html"}
"""What a study writes into its folder."""

REASONS = 5
"""The most reasons of failure that are printed."""

FAILED = 3
"""Exit code of a study of which no run came to its end."""


@click.command(short_help="Run a model many times, its numbers drawn anew each time.")
@click.argument("source", required=False, metavar="[STUDY.yaml]", shell_complete=files(".yaml", ".yml"))
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder.  [default: STUDY-sweep]")
@click.option("--runs", type=int, default=None, help="How many runs, in place of the file's number.")
@click.option("--seed", type=int, default=None, help="Another seed than the file's.")
@click.option(
    "--accompanied", type=float, default=None, help="Share of runs whose error is estimated.  [default: 0.01]"
)
@options_of(SWEEP_OPTIONS)
@options_of(STUDY_RUN_OPTIONS)
@click.option("--verify", is_flag=True, help="Only compare every file of the study with its digest.")
@click.option("--log", type=click.Path(path_type=Path), default=None, help="Write progress into this file too.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def sweep(source: str | None, **asked: Any) -> None:
    """Run a model many times, its numbers drawn anew for each run, as STUDY.yaml says; options stand in for its own.

    Writes every run into study.zarr, sums them up in summary.nc and draws report.html. A study that was killed is
    resumed with --resume, and ends in the same bits; --resume also mends what was damaged, and --verify only looks.
    Exit code: 0; 2 for wrong input, and for damage; 3 if no run came to its end; 130 after Ctrl-C.
    """
    from polhode.ensemble.on_disk.store import begun_options
    from polhode.ensemble.study_file import load_study
    from polhode.ensemble.sweep import sweep as run_study

    if asked["verify"]:
        _verify(source, asked)
        return
    source, folder, identity = _places(source, asked)
    others = {name: asked[name] for name in ("runs", "seed", "accompanied", *RUN_FLAGS) if asked[name] is not None}
    study = load_study(source, **others)
    if identity and study.identity != identity:  # it was begun with options that the file does not have
        study = load_study(source, **(begun_options(folder) | others))
    begin = time.monotonic()
    options = {name: asked[name] for name in FLAGS if asked[name] is not None}
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always", PolhodeWarning)
        warnings.showwarning = lambda told, *_, **__: click.echo(f"note: {told}", err=True)
        progress = _progress(stack, study.name, asked)
        try:
            dataset = run_study(study, out=folder, progress=progress, **(options | {"report": False}))  # made below
        except KeyboardInterrupt:
            click.echo(f"polhode: nothing that was written is lost: polhode sweep --resume --out {folder}", err=True)
            raise
    facts = {"polhode": __version__, "study": study.name, "source": str(source), "runs": study.runs}
    facts |= {"seconds": round(time.monotonic() - begin, 3), "resumed": asked["resume"]}
    _tell(dataset, folder, asked, facts)
    if facts["failure_fraction"] == 1:
        click.get_current_context().exit(FAILED)


def _verify(source: str | None, asked: dict[str, Any]) -> None:
    """Compare every file with what was signed for, and say what is damaged."""
    from polhode.ensemble.on_disk.store import damage_error
    from polhode.ensemble.on_disk.verify import verify_study

    folder = asked["out"] or (Path(f"{Path(source).stem}-sweep") if source else None)
    if folder is None or asked["resume"] or asked["force"]:
        found = "no folder" if folder is None else "--verify with --resume or --overwrite"
        fix = "Look at a study: polhode sweep --verify --out FOLDER; then mend it: polhode sweep --resume --out FOLDER"
        raise InputError(message("sweep, --verify", "which study, and no more", found, "a folder alone", fix))
    seen = verify_study(folder)
    facts = {"runs": seen.runs, "runs_done": seen.done, "files": seen.files, "bytes": seen.bytes}
    if asked["as_json"]:
        click.echo(json.dumps(facts | {"damage": [one._asdict() for one in seen.damage]}, indent=1))
    if seen.damage:
        raise damage_error(f"sweep, --verify '{folder}'", folder, seen.damage)
    if not asked["as_json"] and not asked["quiet"]:
        click.echo(f"whole: {seen.done:,} runs, {seen.files:,} files, {seen.bytes / 1e6:,.1f} MB")


def _places(source: str | None, asked: dict[str, Any]) -> tuple[str, Path, str]:
    """The study file and the folder; a resumed study knows its file, and has an identity ("": not known)."""
    from polhode.ensemble.on_disk.store import begun

    folder, identity = asked["out"], ""
    if source is None:
        if not asked["resume"] or folder is None:
            fix = "Name it: polhode sweep study.yaml; or go on with one: polhode sweep --resume --out FOLDER"
            raise InputError(message("sweep", "no study", "nothing", "a study file", fix))
        attrs = begun(folder)
        source = attrs["source"]
        if not source:
            fix = "Go on with it there: ph.sweep(study, out=…, resume=True)."
            raise InputError(message(f"sweep, out '{folder}'", "begun in Python", "no file", "a study file", fix))
        asked.update({name: attrs[name] for name in ("runs", "seed") if asked[name] is None})
        identity = attrs["identity"]
    return source, folder or Path(f"{Path(source).stem}-sweep"), identity


def _progress(stack: ExitStack, title: str, asked: dict[str, Any]) -> "Progress":
    """A bar on a terminal, lines elsewhere, and lines in a log."""
    from polhode.ensemble.progress import Lines

    told: list[Progress] = []
    if asked["log"]:
        told.append(Lines(title, stack.enter_context(asked["log"].open("a", encoding="utf-8"))))
    if not asked["quiet"]:
        told.append(stack.enter_context(_bar(title)))

    def tell(news: "News") -> None:
        for one in told:
            one(news)

    return tell


@contextmanager
def _bar(title: str) -> Iterator["Progress"]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress as Bar, TextColumn

    from polhode.ensemble.progress import Lines, StudyPace

    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(title)
        return
    pace = StudyPace()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[text]}", markup=False),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=1.0, text="compiling")

        def tell(news: "News") -> None:
            pace.take(news)
            bar.update(task, completed=news.done / news.runs, text=pace.text(news))

        yield tell


def _tell(dataset: "xr.Dataset", folder: Path, asked: dict[str, Any], facts: dict[str, Any]) -> None:
    """Sum up, write the report, and say what came out."""
    from polhode.ensemble.on_disk.results import write_results
    from polhode.ensemble.summary import SURE, summary

    found = write_results(dataset, folder) if asked["report"] else summary(dataset)
    written = {name: folder / NAMES[name] for name in NAMES if asked["report"] or name == "study"}
    attrs = found.attrs
    measures = {name: [found[f"{name}_mean"].item(), found[f"{name}_error"].item()] for name in attrs["measures"]}
    facts |= {
        "status": json.loads(attrs["status"]), "failure_fraction": attrs["failure_fraction"],
        "failure_bounds": [attrs["failure_low"], attrs["failure_high"]], "measures": measures,
        "verdicts": json.loads(attrs["verdicts"]), "accompanied": attrs["runs_accompanied"],
        "files": {name: str(path) for name, path in written.items()},
    }  # fmt: skip
    if asked["as_json"]:
        click.echo(json.dumps(facts, indent=1))
    elif not asked["quiet"]:
        from polhode.cli.colours import echo_verdict

        click.echo(f"{facts['study']}: {attrs['runs_done']:,} runs in {facts['seconds']:.1f} s")
        for name, count in facts["status"].items():
            click.echo(f"  {name:14} {count:,}")
        if "single_runs" in attrs:
            click.echo(f"  {'one by one':14} {attrs['single_runs']}")
        counts = ", ".join(f"{count:,} {name}" for name, count in facts["verdicts"].items())
        worst = f", the largest {found['error_estimate_high'].item():.2g}" if facts["accompanied"] else ""
        echo_verdict(f"  {'verdicts':14} {counts}; errors of {facts['accompanied']:,} runs were estimated{worst}")
        for name, one in json.loads(attrs["accompanied"]).items():
            if name not in ("no", "yes"):
                click.echo(f"    {one['runs']:,} × {one['told']}")
        for why, count in Counter(json.loads(attrs["reasons"]).values()).most_common(REASONS):
            click.echo(f"    {count:,} × {why}")
        for name, (mean, error) in measures.items():
            count = int(found[f"{name}_count"].item())
            click.echo(f"  {name:14} {mean:.6g} ± {SURE * error:.2g} (95 %), the mean of {count:,} runs")
        for name, path in written.items():
            click.echo(f"{name:8} {path}")
