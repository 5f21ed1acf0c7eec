"""The connecting rod of a fast slider-crank bends under its own inertia, as beams of a few elements show.

A crank of 15 cm turns with 150 rad/s, and its thin steel rod, 6 mm of 30 cm, is swung to and fro with up to 340 times
the acceleration of gravity. No load acts on it but its own mass and that of the slider, yet its middle leaves the
straight line between the pins by 1.5 % of its length, and vibrates so with its own first frequency, 5.5 times that
of the crank. Jonker (1989) and Meijaard (1996) gave this problem to test elements of flexible mechanisms.
Here nodes of the rod are rigid bodies that carry halves of its elements: errors are of second order, a quarter with
twice the elements, so that two meshes together come to within 1e-4 of the length of a rod solved by spectral elements
(deflections at quarter turns below). The crank keeps its speed since its inertia is that of a huge flywheel.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

R, L, W = 0.15, 0.3, 150.0  # m, m, rad/s
reference = np.array([0.005615, 0.003037, -0.007561, 0.000468])  # of L, after each quarter turn
section = ph.Section.circle(0.006, ph.Material(0.2e12, 0.3, 7.87e3))


def slider_crank(n: int) -> ph.Model:
    """The mechanism with n elements in its rod; stretched out along x where joints are at 0."""
    crank, slider = ph.Body("crank", 1.0, (1e6, 1e6, 1e6)), ph.Body("slider", section.mass * L / 2, (1e-5, 1e-5, 1e-5))
    shaft = ph.Joint("shaft", "revolute", "world", "crank", axis=(0, 0, 1))
    rail = ph.Joint("rail", "prismatic", "world", "slider", axis=(1, 0, 0), position=(R + L, 0, 0))
    pins = [ph.BeamEnd(body, (x, 0, 0), "revolute", (0, 0, 1)) for body, x in (("crank", R), ("slider", 0.0))]
    rod = ph.Beam("rod", section, start=pins[0], end=pins[1], elements=n)
    return ph.Model("slider-crank", (0, 0, 0), bodies=[crank, slider], joints=[shaft, rail], beams=[rod])


def deflection(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles of the crank over a turn, and how far the middle of the rod is from its chord, of its length."""
    nodes = [[0, R * W * (1 - k / n), 0, 0, 0, -R * W / L] for k in range(1, n)]  # as a rigid rod moves
    v = np.concatenate([[W, 0, -W - R * W / L], *nodes, [-R * W / L]])
    run = ph.simulate(slider_crank(n), v=v, duration=2 * np.pi / W, tolerance=1e-6, samples=181, verify=False)
    start, middle, end = (run.position.sel(body=f"rod-{k}").values[:, :2] for k in (0, n // 2, n))
    chord, way = end - start, middle - start
    across = chord[:, 0] * way[:, 1] - chord[:, 1] * way[:, 0]
    return W * run["time"].values, across / np.linalg.norm(chord, axis=1) / L


angle, coarse = deflection(4)
_, fine = deflection(8)
extrapolated = (4 * fine - coarse) / 3
errors = [np.max(abs(w[45::45] - reference)) for w in (coarse, fine, extrapolated)]

figure, axes = new_figure(7.0, 4.2)
for w, colour, label in (
    (coarse, COLOURS[1], "4 elements"),
    (fine, COLOURS[2], "8"),
    (extrapolated, COLOURS[0], "both"),
):
    axes.plot(angle / np.pi, w, color=colour, label=label)
axes.plot([0.5, 1, 1.5, 2], reference, "o", color="0.2", mfc="white", label="spectral elements")
axes.set(xlabel="angle of the crank (π)", ylabel="deflection of the middle (of the length)")
axes.legend(frameon=False, fontsize=8.5)
axes.set_title("The rod bends by its own inertia", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print("errors of the deflection, of the length: " + ", ".join(f"{x:.1e}" for x in errors) + " with 4, 8 elements, both")
print(f"largest deflection: {np.max(extrapolated):.4f} of the length")
assert errors[2] < 1e-4 < errors[1] < errors[0] / 3
assert abs(np.max(extrapolated) - 0.0154) < 2e-4
