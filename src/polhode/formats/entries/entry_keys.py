"""The keys of the entries of a model file: what each holds, whether it must be there, and how the schema tells of it.

`plain_entries` reads files by these tables, `schema` checks and describes them. What a key holds is one of the sorts of
`polhode.model.keys.Key`, or of these:

    value        a number that is no parameter of the model
    name, text   text, not empty; text
    each         a number, or a list of them
    limits       the same, of values that may be infinite
    inertia      three numbers, or three rows of three
    size         one to three numbers
    angles       three values
    own          numbers of a kind of joint: one, a list, or rows
    named-own    these by name
    coordinates  values, values by joint, or the name of a configuration
    velocities   values, or values by joint
    euler        an entry of EULER
    sequence     of axes, as text
    expressions  texts
"""

from dataclasses import replace

from polhode.model.constraints.base import ConstraintKind
from polhode.model.forces.base import ForceElement
from polhode.model.joints.base import JointKind
from polhode.model.keys import Key

TURNED = "the same as roll, pitch, yaw about the body's fixed x, y, z axes, rad"

EULER = {
    "sequence": Key(
        "sequence",
        "such as 313 or 123: each turn about an axis carried along; extrinsic-123: about fixed axes",
        needed=True,
    ),
    "angles": Key("vector", "three angles, rad", needed=True),
}

BODY = {
    "mass": Key("number", "kg, above 0", needed=True),
    "inertia": Key(
        "inertia",
        "three principal moments, or three rows of three, about the mass centre in body axes, kg m²",
        needed=True,
    ),
    "center": Key("vector", "mass centre in the body frame, m; 0 unless given"),
    "physical": Key("flag", "false: accept a mass or inertia no real body has, with a warning"),
}

JOINT = {
    "type": Key("text", "kind of joint", needed=True),
    "parent": Key("name", "a body, or world", needed=True),
    "child": Key("name", "a body", needed=True),
    "axis": Key("vector", "direction in the joint frame; z unless given"),
    "position": Key("vector", "of the joint frame in the parent, m; 0 unless given"),
    "orientation": Key("quaternion", "of the joint frame in the parent: unit quaternion w, x, y, z"),
    "rpy": Key("vector", "the same as roll, pitch, yaw about the parent's fixed x, y, z axes, rad"),
    "euler": Key("euler", "the same by a sequence of axes"),
    "armature": Key("each", "added to the mass matrix, kg m² or kg"),
    "damping": Key("each", "N m s or N s/m: one number, or one for each velocity"),
    "stiffness": Key("each", "N m or N/m: one number, or one for each coordinate"),
    "rest": Key("each", "where the stiffness pulls to"),
    "lower": Key("limits", "lower limit of the coordinates; a stop in runs"),
    "upper": Key("limits", "upper limit of the coordinates; a stop in runs"),
    "pitch": Key("number", "of a screw, m per radian"),
    "axis2": Key("vector", "second axis of a universal joint"),
    "data": Key("named-own", "own numbers of a kind of joint that was registered, by name; or as plain keys"),
}

FRAME = {
    "body": Key("name", "a body", needed=True),
    "position": Key("vector", "of its origin in the body frame, m; 0 unless given"),
    "orientation": Key("quaternion", "of its axes in the body's: unit quaternion w, x, y, z"),
    "rpy": Key("vector", TURNED),
}

SHAPE = {
    "body": Key("name", "a body", needed=True),
    "type": Key("text", "box, cylinder or sphere", needed=True),
    "size": Key(
        "size", "m: sides of a box, radius and length (along z) of a cylinder, radius of a sphere", needed=True
    ),
    "position": Key("vector", "of its middle in the body frame, m; 0 unless given"),
    "orientation": Key("quaternion", "of its axes in the body's: unit quaternion w, x, y, z"),
    "rpy": Key("vector", TURNED),
}

START = {
    "q": Key("coordinates", "coordinates of the joints, in their order or by joint; or the name of a configuration"),
    "v": Key("velocities", "velocities of the joints, in their order or by joint"),
    "duration": Key("value", "s"),
    "method": Key("name", "of integration"),
}

TYPE_OF_CONSTRAINT = Key("text", "kind of constraint", needed=True)


def own_keys(kind: JointKind) -> list[str]:
    """The numbers of a kind of joint that a file may write as keys of the joint: those with no other meaning there."""
    return [name for name in kind.keys if name not in JOINT]


def joint_keys(kinds: tuple[JointKind, ...]) -> dict[str, Key]:
    """The keys of joints, with the numbers of all kinds; which a kind may have is told by the kind."""
    return JOINT | {name: Key("own", kind.keys[name].text) for kind in kinds for name in own_keys(kind)}


def is_data(kind: type[ForceElement]) -> bool:
    """Whether a file may hold a force element of this kind: none that must have a function of Python."""
    if kind.expressions:
        return True
    return not any(key.needed and key.holds == "function" and not key.variables for key in kind.keys.values())


def force_keys(kind: type[ForceElement]) -> dict[str, Key]:
    """The keys of a kind of force element, but for its type."""
    told = {name: key for name, key in kind.keys.items() if key.holds != "function" or key.variables}
    written = {name: Key("expressions", text) for name, text in kind.expressions.items()}
    turned = {f"rpy_{side}": Key("angles", TURNED) for side in "ab" if f"orientation_{side}" in told}
    return told | written | turned


def constraint_keys(kinds: tuple[ConstraintKind, ...]) -> dict[str, Key]:
    """The keys of all kinds of constraints, but for their type: which each may have is told by the kind itself."""
    found = dict[str, Key]()
    for name, key in {name: key for kind in kinds for name, key in kind.keys.items()}.items():
        if key.in_files and key.holds != "function":
            found[name] = replace(key, needed=False)
        if key.holds == "quaternion":
            found[name.replace("orientation", "rpy")] = Key("angles", TURNED)
    texts = "expressions that stay zero: of t and of one-axis joints by name, or of x, y, z on a curve"
    return found | {"residual": Key("expressions", texts)}
