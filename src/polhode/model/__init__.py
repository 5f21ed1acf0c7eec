"""Models: bodies, joints, forces as written by name, and the tree made of them."""

from polhode.model.description import (
    Body as Body,
    Constraint as Constraint,
    Force as Force,
    ForceFunction as ForceFunction,
    Joint as Joint,
    Model as Model,
    Parameter as Parameter,
    Spring as Spring,
    Start as Start,
)
from polhode.model.joints import JOINTS as JOINTS
from polhode.model.topology import WORLD as WORLD
from polhode.model.tree import Element as Element, Inertia as Inertia, Tree as Tree, make_tree as make_tree
