"""Regressors: quantities that are linear in the inertial parameters of bodies, as matrices that multiply these.

Each body has ten parameters, about the origin of its frame, in its axes:

    π = (m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz),   h = m c,   I = J + m (c·c 1 − c cᵀ)

the order of Pinocchio. What a body needs, in its own axes, at its origin, with K = α̃ + ω̃ ω̃:

    f = m a + K h,     n = h × a + I α + ω × I ω                                                    Atkeson (1986)
"""

from collections.abc import Sequence
from typing import NamedTuple

from polhode.dynamics.body_points import BodyPoint
from polhode.dynamics.inverse import Carried, carry, ground
from polhode.dynamics.kinematics import frames, joint_acceleration, joint_velocity, placement, unit_twists, velocities
from polhode.errors import InputError, message
from polhode.model.forces.refused import refuse_coupled_inertia
from polhode.model.joints.base import Element
from polhode.model.tree import GROUND, Tree
from polhode.quaternion import rotation_matrix
from polhode.scalar import Scalar, Vec, cross, dot, identity, square, trace, vec
from polhode.spatial import AT_REST, ORIGIN, WORLD_FRAME, Frame, Inertia, Placement, Twist

PARAMETERS = ("m", "h_x", "h_y", "h_z", "I_xx", "I_xy", "I_yy", "I_xz", "I_yz", "I_zz")
"""The inertial parameters of a body, in order."""

PAIRS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""The places in the inertia of its six parameters."""

NOTHING = vec(*[0.0] * 10)


class EnergyRegressors(NamedTuple):
    """Rows (..., 10 bodies) that give the kinetic and the potential energy of bodies, J."""

    kinetic: Vec
    potential: Vec


def inertial_parameters(body: Inertia) -> Vec:
    """The ten parameters of a body."""
    S = body.second
    I = trace(S) * identity(3) - S
    return Vec((body.mass, *body.first, *(I[i][j] for i, j in PAIRS)))


def _products(a: Vec, b: Vec) -> list[Scalar]:
    """Coefficients of the six parameters of I in a·I b."""
    return [a[i] * b[j] + a[j] * b[i] if i != j else a[i] * b[i] for i, j in PAIRS]


def _moved(tree: Tree, q: Vec, v: Vec, vd: Vec, gravity: Vec) -> list[tuple[Placement, Carried]]:
    """Where each element is in its parent's frame, and how it moves, in its own axes."""
    found: list[tuple[Placement, Carried]] = []
    for e in tree.elements:
        parent = found[e.parent][1] if e.parent != GROUND else ground(gravity)
        at = placement(e, q)
        found.append((at, carry(e, at, parent, joint_velocity(e, q, v), joint_acceleration(e, q, v, vd))))
    return found


def _needed_along(unit: Twist, moving: Carried) -> Vec:
    """The ten coefficients of l·f + w·n, for the unit motion (l, w) of a body in its own axes.

    w·(ω × I ω) = (w × ω)·I ω
    """
    l, w = unit
    turned = cross(w, moving.omega)
    inertia = [x + y for x, y in zip(_products(w, moving.alpha), _products(turned, moving.omega), strict=True)]
    return Vec((dot(l, moving.a), *(moving.K.T @ l + cross(moving.a, w)), *inertia))


def _refuse_shared(tree: Tree) -> None:
    """Raise an InputError where mass moves with modes: it is no parameter of a rigid body."""
    if tree.shares:
        where, found = f"regressors, model '{tree.name}'", "mass that moves with the modes of a body"
        raise InputError(message(where, "not for machines with modal bodies", found, "rigid bodies"))


def torque_regressor(tree: Tree, q: Vec, v: Vec, vd: Vec, bodies: Sequence[int]) -> Vec:
    """Y (nv, 10 bodies) of τ = Y π: inertia, Coriolis and gravity of all bodies, without armature and other forces.

    bodies  the elements that carry them, in their order
    """
    _refuse_shared(tree)
    refuse_coupled_inertia("torque regressor", tree.forces, "Take half-bars as mass of beams.")
    moved = _moved(tree, q, v, vd, tree.gravity)
    units: list[dict[int, Twist]] = []  # of all velocities that move an element, in its axes, at its origin
    for e, (at, _) in zip(tree.elements, moved, strict=True):
        own = dict(zip(e.v, unit_twists(e, q), strict=True))
        outer = units[e.parent] if e.parent != GROUND else {}
        back = at.R.T
        units.append({a: Twist(back @ (l + cross(w, at.r)), back @ w) for a, (l, w) in outer.items()} | own)
    blocks = [{a: _needed_along(unit, moved[i][1]) for a, unit in units[i].items()} for i in bodies]
    return Vec([Vec([x for block in blocks for x in block.get(a, NOTHING)]) for a in range(tree.nv)])


