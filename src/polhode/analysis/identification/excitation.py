"""`ph.excitation`: periodic motions within limits that tell the inertial parameters of a machine apart.

    q_j(t) = c_j + Σ_k (a_jk sin kωt − b_jk cos kωt)/(kω),   k = 1 … harmonics                            Swevers (1997)

All derivatives are known, and averages over periods take noise off. Coefficients are those, of many, for which the base
columns of the regressor have the least condition number.
"""

from dataclasses import dataclass, field

import numpy as np

from polhode.analysis.identification.base_parameters import base_parameters
from polhode.check.joint_limits import limited_axes
from polhode.constrain.constraint_policy import DEFAULT_POLICY
from polhode.errors import InputError, message
from polhode.model import Model, check_model
from polhode.scalar import Array, real_number, shown
from polhode.system.shared import shared_system

MARGIN = 0.95
"""The part of the ranges of coordinates, speeds and accelerations that motions use."""

SAMPLES = 24
"""Instants of a period, per harmonic, at which limits and the condition number are looked at: between them a motion
differs by less than 1 − cos(π/24), 1 % of its amplitude, which MARGIN covers."""

FIRST_SHARE = 0.3
"""The part of the trials that are independent of each other; all others vary the best one so far."""

SPREADS = (0.5, 0.02)
"""By how much the first and the last trials vary coefficients, relative to their sizes."""


