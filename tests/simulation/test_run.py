"""What the Dataset of a run holds."""

import json
import tracemalloc

import numpy as np
import pytest
import xarray

import polhode as ph
from close import assert_close
from integration import ARM_START, arm
from polhode.simulation import compiled_run as engine_module
from polhode.simulation.simulate import RunLines
from run_cases import PENDULUM, SLIDER

ATTRIBUTES = {
    "model_name", "model", "method", "step", "tolerance", "norm_policy", "seed", "status", "reason", "verdict", "grade",
    "grade_basis", "polhode_version", "python_version", "numpy_version", "machine", "created", "steps_taken",
    "steps_refused",
}  # fmt: skip

MANY = 2_000_000
SMALL = 4_000_000
"""Bytes that a run of MANY steps may need at once: a thousand samples with all that is observed of them."""


@pytest.fixture(scope="module")
def run():
    return ph.simulate(arm(damping=0.2), *ARM_START, 0.5, tau=[0.1, 0, 0, 0.2, 0], samples=23, model_text="arm: here")


def test_poses_and_velocities_are_those_of_the_calls(run):
    system = ph.compile(arm(damping=0.2), target="python")
    q, v = run["q"].values, run["v"].values
    for body in "abc":
        seen = run.sel(body=body)
        pose, velocity = system.pose(q, body), system.velocity(q, v, body)
        assert_close(seen["position"].values, pose.position)
        assert_close(seen["quaternion"].values, pose.quaternion)
        assert_close(seen["velocity"].values, velocity.linear)
        assert_close(seen["omega_world"].values, velocity.angular)
        back = ph.quaternion.conjugate(pose.quaternion)
        assert_close(seen["omega_body"].values, ph.quaternion.rotate(back, velocity.angular))


def test_energies_and_momenta_are_those_of_the_calls(run):
    system = ph.compile(arm(damping=0.2), target="python")
    q, v = run["q"].values, run["v"].values
    kinetic, potential = system.energy(q, v)
    linear, angular = system.momentum(q, v)
    assert_close(run["kinetic_energy"].values, kinetic)
    assert_close(run["potential_energy"].values, potential)
    assert_close(run["total_energy"].values, kinetic + potential)
    assert_close(run["linear_momentum"].values, linear)
    assert_close(run["angular_momentum"].values, angular)


def test_everything_has_a_unit_and_a_name(run):
    for name, variable in run.variables.items():
        assert variable.attrs.get("long_name"), name
        assert "units" in variable.attrs or variable.dtype.kind == "U", name
    assert run["dof"].values.tolist()[-2:] == ["elbow", "slide"]
    sizes = {"time": 23, "coordinate": 6, "dof": 5, "body": 3, "axis": 3, "quat": 4}
    assert dict(run.sizes) == {**sizes, "work_source": 2}


def test_the_attributes_say_what_made_the_run(run):
    assert set(run.attrs) >= ATTRIBUTES
    assert run.attrs["method"] == "dop853"
    assert run.attrs["tolerance"] == 1e-9
    assert run.attrs["step"] == ""
    assert run.attrs["model"] == "arm: here"
    assert run.attrs["status"] == "finished"
    assert run.attrs["steps_taken"] > 0
    fixed = ph.simulate(PENDULUM, [1.0], duration=0.1, step=0.01, method="rk4")
    assert (fixed.attrs["step"], fixed.attrs["tolerance"]) == (0.01, "")
    assert (fixed.attrs["steps_taken"], fixed.attrs["steps_refused"]) == (10, 0)


def test_the_steps_that_led_to_samples_are_told(run):
    sizes = run["step_size"].values
    assert np.isnan(sizes[0])
    assert np.all((sizes[1:] > 0) & (sizes[1:] <= 0.5))
    assert len(np.unique(sizes[1:])) <= run.attrs["steps_taken"]
    fixed = ph.simulate(PENDULUM, [1.0], duration=0.105, step=0.01, method="rk4", every=5)["step_size"].values
    assert np.allclose(fixed, [np.nan, 0.01, 0.01, 0.005], equal_nan=True)


def test_events_are_stored_with_their_times():
    events = [ph.Event("ground", lambda t, q, v: q[0]), ph.Event("top", lambda t, q, v: v[0])]
    run = ph.simulate(SLIDER, [0.0], [9.81], duration=3.0, events=events)
    assert run["event_name"].values.tolist() == ["top", "ground"]
    assert_close(run["event_time"].values, [1.0, 2.0], condition=100)


