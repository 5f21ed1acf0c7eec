"""Runs made here by a plain RK4, in the form that `simulate` gives them."""

from functools import cache

import numpy as np

import polhode as ph
from polhode.model import JOINTS
from polhode.result.checks import Steps, grade
from polhode.result.dataset import Facts, Trajectory, dataset
from polhode.result.error_estimate import ErrorEstimate
from polhode.result.symmetry import conserved


def motion(model, system, duration, steps):
    """Instants, q and v of a run by RK4, unit quaternions at every sample."""
    nq, tau, h = model.nq, np.zeros(model.nv), duration / steps
    zero = np.concatenate([np.zeros(0), *(JOINTS[j.type].zero for j in model.joints)])
    q = zero if model.start is None or model.start.q is None else model.start.q
    v = np.zeros(model.nv) if model.start is None or model.start.v is None else model.start.v

    def rhs(x):
        q, v = x[:nq].copy(), x[nq:].copy()
        return np.concatenate([system.rate(q, v), system.forward_dynamics(q, v, tau)])

    states = [np.concatenate([q, v]).astype(float)]
    for _ in range(steps):
        x = states[-1]
        k1 = rhs(x)
        k2 = rhs(x + h / 2 * k1)
        k3 = rhs(x + h / 2 * k2)
        k4 = rhs(x + h * k3)
        states.append(unit(model, x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)))
    states = np.array(states)
    return np.linspace(0, duration, steps + 1), states[:, :nq], states[:, nq:]


def unit(model, x):
    place = 0
    for joint in model.joints:
        if JOINTS[joint.type].has_quaternion:
            x[place + joint.nq - 4 : place + joint.nq] /= np.linalg.norm(x[place + joint.nq - 4 : place + joint.nq])
        place += joint.nq
    return x


def run(model, duration=2.0, steps=400, **facts):
    """A whole Dataset, graded."""
    system = ph.compile(model, target="cpu")
    t, q, v = motion(model, system, duration, steps)
    poses = [system.pose(q, body.name) for body in model.bodies]
    rates = [system.velocity(q, v, body.name) for body in model.bodies]
    kinetic, potential = system.energy(q, v)
    linear, angular = system.momentum(q, v)
    others = {
        "position": np.stack([p[0] for p in poses], axis=1),
        "quaternion": np.stack([p[1] for p in poses], axis=1),
        "velocity": np.stack([r[0] for r in rates], axis=1),
        "omega_world": np.stack([r[1] for r in rates], axis=1),
        "kinetic_energy": kinetic,
        "potential_energy": potential,
        "linear_momentum": linear,
        "angular_momentum": angular,
        "step_size": np.full(len(t), duration / steps),
    }
    trajectory = Trajectory(t, q, v, others)
    error = ErrorEstimate(t, np.full(len(t), 1e-9), True, "made up")
    judged = grade(dataset(model, trajectory), conserved=conserved(model), steps=Steps(steps), model=model, error=error)
    known = {"method": "rk4", "step": duration / steps, "norm_policy": "projection", "model_text": str(model)}
    known |= {"grade": judged, "created": "2025-06-01T12:00:00+00:00"}
    return dataset(model, trajectory, Facts(**(known | facts)))


@cache
def bundled(name, duration, steps):
    """A bundled model and its run, made once."""
    model = ph.load(name)
    return model, run(model, duration, steps)
