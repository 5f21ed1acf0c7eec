"""A ruler that stands on its edge bears a weight at its tip, until it leans over sideways and twists.

Bent in its stiff plane it hardly gives. But its flat side is 900 times softer, and it twists easily: turned a
little about its length, it lets the weight bend it sideways, and bent sideways it is turned by the weight further. From

    P = 4.0126 √(EI GJ)/L²                                                   Prandtl, Michell (1899)

on this feeds itself, EI being that of the flat side: lateral buckling. `ph.buckling` finds the load from stiffness and
stresses of a few elements, with errors of second order, so that two meshes give the closed form. And statics with
large rotations agree: a breath from the side, a 500th of the load, hardly moves the tip below this load; a tenth
beyond it, the ruler leans aside by more than a quarter of its length.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.show.figure import COLOURS, new_figure, save_figure

L = 0.5  # m
section = ph.Section.rectangle(width=0.001, height=0.03, material="steel")


def ruler(elements: int, load: float, breath: float = 0.0) -> ph.Model:
    """A ruler on edge, clamped to a wall; a weight (N) at its tip, and a force from the side."""
    beam = ph.Beam("ruler", section, start=("world", (0, 0, 0)), end=(L, 0, 0), elements=elements)
    tip = ph.Force("tip", f"ruler-{elements}", force=(0, breath, -load))
    return ph.Model("ruler", gravity=(0, 0, 0), beams=[beam], forces=[tip])


exact = 4.0126 * np.sqrt(section.bending_z * section.torsion) / L**2  # N
coarse, fine = (ph.buckling(ruler(n, 1.0), load="tip") for n in (3, 6))
extrapolated = (4 * fine.factor - coarse.factor) / 3
shape = fine.shape.reshape(6, 6)

loads, tips, q = np.array([0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.05, 1.1]), [], None
for part in loads:
    q = ph.equilibrium(ruler(3, part * coarse.factor, breath=0.002 * coarse.factor), q, loads=1).q
    tips.append(q[-7:-4])
sideways, down = np.array(tips)[:, 1] / L, -np.array(tips)[:, 2] / L

figure, (left, right) = new_figure(9.0, 3.6, ncols=2)
along = np.arange(7) / 6
left.plot(along, [0, *shape[:, 1] / shape[-1, 1]], "o-", color=COLOURS[0], label="sideways")
left.plot(along, [0, *shape[:, 3] / shape[-1, 3]], "o-", color=COLOURS[1], label="twist")
left.set(xlabel="along the ruler (of its length)", ylabel="shape (tip: 1)")
left.legend(frameon=False, fontsize=8.5)
left.set_title("It leans and twists", loc="left", fontsize=10)
right.plot(loads, sideways, "o-", color=COLOURS[0], label="sideways")
right.plot(loads, down, "o-", color=COLOURS[2], label="down")
right.axvline(1.0, color="0.6", lw=0.8)
right.set(xlabel="load (of the buckling load)", ylabel="tip (of the length)")
right.legend(frameon=False, fontsize=8.5)
right.set_title("A breath from the side decides", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(
    f"buckling load: {coarse.factor:.3f}, {fine.factor:.3f} N with 3 and 6 elements; extrapolated {extrapolated:.3f} N"
)
print(f"closed form: {exact:.3f} N; tip sideways, of the length: {np.array2string(sideways, precision=3)}")
assert abs(extrapolated / exact - 1) < 1e-3
assert sideways[3] < 0.01
assert sideways[-1] > 0.25
