"""Many evenly spaced numbers without the memory they would take."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class LazyRange:
    """Numbers of steps times a scale, and perhaps a last number; slices are arrays, made when asked for."""

    steps: range
    scale: float = 1.0
    last: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.steps) + len(self.last)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, slice):
            return self[key : key + 1 or None][0]
        start, stop, _ = key.indices(len(self))
        n = len(self.steps)
        inner = self.steps[start:stop]
        values = np.arange(inner.start, inner.stop, inner.step, dtype=float) * self.scale
        return np.append(values, self.last[max(start - n, 0) : max(stop - n, 0)])

    def searchsorted(self, value: float, side: str = "left", sorter: None = None) -> int:
        """As np.searchsorted, which asks here."""
        return bisect_left(self, value) if side == "left" else bisect_right(self, value)
