"""`polhode run` as a user meets it."""

import csv
import errno
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import main
from polhode.result.files import load

QUICK = ["--duration", "0.1", "--no-report"]
"""For tests that ask for no page."""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def polhode(*args):
    return CliRunner().invoke(main, ["run", *map(str, args)])


def told(*args):
    """The summary of a run that went well."""
    found = polhode(*args, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def files(folder):
    return sorted(os.listdir(folder))


def test_without_a_name_it_runs_the_t_handle_and_tells_where_the_report_is():
    found = polhode()
    assert found.exit_code == 0, found.output
    assert "This run is good." in found.stdout
    for name in ("t-handle-run/run.nc", "t-handle-run/report.html"):
        assert name in found.stdout
        assert os.path.getsize(name) > 10_000
    assert files(".") == ["t-handle-run"]
    assert files("t-handle-run") == ["report.html", "run.nc"]
    omega = load("t-handle-run/run.nc")["omega_body"].sel(axis="x")
    assert float(omega.min()) < -9.5  # it turned over
    assert float(omega.max()) > 9.5


def test_the_file_is_the_dataset_of_simulate():
    told("heavy-top", "--step", "1ms", "--method", "rk4", "--no-report")
    found = load("heavy-top-run/run.nc")
    made = ph.simulate(ph.load("heavy-top"), step=1e-3, method="rk4")
    for name in made.data_vars:
        np.testing.assert_array_equal(found[name], made[name])
    assert "Brüls" in found.attrs["model"]
    assert found.attrs["verdict"] == made.attrs["verdict"]


def test_a_file_is_run_and_its_folder_is_named_after_it(tmp_path):
    (tmp_path / "swing.yaml").write_text(
        "name: a pendulum\n"
        "bodies: {rod: {mass: m, inertia: [1/12, 1/12, 0], center: [0, 0, -0.5]}}\n"
        "parameters: {m: 1}\n"
        "joints: {hinge: {type: revolute, parent: world, child: rod, axis: [0, 1, 0]}}\n"
        "start: {q: [pi/2], duration: 1}\n"
    )
    facts = told("swing.yaml", "--csv", "--set", "m=2", "--set", "gravity=0,0,-1.62")
    assert facts["model"] == "a pendulum"
    assert facts["time_reached"] == 1.0
    assert facts["files"] == {"run": "swing-run/run.nc", "report": "swing-run/report.html", "csv": "swing-run/run.csv"}
    run = load("swing-run/run.nc")
    assert "--set m=2" in run.attrs["model"]
    assert float(run["kinetic_energy"][-1] + run["potential_energy"][-1]) == pytest.approx(0.0, abs=1e-9)
    with open("swing-run/run.csv", encoding="utf-8") as page:
        rows = list(csv.reader(page))
    assert rows[0][:3] == ["time", "q[hinge]", "v[hinge]"]
    assert len(rows) == 2 + run.sizes["time"]
    assert float(rows[-1][1]) == run["q"][-1, 0]


def test_starts_and_numbers_are_set_on_the_command_line():
    sets = ["tip.q=1,0,0,0", "tip.v=0,2*pi,1e-3", "bodies.top.mass=10", "bodies.top.inertia=0.2,0.4,0.2",
            "bodies.top.center.1=0.5", "joints.tip.damping=0.1", "gravity.2=-1"]  # fmt: skip
    args = [x for text in sets for x in ("--set", text)]
    told("heavy-top", *QUICK, *args, "--tau", "tip=0,0,0.5")
    run = load("heavy-top-run/run.nc")
    assert run["v"][0].values.tolist() == [0, 2 * np.pi, 1e-3]
    assert float(run["kinetic_energy"][0]) == pytest.approx((0.4 + 10 * 0) / 2 * (2 * np.pi) ** 2, rel=1e-3)
    assert run["tau"][0].values.tolist() == [0, 0, 0.5]
    told("double-pendulum", *QUICK, "--set", "q=0.1,0.2", "--set", "v=0,1")
    assert load("double-pendulum-run/run.nc")["q"][0].values.tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["heavy-topp"], ["no bundled model", "Did you mean 'heavy-top'"]),
        (["nothing.yaml"], ["no such file"]),
        (["heavy-top", "--method", "rk5"], ["no such method", "Did you mean", "rk4"]),
        (["heavy-top", "--step", "-1"], ["run, --step:", "-1", "above 0", "or leave it out for"]),
        (["heavy-top", "--duration", "0"], ["duration", "above 0"]),
        (["heavy-top", "--duration", "two"], ["'two' is not a time", "2min"]),
        (["heavy-top", "--tolerance", "1e-20"], ["tolerance", "1e-14"]),
        (["heavy-top", "--norm", "unit"], ["norm", "'state'"]),
        (["heavy-top", "--method", "rk4"], ["takes equal steps", "Give --step …,"]),
        (["heavy-top", "--samples", "1"], ["samples", "2 or more"]),
        (["heavy-top", "--every", "3"], ["run, --every:", "with equal steps (--step …)", "without --samples …"]),
        (["heavy-top", "--set", "tip.q"], ["not an assignment", "PATH=VALUE"]),
        (["heavy-top", "--set", "tip.q=1,0"], ["wrong size", "4 numbers", "w,x,y,z"]),
        (["heavy-top", "--set", "tip.q=1,1,0,0"], ["not a unit quaternion"]),
        (["heavy-top", "--set", "tip.w=1"], ["no such number", "tip.v"]),
        (["heavy-top", "--set", "bodies.top.mas=1"], ["no such number", "bodies.top.mass"]),
        (["heavy-top", "--set", "bodies.top.mass=-1"], ["not that of a real body"]),
        (["heavy-top", "--set", "bodies.top.center.7=1"], ["no such place", "0 to 2"]),
        (["heavy-top", "--set", "bodies.top.mass=__import__('os')"], ["numbers"]),
        (["heavy-top", "--tau", "top=1,0,0"], ["no such joint", "tip"]),
        (["heavy-top", "--tau", "tip=1"], ["wrong size", "3 numbers"]),
        (["heavy-top", "--checkpoint", "0"], ["checkpoint", "above 0"]),
        (["heavy-top", "--resume"], ["nothing to resume"]),
        (["heavy-top", "--out", "a/file/out"], ["cannot be made", "Not a directory"]),
        (["heavy-top", "--out", "a/file"], ["a/file"]),
    ],
)
def test_mistakes_end_with_a_message_and_leave_nothing(tmp_path, args, words):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/file").write_text("mine")
    found = polhode(*args)
    assert found.exit_code == 2, found.output
    assert found.exception is None or isinstance(found.exception, SystemExit)
    for word in words:
        assert word in found.output
    assert files(".") == ["a"]
    assert (tmp_path / "a/file").read_text() == "mine"


