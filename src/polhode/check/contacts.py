"""Contacts that would have to pull: wheels, disks and spheres whose rolling constraint holds them down.

A rolling constraint keeps its body on the plane whichever way the force between them acts. A real plane only pushes:
where the normal force is negative, a real wheel lifts off, and the motion is another one.

Four wheels of a rigid cart share its weight in more than one way: forces n + Z c, Z from the left null vectors of the
rows. There one has to pull if none of these ways is without a pull: the largest of min(n + Z c) over c is negative.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polhode.check.constraint_monitor import strength
from polhode.check.diagnosis import ranked_rows
from polhode.result.verdict import NOTE, PULLING_GROUND, Check
from polhode.system.shared import once_per_system
from polhode.system.system import System

PULLING = 1e-6
"""The part of the largest normal force of a run, from which a pull counts."""

SHARED = 32
"""Samples of one part of a run, at most, where forces that wheels share are examined: each takes about 2 ms."""


ROUNDING = 1e-9
"""The part of the largest entry of Z from which a contact shares its force with others."""


class Pull(NamedTuple):
    """A contact that would have to pull: the strongest pull, N, and its time; the first time, s.

    Of contacts that share their forces, the names joined by ", ": one of them has to pull so much at least.
    """

    constraint: str
    force: float
    time: float
    since: float


class ContactMonitor:
    """Normal forces of rolling constraints over the samples of a run."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.rows, self.names = _contacts(system)
        self._found: dict[str, Pull] = {}
        self._largest = 0.0

    def see(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        """Go on to some samples."""
        if not self.rows:
            return
        multipliers = self.system.constraint_reactions(q, v, tau, t=time).multipliers
        force = np.where(np.isfinite(multipliers), multipliers, 0.0)[:, self.rows]
        self._largest = max(self._largest, float(np.max(abs(force), initial=0.0)))
        low = np.any(force < -PULLING * self._largest, axis=1)
        if not np.any(low):
            return
        force, time, q, v = force[low], time[low], q[low], v[low]
        known = strength(self.system, time, q, v).determined[:, self.rows]
        for k, name in enumerate(self.names):
            self._note(name, time, np.where(known[:, k], force[:, k], 0.0))
        self._shared(time, q, v, np.where(known, 0.0, force))

    def _note(self, name: str, time: np.ndarray, force: np.ndarray) -> None:
        """Note the pulls among forces (n,) of a contact."""
        pulled = np.flatnonzero(force < -PULLING * self._largest)
        if not len(pulled):
            return
        i, earlier = int(np.argmin(force)), self._found.get(name)
        now = Pull(name, float(force[i]), float(time[i]), float(time[pulled[0]]))
        if earlier:
            now = min(now, earlier, key=lambda pull: pull.force)._replace(since=earlier.since)
        self._found[name] = now

    def _shared(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, force: np.ndarray) -> None:
        """Note the pulls that no way to share forces (n, contacts) avoids; forces that are known are 0 here."""
        low = np.flatnonzero(np.any(force < -PULLING * self._largest, axis=1))
        for i in low[:: max(1, -(-len(low) // SHARED))]:
            found = ranked_rows(self.system, q[i], v[i], float(time[i]))
            Z = (found.left_null / found.sizes[:, None])[self.rows]
            sharing = np.any(abs(Z) > ROUNDING * np.max(abs(Z), initial=0.0), axis=1)
            least = _least_pull(force[i][sharing], Z[sharing])
            names = ", ".join(name for name, yes in zip(self.names, sharing, strict=True) if yes)
            self._note(names, time[i : i + 1], np.array([least]))

    @property
    def pulls(self) -> list[Pull]:
        """The contacts that would have to pull."""
        return [pull for pull in self._found.values() if pull.force < -PULLING * self._largest]


@once_per_system
def _contacts(system: System) -> tuple[list[int], list[str]]:
    """The rows of normal forces, and the names of their constraints."""
    named = {f"{c.name}.{c.kind.normal_row}": c.name for c in system.model.constraints if c.kind.normal_row}
    rows = [i for i, name in enumerate(system.constraint_names) if name in named]
    return rows, [named[system.constraint_names[i]] for i in rows]


def _least_pull(n: np.ndarray, Z: np.ndarray) -> float:
    """The largest of min(n + Z c, 0) over c: below 0 where no way to share the forces is without a pull."""
    from scipy.optimize import linprog

    k, m = Z.shape
    found = linprog([*[0.0] * m, -1.0], np.column_stack([-Z, np.ones(k)]), n, bounds=[*[(None, None)] * m, (None, 0.0)])
    return -float(found.fun) if found.success else 0.0


def pull_notes(pulls: Sequence[Pull]) -> list[Check]:
    """A note of the grade for each contact that would have to pull."""
    return [Check(PULLING_GROUND, pull.force, None, None, "N", NOTE, _told(pull)) for pull in pulls]


def _told(pull: Pull) -> str:
    when = f"at t = {pull.time:.6g} s (first at t = {pull.since:.6g} s)"
    where, least = f"'{pull.constraint}'", ""
    if ", " in pull.constraint:
        where, least = f"one of {pull.constraint}, which share the load,", "at least "
    return (
        f"the ground would have to pull at {where} with {least}{-pull.force:.4g} N {when}; a real wheel would lift off"
    )
