"""Reactions are the forces of Newton and Euler: of loops, wheels and rods, and of the joints of the tree."""

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from free_bodies import DATA, held, states
from opened_loops import KINDS, opened, pair, state
from plain import matrix
from polhode.model import plain

G = 9.81


def plainly(model):
    """Each kernel would serve one call: the graph is evaluated as it is."""
    return ph.compile(model, target="python")


def rotation(system, q, body):
    return matrix(system.pose(q, body).quaternion)


def test_the_hinge_of_a_pendulum_pulls_with_its_weight_and_the_centrifugal_force():
    """m (g cos θ + l ω²) along the rod; across it m (g sin θ + l θ̈)."""
    m, l, angle, omega = 1.3, 0.7, 0.4, 2.1
    bob = ph.Body("bob", m, (0, 0, 0), center=(0, 0, -l))
    model = ph.Model("pendulum", bodies=[bob], joints=[ph.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0))])
    force, torque = ph.compile(model).joint_reactions([angle], [omega], [0.0])
    rod = np.array([-np.sin(angle), 0, -np.cos(angle)])
    assert_close(force[0], -m * (G * np.cos(angle) + l * omega**2) * rod)
    assert_close(torque[0], np.zeros(3), 10)


def test_a_rod_pulls_with_the_weight_and_the_centrifugal_force():
    m, l, angle, omega = 1.3, 0.7, 0.4, 2.1
    ends = {"body_b": "bob", "length": l}
    bob, plane = ph.Body("bob", m, (1, 1, 1)), ph.Joint("x", "planar", "world", "bob")
    model = ph.Model("rod", (0, -G, 0), [bob], [plane], constraints=[ph.Constraint("rod", "distance", ends)])
    rod = np.array([np.sin(angle), -np.cos(angle), 0])
    q, v = [*(l * rod[:2]), 0.0], [l * omega * np.cos(angle), l * omega * np.sin(angle), 0.0]
    found = ph.compile(model).constraint_reactions(q, v, np.zeros(3))
    assert_close(found.force[0], -m * (G * np.cos(angle) + l * omega**2) * rod)
    assert_close(found.torque[0], np.zeros(3))


def roof(slope, m=2.0, l=1.5):
    """Two equal bars, hinged to the ground and to each other at the top."""
    bar = {"mass": m, "inertia": (0.0, m * l * l / 12, m * l * l / 12), "center": (l / 2, 0, 0)}
    span = 2 * l * np.cos(slope)
    joints = [
        ph.Joint(n, "revolute", "world", n, axis=(0, 0, 1), position=p)
        for n, p in (("a", (0, 0, 0)), ("b", (span, 0, 0)))
    ]
    ends = {"body_a": "a", "body_b": "b", "position_a": (l, 0, 0), "position_b": (l, 0, 0)}
    top = ph.Constraint("top", "revolute", ends)
    return ph.Model("roof", (0, -G, 0), [ph.Body(n, **bar) for n in "ab"], joints, constraints=[top])


def test_a_roof_stands_by_the_thrust_of_statics():
    """Moments about a foot: H l sin α = m g (l/2) cos α; each foot carries one bar."""
    slope, m = 0.6, 2.0
    system = ph.compile(roof(slope))
    q = [slope, np.pi - slope]
    thrust = m * G / (2 * np.tan(slope))
    found = system.constraint_reactions(q, [0, 0], [0, 0])
    assert_close(rotation(system, q, "a") @ found.force[0], [thrust, 0, 0], 10)
    feet = system.joint_reactions(q, [0, 0], [0, 0])
    assert_close(feet.force, [[thrust, m * G, 0], [-thrust, m * G, 0]], 10)
    assert_close(feet.torque, np.zeros((2, 3)), 100)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_joint_gives_what_the_joint_of_the_tree_gives(kind):
    two = pair(kind, 1)
    tree, cut = plainly(two.tree), plainly(two.cut)
    q, v = state(two.tree, 7)
    tau = np.array([0.7, -0.4])
    whole = tree.joint_reactions(q, v, np.array([*tau, *np.zeros(tree.nv - 2)]))
    q_cut, v_cut = opened(tree, q, v)
    found = cut.constraint_reactions(q_cut, v_cut, np.array([*tau, *np.zeros(6)]))
    turned = matrix(two.cut.constraints[0].data["orientation_a"]).T @ matrix(two.tree.joint("second").orientation)
    condition = 10 * np.linalg.cond(cut.mass_matrix(q_cut))
    assert_close(found.force[0], turned @ whole.force[1], condition)
    assert_close(found.torque[0], turned @ whole.torque[1], condition)
    of_cut = cut.joint_reactions(q_cut, v_cut, np.array([*tau, *np.zeros(6)]))
    assert_close(of_cut.force[0], whole.force[0], condition)
    assert_close(of_cut.torque[0], whole.torque[0], condition)
    assert_close(of_cut.force[1], np.zeros(3), condition, np.max(abs(whole.force)))  # it flies freely


