"""Runs that were once called good and were wrong by 10 to 10⁶ times the claim; each gives the Dataset of such a run.

    run, true = DECEPTIONS["double pendulum over 60 s"]()

true  the error at each sample, by another run at a tight tolerance; None where no reference is to be had
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import polhode as ph
from polhode.result.error_estimate import Difference

Made = tuple[Any, np.ndarray | None]
"""A run, and its true error at each sample."""


def followed(
    model: ph.Model, q: Any = None, v: Any = None, duration: float = 1.0, tau: Any = None, **options: Any
) -> Made:
    """A run, and its true error by a reference."""
    twin = options.pop("twin", tau)
    run = ph.simulate(model, q, v, duration, tau, **options)
    exact = ph.simulate(model, q, v, duration, twin, tolerance=1e-13, samples=tuple(run["time"].values), verify=False)
    return run, Difference(model)(*({name: one[name].values for name in ("q", "v")} for one in (run, exact)))


def four_bar(damping: float = 0.0, parallel: bool = False) -> tuple[ph.Model, list[float], list[float]]:
    """The bundled four-bar, damped; or a parallelogram of 0.4 m and 1 m, whose bars can all lie on one line."""
    bundled = ph.load("four-bar")
    if not parallel:
        joints = [
            ph.Joint(j.name, j.type, j.parent, j.child, axis=j.axis, position=j.position, damping=damping)
            for j in bundled.joints
        ]
        model = ph.Model("damped", bodies=bundled.bodies, joints=joints, constraints=bundled.constraints)
        return model, list(bundled.start.q), list(bundled.start.v)
    sizes = {"crank": 0.4, "coupler": 1.0, "rocker": 0.4}
    bodies = [ph.Body(name, x, (1e-3, x**3 / 12, x**3 / 12), (x / 2, 0, 0)) for name, x in sizes.items()]
    joints = [
        ph.Joint("motor", "revolute", "world", "crank", axis=(0, -1, 0)),
        ph.Joint("knee", "revolute", "crank", "coupler", axis=(0, -1, 0), position=(0.4, 0, 0)),
        ph.Joint("pivot", "revolute", "world", "rocker", axis=(0, -1, 0), position=(1, 0, 0)),
    ]
    ends = {"body_a": "coupler", "body_b": "rocker", "position_a": (1, 0, 0), "position_b": (0.4, 0, 0)}
    closing = ph.Constraint("closing", "revolute", axis_a=(0, -1, 0), axis_b=(0, -1, 0), **ends)
    model = ph.Model("parallelogram", bodies=bodies, joints=joints, constraints=[closing])
    return model, [1.0, -1.0, 1.0], [-4.0, 4.0, -4.0]


def bead() -> ph.Model:
    """A bead in a vertical plane on a wire of two straight pieces, z = |x|."""
    body = ph.Body("bead", 1.0, (0.1, 0.1, 0.1))
    rails = [
        ph.Joint("x", "prismatic", "world", "slide", axis=(1, 0, 0)),
        ph.Joint("z", "prismatic", "slide", "bead", axis=(0, 0, 1)),
    ]
    wire = ph.Constraint(lambda t, q: q[1] - abs(q[0]), name="wire")
    return ph.Model("bead", bodies=[ph.Body("slide", 1e-3, (1e-6, 1e-6, 1e-6)), body], joints=rails, constraints=[wire])


def cart() -> ph.Model:
    """Two kilograms on a rail, without gravity."""
    body = ph.Body("mass", 2.0, (0.1, 0.1, 0.1))
    return ph.Model("cart", gravity=(0, 0, 0), bodies=[body], joints=[ph.Joint("rail", "prismatic", "world", "mass")])


def pulse(**options: Any) -> Made:
    """A cart at rest, pushed for 2 s of 200 s."""
    twin = ph.Table([0, 77.7, 79.7], [[0.0], [1.0], [0.0]], hold=True)
    return followed(
        cart(),
        None,
        None,
        200.0,
        lambda t, q, v: [ph.where(t < 77.7, 0.0, ph.where(t < 79.7, 1.0, 0.0))],
        twin=twin,
        **options,
    )


def through_singular(policy: str) -> Made:
    """A parallelogram through the position in which its bars lie on one line: there it may go on as another machine."""
    model, q, v = four_bar(parallel=True)
    return ph.simulate(model, q, v, 2.0, constraints=policy, tolerance=1e-6), None


def damped_loop() -> Made:
    model, q, v = four_bar(damping=0.3)
    return followed(model, q, v, 2.0, method="euler", step=0.05)


def held_forces() -> Made:
    times = np.arange(0, 2, 0.02)
    table = ph.Table(times, np.random.default_rng(0).normal(size=(len(times), 2)))
    return followed(
        ph.load("double-pendulum"), [1.0, 0.5], [3.0, -6.0], 2.0, table, method="bs32", tolerance=0.1, samples=11
    )


def damped_pendulum() -> Made:
    body, hinge = (
        ph.Body("bob", 1.0, (0.1, 0.1, 0.1), (0, 0, -1)),
        ph.Joint("h", "revolute", "world", "bob", axis=(0, 1, 0), damping=0.05),
    )
    return followed(
        ph.Model("damped", bodies=[body], joints=[hinge]), [2.5], [1.0], 20.0, tolerance=0.1, method="dopri54"
    )


DECEPTIONS: dict[str, Callable[[], Made]] = {
    "damped loop by Euler at 50 ms": damped_loop,
    "heavy top by energy-momentum at 0.1 s": lambda: followed(
        ph.load("heavy-top"), duration=2.0, method="energy-momentum", step=0.1
    ),
    "free body by energy-momentum at 0.1 s": lambda: followed(
        ph.load("free-body"), duration=5.0, method="energy-momentum", step=0.1
    ),
    "free body by variational at 0.1 s": lambda: followed(
        ph.load("free-body"), duration=5.0, method="variational", step=0.1
    ),
    "tolerance 0.1 without an invariant": damped_pendulum,
    "bead over a corner": lambda: (ph.simulate(bead(), [-1.0, 1.0], [0, 0], 2.0, step=0.01, method="rk4"), None),
    "bead over a corner, controlled steps": lambda: (
        ph.simulate(bead(), [-1.0, 1.0], [0, 0], 2.0, max_steps=5000, samples=41),
        None,
    ),
    "baumgarte through a singular position": lambda: through_singular("baumgarte"),
    "none through a singular position": lambda: through_singular("none"),
    "closed chain at its own duration": lambda: (ph.simulate(ph.load("closed-chain"), tolerance=1e-6), None),
    "double pendulum over 60 s": lambda: followed(ph.load("double-pendulum"), duration=60.0),
    "spherical pendulum over 100 s": lambda: followed(ph.load("spherical-pendulum"), duration=100.0, tolerance=1e-6),
    "t-handle over 100 s": lambda: followed(ph.load("t-handle"), duration=100.0, tolerance=1e-7, samples=201),
    "pulse of 2 s in 200 s": pulse,
    "pulse of 2 s in 200 s, verified": lambda: pulse(verify=True),
    "four-bar by variational at 1 ms": lambda: followed(
        ph.load("four-bar"), duration=1.0, method="variational", step=1e-3
    ),
    "four-bar by energy-momentum at 1 ms": lambda: followed(
        ph.load("four-bar"), duration=1.0, method="energy-momentum", step=1e-3
    ),
    "a step between two knots": held_forces,
}
"""Each deception by its name: all are to be seen, or no longer to be wrong."""
