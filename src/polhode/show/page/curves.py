"""The plots of a report as curves: energies, momenta, joints, constraints, steps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from polhode.model import Model
from polhode.result.dataset import VARIABLES
from polhode.result.symmetry import Conserved, conserved
from polhode.show.packing import COLOURS, Plot, PlotCurve
from polhode.show.page.constraint_curves import constraint_plots
from polhode.show.page.sections import number
from polhode.show.run_values import error_threshold, labels, times, values

if TYPE_CHECKING:
    from xarray import Dataset

TOGETHER, MOST_PLOTS = 4, 32
"""Joints in one plot, and plots of joints on the page."""


def plots(dataset: "Dataset", model: Model) -> list[Plot]:
    """The plots of a run, in the order of the page."""
    kept = conserved(model, driven(dataset, model))
    joints = list(_joints(dataset, model))
    if len(joints) > MOST_PLOTS:
        note = f"{len(joints) - MOST_PLOTS} more plots of joints are left out; the data of the run has them all."
        joints = [*joints[: MOST_PLOTS - 1], replace(joints[MOST_PLOTS - 1], note=note)]
    found = [*_error(dataset), *energies(dataset, kept), *momenta(dataset, kept), *joints]
    return [*found, *constraint_plots(dataset), *_extras(dataset), *_norm(dataset, model), *_steps(dataset)]


def _error(dataset: "Dataset") -> Iterator[Plot]:
    """The estimated error of the motion, with its threshold and the part that was not estimated."""
    array = values(dataset, "error_estimate")
    if array is None or len(array) < 2 or np.all(np.isnan(array)):
        return
    level, time, known = error_threshold(dataset), times(dataset), ~np.isnan(array)
    note = "By a companion run of other steps, in parts of 1 + the largest value so far."
    if level is not None:
        note += f" The line across: good up to {number(level)}."
    if np.any(np.isinf(array)):
        note += " From where it ends, only one of the two runs goes on."
    last = None if known[-1] else float(time[known][-1])
    curve = PlotCurve("estimated error", array, 1)
    empty = "Zero at every instant: the two runs are the same."
    yield Plot(
        "Estimated error of the motion", "error", [curve], log=True, note=note, empty=empty, level=level,
        unknown_from=last,
    )  # fmt: skip


def driven(dataset: "Dataset", model: Model) -> set[str]:
    """The joints at which an input acts."""
    tau = values(dataset, "tau")
    if tau is None or tau.shape[1:] != (model.nv,):
        return set()
    return {model.joints[c.joint].name for c in columns(model, "tau") if np.any(tau[:, c.index])}


def energies(dataset: "Dataset", kept: Conserved) -> Iterator[Plot]:
    """The energies, and their drift where they should stay."""
    found = {name: values(dataset, f"{name}_energy") for name in ("kinetic", "potential", "total")}
    T, V, E = found.values()
    work = values(dataset, "work")
    curves = [PlotCurve(name, array, k) for k, (name, array) in enumerate(found.items()) if array is not None]
    curves += [] if work is None or not np.any(work) else [PlotCurve("work done on it", work, 3)]
    if T is not None and V is not None and not np.any(V):
        curves = [PlotCurve("kinetic, which is all", T, 0), *curves[3:]]
    if curves:
        yield Plot("Energy", "energy [J]", curves)
    if E is None or len(E) < 2:
        return
    by_source = values(dataset, "work_by_source")
    if by_source is not None and by_source.ndim == 2 and np.any(by_source):
        went = [PlotCurve("stored", E - E[0], 2)]
        went += [
            PlotCurve(f"work of {x}", by_source[:, k], 3 + k) for k, x in enumerate(labels(dataset, "work_source"))
        ]
        note = "Positive: done on the machine. The work of all is the change of the stored energy."
        yield Plot("Where energy went", "since the start [J]", went, note=note)
    if not kept.energy and work is None:
        note = f"This model does not keep its energy ({kept.because})."
        yield Plot("Energy gained", "E − E₀ [J]", [PlotCurve("E − E₀", E - E[0], 2)], note=note)
        return
    scale = _largest(E) if T is None or V is None else _largest(T) + _width(V)
    if work is not None:  # as in the grade
        scale += _largest(np.sum(abs(work[:, None] if by_source is None else by_source), axis=1))
    rest = E - E[0] - (0.0 if work is None else work - work[0])
    what = "|E − E₀|" if work is None else "|E − W − E₀|"
    note = "" if work is None else "What the work done on the machine does not explain. "
    parts = "the most kinetic energy plus the range of the potential energy"
    note += f"In parts of {parts}{'' if work is None else ' plus all work'}, {scale:.4g} J."
    if scale > 0:
        curve = PlotCurve("energy drift", abs(rest) / scale, 1)
        yield Plot("Energy drift", f"{what} / scale", [curve], log=True, note=note)


def _largest(array: np.ndarray) -> float:
    return float(np.max(abs(array[np.isfinite(array)]), initial=0.0))


def _width(array: np.ndarray) -> float:
    good = array[np.isfinite(array)]
    return float(np.ptp(good)) if len(good) else 0.0


def momenta(dataset: "Dataset", kept: Conserved) -> Iterator[Plot]:
    """The momenta, and the drift of those that should stay."""
    drifts: list[PlotCurve] = []
    for kind, symbol, unit, directions, place in (
        ("Linear", "p", "kg m/s", kept.linear, ""),
        ("Angular", "L", "kg m²/s", kept.angular, "About the world's origin, world axes."),
    ):
        array = values(dataset, f"{kind.lower()}_momentum")
        if array is None or array.ndim != 2 or not _largest(array):
            continue
        curves = [PlotCurve(f"{symbol} {axis}", array[:, k], k) for k, axis in enumerate("xyz"[: array.shape[1]])]
        yield Plot(f"{kind} momentum", f"{symbol} [{unit}]", curves, note=place)
        if directions and len(array) > 1:
            along = array @ np.array(directions).T
            size = _largest(np.linalg.norm(array, axis=1))
            drift = np.linalg.norm(along - along[0], axis=1) / size
            name = f"|Δ{symbol}| / |{symbol}|" + (f", along {_directions(directions)}" if len(directions) < 3 else "")
            drifts.append(PlotCurve(name, drift, len(drifts)))
    if drifts:
        note = "Nothing from outside acts this way on the model: this momentum should stay."
        yield Plot("Momentum drift", "relative change", drifts, log=True, note=note)


def _directions(rows: Sequence[Sequence[float]]) -> str:
    """Directions by their axes where they have one, such as "z" or "x, y"."""
    names = []
    for row in rows:
        places = [k for k, x in enumerate(row) if abs(x) > 1e-12]
        names.append("xyz"[places[0]] if len(places) == 1 else f"({', '.join(f'{x:.3g}' for x in row)})")
    return ", ".join(names)


def _norm(dataset: "Dataset", model: Model) -> Iterator[Plot]:
    array = values(dataset, "norm_error")
    if array is None or not any(joint.kind.has_quaternion for joint in model.joints):
        return
    policy = dataset.attrs.get("norm_policy")
    note = f"Norm policy: {policy}." if policy else ""
    if not np.any(array):
        yield Plot(
            "Norm error", "‖q‖ − 1", [], "run", note=note, empty="‖q‖ = 1 to the last bit at every stored instant."
        )
    else:
        flat = abs(array.reshape(len(array), -1)).max(axis=1)
        yield Plot("Norm error", "|‖q‖ − 1|", [PlotCurve("norm error", flat, 3)], "run", log=True, note=note)


def _extras(dataset: "Dataset") -> Iterator[Plot]:
    """Variables of this run alone: residuals on a logarithmic axis, others as they are."""
    for name in map(str, dataset.data_vars):
        array = values(dataset, name) if name not in VARIABLES else None
        if array is None or array.ndim > 2:
            continue
        variable = dataset[name]
        dims = [str(dim) for dim in variable.dims if dim != "time"]
        names = labels(dataset, dims[0]) if dims else [name.replace("_", " ")]
        parts = array.reshape(len(array), -1)
        log = "residual" in name or name.endswith("_error")
        title = str(variable.attrs.get("long_name") or name).replace("_", " ")
        unit = str(variable.attrs.get("units") or "1")
        axis = name.replace("_", " ") + (f" [{unit}]" if unit != "1" else "")
        for k in range(0, parts.shape[1], TOGETHER):
            shown = [(label, parts[:, i], i) for i, label in list(enumerate(names))[k : k + TOGETHER]]
            curves = [PlotCurve(label, abs(y) if log else y, i % COLOURS) for label, y, i in shown]
            yield Plot(title[:1].upper() + title[1:], axis, curves, "run", log=log)


def _steps(dataset: "Dataset") -> Iterator[Plot]:
    array = values(dataset, "step_size")
    if array is None or not np.any(good := np.isfinite(array) & (array > 0)):
        return
    steps = array[good]
    if np.ptp(steps[:-1] if len(steps) > 1 else steps) <= 1e-6 * steps.max():
        return  # one step throughout (the last may be shorter): the page's head says it
    wide = steps.max() > 20 * steps.min()
    yield Plot("Step size", "h [s]", [PlotCurve("step size", array, 0)], "run", log=bool(wide))


# joints


@dataclass(frozen=True)
class Column:
    """One coordinate or velocity: where it is, whose, and what it measures."""

    name: str
    index: int
    joint: int
    kind: str


def columns(model: Model, side: str) -> list[Column]:
    """Every entry of q, v or tau, with its joint and its kind."""
    found: list[Column] = []
    for k, joint in enumerate(model.joints):
        kind = joint.kind
        names = kind.coordinates if side == "q" else kind.dofs
        kinds: list[str] = []
        for element, _ in kind.elements:
            turning = ["quaternion"] * 4 if side == "q" else ["omega"] * 3
            kinds += turning if element.quaternion else ["length" if x else "angle" for x in element.linear]
        found += [
            Column(name, len(found) + i, k, what) for i, (name, what) in enumerate(zip(names, kinds, strict=True))
        ]
    return found


QUANTITIES = {
    ("q", "angle"): ("Joint angles", "angle [rad]"),
    ("v", "angle"): ("Joint rates", "rate [rad/s]"),
    ("tau", "angle"): ("Torques of the inputs", "torque [N m]"),
    ("q", "length"): ("Positions", "position [m]"),
    ("v", "length"): ("Speeds", "speed [m/s]"),
    ("tau", "length"): ("Forces of the inputs", "force [N]"),
    ("q", "quaternion"): ("Attitude", "quaternion"),
    ("v", "omega"): ("Angular velocity", "ω [rad/s]"),
    ("tau", "omega"): ("Torques of the inputs", "torque [N m]"),
}


def _joints(dataset: "Dataset", model: Model) -> Iterator[Plot]:
    sizes = {"q": model.nq, "v": model.nv, "tau": model.nv}
    found = {side: array for side in sizes if (array := values(dataset, side)) is not None}
    if any(array.shape[1:] != (sizes[side],) for side, array in found.items()):
        return  # not this model's
    if "tau" in found and not np.any(found["tau"]):
        del found["tau"]
    for kinds in (("angle",), ("length",), ("quaternion", "omega")):  # a coordinate and its rate side by side
        parts = {side: list(_pieces([c for c in columns(model, side) if c.kind in kinds])) for side in found}
        for row in range(max(map(len, parts.values()), default=0)):
            pieces = {side: parts[side][row] for side in found}
            if not _at_origin(model, pieces, found):
                yield from (_joint_plot(model, found[side], piece, side) for side, piece in pieces.items())


def _at_origin(model: Model, pieces: Mapping[str, list[Column]], found: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the positions of a free body that never leaves the origin: not worth a plot."""
    if any(c.kind != "length" or not model.joints[c.joint].kind.floats for piece in pieces.values() for c in piece):
        return False
    return not any(np.any(found[side][:, [c.index for c in piece]]) for side, piece in pieces.items())


