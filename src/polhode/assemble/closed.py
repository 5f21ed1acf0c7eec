"""Machines under constraints: the fundamental equation of constrained motion as the engine.

    minimise (v̇ − a₀)ᵀ M (v̇ − a₀)  subject to  A v̇ = b                     Udwadia (12), (45)

Conditions of any rank: dependent rows are found, relative to the natural size of each row, and left out.
The same minimum, on positions and on velocities, brings a state back to where the conditions hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from polhode.assemble.calls import Arguments
from polhode.dynamics import constraints, forces, inertia, inverse, kinematics
from polhode.dynamics.constraints import Condition
from polhode.errors import CompileError, message
from polhode.kernel.nearest import Nearest, nearest
from polhode.model import JOINTS, WORLD, Constraint, Model, Tree, make_tree
from polhode.model.tree import GROUND
from polhode.scalar import Scalar, Vec

TOLERANCE = 1e-10
"""What is left of a row, relative to its size, below which it counts as dependent on the others."""

CORRECTIONS = 2
"""Steps of the projection of positions: each squares the violation."""

SAMPLES = 4
"""Configurations at which the natural sizes of rows are measured."""

ENDS = {"body_a", "body_b", "position_a", "position_b", "orientation_a", "orientation_b"}
KEYS: dict[str, tuple[set[str], set[str]]] = {
    **{kind: ({"body_b"}, ENDS) for kind in constraints.LOOPS},
    "screw": ({"body_b", "pitch"}, ENDS),
    "distance": ({"body_b", "length"}, ENDS),
    "point-on-line": ({"body_b"}, ENDS),
    "point-on-plane": ({"body_b"}, ENDS),
    "rolling-disk": ({"body_b", "radius"}, ENDS | {"rim"}),
    "rolling-sphere": ({"body_b", "radius"}, ENDS),
    "knife-edge": ({"body_b"}, ENDS),
    "mimic": ({"joint", "source"}, {"multiplier", "offset"}),
    "gear": ({"joint", "source"}, {"multiplier", "offset"}),
    "prescribed": ({"joint", "value"}, set()),
    "function": ({"function", "rows"}, {"holonomic"}),
}
"""What the data of each type must and may hold."""


class Reactions(NamedTuple):
    """What constraints do: multipliers λ (..., k) by row, their force Aᵀλ (..., nv), rank, dependent rows (..., k)."""

    multipliers: Any
    generalized: Any
    rank: Any
    dependent: Any


class Residuals(NamedTuple):
    """What constraints miss: φ (..., k) of positions, r (..., k) of all rates."""

    positions: Any
    rates: Any


class Projected(NamedTuple):
    """A state brought back to where the constraints hold."""

    q: Any
    v: Any


@dataclass(frozen=True)
class Closed:
    """The conditions of a model, and the natural sizes of their rows."""

    conditions: tuple[Condition, ...]
    sizes: tuple[float, ...]
    """Of the rows of rates: those of positions first, as `dynamics.constraints` orders them."""

    @property
    def names(self) -> list[str]:
        """The rows by name, as in "loop.x"."""
        ordered = sorted(self.conditions, key=lambda c: not c.holonomic)
        return [f"{c.name}.{row}" for c in ordered for row in c.rows]

    @property
    def holonomic(self) -> int:
        """How many rows are of positions."""
        return sum(len(c.rows) for c in self.conditions if c.holonomic)

    def accelerate(self, x: Arguments) -> Nearest:
        """v̇ of the arguments of a call, with multipliers and rank."""
        acting = forces.acting(x.tree, x.t, x.q, x.v, x.wrench)
        rest = Vec([0.0] * x.tree.nv)
        bias = inverse.inverse_dynamics(x.tree, x.q, x.v, rest, wrenches=acting.wrenches) - acting.generalized
        rows = constraints.rows(x.tree, list(self.conditions), x.t, x.q, x.v)
        return nearest(inertia.mass_matrix(x.tree, x.q), x.tau - bias, rows.A, rows.b, self.sizes, TOLERANCE)

    def forward(self, x: Arguments) -> Vec:
        """v̇ alone."""
        return self.accelerate(x).a

    def reactions(self, x: Arguments) -> Reactions:
        """Multipliers and the force they make."""
        found = self.accelerate(x)
        A = constraints.rows(x.tree, list(self.conditions), x.t, x.q, x.v).A
        return Reactions(found.multipliers, found.multipliers @ A, found.rank, found.dependent)

    def residuals(self, tree: Tree, t: Scalar, q: Vec, v: Vec) -> tuple[Vec, Vec]:
        """φ of the positions and r of all rates."""
        found = list(self.conditions)
        return constraints.positions(tree, found, t, q), constraints.speeds(tree, found, t, q, v)

    def projected(self, tree: Tree, t: Scalar, q: Vec, v: Vec, corrections: int = CORRECTIONS) -> tuple[Vec, Vec]:
        """The state brought back, by the least change in the metric of the mass matrix.           BEYOND §7

        δ = −M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺φ,  q ← q ⊕ δ;   v ← v − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺r
        """
        found, nothing = list(self.conditions), Vec([0.0 * q[0]] * tree.nv)
        held = self.holonomic
        for _ in range(corrections if held else 0):
            rows = constraints.rows(tree, found, t, q, nothing)
            M = inertia.mass_matrix(tree, q)
            change = nearest(M, nothing, Vec(rows.A[:held]), -rows.phi, self.sizes[:held], TOLERANCE)
            q = kinematics.integrate(tree, q, change.a)
        rows = constraints.rows(tree, found, t, q, v)
        change = nearest(inertia.mass_matrix(tree, q), nothing, rows.A, -rows.r, self.sizes, TOLERANCE)
        return q, v + change.a


def closed(model: Model) -> Closed | None:
    """The conditions of a model; None if it has none."""
    if not model.constraints:
        return None
    for constraint in model.constraints:
        _check(model, constraint)
    tree = make_tree(model)
    found = tuple(c for constraint in model.constraints for c in constraints.conditions(constraint))
    return Closed(found, _sizes(model, tree, found))


def _check(model: Model, constraint: Constraint) -> None:
    """Refuse a constraint whose type or data is not known."""
    where = f"constraint '{constraint.name}'"
    if constraint.type not in KEYS:
        near = get_close_matches(constraint.type, KEYS, 1, 0.5)
        fix = f"Did you mean '{near[0]}'?" if near else ""
        raise CompileError(message(where, "no such type", repr(constraint.type), ", ".join(KEYS), fix))
    must, may = KEYS[constraint.type]
    for key in sorted(must - constraint.data.keys()):
        raise CompileError(message(where, f"'{key}' is missing", ", ".join(constraint.data) or "nothing", f"'{key}'"))
    for key in sorted(constraint.data.keys() - must - may):
        raise CompileError(message(where, "no such entry", repr(key), ", ".join(sorted(must | may))))
    for key in ("body_a", "body_b"):
        if key in constraint.data and constraint.data[key] != WORLD:
            model.body(constraint.data[key])
    for key in ("joint", "source"):
        if key in constraint.data and model.joint(constraint.data[key]).nv != 1:
            raise CompileError(message(where, "not a joint of one axis", repr(constraint.data[key]), "one coordinate"))


class _Reach(NamedTuple):
    """How far a unit of force or couple on a body moves it: ‖Jv K⁻ᵀ‖, ‖Jw K⁻ᵀ‖."""

    length: float
    turn: float


def _sizes(model: Model, tree: Tree, found: tuple[Condition, ...]) -> tuple[float, ...]:
    """The natural size of every row, measured at a few configurations.                               BEYOND §5"""
    by_name = {constraint.name: constraint for constraint in model.constraints}
    ordered = sorted(found, key=lambda c: not c.holonomic)
    zero = Vec([x for joint in model.joints for x in JOINTS[joint.type].zero])
    rng = np.random.default_rng(0)
    sums = np.zeros(sum(len(c.rows) for c in ordered))
    for _ in range(SAMPLES):
        q = kinematics.integrate(tree, zero, Vec(rng.normal(size=tree.nv).tolist()))
        inverse_mass = np.linalg.pinv(np.array(inertia.mass_matrix(tree, q)), hermitian=True)
        reach = [_reach(tree, by_name[c.name].data, q, inverse_mass) for c in ordered]
        sums += [getattr(r, scale) for c, r in zip(ordered, reach, strict=True) for scale in c.scales]
    typical = sums / SAMPLES
    return tuple(float(x) if x > 0 else 1.0 for x in typical)


def _reach(tree: Tree, data: Mapping[str, Any], q: Vec, inverse_mass: np.ndarray) -> _Reach:
    if "joint" in data:
        names = [data[key] for key in ("joint", "source") if key in data]
        dofs = [next(e.v[0] for e in tree.elements if e.joint == name and e.v) for name in names]
        both = sum(float(np.sqrt(inverse_mass[a, a])) for a in dofs)
        return _Reach(both, both)
    if "function" in data:
        whole = float(np.sqrt(np.max(np.diag(inverse_mass))))
        return _Reach(whole, whole)
    length = turn = 0.0
    for side in ("a", "b"):
        body = tree.of_body[data.get(f"body_{side}", WORLD)]
        if body == GROUND:
            continue
        point = Vec(data.get(f"position_{side}", (0.0, 0.0, 0.0)))
        J = np.array(kinematics.jacobian(tree, q, body, point))
        G = J @ inverse_mass @ J.T
        length, turn = length + float(np.sqrt(np.trace(G[:3, :3]))), turn + float(np.sqrt(np.trace(G[3:, 3:])))
    return _Reach(length, turn)