@pytest.mark.parametrize("kind", [kind for kind in DATA if kind != "function"])
def test_reactions_have_the_power_of_their_multipliers(kind):
    """λ·(A w) = (F, T)·(twist of b less that of a) for any velocity w, at any state."""
    system = plainly(held(kind))
    q, v = next(states())
    found = system.constraint_reactions(q, v, np.random.default_rng(3).normal(size=12))
    data, R_a = DATA[kind], rotation(system, q, "a")
    axes = R_a @ matrix(data["orientation_a"])
    force, torque = axes @ found.force[0], axes @ found.torque[0]
    centre = system.pose(q, "b").position + rotation(system, q, "b") @ data["position_b"]
    k, n = axes[:, 2], (rotation(system, q, "b") @ matrix(data["orientation_b"]))[:, 2]
    radial = (k - (k @ n) * n) / np.linalg.norm(k - (k @ n) * n)
    arms = {"rolling-disk": -0.7 * radial - 0.1 * k, "rolling-sphere": -0.7 * k}
    point = centre + arms.get(kind, 0 * k)
    for w in np.random.default_rng(4).normal(size=(3, 12)):
        power = 0.0
        for body, sign in (("b", 1), ("a", -1)):
            moving, at = system.velocity(q, w, body), system.pose(q, body).position
            there = moving.linear + np.cross(moving.angular, point - at)
            power += sign * (force @ there + torque @ moving.angular)
        expected = found.multipliers @ system.constraint_rows(q, v).A @ w
        assert power == pytest.approx(expected, rel=1e-11)


def test_what_rolls_is_held_by_a_force_at_the_contact_alone():
    for kind in ("rolling-disk", "rolling-sphere"):
        system = plainly(held(kind))
        found = system.constraint_reactions(*next(states()), np.ones(12))
        assert_close(found.torque[0], np.zeros(3), 100, np.max(abs(found.force)))


