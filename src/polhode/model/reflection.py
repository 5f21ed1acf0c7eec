"""The reflection of a machine in a plane: what points, axes, frames and coordinates become.

Points are reflected, x → H x with H = I − 2 n nᵀ, in the world and in the axes of every body alike; so are
directions, and what turns, an axial vector, becomes −H ω.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.model.mount import array_of, floats, unit_quaternion
from polhode.model.numbers import plain
from polhode.quaternion import rotation_matrix

FRAME = np.diag([1.0, -1.0, 1.0])
"""How frames of constraints and of force elements are reflected: their x and z axes are images, y is not."""


@dataclass(frozen=True)
class Reflection:
    """The reflection of a machine.

    of_body  how components in the axes of each body are reflected, (3, 3); the world among them
    signs    what the coordinates of each joint without a quaternion become, times themselves
    """

    of_body: Mapping[str, np.ndarray]
    signs: Mapping[str, tuple[float, ...]]

    def polar(self, body: str, x: Any) -> tuple[float, ...]:
        """The image of a point or a direction in the axes of a body."""
        return floats(self.of_body[body] @ array_of(x))

    def axial(self, body: str, x: Any) -> tuple[float, ...]:
        """The image of an axis of rotation, or of a torque."""
        return floats(-self.of_body[body] @ array_of(x))

    def attitude(self, body: str, p: Any, S: np.ndarray = FRAME) -> tuple[float, ...]:
        """The image of a frame on a body.  S: how components in the frame are reflected"""
        R = np.array(rotation_matrix(array_of(p)))
        return unit_quaternion(self.of_body[body] @ R @ S)

    def sign(self, joint: str, axis: int = 0) -> float:
        """What a coordinate of a joint becomes, times itself; 1 of a joint with a quaternion."""
        return self.signs[joint][axis] if joint in self.signs else 1.0


def times(signs: Sequence[float], values: Sequence[Any]) -> tuple[float, ...]:
    """Numbers, each times its sign."""
    return tuple(sign * plain(x) + 0.0 for sign, x in zip(signs, values, strict=True))
