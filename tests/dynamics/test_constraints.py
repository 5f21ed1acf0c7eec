"""Rows of constraints: A and b are the derivatives of φ, and what the published formulas say."""

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from free_bodies import DATA, End, flying, held, slipping, states

FIRST, SECOND = 1e-8, 1e-5
"""Errors of central differences of values of order 1: ε/h + h² with h = 1e-5, ε/h² + h² with h = 1e-4."""


def size(x):
    return np.max(abs(x), initial=1.0)


@pytest.mark.parametrize("kind", DATA)
def test_A_is_the_derivative_of_phi_along_the_velocities(kind):
    system, h = ph.compile(held(kind)), 1e-5
    for q, v in states():
        count = len(system.constraint_residuals(q, v).positions)
        found = system.constraint_rows(q, v).A[:count]
        columns = [
            (system.constraint_residuals(system.integrate(q, h * e), v).positions
             - system.constraint_residuals(system.integrate(q, -h * e), v).positions) / (2 * h)
            for e in np.eye(12)
        ]  # fmt: skip
        assert np.max(abs(found - np.array(columns).T), initial=0) < 10 * FIRST * size(found)


@pytest.mark.parametrize("kind", DATA)
def test_rates_are_linear_in_velocities_and_b_is_what_turns(kind):
    system, h, t = ph.compile(held(kind)), 1e-5, 0.3
    for q, v in states():
        A, b = system.constraint_rows(q, v, t=t)
        rates = system.constraint_residuals(q, v, t=t).rates
        assert_close(rates - system.constraint_residuals(q, 0 * v, t=t).rates, A @ v, 10)
        ahead, behind = (system.constraint_residuals(system.integrate(q, s * v), v, t=t + s).rates for s in (h, -h))
        assert np.max(abs((ahead - behind) / (2 * h) + b)) < 100 * FIRST * size(b)


@pytest.mark.parametrize("kind", [kind for kind in DATA if kind != "knife-edge"])
def test_b_is_the_second_derivative_of_phi_along_the_motion(kind):
    system, h = ph.compile(held(kind)), 1e-4
    for q, v in states():
        phi = [system.constraint_residuals(system.integrate(q, s * v), v, t=s).positions for s in (h, 0.0, -h)]
        second = (phi[0] - 2 * phi[1] + phi[2]) / h**2
        assert np.max(abs(system.constraint_rows(q, v).b[: len(second)] + second)) < SECOND * size(second)


def dot1(a, b, y, z):
    """y·z of a direction in a and one in b.                                                     BEYOND §4"""
    c = np.cross(y, z)
    turning = np.cross(np.cross(a.omega, y), z) + np.cross(y, np.cross(b.omega, z))
    return a.row(np.zeros(3), c), b.row(np.zeros(3), -c), -(a.omega - b.omega) @ turning


def dot2(a, b, y):
    """y·d of a direction in a and the distance d of the points.                                 BEYOND §4"""
    d, rate = b.point - a.point, b.velocity - a.velocity
    gamma = np.cross(b.omega, np.cross(b.omega, b.s)) - np.cross(a.omega, np.cross(a.omega, a.s))
    wy = np.cross(a.omega, y)
    right = -np.cross(a.omega, wy) @ d - 2 * wy @ rate - y @ gamma
    return a.row(-y, np.cross(y, d) - np.cross(a.s, y)), b.row(y, np.cross(b.s, y)), right


def distance(a, b, length):
    """½(d·d − ℓ²)/ℓ                                                                             BEYOND §4"""
    d, rate = b.point - a.point, b.velocity - a.velocity
    gamma = np.cross(b.omega, np.cross(b.omega, b.s)) - np.cross(a.omega, np.cross(a.omega, a.s))
    right = -rate @ rate - d @ gamma
    return a.row(-d, np.cross(d, a.s)) / length, b.row(d, np.cross(b.s, d)) / length, right / length


POINT = [lambda a, b, k=k: dot2(a, b, a.axes[k]) for k in range(3)]
TILT = [lambda a, b, k=k: dot1(a, b, a.axes[k], b.axes[2]) for k in range(2)]
TABLE = {
    "revolute": [*POINT, *TILT],
    "cylindrical": [*POINT[:2], *TILT],
    "universal": [*POINT, lambda a, b: dot1(a, b, a.axes[2], b.axes[0])],
    "spherical": POINT,
    "planar": [POINT[2], *TILT],
    "point-on-line": POINT[:2],
    "point-on-plane": POINT[2:],
    "distance": [lambda a, b: distance(a, b, DATA["distance"]["length"])],
}
"""The rows of constraints by the published table."""


