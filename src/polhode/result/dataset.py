"""A motion as an `xarray.Dataset`: named arrays with units, frames, and what made them.

trajectory = Trajectory(time, q, v, {"kinetic_energy": T, "potential_energy": V})
run = dataset(model, trajectory, Facts(method="dop853", tolerance=1e-9))
"""

import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from time import time as now
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode import __version__
from polhode.errors import InputError, PolhodeError, message
from polhode.model import Model
from polhode.model.per_model_cache import once_each
from polhode.quaternion import conjugate, rotate
from polhode.result import labels
from polhode.result.deferred import DOUBLE, DeferredArray, DeferredDict, DeferredGroup, variable_data
from polhode.result.variables import copier, variable_maker
from polhode.result.verdict import Grade
from polhode.scalar import Array, Vec, lengths

if TYPE_CHECKING:
    import xarray as xr

STATUSES = ("finished", "stopped", "failed", "interrupted")
"""How a run can end: at its duration, at a terminal event, by a fault, by its user."""

WORLD_AXES, BODY_AXES, JOINT_AXES = "world axes", "body axes", "axes of the frame on body a"


@dataclass(frozen=True)
class DataVar:
    """A variable of a run: its dimensions, unit ("" where it differs from entry to entry), meaning and frame."""

    dims: tuple[str, ...]
    units: str
    long_name: str
    frame: str = ""


VARIABLES: dict[str, DataVar] = {
    "q": DataVar(("time", "coordinate"), "", "coordinates of the joints"),
    "v": DataVar(("time", "dof"), "", "velocities of the joints"),
    "tau": DataVar(("time", "dof"), "", "generalised forces of the inputs, dual to v"),
    "position": DataVar(("time", "body", "axis"), "m", "position of the body frame's origin", WORLD_AXES),
    "quaternion": DataVar(("time", "body", "quat"), "1", "orientation of the body frame, body to world", WORLD_AXES),
    "velocity": DataVar(("time", "body", "axis"), "m/s", "velocity of the body frame's origin", WORLD_AXES),
    "omega_body": DataVar(("time", "body", "axis"), "rad/s", "angular velocity of the body", BODY_AXES),
    "omega_world": DataVar(("time", "body", "axis"), "rad/s", "angular velocity of the body", WORLD_AXES),
    "kinetic_energy": DataVar(("time",), "J", "kinetic energy"),
    "potential_energy": DataVar(("time",), "J", "potential energy, zero at the world's origin"),
    "total_energy": DataVar(("time",), "J", "total energy"),
    "work": DataVar(("time",), "J", "work done on the machine by inputs, dampers and other forces"),
    "work_by_source": DataVar(("time", "work_source"), "J", "the same, by what does it; negative: energy is taken out"),
    "linear_momentum": DataVar(("time", "axis"), "kg m/s", "linear momentum", WORLD_AXES),
    "angular_momentum": DataVar(("time", "axis"), "kg m2/s", "angular momentum about the world's origin", WORLD_AXES),
    "section_force": DataVar(
        ("time", "beam_element", "section_load"),
        "N or N m",
        "what the sections of beams bear, but for strains that are held",
        "element axes: x along the beam",
    ),
    "strain_energy": DataVar(("time", "beam_element"), "J", "energy of the strains of beams, but for those held"),
    "constraint_residual": DataVar(("time", "constraint"), "m or rad", "what constraints of positions miss"),
    "constraint_rate": DataVar(("time", "constraint"), "m/s or rad/s", "rate of what constraints miss"),
    "multiplier": DataVar(("time", "constraint"), "see multiplier_units", "multiplier of the row: the force along it"),
    "determined": DataVar(("time", "constraint"), "1", "1 where the multiplier is determined, 0 where rows share it"),
    "reaction_force": DataVar(("time", "connection", "axis"), "N", "force of the constraint on its body b", JOINT_AXES),
    "reaction_torque": DataVar(
        ("time", "connection", "axis"), "N m", "torque of the constraint on its body b", JOINT_AXES
    ),
    "rank": DataVar(("time",), "1", "independent rows of the constraints"),
    "degrees_of_freedom": DataVar(("time",), "1", "velocities less the rank"),
    "smallest_singular_value": DataVar(
        ("time",), "1", "of the constraints' rows in their natural sizes: 0 where rank is lost"
    ),
    "joint_force": DataVar(
        ("time", "joint", "axis"), "N", "force of the joint on its child", "joint frame, in the parent"
    ),
    "joint_torque": DataVar(
        ("time", "joint", "axis"),
        "N m",
        "torque of the joint on its child, about its origin",
        "joint frame, in the parent",
    ),
    "norm_error": DataVar(("time",), "1", "largest distance of a quaternion's length from 1"),
    "step_size": DataVar(("time",), "s", "step that led to this sample"),
    "error_estimate": DataVar(
        ("time",), "1", "estimated error of q and v, in parts of 1 + the largest value so far; NaN: not estimated"
    ),
}
"""The variables that a run may have, in the order in which they are stored."""

