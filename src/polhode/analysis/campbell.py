"""Campbell diagrams: frequencies of a machine about its steady rotation, against the speed of a shaft.

At each speed the steady motion is found (beams are stretched by it), and the small motions about it are seen in axes
that turn along. Modes are followed from speed to speed by their shapes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from polhode.analysis.equations_at_state import equations_at_state
from polhode.analysis.held_speeds import with_speeds_held
from polhode.analysis.linear import Linear, linearize
from polhode.analysis.names import unknown
from polhode.analysis.steady import Steady, steady_motion
from polhode.errors import InputError, UnknownNameError, message
from polhode.model import WORLD, Joint, Model, check_model, plain
from polhode.quaternion import rotation_matrix
from polhode.result.labels import dof_names
from polhode.scalar import flag, shown

OSCILLATES = 1e-7
"""The imaginary part, relative to the largest eigenvalue, from which an eigenvalue counts as one that oscillates: two
that are equal are found to about the root of rounding."""

ALIKE = 0.7
"""The modal assurance criterion from one speed to the next below which a speed between them is looked at: 1 for one
shape, 0 for shapes across each other. Two modes that veer pass 0.5."""

HALVINGS = 4
"""How often the way from one speed to the next is halved at most, to follow shapes."""

STRANGE = 0.05
"""The criterion below which a mode continues none of those before."""

SAME = 1e-6
"""The difference of two eigenvalues, in parts of their size, up to which they are one: then any two shapes of the plane
that belongs to them may be found, nearly the same ones too."""

IN_ORDER = 1e-9
"""The criterion that modes which continue equally well prefer their order by, for each place between them."""

UPRIGHT = 1e-9
"""The sine of the angle between a shaft and gravity up to which gravity is along it: rounding."""


class OrderCrossing(NamedTuple):
    """A speed, rad/s, at which a frequency is so many times the speed of the shaft.

    mode   its place among the modes
    order  how many oscillations a turn
    """

    speed: float
    order: float
    mode: int


@dataclass(frozen=True, eq=False, repr=False)
class Campbell:
    """Frequencies against the speed of a shaft, seen in axes that turn with it.

    speeds       (n,)         rad/s
    eigenvalues  (n, k)       1/s, the upper one of each pair; one mode a column, NaN where it does not oscillate
    shapes       (n, k, nv)   complex, along the velocities in axes that turn; the largest part is 1
    steady       (n,)         the steady motions
    names        (nv,)        of the velocities
    shaft        the velocity whose values the speeds are
    """

    speeds: np.ndarray
    eigenvalues: np.ndarray
    shapes: np.ndarray
    steady: tuple[Steady, ...]
    names: tuple[str, ...]
    shaft: str
    model: str

    @property
    def frequencies(self) -> np.ndarray:
        """(n, k)  rad/s"""
        return self.eigenvalues.imag

    @property
    def damping(self) -> np.ndarray:
        """(n, k)  −Re/|λ|: below 0 for one that grows"""
        return -self.eigenvalues.real / abs(self.eigenvalues)

    def crossings(self, orders: Sequence[float] = (1, 2, 3, 4)) -> list[OrderCrossing]:
        """The speeds at which a frequency is a multiple of the speed, by a curve through the samples; ascending."""
        found = []
        for order in orders:
            for k, path in enumerate(self.frequencies.T):
                found += [OrderCrossing(x, float(order), k) for x in _zeros(self.speeds, path - order * self.speeds)]
        return sorted(found)

    def table(self) -> str:
        """The frequencies, rad/s, a row a speed."""
        head = ["speed, rad/s", *(f"mode {k + 1}" for k in range(self.eigenvalues.shape[1]))]
        rows = [
            [f"{x:.6g}", *("–" if math.isnan(w) else f"{w:.6g}" for w in row)]
            for x, row in zip(self.speeds.tolist(), self.frequencies.tolist(), strict=True)
        ]
        widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
        lines = ["  ".join(text.rjust(w) for text, w in zip(row, widths, strict=True)) for row in [head, *rows]]
        return "\n".join([f"{self.model}: frequencies, rad/s, against the speed of '{self.shaft}'", *lines])

    __str__ = table

    def __repr__(self) -> str:
        n, k = self.eigenvalues.shape
        return f"<Campbell of '{self.model}': {k} modes at {n} speeds of '{self.shaft}'>"


def campbell(
    model: Model,
    speeds: Sequence[float],
    *,
    shaft: str | None = None,
    modes: int = 8,
    drive: bool = True,
    constant: Mapping[str, float] | None = None,
) -> Campbell:
    """Frequencies and shapes of small vibrations about the steady rotation at each speed, followed by their shapes.

    speeds    rad/s, ascending
    shaft     the velocity that has these values; unless given that of the joint that turns at the start, or of the one
              revolute joint on the world that gravity is along
    modes     how many, those that are lowest somewhere
    drive     whether the shaft is driven: its speed stays, whatever vibrates. With False it may vibrate too
    constant  further velocities or coordinates of the steady motions, as `ph.steady_motion` takes them

        >>> section = ph.Section(axial=1e6, torsion=1, bending_y=1, bending_z=1, mass=1, inertia_y=1e-6, inertia_z=1e-6)
        >>> shaft = ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1))
        >>> blade = ph.Beam("blade", section, start=("hub", (0, 0, 0)), end=(1, 0, 0), elements=2)
        >>> rotor = ph.Model("rotor", (0, 0, 0), [ph.Body("hub", 1, (1, 1, 1))], [shaft], beams=[blade])
        >>> print(ph.campbell(rotor, [1, 2], modes=2).frequencies[-1].round(2))  # lag and flap; exact: 3.62, 4.14
        [3.64 4.16]
    """
    where = "campbell"
    check_model(where, model)
    name, drive = shaft_of(model, shaft, where), flag(f"{where}, drive", drive)
    if isinstance(modes, bool) or not isinstance(modes, int) or modes < 1:
        raise InputError(message(f"{where}, modes", "not a count", shown(modes), "1, 2, …"))
    found = _Rotations(model, name, drive, dict(constant or {}))
    x = _checked_speeds(where, speeds)
    paths = _FollowedModes(found, modes)
    for speed in x:
        paths.follow(speed)
    eigenvalues, shapes = paths.at(x)
    states = tuple(found.at(speed).steady for speed in x)
    return Campbell(np.array(x), eigenvalues, shapes, states, tuple(dof_names(model)), name, model.name)


def shaft_of(model: Model, given: str | None = None, where: str = "campbell") -> str:
    """The name of the velocity that is the speed of rotation."""
    known = dof_names(model)
    if given is not None:
        if given not in known:
            raise unknown(f"{where}, shaft", given, known)
        return given
    turning = [joint for joint in model.joints if joint.kind.nv == 1 and not any(joint.kind.linear)]
    start = dict(zip(known, model.start.v, strict=False)) if model.start and model.start.v is not None else {}
    spinning = sorted((joint.name for joint in turning), key=lambda name: -abs(start.get(name, 0.0)))
    if spinning and start.get(spinning[0]):
        return spinning[0]
    roots = [joint.name for joint in turning if joint.parent == WORLD and _is_upright(model, joint)]
    if len(roots) == 1:
        return roots[0]
    told = "several joints turn on the world: " + ", ".join(roots) if roots else "no joint turns on the world freely"
    fix = 'Name it, shaft="…", or give the model a start that turns.'
    raise InputError(message(f"{where}, model '{model.name}'", "no shaft", told, "one", fix))


def _is_upright(model: Model, joint: Joint) -> bool:
    """Whether gravity is along the axis of a joint on the world, or none."""
    gravity = np.array(plain(model.gravity), dtype=float)
    R = np.asarray(rotation_matrix(np.array(plain(joint.orientation), dtype=float)))
    across = np.cross(R @ np.array(plain(joint.axis), dtype=float), gravity)
    return bool(np.max(abs(across)) <= UPRIGHT * np.max(abs(gravity)))


def _checked_speeds(where: str, speeds: Any) -> list[float]:
    try:
        x = np.array(speeds, dtype=float)
    except (TypeError, ValueError):
        x = np.zeros((0, 0))
    if x.ndim != 1 or not len(x) or not np.all(np.isfinite(x)) or not np.all(np.diff(x) > 0):
        raise InputError(message(f"{where}, speeds", "not ascending numbers", shown(speeds), "rad/s, as [0, 10, 20]"))
    return [float(value) for value in x]


class _Rotation(NamedTuple):
    """What oscillates at one speed: eigenvalues (k,), shapes (k, nv), the mass matrix (nv, nv)."""

    steady: Steady
    values: np.ndarray
    shapes: np.ndarray
    mass: np.ndarray


class _Rotations:
    """The modes at any speed; each steady motion is sought from the one at the nearest speed that is known."""

    def __init__(self, model: Model, shaft: str, drive: bool, constant: dict[str, float]) -> None:
        self.model, self.shaft, self.drive, self.constant = model, shaft, drive, constant
        self.known: dict[float, _Rotation] = {}

    def at(self, speed: float) -> _Rotation:
        """The modes at a speed."""
        if speed not in self.known:
            state = self._steady(speed)
            small = linearize(self.model, state.q, state.v, tau=state.tau, generator=state.generator)
            small = with_speeds_held(small, [self.shaft]) if self.drive else small
            M = equations_at_state(self.model).mass_matrix(state.q)
            self.known[speed] = _Rotation(state, *oscillations(small), M)
        return self.known[speed]

    def _steady(self, speed: float) -> Steady:
        q, v = None, None
        if self.known:
            near = min(self.known, key=lambda x: abs(x - speed))
            q, v = self.known[near].steady.q, self.known[near].steady.v
            v = v * (speed / near) if near else None
        try:
            return steady_motion(self.model, {self.shaft: speed, **self.constant}, q, v)
        except UnknownNameError:
            raise
        except InputError as error:
            fix = (
                f"  '{self.shaft}' turns steadily only where nothing depends on its angle: gravity is along it, "
                "or none; what it runs in is round."
            )
            raise InputError(f"{error}\n{fix}") from None


def oscillations(small: Linear) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues (k,) that oscillate, the upper one of each pair, lowest first, and their shapes (k, nv)."""
    values, vectors = np.linalg.eig(small.essential)
    size = float(np.max(abs(values), initial=0.0))
    upper = np.flatnonzero(values.imag > OSCILLATES * size)
    upper = upper[np.argsort(values.imag[upper])]
    half = len(small.all_names) // 2
    shapes = np.array([small.shape(values[k], vectors[:, k])[:half] for k in upper], dtype=complex).reshape(-1, half)
    tops = [row[int(np.argmax(abs(row)))] for row in shapes]
    return values[upper], shapes / np.array(tops, dtype=complex)[:, None]


