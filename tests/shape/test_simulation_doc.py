"""docs/simulation.md is true: its table lists the methods there are, its code runs."""

import re
from pathlib import Path

import polhode as ph

PAGE = Path(__file__).resolve().parents[2] / "docs/simulation.md"


def table():
    """The methods as a table."""
    rows = ["| name | family | order | chooses its steps | source |", "| --- | --- | --- | --- | --- |"]
    for method in ph.methods.values():
        steps = f"by an estimate of order {method.error_order}" if method.adaptive else ""
        rows.append(f"| {method.name} | {method.family} | {method.order} | {steps} | {method.source} |")
    return "\n".join(rows)


def test_the_table_lists_the_methods_there_are():
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(r"<!-- methods:[^>]*-->\n(.*?)\n?<!-- end -->", text, re.S)
    assert found
    assert found[1] == table()


def test_the_code_of_the_page_runs(capsys):
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S):
        exec(compile(code, "docs/simulation.md", "exec"), {})
    assert "good" in capsys.readouterr().out
