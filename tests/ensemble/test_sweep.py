"""A study in memory: every run is the run of `simulate`, with the numbers that were drawn for it."""

import json
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats

import polhode as ph
from polhode.ensemble.companions import ACCOMPANIED, enters_rows, errors
from polhode.ensemble.measures import VERDICTS
from polhode.ensemble.study import study as make_study
from polhode.ensemble.study_runner import STATUS
from polhode.ensemble.summary import summary
from polhode.ensemble.sweep import SweepJob, _part
from polhode.ensemble.sweep_options import SweepOptions
from polhode.formats.overrides import overridden
from polhode.result.error_estimate import Difference
from polhode.simulation.batch.batch_records import BatchSamples
from polhode.simulation.companion import FACTOR
from run_cases import CART, PENDULUM
from study_cases import OPTIONS, RUNS, same, samples, small


@pytest.fixture(scope="module")
def model():
    return ph.load("double-pendulum")


@pytest.fixture(scope="module")
def found(model):
    return ph.sweep(model, samples(), **OPTIONS)


def test_runs_are_those_of_simulate_with_the_numbers_drawn(model, found):
    values = found["sample"].to_pandas()
    assert np.array_equal(values["bodies.lower.mass"], values["ratio"] * values["bodies.upper.mass"])
    stopped = found["status"].values == STATUS["stopped"]
    assert 5 < stopped.sum() < RUNS - 5
    for k in (int(np.flatnonzero(stopped)[0]), int(np.flatnonzero(~stopped)[3])):
        masses = [f"{path}={float(values[path][k])!r}" for path in ("bodies.upper.mass", "bodies.lower.mass")]
        q = [values["start.q.hinge"][k], 0.0]
        v = [values["start.v.hinge"][k], values["start.v.elbow"][k]]
        event = ph.Event("down", lambda t, q, v: q[0], direction=-1, terminal=True)
        options = {"duration": 0.2, "step": 1e-3, "method": "rk4", "every": 20, "events": [event]}
        run = ph.simulate(overridden(model, masses), q=q, v=v, **options)
        assert found["end_time"][k] == pytest.approx(float(run["time"][-1]), abs=1e-10)
        n = int(np.sum(found["time"].values <= float(run["time"][-1])))
        assert np.allclose(found["q"][k, :n], run["q"][:n], rtol=0, atol=1e-13)
        assert np.allclose(found["q_end"][k], run["q"][-1], rtol=0, atol=1e-9)
        assert np.isnan(found["q"][k, n:]).all()
        height = -np.cos(found["q"][k, :, 0]) - np.cos(found["q"][k].sum("coordinate", skipna=False))
        assert np.allclose(found["height"][k], height, rtol=0, atol=1e-15, equal_nan=True)
        assert found["highest"][k] == np.nanmax(found["height"][k])


def test_any_run_can_be_repeated_alone_bit_for_bit(found):
    runner = ph.StudyRunner(small())
    for k in (0, 63, 199):
        alone = runner.run(k, k + 1).arrays
        for name, array in alone.items():
            assert np.array_equal(array[0], found[name].values[k], equal_nan=array.dtype.kind == "f"), name


@pytest.mark.parametrize("other", [{"chunk": 7}, {"chunk": 64, "threads": 3}, {"threads": 1}])
def test_neither_chunks_nor_threads_change_a_bit(found, other):
    assert same(found, ph.sweep(small(), **other))


def test_runs_are_graded(model):
    asked = {"samples": {"start.v.hinge": ph.Uniform(0, 5)}, "runs": 16, "duration": 1.0, "method": "rk4"}
    loose, good = (ph.sweep(model, **asked, step=h, accompanied=1.0) for h in (0.05, 0.001))
    assert (good["verdict"] == 1).all()
    assert (loose["verdict"] > 1).all()
    assert (loose["error_estimate"] > 1e3 * good["error_estimate"]).all()
    assert (loose["energy_drift"] > 1e3 * good["energy_drift"]).all()
    k = 5
    one = ph.simulate(model, v=[float(loose["sample"][k, 0]), 0], duration=1.0, step=0.05, method="rk4", every=1)
    drift = next(check for check in json.loads(one.attrs["grade"]) if check["name"] == "energy drift")
    assert float(loose["energy_drift"][k]) == pytest.approx(drift["value"], rel=1e-6)
    assert float(loose["error_estimate"][k]) == pytest.approx(float(one["error_estimate"].max()), rel=1e-6)
    options = {"runs": 8, "duration": 0.1, "step": 0.01, "method": "rk4"}
    damped = ph.sweep(model, {"joints.hinge.damping": ph.Uniform(0.1, 1)}, **options, accompanied=0)
    assert "energy_drift" not in damped
    assert (damped["verdict"] == 0).all()
    assert np.isnan(damped["error_estimate"]).all()


