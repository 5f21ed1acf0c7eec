"""Runs by SUNDIALS' solvers on the compiled accelerations of a model: peers to compare our methods with."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from polhode.errors import InputError, message
from polhode.integrate import sundials
from polhode.scalar import Vec
from polhode.simulation.compiled_run import CompiledRun
from polhode.simulation.run_records import Ending, Samples, Segment

SUNDIALS = ("cvode", "cvode-bdf", "ida")
"""Adams' formulas; backward differentiation; the same on the implicit equations M v̇ + bias = τ."""


def check_peer(method: str, step: Any, events: Sequence[Any], sensitivities: Sequence[str], held: bool) -> None:
    """Refuse what a run by SUNDIALS does not take."""
    asked = {"step=…": step is not None, "events": len(events), "sensitivities": len(sensitivities)}
    asked["a sampled controller or a table that holds"] = held
    for what, given in asked.items():
        if given:
            fix = "Take a method of ph.methods."
            raise InputError(message(f"simulate, method '{method}'", "not with SUNDIALS", what, "none", fix))


class Peer:
    """A run by one of SUNDIALS' solvers; quaternions are left alone, constraints are met in accelerations only."""

    def __init__(self, compiled: CompiledRun, method: str, tolerance: float) -> None:
        self.compiled, self.method, self.tolerance = compiled, method, tolerance
        if method == "ida" and compiled.constrained:
            found = "a machine with constraints"
            raise InputError(message("simulate, method 'ida'", "not under constraints", found, "a tree", "Take cvode."))
        self.system, self.nq = compiled.system, compiled.model.nq

    def blocks(self, segments: Sequence[Segment], q: np.ndarray, v: np.ndarray, ending: Ending) -> Iterator[Samples]:
        """The samples of the run; what stopped it goes into `ending`."""
        times = np.concatenate([[0.0], *(np.array(list(segment.samples)) for segment in segments)])
        x = np.concatenate([q, v])
        if self.method == "ida":
            found = sundials.ida(self._residual, x, self._rhs(0.0, x), times, self.tolerance)
        else:
            found = sundials.cvode(self._rhs, x, times, self.tolerance, self.method == "cvode-bdf")
        n = len(found.states)
        ending.accepted = found.evaluations  # its steps it does not tell
        if found.fault:
            ending.status = "failed"
            ending.reason = f"after t = {times[max(n - 1, 0)]:.9g}: {self.method}: {found.fault}"
        yield Samples(times[:n], found.states[:, : self.nq], found.states[:, self.nq :], np.full(n, np.nan))

    def _tau(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        law = self.compiled.law
        return np.array(law(t, Vec(q.tolist()), Vec(v.tolist())), dtype=float) if law else np.zeros(len(v))

    def _rhs(self, t: float, x: np.ndarray) -> np.ndarray:
        q, v = x[: self.nq].copy(), x[self.nq :].copy()
        return np.concatenate([self.system.rate(q, v), self.system.forward_dynamics(q, v, self._tau(t, q, v), t=t)])

    def _residual(self, t: float, x: np.ndarray, xdot: np.ndarray) -> np.ndarray:
        q, v, vd = x[: self.nq].copy(), x[self.nq :].copy(), xdot[self.nq :].copy()
        moved = xdot[: self.nq] - self.system.rate(q, v)
        return np.concatenate([moved, self.system.inverse_dynamics(q, v, vd, t=t) - self._tau(t, q, v)])
