"""Generalised forces by a user function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from polhode.model.forces.base import ForceElement
from polhode.model.keys import Key
from polhode.model.state import MachineState
from polhode.scalar import Scalar, Vec


@dataclass(frozen=True)
class ForceFunction(ForceElement):
    """Generalised forces by a user function, on generic scalars.

    function(t, q, v) -> nv numbers, dual to v. Use `ph.sin`, `ph.where` and their like inside.
    """

    name: str
    function: Callable[[Any, Any, Any], Sequence]

    kind = "function"
    keys: ClassVar = {"function": Key("function", "function(t, q, v)", needed=True)}

    def generalized(self, state: MachineState) -> Sequence:
        """The numbers that the function gives."""
        return self.function(state.t, state.q, state.v)

    def functions(self) -> list[tuple[str, Callable[[Scalar, Vec, Vec], Any]]]:
        """The function."""
        return [(f"force '{self.name}'", self.function)]

    def summary(self) -> str:
        """That it is a function."""
        return "a function of t, q, v"

    @property
    def of_layout(self) -> str:
        """Its function is."""
        return "its function is of q and v of the model as it was"
