"""Parameters from motions: what is found predicts torques, bodies are real ones, errors are as large as told."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from identified_arm import ARM, GUESS, measured
from polhode.analysis.identification.real_bodies import is_physical
from polhode.errors import InputError, ModelError, UnknownNameError
from polhode.show.page.identification import identification_page

TIMES = np.arange(0.0, 20.0, 0.02)


@pytest.fixture(scope="module")
def motion():
    return ph.excitation(ARM, trials=30, speed=2.0, acceleration=8.0)


@pytest.fixture(scope="module")
def found(motion):
    return ph.identify(GUESS, measured(motion, TIMES)[0])


def test_torques_of_another_motion_are_predicted_within_the_noise(found):
    other = ph.excitation(ARM, trials=2, period=7.0, seed=5)
    data, noise = measured(other, np.arange(0.0, 7.0, 0.02), seed=1)
    left = found.torque(data["q"], data["v"], data["vd"]) - data["tau"]
    assert np.all(np.sqrt(np.mean(left**2, axis=0)) < 1.2 * noise)
    guess = ph.compile(GUESS).inverse_dynamics(data["q"], data["v"], data["vd"]) - data["tau"]
    assert np.all(np.sqrt(np.mean(guess**2, axis=0)) > 5 * noise)


def test_bodies_are_real_ones(found):
    assert np.all(is_physical(found.parameters.reshape(-1, 10)))
    system = ph.compile(found.model, target="python")
    np.testing.assert_allclose(system.inertial_parameters, found.parameters, atol=1e-12)


def test_base_parameters_are_within_their_errors(found):
    true = found.base.matrix @ ph.compile(ARM, target="python").inertial_parameters
    off = (found.base_values - true) / found.base_errors
    assert np.sqrt(np.mean(off**2)) < 1.6  # of 15 or so, 1 on average
    assert np.max(abs(off)) < 4
    assert np.all(found.base_errors > 0)


def test_motions_without_noise_give_the_base_parameters_themselves(motion):
    exact = ph.identify(GUESS, measured(motion, TIMES[::5], noise=0.0)[0])
    true = exact.base.matrix @ ph.compile(ARM, target="python").inertial_parameters
    np.testing.assert_allclose(exact.base_values, true, atol=1e-10)
    np.testing.assert_allclose(exact.base.matrix @ exact.parameters, true, atol=1e-6)


def test_friction_is_found_beside_all_that_acts(motion):
    """Armature and dampers of the model are known; friction is what is left."""
    joints = [replace(joint, armature=0.1, damping=0.2) for joint in ARM.joints]
    true, guess = (replace(model, joints=joints) for model in (ARM, GUESS))
    data, noise = measured(motion, TIMES, model=true)
    viscous, coulomb = np.array([0.5, 0.3, 2.0]), np.array([0.2, 0.4, 1.0])
    data["tau"] = data["tau"] + viscous * data["v"] + coulomb * np.sign(data["v"])
    found = ph.identify(guess, data, friction=["coulomb", "viscous"])
    for term, expected in (("viscous", viscous), ("coulomb", coulomb)):
        assert np.all(abs(found.friction[term] - expected) < 4 * found.friction_errors[term])
    np.testing.assert_allclose(found.noise, noise, rtol=0.1)
    q, v, vd = (data[name][:3] for name in ("q", "v", "vd"))
    assert np.max(abs(found.torque(q, v, vd) - (data["tau"] - found.residuals)[:3])) < 1e-9


def test_velocities_and_accelerations_may_come_from_filtered_coordinates(motion):
    t = np.arange(0.0, 20.0, 0.002)
    data, noise = measured(motion, t)
    q = data["q"] + 1e-5 * np.random.default_rng(2).standard_normal(data["q"].shape)
    found = ph.identify(GUESS, {"time": t, "q": q, "tau": data["tau"]}, cutoff=8.0)
    other, noise = measured(ph.excitation(ARM, trials=2, period=7.0, seed=5), np.arange(0.0, 7.0, 0.02), seed=1)
    left = found.torque(other["q"], other["v"], other["vd"]) - other["tau"]
    assert np.all(np.sqrt(np.mean(left**2, axis=0)) < 1.2 * noise)


def test_what_a_motion_does_not_show_stays_as_it_was(motion):
    """At rest, accelerations tell nothing: errors are infinite, and bodies that are fixed keep their numbers."""
    data, _ = measured(motion, TIMES)
    data["v"], data["vd"] = 0 * data["v"], 0 * data["vd"]
    data["tau"] = ph.compile(ARM, target="python").gravity(data["q"])
    found = ph.identify(GUESS, data, fixed=["hand"])
    assert np.any(np.isinf(found.base_errors))
    assert found.model.body("hand") == GUESS.body("hand")
    assert np.all(is_physical(found.parameters.reshape(-1, 10)))
    left = ph.compile(found.model).gravity(data["q"]) - data["tau"]
    assert np.max(abs(found.residuals + left)) < 1e-9


def test_the_page_tells_all_and_escapes_names(motion):
    bodies = [replace(body, name=f"<b>{body.name}") for body in GUESS.bodies]
    joints = [
        replace(j, child=f"<b>{j.child}", parent=j.parent if j.parent == "world" else f"<b>{j.parent}")
        for j in GUESS.joints
    ]
    model = replace(GUESS, bodies=bodies, joints=joints)
    text = identification_page(ph.identify(model, measured(motion, TIMES[::10])[0], friction=["viscous"]))
    assert "&lt;b&gt;upper" in text
    assert "<b>upper" not in text
    for word in ("Residuals", "Base parameters", "Friction", "Bodies", "shoulder", "standard error"):
        assert word in text


ZEROS = {name: np.zeros((50, 3)) for name in ("q", "v", "vd", "tau")}
FAULTS = {
    "no mapping": ([1, 2], {}, InputError, "not by name"),
    "no torque": ({"q": np.zeros((50, 3)), "v": np.zeros((50, 3)), "vd": np.zeros((50, 3))}, {}, InputError, "no tau"),
    "no velocity": ({"q": np.zeros((50, 3)), "tau": np.zeros((50, 3))}, {}, InputError, "a cutoff in Hz"),
    "shape": ({name: np.zeros((50, 2)) for name in ("q", "v", "vd", "tau")}, {}, InputError, "wrong shape"),
    "one state": ({name: np.zeros(3) for name in ("q", "v", "vd", "tau")}, {}, InputError, "instants"),
    "nan": ({name: np.full((50, 3), np.nan) for name in ("q", "v", "vd", "tau")}, {}, InputError, "not finite"),
    "few": ({name: np.zeros((2, 3)) for name in ("q", "v", "vd", "tau")}, {}, InputError, "too few"),
    "none": ({name: np.zeros((0, 3)) for name in ("q", "v", "vd", "tau")}, {}, InputError, "too few"),
    "lengths": (
        {"q": np.zeros((5, 3)), "v": np.zeros((6, 3)), "vd": np.zeros((5, 3)), "tau": np.zeros((5, 3))}, {},
        InputError, "not as many instants",
    ),
    "no torques": (ZEROS, {}, InputError, "zeros alone"),
    "friction": (ZEROS, {"friction": ["dry"]}, InputError, "term"),
    "fixed": (
        ZEROS, {"fixed": ["hnad"]}, UnknownNameError,
        "Did you mean 'hand'",
    ),
    "times": (
        {"time": np.random.default_rng(0).uniform(size=500), "q": np.zeros((500, 3)), "tau": np.zeros((500, 3))},
        {"cutoff": 5.0}, InputError, "not evenly spaced",
    ),
    "cutoff": (
        {"time": np.arange(500) * 0.01, "q": np.zeros((500, 3)), "tau": np.zeros((500, 3))}, {"cutoff": 80.0},
        InputError, "cutoff",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_by_name(fault):
    data, options, error, text = FAULTS[fault]
    with pytest.raises(error, match=text):
        ph.identify(GUESS, data, **options)


def test_machines_with_loops_are_refused():
    with pytest.raises(ModelError, match="has constraints"):
        ph.identify(ph.load("four-bar"), {})
