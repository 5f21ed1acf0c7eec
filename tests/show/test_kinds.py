"""A kind of plot is one file and one line in the registry; the command line follows."""

from inspect import signature
from pathlib import Path

import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import main
from polhode.show.plots import kinds
from polhode.show.plots.run_source import Unfit


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_a_kind_is_the_function_of_the_file_of_its_name(kind):
    assert kinds.KINDS[kind].__module__ == f"polhode.show.plots.{kind}"
    assert getattr(kinds, kind) is kinds.KINDS[kind]


def test_every_file_of_a_kind_is_registered():
    shared = {"__init__", "axes", "ellipsoid", "kinds", "rolling", "run_source"}
    files = {path.stem for path in Path(kinds.__file__).parent.glob("*.py")} - shared
    assert files == {*kinds.KINDS, "campbell", "compare", "eigenvalues", "fan"}


def test_a_new_kind_is_drawn_listed_and_given_its_options(monkeypatch):
    def spectrum(run, body=None):
        return run, body

    last = list(kinds.KINDS)[-1]
    takers = [name for name, draw in kinds.KINDS.items() if "body" in signature(draw).parameters]
    monkeypatch.setitem(kinds.KINDS, "spectrum", spectrum)
    assert kinds.draw("spectrum", "a run", body="top", sequence="313") == ("a run", "top")
    text = " ".join(CliRunner().invoke(main, ["plot", "--help"]).output.split())
    assert f"{last} spectrum compare" in text
    assert f"{', '.join(takers)}, spectrum: which body" in text


def test_a_kind_that_does_not_fit_is_left_out(monkeypatch):
    def never(run):
        raise Unfit("nothing")

    monkeypatch.setattr(kinds, "KINDS", {"never": never, "always": lambda run: "drawn"})
    assert list(kinds.fitting(object())) == [("always", "drawn")]


def test_the_module_lists_its_plots_and_no_imports():
    found = dir(ph.plot)
    assert set(kinds.KINDS) < set(found)
    others = {"Unfit", "campbell", "compare", "draw", "eigenvalues", "fan", "fitting", "read", "takers"}
    assert set(found) - set(kinds.KINDS) == others
    for name in found:
        assert getattr(ph.plot, name).__doc__
