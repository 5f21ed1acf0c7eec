"""Machines whose steady motions and small motions have closed forms."""

import math
from functools import cache

import numpy as np
from scipy.optimize import linear_sum_assignment

import polhode as ph
from polhode.bench.published import published

G = 9.81


def furthest(found, expected):
    """The largest distance between two sets of eigenvalues, paired as near as may be."""
    apart = abs(np.subtract.outer(np.asarray(found), np.asarray(expected)))
    assert apart.shape[0] == apart.shape[1]
    return float(np.max(apart[linear_sum_assignment(apart)]))


@cache
def bicycle_matrices():
    """M, C1, K0, K2 of the bicycle as they are published: M q̈ + v C1 q̇ + (g K0 + v² K2) q = 0."""
    found = {name: np.zeros((2, 2)) for name in ("M", "C1", "K0", "K2")}
    for row in published("bicycle_matrices"):
        found[row["matrix"]][int(row["i"]) - 1, int(row["j"]) - 1] = float(row["value"])
    return found


def disk(mass=2.0, radius=0.4, across=0.09, axial=0.17, gravity=G):
    """A disk that rolls on the plane z = 0, its axle along its own z."""
    return ph.Model(
        "disk",
        gravity=(0, 0, -gravity),
        bodies=[ph.Body("disk", mass, (across, across, axial))],
        joints=[ph.Joint("disk", "free", "world", "disk")],
        constraints=[ph.Constraint("ground", "rolling-disk", {"body_b": "disk", "radius": radius})],
    )


def rolling(radius, lean, turn, spin):
    """q, v of a disk, its axle `lean` above the horizontal, turning about the vertical; `spin`: ω along the axle."""
    a = lean - math.pi / 2
    R = np.array([[1, 0, 0], [0, math.cos(a), -math.sin(a)], [0, math.sin(a), math.cos(a)]])
    up = np.array([0, -math.sin(lean), math.cos(lean)])  # from the contact to the centre
    omega = spin * R[:, 2] + turn * math.cos(lean) * up
    q = np.array([0, 0, radius * math.cos(lean), math.cos(a / 2), math.sin(a / 2), 0, 0])
    return q, np.concatenate([radius * np.cross(omega, up), R.T @ omega])


def top(mass=1.5, length=0.3, across=0.2, axial=0.05):
    """Lagrange's top on its tip; moments about the tip."""
    own = across - mass * length**2
    body = ph.Body("top", mass, (own, own, axial), center=(0, 0, length))
    return ph.Model("top", bodies=[body], joints=[ph.Joint("tip", "spherical", "world", "top")])


def precessing(tilt, turn, spin):
    """q, v of a top tilted about x that turns about the vertical; `spin`: ω along its axis."""
    up = np.array([0, math.sin(tilt), math.cos(tilt)])  # the vertical in the axes of the top
    omega = turn * (up - math.cos(tilt) * np.array([0, 0, 1])) + np.array([0, 0, spin])
    return np.array([math.cos(tilt / 2), math.sin(tilt / 2), 0, 0]), omega


def governor(length=0.5, mass=0.8):
    """Two point masses on weightless arms, hinged on a shaft that turns; the shaft has inertia of its own."""
    arm = lambda name: ph.Body(name, mass, (0, 0, 0), center=(0, 0, -length))
    hinge = lambda name, axis: ph.Joint(f"{name}-hinge", "revolute", "shaft", name, axis=axis)
    return ph.Model(
        "governor",
        bodies=[ph.Body("shaft", 1.0, (0.01, 0.01, 0.02)), arm("left"), arm("right")],
        joints=[
            ph.Joint("shaft", "revolute", "world", "shaft"),
            hinge("left", (0, -1, 0)),
            hinge("right", (0, 1, 0)),
        ],
    )


CRANK, COUPLER, ROCKER, BASE = 0.3, 0.8, 0.6, 0.9
MASSES = (0.5, 1.2, 0.9)
STIFFNESS, REST = 40.0, 0.4
SPRING = 60.0


def four_bar():
    """Uniform bars in the xz plane, closed in space by a hinge (two of its five rows are redundant), with two springs.

    Angles about −y: a bar at angle 0 points along x, at π/2 up. The crank turns at the origin, the rocker at (BASE, 0).
    """

    def bar(name, mass, length):
        return ph.Body(name, mass, (0, mass * length**2 / 12, mass * length**2 / 12), center=(length / 2, 0, 0))

    lengths = {"crank": CRANK, "coupler": COUPLER, "rocker": ROCKER}
    hinge = lambda name, parent, x, **more: ph.Joint(
        name, "revolute", parent, name, axis=(0, -1, 0), position=(x, 0, 0), **more
    )
    turned = (math.sqrt(0.5), -math.sqrt(0.5), 0, 0)  # z of the closing hinge along y
    end = {"body_a": "coupler", "position_a": (COUPLER, 0, 0), "orientation_a": turned}
    end |= {"body_b": "rocker", "position_b": (ROCKER, 0, 0), "orientation_b": turned}
    return ph.Model(
        "four-bar",
        bodies=[bar(name, m, lengths[name]) for name, m in zip(lengths, MASSES, strict=True)],
        joints=[
            hinge("crank", "world", 0, stiffness=STIFFNESS, rest=REST),
            hinge("coupler", "crank", CRANK),
            hinge("rocker", "world", BASE),
        ],
        forces=[ph.Spring("spring", "crank", "rocker", point_a=(CRANK, 0, 0), stiffness=SPRING, rest=0.2)],
        constraints=[ph.Constraint("pin", "revolute", end)],
    )
