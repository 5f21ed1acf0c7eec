"""docs/model-edits.md: its code runs, and its table names every edit."""

import re
from pathlib import Path

import polhode as ph
from page_runner import run_page

PATH = Path(__file__).resolve().parents[2] / "docs" / "model-edits.md"
PAGE = PATH.read_text(encoding="utf-8")


def test_the_code_runs(tmp_path):
    assert any(".mass: " in each.text for each in run_page(PATH, tmp_path))


def test_the_table_names_every_edit():
    edits = {name for name in dir(ph.Model) if not name.startswith("_")} & set(re.findall(r"model\.(\w+)\(", PAGE))
    assert edits >= {
        "with_locked",
        "merged",
        "append",
        "limb",
        "with_base",
        "mirrored",
        "scaled",
        "diff",
        "with_subtree",
    }
