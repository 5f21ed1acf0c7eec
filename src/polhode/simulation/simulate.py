"""`ph.simulate`: a model, a start and a method in; a graded Dataset out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from polhode.errors import InputError, message
from polhode.model import Model, check_model
from polhode.model.other_numbers import other_numbers
from polhode.scalar import Array, shown
from polhode.simulation.derivatives.sensitivity import Sensitivities
from polhode.simulation.option_table import RUN_OPTIONS, check_keywords, takes_options
from polhode.simulation.run import Progress, Run
from polhode.simulation.run_options import RunKeywords, RunOptions
from polhode.simulation.scenario import Scenario

if TYPE_CHECKING:
    import xarray as xr


@takes_options(RUN_OPTIONS, RunKeywords)
def simulate(
    model: Model,
    q: Array | Mapping[str, Any] | str | None = None,
    v: Array | Mapping[str, Any] | None = None,
    duration: float | None = None,
    tau: Any = None,
    step: float | None = None,
    method: str | None = None,
    tolerance: float = RUN_OPTIONS["tolerance"].default,
    *,
    start: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    model_text: str = "",
    **options: Unpack[RunKeywords],
) -> "xr.Dataset":
    """The motion of a model, as a graded Dataset.

    q, v           the model's start unless given; else zero angles, identity quaternions, at rest. (nq,) and (nv,), or
                   numbers by joint, {"elbow": 0.3}: those left out are at zero
    tau            generalised forces: (nv,); {joint: force}; Table(times, values); a function of (t, q, v) on generic
                   scalars; PD, ComputedTorque; Sampled(function, period) for a controller in Python
    {options}
    start          the name of a configuration of the model, in place of q
    parameters     other numbers of the model by path, as {"bodies.arm.mass": 2.0}: the run of model.with_numbers(…)
    progress       called with the part that is done and the time reached
    model_text     the text that the model came from, kept in the Dataset
    ->             Dataset; its attributes hold `status`, `reason` and the grade; a run that fails returns what there is
    """
    if progress is not None and not callable(progress):
        found = repr(progress)[:60]
        raise InputError(message("simulate, progress", "not a function", found, "a function of (part, time)"))
    check_keywords("simulate", RunKeywords.__annotations__, options)
    if start is not None:
        if q is not None or not isinstance(start, str):
            found = "start and q" if isinstance(start, str) else shown(start)
            raise InputError(message("simulate, start", "where does it start?", found, "the name of a configuration"))
        check_model("simulate", model)
        q = model.configuration(start)
    if parameters is not None:
        check_model("simulate", model)
        model = other_numbers(model, parameters, "simulate, parameters")
    asked = RunOptions(duration=duration, step=step, method=method, tolerance=tolerance, **options)
    return followed(model, q, v, tau, asked, progress, model_text)


def followed(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    asked: RunOptions,
    progress: Progress | None = None,
    model_text: str = "",
) -> "xr.Dataset":
    """The run of a model by checked options, followed to its end: its graded Dataset."""
    run = Run(Scenario.of(model, q, v, tau, asked))
    tangents = (
        Sensitivities(run.replayed("simulate, sensitivities"), asked.sensitivities) if asked.sensitivities else None
    )
    run.follow(progress)
    result = run.result(model_text, tangents)
    if asked.keep is not None:
        result = result[[name for name in result.data_vars if name in asked.keep or "event" in result[name].dims]]
    return tangents.added(result) if tangents else result
