"""Machines that the tests of simulations share, and how their motions are compared."""

import numpy as np

import polhode as ph
from polhode.bench.published import FOLDER as DATA

SLIDER = ph.Model(
    "slider",
    bodies=[ph.Body("mass", 2.0, (0.1, 0.1, 0.1))],
    joints=[ph.Joint("rail", "prismatic", "world", "mass", axis=(0, 0, 1))],
)
"""Two kilograms on a vertical rail: q̈ = τ/2 − 9.81."""

CART = ph.Model("cart", gravity=(0, 0, 0), bodies=SLIDER.bodies, joints=SLIDER.joints)
"""The same without gravity: q̈ = τ/2."""

PENDULUM = ph.Model(
    "pendulum",
    bodies=[ph.Body("bob", 1.0, (0, 0, 0), (0, 0, -1))],
    joints=[ph.Joint("hinge", "revolute", "world", "bob", axis=(0, -1, 0))],
)
"""A point mass of 1 kg, 1 m below its hinge; a positive angle takes it to +x."""

FREQUENCY = np.sqrt(9.81)
"""Of the pendulum's small swings, rad/s."""

DOUBLE = ph.Model(
    "double-pendulum",
    bodies=[ph.Body("upper", 1.0, (0, 0, 0), (0, 0, -1)), ph.Body("lower", 1.0, (0, 0, 0), (0, 0, -1))],
    joints=[
        ph.Joint("hinge", "revolute", "world", "upper", axis=(0, -1, 0)),
        ph.Joint("elbow", "revolute", "upper", "lower", axis=(0, -1, 0), position=(0, 0, -1)),
    ],
)


def table(name):
    """The rows of a file of reference numbers."""
    lines = [line for line in (DATA / f"{name}.csv").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    return np.atleast_1d(np.genfromtxt(lines, delimiter=",", names=True))


def columns(rows, *names):
    return np.stack([rows[name] for name in names], axis=-1)


def attitude_gap(p, expected):
    """The largest component of p ∓ expected, whichever sign is nearer, over all times."""
    return max(
        min(np.max(abs(a - b)), np.max(abs(a + b)))
        for a, b in zip(np.atleast_2d(p), np.atleast_2d(expected), strict=True)
    )


def final(run):
    """q and v at the end."""
    return np.concatenate([run["q"].values[-1], run["v"].values[-1]])


def states(run):
    """q and v at all samples."""
    return np.concatenate([run["q"].values, run["v"].values], axis=1)


def spinning(inertia, mass=1.0):
    """A free body without gravity."""
    return ph.Model(
        "free",
        gravity=(0, 0, 0),
        bodies=[ph.Body("body", mass, inertia)],
        joints=[ph.Joint("flight", "free", "world", "body")],
    )


def top(mass, inertia, center):
    """A body on a ball joint at its origin."""
    return ph.Model(
        "top",
        bodies=[ph.Body("top", mass, inertia, center)],
        joints=[ph.Joint("tip", "spherical", "world", "top")],
    )
