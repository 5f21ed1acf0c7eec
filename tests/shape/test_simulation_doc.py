"""docs/simulation.md is true: its code runs."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/simulation.md"


def test_the_code_of_the_page_runs(capsys):
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S):
        exec(compile(code, "docs/simulation.md", "exec"), {})
    assert "good" in capsys.readouterr().out
