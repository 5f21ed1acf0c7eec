"""The free joint: position of the child's origin in the joint frame, then its quaternion."""

from polhode.model.joints.base import JointKind, Step
from polhode.model.joints.prismatic import PRISMATIC
from polhode.model.joints.spherical import BALL, OMEGA, QUATERNION


class FreeJoint(JointKind):
    """Nothing holds the child."""

    name = "free"
    elements = (Step(PRISMATIC, "x"), Step(PRISMATIC, "y"), Step(PRISMATIC, "z"), Step(BALL))
    coordinates, dofs = ("px", "py", "pz", *QUATERNION), ("speed_x", "speed_y", "speed_z", *OMEGA)
