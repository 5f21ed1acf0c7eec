"""Where a motion of a model starts."""

import math
from collections.abc import Sized
from dataclasses import dataclass

from polhode.errors import ModelError, message
from polhode.model.numbers import assign, number, numbers, plain
from polhode.scalar import Array, without_rotations


@dataclass(frozen=True)
class Start:
    """Where a motion starts, and how long and by which method it is followed. None: not said."""

    q: Array | None = None
    v: Array | None = None
    duration: float | None = None
    method: str | None = None

    def __post_init__(self) -> None:
        """Check everything."""
        for name in ("q", "v"):
            value = without_rotations(getattr(self, name))
            if value is not None:
                size = len(value) if isinstance(value, Sized) and getattr(value, "ndim", 1) != 0 else 1
                assign(self, **{name: numbers("start", name, value, size)})
        if self.duration is not None and not 0 < plain(number("start", "duration", self.duration)) < math.inf:
            raise ModelError(message("start, duration", "not positive", repr(self.duration), "seconds above 0"))