def assurance(a: np.ndarray, b: np.ndarray, M: np.ndarray) -> np.ndarray:
    """The modal assurance criterion (k, l) of shapes (k, n) and (l, n): |aᴴMb|²/(aᴴMa bᴴMb)."""
    own = [np.einsum("ki,ij,kj->k", x.conj(), M, x).real for x in (a, b)]
    return abs(a.conj() @ M @ b.T) ** 2 / np.maximum(np.outer(*own), 1e-300)


def one_eigenvalue(values: np.ndarray) -> list[np.ndarray]:
    """The places of several values each that are one eigenvalue."""
    order = np.argsort(values.imag)
    ends = np.flatnonzero(abs(np.diff(values[order])) > SAME * abs(values[order][1:])) + 1
    return [group for group in np.split(order, ends) if len(group) > 1]


def nearest(a: np.ndarray, b: np.ndarray, M: np.ndarray) -> np.ndarray:
    """What is nearest to each shape b (l, n) among all that the shapes a (k, n) span."""
    A = a.conj() @ M
    found: np.ndarray = np.linalg.lstsq(A @ a.T, A @ b.T, rcond=None)[0].T @ a
    return found


def assurance_of_spans(values: np.ndarray, a: np.ndarray, b: np.ndarray, M: np.ndarray) -> np.ndarray:
    """The assurance (k, l) of shapes a and b, for those a that have one eigenvalue that of b and all that they span.

    values  (k,)  of a
    """
    found = assurance(a, b, M)
    for group in one_eigenvalue(values):
        found[group] = np.diag(assurance(nearest(a[group], b, M), b, M))
    return found