KEPT_TIMES = 4096
"""Samples of a run up to which its times, with their index, are kept for runs that are repeated: 0.5 MB in all."""

FOLLOWING = {"total_energy", "omega_body", "omega_world", "norm_error"}
"""The variables that follow from others: see `completed`."""

MIXED = {"q": "coordinate_units", "v": "dof_units", "tau": "force_units"}
"""Variables whose unit differs from entry to entry, and the coordinate that holds the units."""


@dataclass(frozen=True)
class Extra:
    """A further variable: values (time first, as a rule), dimensions, unit, meaning and frame."""

    values: Array
    dims: tuple[str, ...]
    units: str = "1"
    long_name: str = ""
    frame: str = ""


class Trajectory(NamedTuple):
    """The samples of a motion.

    time    (n,)  s, never decreasing
    q, v    (n, nq), (n, nv)
    others  arrays by the names of VARIABLES, such as position (n, bodies, 3); what follows from these is filled in
    later   groups of further ones, which are computed when they are read
    extra   further variables by name
    labels  names along the dimensions that `extra` brings, as in {"constraint": ["loop.x", "loop.y"]}
    beside  further coordinates along such dimensions: dimension, texts and meaning by name
    events  time and name of what happened; None where nothing was watched for
    frame   of labels and `beside`, where it is known
    """

    time: Array
    q: Array
    v: Array
    others: Mapping[str, Any] = MappingProxyType({})
    extra: Mapping[str, Extra] = MappingProxyType({})
    labels: Mapping[str, Sequence[str]] = MappingProxyType({})
    beside: Mapping[str, tuple[str, Sequence[str], str]] = MappingProxyType({})
    events: Sequence[tuple[float, str]] | None = None
    frame: "DatasetFrame | None" = None
    later: Sequence[DeferredGroup] = ()


