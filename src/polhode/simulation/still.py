"""`ph.still`: states of a machine as a Dataset, which pictures take in the place of a run."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.check.constraint_monitor import FORCES, ConstraintMonitor
from polhode.check.given_start import start_of
from polhode.formats.yaml_text import kept_text
from polhode.model import Model, check_model
from polhode.result.dataset import Facts, Trajectory, dataset
from polhode.simulation.observer import observer_of, with_sections
from polhode.system.system import compile

if TYPE_CHECKING:
    import xarray as xr


def still(model: Model, state: Any = None) -> "xr.Dataset":
    """A state as a run of one sample: poses, energies, what constraints and sections bear.

        >>> import polhode as ph
        >>> model = ph.load("double-pendulum")
        >>> float(ph.still(model, ph.equilibrium(model)).kinetic_energy[0])
        0.0

    state  what `ph.equilibrium` or `ph.steady_motion` returns, or coordinates q (nq,), at rest; the model's start
           unless given
    """
    check_model("still", model)
    at_q, at_v = (state.q, state.v) if hasattr(state, "q") else (state, None if state is None else model.at_rest)
    q, v = start_of(model, at_q, at_v, "still")
    tau = np.array(getattr(state, "tau", np.zeros(model.nv)), dtype=float)
    return states_dataset(model, np.zeros(1), q[None], v[None], tau[None], {})


def states_dataset(
    model: Model,
    time: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray | None,
    more: Mapping[str, Any],
    known: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> "xr.Dataset":
    """States (n, nq), (n, nv) as a run.

    tau    inputs (n, nv); None: what constraints bear is left out
    more   further attributes
    known  variables in place of those of the states
    """
    found: dict[str, Any] = {**observer_of(model)(q, v), **known}
    named: dict[str, Sequence[str]] = {}
    beside = {}
    if model.constraints and tau is not None:
        monitor = ConstraintMonitor(compile(model))
        found |= monitor({"time": time, "q": q, "v": v}, tau, FORCES)
        named |= monitor.labels
        beside["multiplier_units"] = ("constraint", monitor.multiplier_units, "unit of this multiplier")
    if beams := with_sections(model.forces):
        named |= {"beam_element": [beam.name for beam in beams], "section_load": list(beams[0].section_labels)}
    trajectory = Trajectory(time, q, v, found, labels=named, beside=beside)
    return dataset(model, trajectory, Facts(more={"model_yaml": kept_text(model), **more}))
