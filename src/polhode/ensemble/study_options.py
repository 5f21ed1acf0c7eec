"""The options of the runs of a study: one RunOptions, made of keywords; what runs side by side cannot do is refused."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypedDict

from polhode.ensemble.option_table import OF_ALL_RUNS, REFUSALS, RENAMED
from polhode.errors import InputError, message
from polhode.integrate.sundials import SUNDIALS
from polhode.scalar import Array
from polhode.simulation.option_table import RUN_OPTIONS
from polhode.simulation.run_options import RunOptions
from polhode.simulation.run_records import Event

SAME_NAME = {there: here for here, there in RENAMED.items()}

ALWAYS = ("duration", "step", "method", "tolerance", "every", "samples", "norm")
"""Options that every description of a study has; others only where they are not as by default, so that folders of
studies that were begun before there were others can be resumed."""


class BatchKeywords(TypedDict, total=False):
    """Options of the runs of a study, as keywords; see `RunOptions`."""

    duration: float | None
    step: float | None
    method: str | None
    tolerance: float
    times: int | Array | None
    every: int | None
    events: Sequence[Event]
    norm: str
    engine: str
    rank_tolerance: float
    constraints: str
    baumgarte: Sequence[float] | None
    move_start: bool
    limits: bool
    accuracy: float | None


def batch_options(options: RunOptions | None, given: Mapping[str, Any]) -> RunOptions:
    """The options of runs side by side, or an InputError that says which of them only a single run can have.

    options  to begin with; the defaults unless given
    given    options by their names in a study, which stand in for those
    """
    named = {SAME_NAME.get(name, name): value for name, value in given.items() if value is not None}
    check_batch(named)
    if options is None:
        return RunOptions(**named)
    if not isinstance(options, RunOptions):
        raise InputError(message("sweep, run_options", "not options", repr(options)[:60], "a RunOptions"))
    check_batch({x.name: getattr(options, x.name) for x in fields(options)})
    return replace(options, **named) if named else options


def check_batch(given: Mapping[str, Any]) -> None:
    """Refuse what runs side by side cannot do, by the list of REFUSALS."""
    for name, _, why in REFUSALS:
        if name in given and (found := _REFUSED.get(name, _any)(given[name])):
            fix = f"Run them one by one: ph.simulate(…, {name}=…)."
            raise InputError(message(f"sweep, {name}", "not in a sweep", found, f"none: {why}", fix))
    for name in OF_ALL_RUNS:
        if name in given and given[name] != RUN_OPTIONS[name].default:
            fix = f"Give it to the study or to ph.sweep: {name}=…"
            expected = f"the {name} of all runs together"
            raise InputError(
                message(f"sweep, run_options, {name}", "of a single run", repr(given[name])[:60], expected, fix)
            )


def _any(value: Any) -> str:
    return repr(value)[:60] if value else ""


def _outlasted(events: Any) -> str:
    """The events that do not end a run."""
    listed = events if isinstance(events, (list, tuple)) else ()
    names = [event.name for event in listed if isinstance(event, Event) and (event.reset or not event.terminal)]
    return ", ".join(f"'{name}', which does not end the run" for name in names[:3])


_REFUSED: dict[str, Callable[[Any], str]] = {
    "method": lambda name: repr(name) if isinstance(name, str) and name in SUNDIALS else "",
    "events": _outlasted,
}
"""What of the value of an option is refused, where it is not any but its default; "" for nothing."""


def described_options(options: RunOptions) -> dict[str, Any]:
    """The options but for events as plain data, by their names in a study: what two studies are compared by."""
    values = {name: getattr(options, name) for name in RUN_OPTIONS if name != "events"}
    kept = {name: x for name, x in values.items() if name in ALWAYS or x != RUN_OPTIONS[name].default}
    return {RENAMED.get(name, name): list(x) if isinstance(x, tuple) else x for name, x in kept.items()}
