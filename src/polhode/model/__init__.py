"""Models: bodies, joints, forces as written by name, and the tree made of them.

description   `Model`; `parts`: bodies and joints; `topology`: which body hangs on which
joints/, forces/, constraints/   the kinds, one file each, with a `registry`; `keys`: what their data hold
beams/        beams: bodies, joints, elements and constraints that each is made of; `strains`, `section`
modal/        bodies with modes: finite-element `matrices`, their `reduction`, inertia `invariants`
edits/        models made of models; what a kind tells them of itself is in terms of `mount`, `reflection`, `scale`
numbers       plain or named; `other_numbers`: the same model with others; `user_kinds`: parts by users
tree          Model → Tree; `state`: what elements and constraints are functions of; `reframe`: fewer numbers
per_model_cache, per_record_cache   what was made of a model, or of a part of it, and is found again

Kinds of forces, beams and modal bodies are loaded when one of their names (`_LATER`) is first used.
"""

from typing import TYPE_CHECKING, Any

from polhode.loading import imported
from polhode.model.constraints.base import (
    BodyConstraint as BodyConstraint,
    ConstraintKind as ConstraintKind,
    CoordinateConstraint as CoordinateConstraint,
)
from polhode.model.constraints.constraint import Constraint as Constraint
from polhode.model.constraints.frames import MovingFrame as MovingFrame
from polhode.model.constraints.registry import register_constraint as register_constraint
from polhode.model.description import Model as Model, Start as Start, check_model as check_model
from polhode.model.forces.base import (
    DrawnBeam as DrawnBeam,
    DrawnLine as DrawnLine,
    ElementEvent as ElementEvent,
    ForceElement as ForceElement,
    Hold as Hold,
    Jump as Jump,
    Wrench as Wrench,
)
from polhode.model.forces.registry import register_force as register_force
from polhode.model.joints.base import (
    Closing as Closing,
    Element as Element,
    ElementKind as ElementKind,
    JointKind as JointKind,
)
from polhode.model.joints.prismatic import PRISMATIC as PRISMATIC
from polhode.model.joints.registry import JOINTS as JOINTS, register_joint as register_joint
from polhode.model.joints.revolute import REVOLUTE as REVOLUTE
from polhode.model.joints.screw import SCREW as SCREW
from polhode.model.joints.spherical import BALL as BALL
from polhode.model.keys import Key as Key
from polhode.model.numbers import Parameter as Parameter, plain as plain
from polhode.model.parts import Body as Body, BodyFrame as BodyFrame, Joint as Joint
from polhode.model.reframe import regrouped as regrouped
from polhode.model.shapes import BodyShape as BodyShape
from polhode.model.state import MachineState as MachineState
from polhode.model.topology import WORLD as WORLD
from polhode.model.tree import Tree as Tree, make_tree as make_tree

if TYPE_CHECKING:
    from polhode.model.beams.beam import Beam as Beam, BeamEnd as BeamEnd
    from polhode.model.beams.section import Material as Material, Section as Section
    from polhode.model.forces.backlash import Backlash as Backlash
    from polhode.model.forces.beam_element import BeamElement as BeamElement
    from polhode.model.forces.beam_inertia import BeamInertia as BeamInertia
    from polhode.model.forces.body_force import BodyForce as BodyForce, BodyMotion as BodyMotion
    from polhode.model.forces.bushing import Bushing as Bushing
    from polhode.model.forces.force import Force as Force
    from polhode.model.forces.force_function import ForceFunction as ForceFunction
    from polhode.model.forces.impact_stop import ImpactStop as ImpactStop
    from polhode.model.forces.joint_friction import JointFriction as JointFriction
    from polhode.model.forces.joint_lock import JointLock as JointLock
    from polhode.model.forces.joint_stop import JointStop as JointStop, LimitStop as LimitStop
    from polhode.model.forces.spring import Spring as Spring
    from polhode.model.forces.thrust import Thrust as Thrust
    from polhode.model.forces.torsion_spring import TorsionSpring as TorsionSpring
    from polhode.model.modal.body import ModalBody as ModalBody, ModalInterface as ModalInterface
    from polhode.model.modal.matrices import FiniteElements as FiniteElements

_LATER = {
    "beams.beam": ["Beam", "BeamEnd"],
    "beams.section": ["Material", "Section"],
    "forces.backlash": ["Backlash"],
    "forces.beam_element": ["BeamElement"],
    "forces.beam_inertia": ["BeamInertia"],
    "forces.body_force": ["BodyForce", "BodyMotion"],
    "forces.bushing": ["Bushing"],
    "forces.force": ["Force"],
    "forces.force_function": ["ForceFunction"],
    "forces.impact_stop": ["ImpactStop"],
    "forces.joint_friction": ["JointFriction"],
    "forces.joint_lock": ["JointLock"],
    "forces.joint_stop": ["JointStop", "LimitStop"],
    "forces.spring": ["Spring"],
    "forces.thrust": ["Thrust"],
    "forces.torsion_spring": ["TorsionSpring"],
    "modal.body": ["ModalBody", "ModalInterface"],
    "modal.matrices": ["FiniteElements"],
}
_HOME = {name: module for module, names in _LATER.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'polhode.model' has no attribute {name!r}")
    found = globals()[name] = getattr(imported(f"polhode.model.{_HOME[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
