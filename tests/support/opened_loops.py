"""A joint of a tree, and the same machine with that joint cut: the child flies freely, and a constraint holds it."""

from typing import NamedTuple

import numpy as np

import polhode as ph
from machines import random_inertia, random_q, unit
from plain import ham, matrix

KINDS = {
    "fixed": "weld",
    "revolute": "revolute",
    "prismatic": "prismatic",
    "cylindrical": "cylindrical",
    "universal": "universal",
    "spherical": "spherical",
    "planar": "planar",
    "screw": "screw",
}
"""The joints of a tree, and the constraints that do the same."""


def turn_to(source, target):
    """The quaternion of the shortest turn from one direction to another."""
    a, b = unit(np.array(source, dtype=float)), unit(np.array(target, dtype=float))
    return unit(np.array([1 + a @ b, *np.cross(a, b)]))


class Pair(NamedTuple):
    """The machine as a tree, and with one joint cut."""

    tree: ph.Model
    cut: ph.Model


def pair(kind, seed):
    """A body on a random joint, and another on a joint of this kind; masses, places and axes are random."""
    rng = np.random.default_rng(seed)
    bodies = [ph.Body(name, rng.uniform(0.5, 2), random_inertia(rng), rng.normal(size=3) / 2) for name in "ab"]
    first = ph.Joint("first", "universal", "world", "a", axis=(1, 0, 0), position=rng.normal(size=3))
    position, orientation, axis = rng.normal(size=3) / 2, unit(rng.normal(size=4)), unit(rng.normal(size=3))
    options, data = {}, {}
    z_to_axis = turn_to((0, 0, 1), axis)
    frame_a, frame_b = ham(orientation, z_to_axis), z_to_axis
    if kind == "screw":
        options["pitch"] = data["pitch"] = 0.3
    if kind == "universal":
        options["axis2"] = unit(np.cross(axis, rng.normal(size=3)))
        frame_b = turn_to((1, 0, 0), options["axis2"])
    if kind in ("fixed", "planar", "spherical"):
        frame_a, frame_b = orientation, np.array([1.0, 0, 0, 0])
    joint = ph.Joint("second", kind, "a", "b", axis=axis, position=position, orientation=orientation, **options)
    ends = {"body_a": "a", "body_b": "b", "position_a": position, "orientation_a": frame_a, "orientation_b": frame_b}
    held = ph.Constraint(
        "loop", KINDS[kind], {**{key: tuple(x) if key[:4] != "body" else x for key, x in ends.items()}, **data}
    )
    flight = ph.Joint("second", "free", "world", "b")
    tree = ph.Model("tree", bodies=bodies, joints=[first, joint])
    return Pair(tree, ph.Model("cut", bodies=bodies, joints=[first, flight], constraints=[held]))


def opened(tree, q, v):
    """The state of the cut machine."""
    at, moving = tree.pose(q, "b"), tree.velocity(q, v, "b")
    return np.array([*q[:2], *at.position, *at.quaternion]), np.array(
        [*v[:2], *moving.linear, *(matrix(at.quaternion).T @ moving.angular)]
    )


def widened(tree, q):
    """T of v_cut = T v_tree."""
    J, R = tree.jacobian(q, "b"), matrix(tree.pose(q, "b").quaternion)
    return np.vstack([np.eye(2, tree.nv), J[:3], R.T @ J[3:]])


def state(model, seed):
    rng = np.random.default_rng(seed)
    return random_q(model, rng), rng.normal(size=model.nv)
