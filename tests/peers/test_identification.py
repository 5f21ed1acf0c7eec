"""The Panda: 43 base parameters of 70 (Gaz et al. 2019), and torques predicted within 1.2 times their noise."""

import importlib.metadata
import warnings
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import polhode as ph
from polhode.analysis.identification.identify import with_inertial_parameters
from polhode.analysis.identification.real_bodies import is_physical

PANDA = next(
    str(file.locate())
    for file in importlib.metadata.files("example-robot-data")
    if str(file).endswith("panda_description/urdf/panda.urdf")
)


@pytest.fixture(scope="module")
def panda():
    """The Panda with locked fingers, what is fixed together as one body; Pinocchio's torques have no dampers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        model = ph.load(PANDA).with_locked(["panda_finger_joint1", "panda_finger_joint2"]).merged()
    return replace(model, joints=[replace(joint, damping=0.0) for joint in model.joints])


def test_the_panda_has_43_base_parameters_of_70(panda):
    found = ph.base_parameters(panda)
    assert (len(found), found.total) == (43, 70)
    assert found.gap[0] > 0.1
    assert found.gap[1] < 1e-12
    assert found.names[0] == "panda_link1.I_zz + panda_link2.I_yy"


@pytest.mark.long
def test_torques_of_the_panda_are_predicted_within_their_noise(panda):
    """1 % noise, 30 s of a motion found here, torques by Pinocchio; the model to begin from is 20 % off and more."""
    whole = pin.buildModelFromUrdf(PANDA)
    peer = pin.buildReducedModel(whole, [8, 9], pin.neutral(whole))
    data, rng = peer.createData(), np.random.default_rng(0)

    def measured(motion, t):
        q, v, vd = motion(t)
        tau = np.array([pin.rnea(peer, data, *x) for x in zip(q, v, vd, strict=True)])
        noise = 0.01 * np.sqrt(np.mean(tau**2, axis=0))
        return {"q": q, "v": v, "vd": vd, "tau": tau + noise * rng.standard_normal(tau.shape)}, noise

    own = ph.compile(panda).inertial_parameters.reshape(-1, 10)
    factors = np.exp(0.3 * rng.standard_normal((len(own), 1)))
    guess = with_inertial_parameters(panda, (factors * own).reshape(-1))
    motion = ph.excitation(panda, speed=1.5, acceleration=6.0)
    found = ph.identify(guess, measured(motion, np.arange(0, 30, 0.01))[0])
    apart, noise = measured(ph.excitation(panda, period=7.0, seed=9, trials=3), np.arange(0, 14, 0.01))
    left = found.torque(apart["q"], apart["v"], apart["vd"]) - apart["tau"]
    assert np.all(np.sqrt(np.mean(left**2, axis=0)) < 1.2 * noise)
    assert np.all(is_physical(found.parameters.reshape(-1, 10)))
