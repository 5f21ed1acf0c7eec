"""`polhode plot` as a user meets it."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import main
from polhode.result.files import save


def run(*args):
    return CliRunner().invoke(main, ["plot", *map(str, args)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name, tolerance in (("fine", 1e-9), ("coarse", 1e-4)):
        save(ph.simulate(ph.load("pendulum"), duration=1.0, samples=51, tolerance=tolerance), folder / f"{name}.nc")
    return folder


def test_a_run_without_kinds_gives_those_that_fit(folder):
    found = run(folder / "fine.nc")
    assert found.exit_code == 0, found.output
    names = {path.name for path in folder.glob("fine-*.svg")}
    assert {f"fine-{kind}.svg" for kind in ("energies", "joints", "phase", "quaternions")} <= names
    assert not {"fine-poinsot.svg", "fine-multipliers.svg"} & names
    assert sorted(found.output.split()) == sorted(str(folder / name) for name in names)
    again = run(folder / "fine.nc", "energies")
    assert again.exit_code == 2
    assert "--overwrite" in again.output


def test_kinds_and_comparisons_are_written_where_asked(folder, tmp_path):
    assert run(folder / "fine.nc", "phase", "--out", tmp_path / "one.pdf").exit_code == 0
    assert run(folder / "fine.nc", "phase", "energies", "--out", tmp_path / "two.png").exit_code == 0
    assert run(folder / "fine.nc", folder / "coarse.nc", "--out", tmp_path / "both.svg").exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"one.pdf", "two-phase.png", "two-energies.png", "both.svg"}
    assert ">fine<" in (tmp_path / "both.svg").read_text(encoding="utf-8")


def test_mistakes_are_told(folder, tmp_path):
    (tmp_path / "cut.nc").write_bytes((folder / "fine.nc").read_bytes()[:3000])
    (tmp_path / "empty.nc").write_bytes(b"")
    for args, words in (
        (["nothing.nc"], "no such file"),
        ([tmp_path / "cut.nc"], "damaged"),
        ([tmp_path / "empty.nc"], "an empty file"),
        ([folder / "fine.nc", "phse"], "Did you mean 'phase'"),
        ([folder / "fine.nc", "poinsot"], "not one turning body"),
        ([folder / "fine.nc", "energies", "--out", tmp_path / "a.gif"], ".png, .svg or .pdf"),
        ([folder / "fine.nc", folder / "coarse.nc", "phase"], "only be compared"),
        (["energies"], "no run"),
    ):
        found = run(*args)
        assert found.exit_code == 2, args
        assert words in found.output
        assert "Traceback" not in found.output
    assert {path.name for path in tmp_path.iterdir()} == {"cut.nc", "empty.nc"}


@pytest.mark.long
def test_modes_over_speeds_draw_the_stability_diagram(tmp_path):
    path = tmp_path / "bicycle.svg"
    args = ["modes", "bicycle", "--speed", "3:8:0.25", "--out", str(path)]
    found = CliRunner().invoke(main, args)
    assert found.exit_code == 0, found.output
    edges = [float(x) for x in re.findall(r"\d+\.\d+", found.output.splitlines()[0])]
    assert np.allclose(edges, [4.292, 6.024], atol=0.002)
    assert "stable" in path.read_text(encoding="utf-8")
    again = CliRunner().invoke(main, ["modes", "bicycle", "--out", str(tmp_path / "other.svg")])
    assert again.exit_code == 2
    assert "--speed 0:10:0.1" in again.output


def test_modes_over_speeds_follow_one_family_of_motions():
    """A disk has a circle for every lean at one speed: the faster it is, the more it stands up."""
    args = ["modes", "rolling-disk", "--speed", "0.05:0.25:0.05"]
    found = CliRunner().invoke(main, [*args, "--json"])
    heights = [motion["q"][2] / 0.3 for motion in json.loads(found.stdout)["modes"]]
    assert all(0.05 < b - a < 0.2 for a, b in pairwise(heights))
    assert "Other steady motions have the same speed" in CliRunner().invoke(main, args).output
    assert "Other steady motions" not in CliRunner().invoke(main, ["modes", "bicycle", "--speed", "5"]).output
