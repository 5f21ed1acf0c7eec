"""The work of a run, counted before it begins: steps, samples, bytes; and the limits above which it is refused.

A typing error in a step or a number of samples would otherwise work for years, or fill the memory.
"""

import math
from typing import Any

from polhode.errors import InputError, message
from polhode.model import Model
from polhode.scalar import is_real, shown

BYTES_OF_CALL = 1000
"""Bytes of each call of a sampled controller, about: its segment is a record in Python."""


def a_limit(where: str, value: Any) -> float:
    """A number above 0, perhaps infinite; or an InputError."""
    if not is_real(value) or not value > 0:
        raise InputError(message(where, "not a limit", shown(value), "a number above 0"))
    return float(min(value, math.inf))


def bytes_of_sample(model: Model) -> int:
    """Bytes of one sample with everything that is observed of it, about."""
    return 8 * (3 * (model.nq + model.nv) + 16 * len(model.bodies) + 16 + 12 * len(model.constraints))


def check_steps(where: str, steps: float, most: float) -> None:
    """Refuse a run of more steps than the limit."""
    if not steps <= most:
        fix = f"Take longer steps, or allow more: max_steps={enough(steps)}."
        raise InputError(message(where, "too many steps", f"{steps:.4g} steps", f"at most {most:.4g}", fix))


def check_samples(where: str, samples: float, model: Model, most: float, calls: float = 0) -> None:
    """Refuse a run whose samples, and calls of a sampled controller, take more bytes than the limit."""
    total = samples * bytes_of_sample(model) + calls * BYTES_OF_CALL
    if not total <= most:
        found = f"{samples:.4g} samples" + (f" and {calls:.4g} calls of a controller" if calls else "")
        fix = f"Keep fewer samples, or allow more: max_bytes={enough(total)}."
        raise InputError(message(where, "too much to keep", f"{found}, {_size(total)}", f"at most {_size(most)}", fix))


def quotient(a: float, b: float) -> float:
    """a / b of numbers above 0, infinite where it is too large."""
    try:
        return a / b
    except OverflowError:
        return math.inf


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
