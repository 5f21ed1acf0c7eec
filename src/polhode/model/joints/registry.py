"""All kinds of joints by name; `register_joint` adds one of a user's own."""

from polhode.model.joints.base import JointKind
from polhode.model.joints.cylindrical import CylindricalJoint
from polhode.model.joints.fixed import FixedJoint
from polhode.model.joints.free import FreeJoint
from polhode.model.joints.planar import PlanarJoint
from polhode.model.joints.prismatic import PrismaticJoint
from polhode.model.joints.revolute import RevoluteJoint
from polhode.model.joints.screw import ScrewJoint
from polhode.model.joints.spherical import SphericalJoint
from polhode.model.joints.universal import UniversalJoint

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
    )
}
"""All kinds of joints by name."""
