"""The border between arrays and generic scalars: `on_arrays` checks, splits, calls, stacks."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.scalar.arguments import flag, is_real, shown
from polhode.scalar.scipy_rotation import without_rotations
from polhode.scalar.vector import Vec

Array = Any
"""Anything NumPy makes an array of numbers from."""

UNIT_TOLERANCE = 1e-6
"""How far from 1 the norm of a unit quaternion may be at the border."""

LONGEST = 1e150
"""Length of a direction at most, and its inverse at least: the square is still a number of full precision."""


class Kind(NamedTuple):
    """What an argument must be: the shape of its last axes, and a check of its values."""

    shape: tuple[int, ...]
    check: Callable[[str, np.ndarray], None] | None = None


def _worst(bad: np.ndarray, values: np.ndarray) -> tuple[str, Any]:
    """Where the first bad entry of a batch is, in words, and its value."""
    index = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.ndim else ()
    return (f" at index {index}" if index else ""), values[index]


def _lengths_at_border(x: np.ndarray) -> np.ndarray:
    """Lengths of vectors, infinite where their squares are."""
    with np.errstate(over="ignore"):
        return np.sqrt(np.sum(x * x, axis=-1))


def _check_unit(where: str, p: np.ndarray) -> None:
    norm = _lengths_at_border(p)
    bad = ~(abs(norm - 1) <= UNIT_TOLERANCE)
    if np.any(bad):
        place, value = _worst(np.asarray(bad), np.asarray(norm))
        raise InputError(
            message(
                where,
                "not a unit quaternion",
                f"norm {value:.9g}{place}",
                f"1 within {UNIT_TOLERANCE:g}",
                "Normalise it (quaternion.normalise), or pass unit=False to evaluate off the unit sphere.",
            )
        )


def _check_nonzero(where: str, p: np.ndarray) -> None:
    bad = np.all(p == 0, axis=-1)
    if np.any(bad):
        place, _ = _worst(np.asarray(bad), np.asarray(bad))
        raise InputError(message(where, "is zero", f"only zeros{place}", "a nonzero one: zero has no direction"))
    size = np.max(abs(p), axis=-1)
    bad = ~((size > 1 / LONGEST) & (size < LONGEST))
    if np.any(bad):
        place, value = _worst(np.asarray(bad), np.asarray(size))
        what, expected = (
            f"too {'long' if value > 1 else 'short'} to compute with",
            f"a length of {1 / LONGEST:g} to {LONGEST:g}",
        )
        raise InputError(message(where, what, f"a component {value:.3g}{place}", expected))


def _check_unit_vector(where: str, x: np.ndarray) -> None:
    length = _lengths_at_border(x)
    bad = ~(abs(length - 1) <= UNIT_TOLERANCE)
    if np.any(bad):
        place, value = _worst(np.asarray(bad), np.asarray(length))
        expected, fix = f"1 within {UNIT_TOLERANCE:g}", "quaternion.from_two_vectors takes vectors of any length."
        raise InputError(message(where, "not a unit vector", f"length {value:.9g}{place}", expected, fix))


def _check_has_logarithm(where: str, p: np.ndarray) -> None:
    _check_unit(where, p)
    bad = np.all(p[..., 1:] == 0, axis=-1) & (p[..., 0] < 0)
    if np.any(bad):
        place, _ = _worst(np.asarray(bad), np.asarray(bad))
        fix = "Take quaternion.canonical of it: 1 is the same attitude; or quaternion.full_log, which chooses an axis."
        found = f"(-1, 0, 0, 0){place}"
        raise InputError(message(where, "a logarithm about every axis", found, "a quaternion other than −1", fix))


def _check_below_half_turn(where: str, p: np.ndarray) -> None:
    _check_unit(where, p)
    if np.any(p[..., 0] == 0):
        place, _ = _worst(np.asarray(p[..., 0] == 0), p[..., 0])
        fix = "Use modified Rodrigues parameters (quaternion.wxyz_to_mrp): they are finite there."
        raise InputError(message(where, "half a turn, where this form is infinite", f"e0 = 0{place}", "e0 ≠ 0", fix))


def _check_rotation(where: str, R: np.ndarray) -> None:
    defect = np.max(abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)), axis=(-1, -2))
    bad = ~(defect <= UNIT_TOLERANCE)
    if np.any(bad):
        place, value = _worst(np.asarray(bad), np.asarray(defect))
        raise InputError(
            message(
                where,
                "not a rotation matrix",
                f"a largest entry {value:.3g} of RᵀR − I{place}",
                f"at most {UNIT_TOLERANCE:g}",
            )
        )
    det = np.linalg.det(R)
    if np.any(det < 0):
        place, value = _worst(np.asarray(det < 0), np.asarray(det))
        raise InputError(
            message(
                where,
                "a reflection, not a rotation",
                f"determinant {value:.6g}{place}",
                "+1",
                "Are two axes exchanged, or one sign turned?",
            )
        )


def _check_transform(where: str, T: np.ndarray) -> None:
    _check_rotation(f"{where}, its rotation", T[..., :3, :3])
    bad = np.any(T[..., 3, :] != np.array([0.0, 0.0, 0.0, 1.0]), axis=-1)
    if np.any(bad):
        place, row = _worst(np.asarray(bad), T[..., 3, :])
        raise InputError(message(where, "not a homogeneous matrix", f"last row {row.tolist()}{place}", "0, 0, 0, 1"))


def _check_dual(where: str, x: np.ndarray) -> None:
    _check_unit(f"{where}, its real part", x[..., :4])
    product = np.sum(x[..., :4] * x[..., 4:], axis=-1)
    bad = ~(abs(product) <= UNIT_TOLERANCE * np.maximum(1.0, lengths(x[..., 4:])))
    if np.any(bad):
        place, value = _worst(np.asarray(bad), np.asarray(product))
        found = f"a product {value:.3g} of its two parts{place}"
        raise InputError(message(where, "not a unit dual quaternion", found, "0: they are orthogonal"))


KINDS = {
    "spatial vector": Kind((6,)),
    "spatial matrix": Kind((6, 6)),
    "transform": Kind((4, 4), _check_transform),
    "unit dual quaternion": Kind((8,), _check_dual),
    "scalar": Kind(()),
    "vector": Kind((3,)),
    "direction": Kind((3,), _check_nonzero),
    "unit vector": Kind((3,), _check_unit_vector),
    "matrix": Kind((3, 3)),
    "rotation": Kind((3, 3), _check_rotation),
    "quaternion": Kind((4,)),
    "nonzero quaternion": Kind((4,), _check_nonzero),
    "unit quaternion": Kind((4,), _check_unit),
    "unit quaternion but -1": Kind((4,), _check_has_logarithm),
    "unit quaternion below half a turn": Kind((4,), _check_below_half_turn),
}

OFF_SPHERE = ("unit quaternion", "unit quaternion but -1")
"""Kinds whose check the keyword `unit=False` leaves out."""


def as_array(where: str, value: Array, shape: tuple[int, ...], finite: bool = True) -> np.ndarray:
    """The value as an array of (finite) numbers whose last axes have this shape, or an InputError.

    SciPy's Rotation counts as its quaternion, scalar first, or where the shape is (3, 3) as its matrix.
    """
    value = without_rotations(value, shape)
    axes = ", ".join(["...", *map(str, shape)]) if shape else "..."
    if isinstance(value, np.ma.MaskedArray):
        fix = "Take value.filled(…), or value.data where nothing is masked."
        raise InputError(message(where, "a masked array", "values that are hidden", f"numbers of shape ({axes})", fix))
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):  # a ragged list
        array = np.asarray(None)
    if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8:
        array = array.astype(float)
    if array.dtype.kind == "O" and all(map(is_real, array.flat)):  # fractions, decimals, whole numbers of many digits
        try:
            array = array.astype(float)
        except OverflowError:
            raise InputError(message(where, "not a finite number", shown(value), "finite numbers")) from None
    numbers = array.dtype.kind in "fc" or (
        array.dtype.kind == "O" and all(hasattr(x, "__truediv__") and hasattr(x, "__mul__") for x in array.flat)
    )
    if not numbers:
        found = f"{type(value).__name__} {value!r}"
        raise InputError(message(where, "not an array of numbers", found[:80], f"numbers of shape ({axes})"))
    if array.shape[array.ndim - len(shape) :] != shape or array.ndim < len(shape):
        raise InputError(message(where, "wrong shape", str(array.shape), f"({axes})"))
    if finite and array.dtype.kind != "O" and not np.all(np.isfinite(array)):
        core = tuple(range(array.ndim - len(shape), array.ndim))
        bad = ~np.all(np.isfinite(array), axis=core)
        place, entry = _worst(np.asarray(bad), array)
        raise InputError(message(where, "not finite", f"{entry}{place}", "finite numbers"))
    return array


def checked(where: str, value: Array, kind: str) -> np.ndarray:
    """The value as an array of this kind (a key of `KINDS`), or an InputError."""
    array = as_array(where, value, KINDS[kind].shape)
    check = KINDS[kind].check
    if check and array.dtype.kind == "f":
        check(where, array)
    return array


def checked_real(where: str, value: Array, kind: str) -> np.ndarray:
    """The value as an array of this kind, of real numbers, or an InputError."""
    array = checked(where, value, kind)
    if array.dtype.kind != "f":
        raise InputError(message(where, "not real numbers", f"numbers of type {array.dtype}", "real numbers"))
    return array


def lengths(x: np.ndarray) -> np.ndarray:
    """The lengths (...) of vectors (..., n)."""
    return np.sqrt(np.einsum("...i,...i->...", x, x))


def split(array: np.ndarray, depth: int) -> Any:
    """The last `depth` axes of an array as (nested) Vec of batches; single states give Python scalars."""
    if depth == 0:
        return array if array.ndim else array.item()
    rest = (slice(None),) * (depth - 1)
    places: list[Any] = [(..., i, *rest) for i in range(array.shape[array.ndim - depth])]
    return Vec([split(array[place], depth - 1) for place in places])


def stack(value: Any, batch: tuple[int, ...]) -> Any:
    """The inverse of `split`: (nested) Vec become last axes; tuples and records are stacked field by field."""
    if isinstance(value, Vec):
        if not value:
            return np.zeros((*batch, 0))
        return np.stack([np.asarray(stack(x, batch)) for x in value], axis=len(batch))
    if isinstance(value, tuple):
        parts = [stack(x, batch) for x in value]
        return tuple(parts) if type(value) is tuple else type(value)(*parts)
    if value is None:
        return None
    return np.broadcast_to(value, batch).copy() if batch else value


def batch_shape(where: str, shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The common shape of all batch axes, or an InputError that lists them."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        found = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InputError(message(where, "batch axes do not fit together", found, "axes that broadcast")) from None


def on_arrays(**kinds: str) -> Callable[[Callable], Callable]:
    """Let a function on `Vec` and scalars also take arrays with any leading batch axes.

        @on_arrays(p="unit quaternion", x="vector")
        def rotate(p, x): ...

    Called with a `Vec` among its arguments, the function runs as written, unchecked. Called with
    arrays or lists, each named argument is checked, its last axes become a `Vec`, and the result is
    stacked again. Functions of a unit quaternion get the keyword `unit=True`; `unit=False` leaves
    out the check of the norm. Arguments without a kind are options and pass through.
    """
    unit_names = [name for name, kind in kinds.items() if kind in OFF_SPHERE]

    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)
        names = list(signature.parameters)
        label = f"{function.__module__.split('.')[1]}.{function.__name__}"

        @wraps(function)
        def wrapper(*args: Any, unit: bool = True, **options: Any) -> Any:
            given = dict(zip(names, args, strict=False), **options)
            if any(isinstance(given.get(name), Vec) for name in kinds) or len(args) > len(names):
                return function(*args, **options)
            signature.bind(*args, **options)
            if unit is not True:
                unit = flag(f"{label}, argument unit", unit)
            arrays = {}
            for name, kind_name in kinds.items():
                if name not in given or (given[name] is None and signature.parameters[name].default is None):
                    continue
                if kind_name in OFF_SPHERE and not unit:
                    kind_name = "nonzero quaternion"
                arrays[name] = checked(f"{label}, argument {name}", given[name], kind_name)
            depth = {name: len(KINDS[kinds[name]].shape) for name in arrays}
            batch = batch_shape(label, {n: a.shape[: a.ndim - depth[n]] for n, a in arrays.items()})
            for name, array in arrays.items():
                given[name] = split(array, depth[name])
            return stack(function(**given), batch)

        if unit_names:
            extra = inspect.Parameter("unit", inspect.Parameter.KEYWORD_ONLY, default=True, annotation=bool)
            wrapper.__signature__ = signature.replace(  # type: ignore[attr-defined]
                parameters=[*signature.parameters.values(), extra]
            )
        return wrapper

    return decorate
