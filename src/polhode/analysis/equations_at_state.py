"""The equations of one model at a state, with v̇ and λ given: their residuals, and the derivatives of these by q and v.

    M v̇ + bias − Aᵀλ − τ = 0,   A v̇ = b,   φ = 0,   r = 0,      r = A v (+ ∂φ/∂t)

Differentiated with v̇ and λ frozen, so that no pseudo-inverse is ever differentiated.                  BEYOND §9
"""

from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np

from polhode.constrain.constraint_policy import TOLERANCE
from polhode.dynamics import constraints, inertia, kinematics
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.normal_forces import loaded_joints
from polhode.dynamics.with_forces import needed
from polhode.errors import InputError, ModelError, message
from polhode.kernel import replay, trace
from polhode.linalg.rank import RankedRows, metric_factor
from polhode.model import Model, make_tree
from polhode.model.forces.refused import refuse_state_inertia
from polhode.scalar import Dual, Scalar, Vec
from polhode.system.constrained_model import constrained_dynamics

KEPT = 16
"""The most models whose equations are cached."""

SETTLED = 1e-13
"""The residual of the constraints, in their natural sizes, at which projection ends."""

SLIPS = 1e-9
"""The part of the mass matrix by which friction may depend on the acceleration, by rounding."""

ROUNDS = 30
"""The most projections onto the constraints."""


class EquationResiduals(NamedTuple):
    """Residuals of forces, of accelerations along the rows, φ, r; and the rows A; scalars or arrays."""

    force: Any
    along: Any
    phi: Any
    r: Any
    A: Any


class Instant(NamedTuple):
    """A state with all that acts, in arrays.

    M, A       (n, n), (k, n)
    phi, r     (h,), (k,)      constraint violation; the rates of φ come first in r and A
    vd, lam    (n,), (k,)      the constrained acceleration and multipliers
    """

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    t: float
    M: np.ndarray
    A: np.ndarray
    phi: np.ndarray
    r: np.ndarray
    vd: np.ndarray
    lam: np.ndarray


class Slopes(NamedTuple):
    """Derivatives along the tangent directions of q, then along v: each (rows, 2n); v̇ and λ are held."""

    force: np.ndarray
    along: np.ndarray
    phi: np.ndarray
    r: np.ndarray


