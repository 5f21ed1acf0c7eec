"""What the methods of System have in common: their System, and how a quantity is called."""

from abc import ABC, abstractmethod
from typing import Any

from polhode.dynamics.body_points import AXES, KINDS
from polhode.model import Model
from polhode.scalar import Array
from polhode.system.quantity import Quantity, SystemSpec

ORIGIN = (0.0, 0.0, 0.0)
"""The point of a body that is meant, unless another is named."""

ALIGNED, CLASSICAL = AXES[0], KINDS[0]


class QuantityMethods(ABC):
    """Some methods of System."""

    model: Model
    _spec: SystemSpec
    _origin: Any
    """ORIGIN as the backend takes it with the least effort."""

    @abstractmethod
    def _call(self, quantity: Quantity, options: dict[str, Any], *values: Array, of: tuple = ()) -> Any:
        """The result of a quantity; of: a body, then the words of its choices."""

    def _point(self, point: Array) -> Any:
        """A point of a body, as the backend takes it."""
        return self._origin if point is ORIGIN else point
