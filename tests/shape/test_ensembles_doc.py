"""docs/ensembles.md is true: its code runs, its study file is one."""

import re
from pathlib import Path

import polhode as ph
from page_runner import run_page
from polhode.ensemble.study_file import study_of

PAGE = Path(__file__).resolve().parents[2] / "docs/ensembles.md"


def test_the_code_of_the_page_runs(tmp_path):
    assert any("True" in each.text for each in run_page(PAGE, tmp_path))


def test_the_study_of_the_page_is_one():
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    runner = ph.StudyRunner(study_of(text, "docs/ensembles.md"))
    assert runner.study.runs == 10000
    assert set(runner.arrays) >= {"q", "v", "height", "highest", "calm", "event"}