def test_a_seeded_share_of_the_runs_is_accompanied(model):
    asked = {"samples": {"start.v.hinge": ph.Uniform(0, 5)}, "runs": 400, "duration": 0.1, "step": 0.002}
    found = ph.sweep(model, **asked, method="rk4", accompanied=0.1)
    known = ~np.isnan(found["error_estimate"].values)
    assert known[0]
    assert 15 < known.sum() < 80
    assert (found["verdict"].values[known] == 1).all()
    assert (found["verdict"].values[~known] == 0).all()
    assert same(found, ph.sweep(model, **asked, method="rk4", accompanied=0.1, chunk=37))
    told = summary(found).attrs
    assert told["runs_accompanied"] == known.sum()
    assert json.loads(told["verdicts"]) == {"unchecked": 400 - known.sum(), "good": known.sum()}
    other = ph.sweep(model, **asked, method="rk4", accompanied=0.1, seed=1)
    assert not np.array_equal(known, ~np.isnan(other["error_estimate"].values))
    with pytest.raises(ph.InputError, match="accompanied: not a share"):
        ph.sweep(model, **asked, accompanied=2)


def test_runs_that_end_at_a_stop_are_compared_there(model):
    asked = {"samples": {"start.v.hinge": ph.Uniform(1, 5)}, "runs": 8, "duration": 1.0, "accompanied": 1.0}
    stop = {"there": ph.Stop(lambda t, q, v, own: q[0] - 0.2)}
    found = ph.sweep(model, **asked, stop=stop)
    assert (found["status"] == 2).any()
    assert (found["verdict"] == 1).all()


@pytest.mark.parametrize("method", ["rk4", "implicit-midpoint"])
@pytest.mark.parametrize("periods", [1, 2, 3])
def test_a_force_that_repeats_itself_with_every_step_is_seen(method, periods):
    """Steps of whole periods take the force for none, and so would steps of companions that divide them."""
    step = periods / 60
    asked = {"tau": lambda t, q, v: [ph.sin(120 * np.pi * t)], "duration": 20 * step, "step": step, "method": method}
    found = ph.sweep(CART, {"start.v.rail": ph.Grid([0.0, 1.0])}, **asked, accompanied=1)
    assert (found["verdict"] == 3).all()


BREAKS = {
    "box": lambda t, q, v: [ph.where((t >= 1.2034) & (t < 1.3), 40.0, 0.0)],
    "table": ph.Table([1.2034, 1.25, 1.3], [[0.0], [80.0], [0.0]]),
    "smooth": lambda t, q, v: [40.0 * ph.exp(-200 * (t - 1.2034) ** 2)],
}


@pytest.mark.parametrize("kind", BREAKS)
@pytest.mark.parametrize("method", ["rk4", "dop853", "gauss2", "generalized-alpha"])
def test_runs_end_steps_at_breaks_and_are_accompanied_as_those_of_simulate(method, kind):
    """The same bits, and the same estimate of their error."""
    asked = {"duration": 2.0, "tau": BREAKS[kind], "method": method, "step": None if method == "dop853" else 0.01}
    found = ph.sweep(PENDULUM, {"start.q.hinge": ph.Grid([0.0, 1.0])}, **asked, times=11, accompanied=1)
    one = ph.simulate(PENDULUM, [1.0], **asked, samples=11)
    assert np.array_equal(found["q"][1], one["q"])
    assert np.array_equal(found["v"][1], one["v"])
    assert found["steps"][1] == one.attrs["steps_taken"]
    assert found["error_estimate"][1] == one["error_estimate"].max()


