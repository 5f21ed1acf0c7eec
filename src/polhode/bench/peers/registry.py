"""The libraries that are raced against, where they are installed."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from polhode.bench.timing import Contestant
from polhode.model import Model

Arrays = Sequence[np.ndarray]


class TooLargeError(Exception):
    """A machine that a peer cannot take here, and why."""


class Peer(Protocol):
    """Another library with one machine loaded. States are ours; what is converted is not timed."""

    name: str

    def one(self, quantity: str, state: Arrays) -> Contestant | None:
        """One call at one state; None for what it has not."""

    def batch(self, quantity: str, states: Arrays) -> Contestant | None:
        """Many states; None for what it has not."""

    def result(self, quantity: str, state: Arrays) -> list[np.ndarray]:
        """The results at one state in our coordinates, to compare with."""


PEERS = {
    "Pinocchio": "pinocchio_peer:PinocchioPeer",
    "MuJoCo": "mujoco_peer:MujocoPeer",
    "Drake": "drake_peer:DrakePeer",
    "CasADi": "casadi_peer:on_virtual_machine",
    "CasADi + gcc": "casadi_peer:through_gcc",
}
"""Where each peer of single calls is: a module beside this one, which imports the library, and its maker."""

READERS = {"Pinocchio": "pinocchio_peer:from_its_file"}
"""Peers of robots: they read the very file that we read."""


def peer_module(name: str) -> Any:
    """The module of a peer, loaded now: it imports a library that may not be installed (ImportError)."""
    return import_module(f"polhode.bench.peers.{name}")


def installed_peers(model: Model, known: Mapping[str, str] = PEERS) -> tuple[list[Peer], list[str]]:
    """The peers that are installed, with this machine; and, for each that is not there, its name and why.

    known  PEERS, or READERS
    """
    peers: list[Peer] = []
    missing = []
    for name, place in known.items():
        module, _, maker = place.partition(":")
        try:
            peers.append(getattr(peer_module(module), maker)(model))
        except ImportError:
            missing.append(f"{name}: not installed")
        except TooLargeError as error:
            missing.append(f"{name}, {model.name}: {error}")
    return peers, missing
