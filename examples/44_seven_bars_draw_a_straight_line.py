"""Seven bars and hinges draw a straight line: exactly, which three cannot.

Watt guided the piston of his engine by three bars, nearly straight, and was prouder of it than of the engine. For
eighty years an exact guide was held to be impossible; then Peaucellier, and Lipkin after him, found that a rhombus of
bars b between two bars a inverts: when its near corner is at r from the pivot, the far one is at (a² − b²)/r. A circle
through the pivot is inverted to a line. Here bars are rods without mass between points of mass in a plane: seven
distances, one degree of freedom. The machine swings, lying on its side, and its pen stays on the line within the
tolerance of the run; that of Watt's bars leaves it by a few thousandths of its stroke.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

UPRIGHT = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)  # x and y of a plane joint are x and z of the world


def linkage(places, pivots, rods, gravity=(0, 0, -9.81)):
    """Points of 1 kg in the plane xz, rods between them or to pivots; and where they are."""
    where, rows = {**places, **pivots}, []
    for a, b in rods:
        end = {"body_a": a} if a in places else {"position_a": (pivots[a][0], 0, pivots[a][1])}
        length = float(np.hypot(*np.subtract(where[a], where[b])))
        rows.append(ph.Constraint(f"{a}-{b}", "distance", body_b=b, length=length, **end))
    bodies = [ph.Body(name, 1.0, (1e-2, 1e-2, 1e-2)) for name in places]
    joints = [ph.Joint(f"plane of {name}", "planar", "world", name, orientation=UPRIGHT) for name in places]
    model = ph.Model("linkage", gravity=gravity, bodies=bodies, joints=joints, constraints=rows)
    return model, [x for place in places.values() for x in (*place, 0.0)]


def paths(model, q, duration):
    run = ph.simulate(model, q=q, duration=duration, samples=401, tolerance=1e-10)
    assert run.attrs["verdict"] == "good"
    return run["q"].values.reshape(401, -1, 3)[:, :, :2]


a, b, c, turn = 1.0, 0.4, 0.35, 0.5  # m, and where the crank begins, rad
near = np.array([c + c * np.cos(turn), c * np.sin(turn)])
r = np.hypot(*near)
along, far = near / r, (a * a - b * b) / r
side = np.sqrt(b * b - (far - r) ** 2 / 4) * np.array([-along[1], along[0]])
centre = along * (r + far) / 2
corners = {"near": near, "left": centre + side, "right": centre - side, "pen": along * far}
rods = [("C", "near"), ("O", "left"), ("O", "right")]
rods += [(one, other) for one in ("left", "right") for other in ("near", "pen")]
exact = paths(*linkage(corners, {"O": (0, 0), "C": (c, 0)}, rods, gravity=(9.81, 0, 0)), 2.0)  # lies on its side
ends = {"one": np.array([0.0, 0.3]), "two": np.array([0.0, -0.3])}
watt = paths(*linkage(ends, {"A": (-1, 0.3), "B": (1, -0.3)}, [("A", "one"), ("one", "two"), ("B", "two")]), 0.3)
pen, middle = exact[:, 3], watt.mean(axis=1)

figure, (left, right) = new_figure(9.5, 4.4, ncols=2)
for k in (0, 60, 120):
    where = {**dict(zip(corners, exact[k], strict=True)), "O": (0, 0), "C": (c, 0)}
    for one, other in rods:
        left.plot(*zip(where[one], where[other], strict=True), color=COLOURS[0], lw=1.0, alpha=0.3 + 0.2 * k / 60)
left.plot(*pen.T, color=COLOURS[1], lw=2.0, label="pen")
left.set(xlabel="x (m)", ylabel="z (m)", aspect="equal")
left.legend(frameon=False)
left.set_title("Peaucellier's seven bars", loc="left", fontsize=10)
for path, label, colour in ((pen, "seven bars", COLOURS[1]), (middle, "Watt's three", COLOURS[2])):
    centred = path - path.mean(axis=0)
    direction = np.linalg.svd(centred, full_matrices=False)[2]
    off = centred @ direction.T
    right.semilogy(off[:, 0], 1e-17 + abs(off[:, 1]), ".", ms=2, color=colour, label=label)
right.set(xlabel="along the line (m)", ylabel="off the line (m)")
right.legend(frameon=False)
right.set_title("How straight", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

straight = float(np.ptp(pen[:, 0]))
print(f"pen of seven bars: stroke {np.ptp(pen[:, 1]):.2f} m, off its line by {straight:.0e} m")
print(f"that of Watt's three: stroke {np.ptp(off[:, 0]):.2f} m, off by {np.ptp(off[:, 1]):.0e} m")
assert straight < 1e-9
assert np.ptp(off[:, 1]) > 1e-3
assert np.allclose(pen[:, 0], (a * a - b * b) / (2 * c), atol=1e-9)
