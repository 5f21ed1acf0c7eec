"""The libraries that are raced against, where they are installed."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from polhode.bench.timing import Contestant
from polhode.model import Model

Arrays = Sequence[np.ndarray]


class Peer(Protocol):
    """Another library with one machine loaded. States are ours; what is converted is not timed."""

    name: str

    def one(self, quantity: str, state: Arrays) -> Contestant | None:
        """One call at one state; None for what it has not."""

    def batch(self, quantity: str, states: Arrays) -> Contestant | None:
        """Many states; None for what it has not."""

    def result(self, quantity: str, state: Arrays) -> list[np.ndarray]:
        """The results at one state in our coordinates, to compare with."""


def installed_peers(model: Model) -> tuple[list[Peer], list[str]]:
    """The peers that are installed, with this machine; and the names of those that are not."""
    peers: list[Peer] = []
    missing = []
    try:
        from polhode.bench.pinocchio_peer import PinocchioPeer

        peers.append(PinocchioPeer(model))
    except ImportError:
        missing.append("Pinocchio")
    try:
        from polhode.bench.mujoco_peer import MujocoPeer

        peers.append(MujocoPeer(model))
    except ImportError:
        missing.append("MuJoCo")
    return peers, missing
