"""All kinds of joints by name; `register_joint` adds one of a user's own."""

from typing import TypeVar

from polhode.errors import ModelError, check_name, message
from polhode.model.joints.base import ElementKind, JointKind
from polhode.model.joints.cylindrical import CylindricalJoint
from polhode.model.joints.fixed import FixedJoint
from polhode.model.joints.free import FreeJoint
from polhode.model.joints.modal import ModalInterfaceJoint, ModalJoint
from polhode.model.joints.planar import PlanarJoint
from polhode.model.joints.prismatic import PrismaticJoint
from polhode.model.joints.revolute import RevoluteJoint
from polhode.model.joints.rpy_free import RpyFreeJoint
from polhode.model.joints.screw import ScrewJoint
from polhode.model.joints.spherical import SphericalJoint
from polhode.model.joints.universal import UniversalJoint
from polhode.scalar import shown

JOINTS: dict[str, JointKind] = {
    kind.name: kind()
    for kind in (
        FixedJoint,
        RevoluteJoint,
        PrismaticJoint,
        ScrewJoint,
        CylindricalJoint,
        UniversalJoint,
        PlanarJoint,
        SphericalJoint,
        FreeJoint,
        RpyFreeJoint,
        ModalJoint,
        ModalInterfaceJoint,
    )
}
"""All kinds of joints by name."""

SYNONYMS = {
    "hinge": "revolute", "pin": "revolute", "continuous": "revolute", "rotational": "revolute",
    "slider": "prismatic", "slide": "prismatic", "linear": "prismatic", "translational": "prismatic",
    "ball": "spherical", "socket": "spherical", "ball-and-socket": "spherical",
    "cardan": "universal", "hooke": "universal", "helical": "screw",
    "weld": "fixed", "rigid": "fixed", "floating": "free", "freeflyer": "free", "6dof": "free",
}  # fmt: skip
"""Joint types by the words of other programs and of workshops; errors suggest them, nothing accepts them."""

K = TypeVar("K", bound=type[JointKind])


def register_joint(kind: K) -> K:
    """Make a kind of joint known by its name, for `Joint`, files and everything else; also a decorator of the class.

    The same class, made again, replaces the one before; another class of its name is refused.
    """
    if not (isinstance(kind, type) and issubclass(kind, JointKind)):
        raise ModelError(message("register_joint", "not a kind of joint", shown(kind), "a subclass of ph.JointKind"))
    where = f"register_joint, {kind.__name__}"
    check_name(where, "joint kind", getattr(kind, "name", None))
    if not all(isinstance(element, ElementKind) for element, _ in kind.elements):
        raise ModelError(message(where, "elements", shown(kind.elements), "pairs of an ElementKind and its axis"))
    for element, _ in kind.elements:
        sizes = (element.nq, element.nv, len(element.linear))
        if sizes != ((4, 3, 3) if element.quaternion else (element.nv,) * 3):
            expected = "nq = nv, and as many entries of `linear`"
            raise ModelError(message(f"{where}, element '{element.name}'", "sizes", shown(sizes), expected))
    if any(element.quaternion for element, _ in kind.elements[:-1]):
        expected = "the quaternion last"
        raise ModelError(message(where, "a motion after a quaternion", kind.elements[-1][0].name, expected))
    made = kind()
    known = type(JOINTS.get(kind.name, made))
    if (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        raise ModelError(message(where, "a name twice", f"'{kind.name}' is {known.__name__}", "another `name`"))
    for names, size in (("coordinates", made.nq), ("dofs", made.nv), ("letters", made.nq if kind.letters else 0)):
        if len(getattr(kind, names)) != size:
            raise ModelError(message(where, f"{names} of its elements", shown(getattr(kind, names)), f"{size} names"))
    unknown = [name for element, _ in kind.elements for name in element.numbers if name not in kind.keys]
    if unknown:
        fix = "Add it to `keys`."
        raise ModelError(message(where, "an element asks for", repr(unknown[0]), "a number of the joint's own", fix))
    JOINTS[kind.name] = made
    return kind
