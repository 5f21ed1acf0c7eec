"""Runs that were once called good and were wrong by 10 to 10⁶ times the claim, and more of their kinds.

Each gives the Dataset of such a run.

    run, true = DECEPTIONS["double pendulum over 60 s"]()

true  the error at each sample, by another run at a tight tolerance; None where no reference is to be had
"""

import math
from collections.abc import Callable
from dataclasses import replace
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


def bead(shape: Callable[[Any], Any] = abs) -> ph.Model:
    """A bead in a vertical plane on a wire z = shape(x), of two straight pieces unless given."""
    body = ph.Body("bead", 1.0, (0.1, 0.1, 0.1))
    rails = [
        ph.Joint("x", "prismatic", "world", "slide", axis=(1, 0, 0)),
        ph.Joint("z", "prismatic", "slide", "bead", axis=(0, 0, 1)),
    ]
    wire = ph.Constraint(lambda t, q: q[1] - shape(q[0]), name="wire")
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


def on_wire(shape: Callable[[Any], Any], **options: Any) -> Made:
    """A bead that slides from x = −1 m over a corner of its wire."""
    return ph.simulate(bead(shape), [-1.0, float(shape(-1.0))], [0.0, 0.0], 2.0, **options), None


def damped(name: str, damping: float) -> tuple[ph.Model, list[float], list[float]]:
    """A bundled model with damped joints, and its start."""
    found = ph.load(name)
    joints = [replace(joint, damping=damping) for joint in found.joints]
    model = ph.Model(f"{name}, damped", found.gravity, found.bodies, joints, found.forces, found.constraints)
    return model, list(found.start.q), list(found.start.v)


def chain(n: int, damping: float = 0.0) -> ph.Model:
    """Links of 1 m and 1 kg in a vertical plane."""
    bodies = [ph.Body(f"b{k}", 1.0, (0.02, 0.02, 0.02), (0, 0, -0.5)) for k in range(n)]
    places = [("world", (0, 0, 0)), *((f"b{k}", (0, 0, -1)) for k in range(n - 1))]
    joints = [
        ph.Joint(f"j{k}", "revolute", parent, f"b{k}", axis=(0, 1, 0), position=at, damping=damping)
        for k, (parent, at) in enumerate(places)
    ]
    return ph.Model("chain", bodies=bodies, joints=joints)


def slider_crank(policy: str, **options: Any) -> Made:
    """Crank and rod of one length: upright, both lie on each other, and the slider may stay where it is."""
    r, angle, rate = 0.5, 0.6, 6.0
    bodies = [ph.Body(name, r, (1e-3, r**3 / 12, r**3 / 12), (r / 2, 0, 0)) for name in ("crank", "rod")]
    joints = [
        ph.Joint("motor", "revolute", "world", "crank", axis=(0, -1, 0)),
        ph.Joint("pin", "revolute", "crank", "rod", axis=(0, -1, 0), position=(r, 0, 0)),
        ph.Joint("rail", "prismatic", "world", "slider", axis=(1, 0, 0)),
    ]
    ends = {"body_a": "rod", "body_b": "slider", "position_a": (r, 0, 0)}
    wrist = ph.Constraint("wrist", "revolute", axis_a=(0, -1, 0), axis_b=(0, -1, 0), **ends)
    bodies.append(ph.Body("slider", 0.5, (1e-3, 1e-3, 1e-3)))
    model = ph.Model("slider-crank", bodies=bodies, joints=joints, constraints=[wrist])
    q, v = [angle, -2 * angle, 2 * r * math.cos(angle)], [rate, -2 * rate, -2 * r * math.sin(angle) * rate]
    return ph.simulate(model, q, v, 2.0, constraints=policy, **options), None


def compared(run: Any, model: ph.Model, x: np.ndarray, v: np.ndarray) -> Made:
    """A run of one coordinate, and its error by the exact motion."""
    exact = {"q": x[:, None], "v": v[:, None]}
    return run, Difference(model)({name: run[name].values for name in exact}, exact)


def periodic(method: str, periods: int, begin: float = 0.0, **options: Any) -> Made:
    """A cart under sin², all of whose zeros are ends of steps of 0.1 s or fractions of them; it may begin later."""
    w, model = 2 * math.pi * periods / 0.1, cart()

    def force(t: Any, q: Any, v: Any) -> list[Any]:
        return [ph.where(t < begin, 0.0, 5 * ph.sin(w * t) ** 2)]

    run = ph.simulate(model, None, None, 10.0, force, method=method, step=0.1, **options)
    t = np.maximum(run["time"].values - begin, 0)
    x, v = 1.25 * (t * t / 2 - np.sin(w * t) ** 2 / (2 * w * w)), 1.25 * (t - np.sin(2 * w * t) / (2 * w))
    return compared(run, model, x, v)


def stiff(stiffness: float, damping: float, x0: float, duration: float, **options: Any) -> Made:
    """A mass of 2 kg that vibrates for long on a stiff spring."""
    rail = ph.Joint("rail", "prismatic", "world", "mass", stiffness=stiffness, damping=damping)
    model = ph.Model("stiff", gravity=(0, 0, 0), bodies=[ph.Body("mass", 2.0, (1, 1, 1))], joints=[rail])
    run = ph.simulate(model, [x0], [0.0], duration, **options)
    t, d = run["time"].values, damping / 4
    w = math.sqrt(stiffness / 2 - d * d)
    size = x0 * np.exp(-d * t)
    x, v = size * (np.cos(w * t) + d / w * np.sin(w * t)), -size * (w + d * d / w) * np.sin(w * t)
    return compared(run, model, x, v)