def test_at_the_floor_of_rounding_another_method_is_the_companion():
    asked = {"duration": 2.0, "tolerance": 1e-13, "times": 11}
    found = ph.sweep(PENDULUM, {"start.q.hinge": ph.Grid([0.5, 1.0])}, **asked, accompanied=1)
    one = ph.simulate(PENDULUM, [1.0], duration=2.0, tolerance=1e-13, samples=11)
    assert (found["verdict"] == 1).all()
    assert found["error_estimate"][1] == one["error_estimate"].max()


CONDITIONAL = {
    "of the state": ({"start.q.hinge": ph.Grid([0.5, 1.0])}, lambda t, q, v: [ph.where(q[0] > 0.3, 0.1, 0.0)]),
    "of drawn numbers": ({"late": ph.Grid([0.1, 0.2])}, lambda t, q, v, own: [ph.where(t > own["late"], 0.1, 0.0)]),
    "of time": ({"start.q.hinge": ph.Grid([0.5, 1.0])}, lambda t, q, v: [ph.where(t > 0.1234, 0.1, 0.0)]),
}


@pytest.mark.parametrize("kind", CONDITIONAL)
def test_runs_whose_conditions_do_not_end_their_steps_are_not_called_good(kind):
    samples, law = CONDITIONAL[kind]
    found = ph.sweep(PENDULUM, samples, tau=law, duration=0.3, method="bs32", accuracy=1e-4, accompanied=1)
    good = kind == "of time"
    assert (found["error_estimate"] < 1e-4).all()
    assert found["verdict"].values.tolist() == ([1, 1] if good else [0, 0])
    assert found["accompanied"].values.tolist() == [ACCOMPANIED["yes" if good else "conditions"]] * 2
    told = json.loads(summary(found).attrs["accompanied"])
    assert good or "do not end the steps of a sweep" in told["conditions"]["told"]


def four_bars(values, **options):
    """Four bars that lie flat twice within 2 s, where they may fold; values: of the mass of one."""
    model = ph.load("n-four-bar-1")
    drawn = {f"bodies.{model.bodies[0].name}.mass": ph.Grid(values)}
    return ph.sweep(model, drawn, duration=2.0, **options)


@pytest.mark.parametrize("policy", ["baumgarte", "none"])
def test_runs_that_leave_their_branch_in_a_singular_position_are_not_good(policy):
    """Without projection they fold, by radians, and so may their companions, which then agree."""
    found = four_bars(np.linspace(0.9, 1.1, 8).tolist(), constraints=policy, accompanied=1)
    folded = np.max(abs(found["q"].values[:, :, 0] - found["q"].values[:, :, 1]), axis=1) > 1
    assert folded.sum() > 2
    assert set(found["accompanied"].values[folded]) <= {ACCOMPANIED["unwatched"], ACCOMPANIED["singular"]}
    assert (found["verdict"].values[folded] != 1).all()


def test_accompanied_runs_under_constraints_are_watched_at_their_samples():
    found = four_bars([1.0, 1.1], step=1e-3, method="rk4")
    assert found["accompanied"].values.tolist() == [ACCOMPANIED["yes"], ACCOMPANIED["no"]]
    assert found["verdict"].values.tolist() == [1, 0]
    far = ph.sweep(
        ph.load("four-bar"), {"bodies.crank.mass": ph.Grid([0.4])}, duration=1.0, step=0.01, method="rk4", times=11
    )
    assert far["accompanied"].values.tolist() == [ACCOMPANIED["unwatched"]]
    assert far["verdict"].values.tolist() != [1]
    drawn = {"constraints.loop0.position_a.0": ph.Grid([1.0])}
    other = ph.sweep(ph.load("n-four-bar-1"), drawn, duration=0.1, step=1e-3, method="rk4")
    assert other["accompanied"].values.tolist() == [ACCOMPANIED["unwatched"]]
    assert other["verdict"].values.tolist() == [0]


@pytest.mark.parametrize(
    ("path", "enters"),
    [
        ("bodies.a.mass", False), ("gravity.2", False), ("forces.f.stiffness", False), ("joints.j.damping.1", False),
        ("joints.damping.damping", False), ("joints.damping.position.0", True), ("joints.j.position.1", True),
        ("constraints.c.length", True),
    ],
)  # fmt: skip
def test_numbers_that_enter_the_rows_of_constraints_are_known(path, enters):
    body, other = (ph.Body(name, 1.0, (1, 1, 1)) for name in "ab")
    joints = [ph.Joint("j", "revolute", "world", "a"), ph.Joint("damping", "revolute", "a", "b")]
    assert enters_rows(ph.Model("m", bodies=[body, other], joints=joints), path) == enters


