"""The accuracy page: every reference problem, its published digits, ours, the difference, and what it cost."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polhode.bench.problems import PROBLEMS, Found, PublishedCase
from polhode.bench.provenance import machine_facts, versions
from polhode.bench.tables import TextTable, duration, markdown, print_table, wide_console
from polhode.errors import InputError, UnknownNameError, message

ABOUT = """\
Published and independently computed numbers beside ours; made by `polhode bench --accuracy --out docs`. Processor
time: the whole call once its kernels are compiled, the Dataset, energies and grade included. How fast it is against
others: [benchmarks/](../benchmarks/speed.md)."""


class Solved(NamedTuple):
    """A problem and what was found."""

    problem: PublishedCase
    found: Found

    @property
    def worst(self) -> float:
        """The largest difference; NaN if there is one."""
        return float(np.max([number.difference for number in self.found.numbers]))

    @property
    def good(self) -> bool:
        """Whether it is within the bar."""
        return self.worst <= self.problem.bar


def solve(keys: Sequence[str] = (), progress: Callable[[str], None] | None = None) -> list[Solved]:
    """Solve the problems of these keys; all unless some are named.

    progress  called with a title before each
    """
    known = {problem.key: problem for problem in PROBLEMS}
    for key in keys:
        if key not in known:
            raise UnknownNameError(message("bench --accuracy", "no such problem", repr(key), ", ".join(known)))
    solved = []
    for problem in [known[key] for key in keys] or PROBLEMS:
        if progress:
            progress(problem.title)
        solved.append(Solved(problem, problem.solve()))
    return solved


def summary(solved: Sequence[Solved]) -> TextTable:
    """One line for each problem."""
    rows = [
        [s.problem.title, s.problem.origin, str(len(s.found.numbers)), f"{s.worst:.1e}", f"{s.problem.bar:.0e}",
         "yes" if s.good else "NO", "–" if s.found.steps is None else str(s.found.steps), duration(s.found.seconds)]
        for s in solved
    ]  # fmt: skip
    headings = ["problem", "digits from", "numbers", "largest difference", "bar", "within", "steps", "processor time"]
    return TextTable("Reference problems", headings, rows, 2)


def digits(solved: Solved) -> TextTable:
    """All numbers of a problem."""
    rows = [[n.quantity, n.printed, f"{n.ours:.15g}", f"{n.difference:.1e}"] for n in solved.found.numbers]
    return TextTable(solved.problem.title, ["quantity", "published", "ours", "difference"], rows, 1)


def print_solved(solved: Sequence[Solved]) -> None:
    """The summary on the terminal; and all numbers where there is one problem, or one that is off."""
    console = wide_console()
    print_table(console, summary(solved))
    for s in solved:
        if len(solved) == 1 or not s.good:
            print_table(console, digits(s))


def as_text(solved: Sequence[Solved]) -> str:
    """Solved problems, machine and versions as JSON text."""
    rows = [
        {
            "problem": s.problem.key,
            "title": s.problem.title,
            "origin": s.problem.origin,
            "how": s.found.how,
            "bar": s.problem.bar,
            "worst": s.worst,
            "within": s.good,
            "steps": s.found.steps,
            "seconds": s.found.seconds,
            "numbers": [{**n._asdict(), "difference": n.difference} for n in s.found.numbers],
        }
        for s in solved
    ]
    facts = {"machine": machine_facts(), "versions": versions(), "problems": rows}
    return json.dumps(facts, indent=1, ensure_ascii=False) + "\n"


def check_page(folder: Path, overwrite: bool) -> Path:
    """The file of the page in a folder; refused, before any work is done, where it cannot be written."""
    where, path = f"bench, {folder}", folder / "benchmarks.md"
    if not folder.is_dir():
        raise InputError(message(where, "no such folder", str(folder), "an existing folder"))
    if path.exists() and not overwrite:
        fix = "Give another folder, or allow it to be overwritten (--overwrite)."
        raise InputError(message(where, "the page is there already", path.name, "a folder without", fix))
    return path


def page(solved: Sequence[Solved]) -> str:
    """The page in Markdown."""
    facts = ", ".join(f"{name} {value}" for name, value in machine_facts().items())
    used = ", ".join(f"{name} {versions()[name]}" for name in ("polhode", "numpy", "llvmlite"))
    parts = ["# Accuracy, measured", ABOUT, f"{facts}; {used}; {datetime.now(UTC):%Y-%m-%d}"]
    parts.append(markdown(summary(solved)))
    for s in solved:
        lines = f"{s.problem.origin}. Ours: {s.found.how}."
        parts.append(f"## {s.problem.title}\n\n{lines}\n\n{markdown(digits(s))}")
    return "\n\n".join(parts) + "\n"