def test_a_run_that_watched_and_saw_nothing_has_empty_events(tmp_path):
    missed = [ph.Event("ground", lambda t, q, v: q[0])]
    run = ph.simulate(SLIDER, [1.0], duration=0.1, events=missed)
    run.to_netcdf(tmp_path / "run.nc")
    recorded = ph.record(tmp_path / "recorded", SLIDER, [1.0], duration=0.1, events=missed)
    for found in (run, xarray.load_dataset(tmp_path / "run.nc"), recorded):
        assert found["event_time"].shape == found["event_name"].shape == (0,)
        assert found["event_time"].attrs["units"] == "s"
        assert found["event_name"].values.tolist() == []
    assert "event_time" not in ph.simulate(SLIDER, [1.0], duration=0.1)


def test_the_start_of_the_model_is_the_start_of_the_run():
    start = ph.Start(q=(0.3,), v=(0.1,), duration=0.2, method="bs32")
    model = ph.Model("started", bodies=PENDULUM.bodies, joints=PENDULUM.joints, start=start)
    run = ph.simulate(model)
    assert (run.attrs["method"], run["time"].values[-1]) == ("bs32", 0.2)
    assert (run["q"].values[0, 0], run["v"].values[0, 0]) == (0.3, 0.1)
    other = ph.simulate(model, q=[0.5], duration=0.1, method="dopri54")
    assert (other.attrs["method"], other["time"].values[-1]) == ("dopri54", 0.1)
    assert (other["q"].values[0, 0], other["v"].values[0, 0]) == (0.5, 0.1)


def test_a_joint_beyond_its_limit_is_told():
    hinge = ph.Joint("hinge", "revolute", "world", "bob", axis=(0, -1, 0), lower=-0.5, upper=2.0)
    run = ph.simulate(ph.Model("limited", bodies=PENDULUM.bodies, joints=[hinge]), [1.0], duration=1.2, limits=False)
    (note,) = [check for check in json.loads(run.attrs["grade"]) if check["name"] == "joint limit"]
    assert note["value"] == pytest.approx(0.5, abs=1e-3)


def test_a_run_may_be_saved_and_read_again(run, tmp_path):
    from polhode.result.files import load, save

    save(run, tmp_path / "run.nc")
    again = load(tmp_path / "run.nc")
    for name in run.variables:
        assert np.array_equal(run[name], again[name], equal_nan=run[name].dtype.kind == "f")


def test_progress_may_be_lines_on_stderr(capsys):
    ph.simulate(PENDULUM, [1.0], duration=0.7, progress=True)
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines()[-1].startswith(f"{PENDULUM.name}: 100%  t = 0.7 s")
    ph.simulate(PENDULUM, [1.0], duration=0.7, progress=False)
    assert capsys.readouterr().err == ""
    with pytest.raises(ph.InputError, match="simulate, progress: not a function"):
        ph.simulate(PENDULUM, [1.0], duration=0.7, progress=3)


def test_lines_of_progress_say_how_long_it_takes_and_are_some_seconds_apart(capsys):
    RunLines("arm", seconds=60)(0.5, 1.0)
    assert capsys.readouterr().err == ""
    RunLines("arm", seconds=0)(0.5, 1.0)
    assert capsys.readouterr().err == "arm:  50%  t = 1 s  0 s left\n"


@pytest.mark.parametrize("options", [{}, {"step": 0.003, "method": "rk4"}])
def test_progress_rises_from_0_to_1(options):
    told = []
    ph.simulate(PENDULUM, [1.0], duration=0.7, progress=lambda part, t: told.append((part, t)), **options)
    parts = [part for part, _ in told]
    assert (parts[0], parts[-1]) == (0, 1)
    assert parts == sorted(parts)
    assert all(t == pytest.approx(0.7 * part) for part, t in told)


def test_many_steps_need_little_memory_and_no_python(monkeypatch):
    """Two million steps: a thousand samples, and no more calls of compiled code than those."""
    calls = []
    original = engine_module.KeptChain.__call__
    monkeypatch.setattr(engine_module.KeptChain, "__call__", lambda *args: calls.append(0) or original(*args))
    ph.simulate(PENDULUM, [1.0], duration=1e-3, step=1e-4, method="rk4")  # compiled before memory is watched
    tracemalloc.start()
    run = ph.simulate(PENDULUM, [1.0], duration=200.0, step=1e-4, method="rk4")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert run.attrs["steps_taken"] == MANY
    assert run.sizes["time"] == 1001
    assert len(calls) <= 1001
    assert peak <= SMALL
