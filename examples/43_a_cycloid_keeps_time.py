"""A bead on a cycloid takes the same time from wherever it starts; on a circle it does not.

Huygens looked for a clock that a rolling ship could not disturb: a pendulum whose period does not depend on how far it
swings. The curve is the cycloid, the path of a point on the rim of a disk that rolls along a ceiling. Along it the
height is a quadratic function of the length of arc, so a bead on it is a harmonic oscillator of period 4 π √(R/g),
however far it is pulled. The machine is the disk itself, without mass, geared to a cart so that it rolls, with the
bead on its rim. A pendulum of length 4 R has the same curve at the bottom, and the same time for small swings; wide
ones take longer, by the elliptic integral K(sin² α/2).
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

from scipy.special import ellipk  # isort: skip

R, g = 0.25, 9.81
rolling = ph.Model(
    "cycloid",
    bodies=[ph.Body("cart", 1e-12, (0, 0, 0)), ph.Body("disk", 1.0, (0, 0, 0), center=(0, 0, -R))],
    joints=[
        ph.Joint("ceiling", "prismatic", "world", "cart", axis=(1, 0, 0)),
        ph.Joint("axle", "revolute", "cart", "disk", axis=(0, -1, 0)),
    ],
    constraints=[ph.Constraint(lambda t, q: q[0] - R * q[1], name="rolls")],
)
pendulum = ph.Model(
    "circle",
    bodies=[ph.Body("bob", 1.0, (0, 0, 0), center=(0, 0, -4 * R))],
    joints=[ph.Joint("hinge", "revolute", "world", "bob", axis=(0, -1, 0))],
)


def quarter(model, q, watched):
    """Four times the time to the bottom, from rest."""
    bottom = ph.Event("bottom", lambda t, q, v: q[watched], terminal=True)
    run = ph.simulate(model, q=q, duration=2.0, events=[bottom], tolerance=1e-12)
    assert run.attrs["verdict"] == "good"
    return 4 * float(run["event_time"][0])


arcs = np.array([0.1, 0.3, 0.5, 0.7, 0.9]) * 4 * R  # m along the curve; 4 R is the cusp
own = [quarter(rolling, [R * theta, theta], 1) for theta in 2 * np.arcsin(arcs / (4 * R))]
circle = [quarter(pendulum, [s / (4 * R)], 0) for s in arcs]
small = 4 * np.pi * np.sqrt(R / g)
wide = [4 * np.sqrt(4 * R / g) * ellipk(np.sin(s / (8 * R)) ** 2) for s in arcs]

figure, axes = new_figure(7.5, 4.0)
axes.axhline(small, color="0.4", lw=0.8)
axes.plot(arcs, own, "o", color=COLOURS[0], label="cycloid")
axes.plot(arcs, circle, "s", color=COLOURS[1], label="circle")
axes.plot(arcs, wide, color=COLOURS[1], lw=0.8, label="elliptic integral")
axes.set(xlabel="pulled aside along the curve (m)", ylabel="period (s)")
axes.legend(frameon=False)
axes.set_title("Only one of them keeps time", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(f"cycloid: periods {min(own):.12f} … {max(own):.12f} s, 4π√(R/g) = {small:.12f} s")
print(
    f"circle: {min(circle):.6f} … {max(circle):.6f} s, "
    f"from the elliptic integral by {max(np.subtract(circle, wide)):.0e} s"
)
assert np.allclose(own, small, rtol=1e-10, atol=0)
assert np.allclose(circle, wide, rtol=1e-10, atol=0)
