"""Named frames of a model: taken by every call that takes a body, from files, and carried along when models change."""

import numpy as np
import pytest

import polhode as ph
from machines import random_model, random_q
from polhode.formats.yaml import model_from_yaml, to_yaml
from polhode.system.catalogue.registry import QUANTITIES

FRAME = ph.BodyFrame("tool", "b2", (0.3, -0.1, 0.2), (0.5, 0.5, -0.5, 0.5))


@pytest.fixture(scope="module")
def pair():
    """A model with a frame, and the same with a massless body fixed there; a state of them."""
    plain = random_model(["free", "revolute", "universal"], 7, chain=True, armature=False)
    with pytest.warns(ph.PolhodeWarning, match="found 0 kg"):
        body = ph.Body("tool", 0.0, (0.0, 0.0, 0.0), physical=False)
    hold = ph.Joint("hold", "fixed", "b2", "tool", position=FRAME.position, orientation=FRAME.orientation)
    parts = {"bodies": [*plain.bodies, body], "joints": [*plain.joints, hold]}
    named = ph.Model("named", bodies=plain.bodies, joints=plain.joints, frames=[FRAME])
    fixed = ph.Model("fixed", **parts)
    rng = np.random.default_rng(0)
    state = {"q": random_q(plain, rng), "v": rng.normal(size=plain.nv), "vd": rng.normal(size=plain.nv)}
    return ph.compile(named, target="python"), ph.compile(fixed, target="python"), state


@pytest.mark.parametrize("name", [name for name, quantity in QUANTITIES.items() if quantity.of_body])
def test_a_frame_is_as_good_as_a_body_that_is_fixed_there(pair, name):
    named, fixed, state = pair
    quantity = QUANTITIES[name]
    others = {"load": np.arange(6.0), "point": np.array([0.1, 0.2, 0.3])}
    given = [{**state, **others}[argument.field] for argument in quantity.arguments]
    more = given[-1:] if quantity.arguments[-1].field == "point" else []
    for axes in ("world-aligned", "local", "world") if "axes" in quantity.choices else (None,):
        words = {"axes": axes} if axes else {}
        found, expected = (
            getattr(s, name)(*given[: len(given) - len(more)], "tool", *more, **words) for s in (named, fixed)
        )
        for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
            size = max(1.0, np.max(abs(b)))  # that body has a joint more, the last, with columns of its own
            np.testing.assert_allclose(a, b[..., : np.shape(a)[-1]], atol=1e-11 * size)


def test_wrenches_act_at_frames_and_their_power_is_theirs(pair):
    named, fixed, (q, v, tau) = pair[0], pair[1], pair[2].values()
    wrench = {"tool": ((1.0, 2.0, 3.0), (0.1, -0.2, 0.3))}
    for name in ("forward_dynamics", "inverse_dynamics"):
        found, expected = (getattr(s, name)(q, v, tau, wrench=wrench) for s in (named, fixed))
        np.testing.assert_allclose(found, expected, atol=1e-10)
    found, expected = (s.powers(q, v, tau, wrench=wrench) for s in (named, fixed))
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert named.center_of_mass(q, "tool") == pytest.approx(named.center_of_mass(q, "b2"))


def test_kernels_of_equal_models_with_other_frames_are_their_own():
    """Also where kernels take numbers as inputs, and from the cache on disk."""
    model = random_model(["revolute"], 1)
    for x in (0.5, 2.0):
        frame = ph.BodyFrame("tip", "b0", (x, 0.0, 0.0))
        one = ph.Model("arm", bodies=model.bodies, joints=model.joints, frames=[frame])
        for each in (one, one.with_numbers({"bodies.b0.mass": 2.0})):
            expected = ph.compile(one, target="python").pose([0.3], "b0").apply([x, 0.0, 0.0])
            np.testing.assert_allclose(ph.compile(each).pose([0.3], "tip").position, expected, atol=1e-14)


