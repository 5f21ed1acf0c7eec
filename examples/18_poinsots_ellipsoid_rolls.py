"""Poinsot's construction: a free body turns as its ellipsoid rolls, without slipping, on a plane that stands still.

Draw ω from a fixed point O. In the body its tip lies on the ellipsoid ω·Jω = 2T; in space it stays in the plane
ω·L = 2T, because T and L are constant. The normal of the ellipsoid at the tip is Jω, the angular momentum, which is
the normal of the plane: the two touch, and the point in which they touch is at rest for an instant, for it lies on
the axis of rotation. So the ellipsoid rolls. The tip draws the polhode on the ellipsoid and the herpolhode in the
plane, at the same speed: (dω/dt) is the same in space and in the body, since ω × ω = 0. The polhode closes; the
herpolhode, between its two circles, as a rule never does (Poinsot 1834).
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.quaternion import rotate
from polhode.show.figure import save_figure

J = np.array([1.0, 2.0, 2.8])  # kg m²
body = ph.Model("free body", (0, 0, 0), [ph.Body("b", 1.0, J)], [ph.Joint("flight", "free", "world", "b")])
run = ph.simulate(body, v=[0, 0, 0, 1.0, 0.9, 0.6], duration=24.0, samples=4801, tolerance=1e-12)

figure = ph.plot.poinsot(run)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

in_body, in_space = run["omega_body"].values[:, 0], run["omega_world"].values[:, 0]
L = rotate(run["quaternion"].values[:, 0], J * in_body)  # about the mass centre, space axes
twice = np.sum(J * in_body**2, axis=1)  # 2T
distance = twice[0] / np.linalg.norm(L[0])
normal = L[0] / np.linalg.norm(L[0])


def way(x):
    """Lengths of a path up to each of its points."""
    return np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))


off = np.max(abs(in_space @ normal - distance))
slip = np.max(abs(way(in_body) - way(in_space))) / way(in_body)[-1]
radius = np.linalg.norm(in_space - distance * normal, axis=1)
print(f"the plane is {distance:.4f} rad/s from O; the tip of ω leaves it by {off:.0e}")
print(f"polhode and herpolhode are {way(in_body)[-1]:.4f} and {way(in_space)[-1]:.4f} rad/s long: slip {slip:.0e}")
print(f"the herpolhode lies between circles of {radius.min():.4f} and {radius.max():.4f} rad/s")
assert off < 1e-9
assert slip < 1e-5
assert 0.2 < radius.min() < 0.25
assert 0.7 < radius.max() < 0.75
