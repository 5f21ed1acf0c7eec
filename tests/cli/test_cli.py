"""The command line as a user meets it."""

import json
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import main


def run(*args):
    return CliRunner().invoke(main, args)


def test_help_names_the_commands_and_loads_nothing_heavy():
    code = "import sys; from polhode.cli import main; print({'numpy', 'scipy', 'matplotlib'} & {*sys.modules})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() in ("[]", "set()")
    assert "compare" in run("--help").output


def test_the_help_has_every_command_once_with_its_whole_text():
    told = CliRunner().invoke(main, ["--help"], terminal_width=80).output
    for name, command in main.commands.items():
        assert len(re.findall(rf"^  {name} +{re.escape(command.short_help)}$", told, re.M)) == 1, name
    assert "..." not in told.partition("Motions:")[2]


def test_the_package_can_be_run_as_a_module():
    command = [sys.executable, "-m", "polhode", "--version"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == f"polhode, version {ph.__version__}"


def test_importing_the_package_is_light():
    code = "import sys, polhode; print(sorted({'numpy', 'scipy', 'sympy', 'matplotlib'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() in ("[]", "set()")


def test_every_public_name_resolves():
    for name in ph.__all__:
        assert getattr(ph, name) is not None
    assert set(ph.__all__) <= set(dir(ph))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = ph.nonsense


def test_compare_prints_the_table_and_writes_the_figure(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("compare", "--duration", "1", "--form", "sherif-29", "--form", "schwab-meijaard-45")
    assert found.exit_code == 0, found.output
    for word in ("sherif-29", "17.14", "predicted", "polhode-compare.png"):
        assert word in found.output
    picture = tmp_path / "polhode-compare.png"
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert b"polhode compare" in picture.read_bytes()
    again = run("compare", "--duration", "1", "--form", "sherif-29")
    assert again.exit_code == 2
    assert "there already" in again.output


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_compare_writes_vector_figures(tmp_path, suffix):
    path = tmp_path / f"figure.{suffix}"
    args = ["--duration", "0.5", "--form", "sherif-29", "--form", "sherif-82", "--force", "0,0,-1", "--point", "0,0,1"]
    found = run("compare", *args, "--out", str(path))
    assert found.exit_code == 0, found.output
    assert b"polhode" in path.read_bytes()
    assert list(tmp_path.iterdir()) == [path]


def test_compare_speaks_json():
    found = run("compare", "--json", "--duration", "0.5", "--form", "sherif-29", "--form", "schwab-meijaard-19")
    assert found.exit_code == 0
    told = json.loads(found.stdout)
    assert told["polhode"] == ph.__version__
    first, second = told["forms"]
    assert first["multiplier"] == pytest.approx(first["predicted"]) == pytest.approx(17.14)
    assert first["acceleration_difference"] < 1e-13
    assert second["multiplier"] is None


def test_all_forms_agree_on_the_default_tumble():
    found = ph.compare(duration=1.0, step=0.05)
    assert len(found.rows) == len(ph.forms)
    for row in found.rows:
        assert row.acceleration_difference < 1e-12
        assert row.multiplier is None or row.multiplier_error < 1e-12
        assert 0 < row.error < 1e-3
        assert row.operations > 30


def test_a_start_at_gimbal_lock_is_told_not_hidden():
    found = ph.compare(ph.SingleBody.make((1, 2, 3), (0.3, 2, 0.4)), duration=0.5, names=["schwab-meijaard-19"])
    assert found.rows[0].note == "gimbal lock"
    assert found.rows[0].error is None


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--inertia", "1,2"], ["1,2", "expected 3 or 9"]),
        (["--inertia", "1,two,3"], ["not a list of numbers"]),
        (["--inertia", "1,2,9"], ["inertia", "not that of a real body", "(3)"]),
        (["--attitude", "1,1,0,0"], ["not a unit quaternion", "1.414"]),
        (["--form", "sherif-92"], ["unknown form", "Did you mean", "sherif-29"]),
        (["--duration", "-1"], ["duration -1", "both > 0"]),
        (["--out", "picture.gif"], [".gif", ".png, .svg or .pdf"]),
        (["--out", "no/such/folder/picture.png"], ["folder is missing"]),
        (["--force", "1,0,0"], ["force and its point"]),
        (["--sequence", "zxz"], ["zxz", "313"]),
    ],
)
def test_mistakes_end_with_a_message_not_a_traceback(tmp_path, monkeypatch, args, words):
    monkeypatch.chdir(tmp_path)
    found = run("compare", *args)
    assert found.exit_code == 2
    assert "Traceback" not in found.output
    for word in words:
        assert word in found.output


def test_info_shows_the_tree_and_the_joints():
    found = run("info", "quadruped")
    assert found.exit_code == 0
    for word in ("trunk", "front-left-knee", "nq 19, nv 18", "free"):
        assert word in found.output
    told = json.loads(run("info", "heavy-top", "--json").stdout)
    assert told["polhode"] == ph.__version__


def test_info_of_a_wrong_name_is_told():
    found = run("info", "quadruppd")
    assert found.exit_code == 2
    assert "quadruped" in found.output
    assert "Traceback" not in found.output


NARROW = {
    "compare": ["compare", "--duration", "0.5", "--form", "sherif-29", "--form", "schwab-meijaard-19"],
    "info": ["info", "arm-7"],
    "modes": ["modes", "pendulum"],
    "help": ["run", "--help"],
    "mistake": ["info", "quadruppd"],
}


@pytest.mark.parametrize("command", NARROW)
def test_a_narrow_terminal_loses_nothing(command, tmp_path, monkeypatch):
    """Every letter that a wide page has stands on a terminal of 40 columns too."""
    monkeypatch.chdir(tmp_path)
    letters = []
    for settings in ({}, {"FORCE_COLOR": "1", "COLUMNS": "40", "TERM": "xterm"}):  # FORCE_COLOR: taken for a terminal
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        found = run(*NARROW[command], *(["--overwrite"] if command == "compare" else []))
        plain = re.sub(r"\x1b\[[0-9;]*m", "", found.stdout or found.stderr)
        letters.append(sorted(letter for letter in plain if letter.isalnum()))
    assert letters[0] == letters[1]


def test_compare_checks_its_sequence_before_any_motion(monkeypatch):
    monkeypatch.setattr("polhode.papers.compare.reference", lambda *given: pytest.fail("a motion was computed"))
    found = CliRunner().invoke(main, ["compare", "--sequence", "zxz", "--json"])
    assert found.exit_code == 2
    assert "Was '313' meant?" in found.stderr
