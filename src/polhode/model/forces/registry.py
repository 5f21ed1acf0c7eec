"""The kinds of force elements by the name that files have for them; those of users are added while a program runs."""

from polhode.errors import ModelError, fault_of_name, message
from polhode.model.forces.backlash import Backlash
from polhode.model.forces.base import ForceElement
from polhode.model.forces.beam_element import BeamElement
from polhode.model.forces.beam_inertia import BeamInertia
from polhode.model.forces.body_force import BodyForce
from polhode.model.forces.bushing import Bushing
from polhode.model.forces.force import Force
from polhode.model.forces.force_function import ForceFunction
from polhode.model.forces.impact_stop import ImpactStop
from polhode.model.forces.joint_friction import JointFriction
from polhode.model.forces.joint_lock import JointLock
from polhode.model.forces.joint_stop import JointStop, LimitStop
from polhode.model.forces.spring import Spring
from polhode.model.forces.thrust import Thrust
from polhode.model.forces.torsion_spring import TorsionSpring
from polhode.scalar import shown

FORCES: dict[str, type[ForceElement]] = {
    "force": Force,
    "spring": Spring,
    "torsion-spring": TorsionSpring,
    "bushing": Bushing,
    "beam-element": BeamElement,
    "beam-inertia": BeamInertia,
    "body-force": BodyForce,
    "function": ForceFunction,
    "joint-friction": JointFriction,
    "joint-stop": JointStop,
    "limit-stop": LimitStop,
    "impact-stop": ImpactStop,
    "joint-lock": JointLock,
    "thrust": Thrust,
    "backlash": Backlash,
}
"""Every kind of force element."""


def register_force(kind: type[ForceElement]) -> type[ForceElement]:
    """Let model files name a kind of force element, as `type: …` with its `kind`; also a decorator.

    An element of a kind that is not registered works in every way, but is not read from files or written to them.
    """
    where = f"register_force, {getattr(kind, '__name__', shown(kind))}"
    if not isinstance(kind, type) or not issubclass(kind, ForceElement):
        raise ModelError(message(where, "not a kind of force element", shown(kind), "a subclass of ForceElement"))
    if "kind" not in vars(kind) or fault_of_name(kind.kind):
        raise ModelError(message(where, "has no name for files", "no `kind`", 'kind = "drag", in the class'))
    known = FORCES.get(kind.kind)
    if known is not None and (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        raise ModelError(message(where, "a name twice", f"'{kind.kind}' is {known.__name__}", "another `kind`"))
    FORCES[kind.kind] = kind
    return kind
