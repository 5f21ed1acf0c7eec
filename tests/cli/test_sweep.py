"""`polhode sweep`: a study file into a folder; errors with the line they stand in."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import main
from polhode.ensemble.study_file import load_study, study_of

TEXT = """\
study: a <small> study
model: double-pendulum
runs: 96
seed: 3
design: sobol
duration: 0.1
step: 1e-3
method: rk4
every: 10
start: {q: [0.5, 0]}
parameters:
  bodies.upper.mass: {normal: [1, 0.1]}
  start.q.elbow: {uniform: [-pi/4, pi/4]}
  c: {log-uniform: [0.01, 0.5]}
  start.v.hinge: {grid: {from: 0, to: 1, count: 3}}
  "joints.hinge.rest, joints.elbow.rest": {listed: [[0, 0.1], [0.2, 0.3]]}
derived:
  joints.hinge.damping: 2*c
input:
  elbow: sin(3*t) - c*v.elbow
outputs:
  height: -cos(q.hinge)
stop:
  over: {when: q.elbow - 2, direction: 1}
measures:
  highest: {max: height}
  calm: {settle: q.hinge, target: 0.5, band: 0.3}
keep: [q, v.elbow]
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(TEXT)
    return "study.yaml"


def polhode(*args):
    return CliRunner().invoke(main, ["sweep", *map(str, args)], catch_exceptions=False)


def test_a_study_file_is_the_study_in_python(file):
    read = load_study(file)
    assert read.samples["start.v.hinge"] == ph.Grid([0, 0.5, 1])
    given = {
        "bodies.upper.mass": ph.Normal(1, 0.1), "start.q.elbow": ph.Uniform(-np.pi / 4, np.pi / 4),
        "c": ph.LogUniform(0.01, 0.5), "start.v.hinge": ph.Grid([0, 0.5, 1]),
        "joints.hinge.rest, joints.elbow.rest": ph.Listed([[0, 0.1], [0.2, 0.3]]),
    }  # fmt: skip
    same = ph.sweep(
        ph.load("double-pendulum"), given, runs=96, seed=3, design="sobol", duration=0.1, step=1e-3, method="rk4",
        every=10, q=[0.5, 0], derived={"joints.hinge.damping": "2*c"}, tau={"elbow": "sin(3*t) - c*v.elbow"},
        outputs={"height": "-cos(q.hinge)"}, stop={"over": ph.Stop("q.elbow - 2", 1)},
        measures={"highest": ph.Measure("max", "height"), "calm": ph.Measure("settle", "q.hinge", 0.5, 0.3)},
        keep=["q", "v.elbow"],
    )  # fmt: skip
    found = ph.sweep(read)
    for name in same.data_vars:
        assert np.array_equal(found[name], same[name], equal_nan=same[name].dtype.kind == "f")
    settled = np.array([
        next((t for k, t in enumerate(found["time"].values) if (abs(run[k:] - 0.5) <= 0.3).all()), np.nan)
        for run in found["q"].values[:, :, 0]
    ])  # fmt: skip
    assert np.array_equal(found["calm"], settled, equal_nan=True)


def test_the_command_writes_runs_summary_and_report(file, tmp_path):
    told = polhode(file, "--json", "--chunk", 32, "--log", "log", "--threads", 2)
    assert told.exit_code == 0, told.output
    facts = json.loads(told.stdout)
    assert facts["status"] == {"finished": 96}
    folder = tmp_path / "study-sweep"
    assert facts["files"] == {
        "study": "study-sweep/study.zarr", "summary": "study-sweep/summary.nc", "report": "study-sweep/report.html",
    }  # fmt: skip
    found = ph.open_study(folder)
    assert found.attrs["study_text"] == TEXT
    assert facts["measures"]["highest"][0] == pytest.approx(float(found["highest"].mean()), rel=1e-12)
    page = (folder / "report.html").read_text()
    assert "a &lt;small&gt; study" in page
    assert "<small> study" not in page
    # q, v.elbow, height, the convergence of two measures, one of which has a histogram, the badges good and unchecked
    assert page.count("<svg") == 2 + 1 + 1 + 2 + 1 + 2
    assert "100%  96 of 96 runs  cpu" in (tmp_path / "log").read_text()
    note = polhode("--resume", "--out", folder, "--quiet", "--no-report", "--device", "auto")
    assert "note: sweep: no GPU is used, the processor runs" in note.stderr
    again = polhode("--resume", "--out", folder, "--quiet", "--no-report")
    assert again.exit_code == 0
    assert again.output == ""
    assert polhode(file).exit_code == 2
    assert polhode(file, "--force", "--seed", 9, "--quiet").exit_code == 0
    assert ph.open_study(folder).attrs["seed"] == 9
    resumed = polhode("--resume", "--out", folder, "--json")
    assert json.loads(resumed.stdout)["resumed"]


def test_a_study_without_a_good_run_says_why(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "heavy.yaml").write_text(TEXT.replace("normal: [1, 0.1]", "normal: [-9, 0.1]"))
    told = polhode("heavy.yaml")
    assert told.exit_code == 3
    assert "96 × the mass of 'upper' is not above 0" in told.stdout
    page = (tmp_path / "heavy-sweep" / "report.html").read_text()
    assert page.count("the mass of &#x27;upper&#x27; is not above 0") == 1


