"""Linear buckling: the factor at which growing loads take the stability of a machine with beams, and the shape.

    (K₀ + μ K_σ) x = 0,   K_σ = Σ σᵢ X(Dᵢ) + stiffness of the loads themselves            FLEXIBLE §4

K₀ is the stiffness at rest without the loads, σ what beams and constraints bear of them there: to first order in the
loads, on the machine as it stands without them. Both are symmetric on the directions that the constraints leave free.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from polhode.analysis.equations_at_state import EquationsAtState
from polhode.analysis.names import unknown
from polhode.analysis.steady import equilibrium
from polhode.constrain.constraint_policy import TOLERANCE
from polhode.dynamics import kinematics
from polhode.errors import InputError, message
from polhode.linalg.rank import null_space
from polhode.model import Model, check_model, plain
from polhode.model.forces.base import ForceElement
from polhode.scalar import Dual, Vec, shown

GRAVITY = "gravity"
"""The name of the weight of all bodies among the loads."""

SHAPES = 6
"""The most shapes that are returned."""

SHARED = 1e-3
"""The part of a load that springs and others beside the beams may bear: about the error of the factor."""

SINGULAR = 1e-13
"""Stiffness, relative to the largest, that counts as none: some hundred roundings."""

SYMMETRIC = 1e-5
"""What may be left of K − Kᵀ, relative to K: far above rounding; loads that have no potential leave all of it."""

NEVER = 1e-9
"""1/μ, relative to the largest of either sign, that counts as 0: rounding of stretching against bending."""


@dataclass(frozen=True, eq=False)
class Buckling:
    """Factors at which loads make a machine buckle, and its shapes then.

    factor   the loads times this take its stability; infinite where they never do
    shape    (nv,)     how it buckles, along the velocities; the largest part is 1
    factors  (k,)      those of the first shapes, from the smallest; k is 6 at most, 0 where it never buckles
    shapes   (k, nv)
    q        (nq,)     the state without the loads
    """

    factor: float
    shape: np.ndarray
    factors: np.ndarray
    shapes: np.ndarray
    q: np.ndarray


def buckling(model: Model, load: str | Sequence[str] | None = None, q: Any = None) -> Buckling:
    """The factor by which loads have to grow for a machine with beams to lose its stability, and how it gives way.

    Linear: to first order in the loads. Other loads act as they are; with them a rest is found first.

    load  names of the forces that grow, "gravity" among them if it does; unless given all: gravity, each `ph.Force`,
          and distributed loads of beams. Functions of time have their values at 0
    q     where to look for the rest without the loads; the model's start unless given

        >>> section = ph.Section(axial=1e6, torsion=1, bending_y=1, bending_z=2, mass=1, inertia_y=1e-4, inertia_z=1e-4)
        >>> column = ph.Beam("c", section, start=("world", (0, 0, 0)), end=(0, 0, 1), up=(1, 0, 0), elements=2)
        >>> tip = ph.Force("tip", "c-2", force=(0, 0, -1))
        >>> model = ph.Model("column", gravity=(0, 0, 0), beams=[column], forces=[tip])
        >>> print(f"{ph.buckling(model, load='tip').factor:.3f}")  # π²/4 EI/L² = 2.467
        2.469
    """
    check_model("buckling", model)
    parts = LoadParts(model, load)
    rest = equilibrium(parts.base, q).q
    K, stress, free = _stiffness(parts, rest)
    inverse, vectors = _growing(model, free.T @ K @ free, free.T @ stress @ free)
    shapes = (free @ vectors).T[:SHAPES]
    shapes = np.array([x / x[int(np.argmax(abs(x)))] for x in shapes]).reshape(-1, model.nv)
    factors = 1 / inverse[:SHAPES]
    if not len(factors):
        return Buckling(np.inf, np.zeros(model.nv), factors, shapes, rest)
    return Buckling(float(factors[0]), shapes[0], factors, shapes, rest)


class LoadParts:
    """A model without the loads that grow, and the models whose differences are the loads and the beams alone."""

    def __init__(self, model: Model, load: str | Sequence[str] | None) -> None:
        if model.own_states:
            found = ", ".join(dict.fromkeys(f"'{element}'" for element, _ in model.own_states))
            where = f"buckling, model '{model.name}'"
            raise InputError(message(where, "forces with own states", found, "forces of positions", "Leave them out."))
        names = _load_names(model, load)
        none, chosen = (0.0, 0.0, 0.0), [force for force in model.forces if force.name in names]
        gravity = none if GRAVITY in names else model.gravity
        others = [f for f in model.forces if not f.has_strains and f.name not in names]
        spread = load is None
        self.beams = [f for f in model.forces if f.has_strains]
        bent = [beam.unloaded() if spread else beam for beam in self.beams]
        self.base = self._with(model, [*others, *bent], gravity)
        self.others = self._with(model, others, gravity)
        along = [own for beam in self.beams if (own := beam.load_alone())] if spread else []
        self.loaded = self._with(model, [*others, *chosen, *along], model.gravity)

    @staticmethod
    def _with(model: Model, forces: Sequence[ForceElement], gravity: Any) -> Model:
        return replace(model, forces=tuple(forces), gravity=gravity)

    def stressed(self, prestrains: np.ndarray) -> Model:
        """The others, and the beams with these strains (m, 6) at which they bear nothing."""
        pairs = zip(self.beams, prestrains.tolist(), strict=True)
        bent = [beam.unloaded(x) for beam, x in pairs]
        return self._with(self.others, [*self.others.forces, *bent], self.others.gravity)


def _load_names(model: Model, load: str | Sequence[str] | None) -> list[str]:
    """The names of the forces that grow."""
    known = [force.name for force in model.forces if not force.has_strains]
    if load is None:
        return [GRAVITY, *(force.name for force in model.forces if force.is_load)]
    if not isinstance(load, (str, list, tuple)) or not len(load):
        expected = "the name of a force, or a list of them"
        raise InputError(message("buckling, load", "not a name", shown(load), expected))
    names = [load] if isinstance(load, str) else list(load)
    for name in names:
        if name not in (*known, GRAVITY):
            raise unknown("buckling, load", name, [*known, GRAVITY])
    return names


def _stiffness(parts: LoadParts, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """K₀ and K_σ at a rest, (n, n) each, and the directions (n, m) that constraints leave free."""
    base, others, loaded = (EquationsAtState(model) for model in (parts.base, parts.others, parts.loaded))
    rest, none = np.zeros(base.n), np.zeros(base.k)
    now = base.at(q, rest, rest)
    free = null_space(now.A, TOLERANCE) if base.k else np.eye(base.n)
    strains, _ = _strains(base, q, rest)
    beside, elastic = _slopes(others, q, none), _slopes(EquationsAtState(parts.stressed(strains)), q, none)
    pushes = np.subtract(*(x.residuals(q, rest, rest, none, 0.0).force for x in (others, loaded)))
    u, lam = _borne(parts.base, elastic - beside, beside, now.A, free, pushes)
    _, stretched = _strains(base, q, u)
    lengths = np.array([float(plain(beam.strain_size)) for beam in parts.beams])
    largest = float(np.max(abs(stretched) / lengths[:, None], initial=0.0))
    size = 1 / largest if largest > 0 else 1.0  # K is a parabola in σ: a large one, against rounding
    tense, slack = (
        _slopes(EquationsAtState(parts.stressed(strains - by * stretched)), q, by * lam) for by in (size, -size)
    )
    return _slopes(base, q, now.lam), (tense - slack) / (2 * size) + _slopes(loaded, q, none) - beside, free


def _slopes(equations: EquationsAtState, q: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """−X f of all forces at rest, (n, n)."""
    rest = np.zeros(equations.n)
    return equations.slopes(q, rest, rest, lam, 0.0).force[:, : equations.n]


def _strains(equations: EquationsAtState, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Strains of all beam elements at q, and their derivative along a direction u, (m, 6) each."""
    along = Vec(map(Dual, q, (equations.tangents(q) @ u)[:, None]))
    state = kinematics.machine_state(equations.tree, 0.0, along, Vec([0.0] * equations.n))
    found = [x for beam in equations.tree.forces if beam.has_strains for x in beam.strains(state)]
    pairs = [(float(x.value), float(x.slope[0])) if isinstance(x, Dual) else (float(x), 0.0) for x in found]
    values, slopes = np.array(pairs).reshape(-1, 6, 2).transpose(2, 0, 1)
    return values, slopes


