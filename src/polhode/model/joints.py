"""The joint catalogue: what each type of joint is made of.

Every joint is a sequence of elements, each with its own axis in the frame reached so far: revolute,
prismatic, screw, or ball (one unit quaternion). Algorithms know these elements only.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class JointType:
    """One row of the catalogue."""

    name: str
    elements: tuple[tuple[str, str], ...]
    """Kind and axis of each element; the axis is "axis", "axis2" or one of the joint frame's "x", "y", "z"."""
    coordinates: tuple[str, ...]
    """The names of q, in order."""
    dofs: tuple[str, ...]
    """The names of v, in order."""
    uses_axis: bool = True
    """Whether the joint's `axis` has a meaning."""

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.dofs)

    @property
    def has_quaternion(self) -> bool:
        """Whether the coordinates hold a quaternion."""
        return any(kind == "ball" for kind, _ in self.elements)

    @property
    def zero(self) -> tuple[float, ...]:
        """The coordinates at zero: zero angles and travels, the identity quaternion."""
        return tuple(1.0 if name == "w" else 0.0 for name in self.coordinates)

    @property
    def linear(self) -> tuple[bool, ...]:
        """Which velocities are linear (m/s) rather than angular (rad/s)."""
        flags: list[bool] = []
        for kind, _ in self.elements:
            flags += [False] * 3 if kind == "ball" else [kind == "prismatic"]
        return tuple(flags)


SIZES = {"revolute": (1, 1), "prismatic": (1, 1), "screw": (1, 1), "ball": (4, 3), "fixed": (0, 0)}
"""Coordinates and velocities of each kind of element."""

_QUATERNION, _OMEGA = ("w", "x", "y", "z"), ("omega_x", "omega_y", "omega_z")

JOINTS = {
    joint.name: joint
    for joint in (
        JointType("fixed", (), (), (), False),
        JointType("revolute", (("revolute", "axis"),), ("angle",), ("rate",)),
        JointType("prismatic", (("prismatic", "axis"),), ("travel",), ("speed",)),
        JointType("screw", (("screw", "axis"),), ("angle",), ("rate",)),
        JointType("cylindrical", (("revolute", "axis"), ("prismatic", "axis")), ("angle", "travel"), ("rate", "speed")),
        JointType("universal", (("revolute", "axis"), ("revolute", "axis2")), ("angle1", "angle2"), ("rate1", "rate2")),
        JointType(
            "planar",
            (("prismatic", "x"), ("prismatic", "y"), ("revolute", "z")),
            ("x", "y", "angle"),
            ("speed_x", "speed_y", "rate"),
            False,
        ),
        JointType("spherical", (("ball", ""),), _QUATERNION, _OMEGA, False),
        JointType(
            "free",
            (("prismatic", "x"), ("prismatic", "y"), ("prismatic", "z"), ("ball", "")),
            ("px", "py", "pz", *_QUATERNION),
            ("speed_x", "speed_y", "speed_z", *_OMEGA),
            False,
        ),
    )
}
"""All joint types by name."""