def _pieces(columns: Sequence[Column]) -> Iterator[list[Column]]:
    """A joint with several coordinates of a kind by itself, others a few together."""
    single: list[Column] = []
    for joint in dict.fromkeys(c.joint for c in columns):
        own = [c for c in columns if c.joint == joint]
        if len(own) > 1:
            yield own
        else:
            single += own
    parts = -(-len(single) // TOGETHER)
    for part in np.array_split(np.arange(len(single)), parts) if parts else ():
        yield [single[k] for k in part]


def _joint_plot(model: Model, array: np.ndarray, piece: list[Column], side: str) -> Plot:
    title, axis = QUANTITIES[side, piece[0].kind]
    whole = len(piece) > 1 and len({c.joint for c in piece}) == 1
    curves = [
        PlotCurve(
            _short(c.name, side) if whole else model.joints[c.joint].name,
            array[:, c.index],
            (k if whole else c.joint) % COLOURS,
        )
        for k, c in enumerate(piece)
    ]
    joint = model.joints[piece[0].joint]
    note = f"Of the {joint.type} joint {joint.name}." if whole else ""
    note += " Body axes." if piece[0].kind == "omega" else ""
    return Plot(title, axis, curves, "joints", note=note.strip())


def _short(name: str, side: str) -> str:
    """A name as a legend shows it: ω x, speed y, px."""
    plain_name = name.replace("omega_", "ω " if side == "v" else "").replace("_", " ")
    return plain_name.replace("speed ", "") if side == "tau" else plain_name