@pytest.mark.parametrize("kind", TABLE)
def test_rows_are_those_of_the_table_also_off_the_constraint(kind):
    system = ph.compile(held(kind))
    for q, v in states():
        a, b = End(q, v, "a"), End(q, v, "b")
        found, expected = system.constraint_rows(q, v), [row(a, b) for row in TABLE[kind]]
        assert_close(found.A, np.array([np.concatenate(row[:2]) for row in expected]), 10)
        assert_close(found.b, np.array([row[2] for row in expected]), 100)


def on_ground(kind, **data):
    body = ph.Body("b", 1.3, (0.2, 0.3, 0.4))
    wheel = ph.Constraint("c", kind, {"body_b": "b", **data})
    return ph.Model("m", bodies=[body], joints=[ph.Joint("j", "free", "world", "b")], constraints=[wheel])


def test_a_rolling_disk_has_the_published_rows():
    """c = −r u − ρ k, ẋ + ω × c = 0, b = −ω × ċ, ċ = −r u̇                                       BEYOND §6"""
    r, rim, k = 0.7, 0.1, np.array([0.0, 0, 1])
    system = ph.compile(on_ground("rolling-disk", radius=r, rim=rim))
    for q, v in states():
        q, v = q[:7], v[:6]
        system_q = End(np.tile(q, 2), np.tile(v, 2), "a")
        A, omega, n = system_q.A, system_q.omega, system_q.A[:, 2]
        s = np.linalg.norm(np.cross(n, k))
        u = (k - (k @ n) * n) / s
        c, ndot = -r * u - rim * k, np.cross(omega, n)
        y = -(k @ ndot) * n - (k @ n) * ndot
        cdot = -r * (y - u * (u @ y)) / s
        C = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
        rows, right = np.hstack([np.eye(3), -C @ A]), -np.cross(omega, cdot)
        found, missed = system.constraint_rows(q, v), system.constraint_residuals(q, v)
        order = [2, 0, 1]  # the height's rate comes first
        assert_close(found.A, rows[order], 10)
        assert_close(found.b, right[order], 100 / s**2)
        assert_close(missed.rates, (rows @ v)[order], 10)
        assert_close(missed.positions, np.array([q[2] - r * s - rim]))


def test_a_rolling_sphere_has_the_published_rows():
    """ẋ = r ω × k, b = 0                                                                         BEYOND §6"""
    system, r = ph.compile(on_ground("rolling-sphere", radius=0.7)), 0.7
    for q, v in states():
        q, v = q[:7], v[:6]
        A = End(np.tile(q, 2), np.tile(v, 2), "a").A
        roll = -r * np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]]) @ A  # −r ω × k
        found = system.constraint_rows(q, v)
        assert_close(found.A, np.hstack([np.eye(3), roll])[[2, 0, 1]], 10)
        assert_close(found.b, np.zeros(3))


def test_a_knife_edge_has_the_published_row():
    """y·(ẋ + ω × s) = 0, b = −(ω × y)·(ẋ + ω × s) − y·[ω × (ω × s)]                              BEYOND §6"""
    position = (0.3, -0.2, 0.1)
    system = ph.compile(on_ground("knife-edge", position_b=position))
    for q, v in states():
        q, v = q[:7], v[:6]
        end = End(np.tile(q, 2), np.tile(v, 2), "a")
        y, s, omega = end.A[:, 1], end.A @ position, end.omega
        velocity = v[:3] + np.cross(omega, s)
        right = -np.cross(omega, y) @ velocity - y @ np.cross(omega, np.cross(omega, s))
        found = system.constraint_rows(q, v)
        assert_close(found.A, end.row(y, np.cross(s, y))[None], 10)
        assert_close(found.b, np.array([right]), 10)


@pytest.mark.parametrize("kind", ["rolling-disk", "rolling-sphere", "knife-edge"])
def test_a_wheel_on_a_moving_plate_rolls_as_on_the_ground_seen_from_the_plate(kind):
    """A plate that moves along with a constant velocity is as good as the ground (Galilei)."""
    data = {"radius": 0.7} if kind.startswith("rolling") else {}
    ground = ph.compile(on_ground(kind, **data))
    body = on_ground(kind).bodies[0] if not data else on_ground(kind, **data).bodies[0]
    joints = [ph.Joint("rail", "planar", "world", "plate"), ph.Joint("j", "free", "world", "b")]
    plate = ph.Body("plate", 2.0, (1.0, 1.0, 1.0))
    wheel = ph.Constraint("c", kind, {"body_a": "plate", "body_b": "b", **data})
    moving = ph.compile(ph.Model("m", bodies=[plate, body], joints=joints, constraints=[wheel]))
    for q, v in states():
        q, v, drift = q[:7], v[:6], np.array([0.4, -0.9, 0.0])
        q_all, v_all = np.array([0.3, 0.2, 0.0, *q]), np.array([*drift, *np.add(v, [*drift, 0, 0, 0])])
        one, other = ground.constraint_rows(q, v), moving.constraint_rows(q_all, v_all)
        assert_close(other.A[:, 3:], one.A, 10)
        assert_close(other.b, one.b, 1000)
        assert_close(moving.constraint_residuals(q_all, v_all).rates, ground.constraint_residuals(q, v).rates, 10)


