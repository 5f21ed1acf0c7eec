"""Oscillations that the steps of a run extinguish although the machine would go on with them.

Some methods (radau, radau2, radau3, generalized-alpha) damp what is faster than their steps, in a run and in its
companion alike: the two agree, and both have lost a motion that lasts. Control of the error does not prevent it: a
vibration of small amplitude and high velocity may be below the tolerance of both. Small motions about a state of the
run are sums of modes,

    ẏ = J y,   J r = λ r,   w J = λ w,   w·r = 1:    a mode adds 2|c r| to the state, c = w·ÿ/λ²; a jump, c = w·Δẏ/λ

and a mode that the steps do not resolve, excited at the start or by a jump of the forces, is lost where the samples
after that no longer have it. Its size is an error from then on, which decays as the mode would, with Re λ.

Under control of the error the largest step may be one long after the mode, which the machine itself may have ended: a
contact opens, and what vibrated on it no longer does. So what is missed is looked for in the same run by steps that
resolve it (`Companion.estimate`): what those have not kept either was not lost by steps.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from polhode.integrate.methods import METHODS
from polhode.linalg.rank import null_space
from polhode.result.checks import GOOD_CAP
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
"""Samples, and jumps of accelerations, at which modes are looked at."""

NEAR = 1.25
"""How much faster or slower a mode may have become along a run and be the same; the vibrations of a beam of several
elements are often closer, which hides a lost one behind another that was kept."""

BESIDE = 1e-12
"""How far before and after a time accelerations are compared to see a jump, in parts of the time."""

SIDES = 1 - BESIDE, 1 + BESIDE

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

    def _accelerations(self, q: np.ndarray, v: np.ndarray, after: float = 0.0) -> np.ndarray:
        """Accelerations (m, nv) at states (m, nq), (m, nv), some time after the sample."""
        return _accelerations(self.driven, np.full(len(q), self.at.t + after), q, v, self.at.level)

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

    def excited(self, t: float) -> list[Oscillation]:
        """The oscillations that begin at a time at which accelerations jump."""
        if not len(self.values):
            return []
        _, q, v, _ = self.at
        (before,), (after,) = (self._accelerations(q[None], v[None], t * side - self.at.t) for side in SIDES)
        jump = np.concatenate([np.zeros(self.N.shape[1]), (after - before) @ self.N])
        return [x._replace(begin=t) for x in self._sizes(self.w @ jump / self.values)]


def _accelerations(
    driven: DrivenModel, time: np.ndarray, q: np.ndarray, v: np.ndarray, level: np.ndarray | None
) -> np.ndarray:
    """Accelerations (m, nv) at times (m,) and states (m, nq), (m, nv).  level: forces that a controller holds (nv,)"""
    tau = driven.forces(time, q, v)
    if tau is None:
        tau = np.zeros_like(v) if level is None else np.tile(level, (len(v), 1))
    return driven.system.forward_dynamics(q, v, tau, t=time)


def _nothing(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """No eigenvalues, no vectors."""
    return np.zeros(0, dtype=complex), np.zeros((2 * n, 0)), np.zeros((2 * n, 0))


class Extinguished:
    """What the steps of a run extinguish; it sees the samples of the run part by part.

    samples  how many there are
    largest  the largest step of the run, s
    """

    def __init__(self, scenario: Scenario, driven: DrivenModel, samples: int, largest: float) -> None:
        self.driven = driven
        options = scenario.options
        damps = scenario.method in METHODS and METHODS[scenario.method].damps
        self.h = (largest if options.step is None else options.step) if damps else 0.0
        good = GOOD_CAP if options.accuracy is None else options.accuracy
        self.least = min(options.tolerance, good) if options.step is None else 0.0
        """Oscillations below this size are no matter: that of a controlled run's error which is always good."""
        self.jumps = self._jumps(scenario) if self.h else []
        """Times at which accelerations jump."""
        self.places = set(np.geomspace(1, max(samples - 1, 1), MOST).astype(int).tolist()) | {0, 1} if self.h else set()
        self.around: list[tuple[Sample, float]] = []
        """The last sample before each jump, and the time of the jump."""
        self.kept: list[Sample] = []

    def _jumps(self, scenario: Scenario) -> list[float]:
        """The times of the largest jumps of accelerations, taken at the start of the run."""
        times = np.union1d(breaks(scenario.tau, scenario.duration), scenario.knots)
        if not len(times):
            return []
        q, v = (np.tile(x, (len(times), 1)) for x in (scenario.q, scenario.v))
        before, after = (_accelerations(self.driven, times * side, q, v, None) for side in SIDES)
        sizes, noise = np.max(abs(after - before), axis=1), NOISE * np.max(abs(after), initial=0.0)
        largest = [k for k in np.argsort(-sizes)[:MOST] if sizes[k] > noise]
        return [float(times[k]) for k in sorted(largest)]

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

        after = [int(np.searchsorted(time, t, "right")) for t in self.jumps]
        for k, jump in zip(after, self.jumps, strict=True):
            if 0 < k < len(time):
                self.around.append((sample(k - 1), jump))
        for k in sorted({n - first for n in self.places} | set(after)):
            if 0 <= k < len(time):
                self.kept.append(sample(k))

    def remains(self, one: Oscillation, since: float, sample: Sample) -> bool:
        """Whether an oscillation that is missed from a time on is there in a sample of that time."""
        return _like(one, self._present(sample)) >= LOST * one.at(since)

    def _present(self, sample: Sample) -> list[Oscillation]:
        """The oscillations of a sample among which one that is missed is looked for."""
        return Modes(self.driven, sample, LOST * UNRESOLVED / self.h).present()

    def missed(self) -> list[tuple[float, Oscillation]]:
        """Each oscillation that later samples no longer have, and from which on, s."""
        if not self.h or len(self.kept) < 2:
            return []
        start, *later = self.kept
        slowest = UNRESOLVED / self.h
        begun = Modes(self.driven, start, slowest).present()
        for sample, t in self.around:
            begun += Modes(self.driven, sample, slowest).excited(t)
        begun = [one for one in begun if one.size > self.least]
        if not begun:
            return []
        left = [(sample.t, self._present(sample)) for sample in later]
        found = []
        for one in begun:
            since = math.inf
            for t, modes in reversed(left):  # from which sample on it is not there
                if not one.begin < t or _like(one, modes) >= LOST * one.at(t):
                    break
                if one.eigenvalue.imag * (t - one.begin) > TURNED:
                    since = t
            if since < math.inf:
                found.append((since, one))
        return found


def _like(one: Oscillation, modes: list[Oscillation]) -> float:
    """The largest size among oscillations of a later sample that may be this one: those near its frequency, or where
    none is near any more, all that are not much slower."""
    rate = one.eigenvalue.imag
    near = [x.size for x in modes if rate / NEAR < x.eigenvalue.imag < rate * NEAR]
    return max(near or [x.size for x in modes if x.eigenvalue.imag > LOST * rate], default=0.0)
