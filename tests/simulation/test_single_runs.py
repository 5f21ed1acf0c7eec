"""Sweeps of machines with events of force elements: every run is followed by itself, with the bits of `simulate`."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import polhode as ph
from polhode.ensemble.measures import VERDICTS
from polhode.ensemble.study_runner import STATUS
from study_cases import same


def slider(name, *forces, **others):
    block = ph.Body("block", 1.0, (0.1, 0.1, 0.1))
    return ph.Model(
        name, bodies=[block], joints=[ph.Joint("slide", "prismatic", "world", "block", **others)], forces=forces
    )


BELT = slider(
    "belt",
    ph.JointFriction("rub", "slide", coulomb=1.0, static=2.0, drive_speed=0.3, method="events"),
    axis=(1, 0, 0),
    stiffness=4.0,
)
BALL = slider("ball", ph.ImpactStop("floor", "slide", lower=0.0, restitution=0.6), axis=(0, 0, 1))
LOCK = slider("lock", ph.JointLock("lock", "slide", lock_time=0.1, release_time=0.2), axis=(0, 0, 1))

ASKED = {
    "belt": (BELT, {"forces.rub.coulomb": ph.Grid([0.8, 1.2])}, {"duration": 6.0}),
    "ball": (BALL, {"forces.floor.restitution": ph.Grid([0.5, 0.7])}, {"duration": 1.0, "q": [0.5]}),
    "lock, equal steps": (
        LOCK, {"bodies.block.mass": ph.Grid([0.5, 2.0])}, {"duration": 0.3, "step": 0.01, "method": "rk4"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ASKED)
def test_runs_have_the_bits_of_simulate(case):
    model, drawn, options = ASKED[case]
    runs = ph.sweep(model, drawn, times=11, accompanied=1.0, **options)
    (path,) = drawn
    assert runs.attrs["single_runs"].startswith("events of force elements, '")
    for k in range(2):
        one = ph.simulate(model, parameters={path: float(runs["sample"][k, 0])}, samples=11, **options)
        assert one.sizes["event"]
        for name in ("q", "v"):
            assert np.array_equal(one[name].values, runs[name].values[k])
            assert np.array_equal(one[name].values[-1], runs[f"{name}_end"].values[k])
        assert runs["steps"][k] == one.attrs["steps_taken"]
    assert np.all(runs["status"] == STATUS["finished"])
    assert np.all(runs["verdict"] == VERDICTS["good"])
    assert np.all(runs["error_estimate"] < 1e-6)


def test_stops_outputs_measures_stores_and_resumed_runs_are_those_of_any_study(tmp_path):
    asked = {
        "runs": 5, "seed": 3, "duration": 1.0, "times": 6, "accompanied": 0.5,
        "outputs": {"height": "2*q.slide + t"}, "measures": {"highest": ph.Measure("max", "height")},
        "stop": {"rises": ph.Stop("v.slide - 1", -1)},
    }  # fmt: skip
    drawn = {"start.q.slide": ph.Uniform(0.2, 1.0)}
    found = ph.sweep(BALL, drawn, **asked)
    assert np.all(found["status"] == STATUS["stopped"])
    fall = np.sqrt(2 * found["sample"].values[:, 0] / 9.81)
    rise = (0.6 * 9.81 * fall - 1.0) / 9.81
    np.testing.assert_allclose(found["end_time"], fall + rise, atol=1e-9)
    np.testing.assert_allclose(found["height"], 2 * found["q"][:, :, 0] + found["time"])
    kept = ph.sweep(BALL, drawn, out=tmp_path / "s", chunk=2, threads=2, **asked)
    assert same(found, kept.load())
    next((tmp_path / "s").rglob("receipts/000001.json")).unlink()
    assert same(found, ph.sweep(BALL, drawn, out=tmp_path / "s", resume=True, **asked).load())


@dataclass(frozen=True)
class Restless(ph.ForceElement):
    """An element whose event is due for ever where its joint is beyond a limit."""

    name: str
    joint: str

    kind = "test-restless"
    keys: ClassVar = {"joint": ph.Key("joint", "the joint it looks at", needed=True)}
    modes: ClassVar = {"count": "1"}

    def events(self):
        more = ph.Jump({"count": 1.0})
        return [ph.ElementEvent("again", lambda state: state.coordinate(self.joint) - 0.5, lambda state: more)]


def test_a_run_that_fails_leaves_the_others_alone_and_says_why():
    model = slider("restless", Restless("r", "slide"), axis=(0, 0, -1))
    runs = ph.sweep(model, {"start.q.slide": ph.Grid([-1.0, 0.0, -2.0])}, duration=0.4, accompanied=0.0)
    assert runs["status"].values.tolist() == [STATUS[x] for x in ("finished", "failed", "finished")]
    assert runs["verdict"][1] == VERDICTS["failed"]
    assert runs["end_time"][1] == pytest.approx(np.sqrt(2 * 0.5 / 9.81), abs=1e-9)
    assert "events of elements follow one another without end" in json.loads(runs.attrs["reasons"])["1"]


def test_a_gpu_refuses_them_by_name():
    drawn = {"start.q.slide": ph.Grid([0.5, 1.0])}
    with pytest.raises(ph.InputError, match=r"not on a GPU(.|\n)*'floor.hits-lower'(.|\n)*device=\"cpu\""):
        ph.sweep(BALL, drawn, duration=0.1, device="cuda")
    with pytest.warns(ph.PolhodeWarning, match="one by one"):
        ph.sweep(BALL, drawn, duration=0.1, device="auto")
