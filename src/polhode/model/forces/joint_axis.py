"""One axis of a joint, as force elements on coordinates see it: its coordinate, its velocity, the force along it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from polhode.errors import ModelError, message
from polhode.model.joints.base import JointKind
from polhode.model.numbers import plain
from polhode.model.reflection import Reflection
from polhode.model.state import MachineState
from polhode.scalar import Scalar


class JointAxis(NamedTuple):
    """A coordinate of a joint and its velocity: rad and rad/s, or m and m/s."""

    q: Scalar
    v: Scalar


def axis_of(state: MachineState, joint: str, axis: int) -> JointAxis:
    """A coordinate of a joint without a quaternion, and its velocity.  axis: its place among those of the joint"""
    return JointAxis(state.q[state.of_joint[joint][axis]], state.v[state.rates_of_joint[joint][axis]])


def along_axes(state: MachineState, *forces: tuple[str, int, Scalar]) -> Sequence[Scalar]:
    """Generalised forces (nv,) of forces along axes of joints: (joint, axis, force) each."""
    tau: list[Scalar] = [0.0] * len(state.v)
    for joint, axis, force in forces:
        k = state.rates_of_joint[joint][axis]
        tau[k] = tau[k] + force
    return tau


def check_axis(where: str, joint: str, kind: JointKind, axis: int) -> None:
    """Raise a ModelError unless a joint has this axis, with a coordinate of its own."""
    found = f"'{joint}', {kind.name}"
    if kind.has_quaternion or not kind.nv:
        raise ModelError(message(where, "a joint without axes", found, "revolute, prismatic, universal, …"))
    if axis >= kind.nv:
        raise ModelError(message(f"{where}, axis", "no such axis", f"{axis} of {found}", f"0 to {kind.nv - 1}"))


def reflected_limits(element: Any, mirror: Reflection) -> dict[str, Any]:
    """The limits of a stop along an axis of a joint in a mirror image of the machine."""
    if mirror.sign(element.joint, element.axis) > 0:
        return {}
    return {"lower": -plain(element.upper), "upper": -plain(element.lower)}
