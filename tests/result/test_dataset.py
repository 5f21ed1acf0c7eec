"""A motion as a Dataset: names, units, frames, what made it."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from polhode.result import dataset as dataset_module
from polhode.result.checks import grade
from polhode.result.dataset import Extra, Facts, Trajectory, completed, dataset
from polhode.result.error_estimate import ErrorEstimate
from polhode.result.variables import copier, variable_maker
from polhode.result.verdict import Grade

BRICK = (0.1, 0.2, 0.25)


def crane():
    """A free base, a revolute boom, a spherical hook, a prismatic rod: every kind of unit."""
    names = ["base", "boom", "hook", "rod"]
    kinds = ["free", "revolute", "spherical", "prismatic"]
    joints = [
        ph.Joint(f"to_{name}", kind, parent, name)
        for name, kind, parent in zip(names, kinds, ["world", *names[:-1]], strict=True)
    ]
    return ph.Model("crane", bodies=[ph.Body(name, 1.0, BRICK) for name in names], joints=joints)


def random_trajectory(model, n=7, seed=0, **more):
    rng = np.random.default_rng(seed)
    bodies = len(model.bodies)
    others = {
        "tau": rng.normal(size=(n, model.nv)),
        "position": rng.normal(size=(n, bodies, 3)),
        "quaternion": rng.normal(size=(n, bodies, 4)),
        "velocity": rng.normal(size=(n, bodies, 3)),
        "omega_world": rng.normal(size=(n, bodies, 3)),
        "kinetic_energy": rng.uniform(size=n),
        "potential_energy": rng.normal(size=n),
        "linear_momentum": rng.normal(size=(n, 3)),
        "angular_momentum": rng.normal(size=(n, 3)),
        "step_size": rng.uniform(size=n),
    }
    q, v = rng.normal(size=(n, model.nq)), rng.normal(size=(n, model.nv))
    return Trajectory(np.arange(n) / 10, q, v, others, **more)


def test_coordinates_and_velocities_are_named_after_their_joints():
    run = dataset(crane(), random_trajectory(crane()))
    assert run["coordinate"].values.tolist() == [
        *(f"to_base.{x}" for x in ("px", "py", "pz", "w", "x", "y", "z")),
        "to_boom",
        *(f"to_hook.{x}" for x in "wxyz"),
        "to_rod",
    ]
    assert run["dof"].values.tolist() == [
        *(f"to_base.{x}" for x in ("speed_x", "speed_y", "speed_z", "omega_x", "omega_y", "omega_z")),
        "to_boom",
        *(f"to_hook.omega_{x}" for x in "xyz"),
        "to_rod",
    ]


def test_every_coordinate_has_its_unit():
    run = dataset(crane(), random_trajectory(crane()))
    assert run["coordinate_units"].values.tolist() == ["m"] * 3 + ["1"] * 4 + ["rad"] + ["1"] * 4 + ["m"]
    assert run["dof_units"].values.tolist() == ["m/s"] * 3 + ["rad/s"] * 3 + ["rad/s"] + ["rad/s"] * 3 + ["m/s"]
    assert run["force_units"].values.tolist() == ["N"] * 3 + ["N m"] * 3 + ["N m"] + ["N m"] * 3 + ["N"]
    assert [run[name].units for name in ("q", "v", "tau")] == [
        "see coordinate_units",
        "see dof_units",
        "see force_units",
    ]


@pytest.mark.parametrize("kind", ["screw", "cylindrical", "universal", "planar", "fixed"])
def test_units_and_names_are_as_many_as_the_coordinates(kind):
    options = {"pitch": 0.1} if kind == "screw" else {}
    joint = ph.Joint("j", kind, "world", "b", **options)
    run = dataset(ph.Model("m", bodies=[ph.Body("b", 1, BRICK)], joints=[joint]), still(joint.nq, joint.nv))
    assert run.sizes["coordinate"] == len(run["coordinate_units"]) == joint.nq
    assert run.sizes["dof"] == len(run["force_units"]) == joint.nv


def still(nq, nv, n=2):
    return Trajectory(np.arange(float(n)), np.zeros((n, nq)), np.zeros((n, nv)))


def test_a_model_of_one_kind_of_joint_has_plain_units():
    model = ph.Model("m", bodies=[ph.Body("b", 1, BRICK)], joints=[ph.Joint("j", "revolute", "world", "b")])
    run = dataset(model, still(1, 1))
    assert (run["q"].units, run["v"].units) == ("rad", "rad/s")


def test_names_that_would_meet_are_written_in_full():
    bodies = [ph.Body("a", 1, BRICK), ph.Body("b", 1, BRICK)]
    joints = [ph.Joint("j", "spherical", "world", "a"), ph.Joint("j.w", "revolute", "a", "b")]
    run = dataset(ph.Model("m", bodies=bodies, joints=joints), still(5, 4))
    assert run["coordinate"].values.tolist() == ["j.w", "j.x", "j.y", "j.z", "j.w.angle"]


def test_every_variable_says_its_unit_and_meaning():
    run = dataset(crane(), random_trajectory(crane(), events=[(0.25, "hit")]))
    for name in run.data_vars:
        assert run[name].attrs["long_name"]
        assert name == "event_name" or run[name].attrs["units"]
    assert run["position"].frame == run["omega_world"].frame == "world axes"
    assert run["omega_body"].frame == "body axes"
    assert run["angular_momentum"].units == "kg m2/s"
    assert run["time"].units == "s"
    assert (run["event_time"].item(), run["event_name"].item()) == (0.25, "hit")
    assert run["quaternion"].dims == ("time", "body", "quat")
    assert run["quaternion"].sel(body="boom", quat="w").shape == (7,)


def test_what_follows_from_the_arrays_is_filled_in():
    model, trajectory = crane(), random_trajectory(crane())
    run = dataset(model, trajectory)
    np.testing.assert_array_equal(run["total_energy"], run["kinetic_energy"] + run["potential_energy"])
    p = run["quaternion"].values / np.linalg.norm(run["quaternion"], axis=-1, keepdims=True)
    np.testing.assert_allclose(ph.quaternion.rotate(p, run["omega_body"]), run["omega_world"], rtol=1e-13, atol=1e-13)
    back = completed(model, {"quaternion": run["quaternion"], "omega_body": run["omega_body"]})
    np.testing.assert_allclose(back["omega_world"], run["omega_world"], rtol=1e-13, atol=1e-13)
    q = trajectory.q
    lengths = [np.linalg.norm(q[:, 3:7], axis=1), np.linalg.norm(q[:, 8:12], axis=1)]
    np.testing.assert_array_equal(run["norm_error"], np.max(abs(np.array(lengths) - 1), axis=0))


def test_a_failed_run_may_hold_nan_and_infinity():
    trajectory = random_trajectory(crane())
    trajectory.q[-1], trajectory.v[-1] = np.nan, np.inf
    trajectory.others["quaternion"][-1] = 0
    trajectory.others["omega_world"][-1] = np.inf
    run = dataset(crane(), trajectory, Facts(status="failed", reason="the state is not finite"))
    assert np.isnan(run["norm_error"][-1])
    assert run.status == "failed"
    assert run.reason == "the state is not finite"


def test_attributes_say_what_made_the_run():
    error = ErrorEstimate(np.arange(3.0), np.zeros(3), True, "made up")
    verdict = grade({"time": np.arange(3.0), "total_energy": np.ones(3)}, tolerance=1e-9, error=error)
    facts = Facts("dop853", tolerance=1e-9, norm_policy="project", model_text="name: crane", seed=3, grade=verdict)
    run = dataset(crane(), random_trajectory(crane()), facts)
    assert run.attrs["method"] == "dop853"
    assert run.attrs["tolerance"] == 1e-9
    assert run.attrs["step"] == ""  # not said
    assert (run.model_name, run.model, run.seed, run.verdict) == ("crane", "name: crane", 3, "good")
    assert (Grade.of(run.attrs), run.good_until) == (verdict, 2.0)
    assert run.attrs["polhode_version"] == ph.__version__
    assert {"python_version", "numpy_version", "machine", "created", "norm_policy"} <= run.attrs.keys()


def test_a_run_is_the_same_if_its_date_is():
    facts = Facts(created="2026-01-02T03:04:05+00:00")
    assert dataset(crane(), random_trajectory(crane()), facts).identical(
        dataset(crane(), random_trajectory(crane()), facts)
    )


def test_the_date_of_a_run_is_that_of_its_end_whenever_it_is_read(monkeypatch):
    monkeypatch.setattr(dataset_module, "now", lambda: 1.5)
    run = dataset(crane(), random_trajectory(crane()))
    monkeypatch.setattr(dataset_module, "now", lambda: 3600.0)
    assert json.loads(json.dumps(run.attrs))["created"] == "1970-01-01T00:00:01+00:00"  # C reads dicts without asking
    assert dataset(crane(), random_trajectory(crane())).attrs["created"] == "1970-01-01T01:00:00+00:00"


def test_extra_variables_bring_dimensions_and_labels():
    extra = {"residual": Extra(np.ones((7, 2)), ("time", "constraint"), "m", "gap of the loop", "world axes")}
    run = dataset(crane(), random_trajectory(crane(), extra=extra, labels={"constraint": ["loop.x", "loop.y"]}))
    assert run["residual"].sel(constraint="loop.y").shape == (7,)
    assert run["residual"].attrs == {"units": "m", "long_name": "gap of the loop", "frame": "world axes"}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"others": {"position": np.zeros((7, 3, 3))}}, ["'position'", "(7, 3, 3)", "(7, 4, 3)"]),
        ({"others": {"positions": np.zeros(7)}}, ["positions", "extra"]),
        ({"q": np.zeros((6, 13))}, ["'q'", "(6, 13)"]),
        ({"q": np.zeros((7, 13), dtype=complex)}, ["'q'", "complex"]),
        ({"time": np.array([0, 1, 2, 3, 4, 5, 4.5])}, ["time", "ascending"]),
        ({"time": np.array([0, 1, 2, 3, 4, 5, np.nan])}, ["time", "ascending"]),
        ({"extra": {"a/b": Extra(np.zeros(7), ("time",))}}, ["'a/b'"]),
        ({"extra": {"r": Extra(np.zeros((7, 2)), ("time",))}}, ["'r'", "(7, 2)"]),
    ],
)
def test_arrays_that_do_not_fit_are_refused_by_name(changed, words):
    good = random_trajectory(crane())
    given = {"time": good.time, "q": good.q, "v": good.v, **changed}
    with pytest.raises(ph.InputError) as error:
        dataset(crane(), Trajectory(**given))
    for word in words:
        assert word in str(error.value)


def test_an_unknown_status_is_refused():
    with pytest.raises(ph.InputError, match="finished, stopped, failed, interrupted"):
        Facts(status="done")


def test_the_short_way_to_a_dataset_makes_what_xarray_makes(monkeypatch):
    model, facts = crane(), Facts(created="2026-01-01T00:00:00+00:00")
    trajectory = random_trajectory(model, events=[(0.5, "top")])
    quick = dataset(model, trajectory, facts)

    def missing(*args):
        raise AttributeError("no short way")

    with monkeypatch.context() as without:
        without.setattr("polhode.result.dataset._assembled_directly", missing)
        slow = dataset(model, trajectory, facts)
    xr.testing.assert_identical(quick, slow)
    assert list(quick.data_vars) == list(slow.data_vars)
    assert dict(quick.sizes) == dict(slow.sizes)
    assert quick.sel(time=0.1, method="nearest")["q"].dims == ("coordinate",)
    quick["q"].attrs["units"] = quick["body"].attrs["long_name"] = "changed"
    other = dataset(model, trajectory, facts)
    xr.testing.assert_identical(other, slow)


def test_what_a_user_does_to_a_run_is_not_seen_in_the_next():
    model = ph.load("pendulum")
    first = ph.simulate(model, duration=1, samples=11, verify=False)
    kept = pickle.loads(pickle.dumps(first))
    for name in (*first.coords, *first.data_vars):
        first[name].attrs["long_name"] = first[name].attrs["units"] = "changed"
        first[name].encoding["dtype"] = "f4"
        if name not in first.indexes:
            first[name].values[...] = first[name].values[::-1] if first[name].dtype.kind == "U" else -1.0
    first["coordinate_units"].values[...] = "changed"
    first.attrs["verdict"] = "changed"
    second = ph.simulate(model, duration=1, samples=11, verify=False)
    second.attrs["created"] = kept.attrs["created"]
    xr.testing.assert_identical(second, kept)
    assert not any(second[name].encoding for name in second.variables)


def test_times_of_a_run_are_its_own():
    model, facts = crane(), Facts(created="2026-01-01T00:00:00+00:00")
    trajectory = random_trajectory(model)
    run = dataset(model, trajectory, facts)
    trajectory.time[...] = 7.0
    np.testing.assert_array_equal(run["time"], np.arange(7) / 10)
    np.testing.assert_array_equal(dataset(model, random_trajectory(model, n=5000), facts)["time"], np.arange(5000) / 10)


def test_variables_of_an_unknown_make_are_made_by_xarray(monkeypatch):
    known = variable_maker(xr)(("x",), np.arange(3.0), {"units": "m"})
    monkeypatch.setattr("polhode.result.variables._has_known_slots", lambda kind: False)
    made = variable_maker.__wrapped__(xr)(("x",), np.arange(3.0), {"units": "m"})
    assert made.identical(known)
    again = copier({"known": known})()["known"]
    again.attrs["units"], again.values[0] = "s", 7.0
    assert known.identical(made)


def test_a_run_with_events_imports_no_dask():
    """It takes longer to import than most runs take."""
    lines = (
        "import sys, polhode as ph",
        "run = ph.simulate(ph.load('pendulum'), events=[ph.Event('down', lambda t, q, v: q[0])], duration=1)",
        "assert len(run['event_time']) and 'dask' not in sys.modules and 'scipy' not in sys.modules",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, timeout=300)


def test_a_dataset_asks_for_no_library_of_other_arrays(tmp_path):
    """xarray imports dask, half a second, for a variable that is not said to be of plain arrays."""
    (tmp_path / "dask.py").write_text("raise SystemExit('dask was imported')\n")
    (tmp_path / "program.py").write_text(
        "import numpy as np, polhode as ph\n"
        "from polhode.result.dataset import Extra, Trajectory, dataset\n"
        "time = np.linspace(0.0, 1.0, 3)\n"
        "more = {'events': [(0.5, 'hit')], 'extra': {'load': Extra(time, ('time',), 'N')}}\n"
        "run = dataset(ph.load('pendulum'), Trajectory(time, time[:, None], time[:, None], **more))\n"
        "assert run['event_name'].values.tolist() == ['hit']\n"
        "assert run['load'].values.tolist() == time.tolist()\n"
    )
    found = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
