"""The kinds of force elements by the name that files have for them; those of users are added while a program runs.

The module of a kind is imported when the kind is first asked for.
"""

from polhode.errors import ModelError, fault_of_name, message
from polhode.loading import NamedClasses
from polhode.model.forces.base import ForceElement
from polhode.scalar import shown

FORCES: NamedClasses[ForceElement] = NamedClasses(
    {
        "force": "polhode.model.forces.force:Force",
        "spring": "polhode.model.forces.spring:Spring",
        "torsion-spring": "polhode.model.forces.torsion_spring:TorsionSpring",
        "bushing": "polhode.model.forces.bushing:Bushing",
        "beam-element": "polhode.model.forces.beam_element:BeamElement",
        "beam-inertia": "polhode.model.forces.beam_inertia:BeamInertia",
        "body-force": "polhode.model.forces.body_force:BodyForce",
        "function": "polhode.model.forces.force_function:ForceFunction",
        "joint-friction": "polhode.model.forces.joint_friction:JointFriction",
        "joint-stop": "polhode.model.forces.joint_stop:JointStop",
        "limit-stop": "polhode.model.forces.joint_stop:LimitStop",
        "impact-stop": "polhode.model.forces.impact_stop:ImpactStop",
        "joint-lock": "polhode.model.forces.joint_lock:JointLock",
        "thrust": "polhode.model.forces.thrust:Thrust",
        "backlash": "polhode.model.forces.backlash:Backlash",
    }
)
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