@pytest.mark.parametrize("name", ["four-bar", "bricard", "slider-crank-3d", "rolling-disk"])
def test_every_body_moves_as_newton_and_euler_say(name):
    """m a = Σ forces and Ḣ = Σ moments about the mass centre, of joints, constraints and weight."""
    model = ph.load(name)
    system, q, v = plainly(model), np.array(model.start.q), np.array(model.start.v or np.zeros(model.nv))
    tau = np.random.default_rng(2).normal(size=model.nv)
    vd = system.forward_dynamics(q, v, tau)
    at = {"world": (np.zeros(3), np.eye(3))} | {
        b.name: (system.pose(q, b.name).position, rotation(system, q, b.name)) for b in model.bodies
    }
    wrenches = {body: [] for body in at}  # force, torque, point
    for joint, f, n in zip(model.joints, *system.joint_reactions(q, v, tau), strict=True):
        R = at[joint.parent][1] @ matrix(joint.orientation)
        for body, sign in ((joint.child, 1), (joint.parent, -1)):
            wrenches[body].append((sign * R @ f, sign * R @ n, at[joint.child][0]))
    found = system.constraint_reactions(q, v, tau)
    for constraint, f, n in zip(model.constraints, found.force, found.torque, strict=True):
        R, point = frame(constraint, at)
        if constraint.type == "rolling-disk":
            point = contact(constraint, at, point)
        for side, sign in (("b", 1), ("a", -1)):
            body = constraint.data.get(f"body_{side}", "world")
            wrenches[body].append((sign * R @ f, sign * R @ n, point))
    for body in model.bodies:
        o, R = at[body.name]
        linear, angular = system.acceleration(q, v, vd, body.name)
        omega, c = system.velocity(q, v, body.name).angular, R @ np.array(plain(body.center))
        a_c = linear + np.cross(angular, c) + np.cross(omega, np.cross(omega, c))
        mass, inertia = plain(body.mass), np.array(plain(body.inertia))
        J = R @ (np.diag(inertia) if inertia.ndim == 1 else inertia) @ R.T
        total = sum(f for f, _, _ in wrenches[body.name]) + mass * np.array(model.gravity)
        moment = sum(n + np.cross(p - o - c, f) for f, n, p in wrenches[body.name])
        size = max(np.max(abs(x)) for w in wrenches[body.name] for x in w)
        assert_close(total, mass * a_c, 100, size)
        assert_close(moment, J @ angular + np.cross(omega, J @ omega), 100, size)


def frame(constraint, at):
    """The axes of the frame on body a, and the origin of that on body b."""
    data = constraint.data
    (_, R_a), (o, R) = at[data.get("body_a", "world")], at[data["body_b"]]
    return R_a @ attitude(data, "a"), o + R @ np.array(data.get("position_b", (0, 0, 0)))


def attitude(data, side):
    if f"axis_{side}" in data:
        z = np.array(data[f"axis_{side}"]) / np.linalg.norm(data[f"axis_{side}"])
        assert z[2] > -0.9
        p = np.array([1 + z[2], -z[1], z[0], 0])
        return matrix(p / np.linalg.norm(p))
    return matrix(data.get(f"orientation_{side}", (1, 0, 0, 0)))


def contact(constraint, at, centre):
    n, k = (at[constraint.data["body_b"]][1] @ attitude(constraint.data, "b"))[:, 2], np.array([0, 0, 1.0])
    u = (k - (k @ n) * n) / np.linalg.norm(k - (k @ n) * n)
    return centre - plain(constraint.data["radius"]) * u - constraint.data.get("rim", 0.0) * k


def test_joints_carry_their_drive_along_their_axes():
    """Along what a joint leaves free its load is τ, with springs and dampers, less what turns the armature."""
    joints = [ph.Joint("a", "revolute", "world", "a", axis=(0, 1, 0), stiffness=3, damping=0.5, armature=0.2)]
    joints.append(ph.Joint("b", "prismatic", "a", "b", axis=(1, 0, 0), position=(0, 0, 1)))
    bodies = [ph.Body(n, 1.5, (0.2, 0.3, 0.4), center=(0.1, 0.2, 0.3)) for n in "ab"]
    system = ph.compile(ph.Model("m", bodies=bodies, joints=joints))
    q, v, tau = [0.3, 0.4], [1.0, -2.0], [0.7, 0.9]
    vd = system.forward_dynamics(q, v, tau)
    found = system.joint_reactions(q, v, tau)
    assert found.torque[0, 1] == pytest.approx(0.7 - 3 * 0.3 - 0.5 - 0.2 * vd[0], rel=1e-12)
    assert found.force[1, 0] == pytest.approx(0.9, rel=1e-12)


# over a run


