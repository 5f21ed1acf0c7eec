"""docs/constraints.md is true: its code runs, its tables list all there is."""

import re
from pathlib import Path

import polhode as ph
from page_runner import run_page
from polhode.check.constraint_monitor import FORCES, JOINTS, STRENGTH, VIOLATIONS
from polhode.model.constraints.registry import CONSTRAINTS as KINDS

PAGE = Path(__file__).resolve().parents[2] / "docs/constraints.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(tmp_path):
    printed = run_page(PAGE, tmp_path)
    assert any("['belt.along'] good" in each.text for each in printed)
    shown = re.search(r"```\n(bricard.*?)```", TEXT, re.S)
    assert shown
    assert shown[1] == f"{ph.diagnose(ph.load('bricard'))}\n"


def test_the_tables_list_every_kind_and_every_variable():
    kinds = re.search(r"\| type \|.*?\n\n", TEXT, re.S)
    variables = re.search(r"\| variable \|.*?\n\n", TEXT, re.S)
    assert kinds
    assert variables
    for kind in KINDS:
        assert kind in kinds[0], f"add a row for {kind} to the table of types in docs/constraints.md"
    for name in (*VIOLATIONS, *FORCES, *STRENGTH, *JOINTS):
        assert f"`{name}`" in variables[0], f"add {name} to the table of variables in docs/constraints.md"
