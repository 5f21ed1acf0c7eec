"""What a user waits for: whole calls in a process that has made the same call before."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polhode.bench.machines import machine, random_states
from polhode.bench.timing import Contestant, Timing, race
from polhode.formats.load import load
from polhode.model import Model
from polhode.simulation.simulate import simulate
from polhode.system.system import compile

MODELS = ("pendulum", "arm-7", "four-bar", "stewart-platform")
"""The machines whose motion is asked for again, with all options by default."""

FEWEST = 5
"""Turns that each of these calls gets at least."""

LIGHTER = 0.9
"""The part of its mass that a body keeps where a number is changed."""

BATCH = 10_000
"""States of the batch with numbers as inputs."""


@dataclass(frozen=True)
class WholeCall:
    """A call, and the same in another way that it is compared with (if any); times are seconds, of a batch per state.

    ratio  least time of this call over that of the other
    """

    model: str
    call: str
    ours: Timing
    other_call: str | None = None
    other: Timing | None = None
    ratio: float | None = None


def whole_call_times(seconds: float) -> Iterator[WholeCall]:
    """Motions again, with and without their companions, with another mass; calls with numbers as inputs."""
    for name in MODELS:
        yield from _motions(name, load(name), seconds)
    yield from _with_parameters("arm-7", seconds)


def _motions(name: str, model: Model, seconds: float) -> Iterator[WholeCall]:
    body = next(body for body in model.bodies if body.mass)
    path = f"bodies.{body.name}.mass"
    values = [float(body.mass) * factor for factor in (LIGHTER, LIGHTER * LIGHTER)]  # type: ignore[arg-type]
    names = {"simulate": simulate, "model": model, "path": path, "values": values, "turn": [0]}
    names["options"] = {"verify": False, "limits": False}
    texts = {
        "simulate(verify=False)": "simulate(model, verify=False, limits=False)",
        "simulate": "simulate(model, limits=False)",
        "simulate(parameters=…, verify=False), another mass each time": (
            "turn[0] += 1; simulate(model, parameters={path: values[turn[0] % 2]}, **options)"
        ),
        "simulate(parameters=…, verify=False), the same mass": (
            "simulate(model, parameters={path: values[0]}, **options)"
        ),
    }
    yield from _against(name, [Contestant("polhode", call, text, names) for call, text in texts.items()], seconds)


def _against(name: str, calls: list[Contestant], seconds: float) -> Iterator[WholeCall]:
    """Each call but the first against the first, the changed mass against the same one."""
    times = race(calls, seconds, fewest=FEWEST)
    yield WholeCall(name, calls[0].call, times[0])
    for k, other in ((1, 0), (2, 3), (3, 0)):
        ratio = times[k].least / times[other].least
        yield WholeCall(name, calls[k].call, times[k], calls[other].call, times[other], ratio)


def _with_parameters(name: str, seconds: float) -> Iterator[WholeCall]:
    """Forward dynamics with one number and with many as inputs, one state and a batch, against the call without."""
    model = machine(name)
    paths = [path for path, value in model.numbers().items() if path.startswith("bodies.") and value]
    plain, one, many = (compile(model, parameters=some) for some in ([], paths[:1], paths))
    states = [np.ascontiguousarray(rows) for rows in random_states(model, BATCH)]
    for count, (q, v, tau) in ((1, [rows[0].copy() for rows in states]), (BATCH, states)):
        names = {"system": plain, "q": q, "v": v, "tau": tau}
        calls = [Contestant("polhode", "forward_dynamics", "system.forward_dynamics(q, v, tau)", names, count)]
        for system, some in ((one, paths[:1]), (many, paths)):
            numbers = {path: LIGHTER * value for path, value in model.numbers().items() if path in some}
            title = f"forward_dynamics(parameters=…), {len(some)} number{'s' * (len(some) > 1)}"
            text = "system.forward_dynamics(q, v, tau, parameters=numbers)"
            calls.append(Contestant("polhode", title, text, {**names, "system": system, "numbers": numbers}, count))
        times = race(calls, seconds)
        for call, timing in zip(calls[1:], times[1:], strict=True):
            title = f"{call.call}, {'one state' if count == 1 else f'{count:,} states'}"
            yield WholeCall(name, title, timing, "the same without", times[0], timing.least / times[0].least)