def body_regressor(tree: Tree, q: Vec, v: Vec, vd: Vec, p: BodyPoint) -> Vec:
    """The force and moment (6, 10) that a body needs, gravity taken off, in the axes of the frame, at its origin."""
    axes = identity(3)
    units = [*(Twist(x, ORIGIN) for x in axes), *(Twist(ORIGIN, x) for x in axes)]
    moving = _moved(tree, q, v, vd, tree.gravity)[p.element][1]
    if p.turn:  # of a frame on the body
        moving = carry(tree.elements[p.element], Placement(p.turn, p.point), moving, AT_REST, AT_REST)
    return Vec([_needed_along(unit, moving) for unit in units])


def energy_regressors(tree: Tree, q: Vec, v: Vec, bodies: Sequence[int]) -> EnergyRegressors:
    """Rows (10 bodies,) of the kinetic energy of bodies and of their potential energy in gravity."""
    _refuse_shared(tree)
    refuse_coupled_inertia("energy regressors", tree.forces, "Take half-bars as mass of beams.")
    at = frames(tree, q)
    moving = velocities(tree, q, at, v)
    kinetic, potential = list[Scalar](), list[Scalar]()
    for i in bodies:
        back = at[i].R.T
        u, omega = back @ moving[i].linear, back @ moving[i].angular
        kinetic += [square(u) / 2, *cross(u, omega), *(x / 2 for x in _products(omega, omega))]
        potential += [-dot(tree.gravity, at[i].o), *(-(back @ tree.gravity)), *[0.0] * 6]
    return EnergyRegressors(Vec(kinetic), Vec(potential))


def momentum_regressor(tree: Tree, q: Vec, v: Vec, bodies: Sequence[int]) -> Vec:
    """(6, 10 bodies): the linear momentum, and the angular momentum about the world's origin, world axes."""
    _refuse_shared(tree)
    refuse_coupled_inertia("momentum regressor", tree.forces, "Take half-bars as mass of beams.")
    at = frames(tree, q)
    moving, columns = velocities(tree, q, at, v), list[Vec]()
    for i in bodies:
        (R, o), (u, omega) = at[i], moving[i]
        linear = [u, *(cross(omega, x) for x in R.T), *[ORIGIN] * 6]
        own = [ORIGIN, *(cross(x, u) for x in R.T), *_inertia_columns(R, R.T @ omega)]
        columns += [Vec((*P, *(H + cross(o, P)))) for P, H in zip(linear, own, strict=True)]
    return Vec(columns).T if columns else Vec([Vec()] * 6)


def _inertia_columns(R: Vec, omega: Vec) -> list[Vec]:
    """R I ω for each of the six parameters of I; ω in the axes of the body."""
    axes = R.T
    return [axes[i] * omega[j] + axes[j] * omega[i] if i != j else axes[i] * omega[i] for i, j in PAIRS]


def static_regressor(tree: Tree, q: Vec, bodies: Sequence[int]) -> Vec:
    """(3, 4 bodies): the mass centre of the machine from the first four parameters of each body, for its mass."""
    _refuse_shared(tree)
    at = frames(tree, q)
    mass = sum((tree.elements[i].inertia.mass for i in bodies[1:]), tree.elements[bodies[0]].inertia.mass)
    return Vec([column / mass for i in bodies for column in (at[i].o, *at[i].R.T)]).T


def kinematic_regressor(tree: Tree, q: Vec, joints: Sequence[str], p: BodyPoint, axes: str) -> Vec:
    """(6, 6 joints): the motion of a point and its body, per small change of where each joint is in its parent.

    Three columns for its position, three for its orientation, in the axes of the joint frame; axes of the rows as
    those of Jacobians.
    """
    at = frames(tree, q)
    body = at[p.element]
    x = ORIGIN if axes == "world" else body.o + body.R @ p.point
    A = identity(3)
    if axes == "local":
        A = (body.R @ p.turn if p.turn else body.R).T
    columns = {joint: Vec([Vec([0.0] * 6)] * 6) for joint in joints}
    for i in reversed(tree.ancestors[p.element]):  # the first element of a joint is met last
        e = tree.elements[i]
        frame = _joint_frame(e, at)
        linear = [Vec((*(A @ u), *ORIGIN)) for u in frame.R.T]
        turned = [Vec((*(A @ cross(u, x - frame.o)), *(A @ u))) for u in frame.R.T]
        columns[e.joint] = Vec([*linear, *turned])
    return Vec([column for joint in joints for column in columns[joint]]).T


def _joint_frame(e: Element, at: list[Frame]) -> Frame:
    """The frame of a joint on its parent, in the world."""
    parent = at[e.parent] if e.parent != GROUND else WORLD_FRAME
    return Frame(parent.R @ rotation_matrix(e.orientation), parent.o + parent.R @ e.position)
