"""`ph.acceleration`: one body, any form, arrays in and arrays out."""

from typing import Any, NamedTuple

import numpy as np

from polhode import euler
from polhode.dynamics.single.forms import Form, Problem, forms
from polhode.dynamics.single.loads import Loads
from polhode.dynamics.single.terms import default_J0
from polhode.errors import InputError, message
from polhode.scalar import KINDS, UNIT_TOLERANCE, Array, batch_shape, checked, split, stack
from polhode.spatial import as_inertia


class _Results(NamedTuple):
    pddot: Any
    multiplier: Any
    predicted: Any


class Acceleration(_Results):
    """The acceleration of a body: (pddot, multiplier, predicted), and the form's `own` acceleration.

    pddot       (..., 4)  p̈
    multiplier  (...)     λ as solved; None for a form without one
    predicted   (...)     λ as theory gives it; None likewise
    own         (..., 3)  ω̇ of a state form, ü of the second-order angle form; else None
    """

    own: Any

    def __new__(cls, pddot: Any, multiplier: Any, predicted: Any, own: Any = None) -> "Acceleration":
        """Make the three results, with `own` beside them."""
        self = super().__new__(cls, pddot, multiplier, predicted)
        self.own = own
        return self


def acceleration(
    form: str | Form,
    p: Array,
    pdot: Array,
    inertia: Array,
    torque: Array | None = None,
    space_torque: Array | None = None,
    force: Array | None = None,
    point: Array | None = None,
    generalized: Array | None = None,
    J0: Array | None = None,
    unit: bool = True,
    sequence: str = "313",
    physical: bool = True,
) -> Acceleration:
    """Angular acceleration of one body as p̈, by one published form.

    form          a name of `ph.forms`, or a Form
    p, pdot       (..., 4)  attitude and rate, p·ṗ = 0
    inertia       (3,) principal moments or (..., 3, 3), about the mass centre, body axes, kg m²
    torque        (..., 3)  couple in body axes, N m
    space_torque  (..., 3)  couple in space axes, N m
    force, point  (..., 3)  force in space axes, N, and where it acts: body axes, from the mass centre, m
    generalized   (..., 4)  Udwadia's Γ_u, dual to ṗ
    J0            (...)     Udwadia's free inertia, > 0; tr(J)/3 unless given; other forms have none
    unit          False: evaluate off the unit sphere
    sequence      the angle sequence of the Euler-angle forms
    physical      False: accept any positive inertia matrix
    ->            Acceleration(pddot, multiplier, predicted), .own
    """
    chosen = form if isinstance(form, Form) else forms[form]
    arrays = _arrays(locals())
    depths = {name: array.ndim - len(_core(name)) for name, array in arrays.items()}
    batch = batch_shape("acceleration", {name: arrays[name].shape[:lead] for name, lead in depths.items()})
    if unit:
        _check_tangent(arrays["p"], arrays["pdot"])
    if chosen.solution in ("angles", "angle state"):
        euler.from_quaternion(sequence, arrays["p"], unit=unit)  # raises at gimbal lock
    x = {name: split(array, len(_core(name))) for name, array in arrays.items()}
    loads = Loads(*(x.get(name) for name in Loads._fields))
    J = x["inertia"]
    problem = Problem(x["p"], x["pdot"], J, loads, x.get("J0", default_J0(J)), sequence)
    answer = chosen.on_scalars(problem)
    results = (answer.pddot, answer.multiplier, chosen.predicted(problem), answer.own)
    return Acceleration(*(stack(result, batch) for result in results))


_KINDS = {
    "p": "unit quaternion",
    "pdot": "quaternion",
    "inertia": "matrix",
    "torque": "vector",
    "space_torque": "vector",
    "force": "vector",
    "point": "vector",
    "generalized": "quaternion",
    "J0": "scalar",
}


def _core(name: str) -> tuple[int, ...]:
    return KINDS[_KINDS[name]].shape


def _arrays(given: dict[str, Any]) -> dict[str, np.ndarray]:
    """Every given argument as a checked array."""
    arrays = {}
    for name, kind in _KINDS.items():
        if given[name] is None:
            continue
        where = f"acceleration, argument {name}"
        if name == "inertia":
            arrays[name] = as_inertia(where, given[name], given["physical"])
        elif name == "p" and not given["unit"]:
            arrays[name] = checked(where, given[name], "nonzero quaternion")
        else:
            arrays[name] = checked(where, given[name], kind)
    if ("force" in arrays) != ("point" in arrays):
        missing, there = ("point", "force") if "force" in arrays else ("force", "point")
        fix = "point=(0, 0, 0) is the mass centre." if missing == "point" else ""
        raise InputError(message("acceleration", "a force and its point go together", f"only {there}", missing, fix))
    if "J0" in arrays and np.any(arrays["J0"] <= 0):
        raise InputError(message("acceleration, argument J0", "not positive", f"{given['J0']}", "J0 > 0"))
    return arrays


def _check_tangent(p: np.ndarray, pdot: np.ndarray) -> None:
    """p·ṗ = 0 up to the tolerance of the border, or the rate is not that of a unit quaternion."""
    along = np.sum(p * pdot, axis=-1)
    size = np.maximum(np.sqrt(np.sum(pdot * pdot, axis=-1)), 1.0)
    bad = ~(abs(along) <= UNIT_TOLERANCE * size)
    if np.any(bad):
        value = np.asarray(along)[bad].flat[0] if np.ndim(along) else along
        fix = "Use quaternion.rate(p, omega) to make it, or pass unit=False to evaluate off the unit sphere."
        raise InputError(
            message("acceleration, argument pdot", "not tangent to the unit sphere", f"p·ṗ = {value:.6g}", "0", fix)
        )
