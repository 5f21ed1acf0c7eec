"""An element of a user's own, in the user's own file, does everything that ours do."""

import json
import os

import numpy as np
import pytest

import polhode as ph
from own_elements import Attraction, Tether, WeakTether
from polhode.formats.yaml import model_from_yaml, to_yaml
from polhode.model.forces.registry import FORCES
from polhode.show.scene.motion import Arrays
from polhode.show.scene.scene import scene

NUMBERS = {"anchor": (0.1, -0.2, 1.5), "k": 40.0, "d": 0.3, "rate": 0.01}


def hanging(kind=Tether, **more):
    """A body that hangs on an arm and on a tether."""
    bodies = [ph.Body("arm", 1.0, (0.1, 0.1, 0.02)), ph.Body("load", 0.5, (0.01, 0.02, 0.03), center=(0.1, 0, 0))]
    joints = [
        ph.Joint("hinge", "revolute", "world", "arm", axis=(0, 1, 0), position=(0, 0, 1)),
        ph.Joint("ball", "spherical", "arm", "load", position=(0.6, 0, 0)),
    ]
    return ph.Model("hanging", bodies=bodies, joints=joints, forces=[kind("tether", "load", **NUMBERS, **more)])


MODEL = hanging()
Q, V = np.array([0.3, 0.5, 0.5, 0.5, 0.5]), np.array([0.4, 1.0, -0.5, 0.3, 0.02, 0.01, -0.03])


def by_hand(q, v):
    """The accelerations, the tether as a wrench beside a model without it, and its own rates."""
    bare = ph.Model(MODEL.name, bodies=MODEL.bodies, joints=MODEL.joints)
    system = ph.compile(bare, target="python")
    o, u = system.pose(q, "load").position, system.jacobian(q, "load")[:3] @ v[:4]
    pull = 40.0 * (np.array(NUMBERS["anchor"]) + v[4:] - o)
    vd = system.forward_dynamics(q, v[:4], np.zeros(4), wrench={"load": (pull - 0.3 * u, np.zeros(3))})
    return np.array([*vd, *(-0.01 * pull)])


def test_it_acts_as_the_same_force_by_hand_on_every_target():
    expected = by_hand(Q, V)
    for target in ("python", "cpu"):
        found = ph.compile(MODEL, target=target).forward_dynamics(Q, V, np.zeros(7))
        np.testing.assert_allclose(found, expected, rtol=1e-11)
    many = ph.compile(MODEL).forward_dynamics(np.tile(Q, (9, 1)), np.tile(V, (9, 1)), np.zeros((9, 7)))
    np.testing.assert_allclose(many, np.tile(expected, (9, 1)), rtol=1e-11)


def test_its_derivatives_are_those_of_differences():
    system, h = ph.compile(MODEL), 1e-6
    found = system.forward_dynamics_derivatives(Q, V, np.zeros(7))
    for k in range(7):
        step = h * np.eye(7)[k]
        low, high = (by_hand(Q, V + s * step) for s in (-1, 1))
        np.testing.assert_allclose(found.dv[:, k], (high - low) / (2 * h), atol=1e-6)
        low, high = (by_hand(system.integrate(Q, s * step), V) for s in (-1, 1))
        np.testing.assert_allclose(found.dq[:, k], (high - low) / (2 * h), atol=1e-5)


def test_it_is_run_differentiated_recorded_and_balanced(tmp_path):
    run = ph.simulate(MODEL, Q, V, duration=0.3, sensitivities=["forces.tether.k"])
    assert run.attrs["verdict"] == "good"
    assert "tether 'tether' creeps" in run.attrs["grade"]
    E, W = run.total_energy.values, run.work_by_source.values.sum(axis=1)
    assert np.max(abs(E - E[0] - W)) < 1e-7
    found = ph.gradient(MODEL, lambda q, v: q[0], ["forces.tether.k"], q=Q, v=V, duration=0.3)
    np.testing.assert_allclose(found.derivatives["forces.tether.k"], run.sensitivity_q[-1, 0, 0], rtol=1e-6)
    recorded = ph.record(tmp_path / "run", MODEL, Q, V, duration=0.3)
    assert np.array_equal(recorded.v, run.v)


