"""Models: bodies, joints, forces as written by name, and the tree made of them."""

from polhode.model.description import (
    Constraint as Constraint,
    Force as Force,
    ForceFunction as ForceFunction,
    Model as Model,
    Spring as Spring,
    Start as Start,
    check_model as check_model,
)
from polhode.model.joints.base import Element as Element
from polhode.model.joints.registry import JOINTS as JOINTS
from polhode.model.numbers import Parameter as Parameter, plain as plain
from polhode.model.parts import Body as Body, Joint as Joint
from polhode.model.reframe import regrouped as regrouped
from polhode.model.topology import WORLD as WORLD
from polhode.model.tree import Tree as Tree, make_tree as make_tree