class _FollowedModes:
    """Modes followed over speeds: each path has the places of its modes by speed."""

    def __init__(self, rotations: _Rotations, count: int) -> None:
        self.rotations, self.count = rotations, count
        self.paths: list[dict[float, int]] = []
        self.chosen: dict[tuple[float, int], np.ndarray] = {}
        """Of modes of one eigenvalue, by speed and place, the shapes that go on."""
        self.last: float | None = None

    def follow(self, speed: float, halvings: int = HALVINGS) -> None:
        """Go on to a speed; by speeds between where shapes change much."""
        now = self.rotations.at(speed)
        if self.last is None:
            self.paths, self.last = [{speed: k} for k in range(len(now.values))], speed
            return
        before, earlier = [path for path in self.paths if self.last in path], self.rotations.at(self.last)
        places = np.array([path[self.last] for path in before], dtype=int)
        shapes = np.array([self._shape(self.last, k) for k in places]).reshape(-1, len(now.mass))
        alike = np.maximum(
            assurance_of_spans(earlier.values[places], shapes, now.shapes, now.mass),
            assurance_of_spans(now.values, now.shapes, shapes, now.mass).T,
        )
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(IN_ORDER * abs(places[:, None] - np.arange(len(now.values))) - alike)
        low = [alike[r, c] for r, c in zip(rows, columns, strict=True) if min(places[r], c) < self.count]
        middle = (self.last + speed) / 2
        if low and min(low) < ALIKE and halvings and self.last < middle < speed:
            self.follow(middle, halvings - 1)
            self.follow(speed, halvings - 1)
            return
        taken = {int(c): before[r] for r, c in zip(rows, columns, strict=True) if alike[r, c] > STRANGE}
        for c in range(len(now.values)):
            if c in taken:
                self._choose((speed, c), (self.last, taken[c][self.last]))
                taken[c][speed] = c
            else:
                self.paths.append({speed: c})
        self.last = speed

    def _shape(self, speed: float, place: int) -> np.ndarray:
        return self.chosen.get((speed, place), self.rotations.at(speed).shapes[place])

    def _choose(self, *modes: tuple[float, int]) -> None:
        """Of two modes, by speed and place, that are one: where several have the eigenvalue of one of them, take the
        shape among theirs that is nearest to the other."""
        for (speed, place), other in (modes, modes[::-1]):
            there = self.rotations.at(speed)
            for group in one_eigenvalue(there.values):
                if place in group and (speed, place) not in self.chosen:
                    (shape,) = nearest(there.shapes[group], self._shape(*other)[None], there.mass)
                    self.chosen[speed, place] = shape / shape[int(np.argmax(abs(shape)))]

    def at(self, speeds: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues (n, k) and shapes (n, k, nv) of the paths that are among the lowest somewhere; else NaN."""
        kept = [path for path in self.paths if any(path.get(x, self.count) < self.count for x in speeds)]
        kept.sort(key=lambda path: next((i, path[x]) for i, x in enumerate(speeds) if x in path))
        n = len(self.rotations.at(speeds[0]).mass)
        values = np.full((len(speeds), len(kept)), np.nan, dtype=complex)
        shapes = np.full((len(speeds), len(kept), n), np.nan, dtype=complex)
        for i, x in enumerate(speeds):
            there = self.rotations.at(x)
            for k, path in enumerate(kept):
                if x in path:
                    values[i, k], shapes[i, k] = there.values[path[x]], self._shape(x, path[x])
        return values, shapes


def _zeros(x: np.ndarray, y: np.ndarray) -> list[float]:
    """Where a curve through samples is 0, gaps left out; not at x = 0."""
    from scipy.interpolate import PchipInterpolator
    from scipy.optimize import brentq

    known = np.isfinite(y)
    if np.sum(known) < 2:
        return []
    curve = PchipInterpolator(x[known], y[known])
    found = [float(b) for b, at in zip(x[known], y[known], strict=True) if at == 0 and b != 0]
    for (a, u), (b, w) in pairwise(zip(x[known].tolist(), y[known].tolist(), strict=True)):
        if u * w < 0:
            found.append(float(brentq(curve, a, b, xtol=1e-12 * max(abs(a), abs(b)))))
    return found
