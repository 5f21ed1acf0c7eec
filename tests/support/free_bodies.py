"""Two bodies that fly freely, and every kind of constraint between them."""

import numpy as np

import polhode as ph
from machines import random_inertia, unit
from plain import matrix

RNG = np.random.default_rng(11)
PLACES = {
    "position_a": tuple(RNG.normal(size=3)),
    "position_b": tuple(RNG.normal(size=3)),
    "orientation_a": tuple(unit(RNG.normal(size=4))),
    "orientation_b": tuple(unit(RNG.normal(size=4))),
}
ENDS = {"body_a": "a", "body_b": "b", **PLACES}


def parabola(p):
    """y = x² and z = sin x, in the frame of a."""
    return [p[1] - p[0] * p[0], p[2] - ph.sin(p[0])]


def coupled(t, q):
    """Some function of time and coordinates, two rows."""
    return [q[0] * q[8] - ph.cos(t), q[3] * q[11] + ph.sin(q[1]) + t * t]


def slipping(t, q, v):
    """Some condition of velocities, linear in them."""
    return [v[0] * q[1] - v[7] * ph.cos(q[8]) + t]


DATA = {
    **dict.fromkeys(("weld", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar"), ENDS),
    "screw": {**ENDS, "pitch": 0.4},
    "distance": {**ENDS, "length": 1.7},
    "point-on-line": ENDS,
    "point-on-plane": ENDS,
    "point-on-curve": {**ENDS, "function": parabola},
    "rolling-disk": {**ENDS, "radius": 0.7, "rim": 0.1},
    "rolling-sphere": {**ENDS, "radius": 0.7},
    "knife-edge": ENDS,
    "function": {"function": coupled, "rows": 2},
}
"""The data of one constraint of each kind."""


def bodies():
    rng = np.random.default_rng(12)
    return [ph.Body(name, rng.uniform(0.5, 2), random_inertia(rng)) for name in "ab"]


def flying(*constraints):
    joints = [ph.Joint(f"flight-{name}", "free", "world", name) for name in "ab"]
    return ph.Model("flying", bodies=bodies(), joints=joints, constraints=constraints)


def held(kind):
    return flying(ph.Constraint("c", kind, DATA[kind]))


def states(count=3):
    rng = np.random.default_rng(13)
    for _ in range(count):
        quaternions = [unit(rng.normal(size=4)) for _ in range(2)]
        yield np.concatenate([x for p in quaternions for x in (rng.normal(size=3), p)]), rng.normal(size=12)


class End:
    """The frame of a constraint on a body: its arm, axes and motion in the world."""

    def __init__(self, q, v, side):
        k = "ab".index(side)
        self.x, self.xdot = q[7 * k : 7 * k + 3], v[6 * k : 6 * k + 3]
        self.A = matrix(q[7 * k + 3 : 7 * k + 7])
        self.omega = self.A @ v[6 * k + 3 : 6 * k + 6]
        self.s = self.A @ PLACES[f"position_{side}"]
        self.axes = (self.A @ matrix(PLACES[f"orientation_{side}"])).T

    @property
    def point(self):
        return self.x + self.s

    @property
    def velocity(self):
        return self.xdot + np.cross(self.omega, self.s)

    def row(self, alpha, beta):
        """A twist row on (ẋ, ω in space axes) as one on the free joint's velocities."""
        return np.concatenate([alpha, self.A.T @ beta])
