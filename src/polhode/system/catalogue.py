"""Every quantity of a System, one record each.

A new quantity is a function here and a method of System that calls its record. The function computes it on any
scalars; its docstring, its arguments, the axes of its results and where its algorithm is from become the record.
"""

from collections.abc import Callable
from typing import Any

from polhode.constrain.absolute_coordinates import AbsoluteCoordinates
from polhode.constrain.constrained_dynamics import ConditionRows, Projected, Reactions, Residuals
from polhode.constrain.constraint_policy import ENGINES
from polhode.constrain.reactions import (
    ConstraintReactions,
    JointReactions,
    constraint_reactions as reactions_of_constraints,
    joint_reactions as reactions_of_joints,
)
from polhode.dynamics import covariant, energy as of_bodies, kinematics, with_forces
from polhode.dynamics.energy import Energy, Momentum
from polhode.dynamics.normal_forces import loaded_joints
from polhode.scalar import Vec
from polhode.system.algorithms import (
    FACTORED,
    by_duals,
    by_recursion,
    forward_slopes,
    forward_slopes_by_recursion,
    inverse_slopes,
    inverse_slopes_by_recursion,
)
from polhode.system.quantity import Algorithm, Argument, Axes, Quantity, Request, SystemSpec
from polhode.system.records import ForwardDerivatives, InverseDerivatives, Pose, Velocity

QUANTITIES: dict[str, Quantity] = {}
"""Every quantity by name."""

Q, V, VD, TAU, Q1, POINT = map(Argument, ("q", "v", "vd", "tau", "q1", "point"))
SCALAR, VECTOR, QUATERNION, VELOCITIES, COORDINATES, SQUARE = (), (3,), (4,), ("nv",), ("nq",), ("nv", "nv")


def quantity(
    arguments: tuple[Argument, ...],
    *results: Axes,
    by: str,
    record: type | None = None,
    also: tuple[Algorithm, ...] = (),
    of_body: bool = False,
    needs_constraints: bool = False,
    inverts_mass: bool = False,
    **of_algorithm: Any,
) -> Callable[[Callable[[Request], Any]], Quantity]:
    """The record of a quantity, from the function that computes it.

    by            what the algorithm does, and where it is from
    also          further algorithms
    of_algorithm  fields of `Algorithm`; all else are fields of `Quantity`
    """

    def recorded(function: Callable[[Request], Any]) -> Quantity:
        name, what = function.__name__, str(function.__doc__).removesuffix(".")
        algorithms = (Algorithm(by, function, **of_algorithm), *also)
        QUANTITIES[name] = Quantity(
            name, what, arguments, results, algorithms, record, of_body, needs_constraints, inverts_mass
        )
        return QUANTITIES[name]

    return recorded


# dynamics


@quantity((Q,), SQUARE, by="composite bodies; Zoric (97)–(100), BEYOND §1", regroups=True)
def mass_matrix(r: Request) -> Vec:
    """The metric tensor M."""
    return with_forces.mass_matrix(r.x)


@quantity(
    (Q,),
    ("nv", "nv", "nv"),
    by="one vector for each pair of unit motions; Zoric (110), (129), BEYOND §§1–2",
    regroups=True,
)
def christoffel(r: Request) -> Vec:
    """The Christoffel symbols Γ."""
    return covariant.christoffel(r.x.tree, r.x.q)


@quantity((Q, V), SQUARE, by="momenta of subtrees; BEYOND §2", regroups=True)
def coriolis(r: Request) -> Vec:
    """The Coriolis matrix C."""
    return with_forces.coriolis(r.x)


@quantity((Q, V), VELOCITIES, by="recursive Newton–Euler in link frames at v̇ = 0; Zoric (109)", regroups=True)
def bias(r: Request) -> Vec:
    """The generalised forces that v̇ = 0 needs."""
    return with_forces.needed(r.x, Vec([0.0] * r.x.tree.nv))


@quantity((Q,), VELOCITIES, by="recursive Newton–Euler in link frames at rest; Zoric (109)", regroups=True)
def gravity(r: Request) -> Vec:
    """The generalised forces that hold the machine at rest against gravity."""
    return with_forces.gravity(r.x)


@quantity((Q, V, VD), VELOCITIES, by="recursive Newton–Euler in link frames; Zoric (104), (109)", regroups=True)
def inverse_dynamics(r: Request) -> Vec:
    """The generalised forces τ that an acceleration needs."""
    return with_forces.inverse_dynamics(r.x)


def _is_tree(spec: SystemSpec) -> bool:
    """Whether accelerations are those of a tree in its own coordinates."""
    return spec.policy is None


def _is_small_tree(spec: SystemSpec) -> bool:
    return spec.policy is None and spec.model.nv <= FACTORED and not loaded_joints(spec.tree)