def _borne(
    model: Model, elastic: np.ndarray, beside: np.ndarray, A: np.ndarray, free: np.ndarray, pushes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The small displacement by which beams bear forces (n,), and the multipliers: K u − Aᵀλ = f, A u = 0."""
    f = free.T @ pushes
    x = np.linalg.lstsq(free.T @ elastic @ free, f, rcond=1e-15)[0]
    u, size = free @ x, float(np.max(abs(f), initial=0.0))
    where = f"buckling, model '{model.name}'"
    left = float(np.max(abs(free.T @ elastic @ u - f), initial=0.0))
    aside = float(np.max(abs(free.T @ beside @ u), initial=0.0))
    if size > 1e-12 * float(np.max(abs(pushes), initial=0.0)) and max(left, aside) > SHARED * size:
        found = f"{max(left, aside) / size:.2g} of it is borne by other forces, or by none"
        fix = "Replace springs by beams, or find where `ph.equilibrium(…, stability=True)` of growing loads turns."
        raise InputError(message(where, "beams do not bear the load", found, "a load that beams and joints bear", fix))
    lam = np.linalg.lstsq(A.T, elastic @ u - pushes, rcond=None)[0] if len(A) else np.zeros(0)
    return u, lam


def _growing(model: Model, H: np.ndarray, stress: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """1/μ > 0, the largest first, and the shapes (m, k) on the free directions."""
    where = f"buckling, model '{model.name}'"
    uneven = float(np.max(abs(stress - stress.T), initial=0.0)) / max(float(np.max(abs(stress), initial=0.0)), 1e-300)
    if uneven > SYMMETRIC:
        fix = "Loads that turn with bodies, and most couples, may make it flutter: see `ph.linearize`."
        found = f"{uneven:.2g} of its stiffness is not symmetric"
        raise InputError(message(where, "the load has no potential", found, "dead loads", fix))
    H = (H + H.T) / 2
    values = np.linalg.eigvalsh(H)
    if not (len(values) and values[0] > SINGULAR * abs(values).max()):
        lowest = f"a stiffness {values[0] if len(values) else 0.0:.3g} N/m or N m"
        fix = "Hold what moves freely, by joints or clamps; other loads must leave it stable."
        raise InputError(message(where, "not stable without the load", lowest, "stiffness in all directions", fix))
    L = cholesky(H, lower=True)
    reduced = solve_triangular(L, solve_triangular(L, -(stress + stress.T) / 2, lower=True).T, lower=True)
    inverse, vectors = eigh((reduced + reduced.T) / 2)
    kept = inverse > NEVER * max(float(np.max(abs(inverse))), 1e-300)
    return inverse[kept][::-1], solve_triangular(L.T, vectors[:, kept][:, ::-1], lower=False)
