"""Why a bow string sounds and a door creaks: a block on a belt sticks, breaks away, slips back, and sticks again.

A spring holds a block that lies on a moving belt. Dry friction carries it along until the spring pulls with the
break-away force F_s; then it slips against the smaller F_c, swings about F_c/k, and sticks again when its speed is
that of the belt. Friction by events has no creep: while it sticks the block moves with the belt to rounding, and both
instants are located. The motion is put together from straight lines and arcs of a circle in the phase plane,

    stick 2 (F_s − F_c)/(k V),   slip (π + 2φ)/ω,   tan φ = V k/(ω (F_s − F_c)),   ω² = k/m

with the speed V of the belt. A faster belt shortens the stick: the note becomes higher, up to that of the free
oscillator. In each cycle the belt does work on the block while it sticks, and slip turns it into heat; on the block
friction does no work in a whole cycle, so the spring and the block have at its end what they had before.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

m, k, coulomb, static = 1.0, 4.0, 1.0, 2.0  # kg, N/m, N, N
omega, middle_x, half = np.sqrt(k / m), coulomb / k, (static - coulomb) / k  # rad/s, m, m
belt = ph.Model(
    "belt",
    gravity=(0, 0, 0),
    bodies=[ph.Body("block", m, (0.1, 0.1, 0.1))],
    joints=[ph.Joint("slide", "prismatic", "world", "block", axis=(1, 0, 0), stiffness=k)],
    forces=[ph.JointFriction("rub", "slide", coulomb, static, drive_speed=0.3, method="events")],
)


def exact(t, speed):
    """x, ẋ at times since the block stuck, and the period: stick, then slip."""
    phase, stick = np.arctan2(speed / omega, half), 2 * half / speed
    radius, period = np.hypot(half, speed / omega), stick + (np.pi + 2 * phase) / omega
    s = np.mod(t, period)
    angle = omega * (s - stick) - phase
    x = np.where(s < stick, middle_x - half + speed * s, middle_x + radius * np.cos(angle))
    return x, np.where(s < stick, speed, -omega * radius * np.sin(angle)), period


figure, (left, middle, right) = new_figure(11.0, 3.6, ncols=3, width_ratios=[1.35, 1.0, 1.2])
errors, rests = [], []
for colour, speed in zip(COLOURS, (0.1, 0.3, 1.0), strict=False):
    start = [middle_x - half], [speed, 0.0]  # the second number is the mode of friction: 0, it sticks
    this = belt.with_numbers({"forces.rub.drive_speed": speed})
    run = ph.simulate(this, *start, duration=20.0, tolerance=1e-10, samples=2001)
    t, x, v = run["time"].values, run["q"].values[:, 0], run["v"].values[:, 0]
    expected_x, expected_v, period = exact(t, speed)
    errors.append(max(np.max(abs(x - expected_x)), np.max(abs(v - expected_v))))
    scale = run["kinetic_energy"].max() + np.ptp(run["potential_energy"].values)
    rests.append(float(abs(run["total_energy"] - run["total_energy"][0] - run["work"]).max() / scale))
    left.plot(t, x, color=colour, lw=1.3, label=f"{speed:g} m/s, period {period:.2f} s")
    middle.plot(x, v, color=colour, lw=1.3)
    if speed == 0.3:
        events = run["event_time"].values
        right.plot(t, run["total_energy"] - run["total_energy"][0], color="0.15", lw=2.6, alpha=0.35, label="stored")
        right.plot(t, run["work_by_source"].sel(work_source="rub"), color=COLOURS[1], lw=1.2, label="work of friction")
        for name, instant in zip(run["event_name"].values, events, strict=True):
            right.axvline(instant, color="0.6", lw=0.8, ls=":" if name == "rub.sticks" else "--")
left.set(xlabel="time (s)", ylabel="extension of the spring (m)", ylim=(-0.45, 1.25))
left.set_title("Belts of three speeds", loc="left", fontsize=10)
left.legend(frameon=False, fontsize=8.5, ncols=1, loc="upper right")
middle.set(xlabel="extension (m)", ylabel="speed (m/s)")
middle.set_title("Straight: sticks; round: slips", loc="left", fontsize=10)
right.set(xlabel="time (s)", ylabel="energy since the start (J)", xlim=(0, 9), ylim=(-0.15, 0.75))
right.set_title("0.3 m/s: slips dashed, sticks dotted", loc="left", fontsize=10)
right.legend(frameon=False, fontsize=8.5)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print("largest errors against the closed form:", ", ".join(f"{error:.0e}" for error in errors))
print("energy that work does not explain, of its scale:", ", ".join(f"{rest:.0e}" for rest in rests))
assert max(errors) < 1e-9
assert max(rests) < 1e-8
