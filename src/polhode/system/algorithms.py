"""A quantity as a graph: what compiled targets trace, one function of the arguments of a call.

Of several ways to the same result the one with fewest operations is taken; trees are regrouped where
nothing asks for their bodies one by one; derivatives come from the graph of inverse dynamics.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from polhode.constrain.constraint_policy import ENGINES
from polhode.dynamics import inertia, kinematics
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.loops import is_large
from polhode.formats.written import Written
from polhode.kernel import Graph, jacobian, replay, trace
from polhode.kernel.schedule import fused
from polhode.model import Model, make_tree, regrouped
from polhode.model.user_kinds import user_kinds
from polhode.scalar import Vec, identity
from polhode.system.calls import Call, arguments
from polhode.system.quantities import forward_by_factors, inverse_dynamics

Quantity = Callable[[Arguments], Any]

REDUCED = {"mass_matrix", "christoffel", "coriolis", "gravity", "bias", "inverse_dynamics", "forward_dynamics"}
"""The quantities that a regrouped tree may serve."""


ALGORITHMS = {
    "inverse_dynamics": "recursive Newton–Euler in link frames; Zoric (104), (109)",
    "bias": "recursive Newton–Euler in link frames at v̇ = 0; Zoric (109)",
    "gravity": "recursive Newton–Euler in link frames at rest; Zoric (109)",
    "forward_dynamics": "articulated bodies, bias by Newton–Euler; Featherstone (2008) 7.3, Zoric (109)",
    "mass_matrix": "composite bodies; Zoric (97)–(100), BEYOND §1",
    "christoffel": "one vector for each pair of unit motions; Zoric (110), (129), BEYOND §§1–2",
    "coriolis": "momenta of subtrees; BEYOND §2",
}
"""How the quantities are computed, and the equations they come from."""

FACTORED = 12
"""Velocities up to which factors of the mass matrix may take fewer operations than articulated bodies."""


class Graphs:
    """The graphs of one model."""

    def __init__(self, model: Model, way: str = "") -> None:
        self.model, self.tree, self.way = model, make_tree(model), way
        self.engine = ENGINES.get(way.partition(" ")[0], "")

    def graph(self, name: str, quantity: Quantity, call: Call) -> Graph:
        """The graph of a quantity for the arguments of a call; its last input is the time where no others follow."""
        ways = self._ways(name, quantity, call)
        graphs = [replace(trace(way, **call.shapes), notes=(f"by {how}",)) for how, way in ways.items()]
        return min(graphs, key=lambda graph: fused(graph).operations.total())

    def _ways(self, name: str, quantity: Quantity, call: Call) -> dict[str, Callable[..., Any]]:
        """Functions of the scalars of a call that all give the quantity, by what they do."""
        if name == "inverse_dynamics_derivatives":
            how = "differentiating the graph of inverse dynamics along the frame fields; BEYOND §3"
            return {how: lambda **scalars: self._slopes(call, scalars, ("step", "v", "vd"))}
        bound = bool(self.model.constraints)
        if name == "forward_dynamics_derivatives" and bound:
            how = "what inverse dynamics and conditions miss, BEYOND §9"
            return {f"{how}: {self.engine}": self._traced(quantity, False)}
        if name == "forward_dynamics_derivatives":
            how = "−M⁻¹ times the derivatives of inverse dynamics; BEYOND §3"
            return {how: lambda **scalars: self._forward_slopes(call, scalars)}
        by_bodies = (bound or self.way.startswith("absolute")) and name == "forward_dynamics"
        reduce = name in REDUCED and self._alone(call) and not by_bodies
        tree = " on the regrouped tree" if reduce else ""
        loops = ", in loops over the joints" if reduce and is_large(self.tree) else ""
        how = self.engine if by_bodies and self.engine else ALGORITHMS.get(name, "the frames of the tree")
        ways = {f"{how}{tree}{loops}": self._traced(quantity, reduce)}
        if name == "forward_dynamics" and self.model.nv <= FACTORED and not by_bodies:
            factors = f"composite bodies, M = LᵀDL and Newton–Euler{tree}; Featherstone (2008) 8.1, Zoric (109)"
            ways[factors] = self._traced(forward_by_factors, reduce)
        return ways

    def _forward_slopes(self, call: Call, scalars: dict[str, Any]) -> tuple[Vec, ...]:
        """∂v̇/∂q (tangent), ∂v̇/∂v, ∂v̇/∂τ.

        ∂v̇/∂x = −M⁻¹ ∂τ/∂x at the v̇ of the motion, ∂v̇/∂τ = M⁻¹
        """
        x = self._arguments(scalars, self._alone(call))
        scalars["vd"] = forward_by_factors(x)
        dq, dv = self._slopes(call, scalars, ("step", "v"))
        L, D = inertia.factor(x.tree, inertia.mass_matrix(x.tree, x.q))  # shared with v̇

        def solved(right: Vec) -> Vec:
            return Vec([inertia.solve_factored(x.tree, L, D, column) for column in right.T]).T

        return solved(-dq), solved(-dv), solved(identity(self.model.nv))

    def _slopes(self, call: Call, scalars: dict[str, Any], names: tuple[str, ...]) -> tuple[Vec, ...]:
        """Derivatives of inverse dynamics, from its graph: along "step" (the tangent directions of q), v, v̇."""
        n = self.model.nv

        def needed(step: Vec, **inner: Any) -> Vec:
            x = self._arguments(inner, self._alone(call))
            return inverse_dynamics(x._replace(q=x.q + kinematics.rate(x.tree, x.q, step)))

        shapes = {name: shape for name, shape in call.shapes.items() if name != "tau"} | {"vd": (n,)}
        graph = jacobian(trace(needed, step=(n,), **shapes), wrt=names)
        found = replay(graph, step=Vec([0.0] * n), **{name: scalars[name] for name in shapes})
        return tuple(found[f"d_result_d_{name}"] for name in names)

    def _traced(self, quantity: Quantity, reduce: bool) -> Callable[..., Any]:
        return lambda **scalars: quantity(self._arguments(scalars, reduce))

    def _arguments(self, scalars: dict[str, Any], reduce: bool) -> Arguments:
        """The arguments, with the tree regrouped where nothing asks for its bodies one by one."""
        x = arguments(self.model, self.tree, scalars)
        return x._replace(tree=regrouped(x.tree), rolled=is_large(x.tree)) if reduce else x

    def _alone(self, call: Call) -> bool:
        """Whether nothing acts on single bodies but gravity."""
        return not self.model.forces and not any(name.startswith("wrench.") for name in call.arrays)


def identity_text(model: Model, way: str = "") -> str:
    """The model as text that says everything about it; "" where it holds user functions or kinds, which no text tells.

    way  how its constraints are met, and at which tolerance
    """
    held = [*(x for force in model.forces for x in vars(force).values())]
    held += [x for constraint in model.constraints for x in constraint.data.values()]
    hidden = any(callable(x) and not isinstance(x, Written) for x in held) or user_kinds(model)
    return "" if hidden else f"{model!r}{way}"
