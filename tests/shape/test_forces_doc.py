"""docs/forces.md is true: its code runs, its table lists every kind, its file is read."""

import re
from pathlib import Path

from page_runner import run_page
from polhode.formats.yaml import model_from_yaml
from polhode.model.forces.registry import FORCES

PAGE = Path(__file__).resolve().parents[2] / "docs/forces.md"
TEXT = PAGE.read_text(encoding="utf-8")

MODEL = """name: m
bodies: {hull: {mass: 1, inertia: [1, 1, 1]}}
joints: {air: {type: free, parent: world, child: hull}}
"""


def test_the_code_of_the_page_runs(tmp_path):
    assert len(run_page(PAGE, tmp_path)) >= 3


def test_the_table_lists_every_kind():
    for name, kind in FORCES.items():
        assert f"`{name}`" in TEXT, f"add a row for {name} to the table in docs/forces.md"
        assert f"`ph.{kind.__name__}`" in TEXT


def test_the_file_of_the_page_is_read():
    (text,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.S)
    assert model_from_yaml(MODEL + text, "text").forces[0].numbers == {"c": 0.3, "d": 2.0}
