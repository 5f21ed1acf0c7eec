"""A frame on a body: where what is fixed to it stands when a model is changed."""

from typing import Any, NamedTuple

import numpy as np

from polhode.model.numbers import plain
from polhode.quaternion import conjugate, from_matrix, product, rotation_matrix

STILL = (1.0, 0.0, 0.0, 0.0)
NOWHERE = (0.0, 0.0, 0.0)


class NotCarried(Exception):
    """Why a force element or a constraint cannot be carried over into a changed model, in half a sentence."""


class Mount(NamedTuple):
    """A frame on a body.

    body         the body that carries it
    position     its origin in the body's axes, m
    orientation  of its axes in the body's: a unit quaternion
    """

    body: str
    position: tuple[float, ...] = NOWHERE
    orientation: tuple[float, ...] = STILL

    @property
    def turns(self) -> bool:
        """Whether its axes are not those of the body."""
        return tuple(self.orientation) != STILL

    @property
    def is_own(self) -> bool:
        """Whether it is the body's own frame."""
        return not self.turns and not any(self.position)

    @property
    def R(self) -> np.ndarray:
        """Its axes as columns (3, 3)."""
        return np.array(rotation_matrix(np.array(self.orientation)))

    def direction(self, x: Any) -> tuple[float, ...]:
        """A direction in its axes, in those of the body."""
        return floats(self.R @ array_of(x)) if self.turns else tuple(x)

    def point(self, x: Any) -> tuple[float, ...]:
        """A point in its axes, in those of the body."""
        if self.is_own:
            return tuple(x)
        return floats(np.array(self.position) + (self.R @ array_of(x) if self.turns else array_of(x)))

    def attitude(self, p: Any) -> tuple[float, ...]:
        """A unit quaternion in its axes, in those of the body."""
        if not self.turns:
            return tuple(p)
        return _unit(np.array(product(np.array(self.orientation), array_of(p))))

    def frame(self, position: Any, orientation: Any) -> "Mount":
        """A frame that is placed in this one, on the body."""
        return Mount(self.body, self.point(position), self.attitude(orientation))

    def inverse(self, body: str) -> "Mount":
        """The frame of the body in this one, which is that of another body."""
        q = floats(conjugate(np.array(self.orientation))) if self.turns else STILL
        return Mount(body, floats(-(self.R.T @ np.array(self.position))), q)


def array_of(x: Any) -> np.ndarray:
    """Numbers of a record, parameters by their values, as an array."""
    return np.array(plain(tuple(x)), dtype=float)


def floats(x: Any) -> tuple[float, ...]:
    """Numbers as a record keeps them; −0.0 is 0.0."""
    return tuple(float(a) + 0.0 for a in x)


def unit_quaternion(R: np.ndarray) -> tuple[float, ...]:
    """The unit quaternion of a rotation matrix (3, 3)."""
    return _unit(np.array(from_matrix(R)))


def _unit(q: np.ndarray) -> tuple[float, ...]:
    return floats(q / np.linalg.norm(q))
