"""Mirror images: every body moves as its image does."""

import numpy as np
import pytest

import polhode as ph
from edited_machines import BodyMotion, motions, random_machine

TOLERANCE = 1e-11
AXIAL = ("omega", "alpha")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("normal", [(0, 1, 0), (1, 2, -1)])
def test_bodies_move_as_their_images(seed, normal):
    model = random_machine(seed)
    n = np.array(normal) / np.linalg.norm(normal)
    H = np.eye(3) - 2 * np.outer(n, n)
    (images, energy), (expected, before) = motions(model.mirrored(normal)), motions(model)
    np.testing.assert_allclose(energy, before, rtol=1e-12)
    for body, motion in expected.items():
        for name in BodyMotion._fields:
            one = (-H if name in AXIAL else H) @ getattr(motion, name)
            other = getattr(images[body], name)
            np.testing.assert_allclose(other, one, atol=TOLERANCE * (1 + np.max(abs(one))), rtol=0)


def test_principal_moments_have_an_image_about_any_plane():
    """A body with three moments, mirrored about a plane across none of its axes."""
    model = ph.Model("b", (0, 0, 0), [ph.Body("b", 1.0, (1, 2, 2.5))], [ph.Joint("j", "spherical", "world", "b")])
    n = np.array([1, 2, -1]) / np.sqrt(6)
    H = np.eye(3) - 2 * np.outer(n, n)
    found = ph.compile(model.mirrored(n), target="python").mass_matrix([1, 0, 0, 0])
    np.testing.assert_allclose(found, H @ np.diag([1, 2, 2.5]) @ H, atol=1e-14)


def test_the_image_of_an_image_is_the_machine():
    model = random_machine(1)
    twice = model.mirrored((0, 1, 0)).mirrored((0, 1, 0))
    expected, found = model.numbers(), twice.numbers()
    paths = [path for path in expected if "orientation" not in path and "axis_" not in path]
    assert len(paths) > 300
    np.testing.assert_allclose([found[path] for path in paths], [expected[path] for path in paths], atol=1e-14)


def test_every_constraint_between_bodies_has_an_image():
    """Rows hold where they held: residuals are the same but for signs."""
    rng = np.random.default_rng(5)
    bodies = [ph.Body(name, 1.0, (1, 1.2, 1.4)) for name in "ab"]
    joints = [ph.Joint(f"free {name}", "free", "world", name) for name in "ab"]
    frame = lambda: rng.normal(size=4)
    more = {"screw": {"pitch": 0.2}, "distance": {"length": 1.0}, "universal": {"cosine": 0.3},
            "rolling-disk": {"radius": 0.5}, "rolling-sphere": {"radius": 0.5}}  # fmt: skip
    kinds = ["weld", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "screw", "distance",
             "point-on-line", "point-on-plane", "rolling-disk", "rolling-sphere", "knife-edge"]  # fmt: skip
    held = []
    for kind in kinds:
        p, r = (x / np.linalg.norm(x) for x in (frame(), frame()))
        ends = {"body_a": "a", "body_b": "b", "position_a": rng.normal(size=3), "position_b": rng.normal(size=3)}
        held.append(ph.Constraint(kind, kind, {**ends, "orientation_a": p, "orientation_b": r, **more.get(kind, {})}))
    q, v = rng.normal(size=14), rng.normal(size=12)
    q[3:7], q[10:] = q[3:7] / np.linalg.norm(q[3:7]), q[10:] / np.linalg.norm(q[10:])
    model = ph.Model("held", bodies=bodies, joints=joints, constraints=held, start=ph.Start(q=q, v=v))
    image = model.mirrored((1, 1, 0))
    residuals = []
    for each in (model, image):
        system = ph.compile(each, target="python")
        residuals.append(system.constraint_residuals(np.array(each.start.q), np.array(each.start.v)))
    for before, after in zip(*residuals, strict=True):
        np.testing.assert_allclose(abs(np.array(after)), abs(np.array(before)), atol=1e-12)


def test_coordinates_that_change_their_sign_take_their_limits_along():
    shaft = ph.Joint("shaft", "cylindrical", "world", "a", lower=(-1, -2), upper=(3, 4), rest=(0.1, 0.2), stiffness=1.0)
    stop = ph.JointStop("stop", "shaft", lower=-5.0, upper=6.0, stiffness=1.0, axis=1)
    screw = ph.Joint("screw", "screw", "a", "b", pitch=0.3)
    gear = ph.Constraint("follows", "mimic", joint="slide", source="screw", polynomial=(1, 2, 3))
    bodies = [ph.Body(name, 1.0, (1, 1, 1)) for name in "abc"]
    model = ph.Model(
        "shaft",
        bodies=bodies,
        joints=[shaft, screw, ph.Joint("slide", "prismatic", "b", "c")],
        forces=[stop],
        constraints=[gear],
    )
    image = model.mirrored((1, 0, 0))
    found = image.joints[0]
    assert (found.lower, found.upper, found.rest) == ((-1.0, -4.0), (3.0, 2.0), (0.1, -0.2))
    assert (image.forces[0].lower, image.forces[0].upper) == (-6.0, 5.0)
    assert image.joints[1].pitch == -0.3
    assert image.constraints[0].data["polynomial"] == (1, 2, 3)


@pytest.mark.parametrize("normal", [(0, 0, 0), (1, 2), "y", (np.nan, 0, 1), None])
def test_a_normal_that_is_none_is_told(normal):
    with pytest.raises(ph.InputError, match="mirrored, model 'double-pendulum', normal"):
        ph.load("double-pendulum").mirrored(normal)


def test_functions_have_no_image():
    body = ph.Body("a", 1.0, (1, 1, 1))
    drag = ph.BodyForce("drag", lambda t, body: -body.velocity, "a")
    model = ph.Model("puck", bodies=[body], joints=[ph.Joint("base", "free", "world", "a")], forces=[drag])
    with pytest.raises(ph.ModelError, match="force 'drag': its function has no image"):
        model.mirrored()
    assert model.mirrored(drop=True).forces == ()
