"""What acts on a tree besides gravity: joint springs and dampers, springs between points, given forces."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from polhode.dynamics.kinematics import frames, velocities
from polhode.errors import CompileError, message
from polhode.model import Force, ForceFunction, Spring, Tree
from polhode.model.tree import GROUND
from polhode.scalar import Scalar, Vec, cross, dot, maximum, sqrt, square
from polhode.spatial import AT_REST, ORIGIN, WORLD_FRAME, Frame, Twist

SHORTEST = 1e-150
"""A spring shorter than this has no direction: it pulls as if it were this long."""


class Acting(NamedTuple):
    """All that acts: wrenches on elements (their axes, their origins) and generalised forces."""

    wrenches: dict[int, tuple[Vec, Vec]]
    generalized: Vec


def acting(tree: Tree, t: Scalar, q: Vec, v: Vec, given: Mapping[str, tuple[Vec, Vec]] | None = None) -> Acting:
    """Everything but gravity, at time t.

    given  force and couple on bodies by name, world axes, at the body's origin
    """
    tau = joint_forces(tree, q, v)
    wrenches: dict[int, tuple[Vec, Vec]] = {}
    if not tree.forces and not given:
        return Acting(wrenches, tau)
    at = frames(tree, q)
    moving = velocities(tree, q, at, v)
    for force, numbers in tree.forces:
        if isinstance(force, ForceFunction):
            tau = tau + _of_function(tree, force, t, q, v)
        elif isinstance(force, Spring):
            _pull(tree, force, numbers, at, moving, wrenches)
        else:
            _push(tree, force, numbers, t, at, wrenches)
    for body, (f, n) in (given or {}).items():
        add_wrench(wrenches, at, tree.of_body[body], f, n)
    return Acting(wrenches, tau)


def joint_forces(tree: Tree, q: Vec, v: Vec) -> Vec:
    """−stiffness (q − rest) − damping v, in the order of v."""
    tau: list[Scalar] = [0.0] * tree.nv
    for e in tree.elements:
        for k, a in enumerate(e.v):
            tau[a] = -(e.damping[k] * v[a])
            if not e.kind.quaternion:
                tau[a] = tau[a] - e.stiffness[k] * (q[e.q[k]] - e.rest[k])
    return Vec(tau)


def _of_function(tree: Tree, force: ForceFunction, t: Scalar, q: Vec, v: Vec) -> Vec:
    found = force.function(t, q, v)
    if (not isinstance(found, Sequence) and not hasattr(found, "__len__")) or len(found) != tree.nv:
        shown = f"{len(found)} numbers" if hasattr(found, "__len__") else repr(found)
        raise CompileError(message(f"force '{force.name}'", "wrong result", shown, f"{tree.nv} generalised forces"))
    return Vec(found)


def add_wrench(wrenches: dict, at: list[Frame], i: int, f: Vec, n: Vec) -> None:
    """Note a force at the origin and a couple, world axes, on an element; the ground takes anything."""
    if i == GROUND:
        return
    back = at[i].R.T
    old_f, old_n = wrenches.get(i, (ORIGIN, ORIGIN))
    wrenches[i] = old_f + back @ f, old_n + back @ n


def _push(tree: Tree, force: Force, numbers: Mapping[str, Any], t: Scalar, at: list[Frame], wrenches: dict) -> None:
    i = tree.of_body[force.body]
    if i == GROUND:
        return
    f, n = (
        _of_time(force, name, t) if callable(getattr(force, name)) else numbers[name] for name in ("force", "torque")
    )
    if force.axes == "body":
        f, n = at[i].R @ f, at[i].R @ n
    add_wrench(wrenches, at, i, f, n + cross(at[i].R @ numbers["point"], f))


def _of_time(force: Force, part: str, t: Scalar) -> Vec:
    """The force or torque that a function of time gives."""
    found = getattr(force, part)(t)
    if not hasattr(found, "__len__") or len(found) != 3:
        shown = f"{len(found)} numbers" if hasattr(found, "__len__") else repr(found)[:60]
        raise CompileError(message(f"force '{force.name}', {part}", "wrong result", shown, "3 numbers"))
    return Vec(found)


class Stretch(NamedTuple):
    """A spring's ends in the world: arms from the bodies' origins, the line from a to b, its length."""

    arm_a: Vec
    arm_b: Vec
    line: Vec
    length: Scalar


def stretch(tree: Tree, spring: Spring, numbers: Mapping[str, Any], at: list[Frame]) -> Stretch:
    """Where a spring runs."""
    frame_a, frame_b = (_frame(tree, at, name) for name in (spring.body_a, spring.body_b))
    arm_a, arm_b = frame_a.R @ numbers["point_a"], frame_b.R @ numbers["point_b"]
    line = frame_b.o + arm_b - frame_a.o - arm_a
    return Stretch(arm_a, arm_b, line, sqrt(square(line)))


def _frame(tree: Tree, at: list[Frame], body: str) -> Frame:
    i = tree.of_body[body]
    return at[i] if i != GROUND else WORLD_FRAME


def _pull(
    tree: Tree, spring: Spring, numbers: Mapping[str, Any], at: list[Frame], moving: list[Twist], wrenches: dict
) -> None:
    """The pull of a spring and damper on its two bodies."""
    arm_a, arm_b, line, length = stretch(tree, spring, numbers, at)
    k, d, rest = numbers["stiffness"], numbers["damping"], numbers["rest"]
    if isinstance(rest, float) and rest == 0 and isinstance(d, float) and d == 0:
        pull = k * line  # a spring without rest length needs no direction
    else:
        a, b = tree.of_body[spring.body_a], tree.of_body[spring.body_b]
        twist_a, twist_b = moving[a] if a != GROUND else AT_REST, moving[b] if b != GROUND else AT_REST
        apart = twist_b.linear + cross(twist_b.angular, arm_b) - twist_a.linear - cross(twist_a.angular, arm_a)
        along = line / maximum(length, SHORTEST)
        pull = (k * (length - rest) + d * dot(along, apart)) * along
    add_wrench(wrenches, at, tree.of_body[spring.body_a], pull, cross(arm_a, pull))
    add_wrench(wrenches, at, tree.of_body[spring.body_b], -pull, -cross(arm_b, pull))
