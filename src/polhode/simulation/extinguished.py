"""Oscillations that the steps of a run extinguish although the machine would go on with them.

Some methods (radau2, radau3, generalized-alpha) damp what is faster than their steps, in a run and in its companion
alike: the two agree, and both have lost a motion that lasts. Small motions about a state of the run are sums of modes,

    ẏ = J y,   J r = λ r,   w J = λ w,   w·r = 1:    a mode adds 2|c r| to the state, c = w·ÿ/λ²; a jump, c = w·Δẏ/λ

and a mode that the steps do not resolve, excited at the start or by a jump of the forces, is lost where the samples
after that no longer have it. Its size is an error from then on, which decays as the mode would, with Re λ.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from polhode.integrate.methods import METHODS
from polhode.linalg.rank import null_space
from polhode.simulation.driven_model import DrivenModel
from polhode.simulation.inputs import breaks
from polhode.simulation.scenario import Scenario

UNRESOLVED = 0.3
"""Radians of an oscillation in one step up to which a companion of shorter steps keeps it, over a million steps."""

LOST = 0.1
"""An oscillation is extinguished where less than this part of it is left of what should be."""

TURNED = 10.0
"""Radians that an oscillation has to turn before it can count as extinguished: no method damps one that much sooner."""

NEARBY = 1e-6
"""Changes of coordinates and velocities by which accelerations are differentiated."""

NOISE = 1e-7
"""The error of such derivatives, about, in parts of the largest."""

AHEAD = 1e-4
"""The time over which the motion is differentiated, in radians of its fastest mode."""

TINY = 1e-300
"""Rates below this are none."""

MOST = 8
"""Samples, and jumps of forces, at which modes are looked at."""

Arrays = Mapping[str, np.ndarray]
"""Samples by name: time, q, v, and tau where a sampled controller held it."""


class Sample(NamedTuple):
    """A sample of a run: t, q (nq,), v (nv,), and the forces that a sampled controller held (nv,)."""

    t: float
    q: np.ndarray
    v: np.ndarray
    level: np.ndarray | None


class Oscillation(NamedTuple):
    """An oscillation that begins at a time, s: λ, 1/s, and its size in parts of 1 + the values of the state."""

    begin: float
    eigenvalue: complex
    size: float

    def at(self, time: Any) -> Any:
        """Its size at later times; one that would grow is as large as it was."""
        return self.size * np.exp(min(self.eigenvalue.real, 0.0) * (time - self.begin))


class Modes:
    """The modes about a sample that oscillate with at least a number of radians per second."""

    def __init__(self, driven: DrivenModel, at: Sample, slowest: float) -> None:
        self.driven, self.at = driven, at
        system, (t, q, v, _) = driven.system, at
        self.N = np.eye(len(v))
        if driven.constrained:
            self.N = null_space(system.constraint_rows(q, v, t=t)[0], driven.policy.rank_tolerance)
        n = self.N.shape[1]
        changes = NEARBY * np.vstack([self.N.T, -self.N.T])
        by_q = self._accelerations(system.integrate(np.tile(q, (2 * n, 1)), changes), np.tile(v, (2 * n, 1)))
        by_v = self._accelerations(np.tile(q, (2 * n, 1)), v + changes)
        F_q, F_v = (self.N.T @ (x[:n] - x[n:]).T / (2 * NEARBY) for x in (by_q, by_v))
        by_position, by_velocity = (float(np.linalg.norm(x)) for x in (F_q, F_v))
        self.unit = max(math.sqrt(by_position), by_velocity, TINY)
        """The unit of λ: y = (unit δ, δv)"""
        J = np.block([[np.zeros((n, n)), self.unit * np.eye(n)], [F_q / self.unit, F_v]])
        from scipy.linalg import eig  # takes a tenth of a second, and few runs need it

        values, left, right = eig(J, left=True, right=True) if n and np.all(np.isfinite(J)) else _nothing(n)
        w = left.conj().T
        overlap = np.sum(w * right.T, axis=1)
        sure = NOISE * self.unit < LOST * abs(overlap) * abs(values)  # else a multiple zero that rounding has split
        kept = sure & (values.imag > slowest)
        self.values, self.w, self.r = values[kept], w[kept] / overlap[kept, None], right[:, kept]

    def _accelerations(self, q: np.ndarray, v: np.ndarray, after: float = 0.0, more: Any = 0.0) -> np.ndarray:
        """Accelerations (m, nv) at states (m, nq), (m, nv), under further forces."""
        time = np.full(len(q), self.at.t + after)
        tau = self.driven.forces(time, q, v)
        if tau is None:
            tau = np.zeros_like(v) if self.at.level is None else np.tile(self.at.level, (len(v), 1))
        return self.driven.system.forward_dynamics(q, v, tau + more, t=time)

    def _sizes(self, shares: np.ndarray) -> Iterator[Oscillation]:
        """The oscillations of the modes, from their shares c (m,)."""
        n, (t, q, v, _) = self.N.shape[1], self.at
        for value, c, r in zip(self.values, shares, self.r.T, strict=True):
            position, velocity = 2 * abs(c * (self.N @ r[:n])) / self.unit, 2 * abs(c * (self.N @ r[n:]))
            position /= 1 + abs(q) if len(q) == len(v) else 1.0  # angles of quaternions are at most of size 1
            yield Oscillation(t, value, float(max(np.max(position), np.max(velocity / (1 + abs(v))))))

    def present(self) -> list[Oscillation]:
        """The oscillations of the sample itself."""
        if not len(self.values):
            return []
        _, q, v, _ = self.at
        after = AHEAD / abs(self.values).max()
        (vd,) = self._accelerations(q[None], v[None])
        (later,) = self._accelerations(self.driven.system.integrate(q, after * v)[None], (v + after * vd)[None], after)
        jerk = np.concatenate([self.unit * vd @ self.N, (later - vd) @ self.N / after])
        return list(self._sizes(self.w @ jerk / self.values**2))

    def excited(self, t: float, force: np.ndarray) -> list[Oscillation]:
        """The oscillations that begin at a time with a jump of the generalised forces (nv,)."""
        if not len(self.values):
            return []
        _, q, v, _ = self.at
        states = np.vstack([q, q]), np.vstack([v, v])
        before, after = self._accelerations(*states, more=np.vstack([0 * force, force]))
        jump = np.concatenate([np.zeros(self.N.shape[1]), (after - before) @ self.N])
        return [x._replace(begin=t) for x in self._sizes(self.w @ jump / self.values)]


def _nothing(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """No eigenvalues, no vectors."""
    return np.zeros(0, dtype=complex), np.zeros((2 * n, 0)), np.zeros((2 * n, 0))


class Extinguished:
    """What the steps of a run extinguish; it sees the samples of the run part by part.

    samples  how many there are
    """

    def __init__(self, scenario: Scenario, driven: DrivenModel, samples: int) -> None:
        self.driven = driven
        step = scenario.options.step
        damps = scenario.method in METHODS and METHODS[scenario.method].damps
        self.h = step if step is not None and damps else 0.0
        self.jumps = self._jumps(scenario) if self.h else []
        """Times at which forces jump, and by how much (nv,)."""
        self.places = set(np.geomspace(1, max(samples - 1, 1), MOST).astype(int).tolist()) | {0, 1} if self.h else set()
        self.around: list[tuple[Sample, float, np.ndarray]] = []
        """The last sample before each jump, and the jump."""
        self.kept: list[Sample] = []

    def _jumps(self, scenario: Scenario) -> list[tuple[float, np.ndarray]]:
        """The largest jumps of the forces, taken at the start of the run."""
        times = np.union1d(breaks(scenario.tau, scenario.duration), scenario.knots)
        q, v = (np.tile(x, (len(times), 1)) for x in (scenario.q, scenario.v))
        ends = [self.driven.forces(times * (1 + sign * 1e-12), q, v) for sign in (-1, 1)]
        if not len(times) or ends[0] is None or ends[1] is None:
            return []
        forces = ends[1] - ends[0]
        sizes = np.max(abs(forces), axis=1)
        largest = [k for k in np.argsort(-sizes)[:MOST] if sizes[k] > 0]
        return [(float(times[k]), forces[k]) for k in sorted(largest)]

    def watched(self, parts: Iterable[Arrays]) -> Iterator[Arrays]:
        """The same parts of the samples, each seen before it is used."""
        first = 0
        for part in parts:
            if self.h:
                self._see(part, first)
            first += len(part["time"])
            yield part

    def _see(self, part: Arrays, first: int) -> None:
        """See further samples, the first of which has this number."""
        time, tau = part["time"], part.get("tau")

        def sample(k: int) -> Sample:
            q, v = (np.array(part[name][k]) for name in ("q", "v"))  # a view would keep the whole part in memory
            return Sample(float(time[k]), q, v, None if tau is None else np.array(tau[k]))

        after = [int(np.searchsorted(time, t, "right")) for t, _ in self.jumps]
        for k, jump in zip(after, self.jumps, strict=True):
            if 0 < k < len(time):
                self.around.append((sample(k - 1), *jump))
        for k in sorted({n - first for n in self.places} | set(after)):
            if 0 <= k < len(time):
                self.kept.append(sample(k))

    def lost(self) -> list[tuple[float, Oscillation]]:
        """Each oscillation that was extinguished, and from which sample on, s."""
        if not self.h or len(self.kept) < 2:
            return []
        start, *later = self.kept
        slowest = UNRESOLVED / self.h
        begun = Modes(self.driven, start, slowest).present()
        for sample, t, force in self.around:
            begun += Modes(self.driven, sample, slowest).excited(t, force)
        if not begun:
            return []
        left = [x for sample in later for x in Modes(self.driven, sample, slowest * LOST).present()]
        found = []
        for one in begun:
            after = next((x.t for x in later if x.t > one.begin), math.inf)
            rest = [x.size for x in left if x.begin > one.begin and x.eigenvalue.imag > LOST * one.eigenvalue.imag]
            turned = one.eigenvalue.imag * (after - one.begin)
            if TURNED < turned < math.inf and max(rest, default=0.0) < LOST * one.at(after):
                found.append((after, one))
        return found
