"""Edits of machines with beams: images, other sizes, merged and appended ones move as they should."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from edited_machines import BodyMotion, motions, start_of
from polhode.result.labels import coordinate_names, dof_names

SECTION = ph.Section(
    axial=30.0, torsion=2.0, bending_y=1.0, bending_z=3.0, shear_y=40.0, shear_z=50.0, mass=1.5, inertia_y=0.02,
    inertia_z=0.03,
)  # fmt: skip
TOLERANCE = 1e-10


def machine(mass, follower=False, held=()):
    """A hub on a shaft with a bent blade, which starts anywhere."""
    hub = ph.Body("hub", 2.0, (0.3, 0.4, 0.5), (0.1, 0.0, 0.2))
    shaft = ph.Joint("shaft", "revolute", "world", "hub", axis=(0.6, 0.0, 0.8), position=(0.1, 0.2, 0.3))
    blade = ph.Beam(
        "blade", SECTION, start=("hub", (0.2, 0.1, 0)), end=(1.1, 0.7, 0.4), through=[(0.7, 0.3, 0.35)], damping=0.01,
        prestrain=(0.01, 0.02, -0.01, 0.015, 0.03, -0.02), load=(0.3, -0.4, 0.5), follower=follower,
        mass=mass, held=held,
    )  # fmt: skip
    model = ph.Model("rotor", bodies=[hub], joints=[shaft], beams=[blade])
    rng = np.random.default_rng(1)
    system = ph.compile(model, target="python")
    q = system.integrate(np.array(model.zero), 0.2 * rng.normal(size=model.nv))
    return replace(model, start=ph.Start(q=q, v=rng.normal(size=model.nv), duration=1.0))


MACHINES = [("half-bars", False), ("half-bars", True), ("consistent", False)]


@pytest.mark.parametrize("normal", [(0, 1, 0), (1, 0, 0), (1, 2, -1)])
@pytest.mark.parametrize(("mass", "follower"), MACHINES)
def test_the_image_of_a_beam_moves_as_an_image(mass, follower, normal):
    model = machine(mass, follower)
    n = np.array(normal) / np.linalg.norm(normal)
    H = np.eye(3) - 2 * np.outer(n, n)
    (images, energy), (expected, before) = motions(model.mirrored(normal)), motions(model)
    np.testing.assert_allclose(energy, before, rtol=1e-11)
    for body, motion in expected.items():
        for name in BodyMotion._fields:
            one = (-H if name in ("omega", "alpha") else H) @ getattr(motion, name)
            np.testing.assert_allclose(getattr(images[body], name), one, atol=TOLERANCE * (1 + np.max(abs(one))))


@pytest.mark.parametrize(("mass", "follower"), MACHINES)
def test_a_beam_of_another_size_moves_alike(mass, follower):
    model, (L, M, T) = machine(mass, follower), (2.0, 3.0, 0.7)
    (found, energy), (expected, before) = motions(model.scaled(L, M, T)), motions(model)
    np.testing.assert_allclose(energy, before * M * L**2 / T**2, rtol=1e-11)
    for body, motion in expected.items():
        for name, factor in zip(BodyMotion._fields, (L, L / T, L / T**2, 1 / T, 1 / T**2), strict=True):
            one = factor * getattr(motion, name)
            np.testing.assert_allclose(getattr(found[body], name), one, atol=TOLERANCE * (1 + np.max(abs(one))))


def test_a_beam_of_another_size_is_drawn_so():
    section = ph.Section.circle(0.02, ph.Material(1e9, 0.3, 1000.0))
    model = ph.Model("rod", beams=[ph.Beam("rod", section, start=(0, 0, 0), end=(1, 0, 0))])
    before, after = ([x.size for x in y.forces if x.has_strains] for y in (model, model.scaled(length=3.0)))
    assert before[0] == (0.02,)
    assert after[0] == pytest.approx((0.06,))


@pytest.mark.parametrize(("mass", "follower"), MACHINES)
def test_a_clamped_node_becomes_part_of_its_body(mass, follower):
    model = machine(mass, follower)
    found = model.merged()
    assert len(found.bodies) == len(model.bodies) - 1
    q, v = start_of(model)
    before, after = (ph.compile(each, target="python") for each in (model, found))
    np.testing.assert_allclose(after.mass_matrix(q), before.mass_matrix(q), atol=1e-12)
    one = before.forward_dynamics(q, v, 0 * v)
    np.testing.assert_allclose(after.forward_dynamics(q, v, 0 * v), one, atol=TOLERANCE * np.max(abs(one)))


@pytest.mark.parametrize("mass", ["half-bars", "consistent"])
def test_a_beam_on_a_body_of_another_machine(mass):
    """On a body that stands still it moves as on the ground."""
    model = machine(mass)
    ground = ph.Model("table", bodies=[ph.Body("table", 1.0, (1, 1, 1))],
                      joints=[ph.Joint("floor", "fixed", "world", "table", position=(1, 2, 3))])  # fmt: skip
    found = ground.append(model, at="table", prefix="a.")
    (moved, _), (expected, _) = motions(found), motions(model)
    for body, motion in expected.items():
        np.testing.assert_allclose(moved[f"a.{body}"].position, motion.position + np.array([1, 2, 3]), atol=1e-12)
        np.testing.assert_allclose(moved[f"a.{body}"].acceleration, motion.acceleration, atol=1e-9)


def test_strains_that_are_held_have_an_image():
    model = machine("half-bars", held="elongation")
    q, v = start_of(model)
    image = model.mirrored((1, 2, -1))
    found = ph.compile(image, target="python").constraint_residuals(*start_of(image))
    want = ph.compile(model, target="python").constraint_residuals(q, v)
    for before, after in zip(want, found, strict=True):
        np.testing.assert_allclose(after, before, atol=1e-12)


def test_a_shaft_is_locked():
    """With the hub on the world: the blade is clamped there."""
    found = machine("consistent").with_locked(["shaft"])
    assert found.nv == 12
    assert [force.kind for force in found.forces].count("beam-inertia") == 2


@pytest.mark.parametrize("name", ["shaft", "blade-1", "blade-2"])
@pytest.mark.parametrize("mass", ["half-bars", "consistent"])
def test_a_locked_joint_leaves_the_equations_of_the_others(mass, name):
    """M_uu v̇_u = −b_u, with the velocities of the locked joint at 0."""
    model = machine(mass)
    (q, v), locked = start_of(model), model.with_locked([name])
    kept = [not x.startswith(name) for x in dof_names(model)]
    kept_q = [not x.startswith(name) for x in coordinate_names(model)]
    v = np.where(kept, v, 0.0)
    before, after = (ph.compile(each, target="python") for each in (model, locked))
    b, M = before.inverse_dynamics(q, v, 0 * v), before.mass_matrix(q)
    expected = np.linalg.solve(M[np.ix_(kept, kept)], -b[kept])
    found = after.forward_dynamics(q[kept_q], v[kept], 0 * v[kept])
    np.testing.assert_allclose(found, expected, atol=TOLERANCE * np.max(abs(expected)))


def satellite(mass):
    """A hub that flies, an arm on it, and a panel from the one to the other."""
    hub, arm = ph.Body("hub", 2.0, (0.3, 0.4, 0.5), (0.1, 0.0, 0.2)), ph.Body("arm", 1.0, (0.1, 0.2, 0.15))
    hinge = ph.Joint("hinge", "revolute", "hub", "arm", axis=(0, 0, 1), position=(0, 0.3, 0))
    panel = ph.Beam("panel", SECTION, start=("hub", (0.2, 0.1, 0)), end=("arm", (1, 0, 0)), elements=2, mass=mass)
    model = ph.Model("sat", (0, 0, 0), [hub, arm], [ph.Joint("fly", "free", "world", "hub"), hinge], beams=[panel])
    rng = np.random.default_rng(2)
    q = ph.compile(model, target="python").integrate(np.array(model.zero), 0.1 * rng.normal(size=model.nv))
    return replace(model, start=ph.Start(q=q, v=rng.normal(size=model.nv), duration=1.0))


@pytest.mark.parametrize("base", ["arm", "panel-0", "panel-1", "panel-2"])
@pytest.mark.parametrize("mass", ["half-bars", "consistent"])
def test_a_satellite_with_a_beam_moves_alike_from_any_base(mass, base):
    model = satellite(mass)
    (found, energy), (expected, before) = motions(model.with_base(base)), motions(model)
    np.testing.assert_allclose(energy, before, rtol=1e-11, atol=1e-12)
    for body, motion in expected.items():
        for name in BodyMotion._fields:
            one = getattr(motion, name)
            np.testing.assert_allclose(getattr(found[body], name), one, atol=TOLERANCE * (1 + np.max(abs(one))))


@pytest.mark.parametrize("mass", ["half-bars", "consistent"])
def test_a_limb_that_a_beam_ties_to_the_rest_is_refused_by_name(mass):
    """Nodes of a beam fly: they are no part of a limb, and a beam is never cut in silence."""
    model = satellite(mass)
    for edit in (
        lambda: model.limb("hinge"),
        lambda: model.without_subtree("hinge"),
        lambda: model.with_subtree("hinge", ph.load("pendulum"), prefix="p."),
    ):
        with pytest.raises(ph.ModelError, match=r"cannot be carried over.*\n.*force 'panel-2'.*\n.*drop=True"):
            edit()
    assert not model.limb("hinge", drop=True).forces


def test_a_limb_whose_beams_are_all_its_own_is_refused_too():
    with pytest.raises(ph.ModelError, match=r"force 'blade-1': body 'blade-1' is no part of the limb"):
        machine("half-bars").limb("shaft")
