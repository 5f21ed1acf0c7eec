"""A crane's jib bends under its load: drawn with its sections, coloured by the bending moment.

A mast carries a jib with a strut below it; a load pulls at the tip. Beyond the strut the jib is a cantilever: the
moment there is the load times the way to it, by which the picture is checked. The slowest mode swings the jib sideways.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

import polhode as ph

OUT = Path("out")
WEIGHT, MEET, REACH = 2000.0, 2.0, 5.0  # N, m, m

mast = ph.Section.tube(outer=0.16, inner=0.14)
jib = ph.Section.rectangle(width=0.06, height=0.12)
strut = ph.Section.circle(diameter=0.05)


def joined(body: str) -> ph.BeamEnd:
    """An end on a node with a pin across the plane of the crane."""
    return ph.BeamEnd(body, (0, 0, 0), "revolute", (0, 1, 0))


beams = [
    ph.Beam("mast", mast, start=("world", (0, 0, 0)), end=(0, 0, 3), up=(1, 0, 0), elements=3),
    ph.Beam("root", jib, start=("mast-3", (0, 0, 0)), end=(MEET, 0, 3), elements=2),
    ph.Beam("tip", jib, start=("root-2", (0, 0, 0)), end=(REACH, 0, 3), elements=3),
]
beams.append(ph.Beam("strut", strut, start=joined("mast-1"), end=joined("root-2"), elements=2))
load = ph.Force("load", "tip-3", force=(0, 0, -WEIGHT))
crane = ph.Model("crane", (0, 0, 0), beams=beams, forces=[load])

rest = ph.equilibrium(crane)
still = ph.still(crane, rest)
place = dict(zip(still.body.values.tolist(), still.position.values[0], strict=True))
moment = float(still.section_force.sel(beam_element="tip-1", section_load="My_start")[0])
arm = place["tip-3"][0] - place["tip-0"][0]
print(f"the tip sinks by {1e3 * (3 - place['tip-3'][2]):.1f} mm")
print(f"the moment where the strut meets the jib is {moment:.1f} N m, load times arm {WEIGHT * arm:.1f} N m")

view = {"view": (-75, 12), "size": (640, 480)}
with TemporaryDirectory() as folder:
    paths = [Path(folder) / f"{name}.png" for name in ("crane", "mode", "diagram")]
    ph.animate(rest, paths[0], model=crane, **view)
    ph.animate(ph.mode_motion(crane, 1, rest), paths[1], model=crane, at=0.0, **view)
    ph.plot.section_force(rest, "tip", ["Qz", "My"], model=crane).savefig(paths[2], dpi=110)
    pictures = [Image.open(path).convert("RGB") for path in paths]
pictures = [picture.resize((round(480 * picture.width / picture.height), 480)) for picture in pictures]
sheet = Image.new("RGB", (sum(picture.width for picture in pictures), 480), "white")
for picture, x in zip(pictures, np.cumsum([0, *(picture.width for picture in pictures[:-1])]), strict=True):
    sheet.paste(picture, (int(x), 0))
OUT.mkdir(exist_ok=True)
sheet.save(OUT / f"{Path(__file__).stem}.png")
assert abs(moment / (WEIGHT * arm) - 1) < 1e-3
