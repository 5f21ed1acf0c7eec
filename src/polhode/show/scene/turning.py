"""One turning body of a run: its angular velocity, its inertia about the point it turns about, what stays.

x = ω/√(2T) lies on the ellipsoid x·Jx = 1 at every instant. Where no torque acts, the path of ω in the body is the
polhode, and its tip in space stays in the invariable plane ω·L = 2T: the herpolhode.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from polhode import quaternion
from polhode.model import Model
from polhode.show.run_values import times, values
from polhode.show.scene.scene import pivot_inertia

if TYPE_CHECKING:
    from xarray import Dataset

FLATTEST = 1e-4
"""Smallest ratio of the moments for which the ellipsoid can still be drawn."""
CONSTANT = 1e-3
"""Relative change of L below which no torque acts as far as a picture can show."""
TURN = 0.12
"""Largest mean angle between neighbouring points of a drawn path, rad."""
MOST_POINTS = 2000


@dataclass(frozen=True)
class TurningBody:
    """A body's attitudes and angular velocities.

    time     (n,)
    omega    (n, 3)  body axes
    p        (n, 4)  unit quaternions, body to world
    inertia  (3, 3)  about the point it turns about, body axes
    """

    time: np.ndarray
    omega: np.ndarray
    p: np.ndarray
    inertia: np.ndarray

    @cached_property
    def _principal(self) -> tuple[np.ndarray, np.ndarray]:
        J, axes = np.linalg.eigh(self.inertia)
        return J, axes * [1, 1, np.sign(np.linalg.det(axes))]

    @property
    def J(self) -> np.ndarray:
        """Principal moments (3,), ascending."""
        return self._principal[0]

    @property
    def axes(self) -> np.ndarray:
        """Principal axes as columns (3, 3), right-handed, in body axes."""
        return self._principal[1]

    @cached_property
    def twice(self) -> np.ndarray:
        """2T = ω·Jω (n,)."""
        return np.einsum("ni,ij,nj->n", self.omega, self.inertia, self.omega)

    @cached_property
    def own(self) -> np.ndarray:
        """ω (n, 3) in principal axes."""
        return self.omega @ self.axes

    @cached_property
    def in_space(self) -> np.ndarray:
        """ω (n, 3) in world axes."""
        return np.asarray(quaternion.rotate(self.p, self.omega))

    @cached_property
    def momentum(self) -> np.ndarray:
        """L (n, 3) about the point it turns about, world axes."""
        return np.asarray(quaternion.rotate(self.p, self.omega @ self.inertia))

    @cached_property
    def change(self) -> float:
        """The largest change of L, in parts of its length."""
        return float(np.linalg.norm(self.momentum - self.momentum[0], axis=1).max() / np.linalg.norm(self.momentum[0]))

    @property
    def free(self) -> bool:
        """Whether no torque acts, as far as a picture can show."""
        return self.change < CONSTANT

    @cached_property
    def shown(self) -> np.ndarray:
        """Samples close enough to look like a curve: all of the run, or its first part."""
        steps = np.zeros(len(self.time))
        for y in (self.own / np.sqrt(self.twice)[:, None], self.in_space):
            direction = y / np.linalg.norm(y, axis=1, keepdims=True)
            steps[1:] = np.maximum(steps[1:], np.linalg.norm(np.diff(direction, axis=0), axis=1))
        last = int(np.searchsorted(np.cumsum(steps), TURN * MOST_POINTS, side="right"))
        last = max(min(last, len(self.time)), 2)
        return np.unique(np.rint(np.linspace(0, last - 1, min(last, MOST_POINTS))).astype(int))


def turning(dataset: "Dataset", model: Model) -> TurningBody | None:
    """The one body of a run that turns freely or about a point; None for other machines and for bodies at rest."""
    if len(model.bodies) != 1 or not model.joints[0].kind.has_quaternion:
        return None
    omega, attitude = values(dataset, "omega_body"), values(dataset, "quaternion")
    if omega is None or attitude is None:
        return None
    length = np.linalg.norm(attitude[:, 0], axis=1)
    good = np.isfinite(omega[:, 0]).all(1) & (abs(length - 1) < 0.1)
    p = attitude[good, 0] / length[good, None]
    found = TurningBody(times(dataset)[good], omega[good, 0], p, pivot_inertia(model)[0])
    if len(found.time) < 2 or found.J[0] <= FLATTEST * found.J[2]:
        return None
    most = found.twice.max()
    return found if most > 0 and found.twice.min() >= 1e-9 * most else None


# curves on the ellipsoid x·Jx = 1


def level_curves(J: np.ndarray, D: float, points: int = 96) -> Iterator[np.ndarray]:
    """Both curves x·Jx = 1, |Jx|² = D on the ellipsoid of the moments J_1 ≤ J_2 ≤ J_3, scaled to x_1 ≤ 1.

    About the axis k: eliminating x_k leaves an ellipse, Σ_i J_i (J_i − J_k) x_i² = D − J_k.
    """
    k = 0 if J[1] >= D and J[1] - J[0] > 1e-6 * J[2] else 2
    i, j = (1, 2) if k == 0 else (0, 1)
    angle = np.linspace(0, 2 * np.pi, points + 1)
    x = np.zeros((points + 1, 3))
    x[:, i] = math.sqrt(max((D - J[k]) / (J[i] * (J[i] - J[k])), 0.0)) * np.cos(angle)
    x[:, j] = math.sqrt(max((D - J[k]) / (J[j] * (J[j] - J[k])), 0.0)) * np.sin(angle)
    x[:, k] = np.sqrt(np.maximum(1 - J[i] * x[:, i] ** 2 - J[j] * x[:, j] ** 2, 0.0) / J[k])
    for sign in (1, -1):
        x[:, k] = sign * abs(x[:, k])
        yield x * math.sqrt(J[0])


def family(J: np.ndarray) -> Iterator[np.ndarray]:
    """Neighbouring polhodes, evenly spaced to the eye; none on a sphere."""
    for k, middle in ((0, J[1]), (2, J[1])):
        if abs(J[k] - middle) > 1e-6 * J[2]:
            for s in (0.2, 0.45, 0.7) if distinct(J) else (0.15, 0.35, 0.55, 0.75, 0.92):
                yield from level_curves(J, J[k] + (middle - J[k]) * s**2)


def distinct(J: np.ndarray) -> bool:
    """Whether there is a middle axis, and with it a separatrix."""
    return bool(np.diff(J).min() > 1e-6 * J[2])


def plane(normal: np.ndarray) -> np.ndarray:
    """Two unit vectors that span the plane and, as a right-handed frame, see it from the tip of its normal."""
    n = normal / np.linalg.norm(normal) if np.any(normal) else np.array([0.0, 0.0, 1.0])
    first = np.eye(3)[np.argmin(abs(n))]
    e1 = np.cross(np.cross(n, first), n)
    e1 /= np.linalg.norm(e1)
    return np.array([e1, np.cross(n, e1)])
