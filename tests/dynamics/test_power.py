"""The powers of what a machine's energy does not hold: they are the rate of the energy, and runs balance."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import polhode as ph
from machines import random_model, random_q
from own_elements import Motor, rotor
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.power import CONSTRAINTS, DAMPERS, EVENTS, INPUTS, powers, work_sources
from polhode.model import make_tree
from polhode.scalar import Vec

PENDULUM = ph.load("double-pendulum").with_numbers({"joints.hinge.damping": 0.3, "joints.elbow.damping": 0.1})
PENDULUM = replace(PENDULUM, number_inputs=False)


def drift(run):
    """The largest |E − E₀ − W|, in parts of all energies and works."""
    T, V, W = (run[name].values for name in ("kinetic_energy", "potential_energy", "work_by_source"))
    E, scale = T + V, np.max(T) + np.ptp(V) + np.max(np.sum(abs(W), axis=1))
    return float(np.max(abs(E - E[0] - np.sum(W, axis=1))) / scale)


@pytest.mark.parametrize("seed", range(4))
def test_powers_are_the_rate_of_the_energy(seed):
    rng = np.random.default_rng(seed)
    kinds = ["free", "revolute", "spherical", "prismatic", "universal"]
    model = random_model([str(x) for x in rng.permutation(kinds)], seed)
    joints = [replace(joint, damping=float(rng.uniform(0.1, 1.0))) for joint in model.joints]
    forces = [
        ph.Spring("spring", "b0", "b3", point_a=(0.1, 0.2, 0.3), stiffness=3.0, damping=0.7, rest=0.2),
        ph.Force("push", "b2", force=lambda t: (1.0 + t, 2.0, 3.0), torque=(0.1, 0.2, -0.3), point=(0.2, 0, 0)),
        ph.ForceFunction("field", lambda t, q, v: [0.3 * q[0]] * model.nv),
    ]
    model = replace(model, joints=joints, forces=forces)
    tree, system = make_tree(model), ph.compile(model, target="python")
    q, v, tau, t = random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv), 0.7
    vd, h = system.forward_dynamics(q, v, tau, t=t), 1e-6
    E = [sum(system.energy(system.integrate(q, s * h * v), v + s * h * vd)) for s in (1, -1)]
    sources = work_sources(tree, True, False)
    assert sources == (INPUTS, DAMPERS, "spring", "push", "field")
    found = powers(Arguments(tree, Vec(q), Vec(v), tau=Vec(tau), t=t), Vec(vd), sources)
    np.testing.assert_allclose(sum(found), (E[0] - E[1]) / (2 * h), rtol=1e-6)


@pytest.mark.parametrize(
    ("method", "step", "close"),
    [
        (None, None, 1e-9), ("rk4", 1e-3, 1e-9), ("rkmk4", 1e-3, 1e-9), ("cf4", 1e-3, 1e-9), ("gauss2", 1e-2, 1e-7),
        ("gauss3", 1e-2, 1e-9), ("implicit-midpoint", 1e-3, 1e-5), ("variational", 1e-3, 1e-5),
        ("energy-momentum", 1e-3, 1e-5),
    ],
)  # fmt: skip
def test_energy_balances_the_work_by_every_kind_of_method(method, step, close):
    run = ph.simulate(PENDULUM, duration=1.0, method=method, step=step, tau={"hinge": 2.0}, accuracy=1e-4)
    assert list(run.work_source.values) == [INPUTS, DAMPERS]
    assert drift(run) < close
    np.testing.assert_allclose(run.work_by_source[:, 0], 2.0 * (run.q[:, 0] - run.q[0, 0]), atol=1e-5)
    assert run.attrs["verdict"] == "good"


def test_the_account_leaves_the_bits_of_a_run_alone():
    bar = ph.load("four-bar")
    bar = replace(bar, joints=[replace(joint, damping=0.02) for joint in bar.joints])
    for model, options in ((PENDULUM, {}), (PENDULUM, {"method": "rk4", "step": 1e-3}), (bar, {})):
        with_it, without = (ph.simulate(model, duration=0.3, verify=x, **options) for x in (True, False))
        assert "work" in with_it
        assert "work" not in without
        assert np.array_equal(with_it.q, without.q)
        assert np.array_equal(with_it.v, without.v)
        assert with_it.attrs["steps_taken"] == without.attrs["steps_taken"]


def test_a_constraint_that_moves_does_work():
    arm = ph.Model(
        "arm",
        bodies=[ph.Body("arm", 1.0, (0.1, 0.1, 0.2), center=(0.5, 0, 0))],
        joints=[ph.Joint("shaft", "revolute", "world", "arm", axis=(0, 1, 0), damping=0.1)],
        constraints=[ph.Constraint("drive", type="prescribed", joint="shaft", value=lambda t: 0.3 * t * t)],
    )
    run = ph.simulate(arm, duration=2.0)
    assert list(run.work_source.values) == [DAMPERS, CONSTRAINTS]
    assert drift(run) < 1e-9
    np.testing.assert_allclose(run.work_by_source[-1, 0], -0.1 * 0.36 * 2.0**3 / 3, rtol=1e-7)


def test_resets_are_in_the_account():
    ball = ph.Model(
        "ball",
        bodies=[ph.Body("ball", 1.0, (0.1, 0.1, 0.1))],
        joints=[ph.Joint("drop", "prismatic", "world", "ball", damping=0.1)],
    )
    bounce = ph.Event("bounce", lambda t, q, v: q[0], direction=-1, reset=lambda t, q, v: (q, -0.8 * v))
    for options in ({}, {"method": "rk4", "step": 1e-2}):
        run = ph.simulate(ball, q=[1.0], duration=1.5, events=[bounce], **options)
        assert list(run.work_source.values) == [DAMPERS, EVENTS]
        assert run.work_by_source[-1, 1] < -1.0
        assert drift(run) < 1e-8


def test_work_goes_on_across_switches_held_inputs_and_states_of_elements():
    law = lambda t, q, v: ph.Vec([ph.where(v[0] > 0, 1.0, -1.0), 0.0])
    assert drift(ph.simulate(PENDULUM, duration=1.0, tau=law)) < 1e-8
    held = ph.Sampled(lambda t, q, v: np.array([-v[0], 0.0]), 0.1)
    assert drift(ph.simulate(PENDULUM, duration=1.0, tau=held)) < 1e-8
    assert drift(ph.simulate(rotor(Motor("motor", "shaft", voltage=12.0)), duration=1.0)) < 1e-8


def test_a_force_that_contradicts_its_potential_is_found_out_beside_dampers():
    @dataclass(frozen=True)
    class Wrong(ph.ForceElement):
        name: str
        joint: str
        k: Any = 1.0

        kind: ClassVar = "test-wrong"
        keys: ClassVar = {"joint": ph.Key("joint", "", needed=True), "k": ph.Key("number", "")}

        def generalized(self, state):
            return state.along(self.joint, -1.01 * self.k * state.coordinate(self.joint))

        def potential(self, state):
            return self.k * state.coordinate(self.joint) ** 2 / 2

    run = ph.simulate(rotor(Wrong("spring", "shaft", 3.0), damping=0.1), q=[1.0], duration=2.0)
    assert run.attrs["verdict"] == "failed"


def test_a_recorded_run_has_the_same_account(tmp_path):
    asked = {"duration": 0.5, "method": "rk4", "step": 1e-3}
    recorded = ph.record(tmp_path, PENDULUM, **asked)
    assert np.array_equal(recorded.work_by_source, ph.simulate(PENDULUM, **asked).work_by_source)


@pytest.mark.parametrize("method", ["dop853", "rkmk-dopri54", "radau", "gauss3"])
@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.5])
def test_the_work_of_a_contact_that_is_pulled_open_balances(method, exponent):
    """Pulled away faster than its spring relaxes, a contact does not act, and no step notices where its spring ends."""
    mass = ph.Body("mass", 1.0, (0.1, 0.1, 0.1))
    slide = ph.Joint("slide", "prismatic", "world", "mass", axis=(0, 0, 1))
    stop = ph.JointStop("stop", "slide", lower=0.0, stiffness=200.0, dissipation=4.0, exponent=exponent)
    model = ph.Model("pulled", (0, 0, 9.81), [mass], [slide], [stop])
    how = {"step": 1e-3, "accuracy": 1e-4} if method == "gauss3" else {"tolerance": 1e-9}
    run = ph.simulate(model, q=[-0.3], v=[0.2], duration=0.6, method=method, **how)
    stored = 200.0 * 0.3 ** (exponent + 1) / (exponent + 1)
    assert float(run.q[-1, 0]) > 0.1
    assert float(run.work[-1]) < -0.3 * stored
    assert drift(run) < (1e-6 if method == "gauss3" else 2e-8)


def test_the_power_of_a_contact_is_that_of_its_dissipation():
    """What is integrated is another one: the whole, less what is stored."""
    mass = ph.Body("mass", 1.0, (0.1, 0.1, 0.1))
    slide = ph.Joint("slide", "prismatic", "world", "mass", axis=(0, 0, 1))
    stop = ph.JointStop("stop", "slide", lower=0.0, stiffness=200.0, dissipation=0.5)
    model = ph.Model("pressed", bodies=[mass], joints=[slide], forces=[stop])
    found = ph.compile(model).powers([-0.1], [0.3], [0.0])
    assert float(found.applied) == pytest.approx(-200.0 * 0.1 * 0.5 * 0.3 * 0.3)
