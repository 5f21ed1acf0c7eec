"""Examples in docstrings give what they say."""

import doctest
import importlib
import pkgutil

import pytest

import polhode
from polhode import euler, quaternion, spatial

ROOMS = (quaternion, euler, spatial)
MODULES = [f"{room.__name__}.{module.name}" for room in ROOMS for module in pkgutil.iter_modules(room.__path__)]
MODULES += [f"polhode.model.{name}" for name in ("configurations", "edits.methods", "layout", "units")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name):
    found = doctest.testmod(importlib.import_module(name), extraglobs={"ph": polhode})
    assert found.failed == 0
