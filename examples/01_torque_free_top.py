"""The flip of the intermediate axis: a body set spinning about its middle principal axis turns over.

Without a torque the momentum is constant in space and the energy is constant, so in body axes ω runs
along a polhode: a curve on the ellipsoid ω·Jω = 2T, similar to the inertia ellipsoid, where
|Jω|² = L². Around the axes of the largest and the smallest moment these curves are small loops.
Through the middle axis goes the separatrix |Jω|² = 2T J₂; beside it ω lingers near +e₂, crosses to
−e₂, lingers there and returns (Dzhanibekov's wing nut). Here RK4 on the state form, ω̇ = J⁻¹(−ω × Jω)
with ṗ = ½ Q(0, ω), Schwab-Meijaard (45), (46), follows three flips; the closed form in Jacobi's
elliptic functions (Whittaker 1937, §69) says how well.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.papers.single_body import motion
from polhode.quaternion import angle_between, normalise, rotate
from polhode.show.figure import COLOURS, new_figure, save_figure

J = np.array([1.0, 2.0, 3.0])  # kg m²
omega = np.array([0.02, 2.0, 0.01])  # rad/s: almost about the middle axis

run = motion("schwab-meijaard-45", ph.SingleBody.make(J, omega), duration=35.0, step=0.02)
exact = ph.exact.free_body(J, omega, run.t)
error = angle_between(normalise(run.p), normalise(exact.p))
energy = run.omega**2 @ J / 2
momentum = rotate(normalise(run.p), J * run.omega)  # space axes
energy_drift = np.max(abs(energy / energy[0] - 1))
momentum_drift = np.max(np.linalg.norm(momentum - momentum[0], axis=1)) / np.linalg.norm(momentum[0])
flips = np.count_nonzero(np.diff(np.sign(exact.omega[:, 1])))


def wander(axis):
    """How far ω strays, in radians, from a principal axis that it starts 0.01 rad from."""
    path = ph.exact.free_body(J, np.roll([2.0, 0.02, 0.0], axis), np.linspace(0.0, 40.0, 2001)).omega
    return np.max(np.arccos(path[:, axis] / np.linalg.norm(path, axis=1)))


# the ellipsoid seen from the direction `eye`, and the flips in time
figure, (left, right) = new_figure(8.4, 3.5, ncols=2, width_ratios=[1.1, 1.0])
eye = np.array([0.62, 0.69, 0.37]) / np.linalg.norm([0.62, 0.69, 0.37])
across = np.cross([0.0, 0.0, 1.0], eye) / np.hypot(eye[0], eye[1])
screen = np.transpose([across, np.cross(eye, across)])
e = np.transpose([np.cos(np.linspace(0, 6.29, 200)), np.sin(np.linspace(0, 6.29, 200))]) @ screen.T
rim = np.sqrt(2 * energy[0]) * (e / J) / np.sqrt(e**2 @ (1 / J))[:, None]  # where the normal J ω is e
left.fill(*(rim @ screen).T, facecolor="#eef1f4", edgecolor="#5d666d", lw=0.8)


def draw(path, **style):
    """A curve on the near side of the ellipsoid."""
    left.plot(*np.where((path * J) @ eye > 0, (path @ screen).T, np.nan), **style)


radii = np.sqrt(2 * energy[0] / J)
for angle in np.pi * (np.arange(48) + 0.5) / 24:
    path = ph.exact.free_body(J, radii * [np.cos(angle), 0.0, np.sin(angle)], np.linspace(0, 16, 800))
    draw(path.omega, color="#9aa4ab", lw=0.7)
draw(exact.omega, color=COLOURS[1], lw=2.2)
for k, end in enumerate(np.diag(radii) @ screen):
    out = end / np.linalg.norm(end)
    left.plot(*np.transpose([end, end + 0.35 * out]), color="black", lw=0.9)
    left.text(*(end + 0.52 * out), f"$\\omega_{k + 1}$", ha="center", va="center")
left.set(aspect="equal", ylim=(-1.85, 2.35))
left.axis("off")
left.set_title("Polhodes on the ellipsoid ω·Jω = 2T, body axes", loc="left", fontsize=10)
for k in (0, 1, 2):
    right.plot(run.t, exact.omega[:, k], color=COLOURS[k], label=f"$\\omega_{k + 1}$")
    right.plot(run.t[::30], run.omega[::30, k], "o", color=COLOURS[k], ms=2.6, mfc="white", mew=0.8)
right.set(xlabel="time (s)", ylabel="angular velocity, body axes (rad/s)")
right.set_title("Lines: closed form; dots: RK4", loc="left", fontsize=10)
right.legend(frameon=False, fontsize=9)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), "examples/01_torque_free_top.py", force=True)

print(f"{flips} flips in 35 s; ω strays {wander(0):.3f}, {wander(1):.3f}, {wander(2):.3f} rad from axes 1, 2, 3")
print(f"RK4: attitude error {max(error):.1e} rad, energy {energy_drift:.1e}, momentum {momentum_drift:.1e} (relative)")
assert flips == 3
assert wander(1) > 3.0 > 100 * max(wander(0), wander(2))
assert max(*error, energy_drift, momentum_drift) < 1e-5
