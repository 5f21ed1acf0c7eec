"""The poses of a scene at any instant: between its frames along cubics and rotation vectors, as the page moves them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.quaternion import product, rotation_vector_to_wxyz


class Arrays:
    """Keeps the arrays of a scene as they are, in place of the page's `PackedArrays`."""

    def __init__(self) -> None:
        self.kept: list[np.ndarray] = []

    def put(self, values: Any, double: bool = False) -> int:
        """The place of these numbers in the list; all of them are doubles here."""
        del double
        self.kept.append(np.array(values, dtype=float))
        return len(self.kept) - 1


@dataclass(frozen=True)
class ScenePoses:
    """Frames of a scene.

    time      (n,)
    position  (n, bodies, 3)
    attitude  (n, bodies, 4)
    turn      (n − 1, bodies, 3)  rotation vectors to the next frame, body axes
    """

    time: np.ndarray
    position: np.ndarray
    attitude: np.ndarray
    turn: np.ndarray

    @classmethod
    def of(cls, scene: dict[str, Any], arrays: Arrays) -> "ScenePoses":
        """The motion of a scene that was made with these arrays."""
        return cls(*(arrays.kept[scene[name]] for name in ("time", "position", "attitude", "turn")))

    def place(self, t: float) -> tuple[int, float]:
        """The frame before an instant, and the part of the way to the next, 0 … 1."""
        if len(self.time) < 2:
            return 0, 0.0
        i = int(np.clip(np.searchsorted(self.time, t, side="right") - 1, 0, len(self.time) - 2))
        h = self.time[i + 1] - self.time[i]
        return i, float(np.clip((t - self.time[i]) / h, 0.0, 1.0)) if h > 0 else 0.0

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Positions (bodies, 3) and attitudes (bodies, 4) at an instant."""
        i, s = self.place(t)
        if s == 0:
            return self.position[i], self.attitude[i]
        h = self.time[i + 1] - self.time[i]
        q = np.asarray(product(self.attitude[i], rotation_vector_to_wxyz(s * self.turn[i])))
        a, m0, m1 = 2 * s**3 - 3 * s**2 + 1, self._slope(i), self._slope(i + 1)
        x = a * self.position[i] + (1 - a) * self.position[i + 1]
        return x + h * ((s**3 - 2 * s**2 + s) * m0 + (s**3 - s**2) * m1), q

    def _slope(self, i: int) -> np.ndarray:
        a, b = max(0, i - 1), min(len(self.time) - 1, i + 1)
        return (self.position[b] - self.position[a]) / max(self.time[b] - self.time[a], 1e-300)

    def between(self, values: np.ndarray, t: float) -> np.ndarray:
        """Values given at the frames (n, …), at an instant."""
        i, s = self.place(t)
        return values[i] if s == 0 else (1 - s) * values[i] + s * values[i + 1]