@dataclass(frozen=True)
class LossyBand(ph.ForceElement):
    """A band from the world to a body: F = −k x − loss u."""

    name: str
    body: str
    k: Any = 0.0
    loss: Any = 0.0

    kind = "lossy-band"
    keys: ClassVar = {
        "body": ph.Key("body", "where it pulls", needed=True),
        "k": ph.Key("number", "N/m", unit="N/m"),
        "loss": ph.Key("number", "N s/m", unit="N s/m"),
    }

    def wrenches(self, state):
        yield ph.Wrench(self.body, -self.k * state.frame(self.body).o - self.loss * state.twist(self.body).linear)

    def potential(self, state):
        return self.k * ph.dot(state.frame(self.body).o, state.frame(self.body).o) / 2

    def conservative_part(self):
        return self.changed(loss=0.0)

    def other_part(self):
        return None if ph.is_zero(self.loss) else self.changed(k=0.0)


@pytest.mark.parametrize(
    ("drawn", "force", "damping"),
    [
        ("forces.f.damping", ph.Spring("f", "world", "bob", stiffness=3.0), 0.0),
        ("c", ph.Spring("f", "world", "bob", stiffness=3.0, damping=ph.Parameter("c", 0.0)), 0.0),
        ("forces.f.loss", LossyBand("f", "bob", 3.0), 0.0),
        ("c", LossyBand("f", "bob", 3.0, ph.Parameter("c", 0.0)), 0.0),
        ("c", None, ph.Parameter("c", 0.0)),
        ("joints.j.damping.1", None, (0.0, 0.0, 0.0)),
    ],
)
def test_a_number_that_can_take_energy_leaves_their_energy_unjudged_whatever_it_is_called(drawn, force, damping):
    model = ph.Model(
        "m", bodies=[ph.Body("bob", 1.0, (0.1, 0.1, 0.1), (0.0, 0.0, -1.0))],
        joints=[ph.Joint("j", "planar", "world", "bob", position=(0, 0, 1), damping=damping)],
        forces=[force] if force else [],
    )  # fmt: skip
    options = {"v": [1.0, 0.5, 0.3], "duration": 0.1, "step": 0.005, "method": "rk4"}
    lossy = ph.sweep(model, {drawn: ph.Grid([0.1, 1.0])}, **options)
    assert "energy_drift" not in lossy
    kept = ph.sweep(model, {"bodies.bob.mass": ph.Grid([1.0, 2.0])}, **options)
    assert "energy_drift" in kept
    for found in (lossy, kept):
        assert found["verdict"].values.tolist() == [1, 0]  # the first is accompanied


def test_grids_linked_numbers_and_frozen_distributions(model):
    given = {
        "start.q.hinge": ph.Grid([0.1, 0.2, 0.3]),
        "start.q.elbow": ph.Grid([0, 1]),
        "bodies.upper.mass, bodies.lower.mass": ph.Uniform(1, 2),
        "start.v.hinge, start.v.elbow": ph.Listed([[1, 2], [3, 4]]),
        "gravity.2": stats.truncnorm(-1, 1, loc=-9.8, scale=0.1),
    }
    found = ph.sweep(model, given, runs=12, duration=0.01, step=0.001, method="rk4")
    values = found["sample"].to_pandas()
    assert values["start.q.hinge"].tolist() == [0.1, 0.1, 0.2, 0.2, 0.3, 0.3] * 2
    assert (values["bodies.upper.mass"] == values["bodies.lower.mass"]).all()
    assert (values["start.v.elbow"] == values["start.v.hinge"] + 1).all()
    assert values["gravity.2"].between(-9.9, -9.7).all()
    assert (
        ph.sweep(model, {"start.q.hinge": ph.Grid([1, 2])}, duration=0.01, step=0.001, method="rk4").sizes["run"] == 2
    )


