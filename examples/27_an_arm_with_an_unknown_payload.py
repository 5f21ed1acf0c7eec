"""What an unknown payload does to an arm: five hundred runs of a computed-torque controller that does not know it.

A seven-axis arm moves to a target by computed torque: the inverse dynamics of its own model at a wanted
acceleration. In the model the gripper is empty. Here it holds up to one kilogram, and the arm must carry it: it
settles, but not where it should, for gravity pulls with a weight that the controller leaves out, and only the
stiffness of the feedback holds against it. In a study a controller keeps the nominal numbers while each run has
its own machine, so this is one option, not a second model. The error at the end grows in proportion to the payload;
the time to come to rest hardly changes. Doubling the stiffness halves the error: the usual case for an integral
term.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

RUNS = 256
arm = ph.load("arm-7")
target = [0.5, 0.9, -0.3, -1.2, 0.4, 0.8, 0.0]
empty = arm.numbers()["bodies.flange.mass"]
away = " + ".join(f"(q.joint{k} - {x})^2" for k, x in enumerate(target, 1)).replace("- -", "+ ")
speed = " + ".join(f"v.joint{k}^2" for k in range(1, 8))


def study(stiffness):
    """Runs with one stiffness of the feedback, 1/s², critically damped."""
    return ph.sweep(
        arm, {"payload": ph.Uniform(0.0, 1.0)}, runs=RUNS, seed=33, design="sobol",
        derived={"bodies.flange.mass": f"{empty} + payload"},
        tau=ph.ComputedTorque(stiffness, 2 * np.sqrt(stiffness), target=target),
        duration=3.0, step=2e-3, method="rk4", every=15,
        outputs={"away": f"sqrt({away})", "speed": f"sqrt({speed})"}, keep=(),
        measures={"error": ph.Measure("final", "away"), "rest": ph.Measure("settle", "speed", 0.0, 0.01)},
    )  # fmt: skip


soft, stiff = study(100.0), study(200.0)
payload = soft["sample"].values[:, 0]
slope = [np.polyfit(payload, runs["error"].values, 1)[0] for runs in (soft, stiff)]

figure, (left, middle, right) = new_figure(10.4, 3.5, ncols=3)
order = np.argsort(payload)
shown = np.linspace(0, RUNS - 1, 25).astype(int)
for k in order[shown]:
    left.semilogy(soft["time"], soft["away"][k], color=COLOURS[0], alpha=0.25 + 0.7 * payload[k], lw=0.9)
left.set(xlabel="time (s)", ylabel="distance to the target (rad)")
left.set_title("Stiffness 100, darker: heavier", loc="left", fontsize=10)
for runs, colour, label in ((soft, 0, "stiffness 100"), (stiff, 1, "stiffness 200")):
    middle.plot(payload, runs["error"], ".", ms=3, color=COLOURS[colour], label=label)
    right.plot(payload, runs["rest"], ".", ms=3, color=COLOURS[colour], label=label)
middle.set(xlabel="payload (kg)", ylabel="error at the end (rad)")
right.set(xlabel="payload (kg)", ylabel="time to rest (s)", ylim=(0, 3))
middle.legend(frameon=False, fontsize=9)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)
print(f"error per kilogram {slope[0]:.4f} and {slope[1]:.4f} rad/kg; ratio {slope[0] / slope[1]:.2f}")

assert np.isfinite(soft["rest"]).all() and 1.7 < slope[0] / slope[1] < 2.3  # noqa: PT018
