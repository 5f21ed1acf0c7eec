"""Quantities of a state by name, or as functions on generic scalars: their values and how they change."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.analysis.equations_at_state import EquationsAtState
from polhode.errors import InputError, PolhodeError, UnknownNameError, did_you_mean, message, told
from polhode.model import Model
from polhode.result.labels import coordinate_names, dof_names, quaternion_slices
from polhode.scalar import Vec, a_list, jacobian, real_number, shown

NAMES = "a list of names"
"""What is expected where several names may be given."""

Observed = str | Callable[[Any, Any], Any]
"""A name ("v.steer", "q.steer", or a velocity's or coordinate's alone), or a function(q, v) on generic scalars."""


@dataclass(frozen=True)
class Observable:
    """One number of a state: a coordinate, a velocity, or a function of both."""

    name: str
    coordinate: int | None = None
    velocity: int | None = None
    function: Callable[[Any, Any], Any] | None = None

    def value(self, q: np.ndarray, v: np.ndarray) -> float:
        """Its value."""
        if self.function is not None:
            return float(self._asked(Vec(q.tolist()), Vec(v.tolist())))
        return float(v[self.velocity] if self.velocity is not None else q[self.coordinate])

    def _asked(self, q: Vec, v: Vec) -> Any:
        """The value of the user function."""
        assert self.function is not None
        try:
            found = self.function(q, v)
        except PolhodeError:
            raise
        except Exception as error:
            expected = "one number of (q, v)"
            raise InputError(message(f"function '{self.name}'", "failed", told(error), expected)) from error
        return _one(self, found)

    def put(self, model: Model, q: np.ndarray, v: np.ndarray, value: float) -> None:
        """Give a velocity, or a coordinate that stands alone, this value in the arrays of a state."""
        if self.velocity is not None:
            v[self.velocity] = value
        elif self.coordinate is not None:
            inside = any(part.start <= self.coordinate < part.stop for part in quaternion_slices(model))
            q[self.coordinate] = q[self.coordinate] if inside else value

    def slopes(self, equations: EquationsAtState, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Its derivatives along the tangent directions (n,) and along v (n,)."""
        none, nq = np.zeros(equations.n), len(q)
        if self.function is not None:
            call = lambda x: Vec([self._asked(Vec(x[:nq]), Vec(x[nq:]))])  # noqa: E731
            _, (row,) = jacobian(call, Vec([*q.tolist(), *v.tolist()]))
            return np.array(row[:nq], dtype=float) @ equations.tangents(q), np.array(row[nq:], dtype=float)
        if self.velocity is not None:
            return none, np.eye(equations.n)[self.velocity]
        return equations.tangents(q)[self.coordinate], none


def _one(known: Observable, value: Any) -> Any:
    """The one number that a function gives."""
    if isinstance(value, (tuple, list, np.ndarray)) and np.ndim(value):
        if len(value) != 1:
            raise InputError(message(f"function '{known.name}'", "not one number", f"{len(value)} numbers", "one"))
        value = value[0]
    if not hasattr(value, "__mul__") or isinstance(value, (str, bytes, tuple, list)):
        raise InputError(message(f"function '{known.name}'", "not one number", shown(value), "one number of (q, v)"))
    return value


def observable(where: str, model: Model, given: Observed) -> Observable:
    """The quantity that a name or a function means; of a joint with one axis its name alone means its velocity."""
    if callable(given):
        return Observable(getattr(given, "__name__", "function"), function=given)
    head, _, rest = str(given).partition(".")
    dofs, coordinates = dof_names(model), coordinate_names(model)
    if head == "v" and rest in dofs:
        return Observable(str(given), velocity=dofs.index(rest))
    if head == "q" and rest in coordinates:
        return Observable(str(given), coordinate=coordinates.index(rest))
    if not isinstance(given, str):
        raise unknown(where, given, [*dofs, *coordinates])
    if given in dofs:
        return Observable(str(given), velocity=dofs.index(str(given)))
    if given in coordinates:
        return Observable(str(given), coordinate=coordinates.index(str(given)))
    raise unknown(where, given, [*dofs, *coordinates, *(f"q.{name}" for name in coordinates)])


def unknown(where: str, given: Any, known: Sequence[str]) -> UnknownNameError:
    """The error about a name that is not known."""
    known = [*dict.fromkeys(known)]
    shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return UnknownNameError(message(where, "no such name", repr(given), shown, did_you_mean(given, known, most=3)))


def dof_indices(where: str, model: Model, names: Sequence[str] | str | None) -> list[int]:
    """Which velocities names mean: all for None, all of a joint for its name."""
    dofs = dof_names(model)
    if names is None:
        return [*range(len(dofs))]
    found: list[int] = []
    for name in [names] if isinstance(names, str) else a_list(where, names, NAMES):
        own = [i for i, dof in enumerate(dofs) if dof == str(name) or dof.startswith(f"{name}.")]
        if not own:
            raise unknown(where, name, [*dofs, *(joint.name for joint in model.joints)])
        found += [i for i in own if i not in found]
    return found


def wanted(
    where: str, model: Model, constant: Sequence[Observed] | Mapping[str, float] | str, q: np.ndarray, v: np.ndarray
) -> list[tuple[Observable, float]]:
    """Quantities with the values they are to have: given ones, or those of the state."""
    if isinstance(constant, Mapping):
        pairs = [(observable(where, model, name), value) for name, value in constant.items()]
        for known, value in pairs:
            if isinstance(value, (str, bool)) or not np.isscalar(value) or not np.isfinite(value):
                raise InputError(message(f"{where}, '{known.name}'", "not a number", repr(value), "a finite number"))
        return [(known, float(value)) for known, value in pairs]
    several = [constant] if isinstance(constant, str) or callable(constant) else a_list(where, constant, NAMES)
    chosen = [observable(where, model, given) for given in several]
    return [(known, known.value(q, v)) for known in chosen]


def forces(where: str, model: Model, tau: Any) -> np.ndarray:
    """Constant forces (n,): given by velocity, by the names of joints or velocities, or none."""
    found = np.zeros(model.nv)
    if tau is None:
        return found
    if isinstance(tau, Mapping):
        for name, value in tau.items():
            found[dof_indices(f"{where}, tau", model, name)] = real_number(
                f"{where}, tau of {shown(name)}", value, "a force"
            )
    else:
        try:
            array = np.array(tau, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise InputError(message(f"{where}, tau", "not numbers", repr(tau)[:60], f"({model.nv},)")) from None
        if array.shape != (model.nv,):
            raise InputError(message(f"{where}, tau", "wrong shape", str(array.shape), f"({model.nv},)"))
        found = array
    if not np.all(np.isfinite(found)):
        raise InputError(message(f"{where}, tau", "not finite", repr(found.tolist())[:80], "finite numbers"))
    return found
