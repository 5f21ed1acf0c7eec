"""docs/extending.md is true: its code runs, from top to bottom."""

from pathlib import Path

import pytest

from page_runner import run_page
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


def test_the_code_of_the_page_runs(registries, tmp_path):
    assert len(run_page(PAGE, tmp_path)) >= 7