CONSTRAINED = """\
model: four-bar
duration: 0.04
step: 0.01
method: rk4
times: [0.02]
engine: multipliers
constraints: baumgarte
baumgarte: [20, 30]
rank_tolerance: 1e-9
move_start: true
parameters:
  bodies.crank.mass: {grid: [0.4, 0.5]}
"""


def test_a_study_file_has_the_options_of_runs():
    assert study_of(CONSTRAINED).run_options == ph.RunOptions(
        duration=0.04, step=0.01, method="rk4", samples=[0.02], engine="multipliers", constraints="baumgarte",
        baumgarte=(20, 30), rank_tolerance=1e-9, move_start=True,
    )  # fmt: skip


def test_options_of_runs_on_the_command_line_stand_in_for_those_of_the_file(file, tmp_path):
    asked = ("--step", "5ms", "--method", "heun", "--norm", "none", "--every", 4, "--runs", 6, "--chunk", 3)
    told = polhode(file, *asked, "--no-report", "--quiet", "--out", "a")
    assert told.exit_code == 0, told.output
    found = ph.open_study("a").load()
    known = json.loads(found.attrs["study"])
    assert [known[name] for name in ("step", "method", "norm", "every")] == [0.005, "heun", "none", 4]
    (tmp_path / "a/receipts/000001.json").unlink()
    again = polhode("--resume", "--out", "a", "--no-report", "--quiet")
    assert again.exit_code == 0, again.output
    assert ph.open_study("a").load().equals(found)
    other = polhode("--resume", "--out", "a", "--norm", "state", "--no-report", "--quiet")
    assert other.exit_code == 2
    assert "norm: state" in other.stderr


BAD = {
    "unknown key": (("seed: 3", "sead: 3"), r"4.*\n.*'sead'.*\n.*Did you mean 'seed'"),
    "unknown distribution": (("normal: [1, 0.1]", "gauss: [1, 0.1]"), r"12.*no such distribution.*\n.*'gauss'"),
    "no spread": (("normal: [1, 0.1]", "normal: [1, 0]"), "12.*no spread"),
    "pair": (("normal: [1, 0.1]", "normal: [1]"), "12.*wrong size"),
    "unknown parameter": (("bodies.upper.mass", "bodies.uper.mass"), "Did you mean 'bodies.upper.mass'"),
    "unknown model": (("model: double-pendulum", "model: tripel-pendulum"), "tripel"),
    "no runs": (("runs: 96", "runs: 0"), "not a number of runs"),
    "not whole": (("runs: 96", "runs: 9.5"), "3.*whole number"),
    "not a number": (("duration: 0.1", "duration: long"), "study:6, duration.*"),
    "grid": (("count: 3", "count: 0"), "15.*number of points"),
    "runs and grid": (("runs: 96", "runs: 97"), "does not fit the grids"),
    "measure": (("{max: height}", "{most: height}"), "not a measure"),
    "expression": (("2*c", "2*c +"), "not an expression"),
    "a function": (("2*c", "__import__('os')"), "not an expression|unknown name"),
    "stop": (("direction: 1", "direction: 3"), "no such direction"),
    "keep": (("v.elbow]", "v.knee]"), "no such part"),
    "a switch": (("seed: 3", "move_start: yes please"), "4, move_start: not a switch"),
    "a pair": (("seed: 3", "baumgarte: [5]"), "4, baumgarte: wrong size"),
    "an option of one run": (("seed: 3", "verify: true"), r"sweep, verify: not in a sweep(.|\n)*one by one"),
    "no such policy": (("seed: 3", "constraints: hope"), "simulate, constraints: no such policy"),
    "no parameters": ((TEXT[TEXT.index("parameters:") :], ""), "no parameters"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_in_a_file_is_told_with_its_line(name, monkeypatch):
    monkeypatch.setattr("polhode.simulation.batch.batch_run.BatchRun.run", lambda *args: pytest.fail("computed"))
    (old, new), told = BAD[name]
    assert old in TEXT
    with pytest.raises(ph.PolhodeError, match=told):
        ph.sweep(study_of(TEXT.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ([], "no study"),
        (["nowhere.yaml"], "no such file"),
        (["study.yaml", "--device", "cuda"], "CuPy"),
        (["study.yaml", "--device", "tpu"], "no such device"),
        (["study.yaml", "--resume"], "nothing to resume"),
        (["study.yaml", "--resume", "--force"], "contradictory"),
        (["study.yaml", "--scheduler", "nonsense://x"], "cannot be reached"),
        (["study.yaml", "--scheduler", "tcp://127.0.0.1:9", "--device", "cuda"], "contradictory"),
        (["study.yaml", "--threads", "0"], "threads"),
        (["--resume", "--out", "nowhere"], "nothing to resume"),
    ],
)
def test_contradictory_options_are_refused(file, args, told):
    found = polhode(*args)
    assert found.exit_code == 2
    assert told in found.stderr
    assert "Traceback" not in found.output
