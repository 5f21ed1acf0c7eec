"""How fast the damping of joints brings their velocities to rest: what decides the usual method of a run."""

import math
from typing import NamedTuple

import numpy as np

from polhode.check.joint_limits import inertia_seen
from polhode.model import Model, plain
from polhode.model.per_model_cache import once_each


class DampedJoint(NamedTuple):
    """The name of a joint, and how fast its damping takes its velocity away, 1/s."""

    name: str
    rate: float


@once_each
def fastest_damped(model: Model) -> DampedJoint:
    """The joint whose velocity its damping takes away fastest, at the model's start; of rate 0 where none is damped.

    Damping over the inertia that an axis of the joint has, all others being free: along it v̇ = −rate · v.
    """
    dampings = [np.broadcast_to(np.array(plain(joint.damping), dtype=float), (joint.nv,)) for joint in model.joints]
    if not any(damping.any() for damping in dampings):
        return DampedJoint("", 0.0)
    inertia, k, found = inertia_seen(model), 0, DampedJoint("", 0.0)
    for joint, damping in zip(model.joints, dampings, strict=True):
        for d in damping.tolist():
            rate = d / inertia[k] if d > 0 and inertia[k] > 0 else 0.0
            if math.isfinite(rate) and rate > found.rate:
                found = DampedJoint(joint.name, float(rate))
            k += 1
    return found
