"""`polhode run`: a model's motion into a folder, with its grade and its report."""

import json
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polhode import __version__
from polhode.cli.completion import models
from polhode.cli.options import NumberList, Seconds, loaded, loading, overwriting, run_options
from polhode.cli.progress import run_progress
from polhode.errors import InputError, message
from polhode.simulation.option_table import DURATION, FLAGS

if TYPE_CHECKING:
    import xarray as xr

    from polhode.model import Model
    from polhode.result.constrained import Constrained

DEFAULT, SMOOTH = "t-handle", 4001
"""The model of a run that names none, and its samples."""

GIVEN = click.core.ParameterSource.COMMANDLINE

BAD_INPUT, FAILED, INTERRUPTED = 2, 3, 130
"""Exit codes."""

CHECKED = {"good": 0, "loose": 3, "failed": 4, "unchecked": 5}
"""Exit codes of --check, by verdict."""

NAMES = {"run": "run.nc", "report": "report.html", "csv": "run.csv"}
"""What a run writes into its folder."""

KEPT = ("source", *FLAGS, "sets", "taus", "csv", "report", "base", "mimic", "packages")
"""Options that a resumed run takes from where it began, unless they are given."""

DRAWN = 20_000
"""Samples of a long run that its report is made of, about."""


@click.command(short_help="Follow the motion of a model, grade it, write a report.")
@click.argument("source", default=DEFAULT, metavar="[MODEL]", shell_complete=models)
@run_options
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="PATH=VALUE",
    help="Another start or number: hinge.q=pi/2, ball.v=0,0,5, bodies.arm.mass=2; may be repeated.",
)
@click.option("--tau", "taus", multiple=True, metavar="JOINT=VALUE", help="A constant force of a joint.")
@loading
@click.option(
    "--out", type=click.Path(path_type=Path), default=None, help="Folder for the results.  [default: MODEL-run]"
)
@overwriting("Replace the results that are there.", "force")
@click.option("--csv", is_flag=True, help="Write run.csv too, for spreadsheets.")
@click.option("--report/--no-report", default=True, help="Write report.html.  [default: yes]")
@click.option("--checkpoint", type=Seconds(), default=60.0, help="Work between checkpoints: 60s, 2min.  [default: 60s]")
@click.option("--resume", is_flag=True, help="Go on with a run that was cut off, from its last checkpoint.")
@click.option("--check", is_flag=True, help="Exit code by verdict: 0 good, 3 loose, 4 failed, 5 unchecked.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON instead of the table.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.pass_context
def run(context: click.Context, **asked: Any) -> None:  # fmt: skip
    """Follow the motion of MODEL: a file (.yaml, .urdf, .sdf, .xml, .usd) or a bundled name.

    Writes run.nc, report.html and, if asked, run.csv into a folder, and tells how good the run is. Without MODEL it
    runs Dzhanibekov's T-handle. Exit code: 0; 2 for wrong input; 3 for a run that failed on its way; 130 after Ctrl-C.
    With --check, for scripts: 0 if the run is good, 3 loose, 4 failed, 5 unchecked; 1, 2 and 130 as without it.
    """
    named = context.get_parameter_source("source") == GIVEN
    folder = asked["out"] or Path(f"{Path(asked['source']).stem}-run")
    if asked["resume"] and not asked["out"] and not named:
        folder = _only_unfinished(folder)
    if asked["resume"]:
        from polhode.simulation.recording import is_complete

        if is_complete(folder) and _is_kept(context, folder, asked, named):
            click.echo(f"polhode: the run in {folder} is complete: nothing was left to do", err=True)
            context.exit(_kept_code(folder, asked["check"]))
        asked |= _as_it_began(context, folder)
    elif not named and asked["every"] is None:
        asked["samples"] = asked["samples"] or (SMOOTH if asked["step"] is None else None)
    from polhode.result.constrained import constrained

    begin = time.monotonic()
    model, text = _model(asked)
    _check_folder(folder, asked)
    files: dict[str, Path] = {}

    def rest(dataset: "xr.Dataset") -> None:
        files.update(_written(dataset, model, folder, asked))

    dataset = _recorded(model, text, folder, asked, rest)
    constraints = constrained(dataset)
    facts = _summary(dataset, asked, files, time.monotonic() - begin, constraints)
    dataset.close()
    _tell(facts, dataset.attrs, asked, constraints)
    context.exit(_code(facts["status"], facts["verdict"], asked["check"]))


def _code(status: str, verdict: str, check: bool) -> int:
    """The exit code of a run."""
    if check and status != "interrupted":
        return CHECKED.get(verdict, CHECKED["failed"])
    return {"failed": FAILED, "interrupted": INTERRUPTED}.get(status, 0)


def _is_kept(context: click.Context, folder: Path, asked: dict[str, Any], named: bool) -> bool:
    """Whether nothing that is asked for differs from the whole run in a folder, as far as it tells: no option is given,
    and a model that is named is its model."""
    from polhode.formats.yaml_text import kept_text
    from polhode.result.files import load

    if any(context.get_parameter_source(name) == GIVEN for name in KEPT if name != "source"):
        return False
    if not named:
        return True
    with load(folder / NAMES["run"], lazy=True) as kept:
        return kept.attrs.get("model_yaml", "") == kept_text(_model(asked)[0])


def _kept_code(folder: Path, check: bool) -> int:
    """The exit code of the whole run in a folder."""
    from polhode.result.files import load

    with load(folder / NAMES["run"], lazy=True) as kept:
        return _code(kept.attrs["status"], kept.attrs["verdict"], check)


def _model(asked: dict[str, Any]) -> tuple["Model", str]:
    """The model with what was set, and the text it came from."""
    from polhode.formats.library import text_of

    options = {name: asked[name] for name in ("base", "mimic", "packages")}
    model = loaded(asked["source"], asked["sets"], asked["quiet"], **options)
    changes = [f"# --set {text}\n" for text in asked["sets"]] + [f"# --tau {text}\n" for text in asked["taus"]]
    return model, text_of(asked["source"]) + "".join(changes)


def _check_folder(folder: Path, asked: dict[str, Any]) -> None:
    """Refuse to write where something is."""
    from polhode.simulation.recording import is_leftover, unfinished

    if asked["resume"] or asked["force"]:
        return
    where = f"run, --out '{folder}'"
    if unfinished(folder):
        fix = "Continue it (--resume), or discard it (--overwrite)."
        raise InputError(message(where, "holds an unfinished run", "a checkpoint", "a new folder", fix))
    if folder.is_dir() and not all(map(is_leftover, folder.iterdir())):
        fix = "Give another folder (--out), or replace the results in it (--overwrite)."
        raise InputError(message(where, "already there", "a folder with files", "a new folder", fix))


def _recorded(
    model: "Model", text: str, folder: Path, asked: dict[str, Any], rest: Callable[["xr.Dataset"], None]
) -> "xr.Dataset":
    """The run itself, with its progress; then the rest of its files, before its checkpoint goes."""
    from polhode.formats.overrides import assignments
    from polhode.simulation.recording import record, unfinished

    options = {name: asked[name] for name in (*FLAGS, "checkpoint", "resume", "force") if asked[name] is not None}
    tau = assignments(model, asked["taus"]) or None
    duration = asked["duration"] or (model.start and model.start.duration) or DURATION
    note = json.dumps({name: asked[name] for name in KEPT})
    try:
        with run_progress(model.name, duration, asked["quiet"]) as progress:
            options |= {"model_text": text, "note": note, "then": rest, "checking": partial(progress, checking=True)}
            return record(folder, model, tau=tau, progress=progress, **options)
    except KeyboardInterrupt:  # while the result was being written, or checked
        if unfinished(folder):
            click.echo(f"polhode: nothing is lost: polhode run --resume --out {folder}", err=True)
        raise


def _written(dataset: "xr.Dataset", model: "Model", folder: Path, asked: dict[str, Any]) -> dict[str, Path]:
    """The files of a run, the report and the table among them."""
    from polhode.result.atomic_file import clear_parts
    from polhode.result.files import csv
    from polhode.show.page.report import write_report

    files = {"run": folder / NAMES["run"]}
    clear_parts(*(folder / name for name in NAMES.values()))
    for name in ("report", "csv"):
        path = folder / NAMES[name]
        if not asked[name]:
            path.unlink(missing_ok=True)  # of an older run
            continue
        files[name] = path
        if asked["resume"] and path.exists() and path.stat().st_mtime_ns >= files["run"].stat().st_mtime_ns:
            continue  # made of this very file, before the run was cut off
        if name == "csv":
            csv(dataset, path, force=True)
        else:
            write_report(_drawn(dataset), model, path, force=True)
    return files


def _drawn(dataset: "xr.Dataset") -> "xr.Dataset":
    """The run, thinned to about DRAWN samples where it has more; the last stays among them."""
    count = dataset.sizes["time"]
    if count <= DRAWN:
        return dataset
    stride = -(-count // DRAWN)
    thinned = dataset.isel(time=slice((count - 1) % stride, None, stride)).load()
    return thinned.assign_attrs(samples=count)


def _summary(
    dataset: "xr.Dataset",
    asked: dict[str, Any],
    files: dict[str, Path],
    seconds: float,
    constraints: "Constrained | None",
) -> dict[str, Any]:
    """The facts of a run for --json and the table."""
    attrs = dataset.attrs
    names = (
        "status",
        "reason",
        "verdict",
        "method",
        "step",
        "tolerance",
        "norm_policy",
        "steps_taken",
        "steps_refused",
    )
    known: dict[str, Any] = {name: None if attrs[name] == "" else attrs[name] for name in names}
    known |= {name: attrs[name] for name in ("engine", "rank_tolerance", "constraint_policy") if name in attrs}
    known |= {name: int(attrs[name]) for name in ("steps_taken", "steps_refused")}
    return {
        "polhode": __version__,
        "model": attrs["model_name"],
        **known,
        "reason": attrs["reason"],
        "good_until": _finite(attrs.get("good_until")),
        "error_estimate": _finite(_worst_error(attrs)),
        "time_reached": float(dataset["time"][-1]),
        "samples": dataset.sizes["time"],
        "seconds": round(seconds, 3),
        "resumed": asked["resume"],
        "checks": json.loads(attrs["grade"] or "[]"),
        **({"constraints": constraints.facts()} if constraints else {}),
        "files": {name: str(path) for name, path in files.items()},
    }


def _worst_error(attrs: dict[str, Any]) -> float | None:
    """The largest estimated error of a run; None where it was not estimated."""
    from polhode.result.verdict import ERROR, Grade

    grade = Grade.of(attrs)
    return next((check.value for check in grade.checks if check.name == ERROR), None) if grade else None


def _finite(x: float | None) -> float | None:
    """A number that JSON has."""
    return float(x) if x is not None and math.isfinite(x) else None


def _tell(
    facts: dict[str, Any], attrs: dict[str, Any], asked: dict[str, Any], constraints: "Constrained | None" = None
) -> None:
    """The table of the grade and the files, or all of it as JSON."""
    if facts["status"] in ("failed", "interrupted"):
        hint = " Continue it: the same command with --resume." if facts["status"] == "interrupted" else ""
        click.echo(f"polhode: the run {_ending(facts['status'])}: {facts['reason']}.{hint}", err=True)
    if asked["as_json"]:
        click.echo(json.dumps(facts, indent=1))
    elif not asked["quiet"]:
        from polhode.cli.colours import echo_verdict
        from polhode.result.verdict import Grade

        echo_verdict(f"{Grade.of(attrs)}\n")
        if constraints:
            click.echo(f"{constraints}\n")
        for name, path in facts["files"].items():
            click.echo(f"{name:7} {path}")


def _ending(status: str) -> str:
    return "failed" if status == "failed" else "was interrupted"


def _only_unfinished(default: Path) -> Path:
    """The one folder here that holds an unfinished run."""
    from polhode.simulation.recording import unfinished

    found = sorted(folder for folder in Path().glob("*-run") if unfinished(folder))
    if len(found) > 1:
        fix = f"Name one: polhode run --resume --out {found[0]}"
        raise InputError(message("run, --resume", "which one", ", ".join(map(str, found)), "one unfinished run", fix))
    return found[0] if found else default


def _as_it_began(context: click.Context, folder: Path) -> dict[str, Any]:
    """The options with which the unfinished run in a folder began, where none are given now."""
    from polhode.simulation.recording import note_of

    try:
        saved = json.loads(note_of(folder))
    except (ValueError, RecursionError):
        return {}  # the store tells what is missing
    parameters = {parameter.name: parameter for parameter in context.command.params}
    found = {name: saved[name] for name in KEPT if isinstance(saved, dict) and name in saved}
    for name, value in found.items():
        if not _fits(parameters[name], value):
            fix = "Say how the run began: its model and its options, or start it again (--overwrite)."
            where = f"run, --resume, the options kept in '{folder}'"
            raise InputError(message(where, "damaged", f"{name}: {value!r}"[:80], "what was written", fix))
    return {name: value for name, value in found.items() if context.get_parameter_source(name) != GIVEN}


def _fits(parameter: click.Parameter, value: Any) -> bool:
    """Whether a kept option is of the kind that the command line gives."""
    if value is None:
        return True
    if getattr(parameter, "multiple", False):
        return isinstance(value, list) and all(isinstance(x, str) for x in value)
    if getattr(parameter, "is_flag", False):
        return isinstance(value, bool)
    if isinstance(parameter.type, NumberList):
        return isinstance(value, list) and all(type(x) in (int, float) for x in value)
    if isinstance(parameter.type, Seconds) or parameter.type is click.FLOAT:
        return type(value) in (int, float)
    return type(value) is int if parameter.type is click.INT else isinstance(value, str)
