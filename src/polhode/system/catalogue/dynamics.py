"""Quantities of dynamics: mass matrix, bias, inverse and forward dynamics, their derivatives."""

from polhode.constrain.absolute_coordinates import AbsoluteCoordinates
from polhode.constrain.constraint_policy import ENGINES
from polhode.dynamics import body_points, covariant, mass_inverse, with_forces
from polhode.dynamics.coupled_inertia import is_coupled
from polhode.dynamics.normal_forces import loaded_joints
from polhode.linalg.triangular import positive_inverse
from polhode.scalar import Vec
from polhode.system.algorithms import (
    FACTORED,
    by_duals,
    by_recursion,
    christoffel_in_loops,
    forward_slopes,
    forward_slopes_by_recursion,
    inverse_slopes,
    inverse_slopes_by_recursion,
    second_slopes,
    slopes_by_graph,
    symbols_in_loops,
    twice_by_recursion,
)
from polhode.system.catalogue.record import POINT, SQUARE, TAU, VD, VELOCITIES, Q, V, quantity
from polhode.system.quantity import Algorithm, Request, SystemSpec
from polhode.system.records import (
    ForwardDerivatives,
    ForwardSecondDerivatives,
    InverseDerivatives,
    InverseSecondDerivatives,
)


@quantity((Q,), SQUARE, by="composite bodies; Zoric (97)–(100), BEYOND §1", regroups=True)
def mass_matrix(r: Request) -> Vec:
    """The metric tensor M."""
    return with_forces.mass_matrix(r.x)


def _christoffel(r: Request) -> Vec:
    return covariant.christoffel(r.x.tree, r.x.q)


@quantity(
    (Q,),
    ("nv", "nv", "nv"),
    by="one vector for each pair of unit motions; Zoric (110), (129), BEYOND §§1–2",
    applies=lambda spec: not symbols_in_loops(spec),
    regroups=True,
    also=(
        Algorithm(
            "one vector for each pair of unit motions, in loops; Zoric (110), (129), BEYOND §§1–2",
            christoffel_in_loops,
            applies=symbols_in_loops,
            regroups=True,
            on_numbers=_christoffel,
        ),
    ),
)
def christoffel(r: Request) -> Vec:
    """The Christoffel symbols Γ."""
    return _christoffel(r)


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


def _is_joined(spec: SystemSpec) -> bool:
    """Whether there are no articulated bodies: force elements couple bodies, or elements share velocities."""
    return spec.tree.shares or is_coupled(spec.tree)


def _is_tree(spec: SystemSpec) -> bool:
    """Whether accelerations are those of a tree in its own coordinates."""
    return spec.policy is None and not _is_joined(spec)


def _is_small_tree(spec: SystemSpec) -> bool:
    return _is_tree(spec) and spec.model.nv <= FACTORED and not loaded_joints(spec.tree)


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
        Algorithm(
            "sparse factors M = LᵀDL of bodies and of what couples them, and Newton–Euler",
            lambda r: with_forces.forward_dynamics(r.x),
            applies=lambda spec: spec.policy is None and _is_joined(spec),
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
            "differentiating the residuals of inverse dynamics and of the conditions; BEYOND §9",
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


CUBE = ("nv", "nv", "nv")


@quantity(
    (Q, V, VD),
    *(CUBE,) * 4,
    by="differentiating the graph of inverse dynamics twice along the frame fields; BEYOND §3",
    record=InverseSecondDerivatives,
    applies=lambda spec: not twice_by_recursion(spec),
    regroups=True,
    by_graph=True,
    also=(
        Algorithm(
            "differentiating the derivatives by composite bodies, in loops over the joints; Singh (2022)",
            second_slopes(inverse_slopes_by_recursion),
            applies=twice_by_recursion,
            regroups=True,
            by_graph=True,
        ),
    ),
)
def inverse_dynamics_second_derivatives(r: Request) -> tuple[Vec, ...]:
    """The derivatives of those of τ along the tangent directions of q, and by v."""
    return second_slopes(inverse_slopes)(r)


@quantity(
    (Q, V, TAU),
    *(CUBE,) * 4,
    by="differentiating −M⁻¹ times the derivatives of inverse dynamics along the frame fields; BEYOND §3",
    record=ForwardSecondDerivatives,
    applies=lambda spec: spec.constrained is None and not twice_by_recursion(spec),
    regroups=True,
    by_graph=True,
    also=(
        Algorithm(
            "differentiating the derivatives by articulated bodies, in loops over the joints; Singh (2022)",
            second_slopes(forward_slopes_by_recursion),
            applies=lambda spec: spec.constrained is None and twice_by_recursion(spec),
            regroups=True,
            by_graph=True,
        ),
        Algorithm(
            "differentiating the graph of accelerations under constraints twice along the frame fields; BEYOND §9",
            second_slopes(slopes_by_graph(lambda r: r.constrained.forward(r.x), "v", "tau")),
            applies=lambda spec: spec.constrained is not None,
            by_graph=True,
        ),
    ),
    inverts_mass=True,
)
def forward_dynamics_second_derivatives(r: Request) -> tuple[Vec, ...]:
    """The derivatives of those of v̇ along the tangent directions of q, and by v."""
    return second_slopes(lambda r: forward_slopes(r, written_out=True))(r)


@quantity(
    (Q,),
    SQUARE,
    by="composite bodies, M = LᵀDL; Featherstone (2008) 8.1",
    applies=lambda spec: not by_recursion(spec),
    regroups=True,
    also=(
        Algorithm(
            "articulated bodies, row by row, in loops over the joints; CarpentierInverse",
            lambda r: mass_inverse.inverse_by_recursion(r.x),
            applies=by_recursion,
            regroups=True,
        ),
    ),
    inverts_mass=True,
)
def inverse_mass_matrix(r: Request) -> Vec:
    """The inverse of the metric tensor M."""
    return mass_inverse.inverse(r.x)


@quantity(
    (Q, TAU),
    VELOCITIES,
    by="articulated bodies; Featherstone (2008) 7.3",
    regroups=True,
    also=(
        Algorithm(
            "composite bodies, M = LᵀDL; Featherstone (2008) 8.1",
            lambda r: mass_inverse.solved_by_factors(r.x),
            applies=lambda spec: spec.model.nv <= FACTORED and not is_coupled(spec.tree),
            regroups=True,
        ),
    ),
    inverts_mass=True,
)
def solve_mass_matrix(r: Request) -> Vec:
    """The vector x of M x = τ."""
    return mass_inverse.solved(r.x)


HALVES = "composite bodies, M = LᵀDL, and the Jacobian of the point; Featherstone (2008) 8.1"


def _mobility(r: Request) -> Vec:
    J = body_points.jacobian(r.x.tree, r.x.q, r.place, r.subject.axes)
    return mass_inverse.moved_by(r.x.tree, r.x.q, J)


@quantity((Q, POINT), (6, 6), by=HALVES, of_body=True, choices=("axes",), inverts_mass=True)
def mobility(r: Request) -> Vec:
    """The accelerations of a point of a body per force and couple there, at rest."""
    return _mobility(r)


@quantity((Q, POINT), (6, 6), by=HALVES, of_body=True, choices=("axes",), inverts_mass=True)
def operational_space_inertia(r: Request) -> Vec:
    """The force and couple at a point of a body per acceleration of it, at rest."""
    return positive_inverse(_mobility(r))