def bump(**options: Any) -> Made:
    """A cart of 1 m/s that is pushed on 0.2 m of 20 m."""

    def force(t: Any, q: Any, v: Any) -> list[Any]:
        return [5 * ph.exp(-(((q[0] - 10.0) / 0.1) ** 2))]

    near = [ph.Event("look", lambda t, q, v: t)]  # bounds the steps of the reference
    run = ph.simulate(cart(), [0.0], [1.0], 20.0, force, **options)
    times = tuple(run["time"].values)
    exact = ph.simulate(cart(), [0.0], [1.0], 20.0, force, tolerance=1e-13, samples=times, verify=False, events=near)
    return compared(run, cart(), exact["q"].values[:, 0], exact["v"].values[:, 0])


def in_python(t: float, q: Any, v: Any) -> list[float]:
    return [1.0 if 50.3 < float(t) < 52.3 else 0.0]


def pushed(force: Any, times: list[float], values: list[float], hold: bool = False, **options: Any) -> Made:
    """A cart at rest, pushed for a short part of 200 s; times, values: the same force as a table."""
    return followed(cart(), None, None, 200.0, force, twin=ph.Table(times, [[x] for x in values], hold=hold), **options)


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
    "3D slider-crank, damped, by Euler at 20 ms": lambda: followed(
        *damped("slider-crank-3d", 0.2), 1.0, method="euler", step=0.02
    ),
    "four-bar, damped, by Heun at 50 ms": lambda: followed(*four_bar(damping=1.0), 2.0, method="heun", step=0.05),
    "four-bar, damped, by Euler and Baumgarte": lambda: followed(
        *four_bar(damping=0.5), 2.0, method="euler", step=0.01, constraints="baumgarte"
    ),
    "t-handle by energy-momentum at 0.2 s": lambda: followed(
        ph.load("t-handle"), duration=6.0, method="energy-momentum", step=0.2
    ),
    "free body by energy-momentum at 0.5 s": lambda: followed(
        ph.load("free-body"), duration=10.0, method="energy-momentum", step=0.5
    ),
    "tolerance 0.1, damped chain, bs32": lambda: followed(
        chain(2, 0.3), [2.0, 1.0], [0, 0], 20.0, method="bs32", tolerance=0.1
    ),
    "tolerance 0.1, two samples": lambda: followed(chain(2, 0.1), [2.0, 1.0], [0, 0], 10.0, tolerance=0.1, samples=2),
    "bead over a blunt corner": lambda: on_wire(lambda x: ph.maximum(-x, 0.3 * x), step=0.01, method="rk4"),
    "bead from a parabola to a line": lambda: on_wire(
        lambda x: ph.where(x < 0, x * x, 0.8 * x), step=0.01, method="heun"
    ),
    "bead over three corners by radau2": lambda: on_wire(lambda x: abs(abs(x) - 0.4) * 0.7, step=0.02, method="radau2"),
    "bead over a root": lambda: on_wire(lambda x: ph.sqrt(x * x), step=0.01, method="rk4"),
    "bead over a corner, nothing kept": lambda: on_wire(abs, step=0.005, method="rk4", constraints="none"),
    "slider-crank of equal lengths by Baumgarte": lambda: slider_crank("baumgarte", tolerance=1e-6),
    "slider-crank of equal lengths, nothing kept": lambda: slider_crank("none", method="rk4", step=0.01),
    "chain of three over 30 s": lambda: followed(
        chain(3), [2.0, 1.0, 0.5], [0, 0, 0], 30.0, tolerance=1e-9, samples=61
    ),
    "chain of two over 40 s by rk8": lambda: followed(
        chain(2), [2.0, 1.0], [0, 0], 40.0, method="rk8", step=0.01, every=400
    ),
    "double pendulum over 60 s by gauss2": lambda: followed(
        ph.load("double-pendulum"), [2.5, 1.0], [0, 0], 60.0, method="gauss2", step=0.01
    ),
    "triangular pulse": lambda: pushed(
        lambda t, q, v: [ph.maximum(0.0, 1 - abs(t - 88.8))], [0, 87.8, 88.8, 89.8], [0, 0, 1, 0]
    ),
    "pulse in Python by rk4 at 5 s": lambda: pushed(
        in_python, [0, 50.3, 52.3], [0, 1, 0], hold=True, method="rk4", step=5.0
    ),
    "force of the step's period": lambda: periodic("rk4", 1),
    "force of a 60th of the step's period": lambda: periodic("rk8", 60, every=10),
    "force of a 12th of the step's period, later": lambda: (periodic("rk4", 12, 2.0)[0], None),
    "force on a short part of the way": lambda: bump(samples=2),
    "force on a short part of the way, 1001 samples": bump,
    "stiff spring by radau2, 10,000 periods a step": lambda: stiff(1e8, 1e-3, 1e-6, 200.0, method="radau2", step=10.0),
    "stiff spring by radau3": lambda: stiff(1e6, 1e-4, 1e-6, 20.0, method="radau3", step=1.0),
    "spring by radau2, 2,000 steps a sample": lambda: stiff(
        1e2, 1e-4, 1e-2, 2000.0, method="radau2", step=0.1, every=2000
    ),
    "stiff spring by generalized-alpha": lambda: stiff(
        1e4, 1e-3, 1e-4, 1000.0, method="generalized-alpha", step=0.5, every=200
    ),
}
"""Each deception by its name: all are to be seen, or no longer to be wrong."""
