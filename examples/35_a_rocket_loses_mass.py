"""Four fifths of a rocket are what it throws away: its speed by the rocket equation, and what gravity costs.

A rocket pushes itself off from the mass that it expels, ṁ a second with the speed u against itself. The lighter it
is, the more it gains from the same push, so that its speed grows with the logarithm of its mass,

    v = u ln(m₀/m) − g t,      h = u t − (m/ṁ) u ln(m₀/m) − ½ g t²,      m = m₀ − ṁ t        Tsiolkovsky

until the propellant is spent. The first term does not ask how long it burns; the second does: a slow burn holds the
rocket up for longer and pays for it, and one with less thrust than weight would not lift off. `ph.Thrust` has the
mass that has left as a state of the run, finds the instant of burn-out, and the rocket flies on as a stone. Three
rockets expel the same propellant within 10, 30 and 90 seconds, without drag. The account of energy closes though the
body changes: the work of the engine is that of its thrust, less the energy that what it expels takes along.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

full, propellant, u, g = 100.0, 80.0, 2000.0, 9.81  # kg, kg, m/s, m/s²
rocket = ph.Model(
    "rocket",
    bodies=[ph.Body("rocket", full, (200.0, 200.0, 4.0))],
    joints=[ph.Joint("flight", "free", "world", "rocket")],
    forces=[ph.Thrust("engine", "rocket", flow=1.0, exhaust_speed=u, propellant=propellant)],
)


def exact(t, burn):
    """Speed and height, m/s and m: the rocket equation, and behind it a throw."""
    burns, flow = np.minimum(t, burn), propellant / burn
    m = full - flow * burns
    gained = u * np.log(full / m)
    return gained - g * t, u * burns - m / flow * gained + gained * (t - burns) - g * t**2 / 2


figure, (left, middle, right) = new_figure(11.0, 3.6, ncols=3)
errors, rests = [], []
for colour, burn in zip(COLOURS, (10.0, 30.0, 90.0), strict=False):
    this = rocket.with_numbers({"forces.engine.flow": propellant / burn})
    run = ph.simulate(this, duration=120.0, tolerance=1e-10)
    t, h = run["time"].values, run["q"].values[:, 2]
    v, burnt = (run["v"].sel(dof=name).values for name in ("flight.speed_z", "engine.burnt"))
    speed, height = exact(t, burn)
    errors.append(max(np.max(abs(v - speed)) / u, np.max(abs(h - height)) / np.max(h)))
    errors.append(abs(float(run["event_time"][0]) / burn - 1))
    T, U, W = (run[key].values for key in ("kinetic_energy", "potential_energy", "work"))
    rests.append(np.max(abs(T + U - T[0] - U[0] - W)) / (np.max(T) + np.ptp(U)))
    left.plot(t, v, color=colour, lw=1.4, label=f"burns {burn:g} s")
    middle.plot(t, h / 1e3, color=colour, lw=1.4)
    k = np.searchsorted(t, burn)
    left.plot(burn, exact(burn, burn)[0], "o", color=colour, ms=5, mfc="white")
    middle.plot(burn, exact(burn, burn)[1] / 1e3, "o", color=colour, ms=5, mfc="white")
    right.semilogx(full / (full - burnt[:k]), v[:k], color=colour, lw=1.4)
ratio = np.array([1.0, full / (full - propellant)])
right.semilogx(ratio, u * np.log(ratio), color="0.3", lw=0.9, ls="--", label="u ln(m₀/m), without gravity")
left.set(xlabel="time (s)", ylabel="speed (m/s)", ylim=(0, 4200))
left.set_title("Burn-out at circles, then a throw", loc="left", fontsize=10)
middle.set(xlabel="time (s)", ylabel="height (km)")
middle.set_title("Height", loc="left", fontsize=10)
right.set(xlabel="mass at the start over mass", ylabel="speed (m/s)", ylim=(0, 4200), xlim=(1, 5.2))
right.set_xticks([1, 2, 3, 4, 5], ["1", "2", "3", "4", "5"])
right.set_xticks([], minor=True)
right.set_title("A logarithm, less what gravity costs", loc="left", fontsize=10)
left.legend(frameon=False, fontsize=8.5)
right.legend(frameon=False, fontsize=8.5)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(f"speed, height and burn-out against the rocket equation: {max(errors):.0e}")
print(f"energy that work does not explain: {max(rests):.0e} of its scale")
assert max(errors) < 1e-10
assert max(rests) < 1e-8
