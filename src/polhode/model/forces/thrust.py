"""Thrust of a rocket, whose body loses the mass that it expels."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from polhode.errors import ModelError, message
from polhode.model.forces.base import ElementEvent, ForceElement, Jump, Wrench
from polhode.model.forces.two_frames import reflected_ends, stays_on_body
from polhode.model.keys import ABOVE_ZERO, AT_LEAST_ZERO, Key
from polhode.model.mount import Mount
from polhode.model.numbers import plain, short
from polhode.model.parts import Body
from polhode.model.reflection import Reflection
from polhode.model.state import MachineState
from polhode.scalar import Scalar, Vec, cross, length, where


@dataclass(frozen=True)
class Thrust(ForceElement):
    """Thrust on a body by expelling mass: a force u ṁ along a direction of the body, while it burns. Its mass falls by
    ṁ, and its inertia in proportion, its mass centre in place; the body as the model has it is the full one.

    What is expelled leaves every point of the body with the velocity of that point, and then with u along the
    direction: the torque by flow within a turning body, jet damping, is not in it. The state `burnt` is the mass that
    has left, kg. Where the propellant is spent the mode `spent` becomes 1, and runs record "name.burns-out".

    flow           ṁ, kg/s, or a function of time
    exhaust_speed  u, m/s, against the body
    propellant     kg; None: it never ends, and the body must not lose all its mass
    direction      of the thrust, in body axes
    point          where it acts, in body axes from the body's origin, m
    """

    name: str
    body: str
    flow: Scalar | Callable[[Any], Any]
    exhaust_speed: Scalar
    propellant: Scalar = None
    direction: Any = (0.0, 0.0, 1.0)
    point: Any = (0.0, 0.0, 0.0)

    kind = "thrust"
    keys: ClassVar = {
        "body": Key("body", "the body that is driven", needed=True),
        "flow": Key("number", "mass a second, kg/s", "kg/s", "mu", needed=True, range=AT_LEAST_ZERO, of_time=True),
        "exhaust_speed": Key("number", "against the body, m/s", "m/s", "u_e", needed=True, range=AT_LEAST_ZERO),
        "propellant": Key("number", "to expel, kg; without end unless given", "kg", "m_p", range=ABOVE_ZERO),
        "direction": Key("direction", "of the thrust, in body axes; z unless given", unit="1", fixed_to="body"),
        "point": Key("vector", "where it acts, in body axes from the body's origin, m", unit="m", fixed_to="body"),
    }
    states: ClassVar = {"burnt": "kg"}
    changes_energy = "thrust"

    @property
    def modes(self) -> Mapping[str, str]:  # type: ignore[override]
        """Whether the propellant is spent, where there is an end of it."""
        return {} if self.propellant is None else {"spent": "1"}

    def check_body(self, where: str, body: Body) -> None:
        """A body that stays one without its propellant."""
        if self.propellant is not None and plain(self.propellant) >= plain(body.mass):
            found, expected = f"{short(self.propellant)} kg", f"less than '{body.name}' has, {short(body.mass)} kg"
            raise ModelError(message(f"{where}, propellant", "too much", found, expected))

    def _flow(self, state: MachineState) -> Scalar:
        flow = self.flow(state.t) if callable(self.flow) else self.flow
        return flow if self.propellant is None else where(state.own(self)[1] > 0.5, 0.0, flow)

    def wrenches(self, state: MachineState) -> Iterator[Wrench]:
        """The thrust."""
        R, along = state.frame(self.body).R, self.direction / length(self.direction)
        force = self.exhaust_speed * self._flow(state) * (R @ along)
        yield Wrench(self.body, force, cross(R @ self.point, force))

    def derivatives(self, state: MachineState) -> Sequence[Scalar]:
        """The flow."""
        return [self._flow(state)]

    def masses(self, own: Vec) -> Iterable[tuple[str, Scalar]]:
        """What has left."""
        yield self.body, own[0]

    def events(self) -> Sequence[ElementEvent]:
        """The end of the propellant."""
        if self.propellant is None:
            return ()
        return (ElementEvent("burns-out", self._overdrawn, self._spend),)

    def _overdrawn(self, state: MachineState) -> Scalar:
        burnt, spent = state.own(self)
        return where(spent > 0.5, -1.0, burnt - self.propellant)

    def _spend(self, state: MachineState) -> Jump:
        return Jump({"burnt": self.propellant, "spent": 1.0})

    def functions(self) -> list[tuple[str, Callable[[Scalar, Vec, Vec], Any]]]:
        """The flow, where it is a function of time."""
        flow = self.flow
        return [(f"flow of '{self.name}'", lambda t, q, v: Vec([flow(t)]))] if callable(flow) else []

    def moved(self, mounts: Mapping[str, Mount]) -> dict[str, Any]:
        """Where it acts, and its direction."""
        stays_on_body(mounts["body"], self.body)
        return super().moved(mounts)

    def reflected(self, mirror: Reflection) -> dict[str, Any]:
        """Where it acts, and its direction."""
        return reflected_ends(self, mirror)
