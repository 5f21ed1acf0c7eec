"""Edits of models with kinds of a user's own: what they say of themselves is all that an edit needs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import polhode as ph
from edited_machines import BodyMotion, motions
from polhode.model.constraints.registry import CONSTRAINTS
from polhode.model.joints.registry import JOINTS

AXIAL = ("omega", "alpha")


@dataclass(frozen=True)
class Drag(ph.ForceElement):
    """Drag at a point of a body, along one direction of it more than along others."""

    name: str
    body: str
    point: Any = (0.0, 0.0, 0.0)
    wing: Any = (0.0, 0.0, 1.0)
    coefficient: float = 0.3

    kind = "edited-drag"
    keys: ClassVar = {
        "body": ph.Key("body", "the body", needed=True),
        "point": ph.Key("vector", "where it acts, m", unit="m"),
        "wing": ph.Key("direction", "across which it acts twice", unit="1"),
        "coefficient": ph.Key("number", "of the drag", unit="N s/m"),
    }

    def wrenches(self, state: Any) -> Iterator[Any]:
        """Against the velocity of the point."""
        R, _ = state.frame(self.body)
        u, w = state.twist(self.body)
        arm, across = R @ self.point, R @ self.wing
        speed = u + ph.cross(w, arm)
        push = -self.coefficient * (speed + ph.dot(speed, across) * across)
        yield ph.Wrench(self.body, push, ph.cross(arm, push))

    def moved(self, mounts: Any) -> dict[str, Any]:
        """Point and direction."""
        return {"point": mounts["body"].point(self.point), "wing": mounts["body"].direction(self.wing)}

    def reflected(self, mirror: Any) -> dict[str, Any]:
        """Point and direction."""
        return {"point": mirror.polar(self.body, self.point), "wing": mirror.polar(self.body, self.wing)}


class Gimbals(ph.JointKind):
    """Two travels and three hinges, each carried by the one before."""

    name = "edited-gimbals"
    elements = ((ph.PRISMATIC, "axis"), (ph.REVOLUTE, "z"), (ph.REVOLUTE, "x"), (ph.REVOLUTE, "z"))
    coordinates, dofs = ("out", "yaw", "tilt", "spin"), ("outwards", "yawing", "tilting", "spinning")


class Slot(ph.BodyConstraint):
    """A point of b in a plane through the origin of a, at an angle about x."""

    name = "edited-slot"
    rows = ("height",)
    has_image = True

    def positions(self, a: Any, b: Any, data: Any) -> Any:
        """z, bent along x: its own image across y."""
        x, _, z = a.R.T @ (b.o - a.o)
        return [z - x * x]


class Wave(ph.ElementKind):
    """Along x, in waves; it does not say what a mirror makes of it."""

    name = "edited-wave"

    def motion(self, e: Any, q: Any) -> tuple[Any, Any]:
        """R and r."""
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [q[0], 0.0, ph.sin(q[0])]


class WaveJoint(ph.JointKind):
    """A bead on a wave."""

    name = "edited-wave"
    elements = ((Wave(), ""),)
    coordinates, dofs = ("way",), ("speed",)


class Across(ph.JointKind):
    """A slide along y of its frame."""

    name = "edited-across"
    elements = ((ph.PRISMATIC, "y"),)
    coordinates, dofs = ("travel",), ("speed",)


@pytest.fixture(autouse=True)
def registered():
    """The kinds of this file, known for one test."""
    ph.register_joint(Gimbals)
    ph.register_joint(WaveJoint)
    ph.register_joint(Across)
    ph.register_constraint(Slot)
    yield
    del JOINTS[Gimbals.name], JOINTS[WaveJoint.name], JOINTS[Across.name], CONSTRAINTS[Slot.name]


def machine(kind="edited-gimbals", **more):
    rng = np.random.default_rng(4)
    unit = lambda x: x / np.linalg.norm(x)
    bodies = [ph.Body(name, 1.0 + k, (1, 1.2, 1.4), rng.normal(size=3)) for k, name in enumerate("abc")]
    joints = [
        ph.Joint("base", "free", "world", "a"),
        ph.Joint("own", kind, "a", "b", position=rng.normal(size=3), orientation=unit(rng.normal(size=4)), **more),
        ph.Joint("end", "fixed", "b", "c", position=rng.normal(size=3), orientation=unit(rng.normal(size=4))),
    ]
    drag = Drag("air", "c", point=rng.normal(size=3), wing=unit(rng.normal(size=3)))
    slot = ph.Constraint("slot", "edited-slot", body_a="a", body_b="c", orientation_a=unit(rng.normal(size=4)))
    nq, nv = sum(x.nq for x in joints), sum(x.nv for x in joints)
    q, v = rng.normal(size=nq), rng.normal(size=nv)
    q[3:7] /= np.linalg.norm(q[3:7])
    return ph.Model(
        "own kinds", bodies=bodies, joints=joints, forces=[drag], constraints=[slot], start=ph.Start(q=q, v=v)
    )


@pytest.mark.parametrize("normal", [(0, 1, 0), (1, 2, -1)])
def test_the_image_moves_as_an_image(normal):
    model = machine(axis=(0.36, 0.48, 0.8))
    n = np.array(normal) / np.linalg.norm(normal)
    H = np.eye(3) - 2 * np.outer(n, n)
    (images, energy), (expected, before) = motions(model.mirrored(normal)), motions(model)
    np.testing.assert_allclose(energy, before, rtol=1e-12)
    for body, motion in expected.items():
        for name in BodyMotion._fields:
            one = (-H if name in AXIAL else H) @ getattr(motion, name)
            np.testing.assert_allclose(getattr(images[body], name), one, atol=1e-11 * (1 + np.max(abs(one))), rtol=0)


def test_an_element_is_merged_with_its_body():
    model = machine(axis=(0.36, 0.48, 0.8))
    before, after = (motions(x)[0] for x in (model, model.merged()))
    assert set(after) == {"a", "b"}
    compared = [*(("a", name) for name in BodyMotion._fields), *(("b", name) for name in AXIAL)]
    for body, name in compared:  # the mass centre of b is another
        np.testing.assert_allclose(getattr(after[body], name), getattr(before[body], name), atol=1e-11)


def test_a_joint_whose_inverse_is_of_no_kind_cannot_be_turned_round():
    with pytest.raises(ph.ModelError, match=r"joint 'own'(.|\n)*from_pose|cannot be turned round"):
        machine(axis=(0.36, 0.48, 0.8)).with_base("c")


def test_a_motion_without_an_image_is_told():
    with pytest.raises(ph.ModelError, match=r"joint 'own': has no image(.|\n)*edited-wave(.|\n)*axis_image"):
        machine("edited-wave").mirrored((0, 1, 0))


def test_turns_are_counted_where_a_planar_joint_is_turned_round():
    bodies = [ph.Body(name, 1.0, (1, 1, 1)) for name in "ab"]
    joints = [ph.Joint("base", "free", "world", "a"), ph.Joint("plane", "planar", "a", "b")]
    q = [0, 0, 0, 1, 0, 0, 0, 0.4, -0.3, 20.0]
    found = ph.Model("turned", bodies=bodies, joints=joints, start=ph.Start(q=q)).with_base("b")
    assert found.start.q[-1] == pytest.approx(-20.0, abs=1e-13)


@pytest.mark.parametrize(
    ("mode", "sign"), [("elongation", 1), ("torsion", -1), ("bending-xz-end", 1), ("bending-xy-end", -1)]
)
def test_a_given_strain_has_its_image(mode, sign):
    bodies = [ph.Body(name, 1.0, (1, 1, 1)) for name in "ab"]
    joints = [ph.Joint(name, "free", "world", name) for name in "ab"]
    held = ph.Constraint("held", "beam-strain", body_a="a", body_b="b", length=1.0, mode=mode, strain=0.02)
    rng = np.random.default_rng(7)
    q = np.concatenate([[*(rng.normal(size=3) * 0.1 + (k, 0, 0)), 1, *rng.normal(size=3) * 0.1] for k in (0, 1)])
    for k in (3, 10):
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    model = ph.Model("beam", bodies=bodies, joints=joints, constraints=[held], start=ph.Start(q=q))
    image = model.mirrored((0, 1, 0))
    assert image.constraints[0].data["strain"] == sign * 0.02
    one, other = (
        np.array(ph.compile(x).constraint_residuals(np.array(x.start.q), np.zeros(12))) for x in (model, image)
    )
    np.testing.assert_allclose(other, sign * one, atol=1e-14)


def test_a_value_that_is_kept_changes_its_sign_with_its_coordinate():
    """A joint along its own y: its axis stays, the coordinate is the image."""
    across = ph.Joint("out", "edited-across", "world", "a")
    held = ph.Constraint("held", "prescribed", joint="out", value=0.3)
    model = ph.Model("kept", bodies=[ph.Body("a", 1.0, (1, 1, 1))], joints=[across], constraints=[held])
    assert model.mirrored((0, 1, 0)).constraints[0].data["value"] == -0.3
    assert model.mirrored((1, 0, 0)).constraints[0].data["value"] == 0.3
    moving = replace(model, constraints=[ph.Constraint("held", "prescribed", joint="out", value=lambda t: t)])
    with pytest.raises(ph.ModelError, match="its coordinate changes its sign, its function of time does not"):
        moving.mirrored((0, 1, 0))
