"""Examples in docstrings give what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

import polhode

SOURCE = Path(polhode.__file__).parent
MODULES = [
    ".".join(("polhode", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name):
    found = doctest.testmod(importlib.import_module(name), extraglobs={"ph": polhode})
    assert found.failed == 0
