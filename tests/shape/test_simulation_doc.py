"""docs/simulation.md is true: its code runs."""

from pathlib import Path

from page_runner import run_page

PAGE = Path(__file__).resolve().parents[2] / "docs/simulation.md"


def test_the_code_of_the_page_runs(tmp_path):
    assert any("good" in each.text for each in run_page(PAGE, tmp_path))
