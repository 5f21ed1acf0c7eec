"""The state a run starts from: the one given, else the model's own start, else zero; checked."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from polhode.errors import InputError, message
from polhode.model import Model, check_model
from polhode.model.layout import layout_text, numbers_by_name
from polhode.model.per_model_cache import once_each
from polhode.result.labels import quaternion_slices
from polhode.scalar import UNIT_TOLERANCE, without_rotations


def start_of(model: Model, q: Any, v: Any, where: str = "simulate") -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities at the start; errors name `where`.

    q  (nq,), numbers by joint (those left out at zero), or the name of a configuration, of a model that has some
    v  (nv,), or by joint
    """
    check_model(where, model)
    if q is None and v is None:
        usual = _usual_start(model, where)
        return usual[0].copy(), usual[1].copy()
    return _given_start(model, q, v, where)


@once_each
def _usual_start(model: Model, where: str) -> tuple[np.ndarray, np.ndarray]:
    """The start of a model, where no other is given."""
    return _given_start(model, None, None, where)


def _given_start(model: Model, q: Any, v: Any, where: str) -> tuple[np.ndarray, np.ndarray]:
    start = model.start
    if isinstance(q, str) and model.configurations:
        q = model.configuration(q)
    elif isinstance(q, Mapping):
        q = numbers_by_name(f"{where}, q", model, "q", q, one=True)
    elif q is None and start:
        q = start.q
    if isinstance(v, Mapping):
        v = numbers_by_name(f"{where}, v", model, "v", v, one=True)
    v = v if v is not None else start.v if start else None
    q = _vector(f"{where}, q", q, model.zero, lambda: layout_text(model, "q"))
    v = _vector(f"{where}, v", _with_own_states(model, v), model.at_rest, lambda: _order(model))
    _check_quaternions(where, model, q)
    return q, v


def _with_own_states(model: Model, v: Any) -> Any:
    """Velocities of the joints alone, with the values that own states of force elements start with."""
    if not model.own_states or np.shape(v) != (model.joint_velocities,):
        return v
    return [*v, *model.at_rest[model.joint_velocities :]]


def _order(model: Model) -> str:
    """What the numbers of v are, where they are more than velocities of joints."""
    if not model.own_states:
        return layout_text(model, "v")
    own = ", ".join(f"{owner}.{state}" for owner, state in model.own_states)
    return f"Give the velocities of the joints ({model.joint_velocities}), and after them, or not, own states: {own}."


def _vector(where: str, value: Any, default: Sequence[float], fix: Callable[[], str]) -> np.ndarray:
    """Checked numbers, as many as the default has; fix: the last sentence of a message."""
    if value is None:
        return np.array(default, dtype=float)
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(message(where, "a masked array", "values that are hidden", f"{len(default)} numbers"))
    try:
        plain = type(value) is np.ndarray and value.dtype == np.float64
        array = value.copy() if plain else np.array(without_rotations(value), dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(message(where, "not numbers", repr(value)[:60], f"({len(default)},)", fix())) from None
    if array.shape != (len(default),):
        raise InputError(message(where, "wrong shape", str(array.shape), f"({len(default)},)", fix()))
    if not np.isfinite(array).all():
        raise InputError(message(where, "not finite", repr(array.tolist())[:80], "finite numbers"))
    return array


def _check_quaternions(where: str, model: Model, q: np.ndarray) -> None:
    for name, place in _quaternions(model):
        size = math.hypot(*q[place].tolist())
        if abs(size - 1) > UNIT_TOLERANCE:
            where, fix = f"{where}, q of joint '{name}'", "Divide it by its length."
            raise InputError(message(where, "not a unit quaternion", f"length {size:.9g}", "length 1", fix))


@once_each
def _quaternions(model: Model) -> list[tuple[str, slice]]:
    """The joints with a quaternion, and where it lies in q."""
    names = [joint.name for joint in model.joints if joint.kind.has_quaternion]
    return list(zip(names, quaternion_slices(model), strict=True))
