"""The files of a report: JSON, a picture, and its tables in Markdown."""

from pathlib import Path

from polhode.bench.figure import speed_figure
from polhode.bench.report import Report, report_json
from polhode.bench.tables import report_markdown
from polhode.errors import InputError, message


def check_output(folder: Path, overwrite: bool = False) -> tuple[Path, Path, Path]:
    """The files of a report in a folder; refused, before any work is done, where they cannot be written."""
    where = f"bench, {folder}"
    if not folder.is_dir():
        raise InputError(message(where, "no such folder", str(folder), "an existing folder"))
    files = folder / "speed.json", folder / "speed.png", folder / "speed.md"
    for file in files:
        if file.exists() and not overwrite:
            fix = "Give another folder, or allow them to be overwritten (--overwrite)."
            raise InputError(message(where, "results are there already", file.name, "a folder without", fix))
    return files


def save_report(report: Report, folder: Path, overwrite: bool = False) -> tuple[Path, Path, Path]:
    """Write speed.json, speed.png and speed.md into a folder."""
    text, picture, tables = check_output(folder, overwrite)
    figure = speed_figure(report)
    text.write_text(report_json(report), encoding="utf-8")
    figure.savefig(picture, dpi=130, metadata={"Software": f"polhode {report.versions['polhode']}"})
    tables.write_text(report_markdown(report), encoding="utf-8")
    return text, picture, tables
