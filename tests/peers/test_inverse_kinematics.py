"""Poses that Pinocchio says a Panda has are reached, by Pinocchio's own measure."""

import importlib.metadata
import warnings

import numpy as np
import pinocchio as pin

import polhode as ph

PANDA = next(
    str(file.locate())
    for file in importlib.metadata.files("example-robot-data")
    if str(file).endswith("panda_description/urdf/panda.urdf")
)


def test_poses_of_a_panda_are_reached_within_limits():
    """≥ 99.5 % of 3,000, the hand by the frames of Pinocchio's model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        model = ph.load(PANDA)
    peer = pin.buildModelFromUrdf(PANDA)
    data, hand = peer.createData(), peer.getFrameId("panda_hand")
    lower, upper = peer.lowerPositionLimit, peer.upperPositionLimit
    rng = np.random.default_rng(3)

    def placed(q):
        pin.framesForwardKinematics(peer, data, q)
        return data.oMf[hand].copy()

    wanted = [placed(q) for q in rng.uniform(lower, upper, (3_000, 9))]
    turns = np.array([pin.Quaternion(x.rotation).coeffs()[[3, 0, 1, 2]] for x in wanted])
    found = ph.inverse_kinematics(model, {"panda_hand": (turns, np.array([x.translation for x in wanted]))})
    assert np.mean(found.reached) >= 0.995
    assert np.all((found.q >= lower) & (found.q <= upper))
    for k in np.flatnonzero(found.reached)[:200]:
        there = placed(found.q[k])
        assert np.linalg.norm(there.translation - wanted[k].translation) < 1.1e-9
        assert np.linalg.norm(pin.log3(wanted[k].rotation.T @ there.rotation)) < 1.1e-9