def _by_engine(engine: str, text: str) -> Algorithm:
    """Accelerations under constraints, or in absolute coordinates."""

    def function(r: Request) -> Vec:
        return r.constrained.forward(r.x) if r.spec.constrained else AbsoluteCoordinates.of(r.spec.model).forward(r.x)

    return Algorithm(text, function, lambda spec: bool(spec.policy and spec.policy.engine == engine), by_graph=True)


@quantity(
    (Q, V, TAU),
    VELOCITIES,
    by="articulated bodies, bias by Newton–Euler; Featherstone (2008) 7.3, Zoric (109)",
    applies=_is_tree,
    regroups=True,
    also=(
        Algorithm(
            "composite bodies, M = LᵀDL and Newton–Euler; Featherstone (2008) 8.1, Zoric (109)",
            lambda r: with_forces.forward_by_factors(r.x),
            applies=_is_small_tree,
            regroups=True,
        ),
        *(_by_engine(engine, text) for engine, text in ENGINES.items()),
    ),
    inverts_mass=True,
)
def forward_dynamics(r: Request) -> Vec:
    """The accelerations v̇."""
    return with_forces.forward_dynamics(r.x)


@quantity(
    (Q, V, TAU),
    SQUARE,
    SQUARE,
    SQUARE,
    by="−M⁻¹ times the derivatives of inverse dynamics; BEYOND §3",
    record=ForwardDerivatives,
    applies=lambda spec: spec.constrained is None and not by_recursion(spec),
    regroups=True,
    on_numbers=by_duals(with_forces.forward_dynamics, "v", "tau"),
    also=(
        Algorithm(
            "composite and articulated bodies, in loops over the joints; Singh (2022), CarpentierInverse",
            forward_slopes_by_recursion,
            applies=lambda spec: spec.constrained is None and by_recursion(spec),
            regroups=True,
            on_numbers=by_duals(with_forces.forward_dynamics, "v", "tau"),
        ),
        Algorithm(
            "what inverse dynamics and conditions miss; BEYOND §9",
            lambda r: r.constrained.forward_slopes(r.x),
            applies=lambda spec: spec.constrained is not None,
            by_graph=True,
        ),
    ),
    inverts_mass=True,
)
def forward_dynamics_derivatives(r: Request) -> tuple[Vec, ...]:
    """The derivatives of v̇ along the tangent directions of q, by v and by τ."""
    return forward_slopes(r)


@quantity(
    (Q, V, VD),
    SQUARE,
    SQUARE,
    SQUARE,
    by="differentiating the graph of inverse dynamics along the frame fields; BEYOND §3",
    record=InverseDerivatives,
    applies=lambda spec: not by_recursion(spec),
    regroups=True,
    on_numbers=by_duals(with_forces.inverse_dynamics, "v", "vd"),
    also=(
        Algorithm(
            "composite bodies, in loops over the joints; Singh (2022)",
            inverse_slopes_by_recursion,
            applies=by_recursion,
            regroups=True,
            on_numbers=by_duals(with_forces.inverse_dynamics, "v", "vd"),
        ),
    ),
)
def inverse_dynamics_derivatives(r: Request) -> tuple[Vec, ...]:
    """The derivatives of τ along the tangent directions of q, by v and by v̇."""
    return inverse_slopes(r)


# constraints

ROWS: dict[str, Any] = {
    "by": "rows of the constraints, derived from their residuals; BEYOND §4",
    "by_graph": True,
    "needs_constraints": True,
}
"""The fields that all quantities of constraints share."""


@quantity((Q, V, TAU), ("rows",), VELOCITIES, SCALAR, ("rows",), record=Reactions, **ROWS)
def constraint_forces(r: Request) -> Reactions:
    """The multipliers of the constraints and their generalised force, the rank, and which rows are dependent."""
    return r.constrained.reactions(r.x)


@quantity((Q, V, TAU), ("rows",), SCALAR, ("connections", 3), ("connections", 3), record=ConstraintReactions, **ROWS)
def constraint_reactions(r: Request) -> ConstraintReactions:
    """The forces and torques of the constraints between two bodies."""
    return reactions_of_constraints(r.constrained, r.spec.model, r.x)


def _joint_reactions(r: Request) -> JointReactions:
    bound = r.constrained if r.spec.constrained else None
    return reactions_of_joints(bound, r.spec.model, r.x, with_forces.forward_dynamics)


@quantity(
    (Q, V, TAU),
    ("joints", 3),
    ("joints", 3),
    by="Newton and Euler, body by body",
    record=JointReactions,
    applies=lambda spec: spec.constrained is None,
    also=(
        Algorithm(
            "Newton and Euler, body by body, with the reactions of the constraints",
            _joint_reactions,
            applies=lambda spec: spec.constrained is not None,
            by_graph=True,
        ),
    ),
    inverts_mass=True,
)
def joint_reactions(r: Request) -> JointReactions:
    """The forces and torques that joints give to their children."""
    return _joint_reactions(r)


