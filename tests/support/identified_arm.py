"""A small arm whose parameters are found: the true model, one to begin from, motions and torques with noise."""

from dataclasses import replace

import numpy as np

import polhode as ph

ARM = ph.Model(
    "arm",
    bodies=[
        ph.Body("upper", 3.0, (0.05, 0.06, 0.02), center=(0.02, -0.01, 0.2)),
        ph.Body("lower", 2.0, (0.03, 0.04, 0.01), center=(0.01, 0.03, 0.15)),
        ph.Body("hand", 0.8, (0.004, 0.003, 0.002), center=(0.0, 0.02, 0.05)),
    ],
    joints=[
        ph.Joint("shoulder", "revolute", "world", "upper", axis=(0, 0, 1), lower=-2, upper=2),
        ph.Joint("elbow", "revolute", "upper", "lower", axis=(0, 1, 0), position=(0, 0, 0.4), lower=-2, upper=2),
        ph.Joint("slide", "prismatic", "lower", "hand", axis=(1, 0, 0), position=(0, 0, 0.3), lower=-0.2, upper=0.2),
    ],
)

GUESS = replace(
    ARM,
    bodies=[
        ph.Body("upper", 2.0, (0.04, 0.04, 0.02), center=(0.0, 0.0, 0.15)),
        ph.Body("lower", 3.0, (0.05, 0.05, 0.02), center=(0.0, 0.0, 0.1)),
        ph.Body("hand", 1.0, (0.002, 0.002, 0.002), center=(0.0, 0.0, 0.03)),
    ],
)


def measured(motion, t, noise=0.01, seed=0, model=ARM):
    """Motion and torques at some times, and the noise of each torque."""
    q, v, vd = motion(t)
    tau = ph.compile(model, target="python").inverse_dynamics(q, v, vd)
    size = noise * np.sqrt(np.mean(tau**2, axis=0))
    tau = tau + size * np.random.default_rng(seed).standard_normal(tau.shape)
    return {"time": t, "q": q, "v": v, "vd": vd, "tau": tau}, size
