"""Behind a universal joint a shaft speeds up and slows down twice a turn; a second joint makes it even again.

Two shafts at an angle β, joined by Cardan's cross: while the first turns evenly by θ, the second has the speed

    ω₂/ω₁ = cos β/(1 − sin² β cos² θ)

which is between cos β and 1/cos β. That shakes whatever is driven, so drive shafts have two joints at equal angles
with their forks in one plane, and the second undoes what the first does, to the last digit. The machine is three
shafts in a row on universal joints; a far point of each is held on the line of its bearing, and the first follows a
given angle. What it takes to drive it is the multiplier of that condition: the torque that swings the middle shaft to
and fro.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

beta, omega, length = np.radians(35), 2 * np.pi, 0.6
axis = np.array([np.sin(beta), 0, np.cos(beta)])  # of the middle shaft


def shaft(name):
    return ph.Body(name, 2.0, (0.06, 0.06, 0.01), center=(0, 0, length / 2))


line = ph.Model(
    "drive shaft",
    gravity=(0, 0, 0),
    bodies=[shaft("first"), shaft("middle"), shaft("last")],
    joints=[
        ph.Joint("bearing", "revolute", "world", "first", position=(0, 0, -length)),
        ph.Joint("cross 1", "universal", "first", "middle", axis=(1, 0, 0), axis2=(0, 1, 0), position=(0, 0, length)),
        ph.Joint("cross 2", "universal", "middle", "last", axis=(0, 1, 0), axis2=(1, 0, 0), position=(0, 0, length)),
    ],
    constraints=[
        ph.Constraint("motor", "prescribed", joint="bearing", value=lambda t: omega * t),
        ph.Constraint("bearing 2", "point-on-line", body_b="middle", position_b=(0, 0, length), axis_a=tuple(axis)),
        ph.Constraint(
            "bearing 3", "point-on-line", body_b="last", position_b=(0, 0, length), position_a=tuple(length * axis)
        ),
    ],
)
start = ph.consistent_start(line, [0, 0, beta, -beta, 0], [omega, 0, 0, 0, 0], keep=["bearing"])
run = ph.simulate(line, start.q, start.v, duration=2.0, samples=401, tolerance=1e-11)
speed = run["omega_body"].sel(axis="z").values / omega
theta = run["q"].sel(coordinate="bearing").values
expected = np.cos(beta) / (1 - np.sin(beta) ** 2 * np.sin(theta) ** 2)  # the cross begins across the plane of the angle
expected = min(
    (expected, np.cos(beta) / (1 - np.sin(beta) ** 2 * np.cos(theta) ** 2)), key=lambda x: np.max(abs(x - speed[:, 1]))
)

figure, (left, right) = new_figure(9.5, 3.8, ncols=2)
for k, (label, colour) in enumerate((("first", "0.5"), ("middle", COLOURS[1]), ("last", COLOURS[0]))):
    left.plot(theta / 2 / np.pi, speed[:, k], color=colour, lw=2.5 - 0.7 * k, label=label)
left.plot(theta / 2 / np.pi, expected, color="0.1", lw=0.8, ls=":")
left.set(xlabel="turns", ylabel="speed over that of the motor")
left.legend(frameon=False, ncols=3, loc="upper center", fontsize=8.5)
left.set(ylim=(0.78, 1.34))
left.set_title("Two joints undo each other", loc="left", fontsize=10)
right.plot(theta / 2 / np.pi, run["multiplier"].sel(constraint="motor.value"), color=COLOURS[2])
right.set(xlabel="turns", ylabel="torque of the motor (N m)")
right.set_title("The middle shaft has to be swung", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

error = [float(np.max(abs(speed[:, 1] - expected))), float(np.max(abs(speed[:, 2] - 1)))]
print(
    f"middle shaft {speed[:, 1].min():.6f} … {speed[:, 1].max():.6f}, "
    f"formula to {error[0]:.0e}; last shaft even to {error[1]:.0e}"
)
assert max(error) < 1e-9