class EquationsAtState:
    """The equations of one model, for any state."""

    def __init__(self, model: Model) -> None:
        refuse_state_inertia("linear equations, steady motions", model.forces, "Leave them out.")
        self.model, self.tree, self._constrained = model, make_tree(model), constrained_dynamics(model)
        self.n, self.k = model.nv, len(self._constrained.names) if self._constrained else 0
        self.held = self._constrained.holonomic if self._constrained else 0
        """Rows of positions: the first ones."""
        self.sizes = np.array(self._constrained.sizes if self._constrained else (), dtype=float)
        self.names = self._constrained.names if self._constrained else []
        self.symmetries: dict[bytes, list] = {}
        """What `symmetry.py` found, by the forces that act."""
        shapes = {"q": (model.nq,), "v": (self.n,), "vd": (self.n,), "lam": (self.k,), "t": ()}
        # conditions differentiate themselves
        self._graph = trace(self._residuals, **shapes) if self._constrained else None

    def _residuals(self, q: Vec, v: Vec, vd: Vec, lam: Vec, t: Scalar) -> EquationResiduals:
        force = needed(Arguments(self.tree, q, v, t=t), vd)
        if self._constrained is None:
            return EquationResiduals(force, Vec(), Vec(), Vec(), Vec())
        rows = constraints.rows(self.tree, list(self._constrained.conditions), t, q, v)
        return EquationResiduals(force - lam @ rows.A, rows.A @ vd - rows.b, rows.phi, rows.r, rows.A)

    def residuals(self, q: np.ndarray, v: np.ndarray, vd: np.ndarray, lam: np.ndarray, t: float) -> EquationResiduals:
        """The residuals without τ, as arrays."""
        found = self._evaluated(t, *(Vec(x) for x in (q, v, vd, lam)))
        force, along, phi, r, A = (np.array(part, dtype=float) for part in found)
        return EquationResiduals(force, along, phi, r, A.reshape(self.k, self.n))

    def _evaluated(self, t: float, q: Vec, v: Vec, vd: Vec, lam: Vec) -> EquationResiduals:
        given: dict[str, Any] = {"q": q, "v": v, "vd": vd, "lam": lam, "t": float(t)}
        with np.errstate(all="ignore"):
            return replay(self._graph, **given) if self._graph else self._residuals(**given)

    def slopes(self, q: np.ndarray, v: np.ndarray, vd: np.ndarray, lam: np.ndarray, t: float) -> Slopes:
        """The derivatives of the residuals by q and v."""
        n = self.n
        along_q = np.hstack([self.tangents(q), np.zeros((len(q), n))])
        along_v = np.hstack([np.zeros((n, n)), np.eye(n)])
        duals = Vec(map(Dual, q, along_q)), Vec(map(Dual, v, along_v))  # numbers of NumPy: 0/0 is NaN
        found = self._evaluated(t, *duals, Vec(vd), Vec(lam))
        return Slopes(*(np.array([_slope(x, 2 * n) for x in part]).reshape(-1, 2 * n) for part in found[:4]))

    def tangents(self, q: np.ndarray) -> np.ndarray:
        """(nq, n)  q̇ of the unit velocities."""
        units = [Vec(unit) for unit in np.eye(self.n).tolist()]
        columns = [kinematics.rate(self.tree, Vec(q.tolist()), unit) for unit in units]
        return np.array(columns, dtype=float).reshape(self.n, len(q)).T

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """(n, n)"""
        return np.array(inertia.mass_matrix(self.tree, Vec(q.tolist())), dtype=float).reshape(self.n, self.n)

    def rows(self, M: np.ndarray, A: np.ndarray, phi: np.ndarray, chosen: slice = slice(None)) -> RankedRows:
        """Some of the rows in the metric of M, or of M + AᵀD⁻²A of all rows where M is singular; φ: the violation."""
        tolerance = float(self._constrained.tolerance(Vec(phi))) if self._constrained else TOLERANCE
        try:
            K, weighted = self._metric(M, A)
            return RankedRows(A[chosen], K, self.sizes[chosen], tolerance, weighted)
        except np.linalg.LinAlgError:
            where, fix = f"model '{self.model.name}'", "Give its bodies mass and inertia, or its joints armature."
            found = "a direction that nothing resists" if np.all(np.isfinite(M)) else "numbers that are not finite"
            raise ModelError(message(where, "the mass matrix is singular", found, "inertia", fix)) from None

    def _metric(self, M: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, bool]:
        """K of the metric, and whether the rows are part of it."""
        try:
            return metric_factor(M), False
        except np.linalg.LinAlgError:
            return metric_factor(M, A, self.sizes), True

    def at(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t: float = 0.0) -> Instant:
        """Everything at a state: accelerations and multipliers too."""
        rest, none = np.zeros(self.n), np.zeros(self.k)
        M, found = self.mass_matrix(q), self.residuals(q, v, rest, none, t)
        vd, lam = self.rows(M, found.A, found.phi).constrained(tau - found.force, -found.along)
        return Instant(q, v, tau, t, M, found.A, found.phi, found.r, vd, lam)

    def check_slip(self, where: str, q: np.ndarray, v: np.ndarray, t: float) -> None:
        """Refuse a state at which friction by normal forces acts: it depends on v̇, of which M alone does here."""
        if not (joints := loaded_joints(self.tree)):
            return
        M, none = self.mass_matrix(q), np.zeros(self.k)
        first, *others = (self.residuals(q, v, vd, none, t).force for vd in (np.zeros(self.n), *np.eye(self.n)))
        if np.max(abs(np.array([force - first for force in others]).T - M)) > SLIPS * np.max(abs(M)):
            what, found = "friction by normal forces acts", ", ".join(f"joint '{joint}'" for joint in joints)
            fix = "Take coulomb=… in place of coefficient=…; or System.forward_dynamics_derivatives."
            raise InputError(message(where, what, found, "joints at rest against what rubs on them", fix))

    def ad(self, v: np.ndarray) -> np.ndarray:
        """ad_v[d, b] = Σ_a c[a, b, d] v[a]: ω̃ for each quaternion, else 0.                          BEYOND §2"""
        found = np.zeros((self.n, self.n))
        for e in self.tree.elements:
            if e.kind.quaternion:
                found[np.ix_(e.v, e.v)] = skew(v[list(e.v)])
        return found

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """q ⊕ step."""
        return np.array(kinematics.integrate(self.tree, Vec(q.tolist()), Vec(step.tolist())), dtype=float)

    def settled(self, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> tuple[np.ndarray, np.ndarray, float]:
        """The state projected onto the constraints, and the violation that is left.                 BEYOND §7"""
        rest, none, left = np.zeros(self.n), np.zeros(self.k), 0.0
        for _ in range(ROUNDS if self.k else 0):
            M, found = self.mass_matrix(q), self.residuals(q, v, rest, none, t)
            left = float(np.max(abs(np.append(found.phi, found.r)) / np.append(self.sizes[: self.held], self.sizes)))
            if not left > SETTLED:
                break
            step, _ = self.rows(M, found.A, found.phi, slice(self.held)).constrained(rest, -found.phi)
            change, _ = self.rows(M, found.A, found.phi).constrained(rest, -found.r)
            q, v = self.moved(q, step), v + change
        return q, v, left


_balances: "OrderedDict[int, EquationsAtState]" = OrderedDict()


def equations_at_state(model: Model) -> EquationsAtState:
    """The equations of a model: kept, since tracing conditions takes longer than evaluating them."""
    found = _balances.pop(id(model), None)  # the model is held by its equations: its id stays its own
    found = found if found is not None else EquationsAtState(model)
    _balances[id(model)] = found
    while len(_balances) > KEPT:
        _balances.popitem(last=False)
    return found


def skew(x: np.ndarray) -> np.ndarray:
    """x̃: x̃ y = x × y."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _slope(x: Any, directions: int) -> np.ndarray:
    return np.broadcast_to(x.slope, (directions,)) if isinstance(x, Dual) else np.zeros(directions)
