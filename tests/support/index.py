"""The equation index: every published equation, the function that is it, the test that checks it.

`generated` writes docs/equations.md from the marks on the tests.
"""

import csv
import importlib.util
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "equations.md"
COUNTS = {"Sherif": 84, "Udwadia": 45, "Schwab-Meijaard": 46, "Schwab": 25, "Zoric": 129}


class Check(NamedTuple):
    """One mark: an equation, the function that is it, the test that checks it."""

    paper: str
    number: int | str
    function: str
    file: str
    test: Callable
    note: str

    @property
    def node(self) -> str:
        return f"{self.file}::{self.test.__name__}"

    @property
    def home(self) -> tuple[ModuleType, str]:
        """The module that holds the function, and its name there."""
        module, _, name = self.function.rpartition(".")
        return importlib.import_module(module), name


@cache
def checks() -> list[Check]:
    """All marks of all tests."""
    found = []
    for path in sorted(TESTS.glob("*/test_*.py")):
        if path.parent.name in ("shape", "peers"):
            continue
        spec = importlib.util.spec_from_file_location(f"indexed_{path.parent.name}_{path.stem}", path)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, test in vars(module).items():
            if name.startswith("test_"):
                for mark in getattr(test, "pytestmark", []):
                    if mark.name == "equation":
                        paper, number, function, note = mark.args
                        file = path.relative_to(TESTS.parent).as_posix()
                        found.append(Check(paper, number, f"polhode.{function}", file, test, note))
    return found


def misprints() -> dict[tuple[str, str], list[str]]:
    """The misprints beside each equation, as 'as it stands → corrected'."""
    lines = (TESTS / "data" / "misprints.csv").read_text(encoding="utf-8").splitlines()
    table = defaultdict(list)
    for row in csv.DictReader([line for line in lines if not line.startswith("#")], delimiter=";"):
        table[row["paper"], row["number"]].append(f"misprint: {row['as_it_stands']} → {row['corrected']}")
    return table


def render() -> str:
    """The page."""
    by_number = defaultdict(list)
    for check in checks():
        by_number[check.paper, check.number].append(check)
    errata = misprints()
    lines = [
        "# Every equation, the function that is it, the test that checks it",
        "",
        "Generated from the marks on the tests by `make generated`; do not edit. The notation is that of",
        "`docs/notation.md`. A test of the project changes each function by 1e-6 and sees its test fail.",
        "",
        "| paper | number | function | test | note |",
        "| --- | --- | --- | --- | --- |",
    ]
    for paper, count in COUNTS.items():
        words = sorted({n for p, n in by_number if p == paper and isinstance(n, str)})
        for number in [*range(1, count + 1), *words]:
            marks = by_number.get((paper, number), [])
            if not marks:
                lines.append(f"| {paper} | {number} | – | – | missing |")
                continue
            first = marks[0]
            also = [f"also `{m.function}` ({m.node.partition('::')[2]})" for m in marks[1:]]
            notes = [*errata.get((paper, str(number)), []), *([first.note] if first.note else []), *also]
            lines.append(f"| {paper} | {number} | {first.function} | {first.node} | {'; '.join(notes)} |")
    return "\n".join(lines) + "\n"
