"""The Carvallo–Whipple bicycle from its 25 parameters: a frame with its rider, a front fork, two wheels that roll.

A tree — the frame flies, the fork turns on it, a wheel on each — with two knife-edge wheels on the ground. The
parameters are those of Meijaard et al. (2007), Table 1: x forward, z down, origin at the rear contact. Here z is up;
`z_up` converts. Lean and steer keep their signs: positive to the right.
"""

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from polhode.errors import UnknownNameError, did_you_mean, message
from polhode.formats.yaml_text import to_yaml
from polhode.model import WORLD, Body, Constraint, Joint, Model, Start


@dataclass(frozen=True)
class Bicycle:
    """The 25 parameters, SI, x forward and z down from the rear contact; those of the benchmark unless given.

    w, c, lam              wheelbase, trail, tilt of the steer axis
    rR, mR, IRxx, IRyy     rear wheel: radius, mass, moments about a diameter and about the axle
    xB, zB, mB, IBxx …     rear frame with the rider: mass centre, mass, moments about it
    xH, zH, mH, IHxx …     fork with the handlebar
    rF, mF, IFxx, IFyy     front wheel
    """

    w: float = 1.02
    c: float = 0.08
    lam: float = math.pi / 10
    rR: float = 0.3
    mR: float = 2.0
    IRxx: float = 0.0603
    IRyy: float = 0.12
    xB: float = 0.3
    zB: float = -0.9
    mB: float = 85.0
    IBxx: float = 9.2
    IByy: float = 11.0
    IBzz: float = 2.8
    IBxz: float = 2.4
    xH: float = 0.9
    zH: float = -0.7
    mH: float = 4.0
    IHxx: float = 0.05892
    IHyy: float = 0.06
    IHzz: float = 0.00708
    IHxz: float = -0.00756
    rF: float = 0.35
    mF: float = 3.0
    IFxx: float = 0.1405
    IFyy: float = 0.28


def z_up(x: float, z: float, xx: float, yy: float, zz: float, xz: float) -> tuple[tuple, tuple]:
    """A mass centre and an inertia with z down, as they are with z up: turned by half a turn about x."""
    return (x, 0.0, -z), ((xx, 0.0, -xz), (0.0, yy, 0.0), (-xz, 0.0, zz))


def bicycle(speed: float = 4.6, roll_rate: float = 0.5, gravity: float = 9.81, **changed: float) -> Model:
    """The bicycle, upright and straight ahead at a speed, pushed to the side.

    speed      m/s
    roll_rate  rad/s at the start, to the right
    gravity    m/s²
    changed    parameters by the names of `Bicycle` that differ from the benchmark's
    """
    p = _parameters(changed)
    center_B, inertia_B = z_up(p.xB, p.zB, p.IBxx, p.IByy, p.IBzz, p.IBxz)
    center_H, inertia_H = z_up(p.xH - (p.w + p.c), p.zH, p.IHxx, p.IHyy, p.IHzz, p.IHxz)
    across = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)  # z of a wheel is its axle, to the left
    down = (math.sin(p.lam), 0.0, -math.cos(p.lam))
    ahead = p.w + p.c  # where the steer axis meets the ground
    return Model(
        "bicycle",
        gravity=(0.0, 0.0, -gravity),
        bodies=(
            Body("frame", p.mB, inertia_B, center_B),
            Body("fork", p.mH, inertia_H, center_H),
            Body("rear-wheel", p.mR, (p.IRxx, p.IRxx, p.IRyy)),
            Body("front-wheel", p.mF, (p.IFxx, p.IFxx, p.IFyy)),
        ),
        joints=(
            Joint("frame", "free", WORLD, "frame"),
            Joint("steer", "revolute", "frame", "fork", axis=down, position=(ahead, 0.0, 0.0)),
            Joint("rear-axle", "revolute", "frame", "rear-wheel", position=(0.0, 0.0, p.rR), orientation=across),
            Joint("front-axle", "revolute", "fork", "front-wheel", position=(-p.c, 0.0, p.rF), orientation=across),
        ),
        constraints=(
            Constraint("rear-contact", "rolling-disk", {"body_b": "rear-wheel", "radius": p.rR}),
            Constraint("front-contact", "rolling-disk", {"body_b": "front-wheel", "radius": p.rF}),
        ),
        start=Start(
            q=(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
            v=(speed, 0.0, 0.0, roll_rate, 0.0, 0.0, 0.0, speed / p.rR, speed / p.rF),
            duration=5.0,
        ),
    )


def _parameters(changed: dict[str, Any]) -> Bicycle:
    known = [field.name for field in fields(Bicycle)]
    for name in changed:
        if name not in known:
            fix = did_you_mean(name, known)
            raise UnknownNameError(message("bicycle", "no such parameter", repr(name), ", ".join(known), fix))
    return replace(Bicycle(), **changed)


def bicycle_text() -> str:
    """The file of the bundled model, models/bicycle.yaml."""
    head = [
        "The Carvallo-Whipple bicycle of Meijaard et al. (2007), Table 1, z up.",
        "It runs straight ahead at 4.6 m/s and is pushed to the side: left alone, it rights itself.",
        "Made by: python -c \"from polhode.formats.bicycle import bicycle_text; print(bicycle_text(), end='')\"",
        "Other parameters: ph.bicycle(w=1.1, mB=75).",
    ]
    return "".join(f"# {line}\n" for line in head) + to_yaml(bicycle())