def test_attitudes_gains_and_forces_may_be_drawn():
    model = ph.load("free-body")
    found = ph.sweep(
        model, {f"start.q.{model.joints[0].name}": ph.Rotations()}, runs=32, duration=0.1, tolerance=1e-9, times=3
    )
    p = found["q"].values[:, 0, -4:]
    assert np.allclose(np.linalg.norm(p, axis=1), 1)
    arm = ph.load("double-pendulum")
    gains = {"tau.stiffness": ph.Uniform(1, 9), "tau.damping": ph.Uniform(1, 2)}
    pulled = ph.sweep(arm, gains, tau=ph.PD(1.0, 1.0), runs=8, duration=0.1, step=0.001, method="rk4")
    k = 3
    gain = pulled["sample"].values[k]
    one = ph.simulate(arm, tau=ph.PD(*gain.tolist()), duration=0.1, step=0.001, method="rk4", every=1)
    assert np.allclose(pulled["q"][k], one["q"][::1], rtol=0, atol=1e-13)
    pushed = ph.sweep(arm, {"tau.elbow": ph.Uniform(1, 9)}, runs=8, duration=0.1, step=0.001, method="rk4")
    level = float(pushed["sample"][k, 0])
    one = ph.simulate(arm, tau={"elbow": level}, duration=0.1, step=0.001, method="rk4", every=1)
    assert np.allclose(pushed["q"][k], one["q"], rtol=0, atol=1e-13)
    driven = ph.sweep(
        arm,
        {"w": ph.Uniform(1, 9)},
        tau={"hinge": "2*sin(w*t) - v.hinge"},
        runs=8,
        duration=0.1,
        step=0.001,
        method="rk4",
    )
    w = float(driven["sample"][k, 0])
    law = lambda t, q, v: [2 * ph.sin(w * t) - v[0], 0.0]
    one = ph.simulate(arm, tau=law, duration=0.1, step=0.001, method="rk4", every=1)
    assert np.allclose(driven["q"][k], one["q"], rtol=0, atol=1e-13)


GAIN = 1.0


def pull(t, q, v):
    return [-GAIN * q[0], 0.0]


def test_what_a_function_reads_is_never_taken_from_a_kernel_of_before(model, monkeypatch):
    def run():
        given = {"start.q.hinge": ph.Grid([1.0])}
        return ph.sweep(model, given, tau=pull, duration=0.05, step=0.01, method="rk4")

    weak = run()
    monkeypatch.setitem(globals(), "GAIN", 9.0)
    strong = run()
    assert weak.attrs["identity"] != strong.attrs["identity"]
    assert abs(weak["q"][0, -1] - strong["q"][0, -1]).max() > 1e-4


def test_a_run_that_no_machine_could_make_is_refused_alone(model):
    found = ph.sweep(
        model, {"bodies.upper.mass": ph.Normal(0.1, 0.1), "start.q.hinge": ph.Uniform(0, 1)}, runs=64, seed=1,
        duration=0.05, step=0.001, method="rk4",
    )  # fmt: skip
    refused = found["status"].values == STATUS["refused"]
    assert np.array_equal(refused, found["sample"].values[:, 0] <= 0)
    assert 2 < refused.sum() < 40
    reasons = json.loads(found.attrs["reasons"])
    assert set(map(int, reasons)) == set(np.flatnonzero(refused).tolist())
    assert all("mass of 'upper'" in why for why in reasons.values())
    assert np.isnan(found["q"].values[refused]).all()
    assert np.isfinite(found["q"].values[~refused]).all()
    handle = ph.load("t-handle")
    path = f"bodies.{handle.bodies[0].name}.inertia.0"
    flat = ph.sweep(handle, {path: ph.Uniform(1e-9, 1.0)}, runs=32, duration=0.01, step=0.001, method="rk4")
    assert (flat["status"] == STATUS["refused"]).any()


@pytest.mark.parametrize("full", [False, True])
def test_numbers_that_no_machine_could_have_are_refused_by_the_name_of_a_parameter_too(full):
    I1 = ph.Parameter("I1", 1.0)
    inertia = ((I1, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)) if full else (I1, 1.0, 1.0)
    model = ph.Model(
        "m", bodies=[ph.Body("b", ph.Parameter("m1", 1.0), inertia)],
        joints=[ph.Joint("j", "revolute", "world", "b")],
    )  # fmt: skip
    drawn = {"m1": ph.Grid([1.0, -5.0]), "I1": ph.Grid([1.0, 9.0])}
    found = ph.sweep(model, drawn, duration=0.1, step=0.01, method="rk4")
    real = (found["sample"] == [1.0, 1.0]).all("parameter")
    assert ((found["status"] == STATUS["refused"]) == ~real).all()
    assert real.sum() == 1


