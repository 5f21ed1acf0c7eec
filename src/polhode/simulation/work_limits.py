"""What a run will take, counted before it begins: steps, samples, bytes; and the limits above which it is refused.

A typing error in a step or a number of samples would otherwise work for years, or fill the memory.
"""

import math
from typing import Any, NamedTuple

from polhode.errors import InputError, message
from polhode.model import Model
from polhode.scalar import is_real, shown

MAX_STEPS = 1e9
"""Steps of a run, unless `max_steps` says otherwise: minutes for one body, hours for a machine."""

MAX_BYTES = 2**30
"""Bytes of a run's samples in memory, unless `max_bytes` says otherwise."""

MAX_BYTES_ON_DISK = 2**36
"""Bytes of a run's samples on disk (`ph.record`, `polhode run`), unless `max_bytes` says otherwise."""

BYTES_OF_BREAK = 1000
"""Of each time at which a sampled controller is called: a record in Python."""


class Limits(NamedTuple):
    """The work that a run may take."""

    steps: float = MAX_STEPS
    bytes: float = MAX_BYTES


IN_MEMORY = Limits()
"""The limits of a run that says nothing else."""


def limits_of(where: str, max_steps: Any, max_bytes: Any) -> Limits:
    """The limits that were asked for, or an InputError."""
    return Limits(a_limit(f"{where}, max_steps", max_steps), a_limit(f"{where}, max_bytes", max_bytes))


def a_limit(where: str, value: Any) -> float:
    """A number above 0, perhaps infinite; or an InputError."""
    if not is_real(value) or not value > 0:
        raise InputError(message(where, "not a limit", shown(value), "a number above 0"))
    return float(min(value, math.inf))


def bytes_of_sample(model: Model) -> int:
    """Bytes of one sample with everything that is observed of it, about."""
    return 8 * (3 * (model.nq + model.nv) + 16 * len(model.bodies) + 16 + 12 * len(model.constraints))


def check_steps(where: str, steps: float, limits: Limits) -> None:
    """Refuse a run of more steps than the limit."""
    if not steps <= limits.steps:
        fix = f"Take longer steps, or allow more: max_steps={enough(steps)}."
        raise InputError(message(where, "too many steps", f"{steps:.4g} steps", f"at most {limits.steps:.4g}", fix))


def check_samples(where: str, samples: float, model: Model, limits: Limits, breaks: float = 0) -> None:
    """Refuse a run whose samples take more bytes than the limit.

    breaks  times at which a sampled controller is called
    """
    total = samples * bytes_of_sample(model) + breaks * BYTES_OF_BREAK
    if not total <= limits.bytes:
        found = f"{samples:.4g} samples" + (f" and {breaks:.4g} calls of a controller" if breaks else "")
        fix = f"Keep fewer samples, or allow more: max_bytes={enough(total)}."
        raise InputError(
            message(where, "too much to keep", f"{found}, {_size(total)}", f"at most {_size(limits.bytes)}", fix)
        )


def enough(value: float) -> str:
    """A number not below a value, of two digits: what a limit would have to be."""
    if not math.isfinite(value):
        return "inf"
    digits = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / digits) * digits:.2g}".replace("e+0", "e").replace("e+", "e")


def _size(value: float) -> str:
    """Bytes in words."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if value < 1000:
            return f"{value:.4g} {unit}"
        value /= 1000
    return f"{value:.4g} PB"
