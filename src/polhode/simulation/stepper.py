"""The interface of steppers, which follow a motion: the run loop, SUNDIALS, a published form."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from polhode.constrain.constraint_policy import ConstraintPolicy
from polhode.result.dataset import Extra
from polhode.simulation.driven_model import DrivenModel
from polhode.simulation.run_records import Ending, Position, Samples


class Stepper(Protocol):
    """A run in progress: iterate over it for blocks of samples; `position` says where it is, `ending` how it ended."""

    driven: DrivenModel
    position: Position
    ending: Ending
    policy: ConstraintPolicy
    """The constraint policy."""
    watches_events: bool
    """Whether something is watched that the run records as events."""

    @property
    def norm_policy(self) -> str:
        """What keeps quaternions at unit length, as the Dataset reports it."""

    def __iter__(self) -> Iterator[Samples]:
        """Blocks of samples from the position on; a new run begins with its start."""

    def start(self) -> Samples:
        """The first sample."""

    def reached(self) -> Iterator[Samples]:
        """The state where the run was interrupted, if it lies beyond the last sample."""

    def extras(self, q: np.ndarray, v: np.ndarray) -> dict[str, Extra]:
        """Further variables of the Dataset at all samples q (n, nq), v (n, nv) so far, by name."""
