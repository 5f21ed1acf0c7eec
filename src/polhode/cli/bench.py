"""`polhode bench`"""

import os
from pathlib import Path

import click

from polhode.cli.options import output
from polhode.cli.progress import progress_of

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""How many threads linear algebra takes, read when NumPy is imported: races are of one thread, and threads that wait for
each other on a busy machine count as processor time (1.7 s of `n-four-bar-40` in place of 0.08 s)."""


@click.command(short_help="Race our kernels against the libraries that are installed.")
@click.option("--model", "models", multiple=True, help="Only this machine; may be repeated.  [default: all]")
@click.option(
    "--quantity",
    "quantities",
    multiple=True,
    help="Only inverse, forward, mass, christoffel, derivatives, regressor, threads, pendulums, simulation, loops, ensembles, "
    "calls or compile.",
)
@click.option("--simulation", is_flag=True, help="Only whole motions, against MuJoCo and SciPy.")
@click.option("--loops", is_flag=True, help="Only machines with closed loops, against Exudyn.")
@click.option("--beams", is_flag=True, help="Only flexible machines, against Exudyn at equal accuracy: a table.")
@click.option("--ensembles", is_flag=True, help="Only many motions at once, against MuJoCo's rollout.")
@click.option("--calls", is_flag=True, help="Only whole calls that were made before, with another mass too.")
@click.option("--compile", "compiling", is_flag=True, help="Only first runs, and where their compile time goes.")
@click.option("--accuracy", is_flag=True, help="Not speed: published digits of reference problems beside ours.")
@click.option("--problem", "problems", multiple=True, help="With --accuracy: only this problem; may be repeated.")
@click.option(
    "--batch", type=click.IntRange(1, 100_000_000), default=10_000, show_default=True, help="States in a batch."
)
@click.option("--seconds", type=click.FloatRange(0), default=None, help="For each race.  [default: 1; quick: 0.2]")
@click.option("--quick", is_flag=True, help="Two machines, short races.")
@output("Folder for speed.json, speed.md and speed.png; or for benchmarks.md.", "Overwrite existing results.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the tables.")
def bench(
    models: tuple[str, ...],
    quantities: tuple[str, ...],
    simulation: bool,
    ensembles: bool,
    loops: bool,
    beams: bool,
    calls: bool,
    compiling: bool,
    accuracy: bool,
    problems: tuple[str, ...],
    batch: int,
    seconds: float | None,
    quick: bool,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Our kernels against the libraries that are installed: times, ratios, compile times."""
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    if accuracy or problems:
        _accuracy(problems, out, overwrite, as_json)
        return
    if beams:
        _beams(1.0 if seconds is None else seconds)
        return
    from polhode.bench.page import check_output, save_report
    from polhode.bench.report import report_json
    from polhode.bench.speed import QUICK, run_bench, work
    from polhode.bench.tables import print_report

    asked_for = {
        "simulation": simulation, "loops": loops, "ensembles": ensembles, "calls": calls, "compile": compiling
    }  # fmt: skip
    for name, asked in asked_for.items():
        quantities = (*quantities, name) if asked else quantities
    if out:
        check_output(out, overwrite)
    chosen = models or (QUICK["models"] if quick else None)
    spent = seconds if seconds is not None else (QUICK["seconds"] if quick else 1.0)
    with progress_of("racing", len(work(chosen, quantities))) as advance:
        report = run_bench(chosen, quantities, batch, spent, advance)
    if as_json:
        click.echo(report_json(report), nl=False)
    else:
        print_report(report)
    for path in save_report(report, out, overwrite) if out else ():
        click.echo(f"written: {path}", err=as_json)


def _beams(seconds: float) -> None:
    """A race of flexible rods at equal accuracy."""
    from polhode.bench.beams import beam_table, beam_times

    rows, missing = beam_times(seconds)
    click.echo(beam_table(rows) if rows else "\n".join(missing))


def _accuracy(problems: tuple[str, ...], out: Path | None, overwrite: bool, as_json: bool) -> None:
    """Published digits beside ours; exit code 1 where a difference is above its bar."""
    from polhode.bench.accuracy import PROBLEMS, as_text, check_page, page, print_solved, solve

    path = check_page(out, overwrite) if out else None
    with progress_of("solving", len(problems or PROBLEMS)) as advance:
        solved = solve(problems, advance)
    if as_json:
        click.echo(as_text(solved), nl=False)
    else:
        print_solved(solved)
    if path:
        path.write_text(page(solved), encoding="utf-8")
        click.echo(f"written: {path}", err=as_json)
    if not all(s.good for s in solved):
        raise click.exceptions.Exit(1)