def test_a_run_that_cannot_be_run_is_set_aside_with_its_reason(found):
    class Poisoned(ph.StudyRunner):
        def run(self, first, last, threads=1, batch=None, skip=None):
            if any(first <= k < last and k not in (skip or {}) for k in (17, 130)):
                raise ArithmeticError("poison")
            return super().run(first, last, threads, batch, skip)

    study = small()
    object.__setattr__(study, "runner", Poisoned)
    left = ph.sweep(study, chunk=64)
    bad = left["status"].values == STATUS["quarantined"]
    assert np.flatnonzero(bad).tolist() == [17, 130]
    assert json.loads(left.attrs["reasons"]) == {str(k): "ArithmeticError: poison" for k in (17, 130)}
    assert np.array_equal(left["q"].values[~bad], found["q"].values[~bad], equal_nan=True)


def test_starts_that_constraints_do_not_allow_are_refused():
    disk = ph.load("rolling-disk")
    height = disk.start.q[2]
    given = {"bodies.disk.mass": ph.Uniform(1, 2), "start.q.flight.pz": ph.Listed([height, height, height + 0.01])}
    found = ph.sweep(disk, given, runs=24, duration=0.05, step=0.01, method="rk4")
    off = found["sample"].values[:, 1] > height
    assert 0 < off.sum() < 24
    assert np.array_equal(found["status"].values == STATUS["refused"], off)
    assert set(json.loads(found.attrs["reasons"]).values()) == {"the start violates the constraints"}
    k = int(np.flatnonzero(~off)[0])
    own = overridden(disk, [f"bodies.disk.mass={float(found['sample'][k, 0])!r}"])
    run = ph.simulate(own, duration=0.05, step=0.01, method="rk4", every=1)
    assert np.allclose(run["q"], found["q"][k], rtol=0, atol=1e-11)


