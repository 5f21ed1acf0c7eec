"""A satellite that is turned by a jerk goes on shaking: unless the jerk lasts one period of its panels.

Solar panels are light and long, and swing for minutes after each manoeuvre, since in space nothing damps them. A push
of constant torque sets them swinging about their bent shape; when it ends after a whole period, they pass their
straight shape at rest, and nothing is left to swing: the simplest of all input shapers, known since the Apollo days.
The torque speeds the satellite up for a time T and slows it down for the same time. With T one period of the panels,
which `ph.linearize` finds from the machine, the turn ends still; with three quarters of it, the same turn leaves the
panels swinging by centimetres. Angular momentum is what the torque gave, nothing, in both.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

panel = ph.Section(1e5, 50.0, 40.0, 400.0, mass=1.5, inertia_y=2e-3, inertia_z=1e-4)
satellite = ph.Model(
    "satellite",
    gravity=(0, 0, 0),
    bodies=[ph.Body("hull", 80.0, (12.0, 12.0, 15.0))],
    joints=[ph.Joint("space", "free", "world", "hull")],
    beams=[
        ph.Beam(name, panel, start=("hull", (side * 0.6, 0, 0)), end=(side * 3.6, 0, 0), up=(0, 1, 0), elements=2)
        for name, side in (("left", -1), ("right", 1))
    ],
)
n = satellite.nv
# the slowest vibration that turns the hull about z: the panels swing one forward, one back
turning = [mode for mode in ph.linearize(satellite).modes() if abs(mode.shape["q.space.omega_z"]) > 0.05]
period = 2 * np.pi / min(mode.frequency for mode in turning if mode.frequency > 1e-3)


def shaken(T):
    """How the right panel's tip moves against the hull, after and before a turn of two pulses of length T."""

    def torque(t, q, v):
        return [0.0] * 5 + [ph.where(t < T, 4.0, ph.where(t < 2 * T, -4.0, 0.0))] + [0.0] * (n - 6)

    run = ph.simulate(satellite, duration=2 * T + 2 * period, tau=torque, samples=401, tolerance=1e-7)
    p = run["quaternion"].sel(body="hull").values
    tip = run["position"].sel(body="right-2").values - run["position"].sel(body="hull").values
    across = ph.quaternion.rotate(ph.quaternion.conjugate(p), tip)[:, 1]
    t, left = run["time"].values, float(run["angular_momentum"].sel(axis="z").values[-1])
    return t, across, float(np.ptp(across[t > 2 * T])), left, run.attrs["verdict"]


figure, axes = new_figure(8.0, 4.0)
found = {}
for part, colour in ((1.0, COLOURS[0]), (0.75, COLOURS[1])):
    t, across, *found[part] = shaken(part * period)
    axes.plot(t / period, 100 * across, color=colour, label=f"pulses of {part} periods")
axes.set(xlabel="time (periods of the panels)", ylabel="tip of a panel, against the hull (cm)")
axes.legend(frameon=False)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

for part, (rest, momentum, verdict) in found.items():
    print(f"pulses of {part} periods: the tip goes on by {1e3 * rest:.2f} mm; momentum {momentum:.0e}; {verdict}")
assert found[0.75][0] > 20 * found[1.0][0]
assert all(abs(momentum) < 1e-5 for _, momentum, _ in found.values())
