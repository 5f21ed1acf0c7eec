"""Runs by SUNDIALS on the compiled accelerations of a model: solvers to compare our methods with."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from polhode.check.singular_positions import PathWatch, text_of
from polhode.errors import InputError, message
from polhode.integrate import sundials
from polhode.result.dataset import Extra
from polhode.scalar import Vec
from polhode.simulation.driven_model import DrivenModel
from polhode.simulation.run_records import Ending, Position, Samples, first_sample
from polhode.simulation.scenario import Scenario
from polhode.system.shared import shared_system
from polhode.system.system import System

FINEST = 20_000
"""Steps at least that knots of tables may cause: SUNDIALS has no times at which its steps end."""


class SundialsRun:
    """A run by one of SUNDIALS' solvers; quaternions are left alone, constraints are met in accelerations only."""

    norm_policy = "none"

    def __init__(self, scenario: Scenario) -> None:
        options = scenario.options
        self.scenario, self.method, self.tolerance = scenario, scenario.method, options.tolerance
        start = scenario.q, scenario.v
        self.driven = DrivenModel(scenario.model, scenario.tau, options.policy, start=start)
        self.driven.check_forces(*start)
        self.watches_events = False
        self.policy = replace(options.policy, keeping="none")
        self.position, self.ending = Position(0.0, *start), Ending()
        self.nq = scenario.model.nq
        if self.method == "ida" and self.driven.constrained:
            found = "a machine with constraints"
            raise InputError(message("simulate, method 'ida'", "not under constraints", found, "a tree", "Take cvode."))

    def __iter__(self) -> Iterator[Samples]:
        """All samples, in one block; a fault goes into `ending`."""
        times = np.concatenate([[0.0], *(np.array(list(segment.samples)) for segment in self.scenario.segments)])
        x = np.concatenate([self.scenario.q, self.scenario.v])
        if self.method == "ida":
            found = sundials.ida(self._residual, x, self._rhs(0.0, x), times, self.tolerance, self._longest)
        else:
            found = sundials.cvode(self._rhs, x, times, self.tolerance, self._longest, self.method == "cvode-bdf")
        n = len(found.states)
        self.ending.accepted = found.evaluations  # its steps it does not tell
        if found.fault:
            self.ending.status = "failed"
            self.ending.reason = f"after t = {times[max(n - 1, 0)]:.9g}: {self.method}: {found.fault}"
        self.position.t = float(times[n - 1]) if n else 0.0
        if self.driven.constrained and n:
            watch = PathWatch(self.driven.system)
            watch.see(times[:n], found.states[:, : self.nq], found.states[:, self.nq :], last=True)
            self.ending.singular, self.ending.singular_count = text_of(watch.found), watch.count
        yield Samples(times[:n], found.states[:, : self.nq], found.states[:, self.nq :], np.full(n, np.nan))

    @property
    def _longest(self) -> float:
        """The longest step, s: as a scenario allows, and the shortest time between knots; 0: any."""
        duration, edges = self.scenario.duration, np.array([0.0, *self.scenario.knots, self.scenario.duration])
        between = max(float(np.min(np.diff(edges))), duration / FINEST) if len(edges) > 2 else np.inf
        longest = min(self.scenario.longest, between)
        return 0.0 if longest > duration else longest

    def start(self) -> Samples:
        """The first sample."""
        return first_sample(self.position)

    def reached(self) -> Iterator[Samples]:
        """Nothing: an interrupted solver gives no state."""
        return iter(())

    def extras(self, q: np.ndarray, v: np.ndarray) -> dict[str, Extra]:
        """No further variables."""
        return {}

    @cached_property
    def _system(self) -> System:
        """The System whose accelerations are asked for at every step."""
        return shared_system(self.scenario.model, self.driven.policy, quick=False)

    def _tau(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        law = self.driven.law
        return np.array(law(t, Vec(q.tolist()), Vec(v.tolist())), dtype=float) if law else np.zeros(len(v))

    def _rhs(self, t: float, x: np.ndarray) -> np.ndarray:
        q, v, system = x[: self.nq].copy(), x[self.nq :].copy(), self._system
        return np.concatenate([system.rate(q, v), system.forward_dynamics(q, v, self._tau(t, q, v), t=t)])

    def _residual(self, t: float, x: np.ndarray, xdot: np.ndarray) -> np.ndarray:
        q, v, vd = x[: self.nq].copy(), x[self.nq :].copy(), xdot[self.nq :].copy()
        system = self._system
        moved = xdot[: self.nq] - system.rate(q, v)
        return np.concatenate([moved, system.inverse_dynamics(q, v, vd, t=t) - self._tau(t, q, v)])
