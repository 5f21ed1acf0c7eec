"""The page of errata holds every misprint that is kept as data, beside a function and a test that exist."""

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/errata.md").read_text(encoding="utf-8")
TITLES = {
    "Sherif": "Sherif, Nachbagauer, Steiner",
    "Udwadia": "Udwadia, Schutte",
    "Schwab-Meijaard": "Schwab, Meijaard",
    "Schwab": "Schwab",
    "Zoric": "Zorić, Lazarević, Simonović",
}


def misprints():
    lines = (ROOT / "tests/data/misprints.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader([line for line in lines if not line.startswith("#")], delimiter=";"))


def rows_of(paper):
    """The rows of a paper's table, by equation: as it stands, right, residual, origin, function and test."""
    section = PAGE.split(f"\n## {TITLES[paper]}\n")[1].split("\n## ")[0]
    cells = [re.split(r"\s*\|\s*", line.strip("| \n")) for line in section.splitlines() if re.match(r"\| \d", line)]
    return {row[0]: row[1:] for row in cells}


@pytest.mark.parametrize("paper", TITLES)
def test_the_page_of_errata_has_every_misprint(paper):
    kept = {row["number"]: [row["as_it_stands"], row["corrected"]] for row in misprints() if row["paper"] == paper}
    assert {number: row[:2] for number, row in rows_of(paper).items()} == kept


@pytest.mark.parametrize("paper", TITLES)
def test_the_tests_named_on_the_page_of_errata_exist(paper):
    index = (ROOT / "docs/equations.md").read_text(encoding="utf-8")
    for number, row in rows_of(paper).items():
        function, words, path = re.fullmatch(r"`([\w.]+)`; \[([\w ]+)\]\(\.\./([\w/.]+)\)", row[-1]).groups()
        name = "test_" + words.replace(" ", "_")
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"\| {paper} \| {number} \| polhode\.(\w+\.)*{function} \| {path}::{name} \|", index)
