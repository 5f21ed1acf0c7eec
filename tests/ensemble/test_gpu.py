"""Runs on a GPU are those of the lanes within rounding; here on a stand-in that runs the same CUDA C."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import fake_cupy
import polhode as ph
from polhode.ensemble.gpu import RECENT
from polhode.kernel.backends import cuda
from polhode.linalg import constrained
from polhode.result.error_estimate import Difference
from polhode.simulation.batch.batch_run import BatchRun
from run_cases import PENDULUM
from study_cases import small


@pytest.fixture(autouse=True)
def cp(monkeypatch):
    """CuPy, or what stands for it."""
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy)
    cuda.cupy.cache_clear()
    RECENT.clear()
    yield fake_cupy
    cuda.cupy.cache_clear()
    RECENT.clear()


@pytest.mark.parametrize("other", [{}, {"step": None, "every": None, "times": 6, "method": "bs32", "tolerance": 1e-6}])
def test_runs_are_those_of_the_lanes_within_rounding(other, tmp_path, monkeypatch):
    study = small(runs=40, **other)
    lanes = ph.sweep(study)
    monkeypatch.setattr(fake_cupy, "FREE", 150_000)  # several batches
    for precision, close in (("double", 1e-12), ("single", 3e-3)):
        found = ph.sweep(study, device="cuda", precision=precision, out=tmp_path / precision)
        assert np.array_equal(found["status"], lanes["status"])
        assert np.array_equal(found["event"], lanes["event"])
        for name in ("q", "v", "height", "highest", "end_time", "q_end", "v_end"):
            assert np.array_equal(np.isnan(found[name]), np.isnan(lanes[name])), name
            assert np.nanmax(abs(found[name].values - lanes[name].values)) < close, (name, precision)
        assert np.array_equal(found["sample"], lanes["sample"])


@pytest.mark.parametrize("method", ["rk4", "generalized-alpha"])
def test_steps_are_split_at_breaks_as_those_of_the_lanes(method):
    asked = {"duration": 0.5, "step": 0.01, "method": method, "accompanied": 1}
    asked["tau"] = lambda t, q, v: [ph.where((t > 0.0731) & (t < 0.0771), 900.0, 0.0)]
    asked["stop"] = {"there": ph.Stop(lambda t, q, v, own: q[0] - 1.3)}
    lanes, found = (
        ph.sweep(PENDULUM, {"start.q.hinge": ph.Grid([0.5, 1.0])}, **asked, device=device) for device in ("cpu", "cuda")
    )
    assert lanes["status"].values.tolist() == [1, 2]
    assert np.array_equal(found["steps"], lanes["steps"])
    for name in ("q", "v_end", "end_time", "error_estimate"):
        assert np.allclose(found[name], lanes[name], rtol=0, atol=1e-12, equal_nan=True), name


def test_companions_of_runs_in_single_are_in_double():
    """They see its rounding; and a hundredth of the tolerance, at which steps in single are rejected without end."""
    asked = {"duration": 0.2, "method": "dopri54", "tolerance": 1e-5, "accompanied": 1, "times": 5}
    asked["tau"] = lambda t, q, v: [ph.where((t > 0.0731) & (t < 0.0771), 900.0, 0.0)]
    begun = len(fake_cupy.launches)
    found = ph.sweep(PENDULUM, {"start.q.hinge": ph.Grid([0.5, 1.0])}, **asked, device="cuda", precision="single")
    assert len(fake_cupy.launches) - begun < 1000
    exact = ph.simulate(PENDULUM, [1.0], duration=0.2, tau=asked["tau"], tolerance=1e-11, samples=5)
    apart = float(np.max(Difference(PENDULUM)({"q": found["q"][1].values, "v": found["v"][1].values}, exact)))
    assert 1e-8 < apart < float(found["error_estimate"][1]) < 3 * apart


@pytest.mark.parametrize(("count", "device"), [(1, "cuda:0,0"), (2, "cuda"), (3, "cuda:2,1")])
def test_several_devices_share_the_runs_and_give_their_bits(count, device, tmp_path, monkeypatch):
    study = small(runs=40)
    one = ph.sweep(study, device="cuda:0", chunk=8)
    monkeypatch.setattr(fake_cupy, "DEVICES", count)
    monkeypatch.setattr(fake_cupy, "devices", used := set())
    here, kept = ph.sweep(study, device=device, chunk=8), ph.sweep(study, device=device, chunk=8, out=tmp_path / "kept")
    for name in one.data_vars:
        for found in (here, kept):
            np.testing.assert_array_equal(found[name].values, one[name].values)
    assert used == {"cuda:0,0": {0}, "cuda": {0, 1}, "cuda:2,1": {1, 2}}[device]


def test_another_sweep_of_a_machine_traces_nothing(monkeypatch):
    study = small(runs=3, outputs={}, stop={}, measures={})
    first, graph = ph.sweep(study, device="cuda"), BatchRun.graph
    monkeypatch.setattr(BatchRun, "graph", lambda self, part: traced.append(part) or graph(self, part))
    traced = []
    again = ph.sweep(study, device="cuda")
    assert not traced
    assert np.array_equal(first["q_end"], again["q_end"])
    ph.sweep(study, device="cuda", precision="single")  # the same graph in other numbers
    assert not traced


def test_devices_that_are_not_there_are_told():
    for device, text in (
        ("cuda:1", "no such GPU"), ("cuda:0,7", "no such GPU"), ("cuda:x", "no such GPU"), ("cuda:", "no such device"),
        ("cpu:0", "no such device"), ("auto:0", "no such device"), ("gpu", "no such device"),
    ):  # fmt: skip
        with pytest.raises(ph.InputError, match=text):
            ph.sweep(small(runs=2), device=device)


def test_batches_are_sized_to_the_memory(monkeypatch):
    from polhode.ensemble.gpu import GpuBatchRun

    runner = ph.StudyRunner(small(runs=40))
    sizes = []
    for free in (2**16, 2**20, 2**24):
        monkeypatch.setattr(fake_cupy, "FREE", free)
        sizes.append(GpuBatchRun(runner.batch).most_runs(runner.timing))
    assert sizes[0] == 64
    assert 10 < sizes[2] / sizes[1] < 20


@pytest.mark.parametrize(
    "policy",
    [pytest.param("none", marks=pytest.mark.long), "baumgarte", pytest.param("project", marks=pytest.mark.long)],
)
def test_constraint_policies_are_those_of_the_lanes(policy):
    model, options = ph.load("four-bar"), {"duration": 0.04, "step": 0.01, "method": "rk4", "constraints": policy}
    drawn = {"bodies.crank.mass": ph.Grid([0.4, 0.7])}
    lanes = ph.sweep(model, drawn, **options)
    found = ph.sweep(model, drawn, **options, device="cuda")
    assert (found["status"] == 1).all()
    assert np.allclose(found["q"], lanes["q"], rtol=0, atol=1e-13)
    assert np.allclose(found["v"], lanes["v"], rtol=0, atol=1e-12)


def _with_a_repeated_loop(model):
    """The model with its first constraint twice: rows that depend on others."""
    return replace(model, constraints=(*model.constraints, replace(model.constraints[0], name="again")))


@pytest.mark.parametrize(
    ("other", "redundant"),
    [
        ({"step": 0.01, "method": "rk4"}, False),
        ({"step": 0.01, "method": "rk4"}, True),
        pytest.param({}, False, marks=pytest.mark.long),
    ],
)
def test_machines_with_many_loops_are_solved_in_loops_over_tables(monkeypatch, other, redundant):
    """The equations of their constraints; where zeros show that rows are dependent, all rows are made orthogonal."""
    monkeypatch.setattr(constrained, "LOOPED", 0)
    model = ph.load("n-four-bar-5")
    model = _with_a_repeated_loop(model) if redundant else model
    drawn, begun = {"bodies.rod0.mass": ph.Grid([1.0, 1.2])}, len(fake_cupy.compiled)
    options = {"duration": 0.03, **other}
    lanes = ph.sweep(model, drawn, **options)
    found = ph.sweep(model, drawn, **options, device="cuda")
    assert any("_turned_begin[" in text for text in fake_cupy.compiled[begun:]) == (not redundant)
    assert (found["status"] == 1).all()
    assert np.allclose(found["q"], lanes["q"], rtol=0, atol=1e-12)
    assert np.allclose(found["v"], lanes["v"], rtol=0, atol=1e-11)


@pytest.mark.parametrize("other", [{"step": 0.02}, {"tolerance": 1e-7}])
def test_joints_that_are_damped_hard_are_those_of_the_lanes(other):
    """By extrapolated steps, damping and start drawn."""
    model = ph.load("double-pendulum")
    drawn = {"joints.elbow.damping": ph.Grid([5e3, 1e4]), "start.q.hinge": ph.Grid([0.5, 1.0])}
    options = {"duration": 0.2, "method": "seulex", **other}
    lanes = ph.sweep(model, drawn, **options)
    found = ph.sweep(model, drawn, **options, device="cuda")
    assert (found["status"] == 1).all()
    assert int(np.max(found["steps"])) < 100
    assert np.allclose(found["q"], lanes["q"], rtol=0, atol=1e-12)
    assert np.allclose(found["v"], lanes["v"], rtol=0, atol=1e-11)