def test_an_existing_folder_is_kept_unless_forced():
    told("heavy-top", "--duration", "0.1", "--csv")
    before = Path("heavy-top-run/run.nc").read_bytes()
    again = polhode("heavy-top", *QUICK)
    assert again.exit_code == 2
    assert "already there" in again.stderr
    assert "--overwrite" in again.stderr
    assert Path("heavy-top-run/run.nc").read_bytes() == before
    told("heavy-top", "--duration", "0.2", "--no-report", "--force")
    told("heavy-top", "--duration", "0.2", "--no-report", "--overwrite")
    assert load("heavy-top-run/run.nc")["time"][-1] == 0.2
    assert files("heavy-top-run") == ["run.nc"]  # no page or table of an older run


def test_resume_of_a_finished_run_says_so():
    told("heavy-top", "--duration", "0.1", "--no-report")
    before = Path("heavy-top-run/run.nc").read_bytes()
    again = polhode("heavy-top", "--resume")
    assert again.exit_code == 0
    assert "the run in heavy-top-run is complete: nothing was left to do" in again.stderr
    assert Path("heavy-top-run/run.nc").read_bytes() == before
    assert polhode("heavy-top", "--resume", "--check").exit_code == 0
    none = polhode("--resume", "--out", "elsewhere")
    assert none.exit_code == 2
    assert "nothing to resume" in none.stderr


@pytest.mark.parametrize("other", [("pendulum",), ("heavy-top", "--duration", "0.2"), ("heavy-top", "--step", "1ms")])
def test_another_run_is_not_complete_because_one_is_there(other):
    told("heavy-top", "--duration", "0.1", "--no-report", "--out", "o")
    before = Path("o/run.nc").read_bytes()
    again = polhode(*other, "--resume", "--out", "o")
    assert again.exit_code == 2
    assert "complete" not in again.stderr
    assert Path("o/run.nc").read_bytes() == before


def test_a_folder_without_files_may_be_used(tmp_path):
    (tmp_path / "empty").mkdir()
    told("heavy-top", *QUICK, "--out", "empty")
    assert files("empty") == ["run.nc"]


def test_quiet_is_quiet():
    found = polhode("heavy-top", *QUICK, "--quiet")
    assert (found.exit_code, found.output) == (0, "")


def test_json_says_what_a_program_needs():
    facts = told("heavy-top", *QUICK, "--verify")
    assert facts["polhode"] == ph.__version__
    assert (facts["status"], facts["verdict"], facts["method"], facts["step"]) == ("finished", "good", "dop853", None)
    assert facts["steps_taken"] > 5
    assert {"energy drift", "error of the motion"} <= {check["name"] for check in facts["checks"]}


RUNGS = {
    "good": ([], 0, "This run is good."),
    "loose": (["--accuracy", "1e-11"], 3, "This run is loose. It is good until t = "),
    "failed": (["--method", "euler", "--step", "10ms"], 4, "This run failed. It is good until t = "),
    "unchecked": (["--no-verify"], 5, "This run is unchecked: the error of its motion was not estimated."),
}