def chain(*constraints):
    bodies = [ph.Body(name, 1.0 + k, (0.2, 0.3, 0.4), (0.1, 0.2, -0.5)) for k, name in enumerate("ab")]
    joints = [
        ph.Joint("i", "revolute", "world", "a", axis=(0, 1, 0)),
        ph.Joint("j", "prismatic", "a", "b", axis=(1, 0, 1), position=(0, 0, -1)),
    ]
    return ph.Model("m", bodies=bodies, joints=joints, constraints=constraints)


@pytest.mark.parametrize("kind", ["mimic", "gear"])
def test_a_joint_that_follows_another_moves_with_it(kind):
    follow = ph.Constraint("c", kind, {"joint": "j", "source": "i", "multiplier": -0.4, "offset": 0.2})
    bound, free = ph.compile(chain(follow)), ph.compile(chain())
    q, v, tau = np.array([0.7, 0.2 - 0.28]), np.array([1.5, -0.6]), np.array([0.3, 0.9])
    T = np.array([1.0, -0.4])
    rate = T @ (tau - free.bias(q, v)) / (T @ free.mass_matrix(q) @ T)
    assert_close(bound.forward_dynamics(q, v, tau), rate * T)
    missed = bound.constraint_residuals(q, v)
    assert_close([*missed.positions, *missed.rates], np.zeros(2))


def test_a_prescribed_joint_follows_its_function_of_time():
    given = ph.Constraint("c", "prescribed", {"joint": "i", "value": lambda t: ph.sin(3 * t)})
    bound, free = ph.compile(chain(given)), ph.compile(chain())
    t, q, v, tau = 0.4, np.array([np.sin(1.2), 0.3]), np.array([3 * np.cos(1.2), 0.5]), np.array([0.2, -0.7])
    found = bound.forward_dynamics(q, v, tau, t=t)
    first = -9 * np.sin(1.2)
    M = free.mass_matrix(q)
    assert_close(found, [first, ((tau - free.bias(q, v))[1] - M[1, 0] * first) / M[1, 1]], 10)
    missed = bound.constraint_residuals(q, v, t=t)
    assert_close([*missed.positions, *missed.rates], np.zeros(2))
    held = bound.constraint_forces(q, v, tau, t=t).generalized
    assert_close(held, M @ found + free.bias(q, v) - tau, 10)


def test_a_run_follows_a_prescribed_motion():
    given = ph.Constraint("c", "prescribed", {"joint": "i", "value": lambda t: ph.sin(3 * t)})
    run = ph.simulate(chain(given), [0.0, 0.1], [3.0, 0.0], duration=2, tolerance=1e-10, samples=21)
    t = run["time"].values
    assert np.max(abs(run["q"].values[:, 0] - np.sin(3 * t))) < 1e-13
    assert np.max(abs(run["v"].values[:, 0] - 3 * np.cos(3 * t))) < 1e-13


def test_a_constant_value_holds_a_joint():
    held = ph.Constraint("c", "prescribed", {"joint": "j", "value": 0.3})
    run = ph.simulate(chain(held), [0.5, 0.3], [1.0, 0.0], duration=1, tolerance=1e-10, samples=3)
    assert np.max(abs(run["q"].values[:, 1] - 0.3)) < 1e-15


def test_a_function_of_positions_is_the_constraint_it_describes():
    length = DATA["distance"]["length"]

    def rod(t, q):
        d = [q[7 + k] - q[k] for k in range(3)]
        return [(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - length * length) / (2 * length)]

    by_hand = ph.compile(flying(ph.Constraint("c", "function", {"function": rod, "rows": 1})))
    ours = ph.compile(flying(ph.Constraint("c", "distance", {"body_a": "a", "body_b": "b", "length": length})))
    for q, v in states():
        tau = np.linspace(-1, 1, 12)
        assert_close(by_hand.forward_dynamics(q, v, tau), ours.forward_dynamics(q, v, tau), 100)


def test_a_function_of_velocities_holds_them():
    data = {"function": slipping, "rows": 1, "holonomic": False}
    system, t = ph.compile(flying(ph.Constraint("c", "function", data))), 0.6
    for q, v in states():
        moved = system.project(q, v, t=t).v
        assert_close(slipping(t, q, moved), [0.0])
        vd = system.forward_dynamics(q, moved, np.ones(12), t=t)
        h = 1e-6
        ahead = slipping(t + h, system.integrate(q, h * moved), moved + h * vd)[0]
        assert abs(ahead) < 1e-10  # it stays, to second order
