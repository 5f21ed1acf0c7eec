"""Short runs that pictures are drawn of, made once."""

from functools import cache

import polhode as ph


def free_body(moments=(1.0, 2.0, 2.8)):
    return ph.Model("tumbler", (0, 0, 0), [ph.Body("b", 1.0, moments)], [ph.Joint("j", "free", "world", "b")])


@cache
def tumbling(duration=20.0, samples=801):
    v = [0.3, 0, 0, 1.0, 0.9, 0.6]
    return ph.simulate(free_body(), v=v, duration=duration, samples=samples, tolerance=1e-10)


@cache
def swinging(tolerance=1e-9):
    return ph.simulate(ph.load("double-pendulum"), duration=3.0, samples=301, tolerance=tolerance)


@cache
def damped():
    model = ph.load("double-pendulum").with_numbers({"joints.hinge.damping": 0.4})
    return ph.simulate(model, duration=3.0, samples=301, tau={"elbow": 0.5})


@cache
def top():
    body = ph.Body("top", 1.0, (0.01, 0.01, 0.005), center=(0, 0, 0.2))
    model = ph.Model("top", bodies=[body], joints=[ph.Joint("tip", "spherical", "world", "top")])
    q = ph.quaternion.from_axis_angle((1, 0, 0), 0.4)
    return ph.simulate(model, q=q, v=(0, 0, 150), duration=1.0, samples=601)


@cache
def by_form():
    return ph.simulate(free_body(), v=[0, 0, 0, 1.0, 0.9, 0.6], duration=5.0, step=0.02, form="sherif-29")


@cache
def linkage():
    return ph.simulate(ph.load("four-bar"), duration=1.0, samples=201)


@cache
def bent():
    """A leaf that is let go, straight, under a load along it and at its tip."""
    leaf = ph.Section.rectangle(width=0.03, height=0.004)
    beam = ph.Beam(
        "leaf", leaf, start=("world", (0, 0, 0)), end=(0.5, 0, 0), elements=3, load=(0, 0, -20), damping=1e-3
    )
    model = ph.Model("leaf", (0, 0, 0), beams=[beam], forces=[ph.Force("tip", "leaf-3", force=(2.0, 0, -5.0))])
    return ph.simulate(model, duration=0.1, samples=21, tolerance=1e-4, verify=False)
