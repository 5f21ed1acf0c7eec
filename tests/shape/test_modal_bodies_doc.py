"""docs/modal-bodies.md is true: its code runs, its table lists every kind of file."""

import re
from pathlib import Path

import polhode as ph
from polhode.formats.finite_elements.read import READERS

TEXT = (Path(__file__).resolve().parents[2] / "docs/modal-bodies.md").read_text(encoding="utf-8")


def test_the_code_runs(capsys):
    names = {"ph": ph}
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    for code in blocks:
        exec(compile(code, "docs/modal-bodies.md", "exec"), names)
    assert len(blocks) == 3
    assert "frame fixed to 'root'" in capsys.readouterr().out


def test_the_table_lists_every_kind_of_file():
    for suffix in (*READERS, ".mtx"):
        assert f"`{suffix}`" in TEXT
