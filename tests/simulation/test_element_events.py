"""Events of force elements: the least change of velocities, order, resets of the run, faults."""

import numpy as np
import pytest

import polhode as ph
from own_elements import arm
from polhode.simulation.events.element_events import least_change


@pytest.mark.parametrize("repeated", [False, True])
def test_the_least_change_is_that_of_gauss(repeated):
    rng = np.random.default_rng(3)
    L, C, d = rng.normal(size=(5, 5)), rng.normal(size=(2, 5)), rng.normal(size=2)
    M = L @ L.T + np.eye(5)
    x = np.linalg.solve(M, C.T @ np.linalg.solve(C @ np.linalg.solve(M, C.T), d))
    if repeated:
        C, d = np.vstack([C, 2 * C[0]]), np.append(d, 2 * d[0])
    found, impulse = least_change(M, C, d)
    np.testing.assert_allclose(found, x, atol=1e-12)
    np.testing.assert_allclose(C.T @ impulse, M @ x, atol=1e-12)


def test_of_events_at_one_time_those_of_the_first_element_come_first():
    locks = [ph.JointLock(name, name, lock_time=0.5) for name in ("elbow", "shoulder")]
    run = ph.simulate(arm(*locks), q=[1.0, 0.5], duration=1.0)
    assert list(run.event_name.values) == ["elbow.locks", "shoulder.locks"]
    assert run.event_time[0] == run.event_time[1]
    assert abs(run.v[-1, :2]).max() < 1e-12


def test_a_reset_of_the_run_lets_go_what_friction_holds():
    slide = ph.Model(
        "slide",
        gravity=(0.0, 0.0, 0.0),
        bodies=[ph.Body("block", 1.0, (0.1, 0.1, 0.1))],
        joints=[ph.Joint("slide", "prismatic", "world", "block")],
        forces=[ph.JointFriction("rub", "slide", 2.0, method="events")],
    )
    kick = ph.Event("kick", lambda t, q, v: t - 0.5, reset=lambda t, q, v: (q, [1.0, *v[1:]]))
    run = ph.simulate(slide, duration=1.5, events=[kick])
    assert list(run.event_name.values) == ["kick", "rub.sticks"]
    np.testing.assert_allclose(run.event_time, [0.5, 1.0], atol=1e-9)
    np.testing.assert_allclose(run.q[-1, 0], 1.0**2 / (2 * 2.0), atol=1e-9)


def test_a_velocity_that_constraints_forbid_ends_the_run_with_that_reason():
    driven = ph.Constraint("drive", "prescribed", joint="elbow", value=lambda t: t)
    lock = ph.JointLock("lock", "elbow", lock_time=0.2)
    run = ph.simulate(arm(lock, constraints=[driven]), q=[0.1, 0.0], v=[0.0, 1.0, 0.0], duration=0.5, verify=False)
    assert run.attrs["status"] == "failed"
    assert "event 'lock.locks' wants a velocity that constraints or held axes do not let it have" in run.attrs["reason"]


def test_only_events_may_ask_for_loads():
    element = ph.JointFriction("rub", "elbow", 2.0, method="events")
    with pytest.raises(ph.ModelError, match="a load on a held axis: not known here"):
        ph.MachineState(0.0, (), (), (), (), {}, {}, {}).load("elbow")
    assert [event.name for event in element.events()] == ["sticks", "slips"]
