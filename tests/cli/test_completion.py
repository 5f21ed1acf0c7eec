"""Shell completion knows models, methods, plots, runs and files."""

import subprocess

import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import main
from polhode.formats.library import names
from polhode.show.plots.kinds import KINDS


def offered(monkeypatch, *words):
    """What bash is offered for the last of some words: values by type."""
    env = {"_POLHODE_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(("polhode", *words)), "COMP_CWORD": len(words)}
    for name, value in env.items():
        monkeypatch.setenv(name, str(value))
    found = CliRunner().invoke(main, [], prog_name="polhode")
    return [tuple(line.split(",", 1)) for line in found.stdout.splitlines()]


@pytest.fixture
def here(tmp_path, monkeypatch):
    for name in ("arm.yaml", "robot.urdf", "scene.xml", "notes.txt", "old.nc"):
        (tmp_path / name).touch()
    (tmp_path / "first-run").mkdir()
    (tmp_path / "first-run" / "run.nc").touch()
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", ["run", "info", "modes", "equations", "draw"])
def test_models_are_bundled_names_and_files_of_models(command, here, monkeypatch):
    known = {value for _, value in offered(monkeypatch, command, "")}
    assert set(names()) | {"arm.yaml", "robot.urdf", "scene.xml"} == known - {"313"}
    assert offered(monkeypatch, command, "arm") == [("plain", "arm-6"), ("plain", "arm-7"), ("plain", "arm.yaml")]


def test_elsewhere_the_shell_completes_files_itself(here, monkeypatch):
    assert offered(monkeypatch, "run", "../ar") == [("file", "../ar")]
    assert offered(monkeypatch, "sweep", "zz") == [("file", "zz")]


def test_methods_forms_and_words_of_options(monkeypatch):
    assert set(ph.methods) <= {value for _, value in offered(monkeypatch, "run", "pendulum", "--method", "")}
    assert ("plain", "sherif-29") in offered(monkeypatch, "compare", "--form", "sherif")
    assert offered(monkeypatch, "run", "pendulum", "--engine", "n") == [("plain", "null-space")]


@pytest.mark.parametrize("name", ["engine", "constraints", "norm"])
def test_words_of_options_are_those_that_a_run_takes(name):
    from polhode.cli.completion import BY_NAME

    with pytest.raises(ph.InputError) as error:
        ph.RunOptions(**{name: "nonsense"})
    expected = str(error.value).partition("expected")[2]
    for item in BY_NAME[name](None, None, ""):
        assert item.value in expected


def test_runs_then_kinds_of_plots(here, monkeypatch):
    assert offered(monkeypatch, "plot", "") == [("plain", "first-run"), ("plain", "old.nc")]
    assert offered(monkeypatch, "animate", "f") == [("plain", "first-run")]
    then = {value for _, value in offered(monkeypatch, "plot", "old.nc", "")}
    assert {*KINDS, "compare"} <= then


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell):
    found = CliRunner().invoke(main, ["completion", shell])
    assert found.exit_code == 0
    assert f"_POLHODE_COMPLETE={shell}_complete" in found.stdout


def test_bash_takes_the_script():
    found = CliRunner().invoke(main, ["completion", "bash"])
    ran = subprocess.run(["bash", "-n"], input=found.stdout, text=True, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
