"""The families of tests that are thinned for every day are there, and each leaves something to run."""

import ast
from pathlib import Path

import daily

TESTS = Path(__file__).parents[1]


def test_every_family_is_a_test():
    for family in daily.FAMILIES:
        path, _, name = family.partition("::")
        tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, family


def test_one_variant_in_so_many_runs_every_day():
    family = next(name for name, each in daily.FAMILIES.items() if each == 3)
    names = [f"tests/{family}[{k}]" for k in range(7)]
    assert list(daily.campaigns(names)) == [1, 2, 4, 5]
    assert not list(daily.campaigns(["tests/other.py::test_it[1]"] * 5))
