"""Machines that the tests of integrators share."""

import numpy as np

import polhode as ph
from polhode.model import make_tree
from polhode.scalar import Vec, cos, sin
from polhode.simulation.machine import machine


def unit(*p):
    return (np.array(p) / np.linalg.norm(p)).tolist()


def arm(damping=0.0, gravity=(0, 0, -9.81), base="spherical"):
    """Spherical (or free), revolute, prismatic: one joint of each kind, with a spring."""
    return ph.Model(
        "arm",
        gravity=gravity,
        bodies=[
            ph.Body("a", 1.0, (0.1, 0.2, 0.25), (0.1, 0.0, -0.4)),
            ph.Body("b", 0.7, (0.05, 0.06, 0.03), (0.0, 0.1, -0.2)),
            ph.Body("c", 0.4, (0.02, 0.02, 0.03), (0.05, 0.0, 0.1)),
        ],
        joints=[
            ph.Joint("shoulder", base, "world", "a"),
            ph.Joint("elbow", "revolute", "a", "b", axis=(1, 1, 0), position=(0, 0, -0.6), damping=damping),
            ph.Joint("slide", "prismatic", "b", "c", axis=(0, 0, 1), position=(0, 0, -0.3), stiffness=5.0),
        ],
    )


ARM_START = [*unit(0.9, 0.2, -0.3, 0.1), 0.4, 0.05], [0.5, -1.0, 0.8, 1.2, -0.3]

TUMBLER = ph.Model(
    "tumbler",
    gravity=(0, 0, 0),
    bodies=[ph.Body("body", 2.0, (1.0, 2.0, 2.5))],
    joints=[ph.Joint("flight", "free", "world", "body")],
)
TUMBLER_START = [0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5], [0.3, 0.1, -0.2, 1.0, 2.0, -1.4]

TOP = ph.Model(
    "top",
    gravity=(0, 0, -9.81),
    bodies=[ph.Body("top", 1.0, (0.3, 0.2, 0.25), (0.05, 0.0, 0.3))],
    joints=[ph.Joint("tip", "spherical", "world", "top")],
)
TOP_START = [0.8, 0.6, 0.0, 0.0], [0.5, -1.0, 8.0]


def pushed(t, q, v):
    """Forces on the arm that change with time."""
    return Vec([0.0, 1.5 * sin(9 * t), 0.0, 2 * cos(7 * t), 0.0])


def machine_of(model, tau=None):
    return machine(make_tree(model), tau)
