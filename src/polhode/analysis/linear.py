"""Small motions about a state: linear equations, reduced to the perturbations that the constraints admit.

    δ̇ = δv − [v, δ],   δv̇ = F_q δ + F_v δv + F_τ δτ:    S = [−ad_v, I; F_q, F_v]                     BEYOND §9
    X φ δ = 0,   D δ + A δv = 0,   D[:, b] = X_b(A v):    (δ, δv) = W x
    ẋ = A x + B δτ,   S W = W A

During a steady motion whose axes turn, all is seen in axes that turn along: S + blockdiag(G, G).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr

from polhode.analysis import names, symmetry
from polhode.analysis.equations_at_state import EquationsAtState, equations_at_state
from polhode.analysis.modes import HEAD, Mode, modes_of, rows_of, table_of
from polhode.analysis.names import Observed
from polhode.analysis.solve import INDEPENDENT
from polhode.analysis.spectrum import EPSILON, Spectrum, spectrum
from polhode.check.diagnosis import CONSISTENT
from polhode.check.given_start import start_of
from polhode.errors import InputError, ModelError, message
from polhode.linalg.rank import column_spaces, null_space
from polhode.model import Model, check_model
from polhode.model.notebook import table as html_table
from polhode.result.labels import dof_names
from polhode.scalar import a_list

STEADY = 1e-8
"""What may be left of v̇ + G v in a steady motion, relative to the accelerations per radian, metre and their rates."""

INVARIANT = 1e-7
"""How far ignorable directions may leave their span, relative to the size of A."""


class SecondOrder(NamedTuple):
    """M q̈ + C q̇ + K q = f in some coordinates; each matrix (k, k)."""

    M: np.ndarray
    C: np.ndarray
    K: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Linear:
    """Linear equations of small motions: ẋ = A x + B u, y = C x.

    A         (n, n)
    B         (n, m)       u: forces of the inputs, less those that act
    C         (p, n)
    W         (2nv, n)     all perturbations (δ, δv) from the states: W[rows of the states] = I
    S         (2nv, 2nv)   the equations before the constraints, in axes that turn with the motion
    states    (n,)         "q.steer": δ along the velocity of this name; "v.steer": δv
    inputs    (m,)         names of velocities
    outputs   (p,)
    all_names (2nv,)       the rows of W and S
    drift     (nv,)        v̇ + G v: 0 where the motion is steady
    is_steady              whether it is
    ignorable (n, u)       states that symmetries of the machine reach: positions that do not matter
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    W: np.ndarray
    S: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    all_names: tuple[str, ...]
    drift: np.ndarray
    is_steady: bool
    ignorable: np.ndarray
    model: str = field(default="")

    @cached_property
    def _split(self) -> tuple[np.ndarray, np.ndarray]:
        """Orthonormal bases (n, u) of the ignorable directions and (n, n − u) of what is across them."""
        if not self.ignorable.size:
            return np.zeros((len(self.A), 0)), np.eye(len(self.A))
        return column_spaces(self.ignorable, INDEPENDENT)

    @cached_property
    def essential(self) -> np.ndarray:
        """A without the ignorable directions: what is left of the motion when positions that do not matter are dropped.

        (n − u, n − u); its eigenvalues are those of A but for the zeros (in Jordan blocks) of those positions.
        """
        _, P = self._split
        return P.T @ self.A @ P

    @cached_property
    def spectrum(self) -> Spectrum:
        """The eigenvalues without those of ignorable positions, with bounds of their errors."""
        _, P = self._split
        rows = [self.all_names.index(name) for name in self.states]
        return spectrum(self.essential, self._error() * (abs(P.T) @ (abs(self.S) @ abs(self.W))[rows] @ abs(P)))

    def _error(self) -> float:
        """What A is off by, relative to the terms of its sums: rounding, and what three equations for it miss.

        S W = W A;  A U stays in the span of U;  v̇ + G v = 0 in a steady motion
        """
        U, P = self._split
        found = EPSILON + _relative(abs(self.S @ self.W - self.W @ self.A), abs(self.S) @ abs(self.W))
        found += _relative(abs(P.T @ self.A @ U), abs(self.A))
        if self.is_steady:
            found += float(np.max(abs(self.drift), initial=0.0)) / (1.0 + float(np.max(abs(self.S), initial=0.0)))
        return found

    def eigenvalues(self, all: bool = False) -> np.ndarray:
        """Eigenvalues, 1/s, those with the largest real part first; with `all` those of ignorable positions too.

        Both are found apart from each other, so that zeros of positions do not spoil the others.
        """
        U, _ = self._split
        found = self.spectrum.values
        if all:
            found = np.append(found, np.linalg.eigvals(U.T @ self.A @ U))
        return np.array(sorted(found, key=lambda x: (-x.real, x.imag)), dtype=complex)

    def modes(self) -> list[Mode]:
        """The modes, those of ignorable positions left out, those that grow fastest first."""
        found = self.spectrum
        vectors = zip(found.values, found.vectors.T, found.is_zero, strict=True)
        shapes = [self.shape(None if is_zero else value, y) for value, y, is_zero in vectors]
        columns = np.array(shapes, dtype=complex).reshape(-1, len(self.all_names)).T
        return modes_of(found, columns, self.all_names, self._main)

    def shape(self, value: complex | None, y: np.ndarray) -> np.ndarray:
        """All perturbations (2nv,) of an eigenvalue of `essential` and its vector y; value: None for 0.

        Positions that do not matter go along: (λ − A_UU) z = A_UP y
        """
        U, P = self._split
        x = P @ y
        if U.size and value is not None:
            own, across = U.T @ self.A @ U, U.T @ self.A @ P
            x = x + U @ np.linalg.lstsq(value * np.eye(len(own)) - own, across @ y, rcond=None)[0]
        return self.W @ x

    @cached_property
    def _main(self) -> list[str]:
        """The coordinates that matter."""
        parts = np.linalg.norm(self.W @ self._split[1], axis=1)
        half = len(self.all_names) // 2
        return [name for name, x in zip(self.all_names[:half], parts, strict=False) if x > 1e-9]

    @property
    def stability(self) -> str:
        """stable: everything dies out, up to a steady motion nearby; unstable: something grows; marginal: neither.

        Each beyond doubt: real parts are compared with the bounds of their errors.
        """
        return self.spectrum.stability

    def part(self, coordinates: Sequence[str]) -> "Linear":
        """The equations of some coordinates and their velocities alone, where no others enter.

        coordinates  names of velocities, as "steer"
        """
        chosen = [f"{kind}.{name}" for kind in "qv" for name in coordinates]
        for name in chosen:
            if name not in self.all_names:
                raise names.unknown("part", name[2:], [x[2:] for x in self.all_names[: len(self.all_names) // 2]])
        Y = self.W[[self.all_names.index(name) for name in chosen]]
        back = np.linalg.pinv(Y)
        A = Y @ self.A @ back
        left = float(np.max(abs(Y @ self.A - A @ Y), initial=0.0))
        if left > 1e-8 * max(1.0, float(np.max(abs(Y @ self.A), initial=0.0))):
            what, fix = "others enter their equations", "Name those too; `states` lists them all."
            raise InputError(message(f"part, {', '.join(coordinates)}", what, f"{left:.3g}", "0", fix))
        none = np.zeros((len(chosen), 0))
        kept = tuple(chosen)
        return Linear(
            A, Y @ self.B, np.zeros((0, len(kept))), np.eye(len(kept)), A, kept, self.inputs, (), kept,
            self.drift, self.is_steady, none, self.model,
        )  # fmt: skip

    def second_order(self, coordinates: Sequence[str]) -> SecondOrder:
        """M, C, K of M q̈ + C q̇ + K q = f in some coordinates, where no others enter and δ̇ = δv.

        coordinates  names of velocities, which must be inputs too: their forces tell M
        """
        for name in coordinates:
            if name not in self.inputs:
                raise names.unknown("second_order, inputs", name, self.inputs)
        small, k = self.part(coordinates), len(coordinates)
        forces = small.B[k:, [self.inputs.index(name) for name in coordinates]]
        M = np.linalg.inv(forces)
        turning = small.A[:k] - np.hstack([np.zeros((k, k)), np.eye(k)])
        if np.max(abs(turning), initial=0.0) > 1e-9 * max(1.0, float(np.max(abs(small.A)))):
            fix = "Axes turn during the motion: use A and B."
            raise InputError(
                message("second_order", "velocities are not rates of coordinates", "δ̇ ≠ δv", "δ̇ = δv", fix)
            )
        return SecondOrder(M, -M @ small.A[k:, k:], -M @ small.A[k:, :k])

    def table(self) -> str:
        """The modes as text."""
        head = [f"{self.model}: {len(self.A)} states, {self.stability}"]
        dropped = len(self.A) - len(self.essential)
        what = "a position that does not matter" if dropped == 1 else "positions that do not matter"
        head[0] += f"; {dropped} of them {'is' if dropped == 1 else 'are'} {what}, left out" if dropped else ""
        if not self.is_steady:
            head.append(f"Not a steady motion: accelerations up to {np.max(abs(self.drift)):.3g} are left.")
        return "\n".join([*head, table_of(self.modes(), self._main)])

    __str__ = table

    def __repr__(self) -> str:
        sizes = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"<Linear of '{self.model}': {sizes}, {'steady' if self.is_steady else 'not a steady motion'}>"

    def _repr_html_(self) -> str:
        head, *_ = self.table().splitlines()
        rows = rows_of(self.modes(), self._main)
        return f"<p>{escape(head)}</p>{html_table('modes', HEAD, rows)}"


def linearize(
    model: Model,
    q: Any = None,
    v: Any = None,
    *,
    tau: Any = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[Observed] | None = None,
    generator: Any = None,
    t: float = 0.0,
) -> Linear:
    """The linear equations of small motions about a state, constraints included.

    q, v       the state; the model's start unless given
    tau        (nv,) constant forces that act, or by the names of joints or velocities
    inputs     velocities, or joints, whose forces are inputs; all unless given
    outputs    velocities and coordinates by name, or functions(q, v) on generic scalars; "q.steer", "v.steer" may also
               name what the states are named after. All of (δ, δv) unless given
    generator  (nv, nv) G of a steady motion whose axes turn (`Steady.generator`); found unless given
    """
    where = "linearize"
    check_model(where, model)
    if not model.nv:
        raise ModelError(message(f"{where}, model '{model.name}'", "nothing moves", "no velocities", "a joint"))
    equations, (q, v) = equations_at_state(model), start_of(model, q, v, where)
    tau, chosen = names.forces(where, model, tau), names.dof_indices(f"{where}, inputs", model, inputs)
    _check_consistent(where, equations, q, v, t)
    q, v, _ = equations.settled(q, v, t)
    equations.check_slip(where, q, v, t)
    found = symmetry.symmetries(equations, q, v, tau)
    G = _generator(where, equations, found, q, v, generator)
    F, F_q, F_v, F_tau = symmetry.accelerations(equations, q, v, tau, t)
    n, dofs = equations.n, dof_names(model)
    S = np.block([[G - equations.ad(v), np.eye(n)], [F_q, F_v + G]])
    own = list(equations.tree.own_places)
    S[own] = 0.0  # own states have no coordinates
    W, rows = admissible(equations, q, v, t)
    W, rows = W[:, [i not in own for i in rows]], [i for i in rows if i not in own]
    every = tuple(f"{kind}.{name}" for kind in "qv" for name in dofs)
    A, B = (S @ W)[rows], np.vstack([np.zeros((n, len(chosen))), F_tau[:, chosen]])[rows]
    C, told = _outputs(where, equations, q, v, outputs, every)
    drift = F + G @ v
    size = 1.0 + float(np.max(abs(F_q))) + float(np.max(abs(F_v) @ abs(v)))
    is_steady = bool(np.max(abs(drift)) <= STEADY * size)
    found = [one for one in found if one.axis is None or not np.any(one.axis[own])]
    ignorable = _ignorable(equations, found, q, v, A, W, rows) if is_steady else np.zeros((len(A), 0))
    return Linear(
        A, B, C @ W, W, S, tuple(every[i] for i in rows), tuple(dofs[i] for i in chosen), told, every,
        drift, is_steady, ignorable, model.name,
    )  # fmt: skip


def admissible(
    equations: EquationsAtState, q: np.ndarray, v: np.ndarray, t: float = 0.0
) -> tuple[np.ndarray, list[int]]:
    """W (2nv, n) of all perturbations that the constraints admit, and the rows of it that are the states themselves.

        X φ δ = 0:  δ = N₁ x₁;      D δ + A δv = 0:  δv = −A⁺ D N₁ x₁ + N₂ x₂

    States are the perturbations on which all others depend least.
    """
    n = equations.n
    if not equations.k:
        return np.eye(2 * n), [*range(2 * n)]
    M, rest, none = equations.mass_matrix(q), np.zeros(n), np.zeros(equations.k)
    slopes = equations.slopes(q, v, rest, none, t)
    D, A = slopes.r[:, :n], slopes.r[:, n:]
    phi = equations.residuals(q, v, rest, none, t).phi
    positions, velocities = equations.rows(M, A, phi, slice(equations.held)), equations.rows(M, A, phi)
    scale = np.sqrt(np.maximum(np.diag(M), 1e-12 * np.max(np.diag(M))))
    N1, first = _independent(positions.basis, scale)
    N2, second = _independent(velocities.basis, scale)
    across, _ = velocities.constrained(np.zeros((n, N1.shape[1])), -D @ N1)
    across = across - N2 @ across[second]
    W = np.block([[N1, np.zeros((n, N2.shape[1]))], [across, N2]])
    return W, [*first, *(n + i for i in second)]


def _independent(basis: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The same space with as many of its components as columns, and which these are, in order."""
    count = basis.shape[1]
    if not count:
        return basis, []
    _, _, order = qr((scale[:, None] * basis).T, pivoting=True, mode="economic")
    rows = sorted(int(i) for i in order[:count])
    found = np.linalg.solve(basis[rows].T, basis.T).T
    found[abs(found) < 1e-14 * np.max(abs(found))] = 0.0
    found[rows] = np.eye(count)
    return found, rows


def _relative(left: np.ndarray, terms: np.ndarray) -> float:
    """The largest of what is left of sums, relative to the largest of their terms."""
    largest = float(np.max(terms, initial=0.0))
    return float(np.max(left, initial=0.0)) / largest if largest else 0.0


def _check_consistent(where: str, equations: EquationsAtState, q: np.ndarray, v: np.ndarray, t: float) -> None:
    """Refuse a state that violates a constraint, by name."""
    found = equations.residuals(q, v, np.zeros(equations.n), np.zeros(equations.k), t)
    residuals = np.append(found.phi, found.r)
    if residuals.size and not np.max(abs(residuals)) <= CONSISTENT:
        worst = int(np.argmax(np.where(np.isfinite(residuals), abs(residuals), np.inf)))
        is_rate = equations.held <= worst < 2 * equations.held
        name = equations.names[worst - equations.held if worst >= equations.held else worst]
        shown = f"residual {residuals[worst]:.6g}{' of its rate' if is_rate else ''}"
        fix = "Move the state: ph.consistent_start(model, q, v), ph.steady_motion(model, …)."
        place, expected = f"{where}, constraint '{name}'", f"0, up to {CONSISTENT:g}"
        raise InputError(message(place, "violated", shown, expected, fix))


def _generator(
    where: str, equations: EquationsAtState, found: list, q: np.ndarray, v: np.ndarray, given: Any
) -> np.ndarray:
    """G of the steady motion: the one given, or that of the symmetries it runs along; 0 where it runs along none."""
    n = equations.n
    if given is None:
        along = symmetry.along(equations, found, q, v)
        is_along = np.max(abs(along.left), initial=0.0) <= symmetry.ALONG * max(1e-300, float(np.max(abs(v))))
        return along.generator if is_along else np.zeros((n, n))
    G = np.array(given, dtype=float)
    if G.shape != (n, n):
        raise InputError(message(f"{where}, generator", "wrong shape", str(G.shape), f"({n}, {n})"))
    return G


def _ignorable(
    equations: EquationsAtState,
    found: list,
    q: np.ndarray,
    v: np.ndarray,
    A: np.ndarray,
    W: np.ndarray,
    rows: list[int],
) -> np.ndarray:
    """States (n, u) reached by symmetries: δ = ζ, δv = −G v, as far as the constraints admit them."""
    moves = np.vstack(
        [symmetry.fields(equations, found, q), np.array([-s.generator @ v for s in found]).reshape(-1, equations.n).T]
    )
    x = moves[rows]
    apart = moves - W @ x  # what the constraints do not admit
    U = x @ null_space(apart, INDEPENDENT, max(1.0, float(np.max(abs(moves), initial=0.0))))
    if not U.size or not np.max(abs(U)):
        return np.zeros((len(A), 0))
    basis, _ = column_spaces(U, INDEPENDENT)
    leaves = A @ basis - basis @ (basis.T @ A @ basis)
    return basis if np.max(abs(leaves)) <= INVARIANT * max(1.0, float(np.max(abs(A)))) else np.zeros((len(A), 0))


def _outputs(
    where: str,
    equations: EquationsAtState,
    q: np.ndarray,
    v: np.ndarray,
    outputs: Sequence[Observed] | None,
    every: tuple,
) -> tuple[np.ndarray, tuple[str, ...]]:
    """C on (δ, δv), and the names of the outputs."""
    if outputs is None:
        return np.eye(2 * equations.n), every
    rows, told = [np.zeros((0, 2 * equations.n))], []
    if isinstance(outputs, str) or callable(outputs):
        outputs = [outputs]
    for given in a_list(f"{where}, outputs", outputs, names.NAMES):
        if isinstance(given, str) and given in every:
            rows.append(np.eye(2 * equations.n)[[every.index(given)]])
            told.append(str(given))
        else:
            known = names.observable(f"{where}, outputs", equations.model, given)
            rows.append(np.concatenate(known.slopes(equations, q, v))[None])
            told.append(known.name)
    return np.vstack(rows), tuple(told)
