"""Whatever numbers and names a study has: it runs, or a message says what is wrong, before anything is computed."""

import re
import time

import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import main
from polhode.ensemble.study import study
from polhode.ensemble.study_file import study_of

TEXT = """\
study: small
model: double-pendulum
runs: 8
seed: 3
duration: 0.02
step: 1e-3
method: rk4
every: 10
tolerance: 1e-9
parameters:
  bodies.upper.mass: {normal: [1, 0.1]}
  start.q.hinge: {uniform: [-1, 1]}
  c: {listed: [1, 2]}
derived: {joints.hinge.damping: 2*c}
outputs: {height: -cos(q.hinge)}
measures: {calm: {settle: q.hinge, target: 0, band: 0.1}}
stop: {over: {when: q.hinge - 3, direction: 1}}
"""
VALUES = [".inf", "-.inf", ".nan", "1e300", "1/0", "-1", "0", "1e30", "0/0", "log(-1)", "1e308*10", "sqrt(-1)", "~",
          "[]", "{}", "true", "x", "1e999", "9" * 400, "''"]  # fmt: skip
PLACES = {
    "runs": "runs: 8", "seed": "seed: 3", "duration": "duration: 0.02", "step": "step: 1e-3", "every": "every: 10",
    "tolerance": "tolerance: 1e-9", "mean": "[1, 0.1]", "low": "[-1, 1]", "listed": "[1, 2]", "derived": "2*c",
    "output": "-cos(q.hinge)", "target": "target: 0", "band": "band: 0.1", "when": "when: q.hinge - 3",
    "direction": "direction: 1",
}  # fmt: skip


def replaced(place, value):
    old = PLACES[place]
    new = re.sub(r"(?<=: ).*" if ": " in old else r"(?<=\[)[^,]*|^[^\[]*$", lambda _: value, old, count=1)
    assert old in TEXT
    return TEXT.replace(old, new, 1)


@pytest.mark.parametrize("place", PLACES)
def test_no_number_of_a_study_ends_in_a_traceback(place):
    is_survived(place, [".inf", ".nan", "1e300", "1/0", "1e308*10", "~"])


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
def test_no_odd_value_of_a_study_ends_in_a_traceback(place):
    is_survived(place, VALUES)


def is_survived(place, values):
    """Each either makes a study or is told with the place; none takes long."""
    for value in values:
        begin = time.monotonic()
        try:
            ph.sweep(study_of(replaced(place, value)), threads=1)
        except ph.PolhodeError as error:
            assert "found" in str(error)  # noqa: PT017
        assert time.monotonic() - begin < 10, (place, value)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("runs", ".inf", r":3, runs.*not finite"),
        ("runs", ".nan", r":3, runs.*not finite"),
        ("seed", "1e300", "not a seed"),
        ("duration", "1/0", r":5, duration.*division by zero"),
        ("runs", "1e30", "more than any study has"),
        ("runs", "1e12", r"more work than is allowed.*\n.*1e\+12 runs(.|\n)*--max-runs 1e12"),
        ("step", "1e-300", r"step.*too small"),
        ("duration", "1e9", r"8e\+12 steps in all(.|\n)*--max-steps 8e12"),
        ("derived", "c/(c-c)*(1/0)", "division by zero"),
        ("output", "1/0", "division by zero"),
        ("when", "1/0", "division by zero"),
        ("direction", "0.5", "no such direction"),
    ],
)
def test_numbers_are_told_with_their_place(place, value, words):
    with pytest.raises(ph.InputError, match=words):
        ph.sweep(study_of(replaced(place, value)))


def test_work_is_counted_beforehand_and_the_limits_can_be_raised(tmp_path):
    model, drawn = ph.load("double-pendulum"), {"start.q.hinge": ph.Uniform(0, 1)}
    asked = {"duration": 1.0, "step": 1e-3, "method": "rk4", "every": 100}
    begin = time.monotonic()
    for more, option in [
        ({"runs": 2 * 10**9, "keep": []}, "--max-runs"),
        ({"runs": 10**6, "step": 1e-9}, "--max-steps"),
        ({"runs": 10**9, "every": 1}, "--max-bytes"),
        ({"runs": 1, "step": None, "every": None, "method": "dop853", "times": 10**12}, "--max-memory"),
        ({"runs": 10**9, "design": "latin", "keep": []}, "--max-memory"),
    ]:
        with pytest.raises(ph.InputError, match=option) as caught:
            ph.sweep(model, drawn, **(asked | more), out=tmp_path / "s")
        assert "runs" in str(caught.value)
        assert "samples of each run" in str(caught.value)
    assert time.monotonic() - begin < 5
    assert not (tmp_path / "s").exists()
    small = asked | {"runs": 10}
    for name, value in [("max_runs", 5), ("max_steps", 100), ("max_bytes", 1000), ("max_memory", 1000)]:
        with pytest.raises(ph.InputError, match=name):
            ph.sweep(model, drawn, **small, **{name: value})
        with pytest.raises(ph.InputError, match="not a limit"):
            ph.sweep(model, drawn, **small, **{name: float("nan")})
    assert ph.sweep(model, drawn, **small, max_runs=10).sizes["run"] == 10


