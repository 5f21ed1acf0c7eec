"""Force elements of a user's own, with states of their own."""

from dataclasses import dataclass
from typing import Any, ClassVar

import polhode as ph


@dataclass(frozen=True)
class Motor(ph.ForceElement):
    """A motor with inductance: L i' = U − R i − k ω, torque k i."""

    name: str
    joint: str
    voltage: Any = 0.0
    resistance: Any = 1.0
    inductance: Any = 0.1
    k: Any = 0.5

    kind = "test-motor"
    keys: ClassVar = {
        "joint": ph.Key("joint", "the joint it drives", needed=True),
        "voltage": ph.Key("number", "V", unit="V"),
        "resistance": ph.Key("number", "V/A", unit="V/A"),
        "inductance": ph.Key("number", "V s/A", unit="V s/A"),
        "k": ph.Key("number", "N m/A", unit="N m/A"),
    }
    states: ClassVar = {"current": "A"}

    def generalized(self, state):
        return state.along(self.joint, self.k * state.own(self)[0])

    def derivatives(self, state):
        drop = self.resistance * state.own(self)[0] + self.k * state.rate(self.joint)
        return [(self.voltage - drop) / self.inductance]


@dataclass(frozen=True)
class SampledPid(ph.ForceElement):
    """A controller of one joint that holds its torque from one sample to the next."""

    name: str
    joint: str
    target: Any = 0.0
    p: Any = 0.0
    i: Any = 0.0
    d: Any = 0.0
    period: float = 0.01

    kind = "test-sampled-pid"
    keys: ClassVar = {
        "joint": ph.Key("joint", "the joint it drives", needed=True),
        "target": ph.Key("number", "rad", unit="rad"),
        "p": ph.Key("number", "N m/rad"),
        "i": ph.Key("number", "N m/(rad s)"),
        "d": ph.Key("number", "N m s/rad"),
        "period": ph.Key("seconds", "from one sample to the next"),
    }
    sampled: ClassVar = {"sum": "rad s", "torque": "N m"}

    def generalized(self, state):
        return state.along(self.joint, state.own(self)[1])

    def update(self, state):
        off = self.target - state.coordinate(self.joint)
        total = state.own(self)[0] + off * self.period
        return [total, self.p * off + self.i * total - self.d * state.rate(self.joint)]


def rotor(*forces, damping=0.01, **more):
    """A flywheel of 0.2 kg m² on a shaft, with forces."""
    return ph.Model(
        "rotor",
        bodies=[ph.Body("wheel", 1.0, (0.1, 0.1, 0.2))],
        joints=[ph.Joint("shaft", "revolute", "world", "wheel", axis=(0, 0, 1), damping=damping)],
        forces=forces,
        **more,
    )


def arm(*forces, **more):
    """Two rods of 1 m, one on the other, on hinges "shoulder" and "elbow"."""
    rod = {"mass": 1.0, "inertia": (0.1, 0.1, 0.01), "center": (0, 0, -0.5)}
    return ph.Model(
        "arm",
        bodies=[ph.Body("upper", **rod), ph.Body("lower", **rod)],
        joints=[
            ph.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
            ph.Joint("elbow", "revolute", "upper", "lower", position=(0, 0, -1), axis=(0, 1, 0)),
        ],
        forces=forces,
        **more,
    )


@dataclass(frozen=True)
class Tether(ph.ForceElement):
    """A band from a point of the world to a body: a spring that creeps, a damper; it may tear.

    F = −k (x − creep) − d u, creep' = rate · k (x − creep); where its pull passes the strength it is torn.
    """

    name: str
    body: str
    anchor: Any = (0.0, 0.0, 0.0)
    k: Any = 0.0
    d: Any = 0.0
    rate: Any = 0.0

    kind = "test-tether"
    keys: ClassVar = {
        "body": ph.Key("body", "the body it pulls", needed=True),
        "anchor": ph.Key("vector", "its other end, in the world, m", unit="m", letter="r_t"),
        "k": ph.Key("number", "N/m", unit="N/m", letter="k_t"),
        "d": ph.Key("number", "N s/m", unit="N s/m", letter="d_t"),
        "rate": ph.Key("number", "m/(N s)", unit="m/(N s)", letter="c_t"),
    }
    states: ClassVar = {"creep_x": "m", "creep_y": "m", "creep_z": "m"}
    changes_energy = "tethers"

    def pull(self, state):
        creep = ph.Vec(state.own(self)[:3])
        return self.k * (self.anchor + creep - state.frame(self.body).o)

    def wrenches(self, state):
        yield ph.Wrench(self.body, self.pull(state) - self.d * state.twist(self.body).linear)

    def derivatives(self, state):
        return [-self.rate * force for force in self.pull(state)]

    def drawing(self):
        yield ph.DrawnLine("world", self.anchor, self.body, (0.0, 0.0, 0.0), "coil")

    def notes(self):
        return [f"tether '{self.name}' creeps"]


@dataclass(frozen=True)
class WeakTether(Tether):
    """The same, which tears."""

    strength: Any = 1.0

    kind = "test-weak-tether"
    keys: ClassVar = {**Tether.keys, "strength": ph.Key("number", "N", unit="N", letter="F_t")}
    modes: ClassVar = {"torn": "1"}

    def wrenches(self, state):
        whole = 1.0 - state.own(self)[3]
        for body, force, torque in super().wrenches(state):
            yield ph.Wrench(body, whole * force, torque)

    def events(self):
        def overload(state):
            whole = 1.0 - state.own(self)[3]
            return whole * (ph.length(self.pull(state)) - self.strength)

        return [ph.ElementEvent("tears", overload, lambda state: ph.Jump({"torn": 1.0}))]


@dataclass(frozen=True)
class Attraction(ph.ForceElement):
    """Bodies that attract each other, pair by pair: F = G m₁ m₂/r² with G m₁ m₂ = strength."""

    name: str
    pairs: Any = ()
    strength: Any = 1.0

    kind = "test-attraction"
    keys: ClassVar = {
        "pairs": ph.Key("pairs", "bodies that attract each other", needed=True),
        "strength": ph.Key("number", "N m²", unit="N m2"),
    }
    is_internal = True

    def wrenches(self, state):
        for one, other in self.pairs:
            way = state.frame(other).o - state.frame(one).o
            force = self.strength / ph.length(way) ** 3 * way
            yield ph.Wrench(one, force)
            yield ph.Wrench(other, -force)

    def potential(self, state):
        found = 0.0
        for one, other in self.pairs:
            found = found - self.strength / ph.length(state.frame(other).o - state.frame(one).o)
        return found
