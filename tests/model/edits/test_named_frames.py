"""Forces and constraints that name frames of a model move it as those written on the bodies do."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import polhode as ph
from plain import matrix_normalised
from polhode.formats.registry import model_of_text

TURN = np.array([0.7, 0.1, -0.5, 0.3]) / np.linalg.norm([0.7, 0.1, -0.5, 0.3])
AT = np.array([0.3, -0.2, 0.5])
OTHER = np.array([0.2, 0.6, 0.1, -0.4]) / np.linalg.norm([0.2, 0.6, 0.1, -0.4])
POINT = np.array([0.1, 0.4, -0.3])
R = matrix_normalised(TURN)
BODIES = [ph.Body("arm", 1.2, (0.3, 0.2, 0.25), (0, 0, -0.4)), ph.Body("hand", 0.7, (0.1, 0.2, 0.15), (0.1, 0, -0.2))]
JOINTS = [
    ph.Joint("shoulder", "spherical", "world", "arm"),
    ph.Joint("wrist", "universal", "arm", "hand", position=(0, 0, -0.8)),
]
FRAMES = [ph.BodyFrame("tool", "hand", AT, TURN), ph.BodyFrame("mark", "arm", (0, 0.1, 0))]


def product(a, b):
    """Hamilton's, written out."""
    w, x, y, z = a
    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]) @ b


@dataclass(frozen=True)
class Blade(ph.ForceElement):
    """Drag across a direction of a body, at a point of it: its keys say to which body they belong."""

    name: str
    body: str
    point: Any = (0.0, 0.0, 0.0)
    across: Any = (0.0, 0.0, 1.0)
    coefficient: Any = 0.4

    kind = "test-blade"
    keys: ClassVar = {
        "body": ph.Key("body", "the body", needed=True),
        "point": ph.Key("vector", "where it acts, m", unit="m", fixed_to="body"),
        "across": ph.Key("direction", "its normal", unit="1", fixed_to="body"),
        "coefficient": ph.Key("number", "N s/m", unit="N s/m"),
    }

    def wrenches(self, state):
        R = state.frame(self.body).R
        n = R @ self.across
        push = -self.coefficient * ph.dot(state.velocity(self.body, self.point), n) * n
        yield ph.Wrench(self.body, push, ph.cross(R @ self.point, push))


ON_BODY = AT + R @ POINT
ATTITUDE = product(TURN, OTHER)
STIFF = {"stiffness": (9, 8, 7, 3, 2, 1)}
ELEMENTS = {
    "spring": (
        ph.Spring("e", "arm", "tool", (0.1, 0, 0), POINT, stiffness=30, damping=2, rest=0.2),
        ph.Spring("e", "arm", "hand", (0.1, 0, 0), ON_BODY, stiffness=30, damping=2, rest=0.2),
    ),
    "spring between frames": (
        ph.Spring("e", "mark", "tool", stiffness=30, rest=0.2),
        ph.Spring("e", "arm", "hand", (0, 0.1, 0), AT, stiffness=30, rest=0.2),
    ),
    "force in the world's axes": (
        ph.Force("e", "tool", (1, 2, 3), (0.1, 0.2, 0.3), POINT),
        ph.Force("e", "hand", (1, 2, 3), (0.1, 0.2, 0.3), ON_BODY),
    ),
    "force in the frame's axes": (
        ph.Force("e", "tool", (1, 2, 3), (0.1, 0.2, 0.3), POINT, axes="body"),
        ph.Force("e", "hand", R @ (1, 2, 3), R @ (0.1, 0.2, 0.3), ON_BODY, axes="body"),
    ),
    "bushing": (
        ph.Bushing("e", "arm", "tool", point_b=POINT, orientation_b=OTHER, **STIFF),
        ph.Bushing("e", "arm", "hand", point_b=ON_BODY, orientation_b=ATTITUDE, **STIFF),
    ),
    "thrust": (
        ph.Thrust("e", "tool", 2.0, 3.0, direction=(0.6, 0, 0.8), point=POINT),
        ph.Thrust("e", "hand", 2.0, 3.0, direction=R @ (0.6, 0, 0.8), point=ON_BODY),
    ),
    "one of a user's own": (
        Blade("e", "tool", POINT, (0.6, 0, 0.8)), Blade("e", "hand", ON_BODY, R @ (0.6, 0, 0.8)),
    ),
}  # fmt: skip


def model(forces=(), constraints=(), frames=FRAMES):
    return ph.Model("m", bodies=BODIES, joints=JOINTS, forces=forces, constraints=constraints, frames=frames)