def test_a_run_holds_its_reactions_by_name():
    model = ph.load("four-bar")
    run = ph.simulate(model, duration=0.5, samples=6)
    system = ph.compile(model)
    q, v = run["q"].values, run["v"].values
    found = system.constraint_reactions(q, v, 0 * v, t=run["time"].values)
    assert np.array_equal(run["multiplier"].values, found.multipliers)
    assert np.array_equal(run["reaction_force"].sel(connection="closing").values, found.force[:, 0])
    assert list(run["connection"].values) == ["closing"]
    assert list(run["multiplier_units"].values) == ["N", "N", "N", "N m", "N m"]
    assert {run[name].attrs["units"] for name in ("reaction_force", "reaction_torque")} == {"N", "N m"}
    assert list(run["degrees_of_freedom"].values) == [1] * 6
    assert list(run["determined"].values[0]) == [1, 1, 0, 0, 0]
    for k in (0, 5):
        seen = ph.diagnose(model, q[k], v[k])
        assert run["smallest_singular_value"].values[k] == pytest.approx(seen.weakest, rel=1e-9)
        assert run["rank"].values[k] == seen.rank


def test_redundant_reactions_are_told_from_others():
    """Bricard's mechanism is held by five rows of rank four, every one of them in the null vector."""
    model = ph.load("bricard")
    run = ph.simulate(model, duration=0.3, samples=4)
    names = run["constraint"].values
    determined = {str(n) for n, yes in zip(names, run["determined"].values[0], strict=True) if yes}
    assert determined == set(ph.diagnose(model).determined)
    assert list(run["rank"].values) == [4] * 4
    assert np.all(run["smallest_singular_value"].values > 0.1)  # of those that are independent


def test_the_smallest_singular_value_dips_where_four_bars_pass_their_line():
    """The bars stand in line at the start's angle and at the start's plus half a turn: the loops lose rank there."""
    run = ph.simulate(ph.load("n-four-bar"), duration=2, samples=401)
    weakest, angle = run["smallest_singular_value"].values, run["q"].values[:, 0]
    at = int(np.argmin(weakest))
    assert weakest[at] < 0.02 * np.median(weakest)
    assert abs(np.sin(angle[at])) < 0.05


def test_what_is_not_kept_is_not_computed():
    model = ph.load("four-bar")
    run = ph.simulate(model, duration=0.1, samples=2, keep=["q", "rank", "joint_force"])
    assert set(run.data_vars) == {"q", "rank", "joint_force"}
    assert list(run["joint"].values) == [joint.name for joint in model.joints]
    v = np.array(ph.simulate(model, duration=0.1, samples=2, keep=["v"])["v"])
    expected = ph.compile(model).joint_reactions(run["q"].values, v, 0 * v).force
    assert np.array_equal(run["joint_force"].values, expected)
    free = ph.simulate(ph.load("pendulum"), duration=0.1, samples=2, keep=["joint_torque"])
    assert free["joint_torque"].dims == ("time", "joint", "axis")


def test_recorded_runs_hold_the_same(tmp_path):
    model = ph.load("four-bar")
    options = {"duration": 0.2, "samples": 5}
    direct, recorded = ph.simulate(model, **options), ph.record(tmp_path, model, **options)
    for name in ("multiplier", "reaction_force", "rank", "smallest_singular_value", "constraint_rate", "determined"):
        assert np.array_equal(direct[name].values, recorded[name].values, equal_nan=True)
    assert list(recorded["multiplier_units"].values) == ["N", "N", "N", "N m", "N m"]
    assert "residual, constraints" in recorded.attrs["grade"]


def test_a_failed_run_tells_what_it_can():
    """Where a run left all bounds nothing is claimed of its constraints."""
    held = [
        ph.Constraint(n, "prescribed", {"joint": "j", "value": f})
        for n, f in (("one", lambda t: t**3), ("two", lambda t: 2 * t**3))
    ]
    model = ph.Model(
        "m", bodies=[ph.Body("b", 1, (1, 1, 1))], joints=[ph.Joint("j", "revolute", "world", "b")], constraints=held
    )
    run = ph.simulate(model, duration=1, samples=11)
    assert run.attrs["status"] == "failed"
    assert "reaction_force" not in run
    assert list(run["multiplier_units"].values) == ["N m", "N m"]
    assert list(run["determined"].values[0]) == [0, 0]