@pytest.mark.parametrize("verdict", RUNGS)
def test_check_gives_the_verdict_as_exit_code(verdict):
    options, code, sentence = RUNGS[verdict]
    found = polhode("pendulum", "--duration", "1", "--no-report", *options)
    assert found.exit_code == 0
    assert found.stdout.startswith(sentence)
    told = polhode("pendulum", "--duration", "1", "--no-report", "--force", "--check", "--json", *options)
    assert told.exit_code == code
    facts = json.loads(told.stdout)
    assert facts["verdict"] == verdict
    assert (facts["error_estimate"] is None) == (facts["good_until"] is None) == (verdict == "unchecked")
    assert verdict == "unchecked" or (facts["good_until"] < facts["time_reached"]) == (verdict != "good")


def test_check_knows_a_run_that_broke_off_and_wrong_input():
    assert polhode("heavy-top", "--method", "euler", "--step", "0.5", "--duration", "500", "--check").exit_code == 4
    assert polhode("no-such-model", "--check").exit_code == 2
    assert polhode("heavy-top", "--check").exit_code == 2  # a folder with files


def test_a_companion_tells_how_far_it_is():
    heard = []
    ph.record("here", ph.load("pendulum"), duration=1.0, checking=lambda *said: heard.append(said))
    parts = [part for part, _, _ in heard]
    assert parts == sorted(parts)
    assert heard[-1][0] == heard[-1][1] == 1.0
    assert heard[-1][2] > 10


def test_a_run_that_fails_says_why_and_leaves_readable_files():
    found = polhode("heavy-top", "--method", "euler", "--step", "0.5", "--duration", "500")
    assert found.exit_code == 3
    assert "the run failed: at t = " in found.stderr
    assert "no longer finite" in found.stderr
    run = load("heavy-top-run/run.nc")
    assert run.attrs["status"] == "failed"
    assert 0 < run["time"][-1] < 500
    assert "The run failed" in Path("heavy-top-run/report.html").read_text(encoding="utf-8")
    assert files("heavy-top-run") == ["report.html", "run.nc"]


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(monkeypatch, k):
    calls, write = 0, os.write

    def full(handle, data):
        nonlocal calls
        calls += 1
        if calls >= k:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        found = polhode("heavy-top", *QUICK)
    assert found.exit_code == 2
    assert "No space left" in found.stderr
    assert "run.nc" not in files("heavy-top-run")
    assert not [name for name in files("heavy-top-run") if name.endswith(".part")]
    again = polhode("--out", "heavy-top-run", "--resume") if k > 2 else polhode("heavy-top", *QUICK, "--force")
    assert again.exit_code == 0, again.output
    made = ph.simulate(ph.load("heavy-top"), duration=0.1)
    np.testing.assert_array_equal(load("heavy-top-run/run.nc")["q"], made["q"])


def test_a_file_cut_in_half_is_refused(tmp_path):
    told("heavy-top", *QUICK)
    path = tmp_path / "heavy-top-run/run.nc"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ph.InputError, match="damaged"):
        load(path)


def unfinished(*args):
    """A run whose disk filled up after its first checkpoint."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("polhode.result.store.RunStore.append", refuse)
        assert polhode(*args).exit_code == 2


def refuse(*_):
    raise ph.PolhodeError("no")


def test_an_unfinished_run_is_told_and_kept():
    unfinished("heavy-top", *QUICK)
    found = polhode("heavy-top", *QUICK)
    assert found.exit_code == 2
    assert "unfinished run" in found.stderr
    assert "--resume" in found.stderr


def test_the_only_unfinished_run_is_found_by_resume_alone():
    unfinished("heavy-top", *QUICK)
    assert told("--resume")["model"] == "heavy-top"
    assert files(".") == ["heavy-top-run"]
    unfinished("heavy-top", *QUICK, "--force")
    unfinished("double-pendulum", *QUICK)
    found = polhode("--resume")
    assert found.exit_code == 2
    assert "double-pendulum-run, heavy-top-run" in found.stderr


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["t-handle"], "model"),
        (["heavy-top", "--method", "dopri54"], "method"),
        (["heavy-top", "--step", "1ms", "--method", "rk4"], "step"),
        (["heavy-top", "--set", "tip.v=0,1,0"], "start v"),
    ],
)
def test_another_run_is_not_resumed_and_what_differs_is_named(args, word):
    unfinished("heavy-top", *QUICK)
    found = polhode(*args, "--out", "heavy-top-run", "--resume")
    assert found.exit_code == 2
    assert "another run" in found.stderr
    assert re.search(rf"its .*{word}", found.stderr)


def test_a_long_run_is_drawn_from_some_of_its_samples():
    told("free-body", "--method", "rk4", "--step", "1ms", "--duration", "50", "--every", "1")
    page = Path("free-body-run/report.html").read_text(encoding="utf-8")
    assert "<b>50\u202f001</b> samples" in page
    assert load("free-body-run/run.nc").sizes["time"] == 50_001


@pytest.mark.parametrize(("text", "seconds"), [("60", 60), ("60s", 60), ("2min", 120), ("1.5h", 5400), ("10ms", 0.01)])
def test_times_have_units(text, seconds):
    from polhode.cli.options import Seconds

    assert Seconds().convert(text, None, None) == pytest.approx(seconds)