@quantity((Q, V), ("positions",), ("rows",), record=Residuals, **ROWS)
def constraint_residuals(r: Request) -> Residuals:
    """The residuals of the constraints in positions and in velocities."""
    return Residuals(*r.constrained.residuals(r.x.tree, r.x.t, r.x.q, r.x.v))


@quantity((Q, V), ("rows",), **ROWS)
def constraint_rates(r: Request) -> Vec:
    """The residuals of the constraints in velocities."""
    return r.constrained.residuals(r.x.tree, r.x.t, r.x.q, r.x.v)[1]


@quantity((Q, V), ("rows", "nv"), ("rows",), record=ConditionRows, **ROWS)
def constraint_rows(r: Request) -> ConditionRows:
    """The rows A v̇ = b of the constraints."""
    found = r.constrained.rows(r.x)
    return ConditionRows(found.A, found.b)


@quantity((Q,), ("rows",), **ROWS)
def constraint_pivots(r: Request) -> Vec:
    """What the rows of the constraints have left after elimination; 0 for dependent ones."""
    return r.constrained.pivots(r.x)


@quantity((Q, V), COORDINATES, VELOCITIES, record=Projected, **ROWS)
def project(r: Request) -> Projected:
    """The state nearest in the mass metric at which the constraints hold."""
    return Projected(*r.constrained.projected(r.x.tree, r.x.t, r.x.q, r.x.v))


# kinematics

FRAMES = "the frames of the tree"


@quantity((Q,), VECTOR, QUATERNION, by=FRAMES, record=Pose, of_body=True)
def pose(r: Request) -> Pose:
    """The position and the quaternion of a body."""
    x, i = r.x, r.x.tree.of_body[r.body]
    return Pose(kinematics.frames(x.tree, x.q)[i].o, kinematics.orientations(x.tree, x.q)[i])


@quantity((Q, V), VECTOR, VECTOR, by=FRAMES, record=Velocity, of_body=True)
def velocity(r: Request) -> Velocity:
    """The linear and the angular velocity of a body."""
    x = r.x
    frames = kinematics.frames(x.tree, x.q)
    return Velocity(*kinematics.velocities(x.tree, x.q, frames, x.v)[x.tree.of_body[r.body]])


@quantity((Q, V, VD), VECTOR, VECTOR, by=FRAMES, record=Velocity, of_body=True)
def acceleration(r: Request) -> Velocity:
    """The linear and the angular acceleration of a body."""
    x = r.x
    frames = kinematics.frames(x.tree, x.q)
    return Velocity(*kinematics.accelerations(x.tree, x.q, frames, x.v, x.vd)[x.tree.of_body[r.body]])


@quantity((Q, POINT), (6, "nv"), by=FRAMES, of_body=True)
def jacobian(r: Request) -> Vec:
    """The Jacobian of a point of a body, linear rows first."""
    return kinematics.jacobian(r.x.tree, r.x.q, r.x.tree.of_body[r.body], r.x.point)


@quantity((Q, V, POINT), (6, "nv"), by=FRAMES, of_body=True)
def jacobian_rate(r: Request) -> Vec:
    """The time derivative of the Jacobian of a point of a body."""
    return kinematics.jacobian_rate(r.x.tree, r.x.q, r.x.v, r.x.tree.of_body[r.body], r.x.point)


@quantity((Q, V), SCALAR, SCALAR, by=FRAMES, record=Energy)
def energy(r: Request) -> Energy:
    """The kinetic and the potential energy."""
    return of_bodies.energy(r.x.tree, r.x.q, r.x.v)


@quantity((Q, V), VECTOR, VECTOR, by=FRAMES, record=Momentum)
def momentum(r: Request) -> Momentum:
    """The linear momentum, and the angular momentum about the world's origin."""
    return of_bodies.momentum(r.x.tree, r.x.q, r.x.v)


@quantity((Q,), VECTOR, by=FRAMES)
def center_of_mass(r: Request) -> Vec:
    """The mass centre."""
    return of_bodies.center_of_mass(r.x.tree, r.x.q)


# the configuration manifold

JOINTS = "the coordinates of each joint"


@quantity((Q, V), COORDINATES, by=JOINTS)
def rate(r: Request) -> Vec:
    """The rates q̇ of the coordinates."""
    return kinematics.rate(r.x.tree, r.x.q, r.x.v)


@quantity((Q, V), COORDINATES, by=JOINTS)
def integrate(r: Request) -> Vec:
    """The configuration q ⊕ v."""
    return kinematics.integrate(r.x.tree, r.x.q, r.x.v)


@quantity((Q, Q1), VELOCITIES, by=JOINTS)
def difference(r: Request) -> Vec:
    """The change v of configuration with q ⊕ v = q1."""
    return kinematics.difference(r.x.tree, r.x.q, r.x.q1)