def accelerations(made):
    q, v = ph.random_configuration(made, seed=2), np.array(made.at_rest)
    v[: made.joint_velocities] = np.linspace(-0.5, 0.7, made.joint_velocities)
    return ph.compile(made, target="python").forward_dynamics(q, v, np.zeros(made.nv))


@pytest.mark.parametrize("kind", ELEMENTS)
def test_a_force_on_a_frame_is_that_on_its_body(kind):
    named, written = ELEMENTS[kind]
    there, here = model([named]), model([written])
    assert set(there.forces[0].bodies) <= {"arm", "hand", "world"}
    vd = accelerations(here)
    assert np.max(abs(accelerations(there) - vd)) < 1e-13 * np.max(abs(vd))
    assert np.max(abs(vd[:5] - accelerations(model()))) > 1e-3


@pytest.mark.parametrize("attitude", [{}, {"orientation_b": tuple(OTHER)}, {"axis_b": (0.6, 0.0, 0.8)}])
@pytest.mark.parametrize("kind", ["spherical", "weld", "revolute", "point-on-plane"])
def test_a_constraint_on_a_frame_is_that_on_its_body(kind, attitude):
    named = ph.Constraint("c", kind, body_a="mark", body_b="tool", position_b=POINT, **attitude)
    own = dict(attitude)
    if "axis_b" in own:  # the shortest turn from z to the axis
        own = {"orientation_b": (np.sqrt(0.9), 0.0, np.sqrt(0.1), 0.0)}
    turned = product(TURN, np.array(own.get("orientation_b", (1.0, 0, 0, 0))))
    ends = {"body_a": "arm", "body_b": "hand", "position_a": (0, 0.1, 0), "position_b": ON_BODY}
    written = ph.Constraint("c", kind, **ends, orientation_b=turned)
    rows = []
    for constraint in (named, written):
        made = model(constraints=[constraint])
        assert made.constraints[0].kind.bodies(made.constraints[0].data) == ["arm", "hand"]
        q = ph.random_configuration(made, seed=2)
        rows.append(ph.compile(made, target="python").constraint_rows(q, np.zeros(made.nv)).A)
    assert np.max(abs(rows[0] - rows[1])) < 1e-14 * np.max(abs(rows[1]))


def test_files_name_frames_too():
    text = """
name: m
bodies:
  arm: {mass: 1, inertia: [1, 1, 1]}
  hand: {mass: 1, inertia: [1, 1, 1]}
joints:
  a: {type: free, parent: world, child: arm}
  b: {type: free, parent: world, child: hand}
frames:
  tool: {body: hand, position: [0, 0, 0.1], rpy: [0, pi/2, 0]}
forces:
  pull: {type: spring, body_a: arm, body_b: tool, point_b: [0.2, 0, 0], stiffness: 3}
constraints:
  hold: {type: weld, body_a: arm, body_b: tool}
"""
    made = model_of_text(text, "text")
    assert made.forces[0].body_b == "hand"
    assert made.forces[0].point_b == pytest.approx((0, 0, -0.1), abs=1e-15)
    assert made.constraints[0].data["position_b"] == (0.0, 0.0, 0.1)
    assert made.constraints[0].data["orientation_b"] == pytest.approx((0.5**0.5, 0, 0.5**0.5, 0))


def test_what_cannot_stand_on_a_frame_is_refused():
    drag = ph.BodyForce("drag", lambda t, body: -body.velocity, "tool")
    with pytest.raises(ph.ModelError, match="force 'drag': cannot stand on a frame"):
        model([drag])
    with pytest.raises(ph.ModelError, match="cannot stand on a frame"):
        model([ph.Force("f", "tool", lambda t: (t, 0, 0), axes="body")])
    with pytest.raises(ph.ModelError, match="point: a parameter in the axes of a frame"):
        model([ph.Force("f", "tool", (0, 0, 1), point=(ph.Parameter("p", 0.1), 0, 0))])
    with pytest.raises(ph.ModelError, match="become one"):
        model([ph.Spring("s", "hand", "tool", stiffness=1.0)])
    with pytest.raises(ph.ModelError, match="unknown body"):
        model([ph.Force("f", "tol", (0, 0, 1))])


def test_edits_of_models_know_only_bodies():
    """A model with an element on a frame is one with the element on the body, in every edit too."""
    named, written = ELEMENTS["spring"]
    assert np.allclose(
        accelerations(model([named]).scaled(2.0)), accelerations(model([written]).scaled(2.0)), atol=1e-14
    )
