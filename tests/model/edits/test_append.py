"""One model on a body of another."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph

TURNED = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)


def rod(**more):
    body = ph.Body("rod", 1.0, (1, 1, 1), (0, 0, 0.5))
    return ph.Model(
        "rod", bodies=[body], joints=[ph.Joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))], **more
    )


def test_a_rod_on_a_rod_is_a_double_pendulum():
    found = rod().append(rod(), at="rod", position=(0, 0, 1), prefix="second.")
    by_hand = ph.Model(
        "rod",
        bodies=[rod().bodies[0], replace(rod().bodies[0], name="second.rod")],
        joints=[
            rod().joints[0],
            ph.Joint("second.hinge", "revolute", "rod", "second.rod", axis=(0, 1, 0), position=(0, 0, 1)),
        ],
    )
    assert found == by_hand


def test_what_is_on_the_ground_of_the_other_model_is_on_the_body():
    spring = ph.Spring("spring", "world", "rod", point_a=(1, 0, 0), stiffness=1.0)
    loop = ph.Constraint("pin", "spherical", body_b="rod", position_a=(0, 0, 1))
    other = rod(forces=[spring], constraints=[loop])
    found = rod().append(other, at="rod", position=(0, 0, 1), orientation=TURNED, prefix="b.")
    assert (found.forces[0].name, found.forces[0].body_a, found.forces[0].body_b) == ("b.spring", "rod", "b.rod")
    np.testing.assert_allclose(found.forces[0].point_a, (0, 0, 0), atol=1e-15)
    data = found.constraints[0].data
    assert (data["body_a"], data["body_b"]) == ("rod", "b.rod")
    np.testing.assert_allclose(data["position_a"], (1, 0, 1), atol=1e-15)
    np.testing.assert_allclose(found.joint("b.hinge").orientation, TURNED, atol=1e-15)


def test_a_model_may_be_put_on_a_frame():
    tip = ph.BodyFrame("tip", "rod", (0, 0, 1), TURNED)
    by_frame = rod(frames=[tip]).append(rod(frames=[tip]), at="tip", position=(0, 0, 0.5), prefix="b.")
    by_body = rod(frames=[tip]).append(
        rod(frames=[tip]), at="rod", position=(0.5, 0, 1), orientation=TURNED, prefix="b."
    )
    np.testing.assert_allclose(by_frame.joint("b.hinge").position, by_body.joint("b.hinge").position, atol=1e-15)
    assert by_frame.joint("b.hinge").parent == "rod"
    assert [(frame.name, frame.body) for frame in by_frame.frames] == [("tip", "rod"), ("b.tip", "b.rod")]


def test_starts_and_configurations_are_those_of_both():
    first = rod(start=ph.Start(q=(1,), duration=3.0), configurations={"home": (2,), "up": (3,)})
    second = rod(start=ph.Start(q=(4,), v=(5,)), configurations={"home": (6,), "down": (7,)})
    found = first.append(second, prefix="b.")
    assert found.start == ph.Start(q=(1, 4), v=(0, 5), duration=3.0)
    assert found.configurations == {"home": (2, 6), "up": (3, 4), "b.home": (1, 6), "b.down": (1, 7)}


def test_own_states_come_last():
    jet = ph.Thrust("jet", "rod", flow=0.1, exhaust_speed=1.0)
    one, two = (rod(forces=[jet], start=ph.Start(q=(1,), v=(k, 10 * k))) for k in (1, 2))
    assert one.append(two, prefix="b.").start.v == (1, 2, 10, 20)


def test_names_must_differ():
    with pytest.raises(ph.ModelError, match=r"(?s)'rod' among the bodies of both.*prefix='rod\.'"):
        rod().append(rod())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"at": "rood"}, "at: no such body.*\n.*\n.*Did you mean 'rod'"),
        ({"at": None}, "no such body"),
        ({"position": (1, 2)}, "position: wrong size"),
        ({"position": (1, 2, np.nan)}, "not a finite number"),
        ({"orientation": (1, 1, 0, 0)}, "not a unit quaternion"),
        ({"prefix": 3}, "prefix: not text"),
    ],
)
def test_places_that_are_none_are_told(given, told):
    with pytest.raises((ph.InputError, ph.ModelError), match=told):
        rod().append(rod(), **{"prefix": "b.", **given})


def test_what_is_no_model_is_told():
    with pytest.raises(ph.InputError, match="append, model 'rod', other: not a model"):
        rod().append("rod")


def test_functions_of_all_coordinates_are_told():
    pushed = rod(forces=[ph.ForceFunction("drive", lambda t, q, v: [1.0])])
    with pytest.raises(ph.ModelError, match="force 'drive': its function is of q and v"):
        pushed.append(rod(), prefix="b.")
    with pytest.raises(ph.ModelError, match="force 'drive': its function is of q and v"):
        rod().append(pushed, prefix="b.")
    assert rod().append(pushed, prefix="b.", drop=True).forces == ()