@dataclass(frozen=True)
class Facts:
    """The provenance of a run, and how it ended. None and "" stand for unknown.

    model_text  the model as its user wrote it
    created     UTC, ISO 8601; None: now
    more        further attributes: text and numbers by name
    """

    method: str = ""
    step: float | None = None
    tolerance: float | None = None
    norm_policy: str = ""
    status: str = "finished"
    reason: str = ""
    model_text: str = ""
    seed: int | None = None
    created: str | None = None
    grade: Grade | None = None
    more: Mapping[str, str | float | int | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the status."""
        if self.status not in STATUSES:
            raise InputError(message("Facts, status", "unknown", repr(self.status), ", ".join(STATUSES)))


def dataset(model: Model, trajectory: Trajectory, facts: Facts | None = None) -> "xr.Dataset":
    """The Dataset of a motion: dims time, dof, coordinate, body, quat, axis; see VARIABLES."""
    frame = trajectory.frame or DatasetFrame(model, trajectory.labels, trajectory.beside)
    sizes = {"time": np.size(trajectory.time), **frame.sizes, **_extra_sizes(trajectory, frame)}
    arrays: Mapping[str, Any] = {"q": trajectory.q, "v": trajectory.v, **trajectory.others}
    later = (*chain.from_iterable(group.kinds for group in trajectory.later),)
    if not FOLLOWING.issubset((*arrays, *later)):
        _refuse_unknown(arrays)
        checked = {name: _checked(name, x, VARIABLES[name].dims, sizes) for name, x in arrays.items()}
        arrays = completed(model, checked)
    layout = _layout(frame.named, (*arrays, *later), tuple(sizes.items()))
    values = _values(layout, arrays, sizes)
    variables = _Variables(layout, values, trajectory.later, _further(trajectory, sizes))
    time = _checked("time", trajectory.time, ("time",), sizes).astype(float, copy=False)
    return _assembled(_Parts(variables, frame.labels, time, provenance(model, facts or Facts())))


def _values(layout: "_Layout", arrays: Mapping[str, Any], sizes: Mapping[str, int]) -> list[Any]:
    """The arrays of a layout in its order, checked; None for those that are computed when they are read."""
    found: list[Any] = []
    for name, dims, shape, _ in layout.variables:
        array = arrays.get(name)
        if array is not None and (type(array) is not np.ndarray or array.dtype is not DOUBLE or array.shape != shape):
            array = _checked(name, array, dims, sizes)
        found.append(array)
    return found


def _further(trajectory: Trajectory, sizes: Mapping[str, int]) -> dict[str, tuple]:
    """Dimensions, array and attributes of variables that are none of VARIABLES, by name."""
    found: dict[str, tuple] = {}
    for name, extra in trajectory.extra.items():
        attrs = _attributes(extra.units, extra.long_name or name, extra.frame)
        found[name] = extra.dims, _checked(name, extra.values, extra.dims, sizes), attrs
    return found | _events(trajectory.events)


class _Variables(NamedTuple):
    """The variables of a Dataset before they are records of xarray.

    values   the arrays of the layout, in its order; None: of a group
    later    groups of those that are computed when they are read
    further  dimensions, array and attributes of others, by name
    """

    layout: "_Layout"
    values: list[Any]
    later: Sequence[DeferredGroup]
    further: dict[str, tuple]

    @property
    def dims(self) -> dict[str, int]:
        """The sizes of their dimensions."""
        more = {dim: n for dims, array, _ in self.further.values() for dim, n in zip(dims, array.shape, strict=True)}
        return self.layout.dims | more

    def made(self) -> dict[str, Any]:
        """Their records, by name."""
        variable, found = variable_maker(xarray()), dict[str, Any]()
        groups = {name: group for group in self.later for name in group.kinds}
        for (name, dims, shape, attrs), values in zip(self.layout.variables, self.values, strict=True):
            data = variable_data(DeferredArray(groups[name], name, shape)) if values is None else values
            found[name] = variable(dims, data, attrs.copy())
        return found | {name: variable(dims, x, attrs) for name, (dims, x, attrs) in self.further.items()}


class _Parts(NamedTuple):
    """The parts of a Dataset: variables that fit their coordinates, the coordinates along dimensions, the times, the
    attributes."""

    variables: _Variables
    labels: "_Coordinates"
    time: np.ndarray
    attrs: dict[str, Any]


def _assembled(parts: _Parts) -> "xr.Dataset":
    """The Dataset of its parts; should a version of xarray have no short way, by merging."""
    try:
        return _assembled_directly(parts)
    except (AttributeError, TypeError):
        _check_times(parts.time)
        coords = {"time": ("time", parts.time, _attributes("s", "time")), **parts.labels.copies()}
        return xarray().Dataset(parts.variables.made(), coords=coords, attrs=parts.attrs)


def _assembled_directly(parts: _Parts) -> "xr.Dataset":
    """The same as xarray makes by merging; nothing is aligned or merged, which takes milliseconds, and its records of
    variables are made when somebody asks for one."""
    kept, variables, labels = len(parts.time) <= KEPT_TIMES, parts.variables, parts.labels
    times = (_kept_times if kept else _time_coordinate)(parts.time.tobytes())
    return xarray().Dataset._construct_direct(
        DeferredDict(lambda: variables.made() | times.copies() | labels.copies()),
        {*times.names, *labels.names},
        dims=variables.dims | times.dims | labels.dims,
        attrs=parts.attrs,
        indexes=times.indexes | labels.indexes,
    )


class _Coordinates(NamedTuple):
    """Coordinates that many Datasets have: what copies their variables, their names, dimensions and indexes."""

    copies: Callable[[], dict[Any, Any]]
    names: tuple[str, ...]
    dims: dict[str, int]
    indexes: dict[str, Any]

    @classmethod
    def of(cls, variables: Mapping[str, Any], indexes: dict[str, Any]) -> "_Coordinates":
        """The coordinates of variables of one dimension."""
        dims = {dim: len(x) for x in variables.values() for dim in x.dims}
        return cls(copier(variables), tuple(variables), dims, indexes)


def _time_coordinate(time: bytes) -> _Coordinates:
    """The coordinate of times, given as bytes, with its index."""
    xr, values = xarray(), np.frombuffer(time)
    _check_times(values)
    index = _index(values, "time")
    coords = index.create_variables({"time": xr.Variable("time", values, _attributes("s", "time"), fastpath=True)})
    return _Coordinates.of(coords, {"time": index})


_kept_times = lru_cache(maxsize=8)(_time_coordinate)


def completed(model: Model, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """The arrays, with those of VARIABLES that follow from them: total energy, both angular velocities, norm error."""
    full: dict[str, Any] = {name: x if type(x) is np.ndarray else np.asarray(x) for name, x in arrays.items()}
    if "total_energy" not in full and {"kinetic_energy", "potential_energy"} <= full.keys():
        full["total_energy"] = full["kinetic_energy"] + full["potential_energy"]
    if "omega_body" not in full and {"quaternion", "omega_world"} <= full.keys():
        full["omega_body"] = _turned(full["quaternion"], full["omega_world"], back=True)
    if "omega_world" not in full and {"quaternion", "omega_body"} <= full.keys():
        full["omega_world"] = _turned(full["quaternion"], full["omega_body"])
    if "q" in full and "norm_error" not in full:
        full["norm_error"] = norm_error(model, full["q"])
    return full


def norm_error(model: Model, q: Array) -> np.ndarray:
    """The largest |‖p‖ − 1| of the quaternions p in q (..., nq) -> (...); 0 where there are none."""
    q, parts = np.asarray(q, dtype=float), labels.quaternion_slices(model)
    worst = np.zeros(q.shape[:-1])
    if parts:
        with np.errstate(all="ignore"):
            for part in parts:
                worst = np.maximum(worst, abs(lengths(q[..., part]) - 1))
    return worst


def _turned(p: np.ndarray, x: np.ndarray, back: bool = False) -> np.ndarray:
    """p x p⁻¹ (..., 3), or p⁻¹ x p; NaN stays NaN, and the length of p does not matter."""
    turn = Vec(np.moveaxis(p, -1, 0))
    with np.errstate(all="ignore"):  # a run that failed may hold anything
        turned = rotate(conjugate(turn) if back else turn, Vec(np.moveaxis(x, -1, 0)))
        return np.stack(list(turned), axis=-1) / np.sum(p * p, axis=-1, keepdims=True)


def provenance(model: Model, facts: Facts) -> dict[str, str | float | int]:
    """The attributes of a Dataset: what made it; "" where nothing is known (netCDF has no None)."""
    known = {
        "model_name": model.name,
        "model": facts.model_text,
        "method": facts.method,
        "step": facts.step,
        "tolerance": facts.tolerance,
        "norm_policy": facts.norm_policy,
        "seed": facts.seed,
        "status": facts.status,
        "reason": facts.reason,
        **(facts.grade.attributes() if facts.grade else {"verdict": "", "grade": "", "grade_basis": ""}),
        **_made_by(),
        "created": facts.created or _utc(int(now())),
        **facts.more,
    }
    return {name: "" if value is None else value for name, value in known.items()}


@lru_cache(maxsize=1)
def _utc(seconds: int) -> str:
    """A time in UTC, ISO 8601, from seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


@cache
def _made_by() -> dict[str, str]:
    """The versions of what computes, and the machine."""
    return {
        "polhode_version": __version__,
        "python_version": platform.python_version(),
        "numpy_version": np.__version__,
        "machine": machine(),
    }


@cache
def machine() -> str:
    """Processor and operating system, without the names of hosts or users."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        cpu = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        cpu = platform.processor() or "unknown processor"
    return f"{platform.machine()}, {cpu}, {platform.system()}, {sys.implementation.name}"


@cache
def xarray() -> Any:
    """The package xarray, imported at first use (it takes seconds)."""
    try:
        import xarray as xr

        if not find_spec("h5netcdf"):
            raise ImportError("no module named 'h5netcdf'")
    except ImportError as fault:
        fix = "Install them: pip install 'polhode[run]'"
        raise PolhodeError(
            message("result", "a package is missing", str(fault), "xarray, h5netcdf, h5py", fix)
        ) from None
    return xr


def _sizes(model: Model) -> dict[str, int]:
    return {"dof": model.nv, "coordinate": model.nq, "body": len(model.bodies), "quat": 4, "axis": 3}


def _extra_sizes(trajectory: Trajectory, frame: "DatasetFrame") -> dict[str, int]:
    """Sizes of the dimensions that extra variables bring, each from the first that has it."""
    sizes: dict[str, int] = {}
    for extra in trajectory.extra.values():
        for dim, size in zip(extra.dims, np.shape(extra.values), strict=False):
            sizes.setdefault(dim, size)
    return {dim: size for dim, size in sizes.items() if dim not in frame.sizes and dim != "time"}


def _checked(name: str, values: Any, dims: tuple[str, ...], sizes: Mapping[str, int]) -> Any:
    """The values as real numbers of the shape that their dimensions have."""
    if not name.isidentifier():
        raise InputError(message("dataset", "not a name for a variable", repr(name), "letters, digits and _"))
    array = np.asarray(values)
    expected = tuple([sizes[dim] for dim in dims])
    if array.shape != expected:
        shown = f"({', '.join(dims)}) = {expected}"
        raise InputError(message(f"dataset, variable '{name}'", "wrong shape", str(array.shape), shown))
    if array.dtype.kind not in "biuf":
        raise InputError(message(f"dataset, variable '{name}'", "not numbers", str(array.dtype), "real numbers"))
    if array.dtype.kind == "b":
        return array.astype(np.int8)  # netCDF has no truth values
    return array if name not in VARIABLES or array.dtype.kind == "i" else array.astype(float, copy=False)


def _check_times(time: np.ndarray) -> None:
    if (time[1:] < time[:-1]).any() or not np.isfinite(time).all():
        raise InputError(message("dataset, time", "not ascending", "a later sample before it", "times that never fall"))


class DatasetFrame:
    """What Datasets of a model with the same labels have in common: the names along all dimensions but time, as
    coordinates, and the sizes of these dimensions."""

    def __init__(
        self,
        model: Model,
        labels: Mapping[str, Sequence[str]],
        beside: Mapping[str, tuple[str, Sequence[str], str]],
    ) -> None:
        """labels, beside: as of a `Trajectory`"""
        own = {dim: (dim, tuple(names), dim) for dim, names in labels.items()}
        own |= {name: (dim, tuple(texts), meaning) for name, (dim, texts, meaning) in beside.items()}
        self.named = _named(model)
        self.labels = _label_set(self.named, tuple(own.items()))
        self.sizes = {dim: len(names) for dim, names in labels.items()} | _sizes(model)


class _Named:
    """A model where only names, the kinds of its joints and own states matter: those with the same ones are equal."""

    def __init__(self, model: Model) -> None:
        self.model = model
        joints = tuple([(joint.name, joint.type, id(joint.kind)) for joint in model.joints])
        states = tuple([(force.name, *force.own_states.items()) for force in model.forces if force.own_states])
        self._key = joints, tuple([body.name for body in model.bodies]), states
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Named) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash


@once_each
def _named(model: Model) -> _Named:
    return _Named(model)


@lru_cache(maxsize=8)
def _label_set(of: _Named, own: tuple[tuple[str, tuple[str, tuple[str, ...], str]], ...]) -> _Coordinates:
    """The coordinates of a model's Datasets; own: further ones, by name their dimension, texts and meaning."""
    model = of.model
    named: dict[str, tuple[str, Sequence[str], str]] = {
        "dof": ("dof", labels.dof_names(model), "velocity of a joint, or own state of a force element"),
        "coordinate": ("coordinate", labels.coordinate_names(model), "coordinate of a joint"),
        "dof_units": ("dof", labels.dof_units(model), "unit of this velocity"),
        "coordinate_units": ("coordinate", labels.coordinate_units(model), "unit of this coordinate"),
        "force_units": ("dof", labels.force_units(model), "unit of the generalised force dual to this velocity"),
        "body": ("body", [body.name for body in model.bodies], "body"),
        "quat": ("quat", list("wxyz"), "part of a quaternion, scalar first"),
        "axis": ("axis", list("xyz"), "axis"),
        **dict(own),
    }
    xr = xarray()
    texts = {
        name: xr.Variable((dim,), np.array(names, dtype=str), {"long_name": meaning}, fastpath=True)
        for name, (dim, names, meaning) in named.items()
    }
    try:
        indexes = {name: _index(x.data, name) for name, x in texts.items() if x.dims == (name,)}
        coords = {**texts}
        for name, index in indexes.items():
            coords |= index.create_variables({name: texts[name]})
    except (AttributeError, TypeError):
        made = xr.Dataset(coords=texts)
        coords, indexes = {**made.variables}, {**made.xindexes}
    return _Coordinates.of(coords, indexes)


def _index(values: np.ndarray, dim: str) -> Any:
    """The index of a dimension as xarray makes it, which looks whether arrays are dask's and imports that."""
    return xarray().indexes.PandasIndex(import_module("pandas").Index(values, name=dim), dim, values.dtype)


class _Layout(NamedTuple):
    """The variables of a Dataset, in their order.

    variables  name, dimensions, shape and attributes of each
    dims       the sizes of all these dimensions in the order in which they come
    """

    variables: tuple[tuple[str, tuple[str, ...], tuple[int, ...], dict[str, str]], ...]
    dims: dict[str, int]


@lru_cache(maxsize=32)
def _layout(of: _Named, names: tuple[str, ...], sizes: tuple[tuple[str, int], ...]) -> _Layout:
    """The layout of variables of a model, given in any order; sizes: of dimensions by name."""
    _refuse_unknown(names)
    ordered, size = sorted(names, key=list(VARIABLES).index), dict(sizes)
    kinds = [VARIABLES[name] for name in ordered]
    units = [_common_unit(of.model, name) or kind.units for name, kind in zip(ordered, kinds, strict=True)]
    made = [_attributes(unit, kind.long_name, kind.frame) for unit, kind in zip(units, kinds, strict=True)]
    shapes = [tuple([size[dim] for dim in kind.dims]) for kind in kinds]
    variables = tuple(zip(ordered, [kind.dims for kind in kinds], shapes, made, strict=True))
    return _Layout(variables, {dim: size[dim] for kind in kinds for dim in kind.dims})


def _refuse_unknown(names: Iterable[str]) -> None:
    """Refuse names that are none of VARIABLES."""
    if unknown := sorted(set(names) - set(VARIABLES)):
        fix = "Give variables of your own as `extra`, with dims and units."
        raise InputError(message("dataset", "unknown variable", ", ".join(unknown), ", ".join(VARIABLES), fix))


def _common_unit(model: Model, name: str) -> str:
    """The unit of q, v or tau if all entries share it, else where to find the units."""
    if name not in MIXED:
        return ""
    units = set(getattr(labels, MIXED[name])(model))
    return units.pop() if len(units) == 1 else f"see {MIXED[name]}"


def _events(events: Sequence[tuple[float, str]] | None) -> dict[str, tuple]:
    if events is None:
        return {}
    times, names = [time for time, _ in events], [name for _, name in events]
    return {
        "event_time": (("event",), np.array(times, dtype=float), _attributes("s", "time of the event")),
        "event_name": (("event",), np.array(names, dtype=str), {"long_name": "what happened"}),
    }


def _attributes(units: str, long_name: str, frame: str = "") -> dict[str, str]:
    return {"units": units, "long_name": long_name} | ({"frame": frame} if frame else {})
