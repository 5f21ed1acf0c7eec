"""Measured motions: coordinates, velocities, accelerations and torques of many instants, checked or filtered."""

from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, message
from polhode.model import Model
from polhode.scalar import as_array, real_number, shown

ORDER = 4
"""Of the Butterworth filter, which runs both ways: twice that, without delay."""

EDGE = 2.0
"""Periods of the cutoff that are left out at both ends, where the filter does not know what was before and after."""

INDEPENDENT = 0.5
"""Periods of the cutoff between two instants that are kept: noise that passed the filter is the same in between, and
standard errors would be too small."""


class MeasuredMotion(NamedTuple):
    """q (n, nq), v (n, nv), v̇ (n, nv), τ (n, nv) of n instants."""

    q: np.ndarray
    v: np.ndarray
    vd: np.ndarray
    tau: np.ndarray


def measured_motion(where: str, model: Model, data: Any, cutoff: float | None) -> MeasuredMotion:
    """The motion in a mapping or Dataset of q, v, vd, tau; or of time, q, tau, whose derivatives are then found.

    cutoff  Hz: q and τ pass through a low-pass filter of this frequency first; needed where v or vd is missing
    """
    if not hasattr(data, "keys") or not hasattr(data, "__getitem__"):
        raise InputError(message(f"{where}, data", "not by name", shown(data), "{'q': …, 'v': …, 'vd': …, 'tau': …}"))
    given = {name: data[name] for name in ("time", "q", "v", "vd", "tau") if name in data}
    sizes = {"time": (), "q": (model.nq,), "v": (model.nv,), "vd": (model.nv,), "tau": (model.nv,)}
    arrays = {name: _rows(f"{where}, {name}", value, sizes[name]) for name, value in given.items()}
    needed = ("q", "v", "vd", "tau") if cutoff is None else ("time", "q", "tau")
    for name in needed:
        if name not in arrays:
            fix = "" if name in ("q", "tau") else "Give q, v, vd and tau; or time, q and tau, and a cutoff in Hz."
            raise InputError(message(f"{where}, data", f"no {name}", f"{', '.join(arrays) or 'nothing'}", name, fix))
    counts = {name: len(x) for name, x in arrays.items()}
    if len({*counts.values()}) > 1:
        raise InputError(message(f"{where}, data", "not as many instants of all", str(counts), "one number"))
    if cutoff is not None:
        return _filtered(where, model, arrays["time"], arrays["q"], arrays["tau"], cutoff)
    return MeasuredMotion(*(arrays[name] for name in needed))


def _rows(where: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = as_array(where, value, shape)
    if array.ndim != 1 + len(shape):
        axes = ", ".join(["instants", *map(str, shape)])
        raise InputError(message(where, "wrong shape", str(array.shape), f"({axes})"))
    return array


def _filtered(
    where: str, model: Model, time: np.ndarray, q: np.ndarray, tau: np.ndarray, cutoff: float
) -> MeasuredMotion:
    """v and v̇ by differences of filtered coordinates; τ is filtered alike, so that both lose the same."""
    if model.nq != model.nv:
        fix = "Give v and vd beside q."
        raise InputError(message(f"{where}, cutoff", "quaternions are not filtered", f"nq {model.nq}", "nq = nv", fix))
    steps = np.diff(time)
    if len(steps) < 100 or not np.all(abs(steps - steps.mean()) < 1e-3 * steps.mean()) or steps.mean() <= 0:
        found = f"{len(time)} instants, steps {steps.min(initial=np.inf):.3g} to {steps.max(initial=0):.3g} s"
        raise InputError(message(f"{where}, time", "not evenly spaced", found, "100 and more, equally far apart"))
    h = float(steps.mean())
    cutoff = real_number(f"{where}, cutoff", cutoff, f"Hz, above 0 and at most {0.4 / h:g}", 0.0, 0.4 / h)
    from scipy import signal  # takes a second to load

    sections = signal.butter(ORDER, cutoff, fs=1 / h, output="sos")
    q, tau = (signal.sosfiltfilt(sections, x, axis=0) for x in (q, tau))
    v = np.gradient(q, h, axis=0)
    vd = (q[2:] - 2 * q[1:-1] + q[:-2]) / h**2
    away = max(int(EDGE / (cutoff * h)), 1)
    if 2 * away + 2 >= len(q):
        raise InputError(message(f"{where}, cutoff", "too low", f"{cutoff:g} Hz", f"above {4 / (len(q) * h):.2g} Hz"))
    inside = slice(away, len(q) - away, max(int(INDEPENDENT / (cutoff * h)), 1))
    return MeasuredMotion(q[inside], v[inside], np.pad(vd, ((1, 1), (0, 0)))[inside], tau[inside])