def test_large_runs_are_computed_few_at_a_time():
    model = ph.load("double-pendulum")
    study_ = study(model, {"start.q.hinge": ph.Uniform(0, 1)}, runs=128, duration=20.0, step=1e-4, method="rk4", every=1, keep=[])  # noqa: E501  # fmt: skip
    from polhode.ensemble.sweep import SweepJob
    from polhode.ensemble.sweep_options import SweepOptions

    assert SweepJob(study_, SweepOptions(threads=1))._size() < 16


NAMES = [
    "q", "v", "Q", "status", "time", "sample", "event", "end_time", "q_end", "run", "coordinate", "kinetic_energy",
    "q.hinge", "v.elbow", "a/b", "a\\b", "..", ".", "", "...", "zarr.json", "c", ".zgroup", "x" * 300, "é" * 150,
    "a\nb", "a\x00b", "a\u202eb", "__x", "nul", "COM1", "con.txt", "a:b", " a", "a ", "a.", "quantile", "so_far",
    "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["outputs", "measures"])
def test_names_that_collide_or_cannot_be_files_are_refused_by_name(tmp_path, kind):
    rule = "q.hinge" if kind == "outputs" else ph.Measure("max", "q.hinge")
    model, drawn = ph.load("double-pendulum"), {"start.q.hinge": ph.Uniform(0, 1)}
    for name in NAMES:
        with pytest.raises(ph.InputError, match=f"{kind[:-1]}"):
            ph.sweep(model, drawn, runs=4, duration=0.1, out=tmp_path / "s", **{kind: {name: rule}})
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("outputs", "measures"),
    [
        (["height"], ["height"]),
        (["height"], ["HEIGHT"]),
        (["straße", "STRASSE"], []),
        (["e\u0301", "\u00e9"], []),
        ([], ["a", "a_so_far"]),
        ([], ["a_x", "A_X"]),
    ],
)
def test_names_that_differ_too_little_are_refused(outputs, measures):
    given = {
        "outputs": dict.fromkeys(outputs, "q.hinge"),
        "measures": dict.fromkeys(measures, ph.Measure("max", "q.hinge")),
    }
    with pytest.raises(ph.InputError, match="a name that is taken"):
        ph.sweep(ph.load("double-pendulum"), {"start.q.hinge": ph.Uniform(0, 1)}, runs=4, duration=0.1, **given)


@pytest.mark.parametrize(
    "wrong",
    [
        {"keep": 5}, {"keep": [5]}, {"outputs": ["height"]}, {"outputs": {"x": 5}}, {"measures": {"x": "max"}},
        {"stop": 5}, {"tau": {"hinge": None}}, {"runs": 1e30}, {"runs": True}, {"runs": float("nan")},
        {"threads": 10**9}, {"chunk": 0}, {"chunk": -1}, {"chunk": 1.5},
        {"duration": float("inf")}, {"seed": -1}, {"name": "a\nb"}, {"every": 10**300},
    ],
)  # fmt: skip
def test_wrong_arguments_are_told(wrong):
    given = {"runs": 4, "duration": 0.1, "step": 0.01, "method": "rk4"} | wrong
    if "every" in wrong:
        ph.sweep(ph.load("double-pendulum"), {"start.q.hinge": ph.Uniform(0, 1)}, **given)
        return
    with pytest.raises(ph.InputError):
        ph.sweep(ph.load("double-pendulum"), {"start.q.hinge": ph.Uniform(0, 1)}, **given)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ph.Uniform(-1e308, 1e308),
        lambda: ph.Normal(10**400, 1),
        lambda: ph.Normal(1j, 1),
        lambda: ph.Rotations(mean=(float("nan"), 0, 0, 0)),
        lambda: ph.Rotations(mean=None),
        lambda: ph.Listed([10**400]),
        lambda: ph.Measure("settle", "q", 0.0, float("inf")),
        lambda: ph.Measure("max", None),
        lambda: ph.Measure(["max"], "q"),
    ],
)
def test_distributions_and_measures_of_no_numbers_are_refused(make):
    with pytest.raises(ph.InputError):
        make()


def test_a_parameter_named_as_the_time_is_refused():
    with pytest.raises(ph.InputError, match="the name of the time"):
        ph.sweep(ph.load("double-pendulum"), {"t": ph.Uniform(0, 1)}, runs=4, duration=0.1, outputs={"x": "t"})


def test_the_command_tells_the_counts_and_the_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(TEXT)
    found = CliRunner().invoke(main, ["sweep", "study.yaml", "--runs", "10000000000"], catch_exceptions=False)
    assert found.exit_code == 2
    assert "1e+10 runs" in found.stderr
    assert "--max-runs 1e10" in found.stderr
    found = CliRunner().invoke(main, ["sweep", "study.yaml", "--chunk", "0"], catch_exceptions=False)
    assert found.exit_code == 2
    assert "chunk" in found.stderr
    assert not (tmp_path / "study-sweep").exists()
