"""Inputs over time: what `tau` of a simulation may be, as one generalised force of (t, q, v) on generic scalars."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import Any

import numpy as np

from polhode.dynamics import kinematics
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.forces import off_discrete
from polhode.dynamics.with_forces import needed
from polhode.errors import InputError, defined_at, message
from polhode.kernel.compile_fault import compile_fault
from polhode.kernel.record import Recorder
from polhode.kernel.routine import Index, Routine
from polhode.kernel.trace import Builder, Symbol, current, number_node, outermost, trace
from polhode.model import ForceElement, Model, Tree, make_tree
from polhode.result.labels import dof_names
from polhode.scalar import Array, Dual, Scalar, Vec, as_array, is_real, shown, smooth, where

STRAIGHT = 1e-12
"""Slopes of a table that differ by less than this part of its largest are one line: the rounding of its values."""

DIFFERENCE = 6e-6
"""The relative step of a central difference: the cube root of the rounding of a double balances its two errors."""

Law = Callable[[Scalar, Vec, Vec], Vec]
"""Generalised forces (nv,) of (t, q, v)"""


@dataclass(frozen=True)
class Table:
    """Forces over time: linear between samples, or each held to the next (`hold`); constant before and after them.

    times   (n,)  s, increasing
    values  (n, nv)
    """

    times: Array
    values: Array
    hold: bool = False

    def __post_init__(self) -> None:
        """Check how it is read."""
        if not isinstance(self.hold, (bool, np.bool_)):
            raise InputError(message("Table, hold", "neither true nor false", shown(self.hold), "True or False"))


@dataclass(frozen=True)
class PD:
    """A controller that pulls every joint to a target: τ = K (target ⊖ q) + D (speed − v). Own states of force elements
    are left alone.

    stiffness, damping  one number, or one for each velocity
    target              (nq,), or a function of t; None: zero angles, identity quaternions
    speed               (nv,), or a function of t; None: 0
    """

    stiffness: Any
    damping: Any
    target: Any = None
    speed: Any = None


@dataclass(frozen=True)
class ComputedTorque:
    """Inverse dynamics of the model at the acceleration a + D (speed − v) + K (target ⊖ q); own states of force
    elements are left alone.

    acceleration  a (nv,), or a function of t; None: 0;  all else as in PD, per unit of inertia
    model         what the controller takes the machine for; None: the model of the run, with the numbers it runs with
                  (`parameters` of simulate among them; in sweeps those that nothing is drawn for)
    """

    stiffness: Any
    damping: Any
    target: Any = None
    speed: Any = None
    acceleration: Any = None
    model: Model | None = None


@dataclass(frozen=True)
class Sampled:
    """A controller in Python, called at t = 0, period, 2·period, …; its forces are held in between.

    function  (t, q, v) -> forces (nv,), on arrays
    """

    function: Callable[[float, np.ndarray, np.ndarray], Array]
    period: float

    def __post_init__(self) -> None:
        """Check function and period."""
        if not callable(self.function):
            found = repr(self.function)[:60]
            raise InputError(message("Sampled", "not a function", found, "a function of (t, q, v)"))
        if not is_real(self.period) or not 0 < self.period < np.inf or self.period > 1e300:
            raise InputError(message("Sampled", "not a period", shown(self.period), "seconds above 0"))
        object.__setattr__(self, "period", float(self.period))


def law_of(model: Model, tree: Tree, tau: Any, zero: np.ndarray) -> tuple[Law | None, str]:
    """The force law of `tau` as given, and a text that tells it from others ("": none can, it is a function).

    zero  the coordinates at zero, for controllers without a target
    """
    nv = model.nv
    if isinstance(tau, (PD, ComputedTorque)):
        return controller(tau, tree, zero), ""
    if tau is None or isinstance(tau, Sampled):
        return None, "none"
    if isinstance(tau, Table):
        times, values = _table(tau, nv)
        _check_discrete(model, "Table, values", values)
        return _interpolated(times, values, tau.hold), f"table {tau.hold} {times.tolist()} {values.tolist()}"
    if callable(tau):
        given = checked_law(tau, nv)
        return lambda t, q, v: off_discrete(tree, given(t, q, v)), ""
    if (table := table_of(tau)) is not None:
        return law_of(model, tree, table, zero)
    if isinstance(tau, Mapping):
        return law_of(model, tree, _by_joint(model, tau), zero)
    constant = as_array("simulate, tau", tau, (nv,))
    if constant.ndim != 1 or constant.dtype.kind != "f":
        fix = "For forces over time give Table(times, values)."
        raise InputError(
            message("simulate, tau", "not one force for each velocity", str(constant.shape), f"({nv},)", fix)
        )
    _check_discrete(model, "simulate, tau", constant)
    level = Vec(constant.tolist())
    return lambda t, q, v: level, f"constant {constant.tolist()}"


def acts_on_discrete(model: Model, forces: np.ndarray) -> str:
    """Which own states that change at once alone generalised forces (…, nv) act on, or are NaN at, in words; "" if
    none."""
    names = dof_names(model)
    bad = [names[k] for k in make_tree(model).discrete_places if np.any(forces[..., k] != 0.0)]
    return f"{', '.join(map(repr, bad))}: no force acts on what changes at events alone, give 0 there" if bad else ""


def _check_discrete(model: Model, where_: str, forces: np.ndarray) -> None:
    if bad := acts_on_discrete(model, forces):
        raise InputError(message(where_, "a force on an own state", bad, "0 there"))


def table_of(tau: Any) -> Table | None:
    """The table that an input is: a Table, or a pair of times and values; None for all others."""
    if isinstance(tau, tuple) and len(tau) == 2 and np.ndim(tau[0]) == 1 and np.ndim(tau[1]) == 2:
        return Table(*tau)
    return tau if isinstance(tau, Table) else None


def _by_joint(model: Model, tau: Mapping[str, Any]) -> np.ndarray:
    """Forces given by the names of joints, 0 for all others."""
    found, at = np.zeros(model.nv), 0
    known = {joint.name for joint in model.joints if joint.nv}
    for name in tau:
        if name not in known:
            raise InputError(message("simulate, tau", "no such joint that moves", repr(name), ", ".join(sorted(known))))
    for joint in model.joints:
        if joint.name in tau:
            where = f"simulate, tau of joint '{joint.name}'"
            given = np.atleast_1d(as_array(where, tau[joint.name], ()))
            if given.shape != (joint.nv,):
                raise InputError(message(where, "wrong shape", str(np.shape(tau[joint.name])), f"({joint.nv},)"))
            found[at : at + joint.nv] = given
        at += joint.nv
    return found


def _table(tau: Table, nv: int) -> tuple[np.ndarray, np.ndarray]:
    times, values = (np.asarray(as_array(f"Table, {name}", getattr(tau, name), ())) for name in ("times", "values"))
    if not {times.dtype.kind, values.dtype.kind} <= {"f"}:
        raise InputError(message("Table", "not real numbers", f"{times.dtype}, {values.dtype}", "real numbers"))
    if times.ndim != 1 or not len(times) or np.any(np.diff(times) <= 0) or not np.all(np.isfinite(times)):
        raise InputError(message("Table, times", "not increasing", repr(tau.times)[:60], "increasing seconds"))
    if values.shape != (len(times), nv) or not np.all(np.isfinite(values)):
        expected = f"finite forces ({len(times)}, {nv})"
        fix = "One column for each velocity, zeros where nothing acts: values[:, None] makes a column of one."
        raise InputError(message("Table, values", "do not fit", f"shape {values.shape}", expected, fix))
    return times, values


def _interpolated(times: np.ndarray, values: np.ndarray, hold: bool) -> Law:
    """Forces between samples: a search by halves, in compiled code, and one straight line."""
    n, nv = values.shape
    slopes = np.zeros_like(values)
    if not hold:
        slopes[:-1] = np.diff(values, axis=0) / np.diff(times)[:, None]

    def search(top: Builder) -> Routine:
        with Recorder("table", top) as r:
            at, place, out = r.input("t", 1), r.array("place", 1), r.output("tau", nv)
            knot, level = r.table("knots", times.tolist()), r.table("levels", values.ravel().tolist())
            slope = r.table("slopes", slopes.ravel().tolist())
            size = 1 << max(n - 1, 0).bit_length()
            while size := size // 2:  # the last sample not after t
                ahead = r.array(f"try{size}", 1)
                ahead[0] = where(place[0] + size < n, place[0] + size, place[0])
                place[0] = where(knot[ahead.cell(0)] <= at[0], ahead[0], place[0])
            since = where(at[0] > knot[place.cell(0)], at[0] - knot[place.cell(0)], 0.0)
            row = Index.of(place.cell(0)) * nv
            for k in range(nv):
                out[k] = level[row + k] + slope[row + k] * since
        return r.finished()

    known: dict[int, Routine] = {}  # one in a trace, however often it is asked

    def law(t: Scalar, q: Vec, v: Vec) -> Vec:
        if not isinstance(t, Symbol):
            last = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, n - 1))
            return Vec((values[last] + slopes[last] * max(t - times[last], 0.0)).tolist())
        top, builder = outermost(), current()
        if top.serial not in known:
            known.clear()
            known[top.serial] = search(top)
        found = builder.call(known[top.serial], [number_node(builder, t)])  # type: ignore[list-item]
        return Vec([Symbol(builder, node) for node in found])

    return law


def is_held_input(tau: Any) -> bool:
    """Whether an input is held between the times at which it changes: a sampled controller, a table that holds."""
    return isinstance(tau, Sampled) or (isinstance(tau, Table) and tau.hold)


def breaks(tau: Any, duration: float) -> np.ndarray:
    """The times within a run at which forces that are held change, 0 apart."""
    if isinstance(tau, Sampled):
        return tau.period * np.arange(1, math.ceil(duration / tau.period - 1e-9))
    if isinstance(tau, Table) and tau.hold:
        return within(as_array("Table, times", tau.times, ()), duration)
    return np.zeros(0)


def knots(tau: Any, nv: int, duration: float) -> np.ndarray:
    """The times within a run at which the lines of a table meet in a corner; none for other inputs."""
    table = table_of(tau)
    if table is None or table.hold:
        return np.zeros(0)
    times, values = _table(table, nv)
    slopes = np.zeros((len(times) + 1, values.shape[1]))
    slopes[1:-1] = np.diff(values, axis=0) / np.diff(times)[:, None]
    corner = np.any(abs(np.diff(slopes, axis=0)) > STRAIGHT * np.max(abs(slopes), axis=0, initial=0.0), axis=1)
    return within(times[corner], duration)


def within(times: np.ndarray, duration: float) -> np.ndarray:
    """Those of the times that lie inside a run, its start and its end apart."""
    return times[(times > 1e-14 * duration) & (times < duration * (1 - 1e-14))]


def checked_law(function: Callable, nv: int) -> Law:
    """A user function, the length of its result checked."""
    name = getattr(function, "__name__", "tau")

    def law(t: Scalar, q: Vec, v: Vec) -> Vec:
        try:
            found = function(t, q, v)
        except TypeError:
            if not any(isinstance(x, Dual) for x in (*q, *v)):
                raise
            found = _by_differences(function, t, q, v)
        if not hasattr(found, "__len__") or len(found) != nv or any(hasattr(x, "__len__") for x in found):
            flat = hasattr(found, "__len__") and len(found) != nv
            shown = f"{len(found)} numbers" if flat else repr(found)[:60]
            told = f"simulate, tau '{name}'{defined_at(function)}"
            raise InputError(message(told, "wrong result", shown, f"{nv} generalised forces"))
        return Vec(found)

    return law


def _by_differences(function: Callable, t: Scalar, q: Vec, v: Vec) -> list[Dual]:
    """A function of floats on dual numbers, its slopes by central differences."""
    x = [(y.value, y.slope) if isinstance(y, Dual) else (y, None) for y in (*q, *v)]
    place = np.array([float(value) for value, _ in x])

    def at(place: np.ndarray) -> np.ndarray:
        numbers = place.tolist()
        return np.array(function(t, Vec(numbers[: len(q)]), Vec(numbers[len(q) :])), dtype=float)

    value: np.ndarray = at(place)
    slopes: Any = 0.0
    for k, (_, slope) in enumerate(x):
        if slope is not None:
            h = DIFFERENCE * (1 + abs(place[k])) * np.eye(len(x))[k]
            slopes = slopes + np.multiply.outer((at(place + h) - at(place - h)) / (2 * h[k]), slope)
    return [Dual(float(a), b) for a, b in zip(value, slopes, strict=True)]


def controller(tau: PD | ComputedTorque, tree: Tree, zero: np.ndarray) -> Law:
    """The law of a controller on a tree."""
    nv = tree.nv
    where_, K = type(tau).__name__, _each(tau.stiffness, nv, f"{type(tau).__name__}, stiffness")
    D = _each(tau.damping, nv, f"{where_}, damping")
    target = _over_time(tau.target, zero.tolist(), f"{where_}, target")
    speed = _over_time(tau.speed, [0.0] * nv, f"{where_}, speed")

    own = set(tree.own_places)

    def of_joints(forces: Vec) -> Vec:
        return Vec([0.0 if k in own else x for k, x in enumerate(forces)]) if own else forces

    def pulled(t: Scalar, q: Vec, v: Vec) -> Vec:
        apart, late = kinematics.difference(tree, q, target(t)), speed(t) - v
        return of_joints(Vec([k * x + d * y for k, x, d, y in zip(K, apart, D, late, strict=True)]))

    if isinstance(tau, PD):
        return pulled
    wanted = _over_time(tau.acceleration, [0.0] * nv, f"{where_}, acceleration")
    known = tree if tau.model is None else make_tree(tau.model)
    if (known.nq, known.nv) != (tree.nq, nv):
        found, expected = f"nq {known.nq}, nv {known.nv}", f"nq {tree.nq}, nv {nv}, as the model of the run has"
        raise InputError(message(f"{where_}, model", "another machine", found, expected))
    return lambda t, q, v: of_joints(needed(Arguments(known, q, v, t=t), wanted(t) + pulled(t, q, v)))


def _each(value: Any, n: int, where: str) -> Vec:
    if isinstance(value, Symbol):
        return Vec([value] * n)
    array = as_array(where, value, ())
    if array.shape not in ((), (n,)) or array.dtype.kind != "f":
        raise InputError(message(where, "does not fit", f"shape {array.shape}", f"one number, or ({n},)"))
    return Vec(np.broadcast_to(array, n).tolist())


def _over_time(value: Any, default: list[float], where: str) -> Callable[[Scalar], Vec]:
    if callable(value):

        def asked(t: Scalar) -> Vec:
            found = value(t)
            if not hasattr(found, "__len__") or len(found) != len(default):
                shown = f"{len(found)} numbers" if hasattr(found, "__len__") else repr(found)[:60]
                raise InputError(
                    message(f"{where}{defined_at(value)}", "wrong result", shown, f"{len(default)} numbers")
                )
            return Vec(found)

        return asked
    if value is None:
        return lambda t: Vec(default)
    constant = Vec(as_array(where, value, (len(default),)).tolist())
    return lambda t: constant


def named_inputs(tree: Tree, tau: Any, law: Law | None) -> list[tuple[str, Law]]:
    """All functions of (t, q, v) that act on a model, its inputs and its own forces, by name."""
    found: list[tuple[str, Law]] = []
    if law:
        kinds, own = (Table, PD, ComputedTorque), f" '{called_name(tau)}'" if callable(tau) else ""
        name = f" ({type(tau).__name__})" if isinstance(tau, kinds) else own
        found.append((f"tau{name}", law))
    for force in tree.forces:
        found += force.functions() or (
            [(f"force '{force.name}'", whole_force(tree, force))] if force.holds_functions else []
        )
    return found


def whole_force(tree: Tree, force: ForceElement) -> Law:
    """All that a force element gives, of (t, q, v): forces and couples on bodies, generalised forces, own rates."""
    on_bodies = not force.joints
    """An element on joints sees no frames: none are traced."""

    def law(t: Scalar, q: Vec, v: Vec) -> Vec:
        state = smooth(kinematics.machine_state if on_bodies else kinematics.joint_state)(tree, t, q, v)
        wrenches = [x for wrench in force.wrenches(state) for x in (*wrench.force, *wrench.torque)]
        forces = force.generalized(state) if force.of_coordinates else ()
        return Vec([*wrenches, *forces, *(force.derivatives(state) if force.states else ())])

    return law


def called_name(function: Any) -> str:
    """What messages call a function."""
    return getattr(function, "__name__", type(function).__name__)


def traceable(model: Model, function: Callable, what: str) -> str:
    """Why a function of (t, q, v) that works on floats cannot be compiled; "" if it can."""
    try:
        trace(function, t=(), q=(model.nq,), v=(model.nv,))
    except Exception as error:  # whatever a function says to a symbol
        lines = str(error).splitlines() or [type(error).__name__]
        return f"{what} cannot be compiled ({compile_fault(error.__cause__ or error) or lines[0]})"
    return ""


def ours(error: BaseException) -> bool:
    """Whether an error was raised by this package alone, without a user function."""
    package = Path(__file__).parent.parent
    return all(package in Path(frame.filename).parents for frame in extract_tb(error.__traceback__))
