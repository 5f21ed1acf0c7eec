"""Base parameters: the combinations of inertial parameters that motions and torques can tell apart.

    Y π = Y_b β,   β = B π

found from the regressor at random states: a parameter whose column depends on those before it is grouped with them.
                                                                                                    Gautier (1991)
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polhode.constrain.constraint_policy import DEFAULT_POLICY
from polhode.dynamics.regressors import PARAMETERS
from polhode.errors import InputError, message
from polhode.model import Model, check_model, make_tree
from polhode.model.configurations import random_configuration
from polhode.scalar import real_number
from polhode.system.shared import shared_system
from polhode.system.system import System

TOLERANCE = 1e-8
"""The part of a column, relative to its length, that must be left when those before it are taken off, so that its
parameter counts as independent. Rounding leaves some 1e-14, real machines 1e-3 and more."""

DIGITS = 6
"""Digits of the coefficients in names."""

STATES_PER_PARAMETER = 3
"""Rows of the regressor at random states, per column: twice as many as are needed would do."""

FIRST = (4, 6, 9, 5, 7, 8, 1, 2, 3, 0)
"""The parameters of a body in the order in which they are tried: moments of inertia stay, masses join them."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The base parameters of a model.

    names    (b,)               as in "arm.I_zz + 0.25 hand.m": the first is the parameter whose column is kept
    matrix   (b, 10 bodies)     B: base parameters β = B π of the inertial parameters
    columns  (b,)               places in π of the columns that are kept: Y π = Y[:, columns] β
    values   (b,)               β of the model's own parameters
    total    how many inertial parameters the bodies that move have
    gap      the least part of a column that was left and counted, and the largest that did not: far apart where the
             rank is certain
    """

    names: tuple[str, ...]
    matrix: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    total: int
    gap: tuple[float, float]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.columns)

    def __repr__(self) -> str:
        return f"<BaseParameters: {len(self)} of {self.total}>"

    @cached_property
    def expressions(self) -> str:
        """All of them as text, one a line, with their values."""
        return "\n".join(f"{value: .6e}  {name}" for name, value in zip(self.names, self.values, strict=True))


def base_parameters(model: Model, tolerance: float = TOLERANCE, seed: int = 0) -> BaseParameters:
    """The base parameters of a model: what its motions and torques tell of its masses and inertias.

    tolerance  part of a column that must be left for its parameter to count as independent
    seed       of the random states at which the regressor is taken

    Parameters are those of `System.torque_regressor`. Bodies nearer to the world are tried first, so that what cannot
    be told apart is grouped with them.

        >>> import polhode as ph
        >>> ph.base_parameters(ph.load("double-pendulum")).names[2]
        'upper.I_yy + lower.m'
    """
    check_model("base_parameters", model)
    tolerance = real_number("base_parameters, tolerance", tolerance, "a number above 0, below 1", 0.0, 0.5)
    system = shared_system(model, DEFAULT_POLICY, quick=False)
    if not model.nv:
        raise InputError(message("base_parameters", "nothing moves", f"model '{model.name}'", "joints that move"))
    return grouped(system, _stacked(system, seed), tolerance)


def _stacked(system: System, seed: int) -> np.ndarray:
    """The regressor at random states, one below the other."""
    n, nv = len(system.inertial_parameter_names), system.nv
    count, rng = max(STATES_PER_PARAMETER * n // nv, 1) + 2, np.random.default_rng(seed)
    q = random_configuration(system.model, count, rng)
    return system.torque_regressor(q, *rng.standard_normal((2, count, nv))).reshape(-1, n)


def grouped(system: System, Y: np.ndarray, tolerance: float) -> BaseParameters:
    """The base parameters that some rows of the regressor can tell."""
    tree, bodies = make_tree(system.model), system.model.bodies
    outward = sorted(range(len(bodies)), key=lambda k: tree.of_body[bodies[k].name])
    order = [10 * k + p for k in outward for p in FIRST]
    R = np.asarray(np.linalg.qr(Y, mode="r"))
    sizes = np.linalg.norm(R, axis=0)
    large = sizes > tolerance * np.max(sizes, initial=0.0)
    basis, kept, left = np.zeros((len(R), 0)), list[int](), np.zeros(len(sizes))
    for k in order:
        if not large[k]:
            continue
        column = R[:, k] / sizes[k]
        for _ in range(2):  # twice is enough
            column = column - basis @ (basis.T @ column)
        left[k] = np.linalg.norm(column)
        if left[k] > tolerance:
            basis, kept = np.column_stack([basis, column / left[k]]), [*kept, k]
    columns = np.array(sorted(kept), dtype=int)
    matrix = np.zeros((len(columns), Y.shape[1]))
    others = np.flatnonzero(large & ~np.isin(np.arange(len(sizes)), columns))
    scaled = R[:, columns] / sizes[columns]
    found = np.linalg.lstsq(scaled, R[:, others] / sizes[others], rcond=None)[0]
    found[abs(found) < tolerance] = 0.0
    matrix[:, others] = found * sizes[others] / sizes[columns, None]
    matrix[np.arange(len(columns)), columns] = 1.0
    dropped = left[others]
    gap = float(np.min(left[columns], initial=1.0)), float(np.max(dropped, initial=0.0))
    moving = sum(bool(np.any(large[10 * k : 10 * k + 10])) for k in range(len(bodies)))
    names = tuple(_name(row, k, system.inertial_parameter_names) for row, k in zip(matrix, columns, strict=True))
    values = matrix @ system.inertial_parameters
    return BaseParameters(names, matrix, columns, values, len(PARAMETERS) * moving, gap)


def _name(row: np.ndarray, first: int, names: list[str]) -> str:
    """A combination in words."""
    text = names[first]
    for k in np.flatnonzero(row):
        if k != first:
            size = f"{abs(row[k]):.{DIGITS}g}"
            text += f" {'-' if row[k] < 0 else '+'} {'' if size == '1' else size + ' '}{names[k]}"
    return text
