"""Contacts that would have to pull: wheels, disks and spheres whose rolling constraint holds them down.

A rolling constraint keeps its body on the plane whichever way the force between them acts. A real plane only pushes:
where the normal force is negative, a real wheel lifts off, and the motion is another one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polhode.check.constraint_monitor import strength
from polhode.result.verdict import NOTE, Check
from polhode.system.system import System

PULLING = 1e-6
"""The part of the largest normal force of a run, from which a pull counts."""


class Pull(NamedTuple):
    """A contact that would have to pull: the strongest pull, N, and its time; the first time, s."""

    constraint: str
    force: float
    time: float
    since: float


class ContactMonitor:
    """Normal forces of rolling constraints over the samples of a run."""

    def __init__(self, system: System) -> None:
        self.system = system
        rows = {f"{c.name}.{c.kind.normal_row}": c.name for c in system.model.constraints if c.kind.normal_row}
        self.rows = [i for i, name in enumerate(system.constraint_names) if name in rows]
        self.names = [rows[system.constraint_names[i]] for i in self.rows]
        self._found, self._largest = dict[str, Pull](), 0.0

    def see(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        """Go on to some samples. Forces that redundant rows share are left out: each of them alone is not known."""
        if not self.rows:
            return
        force = self.system.constraint_reactions(q, v, tau, t=time).multipliers[:, self.rows]
        force = np.where(np.isfinite(force), force, 0.0)
        self._largest = max(self._largest, float(np.max(abs(force), initial=0.0)))
        low = np.any(force < 0, axis=1)
        if not np.any(low):
            return
        known = strength(self.system, time[low], q[low], v[low]).determined[:, self.rows]
        force, time = np.where(known, force[low], 0.0), time[low]
        for k, name in enumerate(self.names):
            pulled = np.flatnonzero(force[:, k] < -PULLING * self._largest)
            if not len(pulled):
                continue
            i, earlier = int(np.argmin(force[:, k])), self._found.get(name)
            now = Pull(name, float(force[i, k]), float(time[i]), float(time[pulled[0]]))
            if earlier:
                now = min(now, earlier, key=lambda pull: pull.force)._replace(since=earlier.since)
            self._found[name] = now

    @property
    def pulls(self) -> list[Pull]:
        """The contacts that would have to pull."""
        return [pull for pull in self._found.values() if pull.force < -PULLING * self._largest]


def pull_notes(pulls: Sequence[Pull]) -> list[Check]:
    """A note of the grade for each contact that would have to pull."""
    return [Check("ground force", pull.force, None, None, "N", NOTE, _told(pull)) for pull in pulls]


def _told(pull: Pull) -> str:
    when = f"at t = {pull.time:.6g} s (first at t = {pull.since:.6g} s)"
    return (
        f"the ground would have to pull at '{pull.constraint}' with {-pull.force:.4g} N {when}; "
        "a real wheel would lift off"
    )
