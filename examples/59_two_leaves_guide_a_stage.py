"""Two leaf springs guide a stage along a straight line, nearly, and say that they hold it more often than needed.

A stage on two parallel leaves moves sideways, and hardly at all otherwise: no play, no friction, no lubricant, as
precision machines want it. Each leaf bends one way and is stiff in all others. Held as constraints, these stiff
directions are eight conditions on a body with six freedoms, and yet it moves: three of the eight are redundant, told
by name, and a real guide whose leaves are not quite parallel is stressed there before it is used. The stiffness along
the guide is 24 EI/L³ of both leaves; and since they keep their length, the stage sinks by 3/5 x²/L as it moves:
straight to a few per cent of its stroke. The sinking comes from the terms of second order in the strains of an
element.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

L, gap, m = 0.1, 0.08, 0.5  # m, m, kg
leaf = ph.Section.rectangle(width=0.02, height=0.0004, material="steel")
stiff = ["elongation", "torsion", "bending-xy-start", "bending-xy-end"]


def guide(load=0.0):
    return ph.Model(
        "leaf guide",
        gravity=(0, 0, 0),
        bodies=[ph.Body("stage", m, (5e-4, 5e-4, 8e-4))],
        joints=[ph.Joint("stage", "free", "world", "stage", position=(0, 0, L))],
        beams=[
            ph.Beam(
                f"leaf {side:+d}", leaf, start=("world", (side * gap / 2, 0, 0)), end=("stage", (side * gap / 2, 0, 0)),
                up=(1, 0, 0), elements=1, held=stiff,
            )
            for side in (-1, 1)
        ],
        forces=[ph.Force("push", "stage", force=(load, 0, 0))],
    )  # fmt: skip


diagnosis = ph.diagnose(guide())
print(diagnosis)
stiffness = 24 * leaf.bending_y / L**3
pushes = np.linspace(-4, 4, 9)
places = np.array([ph.equilibrium(guide(load)).q[:3] for load in pushes])
x, z = places[:, 0], places[:, 2]
figure, (left, right) = new_figure(9.0, 3.6, ncols=2)
left.plot(1e3 * x, pushes, "o", color=COLOURS[0], mfc="white", label="large rotations")
left.plot(1e3 * x, stiffness * x, color="0.4", lw=0.8, label="24 EI/L³")
left.set(xlabel="stage (mm)", ylabel="push (N)")
left.legend(frameon=False)
right.plot(1e3 * x, 1e6 * z, "o", color=COLOURS[1], mfc="white", label="large rotations")
right.plot(1e3 * x, -1e6 * 0.6 * x * x / L, color="0.4", lw=0.8, label="−3/5 x²/L")
right.set(xlabel="stage (mm)", ylabel="sinks (µm)")
right.legend(frameon=False)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(f"stiffness {pushes[5] / x[5]:.2f} N/m, 24 EI/L³ = {stiffness:.2f} N/m")
print(f"pushed by {1e3 * x[-1]:.2f} mm it sinks by {-1e6 * z[-1]:.2f} µm, 3/5 x²/L = {0.6e6 * x[-1] ** 2 / L:.2f} µm")
assert (len(diagnosis.rows), diagnosis.rank, diagnosis.freedoms) == (8, 5, 1)
assert abs(pushes[5] / x[5] / stiffness - 1) < 1e-3
assert abs(z[-1] / (-0.6 * x[-1] ** 2 / L) - 1) < 1e-2
