"""The figures of the paper, made by `make paper`: multipliers.png, speed.png, grades.png beside this file.

Speeds are those of benchmarks/speed.json; everything else is computed here, in some seconds.
"""

import json
from pathlib import Path

import numpy as np

import polhode as ph
from polhode.quaternion import angle_between, from_axis_angle, normalise, rate, rotate
from polhode.show.figure import COLOURS, new_figure, save_figure

HERE = Path(__file__).resolve().parent
MADE_BY = "paper/figures.py"


def multipliers():
    """λ of four forms along the exact motion of a heavy top, beside what they mean."""
    mass, arm = 0.5, np.array([0.0, 0.0, 0.1])  # kg, m
    about_center = np.array([5e-4, 5e-4, 4e-4])  # kg m²
    J = about_center + mass * (arm @ arm - arm * arm)
    weight = np.array([0.0, 0.0, -9.81 * mass])
    t = np.linspace(0.0, 0.5, 300)
    top = ph.exact.heavy_top(mass, about_center, arm, from_axis_angle([1.0, 0.0, 0.0], 1.0), [0.0, 2.0, 90.0], t)
    T, V = top.omega**2 @ J / 2, -rotate(top.p, arm) @ weight
    meanings = {"sherif-79": ("0", 0 * T), "sherif-29+q1": ("4T", 4 * T), "sherif-82": ("−2V", -2 * V),
                "sherif-29+gh": ("4T − 2V", 4 * T - 2 * V)}  # fmt: skip
    figure, axes = new_figure(6.0, 2.9)
    for (name, (meaning, value)), colour in zip(meanings.items(), (6, 0, 2, 1), strict=True):
        found = ph.acceleration(name, top.p, rate(top.p, top.omega), J, force=weight, point=arm)
        assert np.max(abs(found.multiplier - value)) < 1e-11
        axes.plot(t, found.multiplier, color=COLOURS[colour], label=f"{ph.forms[name].citation}: {meaning}")
        axes.plot(t[::12], value[::12], "o", ms=3, mfc="none", color=COLOURS[colour])
    axes.set(xlabel="time (s)", ylabel="multiplier (J)")
    axes.legend(fontsize=7.5, ncols=2, loc="center", bbox_to_anchor=(0.5, 0.42))
    save_figure(figure, HERE / "multipliers.png", MADE_BY, force=True)


def speed():
    """Ratios to Pinocchio, from the kept measurements."""
    kept = json.loads((HERE.parent / "benchmarks/speed.json").read_text(encoding="utf-8"))
    quantities = {"inverse": "inverse\ndynamics", "forward": "forward\ndynamics", "mass": "mass\nmatrix",
                  "christoffel": "Christoffel\nsymbols", "derivatives": "derivatives"}  # fmt: skip
    figure, panels = new_figure(8.4, 3.0, ncols=2, sharey=True)
    for axes, batch in zip(panels, (False, True), strict=True):
        for k, model in enumerate(("arm-7", "quadruped", "humanoid", "chain-20")):
            ratios = {
                row["quantity"]: row["ratio"]
                for row in kept["rows"]
                if row["model"] == model and row["peer"] == "Pinocchio" and (row["states"] > 1) == batch
            }
            heights = [ratios.get(quantity, np.nan) for quantity in quantities]
            axes.bar(np.arange(len(quantities)) + 0.2 * (k - 1.5), heights, 0.18, color=COLOURS[k], label=model)
        axes.axhline(1, color="0.3", lw=0.8)
        axes.set_yscale("log")
        axes.set_xticks(range(len(quantities)), list(quantities.values()), fontsize=7.5)
        axes.set_title("batches" if batch else "one call", loc="left", fontsize=10)
    panels[0].set_ylabel("times as fast")
    panels[0].legend(fontsize=7.5, loc="upper left", ncols=2)
    panels[0].set_ylim(top=300)
    save_figure(figure, HERE / "speed.png", MADE_BY, force=True)


def grades():
    """Estimated errors against true ones, of runs of a heavy top."""
    inertia, center = (0.012, 0.012, 0.006), (0.0, 0.0, 0.1)
    top = ph.Model("top", bodies=[ph.Body("top", 1.0, inertia, center=center)],
                   joints=[ph.Joint("tip", "spherical", "world", "top")])  # fmt: skip
    lean, spin = from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.6), np.array([0.0, 2.0, 60.0])
    runs = {"rk4": (400, 800, 1600, 3200), "rkmk4": (400, 800, 1600, 3200), "variational": (2000, 8000, 32000),
            "energy-momentum": (8000, 32000), "gauss2": (400, 1600), "radau3": (400, 1600)}  # fmt: skip
    options = [(name, {"method": name, "step": 2.0 / n}) for name, steps in runs.items() for n in steps]
    options += [("dop853, controlled", {"tolerance": 10.0**-k}) for k in range(4, 12)]
    figure, axes = new_figure(4.8, 3.8)
    styles = dict(zip([*runs, "dop853, controlled"], zip(COLOURS, "os^Dv<P", strict=True), strict=True))
    seen = set()
    for name, chosen in options:
        run = ph.simulate(top, q=lean, v=spin, duration=2.0, samples=11, verify=True, **chosen)
        exact = ph.exact.heavy_top(1.0, inertia, center, lean, spin, run["time"].values).p
        error = np.max(angle_between(normalise(run["q"].values), normalise(exact)))
        estimate = float(run["error_estimate"].max())
        assert estimate > error / 3, (name, chosen)
        colour, marker = styles[name]
        label = {} if name in seen else {"label": name}
        seen.add(name)
        axes.loglog(error, estimate, marker, color=colour, ms=5, **label)
    axes.loglog([1e-12, 1e-1], [1e-12, 1e-1], color="0.6", lw=0.8)
    axes.set(xlabel="largest attitude error (rad)", ylabel="largest estimated error")
    axes.legend(fontsize=7.5)
    save_figure(figure, HERE / "grades.png", MADE_BY, force=True)


if __name__ == "__main__":
    multipliers()
    speed()
    grades()
    print("paper/multipliers.png, paper/speed.png, paper/grades.png")