@pytest.mark.long
def test_it_is_swept_and_its_derivatives_are_those_of_runs():
    run = ph.simulate(MODEL, Q, V, duration=0.5, sensitivities=["forces.tether.k"])
    near = [ph.simulate(MODEL.with_numbers({"forces.tether.k": k}), Q, V, duration=0.5) for k in (39.9, 40.1)]
    slope = (near[1].q[-1] - near[0].q[-1]) / 0.2
    np.testing.assert_allclose(run.sensitivity_q[-1, 0], slope[0], rtol=1e-4)
    runs = ph.sweep(MODEL, {"forces.tether.k": ph.Grid([30.0, 40.0])}, q=Q, v=V, duration=0.5)
    np.testing.assert_allclose(runs.q[1, -1], run.q[-1], rtol=1e-8)


def test_it_is_exported_written_drawn_and_read(tmp_path, monkeypatch):
    text = ph.compile(MODEL).export_c(tmp_path / "hanging.c")
    assert os.path.getsize(text) > 1000
    monkeypatch.setitem(FORCES, Tether.kind, Tether)
    assert model_from_yaml(to_yaml(MODEL), "hanging.yaml") == MODEL
    equations = ph.equations(MODEL)
    assert {str(s) for s in equations.used_letters} >= {"k_1t", "d_1t", "c_1t"}
    run = ph.simulate(MODEL, Q, V, duration=0.1, keep=["q", "v", "position", "quaternion", "joint_force"])
    assert np.isfinite(run.joint_force).all()
    (tie,) = scene(run, MODEL, Arrays())["ties"]
    assert tie["bodies"] == [-1, 1]


def test_it_has_modes_and_events():
    model, before = hanging(WeakTether, strength=15.0), ph.simulate(MODEL, Q, V, duration=0.4, samples=2)
    run = ph.simulate(model, before.q[-1], [*before.v[-1], 0.0], duration=0.5)
    assert run.attrs["verdict"] == "good"
    assert run.event_name.values.tolist() == ["tether.tears"]
    torn = float(run.event_time[0])
    assert 0 < torn < 0.5
    assert float(run.v[-1, -1]) == 1.0
    o = run.position.sel(body="load").interp(time=torn).values
    pull = 40.0 * (np.array(NUMBERS["anchor"]) + run.v.interp(time=torn).values[4:7] - o)
    assert np.linalg.norm(pull) == pytest.approx(15.0, abs=0.01)
    names = [check["name"] for check in json.loads(run.attrs["grade"])]
    assert "energy drift, less work" in names
    runs = ph.sweep(model, {"forces.tether.k": ph.Grid([30.0])}, q=Q, v=[*V, 0.0], duration=0.1)
    assert "'tether.tears'" in runs.attrs["single_runs"]
    assert int(runs["status"][0]) == 1


def test_it_acts_on_pairs_of_bodies(monkeypatch):
    names = ("sun", "earth", "moon")
    bodies = [ph.Body(name, mass, (0.1, 0.1, 0.1)) for name, mass in zip(names, (10.0, 1.0, 0.5), strict=True)]
    joints = [ph.Joint(f"path {name}", "free", "world", name) for name in names]
    pairs = [("sun", "earth"), ("sun", "moon"), ("earth", "moon")]
    model = ph.Model("three", (0, 0, 0), bodies, joints, [Attraction("gravity", pairs, 2.0)])
    q, v = np.array(model.zero), np.zeros(18)
    q[[7, 14]], v[[7, 13]] = [1.0, 2.0], [1.2, 1.0]
    run = ph.simulate(model, q=q, v=v, duration=2.0)
    checks = {check["name"]: check["verdict"] for check in json.loads(run.attrs["grade"])}
    assert checks["energy drift"] == "good"
    assert checks["angular momentum drift"] == "good"
    monkeypatch.setitem(FORCES, Attraction.kind, Attraction)
    assert model_from_yaml(to_yaml(model), "three.yaml") == model
    for wrong, words in (
        ([("sun", "mars")], "unknown body"),
        ([("sun", "sun")], "a body with itself"),
        ([("sun", "earth"), ("earth", "sun")], "a pair twice"),
        ("sun", "not pairs of bodies"),
    ):
        with pytest.raises(ph.ModelError, match=words):
            ph.Model("three", (0, 0, 0), bodies, joints, [Attraction("gravity", wrong)])
