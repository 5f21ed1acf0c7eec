"""The documents are true: code in them runs, citations lead somewhere, nothing names a machine."""

import re
import subprocess
from pathlib import Path

import pytest

import index
from page_runner import run_page

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def tracked():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.splitlines()]


def test_the_code_of_the_readme_runs(tmp_path):
    assert any("udwadia-45" in each.text for each in run_page(ROOT / "README.md", tmp_path))


@pytest.mark.parametrize("path", SOURCES, ids=[str(path.relative_to(ROOT)) for path in SOURCES])
def test_citations_name_a_paper_and_an_equation_it_has(path):
    keys = set(re.findall(r"^@\w+\{([^,]+),", (ROOT / "docs/references.bib").read_text(encoding="utf-8"), re.M))
    assert set(index.COUNTS) <= keys
    text = path.read_text(encoding="utf-8")
    for paper, numbers in re.findall(
        r"\b(Sherif|Udwadia|Schwab-Meijaard|Schwab|Zoric) ((?:\(\d+[^)]*\)[–, ]*)+)", text
    ):
        for number in re.findall(r"\((\d+)", numbers):
            assert 1 <= int(number) <= index.COUNTS[paper], f"{paper} ({number})"


def test_no_file_names_a_machine_or_a_registry():
    pattern = re.compile(r"(?<![\w.])/(?:root|farm|home/[a-z]+|work)/|https?://(?:pypi|registry|deb)\.")
    for path in tracked():
        if path.suffix in {".py", ".md", ".toml", ".csv", ""} and path.name != Path(__file__).name and path.exists():
            assert not pattern.search(path.read_text(encoding="utf-8")), path
