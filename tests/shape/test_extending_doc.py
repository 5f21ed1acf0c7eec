"""docs/extending.md is true: its code runs, from top to bottom."""

import re
from pathlib import Path

import pytest

from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.forces.registry import FORCES
from polhode.model.joints.registry import JOINTS

PAGE = Path(__file__).resolve().parents[2] / "docs/extending.md"


@pytest.fixture
def registries():
    """The kinds that the page registers are forgotten afterwards."""
    before = [(registry, dict(registry)) for registry in (FORCES, CONSTRAINTS, JOINTS)]
    yield
    for registry, kept in before:
        registry.clear()
        registry.update(kept)


def test_the_code_of_the_page_runs(registries):
    names = {"__name__": "extending"}
    codes = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    for code in codes:
        exec(compile(code, "docs/extending.md", "exec"), names)
    assert len(codes) >= 7
