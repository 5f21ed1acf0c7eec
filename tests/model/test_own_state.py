"""Own states of force elements: in runs, sweeps, derivatives, files, linear equations."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from scipy.linalg import expm

import polhode as ph
from own_elements import Motor, SampledPid, rotor
from polhode.formats.yaml import model_from_yaml, to_yaml
from polhode.model.forces.registry import FORCES

J, B, R, L, K, U = 0.2, 0.01, 1.0, 0.1, 0.5, 12.0
DRIVE = rotor(Motor("motor", "shaft", voltage=U))
SERVO = rotor(SampledPid("pid", "shaft", target=1.0, p=5.0, i=2.0, d=1.5))


def exact_drive(t, inductance=L):
    A = np.array([[0, 1, 0, 0], [0, -B / J, K / J, 0], [0, -K / inductance, -R / inductance, U / inductance], [0] * 4])
    return (expm(A * t) @ [0.0, 0.0, 0.0, 1.0])[:3]


def exact_servo(t, p=5.0, h=0.01):
    A = np.array([[0, 1, 0], [0, -B / J, 1 / J], [0, 0, 0]])
    over, x, total = expm(A * h), np.zeros(3), 0.0
    for _ in range(round(t / h)):
        off = 1.0 - x[0]
        total += off * h
        x[2] = p * off + 2.0 * total - 1.5 * x[1]
        x = over @ x
    return np.array([x[0], x[1], total, x[2]])


def test_states_are_the_last_of_the_velocities():
    model = rotor(Motor("motor", "shaft"), SampledPid("pid", "shaft"))
    assert (model.nq, model.nv, model.joint_velocities) == (1, 5, 1)
    run = ph.simulate(model, duration=0.1)
    assert list(run.dof.values) == ["shaft", "motor.current", "pid.sum", "pid.torque", "pid.updates"]
    assert list(run.dof_units.values) == ["rad/s", "A", "rad s", "N m", "1"]


@pytest.mark.parametrize("method", [m.name for m in ph.methods.values() if m.order > 2])
def test_continuous_states_follow_their_equations_by_every_method(method):
    options = {} if ph.methods[method].adaptive else {"step": 1e-3}
    run = ph.simulate(DRIVE, duration=0.5, method=method, **options)
    assert run.attrs["verdict"] == "good"
    np.testing.assert_allclose([run.q[-1, 0], *run.v[-1]], exact_drive(0.5), rtol=1e-7)


@pytest.mark.parametrize("method", ["variational", "energy-momentum", "implicit-midpoint", "generalized-alpha"])
def test_methods_of_order_two_converge_to_them(method):
    off = []
    for step in (2e-3, 1e-3):
        run = ph.simulate(DRIVE, duration=0.3, method=method, step=step, verify=False)
        off.append(np.max(abs(np.array([run.q[-1, 0], *run.v[-1]]) - exact_drive(0.3))))
    assert 3.5 < off[0] / off[1] < 4.5


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "rk4", "step": 1e-3},
        {"method": "rk4", "step": 3e-3},
        {"method": "gauss2", "step": 1e-2},
        {"method": "generalized-alpha", "step": 1e-3, "accuracy": 1e-4},
    ],
    ids=str,
)
def test_discrete_states_are_those_of_the_exact_hold(options):
    run = ph.simulate(SERVO, duration=1.0, **options)
    assert run.attrs["verdict"] == "good"
    close = 1e-7 if options.get("method") == "generalized-alpha" else 1e-13
    np.testing.assert_allclose([run.q[-1, 0], *run.v[-1, :3]], exact_servo(1.0), atol=close)
    assert run.v[-1, 3] == 100


def test_each_run_of_a_sweep_has_states_of_its_own():
    runs = ph.sweep(SERVO, {"forces.pid.p": ph.Grid([4.0, 5.0])}, duration=0.5)
    for k, p in enumerate((4.0, 5.0)):
        np.testing.assert_allclose([*runs.q[k, -1], *runs.v[k, -1, :3]], exact_servo(0.5, p), atol=1e-13)
    alone = ph.simulate(SERVO, duration=0.5, samples=runs.sizes["time"])
    assert np.array_equal(alone.v, runs.v[1])
    steps = {"duration": 0.3, "method": "rk4", "step": 1e-3}
    lanes = ph.sweep(DRIVE, {"forces.motor.voltage": ph.Grid([6.0, U])}, **steps)
    assert np.array_equal(lanes.v[1, -1], ph.simulate(DRIVE, **steps).v[-1])


def test_derivatives_of_runs_go_through_states():
    run = ph.simulate(SERVO, duration=0.5, sensitivities=["forces.pid.p"])
    slope = (exact_servo(0.5, 5.0 + 1e-6) - exact_servo(0.5, 5.0 - 1e-6))[0] / 2e-6
    np.testing.assert_allclose(run.sensitivity_q[-1, 0], slope, rtol=1e-7)
    found = ph.gradient(SERVO, lambda q, v: q[0], ["forces.pid.p"], duration=0.5)
    np.testing.assert_allclose(found.derivatives["forces.pid.p"], slope, rtol=1e-7)
    found = ph.gradient(DRIVE, lambda q, v: v[1], ["forces.motor.inductance"], duration=0.5)
    slope = (exact_drive(0.5, L + 1e-6) - exact_drive(0.5, L - 1e-6))[2] / 2e-6
    np.testing.assert_allclose(found.derivatives["forces.motor.inductance"], slope, rtol=1e-6)


def test_a_simulator_carries_states():
    sim = ph.simulator(SERVO, step=1e-3, method="rk4")
    q, v = np.zeros(1), np.array(SERVO.at_rest)
    for k in range(500):
        q, v = sim.step(q, v, np.zeros(4), t=k * 1e-3)
    np.testing.assert_allclose([*q, *v[:3]], exact_servo(0.5), atol=1e-13)


@pytest.mark.parametrize("engine", ["fundamental", "multipliers", "null-space", "absolute"])
def test_states_under_constraints_are_the_same_by_every_engine(engine):
    bar = ph.load("four-bar")
    model = replace(bar, forces=(Motor("motor", bar.joints[0].name, voltage=0.5),), start=None)
    given = {"q": bar.start.q, "v": [*bar.start.v, 0.0], "duration": 0.2}
    found = ph.simulate(model, engine=engine, **given)
    assert found.attrs["verdict"] == "good"
    np.testing.assert_allclose(found.v[-1], ph.simulate(model, **given).v[-1], rtol=1e-7)
    assert abs(found.v[-1, -1]) > 0.1
    assert ph.diagnose(model, bar.start.q).freedoms == 1


def test_numbers_of_such_elements_change_without_recompiling():
    base = ph.simulate(DRIVE, duration=0.3, parameters={"forces.motor.voltage": 6.0})
    np.testing.assert_allclose(base.v[-1], exact_drive(0.3)[1:] / 2, rtol=1e-7)


def test_linear_equations_have_states_and_no_coordinates_of_them():
    linear = ph.linearize(DRIVE, [0.0], [0.0, 0.0])
    assert linear.states == ("q.shaft", "v.shaft", "v.motor.current")
    A = np.array([[0, 1, 0], [0, -B / J, K / J], [0, -K / L, -R / L]])
    np.testing.assert_allclose(linear.A, A, atol=1e-12)


def test_rest_is_found_with_the_states_that_hold_it():
    arm = ph.Model(
        "arm",
        bodies=[ph.Body("arm", 1.0, (0.1, 0.1, 0.2), center=(0.5, 0, 0))],
        joints=[ph.Joint("shaft", "revolute", "world", "arm", axis=(0, 1, 0))],
        forces=[Motor("motor", "shaft", voltage=-6.0)],
    )
    rest = ph.equilibrium(arm, stability=True)
    np.testing.assert_allclose(rest.v, [0.0, -6.0], atol=1e-9)
    np.testing.assert_allclose(9.81 / 2 * np.cos(rest.q[0]), 3.0, rtol=1e-9)
    assert rest.rates == {}


def test_states_have_no_kinetic_energy():
    run = ph.simulate(DRIVE, duration=0.3)
    np.testing.assert_allclose(run.kinetic_energy, J / 2 * run.v[:, 0] ** 2, rtol=1e-12)
    assert "x_current" not in str(ph.equations(DRIVE).kinetic)


def test_values_at_the_start_are_given_by_the_element_or_by_the_run():
    @dataclass(frozen=True)
    class Charged(Motor):
        kind: ClassVar = "test-charged"

        def start_values(self):
            return [2.0]

    model = rotor(Charged("motor", "shaft"))
    assert model.at_rest == (0.0, 2.0)
    assert ph.simulate(model, duration=0.1).v[0, 1] == 2.0
    assert ph.simulate(model, v=[0.0, 3.0], duration=0.1).v[0, 1] == 3.0
    assert ph.simulate(model, v=[0.5], duration=0.1).v[0].values.tolist() == [0.5, 2.0]


@pytest.mark.long
def test_a_large_tree_carries_states():
    chain = ph.load("chain-60")
    model = replace(chain, forces=(Motor("motor", chain.joints[0].name, voltage=1.0),), start=None)
    system, v = ph.compile(model), np.linspace(-1, 1, 61)
    plain, tau = ph.compile(replace(chain, start=None)), np.zeros(60)
    tau[0] = K * v[-1]
    q = np.linspace(0, 1, 60)
    found = system.forward_dynamics(q, v, np.zeros(61))
    np.testing.assert_allclose(found[:-1], plain.forward_dynamics(q, v[:-1], tau), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found[-1], (1.0 - R * v[-1] - K * v[0]) / L, rtol=1e-12)
    np.testing.assert_allclose(system.mass_matrix(q)[-1], [0.0] * 60 + [1.0])


def test_wrong_elements_are_told():
    @dataclass(frozen=True)
    class Short(Motor):
        kind: ClassVar = "test-short"

        def derivatives(self, state):
            return []

    with pytest.raises(ph.PolhodeError, match=r"force 'm', derivatives: wrong result.*\n.*0 numbers.*1: current"):
        ph.compile(rotor(Short("m", "shaft"))).forward_dynamics([0.0], [0.0, 0.0], [0.0, 0.0])

    @dataclass(frozen=True)
    class Timeless(SampledPid):
        kind: ClassVar = "test-timeless"

        def update(self, state):
            return [0.0]

    with pytest.raises(ph.PolhodeError, match="force 'c', update: wrong result"):
        ph.simulate(rotor(Timeless("c", "shaft")), duration=0.1)
    with pytest.raises(ph.ModelError, match=r"period.*not a time"):
        SampledPid("c", "shaft", period=0.0)
    with pytest.raises(ph.InputError, match="not with SUNDIALS"):
        ph.simulate(SERVO, duration=0.1, method="cvode")
    with pytest.raises(ph.ModelError, match="no such joint"):
        ph.simulate(rotor(Motor("m", "shaft").changed(joint="shaf")), duration=0.1)


def test_files_hold_such_elements(monkeypatch):
    monkeypatch.setitem(FORCES, SampledPid.kind, SampledPid)
    model = rotor(SampledPid("pid", "shaft", target=1.0, p=5.0, period=0.02))
    text = to_yaml(model)
    assert "period: 0.02" in text
    assert model_from_yaml(text, "servo.yaml") == model