@dataclass(frozen=True, eq=False)
class Excitation:
    """A periodic motion: call it with times for q, v and v̇.

    center       (nv,)             c, rad or m
    sine         (nv, harmonics)   a, rad/s or m/s
    cosine       (nv, harmonics)   b
    period       s
    condition    of the base columns, each of length 1, over a period
    """

    center: np.ndarray
    sine: np.ndarray = field(repr=False)
    cosine: np.ndarray = field(repr=False)
    period: float
    condition: float

    def __call__(self, t: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v, v̇ (..., nv) at times (...), s."""
        k = np.arange(1, self.sine.shape[1] + 1) * (2 * np.pi / self.period)
        angle = np.asarray(t, dtype=float)[..., None] * k
        s, c = np.sin(angle), np.cos(angle)
        q = self.center + (s / k) @ self.sine.T - (c / k) @ self.cosine.T
        return q, c @ self.sine.T + s @ self.cosine.T, (c * k) @ self.cosine.T - (s * k) @ self.sine.T


def excitation(
    model: Model,
    *,
    period: float = 10.0,
    harmonics: int = 5,
    speed: Array = 1.5,
    acceleration: Array = 5.0,
    trials: int = 300,
    seed: int = 0,
) -> Excitation:
    """A periodic motion within the limits of joints that tells base parameters apart, for `ph.identify`.

    period        s
    harmonics     of the period, up to the highest frequency harmonics/period
    speed         (nv,) or one for all: largest velocities, rad/s or m/s
    acceleration  (nv,) or one for all: largest accelerations, rad/s² or m/s²
    trials        motions whose condition number is looked at
    seed          of the trials

    Joints without limits move within half a turn, or half a metre, of the model's start.

        >>> import polhode as ph
        >>> motion = ph.excitation(ph.load("double-pendulum"), trials=5)
        >>> q, v, vd = motion([0.0, 0.1, 0.2])
        >>> q.shape
        (3, 2)
    """
    where = "excitation"
    check_model(where, model)
    if model.nq != model.nv or not model.nv or model.constraints:
        found = f"nq {model.nq}, nv {model.nv}, {len(model.constraints)} constraints"
        fix = "Lock other joints: model.with_locked([…])."
        raise InputError(message(f"{where}, model", "not a tree of one-axis joints", found, "nq = nv", fix))
    period = real_number(f"{where}, period", period, "seconds above 0", 0.0)
    for name, value in (("harmonics", harmonics), ("trials", trials)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 1 <= value <= 100_000:
            raise InputError(message(f"{where}, {name}", "out of range", shown(value), "a whole number above 0"))
    most = [_bounds(f"{where}, {name}", x, model.nv) for name, x in (("speed", speed), ("acceleration", acceleration))]
    return ExcitationSearch(model, period, int(harmonics), *most).best(int(trials), np.random.default_rng(seed))


def _bounds(where: str, value: Array, n: int) -> np.ndarray:
    try:
        found = np.broadcast_to(np.asarray(value, dtype=float), (n,))
    except (ValueError, TypeError):
        raise InputError(message(where, "not numbers", shown(value), f"a number, or ({n},)")) from None
    if not np.all((found > 0) & np.isfinite(found)):
        raise InputError(message(where, "out of range", shown(value), "numbers above 0"))
    return found


class ExcitationSearch:
    """Motions of one model, and how well each tells its base parameters apart."""

    def __init__(
        self, model: Model, period: float, harmonics: int, speed: np.ndarray, acceleration: np.ndarray
    ) -> None:
        self.system = shared_system(model, DEFAULT_POLICY, quick=False)
        self.columns = base_parameters(model).columns
        self.period, self.harmonics, self.most = period, harmonics, (speed, acceleration)
        start = np.array(model.start.q if model.start and model.start.q is not None else model.zero, dtype=float)
        linear = np.array([x for joint in model.joints for x in joint.kind.linear], dtype=bool)
        half = np.where(linear, 0.5, np.pi)
        self.lower, self.upper = start - half, start + half
        for axis in limited_axes(model):
            self.lower[axis.q] = axis.lower if np.isfinite(axis.lower) else axis.upper - 2 * half[axis.v]
            self.upper[axis.q] = axis.upper if np.isfinite(axis.upper) else axis.lower + 2 * half[axis.v]
        self.times = np.arange(SAMPLES * harmonics) * period / (SAMPLES * harmonics)

    def best(self, trials: int, rng: np.random.Generator) -> Excitation:
        """The best of some motions: the first apart from each other, then ever smaller changes of the best."""
        n, alone = len(self.lower), max(int(FIRST_SHARE * trials), 1)
        best = found = self.alone(rng)
        spreads = np.geomspace(*SPREADS, max(trials - alone, 1))
        middle, half = (self.lower + self.upper) / 2, (self.upper - self.lower) / 2
        for k in range(1, trials):
            if k < alone:
                found = self.alone(rng)
            else:
                size = spreads[k - alone] * max(np.std(best.sine), np.std(best.cosine))
                changes = size * rng.standard_normal((2, n, self.harmonics))
                place = (best.center - middle) / half + spreads[k - alone] * rng.uniform(-0.3, 0.3, n)
                found = self.trial(best.sine + changes[0], best.cosine + changes[1], place)
            best = found if found.condition < best.condition else best
        return best

    def alone(self, rng: np.random.Generator) -> Excitation:
        """A motion of random coefficients."""
        n = len(self.lower)
        sine, cosine = rng.standard_normal((2, n, self.harmonics))
        return self.trial(sine, cosine, rng.uniform(-0.3, 0.3, n))

    def trial(self, sine: np.ndarray, cosine: np.ndarray, place: np.ndarray) -> Excitation:
        """A motion of these shapes, as large as limits allow; place: its centre, parts of the range from the middle."""
        raw = Excitation(np.zeros(len(place)), sine, cosine, self.period, np.inf)
        q, v, vd = raw(self.times)
        middle, half = (self.lower + self.upper) / 2, (self.upper - self.lower) / 2
        center = middle + np.clip(place, -0.6, 0.6) * half
        room = np.minimum(self.upper - center, center - self.lower)
        sizes = [np.max(abs(x), axis=0) for x in (q, v, vd)]
        scale = MARGIN * np.min([most / size for most, size in zip((room, *self.most), sizes, strict=True)], axis=0)
        motion = Excitation(center, scale[:, None] * sine, scale[:, None] * cosine, self.period, np.inf)
        Y = self.system.torque_regressor(*motion(self.times))[..., self.columns].reshape(-1, len(self.columns))
        sizes_of_columns = np.linalg.norm(Y, axis=0)
        if not np.all(sizes_of_columns > 0):
            return motion
        Y = Y / sizes_of_columns
        s = np.linalg.eigvalsh(Y.T @ Y)  # accurate to conditions of 1e7, far above those that are looked for
        condition = float(np.sqrt(s[-1] / s[0])) if s[0] > 0 else np.inf
        return Excitation(motion.center, motion.sine, motion.cosine, self.period, condition)
