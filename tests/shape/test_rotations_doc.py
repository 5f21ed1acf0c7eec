"""docs/rotations.md is true: its code runs, the names it gives exist."""

import re
from pathlib import Path

from polhode import euler, quaternion

PAGE = (Path(__file__).resolve().parents[2] / "docs/rotations.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(capsys):
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(compile(code, "docs/rotations.md", "exec"), {})
    assert capsys.readouterr().out == "True True\ngood True\n"


def test_names_of_ours_in_the_table_exist():
    table = PAGE.partition("## Which function")[2].partition("##")[0]
    for row in re.findall(r"^\|[^|]*\|([^|]*)\|", table, re.M)[2:]:
        for name in re.findall(r"`(euler\.)?(\w+)`", row):
            assert callable(getattr(euler if name[0] else quaternion, name[1]))


def test_every_function_of_rotations_is_on_the_page():
    rooms = ("decomposition", "distances", "fit", "interpolation", "jacobians", "means", "parameters", "powers")
    rooms += ("sampling", "signs", "spline", "symmetry")
    for name, value in vars(quaternion).items():
        room = getattr(value, "__module__", "").rpartition(".")[2]
        if room in rooms and name[0].islower() and not name.startswith(("rotation_vector", "mrp_a", "gibbs_a")):
            stem = re.sub(r"_inverse$", "", name)
            assert f"`{stem}`" in PAGE, name