BAD = {
    "unknown parameter": ({"samples": {"bodies.uper.mass": ph.Uniform(1, 2)}}, "bodies.upper.mass"),
    "unused name": ({"samples": {**samples(), "ration": ph.Uniform(1, 2)}}, "no such number"),
    "unknown distribution": ({"samples": {"bodies.upper.mass": 3.0}}, "not a distribution"),
    "no samples": ({"samples": {}}, "nothing to vary"),
    "no runs": ({"runs": 0}, "not a number of runs"),
    "runs not given": ({"runs": None}, "not given"),
    "wrong size": ({"samples": {"start.v": ph.Uniform(0, 1)}}, "wrong size"),
    "twice": ({"samples": {"start.v": ph.Listed([[0, 0]]), "start.v.hinge": ph.Uniform(0, 1)}}, "given twice"),
    "drawn and derived": ({"derived": {"ratio": "2"}}, "drawn as well"),
    "unknown in expression": ({"derived": {"bodies.lower.mass": "ratios*ratio"}}, "an unknown name"),
    "bad expression": ({"outputs": {"x": "sin(q.hinge"}, "measures": {}}, "closing parenthesis"),
    "bad stop": ({"stop": {"x": ph.Stop("q.knee")}}, "an unknown name"),
    "bad measure": ({"measures": {"x": ph.Measure("max", "q.knee")}}, "of nothing known"),
    "bad keep": ({"keep": ["q.knee"]}, "no such part"),
    "bad method": ({"method": "rk5"}, "rk5"),
    "bad step": ({"step": -1.0}, "out of range"),
    "not whole": ({"duration": 0.2005}, "whole number of steps"),
    "bad design": ({"design": "sobols"}, "no such design"),
    "bad seed": ({"seed": 1.5}, "not a seed"),
    "no gains": ({"samples": {"tau.stiffness": ph.Uniform(1, 2)}}, "no gains"),
    "bad threads": ({"threads": 0}, "threads"),
    "bad chunk": ({"chunk": 0}, "chunk"),
    "bad device": ({"device": "tpu"}, "no such device"),
    "single on cpu": ({"precision": "single"}, "contradictory"),
    "resume nothing": ({"resume": True}, "no folder"),
    "resume and force": ({"resume": True, "force": True, "out": "x"}, "contradictory"),
    "scheduler without store": ({"scheduler": "tcp://nowhere:1"}, "no store"),
    "grid does not fit": ({"samples": {"start.q.hinge": ph.Grid([1, 2, 3])}}, "does not fit the grids"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told_before_anything_is_computed(model, name, monkeypatch, tmp_path):
    monkeypatch.setattr("polhode.simulation.batch.batch_run.BatchRun.run", lambda *args: pytest.fail("computed"))
    monkeypatch.chdir(tmp_path)
    other, told = BAD[name]
    asked = {"samples": samples(), **OPTIONS, **other}
    if "samples" in other:
        asked = {k: x for k, x in asked.items() if k not in ("derived", "outputs", "stop", "measures")}
        if name == "unused name":
            asked["derived"] = OPTIONS["derived"]
    with pytest.raises(ph.InputError, match=told):
        ph.sweep(model, **asked)


def test_no_gpu_is_told(model):
    with pytest.raises(ph.CompileError, match="CuPy"):
        ph.sweep(model, samples(), **OPTIONS, device="cuda")
    with pytest.warns(ph.PolhodeWarning, match="no GPU is used, the processor runs"):
        found = ph.sweep(small(runs=16), device="auto")
    assert same(found, ph.sweep(small(runs=16)))


@pytest.mark.parametrize(
    ("stiffness", "method", "more", "expected"),
    [
        (1e8, "radau3", {}, "damped"),
        (1.0, "radau3", {}, "yes"),
        (1e8, "gauss2", {}, "yes"),
        (1.0, "radau3", {"joints.x.stiffness": ph.Uniform(1.0, 2.0)}, "damped"),
    ],
)
def test_a_method_that_extinguishes_oscillations_is_not_called_good(stiffness, method, more, expected):
    """Both the run and its companion lose what their steps do not resolve, though it lasts."""
    joint = ph.Joint("x", "prismatic", "world", "mass", stiffness=stiffness, damping=1e-4)
    model = ph.Model("spring", bodies=[ph.Body("mass", 1.0, (1, 1, 1))], joints=[joint], gravity=(0, 0, 0))
    found = ph.sweep(
        model,
        {"start.q.x": ph.Uniform(1e-3, 2e-3), **more},
        runs=2,
        duration=20.0,
        step=0.05,
        method=method,
        accompanied=1,
    )
    assert found["accompanied"].values.tolist() == [ACCOMPANIED[expected]] * 2
    if expected == "damped":
        assert not np.any(found["verdict"].values == VERDICTS["good"])


def test_the_final_value_of_a_run_that_was_stopped_is_where_it_ended():
    stop = {"low": ph.Stop(lambda t, q, v, own: q[0] + 0.5)}
    found = ph.sweep(
        PENDULUM, {"start.q.hinge": ph.Grid([0.2, 1.0])}, duration=3.0, times=4, stop=stop,
        measures={"last": ph.Measure("final", "q.hinge"), "rate": ph.Measure("final", "v.hinge")},
    )  # fmt: skip
    assert found["status"].values.tolist() == [1, 2]
    assert found["last"].values[1] == found["q_end"].values[1, 0] == pytest.approx(-0.5)
    assert found["rate"].values[1] == found["v_end"].values[1, 0]
    assert found["last"].values[0] == found["q"].values[0, -1, 0]


@pytest.mark.parametrize("together", [2**18, 20])
def test_errors_of_many_runs_are_those_of_each_alone(monkeypatch, together):
    """Samples that one of a pair lacks do not count, quaternions have no sign, and another end is an error."""
    monkeypatch.setattr("polhode.ensemble.companions.TOGETHER", together)
    rng, model, n, times = np.random.default_rng(5), ph.load("free-body"), 40, 6

    def batch(q, v):
        q = (q + 1e-6 * rng.normal(size=q.shape)) * rng.choice([-1.0, 1.0], (n, times, 1))
        q[:, :, :3] = abs(q[:, :, :3])
        v, end, status = v + 1e-6 * rng.normal(size=v.shape), 1 + 1e-7 * rng.random(n), 1.0 * (rng.random(n) < 0.1)
        late = rng.random((n, times)) < 0.1
        q[late], v[late] = np.nan, np.nan
        v[7, 3, 2] = np.nan
        return BatchSamples(q, v, q[:, :, :0], status, end, q[:, 0], v[:, 0], status, status, status)

    q, v = rng.normal(size=(n, times, model.nq)), 10 * rng.normal(size=(n, times, model.nv))
    a, b = batch(q, v), batch(q, v)

    def alone(k):
        there = ~np.isnan(a.q[k]).any(axis=1) & ~np.isnan(b.q[k]).any(axis=1)
        one, other = ({"q": x.q[k][there], "v": x.v[k][there]} for x in (a, b))
        late = abs(a.end[k] - b.end[k]) / (1 + a.end[k])
        worst = max(np.max(Difference(model)(one, other), initial=0.0), late)
        return FACTOR * worst if a.status[k] == b.status[k] else np.inf

    expected = [alone(k) for k in range(n)]
    assert 0 < np.isinf(expected).sum() < n
    np.testing.assert_array_equal(errors(model, a, b), expected)


@pytest.mark.parametrize(("seconds", "chunks"), [(0.01, 1), (0.16, 1), (0.35, 2), (0.5, 3), (9.0, 4)])
def test_a_thread_gets_fewer_chunks_of_runs_that_take_no_time(seconds, chunks):
    assert len(range(0, 4096, int(_part(4096, seconds)))) == chunks
    assert _part(20, seconds) in (5, 64)  # at least as many runs as lanes are filled with, where it may choose


def test_a_thread_that_is_alone_makes_no_more_chunks_than_it_must(monkeypatch):
    """It waits for no other, and each chunk has files of its own."""
    monkeypatch.setattr("polhode.ensemble.sweep._cost", lambda runner: 2.5e-5)  # 0.4 s for all
    given = make_study(
        ph.load("free-body"), {"start.v.flight.speed_x": ph.Normal(0, 1)}, runs=16384, duration=1.0, step=0.1, every=10
    )
    assert SweepJob(given, SweepOptions(threads=1))._size() == 16384
    long = replace(given, runs=65536)
    assert SweepJob(long, SweepOptions(threads=1))._size() == 19968  # 0.5 s


def test_a_short_study_in_memory_is_one_chunk_that_all_threads_share(monkeypatch):
    """Its runs are drawn, graded and gathered once; one on disk has a chunk for each thread, to be written by it."""
    monkeypatch.setattr("polhode.ensemble.sweep._cost", lambda runner: 2e-5)
    drawn = {"start.v.flight.speed_x": ph.Normal(0, 1)}
    given = make_study(ph.load("free-body"), drawn, runs=16384, duration=1.0, step=0.1, every=10)
    assert SweepJob(given, SweepOptions(threads=4))._size() == 16384
    assert SweepJob(given, SweepOptions(threads=4, out="there"))._size() == 4096
    assert SweepJob(replace(given, runs=262144), SweepOptions(threads=4))._size() < 65536


@pytest.mark.parametrize("drawn", ["start.v.joint1", "start.q.joint1"])
def test_threads_that_share_a_chunk_give_the_bits_of_one(drawn):
    options = {"runs": 700, "duration": 0.02, "step": 1e-3, "method": "rk4", "every": 20, "accompanied": 0.2}
    one, several = (ph.sweep(ph.load("arm-7"), {drawn: ph.Normal(0, 2.0)}, threads=n, **options) for n in (1, 5))
    assert same(one, several)
    assert (one["status"] == STATUS["refused"]).any() == (drawn == "start.q.joint1")


def test_starts_that_are_alike_are_refused_alike(monkeypatch):
    """Limits are looked at once for all runs where none has a start of its own."""
    asked = []
    real = ph.ensemble.study_runner.beyond_limits
    monkeypatch.setattr("polhode.ensemble.study_runner.beyond_limits", lambda m, q: asked.append(len(q)) or real(m, q))
    arm, options = ph.load("arm-7"), {"duration": 0.01, "step": 1e-3, "method": "rk4"}
    found = ph.sweep(arm, {"start.v.joint1": ph.Normal(0, 1)}, runs=50, **options)
    assert (found["status"] == STATUS["finished"]).all()
    assert set(asked) == {1}
