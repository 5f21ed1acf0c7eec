"""The machines of the speed page: bundled ones, robots, a humanoid, planar pendulums; and random states of them."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from polhode.bench.robots import ROBOTS, robot
from polhode.formats.load import load
from polhode.model import WORLD, Body, Joint, Model

CHAINS = ("chain-2", "chain-7", "chain-20", "chain-50", "chain-100", "chain-200", "chain-500")
MACHINES = ("arm-7", "quadruped", "humanoid", *ROBOTS, *CHAINS)
"""The machines that are timed unless others are named."""

LEG = (("yaw", "z", 0.05), ("roll", "x", 0.05), ("pitch", "y", 0.4), ("knee", "y", 0.4), ("ankle", "y", 0.05))
ARM = (("pitch", "y", 0.05), ("roll", "x", 0.1), ("yaw", "z", 0.2), ("elbow", "y", 0.1), ("turn", "z", 0.2))
WRIST = (("tilt", "x", 0.05), ("nod", "y", 0.1), ("grip", "x", 0.05))
LIMBS = {
    "waist": (WORLD, (0.0, 0.0, 0.1), (("turn", "z", -0.1), ("nod", "y", -0.3))),
    "left-leg": (WORLD, (0.0, 0.1, -0.1), (*LEG, ("sole", "x", 0.05))),
    "right-leg": (WORLD, (0.0, -0.1, -0.1), (*LEG, ("sole", "x", 0.05))),
    "left-arm": ("waist-nod", (0.0, 0.2, 0.25), (*ARM, *WRIST)),
    "right-arm": ("waist-nod", (0.0, -0.2, 0.25), (*ARM, *WRIST)),
    "head": ("waist-nod", (0.0, 0.0, 0.3), (("turn", "z", -0.05), ("nod", "y", -0.1))),
}
"""Each limb: the body it hangs on (the world stands for the trunk), where, and its joints: name, axis, length down."""


def machine(name: str) -> Model:
    """The machine of this name, without damping: what others call dynamics has none."""
    if name == "humanoid":
        return humanoid()
    if name in ROBOTS:
        model = robot(name)
    else:
        model = load(name.replace("pendulum-", "chain-")) if name.startswith("pendulum-") else load(name)
    joints = tuple(replace(joint, damping=0.0, stiffness=0.0) for joint in model.joints)
    if name.startswith("pendulum-"):  # the chain in a plane
        joints = tuple(replace(joint, axis=(0.0, 1.0, 0.0)) for joint in joints)
    return replace(model, name=name, joints=joints, start=None)


def humanoid() -> Model:
    """A machine of a humanoid's size: a free trunk and 32 hinges in six limbs, 38 velocities."""
    bodies = [Body("trunk", 15.0, (0.2, 0.15, 0.1), center=(0.01, 0.0, 0.02))]
    joints = [Joint("flight", "free", WORLD, "trunk")]
    axes = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
    for limb, (root, position, parts) in LIMBS.items():
        parent = "trunk" if root == WORLD else root
        for part, axis, length in parts:
            body = f"{limb}-{part}"
            bodies.append(_rod(body, length))
            joints.append(Joint(body, "revolute", parent, body, axis=axes[axis], position=position))
            parent, position = body, (0.0, 0.0, -length)
    return Model("humanoid", bodies=tuple(bodies), joints=tuple(joints))


def _rod(name: str, length: float) -> Body:
    """A thick rod hanging down (up, where its length is negative), a little off its axis."""
    mass, radius = 8.0 * abs(length), 0.04
    across, along = mass * (3 * radius**2 + length**2) / 12, mass * radius**2 / 2
    return Body(name, mass, (across, across, along), center=(0.005, 0.002, -length / 2))


def random_states(model: Model, count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of q with unit quaternions, of v, and of accelerations or forces."""
    rng = np.random.default_rng(seed)
    q = np.concatenate(list(_coordinates(model, rng, count)), axis=1)
    return q, rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))


def _coordinates(model: Model, rng: np.random.Generator, count: int) -> Iterator[np.ndarray]:
    for joint in model.joints:
        part = rng.uniform(-np.pi, np.pi, size=(count, joint.nq))
        if joint.kind.has_quaternion:
            p = rng.normal(size=(count, 4))
            part[:, -4:] = p / np.linalg.norm(p, axis=1, keepdims=True)
        yield part
