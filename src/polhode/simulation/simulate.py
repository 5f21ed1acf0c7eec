"""`ph.simulate`: a model, a start and a method in; a graded Dataset out."""

import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Unpack

from polhode.errors import InputError, message
from polhode.model import Model, check_model, other_numbers
from polhode.scalar import Array, shown
from polhode.simulation.derivatives import sensitivity
from polhode.simulation.option_table import ARGUMENTS, RUN_OPTIONS, check_keywords, takes_options
from polhode.simulation.run import Progress, Run
from polhode.simulation.run_options import RunKeywords, RunOptions, checked_options
from polhode.simulation.scenario import Scenario

if TYPE_CHECKING:
    import xarray as xr


KEYWORDS = dict.fromkeys((*ARGUMENTS, *RunKeywords.__annotations__))
"""The names of all options."""

LINE_SECONDS = 5.0
"""Seconds between lines of progress."""


class RunLines:
    """A progress function of a run that prints a line on stderr every few seconds, and one at the end."""

    def __init__(self, title: str, seconds: float = LINE_SECONDS) -> None:
        self.title, self.seconds = title, seconds
        self._begin = self._last = time.monotonic()

    def __call__(self, part: float, t: float) -> None:
        """Print the part that is done, the time reached and the seconds left, if it is time for a line."""
        now = time.monotonic()
        if now - self._last < self.seconds and part < 1:
            return
        self._last, spent = now, now - self._begin
        left = f"{spent * (1 - part) / part:.0f} s left" if 0 < part < 1 else f"{spent:.1f} s"
        with suppress(OSError):  # nobody reads any more: no reason to end a run
            print(f"{self.title}: {part:4.0%}  t = {t:.6g} s  {left}", file=sys.stderr, flush=True)


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
    progress: Progress | bool | None = None,
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
    parameters     other numbers of the model by path, as {"bodies.arm.mass": 2.0}: the run of model.with_numbers(…),
                   which a ComputedTorque without a model of its own knows too
    progress       called with the part that is done and the time reached, s; True: lines on stderr
    model_text     the text that the model came from, kept in the Dataset
    ->             Dataset; its attributes hold `status`, `reason` and the grade; a run that fails returns what there is
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        found, expected = repr(progress)[:60], "True, or a function of (part, time)"
        raise InputError(message("simulate, progress", "not a function", found, expected))
    check_keywords("simulate", KEYWORDS, options)
    if start is not None:
        if q is not None or not isinstance(start, str):
            found = "start and q" if isinstance(start, str) else shown(start)
            raise InputError(message("simulate, start", "where does it start?", found, "the name of a configuration"))
        check_model("simulate", model)
        q = model.configuration(start)
    if parameters is not None:
        check_model("simulate", model)
        model = other_numbers.other_numbers(model, parameters, "simulate, parameters")
    asked = checked_options(duration=duration, step=step, method=method, tolerance=tolerance, **options)
    if isinstance(progress, bool):
        progress = RunLines(getattr(model, "name", "simulate")) if progress else None
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
    tangents = None
    if asked.sensitivities:
        tangents = sensitivity.Sensitivities(run.replayed("simulate, sensitivities"), asked.sensitivities)
    try:
        run.follow(progress)
        result = run.result(model_text, tangents)
    finally:
        run.end()
    if asked.keep is not None:
        known = result.variables  # of which xarray makes nothing
        result = result[[name for name in result.data_vars if name in asked.keep or "event" in known[name].dims]]
    return tangents.added(result) if tangents else result
