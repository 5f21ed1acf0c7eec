"""The commands that list models, methods, forms, constraints and plots."""

import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import main
from polhode.formats.library import names, summary_of
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.show.plots.kinds import KINDS


def lines(*args):
    found = CliRunner().invoke(main, args)
    assert found.exit_code == 0, found.output
    return {line.split()[0]: line for line in found.stdout.splitlines() if line.strip()}


def test_without_a_command_it_says_where_to_start():
    found = CliRunner().invoke(main, [])
    assert found.exit_code == 0
    for words in ("Where to start", "polhode run ", "polhode models", "polhode --help"):
        assert words in found.stdout
    assert CliRunner().invoke(main, ["nonsense"]).exit_code == 2


@pytest.mark.parametrize(
    ("command", "known"),
    [
        ("models", names()),
        ("methods", ph.methods),
        ("forms", ph.forms),
        ("constraints", CONSTRAINTS),
        ("plots", [*KINDS, "compare"]),
    ],
    ids=["models", "methods", "forms", "constraints", "plots"],
)
def test_a_list_has_a_line_for_each_entry_of_its_registry(command, known):
    assert set(known) <= set(lines(command))


def test_freedoms_are_those_that_constraints_leave():
    found = lines("models")
    counts = {name: tuple(map(int, found[name].split()[1:3])) for name in names()}
    assert counts["t-handle"] == (1, 6)
    assert counts["quadruped"] == (13, 18)
    assert counts["four-bar"] == counts["slider-crank-3d"] == (3, 1)  # closed loops, one of them redundant
    assert counts["rolling-disk"] == (1, 3)  # rows of velocities count too
    assert counts["stewart-platform"] == (13, 6)


@pytest.mark.parametrize("name", names())
def test_a_bundled_model_says_in_one_sentence_what_it_is(name):
    text = summary_of(name)
    assert text.endswith(".")
    assert 20 < len(text) < 250
    assert "#" not in text
    assert "\n" not in text


def test_a_users_own_kind_is_listed(monkeypatch):
    class Pulley(type(CONSTRAINTS["distance"])):
        """A rope over two wheels."""

        name = "pulley"

    monkeypatch.setitem(CONSTRAINTS, "pulley", Pulley())
    assert "A rope over two wheels." in lines("constraints")["pulley"]


def test_pictures_of_models_are_there_where_they_are_asked_for():
    plain = CliRunner().invoke(main, ["models"]).stdout
    assert "▀" not in plain  # no terminal
    found = CliRunner().invoke(main, ["models", "--pictures"])
    assert found.exit_code == 0, found.output
    assert found.stdout.count("▀") > 20 * len(names())
    assert set(names()) <= {line.split()[0] for line in found.stdout.splitlines() if line.strip()}
