"""Random machines and states for the tests of trees."""

import numpy as np
from hypothesis import strategies as st

import polhode as ph
from polhode.model import JOINTS

ONE_AXIS = ["revolute", "prismatic", "screw"]
ALL = [name for name, kind in JOINTS.items() if kind.elements and name != "rpy-free"]
"""Kinds of joints for random machines. A joint of modes is one of many sizes; near gimbal lock nothing is accurate."""


def unit(x):
    return x / np.linalg.norm(x)


def random_inertia(rng):
    P = np.diag(rng.uniform(0.1, 1.0, 3))
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    J = R @ (np.trace(P) * np.eye(3) - P) @ R.T
    return ((J + J.T) / 2).tolist()


def random_model(types, seed, chain=False, armature=True, shuffle=True, **extra):
    """A tree with joints of these types; joints are listed in random order unless it is a chain."""
    rng = np.random.default_rng(seed)
    bodies = [
        ph.Body(f"b{k}", rng.uniform(0.5, 2.0), random_inertia(rng), rng.normal(size=3) / 2) for k in range(len(types))
    ]
    joints = []
    for k, kind in enumerate(types):
        options = {}
        if "pitch" in JOINTS[kind].keys:
            options["pitch"] = rng.uniform(-0.5, 0.5)
        if "axis2" in JOINTS[kind].axes:
            options["axis2"] = rng.normal(size=3)
        if own := [name for name in JOINTS[kind].keys if name != "pitch"]:
            options["data"] = {name: rng.uniform(0.3, 0.8) for name in own}
        if armature:
            options["armature"] = rng.uniform(0, 0.3)
        parent = "world" if k == 0 else f"b{k - 1 if chain else rng.integers(-1, k)}"
        joints.append(
            ph.Joint(
                f"j{k}",
                kind,
                "world" if parent == "b-1" else parent,
                f"b{k}",
                axis=rng.normal(size=3),
                position=rng.normal(size=3) / 2,
                orientation=unit(rng.normal(size=4)),
                **options,
            )
        )
    if shuffle and not chain:
        joints = [joints[k] for k in rng.permutation(len(joints))]
    return ph.Model(f"random-{seed}", bodies=bodies, joints=joints, **extra)


def random_q(model, rng, shape=()):
    """Coordinates with unit quaternions."""
    parts = []
    for joint in model.joints:
        part = rng.normal(size=(*shape, joint.nq))
        if JOINTS[joint.type].has_quaternion:
            part[..., -4:] /= np.linalg.norm(part[..., -4:], axis=-1, keepdims=True)
        parts.append(part)
    return np.concatenate([np.zeros((*shape, 0)), *parts], axis=-1)


@st.composite
def machines(draw, kinds=tuple(ALL), most=5):
    """A model, its System and a random state (q, v, v̇)."""
    types = draw(st.lists(st.sampled_from(list(kinds)), min_size=1, max_size=most))
    seed = draw(st.integers(0, 2**31))
    model = random_model(types, seed)
    rng = np.random.default_rng(seed + 1)
    q = random_q(model, rng)
    return model, ph.compile(model, target="python"), q, rng.normal(size=model.nv), rng.normal(size=model.nv)
