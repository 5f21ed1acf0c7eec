"""Random machines with forces, limits and loops for the tests of edits, and motions of bodies to compare them by."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

import polhode as ph
from machines import random_model, random_q, unit

MIXED = ("free", "universal", "spherical", "screw", "cylindrical", "fixed", "planar")
"""Kinds of joints of the machines, each once."""


def furnished(model, seed, loop=True):
    """A model with a force element of every kind that is between bodies, with damping and friction, and with a loop."""
    rng = np.random.default_rng(seed)
    names = [body.name for body in model.bodies]
    a, b, c = (names[k] for k in rng.permutation(len(names))[:3])
    frame = {"orientation_a": unit(rng.normal(size=4)), "orientation_b": unit(rng.normal(size=4))}
    points = {"point_a": rng.normal(size=3), "point_b": rng.normal(size=3)}
    K = rng.normal(size=(6, 6))
    forces = [
        ph.Spring("spring", a, b, **points, stiffness=20.0, rest=0.3, damping=0.4, polynomial=(3.0, 2.0)),
        ph.Spring("rope", "world", c, **points, stiffness=7.0, rest=0.1),
        ph.Bushing("bushing", c, a, **points, **frame, stiffness=(K @ K.T).tolist(), damping=(1.0,) * 6, at="first"),
        ph.TorsionSpring("twist", b, "world", axis=rng.normal(size=3), **frame, stiffness=2.0, damping=0.3, rest=0.2),
        ph.Force("push", a, force=rng.normal(size=3), torque=rng.normal(size=3), point=rng.normal(size=3)),
        ph.Force("carried", b, force=rng.normal(size=3), torque=rng.normal(size=3), axes="body"),
    ]
    joints = []
    for joint in model.joints:
        if joint.nv == 0 or joint.kind.has_quaternion:
            joints.append(joint)
            continue
        each = {name: tuple(rng.uniform(0.1, 1.0, joint.nv)) for name in ("damping", "stiffness", "rest")}
        joints.append(replace(joint, **each, lower=-9.0, upper=(8.0,) * joint.nv))
        axis = joint.nv - 1
        forces.append(ph.JointFriction(f"{joint.name}.friction", joint.name, coulomb=0.3, drive_speed=0.2, axis=axis))
        forces.append(
            ph.JointStop(f"{joint.name}.stop", joint.name, upper=0.1, stiffness=30.0, axis=axis, exponent=1.5)
        )
    ends = {"body_a": a, "body_b": c, "position_a": rng.normal(size=3), "position_b": rng.normal(size=3)}
    held = [
        ph.Constraint("loop", "universal", **ends, axis_a=rng.normal(size=3), orientation_b=unit(rng.normal(size=4))),
        ph.Constraint("rod", "distance", body_b=b, position_b=rng.normal(size=3), length=1.3),
    ]
    return replace(model, joints=joints, forces=forces, constraints=held if loop else ())


def started(model, seed):
    """A model with a random start, and another random configuration by name."""
    rng = np.random.default_rng(seed)
    q, v = random_q(model, rng), rng.normal(size=model.joint_velocities)
    return replace(model, start=ph.Start(q=q, v=v, duration=1.0), configurations={"home": random_q(model, rng)})


def random_machine(seed, types=MIXED, loop=True, chain=False):
    """A furnished random tree with a start; joints in random order."""
    rng = np.random.default_rng(seed)
    kinds = list(types) if chain else [types[0], *(types[1 + k] for k in rng.permutation(len(types) - 1))]
    return started(furnished(random_model(kinds, seed, chain=chain), seed + 1, loop), seed + 2)


class BodyMotion(NamedTuple):
    """How the mass centre of a body moves: position, velocity, acceleration, ω, ω̇ in world axes."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    omega: np.ndarray
    alpha: np.ndarray


def start_of(model):
    """q, v of a model's start."""
    return np.array(model.start.q), np.array(model.start.v)


def motions(model, tau=None):
    """The motion of every body at the start of a model, its accelerations those of forward dynamics; and energies."""
    system = ph.compile(model, target="python")
    q, v = start_of(model)
    vd = system.forward_dynamics(q, v, np.zeros(model.nv) if tau is None else tau)
    found = {}
    for body in model.bodies:
        pose, rate = system.pose(q, body.name), system.velocity(q, v, body.name)
        change = system.acceleration(q, v, vd, body.name)
        r = ph.quaternion.rotate(pose.quaternion, np.array(body.center))
        w, alpha = np.array(rate.angular), np.array(change.angular)
        found[body.name] = BodyMotion(
            np.array(pose.position) + r,
            np.array(rate.linear) + np.cross(w, r),
            np.array(change.linear) + np.cross(alpha, r) + np.cross(w, np.cross(w, r)),
            w,
            alpha,
        )
    return found, np.array(system.energy(q, v))
