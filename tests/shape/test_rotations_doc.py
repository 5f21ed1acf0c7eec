"""docs/rotations.md is true: its code runs, the names it gives exist."""

import ast
import re
from pathlib import Path

import pytest

from page_runner import run_page
from polhode import euler, quaternion

PATH = Path(__file__).resolve().parents[2] / "docs/rotations.md"
PAGE = PATH.read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(tmp_path):
    assert [each.text for each in run_page(PATH, tmp_path)] == ["True True\n", "good True\n"]


def test_names_of_ours_in_the_table_exist():
    table = PAGE.partition("## Which function")[2].partition("##")[0]
    for row in re.findall(r"^\|[^|]*\|([^|]*)\|", table, re.M)[2:]:
        for name in re.findall(r"`(euler\.)?(\w+)`", row):
            assert callable(getattr(euler if name[0] else quaternion, name[1]))


def test_every_function_of_rotations_is_on_the_page():
    for name in quaternion._HOME:
        if name[0].islower() and not name.startswith(("rotation_vector", "mrp_a", "gibbs_a")):
            assert f"`{name.removesuffix('_inverse')}`" in PAGE, name


def test_names_that_are_loaded_later_are_those_with_types():
    tree = ast.parse(Path(quaternion.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {node.module.rpartition(".")[2]: [alias.name for alias in node.names] for node in block.body}
    assert {module: sorted(names) for module, names in typed.items()} == {
        module: sorted(names) for module, names in quaternion._LATER.items()
    }
    assert set(quaternion._HOME) <= set(dir(quaternion))
    assert all(callable(getattr(quaternion, name)) for name in quaternion._HOME)
    with pytest.raises(AttributeError, match="no attribute 'slurp'"):
        _ = quaternion.slurp