def test_files_keep_them():
    text = "name: arm\nbodies: {arm: {mass: 1, inertia: [1, 1, 1]}}\n"
    text += "joints: {j: {type: revolute, parent: world, child: arm}}"
    frames = "\nframes: {tip: {body: arm, position: [1, 2, 3], rpy: [0, 0, 1.5707963267948966]}}"
    model = model_from_yaml(text + frames, "arm")
    (tip,) = model.frames
    np.testing.assert_allclose(tip.orientation, [0.5**0.5, 0, 0, 0.5**0.5])
    assert model_from_yaml(to_yaml(model), "again") == model
    for wrong, told in [
        ("{body: leg}", "no such body"),
        ("{position: [1, 2]}", "body"),
        ("{body: arm, rpy: [0, 0, 0], orientation: [1, 0, 0, 0]}", "twice"),
    ]:
        with pytest.raises(ph.ModelError, match=told):
            model_from_yaml(f"{text}\nframes: {{tip: {wrong}}}", "arm")


def test_sites_of_mjcf_are_frames(tmp_path):
    text = """<mujoco><worldbody><site name="home"/><body name="arm" pos="0 0 1"><joint name="j" axis="0 1 0"/>
    <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><site name="tip" pos="1 0 0" euler="0 0 90"/></body>
    </worldbody></mujoco>"""
    (tmp_path / "arm.xml").write_text(text, encoding="utf-8")
    with pytest.warns(ph.PolhodeWarning, match=r"site of the world \(1\)"):
        model = ph.load(tmp_path / "arm.xml")
    assert [frame.name for frame in model.frames] == ["tip"]
    pose = ph.compile(model, target="python").pose([0.0], "tip")
    np.testing.assert_allclose(pose.position, [1, 0, 1], atol=1e-15)
    np.testing.assert_allclose(pose.matrix()[:3, 0], [0, 1, 0], atol=1e-15)


def test_edits_carry_them_and_merged_bodies_become_frames(pair):
    q, named, tool = pair[2]["q"], pair[0].model, ph.Body("tool", 0.5, (0.1, 0.1, 0.1))
    heavy = ph.Model("heavy", bodies=[*named.bodies, tool], joints=pair[1].model.joints)
    merged, fixed = heavy.merged(), ph.compile(heavy, target="python")
    assert [frame.name for frame in merged.frames] == ["tool"]
    place = fixed.pose(q, "tool")
    assert ph.compile(merged, target="python").pose(q, "tool").is_same(place)
    double = named.scaled(length=2.0)
    twice = q.copy()
    twice[:3] *= 2
    np.testing.assert_allclose(ph.compile(double, target="python").pose(twice, "tool").position, 2 * place.position)
    both = named.append(named, prefix="left.")
    assert [frame.name for frame in both.frames] == ["tool", "left.tool"]
    image = named.mirrored()
    np.testing.assert_allclose(image.frames[0].position, np.array(FRAME.position) * [1, -1, 1], atol=1e-15)
    seen = ph.compile(named.with_base("b2"), target="python")
    assert [(frame.name, frame.body) for frame in seen.model.frames] == [("tool", "b2")]


def test_wrong_frames_are_told():
    model = random_model(["revolute"], 1)
    for frame, told in [
        (ph.BodyFrame("tip", "b9"), "no such body"),
        (ph.BodyFrame("tip", "world"), "no name"),
        (ph.BodyFrame("b0", "b0"), "a body has this name"),
        ("tip", "not a frame"),
    ]:
        with pytest.raises(ph.ModelError, match=told):
            ph.Model("arm", bodies=model.bodies, joints=model.joints, frames=[frame])
    with pytest.raises(ph.ModelError, match="unit"):
        ph.BodyFrame("tip", "b0", orientation=(1, 1, 0, 0))
    tipped = ph.Model("arm", bodies=model.bodies, joints=model.joints, frames=[ph.BodyFrame("tip", "b0")])
    with pytest.raises(ph.ModelError, match=r"no such body or frame[\s\S]*tip"):
        ph.compile(tipped, target="python").pose([0.0], "tipp")
